"""Kernels of two-body orbits: propagation, elements and anomalies, from tuples of position and velocity.

``I`` is -1 for retrograde elements, else 1; the rest of the legend is in the docstring of the package.
"""

from __future__ import annotations

from math import atan2, copysign, cos, floor, hypot, inf, nan, sin, sqrt

from polhode.algebra.kepler import (
    TWO_PI,
    TWO_PI_TAIL,
    anomaly,
    cross_exact,
    energy_constant,
    guess_around,
    guess_ellipse,
    kepler_motion,
    period_of,
    two_dot,
    universal,
    whole_turns,
)
from polhode.algebra.so3 import axpy, cross, dot, scale
from polhode.kernel.jit import helper, inlined
from polhode.kernel.simd import exponent_and_fraction, two_to

STRAIGHT = 1e-13
"""Ratio of periapsis distance to distance below which an orbit counts as rectilinear: its elements have no digits."""


@helper
def propagated(r, v, t, mu):
    """Position, velocity and status after the time t.

    Lengths are scaled by 2^k and times by 2^j to prevent overflow, which changes no digit.
    """
    k = exponent_and_fraction(abs(r[0]) + abs(r[1]) + abs(r[2]))[0]
    j = float(floor(0.5 * (3.0 * k - exponent_and_fraction(mu)[0])))
    long, fast = two_to(k), two_to(k - j)
    status, r, v = kepler_motion(
        mu / (long * fast * fast), 1.0, scale(1.0 / long, r), scale(1.0 / fast, v), t * two_to(-j)
    )
    r, v = scale(long, r), scale(fast, v)
    return r[0], r[1], r[2], v[0], v[1], v[2], float(status)


@helper
def energy_and_period(r, v, mu):
    """Specific energy, and the period or infinity."""
    b, db, _, _, _, _ = energy_constant(mu, two_dot(r, r), two_dot(v, v))
    return -0.5 * b, period_of(mu, b, db)[0] if b > 0.0 else inf


@inlined
def shape(mu, r, v):
    """Angular momentum, its length, |r|, p, e cos nu, e sin nu, e."""
    h = cross_exact(r, v)
    H, d = sqrt(dot(h, h)), sqrt(dot(r, r))
    p = H * (H / mu)
    x, y = p / d - 1.0, H / mu * (dot(r, v) / d)
    return h, H, d, p, x, y, hypot(x, y)


@helper
def eccentricity_of(r, v, mu):
    """Eccentricity vector."""
    return axpy(-1.0 / sqrt(dot(r, r)), r, scale(1.0 / mu, cross(v, cross_exact(r, v))))


@helper
def apsides_of(r, v, mu):
    """Smallest and largest distance."""
    _, _, _, p, _, _, e = shape(mu, r, v)
    b = energy_constant(mu, two_dot(r, r), two_dot(v, v))[0]
    return p / (1.0 + e), (1.0 + e) * mu / b if b > 0.0 else inf


@helper
def classical(r, v, mu):
    """Classical elements; p is nan where the orbit is rectilinear."""
    h, H, d, p, x, y, e = shape(mu, r, v)
    if not p > STRAIGHT * (1.0 + e) * d:
        return nan, e, 0.0, 0.0, 0.0, 0.0
    level = hypot(h[0], h[1])
    c, s = (-h[1] / level, h[0] / level) if level > 0.0 else (1.0, 0.0)
    N = (c, s, 0.0)
    u = atan2(dot(r, cross(h, N)) / H, dot(r, N))
    nu = atan2(y, x) if e > 0.0 else u
    w = u - nu
    if w < 0.0:
        w = w + TWO_PI
    node = atan2(s, c)
    if node < 0.0:
        node = node + TWO_PI
    return p, e, atan2(level, h[2]), node % TWO_PI, w % TWO_PI, nu


@helper
def from_classical(elements, mu):
    """Position and velocity; nan beyond the asymptote."""
    p, e, slope, node, w, nu = elements
    ratio = 1.0 + e * cos(nu)
    if not ratio > 0.0:
        return nan, nan, nan, nan, nan, nan
    c, s = cos(node), sin(node)
    N, M = (c, s, 0.0), (-s * cos(slope), c * cos(slope), sin(slope))
    x, y = cos(w + nu), sin(w + nu)
    r = scale(p / ratio, axpy(x, N, scale(y, M)))
    v = scale(sqrt(mu / p), axpy(-(y + e * sin(w)), N, scale(x + e * cos(w), M)))
    return r[0], r[1], r[2], v[0], v[1], v[2]


@inlined
def frame(h, k, I):
    """The equinoctial axes in the plane of the orbit [broucke1972]."""
    s = 1.0 / (1.0 + h * h + k * k)
    return (
        (s * (1.0 - k * k + h * h), s * 2.0 * k * h, -s * 2.0 * k * I),
        (s * 2.0 * k * h * I, s * (1.0 + k * k - h * h) * I, s * 2.0 * h),
    )


