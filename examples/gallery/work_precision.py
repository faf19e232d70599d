# ---
# section: Methods and papers
# order: 30
# caption: Error against the number of torques, for six methods: splittings and Runge-Kutta.
# alt: Error of the attitude against torque evaluations on logarithmic axes for six methods; splittings of higher
#   order fall fastest.
# ---
# %% [markdown]
# # Which method is cheapest?
#
# **Which method should I take?** The one that reaches the error you want with the least work. A satellite tumbles in
# the gravity gradient; every method gets the same numbers of torque evaluations, so that one with more of them in a
# step takes longer steps. `ph.compare` measures the errors. (It also measures times; `ph.plots.work_precision` draws
# them.)

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
ready, span = ph.systems.problem("celledoni_satellite"), 20.0
system, budgets = ready.build(), 4000 * 2 ** np.arange(5)
truth = ph.integrate(system, "rkn8_17", step=0.005, t_end=span, start=ready.initial)
methods = {"mkrk:rk4": 4, "mkrk:cv8": 11, "v2": 1, "s4_6": 6, "rkn6_14a": 14, "aba10_6_4": 8}  # torques in a step

# %%
figure, axes = plt.subplots(figsize=(7.6, 5))
for k, (name, loads) in enumerate(methods.items()):
    table = ph.compare(system, name, span / (budgets // loads), t_end=span, start=ready.initial, reference=truth)
    error = table.attitude_error.values[0]
    colour = ("0.5", "C5", "C4", "C2", "C0", "C1")[k]
    axes.loglog(budgets, error, "os^vDP"[k] + "-", color=colour)
    axes.annotate(name, (budgets[-1], error[-1]), (8, 0), textcoords="offset points", va="center", color=colour)
    print(f"{name:10} error {error[0]:.0e} with {budgets[0]} torques, {error[-1]:.0e} with {budgets[-1]}")
axes.set(xlabel="torque evaluations in 20 seconds", ylabel="error of the attitude", ylim=(1e-13, 10))
axes.xaxis.set_minor_formatter("")
