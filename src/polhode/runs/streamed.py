"""The trajectory of a run in its store: the Dataset, computed from the rows piece by piece while the run goes.

It is what ``result.finish`` makes of all rows at once, to the last bit: whatever refers to the start of the run, such
as the change of the energy, is computed with the first row before those of a piece, and the scale of the error of the
energy from the largest energies of the pieces before.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices
from polhode.errors import Interrupted, NotFinite, PolhodeError
from polhode.lazy import xr
from polhode.runs.request import Request
from polhode.runs.result import (
    attributes,
    blown_up,
    columns,
    concluded,
    potential_energies,
    statistics,
    warn_of_errors,
    with_found,
)
from polhode.runs.rows import Record
from polhode.runs.stepping import Run
from polhode.trajectory.build import Rows
from polhode.trajectory.charts import singular_rows, singular_words
from polhode.trajectory.energies import EnergyBalance, energy_balance
from polhode.trajectory.growing import Growing, opened
from polhode.trajectory.quantities import Constants, of_bodies

PIECE = 2**19
"""Bytes of the states from which a piece is computed, which takes some ten times that memory; at least one row."""
SECONDS = 2.0
"""Least time between two looks of others at the rows, see ``Growing.show``."""


class Streamed:
    """The Dataset of a run, on its way to the disk."""

    def __init__(self, folder: Path | None, run: Run, labels: Mapping[str, str], most: int | None) -> None:
        self.folder, self.run, self.labels = folder, run, dict(labels)
        self.growing: Any = LastRow() if folder is None else Growing(folder, "time", most)
        self.running = statistics(run)
        self.reduced: xr.Dataset | None = None
        if (trial := statistics(run)) is not None:  # before the first step: names, and functions of users
            first = Rows(np.array([run.t0]), run.start[None], np.zeros(1, dtype=np.int64))
            trial.add(0, columns(run, first, np.zeros(1), None if run.potential is None else np.zeros(1), {}))
        self.taken, self.last, self.shown = 0, 0.0, -inf
        self.failed: PolhodeError | None = None
        self.closed = False
        self.first: tuple[Any, ...] | None = None
        self.largest: Array | None = None
        self.worst, self.large_at = 0.0, None  # type: float, float | None
        self.chart, self.singular, self.singular_at = run.integrator.prepared.coordinates, 0, 0.0

    def add(self, rows: tuple[Any, ...], judge: bool = True) -> None:
        """Add the next rows: times, states, iterations, sizes of steps."""
        states = rows[1]
        most = max(1, PIECE // (8 * states.shape[1]))
        for begin in range(0, len(states), most):
            if self.failed is None:
                self._add(*(a[begin : begin + most] for a in rows), judge=judge)  # type: ignore[misc]
        self.taken += len(states)

    def _add(self, times: Array, states: Array, iterations: Indices, sizes: Array, judge: bool) -> None:
        run = self.run
        energies, self.failed = potential_energies(run, times, states)
        if energies is not None:
            k = len(energies)
            times, states, iterations, sizes = times[:k], states[:k], iterations[:k], sizes[:k]
        if not len(times):
            return
        kept = np.zeros(len(times)) if energies is None else energies
        here: tuple[Any, ...] = (times, states, iterations, sizes, kept)
        before = 0 if self.first is None else 1
        if self.first is None:
            self.first = tuple(a[:1].copy() for a in here)
        else:
            here = tuple(np.concatenate([one, a]) for one, a in zip(self.first, here, strict=True))
        times, states, iterations, sizes, stored = here
        energies = None if energies is None else stored
        rows, balance = self._balanced(Rows(times, states, iterations), energies)
        if judge and run.judged:
            k, large = balance.first.tolist()
            if 0 < k < len(times) and (self.failed is None or isinstance(self.failed, NotFinite)):
                since = self.last if k == before else times[k - 1]
                self.failed = blown_up(run, times[k], since, run.number(times[k]))
                times, sizes, energies = times[:k], sizes[:k], None if energies is None else energies[:k]
                rows, balance = self._balanced(Rows(times, states[:k], iterations[:k]), energies)
            elif large < len(times) and self.large_at is None:
                self.large_at = times[large]
            self.worst = max(self.worst, float(balance.worst))
        self.last, self.largest = times[-1], balance.largest
        ds = columns(run, rows, sizes, energies, {}).isel(time=slice(before, None))
        if self.chart is not None and self.chart.name in ds:
            values = ds[self.chart.name].values.reshape(ds.sizes["time"], -1, self.chart.size)
            at = singular_rows(self.chart.name, values, self.chart.attributes.get("sequence"), self.chart.rates)
            if len(at) and not self.singular:
                self.singular_at = ds.time.values[at[0]]
            self.singular += len(at)
        if self.running is not None:
            try:
                self.running.add(self.growing.rows, ds)
            except PolhodeError as told:
                self.failed = self.failed or told
        self.growing.add(ds)

    def _balanced(self, rows: Rows, energies: Array | None) -> tuple[Rows, EnergyBalance]:
        """The rows of a piece behind the first one of the run, with what follows from them and those before."""
        system, begins = self.run.system, self.growing.rows < 2
        made = of_bodies(rows.states, Constants(*system.for_kernels))
        balance = energy_balance(system.work_columns, rows.states, made.kinetic_energy, energies, self.largest, begins)
        return rows._replace(bodies=made, balance=balance), balance

    def show(self, error: PolhodeError | None, stopped: str = "", last: bool = False) -> None:
        """Let others see all rows so far; without an error, and the last, as a complete trajectory."""
        run, growing = self.run, self.growing
        if self.first is None:  # no row, but all variables
            width = len(run.start)
            none = np.empty(0), np.empty((0, width)), np.empty(0, dtype=np.int64), np.empty(0)
            growing.add(columns(run, Rows(*none[:3]), none[3], None if self.run.potential is None else np.empty(0), {}))
        if last:
            growing.put(with_found(run, self.statistics(), stopped))
        if self.chart is not None and self.chart.name in growing.pending:
            name, sequence = self.chart.name, self.chart.attributes.get("sequence")
            words = {key: value for key, value in growing.nodes[name]["attributes"].items() if key != "note"}
            if self.singular:
                words["note"] = singular_words(
                    name, sequence, self.singular, growing.rows, self.singular_at, self.chart.rates
                )
            growing.nodes[name]["attributes"] = dict(words)
        growing.show(attributes(run, error, stopped) | self.labels, last)
        self.shown, self.closed = time.perf_counter(), last

    def statistics(self) -> xr.Dataset:
        """Those of the rows, when there will be no more."""
        if self.reduced is None:
            self.reduced = xr.Dataset()
            if self.running is not None and self.growing.rows:
                try:
                    self.reduced = self.running.result()
                except PolhodeError as told:
                    self.failed = self.failed or told
        return self.reduced

    def show_so_far(self) -> None:
        """Let others see the rows of a run that is not over."""
        run = self.run
        of = "" if run.total is None else f" of {run.total}"
        self.show(Interrupted(f"the run was at step {run.done}{of} (t = {run.now:g}) when this was written"))

    def close(self, error: PolhodeError | None, stopped: str, times: Array, states: Array) -> xr.Dataset:
        """The Dataset, opened; where there is an error it is raised, with the Dataset on it."""
        run, _ = self.run, self.statistics()
        if self.failed is not None and (error is None or isinstance(error, NotFinite)):
            error = self.failed
        if error is None and run.guard:
            large = None if self.largest is None or self.large_at is None else (self.worst, self.largest, self.large_at)
            warn_of_errors(run, large, times, states)
        self.show(error, stopped, last=True)
        return concluded(run, self.growing.ds if self.folder is None else opened(self.folder), error)


class LastRow:
    """In the place of a Dataset that grows on the disk: its last row alone."""

    def __init__(self) -> None:
        self.rows, self.pending, self.ds = 0, dict[str, Any](), xr.Dataset()

    def add(self, piece: xr.Dataset) -> None:
        """Add rows."""
        self.rows, self.ds = self.rows + piece.sizes["time"], piece.isel(time=slice(-1, None)).copy(deep=True)

    def put(self, fixed: xr.Dataset) -> None:
        """Add variables without a time."""
        self.ds = self.ds.assign(fixed)

    def show(self, attributes: Mapping[str, Any], last: bool) -> None:
        """Set the attributes."""
        self.ds.attrs = dict(attributes)


class Passing(contextlib.nullcontext[Any]):
    """In the place of the store of a run: its rows leave the memory when they have gone into statistics."""

    streams, path, kept = True, None, None

    def begin(self, request: Request) -> None:
        """Nothing is written."""

    restart = begin

    def join(self, run: Run, record: Record) -> None:
        """Follow a run."""
        self.record, self.stream = record, Streamed(None, run, {}, None)

    def commit_if_due(self) -> None:
        """Let go of rows when there are many."""
        if self.record.count - self.stream.taken >= self.record.most:
            self.stream.add(self.record.between(self.stream.taken, self.record.count))
            self.record.forget(self.stream.taken)
            if self.stream.failed is not None:
                raise self.stream.failed

    def commit(self, over: bool) -> None:
        """Nothing is written."""

    def finish(self, error: PolhodeError | None, stopped: str) -> xr.Dataset:
        """The last row, and the statistics; an error is raised with them on it."""
        record = self.record
        judge = error is None or isinstance(error, NotFinite)
        self.stream.add(record.between(self.stream.taken, record.count), judge)
        times, states, *_ = record.between(record.first, record.count)
        return self.stream.close(error, stopped, times, states)
