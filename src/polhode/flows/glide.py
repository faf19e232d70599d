"""Motion on joints: free motion with impulses at its start that close all joints at its end [andersen1983].

A glide of h is the free motion of all bodies from momenta p + G(q0)' l, with the multipliers l for which g(q1) = 0. At
the end of a step the momenta are projected, so that no joint opens: G(q1) v1 = 0. Between kick, glide and kick that is
RATTLE; within a step of several glides nothing need be projected, since the impulses at the start of the next glide
take it over: each multiplier is then the sum of the two of RATTLE. Newton's method has its matrix from the end that is
foretold, by the response of the exact rotation to impulses (see ``elimination``), so that fast bodies converge.

Multipliers are foretold by the nearer of two, whichever was better at this glide of the step before: those of steps
before, by a polynomial; and those of the two nodes before, by the force f on the joints and its rate. A node with a
glide of a before and one of h behind it has

    l = (a + h)/2 f + (h^2 - a^2)/6 f' + O(h^4).

Near a singular position, where loops may close in two ways, nothing is foretold: the free motion leads to the right
one.

A kick by loads that depend on velocities follows p' = P F(q, p) at the frozen configuration, P being the projection, by
Gauss's rule: each node is on the joints. So compositions of symmetric steps keep their order.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from polhode.flows import mechanism as J
from polhode.flows.elimination import LEAST, eliminate, no_loads, solve
from polhode.flows.kick import enter, loads_at, push
from polhode.flows.mechanism import at, plan_at, push_rows, put_openings, put_speeds, residuals, rotations
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, hole, inlined

# ----------------------------------------------------------- numbers of ``work[STATE:]``, behind those of elimination
STEP = 2  # size of the last step
GLIDE = 3  # number of the next glide in its step
PARITY = 4  # which of the two rotations and rows are those of the present place
KNOWN = 5  # how many nodes are in RECENT, 0 to 2
BEFORE = 6  # the last glide since momenta were projected, 0 without one
LAST = 7  # two numbers of each recent node, A and B of l = A f + B f'; then the time between the two nodes
GAP = 11
STATE_SIZE = 12
OLDER = 4  # multipliers of so many steps before
NEAR = 0.1  # least pivot below which nothing is foretold
CLOSED = 5e-16  # residual over the size of its terms at which joints are closed
ROUNDED = 1e-13  # the same where it no longer falls; ten times that where it has not for three corrections
MOST = 30  # iterations
SHORTEST = 2.0**-8  # shortest part of a motion that is followed at once
CUT = 0.55  # where a step is cut
SLOW = 0.02  # a correction that shrinks less makes the matrix anew

free_motion = hole("free_motion(h, p) -> status", "The free motion of all bodies.")
one_close = hole("one_close(m, h, most, p) -> status", "``close`` with it.")
one_follow = hole("one_follow(m, h, p) -> status", "``follow`` with that.")
one_glide = hole("one_glide(m, h, p) -> status", "``glide`` with both.")
part = hole("part", "The part of the loads that kicks apply.", default=L.ALL)
many_nodes = hole("many_nodes(m, t, h, s, rule, p) -> status", "``collocated`` of the part.")
one_part = hole("one_part(t, h, p) -> status", "``held_part`` of a scheme.")
run_stages = hole("run_stages(first, last, t, h, p) -> status", "The stages of a step.")


@inlined
def rotations_of(m, odd, p):
    """One of the two arrays of rotations."""
    return at(m, J.ROTATIONS, p) + (9 * p.N + 9) * odd


@inlined
def rows_of(m, odd, p):
    """One of the two arrays of rows."""
    return at(m, J.ROWS_AT, p) + J.ROW * at(m, J.ROWS, p) * odd


@helper
def hold(m, l, a, width, force, torque, p):
    """Project momenta, or forces, in an array (see ``push_rows``), so that they open no joint; multipliers are in
    ``work[l:]``. What is eliminated must be the mass matrix here."""
    odd = int(p.work[at(m, J.STATE, p) + PARITY])
    G, R, x = rows_of(m, odd, p), rotations_of(m, odd, p), at(m, J.MOTION, p)
    put_speeds(m, x, R, a, width, force, torque, p)
    put_openings(m, G, x, l, p)
    no_loads(m, p)
    solve(m, G, G, l, p)
    push_rows(m, G, R, l, a, width, force, torque, p)


@helper
def eliminate_here(m, p):
    """Eliminate the mass matrix at the present place."""
    odd = int(p.work[at(m, J.STATE, p) + PARITY])
    G, R = rows_of(m, odd, p), rotations_of(m, odd, p)
    eliminate(m, 0.0, G, G, R, R, p)


@helper
def begin(m, h, p):
    """Rows at the present place; what is remembered is discarded where it is of another state, or of other steps."""
    s, M, end = at(m, J.STATE, p), at(m, J.ROWS, p), at(m, J.END, p)
    same = True
    for k in range(L.BODY * p.N):
        same = same and p.work[end + k] == p.y[k]
    if not same:
        p.work[s + KNOWN] = 0.0
        p.work[s + LEAST] = 0.0
    if not same or p.work[s + STEP] != h:
        for g in range(at(m, J.GLIDES, p)):
            p.work[at(m, J.HISTORY, p) + ((OLDER + 2) * M + 2) * g + 1] = 0.0
    p.work[s + STEP] = h
    p.work[s + GLIDE] = 0.0
    p.work[s + PARITY] = 0.0
    p.work[s + BEFORE] = 0.0
    R = rotations_of(m, 0, p)
    rotations(R, p.y, p)
    residuals(m, rows_of(m, 0, p), R, p.y, p)


@helper
def foretell(m, h, p):
    """Multipliers to begin with, into ``work[MULTIPLIER:]``."""
    M, s, l = at(m, J.ROWS, p), at(m, J.STATE, p), at(m, J.MULTIPLIER, p)
    recent, older = at(m, J.RECENT, p), at(m, J.RECENT, p) + M
    before = p.work[s + BEFORE]
    A, B = 0.5 * (before + h), (h * h - before * before) / 6.0
    A1, B1, A2, B2 = p.work[s + LAST], p.work[s + LAST + 1], p.work[s + LAST + 2], p.work[s + LAST + 3]
    D2 = B2 - A2 * p.work[s + GAP]
    x, y = 0.0, 0.0  # shares of the two nodes
    det = A1 * D2 - A2 * B1
    if p.work[s + KNOWN] >= 2.0 and abs(det) > 1e-3 * (abs(A1 * D2) + abs(A2 * B1)):
        rate = A * before + B
        x, y = (A * D2 - rate * A2) / det, (rate * A1 - A * B1) / det
    elif p.work[s + KNOWN] >= 1.0 and A1 != 0.0:
        x = A / A1
    g = int(p.work[s + GLIDE])
    listed = g < at(m, J.GLIDES, p)
    c = at(m, J.HISTORY, p) + ((OLDER + 2) * M + 2) * (g if listed else 0)
    a = c + 2
    known = p.work[c + 1] if listed else 0.0
    e0, e1, e2 = 0.0, 0.0, 0.0
    for r in range(M):
        u, v, w, z = p.work[a + r], p.work[a + M + r], p.work[a + 2 * M + r], p.work[a + 3 * M + r]
        e0 += abs(u - v)
        e1 += abs(u - 2.0 * v + w)
        e2 += abs(u - 3.0 * (v - w) - z)
    cubic = known >= 4.0 and e2 < e1 and e2 < e0
    line = known >= 3.0 and e1 < e0
    foretold = at(m, J.TREE, p) == M or p.work[s + LEAST] > NEAR
    nearer = known < 1.0 or (p.work[c] >= 0.0 and p.work[s + KNOWN] >= 1.0)
    for r in range(M):
        u, v, w = p.work[a + r], p.work[a + M + r], p.work[a + 2 * M + r]
        near = x * p.work[recent + r] + y * p.work[older + r]
        far = 3.0 * (u - v) + w if cubic else 2.0 * u - v if line else u
        if listed:
            p.work[a + OLDER * M + r] = near
            p.work[a + (OLDER + 1) * M + r] = far
        p.work[l + r] = (near if nearer else far) if foretold else 0.0


@helper
def node(m, l, A, B, gap, p):
    """Remember multipliers ``work[l:]`` as the most recent node, l = A f + B f', a time after the one before."""
    M, s, recent = at(m, J.ROWS, p), at(m, J.STATE, p), at(m, J.RECENT, p)
    for r in range(M):
        p.work[recent + M + r] = p.work[recent + r]
        p.work[recent + r] = p.work[l + r]
    p.work[s + LAST + 2], p.work[s + LAST + 3] = p.work[s + LAST], p.work[s + LAST + 1]
    p.work[s + LAST], p.work[s + LAST + 1], p.work[s + GAP] = A, B, gap
    p.work[s + KNOWN] = min(2.0, p.work[s + KNOWN] + 1.0)


