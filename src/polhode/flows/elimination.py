"""Bodies and joints eliminated along the tree of a mechanism: one elimination for all equations of joints [baraff1996].

Unknowns are a motion x_i of each body (displacement and turn, in space) and a multiplier l of each row:

    K_i x_i - sum G0_i' l = r_i,        sum G1_i x_i = b.

For the momenta of bodies on their joints K is the mass matrix and G0 = G1; for a free motion that ends on the joints, K
is the inverse of how the end responds to impulses at the start, whose rows are G0. From the leaves to the roots, a body
c with the rows Gc | Gp to its parent p leaves

    X = K_c^-1 Gc0',    S = Gc1 X,    Y = S^-1 Gp1,    K_p += Gp0' Y;
    z = K_c^-1 r_c,    l = S^-1 (b - Gc1 z),    r_p += Gp0' l

and back, from the roots to the leaves, l -= Y x_p, x_c = z + X l. The cost grows with the number of bodies for any
tree, in which S cannot be singular. Rows that close loops are solved with a small dense matrix, of the response of each
to each; pivots below IMPLIED of a row's own response without other joints are rows that others imply: they get no
multiplier.
"""

from __future__ import annotations

from polhode.algebra.so3 import cross, matrix_product
from polhode.flows import mechanism as J
from polhode.flows.mechanism import at, back, turned
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get9, put3, put9
from polhode.kernel.jit import helper, inlined

IMPLIED = 1e-9
LEAST, DROPPED = 0, 1  # of ``work[STATE:]``: the least pivot that was kept, and how many rows have none


@inlined
def get6(a, k):
    """Six numbers."""
    return (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5])


@inlined
def put6(a, k, x):
    """Write six numbers."""
    a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5] = x[0], x[1], x[2], x[3], x[4], x[5]


@inlined
def dot6(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@inlined
def axpy6(s, a, b):
    """s a + b."""
    return (
        s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3], s * a[4] + b[4], s * a[5] + b[5]
    )  # fmt: skip


# ------------------------------------------------------------------ matrices of the bodies
@inlined
def similar(m, E):
    """m E m' for a rotation m (nine numbers each)."""
    return matrix_product(matrix_product(m, E), (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]))


@inlined
def inverse9(q):
    """Inverse of a matrix (nine numbers)."""
    a, b, c = q[4] * q[8] - q[5] * q[7], q[5] * q[6] - q[3] * q[8], q[3] * q[7] - q[4] * q[6]
    d = 1.0 / (q[0] * a + q[1] * b + q[2] * c)
    return (
        a * d, (q[2] * q[7] - q[1] * q[8]) * d, (q[1] * q[5] - q[2] * q[4]) * d,
        b * d, (q[0] * q[8] - q[2] * q[6]) * d, (q[2] * q[3] - q[0] * q[5]) * d,
        c * d, (q[1] * q[6] - q[0] * q[7]) * d, (q[0] * q[4] - q[1] * q[3]) * d,
    )  # fmt: skip


@inlined
def half_response(j, l, h, sign):
    """h/2 J + sign h^2/12 B in body axes: with inverse moments J and momentum l, B = w^ J - J w^ + J l^ J is the rate
    of J at a turning body, as the response of turns to momenta sees it."""
    w = (j[0] * l[0], j[1] * l[1], j[2] * l[2])
    f, d = sign * h * h / 12.0, 0.5 * h
    xy, xz, yz = f * w[2] * (j[1] - j[0]), f * w[1] * (j[0] - j[2]), f * w[0] * (j[2] - j[1])
    a, b, c = f * j[0] * j[1] * l[2], f * j[0] * j[2] * l[1], f * j[1] * j[2] * l[0]
    return (d * j[0], -xy - a, -xz + b, -xy + a, d * j[1], -yz - c, -xz - b, -yz + c, d * j[2])


