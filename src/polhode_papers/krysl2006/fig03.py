"""Figure 3: fast Lagrangian top, convergence; the paper prints no final time, so t = 1 and t = 20 are both shown."""

from __future__ import annotations

import xarray as xr

import polhode as ph
from polhode_papers.criteria import at_least
from polhode_papers.drawing import Pictures
from polhode_papers.krysl2006.common import ALL, PRINTED, by_method, convergence_picture, second_order
from polhode_papers.krysl2006.fig02 import TOP
from polhode_papers.measure import NORMS, convergence
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

INITIAL = {
    "attitude": ph.rotation.exp_quaternion((0.3, 0.0, 0.0)),
    "angular_velocity": (0.0, 0.0, 50.0),
}  # [krysl2006, 5.3]
STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125, 0.000625, 0.0003125)
COMPARED = {1.0: 0.005, 20.0: 0.0025}  # final time: the step where methods are compared
PAIR = ("TRAPM", "IMIDM")
FACTOR = 3.0  # "significantly more accurate"


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    steps = STEPS[2:] if quick else STEPS
    parts = [convergence(TOP, INITIAL, ALL, steps, t, 0.00125, report_progress) for t in COMPARED]
    remarks = {f"{key}, t = {t:g}": x for t, part in zip(COMPARED, parts, strict=True) for key, x in part.attrs.items()}
    ends = xr.DataArray(list(COMPARED), dims="t_end", name="t_end")
    return xr.concat(parts, ends, combine_attrs="drop").assign_attrs(remarks)


def draw(data: xr.Dataset) -> Pictures:
    return {"fig03": convergence_picture({f"fast top, $t = {t:g}$": data.sel(t_end=t) for t in COMPARED})}


def orders(data: xr.Dataset) -> Finding:
    return Finding.joined(second_order(data.sel(t_end=t), f", t = {t:g}") for t in COMPARED)


def significantly(data: xr.Dataset) -> Finding:
    parts: dict[str, Check] = {}
    numbers: dict[str, object] = {}
    others = [label for label in PRINTED if label not in PAIR]
    for t, step in COMPARED.items():
        for norm, word in NORMS.items():
            e = by_method(data[norm].sel(t_end=t, step=step))
            worse = {label: e[label] / max(e[p] for p in PAIR) for label in (*others, "BBTRAPWD")}
            words = f"error of the best other over the worse of the pair, in {word} at t = {t:g}"
            parts[words] = at_least(min(worse[label] for label in others), FACTOR)
            numbers[f"{word}, t = {t:g}, step {step}: error relative to the worse of the pair"] = worse
    return Finding(parts, numbers)


FIGURE = Figure("fig03", "fast Lagrangian top, t = 1 and t = 20: errors against the step", compute, draw, (
    Claim("All the algorithms are of second order", "5.3", orders),
    Claim("IMIDM and TRAPM are significantly more accurate than the other algorithms", "5.3", significantly),
))  # fmt: skip
