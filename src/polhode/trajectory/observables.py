"""Observables of many bodies: correlations in space and time, and their standard errors.

    g = polhode.trajectory.observables.radial_distribution(ds, bins=100)
    c = polhode.trajectory.observables.velocity_autocorrelation(ds)
    print(polhode.trajectory.observables.drift(ds).slope)

========================== =======================================================================================
function                   result
========================== =======================================================================================
radial_distribution        g(r); in free space the probability density of pair distances
dipole_correlations        <u_i . u_j> and <3 (u_i . e)(u_j . e) - u_i . u_j> of pairs at a separation r e
kirkwood_factor            1 + <sum_j u_i . u_j> of the neighbours within r
total_dipole               M(t), the sum of all dipoles
dielectric_constant        epsilon from the fluctuations of M, for any surroundings
autocorrelation            <x(0) . x(t)> of any variable
velocity_autocorrelation   <v(0) . v(t)>
orientational_correlation  <P_1> or <P_2> of the cosine of the angle between a dipole at time 0 and at time t
mean_square_displacement   <|r(t) - r(0)|^2>
block_error                time average with its error
drift                      slope of the energy with its error
========================== =======================================================================================

Most functions take a trajectory; all return a Dataset or DataArray. Here u is the unit vector along a dipole, e that
along the line between two bodies. Dipoles are those of the trajectory (``dipole``, body frame) unless given. In a
periodic box distances are to the nearest image.

**Errors** are standard errors of averages over rows (``polhode.trajectory.statistics``): unless ``blocks`` is given the
block length is chosen for each quantity, and the error is nan where there are too few rows (a few dozen are needed at
least). Errors of time correlations come from equal blocks of starting times, eight unless given; blocks should be much
longer than the correlation time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy.fft import irfft, next_fast_len, rfft

from polhode.arguments import Array, ArrayLike, Indices, array, number, room_for, squares, whole
from polhode.errors import InvalidInput, shown
from polhode.lazy import public_names
from polhode.trajectory.molecules import body_dipoles, box_of, of_bodies, stated, with_rows
from polhode.trajectory.schema import UNITS, trajectory, unit_of
from polhode.trajectory.statistics import average, block_error, drift, number_of_blocks

__all__ = [
    "autocorrelation", "block_error", "dielectric_constant", "dipole_correlations", "drift", "kirkwood_factor",
    "mean_square_displacement", "orientational_correlation", "radial_distribution", "total_dipole",
    "velocity_autocorrelation",
]  # fmt: skip
__dir__ = public_names(__all__)

PAIRS = 1 << 18  # pairs processed at once, so that their data stay in the cache
NUMBERS = 1 << 22  # numbers Fourier-transformed at once
EQUAL = 1e-6  # largest relative deviation of the spacing of rows that count as equally spaced
LEAST_RADIUS = 1e-90  # of shells whose volumes are numbers
ROOT2 = 2.0**0.5


# ------------------------------------------------------------------ in space
def radial_distribution(ds: xr.Dataset, bins: int = 100, r_max: float | None = None, rows: slice | None = None, *,
                        blocks: int | None = None) -> xr.Dataset:  # fmt: skip
    """Radial distribution function g(r), or in free space the probability density of pair distances.

    In a box of volume V the pairs of N bodies in a shell are counted relative to an ideal gas of N bodies, which has
    N (N - 1) / (2 V) times the volume of the shell; so g is 1 for an ideal gas of any N. In free space, where there is
    no mean density, ``pair_density`` is the fraction of pairs in a shell over its thickness; its integral is 1.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of two or more bodies.
    bins : int
        Number of shells.
    r_max : float, optional
        Outer radius of the last shell. In a box the default and the maximum is half the shortest edge; in free space
        the default is the diagonal of the smallest box around the bodies.
    rows : slice, optional
        Rows to use, such as ``slice(100, None, 10)``; default all.
    blocks : int, optional
        As for ``block_error``.

    Returns
    -------
    xarray.Dataset
        ``g`` or ``pair_density`` with its ``_error``, and ``count``, the mean number of pairs in a row, by ``r``, the
        middle of the shell.

    Raises
    ------
    InvalidInput
        One body, no rows, a radius beyond half the box, or no shells.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> found = ph.trajectory.observables.radial_distribution(ds, bins=20)
    >>> round(float(found.r[found.g.values.argmax()]), 2)
    1.32
    """
    ds, position, box, edges = _shells(ds, rows, bins, r_max)
    count = np.array([_histograms(row, box, edges)[0] for row in position])
    N = position.shape[1]
    if box is None:
        scale, name = 0.5 * N * (N - 1) * np.diff(edges), "pair_density"
        meaning = "density of the distances of pairs"
    else:
        shells = 4.0 / 3.0 * np.pi * np.diff(edges**3)
        scale, name = 0.5 * N * (N - 1) * shells / np.prod(box), "g"
        meaning = "radial distribution function"
    found = average(count / scale, blocks)
    variables = _with_error(name, "r", found, meaning, f"1 / {_length(ds)}" if box is None else "1")
    return _by_radius(ds, variables, count.mean(axis=0), 0.5 * (edges[1:] + edges[:-1]), position)


def dipole_correlations(ds: xr.Dataset, bins: int = 100, r_max: float | None = None, rows: slice | None = None, *,
                        dipole: ArrayLike | None = None, blocks: int | None = None) -> xr.Dataset:  # fmt: skip
    """Orientational correlation of the dipoles of two bodies at a distance r.

    ``h110`` is the average of u_i . u_j and ``h112`` that of 3 (u_i . e)(u_j . e) - u_i . u_j over the pairs of a
    shell, with unit vectors u and without the factor g(r). Head-to-tail dipoles have 1 and 2; antiparallel ones side by
    side -1 and 1.

    Parameters
    ----------
    ds, bins, r_max, rows, blocks
        As for ``radial_distribution``.
    dipole : array_like (3,) or (N, 3), optional
        Dipole in the body frame; only its direction matters.

    Returns
    -------
    xarray.Dataset
        ``h110`` and ``h112`` (nan in shells without a pair), their ``_error``, and ``count``, by ``r``.

    Raises
    ------
    InvalidInput
        As ``radial_distribution``; no dipole, or one of length zero.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> ph.trajectory.observables.dipole_correlations(ds, bins=10).h110.sizes["r"]
    10
    """
    ds, position, box, edges = _shells(ds, rows, bins, r_max)
    sums = np.array([_histograms(r, box, edges, u) for r, u in zip(position, _units(ds, dipole), strict=True)])
    count, pairs = sums[:, 0], sums[:, 0].mean(axis=0)
    variables: dict[str, Any] = {}
    meanings = {"h110": "<u_i . u_j> of pairs", "h112": "<3 (u_i . e)(u_j . e) - u_i . u_j> of pairs"}
    for k, (name, meaning) in enumerate(meanings.items(), start=1):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = sums[:, k].mean(axis=0) / pairs
            # Linearized error propagation for the ratio of two averages.
            linear = np.where(pairs > 0.0, (sums[:, k] - ratio * count) / pairs, 0.0)
        error = np.where(pairs > 0.0, average(linear, blocks).error, np.nan)
        variables |= _with_error(name, "r", (ratio, error), meaning, "1", "")
    return _by_radius(ds, variables, pairs, 0.5 * (edges[1:] + edges[:-1]), position)


def kirkwood_factor(ds: xr.Dataset, bins: int = 100, r_max: float | None = None, rows: slice | None = None, *,
                    dipole: ArrayLike | None = None, blocks: int | None = None) -> xr.Dataset:  # fmt: skip
    """Kirkwood factor g_K(r) = 1 + <sum_j u_i . u_j>, the sum over all neighbours of a body within r [kirkwood1939].

    Parameters
    ----------
    ds, bins, r_max, rows, dipole, blocks
        As for ``dipole_correlations``.

    Returns
    -------
    xarray.Dataset
        ``g_K`` and ``g_K_error`` by ``r``, the outer radius of a shell. The limit at large r depends on the
        surroundings of the box; compare values well below half an edge.

    Raises
    ------
    InvalidInput
        As ``dipole_correlations``.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> ph.trajectory.observables.kirkwood_factor(ds, bins=10).g_K.sizes["r"]
    10
    """
    ds, position, box, edges = _shells(ds, rows, bins, r_max)
    unit, N = _units(ds, dipole), position.shape[1]
    sums = np.array([_histograms(r, box, edges, u)[1] for r, u in zip(position, unit, strict=True)])
    found = average(1.0 + 2.0 / N * np.cumsum(sums, axis=1), blocks)
    return _by_radius(ds, _with_error("g_K", "r", found, "Kirkwood factor", "1"), None, edges[1:], position)


def total_dipole(ds: xr.Dataset, *, dipole: ArrayLike | None = None) -> xr.DataArray:
    """Total dipole M(t), the sum of all dipoles, space frame.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that rotate.
    dipole : array_like (3,) or (N, 3), optional
        Dipole in the body frame; default the variable ``dipole`` of the trajectory.

    Returns
    -------
    xarray.DataArray
        By ``time`` and ``axis``.

    Raises
    ------
    InvalidInput
        No dipole, or one of the wrong shape.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> bool(abs(ph.trajectory.observables.total_dipole(ds) - ds.total_dipole).max() < 1e-9)
    True
    """
    values = body_dipoles(ds, dipole).sum(axis=1)
    own = ds["dipole"].attrs.get("units") if "dipole" in ds else None
    units = own or UNITS.get(str(ds.attrs.get("units")), UNITS["consistent"])["total_dipole"]
    attributes = {"long_name": "total dipole, space frame", "units": units}
    return xr.DataArray(values, {"time": ds["time"], "axis": ["x", "y", "z"]}, ("time", "axis"), "M", attributes)


def dielectric_constant(ds: xr.Dataset, temperature: float, *, dipole: ArrayLike | None = None,
                        surroundings: float = np.inf, boltzmann: float | None = None, coulomb: float | None = None,
                        volume: float | None = None, blocks: int | None = None) -> xr.Dataset:  # fmt: skip
    """Static dielectric constant from the fluctuations of the total dipole [neumann1983].

    With y = 4 pi coulomb (<M^2> - <M>^2) / (3 V k_B T) and s the dielectric constant of the surroundings,

        (epsilon - 1) (2 s + 1) / (2 s + epsilon) = y

    so epsilon = 1 + y in conducting surroundings (s = inf, Ewald sums with a conducting boundary), and
    (epsilon - 1) / (epsilon + 2) = y / 3 in vacuum (s = 1). With a reaction field, s is its dielectric constant.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory in equilibrium.
    temperature : float
        Positive, in the units of the trajectory.
    dipole : array_like, optional
        As for ``total_dipole``.
    surroundings : float
        Dielectric constant s of the surroundings of the box; it must match the boundary condition of the run.
    boltzmann, coulomb : float, optional
        Boltzmann's constant, and energy times distance of two unit charges, in the units of the trajectory. Default:
        the variables ``boltzmann``, ``coulomb`` of the trajectory, or the values for its unit label "molecular" or
        "SI". Required for the label "consistent" without these variables; 1 in reduced units.
    volume : float, optional
        Volume; required in free space, where there is no box.
    blocks : int, optional
        As for ``block_error``.

    Returns
    -------
    xarray.Dataset
        ``epsilon``, ``epsilon_error``, and ``fluctuation``, which is <M^2> - <M>^2.

    Raises
    ------
    InvalidInput
        A temperature that is not positive; no volume; constants that are missing, or differ from the trajectory's by
        more than 1e-6 (relative); fluctuations too large for any dielectric constant in these surroundings,
        y >= 2 s + 1.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> bool(ph.trajectory.observables.dielectric_constant(ds, temperature=1.0).epsilon > 1.0)
    True
    """
    trajectory(ds)
    temperature = number(temperature, "temperature", unit_of(ds, "temperature"), positive=True)
    if not (isinstance(surroundings, float) and np.isinf(surroundings) and surroundings > 0.0):
        surroundings = number(surroundings, "surroundings", most=1e100)
    if not surroundings >= 1.0:
        raise InvalidInput(
            f"surroundings is {surroundings!r}; a dielectric constant is 1 (vacuum) or more, inf a conductor"
        )
    if volume is not None:
        volume = number(volume, "volume", unit_of(ds, "volume"), positive=True)
    else:
        box = box_of(ds)
        if box is None:
            raise InvalidInput("volume is missing; the trajectory is in free space, so say what its bodies fill")
        volume = float(np.prod(box))
    heat = _constant(ds, "boltzmann", boltzmann) * temperature
    M = total_dipole(ds, dipole=dipole).values
    found = average(((M - M.mean(axis=0)) ** 2).sum(axis=1), blocks)
    factor = 4.0 * np.pi * _constant(ds, "coulomb", coulomb) / (3.0 * volume * heat)
    y = factor * float(found.mean)
    if np.isinf(surroundings):
        epsilon, slope = 1.0 + y, 1.0
    else:
        s = 2.0 * surroundings + 1.0
        if y >= s:
            raise InvalidInput(
                f"the dipole fluctuates too much for surroundings of {surroundings:g}, y = {y:.4g} is not below {s:g}; "
                "they are not those of the run, or it is not in equilibrium"
            )
        epsilon, slope = (s + 2.0 * surroundings * y) / (s - y), s * s / (s - y) ** 2
    kind = "conducting" if np.isinf(surroundings) else f"dielectric constant {surroundings:g}"
    variables = {
        "epsilon": ((), epsilon, {"long_name": "dielectric constant", "units": "1"}),
        "epsilon_error": ((), slope * factor * float(found.error), {"long_name": "standard error", "units": "1"}),
        "fluctuation": ((), float(found.mean), {"long_name": "<M^2> - <M>^2"}),
    }
    return xr.Dataset(variables, attrs={"surroundings": kind, "rows": len(M)})


CONSTANTS = {
    "molecular": {"boltzmann": 0.00831446261815324, "coulomb": 138.935457644},
    "SI": {"boltzmann": 1.380649e-23, "coulomb": 8.9875517923e9},
}
"""Boltzmann's constant and 1 / (4 pi epsilon_0) of CODATA 2018, by unit label."""
AGREES = 1e-6  # largest relative difference between a given constant and that of the trajectory


