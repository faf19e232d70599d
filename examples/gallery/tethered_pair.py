# ---
# section: Several bodies
# order: 10
# caption: Two satellites on a tether swing about the vertical, and on the tether, until wheels in both calm them.
# alt: Angles of both bodies to their tether over twenty minutes with and without control; with it both fall to nothing
#   in eight. Below it the angle of the tether to the vertical over three orbits, on the cosine of the formula.
# ---
# %% [markdown]
# # A tethered pair with wheels
#
# Two satellites on 5 km of tether stand upright in orbit, held taut by the gradient of gravity. The tether swings
# about the vertical $\sqrt{3}$ times an orbit, **and each body swings on its end of it. What calms them?** Reaction
# wheels in both, driven by one controller that reads both. The Earth is oblate, and its gravity turns each body, too.
#
# A gain is a number of the run: another compiles nothing. The angular momentum of orbits, bodies and wheels together
# remains about the axis of the Earth, whatever the wheels do.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, r, length, stiffness, tip = ph.planets.EARTH, 7.0e6, 5000.0, 2.0, np.radians(2.0)
n = np.sqrt(earth.mu / r**3 * (1 + 1.5 * earth.zonal["J2"] * (earth.radius / r) ** 2))


def calm(a, b, rate, gain):
    """Wheels take over what either body turns more than the orbit."""
    return {one.name: {"wheel_command": gain * one.inertia @ (one.angular_velocity - one.in_body(rate))}
            for one in (a, b)}  # fmt: skip


pair = ph.system(
    ph.body("a", 100.0, (20.0, 30.0, 25.0), wheels=ph.reaction_wheels(np.eye(3), 0.01)),
    ph.body("b", 20.0, (1.5, 1.4, 1.6), wheels=ph.reaction_wheels(np.eye(3), 0.002)),
    ph.loads.tether(stiffness, length, (1.0, 0, 0), (-0.3, 0, 0)).on("a", "b"),
    ph.loads.central(earth.mu), ph.loads.zonal(earth.mu, **earth.zonal), ph.loads.gravity_gradient(earth.mu),
    ph.controller(calm, every=2.0, parameters={"rate": (0, 0, n), "gain": 0.02}).on("a", "b"),
)  # fmt: skip
line = (length * (1 + 3 * n**2 * 100 * 20 / 120 / stiffness) + 1.3) * np.array([np.cos(tip), np.sin(tip), 0])
start = {name: {"position": share * line + (r, 0, 0), "velocity": n * np.cross((0, 0, 1), share * line + (r, 0, 0)),
                "attitude": ph.rotation.exp_quaternion(turn), "angular_velocity": (0, 0, n)}
         for name, share, turn in (("a", -1 / 6, (0.3, 0.2, 0.2)), ("b", 5 / 6, (-0.2, 0.3, 0.1)))}  # fmt: skip

# %%
fig, (angles, swing) = plt.subplots(2, 1, figsize=(7, 6))
for gain in (0.0, 0.02):
    ds = ph.integrate(pair, step=1.0, t_end=17400.0, every=2, start=start, parameters={"calm.gain": gain})
    a, b = ds.position.values.transpose(1, 0, 2)
    tether, t, z = (b - a) / np.linalg.norm(b - a, axis=1)[:, None], ds.time / 60, ds.vertical_angular_momentum.values
    for k, name in enumerate(("a", "b")):
        axis = ph.rotation.rotate(ds.attitude[:, k].values, (1.0, 0, 0))
        off = np.degrees(np.arccos((axis * tether).sum(1)))
        angles.plot(t[:600], off[:600], f"C{k}", alpha=0.4 + 30 * gain, label=f"{name}, gain {gain:g}")
        print(f"{name}, gain {gain:g}: in the last hour off the tether by at most {off[-1800:].max():.1f} degrees")
    print(f"energy balances to {float(abs(ds.energy_error).max()):.0e}, momentum to {abs(z / z[0] - 1).max():.0e}")
theta = np.degrees(np.arcsin(np.cross(a, tether)[:, 2] / np.linalg.norm(a, axis=1)))
period = 2 * np.diff(np.flatnonzero(theta[1:] * theta[:-1] < 0)).mean() / 30  # minutes: a row is 2 s
print(f"the tether swings in {period:.2f} minutes; formula {2 * np.pi / np.sqrt(3) / n / 60:.2f}")
swing.plot(t, theta, "C2")
swing.plot(t, np.degrees(tip) * np.cos(np.sqrt(3) * n * ds.time), "k:")
angles.set(ylabel="deg", title="Bodies off the tether")
angles.legend(ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.1))
swing.set(xlabel="minutes", ylabel="deg", title="Tether off the vertical (dotted: formula)")