@helper
def remember(m, h, p):
    """Remember the multipliers of a glide of h."""
    M, s, l = at(m, J.ROWS, p), at(m, J.STATE, p), at(m, J.MULTIPLIER, p)
    g, before = int(p.work[s + GLIDE]), p.work[s + BEFORE]
    node(m, l, 0.5 * (before + h), (h * h - before * before) / 6.0, before, p)
    if g < at(m, J.GLIDES, p):
        c = at(m, J.HISTORY, p) + ((OLDER + 2) * M + 2) * g
        a = c + 2
        e = 0.0
        for r in range(M):
            x = p.work[l + r]
            e += abs(p.work[a + (OLDER + 1) * M + r] - x) - abs(p.work[a + OLDER * M + r] - x)
            for k in range(OLDER - 1):
                p.work[a + (OLDER - 1 - k) * M + r] = p.work[a + (OLDER - 2 - k) * M + r]
            p.work[a + r] = x
        p.work[c] = e
        p.work[c + 1] += 1.0
    p.work[s + BEFORE] = h
    p.work[s + GLIDE] += 1.0


@inlined
def enough(worst, count):
    """Whether a motion that leaves this residual, which counts as closed, may be the last, after so many
    corrections."""
    return True


@helper
def close(m, h, most, p):
    """Free motion of h from ``work[START:]`` with the multipliers ``work[MULTIPLIER:]``, which Newton's method changes
    until all joints are closed; returns a status, NOT_CONVERGED after ``most`` iterations, or where they lead away."""
    M, start, l, d = at(m, J.ROWS, p), at(m, J.START, p), at(m, J.MULTIPLIER, p), at(m, J.CHANGE, p)
    odd = int(p.work[at(m, J.STATE, p) + PARITY])
    R0, R1, G0, G1 = rotations_of(m, odd, p), rotations_of(m, 1 - odd, p), rows_of(m, odd, p), rows_of(m, 1 - odd, p)
    before, closed, stalled = 1e300, False, 0
    for count in range(most):
        for k in range(L.BODY * p.N):
            p.y[k] = p.work[start + k]
        push_rows(m, G0, R0, l, p.y, L.BODY, L.MOMENTUM, L.ANGULAR, p)
        status = free_motion(h, p)
        if status != L.OK:
            return status
        rotations(R1, p.y, p)
        worst = residuals(m, G1, R1, p.y, p)
        p.step_info[L.ITERATIONS] += 1.0
        p.step_info[L.RESIDUAL] = worst
        stalled = stalled + 1 if worst >= 0.5 * before else 0
        closed = closed or worst <= CLOSED or (stalled > 0 and worst < (ROUNDED if stalled < 3 else 10.0 * ROUNDED))
        if closed and enough(worst, count):
            return L.OK
        if not closed and (not worst < 1e250 or (count > 2 and worst > before)):
            return L.NOT_CONVERGED
        if count == 0 or (worst > SLOW * before and not closed):
            eliminate(m, h, G0, G1, R0, R1, p)
        before = worst
        for r in range(M):
            p.work[d + r] = -p.work[at(m, J.RESIDUAL, p) + r]
        no_loads(m, p)
        solve(m, G0, G1, d, p)
        for r in range(M):
            p.work[l + r] += p.work[d + r]
    return L.NOT_CONVERGED


