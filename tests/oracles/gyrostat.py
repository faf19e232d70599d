"""The free gyrostat in many digits, by Taylor series in small pieces."""

from __future__ import annotations

from operator import mul

import mpmath as mp

BITS = 160
ONE = 1 << BITS
"""Numbers are whole multiples of 2^-160."""


def fixed(x):
    return int(mp.ldexp(mp.mpf(x), BITS))


def of(a, b):
    """The last coefficient of a product of two series."""
    return sum(map(mul, a, reversed(b))) >> BITS


def motion(M, q, H, moments, t, terms=60, pieces=64):
    """Momentum of the whole in the body and attitude after the time t, by Taylor series of ``terms`` terms.

    The equations are M' = M x w, q' = q o (0, w) / 2 with w = J^-1 (M - H); their series are multiplied out here term
    by term.
    """
    M, q, H = ([fixed(x) for x in v] for v in (M, q, H))
    j, h = [ONE * ONE // fixed(x) for x in moments], fixed(mp.mpf(t) / pieces)

    def at_end(series):
        total = 0
        for value in reversed(series):
            total = (total * h >> BITS) + value
        return total

    for _ in range(pieces):
        m1, m2, m3 = momenta = [[x] for x in M]
        a, b, c = rates = [[i * (x - y) >> BITS] for i, x, y in zip(j, M, H, strict=True)]
        w, x, y, z = turns = [[v] for v in q]
        for n in range(terms):
            slopes = of(m2, c) - of(m3, b), of(m3, a) - of(m1, c), of(m1, b) - of(m2, a)
            spins = (
                -of(x, a) - of(y, b) - of(z, c), of(w, a) + of(y, c) - of(z, b),
                of(w, b) - of(x, c) + of(z, a), of(w, c) + of(x, b) - of(y, a),
            )  # fmt: skip
            for series, rate, i, slope in zip(momenta, rates, j, slopes, strict=True):
                series.append(slope // (n + 1))
                rate.append(series[-1] * i >> BITS)
            for series, spin in zip(turns, spins, strict=True):
                series.append(spin // (2 * (n + 1)))
        M, q = [at_end(one) for one in momenta], [at_end(one) for one in turns]
    return [mp.mpf(x) / ONE for x in M], [mp.mpf(x) / ONE for x in q]
