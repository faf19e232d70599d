"""A point mass attracted by a centre at the origin, and further forces.

    p' = -mu mass r / |r|^3 + mass sum a_i(t, r, v),     r' = v = p / mass                 [carson2005, eq. 1]

The accelerations a_i are those of ``polhode.forces``: zonal gravity (J2 to J6), other bodies, drag, sunlight, thrust.
The axes are those of space and do not turn; the centre may be accelerated by other bodies, which ``third_body`` takes
into account. All lengths, times and ``mu`` are of one consistent set: metres and seconds as in ``polhode.planets``, or
kilometres and seconds.

Where burns use up mass, everything counts for the mass at the start: ``mass`` above, loads, momentum and energies.

The energy changes by the works: of each force without potential, the integral of its power; of a potential that changes
in time (another body that moves), that of its partial derivative in time. They are numbers of the system's own, and the
``energy_error`` of a Dataset is the change of the energy less all of them.

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
from functools import partial
from typing import Any

import numpy as np

from polhode.algebra.so3 import add, dot, scale
from polhode.errors import InvalidInput
from polhode.kernel.access import get3, put3
from polhode.kernel.signatures import (
    ATTRACTION,
    COMMUTATOR,
    INVERSE_MASS,
    LOAD,
    MASS,
    MOMENTUM,
    MOVING,
    POSITION,
    POTENTIAL_PART,
    RESTING,
)
from polhode.systems.events import ALTITUDE, CYLINDER, PENUMBRA, WITHIN
from polhode.systems.forces import (
    CODES,
    FIRING,
    FRAMES,
    LIT,
    RADIATION,
    SHADOWS,
    THRUST,
    Force,
    Impulse,
    acceleration_of,
    force_of,
    mass_share,
    potential_of,
    potential_rate_of,
)
from polhode.systems.record import IDENTITY, Own, Switch, System, Watch, in_si, number

COUNT, ROWS, ROW = 1, 2, 5
"""Parameters: mu; number of forces; rows of code, place of its numbers, the part it belongs to, which of the own
numbers is its work or -1, and the place of the burns where it acts on a mass that falls, else 0; numbers; burns."""


def orbit_loads(part, t, N, y, bodies, parameters, out):
    """Gravity of the centre and the forces of the table, or the parts of them that are asked for.

    Of the commutator, that of gravity alone, the gradient of mu^2 mass / r^4. Behind the load, the rates of the works:
    power of a force, or the partial derivative in time of a potential, of the mass at the start.
    """
    r = get3(y, POSITION)
    mu, mass = parameters[0], bodies[MASS]
    square = dot(r, r)
    a = (0.0, 0.0, 0.0)
    if part == COMMUTATOR:
        a = scale(-4.0 * mu * mu / (square * square * square), r)
    elif part & ATTRACTION != 0:
        a = scale(-mu / (square * np.sqrt(square)), r)
    if part != COMMUTATOR:
        v = scale(bodies[INVERSE_MASS], get3(y, MOMENTUM))
        for k in range(int(parameters[COUNT])):
            row = ROWS + ROW * k
            code, at, kind = int(parameters[row]), int(parameters[row + 1]), int(parameters[row + 2])
            own, burns = int(parameters[row + 3]), int(parameters[row + 4])
            wanted = part & kind != 0
            works = own >= 0 and part & (POTENTIAL_PART if kind == POTENTIAL_PART else MOVING) != 0
            rate = 0.0
            if wanted or (works and kind == RESTING):
                b = acceleration_of(code, parameters, at, mu, t, r, v)
                if burns > 0:
                    b = scale(1.0 / mass_share(parameters, burns, t), b)
                if wanted:
                    a = add(a, b)
                if works:
                    rate = potential_rate_of(code, parameters, at, mu, t, r) if kind == POTENTIAL_PART else dot(b, v)
            if own >= 0:
                out[LOAD + own] = mass * rate
    put3(out, 0, scale(mass, a))
    put3(out, 3, (0.0, 0.0, 0.0))


def orbit_potential(t, N, y, bodies, parameters):
    """Potential of the centre and of the forces that have one."""
    r = get3(y, POSITION)
    mu = parameters[0]
    total = -mu / np.sqrt(dot(r, r))
    for k in range(int(parameters[COUNT])):
        row = ROWS + ROW * k
        if parameters[row + 2] == POTENTIAL_PART:
            total += potential_of(int(parameters[row]), parameters, int(parameters[row + 1]), mu, t, r)
    return bodies[MASS] * total


def orbit(mu: float, mass: float = 1.0, forces: Sequence[Any] = (), surface: float | None = None) -> System:
    """A point mass that orbits a centre at the origin.

    Parameters
    ----------
    mu : float
        Gravity constant times mass of the centre, positive; an astropy quantity is turned into SI.
    mass : float
        Mass of the point, before all burns that use it up; an astropy quantity is turned into SI.
    forces : sequence of Force
        From ``polhode.forces``, or their arguments as mappings with a ``kind``.
    surface : float, optional
        Radius of the centre; a run that comes down to it ends there, with the event "impact".

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        Naming the argument, and the force by its number, that is wrong; burns that would use up all of the mass.

    Examples
    --------
    >>> from polhode.systems.forces import zonal
    >>> orbit(3.986004415e14, forces=[zonal(J2=1.0826e-3, radius=6378136.3)]).conserves
    ('energy', 'vertical_angular_momentum')
    """
    mu, mass = in_si(mu, "m3 / s2", "mu"), in_si(mass, "kg", "mass")
    mu, mass = number(mu, "mu", positive=True), number(mass, "mass", positive=True)
    made = _made(forces)
    loads = [force for force in made if force.kind != "impulse"]
    place = ROWS + ROW * len(made)
    burns = _burns(loads, mass)
    end = place + sum(len(force.numbers) for force in loads)
    rows: list[float] = []
    numbers: list[float] = []
    own: list[Own] = []
    switches: list[Switch] = []
    impulses: list[Impulse] = []
    watches: list[Watch] = []
    for k, force in enumerate(made):
        what, at = f"forces[{k}], {force.description}", place + len(numbers)
        falls = bool(burns) and (force.surface or force.flow > 0.0)
        part = POTENTIAL_PART if force.conservative and not falls else MOVING if force.velocity_dependent else RESTING
        works = part != POTENTIAL_PART or not force.autonomous
        if force.kind == "impulse":
            t, x, y, z, frame = force.numbers
            impulses.append(Impulse(t, (x, y, z), FRAMES[int(frame)], len(own), what))
            rows += [0, at, 0, len(own), 0]  # of no part: its work does not grow but jumps
        else:
            rows += [CODES[force.kind], at, part, len(own) if works else -1, end if falls else 0]
            first, *others = force.numbers
            numbers += [first / mass if force.flow > 0.0 else first, *others]
            if CODES[force.kind] == THRUST and not force.autonomous:
                switches.append(Switch(at + FIRING, force.numbers[5], force.numbers[6], what))
            elif CODES[force.kind] == RADIATION:
                watches += _edges(force, at)
        if works:
            alike = [n for n, other in enumerate(made) if other.kind == force.kind]
            label = f"{force.kind} {alike.index(k) + 1}" if len(alike) > 1 else force.kind
            own.append(Own("work", label, part != POTENTIAL_PART and force.kind != "impulse"))
    table = [len(burns), *(x for burn in burns for x in burn)]
    parameters = np.array([mu, len(made), *rows, *numbers, *table], dtype=float)
    conserves: tuple[str, ...] = ()
    if not own:
        conserves += ("energy",)
    if all(force.axial for force in made):
        conserves += ("vertical_angular_momentum" if made else "angular_momentum_space",)
    arguments: dict[str, Any] = {"mu": mu, "mass": mass, "forces": [dict(force.arguments) for force in made]}
    if surface is not None:
        arguments["surface"] = number(surface, "surface", positive=True)
        watches.append(Watch(ALTITUDE, (arguments["surface"],), falling="impact", terminal=True))
    return System(
        name="orbit",
        arguments=arguments,
        mass=np.array([mass]),
        moments=np.full((1, 3), np.inf),
        frames=np.array([IDENTITY]),
        loads=orbit_loads,
        potential=orbit_potential,
        commutator=None if loads else orbit_loads,
        velocity_dependent=any(force.velocity_dependent for force in made),
        divided=True,
        own=tuple(own),
        mass_at=partial(_mass_at, mass, burns) if burns else None,
        parameters=parameters,
        attracted=True,
        central=not made,
        conserves=conserves,
        switches=tuple(switches),
        impulses=tuple(impulses),
        watches=tuple(watches),
    )


def _burns(made: Sequence[Force], mass: float) -> list[tuple[float, float, float]]:
    """Begin, end and share of the mass used up in a unit of time of every burn."""
    burns = [
        (force.arguments["start"], force.arguments["stop"], force.flow / mass) for force in made if force.flow > 0.0
    ]
    used = sum((end - begin) * share for begin, end, share in burns)
    if not used < 1.0:
        raise InvalidInput(
            f"the burns would use up a mass of {used * mass:g}, but mass is {mass:g}; let them end sooner, or give a "
            "smaller force or a larger mass"
        )
    return burns


def _mass_at(mass: float, burns: Sequence[tuple[float, float, float]], t: Any) -> Any:
    """Mass at times (n,), of shape (n, 1)."""
    t = np.asarray(t, dtype=float)
    used = sum((np.clip(t, begin, end) - begin) * share for begin, end, share in burns)
    return (mass * (1.0 - used))[:, None]


def _edges(force: Force, at: int) -> list[Watch]:
    """Where the light of a force whose numbers begin at ``at`` jumps, or its derivatives do."""
    shadow, radius, sun = int(force.numbers[2]), force.numbers[3], force.numbers[4]
    path = force.numbers[6:]
    if shadow == SHADOWS["cylinder"]:
        return [Watch(CYLINDER, (radius, 0.0, *path), cuts=True, flag=at + LIT)]
    if shadow == SHADOWS["cone"]:
        return [Watch(code, (radius, sun, *path), cuts=True) for code in (PENUMBRA, WITHIN)]
    return []


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
