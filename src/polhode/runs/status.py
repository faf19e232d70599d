"""How far the run of a live store is, and its last rows, as anybody may ask while it goes.

Nothing is computed and no function of the user's is needed: what is told stands in the checkpoint and in the trajectory
beside it, which the run shows every few seconds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import FileProblem, unknown_name
from polhode.lazy import xr
from polhode.runs.store import TRAJECTORY, LiveStore, Store, in_use
from polhode.trajectory.files import CHECKPOINT

SHOWN = ("position", "attitude", "angular_velocity", "energy_error", "iterations")
"""What ``tail`` shows of a run unless told otherwise, as far as it is there."""
WIDEST = 16
"""Columns up to which it does."""
LOOK_SECONDS = 0.5
"""Between two looks of who follows a run."""


@dataclass(frozen=True)
class Status:
    """How far a run is."""

    store: str  # store, title: the folder; system, method and step
    title: str
    # ``running``, ``stopped`` (it can be resumed), ``complete``, or ``failed``: at its end, where something is wrong
    state: str
    told: str  # the sentence of what ended it, or how far it was
    rows: int  # rows, rows_safe: rows that can be read, and those of the last checkpoint, which no failure takes away
    rows_safe: int
    steps: int  # steps, of: steps up to that checkpoint, and in all where that is known
    of: int | None
    # start, now, end: times of the start, of the last row, and of the end asked for; None where a store does not say so
    start: float | None
    now: float | None
    end: float | None
    share: float | None  # part of the span that is done
    seconds: float  # time computed up to the checkpoint; what was written took its own
    steps_per_second: float | None  # of the process that runs it or ran it last, writing included
    bytes_per_row: float | None
    left: float | None  # seconds that a run still takes at this rate, while it goes
    bytes: int  # size on the disk
    checkpoint_age: float  # seconds since the last checkpoint

    def to_json(self) -> dict[str, Any]:
        """Its attributes in JSON's types."""
        return asdict(self)


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder."""
    total = 0
    for part, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(part, name)).st_size
            except FileNotFoundError:  # a run has just replaced it
                continue
    return total


def status(path: str | os.PathLike[str]) -> Status:
    """How far the run of a live store is."""
    running = in_use(Path(path))  # before anything else is read, so that what ends meanwhile is not taken for stopped
    live = LiveStore.opened(Store(path), writable=False)
    told, asked = live.progress, json.loads(live.run_text)
    seconds = float(live.state["seconds"]) if live.state is not None else 0.0
    rows, now, attributes = live.rows, told.get("time"), {}  # type: int, float | None, dict[str, Any]
    if (live.path / TRAJECTORY / "zarr.json").is_file():
        ds = live.trajectory()
        if ds.sizes["time"] >= max(rows, 1) or live.over:  # rows are there before the first checkpoint counts them
            rows, now, attributes = *_written(ds, rows, now), ds.attrs
    start, end = told.get("start", asked.get("t0")), told.get("end", asked.get("t_end"))
    if end is None and start is not None and asked.get("step") and asked.get("steps") is not None:
        span = asked["step"] * asked["steps"]
        end = start - span if asked.get("backwards") else start + span
    share = None
    if start is not None and end is not None and now is not None:
        share = (now - start) / (end - start) if end != start else 1.0
    rate = left = None
    if told.get("elapsed"):
        rate = (live.steps - told["steps_before"]) / told["elapsed"]
        gained = told["share"] - told["share_before"]
        left = (1.0 - told["share"]) * told["elapsed"] / gained if running and gained > 0.0 else None
    state = "complete" if live.over else "running" if running else "stopped"
    if live.over and "incomplete" in attributes:
        state = "failed"
    size = size_of(live.path)
    system, method = asked.get("system", {}).get("name"), asked.get("method")
    return Status(
        str(live.path), attributes.get("title") or f"{system}, {method}", state, str(attributes.get("incomplete", "")),
        rows, live.rows, live.steps, live.of, start, now, end, share, seconds,
        rate, size / rows if rows else None, left, size,
        max(0.0, time.time() - (live.path / CHECKPOINT).stat().st_mtime),
    )  # fmt: skip


def _written(ds: xr.Dataset, rows: int, now: float | None) -> tuple[int, float | None]:
    """Rows that are there, and the time of the last one; a full disk leaves NaN behind them."""
    there = np.flatnonzero(np.isfinite(ds.time.values))
    return (int(there[-1]) + 1, float(ds.time.values[there[-1]])) if there.size else (rows, now)


# ------------------------------------------------------------------ the last rows
def shown_of(ds: xr.Dataset, names: list[str]) -> list[str]:
    """Variables to show: those named, else what fits in a terminal."""
    along = [str(name) for name, variable in ds.data_vars.items() if "time" in variable.dims]
    for name in names:
        if name not in along:
            raise unknown_name("variable", name, along)
    if names:
        return names
    found: list[str] = []
    for name in SHOWN:
        if name in along and sum(prod(ds[one].shape[1:]) for one in [*found, name]) <= WIDEST:
            found.append(name)
    return found or along[-2:]


def columns_of(ds: xr.Dataset, names: list[str]) -> list[str]:
    """Names of the numbers of a row: ``attitude.w``, or ``position[2].x`` of one of several bodies."""
    found = ["time"]
    for name in names:
        variable = ds[name]
        for index in np.ndindex(*variable.shape[1:]):
            text = name
            for dimension, k in zip(variable.dims[1:], index, strict=True):
                text += f".{ds[dimension].values[k]}" if dimension in ds.coords else f"[{k}]"
            found.append(text)
    return found


def numbers_of(ds: xr.Dataset, names: list[str]) -> Array:
    """Rows as numbers, in the order of ``columns_of``."""
    n = ds.sizes["time"]
    return np.column_stack([ds.time.values, *(np.asarray(ds[k].values, dtype=float).reshape(n, -1) for k in names)])


def last_rows(path: str | os.PathLike[str], many: int, follow: bool = False) -> Iterator[tuple[xr.Dataset, int]]:
    """The last rows of a run, and those that come while it goes."""
    seen, first = 0, True
    while True:
        going = follow and in_use(Path(path))
        live = LiveStore.opened(Store(path), writable=False)
        try:
            ds = live.trajectory()
        except FileProblem:
            if not going:
                raise
            time.sleep(LOOK_SECONDS)
            continue
        rows = ds.sizes["time"]
        if rows > seen or first:
            begin = max(seen, rows - many)
            yield ds.isel(time=slice(begin, None)), 0 if first else begin - seen
            seen, first = rows, False
        if not going:
            return
        time.sleep(LOOK_SECONDS)
