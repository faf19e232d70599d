"""Krysl 2006: midpoint and trapezoid on SO(3) as compositions of Euler steps, and methods compared with them.

Every implicit map here solves for the new body angular momentum ``x`` of one body. A *rule* defines it by three
functions:

* ``stage(x, d) -> (e, m)``: the rotation from ``q`` to the attitude where the torque is evaluated, and the body angular
  momentum there;
* ``balance(x, e, T, d)``: the residual, T being the torque there;
* ``slope(x, d)``: the Jacobian of the residual without the derivative of the torque, which is added where the system
  has slopes of its loads.

The same maps advance positions and momenta, for which the rules reduce to the vector-space methods (2)-(5) of the
paper. Blocks (a body's rotation or translation) are solved one after the other, repeatedly, until none changes.

Legend: ``m`` body angular momentum (Pi), ``q`` attitude, ``j`` inverse principal moments, ``h`` step, ``e`` incremental
rotation as a quaternion, ``T`` body torque, ``T0`` the torque at the start of the step.
"""

from __future__ import annotations

from math import inf, pi
from typing import Any, NamedTuple

from polhode.algebra.quaternion import compose, multiply, rotate_inverse
from polhode.algebra.so3 import (
    UNIT,
    axpy,
    cay_quaternion,
    columns,
    cross,
    dcay_matrix,
    dexp_matrix,
    exp_quaternion,
    matrix_product,
    matrix_sum,
    scale,
    times,
    turned_back,
)
from polhode.flows.drift import drift
from polhode.flows.kick import enter, kick, loads_at
from polhode.flows.midpoint_lie import rotate_free, turned_jacobian
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, get_slopes, put3, put4
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.solve import NEAR, ROUNDOFF, continuation_substeps, follow, newton3, norm3, square3, turning_rate
from polhode.methods.record import CompiledMethod, Method, Promises

MOST_SWEEPS = 100


class Block(NamedTuple):
    """One body's rotation or translation in an implicit step.

    ``kind`` of block, body ``i``, time ``t`` of the load, the values at the start of the step, the load ``T0`` there,
    the workspace ``p``. For a translation, ``q`` holds the position, ``m`` the momentum and ``j`` the inverse mass.
    """

    kind: int
    i: int
    t: float
    h: float
    q: tuple[float, ...]
    m: tuple[float, ...]
    j: tuple[float, ...]
    T0: tuple[float, ...]
    p: Any


@inlined
def trial_loads(t, p):
    """Evaluate all loads of ``stage_state`` at time t into ``load``."""
    loads_at(L.ALL, t, p.stage_state, p.load, p)


@inlined
def cross_jacobian(s, x, w, j, k):
    """Jacobian (by rows) of x - s (y x j y) with dy/dx = k, at y = ``x``, w = j y."""
    s = s * k
    return (
        1.0, -s * (-x[2] * j[1] + w[2]), -s * (x[1] * j[2] - w[1]),
        -s * (x[2] * j[0] - w[2]), 1.0, -s * (-x[0] * j[2] + w[0]),
        -s * (-x[1] * j[0] + w[1]), -s * (x[0] * j[1] - w[0]), 1.0,
    )  # fmt: skip


# ------------------------------------------------------------------ rules
@inlined
def end_stage(x, d):
    """Load at the end of the step, reached by the rotation psi = h j x."""
    return exp_quaternion(scale(d.h, times(d.j, x))), x


@inlined
def rate_balance(x, e, T, d):
    """x - m - h (x x j x + T)."""
    rate = cross(x, times(d.j, x))
    return axpy(-d.h, axpy(1.0, rate, T), axpy(-1.0, d.m, x))  # [krysl2006, eq. 12]


@inlined
def rate_slope(x, d):
    """Jacobian of ``rate_balance``."""
    return cross_jacobian(d.h, x, times(d.j, x), d.j, 1.0)


