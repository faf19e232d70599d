"""The parameter updates whose operations are counted, as formulas for any kind of number.

Each takes the elementary functions ``m`` (see ``counting``), the three old parameters (rotation vector ``v`` or Cardan
angles ``a``, R = R_x(a1) R_y(a2) R_z(a3), sequence XYZ) and the incremental rotation vector ``w`` in the body frame,
and returns the new parameters. Subexpressions used twice are computed once in all of them.

The paper takes the conversions from matrix or quaternion to parameters from textbooks it cites; here they are the usual
formulas: for the vector the arc cosine of half of (trace - 1), or of the scalar part, and for the angles arc sines and
arc tangents of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Numbers = tuple[Any, ...]
Update = Callable[[Any, Numbers, Numbers], Numbers]


# ------------------------------------------------------------------ vectors, matrices (9 numbers in rows), quaternions
def dot(a: Numbers, b: Numbers) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Numbers, b: Numbers) -> Numbers:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def scale(s: Any, a: Numbers) -> Numbers:
    return tuple(s * x for x in a)


def add(a: Numbers, b: Numbers) -> Numbers:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def column(a: Numbers, k: int) -> Numbers:
    return (a[k], a[k + 3], a[k + 6])


def times(a: Numbers, b: Numbers) -> Numbers:
    """Product of two matrices."""
    return tuple(dot(a[i : i + 3], column(b, k)) for i in (0, 3, 6) for k in range(3))


def multiply(a: Numbers, b: Numbers) -> Numbers:
    """Product of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


# ------------------------------------------------------------------ the coordinate maps
def rodrigues(a: Any, b: Any, c: Any, w: Numbers) -> Numbers:
    """The matrix c I + a hat(w) + b w w^T, (9,) by rows."""
    x, y, z = scale(a, w)
    u, v, t = scale(b, w)
    xy, xz, yz = u * w[1], u * w[2], v * w[2]
    return (c + u * w[0], xy - z, xz + y, xy + z, c + v * w[1], yz - x, xz - y, yz + x, c + t * w[2])


def exp_matrix(m: Any, w: Numbers) -> Numbers:
    n = dot(w, w)
    p = m.sqrt(n)
    c = m.cos(p)
    return rodrigues(m.ratio(m.sin(p), p, 1.0), m.ratio(1.0 - c, n, 0.5), c, w)  # [holzinger2021, eq. 34]


def cay_matrix(m: Any, w: Numbers) -> Numbers:
    d = 4.0 / (4.0 + dot(w, w))
    return rodrigues(d, 0.5 * d, 2.0 * d - 1.0, w)


def exp_quaternion(m: Any, w: Numbers) -> Numbers:
    p = m.sqrt(dot(w, w))
    half = 0.5 * p
    return (m.cos(half), *scale(m.ratio(m.sin(half), p, 0.5), w))


def cay_quaternion(m: Any, w: Numbers) -> Numbers:
    k = 1.0 / m.sqrt(4.0 + dot(w, w))
    return (2.0 * k, *scale(k, w))


# ------------------------------------------------------------------ rotation vector
def vector_as_printed(m: Any, v: Numbers, w: Numbers) -> Numbers:
    """The paper's update, without its special case of a full turn."""
    phi0, p = m.sqrt(dot(v, v)), m.sqrt(dot(w, w))
    n0 = tuple(m.ratio(x, phi0, 0.0) for x in v)  # [holzinger2021, eq. 12]
    half0, half = 0.5 * phi0, 0.5 * p
    c0, s0, c, k = m.cos(half0), m.sin(half0), m.cos(half), m.ratio(m.sin(half), p, 0.5)
    phi = 2.0 * m.acos(c0 * c - dot(n0, w) * s0 * k)  # [holzinger2021, eq. 23]
    s = m.sin(0.5 * phi)
    turned = add(scale(c0, w), scale(s0, cross(n0, w)))
    n = add(scale(m.ratio(s0 * c, s, 0.0), n0), scale(m.ratio(k, s, 0.0), turned))  # [holzinger2021, eq. 25]
    return scale(phi, n)  # [holzinger2021, eq. 26]


