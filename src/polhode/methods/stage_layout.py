"""What stages are computed from: coefficients of a tableau as kernels read them, where the numbers of a step lie."""

from __future__ import annotations

import numpy as np

from polhode.algebra.so3 import (
    cay_quaternion,
    dcay_matrix,
    dcayinv,
    dcayinv_slope,
    dexp_matrix,
    dexpinv,
    dexpinv_slope,
    exp_quaternion,
)
from polhode.kernel.jit import inlined

STAGES, ERRORS, EXTRAS, DEGREE, MIDDLE, MODES, MODES_AT, AUXILIARY = 0, 1, 2, 3, 4, 5, 6, 7
"""Slots of the integer coefficients: stages of the tableau, error rows, stages for dense output alone, degree of dense
output, 1 where the chart is centred on the middle of the step, modes of the matrix (0: it is solved as it is) and where
they begin among the coefficients; from AUXILIARY the integers of the family."""

MAPS = {
    "exp": (exp_quaternion, dexpinv, dexpinv_slope, dexp_matrix),
    "cayley": (cay_quaternion, dcayinv, dcayinv_slope, dcay_matrix),
}
"""Coordinate maps: to a quaternion, the inverse tangent operator, its derivative, the matrix of the operator."""

UNKNOWNS = 6
"""Coordinates of a block, unless a family has others."""


# A by rows (s s) | b (s) | c (s) | error rows (s + 1) | dense rows (s + 1 + x) | dense nodes | dense polynomials
def coefficients(tableau, *own, middle=False):
    """Float and integer coefficients of a tableau as the kernels read them; ``own``: integers of the family."""
    s = tableau.stages
    rows = list(tableau.errors)
    extra, polynomials = tableau.dense or ((), np.zeros((0, 0)))
    slopes = s + 1 + len(extra)
    parts = [tableau.A.ravel(), tableau.b, tableau.c, *rows]
    parts += [np.pad(np.asarray(row, dtype=float), (0, slopes - len(row))) for row in extra]
    parts += [[np.sum(row) for row in extra], np.asarray(polynomials).ravel()]
    modes = [] if tableau.explicit or middle else modes_of(tableau.A)
    size = sum(np.size(part) for part in parts)
    degree = np.asarray(polynomials).shape[1]
    int_coefficients = [s, len(rows), len(extra), degree, int(middle), len(modes), size, *own]
    parts += modes
    return np.ascontiguousarray(np.concatenate(parts), dtype=np.float64), np.array(int_coefficients, dtype=np.int64)


WORST_MODES = 1e4
"""Largest condition number of the eigenvectors of a tableau whose stages are solved mode by mode."""


def modes_of(A):
    """What decouples the stages where they share a Jacobian J, (1 - h A x J) of A = V diag(lambda) V^-1: for each
    eigenvalue, one of a complex pair, lambda, the row of V^-1 and the column of V (twice for a pair), each as real and
    imaginary parts; empty where there is nothing to gain or A has no well-conditioned eigenvectors [hairer1996, IV.8].
    """
    s = len(A)
    eigenvalues, V = np.linalg.eig(A)
    chosen = [k for k in range(s) if eigenvalues[k].imag >= 0.0]
    # The factors must fit where the whole matrix would be.
    if 5 * len(chosen) > 2 * s * s or not np.linalg.cond(V) < WORST_MODES:
        return []
    inverse, modes = np.linalg.inv(V), []
    for k in chosen:
        column = (2.0 if eigenvalues[k].imag > 0.0 else 1.0) * V[:, k]
        value = [eigenvalues[k].real, eigenvalues[k].imag]
        modes.append(np.concatenate([value, inverse[k].real, inverse[k].imag, column.real, column.imag]))
    return modes


# work after the slopes: explicit: the end slope and dense slopes ((1 + x) d); implicit: residual (s d) | scales (d) |
# Jacobians (s d d) | matrix (s d)^2 | pivots (s d) | slopes of shorter steps (2 s d)
def work_size(blocks, tableau, unknowns=UNKNOWNS):
    """Length of the scratch array for this many blocks."""
    d = unknowns * blocks
    n = tableau.stages * d
    head = 1 + 4 * blocks
    if tableau.explicit:
        extra = len(tableau.dense[0]) if tableau.dense else 0
        return head + 2 * d + n + (1 + extra) * d
    return head + 3 * d + 2 * n + n * d + n * n + n + 2 * n


def embedding(tableau, dense):
    """Fields of ``CompiledMethod`` for an embedded pair: the order of its error estimate, and its dense output."""
    return {"estimate": tableau.estimate, "dense": dense if tableau.dense else None}


def auxiliary_size(tableau):
    """Scratch memory for each auxiliary variable: its rates in all slopes."""
    return tableau.stages + 1 + (len(tableau.dense[0]) if tableau.dense else 0)


@inlined
def origin(p):
    """Index in ``work`` of the coordinates at the start of the step."""
    return 1 + 4 * p.B + p.S * (p.int_coefficients[STAGES] + 1 + p.int_coefficients[EXTRAS])
