"""A droplet of 64 rigid SPC/E molecules with OpenMM, no cut-off; atoms from start.json (nm, nm/ps)."""

import json

import numpy as np
import openmm
from openmm import unit

start = json.load(open("start.json"))
system, bonded = openmm.System(), openmm.NonbondedForce()
bonded.setNonbondedMethod(openmm.NonbondedForce.NoCutoff)
oh, hh = 0.1, 2 * 0.1 * np.sin(np.radians(109.4712206 / 2))
for k in range(0, 3 * 64, 3):
    for mass, charge, epsilon in ((15.9994, -0.8476, 0.650), (1.008, 0.4238, 0.0), (1.008, 0.4238, 0.0)):
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
    return [e.value_in_unit(unit.kilojoule_per_mole) for e in (state.getPotentialEnergy(), state.getKineticEnergy())]


# measured: begin
context.setPositions(start["position"])
context.setVelocities(start["velocity"])
rows = [energies()]
for _ in range(20):
    integrator.step(100)
    rows.append(energies())
# measured: end
total = np.sum(rows, axis=1)
result = {"potential": rows[0][0], "kinetic": rows[0][1], "energy_error": abs(total - total[0]).max() / rows[0][1]}
