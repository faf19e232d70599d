"""Runge-Kutta steps of explicit and implicit tableaux in local coordinates, with error estimate and dense output.

A family of methods supplies three functions, which are bound into the templates below:

    start(p)                   local coordinates of the state into ``work[origin:]``, base attitudes into ``work[1:]``
    field(t, at, to, p)        their time derivative at the coordinates ``work[at:]`` into ``work[to:]``; a status
    finish(at, begin, out, p)  the state with the coordinates ``work[at:]`` into ``out``; ``begin``: the state before

Every block has ANGLES coordinates of position or attitude, then three of momentum: (position, momentum), or (attitude,
angular momentum). Coordinates of an attitude describe the rotation from the base attitude of its block.

With an implicit symmetric tableau the chart of attitudes may be centred on the middle of the step, at q0
rotation_map(D), where D is half the increment of the coordinates in the step. The step is then time-symmetric; with the
chart centred on the start it is not. D is updated from the slopes in every iteration. The end of the step depends on
the centre by no more than the error of the step, so this costs no iterations.

Auxiliary variables are summed over the stages once these are solved, where nothing depends on them, and do not count in
the error estimate. Those that loads read are taken along from stage to stage of an explicit tableau (READS, see
``stage_rates``), and are unknowns of an implicit one (SOLVES_STATES), behind those of the blocks.

With compensated sums the end of a step includes the compensation of the state (see ``flows.sums``); stages go without,
because their rounding errors enter the step multiplied by h.

Work: number of dense stages known (implicit: 1 where all stages share a Jacobian) | base attitudes (4 B) | rates of
auxiliary variables in the stages | start values (d) | values of a stage (d) | slopes (s d), then what is listed at the
templates. d: unknowns, s: stages.
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.algebra.kepler import two_sum
from polhode.algebra.quaternion import conjugate, multiply
from polhode.algebra.so3 import E1, E2, E3, UNIT, columns, hat, matrix_product, matrix_sum, scale, times, turned_back
from polhode.flows import sums
from polhode.flows.kick import loads_at
from polhode.flows.sums import COMPENSATION
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, get_slopes, put3, put4
from polhode.kernel.jit import bind, global_names, helper, hole, inlined, python_of, replaceable
from polhode.kernel.solve import (
    NEAR,
    ROUNDOFF,
    continuation_substeps,
    factor,
    follow,
    is_positive,
    norm3,
    substitute,
    turning_rate,
)
from polhode.methods import stage_modes
from polhode.methods.stage_layout import DEGREE, ERRORS, EXTRAS, MIDDLE, MODES, STAGES, origin
from polhode.methods.stage_rates import auxiliary_in_stage, error_of_auxiliary, note_rates, rates_summed

MOST_ITERATIONS = 50

LAST = hole("LAST", "Last relative correction of a Newton iteration.", default=2e-16)
NEXT = hole("NEXT", "The same of the one predicted next.", default=2e-17)
LAST_CARRYING, NEXT_CARRYING = 2e-19, 1e-21
"""A Newton iteration ends when its relative correction is below LAST or the next one is predicted below NEXT. What is
left is nearly the same in every step and adds up, so compensated sums use smaller limits."""

ANGLES = hole("ANGLES", "Coordinates of an attitude.", default=3)
UNKNOWNS = hole("UNKNOWNS", "Coordinates of a block.", default=ANGLES + 3)

start = hole("start(p)", "Local coordinates of the state.")
field = hole("field(t, at, to, p) -> status", "Their time derivative.")
finish = hole("finish(at, begin, out, p)", "The state with given local coordinates.")
rotation_map = hole("rotation_map(psi) -> quaternion", "The map from coordinates of an attitude.")
jacobian = hole("jacobian(t, base, to, scales, p) -> status", "``local_jacobian`` or ``jacobian_by_slopes``.")
differences = hole("differences(t, base, to, scales, p) -> status", "``local_jacobian`` of a family.")
tangent = hole("tangent(v, w) -> 3-tuple", "The inverse tangent operator of ``rotation_map``.")
tangent_slope = hole("tangent_slope(v, w) -> 9-tuple", "Its derivative by v.")
tangent_matrix = hole("tangent_matrix(v) -> 9-tuple", "The matrix of the tangent operator.")
carried = hole("carried", "Whether angular momenta are those in the frame of the base attitude.")
factor_modes = hole("factor_modes(h, jacobian, to, p) -> bool", "``stage_modes.factor_modes`` of a family.")
substitute_modes = hole("substitute_modes(residual, to, p)", "``stage_modes.substitute_modes`` of a family.")
find = hole("find(n, at, spare, pieces, t, h, p) -> status", "``follow`` with ``solve_stages`` of a family.")
solve = hole("solve(t, h, p) -> status", "``solve_step`` of a family.")
enter1 = hole("enter1(k, x, begin, out, p)", "The sum into an auxiliary variable.", default=sums.enter1)
READS = hole("READS", "Whether loads read auxiliary variables.", default=False)
SOLVES_STATES = hole("SOLVES_STATES", "Whether variables that loads read are unknowns.", default=False)


@replaceable
@inlined
def unknowns(p):
    """How many unknowns there are."""
    return UNKNOWNS * p.B + (p.S - int(p.step_info[L.READ_FROM]) if SOLVES_STATES else 0)


def start_with_states(p):
    """``start`` with the variables that loads read."""
    start(p)
    first = int(p.step_info[L.READ_FROM])
    for k in range(p.S - first):
        p.work[origin(p) + UNKNOWNS * p.B + k] = p.y[L.BODY * p.N + first + k]


def field_with_states(t, at, to, p):
    """``field`` with them and their rates."""
    first = int(p.step_info[L.READ_FROM])
    for k in range(p.S - first):
        p.stage_state[L.BODY * p.N + first + k] = p.work[at + UNKNOWNS * p.B + k]
    status = field(t, at, to, p)
    for k in range(p.S - first):
        p.work[to + UNKNOWNS * p.B + k] = p.load[L.LOAD * p.N + first + k]
    return status


@replaceable
@inlined
def enter_rates(weights, count, h, begin, out, p):
    """Auxiliary variables of ``begin`` plus h times rates, weighted by ``coefficients[weights:]``, to ``out``."""
    for k in range(p.S):
        enter1(k, h * rates_summed(weights, count, k, p), begin, out, p)


@inlined
def keep_bases(p):
    """Take the present attitudes as base attitudes."""
    for k in range(p.B):
        put4(p.work, 1 + 4 * k, get4(p.y, L.BODY * p.blocks[2 * k] + L.ATTITUDE))


@inlined
def start_values(p):
    """Local coordinates of the present state: (position, momentum), or (0, angular momentum), in three numbers each."""
    keep_bases(p)
    for k in range(p.B):
        a, z = L.BODY * p.blocks[2 * k], origin(p) + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            put3(p.work, z, (0.0, 0.0, 0.0))
            put3(p.work, z + 3, get3(p.y, a + L.ANGULAR))
        else:
            put3(p.work, z, get3(p.y, a + L.POSITION))
            put3(p.work, z + 3, get3(p.y, a + L.MOMENTUM))


@replaceable
@inlined
def weighted_sum(weights, count, h, slopes, to, p):
    """Start values plus h times ``count`` slopes, with weights ``coefficients[weights:]``, to ``work[to:]``."""
    d, o = unknowns(p), origin(p)
    for k in range(d):
        z = 0.0
        for j in range(count):
            z += p.coefficients[weights + j] * p.work[slopes + j * d + k]
        p.work[to + k] = p.work[o + k] + h * z


@replaceable
@inlined
def add_increment(k, x, to, begin, out, p):
    """Start value of coordinate k plus x into ``work[to + k]``."""
    p.work[to + k] = p.work[origin(p) + k] + x


@inlined
def add_increment_compensated(k, x, to, begin, out, p):
    """The same with the compensation of the state ``begin``, the new one into ``out``; coordinates of an attitude,
    which are zero at the start, have none."""
    if k >= UNKNOWNS * p.B:
        p.work[to + k] = p.work[origin(p) + k] + x
        return
    i, kind = p.blocks[2 * (k // UNKNOWNS)], p.blocks[2 * (k // UNKNOWNS) + 1]
    slot = k % UNKNOWNS
    if kind == L.ROTATION and slot < ANGLES:
        p.work[to + k] = p.work[origin(p) + k] + x
    else:
        if kind == L.ROTATION:
            slot += L.ANGULAR - ANGLES
        c = int(p.step_info[L.COMPENSATION_AT]) + COMPENSATION * i + slot
        p.work[to + k], out[c] = two_sum(p.work[origin(p) + k], begin[c] + x)


@replaceable
@inlined
def land(weights, count, h, slopes, to, p):
    """``weighted_sum`` for the end of the step, compensated where sums are."""
    d = unknowns(p)
    for k in range(d):
        z = 0.0
        for j in range(count):
            z += p.coefficients[weights + j] * p.work[slopes + j * d + k]
        add_increment(k, h * z, to, p.y, p.y, p)


@replaceable
@inlined
def combined(weights, count, at, h, slopes, p):
    """h times the first ``count`` slopes, with weights ``coefficients[weights:]``, of three coordinates from ``at``."""
    d = unknowns(p)
    x = y = z = 0.0
    for j in range(count):
        w = p.coefficients[weights + j]
        x += w * p.work[slopes + j * d + at]
        y += w * p.work[slopes + j * d + at + 1]
        z += w * p.work[slopes + j * d + at + 2]
    return (h * x, h * y, h * z)


@replaceable
@inlined
def scaled_error(weights, h, slopes, end, p):
    """Largest ratio of an estimated error to its tolerance.

    Errors of attitudes (rad) are compared with rtol; errors of positions, velocities and angular velocities with atol +
    rtol times the vector's length. ``end``: index in ``work`` of the coordinates at the end of the step.
    """
    s, o = p.int_coefficients[STAGES], origin(p)
    relative, absolute = p.step_info[L.RELATIVE], p.step_info[L.ABSOLUTE]
    worst = 0.0
    for k in range(p.B):
        i, z = p.blocks[2 * k], UNKNOWNS * k
        angle = norm3(combined(weights, s + 1, z, h, slopes, p))
        e, before, after = combined(weights, s + 1, z + ANGLES, h, slopes, p), o + z + ANGLES, end + z + ANGLES
        if p.blocks[2 * k + 1] == L.ROTATION:
            allowed = relative
            j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
            rate = norm3(times(j, e))
            size = max(norm3(times(j, get3(p.work, before))), norm3(times(j, get3(p.work, after))))
        else:
            allowed = absolute + relative * max(norm3(get3(p.work, o + z)), norm3(get3(p.work, end + z)))
            j = p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
            rate = j * norm3(e)
            size = j * max(norm3(get3(p.work, before)), norm3(get3(p.work, after)))
        worst = max(worst, angle / allowed, rate / (absolute + relative * size))
        if not angle + rate < inf:
            return inf
    return worst


def largest_component(weights, h, slopes, end, p):
    """The error norm of ode45: the largest error of a component over rtol max(its size, atol/rtol) [shampine1997, 4].

    Components are positions and velocities, or angles (rad, of size 1) and angular velocities.
    """
    s, o = p.int_coefficients[STAGES], origin(p)
    relative = p.step_info[L.RELATIVE]
    least = p.step_info[L.ABSOLUTE] / relative
    worst = 0.0
    for k in range(p.B):
        i, z = p.blocks[2 * k], UNKNOWNS * k
        errors = (combined(weights, s + 1, z, h, slopes, p), combined(weights, s + 1, z + ANGLES, h, slopes, p))
        for part in range(2):
            at = z + ANGLES * part
            before, after, e = get3(p.work, o + at), get3(p.work, end + at), errors[part]
            turns = p.blocks[2 * k + 1] == L.ROTATION
            for c in range(3):
                weight = 1.0
                if part == 1:
                    weight = p.bodies[L.CONSTANTS * i + (L.INVERSE_INERTIA + c if turns else L.INVERSE_MASS)]
                size = 1.0 if turns and part == 0 else weight * max(abs(before[c]), abs(after[c]))
                error = weight * abs(e[c])
                if not error < inf:
                    return inf
                worst = max(worst, error / (relative * max(size, least)))
    return worst


@replaceable
def estimate(h, slopes, end, p):
    """Ratio of the step's error to its tolerance, from one error row or two [hairer1993, II.10]."""
    s = p.int_coefficients[STAGES]
    rows = s * s + 2 * s
    first = scaled_error(rows, h, slopes, end, p)
    if READS:
        first = max(first, error_of_auxiliary(rows, h, p))
    if p.int_coefficients[ERRORS] == 1:
        return first
    second = scaled_error(rows + s + 1, h, slopes, end, p)
    if READS:
        second = max(second, error_of_auxiliary(rows + s + 1, h, p))
    size = first * first + 0.01 * second * second
    return first * first / sqrt(size) if size > 0.0 else 0.0


