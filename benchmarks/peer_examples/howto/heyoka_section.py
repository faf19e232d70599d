"""Crossings of a plane by an orbit of Henon and Heiles, with heyoka's events."""

import heyoka as hk
import numpy as np

x, y, vx, vy = hk.make_vars("x", "y", "vx", "vy")
equations = [(x, vx), (y, vy), (vx, -x - 2.0 * x * y), (vy, -y - x * x + y * y)]
times = []
crossing = hk.nt_event(x, lambda ta, t, sign: times.append(t), direction=hk.event_direction.positive)
y0, vy0, energy = 0.1, 0.05, 0.1
start = [0.0, y0, np.sqrt(2 * energy - vy0**2 - y0**2 + 2 * y0**3 / 3), vy0]
integrator = hk.taylor_adaptive(equations, start, nt_events=[crossing])
integrator.propagate_until(1000.0)
print(f"{sum(t > 0.0 for t in times)} crossings, the last at t = {times[-1]:.6f}")
