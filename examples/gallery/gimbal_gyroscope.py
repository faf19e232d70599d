# ---
# section: Tops and rigid bodies
# order: 95
# caption: A rotor in two gimbals: tapped, it nods at the rate that the masses of the rings give.
# alt: The angle of the inner ring nods quickly about zero, on the dotted line of the formula; that of the outer ring
#   nods at the same rate, to one side.
# ---
# %% [markdown]
# # A gyroscope in gimbals
#
# A fast rotor turns in an inner ring, that in an outer one, and that in the stand. **What does a tap on the inner ring
# do?** The rotor does not fall over: both rings nod, at the rate $H / \sqrt{A B}$. $H$ is the momentum of the
# rotor, $A$ and $B$ are the inertias about the two axes, **rings included**, which no free gyroscope has.
#
# All three hinges meet in one point. The momentum about the axis of the stand stays to the round-off. Run time: 5 s.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
outer, inner, rotor = (4e-3, 4e-3, 2e-3), (2e-3, 2e-3, 3e-3), (1.5e-3, 3e-3, 1.5e-3)
centre, rate, tap = (0, 0, 0), 200.0, 0.5
gyroscope = ph.system(
    ph.body("outer", 0.4, outer), ph.body("inner", 0.3, inner), ph.body("rotor", 1.0, rotor),
    ph.joints.hinge(centre, (0, 0, 1), name="stand").on("outer", ph.ground),
    ph.joints.hinge(centre, (1, 0, 0), name="tilt").on("inner", "outer"),
    ph.joints.hinge(centre, (0, 1, 0), name="spin").on("rotor", "inner"),
)  # fmt: skip
start = ph.assemble(gyroscope, rates={"spin": rate, "tilt": tap})
ds = ph.integrate(gyroscope, "kl6b/joints", step=1e-3, t_end=0.5, start=start)

# %%
turned = ph.rotation.matrix_from_quaternion(ds.attitude.values)
azimuth = np.arctan2(turned[:, 0, 1, 0], turned[:, 0, 0, 0])
tilt = np.arcsin(turned[:, 1, 2, 1])
a, b = inner[0] + rotor[0], outer[2] + inner[2] + rotor[2]
H, t = rotor[1] * rate, ds.time.values
nods = H / np.sqrt(a * b)
spin = ph.rotation.rotate(ds.attitude.values, ds.angular_momentum.values).sum(axis=1)[:, 2]
off = abs(tilt - tap / nods * np.sin(nods * t)).max()
print(f"nods at {nods / 2 / np.pi:.3f} Hz; tilt off the formula by {off:.0e} rad")
print(f"momentum about the stand kept to {abs(spin - spin[0]).max() / H:.0e} of the rotor's")
fig, axes = plt.subplots(figsize=(7, 4))
axes.plot(t, 1e3 * tilt, label="inner ring")
axes.plot(t, 1e3 * azimuth, label="outer ring")
axes.plot(t, 1e3 * tap / nods * np.sin(nods * t), "k:", label="formula")
axes.set(xlabel="s", ylabel="mrad", title="Both rings after a tap")
axes.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0))
