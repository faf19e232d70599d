# ---
# section: Orbits
# order: 65
# caption: Sunlight instead of fuel; a sail spirals out to Mars or in to Mercury, and at 35 degrees it is fastest.
# alt: Spirals of two solar sails from the Earth's orbit, one outwards past Mars, one inwards to Mercury; and
#   the time to Mars against the angle of the sail.
# ---
# %% [markdown]
# # A solar sail
#
# A sail pushes along its normal, with the square of the cosine of the angle to the light. Tilted, it takes energy
# from the orbit or gives some. Which angle is best? A sail of 0.25 mm/s² at 1 au, held at each angle until it is
# as far as Mars. (The days jump where the spiral, which breathes, first gets there one revolution later.)

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
sun, au, day = ph.planets.SUN.mu, 1.495978707e11, 86400.0


def sail(craft, strength, cone):
    s = np.linalg.norm(craft.position)
    out = craft.position / s
    forward = np.array([-out[1], out[0], 0.0])
    normal = np.cos(cone) * out + np.sin(cone) * forward
    return strength * (au / s) ** 2 * np.cos(cone) ** 2 * normal


craft = ph.system(ph.body("craft", 1.0), ph.loads.central(sun), ph.loads.acceleration(sail, strength=2.5e-4, cone=0.0))
start = dict(position=(au, 0, 0), velocity=(0, np.sqrt(sun / au), 0), step=2.0 * day)
mars = ph.events.altitude(0.524 * au, au, "rising", terminal=True)
mercury = ph.events.altitude(-0.613 * au, au, "falling", terminal=True)


def flown(degrees, days, stop):
    return ph.integrate(craft, t_end=days * day, events=[stop], parameters={"sail.cone": np.radians(degrees)}, **start)


# %%
fig = plt.figure()
path, times = fig.add_subplot(121, projection="polar"), fig.add_subplot(122)
for cone, stop, name in ((35.3, mars, "to Mars"), (-35.3, mercury, "to Mercury")):
    ds = flown(cone, 4000, stop)
    x, y, _ = ds.position.values.T
    path.plot(np.arctan2(y, x), np.hypot(x, y) / au, label=f"{name}, {float(ds.time[-1]) / day:.0f} days")
for radius in (0.387, 1.0, 1.524):
    path.plot(np.linspace(0, 2 * np.pi, 200), np.full(200, radius), color="#8a8a8a", linewidth=0.8)
path.set(rticks=[0.5, 1.0, 1.5], title="Distance from the Sun (au)")
path.legend(loc="lower center", bbox_to_anchor=(0.5, -0.35))
cones = np.arange(16.0, 58.0, 2.0)
times.plot(cones, [float(flown(cone, 8000, mars).time[-1]) / day for cone in cones], "o-")
times.set(xlabel="angle of the sail (deg)", ylabel="days to Mars", title="Which angle?")
