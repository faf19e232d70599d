# ---
# section: Several bodies
# order: 64
# caption: Crank, rod and piston under their weight: the loop closes to the last digit, with more equations than needed.
# alt: Place of the piston over two turns, always below the dotted cosine of the angle of the crank but at both ends;
#   below it the rate of the crank, which falls to a third and rises again twice a turn, and the forces in two joints.
# ---
# %% [markdown]
# # A slider-crank
#
# A crank turns, a rod goes from its pin to a piston on a rail. **How does the piston move?** Not as a cosine of the
# angle of the crank, but by a formula with a root, by which the run is checked.
#
# In the plane three hinges and a slider have more equations than needed (three follow from others); that is no trouble.
# `ph.assemble` closes the loop from the angle of the crank, and `ds.polhode.joints(forces=True)` tells what the
# bearings carry. Run time: 5 s.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
r, l, y = 0.3, 0.8, (0, 1, 0)
engine = ph.system(
    ph.body("crank", 1.0, (0.002, 0.01, 0.011)), ph.body("rod", 1.5, (0.006, 0.09, 0.085)),
    ph.body("piston", 2.0, (0.01, 0.02, 0.025)),
    ph.joints.hinge((-r / 2, 0, 0), y, name="main").on("crank", ph.ground),
    ph.joints.hinge((-l / 2, 0, 0), y, (r / 2, 0, 0), name="crank_pin").on("rod", "crank"),
    ph.joints.hinge((0, 0, 0), y, (l / 2, 0, 0), name="wrist_pin").on("piston", "rod"),
    ph.joints.slider((1, 0, 0), name="rail").on("piston", ph.ground),
    ph.loads.weight(),
)  # fmt: skip
start = ph.assemble(engine, {"main": 0.0, "rail": r + l}, {"main": 12.0})
ds = ph.integrate(engine, "kl6b/joints", step=0.002, t_end=2.0, start=start)

# %%
joints = ds.polhode.joints(forces=True)
angle, place = (joints.coordinate.sel(joint=name).values for name in ("main", "rail"))
formula = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
print(f"the piston is where the crank says, to {abs(place - formula).max():.0e} m")
print(f"energy kept to {float(abs(ds.energy_error).max()):.0e}")
fig, (moves, rate, loads) = plt.subplots(3, 1, figsize=(7, 7), sharex=True)
moves.plot(ds.time, place, label="piston")
moves.plot(ds.time, l + r * np.cos(angle), "k:", label="a cosine of the crank's angle")
moves.set(ylabel="m", title="Place of the piston")
moves.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
rate.plot(ds.time, joints.rate.sel(joint="main"), "C1")
rate.set(ylabel="rad/s", title="Rate of the crank")
for name, label in (("main", "bearing of the crank"), ("wrist_pin", "pin of the piston")):
    loads.plot(ds.time, np.linalg.norm(joints.force.sel(joint=name), axis=1), label=label)
loads.set(xlabel="s", ylabel="N", title="Forces in the joints")
loads.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
