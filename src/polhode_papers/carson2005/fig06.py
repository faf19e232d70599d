"""Figure 6: a close-up of the elliptic orbit, and errors against the step."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import rising
from polhode_papers.study import Claim, Figure, Finding, Reporter

LABELS = (common.SYMPLECTIC, *common.RK2, common.RK4)
STEPS = (40.0, 20.0, 10.0, 5.0, 2.5)
E = common.R0 * 1.550663**2 / common.MU - 1.0  # eccentricity; periapsis is up (+y), the close-up 45 degrees from it
CORNER = common.R0 * (1.0 + E) / (np.sqrt(2.0) + E) * np.array([-1.0, 1.0])  # a point on the orbit, km
WINDOW = 0.6  # half the width of the window, km


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    ladder = STEPS[:4] if quick else STEPS
    results = {name: np.zeros((len(LABELS), len(ladder))) for name in (common.ELLIPTIC, common.CIRCULAR)}
    for name, table in results.items():
        truth = common.conic(name, common.DAY)[0]
        for i, label in enumerate(LABELS):
            report_progress(f"{label}, {name}")
            table[i] = [np.linalg.norm(common.last(label, name, step=h).position.values - truth) for h in ladder]
    data = common.shown(common.ELLIPTIC, LABELS, "offset").isel(time=slice(None, None, 6))
    data = data.merge(common.passes(common.ELLIPTIC, LABELS, CORNER, 60.0))
    errors = {f"error_{name}": (("scheme", "step"), table) for name, table in results.items()}
    return data.assign(errors).assign_coords(scheme=list(LABELS), step=list(ladder))


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 3, width=12.4, height=4.3)
    common.conic_nearby(axes[0], lambda angle: common.R0 * (1.0 + E) / (1.0 + E * np.sin(angle)), CORNER)
    common.close_up(axes[0], data, LABELS, CORNER, WINDOW)
    axes[0].set_title("close-up: one line a revolution")
    for label in LABELS:
        line = data.offset.sel({"method": label})
        axes[1].semilogy(line.time / 3600, np.abs(line) * 1000, color=common.COLOUR[label], linewidth=0.8)
    axes[1].set(xlabel="time (h)", ylabel="m", ylim=(1e-6, 1e5), title="offset of the path")
    common.ladder_panel(axes[2], data.step, common.lines_of(data.error_elliptic, "scheme"), "step (s)", "km")
    axes[2].set_title("distance from the conic after a day")
    drawing.legend_below(picture, axes[0], 5)
    return {"fig06": picture}


def errors(data: xr.Dataset, name: str) -> dict[str, float]:
    at = data[f"error_{name}"].sel(step=common.STEP)
    return {label: float(at.sel(scheme=label)) for label in LABELS}


def accurate(data: xr.Dataset) -> Finding:
    e, paths = errors(data, common.ELLIPTIC), common.largest(data.offset, LABELS)
    parts = {}
    for words, far in (("place", e), ("path", paths)):
        best = {common.RK4: far[common.RK4], "best other": min(far[k] for k in LABELS if k != common.RK4)}
        parts[f"ten times closer in {words}"] = rising(best, 10.0)
    return Finding(parts, {"distance after a day, km": e, "largest offset of the path, km": paths})


def orders(data: xr.Dataset) -> Finding:
    lines = common.lines_of(data.error_elliptic, "scheme")
    measured = {label: common.order_of(data.step.values, line.values) for label, line in lines.items()}
    orders = zip(LABELS, (2, 2, 2, 4), strict=True)
    parts = {f"{label} is of order {p}": common.keeps(measured[label], p) for label, p in orders}
    return Finding(parts, {"orders": measured})


def differs(data: xr.Dataset) -> Finding:
    e = errors(data, common.CIRCULAR)
    judged = rising(common.pick(e, common.SYMPLECTIC, common.RK4))
    parts = {"on the circle RK4 is less accurate than the symplectic integrator": judged}
    return Finding(parts, {"distance on the circular orbit after a day, km": e})


FIGURE = Figure("fig06", f"close-up of the elliptic orbit, {common.DAY:g} s", compute, draw, (
    Claim("RK4 is significantly more accurate than the symplectic or RK2 technique", "fig. 6", accurate),
    Claim("RK4 is of fourth order, RK2 and the symplectic technique are of second", "fig. 6", orders),
    Claim("In accuracy the elliptic orbit slightly differs from the circular case", "fig. 6", differs),
))  # fmt: skip
