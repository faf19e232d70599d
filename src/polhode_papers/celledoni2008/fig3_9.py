"""Figure 3.9: 125 soft dipolar spheres on a lattice; mean energy error against cost for several energies H0.

The paper gives the sites (1, 1, 1) to (5, 5, 5), but none of its energies H0. On that lattice bodies touch, and the
potential energy alone is 1,240. Wider lattices, with lower energies, are shown as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008 import spheres
from polhode_papers.study import Claim, Figure, Finding, Reporter

SETTINGS: Mapping[str, tuple[float, float | None]] = {
    "spacing 1, from rest": (1.0, None), "spacing 2, H0 = 15": (2.0, 15.0), "spacing 3, H0 = 20": (3.0, 20.0),
    "spacing 3, H0 = 10": (3.0, 10.0), "spacing 3, H0 = 5": (3.0, 5.0),
}  # fmt: skip
"""Lattice spacing and energy H0 (None: bodies at rest), which every draw of the orientations allows."""
PRINTED, TOUCHING, HIGHEST, HIGHER, LOWEST = SETTINGS
FASTER = 2000.0
"""An energy H0 on the printed lattice at which the two corner bodies move."""
BASIC_STEPS = (1.0, 0.5, 0.25, 0.125)  # of S6_10 [celledoni2008, 3.4]
SPAN = 1.0
STATES, QUICK_STATES = 100, 3
FAST_STATES = 10
TIMED = 56
HALF = 0.5
"""Means are shown if at least this share of the runs is not lost."""


def one_state(seed: int) -> tuple[Any, Any]:
    """Energy errors (setting, scheme, flow, step) and initial energies (setting) of one draw."""
    system = spheres.spheres()
    error = np.zeros((len(SETTINGS), len(spheres.SCHEMES), len(spheres.FLOWS), len(BASIC_STEPS)))
    energy = np.zeros(len(SETTINGS))
    for a, (spacing, H0) in enumerate(SETTINGS.values()):
        start, energy[a] = spheres.raised(system, spheres.lattice_draw(spacing, seed), H0)
        for s, basic in enumerate(BASIC_STEPS):
            error[a, :, :, s] = spheres.errors(system, start, 10.0 / basic, SPAN)
    return error, energy


def lost_at_speed(count: int) -> Any:
    """Share of lost runs (scheme, step) with the exact rotation, on the printed lattice with energy ``FASTER``."""
    system = spheres.spheres()
    found = np.zeros((count, len(spheres.SCHEMES), len(BASIC_STEPS)))
    for seed in range(count):
        start, _ = spheres.raised(system, spheres.lattice_draw(1.0, seed), FASTER)
        for i, scheme in enumerate(spheres.SCHEMES):
            counts = [spheres.steps_of(scheme, 10.0 / basic, SPAN) for basic in BASIC_STEPS]
            method = spheres.method_of(scheme, spheres.EXACT)
            found[seed, i] = [spheres.error_of(system, method, start, n, SPAN) for n in counts]
    return np.isinf(found).mean(axis=0)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    count = QUICK_STATES if quick else STATES
    error, energy = map(np.array, zip(*spheres.each(one_state, range(count), report_progress), strict=True))
    lost = np.isinf(error).mean(axis=0)
    shown = lost <= 1.0 - HALF
    # lost runs are left out of means; in ratios they are infinite, and so is the median if most runs are lost
    total = np.where(np.isinf(error), 0.0, error).sum(axis=0)
    mean = total / np.maximum(1.0, (1.0 - lost) * count)
    either = np.isinf(error) | np.isinf(error[:, :, :, :1])
    ratio = np.where(either, np.inf, error) / np.where(either, 1.0, error[:, :, :, :1])
    typical = np.median(ratio, axis=0)
    report_progress("time")
    system = spheres.spheres()
    start, _ = spheres.raised(system, spheres.lattice_draw(SETTINGS[LOWEST][0], 0))
    per_step = spheres.seconds_per_step(system, start, 1e-3, 3 if quick else 15, TIMED)
    wanted = [10.0 / basic for basic in BASIC_STEPS]
    steps = np.array([[spheres.steps_of(scheme, n, SPAN) for n in wanted] for scheme in spheres.SCHEMES])
    dims = ("setting", "scheme", "flow", "basic_step")
    return xr.Dataset(
        {
            "energy_error": (dims, np.where(shown, mean, np.nan)),
            "lost": (dims, lost),
            "over_exact": (dims, np.where(np.isfinite(typical), typical, np.nan)),
            "lost_at_speed": (("scheme", "basic_step"), lost_at_speed(min(count, FAST_STATES))),
            "evaluations": (("scheme", "basic_step"), steps * np.array([[s] for s, _ in spheres.SCHEMES.values()])),
            "seconds": (dims[1:], per_step[:, :, None] * steps[:, None, :]),
            "start_energy": (("of", "setting"), [energy.min(axis=0), energy.mean(axis=0), energy.max(axis=0)]),
        },
        {"setting": list(SETTINGS), "scheme": list(spheres.SCHEMES), "flow": list(spheres.FLOWS),
         "basic_step": list(BASIC_STEPS), "of": ["lowest", "mean", "highest"]},
        {
            "states": f"{count} draws, lattice sites off by 1 %, orientations uniform; the first and the last body get "
            "the momentum that makes up H0, towards each other",
            "energy error": f"mean over the runs that are not lost of the largest |H - H0| over [0, {SPAN:g}]",
            "lost": f"runs that blow up, or whose energy is off by more than {spheres.LOST:g} for each body; no mean "
            "is given where more than half of them are",
            "over exact": "median over the states of the error over that with the exact rotation",
            "time": "steps times the time of one, the best of some rounds in which all methods take turns",
        },
    )  # fmt: skip


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, axes = drawing.canvas(2, 3, width=12.0, height=3.6)
    for ax, (setting, (_, H0)) in zip(axes.flat, SETTINGS.items(), strict=False):
        errors = data.energy_error.sel(setting=setting)
        for scheme, flow in spheres.pairs_of().values():
            line = data.sel(scheme=scheme, flow=flow)
            ax.loglog(line.seconds, errors.sel(scheme=scheme, flow=flow), **spheres.line_style(scheme, flow))
        mean = float(data.start_energy.sel(setting=setting, of="mean"))
        ax.set(title=setting if H0 else f"{setting}, mean H0 = {mean:.0f}", xlabel="time on one thread (s)")
        ax.set_xlim(float(data.seconds.min()) / 1.3, float(data.seconds.max()) * 1.3)
        if not np.isfinite(errors).any():
            drawing.empty(ax, "more than half of the runs are lost\nwith every scheme and every step")
    for row in axes:
        row[0].set_ylabel("mean of largest $|H - H_0|$")
    *_, last = axes.flat
    last.set_axis_off()
    last.legend(*axes.flat[0].get_legend_handles_labels(), loc="center", ncols=1, frameon=False, handlelength=4)
    return {"fig3_9": picture, "fig3_9_lost": lost_picture(data)}


def lost_picture(data: xr.Dataset) -> Picture:
    """Share of lost runs with the exact rotation: one row per scheme, one column per step."""
    picture, (axes,) = drawing.canvas(1, len(SETTINGS), width=12.0, height=2.7, sharey=True)
    for ax, setting in zip(axes, SETTINGS, strict=True):
        values = data.lost.sel(setting=setting, flow=spheres.EXACT).values
        image = ax.imshow(values, vmin=0.0, vmax=1.0, cmap="Reds", aspect="auto")
        for (i, k), value in np.ndenumerate(values):
            ax.annotate(f"{100 * value:.0f}", (k, i), ha="center", va="center", color="white" if value > 0.6 else "0.2")
        ax.set_title(setting)
        ax.set_xticks(range(len(BASIC_STEPS)), [f"{10 / h:g}" for h in BASIC_STEPS])
        ax.set(xlabel="evaluations")
        ax.grid(visible=False)
    axes[0].set_yticks(range(len(spheres.SCHEMES)), list(spheres.SCHEMES))
    picture.colorbar(image, ax=axes, label="part of the runs lost (in the cells: %)", shrink=0.9, pad=0.01)
    return picture


# ------------------------------------------------------------------ judges
STEPS = "at 10, 20, 40, 80 evaluations"


def ratios(data: xr.Dataset, setting: str, flow: str) -> xr.DataArray:
    """Ratios of errors, MR over exact rotation, by scheme and step, where runs are not lost."""
    return data.over_exact.sel(setting=setting, flow=flow)


def at_each(values: xr.DataArray, schemes: tuple[str, ...] = tuple(spheres.SCHEMES)) -> dict[str, str]:
    """Values at all steps by scheme, as text."""
    return {name: ", ".join(f"{float(x):.3g}" for x in values.sel(scheme=name)) for name in schemes}


def usable(data: xr.Dataset) -> Finding:
    """Judge whether runs survive the printed steps on the printed lattice."""
    lost = data.lost.sel(setting=PRINTED, flow=spheres.EXACT)
    energy = data.start_energy.sel(setting=PRINTED)
    ours = lost.sel(scheme="S6_10")
    words = "part of the runs of S6_10 that is lost, from rest"
    steps = ours.basic_step.values
    parts = {f"step {h:g}: {words}": criteria.at_most(float(ours.sel(basic_step=h)), 0.1) for h in steps}
    most = float(data.lost_at_speed.sel(scheme="S6_10").max())
    parts[f"at any step, with H0 = {FASTER:g}"] = criteria.at_most(most, 0.1)
    return Finding(parts, {
        "H0 from rest": f"{float(energy[0]):.0f} to {float(energy[-1]):.0f}",
        f"part lost {STEPS}, from rest": at_each(lost),
        f"part lost {STEPS}, H0 = {FASTER:g}": at_each(data.lost_at_speed),
        f"mean error {STEPS}, from rest": at_each(data.energy_error.sel(setting=PRINTED, flow=spheres.EXACT)),
    })  # fmt: skip


def small_energies(data: xr.Dataset) -> Finding:
    """Judge whether the exact rotation has the smaller error at the lowest energy and smallest step."""
    plain, boosted = (ratios(data, LOWEST, flow) for flow in (spheres.MR, spheres.BOOSTED))
    last = {name: (float(plain.sel(scheme=name)[-1]), float(boosted.sel(scheme=name)[-1])) for name in spheres.SCHEMES}
    parts = {f"{name}: error with MR / exact, smallest step": criteria.at_least(
        last[name][0], 2.0 if name in spheres.HIGH else 1.1) for name in spheres.SCHEMES}  # fmt: skip
    parts |= {f"{name}: error with boosted MR / exact, smallest step": criteria.at_least(last[name][1], 1.1)
              for name in spheres.HIGH}  # fmt: skip
    words = f"/ exact, {LOWEST}, {STEPS}"
    return Finding(parts, {f"error with MR {words}": at_each(plain), f"with boosted MR {words}": at_each(boosted)})


def higher_energies(data: xr.Dataset) -> Finding:
    """Judge whether the free rotation makes no difference at higher energies."""
    parts, numbers = {}, {}
    for setting in (PRINTED, TOUCHING, HIGHEST):
        for flow in (spheres.MR, spheres.BOOSTED):
            measured = ratios(data, setting, flow)
            factor = float(np.exp(np.abs(np.log(measured)).max()))
            parts[f"{setting}, {flow}: error over exact, or exact over it"] = criteria.within(factor, 1.0, 1.1)
            numbers[f"error with {flow} / exact, {setting}, {STEPS}"] = at_each(measured)
    return Finding(parts, numbers)


def earlier(data: xr.Dataset) -> Finding:
    """Judge whether the advantage of the exact rotation appears at larger steps if the energy is low."""
    measured = {}
    for setting in (LOWEST, HIGHER, HIGHEST):
        worse = ratios(data, setting, spheres.MR) > 1.5
        steps = worse.basic_step.where(worse).max("basic_step").fillna(0.0)
        measured[setting] = {name: float(steps.sel(scheme=name)) for name in spheres.HIGH}
    energies = {"H0 = 20": HIGHEST, "10": HIGHER, "5": LOWEST}
    words, least = "at a larger step with the lowest energy than with the highest", float(data.basic_step.min())
    larger = {name: measured[LOWEST][name] - measured[HIGHEST][name] for name in spheres.HIGH}
    parts = {f"{name}: {words}": criteria.at_least(x, least) for name, x in larger.items()}
    for name in spheres.HIGH:
        steps = [measured[setting][name] for setting in energies.values()]
        parts[f"{name}: later, the higher H0 is"] = criteria.fact(
            steps == sorted(steps), "largest such steps do not fall from " + " to ".join(energies),
            dict(zip(energies, steps, strict=True)),
        )  # fmt: skip
    return Finding(parts, {f"largest step of S6_10 from which plain MR is 1.5 times worse (0: none), {setting}": row
                           for setting, row in measured.items()})  # fmt: skip


FIGURE = Figure("fig3_9", "125 soft dipolar spheres: mean energy error for several energies", compute, draw, (
    Claim("On the lattice (1, 1, 1) to (5, 5, 5) runs with the steps 1, 1/2, 1/4 and 1/8 of S6_10 have mean errors",
          "3.4", usable),
    Claim("For small energies the schemes with the exact rotation perform better than those with MR", "fig. 3.9",
          small_energies),
    Claim("For higher energies the error of the splitting H = T + V dominates", "fig. 3.9", higher_energies),
    Claim("For low energies the error with the exact rotation becomes smaller at a larger step", "3.4", earlier),
))  # fmt: skip
