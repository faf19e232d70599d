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

from collections.abc import Sequence
from functools import partial
from math import inf, isinf
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.errors import PolhodeError
from polhode.kernel.signatures import ANGULAR, ATTITUDE, BODY
from polhode.methods import FLOW_NAMES, METHODS, Chosen, method
from polhode.runs.check import drifts, exact_state, measure_order, state_distance, stepper, symplectic_defect
from polhode.runs.single import start_state
from polhode.studies.study import Tell
from polhode.studies.vilmart2013.common import BODY_OF_FIG_1, BROKEN, KEPT, START

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


def after(advance: Any, h: float, y: Any) -> Any:
    """The state after one step."""
    return advance(y, 0.0, h)


def poisson_defect(advance: Any, y: Any, h: float) -> float:
    """Largest entry of D hat(y0) D^T - hat(y1) for one step, by central differences of two sizes."""
    end = advance(y, 0.0, h)
    found = []
    for size in (0.02, 0.005):
        D = np.zeros((3, 3))
        for c in range(3):
            for n, weight in enumerate(WEIGHTS):
                ends = []
                for side in (1.0, -1.0):
                    moved = y.copy()
                    moved[ANGULAR + c] += side * (n + 1) * size
                    ends.append(advance(moved, 0.0, h)[ANGULAR:BODY])
                D[:, c] += weight / size * (ends[0] - ends[1])
        before, after = rotation.hat(y[ANGULAR:BODY]), rotation.hat(end[ANGULAR:BODY])
        found.append(float(np.abs(D @ before @ D.T - after).max()))
    return min(found)


def influence_of_Q(advance: Any, y: Any, h: float) -> float:
    """Largest change of y1 when the body starts from other attitudes."""
    end, largest = advance(y, 0.0, h), 0.0
    for turn in ((1.0, 0.0, 0.0), (0.4, -2.0, 0.7)):
        moved = y.copy()
        moved[ATTITUDE:ANGULAR] = rotation.multiply(rotation.exp_quaternion(turn), y[ATTITUDE:ANGULAR])
        largest = max(largest, float(np.abs(advance(moved, 0.0, h)[ANGULAR:BODY] - end[ANGULAR:BODY]).max()))
    return largest


def observed(chosen: Chosen, system: Any, y: Any, end: Any) -> tuple[float, float]:
    """Order, infinite for an exact flow, and the error of one step over the whole span."""
    try:
        error = state_distance(stepper(chosen, system, y)(y, 0.0, SPAN), end, system)
    except PolhodeError:
        error = inf
    if error < 1e-12:
        return inf, error
    found, promised = measure_order(chosen, system, y, end, 0.0, SPAN), chosen.promises.order_free
    # High orders meet round-off before their leading term dominates: the nearer of two estimates counts, as in checks.
    near = min((found.order, found.fitted), key=lambda x: abs(x - promised) if promised >= 8 else 0.0)
    return near, error


def measure(methods: Sequence[str], steps_of_run: int, tell: Tell) -> xr.Dataset:
    """Defects of methods, over (method, column, step)."""
    system, y = BODY_OF_FIG_1, start_state(BODY_OF_FIG_1, **START)
    end = exact_state(system, y, 0.0, SPAN)
    defects = np.zeros((len(methods), len(COLUMNS), len(STEPS)))
    order, error, influence = np.zeros((3, len(methods)))
    for i, label in enumerate(methods):
        tell(label)
        chosen = method(label)
        advance = stepper(chosen, system, y)
        order[i], error[i] = observed(chosen, system, y, end)
        influence[i] = influence_of_Q(advance, y, STEPS[-1])
        for j, h in enumerate(STEPS):
            try:
                kept = drifts(chosen, system, y, h, steps_of_run)
            except PolhodeError:  # forward Euler runs away
                kept = dict.fromkeys(INVARIANTS.values(), inf)
            defects[i, :3, j] = [kept[name] for name in INVARIANTS.values()]
            defects[i, 3, j] = poisson_defect(advance, y, h)
            defects[i, 4, j] = symplectic_defect(partial(after, advance, h), system, y)
    return xr.Dataset(
        {
            "defect": (("method", "column", "step"), defects),
            "order": ("method", order), "error_of_one_step": ("method", error), "influence_of_Q": ("method", influence),
        },
        {"method": list(methods), "column": list(COLUMNS), "step": list(STEPS)},
    )  # fmt: skip


def ticks(data: xr.Dataset) -> xr.DataArray:
    """1 where a column's defect is round-off at every step, 0 where it is clearly not at some step, NaN if unclear."""
    worst: xr.DataArray = data.defect.max("step")
    return worst.copy(data=verdicts(worst.values))


def verdicts(worst: Any) -> Any:
    """Ticks of largest defects."""
    return np.where(worst <= KEPT, 1.0, np.where(worst > BROKEN, 0.0, np.nan))


def same_order(measured: float, expected: float) -> bool:
    """Whether an observed order is this one: within 0.2, from order 6 on up to a third above, from 8 a tenth below."""
    if isinf(expected) or isinf(measured):
        return measured == expected
    above, below = (0.2 if expected < 6 else expected / 3), (0.2 if expected < 8 else expected / 10)
    return expected - below <= measured <= expected + above
