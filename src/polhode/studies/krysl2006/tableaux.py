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

Map = Callable[[Array, Array, float], Array]
"""``(inverse moments, momentum, h) -> rotation vector`` of the step of a free body."""


def munthe_kaas(A: Array, b: Array) -> Map:
    """The step of a tableau; the stages are settled by sweeps."""

    def step(j: Array, Pi: Array, h: float) -> Array:
        k = np.tile(j * Pi, (len(b), 1))
        for _ in range(SWEEPS):
            psi = h * A @ k
            k = dexpinv(-psi, j * rotate(exp_quaternion(-psi), Pi))
        return h * b @ k

    return step


def trapm(j: Array, Pi: Array, h: float) -> Array:
    """The step of TRAPM [krysl2006, 3.6]."""
    psi = np.zeros(3)
    for _ in range(SWEEPS):
        x = rotate(exp_quaternion(-psi), Pi)
        psi = log_quaternion(multiply(exp_quaternion(h / 2 * j * Pi), exp_quaternion(h / 2 * j * x)))
    return psi


def coefficient(order: int, step: Map, j: Array, Pi: Array) -> Array:
    """Coefficient of h^order of a step, by a polynomial through Chebyshev's nodes."""
    nodes = np.cos((2 * np.arange(NODES) + 1) / (2 * NODES) * np.pi)
    fit: Any = np.polynomial.chebyshev.chebfit(nodes, np.array([step(j, Pi, REACH * x) for x in nodes]), NODES - 1)
    powers = [np.polynomial.chebyshev.cheb2poly(column) for column in fit.T]
    return np.array([column[order] for column in powers]) / REACH**order


def misfit(order: int, step: Map) -> float:
    """What the steps of all tableaux together leave of a map's coefficient of h^order, relative to it."""
    random = np.random.default_rng(0)
    tableaux = [
        munthe_kaas(np.tril(random.normal(size=(STAGES, STAGES)) / 2, -1), random.normal(size=STAGES))
        for _ in range(TREES[order])
    ]
    known, wanted = [], []
    for _ in range(BODIES):
        d = random.random(3) + 0.2
        j, Pi = 1.0 / np.array([d[1] + d[2], d[0] + d[2], d[0] + d[1]]), random.normal(size=3)
        Pi /= 1.5 * np.linalg.norm(Pi)
        known.append(np.stack([coefficient(order, other, j, Pi) for other in tableaux], axis=1))
        wanted.append(coefficient(order, step, j, Pi))
    matrix, vector = np.concatenate(known), np.concatenate(wanted)
    weights = np.linalg.lstsq(matrix, vector, rcond=None)[0]
    return float(np.linalg.norm(matrix @ weights - vector) / np.linalg.norm(vector))
