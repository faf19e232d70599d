# ---
# section: Spacecraft
# order: 22
# caption: A momentum wheel along its middle axis keeps a satellite from tumbling, from a speed that theory tells.
# alt: On the left spin about the middle axis over time for three speeds of the wheel, of which the slowest
#   reverses it; on the right the spread of the spin against the momentum of the wheel, which falls to nothing at a
#   dashed line.
# ---
# %% [markdown]
# # A wheel against tumbling
#
# **Spin about the middle axis is unstable. How fast must a wheel turn along that axis to make it stable?** With the
# momentum $h$ of the wheel a small deviation oscillates where $h > (J_3 - J_2) \omega$, for a spin $\omega$ and the
# largest moment $J_3$ of the body without the wheel's own about its axis: then the middle axis carries more momentum
# than any other could at that rate. The runs here are free gyrostats: the wheel keeps its momentum, the whole keeps
# its own in space to round-off, and the method is exact, so steps are as long as the picture likes.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
own, rotor, spin = np.array((8.0, 10.0, 13.0)), 0.1, 0.2
whole = own + (0, rotor, 0)  # the inertia of a body is given with locked wheels


def spun(share, t_end=400.0):
    """A satellite that spins about its middle axis, its wheel having this share of the momentum it needs."""
    speed = share * (own[2] - own[1]) * spin / rotor - spin
    wheel = ph.reaction_wheels([(0, 1, 0)], rotor, speed=speed)
    craft = ph.system(ph.body("craft", inertia=whole, pinned=True, wheels=wheel))
    return ph.integrate(craft, "exact", step=0.5, t_end=t_end, angular_velocity=(2e-3, spin, 2e-3))


runs = {share: spun(share) for share in (0.0, 0.6, 1.2)}
for share, ds in runs.items():
    drift = float(abs(ds.spin - ds.spin[0]).max() / np.linalg.norm(ds.spin[0]))
    print(f"{share:3.1f} of the momentum needed: least spin {float(ds.angular_velocity[:, 1].min()):+.3f} rad/s, "
          f"momentum of the whole kept to {drift:.0e}")  # fmt: skip

# %% [markdown]
# The swing of the spin falls in a straight line with the momentum of the wheel: from half of what is needed on the
# satellite no longer turns over, and at the threshold it rests.

# %%
shares = np.linspace(0, 1.5, 46)
spread = [np.ptp(spun(share, 1500.0).angular_velocity.values[:, 1]) for share in shares]
figure, (over_time, threshold) = plt.subplots(1, 2, figsize=(9, 4))
for share, ds in runs.items():
    over_time.plot(ds.time, ds.angular_velocity[:, 1], label=f"{share:g} of it")
over_time.set(xlabel="time (s)", ylabel="spin about the middle axis (rad/s)")
over_time.legend(title="momentum of the wheel", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
threshold.plot(shares, spread, ".-")
threshold.axvline(1.0, color="0.5", linestyle="--", label=r"$h = (J_3 - J_2)\,\omega$")
threshold.set(xlabel="momentum of the wheel, of that needed", ylabel="spread of the spin (rad/s)")
threshold.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))

# %% [markdown]
# A satellite whose wheel turns half as fast as it should, integrated by the page. Push it.

# %%
wheel = ph.reaction_wheels([(0, 1, 0)], rotor, speed=0.5 * (own[2] - own[1]) * spin / rotor - spin)
craft = ph.system(ph.body("craft", inertia=whole, pinned=True, wheels=wheel))
ph.interactive(craft, "v2", step=0.25, angular_velocity=(2e-3, spin, 2e-3), title="A wheel against tumbling")
