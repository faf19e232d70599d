"""The transition matrix of an orbit about the oblate Earth, with heyoka's variational equations."""

import heyoka as hk
import numpy as np

mu, radius, J2 = 3.986004415e14, 6378136.3, 1.08263e-3
x, y, z, vx, vy, vz = hk.make_vars("x", "y", "z", "vx", "vy", "vz")
r2 = x**2 + y**2 + z**2
potential = -mu / hk.sqrt(r2) * (1.0 - J2 * radius**2 / r2 * (1.5 * z**2 / r2 - 0.5))
equations = [(x, vx), (y, vy), (z, vz)]
equations += [(v, -hk.diff(potential, q)) for v, q in ((vx, x), (vy, y), (vz, z))]
both = hk.var_ode_sys(equations, hk.var_args.vars, order=1)
integrator = hk.taylor_adaptive(both, [7e6, 0, 0, 0, 5336, 5500], compact_mode=True)
integrator.propagate_until(86400.0)
phi = integrator.state[6:].reshape(6, 6)
P = phi @ np.diag([10.0**2] * 3 + [0.01**2] * 3) @ phi.T
print(f"10 m and 1 cm/s: after a day {np.sqrt(np.trace(P[:3, :3])):.1f} m and {np.sqrt(np.trace(P[3:, 3:])):.4f} m/s")
