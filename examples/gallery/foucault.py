# ---
# section: Tops and rigid bodies
# order: 115
# caption: The swing of a pendulum turns with the day, by the sine of the latitude: shown at three places.
# alt: Three rosettes of a pendulum's bob seen from above, coloured by time: most of half a turn at the pole, less
#   at 45 and 15 degrees.
# ---
# %% [markdown]
# # Foucault's pendulum
#
# **Why does the swing of a pendulum turn with the day, and how fast?** The pendulum hangs from a ground that turns
# beneath it. Its weight is a Python function, in a frame that does not turn; seen from the ground the swing goes
# around with the rate $-\Omega \sin\lambda$ of the latitude $\lambda$: at the pole once a day, at the equator never.
# So that one sees it, this Earth turns once in fifty swings.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
day, swing = 50 * 2 * np.pi, 0.05  # the pendulum's small swings take 2 pi


def weight(body, t, earth, cosine, sine):
    """A potential: of the bob, which weighs 1 and hangs at (0, 0, -1), the height along the vertical."""
    return body.point((0, 0, -1)) @ np.array((cosine * np.cos(earth * t), cosine * np.sin(earth * t), sine))


# %%
figure, panels = plt.subplots(1, 3, figsize=(9.5, 3.7))
earth = 2 * np.pi / day
for axes, degrees in zip(panels, (90, 45, 15), strict=True):
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    up, north, east = np.array((cosine, 0, sine)), np.array((-sine, 0, cosine)), np.array((0, 1, 0))
    axis = np.cos(swing) * up - np.sin(swing) * north  # of the body; the bob is to the north
    frame = np.stack([east, np.cross(axis, east), axis], axis=1)
    load = ph.loads.of(weight, earth=earth, cosine=cosine, sine=sine)
    pendulum = ph.system(ph.body("pendulum", inertia=(1, 1, 1e-4), pinned=True), load)
    ds = ph.integrate(
        pendulum, "rkn6_14a", step=day / 10_000, steps=4000, attitude=frame, angular_velocity=frame.T @ (0, 0, earth)
    )  # at rest on the ground
    bob = ph.rotation.rotate(ds.attitude.values, (0, 0, -1))
    bob = ph.rotation.rotate(ph.rotation.exp_quaternion(np.outer(-earth * ds.time.values, (0, 0, 1))), bob)
    x, y = bob @ east, bob @ north
    axes.scatter(x, y, c=ds.time / day, s=1, cmap="viridis")
    late = slice(-200, None)  # the last swing, whose direction is the first axis of its points
    way = np.linalg.svd(np.stack([x[late], y[late]], axis=1))[2][0]
    turned = np.degrees(np.arctan2(way[0], way[1])) % 180
    theory = 360 * sine * float(ds.time[late].mean()) / day
    print(f"latitude {degrees}: the swing has turned by {turned:.1f} degrees, by theory {theory:.1f}")
    axes.set(aspect="equal", xlim=(-0.056, 0.056), ylim=(-0.056, 0.056), xlabel="east", title=f"latitude {degrees}°")
panels[0].set(ylabel="north")
