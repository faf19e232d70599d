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
from polhode.algebra.kepler_lanes import short_orbits
from polhode.algebra.so3 import add, axpy, scale
from polhode.flows import sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.simd import fused, load4, load8, store4, store8

load = hole("load(a, k) -> lanes", "Four or eight numbers.")
store = hole("store(a, k, x)", "Writes them.")
EACH = hole("EACH", "The bits of so many orbits.")
add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)

CENTRE, CHANGED, ROWS = 6, 7, 13
"""Rows of the scratch memory: Jacobi coordinates, their velocities, gravity parameter of the centre; from CHANGED on,
changes of coordinates and velocities. Number of rows."""


@inlined
def width_of(bodies):
    """Length of a row: the number of orbits, rounded up to whole lanes of four."""
    return (bodies + 2) // 4 * 4


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
def put_row(a, k, width, x):
    """Write a vector to three rows."""
    a[k], a[k + width], a[k + 2 * width] = x[0], x[1], x[2]


@inlined
def get_row(a, k, width):
    """The vector in three rows."""
    return (a[k], a[k + width], a[k + 2 * width])


@inlined
def some_orbits(a, k, n, h):
    """Changes of the orbits k to k + 3, or to k + 7, in rows of length n; the bits of those that were solved."""
    solved, (x, y, z), (u, v, w) = short_orbits(
        load(a, CENTRE * n + k), (load(a, k), load(a, n + k), load(a, 2 * n + k)),
        (load(a, 3 * n + k), load(a, 4 * n + k), load(a, 5 * n + k)), h, EACH,
    )  # fmt: skip
    at = CHANGED * n + k
    store(a, at, x)
    store(a, at + n, y)
    store(a, at + 2 * n, z)
    store(a, at + 3 * n, u)
    store(a, at + 4 * n, v)
    store(a, at + 5 * n, w)
    return solved


four_orbits = inlined(bind(some_orbits, load=load4, store=store4, EACH=15))
eight_orbits = inlined(bind(some_orbits, load=load8, store=store8, EACH=255))


@helper
def one_orbit(a, k, width, h):
    """The changes of orbit k over any step; returns a status."""
    c, w = get_row(a, k, width), get_row(a, 3 * width + k, width)
    status, x, v = kepler_motion_compensated(
        a[CENTRE * width + k], 1.0, (c[0], c[1], c[2], 0.0, 0.0, 0.0), (w[0], w[1], w[2], 0.0, 0.0, 0.0), h
    )
    if status == L.OK:
        put_row(a, CHANGED * width + k, width, ((x[0] - c[0]) + x[3], (x[1] - c[1]) + x[4], (x[2] - c[2]) + x[5]))
        put_row(a, (CHANGED + 3) * width + k, width, ((v[0] - w[0]) + v[3], (v[1] - w[1]) + v[4], (v[2] - w[2]) + v[5]))
    return status


@helper
def all_orbits(a, orbits, h):
    """The changes of all orbits; returns a status."""
    k, width = 0, width_of(orbits + 1)
    while k < width:
        lanes = 8 if width - k > 4 else 4
        solved = eight_orbits(a, k, width, h) if lanes == 8 else four_orbits(a, k, width, h)
        for i in range(k, min(k + lanes, orbits)):
            if (solved >> (i - k)) & 1 == 0:
                status = one_orbit(a, i, width, h)
                if status != L.OK:
                    return status
        k += lanes
    return L.OK


@helper
def jacobi_drift(h, p):
    """Move all points for a time h; parameters: mu_i of the N bodies, their sums M_i, the shares mu_i / M_i."""
    N, a, width = p.N, p.work, width_of(p.N)
    R, V = get3(p.y, L.POSITION), velocity(0, p)
    for i in range(1, N):
        share = p.parameters[2 * N + i]
        c, w = axpy(-1.0, R, get3(p.y, L.BODY * i + L.POSITION)), axpy(-1.0, V, velocity(i, p))
        put_row(a, i - 1, width, c)
        put_row(a, 3 * width + i - 1, width, w)
        a[CENTRE * width + i - 1] = p.parameters[N + i]
        R, V = axpy(share, c, R), axpy(share, w, V)
    for k in range(N - 1, width):  # behind the last orbit it is repeated
        for row in range(CHANGED):
            a[row * width + k] = a[row * width + N - 2]
    status = all_orbits(a, N - 1, h)
    if status != L.OK:
        return status
    dR, dV = scale(h, V), (0.0, 0.0, 0.0)
    for k in range(1, N):
        i = N - k
        dc, dw = get_row(a, CHANGED * width + i - 1, width), get_row(a, (CHANGED + 3) * width + i - 1, width)
        share = -p.parameters[2 * N + i]
        dR, dV = axpy(share, dc, dR), axpy(share, dw, dV)
        add3(L.BODY * i + L.POSITION, 1.0, add(dR, dc), p)
        add3(L.BODY * i + L.MOMENTUM, p.bodies[L.CONSTANTS * i + L.MASS], add(dV, dw), p)
    add3(L.POSITION, 1.0, dR, p)
    add3(L.MOMENTUM, p.bodies[L.MASS], dV, p)
    return L.OK


jacobi_drift_compensated = helper(bind(jacobi_drift, add3=sums.add3_compensated))
"""``jacobi_drift`` with compensated sums."""
