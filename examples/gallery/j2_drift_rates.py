# ---
# section: Orbits
# order: 25
# caption: How fast the Earth's bulge turns node and perigee, measured at every inclination, on the lines of theory.
# alt: Drift of node and of perigee in degrees a day against inclination; measured dots lie on the curves of
#   first-order theory.
# ---
# %% [markdown]
# # The bulge turns every orbit
#
# To first order in $J_2$ the node drifts by $-\tfrac32 J_2 n (R/p)^2\cos i$ and the perigee by $\tfrac34 J_2 n
# (R/p)^2 (5\cos^2 i - 1)$. Twenty-five orbits of thirty days each:

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day, J2 = ph.planets.EARTH, 86400.0, ph.planets.EARTH.J["J2"]
system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(radius=earth.radius, J2=J2))
a, e = 8.0e6, 0.1
tilts = np.radians(np.linspace(2, 178, 25))
r, v = ph.kepler.state(earth.mu, semi_major_axis=a, eccentricity=e, inclination=tilts)
ds = ph.ensemble(system, "v2/kepler", members={"position": r, "velocity": v}, step=150.0, t_end=30 * day, every=8)
elements = ds.polhode.elements()


def slope(angles):
    return [np.degrees(np.polyfit(ds.time / day, one, 1)[0]) for one in np.unwrap(angles)]


# %%
fig, axes = plt.subplots()
size = 1.5 * J2 * np.sqrt(earth.mu / a**3) * (earth.radius / (a * (1 - e**2))) ** 2 * np.degrees(day)
fine = np.linspace(0, np.pi, 200)
axes.plot(np.degrees(fine), -size * np.cos(fine), label="node, theory")
axes.plot(np.degrees(fine), 0.5 * size * (5 * np.cos(fine) ** 2 - 1), label="perigee, theory")
axes.plot(np.degrees(tilts), slope(elements.node), "o", color="C0", label="node, measured")
axes.plot(np.degrees(tilts), slope(elements.argument_of_periapsis), "s", color="C1", label="perigee, measured")
for critical in (63.43, 116.57):
    axes.axvline(critical, color="#8a8a8a", linestyle=":")
axes.set(xlabel="inclination (deg)", ylabel="degrees a day", xticks=range(0, 181, 30), title="1600 km up on average")
axes.legend(ncols=2, frameon=True, framealpha=1, edgecolor="white")