def vector_of_matrix(m: Any, R: Numbers) -> Numbers:
    """Rotation vector of a matrix; its length is at most pi."""
    phi = m.acos(0.5 * (R[0] + R[4] + R[8] - 1.0))
    return scale(m.ratio(0.5 * phi, m.sin(phi), 0.5), (R[7] - R[5], R[2] - R[6], R[3] - R[1]))


def vector_of_quaternion(m: Any, q: Numbers) -> Numbers:
    half = m.acos(q[0])
    return scale(m.ratio(2.0 * half, m.sin(half), 2.0), q[1:])


def vector_of_half_angle(m: Any, q: Numbers) -> Numbers:
    """Rotation vector of a quaternion by an arc tangent, as in ``polhode.rotation.compose``."""
    s = m.sqrt(dot(q[1:], q[1:]))
    return scale(m.ratio(2.0 * m.atan2(s, q[0]), s, 2.0), q[1:])


def vector_by_matrix(turn: Any, m: Any, v: Numbers, w: Numbers) -> Numbers:
    """Standard Lie group method [holzinger2021, eq. 5]."""
    return vector_of_matrix(m, times(exp_matrix(m, v), turn(m, w)))


def vector_by_quaternion(back: Any, m: Any, v: Numbers, w: Numbers) -> Numbers:
    """Quaternion scheme: rotation vector to quaternion, product, and back."""
    return back(m, multiply(exp_quaternion(m, v), exp_quaternion(m, w)))


# ------------------------------------------------------------------ Cardan angles
def matrix_of_angles(c: Numbers, s: Numbers) -> Numbers:
    """Rotation matrix from cosines and sines of the three angles."""
    (c1, c2, c3), (s1, s2, s3) = c, s
    ss, cs = s1 * s2, c1 * s2
    return (
        c2 * c3, -(c2 * s3), s2,
        c1 * s3 + ss * c3, c1 * c3 - ss * s3, -(s1 * c2),
        s1 * s3 - cs * c3, s1 * c3 + cs * s3, c1 * c2,
    )  # fmt: skip


def five_entries(turn: Any, m: Any, c: Numbers, s: Numbers, w: Numbers) -> tuple[Numbers, Numbers]:
    """Multiples of the sines and cosines of the new angles, from five entries of the new matrix."""
    R0, F = matrix_of_angles(c, s), turn(m, w)
    R11, R12, R13 = (dot(R0[:3], column(F, k)) for k in range(3))
    R23, R33 = dot(R0[3:6], column(F, 2)), dot(R0[6:], column(F, 2))
    return (-R23, R13, -R12), (R33, m.sqrt(R11 * R11 + R12 * R12), R11)


def angles_as_printed(turn: Any, m: Any, a: Numbers, w: Numbers) -> Numbers:
    """The paper's update: the increment of each angle, from its sine and cosine."""
    c, s = tuple(map(m.cos, a)), tuple(map(m.sin, a))
    new = zip(c, s, *five_entries(turn, m, c, s, w), strict=True)
    increments = (m.atan2(c0 * y - s0 * x, c0 * x + s0 * y) for c0, s0, y, x in new)  # [holzinger2021, eqs. 43-45]
    return add(a, tuple(increments))


def angles_of_five_entries(turn: Any, m: Any, a: Numbers, w: Numbers) -> Numbers:
    """The new angles from the five entries directly, without increments."""
    sines, cosines = five_entries(turn, m, tuple(map(m.cos, a)), tuple(map(m.sin, a)), w)
    return tuple(map(m.atan2, sines, cosines))


def angles_of_matrix(m: Any, R: Numbers) -> Numbers:
    return (m.atan2(-R[5], R[8]), m.atan2(R[2], m.sqrt(R[0] * R[0] + R[1] * R[1])), m.atan2(-R[1], R[0]))


