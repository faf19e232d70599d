"""Table 2 measured: what a method preserves in free motion, as defects for the body of figure 1 at several steps.

======== ==============================================================================================================
order    slope of the error in state against the step; infinite if one step over the whole span is exact
Qy, C, H largest change over a run, relative to the initial value or to 1
Poisson  D hat(y0) D^T - hat(y1), D the Jacobian of y1 with respect to y0: zero for a Poisson map of Euler's equations
symplectic the same for the form of T*SO(3), with the Jacobian of the whole step
y alone  change of y1 when Q0 changes: if not zero, there is no map of the momentum alone that could be Poisson
======== ==============================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf, isinf
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria
from polhode_papers.study import Check, Reporter
from polhode_papers.vilmart2013.common import BODY_OF_FIG_1, BROKEN, KEPT, START, Map, as_matrix, tolerance

Advance = Callable[..., Any]
"""``take_steps(state, t, h, n=1) -> state`` takes n steps of a method."""

COLUMNS = ("Qy", "C", "H", "Poisson", "symplectic")
INVARIANTS = {"Qy": "spatial_momentum", "C": "momentum_length", "H": "energy"}
TABLEAUX = ("mkrk", "mkrk:gauss4", "mkrk:gauss4:cayley", "mkrk:gauss8")


def of_family(family: str) -> list[str]:
    """Names of the methods of a family."""
    return [name for name, row in ph.methods.METHODS.items() if row.family == family]


GROUPS = {
    **dict.fromkeys((*ph.methods.FLOW_NAMES, "lgvi"), "other free rotations"),
    **dict.fromkeys(of_family("krysl"), "one-step methods of Krysl's paper and others"),
    **dict.fromkeys(("bbtrapwd", *TABLEAUX), "Munthe-Kaas methods"),
    **dict.fromkeys(of_family("commutator_free"), "products of exponentials"),
    "taylor8": "Taylor methods",  # higher orders are accurate to round-off at these steps
}
METHODS_MEASURED = tuple(GROUPS)
SPLITTINGS = tuple(name for name in of_family("splitting") if name not in GROUPS)
"""All other splittings; their free rotations are exact by default."""

STEPS = (0.1, 0.2, 0.4)
SPAN = 2.0  # time span for measuring the order; the period of the momentum is 7.8
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # central differences of order 8


def after(take_steps: Any, h: float, y: Any) -> Any:
    """The state after one step."""
    return take_steps(y, 0.0, h)


def poisson_defect(take_steps: Any, y: Any, h: float) -> float:
    """Largest entry of D hat(y0) D^T - hat(y1) for one step, by central differences of two sizes."""
    end = take_steps(y, 0.0, h)
    results = []
    for size in (0.02, 0.005):
        D = np.zeros((3, 3))
        for c in range(3):
            for n, weight in enumerate(WEIGHTS):
                ends = []
                for side in (1.0, -1.0):
                    perturbed = y.copy()
                    perturbed[ph.runs.ANGULAR_MOMENTUM][c] += side * (n + 1) * size
                    ends.append(take_steps(perturbed, 0.0, h)[ph.runs.ANGULAR_MOMENTUM])
                D[:, c] += weight / size * (ends[0] - ends[1])
        before, after = ph.rotation.hat(y[ph.runs.ANGULAR_MOMENTUM]), ph.rotation.hat(end[ph.runs.ANGULAR_MOMENTUM])
        results.append(float(np.abs(D @ before @ D.T - after).max()))
    return min(results)


def influence_of_Q(take_steps: Any, y: Any, h: float) -> float:
    """Largest change of y1 when the initial attitude changes."""
    end, largest = take_steps(y, 0.0, h), 0.0
    for turn in ((1.0, 0.0, 0.0), (0.4, -2.0, 0.7)):
        rotated = y.copy()
        rotated[ph.runs.ATTITUDE] = ph.rotation.multiply(ph.rotation.exp_quaternion(turn), y[ph.runs.ATTITUDE])
        change = (take_steps(rotated, 0.0, h) - end)[ph.runs.ANGULAR_MOMENTUM]
        largest = max(largest, float(np.abs(change).max()))
    return largest


LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of steps for measuring an order."""
FLOOR = 1e-12
"""Errors below this are partly round-off."""


def errors_of(take_steps: Advance, system: Any, y: Any, end: Any) -> Any:
    """Errors after the span for each of ``LADDER``; NaN if a step is too large or an earlier error < ``FLOOR``."""
    result = np.full(len(LADDER), np.nan)
    for k, n in enumerate(LADDER):
        try:
            result[k] = ph.checks.state_distance(take_steps(y, 0.0, SPAN / n, n), end, system)
        except ph.errors.PolhodeError:
            continue
        if result[k] < FLOOR:
            break
    return result


