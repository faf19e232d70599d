"""Motion about a centre: the exact flow of |p|^2/(2m) - mu m/|r|, the centre being the origin.

What the drift is to free particles, this is to points that orbit; a splitting whose kicks are only what perturbs the
orbit then takes steps that the perturbation allows, not the orbit [wisdom1991].
"""

from __future__ import annotations

from polhode.algebra.kepler import kepler_motion, kepler_motion_carrying
from polhode.flows.sums import CARRIES
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import BODY, CARRIED, CONSTANTS, INVERSE_MASS, MASS, MOMENTUM, OK, POSITION


@inlined
def kepler_drift(i, h, mu, p):
    """Move body i for a time h about a centre of gravity parameter mu.

    Returns OK, NOT_FINITE or NOT_CONVERGED as ``kepler_motion``; then the body stays. A pinned body stays, too.
    """
    if p.bodies[CONSTANTS * i + INVERSE_MASS] == 0.0:
        return OK
    a = BODY * i
    # The mass, not its inverse: a product of both that is not 1 would be a drift in energy.
    status, r, momentum = kepler_motion(
        mu, p.bodies[CONSTANTS * i + MASS], get3(p.y, a + POSITION), get3(p.y, a + MOMENTUM), h
    )
    put3(p.y, a + POSITION, r)
    put3(p.y, a + MOMENTUM, momentum)
    return status


@inlined
def kepler_drift_carrying(i, h, mu, p):
    """``kepler_drift`` with compensated sums."""
    if p.bodies[CONSTANTS * i + INVERSE_MASS] == 0.0:
        return OK
    a, c = BODY * i, int(p.report[CARRIED]) + CARRIES * i
    status, r, momentum = kepler_motion_carrying(
        mu, p.bodies[CONSTANTS * i + MASS], get3(p.y, a + POSITION) + get3(p.y, c + POSITION),
        get3(p.y, a + MOMENTUM) + get3(p.y, c + MOMENTUM), h,
    )  # fmt: skip
    for k in range(3):
        p.y[a + POSITION + k], p.y[c + POSITION + k] = r[k], r[k + 3]
        p.y[a + MOMENTUM + k], p.y[c + MOMENTUM + k] = momentum[k], momentum[k + 3]
    return status
