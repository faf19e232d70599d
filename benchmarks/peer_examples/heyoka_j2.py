"""A day on an orbit about the oblate Earth with heyoka: Taylor series of given expressions. Metres, seconds."""

import heyoka as hk

mu, radius, J2 = 3.986004415e14, 6378136.3, 0.0010826266835531513
x, y, z, vx, vy, vz = hk.make_vars("x", "y", "z", "vx", "vy", "vz")
r2 = x**2 + y**2 + z**2
potential = -mu / hk.sqrt(r2) * (1.0 - J2 * radius**2 / r2 * (1.5 * z**2 / r2 - 0.5))
equations = [(x, vx), (y, vy), (z, vz)]
equations += [(v, -hk.diff(potential, q)) for v, q in ((vx, x), (vy, y), (vz, z))]
start = [7.0e6, 0.0, 0.0, 0.0, 5336.0, 5500.0]
integrator = hk.taylor_adaptive(equations, start, tol=1e-12)
# measured: begin
integrator.time = 0.0
integrator.state[:] = start
integrator.propagate_until(86400.0)
# measured: end
result = {"position": list(integrator.state[:3]), "velocity": list(integrator.state[3:])}
