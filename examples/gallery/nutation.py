# ---
# section: Tops and rigid bodies
# order: 50
# caption: Let go backwards, at rest or forwards, a top draws loops, cusps or waves.
# alt: Three spheres seen from above, on each the path of a top's axis between two circles: with loops, with cusps,
#   with waves.
# ---
# %% [markdown]
# # Loops, cusps and waves of a top
#
# **How does a top's axis move?** It precesses and nods. Whether the nodding draws loops, cusps or waves depends on the
# rate of precession with which the top is let go. The circles are the bounds of the nodding, roots of the cubic
# $(\alpha - \beta u)(1 - u^2) - (b - a u)^2$ in the cosine $u$ of the tilt.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
along, tilt, spin = 0.4, np.radians(40), 8.0
top = ph.system(ph.body("top", inertia=(1, 1, along), pinned=True), ph.loads.weight(1.0, at=(0, 0, 1)))
let_go = {"loops": -0.35, "cusps": 0.0, "waves": 0.75}  # rate of precession at the start

# %%
figure, panels = plt.subplots(1, 3, figsize=(9, 3))
turned = np.linspace(0, 2 * np.pi, 200)
high = np.radians(50)  # the eye is this far above the horizon


def seen(points):
    return points[..., 0], points[..., 1] * np.sin(high) + points[..., 2] * np.cos(high)


for axes, (name, rate) in zip(panels, let_go.items(), strict=True):
    start = {"rotation_vector": (tilt, 0, 0), "angular_velocity": (0, rate * np.sin(tilt), spin)}
    ds = ph.integrate(top, "rkn6_14a", step=0.02, t_end=24, start=start)
    axis = ph.rotation.rotate(ds.attitude.values, (0, 0, 1))
    a, b = along * spin, rate * np.sin(tilt) ** 2 + along * spin * np.cos(tilt)
    alpha, beta = rate**2 * np.sin(tilt) ** 2 + 2 * np.cos(tilt), 2.0
    cubic = np.polysub(np.polymul([-beta, alpha], [-1, 0, 1]), np.polymul([-a, b], [-a, b]))
    low, upper = np.sort(np.roots(cubic).real)[:2]
    error = max(abs(axis[:, 2].min() - low), abs(axis[:, 2].max() - upper))
    print(f"{name}: cosine of the tilt from {low:.4f} to {upper:.4f}; the run keeps these bounds to {error:.0e}")
    axes.fill(np.cos(turned), np.sin(turned), color="#f1f3f6")
    for u in (low, upper):
        x, y = np.sqrt(1 - u * u) * np.array([np.cos(turned), np.sin(turned)])
        circle = np.stack([x, y, np.full_like(x, u)], axis=-1)
        axes.plot(*seen(circle), color="0.5", linewidth=0.8)
    axes.plot(*seen(axis), color="C0", linewidth=1.4)
    axes.plot(*seen(np.array([np.zeros(3), axis[-1]])), "o-", color="C1", linewidth=2.5)
    axes.set_title(f"{name}: let go at {rate:g} rad/s")
    axes.set(aspect="equal", ylim=(-0.45, 1.05))
    axes.axis("off")

# %% [markdown]
# The last of them, with the waves, in motion: the page takes the steps. Let it spin slower, or make it heavier.

# %%
knobs = {"weight.newtons": (0, 3), "angular_velocity.2": (0, 2 * spin)}
ph.interactive(top, "rkn6_14a", step=0.02, start=start, knobs=knobs, title="A top that was let go forwards")
