# ---
# section: Spacecraft
# order: 64
# caption: The rate at which a body must be released to have a given attitude a minute later, by the exact gradient.
# alt: Angle to the target against time for the guess and the optimised release; the latter falls to zero at the end.
# ---
# %% [markdown]
# # Released to arrive
#
# **With which rate must a body be let go, so that it has a given attitude a minute later?** `ph.gradient` runs the
# tumble backwards and returns the exact derivative of the miss by the rate at the start; SciPy does the rest.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import polhode as ph

plt.style.use("polhode.plots.style")
body = ph.free_body([1.0, 1.7, 2.3])
target = ph.rotation.exp_quaternion([0.4, -0.3, 2.0])
run = {"system": body, "method": "rkn6_14a", "step": 0.5, "t_end": 60.0}


def miss(rate):
    found = ph.gradient(
        lambda s: 1.0 - (s.attitude @ target) ** 2, **run, wrt="angular_velocity", angular_velocity=rate
    )
    return found.value, found["angular_velocity"]


guess = np.array([0.01, 0.05, 0.03])
best = minimize(miss, guess, jac=True, method="BFGS", options={"gtol": 1e-12})
print(f"{best.nfev} runs; rate {np.degrees(best.x).round(3)} deg/s; 1 - cos^2 of half the miss {best.fun:.1e}")

# %%
fig, axes = plt.subplots(figsize=(7.6, 4.0))
for rate, label in ((guess, "guess"), (best.x, "optimised")):
    ds = ph.integrate(**run, angular_velocity=rate)
    angle = 2 * np.degrees(np.arccos(np.minimum(1.0, np.abs(ds.attitude.values @ target))))
    axes.plot(ds.time, angle, label=label)
axes.set(xlabel="time (s)", ylabel="angle to the target (degrees)")
axes.legend()