def exact(take_steps: Advance, system: Any, y: Any, end: Any) -> float:
    """Error of one step over the whole span; infinite if it fails."""
    try:
        return ph.checks.state_distance(take_steps(y, 0.0, SPAN), end, system)
    except ph.errors.PolhodeError:
        return inf


def observed(errors: Any, one_step: float) -> float:
    """Observed order, infinite for an exact flow; the expected order is not used."""
    if one_step < FLOOR:
        return inf
    return ph.trajectory.convergence.observed_order(SPAN / np.array(LADDER), errors, FLOOR)


def drifts(take_steps: Advance, system: Any, y: Any, h: float, steps: int) -> dict[str, float]:
    """Largest change of Qy, C, H over a run, relative to the initial value or 1; infinite if the run ends early."""
    states = [np.array(y, dtype=float)]
    try:
        for k in range(steps):
            states.append(take_steps(states[-1], k * h, h))
    except ph.errors.PolhodeError:
        return dict.fromkeys(INVARIANTS.values(), inf)
    values = ph.checks.quantities(system, np.array(states), h)
    kept = {name: values[name] for name in INVARIANTS.values()}
    return {name: float(np.abs(x - x[0]).max() / max(1.0, np.abs(x)[0].max())) for name, x in kept.items()}


def as_states(step: Map) -> Advance:
    """A map of momentum and matrix as a map of states."""

    def take_steps(y: Any, t: float, h: float, n: int = 1) -> Any:
        m, Q = as_matrix(y)
        for _ in range(n):
            m, Q = step(m, Q, h)
        return ph.runs.start_state(BODY_OF_FIG_1, attitude=ph.rotation.quaternion_from_matrix(Q), angular_momentum=m)

    return take_steps


def measure(maps: Mapping[str, Advance], steps_of_run: int, report_progress: Reporter) -> xr.Dataset:
    """Defects of maps over (method, column, step), their errors and orders."""
    system, y = BODY_OF_FIG_1, ph.runs.start_state(BODY_OF_FIG_1, **START)
    end = ph.checks.exact_state(system, y, 0.0, SPAN)
    defects = np.zeros((len(maps), len(COLUMNS), len(STEPS)))
    order, one_step, influence = np.zeros((3, len(maps)))
    errors = np.zeros((len(maps), len(LADDER)))
    for i, (label, take_steps) in enumerate(maps.items()):
        report_progress(label)
        one_step[i], errors[i] = exact(take_steps, system, y, end), errors_of(take_steps, system, y, end)
        order[i] = observed(errors[i], one_step[i])
        influence[i] = influence_of_Q(take_steps, y, STEPS[-1])
        for j, h in enumerate(STEPS):
            drift = drifts(take_steps, system, y, h, steps_of_run)
            defects[i, :3, j] = [drift[name] for name in INVARIANTS.values()]
            defects[i, 3, j] = poisson_defect(take_steps, y, h)
            defects[i, 4, j] = ph.checks.symplectic_defect(partial(after, take_steps, h), system, y)
    return xr.Dataset(
        {
            "defect": (("method", "column", "step"), defects), "error": (("method", "rung"), errors),
            "order": ("method", order), "error_of_one_step": ("method", one_step),
            "influence_of_Q": ("method", influence),
        },
        {"method": list(maps), "column": list(COLUMNS), "step": list(STEPS), "rung": SPAN / np.array(LADDER)},
    )  # fmt: skip


def methods_as_maps(methods: Sequence[str]) -> dict[str, Advance]:
    """Steps of polhode methods for the body of figure 1, by name."""
    y = ph.runs.start_state(BODY_OF_FIG_1, **START)
    return {label: ph.checks.stepper(label, BODY_OF_FIG_1, y) for label in methods}


def ticks(data: xr.Dataset) -> xr.DataArray:
    """1 if a column's defect is round-off at every step, 0 if clearly larger at some step, NaN if unclear."""
    worst: xr.DataArray = data.defect.max("step")
    return worst.copy(data=verdicts(worst.values))


def verdicts(worst: Any) -> Any:
    """Ticks (1, 0, NaN) of the largest defects."""
    return np.where(worst <= KEPT, 1.0, np.where(worst > BROKEN, 0.0, np.nan))


def tick(size: float, kept: bool) -> Check:
    """Check that a defect is round-off, or that it is clearly larger."""
    return criteria.at_most(size, KEPT) if kept else criteria.at_least(size, BROKEN)


def order_check(data: xr.Dataset, name: str, expected: float) -> Check:
    """Check that a method is exact (infinite order), or that its errors fall with this order."""
    chosen = data.sel({"method": name})
    if isinf(expected) or isinf(float(chosen.order)):
        return criteria.order_is(float(chosen.order), expected)
    return criteria.order_within(data.rung.values, chosen.error.values, expected, tolerance(expected), FLOOR)
