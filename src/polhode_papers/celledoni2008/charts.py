"""The changing-chart algorithm: a symmetric body in Euler angles and conjugate momenta, in two charts.

The paper mentions it (1, 3.3.1) but does not print it. This is a reconstruction from the summary of its reference 3
[benettin2001]: a splitting whose parts are computed exactly in the canonical coordinates of a chart, and a change of
chart before the coordinates become singular. Chart 0 has Euler angles about the space axis z, chart 1 about x: they
are singular where the body axis is along z, or x, and it is never near both.

Chart coordinates ``x`` = (phi, theta, psi, a, b, c):

============= =========================================================================================================
angles        Q = Rz(phi) Rx(theta) Rz(psi) in the axes of the chart, those of space permuted cyclically in chart 1
a, b, c       momenta of phi, theta, psi: components of m along z of the chart, the node n and the body axis e
n, v, e       right-handed axes, v = e x n; z = (0, s, c) in them with s, c = sin, cos of theta, m = (b, A, c) with
              A = (a - c cos theta)/sin theta
T             (A^2 + b^2)/(2 I) + c^2/(2 I3)
free flow     the axis and z rotate about m by +-tau, tau = |m| t/I (Rodrigues' formula): phi and psi advance by the
              angles of their parts across z and e, psi also by (1/I3 - 1/I) c t. The only division is by sin theta
V             eps z . Q r: a weight at r in the body, z the space axis
``body``      I, I3, eps, r1, r2, r3
============= =========================================================================================================
"""

from __future__ import annotations

from math import atan2, ceil, cos, hypot, sin, sqrt
from typing import Any

import numpy as np
from numba import njit

compiled = njit(error_model="numpy", fastmath={"contract"})

LIMIT = 0.8
"""|cos theta| beyond which the chart is changed; in the other chart it is then at most 0.6."""
PIECE = 0.35
"""Largest rotation (rad) of the axis in one piece of a free flow: it stays 0.29 rad from the singular point."""
ITERATIONS, CONVERGED = 100, 1e-15
"""Largest number of iterations and convergence limit of the midpoint rule."""


# ------------------------------------------------------------------ a chart
@compiled
def across(x: Any) -> Any:
    """A, the component of the momentum along v."""
    return (x[3] - x[5] * cos(x[1])) / sin(x[1])


@compiled
def weighed(chart: Any, x: Any, body: Any) -> Any:
    """V/eps and its derivatives by phi, theta and psi."""
    s, c = sin(x[1]), cos(x[1])
    sp, cp, sq, cq = sin(x[0]), cos(x[0]), sin(x[2]), cos(x[2])
    rn, rv, re = body[3] * cq - body[4] * sq, body[3] * sq + body[4] * cq, body[5]
    if chart == 0:
        un, flat, up = 0.0, 0.0, 1.0
    else:  # the space axis z is y of this chart
        un, flat, up = sp, cp, 0.0
    uv, ue = c * flat + s * up, c * up - s * flat
    return (
        un * rn + uv * rv + ue * re, un * (s * re - c * rv) + uv * c * rn - ue * s * rn, ue * rv - uv * re,
        uv * rn - un * rv,
    )  # fmt: skip


@compiled
def energies(chart: Any, x: Any, body: Any) -> Any:
    """Kinetic energy T and potential energy V."""
    A = across(x)
    return (A * A + x[4] * x[4]) / (2.0 * body[0]) + x[5] * x[5] / (2.0 * body[1]), body[2] * weighed(chart, x, body)[0]


@compiled
def kick(chart: Any, t: Any, x: Any, body: Any) -> Any:
    """The flow of V, which changes the momenta only."""
    _, f, g, k = weighed(chart, x, body)
    t *= body[2]
    return (x[0], x[1], x[2], x[3] - t * f, x[4] - t * g, x[5] - t * k)


