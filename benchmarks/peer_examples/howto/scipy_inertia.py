"""Inertia from gyro data while a wheel spins up, with SciPy: solve_ivp and least_squares."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

rng, times = np.random.default_rng(1), np.arange(601) / 10
axis, spin = np.array([1, 2, 2]) / 3, 0.01


def gyro(x):
    J = np.diag(x[:3]) - spin * np.outer(axis, axis)  # without what the wheel adds about its axis
    inverse = np.linalg.inv(J)

    def rates(t, w):
        h = spin * axis @ x[3:] + 0.02 * t
        return inverse @ (-0.02 * axis - np.cross(w, J @ w + h * axis))

    return solve_ivp(rates, (0, 60), x[3:], method="DOP853", rtol=1e-10, atol=1e-12, t_eval=times).y.T


seen = gyro(np.array([1.0, 2.0, 2.5, 0.02, 0.1, 0.01])) + 1e-3 * rng.standard_normal((601, 3))
fit = least_squares(lambda x: (gyro(x) - seen).ravel() / 1e-3, [1.3, 1.8, 2.4, 0.02, 0.1, 0.01])
(one, two, three), sigma = fit.x[:3], np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
print(f"{one:.4f} {two:.4f} {three:.4f} kg m2, standard deviations {sigma[0]:.4f} {sigma[1]:.4f} {sigma[2]:.4f}")
