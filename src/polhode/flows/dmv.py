"""Free rotation by the discrete Moser-Veselov map, plain and preprocessed to the orders 4, 6, 8 and 10.

The plain map of order 2 [moser1991] is RATTLE for the free body [mclachlan2005]; the higher orders are the same map
with modified moments of inertia [hairer2006dmv], [vilmart2013, alg. 3 and 4]. All orders keep the spatial angular
momentum, the energy and the unit quaternion to round-off and are time-symmetric; the plain map is symplectic, the
others are Poisson in the angular momentum.

The map rotates the body by the Cayley vector ``e`` (tangent of half the angle times the axis) that solves

    e = k Y,    Y = m - e x m + (e . m) e,    k = h/2 diag(modified inverse moments)            [vilmart2013, eq. 14]

For given s = e . m these equations are linear in e, and s = e(s) . m is a quartic whose coefficients depend on the
energy, |m| and the body only: so Newton's method has one unknown, and whether a step can be taken does not change along
a free motion. The solution connected to a vanishing step is the smallest root, which Newton's method approaches from
below. Two roots meet in a fold, a quarter turn for rotation about a principal axis; beyond it there is no root.

Legend: ``a`` inverse moments divided by their sum ``total``, in the series only the smallest of them; ``d`` = a minus
the smallest; ``r`` = d1 d2 + d2 d3 + d3 d1; ``u`` = h total m; ``w`` = d . u^2/2; ``c`` = |u|^2/2; ``b`` = k/(h total),
``s`` = e . u. All but ``total`` are dimensionless.
"""

from __future__ import annotations

import functools
from math import inf, sqrt

from polhode.algebra.quaternion import compose
from polhode.algebra.so3 import axpy, cross, dot, scale, times
from polhode.errors import InvalidInput, unknown_name
from polhode.flows.invariants import squared_speed
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, helper, hole, inlined, replaceable
from polhode.kernel.solve import solve3

ORDERS = (2, 4, 6, 8, 10)
MOST_ITERATIONS = 50
MOST_PIECES = 100

WIDEST = (0.8, 1.0, 1.2, 1.2, 1.2)
"""Largest angle (rad) of a guarded step, by order: largest angular speed of the free motion times the step. The plain
map has its fold at 1 rad about a principal axis, the preprocessed ones near pi/2. Up to these angles every step of
60,000 random bodies (general, rods, flat) had a solution; steps of order 2 were off by at most 0.13 rad."""

LARGEST_TERM = (inf, 1e-3, 1e-4, 1e-4, 3e-4)
"""Largest rotation (rad) by a term of the series in a guarded step anywhere on the free motion, by order: by the first
omitted term, for order 10 by the last included one. The first omitted term is the error of the step up to a factor of
1 to 3: on the same bodies steps of orders 4, 6, 8 and 10 were off by at most 2e-3, 5e-4, 2e-4 and 1e-5 rad; limited by
WIDEST alone, by 2e-2, 3e-3, 1e-4 and 1e-5. On 60,000 sets of moments that violate the triangle inequality (impossible
for a body) they were off by up to 5e-3, 5e-4, 4e-4 and 3e-4 rad; limited by WIDEST alone, by 1.5 rad."""

THINNEST = 1e-8  # ratio of smallest to largest moment below which the root of the quartic is lost in round-off

DIVERGED = 1e20  # squared length of a Cayley vector at which the fixed-point iteration has diverged

CLOSE_ROOTS = 0.1
"""Slope at the root of the quartic (1 in small steps) below which s has fewer accurate digits than the rotation, as for
thin rods, whose roots come in close pairs."""

ORDER = hole("ORDER", "The order of the map.")
NEAR = hole("NEAR", "Relative correction after which the next one, its square, is round-off.", default=1e-8)


