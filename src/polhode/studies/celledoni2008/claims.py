"""The claims of sections 3 and 4 and of appendix C that belong to no figure: what each method keeps, orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullFormatter

from polhode.algebra import rotation
from polhode.kernel.signatures import ANGULAR, BODY
from polhode.methods.splitting import splitting
from polhode.methods.splitting_tables import Scheme
from polhode.plots.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION
from polhode.runs.check import (
    drifts,
    exact_state,
    measure_order,
    stepper,
    symmetry_defect,
    symplectic_defect,
)
from polhode.runs.single import start_state
from polhode.studies import drawing
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.systems import free_body, heavy_top

INERTIA = (1.0, 1.5, 2.2)
FREE, TOP = free_body(INERTIA), heavy_top(INERTIA, (0.1, 0.2, 0.9), 1.0)
START: dict[str, Any] = {
    "attitude": rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)
}  # fmt: skip
STEPS = (0.3, 0.6, 1.2)
AT = 0.6  # the step of one-step measurements
FLOWS = {
    "exact, matrix": ("exact_matrix", PURPLE), "exact, quaternion": ("kosenko", GREEN),
    "semiexact6": ("semiexact6", SKY), "semiexact10": ("semiexact10", BLUE), "dmv6": ("dmv6", VERMILION),
    "dmv10": ("dmv10", ORANGE), "MR": ("mr", "black"),
}  # fmt: skip
EXACT, SEMIEXACT = ("exact, matrix", "exact, quaternion"), ("semiexact6", "semiexact10")
DMV, MR = ("dmv6", "dmv10"), "MR"
QUANTITIES = ("energy", "momentum_length", "spatial_momentum")
MISPRINT = "S4_6, b2 as printed"
SCHEMES = {"V2": 2, "S4_6": 4, MISPRINT: 4, "RKN4_6b": 4, "S6_10": 6, "RKN6_14a": 6}
ROTATIONS = {"semiexact6": 6, "dmv6": 6, "dmv8": 8, "dmv10": 10}
"""Orders as stated. semiexact8 and semiexact10 are at round-off before their orders show."""
KEPT, EACH, FORM, BROKEN = 1e-12, 1e-13, 1e-12, 1e-11
"""Constant to round-off over a run; equal to round-off in a step; floor of the symplectic defect; clearly not so."""


POISSON = 1e-9
"""Differences see the bracket kept to this."""


def misprinted() -> Scheme:
    """S4_6 with the sign that b2 has in print.  [celledoni2008, eq. 4.6]"""
    a = [0.07920369643119565, 0.353172906049774, -0.04206508035771952]
    b = [0.209515106613362, 0.143851773179818]
    a, b = [*a, 1.0 - 2.0 * sum(a)], [*b, 0.5 - sum(b)]
    half = [step for k in range(3) for step in (("A", a[k]), ("B", b[k]))]
    stages = [*half, ("A", a[3]), *reversed(half)]
    return Scheme("s4_6_misprint", "S4_6 as printed", "celledoni2008", 4, tuple(stages))


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    y, top = start_state(FREE, **START), start_state(TOP, **START)
    end = exact_state(FREE, y, 0.0, AT)
    kept, form = np.zeros((len(FLOWS), len(QUANTITIES))), np.zeros((len(FLOWS), len(STEPS)))
    back, momentum, poisson = np.zeros((3, len(FLOWS)))
    for i, (label, (method, _)) in enumerate(FLOWS.items()):
        tell(label)
        found = drifts(method, FREE, y, AT, 100 if quick else 1000)
        kept[i] = [found[name] for name in QUANTITIES]
        advance = stepper(method, FREE, y)
        momentum[i] = np.linalg.norm((advance(y, 0.0, AT) - end)[ANGULAR:BODY])
        poisson[i] = poisson_defect(partial(_after, advance, AT), y)
        back[i] = symmetry_defect(method, FREE, y, t=0.0, h=AT)
        form[i] = [symplectic_defect(partial(_after, advance, h), FREE, y) for h in STEPS]
    orders = []
    end = exact_state(FREE, y, 0.0, 4.0)
    free_orders = [measure_order(method, FREE, y, end, t=0.0, span=4.0).order for method in ROTATIONS]
    end = exact_state(TOP, top, 0.0, 1.0)
    for label in SCHEMES:
        tell(label)
        scheme = splitting(misprinted()) if label == MISPRINT else label.lower()
        orders.append(measure_order(scheme, TOP, top, end, t=0.0, span=1.0).order)
    return xr.Dataset(
        {
            "drift": (("flow", "quantity"), kept),
            "symplectic_defect": (("flow", "step"), form),
            "there_and_back": ("flow", back),
            "momentum_error": ("flow", momentum),
            "poisson_defect": ("flow", poisson),
            "order": ("scheme", orders),
            "free_order": ("rotation", free_orders),
        },
        {"flow": list(FLOWS), "quantity": list(QUANTITIES), "step": list(STEPS), "scheme": list(SCHEMES),
         "rotation": list(ROTATIONS)},
        {
            "body": f"moments {INERTIA}; free, or as a heavy top for the orders",
            "one step": f"of {AT:g}; what is kept is measured over {100 if quick else 1000} of them",
        },
    )  # fmt: skip


def _after(advance: Any, h: float, y: Any) -> Any:
    return advance(y, 0.0, h)


def poisson_defect(step: Callable[[Any], Any], y: Any) -> float:
    """|J hat(m) J^T - hat(m')|, where J is the Jacobian of the momentum m' after a step by the momentum m before it.

    J is a difference of fourth order; its own error is some 1e-12 here.
    """

    def end(axis: int, by: float) -> Any:
        moved = y.copy()
        moved[ANGULAR + axis] += by
        return step(moved)[ANGULAR:BODY]

    d = 2e-3
    columns = [(8.0 * (end(k, d) - end(k, -d)) - end(k, 2 * d) + end(k, -2 * d)) / (12.0 * d) for k in range(3)]
    jacobian = np.column_stack(columns)
    before, after = rotation.hat(y[ANGULAR:BODY]), rotation.hat(end(0, 0.0))
    return float(np.linalg.norm(jacobian @ before @ jacobian.T - after))


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, ((left, right),) = drawing.canvas(1, 2, width=9.5, height=3.8)
    marks = dict(zip(QUANTITIES, "osD", strict=True))
    places = np.arange(len(FLOWS))
    for name, mark in marks.items():
        values = np.maximum(data.drift.sel(quantity=name), 1e-17)
        left.plot(values, places, mark, color=INK, markerfacecolor="white", label=name.replace("_", " "))
    left.set(xscale="log", xlim=(1e-17, 1e-1), yticks=places, xlabel=f"largest relative change, steps of {AT:g}")
    left.set_yticklabels(list(FLOWS))
    left.invert_yaxis()
    left.set_title("free body: what is kept")
    left.legend(loc="lower left", bbox_to_anchor=(0.36, 0.08), edgecolor="none")
    for label, (_, colour) in FLOWS.items():
        right.loglog(data.step, data.symplectic_defect.sel(flow=label), "o-", color=colour, label=label, markersize=5)
    right.set(xlabel="step", ylabel="defect of the symplectic form", title="one step: symplecticity")
    right.set_xticks(STEPS, [f"{h:g}" for h in STEPS])
    right.xaxis.set_minor_formatter(NullFormatter())
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), edgecolor="none")
    return {"claims": picture}


# ------------------------------------------------------------------ judges
def by_flow(data: xr.DataArray, labels: tuple[str, ...]) -> dict[str, float]:
    return {label: float(data.sel(flow=label)) for label in labels}


def keep(labels: tuple[str, ...], quantities: tuple[str, ...] = QUANTITIES) -> Any:
    """These flows keep these quantities to round-off."""

    def judge(data: xr.Dataset) -> Finding:
        found = {name: by_flow(data.drift.sel(quantity=name), labels) for name in quantities}
        parts = {name.replace("_", " "): max(row.values()) < KEPT for name, row in found.items()}
        return Finding(parts, {f"change of {name.replace('_', ' ')}": row for name, row in found.items()})

    return judge


def exact_momentum(data: xr.Dataset) -> Finding:
    found = by_flow(data.momentum_error, (*EXACT, *SEMIEXACT, *DMV))
    parts = {f"{label}: exact": found[label] < EACH for label in (*EXACT, *SEMIEXACT)}
    parts |= {f"{label}: not exact": found[label] > BROKEN for label in DMV}
    return Finding(parts, {f"error after a step of {AT:g}": found})


def reversible(data: xr.Dataset) -> Finding:
    found = by_flow(data.there_and_back, (*EXACT, *SEMIEXACT, *DMV))
    return Finding({label: x < EACH for label, x in found.items()}, {"distance from the start, there and back": found})


def not_symplectic(data: xr.Dataset) -> Finding:
    largest = by_flow(data.symplectic_defect.isel(step=-1), (*EXACT, *SEMIEXACT, *DMV))
    parts = {f"{label} is not": largest[label] > BROKEN for label in (*SEMIEXACT, *DMV)}
    parts |= {f"{label} is": largest[label] < FORM for label in EXACT}
    return Finding(parts, {f"defect of the form, step {STEPS[-1]:g}": largest})


def lie_poisson(data: xr.Dataset) -> Finding:
    found = by_flow(data.poisson_defect, (*EXACT, *SEMIEXACT, *DMV))
    return Finding({label: x < POISSON for label, x in found.items()}, {"defect of the Poisson bracket": found})


def mclachlan_reich(data: xr.Dataset) -> Finding:
    back, form = float(data.there_and_back.sel(flow=MR)), float(data.symplectic_defect.sel(flow=MR, step=AT))
    energy = float(data.drift.sel(flow=MR, quantity="energy"))
    parts = {"time-reversible": back < EACH, "symplectic": form < FORM, "energy not kept": energy > 1e-6}
    return Finding(parts, {"there and back": back, "defect of the form": form, "change of the energy": energy})


def orders(data: xr.Dataset) -> Finding:
    found = {str(name): float(data.order.sel(scheme=name)) for name in data.scheme.values}
    parts = {f"{name}: order {order}": abs(found[name] - order) < 0.5 for name, order in SCHEMES.items()}
    return Finding(parts, {"observed order, heavy top": found})


def free_orders(data: xr.Dataset) -> Finding:
    found = {str(name): float(data.free_order.sel(rotation=name)) for name in data.rotation.values}
    parts = {f"{name}: order {order}": abs(found[name] - order) < 0.5 for name, order in ROTATIONS.items()}
    return Finding(parts, {"observed order, free body": found})


FIGURE = Figure("claims", "sections 3 and 4, appendix C: what is kept, orders", compute, draw, (
    Claim("Semiexact methods integrate the angular momentum exactly; the DMV methods do not", "3.1, 3.2",
          exact_momentum),
    Claim("Semiexact methods preserve the spatial angular momentum", "3.1", keep(SEMIEXACT, ("spatial_momentum",))),
    Claim("Exact, semiexact and DMV methods preserve energy, length of the momentum and spatial momentum",
          "3.2, footnote 1", keep((*EXACT, *SEMIEXACT, *DMV))),
    Claim("Gauss quadrature with p points has order 2p; dmv6, dmv8 and dmv10 have orders 6, 8 and 10", "3.1, 3.2",
          free_orders),
    Claim("Exact, semiexact and DMV methods are time-reversible", "3.1, 3.2, 4", reversible),
    Claim("Exact, semiexact and DMV methods are Lie-Poisson integrators for the angular momentum", "3.2, footnote 1",
          lie_poisson),
    Claim("The DMV and the semiexact methods are not symplectic", "3.2, 4, footnotes", not_symplectic),
    Claim("MR is time-reversible and preserves the Poisson structure", "3.3", mclachlan_reich),
    Claim("The splitting schemes with the printed coefficients have the orders stated", "App. C", orders),
))  # fmt: skip
