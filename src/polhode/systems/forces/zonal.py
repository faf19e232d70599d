"""Zonal gravity, J2 to J6."""

from __future__ import annotations

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.arguments import number, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Length, Vector
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import get3
from polhode.kernel.jit import inlined
from polhode.systems.forces.record import Force

RADIUS, DEGREE, FIRST = 3, 4, 5
"""Indices among the numbers, behind the axis: radius, highest degree n, J_2."""


@inlined
def axis_of(p, at):
    """The axis. Whether it is z is asked for the sake of programs, in which what is zero then costs nothing."""
    if p[at] == 0.0 and p[at + 1] == 0.0:
        return (0.0, 0.0, p[at + 2])
    return get3(p, at)


def zonal_acceleration(p, at, mu, t, r, v):
    """mu / r^2 sum J_n (R/r)^n (P'_n+1 r/|r| - P'_n k), derivatives of Legendre's polynomials by their recursion."""
    k = axis_of(p, at)
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, r)
    s = dot(e, k)
    ratio = p[at + RADIUS] / size
    power = ratio * ratio
    before, now = 1.0, 3.0 * s
    along = across = 0.0
    for n in range(2, int(p[at + DEGREE]) + 1):
        after = ((2 * n + 1) * s * now - (n + 1) * before) / n
        J = p[at + FIRST - 2 + n] * power
        along += J * after
        across += J * now
        before, now = now, after
        power *= ratio
    w = mu / (size * size)
    return axpy(w * along, e, scale(-w * across, k))


def zonal_potential(p, at, mu, t, r):
    """mu / r sum J_n (R/r)^n P_n, per unit mass."""
    size = np.sqrt(dot(r, r))
    s = dot(r, axis_of(p, at)) / size
    ratio = p[at + RADIUS] / size
    power = ratio * ratio
    before, now = s, 1.5 * s * s - 0.5
    total = 0.0
    for n in range(2, int(p[at + DEGREE]) + 1):
        total += p[at + FIRST - 2 + n] * power * now
        before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
        power *= ratio
    return mu / size * total


@answering
def zonal(
    *,
    radius: Length,
    J2: float = 0.0,
    J3: float = 0.0,
    J4: float = 0.0,
    J5: float = 0.0,
    J6: float = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
) -> Force:
    """Zonal gravity: the field of a centre that is symmetric about an axis but not spherical.

    Parameters
    ----------
    radius : float
        Reference radius R of the coefficients, length.
    J2, J3, J4, J5, J6 : float
        Zonal coefficients, unnormalised: the potential per unit mass is ``mu / r sum J_n (R / r)^n P_n``, in addition
        to ``-mu / r``. An oblate body has a positive J2.
    axis : array_like (3,)
        Axis of symmetry towards the north pole, space frame.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    coefficients = [number(value, f"J{n}") for n, value in enumerate((J2, J3, J4, J5, J6), 2)]
    if not any(coefficients):
        raise InvalidInput("J2 to J6 are all zero; give at least one of them, or leave this force out")
    top = max(n for n, J in enumerate(coefficients, 2) if J)
    k = unit_vector(axis, "axis")
    arguments = {f"J{n}": J for n, J in enumerate(coefficients, 2) if J} | {
        "radius": number(radius, "radius", "m", positive=True),
        "axis": plain(axis),
    }
    return Force(
        "zonal",
        f"zonal gravity up to degree {top}",
        arguments,
        (*k, arguments["radius"], float(top), *coefficients[: top - 1]),
        zonal_acceleration,
        zonal_potential,
        axial=not (k[0] or k[1]),
    )
