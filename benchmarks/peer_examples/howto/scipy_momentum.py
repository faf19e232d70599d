"""Wheels that hold an attitude and coils that unload them, with SciPy. Both laws act all the time."""

import numpy as np
from scipy.integrate import solve_ivp

mu, J = 3.986004418e14, np.array([0.14, 0.11, 0.07])
spin = 4e-5  # of a wheel about its axis


def field(r):
    size = np.linalg.norm(r)
    return -3e-5 * 6371200.0**3 / size**3 * (3 * r[2] * r / size**2 - [0, 0, 1])


def rates(t, y):
    r, v, q, w, h = y[:3], y[3:6], y[6:10], y[10:13], y[13:]
    s, u = q[0], q[1:]
    B = field(r)
    B = B - 2 * s * np.cross(u, B) + 2 * np.cross(u, np.cross(u, B))  # into the body
    motor = 2 * 2e-3 * u + 3e-2 * w
    torque = np.cross(1e-3 * np.cross(h, B) / (B @ B), B) - motor
    turned = 0.5 * np.array([-u @ w, *(s * w + np.cross(u, w))])
    spun = (torque - np.cross(w, (J - spin) * w + h)) / (J - spin)
    return np.concatenate([v, -mu * r / np.linalg.norm(r) ** 3, turned, spun, motor])


a, tilt = 6.9e6, np.radians(97.5)
speed = np.sqrt(mu / a)
start = [a, 0, 0, 0, speed * np.cos(tilt), speed * np.sin(tilt), 1, 0, 0, 0, 0, 0, 0, 0.02, -0.01, 0.015]
found = solve_ivp(rates, (0, 6000), start, method="DOP853", rtol=1e-9, atol=1e-12, t_eval=[0, 1500, 6000])
h = 1e3 * np.linalg.norm(found.y[13:], axis=0)
print(f"wheels: {h[0]:.2f} mN m s, after 25 minutes {h[1]:.3f}, after 100 {h[2]:.4f}")
