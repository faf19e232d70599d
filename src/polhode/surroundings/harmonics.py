"""Gravity by spherical harmonics of any degree and order, beyond that of a point: a field as kernels read it."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.arguments import number, text, whole
from polhode.arguments.recorded import plain
from polhode.errors import InvalidInput, naming
from polhode.kernel.access import get3, in_kernels
from polhode.kernel.jit import helper, inlined
from polhode.surroundings.earth_axes import equator, oriented
from polhode.surroundings.gravity_fields import gravity_field_of

# Numbers: two unit vectors of the equator and the pole, the first from where angles are measured; rotation rate and
# angle at time 0; gravity parameter and radius of the field; degree; order; then, column by column of the order m, from
# n = m on: C, S (normalised; zero below degree 2) and the factors of the recursion.
POLE, RATE, ANGLE, MU, RADIUS, DEGREE, ORDER, FIRST = 6, 9, 10, 11, 12, 13, 14, 15
TERM = 4
"""Numbers of a coefficient."""


@inlined
def of_the_body(p, at, t, r):
    """Components of r along the axes of the rotating body."""
    angle = p[at + RATE] * t + p[at + ANGLE]
    c, s = np.cos(angle), np.sin(angle)
    x, y = dot(get3(p, at), r), dot(get3(p, at + 3), r)
    return (c * x + s * y, c * y - s * x, dot(get3(p, at + POLE), r))


@inlined
def of_space(p, at, t, a):
    """A vector of the rotating body in the axes of space."""
    angle = p[at + RATE] * t + p[at + ANGLE]
    c, s = np.cos(angle), np.sin(angle)
    x = axpy(c * a[0] - s * a[1], get3(p, at), scale(s * a[0] + c * a[1], get3(p, at + 3)))
    return add(x, scale(a[2], get3(p, at + POLE)))


@helper
def columns(p, at, e, ratio):
    """Sums over all degrees and orders at the unit vector e, ratio being radius over distance.

    The potential is -mu/r times the first number; the others are the sums a1 to a4 of Pines, so that the acceleration
    is mu/r^2 ((a1, a2, a3) + a4 e). Derivatives of the normalised Legendre functions by the sine of the latitude, each
    over the power of its cosine, are found degree by degree; the powers of the cosine are in (e_x + i e_y)^m, which has
    no singular place [pines1973], [fantino2009].
    """
    degree, order = in_kernels(int(p[at + DEGREE])), int(p[at + ORDER])
    u = e[2]
    level = a1 = a2 = a3 = a4 = 0.0
    diagonal, k = 1.0, at + FIRST
    real, imaginary = 1.0, 0.0  # (e_x + i e_y)^m ratio^m, and the same of m - 1 times ratio
    before_real, before_imaginary = 0.0, 0.0
    for m in range(order + 1):
        now, past, slope, past_slope = diagonal, 0.0, 0.0, 0.0
        C = S = C1 = S1 = Cn = Sn = 0.0
        power = 1.0
        for n in range(m, degree + 1):
            if n > m:
                f, g = p[k + 2], p[k + 3]
                after = f * u * now - g * past
                after_slope = f * (now + u * slope) - g * past_slope
                past, now, past_slope, slope = now, after, slope, after_slope
                power *= ratio
            c, s = p[k] * power, p[k + 1] * power
            C += c * now
            S += s * now
            C1 += c * slope
            S1 += s * slope
            Cn += (n + m + 1) * c * now
            Sn += (n + m + 1) * s * now
            k += TERM
        level += C * real + S * imaginary
        a1 += m * (C * before_real + S * before_imaginary)
        a2 += m * (S * before_real - C * before_imaginary)
        along = C1 * real + S1 * imaginary
        a3 += along
        a4 -= Cn * real + Sn * imaginary + u * along
        diagonal *= np.sqrt(3.0) if m == 0 else np.sqrt((2.0 * m + 3.0) / (2.0 * m + 2.0))
        before_real, before_imaginary = ratio * real, ratio * imaginary
        real, imaginary = (
            ratio * (real * e[0] - imaginary * e[1]), ratio * (real * e[1] + imaginary * e[0]),
        )  # fmt: skip
    return level, a1, a2, a3, a4


@helper
def pulled(p, at, t, r):
    """mu / r^2 ((a1, a2, a3) + a4 r / |r|), in the axes of space."""
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, of_the_body(p, at, t, r))
    _, a1, a2, a3, a4 = columns(p, at, e, p[at + RADIUS] / size)
    return of_space(p, at, t, scale(p[at + MU] / (size * size), axpy(a4, e, (a1, a2, a3))))


@helper
def gravity_of_harmonics(p, at, t, r):
    """-mu / r sum (R/r)^n P_nm (C cos m lambda + S sin m lambda) from degree 2 on, per unit mass."""
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, of_the_body(p, at, t, r))
    level, _, _, _, _ = columns(p, at, e, p[at + RADIUS] / size)
    return -p[at + MU] / size * level


@helper
def slopes_of_harmonics(p, at, t, r):
    """Derivatives of the potential by the time and by the coordinates."""
    a = pulled(p, at, t, r)
    return (p[at + RATE] * dot(a, cross(get3(p, at + POLE), r)), -a[0], -a[1], -a[2])


def factors(n: int, m: int) -> tuple[float, float]:
    """Those of the recursion by degrees: A_n = f u A_(n-1) - g A_(n-2), of normalised functions."""
    if n <= m:
        return 0.0, 0.0
    f = sqrt((2 * n + 1) * (2 * n - 1) / ((n - m) * (n + m)))
    if n == m + 1:
        return f, 0.0
    return f, sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((2 * n - 3) * (n - m) * (n + m)))


class Harmonics(NamedTuple):
    """A field as kernels read it."""

    name: str  # of the field
    arguments: dict[str, Any]  # what it is made from, in JSON types
    numbers: tuple[float, ...]  # what the kernels read
    mu: float  # gravity parameter
    still: bool  # whether it stays as it is


def harmonics_of(
    field: Any, degree: Any, order: Any, rotation: Any, angle: Any, axis: Any, orientation: Any, digest: Any
) -> Harmonics:
    """A field from the arguments of ``forces.gravity_field``."""
    with naming(source="field"):
        given = gravity_field_of(field, text(digest, "digest"))
    top = given.degree if degree is None else whole(degree, "degree", 2)
    if top > given.degree:
        raise InvalidInput(
            f"degree is {top}, but {given.name} has {given.degree}; ask for less, or give a larger field"
        )
    most = top if order is None else whole(order, "order", 0)
    if most > top:
        raise InvalidInput(f"order is {most}, more than the degree {top}; it is at most the degree")
    rate = given.rotation if rotation is None else number(rotation, "rotation", "rad / s")
    zonal = most == 0 or not (given.C[: top + 1, 1 : most + 1].any() or given.S[: top + 1, 1 : most + 1].any())
    if rate is None:
        if not zonal:
            raise InvalidInput("rotation is missing; give the rate of the body, rad / time (0 if it does not turn)")
        rate = 0.0
    k, start = oriented(orientation, axis, angle)
    numbers = [*np.concatenate(equator(k)), 0.0 if zonal else rate, start, given.mu, given.radius]
    numbers += [float(top), float(most)]
    for m in range(most + 1):
        for n in range(m, top + 1):
            numbers += [given.C[n, m], given.S[n, m], *factors(n, m)]
    arguments = {"field": given.source, "degree": top, "order": most, "rotation": rate, "angle": start,
                 "axis": plain(axis) if orientation is None else plain(k)}  # fmt: skip
    named = arguments | ({"digest": given.recorded} if given.recorded else {})
    still = zonal or rate == 0.0
    return Harmonics(given.name, named, tuple(map(float, numbers)), given.mu, still)