def _constant(ds: xr.Dataset, name: str, given: float | None) -> float:
    """A physical constant in the units of a trajectory, given or its own."""
    own = float(stated(ds, name, ())) if name in ds else CONSTANTS.get(str(ds.attrs.get("units")), {}).get(name)
    if given is None:
        if own is None:
            raise InvalidInput(
                f"{name} is missing; this trajectory says neither its {name} nor units that have one, so give it: "
                f"{name}=1.0 in reduced units"
            )
        return own
    found = number(given, name, positive=True, most=1e100)
    if own is not None and abs(found - own) > AGREES * own:
        raise InvalidInput(f"{name} is {found:g}, but that of the trajectory is {own:g}; leave it out")
    return found


# ------------------------------------------------------------------ in time
def autocorrelation(series: xr.DataArray, lags: int | None = None, *, blocks: int = 8) -> xr.Dataset:
    """Autocorrelation <x(0) . x(t)> of a variable.

    Averaged over starting times, the same ones for all t, and over bodies (dimension ``body``); summed over all other
    dimensions. The mean is not subtracted, and nothing is normalized.

    Parameters
    ----------
    series : xarray.DataArray
        Variable with the dimension ``time``, equally spaced.
    lags : int, optional
        Longest lag in rows; default a quarter of the rows. The last ``lags`` rows are not used as starting times.
    blocks : int
        Number of blocks of starting times from which the error is estimated.

    Returns
    -------
    xarray.Dataset
        ``correlation`` and ``correlation_error`` by ``lag``, a time; accurate to 1e-14 of the largest value.

    Raises
    ------
    InvalidInput
        Rows that are not equally spaced or not finite, or too few rows for these lags and blocks.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> ph.trajectory.observables.autocorrelation(ds.angular_velocity, lags=8).correlation.dims
    ('lag',)
    """
    if not isinstance(series, xr.DataArray) or "time" not in series.dims or "time" not in series.coords:
        raise InvalidInput("series must be a DataArray with the dimension time, such as ds.velocity")
    bodies = series.sizes.get("body", 1)
    values, times = array(series.transpose("time", ...).values, "series"), array(series["time"].values, "time")
    if not values.size:
        raise InvalidInput("series has no rows, or none of a body")
    values = squares(values, "series").reshape(len(times), -1)
    lag, cuts = _plan(times, lags, blocks)
    found = _lagged(values, len(lag) - 1, cuts) / bodies
    units = f"({series.attrs.get('units', '1')})2"
    return _correlated("correlation", found, lag, cuts, series, f"autocorrelation of {series.name or 'series'}", units)


