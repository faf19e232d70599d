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
sun, moon = (ph.surroundings.ephemeris(body, epoch, day) for body in ("sun", "moon"))
field = ph.surroundings.magnetic_field("dipole", epoch=2026.2, orientation=epoch)


def coils(t, position, velocity, q, omega, parameters, states):
    B = ph.rotation.rotate_inverse(q, field.at(t, position))
    unload = 1e-3 * np.cross(states.wheel_momentum, B) / (B @ B)
    return ph.where(t < parameters[0], 2e5 * np.cross(omega, B), unload)


def unit(v):
    return v / np.sqrt(v @ v)


def wheels(t, position, velocity, q, omega, parameters, states):
    z = unit(sun.at(t) - position)  # the panels look along z
    y = unit(np.cross(z, np.cross(position, velocity)))
    aims = [ph.rotation.rotate_inverse(q, aim) for aim in (np.cross(y, z), y, z)]
    error = 0.5 * sum(np.cross(axis, aim) for axis, aim in zip(np.eye(3), aims, strict=True))
    rate = error / 30  # as fast as the error asks, and 0.3 degrees a second at most
    rate = rate * np.minimum(1.0, 5e-3 / np.sqrt(rate @ rate + 1e-12))
    torque = 1.2e-2 * (rate - omega) + np.cross(omega, states.wheel_momentum)
    return ph.where(t < parameters[0], np.zeros(3), -torque)


faces = [(0.18, "z", 0.05), (0.03, "x", 0.1), (0.02, "y", 0.15)]
plates = [ph.systems.plate(area, sign * normal, position=sign * far * normal + (0, 0.01, 0), drag_coefficient=2.2,
                           specular=0.3, diffuse=0.2)
          for area, axis, far in faces for sign in (1, -1) for normal in [np.eye(3)["xyz".index(axis)]]]  # fmt: skip
craft = ph.spacecraft(
    inertia=[[0.14, 0.002, -0.001], [0.002, 0.11, 0.0015], [-0.001, 0.0015, 0.07]], mu=earth.mu, mass=12.0,
    forces=[ph.forces.gravity_field("egm2008", degree=10, orientation=epoch),
            ph.forces.third_body(ephemeris=sun), ph.forces.third_body(ephemeris=moon)],
    plates=plates, atmosphere={"density": 7e-13, "radius": 6.878e6, "scale": 6.4e4, "rotation": earth.rotation},
    sunlight={"pressure": ph.planets.SOLAR_PRESSURE, "distance": ph.planets.ASTRONOMICAL_UNIT, "ephemeris": sun,
              "shadow": "cylinder", "radius": earth.radius},
    wheels=ph.reaction_wheels(np.eye(3), 4e-5, max_torque=4e-3, max_momentum=0.03),
    magnetic_field=field, torquers=ph.systems.magnetic_torquers(np.eye(3), 0.4),
    dipoles=[ph.systems.magnetic_dipole((5e-3, -3e-3, 4e-3))],
    controllers=[ph.controller(coils, 2.0, "dipole_command"), ph.controller(wheels, 0.5, "wheel_command")],
    parameters=[7200.0],
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

# %% [markdown]
# The hour in which the wheels take over, to turn and to play:

# %%
ph.view(ds, frames=1500, span=(6900.0, 8100.0), title="Slew to the Sun")