@inlined
def numerators(a, r, w, c):
    """The series of the modified moments, times DENOMINATORS: s3, g3, s5, g5, s7, g7, s9, g9.

    With S = 1 + h^2 s_3 + h^4 s_5 + ... and T = h^2 t_3 + h^4 t_5 + ... the modified inverse moments are S a_j + T
    [vilmart2013, alg. 4]. Here s is h^(n-1) s_n, and g belongs to G = S a + T, the modified inverse of the largest
    moment. Written for ``r``, ``w`` and ``c``, the terms of thin rods are no larger than those of other bodies; in the
    variables of the paper (to n = 7) they cancel, the more the higher the order.
    """
    aa = a * a
    z, v = aa * c, r * c
    s3 = v - 3 * z - 2 * w
    g3 = (r - 3 * aa) * w - 2 * a * z
    s5 = (2 * v - 5 * z) * v + 5 * z * z + w * ((6 * a - 2) * v + (10 - 10 * a) * z + w * (2 - r - 2 * a + 3 * aa))
    g5 = 2 * a * z * z + w * (5 * aa * z - r * v + w * ((15 * a - 5) * aa - (1 + 7 * a) * r))
    s7 = (
        ((17 * v - 42 * z) * v + 35 * z * z) * v - 14 * z * z * z
        + w * (((52 * a - 36) * v + (42 - 126 * a) * z) * v + (126 * a - 70) * z * z
        + w * ((6 + 41 * r - 36 * a - 30 * aa) * v + (112 * a - 42 - 63 * aa) * z
        + w * (4 * r - 4 + 8 * a + 72 * a * r + (60 - 144 * a) * aa)))
    )  # fmt: skip
    g7 = (
        w * (2 * r * v * v - 14 * aa * z * z
        + w * (((13 + 73 * a) * r + (84 - 112 * a) * aa) * v + (35 - 105 * a) * aa * z
        + w * ((2 - 26 * r - 40 * a + 228 * aa) * r + (252 * a - 42 - 378 * aa) * aa)))
        - 4 * a * z * z * z
    )  # fmt: skip
    s9 = (
        (((62 * v - 153 * z) * v + 126 * z * z) * v - 42 * z * z * z) * v + 9 * z * z * z * z
        + w * ((((318 * a - 154) * v + (324 - 636 * a) * z) * v + (378 * a - 126) * z * z) * v
        + (84 - 180 * a) * z * z * z
        + w * (((156 + 18 * r - 504 * a + 180 * aa) * v + (324 * a - 54 - 234 * aa) * z) * v
        + (126 - 504 * a + 504 * aa) * z * z
        + w * ((36 * a - 4 - (264 + 216 * a) * r + (468 * a - 396) * aa) * v
        + (36 - 156 * a + (540 * a - 36) * aa) * z
        + w * (2 - 6 * a + (126 * a - 3 + 153 * r - 918 * aa) * r + (135 - 864 * a + 1377 * aa) * aa))))
    )  # fmt: skip
    g9 = (
        2 * a * z * z * z * z
        + w * (9 * aa * z * z * z - r * v * v * v
        + w * (((192 * a - 288) * aa - (30 + 198 * a) * r) * v * v + (504 * a - 252) * aa * v * z
        + (126 * a - 42) * aa * z * z
        + w * (((324 * a - 30 + 194 * r - 1422 * aa) * r + (288 - 1560 * a + 1710 * aa) * aa) * v
        + (126 - 756 * a + 1134 * aa) * aa * z
        + w * (((612 * a - 6) * r - 1 - 153 * a + (1539 - 3213 * a) * aa) * r
        + (1377 * a - 153 + (4131 * a - 4131) * aa) * aa))))
    )  # fmt: skip
    return s3, g3, s5, g5, s7, g7, s9, g9


DENOMINATORS = (6, 60, 2520, 45360)


