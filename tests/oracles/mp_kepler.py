"""Two-body motion in many digits, from the classical equations of each conic.

The orbit is laid out in its own axes and Kepler's equation solved for the anomaly of its case: eccentric, hyperbolic,
or Barker's cubic. No universal variables.
"""

import mpmath as mp

DIGITS = 80
"""Near a parabola the classical equations lose up to half of them."""

SMALL = mp.mpf(10) ** -36
"""Relative energy below which an orbit is a parabola, and eccentricity below which it is a circle."""


def vector(a):
    """Numbers as mpmath sees them, exactly."""
    return [mp.mpf(float(x)) if not isinstance(x, mp.mpf) else x for x in a]


def dot(a, b):
    """Scalar product."""
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    """Vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def combine(x, a, y, b):
    """x a + y b."""
    return [x * i + y * j for i, j in zip(a, b, strict=True)]


def root(function, slope, low, high):
    """Zero of an increasing function: Newton's method kept in a bracket."""
    x = (low + high) / 2
    for _ in range(2000):
        f = function(x)
        if f == 0:
            return x
        low, high = (low, x) if f > 0 else (x, high)
        d = f / slope(x) if slope(x) else mp.inf
        y = x - d
        if not low < y < high:
            y = (low + high) / 2
        if abs(y - x) <= abs(y) * mp.sqrt(mp.eps) * mp.mpf(10) ** -10:  # what follows is its square
            return y
        x = y
    raise ArithmeticError("no zero found")


def eccentric(M, e):
    """Eccentric anomaly of a mean anomaly, in the same turn."""
    turn = mp.floor(M / (2 * mp.pi) + mp.mpf(1) / 2)
    M = M - 2 * mp.pi * turn
    if M == 0:
        return 2 * mp.pi * turn
    high = mp.pi * (1 + mp.eps * 8)
    if abs(M) < 1 - e:
        high = min(high, abs(M) / (1 - e) * (1 + mp.eps * 8))
    E = root(lambda x: x - e * mp.sin(x) - abs(M), lambda x: 1 - e * mp.cos(x), mp.mpf(0), high)
    return mp.sign(M) * E + 2 * mp.pi * turn


def hyperbolic(N, e):
    """Hyperbolic anomaly of a mean anomaly."""
    high = mp.asinh(abs(N) / (e - 1)) if e > 1 else mp.mpf(1)
    high = min(high, mp.mpf(10) + mp.cbrt(6 * abs(N)))
    H = root(lambda x: e * mp.sinh(x) - x - abs(N), lambda x: e * mp.cosh(x) - 1, mp.mpf(0), high * (1 + mp.eps * 8))
    return mp.sign(N) * H


def propagate(mu, r, v, t, digits=DIGITS):
    """Position and velocity at the time t, lists of mpf."""
    with mp.workdps(digits):
        mu, t = (x if isinstance(x, mp.mpf) else mp.mpf(float(x)) for x in (mu, t))
        r, v = vector(r), vector(v)
        d = mp.sqrt(dot(r, r))
        energy2 = dot(v, v) - 2 * mu / d  # twice the specific energy
        h = cross(r, v)
        hh = dot(h, h)
        k = combine(1 / mu, cross(v, h), -1 / d, r)
        e = mp.sqrt(dot(k, k))
        if e < SMALL:  # a circle
            w = mp.sqrt(mu / d**3) * t
            return (
                combine(mp.cos(w), r, mp.sin(w) * d / mp.sqrt(mu / d), v),
                combine(mp.cos(w), v, -mp.sin(w) * mp.sqrt(mu / d) / d, r),
            )
        P = [x / e for x in k]
        Q = cross(h, P)  # of length |h|
        if abs(energy2) < SMALL * mu / d:
            p = hh / mu
            D = dot(r, v) / mp.sqrt(mu)
            time = (p * D + D**3 / 3) / (2 * mp.sqrt(mu)) + t
            B = 3 * time * mp.sqrt(mu)
            y = mp.cbrt(abs(B) + mp.sqrt(B * B + p**3))
            D = mp.sign(B) * (y - p / y)
            R = (p + D * D) / 2
            X, Y = (p - D * D) / 2, D / mp.sqrt(mu)
            VX, VY = -mp.sqrt(mu) * D / R, 1 / R
        elif energy2 < 0:
            a = -mu / energy2
            n = mp.sqrt(mu / a**3)
            x, y = 1 - d / a, dot(r, v) / mp.sqrt(mu * a)
            E = mp.atan2(y, x)
            E = eccentric(E - e * mp.sin(E) + n * t, e)
            R = a * (1 - e * mp.cos(E))
            X, Y = a * (mp.cos(E) - e), mp.sin(E) / n / a
            VX, VY = -a * a * n / R * mp.sin(E), mp.cos(E) / R
        else:
            a = mu / energy2
            n = mp.sqrt(mu / a**3)
            H = mp.asinh(dot(r, v) / mp.sqrt(mu * a) / e)
            H = hyperbolic(e * mp.sinh(H) - H + n * t, e)
            R = a * (e * mp.cosh(H) - 1)
            X, Y = a * (e - mp.cosh(H)), mp.sinh(H) / n / a
            VX, VY = -a * a * n / R * mp.sinh(H), mp.cosh(H) / R
        return combine(X, P, Y, Q), combine(VX, P, VY, Q)


def size(a):
    """Length of a vector."""
    return mp.sqrt(dot(a, a))


def sensitivity(mu, r, v, t, digits=DIGITS):
    """What relative changes of one part in the data change, relative to |r1| and |v1|: the condition numbers.

    The changes are those of mu, of t, of r and v in each direction by their lengths, each alone; their effects are
    added up.
    """
    with mp.workdps(digits):
        mu, t, r, v = mp.mpf(float(mu)), mp.mpf(float(t)), vector(r), vector(v)
        small = mp.mpf(10) ** -18
        r1, v1 = propagate(mu, r, v, t, digits)
        changed = [(mu * (1 + small), r, v, t), (mu, r, v, t * (1 + small))]
        for k in range(3):
            step = [mp.mpf(j == k) for j in range(3)]
            changed.append((mu, combine(1, r, small * size(r), step), v, t))
            changed.append((mu, r, combine(1, v, small * size(v), step), t))
        of_r = of_v = mp.mpf(0)
        for data in changed:
            x, y = propagate(*data, digits)
            of_r += size(combine(1, x, -1, r1)) / small
            of_v += size(combine(1, y, -1, v1)) / small
        return of_r / size(r1), of_v / size(v1), r1, v1
