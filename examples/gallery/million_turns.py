# ---
# section: Tops and rigid bodies
# order: 25
# caption: Exact at any time, straight from the start; and how far behind steps of several methods are.
# alt: Errors against turns on logarithmic axes: dots of the exact motion stay near 1e-16 up to a million turns,
#   while attitudes by stepping methods grow.
# ---
# %% [markdown]
# # A million turns without a step
#
# **Can a tumbling body be followed for a million turns?** Without torque it need not be integrated: its motion is
# known in elliptic functions, straight to any time. The best that steps can do is to keep energy and momentum; the
# phase is lost in the end.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, momentum = np.array((1.0, 1.6, 2.2)), np.array((0.9, 0.5, 0.9))
turn = 2 * np.pi / np.linalg.norm(momentum / inertia)
turns = np.geomspace(1, 1e6, 400)
q, m = ph.free_motion(inertia, momentum, turn * turns)
energy = abs(np.sum(m**2 / inertia, axis=1) / np.sum(momentum**2 / inertia) - 1)
in_space = np.linalg.norm(ph.rotation.rotate(q, m) - momentum, axis=1) / np.linalg.norm(momentum)
print(f"up to a million turns: energy off by at most {energy.max():.0e}, momentum in space by {in_space.max():.0e}")

# %%
figure, axes = plt.subplots(figsize=(7.6, 4.6))
body = ph.free_body(inertia)
for method, steps_a_turn, colour in (
    ("akw", 40, "C4"),
    ("mkrk:rk4", 40, "C1"),
    ("mkrk:gauss6", 40, "C2"),
    ("exact", 1, "C5"),
):
    ds = ph.integrate(
        body,
        method,
        step=turn / steps_a_turn,
        steps=5000 * steps_a_turn,
        every=25 * steps_a_turn,
        angular_momentum=momentum,
    )
    truth = ph.free_motion(inertia, momentum, ds.time.values[1:]).attitude
    error = ph.rotation.angle_between(ds.attitude.values[1:], truth)
    word = "one step a turn" if steps_a_turn == 1 else f"{steps_a_turn} steps a turn"
    axes.loglog(ds.time[1:] / turn, np.maximum.accumulate(error), color=colour, label=f"attitude, {method}, {word}")
axes.loglog(turns, np.maximum(in_space, 1e-17), ".", color="0.6", markersize=2, label="momentum in space, no steps")
axes.loglog(turns, np.maximum(energy, 1e-17), ".", color="C0", markersize=2, label="energy, no steps")
axes.set(xlabel="turns", ylabel="error (rad, or relative)", ylim=(1e-17, 1e5))
axes.legend(loc="upper left", ncols=2, fontsize=8)