@inlined
def turned_balance(x, e, T, d):
    """x - exp(-psi) m - h T."""
    return axpy(-d.h, T, axpy(-1.0, rotate_inverse(e, d.m), x))  # [krysl2006, eq. 19]


@inlined
def turned_slope(x, d):
    """Jacobian of ``turned_balance``."""
    psi = scale(d.h, times(d.j, x))
    return turned_jacobian(rotate_inverse(exp_quaternion(psi), d.m), psi, d.h, d.j)


@inlined
def mean_turn(x, d):
    """psi = h j (m + x) / 2, the rotation by the mean angular velocity."""
    return scale(0.5 * d.h, times(d.j, axpy(1.0, d.m, x)))


@inlined
def middle_stage(x, d):
    """Load in the middle of the step, reached by the rotation psi/2."""
    psi = mean_turn(x, d)
    # The torque is evaluated at the midpoint attitude and the mean angular velocity psi/h.
    return exp_quaternion(scale(0.5, psi)), scale(0.5, axpy(1.0, d.m, x))


@inlined
def swc1_balance(x, e, T, d):
    """x - exp(-psi) m - h exp(-psi/2) T."""
    return axpy(-1.0, rotate_inverse(e, axpy(d.h, T, rotate_inverse(e, d.m))), x)  # [krysl2006, SWC1]


@inlined
def swc1_slope(x, d):
    """Jacobian of ``swc1_balance`` at the torque that is in ``load``."""
    half = scale(0.5, mean_turn(x, d))
    e = exp_quaternion(half)
    v = rotate_inverse(e, d.m)
    # exp(-psi/2) (exp(-psi/2) m + h T), by two turns of psi/2 each
    inner = turned_jacobian(v, half, 0.25 * d.h, d.j)
    outer = turned_jacobian(rotate_inverse(e, axpy(d.h, get3(d.p.load, L.LOAD * d.i + 3), v)), half, 0.25 * d.h, d.j)
    return matrix_sum(1.0, turned_back(e, matrix_sum(-1.0, UNIT, inner)), outer)


@inlined
def bbtrap_slope(x, d):
    """Jacobian of ``bbtrap_balance`` at a constant torque."""
    psi = mean_turn(x, d)
    start = axpy(0.5 * d.h, d.T0, d.m)
    return turned_jacobian(rotate_inverse(exp_quaternion(psi), start), psi, 0.5 * d.h, d.j)


@inlined
def mean_stage(x, d):
    """Load at the end of the step, reached by a rotation at the mean angular velocity."""
    return exp_quaternion(mean_turn(x, d)), x


@inlined
def bbtrap_balance(x, e, T, d):
    """x - exp(-psi) (m + h T0 / 2) - h T / 2."""
    start = axpy(0.5 * d.h, d.T0, d.m)
    return axpy(-0.5 * d.h, T, axpy(-1.0, rotate_inverse(e, start), x))  # [krysl2006, BBTRAP]


@inlined
def cayley_stage(x, d):
    """Load at the end of the step, reached by the Cayley map of psi."""
    return cay_quaternion(mean_turn(x, d)), x


@inlined
def akw_balance(x, e, T, d):
    """x - m - h (y x j y) - h (T0 + T) / 2 with the mean momentum y = (m + x) / 2."""
    mean = scale(0.5, axpy(1.0, d.m, x))
    rate = cross(mean, times(d.j, mean))
    return axpy(-d.h, axpy(0.5, axpy(1.0, d.T0, T), rate), axpy(-1.0, d.m, x))  # [krysl2006, AKW]


@inlined
def akw_slope(x, d):
    """Jacobian of ``akw_balance``."""
    mean = scale(0.5, axpy(1.0, d.m, x))
    return cross_jacobian(d.h, mean, times(d.j, mean), d.j, 0.5)


@inlined
def resting_stage(x, d):
    """Load at the attitude at the start of the step and the new angular momentum."""
    return (1.0, 0.0, 0.0, 0.0), x


