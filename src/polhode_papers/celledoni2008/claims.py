"""Claims of sections 3 and 4 and of appendix C that belong to no figure: conserved quantities, orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullFormatter

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008 import conditions, quadrature, theta
from polhode_papers.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION
from polhode_papers.measure import named
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

INERTIA = (1.0, 1.5, 2.2)
FREE, TOP = ph.free_body(INERTIA), ph.heavy_top(INERTIA, (0.1, 0.2, 0.9), 1.0)
START: dict[str, Any] = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}
STEPS = (0.3, 0.6, 1.2)
AT = 0.6  # step of the one-step measurements
FLOWS = {
    "exact, matrix": ("exact_matrix", PURPLE), "exact, quaternion": ("kosenko", GREEN),
    "semiexact6": ("semiexact6", SKY), "semiexact10": ("semiexact10", BLUE), "dmv6": ("dmv6", VERMILION),
    "dmv10": ("dmv10", ORANGE), "MR": ("mr", "black"),
}  # fmt: skip
EXACT, SEMIEXACT = ("exact, matrix", "exact, quaternion"), ("semiexact6", "semiexact10")
DMV, MR = ("dmv6", "dmv10"), "MR"
QUANTITIES = ("energy", "momentum_length", "spatial_momentum")
MISPRINT = "S4_6, b2 as printed"
SCHEMES = {"V2": 2, "S4_6": 4, MISPRINT: 4, "RKN4_6b": 4, "S6_10": 6, "RKN6_14a": 6}
ROTATIONS = {"dmv6": 6, "dmv8": 8, "dmv10": 10}
"""Stated orders."""
EFFECTIVE = {"S6_10": 1.12, "S4_6": 0.56, "RKN4_6b": 0.28, "RKN6_14a": 0.63}  # [celledoni2008, app. C]
STAGES = {"S6_10": 10, "S4_6": 6, "RKN4_6b": 6, "RKN6_14a": 14}
NYSTROM = ("RKN4_6b", "RKN6_14a")
DIGITS = 1e-13
"""Largest residual of an order condition with coefficients printed to 15 digits."""
POINTS = (1, 2, 3, 4, 5)
QUADRATURE_SPAN, QUADRATURE_STEPS = 6.0, (4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
INTERCHANGED = 16
"""Steps in a unit of time at which a scheme is compared with itself, A and B interchanged."""
MR_STEPS = (16, 32, 64, 128)
C3 = (0.0, 0.2, 0.5, 0.5**0.5)
FREE_STEPS = (8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
"""Numbers of steps over a time of 4."""
KEPT, EACH, FORM, BROKEN = 1e-12, 1e-13, 1e-12, 1e-11
"""Bounds: constant over a run; equal in one step; floor of the symplectic defect; clearly not constant or equal."""


POISSON = 1e-9
"""Accuracy to which differences can verify the Poisson bracket."""


def misprinted() -> ph.methods.Scheme:
    """S4_6 with the printed sign of b2.  [celledoni2008, eq. 4.6]"""
    a = [0.07920369643119565, 0.353172906049774, -0.04206508035771952]
    b = [0.209515106613362, 0.143851773179818]
    a, b = [*a, 1.0 - 2.0 * sum(a)], [*b, 0.5 - sum(b)]
    half = [step for k in range(3) for step in (("A", a[k]), ("B", b[k]))]
    stages = [*half, ("A", a[3]), *reversed(half)]
    return ph.methods.Scheme("s4_6_misprint", "S4_6 as printed", "celledoni2008", 4, tuple(stages))


def printed_mr(y: Any, Q: Any, h: float) -> tuple[Any, Any]:
    """Momentum and matrix after phi1(h/2) phi2(h/2) phi3(h) phi2(h/2) phi1(h/2), each a rotation about one axis."""
    for k, part in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
        turn = np.array(ph.rotation.exp_matrix(part * h * y[k] / INERTIA[k] * np.eye(3)[k]))
        y, Q = turn.T @ y, Q @ turn
    return y, Q


def error_of_printed_mr(step: Any, y: Any, h: float) -> float:
    """Difference in momentum and matrix between a step of polhode's MR and of the printed axes."""
    ends = [z[ph.runs.ANGULAR_MOMENTUM] for z in (y, step(y, 0.0, h))]
    turns = [np.array(ph.rotation.matrix_from_quaternion(z[ph.runs.ATTITUDE])) for z in (y, step(y, 0.0, h))]
    momentum, turn = printed_mr(ends[0], turns[0], h)
    return float(max(np.abs(momentum - ends[1]).max(), np.abs(turn - turns[1]).max()))


