"""Point masses that attract each other.

    p_i' = m_i sum_j mu_j (r_j - r_i) / |r_j - r_i|^3,     r_i' = p_i / m_i,     mu_i = G m_i

Conserved: energy, total momentum (so the centre of mass moves uniformly), total angular momentum about the origin. The
force of each pair is evaluated once and applied to both with opposite signs.

A test particle has mu = 0: it is attracted and attracts nothing. Its momentum is that of a mass ``TEST_MASS`` times the
largest one, so that neither it nor its energy is seen in what all bodies conserve together.

Where one body outweighs the others, these orbit it, and ``METHOD/kepler`` takes steps of the size of their mutual
disturbances: body i moves about the centre of mass of those before it, c_i = r_i - R_(i-1) (Jacobi coordinates), and
kicks are by the forces less this motion's [wisdom1991]. The numbering matters: the heaviest first, then outwards.

At a collision the loads are not finite, and the run stops with ``NotFinite``; in close encounters fixed steps lose
accuracy.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.arguments import has_quantity, number, numbers
from polhode.arguments.recorded import plain
from polhode.arguments.words import Numbers
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.systems.between_orbits import between_orbits, commutator_between_orbits, memory_of, tables
from polhode.systems.record import IDENTITY, System

SMALLEST = 1e-100
"""Smallest mass and gravity parameter of a body; the largest is its inverse."""
TEST_MASS = 2.0**-100
"""Mass of a test particle, over the largest."""

# parameters: mu of each body; from N, of the first i + 1 bodies together; from 2 N, the body's share of that; from 3 N,
# G, or 0 of a test particle; from 4 N, the tables of ``between_orbits``, and its scratch memory


@inlined
def pulls(i, j, N, bodies, parameters):
    """What the pair attracts body i with and what body j, as forces times the square of their distance."""
    masses = bodies[L.CONSTANTS * i + L.MASS] * bodies[L.CONSTANTS * j + L.MASS]
    return parameters[3 * N + j] * masses, parameters[3 * N + i] * masses


@inlined
def both_test(i, j, N, parameters):
    """Whether both are test particles. A program traced from the loads is that of these, for any masses."""
    return parameters[3 * N + i] == 0.0 and parameters[3 * N + j] == 0.0


@inlined
def inverse_cube(square):
    """The power -3/2."""
    return 1.0 / (square * sqrt(square))


@inlined
def add_pair(i, j, on_i, on_j, w, out):
    """Add on_i w to the force on body i and -on_j w to that on body j."""
    put3(out, L.LOAD * i, axpy(on_i, w, get3(out, L.LOAD * i)))
    put3(out, L.LOAD * j, axpy(-on_j, w, get3(out, L.LOAD * j)))


def gravity_loads(part, t, N, y, bodies, parameters, out):
    """Forces of all pairs, under WITHOUT_SOLVED what is left beside the orbits in Jacobi coordinates; under COMMUTATOR
    the pair sums of 2 mu_i m_j D(d) (a_j - a_i), with D the derivative of d / |d|^3."""
    if N == 2 and part in (L.WITHOUT_SOLVED, L.COMMUTATOR_OF_REST):
        for k in range(2 * L.LOAD):
            out[k] = 0.0
        return
    if part == L.COMMUTATOR_OF_REST:
        commutator_between_orbits(N, y, bodies, parameters, out)
        return
    if part == L.WITHOUT_SOLVED:
        between_orbits(N, y, bodies, parameters, out)
        return
    for i in range(N):
        put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
    for i in range(N):
        for j in range(i):
            if both_test(i, j, N, parameters):
                continue
            on_i, on_j = pulls(i, j, N, bodies, parameters)
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            k = inverse_cube(dot(d, d))
            add_pair(i, j, k * on_i, k * on_j, d, out)
    if part == L.COMMUTATOR:
        # The slots of the torques hold the accelerations until the pairs are done.
        for i in range(N):
            put3(out, L.LOAD * i + 3, scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(out, L.LOAD * i)))
            put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        for i in range(N):
            for j in range(i):
                if both_test(i, j, N, parameters):
                    continue
                on_i, on_j = pulls(i, j, N, bodies, parameters)
                d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
                w = axpy(-1.0, get3(out, L.LOAD * i + 3), get3(out, L.LOAD * j + 3))
                square = dot(d, d)
                k = 2.0 * inverse_cube(square)
                add_pair(i, j, k * on_i, k * on_j, axpy(-3.0 * dot(d, w) / square, d, w), out)
        for i in range(N):
            put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))


def gravity_potential(t, N, y, bodies, parameters):
    """Sum of -G m_i m_j / |d| over all pairs."""
    total = 0.0
    for i in range(N):
        for j in range(i):
            if both_test(i, j, N, parameters):
                continue
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            total -= parameters[i] * bodies[L.CONSTANTS * j + L.MASS] / sqrt(dot(d, d))
    return total


@answering
def gravitating_bodies(mu: Numbers | None = None, mass: Numbers | None = None, G: float | None = None) -> System:
    """Point masses that attract each other.

    Parameters
    ----------
    mu : array_like (N,), optional
        Gravitational constant times mass of each body, N >= 2. The first is positive, as is another; the rest may be
        zero (test particles, which attract nothing). Give this or ``mass``. For a method with ``/kepler`` the star
        comes first, then planets outwards, a test particle where its orbit belongs.
    mass : array_like (N,), optional
        Mass of each body, likewise. A test particle's momentum counts 2^-100 of the largest mass for its own.
    G : float
        Gravitational constant, positive, by default 1; the paths depend only on ``mu``. If the others are astropy
        quantities it must be given, in SI or as a quantity.

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        Names the invalid argument.

    Examples
    --------
    >>> gravitating_bodies(mu=(1.0, 1.0, 1.0)).conserves
    ('energy', 'total_momentum', 'total_angular_momentum')
    """
    if (mu is None) == (mass is None):
        raise InvalidInput("give either mu or mass of the bodies, the one or the other")
    if G is None and has_quantity(mass if mu is None else mu):
        raise InvalidInput(f"{'mass' if mu is None else 'mu'} is a quantity, but G is not given, which is 1 by "
                           "default; give it in SI too, 6.6743e-11")  # fmt: skip
    G = number(1.0 if G is None else G, "G", "m**3 / (kg * s**2)", positive=True)
    name, given = ("mu", mu) if mass is None else ("mass", mass)
    values = numbers(given, name, "m**3 / s**2" if mass is None else "kg")
    if len(values) < 2:
        raise InvalidInput(f"{name} must be a flat sequence of two or more numbers, not {shown(given)}")
    for i, value in enumerate(values):
        if i == 0 and value == 0.0:
            raise InvalidInput(f"{name}[0] is 0, but the first body must attract; number the test particles behind it")
        if value != 0.0:
            number(value, f"{name}[{i}]", positive=True)
    if not values[1:].any():
        raise InvalidInput(f"{name} is zero but for the first body; let another attract, or take orbit(mu, mass)")
    N = len(values)
    with np.errstate(over="ignore"):
        mu, masses = (values, values / G) if mass is None else (G * values, values)
    for one, sizes in (("mu", mu), ("mass", masses)):
        if not (sizes[sizes > 0.0] > SMALLEST).all() or sizes.max() > 1.0 / SMALLEST:
            raise InvalidInput(
                f"{one} of the bodies is {sizes.tolist()}, with G = {G:g}; beyond {SMALLEST:g} to {1.0 / SMALLEST:g} "
                "digits are lost: take other units, and 0 for a test particle"
            )
    together = np.cumsum(mu)
    return System(
        name="gravitating_bodies",
        arguments={name: plain(values), "G": G},
        mass=np.where(masses > 0.0, masses, TEST_MASS * masses.max()),
        moments=np.full((N, 3), np.inf),
        frames=np.array([IDENTITY] * N),
        loads=gravity_loads,
        potential=gravity_potential,
        commutator=gravity_loads,
        provides={"velocity_independent", "mutual_gravity"},
        parameters=np.concatenate([mu, together, mu / together, np.where(mu > 0.0, G, 0.0), tables(mu)]),
        memory=memory_of(N),
        conserves=("energy", "total_momentum", "total_angular_momentum"),
    )
