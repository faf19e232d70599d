"""Loads and commutator load of bodies from their potential energy alone, as text of roles; inputs as in ``memory``.

F_i = -dV/dr_i,     T_i = -dV/(turn of body i about its axes),     the rate of the work by a potential V(t): dV/dt
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polhode.programs import derive
from polhode.programs.attitude import ROWS
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.parts import Loads, Turns
from polhode.programs.roles import by_bodies, of_each, of_flat_memory, plain, text_of_rows
from polhode.programs.text import Lines


def inputs_of(g: Graph, i: int) -> tuple[list[int], list[int]]:
    """The inputs that are the position of body i, and those that are its attitude, with the rows of its matrix."""
    rows = [g.input(f"q_{name}{3 * i + k}") for name in ROWS for k in range(3)]
    return [g.input(f"r{3 * i + k}") for k in range(3)], [g.input(f"q{4 * i + k}") for k in range(4)] + rows


def _axis(g: Graph, k: int) -> list[int]:
    return [g.const(float(n == k)) for n in range(3)]


def loads_of(g: Graph, potential: int, moves: Sequence[bool], turns: Turns) -> Loads:
    """The loads of a potential: less its slopes along the axes of space and by turns about those of the bodies."""
    zero, N = g.const(0.0), len(moves)
    directions = [(3 * i + k, {inputs_of(g, i)[0][k]: g.const(1.0)}) for i in range(N) for k in range(3) if moves[i]]
    axes = [(3 * i + k, derive.turned(g, "q", _axis(g, k), i)) for i in range(N) for k in range(3) if turns[i][k]]
    if derive.chooses(g, potential):
        slope_along = [derive.forward(g, [potential], seeds)[0] for _, seeds in (*directions, *axes)]
    else:
        leaves = [a for i in range(N) for part in inputs_of(g, i) for a in part]
        slope = dict(zip(leaves, derive.backward(g, potential, leaves), strict=True))
        slope_along = [
            g.sum(*((g.mul(slope[a], rate), 1.0) for a, rate in seeds.items())) for _, seeds in (*directions, *axes)
        ]
    force, torque = [zero] * (3 * N), [zero] * (3 * N)
    for (k, _), one in zip(directions, slope_along[: len(directions)], strict=True):
        force[k] = g.negative(one)
    for (k, _), one in zip(axes, slope_along[len(directions) :], strict=True):
        torque[k] = g.negative(one)
    return Loads(tuple(force), tuple(torque), tuple(derive.rate_in_time(g, [potential])))


def moving_inputs(names: Sequence[str]) -> list[str]:
    """Those of the names of inputs that are velocities or angular momenta."""
    return [name for name in names if name[0] in "vm" and not name.startswith("mass")]


def potential_text(g: Graph, potential: int, N: int, name: str, each: bool = False) -> str:
    """The text of a role of signature POTENTIAL; of each of many bodies in turn, whose program is that of one."""
    (row,) = factored(g, [potential])
    read, given = of_flat_memory(g.names([row]), N, of_each if each else plain)
    body = Lines(g, [row], given)
    lines = [*read, *body.lines, f"return {body.names[row]}"]
    if each:
        lines[-1] = f"total = total + {body.names[row]}"
        lines = ["total = 0.0", "for i in range(N):", *(f"    {one}" for one in lines), "return total"]
    return "\n    ".join([f"def {name}(t, N, y, bodies, parameters):", *lines]) + "\n"


def text(g: Graph, loads: Mapping[str, Loads], recorded: bool) -> str:
    """The text of roles of signature LOADS."""
    texts = []
    for name, one in loads.items():
        rows = [*by_bodies(one.force, one.torque), *(one.rates if recorded else ())]
        texts.append(text_of_rows(name, g, rows, len(one.force) // 3))
    return "\n\n".join(texts)
