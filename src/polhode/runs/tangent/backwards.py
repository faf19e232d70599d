"""Runs backwards: the derivative of a function of rows with respect to the start and to parameters, in reverse mode.

The run is cut into segments of about sqrt(n) steps. Forwards, the state at the begin of each is kept; backwards, a
segment is taken once more, its states are kept, and its steps are differentiated one by one, so that states at
2 sqrt(n) times are in memory at once [griewank2008, sec. 12.3].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isqrt
from typing import Any

import numpy as np

from polhode.arguments import room_for
from polhode.errors import InvalidInput, StepFailed
from polhode.kernel import layout as L
from polhode.kernel import reverse_drive as D
from polhode.kernel.tangent_mode import padded
from polhode.runs.adaptive_run import AdaptiveRun
from polhode.runs.request import Request
from polhode.runs.rows import Record
from polhode.runs.steps import FixedStep, Recording, Tolerance
from polhode.runs.tangent.columns import Columns
from polhode.runs.tangent.engine import MOST_STEPS, Schedule, TangentEngine, method_and_loads
from polhode.runs.tangent.passage import ON_GRID
from polhode.runs.tangent.transition import MOST_AT_ONCE, check_decided

IN_A_PASS = 16
"""Most directions in one pass, where there are several."""
OF_ROW = 30.0
"""Numbers that a row takes beside its states."""


def check_same_loads(request: Request) -> None:
    """Refuse loads that are switched during the run."""
    system = request.system
    if system.sampled:
        raise InvalidInput(f"gradients are for loads that are the same all the run; {system.name!r} has controllers: "
                           "polhode.integrate(..., tangent=True) has derivatives of such runs")  # fmt: skip
    if request.breaks or system.switches or system.watched or system.impulses:
        raise InvalidInput(
            f"gradients are for loads that are the same all the run; {system.name!r} has breaks, burns, shadows or "
            "impulses: polhode.integrate(..., tangent=True) has derivatives of such runs"
        )


class ReverseEngine(TangentEngine):
    """Takes segments of steps forwards, and cotangents backwards."""

    LOOP = staticmethod(D.pull_back)
    TYPE = D.PULL_BACK
    ALWAYS_VARIED = True


@dataclass(frozen=True)
class _Row:
    """A row: whole steps that lead up to it, its time, and whether a step ends there."""

    steps: int
    time: float
    on_grid: bool


class Backwards:
    """One run, and the transposed derivative of its rows.


    Attributes
    ----------
    columns : Columns
        By what it is differentiated.
    rows : list
        Where rows are.
    times : array (rows,)
        Their times.
    passes : int
        How often each step is differentiated, along ``per_pass`` directions at once.
    """

    def __init__(self, request: Request, parameters: tuple[str, ...] = ()) -> None:
        self.request, system = request, request.system
        check_same_loads(request)
        guard, chosen = request.settings.guard, not isinstance(request.steps, FixedStep)
        prepared, _ = method_and_loads(system, request.method, chosen)
        self.columns = Columns(system, prepared, request.state.values, parameters)
        check_decided(self.columns)
        self.width = self.columns.start.state.size
        self.state_directions = self._state_directions()
        self.P = len(self.columns.parameters)
        count = len(self.state_directions) + self.P
        self.passes = 1 if count <= MOST_AT_ONCE else ceil(count / IN_A_PASS)
        self.per_pass = ceil(count / self.passes)
        self.engine = ReverseEngine(system, request.method, self.per_pass, True, guard, chosen)
        self.schedule: Schedule | None = None
        if not isinstance(request.steps, FixedStep):
            self.schedule = self._chosen_steps()
        self.n = (request.total or 0) if self.schedule is None else len(self.schedule.ends)
        self.segment = max(1, isqrt(max(self.n - 1, 0)) + 1)
        self._check_size()
        self.rows = self._rows()
        self.times = np.array([row.time for row in self.rows])
        self.grid = sorted({row.steps for row in self.rows if row.steps > 0})
        self._arrays()
        self.checkpoints: Any = None

    def _check_size(self) -> None:
        """Refuse more steps or rows than can be gone back over."""
        if self.n > MOST_STEPS:
            raise InvalidInput(f"the run has {self.n:g} steps, more than the {MOST_STEPS:g} that gradients go back "
                               "over; take a larger step, or an earlier end")  # fmt: skip
        samples, every = self.request.samples, self.request.recording.every
        rows = 2 + (self.n // every if samples is None else len(samples))
        room_for(2.0 * self.segment * self.width + rows * (4.0 * self.width + OF_ROW),
                 f"a gradient over {self.n:g} steps, {rows:g} of them shown,")  # fmt: skip

    # -------------------------------------------------------------- steps and rows
    def _state_directions(self) -> Any:
        """Indices of the numbers of a state that can change."""
        system, found = self.columns.system, []
        for i in range(system.N):
            at = L.BODY * i
            if np.isfinite(system.mass[i]):
                found += [*range(at + L.POSITION, at + L.POSITION + 3), *range(at + L.MOMENTUM, at + L.MOMENTUM + 3)]
            if np.isfinite(system.moments[i]).any():
                found += [*range(at + L.ATTITUDE, at + L.ATTITUDE + 4), *range(at + L.ANGULAR, at + L.ANGULAR + 3)]
        return np.array([*found, *range(L.BODY * system.N, self.width)], dtype=np.int64)

    def _chosen_steps(self) -> Schedule:
        request = self.request
        if not isinstance(request.steps, Tolerance):
            raise InvalidInput(f"method {request.method.label!r} chooses its steps along the motion; derivatives are "
                               "for steps of one size or a tolerance")  # fmt: skip
        every_step = _with_every_step(request)
        run, record = AdaptiveRun(every_step), Record.of(every_step)
        run.carry_out(record, 1, None, lambda: None)
        times, _, _, _ = record.between(0, record.count)
        begins, ends = times[:-1].copy(), times[1:].copy()
        return Schedule(begins, ends - begins, ends)

    def part(self, first: int, last: int) -> Schedule:
        """Steps of a range."""
        if self.schedule is None:
            return Schedule.equal(self.request.t0, self.request.steps.h, last - first, first)  # type: ignore[union-attr]
        s = self.schedule
        return Schedule(s.begins[first:last], s.sizes[first:last], s.ends[first:last])

    def _rows(self) -> list[_Row]:
        request, t0 = self.request, self.request.t0
        if request.samples is None:
            every = request.recording.every
            ends = [*range(0, self.n, every), self.n]
            return [_Row(k, self._end_of(k), True) for k in ends]
        return [self._row_at(float(t)) for t in request.samples] if self.n else [_Row(0, t0, True)]

    def _end_of(self, k: int) -> float:
        """Time at which k steps have been taken."""
        return float(self.request.t0 if k == 0 else self.part(k - 1, k).ends[0])

    def _row_at(self, t: float) -> _Row:
        if self.schedule is None:
            k = int((t - self.request.t0) / self.request.steps.h)  # type: ignore[union-attr]
        else:
            forwards = np.sign(self.schedule.sizes[0])
            k = int(np.searchsorted(self.schedule.ends * forwards, t * forwards, side="right"))
        k = min(max(k, 0), self.n)
        for m in (k, k + 1, k - 1):
            if 0 <= m <= self.n:
                size = abs(float(self.part(min(m, self.n - 1), min(m, self.n - 1) + 1).sizes[0]))
                if abs(self._end_of(m) - t) <= ON_GRID * max(size, abs(t) if m else 0.0):
                    return _Row(m, t, True)
        return _Row(min(k, self.n - 1), t, False)

    # -------------------------------------------------------------- the kernel
    def _arrays(self) -> None:
        """The memory that the kernel works on."""
        engine, columns, width = self.engine, self.columns, self.width
        start, count = columns.start, len(self.state_directions) + self.P
        slots = self.passes * self.per_pass
        directions = np.full(slots, -1, dtype=np.int64)
        directions[: len(self.state_directions)] = self.state_directions
        derived = []
        given = columns.varied or tuple(np.zeros((1, a.size, len(columns.rows))) for a in start.all[1:])
        for change in given:
            of_all = np.zeros((change.shape[1], slots))
            of_all[:, count - self.P : count] = change[0, :, len(columns.rows) :]
            split = np.zeros((self.passes, change.shape[1], engine.stride))
            split[..., : self.per_pass] = np.moveaxis(of_all.reshape(-1, self.passes, self.per_pass), 1, 0)
            derived.append(split)
        memory = 3 * width + engine.load + engine.work
        self.kept = np.zeros((self.segment + 1, width))
        self.row_at = np.full(self.segment + 1, -1, dtype=np.int64)
        self.shown = np.zeros((max(1, len(self.grid)), width))
        self.cotangents = np.zeros_like(self.shown)
        self.cotangent, self.by_constants = np.zeros(width), np.zeros(max(1, self.P))
        self.status = np.zeros(2, dtype=np.int64)
        self.sizes = np.zeros(D.SIZES, dtype=np.int64)
        self.sizes[: D.TASK] = (
            columns.system.N, len(engine.blocks) // 2, len(columns.system.auxiliary), width, start.parameters.size,
            engine.load, padded(self.per_pass), self.per_pass, self.passes, len(self.state_directions), count,
        )  # fmt: skip
        self._fixed = (
            np.tile(start.bodies, self.passes), derived[0], np.tile(start.frames, self.passes), derived[1],
            np.tile(start.parameters, self.passes), derived[2], engine.coefficients,
            engine.int_coefficients, engine.blocks, engine.step_info.copy(), np.zeros(memory), np.zeros(memory),
            np.zeros(memory * engine.stride),
        )  # fmt: skip
        self._last = (
            self.kept, self.row_at, self.shown, self.cotangents, self.cotangent, self.by_constants, directions,
            np.zeros(slots), self.status,
        )  # fmt: skip

    def _call(self, task: int, schedule: Schedule, shown: Any = None, cotangents: Any = None) -> None:
        """Have the kernel do something with a segment."""
        times = [np.ascontiguousarray(a, float) for a in (schedule.begins, schedule.sizes, schedule.ends)]
        last = list(self._last)
        last[2] = self.shown if shown is None else shown
        last[3] = self.cotangents if cotangents is None else cotangents
        self.sizes[D.TASK] = task
        addresses = np.array([0, 0, *(a.ctypes.data for a in (*self._fixed, *times, *last))], dtype=np.int64)
        self.engine.kernel(0, 1, len(times[0]), self.engine.limit, self.sizes, addresses)
        if self.status[0] != L.OK:
            k = min(int(self.status[1]), len(times[0]) - 1)
            raise StepFailed(
                f"the step at t = {times[0][k]:.9g} could not be taken with derivatives; take a smaller step than "
                f"{abs(times[1][k]):g}", step=k, time=float(times[0][k]),
            )  # fmt: skip

    def _segments(self) -> list[tuple[int, int]]:
        return [(k, min(k + self.segment, self.n)) for k in range(0, self.n, self.segment)]

    def _numbered(self, first: int, last: int) -> None:
        """Which states of a segment are rows."""
        self.row_at[:] = -1
        a, b = np.searchsorted(self.grid, [first + 1, last + 1])
        for j in range(a, b):
            self.row_at[self.grid[j] - first] = j

    # -------------------------------------------------------------- forwards and backwards
    def forwards(self) -> Any:
        """The states (rows, width) of the rows, as kernels keep them."""
        segments, start = self._segments(), self.columns.start.state
        self.checkpoints = np.zeros((len(segments), self.width))
        self.kept[0] = start
        if segments and self.engine.prepared.processed:
            self._call(D.PREPARE, self.part(0, 1))
        for s, (first, last) in enumerate(segments):
            self.checkpoints[s] = self.kept[0]
            self._numbered(first, last)
            self._call(D.FORWARDS, self.part(first, last))
            self.kept[0] = self.kept[last - first]
        found = np.empty((len(self.rows), self.width))
        for r, row in enumerate(self.rows):
            found[r] = self._base(row)
            if not row.on_grid:
                shown = np.zeros((1, self.width))
                self._aside(row)
                self._call(D.FORWARDS, self._side_step(row), shown)
                found[r] = shown[0]
        return found

    def _base(self, row: _Row) -> Any:
        """The presented state at the last whole step before a row."""
        return self.columns.start.state if row.steps == 0 else self.shown[self._place(row)]

    def _place(self, row: _Row) -> int:
        return int(np.searchsorted(self.grid, row.steps))

    def _side_step(self, row: _Row) -> Schedule:
        begin = self._end_of(row.steps)
        return Schedule.one(begin, row.time - begin, row.time)

    def _aside(self, row: _Row) -> None:
        """Make ready for the side step that leads to a row."""
        self.kept[0] = self._base(row)
        self.row_at[:2] = -1, 0
        if self.engine.prepared.processed:
            self._call(D.PREPARE, self._side_step(row))

    def backwards(self, cotangents: Any, by_parameters: Any = 0.0) -> Any:
        """The derivative by all columns of the sum of products of cotangents with the states of ``forwards``."""
        if self.checkpoints is None:
            self.forwards()
        processed = self.engine.prepared.processed
        at_start = np.zeros(self.width)
        self.cotangents[:] = 0.0
        self.by_constants[:] = 0.0
        for row, cotangent in zip(self.rows, cotangents, strict=True):
            if not row.on_grid:
                step, given = self._side_step(row), np.array(cotangent, float)[None]
                self._aside(row)
                self.cotangent[:] = 0.0
                self._call(D.BACKWARDS, step, cotangents=given)
                if processed:
                    self.kept[0] = self._base(row)
                    self._call(D.UNPREPARE, step)
                cotangent = self.cotangent
            if row.steps == 0:
                at_start += cotangent
            else:
                self.cotangents[self._place(row)] += cotangent
        self.cotangent[:] = 0.0
        for s, (first, last) in reversed(list(enumerate(self._segments()))):
            self.kept[0] = self.checkpoints[s]
            self._numbered(first, last)
            self._call(D.BACKWARDS, self.part(first, last))
        if processed and self.n:
            self.kept[0] = self.columns.start.state
            self._call(D.UNPREPARE, self.part(0, 1))
        found = self.columns.seeds.T @ (self.cotangent + at_start)
        found[len(self.columns.rows) :] += self.by_constants[: self.P] + by_parameters
        return found


def _with_every_step(request: Request) -> Request:
    """The same run with a row after each step."""

    return replace(request, recording=Recording(), events=(), tangent=None)
