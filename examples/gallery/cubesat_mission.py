# ---
# section: Spacecraft
# order: 5
# caption: A 6U CubeSat for a day, stopped by coils and pointed at the Sun by wheels that the coils unload, in 60 lines.
# alt: Four panels over a day with eclipses in grey. Body rates fall to nothing in the first hour, the angle of the
#   panels to the Sun falls to zero after a slew at two hours, and wheels and coils have little to do from then on.
# ---
# %% [markdown]
# # A day of a CubeSat
#
# A 6U CubeSat leaves its launcher at six degrees a second. Three coils stop it (B-dot). After two hours three wheels
# take over: they slew the panels to the Sun and keep them there, while the coils, pushing against the field, take the
# momentum out of the wheels again. Gravity to degree and order 10, Sun and Moon, drag and sunlight on the faces, and
# what currents leave of a magnet, disturb it. Both controllers sample and hold, at 0.5 and 2 Hz. The same as a
# scenario: `examples/cubesat.toml`.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, epoch, day = ph.planets.EARTH, "2026-03-20T12:00:00 UTC", 86400.0
around = {
    **{name: ph.surroundings.ephemeris(name, epoch, day) for name in ("sun", "moon")},
    "field": ph.surroundings.dipole_field(epoch=2026.2, orientation=epoch),
    "air_density": ph.surroundings.exponential_air(7e-13, radius=6.878e6, scale=6.4e4),
    "sunlight": ph.surroundings.sunlight(ph.planets.SOLAR_PRESSURE, distance=ph.planets.ASTRONOMICAL_UNIT,
                                         shadow="cylinder", radius=earth.radius),
}  # fmt: skip


def coils(craft, t, field, handover):
    B = craft.in_body(field)
    unload = 1e-3 * np.cross(craft.wheel_momentum, B) / (B @ B)
    return {"dipole_command": ph.where(t < handover, 2e5 * np.cross(craft.angular_velocity, B), unload)}


def unit(v):
    return v / np.sqrt(v @ v)


def pointing(craft, t, sun, handover):
    z = unit(sun - craft.position)  # the panels look along z
    y = unit(np.cross(z, np.cross(craft.position, craft.velocity)))
    aims = [craft.in_body(aim) for aim in (np.cross(y, z), y, z)]
    error = 0.5 * sum(np.cross(axis, aim) for axis, aim in zip(np.eye(3), aims, strict=True))
    rate = error / 30  # as fast as the error asks, and 0.3 degrees a second at most
    rate = rate * np.minimum(1.0, 5e-3 / np.sqrt(rate @ rate + 1e-12))
    torque = 1.2e-2 * (rate - craft.angular_velocity) + np.cross(craft.angular_velocity, craft.wheel_momentum)
    return {"wheel_command": ph.where(t < handover, np.zeros(3), -torque)}


normals = np.concatenate([np.eye(3), -np.eye(3)])
box = {"area": [0.03, 0.02, 0.18] * 2, "normals": normals,
       "positions": normals * ([[0.1], [0.15], [0.05]] * 2) + (0, 0.01, 0)}  # fmt: skip
craft = ph.system(
    ph.body("craft", 12.0, [[0.14, 0.002, -0.001], [0.002, 0.11, 0.0015], [-0.001, 0.0015, 0.07]],
            wheels=ph.reaction_wheels(np.eye(3), 4e-5, max_torque=4e-3, max_momentum=0.03)),
    ph.loads.central(earth.mu), ph.loads.gravity_gradient(), ph.loads.third_body("sun"), ph.loads.third_body("moon"),
    ph.loads.harmonics("egm2008", degree=10, orientation=epoch), ph.loads.magnet((5e-3, -3e-3, 4e-3)),
    ph.loads.plates_in_air(**box, rotation=earth.rotation), ph.loads.plates_in_light(**box, specular=0.3, diffuse=0.2),
    ph.loads.torquers(np.eye(3), 0.4), ph.controller(coils, every=2.0, parameters={"handover": 7200.0}),
    ph.controller(pointing, every=0.5, parameters={"handover": 7200.0}), surroundings=around,
)  # fmt: skip
r, v = ph.kepler.state(earth.mu, semi_major_axis=6.878e6, inclination=np.radians(97.4))
ds = ph.integrate(craft, "s4_6", step=0.5, t_end=day, every=60, position=r, velocity=v, settings={"units": "SI"},
                  attitude=(0.5, -0.5, 0.5, 0.5), angular_velocity=np.radians([3.0, -4.0, 3.5]))  # fmt: skip

# %%
off = np.degrees(ds.polhode.pointing_error((0, 0, 1), "sun"))
settled = ds.time > 9000
print(f"panels off the Sun: at most {float(off[settled].max()):.2f} degrees; "
      f"wheels: at most {1e3 * float(abs(ds.wheel_momentum[settled]).max()):.2f} mN m s; "
      f"energy less work: {float(abs(ds.energy_error).max()):.0e}")  # fmt: skip
fig, axes = plt.subplots(2, 2, sharex=True, figsize=(9, 5.5))
shown = {"Rates (deg/s)": np.degrees(ds.angular_velocity), "Panels to the Sun (deg)": off,
         "Wheels (mN m s)": 1e3 * ds.wheel_momentum, "Coils (A m²)": ds.dipole_command}  # fmt: skip
for axis, (title, values) in zip(axes.flat, shown.items(), strict=True):
    axis.plot(ds.time / 3600, values, linewidth=0.8)
    axis.set(title=title, xlim=(0, 24), xlabel="hours")
    for begin, end in ds.polhode.eclipses() / 3600:
        axis.axvspan(begin, end, color="0.9", zorder=0)
for axis, linear in ((axes[0, 0], 0.01), (axes[1, 1], 0.001)):
    axis.set_yscale("symlog", linthresh=linear)  # a hundredth of the start remains

# %% [markdown]
# The hour in which the wheels take over, to turn and to play:

# %%
ph.view(ds, frames=1500, span=(6900.0, 8100.0), title="Slew to the Sun")
