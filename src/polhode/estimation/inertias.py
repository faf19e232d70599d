"""Inertia through second moments of mass, such that all real numbers x mean a body that can exist.

Three moments along the axes of the body are ``I_1 = d_2 + d_3`` and so on with ``d = exp(x)`` [vilmart2013, eq. 2]. A
tensor is ``I = tr(S) 1 - S`` with the second moments of mass ``S = L L^T``, where L is lower triangular and the
logarithms of its diagonal are among the x: S is positive definite, so the principal moments are positive and fulfil the
triangle inequality [traversaro2016, sec. III]. The errors of a tensor are those of its numbers xx, xy, xz, yy, yz, zz.
"""

from __future__ import annotations

import numpy as np

from polhode.arguments import Array

FROM_D = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
"""Moments of inertia from second moments of mass: I_1 = d_2 + d_3."""
UPPER = np.triu_indices(3)
LOWER = np.tril_indices(3)
ON_DIAGONAL = LOWER[0] == LOWER[1]
FLAT = 1e-3
"""Least second moment of mass of a guess, as a part of their sum: a flat body, which has no logarithm, is made as thick
as this to begin with."""
THINNEST = 60.0
"""Logarithms this far below the largest are as good as minus infinity, and further ones count as this."""
STRIDE = 0.3  # how far a number of L beside its diagonal may go at once, relative to its size


def thickened(inertia: Array) -> Array:
    """The nearest inertia, moments (3,) or tensor (3, 3), of a body that is not flat."""
    if inertia.ndim == 1:
        d = np.linalg.solve(FROM_D, inertia)
        return FROM_D @ np.maximum(d, FLAT * d.sum()) if d.min() < FLAT * d.sum() else inertia
    d, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    if d.min() >= FLAT * d.sum():
        return inertia
    S = (axes * np.maximum(d, FLAT * d.sum())) @ axes.T
    return np.trace(S) * np.eye(3) - S


def flat(inertia: Array) -> Array:
    """The numbers of an inertia: three moments, or six of a tensor."""
    return inertia if inertia.ndim == 1 else inertia[UPPER]


def start(inertia: Array) -> Array:
    """The x of an inertia."""
    if inertia.ndim == 1:
        return np.log(np.linalg.solve(FROM_D, inertia))
    x = np.linalg.cholesky(0.5 * np.trace(inertia) * np.eye(3) - inertia)[LOWER]
    x[ON_DIAGONAL] = np.log(x[ON_DIAGONAL])
    return x


def _bounded(logarithms: Array) -> Array:
    return np.maximum(logarithms, logarithms.max() - THINNEST)


def _factor(x: Array) -> Array:
    L = np.zeros((3, 3))
    numbers = np.array(x, dtype=float)
    numbers[ON_DIAGONAL] = np.exp(_bounded(numbers[ON_DIAGONAL]))
    L[LOWER] = numbers
    return L


def value(x: Array) -> Array:
    """The inertia at x, moments (3,) or tensor (3, 3)."""
    if len(x) == 3:
        return FROM_D @ np.exp(_bounded(x))
    L = _factor(x)
    S = L @ L.T
    return np.trace(S) * np.eye(3) - S


def slope(x: Array) -> Array:
    """Derivative (k, k) of the numbers of the inertia by x."""
    if len(x) == 3:
        return FROM_D * np.exp(_bounded(x))
    L, out = _factor(x), np.zeros((6, 6))
    for k, (i, j) in enumerate(zip(*LOWER, strict=True)):
        change = np.zeros((3, 3))
        change[i, j] = L[i, i] if i == j else 1.0
        S = change @ L.T + L @ change.T
        out[:, k] = (np.trace(S) * np.eye(3) - S)[UPPER]
    return out


def stride(inertia: Array) -> Array:
    """How far each x may go at once: logarithms 1, other numbers a part of the size of L."""
    return np.ones(3) if inertia.ndim == 1 else np.where(ON_DIAGONAL, 1.0, STRIDE * np.sqrt(0.5 * np.trace(inertia)))


def size(inertia: Array) -> Array:
    """What errors of the numbers are compared with."""
    return inertia if inertia.ndim == 1 else np.full(6, 0.5 * np.trace(inertia))


def units(k: int) -> Array:
    """Tensors (k, 3, 3) by which an inertia changes with each of its numbers."""
    if k == 3:
        return np.eye(3)[:, :, None] * np.eye(3)
    out = np.zeros((6, 3, 3))
    for n, (i, j) in enumerate(zip(*UPPER, strict=True)):
        out[n, i, j] = out[n, j, i] = 1.0
    return out


def square(numbers: Array) -> Array:
    """Three numbers, or six as a symmetric matrix."""
    if len(numbers) == 3:
        return numbers
    out = np.zeros((3, 3))
    out[UPPER] = numbers
    return np.triu(out) + np.triu(out, 1).T
