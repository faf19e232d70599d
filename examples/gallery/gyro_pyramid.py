# ---
# section: Spacecraft
# order: 23
# caption: Four gyros in a pyramid push a satellite until their torques lie in a plane - or past it, from other angles.
# alt: On the left the momentum of four gyros along x over time from two sets of gimbal angles, of which one stays at
#   1.15 of that of a rotor and the other one climbs past it; on the right the manoeuvrability, which falls to nothing
#   for the first.
# ---
# %% [markdown]
# # Where a pyramid of gyros is stuck
#
# **Four control moment gyros in a pyramid can hold more than three times the momentum of one rotor. Why do they stop
# at 1.15?** A gyro's torque is at right angles to its gimbal and to its rotor. Where the torques of all four lie in
# one plane, no rates of the gimbals give a torque across it. Rates by the pseudo-inverse, from gimbals at zero and a
# torque along x, lead straight to such angles, (-90, 0, 90, 0) degrees [wie2008]; from (45, -45, 45, -45) they do not.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
tilt = np.arctan(np.sqrt(2.0))  # of the faces of the pyramid, 54.7 degrees
s, c = np.sin(tilt), np.cos(tilt)
gimbals = np.array([(s, 0, c), (0, s, c), (-s, 0, c), (0, -s, c)])
spins = np.array([(0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)])


def torques(angles):
    """Torque for the rate of each gimbal."""
    return np.cos(angles)[..., None] * np.cross(gimbals, spins) - np.sin(angles)[..., None] * spins


def steer(craft):
    """Rates of the gimbals for a momentum that grows along x, by the pseudo-inverse, damped a little."""
    A = torques(craft.gimbal_angle)
    return {"gimbal_command": A @ np.linalg.solve(A.T @ A + 1e-4 * np.eye(3), np.array((0.05, 0.0, 0.0)))}


figure, (momentum, able) = plt.subplots(1, 2, figsize=(9, 4))
for start in ((0, 0, 0, 0), (45, -45, 45, -45)):
    gyros = ph.control_moment_gyros(gimbals, spins, 1.0, max_rate=1.0, angle=np.radians(start))
    craft = ph.system(ph.body("craft", inertia=(800, 900, 1000), pinned=True, gyros=gyros), ph.controller(steer, 0.1))
    ds = ph.integrate(craft, "s4_6", step=0.1, t_end=45.0)
    angles = ds.gimbal_angle.values
    momentum.plot(ds.time, (gyros.momentum[:, None] * gyros.spin_axes_at(angles)).sum(1)[:, 0], label=f"from {start}")
    A = torques(angles)
    able.plot(ds.time, np.sqrt(np.linalg.det(A.transpose(0, 2, 1) @ A)), label=f"from {start}")
    kept = float(abs(ds.spin - ds.spin[0]).max())
    print(f"from {start}: ends at {np.degrees(angles[-1]).round().astype(int)} degrees, "
          f"momentum of the whole kept to {kept:.0e}")  # fmt: skip
momentum.set(xlabel="time (s)", ylabel="momentum along x (of one rotor)")
able.set(xlabel="time (s)", ylabel="manoeuvrability")
momentum.legend(title="gimbals (degrees)", loc="lower center", bbox_to_anchor=(0.5, 1.0))