@helper
def follow(m, h, p):
    """``close`` from the solutions of shorter motions, whose multipliers continue along a line; returns a status."""
    M, l, last = at(m, J.ROWS, p), at(m, J.MULTIPLIER, p), at(m, J.FOLLOWED, p)
    reached, earlier, size = 0.0, 0.0, 0.5
    for r in range(M):
        p.work[l + r] = 0.0
    while reached < 1.0:
        goal = min(1.0, reached + size)
        if goal > 1.0 - 0.1 * size:
            goal = 1.0
        for r in range(M):
            a, b = p.work[last + r], p.work[last + M + r]  # of the last motion, and of the one before
            slope = (a - b) / (reached - earlier) if earlier > 0.0 else a / reached if reached > 0.0 else 0.0
            p.work[l + r] = a + (goal - reached) * slope if reached > 0.0 else 0.0
        if one_close(m, goal * h, MOST, p) == L.OK:
            for r in range(M):
                p.work[last + M + r] = p.work[last + r]
                p.work[last + r] = p.work[l + r]
            earlier, reached, size = reached, goal, 2.0 * size
        else:
            size *= 0.5
            if size < SHORTEST:
                return L.NOT_CONVERGED
    return L.OK


@helper
def glide(m, h, p):
    """Free motion of h on the joints, up to the projection of momenta; returns a status."""
    s, start, l = at(m, J.STATE, p), at(m, J.START, p), at(m, J.MULTIPLIER, p)
    for k in range(L.BODY * p.N):
        p.work[start + k] = p.y[k]
    foretell(m, h, p)
    status = one_close(m, h, MOST, p)
    if status == L.NOT_CONVERGED:
        for r in range(at(m, J.ROWS, p)):
            p.work[l + r] = 0.0
        status = one_close(m, h, MOST, p)
        if status == L.NOT_CONVERGED:
            status = one_follow(m, h, p)
    if status == L.OK:
        remember(m, h, p)
        p.work[s + PARITY] = 1.0 - p.work[s + PARITY]
    return status


