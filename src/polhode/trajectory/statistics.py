"""Averages of correlated time series with standard errors, and the drift of a quantity.

Rows of a trajectory are correlated, so the standard deviation over the root of their number underestimates the error of
their average. Averages over blocks of rows become uncorrelated as the blocks grow, and their scatter tends to the true
error [flyvbjerg1989]. With s(B) the error estimated from blocks of B out of n rows, the smallest B with

    B^3 > 2 n (s(B) / s(1))^4

balances the remaining correlation against the statistical error of s itself [lee2011]. Here s(B) is the maximum over
all block lengths up to B, since an estimate that is low by chance would look like the end of the correlations. Lengths
grow by a quarter until eight blocks are left; if none qualifies, the series is too short and the error is nan. A series
in which g rows are worth one independent row needs about 60 g of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from polhode.arguments import UNKNOWN, Array, ArrayLike, array, squares, whole
from polhode.errors import InvalidInput, shown
from polhode.trajectory.schema import trajectory

FEWEST = 8  # fewest blocks used to estimate an error unless their number is given
GROWTH = 1.25


class Average(NamedTuple):
    """Averages along the first axis of an array."""

    mean: Array  # mean, error: averages and standard errors; the error is nan where the series is too short
    error: Array
    length: Any  # rows per block, 0 where the error is nan


def average(x: Array, blocks: int | None = None) -> Average:
    """Average of time series and its standard error."""
    x = squares(np.asarray(x, dtype=float), "the series")
    n = len(x)
    if not n:
        raise InvalidInput("the series has no rows to average; give at least one")
    mean = x.mean(axis=0)
    if blocks is not None:
        length = n // number_of_blocks(blocks, n)
        return Average(mean, _error_of(x, length, blocks), np.full(mean.shape, length))
    error, chosen = np.full(mean.shape, np.nan), np.zeros(mean.shape, dtype=int)
    if n < FEWEST:
        return Average(mean, error, chosen)
    single = _error_of(x, 1, n)
    undecided = single > 0.0
    error[~undecided], chosen[~undecided] = 0.0, 1
    largest = single
    for length in _lengths(n):
        if not undecided.any():
            break
        largest = np.maximum(largest, _error_of(x, length, n // length))
        with np.errstate(divide="ignore", invalid="ignore"):
            enough = undecided & (length**3 > 2.0 * n * (largest / single) ** 4)
        error[enough], chosen[enough] = largest[enough], length
        undecided &= ~enough
    return Average(mean, error, chosen)


def number_of_blocks(blocks: int, rows: int) -> int:
    """Number of blocks, checked against the number of rows."""
    if not 2 <= whole(blocks, "blocks", most=np.inf) <= rows:
        raise InvalidInput(f"blocks is {shown(blocks)}; {rows} rows can be cut into 2 to {rows} blocks")
    return int(blocks)


def _lengths(n: int) -> list[int]:
    """Block lengths, each about a quarter longer than the previous one, while there are at least eight blocks."""
    lengths, length = [], 1.0
    while int(length) <= n // FEWEST:
        lengths.append(int(length))
        length = max(length * GROWTH, length + 1.0)
    return lengths


def _error_of(x: Array, length: int, count: int) -> Array:
    """Standard error of the average, from the last ``count`` blocks of this length."""
    last = x[len(x) - length * count :].reshape(count, length, *x.shape[1:])
    return np.asarray(last.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(count))


def block_error(series: ArrayLike, *, blocks: int | None = None) -> xr.Dataset:
    """Time average of a correlated series, with its standard error from block averages.

    Parameters
    ----------
    series : DataArray with the dimension ``time``, or array_like (n, ...)
        One series, or one for each entry of the other dimensions.
    blocks : int, optional
        Number of equal blocks, each much longer than the correlation time; by default the block length is chosen, see
        ``polhode.trajectory.statistics``.

    Returns
    -------
    xarray.Dataset
        ``mean``; ``error``, nan where the series is too short (it needs a few dozen rows at least); ``block_rows``, the
        rows per block; ``inefficiency``, how many rows are worth one independent row. An error from b blocks has itself
        a relative uncertainty of 1 / sqrt(2 (b - 1)).

    Raises
    ------
    InvalidInput
        No rows, values that are not finite, or a number of blocks below two or above the number of rows.

    Examples
    --------
    >>> float(block_error([1.0, 2.0, 3.0, 4.0], blocks=2).error)
    1.0
    """
    named = series if isinstance(series, xr.DataArray) else None
    if named is not None and "time" not in named.dims:
        raise InvalidInput("series has no dimension time; take a variable of a trajectory, or plain numbers")
    values = array(series if named is None else named.transpose("time", ...).values, "series", UNKNOWN)
    if values.ndim == 0:
        raise InvalidInput("series must be finite numbers, one for each row")
    result = average(values, blocks)
    dims = [f"dim_{k}" for k in range(1, values.ndim)]
    coordinates: dict[Any, Any] = {}
    if named is not None:
        dims = [str(d) for d in named.dims if d != "time"]
        coordinates = {name: named.coords[name] for name in dims if name in named.coords}
    independent = values.var(axis=0, ddof=1) / len(values) if len(values) > 1 else np.full(result.mean.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        inefficiency = np.where(independent > 0.0, result.error**2 / independent, 1.0)
    variables = {
        "mean": (dims, result.mean, {"long_name": "average over time"}),
        "error": (dims, result.error, {"long_name": "standard error of the average"}),
        "block_rows": (dims, result.length, {"long_name": "rows in a block"}),
        "inefficiency": (dims, inefficiency, {"long_name": "rows worth one independent row"}),
    }
    how = "block averages [flyvbjerg1989]" + ("" if blocks else ", length of the blocks as in [lee2011]")
    return xr.Dataset(variables, coordinates, {"estimator": how, "rows": len(values)})


def drift(ds: xr.Dataset, variable: str = "energy", *, blocks: int | None = None) -> xr.Dataset:
    """Slope in time of a quantity that should be constant, with a standard error that accounts for correlations.

    The slope is the least-squares slope of all rows. Its error is found by batch means: rows are divided into b equal
    batches, a straight line is fitted to the batch averages, and the residuals give the error with b - 2 degrees of
    freedom. Batches are long enough that their averages are uncorrelated, judged from the residuals of all rows, see
    ``polhode.trajectory.statistics``; the error is the largest from batches of up to that length.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory.
    variable : str
        Name of a variable that depends on time alone.
    blocks : int, optional
        Number of batches, at least 3; by default chosen, at least 8.

    Returns
    -------
    xarray.Dataset
        ``slope`` and ``slope_error`` (nan where the series is too short), ``batches``, ``batch_rows``, and
        ``degrees_of_freedom`` of the Student's t distribution that slope / slope_error has if the true slope is zero:
        with 18 of them three standard errors are exceeded in 0.8% of cases, with many in 0.3%.

    Raises
    ------
    InvalidInput
        No such variable, or one that depends on more than time; values that are not finite; fewer than 3 rows; a wrong
        ``blocks``.

    Examples
    --------
    >>> import polhode as ph
    >>> body, start = ph.free_body((1, 2, 2.5)), {"angular_velocity": (0.2, 1.0, 0.1)}
    >>> ds = ph.integrate(body, "mkrk:rk4", step=0.2, steps=2000, start=start)
    >>> found = ph.trajectory.observables.drift(ds, "energy")
    >>> bool(-1e-6 < found.slope < -10.0 * found.slope_error)
    True
    """
    trajectory(ds, "time")
    if not isinstance(variable, str) or variable not in ds or ds[variable].dims != ("time",):
        raise InvalidInput(
            f"variable is {shown(variable)}; it must name a variable of the trajectory that depends on time alone"
        )
    y, t = (squares(array(ds[name].values, name), name) for name in (variable, "time"))
    n = len(y)
    if n < 3 or t[0] == t[-1]:
        raise InvalidInput(f"a slope needs three rows or more at different times; {variable} has {n} rows")
    slope, _ = _line(t, y)
    if blocks is None:
        length = int(average(y - slope * (t - t.mean())).length)
        counts = [n // shorter for shorter in _lengths(n) if shorter <= length]
    elif number_of_blocks(blocks, n) < 3:
        raise InvalidInput(f"blocks is {blocks}; a line through two averages leaves nothing to tell its error from")
    else:
        counts = [blocks]
    error = max((_batched(t, y, count) for count in counts), default=float("nan"))
    count = counts[-1] if counts else 0
    per = f"{ds[variable].attrs.get('units', '1')} / ({ds['time'].attrs.get('units', 'time')})"
    variables = {
        "slope": ((), slope, {"long_name": f"slope of {variable} in time", "units": per}),
        "slope_error": ((), error, {"long_name": "standard error of the slope", "units": per}),
        "batches": ((), count, {"long_name": "number of batches"}),
        "batch_rows": ((), n // count if count else 0, {"long_name": "rows in a batch"}),
        "degrees_of_freedom": ((), max(count - 2, 0), {"long_name": "degrees of freedom of the error"}),
    }
    how = "least squares, error by batch means" + ("" if blocks else ", length of the batches as in [lee2011]")
    return xr.Dataset(variables, attrs={"estimator": how, "variable": variable, "rows": n})


def _batched(t: Array, y: Array, count: int) -> float:
    """Standard error of the slope of the line fitted to the averages of ``count`` batches."""
    cuts = np.linspace(0, len(t), count + 1).astype(int)
    sizes = np.diff(cuts)
    return _line(np.add.reduceat(t, cuts[:-1]) / sizes, np.add.reduceat(y, cuts[:-1]) / sizes)[1]


def _line(t: Array, y: Array) -> tuple[float, float]:
    """Least-squares slope, and its standard error for independent residuals."""
    x, z = t - t.mean(), y - y.mean()
    square = float(x @ x)
    slope = float(x @ z) / square
    residual = z - slope * x
    return slope, float(np.sqrt(residual @ residual / max(len(t) - 2, 1) / square))