def interchanged(label: str) -> ph.methods.Scheme:
    """A scheme with A and B in each other's place."""
    stages = tuple(("B" if letter == "A" else "A", x) for letter, x in stages_of(label))
    name, title = f"{label.lower()}_interchanged", f"{label}, A and B interchanged"
    return ph.methods.Scheme(name, title, "celledoni2008", 1, stages)


def stages_of(label: str) -> list[tuple[str, float]]:
    """Letters and fractions of a scheme; the library's coefficients are the printed ones with more digits."""
    if label == MISPRINT:
        return [(letter, float(x)) for letter, x, *_ in misprinted().stages]
    return [(letter, float(x)) for letter, x, *_ in ph.methods.SCHEMES[label.lower()].stages]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    y, top = ph.runs.start_state(FREE, **START), ph.runs.start_state(TOP, **START)
    end = ph.checks.exact_state(FREE, y, 0.0, AT)
    drift_table, form = np.zeros((len(FLOWS), len(QUANTITIES))), np.zeros((len(FLOWS), len(STEPS)))
    back, momentum, poisson = np.zeros((3, len(FLOWS)))
    for i, (label, (method, _)) in enumerate(FLOWS.items()):
        report_progress(label)
        drift = ph.checks.drifts(method, FREE, y, AT, 100 if quick else 1000)
        drift_table[i] = [drift[name] for name in QUANTITIES]
        take_steps = ph.checks.stepper(method, FREE, y)
        momentum[i] = np.linalg.norm((take_steps(y, 0.0, AT) - end)[ph.runs.ANGULAR_MOMENTUM])
        poisson[i] = poisson_defect(partial(_after, take_steps, AT), y)
        back[i] = ph.checks.symmetry_defect(method, FREE, y, t=0.0, h=AT)
        form[i] = [ph.checks.symplectic_defect(partial(_after, take_steps, h), FREE, y) for h in STEPS]
    orders = []
    long = ph.checks.exact_state(FREE, y, 0.0, 4.0)
    free = np.full((len(ROTATIONS), len(FREE_STEPS)), np.nan)
    for i, method in enumerate(ROTATIONS):
        take_steps = ph.checks.stepper(method, FREE, y)
        free[i] = [ph.checks.state_distance(take_steps(y, 0.0, 4.0 / n, n), long, FREE) for n in FREE_STEPS]
    far = ph.checks.exact_state(TOP, top, 0.0, 1.0)
    left = np.full((len(SCHEMES), 8), np.nan)
    for k, (label, order) in enumerate(SCHEMES.items()):
        report_progress(label)
        scheme = ph.methods.splitting(misprinted()) if label == MISPRINT else label.lower()
        orders.append(ph.checks.measure_order(scheme, TOP, top, far, t=0.0, span=1.0).order)
        terms = conditions.errors(stages_of(label), order + 1, label in NYSTROM)
        left[k, 1 : order + 2] = [conditions.residual(x) for x in terms[1:]]
    swapped, swapped_error, swapped_order = np.full((3, len(SCHEMES)), np.nan)
    for k, label in enumerate(SCHEMES):
        if label not in EFFECTIVE:
            continue
        other = interchanged(label)
        terms = conditions.errors([(x, float(c)) for x, c, *_ in other.stages], SCHEMES[label], label in NYSTROM)
        swapped[k] = max(conditions.residual(x) for x in terms[1:])
        swapped_order[k] = ph.checks.measure_order(ph.methods.splitting(other), TOP, top, far, t=0.0, span=1.0).order
        both = (ph.methods.splitting(other), label.lower())
        ends = [ph.checks.stepper(x, TOP, top)(top, 0.0, 1.0 / INTERCHANGED, INTERCHANGED) for x in both]
        apart = [ph.checks.state_distance(end, far, TOP) for end in ends]
        swapped_error[k] = apart[0] / apart[1]
    report_progress("effective errors, quadrature")
    sizes = {name: conditions.effective_error(stages_of(name), SCHEMES[name], STAGES[name], name in NYSTROM)
             for name in EFFECTIVE}  # fmt: skip
    by_mr = ph.checks.stepper("mr", FREE, y)
    members = [ph.checks.stepper(f"kosenko:c3={c3}", FREE, y) for c3 in C3]
    family = [ph.checks.state_distance(take_steps(y, 0.0, AT), end, FREE) for take_steps in members]
    direction = np.array(START["angular_momentum"]) / np.linalg.norm(START["angular_momentum"])
    forms = {
        form: [[quadrature.error_of_angle(form, p, INERTIA, direction, QUADRATURE_SPAN, n) for n in QUADRATURE_STEPS]
               for p in POINTS]
        for form in quadrature.FORMS
    }  # fmt: skip
    return xr.Dataset(
        {
            "drift": (("flow", "quantity"), drift_table),
            "symplectic_defect": (("flow", "step"), form),
            "there_and_back": ("flow", back),
            "momentum_error": ("flow", momentum),
            "poisson_defect": ("flow", poisson),
            "order": ("scheme", orders),
            "free_error": (("rotation", "free_step"), free),
            "residual": (("scheme", "degree"), left),
            "effective_error": ("scheme", [sizes.get(name, np.nan) for name in SCHEMES]),
            "interchanged_residual": ("scheme", swapped), "interchanged_error": ("scheme", swapped_error),
            "interchanged_order": ("scheme", swapped_order),
            "mr_apart": ("step", [error_of_printed_mr(by_mr, y, h) for h in STEPS]),
            "mr_error": ("mr_step", [ph.checks.state_distance(by_mr(y, 0.0, 4.0 / n, n), long, FREE)
                                     for n in MR_STEPS]),
            "hermite_error": (("form", "small_step"), [[quadrature.error_of_angle(
                form, quadrature.HERMITE, INERTIA, direction, QUADRATURE_SPAN, n) for n in QUADRATURE_STEPS]
                for form in quadrature.FORMS]),
            "family_error": ("c3", family),
            "quadrature_error": (("form", "points", "small_step"), list(forms.values())),
        },
        {"flow": list(FLOWS), "quantity": list(QUANTITIES), "step": list(STEPS), "scheme": list(SCHEMES),
         "rotation": list(ROTATIONS), "free_step": [4.0 / n for n in FREE_STEPS], "degree": range(8), "c3": list(C3),
         "mr_step": [4.0 / n for n in MR_STEPS],
         "form": list(forms), "points": list(POINTS), "small_step": [QUADRATURE_SPAN / n for n in QUADRATURE_STEPS]},
        {
            "body": f"moments {INERTIA}; free, or as a heavy top for the orders",
            "quadrature": "long doubles, in which orders up to 12 show",
            theta.REMARK: theta.DIGITS,
            "one step": f"of {AT:g}; what is kept is measured over {100 if quick else 1000} of them",
        },
    )  # fmt: skip


