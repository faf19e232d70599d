"""Indicators of chaos by variational equations in NumPy, integrated by SciPy's DOP853: the oracle of ``polhode.chaos``.

    python tests/oracles/chaos.py            # 6 minutes: computes ``MEASURED`` once more, and REBOUND's if installed

Nothing of polhode is imported. A flow is a pair of functions of time and state, its rates and their Jacobian, and

    dv/dt = J(t, y) v,   lambda = lim log |v| / t,    MEGNO Y(t) = (2/t) int s d(log |v|)/ds ds,    <Y> = (1/t) int Y ds

with the Euclidean length of the flow's own numbers; limits do not depend on it. Y tends to 2 where the motion is
regular and grows as lambda t / 2 for its mean where it is not [cincotta2000].

============== ============================================================= =======================================
flow           numbers                                                       literature
============== ============================================================= =======================================
henon_heiles   x, y, px, py                                                  Skokos, Lect. Notes Phys. 790 (2010) 63
hyperion       angle, rate; the orbit is given, time 1 is 1/(2 pi) of it     Wisdom, Peale & Mignard, Icarus 58 (1984)
                                                                             137: e = 0.1, omega0 = 0.89
rigid          body angular momentum m, and the space axes x and z in the    heavy tops, gravity gradient on an orbit
               body
planets        positions, velocities                                         REBOUND (Rein & Liu 2012)
============== ============================================================= =======================================
"""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy.integrate import solve_ivp

TOLERANCE = 1e-11


# ------------------------------------------------------------------ indicators
def variational(flow, t0, t1, y, vectors, more=()):
    """State and tangent vectors (n, k) at t1. ``more`` is a pair of integrals A, B with A' = t (v . J v)/(v . v) of the
    first vector and B' = 2 A / t."""
    rates, jacobian = flow
    n, k = vectors.shape

    def slope(t, z):
        y, V = z[:n], z[n : n + n * k].reshape(n, k)
        dV = jacobian(t, y) @ V
        parts = [rates(t, y), dV.ravel()]
        if len(more):
            v, dv = V[:, 0], dV[:, 0]
            parts.append([t * (v @ dv) / (v @ v), 2.0 * z[-2] / t if t > 0.0 else 0.0])
        return np.concatenate(parts)

    start = np.concatenate([y, vectors.ravel(), more])
    z = solve_ivp(slope, (t0, t1), start, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:, -1]
    return z[:n], z[n : n + n * k].reshape(n, k), z[n + n * k :]


def lyapunov(flow, y, t_end, pieces, vectors=None, seed=1, skip=0):
    """Lyapunov exponents, falling: as many as ``vectors`` (default: all).

    Vectors are orthonormalised after each of ``pieces`` parts of the time. The first ``skip`` of these do not count: in
    them the vectors turn to where growth is fastest.
    """
    y = np.asarray(y, dtype=float)
    V = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(y), vectors or len(y))))[0]
    total, h = np.zeros(V.shape[1]), t_end / pieces
    for k in range(pieces):
        y, V, _ = variational(flow, k * h, (k + 1) * h, y, V)
        V, R = np.linalg.qr(V)
        if k >= skip:
            total += np.log(np.abs(np.diag(R)))
    return total / (h * (pieces - skip))


def megno(flow, y, t_end, pieces, vector=None, seed=1):
    """Y and its mean at t_end."""
    y = np.asarray(y, dtype=float)
    v = np.random.default_rng(seed).normal(size=len(y)) if vector is None else np.asarray(vector, dtype=float)
    V, more, h = (v / np.linalg.norm(v))[:, None], np.zeros(2), t_end / pieces
    for k in range(pieces):
        y, V, more = variational(flow, k * h, (k + 1) * h, y, V, more)
        V /= np.linalg.norm(V)
    return 2.0 * more[0] / t_end, more[1] / t_end


# ------------------------------------------------------------------ flows
def henon_heiles():
    """H = (px^2 + py^2 + x^2 + y^2)/2 + x^2 y - y^3/3."""

    def rates(t, z):
        x, y, p, q = z
        return np.array([p, q, -x - 2 * x * y, -y - x * x + y * y])

    def jacobian(t, z):
        x, y, _, _ = z
        return np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-1 - 2 * y, -2 * x, 0, 0], [-2 * x, -1 + 2 * y, 0, 0]])

    return rates, jacobian


def on_section(energy, y):
    """x = 0, this y, py = 0 and px > 0 of this energy."""
    return np.array([0.0, y, np.sqrt(2 * energy - y * y + 2 * y**3 / 3), 0.0])


def conic(t, e):
    """Position in the plane of the orbit of semi-major axis 1 and mean motion 1, t after the pericentre."""
    E = t + e * np.sin(t)
    for _ in range(8):
        E -= (E - e * np.sin(E) - t) / (1 - e * np.cos(E))
    return np.cos(E) - e, np.sqrt(1 - e * e) * np.sin(E)


