# ---
# section: Tops and rigid bodies
# order: 10
# caption: A wing nut spun about its middle axis flips over and over; when, exactly, without a step.
# alt: Thirteen drawings of a wing nut while it turns over, and below the three components of its angular momentum
#   over four flips.
# ---
# %% [markdown]
# # The wing nut that turns over in space
#
# **Why does a wing nut that spins freely in orbit flip, again and again?** It spins about the axis of its middle
# moment of inertia, which is unstable. The motion is known exactly, so nothing is integrated here: `ph.free_motion`
# returns the attitude at any time.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, momentum = np.array((1.0, 2.0, 3.0)), np.array((0.0, 2.0, 1e-3))
flips = ph.runs.poinsot.free_motion_periods(inertia, momentum).polhode / 2

# %% [markdown]
# The time between flips by the textbook: a quarter period of an elliptic function, $K(k)$, grows as the logarithm of
# how well the spin was aimed.

# %%
twice_energy, square = np.sum(momentum**2 / inertia), np.sum(momentum**2)
one, two, three = inertia
rate = np.sqrt((three - two) * (square - twice_energy * one) / (one * two * three))
m = (two - one) * (twice_energy * three - square) / ((three - two) * (square - twice_energy * one))
theory = 2 * (ellipk(1 / m) / np.sqrt(m) if m > 1 else ellipk(m)) / rate
print(f"time between flips: {flips:.12f}, by theory {theory:.12f}")

# %%
t = np.linspace(0, 4 * flips, 2000)
along = ph.free_motion(inertia, momentum, t).angular_momentum / np.linalg.norm(momentum)
times = flips * (0.5 + np.linspace(-0.30, 0.30, 13))  # one flip, in thirteen pictures
figure = plt.figure(figsize=(9, 5), layout="none")
top, bottom = figure.add_axes((0.0, 0.45, 1, 0.52)), figure.add_axes((0.09, 0.12, 0.87, 0.3))
corners = np.array([[-1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1.4, 0]])  # wings along x, the screw along y
for k, q in enumerate(ph.free_motion(inertia, momentum, times).attitude):
    x, y, depth = ph.rotation.rotate(q, corners).T
    for a, b, colour, width in ((0, 1, "C0", 9), (2, 3, "C1", 6)):
        top.plot(x[[a, b]] + 2.6 * k, y[[a, b]], color=colour, linewidth=width, solid_capstyle="round")
top.set(aspect="equal", xlim=(-1.5, 32.7), ylim=(-2, 2))
top.axis("off")
for k, (name, colour) in enumerate((("smallest", "C5"), ("middle", "C1"), ("largest", "0.5"))):
    bottom.plot(t, along[:, k], color=colour, label=f"axis of the {name} moment")
bottom.set(xlabel="time", ylabel="momentum along", xlim=(0, t[-1]))
bottom.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)

# %% [markdown]
# The same in motion, integrated by the page itself. Drag the body to throw it, and look how soon it flips then.

# %%
ph.interactive(ph.free_body(inertia), "v2", step=0.05, angular_momentum=momentum, title="A spin that flips")
