"""Rotations in 60 digits, written from definitions: the oracle of the laws. Shares nothing with polhode.

Matrices are mpmath matrices, vectors lists of three numbers, quaternions lists (w, x, y, z).
"""

import mpmath as mp
import numpy as np

DIGITS = 60
EPS = 2.0**-52


def precise(function):
    """Run a test or an oracle in 60 digits."""
    return mp.workdps(DIGITS)(function)


def vector(v):
    """The floats of v, exactly."""
    return [mp.mpf(float(x)) for x in v]


def length(v):
    """Euclidean length of a list."""
    return mp.sqrt(mp.fsum(x * x for x in v))


def cross_matrix(v):
    """Matrix of w -> v x w."""
    x, y, z = v
    return mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def power_series(A, coefficient):
    """Sum of coefficient(k) A^k, to all digits."""
    total, power, k = mp.zeros(3), mp.eye(3), 0
    while True:
        term = power * coefficient(k)
        total += term
        if k > 3 and mp.mnorm(term, 1) < mp.mpf(10) ** (-DIGITS) * mp.mnorm(total, 1):
            return total
        power, k = power * A, k + 1


def exp(v):
    """exp(hat v) by its power series."""
    return power_series(cross_matrix(v), lambda k: 1 / mp.factorial(k))


def cay(v):
    """cay(hat v) by its definition."""
    A = cross_matrix(v) / 2
    return (mp.eye(3) - A) ** -1 * (mp.eye(3) + A)


def dexp(v):
    """dexp_v by its defining series: the sum of hat(v)^k / (k + 1)!."""
    return power_series(cross_matrix(v), lambda k: 1 / mp.factorial(k + 1))


def tangent(E, v):
    """The tangent operator of the map E at v by central differences in 60 digits: d/dt E = hat(d_v v') E."""
    h = mp.mpf(10) ** -20
    columns = []
    for k in range(3):
        forward = [x + h * (j == k) for j, x in enumerate(v)]
        backward = [x - h * (j == k) for j, x in enumerate(v)]
        S = (E(forward) - E(backward)) / (2 * h) * E(v).T
        columns.append([S[2, 1], S[0, 2], S[1, 0]])
    return mp.matrix(columns).T


def about(axis, angle):
    """Rotation matrix about a coordinate axis named x, y or z."""
    c, s = mp.cos(angle), mp.sin(angle)
    return {
        "x": mp.matrix([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": mp.matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def euler(angles, sequence):
    """Rotation matrix of Euler angles as a product of elementary rotations, named as SciPy names them."""
    turns = [about(axis, angle) for axis, angle in zip(sequence.lower(), angles, strict=True)]
    if sequence.islower():
        turns.reverse()
    return turns[0] * turns[1] * turns[2]


def matrix_of(q):
    """Rotation matrix of a quaternion of any norm, from q v q* written out."""
    w, x, y, z = (c / length(q) for c in q)
    return mp.matrix(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def angle_of(R):
    """Angle of a rotation matrix, accurate near 0 too."""
    S = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    return mp.atan2(length(S), R[0, 0] + R[1, 1] + R[2, 2] - 1)


def distance(computed, exact):
    """Largest difference of entries, as a float."""
    rows = np.asarray(computed, dtype=float)
    return float(max(abs(mp.mpf(float(rows[i, j])) - exact[i, j]) for i in range(3) for j in range(3)))


def largest(M):
    """Largest entry in absolute value, as a float."""
    return float(max(abs(x) for x in M))
