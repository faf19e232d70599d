# ---
# section: Tops and rigid bodies
# order: 90
# caption: Euler angles carried through 90 degrees of pitch without harm, and how their rates fail there.
# alt: Left, three Euler angles of a tumbling box; right, the error of the attitude, which jumps for integrated
#   rates and stays small for composed rotations.
# ---
# %% [markdown]
# # Through gimbal lock with Euler angles
#
# **Must a program that stores Euler angles fail at 90 degrees of pitch?** Only if it integrates their rates, which are
# infinite there. A box tumbles past the pole twice. By their rates the angles go astray at the first passage; with the
# same four stages, but composing the rotation of each step, they pass [Holzinger and Gerstmayr 2021].

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
box = ph.free_body((5.2988, 1.1775, 4.3568))
run = dict(step=0.005, t_end=2.0, angular_velocity=(0, np.pi, 0.004))
exact = ph.integrate(box, "exact", **run)

# %%
figure, (angles, errors) = plt.subplots(1, 2, figsize=(9, 4))
for method, colour in (("euler_direct", "C1"), ("euler", "C0"), ("rotation_vector", "C2")):
    ds = ph.integrate(box, method, **run)
    error = ph.rotation.angle_between(ds.attitude.values, exact.attitude.values)[1:]
    errors.semilogy(ds.time[1:], error, color=colour, label=method)
    print(f"{method:16} attitude off by {error[-1]:.0e} rad at the end")
    if method == "euler":
        for k, (name, look) in enumerate((("first", "-"), ("second (pitch)", "-"), ("third", "--"))):
            angles.plot(ds.time, np.degrees(ds.euler_angles[:, k]), look, color=f"C{k + 3}", label=name)
angles.axhline(90, color="0.7", linestyle=":")
angles.axhline(-90, color="0.7", linestyle=":")
angles.set(
    xlabel="time (s)", ylabel="angle (degrees)", yticks=range(-180, 181, 90), title="Euler angles, as stored by euler"
)
angles.legend()
errors.set(xlabel="time (s)", ylabel="error of the attitude (rad)", title="Error, all with Runge-Kutta of order 4")
errors.legend(loc="center right")
