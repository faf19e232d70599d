"""Whether a map of the free body is a Munthe-Kaas step with any tableau at all, by its Taylor series in the step.

The rotation vector of such a step, with the exponential map, is a B-series of one field [krysl2006, MKRK]:

    psi = h sum b_i k_i,   k_i = dexp^-1_{-psi_i} (j exp(-psi_i) Pi),   psi_i = h sum a_ij k_j.

Its coefficient of h^n is a combination of the elementary differentials of order n, of which there are 1, 1, 2, 4, ...;
the weights are numbers of the tableau, the same for all bodies and momenta. The coefficients of as many random tableaux
span all such combinations. So a map whose coefficient they do not fit, over many bodies, belongs to no tableau, of
however many stages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.algebra.rotation import Array, dexpinv, exp_quaternion, log_quaternion, multiply, rotate

TREES = {3: 2, 4: 4}
"""Elementary differentials of an order."""
BODIES, STAGES, SWEEPS = 20, 5, 80
NODES, REACH = 24, 0.4
"""Of the polynomial in h that gives the coefficients: how many, and the largest step."""

Map = Callable[[Array, Array, Array], Array]
"""``(inverse moments, momenta, h) -> rotation vectors`` of steps of free bodies, (..., 3); h is (..., 1)."""


def munthe_kaas(A: Array, b: Array) -> Map:
    """The step of a tableau; the stages, (..., s, 3), are settled by sweeps."""

    def step(j: Array, Pi: Array, h: Array) -> Array:
        j, Pi, h = j[..., None, :], Pi[..., None, :], h[..., None]
        k = (j * Pi + 0.0 * h) * np.ones((len(b), 1))
        for _ in range(SWEEPS):
            psi = h * (A @ k)
            k = dexpinv(-psi, j * rotate(exp_quaternion(-psi), Pi))
        return np.asarray((h * b[:, None] * k).sum(axis=-2))

    return step


def trapm(j: Array, Pi: Array, h: Array) -> Array:
    """The step of TRAPM [krysl2006, 3.6]."""
    psi = 0.0 * h * Pi
    for _ in range(SWEEPS):
        x = rotate(exp_quaternion(-psi), Pi)
        psi = log_quaternion(multiply(exp_quaternion(h / 2 * j * Pi), exp_quaternion(h / 2 * j * x)))
    return psi


def coefficients(order: int, step: Map, j: Array, Pi: Array) -> Array:
    """Coefficient of h^order of the steps of several bodies, (3 bodies,), by polynomials through Chebyshev's nodes."""
    nodes = np.cos((2 * np.arange(NODES) + 1) / (2 * NODES) * np.pi)
    values = step(j, Pi, REACH * nodes[:, None, None]).reshape(NODES, -1)
    fit: Any = np.polynomial.chebyshev.chebfit(nodes, values, NODES - 1)
    return np.array([np.polynomial.chebyshev.cheb2poly(column)[order] for column in fit.T]) / REACH**order


def misfit(order: int, step: Map) -> float:
    """What the steps of all tableaux together leave of a map's coefficient of h^order, relative to it."""
    random = np.random.default_rng(0)
    tableaux = [
        munthe_kaas(np.tril(random.normal(size=(STAGES, STAGES)) / 2, -1), random.normal(size=STAGES))
        for _ in range(TREES[order])
    ]
    d = random.random((BODIES, 3)) + 0.2
    j, Pi = 1.0 / (d.sum(axis=1, keepdims=True) - d), random.normal(size=(BODIES, 3))
    Pi /= 1.5 * np.linalg.norm(Pi, axis=1, keepdims=True)
    known = np.stack([coefficients(order, other, j, Pi) for other in tableaux], axis=1)
    wanted = coefficients(order, step, j, Pi)
    weights = np.linalg.lstsq(known, wanted, rcond=None)[0]
    return float(np.linalg.norm(known @ weights - wanted) / np.linalg.norm(wanted))