def _after(take_steps: Any, h: float, y: Any) -> Any:
    return take_steps(y, 0.0, h)


def poisson_defect(step: Callable[[Any], Any], y: Any) -> float:
    """|J hat(m) J^T - hat(m')|, where J is the Jacobian of the momentum m' after a step with respect to m before it.

    J is computed by differences of order 4, with an error of about 1e-12.
    """

    def end(axis: int, by: float) -> Any:
        perturbed = y.copy()
        perturbed[ph.runs.ANGULAR_MOMENTUM][axis] += by
        return step(perturbed)[ph.runs.ANGULAR_MOMENTUM]

    d = 2e-3
    columns = [(8.0 * (end(k, d) - end(k, -d)) - end(k, 2 * d) + end(k, -2 * d)) / (12.0 * d) for k in range(3)]
    jacobian = np.column_stack(columns)
    before, after = ph.rotation.hat(y[ph.runs.ANGULAR_MOMENTUM]), ph.rotation.hat(end(0, 0.0))
    return float(np.linalg.norm(jacobian @ before @ jacobian.T - after))


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, ((left, right),) = drawing.canvas(1, 2, width=9.5, height=3.8)
    marks = dict(zip(QUANTITIES, "osD", strict=True))
    positions = np.arange(len(FLOWS))
    for k, (name, mark) in enumerate(marks.items()):
        values = np.maximum(data.drift.sel(quantity=name), 1e-17)
        line_style: Any = {"color": INK, "markerfacecolor": "white", "label": name.replace("_", " ")}
        left.plot(values, positions + 0.2 * (k - 1), mark, **line_style)
    left.set(xscale="log", xlim=(1e-17, 1e-1), yticks=positions, xlabel=f"largest relative change, steps of {AT:g}")
    left.set_yticklabels(list(FLOWS))
    left.invert_yaxis()
    left.set_title("free body: what is kept")
    left.legend(loc="upper left", bbox_to_anchor=(0.36, 0.95), edgecolor="none")
    for label, (_, colour) in FLOWS.items():
        right.loglog(data.step, data.symplectic_defect.sel(flow=label), "o-", color=colour, label=label, markersize=5)
    right.set(xlabel="step", ylabel="defect of the symplectic form", title="one step: symplecticity")
    right.set_xticks(STEPS, [f"{h:g}" for h in STEPS])
    right.xaxis.set_minor_formatter(NullFormatter())
    drawing.separate_coinciding(right)
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), edgecolor="none")
    return {"claims": picture, "claims_orders": orders_picture(data)}


