"""Where the exact rotation pays: 125 distant soft dipolar spheres that rotate with temperature 1. Not in the paper.

The error of a splitting with exact parts vanishes with the interaction, that of MR does not. So the strength of the
interaction matters, not the energy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.celledoni2008 import spheres
from polhode_papers.criteria import at_least, at_most, every
from polhode_papers.study import Claim, Figure, Finding, Reporter

SPACING, SPACINGS, QUICK_SPACINGS = 4.0, (2.0, 3.0, 4.0, 6.0, 8.0, 12.0), (2.0, 4.0, 8.0)
SPAN, FIXED = 1.0, 80
"""Time span, and evaluations per unit time for varying spacing."""
EVALUATIONS = tuple(10 * 2**i for i in range(7))
QUICK_EVALUATIONS = EVALUATIONS[:5]
STATES, QUICK_STATES = 8, 2
BETTER = ("S4_6", "RKN4_6b", "S6_10", "RKN6_14a")


def one_state(case: tuple[int, tuple[float, ...], tuple[int, ...]]) -> tuple[Any, Any, float]:
    """Energy errors (scheme, flow, evaluations) at ``SPACING`` and (spacing, scheme, flow), and the energy."""
    seed, spacings, evaluations = case
    system = spheres.spheres()
    start, H0 = spheres.raised(system, spheres.lattice_draw(SPACING, seed, True))
    ladder = np.moveaxis(np.array([spheres.errors(system, start, wanted, SPAN) for wanted in evaluations]), 0, -1)
    wide = np.array([spheres.errors(system, spheres.lattice_draw(a, seed, True), FIXED, SPAN) for a in spacings])
    return ladder, wide, H0


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    count = QUICK_STATES if quick else STATES
    spacings, evaluations = (QUICK_SPACINGS, QUICK_EVALUATIONS) if quick else (SPACINGS, EVALUATIONS)
    cases = [(seed, spacings, evaluations) for seed in range(count)]
    ladder, wide, energy = map(np.array, zip(*spheres.each(one_state, cases, report_progress), strict=True))
    return xr.Dataset(
        {
            "energy_error": (("scheme", "flow", "wanted"), np.median(ladder, axis=0)),
            "error_by_spacing": (("spacing", "scheme", "flow"), np.median(wide, axis=0)),
        },
        dict(scheme=list(spheres.SCHEMES), flow=list(spheres.FLOWS), wanted=list(evaluations), spacing=list(spacings)),
        {
            "H0": f"{energy.mean():.0f}",
            "states": f"{count} draws of the lattice, bodies at rest but rotating with temperature 1",
            "energy error": f"median over the states of the largest |H - H0| over [0, {SPAN:g}]",
        },
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.5, height=4.6)
    for scheme, flow in spheres.pairs_of().values():
        line = data.sel(scheme=scheme, flow=flow)
        error = line.energy_error.where(np.isfinite(line.energy_error))
        left.loglog(data.wanted, error, **spheres.line_style(scheme, flow))
        if flow != spheres.EXACT:
            gain = gains(data.error_by_spacing, flow).sel(scheme=scheme)
            right.loglog(data.spacing, gain, **spheres.line_style(scheme, flow))
    left.set(xlabel="potential evaluations in a unit of time", ylabel="largest $|H - H_0|$ over [0, 1]",
             title=f"lattice spacing {SPACING:g}")  # fmt: skip
    right.axhline(1.0, color="0.4", linewidth=0.8)
    right.set(xlabel="lattice spacing", ylabel="error with MR / with the exact rotation", title=f"{FIXED} evaluations")
    right.set_xticks(data.spacing.values, [f"{a:g}" for a in data.spacing.values])
    right.minorticks_off()
    spheres.legend_below(picture, left, 5)
    return {"rotating": picture}


# ------------------------------------------------------------------ judges
def gains(errors: xr.DataArray, flow: str) -> xr.DataArray:
    """Ratios of errors, MR over exact rotation; NaN where a run is lost or the error is round-off."""
    fine = errors.where(np.isfinite(errors))
    fine = fine.where(errors.sel(flow=spheres.EXACT) > spheres.ROUND_OFF)
    return fine.sel(flow=flow) / fine.sel(flow=spheres.EXACT)


def extremes(values: xr.DataArray) -> dict[str, str]:
    """Smallest and largest value by scheme, as text."""
    rows = {name: values.sel(scheme=name) for name in spheres.SCHEMES}
    return {name: f"{float(row.min()):.2g} to {float(row.max()):.2g}" for name, row in rows.items()}


def pays(data: xr.Dataset) -> Finding:
    """Judge whether the exact rotation has far smaller errors at equal evaluations."""
    boosted, plain = (gains(data.energy_error, flow) for flow in (spheres.BOOSTED, spheres.MR))
    parts = {
        f"{name}: error with {words} MR / exact, least": at_least(float(gain.sel(scheme=name).min()), least)
        for words, gain, least in (("boosted", boosted, 2.0), ("plain", plain, 10.0))
        for name in BETTER
    }
    return Finding(parts, {"error with boosted MR / exact": extremes(boosted), "with plain MR": extremes(plain)})


def only_low(data: xr.Dataset) -> Finding:
    """Judge whether the advantage requires a low energy; here most of the energy is rotational."""
    wide = {flow: gains(data.error_by_spacing, flow) for flow in (spheres.BOOSTED, spheres.MR)}
    far, near = (wide[spheres.MR].isel(spacing=k).sel(scheme=list(BETTER)) for k in (-1, 0))
    parts = {
        "the advantage is clear: error with plain MR / exact, widest lattice, least": at_least(float(far.min()), 10.0),
        "the energy is low: H0": at_most(float(data.attrs["H0"]), 125.0),
    }
    numbers: dict[str, Any] = {"H0": data.attrs["H0"]}
    for flow, values in wide.items():
        for name in spheres.SCHEMES:
            row = zip(data.spacing.values, values.sel(scheme=name).values, strict=True)
            kept = {f"{a:g}": float(x) for a, x in row if np.isfinite(x)}
            numbers[f"error with {flow} / exact, {name}, by spacing"] = kept
    grown = {name: float(far.sel(scheme=name) / near.fillna(1.0).sel(scheme=name)) for name in BETTER}
    parts["it grows as the interaction weakens: widest over closest lattice"] = every(grown, at_least, 2.0)
    return Finding(parts, numbers)


FIGURE = Figure("rotating", "soft dipolar spheres that rotate: where exact rotation pays", compute, draw, (
    Claim("The use of an exact rotation is favourable for simulations where higher precision is required", "3.4",
          pays),
    Claim("In molecular dynamics the exact rotation gives a clear advantage only in the low energy case", "4",
          only_low),
))  # fmt: skip
