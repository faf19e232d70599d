"""Point masses that orbit a centre at the origin, with further forces.

    p' = -mu mass r / |r|^3 + mass sum a_i(t, r, v),     r' = v = p / mass                 [carson2005, eq. 1]

The accelerations a_i are those of ``polhode.forces``: zonal gravity (J2 to J6), other bodies, drag, sunlight, thrust.
The axes are non-rotating; other bodies may accelerate the centre, which ``third_body`` takes into account. Lengths,
times and ``mu`` are in one consistent set of units: metres and seconds as in ``polhode.planets``, or kilometres and
seconds.

If burns use up mass, loads, momentum and energies all refer to the mass at the start, as does the argument ``mass``.

The energy changes by the work of the forces: of a force without potential, the integral of its power; of a potential
that depends on time (a moving third body), the integral of its partial time derivative. The work of each force is an
auxiliary variable, and ``energy_error`` in a Dataset is the change of the energy minus all work. Not recorded are the
work of a function ``force`` beside ``reported_energy``, and the change of energy by a ``potential`` that reads the time
and cannot be traced: the energies carry a note that says so, and such a run is not judged by its energy.

Conserved: energy, if all forces have a potential that does not depend on time; the angular momentum about the centre
without further forces, or its component along z if all forces are symmetric about that axis.

Give N masses for several points that do not act on each other; the work is then that done on all of them.

At the centre itself the loads are not finite, and a run stops there with ``NotFinite``.
"""

from __future__ import annotations

from functools import partial

from polhode.arguments import in_unit, number, words
from polhode.bodies.body import POINT
from polhode.errors import answering
from polhode.loads.gravity import attraction
from polhode.loads.load import made
from polhode.surroundings.planets import ground_of
from polhode.systems.builders import BY_MU, assembled, bodies_of, given_of
from polhode.systems.controllers import Controllers
from polhode.systems.forces.acting import burns_of, forces_of, loads_of, mass_at, masses_of
from polhode.systems.record import IDENTITY, System


@answering
@words.described_by(given_of)
def orbit(
    mu: words.GravitationalParameter,
    mass: words.Masses = 1.0,
    forces: words.Forces = (),
    surface: words.Length | None = None,
    force: words.Function | None = None,
    potential: words.Function | None = None,
    parameters: words.Numbers | None = None,
    work: bool = True,
    states: words.States | None = None,
    controllers: Controllers = (),
    reported_energy: words.Function | None = None,
    loads: words.Loads = (),
) -> System:
    """A point mass, or several, that orbit a centre at the origin.

    Parameters
    ----------
    mu : float
        Gravitational constant times mass of the centre, positive; an astropy quantity is converted to SI.
    mass : float or array_like (N,)
        Mass of the point before all burns, or of N points that do not act on each other; an astropy quantity is
        converted to SI.
    forces : sequence of Force
        From ``polhode.forces``, or mappings of their arguments with a ``kind``.
    surface : float, optional
        Radius of the central body: a run ends where the point descends to it, with the event "impact". By default the
        mean radius of the body of ``polhode.planets`` whose ``mu`` this is (within 1e-4, in metres or kilometres); a
        run that starts below that radius does not look for it. 0 for no surface.
    force : function, optional
        ``force(t, position, velocity, parameters) -> (x, y, z)`` in the space frame, added to the others; one point.
    potential : function, optional
        ``potential(t, position, parameters) -> float``, added to the others. Its negative gradient is added to the
        forces, exact where it can be traced, else by differences of order 6 (error 1e-13 if smooth).
    reported_energy : function, optional
        ``reported_energy(t, position, parameters) -> float``: the potential that ``force`` has by what you know. It is
        added to the reported energy and moves nothing, and the work of ``force`` is not recorded.

    Raises
    ------
    InvalidInput
        Names the invalid argument, and a force by its number; burns that would use up all of the mass.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.orbit(3.986004415e14, forces=[ph.forces.zonal(J2=1.0826e-3, radius=6378136.3)])
    >>> craft.conserves
    ('energy', 'vertical_angular_momentum')
    >>> ds = ph.integrate(craft, step=60.0, t_end=6000.0, position=(7.078e6, 0, 0), velocity=(0, -1.04e3, 7.43e3))
    >>> (ds.position[-1].values / 1e3).round()
    array([7051.,  -78.,  613.])
    """
    mass = in_unit(mass, "kg", "mass")
    surface = None if surface is None else number(surface, "surface", "m")
    mu, masses = number(mu, "mu", "m**3 / s**2", positive=True), masses_of(mass)
    functions = {"force": force, "potential": potential, "reported_energy": reported_energy}
    given = given_of(functions, "position", parameters, states, controllers, loads, work)
    found, N = forces_of(forces), len(masses)
    burns = burns_of(found, mu, masses)
    return assembled(
        "orbit",
        bodies_of(masses, [(POINT, IDENTITY)] * N),
        [made(attraction, "central", mu=mu), *loads_of(found, masses[0], burns)],
        {"mu": mu, "mass": mass, "forces": found, "surface": surface},
        given, how={"in_turn": True},
        mass_at=partial(mass_at, masses[0], burns) if burns else None,
        ground=ground_of(surface, mu, N), direct=BY_MU,
    )  # fmt: skip
