# ---
# section: Methods and papers
# order: 40
# caption: An integrable map of order 2 made one of order 10 by changing the moments of inertia.
# alt: Error of the attitude against step for six free rotations, straight lines of slopes two to ten that end at
#   round-off.
# ---
# %% [markdown]
# # The discrete Moser-Veselov map, preprocessed
#
# **Can an integrable map be made accurate?** The discrete Moser-Veselov map keeps every constant of a free body, but
# has order 2. McLachlan, Zanna, Hairer and Vilmart change the moments of inertia a little, and it has any even order.
# Here are orders 2 to 10 and the rival of equal structure, rotations about body axes.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, momentum, span = np.array((0.376, 0.627, 1.0)), np.array((0.0, 0.6, -0.8)), 10.0
truth = ph.free_motion(inertia, momentum, span).attitude
book, steps = ph.free_body(inertia), np.array([24, 30, 40, 56, 80, 113, 160, 320, 640])
flows = {"mr": 2, "dmv2": 2, "dmv4": 4, "dmv6": 6, "dmv8": 8, "dmv10": 10}

# %%
figure, axes = plt.subplots(figsize=(7.4, 5))
for k, (flow, order) in enumerate(flows.items()):
    errors, kept = [], []
    for n in steps:
        ds = ph.integrate(book, f"v2/{flow}", step=span / n, steps=int(n), angular_momentum=momentum)
        errors.append(float(ph.rotation.angle_between(ds.attitude.values[-1], truth)))
        kept.append(float(abs(ds.energy_error).max()))
    axes.loglog(span / steps, errors, "os^vDP"[k] + "-", color="0.5" if flow == "mr" else f"C{k - 1}", label=flow)
    errors = np.array(errors)
    slope = np.polyfit(np.log(1 / steps[errors > 1e-12]), np.log(errors[errors > 1e-12]), 1)[0]
    print(f"{flow:6} order {order:2}, measured {slope:5.2f}; largest energy error of all steps {max(kept):.0e}")
axes.set(xlabel="step", ylabel="error of the attitude (rad)", ylim=(1e-16, 10))
axes.xaxis.set_minor_formatter("")
axes.legend()