def velocity_autocorrelation(ds: xr.Dataset, lags: int | None = None, *, blocks: int = 8) -> xr.Dataset:
    """Velocity autocorrelation <v(0) . v(t)> of the bodies.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that translate, with equally spaced rows.
    lags, blocks
        As for ``autocorrelation``.

    Returns
    -------
    xarray.Dataset
        As ``autocorrelation``. One third of its time integral is the diffusion constant.

    Raises
    ------
    InvalidInput
        As ``autocorrelation``; a trajectory without velocities.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> ph.trajectory.observables.velocity_autocorrelation(ds, lags=8).lag[-1].values.round(3).tolist()
    0.016
    """
    of_bodies(ds, "velocity")
    return autocorrelation(ds["velocity"], lags, blocks=blocks)


def orientational_correlation(ds: xr.Dataset, rank: int = 1, lags: int | None = None, *,
                              dipole: ArrayLike | None = None, blocks: int = 8) -> xr.Dataset:  # fmt: skip
    """Orientational correlation: average of P_1(c) = c or P_2(c) = (3 c^2 - 1) / 2, where c = u(0) . u(t).

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that rotate, with equally spaced rows.
    rank : {1, 2}
        Degree of the Legendre polynomial.
    dipole : array_like (3,) or (N, 3), optional
        Vector along u in the body frame, a dipole or any other axis; default the variable ``dipole``.
    lags, blocks
        As for ``autocorrelation``.

    Returns
    -------
    xarray.Dataset
        As ``autocorrelation``; 1 at time 0.

    Raises
    ------
    InvalidInput
        As ``autocorrelation``; another rank, no dipole, or one of length zero.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> ph.trajectory.observables.orientational_correlation(ds, rank=2, lags=8).sizes["lag"]
    9
    """
    if whole(rank, "rank") not in (1, 2):
        raise InvalidInput(f"rank is {rank}; it must be 1 or 2")
    trajectory(ds, "time")
    u = _units(ds, dipole)
    lag, cuts = _plan(np.asarray(ds["time"].values, dtype=float), lags, blocks)
    if rank == 2:  # (u . w)^2 is the inner product of u u and w w
        x, y, z = np.moveaxis(u, -1, 0)
        u = np.stack([x * x, y * y, z * z, ROOT2 * x * y, ROOT2 * y * z, ROOT2 * z * x], axis=-1)
    found = _lagged(u.reshape(len(u), -1), len(lag) - 1, cuts) / u.shape[1]
    if rank == 2:
        found = 1.5 * found - 0.5
    return _correlated("correlation", found, lag, cuts, ds, f"orientational correlation of rank {rank}", "1")


