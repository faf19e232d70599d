"""Plain and compensated sums into the state; compensation adds what rounding left out of a sum to the next one.

A position of 1664 km has a resolution of 2e-13 km, and each of a million steps loses up to half of that; worse, the
same increment to nearly the same number is rounded the same way each time, so that the losses add up. A compensated sum
keeps the loss of each number and adds it to the next increment [kahan1965]. The loss is exact [knuth1998].

Attitudes and body angular momenta are sums, too: the quaternion of a rotation changes that of an attitude by q (e - 1),
whose rounding error is as much smaller than that of the product q e as the rotation is smaller than a radian.

The compensation is at the end of the state, with the slots of the numbers it belongs to: a block for each body, then
the auxiliary variables.
"""

from __future__ import annotations

from polhode.algebra.kepler import two_sum
from polhode.algebra.so3 import add, axpy
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import inlined
from polhode.kernel.simd import fused

COMPENSATION = L.BODY  # compensation numbers of a body
OF_POINTS = L.ATTITUDE  # the first of them: those of position and momentum

NEARLY_ONE = 0.875
"""Scalar part of a rotation's quaternion above which its difference from 1 is computed from the vector part."""


@inlined
def add3(at, h, x, p):
    """Add h x to the three numbers ``y[at:]`` of the state."""
    put3(p.y, at, axpy(h, x, get3(p.y, at)))


@inlined
def add3_compensated(at, h, x, p):
    """``add3``, compensated."""
    c = int(p.step_info[L.COMPENSATION_AT]) + at
    p.y[at], p.y[c] = two_sum(p.y[at], p.y[c] + h * x[0])
    p.y[at + 1], p.y[c + 1] = two_sum(p.y[at + 1], p.y[c + 1] + h * x[1])
    p.y[at + 2], p.y[c + 2] = two_sum(p.y[at + 2], p.y[c + 2] + h * x[2])


@inlined
def shortfall(q):
    """What q times this must be added to q to make its length 1, to first order."""
    return 0.5 * (1.0 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]))


@inlined
def swing(q, e, c):
    """Product q e minus q, of unit quaternions, and c q.

    Small for a small rotation, it is rounded by less than q. c, at round-off, corrects the length where nothing is yet
    rounded: added to the sum it is lost where q is small, and as other components alone are corrected, attitudes drift,
    by 1e-20 in a step. For rotations above a radian -vv/(1 + e[0]) would contain the error of |e|.
    """
    vv = e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    d = -vv / (1.0 + e[0]) if e[0] > NEARLY_ONE else e[0] - 1.0
    return (
        fused(q[0], d, c * q[0]) - q[1] * e[1] - q[2] * e[2] - q[3] * e[3],
        fused(q[1], d, c * q[1]) + q[0] * e[1] + q[2] * e[3] - q[3] * e[2],
        fused(q[2], d, c * q[2]) + q[0] * e[2] - q[1] * e[3] + q[3] * e[1],
        fused(q[3], d, c * q[3]) + q[0] * e[3] + q[1] * e[2] - q[2] * e[1],
    )


@inlined
def enter_rotation(i, dm, e, p):
    """Multiply the attitude of body i by e and add dm to its angular momentum, if finite; returns a status."""
    at = L.BODY * i
    q = get4(p.y, at + L.ATTITUDE)
    a = swing(q, e, shortfall(q))
    q = (q[0] + a[0], q[1] + a[1], q[2] + a[2], q[3] + a[3])
    if 0.0 * (q[0] + q[1] + q[2] + q[3]) != 0.0:
        return L.NOT_FINITE
    put3(p.y, at + L.ANGULAR, add(get3(p.y, at + L.ANGULAR), dm))
    put4(p.y, at + L.ATTITUDE, q)
    return L.OK


@inlined
def enter_rotation_compensated(i, dm, e, p):
    """``enter_rotation``, compensated, which keeps the correction of the length as well."""
    at = L.BODY * i
    at_c = int(p.step_info[L.COMPENSATION_AT]) + at + L.ATTITUDE
    q, k = get4(p.y, at + L.ATTITUDE), get4(p.y, at_c)
    a, c = swing(q, e, 0.0), shortfall(q) - (q[0] * k[0] + q[1] * k[1] + q[2] * k[2] + q[3] * k[3])
    if 0.0 * (q[0] + q[1] + q[2] + q[3] + a[0] + a[1] + a[2] + a[3]) != 0.0:
        return L.NOT_FINITE
    for n in range(4):
        s, r = two_sum(q[n], a[n])
        p.y[at + L.ATTITUDE + n], p.y[at_c + n] = two_sum(s, fused(c, s, r + k[n]))
    add3_compensated(at + L.ANGULAR, 1.0, dm, p)
    return L.OK


@inlined
def enter1(k, x, begin, out, p):
    """Write auxiliary variable k of the state ``begin`` plus x to the state ``out``."""
    out[L.BODY * p.N + k] = begin[L.BODY * p.N + k] + x


@inlined
def enter1_compensated(k, x, begin, out, p):
    """``enter1``, compensated."""
    at = L.BODY * p.N + k
    c = int(p.step_info[L.COMPENSATION_AT]) + at
    out[at], out[c] = two_sum(begin[at], begin[c] + x)
