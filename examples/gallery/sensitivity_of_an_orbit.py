# ---
# section: Spacecraft
# order: 62
# caption: How an error at the start grows along an eccentric orbit, from the transition matrix of one run.
# alt: The uncertainty of the position along an eccentric orbit, stretched along the track, and a curve of their
#   size that rises with every revolution and peaks at each pericentre.
# ---
# %% [markdown]
# # Where will it be, and how surely?
#
# A start is never known exactly. The state transition matrix of a run, with `tangent=True`, carries a covariance along
# the orbit: here 100 m and 0.1 m/s at the start of a Molniya-like orbit about an oblate Earth, in each direction.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, J2 = ph.planets.EARTH, ph.planets.EARTH.J["J2"]
system = ph.system(ph.body("satellite", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(radius=earth.radius, J2=J2))
r, v = ph.kepler.state(earth.mu, semi_major_axis=26.6e6, eccentricity=0.7, inclination=1.107, true_anomaly=np.pi / 2)
ds = ph.integrate(system, "rkn6_14a", step=60.0, t_end=86400.0, every=6, position=r, velocity=v, tangent=True)

start = np.diag([100.0**2] * 3 + [0.1**2] * 3)  # the mass is 1
P = ds.state_transition.values
covariance = (P @ start @ P.transpose(0, 2, 1))[:, :3, :3]

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.2))
e1 = r / np.linalg.norm(r)
e2 = np.cross(np.cross(r, v), e1)
plane = np.array([e1, e2 / np.linalg.norm(e2)])  # the plane of the first revolution
x, y = (plane @ ds.position.values.T) / 1e6
left.plot(x, y, lw=0.8, color="0.6")
circle = np.array([np.cos(np.linspace(0, 2 * np.pi, 60)), np.sin(np.linspace(0, 2 * np.pi, 60))])
for k in range(0, ds.sizes["time"] // 2, 5):
    size, axes = np.linalg.eigh(plane @ covariance[k] @ plane.T)
    ring = axes @ (100 * np.sqrt(size)[:, None] * circle) / 1e6
    left.fill(x[k] + ring[0], y[k] + ring[1], color="C1", ec="C1", lw=1.5)
left.set(xlabel="1000 km", ylabel="1000 km", aspect="equal", title="1 sigma, 100 times as large")
right.semilogy(ds.time / 3600, np.sqrt(np.linalg.eigvalsh(covariance)) / 1e3)
right.set(xlabel="hours", ylabel="km", title="axes of the ellipsoid of 1 sigma")
