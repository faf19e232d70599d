"""Figure 3: a close-up of the circular orbit, upper left, and the offsets of the paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import GREY, Pictures, canvas
from polhode_papers.study import Claim, Figure, Finding, Reporter

LABELS = (common.SYMPLECTIC, common.RK4)
STEPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0)
CORNER = np.sqrt(0.5) * common.R0 * np.array([-1.0, 1.0])  # a point on the circle, km
WINDOW = 0.15  # half the width of the window, km
ROUND_OFF = 1e-10  # km


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    ladder = STEPS[2:] if quick else STEPS
    worst = np.zeros((len(LABELS), len(ladder)))
    for j, h in enumerate(ladder):
        report_progress(f"offsets, step {h:g}")
        for i, label in enumerate(LABELS):
            positions = common.run(label, common.CIRCULAR, step=h).position.values
            worst[i, j] = np.abs(common.offset(common.CIRCULAR, positions)).max()
    data = common.shown(common.CIRCULAR, LABELS, "offset").isel(time=slice(None, None, 6))
    data = data.merge(common.passes(common.CIRCULAR, LABELS, CORNER, 60.0))
    return data.assign(worst=(("scheme", "step"), worst)).assign_coords(scheme=list(LABELS), step=list(ladder))


def draw(data: xr.Dataset) -> Pictures:
    picture, (axes,) = canvas(1, 3, width=12.0, height=4.2)
    common.conic_nearby(axes[0], lambda angle: common.R0, CORNER)
    common.close_up(axes[0], data, LABELS, CORNER, WINDOW)
    axes[0].set_title("close-up, lines between the steps")
    for label in LABELS:
        line = data.offset.sel({"method": label})
        axes[1].semilogy(line.time / 3600, np.abs(line) * 1000, color=common.COLOUR[label], linewidth=0.9)
    axes[1].axhline(1000 * common.chord(common.STEP), color=GREY, linestyle=":")
    axes[1].set(xlabel="time (h)", ylabel="m", ylim=(1e-8, 1e3), title="offset from the circle, at the steps")
    common.ladder_panel(axes[2], data.step, common.lines_of(1000 * data.worst, "scheme"), "step (s)", "m")
    chords = [1000 * common.chord(h) for h in data.step.values]
    axes[2].loglog(data.step, chords, ":", color=GREY, label="straight lines")
    axes[2].set_title("largest offset in the day")
    handles, names = axes[2].get_legend_handles_labels()
    handles, names = [axes[0].lines[0], *handles], [common.CONIC, *names]
    picture.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return {"fig03": picture}


def both_offset(data: xr.Dataset) -> Finding:
    worst = common.largest(data.offset, LABELS)
    parts = {f"{label}: off by more than round-off": at_least(x, ROUND_OFF) for label, x in worst.items()}
    parts["both within 1e-4 of the radius"] = at_most(max(worst.values()) / common.R0, 1e-4)
    return Finding(parts, {"largest offset, km": worst})


def smaller(data: xr.Dataset) -> Finding:
    a, b = (data.worst.sel(scheme=label) for label in LABELS)
    ratio = a / b
    parts = {
        "at the step of 10 s": at_most(float(ratio.sel(step=common.STEP)), 1.0),
        "at any of the steps": at_most(float(ratio.min()), 1.0),
    }
    numbers: dict[str, Any] = {}
    for label, line in zip(LABELS, (a, b), strict=True):
        by_step = zip(data.step.values, line.values, strict=True)
        numbers[f"largest offset of {label}, km"] = {f"{h:g} s": float(x) for h, x in by_step}
    numbers["offset of the straight lines between steps of 10 s, km"] = common.chord(common.STEP)
    return Finding(parts, numbers)


FIGURE = Figure("fig03", f"close-up of the circular orbit, {common.DAY:g} s", compute, draw, (
    Claim("Both RK4 and symplectic track the analytic solution well, both with an offset", "fig. 3", both_offset),
    Claim("The symplectic integrator has a smaller offset than the RK4 method", "fig. 3", smaller),
))  # fmt: skip
