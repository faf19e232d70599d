"""Table 2: geometric properties of free rigid body integrators, with every tick measured, for all polhode methods."""

from __future__ import annotations

from functools import partial
from math import inf, isinf, isnan

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria
from polhode_papers.drawing import Pictures
from polhode_papers.measure import named
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import pictures, printed
from polhode_papers.vilmart2013.common import BOOK, BROKEN, EXACT, KEPT, Map
from polhode_papers.vilmart2013.measured import (
    COLUMNS,
    FLOOR,
    GROUPS,
    INVARIANTS,
    METHODS_MEASURED,
    SPLITTINGS,
    as_states,
    measure,
    methods_as_maps,
    order_check,
    tick,
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
}
"""Order, Qy, C(y), H(y), Poisson, symplectic [vilmart2013, table 2]."""
INVERSE = 1.0 / np.array(BOOK)
ALGORITHMS: dict[str, tuple[Map, Map | None]] = {
    "symmetric": (printed.algorithm_2("printed", BOOK), printed.algorithm_2("corrected", BOOK)),
    "dmv2": (lambda y, Q, h: printed.algorithm_3(h, y, Q, INVERSE), None),
    "implicit_midpoint": (lambda y, Q, h: printed.algorithm_3(h, y, Q, INVERSE, alpha=False), None),
    **{f"dmv{p}": (printed.algorithm_4("printed", p, BOOK), printed.algorithm_4("corrected", p, BOOK))
       for p in (4, 6, 8)},
}  # fmt: skip
"""The algorithm named in a row of the table, as printed, and corrected if misprinted. Algorithm 1 is ``jacobi``; the
functions needed for order 10 are not printed."""


ALGORITHM = "as written: "
"""Prefix of rows that use the paper's formulas, not the library's."""
WRITTEN = "algorithms 2, 3 and 4 as they are written, and corrected"


def order_words(order: float) -> str:
    return "exact" if isinf(order) else "none" if isnan(order) else f"{order:.2f}"


def draw(data: xr.Dataset) -> Pictures:
    worst, result, orders = data.defect.max("step"), ticks(data), named(data.order)
    groups: dict[str, list[pictures.Row]] = {"the methods of table 2": [], WRITTEN: []}
    for name in sorted(orders, key=lambda name: list(PRINTED).index(name) if name in PRINTED else len(PRINTED)):
        written = name.startswith(ALGORITHM)
        group = WRITTEN if written else "the methods of table 2" if name in PRINTED else GROUPS[name]
        mark, size = (x.sel({"method": name}).values for x in (result, worst))
        row = pictures.Row(name.removeprefix(ALGORITHM), order_words(orders[name]), mark, size)
        groups.setdefault(group, []).append(row)
    rest = list(map(str, data.splitting.values))
    size = data.defect_of_splittings.max("step").max("splitting").values
    groups["splittings, their free rotations exact: the worst of all"] = [
        pictures.Row(f"{len(rest)} of them", order_words(inf), verdicts(size), size)
    ]
    note = (
        f"Largest defects at the steps {', '.join(f'{float(h):g}' for h in data.step)}, in "
        f"{data.attrs['steps of a run']} steps, body of figure 1: kept below {KEPT:g}, not kept above {BROKEN:g}"
    )
    return {"table2": pictures.table_of_ticks(groups, COLUMNS, note)}


