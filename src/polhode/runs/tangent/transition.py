"""The state transition matrix of a run: the steps that it took, taken once more with derivatives.

Rows at the ends of steps have the derivatives of these steps, rows between them those of the side step that leads
there.
A tolerance chooses steps by the numbers alone, so that derivatives are those at the sizes it chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices, room_for
from polhode.errors import InvalidInput, StepFailed
from polhode.kernel import layout as L
from polhode.lazy import xr
from polhode.runs.event_detection import Ended
from polhode.runs.request import Request
from polhode.runs.stepping import Run
from polhode.runs.steps import FixedStep, Recording, Tolerance
from polhode.runs.tangent.columns import Columns
from polhode.runs.tangent.engine import Steps, TangentEngine, method_and_loads
from polhode.runs.tangent.passage import Passage
from polhode.runs.variable_steps import AdaptiveRun
from polhode.systems.sampling import cut_by
from polhode.trajectory.build import enlarged

MOST_AT_ONCE = 40
"""Most columns that are carried along together; of more, the steps are taken again."""
SEEN = {"position": L.POSITION, "angular_momentum": L.ANGULAR}
"""What rows are compared by, and where it stands."""
SAME, ROUNDED = 1e-9, 1e-12
"""Relative distance of the states of both runs, and what is added for a matrix of the size of 1: round-off grows with
it."""


def changes_loads(request: Request) -> bool:
    """Whether steps are cut where loads change: at breaks, events that act, samples between the ends of steps."""
    system = request.system
    cut = bool(request.breaks or system.switches or system.watched or system.impulses)
    if isinstance(request.steps, FixedStep):
        cut |= bool(cut_by(system.sampled, request.t0, request.steps.h, request.final))
    return cut


def seen_of(N: int, states: Array) -> dict[str, Array]:
    """What states of kernels (rows, width) are compared by (rows, N, 3)."""
    bodies = states[:, : L.BODY * N].reshape(len(states), N, L.BODY)
    return {name: bodies[..., at : at + 3] for name, at in SEEN.items()}


def check_same_states(request: Request, rows: Mapping[str, Array], states: Array, growth: float) -> None:
    """Refuse derivatives of steps that do not lead where the run has been, of which these rows are known."""
    for name, there in seen_of(request.system.N, states).items():
        if name not in rows:
            continue
        here = rows[name].reshape(there.shape)
        if name == "angular_momentum":  # in another frame
            here, there = (np.linalg.norm(one, axis=-1) for one in (here, there))
        off, scale = np.abs(here - there).max(), np.abs(here).max()
        if not off <= (SAME + ROUNDED * growth) * scale:
            raise StepFailed(
                f"the steps of {request.method.label!r} with derivatives lead to another {name.replace('_', ' ')}, off "
                f"by {off:.1e}; they cannot be trusted", step=0, time=float(request.t0),
            )  # fmt: skip


class Transition:
    """The columns of a run's matrix, perhaps without those ``by_start``, and the engines that carry them."""

    def __init__(self, request: Request, by_start: bool = True) -> None:
        self.request, system = request, request.system
        self.changes = changes_loads(request)
        chosen = not isinstance(request.steps, FixedStep)
        prepared, _ = method_and_loads(system, request.method, chosen)
        self.columns = Columns(system, prepared, request.state, request.tangent or ())
        by, K = self.columns.varied[2][0] if self.columns.varied is not None else (), len(self.columns.names)
        for index in sorted(system.decided_by):
            for k in np.flatnonzero(by[index]) if index < len(by) else ():
                raise InvalidInput(f"{self.columns.names[k]} decides what the loads of {system.name!r} are, so there "
                                   "is no derivative by it")  # fmt: skip
        first = 0 if by_start else len(self.columns.rows)
        self.alike = np.arange(K) if self.changes or system.sampled else self.columns.alike(prepared.part)
        own = np.flatnonzero(self.alike == np.arange(K))[first:]
        self.parts = [own[k : k + MOST_AT_ONCE] for k in range(0, len(own), MOST_AT_ONCE)]
        varied = self.columns.varied
        of_bodies = varied is not None and bool(varied[0].any() or varied[1].any())
        how = (varied is not None, request.settings.guard, chosen, bool(request.breaks), False, of_bodies)
        self.engines = [TangentEngine(system, request.method, len(part), *how) for part in self.parts]
        for engine in self.engines:
            engine.step_info[L.COMMANDED] = request.t0 if request.commanded else np.inf

    def added(self, ds: xr.Dataset, run: Run) -> xr.Dataset:
        """The Dataset of a run, which is over, with its matrix, as the variable ``state_transition``."""
        columns, times = self.columns, np.asarray(ds["time"].values, dtype=float)
        shape = (len(times), len(columns.rows), len(columns.names))
        room_for(float(np.prod(shape)), "numbers of state_transition")
        matrix = np.empty(shape)
        for part, states, changes in self.carried(times, run):
            matrix[:, :, part] = columns.read(states, changes, part)
        words = {
            "long_name": "derivative of the state with respect to the state at the start and to parameters",
            "units": "those of the row over those of the column",
            "coordinates_note": "rotation: rotation vector in the body frame, R to R exp[theta]x, rad; angular "
            "momentum in the body frame; position and momentum in the space frame",
        }
        if isinstance(self.request.steps, FixedStep):  # else rows are those of the dense output
            growth = float(np.abs(matrix).max()) if matrix.size and np.isfinite(matrix).all() else np.inf
            check_same_states(self.request, {name: ds[name].values for name in SEEN if name in ds}, states, growth)
        found: dict[str, Any] = {"state_transition": (("time", "row", "column"), matrix, words)}
        found |= {k: ((k,), np.array(names), {}) for k, names in (("row", columns.rows), ("column", columns.names))}
        return enlarged(ds, found)

    def carried(self, times: Array, run: Run | None) -> Iterator[tuple[Indices, Array, Array]]:
        """Of the columns that are carried along together: which they are, the states (rows, width) at the times of
        rows, and their derivatives (rows, width, columns); of loads that change a run is needed, which is over."""
        steps, run = self._steps(run)
        if self.changes:
            room_for(6.0 * steps.n, "steps")
        passage = Passage(steps, self.request.system, run if self.changes else None)
        for part, engine in zip(self.parts, self.engines, strict=True):
            seeds, every = self.columns.seeds[:, part], np.flatnonzero(np.isin(self.alike, part))
            room_for(float(len(times) * seeds.size), "derivatives of rows")
            states, changes = passage.march(self.columns, engine, times, seeds, part)
            yield every, states, changes[..., np.searchsorted(part, self.alike[every])]

    def _steps(self, taken: Run | None) -> tuple[Steps, Run | None]:
        """The steps that the run takes, and a run that has taken all of them."""
        request = self.request
        if isinstance(request.steps, FixedStep):
            return Steps(request.t0, request.steps.h, request.total or 0), taken
        if not isinstance(request.steps, Tolerance):
            raise InvalidInput(f"method {request.method.label!r} chooses its steps along the motion; derivatives are "
                               "for steps of one size or a tolerance")  # fmt: skip
        ending = tuple(event for event in request.events if any(watch.terminal for watch in event.watches))
        every_step = replace(request, recording=Recording(), events=ending, tangent=None)
        run = AdaptiveRun(every_step)
        record = every_step.record()
        with suppress(Ended):
            run.carry_out(record, 1, None, lambda: None)
        times = record.between(0, record.count)[0].copy()
        return Steps(request.t0, run.direction, len(times) - 1, 0, times), run
