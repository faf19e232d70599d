"""Plots of ensembles: bands over time, pairs of quantities, and which members failed."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.algebra import rotation
from polhode.arguments import Array, ArrayLike, Indices, Mask, array, squares, whole
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.lazy import xr
from polhode.plots import style
from polhode.plots.rows import even
from polhode.plots.style import BLUE, COLOURS, FAINT, GREY, INK, VERMILION, Axes, Figure, GridSpec
from polhode.trajectory.schema import trajectory

MEMBER, TIME, QUANTILE, QUATERNION = "member", "time", "quantile", "quaternion"
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles that are drawn of members
MOST_ROWS = 600  # rows of a panel; of more, evenly spread ones are drawn
MOST_PANELS, MOST_NUMBERS, MOST_POINTS = 12, 12, 4000
"""Panels of bands, rows of pairs, and points that are drawn in each pair."""
USUAL = ("angular_velocity", "position", "energy_error")
"""Variables whose bands are drawn where none is named."""
TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
FAILURES = (VERMILION, *COLOURS[2:6])  # colours of the reasons for failures
DIM = "#5a5a5a"


def _members_of(ds: xr.Dataset) -> None:
    trajectory(ds)
    if MEMBER not in ds.dims:
        raise InvalidInput("this Dataset has no members; take that of an ensemble")
    if not ds.sizes[MEMBER]:
        raise InvalidInput("this ensemble has no members: its Dataset has nothing to draw")


def _names(given: object, what: str) -> list[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"{what} must be the name of a variable, or several, not {shown(given)}")
    return list(names)


def _label(name: str, units: str) -> str:
    return style.with_units(name.replace("_", " "), units)


def _heading(figure: Figure, ds: xr.Dataset, note: str) -> None:
    height = figure.get_figheight()
    attrs = ds.attrs
    named = [str(attrs[key]) for key in ("system", "method") if key in attrs]
    figure.text(
        0.02, 1.0 - 0.3 / height, "  ·  ".join(named) or "ensemble", fontsize=15, fontweight="bold", va="center"
    )
    figure.text(0.02, 1.0 - 0.58 / height, note, fontsize=10, color=DIM, va="center")


def _count(ds: xr.Dataset) -> str:
    """How many members there are, and how many of them failed."""
    members = ds.sizes.get(MEMBER, int(ds.attrs.get("members", 0)))
    failed = int((ds["status"].values != 0).sum()) if "status" in ds else int(ds.attrs.get("failed", 0))
    return f"{members:,} members" + (f", {failed:,} failed" if failed else "")


# ------------------------------------------------------------------ bands
@answering
def bands(
    ds: xr.Dataset, names: str | Sequence[str] | None = None, path: str | os.PathLike[str] | None = None, *,
    size: str | None = None,
) -> Figure:  # fmt: skip
    """Plot variables of an ensemble over time: the median, and bands that hold the middle 50 % and 90 % of members.

    A panel for each component. Of reductions the bands are the quantiles that were computed; where there are none but
    mean and standard deviation, the bands are one and two standard deviations wide to each side. Members count until
    they fail. Of more than 600 rows, evenly spread ones are drawn.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.ensemble``, of members or with ``reduce``.
    names : str or sequence of str, optional
        Variables along ``time``, such as ``"angular_velocity"``. Left out, those of ``angular_velocity``, ``position``
        and ``energy_error`` that there are, or else the first that has bands.
    path : path, optional
        Also write a PNG, PDF or SVG to this file, atomically; its folder is created if missing.
    size : {"page", "column"}, optional
        For a paper: 7 or 3.4 inches wide, with small letters and no heading. Unless given, for a screen.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot; a notebook displays it, ``savefig`` writes it.

    Raises
    ------
    InvalidInput
        No such variable, one that does not depend on time, attitudes (their components have no bands), more than 12
        panels, or ``path`` does not end in ``.png``, ``.pdf`` or ``.svg``.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> spin = ph.ensembles.sampling.normal((0.0, 0.1, 2.0), sigma=0.05)
    >>> members = ph.ensembles.sampling.members({"angular_velocity": spin}, 50, seed=1)
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members=members, step=0.1, steps=20)
    >>> len(ph.plots.bands(ds, "angular_velocity").axes)
    3
    """
    trajectory(ds)
    if names is None:
        there = {
            str(key).removesuffix("_quantile").removesuffix("_mean") for key in ds.data_vars if TIME in ds[key].dims
        }
        names = [name for name in USUAL if name in there] or sorted(there - {"attitude", "status"})[:1]
    panels = [panel for name in _names(names, "names") for panel in _panels(ds, name)]
    if len(panels) > MOST_PANELS:
        raise InvalidInput(f"these are {len(panels)} panels; draw at most {MOST_PANELS} at a time")
    wide, letters, dpi = style.sized(size, 9.0 if len(panels) <= 3 else 12.0)
    across = 1 if len(panels) <= 3 or wide < 5.0 else 2
    down = -(-len(panels) // across)
    tall = 1.75 * down + 0.25 if size else 2.1 * down + 1.5 if down > 1 else 4.6
    left, right, above, below = (0.55, 0.5, 0.45, 0.42) if size else (0.82, 1.08 if across == 1 else 0.96, 1.1, 0.55)
    with style.drawing(path, (wide, tall), letters, dpi) as figure:
        if not size:
            _heading(figure, ds, _count(ds))
        grid = figure.add_gridspec(
            down, across, left=left / wide, right=1.0 - right / wide, hspace=0.6 if size else 0.42,
            wspace=0.5 if size else 0.36, top=1.0 - above / tall, bottom=below / tall,
        )  # fmt: skip
        for k, panel in enumerate(panels):
            axes = figure.add_subplot(grid[k // across, k % across])
            _bands(axes, ds, *panel, last=k >= len(panels) - across)
    return figure


def _panels(ds: xr.Dataset, name: str) -> list[tuple[str, Array, list[str]]]:
    """Of each component of a variable: title, values (levels, rows) from the lowest up, words at the ends."""
    for dim in (MEMBER, TIME):
        if ds.sizes.get(dim) == 0:
            raise InvalidInput(f"this Dataset has no {dim}s: there is nothing to draw")
    if TIME in ds:
        times = ds[TIME].values
        squares(times[np.isfinite(times)], "time")
    if name in ds and MEMBER in ds[name].dims:
        if ds[name].dims[-1:] == (QUATERNION,):
            raise InvalidInput(f"{name} are attitudes, whose components have no bands; draw a function of them")
        if TIME not in ds[name].dims:
            raise InvalidInput(f"{name} does not depend on time; see polhode.plots.corner")
        values = ds[name].isel({TIME: _rows(ds)}).transpose(MEMBER, TIME, ...)
        levels, found = list(LEVELS), _quantiles(np.asarray(values.values, dtype=float))
        rest = values.isel({MEMBER: 0}, drop=True)
    elif f"{name}_quantile" in ds and TIME in ds[f"{name}_quantile"].dims:
        given = ds[f"{name}_quantile"].isel({TIME: _rows(ds)}).transpose(QUANTILE, TIME, ...)
        levels, found = given[QUANTILE].values.tolist(), given.values
        rest = given.isel({QUANTILE: 0}, drop=True)
    elif f"{name}_mean" in ds and f"{name}_std" in ds and ds[f"{name}_mean"].dims == ds[f"{name}_std"].dims:
        mean, std = (ds[f"{name}_{word}"].isel({TIME: _rows(ds)}).transpose(TIME, ...) for word in ("mean", "std"))
        levels, rest = [], mean
        found = np.stack([mean.values + k * std.values for k in (-2.0, -1.0, 0.0, 1.0, 2.0)])
    else:
        known = [str(key) for key in ds.data_vars if TIME in ds[key].dims]
        if name in ds:
            raise InvalidInput(f"{name} has no members here; take the Dataset of an ensemble or of its reductions")
        raise unknown_name("variable of the ensemble", name, known)
    words = _words(levels)
    units = str(rest.attrs.get("units", ""))
    flat = found.reshape(*found.shape[:2], -1)
    return [
        (_label(" ".join([name, *part]), units), flat[:, :, k], words)
        for k, part in enumerate(_components(rest, rest.dims[1:]))
    ]


def _rows(ds: xr.Dataset) -> Indices:
    return even(ds.sizes[TIME], MOST_ROWS)


def _quantiles(values: Array) -> Array:
    """Quantiles (levels, rows, ...) over the members that are finite."""
    values = np.where(np.isfinite(values), values, np.nan)
    if not np.isnan(values).any():
        return np.quantile(values, LEVELS, axis=0)
    ordered = np.sort(values, axis=0)  # nan last
    many = np.isfinite(ordered).sum(axis=0)
    found = []
    for level in LEVELS:
        rank = level * np.maximum(many - 1, 0)
        below = np.floor(rank).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(many - 1, 0))
        low, high = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
        found.append(low + (rank - below) * (high - low))
    return np.stack(found)


def _components(values: xr.DataArray, dims: Sequence[Hashable]) -> list[list[str]]:
    """Words for the components along some dimensions, in the order of memory."""
    words: list[list[str]] = [[]]
    for dim in dims:
        labels = [str(label) for label in values[dim].values] if dim in values.coords else [
            f"{dim} {k + 1}" for k in range(values.sizes[dim])]  # fmt: skip
        words = [[*word, label] for word in words for label in labels]
    return words


def _words(levels: Sequence[float]) -> list[str]:
    """What each band holds, from the outermost inwards, then the name of the line in the middle."""
    if not levels:
        return ["2 std", "1 std", "mean"]
    pairs = [f"{100 * (levels[-1 - k] - levels[k]):.4g} %" for k in range(len(levels) // 2)]
    middle = len(levels) % 2 and levels[len(levels) // 2]
    return pairs + ([("median" if middle == 0.5 else f"{100 * middle:.4g} % quantile")] if len(levels) % 2 else [])


def _bands(axes: Axes, ds: xr.Dataset, title: str, values: Array, words: list[str], last: bool) -> None:
    times = np.asarray(ds[TIME].values, dtype=float)[_rows(ds)]
    pairs = len(values) // 2
    ends = []
    for k in range(pairs):
        low, high = values[k], values[-1 - k]
        axes.fill_between(times, low, high, color=BLUE, alpha=0.16 + 0.14 * k, linewidth=0)
        if np.isfinite(high).any():
            ends.append((float(high[np.isfinite(high)][-1]), words[k], GREY))
    if len(values) % 2:
        axes.plot(times, values[pairs], color=BLUE, linewidth=1.5)
        if np.isfinite(values[pairs]).any():
            ends.append((float(values[pairs][np.isfinite(values[pairs])][-1]), words[-1], BLUE))
    axes.set_title(title)
    first, end = float(np.min(times)), float(np.max(times))
    axes.set_xlim(*((first, end) if end > first else (first - 0.5, first + 0.5)))
    if last:
        axes.set_xlabel(style.with_units("time", str(ds[TIME].attrs.get("units", ""))), labelpad=2)
    style.label_ends(axes, ends)


# ------------------------------------------------------------------ numbers of members
def _numbers(ds: xr.Dataset, name: str, row: int) -> dict[str, Array]:
    """Numbers (members,) by label: the components of a variable, at a row where it depends on time."""
    if name not in ds.variables:
        known = [str(key) for key in ds.variables if MEMBER in ds[key].dims]
        raise unknown_name("variable of the members", name, known)
    values = ds[name]
    if MEMBER not in values.dims or values.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} is no number of each member; there is nothing to draw")
    if TIME in values.dims:
        if not -values.sizes[TIME] <= row < values.sizes[TIME]:
            raise InvalidInput(f"row is {row}, but there are {values.sizes[TIME]} rows")
        values = values.isel({TIME: row})
    values = values.transpose(MEMBER, ...)
    plain = np.asarray(values.values, dtype=float)
    squares(plain[np.isfinite(plain)], name)
    units = str(values.attrs.get("units", ""))
    if plain.shape[1:] == (4,) and (values.dims[-1] == QUATERNION or "attitude" in name):
        return {_label(f"{name} {axis}", "deg"): part for axis, part in zip("xyz", _angles(plain), strict=True)}
    if plain.shape[1:] == (3, 3):
        return {_label(f"{name} {'xyz'[i]}{'xyz'[k]}", units): plain[:, i, k] for i, k in TENSOR}
    flat = plain.reshape(len(plain), -1)
    parts = _components(values, values.dims[1:])
    if plain.shape[1:] == (3,) and values.dims[-1] not in values.coords:
        parts = [["x"], ["y"], ["z"]]
    return {_label(" ".join([name, *part]), units): flat[:, k] for k, part in enumerate(parts)}


def _angles(q: Array) -> Array:
    """Rotation vectors (3, members) in degrees from the mean attitude to each, in the body frame."""
    whole_ones = np.isfinite(q).all(axis=1)
    found = np.full((3, len(q)), np.nan)
    if whole_ones.any():
        given = q[whole_ones]
        mean = np.linalg.eigh(given.T @ given)[1][:, -1]
        found[:, whole_ones] = np.rad2deg(rotation.log_quaternion(rotation.multiply(rotation.conjugate(mean), given))).T
    return found


def _varied(ds: xr.Dataset) -> list[str]:
    """Coordinates of the members that are numbers and differ."""
    found = []
    for name in ds.coords:
        values = ds[name]
        if MEMBER in values.dims and TIME not in values.dims and name != MEMBER and values.dtype.kind in "iuf":
            plain = values.transpose(MEMBER, ...).values
            if (plain != plain[:1]).any():
                found.append(str(name))
    return found


def _failures(ds: xr.Dataset) -> Mask:
    return ds["status"].values != 0 if "status" in ds else np.zeros(ds.sizes[MEMBER], dtype=bool)


def _some(count: int, most: int = MOST_POINTS) -> Indices:
    """Members that are drawn, by an irregular choice that is always the same."""
    return np.arange(count) if count <= most else np.sort(np.random.default_rng(0).permutation(count)[:most])


@answering
def corner(
    ds: xr.Dataset, names: str | Sequence[str] | None = None, path: str | os.PathLike[str] | None = None, *,
    row: int = -1, size: str | None = None,
) -> Figure:  # fmt: skip
    """Plot pairs of quantities of the members against each other, with the distribution of each on the diagonal.

    What varied, and variables at one row; vectors have a panel for each component, attitudes rotation vectors from
    their mean (body frame, degrees). Members that failed are crosses. Of more than 4,000 members, so many are drawn;
    correlations are those of all that did not fail.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.ensemble``, of members.
    names : str or sequence of str, optional
        Variables or coordinates of the members, 12 numbers at most; unless given, what varied.
    path : path, optional
        Also write a PNG, PDF or SVG to this file, atomically; its folder is created if missing.
    row : int
        The row at which variables along ``time`` are taken, the last unless given.
    size : {"page", "column"}, optional
        For a paper: 7 or 3.4 inches wide, with small letters and no heading. Unless given, for a screen.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        No ensemble, no such variable or row, more than 12 numbers, or ``path`` does not end in
        ``.png``, ``.pdf`` or ``.svg``.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> spin = ph.ensembles.sampling.normal((0.0, 0.1, 2.0), sigma=0.05)
    >>> members = ph.ensembles.sampling.members({"angular_velocity": spin}, 50, seed=1)
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members=members, step=0.1, steps=20)
    >>> len(ph.plots.corner(ds, ["angular_velocity"]).axes)
    6
    """
    _members_of(ds)
    chosen = _varied(ds) if names is None else _names(names, "names")
    if not chosen:
        raise InvalidInput("nothing varies in this ensemble; name the variables to draw")
    at = whole(row, "row", -(2**31), 2**31)
    columns: dict[str, Array] = {}
    for name in chosen:
        columns |= {label: part for label, part in _numbers(ds, name, at).items() if names or np.ptp(part) != 0.0}
    if len(columns) > MOST_NUMBERS:
        raise InvalidInput(f"these are {len(columns)} numbers of each member; draw at most {MOST_NUMBERS} at a time, "
                           "by names=")  # fmt: skip
    many = len(columns)
    side, letters, dpi = style.sized(size, min(max(5.0, 1.75 * many + 1.2), 16.0))
    tall, above = (side, 0.1) if size else (side + 0.5, 0.95)
    with style.drawing(path, (side, tall), letters | {"axes.grid": False}, dpi) as figure:
        if not size:
            _heading(figure, ds, _count(ds))
        grid = figure.add_gridspec(many, many, left=(0.9 if side >= 5.0 else 0.7) / side, right=0.985,
                                   top=1.0 - above / tall, bottom=0.65 / tall, hspace=0.1, wspace=0.1)  # fmt: skip
        _pairs(figure, grid, columns, _failures(ds), min(1.0, (side - 0.8) / many / 1.3))
    return figure


def _pairs(figure: Figure, grid: GridSpec, columns: dict[str, Array], failed: Mask, scale: float) -> None:
    """Draw the panels, with letters of a scale and as many ticks and letters in a line as cells of that scale take."""
    letters, ticks, line = max(8.5 * scale**0.5, 4.5), max(1, round(4 * scale)), max(8, round(22 * scale**0.5))
    labels, values = list(columns), list(columns.values())
    many, drawn = len(labels), _some(len(failed))
    size = float(np.clip(30.0 / max(len(drawn), 1) ** 0.35, 1.2, 4.0))
    for i in range(many):
        for k in range(i + 1):
            axes = figure.add_subplot(grid[i, k])
            if i == k:
                good = values[i][np.isfinite(values[i])]
                if len(good) and np.ptp(good) > 0.0:
                    axes.hist(good, bins=int(np.clip(len(good) ** 0.5, 6, 40)), color=BLUE, alpha=0.75)
                axes.set_yticks([])
            else:
                _points(axes, (values[k], values[i]), failed, drawn, size * scale**0.5, letters - 0.5)
            axes.locator_params(axis="x", nbins=ticks)
            if i != k:
                axes.locator_params(axis="y", nbins=ticks)
            axes.tick_params(labelsize=letters - 0.5, labelbottom=i == many - 1, labelleft=k == 0 and i > 0)
            if i == many - 1:
                axes.set_xlabel(textwrap.fill(labels[k], line), fontsize=letters)
            if k == 0 and i > 0:
                axes.set_ylabel(textwrap.fill(labels[i], line), fontsize=letters)
    if many == 1:
        figure.axes[0].set_xlabel(labels[0])


def _points(axes: Axes, pair: tuple[Array, Array], failed: Mask, drawn: Indices, size: float, letters: float) -> None:
    x, y = pair
    good, bad = drawn[~failed[drawn]], drawn[failed[drawn]]
    axes.plot(x[good], y[good], linestyle="", marker="o", markersize=size, markeredgewidth=0, color=BLUE,
              alpha=0.8 if len(good) < 500 else 0.35)  # fmt: skip
    axes.plot(x[bad], y[bad], linestyle="", marker="x", markersize=max(size, 2.5), markeredgewidth=0.8, color=VERMILION,
              alpha=1.0 if len(bad) < 100 else 0.6)  # fmt: skip
    use = np.isfinite(x) & np.isfinite(y) & ~failed
    if use.sum() > 2 and np.ptp(x[use]) > 0.0 and np.ptp(y[use]) > 0.0:
        r = float(np.corrcoef(x[use], y[use])[0, 1])
        words = f"{r:.2f}".replace("-0.00", "0.00").replace("-", "−")
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1}
        axes.text(0.96, 0.95, words, transform=axes.transAxes, ha="right", va="top", fontsize=letters, color=DIM,
                  bbox=box)  # fmt: skip


# ------------------------------------------------------------------ success
@answering
def success(
    ds: xr.Dataset, names: Sequence[str] | None = None, path: str | os.PathLike[str] | None = None, *,
    passed: ArrayLike | None = None,
) -> Figure:  # fmt: skip
    """Plot over two quantities which members reached their end, and which failed for what reason.

    Behind the points, cells have the share of members that succeeded, where there are enough of them.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.ensemble``, of members.
    names : sequence of str, optional
        The quantities that span the plane: variables or coordinates of the members; of two vectors one component of
        each, of one vector two. Unless given, two of what varied. Of several numbers those are taken whose means differ
        most between success and failure, in standard deviations.
    path : path, optional
        Also write a PNG, PDF or SVG to this file, atomically; its folder is created if missing.
    passed : array_like of bool (members,), optional
        A condition of your own, besides running to the end: where it is False the member has missed it.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        No ensemble, no such variable, fewer than two numbers that vary, ``passed`` of another length, or ``path`` does
        not end in ``.png``.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> spin = ph.ensembles.sampling.normal((0.0, 0.1, 2.0), sigma=0.05)
    >>> members = ph.ensembles.sampling.members({"angular_velocity": spin}, 50, seed=1)
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members=members, step=0.1, steps=20)
    >>> figure = ph.plots.success(ds, passed=ds.angular_velocity[:, -1, 2] > 2.0)
    >>> len(figure.axes)
    1
    """
    _members_of(ds)
    reasons = _reasons(ds, passed)
    (x_label, x), (y_label, y) = _plane(ds, None if names is None else _names(names, "names"), reasons == "")
    with style.drawing(path, (9.6, 6.6)) as figure:
        rate = 100.0 * np.mean(reasons == "")
        _heading(figure, ds, f"{ds.sizes[MEMBER]:,} members, {rate:.4g} % succeeded")
        axes = figure.add_axes((0.085, 0.095, 0.63, 0.74))
        _cells(figure, axes, x, y, reasons == "")
        _outcomes(axes, x, y, reasons)
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.use_sticky_edges = False
        axes.autoscale()
    return figure


def _plane(ds: xr.Dataset, names: list[str] | None, good: Mask) -> list[tuple[str, Array]]:
    """Two numbers of the members, with their labels: of what is named, or of all that varied, those that tell most."""
    given = [_numbers(ds, name, -1) for name in (_varied(ds) if names is None else names)]
    if names is None or len(given) != 2:
        given = [{label: part for parts in given for label, part in parts.items()}] * 2
    found: dict[str, Array] = {}
    for parts in given:
        telling = {label: _telling(part, good) for label, part in parts.items() if label not in found}
        best = max(telling, key=lambda label: telling[label], default=None)
        if best is None or telling[best] < 0.0:
            raise InvalidInput("fewer than two numbers vary here; name two quantities of the members that do")
        found[best] = parts[best]
    return list(found.items())


def _telling(values: Array, good: Mask) -> float:
    """By how many standard deviations the means of success and failure differ; negative where nothing varies."""
    finite = np.isfinite(values)
    if not finite.any() or np.ptp(values[finite]) == 0.0:
        return -1.0
    one, other = values[finite & good], values[finite & ~good]
    return float(abs(one.mean() - other.mean()) / values[finite].std()) if len(one) and len(other) else 0.0


def _reasons(ds: xr.Dataset, passed: ArrayLike | None) -> NDArray[np.object_]:
    """Of each member why it failed, in few words, empty for success."""
    failed = _failures(ds)
    reasons = np.where(failed, "failed", "").astype(object)
    if "status" in ds:
        status = ds["status"].values
        flags = (part.partition(": ") for part in str(ds["status"].attrs.get("flags", "")).split("; "))
        for code, _, meaning in flags:
            if meaning and code.strip("-").isdigit():
                reasons[failed & (status == int(code))] = meaning
    if passed is not None:
        try:
            good = np.asarray(passed)
        except Exception:  # whatever an object raises
            good = np.empty(0)
        if good.dtype.kind != "b":
            numbers = array(passed, "passed")
            good = numbers == 1.0
            if not (good | (numbers == 0.0)).all():
                raise InvalidInput("passed must be True or False for each member; give a condition, such as values < 3")
        if good.shape != failed.shape:
            raise InvalidInput(
                f"passed must have one entry for each of {len(failed)} members, but has shape {good.shape}"
            )
        reasons[(reasons == "") & ~good] = "missed the condition"
    return reasons


def _cells(figure: Figure, axes: Axes, x: Array, y: Array, good: Mask) -> None:
    """The share of success in cells with enough members."""
    use = np.isfinite(x) & np.isfinite(y)
    cells = int(min(24, (use.sum() / 15) ** 0.5))
    if cells < 3 or good.all():
        return
    all_of, x_edges, y_edges = np.histogram2d(x[use], y[use], bins=cells)
    good_of, _, _ = np.histogram2d(x[use & good], y[use & good], bins=(x_edges, y_edges))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(all_of >= 5, good_of / all_of, np.nan)
    drawn = axes.pcolormesh(
        x_edges, y_edges, 100.0 * share.T, cmap="RdYlBu", vmin=0.0, vmax=100.0, alpha=0.45, zorder=0
    )
    bar = figure.add_axes((0.755, 0.095, 0.018, 0.3))
    figure.colorbar(drawn, cax=bar)
    bar.set_title("succeeded (%)", fontsize=9, fontweight="normal")
    bar.grid(False)


def _outcomes(axes: Axes, x: Array, y: Array, reasons: NDArray[np.object_]) -> None:
    """Points of the members, and the legend of the reasons beside them."""
    groups: dict[str, list[int]] = {}
    for member, reason in enumerate(reasons):
        groups.setdefault(reason, []).append(member)
    ranked = sorted((reason for reason in groups if reason), key=lambda reason: (-len(groups[reason]), reason))
    if len(ranked) > len(FAILURES):
        rest = ranked[len(FAILURES) - 1 :]
        groups["other reasons"] = sorted(member for reason in rest for member in groups[reason])
        ranked = [*ranked[: len(FAILURES) - 1], "other reasons"]
    height = 0.98
    for reason, colour in (("", BLUE), *zip(ranked, FAILURES, strict=False)):
        some = np.array(groups.get(reason, []), dtype=np.int64)
        some = some[_some(len(some))]
        size = float(np.clip(60.0 / max(len(reasons), 1) ** 0.35, 2.0, 5.0))
        marker: dict[str, Any] = {"marker": "x", "markersize": size + 1.5, "markeredgewidth": 1.2} if reason else {
            "marker": "o", "markersize": size, "markeredgewidth": 0, "alpha": 0.6}  # fmt: skip
        axes.plot(x[some], y[some], linestyle="", color=colour, zorder=3 if reason else 2, **marker)
        words = textwrap.fill(reason or "reached the end", 24)
        text = f"{len(groups.get(reason, [])):,}  {words}"
        axes.plot([1.04], [height - 0.012], linestyle="", color=colour, transform=axes.transAxes, clip_on=False,
                  **(marker | {"markersize": 5.5, "alpha": 1.0}))  # fmt: skip
        axes.text(1.07, height, text, transform=axes.transAxes, va="top", fontsize=8.5, color=INK)
        height -= 0.045 + 0.034 * text.count("\n")
    axes.grid(color=FAINT, linewidth=0.5)
