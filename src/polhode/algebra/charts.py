"""Updates of three-number attitudes: rotation vector or Euler angles after a rotation of the body; Rodrigues vectors.

No formula here is singular: the rotation is applied to the quaternion, and the three numbers are computed from half
angles with ``atan2`` [holzinger2021]. A number that is undetermined at a singular point keeps its old value.

    v       rotation vector before the rotation, angle times axis
    angles  Euler angles before the rotation, in the order of the sequence's letters
    e       unit quaternion of the rotation, in the body frame: R_new = R_old R(e)
    plan    the Euler sequence, see ``euler``

Many vectors (or angles) describe the same attitude. ``principal`` kernels select by range, ``tracked`` ones by the sign
of the quaternion, ``continuous`` ones add the smallest increment to the old numbers: these are never reduced by a
rounded 2 pi, so revolutions may accumulate.
"""

from math import atan2, cos, pi, sin, sqrt

from polhode.algebra import so3
from polhode.algebra.euler import LOCKED, swapped, third_axis, to_quaternion, wrapped
from polhode.algebra.quaternion import conjugate, multiply
from polhode.algebra.series import angle_ratio
from polhode.kernel.jit import inlined

REST = 2.4492935982947064e-16  # 2 pi minus the double nearest to it
TINY = 1e-150  # replaces a zero divisor: too small to change an attitude, too large for its inverse to overflow


@inlined
def vector_attitude(v):
    """exp of the rotation vector v as a unit quaternion, by the library's sine and cosine.

    The polynomials of ``so3.exp_quaternion`` are as accurate, but their errors have the same sign over a range of
    angles: converting a vector to a quaternion and back in every step accumulates them (10 times the error after 6400
    steps).
    """
    size = sqrt(so3.dot(v, v))
    s = sin(0.5 * size) / size if size > 1e-8 else 0.5
    return (cos(0.5 * size), s * v[0], s * v[1], s * v[2])


@inlined
def between(a, b):
    """Quaternion of the rotation from attitude a to attitude b, with a scalar part that is not negative."""
    e = multiply(conjugate(a), b)
    return (-e[0], -e[1], -e[2], -e[3]) if e[0] < 0.0 else e


@inlined
def turned(v, e):
    """exp(v) e: scalar part, vector part, and length of the vector part."""
    q = multiply(vector_attitude(v), e)
    r = (q[1], q[2], q[3])
    return q[0], r, sqrt(so3.dot(r, r))


@inlined
def compose_principal(v, e):
    """Rotation vector after the rotation e, of length at most pi."""
    return so3.log_quaternion(multiply(vector_attitude(v), e))


@inlined
def compose_tracked(v, e):
    """Rotation vector after the rotation e, of length 0 ... 2 pi: the published update, tracking the quaternion's sign.

    At a full revolution the axis is undetermined, and the old one is kept.
    """
    w, r, s = turned(v, e)
    size = sqrt(so3.dot(v, v))
    if w < 0.0 and s <= LOCKED and size > 0.0:
        return so3.scale(2.0 * pi / size, v)
    return so3.scale(angle_ratio(s, w), r)  # [holzinger2021, eq. 26]


@inlined
def compose_continuous(v, e):
    """Rotation vector after the rotation e that continues v, of any length; its length changes by at most pi.

    The length is signed: along the axis on the side of v, and negative once the vector has passed through zero. The
    nearest vector would be wrong: near full revolutions a small rotation moves the axis far, and a vector that is one
    revolution shorter can be nearer. At full revolutions the axis is undetermined, and the old one is kept; near zero
    the vector itself is small.
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
    """Changes of half sum and half difference of the outer angles by the rotation e, as two complex numbers; and eps.

    With R = exp(a1 e1) exp(a2 e2) exp(a3 e3), their arguments are the changes of (a1 + eps a3)/2 and (a1 - eps a3)/2,
    and the ratio of their moduli gives a2; eps is the sign of a sequence of three axes. Only the change of the
    quaternion is computed, so for a small rotation the errors of the arguments are small too.
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
    """Change of the Euler angles by the rotation e; the new middle angle is in its range, the others change by <= pi.

    At a singular middle angle the half sum or half difference of the others is undetermined, and keeps its value.
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
    """Change of the Euler angles by the rotation e to the nearest angles, whatever their range.

    A modulus may be negative: it changes sign where the middle angle passes through a singular value, and the other two
    angles do not jump.
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
    """The angle reduced by 2 pi (in double-double) where its size exceeds pi + 1e-9.

    The margin keeps round-off from making an angle jump at pi, which is a common value.
    """
    if angle > pi + 1e-9:
        return (angle - 2.0 * pi) - REST
    if angle < -pi - 1e-9:
        return (angle + 2.0 * pi) + REST
    return angle


@inlined
def gibbs_rodrigues(q):
    """Rodrigues parameters tan(phi/2) n. A zero scalar part (angle pi) is replaced by 1e-150."""
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
    """Modified Rodrigues parameters tan(phi/4) n of length at most 1: of q and -q the shorter one, not its shadow."""
    w = 1.0 + abs(q[0])
    f = (1.0 if q[0] >= 0.0 else -1.0) / w
    return (f * q[1], f * q[2], f * q[3])


@inlined
def modified_unswitched(q):
    """Modified Rodrigues parameters by the sign of q, without switching to the shadow.

    At the angle 2 pi, 1 + w = 0 is replaced by 1e-150; beyond pi it is computed as (x^2 + y^2 + z^2)/(1 - w), without
    cancellation.
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
