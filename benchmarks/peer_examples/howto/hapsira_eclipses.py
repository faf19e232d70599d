"""The umbra of the Earth, with hapsira (poliastro)."""

from astropy import units as u
from astropy.time import Time
from hapsira.bodies import Earth
from hapsira.twobody import Orbit
from hapsira.twobody.events import UmbraEvent
from hapsira.twobody.propagation import CowellPropagator

zero = 0 * u.deg
orbit = Orbit.from_classical(
    Earth,
    6878.1366 * u.km,
    0 * u.one,
    51.6 * u.deg,
    30 * u.deg,
    zero,
    zero,
    epoch=Time("2026-03-20T12:00:00", scale="utc"),
)
edges = [0.0]
for direction in (1, -1):  # a run tells its last event only, so it ends at each
    shadow = UmbraEvent(orbit, terminal=True, direction=direction)
    orbit = orbit.propagate(2 * u.h, method=CowellPropagator(events=[shadow], rtol=1e-10))
    edges.append(edges[-1] + shadow.last_t.to_value(u.min))
print(f"the first from {edges[1]:.2f} to {edges[2]:.2f} minutes")
