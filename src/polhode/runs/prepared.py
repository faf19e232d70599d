"""Many short runs of one system by one method: checked and compiled once, with arrays as answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from polhode.arguments import Array
from polhode.errors import InvalidInput, PolhodeError, PolhodeWarning, answering, warn
from polhode.kernel import jit, layout as L
from polhode.lazy import xr
from polhode.methods import Method, MethodSpec
from polhode.runs.integrate import carry_out, instead, once_more, taken, taken_instead
from polhode.runs.repeated import Repeated
from polhode.runs.request import ARGUMENTS, Parameters, Request, requested, with_options
from polhode.runs.rows import Record
from polhode.runs.settings import Settings
from polhode.runs.state import STATE_SET, Start, State
from polhode.runs.stepping import FormulasChange, Run
from polhode.runs.steps import Tolerance
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.quantities import Constants, OfBodies, of_bodies


class Rows:
    """The rows of a run as arrays, named and shaped as in its Dataset; each is computed when it is first asked for.

    Attributes
    ----------
    states : array (n, 13 N + S + extra)
        The states as kernels keep them.
    """

    def __init__(self, system: System | Callable[[], System], times: Array, states: Array) -> None:
        self._system, self._times, self.states = system, times, states

    @cached_property
    def time(self) -> Array:
        """Times of the rows."""
        return self._times.copy()

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
        self._made, self._idle = list[Any](), list[Repeated]()
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
        idle = self._left() if self._reading else self._idle
        start = start.given if isinstance(start, State) else start
        try:
            repeated: Repeated | None = idle.pop()  # one call, so that no two threads take the same
        except IndexError:
            repeated = None
        if repeated is not None:
            try:
                quick = repeated.answer(start, parameters)
            finally:
                idle.append(repeated)
            if quick is not None:
                return Rows(*quick)
        run, record, chosen = self._taken(start, parameters)
        if repeated is None and chosen and self._usual(start, parameters) and (one := Repeated.of(run)):
            idle.append(one)
        return Rows(run.system, record.times[: record.count], record.states[: record.count])

    def _left(self) -> list[Repeated]:
        """What runs have left for others, made of the functions as they are: as many as have ever overlapped."""
        made = [one.made for one in self._reading]
        if made != self._made:
            self._made, self._idle = made, []
        return self._idle

    def _requested(self, start: object, parameters: object) -> Request:
        return requested(self.system, self.method, self.words | {"start": start, "parameters": parameters})

    def _usual(self, start: object, parameters: object) -> bool:
        """Whether a run leaves something for others."""
        return parameters is None and type(start) is dict and STATE_SET.issuperset(start)

    def _taken(self, start: object, parameters: object) -> tuple[Run, Record, bool]:
        """An ordinary run at its end, its rows, and whether the method that was chosen has taken it."""
        request = self._requested(start, parameters)
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
        idle, start = self._left(), start.given if isinstance(start, State) else start
        if parameters is None and (ds := once_more(idle, start)) is not None:
            return ds
        request = self._requested(start, parameters)
        if not idle and self._usual(start, parameters):
            request.__dict__["idle"] = idle
        return carry_out(request)


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
    Settings.of(settings).of_whole("all runs of prepare")
    return PreparedRuns(system, with_options(method, system, words | options, "prepare", words), words)
