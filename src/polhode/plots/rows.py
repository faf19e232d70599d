"""Which rows of a trajectory a panel draws (extremes, evenly spread ones), envelopes, and curves between rows.

Curves are cubics where rows resolve the motion; where they do not, there is no curve. Every interval is judged by
itself: the same cubic over twice the interval misses the row in its middle by some 16 times the error of the
interpolation, so that tells whether a line may be drawn.
"""

from __future__ import annotations

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices, Mask
from polhode.trajectory.frames import between_rows, hermite

BINS = 1000  # bins of a long time series; a panel is about 550 pixels wide
POINTS = 6000  # most points of a curve on a sphere or in space
BUSY, CALM = 0.5, 0.3  # shares of columns with turning points from which on a curve is an envelope, below which a line
NEAR, AROUND = 15, 3  # columns to each side over which turning points are counted, and extremes taken
SWING = 0.05  # part of the range by which a curve swings between turning points that count: not its round-off
STILL = 1e-9  # curves that vary by less than this part of their size are drawn as constant
FEW = 40  # up to this many rows, each has a marker


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
    chosen = ((k + (k * 0.6180339887498949) % 1.0) * (n / most)).astype(np.int64)
    chosen[0], chosen[-1] = 0, n - 1
    return np.unique(chosen)


def thinned(values: Array, most: int = POINTS) -> Array:
    """The same rows of values."""
    return values[scattered(len(values), most)]


def even(n: int, most: int) -> Indices:
    """At most ``most`` of ``n`` rows or members at a fixed stride, with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def envelope(times: Array, values: Array, columns: int, unseen: float = 0.0) -> tuple[Array, Array, Array, Array, Mask]:
    """Time, smallest, mean and largest value of each column of pixels with rows, NaN where a line can show the curve;
    and which rows (n,) it cannot show. Swings below what is ``unseen`` do not count."""
    column = np.minimum(columns * (times - times[0]) / (times[-1] - times[0] or 1.0), columns - 1.0).astype(np.int64)
    slope = np.diff(values)
    moving = np.flatnonzero(slope)
    turning = moving[1:][(slope[moving[1:]] > 0.0) != (slope[moving[:-1]] > 0.0)]
    known = values[np.isfinite(values)]
    reach = max(unseen, SWING * float(np.ptp(known)), STILL * float(np.abs(known).max())) if known.size else 0.0
    turning = turning[1:][np.abs(np.diff(values[turning])) > reach]
    window = np.ones(min(2 * NEAR + 1, columns))
    many = np.minimum(np.bincount(column[turning], minlength=columns), 1)
    share = np.convolve(many, window, "same") / np.convolve(np.ones(columns), window, "same")
    turn = np.where((share >= BUSY) | (share < CALM), np.arange(columns), 0)  # between the two as before: no shreds
    busy = (share[np.maximum.accumulate(turn)] >= BUSY)[column]
    if not busy.any():
        return *np.full((4, 1), np.nan), busy
    first = np.flatnonzero(np.diff(column, prepend=-1))
    sums = np.add.reduceat(values, first) / np.diff(first, append=len(values))
    found = []
    for pick, of in (
        (np.fmin, np.fmin.reduceat(values, first)),
        (np.add, sums),
        (np.fmax, np.fmax.reduceat(values, first)),
    ):
        inside = np.lib.stride_tricks.sliding_window_view(np.pad(of, AROUND, "edge"), 2 * AROUND + 1)
        found.append(np.where(busy[first], pick.reduce(inside, axis=1), np.nan))
    return times[first], found[0], found[1] / (2 * AROUND + 1), found[2], busy


def fewest_wraps(angles: Array) -> Array:
    """Angles (n, k; rad), each between -pi and pi, or between 0 and 2 pi where it passes an end of that less often."""
    other = angles % (2.0 * np.pi)
    many, fewer = ((np.abs(np.diff(one, axis=0)) > np.pi).sum(axis=0) for one in (angles, other))
    return np.where(fewer < 0.75 * many, other, angles)


SEQUENCES = ("ZYX", "YXZ", "YZX", "XZY", "XYZ", "ZXY")
"""Sequences of roll (about x), pitch (y) and yaw (z), the usual one first."""
UNLOCKED = np.sin(np.radians(80.0))
"""The most that the sine of the middle angle may be: near its lock the others jump."""


def steady_angles(relative: Array) -> tuple[tuple[str, ...], Array, str]:
    """Names, angles (n, 3; rad) of attitudes (n, 4) that do not jump, and a note: roll, pitch and yaw of the first
    sequence that keeps away from its lock; where none does, the angle between each axis of body and frame."""
    usable = np.isfinite(relative).all(axis=-1) & (np.abs(relative).sum(axis=-1) > 0.0)
    known, angles = relative[usable], np.full((len(relative), 3), np.nan)
    R = rotation.matrix_from_quaternion(known)
    for sequence in SEQUENCES:
        a, b, c = map("XYZ".index, sequence)
        if np.abs(R[:, a, c]).max(initial=0.0) < UNLOCKED:
            angles[np.ix_(usable, (a, b, c))] = rotation.euler_from_quaternion(known, sequence)
            note = "about {}, then {}, then {}".format(*sequence.lower()) if sequence != "ZYX" else ""
            return ("roll", "pitch", "yaw"), fewest_wraps(angles), note
    angles[usable] = np.arccos(np.clip(np.diagonal(R, axis1=1, axis2=2), -1.0, 1.0))
    return ("x", "y", "z"), angles, "each axis of the body to that of LVLH"


def joined(points: Array, rows: int, size: float) -> bool:
    """Whether to join the points by lines: consecutive ones are close, be they all rows or selected ones."""
    if rows <= FEW:
        return True
    jumps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return bool(np.quantile(jumps, 0.9) <= (0.3 if rows <= 4 * POINTS else 0.03) * size)


# ------------------------------------------------------------------ between rows
ALLOWED = 0.01
"""Largest estimated error of a drawn curve, as a part of the size of what is drawn: less than a line is wide."""
FINER = 16.0  # how much smaller the error of a cubic is over half the interval
MOST_POINTS = 24_000  # most points of a curve


def unresolved(times: Array, points: Array, slopes: Array, size: float) -> Mask:
    """Between which rows a cubic through points and slopes would be wrong by more than ``ALLOWED`` times ``size``."""
    if len(times) < 3:
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
    return ~(np.maximum(error[:-1], error[1:]) <= ALLOWED * size)


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
