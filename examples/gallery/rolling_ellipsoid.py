# ---
# section: Tops and rigid bodies
# order: 30
# caption: The ellipsoid of inertia rolls on a plane, and its point of contact draws the herpolhode.
# alt: A transparent orange ellipsoid above a plane, with the polhode on it, touching the plane on a blue rosette.
# ---
# %% [markdown]
# # Poinsot's ellipsoid rolls on a plane
#
# **What does a free body's motion look like?** Poinsot's answer of 1834: the ellipsoid of inertia rolls without
# slipping on a fixed plane. The point of contact is the tip of the angular velocity; it draws the polhode on the
# ellipsoid and the herpolhode on the plane.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, momentum = np.array((1.0, 1.6, 2.2)), np.array((0.55, 1.0, 0.75))
normal = np.cross(momentum, (0, 0, -1))
angle = np.arccos(-momentum[2] / np.linalg.norm(momentum))
downward = ph.rotation.quaternion_from_axis_angle(normal, angle)  # turns the momentum downward
period = ph.runs.poinsot.free_motion_periods(inertia, momentum).polhode
t = np.linspace(0, 4 * period, 3000)
herpolhode = ph.runs.poinsot.herpolhode_curve(inertia, momentum, t, attitude=downward).angular_velocity
print(f"the tip stays in the plane to {np.ptp(herpolhode[:, 2]):.1e}")

# %% [markdown]
# The ellipsoid through the tip, $\omega \cdot I \omega = 2 T$, in the attitude of the last time.

# %%
q = ph.free_motion(inertia, momentum, t[-1], attitude=downward).attitude
size = np.sqrt(np.sum(momentum**2 / inertia) / inertia)
a, b = np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, np.pi, 30))
surface = np.stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)], axis=-1) * size
polhode = ph.runs.poinsot.polhode_curve(inertia, momentum, 400).angular_velocity
figure = plt.figure(figsize=(7.6, 5.4), layout="none")
axes = figure.add_axes((0, 0, 1, 1), projection="3d", computed_zorder=False)
low = herpolhode[0, 2]
edge = 1.15 * np.array([[-1, 1], [-1, 1]])
axes.plot_surface(edge, edge.T, np.full((2, 2), low), color="#e6eaf0", shade=False, zorder=0)
axes.plot(*herpolhode[:, :2].T, low, color="C0", linewidth=1.0, zorder=1, label="herpolhode, in the plane")
axes.plot_surface(*np.moveaxis(ph.rotation.rotate(q, surface), -1, 0), color="#f6c85f", alpha=0.35, zorder=2)
axes.plot(*ph.rotation.rotate(q, polhode).T, color="C1", linewidth=2.2, zorder=3, label="polhode, on the ellipsoid")
axes.plot([0, herpolhode[-1, 0]], [0, herpolhode[-1, 1]], [0, low], color="C6", zorder=4, label="angular velocity")
axes.plot(*herpolhode[-1][:, None], "o", color="C6", zorder=4)
axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), zlim=(low, low + 2.1))
axes.set_box_aspect((2.6, 2.6, 2.1), zoom=1.25)
axes.view_init(16, -60)
axes.axis("off")
figure.legend(loc="upper left", bbox_to_anchor=(0.02, 0.98), frameon=False)
