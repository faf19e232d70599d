# ---
# section: Orbits
# order: 20
# caption: The same local time at every pass for a year; half a degree of inclination decides it.
# alt: Local time of the ascending node over one year for three inclinations; at 98.19 degrees it stays at 18
#   hours, half a degree less or more lets it drift by about an hour and a half.
# ---
# %% [markdown]
# # Sun-synchronous orbit
#
# At which inclination does a satellite 700 km up cross the equator at the same local time all year? The
# oblateness must turn its node once a year, eastwards: $d\Omega/dt = -\tfrac32 J_2 n (R/a)^2 \cos i$ gives
# 98.19°.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day, year = ph.planets.EARTH, 86400.0, 365.2422
system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(**earth.zonal))
size = earth.radius + 700e3
rate = 1.5 * earth.J["J2"] * np.sqrt(earth.mu / size**3) * (earth.radius / size) ** 2
asked = np.degrees(np.arccos(-2 * np.pi / (year * day) / rate))

# %% [markdown]
# A year of 5300 revolutions takes a fraction of a second: between the kicks of oblateness the orbit is exact.

# %%
fig, axes = plt.subplots()
for inclination in (asked - 0.5, asked, asked + 0.5):
    r, v = ph.kepler.state(earth.mu, semi_major_axis=size, inclination=np.radians(inclination))
    ds = ph.integrate(system, "v2/kepler", step=200.0, t_end=365 * day, every=216, position=r, velocity=v)
    node = np.unwrap(ds.polhode.elements().node)
    days = ds.time.values / day
    sun = 2 * np.pi * days / year  # the mean Sun; at the start the node is six hours east of it
    local = 18 + (node - sun) * 12 / np.pi
    (line,) = axes.plot(days, local)
    said = f"{inclination:.2f}°: node {np.degrees(np.polyfit(days, node, 1)[0]):+.4f}° a day"
    aside = dict(xytext=(-6, 8 if local[-1] > 17.9 else -14), textcoords="offset points", ha="right")
    axes.annotate(said, (days[-1], local[-1]), color=line.get_color(), **aside)
axes.set(
    xlabel="days",
    ylabel="local time of the ascending node (h)",
    title="700 km up: half a degree decides",
    ylim=(16.1, 19.9),
)
