"""Shared by the figures of this study: its body, states as momentum and matrix, errors over sequences of steps.

``I``: principal moments; ``y``: body angular momentum; ``Q``: rotation matrix, body to space; ``h``: step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import nan
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ellipk

import polhode as ph

BOOK = (0.376, 0.627, 1.0)  # [vilmart2013, fig. 1]
BODY_OF_FIG_1 = ph.free_body(BOOK)
Y0 = (0.3, 0.6, -0.8)  # the paper's momentum (0, 0.6, -0.8), moved away from the special case y1 = 0
Q0 = ph.rotation.exp_quaternion((0.3, 0.1, 0.2))
START: dict[str, Any] = {"attitude": Q0, "angular_momentum": Y0}
STATE = np.array(Y0), np.array(ph.rotation.matrix_from_quaternion(Q0))

EXACT = 1e-13  # per step: equal up to round-off
KEPT, BROKEN = 2e-12, 1e-11  # a quantity is constant if it changes by less, not constant if by more

Map = Callable[[Any, Any, float], tuple[Any, Any]]
"""``step(y, Q, h) -> y, Q`` with a matrix Q."""


def as_matrix(state: Any) -> tuple[Any, Any]:
    """Body angular momentum and rotation matrix of a state."""
    return state[ph.runs.ANGULAR_MOMENTUM].copy(), np.array(ph.rotation.matrix_from_quaternion(state[ph.runs.ATTITUDE]))


def distance(a: tuple[Any, Any], b: tuple[Any, Any]) -> float:
    """The larger of the 2-norms of the differences of momenta and of rotation matrices."""
    return max(float(np.linalg.norm(a[0] - b[0])), float(np.linalg.norm(a[1] - b[1], 2)))


@cache
def body_map(method: str, I: tuple[float, ...]) -> Map:
    """One step of a polhode method for the free body with these moments, as a map of momentum and matrix."""
    system = ph.free_body(I)
    take_steps = ph.checks.stepper(method, system, ph.runs.start_state(system, **START))

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        state = ph.runs.start_state(system, attitude=ph.rotation.quaternion_from_matrix(Q), angular_momentum=y)
        return as_matrix(take_steps(state, 0.0, h))

    return step


def repeated(step: Map, y: Any, Q: Any, span: float, n: int) -> tuple[Any, Any]:
    """Momentum and matrix after n steps over the span."""
    for _ in range(n):
        y, Q = step(y, Q, span / n)
    return y, Q


def ladder(maps: Mapping[str, Map], start: Any, end: Any, span: float, steps: Sequence[int]) -> xr.DataArray:
    """Distances from the exact final state over (method, step); NaN where a step is too large for the map."""

    def error(step: Map, n: int) -> float:
        try:
            return distance(repeated(step, start[0], start[1], span, n), end)
        except ph.errors.PolhodeError:
            return nan

    errors = [[error(step, n) for n in steps] for step in maps.values()]
    return xr.DataArray(errors, {"method": list(maps), "step": [span / n for n in steps]}, ("method", "step"))


def orders(errors: xr.DataArray) -> dict[str, float]:
    """Observed order of every method; the slope over all steps where the errors are never asymptotic."""
    results = {}
    for label, line in zip(map(str, errors.method.values), errors.values, strict=True):
        order = ph.trajectory.convergence.observed_order(errors.step.values, line, 1e-14)
        whole = np.polyfit(np.log(errors.step.values), np.log(line), 1)[0]
        results[label] = float(whole if np.isnan(order) else order)
    return results


def tolerance(order: float) -> float:
    """Tolerance of an observed order."""
    return 0.1 if order < 6 else 0.3


def casimir_and_energy(y: Any, I: Any) -> tuple[float, float]:
    """Casimir C and energy H [vilmart2013, eq. 5 and 6]."""
    y = np.asarray(y)
    return 0.5 * float(y @ y), 0.5 * float(y @ (y / np.asarray(I)))


def period(I: Any, y: Any) -> float:
    """Period of the free body's momentum, moments ascending [vilmart2013, alg. 1]."""
    a, b, c = np.asarray(y, dtype=float) ** 2
    d12, d23, d13 = 1 / I[0] - 1 / I[1], 1 / I[1] - 1 / I[2], 1 / I[0] - 1 / I[2]
    M, N = d12 * b + d13 * c, d13 * a + d23 * b  # k3^2 and k1^2 times d13
    if d12 * N > d23 * M:  # the momentum circles axis 1
        d12, d23, M, N = d23, d12, N, M
    return float(4.0 * ellipk(d12 * N / (d23 * M)) / np.sqrt(d23 * M))
