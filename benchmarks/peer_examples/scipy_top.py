"""The fast top with SciPy: quaternion and angular velocity, DOP853."""

import numpy as np
from scipy.integrate import solve_ivp

moments, center, weight = np.array([5.0, 5.0, 1.0]), np.array([0.0, 0.0, 1.0]), 20.0


def rates(t, y):
    v, s, w = y[:3], y[3], y[4:]  # quaternion with the scalar last, body to space
    up = np.array([2 * (v[0] * v[2] - s * v[1]), 2 * (v[1] * v[2] + s * v[0]), 1 - 2 * (v[0] ** 2 + v[1] ** 2)])
    torque = np.cross(center, -weight * up)
    turned = 0.5 * (s * w + np.cross(v, w))
    return np.concatenate([turned, [-0.5 * v @ w], (torque - np.cross(w, moments * w)) / moments])


start = [np.sin(0.15), 0, 0, np.cos(0.15), 0, 0, 50.0]
# measured: begin
found = solve_ivp(rates, (0, 20), start, method="DOP853", rtol=1e-9, atol=1e-9, t_eval=np.linspace(0, 20, 201))
# measured: end
v, s, w = found.y[:3], found.y[3], found.y[4:]
size = np.sqrt((v**2).sum(axis=0) + s**2)
energy = 0.5 * (moments[:, None] * w**2).sum(axis=0) + weight * (1 - 2 * (v[0] ** 2 + v[1] ** 2) / size**2)
result = {
    "attitude": [s[-1], *v[:, -1]],
    "energy_error": abs(energy / energy[0] - 1).max(),
    "norm_error": abs(size - 1).max(),
    "evaluations": found.nfev,
}
