"""Kepler propagation of several points at once (SIMD lanes): changes of position and velocity over short steps.

The formulas are those of ``algebra.kepler``: universal variables, and in double-double arithmetic what depends on the
anomaly only. Steps are short where the expansion of the anomaly by the time converges fast, up to about a
radian on an orbit that is nearly circular; a point whose step is not short is left to ``kepler_motion``.

From that guess, Newton's method with the next two derivatives [danby1987] converges with the fourth power; at the last
correction d the universal functions are continued by their addition theorem,

    G1(s + d) = G1 c0(d) + G0 c1(d),     G2(s + d) = G2 + G1 c1(d) + G0 c2(d),

with the functions c0, c1, c2 of the small d from their series, so that most steps evaluate the functions once.
"""

from __future__ import annotations

from polhode.algebra.kepler import near_dot, near_sum, rest_of_inverse, two_product, two_times
from polhode.algebra.series import COSINE, CUBIC, SINE, polynomial
from polhode.kernel.jit import helper, inlined
from polhode.kernel.simd import below, greater, roots

MOST_ROUNDS = 5
"""Evaluations of the universal functions until a point is left to ``kepler_motion``."""
SHORT, LARGEST = 0.5, 4.0
"""Largest b s^2 for the short series, and for any."""
SETTLED = 1e-13
"""Difference, relative to s, between the corrections of third and fourth order at which the latter is the last: its own
error is about the power 4/3 of this."""
SMALL = 1e-5
"""Largest b d^2 of the last correction d."""
BENT, TURNED = 0.3, 0.2
"""Largest terms of second and third order in the guess."""


@inlined
def size(a):
    """Absolute values."""
    return greater(a, 0.0 - a)


@inlined
def scaled(x, dx, y):
    """x y of a double-double number and a plain one."""
    p, dp = two_product(x, y)
    return p, dp + dx * y


@inlined
def brief(c, x):
    """``polynomial`` with eight coefficients, for x up to SHORT."""
    z = x * x
    even = c[2] + z * (c[4] + z * c[6])
    odd = c[3] + z * (c[5] + z * c[7])
    return c[0] + x * (c[1] + x * (even + x * odd))


@helper
def short_orbits(mu, x, y, z, u, v, w, t, all_lanes):
    """Changes of the positions (x, y, z) and velocities (u, v, w) of as many points as there are lanes in the time t.

    Returns an integer whose bit i is set where point i was solved, ``all_lanes`` where all were, and the six changes.
    The time may have either sign.
    """
    position, velocity = (x, y, z), (u, v, w)
    square, dsquare = near_dot(position, position)
    speed, dspeed = near_dot(velocity, velocity)
    eta, deta = near_dot(position, velocity)
    # The anomaly, from plain numbers: its error moves the point along its orbit, not off it.
    r0 = roots(square)
    i0 = 1.0 / r0
    zeta = speed * r0 - mu
    b = (mu - zeta) * i0
    tau = t * i0
    bend, turn, q = 0.5 * eta * tau * i0, zeta * tau * tau * i0 * (1.0 / 6.0), b * tau * tau
    more = bend * (5.0 * turn - 5.0 * bend * bend + q * (1.0 / 12.0)) + turn * q * (1.0 / 20.0)
    s = tau * (1.0 - bend + 2.0 * bend * bend - turn + more)
    fit = below(greater(size(bend) * (1.0 / BENT), size(turn) * (1.0 / TURNED)), 1.0)
    solved = 0
    G0 = G1 = G2 = d = s
    for _ in range(MOST_ROUNDS):
        q = b * s * s
        if below(size(q), SHORT) == all_lanes:
            h, c, G3 = s * brief(SINE, q), brief(COSINE, q), s * s * s * brief(CUBIC, q)
        else:
            h, c, G3 = s * polynomial(SINE, q), polynomial(COSINE, q), s * s * s * polynomial(CUBIC, q)
        G1, G2 = 2.0 * h * c, 2.0 * h * h
        G0 = 1.0 - b * G2
        ir = 1.0 / (r0 + eta * G1 + zeta * G2)
        first = ((t - r0 * s) - eta * G2 - zeta * G3) * ir
        second, third = (eta * G0 + zeta * G1) * (0.5 * ir), (zeta * G0 - b * eta * G1) * (ir * (1.0 / 6.0))
        e = first * second
        last = first * (2.0 * e * e - first * first * third)
        d = first * (1.0 - e) + last
        far = greater(size(b) * d * d * (1.0 / SMALL), size(q) * (1.0 / LARGEST))
        solved = fit & below(size(last) - SETTLED * size(s), 1e-300) & below(far, 1.0)
        if solved == all_lanes:
            break
        s = s + d
    q = d * d
    e = b * q
    c1, c2 = d * (1.0 - e * (1.0 / 6.0 - e * (1.0 / 120.0))), q * (0.5 - e * (1.0 / 24.0 - e * (1.0 / 720.0)))
    G1, G2 = G1 + (G0 * c1 - b * c2 * G1), G2 + (G1 * c1 + G0 * c2)
    i1, half = 1.0 / (r0 + eta * G1 + zeta * G2), -0.5 / G1

    # The constants of the orbit in double-double.
    p, dp = two_product(r0, r0)
    dr0 = (((square - p) - dp) + dsquare) * (0.5 * i0)
    di0 = rest_of_inverse(i0, r0, dr0)
    p, dp = two_times(speed, dspeed, r0, dr0)
    zeta, dzeta = near_sum(p, dp, 0.0 - mu, 0.0)
    p, dp = near_sum(mu, 0.0 - dzeta, 0.0 - zeta, 0.0)
    b, db = two_times(p, dp, i0, di0)
    # Correct G1 so that G1^2 + b G2^2 = 2 G2, which keeps the energy from drifting.
    p, dp = scaled(b, db, G2)
    p, dp = near_sum(p, dp, -2.0, 0.0)
    p, dp = scaled(p, dp, G2)
    q, dq = two_product(G1, G1)
    p, dp = near_sum(q, dq, p, dp)
    dG1 = (p + dp) * half
    p, dp = two_times(eta, deta, G1, dG1)
    q, dq = scaled(zeta, dzeta, G2)
    p, dp = near_sum(p, dp, q, dq)
    r1, dr1 = near_sum(r0, dr0, p, dp)
    di1 = rest_of_inverse(i1, r1, dr1)
    p, dp = two_times(r0, dr0, G1, dG1)
    q, dq = scaled(eta, deta, G2)
    g, dg = near_sum(p, dp, q, dq)
    q, dq = two_product(0.0 - mu, G2)
    f, df = two_times(q, dq, i0, di0)
    gdot, dgdot = two_times(q, dq, i1, di1)
    p, dp = scaled(i0, di0, 0.0 - mu)
    q, dq = two_times(p, dp, i1, di1)
    fdot, dfdot = two_times(q, dq, G1, dG1)
    return (
        solved, f * x + (g * u + (df * x + dg * u)), f * y + (g * v + (df * y + dg * v)),
        f * z + (g * w + (df * z + dg * w)), fdot * x + (gdot * u + (dfdot * x + dgdot * u)),
        fdot * y + (gdot * v + (dfdot * y + dgdot * v)), fdot * z + (gdot * w + (dfdot * z + dgdot * w)),
    )  # fmt: skip
