# ---
# section: Spacecraft
# order: 95
# caption: Two panels on sprung hinges ring after a slew; the bus rocks with them, and the orbit does not care.
# alt: Angles of two panels swing against each other's sign, with two beating frequencies; below them the rate of the
#   bus rocks at the same frequencies about the rate of the orbit.
# ---
# %% [markdown]
# # Panels that ring
#
# A satellite has two panels on hinges with springs. **What does the bus do when they ring?** The springs are loads
# of your own: a function of two bodies that returns the energy. In the splitting `"kl6b/kepler"` the flow inside the
# joints is the orbit itself, and hinges stay closed to the round-off of 7000 km. Run time: 10 s.

# %%
import math

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, r = ph.planets.EARTH, 7.0e6
speed = math.sqrt(earth.mu / r)


def spring(panel, bus, stiffness):
    """The energy of a spring in a hinge about the common x axis."""
    p, q = bus.attitude, panel.attitude
    w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
    x = p[0] * q[1] - q[0] * p[1] - (p[2] * q[3] - p[3] * q[2])
    return 0.5 * stiffness * (2.0 * math.atan2(x, w)) ** 2


sides = {"left": (-1.0, 2.0), "right": (1.0, 2.4)}  # which side, and stiffness (N m/rad)
satellite = ph.system(
    ph.body("bus", 200.0, (40, 40, 30)), [ph.body(name, 12.0, (1.0, 9.0, 10.0)) for name in sides],
    [ph.joints.hinge((0, -0.5 * s, 0), (1, 0, 0), (0, 0.7 * s, 0), name=f"hinge_{name}").on(name, "bus")
     for name, (s, _) in sides.items()],
    [ph.loads.of(spring, stiffness=k).on(name, "bus").named(f"spring_{name}") for name, (_, k) in sides.items()],
    ph.loads.central(earth.mu),
)  # fmt: skip
begin = {name: {"position": (r, 0, 0)} for name in sides}
begin["bus"] = {"position": (r, 0, 0), "velocity": (0, speed, 0), "angular_velocity": (0, 0, speed / r)}
start = ph.assemble(satellite, {"hinge_left": 0.1}, start=begin)
ds = ph.integrate(satellite, "kl6b/kepler", step=0.5, t_end=300.0, start=start)

# %%
fig, (angles, rate) = plt.subplots(2, 1, figsize=(7, 5), sharex=True)
hinges = ds.polhode.joints().coordinate
for name in sides:
    angles.plot(ds.time, np.degrees(hinges.sel(joint=f"hinge_{name}")), label=name)
rate.plot(ds.time, np.degrees(ds.angular_velocity.values[:, 0, 0]), "C2")
total = ds.total_angular_momentum
off = float(abs(total - total[0]).max() / abs(total).max())
print(f"energy kept to {float(abs(ds.energy_error).max()):.0e}, momentum to {off:.0e}")
angles.set(ylabel="deg", title="Angles of the panels")
angles.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
rate.set(xlabel="s", ylabel="deg/s", title="Rate of the bus about the hinges' axis")
