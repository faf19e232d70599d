# ---
# section: Spacecraft
# order: 90
# caption: Saturn's moon Hyperion tumbles chaotically; a surface of section shows where, and where not.
# alt: Surface of section of Hyperion's spin at each pericentre, a chaotic sea of dots that surrounds islands
#   of regular rotation.
# ---
# %% [markdown]
# # Hyperion's chaotic sea
#
# Hyperion is a potato of 360 by 266 by 205 km on an eccentric orbit about Saturn ($e = 0.1$). Wisdom, Peale and
# Mignard predicted in 1984 that it cannot rotate regularly: drawn once per orbit, at the pericentre, its
# orientation and its spin fill a sea around a few islands. Forty-eight bodies, 300 orbits each, spinning about
# the normal of the orbit:

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
e = 0.1  # mean motion 1 and semi-major axis 1
moon = ph.body("hyperion", 1e9, (0.607, 0.871, 1.0))  # so heavy that its spin does not move its orbit
system = ph.system(moon, ph.loads.central(1.0), ph.loads.gravity_gradient())  # (B - A) / C = 0.264
r, v = ph.kepler.state(1.0, semi_major_axis=1.0, eccentricity=e)

rng = np.random.default_rng(1)
angles = np.concatenate([np.linspace(0.0, np.pi, 24), np.zeros(24)])
spins = np.concatenate([np.linspace(0.1, 2.9, 24), np.linspace(0.1, 2.9, 24)])
turns = np.zeros((48, 3))
turns[:, 2] = angles
ds = ph.ensemble(
    system, "rkn6_14a", step=2 * np.pi / 50, t_end=600 * np.pi, every=50, position=r, velocity=v,
    members={"attitude": ph.rotation.exp_quaternion(turns), "angular_velocity": spins[:, None] * [0, 0, 1]},
)  # fmt: skip

# %%
fig, axes = plt.subplots()
w, x, y, z = ds.attitude.values.T
theta = (2 * np.arctan2(z, w)) % np.pi  # the body looks the same after half a turn
axes.scatter(theta.T, ds.angular_velocity[..., 2], s=1.0, c=np.repeat(np.arange(48), 301) % 7, cmap="Dark2")
axes.set(xlabel="angle of the long axis at pericentre (rad)", ylabel="spin / mean motion", xlim=(0, np.pi))
axes.set_title("Surface of section, 300 orbits each")
