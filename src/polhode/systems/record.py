"""``System``: bodies, the loads on them and the conserved quantities, independent of any time step."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, isinf
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.arguments.recorded import frozen
from polhode.bodies.inertia import turning
from polhode.capabilities import known, stated
from polhode.errors import InvalidInput, shown
from polhode.flows.gyrostat import carried_round
from polhode.kernel import jit, layout as L
from polhode.kernel.many import NONE, write_energies
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.kernel.simd import aligned
from polhode.lazy import later, numba
from polhode.programs.dynamics import Dynamics, of_roles
from polhode.programs.memory import MOST_TERMS, OF_SERIES
from polhode.programs.parts import PARTS
from polhode.programs.slopes import slopes_role
from polhode.surroundings.planets import Ground
from polhode.systems.event_record import Watch
from polhode.systems.loads_roles import (
    Derived,
    compiled_with,
    from_potential,
    is_derived,
    kernel_of,
    no_loads,
    no_series,
    parted_loads,
    parts_of,
    role_of,
)
from polhode.systems.mechanisms import Mechanism
from polhode.systems.registry import builder, built, handed_in
from polhode.systems.sampling import Sampled, with_commands
from polhode.systems.user.chosen import Called

IDENTITY = (1.0, 0.0, 0.0, 0.0)


class AuxiliaryVariable(NamedTuple):
    """One auxiliary variable of a system; they follow the 13 N numbers of the bodies in the state."""

    quantity: str  # the variable of the Dataset it is written to: ``work``, or the name of one that is read
    label: str  # its label there: for work, the force that does it; empty for a variable of one number
    by_velocity: bool = True  # whether its rate depends on velocities (linearly, if the loads do not depend on them)
    read: bool = False  # whether loads may read it; those that are not come first
    start: float = 0.0  # its value at the start
    dimension: str = ""  # the dimension along which its label stands, where it is read and has one
    unit: str = ""  # its unit, where it is read
    words: str = ""  # what it is, where it is read


@dataclass(frozen=True)
class Switch:
    """A parameter that the run sets to 1 between two times and to 0 elsewhere."""

    index: int  # its index in the parameters
    start: float  # start, stop: times at which it is switched on and off; infinite if it is not
    stop: float
    what: str  # what is switched, for messages


FROZEN = ("arguments", "mass", "moments", "frames", "parameters", "box", "constants", "axis", "functions", "direct")
"""Attributes of ``System`` that are copied and made read-only."""

KEPT = ("_bodies", "_blocks", "_of_potential", "_compiled", "_sloping", "_dynamics", "_again", "_named", "_told",
        "alone", "without_thickness", "for_kernels", "_words", "work_columns")  # fmt: skip
"""What a system works out when it is asked."""

NEAR = "abah10_6_4/kepler"
"""The cheapest method at 1e-9 of a point under weak forces: zonal terms, Sun and Moon up to 150,000 km high."""
DERIVED = frozenset({
    "series", "commutator", "potential", "no_auxiliary", "nothing_read", "nothing_sampled", "wheels", "exact_kicks",
    "translation", "rotation", "points", "fixed_centre", "unconstrained", "joints",
})  # fmt: skip
"""Capabilities that follow from the other attributes of a ``System``; stated or not, they are what these say."""


@dataclass(frozen=True, eq=False)
class System:
    """Bodies and the loads on them.

    Attributes
    ----------
    name : str
        Name of the function that builds it.
    arguments : mapping
        Arguments it was built from, in JSON types; together with the user's functions they rebuild the system.
    mass : array (N,)
        Masses; infinite for a body that is pinned.
    moments : array (N, 3)
        Principal moments of inertia; infinite for a point mass, which does not rotate. A linear body (no thickness) has
        zero or infinity about its axis and two equal others: it does not rotate about the axis and feels no torque
        about it.
    frames : array (N, 4)
        Quaternion from each principal frame to the user's body frame.
    loads : function or UserFunction
        The LOADS role. Where a potential is given without, loads and commutator are derived from it, and its work if it
        depends on time.
    potential : function, UserFunction or None
        The POTENTIAL role; None if the loads have no stated potential.
    commutator : function or None
        Arguments as LOADS. Writes the gradient (with a plus sign) of W = F . M^-1 F, the sum over all bodies of
        force^2 / mass and torque . inertia^-1 torque: for a position the derivatives along the axes of space, for an
        attitude those under rotations about the body's axes (q -> q exp(s e_i)). None if not implemented.
    series : function or None
        ``series(part, t, k, u, bodies, parameters, out)``, for one body without force whose torque depends only on
        u = R^T e3, the vertical of space in the principal body frame: writes the k-th Taylor coefficient of the torque
        to ``out[:3]``. Called for k = 0, 1, 2, ... (at most 30); ``u[3 n : 3 n + 3]`` is the n-th coefficient of u for
        n up to k, and ``u[SERIES_AUXILIARY : SERIES_SIZE]`` is the function's workspace, kept between calls. None if
        not implemented, or if the torque depends on more than u.
    provides : frozenset of str
        Its capabilities, names of ``polhode.capabilities``. To be stated: ``central_gravity``, a centre at the origin
        attracts every translating body (``parameters[0]`` is then its gravity parameter, and the loads omit this
        attraction under the part WITHOUT_SOLVED); ``mutual_gravity``, points attract each other (``parameters`` then
        begin with N gravity parameters, their partial sums, and the share of each in its sum; under WITHOUT_SOLVED the
        loads omit the orbits in Jacobi coordinates, and they provide COMMUTATOR_OF_REST); ``only_central_gravity``;
        ``velocity_independent``, unless stated loads may depend on velocities or angular velocities; ``split_loads``,
        the loads honour the bits of ``part`` (``polhode.kernel.signatures``), so that the terms that do not depend on
        velocities are evaluated once while only velocities change; others of a package's own. All the rest
        (``DERIVED``) follows from the other attributes.
    auxiliary : tuple of AuxiliaryVariable
        The auxiliary variables, whose rates the loads write behind the forces and torques. Those of the quantity
        ``work``, which nothing reads during a run, come first; they are the energy given to the bodies by loads without
        a potential or by potentials that depend on time; either all such contributions are listed, or none.
    records_work : bool
        False where loads change the energy and their work is not among ``auxiliary``: the energy then judges no run.
    mass_at : function or None
        ``mass_at(t) -> masses (n, N)`` at times (n,) if burns use up mass; forces, momenta and energies then refer to
        the masses at the start.
    parameters : array
        Parameters of the roles.
    memory : int
        Length of the scratch memory behind the parameters, zero at the start of a run: for what the roles can recompute
        from the state, such as neighbour lists.
    box : array (3,) or None
        Edges of the periodic box; None in free space. Positions in the state are not wrapped.
    boltzmann : float
        Boltzmann's constant in the system's units, for temperatures.
    units : str
        The unit set of ``polhode.trajectory.schema`` that the system prescribes; empty if any consistent set will do.
    serve : function or None
        What the worker threads run, for a system whose loads can be shared (``polhode.kernel.work_sharing``).
    check : function or None
        ``check(y) -> str``: describes what is wrong with an initial state at which the loads are unreasonable, so that
        the run is refused; empty if nothing is wrong.
    constants : mapping
        Constants of the bodies for the trajectory: name to dimensions and values, ``(("body", "axis"), array)``.
    conserves : tuple of str
        What the exact motion conserves: ``energy``, ``angular_momentum_space``, ``vertical_angular_momentum``,
        ``axial_angular_momentum``, ``momentum``; of interacting bodies ``total_momentum``, ``total_angular_momentum``.
    axis : array (3,) or None
        The body's symmetry axis (user's frame), for ``axial_angular_momentum``.
    functions : mapping of str to UserFunction, or to what has its ``function``, ``made`` and ``described``
        The user's functions by keyword.
    each_alone : bool
        Whether loads honour ``split_loads``, and those of one body depend on no other and not on its number: they are
        then written from the program of the first one's, where that can be traced.
    all_potential : bool
        Whether these loads have potentials: their commutator then follows from the program.
    switches : tuple of Switch
        What is on only between known times. Loads read the switched parameter instead of the time, so that a step which
        begins or ends at such a time sees one side only.
    impulses : tuple of polhode.systems.forces.Impulse
        Sudden changes of the velocity.
    watches : tuple of Watch
        Events that every run detects, such as the edge of a shadow; and at the ``ground``, where there is one, it ends.
    quantities : function or None
        ``quantities(body) -> {name: array}`` from recorded states (n, N, 13), of a system with wheels
        ``quantities(body, read)`` with the auxiliary variables that loads read (n, R): further variables of the
        trajectory, a scalar or a vector per body, (n, N) or (n, N, 3), with names from ``polhode.trajectory.schema``.
        Where it has a method ``of_members(mass (n, N), moments (n, N, 3), parameters (n, P))``, which returns such a
        function for rows with constants of their own, members of an ensemble may differ in these.
    direct : mapping of str to (int, bool)
        Arguments that stand among the parameters as they are given, and on which nothing else of the system depends:
        their index there, and whether they must be positive.
    recommended : str
        Default method of ``integrate``, from the measured tables. Unless given: "exact" without loads, "kepler" if only
        a centre acts, "mkrk:cv8" if loads depend on velocities, else "rkn6_14a", with "/kepler" if a centre attracts.
    wheels_at : int
        Index in the parameters of the tables of wheels (``flows.gyrostat``); -1 without wheels.
    samples_at, sampled : int, tuple of polhode.systems.sampling.Sampled
        Index in the parameters of the table of controllers (``kernel.sampling``), -1 without; and its rows.
    names : tuple of str
        Names of the bodies, if they have some.
    decided : frozenset of int
        Indices of the parameters by which functions of the user's decided when the roles were written.
    closed : int
        How many of the last parameters, before the table of controllers, are numbers that functions close over.
    made_again : function or None
        ``made_again(system)``: the system as the functions it was built from are now, of one whose programs hold what
        these read; itself where nothing has changed.
    program : function or None
        ``program(part) -> Dynamics``: what the roles were written from; without, they are traced.
    called : Called, optional
        How runs call the functions in the loads, which may be holes of the roles.
    mechanism : Mechanism or None
        The joints that hold its bodies, and the table of them that methods read; their numbers are parameters.
    """

    name: str
    arguments: Mapping[str, Any]
    mass: Array
    moments: Array
    frames: Array
    loads: Callable[..., Any] = no_loads
    potential: Callable[..., Any] | None = None
    commutator: Callable[..., Any] | None = None
    series: Callable[..., Any] | None = None
    provides: Set[str] = frozenset()
    auxiliary: tuple[AuxiliaryVariable, ...] = ()
    records_work: bool = True
    mass_at: Callable[[Any], Any] | None = None
    parameters: Array = field(default_factory=lambda: np.zeros(1))
    memory: int = 0
    box: Array | None = None
    boltzmann: float = 1.0
    units: str = ""
    serve: Callable[..., Any] | None = None
    check: Callable[[Any], str] | None = None
    constants: Mapping[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)
    conserves: tuple[str, ...] = ()
    axis: Any = None
    functions: Mapping[str, Any] = field(default_factory=dict)
    each_alone: bool = False
    all_potential: bool = False
    switches: tuple[Switch, ...] = ()
    impulses: tuple[Any, ...] = ()
    watches: tuple[Watch, ...] = ()
    ground: Ground | None = None
    quantities: Callable[..., Mapping[str, Any]] | None = None
    direct: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    recommended: str = ""
    wheels_at: int = -1
    samples_at: int = -1
    sampled: tuple[Sampled, ...] = ()
    names: tuple[str, ...] = ()
    decided: frozenset[int] = frozenset()
    closed: int = 0
    made_again: Callable[[System], System] | None = None
    program: Callable[[int], Dynamics] | None = None
    called: Called | None = None
    mechanism: Mechanism | None = None

    @classmethod
    def like(cls, kind: Mapping[str, Any], own: Mapping[str, Any]) -> System:
        """A system with the attributes of a kind, as ``of_kind`` has them, and these of its own, frozen but for the
        arrays of numbers, which are nobody else's."""
        made, found = object.__new__(cls), {**kind, **own}
        found["moments"] = turning(own["moments"])
        for name in ("mass", "moments", "frames", "parameters"):
            found[name].setflags(write=False)
        object.__setattr__(made, "__dict__", found)
        return made

    def of_kind(self, own: Collection[str]) -> dict[str, Any] | None:
        """Its attributes but those; None where others of them differ in systems of one structure, or in a run."""
        changed = self.watches or self.switches or self.impulses or self.sampled
        if "auxiliary" not in own and (changed or self.read_from < len(self.auxiliary)):
            return None
        return {name: one for name, one in self.__dict__.items() if name not in own and name not in KEPT}

    def __post_init__(self) -> None:
        own = self.__dict__  # the dataclass is frozen from here on
        own["moments"] = turning(np.asarray(self.moments, dtype=float))
        own |= {name: frozen(own[name]) for name in FROZEN}
        formed = np.shape(self.moments) == (*np.shape(self.mass), 3) and isinstance(self.parameters, np.ndarray)
        derived = self.potential is not None and (self.loads is no_loads or is_derived(self.loads))
        if derived and formed:  # else the checks say what is wrong
            self._derive_loads()
        own["provides"] = known(self.provides)
        if self.read_from < len(self.auxiliary):
            if not all(one.read for one in self.auxiliary[self.read_from :]):
                raise InvalidInput("auxiliary variables that loads read stand behind those that they do not read")
            own["provides"] -= {"velocity_independent"}
        own["provides"] = (own["provides"] - DERIVED) | self._derived()
        if not self.recommended:
            only = {"only_central_gravity", "points"} <= self.provides and not self.auxiliary
            kind = "exact" if self.loads is no_loads else "kepler" if only else "rkn6_14a"
            if self.velocity_dependent and self.loads is not no_loads:
                kind = "mkrk:cv8"
            elif "central_gravity" in self.provides and not only:
                kind = NEAR if self.N == 1 and "points" in self.provides else "rkn6_14a/kepler"
            own["recommended"] = kind
        for name in ("commutator", "series"):
            if own[name] is not None and self.called and self.loads is not no_loads and not is_derived(self.loads):
                raise InvalidInput(f"a {name} belongs to loads that are a role; leave it out beside a user's function")
        if self.series is not None and self.N != 1:
            raise InvalidInput(f"a series is that of one body, but there are {self.N}; leave it out")
        if self.series is not None and self.velocity_dependent:
            raise InvalidInput(
                "a series is that of a torque by the vertical only; state provides={'velocity_independent'}"
            )

    def _derive_loads(self) -> None:
        """Fill in loads and commutator where the potential alone is given."""
        of_loads = {"only_central_gravity", "split_loads"} | ({"central_gravity"} if self.translates else set())
        stated_too = sorted(set(self.provides) & of_loads)
        if stated_too:
            raise InvalidInput(f"{self.name} has a potential and no loads, but provides {stated_too[0]!r}, which loads "
                               "must honour; give the System its loads")  # fmt: skip
        made = self._of_potential
        own = (AuxiliaryVariable("work", "potential", False),) if made.dynamics.rates else ()
        if self.auxiliary not in ((), own):
            raise InvalidInput(
                f"{self.name} has auxiliary variables, whose rates loads write; give the System its loads"
            )
        if is_derived(self.commutator) or (self.commutator is None and self.loads is no_loads):
            self.__dict__["commutator"] = made.commutator
        provides = frozenset(self.provides) | {"velocity_independent"}
        self.__dict__.update(loads=made.loads, auxiliary=own, provides=provides)

    @cached_property
    def _of_potential(self) -> Derived:
        moves = [*map(isfinite, self.mass.tolist())]
        return from_potential(self.name, self.potential, moves, self._turns, self.parameters, self._changing)  # type: ignore[arg-type]

    __repr__, _repr_html_ = (later("polhode.systems.shown", name) for name in ("system_text", "system_html"))

    @property
    def title(self) -> str:
        """What it is called: by its user, if it is a sum, else as its builder."""
        return str(self.arguments.get("name", self.name)) if self.name == "system" else self.name

    @property
    def pins(self) -> Any:
        """Where the bodies are pinned that do not move, (N, 3); None where that is the origin."""
        first = getattr(getattr(self.made_again, "sum", None), "pins_at", -1)
        return None if first < 0 else self.parameters[first : first + 3 * self.N].reshape(-1, 3)

    @property
    def balanced(self) -> bool:
        """Whether every change of the energy is recorded as work. False with a user's potential that reads the time and
        cannot be traced, or with an energy that is only reported, as the load need not derive from it."""
        stated = self.functions.get("potential")
        recorded = any(own.quantity == "work" and own.label == "potential" for own in self.auxiliary)
        driven = stated is not None and not (stated.autonomous or recorded)
        return self.records_work and not driven and "reported_energy" not in self.functions

    def _derived(self) -> frozenset[str]:
        """The capabilities that follow from bodies and functions."""
        by_velocity = any(variable.by_velocity for variable in self.auxiliary)
        commutes = self.commutator is not None or self.commutator_by_parts
        return stated(
            series=self.series is not None, commutator=commutes,
            potential=self.potential is not None or self.loads is no_loads, no_auxiliary=not self.auxiliary,
            nothing_read=self.read_from == len(self.auxiliary), wheels=self.wheels_at >= 0,
            nothing_sampled=self.samples_at < 0,
            exact_kicks="velocity_independent" in self.provides and not by_velocity,
            translation=self.translates, rotation=self.rotates, points=not self.rotates,
            fixed_centre="total_momentum" not in self.conserves,
            unconstrained=self.mechanism is None, joints=self.mechanism is not None,
        )  # fmt: skip

    @property
    def commutator_by_parts(self) -> bool:
        """Whether the commutator is derived, so that it is also that of the loads without the attraction."""
        if self.commutator is not None or not self.all_potential or self.read_from < len(self.auxiliary):
            return False
        return hasattr(self.program, "commutator") or (self.each_alone and bool(parts_of(*self._written_from)))

    def _from_program(self, kind: str) -> Callable[..., Any] | None:
        """A role of the loads as it is written from the program; None without."""
        if kind == "commutator" and hasattr(self.program, "commutator"):
            return self.program.commutator  # type: ignore[union-attr]
        return role_of(kind, *self._written_from) if self.each_alone else None

    @property
    def _written_from(self) -> tuple[Any, ...]:
        """What roles are written from."""
        return self.loads, self._turns, self.read_from, self.parameters, self._changing

    @property
    def decided_by(self) -> frozenset[int]:
        """Indices of the parameters by which the roles decide, so far as they are known: other values make others."""
        made = [self.dynamics_of(part) for part in ((L.ALL, *PARTS) if self.each_alone else (L.ALL,))]
        return self.decided | {int(name[1:]) for one in made if one.traced for name in one.fixed}

    @property
    def kicked(self) -> bool:
        """Whether velocities change suddenly."""
        return bool(self.impulses) or any(watch.acts is not None for watch in self.watches)

    @property
    def one_way(self) -> str:
        """What happens of which no run goes back, in words; empty where nothing does."""
        told = {one.what: "sets states" if one.kind != "impulse" else "is at an event" * isinf(one.time)
                for one in self.sudden}  # fmt: skip
        return next((f"{what} {why}" for what, why in told.items() if why), "")

    @property
    def sudden(self) -> list[Any]:
        """What happens suddenly: impulses, and states that are set; at known times, and at events."""
        return [*self.impulses, *(watch.acts for watch in self.watches if watch.acts is not None)]

    @property
    def watched(self) -> bool:
        """Whether every run looks for events, be they asked for or not; a surface that nobody gave is none."""
        return bool(self.watches) or (self.ground is not None and not self.ground.assumed)

    @property
    def velocity_dependent(self) -> bool:
        """Whether loads may depend on velocities or angular velocities."""
        return "velocity_independent" not in self.provides

    @property
    def untraced(self) -> str:
        """Why nothing can be derived from a function of the user's; empty where all of them are programs."""
        return next((told for told in (one.untraced for one in self.functions.values()) if told), "")

    def set_switches(self, parameters: Array, t: float, direction: float = 1.0) -> None:
        """Set the switches in ``parameters`` for the time just after ``t``, in this direction of time."""
        for switch in self.switches:
            on = switch.start <= t < switch.stop if direction > 0.0 else switch.start < t <= switch.stop
            parameters[switch.index] = float(on)

    @property
    def with_memory(self) -> Array:
        """A copy of the parameters with zeroed scratch memory behind them, as the roles read it."""
        if not self.memory:
            return self.parameters.copy()
        whole = aligned(len(self.parameters) + self.memory)
        whole[: len(self.parameters)] = self.parameters
        return whole

    @cached_property
    def for_kernels(self) -> tuple[Any, ...]:
        """Masses, moments, frames, parameters with memory, symmetry axis of one member, as kernels take arrays."""
        own = (self.mass, self.moments, self.frames, self.with_memory, self.axis)
        return tuple(None if one is None else np.array(one, dtype=float)[None] for one in own)

    @cached_property
    def work_columns(self) -> list[int]:
        """Columns of a state that are works."""
        return [L.BODY * self.N + k for k, own in enumerate(self.auxiliary) if own.quantity == "work"]

    def kinetic_energies(self, states: Array, turning: bool = True) -> Array:
        """Kinetic energies (n,) of states (n, 13 N or more), without that of rotations where not ``turning``."""
        body = states[:, : L.BODY * self.N].reshape(len(states), self.N, L.BODY)
        p, m = body[:, :, L.MOMENTUM : L.ATTITUDE], body[:, :, L.ANGULAR :]
        moving = 0.5 * np.sum(p * p / self.mass[:, None], axis=(1, 2))
        return moving + 0.5 * np.sum(m * (m / self.moments), axis=(1, 2)) if turning else moving

    def potential_energies(self, states: Array, times: Array | None = None, virials: Array = NONE) -> Array:
        """Potential energies (n,) of states (n, 13 N or more) by the system's own potential, at time zero unless times
        (n,) are given; zeros where it has none. The virials (n,) of pairs are written, too."""
        rows, found = np.ascontiguousarray(states), np.zeros(len(states))
        times = np.zeros(len(states)) if times is None else times
        potential = self.compiled_potential(float(times[0]), rows[0]) if len(rows) else None
        if potential is not None:
            write_energies(times, rows, self.bodies, self.with_memory, potential, found, virials)
        return found

    @property
    def read_from(self) -> int:
        """Number of the first auxiliary variable that loads read; that of all variables if there is none."""
        return next((k for k, own in enumerate(self.auxiliary) if own.read), len(self.auxiliary))

    def auxiliary_at_start(self, y: Array, moments: Array | None = None, parameters: Array | None = None) -> Array:
        """The auxiliary variables (..., S) at y (..., 13 N); wheels turn relative to bodies, which turn them on."""
        moments, p = (self.moments, self.parameters) if moments is None else (moments, parameters)
        found = np.tile(np.array([own.start for own in self.auxiliary], dtype=float), (*y.shape[:-1], 1))
        for wheels, added in carried_round(p, self.wheels_at, y, moments):
            found[..., wheels] += added
        return found

    @property
    def N(self) -> int:
        """Number of bodies."""
        return len(self.mass)

    @property
    def constants_of_bodies(self) -> Array:
        """Masses, moments and their inverses, (N, 8)."""
        return self.bodies[: L.CONSTANTS * self.N].reshape(self.N, L.CONSTANTS)

    @cached_property
    def _bodies(self) -> Array:
        N, thin = self.N, self.without_thickness
        together = np.empty(L.OF_BODY * N)
        own = together[: L.CONSTANTS * N].reshape(N, L.CONSTANTS)
        own[:, L.MASS], own[:, L.INERTIA : L.INERTIA + 3] = self.mass, self.moments
        with np.errstate(divide="ignore"):
            np.divide(1.0, own[:, : L.INVERSE_MASS], out=own[:, L.INVERSE_MASS :])
        if thin.any():
            own[:, L.INERTIA : L.INERTIA + 3][thin[:, None] & np.isinf(self.moments)] = 0.0
        together[L.CONSTANTS * N :] = np.ravel(self.frames)
        return together

    @property
    def bodies(self) -> Array:
        """``constants_of_bodies``, then the quaternions of the frames, as the kernels read them, flat (12 N); a copy,
        for a user's function could write into it."""
        return self._bodies.copy()

    @cached_property
    def without_thickness(self) -> Mask:
        """Whether each body (N,) rotates, but not about all of its axes (a linear body)."""
        rotates = np.isfinite(self.moments)
        return np.any(rotates, axis=1) & ~np.all(rotates, axis=1)

    @cached_property
    def translates(self) -> bool:
        """Whether some body translates."""
        return any(map(isfinite, np.ravel(self.mass).tolist()))

    @cached_property
    def rotates(self) -> bool:
        """Whether some body rotates."""
        return any(map(isfinite, self.moments.ravel().tolist()))

    @cached_property
    def alone(self) -> tuple[float, ...] | None:
        """Frame, moments and mass of the one body there is, which turns about all of its axes or about none, and
        whether a centre attracts it, as 0 or 1; None for other systems."""
        if self.N != 1 or self.without_thickness.any():
            return None
        return (
            *self.frames[0].tolist(),
            *self.moments[0].tolist(),
            float(self.mass[0]),
            float("central_gravity" in self.provides),
        )

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """Degrees of freedom of translation (including the centre of mass) and of rotation."""
        return 3 * int(np.isfinite(self.mass).sum()), int(np.isfinite(self.moments).sum())

    @cached_property
    def _blocks(self) -> Indices:
        moves = np.stack([np.isfinite(self.mass), np.isfinite(self.moments).any(axis=1)], axis=1)
        pairs = np.array(np.nonzero(moves), dtype=np.int64).T.copy()
        pairs[:, 1] = np.where(pairs[:, 1] == 0, L.TRANSLATION, L.ROTATION)
        return pairs.ravel()

    @property
    def blocks(self) -> Indices:
        """Pairs (body, TRANSLATION or ROTATION) of what moves, flat; a copy."""
        return self._blocks.copy()

    @property
    def dynamics(self) -> Dynamics:
        """The loads as a program, or its ``reason`` where they cannot be traced."""
        return self.dynamics_of(L.ALL)

    @property
    def in_full(self) -> Dynamics:
        """The same for Taylor series, with longer sums and all pairs."""
        if self.dynamics.traced:
            return self.dynamics
        return getattr(self.program, "in_full", None) or self.dynamics_of(L.ALL, OF_SERIES)

    def dynamics_of(self, part: int, terms: int = MOST_TERMS) -> Dynamics:
        """Likewise for a part of the loads (``kernel.layout``), with sums to this degree."""
        if is_derived(self.loads):
            return self._of_potential.dynamics
        if self.program is not None:
            return self.program(part)
        if self.called and (untraced := self.called.dynamics(self.N)):
            return untraced
        kept = self.__dict__.setdefault("_dynamics", {})
        if (part, terms) not in kept:
            kept[part, terms] = of_roles(self.loads, self._turns, len(self.auxiliary), self.parameters,
                                         self._changing, part, terms)  # fmt: skip
        return kept[part, terms]

    @cached_property
    def _turns(self) -> tuple[tuple[bool, ...], ...]:
        """About which axes each body turns."""
        return tuple(map(tuple, np.isfinite(self.moments).tolist()))

    @cached_property
    def _changing(self) -> frozenset[int]:
        """Indices of the parameters that a run changes."""
        return frozenset([*(one.index for one in self.switches), *(one.flag for one in self.watches if one.flag >= 0)])

    def compiled_loads(self, t: float, y: Array, commutator: bool = True) -> Callable[..., Any]:
        """The LOADS role for a compiled loop; a user's function is tried out at this time and state. A commutator or
        series is included, under the part COMMUTATOR or SERIES; one that is derived where ``commutator`` says so."""
        role = self._as_kernel(self.loads, LOADS, t, y)
        if self.sampled:
            return self.with_commands(role, t, y)
        if not (commutator and self.commutator_by_parts):
            return role
        roles, key = self.__dict__["_compiled"], ("commutator", id(role))
        if key not in roles:
            both = compiled_with(parted_loads, plain_loads=role, commutator_loads=self._from_program("commutator"),
                                 thin=bool(self.without_thickness.any()))  # fmt: skip
            roles[key] = both, role  # kept, so that no other gets its id
        return roles[key][0]

    def with_commands(self, role: Callable[..., Any], t: float, y: Array) -> Callable[..., Any]:
        """A compiled role of loads, or what a method calls in its place, that answers for the controllers, too."""
        return with_commands(role, self.sampled, lambda one, role: one.compiled(role, LOADS, t, y, self))

    def compiled_slopes(self, t: float, y: Array) -> Callable[..., Any] | None:
        """The LOADS role that also answers the part SLOPES (``programs.slopes``), or None."""
        dynamics, (of, role) = self.dynamics, self.__dict__.get("_sloping", (None, None))
        if of is not dynamics:
            role = slopes_role(dynamics, np.isfinite(self.mass), np.isfinite(self.moments))
            self.__dict__["_sloping"] = dynamics, role  # at once, for other threads
        return role and compiled_with(parted_loads, plain_loads=self.compiled_loads(t, y), slopes=role)

    @property
    def series_role(self) -> Callable[..., Any]:
        """The role ``series`` as a step calls it, without torque about axes that a body does not rotate about."""
        role = self.series or no_series
        return jit.bind(parted_loads, series=role, thin=True) if self.without_thickness.any() else role

    def compiled_potential(self, t: float, y: Array) -> Callable[..., Any] | None:
        """The POTENTIAL role for a compiled loop, or None."""
        role = self._of_potential.potential if is_derived(self.loads) else self.potential
        return None if role is None else self._as_kernel(role, POTENTIAL, t, y)

    def _as_kernel(self, role: Callable[..., Any], signature: object, t: float, y: Array) -> Callable[..., Any]:
        roles = self.__dict__.setdefault("_compiled", {})
        key = (id(role), "loads" if signature is LOADS else "potential")
        if self.called and key not in roles and (made := self.called.compiled(role, signature, t, y, self)):
            roles[key] = made
        elif key not in roles:
            written = self._from_program("loads") if signature is LOADS else None
            others = (self.commutator, self.series) if role is self.loads and written is None else (None, None)
            thin = signature is LOADS and bool(self.without_thickness.any())
            try:
                roles[key] = kernel_of(written or role, *others, thin, signature is LOADS, self.serve is not None)
            except numba.core.errors.NumbaError as problem:
                raise InvalidInput(f"the loads of {self.name!r} cannot be compiled: {jit.told(problem)}; use "
                                   "numbers, tuples, and functions of these there") from problem  # fmt: skip
        return roles[key]

    def bridged_loads(self) -> Callable[..., Any] | None:
        """The LOADS role with the user's function run as plain Python; None without a user function."""
        bridge = self.called.bridge(LOADS) if self.called and self.called.among(LOADS) else None
        return bridge and with_commands(bridge, self.sampled, lambda one, _: one.bridge(LOADS))

    def bridged_potential(self) -> Callable[..., Any] | None:
        """The POTENTIAL role with the user's function run as plain Python; None without a user function."""
        asked = self.potential is not None and self.called and self.called.among(POTENTIAL)
        return self.called.bridge(POTENTIAL) if self.called and asked else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name, arguments and functions."""
        functions = handed_in(self)
        for key, function in functions.items():
            try:
                pickle.dumps(function)
            except Exception as refused:
                raise InvalidInput(f"{self.name} cannot be pickled, for its function {key!r} cannot ({refused}); "
                                   "define it at the top of a file that can be imported") from None  # fmt: skip
        again = built(self.name, self.arguments, functions) if builder(self.name) else None
        arrays = ("mass", "moments", "frames", "parameters")
        if again is None or not all(np.array_equal(getattr(self, name), getattr(again, name)) for name in arrays):
            raise InvalidInput(f"{self.name} cannot be pickled: no function of polhode builds it from its arguments; "
                               "hand on what it is built from")  # fmt: skip
        return built, (self.name, dict(self.arguments), functions)


def present_system(value: object, argument: str = "the first argument", such: str = "polhode.free_body(...)") -> System:
    """A system as it is at present."""
    if not isinstance(value, System):
        raise InvalidInput(f"{argument} must be a system such as {such}, not {shown(value)}")
    return value if value.made_again is None else value.made_again(value)
