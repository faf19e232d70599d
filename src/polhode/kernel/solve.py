"""Newton's method to round-off, with a status: for 3 unknowns, and continuation and LU factors for more.

Three unknowns are tuples (``newton3``); systems of any size are in flat arrays (``factor``, ``substitute``: Gaussian
elimination with row exchanges).

The equations of an implicit step may have several solutions; the one wanted is connected to the solution of a vanishing
step. Where corrections shrink quickly from the first one on, no other solution is near. Where they do not, because the
loads are nonlinear within the step, the solution is followed through shorter steps (``follow``), or the step fails.
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.kernel import layout as L
from polhode.kernel.jit import helper, hole, inlined

MOST_ITERATIONS = 50
DIFFERENCE = 1.5e-8
ROUNDOFF = 1e-15
"""Rotation in a step (rad), or movement relative to the position, that counts as round-off of state and loads."""

SLOW = 0.05
"""Where the ratio of two successive corrections exceeds this, the full numerical Jacobian is used."""

WORTH = 0.003
"""The same where the full Jacobian costs little more than the cheap one."""

NEAR = 0.25
"""Largest ratio of the second correction to the first. Beyond it the initial guess was too far away: Newton's method
may converge to any of several solutions."""

STRAY, TRIFLE = 0.5, 0.01
"""``follow`` accepts a solution whose distance from the extrapolated one is at most STRAY times its change, or TRIFLE
times itself."""

FINEST = 1.0 / 4096.0
"""Smallest fraction of a step in ``follow``; where even that fails, the solution has ended or turned back."""

solve = hole("solve(t, g, full, p) -> status", "The solver of a step of size g, for ``follow``.")


@inlined
def norm3(a):
    """Euclidean length of a 3-tuple."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def det3(a):
    """Determinant of the 3x3 matrix with rows ``a`` (9-tuple)."""
    return a[0] * (a[4] * a[8] - a[5] * a[7]) + a[1] * (a[5] * a[6] - a[3] * a[8]) + a[2] * (a[3] * a[7] - a[4] * a[6])


@inlined
def solve3(a, b):
    """Solve the 3x3 system with rows ``a`` (9-tuple) by Cramer's rule; not finite when singular."""
    c0 = a[4] * a[8] - a[5] * a[7]
    c1 = a[5] * a[6] - a[3] * a[8]
    c2 = a[3] * a[7] - a[4] * a[6]
    d = 1.0 / (a[0] * c0 + a[1] * c1 + a[2] * c2)
    return (
        d * (c0 * b[0] + (a[2] * a[7] - a[1] * a[8]) * b[1] + (a[1] * a[5] - a[2] * a[4]) * b[2]),
        d * (c1 * b[0] + (a[0] * a[8] - a[2] * a[6]) * b[1] + (a[2] * a[3] - a[0] * a[5]) * b[2]),
        d * (c2 * b[0] + (a[1] * a[6] - a[0] * a[7]) * b[1] + (a[0] * a[4] - a[1] * a[3]) * b[2]),
    )


@inlined
def square3(a):
    """Squared length of a 3-tuple."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@inlined
def continuation_substeps(angle):
    """Number of substeps of continuation, of half a radian, for a step that rotates a body by this angle: for more than
    a radian Newton's method from the initial state may converge to another solution, or not at all."""
    return 1 if angle <= 1.0 else 1 + int(2.0 * min(angle, 100.0))


@inlined
def turning_rate(h, j):
    """Rotation (rad) in a step h by a unit of angular momentum about the axis of the largest finite moment, with
    inverse moments j; changes that rotate the body by less than ROUNDOFF are round-off of its loads."""
    slowest = inf
    for c in range(3):
        if j[c] > 0.0:
            slowest = min(slowest, j[c])
    return abs(h) * slowest


