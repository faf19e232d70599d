"""A thrust arc on the circular orbit: 5e-6 km/s^2 along the velocity from 20,000 to 30,000 s."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode import forces
from polhode_papers import drawing
from polhode_papers.carson2005.common import (
    CIRCULAR,
    COLOUR,
    DAY,
    GAUSS,
    HEUN,
    RK4,
    SYMPLECTIC,
    digits,
    keeps,
    ladder_panel,
    last,
    lines,
    of,
    order_of,
    run,
)  # fmt: skip
from polhode_papers.criteria import at_most, rising
from polhode_papers.measure import relative_energy_error
from polhode_papers.study import Claim, Figure, Finding, Reporter

SIZE = 5e-6  # km/s^2
BURNS = {"at ends of steps": (20_000.0, 30_000.0), "within steps": (20_003.7, 30_001.3)}
SPLIT = "s6_10"
ORDERS = {SYMPLECTIC: 2, HEUN: 2, RK4: 4, SPLIT: 6, GAUSS: 8}
STEPS = {SYMPLECTIC: (40.0, 20.0, 10.0), HEUN: (20.0, 10.0, 5.0), RK4: (20.0, 5.0, 2.5), SPLIT: (400.0, 200.0, 100.0),
         GAUSS: (800.0, 400.0, 200.0)}  # fmt: skip
REFERENCE = (("mkrk:gauss12", 50.0), ("mkrk:cv8", 10.0))
LABELS = (SYMPLECTIC, RK4, GAUSS)


def burn(at: str) -> list[forces.Force]:
    start, stop = BURNS[at]
    return [forces.thrust(SIZE, "velocity", start=start, stop=stop)]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    errors, reference_gaps = np.zeros((len(BURNS), len(ORDERS), 3)), []
    for i, at in enumerate(BURNS):
        report_progress(f"reference, {at}")
        ends = [last(method, CIRCULAR, step=h, forces=burn(at)).position.values for method, h in REFERENCE]
        reference_gaps.append(float(np.linalg.norm(ends[1] - ends[0])))
        for j, label in enumerate(ORDERS):
            report_progress(f"{label}, {at}")
            errors[i, j] = [np.linalg.norm(last(label, CIRCULAR, step=h, forces=burn(at)).position - ends[0])
                            for h in STEPS[label]]  # fmt: skip
    t = 60.0 * np.arange(round(DAY / 60.0) + 1)
    runs = [run(label, CIRCULAR, forces=burn("within steps"), t_eval=t) for label in LABELS]
    return xr.Dataset(
        {
            "energy": (("method", "time"), [ds.energy.values for ds in runs]),
            "unaccounted": (("method", "time"), [relative_energy_error(ds).values for ds in runs]),
            "error": (("burn", "scheme", "level"), errors), "steps": (("scheme", "level"), list(STEPS.values())),
        },
        {"method": list(LABELS), "time": t, "burn": list(BURNS), "scheme": list(ORDERS), "level": [0, 1, 2]},
        {"reference": ", ".join(f"{method} with steps of {h:g} s" for method, h in REFERENCE)
         + f" differ by {max(reference_gaps):.1e} km", "thrust": f"{SIZE:g} km/s^2 along the velocity"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, (axes,) = drawing.canvas(1, 3, width=12.6, height=4.0)
    lines(axes[0], data.energy, (GAUSS,))
    digits(axes[0], 3)
    axes[0].set_title("energy (km²/s² for 1 kg)")
    for label in LABELS:
        y = np.abs(data.unaccounted.sel({"method": label}))
        axes[1].semilogy(data.time / 3600, y.where(y > 0), color=COLOUR[label], linewidth=0.8)
    axes[1].set(
        title="change less the work of the thrust",
        xlabel="time (h)",
        ylabel="relative to the energy",
        ylim=(1e-17, 1e-3),
    )
    within = data.error.sel(burn="within steps")
    table = {str(label): within.sel(scheme=label) for label in data.scheme.values}
    ladder_panel(axes[2], {str(k): data.steps.sel(scheme=k) for k in data.scheme.values}, table, "step (s)", "km")
    axes[2].set_title("error at the end, burn within steps")
    drawing.legend_below(picture, axes[2], 5)
    return {"thrust": picture}


def orders(data: xr.Dataset) -> Finding:
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for at in BURNS:
        measured = {
            k: order_of(data.steps.sel(scheme=k).values, data.error.sel(burn=at, scheme=k).values) for k in ORDERS
        }
        parts |= {f"{k}, burn {at}": keeps(measured[k], p) for k, p in ORDERS.items()}
        numbers[f"orders, burn {at}"] = measured
    return Finding(parts, numbers)


def accounted(data: xr.Dataset) -> Finding:
    """Energy change minus work is the energy error of the method."""
    gained = {label: float(of(data.energy, label)[-1] - of(data.energy, label)[0]) for label in LABELS}
    residual = {label: float(np.abs(of(data.unaccounted, label)).max()) for label in LABELS}
    share = {label: residual[label] * abs(float(of(data.energy, label)[0])) / gained[label] for label in LABELS}
    parts = {
        f"{label}: all but a ten-thousandth of the gain is work of the thrust": at_most(share[label], 1e-4)
        for label in LABELS
    }
    parts[f"{GAUSS}: all but round-off"] = at_most(residual[GAUSS], 1e-12)
    return Finding(parts, {"gained": gained, "change less work, relative to the energy": residual})


def better(data: xr.Dataset) -> Finding:
    at = data.error.sel(burn="within steps")
    e = {k: float(at.sel(scheme=k)[list(STEPS[k]).index(20.0)]) for k in (SYMPLECTIC, HEUN, RK4)}
    return Finding({f"than {k}": rising({SYMPLECTIC: e[SYMPLECTIC], k: e[k]}) for k in (HEUN, RK4)},
                   {"error at the end, steps of 20 s, km": e})  # fmt: skip


FIGURE = Figure(
    "thrust",
    f"a thrust arc, {DAY:g} s",
    compute,
    draw,
    (
        Claim(
            "RK methods can incorporate non-conservative forces and starts and stops, with known accuracies",
            "objective, future",
            orders,
        ),
        Claim(
            "(to be examined) How non-conservative thrust enters: its work is the change of the energy",
            "objective",
            accounted,
        ),
        Claim("(left open) The symplectic integrator is the more accurate with thrust", "future steps", better),
    ),
)
