# ---
# section: Tops and rigid bodies
# order: 70
# caption: A tilted top can precess at two speeds without nodding, and below a least spin at none.
# alt: Fast and slow rate of precession against spin, two branches that meet at the least spin; runs lie on the
#   theory.
# ---
# %% [markdown]
# # Two speeds of precession
#
# **How fast does a tilted top precess without nodding?** Theory has two answers, the slow and the fast root of $I_1
# \cos\theta\, \Omega^2 - I_3 \omega\, \Omega + W \ell = 0$, and none below a least spin. Each point is a top that was
# let go at one of them.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
across, along, weight, tilt = 1.0, 0.4, 1.0, np.radians(50)
top = ph.system(ph.body("top", inertia=(across, across, along), pinned=True), ph.loads.weight(weight, at=(0, 0, 1)))
least = np.sqrt(4 * across * weight * np.cos(tilt)) / along
spin = np.linspace(least, 3 * least, 400)
root = np.sqrt(np.maximum((along * spin) ** 2 - 4 * across * weight * np.cos(tilt), 0))

# %%
figure, axes = plt.subplots(figsize=(7.5, 4.4))
for name, sign, colour in (("fast", 1, "C1"), ("slow", -1, "C0")):
    theory = (along * spin + sign * root) / (2 * across * np.cos(tilt))
    axes.plot(spin, theory, color=colour, label=f"{name}: theory")
    some = slice(5, None, 30)
    rates = np.zeros((len(theory[some]), 3))
    rates[:, 1], rates[:, 2] = theory[some] * np.sin(tilt), spin[some]
    ds = ph.ensemble(
        top,
        "rkn6_14a",
        step=0.01,
        t_end=1.0,
        every=100,
        members={"angular_velocity": rates},
        attitude=ph.rotation.exp_quaternion((tilt, 0, 0)),
    )
    start, end = (ph.rotation.rotate(ds.attitude.isel(time=k).values, (0, 0, 1)) for k in (0, -1))
    turned = np.arctan2(end[:, 1], end[:, 0]) - np.arctan2(start[:, 1], start[:, 0])
    turned += 2 * np.pi * np.round((theory[some] - turned) / (2 * np.pi))  # whole turns
    axes.plot(spin[some], turned, "o", color=colour, markerfacecolor="white", label=f"{name}: run")
    print(f"{name}: run and theory differ by at most {abs(turned / theory[some] - 1).max():.0e} of the rate")
axes.axvline(least, color="0.5", linestyle="--")
axes.annotate("none: the top\nmust nod", (least, 4), (-8, 0), textcoords="offset points", ha="right", color="0.5")
axes.set(xlabel="spin about the axis (rad/s)", ylabel="rate of precession (rad/s)", ylim=(0, None), xlim=(2.5, None))
axes.legend()
