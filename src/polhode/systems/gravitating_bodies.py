"""Point masses that attract each other.

    p_i' = G sum_j m_i m_j (r_j - r_i) / |r_j - r_i|^3,     r_i' = p_i / m_i,     mu_i = G m_i

Conserved: energy, total momentum (so the centre of mass moves uniformly), total angular momentum about the origin. The
force of each pair is evaluated once and applied to both with opposite signs.

At a collision the loads are not finite, and the run stops with ``NotFinite``; in close encounters fixed steps lose
accuracy.
"""

from __future__ import annotations

import numpy as np

from polhode.algebra.so3 import add, axpy, dot, scale
from polhode.arguments import has_quantity, number, numbers
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.systems.record import IDENTITY, System, plain
from polhode.systems.words import Numbers

# parameters: mu of each body


def gravity_loads(part, t, N, y, bodies, parameters, out):
    """Forces of all pairs; under COMMUTATOR the pair sums of 2 mu_i m_j D(d) (a_j - a_i), with D the derivative of
    d / |d|^3."""
    for i in range(N):
        put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
    for i in range(N):
        for j in range(i):
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            square = dot(d, d)
            F = scale(parameters[i] * bodies[L.CONSTANTS * j + L.MASS] / (square * np.sqrt(square)), d)
            put3(out, L.LOAD * i, add(get3(out, L.LOAD * i), F))
            put3(out, L.LOAD * j, axpy(-1.0, F, get3(out, L.LOAD * j)))
    if part == L.COMMUTATOR:
        # The slots of the torques hold the accelerations until the pairs are done.
        for i in range(N):
            put3(out, L.LOAD * i + 3, scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(out, L.LOAD * i)))
            put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        for i in range(N):
            for j in range(i):
                d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
                w = axpy(-1.0, get3(out, L.LOAD * i + 3), get3(out, L.LOAD * j + 3))
                square = dot(d, d)
                k = 2.0 * parameters[i] * bodies[L.CONSTANTS * j + L.MASS] / (square * np.sqrt(square))
                G = scale(k, axpy(-3.0 * dot(d, w) / square, d, w))
                put3(out, L.LOAD * i, add(get3(out, L.LOAD * i), G))
                put3(out, L.LOAD * j, axpy(-1.0, G, get3(out, L.LOAD * j)))
        for i in range(N):
            put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))


def gravity_potential(t, N, y, bodies, parameters):
    """Sum of -G m_i m_j / |d| over all pairs."""
    total = 0.0
    for i in range(N):
        for j in range(i):
            d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
            total -= parameters[i] * bodies[L.CONSTANTS * j + L.MASS] / np.sqrt(dot(d, d))
    return total


@answering
def gravitating_bodies(mu: Numbers | None = None, mass: Numbers | None = None, G: float | None = None) -> System:
    """Point masses that attract each other.

    Parameters
    ----------
    mu : array_like (N,), optional
        Gravitational constant times mass of each body, N >= 2, positive. Give this or ``mass``.
    mass : array_like (N,), optional
        Mass of each body, N >= 2, positive.
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
        number(value, f"{name}[{i}]", positive=True)
    N = len(values)
    return System(
        name="gravitating_bodies",
        arguments={name: plain(values), "G": G},
        mass=values / G if mass is None else values,
        moments=np.full((N, 3), np.inf),
        frames=np.array([IDENTITY] * N),
        loads=gravity_loads,
        potential=gravity_potential,
        commutator=gravity_loads,
        provides={"velocity_independent"},
        parameters=values if mass is None else G * values,
        conserves=("energy", "total_momentum", "total_angular_momentum"),
    )
