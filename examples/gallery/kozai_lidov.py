# ---
# section: Orbits
# order: 95
# caption: A far companion turns a round planetary orbit into a needle and back within 80 000 years.
# alt: Eccentricity of a planet rising from 0.01 to 0.9 and back while its inclination falls, against time;
#   and the path in the plane of eccentricity and argument of periapsis.
# ---
# %% [markdown]
# # Kozai and Lidov's cycles
#
# A planet 5 au from its star moves on a circle. A second star, 100 au away, moves in a plane that is tilted
# against it by 75°. Lidov and Kozai found in 1962 that the planet exchanges inclination for eccentricity:
# $\sqrt{1-e^2}\cos i$ stays, and $e$ rises to $\sqrt{1 - \tfrac53\cos^2 i_0}$.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
star = 4 * np.pi**2  # au, years
far = dict(radius=100.0, period=2 * np.pi * np.sqrt(100.0**3 / (2 * star)))
system = ph.system(ph.body("planet", 1.0), ph.loads.central(star), ph.loads.third_body("companion", star),
                   surroundings={"companion": ph.surroundings.path(circle=far)})  # fmt: skip

# %%
fig, panels = plt.subplot_mosaic([["e", "plane"], ["i", "plane"]])
for k, tilt in enumerate((30, 60, 75)):
    place = dict(semi_major_axis=5.0, eccentricity=0.02, inclination=np.radians(tilt), argument_of_periapsis=1.0)
    r, v = ph.kepler.state(star, **place)
    ds = ph.integrate(system, "aba10_6_4/kepler", step=1.0, t_end=2e5, every=100, position=r, velocity=v)
    elements = ds.polhode.elements(degrees=True)
    e, thousands = elements.eccentricity, ds.time / 1e3
    panels["e"].plot(thousands, e, color=f"C{k}", linewidth=0.8, label=f"{tilt}°")
    panels["e"].axhline(np.sqrt(max(0, 1 - 5 / 3 * np.cos(np.radians(tilt)) ** 2)), color=f"C{k}", linestyle=":")
    panels["i"].plot(thousands, elements.inclination, color=f"C{k}", linewidth=0.8)
    panels["plane"].plot(elements.argument_of_periapsis % 360, e, ".", color=f"C{k}", markersize=2)
panels["e"].set(title="Eccentricity (dotted: theory)", ylim=(0, 1.25), yticks=(0, 0.5, 1))
panels["i"].set(title="Inclination (deg)", xlabel="thousand years")
panels["plane"].set(xlabel="argument of periapsis (deg)", ylabel="eccentricity", title="Phase plane", ylim=(0, 1))
panels["plane"].set(xlim=(0, 360), xticks=(0, 90, 180, 270, 360))
panels["e"].legend(ncols=3, loc="upper right", fontsize=8)