def explicit_step(t, h, p):
    """One step with an explicit tableau."""
    s = p.int_coefficients[STAGES]
    d, o = unknowns(p), origin(p)
    z, slopes = o + d, o + 2 * d
    start(p)
    for i in range(s):
        weighted_sum(i * s, i, h, slopes, z, p)
        if READS:
            auxiliary_in_stage(i * s, i, h, p.y, p)
        status = field(t + p.coefficients[s * s + s + i] * h, z, slopes + i * d, p)
        if status != L.OK:
            return status
        note_rates(i, p)
    land(s * s, s, h, slopes, z, p)
    if p.step_info[L.RELATIVE] > 0.0:
        if READS:
            auxiliary_in_stage(s * s, s, h, p.y, p)
        status = field(t + h, z, slopes + s * d, p)
        if status != L.OK:
            return status
        note_rates(s, p)
        p.step_info[L.ERROR] = estimate(h, slopes, z, p)
        p.work[0] = 0.0
    finish(z, p.y, p.y, p)
    enter_rates(s * s, s, h, p.y, p.y, p)
    return L.OK


def dense_state(begin, theta, t, h, out, p):
    """The state at ``t + theta h`` within the explicit step just taken from ``begin`` at time ``t``, into ``out``."""
    s, extras, degree = p.int_coefficients[STAGES], p.int_coefficients[EXTRAS], p.int_coefficients[DEGREE]
    d, o, count = unknowns(p), origin(p), s + 1 + extras
    z, slopes = o + d, o + 2 * d
    rows = s * s + 2 * s + p.int_coefficients[ERRORS] * (s + 1)
    nodes, polynomials = rows + extras * count, rows + extras * count + extras
    for k in range(int(p.work[0]), extras):
        weighted_sum(rows + k * count, s + 1 + k, h, slopes, z, p)
        if READS:
            auxiliary_in_stage(rows + k * count, s + 1 + k, h, begin, p)
        status = field(t + p.coefficients[nodes + k] * h, z, slopes + (s + 1 + k) * d, p)
        if status != L.OK:
            return status
        note_rates(s + 1 + k, p)
        p.work[0] = k + 1.0
    for k in range(d):
        total = 0.0
        for j in range(count):
            weight = 0.0
            for n in range(degree - 1, -1, -1):
                weight = theta * (weight + p.coefficients[polynomials + j * degree + n])
            total += weight * p.work[slopes + j * d + k]
        add_increment(k, h * total, z, begin, out, p)
    finish(z, begin, out, p)
    for k in range(p.S):
        total = 0.0
        for j in range(count):
            weight = 0.0
            for n in range(degree - 1, -1, -1):
                weight = theta * (weight + p.coefficients[polynomials + j * degree + n])
            total += weight * p.work[1 + 4 * p.B + j * p.S + k]
        enter1(k, h * total, begin, out, p)
    return L.OK