@inlined
def put_turning(k, V, p):
    """The lower right nine numbers of a matrix of six rows."""
    put3(p.work, k + 21, (V[0], V[1], V[2]))
    put3(p.work, k + 27, (V[3], V[4], V[5]))
    put3(p.work, k + 33, (V[6], V[7], V[8]))


@helper
def put_matrices(m, h, R0, R1, p):
    """K of all bodies: of the response, at the end of a free motion of h (state and R1), to impulses at its start (R0);
    the mass matrix where h = 0.

    The turn follows x' = J(t) (dl + L x x), L being the momentum in space; its integral by Hermite's rule of order 4,
    from both ends, is Q dl + E1 L x x at the end: K = Q^-1 (1 - E1 L^).
    """
    for i in range(p.N):
        k, b = at(m, J.MATRIX, p) + 36 * i, L.CONSTANTS * i
        for e in range(36):
            p.work[k + e] = 0.0
        mass = p.bodies[b + L.MASS] if h == 0.0 else p.bodies[b + L.MASS] / h
        p.work[k], p.work[k + 7], p.work[k + 14] = mass, mass, mass
        I, j = get3(p.bodies, b + L.INERTIA), get3(p.bodies, b + L.INVERSE_INERTIA)
        if j[0] == 0.0 and j[1] == 0.0 and j[2] == 0.0:
            p.work[k + 21], p.work[k + 28], p.work[k + 35] = 1.0, 1.0, 1.0
        elif h == 0.0:
            zero = 0.0
            put_turning(k, similar(get9(p.work, R1 + 9 * i), (I[0], zero, zero, zero, I[1], zero, zero, zero, I[2])), p)
        else:
            M = get3(p.y, L.BODY * i + L.ANGULAR)
            l = turned(R1, i, M, p)
            E0 = similar(get9(p.work, R0 + 9 * i), half_response(j, back(R0, i, l, p), h, 1.0))
            E = similar(get9(p.work, R1 + 9 * i), half_response(j, M, h, -1.0))
            a, b1, c = cross((E[0], E[1], E[2]), l), cross((E[3], E[4], E[5]), l), cross((E[6], E[7], E[8]), l)
            V = inverse9((
                E0[0] + E[0], E0[1] + E[1], E0[2] + E[2], E0[3] + E[3], E0[4] + E[4], E0[5] + E[5], E0[6] + E[6],
                E0[7] + E[7], E0[8] + E[8],
            ))  # fmt: skip
            put_turning(k, matrix_product(V, (
                1.0 - a[0], -a[1], -a[2], -b1[0], 1.0 - b1[1], -b1[2], -c[0], -c[1], 1.0 - c[2],
            )), p)  # fmt: skip


# ------------------------------------------------------------------ small matrices
@helper
def eliminate6(k, w):
    """The factors of the matrix at ``w[k:]``, in its place, with inverse pivots."""
    for c in range(6):
        d = 1.0 / w[k + 7 * c]
        w[k + 7 * c] = d
        for r in range(c + 1, 6):
            f = w[k + 6 * r + c] * d
            w[k + 6 * r + c] = f
            for s in range(c + 1, 6):
                w[k + 6 * r + s] -= f * w[k + 6 * c + s]


@inlined
def solved6(k, b, w):
    """K^-1 b, from the factors at ``w[k:]``."""
    a0 = b[0]
    a1 = b[1] - w[k + 6] * a0
    a2 = b[2] - w[k + 12] * a0 - w[k + 13] * a1
    a3 = b[3] - w[k + 18] * a0 - w[k + 19] * a1 - w[k + 20] * a2
    a4 = b[4] - w[k + 24] * a0 - w[k + 25] * a1 - w[k + 26] * a2 - w[k + 27] * a3
    a5 = b[5] - w[k + 30] * a0 - w[k + 31] * a1 - w[k + 32] * a2 - w[k + 33] * a3 - w[k + 34] * a4
    x5 = a5 * w[k + 35]
    x4 = (a4 - w[k + 29] * x5) * w[k + 28]
    x3 = (a3 - w[k + 22] * x4 - w[k + 23] * x5) * w[k + 21]
    x2 = (a2 - w[k + 15] * x3 - w[k + 16] * x4 - w[k + 17] * x5) * w[k + 14]
    x1 = (a1 - w[k + 8] * x2 - w[k + 9] * x3 - w[k + 10] * x4 - w[k + 11] * x5) * w[k + 7]
    x0 = (a0 - w[k + 1] * x1 - w[k + 2] * x2 - w[k + 3] * x3 - w[k + 4] * x4 - w[k + 5] * x5) * w[k]
    return (x0, x1, x2, x3, x4, x5)


