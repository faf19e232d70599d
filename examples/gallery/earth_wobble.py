# ---
# section: Tops and rigid bodies
# order: 40
# caption: The pole of a rigid Earth goes around in ten months, as Euler said in 1765.
# alt: Positions of the pole on each day of a turn, on a circle of three metres around the axis of figure, coloured
#   by day.
# ---
# %% [markdown]
# # The wobble of a rigid Earth
#
# **How long does the pole take to go around?** Euler predicted in 1765 that the pole of a rigid Earth circles its axis
# of figure in $A/(C - A)$ days. (The real Earth yields, and takes 433 days: Chandler's wobble.) The exact free motion
# gives the period and the path.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
A, C, radius = 0.329612, 0.330700, 6.371e6  # moments in units of mass times radius squared
tilt = 3.0 / radius  # of the momentum to the axis of figure: three metres at the pole
day = 2 * np.pi  # in units in which the Earth turns at a rate of one
momentum = C * np.array((np.sin(tilt), 0, np.cos(tilt)))
period = ph.runs.poinsot.free_motion_periods((A, A, C), momentum).polhode / day

# %%
days = np.arange(0, np.ceil(period) + 1)
m = ph.free_motion((A, A, C), momentum, days * day).angular_momentum
x, y = radius * m[:, :2].T / C
print(f"period by the exact motion {period:.4f} days, by A/(C - A) {A / (C - A):.4f} days")
figure, axes = plt.subplots(figsize=(6.2, 5.4))
dots = axes.scatter(x, y, c=days, cmap="viridis", s=14)
for k in range(0, 300, 30):
    axes.annotate(f"day {k}", (x[k], y[k]), (1.2 * x[k], 1.15 * y[k]), ha="center", va="center")
axes.plot(0, 0, "+", color="C1", markersize=14)
axes.annotate("axis of figure", (0, 0), (0, -16), textcoords="offset points", ha="center", color="C1")
axes.set(xlabel="x of the pole (m)", ylabel="y of the pole (m)", aspect="equal", xlim=(-4.2, 4.2), ylim=(-4.2, 4.2))
figure.colorbar(dots, label="days", shrink=0.8)