def splittings(data: xr.Dataset) -> Finding:
    size = named(data.defect_of_splittings.max("step").max("splitting"))
    parts = {column: tick(size[column], True) for column in COLUMNS}
    worst = float(data.error_of_splittings.max())
    parts["error of one step over the span"] = criteria.at_most(worst, FLOOR)
    return Finding(parts, {"splittings": data.splitting.size})


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    n = 100 if quick else 2000
    written = {
        f"{ALGORITHM}{name}, {form}": as_states(step)
        for name, forms in ALGORITHMS.items()
        for form, step in zip(("printed", "corrected"), forms, strict=True)
        if step is not None
    }
    parts = [measure(methods_as_maps(METHODS_MEASURED), n, report_progress), measure(written, n // 10, report_progress)]
    data = xr.concat(parts, "method")
    report_progress(f"{len(SPLITTINGS)} splittings")
    rest = measure(methods_as_maps(SPLITTINGS), n // 10, lambda line: None)
    worst = data.defect.max("step")
    return data.assign(
        {
            "defect_of_splittings": rest.defect.rename(method="splitting"),
            "error_of_splittings": rest.error_of_one_step.rename(method="splitting"),
            "largest_defect": worst, "tick": ticks(data),
        }
    ).assign_attrs({"steps of a run": n, "steps of a run of the algorithms as written": n // 10})  # fmt: skip


def checks(data: xr.Dataset, name: str, row: tuple[float, ...]) -> dict[str, Check]:
    """Checks of the order and of every tick of a row."""
    order, *expected = row
    size = named(data.defect.max("step").sel({"method": name}))
    results = {"exact" if isinf(order) else f"order {order:g}": order_check(data, name, order)}
    return results | {
        f"{column}{'' if kept else ' not'}": tick(size[column], bool(kept))
        for column, kept in zip(COLUMNS, expected, strict=True)
    }


def row(name: str, data: xr.Dataset) -> Finding:
    """Judge a row of the table for the algorithm as printed; if misprinted, also as corrected and in the library."""
    expected = PRINTED[name][1]
    library, numbers = checks(data, name, expected), {"order": float(data.order.sel({"method": name}))}
    if name not in ALGORITHMS:
        return Finding(library, numbers)
    measured = {form: checks(data, f"{ALGORITHM}{name}, {form}", expected) for form, step in
             zip(("printed", "corrected"), ALGORITHMS[name], strict=True) if step is not None}  # fmt: skip
    ours = {f"{part}, polhode's {name}": check for part, check in library.items()}
    if "corrected" not in measured:
        return Finding(measured["printed"] | ours, numbers)
    return Finding(measured["printed"], numbers, measured["corrected"] | ours)


def promised(data: xr.Dataset) -> Finding:
    """Judge whether the method table's statements on free motion agree with the measurements."""
    broken: dict[str, str] = {}
    names = [name for name in map(str, data.method.values) if not name.startswith(ALGORITHM)]
    for name in names:
        promise, size = ph.methods.method(name).promises, named(data.defect.max("step").sel({"method": name}))
        expected = {column: key in promise.keeps_free for column, key in INVARIANTS.items()}
        expected["C"] = expected["C"] or expected["Qy"]
        measured = {column: tick(size[column], expected[column]) for column in INVARIANTS}
        measured |= {"symplectic": tick(size["symplectic"], promise.symplectic)}
        measured |= {"order": order_check(data, name, promise.order_free)}
        wrong = ", ".join(f"{part} {check.measured:.3g}" for part, check in measured.items() if check.true is False)
        broken |= {name: wrong} if wrong else {}
    criterion = "Qy, C, H and symplecticity by the criteria of the rows; the order where it shows"
    parts = {"all of them": criteria.fact(not broken, criterion, broken or f"all {len(names)} do")}
    return Finding(parts, {"methods": len(names), "not as promised": ", ".join(broken) or "none"})


def alone(data: xr.Dataset) -> Finding:
    worst = float(data.influence_of_Q.max())
    return Finding({"largest change of y(h) when Q(0) changes": criteria.at_most(worst, EXACT)},
                   {"methods": data.method.size})  # fmt: skip


FIGURE = Figure("table2", "what is preserved in free motion", compute, draw, (
    *(Claim(f"{PRINTED[name][0]}: order and preservation", "Table 2", partial(row, name)) for name in PRINTED),
    Claim("Poisson or not, the momentum moves by itself: y(h) depends on y(0) alone", "Table 2", alone),
    Claim("A splitting whose free rotations are exact is exact in free motion", "polhode", splittings),
    Claim("Every other method keeps in free motion what polhode's method table says", "polhode", promised),
))  # fmt: skip
