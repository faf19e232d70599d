"""Measurements that studies share: runs that may end early, reference solutions, convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.errors import StepFailed, unwarned
from polhode.runs.single import integrate
from polhode.studies.study import Tell
from polhode.systems import System
from polhode.trajectory.convergence import errors_between, observed_order

REFERENCE = ("mkrk:gauss8", "mkrk:cv8")
"""Methods of the reference solutions: implicit and explicit, sharing no step function."""


NORMS = {"angular_momentum_error": "body momentum", "attitude_error": "attitude"}
"""What is compared at the end of a run: body angular momentum (2-norm), attitude matrix (2-norm)."""


@unwarned()
def attempt(system: System, method: str, **run: Any) -> tuple[xr.Dataset, str]:
    """A run that may end early: what was computed, and ``completed`` or why and where it stopped."""
    try:
        return integrate(system, method, **run), "completed"
    except StepFailed as failure:
        return failure.trajectory, f"{type(failure).__name__} in step {failure.step}"


def whole(span: float, step: float) -> int:
    """Number of steps in a span that is a whole number of them."""
    n = round(span / step)
    assert abs(n * step - span) <= 1e-9 * span, f"{step} does not divide {span}"
    return n


def errors(a: xr.Dataset, b: xr.Dataset) -> dict[str, float]:
    """2-norms of the differences of two states: body angular momentum, attitude matrix."""
    found = errors_between(a, b)
    return {norm: float(found[norm]) for norm in NORMS}


def observed_orders(data: xr.Dataset, norm: str) -> dict[str, float]:
    """Order of each method over the steps where it is asymptotic."""
    lines = zip(map(str, data.method.values), data[norm].values, strict=True)
    return {label: observed_order(data.step.values, line) for label, line in lines}


@unwarned()
def reference(
    system: System, initial: Mapping[str, Any], t_end: float, step: float
) -> tuple[xr.Dataset, dict[str, float]]:
    """Final state by the Gauss method of order 8, and how far one of order 8 with half the step is from it."""
    finals = []
    for method, h in zip(REFERENCE, (step, step / 2), strict=True):
        n = whole(t_end, h)
        finals.append(integrate(system, method, step=h, t_end=t_end, every=n, **initial).isel(time=-1))
    return finals[0], errors(finals[1], finals[0])


def convergence(
    system: System,
    initial: Mapping[str, Any],
    methods: Mapping[str, str],
    steps: Sequence[float],
    t_end: float,
    reference_step: float,
    report_progress: Tell,
    known: Mapping[str, Sequence[float]] | None = None,
) -> xr.Dataset:
    """Final errors of methods on a ladder of steps, against a reference computed here.

    Parameters
    ----------
    methods : mapping
        Method string of each label.
    steps : sequence of float
        From large to small, each dividing ``t_end``.
    known : mapping, optional
        Final ``angular_momentum`` and ``attitude`` from elsewhere, to compare the reference with.

    Returns
    -------
    xarray.Dataset
        ``angular_momentum_error``, ``attitude_error`` and ``outcome`` over (method, step); the agreement of the two
        reference solutions as attributes.
    """
    report_progress(f"reference, t = {t_end:g}")
    truth, agreement = reference(system, initial, t_end, reference_step)
    remarks = {
        f"{NORMS[key]}, reference": f"{' and '.join(REFERENCE)} differ by {x:.1e}" for key, x in agreement.items()
    }
    if known is not None:
        given = truth.assign({name: (truth[name].dims, np.array(value)) for name, value in known.items()})
        for key, x in errors(truth, given).items():
            remarks[f"{NORMS[key]}, known state"] = f"{REFERENCE[0]} is {x:.1e} from it"
    found = {key: np.full((len(methods), len(steps)), np.nan) for key in agreement}
    outcome = np.full((len(methods), len(steps)), "", dtype=object)
    for i, (label, method) in enumerate(methods.items()):
        report_progress(f"{label}, t = {t_end:g}")
        for j, h in enumerate(steps):
            n = whole(t_end, h)
            ds, outcome[i, j] = attempt(system, method, step=h, steps=n, every=n, **initial)
            if outcome[i, j] == "completed":
                for key, value in errors(ds.isel(time=-1), truth).items():
                    found[key][i, j] = value
    dims = ("method", "step")
    return xr.Dataset(
        {**{key: (dims, value) for key, value in found.items()}, "outcome": (dims, outcome.astype(str))},
        {"method": list(methods), "step": list(steps)},
        remarks,
    )
