"""The formulas of the paper in NumPy, as printed and, where misprinted, corrected.

Every map is ``step(y, Q, h) -> y, Q`` of one body with moments ``I``, momentum ``y`` and rotation matrix ``Q``. No code
is shared with the library, which has the corrected forms only.

Misprints: the last factors of the three rotation splitting; in algorithm 2, beta lacks the momentum component y3 and
alpha the term -1/I2; the powers of h in algorithm 4, all printed as h^2; the Cayley transform above (13); the torque
of the potential V of the heavy top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ellipj, ellipkinc

from polhode_papers.vilmart2013.common import Map, casimir_and_energy

MOST_ITERATIONS = 200


def hat(w: Any) -> Any:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exp(w: Any) -> Any:
    """Rotation matrix of a rotation vector by Rodrigues' formula."""
    angle, W = float(np.linalg.norm(w)), hat(w)
    return np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * W @ W


# ------------------------------------------------------------------ splittings
def about(j: int, angle: float, y: Any, Q: Any) -> tuple[Any, Any]:
    """Momentum and attitude after rotating the body by an angle about its axis j."""
    turned = exp(angle * np.eye(3)[j])
    return turned.T @ y, Q @ turned


THREE_ROTATIONS = {
    "printed": ((0, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)),
    "corrected": ((2, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)),
}
"""Axes and fractions of the step in order of application (the printed product is read from the right)."""


def three_rotations(form: str, I: Any) -> Map:
    """The three rotation splitting."""

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        for j, fraction in THREE_ROTATIONS[form]:
            y, Q = about(j, fraction * h * y[j] / I[j], y, Q)
        return y, Q

    return step


def algorithm_2(form: str, I: Any) -> Map:
    """The symmetric+rotation splitting."""
    a, b, c = 1.0 / np.asarray(I)

    def flow_R(y: Any, Q: Any, t: float) -> tuple[Any, Any]:
        alpha = a * y[0] if form == "printed" else (a - b) * y[0]
        return about(0, alpha * t, y, Q)

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        y, Q = flow_R(y, Q, h / 2)
        beta = c - b if form == "printed" else (c - b) * y[2]
        Q = Q @ exp(b * h * y)
        y, Q = about(2, beta * h, y, Q)
        return flow_R(y, Q, h / 2)

    return step


# ------------------------------------------------------------------ discrete Moser-Veselov
def table_1(y: Any, I: Any) -> tuple[list[float], list[float]]:
    """s3, s5, s7 and t3, t5, t7 [vilmart2013, table 1]."""
    I = np.asarray(I)
    (C, H), d = casimir_and_energy(y, I), float(np.prod(I))

    def sigma(a: int) -> float:
        return float((I ** float(a)).sum())

    def tau(b: int, c: int) -> float:
        other = (I ** float(b)).sum() - I ** float(b)
        return float((other / I ** float(c)).sum())

    s = [
        -sigma(-1) / 3 * H + sigma(1) / (6 * d) * C,
        (3 * sigma(1) + 2 * d * sigma(-2)) / (60 * d) * H**2 + (1 - tau(1, 1)) / (30 * d) * C * H
        + (sigma(2) - d * sigma(-1)) / (30 * d**2) * C**2,
        (15 - d * sigma(-3) - 2 * tau(1, 1)) / (630 * d) * H**3
        + (6 * d * tau(1, 2) - 100 * d * sigma(-1) + 53 * sigma(2)) / (2520 * d**2) * C * H**2
        + (9 * sigma(1) + 10 * d * sigma(-2) - 6 * tau(2, 1)) / (420 * d**2) * C**2 * H
        + (4 * d + 17 * sigma(3) - 15 * d * tau(1, 1)) / (2520 * d**3) * C**3,
    ]  # fmt: skip
    t = [
        sigma(1) / (6 * d) * H - C / (3 * d),
        -(9 + tau(1, 1)) / (60 * d) * H**2 + (6 * d * sigma(-1) - sigma(2)) / (60 * d**2) * C * H
        - sigma(1) / (60 * d**2) * C**2,
        (9 * d * sigma(-1) + d * tau(1, 2) - 11 * sigma(2)) / (1260 * d**2) * H**3
        + (47 * sigma(1) + 13 * tau(2, 1) - 38 * d * sigma(-2)) / (2520 * d**2) * C * H**2
        + (sigma(3) + 2 * d * tau(1, 1) - 85 * d) / (1260 * d**3) * C**2 * H
        + (34 * d * sigma(-1) - 19 * sigma(2)) / (2520 * d**3) * C**3,
    ]  # fmt: skip
    return s, t


