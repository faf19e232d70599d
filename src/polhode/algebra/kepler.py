"""Kepler propagation: two-body motion in the potential -mu/r over any time, for any orbit, in universal variables.

The time is replaced by the universal anomaly s, ds = dt/r, in which the motion is linear [battin1999, ch. 4]. With the
universal functions G1, G2, G3 of s (for an ellipse: sine, versine, and s minus sine, scaled),

    t = r0 s + eta G2 + zeta G3,    r = r0 + eta G1 + zeta G2                                           [wisdom2015]
    r1 = r0 + f r0 + g v0,          v1 = v0 + fdot r0 + gdot v0
    f = -mu G2/r0,    g = r0 G1 + eta G2,    fdot = -mu G1/(r r0),    gdot = -mu G2/r

where f and gdot are what textbooks call f - 1 and gdot - 1, so that small steps lose no accuracy. All four are
functions of s alone: a remaining error of s moves the point along its orbit, not off it. They are computed in
double-double arithmetic (pairs of a value ``x`` and its rounding error ``dx``), since their errors would be nearly the
same in every step and accumulate in energy and angular momentum, while those of the final sum are a random walk.

The time equation suffers cancellation where a distant point falls towards the centre on a nearly rectilinear or open
orbit; there the motion is computed from the periapsis instead (``around``), where all terms are positive.

Whole periods are subtracted first, with a double-double period. A motion backwards in time is the motion with reversed
velocity. A rectilinear fall turns back at the centre, as the limit of e -> 1 does.

Legend: ``b`` = beta = 2 mu/r - v^2, mu over the semi-major axis; ``eta`` = r . v; ``zeta`` = mu - b r; ``s`` universal
anomaly; ``q, e, h`` periapsis distance, eccentricity, angular momentum; ``m, p`` mass and momentum.
"""

from __future__ import annotations

from math import asinh, atan2, copysign, cos, exp, floor, inf, log, pi, sin, sqrt

import numpy as np

from polhode.algebra.elementary import near_sine_cosine
from polhode.algebra.series import COSINE, CUBIC, SINE, SWITCH, VERSINE, polynomial
from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, helper, inlined, replaceable
from polhode.kernel.simd import fused, product_error

TWO_PI, TWO_PI_TAIL = 6.283185307179586, 2.4492935982947064e-16  # 2 pi in double-double

MOST_ITERATIONS = 60

SETTLED, CURVED = 1e-13, 1e-8
"""Size of the last term of the correction of s, relative to s, that ends the iteration: what is neglected is of the
power 4/3 of this; and largest b d^2 of a last correction d."""

THIN = 0.9999
"""Squared eccentricity from which long steps are computed from the periapsis; the energy error then grows faster than
a random walk: largest of 16 points after 1e5 steps 2e-11 for e = 0.99999, 2e-10 for 0.999999."""

BENT, TURNED, LARGEST, MOST_ROUNDS = 0.09, 0.04, 2.25, 5
"""Short steps: largest squares of the terms of second and third order in the guess of the anomaly, and of b (t/r)^2;
evaluations of the universal functions until a point is left to the long form."""

APART = 4.0  # ratio of old and new distance from which position and momentum are summed in double-double

MOST_PERIODS = 1e15  # largest number of periods; beyond it the phase is lost to rounding


# Double-double arithmetic.