def hyperion(e=0.1, omega0=0.89):
    """theta'' = -(omega0^2 / 2 r^3) sin 2 (theta - f), omega0^2 = 3 (B - A)/C in the plane of the orbit."""

    def force(t):
        x, y = conic(t, e)
        return omega0**2 / 2 / np.hypot(x, y) ** 3, np.arctan2(y, x)

    def rates(t, z):
        k, f = force(t)
        return np.array([z[1], -k * np.sin(2 * (z[0] - f))])

    def jacobian(t, z):
        k, f = force(t)
        return np.array([[0.0, 1.0], [-2 * k * np.cos(2 * (z[0] - f)), 0.0]])

    return rates, jacobian


def hat(a):
    """Matrix of b -> a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rigid(moments, torque):
    """m' = m x w + T, x' = x x w, z' = z x w with w = m/I; ``torque(t, x, z)`` gives T, dT/dx, dT/dz."""
    I = np.asarray(moments, dtype=float)

    def rates(t, s):
        m, x, z = s.reshape(3, 3)
        w = m / I
        return np.concatenate([np.cross(m, w) + torque(t, x, z)[0], np.cross(x, w), np.cross(z, w)])

    def jacobian(t, s):
        m, x, z = s.reshape(3, 3)
        w, J = m / I, np.zeros((9, 9))
        _, by_x, by_z = torque(t, x, z)
        J[:3, :3], J[:3, 3:6], J[:3, 6:] = hat(m) / I - hat(w), by_x, by_z
        J[3:6, :3], J[3:6, 3:6] = hat(x) / I, -hat(w)
        J[6:, :3], J[6:, 6:] = hat(z) / I, -hat(w)
        return J

    return rates, jacobian


def heavy_top(moments, centre, weight):
    """Torque -weight c x z."""
    slope = -weight * hat(np.asarray(centre, dtype=float))
    return rigid(moments, lambda t, x, z: (slope @ z, np.zeros((3, 3)), slope))


def gravity_gradient_on_orbit(moments, e):
    """Torque 3 / r^3 n x I n on an orbit of semi-major axis 1 and mean motion 1 about mu = 1, in the plane x, y."""
    I = np.asarray(moments, dtype=float)

    def torque(t, x, z):
        a, b = conic(t, e)
        y, r = np.cross(z, x), np.hypot(a, b)
        n, k = (a * x + b * y) / r, 3 / r**3
        by_n = k * (hat(n) * I - hat(I * n))
        return k * np.cross(n, I * n), by_n @ (a * np.eye(3) + b * hat(z)) / r, by_n @ (-b * hat(x)) / r

    return rigid(moments, torque)


def rigid_start(quaternion, m):
    """Numbers of ``rigid`` from attitude (w, x, y, z), body to space, and body angular momentum."""
    w, x, y, z = np.asarray(quaternion, dtype=float)
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    return np.concatenate([m, R[0], R[2]])


def planets(mu):
    """Points of gravity parameters mu that attract each other."""
    mu = np.asarray(mu, dtype=float)
    n = len(mu)

    def pairs(r):
        d = r[None] - r[:, None]
        square = (d * d).sum(-1) + np.eye(n)
        return d, square

    def rates(t, z):
        r, v = z.reshape(2, n, 3)
        d, square = pairs(r)
        a = (mu[None, :, None] * d / square[..., None] ** 1.5).sum(1)
        return np.concatenate([v.ravel(), a.ravel()])

    def jacobian(t, z):
        d, square = pairs(z[: 3 * n].reshape(n, 3))
        tide = mu[None, :, None, None] * (
            np.eye(3) / square[..., None, None] ** 1.5
            - 3 * d[..., :, None] * d[..., None, :] / square[..., None, None] ** 2.5
        )
        tide[np.arange(n), np.arange(n)] = 0.0
        by_r = tide.transpose(0, 2, 1, 3).copy()
        for i in range(n):
            by_r[i, :, i] -= tide[i].sum(0)
        J = np.zeros((6 * n, 6 * n))
        J[: 3 * n, 3 * n :] = np.eye(3 * n)
        J[3 * n :, : 3 * n] = by_r.reshape(3 * n, 3 * n)
        return J

    return rates, jacobian


