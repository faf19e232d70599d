"""The motion of free bodies by Taylor series of the equations of motion: an oracle for the flows.

Works on floats, many bodies at a time, and on mpmath numbers (arrays of objects), to their precision.
"""

from __future__ import annotations

import numpy as np


def moved(inertia, m, h, order=24, angle=0.25):
    """Body angular momentum and attitude after a time h, from the attitude (1, 0, 0, 0).

    Parameters
    ----------
    inertia, m : array (..., 3)
        Principal moments and body angular momentum.
    h : array (...) or number
        Time, of each body its own.
    order, angle : int, float
        Of the series, and how far (rad) at most a body turns in one of them: an error of about angle^order.

    Returns
    -------
    m : array (..., 3)
    q : array (..., 4)
    """
    a, m = 1 / np.asarray(inertia), np.asarray(m)
    h = np.asarray(h)[..., None]
    turn = fastest(np.asarray(inertia, dtype=float), m.astype(float)) * np.abs(np.asarray(h[..., 0], dtype=float))
    pieces = int(turn.max() / angle) + 1
    q = np.concatenate([m[..., :1] * 0 + 1, m * 0], axis=-1)
    for _ in range(pieces):
        m, q = _series(a, m, q, h / pieces, order)
    return m, q / (q * q).sum(-1, keepdims=True) ** 0.5


def fastest(inertia, m):
    """Largest angular speed on the orbit, from energy and momentum: it is where the middle component vanishes."""
    a = np.sort(1 / inertia, axis=-1)
    energy2, square = (m * m / inertia).sum(-1), (m * m).sum(-1)
    return np.sqrt(energy2 * (a[..., 0] + a[..., 2]) - square * a[..., 0] * a[..., 2])


def _series(a, m, q, h, order):
    """One Taylor series of m' = m x a m, q' = q (0, a m)/2; the coefficients carry the powers of h."""
    ms, ws, qs = (np.zeros((order + 1, *x.shape), dtype=x.dtype) for x in (m, a * m, q))
    ms[0], ws[0], qs[0] = m, a * m, q
    for n in range(order):
        ms[n + 1] = h * np.cross(ms[: n + 1], ws[n::-1]).sum(0) / (n + 1)
        qs[n + 1] = h * _times_vector(qs[: n + 1], ws[n::-1]).sum(0) / (2 * (n + 1))
        ws[n + 1] = a * ms[n + 1]
    return ms.sum(0), qs.sum(0)


def _times_vector(q, w):
    """The quaternion product of q and (0, w)."""
    scalar = -(q[..., 1:] * w).sum(-1, keepdims=True)
    return np.concatenate([scalar, q[..., :1] * w + np.cross(q[..., 1:], w)], axis=-1)


def angle_between(p, q):
    """Angle (rad) of the turn between attitudes."""
    cosine = np.abs(np.asarray((p * q).sum(-1), dtype=float))
    v = p[..., :1] * q[..., 1:] - q[..., :1] * p[..., 1:] - np.cross(p[..., 1:], q[..., 1:])
    return 2 * np.arctan2(np.linalg.norm(np.asarray(v, dtype=float), axis=-1), cosine)
