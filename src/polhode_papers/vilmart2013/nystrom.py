"""The heavy top U = Q33: Nystroem splittings with the modified potential V, as printed and corrected; brackets.

``{f, g}``: Poisson bracket, the rate of f under the flow of g; ``T``: kinetic energy; ``tau``: torque of U;
``V = {U, {U, T}}``. Under the flow of U the momentum grows linearly, y + t tau, so repeated brackets of T with U are
derivatives of T(y + t tau) with respect to t.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.measure import named
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import common, pictures, printed

MOMENTS = (1.0, 1.5, 2.2)
TOP = ph.heavy_top(MOMENTS, (0.0, 0.0, 1.0), 1.0)  # weight times distance 1: U = Q33
SPAN, STEPS = 2.0, (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
FORMS = {"V as printed": "printed", "V left out": "left out", "V corrected": "corrected"}
CLASSICAL = {"rkn4_6b": 4, "rkn6_14a": 6, "rkn8_17": 8}  # designed for second-order equations
STRANG = {"v2": 2, "v2/dmv2": 2, "yoshida4/dmv2": 4, "kl6/dmv2": 6}  # (16) and compositions of it
LIBRARY = ("nystrom4_v", *CLASSICAL, *STRANG)
REFERENCE, REFERENCE_STEPS = "mkrk:gauss8", 400


def top_map(method: str) -> common.Map:
    """One step of a polhode method for the heavy top, as a map of momentum and matrix."""

    def of_state(y: object, Q: object) -> object:
        return ph.runs.start_state(TOP, attitude=ph.rotation.quaternion_from_matrix(Q), angular_momentum=y)  # type: ignore[arg-type]

    take_steps = ph.checks.stepper(method, TOP, of_state(*common.STATE))  # type: ignore[arg-type]
    return lambda y, Q, h: common.as_matrix(take_steps(of_state(y, Q), 0.0, h))


def brackets() -> dict[str, float]:
    """Residuals of the paper's statements about brackets."""
    (y, Q), I = common.STATE, np.array(MOMENTS)
    free = common.body_map("exact", MOMENTS)

    def T(t: float, y: object = y) -> float:
        return common.casimir_and_energy(printed.kick_U(y, Q, t), I)[1]

    def second(f: object, t: float) -> float:
        return (f(t) - 2 * f(0.0) + f(-t)) / t**2  # type: ignore[operator]

    third = (T(2.0) - 2 * T(1.0) + 2 * T(-1.0) - T(-2.0)) / 2
    V = Q[2, 1] ** 2 / I[0] + Q[2, 0] ** 2 / I[1]
    other = second(lambda t: T(t, np.array([1.3, -0.2, 2.0])), 1.0)
    return {
        "{U, {U, {U, T}}}": abs(third),
        "{T, {T, U}}": abs(second(lambda t: float(free(y, Q, t)[1][2, 2]), 1e-3)),
        "V - (Q32^2/I1 + Q31^2/I2)": abs(second(T, 1.0) - V),
        "change of V with y": abs(second(T, 1.0) - other),
    }


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    free = common.body_map("exact", MOMENTS)
    maps = {label: printed.nystrom(form, free, MOMENTS) for label, form in FORMS.items()}
    maps |= {name: top_map(name) for name in LIBRARY}
    end = common.STATE
    report_progress("reference")
    reference = top_map(REFERENCE)
    for _ in range(REFERENCE_STEPS):
        end = reference(*end, SPAN / REFERENCE_STEPS)
    report_progress("heavy top")
    errors = common.ladder(maps, common.STATE, end, SPAN, STEPS)
    result = brackets()
    return xr.Dataset(
        {"error": errors, "bracket": ("of", list(result.values()))}, {"of": list(result)},
        {"heavy top": f"moments {MOMENTS}, U = Q33, t = {SPAN:g}",
         "reference": f"{REFERENCE} with {REFERENCE_STEPS} steps"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.5, sharey=True)
    pictures.against_step(left, data.error.sel({"method": [*FORMS, "nystrom4_v"]}), "one modified kick", [*FORMS][:2])
    pictures.against_step(right, data.error.sel({"method": [*STRANG, *CLASSICAL]}), "no modified kick")
    right.set_ylabel("")
    return {"nystrom": picture}


def order_checks(data: xr.Dataset, expected: Mapping[str, int]) -> dict[str, Check]:
    """Checks of the order of every map."""
    return {
        f"{name}: order {p}": criteria.order_within(
            data.step, data.error.sel({"method": name}), p, common.tolerance(p), floor=1e-13
        )
        for name, p in expected.items()
    }


def modified(data: xr.Dataset) -> Finding:
    printed, *others = order_checks(data, dict.fromkeys(("V as printed", "V corrected", "nystrom4_v"), 4)).items()
    names = [*FORMS, "nystrom4_v"]
    smallest = named(data.error.isel(step=-1).sel({"method": names}, drop=True).drop_vars("step"))
    return Finding(dict([printed]), {"error at the smallest step": smallest}, dict(others))


def has_orders(data: xr.Dataset, expected: dict[str, int]) -> Finding:
    return Finding(order_checks(data, expected), {"order": common.orders(data.error.sel({"method": list(expected)}))})


def vanishing(data: xr.Dataset) -> Finding:
    size = named(data.bracket)
    printed, right = (
        {f"{name} vanishes": criteria.at_most(size[name], bound)}
        for name, bound in (("{T, {T, U}}", 1e-6), ("{U, {U, {U, T}}}", common.EXACT))
    )
    return Finding(printed, {"bound of the first": "what differences of second order leave"}, right)


def potential(data: xr.Dataset) -> Finding:
    size = named(data.bracket)
    names = {"no y in V": "change of V with y", "V of the top": "V - (Q32^2/I1 + Q31^2/I2)"}
    return Finding(
        {words: criteria.at_most(size[name], common.EXACT) for words, name in names.items()},
        {name: size[name] for name in names.values()},
    )


FIGURE = Figure("nystrom", "the heavy top: splittings with a modified potential", compute, draw, (
    Claim("The Strang splitting (16), also with an approximate free flow, and compositions of it", "(16)",
          lambda d: has_orders(d, STRANG)),
    Claim("The bracket that vanishes is {T, {T, U}}", "Nystroem splitting", vanishing),
    Claim("V = {U, {U, T}} depends on the orientation only", "Nystroem splitting", potential),
    Claim("Nystroem splittings made for equations of second order can be applied", "Nystroem splitting",
          lambda d: has_orders(d, CLASSICAL)),
    Claim("The scheme with the flow of V is of order 4 for U = Q33",
          "Nystroem splitting", modified),
))  # fmt: skip
