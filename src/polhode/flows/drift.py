"""Drifts: uniform motion of the positions, exact, where every momentum stays; and Kepler motion.

That is the exact flow of |p|^2/(2m) - mu m/|r|, the centre being the origin, in splittings whose kicks are
perturbations of the orbit only: their step is then limited by the perturbation, not by the orbit [wisdom1991].
"""

from __future__ import annotations

from polhode.algebra.kepler import kepler_motion, kepler_motion_compensated
from polhode.flows import sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, hole, inlined

add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)


@inlined
def drift(i, h, p):
    """Move body i for a time h with its present momentum."""
    a = L.BODY * i
    speed = h * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
    add3(a + L.POSITION, speed, get3(p.y, a + L.MOMENTUM), p)


drift_compensated = inlined(bind(drift, add3=sums.add3_compensated))  # ``drift`` with compensated sums


@inlined
def kepler_drift(i, h, mu, p):
    """Move body i for a time h about a centre with gravity parameter mu; the status of ``kepler_motion``."""
    if p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] == 0.0:
        return L.OK
    a = L.BODY * i
    # The mass, not 1/inverse mass: if their product is not exactly 1, the energy drifts.
    status, r, momentum = kepler_motion(
        mu, p.bodies[L.CONSTANTS * i + L.MASS], get3(p.y, a + L.POSITION), get3(p.y, a + L.MOMENTUM), h
    )
    put3(p.y, a + L.POSITION, r)
    put3(p.y, a + L.MOMENTUM, momentum)
    return status


@inlined
def kepler_drift_compensated(i, h, mu, p):
    """``kepler_drift`` with compensated sums."""
    if p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] == 0.0:
        return L.OK
    a, c = L.BODY * i, int(p.step_info[L.COMPENSATION_AT]) + sums.COMPENSATION * i
    status, r, momentum = kepler_motion_compensated(
        mu, p.bodies[L.CONSTANTS * i + L.MASS], get3(p.y, a + L.POSITION) + get3(p.y, c + L.POSITION),
        get3(p.y, a + L.MOMENTUM) + get3(p.y, c + L.MOMENTUM), h,
    )  # fmt: skip
    for k in range(3):
        p.y[a + L.POSITION + k], p.y[c + L.POSITION + k] = r[k], r[k + 3]
        p.y[a + L.MOMENTUM + k], p.y[c + L.MOMENTUM + k] = momentum[k], momentum[k + 3]
    return status
