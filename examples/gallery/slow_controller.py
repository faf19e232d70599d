# ---
# section: Spacecraft
# order: 23
# caption: A pointing law that is calm when sampled often sets a satellite swinging when it is sampled too seldom.
# alt: On the left the pointing error over time for three sampling times, two of which come to rest; on the right
#   how much of an error is left from sample to sample, on a curve from theory that crosses one at a dashed line.
# ---
# %% [markdown]
# # How slow may a controller be?
#
# **A PD law that would calm a satellite in continuous time can make it swing if it acts only now and then.** Between
# two samples the torque is held. About one axis, with the moment $J$, a sample leads to the next by the matrix
#
# $$ \begin{pmatrix} 1 & T \\ 0 & 1 \end{pmatrix} - \frac{1}{J}
#    \begin{pmatrix} T^2/2 \\ T \end{pmatrix} \begin{pmatrix} k_p & k_d \end{pmatrix}, $$
#
# and the loop is stable while its eigenvalues are within the unit circle: for $T < 2 J / k_d$ (and $T < 2 k_d / k_p$).
# The runs here are those of the whole body; no step has a jump inside, so they keep the order of their method.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
J, KP, KD = 10.0, 0.4, 4.0


def actuator(craft, command):
    return {"torque": command}


def pd(craft):
    return {"command": -KP * 2.0 * craft.attitude[1:] - KD * craft.angular_velocity}


def pointed(every, t_end):
    """The satellite from a small error about its third axis, with a controller of this sampling time."""
    craft = ph.system(ph.body("craft", inertia=(8.0, 9.0, J), pinned=True), ph.controller(pd, every),
                      ph.loads.of(actuator).states(command=np.zeros(3)))  # fmt: skip
    return ph.integrate(craft, "s4_6", step=every / 8, t_end=t_end, attitude=(np.cos(5e-3), 0.0, 0.0, np.sin(5e-3)))


def theory(every):
    """The largest eigenvalue of the linear loop, from sample to sample."""
    matrix = np.array([[1.0, every], [0.0, 1.0]]) - np.outer((every**2 / 2, every), (KP, KD)) / J
    return abs(np.linalg.eigvals(matrix)).max()


# %%
figure, (over_time, threshold) = plt.subplots(1, 2, figsize=(9, 4))
for every in (0.5, 4.0, 5.2):
    ds = pointed(every, 20 * every)
    over_time.plot(ds.time / every, np.degrees(2 * ds.attitude[:, 3]), label=f"every {every:g} s")
over_time.set(xlabel="samples", ylabel="pointing error (degrees)")
over_time.legend()

times = np.linspace(2.5, 5.5, 13)
left = []
for every in times:
    rate = np.linalg.norm(pointed(every, 40 * every).angular_velocity.values[::8], axis=1)
    left.append((rate[36] / rate[16]) ** (1 / 20))
limit = 2 * J / KD
threshold.plot(times, left, "o", label="the runs")
threshold.plot(times, [theory(every) for every in times], label="the linear loop")
threshold.axvline(limit, color="0.5", linestyle="--", label=f"$2J/k_d$ = {limit:g} s")
threshold.set(xlabel="time between samples (s)", ylabel="error left from sample to sample")
threshold.legend()
print(f"largest difference from theory {max(abs(np.array(left) - [theory(t) for t in times])):.1e}")
