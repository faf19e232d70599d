"""Motion about a centre: the exact flow of |p|^2/(2m) - mu m/|r|, the centre being the origin.

What the drift is to free particles, this is to points that orbit; a splitting whose kicks are only what perturbs the
orbit then takes steps that the perturbation allows, not the orbit [wisdom1991].
"""

from __future__ import annotations

from polhode.algebra.kepler import kepler_motion
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import BODY, CONSTANTS, INVERSE_MASS, MASS, MOMENTUM, OK, POSITION


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
