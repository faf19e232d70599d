"""Values of the rows of a program at many places at once: inputs are arrays that broadcast against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from polhode.programs.graph import Graph, of_numbers
from polhode.programs.primitives import PRIMITIVES
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
    outputs = list(outputs)
    arrays = {name: np.asarray(given[name], dtype=float) for name in g.names(outputs) if name in given}
    with np.errstate(all="ignore"):
        return g.evaluate(outputs, {**given, **arrays}, lambda a, e: a if e == 1.0 else np.float_power(a, e), _function)


def _function(name: str, given: Mapping[str, Any]) -> Callable[..., Any]:
    if name not in PRIMITIVES:
        return OWN[name] if name in OWN else getattr(np, ARRAY_NAMES.get(name, name))
    return np.vectorize(of_numbers(name, given), otypes=[object if PRIMITIVES[name].several else float])
