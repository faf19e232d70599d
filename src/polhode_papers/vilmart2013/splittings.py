"""Splittings of the free body: the three rotation splitting and algorithm 2, as printed and corrected; remark 3."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers import criteria, drawing
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import pictures, printed
from polhode_papers.vilmart2013.common import BOOK, EXACT, STATE, body_map, distance, ladder, orders, repeated

SPAN, STEPS = 10.0, (25, 50, 100, 200, 400)
PAIRS = {"I1 = I2": (1.0, 1.0, 1.7), "I1 = I3": (1.0, 1.7, 1.0), "I2 = I3": (1.7, 1.0, 1.0)}
H = 2.0  # step used for remark 3
LIBRARY = ("three_rotation", "symmetric")
NEAR, NEAR_STEPS = (1e-1, 1e-2, 1e-3, 1e-4), 100  # I2/I1 - 1 of nearly symmetric bodies


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    maps = {f"three rotations, {form}": printed.three_rotations(form, BOOK) for form in ("printed", "corrected")}
    maps |= {f"algorithm 2, {form}": printed.algorithm_2(form, BOOK) for form in ("printed", "corrected")}
    maps |= {name: body_map(name, BOOK) for name in LIBRARY}
    errors = ladder(maps, STATE, body_map("exact", BOOK)(*STATE, SPAN), SPAN, STEPS[: 3 if quick else 5])
    defects = np.zeros((2, len(PAIRS)))
    for k, I in enumerate(PAIRS.values()):
        end = body_map("exact", I)(*STATE, H)
        for j, step in enumerate((printed.algorithm_2("corrected", I), body_map("symmetric", I))):
            defects[j, k] = distance(step(*STATE, H), end)
    near = np.zeros((len(LIBRARY), len(NEAR)))
    for k, eps in enumerate(NEAR):
        I = (1.0, 1.0 + eps, 1.7)
        end = body_map("exact", I)(*STATE, SPAN)
        for j, name in enumerate(LIBRARY):
            near[j, k] = distance(repeated(body_map(name, I), *STATE, SPAN, NEAR_STEPS), end)
    same = distance(maps["three rotations, corrected"](*STATE, 0.4), maps["three_rotation"](*STATE, 0.4))
    return xr.Dataset(
        {"error": errors, "error_of_one_step": (("pairing", "body"), defects),
         "error_near": (("splitting", "asymmetry"), near)},
        {"pairing": ["axes 1 and 2, as printed", "the two closest"], "body": list(PAIRS), "splitting": list(LIBRARY),
         "asymmetry": list(NEAR)},
        {"polhode's three_rotation and the corrected formula": f"differ by {same:.1e} in a step of 0.4"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.5)
    dashed = [name for name in map(str, data.method.values) if name.endswith("printed")]
    pictures.against_step(left, data.error, "book of figure 1, $t = 10$", dashed)
    left.set_ylim(top=10)
    for i, name in enumerate(LIBRARY):
        right.loglog(data.asymmetry, data.error_near.sel(splitting=name), label=name, **drawing.style(i))
    right.set(xlabel="$I_2/I_1 - 1$", ylabel=r"error in $y$ and $Q$")
    right.set_title(f"nearly symmetric body, step {SPAN / NEAR_STEPS:g}")
    right.legend(frameon=False)
    return {"splittings": picture}


def second_order(data: xr.Dataset, subject: str, correction: str) -> Finding:
    """Judge order 2, as printed and corrected."""
    names = {form: f"{subject}, {form}" for form in ("printed", "corrected")}
    checks = {
        form: criteria.order_within(data.step, data.error.sel({"method": name}), 2.0, floor=1e-14)
        for form, name in names.items()
    }
    measured = orders(data.error.sel({"method": list(names.values())}))
    smallest = data.error.isel(step=-1, drop=True)
    numbers = {"slope of the whole line, where no order shows": measured, "error at the smallest step": {
        name: float(smallest.sel({"method": name})) for name in names.values()}}  # fmt: skip
    return Finding({"as printed": checks["printed"]}, numbers, {correction: checks["corrected"]})


def near_symmetric(data: xr.Dataset) -> Finding:
    measured = {name: named(data.error_near.sel(splitting=name, drop=True)) for name in LIBRARY}
    small = data.error_near.sel(splitting="symmetric").values[1:]
    gain = data.error_near.sel(splitting="three_rotation") / data.error_near.sel(splitting="symmetric")
    parts = {
        "its error goes like the asymmetry": criteria.order_within(NEAR[1:], small, 1.0),
        "smaller than that of three rotations, at every asymmetry": criteria.every(
            named(gain.drop_vars("splitting", errors="ignore")), criteria.at_least, 2.0
        ),
    }
    return Finding(parts, {f"error of {name}": x for name, x in measured.items()})


def exact_for_symmetric(data: xr.Dataset) -> Finding:
    as_printed, ours = (named(x) for x in data.error_of_one_step)
    parts = {f"exact for {body}": criteria.at_most(error, EXACT) for body, error in as_printed.items()}
    return Finding(parts, {"step": H}, {
        f"exact for {body}, the two closest axes paired": criteria.at_most(error, EXACT)
        for body, error in ours.items()
    })  # fmt: skip


FIGURE = Figure("splittings", "three rotations and symmetric+rotation", compute, draw, (
    Claim("The three rotation splitting is a method of order 2", "Splitting",
          lambda d: second_order(d, "three rotations", "with R3 R2 R1 R2 R3")),
    Claim("Algorithm 2 is a method of order 2", "Alg. 2",
          lambda d: second_order(d, "algorithm 2", "with alpha = (1/I1 - 1/I2) y1, beta = (1/I3 - 1/I2) y3")),
    Claim("Algorithm 2 is exact for I1 = I2, but also for I1 = I3 or I2 = I3", "Remark 3", exact_for_symmetric),
    Claim("It is particularly advantageous in the case of a nearly symmetric body", "Remark 3", near_symmetric),
))  # fmt: skip
