"""Averages of correlated series with their standard errors, and the drift of a quantity.

Rows of a trajectory are correlated, so that the standard deviation over the root of their number is no error of their
average. Averages over blocks of rows are less and less correlated as the blocks grow, and their scatter tends to the
true error [flyvbjerg1989]. With s(B) the error told from blocks of up to B out of n rows, the least B with

    B^3 > 2 n (s(B) / s(1))^4

balances the correlation that is left against the scatter of the error itself [lee2011]. Here s(B) is the greatest of
what blocks of up to B rows tell: an estimate that is low by chance would be taken for an end of the correlations.
Lengths grow by a quarter, down to eight blocks; where none of them will do, the series is too short to tell its error,
which is then nan. A series of which g rows are worth one independent row needs about 60 g of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from polhode.arguments import UNKNOWN, array, whole
from polhode.errors import InvalidInput, shown
from polhode.trajectory.schema import trajectory

FEWEST = 8
"""Blocks that an error is told from unless their number is given."""
GROWTH = 1.25


class Average(NamedTuple):
    """Averages along the first axis of an array.

    Attributes
    ----------
    mean, error : array
        The averages and their standard errors; nan where the series is too short to tell.
    length : array of int
        Rows in a block, 0 where there is no error.
    """

    mean: Any
    error: Any
    length: Any


def average(x: Any, blocks: int | None = None) -> Average:
    """Average of a series of rows and its standard error.

    Parameters
    ----------
    x : array (n, ...)
        The series, one for each of the further entries.
    blocks : int, optional
        Number of equal blocks; unless given each series has the length of its blocks chosen.

    Raises
    ------
    InvalidInput
        A number of blocks below two or above n.
    """
    x = np.asarray(x, dtype=float)
    n = len(x)
    if not n:
        raise InvalidInput("there are no rows to average")
    mean = x.mean(axis=0)
    if blocks is not None:
        length = n // number_of_blocks(blocks, n)
        return Average(mean, _error_of(x, length, blocks), np.full(mean.shape, length))
    error, chosen = np.full(mean.shape, np.nan), np.zeros(mean.shape, dtype=int)
    if n < FEWEST:
        return Average(mean, error, chosen)
    single = _error_of(x, 1, n)
    still = single > 0.0
    error[~still], chosen[~still] = 0.0, 1
    found = single
    for length in _lengths(n):
        if not still.any():
            break
        found = np.maximum(found, _error_of(x, length, n // length))
        with np.errstate(divide="ignore", invalid="ignore"):
            enough = still & (length**3 > 2.0 * n * (found / single) ** 4)
        error[enough], chosen[enough] = found[enough], length
        still &= ~enough
    return Average(mean, error, chosen)


def number_of_blocks(blocks: Any, rows: int) -> int:
    """A number of blocks of so many rows, checked."""
    if not 2 <= whole(blocks, "blocks", most=np.inf) <= rows:
        raise InvalidInput(f"blocks is {shown(blocks)}; {rows} rows can be cut into 2 to {rows} blocks")
    return int(blocks)


def _lengths(n: int) -> list[int]:
    """Lengths of blocks, each about a quarter longer than the one before, of at least eight blocks."""
    found, length = [], 1.0
    while int(length) <= n // FEWEST:
        found.append(int(length))
        length = max(length * GROWTH, length + 1.0)
    return found


def _error_of(x: Any, length: int, count: int) -> Any:
    """Standard error of the average told from the last ``count`` blocks of this length."""
    last = x[len(x) - length * count :].reshape(count, length, *x.shape[1:])
    return np.asarray(last.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(count))


def block_error(series: Any, *, blocks: int | None = None) -> xr.Dataset:
    """Average over time of correlated numbers, with its standard error by block averages.

    Parameters
    ----------
    series : DataArray with the dimension ``time``, or array_like (n, ...)
        One series, or one for each of the further entries.
    blocks : int, optional
        Number of equal blocks, each much longer than the correlations last; unless given the length of the blocks is
        chosen, see ``polhode.trajectory.statistics``.

    Returns
    -------
    xarray.Dataset
        ``mean``; ``error``, nan where the series is too short to tell (a few dozen rows at least); ``block_rows``, the
        length of the blocks; ``inefficiency``, how many rows are worth one that is independent. An error told from b
        blocks is itself uncertain by its part 1 / sqrt(2 (b - 1)).

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
    found = average(values, blocks)
    dims = [f"dim_{k}" for k in range(1, values.ndim)]
    coordinates: dict[Any, Any] = {}
    if named is not None:
        dims = [str(d) for d in named.dims if d != "time"]
        coordinates = {name: named.coords[name] for name in dims if name in named.coords}
    independent = values.var(axis=0, ddof=1) / len(values) if len(values) > 1 else np.full(found.mean.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        inefficiency = np.where(independent > 0.0, found.error**2 / independent, 1.0)
    variables = {
        "mean": (dims, found.mean, {"long_name": "average over time"}),
        "error": (dims, found.error, {"long_name": "standard error of the average"}),
        "block_rows": (dims, found.length, {"long_name": "rows in a block"}),
        "inefficiency": (dims, inefficiency, {"long_name": "rows worth one independent row"}),
    }
    how = "block averages [flyvbjerg1989]" + ("" if blocks else ", length of the blocks as in [lee2011]")
    return xr.Dataset(variables, coordinates, {"estimator": how, "rows": len(values)})


def drift(ds: xr.Dataset, variable: str = "energy", *, blocks: int | None = None) -> xr.Dataset:
    """Slope in time of a quantity that should stay constant, with a standard error that is honest about correlations.

    The slope is that of least squares. Its error is that of batch means: rows are cut into b equal batches, a straight
    line is fitted to the averages of the batches, and what it leaves gives the error of its slope with b - 2 degrees of
    freedom. Batches are as long as the residuals of the fit to all rows need for their averages to be uncorrelated, see
    ``polhode.trajectory.statistics``, and the error is the greatest that batches of up to that length tell.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory.
    variable : str
        Name of a variable of time alone.
    blocks : int, optional
        Number of batches, from 3; unless given it is chosen, from 8 on.

    Returns
    -------
    xarray.Dataset
        ``slope`` and ``slope_error`` (nan where the series is too short to tell), ``batches``, ``batch_rows``,
        ``degrees_of_freedom`` of Student's t, which slope / slope_error follows where the true slope is zero: with 18
        of them three standard errors are exceeded in 0.8% of the cases, with many in 0.3%.

    Raises
    ------
    InvalidInput
        No such variable, one of more than time, values that are not finite, fewer than 3 rows, or a wrong ``blocks``.
    """
    trajectory(ds, "time")
    if not isinstance(variable, str) or variable not in ds or ds[variable].dims != ("time",):
        raise InvalidInput(
            f"variable is {shown(variable)}; it must name a variable of the trajectory that depends on time alone"
        )
    y, t = np.asarray(ds[variable].values, dtype=float), np.asarray(ds["time"].values, dtype=float)
    n = len(y)
    if n < 3 or not np.isfinite(y).all() or t[0] == t[-1]:
        raise InvalidInput(
            f"a slope needs three rows or more at different times and finite values; {variable} has {n} rows, "
            f"{np.count_nonzero(~np.isfinite(y))} of them not finite"
        )
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


def _batched(t: Any, y: Any, count: int) -> float:
    """Standard error of the slope of a line through the averages of so many batches."""
    cuts = np.linspace(0, len(t), count + 1).astype(int)
    sizes = np.diff(cuts)
    return _line(np.add.reduceat(t, cuts[:-1]) / sizes, np.add.reduceat(y, cuts[:-1]) / sizes)[1]


def _line(t: Any, y: Any) -> tuple[float, float]:
    """Slope of the straight line of least squares, and its standard error for independent residuals."""
    x, z = t - t.mean(), y - y.mean()
    square = float(x @ x)
    slope = float(x @ z) / square
    left = z - slope * x
    return slope, float(np.sqrt(left @ left / max(len(t) - 2, 1) / square))
