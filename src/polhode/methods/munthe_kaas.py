"""Munthe-Kaas Runge-Kutta methods with any tableau, explicit or implicit, and either coordinate map [krysl2006, MKRK].

Within a step the attitude is ``q0 R(psi)`` and the body angular momentum ``R(psi)^-1 mu``, R being the exponential or
the Cayley map (``rotation_map``). A tableau of the registry integrates

    psi' = dR^-1_{-psi} (j R(psi)^-1 mu),     mu' = R(psi) T,

together with position and momentum of bodies that translate, for which it is the plain Runge-Kutta method. Without
torque ``mu`` is constant, so the spatial angular momentum is kept to round-off whatever the tableau.

Legend: ``psi`` local coordinates of the attitude, ``mu`` angular momentum in the body frame at the start of the step,
``j`` inverse principal moments, ``T`` body torque, ``e`` = R(psi) as a quaternion, ``tangent`` dR^-1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import pi

import numpy as np

from polhode.algebra.kepler import two_sum
from polhode.algebra.quaternion import compose, multiply, rotate, rotate_inverse
from polhode.algebra.so3 import axpy, cross, dexpinv, dot, exp_quaternion, scale, times
from polhode.flows.kick import loads_at
from polhode.flows.reactions import loads_and_reactions, reacting_step
from polhode.flows.sums import shortfall, swing
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.methods.joints import plan_of
from polhode.methods.record import CompiledMethod, Method, Option, Promises
from polhode.methods.stage_layout import MAPS, UNKNOWNS, auxiliary_size, coefficients, embedding, origin, work_size
from polhode.methods.stages import largest_component, start_values, steps_of
from polhode.methods.tableaux import is_tableau, tableau as find_tableau, tableau_names

FULL_TURN = 4.0 * pi * pi
"""(2 pi)^2: the chart covers |psi| < 2 pi."""

rotation_map = hole("rotation_map(psi) -> quaternion", "The coordinate map.")
tangent = hole("tangent(psi, w) -> 3-tuple", "Its inverse tangent map.")


loads = hole("loads(part, t, y, out, p)", "The loads of a stage.", default=loads_at)


def local_field(t, at, to, p):
    """Time derivative of the local coordinates at ``work[at:]`` into ``work[to:]``; TOO_LARGE beyond the chart."""
    for k in range(p.B):
        a, z = L.BODY * p.blocks[2 * k], at + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            psi = get3(p.work, z)
            angle = dot(psi, psi)
            if not angle < FULL_TURN:
                return L.TOO_LARGE if angle >= FULL_TURN else L.NOT_FINITE
            e = rotation_map(psi)
            put4(p.stage_state, a + L.ATTITUDE, multiply(get4(p.work, 1 + 4 * k), e))
            put3(p.stage_state, a + L.ANGULAR, rotate_inverse(e, get3(p.work, z + 3)))
        else:
            put3(p.stage_state, a + L.POSITION, get3(p.work, z))
            put3(p.stage_state, a + L.MOMENTUM, get3(p.work, z + 3))
    loads(L.ALL, t, p.stage_state, p.load, p)
    for k in range(p.B):
        i, z, dz = p.blocks[2 * k], at + UNKNOWNS * k, to + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            psi = get3(p.work, z)
            omega = times(
                get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(p.stage_state, L.BODY * i + L.ANGULAR)
            )
            put3(p.work, dz, tangent(scale(-1.0, psi), omega))
            put3(p.work, dz + 3, rotate(rotation_map(psi), get3(p.load, L.LOAD * i + 3)))
        else:
            put3(p.work, dz, scale(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(p.work, z + 3)))
            put3(p.work, dz + 3, get3(p.load, L.LOAD * i))
    return L.OK


def move(at, begin, out, p):
    """Write the state with the local coordinates ``work[at:]`` to ``out``."""
    for k in range(p.B):
        a, z = L.BODY * p.blocks[2 * k], at + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            e = rotation_map(get3(p.work, z))
            put4(out, a + L.ATTITUDE, compose(get4(p.work, 1 + 4 * k), e))
            put3(out, a + L.ANGULAR, rotate_inverse(e, get3(p.work, z + 3)))
        else:
            put3(out, a + L.POSITION, get3(p.work, z))
            put3(out, a + L.MOMENTUM, get3(p.work, z + 3))


def move_compensated(at, begin, out, p):
    """``move``, compensated: changes of attitude and angular momentum are added to those at the start of the step."""
    for k in range(p.B):
        a, z = L.BODY * p.blocks[2 * k], at + UNKNOWNS * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            c = int(p.step_info[L.COMPENSATION_AT]) + a
            q, m, e = get4(p.work, 1 + 4 * k), get3(p.work, origin(p) + UNKNOWNS * k + 3), rotation_map(get3(p.work, z))
            kept, left, end = get4(begin, c + L.ATTITUDE), get3(out, c + L.ANGULAR), get3(p.work, z + 3)
            dq = swing(q, e, shortfall(q) - (q[0] * kept[0] + q[1] * kept[1] + q[2] * kept[2] + q[3] * kept[3]))
            for n in range(4):
                out[a + L.ATTITUDE + n], out[c + L.ATTITUDE + n] = two_sum(q[n], kept[n] + dq[n])
            # R^-1 (m + d) - m, where d is the impulse in the base frame with what rounding left out of its sum
            d = rotate_inverse(e, (end[0] - m[0] + left[0], end[1] - m[1] + left[1], end[2] - m[2] + left[2]))
            v = (e[1], e[2], e[3])
            t = cross(v, m)
            dm = axpy(2.0, axpy(-e[0], t, cross(v, t)), d)
            for n in range(3):
                out[a + L.ANGULAR + n], out[c + L.ANGULAR + n] = two_sum(m[n], dm[n])
        else:
            put3(out, a + L.POSITION, get3(p.work, z))
            put3(out, a + L.MOMENTUM, get3(p.work, z + 3))


@cache
def functions_of(map, compensation=False, reads=False, solves_states=False, joints=False):
    """The explicit step, the implicit step and dense output for a coordinate map; ``reads``, ``solves_states``: the
    explicit, the implicit one for loads that read auxiliary variables; ``joints``: with their forces as loads."""
    rotation_map, *tangents = MAPS[map]
    reacting = {"loads": loads_and_reactions} if joints else {}
    field = helper(bind(local_field, rotation_map=rotation_map, tangent=tangents[0], **reacting))
    finish = move_compensated if compensation else move
    return steps_of(
        start_values, field, inlined(bind(finish, rotation_map=rotation_map)), rotation_map, compensation=compensation,
        tangents=tangents, carried=True, reads=reads, solves_states=solves_states,
    )  # fmt: skip


AS_ODE45 = steps_of(
    start_values, helper(bind(local_field, rotation_map=exp_quaternion, tangent=dexpinv)),
    inlined(bind(move, rotation_map=exp_quaternion)), exp_quaternion, norm=largest_component,
)  # fmt: skip


def prepare(tableau="rk4", map="exp", compensation=False, steps=None, controller="", reads=False):
    """The compiled method for a tableau and a coordinate map, optionally with compensated sums and for loads that read
    auxiliary variables; or for ready-made ``steps`` (explicit, implicit, dense) with their own ``controller``."""
    chosen = find_tableau(tableau)
    numbers, int_coefficients = coefficients(chosen)
    takes_states, solves_states = steps is None, reads and not chosen.explicit
    explicit, implicit, dense = steps or functions_of(map, compensation, reads and chosen.explicit, solves_states)
    alone = compensation or steps is not None

    def on_joints(reads, wheels):
        explicit, _, dense = functions_of(map, False, reads, False, True)

        def made_for(system, adaptive):
            head = work_size(system.blocks.size // 2, chosen) + len(system.auxiliary) * auxiliary_size(chosen)
            whole, size, _ = plan_of(system.mechanism.integers, system.N, len(system.auxiliary), head)
            return CompiledMethod(
                bind(reacting_step, step=helper(explicit)), lambda bodies, blocks: size, numbers,
                np.concatenate([int_coefficients, whole]), auxiliary_work=0, joints_at=int_coefficients.size,
                **embedding(chosen, dense), controller=controller,
            )  # fmt: skip

        return replace(one, made_for=made_for)

    one = CompiledMethod(
        explicit if chosen.explicit else implicit, lambda bodies, blocks: work_size(blocks, chosen), numbers,
        int_coefficients, auxiliary_work=auxiliary_size(chosen), compensation=compensation,
        compensates_rotation=compensation, compensated=None if alone else lambda: prepare(tableau, map, True),
        reading=(lambda wheels: prepare(tableau, map, compensation, reads=True)) if takes_states else None,
        **embedding(chosen, dense), controller=controller, slopes=not (chosen.explicit or reads),
        solves_states=solves_states, on_joints=on_joints if chosen.explicit and takes_states else None,
    )  # fmt: skip
    return one


def promises(tableau="rk4", map="exp"):
    """The promises, which follow from the tableau.

    The chart is centred on the start of the step, so only the implicit midpoint rule with exp is time-symmetric: its
    two half rotations compose to the whole one, which those of the Cayley map do not.
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
"""``mkrk``, and special cases that have names in the literature."""
