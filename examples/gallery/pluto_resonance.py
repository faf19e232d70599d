# ---
# section: Orbits
# order: 90
# caption: Pluto crosses Neptune's orbit and never meets it; the energy of 200 000 years is right to nine digits.
# alt: Pluto's path in the frame that turns with Neptune, two loops that stay away from the planet; the
#   resonant angle librating about 180 degrees with a period of 20 000 years; and the energy error.
# ---
# %% [markdown]
# # Why Pluto does not meet Neptune
#
# Pluto comes nearer to the Sun than Neptune. It goes round twice while Neptune goes round three times, and
# whenever it is inside, Neptune is elsewhere. For how long? The angle $3\lambda_P - 2\lambda_N - \varpi_P$ swings
# about 180° for 200 000 years and more.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
masses = (1.00000597682, 9.54786104043e-4, 2.85583733151e-4, 4.37273164546e-5, 5.17759138449e-5, 7.692307692e-9)
places = [(0, 0, 0), (-3.5023653, -3.8169847, -1.5507963), (9.0755314, -3.0458353, -1.6483708),
          (8.3101420, -16.2901086, -7.2521278), (11.4707666, -25.7294829, -10.8169456),
          (-15.5387357, -25.2225594, -3.1902382)]  # fmt: skip
speeds = [(0, 0, 0), (0.00565429, -0.00412490, -0.00190589), (0.00168318, 0.00483525, 0.00192462),
          (0.00354178, 0.00137102, 0.00055029), (0.00288930, 0.00114527, 0.00039677),
          (0.00276725, -0.00170702, -0.00136504)]  # fmt: skip
sun_and_planets = ph.gravitating_bodies(mass=masses, G=2.95912208286e-4)  # September 1994; au, days
start = dict(position=places, velocity=speeds)
ds = ph.integrate(sun_and_planets, "sbabc1/kepler:corrected", step=200.0, t_end=7.2e7, every=36, **start)
place = ds.position - ds.position[:, 0]
neptune, pluto = (ds.polhode.elements().isel(body=k) for k in (4, 5))

# %%
fig, panels = plt.subplot_mosaic([["turning", "angle"], ["turning", "energy"]], width_ratios=(1.2, 1))
seen = (place[:, 5, 0] + 1j * place[:, 5, 1]) * np.exp(-1j * np.arctan2(place[:, 4, 1], place[:, 4, 0]))
panels["turning"].plot(seen.real, seen.imag, ".", color="C0", markersize=0.8, alpha=0.7)
panels["turning"].plot([30.1], [0], "o", color="C1", markersize=10)
panels["turning"].plot([0], [0], "o", color="C4", markersize=10)
panels["turning"].set(aspect="equal", xlabel="au", title="Neptune's turning frame")
turns = [e.node + e.argument_of_periapsis for e in (neptune, pluto)]
mean = [w + e.mean_anomaly for w, e in zip(turns, (neptune, pluto), strict=True)]
angle = np.degrees(3 * mean[1] - 2 * mean[0] - turns[1]) % 360
years = ds.time / 365250
panels["angle"].plot(years, angle, ".", markersize=0.8)
panels["angle"].set(ylim=(0, 360), yticks=(0, 90, 180, 270, 360), ylabel="deg", title="Resonant angle")
panels["energy"].plot(years, ds.energy_error, linewidth=0.4)
panels["energy"].set(xlabel="thousand years", title="Energy error")