@helper
def invert(s, n, w):
    """The inverse of the n x n matrix at ``w[s:]``, in its place; its pivots are those of a definite matrix."""
    if n == 3:
        put9(w, s, inverse9(get9(w, s)))
        return
    for c in range(n):
        d = 1.0 / w[s + n * c + c]
        w[s + n * c + c] = 1.0
        for e in range(n):
            w[s + n * c + e] *= d
        for r in range(n):
            if r != c:
                f = w[s + n * r + c]
                w[s + n * r + c] = 0.0
                for e in range(n):
                    w[s + n * r + e] -= f * w[s + n * c + e]


@helper
def multiply(s, n, k, w):
    """The n x n matrix at ``w[s:]`` times the vector at ``w[k:]``, at most six numbers, in its place."""
    if n == 3:
        q, v = get9(w, s), get3(w, k)
        put3(w, k, (
            q[0] * v[0] + q[1] * v[1] + q[2] * v[2], q[3] * v[0] + q[4] * v[1] + q[5] * v[2],
            q[6] * v[0] + q[7] * v[1] + q[8] * v[2],
        ))  # fmt: skip
        return
    v0, v1, v2 = w[k], w[k + 1] if n > 1 else 0.0, w[k + 2] if n > 2 else 0.0
    v3, v4, v5 = w[k + 3] if n > 3 else 0.0, w[k + 4] if n > 4 else 0.0, w[k + 5] if n > 5 else 0.0
    for r in range(n):
        q = s + n * r
        x = w[q] * v0
        if n > 1:
            x += w[q + 1] * v1
        if n > 2:
            x += w[q + 2] * v2
        if n > 3:
            x += w[q + 3] * v3
        if n > 4:
            x += w[q + 4] * v4
        if n > 5:
            x += w[q + 5] * v5
        w[k + r] = x


# ------------------------------------------------------------------ the tree
@helper
def eliminate_tree(m, G0, G1, p):
    """Eliminate all bodies and joints of the tree, with the rows ``work[G0:]`` and ``work[G1:]``."""
    nodes = m + at(m, J.NODES_AT, p)
    for j in range(p.N):
        q = nodes + J.NODE * j
        i, up, first = p.int_coefficients[q], p.int_coefficients[q + 1], p.int_coefficients[q + 2]
        n, side = p.int_coefficients[q + 3], p.int_coefficients[q + 4]
        k, x, s = at(m, J.MATRIX, p) + 36 * i, at(m, J.LEFT, p) + 6 * first, at(m, J.PIVOT, p) + 36 * j
        eliminate6(k, p.work)
        a0, a1 = G0 + J.ROW * first + 6 * side, G1 + J.ROW * first + 6 * side
        for r in range(n):
            X = solved6(k, get6(p.work, a0 + J.ROW * r), p.work)
            put6(p.work, x + 6 * r, X)
            for e in range(n):
                p.work[s + n * e + r] = dot6(get6(p.work, a1 + J.ROW * e), X)
        if n > 0:
            invert(s, n, p.work)
        if up < p.N:
            b0, b1 = G0 + J.ROW * first + 6 - 6 * side, G1 + J.ROW * first + 6 - 6 * side
            y, above = at(m, J.RATIO, p) + 6 * first, at(m, J.MATRIX, p) + 36 * up
            for r in range(n):
                a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                for e in range(n):
                    a = axpy6(p.work[s + n * r + e], get6(p.work, b1 + J.ROW * e), a)
                put6(p.work, y + 6 * r, a)
            for e in range(6):
                a = get6(p.work, above + 6 * e)
                for r in range(n):
                    a = axpy6(p.work[b0 + J.ROW * r + e], get6(p.work, y + 6 * r), a)
                put6(p.work, above + 6 * e, a)