@compiled
def free(t: Any, x: Any, body: Any) -> Any:
    """The exact flow of T, by sines, cosines and arctangents."""
    s, c, A = sin(x[1]), cos(x[1]), across(x)
    G = sqrt(x[4] * x[4] + A * A + x[5] * x[5])
    if G == 0.0:
        return x
    tau = G * t / body[0]
    C, S, K = cos(tau), sin(tau) / G, 2.0 * (sin(0.5 * tau) / G) ** 2
    # the body axis after time t, from e = (0, 0, 1): in n, v, e, then across z
    en, ev, ee = A * S + x[4] * x[5] * K, A * x[5] * K - x[4] * S, C + x[5] * x[5] * K
    flat = ev * c - ee * s
    # z in the body frame, from z = (0, s, c)
    level = A * c - x[5] * s
    zn, zv = x[4] * x[3] * K - level * S, s * C + x[4] * c * S + A * x[3] * K
    end = hypot(en, flat)
    return (
        x[0] + atan2(en, -flat), atan2(end, ev * s + ee * c),
        x[2] + atan2(zn, zv) + (1.0 / body[1] - 1.0 / body[0]) * x[5] * t,
        x[3], (level * en - x[4] * flat) / end, x[5],
    )  # fmt: skip


# ------------------------------------------------------------------ the manifold
@compiled
def momentum_of(x: Any) -> Any:
    """Angular momentum in the body frame."""
    A, sq, cq = across(x), sin(x[2]), cos(x[2])
    return (x[4] * cq + A * sq, A * cq - x[4] * sq, x[5])


@compiled
def rows_of(x: Any) -> Any:
    """The rotation matrix in the axes of the chart, (9,) by rows."""
    sp, cp, s, c, sq, cq = sin(x[0]), cos(x[0]), sin(x[1]), cos(x[1]), sin(x[2]), cos(x[2])
    return (
        cp * cq - sp * c * sq, -cp * sq - sp * c * cq, sp * s, sp * cq + cp * c * sq, cp * c * cq - sp * sq, -cp * s,
        s * sq, s * cq, c,
    )  # fmt: skip


@compiled
def placed(Q: Any, m: Any) -> Any:
    """Chart coordinates of an attitude in the axes of the chart and a momentum in the body frame."""
    sq, cq = Q[6], Q[7]
    s = hypot(sq, cq)
    return (
        atan2(Q[2], -Q[5]), atan2(s, Q[8]), atan2(sq, cq),
        m[0] * Q[6] + m[1] * Q[7] + m[2] * Q[8], (m[0] * cq - m[1] * sq) / s, m[2],
    )  # fmt: skip


@compiled
def cycled(chart: Any, Q: Any) -> Any:
    """Matrix rows from space axes to chart axes; z of chart 1 is the space axis x."""
    if chart == 0:
        return Q
    return (Q[3], Q[4], Q[5], Q[6], Q[7], Q[8], Q[0], Q[1], Q[2])


@compiled
def uncycled(chart: Any, Q: Any) -> Any:
    """Matrix rows from chart axes to space axes."""
    if chart == 0:
        return Q
    return (Q[6], Q[7], Q[8], Q[0], Q[1], Q[2], Q[3], Q[4], Q[5])


@compiled
def changed(chart: Any, x: Any) -> Any:
    """Coordinates of the same state in the other chart."""
    return placed(cycled(1 - chart, uncycled(chart, rows_of(x))), momentum_of(x))


# ------------------------------------------------------------------ steps
@compiled
def leapfrog(limit: Any, chart: Any, h: Any, x: Any, body: Any) -> Any:
    """Half a kick, free flow, half a kick; the chart is changed where |cos theta| exceeds the limit.

    Returns the chart, the coordinates and the number of chart changes.
    """
    x = kick(chart, 0.5 * h, x, body)
    A, count = across(x), 0
    pieces = max(1, ceil(sqrt(x[4] * x[4] + A * A + x[5] * x[5]) * abs(h) / body[0] / PIECE))
    for _ in range(pieces):
        if abs(cos(x[1])) > limit:
            chart, x, count = 1 - chart, changed(chart, x), count + 1
        x = free(h / pieces, x, body)
    if abs(cos(x[1])) > limit:
        chart, x, count = 1 - chart, changed(chart, x), count + 1
    return chart, kick(chart, 0.5 * h, x, body), count


@compiled
def rates(chart: Any, x: Any, body: Any) -> Any:
    """Time derivatives of the coordinates by Hamilton's equations."""
    s, c, A = sin(x[1]), cos(x[1]), across(x)
    _, f, g, k = weighed(chart, x, body)
    I, eps = body[0], body[2]
    return (
        A / (s * I), x[4] / I, x[5] / body[1] - A * c / (s * I),
        -eps * f, -A * (x[5] - A * c / s) / I - eps * g, -eps * k,
    )  # fmt: skip


