"""Largest stable step of RK1, section 6.1: a body in a viscous medium, whose damping is stiff for large steps.

The torque -k omega damps each component at the rate k/J of its axis. An explicit Runge-Kutta method with stability
function R multiplies the component by R(-h k/J) in a step. The largest rate sets the limit: RK1, R(z) = 1 + z, is
stable up to h k/J = 2, RK4 up to 2.785; Gauss methods are always stable.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.drawing import GREY, Pictures
from polhode_papers.measure import attempt, named
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

MOMENTS, RATE = (1.0, 2.0, 3.0), 100.0  # the largest rate of damping is RATE / min(MOMENTS), 1/s
OMEGA = (1e-20, 1.5e-20, -0.5e-20)  # rad/s, so slow that products of components are negligible
METHODS = {"RK1, (53)-(55)": "rotation_vector:semi_implicit_euler", "RK1, tableau": "rotation_vector:forward_euler",
           "RK4": "rotation_vector:rk4", "Gauss 4": "rotation_vector:gauss4"}  # fmt: skip
LIMITS = {"RK1, (53)-(55)": 2.0, "RK1, tableau": 2.0, "RK4": 2.785293563405282, "Gauss 4": np.inf}
PRODUCTS = (0.5, 1.5, 1.9, 1.98, 2.02, 2.1, 2.5, 2.75, 2.82, 3.0, 4.0)  # h times the largest rate
COUNT = 20


def damping(t: float, q: Any, omega: Any, parameters: Any) -> Any:
    """Torque -k omega, body frame; ``parameters`` is (k,)."""
    return -parameters[0] * omega


def factors(method: str) -> list[float]:
    """Growth per step of the first component, the one damped fastest, as a geometric mean, for each of ``PRODUCTS``."""
    body = ph.rigid_body(MOMENTS, torque=damping, parameters=[RATE])
    results = []
    for product in PRODUCTS:
        h = product * min(MOMENTS) / RATE
        ds, outcome = attempt(
            body, method, step=h, steps=COUNT, every=COUNT, angular_velocity=OMEGA, settings={"guard": False}
        )
        size = abs(float(ds.angular_velocity[-1, 0])) / OMEGA[0] if outcome == "completed" else np.inf
        results.append(size ** (1.0 / COUNT))
    return results


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    grown = []
    for name, method in METHODS.items():
        report_progress(name)
        grown.append(factors(method))
    return xr.Dataset(
        {"factor": (("method", "product"), grown)},
        {"method": list(METHODS), "product": list(PRODUCTS)},
        {"body": f"moments {MOMENTS}, torque -{RATE:g} omega; {COUNT} steps",
         "product": "step times the largest rate of damping"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((ax,),) = drawing.canvas(1, 1, width=8.0, height=4.2)
    for i, name in enumerate(METHODS):
        line_style = drawing.style(i) | (
            {"markerfacecolor": "none", "markersize": 10, "linestyle": "--"} if i == 1 else {}
        )
        ax.plot(data["product"], data.factor.sel({"method": name}), label=name, **line_style)
    ax.axhline(1.0, color=GREY, linewidth=0.9)
    ax.set(xlabel="step times the largest rate of damping", ylabel="growth in a step", ylim=(0.0, 5.4),
           title="the component that is damped most")  # fmt: skip
    drawing.legend_below(picture, ax, 4)
    return {"stability": picture}


def limit(data: xr.Dataset, name: str) -> Check:
    """Check that growth starts between the two products on either side of the expected limit."""
    line = data.factor.sel({"method": name})
    grows = data["product"].values[np.asarray(line.values > 1.0)]
    expected, products = LIMITS[name], np.array(PRODUCTS)
    if np.isinf(expected):
        return criteria.at_most(float(line.max()), 1.0)
    low, high = products[products < expected].max(), products[products > expected].min()
    first = float(grows.min()) if grows.size else np.inf
    return criteria.fact(first == high, f"stable at {low:g}, not at {high:g}", f"grows from {first:g} on")


def first_limit(data: xr.Dataset) -> Finding:
    names = list(METHODS)[:2]
    parts = {f"{name}: the limit is a product of 2": limit(data, name) for name in names}
    return Finding(parts, {name: named(data.factor.sel({"method": name})) for name in names})


def others(data: xr.Dataset) -> Finding:
    parts = {"RK4: the limit is a product of 2.785": limit(data, "RK4"), "Gauss 4: no limit": limit(data, "Gauss 4")}
    return Finding(parts, {"Gauss 4, largest growth": float(data.factor.sel({"method": "Gauss 4"}).max())})


FIGURE = Figure("stability", "stiff damping: the steps up to which RK1 is stable", compute, draw, (
    Claim("RK1 has a numerical stability limit for the step size with stiff differential equations", "6.1",
          first_limit),
    Claim("(done here) RK4 has one too; an implicit tableau of the same approach has none", "6.2, 8", others),
))  # fmt: skip
