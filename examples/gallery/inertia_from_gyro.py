# ---
# section: Spacecraft
# order: 70
# caption: The moments of inertia of a tumbling satellite from its gyros: what they tell, how well, and what not.
# alt: On the left noisy angular velocities of a tumbling satellite with the fitted curves; on the right sixteen
#   estimates of two ratios of moments as points around the truth, with the ellipse of three standard deviations.
# ---
# %% [markdown]
# # Inertia from the gyros of a tumbling satellite
#
# **A satellite tumbles out of control, and only its gyros still answer. What do they say of its inertia?** A fit with
# exact derivatives of the motion takes initial rates and three moments from a minute of noisy data. Doubling all
# moments changes nothing in the data: the fit says so, holds the scale, and gives the ratios with their errors.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
warnings.simplefilter("ignore", ph.errors.EstimationWarning)  # that the scale is not determined
rng, sigma = np.random.default_rng(1), 0.01
inertia, free = np.array((90.0, 140.0, 190.0)), ["inertia", "angular_velocity"]
true = ph.integrate(ph.free_body(inertia), "exact", step=0.5, t_end=60, angular_velocity=(0.05, 0.3, 0.03))


def fitted():
    rates = true.angular_velocity.values + sigma * rng.standard_normal((121, 3))
    guess = ph.free_body((100, 140, 180))
    return rates, ph.fit(guess, {"gyro": (true.time, rates)}, free, "exact", noise=sigma)


rates, fit = fitted()
print(fit)

# %% [markdown]
# Sixteen other draws of the noise fall where the covariance of the first one says: within its ellipse, about the truth.


# %%
def ratios(values):
    return values["inertia"][:2] / values["inertia"][2]


points = np.array([ratios(fitted()[1].values) for _ in range(16)])
truth, (_, spread) = inertia[:2] / inertia[2], fit.derived(ratios)
_, of_sum = fit.derived(lambda values: ratios(values).sum())
mixed = (of_sum**2 - np.sum(spread**2)) / 2
half = np.linalg.cholesky([[spread[0] ** 2, mixed], [mixed, spread[1] ** 2]])
angle = np.linspace(0, 2 * np.pi, 200)
ellipse = truth[:, None] + 3 * half @ (np.cos(angle), np.sin(angle))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), width_ratios=(3, 2))
for k, axis in enumerate("xyz"):
    left.plot(true.time, np.degrees(rates[:, k]), ".", color=f"C{k}", markersize=4)
    left.plot(true.time, np.degrees(fit.predict(true.time.values).angular_velocity[:, k]), color=f"C{k}", label=axis)
left.set(xlabel="time (s)", ylabel="angular velocity (degrees/s)")
left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
right.plot(*ellipse, color="0.5", label="three standard deviations")
right.plot(*points.T, ".", label="sixteen draws")
right.plot(*truth, "k+", markersize=12, label="truth")
right.locator_params(nbins=4)
right.set(xlabel="$I_1 / I_3$", ylabel="$I_2 / I_3$")
right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
