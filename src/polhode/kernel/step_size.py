"""Sizes of the steps that an error estimate chooses: of the first, after an accepted one or a rejected one, at the end.

Two controllers: polhode's own, and that of ode45 [shampine1997].
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put4
from polhode.kernel.jit import helper, inlined
from polhode.kernel.solve import norm3

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
"""New step over old step: factor of safety on the ratio that the error allows, and the limits of the ratio."""
PRESENT, PAST = 0.85, 0.2
"""Exponents of the errors of a step and of the one before, in units of 1/q, the error of a step being proportional to
h^q [hairer1996, IV.2]."""
STRETCH = 1.0 + 1e-9
"""Factor by which a step may be stretched to end exactly at the end."""


@inlined
def rates(k, y, load, p):
    """Velocity and acceleration of block k; for a ROTATION, angular ones in the body frame."""
    i = p.blocks[2 * k]
    if p.blocks[2 * k + 1] == L.ROTATION:
        J, m, T = L.CONSTANTS * i + L.INVERSE_INERTIA, get3(y, L.BODY * i + L.ANGULAR), get3(load, L.LOAD * i + 3)
        w = (p.bodies[J] * m[0], p.bodies[J + 1] * m[1], p.bodies[J + 2] * m[2])
        return w, (
            p.bodies[J] * (T[0] + m[1] * w[2] - m[2] * w[1]),
            p.bodies[J + 1] * (T[1] + m[2] * w[0] - m[0] * w[2]),
            p.bodies[J + 2] * (T[2] + m[0] * w[1] - m[1] * w[0]),
        )
    u, P, F = p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(y, L.BODY * i + L.MOMENTUM), get3(load, L.LOAD * i)
    return (u * P[0], u * P[1], u * P[2]), (u * F[0], u * F[1], u * F[2])


@inlined
def pushed(y, at, h, x, g):
    """Add h x[c] / g[c] to ``y[at + c]`` for c = 0, 1, 2, but where g[c] is 0."""
    for c in range(3):
        if g[c] != 0.0:
            y[at + c] += h * x[c] / g[c]


def euler_step(h, p):
    """Write to ``stage_state`` the state after an Euler step of size h; ``load`` holds the loads of the state."""
    for k in range(L.BODY * p.N + p.S):
        p.stage_state[k] = p.y[k]
    for k in range(p.B):
        i = p.blocks[2 * k]
        at, constants = L.BODY * i, L.CONSTANTS * i
        v, a = rates(k, p.y, p.load, p)
        if p.blocks[2 * k + 1] == L.ROTATION:
            pushed(p.stage_state, at + L.ANGULAR, h, a, get3(p.bodies, constants + L.INVERSE_INERTIA))
            w, x, y, z = get4(p.y, at + L.ATTITUDE)
            b = 0.5 * h
            w, x, y, z = (
                w - b * (x * v[0] + y * v[1] + z * v[2]),
                x + b * (w * v[0] + y * v[2] - z * v[1]),
                y + b * (w * v[1] + z * v[0] - x * v[2]),
                z + b * (w * v[2] + x * v[1] - y * v[0]),
            )
            s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            put4(p.stage_state, at + L.ATTITUDE, (s * w, s * x, s * y, s * z))
        else:
            pushed(p.stage_state, at + L.POSITION, h, v, (1.0, 1.0, 1.0))
            pushed(p.stage_state, at + L.MOMENTUM, h, get3(p.load, L.LOAD * i), (1.0, 1.0, 1.0))


def first_step(q, t, direction, longest, spare, p):
    """Size of the first step, 0 where loads are not finite; ``spare`` is scratch memory for loads.

    As in [hairer1993, II.4], with the time scale of the motion as unit of time: an Euler step of a hundredth of it
    estimates the second derivative, and the size is that at which the error, ~ h^q, would be 0.01 of the tolerance."""
    relative, absolute = p.step_info[L.RELATIVE], p.step_info[L.ABSOLUTE]
    p.loads(L.ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    p.step_info[L.EVALUATIONS] += 1.0
    p.step_info[L.LOADED] = 0.0
    rate_of_change = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        speed, change = norm3(v), norm3(a)
        if not speed + change < inf:
            return 0.0
        size = 1.0
        if p.blocks[2 * k + 1] != L.ROTATION:
            size = norm3(get3(p.y, L.BODY * p.blocks[2 * k] + L.POSITION))
            if change > 0.0:
                size += speed * speed / change
        if size > 0.0:
            rate_of_change = max(rate_of_change, speed / size + sqrt(change / size))
    if rate_of_change * longest < 0.01:
        return longest
    h = 0.01 / rate_of_change
    euler_move(direction * h, p)
    p.loads(L.ALL, t + direction * h, p.N, p.stage_state, p.bodies, p.parameters, spare)
    p.step_info[L.EVALUATIONS] += 1.0
    worst = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        w, b = rates(k, p.stage_state, spare, p)
        allowed = relative
        if p.blocks[2 * k + 1] != L.ROTATION:
            allowed = absolute + relative * norm3(get3(p.y, L.BODY * p.blocks[2 * k] + L.POSITION))
        bend = norm3((w[0] - v[0], w[1] - v[1], w[2] - v[2])) / (h * rate_of_change)
        jerk = norm3((b[0] - a[0], b[1] - a[1], b[2] - a[2])) / (h * rate_of_change)
        worst = max(worst, max(norm3(v), bend) / (rate_of_change * allowed))
        worst = max(worst, max(norm3(a), jerk) / (rate_of_change * (absolute + relative * norm3(v))))
    if not worst < inf:
        return 0.0
    return min(100.0 * h, (0.01 / worst) ** (1.0 / q) / rate_of_change, longest)


euler_move = helper(euler_step)


@inlined
def shorter(error, q, again):
    """Next step over the rejected one; ``error`` is over the tolerance, ``again``: rejected before already."""
    return max(SHRINK, SAFETY * error ** (-1.0 / q))


@inlined
def longer(error, q, before, again):
    """Next step over the accepted one, rejected before if ``again``; errors over the tolerance of this and the last."""
    ratio = SAFETY * max(error, 1e-10) ** (-PRESENT / q) * before ** (PAST / q)
    return min(max(ratio, SHRINK), 1.0 if again else GROW)


@inlined
def lands(size, left):
    """Whether the step is changed to end exactly at the end, ``left`` away; and whether its size is set by the end."""
    landing = size * STRETCH >= left
    return landing, landing or 2.0 * size > left  # two equal steps rather than a full one and a remainder


# ------------------------------------------------------------------ the rules of ode45 [shampine1997]
ODE45_SAFETY, ODE45_SHRINK, ODE45_GROW, ODE45_STRETCH = 0.8, 0.1, 5.0, 1.1


def ode45_first_step(q, t, direction, longest, spare, p):
    """Size of the first step: 0.8 rtol^(1/q) times state over rate of change, at most ``longest``."""
    relative = p.step_info[L.RELATIVE]
    least = p.step_info[L.ABSOLUTE] / relative
    p.loads(L.ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    p.step_info[L.EVALUATIONS] += 1.0
    p.step_info[L.LOADED] = 0.0
    fastest = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        turns = p.blocks[2 * k + 1] == L.ROTATION
        position = get3(p.y, L.BODY * p.blocks[2 * k] + L.POSITION)
        for c in range(3):
            fastest = max(fastest, abs(v[c]) / max(1.0 if turns else abs(position[c]), least))
            fastest = max(fastest, abs(a[c]) / max(abs(v[c]), least))
            if not abs(v[c]) + abs(a[c]) < inf:
                return 0.0
    allowed = ODE45_SAFETY * relative ** (1.0 / q)
    return allowed / fastest if fastest * longest > allowed else longest


@inlined
def ode45_shorter(error, q, again):
    """Half of a step rejected for the second time, else the size that its error allows."""
    return 0.5 if again else max(ODE45_SHRINK, ODE45_SAFETY * error ** (-1.0 / q))


@inlined
def ode45_longer(error, q, before, again):
    """The size that the error allows; after a rejection the size is kept."""
    return 1.0 if again else min(ODE45_GROW, ODE45_SAFETY * max(error, 1e-100) ** (-1.0 / q))


@inlined
def ode45_lands(size, left):
    """A step that would leave less than a tenth of itself is stretched to the end."""
    landing = ODE45_STRETCH * size >= left
    return landing, landing


# ------------------------------------------------------------------ steps that choose their own sizes, and end early
@inlined
def all_the_way(q, t, direction, longest, spare, p):
    """The first step: as far as it may go."""
    return longest


@inlined
def never_shorter(error, q, again):
    """No step is rejected."""
    return 1.0


@inlined
def much_longer(error, q, before, again):
    """The next step may go as far as it can."""
    return 1e30


@inlined
def at_the_end(size, left):
    """Nothing is changed near the end."""
    landing = size >= left
    return landing, landing


CONTROLLERS = {
    "": {"choose": helper(first_step), "shorter": shorter, "longer": longer, "lands": lands},
    "ode45": {"choose": helper(ode45_first_step), "shorter": ode45_shorter, "longer": ode45_longer,
              "lands": ode45_lands},
    "own": {"choose": all_the_way, "shorter": never_shorter, "longer": much_longer, "lands": at_the_end},
}  # fmt: skip
"""What fills these holes of the adaptive loop, by the name of the step size controller; "": polhode's own,
"own": of steps that choose their sizes."""
