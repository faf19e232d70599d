# ---
# section: Spacecraft
# order: 24
# caption: A slew of 150 degrees along a smooth profile, and told as a step, which runs past its aim at full torque.
# alt: Angle to the target over two minutes for a step command, which runs past it, and a profile, which follows a
#   smooth curve to zero; and the torque of the wheels, at its limit for the step and a gentle wave for the profile.
# ---
# %% [markdown]
# # A slew with a profile
#
# **Told to be somewhere else at once, a controller throws all torque it has at the error, and runs past its aim.**
# **Along a profile it does not.** The profile turns the aim about one axis by 150 degrees in 90 seconds, with rates
# and accelerations that begin and end at zero; the controller adds the torque that the profile needs to what its errors
# ask.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, along = np.array([12.0, 10.0, 8.0]), np.array([2.0, -1.0, 2.0]) / 3
whole, during = np.radians(150.0), 90.0
target = ph.rotation.exp_quaternion(whole * along)


def steer(craft, t, by_profile):
    """Torques on the wheels."""
    x, omega = np.clip(t / during, 0.0, 1.0), craft.angular_velocity
    angle = whole * ph.where(by_profile > 0, x**3 * (10 - 15 * x + 6 * x**2), 1.0)
    rate = by_profile * whole / during * 30 * x**2 * (1 - x) ** 2
    push = by_profile * whole / during**2 * 60 * x * (1 - x) * (1 - 2 * x)
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    aim = np.array([c, *(s * along)])
    error = ph.rotation.multiply(ph.rotation.conjugate(craft.attitude), aim)  # from here to the aim
    torque = 0.4 * error[0] * error[1:] + 2.0 * (rate * along - omega) + inertia * push * along
    return {"wheel_command": -torque - np.cross(omega, craft.wheel_momentum + inertia * omega)}


wheels = ph.reaction_wheels(np.eye(3), 0.01, max_torque=0.05, max_momentum=8.0)
body = ph.body("craft", inertia=inertia, pinned=True, wheels=wheels)
craft = ph.system(body, ph.controller(steer, every=0.5, parameters={"by_profile": 1.0}))

# %%
figure, (angle, torque) = plt.subplots(2, 1, sharex=True, figsize=(8, 5.5))
for name, by_profile in (("step command", 0.0), ("profile", 1.0)):
    ds = ph.integrate(craft, "s4_6", step=0.5, t_end=150.0, parameters={"steer.by_profile": by_profile})
    off = ph.rotation.multiply(ph.rotation.conjugate(ds.attitude.values), target)
    left = 2 * np.degrees(np.arctan2(np.einsum("ni,i->n", off[:, 1:], along), off[:, 0]))
    used = np.clip(ds.wheel_command, -0.05, 0.05)
    angle.plot(ds.time, left, label=name)
    torque.plot(ds.time, np.linalg.norm(used, axis=1) * 1e3, label=name)
    past, most, h = max(0.0, -left.min()), 1e3 * float(abs(used).max()), float(abs(ds.wheel_momentum).max())
    print(f"{name:13} {past:.2f} degrees past its aim, torque up to {most:.0f} mN m, wheels up to {h:.2f} N m s")
angle.set(ylabel="degrees to go")
angle.legend()
torque.set(xlabel="seconds", ylabel="torque of the wheels (mN m)")

# %% [markdown]
# The slew along the profile:

# %%
ph.view(ds, frames=900, title="A slew with a profile")
