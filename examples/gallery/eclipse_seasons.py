# ---
# section: Orbits
# order: 50
# caption: How long is a satellite in the dark? The edges of its shadows through a year, found to round-off.
# alt: Minutes of darkness per revolution over a year for three orbits; constant at noon, a summer season only
#   at dusk, and for the space station changing every month, twice to none at all.
# ---
# %% [markdown]
# # A year of eclipses
#
# Batteries are sized by the longest night. The edges of a shadow are events, which the run finds to the last
# digit of the time. Here they are through a year, on three orbits that the Earth's oblateness turns.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day, year = ph.planets.EARTH, 86400.0, 365.2422 * 86400.0
tilt, J2 = np.radians(23.44), earth.J["J2"]
sun = dict(radius=1.495979e11, period=year, normal=(0, -np.sin(tilt), np.cos(tilt)))
shadow = ph.events.eclipse(earth.radius, circle=sun)
system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(radius=earth.radius, J2=J2))

# %%
fig, axes = plt.subplots()
for name, height, inclination, node in (
    ("space station", 420e3, 51.6, 0),
    ("sun-synchronous, noon", 600e3, 97.79, 0),
    ("sun-synchronous, dusk", 600e3, 97.79, 90),
):
    size = dict(semi_major_axis=earth.radius + height, inclination=np.radians(inclination), node=np.radians(node))
    r, v = ph.kepler.state(earth.mu, **size)
    year_of = ph.integrate(system, "v2/kepler", step=600.0, t_end=365 * day, every=144 * 3, position=r, velocity=v)
    minutes = []
    for k in range(year_of.sizes["time"]):  # every third day the shadow of one revolution
        row = year_of.isel(time=k)
        now = {"time": float(row.time), "position": row.position.values, "velocity": row.velocity.values}
        ds = ph.integrate(system, "v2/kepler", step=300.0, steps=36, every=36, start=now, events=[shadow])
        enters = np.char.endswith(ds.event_kind.values.astype(str), "entry")
        dark = np.diff(ds.event_time)[enters[:-1]] / 60
        minutes.append(dark[0] if len(dark) else 0.0)
    axes.plot(year_of.time / day, minutes, label=name)
axes.set(xlabel="days from the spring equinox", ylabel="minutes of darkness per revolution", ylim=(0, 40))
axes.set_title("Shadows of a year")
axes.legend()
