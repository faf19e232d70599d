"""Thirty days of thrust along the velocity, with hapsira (poliastro): Cowell's method."""

import numpy as np
from astropy import units as u
from hapsira.bodies import Earth
from hapsira.core.propagation import func_twobody
from hapsira.twobody import Orbit
from hapsira.twobody.propagation import CowellPropagator
from numba import njit

orbit = Orbit.circular(Earth, 7000 * u.km - Earth.R)


@njit
def with_engine(t, state, k):
    v = state[3:]
    ax, ay, az = 1e-6 * v / np.sqrt(v @ v)
    return func_twobody(t, state, k) + np.array([0, 0, 0, ax, ay, az])


end = orbit.propagate(30 * u.day, method=CowellPropagator(rtol=1e-11, f=with_engine))
print(f"from {orbit.a.to_value(u.km):.1f} km to {end.a.to_value(u.km):.1f} km in 30 days")
