"""Figure 8: errors against the step, Cardan angles through a middle angle of pi/2."""

from __future__ import annotations

from functools import partial

import xarray as xr

from polhode_papers.criteria import at_least
from polhode_papers.drawing import Pictures
from polhode_papers.holzinger2021 import common
from polhode_papers.holzinger2021.fig05 import DIRECT, EPSILONS, FORMS, PROPOSED, motion
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

ENTRIES, CAYLEY = "proposed, five entries", "proposed, Cayley"
METHODS = {**FORMS, ENTRIES: "euler_as_printed", CAYLEY: "euler:rk4:cayley"}
REFERENCE_STEP = 1 / 16384
AT = 1 / 512  # step at which errors are compared
LOST = 1e-2  # rad


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    parts, agreement = {}, {}
    for e in EPSILONS:
        report_progress(f"epsilon = {e:g}")
        case = motion(e)
        reference, _ = case.end(FORMS[PROPOSED], REFERENCE_STEP)
        steps, finest = common.halvings(1 if quick else 0, 13, quick), [REFERENCE_STEP]
        parts[e] = common.ladder(case, METHODS, steps, lambda line: None, reference=reference)
        agreement[e] = common.ladder(case, {"": FORMS[PROPOSED]}, finest, lambda line: None).attitude_error.item()
    return common.by_epsilon(parts).assign_attrs({
        "final time": "1 s; the paper prints none, its largest step is 1 s",
        "the paper's reference": f"proposed, h = 1/16384, is at most {max(agreement.values()):.1e} rad from the exact "
        "motion",
        "angles": "differences up to whole turns, of the nearer one of the two sets that mean the same attitude",
    })  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    rows = {"attitude_error": "attitude error (rad)", "parameter_error": r"$\|\alpha_{ref} - \alpha\|$ (rad)"}
    return {"fig08": common.epsilon_picture(data, rows, {method: method for method in METHODS})}


# ------------------------------------------------------------------ judges
def fourth_order(method: str, data: xr.Dataset) -> Finding:
    worst = float(common.of(data.attitude_error, method).sel(epsilon=0.0).max())
    return Finding(common.order_parts(data, method), {
        "order in attitude": common.orders(data, method),
        "order in the angles": common.orders(data, method, variable="parameter_error"),
        "largest error at eps = 0": worst,
    })  # fmt: skip


def cayley(data: xr.Dataset) -> Finding:
    measured = common.orders(data, CAYLEY)
    zero = common.of(data.attitude_error, CAYLEY).sel(epsilon=0.0)
    parts = {part: true for part, true in common.order_parts(data, CAYLEY).items() if "order" in part}
    extremes = {"largest": float(zero.max()), "smallest": float(zero.min())}
    return Finding(parts, {"order": measured, "errors at eps = 0": extremes})


def slower(data: xr.Dataset) -> Finding:
    line = common.of(data.attitude_error, DIRECT).sel(step=AT)
    measured = [float(line.sel(epsilon=e)) for e in (1e-1, 1e-2, 1e-5)]
    share = line / common.of(data.attitude_error, PROPOSED).sel(step=AT)
    return Finding({"1e-2 than 1e-1": at_least(measured[1] / measured[0], 10.0),
             "1e-5 than 1e-2": at_least(measured[2] / measured[1], 10.0)}, {
        "attitude error at h = 1/512": named(line),
        "over that of the proposed approach": named(share.sel(epsilon=[e for e in EPSILONS if e])),
        "order": common.orders(data, DIRECT),
    })  # fmt: skip


def fails(data: xr.Dataset) -> Finding:
    zero = common.of(data, DIRECT).sel(epsilon=0.0)
    worst, ended = float(zero.attitude_error.max()), common.first_end(zero.outcome)
    parts = {"a run ends early or is lost": common.ended_or_off(worst, ended, LOST)}
    return Finding(parts, {"largest attitude error": worst})


FIGURE = Figure("fig08", "Cardan angles through a middle angle of pi/2: errors against the step", compute, draw, (
    Claim("The proposed approach is of fourth order for all eps, and converged at larger steps for eps = 0",
          "7.1.2, Fig. 8(b)", partial(fourth_order, PROPOSED)),
    Claim("The update from five entries of the matrix, as printed, is of fourth order for all eps", "5, 7.1.2",
          partial(fourth_order, ENTRIES)),
    Claim("Similar results can be obtained with the Cayley transform", "7.1", cayley),
    Claim("Direct integration converges slower the closer the middle angle comes to pi/2", "7.1.2, Fig. 8(a)", slower),
    Claim("Direct integration even fails as the middle angle reaches pi/2", "7.1.2, Fig. 8(a)", fails),
))  # fmt: skip
