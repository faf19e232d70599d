"""Figure 4 through a full turn, phi = 2 pi, where the rates of the rotation vector are actually singular."""

from __future__ import annotations

from functools import partial
from math import pi

import xarray as xr

from polhode_papers.criteria import at_least
from polhode_papers.drawing import Pictures
from polhode_papers.holzinger2021 import common
from polhode_papers.holzinger2021.fig03 import EPSILONS, FORMS, PROPOSED, RATE, REGULAR
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

V0, T_END = (0.0, 3 * pi / 2, 0.0), 0.5
DIRECT, PRINTED, HALF = REGULAR, "proposed, (61)-(63) as printed", "proposed, half angle"
METHODS = {DIRECT: FORMS[REGULAR], PRINTED: "rotation_vector_as_printed", HALF: FORMS[PROPOSED]}
LOST = 1e-2  # rad
MANY_STEPS = 1e-11  # round-off of 8192 steps near 2 pi, rad
AT = 1 / 512  # step at which errors are compared


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    parts = {}
    for e in EPSILONS:
        report_progress(f"epsilon = {e:g}")
        case = common.Motion((0.0, RATE, RATE * e), T_END, V0)
        parts[e] = common.ladder(case, METHODS, common.halvings(1, 13 if quick else 14, quick), lambda line: None)
    return common.by_epsilon(parts).assign_attrs(
        {"initial conditions": f"v0 = (0, 3 pi/2, 0), the rest as in figure 4; t = {T_END} s"}
    )


def draw(data: xr.Dataset) -> Pictures:
    titles = {method: method for method in METHODS}
    return {"fig04_two_pi": common.epsilon_picture(data, {"attitude_error": "attitude error (rad)"}, titles)}


# ------------------------------------------------------------------ judges
def at(data: xr.Dataset, method: str) -> dict[str, float]:
    return named(common.of(data.attitude_error, method).sel(step=AT))


def direct(data: xr.Dataset) -> Finding:
    zero, measured = common.of(data, DIRECT).sel(epsilon=0.0), at(data, DIRECT)
    worst, ended = float(zero.attitude_error.max()), common.first_end(zero.outcome)
    parts = {
        "slower at eps = 1e-5 than at 1": at_least(measured["1e-05"] / measured["1"], 100.0),
        "attitude lost at eps = 1e-5": at_least(measured["1e-05"], LOST),
        "attitude lost at eps = 1e-7": at_least(measured["1e-07"], LOST),
        "fails at eps = 0": common.ended_or_off(worst, ended, LOST),
    }
    return Finding(parts, {"attitude error at h = 1/512": measured, "largest at eps = 0": worst,
                           "order": common.orders(data, DIRECT)})  # fmt: skip


def fourth_order(method: str, data: xr.Dataset) -> Finding:
    worst = float(common.of(data.attitude_error, method).sel(epsilon=0.0).max())
    return Finding(common.order_parts(data, method, MANY_STEPS), {
        "order": common.orders(data, method), "attitude error at h = 1/512": at(data, method),
        "largest at eps = 0": worst,
    })  # fmt: skip


FIGURE = Figure("fig04_two_pi", "rotation vector through a full turn: errors against the step", compute, draw, (
    Claim("Similar results at other singular points: direct integration slows down and fails", "7.1.1", direct),
    Claim("Similar results at other singular points: the proposed update as printed is of fourth order", "7.1.1",
          partial(fourth_order, PRINTED)),
    Claim("The proposed approach with the half angle by an arc tangent is of fourth order there", "polhode",
          partial(fourth_order, HALF)),
))  # fmt: skip