def orders_picture(data: xr.Dataset) -> Picture:
    """Errors of quadrature and preprocessed DMV against the step."""
    picture, axes = drawing.canvas(1, 3, width=12.0, height=4.2)
    lines = {f"(3.1), {form} form": {f"p = {int(p)}": data.quadrature_error.sel(form=form, points=p)
                                     for p in data.points.values} for form in data.form.values}  # fmt: skip
    lines["preprocessed DMV"] = {str(name): data.free_error.sel(rotation=name) for name in data.rotation.values}
    for ax, (title, rows) in zip(axes[0], lines.items(), strict=True):
        for i, (label, line) in enumerate(rows.items()):
            ax.loglog(line[line.dims[0]], np.maximum(line, 1e-20), label=label, **drawing.style(i))
        ax.set(title=title, xlabel="step", ylabel="error of the angle" if "form" in title else "error at t = 4")
        steps = (0.2, 0.5, 1.0) if "form" in title else (0.1, 0.2, 0.5)  # decades alone would give one label
        ax.set_xticks(steps, [f"{h:g}" for h in steps])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
    return picture


# ------------------------------------------------------------------ judges
def by_flow(data: xr.DataArray, labels: tuple[str, ...]) -> dict[str, float]:
    return {label: float(data.sel(flow=label)) for label in labels}


def keep(data: xr.Dataset, labels: tuple[str, ...], quantities: tuple[str, ...] = QUANTITIES) -> Finding:
    """Judge whether these flows conserve these quantities to round-off."""
    measured = {name: by_flow(data.drift.sel(quantity=name), labels) for name in quantities}
    parts = {f"change of {name.replace('_', ' ')}": criteria.every(row, criteria.at_most, KEPT)
             for name, row in measured.items()}  # fmt: skip
    return Finding(parts, {"steps": data.attrs["one step"]})


def exact_momentum(data: xr.Dataset) -> Finding:
    measured = by_flow(data.momentum_error, (*EXACT, *SEMIEXACT, *DMV))
    parts = {f"{label}: exact": criteria.at_most(measured[label], EACH) for label in (*EXACT, *SEMIEXACT)}
    parts |= {f"{label}: not exact": criteria.at_least(measured[label], BROKEN) for label in DMV}
    return Finding(parts, {"step": AT})


def reversible(data: xr.Dataset) -> Finding:
    measured = by_flow(data.there_and_back, (*EXACT, *SEMIEXACT, *DMV))
    return Finding({f"{label}: distance from the start, there and back": criteria.at_most(x, EACH)
                    for label, x in measured.items()}, {"step": AT})  # fmt: skip


def not_symplectic(data: xr.Dataset) -> Finding:
    largest = by_flow(data.symplectic_defect.isel(step=-1), (*EXACT, *SEMIEXACT, *DMV))
    parts = {f"{label} is not: defect of the form": criteria.at_least(largest[label], BROKEN)
             for label in (*SEMIEXACT, *DMV)}  # fmt: skip
    parts |= {f"{label} is: defect of the form": criteria.at_most(largest[label], FORM) for label in EXACT}
    return Finding(parts, {"step": STEPS[-1]})


