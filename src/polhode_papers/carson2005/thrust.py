"""A thrust arc on the circular orbit: 5e-6 km/s^2 along the velocity from 20,000 to 30,000 s."""

from __future__ import annotations

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, rising
from polhode_papers.measure import relative_energy_error
from polhode_papers.study import Claim, Figure, Finding, Reporter

SIZE = 5e-6  # km/s^2
BURNS = {"at ends of steps": (20_000.0, 30_000.0), "within steps": (20_003.7, 30_001.3)}
SPLIT = "s6_10"
ORDERS = {common.SYMPLECTIC: 2, common.HEUN: 2, common.RK4: 4, SPLIT: 6, common.GAUSS: 8}
STEPS = {
    common.SYMPLECTIC: (40.0, 20.0, 10.0), common.HEUN: (20.0, 10.0, 5.0), common.RK4: (20.0, 5.0, 2.5),
    SPLIT: (400.0, 200.0, 100.0), common.GAUSS: (800.0, 400.0, 200.0),
}  # fmt: skip
REFERENCE = (("mkrk:gauss12", 50.0), ("mkrk:cv8", 10.0))
LABELS = (common.SYMPLECTIC, common.RK4, common.GAUSS)


def burn(at: str) -> list[ph.forces.Force]:
    start, stop = BURNS[at]
    return [ph.forces.thrust(SIZE, "velocity", start=start, stop=stop)]


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    errors, reference_gaps = np.zeros((len(BURNS), len(ORDERS), 3)), []
    for i, at in enumerate(BURNS):
        report_progress(f"reference, {at}")
        truth, gap = common.reference(REFERENCE, common.CIRCULAR, burn(at))
        reference_gaps.append(gap)
        for j, label in enumerate(ORDERS):
            report_progress(f"{label}, {at}")
            runs = [common.last(label, common.CIRCULAR, step=h, forces=burn(at)) for h in STEPS[label]]
            errors[i, j] = [np.linalg.norm(run.position - truth) for run in runs]
    t = 60.0 * np.arange(round(common.DAY / 60.0) + 1)
    runs = [common.run(label, common.CIRCULAR, forces=burn("within steps"), t_eval=t) for label in LABELS]
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


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 3, width=12.6, height=4.0)
    common.lines(axes[0], data.energy, (common.GAUSS,))
    common.digits(axes[0], 3)
    axes[0].set_title("energy (km²/s² for 1 kg)")
    for label in LABELS:
        y = np.abs(data.unaccounted.sel({"method": label}))
        axes[1].semilogy(data.time / 3600, y.where(y > 0), color=common.COLOUR[label], linewidth=0.8)
    axes[1].set(title="change less the work of the thrust", xlabel="time (h)", ylabel="relative to the energy")
    axes[1].set_ylim(1e-17, 1e-3)
    common.order_panel(axes[2], data, "error at the end, burn within steps", burn="within steps")
    drawing.legend_below(picture, axes[2], 5)
    return {"thrust": picture}


def orders(data: xr.Dataset) -> Finding:
    return Finding.joined(common.orders_kept(data, ORDERS, f"burn {at}", burn=at) for at in BURNS)


def accounted(data: xr.Dataset) -> Finding:
    """Energy change minus work is the energy error of the method."""
    gained = {label: float(common.of(data.energy, label)[-1] - common.of(data.energy, label)[0]) for label in LABELS}
    residual = {label: float(np.abs(common.of(data.unaccounted, label)).max()) for label in LABELS}
    share = {label: residual[label] * abs(float(common.of(data.energy, label)[0])) / gained[label] for label in LABELS}
    words = "all but a ten-thousandth of the gain is work of the thrust"
    parts = {f"{label}: {words}": at_most(share[label], 1e-4) for label in LABELS}
    parts[f"{common.GAUSS}: all but round-off"] = at_most(residual[common.GAUSS], 1e-12)
    return Finding(parts, {"gained": gained, "change less work, relative to the energy": residual})


def better(data: xr.Dataset) -> Finding:
    at = data.error.sel(burn="within steps")
    e = {k: float(at.sel(scheme=k)[list(STEPS[k]).index(20.0)]) for k in (common.SYMPLECTIC, common.HEUN, common.RK4)}
    parts = {f"than {k}": rising(common.pick(e, common.SYMPLECTIC, k)) for k in (common.HEUN, common.RK4)}
    return Finding(parts, {"error at the end, steps of 20 s, km": e})


CLAIMS = (
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
)
FIGURE = Figure("thrust", f"a thrust arc, {common.DAY:g} s", compute, draw, CLAIMS)
