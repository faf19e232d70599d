# ---
# section: Methods and papers
# order: 20
# caption: Over a long run the energy of Runge-Kutta runs away and that of splittings stays, at the same cost.
# alt: Largest energy error so far against time on logarithmic axes: Runge-Kutta rises steadily, three splittings
#   are flat at lower and lower levels.
# ---
# %% [markdown]
# # Energy that drifts, energy that stays
#
# **Why not simply use Runge-Kutta?** Over a short run of a tumbling satellite it is fine. Over a long one its energy
# runs away at a constant rate, while splittings only oscillate about the right value. All methods here evaluate the
# same number of torques in a second.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
ready = ph.systems.problem("celledoni_satellite")
loads_a_second, span = 700, 2000.0
methods = {"mkrk:rk4": 4, "v2": 1, "s4_6": 6, "rkn6_14a": 14}  # torques in a step

# %%
figure, axes = plt.subplots(figsize=(7.6, 4.6))
for k, (name, loads) in enumerate(methods.items()):
    step = loads / loads_a_second
    steps = round(span / step)
    ds = ph.integrate(ready.build(), name, step=span / steps, steps=steps, every=steps // 2000, start=ready.initial)
    worst = np.maximum.accumulate(abs(ds.energy_error.values))[1:]
    axes.loglog(ds.time[1:], worst, color=f"C{(1, 4, 2, 0)[k]}")
    axes.annotate(name, (span, worst[-1]), (5, 0), textcoords="offset points", va="center", color=f"C{(1, 4, 2, 0)[k]}")
    half = worst[len(worst) // 2]
    print(f"{name:9} largest error in the first half {half:.0e}, in all {worst[-1]:.0e}")
axes.set(xlabel="time (s)", ylabel="largest energy error so far, relative", xlim=(1, span))
