# ---
# section: Orbits
# order: 80
# caption: Through the neck between Earth and Moon; where a spacecraft of little energy can go, and where it cannot.
# alt: Frame that turns with Earth and Moon with the forbidden region in grey, and paths of spacecraft that
#   pass the narrow neck at the Lagrange point L1 between the two.
# ---
# %% [markdown]
# # Through the gateway at L1
#
# In the frame that turns with Earth and Moon one number stays constant, Jacobi's. It closes a region to a
# spacecraft; with a little more energy than that of the point L1 a neck opens between the two. Gravity and
# the centrifugal force follow from the potential that is drawn, so that the energy is Jacobi's constant.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
share = 0.012150585  # of the Moon in both masses; its distance and its rate are 1
l1 = 0.836915


def potential(x, y, z):
    earth, moon = np.sqrt((x + share) ** 2 + y * y + z * z), np.sqrt((x - 1 + share) ** 2 + y * y + z * z)
    return -0.5 * (x * x + y * y) - (1 - share) / earth - share / moon


def coriolis(craft):
    return 2 * np.cross(craft.velocity, (0, 0, 1))


craft = ph.system(ph.body("craft", 1.0), ph.loads.acceleration(coriolis),
                  ph.loads.of(lambda craft: potential(*craft.position)))  # fmt: skip
level = potential(l1, 0, 0) + 0.012
# %%
fig, axes = plt.subplots()
x, y = np.meshgrid(np.linspace(-0.9, 1.25, 500), np.linspace(-0.95, 0.95, 500))
axes.contourf(x, y, potential(x, y, 0 * x), levels=[level, 10], colors=["#d9d9d9"])
speed = np.sqrt(2 * (level - potential(l1, 0, 0)))
for k, angle in enumerate((-40, 0, 40)):
    out = speed * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0])
    for t_end in (5.0, -5.0):
        ds = ph.integrate(craft, "taylor", steps=ph.Tolerance(1e-13), t_eval=np.linspace(0, t_end, 2000), t_end=t_end,
                          position=(l1, 0, 0), velocity=out)  # fmt: skip
        axes.plot(ds.position[:, 0], ds.position[:, 1], color=f"C{k}", linewidth=0.7)
print(f"Jacobi's constant: {float(ds.energy[0]):.6f}, changed by {float(abs(ds.energy - ds.energy[0]).max()):.0e}")
axes.plot([-share, 1 - share], [0, 0], "o", color="#262626", markersize=8)
axes.annotate("Earth", (-share, 0), (-0.03, -0.1), ha="center")
axes.annotate("Moon", (1 - share, 0), (1.0, -0.1), ha="center")
axes.set(aspect="equal", xlabel="distances of the Moon", title="Grey: closed at this energy")
