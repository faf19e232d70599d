"""Kick: impulse of the loads at a frozen configuration; exact for loads that depend on time and configuration only.

Where loads depend on velocities, the momenta follow p' = f(q) + a(q, v) at the frozen configuration and time, as do the
auxiliary variables, which loads may read (READS): v then stands for both. Gauss collocation with s nodes integrates
them with order 2 s, symmetrically in time:

    p_i = p + h sum a_ij (f + a(q, v_j)),     p+ = p + h sum b_i (f + a(q, v_i)),               [hairer2006, II.1.2]

solved by fixed-point sweeps to round-off; f is evaluated once. Composed with free motion this keeps the order, up to
2 s, of splittings for two arbitrary parts.

``impulse`` may add the load of the commutator [V, [T, V]], the gradient of W = F . M^-1 F, for methods with modified
potentials. For a force F on a mass and a torque T on a body, with D the derivative along the displacement v = F / mass,
w = J^-1 T of all bodies at once,

    L_F = 2 D F,     L_T = 2 (D T + w x T).

These are also the commutator of the vector fields where the loads have no potential. The rate of an auxiliary variable
that is the partial time derivative of a potential, r = dV/dt, changes likewise, by 2 D r = -dW/dt: works keep the order
of the method. Systems may provide all this; otherwise D is taken by central differences of order 4 (relative error
about 1e-12), which cost 4 evaluations. For loads that depend on velocities this is only a part of the commutator.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import axpy, cross, exp_quaternion, scale, times
from polhode.flows import gimbals, sums
from polhode.flows.gyrostat import GYROS, table_of
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import apart, bind, helper, hole, inlined, replaceable
from polhode.kernel.solve import norm3

DISPLACEMENT = 1e-3  # rotation (rad), or shift relative to the position, of the differences for a commutator load
MOST_SWEEPS = 60
"""Most sweeps over the nodes of a kick; they diverge for drag so strong that it stops a body within a kick or two."""
SCALED = 5
"""The sweep from which loads that read states are scaled: where their terms cancel, as about an equilibrium, their
round-off is that of the terms, found from how the loads change with the states. In each sweep those states change whose
number has one more binary digit, so that of any two that cancel one changes alone."""
SHARE = 2.0**-10  # by which share the states change for it

READS = hole("READS", "Whether loads read auxiliary variables.", default=False)
part = hole("part", "The part of the loads that ``impulse`` applies.", default=L.ALL)
"""WITHOUT_SOLVED is bound in where a flow solves the attraction."""
add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)
enter1 = hole("enter1(k, x, begin, out, p)", "The sum into an auxiliary variable.", default=sums.enter1)


@replaceable
@inlined
def gyros_before(h, s, rule, to, p):
    """Write what ``turn_back`` needs of the gimbals before a kick to ``work[to:]``: by default nothing."""


@replaceable
@inlined
def turn_back(before, p):
    """The change of momentum of gyros as the gimbals have turned, in place of its quadrature: by default nothing."""


@inlined
def loads_at(part, t, y, out, p):
    """Evaluate a part of the loads at a time and state into ``out``, and count the evaluation."""
    p.loads(part, t, p.N, y, p.bodies, p.parameters, out)
    p.step_info[L.REPEATED if part & L.ALL == L.MOVING else L.EVALUATIONS] += 1.0


@replaceable
@inlined
def push(h, loads, first, p):
    """Add h times the loads at ``loads[first:]`` to the momenta of all blocks."""
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        at = L.BODY * i + (L.ANGULAR if kind == L.ROTATION else L.MOMENTUM)
        add3(at, h, get3(loads, first + L.LOAD * i + 3 * kind), p)


@replaceable
@inlined
def enter(h, loads, first, p):
    """Add h times the rates behind the loads at ``loads[first:]`` to the auxiliary variables."""
    for k in range(p.S):
        enter1(k, h * loads[first + L.LOAD * p.N + k], p.y, p.y, p)


@inlined
def kick(t, h, p):
    """Add h times the loads at time t to momenta and auxiliary variables; positions and attitudes stay."""
    loads_at(L.ALL, t, p.y, p.load, p)
    push(h, p.load, 0, p)
    enter(h, p.load, 0, p)


@inlined
def displace(s, p):
    """Displace the configuration by s times F/mass and J^-1 T (loads kept in ``work``), into ``stage_state``."""
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        a, b = L.BODY * i, L.CONSTANTS * i
        F = get3(p.work, L.LOAD * (p.N + i) + p.S + 3 * kind)
        if kind == L.ROTATION:
            e = exp_quaternion(scale(s, times(get3(p.bodies, b + L.INVERSE_INERTIA), F)))
            put4(p.stage_state, a + L.ATTITUDE, multiply(get4(p.y, a + L.ATTITUDE), e))
        else:
            shift = s * p.bodies[b + L.INVERSE_MASS]
            put3(p.stage_state, a + L.POSITION, axpy(shift, F, get3(p.y, a + L.POSITION)))


@inlined
def displacement_size(p):
    """The s for which the largest displacement is DISPLACEMENT; 0 where there are no loads."""
    largest = 0.0
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        F = get3(p.load, L.LOAD * i + 3 * kind)
        if kind == L.ROTATION:
            largest = max(largest, norm3(times(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), F)))
        else:
            size = norm3(get3(p.y, L.BODY * i + L.POSITION))
            speed = norm3(F) * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
            largest = max(largest, speed / size if size > 0.0 else speed)
    return DISPLACEMENT / largest if largest > 0.0 else 0.0


@replaceable
@apart
def commutator_load(asked, t, p):
    """Write the commutator load of the part ``asked``, and the rates behind it, to ``work[:6 N + S]``; as many numbers
    behind that are scratch memory.

    ``load`` must hold the loads of the state, and holds them afterwards.
    """
    width = L.LOAD * p.N + p.S
    for k in range(width):
        p.work[k] = 0.0
    has = p.step_info[L.HAS_COMMUTATOR]
    if has != 0.0 and asked == L.ALL:
        loads_at(L.COMMUTATOR, t, p.y, p.work, p)
        return
    if asked == L.WITHOUT_SOLVED and has == 2.0:
        for k in range(L.LOAD * p.N):
            p.work[k] = p.load[k]
        loads_at(L.COMMUTATOR_OF_REST, t, p.y, p.work, p)
        return
    for k in range(width):
        p.work[width + k] = p.load[k]
    s = displacement_size(p)
    if s == 0.0:
        return
    for k in range(L.BODY * p.N + (p.S if READS else 0)):
        p.stage_state[k] = p.y[k]
    for n in range(4):
        displace((-1.0, 1.0, -2.0, 2.0)[n] * s, p)
        loads_at(asked, t, p.stage_state, p.load, p)
        weight = (-4.0 / 3.0, 4.0 / 3.0, 1.0 / 6.0, -1.0 / 6.0)[n] / s  # twice the weights of the derivative
        for k in range(width):
            p.work[k] += weight * p.load[k]
    for k in range(width):
        p.load[k] = p.work[width + k]
    for i in range(p.N):
        T = get3(p.load, L.LOAD * i + 3)
        w = times(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), T)
        put3(p.work, L.LOAD * i + 3, axpy(2.0, cross(w, T), get3(p.work, L.LOAD * i + 3)))


@helper
def acting(width, load, work):
    """Whether a load or rate is not zero, among those at hand and those that do not depend on velocities."""
    found = False
    for k in range(width):
        found = found or load[k] != 0.0 or work[width + k] != 0.0
    return found


# work: commutator load | loads without velocity-dependent ones | loads at the s nodes | with READS, the size of terms
# that depend on states; each 6 N + S
@replaceable
@apart
def collocated(asked, t, h, g, s, rule, p):
    """Impulse by Gauss collocation, where loads or rates of auxiliary variables depend on velocities; returns a status.

    ``asked`` is the velocity-dependent part and ``load`` holds the other loads; for systems that do not split their
    loads, ``asked`` is all of them and ``load`` holds those of the present momenta. The momenta at the nodes include
    g times the commutator load, which is not applied here. The rule at ``coefficients[rule]`` is s rows of weights of
    the nodes and a row of weights for the end.
    """
    width = L.LOAD * p.N + p.S
    first = 2 * width
    split = p.step_info[L.SPLIT_LOADS] != 0.0
    steady = p.step_info[L.VELOCITY_DEPENDENT] == 2.0 and not split  # forces at the nodes are those at hand: one sweep
    spoilt = 0.0
    for k in range(width):
        p.work[width + k] = p.load[k] if split else 0.0
    if split and p.step_info[L.VELOCITY_DEPENDENT] == 1.0:
        loads_at(asked, t, p.y, p.load, p)
    if READS and g == 0.0 and p.step_info[L.VELOCITY_DEPENDENT] == 1.0 and not acting(width, p.load, p.work):
        return L.OK
    for k in range(L.BODY * p.N):
        p.stage_state[k] = p.y[k]
    for k in range(width):
        load = 0.0 if split and p.step_info[L.VELOCITY_DEPENDENT] == 2.0 else p.load[k]
        for i in range(s):
            p.work[first + i * width + k] = load
    before = 0.0
    status = L.NOT_CONVERGED
    terms, bit = first + s * width, 1
    for sweep in range(MOST_SWEEPS):
        change = 0.0
        if READS and sweep >= SCALED and bit <= p.S - int(p.step_info[L.READ_FROM]):
            for k in range(int(p.step_info[L.READ_FROM]), p.S):
                if (k - int(p.step_info[L.READ_FROM]) + 1) // bit % 2 == 1:
                    p.stage_state[L.BODY * p.N + k] = (1.0 + SHARE) * p.stage_state[L.BODY * p.N + k]
            loads_at(asked, t, p.stage_state, p.load, p)
            for k in range(width):
                size = abs(p.load[k] - p.work[first + (s - 1) * width + k]) / SHARE
                p.work[terms + k] = (p.work[terms + k] if bit > 1 else 0.0) + (size if size < inf else 0.0)
            bit *= 2
        for i in range(s):
            share = 0.0
            for j in range(s):
                share += p.coefficients[rule + i * s + j]
            for k in range(p.B):
                body, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
                at, load = L.BODY * body + (L.ANGULAR if kind == L.ROTATION else L.MOMENTUM), L.LOAD * body + 3 * kind
                P = axpy(share * h, get3(p.work, width + load), get3(p.y, at))
                if g != 0.0:
                    P = axpy(share * g, get3(p.work, load), P)
                for j in range(s):
                    P = axpy(h * p.coefficients[rule + i * s + j], get3(p.work, first + j * width + load), P)
                put3(p.stage_state, at, P)
            if READS:
                for k in range(p.S):
                    x = p.y[L.BODY * p.N + k] + share * h * p.work[width + L.LOAD * p.N + k]
                    for j in range(s):
                        weight = h * p.coefficients[rule + i * s + j]
                        x += weight * p.work[first + j * width + L.LOAD * p.N + k]
                    p.stage_state[L.BODY * p.N + k] = x
            loads_at(asked, t, p.stage_state, p.load, p)
            for k in range(p.B):
                body, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
                at, load = L.BODY * body + (L.ANGULAR if kind == L.ROTATION else L.MOMENTUM), L.LOAD * body + 3 * kind
                new, old = get3(p.load, load), get3(p.work, first + i * width + load)
                if steady:
                    spoilt += 0.0 * (new[0] + new[1] + new[2])
                else:
                    gain = abs(h) * norm3(new)
                    size = norm3(get3(p.y, at)) + gain + abs(h) * norm3(get3(p.work, width + load))
                    if READS and sweep >= SCALED:
                        size += abs(h) * norm3(get3(p.work, terms + load))
                    moved = abs(h) * norm3(axpy(-1.0, old, new))
                    if not moved + size < inf:
                        return L.NOT_FINITE if sweep == 0 else L.NOT_CONVERGED
                    if moved > 0.0:
                        change = max(change, moved / size)
                        if sweep == 0:
                            before = max(before, gain / size)
            if READS:
                for k in range(int(p.step_info[L.READ_FROM]), p.S):
                    fresh, previous = p.load[L.LOAD * p.N + k], p.work[first + i * width + L.LOAD * p.N + k]
                    gain = abs(h) * max(abs(fresh), abs(previous))
                    size = abs(p.y[L.BODY * p.N + k]) + gain + abs(h * p.work[width + L.LOAD * p.N + k])
                    if sweep >= SCALED:
                        size += abs(h) * p.work[terms + L.LOAD * p.N + k]
                    moved = abs(h * (fresh - previous))
                    if not moved + size < inf:
                        return L.NOT_FINITE if sweep == 0 else L.NOT_CONVERGED
                    if moved > 0.0:
                        change = max(change, moved / size)
                        if sweep == 0:
                            before = max(before, gain / size)
            for k in range(width):
                p.work[first + i * width + k] = p.load[k]
        p.step_info[L.ITERATIONS] += 1.0
        p.step_info[L.RESIDUAL] = change
        # The rates of auxiliary variables are those before the last change of the momenta, so it must be round-off.
        if steady or change <= 2e-16 or (p.S == 0 and change * change <= 2e-17 * before):
            status = L.OK
            break
        if sweep > 0 and change >= 0.5 * before and change <= 1e-14:
            status = L.OK
            break
        before = change
    for k in range(width):
        p.load[k] = p.work[first + k] if steady else p.work[width + k]
    if spoilt != 0.0:
        status = L.NOT_FINITE
    if status != L.OK:
        return status
    gyros_before(h, s, rule, terms, p)
    if split:
        push(h, p.load, 0, p)
        enter(h, p.load, 0, p)
    for i in range(s):
        push(h * p.coefficients[rule + s * s + i], p.work, first + i * width, p)
        enter(h * p.coefficients[rule + s * s + i], p.work, first + i * width, p)
    turn_back(terms, p)
    return L.OK


@helper
def impulse(t, h, g, s, rules, p):
    """Add h times the loads and g times the commutator loads at time t; returns a status.

    Loads of the present configuration that are cached (``step_info[LOADED]``: 1, with the commutator's 2) are not
    evaluated again. ``coefficients[rules:]`` holds two Gauss rules: that of one node, which is exact for auxiliary
    variables where the loads do not depend on velocities, and that of s nodes.
    """
    split = p.step_info[L.SPLIT_LOADS] != 0.0
    asked = part
    if split and p.step_info[L.VELOCITY_DEPENDENT] != 0.0:
        asked = part & ~L.MOVING
    if p.step_info[L.LOADED] == 0.0:
        loads_at(asked, t, p.y, p.load, p)
        p.step_info[L.LOADED] = 1.0
    if p.step_info[L.HAS_COMMUTATOR] >= 0.0 and g != 0.0 and p.step_info[L.LOADED] < 2.0:
        commutator_load(asked, t, p)
        p.step_info[L.LOADED] = 2.0
    if p.step_info[L.VELOCITY_DEPENDENT] == 0.0:
        push(h, p.load, 0, p)
        enter(h, p.load, 0, p)
    else:
        one = p.step_info[L.VELOCITY_DEPENDENT] == 2.0
        status = collocated(
            part & ~(L.ALL & ~L.MOVING) if split else part, t, h, g, 1 if one else s, rules if one else rules + 2, p
        )
        if not split and not one:
            p.step_info[L.LOADED] = 0.0
        if status != L.OK:
            return status
    if p.step_info[L.HAS_COMMUTATOR] >= 0.0 and g != 0.0:
        push(g, p.work, 0, p)
        if split or p.step_info[L.VELOCITY_DEPENDENT] == 0.0:
            enter(g, p.work, 0, p)
    return L.OK


@inlined
def gyros_of(i, p):
    """Where the table of the gyros of body i begins, 0 without."""
    at = table_of(i, p)
    return 0 if p.N > 1 and at == 0 else int(p.parameters[at + GYROS])


@helper
def momentum_and_quadrature(h, s, rule, to, p):
    """Write the momenta of the gyros of all bodies, less what the nodes of a kick make of their changes."""
    for i in range(p.N):
        at = gyros_of(i, p)
        if at > 0:
            angles = L.BODY * p.N + int(p.parameters[at + gimbals.FIRST])
            H = gimbals.momentum_of_gyros(p.parameters, at, p.y, angles)
            for n in range(s):
                share = 0.0
                for j in range(s):
                    share += p.coefficients[rule + n * s + j]
                weight = h * p.coefficients[rule + s * s + n]
                H = axpy(weight, gimbals.rate_of_gyros(p.parameters, at, p.y, angles, share * h), H)
            put3(p.work, to + 3 * i, H)


def turn_exactly(before, p):
    """Give each body the change of momentum of its gyros, less that by quadrature, which it has."""
    for i in range(p.N):
        at = gyros_of(i, p)
        if at > 0:
            angles = L.BODY * p.N + int(p.parameters[at + gimbals.FIRST])
            H = gimbals.momentum_of_gyros(p.parameters, at, p.y, angles)
            add3(L.BODY * i + L.ANGULAR, 1.0, axpy(-1.0, H, get3(p.work, before + 3 * i)), p)


@cache
def kick_of(part: int, compensation: bool, reads: bool) -> Any:
    """``impulse`` of a part of the loads; with compensated sums, and for loads that read auxiliary variables. Without
    the coupling of rotors, gyros and body exchange momentum to round-off."""
    bound: dict[str, Any] = {}
    if compensation:
        bound["push"] = inlined(bind(push, add3=sums.add3_compensated))
        bound["enter"] = inlined(bind(enter, enter1=sums.enter1_compensated))
    rest: dict[str, Any] = {"READS": True} if reads else {}
    if reads:
        bound["commutator_load"] = apart(bind(commutator_load, **rest))
    if compensation or reads:
        rest |= {name: bound[name] for name in ("push", "enter") if name in bound}
        if part & L.WITHOUT_COUPLING:
            add = {"add3": sums.add3_compensated} if compensation else {}
            rest |= {"gyros_before": momentum_and_quadrature, "turn_back": helper(bind(turn_exactly, **add))}
        bound["collocated"] = apart(bind(collocated, **rest))
    if part != L.ALL:
        bound["part"] = part
    return helper(bind(impulse, **bound)) if bound else impulse
