"""A day on an orbit about the oblate Earth with hapsira (poliastro): Cowell's method. Kilometres, seconds."""

import numpy as np
from astropy import units as u
from hapsira.bodies import Body
from hapsira.core.perturbations import J2_perturbation
from hapsira.core.propagation import func_twobody
from hapsira.twobody import Orbit
from hapsira.twobody.propagation import CowellPropagator
from numba import njit

earth = Body(parent=None, k=398600.4415 * u.km**3 / u.s**2, name="Earth", R=6378.1363 * u.km)
orbit = Orbit.from_vectors(earth, [7000.0, 0, 0] * u.km, [0, 5.336, 5.5] * u.km / u.s)


@njit
def oblate(t0, state, k):
    ax, ay, az = J2_perturbation(t0, state, k, J2=0.0010826266835531513, R=6378.1363)
    return func_twobody(t0, state, k) + np.array([0, 0, 0, ax, ay, az])


# measured: begin
end = orbit.propagate(86400 * u.s, method=CowellPropagator(rtol=1e-12, f=oblate))
# measured: end
result = {"position": end.r.to_value("m").tolist(), "velocity": end.v.to_value("m/s").tolist()}
