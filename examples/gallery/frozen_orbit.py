# ---
# section: Orbits
# order: 30
# caption: Low orbits swing their perigee around in four months, but for one that stays as it is.
# alt: Eccentricity vectors of five low orbits over four months, circles about one common point at an
#   eccentricity of a thousandth with the perigee in the north.
# ---
# %% [markdown]
# # Frozen orbit
#
# An altimeter wants the same height over the same place every time, so eccentricity and perigee must not move.
# The Earth's odd harmonics (J3, J5: it is slightly pear-shaped) push the eccentricity vector, J2 turns it: it
# circles about a point near $e = 0.001$ with the perigee in the north. There the orbit is *frozen*.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, day = ph.planets.EARTH, 86400.0
system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(**earth.zonal))
size, inclination = earth.radius + 790e3, np.radians(98.5)
period = 2 * np.pi * np.sqrt(size**3 / earth.mu)


def circles(north):
    """Mean eccentricity vector (an average over each revolution) from a perigee in the north, or in the south."""
    shape = dict(
        eccentricity=abs(north), argument_of_periapsis=np.copysign(np.pi / 2, north), true_anomaly=np.pi * (north < 0)
    )
    r, v = ph.kepler.state(earth.mu, semi_major_axis=size, inclination=inclination, **shape)
    ds = ph.integrate(system, "v2/kepler", step=period / 24, t_end=1750 * period, position=r, velocity=v)
    e = ds.polhode.elements()
    vector = (e.eccentricity * np.exp(1j * e.argument_of_periapsis)).values
    return vector[:-1].reshape(-1, 24).mean(axis=1)


# %%
fig, axes = plt.subplots()
for start in (-0.00052, 0.0005, 0.0015, 0.0025, 0.0035):
    path = 1e3 * circles(start)
    axes.plot(path.real, path.imag)
    axes.plot(path.real[0], path.imag[0], "o", color=axes.lines[-1].get_color())
axes.set(xlabel=r"$10^3\, e \cos\omega$", ylabel=r"$10^3\, e \sin\omega$", aspect="equal")
axes.set_title("Mean eccentricity vectors, 790 km up, 122 days")
axes.annotate("frozen", (0, 0.65), ha="center")
