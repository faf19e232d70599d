# ---
# section: Orbits
# order: 85
# caption: Orbit, oblateness and drag of a low satellite from ranges of three stations, and how a forecast decays.
# alt: Above, residuals of three stations in passes over a day, scattered within their noise; below, the error of the
#   predicted position growing over three days with its standard deviation.
# ---
# %% [markdown]
# # An orbit from three stations
#
# **Three stations measure their distance to a low satellite whenever it is above the horizon, for a day. How well are
# its orbit, the Earth's oblateness and the drag known then, and for how long is the forecast good?** One fit answers
# all of it; the first guess is five kilometres off.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, rng, noise = ph.planets.EARTH, np.random.default_rng(2), 10.0
air = ph.surroundings.exponential_air(4e-12, radius=earth.radius + 4e5, scale=6e4)


def orbit(Cd, J2):
    loads = [ph.loads.central(earth.mu), ph.loads.zonal(radius=earth.radius, J2=J2), ph.loads.drag(Cd, area=1.0)]
    return ph.system(ph.body("satellite", 100.0), loads, surroundings={"air_density": air})


start = {"position": (earth.radius + 4e5, 0, 0), "velocity": (0, 4738, 6022)}
true = ph.integrate(orbit(2.0, 1.0826e-3), step=60, t_end=4 * 86400, **start)
day = true.isel(time=slice(0, 1441))

# %%
passes, turning = {}, 7.2921e-5 * day.time.values
for name, latitude, longitude in (("Canberra", -35.4, 149.0), ("Weilheim", 47.9, 11.1), ("Kourou", 5.3, -52.8)):
    up = np.cos(np.radians(latitude)) * np.exp(1j * (np.radians(longitude) + turning))
    at = earth.radius * np.stack([up.real, up.imag, np.full(up.size, np.sin(np.radians(latitude)))], axis=1)
    to = day.position.values - at
    seen = np.sum(to * at, axis=1) > 0.1 * np.linalg.norm(to, axis=1) * earth.radius
    values = np.linalg.norm(to, axis=1)[seen] + noise * rng.standard_normal(seen.sum())
    passes[f"range.{name}"] = {"time": day.time.values[seen], "values": values, "station": at[seen], "sigma": noise}
free, near = ["position", "velocity", "zonal.J2", "drag.Cd"], np.array(start["position"]) + (3e3, -4e3, 1e3)
fit = ph.fit(orbit(1.5, 1.08e-3), passes, free, step=60, position=near, velocity=(2, 4737, 6023))
print(fit)

# %%
times = np.arange(0, 4 * 86401, 1800)
ahead = fit.predict(times)
off = np.linalg.norm(ahead.position.values - true.position.sel(time=times).values, axis=1)
sigma = np.sqrt(np.trace(ahead.state_covariance.values[:, :3, :3], axis1=1, axis2=2))
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.6))
for name in passes:
    residual = fit.residuals[name]
    top.plot(residual[f"{name}_time"] / 3600, residual, ".", markersize=4, label=name.partition(".")[2])
top.set(xlabel="hours", ylabel="residual (m)")
top.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
bottom.semilogy(times / 86400, off, label="error of the predicted position")
bottom.semilogy(times / 86400, sigma, color="0.5", label="its standard deviation")
bottom.axvspan(0, 1, color="C0", alpha=0.1, linewidth=0)
bottom.set(xlabel="days (data in the first)", ylabel="m")
bottom.legend()
