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
from polhode.algebra.so3 import add, axpy, scale
from polhode.flows import sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, hole, inlined

add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)

CHANGES = 6
"""Numbers of a body in the scratch memory: changes of its Jacobi coordinates and velocity."""


def jacobi_memory(bodies: int) -> int:
    """Scratch memory of the flow."""
    return CHANGES * bodies


@inlined
def velocity(i, p):
    """Velocity of body i. By division, not by the inverse mass: if their product is not exactly 1, energies drift."""
    m, v = p.bodies[L.CONSTANTS * i + L.MASS], get3(p.y, L.BODY * i + L.MOMENTUM)
    return (v[0] / m, v[1] / m, v[2] / m)


@inlined
def change(a, b):
    """b - a of a vector and one with its compensation."""
    return ((b[0] - a[0]) + b[3], (b[1] - a[1]) + b[4], (b[2] - a[2]) + b[5])


@helper
def jacobi_drift(h, p):
    """Move all points for a time h; returns OK, or NOT_FINITE or NOT_CONVERGED as ``kepler_motion``, all unmoved.

    The system's parameters are the gravity parameters mu_i of the N bodies, their sums M_i, and the shares mu_i / M_i.
    """
    N = p.N
    R, V = get3(p.y, L.POSITION), velocity(0, p)
    for i in range(1, N):
        c = axpy(-1.0, R, get3(p.y, L.BODY * i + L.POSITION))
        w = axpy(-1.0, V, velocity(i, p))
        status, c1, w1 = kepler_motion_compensated(
            p.parameters[N + i], 1.0, (c[0], c[1], c[2], 0.0, 0.0, 0.0), (w[0], w[1], w[2], 0.0, 0.0, 0.0), h
        )
        if status != L.OK:
            return status
        put3(p.work, CHANGES * i, change(c, c1))
        put3(p.work, CHANGES * i + 3, change(w, w1))
        share = p.parameters[2 * N + i]
        R, V = axpy(share, c, R), axpy(share, w, V)
    dR, dV = scale(h, V), (0.0, 0.0, 0.0)
    for k in range(1, N):
        i = N - k
        dc, dw, share = get3(p.work, CHANGES * i), get3(p.work, CHANGES * i + 3), -p.parameters[2 * N + i]
        dR, dV = axpy(share, dc, dR), axpy(share, dw, dV)
        add3(L.BODY * i + L.POSITION, 1.0, add(dR, dc), p)
        add3(L.BODY * i + L.MOMENTUM, p.bodies[L.CONSTANTS * i + L.MASS], add(dV, dw), p)
    add3(L.POSITION, 1.0, dR, p)
    add3(L.MOMENTUM, p.bodies[L.MASS], dV, p)
    return L.OK


jacobi_drift_compensated = helper(bind(jacobi_drift, add3=sums.add3_compensated))
"""``jacobi_drift`` with compensated sums."""
