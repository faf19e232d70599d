# ---
# section: Tops and rigid bodies
# order: 120
# caption: A Poincare section of an asymmetric top: islands of regular motion in a chaotic sea.
# alt: Dots of forty motions of one energy: closed curves around islands, and a sea of scattered dots between them.
# ---
# %% [markdown]
# # Order and chaos of a heavy top
#
# **Is the motion of an asymmetric top predictable?** All dots of this picture have one energy and one vertical momentum; each is a moment
# at which the axis stops rising. Regular motions draw closed curves, and chaotic ones fill the sea between them.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, energy, vertical, members = np.array((1.0, 1.5, 0.7)), 1.9, 1.0, 40
top = ph.heavy_top(inertia, center_of_mass=(0, 0, 1), weight=1.0)

# %% [markdown]
# Starts of that energy and momentum: the vertical $u$ in the body is drawn, and along a direction $e$ across it, also drawn, as much
# momentum is added as the energy asks for.

# %%
rng = np.random.default_rng(3)
u, e = rng.normal(size=(2, members, 3))
u[:, 2] = -abs(u[:, 2])  # the axis hangs, so that there is energy left
u /= np.linalg.norm(u, axis=1)[:, None]
e = np.cross(u, e)
a, b, c = (
    (e**2 / inertia).sum(1) / 2,
    (vertical * u * e / inertia).sum(1),
    (vertical**2 * u**2 / inertia).sum(1) / 2 + u[:, 2],
)
size = (-b + np.sqrt(b**2 - 4 * a * (c - energy))) / (2 * a)
attitudes = [
    ph.rotation.quaternion_from_matrix(np.stack([np.cross(np.cross(v, w), v), np.cross(v, w), v]))
    for v, w in zip(u, np.cross(u, e) / np.linalg.norm(np.cross(u, e), axis=1)[:, None], strict=True)
]
ds = ph.ensemble(
    top,
    "rkn6_14a",
    step=0.1,
    t_end=1500,
    members={"attitude": np.array(attitudes), "angular_momentum": vertical * u + size[:, None] * e},
)
print(
    f"energy and vertical momentum of all: {energy}, {vertical}, to {float(abs(ds.energy - energy).max()):.0e} and "
    f"{float(abs(ds.vertical_angular_momentum - vertical).max()):.0e}"
)

# %%
up = ph.rotation.rotate_inverse(ds.attitude.values, (0, 0, 1))
omega, along = ds.angular_velocity.values, ds.angular_momentum.values[..., 2]
rise = up[..., 0] * omega[..., 1] - up[..., 1] * omega[..., 0]
figure, axes = plt.subplots(figsize=(7.4, 5.6))
for k in range(members):
    top_at = np.flatnonzero((rise[k, :-1] > 0) & (rise[k, 1:] <= 0))
    part = rise[k, top_at] / (rise[k, top_at] - rise[k, top_at + 1])  # of the step, until the axis stops rising
    x, y, m = ((1 - part) * v[k, top_at] + part * v[k, top_at + 1] for v in (up[..., 0], up[..., 1], along))
    axes.plot(np.degrees(np.arctan2(x, y)), m, ".", markersize=1.5)
axes.set(
    xlabel="turn of the top about its axis (degrees)",
    ylabel="momentum about its axis",
    xlim=(-180, 180),
    xticks=range(-180, 181, 90),
)
axes.grid(False)
plt.show()
