# ---
# section: Molecules
# order: 30
# caption: Langevin and Nose-Hoover baths against Maxwell and Boltzmann, axis by axis.
# alt: Histograms of angular velocities about three axes for two heat baths, each covered by the normal curve of
#   theory.
# ---
# %% [markdown]
# # Two heat baths, one distribution
#
# **Do Langevin and Nose-Hoover baths give the same rotations?** One kicks at random, the other is deterministic, and
# both should give every component of the angular velocity Maxwell and Boltzmann's normal distribution, with the
# variance $kT/I$ about each axis.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
n, kT, inertia = 64, 1.5, np.array((1.0, 1.88, 2.88))
spheres = ph.dipoles(n, attraction=1, box=5.0, cutoff=2.4, inertia=inertia)
start = ph.initial.cubic(4, 1.25, noise=0.02, seed=1).state | ph.initial.random_rotations(n, seed=1)
start |= ph.initial.thermal(spheres, kT, seed=1)
baths = {
    "Langevin": ph.methods.baoab(temperature=kT, friction=1.0, seed=2),
    "Nose-Hoover": ph.methods.nose_hoover(temperature=kT, tau=0.5),
}

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
x = np.linspace(-4.5, 4.5, 200)
for axes, (name, method) in zip(panels, baths.items(), strict=True):
    ds = ph.integrate(spheres, method, step=0.015, t_end=150, every=20, **start)
    rows = ds.angular_velocity.values[50:]
    for k in range(3):
        axes.hist(rows[..., k].ravel(), bins=80, range=(-4.5, 4.5), density=True, color=f"C{k}", alpha=0.35)
        axes.plot(
            x,
            np.exp(-inertia[k] * x**2 / (2 * kT)) * np.sqrt(inertia[k] / (2 * np.pi * kT)),
            color=f"C{k}",
            label=f"axis of moment {inertia[k]:g}: theory",
        )
    found = (inertia * rows**2).mean(axis=(0, 1))
    print(f"{name:12} I <omega²> about the axes: {found.round(3)}, kT = {kT}")
    axes.set(title=f"{name} ({method.method.name})", xlabel="angular velocity", xlim=(-4.5, 4.5))
panels[0].set(ylabel="density", ylim=(0, 0.75))
panels[1].legend()
