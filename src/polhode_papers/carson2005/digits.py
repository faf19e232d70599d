"""Fifteen significant digits: how many the integrators deliver after the paper's day, and how many are possible.

Reference positions after a day are from Kepler's equation in 50 digits, for the initial data rounded to doubles, as any
program receives them, and for the decimal data of table 1.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_least
from polhode_papers.drawing import BLUE, GREY, VERMILION, Pictures, canvas, legend_below
from polhode_papers.measure import named, unwarned
from polhode_papers.study import Claim, Figure, Finding, Reporter

ORBITS = (common.CIRCULAR, common.ELLIPTIC)
OF_DOUBLES = {common.CIRCULAR: ("400.2457264514520369964908", "-1615.176612390264378515415"),
              common.ELLIPTIC: ("594.5818777561507686235668", "-2686.708951770017005271682")}  # fmt: skip
OF_DECIMALS = {common.CIRCULAR: ("400.2457264514720746791508", "-1615.17661239025977977367"),
               common.ELLIPTIC: ("594.5818777561796069499105", "-2686.70895177000950769525")}  # fmt: skip
"""x and y after 86,400 s, km, for the data as doubles and as decimals."""

GAUSS, TIGHT, EXACT = "Gauss 16, 64 s", "RK45, rtol 1e-13", "exact flow"
PAPERS = (common.SYMPLECTIC, common.HEUN, common.RK4, TIGHT)
OURS = ("rkn6_14a, 10 s", "the same, compensated", GAUSS, "Gauss 16, compensated", EXACT)
COMPENSATED = (OURS[1], OURS[3])
TIGHTEST = ph.Tolerance(1e-13, 1e-13)


@unwarned()
def ends(name: str) -> dict[str, tuple[Any, float]]:
    """Position after a day (km) and step (s) by method; the step is NaN if the method chooses it."""
    n = {"rkn6_14a": 10.0, "mkrk:gauss16": 64.0}
    results = {
        label: (common.last(label, name, step=common.STEP).position.values, common.STEP)
        for label in (common.SYMPLECTIC, common.HEUN, common.RK4)
    }
    results[TIGHT] = (common.run(common.METHODS["RK45"], name, steps=TIGHTEST).position.values[-1], np.nan)
    rows = iter(OURS)
    for method, h in n.items():
        for compensated in (False, True):
            ds = ph.integrate(ph.orbit(common.MU), method, step=h, t_end=common.DAY, every=round(common.DAY / h),
                           settings={"compensated": compensated}, **common.STARTS[name])  # fmt: skip
            results[next(rows)] = (ds.position.values[-1], h)
    results[EXACT] = (common.last("kepler", name, step=common.DAY).position.values, common.DAY)
    return results


def digits(position: Any, truth: tuple[str, str]) -> float:
    """Significant digits of a position: -log10 of its relative error, at most 17."""
    error = [float(Decimal(float(x)) - Decimal(y)) for x, y in zip(position[:2], truth, strict=True)]
    return float(-np.log10(max(float(np.linalg.norm([*error, position[2]]) / np.linalg.norm(position)), 1e-17)))


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    results = {}
    for name in ORBITS:
        report_progress(name)
        results[name] = {label: digits(position, OF_DOUBLES[name]) for label, (position, _) in ends(name).items()}
    bound = [digits(np.array([*map(float, OF_DOUBLES[name]), 0.0]), OF_DECIMALS[name]) for name in ORBITS]
    return xr.Dataset(
        {"digits": (("orbit", "method"), [[*values.values()] for values in results.values()]),
         "of_data": ("orbit", bound)},
        {"orbit": list(ORBITS), "method": [*PAPERS, *OURS]},
        {"truth": "Kepler's equation in 50 digits, from the initial data rounded to doubles",
         "steps": f"{common.STEP:g} s for the methods of the paper, RK45 with tolerances of {TIGHTEST.rtol:g}"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((ax,),) = canvas(1, 1, width=9.0, height=4.2)
    rows = np.arange(data.method.size)
    for k, (name, colour) in enumerate(zip(ORBITS, (BLUE, VERMILION), strict=True)):
        ax.barh(rows + 0.2 * (2 * k - 1), data.digits.sel(orbit=name), 0.36, color=colour, label=f"{name} orbit")
        ax.axvline(float(data.of_data.sel(orbit=name)), color=colour, linewidth=0.9, linestyle=":")
    ax.axvline(15.0, color=GREY, linewidth=1.2)
    ax.annotate("fifteen", (15.0, 0.0), (4, 0), textcoords="offset points", va="center", color=GREY)
    ax.set_yticks(rows, data.method.values)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlim=(0, 18), xlabel="significant digits of the place after a day (dotted: of the decimal data as doubles)")
    legend_below(picture, ax, 2)
    return {"digits": picture}


# ------------------------------------------------------------------ verdicts
def delivered(labels: tuple[str, ...], least: float, data: xr.Dataset) -> Finding:
    worst = data.digits.min("orbit")
    parts = {f"{k}: {least:g} digits, both orbits": at_least(float(worst.sel({"method": k})), least) for k in labels}
    return Finding(parts, {f"digits, {name}": named(data.digits.sel(orbit=name)) for name in ORBITS})


def of_data(data: xr.Dataset) -> Finding:
    measured = named(data.of_data)
    parts = {f"{name}: rounding table 1 to doubles leaves fifteen digits of the place": at_least(x, 15.0)
             for name, x in measured.items()}  # fmt: skip
    return Finding(parts, {"digits left after a day": measured})


FIGURE = Figure("digits", "fifteen significant digits after a day", compute, draw, (
    Claim("Up to fifteen significant digits are required: the integrators of the paper deliver them", "abstract",
          lambda d: delivered(PAPERS, 15.0, d)),
    Claim("(done here) They can be delivered: by the exact flow", "abstract", lambda d: delivered((EXACT,), 15.0, d)),
    Claim("(done here) They can be delivered: by steps, in doubles", "abstract",
          lambda d: delivered(OURS[:-1], 15.0, d)),
    Claim("(done here) Steps with compensated sums deliver all that round-off in the state leaves, over 13.5 digits",
          "abstract", lambda d: delivered(COMPENSATED, 13.5, d)),
    Claim("(not said) Initial data in doubles are good enough for them", "abstract", of_data),
))  # fmt: skip