@inlined
def two_sum(x, y):
    """x + y and its rounding error."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


@inlined
def two_product(x, y):
    """x y and its rounding error [dekker1971]."""
    p = x * y
    return p, product_error(x, y, p)


@inlined
def near_dot(a, b):
    """a . b in double-double, but that the first number is not the rounded one."""
    x, dx = two_product(a[0], b[0])
    y, dy = two_product(a[1], b[1])
    z, dz = two_product(a[2], b[2])
    s, ds = two_sum(x, y)
    s, dt = two_sum(s, z)
    return s, (dx + dy + dz) + (ds + dt)


@inlined
def two_dot(a, b):
    """a . b in double-double."""
    return two_sum(*near_dot(a, b))


@inlined
def two_times(x, dx, y, dy):
    """x y of double-double numbers."""
    p, dp = two_product(x, y)
    return p, dp + (x * dy + y * dx)


@inlined
def near_sum(x, dx, y, dy):
    """x + y of double-double numbers, but that the first number is not the rounded one."""
    s, ds = two_sum(x, y)
    return s, ds + (dx + dy)


@inlined
def larger_sum(x, dx, y, dy):
    """``near_sum`` of numbers the first of which is the larger one."""
    s = x + y
    return s, (y - (s - x)) + (dx + dy)


@inlined
def two_add(x, dx, y, dy):
    """x + y of double-double numbers."""
    return two_sum(*near_sum(x, dx, y, dy))


@inlined
def rest_of_inverse(w, x, dx):
    """The rest of 1 / (x + dx), of which w is nearly all."""
    p, dp = two_product(w, x)
    return w * (((1.0 - p) - dp) - w * dx)


@inlined
def two_root(x, dx):
    """Square root in double-double, and its inverse."""
    s = sqrt(x)
    w = 1.0 / s
    u, du = two_product(s, s)
    ds = ((x - u) - du + dx) * (0.5 * w)
    return s, ds, w, rest_of_inverse(w, s, ds)


@inlined
def summed_one(x, a, y, b, tail):
    """x a + y b + tail, accurate to one rounding of the sum, for a small tail."""
    p, dp = two_product(x, a)
    q, dq = two_product(y, b)
    s, ds = two_sum(p, q)
    return s + (ds + (dp + dq) + tail)


@helper
def summed(x, a, y, b, tail):
    """x a + y b + tail of vectors, accurate to one rounding of the sum."""
    return (
        summed_one(x, a[0], y, b[0], tail[0]),
        summed_one(x, a[1], y, b[1], tail[1]),
        summed_one(x, a[2], y, b[2], tail[2]),
    )


@helper
def cross_exact(a, b):
    """a x b, each component accurate to one rounding; a nearly rectilinear orbit depends on it."""
    return (
        summed_one(a[1], b[2], -a[2], b[1], 0.0),
        summed_one(a[2], b[0], -a[0], b[2], 0.0),
        summed_one(a[0], b[1], -a[1], b[0], 0.0),
    )


@inlined
def energy_constant(mu, square, speed):
    """beta, |r| and its inverse, all in double-double, from r . r and v . v."""
    d, dd, w, dw = two_root(*square)
    b, db = two_add(*two_times(2.0 * mu, 0.0, w, dw), -speed[0], -speed[1])
    return b, db, d, dd, w, dw


@helper
def period_of(mu, b, db):
    """Period of an ellipse, in double-double."""
    _, _, w, dw = two_root(b, db)
    x, dx = two_times(mu, 0.0, TWO_PI, TWO_PI_TAIL)
    return two_times(*two_times(x, dx, w, dw), *two_times(w, dw, w, dw))


@inlined
def whole_turns(t, period, tail):
    """The nearest number of periods (in double-double) in a time, and the time that is left."""
    n = float(floor(t / period + 0.5))
    z, dz = two_product(n, period)
    return n, (t - z) - (dz + n * tail)


# The universal functions, and the time equation.


@inlined
def universal(b, s):
    """G1, G2 and G3 of the anomaly s: s, s^2/2 and s^3/6 for small b s^2. Accurate to 2 ulp each."""
    x = b * s * s
    if abs(x) < SWITCH:
        h = s * polynomial(SINE, x)
        return 2.0 * h * polynomial(COSINE, x), 2.0 * h * h, s * s * s * polynomial(CUBIC, x)
    if x > 0.0:
        w = sqrt(b)
        a = 0.5 * w * s
        h, c = sin(a) / w, cos(a)
    else:
        w = sqrt(-b)
        a = exp(0.5 * w * s)
        h, c = 0.5 * (a - 1.0 / a) / w, 0.5 * (a + 1.0 / a)
    first = 2.0 * h * c
    return first, 2.0 * h * h, (s - first) / b


@inlined
def anomaly(b, r0, eta, zeta, t, s):
    """G1 and G2 at the time t > 0, from a guess of the anomaly; G2 = -1 if the iteration does not converge.

    Laguerre's method of degree 5 [conway1986], bracketed by the anomalies known to be too small and too large. The last
    correction is Newton's with the next two derivatives [danby1987]; it is applied by the addition theorem of the
    functions, without a new evaluation.
    """
    low, high = 0.0, inf
    for _ in range(MOST_ITERATIONS):
        G1, G2, G3 = universal(b, s)
        G0 = 1.0 - b * G2
        error = (r0 * s - t) + eta * G2 + zeta * G3
        r = r0 + eta * G1 + zeta * G2
        slope, w = eta * G0 + zeta * G1, 1.0 / r
        d = -error * w
        second, third = 0.5 * d * slope * w, d * d * (zeta * G0 - b * eta * G1) * w * (1.0 / 6.0)
        x = b * d * d
        if abs(d * third) <= SETTLED * s and abs(x) <= CURVED:
            d = d * (1.0 - second + (2.0 * second * second - third))
            c1, c2 = d * (1.0 - x * (1.0 / 6.0)), 0.5 * d * d
            return G1 + (G0 * c1 - b * c2 * G1), G2 + (G1 * c1 + G0 * c2)
        if error > 0.0:
            high = s
        else:
            low = s
        s = s - 5.0 * error / (r + sqrt(abs(16.0 * r * r - 20.0 * error * slope)))
        if not low < s < high:
            s = 0.5 * (low + high) if high < inf else 2.0 * low
    return 0.0, -1.0


# Initial guesses.


@inlined
def guess_ellipse(mu, b, eta, zeta, t):
    """Guess of the anomaly for an ellipse that is not nearly rectilinear, after Danby [danby1987]."""
    w, i = sqrt(b), 1.0 / mu
    x, y = zeta * i, eta * w * i
    a = t * b * w * i - y
    sine, cosine = near_sine_cosine(a)
    c, f = 1.0 - (x * cosine - y * sine), x * sine + y * cosine
    a = a + 5.0 * f / (c + sqrt(16.0 * c * c + 20.0 * f * f))
    return min(max(a, 0.1), TWO_PI) / w


@inlined
def guess_outward(b, r0, eta, zeta, t):
    """Guess of the anomaly for outward motion on an open orbit: about the least of the bounds from single terms."""
    s = min(t / r0, (6.0 * t / zeta) ** (1.0 / 3.0))
    if 2.0 * t < eta * s * s:
        s = sqrt(2.0 * t / eta)
    w = sqrt(-b)
    if w * s > 2.0:
        s = min(s, log(1.0 - 2.0 * t * b * w / (zeta + eta * w)) / w + 1.0)
    return s


@inlined
def guess_around(mu, b, q, zeta, t):
    """Guess of the anomaly at the time t > 0 after periapsis, for a nearly rectilinear ellipse or an open orbit."""
    P, Q = 2.0 * q / zeta, 3.0 * t / zeta
    w = (Q + sqrt(Q * Q + P * P * P)) ** (1.0 / 3.0)
    s = 2.0 * Q / (w * w + P + (P / w) * (P / w))
    if b * s * s > -6.0:
        return s
    w = sqrt(-b)
    x = -t * b * w / zeta
    return asinh(x + mu / zeta * asinh(x)) / w


# The motion.


@inlined
def since_periapsis(b, eta, zeta, zeta_q):
    """The anomaly since periapsis, where zeta is zeta_q = mu e."""
    if b > 0.0:
        w = sqrt(b)
        return atan2(w * eta, zeta) / w
    if b < 0.0:
        w = sqrt(-b)
        return asinh(w * eta / zeta_q) / w
    return eta / zeta_q


@helper
def around(mu, r, v, t, r0, b, eta, zeta):
    """Status, position and velocity at the time t > 0, computed from the periapsis, for e^2 > THIN."""
    failed = (0.0, 0.0, 0.0)
    h = cross_exact(r, v)
    hh = dot(h, h)
    e = sqrt(max(0.0, 1.0 - b * (hh / mu) / mu))
    q = hh / (mu * (1.0 + e))
    axis = together(-mu / r0, r, 1.0, cross(v, h))
    axis = scale(1.0 / sqrt(dot(axis, axis)), axis)
    zeta_q = mu * e
    s0 = since_periapsis(b, eta, zeta, zeta_q)
    _, _, G3 = universal(b, s0)
    t = t + (q * s0 + zeta_q * G3)
    if b > 0.0:
        w = sqrt(b)
        if t * w * b > pi * mu:
            t = t - TWO_PI * mu / (w * b)
    G1 = G2 = 0.0
    if t != 0.0:
        size = abs(t)
        G1, G2 = anomaly(b, q, 0.0, zeta_q, size, guess_around(mu, b, q, zeta_q, size))
        G1 = copysign(G1, t)
    if G2 < 0.0:
        return L.NOT_CONVERGED, failed, failed
    r1 = q + zeta_q * G2
    if not r1 > 0.0:
        return L.NOT_FINITE, failed, failed
    across = cross(h, axis)
    position = axpy(G1, across, scale(q - mu * G2, axis))
    return L.OK, position, axpy((1.0 - b * G2) / r1, across, scale(-mu * G1 / r1, axis))


@replaceable
@inlined
def joined(x, dx):
    """Position or momentum plus its change."""
    return add(x, dx)


@inlined
def joined_compensated(x, dx):
    """The same by compensated summation: three values, then their three compensations."""
    a, da = two_sum(x[0], x[3] + dx[0])
    b, db = two_sum(x[1], x[4] + dx[1])
    c, dc = two_sum(x[2], x[5] + dx[2])
    return (a, b, c, da, db, dc)


@replaceable
@inlined
def whole(x):
    """A position or momentum that is not the previous one plus a change."""
    return x


@inlined
def whole_compensated(x):
    """The same, with zero compensation."""
    return (x[0], x[1], x[2], 0.0, 0.0, 0.0)


# Short steps, of plain numbers and of lanes.


@inlined
def together(f, a, g, b):
    """f a + g b of vectors; which product is rounded is said, so that it is the same on all machines."""
    return (fused(f, a[0], g * b[0]), fused(f, a[1], g * b[1]), fused(f, a[2], g * b[2]))


@replaceable
@inlined
def within(x, limit):
    """Whether x is below the limit; of lanes a bit for each."""
    return x < limit


@inlined
def brief(c, x):
    """Sum of c[k] x^k for 12 coefficients, which has all digits of VERSINE and CUBIC for |x| up to 6."""
    z = x * x
    low, middle = (c[0] + x * c[1]) + z * (c[2] + x * c[3]), (c[4] + x * c[5]) + z * (c[6] + x * c[7])
    return low + z * z * (middle + z * z * ((c[8] + x * c[9]) + z * (c[10] + x * c[11])))


@inlined
def scaled(x, dx, y):
    """x y of a double-double number and a plain one."""
    p, dp = two_product(x, y)
    return p, dp + dx * y


@inlined
def may_be_short(mu, square, t):
    """Whether a step is one for ``short_motion``: if mu t^2 / r^3 > 2.7, then b (t/r)^2 or ``turn`` is too large."""
    return t != 0.0 and (mu * t * t) * (mu * t * t) < 7.5 * square * square * square < inf


@helper
def short_motion(mu, r, v, t, every):
    """Whether they were found, and the changes of position and velocity in the time t, of either sign.

    Steps are short where the expansion of the anomaly by the time converges fast, up to about a radian on an orbit that
    is nearly circular. From that guess, Newton's method with the next two derivatives [danby1987] converges with the
    fourth power; the last correction is made by the addition theorem of the universal functions.
    """
    (square, dsquare), (speed, dspeed), (eta, deta) = near_dot(r, r), near_dot(v, v), near_dot(r, v)
    # The anomaly, from plain numbers: its error moves the point along its orbit, not off it.
    r0 = np.sqrt(square)
    i0 = 1.0 / r0
    zeta, tau = fused(speed, r0, 0.0 - mu), t * i0
    b, x = (mu - zeta) * i0, tau * tau
    bend, turn, q = (0.5 * eta * i0) * tau, (zeta * (1.0 / 6.0) * i0) * x, b * x
    more = (2.0 * bend - 1.0) + 5.0 * ((turn - bend * bend) + q * (1.0 / 60.0))
    s = tau * (bend * more + (turn * (q * (1.0 / 20.0) - 1.0) + 1.0))
    fit = within(bend * bend, BENT) & within(turn * turn, TURNED) & within(q * q, LARGEST)
    if fit == 0:
        return fit, (s, s, s), (s, s, s)
    solved = fit
    G0 = G1 = G2 = d = i = slope = bow = s
    for _ in range(MOST_ROUNDS):
        x = s * s
        y, q = x * s, b * x
        third = brief(CUBIC, q)
        G2, G3, G1 = x * brief(VERSINE, q), y * third, s - (b * y) * third
        G0, i = 1.0 - b * G2, 1.0 / (r0 + eta * G1 + zeta * G2)
        first = ((t - r0 * s) - eta * G2 - zeta * G3) * i
        slope, bow = fused(eta, G0, zeta * G1) * i, fused(zeta, G0, (0.0 - b * eta) * G1) * (i * (1.0 / 6.0))
        e, third = 0.5 * first * slope, first * first * bow
        d = first * (e * (2.0 * e - 1.0) + (1.0 - third))
        last = first * fused(2.0 * e, e, 0.0 - third)
        e, x = (b * d) * d, fused(last, last, (0.0 - SETTLED * SETTLED) * x)
        solved = fit & within(x, 1e-300) & within(e * e, CURVED * CURVED)
        solved = solved & within(r0 * i, APART) & within(q * q, 4.0 * LARGEST)
        if solved == every:
            break
        s = s + d
    e, q = b * d, d * slope
    i1 = i - (i * q) * (1.0 - q)
    x, y = G1 + d * G0 * (1.0 / 3.0), G0 - e * G1 * (1.0 / 3.0)
    G1, G2 = G1 + d * (G0 - 0.5 * e * x), G2 + d * (G1 + 0.5 * d * y)
    # The constants of the orbit, and from here all, in double-double.
    dr0 = (dsquare - product_error(r0, r0, square)) * (0.5 * i0)
    di0 = rest_of_inverse(i0, r0, dr0)
    p, dp = two_times(speed, dspeed, r0, dr0)
    zeta, dzeta = near_sum(p, dp, 0.0 - mu, 0.0)
    p, dp = near_sum(mu, 0.0 - dzeta, 0.0 - zeta, 0.0)
    b, db = two_times(p, dp, i0, di0)
    # What G1 lacks of G1^2 = (2 - b G2) G2, which keeps the energy from drifting.
    p, dp = scaled(b, db, G2)
    q, dq = larger_sum(2.0, 0.0, 0.0 - p, 0.0 - dp)
    p, dp = two_product(q, G2)
    dG1 = ((product_error(G1, G1, p) - dp) - dq * G2) * (-0.5 / G1)
    p, dp = scaled(eta, deta, G1)
    q, dq = scaled(zeta, dzeta, G2)
    p, dp = larger_sum(r0, dr0, p, dp)
    p, dp = near_sum(p, dp, q, dq)
    q, dq = two_product(i1, p)
    rest = ((1.0 - q) - dq) - i1 * (dp + eta * dG1)
    p, dp = scaled(r0, dr0, G1)
    q, dq = scaled(eta, deta, G2)
    g, dg = larger_sum(p, dp, q, dq)
    q, dq = two_product(0.0 - mu, G2)
    f, df = two_times(q, dq, i0, di0)
    gdot, dgdot = scaled(q, dq, i1)
    p, dp = scaled(i0, di0, 0.0 - mu)
    q, dq = scaled(p, dp, i1)
    fdot, dfdot = scaled(q, dq, G1)
    dg, dfdot = dg + r0 * dG1, dfdot + q * dG1
    push = together(fdot, r, gdot, v)
    change = add(together(f, r, g, v), together(df, r, dg, v))
    return solved, change, add(push, axpy(rest, push, together(dfdot, r, dgdot, v)))


@helper
def kepler_motion(mu, m, r, p, t):
    """Propagate a mass m with position r and momentum p by the time t: status, position, momentum.

    Notes
    -----
    Errors are about those caused by rounding r, p, t and mu, and do not grow with the number of periods. Over many
    steps, errors of energy and angular momentum grow like a random walk, to between 1e-13 and 1e-12 in a million steps
    on orbits with e up to 0.97. With m = 1 momenta are velocities."""
    mu, t, v = mu * m * m, t / m, (p[0], p[1], p[2])  # of the same orbit with the momentum as velocity
    if mu > 0.0 and may_be_short(mu, dot(r, r), t):
        solved, change, push = short_motion(mu, r, p, t, True)
        if solved:
            return L.OK, joined(r, change), joined(p, push)
    square, speed = two_dot(r, r), two_dot(v, v)
    if not (square[0] > 0.0 and square[0] + speed[0] + abs(t) < inf and mu > 0.0):
        return L.NOT_FINITE, r, p
    b, db, r0, dr0, w, dw = energy_constant(mu, square, speed)
    if b > 0.0 and abs(t) * sqrt(b) * (b / mu) > pi:
        n, t = whole_turns(t, *period_of(mu, b, db))
        if not abs(n) < MOST_PERIODS:
            return L.NOT_CONVERGED, r, p
        if may_be_short(mu, square[0], t):
            solved, change, push = short_motion(mu, r, p, t, True)
            if solved:
                return L.OK, joined(r, change), joined(p, push)
    if t == 0.0:  # no motion, whose derivatives are those of a short one
        pull = -mu * t / (square[0] * sqrt(square[0]))
        return L.OK, joined(r, scale(t, v)), joined(p, (pull * r[0], pull * r[1], pull * r[2]))
    direction = copysign(1.0, t)
    t = abs(t)
    x, dx = two_dot(r, v)
    eta, deta = direction * x, direction * dx
    x, dx = two_times(b, db, r0, dr0)
    zeta, dzeta = two_add(mu, 0.0, -x, -dx)
    if b > 0.0 and zeta * zeta + b * eta * eta < THIN * mu * mu:
        s = guess_ellipse(mu, b, eta, zeta, t)
    elif b <= 0.0 and eta >= 0.0:
        s = guess_outward(b, r0, eta, zeta, t)
    else:
        status, position, velocity = around(mu, r, scale(direction, v), t, r0, b, eta, zeta)
        if status != L.OK:
            return status, r, p
        return L.OK, whole(position), whole(scale(direction, velocity))
    G1, G2 = anomaly(b, r0, eta, zeta, t, s)
    if G2 < 0.0:
        return L.NOT_CONVERGED, r, p
    # Correct G1, G2 so that G1^2 + b G2^2 = 2 G2 in double-double, which keeps the energy from drifting.
    x, dx = two_times(b, db, G2, 0.0)
    x, dx = two_times(*two_add(x, dx, -2.0, 0.0), G2, 0.0)
    x, dx = two_add(x, dx, *two_product(G1, G1))
    dG1 = dG2 = 0.0
    if b <= 0.0:
        dG1 = -0.5 * (x + dx) / G1
    elif G2 > 0.0:  # else the step is too small for a correction
        x = 0.5 * (x + dx) / G2
        dG1, dG2 = -x * G1, -x * G2
    x, dx = two_add(*two_times(eta, deta, G1, dG1), *two_times(zeta, dzeta, G2, dG2))
    r1, dr1 = two_add(r0, dr0, x, dx)
    g, dg = two_add(*two_times(r0, dr0, G1, dG1), *two_times(eta, deta, G2, dG2))
    x, dx = two_times(-mu, 0.0, G2, dG2)
    f, df = two_times(x, dx, w, dw)
    i = 1.0 / r1
    di = rest_of_inverse(i, r1, dr1)
    gdot, dgdot = two_times(x, dx, i, di)
    x, dx = two_times(*two_times(-mu, 0.0, G1, dG1), *two_times(w, dw, i, di))
    fdot, dfdot, g, dg = direction * x, direction * dx, direction * g, direction * dg
    small, little = together(df, r, dg, v), together(dfdot, r, dgdot, p)
    if r0 < APART * r1 and r1 < APART * r0:
        position = joined(r, add(together(f, r, g, v), small))
        momentum = joined(p, add(together(fdot, r, gdot, p), little))
    else:
        (f, df), (gdot, dgdot) = two_sum(f, 1.0), two_sum(gdot, 1.0)
        position = whole(summed(f, r, g, v, axpy(df, r, small)))
        momentum = whole(summed(fdot, r, gdot, p, axpy(dgdot, p, little)))
    if not dot(position, position) + dot(momentum, momentum) < inf:
        return L.NOT_FINITE, r, p
    return L.OK, position, momentum


kepler_motion_compensated = helper(bind(kepler_motion, joined=joined_compensated, whole=whole_compensated))
"""``kepler_motion`` with compensated summation: r and p are six numbers each, three values and their compensations.

The compensations are not propagated. The error this leaves is a compensation times the step as a fraction of a period.
"""
