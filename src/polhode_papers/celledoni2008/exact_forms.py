"""Range of validity of the exact forms for bodies of special shapes: Carlson's integrals and theta functions.

Every body rotates by about one radian. The reference are Taylor series of the equations of motion in long double, for
which no body is special.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import elliprf, elliprj

from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008 import common, theta
from polhode_papers.celledoni2008.quadrature import gauss
from polhode_papers.drawing import BLUE, GREEN, INK, PURPLE, VERMILION, Pictures
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

Real = np.longdouble
COUNT, QUICK_COUNT = 500, 40
ORDER, PIECES = 24, 4
"""Order of the Taylor series, and number of them for the rotation; the motion has no pole within 1.5 radians."""
THETA = "theta functions"
FORMS = (common.MATRIX, common.QUATERNION, common.OURS, THETA)
INTEGRAL = 1e-13
"""Relative error up to which an integral of the third kind is called accurate."""
DOUBLE = 2.0**-52
"""Error that theta functions in long double should reach for ordinary bodies: double precision."""
UNIFORM = 1e-12
"""Attitude error after one radian up to which a form is called uniformly good: four digits above double round-off."""


# ------------------------------------------------------------------ bodies
def power(random: np.random.Generator, count: int, low: float, high: float) -> Any:
    return 10.0 ** -random.uniform(low, high, count)


def ordinary(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    return common.physical_moments(random, count), common.random_momenta(random, count)


def rods(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """I1 from 1e-2 to 1e-6 of I3, with I2 as close to I3 as the triangle inequality requires."""
    thin = power(random, count, 2.0, 6.0)
    return np.column_stack([thin, 1.0 - thin * random.uniform(0.1, 0.9, count), np.ones(count)]), common.random_momenta(
        random, count
    )


def nearly_symmetric(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Two moments 1e-3 to 1e-9 apart: the smaller or the larger two."""
    near, other = 1.0 - power(random, count, 3.0, 9.0), random.uniform(0.5, 0.9, count)
    flat = np.column_stack([other * near, other, np.ones(count)])
    long = np.column_stack([other, near, np.ones(count)])
    return np.where(np.arange(count)[:, None] % 2, flat, long), common.random_momenta(random, count)