@helper
def solve_tree(m, G0, G1, l, x, p):
    """Motions ``work[x:]`` and multipliers ``work[l:]`` for the right sides ``work[RIGHT:]`` of bodies, which it
    spoils, and ``work[l:]`` of rows."""
    nodes, right = m + at(m, J.NODES_AT, p), at(m, J.RIGHT, p)
    for j in range(p.N):
        q = nodes + J.NODE * j
        i, up, first = p.int_coefficients[q], p.int_coefficients[q + 1], p.int_coefficients[q + 2]
        n, side = p.int_coefficients[q + 3], p.int_coefficients[q + 4]
        z = solved6(at(m, J.MATRIX, p) + 36 * i, get6(p.work, right + 6 * i), p.work)
        put6(p.work, x + 6 * i, z)
        if n > 0:
            a1 = G1 + J.ROW * first + 6 * side
            for r in range(n):
                p.work[l + first + r] -= dot6(get6(p.work, a1 + J.ROW * r), z)
            multiply(at(m, J.PIVOT, p) + 36 * j, n, l + first, p.work)
            if up < p.N:
                b0, above = G0 + J.ROW * first + 6 - 6 * side, right + 6 * up
                a = get6(p.work, above)
                for r in range(n):
                    a = axpy6(p.work[l + first + r], get6(p.work, b0 + J.ROW * r), a)
                put6(p.work, above, a)
    for c in range(p.N):
        q = nodes + J.NODE * (p.N - 1 - c)
        i, up, first, n = (
            p.int_coefficients[q], p.int_coefficients[q + 1], p.int_coefficients[q + 2], p.int_coefficients[q + 3]
        )  # fmt: skip
        a = get6(p.work, x + 6 * i)
        for r in range(n):
            f = p.work[l + first + r]
            if up < p.N:
                f -= dot6(get6(p.work, at(m, J.RATIO, p) + 6 * (first + r)), get6(p.work, x + 6 * up))
                p.work[l + first + r] = f
            a = axpy6(f, get6(p.work, at(m, J.LEFT, p) + 6 * (first + r)), a)
        put6(p.work, x + 6 * i, a)


@inlined
def owner(m, r, side, p):
    """The body on one side of closing row r."""
    return p.int_coefficients[m + at(m, J.OWNERS_AT, p) + 2 * r + side]


@helper
def opening(m, r, G, x, p):
    """How fast closing row r opens with the motions ``work[x:]``."""
    speed = 0.0
    for side in range(2):
        i = owner(m, r, side, p)
        if i < p.N:
            speed += dot6(get6(p.work, G + J.ROW * (at(m, J.TREE, p) + r) + 6 * side), get6(p.work, x + 6 * i))
    return speed


@helper
def no_loads(m, p):
    """No right sides of bodies."""
    for k in range(6 * p.N + 6):
        p.work[at(m, J.RIGHT, p) + k] = 0.0


