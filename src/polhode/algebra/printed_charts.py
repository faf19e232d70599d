"""Attitudes kept as three numbers, updated as papers print it: to be compared with ``charts``, not to be used instead.

Each of these formulas loses the attitude near its singular points. ``charts`` does the same turns without loss.

    v       rotation vector before the turn, angle phi0 times axis n0
    angles  Euler angles before the turn, in the order of the sequence's letters
    e       unit quaternion of the turn, in the body frame: R_new = R_old R(e)
    plan    the Euler sequence, see ``euler``
"""

from math import acos, asin, atan2, cos, sin, sqrt

from polhode.algebra import so3
from polhode.algebra.euler import swapped, third_axis
from polhode.algebra.quaternion import to_matrix
from polhode.algebra.series import half_sinc, sinc, versine
from polhode.kernel.jit import inlined


@inlined
def compose_as_printed(v, e):
    """Rotation vector after the turn e, of length 0 ... 2 pi, by the arc cosine and a quotient by sin(phi/2).

    Near phi = 2 pi, at the distance d, the arc cosine loses eps/d of the angle and the quotient eps/d^2 of the axis,
    whose length then enters too: the attitude is off by 6e-9 at d = 1e-3 and of order 1 from 1e-8 on. The test for the
    singular point does not meet it, since the sine of the rounded pi is 1.2e-16. Near phi = 0 angles below 2e-8 can
    become 0. The argument of the arc cosine is limited to -1 ... 1, which it leaves by rounding.
    """
    phi0 = sqrt(so3.dot(v, v))
    n0 = so3.scale(1.0 / phi0, v) if phi0 > 0.0 else (0.0, 0.0, 0.0)  # [holzinger2021, eq. 12]
    c0, s0, w = cos(0.5 * phi0), sin(0.5 * phi0), (e[1], e[2], e[3])
    cosine = c0 * e[0] - s0 * so3.dot(n0, w)
    phi = 2.0 * acos(min(1.0, max(-1.0, cosine)))  # [holzinger2021, eq. 23]
    s = sin(0.5 * phi)
    if s == 0.0:
        return (0.0, 0.0, 0.0)
    turned = so3.axpy(c0, w, so3.scale(s0, so3.cross(n0, w)))
    n = so3.axpy(s0 * e[0] / s, n0, so3.scale(1.0 / s, turned))  # [holzinger2021, eq. 25]
    return so3.scale(phi, n)  # [holzinger2021, eq. 26]


@inlined
def compose_bch(v, e):
    """Rotation vector after the turn e by the closed form of log(exp(hat v) exp(hat w)), with w the vector of e.

    It knows the sine of the total angle only, and takes the angle below pi/2 that has it: beyond it is wrong.
    """
    w = so3.log_quaternion(e)
    x, y, along = so3.dot(v, v), so3.dot(w, w), so3.dot(v, w)
    c, d = half_sinc(x)[1], half_sinc(y)[1]
    a = sinc(x) * d * d - 0.5 * sinc(y) * versine(x) * along
    b = sinc(y) * c * c - 0.5 * sinc(x) * versine(y) * along
    g = 0.5 * (sinc(x) * sinc(y) - versine(x) * versine(y) * along)
    r = so3.axpy(a, v, so3.axpy(b, w, so3.scale(g, so3.cross(v, w))))
    sine = sqrt(so3.dot(r, r))
    if sine == 0.0:
        return (0.0, 0.0, 0.0)
    return so3.scale(asin(min(1.0, sine)) / sine, r)  # [engo2001]


@inlined
def product(a, b, i, j):
    """Row i times column j of two matrices, numbered from 1."""
    k, j = 3 * (i - 1), j - 1
    return a[k] * b[j] + a[k + 1] * b[j + 3] + a[k + 2] * b[j + 6]


@inlined
def difference(y, x, angle):
    """The angle of (x, y) less another one, in -pi ... pi."""
    s, c = sin(angle), cos(angle)
    return atan2(c * y - s * x, c * x + s * y)  # [holzinger2021, eqs. 43-45]


@inlined
def euler_as_printed(angles, e, plan):
    """Change of the Euler angles by the turn e, each from its own entries of the new rotation matrix.

    Five entries are enough away from the singular middle angles. At the distance d from those the outer angles are
    each uncertain by eps/d, and their errors do not cancel in the attitude. Where the entries vanish altogether the
    angle about the last axis of the product of turns is kept. The new middle angle is in its range up to whole turns.
    """
    a = swapped(angles, plan)
    first, second, last = plan[2], plan[1], plan[0]
    other, sign = third_axis(first, second)
    # In the frame of the first, the second and the axis perpendicular to both, only two matrices are left.
    rotation = to_matrix((e[0], e[first], e[second], sign * e[other]))
    eps = 1.0 if first == last else sign
    a1, a2, a3 = a[2], a[1], eps * a[0]
    c1, s1, c2, s2, c3, s3 = cos(a1), sin(a1), cos(a2), sin(a2), cos(a3), sin(a3)
    if first == last:
        old = (
            c2, s2 * s3, s2 * c3,
            s1 * s2, c1 * c3 - s1 * c2 * s3, -c1 * s3 - s1 * c2 * c3,
            -c1 * s2, s1 * c3 + c1 * c2 * s3, -s1 * s3 + c1 * c2 * c3,
        )  # fmt: skip
        cosine, y3, x3 = product(old, rotation, 1, 1), product(old, rotation, 1, 2), product(old, rotation, 1, 3)
        y1, x1 = product(old, rotation, 2, 1), -product(old, rotation, 3, 1)
        size = sine = sqrt(y3 * y3 + x3 * x3)
    else:
        old = (
            c2 * c3, -c2 * s3, s2,
            c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2,
            s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2,
        )  # fmt: skip
        sine, y3, x3 = product(old, rotation, 1, 3), -product(old, rotation, 1, 2), product(old, rotation, 1, 1)
        y1, x1 = -product(old, rotation, 2, 3), product(old, rotation, 3, 3)
        size = cosine = sqrt(y3 * y3 + x3 * x3)
    middle = difference(sine, cosine, a2)
    if size == 0.0:
        side = (cosine if first == last else sine) > 0.0
        sum0 = a1 + a3 if side else a1 - a3
        outer, inner = difference(product(old, rotation, 3, 2), product(old, rotation, 2, 2), sum0), 0.0
    else:
        outer, inner = difference(y1, x1, a1), difference(y3, x3, a3)
    return swapped((eps * inner, middle, outer), plan)
