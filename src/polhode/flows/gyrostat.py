"""Free motion of a gyrostat: a rigid body with rotors, wheels or gyros in gimbals at rest, whose momenta stay.

With m = J w the angular momentum of the body, where J leaves out what wheels add about their own axes, and H = sum h_k
a_k that of the rotors, the whole M = m + H stays in space and moves in the body by

    M' = M x J^-1 (M - H),       e' = e o (0, J^-1 (M - H)) / 2.                     [hughes1986, ch. 6]

The motion of M is elliptic, as that of a free body is, but its curve is a general quartic, whose roots change their
places with the momentum; and the attitude is an integral of the third kind along it. The flow here is the sum of its
Taylor series to round-off instead, in as many pieces as that takes: the coefficients are products of series, and the
rotation e of the step and M are entered as increments, so that M in space stays as well as in the exact free rotation.
Where the wheels are at rest, it is that rotation.
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.algebra.so3 import add, axpy, cross
from polhode.flows import free_rotation, gimbals, sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.simd import cycled, four, fused, load4, spread, store4, sum4

TERMS, MOST_PIECES = 26, 12000  # most terms of a piece, most pieces
MOMENTUM, RATE, TURN, SCALAR, ROW, CYCLED = 0, 8, 16, 19, 24, 4
"""Where a coefficient in ``work`` has the momentum of the body, its angular velocity and the rotation's quaternion,
scalar last; how many numbers it has; how far behind each is the same ``cycled``."""
WORK = ROW * (TERMS + 1)  # scratch memory
BEFORE, NEXT, LEFT, HUGE = 2.0**-94, 2.0**-144, 2.0**-120, 1e200
"""Squared sizes of terms: of the last but one and of the next (by the ratio of the last two) at which a sum ends, for
what it leaves out adds up over steps; of the last of TERMS; of the last where the next ones may be infinite."""
COUNT, FIRST, GYROS, AXES, AXIS, OF_WHEEL = 0, 1, 2, 3, 3, 7
"""The table of wheels in the parameters, from ``step_info[WHEELS_AT]`` on; of several bodies N numbers there say where
that of each begins, 0 of one without. It is: how many wheels there are, the auxiliary variable that is the momentum of
the first, where the table of gyros is (``flows.gimbals``; 0 without), and the axes of the wheels, principal frame, AXIS
numbers each. Behind it is what loads read (``bodies.wheels``): a number, then OF_WHEEL for each wheel, the first its
moment of inertia about its axis."""


def tables_in(parameters, at, N):
    """Bodies with wheels or gyros, and where the table of each begins in an array of parameters; ``at``: as WHEELS_AT,
    less than 0 without any."""
    if at < 0:
        return []
    begins = [at] if N == 1 else [int(x) for x in parameters[at : at + N]]
    return [(i, begin) for i, begin in enumerate(begins) if N == 1 or begin > 0]


def wheels_in(parameters, at):
    """Where the momenta of wheels stand among the auxiliary variables, their axes (..., n, 3) and moments of inertia
    (..., n), from the table that begins at ``at`` in arrays (..., P)."""
    count, first = (int(parameters[(0,) * (parameters.ndim - 1)][at + k]) for k in (COUNT, FIRST))
    behind = at + AXES + AXIS * count
    axes = parameters[..., at + AXES : behind].reshape(*parameters.shape[:-1], count, AXIS)
    return slice(first, first + count), axes, parameters[..., behind + 1 : behind + 1 + OF_WHEEL * count : OF_WHEEL]


def carried_round(parameters, at, y, moments):
    """Where the momenta of wheels stand among the auxiliary variables, and how much of them comes from the turning of
    their bodies, of which y is the state (..., 13 N) and ``moments`` (..., N, 3) are the moments of inertia."""
    for i, begin in tables_in(parameters[(0,) * (parameters.ndim - 1)], at, moments.shape[-2]):
        wheels, axes, inertia = wheels_in(parameters, begin)
        m = y[..., L.BODY * i + L.ANGULAR : L.BODY * (i + 1)]
        yield wheels, inertia * (axes @ (m / moments[..., i, :])[..., None])[..., 0]


enter_rotation = hole("enter_rotation(i, dm, e, p) -> status", "The sum into attitude and angular momentum.")
without_wheels = hole("without_wheels(i, h, p) -> status", "The free rotation of a body without wheels.")


@inlined
def table_of(i, p):
    """Where the table of body i begins, 0 of one of several without."""
    at = int(p.step_info[L.WHEELS_AT])
    return at if p.N == 1 else int(p.parameters[at + i])


@inlined
def momentum_of_rotors(i, p):
    """The sum of the angular momenta of the rotors of body i, principal frame."""
    at = table_of(i, p)
    if p.N > 1 and at == 0:
        return (0.0, 0.0, 0.0)
    first = L.BODY * p.N + int(p.parameters[at + FIRST])
    H = (0.0, 0.0, 0.0)
    for k in range(int(p.parameters[at + COUNT])):
        H = axpy(p.y[first + k], get3(p.parameters, at + AXES + AXIS * k), H)
    gyros = int(p.parameters[at + GYROS])
    if gyros > 0:
        angles = L.BODY * p.N + int(p.parameters[gyros + gimbals.FIRST])
        H = add(H, gimbals.momentum_of_gyros(p.parameters, gyros, p.y, angles))
    return H


@inlined
def put(work, at, x):
    """Write four numbers, and what is ``cycled`` of them."""
    store4(work, at, x)
    store4(work, at + CYCLED, cycled(x))


@helper
def series(m, M, j, h, p):
    """Coefficients of momentum, rate and rotation in powers of time over h into ``work``; how many there are, and which
    part of h they reach. Vectors are (x, y, z, 0), quaternions (x, y, z, scalar)."""
    work, M, j = p.work, four(M[0], M[1], M[2], 0.0), four(j[0], j[1], j[2], 0.0)
    w, last = j * four(m[0], m[1], m[2], 0.0), inf
    put(work, RATE, w)
    for n in range(TERMS):
        s, at = spread(h / (n + 1.0)), ROW * n
        scalar = ahead = back = spread(0.0)
        along, ahead_m, back_m = w, M * cycled(w), cycled(M) * w
        for one in range(ROW, at + 1, ROW):
            other = at - one + RATE
            v, w, w1 = load4(work, one + TURN), load4(work, other), load4(work, other + CYCLED)
            ahead_m = fused(load4(work, one + MOMENTUM), w1, ahead_m)
            back_m = fused(load4(work, one + MOMENTUM + CYCLED), w, back_m)
            ahead = fused(v, w1, ahead)
            back = fused(load4(work, one + TURN + CYCLED), w, back)
            along = fused(spread(work[one + SCALAR]), w, along)
            scalar = fused(v, w, scalar)
        v = 0.5 * s * (along + cycled(ahead - back) - four(0.0, 0.0, 0.0, sum4(scalar)))
        m = s * cycled(ahead_m - back_m)
        w = j * m
        put(work, at + ROW + MOMENTUM, m)
        put(work, at + ROW + RATE, w)
        put(work, at + ROW + TURN, v)
        before, last = last, 4.0 * sum4(v * v)
        if before <= BEFORE and last * last <= NEXT * before:
            return n + 1, 1.0
        if n == TERMS - 1 or not last < HUGE:
            return n + 1, min((LEFT / max(last, before)) ** (0.5 / (n + 1)), 1.0) if last < inf else 0.0
    return 0, 0.0


def gyrate(i, h, p):
    """Free motion of the gyrostat for the time h; returns a status."""
    H = momentum_of_rotors(i, p)
    if H[0] == 0.0 and H[1] == 0.0 and H[2] == 0.0:
        return without_wheels(i, h, p)
    j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    left = 1.0
    for _ in range(MOST_PIECES):
        m = get3(p.y, L.BODY * i + L.ANGULAR)
        M = add(m, H)
        count, reach = series(m, M, j, left * h, p)
        if reach == 0.0:
            return L.NOT_FINITE
        v = spread(0.0)
        for n in range(count, 0, -1):
            v = fused(v, spread(reach), load4(p.work, ROW * n + TURN))
        store4(p.work, 0, reach * v)
        e = (p.work[3], p.work[0], p.work[1], p.work[2])
        vv = e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
        # To unit length. The scalar part of a small rotation follows from the vector part, which then stays as it is:
        # divided by a length, it would be off by the same part in every step, and the energy would drift.
        small = 1.0 + e[0] > sums.NEARLY_ONE
        scalar = sqrt(1.0 - vv) if small else 1.0 + e[0]
        r = 1.0 if small else 1.0 / sqrt(scalar * scalar + vv)
        v = (r * e[1], r * e[2], r * e[3])
        t = cross(v, M)
        dm = axpy(2.0, axpy(-(r * scalar), t, cross(v, t)), (0.0, 0.0, 0.0))
        status = enter_rotation(i, dm, (r * scalar, v[0], v[1], v[2]), p)
        if status != L.OK or reach == 1.0:
            return status
        left *= 1.0 - reach
    return L.TOO_LARGE


rotate_free = helper(bind(gyrate, enter_rotation=sums.enter_rotation, without_wheels=free_rotation.rotate_free))
rotate_free_compensated = helper(
    bind(gyrate, enter_rotation=sums.enter_rotation_compensated, without_wheels=free_rotation.rotate_free_compensated)
)
