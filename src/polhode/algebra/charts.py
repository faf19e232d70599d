"""Attitudes kept as three numbers: the rotation vector or the Euler angles after a turn of the body.

No formula here has a singular point: the turn is done on the quaternion, and the three numbers are read off half angles
with ``atan2`` [holzinger2021]. What is left at a singular point is a choice, and it is always to keep the old number.

    v       rotation vector before the turn, angle times axis
    angles  Euler angles before the turn, in the order of the sequence's letters
    e       unit quaternion of the turn, in the body frame: R_new = R_old R(e)
    plan    the Euler sequence, see ``euler``

Many vectors (or angles) are the same attitude. ``principal`` kernels choose by range, ``tracked`` ones by the sign of
the quaternion, ``continuous`` ones go on from the old numbers by the smallest increment: nothing is ever reduced by a
rounded 2 pi, so turns may add up.
"""

from math import atan2, cos, pi, sin, sqrt

from polhode.algebra import so3
from polhode.algebra.euler import LOCKED, swapped, third_axis, to_quaternion, wrapped
from polhode.algebra.quaternion import conjugate, multiply
from polhode.algebra.series import angle_ratio
from polhode.kernel.jit import inlined

REST = 2.4492935982947064e-16
"""2 pi less the double nearest to it."""
TINY = 1e-150
"""Stands for a zero that is divided by: too small to turn an attitude, too large for its inverse to overflow."""


@inlined
def vector_attitude(v):
    """exp of the rotation vector v as a unit quaternion, by the library's sine and cosine.

    The polynomials of ``so3.exp_quaternion`` are as accurate, but err to the same side over a range of angles: where a
    vector is turned into a quaternion and back in every step, that adds up (10 times the error after 6400 steps).
    """
    size = sqrt(so3.dot(v, v))
    s = sin(0.5 * size) / size if size > 1e-8 else 0.5
    return (cos(0.5 * size), s * v[0], s * v[1], s * v[2])


@inlined
def between(a, b):
    """The turn from attitude a to attitude b, with a scalar part that is not negative."""
    e = multiply(conjugate(a), b)
    return (-e[0], -e[1], -e[2], -e[3]) if e[0] < 0.0 else e


@inlined
def turned(v, e):
    """exp(v) e: its scalar part, its vector part, and the length of that."""
    q = multiply(vector_attitude(v), e)
    r = (q[1], q[2], q[3])
    return q[0], r, sqrt(so3.dot(r, r))


@inlined
def compose_principal(v, e):
    """Rotation vector after the turn e, of length at most pi."""
    return so3.log_quaternion(multiply(vector_attitude(v), e))


@inlined
def compose_tracked(v, e):
    """Rotation vector after the turn e, of length 0 ... 2 pi: the published update, whose axis follows the quaternion.

    After a full turn the axis is free, and the old one is kept.
    """
    w, r, s = turned(v, e)
    size = sqrt(so3.dot(v, v))
    if w < 0.0 and s <= LOCKED and size > 0.0:
        return so3.scale(2.0 * pi / size, v)
    return so3.scale(angle_ratio(s, w), r)  # [holzinger2021, eq. 26]


@inlined
def compose_continuous(v, e):
    """Rotation vector after the turn e, any number of turns long, that continues v: its length changes by pi at most.

    The length counts along the axis on the side of v, and is negative where the vector has gone through zero. Nearness
    of the vectors themselves would not do: beside whole turns a small turn moves the axis far, and a vector a turn
    shorter can be nearer. After whole turns the axis is free, and the old one is kept; after none the
    vector itself is small.
    """
    w, r, s = turned(v, e)
    size = sqrt(so3.dot(v, v))
    if s > LOCKED:
        s = s if so3.dot(r, v) >= 0.0 else -s
        axis = so3.scale(1.0 / s, r)
    elif size < 1.0:
        return so3.log_quaternion((w, r[0], r[1], r[2]))
    else:
        axis = so3.scale(1.0 / size, v)
        s = so3.dot(axis, r)
    sine, cosine = sin(0.5 * size), cos(0.5 * size)
    ahead, along = s * cosine - w * sine, w * cosine + s * sine
    if along < 0.0:
        ahead, along = -ahead, -along
    return so3.scale(size + 2.0 * atan2(ahead, along), axis)


@inlined
def half_angles(angles, e, plan):
    """Half sum and half difference of the outer angles after the turn e, as two complex numbers (four numbers).

    With R = exp(a1 e1) exp(a2 e2) exp(a3 e3), their arguments are the changes of (a1 + eps a3)/2 and (a1 - eps a3)/2,
    and the ratio of their moduli gives a2. The last number is eps, the sign of a sequence of three axes. Only the
    change of the quaternion is formed, so that of a small turn the arguments have the error of a small number.
    """
    a = swapped(angles, plan)
    first, second, last = plan[2], plan[1], plan[0]
    other, sign = third_axis(first, second)
    less = -(e[1] * e[1] + e[2] * e[2] + e[3] * e[3]) / (1.0 + e[0]) if e[0] > 0.0 else e[0] - 1.0
    q = multiply(to_quaternion(angles, plan), (less, e[1], e[2], e[3]))
    c2, s2 = cos(0.5 * a[1]), sin(0.5 * a[1])
    if first == last:
        eps, near, far = 1.0, c2, s2
        a_re, a_im, b_re, b_im = q[0], q[first], q[second], sign * q[other]
    else:
        eps, near, far = sign, c2 + s2, c2 - s2
        z = sign * q[other]
        a_re, a_im, b_re, b_im = q[0] + q[second], q[first] + z, q[0] - q[second], q[first] - z
    c1, s1, c3, s3 = cos(0.5 * a[2]), sin(0.5 * a[2]), cos(0.5 * a[0]), eps * sin(0.5 * a[0])
    c, s = c1 * c3 - s1 * s3, s1 * c3 + c1 * s3
    d, t = c1 * c3 + s1 * s3, s1 * c3 - c1 * s3
    return near + (a_re * c + a_im * s), a_im * c - a_re * s, far + (b_re * d + b_im * t), b_im * d - b_re * t, eps


