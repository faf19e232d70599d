"""A droplet of 64 rigid SPC/E molecules in a Langevin bath, with OpenMM."""

import numpy as np
import openmm
from openmm import unit

system, forces, places = openmm.System(), openmm.NonbondedForce(), []
forces.setNonbondedMethod(openmm.NonbondedForce.NoCutoff)
oxygen, hydrogen = (15.9994, -0.8476, 0.650), (1.008, 0.4238, 0.0)  # SPC/E
half = np.radians(109.4712206 / 2)
for k in range(64):
    for mass, charge, epsilon in (oxygen, hydrogen, hydrogen):
        system.addParticle(mass)
        forces.addParticle(charge, 0.3166, epsilon)
    for i, j, length in ((0, 1, 0.1), (0, 2, 0.1), (1, 2, 0.2 * np.sin(half))):
        system.addConstraint(3 * k + i, 3 * k + j, length)
        forces.addException(3 * k + i, 3 * k + j, 0.0, 1.0, 0.0)
    corner = 0.31 * np.array([k % 4, k // 4 % 4, k // 16])
    places += [
        corner,
        corner + 0.1 * np.array([np.sin(half), 0, np.cos(half)]),
        corner + 0.1 * np.array([-np.sin(half), 0, np.cos(half)]),
    ]
system.addForce(forces)
integrator = openmm.LangevinMiddleIntegrator(280, 5, 0.002)
integrator.setRandomNumberSeed(2)
context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName("CPU"), {"Threads": "1"})
context.setPositions(places)
openmm.LocalEnergyMinimizer.minimize(context, 10.0, 50)
context.setVelocitiesToTemperature(280, 2)
integrator.step(10000)
rows = []
for _ in range(400):
    integrator.step(50)
    state = context.getState(energy=True)
    rows.append(
        [one.value_in_unit(unit.kilojoule_per_mole) for one in (state.getKineticEnergy(), state.getPotentialEnergy())]
    )
kinetic, potential = np.mean(rows, axis=0) / 64
print(f"kinetic {kinetic:.2f} kJ/mol a molecule, potential {potential:.1f}")
