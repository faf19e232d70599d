"""A map of MEGNO over Saturn's distance and eccentricity, with REBOUND."""

import numpy as np
import rebound


def megno(a, e):
    sim = rebound.Simulation()
    sim.integrator = "whfast"
    sim.dt = 2 * np.pi * 0.5
    sim.add(m=1.0)
    sim.add(m=9.54e-4, a=5.2, e=0.048)
    sim.add(m=2.86e-4, a=a, e=e)
    sim.move_to_com()
    sim.init_megno(seed=0)
    sim.integrate(2 * np.pi * 1000, exact_finish_time=0)
    return sim.megno()


n = 20
found = [megno(a, e) for e in np.linspace(0.0, 0.5, n) for a in np.linspace(7.0, 10.0, n)]
print(f"{sum(np.array(found) < 2.1)} of {n * n} regular")
