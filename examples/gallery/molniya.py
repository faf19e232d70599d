# ---
# section: Orbits
# order: 10
# caption: Half a day a revolution, eleven hours of it over the north. The critical inclination keeps it there.
# alt: Left, the ground track of a Molniya orbit over two revolutions, with two loops over the north; right,
#   the argument of perigee over three years, flat at 63.4 degrees of inclination and drifting away at 58 and
#   68.
# ---
# %% [markdown]
# # Molniya
#
# A Molniya satellite climbs to 40 000 km over the north and hurries through its perigee in the south. The Earth's
# oblateness would carry the perigee around, at a rate proportional to $5\cos^2 i - 1$; at 63.4° it stays.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day, J2 = ph.planets.EARTH, 86400.0, ph.planets.EARTH.J["J2"]
system = ph.system(ph.body("molniya", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(radius=earth.radius, J2=J2))
sidereal = 2 * np.pi / earth.rotation
size = (earth.mu * (sidereal / 2 / (2 * np.pi)) ** 2) ** (1 / 3)  # two revolutions a sidereal day


def flown(inclination, days, **rows):
    place = dict(semi_major_axis=size, eccentricity=0.74, argument_of_periapsis=np.radians(270), node=np.radians(75))
    r, v = ph.kepler.state(earth.mu, inclination=np.radians(inclination), **place)
    ds = ph.integrate(system, "logarithmic:kl8", step=60.0, t_end=days * day, position=r, velocity=v,
                      settings={"units": "SI"}, **rows)  # fmt: skip
    return ds


# %% [markdown]
# Left, two revolutions seen from the turning Earth, a dot every half hour. Right, what the perigee does in three
# years.

# %%
fig, (track, perigee) = plt.subplots(1, 2)
ground = flown(63.4, 1.006, t_eval=np.arange(0.0, 1.006 * day, 20.0)).polhode.ground_track(degrees=True)
east, north = ground.longitude.values, ground.latitude.values
line = np.where(abs(np.diff(east, append=east[-1])) > 180, np.nan, east)  # broken at the date line
track.plot(line, north)
track.plot(east[::90], north[::90], "o", markersize=4)
track.set(title="Ground track", xlabel="longitude (deg)", ylabel="latitude (deg)", xlim=(-180, 180), ylim=(-90, 90))
track.set(xticks=range(-180, 181, 90), yticks=range(-90, 91, 30))
for inclination in (58.0, 63.4, 68.0):
    ds = flown(inclination, 3 * 365.25, every=400)
    perigee.plot(
        ds.time / day / 365.25, ds.polhode.elements(degrees=True).argument_of_periapsis % 360, label=f"{inclination}°"
    )
perigee.set(title="Argument of perigee", xlabel="years", ylabel="deg")
perigee.legend(title="inclination")
