# ---
# section: Several bodies
# order: 30
# caption: Two followers steer to their places, above the leader and behind it; to stay behind is free, above it is not.
# alt: Paths of two followers seen from their leader, from where they start to places 200 m above and 200 m behind it.
#   Beside it the speed that their engines have given so far over three orbits. That of the one behind stays, that of
#   the one above grows along the straight line of the formula.
# ---
# %% [markdown]
# # A formation of three
#
# Two satellites follow a third at 200 m, one behind it, one above. One controller is used twice: it reads the leader
# and a follower, and sets the follower's thrust every ten seconds. **What does it cost to stay?** Behind, where the
# orbit is the same, next to nothing. Above, where the orbit would be slower, $3 n^2 x$ downwards at all times, with the
# rate $n$ of the orbit and the height $x$.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
earth, r, n = ph.planets.EARTH, 7.0e6, np.sqrt(ph.planets.EARTH.mu / 7.0e6**3)


def follow(lead, wing, aim, gain, damping):
    """Thrust to a place beside the leader, given upwards and along its path, which turns with it."""
    up = lead.position / np.linalg.norm(lead.position)
    rate = np.cross(lead.position, lead.velocity) / (lead.position @ lead.position)
    place = aim[0] * up + aim[1] * np.cross(rate, up) / np.linalg.norm(rate)
    late, fast = wing.position - lead.position - place, wing.velocity - lead.velocity - np.cross(rate, place)
    return {f"thrust_{wing.name}": -wing.mass * (gain * late + damping * fast)}


def engines(above, behind, thrust_above, thrust_behind):
    return {"force": [thrust_above, thrust_behind]}


three = ph.system(
    ph.body("lead", 50.0), ph.body("above", 40.0), ph.body("behind", 40.0),
    ph.loads.central(earth.mu), ph.loads.zonal(earth.mu, **earth.zonal),
    ph.loads.of(engines).on("above", "behind").states(thrust_above=np.zeros(3), thrust_behind=np.zeros(3)),
    [ph.controller(follow, every=10.0, parameters={"aim": aim, "gain": 4e-4, "damping": 0.04}, limit=0.5)
     .on("lead", name).named(f"to_{name}") for name, aim in (("above", (200, 0)), ("behind", (0, -200)))],
)  # fmt: skip
start = {name: {"position": np.add(place, (r, 0, 0)), "velocity": (0, n * r * np.cos(1.0), n * r * np.sin(1.0))}
         for name, place in (("lead", (0, 0, 0)), ("above", (-100, -300, 80)), ("behind", (60, 200, -50)))}  # fmt: skip
ds = ph.integrate(three, step=10.0, t_end=17500.0, start=start)

# %%
t = ds.time
fig, (paths, spent) = plt.subplots(1, 2, figsize=(9, 4))
for name in ("above", "behind"):
    ahead, _, down = ds.polhode.relative("lead", name, frame="lvlh").position.values.T
    height, given = -down, np.linalg.norm(ds[f"thrust_{name}"], axis=1)
    formula = 40.0 * 3 * n**2 * height[-580:].mean()  # of the last orbit
    paths.plot(ahead, height, label=name)
    spent.plot(t / 60, 10.0 * np.cumsum(given) / 40.0)
    spent.plot(t / 60, (10.0 * given[:100].sum() + formula * (t - 1000.0)) / 40.0, "k:")
    print(f"{name}: {given[-580:].mean():.5f} N, formula {formula:.5f} N, at a height of {height[-580:].mean():.2f} m")
print(f"energy and the work of the engines balance to {float(abs(ds.energy_error).max()):.0e}")
paths.plot(0, 0, "ko", label="lead")
paths.set(xlabel="ahead (m)", ylabel="up (m)", title="Seen from the leader")
paths.legend()
spent.set(xlabel="minutes", ylabel="m/s", title="Speed given by the engines (dotted: formula)")
