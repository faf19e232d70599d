"""Munthe-Kaas Runge-Kutta methods with any tableau, explicit or implicit, and either coordinate map [krysl2006, MKRK].

A step writes the attitude as ``q0 turn(psi)`` and the body angular momentum as ``turn(psi)^-1 mu``; a tableau of the
registry then integrates

    psi' = dturn^-1_{-psi} (j turn(psi)^-1 mu),     mu' = turn(psi) T,

together with position and momentum of bodies that translate, where the method is the plain Runge-Kutta method. Torque
free, ``mu`` does not change, so the spatial angular momentum is kept to round-off whatever the tableau.

Legend: ``psi`` local coordinate, ``mu`` angular momentum in the body frame of the start of the step, ``j`` inverse
principal moments, ``T`` body torque, ``e`` = turn(psi).
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np

from polhode.algebra.quaternion import compose, multiply, rotate, rotate_inverse
from polhode.algebra.so3 import cay_quaternion, dcayinv, dexpinv, dot, exp_quaternion, scale, times
from polhode.flows.kick import loads_at
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, helper, inlined
from polhode.kernel.signatures import (
    ALL,
    ANGULAR,
    ATTITUDE,
    BODY,
    CONSTANTS,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LOAD,
    MOMENTUM,
    NOT_FINITE,
    OK,
    POSITION,
    ROTATION,
    TOO_LARGE,
)
from polhode.methods.record import Method, Option, Prepared, Promises
from polhode.methods.stages import (
    UNKNOWNS,
    embedding,
    largest_component,
    own_size,
    start_values,
    steps_of,
    table,
    work_size,
)
from polhode.methods.tableaux import is_tableau, tableau_names
from polhode.methods.tableaux import tableau as find_tableau

FULL_TURN = 4.0 * pi * pi

turn = tangent = None  # what bind puts in


def local_field(t, at, to, p):
    """Time derivative of the local coordinates at ``work[at:]`` into ``work[to:]``; TOO_LARGE beyond the chart."""
    for k in range(p.B):
        a, z = BODY * p.blocks[2 * k], at + UNKNOWNS * k
        if p.blocks[2 * k + 1] == ROTATION:
            psi = get3(p.work, z)
            angle = dot(psi, psi)
            if not angle < FULL_TURN:
                return TOO_LARGE if angle >= FULL_TURN else NOT_FINITE
            e = turn(psi)
            put4(p.trial, a + ATTITUDE, multiply(get4(p.work, 1 + 4 * k), e))
            put3(p.trial, a + ANGULAR, rotate_inverse(e, get3(p.work, z + 3)))
        else:
            put3(p.trial, a + POSITION, get3(p.work, z))
            put3(p.trial, a + MOMENTUM, get3(p.work, z + 3))
    loads_at(ALL, t, p.trial, p.load, p)
    for k in range(p.B):
        i, z, dz = p.blocks[2 * k], at + UNKNOWNS * k, to + UNKNOWNS * k
        if p.blocks[2 * k + 1] == ROTATION:
            psi = get3(p.work, z)
            omega = times(get3(p.bodies, CONSTANTS * i + INVERSE_INERTIA), get3(p.trial, BODY * i + ANGULAR))
            put3(p.work, dz, tangent(scale(-1.0, psi), omega))
            put3(p.work, dz + 3, rotate(turn(psi), get3(p.load, LOAD * i + 3)))
        else:
            put3(p.work, dz, scale(p.bodies[CONSTANTS * i + INVERSE_MASS], get3(p.work, z + 3)))
            put3(p.work, dz + 3, get3(p.load, LOAD * i))
    return OK


def move(at, begin, out, p):
    """The state with the local coordinates at ``work[at:]``."""
    for k in range(p.B):
        a, z = BODY * p.blocks[2 * k], at + UNKNOWNS * k
        if p.blocks[2 * k + 1] == ROTATION:
            e = turn(get3(p.work, z))
            put4(out, a + ATTITUDE, compose(get4(p.work, 1 + 4 * k), e))
            put3(out, a + ANGULAR, rotate_inverse(e, get3(p.work, z + 3)))
        else:
            put3(out, a + POSITION, get3(p.work, z))
            put3(out, a + MOMENTUM, get3(p.work, z + 3))


MAPS = {"exp": (exp_quaternion, dexpinv), "cayley": (cay_quaternion, dcayinv)}


@cache
def functions_of(map, carries=False):
    """The explicit step, the implicit step and dense output with a coordinate map."""
    turn, tangent = MAPS[map]
    field = helper(bind(local_field, turn=turn, tangent=tangent))
    return steps_of(start_values, field, inlined(bind(move, turn=turn)), turn, carries=carries)


AS_ODE45 = steps_of(
    start_values, helper(bind(local_field, turn=exp_quaternion, tangent=dexpinv)),
    inlined(bind(move, turn=exp_quaternion)), exp_quaternion, norm=largest_component,
)  # fmt: skip


def prepare(tableau="rk4", map="exp", carries=False, steps=None, controller=""):
    """The step for a tableau and a coordinate map, or that of ``steps`` with a controller of its own; its sums
    compensated with ``carries``."""
    chosen = find_tableau(tableau)
    numbers, layout = table(chosen)
    explicit, implicit, dense = functions_of(map, carries) if steps is None else steps
    alone = carries or steps is not None
    return Prepared(
        explicit if chosen.explicit else implicit, lambda bodies, blocks: work_size(blocks, chosen), numbers, layout,
        own=own_size(chosen), carries=carries, compensated=None if alone else lambda: prepare(tableau, map, True),
        **embedding(chosen, dense), controller=controller,
    )  # fmt: skip


def promises(tableau="rk4", map="exp"):
    """What follows from the tableau.

    The chart is centred on the start of the step, so that a step is time-symmetric only where it is the implicit
    midpoint rule with exp, whose two half turns are one turn; Cayley's are not.
    """
    chosen = find_tableau(tableau)
    one_stage = not np.ptp(chosen.A, axis=0).any()  # equal rows of A are one stage written several times
    middle = one_stage and chosen.order == 2 and map == "exp"
    return Promises(
        order=chosen.order,
        keeps_free=("momentum_length", "spatial_momentum"),
        keeps_top=("vertical_momentum",),
        time_symmetric=middle,
        implicit=not chosen.explicit,
        evaluations=chosen.stages,
    )


OPTIONS = {
    "tableau": Option("rk4", is_tableau, tableau_names, "Runge-Kutta tableau"),
    "map": Option("exp", MAPS.__contains__, MAPS.keys, "coordinate map of the rotation group"),
}

ROWS = (
    Method("mkrk", "munthe_kaas", "Munthe-Kaas Runge-Kutta with any tableau", "munthekaas1998",
           prepare, promises, OPTIONS),
    Method("bbtrapwd", "munthe_kaas", "Bottasso and Borri's trapezoid with the full tangent map: mkrk:trapezoid",
           "bottasso1998", lambda: prepare("trapezoid"), lambda: promises("trapezoid")),
    Method("ode45", "munthe_kaas", "Dormand and Prince's 5(4) with the tolerances, norm and steps of MATLAB's ode45",
           "shampine1997", lambda: prepare("dp5", steps=AS_ODE45, controller="ode45"), lambda: promises("dp5"),
           tolerances=(1e-3, 1e-6)),
)  # fmt: skip
"""The Munthe-Kaas methods, and rows that have a name of their own in the papers."""
