"""Cubic splines through rows of a table: those of SciPy, which takes a third of a second to import."""

from __future__ import annotations

import numpy as np

from polhode.arguments import Array


def slopes_through(x: Array, y: Array) -> Array:
    """Slopes (n, k) of the spline through rows y (n, k) at x (n,), four or more: the first two of its pieces are one
    cubic, and the last two ("not a knot"). ZeroDivisionError where some lie too near each other."""
    h, first, last = np.diff(x), float(x[2] - x[0]), float(x[-1] - x[-3])
    H, m = h[:, None], np.diff(y, axis=0) / h[:, None]
    begin = ((h[0] + 2.0 * first) * h[1] * m[0] + h[0] ** 2 * m[1]) / first
    end = (h[-1] ** 2 * m[-2] + (2.0 * last + h[-1]) * h[-2] * m[-1]) / last
    whole = np.vstack([begin, 3.0 * (H[1:] * m[:-1] + H[:-1] * m[1:]), end])
    above, below, middle = [first, *h[:-1].tolist()], [*h[1:].tolist(), last], (2.0 * (h[:-1] + h[1:])).tolist()
    parts, pivots = list[float](), [float(h[1])]
    for a, b, c in zip(above, below, [*middle, float(h[-2])], strict=True):
        parts.append(b / pivots[-1])
        pivots.append(c - parts[-1] * a)
    columns = whole.T.tolist()
    for found in columns:
        for k, part in enumerate(parts):
            found[k + 1] -= part * found[k]
        found[-1] /= pivots[-1]
        for k in reversed(range(len(parts))):
            found[k] = (found[k] - above[k] * found[k + 1]) / pivots[k]
    return np.array(columns).T


def values_at(x: Array, y: Array, slopes: Array, at: Array) -> Array:
    """The cubics between rows with these slopes at places of any shape, (..., k); NaN beyond the ends."""
    k = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    s = np.where((at < x[0]) | (at > x[-1]), np.nan, at - x[k])[..., None]
    h, begin = (x[k + 1] - x[k])[..., None], slopes[k]
    m = (y[k + 1] - y[k]) / h
    t = (begin + slopes[k + 1] - 2.0 * m) / h
    return y[k] + begin * s + ((m - begin) / h - t) * (s * s) + t / h * (s * s * s)
