"""Figure 3.6: satellite in the gravity gradient, RKN6_14a with the exact free rotation, steps 0.1 and 0.05."""

from __future__ import annotations

import xarray as xr

from polhode_papers import criteria
from polhode_papers.celledoni2008.satellite import SATELLITE_STEPS, largest, satellite, satellite_picture
from polhode_papers.drawing import Pictures
from polhode_papers.study import Claim, Figure, Finding, Reporter

EXACT = "rkn6_14a"
H0 = 1.21595664e7  # [celledoni2008, 3.3.2]
DIGITS = dict(zip(SATELLITE_STEPS, (7, 10), strict=True))


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    return satellite([EXACT], report_progress)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig3_6": satellite_picture(data)}


def start(data: xr.Dataset) -> Finding:
    measured = float(data.attrs["H0"])
    return Finding({"difference from the nine digits printed": criteria.at_most(abs(measured - H0), 0.05)},
                   {"H0": data.attrs["H0"]})  # fmt: skip


def digits(data: xr.Dataset) -> Finding:
    measured = largest(data, EXACT)
    parts = {f"step {h:g}: its power of ten": criteria.within(e, 10.0**-n, 10.0 ** (1 - n))
             for (h, n), e in zip(DIGITS.items(), measured.values(), strict=True)}  # fmt: skip
    return Finding(parts, {"largest relative energy error": measured})


FIGURE = Figure("fig3_6", "satellite, RKN6_14a with the exact rotation", compute, draw, (
    Claim("The system has an energy of 1.21595664e7", "3.3.2", start),
    Claim("The relative energy error is of the order of 1e-7 for h = 0.1 and of 1e-10 for h = 0.05", "3.3.2", digits),
))  # fmt: skip