@compiled
def midpoint(limit: Any, chart: Any, h: Any, x: Any, body: Any) -> Any:
    """Implicit midpoint rule in the coordinates: symplectic in each chart, but a different map in each."""
    count = 0
    if abs(cos(x[1])) > limit:
        chart, x, count = 1 - chart, changed(chart, x), 1
    y, before = x, 1.0
    for _ in range(ITERATIONS):
        r = rates(chart, ((x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2, (x[3] + y[3]) / 2,
                          (x[4] + y[4]) / 2, (x[5] + y[5]) / 2), body)  # fmt: skip
        new = (x[0] + h * r[0], x[1] + h * r[1], x[2] + h * r[2], x[3] + h * r[3], x[4] + h * r[4], x[5] + h * r[5])
        gap = 0.0
        for i in range(6):
            gap = max(gap, abs(new[i] - y[i]))
        y = new
        if gap < CONVERGED or (gap < 1e-13 and gap >= before):
            break
        before = gap
    return chart, y, count


@compiled
def march(step: Any, n: Any, h: Any, limit: Any, chart: Any, x: Any, body: Any, start: Any, out: Any) -> Any:
    """Take n steps of a rule; returns the final chart.

    ``x`` holds the coordinates and is updated, ``start`` the initial T and V; ``out`` receives the largest changes of
    H = T + V and of H + V so far, and the number of chart changes.
    """
    y = (x[0], x[1], x[2], x[3], x[4], x[5])
    for _ in range(n):
        chart, y, count = step(limit, chart, h, y, body)
        T, V = energies(chart, y, body)
        out[0] = max(out[0], abs(T - start[0] + V - start[1]))
        out[1] = max(out[1], abs(T - start[0] + 2.0 * (V - start[1])))
        out[2] += count
    for i in range(6):
        x[i] = y[i]
    return chart


@compiled
def hurry(step: Any, n: Any, h: Any, limit: Any, chart: Any, x: Any, body: Any, start: Any, out: Any) -> Any:
    """As ``march``, without energies; used for timing."""
    y = (x[0], x[1], x[2], x[3], x[4], x[5])
    for _ in range(n):
        chart, y, count = step(limit, chart, h, y, body)
        out[2] += count
    for i in range(6):
        x[i] = y[i]
    return chart


RULES = {"leapfrog": leapfrog, "midpoint": midpoint}


class Run:
    """A run from a chart and coordinates, as ``in_a_chart`` gives them, that can be continued.

    ``limit``: |cos theta| beyond which the chart is changed, between 0.71 and 1; 1 never changes it. ``worst``,
    ``worst_doubled``, ``changes``: largest changes of H and of H + V so far, and number of chart changes.
    """

    def __init__(self, start: tuple[int, Any], body: Any, rule: str = "leapfrog", limit: float = LIMIT) -> None:
        self.body, self.rule, self.limit = np.asarray(body, dtype=float), rule, limit
        self.chart, self.x = start[0], np.array(start[1], dtype=float)
        self.start, self.found = np.array(energies(start[0], start[1], self.body)), np.zeros(3)

    def take_steps(self, n: int, h: float, loop: Any = march) -> Run:
        """Take n steps of size h; returns the run itself."""
        rule = RULES[self.rule]
        self.chart = int(loop(rule, n, h, self.limit, self.chart, self.x, self.body, self.start, self.found))
        return self

    @property
    def state(self) -> tuple[Any, Any]:
        """Rotation matrix (3, 3) and body momentum (3,)."""
        return on_the_manifold(self.chart, tuple(map(float, self.x)))

    @property
    def worst(self) -> float:
        return float(self.found[0])

    @property
    def worst_doubled(self) -> float:
        return float(self.found[1])

    @property
    def changes(self) -> int:
        return int(self.found[2])


def in_a_chart(Q: Any, m: Any) -> tuple[int, Any]:
    """Chart and coordinates of a state (matrix, body momentum), in the chart farther from its singular point."""
    rows = tuple(map(float, np.ravel(Q)))
    chart = int(abs(rows[8]) > abs(rows[2]))
    return chart, placed(cycled(chart, rows), tuple(map(float, m)))


def on_the_manifold(chart: int, x: Any) -> tuple[Any, Any]:
    """Rotation matrix (3, 3) and body momentum (3,) of chart coordinates."""
    return np.array(uncycled(chart, rows_of(x))).reshape(3, 3), np.array(momentum_of(x))