@inlined
def kick_balance(x, e, T, d):
    """x - m - h T."""
    return axpy(-d.h, T, axpy(-1.0, d.m, x))


@inlined
def kick_slope(x, d):
    """Jacobian of ``kick_balance``: the identity."""
    return UNIT


# Rules for translation, (a, b, g, A, B, w): the load is evaluated at the position r0 + h (a v0 + b v1) and the momentum
# g p0 + (1 - g) p1; the new position is r0 + h (A v0 + B v1); w is the weight of the load at the start. The stages of
# rotations have the same numbers: after the rotation h j (a m + b x), at the angular momentum g m + (1 - g) x.
END = (0.0, 1.0, 0.0, 0.0, 1.0, 0.0)
MIDDLE = (0.25, 0.25, 0.5, 0.5, 0.5, 0.0)
MEAN = (0.5, 0.5, 0.0, 0.5, 0.5, 0.5)
REST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

stage = hole("stage(x, d) -> (e, m)", "The rotation to where the torque is evaluated, and the momentum there.")
balance = hole("balance(x, e, T, d) -> 3-tuple", "The residual.")
slope = hole("slope(x, d) -> 9-tuple", "Its Jacobian without the derivative of the torque.")
tangent_matrix = hole("tangent_matrix(v) -> 9-tuple", "The tangent operator of the rotation of the stage.")
path = hole("path", "The rule for translation.")
node = hole("node", "Time of the load as a fraction of the step.")
squared = hole("squared", "Whether the rotation of the stage is applied twice.")
set_trial = hole("set_trial(x, d) -> quaternion", "``place_block`` of a rule.")
residual = hole("residual(x, full, d) -> 3-tuple", "``block_residual`` of a rule.")
jacobian = hole("jacobian(x, full, d) -> 9-tuple", "``block_jacobian`` of a rule.")
find = hole("find(n, at, spare, pieces, t, h, p) -> status", "``follow`` with ``solve_blocks`` of a rule.")
move_block = hole("move_block(k, t, h, p)", "``move_one`` of a rule.")
enter_own = hole("enter_own(t, h, p)", "``enter_rates`` of a rule.")
first = hole("first(t, h, p) -> status", "The step of the first half.")
second = hole("second(t, h, p) -> status", "The step of the second half.")


# ------------------------------------------------------------------ the implicit map
@inlined
def block_at(k, t, h, p):
    """Block k of the step with its values at the start, and the load there if the rule uses it."""
    i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
    a, b = L.BODY * i, L.CONSTANTS * i
    T0 = get3(p.work, L.LOAD * i + 3 * kind)
    if kind == L.ROTATION:
        j = get3(p.bodies, b + L.INVERSE_INERTIA)
        return Block(kind, i, t, h, get4(p.y, a + L.ATTITUDE), get3(p.y, a + L.ANGULAR), j, T0, p)
    r, v = get3(p.y, a + L.POSITION), p.bodies[b + L.INVERSE_MASS]
    return Block(kind, i, t, h, (r[0], r[1], r[2], 0.0), get3(p.y, a + L.MOMENTUM), (v, v, v), T0, p)


def place_block(x, d):
    """Put a block into ``stage_state`` where its load is evaluated, its new momentum being x; the rotation to there."""
    k = L.BODY * d.i
    if d.kind == L.ROTATION:
        e, m = stage(x, d)
        put4(d.p.stage_state, k + L.ATTITUDE, multiply(d.q, e))
        put3(d.p.stage_state, k + L.ANGULAR, m)
        return e
    a, b, g = path[0], path[1], path[2]
    put3(d.p.stage_state, k + L.POSITION, axpy(d.h, times(d.j, axpy(a, d.m, scale(b, x))), (d.q[0], d.q[1], d.q[2])))
    put3(d.p.stage_state, k + L.MOMENTUM, axpy(g, d.m, scale(1.0 - g, x)))
    return (1.0, 0.0, 0.0, 0.0)


