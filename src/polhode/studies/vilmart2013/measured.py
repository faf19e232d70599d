"""Table 2 measured: what a method preserves in free motion, as defects of the body of figure 1 at several steps.

======== ==============================================================================================================
order    slope of the error in state against the step; an exact flow has only the error of one long step
Qy, C, H largest change over a run, relative to the value at the start or to 1
Poisson  D hat(y0) D^T - hat(y1), D the Jacobian of y1 with respect to y0: zero for a Poisson map of Euler's equations
symplectic the same for the form of T*SO(3), with the Jacobian of the whole step
y alone  how much y1 changes when Q0 does: where this is not zero there is no map of the momentum that could be Poisson
======== ==============================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf, isinf
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.checks import exact_state, quantities, state_distance, stepper, symplectic_defect
from polhode.errors import PolhodeError
from polhode.kernel import layout as L
from polhode.methods import FLOW_NAMES, METHODS
from polhode.runs.single import start_state
from polhode.studies import criteria
from polhode.studies.study import Check, Tell
from polhode.studies.vilmart2013.common import BODY_OF_FIG_1, BROKEN, KEPT, START, Map, as_matrix, tolerance
from polhode.trajectory.convergence import observed_order

Advance = Callable[..., Any]
"""``steps_of_method(state, t, h, n=1) -> state`` takes n steps."""

COLUMNS = ("Qy", "C", "H", "Poisson", "symplectic")
INVARIANTS = {"Qy": "spatial_momentum", "C": "momentum_length", "H": "energy"}
TABLEAUX = ("mkrk", "mkrk:gauss4", "mkrk:gauss4:cayley", "mkrk:gauss8")
GROUPS = {
    **dict.fromkeys(FLOW_NAMES, "other free rotations"),
    **{name: "one-step methods of Krysl's paper and others" for name, row in METHODS.items() if row.family == "krysl"},
    **dict.fromkeys(("bbtrapwd", *TABLEAUX), "Munthe-Kaas methods"),
    "taylor8": "Taylor methods",  # those of higher order are accurate to round-off at these steps
}
METHODS_MEASURED = tuple(GROUPS)
SPLITTINGS = tuple(name for name, row in METHODS.items() if row.family == "splitting" and name not in GROUPS)
"""All the others; their free rotations are exact by default."""

STEPS = (0.1, 0.2, 0.4)
SPAN = 2.0  # of the measurement of the order; the period of the momentum is 7.8
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # central differences of order 8


def after(steps_of_method: Any, h: float, y: Any) -> Any:
    """The state after one step."""
    return steps_of_method(y, 0.0, h)


def poisson_defect(steps_of_method: Any, y: Any, h: float) -> float:
    """Largest entry of D hat(y0) D^T - hat(y1) for one step, by central differences of two sizes."""
    end = steps_of_method(y, 0.0, h)
    found = []
    for size in (0.02, 0.005):
        D = np.zeros((3, 3))
        for c in range(3):
            for n, weight in enumerate(WEIGHTS):
                ends = []
                for side in (1.0, -1.0):
                    moved = y.copy()
                    moved[L.ANGULAR + c] += side * (n + 1) * size
                    ends.append(steps_of_method(moved, 0.0, h)[L.ANGULAR : L.BODY])
                D[:, c] += weight / size * (ends[0] - ends[1])
        before, after = rotation.hat(y[L.ANGULAR : L.BODY]), rotation.hat(end[L.ANGULAR : L.BODY])
        found.append(float(np.abs(D @ before @ D.T - after).max()))
    return min(found)


def influence_of_Q(steps_of_method: Any, y: Any, h: float) -> float:
    """Largest change of y1 when the body starts from other attitudes."""
    end, largest = steps_of_method(y, 0.0, h), 0.0
    for turn in ((1.0, 0.0, 0.0), (0.4, -2.0, 0.7)):
        moved = y.copy()
        moved[L.ATTITUDE : L.ANGULAR] = rotation.multiply(rotation.exp_quaternion(turn), y[L.ATTITUDE : L.ANGULAR])
        largest = max(
            largest, float(np.abs(steps_of_method(moved, 0.0, h)[L.ANGULAR : L.BODY] - end[L.ANGULAR : L.BODY]).max())
        )
    return largest


LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of steps from which an order is read."""
FLOOR = 1e-12
"""Errors below are partly round-off."""


def errors_of(steps_of_method: Advance, system: Any, y: Any, end: Any) -> Any:
    """Errors after the span on the ladder of steps; NaN for steps that are too large, and after the floor."""
    found = np.full(len(LADDER), np.nan)
    for k, n in enumerate(LADDER):
        try:
            found[k] = state_distance(steps_of_method(y, 0.0, SPAN / n, n), end, system)
        except PolhodeError:
            continue
        if found[k] < FLOOR:
            break
    return found


