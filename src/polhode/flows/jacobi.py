"""Kepler motion of points that attract each other, each about the centre of mass of those before it.

In Jacobi coordinates, with M_i = mu_0 + ... + mu_i,

    c_i = r_i - R_(i-1),     R_0 = r_0,     R_i = R_(i-1) + (mu_i / M_i) c_i,     i = 1 ... N - 1,     [wisdom1991]

the part of the energy that this flow solves is that of N - 1 independent orbits, of c_i about a centre with gravity
parameter M_i, and of the uniform motion of the centre of mass R_(N-1). What is left depends on positions only; it is
the part WITHOUT_SOLVED of the loads.

Between steps the state holds positions and momenta in space. Changes of Jacobi coordinates and velocities are computed,
turned into changes in space, and added there: what rounding takes from the coordinates acts on these changes only, and
a sum over all bodies of the momentum's changes is zero to round-off.
"""

from __future__ import annotations

from polhode.algebra.kepler import kepler_motion_compensated
from polhode.algebra.kepler_lanes import four_orbits
from polhode.algebra.so3 import add, axpy, scale
from polhode.flows import sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.simd import four, fused

add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)

LANES = 4
"""Orbits that are followed together."""
ROWS = 6
"""Rows of the scratch memory: changes of the Jacobi coordinates, of their velocities."""


@inlined
def width_of(bodies):
    """Length of a row in the scratch memory: the number of orbits, rounded up to whole LANES."""
    return (bodies + (LANES - 2)) // LANES * LANES


def jacobi_memory(bodies: int) -> int:
    """Scratch memory of the flow."""
    return ROWS * int(width_of(bodies))


@inlined
def velocity(i, p):
    """Velocity of body i, rounded as a division. If the inverse mass were only multiplied, energies would drift."""
    m, inverse = p.bodies[L.CONSTANTS * i + L.MASS], p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
    q = get3(p.y, L.BODY * i + L.MOMENTUM)
    v = scale(inverse, q)
    return (
        v[0] + inverse * fused(-v[0], m, q[0]),
        v[1] + inverse * fused(-v[1], m, q[1]),
        v[2] + inverse * fused(-v[2], m, q[2]),
    )


@inlined
def separated(i, R, V, p):
    """Jacobi coordinates and velocity of body i, and the centre of mass and its velocity with this body."""
    share = p.parameters[2 * p.N + i]
    c, w = axpy(-1.0, R, get3(p.y, L.BODY * i + L.POSITION)), axpy(-1.0, V, velocity(i, p))
    return c, w, axpy(share, c, R), axpy(share, w, V)


@inlined
def row(a, k, width):
    """A vector from three rows."""
    return (a[k], a[k + width], a[k + 2 * width])


@helper
def one_orbit(i, R, V, h, k, width, p):
    """The changes of body i over any step, written as ``four_orbits`` does; returns a status."""
    c, w, _, _ = separated(i, R, V, p)
    status, x, v = kepler_motion_compensated(
        p.parameters[p.N + i], 1.0, (c[0], c[1], c[2], 0.0, 0.0, 0.0), (w[0], w[1], w[2], 0.0, 0.0, 0.0), h
    )
    if status == L.OK:
        for n in range(3):
            p.work[k + n * width] = (x[n] - c[n]) + x[n + 3]
            p.work[k + (n + 3) * width] = (v[n] - w[n]) + v[n + 3]
    return status


@helper
def jacobi_drift(h, p):
    """Move all points for a time h; returns OK, or NOT_FINITE or NOT_CONVERGED as ``kepler_motion``, all unmoved.

    The system's parameters are the gravity parameters mu_i of the N bodies, their sums M_i, and the shares mu_i / M_i.
    """
    N, width = p.N, width_of(p.N)
    R, V = get3(p.y, L.POSITION), velocity(0, p)
    for k in range(0, width, LANES):
        # Behind the last body it is repeated.
        i, j, n = min(k + 2, N - 1), min(k + 3, N - 1), min(k + 4, N - 1)
        begin, moving = R, V
        c0, w0, R, V = separated(k + 1, R, V, p)
        c1, w1, R1, V1 = separated(i, R, V, p)
        if i == k + 2:
            R, V = R1, V1
        else:
            c1, w1 = c0, w0
        c2, w2, R1, V1 = separated(j, R, V, p)
        if j == k + 3:
            R, V = R1, V1
        else:
            c2, w2 = c1, w1
        c3, w3, R1, V1 = separated(n, R, V, p)
        if n == k + 4:
            R, V = R1, V1
        else:
            c3, w3 = c2, w2
        mu, at = p.parameters, N
        solved = four_orbits(
            four(mu[at + k + 1], mu[at + i], mu[at + j], mu[at + n]),
            four(c0[0], c1[0], c2[0], c3[0]), four(c0[1], c1[1], c2[1], c3[1]), four(c0[2], c1[2], c2[2], c3[2]),
            four(w0[0], w1[0], w2[0], w3[0]), four(w0[1], w1[1], w2[1], w3[1]), four(w0[2], w1[2], w2[2], w3[2]),
            h, p.work, k, width,
        )  # fmt: skip
        if solved != 15:
            for i in range(k + 1, min(k + LANES + 1, N)):
                if (solved >> (i - k - 1)) & 1 == 0:
                    status = one_orbit(i, begin, moving, h, i - 1, width, p)
                    if status != L.OK:
                        return status
                _, _, begin, moving = separated(i, begin, moving, p)
    dR, dV = scale(h, V), (0.0, 0.0, 0.0)
    for k in range(1, N):
        i = N - k
        dc, dw = row(p.work, i - 1, width), row(p.work, 3 * width + i - 1, width)
        share = -p.parameters[2 * N + i]
        dR, dV = axpy(share, dc, dR), axpy(share, dw, dV)
        add3(L.BODY * i + L.POSITION, 1.0, add(dR, dc), p)
        add3(L.BODY * i + L.MOMENTUM, p.bodies[L.CONSTANTS * i + L.MASS], add(dV, dw), p)
    add3(L.POSITION, 1.0, dR, p)
    add3(L.MOMENTUM, p.bodies[L.MASS], dV, p)
    return L.OK


jacobi_drift_compensated = helper(bind(jacobi_drift, add3=sums.add3_compensated))
"""``jacobi_drift`` with compensated sums."""
