"""The table of a mechanism, and its rows: what its joints ask of the bodies, and how it changes with them.

A joint is a few **pieces**, each one or three equations between two bodies, a and b, or a and the ground, which is body
N. u and w are vectors of a and b in their principal axes (of the ground in space), n a third one:

========= ==== ==================================================================
piece     rows what must stay zero, with d = (place of a + u) - (place of b + w)
========= ==== ==================================================================
BALL      3    d
DIRECTION 1    u . w
ROD       1    (|d|^2 / length - length) / 2, the length being n's first number
SLIDE     1    n . d, n in the axes of b
========= ==== ==================================================================

A **node** is a body with the joint to its parent, from the leaves to the roots; rows of joints that are not to a parent
close loops and come last. A **row** is the impulse on a and the one on b, each a force and a torque in space, that a
multiplier of one is: by d'Alembert also how fast the residual grows with displacements and turns of a and b.

All whole numbers of a run stand behind those of its method, from ``m`` on (``step_info[JOINTS_AT]``): PLAN numbers,
then those of the mechanism.
"""

from __future__ import annotations

from math import sqrt

from polhode.algebra.quaternion import to_matrix
from polhode.algebra.so3 import Ad, add, axpy, cross, dot, scale
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, get9, put3, put9
from polhode.kernel.jit import helper, inlined

BALL, DIRECTION, ROD, SLIDE = range(4)  # kinds of pieces
ROWS_OF = (3, 1, 1, 1)  # rows of a piece of each kind

# ------------------------------------------------------------------ whole numbers of a mechanism, the head
BODIES = 0  # how many bodies, all of the system
ROWS = 1  # rows in all
TREE = 2  # the first of these are those of joints to parents
PIECES = 3  # how many pieces, BALLs first
NUMBERS_AT = 4  # where the numbers of pieces begin in the system's parameters, NUMBERS a piece
HEAD = 5  # behind these: pieces, nodes, then for each row that closes a loop its two bodies

# ------------------------------------------------------------------ a piece
PIECE = 5  # whole numbers: kind, a, b, its first row, its first number counted from NUMBERS_AT
NUMBERS = 9  # u, w, n

# ------------------------------------------------------------------ a node
NODE = (
    5  # whole numbers: body, parent (N for the ground or none), first row, rows, and 1 where the body is b of its joint
)

# ------------------------------------------------------------------ whole numbers of a run, before the mechanism's head
PIECES_AT, NODES_AT, OWNERS_AT = 5, 6, 7  # where the tables begin, counted from m; the first five are those of the head
FRACTIONS, FRACTIONS_AT = 8, 9  # how many glides a free motion is, and where their fractions begin in coefficients
GLIDES = 10  # glides in a step
WORK = 11  # from here on where each array begins in the scratch memory
ROW = 12  # numbers of a row: force and torque on a, then on b
(
    STATE, END, RECENT, HISTORY, START, ROTATIONS, ROWS_AT, RESIDUAL, IMPULSE, MATRIX, RIGHT, MOTION, LEFT, RATIO,
    PIVOT, MULTIPLIER, CHANGE, FOLLOWED, LOOP_MOTION, LOOP_MULTIPLIER, LOOP, ORDER, STAGES, BEGUN, SIZE,
) = range(WORK, WORK + 25)  # fmt: skip
"""The first four are all that is remembered; ROTATIONS and ROWS_AT are two arrays each, of the start and the end of a
glide by turns; SIZE is where the last one ends."""
PLAN = SIZE + 1


@inlined
def plan_at(p):
    """Where the whole numbers of the run begin."""
    return int(p.step_info[L.JOINTS_AT])


@inlined
def at(m, slot, p):
    """A whole number of the run."""
    return p.int_coefficients[m + slot]


@inlined
def turned(R, i, c, p):
    """A vector of body i in space; its rotation is number i of ``work[R:]``."""
    return Ad(get9(p.work, R + 9 * i), c)


@inlined
def back(R, i, c, p):
    """A vector of space in the axes of body i."""
    a = get9(p.work, R + 9 * i)
    return (
        a[0] * c[0] + a[3] * c[1] + a[6] * c[2],
        a[1] * c[0] + a[4] * c[1] + a[7] * c[2],
        a[2] * c[0] + a[5] * c[1] + a[8] * c[2],
    )


@inlined
def position_of(i, y, p):
    """Position of body i; the ground is at the origin."""
    return get3(y, L.BODY * i + L.POSITION) if i < p.N else (0.0, 0.0, 0.0)


@helper
def rotations(R, y, p):
    """Rotations of all bodies and of the ground in a state."""
    for i in range(p.N):
        put9(p.work, R + 9 * i, to_matrix(get4(y, L.BODY * i + L.ATTITUDE)))
    put9(p.work, R + 9 * p.N, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))


@inlined
def put_row(k, f, ta, tb, p):
    """A row: force f and torque ta on a, -f and tb on b."""
    put3(p.work, k, f)
    put3(p.work, k + 3, ta)
    put3(p.work, k + 6, scale(-1.0, f))
    put3(p.work, k + 9, tb)


@inlined
def largest3(a):
    """Largest component, without its sign."""
    return max(abs(a[0]), max(abs(a[1]), abs(a[2])))


