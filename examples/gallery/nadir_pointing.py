# ---
# section: Spacecraft
# order: 23
# caption: A controller turns a satellite to the Earth; without its sum of errors a leaking thruster keeps it off.
# alt: Pointing error over four hours on a logarithmic scale for two controllers. With the integral part it falls below
#   a thousandth of a degree, without it stays at half of one. Beside it the momenta of the wheels, alike in both.
# ---
# %% [markdown]
# # Facing the Earth: what the integral part is for
#
# **A thruster leaks. How well does a controller hold the satellite to the Earth?** Its wheels turn it so that z looks
# down and y against the normal of the orbit (LVLH). The error is the turn from there to here, as a vector. A controller
# of attitude and rate alone (PD) balances the leak by an error; with the sum of errors (PID), a state of its own that
# it keeps, the error goes to zero. The wheels take up the momentum of the leak in either case.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, radius = ph.planets.EARTH, 6.9e6
r, v = ph.kepler.state(earth.mu, semi_major_axis=radius, inclination=np.radians(60.0))
rate = np.sqrt(earth.mu / radius**3)


def point(craft, total, kp, kd, ki):
    """Torques on the wheels, and the sum of errors."""
    z = -craft.position / np.linalg.norm(craft.position)
    y = np.cross(craft.velocity, craft.position)
    y = y / np.linalg.norm(y)
    aims = [craft.in_body(aim) for aim in (np.cross(y, z), y, z)]
    error = 0.5 * sum(np.cross(axis, aim) for axis, aim in zip(np.eye(3), aims, strict=True))
    wanted = -rate * aims[1]  # the rate of the orbit
    total = total + 0.5 * error
    torque = kp * error + kd * (wanted - craft.angular_velocity) + ki * total
    return {"wheel_command": -torque - np.cross(craft.angular_velocity, craft.wheel_momentum), "total": total}


wheels = ph.reaction_wheels(np.eye(3), 0.01, max_torque=0.05, max_momentum=8.0)
law = ph.controller(point, 0.5, keeps="total", parameters={"kp": 0.02, "kd": 0.6, "ki": 1e-4})
craft = ph.system(
    ph.body("craft", 60.0, (12.0, 10.0, 8.0), wheels=wheels), ph.loads.central(earth.mu), ph.loads.gravity_gradient(),
    ph.loads.thrust((0, 2e-4, 0), position=(0.5, 0, 1.0)).named("leak"), law.states(total=np.zeros(3)),
)  # fmt: skip


# %%
figure, (error, momentum) = plt.subplots(1, 2, figsize=(9, 4), sharex=True)
for k, (name, ki) in enumerate({"PD": 0.0, "PID": 1e-4}.items()):
    ds = ph.integrate(
        craft, "s4_6", step=0.5, t_end=14400.0, every=40, position=r, velocity=v, attitude=(0.5, 0.5, -0.5, 0.5),
        settings={"units": "SI"}, parameters={"point.ki": ki},
    )  # fmt: skip
    off = ds.polhode.pointing_error((0, 0, 1), "nadir", degrees=True)
    error.semilogy(ds.time / 3600, np.maximum(off, 1e-6), color=f"C{k}", label=name)
    momentum.plot(ds.time / 3600, ds.wheel_momentum, color=f"C{k}", linewidth=1.6 - 0.8 * k)
    print(f"{name:4} {float(off[-1]):.1e} degrees off the nadir after four hours; wheels at most "
          f"{float(abs(ds.wheel_momentum).max()):.1f} N m s")  # fmt: skip
error.set(xlabel="hours", ylabel="degrees", title="z axis off the nadir")
error.legend()
momentum.set(xlabel="hours", ylabel="N m s", title="Momenta of wheels")

# %% [markdown]
# The second hour, to turn and to play:

# %%
ph.view(ds, frames=1200, span=(0.0, 6000.0), title="Facing the Earth")
