"""Figure 8: close-up of the energy of the elliptic orbit by RK4, and its long-term behaviour."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.carson2005.fig04 import TENTH
from polhode_papers.criteria import at_least, at_most, fact, falling, rising, within
from polhode_papers.measure import relative_energy_error
from polhode_papers.study import Claim, Figure, Finding, Reporter

LONG = (common.SYMPLECTIC, common.RK4)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    days = 12 if quick else 100
    report_progress(f"{days} days")
    once_a_day = round(common.DAY / common.STEP)
    runs = [common.run(label, common.ELLIPTIC, t_end=days * common.DAY, every=once_a_day) for label in LONG]
    positions = common.conic(common.ELLIPTIC, runs[0].time.values)[0]
    over = ("scheme", "day")
    return common.shown(common.ELLIPTIC, (common.RK4, common.CONIC), "energy").assign(
        long_error=(over, [np.linalg.norm(ds.position - positions, axis=1) for ds in runs]),
        long_change=(over, [relative_energy_error(ds) for ds in runs]),
    ).assign_coords(scheme=list(LONG), day=np.arange(days + 1))  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 3, width=12.6, height=3.9)
    common.lines(axes[0], data.energy, (common.RK4, common.CONIC))
    common.digits(axes[0], 11)
    axes[0].set_title("energy by RK4 (km²/s² for 1 kg)")
    for label in LONG:
        line = data.sel(scheme=label).isel(day=slice(1, None))
        axes[1].loglog(line.day, np.abs(line.long_change), ".", color=common.COLOUR[label], markersize=3)
        named = label if label == common.SYMPLECTIC else None  # RK4 has its name from the first panel
        axes[2].loglog(line.day, line.long_error, color=common.COLOUR[label], label=named)
    axes[1].set(xlabel="days", ylabel="relative", title="|change of the energy|, once a day")
    axes[2].set(xlabel="days", ylabel="km", title="distance from the conic")
    (lines, names), (others, more) = (axes[k].get_legend_handles_labels() for k in (0, 2))
    picture.legend(lines + others, names + more, loc="outside lower center", ncols=3, frameon=False)
    return {"fig08": picture}


def slow(data: xr.Dataset) -> Finding:
    E = common.of(data.energy, common.RK4)
    lost = float(E[0] - E[-1])
    parts = {
        "falls in every revolution": falling(common.revolutions(data.time.values, E, common.period(common.ELLIPTIC))),
        "by a tenth of a unit of the tenth digit or more, in all": at_least(lost / TENTH, 0.1),
        "and less than half a unit of the ninth": at_most(lost / TENTH, 5.0),
    }
    return Finding(parts, {"energy at the start": f"{E[0]:.13f}", "at the end": f"{E[-1]:.13f}",
                           "lost, relative": lost / abs(E[0])})  # fmt: skip


def cryptic(data: xr.Dataset) -> Finding:
    E = common.of(data.energy, common.RK4)
    ticks = {f"{x:.4f}" for x in np.linspace(E.min(), E.max(), 6)}
    read, alike = ", ".join(sorted(ticks)), len(ticks) == 1 and "nan" not in ticks
    parts = {
        "all ticks read the same with MATLAB's four decimals": fact(alike, "one word on all", read),
        "yet the loss is a hundred times round-off": at_least(float(E[0] - E[-1]), 1e-12),
    }
    return Finding(parts, {"what the ticks read": read, "range of the energy": float(np.ptp(E))})


def long_term(data: xr.Dataset) -> Finding:
    """RK4: energy falls linearly and the position error grows quadratically in time; symplectic: linearly."""
    days = data.day.values
    change, e = data.long_change.sel(scheme=common.RK4).values, {k: data.long_error.sel(scheme=k).values for k in LONG}
    later = slice(days.size // 4, None)
    slope = common.power(days[later], -change[later])
    slopes, ends = {k: common.power(days[later], x[later]) for k, x in e.items()}, {k: float(e[k][-1]) for k in LONG}
    cross = days[-1] * ends[common.SYMPLECTIC] / ends[common.RK4]
    faster = slopes[common.RK4] - slopes[common.SYMPLECTIC]
    parts = {
        "the energy keeps falling in proportion to the time": within(slope, 0.85, 1.15),
        "its place goes off faster, with a higher power of the time": at_least(faster, 0.5),
        "RK4 is the less accurate at the end of this run": rising(ends),
    }
    numbers = {
        "days": int(days[-1]),
        "energy lost, relative": float(-change[-1]),
        "distance at the end, km": ends,
        "power of the time": slopes,
        "where the two would meet, years": float(cross / 365.25),
    }
    return Finding(parts, numbers)


FIGURE = Figure("fig08", f"energy of the elliptic orbit by RK4, {common.DAY:g} s and longer", compute, draw, (
    Claim("A closer examination shows slow decay in RK4, in the 10th digit", "fig. 8", slow),
    Claim("The number of digits displayed is cryptic and does not reflect the dissipation", "fig. 8", cryptic),
    Claim("A very long-term integration would exhibit decay with RK4, a loss in accuracy", "fig. 4, 8", long_term,
          full=("proportion",)),
))  # fmt: skip