@inlined
def newton3(function, slope, x, size, rate, near, full, exact, data, step_info):
    """Solve ``function(x, full, data) = 0`` for a 3-tuple, to round-off.

    ``slope(x, full, data)`` is an analytic Jacobian, cheap without the derivative of the loads. As soon as corrections
    shrink slowly, it is asked for the ``full`` one, and where it has none, a numerical one is used. The iteration ends
    when the next correction, estimated from the last two, would be below round-off."""
    # Lengths are compared squared: three square roots would cost as much as the rest of an iteration.
    previous = inf
    residual = inf
    status = L.NOT_CONVERGED
    f = c0 = c1 = c2 = (0.0, 0.0, 0.0)
    for k in range(MOST_ITERATIONS):
        # A single call site of the function, for value and differences, halves the code to compile and to run.
        d = 0.0
        for c in range(4 if full and not exact else 1):
            g = function((x[0] + d * (c == 1), x[1] + d * (c == 2), x[2] + d * (c == 3)), full, data)
            if c == 0:
                f = g
                if full and not exact:
                    d = DIFFERENCE * (sqrt(size) + norm3(f))
                    if d == 0.0:  # at rest
                        break
            elif c == 1:
                c0 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
            elif c == 2:
                c1 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
            else:
                c2 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
        if full and not exact:
            if d == 0.0:
                residual, status = 0.0, L.OK
                break
            a = (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])
        else:
            a = slope(x, full, data)
        # The determinant is 1 for a vanishing step; not positive, a shorter step was singular. Differences of round-off
        # do not count.
        if full and not det3(a) > 0.0 and previous * rate * rate > ROUNDOFF * ROUNDOFF:
            break
        dx = solve3(a, f)
        x = (x[0] - dx[0], x[1] - dx[1], x[2] - dx[2])
        step_info[L.ITERATIONS] += 1.0
        correction = square3(dx)
        scale = size + square3(x)
        residual = correction / scale if scale > 0.0 else correction
        if not correction < inf:
            if k == 0 and not square3(f) < inf:
                status = L.NOT_FINITE
            break
        if correction <= 1e-30 * scale or (k > 0 and correction * correction <= 1e-32 * scale * previous):
            status = L.OK
            break
        trifling = correction * rate * rate <= ROUNDOFF * ROUNDOFF
        if (trifling or correction <= 1e-26 * scale) and correction >= 0.25 * previous:
            status = L.OK
            break
        if k == 1 and correction > near * near * previous:
            if trifling:
                status = L.OK
            break
        slow = WORTH if exact else SLOW
        if correction > slow * slow * previous and not trifling:
            full = True
        previous = correction
    step_info[L.RESIDUAL] = max(step_info[L.RESIDUAL], residual)
    return status, x


def follow(n, at, spare, pieces, t, h, p):
    """Find the unknowns of a step that are connected to those of a vanishing step, given in ``work[at:]``.

    ``solve(t, g, full, p)``, bound in, solves for a step of size g from the values in ``work[at:]``, or returns another
    status than OK where they are too far away; with ``full`` it uses the Jacobians of the loads, too. The whole step,
    or 1/``pieces`` of it, is tried first. Where that fails, the solution is followed through shorter steps, each from
    the linear extrapolation of the last two, and accepted where it is close to that extrapolation."""
    known, last, piece = 0.0, 0.0, 1.0 / pieces
    full = False
    for k in range(n):
        p.work[spare + k] = p.work[spare + n + k] = p.work[at + k]
    while True:
        share = known + piece
        if share > 1.0 - 0.1 * FINEST:
            share = 1.0
        ratio = (share - known) / (known - last) if known > 0.0 else 0.0
        if known > 0.0 or full:
            for k in range(n):
                p.work[at + k] = p.work[spare + k] + ratio * (p.work[spare + k] - p.work[spare + n + k])
        status = solve(t, share * h, full, p)
        if status == L.OK and full and known > 0.0:
            for k in range(0, n, 3):
                stray = moved = size = 0.0
                for c in range(k, k + 3):
                    x, old = p.work[at + c], p.work[spare + c]
                    miss = x - old - ratio * (old - p.work[spare + n + c])
                    stray += miss * miss
                    moved += (x - old) * (x - old)
                    size += x * x
                if not stray <= max(STRAY * STRAY * moved, TRIFLE * TRIFLE * size):
                    status = L.NOT_CONVERGED
        if status == L.OK:
            if share == 1.0:
                return L.OK
            for k in range(n):
                p.work[spare + n + k], p.work[spare + k] = p.work[spare + k], p.work[at + k]
            last, known = known, share
            if full:
                piece *= 2.0
        else:
            if status == L.TOO_LARGE and not full:
                return status
            piece *= 0.25
            full = True
            if piece < FINEST:
                p.step_info[L.ERROR] = known * abs(h)
                return L.LOST if status == L.NOT_CONVERGED and known > 0.0 else status


