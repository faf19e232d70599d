"""Equations of motion of one body as a program: states with their rates.

    r' = v,   v' = F/m,   m' = m x w + T,   q' = q (0, w)/2,   u' = u x w,     w = J m

for position and velocity (space frame), angular momentum m and rate w (principal body frame), the quaternion, and those
rows u of its matrix that the loads read. Inputs are named as in ``roles``.
"""

from __future__ import annotations

from collections.abc import Sequence

from polhode.programs.attitude import ROWS
from polhode.programs.derive import turned
from polhode.programs.graph import Graph


def motion(
    g: Graph, force: Sequence[int], torque: Sequence[int], quaternion: bool = True
) -> tuple[list[str], list[int]]:
    """Names of the states and rows of their rates.

    Parameters
    ----------
    g : Graph
    force, torque : list of int
        Rows of the loads; empty where the body does not move or turn.
    quaternion : bool
        Whether the quaternion is a state of a body that turns though the loads may not read it.
    """
    names: list[str] = []
    rates: list[int] = []
    read = set(g.names([*force, *torque]))
    if force:
        names += [f"r{k}" for k in range(3)] + [f"v{k}" for k in range(3)]
        rates += g.inputs("v", 3) + [g.mul(g.input("lightness"), a) for a in force]
    if torque:
        m, j = g.inputs("m", 3), g.inputs("j", 3)
        w = [g.mul(a, b) for a, b in zip(j, m, strict=True)]
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            names.append(f"m{k}")
            rates.append(g.sum((g.mul(m[a], m[b], g.difference(j[b], j[a])), 1.0), (torque[k], 1.0)))
        turning = turned(g, "q", w)
        rows = [f"q{k}" for k in range(4)] if quaternion or any(f"q{k}" in read for k in range(4)) else []
        for row in ROWS:
            parts = [f"q_{row}{k}" for k in range(3)]
            rows += parts if any(part in read for part in parts) else []
        names += rows
        rates += [turning[g.input(name)] for name in rows]
    return names, rates
