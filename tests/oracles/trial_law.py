"""The loads of polhode's trial problem on one body, written again in numpy with rotation matrices."""

import numpy as np

from as_printed import exp

I = np.array([1.0, 1.6, 2.3])
MASS = 1.3
R0 = exp(np.array([0.4, -0.7, 0.3]))
PI0 = np.array([0.8, -0.5, 1.1])
U0, P0 = np.array([0.6, -0.4, 0.9]), np.array([0.3, 0.5, -0.2])


def torque(*terms):
    """T(t, R, Omega) in the body frame, of the terms "time", "potential", "rate"."""

    def T(t, R, w):
        s, u = R[0], R[2]
        total = np.zeros(3)
        if "potential" in terms:
            total += np.cross(u, [0.6, -0.4, 1.4]) + np.cross(s, np.array([1.0, -0.6, 0.8]) * s)
        if "time" in terms:
            total += [2 * np.cos(1.3 * t) * u[1], np.sin(2.1 * t) + 0.6 * s[2], -0.8 * np.cos(0.7 * t) * u[0]]
        if "rate" in terms:
            total += [0.4 * w[1] * w[2] - 0.6 * w[0], 0.8 * w[0] - 0.4 * w[1], 0.6 * w[1] - 0.2 * w[2] ** 2]
        return total

    return T


def force(*terms):
    """f(t, u, v) in space, of the same terms."""

    def f(t, u, v):
        total = np.zeros(3)
        if "potential" in terms:
            total -= np.array([2.0, 2.8, 1.6]) * u + (u @ u) * u
        if "time" in terms:
            total += [0.8 * np.cos(1.7 * t), -0.6 * np.sin(0.9 * t) * u[0], 0.4 * np.sin(2.3 * t)]
        if "rate" in terms:
            total += np.cross(v, [0.6, -1.0, 0.4]) - (0.4 + 0.2 * (v @ v)) * v
        return total

    return f
