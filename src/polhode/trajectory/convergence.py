"""How far two trajectories are apart, and the order at which errors fall with the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.errors import InvalidInput

SAME_TIME = 1e-9
"""Two rows are of the same time when they differ by less than this part of the span."""
LEAST_SLOPE = 0.5
"""Errors that fall more slowly than this power of the step are on a plateau: every method is of order 1 or more."""
CLEAR = 5.0
"""Where there is a plateau, errors count from so many times its level on."""
PLATEAU_BEGINS = 0.6
"""A slope that is less than this part of the one before is bent by round-off."""
SCATTER = 0.15
"""Slopes between neighbours may differ by this much from their fit."""


def attitude_angle(q: Any, reference: Any) -> Any:
    """Angle of the rotation between two attitudes, rad, from 0 to pi.

    Parameters
    ----------
    q, reference : array_like (..., 4)
        Quaternions (w, x, y, z), body to space; their signs do not matter.

    Returns
    -------
    array (...)
        Nearly equal attitudes keep their relative precision: angles of 1e-15 are resolved.
    """
    return rotation.angle_between(q, reference)


def attitude_error(q: Any, reference: Any) -> Any:
    """Spectral norm of the difference of two rotation matrices, ``|R - R_ref|``, from 0 to 2.

    ``R - R_ref`` is ``R_ref`` times ``exp(theta) - 1``, whose singular values are 0 and twice ``2 sin(theta/2)``: so
    the norm is found from quaternions without the cancellation of a difference of matrices.

    Parameters
    ----------
    q, reference : array_like (..., 4)
        Quaternions (w, x, y, z), body to space; their signs do not matter.

    Returns
    -------
    array (...)
    """
    return 2.0 * np.sin(0.5 * np.asarray(attitude_angle(q, reference)))


def errors_between(ds: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """Errors of a trajectory against a reference at the rows of the first.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory, or one row of it (``ds.isel(time=-1)``).
    reference : xarray.Dataset
        A trajectory with a row at every time of ``ds``, in any order and possibly with more rows; or one row.

    Returns
    -------
    xarray.Dataset
        Of what both carry: ``angular_momentum_error`` (2-norm, body frame), ``attitude_angle`` (rad),
        ``attitude_error`` (spectral norm of the difference of the rotation matrices), ``position_error`` and
        ``momentum_error`` (2-norms, space frame). Along ``time``, and ``body`` where there are several.

    Raises
    ------
    InvalidInput
        A time the reference does not have, another number of bodies, or nothing to compare.
    """
    reference = _at_times_of(ds, reference)
    if ds.sizes.get("body", 1) != reference.sizes.get("body", 1):
        raise InvalidInput(
            f"the trajectory has {ds.sizes.get('body', 1)} bodies, the reference {reference.sizes.get('body', 1)}"
        )
    found: dict[str, Any] = {}

    def put(name: str, source: str, values: Any, words: str, units: str) -> None:
        dims = [str(dim) for dim in ds[source].dims[:-1]]
        found[name] = (dims, values, {"long_name": words, "units": units})

    for source, words in (
        ("angular_momentum", "2-norm of the error of the angular momentum, body frame"),
        ("position", "2-norm of the error of the position, space frame"),
        ("momentum", "2-norm of the error of the momentum, space frame"),
    ):
        if source in ds and source in reference:
            difference = ds[source].values - reference[source].values
            put(
                f"{source}_error", source, np.linalg.norm(difference, axis=-1), words, ds[source].attrs.get("units", "")
            )
    if "attitude" in ds and "attitude" in reference:
        q, other = ds["attitude"].values, reference["attitude"].values
        put("attitude_angle", "attitude", attitude_angle(q, other), "angle between the attitudes", "rad")
        put("attitude_error", "attitude", attitude_error(q, other), "spectral norm of R - R_ref", "1")
    if not found:
        raise InvalidInput("the trajectory and the reference have nothing in common that could be compared")
    coordinates = {"time": ds["time"]} if "time" in ds.coords else {}
    return xr.Dataset(found, coordinates, {"reference": str(reference.attrs.get("title", "given"))})


def _at_times_of(ds: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """The rows of the reference at the times of ``ds``."""
    if "time" not in ds.coords or "time" not in reference.coords:
        return reference
    wanted, known = np.atleast_1d(ds["time"].values), np.atleast_1d(reference["time"].values)
    order = np.argsort(known, kind="stable")
    at = np.clip(np.searchsorted(known[order], wanted), 0, len(known) - 1)
    before = np.maximum(at - 1, 0)
    closer = np.abs(known[order][before] - wanted) <= np.abs(known[order][at] - wanted)
    rows = order[np.where(closer, before, at)]
    span = max(float(np.ptp(known)), float(np.ptp(wanted)), float(np.abs(wanted).max()))
    missing = np.abs(known[rows] - wanted) > SAME_TIME * span
    if missing.any():
        raise InvalidInput(
            f"the reference has no row at t = {wanted[missing][0]:.9g}; record it at the same times (every= or t_eval=)"
        )
    if "time" not in reference.dims:
        return reference
    return reference.isel(time=rows if "time" in ds.dims else int(rows[0]))


# ------------------------------------------------------------------ orders
def asymptotic(steps: Any, errors: Any, floor: float = 0.0) -> Any:
    """The points from which an order can be read.

    Left out are errors at or below ``floor``, zero or not finite; the plateau that round-off makes at small steps; and
    at large steps, points not yet on the straight line. What is kept is the longest run of neighbours whose slopes in
    the double logarithmic picture agree, the finer one of two equally long; where no three neighbours agree,
    the finest two, or the two before where the finest fall so much more slowly that round-off has a part in them.

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and the errors at them.
    floor : float
        Accuracy of the reference: errors not larger than it say nothing.

    Returns
    -------
    array of bool (n,)
        Fewer than two True: no order can be told.
    """
    h, e = np.abs(np.asarray(steps, dtype=float)), np.asarray(errors, dtype=float)
    if h.shape != e.shape or h.ndim != 1:
        raise InvalidInput(f"steps and errors must be flat and of one length, not {h.shape} and {e.shape}")
    kept = np.zeros(len(h), dtype=bool)
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
        return kept
    for length in range(len(usable), 2, -1):
        for first in range(len(usable) - length, -1, -1):
            part = slopes[first : first + length - 1]
            chosen = usable[first : first + length]
            fit = _fit(h[chosen], e[chosen])
            if fit >= LEAST_SLOPE and np.abs(part - fit).max() <= SCATTER:
                kept[chosen] = True
                return kept
    last = len(usable) - 1
    if last > 1 and slopes[-1] < PLATEAU_BEGINS * slopes[-2]:
        last -= 1
    kept[usable[last - 1 : last + 1]] = True
    return kept


def observed_order(steps: Any, errors: Any, floor: float = 0.0) -> float:
    """Order at which errors fall with the step: the slope through the points ``asymptotic`` keeps.

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and the errors at them.
    floor : float
        Accuracy of the reference.

    Returns
    -------
    float
        NaN where fewer than two points can be used.

    Examples
    --------
    >>> round(observed_order([0.4, 0.2, 0.1], [1.6e-3, 4e-4, 1e-4]), 6)
    2.0
    """
    kept = asymptotic(steps, errors, floor)
    if kept.sum() < 2:
        return float("nan")
    return _fit(np.abs(np.asarray(steps, dtype=float))[kept], np.asarray(errors, dtype=float)[kept])


def _slopes(h: Any, e: Any) -> Any:
    return np.diff(np.log(e)) / np.diff(np.log(h)) if len(h) > 1 else np.zeros(0)


def _fit(h: Any, e: Any) -> float:
    x, y = np.log(h), np.log(e)
    x = x - x.mean()
    return float(x @ (y - y.mean()) / (x @ x))
