# ---
# section: Tops and rigid bodies
# order: 100
# caption: The third top that can be solved: its fourth constant stays to ten digits, and is lost if one moment
#   changes.
# alt: Left, the tangled path of a top's centre of mass seen from above; right, Kovalevskaya's constant against
#   time, flat for her top and wandering for two others.
# ---
# %% [markdown]
# # Kovalevskaya's top
#
# **Which heavy tops are not chaotic?** Euler's (no weight), Lagrange's (symmetric), and one more, found by Sofia
# Kovalevskaya in 1888: moments 2 : 2 : 1 and the centre of mass in the equator. It has a fourth constant of motion.
# Change one moment by five or ten per cent, and that constant is gone.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
tops = {"2 : 2 : 1, Kovalevskaya's": (2.0, 2.0, 1.0), "2 : 2 : 1.1": (2.0, 2.0, 1.1), "2 : 1.9 : 1": (2.0, 1.9, 1.0)}
start = dict(attitude=ph.rotation.exp_quaternion((1.2, 0.4, 0)), angular_velocity=(0.6, 0.5, 1.2))


def fourth(ds):
    """Kovalevskaya's constant for a unit weight, with the centre of mass at unit distance along x."""
    p, q = ds.angular_velocity.values[:, 0], ds.angular_velocity.values[:, 1]
    up = ph.rotation.rotate_inverse(ds.attitude.values, (0, 0, 1))
    return (p**2 - q**2 - up[:, 0]) ** 2 + (2 * p * q - up[:, 1]) ** 2


# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=(1, 1.15))
for k, (name, inertia) in enumerate(tops.items()):
    top = ph.system(ph.body("top", inertia=inertia, pinned=True), ph.loads.weight(1.0, at=(1, 0, 0)))
    ds = ph.integrate(top, "rkn6_14a", step=0.05, t_end=300, **start)
    constant = fourth(ds)
    print(
        f"{name}: the fourth constant varies by {np.ptp(constant) / constant.mean():.0e} of itself, "
        f"the energy by {float(abs(ds.energy_error).max()):.0e}"
    )
    right.plot(ds.time, constant / constant[0], color=f"C{k}", label=name)
    if k == 0:
        axis = ph.rotation.rotate(ds.attitude.values, (1, 0, 0))
        left.plot(axis[:, 0], axis[:, 1], color="C0", linewidth=0.7)
left.set(aspect="equal", title="Its centre of mass, seen from above", xlabel="x", ylabel="y")
right.set(
    xlabel="time", ylim=(0, 2.9), ylabel="fourth constant / its value at the start", title="Kovalevskaya's constant"
)
right.legend(loc="upper left")
