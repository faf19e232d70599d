# ---
# section: Tops and rigid bodies
# order: 20
# caption: All free spins of one body on one sphere, and the separatrix between them.
# alt: A sphere covered by closed curves around the axes of the smallest and the largest moment, divided by two
#   black circles that cross at the middle axis.
# ---
# %% [markdown]
# # All free spins of one body
#
# **Which spins of a body are stable?** Seen from the body, the angular momentum moves on a sphere along a closed
# curve, its polhode. About the axes of the smallest and the largest moment the curves are small circles; the
# separatrix through the middle axis divides them.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia = np.array((1.0, 1.6, 2.4))
angle = np.arctan(np.sqrt((1 / inertia[0] - 1 / inertia[1]) / (1 / inertia[1] - 1 / inertia[2])))  # of the separatrix

# %%
eye = np.array((0.80, 0.50, 0.36)) / np.linalg.norm((0.80, 0.50, 0.36))
right = np.cross((0, 0, 1), eye) / np.linalg.norm(np.cross((0, 0, 1), eye))
up = np.cross(eye, right)
figure, axes = plt.subplots(figsize=(7.4, 6.6))
u, v = np.meshgrid(np.linspace(-1, 1, 400), np.linspace(-1, 1, 400))
shade = np.where(u**2 + v**2 < 1, 0.90 + 0.08 * np.sqrt(np.maximum(1 - (u + 0.35) ** 2 - (v - 0.4) ** 2, 0)), np.nan)
axes.imshow(shade, extent=(-1, 1, -1, 1), cmap="gray", vmin=0, vmax=1, origin="lower")
colours = plt.get_cmap("coolwarm")


def draw(start, colour, width):
    points = ph.runs.poinsot.polhode_curve(inertia, start, 600).angular_momentum
    front = points @ eye > 0
    for side, strength in ((front, 1.0), (~front, 0.13)):
        axes.plot(*np.where(side, [points @ right, points @ up], np.nan), color=colour, linewidth=width, alpha=strength)


for tilt in np.concatenate(
    [np.linspace(0.1, 0.94, 7) * angle, np.pi / 2 - np.linspace(0.94, 0.1, 7) * (np.pi / 2 - angle)]
):
    start = np.array((np.sin(np.pi / 2 - tilt), 0, np.sin(tilt)))
    share = 2 * np.sum(start**2 / inertia) - 1 / inertia[0] - 1 / inertia[2]
    colour = colours(0.5 + 0.5 * share / (1 / inertia[0] - 1 / inertia[2]))
    for sign in (1, -1):
        draw(sign * start, colour, 1.6)
for sign in (1, -1):
    draw(sign * np.array((np.cos(angle), 0, np.sin(angle))), "C6", 2.2)
box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1}
for k, word in enumerate(("smallest moment", "middle moment", "largest moment")):
    axes.plot(right[k], up[k], "o", color="C6")
    axes.annotate(word, (right[k], up[k]), (0, 11), textcoords="offset points", ha="center", weight="bold", bbox=box)
axes.axis("off")
scale = plt.cm.ScalarMappable(plt.Normalize(0.5 / inertia[2], 0.5 / inertia[0]), colours)
figure.colorbar(scale, ax=axes, shrink=0.6, label="kinetic energy / momentum²")
