"""The free gyrostat in many digits, by Taylor series in small pieces."""

from __future__ import annotations

import mpmath as mp


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def motion(M, q, H, moments, t, terms=60, pieces=64):
    """Momentum of the whole in the body and attitude after the time t, by Taylor series of ``terms`` terms.

    The equations are M' = M x w, q' = q o (0, w) / 2 with w = J^-1 (M - H); their series are multiplied out here term
    by term in mpmath's precision.
    """
    M, q, H, j = ([mp.mpf(x) for x in v] for v in (M, q, H, [1 / mp.mpf(x) for x in moments]))
    h = mp.mpf(t) / pieces
    for _ in range(pieces):
        momenta, turns = [M], [q]
        rates = [[j[k] * (M[k] - H[k]) for k in range(3)]]
        for n in range(terms):
            dM, dq = [mp.mpf(0)] * 3, [mp.mpf(0)] * 4
            for k in range(n + 1):
                w, a = rates[n - k], turns[k]
                dM = [x + y for x, y in zip(dM, cross(momenta[k], w), strict=True)]
                v = [a[0] * x + y for x, y in zip(w, cross(a[1:], w), strict=True)]
                dq = [x + y for x, y in zip(dq, [-sum(x * y for x, y in zip(a[1:], w, strict=True)), *v], strict=True)]
            momenta.append([x / (n + 1) for x in dM])
            turns.append([x / (2 * (n + 1)) for x in dq])
            rates.append([j[k] * momenta[-1][k] for k in range(3)])
        M = [sum(c[k] * h**n for n, c in enumerate(momenta)) for k in range(3)]
        q = [sum(c[k] * h**n for n, c in enumerate(turns)) for k in range(4)]
    return M, q
