"""B-dot in the field of a dipole, with SciPy. The law acts all the time."""

import numpy as np
from scipy.integrate import solve_ivp

mu, gain, J = 3.986004418e14, 4e4, np.array([0.04, 0.05, 0.02])


def field(r):
    size = np.linalg.norm(r)
    return -3e-5 * 6371200.0**3 / size**3 * (3 * r[2] * r / size**2 - [0, 0, 1])


def rates(t, y):
    r, v, q, w = y[:3], y[3:6], y[6:10], y[10:]
    s, u = q[0], q[1:]
    B = field(r)
    B = B - 2 * s * np.cross(u, B) + 2 * np.cross(u, np.cross(u, B))  # into the body
    torque = np.cross(gain * np.cross(w, B), B)
    turned = 0.5 * np.array([-u @ w, *(s * w + np.cross(u, w))])
    return np.concatenate([v, -mu * r / np.linalg.norm(r) ** 3, turned, (torque - np.cross(w, J * w)) / J])


a, tilt = 6.9e6, np.radians(97.5)
speed = np.sqrt(mu / a)
start = [a, 0, 0, 0, speed * np.cos(tilt), speed * np.sin(tilt), 1, 0, 0, 0, 0.10, -0.12, 0.07]
found = solve_ivp(rates, (0, 6000), start, method="DOP853", rtol=1e-9, atol=1e-12, t_eval=[0, 1500, 6000])
rate = np.degrees(np.linalg.norm(found.y[10:], axis=0))
print(f"from {rate[0]:.2f} deg/s to {rate[1]:.3f} in 25 minutes, to {rate[2]:.4f} in 100")
