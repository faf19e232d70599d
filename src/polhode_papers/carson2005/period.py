"""The period of a conic orbit by each integrator, from the times of passing the initial direction."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

ORBITS = (common.CIRCULAR, common.ELLIPTIC)
ORDERS = {
    common.SYMPLECTIC: 2,
    common.CORRECTED: 4,
    common.VERLET: 2,
    common.HEUN: 2,
    common.MIDPOINT: 2,
    common.RK4: 4,
    "s4_6": 4,
    "rkn6_14a": 6,
}
LADDERS = {2: (20.0, 10.0, 5.0, 2.5), 4: (40.0, 20.0, 10.0, 5.0), 6: (600.0, 400.0, 200.0, 10.0)}
FLOOR = 3e-12  # relative accuracy of the measurement


def passes(orbit_name: str, ds: xr.Dataset) -> np.ndarray:
    """Times of passing the initial direction, along the osculating conic of the row before; s."""
    start = common.STARTS[orbit_name]["position"]
    e, n = start / np.linalg.norm(start), np.cross(start, common.STARTS[orbit_name]["momentum"])
    f = np.cross(n / np.linalg.norm(n), e)
    t, r, v = ds.time.values, ds.position.values, ds.velocity.values
    revolution = np.unwrap(np.arctan2(r @ f, r @ e)) / (2.0 * np.pi)
    rows = np.searchsorted(revolution, np.arange(1, int(revolution[-1]) + 1)) - 1
    s = np.zeros(rows.size)
    for _ in range(8):  # Newton iterations; the angle is nearly proportional to time
        position, speed = ph.kepler.propagate(r[rows], v[rows], s, common.MU)
        angle_left = -np.arctan2(position @ f, position @ e)
        s += angle_left * (position**2).sum(axis=1) / np.linalg.norm(np.cross(position, speed), axis=1)
    return np.asarray(t[rows] + s)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    errors, lengths = np.zeros((len(ORBITS), len(ORDERS), 4)), {name: common.period(name) for name in ORBITS}
    for i, name in enumerate(ORBITS):
        for j, (label, p) in enumerate(ORDERS.items()):
            report_progress(f"{label}, {name}")
            for k, h in enumerate(LADDERS[p]):
                times = passes(name, common.run(label, name, step=h))
                errors[i, j, k] = times[-1] / times.size / lengths[name] - 1.0
    return xr.Dataset(
        {"error": (("orbit", "method", "level"), errors),
         "steps": (("method", "level"), [LADDERS[p] for p in ORDERS.values()])},
        {"orbit": list(ORBITS), "method": list(ORDERS), "level": np.arange(4)},
        {"measured": "mean over the whole revolutions of a day: "
         + ", ".join(f"{name} {int(common.DAY / T)} of {T:.8f} s" for name, T in lengths.items())},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 2, width=10.6, height=4.4, sharey=True)
    for ax, name in zip(axes, ORBITS, strict=True):
        table = common.lines_of(np.abs(data.error.sel(orbit=name)))
        common.ladder_panel(ax, common.lines_of(data.steps), table, "step (s)", "error of the period, relative")
        ax.set_title(f"{name} orbit")
        ax.label_outer()
    drawing.legend_below(picture, axes[0], 8)
    return {"period": picture}


def recovered(data: xr.Dataset) -> Finding:
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for name in ORBITS:
        errors = common.lines_of(data.error.sel(orbit=name))
        e = {k: float(errors[k][LADDERS[p].index(common.STEP)]) for k, p in ORDERS.items()}
        low, high = ([abs(e[k]) for k, p in ORDERS.items() if (p == 2) == small] for small in (True, False))
        parts[f"{name}: to 1e-6 by the symplectic rule and all others of order 2"] = at_most(max(low), 1e-6)
        parts[f"{name}: to 1e-8 by those of higher order"] = at_most(max(high), 1e-8)
        numbers[f"error of the period, {name}"] = e
        numbers[f"seconds in a revolution, {name}"] = {k: x * common.period(name) for k, x in e.items()}
    return Finding(parts, numbers)


def converges(data: xr.Dataset) -> Finding:
    """Judge orders from the two smallest steps with measurable errors."""
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for name in ORBITS:
        measured = {}
        for label, p in ORDERS.items():
            line, h = np.abs(common.of(data.error.sel(orbit=name), label)), common.of(data.steps, label)
            seen = np.flatnonzero(line > FLOOR)[-2:]
            measured[label] = common.power(h[seen], line[seen]) if seen.size > 1 else nan
            parts[f"{label}, {name}: order {p}"] = common.keeps(measured[label], p)
        numbers[f"orders, {name}"] = measured
    return Finding(parts, numbers)


FIGURE = Figure("period", f"the period that each integrator recovers, {common.DAY:g} s", compute, draw, (
    Claim("The period of a conic orbit should be recoverable from the integration scheme", "future steps", recovered),
    Claim("(done here) Errors of the period fall with the order of the scheme", "future steps", converges),
))  # fmt: skip
