"""Closed forms of free rotation from the literature, for comparison and for teaching.

Legend, in sorted axes (I1 <= I2 <= I3, momentum m with m1, m3 >= 0, see ``sort``), with the differences of inverse
moments d_jk = 1/I_j - 1/I_k; every sum has non-negative terms:

====== ============================================================================================================
G      length of the momentum; the papers set it to 1, their time is G t, their energy T/G^2
L      d12 m1^2 - d23 m3^2, constant; its sign s is the case. s = +1, case (i), 2 T I2 > G^2: the momentum circles
       axis 1 and (x, y, z) = (m1, m2, m3), (r, w) = (d12, d23). s = -1, case (ii): it circles axis 3, (x, y, z) =
       (m3, m2, m1), (r, w) = (d23, d12). L = 0 is the separatrix, case (iii), treated as case (i). p = d13
M, N   p x^2 + w y^2 and r y^2 + p z^2, constants
motion x = X dn(u), y = Y sn(u), z = Z cn(u), u = u0 + lam t, X^2 = M/p, Y^2 = N/r, Z^2 = N/p, lam^2 = M r, and the
       complementary parameter mc = p |L| / (M r)                                 [celledoni2008, prop. 2.1]
phi    amplitude am(u); f, g the complementary characteristic 1 - n of a third-kind integral and its factor
====== ============================================================================================================

The signs sigma and sigma' of the papers are those of m1 and m3, which ``sort`` makes positive by half turns of the
axes. On the separatrix that gives all four branches, m = (sigma sigma' X sech, tanh, sigma' Z sech); the paper has only
sigma' in the first component.

The attitude is Q(t) = Q0 P(0)^T exp(psi e3) P(t), where P rotates the momentum to e3. Each form has its own P and psi:

``turn_matrix``
    P has the rows m'/|m'|, m x m'/|m x m'|, m/G. psi = 2 T t/G - s |L|/(G lam) [Pi], n = w G^2/M
    [celledoni2008, cor. 2.3]; printed with n to the power 1/2, and with + in case (i), which is right in case (ii).
``turn_kosenko``
    P is the smallest rotation. psi = G t/I3 + p G/lam [Pi] - [atan2(m2, m1)], n = -N/M in case (i)
    [celledoni2008, cor. 2.7]. There the last term is written B13 B31/B21 arctan(B21/B13 sd) times I31/(I1 I3 lam),
    with the wrong sign; the factor is 1 and the arc tangent is this angle. ``kosenko(c3)`` takes another quaternion of
    the same family, with the same psi [celledoni2008, sec. 2.5].
``turn_van_zon``
    P has the first row m x e3/|m x e3|. psi = G t/I3 + p G/lam [Pi] [vanzon2007], [celledoni2008, sec. 2.6]; printed
    with n = -B31^-2 B13^-2 for -B31^2 B13^-2 = -N/M.
``turn_jacobi``
    The momentum by [vilmart2013, alg. 1] as printed, which computes k^2 and covers case (ii) only (case (i) follows by
    exchanging 1 and 3); the attitude as ``turn_kosenko``.

In case (ii) the last three take the same psi with n = 1 - Y^2/Z^2 = -w/r, since axis 3, to which P refers, is then the
axis of dn. [Pi] is the difference of the integral of the third kind between both amplitudes, by Carlson's RF and RJ,
continued over half turns with the complete integral.

All keep Q m and the unit quaternion to round-off at any step, and have no truncation error. Three unpublished choices
avoid loss of digits: L, M, N and mc are computed as sums, never as 1 - 2 T I or 1 - k^2; so is nc = 1 - n, which
matters near the separatrix (n tends to 1 there in ``turn_matrix``); m' is computed with differences of moments. What
remains, measured on 200,000 bodies with h omega <= 1, a fifth each ordinary, rods down to I1 = 1e-8, nearly symmetric,
nearly spherical, and flat, two fifths of the momenta close to an axis:

* ``turn_matrix`` has errors of at most 2e-15, for rods 2e-12 (the conditioning of the data);
* ``turn_kosenko`` and ``turn_van_zon`` multiply the round-off of Pi by p G/lam, which is large close to an axis and for
  rods: 3e-8 at most. ``turn_van_zon`` has no frame where m is along axis 3, ``turn_kosenko`` none along -axis 3, which
  in case (i) is passed closely when I2 and I3 are nearly equal;
* ``turn_jacobi`` computes 1 - k^2 and 1 - c1: 1e-8 close to the unstable axis 2, and no correct digit there for thin
  rods; it returns NOT_FINITE where k rounds to 1 on axis 2;
* the phase u0 is recovered by an integral of the first kind in every step, with a new round-off of 1e-16 u0, which many
  small steps accumulate: after 100,000 steps over t = 40 the momentum of an ordinary body is off by 4e-12, that of
  ``semiexact``, which needs no phase, by 2e-14.

At an equilibrium, and for two equal moments where the momentum does not move, the rotation is uniform.
"""

