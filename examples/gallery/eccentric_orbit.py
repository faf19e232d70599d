# ---
# section: Orbits
# order: 85
# caption: A comet of eccentricity 0.99; which steps keep its energy for a hundred returns?
# alt: Above, points of one revolution with steps that follow the motion; below, energy error of four methods
#   over a hundred revolutions, two of them without drift.
# ---
# %% [markdown]
# # Steps for a comet
#
# With an eccentricity of 0.99 the speed at the Sun is 199 times that at the far end. Equal steps waste
# evaluations far out and fail near by; steps chosen by a tolerance lose energy at every return. Steps that follow
# a time transformation do neither.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
comet = ph.system(ph.body("comet", 1.0), ph.loads.central(1.0))
r, v = ph.kepler.state(1.0, semi_major_axis=1.0, eccentricity=0.99, mean_anomaly=np.pi)
start = dict(position=r, velocity=v, t_end=200 * np.pi)
runs = {
    "equal steps": ("rkn6_14a", dict(step=2 * np.pi / 200)),
    "tolerance": ("mkrk:dp8", dict(steps=ph.Tolerance(1e-8))),
    "reversible": ("reversible:distance:rkn6_14a", dict(step=0.15)),
    "logarithmic": ("logarithmic:kl8", dict(step=0.2)),
}

# %%
fig, (points, errors) = plt.subplots(2, 1, height_ratios=(1, 3))
for name, (method, steps) in runs.items():
    ds = ph.integrate(comet, method, **steps, **start, settings={"guard": False})
    error = np.maximum.accumulate(abs(ds.energy.values / ds.energy.values[0] - 1) + 1e-17)
    (line,) = errors.semilogy(ds.time / (2 * np.pi), error)
    said = f"{name}: {ds.attrs['load_evaluations'] / 100:.0f} evaluations a revolution"
    aside = dict(xytext=(0, 4 if error[-1] > 1e-11 else -12), textcoords="offset points", ha="right")
    errors.annotate(said, (100, error[-1]), color=line.get_color(), **aside)
first = ds.position.sel(time=slice(0, 2 * np.pi))
points.plot(first[:, 0], first[:, 1], ".", color=line.get_color(), markersize=4)
points.plot(0, 0, "o", color="C4")
points.set(title=f"{len(first)} logarithmic steps of one revolution", aspect="equal")
errors.set(xlabel="revolutions", title="Largest error of the energy so far", ylim=(1e-14, 1e4))
