"""Free rotation by the implicit midpoint rule of Euler's equation, the attitude by the Cayley map.

The discrete Moser-Veselov map without its factor alpha [vilmart2013, remark 4]; for a free body, the map of Austin,
Krishnaprasad and Wang [austin1993]. Order 2, time-symmetric; keeps the spatial angular momentum, the energy and the
unit quaternion to round-off. Neither symplectic nor Poisson.

Legend: ``m`` body angular momentum, ``Y`` its mean over the step, ``g`` = h/2 (j3 - j2, j1 - j3, j2 - j1) with the
inverse principal moments ``j``.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from polhode.algebra.quaternion import compose
from polhode.algebra.so3 import axpy, cay_quaternion, scale, times
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import inlined
from polhode.kernel.solve import continuation_substeps, newton3, norm3, square3


class Mean(NamedTuple):
    """Data of the equation of the mean momentum."""

    m: tuple[float, ...]
    g: tuple[float, ...]


@inlined
def gain(Y, g):
    """Half the change of the momentum in the step, h/2 Y x j Y."""
    return (g[0] * Y[1] * Y[2], g[1] * Y[2] * Y[0], g[2] * Y[0] * Y[1])


@inlined
def balance(Y, full, d):
    return axpy(-1.0, gain(Y, d.g), axpy(-1.0, d.m, Y))  # [vilmart2013, eq. 14 without alpha]


@inlined
def slope(Y, full, d):
    g = d.g
    return (1.0, -g[0] * Y[2], -g[0] * Y[1], -g[1] * Y[2], 1.0, -g[1] * Y[0], -g[2] * Y[1], -g[2] * Y[0], 1.0)


@inlined
def rotate_free(i, h, p):
    """Rotate body i for a time h; returns the status of the solve."""
    a = L.BODY * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    g = (0.5 * h * (j[2] - j[1]), 0.5 * h * (j[0] - j[2]), 0.5 * h * (j[1] - j[0]))
    angle = abs(h) * norm3(times(j, m))
    if not angle < inf:
        return L.NOT_FINITE
    Y = m
    pieces = continuation_substeps(angle)
    for piece in range(1, pieces + 1):
        status, Y = newton3(
            balance, slope, Y, square3(m), inf, inf, False, True, Mean(m, scale(piece / pieces, g)), p.step_info
        )
        if status != L.OK:
            return status
    put4(p.y, a + L.ATTITUDE, compose(q, cay_quaternion(scale(h, times(j, Y)))))
    put3(p.y, a + L.ANGULAR, axpy(2.0, gain(Y, g), m))
    return L.OK
