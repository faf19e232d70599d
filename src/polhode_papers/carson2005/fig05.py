"""Figure 5: the elliptic orbit over a day, all methods and the analytic solution."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least, at_most, falling, rising
from polhode_papers.study import Claim, Figure, Finding, Reporter

OTHERS = (common.SYMPLECTIC, *common.RK2, common.RK4)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("six methods")
    data = common.shown(common.ELLIPTIC, (common.RK45, *OTHERS, common.CONIC), "position", "distance", "offset")
    return data.isel(time=slice(None, None, 6))


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.0, height=4.8)
    common.plane(left, data, (common.RK45, *OTHERS, common.CONIC))
    left.set_title("paths")
    common.lines(right, data.distance.where(data.distance > 0.0), (common.RK45, *OTHERS))
    right.set(title="distance from the place on the conic", ylabel="km", yscale="log", ylim=(1e-8, 1e4))
    drawing.legend_below(picture, left, 6)
    return {"fig05": picture}


def winds(data: xr.Dataset) -> Finding:
    """Judge whether RK45 loses energy from periapsis to periapsis, and whether its apoapses fall."""
    E, r = data.chosen_energy.values, data.chosen_radius.values
    E_low = E[1:-1][(r[1:-1] < r[:-2]) & (r[1:-1] <= r[2:])]
    size = np.linalg.norm(common.of(data.position, common.RK45), axis=1)
    first, final = (float(part.max()) for part in (size[: size.size // 4], size[-size.size // 4 :]))
    parts = {
        "the energy is lower at every periapsis": falling(E_low),
        "it is over 1 % lower at the end": at_least(float((E[0] - E[-1]) / abs(E[0])), 0.01),
        "the largest distance falls, from the first to the last quarter of the day": at_most(final / first, 0.99),
    }
    return Finding(parts, {"energy at the end, relative": float((E[-1] - E[0]) / abs(E[0])), "steps": len(r) - 1,
                           "largest distance, first and last quarter, km": f"{first:.0f}, {final:.0f}"})  # fmt: skip


def closer(data: xr.Dataset) -> Finding:
    ends = {label: float(common.of(data.distance, label)[-1]) for label in (common.RK45, *OTHERS)}
    paths = {label: float(np.abs(common.of(data.offset, label)).max()) for label in (common.RK45, *OTHERS)}
    parts = {
        words: rising({"others": max(far[label] for label in OTHERS), common.RK45: far[common.RK45]})
        for words, far in (("their places", ends), ("their paths", paths))
    }
    return Finding(parts, {"distance at the end, km": ends, "largest offset of the path, km": paths})


FIGURE = Figure("fig05", f"elliptic orbit, {common.DAY:g} s", compute, draw, (
    Claim("RK45 is again seen to wind toward the planet, artificially dissipating energy", "fig. 5", winds),
    Claim("The remaining schemes track the exact orbit more closely", "fig. 5", closer),
))  # fmt: skip
