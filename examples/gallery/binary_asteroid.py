# ---
# section: Several bodies
# order: 20
# caption: The moonlet of Didymos swings about the line to the asteroid, and takes its orbit along.
# alt: Libration angle of a moonlet over six days. It lies on a dotted line of the linear theory of orbit and rotation
#   together, and another of rotation alone on a fixed circle runs ahead. Below it the distance of the two bodies, which
#   swings by seven centimetres with the same period.
# ---
# %% [markdown]
# # The moonlet of a binary asteroid
#
# Dimorphos turns its long axis to Didymos, as the Moon does to us. **At what period does it swing about that line?**
# As if its orbit were a fixed circle the frequency is $n\sqrt{3 (B - A) / C}$. But it is heavy and near enough that the
# orbit swings along: five linear equations for distance, angle and rate of the orbit. Here are masses and sizes as they
# were thought to be before DART, and the gravity of both bodies on each other to second order in their size.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
G, masses, r, hour = 6.6743e-11, (5.4e11, 4.3e9), 1189.0, 3600.0
sizes = ((399.0, 399.0, 380.0), (104.0, 80.0, 66.0))  # half axes, m
didymos, dimorphos = (ph.inertia.ellipsoid(m, axes) for m, axes in zip(masses, sizes, strict=True))
binary = ph.system(ph.body("didymos", inertia=didymos), ph.body("dimorphos", inertia=dimorphos),
                   ph.loads.mutual_gravity(G).on("didymos", "dimorphos"))  # fmt: skip
(M, m), (A, B, C), disc = masses, dimorphos.inertia.diagonal(), didymos.inertia.diagonal()
mu, extents = M * m / (M + m), G * (M * (B + C - 2 * A) + m * (disc[2] - disc[0]))
n, twist = np.sqrt((G * M * m / r**2 + 1.5 * extents / r**4) / (mu * r)), 3 * G * M * (B - A) / r**3

# %% [markdown]
# The circular orbit has the rate n. The equations of small deviations from it are of distance and its rate, libration
# and its rate, and the rate of the orbit:

# %%
linear = np.diag([1.0, 0, 1.0, 0], 1)
linear[1, [0, 4]] = n**2 + (2 * G * M * m / r**3 + 6 * extents / r**5) / mu, 2 * r * n
linear[4, [1, 2]] = -2 * n / r, twist / (mu * r**2)
linear[3] = -linear[4] - twist / C * np.eye(5)[2]
values, modes = np.linalg.eig(linear)
k = np.argmin(abs(values.imag - np.sqrt(twist / C)))
start, coupled, fixed = np.radians(0.2) * (modes[:, k] / modes[2, k]).real, values[k].imag, np.sqrt(twist / C)

shares = np.array([[-m / (M + m)], [M / (M + m)]])
ds = ph.integrate(
    binary, "rkn6_14a", step=60.0, t_end=144 * hour, position=shares * [r, 0, 0],
    velocity=shares * [start[1], n * r, 0], attitude=[(1, 0, 0, 0), ph.rotation.exp_quaternion((0, 0, start[2]))],
    angular_velocity=[(0, 0, 2 * np.pi / (2.26 * hour)), (0, 0, n)],
)  # fmt: skip
d, turn = (ds.position[:, 1] - ds.position[:, 0]).values, ph.rotation.rotate(ds.attitude.values[:, 1], (1.0, 0, 0))
angle = np.arcsin((np.cross(d, turn) / np.linalg.norm(d, axis=1, keepdims=True))[:, 2])
t, i = ds.time.values, np.flatnonzero(angle[1:] * angle[:-1] < 0)
crossings = t[i] - angle[i] * 60.0 / (angle[i + 1] - angle[i])
period = 2 * np.polyfit(np.arange(len(i)), crossings, 1)[0]
print(f"period {period / hour:.5f} h; linear {2 * np.pi / coupled / hour:.5f} h, and if the orbit were a fixed "
      f"circle {2 * np.pi / fixed / hour:.5f} h; energy error {float(abs(ds.energy_error).max()):.0e}")  # fmt: skip

# %%
fig, (libration, distance) = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
libration.plot(t / hour, np.degrees(angle), label="run")
for name, rate, line in (("linear, orbit swings along", coupled, "k:"), ("linear, orbit a fixed circle", fixed, "C1:")):
    libration.plot(t / hour, 0.2 * np.cos(rate * t), line, label=name)
distance.plot(t / hour, np.linalg.norm(d, axis=1) - r, "C2")
libration.set(ylabel="deg", title="Long axis off the line to Didymos")
libration.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.1))
distance.set(xlabel="hours", ylabel=f"m beyond {r:.0f} m", title="Distance")