from __future__ import annotations

import functools
from math import atan2, cos, inf, sin, sqrt
from typing import NamedTuple

from polhode.algebra.elliptic import F_part, Pi_carlson, Pi_complete_kernel, half_turns, jacobi_kernel
from polhode.algebra.quaternion import compose, conjugate, from_matrix, multiply
from polhode.algebra.so3 import add, axpy, columns, cross, dot, exp_quaternion, matrix_product, scale, times
from polhode.flows.invariants import apart, restoring
from polhode.kernel import jit, layout as slots
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import inlined
from polhode.kernel.simd import fused

# Axes in ascending order.


class Axes(NamedTuple):
    """How the principal axes were sorted: exchanges by quarter turns (flags), then half turns (signs)."""

    first: bool
    second: bool
    third: bool
    signs: tuple[float, ...]


@inlined
def exchange_12(v, wanted):
    """v in axes rotated by a quarter turn about axis 3, where ``wanted``."""
    return (v[1], -v[0], v[2]) if wanted else v


@inlined
def exchange_23(v, wanted):
    """v in axes rotated by a quarter turn about axis 1, where ``wanted``."""
    return (v[0], v[2], -v[1]) if wanted else v


@inlined
def sort(m, moments):
    """(m, moments, axes) in right-handed axes with ascending moments, such that m1 and m3 are not negative."""
    a, b, c = moments
    first = a > b
    if first:
        a, b = b, a
    second = b > c
    if second:
        b, c = c, b
    third = a > b
    if third:
        a, b = b, a
    m = exchange_12(exchange_23(exchange_12(m, first), second), third)
    x = -1.0 if m[0] < 0.0 else 1.0
    z = -1.0 if m[2] < 0.0 else 1.0
    signs = (x, x * z, z)
    return times(signs, m), (a, b, c), Axes(first, second, third, signs)


@inlined
def unsort(v, axes):
    """A vector given in the sorted axes, in the principal axes."""
    v = times(axes.signs, v)
    v = (-v[1], v[0], v[2]) if axes.third else v
    v = (v[0], -v[2], v[1]) if axes.second else v
    return (-v[1], v[0], v[2]) if axes.first else v


# The momentum.


class Orbit(NamedTuple):
    """Constants of a free motion, see the legend; ``around_1`` is true for s = +1."""

    around_1: bool
    x: float
    y: float
    z: float
    r: float
    w: float
    p: float
    L: float
    M: float
    N: float


@inlined
def thick(moments):
    """The moments; for a body without thickness, with a moment 0, three equal ones, as it rotates like a sphere."""
    a, b, c = moments
    if min(a, b, c) > 0.0:
        return moments
    most = max(a, b, c)
    return (most, most, most)


@inlined
def orbit_of(m, moments):
    """The constants of the motion of a momentum in sorted axes."""
    a, b, c = moments
    d12, d23, p = (b - a) / (a * b), (c - b) / (b * c), (c - a) / (a * c)
    L = d12 * m[0] * m[0] - d23 * m[2] * m[2]
    around_1 = L > 0.0 or (L == 0.0 and d12 > 0.0)
    x, z = (m[0], m[2]) if around_1 else (m[2], m[0])
    r, w = (d12, d23) if around_1 else (d23, d12)
    y = m[1]
    return Orbit(around_1, x, y, z, r, w, p, abs(L), p * x * x + w * y * y, r * y * y + p * z * z)


