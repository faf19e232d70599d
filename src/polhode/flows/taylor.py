"""Rotation by Taylor series of a body whose torque depends on the attitude only through the vertical.

With the vertical in the body frame, ``u = R^T e3``, the motion is

    m' = m x w + T(u),     u' = u x w,     w = I^-1 m,

whose Taylor coefficients follow recursively [jorba2005, sec. 2]: nine products of series. The attitude then takes one
quadrature. The rotation in a step carries u to u1, so it is the minimal rotation from u to u1 and a twist by an angle
psi about any unit vector b on the arc between them. In a frame that follows u by minimal rotations to b,

    psi' = w . (u + b)/(1 + u . b),
    turn = (c (1 + u . u1), c (u1 x u) + s (u + u1)) / norm,     c, s = cos psi/2, sin psi/2.

Here b is the middle of the arc, and psi is integrated by a Gauss rule on the Taylor polynomials: the integrand has a
pole where u passes -b, which would limit the convergence of its series much more than that of u. By construction the
quaternion of the rotation has unit length and carries the vertical from u to u1.

What is rounded alike in every step adds up: over a thousand radians the last digit of a weight is 1e-13 rad. So the
speed about b at the start is taken out of the quadrature, what rounding left out of the inverse moments is put back,
and the sums into the state are compensated.

Cross products are u x w = (u w' - u' w)', a prime being the cyclic order (y, z, x), and m x w = (I2 - I3, I3 - I1,
I1 - I2) (w w')'.

Legend: ``m`` body angular momentum, ``w`` angular velocity, ``T`` torque, ``I`` principal moments and ``j`` their
inverses, all in the body frame; coefficients are those of powers of t/h, h being the step. ``U0``, ``Wk`` and so on are
u' and w' of these orders.
"""

from __future__ import annotations

from math import pi, sqrt

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.series import half_angle
from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.flows.sums import enter_rotation_compensated
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4
from polhode.kernel.jit import hole, inlined
from polhode.kernel.simd import (
    cycled,
    eight,
    four,
    fused,
    high,
    load4,
    load8,
    low,
    spread,
    spread8,
    store4,
    store8,
    sum4,
)

LARGEST_ORDER = 30

# work: memory of SERIES calls (series of u, then the system's own) | records of u and w | three vectors of four
RECORD = 24  # a record holds u, w; w', w'; u': four numbers each, the last of no meaning
U, W, PRIMED, U_PRIMED = L.SERIES_SIZE, L.SERIES_SIZE + 4, L.SERIES_SIZE + 8, L.SERIES_SIZE + 16
SPARE = L.SERIES_SIZE + RECORD * L.SERIES_ROW
SIZE = SPARE + 16

# coefficients: 1/(k + 1) | weights of a Gauss rule on 0 ... 1 | rows of powers 0, 1, 2, ... of its nodes
NODES = 16
WEIGHTS = L.SERIES_ROW
POWERS = WEIGHTS + NODES
TABLE = POWERS + NODES * L.SERIES_ROW

ORDER = hole("ORDER", "The order of the series.")
NODE_LANES = hole("NODE_LANES", "A quarter of the number of nodes.")
series = hole("series(part, t, k, u, bodies, parameters, out)", "The Taylor coefficients of the torque.")
load = hole("load(a, k) -> lanes", "Four or eight numbers.")
spread_out = hole("spread_out(x) -> lanes", "One number four or eight times.")
rates_4 = hole("rates_4(r, at, b, speed, p) -> lanes", "``rates`` at four nodes.")
rates_8 = hole("rates_8(r, at, b, speed, p) -> lanes", "``rates`` at eight nodes.")


@inlined
def put_coefficient(r, k, u, w, u_primed, w_primed):
    """Store the k-th coefficients of u and w."""
    c = RECORD * k
    store8(r, U + c, eight(u, w))
    store8(r, PRIMED + c, eight(w_primed, w_primed))
    store4(r, U_PRIMED + c, u_primed)
    store4(r, 3 * k, u)


@inlined
def divided(a, j, rest):
    """a/I; ``rest`` is what rounding left out of the inverses j, which would be the same in every step."""
    return (fused(j[0], a[0], rest[0] * a[0]), fused(j[1], a[1], rest[1] * a[1]), fused(j[2], a[2], rest[2] * a[2]))


def rates(r, at, b, speed, p):
    """psi' - speed at nodes number ``at`` and following, times their weights, from both series about the axis b.

    Powers are summed in rising order, as the last coefficients are known last.
    """
    x = y = z = vx = vy = vz = spread_out(0.0)
    for k in range(ORDER + 1):
        u, w = U + RECORD * k, W + RECORD * k
        power = load(p.coefficients, POWERS + at + NODES * k)
        x = fused(power, spread_out(r[u]), x)
        y = fused(power, spread_out(r[u + 1]), y)
        z = fused(power, spread_out(r[u + 2]), z)
        vx = fused(power, spread_out(r[w]), vx)
        vy = fused(power, spread_out(r[w + 1]), vy)
        vz = fused(power, spread_out(r[w + 2]), vz)
    below = fused(x, spread_out(b[0]), fused(y, spread_out(b[1]), fused(z, spread_out(b[2]), spread_out(1.0))))
    above = fused(vx, x + b[0], fused(vy, y + b[1], vz * (z + b[2])))
    return load(p.coefficients, WEIGHTS + at) * (above / below - speed)


