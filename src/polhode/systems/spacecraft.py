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
from typing import Annotated, Any

from polhode.arguments import in_unit, number, truth, words
from polhode.bodies.inertia import KG_M2, MassProperties, inertias_of, mass_of, principal
from polhode.bodies.wheels import Gyros, Wheels, control_moment_gyros, reaction_wheels
from polhode.errors import answering
from polhode.loads import gravity_gradient as of_centre
from polhode.loads.gravity import attraction
from polhode.loads.load import made
from polhode.surroundings.magnetic import MagneticField, magnetic_field
from polhode.surroundings.planets import ground_of
from polhode.systems import devices
from polhode.systems.builders import BY_MU, assembled, bodies_of, carrying, given_of
from polhode.systems.carried import Energies
from polhode.systems.controllers import Controllers
from polhode.systems.devices import Equipment, fitted, magnetic_torquers, pulsed_thrusters
from polhode.systems.forces.acting import burns_of, forces_of, loads_of, loads_on_points, masses_of
from polhode.systems.gravity_gradient import axis_of_symmetry, gravity_gradient as tilting
from polhode.systems.record import IDENTITY, System

GRADIENT = of_centre()


@answering
@words.described_by(given_of, carrying, fitted, tilting)
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
    wheels: Annotated[Wheels | Mapping[str, Any], words.TableOf(reaction_wheels)] | None = None,
    controllers: Controllers = (),
    magnetic_field: Annotated[MagneticField | Mapping[str, Any], words.TableOf(magnetic_field)] | None = None,
    dipoles: Annotated[Sequence[Any], words.ListOf(devices.magnetic_dipole)] = (),
    torquers: Annotated[Equipment | Mapping[str, Any], words.TableOf(magnetic_torquers)] | None = None,
    gyros: Annotated[Gyros | Mapping[str, Any], words.TableOf(control_moment_gyros)] | None = None,
    pulsed_thrusters: Annotated[Equipment | Mapping[str, Any], words.TableOf(pulsed_thrusters)] | None = None,
    gradient_of_forces: bool = False,
    reported_energy: words.Function | None = None,
    loads: words.Loads = (),
    work: bool = True,
) -> System:
    """A rigid body that orbits a centre at the origin, with orbit and attitude in one state.

    Parameters
    ----------
    inertia : array_like (3,), (3, 3), or (N, 3), (N, 3, 3)
        Principal moments in any order or full tensor, about the centre of mass, in the user's body frame. One for each
        spacecraft if ``mass`` has N entries.
    mass : float or array_like (N,), optional
        Mass of the spacecraft, or of N that do not act on each other; by default that of ``inertia`` if it comes from
        ``polhode.inertia``, else 1.
    gravity_gradient : bool
        Whether the gravity gradient acts on orbit and attitude; without it the centre attracts a point mass.
    forces : sequence of Force
        From ``polhode.forces``, or mappings of their arguments with a ``kind``; they act on the centre of mass.
    torque, force, load : function, optional
        At most one, added to the other loads: ``torque(t, q, omega, parameters)`` in the user's body frame,
        ``force(t, position, velocity, parameters)`` in space, or ``load(t, position, velocity, q, omega, parameters) ->
        (force, torque)``.
    potential : function, optional
        ``potential(t, position, q, parameters) -> float``, added to the others. Its negative gradient is added to force
        and torque, exact where it can be traced, else by differences of order 6 (error 1e-13 if smooth).
    surface : float, optional
        Radius of the central body, at which a run ends with the event "impact"; by default, and 0, as for ``orbit``.
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
    mass, mu = mass_of(inertia, in_unit(mass, "kg", "mass"), 1.0), number(mu, "mu", "m**3 / s**2", positive=True)
    inertia = inertia.inertia if isinstance(inertia, MassProperties) else in_unit(inertia, KG_M2, "inertia")
    surface = None if surface is None else number(surface, "surface", "m")
    masses = masses_of(mass)
    N = len(masses)
    bodies = carrying(bodies_of(masses, inertias_of(inertia, N)), wheels, gyros)
    tidal, points = truth(gravity_gradient, "gravity_gradient"), truth(gradient_of_forces, "gradient_of_forces")
    kit = fitted(bodies, thrusters, plates, atmosphere, sunlight, magnetic_field, dipoles, torquers, pulsed_thrusters)
    own = {"torque": torque, "force": force, "load": load, "potential": potential, "reported_energy": reported_energy}
    given = given_of(own, "place", parameters, states, controllers, loads, work, bodies[0].states, kit.variables)
    found, frame = forces_of(forces), bodies[0].frame
    every, acts = [*found, *kit.meets], [made(attraction, "central", mu=mu), *loads_of(found, masses[0], ())]
    burns_of(every, mu, masses)
    acts += loads_on_points(found, acts[1:], frame, principal(inertia) if N == 1 else None) if points else []
    aligned = not given.acts and (N == 1 or kit.empty)
    return assembled(
        "spacecraft", bodies, acts + [GRADIENT] * tidal + kit.loads(frame if aligned else IDENTITY),
        {"inertia": inertia, "mu": mu, "mass": mass, "gravity_gradient": tidal, "forces": found,
         "thrusters": kit.thrusters, "plates": kit.plates, "surface": surface, **kit.arguments,
         **({"gradient_of_forces": True} if points else {})},
        given, axis_of_symmetry(bodies[0].moments, frame) if N == 1 and kit.empty else None,
        {"recommended": "" if every and any(one.velocity_dependent for one in every) else "rkn6_14a/kepler"},
        {"around": kit.around, "in_turn": True, "principal": aligned},
        lambda spin: Energies.of(mu, bodies, tidal, spin), ground=ground_of(surface, mu, N), direct=BY_MU,
    )  # fmt: skip
