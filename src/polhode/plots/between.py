"""Curves between rows: cubics where rows resolve the motion, and where they do not, no curve.

Every interval is judged by itself: the same cubic over twice the interval misses the row in its middle by some 16 times
the error of the interpolation, so that tells whether a line may be drawn.
"""

from __future__ import annotations

import numpy as np

from polhode.arguments import Array, Mask
from polhode.trajectory.frames import between_rows, hermite

ALLOWED = 0.01
"""Largest estimated error of a drawn curve, as a part of the size of what is drawn: less than a line is wide."""
FINER = 16.0
"""How much smaller the error of a cubic is over half the interval."""
MOST_POINTS = 24_000
"""Most points of a curve."""


def unresolved(times: Array, points: Array, slopes: Array, size: float) -> Mask:
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


def filled(times: Array, points: Array, slopes: Array, gaps: Mask) -> tuple[Array, Array]:
    """Times and points of the cubics through rows, with NaN in gaps."""
    n = len(times)
    if n < 2:
        return times, points
    many = max(1, min(24, MOST_POINTS // n))
    t, path = between_rows(times, points, slopes, many)
    path[:-1].reshape(n - 1, many, -1)[gaps, min(1, many - 1) :] = np.nan
    return t, path


def beside(gaps: Mask) -> Mask:
    """Which rows are at an end of a gap."""
    return np.append(gaps, False) | np.append(False, gaps)


def slopes_of(times: Array, points: Array) -> Array:
    """Slopes at rows of which no derivatives are known: of parabolas through three rows."""
    if len(times) < 3:
        return np.gradient(points, times, axis=0) if len(times) == 2 else np.zeros_like(points)
    return np.gradient(points, times, axis=0, edge_order=2)
