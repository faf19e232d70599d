"""A close encounter of two planets, with REBOUND's IAS15."""

import numpy as np
import rebound

sim = rebound.Simulation()
sim.add(m=1.0)
sim.add(m=1e-5, x=1.0, vy=1.0)
a, at = 1.03, 0.2
sim.add(m=1e-5, x=a * np.cos(at), y=a * np.sin(at), vx=-np.sin(at) / np.sqrt(a), vy=np.cos(at) / np.sqrt(a))
sim.integrator = "ias15"
closest, when, before = np.inf, 0.0, sim.energy()
for t in np.linspace(0.0, 200.0, 200001):
    sim.integrate(t)
    apart = sim.particles[1] ** sim.particles[2]
    if apart < closest:
        closest, when = apart, sim.t
print(f"energy error {abs(sim.energy() / before - 1):.0e}")
print(f"closest {closest:.6f} at t = {when:.4f}")
