"""The impulse of the loads at a frozen configuration. Exact for loads that depend on time and configuration only.

``impulse`` may add the load of the commutator [V, [T, V]], the gradient of W = F . M^-1 F, for methods with modified
potentials. For a force F on a mass and a torque T on a body, with the displacement v = F / mass and w = J^-1 T of all
bodies at once and D the derivative along it,

    L_F = 2 D F,     L_T = 2 (D T + w x T).

The same expressions are the commutator of the vector fields where the loads have no potential. Systems may provide
them; otherwise D is taken by central differences of order 4 (relative error about 1e-12), at the cost of 4
evaluations.
"""

from __future__ import annotations

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import axpy, cross, exp_quaternion, scale, times
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, helper, inlined, python_of
from polhode.kernel.signatures import (
    ALL,
    ANGULAR,
    ATTITUDE,
    BODY,
    COMMUTATES,
    COMMUTATOR,
    CONSTANTS,
    EVALUATIONS,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LOAD,
    LOADED,
    MOMENTUM,
    POSITION,
    ROTATION,
    SLOPED,
    WITHOUT_SOLVED,
)
from polhode.kernel.solve import norm3

DISPLACEMENT = 1e-3
"""Rotation (rad), or shift relative to the position, of the differences that make a commutator load."""


part = ALL
"""Of the loads: what ``impulse`` applies; bind puts in WITHOUT_SOLVED where a flow solves the rest."""


@inlined
def loads_at(part, t, y, out, p):
    """Evaluate a part of the loads at a time and state, and count it."""
    p.loads(part, t, p.N, y, p.bodies, p.parameters, out)
    p.report[EVALUATIONS] += 1.0


@inlined
def push(h, load, y, p):
    """Add h times a load to the momenta of what moves."""
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        at = BODY * i + (ANGULAR if kind == ROTATION else MOMENTUM)
        put3(y, at, axpy(h, get3(load, LOAD * i + 3 * kind), get3(y, at)))


@inlined
def kick(t, h, p):
    """Add h times the loads at time t to the momenta of what moves; positions and attitudes stay."""
    loads_at(ALL, t, p.y, p.load, p)
    push(h, p.load, p.y, p)


@inlined
def displace(s, p):
    """Put into ``trial`` the state displaced by s times what the loads kept in ``work`` do to a body at rest."""
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        a, b = BODY * i, CONSTANTS * i
        F = get3(p.work, LOAD * (p.N + i) + 3 * kind)
        if kind == ROTATION:
            e = exp_quaternion(scale(s, times(get3(p.bodies, b + INVERSE_INERTIA), F)))
            put4(p.trial, a + ATTITUDE, multiply(get4(p.y, a + ATTITUDE), e))
        else:
            shift = s * p.bodies[b + INVERSE_MASS]
            put3(p.trial, a + POSITION, axpy(shift, F, get3(p.y, a + POSITION)))


@inlined
def displacement_size(p):
    """Parameter s for which the fastest displacement is DISPLACEMENT; 0 where there are no loads."""
    largest = 0.0
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        F = get3(p.load, LOAD * i + 3 * kind)
        if kind == ROTATION:
            largest = max(largest, norm3(times(get3(p.bodies, CONSTANTS * i + INVERSE_INERTIA), F)))
        else:
            size = norm3(get3(p.y, BODY * i + POSITION))
            speed = norm3(F) * p.bodies[CONSTANTS * i + INVERSE_MASS]
            largest = max(largest, speed / size if size > 0.0 else speed)
    return DISPLACEMENT / largest if largest > 0.0 else 0.0


@helper
def commutator_load(t, p):
    """Write the commutator load to the first 6 N numbers of ``work``, using 6 N more.

    ``load`` holds the loads of the state before and after.
    """
    if part == ALL and p.report[COMMUTATES] != 0.0:
        loads_at(COMMUTATOR, t, p.y, p.work, p)
        return
    here = LOAD * p.N
    for k in range(here):
        p.work[k] = 0.0
        p.work[here + k] = p.load[k]
    s = displacement_size(p)
    if s == 0.0:
        return
    for k in range(BODY * p.N):
        p.trial[k] = p.y[k]
    for n in range(4):
        displace((-1.0, 1.0, -2.0, 2.0)[n] * s, p)
        loads_at(part, t, p.trial, p.load, p)
        weight = (-4.0 / 3.0, 4.0 / 3.0, 1.0 / 6.0, -1.0 / 6.0)[n] / s  # twice those of the derivative
        for k in range(here):
            p.work[k] += weight * p.load[k]
    for k in range(here):
        p.load[k] = p.work[here + k]
    for i in range(p.N):
        T = get3(p.load, LOAD * i + 3)
        w = times(get3(p.bodies, CONSTANTS * i + INVERSE_INERTIA), T)
        put3(p.work, LOAD * i + 3, axpy(2.0, cross(w, T), get3(p.work, LOAD * i + 3)))


@helper
def impulse(t, h, g, p):
    """Add h times the loads and g times the commutator loads at time t.

    Loads of the present state that ``load`` holds already (``report[LOADED]``: 1, with the commutator's 2) are not
    evaluated again. Where loads depend on velocities, the momenta change by the explicit midpoint rule.
    """
    if p.report[LOADED] == 0.0:
        loads_at(part, t, p.y, p.load, p)
        p.report[LOADED] = 1.0
    if g != 0.0 and p.report[LOADED] < 2.0:
        commutator_load(t, p)
        p.report[LOADED] = 2.0
    if p.report[SLOPED] != 0.0:
        for k in range(BODY * p.N):
            p.trial[k] = p.y[k]
        push(0.5 * h, p.load, p.trial, p)
        loads_at(part, t, p.trial, p.load, p)
        p.report[LOADED] = 0.0
    push(h, p.load, p.y, p)
    if g != 0.0:
        push(g, p.work, p.y, p)


impulse_of_the_rest = helper(
    bind(
        python_of(impulse), part=WITHOUT_SOLVED,
        commutator_load=helper(bind(python_of(commutator_load), part=WITHOUT_SOLVED)),
    )
)  # fmt: skip
"""``impulse`` by the loads without what a flow solves."""
