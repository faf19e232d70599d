"""One spacecraft and several planets: which energy is conserved, and the effect of drag.

A star of gravitational parameter 1 has planets of 1/50 and 1/100; a spacecraft of 1e-6 flies inside their orbits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.carson2005 import common
from polhode_papers.carson2005.drag import air
from polhode_papers.criteria import at_least, at_most, falling
from polhode_papers.drawing import BLUE, COLOURS, GREEN, GREY, ORANGE, VERMILION, Pictures, canvas
from polhode_papers.measure import named, relative_energy_error, unwarned, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

NAMES = ("star", "first planet", "second planet", "spacecraft")
SIZES = (1.0, 0.02, 0.01, 1e-6)  # gravitational constant times mass
PLACES = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-1.7, 0.0, 0.1), (0.0, 0.45, 0.02))
SPEEDS = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -0.76, 0.0), (-1.45, 0.0, 0.1))
SPAN = 20.0  # three revolutions of the first planet, eleven of the spacecraft
ORDERS = {common.SYMPLECTIC: 2, "s4_6": 4, common.RK4: 5, "s6_10": 6}
ROW = 0.5  # output interval, so that errors at different steps are compared at equal times
STEPS = {common.SYMPLECTIC: (0.02, 0.01, 0.005), "s4_6": (0.25, 0.125, 0.0625), common.RK4: (0.02, 0.01, 0.005),
         "s6_10": (0.25, 0.125, 0.0625)}  # fmt: skip
"""The energy drift of RK4, not symplectic, is one order higher than the method."""
ROUND_OFF = 1e-13
FINE = {"rkn6_14a": 0.01, common.GAUSS: 0.02}
KD = 2e-8  # 1/km, of the drag


def system_and_start() -> tuple[Any, dict[str, Any]]:
    """The four bodies, in the frame of their centre of mass."""
    masses = np.array(SIZES)
    places, speeds = (x - masses @ x / masses.sum() for x in (np.array(PLACES), np.array(SPEEDS)))
    return ph.gravitating_bodies(masses), {"position": places, "velocity": speeds}


@unwarned()
def travel(label: str, step: float, every: int = 1) -> xr.Dataset:
    system, start = system_and_start()
    n = whole(SPAN, step)
    return ph.integrate(system, common.METHODS.get(label, label), step=step, steps=n, every=every, **start)


def own_energy(ds: xr.Dataset) -> Any:
    """Energy of the spacecraft in the field of the others, per unit mass."""
    r, v = ds.position.values, ds.velocity.values
    separation = np.linalg.norm(r[:, 3:] - r[:, :3], axis=-1)
    return 0.5 * (v[:, 3] ** 2).sum(axis=-1) - (np.array(SIZES[:3]) / separation).sum(axis=-1)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    errors = np.zeros((len(ORDERS), 3))
    for i, label in enumerate(ORDERS):
        report_progress(label)
        for k, h in enumerate(STEPS[label]):
            errors[i, k] = np.abs(relative_energy_error(travel(label, h, whole(ROW, h)))).max()
    report_progress("fine steps")
    fine = {label: travel(label, h, whole(0.1, h)) for label, h in FINE.items()}
    ds = fine[common.GAUSS]
    swing = travel(common.SYMPLECTIC, 0.01, 10)
    report_progress("drag")
    falling = common.run(common.GAUSS, common.CIRCULAR, forces=air(KD), step=60.0)
    momenta = [float(np.abs(x - x[0]).max()) for x in (ds.total_momentum.values, ds.total_angular_momentum.values)]
    return xr.Dataset(
        {
            "position": (("time", "body", "axis"), ds.position.values),
            "change": (("method", "time"), [relative_energy_error(x).values for x in (swing, *fine.values())]),
            "own": ("time", own_energy(ds)),
            "error": (("scheme", "level"), errors),
            "steps": (("scheme", "level"), list(STEPS.values())),
            "momentum_change": ("quantity", momenta),
            "falling": ("hours", falling.energy.values),
            "unaccounted": ("hours", relative_energy_error(falling).values),
        },
        {"method": [common.SYMPLECTIC, *fine], "time": ds.time.values, "body": list(NAMES), "axis": ["x", "y", "z"],
         "scheme": list(ORDERS), "level": range(3), "hours": falling.time.values / 3600.0,
         "quantity": ["momentum", "angular momentum"]},
        {"fine steps": ", ".join(f"{label} {h:g}" for label, h in FINE.items()),
         "drag": f"kd = {KD:g}/km on the circular orbit of the paper, {common.DAY:g} s, "
                 f"{common.GAUSS} with steps of 60 s"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, (axes,) = canvas(1, 3, width=12.6, height=4.0)
    for k, name in enumerate(NAMES):
        x, y = data.position.values[:, k, 0], data.position.values[:, k, 1]
        axes[0].plot(x, y, color=(ORANGE, BLUE, GREEN, VERMILION)[k], linewidth=0.9, label=name)
    axes[0].set(title="paths", xlabel="x", ylabel="y")
    axes[0].set_aspect("equal", adjustable="datalim")
    axes[1].plot(data.time, data.own / abs(float(data.own[0])), color=VERMILION)
    axes[1].axhline(-1.0, color=GREY, linewidth=0.8)
    axes[1].set(title="energy of the spacecraft alone", xlabel="time", ylabel="in units of its first value")
    for k, label in enumerate(data["method"].values):
        y = np.abs(common.of(data.change, label))
        axes[2].semilogy(data.time, np.where(y > 0, y, np.nan), ".", markersize=2, color=COLOURS[k], label=str(label))
    axes[2].set(title="total energy: change, relative", xlabel="time")
    (lines, names), (dots, methods) = (ax.get_legend_handles_labels() for ax in (axes[0], axes[2]))
    picture.legend(lines + dots, names + methods, loc="outside lower center", ncols=7, frameon=False, markerscale=4)
    return {"multi_body": picture}


# ------------------------------------------------------------------ verdicts
def conserved(data: xr.Dataset) -> Finding:
    energy_change = common.largest(data.change, list(FINE))
    momentum_change = named(data.momentum_change)
    parts = {f"{label}, fine steps: total energy": at_most(x, ROUND_OFF) for label, x in energy_change.items()}
    parts |= {f"total {name}": at_most(x, ROUND_OFF) for name, x in momentum_change.items()}
    return Finding(parts, {"largest change of the energy, relative": energy_change, "of the momenta": momentum_change})


def with_the_order(data: xr.Dataset) -> Finding:
    steps, errors = (common.lines_of(x, "scheme") for x in (data.steps, data.error))
    measured = {k: common.order_of(steps[k].values, errors[k].values) for k in ORDERS}
    parts = {k: common.keeps(measured[k], p) for k, p in ORDERS.items()}
    return Finding(parts, {"orders of the largest error of the energy": measured})


def alone(data: xr.Dataset) -> Finding:
    change = float(np.ptp(data.own.values) / abs(float(data.own[0])))
    return Finding({"range of the spacecraft's own, relative": at_least(change, 0.01)}, {"range": change})


def not_with_drag(data: xr.Dataset) -> Finding:
    E = data.falling.values
    lost, residual = float((E[0] - E[-1]) / abs(E[0])), float(np.abs(data.unaccounted).max())
    parts: dict[str, Any] = {"with drag it falls, from row to row": falling(E),
             "what is lost is the work of the drag, to round-off": at_most(residual, 1e-12)}  # fmt: skip
    return Finding(parts, {"lost in a day, relative": lost, "change less work": residual})


FIGURE = Figure("multi_body", "a spacecraft among several planets", compute, draw, (
    Claim("For a spacecraft and multiple planets a conservation of energy principle exists as well",
          "equations of motion", conserved),
    Claim("(not said) It is one of the whole system: energy of the spacecraft alone is not conserved",
          "equations of motion", alone),
    Claim("(done here) Integrators keep it as well as their order says", "equations of motion", with_the_order),
    Claim("The presence of non-conservative forces causes energy not to be conserved", "equations of motion",
          not_with_drag),
))  # fmt: skip
