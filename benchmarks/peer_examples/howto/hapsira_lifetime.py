"""Drag until a height of 100 km, with hapsira (poliastro): Cowell's method."""

import numpy as np
from astropy import units as u
from hapsira.bodies import Body
from hapsira.core.perturbations import atmospheric_drag_exponential
from hapsira.core.propagation import func_twobody
from hapsira.twobody import Orbit
from hapsira.twobody.events import AltitudeCrossEvent
from hapsira.twobody.propagation import CowellPropagator
from numba import njit

R = 6378.1363
earth = Body(parent=None, k=398600.4418 * u.km**3 / u.s**2, name="Earth", R=R * u.km)
orbit = Orbit.circular(earth, 230 * u.km)


@njit
def with_drag(t, state, k):
    ax, ay, az = atmospheric_drag_exponential(t, state, k, R=R, C_D=2.2, A_over_m=0.01e-6, H0=8.5, rho0=1.225e9)
    return func_twobody(t, state, k) + np.array([0, 0, 0, ax, ay, az])


ground = AltitudeCrossEvent(100, R)
end = orbit.propagate(60 * u.day, method=CowellPropagator(rtol=1e-10, events=[ground], f=with_drag))
print(f"100 km after {ground.last_t.to_value(u.day):.4f} days")
