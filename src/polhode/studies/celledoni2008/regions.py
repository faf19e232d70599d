"""Semiexact and DMV methods over all bodies, section 3.2: what figure 3.4 shows, and judges of what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode.studies.celledoni2008.common import DMV, MATRIX_FORM, SAFE, SEMIEXACT, STEPS, corner, maps
from polhode.studies.study import Finding, Tell

LARGE, SMALL = STEPS
FORMS = {"quaternion form": SEMIEXACT, "matrix form": MATRIX_FORM}
BOTH = (*SEMIEXACT, *MATRIX_FORM)


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    """Every method at both steps."""
    return maps((*BOTH, *DMV, *SAFE), STEPS, quick, tell)


def medians(data: xr.Dataset, h: float, inside: bool, labels: tuple[str, ...]) -> dict[str, float]:
    """Median log error in the corner, or outside of it."""
    some = data.log_error.sel(step=h).where(corner(data) == inside)
    return {label: float(some.sel(flow=label).median()) for label in labels}


def same_forms(data: xr.Dataset) -> Finding:
    """Half a digit apart at most, on average and nearly everywhere."""
    middle, tails = {}, {}
    error = data.log_error.sel(step=LARGE)
    for name, matrix in zip(SEMIEXACT, MATRIX_FORM, strict=True):
        a, b = error.sel(flow=matrix), error.sel(flow=name)
        middle[name], tails[name] = float(b.median() - a.median()), float(np.abs(a - b).quantile(0.9))
    parts = {"medians over the triangle within half a digit": all(abs(x) < 0.5 for x in middle.values())}
    parts |= {f"{name}: within half a digit in 90 % of the points": x < 0.5 for name, x in tails.items()}
    return Finding(parts, {f"digits that the quaternion form loses, h = {LARGE:g}, median": middle,
                           "digits between the forms, 90 % of the points": tails})  # fmt: skip


def five_nodes(data: xr.Dataset) -> Finding:
    """Ten digits with order 10, in half of the points at least, at the large step."""
    error = data.log_error.sel(step=LARGE)
    middle = {form: float(error.sel(flow=labels[-1]).median()) for form, labels in FORMS.items()}
    share = {form: float((error.sel(flow=labels[-1]) < -10.0).mean()) for form, labels in FORMS.items()}
    return Finding({f"{form}: ten digits, median of the points": x < -10.0 for form, x in middle.items()},
                   {f"median log error, h = {LARGE:g}": middle, "share of points with ten digits": share})  # fmt: skip


def worse_in_corner(data: xr.Dataset) -> Finding:
    """A digit worse at least, at the large step."""
    inside, outside = (medians(data, LARGE, where, (*BOTH, *DMV)) for where in (True, False))
    lost = {label: inside[label] - outside[label] for label in inside}
    parts = {f"{label}: at least a digit worse": x > 1.0 for label, x in lost.items()}
    return Finding(parts, {f"digits worse in the corner, h = {LARGE:g}": lost, "median log error elsewhere": outside})


def less_accurate(data: xr.Dataset) -> Finding:
    """Averages over the points where there is a run of both."""
    error = data.log_error.sel(step=LARGE)
    parts: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for form, labels in FORMS.items():
        gaps = {b: float((error.sel(flow=b) - error.sel(flow=a)).mean()) for a, b in zip(labels, DMV, strict=True)}
        parts[f"less accurate than the {form} of the same order"] = min(gaps.values()) > 0.0
        numbers[f"digits lost to the {form}, mean"] = gaps
    return Finding(parts, numbers)


def failures(data: xr.Dataset) -> Finding:
    """Some runs fail."""
    shares = {label: {f"h = {h:g}": float(data.failed.sel(flow=label, step=h).mean()) for h in STEPS}
              for label in (*DMV, *SAFE)}  # fmt: skip
    parts = {f"{label}: some runs fail at h = {LARGE:g}": shares[label][f"h = {LARGE:g}"] > 0.01 for label in DMV}
    return Finding(parts, {f"share of failed runs, {label}": x for label, x in shares.items()})


def well_at_small_steps(data: xr.Dataset) -> Finding:
    """Ten digits outside the corner, more with a higher order, and less in the corner."""
    inside, outside = (medians(data, SMALL, where, DMV) for where in (True, False))
    errors = data.log_error.sel(flow=DMV[-1], step=SMALL).where(~corner(data))
    worst = float(errors.quantile(0.9))
    parts = {
        "dmv10: ten digits in 90 % of the points outside the corner": worst < -10.0,
        "dmv10 the best of the three": outside[DMV[-1]] == min(outside.values()),
        "dmv10: two digits worse in the corner": inside[DMV[-1]] > outside[DMV[-1]] + 2.0,
    }
    return Finding(parts, {"median log error outside the corner": outside, "in the corner": inside,
                           "dmv10, 90 % of the points outside": worst})  # fmt: skip


def of_interest(data: xr.Dataset) -> Finding:
    """More accurate than DMV of the same order at the large step, and DMV fails most in the corner."""
    parts: dict[str, bool] = {}
    numbers: dict[str, Any] = {}
    for form, labels in FORMS.items():
        for words, where in (("in the corner", True), ("elsewhere", False)):
            a, b = medians(data, LARGE, where, labels), medians(data, LARGE, where, DMV)
            gains = {x: b[y] - a[x] for x, y in zip(labels, DMV, strict=True)}
            parts[f"{form} more accurate than DMV {words}"] = min(gains.values()) > 0.0
            numbers[f"digits gained at h = {LARGE:g} {words}, {form}"] = gains
    lost = data.failed.sel(flow=list(DMV), step=LARGE)
    inside, outside = (float(lost.where(corner(data) == where).mean()) for where in (True, False))
    parts["DMV fails most in the corner"] = inside > outside
    return Finding(parts, numbers | {"share of failed DMV runs": {"in the corner": inside, "elsewhere": outside}})


def robust(data: xr.Dataset) -> Finding:
    """No run fails, and two digits are right at the worst point."""
    worst = {label: float(data.log_error.sel(flow=label, step=LARGE).max()) for label in (*BOTH, *DMV)}
    parts = {"no run fails": float(data.failed.sel(flow=list(BOTH)).max()) == 0.0}
    parts |= {f"{label}: two digits even at the worst point": worst[label] < -2.0 for label in BOTH}
    return Finding(parts, {f"largest mean log error, h = {LARGE:g}": worst})