def local_jacobian(t, base, to, scales, p):
    """Jacobian of the field at the stage values by forward differences from ``work[base:]``, into ``work[to:]``."""
    d, z = unknowns(p), origin(p) + unknowns(p)
    spare = to + d * d
    for c in range(d):
        value = p.work[z + c]
        step = 1.5e-8 * p.work[scales + c]
        p.work[z + c] = value + step
        status = field(t, z, spare, p)
        p.work[z + c] = value
        if status != L.OK:
            return status
        for r in range(d):
            p.work[to + r * d + c] = (p.work[spare + r] - p.work[base + r]) / step
    return L.OK


@inlined
def put_part(work, to, d, r, c, A):
    """Write a 3 x 3 matrix into rows r and columns c of the d x d matrix at ``work[to:]``."""
    for i in range(3):
        put3(work, to + d * (r + i) + c, (A[3 * i], A[3 * i + 1], A[3 * i + 2]))


def jacobian_by_slopes(t, base, to, scales, p):
    """The same by the slopes of the loads at ``stage_state``, which must be the state at the stage values; by
    differences where the loads have none."""
    d, z, row = unknowns(p), origin(p) + unknowns(p), L.SLOPE * p.N
    if p.step_info[L.HAS_SLOPES] == 0.0:
        return differences(t, base, to, scales, p)
    loads_at(L.SLOPES, t, p.stage_state, p.load, p)
    for b in range(p.B):
        body, kind, at = p.blocks[2 * b], p.blocks[2 * b + 1], z + UNKNOWNS * b
        # How displacement and momentum of the block change with its coordinates: D, K with the first three of them, M.
        D = M = UNIT
        K = hat((0.0, 0.0, 0.0))
        psi, m = get3(p.work, at), get3(p.stage_state, L.BODY * body + L.ANGULAR)
        if kind == L.ROTATION:
            D = tangent_matrix(scale(-1.0, psi))
            if carried:
                M = turned_back(rotation_map(psi), UNIT)
                K = matrix_product(hat(m), D)
        for a in range(p.B):
            other, sort = p.blocks[2 * a], p.blocks[2 * a + 1]
            k = L.LOAD * p.N + p.S + row * (L.LOAD * other + 3 * sort) + L.SLOPE * body + 3 * kind
            by_place, by_momentum = get_slopes(p.load, k, row), get_slopes(p.load, k + L.BY_MOMENTUM, row)
            A = matrix_sum(1.0, matrix_product(by_place, D), matrix_product(by_momentum, K))
            B = matrix_product(by_momentum, M)
            E = F = hat((0.0, 0.0, 0.0))
            if a == b and kind == L.ROTATION:
                j = get3(p.bodies, L.CONSTANTS * body + L.INVERSE_INERTIA)
                w = times(j, m)
                J = (j[0], 0.0, 0.0, 0.0, j[1], 0.0, 0.0, 0.0, j[2])
                if carried:
                    A = matrix_sum(-1.0, matrix_product(hat(get3(p.load, L.LOAD * body + 3)), D), A)
                else:
                    B = matrix_sum(1.0, matrix_sum(-1.0, hat(w), matrix_product(hat(m), J)), B)
                back = scale(-1.0, psi)
                rates = matrix_product(columns(tangent(back, E1), tangent(back, E2), tangent(back, E3)), J)
                E = matrix_sum(1.0, matrix_product(rates, K), matrix_sum(-1.0, tangent_slope(back, w), E))
                F = matrix_product(rates, M)
            elif a == b:
                v = p.bodies[L.CONSTANTS * body + L.INVERSE_MASS]
                F = (v, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, v)
            if carried and sort == L.ROTATION:
                e = conjugate(rotation_map(get3(p.work, z + UNKNOWNS * a)))
                A, B = turned_back(e, A), turned_back(e, B)
            r, c = UNKNOWNS * a, UNKNOWNS * b
            put_part(p.work, to, d, r, c, E)
            put_part(p.work, to, d, r, c + 3, F)
            put_part(p.work, to, d, r + 3, c, A)
            put_part(p.work, to, d, r + 3, c + 3, B)
    return L.OK


