"""Growth of round-off over a million small steps, in closed forms of free motion and in products of rotations.

The exact flow of polhode adds the change of the momentum over a step, which is small and has a small relative error.
The naive forms compute y(t + h) anew, with a rounding error relative to y; where a constant of the motion is
recomputed, the error has the same sign in every step. They are given here for a momentum that circles axis 3:

``by_facsimile``  the formulas of Jacobi, amplitudes from energy and length of the momentum [vilmart2013, fig. 2]
``by_addition``   the addition theorems that polhode uses too, for y(t + h) instead of its change

``K``: bodies of figure 1 with momenta of length 1; ``n``: number of steps; errors are root mean squares over the
bodies.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import atan2, copysign, sqrt
from typing import Any

import numpy as np
import xarray as xr
from numba import njit

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import pictures
from polhode_papers.vilmart2013.common import BOOK

EPS = 2.0**-52
STEP = 0.01  # of figure 1
JACOBI = "Jacobi's formulas"
elliptic, compiled = ph.algebra.elliptic, njit(error_model="numpy", fastmath={"contract"})
FLOWS = {"exact": "exact, by increments", "jacobi": "algorithm 1", "dmv10": "dmv10"}
Advance = Callable[[int, Any, Any], tuple[Any, Any]]
"""``take_steps(n, q, y)`` takes n steps from attitudes q (K, 4) and momenta y (K, 3)."""

QUANTITIES = ("H", "C", "Qy")
ROOT = 0.65
"""Largest exponent of the number of steps accepted as a square root; over two decades it scatters by 0.1."""
LINEAR = 0.75
"""Smallest exponent not accepted as a square root."""
ROUNDS = 64
"""Number of different increments in a product of rotations; they are repeated cyclically."""
SEQUENCES = 16
SEMIEXACT = ("semiexact10_matrix", "semiexact10")


# ------------------------------------------------------------------ naive forms, as kernels
def by_facsimile(y: Any, I: Any, h: Any) -> Any:
    """Momentum after h by Jacobi's formulas: amplitudes and 1 - k^2 from energy and length [vilmart2013, fig. 2]."""
    twice = y[0] * y[0] / I[0] + y[1] * y[1] / I[1] + y[2] * y[2] / I[2]
    square = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
    X = sqrt(I[0] * (I[2] * twice - square) / (I[2] - I[0]))
    Y = sqrt(I[1] * (I[2] * twice - square) / (I[2] - I[1]))
    Z = sqrt(I[2] * (square - I[0] * twice) / (I[2] - I[0]))
    rate = sqrt((I[2] - I[1]) * (square - I[0] * twice) / (I[0] * I[1] * I[2]))
    mc = 1.0 - (I[1] - I[0]) * (I[2] * twice - square) / ((I[2] - I[1]) * (square - I[0] * twice))
    sign = copysign(1.0, y[2])
    u = sign * h * rate + elliptic.F(atan2(y[1] / Y, y[0] / X), mc)
    return (X * elliptic.cn(u, mc), Y * elliptic.sn(u, mc), sign * Z * elliptic.dn(u, mc))


def by_addition(y: Any, I: Any, h: Any) -> Any:
    """Momentum after h by sn, cn, dn of h and the addition theorems, without a phase."""
    r, w, p = 1.0 / I[1] - 1.0 / I[2], 1.0 / I[0] - 1.0 / I[1], 1.0 / I[0] - 1.0 / I[2]
    N, M = r * y[1] * y[1] + p * y[0] * y[0], p * y[2] * y[2] + w * y[1] * y[1]
    lam = sqrt(M * r)
    u, mc = lam * h, 1.0 - N * w / (M * r)
    s, c, d = elliptic.sn(u, mc) / lam, elliptic.cn(u, mc), elliptic.dn(u, mc)
    i = 1.0 / (1.0 - r * w * (y[1] * s) * (y[1] * s))
    return (
        i * (y[0] * c - y[1] * y[2] * s * d * r),
        i * (y[1] * c * d + p * s * y[0] * y[2]),
        i * (y[2] * d - y[0] * y[1] * c * s * w),
    )


NAIVE = {JACOBI: by_facsimile, "addition theorems for y(t + h)": by_addition}


