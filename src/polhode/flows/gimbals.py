"""Rotors in gimbals: where the spin axes of control moment gyros point, and their angular momentum.

Each rotor has a constant angular momentum h about its spin axis s. In one gimbal, with the axis g in the body, s is the
spin axis at angle 0 turned about g by the gimbal's angle; in two it is first turned about the inner axis by the inner
angle, then about the outer axis, which is the one fixed in the body, by the outer angle.

Table in the parameters of a system: number of gyros, gimbals of each, index of the auxiliary variable that is the first
angle, index of the work; then ROW numbers of each gyro: h, the outer (or only) axis, the inner axis, the spin axis at
angle 0 (principal frame), and OF_GIMBAL numbers of each gimbal: its largest rate, and 1 while it may turn further.
"""

from __future__ import annotations

from math import cos, sin

from polhode.algebra.so3 import axpy, cross, dot, scale
from polhode.kernel.access import get3
from polhode.kernel.jit import helper, inlined

COUNT, GIMBALS, FIRST, WORK, ROWS = range(5)
MOMENTUM, OUTER, INNER, SPIN, OF_GIMBALS = 0, 1, 4, 7, 10
OF_GIMBAL = 2
MOST_RATE, FREE = range(OF_GIMBAL)
ROW = OF_GIMBALS + 2 * OF_GIMBAL


@inlined
def turned(axis, angle, v):
    """A vector turned about a unit vector by an angle."""
    c, s = cos(angle), sin(angle)
    return axpy(s, cross(axis, v), axpy(c, v, scale((1.0 - c) * dot(axis, v), axis)))


@inlined
def gimbal_axes(p, at, k, outer):
    """Axes about which the gimbals of gyro k turn, for this outer angle."""
    row = at + ROWS + ROW * k
    g = get3(p, row + OUTER)
    return g, turned(g, outer, get3(p, row + INNER))


@inlined
def spin_axis(p, at, k, outer, inner):
    """The spin axis of gyro k."""
    row = at + ROWS + ROW * k
    s = get3(p, row + SPIN)
    if p[at + GIMBALS] == 2.0:
        s = turned(get3(p, row + INNER), inner, s)
    return turned(get3(p, row + OUTER), outer, s)


@inlined
def gimbal_rate(p, row, command, angle):
    """Rate of a gimbal: the command, limited, and zero against its stop."""
    rate = min(max(command, -p[row + MOST_RATE]), p[row + MOST_RATE])
    if p[row + FREE] == 0.0 and rate * angle > 0.0:
        rate = 0.0
    return rate


@inlined
def gimbals_of(p, at, y, first, k):
    """Angles and rates of the gimbals of gyro k: outer angle, inner angle, outer rate, inner rate; of one gimbal twice
    the same, with the inner rate 0. ``first``: index of the first angle in the state; behind all angles come the
    commands."""
    each = int(p[at + GIMBALS])
    a, row = first + each * k, at + ROWS + ROW * k + OF_GIMBALS
    commands = each * int(p[at + COUNT])
    rate = gimbal_rate(p, row, y[a + commands], y[a])
    if each == 1:
        return y[a], y[a], rate, 0.0
    return y[a], y[a + 1], rate, gimbal_rate(p, row + OF_GIMBAL, y[a + 1 + commands], y[a + 1])


@helper
def momentum_of_gyros(p, at, y, first):
    """The sum of the angular momenta of the rotors, principal frame."""
    H = (0.0, 0.0, 0.0)
    for k in range(int(p[at + COUNT])):
        outer, inner, _, _ = gimbals_of(p, at, y, first, k)
        H = axpy(p[at + ROWS + ROW * k + MOMENTUM], spin_axis(p, at, k, outer, inner), H)
    return H


@helper
def rate_of_gyros(p, at, y, first, later):
    """The rate of this sum in the body, after the gimbals have turned for the time ``later``."""
    rate = (0.0, 0.0, 0.0)
    for k in range(int(p[at + COUNT])):
        outer, inner, a, b = gimbals_of(p, at, y, first, k)
        outer, inner = outer + later * a, inner + later * b
        s = spin_axis(p, at, k, outer, inner)
        g, c = gimbal_axes(p, at, k, outer)
        rate = axpy(p[at + ROWS + ROW * k + MOMENTUM], cross(axpy(b, c, scale(a, g)), s), rate)
    return rate