def block_residual(x, full, d):
    """Residual of the new momentum x of a block; the slopes of the loads are evaluated with the ``full`` one."""
    e = set_trial(x, d)
    sloping = full and d.p.step_info[L.HAS_SLOPES] != 0.0
    loads_at(L.SLOPES if sloping else L.ALL, d.t, d.p.stage_state, d.p.load, d.p)
    load = get3(d.p.load, L.LOAD * d.i + 3 * d.kind)
    if d.kind == L.ROTATION:
        return balance(x, e, load, d)
    w = path[5]
    return axpy(-d.h, axpy(1.0 - w, load, scale(w, d.T0)), axpy(-1.0, d.m, x))


def block_jacobian(x, full, d):
    """Jacobian of ``block_residual``, ``full`` with the derivative of the loads where there are slopes."""
    turns = d.kind == L.ROTATION
    own = slope(x, d) if turns else kick_slope(x, d)
    if not full or d.p.step_info[L.HAS_SLOPES] == 0.0:
        return own
    a, b, g, w = path[0], path[1], path[2], path[5]
    row = L.SLOPE * d.p.N
    at = L.LOAD * d.p.N + d.p.S + row * (L.LOAD * d.i + 3 * d.kind) + L.SLOPE * d.i + 3 * d.kind
    s = scale(d.h * b, d.j)
    moved = columns((s[0], 0.0, 0.0), (0.0, s[1], 0.0), (0.0, 0.0, s[2]))
    if turns and b != 0.0:
        # The turn of the stage in the body frame: the map's tangent at -psi, psi = h j (a m + b x) as in ``stage``.
        back = scale(-d.h, times(d.j, axpy(a, d.m, scale(b, x))))
        moved = matrix_product(tangent_matrix(back), moved)
    total = matrix_product(get_slopes(d.p.load, at, row), moved)
    total = matrix_sum(1.0 - g, get_slopes(d.p.load, at + L.BY_MOMENTUM, row), total)
    if squared and turns:
        e, _ = stage(x, d)
        total = turned_back(e, total)
    return matrix_sum(-d.h * (1.0 - w), total, own)


@inlined
def movement(h, d):
    """Movement of a block in a step per unit of momentum: rotation (rad), or shift relative to the position."""
    rate = turning_rate(h, d.j)
    if d.kind != L.ROTATION:
        size = norm3((d.q[0], d.q[1], d.q[2]))
        rate = rate / size if size > 0.0 else inf
    return rate


def solve_blocks(t, h, full, p):
    """Solve for the new momenta of the blocks in turn, from those in ``work``; ``full``: with slopes of loads."""
    before = far = 1.0
    for sweep in range(MOST_SWEEPS):
        change = moved = 0.0
        settled = True
        for k in range(p.B):
            d = block_at(k, t + node * h, h, p)
            at = L.LOAD * (p.N + d.i) + 3 * d.kind
            old = get3(p.work, at)
            rate = movement(h, d)
            near = NEAR if sweep == 0 or full else inf
            exact = p.step_info[L.HAS_SLOPES] != 0.0
            status, x = newton3(residual, jacobian, old, square3(d.m), rate, near, full, exact, d, p.step_info)
            if status != L.OK:
                return status
            put3(p.work, at, x)
            if p.B < 2:
                return L.OK
            set_trial(x, d)  # overwrite the solver's last trial state, on which the other blocks would depend
            correction = norm3(axpy(-1.0, old, x))
            if correction > 0.0:
                size = norm3(x) + norm3(d.m)
                change, moved = max(change, correction / size), max(moved, correction * rate)
                settled = settled and (correction <= 1e-13 * size or correction * rate <= ROUNDOFF)
        if change <= 1e-15 or (settled and change >= 0.5 * before):
            return L.OK
        if sweep == 1 and change > (1.0 if full else NEAR) * before and moved > (1.0 if full else NEAR) * far:
            break
        before, far = change, moved
        p.step_info[L.RESIDUAL] = change
    return L.NOT_CONVERGED


