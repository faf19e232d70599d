"""Figure 4: the energy of the circular orbit, shown with all digits."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least, at_most, falling, rising
from polhode_papers.study import Claim, Figure, Finding, Reporter

LABELS = (common.SYMPLECTIC, common.RK4, common.CONIC)
TENTH = 1e-10  # a unit of the tenth decimal place


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("three methods")
    return common.shown(common.CIRCULAR, LABELS, "energy")


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, axes = drawing.canvas(2, 1, width=8.6, height=2.9)
    for (ax,), labels, places, title in (
        (axes[0], LABELS, 10, "energy (km²/s² for a mass of 1 kg)"),
        (axes[1], (common.RK4, common.CONIC), 12, "the same without the symplectic integrator: twelve digits"),
    ):
        common.lines(ax, data.energy, labels)
        common.digits(ax, places)
        ax.set_title(title)
    drawing.legend_below(picture, axes[0, 0], 3)
    return {"fig04": picture}


def symplectic(data: xr.Dataset) -> Finding:
    t, E = data.time.values, common.of(data.energy, common.SYMPLECTIC)
    means, swing = common.revolutions(t, E, common.period(common.CIRCULAR)), float(E.max() - E.min())
    lost = abs(float(common.of(data.energy, common.RK4)[-1] - E[0]))
    move, words = float(abs(means[-1] - means[0])), "by 1 % of its swing, from the first revolution to the last"
    parts = {
        f"its mean does not move ({words})": rising({"move": move, "swing": swing}, 100.0),
        "its swing is less than what RK4 loses in the day": rising({"swing": swing, "lost by RK4": lost}),
    }
    sizes = {"swing": swing, "move of the mean": move, "loss of RK4": lost}
    return Finding(parts, {f"{name}, relative": x / abs(E[0]) for name, x in sizes.items()})


def dissipation(data: xr.Dataset) -> Finding:
    t, E = data.time.values, common.of(data.energy, common.RK4)
    means = common.revolutions(t, E, common.period(common.CIRCULAR))
    return Finding({"the energy of RK4 falls in every revolution": falling(means)},
                   {"lost in the day, relative": float((E[0] - E[-1]) / abs(E[0])),
                    "lost in a revolution, relative": float(-np.diff(means).mean() / abs(E[0]))})  # fmt: skip


def tenth_digit(data: xr.Dataset) -> Finding:
    E = common.of(data.energy, common.RK4)
    lost = float(E[0] - E[-1])
    parts = {"at least a tenth of a unit of the tenth digit": at_least(lost / TENTH, 0.1),
             "less than half a unit of the ninth": at_most(lost / TENTH, 5.0)}  # fmt: skip
    return Finding(parts, {"energy at the start": f"{E[0]:.13f}", "at the end": f"{E[-1]:.13f}", "lost": lost})


def exact(data: xr.Dataset) -> Finding:
    E = common.of(data.energy, common.CONIC)
    change = float(np.abs(E / E[0] - 1.0).max())
    return Finding({"to 1e-15 a hundred times over": at_most(change, 1e-13)}, {"largest change, relative": change})


FIGURE = Figure("fig04", f"energy of the circular orbit, {common.DAY:g} s", compute, draw, (
    Claim("The conservation of energy by the symplectic integrator is revealed", "fig. 4", symplectic),
    Claim("RK4 introduces false dissipation", "fig. 4", dissipation),
    Claim("The dissipation is in the 10th digit only during this time interval", "fig. 4", tenth_digit),
    Claim("The energy of the circular orbit should be conserved (it is, by the analytic solution)", "fig. 4", exact),
))  # fmt: skip