def mean_square_displacement(ds: xr.Dataset, lags: int | None = None, *, blocks: int = 8) -> xr.Dataset:
    """Mean-square displacement <|r(t) - r(0)|^2> of the bodies.

    Positions of a trajectory are unwrapped, so displacements through the faces of the box count in full.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that translate, with equally spaced rows.
    lags, blocks
        As for ``autocorrelation``.

    Returns
    -------
    xarray.Dataset
        ``displacement`` and ``displacement_error`` by ``lag``, accurate to 1e-14 of the largest squared displacement.

    Raises
    ------
    InvalidInput
        As ``autocorrelation``; a trajectory without positions.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(ph.dipoles(27, box=3.9, cutoff=1.9), step=0.002, steps=128, start=start)
    >>> bool((ph.trajectory.observables.mean_square_displacement(ds, lags=8).displacement.diff("lag") > 0.0).all())
    True
    """
    r = of_bodies(ds, "position")
    N = r.shape[1]
    r = (r - r.mean(axis=0)).reshape(len(r), -1)
    lag, cuts = _plan(np.asarray(ds["time"].values, dtype=float), lags, blocks)
    square = np.concatenate([[0.0], np.cumsum((r * r).sum(axis=1))])
    ks = np.arange(len(lag))
    found = -2.0 * _lagged(r, len(lag) - 1, cuts)
    for b in range(len(cuts) - 1):
        first, last = cuts[b], cuts[b + 1]
        found[b] += (square[last] - square[first] + square[last + ks] - square[first + ks]) / (last - first)
    found[:, 0] = 0.0
    return _correlated("displacement", found / N, lag, cuts, ds, "mean-square displacement", f"({_length(ds)})2")


