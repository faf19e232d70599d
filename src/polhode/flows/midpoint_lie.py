"""Free rotation by the midpoint Lie algorithm, LIEMID[I] without torque [krysl2006, IMIDM], [krysl2005].

Order 2, time-symmetric; keeps the spatial angular momentum and the unit quaternion to round-off, the energy to order 2.

Legend: body angular momentum ``x`` in the middle and ``m`` at the start of the step, ``j`` inverse principal moments.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from polhode.algebra.quaternion import compose, multiply, rotate_inverse
from polhode.algebra.so3 import axpy, cross, dexp, exp_quaternion, scale, times
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import inlined
from polhode.kernel.solve import continuation_substeps, newton3, norm3, square3


class Middle(NamedTuple):
    """Data of the equation of the middle momentum."""

    h: float
    m: tuple[float, ...]
    j: tuple[float, ...]


@inlined
def turned_jacobian(v, psi, h, j):
    """Rows of 1 - hat(v) dexp_{-psi} h diag(j): derivative of x - exp(-psi) m, psi = h j x, v = exp(-psi) m."""
    n = scale(-1.0, psi)
    a = cross(v, dexp(n, (h * j[0], 0.0, 0.0)))
    b = cross(v, dexp(n, (0.0, h * j[1], 0.0)))
    c = cross(v, dexp(n, (0.0, 0.0, h * j[2])))
    return (1.0 - a[0], -b[0], -c[0], -a[1], 1.0 - b[1], -c[1], -a[2], -b[2], 1.0 - c[2])


@inlined
def balance(x, full, d):
    e = exp_quaternion(scale(0.5 * d.h, times(d.j, x)))
    return axpy(-1.0, rotate_inverse(e, d.m), x)  # x = exp(-psi/2) m, psi = h j x


@inlined
def slope(x, full, d):
    psi = scale(0.5 * d.h, times(d.j, x))
    return turned_jacobian(rotate_inverse(exp_quaternion(psi), d.m), psi, 0.5 * d.h, d.j)


@inlined
def rotate_free(i, h, p):
    """Rotate body i for a time h; returns the status of the solve."""
    a = L.BODY * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    x = m
    pieces = continuation_substeps(abs(h) * norm3(times(j, m)))
    for piece in range(1, pieces + 1):
        status, x = newton3(
            balance, slope, x, square3(m), inf, inf, False, True, Middle(h * piece / pieces, m, j), p.step_info
        )
        if status != L.OK:
            return status
    e = exp_quaternion(scale(0.5 * h, times(j, x)))
    put4(p.y, a + L.ATTITUDE, compose(multiply(q, e), e))
    put3(p.y, a + L.ANGULAR, rotate_inverse(e, x))
    return L.OK
