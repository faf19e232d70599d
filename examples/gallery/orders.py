# ---
# section: Methods and papers
# order: 10
# caption: Errors of methods of order 2 to 8 against the step: their slopes, measured.
# alt: Five lines on logarithmic axes, error of the attitude against step, the steeper the higher the order, down to
#   round-off.
# ---
# %% [markdown]
# # Does a method have the order it promises?
#
# **How do I see the order of a method on my own problem?** `ph.compare` runs every method with every step from the
# same state and measures errors against a reference that it refines until two different methods agree. On logarithmic
# axes the slope is the order.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
top = ph.system(ph.body("top", inertia=(1.0, 1.5, 2.2), pinned=True), ph.loads.weight(8.0, at=(0.1, 0.2, 0.9)))
start = {"rotation_vector": (0.3, 0.1, 0.2), "angular_momentum": (0.6, 1.0, 0.5)}
methods = {"v2": 2, "ruth3": 3, "s4_6": 4, "rkn6_14a": 6, "rkn8_17": 8}
steps = 0.4 / 2 ** np.arange(7)
table = ph.compare(top, list(methods), steps, t_end=4.0, start=start)

# %%
figure, axes = plt.subplots(figsize=(7.4, 5))
for k, (name, order) in enumerate(methods.items()):
    error = table.attitude_error.sel(integrator=name)
    axes.loglog(error.step, error, "o-", color=f"C{k}", label=f"{name}, order {order}")
    a, b = np.flatnonzero(error.values > 1e-11)[-2:]  # the two smallest that are above round-off
    slope = np.log(error.values[a] / error.values[b]) / np.log(steps[a] / steps[b])
    print(f"{name:16} promises order {order}, measured {slope:.2f}")
axes.set(xlabel="step", ylabel="error of the attitude at the end")
axes.legend()
