# ---
# section: Tops and rigid bodies
# order: 120
# caption: A Poincare section of an asymmetric top, coloured by MEGNO: islands of order in a chaotic sea.
# alt: Dots of ninety motions of one energy; closed blue curves around islands, and a sea of scattered yellow dots
#   between them.
# ---
# %% [markdown]
# # Order and chaos of a heavy top
#
# **Is the motion of an asymmetric top predictable?** All dots of this picture have one energy and one vertical
# momentum; each is a moment at which the axis stops rising. Regular motions draw closed curves, and chaotic ones fill
# the sea between them.

# %%
import matplotlib
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, energy, vertical, members = np.array((1.0, 1.5, 0.7)), 1.9, 1.0, 90
top = ph.system(ph.body("top", inertia=inertia, pinned=True), ph.loads.weight(1.0, at=(0, 0, 1)))

# %% [markdown]
# Starts of that energy and momentum: the vertical $u$, seen from the body, is drawn at random, and so is a direction
# $e$ across it; momentum is added along $e$ until the energy is right.

# %%
rng = np.random.default_rng(3)
q = ph.initial.random_rotations(members, seed=2)["attitude"]
q = np.where((ph.rotation.rotate(q, (0, 0, 1))[:, 2:] < 0), q, ph.rotation.multiply(q, (0, 1, 0, 0)))  # let it hang
u = ph.rotation.rotate_inverse(q, (0, 0, 1))
e = np.cross(u, rng.normal(size=u.shape))
a, b = np.sum(e**2 / inertia, axis=1) / 2, np.sum(u * e / inertia, axis=1) * vertical
c = np.sum(u**2 / inertia, axis=1) * vertical**2 / 2 + u[:, 2] - energy
size = (-b + np.sqrt(b**2 - 4 * a * c)) / (2 * a)
start = {"attitude": q, "angular_momentum": vertical * u + size[:, None] * e}
ds = ph.ensemble(top, "rkn6_14a", step=0.1, t_end=600, members=start)
print(f"the energy of all is {energy} to {float(abs(ds.energy - energy).max()):.0e}")

# %% [markdown]
# An indicator of chaos tells them apart without a picture: MEGNO, from the derivative of the motion, tends to 2 where
# it is regular and grows with time where it is chaotic.

# %%
chaos = ph.chaos.megno(top, "rkn6_14a", step=0.1, t_end=600, members=start)
rate = float(chaos.exponent[chaos.final > 5].median())
print(f"{float((chaos.final > 5).mean()):.0%} are chaotic; there an error grows by e in {1 / rate:.0f} units of time")

# %%
up = ph.rotation.rotate_inverse(ds.attitude.values, (0, 0, 1))
omega, along = ds.angular_velocity.values, ds.angular_momentum.values[..., 2]
rise = up[..., 0] * omega[..., 1] - up[..., 1] * omega[..., 0]
figure, axes = plt.subplots(figsize=(7.4, 5.6))
megno, norm = chaos.final.values, matplotlib.colors.LogNorm(1, 30)
for k in range(members):
    top_at = np.flatnonzero((rise[k, :-1] > 0) & (rise[k, 1:] <= 0))
    part = rise[k, top_at] / (rise[k, top_at] - rise[k, top_at + 1])  # of the step
    x, y, m = ((1 - part) * v[k, top_at] + part * v[k, top_at + 1] for v in (up[..., 0], up[..., 1], along))
    shown = axes.scatter(np.degrees(np.arctan2(x, y)), m, s=1.5, c=np.full(m.size, megno[k]), cmap="cividis", norm=norm)
figure.colorbar(shown, label="MEGNO", ticks=[1, 2, 5, 10, 30], format="%g")
axes.set(xlabel="turn of the top about its axis (degrees)", ylabel="momentum about its axis", xlim=(-180, 180))
axes.grid(False)