@helper
def residuals(m, G, R, y, p):
    """Write residuals of a state, and rows to ``work[G:]``; returns the largest residual; of lengths over the
    largest."""
    g, first, numbers = at(m, RESIDUAL, p), m + at(m, PIECES_AT, p), at(m, NUMBERS_AT, p)
    worst, longest, size = 0.0, 0.0, 0.0
    for j in range(at(m, PIECES, p)):
        k = first + PIECE * j
        kind, a, b = p.int_coefficients[k], p.int_coefficients[k + 1], p.int_coefficients[k + 2]
        r, c = p.int_coefficients[k + 3], numbers + p.int_coefficients[k + 4]
        u, w = turned(R, a, get3(p.parameters, c), p), turned(R, b, get3(p.parameters, c + 3), p)
        to = G + ROW * r
        value = 0.0
        if kind == DIRECTION:
            t = cross(u, w)
            put_row(to, (0.0, 0.0, 0.0), t, scale(-1.0, t), p)
            value = dot(u, w)
            p.work[g + r] = value
            worst = max(worst, abs(value))
        else:
            x, z = position_of(a, y, p), position_of(b, y, p)
            d = add(axpy(-1.0, z, x), axpy(-1.0, w, u))
            size = max(size, largest3(x) + largest3(z) + largest3(u) + largest3(w))
            if kind == BALL:
                put_row(to, (1.0, 0.0, 0.0), (0.0, u[2], -u[1]), (0.0, -w[2], w[1]), p)
                put_row(to + ROW, (0.0, 1.0, 0.0), (-u[2], 0.0, u[0]), (w[2], 0.0, -w[0]), p)
                put_row(to + 2 * ROW, (0.0, 0.0, 1.0), (u[1], -u[0], 0.0), (-w[1], w[0], 0.0), p)
                put3(p.work, g + r, d)
                value = largest3(d)
            else:
                n = get3(p.parameters, c + 6)
                v = (0.0, 0.0, 0.0)
                if kind == ROD:
                    s = 1.0 / n[0]
                    value = 0.5 * (s * dot(d, d) - n[0])
                    n = scale(s, d)
                else:
                    n = turned(R, b, n, p)
                    v = cross(n, d)
                    value = dot(n, d)
                put_row(to, n, cross(u, n), axpy(-1.0, cross(w, n), v), p)
                p.work[g + r] = value
            longest = max(longest, abs(value))
        if value * 0.0 != 0.0:
            worst = 1e300
    if longest > 0.0:
        for i in range(p.N):  # all joints may be at the origin, as those of gimbals
            j = largest3(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA))
            if j > 0.0 and j * size * size < p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]:
                size = sqrt(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] / j)  # a radius of gyration
        worst = max(worst, longest / size) if size > 0.0 else 1e300
    return worst


@helper
def impulses(m, G, l, p):
    """Impulses of all rows with multipliers ``work[l:]``, summed for each body, in space."""
    first, to = m + at(m, PIECES_AT, p), at(m, IMPULSE, p)
    for k in range(6 * p.N + 6):
        p.work[to + k] = 0.0
    for j in range(at(m, PIECES, p)):
        k = first + PIECE * j
        a, b, r = to + 6 * p.int_coefficients[k + 1], to + 6 * p.int_coefficients[k + 2], p.int_coefficients[k + 3]
        for e in range(3 if p.int_coefficients[k] == BALL else 1):
            row, x = G + ROW * (r + e), p.work[l + r + e]
            for n in range(6):
                p.work[a + n] += x * p.work[row + n]
                p.work[b + n] += x * p.work[row + 6 + n]


@helper
def push_rows(m, G, R, l, a, width, force, torque, p):
    """Add the impulses of multipliers ``work[l:]`` to what an array has of each body: ``width`` numbers, a vector of
    space at ``force`` and one of the body's axes at ``torque``."""
    impulses(m, G, l, p)
    f = at(m, IMPULSE, p)
    for i in range(p.N):
        k = width * i
        put3(a, k + force, add(get3(a, k + force), get3(p.work, f + 6 * i)))
        put3(a, k + torque, add(get3(a, k + torque), back(R, i, get3(p.work, f + 6 * i + 3), p)))


@helper
def put_speeds(m, x, R, a, width, force, torque, p):
    """Motions ``work[x:]`` of all bodies that momenta, or forces, in an array come to, as in ``push_rows``."""
    for i in range(p.N):
        b, k = L.CONSTANTS * i, width * i
        j, M = get3(p.bodies, b + L.INVERSE_INERTIA), get3(a, k + torque)
        put3(p.work, x + 6 * i, scale(p.bodies[b + L.INVERSE_MASS], get3(a, k + force)))
        put3(p.work, x + 6 * i + 3, turned(R, i, (j[0] * M[0], j[1] * M[1], j[2] * M[2]), p))
    for e in range(6):
        p.work[x + 6 * p.N + e] = 0.0


@helper
def put_openings(m, G, x, l, p):
    """Write to ``work[l:]`` how fast each row closes with the motions ``work[x:]``."""
    first = m + at(m, PIECES_AT, p)
    for j in range(at(m, PIECES, p)):
        k = first + PIECE * j
        a, b, r = x + 6 * p.int_coefficients[k + 1], x + 6 * p.int_coefficients[k + 2], p.int_coefficients[k + 3]
        for e in range(3 if p.int_coefficients[k] == BALL else 1):
            speed = 0.0
            for n in range(6):
                speed -= p.work[G + ROW * (r + e) + n] * p.work[a + n]
                speed -= p.work[G + ROW * (r + e) + 6 + n] * p.work[b + n]
            p.work[l + r + e] = speed
