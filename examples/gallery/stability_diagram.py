# ---
# section: Spacecraft
# order: 12
# caption: Which bodies hang quietly in the gravity gradient? Four thousand of them, and DeBra and Delp's boundaries.
# alt: Map over two ratios of moments of inertia, coloured by how far a satellite strays from the vertical
#   within ten orbits; the quiet regions are those that theory predicts.
# ---
# %% [markdown]
# # Which shapes does the gravity gradient hold?
#
# A satellite is let go at a hundredth of a radian from the vertical. What becomes of it depends on its moments
# alone, that is on $k_1 = (I_y - I_z)/I_x$ and $k_3 = (I_y - I_x)/I_z$ (x forward, y across, z down). DeBra and
# Delp's boundaries of 1961 are drawn over the measured map of 4096 members of one ensemble.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
k, other = np.linspace(-0.985, 0.985, 64), np.linspace(-0.98, 0.99, 64)
k1, k3 = (grid.ravel() for grid in np.meshgrid(k, other))
moments = np.stack([(1 - k3) / (1 - k1 * k3), np.ones_like(k1), (1 - k1) / (1 - k1 * k3)], axis=1)
upright = np.array([[0, 0, -1], [1, 0, 0], [0, -1, 0.0]])  # x along the velocity, y against the normal, z down
tilt = ph.rotation.exp_matrix((0.006, 0.006, 0.006))
body = ph.body("craft", 1e9, (1.0, 1.1, 0.9))  # units of the orbit; too heavy to be moved by its spin
craft = ph.system(body, ph.loads.central(1.0), ph.loads.gravity_gradient())
ds = ph.ensemble(
    craft, "v2", members={"craft.inertia": moments}, step=2 * np.pi / 100, t_end=20 * np.pi, every=4,
    attitude=upright @ tilt, angular_velocity=(0, -1.0, 0), position=(1, 0, 0), velocity=(0, 1, 0),
)  # fmt: skip

# %%
turned = np.zeros((ds.sizes["time"], 3))
turned[:, 2] = ds.time
vertical = ph.rotation.multiply(ph.rotation.exp_quaternion(turned), ph.rotation.quaternion_from_matrix(upright))
strays = ph.rotation.angle_between(ds.attitude.values, vertical).max(axis=1).reshape(64, 64)
fig, axes = plt.subplots()
picture = axes.pcolormesh(k, other, np.degrees(strays), norm="log", cmap="viridis", rasterized=True)
fig.colorbar(picture, label="farthest from the vertical in ten orbits (deg)")
fine = np.linspace(-1, 1, 600)
x, z = np.meshgrid(fine, fine)
roots = np.sqrt(np.maximum(x * z, 0))
held = (x > z) & (x * z > 0) & (3 * x + x * z + 1 > 4 * roots)
axes.contour(x, z, held, levels=[0.5], colors="white")
axes.set(xlabel="$k_1$ (roll)", ylabel="$k_3$ (yaw)", aspect="equal", title="White: DeBra and Delp's boundaries")
axes.grid(False)
