"""Figure 3.7: the satellite of figure 3.6 with McLachlan and Reich's rotations in place of the exact one.

The caption says "the splitting method MR", the text "the flow of T with the MR splitting"; so RKN6_14a with MR, plain
and boosted to order 6, and V2 with MR are all shown.
"""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.studies.celledoni2008.fig3_6 import EXACT
from polhode.studies.celledoni2008.satellite import SATELLITE_STEPS, largest, satellite, satellite_picture
from polhode.studies.study import Claim, Figure, Finding, Tell

PLAIN, BOOSTED, VERLET = "rkn6_14a/mr", "rkn6_14a/mr6", "v2/mr"


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    data = satellite([PLAIN, BOOSTED, VERLET], tell)
    exact = satellite([EXACT], tell).largest_energy_error.isel(method=0, drop=True)
    return data.assign(exact_energy_error=exact)


def draw(data: xr.Dataset) -> dict[str, Picture]:
    return {"fig3_7": satellite_picture(data)}


def worse(data: xr.Dataset) -> Finding:
    parts = {}
    for h in SATELLITE_STEPS:
        bound = 100.0 * float(data.exact_energy_error.sel(step=h))
        parts[f"100 times the error of the exact rotation or more, h = {h:g}"] = all(
            float(data.largest_energy_error.sel({"method": name, "step": h})) > bound
            for name in (PLAIN, BOOSTED, VERLET)
        )
    exact = {f"h = {h:g}": float(data.exact_energy_error.sel(step=h)) for h in SATELLITE_STEPS}
    found = {f"{name}, largest energy error": largest(data, name) for name in (PLAIN, BOOSTED, VERLET)}
    return Finding(parts, found | {f"{EXACT}, largest energy error": exact})


FIGURE = Figure("fig3_7", "satellite, rotations by McLachlan and Reich", compute, draw, (
    Claim("Only the splitting based on the exact rotation is very accurate", "3.3.2", worse),
))  # fmt: skip
