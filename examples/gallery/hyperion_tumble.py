# ---
# section: Spacecraft
# order: 91
# caption: Two Hyperions that differ by a ten-millionth of a degree point elsewhere within two years.
# alt: Left, angle between two neighbouring Hyperions growing exponentially over two years from a
#   ten-millionth of a degree; right, path of the axis it spun about over the sphere of directions.
# ---
# %% [markdown]
# # How long can Hyperion's attitude be predicted?
#
# Set spinning about the normal of its orbit in the chaotic sea, Hyperion falls over and tumbles about all axes.
# Neighbours part exponentially: the slope of their distance is the Lyapunov exponent.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
saturn, size, day = 3.7931208e16, 1.481e9, 86400.0
(r, v), n = ph.kepler.state(saturn, semi_major_axis=size, eccentricity=0.1), np.sqrt(saturn / size**3)
hyperion = ph.body("hyperion", 5.6e18, (0.607e28, 0.871e28, 1e28))
moon = ph.system(hyperion, ph.loads.central(saturn), ph.loads.gravity_gradient())
tilts = np.radians([5.0, 5.0 + 1e-7])[:, None] * [1.0, 0.3, 0.0]
ds = ph.ensemble(
    moon, "rkn6_14a", step=0.1 * day, t_end=800 * day, every=5, position=r, velocity=v,
    members={"attitude": ph.rotation.exp_quaternion(tilts)}, angular_velocity=(0, 0, n), settings={"units": "SI"},
)  # fmt: skip

# %%
fig = plt.figure()
growth, sphere = fig.add_subplot(121), fig.add_subplot(122, projection="3d")
apart = np.degrees(ph.rotation.angle_between(ds.attitude[0], ds.attitude[1]))
days = ds.time.values / day
growth.semilogy(days, apart)
part = (apart > 1e-6) & (apart < 1) & (days < days[apart > 1].min())
slope, height = np.polyfit(days[part], np.log(apart[part]), 1)
growth.semilogy(days[part], np.exp(height + slope * days[part]), "--", label=f"e-folding in {1 / slope:.0f} days")
growth.set(xlabel="days", ylabel="angle between the two (deg)", title="Neighbours part")
growth.legend()
axis = ph.rotation.rotate(ds.attitude[0].values, (0, 0, 1.0))
sphere.plot(*axis.T, linewidth=0.4)
sphere.set(title="The axis it spun about", box_aspect=(1, 1, 1), xticks=(-1, 1), yticks=(-1, 1), zticks=(-1, 1))

# %% [markdown]
# The first two hundred days of one of them, to turn and to play:

# %%
ph.view(ds, members=[0], frames=1500, span=(0.0, 200 * day), title="Hyperion")
