# ---
# section: Methods and papers
# order: 63
# caption: Vilmart 2013: the axes of a tossed book by the Moser-Veselov map of order 10.
# alt: Left, paths of three axes on a sphere and the fixed momentum; right, the error of the attitude against time,
#   near round-off.
# ---
# %% [markdown]
# # Paper: the axes of a tossed book
#
# Vilmart (2013) opens with the motion of a book that spins beside its middle axis, computed with the Moser-Veselov map
# of order 10 in large steps. Drawn are the paths of its three principal axes in space. The last figures agree with the
# exact motion.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
ready = ph.systems.problem("vilmart_free_body")
book = ready.build()
ds = ph.integrate(book, "v2/dmv10", step=0.1, t_end=40, start=ready.initial)
exact = ph.free_motion(book.moments[0], ready.initial["angular_momentum"], ds.time.values)
error = ph.rotation.angle_between(ds.attitude.values, exact.attitude)
print(
    f"largest error of the attitude in {ds.attrs['steps']} steps: {error.max():.0e} rad; "
    f"of the energy {float(abs(ds.energy_error).max()):.0e}"
)

# %%
fine = ph.free_motion(book.moments[0], ready.initial["angular_momentum"], np.linspace(0, 40, 4000)).attitude
eye = np.array((0.55, -0.75, 0.4)) / np.linalg.norm((0.55, -0.75, 0.4))
right = np.cross((0, 0, 1), eye) / np.linalg.norm(np.cross((0, 0, 1), eye))
up = np.cross(eye, right)
figure, (sphere, errors) = plt.subplots(1, 2, figsize=(9.5, 4.4))
sphere.add_patch(plt.Circle((0, 0), 1, color="#f1f3f6"))
for k, name in enumerate(("smallest", "middle", "largest")):
    path = ph.rotation.rotate(fine, np.eye(3)[k])
    for side, strength in ((path @ eye > 0, 1.0), (path @ eye <= 0, 0.2)):
        sphere.plot(*np.where(side, [path @ right, path @ up], np.nan), color=f"C{k}", alpha=strength, linewidth=1)
    sphere.plot([], [], color=f"C{k}", label=f"axis of the {name} moment")
momentum = ph.rotation.rotate(fine[0], ready.initial["angular_momentum"])
sphere.plot([0, momentum @ right], [0, momentum @ up], color="C6", linewidth=2.5, label="momentum")
sphere.set(aspect="equal", title="Paths in space")
sphere.axis("off")
sphere.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2)
errors.semilogy(ds.time[1:], error[1:])
errors.set(xlabel="time", ylabel="error of the attitude (rad)", ylim=(1e-16, 1e-12), title="Order 10, step 0.1")
