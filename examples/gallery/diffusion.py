# ---
# section: Molecules
# order: 40
# caption: The diffusion constant of a liquid by Einstein and by Green and Kubo, from one run.
# alt: Left, mean-square displacement against time on logarithmic axes, first of slope two, then one; right, the
#   velocity autocorrelation and its integral.
# ---
# %% [markdown]
# # Two ways to a diffusion constant
#
# **How fast do molecules wander off?** Einstein: a sixth of the slope of the mean-square displacement. Green and Kubo:
# a third of the integral of the velocity autocorrelation. A liquid of Lennard-Jones spheres gives both from one run;
# first it flies, then it diffuses.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
n, density, kT = 125, 0.8, 1.2
edge = (n / density) ** (1 / 3)
liquid = ph.dipoles(n, attraction=1, dipole=(0, 0, 0), box=edge, cutoff=edge / 2.001)
start = ph.initial.cubic(5, edge / 5, noise=0.02, seed=1).state | ph.initial.random_rotations(n, seed=1)
start |= ph.initial.thermal(liquid, kT, seed=1)
warm = ph.integrate(liquid, ph.methods.nose_hoover(temperature=kT, tau=0.3), step=0.005, t_end=10, every=100, **start)
ds = ph.integrate(liquid, "v2", start=warm, step=0.005, t_end=40, every=4)
moved = ph.trajectory.observables.mean_square_displacement(ds, lags=500)
velocity = ph.trajectory.observables.velocity_autocorrelation(ds, lags=500)
lag, moves, memory = moved.lag.values, moved.displacement.values, velocity.correlation.values
integral = np.concatenate([[0], np.cumsum((memory[1:] + memory[:-1]) / 2 * np.diff(lag))]) / 3
late = slice(100, 400)
einstein = np.polyfit(lag[late], moves[late], 1)[0] / 6
print(f"diffusion constant: {einstein:.3f} (Einstein), {integral[100:200].mean():.3f} (Green and Kubo)")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.loglog(lag[1:], moves[1:], ".", markersize=3, label="run")
left.loglog(lag[1:60], memory[0] * lag[1:60] ** 2, color="C1", label="free flight, slope 2")
left.loglog(lag[10:], 6 * einstein * lag[10:], color="C2", label="diffusion, slope 1")
left.set(xlabel="time", ylabel="mean-square displacement", ylim=(5e-4, 30), title="Einstein")
left.legend()
right.plot(lag[:100], memory[:100] / memory[0], label="velocity autocorrelation / its start")
right.plot(lag[:200], integral[:200] / einstein, color="C2", label="its integral / 3, over Einstein's constant")
right.axhline(1, color="0.6", linestyle=":")
right.set(xlabel="time", xlim=(0, 2), ylim=(-0.2, 1.6), title="Green and Kubo")
right.legend()
