"""Slopes of the loads of a system: what Newton's method needs of them in an implicit step.

The role ``slopes`` writes the loads, the rates of auxiliary variables and behind them the derivatives of the loads, by
rows: LOAD N rows of SLOPE N numbers, for each body the derivatives by displacements along the axes of space, turns
about its own axes, momentum and angular momentum. Only those that may differ from zero are written.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from polhode.arguments import Mask
from polhode.kernel import layout as L
from polhode.programs import derive
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.roles import by_bodies, text_of_rows
from polhode.programs.written import module_of

MOST_BODIES = 4
"""Bodies of a system that has slopes: their number grows with the square."""
MOST_ROWS = 1500
"""Rows of a program of slopes; longer ones (fields of high degree) cost more to compile than they are worth."""


def slopes_role(dynamics: Dynamics, moves: Mask, turns: Mask) -> Callable[..., Any] | None:
    """The role, of signature LOADS, in Python."""
    if not dynamics.traced or dynamics.N > MOST_BODIES:
        return None
    g, N = dynamics.graph, dynamics.N
    zero, one = g.const(0.0), g.const(1.0)
    free = [turning for axes in turns for turning in axes]
    acting = by_bodies(dynamics.force, [a if able else zero for a, able in zip(dynamics.torque, free, strict=True)])
    # Common factors first: the derivative of a factored load has fewer terms, and differences of moments stay such.
    rows = factored(g, acting)
    behind = L.LOAD * N + len(dynamics.rates)
    found: dict[int, int] = {}
    columns: dict[
        int, dict[int, int]
    ] = {}  # seeds of the inputs by which to differentiate, by the number of the column
    for n, (i, k) in enumerate(product(range(N), range(3))):
        first = L.SLOPE * i + k
        if moves[i]:
            columns[first] = {g.input(f"r{n}"): one}
            columns[first + L.BY_MOMENTUM] = {g.input(f"v{n}"): g.power(g.input(f"mass{i}"), -1.0)}
        if any(turns[i]):
            columns[first + 3] = derive.turned(g, "q", [g.const(float(c == k)) for c in range(3)], i)
            columns[first + L.BY_MOMENTUM + 3] = {g.input(f"m{n}"): one}
    for column, seeds in columns.items():
        for n, slope in enumerate(derive.forward(g, rows, seeds)):
            if slope != zero:
                found[behind + L.SLOPE * N * n + column] = slope
    outputs = [*rows, *dynamics.rates, *found.values()]
    if len(g.needed(outputs)) > MOST_ROWS:
        return None
    return module_of(text_of_rows("slopes", g, outputs, N, [*range(behind), *found])).slopes