@inlined
def stays(o):
    """Whether the momentum does not move: equilibria, spheres, symmetric bodies rotating about their equator."""
    return not (o.M * o.r > 0.0 and o.N > 0.0 and o.x * o.x + o.z * o.z > 1e-280 * o.y * o.y)


class Arc(NamedTuple):
    """The motion in a step: sn, cn at both ends, change of the amplitude, sorted momentum at the end; ``u``: lam h."""

    s0: float
    c0: float
    s1: float
    c1: float
    turned: float
    m: tuple[float, ...]
    u: float
    lam: float
    mc: float


@inlined
def slopes(m, o):
    """Inverse moments minus 2 T/G^2, over p, along (x, y, z), for ``restoring``; and the square of the momentum."""
    square = dot(m, m)
    return scale(1.0 / (o.p * square), (o.N, -o.L, -o.M)), square


@inlined
def by_phase(o, h):
    """The arc from the phase: recover u0, evaluate at u0 + lam h [celledoni2008, prop. 2.1]."""
    lam = sqrt(o.M * o.r)
    mc = min(o.p * o.L / (o.M * o.r), 1.0)
    s0, c0 = o.y * sqrt(o.r / o.N), o.z * sqrt(o.p / o.N)
    u0 = F_part(s0, c0, mc)
    s1, c1, d1, phi1 = jacobi_kernel(u0 + lam * h, mc)
    X, Y, Z = sqrt(o.M / o.p), sqrt(o.N / o.r), sqrt(o.N / o.p)
    start, end = (o.x, o.y, o.z), (X * d1, Y * s1, Z * c1)
    rest = (fused(X, d1, -end[0]), fused(Y, s1, -end[1]), fused(Z, c1, -end[2]))
    d, rest = apart(start, end, rest)
    end = add(start, add(d, restoring(start, d, rest, *slopes(start, o))))
    m = end if o.around_1 else (end[2], end[1], end[0])
    return Arc(s0, c0, s1, c1, phi1 - atan2(s0, c0), m, lam * h, lam, mc)


@inlined
def by_algorithm_1(o, h):
    """The arc with the constants as printed in [vilmart2013, alg. 1]: dn from sn, and 1 - k^2 from k^2."""
    c1 = o.r / o.p  # [vilmart2013, eq. 10], = I1 (I3 - I2)/(I2 (I3 - I1)) in case (ii)
    c2 = max(1.0 - c1, 0.0)
    k1 = sqrt(o.z * o.z + c1 * o.y * o.y)
    k2 = sqrt(o.z * o.z / c1 + o.y * o.y)
    k3 = sqrt(c2 * o.y * o.y + o.x * o.x)
    mc = max(1.0 - c2 * k1 * k1 / (c1 * k3 * k3), 0.0)
    lam = sqrt(o.r * o.p) * k3
    s0, c0 = o.y / k2, o.z / k1
    s1, c_end, _, phi1 = jacobi_kernel(F_part(s0, c0, mc) + lam * h, mc)
    y = k2 * s1
    x = sqrt(max(k3 * k3 - c2 * y * y, 0.0))
    m = (x, y, k1 * c_end) if o.around_1 else (k1 * c_end, y, x)
    return Arc(s0, c0, s1, c_end, phi1 - atan2(s0, c0), m, lam * h, lam, mc)


# The integral of the third kind along an arc, for the complementary characteristic nc.


@inlined
def by_carlson(a, nc):
    """The integral as a difference of incomplete ones, plus complete ones for each half turn of the amplitude."""
    j, rest = half_turns(atan2(a.s0, a.c0) + a.turned)
    f = 1.0 - 2.0 * (j % 2)
    if f * a.c1 < 0.0:  # rounding moved the amplitude across a quarter turn, where the integral may be steep
        j, f = j + (1 if rest > 0.0 else -1), -f
    total = Pi_carlson(f * a.s1, f * a.c1, nc, a.mc) - Pi_carlson(a.s0, a.c0, nc, a.mc)
    return total if j == 0 else total + 2.0 * j * Pi_complete_kernel(nc, a.mc)


