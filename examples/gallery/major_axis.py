# ---
# section: Tops and rigid bodies
# order: 80
# caption: Losses inside turn a spinning satellite over, though nothing outside acts on it.
# alt: Left, the momentum on a sphere spirals from the long axis across to that of the largest moment; right, the
#   components of the angular velocity over time.
# ---
# %% [markdown]
# # Why Explorer 1 fell over
#
# **Is a satellite stable that spins about its long axis?** A rigid one is. Explorer 1 was not rigid, and tumbled
# within hours: losses inside lower the energy, the momentum stays, and the spin goes over to the axis of the largest
# moment. Here the losses are those of a ball in oil within the body: what the oil does to the ball it does, reversed,
# to the body. Both are bodies that only rotate.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
inertia, ball, oil = np.array((1.0, 2.6, 3.0)), 0.3, 0.1


def losses(craft, ball, oil):
    on_ball = oil * (craft.in_space(craft.angular_velocity) - ball.in_space(ball.angular_velocity))
    return {"torque": [-craft.in_body(on_ball), ball.in_body(on_ball)]}


craft = ph.system(ph.body("craft", inertia=inertia, pinned=True), ph.body("ball", inertia=[ball] * 3, pinned=True),
                  ph.loads.of(losses, oil=oil).on("craft", "ball"))  # fmt: skip
omega = np.array((1.0, 0.02, -0.02))
ds = ph.integrate(craft, step=0.05, t_end=260, angular_velocity=[omega, omega])
whole = ph.rotation.rotate(ds.attitude.values, ds.angular_momentum.values).sum(axis=1)
ds = ds.sel(body="craft")
size = np.linalg.norm(whole[0])
print(f"momentum in space, body and ball together, changes by {abs(whole - whole[0]).max() / size:.0e} of itself")
end = float(np.linalg.norm(ds.angular_velocity[-1]))
print(f"spin at the end {end:.4f}, about the largest moment by theory {size / (inertia[2] + ball):.4f}")

# %%
figure, (sphere, over_time) = plt.subplots(1, 2, figsize=(9, 4.2))
eye = np.array((0.75, 0.45, -0.5)) / np.linalg.norm((0.75, 0.45, -0.5))
right = np.cross((0, 0, 1), eye) / np.linalg.norm(np.cross((0, 0, 1), eye))
up = np.cross(eye, right)
path = ph.rotation.rotate_inverse(ds.attitude.values, whole) / size
front = path @ eye > 0
sphere.add_patch(plt.Circle((0, 0), 1, color="#eef1f5"))
for side, strength in ((front, 0.9), (~front, 0.15)):
    sphere.plot(*np.where(side, [path @ right, path @ up], np.nan), color="C0", alpha=strength, linewidth=1)
box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 1}
for point, word in ((np.eye(3)[0], "long axis"), (-np.eye(3)[2], "largest moment")):
    at = point @ right, point @ up
    sphere.plot(*at, "o", color="C1")
    sphere.annotate(word, at, (0, 9), textcoords="offset points", ha="center", color="C1", bbox=box)
sphere.set(aspect="equal", title="Momentum, seen from the body")
sphere.axis("off")
for k, name in enumerate(("long axis", "middle axis", "largest moment")):
    over_time.plot(ds.time, ds.angular_velocity[:, k], color=("C1", "0.7", "C0")[k], label=name)
over_time.set(xlabel="time", ylabel="angular velocity along", title="From one end of the sphere to the other")
over_time.legend(loc="upper right")
