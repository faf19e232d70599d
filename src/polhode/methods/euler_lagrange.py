"""Variational integrators for translation: forced discrete Euler-Lagrange equations.

    "variational"        the symmetric discrete Lagrangian of [carson2005, eq. 14] with alpha = 1/2
    "variational:0.25"   with another alpha from 0 to 1; alpha and 1 - alpha are the same, 0 is Stoermer-Verlet
    "variational_midpoint"
                         alpha = 1/2, with the Jacobian of every step, which detects singular steps
    "variational_midpoint4"
                         the same with its energy corrected: a processed method of order 4
    "galerkin6"          polynomials of degree s - 1 through Lobatto's s nodes, order 2 s - 2 = 6; any even order

A discrete Lagrangian approximates the action of a step; its discrete Legendre transforms are the momenta at the ends
[marsden2001, 1.5], and forces enter by the Lagrange-d'Alembert principle [carson2005, eq. 28]. All methods of the
family share one step and differ in coefficients. The unknowns are velocities V_l, n for each body that moves; loads are
evaluated at m nodes:

    Q_j = q0 + h sum_l A_jl V_l,   U_j = V_(of j),   F_j = F(t + c_j h, Q_j, U_j)                 the nodes
    M V_i = p0 + h sum_j E_ij F_j                                                                to be solved
    q1 = q0 + h sum_l b_l V_l,   p1 = p0 + h sum_j e_j F_j                                        the end

where F are all loads, conservative or not: discrete forces as symmetric as the Lagrangian are evaluated at the same
nodes. Any alpha has order 2. For ``galerkin`` A is Lobatto IIIA, E is IIIB, and b = e [marsden2001, 2.6]. All are
time-symmetric, and symplectic unless loads depend on velocities.

Velocities are solved to round-off: the first iterations neglect the change of the loads, and where corrections shrink
slowly Newton's method with difference quotients of the loads takes over. The matrix of the midpoint rule,

    I - (h/2)^2 M^-1 dF/dq,

is the Cayley factor I - A, A = (h/2) J Hess H [carson2005, eq. 6], with the momenta eliminated; both are singular
together. ``variational_midpoint`` returns SINGULAR where the matrix is singular or nearly so, or where its determinant
is negative: then a shorter step was singular, and the solution is not the one connected to a vanishing step. It finds
that shorter step by bisection, for the error message; likewise where the solution cannot be followed.

To O(h^4), the midpoint rule follows the motion of H - (h^2/24) H''(z', z') [hairer2006, IX.3], and

    H''(z', z') = d/dt (v . grad V) + 2 W,   W = grad V . M^-1 grad V,

so its energy oscillates about a value other than the exact one. ``variational_midpoint4`` removes both terms: W by
adding (h^2/12) W to the potential, whose force is the system's commutator load; the time derivative by advancing states
shifted by the flow of -(h^2/24) v . grad V, a processor [blanes1999] made of kicks and drifts.

Work: V (n d) | F (m d) | residual (n d) | scales (2 d) | dF/dQ (m d d) | dF/dU (m d d) | matrix (n d)^2 | pivots (n d)
| V of shorter steps (2 n d) | forces (2 d), where d = 3 times the bodies that move.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from polhode.algebra.so3 import axpy, scale
from polhode.errors import InvalidInput
from polhode.flows.drift import drift
from polhode.flows.kick import DISPLACEMENT, enter, kick, loads_at
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, inlined
from polhode.kernel.solve import NEAR as NEAR_ENOUGH, ROUNDOFF, factor, follow, is_positive, norm3, substitute
from polhode.methods.record import UNGUARDED, CompiledMethod, Method, Option, Promises
from polhode.methods.tableaux import LARGEST_FAMILY_ORDER, tableau as find_tableau

MOST_ITERATIONS = 50
RATES = L.ALL & ~L.ATTRACTION
"""The parts of the loads that include all rates of auxiliary variables."""
DIFFERENCE = 1.5e-8
"""Relative displacement of difference quotients."""
SLOW = 0.1
"""Ratio of successive corrections above which a Jacobian is computed."""
NEAR = 1e-4
"""Reciprocal condition number below which a matrix counts as nearly singular: four digits of a step are lost."""
STEEP, BISECTIONS = 0.05, 40
"""The same limit at the longest solvable step, below which a failure is attributed to a singular step; trials to find
that step."""

VELOCITIES, NODES, NEWTON, OF = 0, 1, 2, 3
"""Slots of the integer coefficients: n; m; 1 to use a Jacobian from the first iteration; then, for each node, the index
of its velocity."""


# coefficients: A by rows (m n) | E by rows (n m) | b (n) | e (m) | c (m) | factor of h^2 times the commutator load
def _numbers(A: Any, E: Any, b: Any, e: Any, c: Any, newton: bool = False, factor: float = 0.0) -> tuple[Any, Any]:
    """Float and integer coefficients as the step reads them."""
    A, E = np.atleast_2d(A), np.atleast_2d(E)
    m, n = A.shape
    coefficients = np.concatenate([np.ravel(part) for part in (A, E, b, e, c, factor)])
    return coefficients, np.array([n, m, int(newton), *(range(m) if n > 1 else [0] * m)], dtype=np.int64)


def _work(n: int, m: int, blocks: int) -> int:
    """Length of the scratch array, see the module docstring."""
    d = 3 * blocks
    return 5 * n * d + m * d + 4 * d + 2 * m * d * d + (n * d) ** 2


@inlined
def velocity_of(j, p):
    """Index in ``work`` of the velocities U_j of node j."""
    return 3 * p.B * p.int_coefficients[OF + j]


@inlined
def time_of(j, t, h, p):
    """Time of node j; at the end of the step exactly the time of the next step."""
    n, m = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES]
    c = p.coefficients[2 * n * m + n + m + j]
    return p.step_info[L.NEXT_TIME] if c == 1.0 else t + c * h


@inlined
def is_start(j, p):
    """Whether Q_j = q0, whatever the velocities."""
    n = p.int_coefficients[VELOCITIES]
    weight = 0.0
    for k in range(n):
        weight += abs(p.coefficients[j * n + k])
    return weight == 0.0


@inlined
def is_solved(j, p):
    """Whether the loads of node j enter the equations to be solved."""
    n, m = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES]
    weight = 0.0
    for i in range(n):
        weight += abs(p.coefficients[n * m + i * m + j])
    return weight != 0.0


@helper
def go_to(j, h, p):
    """Put the positions and momenta of node j into ``stage_state``."""
    n, d, v = p.int_coefficients[VELOCITIES], 3 * p.B, velocity_of(j, p)
    for k in range(p.B):
        i = p.blocks[2 * k]
        a = L.BODY * i
        for c in range(3):
            x = 0.0
            for l in range(n):
                x += p.coefficients[j * n + l] * p.work[l * d + 3 * k + c]
            p.stage_state[a + L.POSITION + c] = p.y[a + L.POSITION + c] + h * x
        put3(p.stage_state, a + L.MOMENTUM, scale(p.bodies[L.CONSTANTS * i + L.MASS], get3(p.work, v + 3 * k)))


@inlined
def keep_loads(to, p):
    """Copy the forces on the moving bodies from ``load`` to ``work[to:]``."""
    for k in range(p.B):
        put3(p.work, to + 3 * k, get3(p.load, L.LOAD * p.blocks[2 * k]))


@helper
def shift(s, forces, p):
    """Displace the positions in ``stage_state`` by s M^-1 F, with the forces F in ``work[forces:]``."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        mobility = s * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
        put3(p.stage_state, L.BODY * i, axpy(mobility, get3(p.work, forces + 3 * k), get3(p.stage_state, L.BODY * i)))


