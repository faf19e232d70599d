"""Euler angles: all 12 intrinsic and 12 extrinsic sequences from one table, named as SciPy names them.

Upper case is intrinsic: ``"ZXZ"`` is R_z(a0) R_x(a1) R_z(a2), rotations about the rotating body axes. Lower case is
extrinsic: ``"zxz"`` is R_z(a2) R_x(a1) R_z(a0), rotations about the space axes. Both are body to space.

Kernels take a ``plan``, the four integers of a sequence: the axes (1, 2, 3) in the order of rotations about the space
axes, then 1 if that is the reverse order of the angles (intrinsic), else 0.
"""

from math import atan2, cos, pi, sin, sqrt

from polhode.algebra.quaternion import multiply
from polhode.kernel.jit import inlined

AXES = ("xyz", "yzx", "zxy", "zyx", "xzy", "yxz", "xyx", "yzy", "zxz", "zyz", "xzx", "yxy")
"""All sequences; consecutive axes differ. The first six have three axes, the last six repeat their first axis."""

SEQUENCES = tuple(axes.upper() for axes in AXES) + AXES

LOCKED = 4e-16  # a part of a unit quaternion below this is round-off: the middle angle is singular


def plan(sequence: str) -> tuple[int, ...]:
    """The plan of a sequence in SEQUENCES, four integers."""
    order = tuple("xyz".index(letter) + 1 for letter in sequence.lower())
    return (*reversed(order), 1) if sequence.isupper() else (*order, 0)


@inlined
def third_axis(i, j):
    """The axis that is neither i nor j, and the sign of the permutation (i, j, that axis)."""
    k = 6 - i - j
    return k, 0.5 * ((i - j) * (j - k) * (k - i))


@inlined
def about_axis(axis, angle):
    """Quaternion of a rotation about a coordinate axis (1, 2, 3)."""
    s = sin(0.5 * angle)
    return (cos(0.5 * angle), s if axis == 1 else 0.0, s if axis == 2 else 0.0, s if axis == 3 else 0.0)


@inlined
def swapped(a, plan):
    """The three numbers, reversed if the sequence is intrinsic; its own inverse."""
    return (a[2], a[1], a[0]) if plan[3] == 1 else (a[0], a[1], a[2])


@inlined
def wrapped(angle):
    """The angle in (-pi, pi], from an angle between -3 pi and 3 pi."""
    if angle > pi:
        return angle - 2.0 * pi
    if angle <= -pi:
        return angle + 2.0 * pi
    return angle


@inlined
def to_quaternion(angles, plan):
    """Unit quaternion of the Euler angles."""
    a = swapped(angles, plan)
    return multiply(about_axis(plan[2], a[2]), multiply(about_axis(plan[1], a[1]), about_axis(plan[0], a[0])))


@inlined
def from_quaternion(q, plan):
    """Euler angles of a quaternion, which need not be normalised; first and third in (-pi, pi].

    The half sum and the half difference of first and third angle are the arguments of two complex numbers a + ib and
    c + id, and the ratio of their moduli gives half the middle angle. At a singular middle angle one of the moduli
    vanishes and its argument is undetermined: the third angle is then set to 0. Near it the argument is uncertain in
    proportion to how little it matters, so converting back always reproduces the attitude to round-off.
    """
    i, j, k = plan[0], plan[1], plan[2]
    l, sign = third_axis(i, j)
    if i == k:
        a, b, c, d = q[0], q[i], q[j], sign * q[l]
    else:
        a, b, c, d = q[0] - q[j], q[i] + sign * q[k], q[j] + q[0], sign * q[k] - q[i]  # [bernardes2022]
    near, far = sqrt(a * a + b * b), sqrt(c * c + d * d)
    limit = LOCKED * (near + far)
    if far <= limit:
        middle, turned = 0.0, 2.0 * atan2(b, a)
        first, third = (0.0, turned) if plan[3] == 1 else (turned, 0.0)
    elif near <= limit:
        middle, turned = pi, 2.0 * atan2(d, c)
        first, third = (0.0, turned) if plan[3] == 1 else (-turned, 0.0)
    else:
        middle = 2.0 * atan2(far, near)
        plus, minus = atan2(b, a), atan2(d, c)
        first, third = plus - minus, plus + minus
    if i != k:
        third *= sign
        middle -= 0.5 * pi
    return swapped((wrapped(first), middle, wrapped(third)), plan)


@inlined
def components(a, i, j, k):
    """The components i, j, k (1, 2, 3) of a vector."""
    return a[i - 1], a[j - 1], a[k - 1]


@inlined
def spun(a, axis, angle):
    """The vector a rotated about a coordinate axis (1, 2, 3)."""
    s, c = sin(angle), cos(angle)
    if axis == 1:
        return (a[0], c * a[1] - s * a[2], s * a[1] + c * a[2])
    if axis == 2:
        return (c * a[0] + s * a[2], a[1], c * a[2] - s * a[0])
    return (c * a[0] - s * a[1], s * a[0] + c * a[1], a[2])


@inlined
def rates(angles, omega, plan):
    """Time derivatives of the Euler angles of a body with the body-frame angular velocity omega.

    Singular at a middle angle of 0 or pi if the sequence repeats its first axis, else of pi/2 or -pi/2.
    """
    return damped_rates(angles, omega, plan, 0.0)


@inlined
def damped_rates(angles, omega, plan, damping):
    """The same with 1/x replaced by x/damping^2 where |x| < damping, for the x that vanishes at the singularity.

    Finite everywhere, at most about omega/damping, and wrong within that distance of the singularity.
    """
    a = swapped(angles, plan)
    first, second, last = plan[2], plan[1], plan[0]
    other, sign = third_axis(first, second)
    w1, w2, w3 = components(spun(omega, last, a[0]), first, second, other)
    s, c = sin(a[1]), cos(a[1])
    if first == last:
        outer = sign * w3 / (s if abs(s) >= damping else damping * damping / s)
        inner = w1 - c * outer
    else:
        outer = w1 / (c if abs(c) >= damping else damping * damping / c)
        inner = w3 - sign * s * outer
    return swapped((inner, w2, outer), plan)


@inlined
def angular_velocity(angles, rates, plan):
    """Body-frame angular velocity of a body whose Euler angles change at the given rates."""
    a, r = swapped(angles, plan), swapped(rates, plan)
    first, second, last = plan[2], plan[1], plan[0]
    _, sign = third_axis(first, second)
    s, c = sin(a[1]), cos(a[1])
    along_first, along_other = c * r[2], sign * s * r[2]
    if first == last:
        along_first += r[0]
    else:
        along_other += r[0]
    w = (
        along_first if first == 1 else (r[1] if second == 1 else along_other),
        along_first if first == 2 else (r[1] if second == 2 else along_other),
        along_first if first == 3 else (r[1] if second == 3 else along_other),
    )
    return spun(w, last, -a[0])
