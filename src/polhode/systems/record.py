"""What a system is: bodies, the loads on them, and what it conserves. It knows nothing of time steps."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import UNKNOWN, array, mapping
from polhode.errors import InvalidInput, unknown_name
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.systems.inertia import turning
from polhode.systems.user import UserFunction, felt, read_only

IDENTITY = (1.0, 0.0, 0.0, 0.0)


# ------------------------------------------------------------------ what cannot be changed
def _refuse(self: Any, *_: Any, **__: Any) -> Any:
    raise InvalidInput("what a system is made of cannot be changed; build another, or give parameters= to integrate")


class FrozenDict(dict[str, Any]):
    """A dict that refuses to be changed."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that refuses to be changed."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> Any:
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A copy of mappings, sequences and arrays, one in the other, that cannot be changed; anything else as it is."""
    if isinstance(value, Mapping):
        return FrozenDict({key: frozen(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return FrozenList([frozen(inner) for inner in value])
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(frozen(inner) for inner in value)
    return read_only(value) if isinstance(value, np.ndarray) else value


class AuxiliaryVariable(NamedTuple):
    """One of the numbers of a system's own, which follow the 13 N numbers of the state and start at zero.

    Attributes
    ----------
    quantity : str
        The variable of a Dataset it belongs to: ``work``.
    label : str
        What of it: of a work the force that does it.
    by_velocity : bool
        Whether its rate depends on velocities; linearly, where the loads do not.
    """

    quantity: str
    label: str
    by_velocity: bool = True


def no_loads(part, t, N, y, bodies, parameters, out):
    """Loads of a free system.

    Those of the first body are written one by one: a loop alone becomes a call of ``memset``, and numbers written that
    way are slow to read again at once (25 ns an evaluation).
    """
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, (0.0, 0.0, 0.0))
    for k in range(6, 6 * N):
        out[k] = 0.0


def no_series(part, t, k, u, bodies, parameters, out):
    """Torque series of a free body."""
    out[0] = out[1] = out[2] = 0.0


plain_loads = commutator_loads = series_loads = None  # what bind puts in


def felt_loads(part, t, N, y, bodies, parameters, out):
    """The loads without torques about axes that a body does not turn about."""
    plain_loads(part, t, N, y, bodies, parameters, out)
    if part == L.SERIES:
        put3(out, 0, felt(get3(out, 0), bodies, 0))
    else:
        for i in range(N):
            put3(out, L.LOAD * i + 3, felt(get3(out, L.LOAD * i + 3), bodies, i))


def either_loads(part, t, N, y, bodies, parameters, out):
    """The loads, or those of the commutator or a coefficient of their series where asked for."""
    if part == L.SERIES:
        series_loads(part, t, N, y, bodies, parameters, out)
    elif part == L.COMMUTATOR:
        commutator_loads(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)


loads = at = None  # what bind puts in


def loads_between(part, t, N, y, bodies, parameters, out):
    """Loads that see no time outside of the two that stand in the parameters from number ``at`` on."""
    loads(part, min(max(t, parameters[at]), parameters[at + 1]), N, y, bodies, parameters, out)


@lru_cache(maxsize=8)
def compiled_between(role: Any, number: int) -> Callable[..., Any]:
    """A compiled LOADS role that clips the time (see ``loads_between``)."""
    return jit.compile_uncached(jit.bind(loads_between, loads=role, at=number), LOADS)[0]


@dataclass(frozen=True)
class Switch:
    """A number of a system's parameters that is 1 from one time to another and 0 elsewhere; the run sets it.

    Attributes
    ----------
    index : int
        Where in the parameters.
    start, stop : float
        The times; infinite where there is none.
    what : str
        What is switched, for messages.
    """

    index: int
    start: float
    stop: float
    what: str


@dataclass(frozen=True)
class Watch:
    """A function of time and state whose changes of sign a run looks for.

    Attributes
    ----------
    code : int
        By which ``polhode.systems.events`` knows the function.
    numbers : tuple of float
        What that reads.
    rising, falling : str
        What the event is called where the function grows, or falls, through zero; empty where that is none.
    terminal : bool
        Whether the run ends there.
    cuts : bool
        Whether steps are cut there, because the loads or their derivatives jump.
    flag : int
        Where in the system's parameters 1 stands while the function is positive and 0 while it is negative; or -1.
    function : UserFunction, optional
        The user's, in the place of the function with this code.
    """

    code: int
    numbers: tuple[float, ...] = ()
    rising: str = ""
    falling: str = ""
    terminal: bool = False
    cuts: bool = False
    flag: int = -1
    function: UserFunction | None = None


FROZEN = ("arguments", "mass", "moments", "frames", "parameters", "box", "constants", "axis", "functions")
"""Of a system, what is copied and made read-only."""


@dataclass(frozen=True, eq=False)
class System:
    """Bodies and the loads on them.

    Attributes
    ----------
    name : str
        The name it is built by.
    arguments : mapping
        What it was built from, in JSON's types; with the user's functions it rebuilds the system.
    mass : array (N,)
        Masses; infinite where a body is pinned.
    moments : array (N, 3)
        Principal moments of inertia; infinite for a point, which does not turn. Zero, or infinite, about the axis of a
        body without thickness, whose other two are equal: it does not turn about it, and feels no torque about it.
    frames : array (N, 4)
        Quaternion from each principal frame to the user's body frame.
    loads : function or UserFunction
        The LOADS role.
    potential : function, UserFunction or None
        The POTENTIAL role; None where the loads have no stated potential.
    commutator : function or None
        Arguments as LOADS. Writes the gradient of W = F . M^-1 F, the sum over all bodies of force^2 / mass and
        torque . inertia^-1 torque: for a place its derivatives along the axes of space, for an attitude those under
        turns about the body's axes (q -> q exp(s e_i)), with a plus sign. None where nobody has written it.
    series : function or None
        ``series(part, t, k, u, bodies, parameters, out)``, of one body that no force acts on and whose torque depends
        on nothing but u = R^T e3, the vertical of space in the principal body frame: writes the k-th Taylor coefficient
        of the torque to ``out[:3]``. Called for k = 0, 1, 2, ... (at most 30); ``u[3 n : 3 n + 3]`` is the n-th
        coefficient of u for n up to k, ``u[SERIES_AUXILIARY : SERIES_SIZE]`` the function's own, in which it finds what
        it left there for smaller k. None where nobody has written it, or where the torque depends on more.
    attracted : bool
        Whether a centre at the origin of space attracts every body that moves through space, with ``parameters[0]`` its
        gravity parameter and loads that leave this attraction out under the part WITHOUT_SOLVED.
    central : bool
        Whether that attraction is the only load.
    velocity_dependent : bool
        Whether the loads depend on velocities or angular velocities; True unless it is known that they do not.
    divided : bool
        Whether the loads answer to the bits of their parts (``polhode.kernel.signatures``), so that what does not
        depend on velocities is evaluated once where velocities alone change.
    auxiliary : tuple of Own
        The numbers of the system's own, whose rates the loads write behind the forces and torques. Nothing reads them
        during a run. Those of the quantity ``work`` are the energy that loads without potential, or potentials that
        change in time, have given to the bodies; all that change the energy must be there, or none.
    mass_at : function or None
        ``mass_at(t) -> masses (n, N)`` at times (n,) where burns use up mass; forces, momenta and energies are then
        those of bodies of the masses at the start.
    parameters : array
        The numbers the roles read.
    memory : int
        Length of the memory that the roles find behind the parameters, zero at the start of a run and theirs alone: for
        what they can make again from the state, such as lists of neighbours.
    box : array (3,) or None
        Edges of the periodic box; None in free space. Positions in the state are not wrapped.
    boltzmann : float
        Boltzmann's constant in the system's units, for temperatures.
    units : str
        The set of ``polhode.trajectory.schema`` that the system fixes; empty where any consistent set will do.
    serve : function or None
        Of a system whose loads several threads can share: what the others run (``polhode.kernel.work_sharing``).
    check : function or None
        ``check(y) -> str``: what is wrong with a state at which loads are beyond reason, in words, empty where nothing
        is: a run does not start there.
    constants : mapping
        Constants of the bodies for the trajectory: name to dimensions and values, ``(("body", "axis"), array)``.
    conserves : tuple of str
        Names of what the exact motion keeps: ``energy``, ``angular_momentum_space``, ``vertical_angular_momentum``,
        ``axial_angular_momentum``, ``momentum``; of bodies that act on each other ``total_momentum``,
        ``total_angular_momentum``.
    axis : array (3,) or None
        The body's symmetry axis (user's frame), for ``axial_angular_momentum``.
    functions : mapping of str to UserFunction
        The user's functions by keyword.
    switches : tuple of Switch
        What is on between known times only. Loads do not look at the time for that but at the number, so that a step
        which begins or ends at such a time sees one side of it.
    impulses : tuple of polhode.systems.forces.Impulse
        Sudden changes of the velocity.
    watches : tuple of Watch
        What every run must look for, such as the edge of a shadow or a surface.
    quantities : function or None
        ``quantities(body) -> {name: array}`` from recorded states (n, N, 13): further variables of the trajectory, each
        a number or a vector of every body, (n, N) or (n, N, 3), whose names ``polhode.trajectory.schema`` knows.
    recommended : str
        The method ``integrate`` takes when none is named, from the measured tables. Unless given: "exact" without
        loads, "kepler" where nothing but a centre acts, "mkrk:cv8" where loads depend on velocities, else "rkn6_14a",
        with "/kepler" where a centre attracts.
    """

    name: str
    arguments: Mapping[str, Any]
    mass: Any
    moments: Any
    frames: Any
    loads: Callable[..., Any] | UserFunction = no_loads
    potential: Callable[..., Any] | UserFunction | None = None
    commutator: Callable[..., Any] | None = None
    series: Callable[..., Any] | None = None
    attracted: bool = False
    central: bool = False
    velocity_dependent: bool = True
    divided: bool = False
    auxiliary: tuple[AuxiliaryVariable, ...] = ()
    mass_at: Callable[[Any], Any] | None = None
    parameters: Any = field(default_factory=lambda: np.zeros(1))
    memory: int = 0
    box: Any = None
    boltzmann: float = 1.0
    units: str = ""
    serve: Callable[..., Any] | None = None
    check: Callable[[Any], str] | None = None
    constants: Mapping[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)
    conserves: tuple[str, ...] = ()
    axis: Any = None
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    impulses: tuple[Any, ...] = ()
    watches: tuple[Watch, ...] = ()
    quantities: Callable[[Any], Mapping[str, Any]] | None = None
    recommended: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", turning(np.asarray(self.moments, dtype=float)))
        for name in FROZEN:
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if not self.recommended:
            kind = "exact" if self.loads is no_loads else "kepler" if self.central else "rkn6_14a"
            if self.velocity_dependent and self.loads is not no_loads:
                kind = "mkrk:cv8"
            elif self.attracted and not self.central:
                kind = "rkn6_14a/kepler"
            object.__setattr__(self, "recommended", kind)
        for name in ("commutator", "series"):
            if getattr(self, name) is not None and isinstance(self.loads, UserFunction):
                raise InvalidInput(f"a {name} belongs to loads that are a role; leave it out beside a user's function")
        if self.series is not None and self.N != 1:
            raise InvalidInput(f"a series is that of one body, but there are {self.N}; leave it out")
        if self.series is not None and self.velocity_dependent:
            raise InvalidInput("a series is that of a torque by the vertical only; set velocity_dependent=False")

    @property
    def balanced(self) -> bool:
        """Whether nothing changes the energy but what is recorded as work; not known of loads beside a potential of
        the user's, which need not be its own, and not true of one that reads the time."""
        stated = self.functions.get("potential")
        return stated is None or (len(self.functions) == 1 and stated.autonomous)

    @property
    def commutates(self) -> bool:
        """True when the compiled loads answer to the part COMMUTATOR."""
        return self.commutator is not None

    def set_switches(self, parameters: Any, t: float, direction: float = 1.0) -> None:
        """Set the switches among ``parameters`` for the time just after ``t``, in this direction of time."""
        for switch in self.switches:
            on = switch.start <= t < switch.stop if direction > 0.0 else switch.start < t <= switch.stop
            parameters[switch.index] = float(on)

    @property
    def with_memory(self) -> Any:
        """A copy of the parameters with fresh memory behind them, as the roles read them."""
        together = np.zeros(len(self.parameters) + self.memory)
        together[: len(self.parameters)] = self.parameters
        return together

    @property
    def N(self) -> int:
        """Number of bodies."""
        return len(self.mass)

    @property
    def constants_of_bodies(self) -> Any:
        """Masses, moments and their inverses, (N, 8)."""
        moments = np.where(self.without_thickness[:, None] & np.isinf(self.moments), 0.0, self.moments)
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.column_stack([self.mass, self.moments])
        return np.ascontiguousarray(np.column_stack([self.mass, moments, inverse]))

    @property
    def bodies(self) -> Any:
        """These and the quaternions of the frames as the kernels read them, flat (12 N)."""
        return np.concatenate([self.constants_of_bodies.ravel(), np.ravel(self.frames)])

    @property
    def without_thickness(self) -> Any:
        """Of every body (N,) whether it turns, but not about each of its axes."""
        turns = np.isfinite(self.moments)
        return turns.any(axis=1) & ~turns.all(axis=1)

    @property
    def translates(self) -> bool:
        """True when some body moves through space."""
        return bool(np.isfinite(self.mass).any())

    @property
    def rotates(self) -> bool:
        """True when some body turns."""
        return bool(np.isfinite(self.moments).any())

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """Those of translation, the centre of mass among them, and of rotation."""
        return 3 * int(np.isfinite(self.mass).sum()), int(np.isfinite(self.moments).sum())

    @property
    def blocks(self) -> Any:
        """Pairs (body, kind) of what moves, flat."""
        moves = np.column_stack([np.isfinite(self.mass), np.isfinite(self.moments).any(axis=1)])
        body, column = np.nonzero(moves)
        return np.column_stack([body, np.array([L.TRANSLATION, L.ROTATION])[column]]).astype(np.int64).ravel()

    def compiled_loads(self, t: float, y: Any) -> Callable[..., Any]:
        """The LOADS role ready for a compiled loop; a user's function is tried out at this time and state.

        Where there is a commutator or a series, it is in this role too, under the part COMMUTATOR or SERIES.
        """
        return _compiled(self, self.loads, LOADS, t, y)

    def compiled_potential(self, t: float, y: Any) -> Callable[..., Any] | None:
        """The POTENTIAL role ready for a compiled loop, or None."""
        return None if self.potential is None else _compiled(self, self.potential, POTENTIAL, t, y)

    def bridged_loads(self) -> Callable[..., Any] | None:
        """The LOADS role with the user's function as plain Python; None when there is no user function."""
        return self.loads.bridge() if isinstance(self.loads, UserFunction) else None

    def bridged_potential(self) -> Callable[..., Any] | None:
        """The POTENTIAL role with the user's function as plain Python; None when there is no user function."""
        return self.potential.bridge() if isinstance(self.potential, UserFunction) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Systems travel to other processes by what they were built from.

        Raises
        ------
        InvalidInput
            A system that no function of polhode builds from its arguments, or one with a function of the user's that
            another process cannot import.
        """
        from polhode.systems import SYSTEMS, built

        functions = {key: user.function for key, user in self.functions.items()}
        for key, function in functions.items():
            try:
                pickle.dumps(function)
            except Exception as refused:
                raise InvalidInput(f"{self.name} cannot be pickled, for its function {key!r} cannot ({refused}); "
                                   "define it at the top of a file that can be imported") from None  # fmt: skip
        again = built(self.name, self.arguments, functions) if self.name in SYSTEMS else None
        arrays = ("mass", "moments", "frames", "parameters")
        if again is None or not all(np.array_equal(getattr(self, name), getattr(again, name)) for name in arrays):
            raise InvalidInput(f"{self.name} cannot be pickled: no function of polhode builds it from its arguments; "
                               "hand on what it is built from")  # fmt: skip
        return built, (self.name, dict(self.arguments), functions)

    def __repr__(self) -> str:
        def short(value: Any) -> str:
            told = repr(value)
            return told if len(told) <= LONGEST else f"{told[: LONGEST // 2]}...]"

        inside = ", ".join(f"{key}={short(value)}" for key, value in self.arguments.items() if value is not None)
        return f"{self.name}({inside})"


LONGEST = 400
"""Characters of an argument that are shown whole."""


def _compiled(system: System, role: Any, signature: Any, t: float, y: Any) -> Callable[..., Any]:
    kept = system.__dict__.setdefault("_compiled", {})
    key = (id(role), str(signature))
    if isinstance(role, UserFunction):  # whose meaning may change with what it reads
        made, before = role.made, system.__dict__.setdefault("_made", {})
        if before.get(key) != made:
            told = system.__dict__.setdefault("_told", set())
            kept[key] = role.compile(t, y, system.bodies, warn=id(role.function) not in told)
            before[key] = made
            told.add(id(role.function))
    elif key not in kept:
        if role is system.loads and (system.series or system.commutator not in (None, role)):
            role = jit.bind(
                either_loads, plain_loads=role, commutator_loads=system.commutator or role,
                series_loads=system.series or no_series,
            )  # fmt: skip
        if signature is LOADS and system.without_thickness.any():
            role = jit.bind(felt_loads, plain_loads=role)
        kept[key] = jit.compile_kernel(role, signature)
    return kept[key]


def called(make: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """What a function makes of a mapping of its arguments.

    Raises
    ------
    InvalidInput
        An argument that it does not know, or one that is missing; else what the function raises.
    """
    known = inspect.signature(make).parameters
    for name in mapping(arguments, "arguments"):
        if name not in known:
            raise unknown_name(f"argument of {make.__name__}", name, known)
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise InvalidInput(f"{name} is missing; {make.__name__} needs it")
    return make(**arguments)


def plain(value: Any) -> Any:
    """``value`` in JSON's types."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    return array(value, "an argument", UNKNOWN).tolist()