@inlined
def modified_signed(mu, r, v, I):
    """Modified elements, L from -pi to pi; p is nan where the orbit is rectilinear, h where they are singular."""
    w, H, d, p, _, _, e = shape(mu, r, v)
    if not p > STRAIGHT * (1.0 + e) * d:
        return nan, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y, z = w[0] / H, w[1] / H, I * w[2] / H
    z = 1.0 + z if z > 0.0 else (x * x + y * y) / (1.0 - z)
    if not z > 0.0:
        return p, 0.0, 0.0, nan, nan, 0.0
    h, k = -y / z, x / z
    F, G = frame(h, k, I)
    eccentric = axpy(-1.0 / d, r, scale(1.0 / mu, cross(v, w)))
    return p, dot(eccentric, F), dot(eccentric, G), h, k, atan2(dot(r, G), dot(r, F))


@helper
def modified(r, v, mu, I):
    """Modified equinoctial elements."""
    p, f, g, h, k, L = modified_signed(mu, r, v, I)
    return p, f, g, h, k, L if L >= 0.0 else (L + TWO_PI) % TWO_PI


@helper
def from_modified(elements, mu, I):
    """Position and velocity; nan beyond the asymptote [walker1985]."""
    p, f, g, h, k, L = elements
    c, s = cos(L), sin(L)
    ratio = 1.0 + f * c + g * s
    if not ratio > 0.0:
        return nan, nan, nan, nan, nan, nan
    F, G = frame(h, k, I)
    r, v = axpy(c, F, scale(s, G)), axpy(f + c, G, scale(-(g + s), F))
    r, v = scale(p / ratio, r), scale(sqrt(mu / p), v)
    return r[0], r[1], r[2], v[0], v[1], v[2]


@helper
def equinoctial(r, v, mu, I):
    """Equinoctial elements; a is infinite where the orbit is open.

    Uses nu - E = 2 atan2(e sin E, 1 + sqrt(1 - e^2) - e cos E), which has no singularity.
    """
    p, f, g, h, k, L = modified_signed(mu, r, v, I)
    b, _, d, _, _, _ = energy_constant(mu, two_dot(r, r), two_dot(v, v))
    if not b > 0.0:
        return inf, g, f, k, h, 0.0
    x, y = 1.0 - d * b / mu, dot(r, v) * sqrt(b) / mu
    longitude = L - 2.0 * atan2(y, 1.0 + sqrt(p * b / mu) - x) - y
    longitude = longitude % TWO_PI
    return (mu / b if p > 0.0 else nan), g, f, k, h, longitude if longitude < TWO_PI else 0.0


@helper
def from_equinoctial(elements, mu, I):
    """Position and velocity from equinoctial elements."""
    size, g, f, k, h, longitude = elements
    e, w = hypot(f, g), atan2(g, f)
    E = eccentric_anomaly(longitude - w, e)
    x, y, z = e * cos(E), e * sin(E), (1.0 - e) * (1.0 + e)
    L = longitude + y + 2.0 * atan2(y, 1.0 + sqrt(z) - x)
    return from_modified((size * z, f, g, h, k, L), mu, I)


@helper
def eccentric_anomaly(M, e):
    """Solve Kepler's equation E - e sin E = M for E, 0 <= e < 1, any M."""
    n, M = whole_turns(M, TWO_PI, TWO_PI_TAIL)
    t = abs(M)
    if t == 0.0 or e == 0.0:
        return n * TWO_PI + M
    s = guess_ellipse(1.0, 1.0, 0.0, e, t) if e < 0.95 else guess_around(1.0, 1.0, 1.0 - e, e, t)
    s = min(s, t / (1.0 - e))
    G1, G2 = anomaly(1.0, 1.0 - e, 0.0, e, t, s)
    E = G1 if G2 < 1e-18 else 2.0 * atan2(G2, G1)  # sine and versine; the latter may have underflowed
    return n * TWO_PI + copysign(E, M)


@helper
def hyperbolic_sine(M, e):
    """Hyperbolic sine of the hyperbolic anomaly, e sinh H - H = M."""
    t = abs(M)
    if t == 0.0:
        return 0.0
    G1, _ = anomaly(-1.0, e - 1.0, 0.0, e, t, guess_around(1.0, -1.0, e - 1.0, e, t))
    return copysign(G1, M)


@helper
def mean_anomaly(x, e, b):
    """Mean anomaly from the eccentric (b = 1) or hyperbolic anomaly x (b = -1), without cancellation near e = 1."""
    n = 0.0
    if b > 0.0:
        n, x = whole_turns(x, TWO_PI, TWO_PI_TAIL)
    _, _, G3 = universal(b, x)
    return n * TWO_PI + (b * (1.0 - e) * x + e * G3)
