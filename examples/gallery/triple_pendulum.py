# ---
# section: Several bodies
# order: 60
# caption: Two triple pendulums that differ by a billionth of a radian part after five seconds.
# alt: Paths of the tips of two triple pendulums, alike at first and then apart; beside it their distance grows by nine
#   powers of ten and stays as large as the pendulum, while energy errors stay small.
# ---
# %% [markdown]
# # Chaos of a triple pendulum
#
# Three bars on hinges swing from the ceiling. **How long can anybody foretell them?** Two runs begin a billionth of a
# radian apart. After six seconds they are as far apart as any two positions, and energy tells nothing of it.
#
# Joints are part of the system; `ph.assemble` finds positions and velocities from angles and rates. Run time: 10 s.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
names, axis, top, bottom = ("upper", "middle", "lower"), (0, 1, 0), (0, 0, 0.5), (0, 0, -0.5)
bars = [ph.body(name, 1.0, (1 / 12, 1 / 12, 1e-3)) for name in names]
hinges = [ph.joints.hinge(top, axis, name="ceiling").on("upper", ph.ground)]
hinges += [ph.joints.hinge(top, axis, bottom, name=f"pin_{b}").on(b, a) for a, b in (names[:2], names[1:])]
pendulum = ph.system(bars, hinges, ph.loads.weight())

# %%
runs = []
for off in (0.0, 1e-9):
    start = ph.assemble(pendulum, {"ceiling": 2.2 + off, "pin_middle": 0.3, "pin_lower": -0.2})
    runs.append(ph.integrate(pendulum, "kl8/joints", step=0.005, t_end=15.0, start=start))
one, other = (ds.position.values[:, 2] + ph.rotation.rotate(ds.attitude.values[:, 2], bottom) for ds in runs)
for ds in runs:
    print(f"energy error at most {float(abs(ds.energy_error).max()):.0e}")

# %%
fig, (paths, distance) = plt.subplots(1, 2, figsize=(9, 4.2))
paths.plot(one[:1400, 0], one[:1400, 2], linewidth=0.9, label="one")
paths.plot(other[:1400, 0], other[:1400, 2], "--", linewidth=0.9, label="the other")
paths.set(aspect="equal", xlabel="m", ylabel="m", title="The lower tips, 7 s")
paths.legend(loc="upper right")
distance.semilogy(runs[0].time, np.linalg.norm(one - other, axis=1) + 1e-16)
distance.set(xlabel="s", ylabel="m", title="Distance of the tips")