# ------------------------------------------------------------------ cases
DAY = 0.01720209895  # Gauss's constant: au^1.5 / day / sqrt(solar mass)
OUTER = (
    (1.00000597682, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    (9.54786104043e-4, (-3.5023653, -3.8169847, -1.5507963), (0.00565429, -0.00412490, -0.00190589)),
    (2.85583733151e-4, (9.0755314, -3.0458353, -1.6483708), (0.00168318, 0.00483525, 0.00192462)),
    (4.37273164546e-5, (8.3101420, -16.2901086, -7.2521278), (0.00354178, 0.00137102, 0.00055029)),
    (5.17759138449e-5, (11.4707666, -25.7294829, -10.8169456), (0.00288930, 0.00114527, 0.00039677)),
    (7.69230769231e-9, (-15.5387357, -25.2225594, -3.1902382), (0.00276725, -0.00170702, -0.00136504)),
)
"""Sun and outer planets with Pluto: solar masses, au, au/day [hairer2006, I.2.4]."""


def outer():
    """Flow and start of the outer planets, in days."""
    masses, r, v = (np.array(column) for column in zip(*OUTER, strict=True))
    return planets(DAY**2 * masses), np.concatenate([r.ravel(), v.ravel()])


def rebound_megno(t_end, step=50.0, seed=1):
    """Mean MEGNO and Lyapunov exponent (1/day) of the outer planets by REBOUND's WHFast."""
    import rebound

    simulation = rebound.Simulation()
    simulation.G = DAY**2
    for mass, (x, y, z), (u, v, w) in OUTER:
        simulation.add(m=mass, x=x, y=y, z=z, vx=u, vy=v, vz=w)
    simulation.move_to_com()
    simulation.integrator, simulation.dt = "whfast", step
    simulation.init_megno(seed=seed)
    simulation.integrate(t_end)
    return simulation.megno(), simulation.lyapunov()


GENERAL_TOP = {"moments": (1.0, 1.5, 2.2), "centre": (0.1, 0.2, 0.9), "weight": 1.0}
LAGRANGE_TOP = {"moments": (1.0, 1.0, 0.6), "centre": (0.0, 0.0, 0.9), "weight": 1.0}
KOVALEVSKAYA_TOP = {"moments": (1.0, 1.0, 0.5), "centre": (0.7, 0.0, 0.0), "weight": 1.0}
TOP_START = ((0.7, 0.1, -0.5, 0.5), (0.6, 1.0, 0.5))
HYPERION_MOMENTS = (0.607, 0.871, 1.0)
"""(B - A)/C = 0.264, so omega0 = 0.89."""


MEASURED = {
    "henon_heiles, y = -0.016": (0.052, 0.000, 0.000, -0.052),
    "henon_heiles, y = 0.55": (0.001, 0.000, 0.000, -0.001),
    "henon_heiles, y = 0.55, MEGNO": (1.86, 2.07),
    "hyperion, theta = 1.5, rate 1": (0.116, -0.116),
    "hyperion, theta = 0, rate 2.9, MEGNO": (2.03, 1.99),
    "general top": (0.110, 0.003, 0.003, 0.000, 0.000, -0.001),
    "Lagrange's top, MEGNO": (2.96, 1.95),
    "Kovalevskaya's top, MEGNO": (1.68, 1.94),
    "Hyperion tumbling": (0.107, 0.043, 0.016, 0.000, 0.000, 0.000),
    "outer planets, 20,000 years, MEGNO": (2.06, 2.01),
}
"""Exponents, or Y and its mean, at the ends of ``measured``. They have converged to about a tenth: the exponent of the
first is 0.047 by Skokos. The largest of Hyperion, per radian of its mean motion, are 0.12 in the plane and 0.11 where
it tumbles about all axes, of which 0.043 is the second. Mean MEGNO of the planets by REBOUND 5.2.2 (WHFast, steps of
50 days): 2.07 to 2.20 after 20,000 years from three directions, 2.04 after 200,000."""


def measured():
    """The cases of ``MEASURED``, computed."""
    hh, spin = henon_heiles(), hyperion()
    top = rigid_start(*TOP_START)
    flow, start = outer()
    found = {
        "henon_heiles, y = -0.016": lyapunov(hh, on_section(0.125, -0.016), 20000.0, 2000, 4),
        "henon_heiles, y = 0.55": lyapunov(hh, on_section(0.125, 0.55), 5000.0, 500, 4),
        "henon_heiles, y = 0.55, MEGNO": megno(hh, on_section(0.125, 0.55), 2000.0, 200),
        "hyperion, theta = 1.5, rate 1": lyapunov(spin, (1.5, 1.0), 4000.0 * np.pi, 4000, 2),
        "hyperion, theta = 0, rate 2.9, MEGNO": megno(spin, (0.0, 2.9), 400.0 * np.pi, 400),
        "general top": lyapunov(heavy_top(**GENERAL_TOP), top, 2000.0, 1000, 6),
        "Lagrange's top, MEGNO": megno(heavy_top(**LAGRANGE_TOP), top, 1000.0, 100),
        "Kovalevskaya's top, MEGNO": megno(heavy_top(**KOVALEVSKAYA_TOP), top, 1000.0, 100),
        "Hyperion tumbling": lyapunov(
            gravity_gradient_on_orbit(HYPERION_MOMENTS, 0.1), rigid_start((0.7, 0.1, -0.5, 0.5), (0.1, 0.2, 1.0)),
            1000.0 * np.pi, 1000, 6,
        ),
        "outer planets, 20,000 years, MEGNO": megno(flow, start, 20000 * 365.25, 200),
    }  # fmt: skip
    if importlib.util.find_spec("rebound"):
        found["outer planets, 20,000 years, MEGNO by REBOUND"] = rebound_megno(20000 * 365.25)
    return found


if __name__ == "__main__":
    for name, value in measured().items():
        print(f"{name}: {np.array2string(np.asarray(value), precision=4)}", flush=True)