# work: loads at the start (6 N) | unknowns (6 N) | unknowns of shorter steps (12 N) | rates of auxiliary variables at
# the start (S)
def implicit(t, h, p):
    """Solve one implicit map for all blocks and advance the state; returns a status."""
    unknowns = L.LOAD * p.N
    for k in range(L.BODY * p.N):
        p.stage_state[k] = p.y[k]
    if path[5] > 0.0:
        trial_loads(t, p)
        for k in range(unknowns):
            p.work[k] = p.load[k]
        for k in range(p.S):
            p.work[4 * unknowns + k] = p.load[unknowns + k]
    angle = 0.0
    for k in range(unknowns):
        p.work[unknowns + k] = 0.0
    for k in range(p.B):
        d = block_at(k, t, h, p)
        put3(p.work, unknowns + L.LOAD * d.i + 3 * d.kind, d.m)
        if d.kind == L.ROTATION:
            angle = max(angle, abs(h) * norm3(times(d.j, d.m)))
    status = find(unknowns, unknowns, 2 * unknowns, continuation_substeps(angle), t, h, p)
    if status != L.OK:
        return status
    if p.S > 0:
        enter_own(t, h, p)
    for k in range(p.B):
        move_block(k, t, h, p)
    return L.OK


def enter_rates(t, h, p):
    """Advance the auxiliary variables with the rates at the states where the solved step evaluates its loads."""
    for k in range(p.B):
        d = block_at(k, t + node * h, h, p)
        set_trial(get3(p.work, L.LOAD * (p.N + d.i) + 3 * d.kind), d)
    trial_loads(t + node * h, p)
    w = path[5]
    enter((1.0 - w) * h, p.load, 0, p)
    for k in range(p.S):
        p.y[L.BODY * p.N + k] += w * h * p.work[4 * L.LOAD * p.N + k]


def move_one(k, t, h, p):
    """Write the new state of a block from its solved momentum."""
    d = block_at(k, t, h, p)
    a = L.BODY * d.i
    x = get3(p.work, L.LOAD * p.N + L.LOAD * d.i + 3 * d.kind)
    if d.kind == L.ROTATION:
        e, _ = stage(x, d)
        q = compose(d.q, e)
        if squared:
            q = compose(q, e)
        put4(p.y, a + L.ATTITUDE, q)
        put3(p.y, a + L.ANGULAR, x)
    else:
        move = axpy(path[3], d.m, scale(path[4], x))
        put3(p.y, a + L.POSITION, axpy(h, times(d.j, move), get3(p.y, a + L.POSITION)))
        put3(p.y, a + L.MOMENTUM, x)


def implicit_map(stage, balance, slope, path, node=1.0, squared=False, tangent_matrix=dexp_matrix):
    """One implicit map from its rule."""
    set_trial = inlined(bind(place_block, stage=stage, path=path))
    solve = bind(
        solve_blocks,
        set_trial=set_trial,
        residual=inlined(bind(block_residual, set_trial=set_trial, balance=balance, path=path)),
        jacobian=inlined(
            bind(block_jacobian, slope=slope, stage=stage, tangent_matrix=tangent_matrix, path=path, squared=squared)
        ),
        node=node,
    )
    return bind(
        implicit,
        find=inlined(bind(follow, solve=inlined(solve))),
        move_block=inlined(bind(move_one, stage=stage, path=path, squared=squared)),
        enter_own=helper(bind(enter_rates, set_trial=set_trial, path=path, node=node)),
        path=path,
    )


