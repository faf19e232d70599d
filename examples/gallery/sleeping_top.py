# ---
# section: Tops and rigid bodies
# order: 60
# caption: How far a top leans over against its spin: below the threshold it falls, above it sleeps.
# alt: Largest tilt against spin for tops started at 20, 5 and 0.1 degrees; the last falls to zero at the threshold.
#   Dots lie on lines.
# ---
# %% [markdown]
# # The sleeping top
#
# **How fast must a top spin to stand upright?** Tops, from slow to fast, start a little off the vertical. How far does
# each lean over? Above the threshold $\omega^2 = 4 I_1 W \ell / I_3^2$ a top "sleeps"; the lines are the theory, the
# root of a cubic.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
across, along, weight = 5.0, 1.0, 20.0
top = ph.system(ph.body("top", inertia=(across, across, along), pinned=True), ph.loads.weight(weight, at=(0, 0, 1)))
threshold = np.sqrt(4 * across * weight) / along
spins = np.linspace(0.02, 1.6, 80) * threshold


def largest_tilt(tilt, spin):
    """Where a top let go at rest but for its spin turns back, in degrees."""
    beta, c = 2 * weight / across, (along * spin / across) ** 2
    u = (c - np.sqrt(c**2 + 4 * beta * (beta - c * np.cos(tilt)))) / (2 * beta)
    return np.degrees(np.arccos(u))


# %%
figure, axes = plt.subplots(figsize=(7.5, 4.4))
worst = 0.0
for degrees, colour in ((20, "C4"), (5, "C5"), (0.1, "C0")):
    tilt = np.radians(degrees)
    ds = ph.ensemble(
        top,
        "rkn6_14a",
        step=0.1,
        t_end=80,
        members={"angular_velocity": spins[:, None] * (0, 0, 1)},
        attitude=ph.rotation.exp_quaternion((tilt, 0, 0)),
    )
    height = ph.rotation.rotate(ds.attitude.values, (0, 0, 1))[..., 2].min(axis=1)
    measured, theory = np.degrees(np.arccos(height)), largest_tilt(tilt, spins)
    worst = max(worst, abs(measured - theory).max())
    axes.plot(spins / threshold, theory, color=colour, linewidth=1)
    axes.plot(spins / threshold, measured, ".", color=colour, label=f"{degrees:g}° off the vertical")
print(f"largest difference of run and theory: {worst:.2f} degrees")
axes.axvline(1, color="0.5", linestyle="--")
axes.annotate("sleeps", (1.02, 150), color="0.5")
axes.set(xlabel="spin / threshold", ylabel="largest tilt (degrees)", ylim=(0, 180), xlim=(0, 1.6))
axes.legend(title="started")

# %% [markdown]
# Let it sleep, and slow it down. The page takes the steps:

# %%
start = {"rotation_vector": (0.02, 0, 0), "angular_velocity": (0, 0, 1.3 * threshold)}
knobs = {"angular_velocity.2": (0, 1.6 * threshold)}
ph.interactive(top, "rkn6_14a", step=0.05, start=start, knobs=knobs, title="A top that sleeps")