def glides(h, p):
    """The free motion on the joints, of the order of the method: a composition of glides; returns a status."""
    m = plan_at(p)
    for k in range(at(m, J.FRACTIONS, p)):
        status = one_glide(m, p.coefficients[at(m, J.FRACTIONS_AT, p) + k] * h, p)
        if status != L.OK:
            return status
    return L.OK


def glides_over(free: Callable[..., Any]) -> Callable[..., Any]:
    """``glides`` with the free motion of all bodies."""
    closing = helper(bind(close, free_motion=free))
    following = helper(bind(follow, one_close=closing))
    return helper(bind(glides, one_glide=helper(bind(glide, one_close=closing, one_follow=following))))


@helper
def project(m, p):
    """Momenta that open no joint after a glide; what is eliminated must be the mass matrix here."""
    s, l = at(m, J.STATE, p), at(m, J.CHANGE, p)
    h = p.work[s + BEFORE]
    hold(m, l, p.y, L.BODY, L.MOMENTUM, L.ANGULAR, p)
    node(m, l, 0.5 * h, -h * h / 6.0, h, p)
    p.work[s + BEFORE] = 0.0


@helper
def collocated(m, t, h, s, rule, p):
    """Kick by loads that depend on velocities, by Gauss's rule of s nodes at ``coefficients[rule:]``; a status.

    ``work[STAGES:]`` holds the rates at the nodes, of each 6 numbers a body and the auxiliary variables.
    """
    eliminate_here(m, p)
    if p.work[at(m, J.STATE, p) + BEFORE] != 0.0:
        project(m, p)
    width = L.LOAD * p.N + p.S
    first, l = at(m, J.STAGES, p), at(m, J.CHANGE, p)
    for k in range(L.BODY * p.N + p.S):
        p.stage_state[k] = p.y[k]
    for k in range(s * width):
        p.work[first + k] = 0.0
    before, status = inf, L.NOT_CONVERGED
    for _sweep in range(60):
        change = 0.0
        for i in range(s):
            for b in range(p.N):
                y, k = L.BODY * b, first + L.LOAD * b
                q, M = get3(p.y, y + L.MOMENTUM), get3(p.y, y + L.ANGULAR)
                for j in range(s):
                    w = h * p.coefficients[rule + i * s + j]
                    f, T = get3(p.work, k + j * width), get3(p.work, k + j * width + 3)
                    q = (q[0] + w * f[0], q[1] + w * f[1], q[2] + w * f[2])
                    M = (M[0] + w * T[0], M[1] + w * T[1], M[2] + w * T[2])
                put3(p.stage_state, y + L.MOMENTUM, q)
                put3(p.stage_state, y + L.ANGULAR, M)
            for k in range(p.S):
                x = p.y[L.BODY * p.N + k]
                for j in range(s):
                    x += h * p.coefficients[rule + i * s + j] * p.work[first + j * width + L.LOAD * p.N + k]
                p.stage_state[L.BODY * p.N + k] = x
            loads_at(part, t, p.stage_state, p.load, p)
            hold(m, l, p.load, L.LOAD, 0, 3, p)
            for b in range(p.N):
                for kind in range(2):
                    k = L.LOAD * b + 3 * kind
                    y = L.BODY * b + (L.MOMENTUM if kind == 0 else L.ANGULAR)
                    moved, size = 0.0, 0.0
                    for e in range(3):
                        moved = max(moved, abs(h * (p.load[k + e] - p.work[first + i * width + k + e])))
                        size = max(size, abs(p.y[y + e]) + abs(h * p.load[k + e]))
                    if not moved + size < inf:
                        return L.NOT_FINITE
                    if moved > 0.0:
                        change = max(change, moved / size)
            for k in range(L.LOAD * p.N, width):
                moved = abs(h * (p.load[k] - p.work[first + i * width + k]))
                if moved > 0.0:
                    size = abs(p.y[(L.BODY - L.LOAD) * p.N + k]) + abs(h * p.load[k])
                    change = max(change, moved / size)
            for k in range(width):
                p.work[first + i * width + k] = p.load[k]
        p.step_info[L.ITERATIONS] += 1.0
        if change <= 4e-16 or (change >= 0.5 * before and change <= 1e-13):
            status = L.OK
            break
        before = change
    for i in range(s):
        push(h * p.coefficients[rule + s * s + i], p.work, first + i * width, p)
        enter(h * p.coefficients[rule + s * s + i], p.work, first + i * width, p)
    return status


