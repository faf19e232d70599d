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

from typing import Annotated, Any

import numpy as np

from polhode.arguments import has_quantity, number, numbers
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Loads, Numbers
from polhode.errors import InvalidInput, answering, shown
from polhode.systems.gravitation import attracting, numbers_of
from polhode.systems.record import IDENTITY, System
from polhode.systems.sum import with_loads

SMALLEST = 1e-100  # smallest mass and gravity parameter of a body; the largest is its inverse
TEST_MASS = 2.0**-100  # mass of a test particle, over the largest


@answering
def gravitating_bodies(
    mu: Numbers | None = None,
    mass: Numbers | None = None,
    G: float | None = None,
    loads: Loads = (),
    names: Annotated[Any, Form.WORDS] = (),
) -> System:
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
    loads : sequence of Load
        What acts besides, from ``polhode.loads``: drag on one of them, the oblateness of another, a planet's migration.
        Methods with ``/kepler`` follow the same orbits, and have these loads in their kicks. A test particle has the
        mass that its momentum says, so that a load of one is an acceleration or in proportion to ``body.mass``.
    names : str or sequence of str, optional
        Of the bodies, by which loads, starts and results know them; with loads by default body0, body1, ...

    Examples
    --------
    >>> import polhode as ph
    >>> stars = ph.gravitating_bodies(mu=(1.0, 1.0, 1.0))
    >>> stars.conserves
    ('energy', 'total_momentum', 'total_angular_momentum')
    >>> start = {"position": [(1, 0, 0), (-1, 0, 0), (0, 5, 0)], "velocity": [(0, 0.5, 0), (0, -0.5, 0), (0.3, 0, 0)]}
    >>> bool(abs(ph.integrate(stars, step=0.01, steps=200, start=start).energy_error).max() < 1e-6)
    True
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
    together = np.where(masses > 0.0, masses, TEST_MASS * masses.max())
    numbers_of_all = numbers_of(mu, np.where(mu > 0.0, G, 0.0))
    points, frames = np.full((N, 3), np.inf), np.array([IDENTITY] * N)
    return with_loads(attracting({name: plain(values), "G": G}, together, points, frames, numbers_of_all), loads, names)