def near_separatrix(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """2 T I2 within 1e-4 to 1e-10 of 1."""
    moments, m = ordinary(random, count)
    a, b = 1 / moments[:, 0] - 1 / moments[:, 1], 1 / moments[:, 1] - 1 / moments[:, 2]
    m[:, 0] = m[:, 2] * np.sqrt(b / a) * (1.0 + power(random, count, 4.0, 10.0))
    return moments, m / np.linalg.norm(m, axis=1, keepdims=True)


def near_axis(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Momenta 1e-3 to 1e-9 from a principal axis, cycling through the axes."""
    moments, m = ordinary(random, count)
    m = np.eye(3)[np.arange(count) % 3] + power(random, count, 3.0, 9.0)[:, None] * m
    return moments, m / np.linalg.norm(m, axis=1, keepdims=True)


def rods_on_axis(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Rods whose momentum is 1e-3 to 1e-9 from a principal axis."""
    return rods(random, count)[0], near_axis(random, count)[1]


KINDS: dict[str, Callable[[np.random.Generator, int], tuple[Any, Any]]] = {
    "ordinary": ordinary, "near the separatrix": near_separatrix, "close to an axis": near_axis,
    "nearly symmetric": nearly_symmetric, "rods": rods, "rods, close to an axis": rods_on_axis,
}  # fmt: skip


# ------------------------------------------------------------------ the reference
def taylor(moments: Any, momenta: Any, t: float) -> Any:
    """Rotation matrices (K, 3, 3) after a time, by Taylor series of m' = m x I^-1 m, Q' = Q hat(I^-1 m)."""
    inverse, m = 1 / np.asarray(moments, dtype=Real), np.asarray(momenta, dtype=Real)
    h = Real(t) / PIECES
    Q = np.broadcast_to(np.eye(3, dtype=Real), (len(m), 3, 3))
    for _ in range(PIECES):
        ms: list[Any] = [m]
        ws: list[Any] = [inverse * m]
        Qs: list[Any] = [Q]
        for n in range(ORDER):
            rate = sum(np.cross(ms[k], ws[n - k]) for k in range(n + 1))
            turn = sum(np.cross(Qs[k], ws[n - k][:, None, :]) for k in range(n + 1))  # for rows r of Q: r' = r x w
            ms.append(h * rate / (n + 1))
            ws.append(inverse * ms[-1])
            Qs.append(h * turn / (n + 1))
        m, Q = np.sum(ms, axis=0), np.sum(Qs, axis=0)
    return Q


def integral_errors(random: np.random.Generator, moments: Any, momenta: Any) -> Any:
    """Relative errors of Pi(phi, n, k) by Carlson's RF and RJ (the usual formula), against Gauss quadrature.

    phi in (0, pi/2); n and k of corollary 2.7, or of section 2.6 in case (ii), of these motions.
    """
    I, m = moments, momenta
    G1 = (1 / I[:, 0] - 1 / I[:, 1]) * m[:, 0] ** 2 - (1 / I[:, 1] - 1 / I[:, 2]) * m[:, 2] ** 2
    first = (G1 > 0)[:, None]
    I, m = np.where(first, I, I[:, ::-1]), np.where(first, m, m[:, ::-1])
    r, w, p = abs(1 / I[:, 0] - 1 / I[:, 1]), abs(1 / I[:, 1] - 1 / I[:, 2]), abs(1 / I[:, 0] - 1 / I[:, 2])
    M, N = p * m[:, 0] ** 2 + w * m[:, 1] ** 2, r * m[:, 1] ** 2 + p * m[:, 2] ** 2
    mc, n = p * abs(G1) / (M * r), -N / M
    phi = random.uniform(0.1, 1.5, len(n))
    s, c2 = np.sin(phi), np.cos(phi) ** 2
    d2 = c2 + mc * s * s
    result = s * elliprf(c2, d2, 1.0) + n / 3.0 * s**3 * elliprj(c2, d2, 1.0, 1.0 - n * s * s)
    x, weights = gauss(30)
    edges = np.append(0.0, 2.0 ** np.arange(-40.0, 0.5, 0.5)).astype(Real)  # finer towards 0, where the integrand peaks
    widths = np.diff(edges)[:, None] / 2
    at = phi.astype(Real)[:, None, None] * (edges[:-1, None] + widths * (x + 1))
    s2, c2 = np.sin(at) ** 2, np.cos(at) ** 2
    n_, mc_ = n.astype(Real)[:, None, None], mc.astype(Real)[:, None, None]
    exact = (widths * weights / ((1 - n_ * s2) * np.sqrt(c2 + mc_ * s2))).sum((1, 2)) * phi
    return np.abs(result / exact - 1).astype(float)


# ------------------------------------------------------------------ the figure
def attitude_errors(moments: Any, momenta: Any) -> dict[str, Any]:
    """Infinity norms of rotation matrix errors after one radian, by form; infinite where a flow fails."""
    rate = np.abs(momenta / moments).max(axis=1)
    results: dict[str, Any] = {}
    scaled = momenta / rate[:, None]  # one radian per unit of time
    truth = taylor(moments, scaled, 1.0)
    bodies = common.Bodies(moments, scaled)
    for label in (common.MATRIX, common.QUATERNION, common.OURS):
        ends = common.turned(common.FLOWS[label], 1, 1.0, bodies)
        results[label] = np.where(ends.good, ends.gaps(truth), np.inf).astype(float)
    with np.errstate(all="ignore"):
        gap = np.abs(theta.free_rotation(moments, scaled, 1.0)[0] - truth).sum(axis=-1).max(axis=-1)
    results[THETA] = np.where(np.isfinite(gap), gap, np.inf).astype(float)
    return results


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    count, random = QUICK_COUNT if quick else COUNT, np.random.default_rng(common.SEED)
    errors, integrals = np.zeros((len(FORMS), len(KINDS), count)), np.zeros((len(KINDS), count))
    for k, (kind, draw_bodies) in enumerate(KINDS.items()):
        report_progress(kind)
        moments, momenta = draw_bodies(random, count)
        result = attitude_errors(moments, momenta)
        errors[:, k] = [result[name] for name in FORMS]
        integrals[k] = integral_errors(random, moments, momenta)
    return xr.Dataset(
        {"error": (("form", "kind", "body"), errors), "integral_error": (("kind", "body"), integrals)},
        {"form": list(FORMS), "kind": list(KINDS), "body": np.arange(count)},
        {
            "bodies": f"{count} of each kind (seed {common.SEED}); each turns by one radian about its fastest axis",
            "error": "infinity norm of the error of the rotation matrix",
            "reference": f"Taylor series of order {ORDER} in long doubles",
            THETA: f"in long doubles, whose unit is {theta.EPS:.0e}; the others are doubles",
            theta.REMARK: theta.DIGITS,
        },
    )


COLOURS = {common.MATRIX: PURPLE, common.QUATERNION: GREEN, common.OURS: INK, THETA: BLUE}
MARKS = {common.MATRIX: "P", common.QUATERNION: "X", common.OURS: "*", THETA: "o"}


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.0, height=4.2, sharey=True)
    positions = np.arange(data.kind.size)
    for i, form in enumerate(FORMS):
        line = data.error.sel(form=form)
        rows = positions + 0.17 * (i - 1.5)
        worst = np.clip(line.max("body").values, 1e-21, 1e2)
        left.plot(
            (np.clip(line.median("body").values, 1e-21, 1e2), worst), (rows, rows), color=COLOURS[form], linewidth=1.2
        )
        left.plot(worst, rows, MARKS[form], color=COLOURS[form], markerfacecolor="white", label=form, linestyle="")
    worst = data.integral_error.max("body")
    right.plot((data.integral_error.median("body"), worst), (positions, positions), color=VERMILION, linewidth=1.2)
    right.plot(worst, positions, "D", color=VERMILION, markerfacecolor="white")
    for ax, title in ((left, "error of the attitude"), (right, "relative error of $\\Pi$ by $R_F$, $R_J$")):
        ax.set(xscale="log", title=title, xlabel="from the median to the largest (mark)", yticks=positions)
    left.set_yticklabels([str(kind) for kind in data.kind.values])
    left.invert_yaxis()
    drawing.legend_below(picture, left, 4)
    return {"exact_forms": picture}


# ------------------------------------------------------------------ judges
def carlson(data: xr.Dataset) -> Finding:
    """Judge the integral itself."""
    measured = named(data.integral_error.max("body"))
    return Finding({f"{kind}: largest relative error": criteria.at_most(x, INTEGRAL) for kind, x in measured.items()},
                   {"median": named(data.integral_error.median("body"))})  # fmt: skip


def uniformly(data: xr.Dataset) -> Finding:
    """Judge the forms that use the integral."""
    parts = {
        f"{form}, {kind}: largest error": criteria.at_most(x, UNIFORM)
        for form in (common.MATRIX, common.QUATERNION)
        for kind, x in named(data.error.sel(form=form).max("body")).items()
    }
    return Finding(parts, {f"{common.OURS}: largest error": named(data.error.sel(form=common.OURS).max("body"))})


@theta.with_long_doubles
def by_theta(data: xr.Dataset) -> Finding:
    """Judge the form of reference [29], in long double."""
    measured = named(data.error.sel(form=THETA).max("body"))
    bounds = {kind: DOUBLE if kind == "ordinary" else UNIFORM for kind in measured}
    parts = {f"{kind}: largest error": criteria.at_most(x, bounds[kind]) for kind, x in measured.items()}
    return Finding(parts, {"median": named(data.error.sel(form=THETA).median("body"))})


FIGURE = Figure("exact_forms", "the reach of the exact forms: Carlson's integrals and theta functions", compute, draw, (
    Claim("Carlson's algorithms produce accurate values of the integral of the third kind for large sets of parameters",
          "3.1", carlson),
    Claim("The exact methods behave uniformly well for all principal moments of inertia and initial conditions", "4",
          uniformly),
    Claim("The attitude can be computed by theta functions, as in reference 29", "3.1", by_theta),
))  # fmt: skip
