"""Claims of sections 2 to 5: equations that need no integration, and updates that end near singular points.

Updates as printed and by half angles are those of ``polhode.rotation``.
Attitude errors are angles in rad, relative to the product of quaternions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers.criteria import at_least, at_most, within
from polhode_papers.drawing import GREY, INK, VERMILION, canvas, style
from polhode_papers.holzinger2021.counting import PLAIN
from polhode_papers.holzinger2021.updates import PROPOSED, VECTOR, dot, exp_matrix, matrix_of_angles
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

ROUND_OFF = 1e-13
LOST = 1e-10  # rad; an attitude off by more after one update counts as lost

ANGLE_RANGES = {
    "angles 1e-12 ... 0.1": (1e-12, 0.1), "angles 0.1 ... 6": (0.1, 6.0), "angles 6 ... 2 pi": (6.0, 2 * pi),
    "angles 2 pi ... 4 pi": (2 * pi, 4 * pi),
}  # fmt: skip
DISTANCES = np.array([*(float(f"1e-{k}") for k in range(1, 15)), 0.0])
TURNS = np.array([(0.02, 0.01, -0.03), (0.3, -0.2, 0.1), (0.0, 0.5, 0.4), (1.0, -0.7, 0.6)])
AXES = "xyz yzx zxy zyx xzy yxz xyx yzy zxz zyz xzx yxy"
SEQUENCES = (*AXES.upper().split(), *AXES.split())
SEQUENCE_PAIR = ("XYZ", "ZXZ")
MAPS = {"exp": (ph.rotation.dexp, ph.rotation.dexpinv), "cay": (ph.rotation.dcay, ph.rotation.dcayinv)}
LENGTHS = {"1": 1.0, "2": 2.0, "pi": pi, "6": 6.0, "2 pi - 1e-3": 2 * pi - 1e-3, "2 pi - 1e-6": 2 * pi - 1e-6}
UNDONE = (0.0, 1e-12, 1e-9, 1e-7)  # how closely steps undo the rotation, rad

Rows = Any
"""An array of shape (n, 3) or, of quaternions, (n, 4)."""


# ------------------------------------------------------------------ updates over rows
def vector_by_arc_cosine(v: Rows, w: Rows) -> Rows:
    return ph.rotation.compose(v, w, branch="as_printed")


def vector_by_half_angle(v: Rows, w: Rows) -> Rows:
    return ph.rotation.compose(v, w, branch="tracked")


def angles_by_entries(a: Rows, w: Rows, sequence: str) -> Rows:
    return a + ph.rotation.euler_increment(a, w, sequence, branch="as_printed")


def angles_by_half_angles(a: Rows, w: Rows, sequence: str) -> Rows:
    return a + ph.rotation.euler_increment(a, w, sequence, branch="principal")


def vector_error(new: Rows, v: Rows, w: Rows) -> Rows:
    """Attitude errors (rad) of rotation vectors ``new`` after the rotations ``w``."""
    exact = ph.rotation.multiply(ph.rotation.exp_quaternion(v), ph.rotation.exp_quaternion(w))
    return ph.rotation.angle_between(ph.rotation.exp_quaternion(new), exact)


def angle_error(new: Rows, a: Rows, w: Rows, sequence: str) -> Rows:
    """Attitude errors (rad) of Euler angles ``new`` after the rotations ``w``."""
    exact = ph.rotation.multiply(ph.rotation.quaternion_from_euler(a, sequence), ph.rotation.exp_quaternion(w))
    return ph.rotation.angle_between(ph.rotation.quaternion_from_euler(new, sequence), exact)


def directions(count: int, seed: int) -> Rows:
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)


# ------------------------------------------------------------------ equations
def no_turn(update: Callable[[Rows, Rows], Rows], low: float, high: float) -> float:
    """Largest |v - v0| after a zero rotation, (29)."""
    v = np.geomspace(low, high, 400)[1:-1, None] * directions(398, 1)
    return float(np.linalg.norm(update(v, 0.0 * v) - v, axis=1).max())


def from_nothing(update: Callable[[Rows, Rows], Rows], low: float, high: float) -> float:
    """Largest |v - Omega| after a rotation from v0 = 0, (32)."""
    w = np.geomspace(low, high, 400)[1:-1, None] * directions(398, 2)
    return float(np.linalg.norm(update(0.0 * w, w) - w, axis=1).max())


def whole_turns() -> float:
    """Largest entry of R(2 pi k, n) - I by Rodrigues' formula (34), k = -5 ... 5."""
    worst = 0.0
    for n in directions(20, 3):
        K = np.array(ph.rotation.hat(n))
        for phi in 2 * pi * np.arange(-5, 6):
            worst = max(worst, float(np.abs(np.sin(phi) * K + (1 - np.cos(phi)) * K @ K).max()))
    return worst


