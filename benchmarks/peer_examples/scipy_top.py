"""The fast top with SciPy: quaternion and angular velocity, DOP853."""

import numpy as np
from scipy.integrate import solve_ivp

moments, center, weight = np.array([5.0, 5.0, 1.0]), np.array([0.0, 0.0, 1.0]), 20.0


def rates(t, y):
    (a, b, c, s), w = y[:4], y[4:]  # quaternion with the scalar last, body to space
    v = np.array([a, b, c])
    up = np.array([2 * (a * c - s * b), 2 * (b * c + s * a), 1 - 2 * (a * a + b * b)])
    torque = np.cross(center, -weight * up)
    turned = 0.5 * (s * w + np.cross(v, w))
    return np.concatenate([turned, [-0.5 * v @ w], (torque - np.cross(w, moments * w)) / moments])


times = np.linspace(0, 20, 201)
start = [np.sin(0.15), 0, 0, np.cos(0.15), 0, 0, 50.0]
# measured: begin
found = solve_ivp(rates, (0, 20), start, method="DOP853", rtol=1e-9, atol=1e-9, t_eval=times)
# measured: end
v, s, w = found.y[:3], found.y[3], found.y[4:]
size = np.sqrt((v**2).sum(axis=0) + s**2)
height = 1 - 2 * (v[0] ** 2 + v[1] ** 2) / size**2
energy = 0.5 * moments @ w**2 + weight * height
result = {
    "attitude": [s[-1], *v[:, -1]],
    "energy_error": abs(energy / energy[0] - 1).max(),
    "norm_error": abs(size - 1).max(),
    "evaluations": found.nfev,
}
