"""One short run after the other on the same arrays: each is one call of the compiled loop.

What a run checks, sets up and watches beside its loop takes fifty times as long as a short loop. All of that is the
same in every run of one kind; so the first run does it, and the others write their start and their parameters into its
arrays. Where anything is unusual (a start in another form, parameters that are refused, a step that fails) there is no
answer, and the ordinary run tells what there is to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from polhode.arguments import NUMBERS
from polhode.errors import PolhodeError
from polhode.kernel import layout as L
from polhode.runs.adaptive_run import AdaptiveRun
from polhode.runs.initial_state import of_one_body, start_state
from polhode.runs.parameters import with_parameters
from polhode.runs.request import Request
from polhode.runs.state import STATE_SET, STATE_WORDS
from polhode.runs.stepping import SLICE_SECONDS, Run
from polhode.systems import System

MOST_MEMORY = 1024
"""Most numbers behind the parameters that are written anew for each run."""
MOST_TRIED = 1024
"""Most steps that are tried by a tolerance in one call."""
Answer = tuple[Any, Any, System | Callable[[], System]]


class Repeated:
    """Runs of one kind; ``Repeated.of`` says whether runs can be made so.


    Attributes
    ----------
    system : System
        What moves, with its own parameters.
    """

    def __init__(self, request: Request) -> None:
        self.run = run = self.kind(request)
        self.integrator, self.system, self.t0 = run.integrator, request.system, request.t0
        self.alone, self.attracted = self.system.alone, "central_gravity" in self.system.provides
        self.every, self.begun = request.recording.every, request.state.values.copy()
        self.kept, self.parameters = run.step_info.copy(), self.integrator.parameters.copy()
        self.fixed: frozenset[int] | None = None
        self.set_out()

    kind: type[Run] = Run

    def set_out(self) -> None:
        """What the loop asks for beside the state."""
        run = self.run
        self.steps, self.h = int(run.total or 0), run.h
        self.rows, over = divmod(self.steps, self.every)
        numbers = [*range(0, self.steps + 1, self.every), *[self.steps] * (over > 0)]
        self.times, self.over = self.t0 + np.array(numbers) * self.h, over > 0
        self.counts = np.zeros(self.rows, dtype=np.int64)

    @staticmethod
    def of(run: Run, request: Request) -> Repeated | None:
        """The runs like this one, which is over; None where they need more than the loop, or more time than a slice."""
        cls = {Run: Repeated, AdaptiveRun: RepeatedByTolerance}.get(type(run))
        system, prepared = request.system, run.integrator.prepared
        watched = (
            request.events
            or request.breaks
            or system.switches
            or system.impulses
            or system.watches
            or run.event_detection.sampled
            or run.event_detection.ground != system.ground
        )
        own = prepared.processed or prepared.coordinates or prepared.bath or prepared.step_density
        shared = system.serve is not None or system.memory > MOST_MEMORY or system.check is not None
        other = cls is None or request.samples is not None or request.since is not None
        if other or watched or own or shared or not run.done or run.seconds > SLICE_SECONDS / 2:
            return None
        return cls(request)  # type: ignore[misc]

    def answer(self, start: Any, parameters: Any) -> Answer | None:
        """Times, states and the system (or what makes it) of one run; None where the ordinary run has to tell."""
        start = {} if start is None else start
        if type(start) is not dict or not STATE_SET.issuperset(start):
            return None
        integrator, system = self.integrator, self.system
        integrator.parameters[:] = self.parameters
        made: System | Callable[[], System] = system
        if parameters is not None:
            places = self._places(parameters)
            if places is not None:
                for k, value in places:
                    integrator.parameters[k] = value
                made = lambda: with_parameters(system, parameters)  # noqa: E731
            else:
                try:
                    made = system = with_parameters(system, parameters)
                except PolhodeError:
                    return None
        get = start.get
        velocity, momentum = get("velocity"), get("momentum")
        if self.attracted and velocity is None and momentum is None:
            return None
        alone = self.alone if system is self.system else system.alone
        y = of_one_body(
            alone, self.attracted, get("attitude"), get("angular_velocity"), get("angular_momentum"), get("position"),
            velocity, momentum,
        )  # fmt: skip
        if y is None:
            if alone is not None:
                return None
            try:
                y = start_state(system, *map(get, STATE_WORDS))
            except PolhodeError:
                return None
        integrator.y[:] = self.begun
        integrator.y[: y.size] = y
        if system.wheels_at >= 0:  # whose momenta follow from the angular velocity
            integrator.y[y.size : y.size + len(system.auxiliary)] = system.auxiliary_at_start(y)
        if system is not self.system and not self._fits(system, integrator.y):
            return None
        integrator.step_info[:] = self.kept
        try:
            found = self.rows_of()
        except Exception:  # a function of the user's
            return None
        finally:
            if system is not self.system:
                integrator.bodies[:], integrator.frames[:] = self.system.bodies, np.ravel(self.system.frames)
        return None if found is None else (*found, made)

    def rows_of(self) -> tuple[Any, Any] | None:
        """Times and states of the run from the state in the arrays; None where a step fails."""
        integrator = self.integrator
        states = np.empty((1 + self.rows + self.over, self.begun.size))
        states[0] = integrator.y
        shown = integrator.show(self.t0, states[0])
        status = integrator.loop(
            L.MARCHING, 0, self.steps, self.every, self.t0, self.h, integrator.limit, self.system.N,
            integrator.blocks.size // 2, integrator.y, integrator.addresses, states[1 : 1 + self.rows], self.counts,
            integrator.event_addresses, integrator.sides, integrator.before,
        )  # fmt: skip
        if self.over:
            states[-1] = integrator.y
            shown = shown or integrator.show(self.times[-1], states[-1])
        return None if status or shown else (self.times.copy(), states)

    def _places(self, parameters: Any) -> list[tuple[int, float]] | None:
        """Where parameters go that stand among those of the roles as they are given; None where they do not, or where
        the role was written for their values."""
        system, found = self.system, list[tuple[int, float]]()
        words = parameters if isinstance(parameters, Mapping) else {"parameters": parameters}
        for name, value in words.items():
            if name == "parameters" and system.functions:
                count = len(system.arguments.get("parameters") or ())
                values = value.tolist() if isinstance(value, np.ndarray) else value
                if not isinstance(values, list | tuple) or len(values) != count:
                    return None
                end = len(system.parameters) if system.samples_at < 0 else system.samples_at
                found += zip(range(end - count, end), values, strict=True)
            elif name in system.direct:
                k, positive = system.direct[name]
                if positive and not (type(value) in NUMBERS and value > 0.0):
                    return None
                found.append((k, value))
            else:
                return None
        if self.fixed is None:
            self.fixed = system.decided_by
        if not all(type(value) in NUMBERS and isfinite(value) and k not in self.fixed for k, value in found):
            return None
        return found

    def _fits(self, system: System, y: Any) -> bool:
        """Whether another system of the kind has the same kernels, and write its constants into the arrays; they are
        taken back after the run."""
        own, prepared, integrator = self.system, self.integrator.prepared, self.integrator
        if (
            prepared.made_for is not None
            or prepared.slopes
            or prepared.refuses is not None
            or prepared.role is not None
        ):
            return False
        like = (
            system._turns == own._turns and np.array_equal(system._blocks, own._blocks)
            and system.provides == own.provides and system.auxiliary == own.auxiliary
            and system.parameters.shape == own.parameters.shape
            and not (system.switches or system.impulses or system.watches) and system.memory == own.memory
        )  # fmt: skip
        if not like or system.compiled_loads(self.t0, y, prepared.modified) is not integrator.loads_of_system:
            return False
        integrator.bodies[:], integrator.frames[:] = system._bodies, np.ravel(system.frames)
        integrator.parameters[:] = system.with_memory
        return True


class RepeatedByTolerance(Repeated):
    """Runs of one kind, with steps that a tolerance chooses."""

    kind = AdaptiveRun

    def set_out(self) -> None:
        """What the loop asks for beside the state."""
        assert isinstance(self.run, AdaptiveRun)
        self.end, (self.longest, self.shortest) = self.run.final, self.run.limits
        self.first_state, self.most = self.integrator.controller_state.copy(), min(MOST_TRIED, self.run.asked.max_steps)
        rows = self.most // self.every + 1
        self.at, self.sizes = np.empty((2, rows))
        self.states, self.counts = np.empty((rows, self.begun.size)), np.zeros(rows, dtype=np.int64)
        self.none = np.empty(0)

    def rows_of(self) -> tuple[Any, Any] | None:
        """Times and states of the run from the state in the arrays; None where a step fails, or more are needed."""
        integrator = self.integrator
        controller_state, begun = integrator.controller_state, integrator.y.copy()
        controller_state[:] = self.first_state
        shown = integrator.show(self.t0, begun)
        status = integrator.march_adaptive(
            self.most, self.every, self.end, self.none, self.at, self.sizes, self.states, self.counts,
            longest=self.longest, shortest=self.shortest,
        )  # fmt: skip
        if status or shown or controller_state[L.TIME] != self.end:
            return None
        n = int(controller_state[L.ROWS])
        over = not n or self.at[n - 1] != self.end
        times, states = np.empty(1 + n + over), np.empty((1 + n + over, begun.size))
        times[0], states[0] = self.t0, begun
        times[1 : n + 1], states[1 : n + 1] = self.at[:n], self.states[:n]
        if over:
            times[-1], states[-1] = self.end, integrator.y
            if integrator.show(self.end, states[-1]):
                return None
        return times, states
