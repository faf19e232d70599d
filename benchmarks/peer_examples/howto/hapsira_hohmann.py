"""Hohmann's transfer to the geostationary orbit, with hapsira (poliastro)."""

from astropy import units as u
from hapsira.bodies import Earth
from hapsira.maneuver import Maneuver
from hapsira.twobody import Orbit

orbit = Orbit.circular(Earth, 7000 * u.km - Earth.R)
transfer = Maneuver.hohmann(orbit, 42164 * u.km)
end = orbit.apply_maneuver(transfer)
cost, hours = transfer.get_total_cost().to_value(u.m / u.s), transfer.get_total_time().to_value(u.h)
print(f"{cost:.2f} m/s to {end.a.to_value(u.km):.2f} km, the transfer takes {hours:.4f} h")
