"""Figure 7: the middle Cardan angle of a steady rotation, converted, and its deviation from the analytic one."""

from __future__ import annotations

from functools import partial
from math import pi
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.criteria import at_most
from polhode_papers.holzinger2021.common import continued, history_panel
from polhode_papers.holzinger2021.fig05 import motion
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

STEP, EVERY = 1e-3, 100  # [holzinger2021, 7.1.2]; a row every 0.1 s
PRINCIPAL, CONVERTED, CONTINUOUS = "principal", "principal, converted", "continuous"
HALF, ENTRIES = "half angles", "five entries"
UPDATES = {HALF: "euler", ENTRIES: "euler_as_printed"}
STEPS, SHORT = (1e-3, 2e-3, 4e-3, 5e-3, 1e-2), 20.0  # for the attitudes of principal angles, up to this time (s)
SHARP = 1e-9  # rad
CLEAR = 0.1  # distance of the middle angle from a singular one, as a cosine


def largest_error(ds: xr.Dataset) -> float:
    """Largest attitude error of a run, rad."""
    half = 0.5 * pi * ds.time.values
    exact = np.stack([np.cos(half), 0 * half, np.sin(half), 0 * half], axis=1)
    return float(ph.rotation.angle_between(ds.attitude.values, exact).max())


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    t_end = 20.0 if quick else 100.0
    report_progress(f"principal and continuous angles, t = {t_end:g}")
    case = motion(0.0, t_end)
    branches = (f"euler:rk4:exp:XYZ:{branch}" for branch in (PRINCIPAL, CONTINUOUS))
    principal, continuous = (case.run(method, STEP, EVERY)[0] for method in branches)
    report_progress("conversion")
    angles = {PRINCIPAL: principal.euler_angles.values, CONVERTED: continued(principal.euler_angles.values),
              CONTINUOUS: continuous.euler_angles.values}  # fmt: skip
    time = principal.time.values
    report_progress("attitudes")
    worst = [[largest_error(motion(0.0, SHORT).run(method, h, 10)[0]) for h in STEPS] for method in UPDATES.values()]
    return xr.Dataset(
        {"angle": (("form", "time", "axis"), list(angles.values())), "analytic": ("time", pi * time),
         "attitude_error": (("update", "step"), worst)},
        {"form": list(angles), "time": time, "axis": [1, 2, 3], "update": list(UPDATES), "step": list(STEPS)},
        {"rounding unit of an angle of 100 pi": f"{np.spacing(100 * pi):.1e} rad"},
    )  # fmt: skip


def deviation(data: xr.Dataset, form: str) -> Any:
    return np.abs(data.angle.sel(form=form, axis=2) - data.analytic)


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.5, height=3.6)
    short = data.sel(time=slice(0.0, 4.0))
    lines = {"analytic": short.analytic} | {form: short.angle.sel(form=form, axis=2) for form in (CONVERTED, PRINCIPAL)}
    history_panel(left, short.time, lines, "middle angle", ("time (s)", r"$\alpha_2$ (rad)"))
    left.legend(frameon=False)
    for i, form in enumerate((CONVERTED, CONTINUOUS)):
        right.semilogy(data.time, np.maximum(deviation(data, form), 1e-17), color=drawing.style(i)["color"], label=form)
    right.set(xlabel="time (s)", ylabel=r"$|\alpha_2 - \pi t|$ (rad)", title="deviation, $h = 10^{-3}$ s")
    right.legend(frameon=False)
    return {"fig07": picture}


# ------------------------------------------------------------------ judges
def outer(data: xr.Dataset, form: str) -> tuple[float, float]:
    """Largest outer angle away from singular middle angles, and near them, where only their sum is determined."""
    size = np.abs(data.angle.sel(form=form, axis=[1, 3])).max("axis")
    clear = np.abs(np.cos(data.analytic)) > CLEAR
    return float(size.where(clear).max()), float(size.where(~clear).max())


def converts(data: xr.Dataset) -> Finding:
    worst, (away, there) = float(deviation(data, CONVERTED).max()), outer(data, CONVERTED)
    parts = {
        "alpha2 = pi t": at_most(worst, SHARP),
        "other angles 0, away from singular middle angles": at_most(away, SHARP),
    }
    return Finding(parts, {"largest alpha2 - pi t": worst, "other angles": {"away": away, "there": there}})


def unique(update: str, data: xr.Dataset) -> Finding:
    measured = named(data.attitude_error.sel(update=update))
    parts = {f"h = {h}": at_most(x, SHARP) for h, x in measured.items()}
    return Finding(parts, {f"largest attitude error, t <= {SHORT:g}": measured})


def continuous(data: xr.Dataset) -> Finding:
    measured = {form: float(deviation(data, form).max()) for form in (CONTINUOUS, CONVERTED)}
    other = max(outer(data, CONTINUOUS))
    parts = {"alpha2 = pi t": at_most(measured[CONTINUOUS], SHARP), "other angles 0": at_most(other, SHARP)}
    numbers = {"largest deviation of alpha2": measured, "other angles": other, "up to t": float(data.time[-1])}
    return Finding(parts, numbers)


FIGURE = Figure("fig07", "steady turn about the second axis: the middle angle converted", compute, draw, (
    Claim("The angles can be converted afterwards: alpha2 is then the analytic one", "7.1.2, Fig. 7", converts),
    Claim("The conversion is not needed to represent the attitude uniquely: angles by half angles", "7.1.2",
          partial(unique, HALF)),
    Claim("The conversion is not needed to represent the attitude uniquely: angles by five entries, as printed",
          "5, 7.1.2", partial(unique, ENTRIES)),
    Claim("Angles that continue the old ones need no conversion", "polhode", continuous),
))  # fmt: skip
