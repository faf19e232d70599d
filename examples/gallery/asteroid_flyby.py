# ---
# section: Spacecraft
# order: 80
# caption: Passing the Earth at six radii changes an asteroid's spin; by how much depends on how it points that hour.
# alt: Spin period of sixty asteroids against time; all have 30 hours before perigee, and between 20 and 55
#   afterwards; with the distribution of the final periods.
# ---
# %% [markdown]
# # An asteroid's spin after a close flyby
#
# Apophis passes the Earth on 13 April 2029 at 38 000 km. The Earth's gravity gradient turns it while it passes.
# How will it spin afterwards? That depends on its attitude at the perigee, which is unknown: sixty possible ones,
# all with a spin of 30.6 hours before.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, hour = ph.planets.EARTH, 3600.0
perigee, far_speed = 38.0e6, 5.84e3
a = -earth.mu / far_speed**2
passage = 36 * hour  # from the start to the perigee
before = -np.sqrt(-earth.mu / a**3) * passage
r, v = ph.kepler.state(earth.mu, semi_major_axis=a, eccentricity=1 - perigee / a, mean_anomaly=before)
moments = np.array([0.61, 0.965, 1.0]) * 2.0e15  # kg m2
rock = ph.system(ph.body("apophis", 6.1e10, moments), ph.loads.central(earth.mu), ph.loads.gravity_gradient())

varied = ph.ensembles.sampling.members({"attitude": ph.ensembles.sampling.uniform_attitude()}, 60, seed=4)
ds = ph.ensemble(
    rock, "rkn6_14a", members=varied, step=passage / 400, t_end=2 * passage, every=2,
    position=r, velocity=v, angular_velocity=(0, 0, 2 * np.pi / (30.6 * hour)),
)  # fmt: skip

# %%
fig, (story, after) = plt.subplots(1, 2, sharey=True, width_ratios=(3, 1))
momentum = np.linalg.norm(ds.angular_momentum, axis=-1)
periods = 2 * np.pi * moments[2] / momentum / hour  # that of a spin about the shortest axis with this momentum
story.plot((ds.time - passage) / hour, periods.T, color="C0", linewidth=0.6, alpha=0.6)
story.axvline(0, color="#8a8a8a", linewidth=0.8)
story.set(xlabel="hours from perigee", ylabel="spin period (h)", title="60 possible attitudes")
after.hist(periods[:, -1], bins=18, orientation="horizontal", color="C1")
after.set(xlabel="asteroids", title="Afterwards")
