# ---
# section: Several bodies
# order: 40
# caption: The outermost of three planets drifts inwards, locks to the next, and both lock to the innermost.
# alt: Ratios of the periods of neighbouring planets over time; the outer one falls to two and stays there, then the
#   inner one does. Below them the resonant angles, of which both librate about zero in the end, and the eccentricities,
#   that of the middle planet at the line of the formula between the two captures.
# ---
# %% [markdown]
# # Three planets migrate into resonance
#
# A disc of gas takes angular momentum from the outermost planet and rounds all orbits. **Where do they stop?** At
# periods of 1 : 2 : 4. The angle $2\lambda' - \lambda - \varpi$ of two neighbours that are locked librates about zero,
# and they drift together. As long as only the outer two are locked, balances of energy and angular momentum say how
# eccentric the middle one becomes: $e^2 = 0.139\, s / \rho$, with the rates $s$ of drift and $\rho$ of rounding, if the
# outermost stays round.
#
# The forces of the disc are a function of planet and star. They are no obstacle to `v2/kepler`, which follows the
# orbits exactly at 25 steps a turn and takes all else into its kicks; their work is recorded.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")


def disc(planet, star, shrinking, rounding):
    """Takes of the size and of the eccentricity of an orbit, at these rates."""
    r, v = planet.position - star.position, planet.velocity - star.velocity
    pull = -planet.mass * (0.5 * shrinking * v + 2 * rounding * (v @ r) / (r @ r) * r)
    return {"force": [pull, -pull]}


names, drift, rounding = ("inner", "middle", "outer"), 1e-6, 5e-5
drags = [ph.loads.of(disc, shrinking=rate, rounding=rounding).on(name, "star").named(f"disc_{name}")
         for name, rate in zip(names, (0.0, 0.0, drift), strict=True)]  # fmt: skip
planets = ph.system(ph.body("star", 1.0), [ph.body(name, 1e-4) for name in names], ph.loads.gravitation(1.0), drags)
start = {name: {"position": (a, 0, 0), "velocity": (0, a**-0.5, 0)}
         for name, a in zip(names, (1.0, 1.63, 2.67), strict=True)}  # fmt: skip
ds = ph.integrate(planets, "v2/kepler", step=0.25, t_end=1.05e5, every=200, start=start)

# %%
t = ds.time.values / 1e3
orbits = [ds.polhode.elements().sel(body=name) for name in names]
turns = [o.node + o.argument_of_periapsis for o in orbits]
mean = [w + o.mean_anomaly for w, o in zip(turns, orbits, strict=True)]
fig, (ratio, angle, round_) = plt.subplots(3, 1, sharex=True, figsize=(7, 7))
for k, pair in enumerate(("middle to inner", "outer to middle")):
    ratio.plot(t, (orbits[k + 1].semi_major_axis / orbits[k].semi_major_axis) ** 1.5, label=pair)
    resonant = np.degrees(2 * mean[k + 1] - mean[k] - turns[k] + np.pi) % 360 - 180
    angle.plot(t, resonant, ".", markersize=1.5)
    print(f"{pair}: the angle stays within {abs(resonant[t > 85]).max():.0f} degrees of zero")
for name, o in zip(names, orbits, strict=True):
    round_.plot(t, o.eccentricity, label=name)
formula, held = np.sqrt(0.139 * drift / rounding), (t > 60) & (t < 75)
round_.plot([40, 75], [formula, formula], "k:")
print(f"eccentricity {orbits[1].eccentricity[held].mean():.4f}, formula {formula:.4f}; energy and the work of the disc "
      f"balance to {float(abs(ds.energy_error).max()):.0e}")  # fmt: skip
ratio.set(title="Ratio of periods")
angle.set(ylim=(-180, 180), yticks=(-180, -90, 0, 90, 180), ylabel="deg", title="Resonant angles")
round_.set(xlabel="time (1000 units; the inner planet turns in 6.3)", title="Eccentricities (dotted: formula)")
ratio.legend()
round_.legend(loc="upper left")
