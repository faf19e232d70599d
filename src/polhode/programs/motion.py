"""Equations of motion as a program: states with their rates.

    r' = v,   v' = F/m,   l' = l x w + T,   q' = q (0, w)/2,   u' = u x w,     w = J l

for position and velocity (space frame), angular momentum l and rate w (principal body frame), the quaternion, and those
rows u of its matrix that the loads read. Inputs are named as in ``memory``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polhode.programs.attitude import ROWS
from polhode.programs.derive import turned
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph


def _turning(g: Graph, i: int, torque: Sequence[int], read: set[str]) -> tuple[list[str], list[int]]:
    """States and rates of a body that turns; ``read``: names of inputs of all loads."""
    m, j = ([g.input(f"{one}{3 * i + k}") for k in range(3)] for one in "mj")
    w = [g.mul(a, b) for a, b in zip(j, m, strict=True)]
    names, rates = [], []
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        names.append(f"m{3 * i + k}")
        rates.append(g.sum((g.mul(m[a], m[b], g.difference(j[b], j[a])), 1.0), (torque[k], 1.0)))
    of_attitude = turned(g, "q", w, i)
    rows = [f"q{4 * i + k}" for k in range(4)]
    for row in ROWS:
        parts = [f"q_{row}{3 * i + k}" for k in range(3)]
        rows = rows + (parts if not read.isdisjoint(parts) else [])
    return names + rows, rates + [of_attitude[g.input(name)] for name in rows]


MOST_ROWS = 1
"""Of a matrix of which more rows are read the elements are products of the quaternion, which are fewer."""


def with_quaternions(dynamics: Dynamics) -> Dynamics:
    """The same with the elements of matrices by components of quaternions where more than MOST_ROWS rows are read."""
    g = dynamics.graph
    force, torque, rates = dynamics.force, dynamics.torque, dynamics.rates
    read, known = set(g.names([*force, *torque, *rates])), {}
    for i in range(dynamics.N):
        rows = [[f"q_{row}{3 * i + k}" for k in range(3)] for row in ROWS]
        if sum(not read.isdisjoint(row) for row in rows) <= MOST_ROWS:
            continue
        parts = [g.input(f"q{4 * i + k}") for k in range(4)]
        products = {(a, b): g.mul(parts[a], parts[b]) for a in range(4) for b in range(max(a, 1), 4)}
        for m, row in enumerate(rows):
            for n, name in enumerate(row):
                if m == n:
                    a, b = (k for k in (1, 2, 3) if k != m + 1)
                    made = g.sum((g.const(1.0), 1.0), (products[a, a], -2.0), (products[b, b], -2.0))
                else:
                    a, b, c = min(m, n) + 1, max(m, n) + 1, 6 - (m + 1) - (n + 1)
                    made = g.sum((products[a, b], 2.0), (products[0, c], 2.0 if (n - m) % 3 == 2 else -2.0))
                known[g.input(name)] = made
    if not known:
        return dynamics
    n, rows_made = len(force), tuple(g.rebuilt([*force, *torque, *rates], inputs=known))
    return replace(dynamics, force=rows_made[:n], torque=rows_made[n : 2 * n], rates=rows_made[2 * n :], potential=None)


def equations(dynamics: Dynamics, moves: Sequence[bool], turns: Sequence[bool]) -> tuple[list[str], list[int]]:
    """Names of the states of all bodies and rows of their rates; those of auxiliary ones are ``dynamics.rates``."""
    g = dynamics.graph
    read = set(g.names([*dynamics.force, *dynamics.torque, *dynamics.rates]))
    names: list[str] = []
    rates: list[int] = []
    for i in range(dynamics.N):
        if moves[i]:
            lightness = g.power(g.input(f"mass{i}"), -1.0)
            own = [f"{one}{3 * i + k}" for one in "rv" for k in range(3)]
            names += own
            rates += [g.input(name) for name in own[3:]]
            rates += [g.mul(lightness, a) for a in dynamics.force[3 * i : 3 * i + 3]]
        if turns[i]:
            more = _turning(g, i, dynamics.torque[3 * i : 3 * i + 3], read)
            names, rates = names + more[0], rates + more[1]
    return names, rates
