"""Many short runs of one system by one method: checked and compiled once, with arrays as answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InvalidInput, PolhodeError, PolhodeWarning, answering, warn
from polhode.kernel import jit, layout as L
from polhode.methods import Method, MethodSpec
from polhode.runs.initial_state import InitialState, initial_state
from polhode.runs.integrate import RUNS, carry_out, instead, taken, taken_instead
from polhode.runs.repeated import Repeated
from polhode.runs.request import ARGUMENTS, Request, requested, with_options
from polhode.runs.rows import Record
from polhode.runs.settings import Settings
from polhode.runs.state import STATE_SET, State
from polhode.runs.stepping import FormulasChange, Run
from polhode.runs.steps import FixedStep, Tolerance
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.quantities import Constants, OfBodies, of_bodies, potential_energies

if TYPE_CHECKING:
    import xarray as xr


class Rows:
    """The rows of a run as arrays, named and shaped as in its Dataset; each is computed when it is first asked for.

    Attributes
    ----------
    time : array (n,)
        Times of the rows.
    states : array (n, 13 N + S + extra)
        The states as kernels keep them.
    """

    def __init__(self, system: System | Callable[[], System], time: Any, states: Any) -> None:
        self._system, self.time, self.states = system, time, states

    @cached_property
    def system(self) -> System:
        """What moved, with the parameters of the run."""
        return self._system if isinstance(self._system, System) else self._system()

    def __repr__(self) -> str:
        n = len(self.time)
        return f"<Rows of {self.system.name}: {n} from t = {self.time[0]:g} to {self.time[-1]:g}>" if n else "<no rows>"

    @cached_property
    def _constants(self) -> Constants:
        return Constants.alone(*self.system.for_kernels)

    @cached_property
    def _made(self) -> OfBodies:
        """What follows from the states, computed as for a Dataset."""
        return of_bodies(self.states, self._constants)

    def _of(self, values: Any) -> Any:
        """Without the axis of bodies where there is only one."""
        return values[:, 0] if self.system.N == 1 else values

    def _slots(self, first: int) -> Any:
        """Three numbers of each body as they stand in the states."""
        N = self.system.N
        body = self.states[:, : L.BODY * N].reshape(len(self.time), N, L.BODY)
        return self._of(body[:, :, first : first + 3])

    @cached_property
    def position(self) -> Any:
        """Of the centres of mass, in the space frame."""
        return self._slots(L.POSITION)

    @cached_property
    def momentum(self) -> Any:
        """In the space frame."""
        return self._slots(L.MOMENTUM)

    @cached_property
    def velocity(self) -> Any:
        """In the space frame."""
        return self._of(self._made.velocity)

    @cached_property
    def attitude(self) -> Any:
        """Unit quaternions (w, x, y, z), body to space."""
        return self._of(self._made.attitude)

    @cached_property
    def angular_momentum(self) -> Any:
        """In the body frame."""
        return self._of(self._made.angular_momentum)

    @cached_property
    def angular_velocity(self) -> Any:
        """In the body frame."""
        return self._of(self._made.angular_velocity)

    @cached_property
    def energy(self) -> Any:
        """Kinetic energy, and potential energy where the system has one."""
        kinetic = self._made.kinetic_energy
        potential = self.system.compiled_potential(float(self.time[0]), self.states[0]) if len(self.time) else None
        if potential is None:
            return kinetic.copy()
        return kinetic + potential_energies(self.time, self.states, self._constants, potential)


class _Arrays:
    """What one run leaves for the next, ``made`` of these functions; a run at a time works on it."""

    __slots__ = ("first", "kept", "made", "repeated", "run")

    def __init__(self, made: Sequence[Any] | None = None) -> None:
        self.made = made
        self.first: Request | None = None
        self.run: Run | None = None
        self.kept: Any = None
        self.repeated: Repeated | None = None


class PreparedRuns:
    """A system and a method, ready for runs from many starts; ``polhode.prepare`` makes it.

    Any number of threads may share one: each run has arrays of its own, and the answers are nobody else's. A function
    of the user that reads globals, closures or defaults is looked at before every run, some 15 microseconds each, and
    compiled again where they have changed.
    """

    def __init__(self, system: System, method: Any, words: Mapping[str, Any]) -> None:
        self.system, self.method, self.words = system, method, dict(words)
        self._reading = [one for one in system.functions.values() if not jit.self_contained(one.function)]
        self._idle: list[_Arrays] = []  # as many as runs have ever overlapped
        self._warned = False

    def __repr__(self) -> str:
        return f"<{self.method or self.system.recommended} for {self.system.name}, ready to run>"

    def _taken(self) -> _Arrays:
        """What an earlier run has left, and no run is using; whoever takes it puts it back."""
        try:
            own = self._idle.pop()  # one call, so that no two threads take the same
        except IndexError:
            own = _Arrays()
        if self._reading:
            made = [one.made for one in self._reading]
            return own if own.made == made else _Arrays(made)
        return own

    def _request(self, own: _Arrays, start: Any, parameters: Any) -> Request:
        """The request of one run. That of a plain state is the first one with another state."""
        first, start = own.first, start.given if isinstance(start, State) else start
        plain = first is not None and parameters is None and type(start) is dict and STATE_SET.issuperset(start)
        if plain and all(type(value) in PLAIN for value in start.values()):
            assert first is not None
            return replace(first, state=InitialState(initial_state(first.system, first.method, start, first.t0)))
        request = requested(self.system, self.method, self.words | {"start": start, "parameters": parameters})
        if first is None and parameters is None and type(start) is dict and STATE_SET.issuperset(start):
            own.first = request
        return request

    def _ready(self, own: _Arrays, request: Request) -> Run:
        """A run at its start: the arrays of the last one, where nothing but the state has changed."""
        first, run = own.first, own.run
        if first is None or request.system is not first.system or request.steps is not first.steps:
            return RUNS[type(request.steps)](request)
        if run is None:
            run = RUNS[type(request.steps)](request)
            alone = run.integrator.parameters.size == request.system.parameters.size and not run.event_detection
            if (
                alone
                and not request.system.switches
                and not run.breaks
                and type(request.steps) in (FixedStep, Tolerance)
            ):
                own.run, own.kept = run, run.snapshot()
            return run
        run.request, run.start = request, request.state.values.copy()
        run.restore(own.kept, [])
        run.y[:], run.resumed = run.start, False
        return run

    def run(self, start: Any = None, *, parameters: Any = None) -> Rows:
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
        own = self._taken()
        try:
            if own.repeated is not None:
                quick = own.repeated.answer(start.given if isinstance(start, State) else start, parameters)
                if quick is not None:
                    times, states, system = quick
                    return Rows(system, times, states)
            return self._rows(own, start, parameters)
        finally:
            self._idle.append(own)

    def _rows(self, own: _Arrays, start: Any, parameters: Any) -> Rows:
        """The rows of an ordinary run on arrays of its own."""
        request = self._request(own, start, parameters)
        run, record = self._ready(own, request), Record.of(request)
        try:
            try:
                run.to_the_end(record, request.samples, lambda: None)
            except FormulasChange as told:
                own.run, request = None, instead(request, told)
                run, record = taken(request)
                self._warn_of(told)
        except PolhodeError:
            own.run = None
            carry_out(request)  # which tells what was wrong, with the trajectory so far
            raise
        if run.ended is not None:
            own.run = None  # whose events are other ones now
        elif not record.count or (run.now - record.last) * run.h > 0.0:
            record.add(run.now, run.state(), 0, run.last)
            run.show(record)
        first = own.first
        if own.repeated is None and first and (request.steps, request.method) == (first.steps, first.method):
            own.repeated = Repeated.of(run, request)
        return Rows(request.system, record.times[: record.count], record.states[: record.count])

    def _warn_of(self, told: FormulasChange) -> None:
        """Say once that another method than the one chosen takes runs."""
        if not self._warned:
            self._warned = True
            warn(f"a run was {taken_instead(told)}", PolhodeWarning)

    def dataset(self, start: Any = None, *, parameters: Any = None) -> xr.Dataset:
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
        own = self._taken()
        try:
            return carry_out(self._request(own, start, parameters))
        finally:
            self._idle.append(own)


PLAIN = (tuple, list, np.ndarray, int, float)


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
                "polhode.integrate for events, breaks, t_eval, tangent, store or progress"
            )
    return PreparedRuns(system, with_options(method, system, words | options, "prepare", words), words)