def scaled_to_half_turns() -> float:
    """Largest attitude error (rad) of vectors scaled to length at most pi; infinite if one is longer."""
    v, w = 4.0 * directions(500, 4), 2.0 * directions(500, 5)
    new = ph.rotation.compose(v, w, branch="principal")
    longest = np.linalg.norm(new, axis=1).max()
    return float(vector_error(new, v, w).max()) if longest <= pi + 1e-15 else np.inf


def exp_of(w: Any) -> Any:
    """exp(hat w), for complex w too."""
    K, p = np.cross(np.eye(3), w), np.sqrt(w @ w)
    return np.eye(3) + np.sin(p) / p * K + 2 * (np.sin(p / 2) / p) ** 2 * K @ K


def cay_of(w: Any) -> Any:
    """cay(hat w), for complex w too."""
    K = np.cross(np.eye(3), w) / 2
    return np.linalg.solve(np.eye(3) - K, np.eye(3) + K)


def tangent(map: Callable[[Any], Any], operator: Any, inverse: Any) -> float:
    """Largest entry of phi^T dphi/dt - hat(T Omega'), by a complex step, and of T^-1 T - I; up to |Omega| = 6."""
    worst = 0.0
    for size in (1e-9, 1e-4, 0.1, 1.0, 3.0, 6.0):
        for w, rate in zip(size * directions(10, 6), directions(10, 7), strict=True):
            T = operator(-w)
            body = map(w).T @ map(w + 1e-30j * rate).imag * 1e30
            worst = max(worst, float(np.abs(body - ph.rotation.hat(T @ rate)).max()))
            worst = max(worst, float(np.abs(inverse(-w) @ T - np.eye(3)).max()))
    return worst


def steepest(inverse: Any, size: float) -> float:
    """Largest 2-norm of T^-1 over vectors of this length."""
    return float(np.linalg.norm(inverse(size * directions(5, 15)), 2, axis=(1, 2)).max())


def equations() -> dict[str, float]:
    """Largest residual of each equation, by name."""
    results = {}
    for case, residual in (("(29)", no_turn), ("(32)", from_nothing)):
        for name, (low, high) in ANGLE_RANGES.items():
            results[f"{case}, {name}"] = residual(vector_by_arc_cosine, low, high)
    for case, residual in (("(29)", no_turn), ("(32)", from_nothing)):
        results[f"{case} by half angles, 1e-12 ... 6"] = residual(vector_by_half_angle, 1e-12, 6.0)
    zero = np.zeros((1, 3))
    results["(33)"] = float(np.abs(vector_by_arc_cosine(zero, zero)).max())
    results["(35)"] = whole_turns()
    results["vectors no longer than pi"] = scaled_to_half_turns()
    results["tangent operator of exp"] = tangent(exp_of, *MAPS["exp"])
    results["tangent operator of cay"] = tangent(cay_of, *MAPS["cay"])
    return results


def all_sequences() -> tuple[Any, Any]:
    """Largest attitude errors (rad) of both updates for every sequence, away from singular middle angles."""
    random = np.random.default_rng(8)
    a, w = random.uniform(-pi, pi, (400, 3)), random.normal(size=(400, 3))
    results = []
    for sequence in SEQUENCES:
        new = angles_by_half_angles(a, w, sequence)
        regular = np.abs(np.sin(new[:, 1]) if sequence[0] == sequence[2] else np.cos(new[:, 1])) > 0.1
        both = (angles_by_entries(a, w, sequence), new)
        results.append([angle_error(x, a, w, sequence)[regular].max() for x in both])
    return tuple(np.transpose(results))


def closed_bch(count: int) -> tuple[Any, Any, Any]:
    """Total angle, larger angle of the two factors, and attitude error of the closed formula (rad), sorted."""
    random = np.random.default_rng(9)
    v, w = (s[:, None] * directions(count, k) for k, s in enumerate(random.uniform(0, pi, (2, count)), 10))
    error = vector_error(ph.rotation.compose(v, w, branch="bch"), v, w)
    total = 2 * np.arccos(
        np.abs(ph.rotation.multiply(ph.rotation.exp_quaternion(v), ph.rotation.exp_quaternion(w))[:, 0])
    )
    order = np.argsort(total)
    return total[order], np.maximum(*np.linalg.norm([v, w], axis=2))[order], error[order]


