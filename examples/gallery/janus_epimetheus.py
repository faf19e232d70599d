# ---
# section: Orbits
# order: 100
# caption: Two moons of Saturn share an orbit, and trade places every four years instead of colliding.
# alt: Horseshoe paths of Epimetheus and Janus in the frame that turns with their mean motion, and their
#   semi-major axes over twelve years, trading places every four.
# ---
# %% [markdown]
# # Janus and Epimetheus
#
# Two moons of Saturn move on orbits 50 km apart, less than their own size. The inner one is faster and catches up
# every four years. Why do they not collide? The pull of the other one raises the inner orbit and lowers the outer
# one: they trade.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
saturn, year = 3.7931208e16, 365.25 * 86400.0
masses = {"saturn": saturn, "janus": 1.2666e8, "epimetheus": 3.515e7}  # times G, m3/s2
system = ph.system([ph.body(name, mass) for name, mass in masses.items()], ph.loads.gravitation(G=1.0))
size = np.array([151.44e6 - 11e3, 151.44e6 + 39e3])
inner, outer = (
    ph.kepler.state(saturn, semi_major_axis=a, true_anomaly=w) for a, w in zip(size, (0, np.pi), strict=True)
)
start = dict(position=[(0, 0, 0), inner[0], outer[0]], velocity=[(0, 0, 0), inner[1], outer[1]])
ds = ph.integrate(system, "v2/kepler", step=3000.0, t_end=3000.0 * 126000, every=20, **start)

# %% [markdown]
# In a frame that turns with them, with the distance from their common circle magnified, each moves on a
# horseshoe.

# %%
fig = plt.figure()
round_, axes = fig.add_subplot(121, projection="polar"), fig.add_subplot(122)
place, size = ds.position - ds.position[:, 0], ds.polhode.elements().semi_major_axis
turning = np.sqrt(saturn / 151.44e6**3)
for k, name in ((1, "Janus"), (2, "Epimetheus")):
    angle = np.arctan2(place[:, k, 1], place[:, k, 0]) - turning * ds.time
    higher = (size[:, k] - 151.44e6) / 1e3
    axes.plot(ds.time / year, higher, label=name)
    round_.plot(angle, 100 + higher, linewidth=0.8)
round_.set(rticks=[], rlim=(0, 150), title="In the turning frame")
axes.set(xlabel="years", ylabel="semi-major axis − 151 440 km (km)", title="They trade orbits", ylim=(-46, 62))
axes.legend(loc="upper right", ncols=2)
