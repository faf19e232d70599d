"""Figure 13: velocity of the centre of mass of the heavy top."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

from polhode_papers.criteria import at_most
from polhode_papers.drawing import Pictures
from polhode_papers.holzinger2021 import top
from polhode_papers.study import Claim, Figure, Finding, Reporter

SIXTH_ORDER = np.array((-1, 9, -45, 0, 45, -9, 1)) / 60


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    data = top.centre_of_mass("velocity", report_progress)
    return data.assign(position=top.centre_of_mass("position", report_progress).position)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig13": top.picture_of(data, "velocity", ("x", "y", "z"), "m/s")}


def of_the_position(data: xr.Dataset) -> Finding:
    r, v = (data[name].sel(by=top.VECTOR).values for name in ("position", "velocity"))
    rate = np.apply_along_axis(np.convolve, 0, r, SIXTH_ORDER[::-1], "valid") / top.STEP
    deviation = float(np.abs(rate - v[3:-3]).max())
    radial = float(np.abs((r * v).sum(axis=1)).max())
    parts = {
        "the derivative of the position": at_most(deviation, 1e-3),
        "at right angles to it": at_most(radial, 1e-13),
    }
    return Finding(parts, {"from differences of order 6": deviation, "r . v": radial})


FIGURE = Figure("fig13", "heavy top: velocity of the centre of mass", compute, draw, (
    Claim("The velocity can be had from the Cardan angles as well", "7.2", partial(top.alike, "velocity")),
    Claim("The velocity follows from v(t) and omega(t) by basic kinematic relationships", "7.2", of_the_position),
))  # fmt: skip
