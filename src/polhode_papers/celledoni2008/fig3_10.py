"""Figure 3.10: RKN4_6b and RKN6_14a on [0, 10], 125 soft dipolar spheres; energy error against cost.

The paper does not give all steps. Ours start with those of figure 3.9 and decrease until order 6 is visible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008 import spheres
from polhode_papers.study import Claim, Figure, Finding, Reporter

SETTINGS = {"spacing 2, H0 = 15": (2.0, 15.0, False), "spacing 4, bodies rotate": (4.0, None, True)}
"""Lattice spacing, energy H0, and whether bodies rotate with temperature 1."""
CLOSE = next(iter(SETTINGS))
FOURTH, SIXTH = "RKN4_6b", "RKN6_14a"
SPAN = 10.0
EVALUATIONS = tuple(10 * 2**i for i in range(8))
QUICK_EVALUATIONS = EVALUATIONS[:6]
SEED = 0
SEEN = 1e-10
"""Energy errors below this are partly round-off over this span."""


def one_line(case: tuple[str, str, tuple[int, ...]]) -> list[float]:
    """Energy errors of one method in one setting, for every number of evaluations."""
    setting, name, evaluations = case
    spacing, H0, thermal = SETTINGS[setting]
    system = spheres.spheres()
    start, _ = spheres.raised(system, spheres.lattice_draw(spacing, SEED, thermal), H0)
    counts = [spheres.steps_of(spheres.pairs_of()[name][0], wanted, SPAN) for wanted in evaluations]
    return [spheres.error_of(system, name, start, n, SPAN) for n in counts]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    evaluations = QUICK_EVALUATIONS if quick else EVALUATIONS
    labels = (FOURTH, SIXTH)
    flows = (spheres.EXACT, spheres.MR) if quick else spheres.FLOWS
    cases = [(setting, spheres.method_of(scheme, flow), evaluations)
             for setting in SETTINGS for scheme in labels for flow in flows]  # fmt: skip
    lines = list(spheres.each(one_line, cases, report_progress))
    error = np.reshape(lines, (len(SETTINGS), len(labels), len(flows), -1))
    report_progress("time")
    system = spheres.spheres()
    start, _ = spheres.raised(system, spheres.lattice_draw(4.0, SEED, True))
    per_step = spheres.seconds_per_step(system, start, 1e-3, 3 if quick else 15, 56, labels, flows)
    steps = np.array([[spheres.steps_of(scheme, wanted, SPAN) for wanted in evaluations] for scheme in labels])
    dims = ("setting", "scheme", "flow", "wanted")
    return xr.Dataset(
        {
            "energy_error": (dims, np.where(np.isinf(error), np.nan, error)),
            "evaluations": (("scheme", "wanted"), steps * np.array([[spheres.SCHEMES[name][0]] for name in labels])),
            "seconds": (dims[1:], per_step[:, :, None] * steps[:, None, :]),
            "steps": (("scheme", "wanted"), steps),
        },
        {"setting": list(SETTINGS), "scheme": list(labels), "flow": list(flows), "wanted": list(evaluations)},
        {
            "states": f"one of each setting, seed {SEED}",
            "energy error": f"largest |H - H0| over [0, {SPAN:g}]; empty where the run is lost: it blows up, or the "
            f"energy is off by more than {spheres.LOST:g} for each body",
            "time": "steps times the time of one, the best of some rounds in which all methods take turns",
        },
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, len(SETTINGS), width=10.5, height=4.4)
    for ax, setting in zip(axes, SETTINGS, strict=True):
        for scheme, flow in spheres.pairs_of((FOURTH, SIXTH), tuple(map(str, data.flow.values))).values():
            line = data.sel(setting=setting, scheme=scheme, flow=flow)
            ax.loglog(line.seconds, line.energy_error, **spheres.line_style(scheme, flow))
        ax.set(title=setting, xlabel="time on one thread (s)")
        for i, scheme in enumerate((FOURTH, SIXTH)):
            line = data.sel(setting=setting, scheme=scheme, flow=spheres.EXACT)
            lost = line.energy_error.isnull()
            if lost.any():
                high = 10.0 ** (3.4 - 0.8 * i)
                look_at = spheres.line_style(scheme, spheres.EXACT) | {"linestyle": "", "marker": "x", "label": "_"}
                ax.loglog(line.seconds[lost], np.full(int(lost.sum()), high), **look_at)
                ax.annotate(f"{scheme}: lost", (float(line.seconds[lost][-1]), high), (6, -3),
                            textcoords="offset points", color=look_at["color"])  # fmt: skip
    axes[0].set_ylabel("largest $|H - H_0|$ over [0, 10]")
    spheres.legend_below(picture, axes[0], 2)
    return {"fig3_10": picture}


# ------------------------------------------------------------------ judges
def line_of(data: xr.Dataset, setting: str, scheme: str, flow: str = spheres.EXACT) -> Any:
    """Energy errors for all numbers of evaluations; NaN where lost."""
    return data.energy_error.sel(setting=setting, scheme=scheme, flow=flow).values


def words_of(data: xr.Dataset, values: Any) -> dict[str, str]:
    return {str(int(n)): "lost" if np.isnan(x) else f"{x:.2g}" for n, x in zip(data.wanted, values, strict=True)}


def same_loads(data: xr.Dataset) -> Finding:
    counts = data.evaluations
    spread = float((counts.max("scheme") / counts.min("scheme")).max())
    return Finding({"largest ratio of the counts": criteria.within(spread, 1.0, 1.05)}, {"counts": counts.size})


def too_large(data: xr.Dataset) -> Finding:
    """Judge whether RKN6_14a fails at large steps and shows its order at small ones."""
    measured = {name: line_of(data, CLOSE, name) for name in (FOURTH, SIXTH)}
    h = SPAN / data.steps.sel(scheme=SIXTH).values
    falls = measured[SIXTH][:-1] / measured[SIXTH][1:]
    usable = {name: float(data.wanted.where(~np.isnan(line)).min()) for name, line in measured.items()}
    parts = {
        "evaluations from which its runs are not lost": criteria.at_least(usable[SIXTH], 40),
        "largest fall of its error where steps are halved": criteria.at_least(float(np.fmax.reduce(falls)), 10.0),
        "its order where steps are small": criteria.order_within(h, measured[SIXTH], 6, 0.3, SEEN),
    }
    words = "by evaluations in a unit of time"
    rows = {f"energy error of {name} {words}": words_of(data, line) for name, line in measured.items()}
    return Finding(parts, {"evaluations from which runs are not lost": usable} | rows)


def crossing(data: xr.Dataset, setting: str) -> float:
    """Energy error below which RKN6_14a is always more accurate; 0 if never, infinite if everywhere."""
    fourth, sixth = (np.nan_to_num(line_of(data, setting, name), nan=np.inf) for name in (FOURTH, SIXTH))
    better = (sixth < fourth) | (fourth < SEEN)
    worse = np.flatnonzero(~better)
    if not worse.size:
        return float("inf")
    return 0.0 if worse[-1] == len(better) - 1 else float(fourth[worse[-1]])


def efficiency(data: xr.Dataset) -> Finding:
    """Judge whether RKN4_6b is better at low accuracy and RKN6_14a at high accuracy."""
    measured = {setting: crossing(data, setting) for setting in SETTINGS}
    fourth, sixth = (np.nan_to_num(line_of(data, CLOSE, name), nan=1e300) for name in (FOURTH, SIXTH))
    high = (fourth > 1e-4) & (sixth < 1e300)
    worst = float((sixth / fourth)[high].min()) if high.any() else np.nan
    parts = {f"{CLOSE}: error of RKN6_14a over RKN4_6b above 1e-4, least": criteria.at_least(worst, 1.0)}
    words = "error of RKN4_6b below which RKN6_14a is better (0: not reached, inf: always)"
    parts |= {f"{setting}: {words}": criteria.at_least(x, 1e-5) for setting, x in measured.items()}
    return Finding(parts, {"errors above": SEEN})


def rotation(data: xr.Dataset) -> Finding:
    """Compare MR with the exact rotation."""
    parts, numbers = {}, {}
    for name in (FOURTH, SIXTH):
        for setting in SETTINGS:
            ratio = line_of(data, setting, name, spheres.MR) / line_of(data, setting, name)
            numbers[f"error with MR / exact, {name}, {setting}, by evaluations"] = words_of(data, ratio)
            if setting == CLOSE:
                high = line_of(data, setting, name) > 1e-4
                factor = float(np.exp(np.abs(np.log(ratio[high])).max())) if high.any() else np.nan
                words = f"{name}, {setting}: error with MR over exact, or exact over it, while above 1e-4"
                parts[words] = criteria.within(factor, 1.0, 1.5)
    return Finding(parts, numbers)


FIGURE = Figure("fig3_10", "125 soft dipolar spheres on [0, 10]: RKN4_6b and RKN6_14a", compute, draw, (
    Claim("The number of function evaluations for the two methods is the same", "3.4", same_loads),
    Claim("The sharp increase of the error of the sixth order method is due to a too large step", "fig. 3.10",
          too_large),
    Claim("RKN4_6b is the better one at low accuracy, RKN6_14a at high accuracy", "fig. 3.10", efficiency,
          full=("below which",)),
    Claim("The main source of error is the splitting H = T + V", "3.4", rotation),
))  # fmt: skip
