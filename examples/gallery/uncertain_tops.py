# ---
# section: Ensembles and long runs
# order: 10
# caption: Two thousand tops of uncertain weight and spin: bands of their tilt over time.
# alt: Tilt against time as a median line with two bands, narrow at first and after forty seconds as wide as the
#   motion.
# ---
# %% [markdown]
# # A top that is not known exactly
#
# **How far can the motion of a top be foretold?** Two thousand tops differ by a per cent in weight and in spin. Their
# tilts agree at first; then the bands that hold half and nine tenths of them grow as wide as the motion itself. The
# start is known, the phase is not.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph
from polhode.ensembles import sampling

plt.style.use("polhode.plots.style")
top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20)
drawn = sampling.members(
    {
        "weight": sampling.normal(20, sigma=0.2),
        "angular_velocity": sampling.normal((0, 0, 30), sigma=(0, 0, 0.3)),
    },
    2048,
    design="sobol",
    seed=1,
)
ds = ph.ensemble(
    top, "rkn6_14a", members=drawn, step=0.05, t_end=60, every=2, attitude=ph.rotation.exp_quaternion((0.5, 0, 0))
)
tilt = np.degrees(np.arccos(ph.rotation.rotate(ds.attitude.values, (0, 0, 1))[..., 2]))

# %%
figure, axes = plt.subplots(figsize=(8, 4.2))
for low, high, strength in ((5, 95, 0.2), (25, 75, 0.4)):
    axes.fill_between(
        ds.time,
        *np.percentile(tilt, (low, high), axis=0),
        color="C0",
        alpha=strength,
        linewidth=0,
        label=f"{high - low} % of the tops",
    )
axes.plot(ds.time, np.median(tilt, axis=0), color="C0", label="median")
axes.plot(ds.time, tilt[0], color="C1", linewidth=0.8, label="one of them")
print(
    f"spread (standard deviation) of the tilt: {tilt[:, 40].std():.2f} degrees at t = {float(ds.time[40]):g}, "
    f"{tilt[:, -1].std():.2f} at the end; of the motion itself {tilt[0].std():.2f}"
)
axes.set(xlabel="time", ylabel="tilt (degrees)", xlim=(0, 60))
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