def quaternion_of_angles(m: Any, a: Numbers) -> Numbers:
    half = scale(0.5, a)
    (c1, c2, c3), (s1, s2, s3) = map(m.cos, half), map(m.sin, half)
    cc, cs, sc, ss = c1 * c2, c1 * s2, s1 * c2, s1 * s2
    return (cc * c3 - ss * s3, sc * c3 + cs * s3, cs * c3 - sc * s3, ss * c3 + cc * s3)


def angles_of_quaternion(m: Any, q: Numbers) -> Numbers:
    yy = q[2] * q[2]
    return (
        m.atan2(2.0 * (q[0] * q[1] - q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + yy)),
        m.asin(2.0 * (q[0] * q[2] + q[1] * q[3])),
        m.atan2(2.0 * (q[0] * q[3] - q[1] * q[2]), 1.0 - 2.0 * (q[3] * q[3] + yy)),
    )


def angles_of_half_angles(m: Any, q: Numbers) -> Numbers:
    """By half sum and half difference of the outer angles, as in ``polhode.rotation.euler_increment``."""
    A, B, C, D = q[0] + q[2], q[1] + q[3], q[0] - q[2], q[1] - q[3]
    plus, minus = m.atan2(B, A), m.atan2(D, C)
    S, T = m.sqrt(A * A + B * B), m.sqrt(C * C + D * D)
    return (plus + minus, m.atan2((S - T) * (S + T), 2.0 * S * T), plus - minus)


def angles_by_matrix(turn: Any, m: Any, a: Numbers, w: Numbers) -> Numbers:
    """Standard Lie group method [holzinger2021, eq. 5]."""
    R0 = matrix_of_angles(tuple(map(m.cos, a)), tuple(map(m.sin, a)))
    return angles_of_matrix(m, times(R0, turn(m, w)))


def angles_by_quaternion(back: Any, turn: Any, m: Any, a: Numbers, w: Numbers) -> Numbers:
    """Quaternion scheme: Cardan angles to quaternion, product, and back."""
    return back(m, multiply(quaternion_of_angles(m, a), turn(m, w)))


PROPOSED, LIE, QUATERNION, HALF, FIVE = "proposed", "Lie group", "quaternion", "half angles", "five entries"
EXP, CAY = "exp", "Cayley"

VECTOR: dict[str, Update] = {
    PROPOSED: vector_as_printed,
    f"{LIE}, {EXP}": partial(vector_by_matrix, exp_matrix),
    f"{LIE}, {CAY}": partial(vector_by_matrix, cay_matrix),
    QUATERNION: partial(vector_by_quaternion, vector_of_quaternion),
    HALF: partial(vector_by_quaternion, vector_of_half_angle),
}
"""Updates of the rotation vector. ``proposed`` and the quaternion schemes are for the exponential map."""

ANGLES: dict[str, Update] = {
    f"{PROPOSED}, {EXP}": partial(angles_as_printed, exp_matrix),
    f"{PROPOSED}, {CAY}": partial(angles_as_printed, cay_matrix),
    f"{LIE}, {EXP}": partial(angles_by_matrix, exp_matrix),
    f"{LIE}, {CAY}": partial(angles_by_matrix, cay_matrix),
    f"{QUATERNION}, {EXP}": partial(angles_by_quaternion, angles_of_quaternion, exp_quaternion),
    f"{QUATERNION}, {CAY}": partial(angles_by_quaternion, angles_of_quaternion, cay_quaternion),
    f"{FIVE}, {EXP}": partial(angles_of_five_entries, exp_matrix),
    f"{FIVE}, {CAY}": partial(angles_of_five_entries, cay_matrix),
    f"{HALF}, {EXP}": partial(angles_by_quaternion, angles_of_half_angles, exp_quaternion),
    f"{HALF}, {CAY}": partial(angles_by_quaternion, angles_of_half_angles, cay_quaternion),
}
"""Updates of Cardan angles; ``five entries`` is the proposed one, but returns the angles instead of increments."""
