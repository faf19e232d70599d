# ---
# section: Tops and rigid bodies
# order: 110
# caption: A wheel held level by a spring swings to the meridian and stays there: Earth's rotation alone shows it
#   north.
# alt: Heading of the wheel's axis against time for three starts; each swings about north with decreasing amplitude
#   and settles.
# ---
# %% [markdown]
# # A gyrocompass finds north
#
# **How does a spinning wheel know where north is?** A spring holds its axis level while the Earth turns beneath it.
# The torque that keeps it level makes it swing about the meridian, and friction in the vertical bearing lets it come
# to rest there. Spring and friction are a Python function; by theory a swing takes $2 \pi / \sqrt{H \Omega \cos\lambda
# / M - (c / 2 M)^2}$, with $M = I + H^2/k$.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
across, along, spin, spring, friction = 0.05, 0.08, 50.0, 9.4, 4e-3
earth, latitude = 7.2921e-5, np.radians(50)


def level(wheel, t):
    cosine, sine, omega = np.cos(latitude), np.sin(latitude), wheel.angular_velocity
    up = wheel.in_body((cosine * np.cos(earth * t), cosine * np.sin(earth * t), sine))
    slow = friction * (omega[0] * up[0] + omega[1] * up[1] - earth * sine)  # rate of the axis about the vertical
    return {"torque": (spring * up[2] * up[1] - slow * up[0], -spring * up[2] * up[0] - slow * up[1], 0.0)}


wheel = ph.system(ph.body("wheel", inertia=(across, across, along), pinned=True), ph.loads.of(level))

# %%
figure, axes = plt.subplots(figsize=(7.6, 4.4))
up = np.array((np.cos(latitude), 0, np.sin(latitude)))
north, east = np.array((-np.sin(latitude), 0, np.cos(latitude))), np.array((0, 1, 0))
for degrees, colour in ((150, "C1"), (60, "C0"), (-90, "C2")):
    axis = np.cos(np.radians(degrees)) * north + np.sin(np.radians(degrees)) * east
    frame = np.stack([up, np.cross(axis, up), axis], axis=1)  # columns: body axes, in space
    start = {"attitude": frame, "angular_velocity": frame.T @ (0, 0, earth) + (0, 0, spin)}
    ds = ph.integrate(wheel, "s4_6", step=0.02, t_end=5400, every=100, start=start)
    pointing, turned = ph.rotation.rotate(ds.attitude.values, (0, 0, 1)), earth * ds.time.values
    pointing = ph.rotation.rotate(ph.rotation.exp_quaternion(np.outer(-turned, (0, 0, 1))), pointing)
    heading = np.degrees(np.arctan2(pointing @ east, pointing @ north))
    axes.plot(ds.time / 60, heading, color=colour, label=f"started at {degrees}°")
late = ds.time.values[:-1][np.diff(np.sign(heading)) > 0]
M, H = across + (along * spin) ** 2 / spring, along * spin
theory = 2 * np.pi / np.sqrt(H * earth * np.cos(latitude) / M - (friction / (2 * M)) ** 2)
print(f"a swing takes {(late[-1] - late[-4]) / 3 / 60:.2f} min, by theory for small ones {theory / 60:.2f} min")
axes.axhline(0, color="0.6", linestyle=":")
axes.set(xlabel="time (min)", ylabel="heading of the axis (degrees east of north)", yticks=range(-90, 181, 30))
axes.legend()
