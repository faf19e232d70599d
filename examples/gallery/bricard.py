# ---
# section: Several bodies
# order: 62
# caption: Six hinges in a ring move, though counting says that they cannot: Bricard's mechanism.
# alt: Positions of a closed chain of five bars at six times, and the height of one joint, which rises and falls
#   eight times in twenty seconds.
# ---
# %% [markdown]
# # Bricard's mechanism
#
# Five bars and the ground, six hinges in a closed ring: five times six freedoms less six times five equations is
# zero. **Why does it move?** Because one of the thirty equations follows from the others, at every position. Such rows
# are found and left out as the motion goes on, and nothing has to be told. It falls, and comes back to the height where
# it began, for energy is kept. Run time: 10 s.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
corners = np.array([(0, 0, 0), (1, 0, 0), (1, 0, -1), (1, -1, -1), (0, -1, -1), (0, -1, 0)], dtype=float)
axes = np.array([(0, 0, 1), (0, 1, 0), (1, 0, 0)] * 2, dtype=float)
names = [f"bar_{k}" for k in range(5)]
tips = np.diff(corners, axis=0) / 2  # from the middle of each bar to its end, in space at the start
inertia = [(1.01 * np.eye(3) - 4.0 * np.outer(tip, tip)) / 12 for tip in tips]
bars = [ph.body(name, 1.0, inertia[k]) for k, name in enumerate(names)]
ring = [ph.joints.hinge(-tips[0], axes[0], name="h0").on("bar_0", ph.ground)]
ring += [ph.joints.hinge(-tips[k], axes[k], tips[k - 1], name=f"h{k}").on(names[k], names[k - 1]) for k in range(1, 5)]
ring += [ph.joints.hinge(tips[4], axes[5], corners[5], name="h5").on("bar_4", ph.ground)]
mechanism = ph.system(bars, ring, ph.loads.weight())
ds = ph.integrate(mechanism, "kl6b/joints", step=0.01, t_end=20.0, start={"position": corners[:-1] + tips})

# %%
ends = ds.position.values + ph.rotation.rotate(ds.attitude.values, np.broadcast_to(tips, ds.position.shape))
fig = plt.figure(figsize=(9, 4))
space, height = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
for k in range(0, 180, 30):
    space.plot(*np.vstack([corners[:1], ends[k]]).T, "o-", color=plt.cm.viridis(k / 180), markersize=3)
height.plot(ds.time, ends[:, 2, 2])
height.set(xlabel="s", ylabel="m", title="Height of the joint across from the ground")
space.set_title("Every 0.3 s, from violet to yellow")
gap = abs(ends[:, 4] - corners[5]).max()
print(f"energy kept to {float(abs(ds.energy_error).max()):.0e}; the last bar ends where it is held, to {gap:.0e} m")
