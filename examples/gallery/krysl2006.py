# ---
# section: Methods and papers
# order: 60
# caption: Krysl 2006: midpoint and trapezoid in the momentum of space against their rivals, for a fast top.
# alt: Error of the attitude against step for six methods of order two, parallel lines; those of IMIDM and TRAPM lie
#   lowest, together.
# ---
# %% [markdown]
# # Paper: midpoint and trapezoid on the rotation group
#
# Krysl (2006) showed that the midpoint and the trapezoidal rule, applied to the momentum in space (IMIDM and TRAPM),
# are far more accurate for a fast top than their rivals of the same order. Figure 3 of the paper in small: steps
# halved, and the attitude error after one second. The study behind it judges the claims of the paper by numbers.

# %%
import matplotlib.pyplot as plt

import polhode as ph
from polhode_papers import study

plt.style.use("polhode.plots.style")
ready = ph.systems.problem("krysl_fast_top")
rivals = {"akw": "AKW", "bbtrap": "BBTRAP", "swc1": "SWC1", "imid": "IMID", "trapm": "TRAPM", "imidm": "IMIDM"}
table = ph.compare(ready.build(), list(rivals), [0.004, 0.002, 0.001, 0.0005], t_end=1.0, start=ready.initial)
figure, axes = plt.subplots(figsize=(7.4, 4.8))
for k, (method, name) in enumerate(rivals.items()):
    error = table.attitude_error.sel(integrator=method)
    look = "o-" if method in ("trapm", "imidm") else "s--"
    axes.loglog(error.step, error, look, color=f"C{k}", label=name, markersize=11 - k, fillstyle="none")
axes.set(xlabel="step (s)", ylabel="error of the attitude after one second", title="Fast Lagrangian top, 50 rad/s")
axes.legend(ncols=2)
gain = table.attitude_error.sel(integrator="akw") / table.attitude_error.sel(integrator="imidm")
print(f"error of AKW over that of IMIDM: {float(gain.min()):.0f} to {float(gain.max()):.0f}")

# %% [markdown]
# The same figure as the study makes it, in its quick form, and what it finds.

# %%
figure_three = study("krysl2006").figure("fig03")
data = figure_three.compute(True, lambda line: None)
for verdict in figure_three.judge(data):
    print(f"{verdict.verdict}: {verdict.claim.text}")
