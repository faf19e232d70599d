"""Table 2: geometric properties of free rigid body integrators, every tick measured, for every method of polhode."""

from __future__ import annotations

from functools import partial
from math import inf, isinf
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.methods import method
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.studies.vilmart2013 import pictures
from polhode.studies.vilmart2013.common import BROKEN, EXACT, KEPT, named
from polhode.studies.vilmart2013.measured import (
    COLUMNS,
    GROUPS,
    INVARIANTS,
    METHODS_MEASURED,
    SPLITTINGS,
    measure,
    same_order,
    ticks,
    verdicts,
)

YES, NO = 1.0, 0.0
PRINTED: dict[str, tuple[str, tuple[float, ...]]] = {
    "jacobi": ("Jacobi's analytic solution", (inf, YES, YES, YES, YES, YES)),
    "symmetric": ("Symmetric+Rotation splitting", (2, YES, YES, NO, YES, YES)),
    "dmv2": ("RATTLE/DMV algorithm", (2, YES, YES, YES, YES, YES)),
    "implicit_midpoint": ("Implicit midpoint rule", (2, YES, YES, YES, NO, NO)),
    **{f"dmv{p}": (f"Preprocessed DMV algorithm, 2p = {p}", (p, YES, YES, YES, YES, NO)) for p in (4, 6, 8, 10)},
}  # fmt: skip
"""Order, Qy, C(y), H(y), Poisson, symplectic [vilmart2013, table 2]."""


def order_words(order: float) -> str:
    return "exact" if isinf(order) else f"{order:.2f}"


def draw(data: xr.Dataset) -> dict[str, Picture]:
    worst, found, orders = data.defect.max("step"), ticks(data), named(data.order)
    groups: dict[str, list[pictures.Row]] = {"the methods of table 2": []}
    for name in sorted(orders, key=lambda name: list(PRINTED).index(name) if name in PRINTED else len(PRINTED)):
        group = "the methods of table 2" if name in PRINTED else GROUPS[name]
        mark, size = (x.sel({"method": name}).values for x in (found, worst))
        groups.setdefault(group, []).append(pictures.Row(name, order_words(orders[name]), mark, size))
    rest = list(map(str, data.splitting.values))
    size = data.defect_of_splittings.max("step").max("splitting").values
    groups["splittings, their free rotations exact: the worst of all"] = [
        pictures.Row(f"{len(rest)} of them", order_words(float(data.order_of_splittings.min())), verdicts(size), size)
    ]
    note = (
        f"Largest defects at the steps {', '.join(f'{float(h):g}' for h in data.step)}, in "
        f"{data.attrs['steps of a run']} steps, body of figure 1: kept below {KEPT:g}, not kept above {BROKEN:g}"
    )
    return {"table2": pictures.table_of_ticks(groups, COLUMNS, note)}


def splittings(data: xr.Dataset) -> Finding:
    size = named(data.defect_of_splittings.max("step").max("splitting"))
    parts = {column: size[column] <= KEPT for column in COLUMNS}
    parts["exact"] = bool(np.isinf(data.order_of_splittings).all())
    return Finding(parts, {"splittings": data.splitting.size, **size})


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    n = 100 if quick else 2000
    data = measure(METHODS_MEASURED, n, tell)
    tell(f"{len(SPLITTINGS)} splittings")
    rest = measure(SPLITTINGS, n // 10, lambda line: None)
    worst = data.defect.max("step")
    return data.assign(
        {
            "defect_of_splittings": rest.defect.rename(method="splitting"),
            "order_of_splittings": rest.order.rename(method="splitting"),
            "largest_defect": worst, "tick": ticks(data),
        }
    ).assign_attrs({"steps of a run": n})  # fmt: skip


def row(name: str, data: xr.Dataset) -> Finding:
    order, *expected = PRINTED[name][1]
    found, measured = named(ticks(data).sel({"method": name})), float(data.order.sel({"method": name}))
    parts = {"exact" if isinf(order) else f"order {order:g}": same_order(measured, order)}
    for column, tick in zip(COLUMNS, expected, strict=True):
        parts[f"{column}{'' if tick else ' not'}"] = found[column] == tick
    return Finding(parts, {"order": measured, **named(data.defect.max("step").sel({"method": name}))})


def promised(data: xr.Dataset) -> Finding:
    """What the rows of the method table say of free motion is what was measured."""
    agree: dict[str, bool] = {}
    for name in map(str, data.method.values):
        says, found = method(name).promises, named(ticks(data).sel({"method": name}))
        kept: dict[str, Any] = {column: float(key in says.keeps_free) for column, key in INVARIANTS.items()}
        kept["C"] = max(kept["C"], kept["Qy"])
        order = float(data.order.sel({"method": name}))
        good = order > says.order_free or same_order(order, says.order_free)
        agree[name] = good and found["symplectic"] == says.symplectic and all(found[c] == kept[c] for c in INVARIANTS)
    broken = ", ".join(name for name, good in agree.items() if not good)
    return Finding({"all of them": not broken}, {"methods": len(agree), "not as promised": broken or "none"})


def alone(data: xr.Dataset) -> Finding:
    worst = float(data.influence_of_Q.max())
    return Finding({"of every method": worst < EXACT}, {"largest change of y(h) when Q(0) changes": worst})


FIGURE = Figure("table2", "what is preserved in free motion", compute, draw, (
    *(Claim(f"{PRINTED[name][0]}: order and preservation", "Table 2", partial(row, name)) for name in PRINTED),
    Claim("Poisson or not, the momentum moves by itself: y(h) depends on y(0) alone", "Table 2", alone),
    Claim("A splitting whose free rotations are exact is exact in free motion", "polhode", splittings),
    Claim("Every other method keeps in free motion what polhode's method table says", "polhode", promised),
))  # fmt: skip
