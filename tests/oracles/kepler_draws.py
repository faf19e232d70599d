"""Two-body motions to try, and how far one is from the truth in units of what its data allow.

``draw`` takes conics of every kind, points anywhere on them and times from 1e-12 to 1e4 periods; ``fall`` points that
move straight, or almost, to or from the centre. ``excess`` divides an error by the change that relative changes of
2^-52 make, in mu, in the time, and in position and velocity in each direction, added up.
"""

from math import pi

import numpy as np

import mp_kepler as oracle
from polhode.algebra import orbits

EPS = 2.0**-52


def turned(rng, *vectors):
    """The vectors, turned together by a random rotation."""
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return [axes @ v for v in vectors]


def on_conic(e, anomaly, mu, q=1.0):
    """State in the xy-plane at a true anomaly."""
    p = q * (1.0 + e)
    r, s = p / (1.0 + e * np.cos(anomaly)), np.sqrt(mu / p)
    return r * np.array([np.cos(anomaly), np.sin(anomaly), 0.0]), s * np.array(
        [-np.sin(anomaly), e + np.cos(anomaly), 0]
    )


def pace(mu, r, v):
    """Period of an ellipse, and of other conics that of the ellipse with the opposite energy, or 2 pi sqrt(r^3/mu)."""
    d = np.linalg.norm(r)
    b = abs(2 * mu / d - v @ v)
    return 2 * pi * (mu / b**1.5 if b > 1e-14 * mu / d else np.sqrt(d**3 / mu))


def draw(rng):
    """A conic of any kind, a point on it anywhere, a time of any length and sign."""
    e = (
        rng.uniform(0, 1), 10 ** rng.uniform(-16, -1), 1 - 10 ** rng.uniform(-6, 0), 1.0, 1 + 10 ** rng.uniform(-6, 2)
    )[rng.integers(5)]  # fmt: skip
    mu = 10 ** rng.uniform(-3, 3)
    if e < 1 and rng.random() < 0.5:
        E = rng.uniform(-pi, pi)
        anomaly = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    else:
        far = np.arccos(-1 / e) if e >= 1 else pi
        anomaly = far * rng.choice([-1, 1]) * (1 - 10 ** rng.uniform(-5, 0))
    r, v = turned(rng, *on_conic(e, anomaly, mu))
    close = np.sqrt(1 / mu)
    times = (
        pace(mu, r, v) * 10 ** rng.uniform(-12, 4), pace(mu, r, v) * rng.uniform(0, 1), close * 10 ** rng.uniform(-2, 2)
    )  # fmt: skip
    return mu, r, v, rng.choice([-1, 1]) * times[rng.integers(3)]


def fall(rng):
    """A point that moves straight, or almost, to or from the centre, slowly or fast."""
    kind = rng.integers(4)
    mu, d = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-3, 3)
    speed = (
        np.sqrt(2 * mu / d) * (rng.uniform(0, 1), 1 - 10 ** rng.uniform(-12, -1), 1.0, 10 ** rng.uniform(0, 4))[kind]
    )
    lean = 0.0 if rng.random() < 0.3 else 10 ** rng.uniform(-15, -1)
    r, v = np.array([d, 0.0, 0.0]), speed * np.array([rng.choice([-1, 1]), lean, 0.0])
    if lean:
        r, v = turned(rng, r, v)
    t = d / speed * rng.uniform(0, 5) if kind == 3 else pace(mu, r, v) * rng.uniform(-2, 2)
    return mu, r, v, t


def excess(mu, r, v, t):
    """Errors of position and velocity over what the data allow, the larger one."""
    position, velocity = orbits.propagate(r, v, t, mu)
    of_r, of_v, x, y = oracle.sensitivity(mu, r, v, t)
    errors = (
        oracle.size(oracle.combine(1, oracle.vector(position), -1, x)) / oracle.size(x) / of_r,
        oracle.size(oracle.combine(1, oracle.vector(velocity), -1, y)) / oracle.size(y) / of_v,
    )
    return float(max(errors)) / EPS
