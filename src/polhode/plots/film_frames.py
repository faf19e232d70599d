"""The frames of a film: their times, and the state of the run at each; what a viewer must be told of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices, squares
from polhode.errors import InvalidInput
from polhode.lazy import xr
from polhode.trajectory.frames import hermite, relative_motion

SECONDS = 6.0  # how long a film is that nobody says the length of
FASTEST = 0.45
"""Largest turn of a body from frame to frame (rad) of a film that nobody says the speed of: faster ones look slower, or
backwards, as wheels do in the cinema."""
CLOSE = 0.8
"""Largest turn between rows (rad) over which attitudes are interpolated; else a frame shows the nearest row."""
REVOLVES = 0.6  # the same of positions: largest way between rows over the size of the path


@dataclass
class Frames:
    """A film's frames and the rows they come from."""

    times: Array  # (F,): time of the run in each frame, in the order of the run
    row: Indices  # (F,): the last row that is not after the frame
    near: Indices  # (F,): the nearest row
    share: Array  # (F,): how far the frame is from ``row`` to the next one, 0 to 1
    row_times: Array  # (n,): times of the rows that are shown
    fps: int  # frames a second
    notes: list[str]  # what a viewer should know: one sentence each

    def at(self, values: Array) -> Array:
        """Values of the rows (n, ...) at the frames, linear in between."""
        share = self.share.reshape(-1, *[1] * (np.ndim(values) - 1))
        after = np.minimum(self.row + 1, len(values) - 1)
        return values[self.row] * (1.0 - share) + values[after] * share


def usable_rows(ds: xr.Dataset) -> tuple[Array, list[str]]:
    """The rows that can be shown, in the order of the run, and what is to say about them."""
    rows = len(ds["time"])
    if rows < 2:
        what = "no rows" if rows == 0 else "one row"
        raise InvalidInput(f"this trajectory has {what}: nothing moves; record more, by a smaller every or more steps")
    finite = np.isfinite(np.asarray(ds["time"].values, dtype=float))
    for name in ("attitude", "position", "angular_momentum"):
        if name in ds:
            finite &= np.isfinite(np.asarray(ds[name].values).reshape(rows, -1)).all(axis=1)
    count = rows if finite.all() else int(np.argmin(finite))
    notes = []
    if count < rows:
        if count < 2:
            raise InvalidInput(f"row {count} of this trajectory is not finite: there is nothing to show before it")
        notes.append(f"rows from t = {float(ds['time'].values[count]):g} on are not finite: the film ends before them")
    times = np.asarray(ds["time"].values, dtype=float)[:count]
    if not (np.diff(times) * (1.0 if times[-1] >= times[0] else -1.0) > 0.0).all():
        raise InvalidInput("the times of this trajectory neither increase nor decrease throughout; sort it by time")
    if times[-1] < times[0]:
        notes.append("the run goes backwards in time, and so does the film")
    if "incomplete" in ds.attrs:
        notes.append(f"the run is incomplete: {ds.attrs['incomplete']}")
    return times, notes


def frames_of(ds: xr.Dataset, seconds: float | None, fps: int, speed: float | None, most: int) -> Frames:
    """Choose the frames of a film."""
    times, notes = usable_rows(ds)
    span = abs(times[-1] - times[0])
    turns = turns_of(ds, len(times), times)
    shown = span
    if speed is not None:
        shown = min(span, speed * seconds) if seconds is not None else span
        length = shown / speed
    else:
        length = SECONDS if seconds is None else seconds
        steps = np.abs(np.diff(times))
        if turns is not None and float(np.quantile(turns, 0.9)) <= CLOSE:
            rate = float(np.quantile(turns / steps, 0.9))
            if rate * span > FASTEST * length * fps:
                shown = FASTEST * length * fps / rate
                notes.append(
                    f"the film shows the run up to t = {times[0] + np.sign(times[-1] - times[0]) * shown:.4g}: all of "
                    f"it would turn the body by {np.degrees(rate * span / (length * fps)):,.0f} degrees from frame to "
                    "frame; a speed of your own shows more of it"
                )
    count = max(2, ceil(length * fps - 1e-9))
    if count > most:
        raise InvalidInput(f"that film has {count:,} frames; at most {most:,} are drawn: take fewer seconds or a "
                           "higher speed")  # fmt: skip
    away = np.linspace(0.0, shown, count)
    rows_away = np.abs(times - times[0])
    row = np.clip(np.searchsorted(rows_away, away * (1.0 + 1e-14), side="right") - 1, 0, len(times) - 1)
    after = np.minimum(row + 1, len(times) - 1)
    gap = rows_away[after] - rows_away[row]
    share = np.where(gap > 0.0, np.clip((away - rows_away[row]) / np.where(gap > 0.0, gap, 1.0), 0.0, 1.0), 0.0)
    near = np.where(share < 0.5, row, after)
    if turns is not None:
        within = turns[: int(row[-1]) + 1]
        if (within > CLOSE).any():
            notes.append(
                f"rows are coarse: the body turns by up to {np.degrees(float(within.max())):,.0f} degrees from one to "
                "the next, and a frame shows the nearest row; record more rows to see the motion between them"
            )
        elif speed is not None:
            each = float(np.quantile(turns / np.abs(np.diff(times)), 0.9)) * shown / count
            if each > np.pi / 2:
                notes.append(f"the body turns by {np.degrees(each):,.0f} degrees from frame to frame: what is seen is "
                             "slower than what happens; take a lower speed")  # fmt: skip
    return Frames(times[0] + np.sign(times[-1] - times[0]) * away, row, near, share, times, fps, notes)