@helper
def factor(work, a, n, pivots):
    """LU factorisation, in place, of the n x n matrix stored by rows at ``work[a:]``, with row exchanges, which are
    written to ``work[pivots:]``; False when the matrix is singular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(work[a + i * n + k]) > abs(work[a + best * n + k]):
                best = i
        work[pivots + k] = best
        if not abs(work[a + best * n + k]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                work[a + k * n + j], work[a + best * n + j] = work[a + best * n + j], work[a + k * n + j]
        inverse = 1.0 / work[a + k * n + k]
        for i in range(k + 1, n):
            f = work[a + i * n + k] * inverse
            work[a + i * n + k] = f
            if f != 0.0:
                for j in range(k + 1, n):
                    work[a + i * n + j] -= f * work[a + k * n + j]
    return True


@inlined
def is_positive(work, a, n, pivots):
    """Whether the determinant of the matrix with the factors at ``work[a:]`` is positive, as of an implicit step, 1 for
    a vanishing one, unless a shorter step was singular."""
    positive = True
    for k in range(n):
        if work[a + k * n + k] < 0.0:
            positive = not positive
        if int(work[pivots + k]) != k:
            positive = not positive
    return positive


@helper
def substitute(work, a, n, pivots, b):
    """Solve with the factors of ``factor``; the solution overwrites the right-hand side at ``work[b:]``."""
    for k in range(n):
        best = int(work[pivots + k])
        if best != k:
            work[b + k], work[b + best] = work[b + best], work[b + k]
    for i in range(1, n):
        s = work[b + i]
        for j in range(i):
            s -= work[a + i * n + j] * work[b + j]
        work[b + i] = s
    for i in range(n - 1, -1, -1):
        s = work[b + i]
        for j in range(i + 1, n):
            s -= work[a + i * n + j] * work[b + j]
        work[b + i] = s / work[a + i * n + i]


@helper
def factor_complex(work, a, n, pivots):
    """``factor`` of a complex matrix: real parts at ``work[a:]``, imaginary parts behind them."""
    b = a + n * n
    for k in range(n):
        best, most = k, 0.0
        for i in range(k, n):
            size = work[a + i * n + k] * work[a + i * n + k] + work[b + i * n + k] * work[b + i * n + k]
            if size > most:
                best, most = i, size
        work[pivots + k] = best
        if not most > 0.0:
            return False
        if best != k:
            for j in range(n):
                work[a + k * n + j], work[a + best * n + j] = work[a + best * n + j], work[a + k * n + j]
                work[b + k * n + j], work[b + best * n + j] = work[b + best * n + j], work[b + k * n + j]
        x, y = work[a + k * n + k] / most, -work[b + k * n + k] / most
        for i in range(k + 1, n):
            u, v = work[a + i * n + k], work[b + i * n + k]
            f, g = u * x - v * y, u * y + v * x
            work[a + i * n + k], work[b + i * n + k] = f, g
            if f != 0.0 or g != 0.0:
                for j in range(k + 1, n):
                    u, v = work[a + k * n + j], work[b + k * n + j]
                    work[a + i * n + j] -= f * u - g * v
                    work[b + i * n + j] -= f * v + g * u
    return True


@helper
def substitute_complex(work, a, n, pivots, c):
    """``substitute`` with the factors of ``factor_complex``; the right-hand side at ``work[c:]``, real parts first."""
    b, e = a + n * n, c + n
    for k in range(n):
        best = int(work[pivots + k])
        if best != k:
            work[c + k], work[c + best] = work[c + best], work[c + k]
            work[e + k], work[e + best] = work[e + best], work[e + k]
    for i in range(1, n):
        x, y = work[c + i], work[e + i]
        for j in range(i):
            x -= work[a + i * n + j] * work[c + j] - work[b + i * n + j] * work[e + j]
            y -= work[a + i * n + j] * work[e + j] + work[b + i * n + j] * work[c + j]
        work[c + i], work[e + i] = x, y
    for i in range(n - 1, -1, -1):
        x, y = work[c + i], work[e + i]
        for j in range(i + 1, n):
            x -= work[a + i * n + j] * work[c + j] - work[b + i * n + j] * work[e + j]
            y -= work[a + i * n + j] * work[e + j] + work[b + i * n + j] * work[c + j]
        u, v = work[a + i * n + i], work[b + i * n + i]
        d = u * u + v * v
        work[c + i], work[e + i] = (x * u + y * v) / d, (y * u - x * v) / d