def exact(steps_of_method: Advance, system: Any, y: Any, end: Any) -> float:
    """The error of one step over the whole span."""
    try:
        return state_distance(steps_of_method(y, 0.0, SPAN), end, system)
    except PolhodeError:
        return inf


def observed(errors: Any, one_step: float) -> float:
    """Order, infinite for an exact flow: read without knowing the one that is promised."""
    if one_step < FLOOR:
        return inf
    return observed_order(SPAN / np.array(LADDER), errors, FLOOR)


def drifts(steps_of_method: Advance, system: Any, y: Any, h: float, steps: int) -> dict[str, float]:
    """Largest change of Qy, C, H over a run, relative to its size at the start or 1; infinite if it ends early."""
    states = [np.array(y, dtype=float)]
    try:
        for k in range(steps):
            states.append(steps_of_method(states[-1], k * h, h))
    except PolhodeError:
        return dict.fromkeys(INVARIANTS.values(), inf)
    found = quantities(system, np.array(states), h)
    sizes = {name: np.abs(found[name]) for name in INVARIANTS.values()}
    return {
        name: float(np.abs(found[name] - found[name][0]).max() / max(1.0, size[0].max()))
        for name, size in sizes.items()
    }


def as_states(step: Map) -> Advance:
    """A map of momentum and matrix as one of states."""

    def steps_of_method(y: Any, t: float, h: float, n: int = 1) -> Any:
        m, Q = as_matrix(y)
        for _ in range(n):
            m, Q = step(m, Q, h)
        return start_state(BODY_OF_FIG_1, attitude=rotation.quaternion_from_matrix(Q), angular_momentum=m)

    return steps_of_method


def measure(maps: Mapping[str, Advance], steps_of_run: int, report_progress: Tell) -> xr.Dataset:
    """Defects of maps, over (method, column, step), and their errors on the ladder."""
    system, y = BODY_OF_FIG_1, start_state(BODY_OF_FIG_1, **START)
    end = exact_state(system, y, 0.0, SPAN)
    defects = np.zeros((len(maps), len(COLUMNS), len(STEPS)))
    order, one_step, influence = np.zeros((3, len(maps)))
    errors = np.zeros((len(maps), len(LADDER)))
    for i, (label, steps_of_method) in enumerate(maps.items()):
        report_progress(label)
        one_step[i], errors[i] = exact(steps_of_method, system, y, end), errors_of(steps_of_method, system, y, end)
        order[i] = observed(errors[i], one_step[i])
        influence[i] = influence_of_Q(steps_of_method, y, STEPS[-1])
        for j, h in enumerate(STEPS):
            kept = drifts(steps_of_method, system, y, h, steps_of_run)
            defects[i, :3, j] = [kept[name] for name in INVARIANTS.values()]
            defects[i, 3, j] = poisson_defect(steps_of_method, y, h)
            defects[i, 4, j] = symplectic_defect(partial(after, steps_of_method, h), system, y)
    return xr.Dataset(
        {
            "defect": (("method", "column", "step"), defects), "error": (("method", "rung"), errors),
            "order": ("method", order), "error_of_one_step": ("method", one_step),
            "influence_of_Q": ("method", influence),
        },
        {"method": list(maps), "column": list(COLUMNS), "step": list(STEPS), "rung": SPAN / np.array(LADDER)},
    )  # fmt: skip


def methods_as_maps(methods: Sequence[str]) -> dict[str, Advance]:
    """Methods of polhode for the body of figure 1."""
    y = start_state(BODY_OF_FIG_1, **START)
    return {label: stepper(label, BODY_OF_FIG_1, y) for label in methods}


def ticks(data: xr.Dataset) -> xr.DataArray:
    """1 where a column's defect is round-off at every step, 0 where it is clearly not at some step, NaN if unclear."""
    worst: xr.DataArray = data.defect.max("step")
    return worst.copy(data=verdicts(worst.values))


def verdicts(worst: Any) -> Any:
    """Ticks of largest defects."""
    return np.where(worst <= KEPT, 1.0, np.where(worst > BROKEN, 0.0, np.nan))


def tick(size: float, kept: bool) -> Check:
    """A defect that is round-off, or that is clearly not."""
    return criteria.at_most(size, KEPT) if kept else criteria.at_least(size, BROKEN)


def order_check(data: xr.Dataset, name: str, expected: float) -> Check:
    """Whether a method is exact, or its errors on the ladder fall with this order."""
    chosen = data.sel({"method": name})
    if isinf(expected) or isinf(float(chosen.order)):
        return criteria.order_is(float(chosen.order), expected)
    return criteria.order_within(data.rung.values, chosen.error.values, expected, tolerance(expected), FLOOR)
