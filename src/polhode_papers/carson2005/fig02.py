"""Figure 2: the circular orbit over a day, three methods and the analytic solution."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, falling, rising
from polhode_papers.study import Claim, Figure, Finding, Reporter

LABELS = (common.SYMPLECTIC, common.RK45, common.RK4, common.CONIC)
PIXEL = 2.0 * common.R0 / 1000.0  # size of a pixel in a figure a thousand pixels wide, km


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("four methods")
    return common.shown(common.CIRCULAR, LABELS, "position", "energy", "offset").isel(time=slice(None, None, 6))


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=9.6, height=4.8)
    common.plane(left, data, (common.RK45, common.SYMPLECTIC, common.RK4, common.CONIC))
    left.set_title("paths")
    common.lines(right, data.position.reduce(np.linalg.norm, "axis"), LABELS)
    right.set(title="distance from the centre", ylabel="km")
    drawing.legend_below(picture, left, 4)
    return {"fig02": picture}


def winds(data: xr.Dataset) -> Finding:
    """Judge whether RK45 loses energy and height in every revolution."""
    t, E, r = data.chosen.values, data.chosen_energy.values, data.chosen_radius.values
    T = common.period(common.CIRCULAR)
    heights = common.revolutions(t, r, T)
    parts = {
        "the distance from the planet falls by over 1 % in the day": at_most(float(r[-1] / r[0]), 0.99),
        "its mean falls in every revolution": falling(heights),
        "so does the energy": falling(common.revolutions(t, E, T)),
    }
    return Finding(parts, {"distance at the end, km": float(r[-1]), "energy lost": float(1.0 - E[0] / E[-1]),
                           "relative to the energy at the start": float((E[0] - E[-1]) / abs(E[0])),
                           "steps": len(t) - 1})  # fmt: skip


def alike(data: xr.Dataset) -> Finding:
    worst = common.largest(data.offset, (common.SYMPLECTIC, common.RK4, common.RK45))
    both = {"larger of both": max(worst[common.SYMPLECTIC], worst[common.RK4]), common.RK45: worst[common.RK45]}
    parts = {
        "both are closer to the circle than RK45": rising(both),
        "their paths are within one pixel of each other": at_most(worst[common.SYMPLECTIC] + worst[common.RK4], PIXEL),
    }
    return Finding(parts, {"largest offset from the circle, km": worst, "a pixel, km": PIXEL})


def planar(data: xr.Dataset) -> Finding:
    height = float(np.abs(data.position.sel(axis="z")).max())
    return Finding({"no method leaves the plane": at_most(height, 0.0)}, {"largest |z|, km": height})


FIGURE = Figure("fig02", f"circular orbit, {common.DAY:g} s", compute, draw, (
    Claim("The variable-step RK45 scheme winds toward the planet; it is dissipating energy", "fig. 2", winds),
    Claim("Symplectic and RK4 track the exact orbit more closely and cannot be separated in figure 2", "fig. 2", alike),
    Claim("Due to the choice of initial conditions, the orbit is planar", "circular orbit", planar),
))  # fmt: skip
