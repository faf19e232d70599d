"""The equations of all stages with one Jacobian, solved mode by mode: 1 - h lambda J for each eigenvalue lambda of the
tableau (``modes_of``), complex ones in pairs."""

from __future__ import annotations

from polhode.kernel.jit import hole
from polhode.kernel.solve import factor_complex, is_positive, substitute_complex
from polhode.methods.stage_layout import MODES, MODES_AT, STAGES

unknowns = hole("unknowns(p) -> int", "How many unknowns there are.")


def factor_modes(h, jacobian, to, p):
    """Factors of 1 - h lambda J of each mode, for the Jacobian at ``work[jacobian:]``; whether a shorter step was not
    singular."""
    s, d = p.int_coefficients[STAGES], unknowns(p)
    size, pivots = 2 * d * d, to + 2 * d * d * p.int_coefficients[MODES]
    for k in range(p.int_coefficients[MODES]):
        first, at = p.int_coefficients[MODES_AT] + k * (2 + 4 * s), to + k * size
        x, y = -h * p.coefficients[first], -h * p.coefficients[first + 1]
        for n in range(d * d):
            p.work[at + n] = x * p.work[jacobian + n]
            p.work[at + d * d + n] = y * p.work[jacobian + n]
        for n in range(d):
            p.work[at + n * d + n] += 1.0
        if not factor_complex(p.work, at, d, pivots + k * d):
            return False
        # The determinant of a pair is positive.
        if y == 0.0 and not is_positive(p.work, at, d, pivots + k * d):
            return False
    return True


def substitute_modes(residual, to, p):
    """Solve with the factors of ``factor_modes``; the solution overwrites the stages at ``work[residual:]``."""
    s, d, m = p.int_coefficients[STAGES], unknowns(p), p.int_coefficients[MODES]
    pivots, parts = to + 2 * d * d * m, to + 2 * d * d * m + d * m
    for k in range(m):
        row = p.int_coefficients[MODES_AT] + k * (2 + 4 * s) + 2
        into = parts + 2 * d * k
        for c in range(d):
            x = y = 0.0
            for i in range(s):
                x += p.coefficients[row + i] * p.work[residual + i * d + c]
                y += p.coefficients[row + s + i] * p.work[residual + i * d + c]
            p.work[into + c], p.work[into + d + c] = x, y
        substitute_complex(p.work, to + 2 * d * d * k, d, pivots + k * d, into)
    for i in range(s):
        for c in range(d):
            x = 0.0
            for k in range(m):
                column = p.int_coefficients[MODES_AT] + k * (2 + 4 * s) + 2 + 2 * s + i
                x += p.coefficients[column] * p.work[parts + 2 * d * k + c]
                x -= p.coefficients[column + s] * p.work[parts + 2 * d * k + d + c]
            p.work[residual + i * d + c] = x