def rotate_free(i, t, h, p):
    """Advance attitude and angular momentum of body i from time t by a time h; returns the status.

    The vertical may move in the body by less than pi; rotations about it may have any angle. In a guarded step,
    TOO_LARGE where the vertical would move by more than pi at its initial speed. NOT_FINITE where the result is not
    finite, which includes u1 = -u, where the minimal rotation is undefined (within an angle d of it, digits are lost in
    proportion to 1/d).
    """
    a, k = L.BODY * i, L.CONSTANTS * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j, I = get3(p.bodies, k + L.INVERSE_INERTIA), get3(p.bodies, k + L.INERTIA)
    r = p.work
    rest = (j[0] * fused(-I[0], j[0], 1.0), j[1] * fused(-I[1], j[1], 1.0), j[2] * fused(-I[2], j[2], 1.0))
    u, w = rotate_inverse(q, (0.0, 0.0, 1.0)), divided(m, j, rest)
    g, J = four(I[1] - I[2], I[2] - I[0], I[0] - I[1], 0.0), four(j[0], j[1], j[2], 0.0)
    u0, w0 = four(u[0], u[1], u[2], 0.0), four(w[0], w[1], w[2], 0.0)
    U0, W0 = cycled(u0), cycled(w0)
    put_coefficient(r, 0, u0, w0, U0, W0)
    series(L.SERIES, t, 0, r, p.bodies, p.parameters, p.load)
    T = get3(p.load, 0)
    first = h * (g * cycled(w0 * W0) + four(T[0], T[1], T[2], 0.0))
    wk = fused(J, first, first * four(rest[0], rest[1], rest[2], 0.0))
    uk = h * cycled(u0 * W0 - U0 * w0)
    if p.step_info[L.GUARDED] != 0.0 and sum4(uk * uk) > pi * pi:
        return L.TOO_LARGE
    first_u, change, change_u = uk, spread(0.0), spread(0.0)
    for k in range(1, ORDER):
        Uk, Wk = cycled(uk), cycled(wk)
        put_coefficient(r, k, uk, wk, Uk, Wk)
        # Products with the newest coefficients, k - 1 and then k, come last, as these are known last.
        both, back = spread8(0.0), spread(0.0)
        for n in range(2, k - 1):
            both = fused(load8(r, U + RECORD * n), load8(r, PRIMED + RECORD * (k - n)), both)
            back = fused(load4(r, U_PRIMED + RECORD * n), load4(r, W + RECORD * (k - n)), back)
        if k > 1:
            both = fused(load8(r, U + RECORD), load8(r, PRIMED + RECORD * (k - 1)), both)
            back = fused(load4(r, U_PRIMED + RECORD), load4(r, W + RECORD * (k - 1)), back)
        if k > 2:
            both = fused(load8(r, U + RECORD * (k - 1)), load8(r, PRIMED + RECORD), both)
            back = fused(load4(r, U_PRIMED + RECORD * (k - 1)), load4(r, W + RECORD), back)
        series(L.SERIES, t, k, r, p.bodies, p.parameters, p.load)
        T = get3(p.load, 0)
        f = h * p.coefficients[k]
        ww = fused(wk, W0, fused(w0, Wk, high(both)))
        uw = fused(uk, W0, fused(u0, Wk, low(both))) - fused(Uk, w0, fused(U0, wk, back))
        spin = g * cycled(ww) + four(T[0], T[1], T[2], 0.0)
        uk, wk = f * cycled(uw), (f * J) * spin
        change, change_u = fused(spread(f), spin, change), change_u + uk
    put_coefficient(r, ORDER, uk, wk, uk, wk)
    store4(r, SPARE, first + change)
    store4(r, SPARE + 4, first_u + change_u)
    dm, du = get3(r, SPARE), get3(r, SPARE + 4)
    u1 = add(u, du)
    s, x = add(u, u1), cross(du, u)
    # Normalise the minimal rotation and the axis b separately, so that together they are a unit quaternion.
    d, f = 1.0 + dot(u, u1), 1.0 / sqrt(dot(s, s))
    n = 1.0 / sqrt(d * d + dot(x, x))
    base, e, b = n * d, scale(n, x), scale(f, s)
    speed = dot(w, b)
    angle = spread(0.0)
    for k in range(0, NODE_LANES - 1, 2):
        pair = rates_8(r, 4 * k, b, speed, p)
        angle = angle + low(pair) + high(pair)
    if NODE_LANES % 2 == 1:
        angle = angle + rates_4(r, 4 * NODE_LANES - 4, b, speed, p)
    psi = fused(h, speed, h * sum4(angle))
    sn, cs = half_angle(psi)
    e = axpy(sn, b, scale(cs, e))
    return enter_rotation_compensated(i, dm, (cs * base, e[0], e[1], e[2]), p)
