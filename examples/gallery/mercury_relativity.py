# ---
# section: Orbits
# order: 110
# caption: The 43 arc seconds a century of Mercury, from a force written in three lines of Python.
# alt: Left, a rosette of an orbit where light is slow; right, advance of the perihelia of Mercury, Venus and
#   the Earth over a century, on the lines of Einstein's formula.
# ---
# %% [markdown]
# # Mercury's perihelion
#
# General relativity adds, to first order, one term to Newton's attraction. Written as a plain Python function it
# is traced and compiled. Perihelia are found to round-off, as events; Einstein's formula is $6\pi\mu / (c^2 a (1
# - e^2))$ per revolution.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
sun, au, century = ph.planets.SUN.mu, 1.495978707e11, 36525 * 86400.0


def einstein(planet, c):
    r, v = planet.position, planet.velocity
    s = np.sqrt(r @ r)
    return sun / (c**2 * s**3) * ((4 * sun / s - v @ v) * r + 4 * (r @ v) * v)


def advance(c, a, e, t_end, step, **rows):
    r, v = ph.kepler.state(sun, semi_major_axis=a, eccentricity=e)
    system = ph.system(ph.body("planet", 1.0), ph.loads.central(sun), ph.loads.acceleration(einstein, c=c))
    rows = dict(t_end=t_end, step=step, position=r, velocity=v, events=["periapsis"]) | rows
    ds = ph.integrate(system, "mkrk:gauss8", **rows)
    return ds, np.unwrap(np.arctan2(ds.event_position[:, 1], ds.event_position[:, 0]))


# %%
fig, (rosette, planets) = plt.subplots(1, 2)
ds, _ = advance(1.2e6, 0.387 * au, 0.6, 8.3e7, 4e4)  # light 250 times slower
rosette.plot(*ds.position.values.T[:2] / au, linewidth=0.8)
rosette.plot(0, 0, "o", color="C4", markersize=10)
rosette.set(title="If light were 250 times slower", xlabel="au", ylabel="au", aspect="equal")
for name, a, e in (("Mercury", 0.38710, 0.20563), ("Venus", 0.72333, 0.00677), ("Earth", 1.0, 0.01671)):
    ds, angle = advance(299792458.0, a * au, e, century, century / round(26000 / a**1.5 * 0.24), every=10**6)
    seconds = np.degrees(angle - angle[0]) * 3600
    rate = seconds[-1] / float(ds.event_time[-1] - ds.event_time[0]) * century
    planets.plot(ds.event_time / century * 100, seconds, ".", markersize=3, label=f"{name}: {rate:.2f}″")
    turns = np.array([0.0, century * np.sqrt(sun / (a * au) ** 3) / (2 * np.pi)])
    theory = 6 * np.pi * sun / (299792458.0**2 * a * au * (1 - e * e)) * turns
    planets.plot([0, 100], np.degrees(theory) * 3600, color="#262626", linewidth=0.6, zorder=0)
planets.set(title="Advance of perihelia", xlabel="years", ylabel="arc seconds")
planets.legend()
