"""Which rows of a run are shown, and what has to be said of them.

Frames are spread evenly in time. Between two of them a body must not turn by more than a quarter: a picture of fewer
frames would show another motion, such as a wheel that seems to stand. Where the rows themselves are dense enough, but
not so many can be shown, the first part of the run is, and the facts say so; where they are not, the facts say that.
"""

from __future__ import annotations

from math import pi

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.errors import InvalidInput
from polhode.lazy import xr

QUARTER = pi / 2  # largest turn between two frames that is not told of
NUMBERS = 250_000  # most attitudes of many bodies: with more bodies, fewer frames
FEWEST = 50  # frames that many bodies have in any case


def chosen(ds: xr.Dataset, most: int, span: tuple[float, float] | None) -> tuple[Indices, list[tuple[str, str]]]:
    """The rows to show, by their numbers in order of increasing time, and what has to be said of the choice."""
    rows, times, facts = ordered(ds)
    whole = times
    if span is not None:
        inside = (times >= span[0]) & (times <= span[1])
        if not inside.any():
            raise InvalidInput(
                f"span is {span[0]:g} to {span[1]:g}, where this trajectory has no rows; its times are from "
                f"{times[0]:g} to {times[-1]:g}"
            )
        rows, times = rows[inside], times[inside]
    bodies = int(ds.sizes.get("body", 1))
    most = min(most, max(FEWEST, NUMBERS // bodies)) if bodies > 1 else most
    picked = evenly(times, most)
    picked = picked[_finite(ds, rows[picked])]
    if not len(picked):
        raise InvalidInput("no row of this trajectory has finite numbers: there is nothing to show")
    between, fastest = turns(ds, rows[picked], times[picked])
    if between > QUARTER and span is None and bodies == 1 and len(rows) > len(picked) > 1 and fastest > 0.0:
        stride = int(QUARTER / (fastest * float(np.median(np.diff(times)))))
        if stride >= 1:
            picked = np.arange(0, min(len(rows), most * stride), stride)
            picked = picked[_finite(ds, rows[picked])]
            between, _ = turns(ds, rows[picked], times[picked])
    shown = times[picked]
    left = len(ds["time"]) - len(whole)
    if left:
        facts.append(("left out", f"{left:,} rows without a time of their own"))
    if shown[-1] < whole[-1] or shown[0] > whole[0]:
        why = f"the motion is too fast for {most:,} frames of all; " if span is None else ""
        told = f"t = {shown[0]:.6g} to {shown[-1]:.6g} of {whole[0]:.6g} to {whole[-1]:.6g}"
        facts.append(("shown", f"{told}: {why}give span or frames for another part" if why else told))
    if len(picked) < len(rows):
        facts.append(("frames", f"{len(picked):,} of {len(whole):,} rows, evenly in time"))
    if between > QUARTER:
        facts.append((
            "coarse", f"up to {np.degrees(between):,.0f} degrees of turn between two frames, so the motion between "
            "them is not what it seems; record more rows (every, t_eval)" + (", or give more frames"
                                                                             if len(picked) < len(rows) else ""),
        ))  # fmt: skip
    return rows[picked], facts


def ordered(ds: xr.Dataset) -> tuple[Indices, Array, list[tuple[str, str]]]:
    """Numbers and times of the rows with strictly increasing times, and what is to be said."""
    if "time" not in ds.variables or ds["time"].dims != ("time",):
        raise InvalidInput("this Dataset is no trajectory: it has no times; take that of a run")
    times = np.asarray(ds["time"].values, dtype=float)
    rows = np.flatnonzero(np.isfinite(times))
    if not len(rows):
        raise InvalidInput("this trajectory has no rows: there is nothing to show")
    facts = []
    if times[rows[-1]] < times[rows[0]]:
        rows = rows[::-1]
        facts.append(("direction", "the run goes backwards in time; the page shows it by increasing time"))
    t = times[rows]
    rows = rows[t > np.concatenate([[-np.inf], np.maximum.accumulate(t)[:-1]])]
    return rows, times[rows], facts


def evenly(times: Array, most: int) -> Indices:
    """Indices of at most so many rows, those nearest to instants that are spread evenly; the first and the last too."""
    n = len(times)
    if n <= most:
        return np.arange(n)
    if most == 1:
        return np.array([0])
    asked = np.linspace(times[0], times[-1], most)
    after = np.clip(np.searchsorted(times, asked), 1, n - 1)
    nearer = np.where(asked - times[after - 1] <= times[after] - asked, after - 1, after)
    nearer[0], nearer[-1] = 0, n - 1
    return np.unique(nearer)


def _finite(ds: xr.Dataset, rows: Indices) -> Mask:
    """Which of the rows have finite attitudes and positions."""
    good = np.ones(len(rows), dtype=bool)
    for name in ("attitude", "position"):
        if name in ds:
            values = np.asarray(ds[name].isel(time=rows).values, dtype=float)
            good &= np.isfinite(values).reshape(len(rows), -1).all(axis=1)
            if name == "attitude":  # of length zero where a row was never written
                good &= (np.abs(values).sum(axis=-1) > 0.0).reshape(len(rows), -1).all(axis=1)
    return good


def turns(ds: xr.Dataset, rows: Indices, times: Array) -> tuple[float, float]:
    """Largest turn between two of the rows, rad, and the largest rate, of any body about itself or about a centre."""
    if len(rows) < 2:
        return 0.0, 0.0
    rates = np.zeros(len(rows))
    if "angular_velocity" in ds:
        w = np.asarray(ds["angular_velocity"].isel(time=rows).values, dtype=float).reshape(len(rows), -1, 3)
        rates = np.sqrt(np.einsum("fbi,fbi->fb", w, w)).max(axis=1)
    if "position" in ds and "velocity" in ds and str(ds.attrs.get("system")) in ("orbit", "spacecraft"):
        r, v = (
            np.asarray(ds[name].isel(time=rows).values, dtype=float).reshape(len(rows), -1, 3)
            for name in ("position", "velocity")
        )
        square = np.maximum(np.einsum("fbi,fbi->fb", r, r), 1e-300)
        rates = np.maximum(rates, (np.linalg.norm(np.cross(r, v), axis=-1) / square).max(axis=1))
    rates = np.nan_to_num(rates)
    return float((0.5 * (rates[1:] + rates[:-1]) * np.diff(times)).max()), float(rates.max())
