"""Figure 12: position of the centre of mass of the heavy top."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers.criteria import at_most
from polhode_papers.drawing import Pictures
from polhode_papers.holzinger2021 import top
from polhode_papers.study import Claim, Figure, Finding, Reporter

ON_THE_SPHERE = 1e-15


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    return top.centre_of_mass("position", report_progress)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig12": top.picture_of(data, "position", ("x", "y", "z"), "m")}


def on_the_sphere(data: xr.Dataset) -> Finding:
    length = np.sqrt((data.position.sel(by=list(top.CHARTS)) ** 2).sum("axis"))
    deviation = {str(name): float(np.abs(length.sel(by=name) - 1.0).max()) for name in length.by.values}
    low = data.position.sel(by=top.VECTOR, axis=3)
    parts = {f"by the {name}, to 1e-15": at_most(x, ON_THE_SPHERE) for name, x in deviation.items()}
    return Finding(parts, {"||r| - 1|": deviation, "lowest z": float(low.min())})


CLAIMS = (Claim("The centre of mass stays 1 m from the fixed point", "polhode", on_the_sphere),)
FIGURE = Figure("fig12", "heavy top: position of the centre of mass", compute, draw, CLAIMS)
