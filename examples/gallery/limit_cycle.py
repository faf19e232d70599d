# ---
# section: Spacecraft
# order: 24
# caption: Thrusters cannot fire shorter than their shortest pulse, so an attitude held by them walks to and fro.
# alt: On the left a phase plane of angle and rate with two closed loops within a dead band, the larger for longer
#   pulses; on the right the thrust time over an hour against the shortest pulse, which rises with its square.
# ---
# %% [markdown]
# # The limit cycle of thrusters
#
# **What does the shortest pulse of a thruster cost?** Between the edges of a dead band of half-width $a$ a satellite
# drifts at the rate $w$ that one shortest pulse leaves, half of what the pulse changes: $2 w = T t_{min} / J$. A way
# to the other edge takes $2 a / w$ and a pulse each, so the time of thrust in an hour grows with the square of the
# shortest pulse: $3600\, t_{min} w / 2 a$. Valves open at the control period of half a second; the law asks for what
# turns the drift round, and never for less than the valve can do.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
J, thrust, arm, band, every = 40.0, 0.5, 0.8, np.radians(0.5), 0.5
forces = [(1, 0, 0), (-1, 0, 0)] * 2  # two couples about z
places = [(0, -arm, 0), (0, -arm, 0), (0, arm, 0), (0, arm, 0)]


def keep(craft, shortest):
    """Shares of the period in which the couples fire: at an edge, the pulse that turns the drift round."""
    angle, rate = 2.0 * craft.attitude[3] * np.sign(craft.attitude[0]), craft.angular_velocity[2]
    per_second = 2.0 * thrust * arm / J
    pulse = np.clip((abs(rate) + 0.5 * shortest * per_second) / per_second, shortest, every) / every
    up = pulse * (angle < -band) * (rate < 0.2 * shortest * per_second)
    down = pulse * (angle > band) * (rate > -0.2 * shortest * per_second)
    return {"thruster_command": (up, down, down, up)}


def held(shortest):
    """An hour of holding the attitude with this shortest pulse."""
    craft = ph.system(ph.body("craft", 100.0, (30, 35, J)), ph.loads.central(ph.planets.EARTH.mu),
                      ph.loads.pulsed_thrusters(thrust, forces, every, positions=places, min_on_time=shortest),
                      ph.controller(keep, every, parameters={"shortest": shortest}))  # fmt: skip
    return ph.integrate(craft, "s4_6/kepler", step=every, t_end=7200.0, position=(7e6, 0, 0), velocity=(0, 7546.0, 0),
                        angular_velocity=(0, 0, 4e-4))  # fmt: skip


figure, (plane, cost) = plt.subplots(1, 2, figsize=(9, 4))
for shortest in (0.02, 0.04):
    ds = held(shortest).sel(time=slice(3600, None))
    angle = 2.0 * ds.attitude[:, 3] * np.sign(ds.attitude[:, 0])
    plane.plot(np.degrees(angle), 1e3 * np.degrees(ds.angular_velocity[:, 2]), label=f"{1e3 * shortest:g} ms")
pulses = np.array([0.02, 0.04, 0.06, 0.08, 0.1])
fired = [held(x).thruster_fired.sum("thruster_fired_component") for x in pulses]
spent = [float(total.sel(time=7200) - total.sel(time=3600)) for total in fired]
theory = 2 * 3600.0 * pulses * (thrust * arm * pulses / J) / (2.0 * band)
for shortest, ours, told in zip(pulses, spent, theory, strict=True):
    print(f"shortest pulse {1e3 * shortest:3.0f} ms: {ours:5.2f} s of thrust an hour, by the formula {told:5.2f}")
plane.set(xlabel="angle (degrees)", ylabel="rate (millidegrees per second)")
plane.legend(title="shortest pulse", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
cost.plot(1e3 * pulses, spent, "o", label="runs")
cost.plot(1e3 * pulses, theory, "--", label="formula")
cost.set(xlabel="shortest pulse (ms)", ylabel="thrust in an hour (s)")
cost.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