def lie_poisson(data: xr.Dataset) -> Finding:
    measured = by_flow(data.poisson_defect, (*EXACT, *SEMIEXACT, *DMV))
    return Finding({f"{label}: defect of the Poisson bracket": criteria.at_most(x, POISSON)
                    for label, x in measured.items()}, {"step": AT})  # fmt: skip


def mclachlan_reich(data: xr.Dataset) -> Finding:
    reversibility, form = float(data.there_and_back.sel(flow=MR)), float(data.symplectic_defect.sel(flow=MR, step=AT))
    energy = float(data.drift.sel(flow=MR, quantity="energy"))
    parts = {
        "time-reversible: there and back": criteria.at_most(reversibility, EACH),
        "symplectic: defect of the form": criteria.at_most(form, FORM),
        "change of the energy": criteria.at_least(energy, 1e-6),
    }
    return Finding(parts, {"step": AT})


def orders(data: xr.Dataset) -> Finding:
    """Judge orders by the order conditions with the printed coefficients, which are conclusive; observed orders too."""
    checks: dict[str, Check] = {}
    for name, order in SCHEMES.items():
        left = data.residual.sel(scheme=name)
        low, next_one = float(left.where(left.degree <= order).max()), float(left.sel(degree=order + 1))
        checks[f"{name}: residual up to degree {order}"] = criteria.at_most(low, DIGITS)
        checks[f"{name}: residual of degree {order + 1}"] = criteria.at_least(next_one, 1e3 * DIGITS)
    observed = named(data.order)
    wrong, right = (f"{name}: residual up to degree 4" for name in (MISPRINT, "S4_6"))
    printed = {name: check for name, check in checks.items() if not name.startswith("S4_6:")}
    return Finding(printed, {"observed order, heavy top": observed}, {
        right: checks[right], right.replace("up to degree 4", "of degree 5"): checks["S4_6: residual of degree 5"],
    } if not checks[wrong] else {})  # fmt: skip


def interchangeable(data: xr.Dataset) -> Finding:
    """Judge by the order conditions: interchanged, the generic schemes keep their order and the others lose it."""
    left, order, error = (
        {name: float(data[f"interchanged_{what}"].sel(scheme=name)) for name in EFFECTIVE}
        for what in ("residual", "order", "error")
    )
    words = {name: f"{name}, interchanged: residual up to degree {SCHEMES[name]}" for name in EFFECTIVE}
    parts = {words[name]: criteria.at_most(left[name], DIGITS) for name in EFFECTIVE if name not in NYSTROM}
    parts |= {words[name]: criteria.at_least(left[name], 1e3 * DIGITS) for name in EFFECTIVE if name in NYSTROM}
    return Finding(parts, {"observed order, heavy top": order, "error over that as printed": error})


def hermite(data: xr.Dataset) -> Finding:
    """Judge whether the rule with sn and its derivative at the ends is of order 4, as Hermite interpolation is."""
    return Finding({f"{form}: order 4": criteria.order_within(
        data.small_step, data.hermite_error.sel(form=form), 4.0, 0.25, 1e-18) for form in map(str, data.form.values)
    }, {"numbers": data.attrs["quadrature"]})  # fmt: skip


def printed_axes(data: xr.Dataset) -> Finding:
    """Judge whether the composition with the printed axes is polhode's MR, and of order 2."""
    apart = {f"step {float(h):g}": float(x) for h, x in zip(data.step, data.mr_apart, strict=True)}
    parts = {
        "difference in a step from polhode's MR": criteria.every(apart, criteria.at_most, EACH),
        "order 2": criteria.order_within(data.mr_step, data.mr_error, 2.0, 0.1, 1e-13),
    }
    return Finding(parts, {"free body": data.attrs["body"]})


