"""Figure 6: Cardan angles of a steady rotation about the second axis, analytic and principal."""

from __future__ import annotations

from math import nan, pi

import numpy as np
import xarray as xr

from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import GREY, Pictures, canvas, legend_below
from polhode_papers.holzinger2021.common import history_panel
from polhode_papers.holzinger2021.fig05 import DIRECT, FORMS, PROPOSED, motion
from polhode_papers.study import Claim, Figure, Finding, Reporter

STEP, T_END = 1e-3, 4.0
LABELS = (r"$\alpha_1$", r"$\alpha_2$", r"$\alpha_3$")
SHARP = 1e-9  # rad
CLEAR = 0.01  # distance of the middle angle from a singular one, as a cosine


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("angles over time")
    runs = {form: motion(0.0, T_END).run(FORMS[form], STEP, every=5)[0] for form in (PROPOSED, DIRECT)}
    time = runs[PROPOSED].time.values
    return xr.Dataset(
        {"angle": (("form", "time", "axis"), [ds.euler_angles.values for ds in runs.values()]),
         "analytic": ("time", pi * time)},
        {"form": list(runs), "time": time, "axis": [1, 2, 3]}, {"step": f"{STEP:g} s, every fifth row is kept"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = canvas(1, 2, width=10.0, height=3.6)
    zero = np.zeros(data.time.size)
    history_panel(left, data.time, dict(zip(LABELS, (zero, data.analytic, zero), strict=True)), "analytic",
                  ("time (s)", "angle (rad)"))  # fmt: skip
    lines = {name: data.angle.sel(form=PROPOSED, axis=k) for k, name in enumerate(LABELS, 1)}
    history_panel(right, data.time, lines, "proposed, principal angles", ("time (s)", ""))
    for k in range(-1, 3):
        right.axhline(k * pi / 2, color=GREY, linewidth=0.6, linestyle=":")
    right.set_yticks([-pi / 2, 0, pi / 2, pi], ["-π/2", "0", "π/2", "π"])
    legend_below(picture, left, 3)
    return {"fig06": picture}


# ------------------------------------------------------------------ judges
def analytic(data: xr.Dataset) -> Finding:
    rows = data.angle.sel(form=DIRECT)
    measured = {"alpha2 - pi t": float(np.abs(rows.sel(axis=2) - data.analytic).max()),
             "other angles": float(np.abs(rows.sel(axis=[1, 3])).max())}  # fmt: skip
    parts = {"solves (88): largest difference": at_most(max(measured.values()), SHARP)}
    return Finding(parts, {"(88) integrated, largest of": measured})


def jumps(data: xr.Dataset) -> Finding:
    rows = data.angle.sel(form=PROPOSED)
    # at singular rows only a combination of the outer angles is determined
    determined = np.abs(np.cos(rows.sel(axis=2).values)) > CLEAR
    angles, analytic = rows.values[determined], data.analytic.values[determined]
    change = np.diff(angles, axis=0)
    at = np.flatnonzero(np.abs(change).max(axis=1) > 1.0)
    places = [int(x) for x in np.rint((analytic[at] + analytic[at + 1]) / pi)]  # in units of pi/2
    multiples = range(1, int(2 * T_END))
    off = float(np.abs(np.abs(change[at][:, [0, 2]]) - pi).max(initial=0.0))
    odd, even = (np.mean([n in places for n in multiples if n % 2 == k]) for k in (1, 0))
    parts = {
        "jumps of the outer angles by pi: difference": at_most(off if at.size else nan, SHARP),
        "at odd multiples of pi/2: share": at_least(float(odd), 1.0),
        "at even multiples: share": at_least(float(even), 1.0),
        "jumps of the middle angle: largest": at_least(float(np.abs(change[:, 1]).max(initial=0.0)), 1.0),
    }
    numbers = {
        "jumps where pi t is, in units of pi/2": ", ".join(map(str, places)),
        "jumps of the outer angles, less pi": off,
        "largest middle angle over pi/2": float(np.abs(angles[:, 1]).max(initial=0.0) * 2 / pi),
    }
    return Finding(parts, numbers)


FIGURE = Figure("fig06", "steady turn about the second axis: Cardan angles over time", compute, draw, (
    Claim("For eps = 0 alpha2 = pi t solves (88)", "7.1.2, (73)", analytic),
    Claim("The proposed angles show finite jumps where alpha2 = n pi/2", "7.1.2, Fig. 6(b)", jumps),
))  # fmt: skip