# ------------------------------------------------------------------ beside singular points
def ending_at_length(size: float) -> tuple[Rows, Rows]:
    """Rotation vectors, and rotations after which they have this length."""
    axes = np.repeat(directions(30, 12), len(TURNS), axis=0)
    w = np.tile(TURNS, (30, 1))
    return ph.rotation.compose(size * axes, -w), w


def ending_at_middle(sequence: str, d: float) -> tuple[Rows, Rows]:
    """Euler angles, and rotations after which the middle angle is at distance d (rad) from a singular one."""
    middle = d if sequence[0] == sequence[2] else pi / 2 - d
    after = np.random.default_rng(13).uniform(-3, 3, (30 * len(TURNS), 3))
    after[:, 1] = middle
    w = np.tile(TURNS, (30, 1))
    return after + ph.rotation.euler_increment(after, -w, sequence), w


def beside(d: float) -> dict[str, float]:
    """Largest attitude errors of single updates that end at distance d from a singular point (rad)."""
    results = {}
    for name, size in (("2 pi", 2 * pi - d), ("0", d)):
        v, w = ending_at_length(size)
        results[f"vector as printed, beside {name}"] = vector_error(vector_by_arc_cosine(v, w), v, w).max()
        results[f"vector by half angles, beside {name}"] = vector_error(vector_by_half_angle(v, w), v, w).max()
    for sequence in SEQUENCE_PAIR:
        a, w = ending_at_middle(sequence, d)
        results[f"{sequence} as printed"] = angle_error(angles_by_entries(a, w, sequence), a, w, sequence).max()
        results[f"{sequence} by half angles"] = angle_error(angles_by_half_angles(a, w, sequence), a, w, sequence).max()
    a, w = ending_at_middle("XYZ", d)
    entry = R13(a, w)
    results["middle angle by asin"] = np.abs(np.arcsin(np.clip(entry, -1.0, 1.0)) - (pi / 2 - d)).max()
    results["middle angle by atan2"] = np.abs(angles_by_entries(a, w, "XYZ")[:, 1] - (pi / 2 - d)).max()
    return results


def R13(a: Rows, w: Rows) -> Any:
    """Entry R13 after the rotation: the sine of the middle angle."""
    R0 = matrix_of_angles(tuple(np.cos(a).T), tuple(np.sin(a).T))
    F = exp_matrix(PLAIN, tuple(w.T))
    return dot(R0[:3], (F[2], F[5], F[8]))


def arc_cosine_fails(count: int) -> list[float]:
    """Share of random steps that nearly undo the rotation for which the printed arc cosine gives NaN."""
    random = np.random.default_rng(14)
    v, aside = random.normal(size=(2, 3, count))
    with np.errstate(invalid="ignore"):
        return [float(np.isnan(VECTOR[PROPOSED](PLAIN, tuple(v), tuple(d * aside - v))[0]).mean()) for d in UNDONE]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("equations")
    residuals = equations()
    sequences = all_sequences()
    report_progress("closed formula of Baker, Campbell and Hausdorff")
    total, larger, error = closed_bch(400 if quick else 2000)
    report_progress("beside singular points")
    results = [beside(d) for d in DISTANCES]
    return xr.Dataset(
        {
            "residual": ("equation", list(residuals.values())),
            "error_as_printed": ("sequence", sequences[0]), "error_by_half_angles": ("sequence", sequences[1]),
            "total_angle": ("product", total), "larger_factor": ("product", larger), "bch_error": ("product", error),
            "error": (("update", "distance"), [[x[name] for x in results] for name in results[0]]),
            "steepest_rate": (
                ("map", "length"), [[steepest(inverse, x) for x in LENGTHS.values()] for _, inverse in MAPS.values()]
            ),
            "not_a_number": ("undone", arc_cosine_fails(20_000 if quick else 200_000)),
        },
        {"equation": list(residuals), "sequence": list(SEQUENCES), "product": np.arange(len(total)),
         "update": list(results[0]), "distance": DISTANCES, "undone": list(UNDONE),
         "map": list(MAPS), "length": list(LENGTHS)},
        {"beside singular points": f"largest of {30 * len(TURNS)} single updates each",
         "sine of half the rounded 2 pi": f"{np.sin(pi):.3g}, so the test for a full turn does not meet it"},
    )  # fmt: skip


# ------------------------------------------------------------------ pictures
PANELS = {
    "rotation vector, one update": (
        "vector as printed, beside 2 pi", "vector as printed, beside 0", "vector by half angles, beside 2 pi",
    ),
    "Euler angles, one update": ("XYZ as printed", "ZXZ as printed", "XYZ by half angles", "ZXZ by half angles"),
    "middle angle of XYZ from R13": ("middle angle by asin", "middle angle by atan2"),
}  # fmt: skip


