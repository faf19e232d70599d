# ---
# section: Spacecraft
# order: 20
# caption: Coils and a magnetometer stop a tumble within a few orbits. The control law is one line of Python.
# alt: Body rates of a small satellite over four orbits, falling from seven degrees a second to zero, and its
#   angular speed on a logarithmic scale, below one turn per orbit after one and a half orbits.
# ---
# %% [markdown]
# # Detumbling with B-dot
#
# A small satellite leaves its launcher at ten degrees a second. It has three coils and a magnetometer. The oldest
# control law sets the dipole against the change of the field that it measures, $\mathbf m = -k\,d\mathbf B/dt$,
# as strongly as the coils can; of a tumbling body $d\mathbf B/dt = \mathbf B \times \omega$, nearly. It is sampled once
# a second. How long does it take?

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, radius = ph.planets.EARTH, 6.9e6


def bdot(craft, field, gain):
    return {"dipole_command": gain * np.cross(craft.angular_velocity, craft.in_body(field))}


craft = ph.system(
    ph.body("craft", 4.0, (0.04, 0.05, 0.02)), ph.loads.central(earth.mu), ph.loads.gravity_gradient(),
    ph.loads.torquers(np.eye(3), max_dipole=0.2), ph.controller(bdot, every=1.0, parameters={"gain": 4e4}),
    surroundings={"field": ph.surroundings.dipole_field()},
)  # fmt: skip
r, v = ph.kepler.state(earth.mu, semi_major_axis=radius, inclination=np.radians(97.5))
period = 2 * np.pi * np.sqrt(radius**3 / earth.mu)
tumble = np.radians([6.0, -7.0, 4.0])
steps = dict(step=1.0, t_end=round(4 * period), every=4, settings={"units": "SI"})
ds = ph.integrate(craft, **steps, position=r, velocity=v, angular_velocity=tumble)

# %%
fig, (rates, speed) = plt.subplots(2, 1, sharex=True)
for k, axis in enumerate("xyz"):
    rates.plot(ds.time / period, np.degrees(ds.angular_velocity[:, k]), linewidth=0.7, label=axis)
rates.set(ylabel="deg/s", title="Body rates")
rates.legend(ncols=3)
speed.semilogy(ds.time / period, np.degrees(np.linalg.norm(ds.angular_velocity, axis=1)))
speed.axhline(360 / period, color="#8a8a8a", linestyle="--")
speed.annotate("one turn per orbit", (3.4, 1.1 * 360 / period))
speed.set(xlabel="orbits", ylabel="deg/s", title="Angular speed")

# %% [markdown]
# The first orbit, to turn and to play:

# %%
ph.view(ds, frames=1500, span=(0.0, period), title="B-dot")
