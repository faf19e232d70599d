"""Figure 3.7: the satellite of figure 3.6 with McLachlan and Reich's rotations instead of the exact one.

The caption says "the splitting method MR", the text "the flow of T with the MR splitting"; so V2 with MR and RKN6_14a
with MR, plain and boosted to order 6, are all shown.
"""

from __future__ import annotations

import xarray as xr

from polhode_papers import criteria
from polhode_papers.celledoni2008.fig3_6 import EXACT
from polhode_papers.celledoni2008.satellite import SATELLITE_STEPS, largest, satellite, satellite_picture
from polhode_papers.drawing import Pictures
from polhode_papers.study import Claim, Figure, Finding, Reporter

RIVALS = PLAIN, BOOSTED, VERLET = "rkn6_14a/mr", "rkn6_14a/mr6", "v2/mr"


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    data = satellite([PLAIN, BOOSTED, VERLET], report_progress)
    exact = satellite([EXACT], report_progress).largest_energy_error.isel(method=0, drop=True)
    return data.assign(exact_energy_error=exact)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig3_7": satellite_picture(data)}


def worse(data: xr.Dataset) -> Finding:
    parts = {}
    for h in SATELLITE_STEPS:
        least = float(data.exact_energy_error.sel(step=h))
        measured = {name: float(data.largest_energy_error.sel({"method": name, "step": h})) / least for name in RIVALS}
        parts[f"energy error over that of {EXACT}, h = {h:g}"] = criteria.every(measured, criteria.at_least, 100.0)
    exact = {f"h = {h:g}": float(data.exact_energy_error.sel(step=h)) for h in SATELLITE_STEPS}
    rows = {f"{name}, largest energy error": largest(data, name) for name in RIVALS}
    return Finding(parts, rows | {f"{EXACT}, largest energy error": exact})


CLAIMS = (Claim("Only the splitting based on the exact rotation is very accurate", "3.3.2", worse),)
FIGURE = Figure("fig3_7", "satellite, rotations by McLachlan and Reich", compute, draw, CLAIMS)
