# ---
# section: Methods and papers
# order: 61
# caption: Holzinger and Gerstmayr 2021: three numbers for an attitude, as accurate as the Lie group method.
# alt: Left, the path of a fast top's centre of mass; right, three coinciding lines of error against step.
# ---
# %% [markdown]
# # Paper: three rotation parameters through their singular points
#
# Holzinger and Gerstmayr (2021) compose rotation vectors or Euler angles with the rotation of each step. Their fast
# top starts on its side; below is the path of its centre of mass, and the error after one second against the step.
# With three numbers it has the order of the Lie group method, and its errors.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
ready = ph.systems.problem("holzinger_top")
top = ready.build()
steps = 1 / np.array([500, 1000, 2000, 4000, 8000])
names = {"lie_rk": "matrix (Lie group)", "rotation_vector": "rotation vector", "euler": "Cardan angles"}
table = ph.compare(top, list(names), steps, t_end=1.0, start=ready.initial)
ds = ph.integrate(top, "euler", step=1e-3, t_end=2.0, start=ready.initial)
x, y, z = ph.rotation.rotate(ds.attitude.values, (0, 1, 0)).T

# %%
figure = plt.figure(figsize=(9, 4.2))
path, errors = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
path.plot(x, y, z, color="C0", linewidth=1)
path.plot(*(v[:1] for v in (x, y, z)), "o", color="C1")
path.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0), title="Centre of mass (m), two seconds")
path.set_box_aspect((2, 2, 1.2))
for k, (method, name) in enumerate(names.items()):
    error = table.attitude_error.sel(integrator=method)
    errors.loglog(steps, error, "os^"[k] + "-", markersize=11 - 3 * k, color=f"C{k}", label=name, fillstyle="none")
    order = np.log(error.values[0] / error.values[2]) / np.log(4)
    print(f"{name:20} order {order:.2f}, error with the smallest step {float(error[-1]):.1e}")
errors.set(xlabel="step (s)", ylabel="error of the attitude after 1 s", title="Three ways to keep an attitude")
errors.xaxis.set_minor_formatter("")
errors.legend()
