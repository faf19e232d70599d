"""Accuracy against the number of load evaluations, over 1 and 100 days of the elliptic orbit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, rising
from polhode_papers.measure import whole
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
                    method = "mkrk:dp8" if label == DP8 else label
                    rtol = CHOSEN[label][k]
                    end = common.run(
                        method, common.ELLIPTIC, steps=ph.Tolerance(rtol), t_end=days * common.DAY, every=100_000
                    ).isel(time=-1)
                else:
                    h = STEPS[label][k]
                    assert whole(days * common.DAY, h)
                    end = common.last(label, common.ELLIPTIC, step=h, t_end=days * common.DAY)
                errors[i, j, k], spent[i, j, k] = np.linalg.norm(end.position - truth), end.attrs["load_evaluations"]
    over = ("days", "method", "level")
    return xr.Dataset({"error": (over, errors), "evaluations": (over, spent)},
                      {"days": list(spans), "method": list(LABELS), "level": np.arange(4)},
                      {"error": "distance from the conic at the end, km; evaluations are counted, those of "
                                "implicit methods too"})  # fmt: skip


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, (axes,) = drawing.canvas(1, 2, width=11.6, height=4.8)
    for ax, days in zip(axes, data.days.values, strict=True):
        at = {"days": days}
        table = {label: data.error.sel(at | {"method": label}) for label in LABELS}
        common.ladder_panel(
            ax, {k: data.evaluations.sel(at | {"method": k}) for k in LABELS}, table, "load evaluations", "km"
        )
        ax.set_title(f"distance from the conic after {days} day{'s' if days > 1 else ''}")
    drawing.legend_below(picture, axes[0], 6)
    return {"cost": picture}


def needed(data: xr.Dataset, days: int, label: str, error: float) -> float:
    """Evaluations needed for an error (km), by log-log interpolation between runs, extrapolated with the last slope."""
    at = {"days": days, "method": label}
    n, e = np.log(data.evaluations.sel(at).values), np.log(data.error.sel(at).values)
    k = int(np.clip(np.searchsorted(-e, -np.log(error)) - 1, 0, 2))
    return float(np.exp(n[k] + (np.log(error) - e[k]) * (n[k + 1] - n[k]) / (e[k + 1] - e[k])))


def explicit(data: xr.Dataset) -> Finding:
    measured = {label: needed(data, 1, label, 1.0) for label in LOW}
    return Finding(
        {
            "Verlet takes fewer evaluations for the same accuracy": rising(
                {k: measured[k] for k in (common.VERLET, common.SYMPLECTIC)}
            )
        },
        {"evaluations a day for 1 km": measured},
    )


def higher(data: xr.Dataset) -> Finding:
    measured = {label: needed(data, 1, label, 1e-3) for label in LABELS}
    parts = {
        f"{label} takes a tenth of what the midpoint rule does": at_most(
            measured[label] / measured[common.SYMPLECTIC], 0.1
        )
        for label in HIGH
    }
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
    T, measured = common.period(common.ELLIPTIC), {}
    for label, ladder in STEPS.items():
        h, e = np.log(ladder), np.log(data.error.sel({"days": 1, "method": label}).values)
        k = int(np.clip(np.searchsorted(-e, -np.log(1e-3)) - 1, 0, 2))
        measured[label] = float(np.exp(h[k] + (np.log(1e-3) - e[k]) * (h[k + 1] - h[k]) / (e[k + 1] - e[k])))
    parts = {
        "RK4 needs steps below a hundredth of a revolution": at_most(measured[common.RK4] / T, 0.01),
        "the symplectic midpoint rule needs none as small": rising(
            {k: measured[k] for k in (common.RK4, common.SYMPLECTIC)}
        ),
    }
    return Finding(parts, {"step for a metre after a day, s": measured, "a revolution, s": T})


FIGURE = Figure(
    "cost",
    "accuracy against cost, elliptic orbit",
    compute,
    draw,
    (
        Claim("RK and similar techniques typically require small steps to ensure precision", "objective", small_steps),
        Claim("Explicit formulations could likely improve performance", "future steps", explicit),
        Claim("Higher-order schemes should be more accurate (for the same cost)", "future steps", higher),
        Claim(
            "(left open) Geometric integration beats traditional techniques in precision for its cost",
            "future steps",
            versus,
        ),
    ),
)
