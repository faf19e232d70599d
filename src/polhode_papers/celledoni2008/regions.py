"""Semiexact and DMV methods over all bodies, section 3.2: the data of figure 3.4 and the judges of its claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers import criteria
from polhode_papers.celledoni2008 import common
from polhode_papers.study import Check, Finding, Reporter

LARGE, SMALL = common.STEPS
HALF = 0.5
"""Difference in digits below which two maps look the same."""
FORMS = {"quaternion form": common.SEMIEXACT, "matrix form": common.MATRIX_FORM}
BOTH = (*common.SEMIEXACT, *common.MATRIX_FORM)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    """Maps of every method at both steps."""
    return common.maps((*BOTH, *common.REDUCED, *common.DMV, *common.SAFE), common.STEPS, quick, report_progress)


def medians(data: xr.Dataset, h: float, inside: bool, labels: tuple[str, ...]) -> dict[str, float]:
    """Median log error by flow, in the corner or outside it."""
    some = data.log_error.sel(step=h).where(common.corner(data) == inside)
    return {label: float(some.sel(flow=label).median()) for label in labels}


def same_forms(data: xr.Dataset) -> Finding:
    """Judge whether both forms differ by at most half a digit, in the median and in 90 % of the points."""
    middle, tails = {}, {}
    error = data.log_error.sel(step=LARGE)
    for name, matrix in zip(common.SEMIEXACT, common.MATRIX_FORM, strict=True):
        a, b = error.sel(flow=matrix), error.sel(flow=name)
        middle[name], tails[name] = float(b.median() - a.median()), common.quantile(np.abs(a - b), 0.9)
    parts = {f"digits that the quaternion form loses, h = {LARGE:g}, median": criteria.every(
        middle, criteria.within, -HALF, HALF)}  # fmt: skip
    parts |= {f"{name}: digits between the forms, 90 % of the points": criteria.at_most(x, HALF)
              for name, x in tails.items()}  # fmt: skip
    return Finding(parts, {"all medians": middle})


def five_nodes(data: xr.Dataset) -> Finding:
    """Judge whether order 10 gives ten digits in at least half of the points at the large step."""
    error = data.log_error.sel(step=LARGE)
    middle = {form: float(error.sel(flow=labels[-1]).median()) for form, labels in FORMS.items()}
    share = {form: float((error.sel(flow=labels[-1]) < -10.0).mean()) for form, labels in FORMS.items()}
    words = f"median log error, h = {LARGE:g}"
    return Finding({f"{form}: {words}": criteria.at_most(x, -10.0) for form, x in middle.items()},
                   {"share of points with ten digits": share})  # fmt: skip


def worse_in_corner(data: xr.Dataset) -> Finding:
    """Judge whether the corner is worse by at least a digit at the large step."""
    inside, outside = (medians(data, LARGE, where, (*BOTH, *common.DMV)) for where in (True, False))
    lost = {label: inside[label] - outside[label] for label in inside}
    parts = {f"{label}: digits worse": criteria.at_least(x, 1.0) for label, x in lost.items()}
    return Finding(parts, {f"median log error elsewhere, h = {LARGE:g}": outside})


def less_accurate(data: xr.Dataset) -> Finding:
    """Judge mean differences over the points where both have runs."""
    error = data.log_error.sel(step=LARGE)
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for form, labels in FORMS.items():
        pairs = zip(labels, common.DMV, strict=True)
        gaps = {b: float((error.sel(flow=b) - error.sel(flow=a)).mean()) for a, b in pairs}
        words = f"digits lost to the {form} of the same order, mean"
        parts[words] = criteria.every(gaps, criteria.at_least, HALF)
        numbers[f"all {words}"] = gaps
    return Finding(parts, numbers)


def failures(data: xr.Dataset) -> Finding:
    """Judge whether some runs fail."""
    shares = {label: {f"h = {h:g}": float(data.failed.sel(flow=label, step=h).mean()) for h in common.STEPS}
              for label in (*common.DMV, *common.SAFE)}  # fmt: skip
    parts = {f"{label}: share of failed runs, h = {LARGE:g}": criteria.at_least(shares[label][f"h = {LARGE:g}"], 0.01)
             for label in common.DMV}  # fmt: skip
    return Finding(parts, {f"share of failed runs, {label}": x for label, x in shares.items()})


def well_at_small_steps(data: xr.Dataset) -> Finding:
    """Judge ten digits outside the corner, more with higher order, and fewer in the corner."""
    inside, outside = (medians(data, SMALL, where, common.DMV) for where in (True, False))
    errors = data.log_error.sel(flow=common.DMV[-1], step=SMALL).where(~common.corner(data))
    worst, rising = common.quantile(errors, 0.9), {label: 10.0 ** outside[label] for label in reversed(common.DMV)}
    parts = {
        "dmv10: log error in 90 % of the points outside the corner": criteria.at_most(worst, -10.0),
        "median error outside the corner": criteria.rising(rising),
        "dmv10: digits worse in the corner": criteria.at_least(inside[common.DMV[-1]] - outside[common.DMV[-1]], 2.0),
    }
    return Finding(parts, {"median log error outside the corner": outside, "in the corner": inside})


def of_interest(data: xr.Dataset) -> Finding:
    """Judge whether they are more accurate than DMV of equal order at the large step, where DMV fails in the corner."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for form, labels in FORMS.items():
        for words, where in (("in the corner", True), ("elsewhere", False)):
            a, b = medians(data, LARGE, where, labels), medians(data, LARGE, where, common.DMV)
            gains = {x: b[y] - a[x] for x, y in zip(labels, common.DMV, strict=True)}
            name = f"digits gained over DMV at h = {LARGE:g} {words}, {form}"
            parts[name] = criteria.every(gains, criteria.at_least, HALF)
            numbers[f"all {name}"] = gains
    lost = data.failed.sel(flow=list(common.DMV), step=LARGE)
    inside, outside = (float(lost.where(common.corner(data) == where).mean()) for where in (True, False))
    parts["share of failed DMV runs, corner over elsewhere"] = criteria.at_least(inside / outside, 2.0)
    return Finding(parts, numbers | {"share of failed DMV runs": {"in the corner": inside, "elsewhere": outside}})