# ------------------------------------------------------------------ the explicit maps
@inlined
def explicit(turned, t, h, p):
    """Forward Euler, in rate form [krysl2006, eq. 11] or momentum form [krysl2006, eq. 18]."""
    loads_at(L.ALL, t, p.y, p.load, p)
    for k in range(p.B):
        i = p.blocks[2 * k]
        a, b, c = L.BODY * i, L.CONSTANTS * i, L.LOAD * i
        if p.blocks[2 * k + 1] == L.ROTATION:
            m, q, j = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE), get3(p.bodies, b + L.INVERSE_INERTIA)
            w = times(j, m)
            T = get3(p.load, c + 3)
            e = exp_quaternion(scale(h, w))
            if turned:
                new = rotate_inverse(e, axpy(h, T, m))
            else:
                new = axpy(h, axpy(1.0, cross(m, w), T), m)
            put4(p.y, a + L.ATTITUDE, compose(q, e))
            put3(p.y, a + L.ANGULAR, new)
        else:
            P = get3(p.y, a + L.MOMENTUM)
            put3(p.y, a + L.POSITION, axpy(h * p.bodies[b + L.INVERSE_MASS], P, get3(p.y, a + L.POSITION)))
            put3(p.y, a + L.MOMENTUM, axpy(h, get3(p.load, c), P))
    enter(h, p.load, 0, p)
    return L.OK


