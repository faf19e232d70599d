"""A droplet of 64 rigid SPC/E molecules with OpenMM, no cut-off; atoms from start.json (nm, nm/ps)."""

import json

import numpy as np
import openmm
from openmm import unit

with open("start.json") as file:
    start = json.load(file)
system, bonded = openmm.System(), openmm.NonbondedForce()
bonded.setNonbondedMethod(openmm.NonbondedForce.NoCutoff)
oxygen, hydrogen = (15.9994, -0.8476, 0.650), (1.008, 0.4238, 0.0)  # SPC/E
oh, hh = 0.1, 2 * 0.1 * np.sin(np.radians(109.4712206 / 2))
for k in range(0, 3 * 64, 3):
    for mass, charge, epsilon in (oxygen, hydrogen, hydrogen):
        system.addParticle(mass)
        bonded.addParticle(charge, 0.3166, epsilon)
    for i, j, length in ((k, k + 1, oh), (k, k + 2, oh), (k + 1, k + 2, hh)):
        system.addConstraint(i, j, length)  # recognised as water, so solved by SETTLE
        bonded.addException(i, j, 0.0, 1.0, 0.0)
system.addForce(bonded)
integrator = openmm.VerletIntegrator(0.001)
integrator.setConstraintTolerance(1e-10)
platform = openmm.Platform.getPlatformByName("CPU")
context = openmm.Context(system, integrator, platform, {"Threads": "1"})


def energies():
    state = context.getState(energy=True)
    both = state.getPotentialEnergy(), state.getKineticEnergy()
    return [energy.value_in_unit(unit.kilojoule_per_mole) for energy in both]


# measured: begin
context.setPositions(start["position"])
context.setVelocities(start["velocity"])
rows = [energies()]
for _ in range(20):
    integrator.step(100)
    rows.append(energies())
# measured: end
total = np.sum(rows, axis=1)
worst = abs(total - total[0]).max()
result = {"potential": rows[0][0], "kinetic": rows[0][1], "energy_error": worst / rows[0][1]}
