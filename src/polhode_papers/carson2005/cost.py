"""Accuracy against the number of load evaluations, over 1 and 100 days of the elliptic orbit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, rising
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

DP8, GAUSS12, GAUSS16 = "DOP853", "mkrk:gauss12", "mkrk:gauss16"
STEPS = {
    common.SYMPLECTIC: (40.0, 20.0, 10.0, 5.0),
    common.CORRECTED: (80.0, 40.0, 20.0, 10.0),
    common.VERLET: (20.0, 10.0, 5.0, 2.5),
    common.RK4: (80.0, 40.0, 20.0, 10.0),
    "s4_6": (200.0, 100.0, 50.0, 25.0),
    "rkn4_6b": (200.0, 100.0, 50.0, 25.0),
    "s6_10": (400.0, 200.0, 100.0, 50.0),
    "rkn6_14a": (400.0, 200.0, 100.0, 50.0),
    GAUSS12: (900.0, 600.0, 400.0, 300.0),
    GAUSS16: (1800.0, 1200.0, 900.0, 600.0),
}
CHOSEN = {common.RK45: (1e-6, 1e-8, 1e-10, 1e-12), DP8: (1e-7, 1e-9, 1e-11, 1e-13)}
LABELS = (*STEPS, *CHOSEN)
LOW, HIGH = (common.SYMPLECTIC, common.VERLET), ("rkn6_14a", GAUSS12, GAUSS16)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    spans = (1, 4) if quick else (1, 100)
    errors, spent = np.zeros((2, len(spans), len(LABELS), 4))
    for i, days in enumerate(spans):
        truth = common.conic(common.ELLIPTIC, days * common.DAY)[0]
        for j, label in enumerate(LABELS):
            report_progress(f"{label}, {days} days")
            for k in range(4):
                if label in CHOSEN:
                    method, chosen = "mkrk:dp8" if label == DP8 else label, ph.Tolerance(CHOSEN[label][k])
                    ds = common.run(method, common.ELLIPTIC, steps=chosen, t_end=days * common.DAY, every=100_000)
                    end = ds.isel(time=-1)
                else:
                    end = common.last(label, common.ELLIPTIC, step=STEPS[label][k], t_end=days * common.DAY)
                errors[i, j, k], spent[i, j, k] = np.linalg.norm(end.position - truth), end.attrs["load_evaluations"]
    over = ("days", "method", "level")
    return xr.Dataset({"error": (over, errors), "evaluations": (over, spent)},
                      {"days": list(spans), "method": list(LABELS), "level": np.arange(4)},
                      {"error": "distance from the conic at the end, km; evaluations are counted, those of "
                                "implicit methods too"})  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 2, width=11.6, height=4.8)
    for ax, days in zip(axes, data.days.values, strict=True):
        x, table = (common.lines_of(data[name].sel(days=days)) for name in ("evaluations", "error"))
        common.ladder_panel(ax, x, table, "load evaluations", "km")
        ax.set_title(f"distance from the conic after {days} day{'s' if days > 1 else ''}")
    drawing.legend_below(picture, axes[0], 6)
    return {"cost": picture}


def needed(data: xr.Dataset, days: int, label: str, error: float) -> float:
    """Evaluations needed for an error (km), by log-log interpolation between runs, extrapolated with the last slope."""
    line = data.sel({"days": days, "method": label})
    return where(line.evaluations.values, line.error.values, error)


def where(x: Any, errors: Any, error: float) -> float:
    """Where errors that fall along x come to this one."""
    x, e = np.log(x), np.log(errors)
    k = int(np.clip(np.searchsorted(-e, -np.log(error)) - 1, 0, 2))
    return float(np.exp(x[k] + (np.log(error) - e[k]) * (x[k + 1] - x[k]) / (e[k + 1] - e[k])))


def explicit(data: xr.Dataset) -> Finding:
    measured = {label: needed(data, 1, label, 1.0) for label in LOW}
    both = common.pick(measured, common.VERLET, common.SYMPLECTIC)
    parts = {"Verlet takes fewer evaluations for the same accuracy": rising(both)}
    return Finding(parts, {"evaluations a day for 1 km": measured})


def higher(data: xr.Dataset) -> Finding:
    measured = {label: needed(data, 1, label, 1e-3) for label in LABELS}
    share = {label: measured[label] / measured[common.SYMPLECTIC] for label in HIGH}
    parts = {f"{label} takes a tenth of what the midpoint rule does": at_most(x, 0.1) for label, x in share.items()}
    return Finding(parts, {"evaluations a day for a metre": measured})


def versus(data: xr.Dataset) -> Finding:
    """Compare for short and long arcs and two accuracies."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for days in map(int, data.days.values):
        for words, error in (("metre", 1e-3), ("millimetre", 1e-6)):
            measured = {label: needed(data, days, label, error) / days for label in (DP8, *HIGH, common.RK4)}
            at, best = f"a {words} after {days} day{'s' if days > 1 else ''}", min(measured[label] for label in HIGH)
            parts |= {f"{at}: than {k}": rising({"best of these": best, k: measured[k]}) for k in (DP8, common.RK4)}
            numbers[f"evaluations a day for {at}"] = measured
    return Finding(parts, numbers)


def small_steps(data: xr.Dataset) -> Finding:
    """Step that gives an error of one metre after a day."""
    T, errors = common.period(common.ELLIPTIC), common.lines_of(data.error.sel(days=1))
    measured = {label: where(ladder, errors[label].values, 1e-3) for label, ladder in STEPS.items()}
    both = common.pick(measured, common.RK4, common.SYMPLECTIC)
    parts = {
        "RK4 needs steps below a hundredth of a revolution": at_most(measured[common.RK4] / T, 0.01),
        "the symplectic midpoint rule needs none as small": rising(both),
    }
    return Finding(parts, {"step for a metre after a day, s": measured, "a revolution, s": T})


CLAIMS = (
    Claim("RK and similar techniques typically require small steps to ensure precision", "objective", small_steps),
    Claim("Explicit formulations could likely improve performance", "future steps", explicit),
    Claim("Higher-order schemes should be more accurate (for the same cost)", "future steps", higher),
    Claim(
        "(left open) Geometric integration beats traditional techniques in precision for its cost",
        "future steps",
        versus,
    ),
)
FIGURE = Figure("cost", "accuracy against cost, elliptic orbit", compute, draw, CLAIMS)