@inlined
def modified(order, a, u):
    """Halved modified inverse moments in units of ``total``, and whether a guarded step may use them."""
    low = min(a[0], a[1], a[2])
    d = (a[0] - low, a[1] - low, a[2] - low)
    high = max(d[0], d[1], d[2])
    w, c = 0.5 * dot(d, times(u, u)), 0.5 * dot(u, u)
    s3, g3, s5, g5, s7, g7, s9, g9 = numerators(low, d[0] * d[1] + d[1] * d[2] + d[2] * d[0], w, c)
    S, G, s, g = 1.0, low, 0.0, 0.0
    if order >= 4:
        S, G = S + s3 * (1.0 / DENOMINATORS[0]), G + g3 * (1.0 / DENOMINATORS[0])
        s, g = s5 * (1.0 / DENOMINATORS[1]), g5 * (1.0 / DENOMINATORS[1])
    if order >= 6:
        S, G = S + s, G + g
        s, g = s7 * (1.0 / DENOMINATORS[2]), g7 * (1.0 / DENOMINATORS[2])
    if order >= 8:
        S, G = S + s, G + g
        s, g = s9 * (1.0 / DENOMINATORS[3]), g9 * (1.0 / DENOMINATORS[3])
    if order >= 10:
        S, G = S + s, G + g
    widest, limit = WIDEST[order // 2 - 1], LARGEST_TERM[order // 2 - 1]
    small_angle = squared_speed(low, low + high, w, c) <= widest * widest
    # The rotation by the term is (g + s d) u; its largest square on the motion is found as that of the speed.
    small_term = 2.0 * (g * g * c + (2.0 * g + s * high) * s * w) <= limit * limit
    S, G = 0.5 * S, 0.5 * G
    return (G + S * d[0], G + S * d[1], G + S * d[2]), small_angle and small_term


@helper
def polished(b, u, e, step_info):
    """Newton's method on the three equations, from a Cayley vector near the solution; returns as ``newton``."""
    for _ in range(MOST_ITERATIONS):
        s = dot(e, u)
        Y = axpy(s, e, axpy(1.0, cross(u, e), u))
        jacobian = (
            1.0 - b[0] * (e[0] * u[0] + s), b[0] * (u[2] - e[0] * u[1]), -b[0] * (u[1] + e[0] * u[2]),
            -b[1] * (u[2] + e[1] * u[0]), 1.0 - b[1] * (e[1] * u[1] + s), b[1] * (u[0] - e[1] * u[2]),
            b[2] * (u[1] - e[2] * u[0]), -b[2] * (u[0] + e[2] * u[1]), 1.0 - b[2] * (e[2] * u[2] + s),
        )  # fmt: skip
        d = solve3(jacobian, axpy(-1.0, times(b, Y), e))
        e = axpy(-1.0, d, e)
        step_info[L.ITERATIONS] += 1.0
        if dot(d, d) <= NEAR * NEAR * dot(e, e):
            return True, (1.0, e[0], e[1], e[2])
        step_info[L.RESIDUAL] = sqrt(dot(d, d) / dot(e, e))
    return False, (1.0, e[0], e[1], e[2])


@inlined
def newton(b, u, step_info):
    """Newton's method on the quartic of s = e . u: whether there is a root, and the rotation as a quaternion."""
    q = times(u, u)
    n, kappa = q[0] + q[1] + q[2], dot(b, q)
    bb = (b[1] * b[2], b[2] * b[0], b[0] * b[1])
    third = b[0] * bb[0]
    second = bb[0] + bb[1] + bb[2]
    # third (s^2 + n)^2 - second s (s^2 + n) + first s^2 - s + kappa = 0, divided by the coefficient of s
    d = 1.0 / (1.0 + second * n)
    c0, c2, c3, c4 = d * (kappa + third * n * n), d * (b[0] + b[1] + b[2] + 2.0 * third * n), d * second, d * third
    # The start is the power series of the root in c0, cut so that it cannot pass a fold.
    x, y, z = min(c2 * c0, 0.25), c3 * c0 * c0, c4 * c0 * c0 * c0
    s = c0 * (
        1.0 + x * (1.0 + x * (2.0 + x * (5.0 + 14.0 * x) - 21.0 * y) - 5.0 * y + 6.0 * z) - y * (1.0 - 3.0 * y) + z
    )
    converged = False
    slope = 1.0
    for _ in range(MOST_ITERATIONS):
        slope = 1.0 - s * (2.0 * c2 - s * (3.0 * c3 - 4.0 * s * c4))
        if not slope > 0.0:
            break
        d = (c0 - s * (1.0 - s * (c2 - s * (c3 - s * c4)))) / slope
        s += d
        step_info[L.ITERATIONS] += 1.0
        step_info[L.RESIDUAL] = abs(d / s)
        if abs(d) <= NEAR * abs(s):  # the correction after this one is its square
            converged = True
            break
    g = (1.0 - b[0] * s, 1.0 - b[1] * s, 1.0 - b[2] * s)
    e = (
        g[0] * g[1] * g[2] + g[0] * bb[0] * q[0] + g[1] * bb[1] * q[1] + g[2] * bb[2] * q[2],
        b[0] * ((g[1] * g[2] + bb[0] * n) * u[0] + (b[2] - b[1]) * u[1] * u[2]),
        b[1] * ((g[2] * g[0] + bb[1] * n) * u[1] + (b[0] - b[2]) * u[2] * u[0]),
        b[2] * ((g[0] * g[1] + bb[2] * n) * u[2] + (b[1] - b[0]) * u[0] * u[1]),
    )
    if converged and slope < CLOSE_ROOTS:
        return polished(b, u, scale(1.0 / e[0], (e[1], e[2], e[3])), step_info)
    return converged, e


@inlined
def fixed_point(b, u, step_info):
    """Fixed-point iteration of the paper on Y, returns as ``newton``; converges slowly or not at all in large steps."""
    Y = u
    converged = False
    for _ in range(MOST_ITERATIONS):
        e = times(b, Y)
        if not dot(e, e) < DIVERGED:
            break
        new = axpy(1.0 + dot(e, e), u, cross(Y, e))  # [vilmart2013, eq. 14]
        d = axpy(-1.0, Y, new)
        Y = new
        step_info[L.ITERATIONS] += 1.0
        step_info[L.RESIDUAL] = sqrt(dot(d, d) / dot(Y, Y))
        if dot(d, d) <= 1e-30 * dot(Y, Y):
            converged = True
            break
    e = times(b, Y)
    return converged, (1.0, e[0], e[1], e[2])


solve = hole("solve(b, u, step_info) -> (converged, e)", "The solver of the map's equation.", default=newton)


@inlined
def apply(m, q, e):
    """Momentum and attitude after the rotation by the quaternion e, of any length."""
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    v = (e[1], e[2], e[3])
    w = cross(m, v)
    # Added as an increment, whose round-off is relative to the increment [vilmart2013, eq. 15].
    m = axpy(2.0 / square, axpy(e[0], w, cross(w, v)), m)
    f = 1.0 / sqrt(square)
    return m, compose(q, (f * e[0], f * e[1], f * e[2], f * e[3]))


@inlined
def at_rest(h, m, q, j):
    """The attitude after a step of a body whose angular momentum is 0."""
    return q


@replaceable
@inlined
def step(h, m, q, j, guarded, step_info):
    """Status, momentum and attitude after one application of the map to a body with inverse moments j."""
    total = j[0] + j[1] + j[2]
    u = scale(h * total, m)
    size = dot(u, u)
    if not size < inf:
        return L.NOT_FINITE, m, q
    if size == 0.0:  # at rest, or a point
        return L.OK, m, at_rest(h, m, q, j)
    b, fits = modified(ORDER, scale(1.0 / total, j), u)
    if guarded and not fits:
        return L.TOO_LARGE, m, q
    converged, e = solve(b, u, step_info)
    if not converged:
        return L.NOT_CONVERGED, m, q
    m, q = apply(m, q, e)
    return L.OK, m, q


def rotate_free(i, h, p):
    """Rotate body i for a time h; returns the status."""
    a = L.BODY * i
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    guarded = p.step_info[L.GUARDED] != 0.0
    status, m, q = step(h, get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE), j, guarded, p.step_info)
    put3(p.y, a + L.ANGULAR, m)
    put4(p.y, a + L.ATTITUDE, q)
    return status


