"""An orbit from range rates of three stations, with SciPy: solve_ivp and least_squares."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

mu, J2, R, rng = 3.986004415e14, 1.08263e-3, 6378136.3, np.random.default_rng(1)
stations, times = 6.4e6 * np.eye(3), np.arange(0, 7201, 60.0)


def rates(t, y):
    r, v = y[:3], y[3:]
    d = np.sqrt(r @ r)
    z = 5 * (r[2] / d) ** 2
    oblate = -1.5 * J2 * mu * R**2 / d**5 * np.array([r[0] * (1 - z), r[1] * (1 - z), r[2] * (3 - z)])
    return np.concatenate([v, -mu * r / d**3 + oblate])


def doppler(x):
    y = solve_ivp(rates, (0, 7200), scale * x, method="DOP853", rtol=1e-11, atol=1e-6, t_eval=times).y
    apart = y[:3].T - stations[:, None]
    return np.sum(apart * y[3:].T, axis=2) / np.linalg.norm(apart, axis=2)


scale = np.array([1e6] * 3 + [1e3] * 3)  # differences of x need numbers of one size
true = np.array([7, 0, 0, 0, 5.336, 5.5])
seen = doppler(true) + 1e-2 * np.array([rng.standard_normal(121) for _ in range(3)])
fit = least_squares(lambda x: (doppler(x) - seen).ravel() / 1e-2, [7.01, 0.01, 0, 0, 5.33, 5.51], jac="3-point")
std = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
off, sigma = 1e6 * np.linalg.norm(fit.x[:3] - true[:3]), 1e6 * np.linalg.norm(std[:3])
print(f"position off by {off:.2f} m, its standard deviation {sigma:.2f} m")
