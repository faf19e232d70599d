# ---
# section: Spacecraft
# order: 50
# caption: A companion circles its leader in an ellipse of 2 to 1; 5 mm/s too much, and it drifts away.
# alt: Path of a companion relative to its leader in the radial and along-track directions, a closed ellipse
#   twice as long as high, a drifting one, and one disturbed by the oblateness of the Earth.
# ---
# %% [markdown]
# # Two satellites in formation
#
# How must a companion start to stay with its leader without fuel? Clohessy and Wiltshire: with an along-track
# velocity of $-2 n x$ as it sees it it circles the leader once per orbit. A start that is wrong by 5 mm/s drifts
# away, and so do orbits that differ in inclination under the Earth's oblateness.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, radius = ph.planets.EARTH, 7.0e6
n = np.sqrt(earth.mu / radius**3)
tilt = np.radians(60)
r, v = np.array([radius, 0, 0]), radius * n * np.array([0, np.cos(tilt), np.sin(tilt)])
along, across = v / (radius * n), np.array([0, -np.sin(tilt), np.cos(tilt)])
bulge = [ph.loads.zonal(radius=earth.radius, J2=earth.J["J2"])]


def seen(loads, offset, push):
    """The companion from the leader, in metres: along the track, across it, and down."""
    pair = ph.system(ph.body("leader", 100.0), ph.body("companion", 100.0), ph.loads.central(earth.mu), loads)
    start = {"leader": {"position": r, "velocity": v}, "companion": {"position": r + offset, "velocity": v + push}}
    ds = ph.integrate(pair, "rkn6_14a", step=20.0, t_end=58000.0, start=start)
    return ds.polhode.relative("leader", "companion", frame="lvlh").position.values.T


# %%
fig, axes = plt.subplots()
offset = np.array([200.0, 0, 0])
closed = -n * 200 * along  # seen from the turning leader -2 n x
for name, case in {
    "as Clohessy and Wiltshire say": ([], offset, closed),
    "5 mm/s faster": ([], offset, closed + 0.005 * along),
    "and the Earth's bulge, planes 0.0016° apart": (bulge, offset, closed + 200 * n * across),
}.items():
    forward, _, down = seen(*case)
    axes.plot(forward, -down, label=name)
axes.plot(0, 0, "ko")
axes.set(xlabel="along track (m)", ylabel="up (m)", aspect="equal", title="Ten orbits, seen from the leader")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.1))