def fixed_point(h: float, y: Any, inverse: Any, alpha: bool = True) -> tuple[Any, Any, float, int]:
    """Y, e and alpha of equation (14), and the number of iterations until Y no longer changes."""
    Y = np.array(y, dtype=float)
    for n in range(1, MOST_ITERATIONS + 1):
        if not np.abs(Y).max() < 1e9 * np.abs(y).max():  # it diverges
            n = MOST_ITERATIONS
            break
        e = h / 2 * inverse * Y
        new = (1.0 + e @ e if alpha else 1.0) * y + h / 2 * np.cross(Y, inverse * Y)  # [vilmart2013, eq. 14]
        moved, Y = np.abs(new - Y).max(), new
        if moved <= 2e-16 * np.abs(Y).max():
            break
    e = h / 2 * inverse * Y
    return Y, e, 1.0 + float(e @ e) if alpha else 1.0, n


def algorithm_3(h: float, y: Any, Q: Any, inverse: Any, alpha: bool = True) -> tuple[Any, Any]:
    """One step with these inverse moments; without alpha, the implicit midpoint rule."""
    Y, e, factor, _ = fixed_point(h, y, inverse, alpha)
    return y + h / factor * np.cross(Y, inverse * Y), Q @ cayley(e)  # [vilmart2013, eq. 15]


def cayley(e: Any, sign: float = -1.0) -> Any:
    """The Cayley transform above (13); its second factor is printed with the opposite sign."""
    return (np.eye(3) + hat(e)) @ np.linalg.inv(np.eye(3) + sign * hat(e))


