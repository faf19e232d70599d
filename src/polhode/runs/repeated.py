"""Runs of one kind once more: what the first ones have checked and set up holds for all that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from math import isfinite
from struct import pack_into
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from polhode.arguments import NUMBERS, Array
from polhode.kernel import jit, layout as L
from polhode.lazy import xr
from polhode.runs.again import adapt_again, march_again
from polhode.runs.initial_state import UNSAID, check_moving, say, start_state
from polhode.runs.parameters import with_parameters
from polhode.runs.resolution import tell_of_orbit
from polhode.runs.result import finish
from polhode.runs.stepping import SLICE_SECONDS, Run
from polhode.runs.steps import FixedStep, Tolerance, keep
from polhode.systems import System

if TYPE_CHECKING:
    from polhode.runs.variable_steps import AdaptiveRun

MOST_MEMORY = 1024
"""Most numbers behind the parameters that are written anew for each run."""
MOST_KEPT = 2**14
"""Most numbers of the state of a run that is kept for others of its kind, for their Datasets."""
MOST_TRIED = 1024
"""Most steps that are tried by a tolerance in one call."""
NOTHING = np.empty(0)
BEHIND = len(UNSAID) + 1
"""Where parameters stand behind what is said of a start and how many they are."""
Answer = tuple[System | Callable[[], System], Array, Array]


class Repeated:
    """Runs of one kind as calls of one kernel, on the same arrays. Where anything is unusual there is no answer, and
    the ordinary run tells what there is to tell. ``Repeated.of`` says whether runs can be made so."""

    again: Any = staticmethod(march_again)

    def __init__(self, run: Run) -> None:
        request, one = run.request, run.integrator
        system, ground = request.system, run.event_detection.ground
        self.run, self.integrator, self.system = run, one, system
        self.begun, (told, self.parameters) = request.state.copy(), run.at_start
        by_kernel = system.alone is not None and system.wheels_at < 0 and system.check is None
        self.kernel_begins, self.kept = by_kernel, self.parameters.copy()
        self.fixed: frozenset[int] | None = None
        self.given, self.placed = np.zeros(BEHIND + 2 * len(self.parameters)), 0
        self.bits = -1  # of the words of the last start, as of ``say``
        self.bytes, self.ground = self.given.data.cast("B"), 0.0 if ground is None else ground.radius**2
        run.request, run.repeats = request.from_another(self.begun), True
        other: Any = run.adaptive or system.sampled or (system.memory and not system.serve)
        other = other or (system.called and system.called.no_programs)
        self.tells = not other and self.begun.size <= MOST_KEPT  # whether Datasets of such runs can be made so, too
        loop, whole, numbers, arrays = self.set_out(request.t0, request.recording.every)
        about = np.array([*(system.alone or [0.0] * 9), self.ground])
        whole = np.array([system.N, one.blocks.size // 2, self.begun.size, len(self.parameters), *whole])
        self.own = one.y, self.begun, told, self.parameters, about, whole, np.array(numbers), *arrays
        table = (*one.addresses, *one.event_addresses, *jit.addresses_of(loop, *self.own))
        self.addresses = table if jit.disabled() else np.array(table)

    def set_out(self, t0: float, every: int) -> Any:
        """The loop, and what the kernel asks for beside the state: whole numbers, others, arrays."""
        run, one = self.run, self.integrator
        self.steps, h = int(run.total or 0), run.h
        numbers = [*range(0, self.steps, every), self.steps]
        self.times, self.counts = t0 + np.array(numbers) * h, np.zeros(len(numbers), np.int64)
        self.shape = len(numbers), self.begun.size
        whole = self.steps, every, one.prepared.processed, one.samples, one.sides.size, one.before.size, 0
        return one.loop, whole, (t0, h, one.limit), (self.counts, one.sides, one.before)

    @cached_property
    def kernel(self) -> Callable[..., int]:
        """What takes such a run, compiled for the second one."""
        return self.in_threads if self.system.serve else getattr(kernel := self.again.kernel(), "_called", kernel)

    def in_threads(self, *given: Any) -> int:
        """The kernel, of loads that threads share."""
        with self.integrator.thread_pool:
            return int(self.again.kernel()(*given))

    @staticmethod
    def of(run: Run) -> Repeated | None:
        """The runs like this one, which is over; None where they need more than the loop, or more time than a slice."""
        cls = {FixedStep: Repeated, Tolerance: RepeatedByTolerance}.get(type(run.request.steps))
        request, system, prepared = run.request, run.system, run.integrator.prepared
        cuts, looked = request.events or request.breaks or system.switches or system.impulses, run.event_detection
        watched = cuts or system.watches or looked.sampled or looked.ground != system.ground or run.ended
        own = prepared.coordinates or prepared.bath or prepared.step_density
        large = (system.memory > MOST_MEMORY and system.serve is None) or system.mechanism is not None
        other = cls is None or request.samples is not None or request.since is not None
        if other or watched or own or large or not run.done or run.seconds > SLICE_SECONDS / 2:
            return None
        return cls(run)  # type: ignore[misc]

    def answer(self, start: object, parameters: object = None) -> Answer | None:
        """The system (or what makes it), times and states of one run; None where the ordinary run has to tell."""
        made: System | Callable[[], System] = self.system
        system, other = self.system, False
        start = {} if start is None else start
        if type(start) is not dict or (parameters is not None and system.serve):  # whose memory is of these
            return None
        try:
            if parameters is not None or self.placed:
                places = [] if parameters is None else self._places(parameters)
                if other := places is None:
                    made = system = with_parameters(system, parameters)
                elif places:
                    made = partial(with_parameters, system, parameters)
                self.placed = len(places or ())
                pack_into(f"{1 + 2 * self.placed}d", self.bytes, 8 * BEHIND - 8, self.placed, *sum(places or (), ()))
            before, self.bits = self.bits, -1
            if self.kernel_begins and not other:
                self.bits = say(start, self.bytes, before)
                usual = self.bits >= 0
            else:
                usual, self.given[0] = self._begin(system, start) and (not other or self._fits(system)), -1.0
            rows = self.rows_of() if usual else None
        except Exception:  # a function of the user's, or what is refused
            return None
        finally:
            if other:
                self._put(self.system, self.kept)
        return None if rows is None else (made, *rows)

    def _begin(self, system: System, start: dict[str, Any]) -> bool:
        """Write where a run starts into the state, where the kernel does not; whether that is a usual one."""
        y, end = self.integrator.y, L.BODY * system.N
        check_moving("central_gravity" in system.provides, start.get("velocity"), start.get("momentum"))
        y[:] = self.begun
        y[:end] = start_state(system, **start)
        if system.wheels_at >= 0:  # whose momenta follow from the angular velocity
            y[end : end + len(system.auxiliary)] = system.auxiliary_at_start(y[:end])
        above = not self.ground or float(y[:3] @ y[:3]) >= self.ground
        return above and (system.check is None or not system.check(y[:end]))

    def dataset(self, start: object) -> xr.Dataset | None:
        """The Dataset of one run, with all its warnings; None as of ``answer``."""
        run, _, begun = self.run, self.kernel, perf_counter()
        if not self.tells or (found := self.answer(start)) is None:
            return None
        _, times, states = found
        run.seconds, run.done, run.start = perf_counter() - begun, self.steps, states[0]
        keep(run.request, state=run.start)
        tell_of_orbit(run)
        return finish(run, (times.copy(), states, self.counts.copy(), NOTHING))

    def rows_of(self) -> tuple[Array, Array] | None:
        """Times, which are those of all runs, and states of the run that is given; None where the kernel refuses it."""
        states = np.empty(self.shape)
        return None if self.kernel(self.addresses, self.given, states) else (self.times, states)

    def _places(self, parameters: Any) -> list[tuple[int, float]] | None:
        """Where parameters go that stand among those of the roles as they are given; None where they do not, or where
        the role was written for their values."""
        system, found = self.system, cast("list[tuple[int, float]]", [])
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

    def _fits(self, system: System) -> bool:
        """Whether another system of the kind has the same kernels, and put its constants into the arrays."""
        own, prepared, one = self.system, self.integrator.prepared, self.integrator
        needs = prepared.made_for is not None or prepared.slopes or prepared.refuses or prepared.role is not None
        like = (
            system._turns == own._turns and np.array_equal(system._blocks, own._blocks)
            and system.provides == own.provides and system.auxiliary == own.auxiliary
            and system.parameters.shape == own.parameters.shape
            and not (system.switches or system.impulses or system.watches) and system.memory == own.memory
        )  # fmt: skip
        loads = one.loads_of_system
        if needs or not like or system.compiled_loads(self.run.t0, one.y, prepared.modified) is not loads:
            return False
        self._put(system, system.with_memory)
        return True

    def _put(self, system: System, parameters: Array) -> None:
        """Put the constants of a system into the arrays."""
        self.integrator.bodies[:], self.integrator.frames[:] = system._bodies, np.ravel(system.frames)
        self.parameters[:] = parameters


class RepeatedByTolerance(Repeated):
    """Runs of one kind, with steps that a tolerance chooses."""

    again = staticmethod(adapt_again)

    def set_out(self, t0: float, every: int) -> Any:
        run, one = cast("AdaptiveRun", self.run), self.integrator
        most = min(MOST_TRIED, run.asked.max_steps)
        room, state = most // every + 2, one.controller_state
        self.states, (self.times, sizes) = np.empty((room, self.begun.size)), np.empty((2, room))
        whole = most, every, one.prepared.estimate + 1, one.samples, one.sides.size, one.cuts
        arrays = np.zeros(room, np.int64), one.sides, one.kept, state, run.first_state, self.times, sizes
        return one.adaptive_loop, whole, (t0, run.final, one.limit, *run.limits), arrays

    def rows_of(self) -> tuple[Array, Array] | None:
        if self.kernel(self.addresses, self.given, self.states):
            return None
        n = int(self.integrator.controller_state[L.ROWS])
        return self.times[:n].copy(), self.states[:n].copy()