def turn_in_pieces(i, h, p):
    """Rotate body i for a time h, in the fewest equal substeps that are in range; returns the status."""
    a = L.BODY * i
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    status = L.TOO_LARGE
    for pieces in range(1, MOST_PIECES + 1):
        m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
        for _ in range(pieces):
            status, m, q = step(h / pieces, m, q, j, True, p.step_info)
            if status != L.OK:
                break
        if status == L.OK:
            put3(p.y, a + L.ANGULAR, m)
            put4(p.y, a + L.ATTITUDE, q)
        if status in (L.OK, L.NOT_FINITE):
            break
    return status


SOLVERS = {"newton": newton, "fixed_point": fixed_point}
LARGE = {"refuse": rotate_free, "substep": turn_in_pieces}


@functools.cache
def dmv(order, solver="newton", large="refuse"):
    """The discrete Moser-Veselov flow of a given order.


    Notes
    -----
    A step is in range if, anywhere on the free motion, the body rotates by less than about a radian (WIDEST) and by
    next to nothing due to the first omitted term of the modified moments (LARGEST_TERM). Both depend on energy, length
    of the momentum and body only, so that in a free motion all steps are in range or none. Out of range, a solution may
    exist and be wrong by as much as 3 rad."""
    if order not in ORDERS:
        raise InvalidInput(f"order = {order!r} of the discrete Moser-Veselov map must be one of {ORDERS}")
    if solver not in SOLVERS:
        raise unknown_name("solver", solver, SOLVERS)
    if large not in LARGE:
        raise unknown_name("treatment of large steps", large, LARGE)
    return bind(LARGE[large], step=inlined(bind(step, ORDER=order, solve=SOLVERS[solver])))


def thinner_than(ratio):
    """A function of moments (infinite where a body has no thickness): why a map cannot be used, or "" where it can."""

    def too_thin(moments):
        finite = [x for x in moments if x < inf]
        if not finite or min(finite) >= ratio * max(finite):
            return ""
        return (
            f"cannot turn a body whose smallest moment of inertia is {min(finite) / max(finite):.1g} of the largest, "
            "for round-off takes the digits of its formulas; take 'exact', or a body without thickness "
            "(inertia.thin_rod)"
        )

    return too_thin


def largest_step(order, m, j):
    """The largest guarded step that ``dmv(order)`` takes from a state."""
    m, j = tuple(map(float, m)), tuple(map(float, j))
    w = sum(0.5 * (k - min(j)) * x * x for k, x in zip(j, m, strict=True))
    speed = sqrt(squared_speed(min(j), max(j), w, 0.5 * dot(m, m)))
    if speed == 0.0:
        return inf
    map_step = bind(step, ORDER=order)
    step_info = [0.0] * L.STEP_INFO

    def in_range(h):
        return map_step(h, m, (1.0, 0.0, 0.0, 0.0), j, True, step_info)[0] == L.OK

    high = (1.0 - 1e-9) * WIDEST[order // 2 - 1] / speed
    if in_range(high):
        return high
    low = 0.9 * high
    while not in_range(low):
        low, high = 0.9 * low, low
    while high - low > 1e-3 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if in_range(middle) else (low, middle)
    return low
