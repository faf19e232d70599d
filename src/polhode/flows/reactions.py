"""Forces of joints at a state, of its accuracy: joints as loads that depend on velocities.

Multipliers l are those of the elimination with the mass matrix, for the loads of the bodies, m x w among them, and

    G a = -(d^2 g / dt^2 along the velocities without accelerations),                                   [baraff1996]

so that the joints stay closed. An explicit method takes G' l as loads; after a step its positions and momenta are put
back on the joints. It is neither symplectic nor reversible.
"""

from __future__ import annotations

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import add, axpy, cross, dot, exp_quaternion, scale
from polhode.flows import mechanism as J
from polhode.flows.elimination import LEAST, eliminate, no_loads, solve
from polhode.flows.glide import CLOSED
from polhode.flows.kick import loads_at
from polhode.flows.mechanism import (
    at,
    back,
    plan_at,
    position_of,
    push_rows,
    put_openings,
    put_speeds,
    residuals,
    rotations,
    turned,
)
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import helper, hole

step = hole("step(t, h, p) -> status", "A step with the reactions as loads.")
MOST = 10  # corrections of positions after a step
NEARLY = 1e-3
"""Least pivot of loops at which their forces are refused: they grow without bounds towards a singular position."""


@helper
def bends(m, l, x, R, y, p):
    """Write to ``work[l:]`` minus the second derivative of each residual along the motions ``work[x:]``."""
    first, numbers = m + at(m, J.PIECES_AT, p), at(m, J.NUMBERS_AT, p)
    for j in range(at(m, J.PIECES, p)):
        k = first + J.PIECE * j
        kind, a, b = p.int_coefficients[k], p.int_coefficients[k + 1], p.int_coefficients[k + 2]
        r, c = p.int_coefficients[k + 3], numbers + p.int_coefficients[k + 4]
        u, w = turned(R, a, get3(p.parameters, c), p), turned(R, b, get3(p.parameters, c + 3), p)
        wa, wb = get3(p.work, x + 6 * a + 3), get3(p.work, x + 6 * b + 3)
        du, dw = cross(wa, u), cross(wb, w)
        ddu, ddw = cross(wa, du), cross(wb, dw)
        if kind == J.DIRECTION:
            p.work[l + r] = -dot(ddu, w) - 2.0 * dot(du, dw) - dot(u, ddw)
        else:
            q = axpy(-1.0, ddu, ddw)
            if kind == J.BALL:
                put3(p.work, l + r, q)
            else:
                d = add(axpy(-1.0, position_of(b, y, p), position_of(a, y, p)), axpy(-1.0, w, u))
                speed = add(axpy(-1.0, get3(p.work, x + 6 * b), get3(p.work, x + 6 * a)), axpy(-1.0, dw, du))
                n, more = get3(p.parameters, c + 6), 0.0
                if kind == J.ROD:
                    s = 1.0 / n[0]
                    n, more = scale(s, d), s * dot(speed, speed)
                else:
                    n = turned(R, b, n, p)
                    dn = cross(wb, n)
                    more = 2.0 * dot(dn, speed) + dot(cross(wb, dn), d)
                p.work[l + r] = dot(n, q) - more


@helper
def react(m, l, y, load, p):
    """Multipliers ``work[l:]`` of the forces of all joints at a state with these loads, and its rows and rotations."""
    G, R, x, right = at(m, J.ROWS_AT, p), at(m, J.ROTATIONS, p), at(m, J.MOTION, p), at(m, J.RIGHT, p)
    rotations(R, y, p)
    residuals(m, G, R, y, p)
    eliminate(m, 0.0, G, G, R, R, p)
    p.work[at(m, J.BEGUN, p)] = min(p.work[at(m, J.BEGUN, p)], p.work[at(m, J.STATE, p) + LEAST])
    put_speeds(m, x, R, y, L.BODY, L.MOMENTUM, L.ANGULAR, p)
    bends(m, l, x, R, y, p)
    no_loads(m, p)
    for i in range(p.N):
        M, j = get3(y, L.BODY * i + L.ANGULAR), get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
        T = cross(M, (j[0] * M[0], j[1] * M[1], j[2] * M[2]))
        put3(p.work, right + 6 * i, get3(load, L.LOAD * i))
        put3(p.work, right + 6 * i + 3, turned(R, i, add(T, get3(load, L.LOAD * i + 3)), p))
    solve(m, G, G, l, p)


@helper
def loads_and_reactions(part, t, y, out, p):
    """``loads_at`` with the forces of the joints."""
    loads_at(part, t, y, out, p)
    m = plan_at(p)
    l = at(m, J.MULTIPLIER, p)
    react(m, l, y, out, p)
    push_rows(m, at(m, J.ROWS_AT, p), at(m, J.ROTATIONS, p), l, out, L.LOAD, 0, 3, p)


@helper
def put_back(p):
    """Positions, attitudes and momenta on the joints, by the least change in the metric of the masses; a status."""
    m = plan_at(p)
    G, R, x, d, s = at(m, J.ROWS_AT, p), at(m, J.ROTATIONS, p), at(m, J.MOTION, p), at(m, J.CHANGE, p), L.NOT_CONVERGED
    before = 1e300
    for _count in range(MOST):
        rotations(R, p.y, p)
        worst = residuals(m, G, R, p.y, p)
        if not worst < before:
            s = L.OK if worst < 1e-12 else L.NOT_CONVERGED
            break
        eliminate(m, 0.0, G, G, R, R, p)
        if worst <= CLOSED:
            s = L.OK
            break
        before = worst
        for r in range(at(m, J.ROWS, p)):
            p.work[d + r] = -p.work[at(m, J.RESIDUAL, p) + r]
        no_loads(m, p)
        solve(m, G, G, d, p)
        for i in range(p.N):
            k = L.BODY * i
            e = exp_quaternion(back(R, i, get3(p.work, x + 6 * i + 3), p))
            put3(p.y, k + L.POSITION, add(get3(p.y, k + L.POSITION), get3(p.work, x + 6 * i)))
            put4(p.y, k + L.ATTITUDE, multiply(get4(p.y, k + L.ATTITUDE), e))
    put_speeds(m, x, R, p.y, L.BODY, L.MOMENTUM, L.ANGULAR, p)
    put_openings(m, G, x, d, p)
    no_loads(m, p)
    solve(m, G, G, d, p)
    push_rows(m, G, R, d, p.y, L.BODY, L.MOMENTUM, L.ANGULAR, p)
    return s


def reacting_step(t, h, p):
    """A step with the reactions as loads, put back on the joints."""
    m = plan_at(p)
    least = at(m, J.BEGUN, p)
    p.work[least] = 1.0
    status = step(t, h, p)
    if at(m, J.ROWS, p) > at(m, J.TREE, p) and p.work[least] < NEARLY:
        p.step_info[L.RESIDUAL] = p.work[least]
        return L.SINGULAR
    return put_back(p) if status == L.OK else status
