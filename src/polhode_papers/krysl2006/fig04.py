"""Figure 4: soft wall, H/H0 of the reference algorithms over 40,000 steps of 0.5."""

from __future__ import annotations

import xarray as xr

from polhode_papers.criteria import at_least, count, every
from polhode_papers.drawing import Pictures
from polhode_papers.krysl2006.common import FELL, RIVALS, STEP, STEPS, by_method, by_step, shown, wall_pictures
from polhode_papers.study import Claim, Figure, Finding

WINDOW = (0.9, 1.1)


def draw(data: xr.Dataset) -> Pictures:
    return wall_pictures(data, "fig04", RIVALS, 3, WINDOW)


def turns(data: xr.Dataset) -> Finding:
    median, largest = by_method(data.rotation_median_deg), by_method(data.rotation_max_deg)
    parts = {"median rotation in a step, degrees": every(median, at_least, 30.0)}
    shares = by_method(data.share_over_30_deg)
    return Finding(parts, {"median, degrees": median, "largest, degrees": largest, "share of steps over 30": shares})


def varies(data: xr.Dataset) -> Finding:
    ranges = by_method(data.half_range.sel(start=0))
    return Finding({"half-range of H/H0": every(ranges, at_least, 1e-4)}, {"half-range": ranges})


def none_blows_up(data: xr.Dataset) -> Finding:
    steps = {label: data.steps_kept.sel({"method": label}) for label in RIVALS}
    lost = {label: f"{int((kept < STEPS).sum())} of {int(kept.count())}" for label, kept in steps.items()}
    fewest = {label: float(kept.min()) for label, kept in steps.items()}
    parts = {f"steps with |H/H0 - 1| <= {FELL:g}, least of all starts": every(fewest, at_least, STEPS)}
    earliest = {label: count(kept.min()) for label, kept in steps.items()}
    first = {label: str(data.outcome.sel({"method": label}).values) for label in RIVALS}
    return Finding(parts, {"starts that are lost": lost, "earliest step": earliest, "the printed start": first})


def irregular(data: xr.Dataset) -> Finding:
    wander = by_method(data.wander, RIVALS)
    return Finding(
        {"moves of the mean of H between tenths of the run, in half-ranges": every(wander, at_least, 0.2)},
        {"moves of the mean, in half-ranges": wander},
    )


def physical(data: xr.Dataset) -> Finding:
    ends, errors = data.physical_outcome, data.physical_largest_error
    through = by_step((ends == "completed").sum("method"))
    how = {str(x.method.values): str(x.values) for x in ends.sel(physical_step=STEP)}
    largest = {f"largest |H/H0 - 1|, step {h}": by_method(errors.sel(physical_step=float(h))) for h in through}
    parts = {f"methods that a step of {STEP} carries through": at_least(through[f"{STEP:g}"], 1)}
    return Finding(parts, {f"methods of {len(how)} that complete, by step": through, f"step {STEP}": how} | largest)


FIGURE = Figure("fig04", "soft wall, 40,000 steps of 0.5: H/H0 of AKW, BBTRAP, SWC1", shown(RIVALS), draw, (
    Claim("A step of 0.5 leads to rotations within a time step of well over 30 degrees", "5.4", turns),
    Claim("None of the algorithms is able to conserve the Hamiltonian of this system exactly", "5.4", varies),
    Claim("None of the solutions of the reference algorithms blow up", "5.4", none_blows_up),
    Claim("Their long-term behaviour displays an irregular pattern", "5.4", irregular),
    Claim("An attractive potential with a repelling wall can be run at a step of 0.5", "5.4", physical),
))  # fmt: skip
