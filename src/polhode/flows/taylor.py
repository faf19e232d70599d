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

Legend: ``m`` body angular momentum, ``w`` angular velocity, ``T`` torque, ``I`` principal moments and ``j`` their
inverses, all in the body frame; coefficients are those of powers of t/h, h being the step.
"""

from __future__ import annotations

from math import pi, sqrt

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.series import half_angle
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.flows.sums import enter_rotation_compensated
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import hole, inlined, replaceable
from polhode.kernel.simd import fused, load4, spread, store4, sum4

LARGEST_ORDER = 30

# work: memory of SERIES calls (series of u, then the system's own) | records of u, of w | three vectors of four
RECORD = 8
U = L.SERIES_SIZE
W = U + RECORD * L.SERIES_ROW
SPARE = W + RECORD * L.SERIES_ROW
SIZE = SPARE + 12
"""A record holds x, y, z, x, y: four numbers from its second or third on are the vector in cyclic order."""

# coefficients: 1/(k + 1) | weights of a Gauss rule on 0 ... 1 | rows of powers 0, 1, 2, ... of its nodes
NODES = 16
WEIGHTS = L.SERIES_ROW
POWERS = WEIGHTS + NODES
TABLE = POWERS + NODES * L.SERIES_ROW

ORDER = hole("ORDER", "The order of the series.")
NODE_LANES = hole("NODE_LANES", "A quarter of the number of nodes.")


@inlined
def put_record(r, k, a):
    """Write the 3-tuple a as a record at r[k:]."""
    put3(r, k, a)
    r[k + 3] = a[0]
    r[k + 4] = a[1]


@inlined
def put_coefficient(r, k, w, u):
    """Store the k-th coefficients of w and u."""
    put_record(r, U + RECORD * k, u)
    put_record(r, W + RECORD * k, w)
    put3(r, 3 * k, u)


@inlined
def products(r, n, k, s):
    """Add products of coefficients n and k to three sums: w_y w_z, u_y w_z and u_z w_y, each in cyclic order."""
    n *= RECORD
    k *= RECORD
    z = load4(r, W + k + 2)
    return (
        fused(load4(r, W + n + 1), z, s[0]),
        fused(load4(r, U + n + 1), z, s[1]),
        fused(load4(r, U + n + 2), load4(r, W + k + 1), s[2]),
    )


@inlined
def divided(a, j, rest):
    """a/I; ``rest`` is what rounding left out of the inverses j, which would be the same in every step."""
    return (fused(j[0], a[0], rest[0] * a[0]), fused(j[1], a[1], rest[1] * a[1]), fused(j[2], a[2], rest[2] * a[2]))


@replaceable
@inlined
def polynomials(r, at, p, powers_at):
    """The three series at r[at:] at four nodes, summed in rising order, as the last coefficients are known last."""
    x = y = z = spread(0.0)
    for k in range(ORDER + 1):
        c = at + RECORD * k
        power = load4(p.coefficients, powers_at + NODES * k)
        x, y, z = fused(power, spread(r[c]), x), fused(power, spread(r[c + 1]), y), fused(power, spread(r[c + 2]), z)
    return x, y, z


def rotate_free(i, t, h, p):
    """Advance attitude and angular momentum of body i from time t by a time h; returns the status.

    The vertical may move in the body by less than pi; rotations about it may have any angle. In a guarded step,
    TOO_LARGE where the vertical would move by more than pi at its initial speed. NOT_FINITE where the result is not
    finite, which includes u1 = -u, where the minimal rotation is undefined (within an angle d of it, digits are lost in
    proportion to 1/d).
    """
    a, b = L.BODY * i, L.CONSTANTS * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j, I = get3(p.bodies, b + L.INVERSE_INERTIA), get3(p.bodies, b + L.INERTIA)
    r = p.work
    rest = (j[0] * fused(-I[0], j[0], 1.0), j[1] * fused(-I[1], j[1], 1.0), j[2] * fused(-I[2], j[2], 1.0))
    u, w = rotate_inverse(q, (0.0, 0.0, 1.0)), divided(m, j, rest)
    g = (I[1] - I[2], I[2] - I[0], I[0] - I[1])
    put_coefficient(r, 0, w, u)
    p.loads(L.SERIES, t, 0, r, p.bodies, p.parameters, p.load)
    first = scale(h, add(times(g, (w[1] * w[2], w[2] * w[0], w[0] * w[1])), get3(p.load, 0)))
    wk, uk = divided(first, j, rest), scale(h, cross(u, w))
    if p.step_info[L.GUARDED] != 0.0 and dot(uk, uk) > pi * pi:
        return L.TOO_LARGE
    put_coefficient(r, 1, wk, uk)
    first_u, dm, du = uk, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    zero, one = spread(0.0), spread(1.0)
    for k in range(1, ORDER):
        # The time is spent not in the sums but in the chain from one coefficient to the next: so products without the
        # newest coefficients come first, and the torque and then the newest w enter last.
        sums = others = (zero, zero, zero)
        for n in range(1, (k + 1) // 2):
            sums = products(r, n, k - n, sums)
            others = products(r, k - n, n, others)
        if k % 2 == 0:
            sums = products(r, k // 2, k // 2, sums)
        store4(r, SPARE, fused(others[0], one, sums[0]))
        store4(r, SPARE + 4, fused(others[1], one, sums[1]))
        store4(r, SPARE + 8, fused(others[2], one, sums[2]))
        ww, yz, zy = get3(r, SPARE), get3(r, SPARE + 4), get3(r, SPARE + 8)
        p.loads(L.SERIES, t, k, r, p.bodies, p.parameters, p.load)
        f = h * p.coefficients[k]
        T, fj, fu = get3(p.load, 0), scale(f, j), scale(f, u)
        spin = times(g, (
            ww[0] + w[1] * wk[2] + w[2] * wk[1], ww[1] + w[2] * wk[0] + w[0] * wk[2],
            ww[2] + w[0] * wk[1] + w[1] * wk[0],
        ))  # fmt: skip
        swing = (
            f * (yz[0] - zy[0] + uk[1] * w[2] - uk[2] * w[1]), f * (yz[1] - zy[1] + uk[2] * w[0] - uk[0] * w[2]),
            f * (yz[2] - zy[2] + uk[0] * w[1] - uk[1] * w[0]),
        )  # fmt: skip
        uk = (
            swing[0] + fu[1] * wk[2] - fu[2] * wk[1], swing[1] + fu[2] * wk[0] - fu[0] * wk[2],
            swing[2] + fu[0] * wk[1] - fu[1] * wk[0],
        )  # fmt: skip
        wk = add(times(fj, spin), times(fj, T))
        put_coefficient(r, k + 1, wk, uk)
        dm = axpy(f, add(spin, T), dm)
        du = add(du, uk)
    dm, du = add(first, dm), add(first_u, du)
    u1 = add(u, du)
    s, x = add(u, u1), cross(du, u)
    # Normalise the minimal rotation and the axis b separately, so that together they are a unit quaternion.
    d, f = 1.0 + dot(u, u1), 1.0 / sqrt(dot(s, s))
    n = 1.0 / sqrt(d * d + dot(x, x))
    base, e, s = n * d, scale(n, x), scale(f, s)
    bx, by, bz = spread(s[0]), spread(s[1]), spread(s[2])
    speed = dot(w, s)
    angle, speeds = zero, spread(speed)
    for k in range(NODE_LANES):
        x, y, z = polynomials(r, U, p, POWERS + 4 * k)
        vx, vy, vz = polynomials(r, W, p, POWERS + 4 * k)
        below = fused(x, bx, fused(y, by, fused(z, bz, one)))
        above = fused(vx, fused(x, one, bx), fused(vy, fused(y, one, by), fused(vz, fused(z, one, bz), zero)))
        angle = fused(load4(p.coefficients, WEIGHTS + 4 * k), above / below - speeds, angle)
    psi = fused(h, speed, h * sum4(angle))
    sn, cs = half_angle(psi)
    e = axpy(sn, s, scale(cs, e))
    return enter_rotation_compensated(i, dm, (cs * base, e[0], e[1], e[2]), p)
