# ---
# section: Ensembles and long runs
# order: 20
# caption: A drop of ten thousand spins on the sphere of momenta, drawn out into threads.
# alt: Four spheres at growing times: a patch of dots, then a band along the separatrix, then many thin threads.
# ---
# %% [markdown]
# # Ten thousand bodies, one drop
#
# **What becomes of a small error?** Ten thousand bodies start with nearly the same spin, a small patch on the sphere
# of momenta, beside the unstable axis. The flow keeps the area of the patch, and draws it out along the separatrix
# into ever longer threads.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, members = np.array((1.0, 1.6, 2.4)), 10_000
rng = np.random.default_rng(1)
m = np.array((0.05, 1.0, 0.05)) + 0.06 * rng.normal(size=(members, 3))
m /= np.linalg.norm(m, axis=1)[:, None]
ds = ph.ensemble(ph.free_body(inertia), "exact", members={"angular_momentum": m}, step=6.0, t_end=60, every=1)
# %%
eye = np.array((0.55, 0.75, 0.35)) / np.linalg.norm((0.55, 0.75, 0.35))
right = np.cross((0, 0, 1), eye) / np.linalg.norm(np.cross((0, 0, 1), eye))
up = np.cross(eye, right)
energy = np.sum(m**2 / inertia, axis=1) / 2
edge = np.array((np.cos(0.73), 0, np.sin(0.73)))
figure, panels = plt.subplots(1, 4, figsize=(10, 2.9))
for axes, when in zip(panels, (0, 1, 3, 10), strict=True):
    points = ds.angular_momentum.values[:, when]
    axes.add_patch(plt.Circle((0, 0), 1, color="#eef1f5"))
    side = points @ eye > 0
    for part, strength in ((~side, 0.15), (side, 1.0)):
        axes.scatter(
            points[part] @ right,
            points[part] @ up,
            c=energy[part],
            s=2.5,
            cmap="plasma",
            alpha=strength,
            vmin=0.3,
            vmax=0.33,
            linewidths=0,
        )
    axes.set(aspect="equal", title=f"t = {float(ds.time[when]):g}", xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.axis("off")
print(f"all keep their energy to {float(abs(ds.energy_error).max()):.0e}")
