"""Free rotation by splitting: exact rotations about body axes, and the exact motion of a symmetric top.

========================= ==========================================================================================
``turn_three``            about axis 3, 2, 1, 2, 3 [vilmart2013, three rotation splitting], its last factors corrected
``turn_mclachlan_reich``  about axis 1, 2, 3, 2, 1 [celledoni2008, 3.3], [dullweber1997]
``turn_symmetric``        one axis, a symmetric top, the axis again [vilmart2013, alg. 2], its coefficients corrected
========================= ==========================================================================================

All are of order 2, time-symmetric, explicit and symplectic; they keep the spatial angular momentum and the unit
quaternion to round-off, the energy to their order. ``turn_symmetric`` pairs the two axes whose inverse moments are
closest, and its error is proportional to their difference, so it is exact for symmetric bodies. ``boosted`` raises the
order by triple jumps.

Legend: ``m`` body angular momentum, ``q`` attitude, ``j`` inverse principal moments, ``a`` rotation angle.
"""

from __future__ import annotations

from functools import cache
from math import cos, inf, sin, sqrt

from polhode.algebra.quaternion import bounded, multiply
from polhode.algebra.so3 import dot, exp_quaternion, scale, times
from polhode.flows.invariants import squared_speed
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, hole, inlined
from polhode.kernel.simd import fused


@inlined
def half_and_whole(a):
    """Cosine and sine of a/2, cosine C and sine S of a, and (C^2 + S^2 - 1)/2, by which ``turned`` corrects the length.

    Where the angle is the same in every step, so is the rounding of C and S, and its effect would accumulate.
    """
    c, s = cos(0.5 * a), sin(0.5 * a)
    C, S = 1.0 - 2.0 * s * s, 2.0 * c * s
    CC, SS = C * C, S * S
    high, low = max(CC, SS), min(CC, SS)
    return c, s, C, S, 0.5 * (((high - 1.0) + low) + (fused(C, C, -CC) + fused(S, S, -SS)))


@inlined
def turned(C, S, over, u, v):
    """C u + S v, the first of two coordinates after a rotation, corrected by ``over`` so that the length stays."""
    return fused(C, u, fused(S, v, -over * (C * u + S * v)))


@inlined
def about_1(m, q, a):
    """Exact flow of the kinetic energy m1^2/2 with rotation angle a about the first body axis."""
    c, s, C, S, over = half_and_whole(a)
    m = (m[0], turned(C, S, over, m[1], m[2]), turned(C, -S, over, m[2], m[1]))
    return m, (q[0] * c - q[1] * s, q[1] * c + q[0] * s, q[2] * c + q[3] * s, q[3] * c - q[2] * s)


@inlined
def about_2(m, q, a):
    """Exact flow of m2^2/2 with rotation angle a about the second body axis: ``about_1`` in axes counted from it."""
    m, q = about_1((m[1], m[2], m[0]), (q[0], q[2], q[3], q[1]), a)
    return (m[2], m[0], m[1]), (q[0], q[3], q[1], q[2])


@inlined
def about_3(m, q, a):
    """Exact flow of m3^2/2 with rotation angle a about the third body axis: ``about_1`` in axes counted from it."""
    m, q = about_1((m[2], m[0], m[1]), (q[0], q[3], q[1], q[2]), a)
    return (m[1], m[2], m[0]), (q[0], q[2], q[3], q[1])


@inlined
def symmetric_top(m, q, h, across, along):
    """Exact flow of a top with inverse moments (across, across, along): rotation about m, then about axis 3."""
    q = multiply(q, exp_quaternion(scale(h * across, m)))
    return about_3(m, q, h * (along - across) * m[2])


first = hole("first(m, q, a) -> (m, q)", "The rotation about the first axis in the order of a splitting.")
last = hole("last(m, q, a) -> (m, q)", "The rotation about the last one.")
FIRST = hole("FIRST", "The number of the first axis, from 0.")


@inlined
def in_order(m, q, h, j):
    """Axes from the first to the last and back, all but the last for half the time twice."""
    d, n = 0.5 * h, 2 - FIRST
    m, q = first(m, q, d * j[FIRST] * m[FIRST])
    m, q = about_2(m, q, d * j[1] * m[1])
    m, q = last(m, q, h * j[n] * m[n])
    m, q = about_2(m, q, d * j[1] * m[1])
    return first(m, q, d * j[FIRST] * m[FIRST])


three_rotation = inlined(bind(in_order, first=about_3, last=about_1, FIRST=2))
mclachlan_reich = inlined(bind(in_order, first=about_1, last=about_3, FIRST=0))


