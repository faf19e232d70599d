"""The discrete Lagrangian (14) for any alpha: all are variational integrators, alpha = 1/2 is the midpoint rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode_papers.carson2005 import common
from polhode_papers.carson2005.claims import H, derivative, residuals, step_of, symplectic_defect
from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import BLUE, GREY, VERMILION, Pictures, canvas, legend_below
from polhode_papers.measure import named, relative_energy_error
from polhode_papers.study import Claim, Figure, Finding, Reporter

ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0)
FEW = (0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 1.0)
STEPS = (40.0, 20.0, 10.0)
ORBITS = (common.CIRCULAR, common.ELLIPTIC)
ROUND_OFF = 1e-12  # relative, after the steps of a day
SAME, OTHER = 1e-12, 1e-6  # relative distances of two steps by the same method, and by different methods


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    alphas = FEW if quick else ALPHAS
    z = np.concatenate([*common.STARTS[common.ELLIPTIC].values()])
    midpoint = step_of(common.SYMPLECTIC, H)(z)
    shape = (len(alphas), len(ORBITS))
    errors, means = np.zeros((*shape, len(STEPS))), np.zeros(shape)
    single: dict[str, list[float]] = {name: [] for name in ("residual", "defect", "momentum_drift", "from_midpoint")}
    mirrored = []
    for i, alpha in enumerate(alphas):
        report_progress(f"alpha = {alpha:g}")
        method = f"variational:{alpha:g}"
        for j, name in enumerate(ORBITS):
            for k, h in enumerate(STEPS):
                ds = common.run(method, name, step=h)
                errors[i, j, k] = np.linalg.norm(ds.position[-1] - common.conic(name, common.DAY)[0])
            e = relative_energy_error(ds).values
            means[i, j] = common.revolutions(ds.time.values, e, common.period(name)).mean()
        L = ds.angular_momentum_space[:, 2]
        mirror = common.run(f"variational:{1.0 - alpha:g}", common.ELLIPTIC)
        mirrored.append(float(np.abs(mirror.position - ds.position).max() / np.abs(ds.position).max()))
        step = step_of(method, H)
        single["residual"].append(max(residuals(ds, alpha).values()))
        single["defect"].append(symplectic_defect(derivative(step, z)))
        single["momentum_drift"].append(float(np.abs(L / L[0] - 1.0).max()))
        single["from_midpoint"].append(float(np.linalg.norm((step(z) - midpoint)[:3]) / np.linalg.norm(z[:3])))
    return xr.Dataset(
        {"error": (("alpha", "orbit", "step"), errors), "mean": (("alpha", "orbit"), means),
         "mirrored": ("alpha", mirrored), **{name: ("alpha", values) for name, values in single.items()}},
        {"alpha": list(alphas), "orbit": list(ORBITS), "step": list(STEPS)},
        {"one step": f"of {H:g} s from the start of the elliptic orbit; everything else: a day, "
                     f"steps of {common.STEP:g} s"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = canvas(1, 2, width=9.6, height=3.8)
    for name, colour, marker in zip(ORBITS, (BLUE, VERMILION), "os", strict=True):
        line_style = {"color": colour, "marker": marker, "label": f"{name} orbit"}
        left.plot(data.alpha, data.error.sel(orbit=name, step=common.STEP), **line_style)
        right.plot(data.alpha, 1e6 * data["mean"].sel(orbit=name), **line_style)
    left.set(xlabel="$α$", ylabel="km", title="distance from the conic after a day")
    right.set(xlabel="$α$", ylabel="millionths", title="mean energy less the exact one")
    left.set_ylim(0.0, None)
    right.axhline(0.0, color=GREY, linewidth=0.8)
    legend_below(picture, left, 2)
    return {"alpha": picture}


# ------------------------------------------------------------------ verdicts
def variational(data: xr.Dataset) -> Finding:
    values = named(data.residual)
    return Finding({f"alpha = {a}: (12), (18) and (19) to round-off at every step": at_most(x, ROUND_OFF)
                    for a, x in values.items()}, {"largest residual, relative to the momentum": values})  # fmt: skip


def preserving(data: xr.Dataset) -> Finding:
    defect, drift = named(data.defect), named(data.momentum_drift)
    parts = {f"alpha = {a}: symplectic, M^T J M = J": at_most(x, 1e-11) for a, x in defect.items()}
    parts |= {f"alpha = {a}: angular momentum to round-off": at_most(x, ROUND_OFF) for a, x in drift.items()}
    return Finding(parts, {"M^T J M - J": defect, "change of the angular momentum, relative": drift})


def second_order(data: xr.Dataset) -> Finding:
    findings = []
    for name in ORBITS:
        lines = common.lines_of(data.error.sel(orbit=name), "alpha")
        measured = {f"{float(a):g}": common.order_of(data.step.values, line.values) for a, line in lines.items()}
        parts = {f"alpha = {a}, {name}: order 2": common.keeps(order, 2) for a, order in measured.items()}
        findings.append(Finding(parts, {f"orders, {name}": measured}))
    return Finding.joined(findings)


def only_one(data: xr.Dataset) -> Finding:
    measured = named(data.from_midpoint)
    parts = {f"alpha = {a} is {'' if a == '0.5' else 'not '}the midpoint rule":
             at_most(x, SAME) if a == "0.5" else at_least(x, OTHER) for a, x in measured.items()}  # fmt: skip
    return Finding(parts, {f"place after one step of {H:g} s, from the midpoint rule's, relative": measured})


def mirror(data: xr.Dataset) -> Finding:
    values = named(data.mirrored)
    return Finding({f"alpha = {a} and {1.0 - float(a):g}: the same path": at_most(x, 1e-10) for a, x in values.items()},
                   {"largest distance in a day, relative": values})  # fmt: skip


def midpoint_best(data: xr.Dataset) -> Finding:
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for name in ORBITS:
        measured = named(data.error.sel(orbit=name, step=common.STEP))
        nearest = min(x for a, x in measured.items() if a != "0.5")
        words = f"{name}: closest to the conic after a day: error over the least of the others"
        parts[words] = at_most(measured["0.5"] / nearest, 1.0)
        numbers[f"distance, {name}, km"] = measured
    return Finding(parts, numbers)


FIGURE = Figure("alpha", f"the discrete Lagrangian (14) with any alpha, {common.DAY:g} s", compute, draw, (
    Claim("The discrete Lagrangian (14) defines a variational algorithm, whatever alpha is", "(12)-(19)", variational),
    Claim("The midpoint rule is the algorithm of alpha = 1/2, and of no other", "theorem 1", only_one),
    Claim("(not said) Every alpha gives a symplectic integrator that keeps the angular momentum", "(14)", preserving),
    Claim("(not said) Every alpha gives order 2", "(14)", second_order),
    Claim("(14) is symmetric: alpha and 1 - alpha are the same integrator", "(14)", mirror),
    Claim("(to be examined) alpha = 1/2 is the choice that is closest to the orbit", "(14)", midpoint_best),
))  # fmt: skip
