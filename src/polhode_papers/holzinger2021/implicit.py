"""The future work of section 8: the proposed approach with implicit (Gauss) tableaux.

A symmetric tableau gives a symmetric step if the coordinate map is centred at the middle of the step, but not if it is
centred at the start. The top is that of 7.2 with a tenth of its spin, so that large steps can be taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import BLUE, GREEN, ORANGE, VERMILION, Pictures
from polhode_papers.holzinger2021 import top
from polhode_papers.measure import attempt, unwarned, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

SPIN = 15.0  # printed: 150
START: dict[str, Any] = {"angular_velocity": (0.0, SPIN, top.OMEGA[2])}
STEP, T_LONG = 0.05, 200.0
SECOND = 20  # number of steps in a second
T_END, STEPS = 1.0, [0.05, 0.025, 0.0125, 0.00625, 0.003125]
FLOOR = 3e-13  # round-off at t = 1
MAPS, CENTERS, ORDERS = ("exp", "cayley"), ("middle", "start"), (2, 4, 6, 8)
COLOUR = dict(zip([(m, c) for m in MAPS for c in CENTERS], (BLUE, VERMILION, GREEN, ORANGE), strict=True))


def method(order: int, map: str, center: str) -> str:
    return f"rotation_vector:gauss{order}:{map}:{center}"


@unwarned()
def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress(top.SERIES)
    truth = top.exact(T_END, spin=SPIN).attitude.values[-1]
    y = ph.runs.start_state(top.TOP, **START)
    span = T_LONG / 4 if quick else T_LONG
    shape = len(MAPS), len(CENTERS)
    energy, defect = np.empty((*shape, round(span / STEP) + 1)), np.empty((*shape, len(ORDERS)))
    error, outcome = np.full((*shape, len(ORDERS), len(STEPS)), np.nan), "all completed"
    for i, j in np.ndindex(shape):
        map, center = MAPS[i], CENTERS[j]
        report_progress(f"{map}, {center}")
        ds = ph.integrate(top.TOP, method(4, map, center), step=STEP, t_end=span, **START)
        energy[i, j] = ds.energy_change.values
        for k, order in enumerate(ORDERS):
            defect[i, j, k] = ph.checks.symmetry_defect(method(order, map, center), top.TOP, y, t=0.0, h=STEP)
            for n, h in enumerate(STEPS):
                ds, how = attempt(top.TOP, method(order, map, center), step=h, steps=whole(T_END, h), **START)
                if how == "completed":
                    error[i, j, k, n] = ph.rotation.angle_between(ds.attitude.values[-1], truth)
                else:
                    outcome = f"{method(order, map, center)}, step {h:g}: {how}"
    dims = ("map", "center")
    return xr.Dataset(
        {"energy_change": ((*dims, "time"), energy), "defect": ((*dims, "order"), defect),
         "error": ((*dims, "order", "step"), error)},
        {"map": list(MAPS), "center": list(CENTERS), "order": list(ORDERS), "step": STEPS,
         "time": STEP * np.arange(energy.shape[-1])},
        {"top": f"that of 7.2 with omega_2 = {SPIN:g} instead of {top.OMEGA[1]:g} rad/s",
         "energy": f"Gauss, order 4, steps of {STEP:g} (0.75 rad) for {span:g} s", "runs": outcome,
         "error": f"angle from a power series at t = {T_END:g}, rad"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, middle, right),) = drawing.canvas(1, 3, width=13.5, height=4.6)
    for i, (map, center) in enumerate(COLOUR):
        colour, label = COLOUR[map, center], f"{map}, {center}"
        part = data.sel(map=map, center=center)
        largest = np.abs(part.energy_change.values[1:]).reshape(-1, SECOND).max(axis=1)
        left.semilogy(data.time[SECOND::SECOND], largest, color=colour, linewidth=1.0)
        for order in ORDERS:
            line_style = drawing.style(i, center == "middle") | {"color": colour, "linewidth": 0.9}
            line_style["markerfacecolor"] = colour if center == "middle" else "white"
            size = part.error.sel(order=order)
            middle.loglog(data.step, size.where(size > FLOOR), label=label if order == 2 else None, **line_style)
        x = np.arange(len(ORDERS)) + 0.2 * (i - 1.5)
        right.bar(x, np.maximum(part.defect, 1e-17), 0.18, color=colour)
    for order in ORDERS:
        size = float(data.error.sel(map="exp", center="middle", order=order, step=STEPS[1]))
        middle.annotate(f"Gauss {order}", (STEPS[1], size), (8, -9), textcoords="offset points", fontsize=8.5)
    left.set(
        xlabel="time (s)", ylabel="largest |energy change| in each second (J)", title=f"Gauss 4, steps of {STEP:g}"
    )
    middle.set_xticks(STEPS, [f"{h:.3g}" for h in STEPS])
    middle.minorticks_off()
    middle.set(xlabel="step $h$ (s)", ylabel="attitude error at $t = 1$ s (rad)", title="order")
    right.set_yscale("log")
    right.set_xticks(range(len(ORDERS)), [f"Gauss {order}" for order in ORDERS])
    right.grid(axis="x", visible=False)
    right.set(ylabel="distance", title=f"from the start after steps of {STEP:g} and −{STEP:g}")
    drawing.legend_below(picture, middle, 4)
    return {"implicit": picture}


# ------------------------------------------------------------------ judges
def named(data: xr.DataArray) -> dict[str, float]:
    """Values by map and centre."""
    return {f"{map}, {center}": float(data.sel(map=map, center=center)) for map, center in COLOUR}


def embedded(data: xr.Dataset) -> Finding:
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for order in ORDERS:
        measured = {}
        for map, center in COLOUR:
            line = data.error.sel(map=map, center=center, order=order).values
            measured[f"{map}, {center}"] = ph.trajectory.convergence.observed_order(data.step.values, line, FLOOR)
        parts[f"Gauss {order}: order {order}"] = criteria.every(measured, criteria.order_is, order, 0.05 * order)
        numbers[f"order of Gauss {order}"] = measured
    return Finding(parts, numbers)


def symmetric(data: xr.Dataset) -> Finding:
    middle, start = (data.defect.sel(center=center) for center in CENTERS)
    parts = {
        "in the middle: every step can be taken back, to 1e-14": at_most(float(middle.max()), 1e-14),
        "at the start: orders 4 to 8 cannot": at_least(float(start.sel(order=[4, 6, 8]).min()), 1e-12),
    }
    return Finding(parts, {f"Gauss {order}": named(data.defect.sel(order=order)) for order in ORDERS})


def energy(data: xr.Dataset) -> Finding:
    size, n = np.abs(data.energy_change), data.time.size // 10
    worst, growth = named(size.max("time")), named(size[..., -n:].max("time") / size[..., :n].max("time"))
    parts = {}
    for map in MAPS:
        middle, start = (growth[f"{map}, {center}"] for center in CENTERS)
        parts[f"{map}: in the middle, no larger in the last tenth than in the first"] = at_most(middle, 1.01)
        parts[f"{map}: at the start, it grows with time"] = at_least(start, 5.0)
    return Finding(parts, {"largest energy change, J": worst, "last tenth / first tenth": growth})


FIGURE = Figure("implicit", "the proposed approach in implicit schemes (slow heavy top)", compute, draw, (
    Claim("The proposed approach can be embedded in an implicit scheme", "8", embedded),
    Claim("A symmetric tableau makes symmetric steps when the map is centred in the middle", "polhode", symmetric),
    Claim("A symmetric step keeps the energy from drifting", "polhode", energy),
))  # fmt: skip