# Frames: a quaternion p with p m p^-1 = G e3, and a term of psi that depends on the momentum only.


@inlined
def family(m, c0, c3):
    """p of the unit momentum m with p0, p3 = c0, c3 times sqrt(1 + m3), c0^2 + c3^2 = 1/2 [celledoni2008, lemma 2.6].

    Any such pair gives the same psi. Undefined at m = -e3, with loss of digits near it.
    """
    f = sqrt(1.0 + m[2])
    return (c0 * f, (c3 * m[0] + c0 * m[1]) / f, (c3 * m[1] - c0 * m[0]) / f, c3 * f)


C0 = jit.hole("C0", "p0 over sqrt(1 + m3).", default=sqrt(0.5))
C3 = jit.hole("C3", "p3 over sqrt(1 + m3).", default=0.0)


@inlined
def smallest(m):
    """Kosenko's frame, p0 = sqrt((1 + m3)/2), p3 = 0 (or another of its family, C0, C3), and minus the azimuth of m."""
    return family(m, C0, C3), -atan2(m[1], m[0])


@inlined
def across(m):
    """Van Zon and Schofield's frame, first row of P along m x e3; its term of psi is 0.

    4 p0^2 and 4 p3^2 are (1 + m3)(1 +- m2/rho), 4 p0 p3 = (1 + m3) m1/rho, rho^2 = m1^2 + m2^2 [celledoni2008, sec.
    2.6], where the product is printed with the other sign. The larger of p0, p3 is computed from its square, the
    smaller from the product, since from its square it would lose half its digits.
    """
    rho = sqrt(m[0] * m[0] + m[1] * m[1])
    c = sqrt(0.25 * (1.0 + abs(m[1]) / rho))
    e = 0.25 * m[0] / (rho * c)
    return (family(m, c, e) if m[1] >= 0.0 else family(m, e, c)), 0.0


@inlined
def any_length(o, a, G, h):
    """The range check of the closed forms, for which every step is in range."""
    return True


# Steps.
motion = jit.hole("motion(o, h) -> Arc", "The motion of the momentum.", default=by_phase)
third_kind = jit.hole("third_kind(a, nc) -> float", "The integral of the third kind along an arc.", default=by_carlson)
in_range = jit.hole("in_range(o, a, G, h) -> bool", "Whether a step is in range.", default=any_length)
frame = jit.hole("frame(m) -> (quaternion, angle)", "The frame of a momentum and its term of psi.", default=smallest)
product = jit.hole("product(q, e) -> quaternion", "The product of attitude and rotation.", default=compose)


@inlined
def uniform(q, m, moments, h):
    """The attitude after a time h of uniform rotation, where the body angular momentum does not move."""
    return compose(q, exp_quaternion((h * m[0] / moments[0], h * m[1] / moments[1], h * m[2] / moments[2])))


@inlined
def by_quaternion(i, h, p):
    """Rotate body i for a time h, the rotation computed as a product of quaternions; returns the status."""
    at = slots.BODY * i
    m, q = get3(p.y, at + slots.ANGULAR), get4(p.y, at + slots.ATTITUDE)
    principal = thick(get3(p.bodies, slots.CONSTANTS * i + slots.INERTIA))
    m0, moments, axes = sort(m, principal)
    o = orbit_of(m0, moments)
    if stays(o):
        put4(p.y, at + slots.ATTITUDE, uniform(q, m, principal, h))
        return slots.OK
    a = motion(o, h)
    if not abs(a.turned) < inf:
        return slots.NOT_FINITE
    G = sqrt(dot(m, m))
    if p.step_info[slots.GUARDED] != 0.0 and not in_range(o, a, G, h):
        return slots.TOO_LARGE
    nc = G * G / (o.M / o.p) if o.around_1 else o.p / o.r
    p0, start = frame(scale(1.0 / G, m0))
    p1, end = frame(scale(1.0 / G, a.m))
    psi = G * h / moments[2] + o.p * G / a.lam * third_kind(a, nc) + (end - start)
    e = multiply(conjugate(p0), multiply((cos(0.5 * psi), 0.0, 0.0, sin(0.5 * psi)), p1))
    x, y, z = unsort((e[1], e[2], e[3]), axes)
    put4(p.y, at + slots.ATTITUDE, product(q, (e[0], x, y, z)))
    put3(p.y, at + slots.ANGULAR, unsort(a.m, axes))
    return slots.OK