# ------------------------------------------------------------------ pairs
def _shells(ds: xr.Dataset, rows: object, bins: int, r_max: object) -> tuple[xr.Dataset, Array, Array | None, Array]:
    """The selected rows, positions (time, body, axis) of at least two bodies, edges of the box, radii from 0."""
    ds = with_rows(ds)
    if rows is not None:
        try:
            if not isinstance(rows, slice):
                raise TypeError
            ds = with_rows(ds.isel(time=rows))
        except InvalidInput:
            raise
        except (TypeError, ValueError):
            raise InvalidInput(
                f"rows must be a slice of whole numbers such as slice(100, None), not {shown(rows)}"
            ) from None
    position = of_bodies(ds, "position")
    if position.shape[1] < 2:
        raise InvalidInput("the trajectory has one body, so there are no pairs")
    box = box_of(ds)
    bins = whole(bins, "bins", 1)
    room_for(1000.0 * bins, "bins")
    most = np.inf if box is None else 0.5 * float(box.min())
    if r_max is None:
        far = np.linalg.norm(position.max(axis=1) - position.min(axis=1), axis=1).max()
        r_max = most if box is not None else float(far) * (1.0 + 1e-9)
    r_max = number(r_max, "r_max", unit_of(ds, "length"))
    if r_max < LEAST_RADIUS or r_max > most * (1.0 + 1e-12):
        limit = "" if box is None else f" and at most {most:g}, half the shortest edge of the box"
        raise InvalidInput(f"r_max is {r_max!r}; it must be {LEAST_RADIUS:g} or more{limit}")
    return ds, position, box, np.linspace(0.0, min(float(r_max), most), bins + 1)