def root(data: xr.Dataset) -> Finding:
    """Judge E_f = s |c|^(1/2) as printed against the printed values, and s |c|^(1/p) corrected."""
    size = {name: float(data.effective_error.sel(scheme=name)) for name in EFFECTIVE}
    square = {name: STAGES[name] * np.sqrt((x / STAGES[name]) ** SCHEMES[name]) for name, x in size.items()}
    printed, corrected = (
        {f"{name}{words}": criteria.within(float(values[name]), x - 0.005, x + 0.005) for name, x in EFFECTIVE.items()}
        for values, words in ((square, ""), (size, ", by the p-th root"))
    )
    return Finding(printed, {"by the square root": square}, corrected)


def effective(data: xr.Dataset) -> Finding:
    """Judge the four printed values to half a unit of their last digit."""
    size = {name: float(data.effective_error.sel(scheme=name)) for name in EFFECTIVE}
    parts = {name: criteria.within(size[name], x - 0.005, x + 0.005) for name, x in EFFECTIVE.items()}
    return Finding(parts, {"printed": EFFECTIVE})


@theta.with_long_doubles
def quadrature_orders(data: xr.Dataset) -> Finding:
    """Judge whether the error of the angle at a fixed time is of order 2p in the step."""
    parts = {}
    for form in data.form.values:
        for p in data.points.values:
            line = data.quadrature_error.sel(form=form, points=p)
            parts[f"{form}, p = {int(p)}"] = criteria.order_within(data.small_step, line, 2.0 * float(p), 0.25, 1e-18)
    return Finding(parts, {"numbers": data.attrs["quadrature"]})


def preprocessed_orders(data: xr.Dataset) -> Finding:
    parts = {}
    for name, order in ROTATIONS.items():
        line = data.free_error.sel(rotation=name)
        parts[name] = criteria.order_within(data.free_step, line, order, 0.3, 1e-13)
    return Finding(parts, {"free body": data.attrs["body"]})


def members(data: xr.Dataset) -> Finding:
    """Judge whether all quaternions of the family describe the same motion."""
    measured = {f"c3 = {float(c3):.3g}": float(x) for c3, x in zip(data.c3, data.family_error, strict=True)}
    return Finding({"error of a step": criteria.every(measured, criteria.at_most, EACH)}, {"step": AT})


FIGURE = Figure("claims", "sections 3 and 4, appendix C: what is kept, orders", compute, draw, (
    Claim("Semiexact methods integrate the angular momentum exactly; the DMV methods do not", "3.1, 3.2",
          exact_momentum),
    Claim("Semiexact methods preserve the spatial angular momentum", "3.1",
          lambda d: keep(d, SEMIEXACT, ("spatial_momentum",))),
    Claim("Exact, semiexact and DMV methods preserve energy, length of the momentum and spatial momentum",
          "3.2, footnote 1", lambda d: keep(d, (*EXACT, *SEMIEXACT, *DMV))),
    Claim("Gauss quadrature with p points has order 2p", "3.1", quadrature_orders),
    Claim("dmv6, dmv8 and dmv10 have orders 6, 8 and 10", "3.2", preprocessed_orders),
    Claim("Exact, semiexact and DMV methods are time-reversible", "3.1, 3.2, 4", reversible),
    Claim("Exact, semiexact and DMV methods are Lie-Poisson integrators for the angular momentum", "3.2, footnote 1",
          lie_poisson),
    Claim("The DMV and the semiexact methods are not symplectic", "3.2, 4, footnotes", not_symplectic),
    Claim("MR is time-reversible and preserves the Poisson structure", "3.3", mclachlan_reich),
    Claim("The splitting schemes with the printed coefficients have the orders stated", "App. C", orders),
    Claim("Their effective errors are 1.12 (S6_10), 0.56 (S4_6), 0.28 (RKN4_6b) and 0.63 (RKN6_14a)", "App. C",
          effective),
    Claim("The effective error is s times the square root of |c|", "App. C", root),
    Claim("In S6_10 and S4_6 A and B are interchangeable; in RKN4_6b and RKN6_14a they are not", "App. C",
          interchangeable),
    Claim("The integral can be approximated by Hermite interpolation, from sn and its derivative at the ends", "3.1",
          hermite),
    Claim("MR is phi1(h/2) phi2(h/2) phi3(h) phi2(h/2) phi1(h/2), of second order", "3.3", printed_axes),
    Claim("Any constants c0, c3 with c0^2 + c3^2 = 1/2 lead to a quaternion of the free motion", "2.5", members),
))  # fmt: skip
