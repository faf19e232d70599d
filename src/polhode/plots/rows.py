"""Which rows of a trajectory a panel draws: extremes, evenly spread ones, the beginning."""

from __future__ import annotations

import numpy as np

from polhode.arguments import Array, Indices

BINS = 1000
"""Bins of a long time series; a panel is about 550 pixels wide."""
POINTS = 6000
"""Most points of a curve on a sphere or in space."""
EXTREMA = 60
"""Oscillating curves are drawn up to this many extrema: more would be a solid block."""
FEW = 40
"""Up to this many rows, each has a marker."""


def extremes(values: Array, bins: int = BINS) -> Indices:
    """Thin out a long series for drawing: the rows of the smallest and the largest value of each bin."""
    n = len(values)
    if n <= 4 * bins:
        return np.arange(n)
    size = -(-n // bins)
    whole = n // size
    parts = [np.array([0, n - 1])]
    for worst, pick in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        safe = np.where(np.isfinite(values), values, worst)
        parts.append(np.arange(whole) * size + pick(safe[: whole * size].reshape(whole, size), axis=1))
        if whole * size < n:
            parts.append(np.array([whole * size + int(pick(safe[whole * size :]))]))
    return np.unique(np.concatenate(parts))


def scattered(n: int, most: int = POINTS) -> Indices:
    """At most ``most`` of ``n`` rows, evenly spread but without a fixed stride, which prevents aliasing."""
    if n <= most:
        return np.arange(n)
    k = np.arange(most)
    shift = (k * 0.6180339887498949) % 1.0
    chosen = ((k + shift) * (n / most)).astype(np.int64)
    chosen[0], chosen[-1] = 0, n - 1
    return np.unique(chosen)


def thinned(values: Array, most: int = POINTS) -> Array:
    """The same rows of values."""
    return values[scattered(len(values), most)]


def even(n: int, most: int) -> Indices:
    """At most ``most`` of ``n`` rows or members at a fixed stride, with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def opening(curves: Array, most: int = EXTREMA) -> int:
    """Rows in which the fastest of the curves (n, k) has ``most`` extrema; ``n`` unless one has over twice as many.

    Curves whose range is negligible compared with the others do not count, so round-off is not taken for motion.
    """
    n = len(curves)
    if n < 4:
        return n
    reach = np.ptp(np.nan_to_num(curves), axis=0)
    least = n
    for k in np.flatnonzero(reach > 1e-6 * reach.max()) if reach.max() > 0.0 else []:
        slope = np.diff(curves[:, k])
        turns = np.flatnonzero(slope[1:] * slope[:-1] < 0.0)
        if len(turns) > 2 * most:
            least = min(least, int(turns[most]) + 2)
    return max(least, min(n, 12))


def band(times: Array, values: Array, bins: int) -> tuple[Array, Array, Array]:
    """Time, smallest and largest value of each bin."""
    edges = np.linspace(0, len(values), min(bins, len(values)) + 1).astype(np.int64)[:-1]
    low = np.fmin.reduceat(values, edges)
    high = np.fmax.reduceat(values, edges)
    last = np.append(edges[1:], len(values)) - 1
    centre = 0.5 * (times[edges] + times[last])
    centre[0], centre[-1] = times[0], times[-1]
    return centre, low, high


def joined(points: Array, rows: int, size: float) -> bool:
    """Whether to join the points by lines: consecutive ones are close, be they all rows or selected ones."""
    if rows <= FEW:
        return True
    jumps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return bool(np.quantile(jumps, 0.9) <= (0.3 if rows <= 4 * POINTS else 0.03) * size)