def robust(data: xr.Dataset) -> Finding:
    """Judge whether no run fails and two digits are correct at the worst point."""
    worst = {label: float(data.log_error.sel(flow=label, step=LARGE).max()) for label in (*BOTH, *common.DMV)}
    parts = {"share of runs that fail": criteria.at_most(float(data.failed.sel(flow=list(BOTH)).max()), 0.0)}
    parts |= {f"{label}: log error at the worst point": criteria.at_most(worst[label], -2.0) for label in BOTH}
    of_dmv = {label: worst[label] for label in common.DMV}
    return Finding(parts, {f"largest mean log error of DMV, h = {LARGE:g}": of_dmv})


def half_turns(data: xr.Dataset) -> Finding:
    """Judge the digits gained over (3.1) by integrating half turns exactly, if a step has more than one."""
    gains = {
        words: {b: float((data.log_error.sel(flow=a, step=h) - data.log_error.sel(flow=b, step=h)).where(where).mean())
                for a, b in zip(common.MATRIX_FORM, common.REDUCED, strict=True)}
        for words, h, where in (
            ("in the corner, h = 0.4", LARGE, common.corner(data)), ("elsewhere, h = 0.4", LARGE, ~common.corner(data)),
            ("everywhere, h = 0.04", SMALL, data.x > 0.0),
        )
    }  # fmt: skip
    corner_gain, elsewhere, small = gains
    parts = {
        f"digits gained {corner_gain}, mean": criteria.every(gains[corner_gain], criteria.at_least, HALF),
        f"hardly any {elsewhere}": criteria.every(gains[elsewhere], criteria.within, -0.1, 0.1),
        f"none {small}": criteria.every(gains[small], criteria.within, -0.1, 0.1),
    }
    inside = {label: float(data.log_error.sel(flow=label, step=LARGE).where(common.corner(data)).mean())
              for label in (*common.MATRIX_FORM, *common.REDUCED)}  # fmt: skip
    return Finding(parts, {"mean log error in the corner, h = 0.4": inside})