def singular_points(data: xr.Dataset) -> Picture:
    picture, (row,) = canvas(1, len(PANELS), width=12.5, sharey=True)
    shown = np.where(DISTANCES > 0.0, DISTANCES, 1e-16)
    for ax, (title, names) in zip(row, PANELS.items(), strict=True):
        for i, name in enumerate(names):
            size = np.maximum(data.error.sel(update=name), 1e-17)
            ax.loglog(shown, size, label=name, **style(i, "as printed" in name or "asin" in name))
        ax.set_xticks([1e-16, 1e-13, 1e-10, 1e-7, 1e-4, 1e-1], ["0", *(f"$10^{{{k}}}$" for k in range(-13, 0, 3))])
        ax.minorticks_off()
        ax.set(xlabel="distance from the singular point (rad)", title=title)
        ax.legend(frameon=False, fontsize=8.5, loc="upper right")
    row[0].set(ylabel="error (rad)", ylim=(3e-17, 1e7))
    return picture


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, ((ax, right),) = canvas(1, 2, width=11.0, height=4.6)
    names, sizes = data.equation.values, np.maximum(data.residual.values, 1e-17)
    ax.barh(np.arange(names.size), sizes, color=GREY, height=0.6)
    ax.axvline(ROUND_OFF, color=INK, linewidth=0.8)
    ax.set(xscale="log", xlim=(1e-17, 100))
    ax.set_yticks(np.arange(names.size), names)
    ax.invert_yaxis()
    ax.set_title("residuals of equations as printed")
    inside = np.linspace(pi / 2, pi, 50)
    right.semilogy(data.total_angle, np.maximum(data.bch_error, 1e-17), ".", markersize=3)
    right.semilogy(inside[1:], 2 * inside[1:] - pi, "--", color=VERMILION, label=r"$2\varphi - \pi$", zorder=3)
    right.set_xticks([0, pi / 4, pi / 2, 3 * pi / 4, pi], ["0", "π/4", "π/2", "3π/4", "π"])
    right.set(xlabel="total angle", ylabel="attitude error (rad)", title="Engø's closed formula, two random turns")
    right.legend(frameon=False)
    return {"claims": picture, "singular_points": singular_points(data)}


# ------------------------------------------------------------------ judges
def hold(data: xr.Dataset, *names: str) -> Finding:
    """Judge whether these equations hold to round-off."""
    measured = {name: float(data.residual.sel(equation=name)) for name in names}
    return Finding({name: at_most(x, ROUND_OFF) for name, x in measured.items()}, {"residual": measured})


def no_singular_step(data: xr.Dataset) -> Finding:
    """Judge whether |T^-1| is below 2.1 in a step of up to half a turn (exp) or a quarter turn, |Omega| = 2 (cay)."""
    rates = {name: {str(x): float(data.steepest_rate.sel(map=name, length=x)) for x in LENGTHS} for name in MAPS}
    parts = {
        "exp, up to a half turn": at_most(rates["exp"]["pi"], 2.1),
        "cay, up to a quarter": at_most(rates["cay"]["2"], 2.1),
    }
    return Finding(parts, {f"norm of T^-1 of {name} at the length": measured for name, measured in rates.items()})


def every_sequence(data: xr.Dataset) -> Finding:
    worst = {name: float(data[name].max()) for name in ("error_as_printed", "error_by_half_angles")}
    parts = {"as printed, away from singular middle angles": at_most(worst["error_as_printed"], ROUND_OFF)}
    return Finding(parts, {"sequences": data.sequence.size, "as printed": worst["error_as_printed"],
                           "by half angles": worst["error_by_half_angles"]})  # fmt: skip


def bch(data: xr.Dataset) -> Finding:
    total, error = data.total_angle.values, data.bch_error.values
    small, beyond = ~(total >= pi / 2 - 0.01), ~(total <= pi / 2 + 0.01)
    factors = ~(data.larger_factor.values >= pi / 2) & beyond
    parts = {"right below a total angle of pi/2": at_most(float(error[small].max()), ROUND_OFF),
             "wrong beyond": at_least(float(error[beyond].min()), LOST)}  # fmt: skip
    numbers = {"largest error below": error[small].max(), "smallest and largest error beyond":
               {"at 0.01": error[beyond].min(), "at pi": error[beyond].max()},
               "beyond, less 2 phi - pi": np.abs(error - 2 * total + pi)[beyond].max(),
               "largest error of two turns below pi/2 each": error[factors].max()}  # fmt: skip
    return Finding(parts, numbers)


AT = {"0.1": 0.1, "1e-3": 1e-3, "1e-5": 1e-5, "1e-8": 1e-8, "0": 0.0}


