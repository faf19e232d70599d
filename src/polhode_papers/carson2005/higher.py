"""Schemes of higher order on the elliptic orbit, without and with drag."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.carson2005.drag import air
from polhode_papers.criteria import falling
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

KD = 2e-6  # 1/km
KINDS = ("conic", "drag")
ON_CONICS = {
    common.SYMPLECTIC: 2, common.VERLET: 2, common.RK4: 4, "s4_6": 4, "rkn4_6b": 4, "galerkin4": 4, "mkrk:gauss4": 4,
    "s6_10": 6, "rkn6_14a": 6, "galerkin6": 6, "mkrk:gauss6": 6, "galerkin8": 8, common.GAUSS: 8,
}  # fmt: skip
ORDERS = {"conic": ON_CONICS, "drag": ON_CONICS | {"rkn6_14a": 4}}
"""Expected orders; rkn6_14a assumes a commutator to vanish that does not with velocity-dependent loads."""
LADDERS = {2: (40.0, 20.0, 10.0), 4: (200.0, 100.0, 50.0), 6: (400.0, 200.0, 100.0), 8: (600.0, 300.0, 150.0)}
FINER = {common.RK4: (20.0, 5.0, 2.5), "rkn4_6b": (50.0, 25.0, 20.0)}
"""Smaller steps for methods whose errors fall one power faster at larger steps."""
SYMPLECTICS = tuple(label for label in ORDERS["conic"] if label != common.RK4)
REFERENCE = (("mkrk:gauss16", 75.0), ("mkrk:cv8", 10.0))


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    labels = list(ORDERS["conic"])
    errors, spent, steps = np.zeros((3, len(KINDS), len(labels), 3))
    steps = steps[0]
    reference_gap = 0.0
    for i, kind in enumerate(KINDS):
        acting = air(KD) if kind == "drag" else []
        truth = common.conic(common.ELLIPTIC, common.DAY)[0]
        if kind == "drag":
            truth, reference_gap = common.reference(REFERENCE, common.ELLIPTIC, acting)
        for j, label in enumerate(labels):
            report_progress(f"{label}, {kind}")
            for k, h in enumerate(FINER.get(label, LADDERS[ORDERS["conic"][label]])):
                end = common.last(label, common.ELLIPTIC, step=h, forces=acting)
                errors[i, j, k], steps[j, k] = np.linalg.norm(end.position - truth), h
                spent[i, j, k] = end.attrs["load_evaluations"]
    over = ("force", "method", "level")
    return xr.Dataset(
        {"error": (over, errors), "evaluations": (over, spent), "steps": (("method", "level"), steps)},
        {"force": list(KINDS), "method": labels, "level": [0, 1, 2]},
        {
            "drag": f"kd = {KD:g}/km",
            "reference with drag": f"{' and '.join(m for m, _ in REFERENCE)} differ by {reference_gap:.1e} km",
        },
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 2, width=11.0, height=4.8, sharey=True)
    for ax, kind in zip(axes, KINDS, strict=True):
        x, table = (common.lines_of(data[name].sel(force=kind)) for name in ("evaluations", "error"))
        y_label, title = ("distance at the end (km)", "no force but gravity") if kind == "conic" else ("", "drag")
        common.ladder_panel(ax, x, table, "load evaluations in the day", y_label)
        ax.set_title(title)
    drawing.legend_below(picture, axes[0], 7)
    return {"higher": picture}


def orders(data: xr.Dataset, kind: str) -> Finding:
    """Orders from the two smallest steps."""
    of_kind = {k: data.sel({"method": k}) for k in ORDERS[kind]}
    measured = {k: common.order_of(one.steps.values, one.error.sel(force=kind).values) for k, one in of_kind.items()}
    parts = {f"{k} is of order {p}": common.keeps(measured[k], p) for k, p in ORDERS[kind].items()}
    return Finding(parts, {"orders": measured})


def accurate(data: xr.Dataset) -> Finding:
    """Judge whether the smallest error within 20,000 evaluations falls from order to order."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for kind in KINDS:
        best = {}
        for p in LADDERS:
            rows = [k for k in SYMPLECTICS if ORDERS[kind][k] == p]
            of_order = data.sel({"force": kind, "method": rows})
            best[str(p)] = float(of_order.error.where(of_order.evaluations <= 20_000).min())
        parts[f"{kind}: with 20,000 evaluations the error falls from order to order"] = falling(list(best.values()))
        numbers[f"smallest error by order, {kind}, km"] = best
    return Finding(parts, numbers)


CLAIMS = (
    Claim("The midpoint rule is of low order; higher-order schemes should be more accurate", "future steps", accurate),
    Claim(
        "(done here) Symplectic and variational schemes of orders 4, 6 and 8 exist",
        "future steps",
        lambda d: orders(d, "conic"),
    ),
    Claim(
        "(done here) They keep their orders with drag, but rkn6_14a, which is of order 4",
        "future steps",
        lambda d: orders(d, "drag"),
    ),
)
FIGURE = Figure("higher", f"schemes of higher order, elliptic orbit, {common.DAY:g} s", compute, draw, CLAIMS)
