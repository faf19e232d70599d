"""A spacecraft: coupled orbit and attitude of a rigid body, with gravity gradient, thrusters, drag and sunlight.

    p' = -mu mass r / |r|^3 + R F + mass sum a_i(t, r, v),     r' = v = p / mass
    m' = m x I^-1 m + T,                                       R' = R hat(I^-1 m)

Position and attitude are one state. The loads are those of ``polhode.loads``: the gravity gradient acts on both, from
one potential [hughes1986, ch. 8]; without it orbit and attitude are coupled only by thrusters, plates and functions.
The accelerations a_i of ``polhode.forces`` act on the centre of mass, as for ``orbit``, and exert no torque. Directions
and positions of thrusters and plates are in the user's body axes, positions relative to the centre of mass.

Conserved: energy, unless a load without potential or dependent on time acts; what else is found from the loads, and
for a single body with two equal moments the angular momentum about its axis.

Give N masses and inertias for several independent spacecraft. Forces, thrusters and plates are then the same for all,
each in its own body axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import to_matrix
from polhode.arguments import in_unit, number, truth, words
from polhode.arguments.recorded import plain, read_only
from polhode.bodies.body import Body
from polhode.bodies.inertia import KG_M2, MassProperties, inertias_of, mass_of, principal
from polhode.bodies.wheels import control_moment_gyros, reaction_wheels
from polhode.errors import InvalidInput, answering
from polhode.loads import Load, gravity_gradient as of_centre
from polhode.loads.gravity import attraction
from polhode.loads.load import made as load_of
from polhode.loads.thrust import nothing
from polhode.surroundings.magnetic import field_of, magnetic_field, quantity
from polhode.surroundings.planets import ground_of
from polhode.systems import devices
from polhode.systems.builders import assembled, given_of
from polhode.systems.carried import Energies
from polhode.systems.controllers import Controllers
from polhode.systems.equipment import equipment_of, magnetic_torquers, pulsed_thrusters, rotors_of
from polhode.systems.forces.acting import burns_of, forces_of, loads_of, loads_on_points, masses_of
from polhode.systems.gravity_gradient import axis_of_symmetry
from polhode.systems.record import System

GRADIENT = of_centre()


@answering
@words.described_by(given_of, rotors_of)
def spacecraft(
    inertia: words.Inertia,
    mu: words.GravitationalParameter,
    mass: Annotated[Any, words.Form.NUMBER, words.Unit("kg")] | None = None,
    gravity_gradient: bool = True,
    forces: words.Forces = (),
    thrusters: Annotated[Sequence[Any], words.ListOf(devices.thruster)] = (),
    plates: Annotated[Sequence[Any], words.ListOf(devices.plate)] = (),
    atmosphere: Annotated[Mapping[str, Any], words.TableOf(devices.atmosphere)] | None = None,
    sunlight: Annotated[Mapping[str, Any], words.TableOf(devices.sunlight)] | None = None,
    torque: words.Function | None = None,
    force: words.Function | None = None,
    load: words.Function | None = None,
    potential: words.Function | None = None,
    parameters: words.Numbers | None = None,
    surface: words.Length | None = None,
    states: words.States | None = None,
    wheels: Annotated[Mapping[str, Any], words.TableOf(reaction_wheels)] | None = None,
    controllers: Controllers = (),
    magnetic_field: Annotated[Mapping[str, Any], words.TableOf(magnetic_field)] | None = None,
    dipoles: Annotated[Sequence[Any], words.ListOf(devices.magnetic_dipole)] = (),
    torquers: Annotated[Mapping[str, Any], words.TableOf(magnetic_torquers)] | None = None,
    gyros: Annotated[Mapping[str, Any], words.TableOf(control_moment_gyros)] | None = None,
    pulsed_thrusters: Annotated[Mapping[str, Any], words.TableOf(pulsed_thrusters)] | None = None,
    gradient_of_forces: bool = False,
    reported_energy: words.Function | None = None,
    loads: words.Loads = (),
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
        From ``polhode.systems.thruster``, or mappings of its arguments.
    plates : sequence
        From ``polhode.systems.plate``, or mappings of its arguments.
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
    surface : float, optional
        Radius of the central body, at which a run ends with the event "impact"; by default, and 0, as for ``orbit``.
    magnetic_field : MagneticField, optional
        From ``polhode.surroundings.magnetic_field``, or a mapping of its arguments: the field that dipoles and torquers
        meet.
    dipoles : sequence
        From ``polhode.systems.magnetic_dipole``, or mappings of its arguments; their torque is moment x field.
    torquers : Torquers, optional
        From ``polhode.systems.magnetic_torquers``, or a mapping of its arguments, for one spacecraft: coils or rods
        whose moments are the state ``dipole_command``, which controllers set.
    pulsed_thrusters : PulsedThrusters, optional
        From ``polhode.systems.pulsed_thrusters``, or a mapping of its arguments, for one spacecraft: thrusters that
        fire for a share of each period, the state ``thruster_command``, which controllers set.
    gradient_of_forces : bool
        Whether the gravity gradient is also that of the ``forces`` with a potential, such as harmonics of the field and
        third bodies: about a thousandth of the centre's in a low orbit. The forces are then evaluated five times.
    reported_energy : function, optional
        ``reported_energy(t, position, q, parameters) -> float``: the potential that ``torque``, ``force`` or ``load``
        has by what you know. It is added to the reported energy and moves nothing, and their work is not recorded.

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
    >>> import polhode as ph
    >>> craft = ph.spacecraft(inertia=(90.0, 70.0, 60.0), mu=3.986004415e14, mass=120.0)
    >>> craft.conserves
    ('energy', 'angular_momentum_space')
    >>> ds = ph.integrate(craft, step=10.0, steps=60, position=(4.9e6, 4.9e6, 0), velocity=(-5.3e3, 5.3e3, 0))
    >>> round(float(ds.angular_velocity[-1, 2]), 6)
    -0.000248
    """
    mass = mass_of(inertia, in_unit(mass, "kg", "mass"), 1.0)
    inertia = inertia.inertia if isinstance(inertia, MassProperties) else in_unit(inertia, KG_M2, "inertia")
    surface = in_unit(surface, "m", "surface")
    mu, masses = number(mu, "mu", "m**3 / s**2", positive=True), masses_of(mass)
    N = len(masses)
    rotors = rotors_of(wheels, gyros, inertia, N)
    moments, frames = (
        inertias_of(inertia, N) if rotors is None else (np.array([rotors.moments]), np.array([rotors.frame]))
    )
    gravity_gradient = truth(gravity_gradient, "gravity_gradient")
    points = truth(gradient_of_forces, "gradient_of_forces")
    field = None if magnetic_field is None else field_of(magnetic_field)
    moved = equipment_of(torquers, field, pulsed_thrusters, N)
    given = given_of(
        {"torque": (torque, "torque"), "force": (force, "force"), "load": (load, "load"),
         "potential": (potential, "place_potential"), "reported_energy": (reported_energy, "place_potential")},
        parameters, states, controllers, loads, True, rotors, [*moved.values()],
    )  # fmt: skip
    burning = devices.devices_of(thrusters, devices.thruster, "thrusters")
    panels = devices.devices_of(plates, devices.plate, "plates")
    beside, around = devices.surroundings(atmosphere, sunlight, panels)
    magnets, moment = devices.moment_of(dipoles, field)
    if field is not None:
        around["magnetic_field"] = dict(field.arguments)
        around["dipoles"] = [dict(one.arguments) for one in magnets]
    found = forces_of(forces)
    if any(force.flow > 0.0 for force in found):
        raise InvalidInput("a spacecraft keeps its mass; give thrust as an acceleration, or thrusters")
    burns_of([*found, *beside], mu, masses)
    equipped = bool(burning or panels or magnets)
    aligned = not given.acts and (N == 1 or not equipped)
    axes = np.reshape(to_matrix(tuple(frames[0].tolist())), (3, 3))

    def turned(vectors: Any) -> Any:
        """In the axes that the loads of the sum see."""
        return np.asarray(vectors, dtype=float) @ axes if aligned and N == 1 else np.asarray(vectors, dtype=float)

    carried = {} if rotors is None else {name: one.arguments for name, one in rotors.rotors.items()}
    pulls = loads_of(found, float(masses[0]), ())
    acts = [load_of(attraction, "central", mu=mu), *pulls]
    if points:
        of_whole = principal(inertia) if N == 1 else None
        inside = np.eye(3) if of_whole is None else rotation.rotate(of_whole.frame, np.eye(3)) @ axes
        acts += loads_on_points(found, pulls, inside[:2], None if of_whole is None else of_whole.moments)
    acts += [GRADIENT] if gravity_gradient else []
    acts += devices.loads_of_devices(burning, panels, beside, moment, turned)
    acts += [Load(nothing, name, kind="idle") for name in carried]  # which say where works stand among the others
    acts += [one.load(turned) for one in moved.values()]
    rows = zip(masses.tolist(), moments.tolist(), frames.tolist(), strict=True)
    bodies = [Body(f"body{i}" if N > 1 else "body", m, tuple(I), tuple(frame), **(rotors.rotors if rotors else {}))
              for i, (m, I, frame) in enumerate(rows)]  # fmt: skip
    bare = not (equipped or given.users or carried or moved)
    axis = axis_of_symmetry(moments[0], frames[0]) if N == 1 and bare else None
    reads = any(one.velocity_dependent for one in found) or any(one.velocity_dependent for one in given.users.values())
    reads |= any(one.kind == "drag" for one in beside)
    spun = None if rotors is None else rotors.wheels
    of_wheels = () if spun is None else (np.array(spun.axes_in(frames[0])), np.array(spun.inertia))
    energies = partial(Energies, mu, read_only(masses), read_only(moments), gravity_gradient, of_wheels)
    return assembled(
        "spacecraft", bodies, acts,
        {
            "inertia": plain(inertia), "mu": mu, "mass": plain(mass), "gravity_gradient": gravity_gradient,
            "forces": [dict(one.arguments) for one in found],
            "thrusters": [dict(one.arguments) for one in burning], "plates": [dict(one.arguments) for one in panels],
            "surface": None if surface is None else number(surface, "surface"), **around, **carried,
            **{name: dict(one.arguments) for name, one in moved.items()},
            **({"gradient_of_forces": True} if points else {}),
        },
        given, axis, quantities=energies,
        how={"around": [] if field is None else [quantity(field).named("field")], "in_turn": True,
             "principal": aligned},
        ground=ground_of(surface, mu, N), direct={"mu": (0, True)},
        alone={"recommended": "" if reads else "rkn6_14a/kepler"},
    )  # fmt: skip