@inlined
def rows_of(m, G, o, axes):
    """The rows m'/|m'|, m x m'/|m x m'|, m/G of P, in the principal axes."""
    unit = scale(1.0 / G, m)
    d12, d23 = (o.r, o.w) if o.around_1 else (o.w, o.r)
    v = (-d23 * unit[1] * unit[2], o.p * unit[2] * unit[0], -d12 * unit[0] * unit[1])
    v = scale(1.0 / sqrt(dot(v, v)), v)
    return unsort(v, axes), unsort(cross(unit, v), axes), unsort(unit, axes)


@inlined
def by_matrix(i, h, p):
    """Rotate body i for a time h, the rotation computed as a product of matrices; returns the status.

    The rounded product is not quite orthogonal, by the same in every step. So it multiplies the attitude as a
    quaternion, which drops that part; a product of matrices would make it a rotation that accumulates.
    """
    at = slots.BODY * i
    m, q = get3(p.y, at + slots.ANGULAR), get4(p.y, at + slots.ATTITUDE)
    principal = thick(get3(p.bodies, slots.CONSTANTS * i + slots.INERTIA))
    m0, moments, axes = sort(m, principal)
    o = orbit_of(m0, moments)
    if stays(o):
        put4(p.y, at + slots.ATTITUDE, uniform(q, m, principal, h))
        return slots.OK
    a = motion(o, h)
    if not abs(a.turned) < inf:
        return slots.NOT_FINITE
    G = sqrt(dot(m, m))
    if p.step_info[slots.GUARDED] != 0.0 and not in_range(o, a, G, h):
        return slots.TOO_LARGE
    T2 = m0[0] * m0[0] / moments[0] + m0[1] * m0[1] / moments[1] + m0[2] * m0[2] / moments[2]
    part = o.L / (G * a.lam) * third_kind(a, o.L / o.M)
    psi = T2 / G * h - part if o.around_1 else T2 / G * h + part  # [celledoni2008, eq. 2.9]
    c, s = cos(psi), sin(psi)
    v0, w0, u0 = rows_of(m0, G, o, axes)
    v, w, u = rows_of(a.m, G, o, axes)
    rotated = axpy(c, v, scale(-s, w)) + axpy(s, v, scale(c, w)) + u  # the rows of exp(psi e3) P(h)
    e = matrix_product(columns(v0, w0, u0), rotated)
    put4(p.y, at + slots.ATTITUDE, compose(q, from_matrix(e)))
    put3(p.y, at + slots.ANGULAR, unsort(a.m, axes))
    return slots.OK


turn_matrix = jit.bind(by_matrix, motion=by_phase, third_kind=by_carlson)
turn_kosenko = jit.bind(by_quaternion, motion=by_phase, third_kind=by_carlson, frame=smallest)


@functools.cache
def kosenko(c3=0.0):
    """``turn_kosenko`` with another frame of its family, 0 <= c3 <= sqrt(1/2) and c0 = sqrt(1/2 - c3^2)."""
    if c3 == 0.0:
        return turn_kosenko
    frame = jit.bind(smallest, C0=sqrt(max(0.5 - c3 * c3, 0.0)), C3=c3)
    return jit.bind(by_quaternion, motion=by_phase, third_kind=by_carlson, frame=frame)


turn_van_zon = jit.bind(by_quaternion, motion=by_phase, third_kind=by_carlson, frame=across)
turn_jacobi = jit.bind(by_quaternion, motion=by_algorithm_1, third_kind=by_carlson, frame=smallest)
