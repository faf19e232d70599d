"""What follows from the potential of a force: its acceleration, and the rate of the potential in time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.kernel import jit
from polhode.kernel.reach import WRITTEN
from polhode.programs import derive
from polhode.programs.primitives import FIRST, MEMORY
from polhode.programs.text import function
from polhode.programs.trace import Program
from polhode.programs.written import module_of
from polhode.systems.user.traced import jumps, traced

ARGUMENTS = {"p": 0, "at": 0, "mu": 0, "t": 0, "r": 3}
"""Arguments of a potential in a text, with their sizes; ``p`` is read by its index."""


class Derived(NamedTuple):
    """Functions that follow from a potential, as a ``Force`` has them, or why there are none."""

    # acceleration, potential, potential_rate: the functions, written from the program
    acceleration: Callable[..., Any] | None = None
    potential: Callable[..., Any] | None = None
    potential_rate: Callable[..., Any] | None = None
    reason: str = ""  # why one of them is None, a clause about the potential ("it decides by ...")


def is_derived(function: Any) -> bool:
    """Whether a function was made here."""
    return str(getattr(function, "__module__", "")).startswith(WRITTEN)


def of_potential(
    potential: Callable[..., Any], numbers: tuple[float, ...], changing: frozenset[int] = frozenset()
) -> Derived:
    """What follows from a potential (p, at, mu, t, r) of a force with these numbers, some of which a run changes."""
    inputs = (("p", range(len(numbers))), ("at", None), ("mu", 0), ("t", 0), ("r", 3))
    found = traced(jit.Made(potential), inputs, (), "potential", numbers, changing)
    if found.program is None:
        return Derived(reason=found.reason)
    if not _agrees(potential, found.program, numbers):
        return Derived(reason="it computes something else from arrays than from tuples")
    return _written(found.program, len(numbers))


def _agrees(potential: Callable[..., Any], program: Program, numbers: tuple[float, ...]) -> bool:
    """Whether the program gives what the potential gives, at a place where it gives a number."""
    r, t, mu = (0.8, 0.5, 0.3), 0.4, 1.3
    try:
        with np.errstate(all="ignore"):
            expected = float(potential(np.array(numbers), 0, mu, t, tuple(np.array(r))))
            (value,) = program(t=t, mu=mu, r=r, p=numbers)
    except Exception:  # told by ``Force.tried``
        return True
    return not abs(value - expected) > 1e-12 * abs(expected)


@functools.lru_cache(jit.KEPT_KERNELS)
def _written(program: Program, count: int) -> Derived:
    g, (row,) = program.graph, program.outputs
    force, _ = derive.loads(g, row, "r")
    (rate,) = derive.rate_in_time(g, [row])
    given = {MEMORY: "p", FIRST: "at + "} | {f"p{k}": f"p[at + {k}]" for k in range(count)}
    texts = (
        function(g, force, "acceleration", {**ARGUMENTS, "v": 3}, given=given),
        function(g, [row], "potential", ARGUMENTS, given=given),
        function(g, [rate], "potential_rate", ARGUMENTS, given=given),
    )
    module = module_of("\n\n".join(texts))
    if jumps(g, [row]):
        return Derived(module.acceleration, module.potential, reason="it decides by the time, and may jump")
    return Derived(module.acceleration, module.potential, module.potential_rate)
