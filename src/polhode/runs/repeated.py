"""Runs of one kind once more: what the first ones have checked and set up holds for all that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from struct import Struct
from time import perf_counter
from typing import Any

import numpy as np

from polhode.arguments import NUMBERS, Array
from polhode.errors import PolhodeError
from polhode.kernel import layout as L
from polhode.lazy import xr
from polhode.runs.initial_state import of_one_body, start_state, unturned_of
from polhode.runs.parameters import with_parameters
from polhode.runs.resolution import tell_of_orbit
from polhode.runs.result import finish
from polhode.runs.state import STATE_SET
from polhode.runs.stepping import SLICE_SECONDS, Run
from polhode.runs.steps import keep
from polhode.runs.variable_steps import AdaptiveRun
from polhode.systems import System

MOST_MEMORY = 1024
"""Most numbers behind the parameters that are written anew for each run."""
MOST_TRIED = 1024
"""Most steps that are tried by a tolerance in one call."""
PACKED = Struct(f"{L.BODY}d").pack_into
NOTHING = np.empty(0)
Answer = tuple[Array, Array, System | Callable[[], System]]


class Repeated:
    """Runs of one kind as calls of their loop alone, on the same arrays: what the first run has checked and set up,
    which takes fifty times as long as a short loop, holds for all. Where anything is unusual there is no answer, and
    the ordinary run tells what there is to tell. ``Repeated.of`` says whether runs can be made so."""

    def __init__(self, run: Run) -> None:
        request = run.request
        self.run, self.t0, self.every, self.begun = run, request.t0, request.recording.every, request.state.copy()
        self.integrator, self.system = run.integrator, request.system
        self.alone, self.attracted = self.system.alone, "central_gravity" in self.system.provides
        self.unturned, self.samples = unturned_of(self.alone) if self.alone else None, self.integrator.samples
        loop: Any = self.integrator.loop
        self.loop: Callable[..., int] = loop if getattr(loop, "roles", True) else loop._called
        self.kept, self.parameters = run.at_start
        self.writes = bool(self.system.memory or self.system.functions or self.samples)  # into the parameters
        self.written, self.bytes, ground = True, self.integrator.y.data.cast("B"), run.event_detection.ground
        self.fixed: frozenset[int] | None = None
        self.ground = 0.0 if ground is None else ground.radius**2
        run.request, run.repeats = request.from_another(self.begun), True
        self.set_out()

    def set_out(self) -> None:
        """What the loop asks for beside the state."""
        run = self.run
        self.steps, self.h = int(run.total or 0), run.h
        self.rows, over = divmod(self.steps, self.every)
        numbers = [*range(0, self.steps + 1, self.every), *[self.steps] * (over > 0)]
        self.times, self.over = self.t0 + np.array(numbers) * self.h, over > 0
        one, self.counts = self.integrator, np.zeros(self.rows, dtype=np.int64)
        self.before = (L.MARCHING, 0, self.steps, self.every, self.t0, self.h, one.limit, self.system.N,
                       one.blocks.size // 2, one.y, one.addresses)  # fmt: skip
        self.behind = self.counts, one.event_addresses, one.sides, one.before

    @staticmethod
    def of(run: Run) -> Repeated | None:
        """The runs like this one, which is over; None where they need more than the loop, or more time than a slice."""
        cls = {Run: Repeated, AdaptiveRun: RepeatedByTolerance}.get(type(run))
        request, system, prepared = run.request, run.system, run.integrator.prepared
        watched = (
            request.events
            or request.breaks
            or system.switches
            or system.impulses
            or system.watches
            or run.event_detection.sampled
            or run.event_detection.ground != system.ground
        )
        own = prepared.coordinates or prepared.bath or prepared.step_density
        large = system.memory > MOST_MEMORY and system.serve is None
        other = cls is None or request.samples is not None or request.since is not None
        if other or watched or own or large or not run.done or run.seconds > SLICE_SECONDS / 2:
            return None
        return cls(run)  # type: ignore[misc]

    def answer(self, start: object, parameters: object = None) -> Answer | None:
        """Times, states and the system (or what makes it) of one run; None where the ordinary run has to tell."""
        start, integrator, system = {} if start is None else start, self.integrator, self.system
        others = parameters is not None and system.serve is not None  # what is kept behind them is of these
        if others or type(start) is not dict or not STATE_SET.issuperset(start):
            return None
        if self.written:
            integrator.parameters[: len(self.parameters)], self.written = self.parameters, self.writes
        made: System | Callable[[], System] = system
        if parameters is not None:
            self.written, places = True, self._places(parameters)
            if places is not None:
                for k, value in places:
                    integrator.parameters[k] = value
                made = lambda: with_parameters(self.system, parameters)  # noqa: E731
            else:
                try:
                    made = system = with_parameters(system, parameters)
                except PolhodeError:
                    return None
        if not self._begin(system, start) or (system is not self.system and not self._fits(system, integrator.y)):
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

    def _begin(self, system: System, start: Mapping[str, Any]) -> bool:
        """Write where a run starts into the state; whether it can."""
        if self.attracted and start.get("velocity") is None and start.get("momentum") is None:
            return False
        y, own = self.integrator.y, system is self.system
        alone, unturned = (self.alone, self.unturned) if own else (system.alone, None)
        if len(y) > L.BODY:
            y[:] = self.begun
        if (one := of_one_body(alone, self.attracted, **start, unturned=unturned)) is not None:
            PACKED(self.bytes, 0, *one)
        elif alone is not None:
            return False
        else:
            try:
                y[: L.BODY * system.N] = start_state(system, **start)
            except PolhodeError:
                return False
        if system.wheels_at >= 0:  # whose momenta follow from the angular velocity
            at = L.BODY * system.N
            y[at : at + len(system.auxiliary)] = system.auxiliary_at_start(y[:at])
        above = not self.ground or float(y[:3] @ y[:3]) >= self.ground
        return above and (system.check is None or not system.check(y[: L.BODY * system.N]))

    def dataset(self, start: Mapping[str, Any]) -> xr.Dataset | None:
        """The Dataset of one run with steps of one size, with all its warnings; None as of ``answer``."""
        begun, found, run = perf_counter(), self.answer(start), self.run
        if found is None:
            return None
        times, states, _ = found
        run.seconds, run.done, run.start = perf_counter() - begun, self.steps, states[0]
        keep(run.request, state=run.start)
        iterations = np.zeros(len(times), dtype=np.int64)
        iterations[1 : 1 + self.rows] = self.counts
        if self.over:
            iterations[-1] = self.integrator.step_info[L.ROW_ITERATIONS]
        tell_of_orbit(run)
        return finish(run, (times, states, iterations, NOTHING))

    def rows_of(self) -> tuple[Array, Array] | None:
        """Times and states of the run from the state in the arrays; None where a step fails."""
        integrator = self.integrator
        states = np.empty((1 + self.rows + self.over, self.begun.size))
        states[0] = integrator.y
        shown = self.samples and integrator.show(self.t0, states[0])
        if integrator.prepared.processed:
            shown = integrator.prepare(self.t0, self.h) or shown
        with integrator.thread_pool:
            status = self.loop(*self.before, states[1 : 1 + self.rows], *self.behind)
        if self.over and not status:
            status, states[-1] = integrator.present(self.times[-1], self.h)
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
                end = (len(system.parameters) if system.samples_at < 0 else system.samples_at) - system.closed
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

    def _fits(self, system: System, y: Array) -> bool:
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
        self.integrator.y[:], (self.integrator.step_info[:], self.integrator.parameters[:]) = (
            self.begun,
            self.run.at_start,
        )
        self.run.set_out()
        self.kept = self.integrator.step_info.copy()
        self.end, (self.longest, self.shortest) = self.run.final, self.run.limits
        self.first_state, self.most = self.integrator.controller_state.copy(), min(MOST_TRIED, self.run.asked.max_steps)
        rows = self.most // self.every + 1
        self.at, self.sizes = np.empty((2, rows))
        self.states, self.counts = np.empty((rows, self.begun.size)), np.zeros(rows, dtype=np.int64)

    def rows_of(self) -> tuple[Array, Array] | None:
        """Times and states of the run from the state in the arrays; None where a step fails, or more are needed."""
        integrator = self.integrator
        controller_state, begun = integrator.controller_state, integrator.y.copy()
        controller_state[:] = self.first_state
        shown = integrator.show(self.t0, begun)
        status = integrator.march_adaptive(
            self.most, self.every, self.end, np.empty(0), self.at, self.sizes, self.states, self.counts,
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
