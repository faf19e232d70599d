"""Newton's method to round-off, with a status instead of hope.

Three unknowns at a time live in tuples (``newton3``). A system of any size lives in flat arrays (``factor``,
``substitute``: Gaussian elimination with row exchanges).
"""

from __future__ import annotations

from math import inf, sqrt

from polhode.kernel.jit import helper, inlined
from polhode.kernel.signatures import ITERATIONS, NOT_CONVERGED, NOT_FINITE, OK, RESIDUAL

MOST_ITERATIONS = 50
DIFFERENCE = 1.5e-8
GRAIN = 1e-15
"""Rotation in a step (rad), or movement relative to the position, that is round-off of the state and of its loads."""

SLOW = 0.05
"""A correction that shrinks by less than this factor asks for the full numerical Jacobian."""


@inlined
def norm3(a):
    """Euclidean length of a 3-tuple."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


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
def pieces_of(angle):
    """In how many pieces a step that turns by this angle (rad) is solved.

    Newton's method from the start of the step may converge to another solution, or not at all, when a body turns by
    more than a radian. The solution that belongs to the step is the one connected to a vanishing step, so it is
    followed there in pieces of half a radian.
    """
    return 1 if angle <= 1.0 else 1 + int(2.0 * min(angle, 100.0))


@inlined
def turning_rate(h, j):
    """Rotation (rad) in a step h that a unit of angular momentum about the heaviest axis makes.

    Changes of an angular momentum that turn the body by less than GRAIN are round-off of its loads.
    """
    slowest = inf
    for c in range(3):
        if j[c] > 0.0:
            slowest = min(slowest, j[c])
    return abs(h) * slowest


@inlined
def newton3(function, slope, x, size, rate, data, report):
    """Solve ``function(x, data) = 0`` for a 3-tuple, to round-off.

    ``slope(x, data)`` is a cheap analytic Jacobian that may leave out the derivative of the loads; when corrections
    with it shrink slowly, a numerical Jacobian takes over. A step is accepted when the next correction, judged by how
    the last ones shrank, would be below round-off.

    Parameters
    ----------
    function, slope : compiled functions
        ``function(x, data) -> 3-tuple``, ``slope(x, data) -> 9-tuple`` of rows.
    x : 3-tuple
        Start; the solution connected to it is followed.
    size : float
        Squared magnitude of the unknown, for the tolerance and the differences.
    rate : float
        Movement that a unit of the unknown makes in the step. Corrections that no longer shrink and move less than
        GRAIN are round-off of the loads, whatever the size of the unknown: at rest in an equilibrium the loads cancel,
        and nothing else says how large they are. Infinite: there are no loads.
    data : tuple
        Handed on.
    report : array
        Its ITERATIONS and RESIDUAL slots are updated.

    Returns
    -------
    status : int
    x : 3-tuple
    """
    # Lengths are compared squared: three square roots would cost as much as the rest of an iteration.
    previous = inf
    full = False
    residual = inf
    status = NOT_CONVERGED
    f = c0 = c1 = c2 = (0.0, 0.0, 0.0)
    for k in range(MOST_ITERATIONS):
        # One place calls the function, for its value and for its differences: half the code to compile and to run.
        d = 0.0
        for c in range(4 if full else 1):
            g = function((x[0] + d * (c == 1), x[1] + d * (c == 2), x[2] + d * (c == 3)), data)
            if c == 0:
                f = g
                if full:
                    d = DIFFERENCE * (sqrt(size) + norm3(f))
            elif c == 1:
                c0 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
            elif c == 2:
                c1 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
            else:
                c2 = ((g[0] - f[0]) / d, (g[1] - f[1]) / d, (g[2] - f[2]) / d)
        if full:
            a = (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])
        else:
            a = slope(x, data)
        dx = solve3(a, f)
        x = (x[0] - dx[0], x[1] - dx[1], x[2] - dx[2])
        report[ITERATIONS] += 1.0
        correction = square3(dx)
        scale = size + square3(x)
        residual = correction / scale if scale > 0.0 else correction
        if not correction < inf:
            if k == 0 and not square3(f) < inf:
                status = NOT_FINITE
            break
        if correction <= 1e-30 * scale or (k > 0 and correction * correction <= 1e-32 * scale * previous):
            status = OK
            break
        still = correction <= 1e-26 * scale or correction * rate * rate <= GRAIN * GRAIN
        if still and correction >= 0.25 * previous:
            status = OK
            break
        if correction > SLOW * SLOW * previous:
            full = True
        previous = correction
    report[RESIDUAL] = max(report[RESIDUAL], residual)
    return status, x


@helper
def factor(work, a, n, pivots):
    """LU factorisation with row exchanges, in place, of the n x n matrix stored by rows at ``work[a:]``.

    The exchanges go to ``work[pivots:]``. Returns False when the matrix is singular.
    """
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


@helper
def substitute(work, a, n, pivots, b):
    """Solve with the factors of ``factor``; the right-hand side at ``work[b:]`` becomes the solution."""
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
