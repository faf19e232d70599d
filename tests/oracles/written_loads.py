"""Loads as they were written by hand, in plain Python of numbers of any kind (mpmath's too)."""

from polhode.surroundings.paths import place_at, velocity_at


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def axpy(s, a, b):
    return tuple(s * x + y for x, y in zip(a, b, strict=True))


def third_body_acceleration(m, s, r):
    """m (d/|d|^3 - s/|s|^3), d = s - r."""
    d = axpy(-1, r, s)
    far, near = dot(s, s) ** 0.5, dot(d, d) ** 0.5
    return tuple(m * (x / near**3 - y / far**3) for x, y in zip(d, s, strict=True))


def third_body_rate(m, s, ds, r):
    """Derivative of -m (1/|d| - 1/|s| - r . s/|s|^3) where the body moves at ds."""
    d = axpy(-1, r, s)
    far, near = dot(s, s) ** 0.5, dot(d, d) ** 0.5
    return m * (dot(d, ds) / near**3 - dot(s, ds) / far**3 + dot(r, ds) / far**3 - 3 * dot(r, s) * dot(s, ds) / far**5)


def light_rate(A, D, s, ds, r):
    """Derivative of A (D^2/|d| - D^2/|s|) or, without a distance D, of -A (|d| - |s|), where the Sun moves at ds."""
    d = axpy(-1, r, s)
    far, near = dot(s, s) ** 0.5, dot(d, d) ** 0.5
    if D:
        return -A * D * D * (dot(d, ds) / near**3 - dot(s, ds) / far**3)
    return -A * (dot(d, ds) / near - dot(s, ds) / far)


def gradient(mu, I, r, R):
    """Force (space) and torque (body) of the gravity gradient on a body of moments I, with R from body to space."""
    D, size = (I[0] - I[2], I[1] - I[2], 0), dot(r, r) ** 0.5
    n = tuple(sum(R[i][k] * r[i] for i in range(3)) / size for k in range(3))
    Dn = tuple(x * y for x, y in zip(D, n, strict=True))
    k = 3 * mu / (2 * size**3)
    F = tuple(-k / size * ((D[0] + D[1] - 5 * dot(n, Dn)) * x + 2 * y) for x, y in zip(n, Dn, strict=True))
    T = tuple(2 * k * (n[i - 2] * Dn[i - 1] - n[i - 1] * Dn[i - 2]) for i in range(3))
    return tuple(dot(row, F) for row in R), T


def at(numbers, t):
    """Place and velocity along a path with these numbers."""
    import numpy as np

    return place_at(np.array(numbers), 0, t), velocity_at(np.array(numbers), 0, t)
