"""Many short runs of one system by one method: checked and compiled once, with arrays as answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite
from struct import Struct
from typing import Any

import numpy as np

from polhode.arguments import NUMBERS, Array
from polhode.errors import InvalidInput, PolhodeError, PolhodeWarning, answering, warn
from polhode.kernel import jit, layout as L
from polhode.lazy import xr
from polhode.methods import Method, MethodSpec
from polhode.runs.initial_state import of_one_body, start_state
from polhode.runs.integrate import carry_out, instead, taken, taken_instead
from polhode.runs.parameters import with_parameters
from polhode.runs.request import ARGUMENTS, Parameters, Request, requested, with_options
from polhode.runs.rows import Record
from polhode.runs.settings import Settings
from polhode.runs.state import STATE_SET, Start, State
from polhode.runs.stepping import SLICE_SECONDS, FormulasChange, Run
from polhode.runs.steps import Tolerance
from polhode.runs.variable_steps import AdaptiveRun
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.quantities import Constants, OfBodies, of_bodies

MOST_MEMORY = 1024
"""Most numbers behind the parameters that are written anew for each run."""
MOST_TRIED = 1024
"""Most steps that are tried by a tolerance in one call."""
PACKED = Struct(f"{L.BODY}d").pack_into
Answer = tuple[Array, Array, System | Callable[[], System]]


class Repeated:
    """Runs of one kind as calls of their loop alone, on the same arrays: what the first run has checked and set up,
    which takes fifty times as long as a short loop, holds for all. Where anything is unusual there is no answer, and
    the ordinary run tells what there is to tell. ``Repeated.of`` says whether runs can be made so."""

    def __init__(self, request: Request) -> None:
        self.run = run = self.kind(request)
        self.integrator, self.system, self.t0 = run.integrator, request.system, request.t0
        self.alone, self.attracted = self.system.alone, "central_gravity" in self.system.provides
        self.every, self.begun = request.recording.every, request.state.copy()
        self.kept, self.parameters = run.step_info.copy(), self.integrator.parameters.copy()
        self.fixed: frozenset[int] | None = None
        self.bytes = self.integrator.y.data.cast("B")
        self.set_out()

    kind: type[Run] = Run

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

    def answer(self, start: object, parameters: object) -> Answer | None:
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
        if self.attracted and start.get("velocity") is None and start.get("momentum") is None:
            return None
        alone = self.alone if system is self.system else system.alone
        integrator.y[:] = self.begun
        if (one := of_one_body(alone, self.attracted, **start)) is not None:
            PACKED(self.bytes, 0, *one)
        elif alone is not None:
            return None
        else:
            try:
                integrator.y[: L.BODY * system.N] = start_state(system, **start)
            except PolhodeError:
                return None
        if system.wheels_at >= 0:  # whose momenta follow from the angular velocity
            y = integrator.y[: L.BODY * system.N]
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

    def rows_of(self) -> tuple[Array, Array] | None:
        """Times and states of the run from the state in the arrays; None where a step fails."""
        integrator = self.integrator
        states = np.empty((1 + self.rows + self.over, self.begun.size))
        states[0] = integrator.y
        shown = integrator.samples and integrator.show(self.t0, states[0])
        status = integrator.loop(*self.before, states[1 : 1 + self.rows], *self.behind)
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


class Rows:
    """The rows of a run as arrays, named and shaped as in its Dataset; each is computed when it is first asked for.

    Attributes
    ----------
    time : array (n,)
        Times of the rows.
    states : array (n, 13 N + S + extra)
        The states as kernels keep them.
    """

    def __init__(self, system: System | Callable[[], System], time: Array, states: Array) -> None:
        self._system, self.time, self.states = system, time, states

    @cached_property
    def system(self) -> System:
        """What moved, with the parameters of the run."""
        return self._system if isinstance(self._system, System) else self._system()

    def __repr__(self) -> str:
        n = len(self.time)
        return f"<Rows of {self.system.name}: {n} from t = {self.time[0]:g} to {self.time[-1]:g}>" if n else "<no rows>"

    @cached_property
    def _made(self) -> OfBodies:
        """What follows from the states, computed as for a Dataset."""
        return of_bodies(self.states, Constants(*self.system.for_kernels))

    def _of(self, values: Array) -> Array:
        """Without the axis of bodies where there is only one."""
        return values[:, 0] if self.system.N == 1 else values

    def _slots(self, first: int) -> Array:
        """Three numbers of each body as they stand in the states."""
        body = self.states[:, : L.BODY * self.system.N].reshape(len(self.time), self.system.N, L.BODY)
        return self._of(body[:, :, first : first + 3])

    @cached_property
    def position(self) -> Array:
        """Of the centres of mass, in the space frame."""
        return self._slots(L.POSITION)

    @cached_property
    def momentum(self) -> Array:
        """In the space frame."""
        return self._slots(L.MOMENTUM)

    @cached_property
    def velocity(self) -> Array:
        """In the space frame."""
        return self._of(self._made.velocity)

    @cached_property
    def attitude(self) -> Array:
        """Unit quaternions (w, x, y, z), body to space."""
        return self._of(self._made.attitude)

    @cached_property
    def angular_momentum(self) -> Array:
        """In the body frame."""
        return self._of(self._made.angular_momentum)

    @cached_property
    def angular_velocity(self) -> Array:
        """In the body frame."""
        return self._of(self._made.angular_velocity)

    @cached_property
    def energy(self) -> Array:
        """Kinetic energy, and potential energy where the system has one."""
        return self._made.kinetic_energy + self.system.potential_energies(self.states, self.time)


class PreparedRuns:
    """A system and a method, ready for runs from many starts; ``polhode.prepare`` makes it.

    Any number of threads may share one: each run has arrays of its own, and the answers are nobody else's. A function
    of the user that reads globals, closures or defaults is looked at before every run, some 15 microseconds each, and
    compiled again where they have changed.
    """

    def __init__(self, system: System, method: str | Method | MethodSpec | None, words: Mapping[str, Any]) -> None:
        self.system, self.method, self.words = system, method, dict(words)
        self._reading = [one for one in system.functions.values() if not jit.self_contained(one.function)]
        # what runs leave for others, made of these functions: as many as have ever overlapped
        self._idle: list[tuple[list[Any], Repeated | None]] = []
        self._warned = False

    def __repr__(self) -> str:
        return f"<{self.method or self.system.recommended} for {self.system.name}, ready to run>"

    def run(self, start: Start = None, *, parameters: Parameters = None) -> Rows:
        """The rows of one run as arrays; nothing looks at energies or at whether steps resolve the motion.

        Parameters
        ----------
        start : State, mapping or xarray.Dataset
            As of ``polhode.integrate``.
        parameters : mapping or sequence of float, optional
            As of ``polhode.integrate``; nothing is compiled for them. Numbers of the user's functions, and arguments
            that are parameters as they are (``weight`` of a top, ``mu`` of an orbit), cost nothing; for others the
            system is built again, some 0.1 ms, and set up again by methods that are made for one system (``taylor``).

        Raises
        ------
        PolhodeError
            As ``polhode.integrate``.
        """
        made = [one.made for one in self._reading]
        try:
            before, repeated = self._idle.pop()  # one call, so that no two threads take the same
        except IndexError:
            before, repeated = made, None
        start, repeated = start.given if isinstance(start, State) else start, repeated if before == made else None
        try:
            quick = None if repeated is None else repeated.answer(start, parameters)
            if quick is not None:
                times, states, system = quick
                return Rows(system, times, states)
            run, record, chosen = self._taken(start, parameters)
            usual = chosen and parameters is None and type(start) is dict and STATE_SET.issuperset(start)
            if repeated is None and usual:
                repeated = Repeated.of(run, run.request)
            return Rows(run.system, record.times[: record.count], record.states[: record.count])
        finally:
            self._idle.append((made, repeated))

    def _taken(self, start: object, parameters: object) -> tuple[Run, Record, bool]:
        """An ordinary run at its end, its rows, and whether the method that was chosen has taken it."""
        request = requested(self.system, self.method, self.words | {"start": start, "parameters": parameters})
        try:
            try:
                return *taken(request), True
            except FormulasChange as told:
                found = taken(instead(request, told))
                if not self._warned:
                    self._warned = True
                    warn(f"a run was {taken_instead(told)}", PolhodeWarning)
                return *found, False
        except PolhodeError:
            carry_out(request)  # which tells what was wrong, with the trajectory so far
            raise

    def dataset(self, start: Start = None, *, parameters: Parameters = None) -> xr.Dataset:
        """The same run as a Dataset, as ``polhode.integrate`` makes it.

        Parameters
        ----------
        start, parameters
            As of ``run``.

        Raises
        ------
        PolhodeError
            As ``polhode.integrate``.
        """
        return carry_out(requested(self.system, self.method, self.words | {"start": start, "parameters": parameters}))


@answering
def prepare(
    system: System, method: str | Method | MethodSpec | None = None, *, step: float | None = None,
    steps: int | Tolerance | None = None, t_end: float | None = None, every: int = 1,
    settings: Settings | Mapping[str, Any] | None = None, **options: Any,
) -> PreparedRuns:  # fmt: skip
    """A system and a method, ready for many runs: what they have in common is checked and compiled in the first one.

    Parameters
    ----------
    system, method, step, steps, t_end, every, settings
        As of ``polhode.integrate``.
    **options
        Options of the method, for one version, with a warning; they belong to ``polhode.methods.NAME(...)``.

    Returns
    -------
    PreparedRuns
        ``prepared.run(start)`` gives arrays (``.time``, ``.position``, ``.attitude``, ``.energy``),
        ``prepared.dataset(start)`` the Dataset. Threads may share it.

    Raises
    ------
    InvalidInput
        The first argument is no system, or a keyword neither an argument nor an option of the method.

    See Also
    --------
    integrate : one run alone.

    Examples
    --------
    >>> import polhode as ph
    >>> prepared = ph.prepare(ph.free_body((1, 2, 3)), "v2/mr", step=0.1, steps=10)
    >>> [prepared.run({"angular_velocity": (0, 0, w)}).energy[-1].round(12).item() for w in (1, 2)]
    [1.5, 6.0]
    """
    system = present_system(system)
    words = {"step": step, "steps": steps, "t_end": t_end, "every": every, "settings": settings}
    for name in options:
        if name in ARGUMENTS:
            raise InvalidInput(
                f"{name} is not for all runs of prepare; give start and parameters to its run(...), and take "
                "polhode.integrate for events, breaks, t_eval, tangent, reduce, store or progress"
            )
    return PreparedRuns(system, with_options(method, system, words | options, "prepare", words), words)
