"""Free rotation split into exact rotations: one about axis 1, the motion of a symmetric top, one about axis 1 again.

The splitting of [vilmart2013, alg. 2] with its coefficients corrected. Order 2, time-symmetric, explicit; keeps the
spatial angular momentum and the unit quaternion to round-off, the energy to order 2. Exact for bodies with I1 = I2 or
I2 = I3.

Legend: ``m`` body angular momentum, ``q`` attitude, ``j`` inverse principal moments.
"""

from __future__ import annotations

from math import cos, sin

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import exp_quaternion, scale
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import ANGULAR, ATTITUDE, BODY, CONSTANTS, INVERSE_INERTIA, OK


@inlined
def about_1(m, q, a):
    """Exact flow of the kinetic energy m1^2/2 with rotation angle a about the first body axis."""
    c, s = cos(0.5 * a), sin(0.5 * a)
    C, S = 1.0 - 2.0 * s * s, 2.0 * c * s
    m = (m[0], C * m[1] + S * m[2], C * m[2] - S * m[1])
    return m, (q[0] * c - q[1] * s, q[1] * c + q[0] * s, q[2] * c + q[3] * s, q[3] * c - q[2] * s)


@inlined
def about_3(m, q, a):
    """Exact flow of m3^2/2 with rotation angle a about the third body axis."""
    c, s = cos(0.5 * a), sin(0.5 * a)
    C, S = 1.0 - 2.0 * s * s, 2.0 * c * s
    m = (C * m[0] + S * m[1], C * m[1] - S * m[0], m[2])
    return m, (q[0] * c - q[3] * s, q[1] * c + q[2] * s, q[2] * c - q[1] * s, q[3] * c + q[0] * s)


@inlined
def symmetric(m, q, h, j):
    """Exact flow of a symmetric top with inverse moments (j2, j2, j3): about the momentum, then about its axis."""
    q = multiply(q, exp_quaternion(scale(h * j[1], m)))
    return about_3(m, q, h * (j[2] - j[1]) * m[2])


@inlined
def turn(i, h, p):
    """Turn body i for a time h."""
    a = BODY * i
    m, q = get3(p.y, a + ANGULAR), get4(p.y, a + ATTITUDE)
    j = get3(p.bodies, CONSTANTS * i + INVERSE_INERTIA)
    d = 0.5 * h * (j[0] - j[1])
    m, q = about_1(m, q, d * m[0])
    m, q = symmetric(m, q, h, j)
    m, q = about_1(m, q, d * m[0])
    put3(p.y, a + ANGULAR, m)
    put4(p.y, a + ATTITUDE, q)
    return OK
