# ---
# section: Spacecraft
# order: 91
# caption: MEGNO of Hyperion's rotation over its angle and spin at the pericentre, order in blue, chaos in yellow.
# alt: Map of an indicator of chaos over angle and spin; dark islands of regular rotation in a bright chaotic sea.
# ---
# %% [markdown]
# # A map of chaos
#
# The mean exponential growth of nearby orbits, MEGNO, tends to 2 where a motion is regular and grows with the time
# where it is chaotic. Each of these 6,400 pixels is a run of Saturn's moon Hyperion, 60 orbits long, with an exact
# tangent map carried along; compare the surface of section of the same moon.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
moon = ph.body("hyperion", 1e9, (0.607, 0.871, 1.0))  # so heavy that its spin does not move its orbit
system = ph.system(moon, ph.loads.central(1.0), ph.loads.gravity_gradient())
(r, v), n = ph.kepler.state(1.0, semi_major_axis=1.0, eccentricity=0.1), 80

angle, spin = np.meshgrid(np.linspace(0.0, np.pi, n), np.linspace(0.0, 2.8, n))
turns = np.stack([0 * angle, 0 * angle, angle], axis=-1).reshape(-1, 3)
spins = np.stack([0 * spin, 0 * spin, spin], axis=-1).reshape(-1, 3)
in_plane = np.zeros((1, 12))
in_plane[0, [8, 11]] = 1.0, 1.0  # a tangent vector about the normal of the orbit: rotation and angular momentum
ds = ph.chaos.megno(
    system, "v2", step=2 * np.pi / 40, t_end=120 * np.pi, position=r, velocity=v, vectors=in_plane, progress=True,
    members={"attitude": ph.rotation.exp_quaternion(turns), "angular_velocity": spins},
)  # fmt: skip

# %%
fig, axes = plt.subplots(figsize=(6.0, 4.6))
ph.plots.indicator(ds, np.degrees(angle), spin, limits=(1, 30), axes=axes)
axes.set(xlabel="angle from Saturn's direction at the pericentre, deg", ylabel="spin / mean motion")
