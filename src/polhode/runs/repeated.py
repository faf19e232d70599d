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
from polhode.runs.initial_state import of_one_body, start_state
from polhode.runs.parameters import with_parameters
from polhode.runs.request import Request
from polhode.runs.state import STATE_WORDS
from polhode.runs.stepping import SLICE_SECONDS, Run
from polhode.systems import System

STATE_SET = frozenset(STATE_WORDS)
MOST_MEMORY = 1024
"""Most numbers behind the parameters that are written anew for each run."""
Answer = tuple[Any, Any, System | Callable[[], System]]


class Repeated:
    """Runs of one kind, with steps of one size; ``Repeated.of`` says whether runs can be made so.

    Attributes
    ----------
    system : System
        What moves, with its own parameters.
    """

    def __init__(self, request: Request) -> None:
        self.run = run = Run(request)
        self.integrator, self.system, self.t0 = run.integrator, request.system, request.t0
        self.alone, self.attracted = self.system.alone, "central_gravity" in self.system.provides
        self.steps, self.every, self.h = int(run.total or 0), request.recording.every, run.h
        self.rows, over = divmod(self.steps, self.every)
        numbers = [*range(0, self.steps + 1, self.every), *[self.steps] * (over > 0)]
        self.times = self.t0 + np.array(numbers) * self.h
        self.begun, self.over = request.state.values.copy(), over > 0
        self.counts = np.zeros(self.rows, dtype=np.int64)
        self.kept, self.parameters = run.step_info.copy(), self.integrator.parameters.copy()
        self.kernel: Any = None
        self.fixed: frozenset[int] | None = None

    @classmethod
    def of(cls, run: Run, request: Request) -> Repeated | None:
        """The runs like this one, which is over; None where they need more than the loop, or more time than a slice."""
        system, prepared = request.system, run.integrator.prepared
        watched = request.events or request.breaks or system.switches or system.impulses or system.watches
        own = prepared.processed or prepared.coordinates or prepared.bath or prepared.step_density
        shared = system.serve is not None or system.memory > MOST_MEMORY or system.check is not None
        other = type(run) is not Run or request.samples is not None or request.since is not None
        if other or watched or own or shared or not run.total or run.seconds > SLICE_SECONDS / 2:
            return None
        return cls(request)

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
        states = np.empty((1 + self.rows + self.over, self.begun.size))
        states[0] = self.begun
        states[0, : y.size] = y
        if system is not self.system and not self._fits(system, states[0]):
            return None
        integrator.y[:] = states[0]
        integrator.step_info[:] = self.kept
        try:
            status = integrator.loop(
                L.MARCHING, 0, self.steps, self.every, self.t0, self.h, integrator.limit, self.system.N,
                integrator.blocks.size // 2, integrator.y, integrator.addresses, states[1 : 1 + self.rows], self.counts,
                integrator.event_addresses, integrator.sides, integrator.before,
            )  # fmt: skip
        except Exception:  # a function of the user's
            return None
        finally:
            if system is not self.system:
                integrator.bodies[:], integrator.frames[:] = self.system.bodies, np.ravel(self.system.frames)
        if status != L.OK:
            return None
        if self.over:
            states[-1] = integrator.y
        return self.times.copy(), states, made

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
                found += zip(range(len(system.parameters) - count, len(system.parameters)), values, strict=True)
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
