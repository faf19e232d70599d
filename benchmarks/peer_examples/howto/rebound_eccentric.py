"""A thousand turns of an orbit of eccentricity 0.99, with REBOUND's IAS15."""

import numpy as np
import rebound

sim = rebound.Simulation()
sim.add(m=1.0)
sim.add(m=0.0, a=1.0, e=0.99)
sim.integrator = "ias15"
before = sim.particles[1].a
sim.integrate(2 * np.pi * 1000.4)
print(f"energy error {abs(before / sim.particles[1].a - 1):.0e}")
print(f"at the end r = {sim.particles[1].d:.6f}")