# ------------------------------------------------------------------ the explicit midpoint Lie algorithm
@inlined
def coast(h, p):
    """Free motion of every block: attitudes by the midpoint Lie algorithm, positions drift; returns a status."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        if p.blocks[2 * k + 1] == L.ROTATION:
            status = rotate_free(i, h, p)
            if status != L.OK:
                return status
        else:
            drift(i, h, p)
    return L.OK


# The adjoint of the kick: velocity-dependent loads are evaluated at the new momenta.
adjoint_kick = inlined(implicit_map(resting_stage, kick_balance, kick_slope, REST, node=0.0))


# ------------------------------------------------------------------ steps
@inlined
def forward_euler(t, h, p):
    """Rate form [krysl2006, eq. 11]; for translation [krysl2006, eq. 2]."""
    return explicit(False, t, h, p)


@inlined
def forward_euler_m(t, h, p):
    """Momentum form [krysl2006, eq. 18]."""
    return explicit(True, t, h, p)


backward_euler = inlined(implicit_map(end_stage, rate_balance, rate_slope, END))
backward_euler_m = inlined(implicit_map(end_stage, turned_balance, turned_slope, END))
swc1 = implicit_map(middle_stage, swc1_balance, swc1_slope, MIDDLE, node=0.5, squared=True)
bbtrap = implicit_map(mean_stage, bbtrap_balance, bbtrap_slope, MEAN)
akw = implicit_map(cayley_stage, akw_balance, akw_slope, MEAN, tangent_matrix=dcay_matrix)


@inlined
def liemid_e1(t, h, p):
    """The impulse at the start, then free motion [krysl2005]."""
    kick(t, h, p)
    return coast(h, p)


@inlined
def liemid_e2(t, h, p):
    """Free motion, then the impulse at the end: the adjoint of ``liemid_e1`` [krysl2005]."""
    status = coast(h, p)
    if status != L.OK:
        return status
    return adjoint_kick(t + h, h, p)


def one_after_the_other(t, h, p):
    """Two steps of half the size [krysl2006, section 3]."""
    status = first(t, 0.5 * h, p)
    if status != L.OK:
        return status
    return second(t + 0.5 * h, 0.5 * h, p)


# ------------------------------------------------------------------ rows
RIGID_FREE = ("momentum_length", "spatial_momentum")


# Largest rotation (rad) in one implicit solve. Beyond it thin bodies have several solutions, and the one connected to a
# vanishing step cannot be identified reliably. Measured against a continuation in 80 or 160 substeps on 400 random
# bodies each: at 2 rad all on the connected one; at 2.2 rad the rate form of backward Euler missed it twice, at 2.5 rad
# swc1 and bbtrap three times, at 2.8 rad four times.
ONE_SOLUTION = 2.0


def _row(
    name, step, description, cite, order, *, free=(), top=(), symmetric=False, symplectic=False, implicit=True, loads=1,
    angle=pi, solves=None, order_free=0,
):  # fmt: skip
    """A row of this family; ``free`` and ``top``: invariants, ``loads``: evaluations in a step, ``angle``: range;
    ``solves``: whether equations with the loads are solved, ``implicit`` unless given."""
    solves = implicit if solves is None else solves
    promises = Promises(order, tuple(free), tuple(top), symmetric, symplectic, implicit, loads, order_free)
    prepared = CompiledMethod(step, lambda bodies, blocks: 4 * L.LOAD * bodies, auxiliary_work=1, slopes=solves)
    return Method(name, "krysl", description, cite, lambda: prepared, lambda: promises, range=angle)


def _pair(first, second):
    """Two half steps, the first by ``first``, the second by ``second``."""
    return bind(one_after_the_other, first=first, second=second)


ROWS = (
    _row("forward_euler", forward_euler, "forward Euler, rate form", "krysl2006", 1, top=("axial_momentum",),
         implicit=False),
    _row("backward_euler", backward_euler, "backward Euler, rate form", "krysl2006", 1, top=("axial_momentum",),
         angle=ONE_SOLUTION),
    _row("forward_euler_m", forward_euler_m, "forward Euler, momentum form", "krysl2006", 1, free=RIGID_FREE,
         top=("vertical_momentum",), implicit=False),
    _row("backward_euler_m", backward_euler_m, "backward Euler, momentum form", "krysl2006", 1, free=RIGID_FREE,
         top=("vertical_momentum",), angle=ONE_SOLUTION),
    _row("trap", _pair(forward_euler, backward_euler), "trapezoidal rule, rate form", "krysl2006", 2,
         free=("midpoint_energy",), top=("axial_momentum",), symmetric=True),
    _row("imid", _pair(backward_euler, forward_euler), "midpoint rule, rate form", "krysl2006", 2,
         free=("energy", "momentum_length"), top=("axial_momentum",), symmetric=True),
    _row("trapm", _pair(forward_euler_m, backward_euler_m), "trapezoidal rule, momentum form", "krysl2006", 2,
         free=RIGID_FREE, top=("vertical_momentum",), symmetric=True),
    _row("imidm", _pair(backward_euler_m, forward_euler_m), "midpoint rule, momentum form", "krysl2006", 2,
         free=RIGID_FREE, top=("vertical_momentum",), symmetric=True),
    _row("swc1", swc1, "Simo and Wong's ALGO_C1", "simo1991", 2, free=("energy", *RIGID_FREE),
         top=("vertical_momentum",), symmetric=True, angle=ONE_SOLUTION),
    _row("akw", akw, "midpoint rule of Austin, Krishnaprasad and Wang", "austin1993", 2, free=("energy", *RIGID_FREE),
         top=("energy", "vertical_momentum", "axial_momentum"), symmetric=True, loads=1),
    _row("bbtrap", bbtrap, "Bottasso and Borri's energy-conserving trapezoid", "bottasso1998", 2,
         free=("energy", *RIGID_FREE), top=("vertical_momentum",), symmetric=True, angle=ONE_SOLUTION),
    # The adjoint's impulse is implicit in the momentum: a second evaluation finds that it did not depend on it.
    _row("liemid_e1", liemid_e1, "explicit midpoint Lie, impulse at the start", "krysl2005", 1, free=RIGID_FREE,
         top=("vertical_momentum", "axial_momentum"), implicit=False, order_free=2),
    _row("liemid_e2", liemid_e2, "adjoint of liemid_e1, impulse at the end", "krysl2005", 1, free=RIGID_FREE,
         top=("vertical_momentum", "axial_momentum"), implicit=False, loads=2, order_free=2),
    _row("liemid_ea", _pair(liemid_e1, liemid_e2), "explicit Newmark: liemid_e1 and its adjoint in half steps",
         "krysl2005", 2, free=RIGID_FREE, top=("vertical_momentum", "axial_momentum"), symmetric=True,
         implicit=False, loads=3),
)  # fmt: skip
"""The methods of Krysl 2006, except those that are ``mkrk`` with a tableau."""
