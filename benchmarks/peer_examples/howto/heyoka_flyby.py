"""Orbit and rotation of an asteroid past the Earth, with heyoka."""

import heyoka as hk
import numpy as np

mu, J = 3.986004418e14, (0.9e15, 2.0e15, 2.1e15)
names = ["x", "y", "z", "vx", "vy", "vz", "q0", "q1", "q2", "q3", "w1", "w2", "w3"]
x, y, z, vx, vy, vz, q0, q1, q2, q3, w1, w2, w3 = hk.make_vars(*names)
r3 = (x**2 + y**2 + z**2) ** 1.5
u = [  # the place of the Earth in axes of the body, but for the sign
    (1 - 2 * (q2**2 + q3**2)) * x + 2 * (q1 * q2 + q0 * q3) * y + 2 * (q1 * q3 - q0 * q2) * z,
    2 * (q1 * q2 - q0 * q3) * x + (1 - 2 * (q1**2 + q3**2)) * y + 2 * (q2 * q3 + q0 * q1) * z,
    2 * (q1 * q3 + q0 * q2) * x + 2 * (q2 * q3 - q0 * q1) * y + (1 - 2 * (q1**2 + q2**2)) * z,
]
k = 3 * mu / (x**2 + y**2 + z**2) ** 2.5
equations = [(x, vx), (y, vy), (z, vz), (vx, -mu * x / r3), (vy, -mu * y / r3), (vz, -mu * z / r3)]
equations += [
    (q0, 0.5 * (-q1 * w1 - q2 * w2 - q3 * w3)), (q1, 0.5 * (q0 * w1 + q2 * w3 - q3 * w2)),
    (q2, 0.5 * (q0 * w2 + q3 * w1 - q1 * w3)), (q3, 0.5 * (q0 * w3 + q1 * w2 - q2 * w1)),
    (w1, (J[2] - J[1]) / J[0] * (k * u[1] * u[2] - w2 * w3)),
    (w2, (J[0] - J[2]) / J[1] * (k * u[2] * u[0] - w3 * w1)),
    (w3, (J[1] - J[0]) / J[2] * (k * u[0] * u[1] - w1 * w2)),
]  # fmt: skip
e, at = 4.2, -1.6
p = 3.8e7 * (1 + e)
r = p / (1 + e * np.cos(at)) * np.array([np.cos(at), np.sin(at), 0])
v = np.sqrt(mu / p) * np.array([-np.sin(at), e + np.cos(at), 0])
integrator = hk.taylor_adaptive(equations, [*r, *v, 1, 0, 0, 0, 0, 0, 2e-4])
integrator.propagate_until(1.5e5)
after = np.linalg.norm(integrator.state[10:])
print(f"period of the rotation {2 * np.pi / 2e-4 / 3600:.4f} h before, {2 * np.pi / after / 3600:.4f} h after")
