"""Curves between rows: cubics where rows resolve the motion, and where they do not, no curve.

Every interval is judged by itself: the same cubic over twice the interval misses the row in its middle by some 16 times
the error of the interpolation, so that tells whether a line may be drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ALLOWED = 0.01
"""Largest estimated error of a drawn curve, as a part of the size of what is drawn: less than a line is wide."""
FINER = 16.0
"""How much smaller the error of a cubic is over half the interval."""
MOST_POINTS = 24_000
"""Most points of a curve."""


def hermite(a: Any, b: Any, da: Any, db: Any, h: Any, x: Any) -> Any:
    """The cubic from a to b with slopes da and db over an interval h, at its part x."""
    y = 1.0 - x
    return y * y * (1.0 + 2.0 * x) * a + x * x * (1.0 + 2.0 * y) * b + h * x * y * (y * da - x * db)


def unresolved(times: Any, points: Any, slopes: Any, size: float) -> Any:
    """Between which rows a cubic through points and slopes would be wrong by more than ``ALLOWED`` times ``size``."""
    n = len(times)
    if n < 3:
        h = np.diff(times)[:, None]
        chord = np.diff(points, axis=0)
        far = np.maximum(
            np.linalg.norm(h * slopes[:-1] - chord, axis=1), np.linalg.norm(h * slopes[1:] - chord, axis=1)
        )
        return ~(far <= 0.3 * size)
    h = (times[2:] - times[:-2])[:, None]
    x = (times[1:-1] - times[:-2])[:, None] / h
    middle = hermite(points[:-2], points[2:], slopes[:-2], slopes[2:], h, x)
    error = np.linalg.norm(middle - points[1:-1], axis=1) / FINER
    error = np.concatenate([error[:1], error, error[-1:]])
    worst = np.maximum(error[:-1], error[1:])
    return ~(worst <= ALLOWED * size)


def filled(times: Any, points: Any, slopes: Any, gaps: Any) -> tuple[Any, Any]:
    """Times and points of the cubics through rows, with NaN in gaps."""
    n = len(times)
    if n < 2:
        return times, points
    many = max(1, min(24, MOST_POINTS // n))
    x = np.arange(many) / many
    h = np.diff(times)
    t = (times[:-1, None] + h[:, None] * x).ravel()
    a, b, c, d = (values[:, None] for values in (points[:-1], points[1:], slopes[:-1], slopes[1:]))
    between = hermite(a, b, c, d, h[:, None, None], x[None, :, None])
    between[gaps, min(1, many - 1) :] = np.nan
    if many == 1:
        between[gaps] = np.nan
    return np.append(t, times[-1]), np.concatenate([between.reshape(len(t), -1), points[-1:]])


def slopes_of(times: Any, points: Any) -> Any:
    """Slopes at rows of which no derivatives are known: of parabolas through three rows."""
    if len(times) < 3:
        return np.gradient(points, times, axis=0) if len(times) == 2 else np.zeros_like(points)
    return np.gradient(points, times, axis=0, edge_order=2)