@helper
def eliminate_loops(m, G0, G1, R, h, p):
    """Eliminate the rows that close loops, with complete pivoting; h is the time of the free motion, 1 for none."""
    T, D, right, order = at(m, J.TREE, p), at(m, J.LOOP, p), at(m, J.RIGHT, p), at(m, J.ORDER, p)
    C = at(m, J.ROWS, p) - T
    own, state = D + C * C, at(m, J.STATE, p)
    for s in range(C):
        no_loads(m, p)
        l, x = at(m, J.LOOP_MULTIPLIER, p) + T * s, at(m, J.LOOP_MOTION, p) + 6 * (p.N + 1) * s
        for r in range(T):
            p.work[l + r] = 0.0
        free = 0.0
        for side in range(2):
            i, row = owner(m, s, side, p), G0 + J.ROW * (T + s) + 6 * side
            if i < p.N:
                t, b = back(R, i, get3(p.work, row + 3), p), L.CONSTANTS * i
                for e in range(3):
                    free += p.work[row + e] * p.work[row + e] * p.bodies[b + L.INVERSE_MASS]
                    free += t[e] * t[e] * p.bodies[b + L.INVERSE_INERTIA + e]
                for e in range(6):
                    p.work[right + 6 * i + e] += p.work[row + e]
        p.work[own + s] = free * abs(h)
        solve_tree(m, G0, G1, l, x, p)
        for r in range(C):
            p.work[D + C * r + s] = opening(m, r, G1, x, p)
    for c in range(C):
        p.work[order + c] = 1.0 * c
    rank = C
    for c in range(C):
        best, to = 0.0, c
        for r in range(c, C):
            k = int(p.work[order + r])
            size = abs(p.work[D + C * k + k] / p.work[own + k])
            if size > best:
                best, to = size, r
        if c == 0 or IMPLIED < best < p.work[state + LEAST]:
            p.work[state + LEAST] = best
        if best <= IMPLIED:
            rank = c
            break
        swap = p.work[order + c]
        p.work[order + c] = p.work[order + to]
        p.work[order + to] = swap
        k = int(p.work[order + c])
        d = 1.0 / p.work[D + C * k + k]
        for e in range(c + 1, C):
            r = int(p.work[order + e])
            f = p.work[D + C * r + k] * d
            p.work[D + C * r + k] = f
            for g in range(c + 1, C):
                s = int(p.work[order + g])
                p.work[D + C * r + s] -= f * p.work[D + C * k + s]
    p.work[state + DROPPED] = 1.0 * (C - rank)


@helper
def eliminate(m, h, G0, G1, R0, R1, p):
    """Eliminate all: matrices as of ``put_matrices``, rows at the start and at the end."""
    put_matrices(m, h, R0, R1, p)
    eliminate_tree(m, G0, G1, p)
    if at(m, J.ROWS, p) > at(m, J.TREE, p):
        eliminate_loops(m, G0, G1, R0, 1.0 if h == 0.0 else h, p)


@helper
def solve(m, G0, G1, l, p):
    """Multipliers for the right sides ``work[l:]`` of all rows, in their place, and ``work[RIGHT:]`` of bodies; motions
    are in ``work[MOTION:]``."""
    T, D, x, order = at(m, J.TREE, p), at(m, J.LOOP, p), at(m, J.MOTION, p), at(m, J.ORDER, p)
    C = at(m, J.ROWS, p) - T
    solve_tree(m, G0, G1, l, x, p)
    if C > 0:
        rank = C - int(p.work[at(m, J.STATE, p) + DROPPED])
        for r in range(C):
            p.work[l + T + r] -= opening(m, r, G1, x, p)
        for c in range(rank):
            k = int(p.work[order + c])
            for e in range(c):
                s = int(p.work[order + e])
                p.work[l + T + k] -= p.work[D + C * k + s] * p.work[l + T + s]
        for g in range(rank):
            c = rank - 1 - g
            k = int(p.work[order + c])
            f = p.work[l + T + k]
            for e in range(c + 1, rank):
                s = int(p.work[order + e])
                f -= p.work[D + C * k + s] * p.work[l + T + s]
            p.work[l + T + k] = f / p.work[D + C * k + k]
        for c in range(rank, C):
            p.work[l + T + int(p.work[order + c])] = 0.0
        for s in range(C):
            f = p.work[l + T + s]
            if f != 0.0:
                for r in range(T):
                    p.work[l + r] += f * p.work[at(m, J.LOOP_MULTIPLIER, p) + T * s + r]
                for k in range(6 * p.N):
                    p.work[x + k] += f * p.work[at(m, J.LOOP_MOTION, p) + 6 * (p.N + 1) * s + k]
