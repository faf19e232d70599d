# ---
# section: Molecules
# order: 20
# caption: Rigid water melted in a heat bath, then left alone: its temperature and the distances of its neighbours.
# alt: Left, temperature against time, first with and then without a bath; right, the radial distribution of the
#   oxygens with a high first peak.
# ---
# %% [markdown]
# # Sixty-four molecules of water
#
# **Does rigid water behave like water?** SPC/E molecules at room density are melted from a lattice in a heat bath,
# then observed without one. The distances between the oxygens show the shell of neighbours that makes water a liquid.
# The numbers fluctuate, being few: the temperature of $f$ degrees of freedom by $T \sqrt{2/f}$ in a bath.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
water = ph.rigid_water(64, density=997)  # SPC/E, in nm, ps, u and kJ/mol
start = ph.initial.cubic(4, spacing=water.box[0] / 4, noise=0.02, seed=1).state
start |= ph.initial.random_rotations(64, seed=1) | ph.initial.thermal(water, 300, seed=1)
langevin = ph.methods.baoab(temperature=300, friction=5, seed=1)
bath = ph.integrate(water, langevin, step=0.002, t_end=12, every=10, **start)
ds = ph.integrate(water, "v2", start=bath, step=0.002, t_end=22, every=10)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
for run, colour, name in ((bath, "C1", "in a bath of 300 K"), (ds, "C0", "left alone")):
    left.plot(run.time, run.temperature, color=colour, linewidth=0.8, label=name)
left.axhline(300, color="0.6", linestyle=":")
left.set(xlabel="time (ps)", ylabel="temperature (K)", ylim=(0, 900), title="Temperature")
left.legend()
g = ph.trajectory.observables.radial_distribution(ds, bins=60)
right.fill_between(g.r, g.g - 2 * g.g_error, g.g + 2 * g.g_error, color="C0", alpha=0.3, linewidth=0)
right.plot(g.r, g.g, color="C0")
first = int(g.g.values.argmax())
right.annotate(f"{float(g.r[first]):.3f} nm", (g.r[first], g.g[first]), (8, 0), textcoords="offset points")
right.set(xlabel="distance of two oxygens (nm)", ylabel="density / mean density", title="Neighbours", xlim=(0.2, None))
degrees = 6 * 64 - 3
swing = float(bath.temperature[300:].std())
print(
    f"in the bath {float(bath.temperature[300:].mean()):.0f} K, fluctuating by {swing:.0f} K; "
    f"by theory 300 K and {300 * np.sqrt(2 / (degrees + 3)):.0f} K"
)
drift = float(ph.trajectory.observables.drift(ds).slope / ds.kinetic_energy.mean())
print(f"left alone, the energy drifts by {drift:.0e} of the kinetic energy a ps")
