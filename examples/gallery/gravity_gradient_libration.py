# ---
# section: Spacecraft
# order: 10
# caption: How hard a push in pitch a hanging satellite stands before it tumbles; measured, and by theory.
# alt: Pitch angle against orbits and its phase portrait for four pushes; three swing to and fro, the hardest
#   tumbles over and over.
# ---
# %% [markdown]
# # Gravity-gradient libration
#
# The Earth pulls the near end of a long satellite harder than the far end, so that it hangs along the vertical
# and swings there. How hard a push in pitch does it stand before it tumbles? On a circular orbit with mean motion
# $n$ the pitch is a pendulum, $\ddot\theta = -\tfrac32 n^2 k \sin 2\theta$ with $k = (I_x - I_z)/I_y$: small
# swings have the frequency $\sqrt{3k}\,n$, and a push in pitch rate of more than $\sqrt{3k}\,n$ tumbles it.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, radius = ph.planets.EARTH, 7.0e6
n = np.sqrt(earth.mu / radius**3)  # mean motion, rad/s
period = 2 * np.pi / n
inertia = np.array([100.0, 100.0, 4.0])  # long along the body's z
swing = n * np.sqrt(3 * (inertia[0] - inertia[2]) / inertia[1])
craft = ph.system(ph.body("craft", 150.0, inertia), ph.loads.central(earth.mu), ph.loads.gravity_gradient())

# The orbit lies in the plane xz, and the body's y is its normal; at the start its long axis points along the radius.
upright = ph.rotation.exp_quaternion((0, np.pi / 2, 0))
start = dict(attitude=upright, position=(radius, 0, 0), velocity=(0, 0, -radius * n))
# %% [markdown]
# Four pushes, one of them just below the edge and one just above it.

# %%
fig, (swings, portrait) = plt.subplots(1, 2, width_ratios=(3, 2))
for part in (0.2, 0.6, 0.999, 1.001):
    ds = ph.integrate(craft, step=period / 300, t_end=4 * period, angular_velocity=(0, n + part * swing, 0), **start)
    long_axis = ph.rotation.rotate(ds.attitude.values, (0, 0, 1.0))
    turned = np.unwrap(np.arctan2(-long_axis[:, 2], long_axis[:, 0]))  # of the body, about the orbit's normal
    pitch = np.degrees(turned - np.unwrap(np.arctan2(-ds.position[:, 2], ds.position[:, 0])))
    swings.plot(ds.time / period, pitch, label=f"{part:g} of the edge")
    portrait.plot(pitch, (ds.angular_velocity[:, 1] - n) / n)
swings.set(xlabel="orbits", ylabel="pitch from the vertical (deg)", yticks=range(0, 1000, 180), title="A push in pitch")
swings.legend()
portrait.set(xlabel="pitch (deg)", ylabel="pitch rate (mean motions)", xlim=(-100, 280), title="Phase portrait")

# %% [markdown]
# A push of your own: the page takes the steps, and begins again where the slider says.

# %%
knobs = {"angular_velocity.1": (0, 3 * n)}
push = {"step": period / 1000, "angular_velocity": (0, n + 0.6 * swing, 0), "settings": {"units": "SI"}}
ph.interactive(craft, knobs=knobs, title="Libration", **push, **start)
