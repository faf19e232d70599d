"""The state transition matrix of a run: the steps that it took, taken once more with derivatives.

Rows at the ends of steps have the derivatives of these steps, rows between them those of the side step that leads
there.
A tolerance chooses steps by the numbers alone, so that derivatives are those at the sizes it chose.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments import room_for
from polhode.errors import InvalidInput, StepFailed
from polhode.kernel import layout as L
from polhode.kernel.tangent_drive import COMMANDED
from polhode.runs.adaptive_run import AdaptiveRun
from polhode.runs.event_detection import Ended
from polhode.runs.request import Request
from polhode.runs.rows import Record
from polhode.runs.stepping import Run
from polhode.runs.steps import FixedStep, Recording, Tolerance
from polhode.runs.tangent.columns import Columns
from polhode.runs.tangent.engine import Schedule, TangentEngine, method_and_loads
from polhode.runs.tangent.passage import ON_GRID, Passage, check_steps
from polhode.systems.sampling import cut_by

if TYPE_CHECKING:
    import xarray as xr

MOST_AT_ONCE = 24
"""Most columns that are carried along together; of more, the steps are taken again."""
SAME, ROUNDED = 1e-9, 1e-12
"""Relative distance of the states of both runs, and what is added for a matrix of the size of 1: round-off grows with
it."""


@dataclass(frozen=True, eq=False)
class _Grid:
    """The steps of a run: their begins, sizes and ends; ``first`` is the time at which the first one begins."""

    first: float
    schedule: Schedule

    @property
    def direction(self) -> float:
        return 1.0 if not len(self.schedule.sizes) or self.schedule.sizes[0] > 0.0 else -1.0

    def step_of(self, t: float) -> tuple[int, bool]:
        """How many whole steps lead up to a time, and whether one ends there."""
        ends = np.concatenate([[self.first], self.schedule.ends]) * self.direction
        k = int(np.searchsorted(ends, t * self.direction, side="right")) - 1
        for n in (k, k + 1):
            if 0 <= n < len(ends):
                size = abs(self.schedule.sizes[min(n, len(self.schedule.sizes) - 1)]) if len(ends) > 1 else 1.0
                scale = max(size, abs(t)) if n else size
                if abs(ends[n] - t * self.direction) <= ON_GRID * scale:
                    return n, True
        return min(max(k, 0), len(ends) - 2), False

    def part(self, first: int, last: int) -> Schedule:
        """Steps of a range."""
        s = self.schedule
        return Schedule(s.begins[first:last], s.sizes[first:last], s.ends[first:last])


def check_decided(columns: Columns) -> None:
    """Refuse a parameter by which it is decided what the loads are."""
    if columns.varied is None:
        return
    by, system = columns.varied[2][0], columns.system
    for index in sorted(system.decided_by):
        for k in np.flatnonzero(by[index]) if index < len(by) else ():
            raise InvalidInput(f"{columns.names[k]} decides what the loads of {system.name!r} are, so there is no "
                               "derivative by it")  # fmt: skip


def check_same_states(request: Request, ds: xr.Dataset, states: Any, growth: float) -> None:
    """Refuse derivatives of steps that do not lead where the run has been."""
    several = request.system.N > 1
    bodies = states[:, : L.BODY * request.system.N].reshape(len(states), -1, L.BODY)
    for name, at, size in (("position", L.POSITION, 3), ("angular_momentum", L.ANGULAR, 3)):
        if name not in ds:
            continue
        here = ds[name].values if several else ds[name].values[:, None]
        there = bodies[..., at : at + size]
        if name == "angular_momentum":  # in another frame
            here, there = (np.linalg.norm(one, axis=-1) for one in (here, there))
        off, scale = np.abs(here - there).max(), np.abs(here).max()
        if not off <= (SAME + ROUNDED * growth) * scale:
            raise StepFailed(
                f"the steps of {request.method.label!r} with derivatives lead to another {name.replace('_', ' ')}, off "
                f"by {off:.1e}; they cannot be trusted", step=0, time=float(request.t0),
            )  # fmt: skip


class Transition:
    """The columns of a run's matrix, and the engines that carry them."""

    def __init__(self, request: Request) -> None:
        self.request, system = request, request.system
        self.changes = bool(request.breaks or system.switches or system.watched or system.impulses)
        if isinstance(request.steps, FixedStep):
            self.changes |= bool(cut_by(system.sampled, request.t0, request.steps.h, request.final))
        guard = request.settings.guard
        chosen = not isinstance(request.steps, FixedStep)
        prepared, _ = method_and_loads(system, request.method, chosen)
        self.columns = Columns(system, prepared, request.state.values, request.tangent or ())
        check_decided(self.columns)
        K = len(self.columns.names)
        self.parts = [range(k, min(k + MOST_AT_ONCE, K)) for k in range(0, K, MOST_AT_ONCE)]
        varied = self.columns.varied is not None
        breaks = bool(request.breaks)
        self.engines = [
            TangentEngine(system, request.method, len(part), varied, guard, chosen, breaks) for part in self.parts
        ]
        for engine in self.engines:
            engine.step_info[L.COMMANDED] = request.t0 if request.commanded else np.inf

    def added(self, ds: xr.Dataset, run: Run) -> xr.Dataset:
        """The Dataset of a run, which is over, with its matrix, as the variable ``state_transition``."""
        columns = self.columns
        matrix = self.at(np.asarray(ds["time"].values, dtype=float), run)
        words = {
            "long_name": "derivative of the state with respect to the state at the start and to parameters",
            "units": "those of the row over those of the column",
            "coordinates_note": "rotation: rotation vector in the body frame, R to R exp[theta]x, rad; angular "
            "momentum in the body frame; position and momentum in the space frame",
        }
        if isinstance(self.request.steps, FixedStep):  # else rows are those of the dense output
            growth = float(np.abs(matrix).max()) if matrix.size and np.isfinite(matrix).all() else np.inf
            check_same_states(self.request, ds, self.states, growth)
        found = ds.assign_coords(row=("row", list(columns.rows)), column=("column", list(columns.names)))
        return found.assign(state_transition=(("time", "row", "column"), matrix, words))

    def at(self, times: Any, run: Run) -> Any:
        """The matrix at the times of rows (rows, row, column), of which the first is that of the start."""
        columns = self.columns
        shape = (len(times), len(columns.rows), len(columns.names))
        room_for(float(np.prod(shape)), "numbers of state_transition")
        grid, run = self._grid(run)
        ends = np.concatenate([[grid.first], grid.schedule.ends]) if isinstance(run, AdaptiveRun) else None
        passage = Passage(run, columns, ends) if self.changes else None
        found = np.empty(shape)
        self.states = np.empty((len(times), columns.start.state.size))
        for part, engine in zip(self.parts, self.engines, strict=True):
            seeds = columns.seeds[:, part.start : part.stop]
            if passage is None:
                found[:, :, part.start : part.stop] = self._march(engine, grid, times, seeds, part)
            else:
                self.states, changes = passage.march(engine, times, seeds, part)
                found[:, :, part.start : part.stop] = columns.read(self.states, changes, part.start)
        return found

    def _march(self, engine: TangentEngine, grid: _Grid, times: Any, seeds: Any, part: range) -> Any:
        """Some columns at all rows."""
        columns, constants = self.columns, self.columns.constants_of(part)
        state, change, done = columns.start.state, seeds, 0
        every = self._every(grid, times)
        if every:
            marched = engine.march(
                state[None], change[None], grid.schedule, every=every, constants=constants, treatment=COMMANDED
            )
            check_steps(marched, grid.schedule)
            self.states[:] = marched.states[0]
            return columns.read(marched.states[0], marched.derivatives[0], part.start)
        states, changes = np.empty((len(times), state.size)), np.empty((len(times), *change.shape))
        for r, t in enumerate(times):
            k, ends_there = grid.step_of(float(t))
            if k > done:
                steps = grid.part(done, k)
                marched = engine.march(state[None], change[None], steps, constants=constants)
                check_steps(marched, steps)
                state, change, done = marched.states[0, -1], marched.derivatives[0, -1], k
            shown, slopes = state, change
            if not ends_there:
                begin = float(grid.schedule.begins[k])
                step = Schedule.one(begin, float(t) - begin, float(t))
                marched = engine.march(state[None], change[None], step, constants=constants)
                check_steps(marched, step)
                shown, slopes = marched.states[0, -1], marched.derivatives[0, -1]
            states[r], changes[r] = engine.shown(shown, slopes, float(t), constants)
        self.states[:] = states
        return columns.read(states, changes, part.start)

    def _every(self, grid: _Grid, times: Any) -> int:
        """After how many steps the rows are, where they are so at equal distances; else 0."""
        n = len(grid.schedule.ends)
        if len(times) < 2 or n < 1 or times[0] != grid.first:
            return 0
        k, ends_there = grid.step_of(float(times[1]))
        if not ends_there or k < 1:
            return 0
        numbers = [*range(k, n, k), n]
        if len(numbers) != len(times) - 1:
            return 0
        reached = grid.schedule.ends[np.array(numbers) - 1]
        return k if np.allclose(reached, times[1:], rtol=ON_GRID, atol=0.0) else 0

    def _grid(self, taken: Run) -> tuple[_Grid, Run]:
        """The steps that the run takes, and a run that has taken all of them."""
        request = self.request
        if isinstance(request.steps, FixedStep):
            h, n = request.steps.h, request.total or 0
            room_for(6.0 * n, "steps")
            return _Grid(request.t0, Schedule.equal(request.t0, h, n)), taken
        if not isinstance(request.steps, Tolerance):
            raise InvalidInput(f"method {request.method.label!r} chooses its steps along the motion; tangent is for "
                               "steps of one size or a tolerance")  # fmt: skip
        ending = tuple(event for event in request.events if any(watch.terminal for watch in event.watches))
        every_step = replace(request, recording=Recording(), events=ending, tangent=None)
        run = AdaptiveRun(every_step)
        record = Record.of(every_step)
        with suppress(Ended):
            run.carry_out(record, 1, None, lambda: None)
        times, _, _, _ = record.between(0, record.count)
        begins, ends = times[:-1].copy(), times[1:].copy()
        return _Grid(request.t0, Schedule(begins, ends - begins, ends)), run
