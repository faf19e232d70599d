# ---
# section: Ensembles and long runs
# order: 30
# caption: Two million steps through a power cut: resumed, the same to the last bit, and the energy error flat.
# alt: Energy error against time for the whole run, a flat band, the part before the power cut in another colour.
# ---
# %% [markdown]
# # A run that survives
#
# **Can a run of millions of steps be stopped at any moment?** With `store=` rows and checkpoints go to disk while it
# runs. Here the power fails at forty per cent; `ph.resume` goes on from the last checkpoint, and the result is the
# same to the last bit. The energy error of the symplectic method does not grow.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
top = ph.system(ph.body("top", inertia=(5, 4, 1), pinned=True), ph.loads.weight(20, at=(0, 0, 1)))
start = {"rotation_vector": (0.3, 0, 0), "angular_velocity": (0, 0, 30)}
run = dict(step=0.01, steps=2_000_000, every=1000, start=start)


def power_cut(progress):
    if progress.share > 0.4:
        raise RuntimeError("the power fails")


try:
    ph.integrate(top, "rkn4_6b", store=ph.Store("top.zarr", checkpoint_seconds=0.1), progress=power_cut, **run)
except RuntimeError as problem:
    rows = ph.load("top.zarr").sizes["time"]
    print(f"{problem}: {rows} rows are on disk")

# %%
ds = ph.resume("top.zarr")
whole = ph.integrate(top, "rkn4_6b", **run)
print("the same bits as a run that was never stopped:", np.array_equal(ds.attitude.values, whole.attitude.values))
figure, axes = plt.subplots(figsize=(8, 4))
axes.plot(ds.time[:rows], ds.energy_error[:rows], ".", markersize=2, color="C1", label="before the power cut")
axes.plot(ds.time[rows:], ds.energy_error[rows:], ".", markersize=2, color="C0", label="resumed")
axes.set(xlabel="time", ylabel="energy error, relative", title=f"{ds.attrs['steps']:,} steps")
axes.legend(loc="upper right", markerscale=5, frameon=True)
