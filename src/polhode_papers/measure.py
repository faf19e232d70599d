"""Measurements shared by the studies: runs that may end early, reference solutions, convergence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.study import Reporter

REFERENCE = ("mkrk:gauss8", "mkrk:cv8")
"""Methods of the reference solutions, one implicit and one explicit, with no step function in common."""


NORMS = {"angular_momentum_error": "body momentum", "attitude_error": "attitude"}
"""Errors at the end of a run: body angular momentum (2-norm) and attitude matrix (2-norm)."""


@contextmanager
def unwarned() -> Iterator[None]:
    """Suppress warnings about energy and coarse steps: a study measures errors itself."""
    with warnings.catch_warnings():
        for kind in (ph.errors.EnergyWarning, ph.errors.CoarseStepWarning):
            warnings.simplefilter("ignore", kind)
        yield


@unwarned()
def attempt(system: ph.systems.System, method: str, **run: Any) -> tuple[xr.Dataset, str]:
    """Integrate; return the trajectory as far as it got, and ``completed`` or the reason and step of the failure."""
    try:
        return ph.integrate(system, method, **run), "completed"
    except ph.errors.StepFailed as failure:
        return failure.trajectory, f"{type(failure).__name__} in step {failure.step}"


def relative_energy_error(ds: xr.Dataset) -> xr.DataArray:
    """(H - H0 - work) / |H0|, as the papers draw it; ``energy_error`` of a trajectory has another scale."""
    change = ds.energy_change - ds.work.sum("force") if "work" in ds else ds.energy_change
    error: xr.DataArray = change / abs(ds.energy[0])
    return error


def named(data: xr.DataArray) -> dict[str, float]:
    """A one-dimensional variable as a mapping from its labels, numbers in their short form."""
    (dim,) = data.dims
    labels = (str(x) if isinstance(x, str) else f"{x:g}" for x in data[dim].values)
    return dict(zip(labels, map(float, data.values), strict=True))


def derivative(f: Callable[[float], Any], h: float) -> Any:
    """Derivative of a function at 0, by central differences of order 8."""
    return sum(w / h * (f(n * h) - f(-n * h)) for n, w in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), start=1))


def whole(span: float, step: float) -> int:
    """Number of steps in a span; the step must divide it."""
    n = round(span / step)
    assert abs(n * step - span) <= 1e-9 * span, f"{step} does not divide {span}"
    return n


def errors(a: xr.Dataset, b: xr.Dataset) -> dict[str, float]:
    """2-norms of the differences of two states in body angular momentum and attitude matrix."""
    value = ph.trajectory.convergence.errors_between(a, b)
    return {norm: float(value[norm]) for norm in NORMS}


def observed_orders(data: xr.Dataset, norm: str) -> dict[str, float]:
    """Observed order of each method, over its asymptotic steps."""
    lines = zip(map(str, data.method.values), data[norm].values, strict=True)
    return {label: ph.trajectory.convergence.observed_order(data.step.values, line) for label, line in lines}


@unwarned()
def reference(
    system: ph.systems.System, initial: Mapping[str, Any], t_end: float, step: float
) -> tuple[xr.Dataset, dict[str, float]]:
    """Final state by Gauss of order 8, and its distance from the explicit method of order 8 at half the step."""
    finals = []
    for method, h in zip(REFERENCE, (step, step / 2), strict=True):
        n = whole(t_end, h)
        finals.append(ph.integrate(system, method, step=h, t_end=t_end, every=n, **initial).isel(time=-1))
    return finals[0], errors(finals[1], finals[0])


def convergence(
    system: ph.systems.System,
    initial: Mapping[str, Any],
    methods: Mapping[str, str],
    steps: Sequence[float],
    t_end: float,
    reference_step: float,
    report_progress: Reporter,
    known: Mapping[str, Sequence[float]] | None = None,
) -> xr.Dataset:
    """Final errors of methods over steps that divide ``t_end``, against a reference computed here.

    NaN if the run ended early. ``known``: independently known final ``angular_momentum`` and ``attitude``, to check the
    reference. Attributes tell how far the two reference solutions are apart.
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
    results = {key: np.full((len(methods), len(steps)), np.nan) for key in agreement}
    outcome = np.full((len(methods), len(steps)), "", dtype=object)
    for i, (label, method) in enumerate(methods.items()):
        report_progress(f"{label}, t = {t_end:g}")
        for j, h in enumerate(steps):
            n = whole(t_end, h)
            ds, outcome[i, j] = attempt(system, method, step=h, steps=n, every=n, **initial)
            if outcome[i, j] == "completed":
                for key, value in errors(ds.isel(time=-1), truth).items():
                    results[key][i, j] = value
    dims = ("method", "step")
    return xr.Dataset(
        {**{key: (dims, value) for key, value in results.items()}, "outcome": (dims, outcome.astype(str))},
        {"method": list(methods), "step": list(steps)},
        remarks,
    )
