"""A point mass attracted by a centre at the origin, and further forces.

    p' = -mu mass r / |r|^3 + mass sum a_i(t, r, v),     r' = v = p / mass                 [carson2005, eq. 1]

The accelerations a_i are those of ``polhode.forces``: zonal gravity (J2 to J6), other bodies, drag, sunlight, thrust.
The axes are those of space and do not turn; the centre may be accelerated by other bodies, which ``third_body`` takes
into account. All lengths, times and ``mu`` are of one consistent set: metres and seconds as in ``polhode.planets``, or
kilometres and seconds.

Conserved: energy, where all forces have a potential that does not depend on time; the angular momentum about the centre
of the point without further forces, and its component along z where all forces are symmetric about that axis.

========= ================================================================= ==========================================
parameter meaning                                                           unit
========= ================================================================= ==========================================
mu        gravity constant times mass of the centre, positive               m^3 / s^2 in SI; length^3 / time^2
mass      of the point; its path does not depend on it                      mass
forces    list of what ``polhode.forces`` makes                             -
========= ================================================================= ==========================================

One compiled function serves every combination: it goes along a table of forces in the parameters of the system. At the
centre itself the loads are not finite, and a run stops there with ``NotFinite``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.algebra.so3 import add, dot, scale
from polhode.errors import InvalidInput
from polhode.kernel.access import get3, put3
from polhode.kernel.signatures import (
    ALL,
    COMMUTATOR,
    DISSIPATIVE,
    INVERSE_MASS,
    MASS,
    MOMENTUM,
    POSITION,
)
from polhode.systems.forces import CODES, Force, acceleration_of, force_of, potential_of
from polhode.systems.record import IDENTITY, System, in_si, number

COUNT, ROWS, ROW = 1, 2, 3
"""Parameters: mu; number of forces; rows of code, place of its numbers, 1 where it has a potential; numbers."""


def orbit_loads(part, t, N, y, bodies, parameters, out):
    """Gravity of the centre and the forces of the table, or the part of them that is asked for.

    Without the term that a flow solves, which is the gravity of the point; the forces without potential; or the
    commutator of gravity alone, the gradient of mu^2 mass / r^4.
    """
    r = get3(y, POSITION)
    mu, mass = parameters[0], bodies[MASS]
    square = dot(r, r)
    a = (0.0, 0.0, 0.0)
    if part == ALL:
        a = scale(-mu / (square * np.sqrt(square)), r)
    elif part == COMMUTATOR:
        a = scale(-4.0 * mu * mu / (square * square * square), r)
    if part != COMMUTATOR:
        v = scale(bodies[INVERSE_MASS], get3(y, MOMENTUM))
        for k in range(int(parameters[COUNT])):
            row = ROWS + ROW * k
            if part != DISSIPATIVE or parameters[row + 2] == 0.0:
                a = add(a, acceleration_of(int(parameters[row]), parameters, int(parameters[row + 1]), mu, t, r, v))
    put3(out, 0, scale(mass, a))
    put3(out, 3, (0.0, 0.0, 0.0))


def orbit_potential(t, N, y, bodies, parameters):
    """Potential of the centre and of the forces that have one."""
    r = get3(y, POSITION)
    mu = parameters[0]
    total = -mu / np.sqrt(dot(r, r))
    for k in range(int(parameters[COUNT])):
        row = ROWS + ROW * k
        if parameters[row + 2] != 0.0:
            total += potential_of(int(parameters[row]), parameters, int(parameters[row + 1]), mu, t, r)
    return bodies[MASS] * total


def orbit(mu: float, mass: float = 1.0, forces: Sequence[Any] = ()) -> System:
    """A point mass that orbits a centre at the origin.

    Parameters
    ----------
    mu : float
        Gravity constant times mass of the centre, positive; an astropy quantity is turned into SI.
    mass : float
        Mass of the point; an astropy quantity is turned into SI.
    forces : sequence of Force
        From ``polhode.forces``, or their arguments as mappings with a ``kind``.

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        Naming the argument, and the force by its number, that is wrong.

    Examples
    --------
    >>> from polhode.systems.forces import zonal
    >>> orbit(3.986004415e14, forces=[zonal(J2=1.0826e-3, radius=6378136.3)]).conserves
    ('energy', 'vertical_angular_momentum')
    """
    mu, mass = in_si(mu, "m3 / s2", "mu"), in_si(mass, "kg", "mass")
    mu, mass = number(mu, "mu", positive=True), number(mass, "mass", positive=True)
    made = _made(forces)
    place = ROWS + ROW * len(made)
    rows: list[float] = []
    for force in made:
        rows += [float(CODES[force.kind]), float(place), float(force.conservative)]
        place += len(force.numbers)
    parameters = np.array([mu, float(len(made)), *rows, *(x for force in made for x in force.numbers)])
    conserves: tuple[str, ...] = ()
    if all(force.conservative and force.autonomous for force in made):
        conserves += ("energy",)
    if all(force.axial for force in made):
        conserves += ("vertical_angular_momentum" if made else "angular_momentum_space",)
    reads = any(force.velocity_dependent for force in made)
    jumps = any(force.kind == "thrust" and not force.autonomous for force in made)
    return System(
        name="orbit",
        arguments={"mu": mu, "mass": mass, "forces": [dict(force.arguments) for force in made]},
        mass=np.array([mass]),
        moments=np.full((1, 3), np.inf),
        frames=np.array([IDENTITY]),
        loads=orbit_loads,
        potential=orbit_potential,
        commutator=None if made else orbit_loads,
        velocity_dependent=reads,
        parameters=parameters,
        attracted=True,
        conserves=conserves,
        recommended="mkrk:gauss8" if reads and jumps else "",  # other methods see a jump at the end of their steps
    )


def _made(forces: Any) -> list[Force]:
    """The forces as records; what is wrong with one is told with its number."""
    if isinstance(forces, Force):
        return [forces]
    if not isinstance(forces, Sequence) or isinstance(forces, str):
        raise InvalidInput(f"forces must be a list of what polhode.forces makes, not {forces!r}")
    made = []
    for k, force in enumerate(forces):
        try:
            made.append(force_of(force))
        except InvalidInput as refused:
            raise InvalidInput(f"forces[{k}]: {refused}") from None
    return made