def algorithm_4(form: str, order: int, I: Any) -> Map:
    """The preprocessed algorithm; as printed, every term of the series has the factor h^2."""
    inverse = 1.0 / np.asarray(I)

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        s, t = table_1(y, I)
        powers = [h**2 if form == "printed" else h ** (2 * k) for k in range(1, order // 2)]
        S = 1.0 + sum(p * x for p, x in zip(powers, s, strict=False))
        T = sum(p * x for p, x in zip(powers, t, strict=False))
        return algorithm_3(h, y, Q, inverse * S + T)

    return step


def rattle(gradient: Callable[[Any], Any], I: Any) -> Map:
    """RATTLE on matrices, with multipliers by Newton's method [vilmart2013, eq. 11]."""
    total = float(np.sum(I)) / 2
    D = np.diag(total - np.asarray(I))
    inverse = np.linalg.inv(D)
    rows, columns = np.triu_indices(3)

    def unpack(x: Any) -> Any:
        M = np.zeros((3, 3))
        M[rows, columns] = M[columns, rows] = x
        return M

    def solve(residual: Callable[[Any], Any]) -> Any:
        x = np.zeros(6)
        for _ in range(30):
            f = residual(x)
            steps = [(residual(x + 1e-5 * u) - residual(x - 1e-5 * u)) / 2e-5 for u in np.eye(6)]
            change = np.linalg.solve(np.transpose(steps), f)
            x = x - change
            if np.abs(change).max() <= 1e-15:
                break
        return unpack(x)

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        P = Q @ hat(y / I) @ D
        kicked = P - h / 2 * gradient(Q)

        def next_Q(L: Any) -> Any:
            return Q + h * (kicked - h / 2 * Q @ L) @ inverse

        def orthogonal(x: Any) -> Any:
            end = next_Q(unpack(x))
            return (end.T @ end - np.eye(3))[rows, columns] / h**2

        first = solve(orthogonal)
        middle, Q1 = kicked - h / 2 * Q @ first, next_Q(first)
        freed = middle - h / 2 * gradient(Q1)

        def tangent(x: Any) -> Any:
            rate = Q1.T @ (freed - h / 2 * Q1 @ unpack(x)) @ inverse
            return (rate + rate.T)[rows, columns] / h

        P1 = freed - h / 2 * Q1 @ solve(tangent)
        Y = Q1.T @ P1 - P1.T @ Q1
        return np.array([Y[2, 1], Y[0, 2], Y[1, 0]]), Q1

    return step


# ------------------------------------------------------------------ Jacobi's solution
def jacobi_by_agm(u: float, m: float) -> tuple[float, float, float]:
    """sn, cn, dn of u with k^2 = m by the arithmetic-geometric mean and descending amplitudes."""
    a, c = [1.0], [np.sqrt(m)]
    b = np.sqrt(1.0 - m)
    while abs(c[-1]) > 1e-16 and len(a) < 20:
        a, c, b = [*a, (a[-1] + b) / 2], [*c, (a[-1] - b) / 2], np.sqrt(a[-1] * b)
    phi = 2.0 ** (len(a) - 1) * a[-1] * u
    for k in range(len(a) - 1, 0, -1):
        phi = (phi + np.arcsin(c[k] / a[k] * np.sin(phi))) / 2
    sn = np.sin(phi)
    return float(sn), float(np.cos(phi)), float(np.sqrt(1.0 - m * sn * sn))


def algorithm_1(y: Any, I: Any, h: float) -> Any:
    """The momentum after a time h; I ascending, c2 k1^2 <= c1 k3^2 [vilmart2013, alg. 1]."""
    (y1, y2, y3), (I1, I2, I3) = y, I
    c1 = I1 * (I3 - I2) / (I2 * (I3 - I1))
    c2 = 1.0 - c1
    k1, k2, k3 = (np.sqrt(y1 * y1 + c1 * y2 * y2), np.sqrt(y1 * y1 / c1 + y2 * y2), np.sqrt(c2 * y2 * y2 + y3 * y3))
    modulus = c2 * k1 * k1 / (c1 * k3 * k3)
    sign = np.copysign(1.0, y3)
    rate = np.sqrt((I3 - I2) * (I3 - I1) / (I1 * I2 * I3 * I3))
    sn, cn, _, _ = ellipj(sign * h * rate * k3 + ellipkinc(np.arctan2(y2 / k2, y1 / k1), modulus), modulus)
    end = k2 * sn
    return np.array([k1 * cn, end, sign * np.sqrt(k3 * k3 - c2 * end * end)])


def algorithm_1_other(y: Any, I: Any, h: float) -> Any:
    """Formulas for c2 k1^2 >= c1 k3^2, which the paper leaves out: algorithm 1 with axes 1 and 3 exchanged."""
    return algorithm_1(np.asarray(y)[::-1], tuple(I)[::-1], h)[::-1]


def jacobi_1850(y: Any, I: Any, h: float) -> Any:
    """The momentum by Jacobi's formulas in the facsimile, with amplitudes from energy and momentum length.

    Same case as ``algorithm_1``, which avoids the cancellation in these amplitudes.
    """
    (y1, y2, y3), (I1, I2, I3) = y, I
    twice, square = y1 * y1 / I1 + y2 * y2 / I2 + y3 * y3 / I3, y1 * y1 + y2 * y2 + y3 * y3
    X = np.sqrt(I1 * (I3 * twice - square) / (I3 - I1))
    Y = np.sqrt(I2 * (I3 * twice - square) / (I3 - I2))
    Z = np.sqrt(I3 * (square - I1 * twice) / (I3 - I1))
    rate = np.sqrt((I3 - I2) * (square - I1 * twice) / (I1 * I2 * I3))
    modulus = (I2 - I1) * (I3 * twice - square) / ((I3 - I2) * (square - I1 * twice))
    sign = np.copysign(1.0, y3)
    sn, cn, dn, _ = ellipj(sign * h * rate + ellipkinc(np.arctan2(y2 / Y, y1 / X), modulus), modulus)
    return np.array([X * cn, Y * sn, sign * Z * dn])


# ------------------------------------------------------------------ the heavy top U = Q33
def kick_U(y: Any, Q: Any, t: float) -> Any:
    return y + t * np.array([Q[2, 1], -Q[2, 0], 0.0])


def kick_V(form: str, y: Any, Q: Any, t: float, I: Any) -> Any:
    """Flow of V = {U, {U, T}} for U = Q33: as printed, left out, or for V = Q32^2/I1 + Q31^2/I2 (corrected)."""
    (a, b, _), (u, v, w) = 1.0 / np.asarray(I), Q[2]
    torque = {
        "printed": (v * w * a, -u * w * b, 0.0),
        "left out": (0.0, 0.0, 0.0),
        "corrected": (-2 * v * w * a, 2 * u * w * b, 2 * u * v * (a - b)),
    }[form]
    return y + t * np.array(torque)


def nystrom(form: str, free: Map, I: Any) -> Map:
    """The scheme of order 4 with one modified kick, with the flow of V as printed, left out or corrected."""

    def step(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
        y, Q = free(kick_U(y, Q, h / 6), Q, h / 2)
        y = kick_V(form, kick_U(y, Q, 2 * h / 3), Q, -(h**3) / 72, I)
        y, Q = free(y, Q, h / 2)
        return kick_U(y, Q, h / 6), Q

    return step
