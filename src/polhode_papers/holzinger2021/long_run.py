"""A million steps of the heavy top of section 7.2, measuring |R^T R - I| at every step.

R is formed in double precision from the rotation parameters that each method stores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import polhode as ph
from polhode_papers.holzinger2021 import top

WINDOW = 1000  # steps per window; the largest deviation of each window is stored


# ------------------------------------------------------------------ matrices of stored numbers, rows at a time
def of_parts(c: Any, sine: Any, versine: Any) -> Any:
    """I + sine hat(c) + versine hat(c)^2."""
    K = np.zeros((len(c), 3, 3))
    K[:, 2, 1], K[:, 0, 2], K[:, 1, 0] = c.T
    K -= K.transpose(0, 2, 1)
    return np.eye(3) + sine[:, None, None] * K + versine[:, None, None] * (K @ K)


def of_vector(v: Any) -> Any:
    """[holzinger2021, eq. 86] by half angles, without the unit vector."""
    half = 0.5 * np.linalg.norm(v, axis=1)
    s = np.divide(np.sin(half), half, out=np.ones(len(v)), where=half > 0.0)
    return of_parts(v, s * np.cos(half), 0.5 * s * s)


def of_angles(a: Any) -> Any:
    """Product of the three elementary rotations [holzinger2021, eq. 38]."""
    R = np.eye(3)
    for axis, (c, s) in enumerate(zip(np.cos(a.T), np.sin(a.T), strict=True)):
        E, i, j = np.zeros((len(a), 3, 3)), (axis + 1) % 3, (axis + 2) % 3
        E[:, axis, axis], E[:, i, i], E[:, j, j], E[:, i, j], E[:, j, i] = 1.0, c, c, -s, s
        R = R @ E
    return R


def of_quaternion(q: Any) -> Any:
    """I + 2 q0 hat(qv) + 2 hat(qv)^2, without normalising q."""
    return of_parts(q[:, 1:], 2.0 * q[:, 0], np.full(len(q), 2.0))


def of_matrix(r: Any) -> Any:
    return r.reshape(-1, 3, 3)


METHODS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "rotation vector": ("rotation_vector", of_vector),
    "Cardan angles": ("euler", of_angles),
    "matrix (Lie group)": ("lie_rk", of_matrix),
    "quaternion (Terze et al.)": ("terze:rk4:exp:free", of_quaternion),
    "quaternion, renormalised": ("terze:rk4:exp:renormalised", of_quaternion),
}
PROPOSED = ("rotation vector", "Cardan angles")
TERZE = "quaternion (Terze et al.)"


def deviation(R: Any) -> Any:
    """Frobenius norms of R^T R - I, for R of shape (n, 3, 3)."""
    return np.linalg.norm(R.transpose(0, 2, 1) @ R - np.eye(3), axis=(1, 2))


def energy(y: Any) -> float:
    """Kinetic plus potential energy, J."""
    m, low = y[ph.runs.ANGULAR_MOMENTUM], of_quaternion(y[None, ph.runs.ATTITUDE])[0, 2]
    return float(0.5 * m @ (m / top.TOP.moments[0]) + top.MASS * top.GRAVITY * low @ np.array(top.CENTRE))


class LongRun(NamedTuple):
    """Largest deviation in each window; extremes of the norm of the stored parameters; energy change (J); attitude."""

    largest: list[float]
    shortest: float
    longest: float
    energy_change: float
    attitude: Any


def long_run(label: str, windows: int) -> LongRun:
    """Run the top from the printed initial state for this many windows."""
    method, matrix = METHODS[label]
    runs = ph.prepare(top.TOP, method, step=top.STEP, steps=windows * WINDOW, settings={"guard": False})
    start, *rows = np.split(runs.run({"angular_velocity": top.OMEGA}).states, 1 + WINDOW * np.arange(windows))
    largest = [float(deviation(matrix(stored[:, 13:])).max()) for stored in rows]
    sizes = [np.linalg.norm(stored[:, 13:], axis=1) for stored in rows]
    shortest, longest = float(np.min(sizes)), float(np.max(sizes))
    end = rows[-1][-1]
    return LongRun(largest, shortest, longest, energy(end) - energy(start[0]), end[ph.runs.ATTITUDE].copy())
