"""Figure 2: slow Lagrangian top, convergence in body momentum and attitude at t = 20."""

from __future__ import annotations

import xarray as xr

import polhode as ph
from polhode_papers.criteria import at_most
from polhode_papers.drawing import Pictures
from polhode_papers.krysl2006.common import ALL, PRESENT, RIVALS, by_method, convergence_picture, second_order
from polhode_papers.measure import NORMS, convergence
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

TOP = ph.heavy_top(inertia=(5.0, 5.0, 1.0), center_of_mass=(0.0, 0.0, 1.0), weight=20.0)  # [krysl2006, 5.2]
INITIAL = {"attitude": ph.rotation.exp_quaternion((0.05, 0.0, 0.0)), "angular_velocity": (0.0, 0.0, 5.0)}
T_END = 20.0
STEPS = (0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625)
AT = 0.0125  # where methods are compared


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    return convergence(TOP, INITIAL, ALL, STEPS[3:6] if quick else STEPS, T_END, 0.005, report_progress)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig02": convergence_picture({"slow top, $t = 20$": data})}


def outstanding(data: xr.Dataset) -> Finding:
    parts: dict[str, Check] = {}
    numbers: dict[str, object] = {}
    for norm, word in NORMS.items():
        e = data[norm].sel(step=AT)
        ours, theirs = by_method(e, PRESENT), by_method(e, RIVALS)
        for which, error in (("best", min(ours.values())), ("worst", max(ours.values()))):
            words = f"the {which} of the present methods over the best of the others, {word}"
            parts[words] = at_most(error / min(theirs.values()), 1.0)
        numbers[f"errors in {word} at step {AT}"] = ours | theirs
    return Finding(parts, numbers)


FIGURE = Figure("fig02", "slow Lagrangian top, t = 20: errors against the step", compute, draw, (
    Claim("The present algorithms converge at a quadratic rate, as all the others do", "5.2", second_order),
    Claim("The absolute accuracy of the present algorithms is also outstanding", "5.2", outstanding),
))  # fmt: skip
