"""The discrete Moser-Veselov algorithm: orders, as printed and corrected, and invariants over 1000 periods."""

from __future__ import annotations

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.measure import named, relative_energy_error
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import common, pictures, printed

SPAN, STEPS, ORDERS = 10.0, (24, 30, 40, 60, 80, 160, 320), (2, 4, 6, 8, 10)
KEPT = {f"dmv{p}": p for p in ORDERS}
COMPARED = ("symmetric", "jacobi")  # other methods shown in the long run
STEP, PERIODS = 0.1, 1000


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("orders")
    maps = {name: common.body_map(name, common.BOOK) for name in KEPT}
    maps |= {f"order {p}, {form}": printed.algorithm_4(form, p, common.BOOK) for form in ("printed", "corrected")
             for p in (4, 6, 8)}  # fmt: skip
    errors = common.ladder(maps, common.STATE, common.body_map("exact", common.BOOK)(*common.STATE, SPAN), SPAN, STEPS)
    T = common.period(common.BOOK, common.Y0)
    n = round((PERIODS / 20 if quick else PERIODS) * T / STEP)
    runs = {}
    for name in (*KEPT, *COMPARED):
        report_progress(f"{n} steps of {name}")
        ds = ph.integrate(common.BODY_OF_FIG_1, name, step=STEP, steps=n, every=n // 500, **common.START)
        Qy, C = ds.angular_momentum_space, (ds.angular_momentum**2).sum("axis")
        H = np.abs(relative_energy_error(ds))
        runs[name] = [H, np.abs(C / C[0] - 1.0), np.sqrt(((Qy - Qy[0]) ** 2).sum(Qy.dims[1]))]
    changes = np.array([[x.values for x in three] for three in runs.values()])
    return xr.Dataset(
        {"error": errors, "change": (("kept_by", "quantity", "time"), changes)},
        {"kept_by": list(runs), "quantity": ["H", "C", "Qy"], "time": ds.time.values},
        {"period of the momentum": f"{T:.4f}", "steps of the long run": f"{n} of {STEP}"},
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.0)
    errors = data.error.sel({"method": [*KEPT, *(x for x in data.method.values if str(x).endswith("printed"))]})
    as_printed = [str(x) for x in errors.method.values[len(KEPT) :]]
    pictures.against_step(left, errors, "book of figure 1, $t = 10$", as_printed)
    shown = ("dmv2", "dmv10", "jacobi", "symmetric")
    lines = {name: np.maximum.accumulate(data.change.sel(kept_by=name, quantity="H").values) for name in shown}
    pictures.over_time(right, data.time, lines, rf"largest $|H/H_0 - 1|$ so far, step {STEP}")
    return {"dmv": picture}


def order_check(data: xr.Dataset, name: str, order: int) -> Check:
    """Check the order of a map; the tolerance is larger for high orders, which have few steps above round-off."""
    errors = data.error.sel({"method": name})
    return criteria.order_within(data.step, errors, order, common.tolerance(order), floor=1e-13)


def powers(data: xr.Dataset) -> Finding:
    checks = {
        form: {f"order {p}": order_check(data, f"order {p}, {form}", p) for p in (4, 6, 8)}
        for form in ("printed", "corrected")
    }
    corrected = {f"{name}, with h^(2k) in the k-th term": check for name, check in checks["corrected"].items()}
    measured = common.orders(data.error)
    return Finding(checks["printed"], {"orders, every term with h^2": {
        str(p): measured[f"order {p}, printed"] for p in (4, 6, 8)
    }}, corrected)  # fmt: skip


def high(data: xr.Dataset) -> Finding:
    measured = common.orders(data.error)
    parts = {name: order_check(data, name, p) for name, p in KEPT.items()}
    return Finding(parts, {"order": {name: measured[name] for name in KEPT}})


def invariants(data: xr.Dataset) -> Finding:
    worst = {str(q): named(data.change.sel(quantity=q).max("time")) for q in data["quantity"].values}
    parts = {
        f"{q} is constant": criteria.every({name: row[name] for name in KEPT}, criteria.at_most, 1e-12)
        for q, row in worst.items()
    }
    return Finding(parts, {f"largest change of {q}": row for q, row in worst.items()})


FIGURE = Figure("dmv", "discrete Moser-Veselov: orders, invariants over 1000 periods", compute, draw, (
    Claim("A perturbation of the moments of inertia gives any order 2p", "DMV", high),
    Claim("The modified moments of algorithm 4 with the functions of table 1 give order 2p", "Alg. 4", powers),
    Claim("The algorithm exactly conserves all quadratic invariants: Qy, C(y), H(y)", "DMV", invariants),
))  # fmt: skip
