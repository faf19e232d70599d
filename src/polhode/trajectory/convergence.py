"""Errors between two trajectories, and observed orders of convergence."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.arguments import Array, ArrayLike, Mask
from polhode.errors import InvalidInput
from polhode.lazy import public_names

__all__ = ["asymptotic", "attitude_error", "errors_between", "observed_order"]
__dir__ = public_names(__all__)

SAME_TIME = 1e-9  # times of two rows match when they differ by less than this fraction of the time span
LEAST_SLOPE = 0.5
"""Errors with a smaller slope than this are on the round-off plateau: every method has order 1 or more."""
CLEAR = 5.0  # where there is a plateau, only errors above this multiple of it are used
PLATEAU_BEGINS = 0.6  # a slope below this fraction of the previous one is affected by round-off
SCATTER = 0.15  # largest deviation of the slopes between neighbours from the fitted slope


def total_of(ds: xr.Dataset, name: str) -> Array:
    """A variable, summed over the bodies, in the order of the run."""
    variable = ds[name]
    return np.asarray((variable.sum("body") if "body" in variable.dims else variable).values, dtype=float)


@np.errstate(over="ignore", invalid="ignore")
def momentum_errors(ds: xr.Dataset) -> dict[str, tuple[Any, bool]]:
    """By the name of each conserved momentum, summed over bodies: the norm of its change (n,), and whether that is
    relative: to the initial size, else to the size of its vector or of all bodies; absolute where all of these are
    zero."""
    spatial = total_of(ds, "angular_momentum_space") if "angular_momentum_space" in ds else None
    errors = {}
    for name in filter(None, str(ds.attrs.get("conserves", "")).split(", ")):
        if name == "energy" or name not in ds:
            continue
        values = total_of(ds, name)
        initial = float(np.linalg.norm(values[0]))
        length = float(np.linalg.norm(spatial[0])) if spatial is not None else 0.0
        if name.startswith("total_"):
            parts = ds["momentum" if name == "total_momentum" else "angular_momentum_space"].values[0]
            length = float(np.linalg.norm(parts, axis=-1).sum())
        size = initial if initial > 1e-12 * length or name == "momentum" else length
        change = (values - values[0]).reshape(len(values), -1)
        errors[name] = np.sqrt(np.einsum("ij,ij->i", change, change)) / (size or 1.0), size > 0.0
    return errors


def attitude_error(q: ArrayLike, reference: ArrayLike) -> Array:
    """Spectral norm of the difference of two rotation matrices, ``|R - R_ref|``, from 0 to 2.

    ``R - R_ref`` is ``R_ref`` times ``exp(theta) - 1``, whose singular values are 0 and twice ``2 sin(theta/2)``; so
    the norm is computed from quaternions, without the cancellation of a difference of matrices.

    Parameters
    ----------
    q, reference : array_like (..., 4)
        Quaternions (w, x, y, z), body to space; their signs do not matter.

    Returns
    -------
    array (...)

    Examples
    --------
    >>> import polhode as ph
    >>> half_turn, none = (0, 1, 0, 0), (1, 0, 0, 0)
    >>> float(ph.trajectory.convergence.attitude_error(half_turn, none))
    2.0
    """
    return 2.0 * np.sin(0.5 * np.asarray(rotation.angle_between(q, reference)))


def errors_between(ds: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """Errors of a trajectory against a reference, at the rows of the trajectory.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory, or one row of it (``ds.isel(time=-1)``).
    reference : xarray.Dataset
        A trajectory with a row at every time of ``ds``, in any order and possibly with more rows; or one row.

    Returns
    -------
    xarray.Dataset
        For the variables that both have: ``angular_momentum_error`` (2-norm, body frame), ``attitude_angle`` (rad),
        ``attitude_error`` (spectral norm of the difference of the rotation matrices), ``position_error`` and
        ``momentum_error`` (2-norms, space frame). Along ``time``, and ``body`` where there are several.

    Raises
    ------
    InvalidInput
        A time missing from the reference, different numbers of bodies, or no variable in common.

    Examples
    --------
    >>> import polhode as ph
    >>> run = {"step": 0.1, "steps": 10, "angular_velocity": (0.1, 1, 0.2)}
    >>> a, b = (ph.integrate(ph.free_body((1, 2, 2.5)), flow, **run) for flow in ("mr", "exact"))
    >>> float(ph.trajectory.convergence.errors_between(a, b).attitude_angle[-1].round(5))
    8e-05
    """
    reference = _at_times_of(ds, reference)
    if ds.sizes.get("body", 1) != reference.sizes.get("body", 1):
        raise InvalidInput(
            f"the trajectory has {ds.sizes.get('body', 1)} bodies, the reference {reference.sizes.get('body', 1)}"
        )
    errors: dict[str, Any] = {}

    def put(name: str, source: str, values: Array, label: str, units: str) -> None:
        errors[name] = ([str(dim) for dim in ds[source].dims[:-1]], values, {"long_name": label, "units": units})

    for source, label in (
        ("angular_momentum", "2-norm of the error of the angular momentum, body frame"),
        ("position", "2-norm of the error of the position, space frame"),
        ("momentum", "2-norm of the error of the momentum, space frame"),
    ):
        if source in ds and source in reference:
            size = np.linalg.norm(ds[source].values - reference[source].values, axis=-1)
            put(f"{source}_error", source, size, label, ds[source].attrs.get("units", ""))
    if "attitude" in ds and "attitude" in reference:
        q, other = ds["attitude"].values, reference["attitude"].values
        put("attitude_angle", "attitude", rotation.angle_between(q, other), "angle between the attitudes", "rad")
        put("attitude_error", "attitude", attitude_error(q, other), "spectral norm of R - R_ref", "1")
    if not errors:
        raise InvalidInput("the trajectory and the reference have nothing in common that could be compared")
    coordinates = {"time": ds["time"]} if "time" in ds.coords else {}
    return xr.Dataset(errors, coordinates, {"reference": str(reference.attrs.get("title", "given"))})


def _at_times_of(ds: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """The rows of the reference at the times of ``ds``."""
    if "time" not in ds.coords or "time" not in reference.coords:
        return reference
    times, available = np.atleast_1d(ds["time"].values), np.atleast_1d(reference["time"].values)
    order = np.argsort(available, kind="stable")
    at = np.clip(np.searchsorted(available[order], times), 0, len(available) - 1)
    before = np.maximum(at - 1, 0)
    closer = np.abs(available[order][before] - times) <= np.abs(available[order][at] - times)
    rows = order[np.where(closer, before, at)]
    span = max(float(np.ptp(available)), float(np.ptp(times)), float(np.abs(times).max()))
    missing = np.abs(available[rows] - times) > SAME_TIME * span
    if missing.any():
        raise InvalidInput(
            f"the reference has no row at t = {times[missing][0]:.9g}; record it at the same times (every= or t_eval=)"
        )
    if "time" not in reference.dims:
        return reference
    return reference.isel(time=rows if "time" in ds.dims else int(rows[0]))


# ------------------------------------------------------------------ orders
def asymptotic(steps: ArrayLike, errors: ArrayLike, floor: float = 0.0) -> Mask:
    """Select the points in the asymptotic range, from which an order can be measured.

    Excluded are errors at or below ``floor``, zero or not finite; the round-off plateau at small steps; and points at
    large steps that are not yet on the straight line. Selected is the longest run of neighbours whose slopes in the
    log-log plot agree, the one at smaller steps if two are equally long. Where no three neighbours agree: the two
    smallest steps, or the two before them if the last slope is so much smaller that round-off affects it.

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and the errors at them.
    floor : float
        Accuracy of the reference: errors not larger than this are ignored.

    Returns
    -------
    array of bool (n,)
        Fewer than two True: no order can be determined.

    Raises
    ------
    InvalidInput
        Not flat, or not of one length.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.trajectory.convergence.asymptotic([0.8, 0.4, 0.2, 0.1, 0.05], [16, 4, 1, 0.01, 0.01]).tolist()
    [True, True, True, False, False]
    """
    h, e = np.abs(np.asarray(steps, dtype=float)), np.asarray(errors, dtype=float)
    if h.shape != e.shape or h.ndim != 1:
        raise InvalidInput(f"steps and errors must be flat and of one length, not {h.shape} and {e.shape}")
    selected = np.zeros(len(h), dtype=bool)
    with np.errstate(invalid="ignore"):
        usable = np.flatnonzero(np.isfinite(e) & (e > max(0.0, floor)) & (h > 0.0))
    usable = usable[np.argsort(-h[usable], kind="stable")]
    slopes, level = _slopes(h[usable], e[usable]), 0.0
    while len(slopes) and not slopes[-1] >= LEAST_SLOPE:
        level = max(level, float(e[usable[-1]]))
        usable, slopes = usable[:-1], slopes[:-1]
    usable = usable[e[usable] > CLEAR * level]
    slopes = _slopes(h[usable], e[usable])
    if len(usable) < 2:
        return selected
    for length in range(len(usable), 2, -1):
        for first in range(len(usable) - length, -1, -1):
            part = slopes[first : first + length - 1]
            chosen = usable[first : first + length]
            fit = _fit(h[chosen], e[chosen])
            if fit >= LEAST_SLOPE and np.abs(part - fit).max() <= SCATTER:
                selected[chosen] = True
                return selected
    last = len(usable) - 1
    if last > 1 and slopes[-1] < PLATEAU_BEGINS * slopes[-2]:
        last -= 1
    selected[usable[last - 1 : last + 1]] = True
    return selected


def observed_order(steps: ArrayLike, errors: ArrayLike, floor: float = 0.0) -> float:
    """Observed order of convergence: the log-log slope through the points that ``asymptotic`` selects.

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and the errors at them.
    floor : float
        Accuracy of the reference.

    Returns
    -------
    float
        NaN if fewer than two points are usable.

    Examples
    --------
    >>> round(observed_order([0.4, 0.2, 0.1], [1.6e-3, 4e-4, 1e-4]), 6)
    2.0
    """
    selected = asymptotic(steps, errors, floor)
    if selected.sum() < 2:
        return float("nan")
    return _fit(np.abs(np.asarray(steps, dtype=float))[selected], np.asarray(errors, dtype=float)[selected])


def _slopes(h: Array, e: Array) -> Array:
    return np.diff(np.log(e)) / np.diff(np.log(h)) if len(h) > 1 else np.zeros(0)


def _fit(h: Array, e: Array) -> float:
    x, y = np.log(h), np.log(e)
    x = x - x.mean()
    return float(x @ (y - y.mean()) / (x @ x))
