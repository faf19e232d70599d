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

from math import inf, pi

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
    ITERATIONS,
    LOAD,
    MOMENTUM,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    POSITION,
    RESIDUAL,
    ROTATION,
    TOO_LARGE,
)
from polhode.kernel.solve import GRAIN, factor, norm3, pieces_of, substitute, turning_rate
from polhode.methods.record import Method, Option, Prepared, Promises
from polhode.methods.tableaux import is_tableau, tableau_names
from polhode.methods.tableaux import tableau as find_tableau

UNKNOWNS = 6
MOST_ITERATIONS = 50
FULL_TURN = 4.0 * pi * pi

turn = tangent = field = jacobian = stages = finish = None  # what bind puts in


# table: A by rows (s s) | b (s) | c (s);   layout: s
def table(tableau):
    """The numbers of a tableau as the kernels read them: float table and integer layout."""
    numbers = np.concatenate([tableau.A.ravel(), tableau.b, tableau.c])
    return np.ascontiguousarray(numbers, dtype=np.float64), np.array([tableau.stages], dtype=np.int64)


# work: z of the start (d) | z of a stage (d) | slopes (s d), and for Newton: residual (s d) | scales (d) |
# Jacobians (s d d) | matrix (s d)^2 | pivots (s d)
def work_size(blocks, tableau):
    """Length of the scratch array for this many blocks."""
    d = UNKNOWNS * blocks
    n = tableau.stages * d
    if tableau.explicit:
        return 2 * d + n
    return 3 * d + 2 * n + n * d + n * n + n


@inlined
def start_values(p):
    """Local coordinates of the present state: (position, momentum), or (0, angular momentum)."""
    for k in range(p.B):
        a, z = BODY * p.blocks[2 * k], UNKNOWNS * k
        if p.blocks[2 * k + 1] == ROTATION:
            put3(p.work, z, (0.0, 0.0, 0.0))
            put3(p.work, z + 3, get3(p.y, a + ANGULAR))
        else:
            put3(p.work, z, get3(p.y, a + POSITION))
            put3(p.work, z + 3, get3(p.y, a + MOMENTUM))


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
            put4(p.trial, a + ATTITUDE, multiply(get4(p.y, a + ATTITUDE), e))
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


def move(p):
    """State from the local coordinates at the head of ``work``."""
    for k in range(p.B):
        a, z = BODY * p.blocks[2 * k], UNKNOWNS * k
        if p.blocks[2 * k + 1] == ROTATION:
            e = turn(get3(p.work, z))
            put4(p.y, a + ATTITUDE, compose(get4(p.y, a + ATTITUDE), e))
            put3(p.y, a + ANGULAR, rotate_inverse(e, get3(p.work, z + 3)))
        else:
            put3(p.y, a + POSITION, get3(p.work, z))
            put3(p.y, a + MOMENTUM, get3(p.work, z + 3))


@inlined
def advance(weights, count, h, slopes, to, p):
    """Start values plus h times the first ``count`` slopes weighted by ``table[weights:]``, into ``work[to:]``."""
    d = UNKNOWNS * p.B
    for k in range(d):
        z = 0.0
        for j in range(count):
            z += p.table[weights + j] * p.work[slopes + j * d + k]
        p.work[to + k] = p.work[k] + h * z


def explicit_step(t, h, p):
    """One step with a strictly lower triangular tableau."""
    s = p.layout[0]
    d = UNKNOWNS * p.B
    start_values(p)
    for i in range(s):
        advance(i * s, i, h, 2 * d, d, p)
        status = field(t + p.table[s * s + s + i] * h, d, (2 + i) * d, p)
        if status != OK:
            return status
    advance(s * s, s, h, 2 * d, 0, p)
    finish(p)
    return OK


def local_jacobian(t, base, to, scales, p):
    """Jacobian of the field at the stage values ``work[d:]`` by forward differences, by rows into ``work[to:]``.

    ``base`` holds the field there.
    """
    d = UNKNOWNS * p.B
    spare = to + d * d
    for c in range(d):
        kept = p.work[d + c]
        step = 1.5e-8 * p.work[scales + c]
        p.work[d + c] = kept + step
        status = field(t, d, spare, p)
        p.work[d + c] = kept
        if status != OK:
            return status
        for r in range(d):
            p.work[to + r * d + c] = (p.work[spare + r] - p.work[base + r]) / step
    return OK


@inlined
def settled(h, corrections, scales, p):
    """Whether corrections that no longer shrink are round-off: of the unknowns, or of loads that cancel."""
    d = UNKNOWNS * p.B
    for n in range(p.layout[0] * d):
        k = n % d
        allowed = 1e-14 * p.work[scales + k]
        if k % UNKNOWNS >= 3:
            block = k // UNKNOWNS
            b = CONSTANTS * p.blocks[2 * block]
            if p.blocks[2 * block + 1] == ROTATION:
                allowed = max(allowed, GRAIN / turning_rate(h, get3(p.bodies, b + INVERSE_INERTIA)))
            else:
                place = p.work[scales + UNKNOWNS * block]
                allowed = max(allowed, GRAIN * place / (abs(h) * p.bodies[b + INVERSE_MASS]))
        if not abs(h * p.work[corrections + n]) <= allowed:
            return False
    return True


