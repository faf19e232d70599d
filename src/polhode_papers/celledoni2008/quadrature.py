"""Convergence of the quadrature rule (3.1) of the semiexact methods, in long double.

The integrals of the third kind are those of corollaries 2.3 (matrix form) and 2.7 (quaternion form), case (i); the
exact value is by a rule of many points. Double precision is too coarse for the higher orders.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from polhode_papers.celledoni2008 import theta

Real = np.longdouble
FORMS = ("matrix", "quaternion")
EXACT, PANELS = 40, 8


@cache
def gauss(points: int) -> tuple[Any, Any]:
    """Gauss-Legendre nodes and weights on [-1, 1], in long double."""
    x: Any = np.polynomial.legendre.leggauss(points)[0].astype(Real)
    slope = np.ones_like(x)
    for _ in range(4):
        p, before = x, np.ones_like(x)
        for k in range(2, points + 1):
            p, before = ((2 * k - 1) * x * p - (k - 1) * before) / k, p
        slope = points * (x * p - before) / (x * x - 1)
        x = x - p / slope
    return x, 2 / ((1 - x * x) * slope * slope)


HERMITE = 0
"""In place of a number of points: the rule with values and slopes at both ends, in the time."""


def error_of_angle(form: str, points: int, moments: Any, momentum: Any, span: float, steps: int) -> float:
    """Error of psi (rad) over a span in equal steps; momentum of length 1, moments ascending, case (i), 2 T I2 > 1."""
    I, m = np.asarray(moments, dtype=Real), np.asarray(momentum, dtype=Real)
    gap = {(j, k): abs(I[j - 1] - I[k - 1]) for j in (1, 2, 3) for k in (1, 2, 3)}
    D = [abs(1 - (m * m / I).sum() * x) for x in I]
    k2 = D[0] * gap[3, 2] / (D[2] * gap[2, 1])
    lam = np.sqrt(D[2] * gap[1, 2] / I.prod())
    B31, B21, B13 = (np.sqrt(I[j - 1] * D[k - 1] / gap[j, k]) for j, k in ((3, 1), (2, 1), (1, 3)))
    if form == "matrix":
        n, factor = gap[2, 3] / (I[1] * D[2]), D[1] / (lam * I[1])  # [celledoni2008, cor. 2.3], corrected
    else:
        n, factor = -((B31 / B13) ** 2), gap[3, 1] / (I[0] * I[2] * lam)  # [celledoni2008, cor. 2.7]
    k1 = np.sqrt(1 - k2)
    K, K1 = theta.PI / (2 * theta.agm(Real(1), k1)), theta.PI / (2 * theta.agm(Real(1), np.sqrt(k2)))
    q, u0 = np.exp(-theta.PI * K1 / K), theta.first_kind(m[1] / B21, m[2] / B31, k1)
    u = u0 + np.sign(m[0]) * lam * Real(span) * np.arange(steps + 1) / steps
    sn, cn, _ = theta.jacobi(theta.PI * u / (2 * K), np.full_like(u, q))
    amplitude = np.unwrap(np.arctan2(sn, cn))

    def rule(points: int, start: Any, end: Any) -> Any:
        x, w = gauss(points)
        s2 = np.sin((start + end)[:, None] / 2 + (end - start)[:, None] / 2 * x) ** 2
        return ((end - start) / 2 * (w / ((1 - n * s2) * np.sqrt(1 - k2 * s2))).sum(-1)).sum()

    def hermite() -> Any:
        f, du = 1 / (1 - n * sn * sn), np.diff(u)
        slope = 2 * n * sn * cn * np.sqrt(1 - k2 * sn * sn) * f * f
        return (du / 2 * (f[:-1] + f[1:]) + du * du / 12 * (slope[:-1] - slope[1:])).sum()

    exact = np.linspace(amplitude[0], amplitude[-1], PANELS + 1)
    approximate = hermite() if points == HERMITE else rule(points, amplitude[:-1], amplitude[1:])
    value = approximate - rule(EXACT, exact[:-1], exact[1:])
    return abs(float(factor * value))
