"""Figure 3.3: error of the exact methods over all bodies at h = 0.4; also at h = 0.04 and in a single step."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import criteria
from polhode_papers.celledoni2008.common import MATRIX, OURS, QUATERNION, STEPS, T_END, map_picture, maps, quantile
from polhode_papers.celledoni2008.theta import with_long_doubles
from polhode_papers.drawing import Pictures
from polhode_papers.study import Claim, Figure, Finding, Reporter

PRINTED = (MATRIX, QUATERNION)
LARGE, SMALL = STEPS


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    return maps((*PRINTED, OURS), (*STEPS, T_END), quick, report_progress)


def draw(data: xr.Dataset) -> Pictures:
    rows = [[(label, h) for h in (LARGE, SMALL)] for label in (*PRINTED, OURS)]
    return {"fig3_3": map_picture(data.log_error, rows, (-16.0, -11.0), "mean log error")}


def medians(data: xr.Dataset, h: float) -> dict[str, float]:
    """Median log error over the bodies, by flow."""
    return {label: float(data.log_error.sel(flow=label, step=h).median()) for label in (*PRINTED, OURS)}


@with_long_doubles
def similar(data: xr.Dataset) -> Finding:
    a, b = (data.log_error.sel(flow=label, step=LARGE) for label in PRINTED)
    gap = float(np.abs(a - b).median())
    return Finding({"digits apart, median of the points": criteria.at_most(gap, 0.5)},
                   {"median log error": medians(data, LARGE)})  # fmt: skip


@with_long_doubles
def uniform(data: xr.Dataset) -> Finding:
    errors = data.log_error.sel(step=LARGE)
    spread = {str(label): quantile(errors.sel(flow=label), 0.99) - float(errors.sel(flow=label).median())
              for label in data.flow.values}  # fmt: skip
    worst = {str(label): float(errors.sel(flow=label).max()) for label in data.flow.values}
    parts = {f"{label}: digits from the median to the 99 % point": criteria.at_most(spread[label], 1.5)
             for label in PRINTED}  # fmt: skip
    return Finding(parts, {"largest mean log error": worst})


@with_long_doubles
def accumulates(data: xr.Dataset) -> Finding:
    large, small, once = (medians(data, h) for h in (LARGE, SMALL, T_END))
    parts = {
        f"{label}: digits worse at h = {SMALL:g} than at {LARGE:g}": criteria.at_least(small[label] - large[label], 0.3)
        for label in PRINTED
    }
    parts |= {f"{label}: a single step is no worse, digits": criteria.at_most(once[label] - large[label], 0.1)
              for label in PRINTED}  # fmt: skip
    numbers = {f"median log error, h = {h:g}": x for h, x in ((LARGE, large), (SMALL, small), (T_END, once))}
    return Finding(parts, numbers)


FIGURE = Figure("fig3_3", "exact methods over the triangle of inertias", compute, draw, (
    Claim("For h = 0.4 the exact methods perform very similarly", "3.2", similar),
    Claim("They show a uniform accuracy over all bodies", "3.2, 4", uniform),
    Claim("At h = 0.04 round-off accumulates; with a single step this disappears", "3.2", accumulates),
))  # fmt: skip
