# ---
# section: Molecules
# order: 10
# caption: Strong dipoles in a heat bath find each other and join into chains, and those into a net.
# alt: Spheres with arrows in a box, coloured by how many are connected: scattered, then chains, then a net.
# ---
# %% [markdown]
# # Magnetic beads that find each other
#
# **Why do small magnets in a liquid line up in chains?** Head to tail two dipoles attract each other twice as strongly
# as they repel side by side. Soft spheres with a strong dipole start on a lattice, pointing anywhere, in a heat bath;
# soon they are chains, and then a net.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import connected_components

import polhode as ph

plt.style.use("polhode.plots.style")
n, edge, kT = 125, 12.0, 0.5
beads = ph.dipoles(n, inertia=(0.1, 0.1, 0.1), dipole=(0, 0, 2.2), box=edge, cutoff=5.9)
start = ph.initial.cubic(5, edge / 5, noise=0.1, seed=1).state | ph.initial.random_rotations(n, seed=1)
start |= ph.initial.thermal(beads, kT, seed=1)
langevin = ph.methods.baoab(temperature=kT, friction=0.3, seed=1)
ds = ph.integrate(beads, langevin, step=0.01, t_end=60, every=100, **start)


def neighbours(row):
    """Which beads touch, by nearest images."""
    apart = row.position.values[:, None] - row.position.values
    return np.linalg.norm(apart - edge * np.round(apart / edge), axis=-1) < 1.35


# %%
figure = plt.figure(figsize=(10, 4), layout="none")
for k, when in enumerate((0, 6, -1)):
    row = ds.isel(time=when)
    chains = connected_components(neighbours(row))[1]
    size = np.bincount(chains)[chains]
    axes = figure.add_axes((0.31 * k, -0.06, 0.31, 1), projection="3d")
    place, way = row.position.values % edge, ph.rotation.rotate(row.attitude.values, (0, 0, 1))
    dots = axes.scatter(*place.T, c=size, s=75, cmap="viridis", vmin=1, vmax=n, edgecolors="white", linewidths=0.4)
    axes.quiver(*(place - 0.6 * way).T, *(1.2 * way).T, color="C6", linewidth=0.9, arrow_length_ratio=0.35)
    axes.set(xticks=(), yticks=(), zticks=(), title=f"t = {float(row.time):g}")
    axes.set_box_aspect((1, 1, 1), zoom=1.15)
    print(f"t = {float(row.time):3g}: beads connected to four or more: {100 * np.mean(size >= 5):.0f} %")
figure.colorbar(dots, cax=figure.add_axes((0.93, 0.2, 0.015, 0.6)), label="beads connected")

# %% [markdown]
# All of it in motion.

# %%
ph.view(ds, title="Dipoles in a heat bath")
