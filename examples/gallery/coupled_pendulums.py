# ---
# section: Several bodies
# order: 50
# caption: A spring and a damper between two pendulums: half of the energy dies out, half of it stays.
# alt: Angles of two pendulums over time. One starts to swing, the other takes up its motion, and both come to swing
#   together. Beside it the energy of the sum and of the difference of their angles; one stays, the other falls along
#   the straight line of the formula.
# ---
# %% [markdown]
# # Two pendulums, a spring and a damper
#
# Two rods hang from pins a metre apart, and a spring with a damper joins them half-way down. **One is let go: how does
# it end?** Swinging together they do not stretch the spring, so nothing damps that; swinging against each other they
# do, and that dies out. The damper takes half of the energy and no more. A body that is pinned has its pin at the
# origin unless it says where: its points are found from there.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
mass, length, gravity, stiffness, damping = 2.0, 1.2, 9.81, 3.0, 0.1
at, apart, about_pin = (0, 0, -length / 2), 1.0, mass * length**2 / 3
rod = (about_pin, about_pin, 1e-3)


def strut(a, b, stiffness, damping, at, apart):
    """Spring, as long as the pins are apart, and damper between points of two bodies: torques about the pins."""
    d = b.point(at) - a.point(at)
    u = d / np.sqrt(d @ d)
    speed = b.in_space(np.cross(b.angular_velocity, at)) - a.in_space(np.cross(a.angular_velocity, at))
    pull = (stiffness * (np.sqrt(d @ d) - apart) + damping * (u @ speed)) * u
    return {"torque": [np.cross(at, a.in_body(pull)), np.cross(at, b.in_body(-pull))]}


pendulums = ph.system(
    ph.body("left", inertia=rod, pinned=True), ph.body("right", inertia=rod, pinned=True, at=(apart, 0, 0)),
    ph.loads.weight(mass * gravity, at=at),
    ph.loads.of(strut, stiffness=stiffness, damping=damping, at=at, apart=apart).on("left", "right"),
)  # fmt: skip
start = {"left": {"attitude": ph.rotation.exp_quaternion((0, 0.03, 0))}}
ds = ph.integrate(pendulums, "rkn6_14a", step=0.01, t_end=60.0, start=start)
angle, rate = 2 * np.arcsin(ds.attitude.values[:, :, 2]).T, ds.angular_velocity.values[:, :, 1].T

# %%
together = np.sqrt(mass * gravity * length / 2 / about_pin)
dying = damping * (length / 2) ** 2 / about_pin
against = np.sqrt(together**2 + 2 * stiffness * (length / 2) ** 2 / about_pin - dying**2)
fig, (angles, energy) = plt.subplots(1, 2, figsize=(9, 3.8))
for k, (name, sign, turns, dies) in enumerate((("together", 1, together, 0.0), ("against", -1, against, dying))):
    swing, speed = angle[0] + sign * angle[1], rate[0] + sign * rate[1]
    z = swing + 1j * (speed + dies * swing) / turns
    found = -np.polyfit(ds.time, np.transpose([np.unwrap(np.angle(z)), np.log(abs(z))]), 1)[0]
    print(f"{name}: {found[0]:.5f} rad/s (formula {turns:.5f}), dies out at {found[1]:.5f}/s (formula {dies:.5f})")
    energy.semilogy(ds.time, abs(z / z[0]) ** 2, color=f"C{k + 2}", label=name)
    energy.semilogy(ds.time, np.exp(-2 * dies * ds.time), "k:")
    angles.plot(ds.time, np.degrees(angle[k]), label=str(ds.body.values[k]), linewidth=0.9)
print(f"energy and the work of the damper balance to {float(abs(ds.energy_error).max()):.0e}")
angles.set(xlabel="time (s)", ylabel="deg", title="Angles of the rods")
angles.legend()
energy.set(xlabel="time (s)", title="Energy over its start (dotted: formula)")
energy.legend()

# %% [markdown]
# Both rods, integrated by the page. Stiffen the strut.

# %%
ph.interactive(pendulums, "v2", step=0.01, start=start, knobs={"strut.stiffness": (0, 30)}, title="Coupled pendulums")
