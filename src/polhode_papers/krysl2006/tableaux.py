"""Tests whether a map of the free body is a Munthe-Kaas step of any tableau, by its Taylor series in the step.

The rotation vector of such a step, with the exponential map, is a B-series of one vector field [krysl2006, MKRK]:

    psi = h sum b_i k_i,   k_i = dexp^-1_{-psi_i} (j exp(-psi_i) Pi),   psi_i = h sum a_ij k_j.

Its coefficient of h^n is a linear combination of the elementary differentials of order n, of which there are
1, 1, 2, 4, ...; the weights depend on the tableau only, not on body or momentum. The coefficients of as many random
tableaux span all such combinations. So a map whose coefficient they do not fit, over many bodies, belongs to no
tableau, whatever its number of stages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import polhode as ph

TREES = {3: 2, 4: 4}
"""Number of elementary differentials by order."""
BODIES, STAGES, SWEEPS = 20, 5, 80
NODES, REACH = 24, 0.4
"""Number of Chebyshev nodes of the polynomial in h that gives the coefficients, and the largest step."""

Map = Callable[[Any, Any, Any], Any]
"""``(inverse moments, momenta, h) -> rotation vectors`` of one step of free bodies; (..., 3), h (..., 1)."""


def munthe_kaas(A: Any, b: Any) -> Map:
    """The step of a tableau; the stages, (..., s, 3), are found by fixed-point iteration."""

    def step(j: Any, Pi: Any, h: Any) -> Any:
        j, Pi, h = j[..., None, :], Pi[..., None, :], h[..., None]
        k = (j * Pi + 0.0 * h) * np.ones((len(b), 1))
        for _ in range(SWEEPS):
            psi = h * (A @ k)
            k = ph.rotation.dexpinv(-psi, j * ph.rotation.rotate(ph.rotation.exp_quaternion(-psi), Pi))
        return np.asarray((h * b[:, None] * k).sum(axis=-2))

    return step


def trapm(j: Any, Pi: Any, h: Any) -> Any:
    """The step of TRAPM [krysl2006, 3.6], by fixed-point iteration."""
    psi = 0.0 * h * Pi
    for _ in range(SWEEPS):
        x = ph.rotation.rotate(ph.rotation.exp_quaternion(-psi), Pi)
        psi = ph.rotation.log_quaternion(
            ph.rotation.multiply(ph.rotation.exp_quaternion(h / 2 * j * Pi), ph.rotation.exp_quaternion(h / 2 * j * x))
        )
    return psi


def coefficients(order: int, step: Map, j: Any, Pi: Any) -> Any:
    """Coefficient of h^order for several bodies, (3 bodies,), by interpolation at Chebyshev nodes."""
    nodes = np.cos((2 * np.arange(NODES) + 1) / (2 * NODES) * np.pi)
    values = step(j, Pi, REACH * nodes[:, None, None]).reshape(NODES, -1)
    fit: Any = np.polynomial.chebyshev.chebfit(nodes, values, NODES - 1)
    return np.array([np.polynomial.chebyshev.cheb2poly(column)[order] for column in fit.T]) / REACH**order


def misfit(order: int, step: Map) -> float:
    """Relative residual of the least-squares fit of a map's coefficient of h^order by those of the tableaux."""
    random = np.random.default_rng(0)
    tableaux = [
        munthe_kaas(np.tril(random.normal(size=(STAGES, STAGES)) / 2, -1), random.normal(size=STAGES))
        for _ in range(TREES[order])
    ]
    d = random.random((BODIES, 3)) + 0.2
    j, Pi = 1.0 / (d.sum(axis=1, keepdims=True) - d), random.normal(size=(BODIES, 3))
    Pi /= 1.5 * np.linalg.norm(Pi, axis=1, keepdims=True)
    known = np.stack([coefficients(order, other, j, Pi) for other in tableaux], axis=1)
    target = coefficients(order, step, j, Pi)
    weights = np.linalg.lstsq(known, target, rcond=None)[0]
    return float(np.linalg.norm(known @ weights - target) / np.linalg.norm(target))