def survives(data: xr.Dataset, name: str, everywhere: bool = False) -> Finding:
    """Judge whether an update that ends near a singular point keeps the attitude."""
    size = data.error.sel(update=name)
    measured = {label: float(size.sel(distance=d)) for label, d in AT.items()}
    if everywhere:
        parts = {"to round-off at every distance": at_most(float(size.max()), ROUND_OFF)}
    else:
        parts = {f"attitude kept at the distance {label}": at_most(x, LOST) for label, x in measured.items()}
    return Finding(parts, {"attitude error at the distance": measured, "largest": float(size.max())})


def always_a_number(data: xr.Dataset) -> Finding:
    share = named(data.not_a_number)
    return Finding({"the arc cosine is always a number: share that is not": at_most(max(share.values()), 0.0)},
                   {"share that is not, of steps that undo the rotation to": share})  # fmt: skip


def asin_loses(data: xr.Dataset) -> Finding:
    asin, atan2 = (data.error.sel(update=f"middle angle by {name}") for name in ("asin", "atan2"))
    scaled = float((asin * data.distance).sel(distance=slice(1e-2, 1e-7)).max())
    parts = {"asin loses a rounding unit over the distance": within(scaled, 1e-17, 1e-15),
             "atan2 loses nothing": at_most(float(atan2.max()), 1e-14)}  # fmt: skip
    return Finding(parts, {"asin: error times distance": scaled, "asin at 1e-8": float(asin.sel(distance=1e-8)),
                           "atan2, worst": float(atan2.max())})  # fmt: skip


RANGES = tuple(ANGLE_RANGES)
FIGURE = Figure("claims", "sections 2 to 5: equations, and updates beside singular points", compute, draw, (
    Claim("Omega' = T^-1 omega for R = R0 phi(Omega), with the tangent operators of exp and cay", "2, (5), (6)",
          lambda d: hold(d, "tangent operator of exp", "tangent operator of cay")),
    Claim("(6) can be integrated without running into a singular point, the turn of a step being small", "2",
          no_singular_step),
    Claim("Case 1: a turn by nothing leaves the rotation vector as it is", "4.3, (27)-(29)",
          lambda d: hold(d, *(f"(29), {name}" for name in RANGES))),
    Claim("Case 2: from no rotation the turn itself results", "4.3, (30)-(32)",
          lambda d: hold(d, *(f"(32), {name}" for name in RANGES))),
    Claim("Case 3: from no rotation a turn by nothing gives none", "4.3, (33)", lambda d: hold(d, "(33)")),
    Claim("Cases 1 and 2 hold to round-off by half angles, at small angles too", "polhode",
          lambda d: hold(d, "(29) by half angles, 1e-12 ... 6", "(32) by half angles, 1e-12 ... 6")),
    Claim("(26) can be evaluated for all angles without restrictions: it is a number", "4.3", always_a_number),
    Claim("(26) can be evaluated for all angles without restrictions: beside a full turn", "4.3",
          lambda d: survives(d, "vector as printed, beside 2 pi")),
    Claim("(26) can be evaluated for all angles without restrictions: beside no rotation", "4.3",
          lambda d: survives(d, "vector as printed, beside 0")),
    Claim("The half angle by an arc tangent loses nothing beside a full turn", "polhode",
          lambda d: survives(d, "vector by half angles, beside 2 pi", True)),
    Claim("Rodrigues' formula resolves the redundancy at whole turns", "4.3, (35)", lambda d: hold(d, "(35)")),
    Claim("The redundancy can be bypassed by scaling the vector to at most pi", "4.3",
          lambda d: hold(d, "vectors no longer than pi")),
    Claim("Engø's closed formula is right for angles below pi/2 only", "4.3", bch),
    Claim("A general procedure gives the increments for any set of Euler angles", "5", every_sequence),
    Claim("Singular points are dealt with by cases: XYZ beside a middle angle of pi/2", "3, 8",
          lambda d: survives(d, "XYZ as printed")),
    Claim("Singular points are dealt with by cases: ZXZ beside a middle angle of 0", "3, 8",
          lambda d: survives(d, "ZXZ as printed")),
    Claim("Half angles of the quaternion lose nothing beside them: XYZ", "polhode",
          lambda d: survives(d, "XYZ by half angles", True)),
    Claim("Half angles of the quaternion lose nothing beside them: ZXZ", "polhode",
          lambda d: survives(d, "ZXZ by half angles", True)),
    Claim("The middle angle is to be taken by atan2, an arc sine of R13 loses it", "polhode", asin_loses),
))  # fmt: skip