@helper
def loads_of_trial(t, h, p):
    """Evaluate all loads of ``stage_state`` into ``load``, plus the commutator load where the method adds it."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    factor = p.coefficients[2 * n * m + n + 2 * m] * h * h
    if factor == 0.0:
        loads_at(L.ALL, t, p.stage_state, p.load, p)
        return
    twice = 5 * n * d + m * d + 2 * d + 2 * m * d * d + n * d * n * d
    forces = twice + d
    if p.step_info[L.HAS_COMMUTATOR] != 0.0:
        loads_at(L.COMMUTATOR, t, p.stage_state, p.load, p)
        keep_loads(twice, p)
        loads_at(L.ALL, t, p.stage_state, p.load, p)
        keep_loads(forces, p)
    else:
        loads_at(L.ALL, t, p.stage_state, p.load, p)
        keep_loads(forces, p)
        largest = 0.0
        for k in range(p.B):
            i = p.blocks[2 * k]
            size = norm3(get3(p.stage_state, L.BODY * i + L.POSITION))
            speed = norm3(get3(p.work, forces + 3 * k)) * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
            largest = max(largest, speed / size if size > 0.0 else speed)
            put3(p.work, twice + 3 * k, (0.0, 0.0, 0.0))
        if largest > 0.0:
            s, moved = DISPLACEMENT / largest, 0.0
            for at in range(4):
                offset = (-2.0, -1.0, 1.0, 2.0)[at]
                shift((offset - moved) * s, forces, p)
                moved = offset
                loads_at(L.ALL, t, p.stage_state, p.load, p)
                weight = (1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0, -1.0 / 6.0)[at] / s
                for k in range(d):
                    p.work[twice + k] += weight * p.load[L.LOAD * p.blocks[2 * (k // 3)] + k % 3]
            shift(-moved * s, forces, p)
    for k in range(p.B):
        changed = axpy(factor, get3(p.work, twice + 3 * k), get3(p.work, forces + 3 * k))
        put3(p.load, L.LOAD * p.blocks[2 * k], changed)


@inlined
def is_divided(p):
    """Whether only a part of the loads depends on velocities."""
    return p.step_info[L.SPLIT_LOADS] != 0.0 and p.step_info[L.VELOCITY_DEPENDENT] == 1.0


@inlined
def resting(p):
    """Index in ``work`` of the forces at the start of the step that do not depend on velocities."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    return 5 * n * d + m * d + 2 * d + 2 * m * d * d + n * d * n * d


