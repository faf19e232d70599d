"""An impulse of 0.02 km/s along the velocity after half a day of the circular orbit; exact solution: two conic arcs."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, rising
from polhode_papers.study import Claim, Figure, Finding, Reporter

TIMES = {"at the end of a step": common.DAY / 2, "within a step": common.DAY / 2 + 3.7}
SIZE = 0.02  # km/s, along the velocity
ORDERS = {common.SYMPLECTIC: 2, common.RK4: 4, "rkn6_14a": 6, common.GAUSS: 8}
STEPS = {common.SYMPLECTIC: (40.0, 20.0, 10.0), common.RK4: (20.0, 5.0, 2.5), "rkn6_14a": (400.0, 200.0, 100.0),
         common.GAUSS: (600.0, 300.0, 150.0)}  # fmt: skip
LABELS = (common.SYMPLECTIC, common.RK4, common.CONIC)


def burn(time: float) -> list[ph.forces.Force]:
    return [ph.forces.impulse(time, SIZE, frame="velocity")]


def after(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity on the conic just after the impulse."""
    r, v = common.conic(common.CIRCULAR, time)
    return r, v + SIZE * v / np.linalg.norm(v)


def truth(time: float, t: np.ndarray) -> np.ndarray:
    """Exact positions on the two arcs, km."""
    later = ph.kepler.propagate(*after(time), np.maximum(t - time, 0.0), common.MU)[0]
    return np.asarray(np.where((t < time)[:, None], common.conic(common.CIRCULAR, np.minimum(t, time))[0], later))


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    time = TIMES["at the end of a step"]
    runs = {label: common.run(label, common.CIRCULAR, forces=burn(time)) for label in (common.SYMPLECTIC, common.RK4)}
    t = np.unique(runs[common.RK4].time.values)
    rows = [np.flatnonzero(np.append(np.diff(runs[label].time.values) > 0, True)) for label in runs]  # after it
    positions = [ds.position.values[k] for ds, k in zip(runs.values(), rows, strict=True)] + [truth(time, t)]
    arcs = [ph.kepler.specific_energy(r, v, common.MU) for r, v in (common.conic(common.CIRCULAR, 0.0), after(time))]
    energies = [ds.energy.values[k] for ds, k in zip(runs.values(), rows, strict=True)] + [np.where(t < time, *arcs)]
    errors = np.zeros((len(TIMES), len(ORDERS), 3))
    for i, at in enumerate(TIMES.values()):
        end = truth(at, np.array([common.DAY]))[0]
        for j, label in enumerate(ORDERS):
            report_progress(f"{label}, impulse at {at:g} s")
            ends = [common.last(label, common.CIRCULAR, step=h, forces=burn(at)) for h in STEPS[label]]
            errors[i, j] = [np.linalg.norm(run.position - end) for run in ends]
    report_progress("stopped by hand")
    half = common.run(common.RK4, common.CIRCULAR, t_end=time, every=1000).isel(time=-1)
    p = half.momentum.values
    start = {"position": half.position.values, "momentum": p + SIZE * p / np.linalg.norm(p)}
    restarted = common.run(common.RK4, common.CIRCULAR, t_end=common.DAY - time, every=1000, start=start).isel(time=-1)
    result = xr.Dataset(
        {
            "position": (("method", "time", "axis"), np.array(positions)),
            "energy": (("method", "time"), np.array(energies)),
            "error": (("impulse", "scheme", "level"), errors),
            "steps": (("scheme", "level"), list(STEPS.values())),
            "by_hand": ("axis", restarted.position.values - runs[common.RK4].position.values[-1]),
        },
        dict(method=list(LABELS), time=t, axis=list("xyz"), impulse=list(TIMES), scheme=list(ORDERS), level=range(3)),
        {
            "impulse": f"{SIZE:g} km/s along the velocity, at {' or '.join(f'{x:g}' for x in TIMES.values())} s",
            "reference": "two conic arcs",
        },
    )
    return result.isel(time=slice(None, None, 6))


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 3, width=12.6, height=4.2)
    common.plane(axes[0], data, LABELS)
    axes[0].set_title("paths")
    common.lines(axes[1], data.energy, LABELS)
    axes[1].set_title("energy (km²/s² for 1 kg)")
    common.order_panel(axes[2], data, "distance from the second arc, at the end", impulse="within a step")
    (lines, names), (errors, schemes) = (ax.get_legend_handles_labels() for ax in (axes[0], axes[2]))
    picture.legend([lines[-1], *errors], [names[-1], *schemes], loc="outside lower center", ncols=5, frameon=False)
    return {"impulse": picture}


def stopped(data: xr.Dataset) -> Finding:
    difference = float(np.linalg.norm(data.by_hand))
    parts = {"stopping, changing the velocity and going on is what the run does": at_most(difference, 0.0)}
    return Finding(parts, {"difference, km": difference})


def new_level(data: xr.Dataset) -> Finding:
    time = TIMES["at the end of a step"]
    before, later = data.time < time, data.time >= time
    jump = float(common.of(data.energy, common.CONIC)[-1] - common.of(data.energy, common.CONIC)[0])
    parts: dict[str, Any] = {}
    numbers: dict[str, Any] = {"jump of the conic": jump}
    for label in (common.SYMPLECTIC, common.RK4):
        line = data.energy.sel({"method": label})
        E0, E1 = float(line.where(before).mean()), float(line.where(later).mean())
        spread = max(float(np.ptp(line.values[before.values])), float(np.ptp(line.values[later.values])))
        parts[f"{label}: constant on both levels, to a thousandth of the jump"] = at_most(spread / jump, 1e-3)
        parts[f"{label}: the jump is that of the conic, to a thousandth"] = at_most(abs(E1 - E0 - jump) / jump, 1e-3)
        numbers |= {f"{label}: jump of the mean": E1 - E0, f"{label}: largest swing on a level": spread}
    T = ph.kepler.period(*after(time), common.MU)
    t, E = data.time.values[later.values] - time, common.of(data.energy, common.SYMPLECTIC)[later.values]
    means = common.revolutions(t, E, float(T))
    move = float(abs(means[-1] - means[0]) / np.ptp(E))
    parts["symplectic: the mean on the new level does not move (by 1 % of its swing)"] = at_most(move, 0.01)
    return Finding(parts, numbers)


def orders(data: xr.Dataset) -> Finding:
    return Finding.joined(common.orders_kept(data, ORDERS, f"impulse {at}", impulse=at) for at in TIMES)


def versus(data: xr.Dataset) -> Finding:
    at = data.error.sel(impulse="at the end of a step")
    e = {k: float(at.sel(scheme=k)[list(STEPS[k]).index(20.0)]) for k in (common.SYMPLECTIC, common.RK4)}
    return Finding({"symplectic is the closer to the second arc": rising(e)}, {"distance, steps of 20 s, km": e})


CLAIMS = (
    Claim("Impulses: both integrators are stopped, and a step change is made to the velocity", "objective", stopped),
    Claim("The impulsive force is essentially bumping the energy to a new, constant level", "objective", new_level),
    Claim(
        "RK methods incorporate starts and stops; so do the others, each with its order", "objective, future", orders
    ),
    Claim("(left open) The symplectic integrator handles the change better than RK4", "objective", versus),
)
FIGURE = Figure("impulse", f"an impulse, {common.DAY:g} s, steps of {common.STEP:g} s", compute, draw, CLAIMS)
