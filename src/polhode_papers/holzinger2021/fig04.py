"""Figure 4: errors against the step, rotation vector through zero."""

from __future__ import annotations

import xarray as xr

from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import Pictures
from polhode_papers.holzinger2021.common import by_epsilon, epsilon_picture, halvings, ladder, of, order_parts, orders
from polhode_papers.holzinger2021.fig03 import EPSILONS, FORMS, PRINTED, PROPOSED, RATES, REGULAR, motion
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

T_END = 0.5  # not printed in the paper; its largest step
REFERENCE_STEP = 1 / 32768
AT = 1 / 2048  # where the paper reports a deviation of 1e-13
SLOW = 2.0  # a method less accurate by more than this factor counts as slower


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    parts, agreement = {}, {}
    for e in EPSILONS:
        case = motion(PRINTED, e, T_END)
        reference, _ = case.end(FORMS[PROPOSED], REFERENCE_STEP)
        parts[e] = ladder(case, FORMS, halvings(1, 13 if quick else 14, quick), lambda line: None, reference=reference)
        report_progress(f"epsilon = {e:g}")
        agreement[e] = ladder(case, {"": FORMS[PROPOSED]}, [REFERENCE_STEP], lambda line: None).attitude_error.item()
    return by_epsilon(parts).assign_attrs({
        "final time": f"{T_END} s; the paper prints none, its largest step is 0.5 s",
        "the paper's reference": f"proposed, h = 1/32768, is at most {max(agreement.values()):.1e} rad from the exact "
        "motion",
    })  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    rows = {"attitude_error": "attitude error (rad)", "parameter_error": r"$\|v_{ref} - v\|$ (rad)"}
    return {"fig04": epsilon_picture(data, rows, {form: form for form in FORMS})}


# ------------------------------------------------------------------ judges
def fourth_order(data: xr.Dataset) -> Finding:
    return Finding(order_parts(data, PROPOSED), {
        "order in attitude": orders(data, PROPOSED),
        "order in v": orders(data, PROPOSED, variable="parameter_error"),
        "largest attitude error at eps = 0": float(of(data.attitude_error, PROPOSED).sel(epsilon=0.0).max()),
    })  # fmt: skip


def converged(data: xr.Dataset) -> Finding:
    deviation = of(data.parameter_error, PROPOSED).sel(epsilon=0.0)
    elsewhere = float(deviation.where(deviation.step != AT, 0.0).max(skipna=False))
    parts = {
        "to round-off at every step": at_most(float(deviation.max()), 2e-13),
        "exactly, at all steps but 1/2048": at_most(elsewhere, 0.0),
    }
    return Finding(parts, {"deviation at 1/2048": float(deviation.sel(step=AT)), "largest": float(deviation.max())})


def ratios(data: xr.Dataset, form: str) -> dict[str, float]:
    """Largest ratio of errors, direct integration over proposed approach, where above round-off."""
    proposed = of(data.attitude_error, PROPOSED)
    value = (of(data.attitude_error, form) / proposed).where((proposed > 1e-11) & (data.step < 0.3)).max("step")
    return named(value.sel(epsilon=[e for e in EPSILONS if e]))


def slower(data: xr.Dataset) -> Finding:
    measured = {form: ratios(data, form) for form in (RATES, REGULAR)}
    parts = {
        f"{form}, eps = {e}": at_least(x, SLOW) for form, line in measured.items() for e, x in line.items() if e != "1"
    }
    return Finding(parts, {f"error over that of the proposed approach, {form}": x for form, x in measured.items()})


def fails(data: xr.Dataset) -> Finding:
    zero = data.sel(epsilon=0.0)
    stopped = {form: zero.step.values[of(zero.outcome, form) != "completed"] for form in (RATES, REGULAR)}
    parts = {
        f"{RATES}, some steps": at_least(stopped[RATES].size, 1),
        f"{RATES}, every step": at_least(stopped[RATES].size, zero.step.size),
        REGULAR: at_least(stopped[REGULAR].size, 1),
    }
    numbers = {
        "no number at the steps 1/": ", ".join(f"{1 / h:.0f}" for h in stopped[RATES]) or "none",
        "largest attitude error otherwise": float(of(zero.attitude_error, RATES).max()),
    }
    return Finding(parts, numbers)


def as_good(data: xr.Dataset) -> Finding:
    measured, ratio = orders(data, REGULAR), ratios(data, REGULAR)
    parts = order_parts(data, REGULAR)
    parts["errors over the proposed approach's, largest"] = at_most(max(ratio.values()), 1.2)
    return Finding(parts, {"order": measured, "largest ratio": ratio})


FIGURE = Figure("fig04", "rotation vector through zero: errors against the step", compute, draw, (
    Claim("The proposed approach is of fourth order for all eps", "7.1.1, Fig. 4(b)", fourth_order),
    Claim("For eps = 0 the deviation is zero at all steps but 1/2048, where it is about 1e-13", "7.1.1, Fig. 4(b)",
          converged),
    Claim("Direct integration converges slower the closer the angle comes to 0", "7.1.1, Fig. 4(a)", slower),
    Claim("Direct integration even fails as the angle reaches 0", "7.1.1, Fig. 4(a)", fails),
    Claim("With a regularised coefficient, direct integration through 0 is as good as the proposed approach", "polhode",
          as_good),
))  # fmt: skip