@inlined
def middle_angle(near, far, plan):
    """Cosine and sine of the middle angle, not normalised, from the moduli of the two complex numbers."""
    difference, product = (near - far) * (near + far), 2.0 * near * far
    return (difference, product) if plan[0] == plan[2] else (product, difference)


@inlined
def euler_principal(angles, e, plan):
    """Change of the Euler angles by the turn e; the new middle angle is in its range, the others change by at most pi.

    At a singular middle angle the half sum or half difference of the others is free, and keeps its value.
    """
    a_re, a_im, b_re, b_im, eps = half_angles(angles, e, plan)
    near, far = sqrt(a_re * a_re + a_im * a_im), sqrt(b_re * b_re + b_im * b_im)
    limit = LOCKED * (near + far)
    plus = atan2(a_im, a_re) if near > limit else 0.0
    minus = atan2(b_im, b_re) if far > limit else 0.0
    c, s = middle_angle(near, far, plan)
    middle = atan2(s, c) - angles[1]
    return swapped((wrapped(eps * (plus - minus)), middle, wrapped(plus + minus)), plan)  # [holzinger2021, eq. 45]


@inlined
def euler_continuous(angles, e, plan):
    """Change of the Euler angles by the turn e that leads to the nearest angles, whatever their range.

    A modulus may be negative: it changes its sign where the middle angle goes through a singular value, and the other
    two angles stay where they are.
    """
    a_re, a_im, b_re, b_im, eps = half_angles(angles, e, plan)
    near, far = sqrt(a_re * a_re + a_im * a_im), sqrt(b_re * b_re + b_im * b_im)
    limit = LOCKED * (near + far)
    plus = minus = 0.0
    if near > limit:
        plus = atan2(a_im, a_re) if a_re >= 0.0 else atan2(-a_im, -a_re)
    if far > limit:
        minus = atan2(b_im, b_re) if b_re >= 0.0 else atan2(-b_im, -b_re)
    if a_re < 0.0:
        near = -near
    if b_re < 0.0:
        far = -far
    c, s = middle_angle(near, far, plan)
    c0, s0 = cos(angles[1]), sin(angles[1])
    middle = atan2(s * c0 - c * s0, c * c0 + s * s0)
    return swapped((eps * (plus - minus), middle, plus + minus), plan)


@inlined
def reduced(angle):
    """The angle less or plus 2 pi where it is beyond pi, 2 pi taken to twice the digits of a number.

    Half turns are common, and there round-off alone must not make an angle jump: beyond means by more than 1e-9.
    """
    if angle > pi + 1e-9:
        return (angle - 2.0 * pi) - REST
    if angle < -pi - 1e-9:
        return (angle + 2.0 * pi) + REST
    return angle


@inlined
def gibbs_rodrigues(q):
    """Rodrigues parameters tan(phi/2) n. Where the scalar part vanishes, at a half turn, it counts as 1e-150."""
    w = q[0] if abs(q[0]) > TINY else TINY
    return (q[1] / w, q[2] / w, q[3] / w)


@inlined
def gibbs_attitude(c):
    """Unit quaternion of Rodrigues parameters, however large."""
    largest = max(1.0, abs(c[0]), abs(c[1]), abs(c[2]))
    f = 1.0 / largest
    x, y, z = f * c[0], f * c[1], f * c[2]
    n = 1.0 / sqrt(f * f + x * x + y * y + z * z)
    return (n * f, n * x, n * y, n * z)


@inlined
def modified_rodrigues(q):
    """Modified Rodrigues parameters tan(phi/4) n of length at most 1; of q and -q the shorter, the other's shadow."""
    w = 1.0 + abs(q[0])
    f = (1.0 if q[0] >= 0.0 else -1.0) / w
    return (f * q[1], f * q[2], f * q[3])


@inlined
def modified_unswitched(q):
    """Modified Rodrigues parameters by the sign of q. At a whole turn, 1 + w = 0, this sum counts as 1e-150.

    Beyond half turns it is formed as (x^2 + y^2 + z^2)/(1 - w), without cancellation.
    """
    square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    w = 1.0 + q[0] if q[0] >= 0.0 else max(square / (1.0 - q[0]), TINY)
    return (q[1] / w, q[2] / w, q[3] / w)


@inlined
def modified_attitude(c):
    """Unit quaternion (1 - s, 2 c)/(1 + s), s = c . c, of modified Rodrigues parameters, however large."""
    largest = max(1.0, abs(c[0]), abs(c[1]), abs(c[2]))
    f = 1.0 / largest
    x, y, z = f * c[0], f * c[1], f * c[2]
    s = x * x + y * y + z * z
    n = 1.0 / (f * f + s)
    return (n * (f * f - s), 2.0 * n * f * x, 2.0 * n * f * y, 2.0 * n * f * z)