def _histograms(r: Array, box: Array | None, edges: Array, u: Array | None = None) -> Array:
    """Number of pairs in each shell for one row; with unit vectors ``u`` also the sums for h110 and h112."""
    bins, furthest = len(edges) - 1, edges[-1] ** 2
    found = np.zeros((1 if u is None else 3, bins))
    last = 0
    while last < len(r) - 1:  # bodies whose pairs with all later bodies are processed at once
        first, last = last, min(len(r), last + max(1, PAIRS // (len(r) - last)))
        square = along = other = np.zeros((last - first, len(r) - first))
        for k in range(3):
            d = r[first:last, k, None] - r[None, first:, k]
            if box is not None:
                d -= box[k] * np.rint(d / box[k])
            square = square + d * d
            if u is not None:
                along, other = along + u[first:last, k, None] * d, other + u[None, first:, k] * d
        m = last - first
        square[:, :m][np.tril_indices(m)] = np.inf  # each pair once
        chosen = np.flatnonzero(square < furthest)
        near = square.ravel()[chosen]
        shell = np.minimum((np.sqrt(near) * (bins / edges[-1])).astype(int), bins - 1)
        found[0] += np.bincount(shell, minlength=bins)
        if u is not None:
            dot = (u[first:last] @ u[first:].T).ravel()[chosen]
            with np.errstate(divide="ignore", invalid="ignore"):
                radial = (along * other).ravel()[chosen] / near
            found[1] += np.bincount(shell, dot, bins)
            found[2] += np.bincount(shell, 3.0 * radial - dot, bins)
    return found


def _units(ds: xr.Dataset, dipole: ArrayLike | None) -> Array:
    """Unit vectors along the dipoles, space frame, (time, body, 3)."""
    mu = body_dipoles(ds, dipole)
    size = np.linalg.norm(mu, axis=-1, keepdims=True)
    if not (size > 0.0).all():
        raise InvalidInput("a dipole of length zero has no direction")
    return mu / size


def _length(ds: xr.Dataset) -> str:
    """Label of the unit of length."""
    return str(ds["position"].attrs.get("units", "length"))


def _with_error(
    name: str, dim: str, found: Sequence[Array], meaning: str, units: str, the: str = "the "
) -> dict[str, Any]:
    """The variables of a mean and its standard error, the first two that are ``found``."""
    told = {name: meaning, f"{name}_error": f"standard error of {the}{meaning}"}
    return {key: (dim, values, {"long_name": words, "units": units})
            for (key, words), values in zip(told.items(), found, strict=False)}  # fmt: skip


def _by_radius(ds: xr.Dataset, variables: dict[str, Any], count: Array | None, r: Array, position: Array) -> xr.Dataset:
    """Variables by distance, and how many pairs there were."""
    if count is not None:
        variables["count"] = ("r", count, {"long_name": "pairs in a row", "units": "1"})
    coordinates = {"r": ("r", r, {"long_name": "distance", "units": _length(ds)})}
    return xr.Dataset(variables, coordinates, {"rows": len(position), "bodies": position.shape[1]})


# ------------------------------------------------------------------ lags
def _plan(times: Array, lags: int | None, blocks: int) -> tuple[Array, Indices]:
    """Lags as times, and the boundaries of the blocks of starting rows."""
    n = len(times)
    if n < 2:
        raise InvalidInput(f"a correlation in time needs two rows or more, but there are {n}")
    spacing = (times[-1] - times[0]) / (n - 1)
    if spacing == 0.0 or (np.abs(np.diff(times) - spacing) > EQUAL * abs(spacing)).any():
        raise InvalidInput("rows are not equally spaced in time; choose those that are: ds.isel(time=...)")
    if lags is None:
        lags = n // 4
    lags = whole(lags, "lags", most=np.inf)
    if not lags < n - 1:
        raise InvalidInput(f"lags is {shown(lags)}; with {n} rows it must be a whole number from 0 to {n - 2}")
    starts = n - int(lags)
    return spacing * np.arange(lags + 1), np.linspace(0, starts, number_of_blocks(blocks, starts) + 1).astype(int)


def _lagged(x: Array, lags: int, cuts: Indices) -> Array:
    """Averages of x(t) . x(t + lag) over starts t in each block, (blocks, lags + 1), by zero-padded transforms."""
    blocks = len(cuts) - 1
    found = np.zeros((blocks, lags + 1))
    for b in range(blocks):
        first, last = int(cuts[b]), int(cuts[b + 1])
        size = next_fast_len(last - first + lags, real=True)
        width = max(1, NUMBERS // size)
        spectrum = np.zeros(size // 2 + 1, dtype=complex)
        for c in range(0, x.shape[1], width):
            start, later = x[first:last, c : c + width], x[first : last + lags, c : c + width]
            spectrum += (np.conj(rfft(start, size, axis=0)) * rfft(later, size, axis=0)).sum(axis=1)
        found[b] = irfft(spectrum, size)[: lags + 1] / (last - first)
    return found


def _correlated(
    name: str, found: Array, lag: Array, cuts: Indices, ds: xr.DataArray | xr.Dataset, meaning: str, units: str
) -> xr.Dataset:
    """Dataset of the averages over blocks, weighted by their lengths, with the error from their scatter."""
    mean = np.average(found, axis=0, weights=np.diff(cuts))
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    about = {"long_name": "time between", "units": ds["time"].attrs.get("units", "time")}
    attributes = {"starting_rows": int(cuts[-1]), "blocks": len(found)}
    variables = _with_error(name, "lag", (mean, error), meaning, units)
    return xr.Dataset(variables, {"lag": ("lag", lag, about)}, attributes)