def solve_stages(t, h, p):
    """Newton on all stage slopes at once, to round-off, from the slopes and Jacobians already in ``work``."""
    s = p.layout[0]
    d = UNKNOWNS * p.B
    n = s * d
    slopes, residual = 2 * d, 2 * d + n
    scales = residual + n
    jacobians = scales + d
    matrix = jacobians + n * d
    pivots = matrix + n * n
    fresh = True
    renewed = 0
    before = inf
    for _iteration in range(MOST_ITERATIONS):
        if fresh:
            for i in range(s):
                for r in range(d):
                    for j in range(s):
                        for c in range(d):
                            entry = -h * p.table[i * s + j] * p.work[jacobians + i * d * d + r * d + c]
                            if i == j and r == c:
                                entry += 1.0
                            p.work[matrix + (i * d + r) * n + j * d + c] = entry
            if not factor(p.work, matrix, n, pivots):
                return NOT_CONVERGED
            fresh = False
        for i in range(s):
            advance(i * s, s, h, slopes, d, p)
            status = field(t + p.table[s * s + s + i] * h, d, residual + i * d, p)
            if status != OK:
                return status
            for k in range(d):
                p.work[residual + i * d + k] -= p.work[slopes + i * d + k]
        substitute(p.work, matrix, n, pivots, residual)
        correction = 0.0
        for i in range(s):
            for k in range(d):
                e = p.work[residual + i * d + k]
                p.work[slopes + i * d + k] += e
                correction = max(correction, abs(h * e) / p.work[scales + k])
                if not abs(e) < inf:
                    return NOT_CONVERGED
        p.report[ITERATIONS] += 1.0
        p.report[RESIDUAL] = correction
        if correction <= 2e-16 or (before < 1e-3 and correction * correction <= 2e-17 * before):
            return OK
        if correction >= 0.5 * before and settled(h, residual, scales, p):
            return OK
        if correction > 0.1 * before and renewed < 10:
            for i in range(s):
                advance(i * s, s, h, slopes, d, p)
                at = t + p.table[s * s + s + i] * h
                status = field(at, d, residual, p)
                if status == OK:
                    status = jacobian(at, residual, jacobians + i * d * d, scales, p)
                if status != OK:
                    return status
            fresh = True
            renewed += 1
        before = correction
    return NOT_CONVERGED


def implicit_step(t, h, p):
    """One step with any tableau. Large rotations are reached in pieces, so that the solution followed is the one
    connected to a vanishing step."""
    s = p.layout[0]
    d = UNKNOWNS * p.B
    n = s * d
    slopes, scales = 2 * d, 2 * d + 2 * n
    jacobians = scales + d
    start_values(p)
    for k in range(d):
        p.work[d + k] = p.work[k]
    status = field(t, d, slopes, p)
    if status != OK:
        return status
    fastest = 0.0
    for k in range(p.B):
        z = UNKNOWNS * k
        for g in range(2):
            speed = norm3(get3(p.work, slopes + z + 3 * g))
            size = norm3(get3(p.work, z + 3 * g)) + abs(h) * speed
            if g == 0 and p.blocks[2 * k + 1] == ROTATION:
                size = 1.0
                fastest = max(fastest, speed)
            if not size + speed < inf:
                return NOT_FINITE
            for c in range(3):
                p.work[scales + z + 3 * g + c] = size if size > 0.0 else 1.0
    # The field's Jacobian at the start serves every stage; its scratch row lies in the second stage's place.
    status = jacobian(t, slopes, jacobians, scales, p)
    if status != OK:
        return status
    for i in range(1, s):
        for k in range(d):
            p.work[slopes + i * d + k] = p.work[slopes + k]
        for k in range(d * d):
            p.work[jacobians + i * d * d + k] = p.work[jacobians + k]
    pieces = pieces_of(abs(h) * fastest)
    for piece in range(1, pieces + 1):
        status = stages(t, h * piece / pieces, p)
        if status != OK:
            return status
    advance(s * s, s, h, slopes, 0, p)
    finish(p)
    return OK


def _steps(turn, tangent):
    field = helper(bind(local_field, turn=turn, tangent=tangent))
    finish = inlined(bind(move, turn=turn))
    jacobian = helper(bind(local_jacobian, field=field))
    stages = bind(solve_stages, field=field, jacobian=jacobian)
    return (
        bind(explicit_step, field=field, finish=finish),
        bind(implicit_step, field=field, finish=finish, jacobian=jacobian, stages=stages),
    )


exp_explicit, exp_implicit = _steps(exp_quaternion, dexpinv)
cayley_explicit, cayley_implicit = _steps(cay_quaternion, dcayinv)
MAPS = {"exp": (exp_explicit, exp_implicit), "cayley": (cayley_explicit, cayley_implicit)}


def prepare(tableau="rk4", map="exp"):
    """The step for a tableau and a coordinate map."""
    chosen = find_tableau(tableau)
    numbers, layout = table(chosen)
    step = MAPS[map][0 if chosen.explicit else 1]
    return Prepared(step, lambda bodies, blocks: work_size(blocks, chosen), numbers, layout)


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
)  # fmt: skip
"""The Munthe-Kaas methods; the second is the one of the paper that has a name of its own."""