@inlined
def symmetric_and_rotation(m, q, h, j):
    """A rotation about one of the two closest axes, a symmetric top, the rotation again.

    The axes are renumbered cyclically, so that they stay right-handed, until the two closest are the first two.
    """
    d12, d23, d31 = abs(j[0] - j[1]), abs(j[1] - j[2]), abs(j[2] - j[0])
    n = 0
    if d23 < d12 or d31 < d12:
        n = 1 if d23 <= d31 else 2
    for _ in range(n):
        m, j, q = (m[1], m[2], m[0]), (j[1], j[2], j[0]), (q[0], q[2], q[3], q[1])
    # Rotate about the one with the smaller moment: the result does not depend on the numbering of the axes.
    d = 0.5 * h * (j[0] - j[1])
    first = d * h >= 0.0
    for part in range(3):
        if part == 1:
            m, q = symmetric_top(m, q, h, j[1] if first else j[0], j[2])
        elif first:
            m, q = about_1(m, q, d * m[0])
        else:
            m, q = about_2(m, q, -d * m[1])
    for _ in range((3 - n) % 3):
        m, q = (m[1], m[2], m[0]), (q[0], q[2], q[3], q[1])
    return m, q


LARGEST_ANGLE = 1.0
"""Largest angle (rad) of a guarded step. For rotations about body axes the angle is the step times the geometric mean
of two speeds: the largest angular speed of the body, and that of its whole momentum along the axis of the smallest
moment, since each rotation changes the momentum along that axis. On 60,000 random bodies (general, rods, flat) steps
within it were off by at most 0.14 rad; limited by the angular speed of the body alone, by pi. The symmetric splitting,
limited by the angular speed of the body alone, was off by at most 0.06 rad."""


@inlined
def reach(m, j):
    """Fourth power of the angular speed (rad/time) that limits steps of rotations about body axes."""
    low, high = min(j[0], j[1], j[2]), max(j[0], j[1], j[2])
    square = dot(m, m)
    w = 0.5 * dot((j[0] - low, j[1] - low, j[2] - low), times(m, m))
    return squared_speed(low, high, w, 0.5 * square) * square * high * high


def largest_step(m, j, longest=1.0):
    """Largest guarded step for rotations about body axes, each for at most the share ``longest`` of the step."""
    m, j = tuple(map(float, m)), tuple(map(float, j))
    speed = sqrt(sqrt(reach(m, j)))
    return inf if speed == 0.0 else LARGEST_ANGLE / (longest * speed)


def without_thickness(moments):
    """Why rotations about body axes cannot be used for a body of these moments, one of which is infinite; else ""."""
    if sum(x < inf for x in moments) != 2:
        return ""
    return (
        "turns a body about its axes one after the other, which would make one without thickness spin about its own; "
        "take 'exact' or 'symmetric'"
    )


@inlined
def too_far(h, m, j):
    """Whether a step exceeds the range of rotations about body axes."""
    return reach(m, j) * (h * h) * (h * h) > LARGEST_ANGLE**4


@inlined
def never(h, m, j):
    """No check: for a splitting that is limited by the angle of the body only, which the time loop checks."""
    return False


out_of_range = hole("out_of_range(h, m, j) -> bool", "Whether a step exceeds the range.", default=too_far)
rotate_body = hole("rotate_body(m, q, h, j) -> (m, q)", "One of the splittings above.")


def turn_body(i, h, p):
    """Rotate body i for a time h; returns OK, or TOO_LARGE for a guarded step out of range."""
    a = L.BODY * i
    m, q = get3(p.y, a + L.ANGULAR), get4(p.y, a + L.ATTITUDE)
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    if p.step_info[L.GUARDED] != 0.0 and out_of_range(h, m, j):
        return L.TOO_LARGE
    m, q = rotate_body(m, q, h, j)
    put3(p.y, a + L.ANGULAR, m)
    put4(p.y, a + L.ATTITUDE, bounded(q))
    return L.OK


turn_three = bind(turn_body, rotate_body=three_rotation)
turn_mclachlan_reich = bind(turn_body, rotate_body=mclachlan_reich)
turn_symmetric = bind(turn_body, rotate_body=symmetric_and_rotation, out_of_range=never)

FRACTIONS = hole("FRACTIONS", "Fractions of the time of a step.")
rotate_free = hole("rotate_free(i, h, p) -> status", "The flow that is composed.")


def repeat(i, h, p):
    """Apply the bound flow for each of FRACTIONS of the time h in turn; returns the status."""
    for k in range(len(FRACTIONS)):
        status = rotate_free(i, FRACTIONS[k] * h, p)
        if status != L.OK:
            return status
    return L.OK


def triple_jumps(order: int) -> tuple[float, ...]:
    """Fractions of the step whose composition raises a symmetric map of order 2 to this even order [yoshida1990]."""
    fractions = (1.0,)
    for known in range(2, order, 2):
        outer = 1.0 / (2.0 - 2.0 ** (1.0 / (known + 1)))
        fractions = tuple(f * g for f in (outer, 1.0 - 2.0 * outer, outer) for g in fractions)
    return fractions


@cache
def boosted(flow, order: int):
    """A symmetric flow of order 2 raised to an even order by triple jumps: 3 applications for 4, 9 for 6, 27 for 8."""
    return flow if order == 2 else bind(repeat, rotate_free=flow, FRACTIONS=triple_jumps(order))