def of_body(ds: xr.Dataset, name: str, rows: int) -> Array:
    """Values of the first body, the first ``rows`` rows; InvalidInput where squares overflow."""
    variable = ds[name]
    if "body" in variable.dims:
        variable = variable.isel(body=0)
    values = np.asarray(variable.values, dtype=float)[:rows]
    squares(values[np.isfinite(values)], name)
    return values


def turns_of(ds: xr.Dataset, rows: int, times: Array) -> Array | None:
    """By how much a body turns from row to row (rad), by attitudes and by angular velocities; None if it has none."""
    if "attitude" not in ds or ("body" in ds["attitude"].dims and ds.sizes["body"] > 1 and "temperature" in ds):
        return None
    q = of_body(ds, "attitude", rows)
    turned = np.asarray(rotation.angle_between(q[:-1], q[1:]))
    if "angular_velocity" in ds:
        rate = np.linalg.norm(of_body(ds, "angular_velocity", rows), axis=1)
        turned = np.maximum(turned, np.minimum(rate[1:], rate[:-1]) * np.abs(np.diff(times)))
    return turned


def attitudes(ds: xr.Dataset, frames: Frames) -> Array:
    """Matrices (F, 3, 3) of the attitudes, body to space: along the shortest turn between rows that are close."""
    n = len(frames.row_times)
    q = of_body(ds, "attitude", n)
    turned = turns_of(ds, n, frames.row_times)
    if turned is None:
        turned = np.asarray(rotation.angle_between(q[:-1], q[1:]))
    after = np.minimum(frames.row + 1, n - 1)
    a, b = q[frames.row], q[after]
    close = np.append(turned, 0.0)[frames.row] <= CLOSE
    b = np.where(np.sum(a * b, axis=1, keepdims=True) < 0.0, -b, b)
    half = np.arccos(np.clip(np.sum(a * b, axis=1), -1.0, 1.0))
    s = frames.share
    safe = np.where(half > 1e-9, np.sin(half), 1.0)
    first = np.where(half > 1e-9, np.sin((1.0 - s) * half) / safe, 1.0 - s)
    second = np.where(half > 1e-9, np.sin(s * half) / safe, s)
    between = first[:, None] * a + second[:, None] * b
    chosen = np.where(close[:, None], between, q[frames.near])
    return np.asarray(rotation.matrix_from_quaternion(chosen / np.linalg.norm(chosen, axis=1, keepdims=True)))


def directions(ds: xr.Dataset, name: str, frames: Frames) -> Array:
    """A vector variable at the frames (F, 3): linear between rows whose directions are close, else of the nearest."""
    values = of_body(ds, name, len(frames.row_times))
    size = np.linalg.norm(values, axis=1)
    far = np.linalg.norm(np.diff(values, axis=0), axis=1) > CLOSE * np.maximum(size[1:], size[:-1])
    return np.where(np.append(far, False)[frames.row][:, None], values[frames.near], frames.at(values))


def positions(ds: xr.Dataset, frames: Frames, wrapped: Array | None = None) -> Array:
    """Positions (F, B, 3) at the frames, relative to what is orbited: a cubic through close rows, else the nearest;
    with ``wrapped``, the edges of a box, those in the box at the nearest row."""
    n = len(frames.row_times)
    if wrapped is not None:
        r = np.asarray(ds["position"].values, dtype=float)[:n].reshape(n, -1, 3)
        return np.mod(r[frames.near], wrapped)
    r, v = row_positions(ds, n)
    after = np.minimum(frames.row + 1, n - 1)
    dt = (frames.row_times[after] - frames.row_times[frames.row])[:, None, None]
    s = frames.share[:, None, None]
    a, b = r[frames.row], r[after]
    size = np.maximum(np.linalg.norm(a, axis=-1), np.linalg.norm(b, axis=-1))
    whole = np.linalg.norm(np.ptp(r, axis=0), axis=-1)
    close = np.linalg.norm(b - a, axis=-1) <= REVOLVES * np.maximum(size, whole)
    between = a * (1.0 - s) + b * s if v is None else hermite(a, b, v[frames.row], v[after], dt, s)
    return np.where(close[..., None], between, r[frames.near])


def row_positions(ds: xr.Dataset, rows: int) -> tuple[Array, Array | None]:
    """Positions and velocities (n, B, 3) of all bodies relative to what they orbit; None for no velocities."""
    if "velocity" in ds:
        r, v, _, _ = relative_motion(ds)
        return r[:rows].reshape(rows, -1, 3), v[:rows].reshape(rows, -1, 3)
    return np.asarray(ds["position"].values, dtype=float)[:rows].reshape(rows, -1, 3), None
