# ---
# section: Orbits
# order: 70
# caption: From a low orbit to the geostationary one, by two impulses at their exact times.
# alt: Low orbit, transfer ellipse and geostationary orbit around the Earth in three dimensions; and the
#   velocity change in all against how much the first burn turns the plane, least at 2.3 degrees.
# ---
# %% [markdown]
# # Two burns to the geostationary orbit
#
# From 400 km up and an inclination of 28.5°, Hohmann's ellipse leads to 42 164 km; the second burn also turns the
# plane. Split the turn: what does it cost to turn a little in the first burn already?

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
mu, low, high, tilt = ph.planets.EARTH.mu, 6.778e6, 4.2164e7, np.radians(28.5)
around = 2 * np.pi * np.sqrt(low**3 / mu)
coast = np.pi * np.sqrt(((low + high) / 2) ** 3 / mu)
perigee, apogee = (np.sqrt(2 * mu * b / (a * (low + high))) for a, b in ((low, high), (high, low)))
first_turn = np.radians(np.linspace(0, 6, 121))


def burn(before, after, turn):  # along the velocity, and across it
    return after * np.cos(turn) - before, after * np.sin(turn)


costs = [np.hypot(*burn(np.sqrt(mu / low), perigee, first_turn)),
         np.hypot(*burn(apogee, np.sqrt(mu / high), tilt - first_turn))]  # fmt: skip
best = np.argmin(sum(costs))
burns = [burn(np.sqrt(mu / low), perigee, first_turn[best]), burn(apogee, np.sqrt(mu / high), tilt - first_turn[best])]
craft = ph.system(
    ph.body("craft", 1.0), ph.loads.central(mu),
    ph.loads.impulse((0, burns[0][0], -burns[0][1]), around, "rtn").named("first"),
    ph.loads.impulse((0, burns[1][0], burns[1][1]), around + coast, "rtn").named("second"),
)  # fmt: skip
r, v = ph.kepler.state(mu, semi_major_axis=low, inclination=tilt)
ds = ph.integrate(craft, "v2/kepler", step=60.0, t_end=108000.0, position=r, velocity=v)

# %%
fig = plt.figure(figsize=(9.6, 4.2))
path, cost = fig.add_subplot(121, projection="3d"), fig.add_subplot(122)
for begin, end in ((0, around), (around, around + coast), (around + coast, 108000.0)):
    path.plot(*(ds.position.sel(time=slice(begin, end)).values.T / 1e6))
path.scatter(*(ds.event_position.values.T / 1e6), color="#262626")
path.set(title="Two burns", box_aspect=(1, 1, 0.5), xlabel="1000 km", zlim=(-20, 20), zticks=(-20, 0, 20))
cost.plot(np.degrees(first_turn), sum(costs))
cost.plot(np.degrees(first_turn[best]), sum(costs)[best], "o")
cost.set(xlabel="turned by the first burn (deg)", ylabel="velocity change in all (m/s)", title="Cost")