@compiled
def momenta_only(formula: Any, n: Any, h: Any, I: Any, y: Any) -> None:
    """Replace the rows of y by the momenta after n steps of a formula."""
    a = (I[0], I[1], I[2])
    for k in range(y.shape[0]):
        m = (y[k, 0], y[k, 1], y[k, 2])
        for _ in range(n):
            m = formula(m, a, h)
        y[k, 0], y[k, 1], y[k, 2] = m


# ------------------------------------------------------------------ products of attitudes, as kernels
def product_of(a: Any, b: Any) -> Any:
    """Product of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


multiply = compiled(product_of)


@compiled
def compose(a: Any, b: Any) -> Any:
    """The same, brought back to length 1 where it is off by more than 1e-14, as polhode's own."""
    r = multiply(a, b)
    n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]
    if abs(n - 1.0) > 2e-14:
        f = 1.5 - 0.5 * n
        return (f * r[0], f * r[1], f * r[2], f * r[3])
    return r


@compiled
def matrix_product(a: Any, b: Any) -> Any:
    """Product of two matrices, (9,) by rows."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8], a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7], a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@compiled
def quaternions(product: Any, n: Any, increments: Any, q: Any) -> None:
    """Multiply q in place by all rows of increments, n times."""
    a = (q[0], q[1], q[2], q[3])
    for _ in range(n):
        for k in range(increments.shape[0]):
            e = increments[k]
            a = product(a, (e[0], e[1], e[2], e[3]))
    for k in range(4):
        q[k] = a[k]


@compiled
def matrices(product: Any, n: Any, increments: Any, m: Any) -> None:
    """The same with rotation matrices, (9,)."""
    a = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
    for _ in range(n):
        for k in range(increments.shape[0]):
            e = increments[k]
            a = product(a, (e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]))
    for k in range(9):
        m[k] = a[k]


COMPENSATION_AT = {
    "matrix": (matrices, matrix_product),
    "quaternion": (quaternions, multiply),
    "quaternion kept to length 1": (quaternions, compose),
}


# ------------------------------------------------------------------ measurements
def momenta(count: int) -> Any:
    """Random momenta of length 1 that circle axis 3, away from the axis and the separatrix."""
    random = np.random.default_rng(2013)
    results: list[Any] = []
    a, b, c = 1.0 / np.array(BOOK)
    while len(results) < count:
        y = random.normal(size=3)
        y /= np.linalg.norm(y)
        if 0.1 < (a - b) * y[0] ** 2 / ((b - c) * y[2] ** 2) < 0.8:
            results.append(y)
    return np.array(results)


def by_flow(name: str) -> Advance:
    """Steps of a free rotation."""
    turn = ph.runs.free_rotation(name, guard=False)

    def take_steps(n: int, q: Any, y: Any) -> tuple[Any, Any]:
        q, y, good = turn(q, y, np.tile(BOOK, (len(y), 1)), STEP, n)
        assert good.all()
        return q, y

    return take_steps


def by_formula(form: Any) -> Advance:
    """Steps of a formula for the momentum; the attitude is unchanged."""
    formula = ph.systems.compilable(form)

    def take_steps(n: int, q: Any, y: Any) -> tuple[Any, Any]:
        y = y.copy()
        momenta_only(formula, n, STEP, np.array(BOOK), y)
        return q, y

    return take_steps


def grow(take_steps: Advance, y0: Any, counts: Any) -> Any:
    """Relative errors of H, C and Qy after each number of steps, (count, quantity), along one run."""
    q, m, inverse, done = np.tile((1.0, 0.0, 0.0, 0.0), (len(y0), 1)), y0, 1.0 / np.array(BOOK), 0
    results: list[list[float]] = []
    for n in counts:
        q, m = take_steps(n - done, q, m)
        done = n
        errors = (
            (m**2 @ inverse) / (y0**2 @ inverse) - 1.0, (m**2).sum(axis=1) / (y0**2).sum(axis=1) - 1.0,
            np.linalg.norm(ph.rotation.rotate(q, m) - y0, axis=1),
        )  # fmt: skip
        results.append([float(np.sqrt((e**2).mean())) for e in errors])
    return np.array(results)


def in_extended_precision(v: Any) -> Any:
    """Quaternion of the successive rotations v, in 80-bit arithmetic where the machine has it."""
    q = (np.longdouble(1), *np.zeros(3, dtype=np.longdouble))
    for row in v.astype(np.longdouble):
        angle = np.sqrt((row * row).sum())
        q = product_of(q, (np.cos(angle / 2), *(np.sin(angle / 2) / angle * row)))
    return q


def attitudes(doublings: int) -> tuple[Any, Any, Any]:
    """Products of 64 * 2^k rotations for k below ``doublings``, by representation, for SEQUENCES random sequences.

    Returns rms errors in angle (rad) and rms deviations from a rotation, (representation, k), and ns per product.
    """
    angle, departure = np.zeros((2, SEQUENCES, len(COMPENSATION_AT), doublings))
    ns = np.full(len(COMPENSATION_AT), np.inf)
    for i in range(SEQUENCES):
        v = np.random.default_rng(i).normal(size=(ROUNDS, 3)) * 0.01
        q, truth = ph.rotation.exp_quaternion(v), in_extended_precision(v)
        as_matrices = np.ascontiguousarray(ph.rotation.matrix_from_quaternion(q).reshape(ROUNDS, 9))
        for k in range(doublings):
            for j, (loop, product) in enumerate(COMPENSATION_AT.values()):
                increments = (as_matrices, q, q)[j]
                a = np.eye(3).ravel() if j == 0 else np.array([1.0, 0.0, 0.0, 0.0])
                begun = time.perf_counter()
                loop(product, 2**k, increments, a)
                ns[j] = min(ns[j], (time.perf_counter() - begun) / (ROUNDS * 2**k) * 1e9)
                if j == 0:
                    U, sizes, W = np.linalg.svd(a.reshape(3, 3))
                    departure[i, j, k] = np.abs(sizes - 1.0).max()
                    a = ph.rotation.quaternion_from_matrix(U @ W)  # the nearest rotation
                else:
                    departure[i, j, k] = abs(np.linalg.norm(a) - 1.0)
                angle[i, j, k] = ph.rotation.angle_between(
                    ph.rotation.normalize(a), ph.rotation.normalize(np.array(truth, float))
                )
            truth = product_of(truth, truth)
    return (*(np.sqrt((x**2).mean(axis=0)) for x in (angle, departure)), ns)


def ns_of_flow(name: str) -> float:
    """Time of one step of a free flow, ns."""
    take_steps, start, times = by_flow(name), ((1.0, 0.0, 0.0, 0.0), momenta(1)), []
    for _ in range(9):
        begun = time.perf_counter()
        take_steps(5000, *start)
        times.append(time.perf_counter() - begun)
    return min(times) / 5000 * 1e9


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    decades, K = (5, 8) if quick else (6, 32)
    counts = [round(10 ** (k / 2)) for k in range(2, 2 * decades + 1)]
    y0, result = momenta(K), {}
    forms = {label: by_flow(name) for name, label in FLOWS.items()}
    forms |= {name: by_formula(form) for name, form in NAIVE.items()}
    for name, take_steps in forms.items():
        report_progress(f"{K} runs of {counts[-1]:,} steps, {name}")
        result[name] = grow(take_steps, y0, counts)
        if name in NAIVE:
            result[name][:, 2] = np.nan  # they have no attitude
    report_progress("products of attitudes")
    angle, departure, ns = attitudes(decades * 3 - 3)
    return xr.Dataset(
        {
            "error": (("form", "count", "quantity"), np.array(list(result.values()))),
            "angle": (("carried_as", "products"), angle), "departure": (("carried_as", "products"), departure),
            "ns_per_product": ("carried_as", ns), "ns_per_step": ("flow", [ns_of_flow(name) for name in SEMIEXACT]),
        },
        {"form": list(result), "count": counts, "quantity": list(QUANTITIES), "carried_as": list(COMPENSATION_AT),
         "products": [ROUNDS * 2**k for k in range(angle.shape[1])], "flow": list(SEMIEXACT)},
        {"bodies": f"{K}, the moments of figure 1, momenta circling axis 3", "step": f"{STEP:g}"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, middle, right),) = drawing.canvas(1, 3, width=12.5, height=4.8)
    for ax, quantity, words in ((left, "H", "energy"), (middle, "Qy", "spatial momentum")):
        lines = {str(form): data.error.sel({"form": form, "quantity": quantity}) for form in data.form.values}
        pictures.against_count(ax, data["count"], lines, f"free motion: error of {words}", EPS)
    names = {f"{name}, {what}": (name, what) for what in ("angle", "departure") for name in data.carried_as.values}
    lines = {label: data[what].sel({"carried_as": name}) for label, (name, what) in names.items()}
    pictures.against_count(right, data.products, lines, "products of rotations", EPS)
    return {"roundoff": picture}


def exponent(n: Any, error: Any) -> float:
    """Exponent of n with which an error grows over the last two decades."""
    n, error = np.asarray(n), np.asarray(error)
    late = n >= n.max() / 100.5
    return float(np.polyfit(np.log(n[late]), np.log(error[late]), 1)[0])


def growth(data: xr.Dataset, form: str, *quantities: str) -> tuple[dict[str, float], dict[str, float]]:
    """Growth exponents and final errors by quantity."""
    lines = {q: data.error.sel({"form": form, "quantity": q}) for q in quantities}
    return {q: exponent(data["count"], x) for q, x in lines.items()}, {q: float(x[-1]) for q, x in lines.items()}


def like_a_root(data: xr.Dataset) -> Finding:
    powers, last = growth(data, FLOWS["exact"], *QUANTITIES)
    bound = EPS * float(data["count"][-1]) ** 0.5
    parts = {f"{q} grows like the root or more slowly, power": criteria.at_most(powers[q], ROOT) for q in QUANTITIES}
    parts |= {f"{q} stays below 2^-52 times the root": criteria.at_most(last[q], bound) for q in QUANTITIES}
    return Finding(parts, {"steps": int(data["count"][-1]), "exponent": powers, "error": last})


def gain(data: xr.Dataset) -> Finding:
    ours, last = growth(data, FLOWS["exact"], "H")[1]["H"], {name: growth(data, name, "H")[1]["H"] for name in NAIVE}
    parts = {f"{name}: error over that by increments": criteria.at_least(x / ours, 10.0) for name, x in last.items()}
    return Finding(parts, {"error of H by increments": ours, "computed afresh": last})


def reformulated(data: xr.Dataset) -> Finding:
    jacobi, ours = (growth(data, name, "H", "C") for name in (JACOBI, FLOWS["jacobi"]))
    parts = {
        f"{q}: error by Jacobi's formulas over that by algorithm 1": criteria.at_least(jacobi[1][q] / ours[1][q], 2.0)
        for q in ("H", "C")
    }
    parts |= {f"{q}, algorithm 1: power of the number of steps": criteria.at_most(ours[0][q], ROOT) for q in ("H", "C")}
    parts["H, Jacobi's formulas accumulate: power"] = criteria.at_least(jacobi[0]["H"], LINEAR)
    return Finding(parts, {
        "exponent, algorithm 1": ours[0], "exponent, Jacobi": jacobi[0],
        "error, algorithm 1": ours[1], "error, Jacobi": jacobi[1],
    })  # fmt: skip


def matrix_or_quaternion(data: xr.Dataset) -> Finding:
    ns, flows = named(data.ns_per_product), named(data.ns_per_step)
    angle, departure = (named(data[x].isel(products=-1, drop=True)) for x in ("angle", "departure"))
    normalised = "quaternion kept to length 1"
    return Finding({
        "a product takes longer, ratio": criteria.at_least(ns["matrix"] / ns[normalised], 1.1),
        "a free rotation takes longer, ratio": criteria.at_least(flows[SEMIEXACT[0]] / flows[SEMIEXACT[1]], 1.1),
        "its error in angle is larger, ratio": criteria.at_least(angle["matrix"] / angle[normalised], 2.0),
        "it ceases to be a rotation, ratio": criteria.at_least(departure["matrix"] / departure[normalised], 10.0),
    }, {
        "products": int(data.products[-1]), "ns a product": ns, "ns a step": flows, "error in angle, rad": angle,
        "departure from a rotation": departure,
    })  # fmt: skip


FIGURE = Figure("roundoff", "a million small steps", compute, draw, (
    Claim("Orthogonal matrices are usually more costly than quaternions and subject to round-off", "footnote 2",
          matrix_or_quaternion, timed=True),
    Claim("Algorithm 1 avoids the round-off accumulation of Jacobi's formulas", "footnote 3", reformulated),
    Claim("In many small steps round-off of the exact flow grows no faster than the root of their number", "polhode",
          like_a_root),
    Claim("A momentum computed afresh in every step collects more round-off than one added up", "polhode", gain),
))  # fmt: skip
