# ---
# section: Orbits
# order: 120
# caption: Three equal masses chase each other along one curve; a hundred periods later they still do.
# alt: Three bodies on a figure of eight after a hundred periods, their error of energy, and the same with one
#   body moved; then the eight turns slowly and keeps its shape.
# ---
# %% [markdown]
# # Three bodies on a figure of eight
#
# Chenciner and Montgomery proved in 2000 that three equal masses can follow each other along one and the same
# curve. Is the choreography stable? With one body moved by a percent, the eight turns slowly and holds.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
r, v = np.array([0.97000436, -0.24308753, 0]), np.array([0.93240737, 0.86473146, 0])
start = dict(position=[r, -r, 0 * r], velocity=[v / 2, v / 2, -v])
period, bodies = 6.32591398, ph.system(ph.bodies(3, 1.0), ph.loads.gravitation(1.0))
step = dict(step=period / 400, t_end=100 * period)
exact = ph.integrate(bodies, "rkn6_14a", **step, **start)
moved = start | {"position": [r * 1.01, -r, 0 * r]}
near = ph.integrate(bodies, "rkn6_14a", **step, **moved)

# %%
fig, axes = plt.subplot_mosaic([["eight", "disturbed"], ["error", "disturbed"]])
for ds, one in ((exact, axes["eight"]), (near, axes["disturbed"])):
    for k in range(3):
        x, y = ds.position[:, k, :2].values.T
        one.plot(x[-12000:], y[-12000:], color=f"C{k}", linewidth=0.3, alpha=0.6)
        one.plot(x[-90:], y[-90:], color=f"C{k}", linewidth=2.5)
        one.plot(x[-1], y[-1], "o", color=f"C{k}", markersize=9)
    one.set_aspect("equal")
axes["eight"].set_title("After 100 periods")
axes["disturbed"].set_title("One body moved by one percent")
axes["error"].plot(exact.time / period, exact.energy_error, linewidth=0.5)
axes["error"].set(xlabel="periods", title="Error of the energy")
