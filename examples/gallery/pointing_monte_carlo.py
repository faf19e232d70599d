# ---
# section: Spacecraft
# order: 60
# caption: Do all of a thousand satellites point to the ground within ten minutes? Bands of the pointing error.
# alt: Pointing error of a thousand controlled satellites against time on a logarithmic scale, with bands of
#   quantiles, and a histogram of the times at which they were within one degree for good.
# ---
# %% [markdown]
# # Pointing: a thousand satellites
#
# Wheels turn a satellite to the ground and hold it there; they are weak, inertia and gain are uncertain, and the
# satellite starts from any attitude. When do 95 % of them point within one degree? Controller and saturation are
# a plain function.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph
from polhode.ensembles import sampling

plt.style.use("polhode.plots.style")
earth, radius = ph.planets.EARTH, 6.9e6
n = np.sqrt(earth.mu / radius**3)


def wheels(craft, t, stiffness, strongest, rate):
    wanted = np.array([np.cos(rate * t / 2), 0.0, 0.0, np.sin(rate * t / 2)])  # turns with the orbit, about z
    error = ph.rotation.multiply(ph.rotation.conjugate(wanted), craft.attitude)
    side = ph.where(error[0] < 0, -1.0, 1.0)  # the short way round
    slow = 2.0 * np.sqrt(12.0 * stiffness) * (craft.angular_velocity - craft.in_body((0.0, 0.0, rate)))
    return {"torque": np.clip(-2 * stiffness * side * error[1:] - slow, -strongest, strongest)}


craft = ph.system(ph.body("craft", 80.0, (12, 14, 9)), ph.loads.central(earth.mu), ph.loads.gravity_gradient(),
                  ph.loads.of(wheels, stiffness=0.01, strongest=0.01, rate=n))  # fmt: skip
varied = sampling.members({
    "attitude": sampling.uniform_attitude(),
    "angular_velocity": sampling.normal((0, 0, 0), sigma=0.01),
    "craft.inertia": sampling.inertia((12, 14, 9), relative=0.1),
    "wheels.stiffness": sampling.lognormal(0.01, sigma=0.2),
}, 1000, seed=5)  # fmt: skip
ds = ph.ensemble(
    craft, members=varied, step=1.0, t_end=900.0, every=5, position=(radius, 0, 0), velocity=(0, radius * n, 0)
)

# %%
half = 0.5 * n * ds.time.values
wanted = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
error = np.degrees(ph.rotation.angle_between(ds.attitude.values, wanted))
fig, (story, when) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1))
for low, high, words in ((0, 100, "all"), (5, 95, "90 %"), (25, 75, "half")):
    bounds = np.percentile(error, (low, high), axis=0)
    story.fill_between(ds.time, *bounds, color="C0", alpha=0.25, linewidth=0, label=words)
story.plot(ds.time, np.median(error, axis=0), label="median")
story.axhline(1.0, color="#262626", linewidth=0.8)
story.set(yscale="log", ylabel="deg", title="Pointing error", ylim=(3e-3, 200))
story.legend(loc="lower left")
settled = ds.time.values[-1] - 5 * np.argmax(error[:, ::-1] > 1.0, axis=1)
when.hist(settled, bins=range(100, 500, 10), color="C1")
when.axvline(np.percentile(settled, 95), color="#262626", linewidth=0.8)
when.set(xlabel="s", ylabel="satellites", title="Within one degree for good (line: 95 % of them)")
