"""Liquid water: from a lattice to 300 K in a bath, then without it, and what there is to see.

216 rigid SPC/E molecules fall from a lattice into place in a Langevin bath; then they keep their energy. Printed are
temperatures, the drift of the energy with its error, and where the neighbours of an oxygen are. Written are all atoms,
``water_script.xyz`` and, where gsd is installed (``pip install 'polhode[md]'``), ``water_script.gsd``, and a picture.
"""

import polhode as ph

TEMPERATURE = 300.0  # K; lengths in nm, times in ps, energies in kJ / mol

water = ph.rigid_water(216, "spc/e", density=997.0)
start, _ = ph.initial.cubic(6, spacing=water.box[0] / 6, noise=0.02, seed=7)
start |= ph.initial.random_rotations(216, seed=7) | ph.initial.thermal(water, TEMPERATURE, seed=7)

# The lattice is far from liquid: the bath takes what it sets free.
warm = ph.integrate(
    water, ph.methods.baoab(temperature=TEMPERATURE, friction=5.0, seed=1), step=0.002, t_end=4.0, every=100, **start
)
last = warm.isel(time=-1)
begin = {name: last[name] for name in ("position", "momentum", "attitude", "angular_momentum")}

# Without bath: the energy stays, up to an oscillation as the square of the step.
ds = ph.integrate(water, "v2", step=0.002, t_end=8.0, every=10, **begin)
kinetic = float(ds.kinetic_energy.mean())
drift = ph.trajectory.observables.drift(ds) / kinetic
print(f"216 molecules in {water.box[0]:.3f} nm, {ds.attrs['steps']} steps of {ds.attrs['step']:g} ps without bath")
for name in ("temperature", "temperature_translational", "temperature_rotational", "pressure"):
    mean = ph.trajectory.observables.block_error(ds[name], blocks=10)
    print(f"  {name:26} {float(mean['mean']):8.1f} +- {float(mean.error):.1f} {ds[name].attrs['units']}")
print(f"  change of the energy       {float(abs(ds.energy_change).max()) / kinetic:.1e} of the kinetic energy at most")
print(f"  its drift in 1 ps          {float(drift.slope):.1e} +- {float(drift.slope_error):.1e} of it")

# Oxygens stand beside the centres of mass: their distances are those of the sites.
oxygen = ds.site_position.sel(site="O").values
rows = ds.isel(time=slice(None, None, 4))
oxygens = rows.assign(position=rows.position + ph.rotation.rotate(rows.attitude.values, oxygen))
g = ph.trajectory.observables.radial_distribution(oxygens, bins=90)
first = int(g.g.values.argmax())
shell = slice(0, first + int(g.g.values[first : first + 12].argmin()) + 1)
neighbours = 2 * float(g["count"][shell].sum()) / 216
top = g.isel(r=first)
print(f"  g(r) of the oxygens        {float(top.g):.2f} +- {float(top.g_error):.2f} at {float(top.r):.3f} nm")
print(f"  neighbours of an oxygen    {neighbours:.1f} up to {float(g.r[shell.stop - 1]):.3f} nm")

written = [ph.trajectory.export.extended_xyz(ds.isel(time=slice(None, None, 40)), "water_script.xyz")]
try:
    written.append(ph.trajectory.export.gsd(ds.isel(time=slice(None, None, 40)), "water_script.gsd"))
except ph.errors.MissingExtra as missing:
    print(f"  no GSD: {missing}")
ph.plots.dashboard(ds, "water_script.png")
print("written:", ", ".join(str(path) for path in [*written, "water_script.png"]))