@replaceable
@inlined
def settled(h, corrections, scales, p):
    """Whether corrections that no longer shrink are at round-off level: of the unknowns, or of loads that cancel."""
    d = unknowns(p)
    for n in range(p.int_coefficients[STAGES] * d):
        k = n % d
        allowed = 1e-14 * p.work[scales + k]
        if k < UNKNOWNS * p.B and k % UNKNOWNS >= ANGLES:
            block = k // UNKNOWNS
            b = L.CONSTANTS * p.blocks[2 * block]
            if p.blocks[2 * block + 1] == L.ROTATION:
                allowed = max(allowed, ROUNDOFF / turning_rate(h, get3(p.bodies, b + L.INVERSE_INERTIA)))
            else:
                distance = p.work[scales + UNKNOWNS * block]
                allowed = max(allowed, ROUNDOFF * distance / (abs(h) * p.bodies[b + L.INVERSE_MASS]))
        if not abs(h * p.work[corrections + n]) <= allowed:
            return False
    return True


@replaceable
@inlined
def in_chart(k, p):
    """Whether an unknown is a coordinate of an attitude."""
    return k < UNKNOWNS * p.B and k % UNKNOWNS < ANGLES and p.blocks[2 * (k // UNKNOWNS) + 1] == L.ROTATION


@replaceable
@inlined
def recentre(h, p):
    """Centre the charts of attitudes on the middle of the step, estimated from the present slopes."""
    s, o = p.int_coefficients[STAGES], origin(p)
    for k in range(p.B):
        if p.blocks[2 * k + 1] == L.ROTATION:
            z = UNKNOWNS * k
            D = scale(0.5, combined(s * s, s, z, h, o + 2 * unknowns(p), p))
            put4(p.work, 1 + 4 * k, multiply(get4(p.y, L.BODY * p.blocks[2 * k] + L.ATTITUDE), rotation_map(D)))
            put3(p.work, o + z, scale(-1.0, D))


def solve_stages(t, h, full, p):
    """Solve for all stage slopes at once by Newton's method, to round-off; returns a status.

    Starts from the slopes and Jacobians in ``work``; with ``full``, Jacobians are computed anew. While all stages share
    that of the start (``work[0]`` is 1), they are solved mode by mode, see ``modes_of``. With a chart centred
    on the middle of the step, moving the centre changes the coordinates of attitudes but not the attitudes: the matrix
    includes the effect on the rates of these coordinates, and none on the loads.
    """
    s = p.int_coefficients[STAGES]
    d, o = unknowns(p), origin(p)
    n = s * d
    z, slopes, residual = o + d, o + 2 * d, o + 2 * d + n
    scales = residual + n
    jacobians = scales + d
    matrix = jacobians + n * d
    pivots = matrix + n * n
    renew, fresh = full, True
    renewed = 0
    before = inf
    for iteration in range(MOST_ITERATIONS):
        if p.int_coefficients[MIDDLE] == 1:
            recentre(h, p)
        if renew:
            for i in range(s):
                weighted_sum(i * s, s, h, slopes, z, p)
                at = t + p.coefficients[s * s + s + i] * h
                status = field(at, z, residual, p)
                if status == L.OK:
                    status = jacobian(at, residual, jacobians + i * d * d, scales, p)
                if status != L.OK:
                    return status
            renew, fresh = False, True
            p.work[0] = 0.0
        shared = p.work[0] == 1.0 and p.int_coefficients[MODES] > 0
        if fresh and shared:
            if not factor_modes(h, jacobians, matrix, p):
                return L.NOT_CONVERGED
            fresh = False
        if fresh:
            for i in range(s):
                for r in range(d):
                    for j in range(s):
                        for c in range(d):
                            weight = p.coefficients[i * s + j]
                            if p.int_coefficients[MIDDLE] == 1 and in_chart(r, p) and in_chart(c, p):
                                weight -= 0.5 * p.coefficients[s * s + j]
                            entry = -h * weight * p.work[jacobians + i * d * d + r * d + c]
                            if i == j and r == c:
                                entry += 1.0
                            p.work[matrix + (i * d + r) * n + j * d + c] = entry
            if not factor(p.work, matrix, n, pivots) or not is_positive(p.work, matrix, n, pivots):
                return L.NOT_CONVERGED
            fresh = False
        for i in range(s):
            weighted_sum(i * s, s, h, slopes, z, p)
            status = field(t + p.coefficients[s * s + s + i] * h, z, residual + i * d, p)
            if status != L.OK:
                return status
            for k in range(d):
                p.work[residual + i * d + k] -= p.work[slopes + i * d + k]
        if shared:
            substitute_modes(residual, matrix, p)
        else:
            substitute(p.work, matrix, n, pivots, residual)
        correction = 0.0
        for i in range(s):
            for k in range(d):
                e = p.work[residual + i * d + k]
                p.work[slopes + i * d + k] += e
                correction = max(correction, abs(h * e) / p.work[scales + k])
                if not abs(e) < inf:
                    return L.NOT_CONVERGED
        p.step_info[L.ITERATIONS] += 1.0
        p.step_info[L.RESIDUAL] = correction
        if correction <= LAST or (before < 1e-3 and correction * correction <= NEXT * before):
            return L.OK
        if correction >= (NEAR if iteration == 1 else 0.5) * before and settled(h, residual, scales, p):
            return L.OK
        if iteration == 1 and correction > NEAR * before:
            return L.NOT_CONVERGED
        if correction > 0.1 * before and renewed < 10:
            renew = True
            renewed += 1
        before = correction
    return L.NOT_CONVERGED


def solve_step(t, h, p):
    """Compute all stage slopes of an implicit tableau: the solution connected to that of a vanishing step."""
    s = p.int_coefficients[STAGES]
    d, o = unknowns(p), origin(p)
    n = s * d
    z, slopes, scales = o + d, o + 2 * d, o + 2 * d + 2 * n
    jacobians = scales + d
    for k in range(d):
        p.work[z + k] = p.work[o + k]
    status = field(t, z, slopes, p)
    if status != L.OK:
        return status
    fastest = 0.0
    for k in range(p.B):
        v = UNKNOWNS * k
        turns = p.blocks[2 * k + 1] == L.ROTATION
        distance, speed = norm3(get3(p.work, o + v)), norm3(get3(p.work, slopes + v))
        momentum, load = norm3(get3(p.work, o + v + ANGLES)), norm3(get3(p.work, slopes + v + ANGLES))
        sizes = (1.0 if turns else distance + abs(h) * speed, momentum + abs(h) * load)
        if turns:
            fastest = max(fastest, speed)
        if not sizes[0] + speed + sizes[1] + load < inf:
            return L.NOT_FINITE
        for c in range(UNKNOWNS):
            size = sizes[0] if c < ANGLES else sizes[1]
            p.work[scales + v + c] = size if size > 0.0 else 1.0
    for k in range(UNKNOWNS * p.B, d):
        size = abs(p.work[o + k]) + abs(h * p.work[slopes + k])
        p.work[scales + k] = size if size > 0.0 else 1.0
    # The field's Jacobian at the start serves every stage; its scratch row is where that of the second stage goes.
    status = jacobian(t, slopes, jacobians, scales, p)
    if status != L.OK:
        return status
    p.work[0] = 1.0
    for i in range(1, s):
        for k in range(d):
            p.work[slopes + i * d + k] = p.work[slopes + k]
        if p.int_coefficients[MODES] == 0:
            for k in range(d * d):
                p.work[jacobians + i * d * d + k] = p.work[jacobians + k]
    return find(n, slopes, jacobians + n * d + n * n + n, continuation_substeps(abs(h) * fastest), t, h, p)


def implicit_step(t, h, p):
    """One step with an implicit tableau."""
    s = p.int_coefficients[STAGES]
    d, o = unknowns(p), origin(p)
    start(p)
    status = solve(t, h, p)
    if status != L.OK:
        return status
    if p.S > 0:
        for i in range(s):
            weighted_sum(i * s, s, h, o + 2 * d, o + d, p)
            status = field(t + p.coefficients[s * s + s + i] * h, o + d, o + 2 * d + s * d, p)
            if status != L.OK:
                return status
            note_rates(i, p)
        enter_rates(s * s, s, h, p.y, p.y, p)
    land(s * s, s, h, o + 2 * d, o + d, p)
    finish(o + d, p.y, p.y, p)
    return L.OK


def steps_of(
    start, field, finish, rotation_map, angles=ANGLES, norm=scaled_error, compensation=False, tangents=None,
    carried=False, reads=False, solves_states=False,
):  # fmt: skip
    """The explicit step, the implicit step and dense output of a family.

    ``start``, ``field`` and ``finish`` are its functions (see above), ``rotation_map`` the map from its coordinates to
    a quaternion, ``angles`` the number of coordinates of an attitude, ``norm`` the error norm. Sums can be compensated
    only with blocks of six coordinates. ``reads``: explicit steps for loads that read auxiliary variables. A family in
    rotation vectors gives the ``tangents`` of its map (see MAPS), so
    that the slopes of loads can be used, and whether its angular momenta are ``carried``: those in the frame of the
    base attitude.
    """
    known = {"ANGLES": angles, "UNKNOWNS": angles + 3, "start": start, "field": field, "finish": finish}
    known["rotation_map"] = rotation_map
    if reads:
        known["READS"] = True
    if solves_states:
        known |= {"SOLVES_STATES": True}
        known["start"] = inlined(_with(start_with_states, known))
        known["field"] = helper(_with(field_with_states, known))
    known["unknowns"] = inlined(_with(unknowns, known))
    if compensation:
        known["enter1"] = sums.enter1_compensated
        known["enter_rates"] = inlined(_with(enter_rates, known))
        known |= {"LAST": LAST_CARRYING, "NEXT": NEXT_CARRYING}
    known["add_increment"] = add_increment_compensated if compensation else add_increment
    for template in (weighted_sum, land, combined, settled, in_chart, recentre):
        known[template.__name__] = inlined(_with(template, known))
    known["scaled_error"] = inlined(_with(norm, known))
    known["estimate"] = helper(_with(estimate, known))
    known["jacobian"] = helper(_with(local_jacobian, known))
    if tangents is not None:
        known |= dict(zip(("tangent", "tangent_slope", "tangent_matrix"), tangents, strict=True))
        known |= {"carried": carried, "differences": known["jacobian"]}
        known["jacobian"] = helper(_with(jacobian_by_slopes, known))
    known["factor_modes"] = helper(_with(stage_modes.factor_modes, known))
    known["substitute_modes"] = helper(_with(stage_modes.substitute_modes, known))
    known["find"] = helper(bind(follow, solve=helper(_with(solve_stages, known))))
    known["solve"] = helper(_with(solve_step, known))
    return _with(explicit_step, known), _with(implicit_step, known), _with(dense_state, known)


def _with(template, known):
    """Bind into the template those of ``known`` that it has holes for."""
    used = global_names(python_of(template).__code__)
    return bind(template, **{name: value for name, value in known.items() if name in used})
