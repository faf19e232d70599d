"""Values of the rows of a program at many places at once: inputs are arrays that broadcast against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from polhode.programs.graph import FUNCTIONS, Graph
from polhode.programs.primitives import PRIMITIVES, Numbers
from polhode.programs.text import ARRAY_NAMES

OWN: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "sign": lambda a: np.copysign(1.0, a), "floor": np.floor, "pow": np.float_power,
    "choose": lambda c, a, b: np.where(c != 0.0, a, b), "less": lambda a, b: 1.0 * (a < b),
    "at_most": lambda a, b: 1.0 * (a <= b), "min": lambda a, b: np.where(a < b, a, b),
    "max": lambda a, b: np.where(a < b, b, a), "outweighs": lambda a, b: 1.0 * (np.abs(a) > np.abs(b)),
    "plus": np.add, "minus": np.subtract, "times": np.multiply, "over": np.divide, "floordiv": np.floor_divide,
}  # fmt: skip
"""Functions of rows that have another name in numpy, or none; see ``graph.FUNCTIONS``."""


def values(g: Graph, outputs: Iterable[int], given: Mapping[str, Any]) -> list[Any]:
    """Values of rows, infinite or nan where plain Python would raise."""
    outputs, found = list(outputs), dict[int, Any]()
    with np.errstate(all="ignore"):
        for a in g.needed(outputs):
            row = g.rows[a]
            if row[0] == "const":
                found[a] = np.float64(row[1])
            elif row[0] == "in":
                found[a] = np.asarray(given[row[1]], dtype=float)
            elif row[0] == "sum":
                found[a] = row[1] + sum(f * found[b] for b, f in row[2])
            elif row[0] == "mul":
                found[a] = np.float64(1.0)
                for b, e in row[1]:
                    found[a] = found[a] * (found[b] if e == 1.0 else np.float_power(found[b], e))
            else:
                found[a] = _function(row[1], given)(*(found[b] for b in row[2]))
    return [found[a] for a in outputs]


def _function(name: str, given: Mapping[str, Any]) -> Callable[..., Any]:
    if name in PRIMITIVES:
        kind = object if PRIMITIVES[name].several else float
        return np.vectorize(lambda *x: PRIMITIVES[name].value(Numbers(given), *x), otypes=[kind])
    assert name in FUNCTIONS
    return OWN[name] if name in OWN else getattr(np, ARRAY_NAMES.get(name, name))
