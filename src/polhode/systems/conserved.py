"""What the motion of a sum conserves, found from its loads: at random states, of random bodies and of sizes from a
centimetre to the distance of the Moon, with parameters that are not zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polhode.algebra.rotation import quaternions
from polhode.programs.attitude import ROWS
from polhode.programs.graph import Graph

TRIALS, LEAST = 16, 8
"""States at which loads are looked at, and the least number of these at which they must be finite."""
NEARLY = 1e-11
"""Largest sum of loads that counts as none, relative to the loads."""


def conserved(
    g: Graph, moves: Sequence[bool], turns: Sequence[Sequence[bool]], force: Sequence[int], torque: Sequence[int],
    parameters: Sequence[float],
) -> tuple[str, ...]:  # fmt: skip
    """Names of what is conserved beside the energy.

    Parameters
    ----------
    g : Graph
        Inputs as in ``programs.memory``.
    moves, turns : sequence (N,) and (N, 3) of bool
        Which bodies move through space, and about which axes they turn.
    force, torque : sequence of int
        Rows of all forces (space) and torques (principal axes), 3 N.
    parameters : sequence of float
        Values of the parameters.
    """
    N, draw = len(moves), np.random.default_rng(1)
    worst, seen = np.zeros(3), 0
    names = g.names([*force, *torque])
    for size in np.geomspace(1e-2, 4e8, TRIALS):
        given = _state(draw, size, N, parameters) | {name: draw.normal() for name in names if name.startswith("aux")}
        with np.errstate(all="ignore"):
            rows = np.array(g.evaluate([*force, *torque], given)).reshape(2, N, 3)
        if not np.isfinite(rows).all():
            continue
        seen += 1
        q = np.array([[given[f"q{4 * i + k}"] for k in range(4)] for i in range(N)])
        r = np.array([[given[f"r{3 * i + k}"] for k in range(3)] for i in range(N)]) * np.array(moves)[:, None]
        F = rows[0] * np.array(moves)[:, None]
        about = np.concatenate([np.cross(r, F), quaternions.rotate(q, rows[1])])
        largest = np.abs(r).max() * np.abs(F).max() + np.abs(rows[1]).max() + 1e-300
        found = np.abs(about.sum(axis=0))
        worst = np.maximum(worst, [found.max() / largest, found[2] / largest,
                                   np.abs(F.sum(axis=0)).max() / (np.abs(F).max() + 1e-300)])  # fmt: skip
    whole, vertical, pushed = worst < NEARLY if seen >= LEAST else (False, False, False)
    if N == 1:
        spins = "angular_momentum_space" if whole else "vertical_angular_momentum" if vertical else ""
        return tuple(one for one in (spins, "momentum" if pushed and moves[0] else "") if one)
    if not all(moves):
        return ()
    both = (("total_momentum", pushed), ("total_angular_momentum", whole))
    return tuple(name for name, holds in both if holds)


def _state(draw: np.random.Generator, size: float, N: int, parameters: Sequence[float]) -> dict[str, float]:
    """Values of all inputs at a random state of bodies that are so far apart."""
    given: dict[str, float] = {"t": draw.uniform(0.0, 10.0)}
    given |= {f"p{k}": x or draw.normal() for k, x in enumerate(parameters)}
    for i in range(N):
        moments = draw.uniform(1.0, 2.0, 3)
        q, f = (row / np.linalg.norm(row) for row in draw.normal(size=(2, 4)))
        mass = draw.uniform(0.5, 2.0)
        given |= {f"mass{i}": mass, f"lightness{i}": 1.0 / mass}
        for name, values in (("r", size * draw.normal(size=3)), ("v", draw.normal(size=3)), ("m", draw.normal(size=3)),
                             ("I", moments), ("j", 1.0 / moments)):  # fmt: skip
            given |= {f"{name}{3 * i + k}": float(x) for k, x in enumerate(values)}
        given |= {f"q{4 * i + k}": float(q[k]) for k in range(4)} | {f"f{4 * i + k}": float(f[k]) for k in range(4)}
        matrix = quaternions.matrix_from_quaternion(q)
        given |= {f"q_{row}{3 * i + k}": float(matrix[n, k]) for n, row in enumerate(ROWS) for k in range(3)}
    return given
