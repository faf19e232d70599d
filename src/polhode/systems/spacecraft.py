r"""A spacecraft: coupled orbit and attitude of a rigid body, with gravity gradient, thrusters, drag and sunlight.

    p' = -mu mass r / |r|^3 + R F + mass sum a_i(t, r, v),     r' = v = p / mass
    m' = m x I^-1 m + T,                                       R' = R hat(I^-1 m)

Position and attitude are one state. The gravity gradient acts on both, with force F and torque T from one potential
[hughes1986, ch. 8],

    V = -mu / (2 r^3) (tr I - 3 n . I n)
    F = -3 mu / (2 r^4) ((tr I - 5 n . I n) n + 2 I n),        T = 3 mu / r^3 n x I n

the leading terms in size over distance: the neglected ones are smaller by that ratio. With ``gravity_gradient=False``
orbit and attitude are coupled only by thrusters, plates and functions. The accelerations a_i of ``polhode.forces`` act
on the centre of mass, as for ``orbit``, and exert no torque.

Thrusters and plates are fixed in the body; directions and positions are in the user's body axes, positions relative to
the centre of mass. A plate has one active side, along its normal e; only the central body casts a shadow on it. With
the direction u of the motion through the air, the direction s to the Sun and positive cosines c of either with e,

    F_air = -(1/2) rho |v_air|^2 C_D A c u,      F_light = -P A c ((1 - s_s) s + 2 (s_s c + s_d / 3) e)

with specular and diffuse fractions s_s and s_d [wertz1978, ch. 17]. Where air or light comes edge-on to a plate the
load has a kink, which limits methods to order 2 there.

Conserved: energy, unless a load without potential or dependent on time acts; total angular momentum about the centre
(orbit and spin, in space) if no forces, thrusters, plates or functions act, or only its vertical component if there are
forces, all symmetric about z; for a single body with two equal moments, the angular momentum about its axis.

Give N masses and inertias for several independent spacecraft. Forces, thrusters and plates are then the same for all,
each in its own body axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate, rotate_inverse, to_matrix
from polhode.algebra.so3 import add, dot, scale, times
from polhode.arguments import array, in_unit, number, numbers, truth
from polhode.arguments.frozen import read_only
from polhode.arguments.recorded import plain
from polhode.arguments.words import (
    Forces,
    Form,
    Function,
    GravitationalParameter,
    Inertia,
    Length,
    ListOf,
    Loads,
    Numbers,
    States,
    TableOf,
    Unit,
)
from polhode.bodies.gyros import control_moment_gyros
from polhode.bodies.inertia import KG_M2, MassProperties, mass_of, principal, turning
from polhode.bodies.wheels import reaction_wheels
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import helper, hole, inlined
from polhode.programs import derive
from polhode.programs.attitude import ROWS
from polhode.programs.text import function
from polhode.programs.trace import trace
from polhode.programs.written import module_of
from polhode.surroundings.magnetic import field_of, magnetic_field
from polhode.surroundings.planets import ground_of
from polhode.systems.controllers import controlled, controller, controllers_of, parted
from polhode.systems.devices import (
    AIR_AT,
    ALIGNED,
    DEVICES,
    DIPOLES,
    GRADIENT,
    LIGHT_AT,
    POINTS,
    PULSED,
    ROTORS,
    THRUSTERS,
    TORQUERS,
    atmosphere,
    devices_of,
    field_as_force,
    in_principal,
    magnetic_dipole,
    moment_of,
    none_around,
    plate,
    sunlight,
    surroundings,
    thruster,
)
from polhode.systems.devices import devices as devices_template
from polhode.systems.equipment import Equipment, Fitting, cleared, sizes_of
from polhode.systems.forces.sums import ACCELERATION, LEVEL, MU, OWN, WORKS, Kind, sums
from polhode.systems.forces.table import auxiliary_variables, force_table, masses_of
from polhode.systems.gradient_of_forces import (
    ARM,
    PAIRS,
    loads_on_points,
    no_loads_on_points,
    no_potential_of_points,
    potential_of_points,
)
from polhode.systems.gravity_gradient import axis_of_symmetry
from polhode.systems.pulsed_thrusters import pulsed_thrusters, pulses_of
from polhode.systems.record import Switch, System
from polhode.systems.rotors import rotors_of
from polhode.systems.states import states_of
from polhode.systems.sum import with_loads
from polhode.systems.torquers import magnetic_torquers, torquers_of
from polhode.systems.user import (
    Behind,
    added_functions,
    force_added,
    load_added,
    place_gradient_added,
    place_potential_added,
    torque_added,
)
from polhode.systems.wheels import with_wheels

__all__ = ["plate", "spacecraft", "thruster"]

acceleration = hole(ACCELERATION, "The sum over the forces, and their works.")
level = hole(LEVEL, "The sum of the potentials.")
on_points = hole("on_points(part, p, at, t, r, v, q, out, work_at) -> (force, torque)", "The gradient of the forces.")
of_points = hole("of_points(p, at, t, r, q) -> float", "Its potential.")
gradient = hole("gradient(mu, I, r, u, v, w) -> 6 numbers", "Force and torque of the gravity gradient.")
gradient_across = hole("gradient_across(mu, I, K, r, u, v, w) -> 6 numbers", "The same with products of inertia.")
rotors_at = hole("rotors_at(parameters) -> int", "Where the table of rotors begins.")
gradient_load = hole(
    "gradient_load(i, bodies, parameters, r, R) -> 6 numbers", "Force and torque of the gravity gradient on a body."
)
gradient_potential = hole("gradient_potential(i, bodies, parameters, r, q) -> float", "Its potential.")
devices = hole("devices(part, p, i, t, r, v, q, w, out, work_at) -> (force, torque)", "Thrusters and plates of a body.")


# ------------------------------------------------------------------ gravity gradient
@inlined
def shape(I):
    """Moments minus the third (a sphere, which has no gradient), so that a nearly spherical body loses no digits."""
    return (I[0] - I[2], I[1] - I[2], 0.0)


@helper
def gradient_level(mu, I, r, q):
    """Potential of the gravity gradient."""
    D = shape(I)
    square = dot(r, r)
    n = rotate_inverse(q, r)
    return -0.5 * mu / (square * np.sqrt(square)) * (D[0] + D[1] - 3.0 * dot(n, times(D, n)) / square)


@helper
def level_across(mu, I, K, r, q):
    """The same of a body with the products of inertia K (yz, zx, xy)."""
    D = shape(I)
    square = dot(r, r)
    n = rotate_inverse(q, r)
    Dn = add(times(D, n), (K[2] * n[1] + K[1] * n[2], K[2] * n[0] + K[0] * n[2], K[1] * n[0] + K[0] * n[1]))
    return -0.5 * mu / (square * np.sqrt(square)) * (D[0] + D[1] - 3.0 * dot(n, Dn) / square)


@cache
def gradient_of_level(level: Any, **more: int) -> Callable[..., Any]:
    """``gradient(mu, I, r, u, v, w)``: its force (space frame) and torque (body frame), by the rows u, v, w of R(q)."""
    given = {"mu": 0, "I": 3, **more, "r": 3}
    program = trace(level, given | {"q": "attitude"}, ())
    force, torque = derive.loads(program.graph, program.outputs[0], "r", "q")
    arguments = given | {f"q_{row}": 3 for row in ROWS}
    made: Callable[..., Any] = module_of(function(program.graph, [*force, *torque], "gradient", arguments)).gradient
    return made


def gradient_on_body(i, bodies, parameters, r, R):
    """That of a body alone."""
    return gradient(parameters[MU], get3(bodies, L.CONSTANTS * i + L.INERTIA), r, R[:3], R[3:6], R[6:])


def gradient_on_whole(i, bodies, parameters, r, R):
    """That of a body and its rotors."""
    at = rotors_at(parameters)
    I, K = with_wheels(parameters, at, get3(bodies, L.INERTIA))
    if parameters[int(parameters[OWN]) + GRADIENT] == ALIGNED:
        return gradient(parameters[MU], I, r, R[:3], R[3:6], R[6:])
    return gradient_across(parameters[MU], I, K, r, R[:3], R[3:6], R[6:])


@inlined
def level_of_body(i, bodies, parameters, r, q):
    """Potential of the gradient on a body alone."""
    return gradient_level(parameters[MU], get3(bodies, L.CONSTANTS * i + L.INERTIA), r, q)


def level_of_whole(i, bodies, parameters, r, q):
    """The same of a body and its rotors."""
    I, K = with_wheels(parameters, rotors_at(parameters), get3(bodies, L.INERTIA))
    return level_across(parameters[MU], I, K, r, q)


# ------------------------------------------------------------------ roles
def spacecraft_loads(part, t, N, y, bodies, parameters, out):
    """Forces and torques of gravity, further forces, gravity gradient, thrusters and plates; or the requested parts.

    Behind the loads, the rates of work.
    """
    own = int(parameters[OWN])
    work_at = L.LOAD * N
    count = int(parameters[WORKS]) + (parameters[own + THRUSTERS] > 0.0)
    count += (parameters[own + AIR_AT] > 0.0) + (parameters[own + LIGHT_AT] > 0.0) + (parameters[own + DIPOLES] > 0.0)
    for k in range(count):
        out[work_at + k] = 0.0
    for i in range(N):
        r, q = get3(y, L.BODY * i + L.POSITION), get4(y, L.BODY * i + L.ATTITUDE)
        mass = bodies[L.CONSTANTS * i + L.MASS]
        v = scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(y, L.BODY * i + L.MOMENTUM))
        w = times(get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(y, L.BODY * i + L.ANGULAR))
        force = scale(mass, acceleration(part, parameters, t, r, v, mass, out, work_at))
        F, T = devices(part, parameters, i, t, r, v, q, w, out, work_at)
        if parameters[own + GRADIENT] != 0.0 and part & L.POTENTIAL_PART != 0:
            R = to_matrix(q)
            f = gradient_load(i, bodies, parameters, r, R)
            force, T = add(force, (f[0], f[1], f[2])), add(T, (f[3], f[4], f[5]))
        f, g = on_points(part, parameters, int(parameters[own + POINTS]) + ARM * PAIRS * i, t, r, v, q, out, work_at)
        force, T = add(force, f), add(T, g)
        put3(out, L.LOAD * i, add(force, rotate(q, F)))
        put3(out, L.LOAD * i + 3, T)


def spacecraft_potential(t, N, y, bodies, parameters):
    """Potential energy of the centre, of the forces that have one, and of the gravity gradient."""
    total = 0.0
    own = int(parameters[OWN])
    for i in range(N):
        r, q = get3(y, L.BODY * i + L.POSITION), get4(y, L.BODY * i + L.ATTITUDE)
        total += bodies[L.CONSTANTS * i + L.MASS] * level(parameters, t, r)
        if parameters[own + GRADIENT] != 0.0:
            total += gradient_potential(i, bodies, parameters, r, q)
        total += of_points(parameters, int(parameters[own + POINTS]) + ARM * PAIRS * i, t, r, q)
    return total


SLOT = hole("SLOT", "The slot that holds the index of a table.")


def table_place(parameters):
    """Index of a table of equipment in the parameters."""
    return int(parameters[int(parameters[OWN]) + SLOT])


@cache
def where_table_is(slot: int) -> Any:
    """``table_place`` of the table whose index is in this slot."""
    return inlined(jit.bind(table_place, SLOT=slot))  # type: ignore[no-untyped-call]


@lru_cache(jit.KEPT_KERNELS)
def roles_with(
    kinds: tuple[Kind, ...], points: bool, wheels: bool, air: Any, light: Any, magnetic: Any
) -> tuple[Any, Any]:
    """The roles LOADS and POTENTIAL with forces of these kinds, perhaps with their gradient on the points of a body,
    and the functions of air, light and magnetic field."""
    pulling, deep, beyond = sums(kinds)
    on_devices = jit.bind(devices_template, air=air, light=light, magnetic=magnetic)
    loads_there: Any = jit.bind(loads_on_points, acceleration=pulling) if points else no_loads_on_points
    level_there: Any = jit.bind(potential_of_points, beyond=beyond) if points else no_potential_of_points
    acting, its_level = jit.bind(gradient_on_body, gradient=gradient_of_level(gradient_level)), level_of_body
    if wheels:
        where, across = where_table_is(ROTORS), gradient_of_level(level_across, K=3)
        acting = jit.bind(gradient_on_whole, gradient=gradient_of_level(gradient_level), gradient_across=across,
                          rotors_at=where)  # fmt: skip
        its_level = jit.bind(level_of_whole, rotors_at=where)
    return (
        jit.bind(
            spacecraft_loads, acceleration=pulling, devices=on_devices, gradient_load=acting, on_points=loads_there
        ),
        jit.bind(spacecraft_potential, level=deep, of_points=level_there, gradient_potential=its_level),
    )


# ------------------------------------------------------------------ the system
@answering
def spacecraft(
    inertia: Inertia,
    mu: GravitationalParameter,
    mass: Annotated[Any, Form.NUMBER, Unit("kg")] | None = None,
    gravity_gradient: bool = True,
    forces: Forces = (),
    thrusters: Annotated[Sequence[Any], ListOf(thruster)] = (),
    plates: Annotated[Sequence[Any], ListOf(plate)] = (),
    atmosphere: Annotated[Mapping[str, Any], TableOf(atmosphere)] | None = None,
    sunlight: Annotated[Mapping[str, Any], TableOf(sunlight)] | None = None,
    torque: Function | None = None,
    force: Function | None = None,
    load: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    surface: Length | None = None,
    states: States | None = None,
    wheels: Annotated[Mapping[str, Any], TableOf(reaction_wheels)] | None = None,
    controllers: Annotated[Sequence[Any], ListOf(controller)] = (),
    magnetic_field: Annotated[Mapping[str, Any], TableOf(magnetic_field)] | None = None,
    dipoles: Annotated[Sequence[Any], ListOf(magnetic_dipole)] = (),
    torquers: Annotated[Mapping[str, Any], TableOf(magnetic_torquers)] | None = None,
    gyros: Annotated[Mapping[str, Any], TableOf(control_moment_gyros)] | None = None,
    pulsed_thrusters: Annotated[Mapping[str, Any], TableOf(pulsed_thrusters)] | None = None,
    gradient_of_forces: bool = False,
    reported_energy: Function | None = None,
    loads: Loads = (),
) -> System:
    """A rigid body that orbits a centre at the origin, with orbit and attitude in one state.

    Parameters
    ----------
    inertia : array_like (3,), (3, 3), or (N, 3), (N, 3, 3)
        Principal moments in any order or full tensor, about the centre of mass, in the user's body frame. One for each
        spacecraft if ``mass`` has N entries.
    mu : float
        Gravitational constant times mass of the centre, positive.
    mass : float or array_like (N,), optional
        Mass of the spacecraft, or of N that do not act on each other; by default that of ``inertia`` if it comes from
        ``polhode.inertia``, else 1.
    gravity_gradient : bool
        Whether the gravity gradient acts on orbit and attitude; without it the centre attracts a point mass.
    forces : sequence of Force
        From ``polhode.forces``, or mappings of their arguments with a ``kind``; they act on the centre of mass.
    thrusters : sequence
        From ``polhode.thruster``, or mappings of its arguments.
    plates : sequence
        From ``polhode.plate``, or mappings of its arguments.
    atmosphere : mapping, optional
        For plates with a drag coefficient: arguments of ``forces.drag`` that describe the air (``density``, ``radius``,
        ``scale``, or ``table`` or ``air``, ``rotation``, ``axis``).
    sunlight : mapping, optional
        For plates that reflect or absorb light: ``pressure`` and the other arguments of ``forces.radiation_pressure``.
    torque, force, load : function, optional
        At most one, added to the other loads: ``torque(t, q, omega, parameters)`` in the user's body frame,
        ``force(t, position, velocity, parameters)`` in space, or ``load(t, position, velocity, q, omega, parameters) ->
        (force, torque)``.
    potential : function, optional
        ``potential(t, position, q, parameters) -> float``, added to the others. Its negative gradient is added to force
        and torque, exact where it can be traced, else by differences of order 6 (error 1e-13 if smooth).
    parameters : sequence of float, optional
        Passed to the functions as an array.
    surface : float, optional
        Radius of the central body, at which a run ends with the event "impact"; by default, and 0, as for ``orbit``.
    states : mapping, optional
        States of your own, as for ``rigid_body``: ``torque``, ``force`` or ``load`` then takes them as its last
        argument and returns their rates behind the load.
    wheels : Wheels, optional
        From ``polhode.reaction_wheels``, or a mapping of its arguments, for one spacecraft, as for ``rigid_body``.
    controllers : sequence, optional
        From ``polhode.controller``, or mappings of its arguments, as for ``rigid_body``.
    magnetic_field : MagneticField, optional
        From ``polhode.magnetic_field``, or a mapping of its arguments: the field that dipoles and torquers meet.
    dipoles : sequence
        From ``polhode.magnetic_dipole``, or mappings of its arguments; their torque is moment x field.
    torquers : Torquers, optional
        From ``polhode.magnetic_torquers``, or a mapping of its arguments, for one spacecraft: coils or rods whose
        moments are the state ``dipole_command``, which controllers set.
    gyros : Gyros, optional
        From ``polhode.control_moment_gyros``, or a mapping of its arguments, for one spacecraft, as for ``rigid_body``.
    pulsed_thrusters : PulsedThrusters, optional
        From ``polhode.pulsed_thrusters``, or a mapping of its arguments, for one spacecraft: thrusters that fire for a
        share of each period, the state ``thruster_command``, which controllers set.
    gradient_of_forces : bool
        Whether the gravity gradient is also that of the ``forces`` with a potential, such as harmonics of the field and
        third bodies: about a thousandth of the centre's in a low orbit. The forces are then evaluated five times.
    reported_energy : function, optional
        ``reported_energy(t, position, q, parameters) -> float``: the potential that ``torque``, ``force`` or ``load``
        has by what you know. It is added to the reported energy and moves nothing, and their work is not recorded.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the body is called "body", several are body0, body1 and so on.

    Returns
    -------
    System
        Its trajectories also have ``spin`` (angular momentum about the centre of mass, space frame),
        ``attitude_energy`` (of the body's rotation and the gravity gradient of the centre) and ``orbital_energy`` (of
        the osculating conic): for a real satellite the attitude's part of the total energy is below its round-off.

    Raises
    ------
    InvalidInput
        Names the invalid argument, and a force, thruster or plate by its number.

    Examples
    --------
    >>> spacecraft(inertia=(90.0, 70.0, 60.0), mu=3.986004415e14, mass=120.0).conserves
    ('energy', 'angular_momentum_space')
    """
    mass = mass_of(inertia, in_unit(mass, "kg", "mass"), 1.0)
    inertia = inertia.inertia if isinstance(inertia, MassProperties) else in_unit(inertia, KG_M2, "inertia")
    surface = in_unit(surface, "m", "surface")
    mu, masses = number(mu, "mu", "m**3 / s**2", positive=True), masses_of(mass)
    N = len(masses)
    moments, frames = _inertias(inertia, N)
    rotors = rotors_of(wheels, gyros, inertia, N)
    if rotors is not None:
        moments, frames = rotors.moments[None], rotors.frame[None]
    gravity_gradient = truth(gravity_gradient, "gravity_gradient")
    points = truth(gradient_of_forces, "gradient_of_forces")
    steered = controllers_of(controllers)
    field = None if magnetic_field is None else field_of(magnetic_field)
    rods, pulses = torquers_of(torquers, field, N), pulses_of(pulsed_thrusters, N)
    kinds: dict[int, Equipment] = {
        slot: one for slot, one in ((ROTORS, rotors), (TORQUERS, rods), (PULSED, pulses)) if one is not None
    }
    commands = tuple(command for kind in kinds.values() for command in kind.commands)
    held, own_states = parted(states_of(states), steered, commands)
    burning, panels = devices_of(thrusters, thruster, "thrusters"), devices_of(plates, plate, "plates")
    beside, around = surroundings(atmosphere, sunlight, panels)
    acting = ["thrusters"] * bool(burning) + [f"{force.kind} on plates" for force in beside]
    magnets, moment = moment_of(dipoles, field)
    if field is not None:
        beside.append(field_as_force(field))
        around["magnetic_field"] = dict(field.arguments)
        around["dipoles"] = [dict(one.arguments) for one in magnets]
        acting += ["dipoles"] * bool(magnets)
    fixed: list[float] = []
    switched: list[tuple[int, int]] = []
    for frame in frames:
        for k, one in enumerate(burning):
            fixed += [*in_principal(frame, one), 1.0]
            switched.append((DEVICES + len(fixed) - 1, k))
        for one in panels:
            fixed += [*in_principal(frame, one), *one.numbers]
        fixed += in_principal(frame, moment) if moment is not None else []
    table = force_table(mu, masses, forces, beside)
    if table.mass_at is not None:
        raise InvalidInput("a spacecraft keeps its mass; give thrust as an acceleration, or thrusters")
    places = {force.kind: at for force, at in zip(beside, table.places, strict=True)}
    meets = {force.kind: force.acceleration for force in beside}
    field_at = places.get("magnetic_field", 0)
    spinning = rotors is not None and rotors.wheels is not None
    gradient_kind = ALIGNED if gravity_gradient and rotors is not None and rotors.aligned else gravity_gradient
    air_at, light_at = places.get("drag", 0), places.get("radiation_pressure", 0)
    head: list[float] = [gradient_kind, air_at, light_at, len(burning), len(panels), len(table.auxiliary), 0, field_at,
                         bool(magnets), 0, 0, 0]  # fmt: skip
    if points:
        head[POINTS] = int(table.parameters[OWN]) + len(head) + len(fixed)
        fixed += pairs_of(inertia, N, frames)
    work_names = [name for one in kinds.values() for name in one.work_names]
    booked = len(table.auxiliary) + len(acting)
    own_work = reported_energy is None and any(one is not None for one in (torque, force, load))
    behind = booked + len(work_names) + own_work
    variables = tuple(variable for one in kinds.values() for variable in one.variables)
    meeting = ("drag", "radiation_pressure", *["magnetic_field"] * bool(magnets))
    around_it = (meets.get(kind, none_around) for kind in (*meeting, "")[:3])
    pulls, depth = roles_with(table.kinds, points, spinning, *around_it)
    if kinds:
        pulls = cleared(pulls, booked, behind - booked + len(variables) + len(held.auxiliary))
    watches, first, work = list(table.watches), behind, booked
    for slot, kind in kinds.items():
        head[slot] = at = int(table.parameters[OWN]) + len(head) + len(fixed)
        fitting = Fitting(first, work, at, frames[0], where_table_is(slot), meets.get("magnetic_field"), field_at)
        fixed += kind.table(fitting)
        pulls = kind.loads(pulls, fitting)
        watches += kind.watches(fitting)
        first, work = first + len(kind.variables), work + len(kind.work_names)
    acting += work_names
    table_parameters = np.concatenate([table.parameters, np.array(head, dtype=float), fixed])
    switches = list(table.switches)
    for slot, k in switched:
        start, stop = burning[k].numbers
        if (start, stop) != (-inf, inf):
            switches.append(Switch(int(table.parameters[OWN]) + slot, start, stop, f"thrusters[{k}]"))
    frame = frames[0]
    functions = added_functions(
        {
            "torque": (torque, torque_added), "force": (force, force_added), "load": (load, load_added),
            "reported_energy": (reported_energy, place_potential_added),
            "potential": (potential, place_potential_added, place_gradient_added),
        },
        pulls, depth, table_parameters, len(table.auxiliary) + len(acting),
        None if parameters is None else numbers(parameters, "parameters"), N,
        (float(frame[0]), float(frame[1]), float(frame[2]), float(frame[3])),
        states=Behind((*sizes_of(variables), *held.sizes), own_states.sizes, 0 if kinds else len(held.auxiliary),
                      bool(steered)),
    )  # fmt: skip
    own = auxiliary_variables(table, (*acting, *functions.work))
    if kinds and len(own) != behind:
        raise InvalidInput(f"potential reads the time beside {work_names[0]}; write its force and torque as a load")
    own += variables + held.auxiliary + own_states.auxiliary
    bare = not (burning or panels or magnets or functions.given or kinds)
    energy = not own and functions.conservative
    conserves: tuple[str, ...] = ("energy",) if energy else ()
    if bare and table.axial:
        conserves += ("vertical_angular_momentum" if table.forces else "angular_momentum_space",)
    axis = axis_of_symmetry(moments[0], frame) if N == 1 and bare else None
    if axis is not None:
        conserves += ("axial_angular_momentum",)
    reads = table.velocity_dependent or "drag" in meets or functions.velocity_dependent
    spun = () if rotors is None or rotors.wheels is None else (rotors.axes, np.array(rotors.wheels.inertia))
    energies = _Energies(mu, read_only(masses), read_only(moments), gravity_gradient, spun)
    made = System(
        name="spacecraft",
        arguments={
            "inertia": plain(inertia), "mu": mu, "mass": plain(mass), "gravity_gradient": gravity_gradient,
            "forces": [dict(one.arguments) for one in table.forces],
            "thrusters": [dict(one.arguments) for one in burning], "plates": [dict(one.arguments) for one in panels],
            "surface": None if surface is None else number(surface, "surface"), **around, **functions.arguments,
            **({} if rotors is None else rotors.arguments),
            **({} if rods is None else {"torquers": dict(rods.arguments)}),
            **({} if pulses is None else {"pulsed_thrusters": dict(pulses.arguments)}),
            **({"states": own_states.arguments} if own_states.arguments else {}),
            **({"gradient_of_forces": True} if points else {}),
        },
        mass=masses,
        moments=moments,
        frames=frames,
        loads=functions.loads,
        potential=functions.potential,
        provides=stated(central_gravity=True, velocity_independent=not reads, split_loads=True),
        auxiliary=own,
        switches=tuple(switches),
        impulses=table.impulses,
        watches=tuple(watches),
        ground=ground_of(surface, mu, N),
        parameters=functions.parameters,
        conserves=conserves,
        axis=axis,
        functions=functions.given,
        each_alone=not kinds and (N == 1 or not (burning or panels or magnets)),
        all_potential=table.all_potential and functions.all_potential and not acting,
        quantities=energies if rotors is None else rotors.spin(energies),
        wheels_at=-1 if rotors is None else int(head[ROTORS]),
        direct={"mu": (0, True)},
        recommended="" if reads else "rkn6_14a/kepler",
    )  # fmt: skip
    return with_loads(controlled(made, steered, states, pulses), loads)


def _inertias(inertia: Any, N: int) -> tuple[Any, Any]:
    """Principal moments (N, 3) and frames (N, 4)."""
    if isinstance(inertia, np.ndarray) and inertia.ndim:
        inertia = list(array(inertia, "inertia"))
    if not isinstance(inertia, list | tuple) or not inertia:
        raise InvalidInput(f"inertia must be 3 moments or a tensor, or those of each body, not {shown(inertia)}")
    if N == 1 and (len(inertia) != 1 or not isinstance(inertia[0], list | tuple | np.ndarray)):
        inertia = [inertia]
    count = len(inertia)
    if count != N:
        raise InvalidInput(f"inertia must be one entry for each of {N} masses, but has {count}")
    found = [principal(one, name="inertia" if N == 1 else f"inertia[{i}]") for i, one in enumerate(inertia)]
    return np.array([one.moments for one in found]), np.array([one.frame for one in found])


def pairs_of(inertia: Any, N: int, frames: Any) -> list[float]:
    """Numbers of the points that feel the gradient of forces: of the inertia of the whole, in the frames of states."""
    numbers: list[float] = []
    for moments, of_whole, frame in zip(*_inertias(inertia, N), frames, strict=True):
        for k in range(PAIRS):
            axis = rotation.rotate_inverse(frame, rotation.rotate(of_whole, np.eye(3)[k]))
            numbers += [moments[2] - moments[k], *axis]
    return [float(x) for x in numbers]


@dataclass(frozen=True)
class _Energies:
    """Spin, attitude energy and orbital energy from recorded states."""

    mu: Any
    mass: Any
    moments: Any
    gradient: bool
    spun: tuple[Any, ...] = ()  # axes of wheels and their moments about them, which the others leave out

    def of_members(self, mass: Any, moments: Any, parameters: Any) -> _Energies:
        """The same with constants of their own for each row: masses (n, N), moments (n, N, 3), parameters (n, P)."""
        return _Energies(parameters[:, MU, None], mass, np.where(np.isinf(moments), 0.0, moments), self.gradient,
                         self.spun)  # fmt: skip

    def __call__(self, body: Any) -> dict[str, Any]:
        r, p = body[..., L.POSITION : L.MOMENTUM], body[..., L.MOMENTUM : L.ATTITUDE]
        q, m = body[..., L.ATTITUDE : L.ANGULAR], body[..., L.ANGULAR :]
        size = np.linalg.norm(r, axis=-1)
        attitude = 0.5 * np.sum(m * m / turning(self.moments), axis=-1)
        if self.gradient:
            D = self.moments - self.moments[..., 2:]
            n = rotation.rotate_inverse(q, r) / size[..., None]
            attitude = attitude - 0.5 * self.mu / size**3 * (D.sum(axis=-1) - 3.0 * np.sum(n * n * D, axis=-1))
            if self.spun:
                axes, inertia = self.spun
                attitude = attitude - 0.5 * self.mu / size**3 * ((1.0 - 3.0 * (n @ axes.T) ** 2) @ inertia)
        orbital = 0.5 * np.sum(p * p, axis=-1) / self.mass - self.mu * self.mass / size
        return {"spin": rotation.rotate(q, m), "attitude_energy": attitude, "orbital_energy": orbital}
