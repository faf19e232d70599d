# ---
# section: Spacecraft
# order: 12
# caption: How eccentric an orbit a hanging satellite stands before it tumbles, by its shape.
# alt: Map of an indicator of chaos over eccentricity and shape, dark where a satellite swings regularly, with a bright
#   tongue that reaches nearly circular orbits where k is 0.43; beside it, two regular swings and one chaotic tumble.
# ---
# %% [markdown]
# # Tumbling on an eccentric orbit
#
# A long satellite hangs along the vertical, but on an eccentric orbit the vertical does not turn evenly: it rocks the
# satellite, most of all near the resonance of rocking and swing, which is at $k = (I_y - I_x)/I_z = 1/3$ for small
# swings. How eccentric may the orbit be before the satellite tumbles? Each pixel is a satellite that starts at the
# pericentre, at rest against the vertical; MEGNO over fifty orbits tells regular swings (2) from chaos (more).

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
n = 64
e, k = np.meshgrid(np.linspace(0.0, 0.4, n), np.linspace(0.02, 1.0, n))


def satellites(e, k):
    """Members, long along the body's x, which points to the Earth; the orbit's normal is z."""
    e, k = np.ravel(e), np.ravel(k)
    r, v = ph.kepler.state(1.0, semi_major_axis=1.0, eccentricity=e)  # mean motion 1
    turn = np.sqrt((1 + e) / (1 - e) ** 3)  # rate of the vertical at the pericentre
    inertia = np.stack([1.001 - k, 1 + 0 * k, 1 + 0 * k], axis=-1)
    return {"craft.inertia": inertia, "position": r, "velocity": v, "angular_velocity": turn[:, None] * [0, 0, 1]}


heavy, orbit = 1e9, 2 * np.pi  # so heavy that its spin does not move its orbit
craft = ph.system(ph.body("craft", heavy, (0.5, 1.0, 1.0)), ph.loads.central(1.0), ph.loads.gravity_gradient())
ds = ph.chaos.megno(craft, "rkn6_14a", step=orbit / 16, t_end=50 * orbit, members=satellites(e, k), progress=True)

# %% [markdown]
# Beside the map, three of them, marked there: two swing, and the third turns over within three orbits.

# %%
fig, (chart, swings) = plt.subplots(1, 2, figsize=(9.6, 4.8))
ph.plots.indicator(ds, e, k, limits=(1, 30), axes=chart)
chart.set(xlabel="eccentricity", ylabel="$k$ (1: a rod, 0: a ball)", title="Order (blue) and chaos (yellow)")
picked = np.array([[0.02, 0.9], [0.15, 0.9], [0.15, 0.6]])
few = ph.ensemble(craft, "rkn6_14a", step=orbit / 24, t_end=10 * orbit, members=satellites(*picked.T))
axis = ph.rotation.rotate(few.attitude.values, (1.0, 0, 0))
r = few.position.values
pitch = np.unwrap(np.arctan2(axis[..., 1], axis[..., 0])) - np.unwrap(np.arctan2(r[..., 1], r[..., 0]))
for where, angle, mark in zip(picked, np.degrees(pitch), "osD", strict=True):
    chart.plot(*where, mark, markeredgecolor="white", color="black")
    swings.plot(few.time / orbit, angle, label=f"e = {where[0]:g}, k = {where[1]:g}", marker=mark, markevery=(12, 48))
swings.set(xlabel="orbits", yticks=range(0, 1000, 180), ylabel="pitch from the vertical (deg)", title="Three of them")
swings.legend()