@helper
def evaluate_loads(j, t, h, p):
    """Evaluate the loads at node j; at the start of the step only the part that depends on velocities, if separable."""
    n, d = p.int_coefficients[VELOCITIES], 3 * p.B
    to = n * d + j * d
    go_to(j, h, p)
    if is_divided(p) and is_start(j, p):
        loads_at(L.MOVING, time_of(j, t, h, p), p.stage_state, p.load, p)
        keep_loads(to, p)
        for k in range(d):
            p.work[to + k] += p.work[resting(p) + k]
    else:
        loads_of_trial(time_of(j, t, h, p), h, p)
        keep_loads(to, p)


@helper
def slopes_of(j, t, h, p):
    """Derivatives of the forces at node j by position and, if needed, by velocity, from forward differences."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    forces, residual = n * d + j * d, n * d + m * d
    scales = residual + n * d
    go_to(j, h, p)
    for kind in range(2 if p.step_info[L.VELOCITY_DEPENDENT] == 1.0 else 1):
        to = scales + 2 * d + kind * m * d * d + j * d * d
        for c in range(d):
            i = p.blocks[2 * (c // 3)]
            at = L.BODY * i + (L.MOMENTUM if kind == 1 else L.POSITION) + c % 3
            mass = p.bodies[L.CONSTANTS * i + L.MASS] if kind == 1 else 1.0
            value = p.stage_state[at]
            p.stage_state[at] = value + mass * DIFFERENCE * p.work[scales + kind * d + c]
            step = (p.stage_state[at] - value) / mass
            loads_of_trial(time_of(j, t, h, p), h, p)
            p.stage_state[at] = value
            for k in range(p.B):
                F = get3(p.load, L.LOAD * p.blocks[2 * k])
                for r in range(3):
                    p.work[to + (3 * k + r) * d + c] = (F[r] - p.work[forces + 3 * k + r]) / step


@helper
def build(t, h, p):
    """Compute the matrix of Newton's method into ``work``; False where it is not finite."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    by_position = n * d + m * d + n * d + 2 * d
    by_velocity = by_position + m * d * d
    matrix = by_velocity + m * d * d
    for j in range(m):
        if is_solved(j, p) and (p.step_info[L.VELOCITY_DEPENDENT] == 1.0 or not is_start(j, p)):
            slopes_of(j, t, h, p)
        else:
            for k in range(d * d):
                p.work[by_position + j * d * d + k] = p.work[by_velocity + j * d * d + k] = 0.0
    for i in range(n):
        for r in range(d):
            factor_of_row = -h * p.bodies[L.CONSTANTS * p.blocks[2 * (r // 3)] + L.INVERSE_MASS]
            for l in range(n):
                for c in range(d):
                    x = 0.0
                    for j in range(m):
                        weight = p.coefficients[n * m + i * m + j]
                        if weight != 0.0:
                            x += weight * h * p.coefficients[j * n + l] * p.work[by_position + j * d * d + r * d + c]
                            if p.step_info[L.VELOCITY_DEPENDENT] == 1.0 and p.int_coefficients[OF + j] == l:
                                x += weight * p.work[by_velocity + j * d * d + r * d + c]
                    entry = factor_of_row * x
                    if i == l and r == c:
                        entry += 1.0
                    p.work[matrix + (i * d + r) * n * d + l * d + c] = entry
                    if not abs(entry) < inf:
                        return False
    return True


@helper
def conditioned(p):
    """Factorise the matrix; returns its reciprocal condition number (1-norm) with the sign of its determinant, 0 where
    it is singular."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    size = n * d
    residual = size + m * d
    matrix = residual + size + 2 * d + 2 * m * d * d
    pivots = matrix + size * size
    norm = 0.0
    for c in range(size):
        total = 0.0
        for r in range(size):
            total += abs(p.work[matrix + r * size + c])
        norm = max(norm, total)
    if not factor(p.work, matrix, size, pivots):
        return 0.0
    sign = 1.0 if is_positive(p.work, matrix, size, pivots) else -1.0
    inverse = 0.0
    for c in range(size):
        for r in range(size):
            p.work[residual + r] = 1.0 if r == c else 0.0
        substitute(p.work, matrix, size, pivots, residual)
        total = 0.0
        for r in range(size):
            total += abs(p.work[residual + r])
        inverse = max(inverse, total)
    return sign / (norm * inverse)


@helper
def carry(h, p):
    """Update the forces to first order by the last correction of the velocities, which stands where residuals do."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    forces = n * d
    residual = forces + m * d
    by_position = residual + n * d + 2 * d
    by_velocity = by_position + m * d * d
    for j in range(m):
        for c in range(d):
            shift = 0.0
            for l in range(n):
                shift += h * p.coefficients[j * n + l] * p.work[residual + l * d + c]
            for r in range(d):
                p.work[forces + j * d + r] += p.work[by_position + j * d * d + r * d + c] * shift
                if p.step_info[L.VELOCITY_DEPENDENT] == 1.0:
                    change = p.work[residual + velocity_of(j, p) + c]
                    p.work[forces + j * d + r] += p.work[by_velocity + j * d * d + r * d + c] * change


@inlined
def settled(grain, h, residual, scales, p):
    """Whether corrections that no longer shrink are at round-off level: of the velocities, or of loads that cancel."""
    d = 3 * p.B
    for k in range(p.int_coefficients[VELOCITIES] * d):
        c = k % d
        allowed = max(grain * (p.work[scales + d + c] + abs(p.work[k])), ROUNDOFF * p.work[scales + c] / abs(h))
        if not abs(p.work[residual + k]) <= allowed:
            return False
    return True


@helper
def find_velocities(t, h, full, p):
    """Solve for the velocities from those in ``work``, if ``full`` with a Jacobian at once; returns a status."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    forces = n * d
    residual = forces + m * d
    scales = residual + n * d
    matrix = scales + 2 * d + 2 * m * d * d
    pivots = matrix + n * d * n * d
    checked = p.int_coefficients[NEWTON] == 1
    renew, full = checked or full, False
    jacobians = 0
    before, shrunk = inf, 1.0
    for iteration in range(MOST_ITERATIONS):
        for j in range(m):
            if is_solved(j, p) and (p.step_info[L.VELOCITY_DEPENDENT] == 1.0 or not is_start(j, p)):
                evaluate_loads(j, t, h, p)
        if before == inf:
            for k in range(p.B):
                inverse_mass = p.bodies[L.CONSTANTS * p.blocks[2 * k] + L.INVERSE_MASS]
                speed, load = norm3(get3(p.work, 3 * k)), norm3(get3(p.work, forces + 3 * k))
                offset = norm3(get3(p.y, L.BODY * p.blocks[2 * k] + L.POSITION)) + abs(h) * speed
                speed += abs(h) * inverse_mass * load
                if not offset + speed < inf:
                    return L.NOT_FINITE
                for c in range(3):
                    p.work[scales + 3 * k + c] = offset if offset > 0.0 else 1.0
                    p.work[scales + d + 3 * k + c] = speed if speed > 0.0 else 1.0
        renewed = renew
        if renew:
            if not build(t, h, p):
                return L.NOT_CONVERGED if jacobians > 0 else L.NOT_FINITE
            if checked:
                p.step_info[L.ERROR] = conditioned(p)
                if p.step_info[L.ERROR] == 0.0:
                    return L.SINGULAR
            elif not factor(p.work, matrix, n * d, pivots) or not is_positive(p.work, matrix, n * d, pivots):
                return L.NOT_CONVERGED
            renew, full = False, True
            jacobians += 1
        for i in range(n):
            for k in range(d):
                b = p.blocks[2 * (k // 3)]
                x = 0.0
                for j in range(m):
                    x += p.coefficients[n * m + i * m + j] * p.work[forces + j * d + k]
                inverse_mass = p.bodies[L.CONSTANTS * b + L.INVERSE_MASS]
                momentum = p.y[L.BODY * b + L.MOMENTUM + k % 3]
                p.work[residual + i * d + k] = inverse_mass * (momentum + h * x) - p.work[i * d + k]
        if full:
            substitute(p.work, matrix, n * d, pivots, residual)
        correction = 0.0
        for k in range(n * d):
            e = p.work[residual + k]
            p.work[k] += e
            if not abs(e) < inf:
                return L.NOT_CONVERGED if p.step_info[L.ITERATIONS] > 0.0 else L.NOT_FINITE
            correction = max(correction, abs(e) / (p.work[scales + d + k % d] + abs(p.work[k])))
        p.step_info[L.ITERATIONS] += 1.0
        p.step_info[L.RESIDUAL] = correction
        # The next correction is predicted from the last two ratios: one alone may be small by chance.
        shrinking = correction / before
        done = correction <= 2e-16 or (before < 1e-3 and correction * max(shrinking, shrunk) <= 2e-17)
        # With a Jacobian of this very iterate, corrections that do not shrink are round-off of the loads, amplified.
        grain = 1e-11 if renewed else 4e-15
        stuck = correction >= (NEAR_ENOUGH if iteration == 1 else 0.5) * before
        if done or (stuck and settled(grain, h, residual, scales, p)):
            if full:
                carry(h, p)
            return L.SINGULAR if checked and p.step_info[L.GUARDED] != 0.0 and p.step_info[L.ERROR] < NEAR else L.OK
        if iteration == 1 and correction > NEAR_ENOUGH * before:
            return L.NOT_CONVERGED
        if correction > SLOW * before:
            renew = True
        if before < inf:
            shrunk = shrinking
        before = correction
    return L.NOT_CONVERGED


@helper
def restart(p):
    """Set all velocities to those at the start of the step."""
    n, d = p.int_coefficients[VELOCITIES], 3 * p.B
    for k in range(p.B):
        i = p.blocks[2 * k]
        v = scale(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(p.y, L.BODY * i + L.MOMENTUM))
        for l in range(n):
            put3(p.work, l * d + 3 * k, v)


def diagnose_failure_template(t, h, status, p):
    """The status of a step that cannot be solved: SINGULAR where the longest solvable step is nearly singular.

    On entry ERROR is the longest step reached so far and ``work`` holds its solution; the longest one is bracketed by
    bisection and left in ERROR, and RESIDUAL gets its reciprocal condition number if SINGULAR.
    """
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    followed = 3 * n * d + m * d + 2 * d + 2 * m * d * d + n * d * n * d
    iterations, residual = p.step_info[L.ITERATIONS], p.step_info[L.RESIDUAL]
    solved, unsolved, condition = p.step_info[L.ERROR] if h > 0.0 else -p.step_info[L.ERROR], h, 1.0
    for _trial in range(BISECTIONS):
        middle = 0.5 * (solved + unsolved)
        restart(p)
        if solved != 0.0:
            for k in range(n * d):
                p.work[k] = p.work[followed + k]
        if find_velocities(t, middle, False, p) == L.OK:
            solved, condition = middle, p.step_info[L.ERROR]
            for k in range(n * d):
                p.work[followed + k] = p.work[k]
        else:
            unsolved = middle
    singular = solved != 0.0 and condition < STEEP
    p.step_info[L.ITERATIONS], p.step_info[L.RESIDUAL] = iterations, condition if singular else residual
    p.step_info[L.ERROR] = abs(solved)
    return L.SINGULAR if singular else status if status != L.SINGULAR else L.NOT_CONVERGED


diagnose_failure = helper(diagnose_failure_template)
reach = helper(bind(follow, solve=find_velocities))


def variational_step(t, h, p):
    """One step (q0, p0) -> (q1, p1)."""
    n, m, d = p.int_coefficients[VELOCITIES], p.int_coefficients[NODES], 3 * p.B
    velocity_dependent = p.step_info[L.VELOCITY_DEPENDENT] == 1.0
    for k in range(L.BODY * p.N):
        p.stage_state[k] = p.y[k]
    restart(p)
    if is_start(0, p):
        if is_divided(p):
            if p.step_info[L.LOADED] == 0.0:
                loads_at(L.ALL & ~L.MOVING, time_of(0, t, h, p), p.stage_state, p.load, p)
            keep_loads(resting(p), p)
        elif not velocity_dependent:
            if p.step_info[L.LOADED] != 0.0:
                keep_loads(n * d, p)
            else:
                evaluate_loads(0, t, h, p)
    followed = 3 * n * d + m * d + 2 * d + 2 * m * d * d + n * d * n * d
    status = reach(n * d, 0, followed, 1, t, h, p)
    if status != L.OK:
        return (
            diagnose_failure(t, h, status, p) if p.int_coefficients[NEWTON] == 1 and status != L.NOT_FINITE else status
        )
    p.step_info[L.LOADED] = 0.0
    if p.S > 0:
        for j in range(m):
            go_to(j, h, p)
            p.loads(RATES, time_of(j, t, h, p), p.N, p.stage_state, p.bodies, p.parameters, p.load)
            p.step_info[L.REPEATED] += 1.0
            enter(p.coefficients[2 * n * m + n + j] * h, p.load, 0, p)
    for j in range(m):
        if not is_solved(j, p):
            if is_divided(p):
                go_to(j, h, p)
                loads_at(L.MOVING, time_of(j, t, h, p), p.stage_state, p.load, p)
                keep_loads(n * d + j * d, p)
                loads_at(L.ALL & ~L.MOVING, time_of(j, t, h, p), p.stage_state, p.load, p)
                for k in range(d):
                    p.work[n * d + j * d + k] += p.load[L.LOAD * p.blocks[2 * (k // 3)] + k % 3]
            else:
                evaluate_loads(j, t, h, p)
            if (is_divided(p) or not velocity_dependent) and p.coefficients[2 * n * m + n + m + j] == 1.0:
                p.step_info[L.LOADED] = 1.0  # the last node is the end of the step
    for k in range(d):
        a = L.BODY * p.blocks[2 * (k // 3)] + k % 3
        x = y = 0.0
        for l in range(n):
            x += p.coefficients[2 * n * m + l] * p.work[l * d + k]
        for j in range(m):
            y += p.coefficients[2 * n * m + n + j] * p.work[n * d + j * d + k]
        p.y[a + L.POSITION] += h * x
        p.y[a + L.MOMENTUM] += h * y
    return L.OK


# ------------------------------------------------------------------ the corrected energy
# Kicks and drifts whose commutators sum to the generator of this flow; those of third order in h cancel.
KICKS = tuple(sign / 48.0**0.5 for sign in (1.0, -1.0, -1.0, 1.0))
DRIFTS = KICKS


def convert_state(task, t, h, p):
    """Shift the state by the flow of -(h^2/24) v . grad V, to O(h^4); back again unless ``task`` is PREPARING."""
    time = t
    for s in range(4):
        k = s if task == L.PREPARING else 3 - s
        if task == L.PREPARING:
            kick(time, KICKS[k] * h, p)
        for b in range(p.B):
            drift(p.blocks[2 * b], (DRIFTS[k] if task == L.PREPARING else -DRIFTS[k]) * h, p)
        time += (DRIFTS[k] if task == L.PREPARING else -DRIFTS[k]) * h
        if task != L.PREPARING:
            kick(time, -KICKS[k] * h, p)
    p.step_info[L.LOADED] = 0.0
    return L.OK


@inlined
def always(p):
    """Whether the method is processed: always, with this converter."""
    return True


# ------------------------------------------------------------------ the rows
def discrete_lagrangian(alpha: float, newton: bool = False) -> tuple[Any, Any]:
    """Coefficients of the symmetric discrete Lagrangian [carson2005, eq. 14, 28]; alpha and 1 - alpha are the same."""
    a = min(alpha, 1.0 - alpha)
    if a == 0.5:
        return _numbers([[0.5]], [[0.5]], [1.0], [1.0], [0.5], newton)
    return _numbers([[a], [1.0 - a]], [[0.5 * (1.0 - a), 0.5 * a]], [1.0], [0.5, 0.5], [a, 1.0 - a], newton)


def _prepared(numbers: tuple[Any, Any]) -> CompiledMethod:
    """The compiled method of these float and integer coefficients."""
    n, m = int(numbers[1][VELOCITIES]), int(numbers[1][NODES])
    return CompiledMethod(
        variational_step, lambda bodies, blocks: _work(n, m, blocks), *numbers, needs={"points"}, auxiliary_work=0
    )


def _is_share(word: str) -> bool:
    try:
        return 0.0 <= float(word) <= 1.0
    except (TypeError, ValueError):
        return False


def _promises(order: int, evaluations: int, implicit: bool = True) -> Promises:
    return Promises(order=order, time_symmetric=True, symplectic=True, implicit=implicit, evaluations=evaluations)


def _of_alpha(alpha: str = "0.5") -> Promises:
    """Promises of ``variational``; alpha of 0 or 1 is explicit."""
    a = min(float(alpha), 1.0 - float(alpha))
    return _promises(2, 1 if a in (0.0, 0.5) else 2, implicit=a != 0.0)


def _corrected() -> CompiledMethod:
    """The compiled method of ``variational_midpoint4``."""
    numbers = _numbers([[0.5]], [[0.5]], [1.0], [1.0], [0.5], newton=True, factor=-1.0 / 12.0)
    return replace(_prepared(numbers), converter=(always, convert_state), processed=True, modified=True)


SMALLEST_ORDER = 4
SHOWN = (4, 6, 8)
"""Orders of ``galerkin`` that are listed."""


def galerkin(order: int) -> Method:
    """The row of the Galerkin integrator of an even order, 4 or more."""
    A, B = (find_tableau(f"lobatto_{kind}{order}") for kind in ("iiia", "iiib"))  # for positions, for momenta
    return Method(
        f"galerkin{order}", "variational",
        f"Galerkin: polynomials of degree {A.stages - 1} through Lobatto's {A.stages} nodes", "marsden2001",
        lambda: _prepared(_numbers(A.A, B.A, A.b, B.b, A.c)), lambda: _promises(order, A.stages - 1), range=UNGUARDED,
    )  # fmt: skip


def find(name: str) -> Method | None:
    """The Galerkin integrator of this name, else None."""
    match = re.fullmatch(r"galerkin(\d+)", name)
    if match is None:
        return None
    order = int(match[1])
    if order % 2 or not SMALLEST_ORDER <= order <= LARGEST_FAMILY_ORDER:
        raise InvalidInput(
            f"{name!r} is not offered; the order is an even number from {SMALLEST_ORDER} to {LARGEST_FAMILY_ORDER}"
        )
    return galerkin(order)


ROWS = (
    Method("variational", "variational", "Forced discrete Euler-Lagrange equations of the symmetric Lagrangian",
           "carson2005", lambda alpha="0.5": _prepared(discrete_lagrangian(float(alpha))), _of_alpha,
           {"alpha": Option("0.5", _is_share, lambda: ("0", "0.25", "0.5"),
                            "where loads are looked at, from 0 to 1 (0: Stoermer-Verlet)", kind=float)},
           range=UNGUARDED),
    Method("variational_midpoint", "variational", "Midpoint rule by Newton's method; tells where I - A is singular",
           "carson2005", lambda: _prepared(discrete_lagrangian(0.5, newton=True)), lambda: _promises(2, 1),
           range=UNGUARDED),
    Method("variational_midpoint4", "variational", "Midpoint rule of a modified potential, its states shifted back",
           "carson2005", _corrected, lambda: Promises(
               order=4, order_velocity=2, kept_by="galerkin4", symplectic=True, implicit=True, evaluations=1,
               requires="loads that depend on time and configuration only, and their commutator load",
           ), range=UNGUARDED),
    *map(galerkin, SHOWN),
)  # fmt: skip
"""The family; ``find`` makes Galerkin integrators of other orders."""
