# ---
# section: Orbits
# order: 40
# caption: Why geostationary satellites burn fuel for the Moon; left alone, their orbits tilt to 15 degrees in 26 years.
# alt: Pole of a geostationary orbit over 60 years, circles of up to 15 degrees; and its inclination against
#   time, under the Sun, the Moon and both.
# ---
# %% [markdown]
# # Geostationary orbits tilt
#
# A geostationary satellite that is left alone does not stay over the equator. Moon and Sun pull its orbit towards
# the ecliptic, the Earth's bulge towards the equator: its pole circles about a point between the two.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day, year, tilt = ph.planets.EARTH, 86400.0, 365.2422 * 86400.0, np.radians(23.44)
ecliptic = (0.0, -np.sin(tilt), np.cos(tilt))  # its pole; the equinox is x
around = {"moon": ph.surroundings.path(circle=dict(radius=3.844e8, period=27.32166 * day, normal=ecliptic)),
          "sun": ph.surroundings.path(circle=dict(radius=1.495979e11, period=year, normal=ecliptic))}  # fmt: skip
bulge, moon, sun = ph.loads.zonal(radius=earth.radius, J2=earth.J["J2"]), *map(ph.loads.third_body, ("moon", "sun"))
start = dict(zip(("position", "velocity"), ph.kepler.state(earth.mu, semi_major_axis=4.21641e7), strict=True))

# %%
fig, (pole, growth) = plt.subplots(1, 2)
for name, loads in {"Sun": [bulge, sun], "Moon": [bulge, moon], "Moon and Sun": [bulge, moon, sun]}.items():
    system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), loads, surroundings=around)
    ds = ph.integrate(system, "v2/kepler", step=7200.0, t_end=60 * 365.25 * day, every=240, **start)
    normal = np.cross(ds.position, ds.velocity)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    x, y = np.degrees(normal[:, :2].T)
    pole.plot(x, y, label=name)
    growth.plot(ds.time / year, np.degrees(np.arccos(normal[:, 2])))
pole.set(xlabel="towards the equinox (deg)", ylabel="across (deg)", title="Pole of the orbit", aspect="equal")
pole.legend()
growth.set(xlabel="years", ylabel="deg", title="Inclination")