def held_kick(t, h, g, s, rules, p):
    """Add h times the loads at time t, which are not projected unless they depend on velocities; returns a status."""
    if p.step_info[L.VELOCITY_DEPENDENT] != 0.0:
        p.step_info[L.LOADED] = 0.0
        return many_nodes(plan_at(p), t, h, s, rules + 2, p)
    if p.step_info[L.LOADED] == 0.0:
        loads_at(part, t, p.y, p.load, p)
        p.step_info[L.LOADED] = 1.0
    push(h, p.load, 0, p)
    enter(h, p.load, 0, p)
    return L.OK


def kick_on_joints(part: int) -> Callable[..., Any]:
    """``held_kick`` of a part of the loads."""
    return helper(bind(held_kick, part=part, many_nodes=helper(bind(collocated, part=part))))


@helper
def held_part(t, h, p):
    """Move for h from time t, on the joints; returns a status."""
    m = plan_at(p)
    begin(m, h, p)
    status = run_stages(0, p.int_coefficients[0], t, h, p)
    if status != L.OK:
        return status
    if p.work[at(m, J.STATE, p) + BEFORE] != 0.0:
        eliminate_here(m, p)
        project(m, p)
    for k in range(L.BODY * p.N):
        p.work[at(m, J.END, p) + k] = p.y[k]
    return L.OK


def held_step(t, h, p):
    """One step of size h from time t, on the joints; in two parts where something within it lands on a singular
    position of theirs, at which no multipliers close them."""
    before = at(plan_at(p), J.BEGUN, p)
    for k in range(L.BODY * p.N + p.S):
        p.work[before + k] = p.y[k]
    status = one_part(t, h, p)
    if status == L.NOT_CONVERGED:
        for k in range(L.BODY * p.N + p.S):
            p.y[k] = p.work[before + k]
        end, middle = p.step_info[L.NEXT_TIME], t + CUT * h
        p.step_info[L.LOADED] = 0.0
        p.step_info[L.NEXT_TIME] = middle
        status = one_part(t, CUT * h, p)
        p.step_info[L.NEXT_TIME] = end
        if status == L.OK:
            status = one_part(middle, (1.0 - CUT) * h, p)
    return status
