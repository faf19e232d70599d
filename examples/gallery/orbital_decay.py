# ---
# section: Orbits
# order: 60
# caption: Drag makes an eccentric orbit round before it brings it down; a heavier satellite stays up longer.
# alt: Altitudes of perigee and apogee against days for three ballistic coefficients; the apogee falls to the
#   perigee at 200 km, then both fall at once, after 89, 177 and 354 days.
# ---
# %% [markdown]
# # Coming down
#
# A satellite is left with its perigee at 200 km and its apogee at 2000 km. Drag acts where the air is, at the
# perigee, and lowers the apogee. When will it be down? The air is a table of altitudes and densities; the run
# ends by itself at 100 km.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day = ph.planets.EARTH, 86400.0
air = np.array(
    [(100, 5.3e-7), (150, 2.1e-9), (200, 2.8e-10), (300, 1.9e-11), (400, 2.8e-12), (600, 1.1e-13), (1000, 3e-15)]
)
air = ph.surroundings.layered_air(air * (1e3, 1) + (earth.radius, 0))  # of height (km) and density (kg/m3)
r, v = ph.kepler.state(earth.mu, periapsis=earth.radius + 200e3, eccentricity=0.12, inclination=0.9)
ground = ph.events.altitude(100e3, earth.radius, "falling", terminal=True)

# %%
fig, axes = plt.subplots()
for k, kilograms in enumerate((50, 100, 200)):
    loads = [ph.loads.central(earth.mu), ph.loads.drag(Cd=2.2, area=1.0, rotation=earth.rotation)]
    craft = ph.system(ph.body("craft", kilograms), loads, surroundings={"air_density": air})
    run = dict(step=80.0, t_end=400 * day, every=75, position=r, velocity=v, events=[ground])
    ds = ph.integrate(craft, "s6_10", **run)
    orbit = ds.polhode.elements()
    perigee, apogee = ((orbit.semi_major_axis * (1 + k * orbit.eccentricity) - earth.radius) / 1e3 for k in (-1, 1))
    axes.fill_between(ds.time / day, perigee, apogee, alpha=0.25, color=f"C{k}", linewidth=0)
    axes.plot(ds.time / day, apogee, color=f"C{k}", label=f"{kilograms} kg/m²: {float(ds.time[-1]) / day:.1f} days")
    axes.plot(ds.time / day, perigee, color=f"C{k}")
axes.set(xlabel="days", ylabel="km", title="Apogee and perigee above the ground", ylim=(0, 2100))
axes.legend()
