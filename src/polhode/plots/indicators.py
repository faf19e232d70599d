"""Plots of indicators of chaos: how one tends to its limit, and maps over what varies among members."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from polhode.arguments import Array, ArrayLike, array, vector
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.lazy import matplotlib, xr
from polhode.plots import style
from polhode.plots.rows import even
from polhode.plots.style import COLOURS, GREY, VERMILION, Axes, Figure, Normalize, ScalarMappable
from polhode.trajectory.schema import trajectory

MEMBER, TIME = "member", "time"
MOST_CURVES = 200  # curves that are drawn of members; of more, evenly spread ones
NAMED = 6  # most curves that are labelled one by one
ALIGNMENTS, LEAST = ("sali", "gali"), 1e-16  # indicators that fall to round-off, and where they are cut off
LARGEST = 1e300  # largest numbers of an axis
SCREEN = (1.0, 2.0, 5.0)  # ticks of a logarithmic scale of MEGNO, times powers of ten


@dataclass(frozen=True)
class _Kind:
    """How an indicator is drawn."""

    along: str  # variable along time
    final: str  # variable at the end
    words: str  # label
    logarithmic: bool  # whether its scale is; ``over_time`` tells it of the axis of time
    over_time: bool
    colours: str = "cividis"  # of a map: order is dark, chaos bright


KINDS = {
    "megno": _Kind("megno", "final", "MEGNO", True, False),
    "fli": _Kind("fli", "final", "FLI", False, True),
    "sali": _Kind("sali", "final", "SALI", True, False, "cividis_r"),
    "gali": _Kind("gali", "final", "GALI", True, False, "cividis_r"),
    "lyapunov": _Kind("lyapunov", "exponent", "Lyapunov exponent", False, True),
}


@answering
def indicator(
    ds: xr.Dataset, x: str | ArrayLike | None = None, y: str | ArrayLike | None = None, *,
    limits: tuple[float, float] | None = None, axes: Axes | None = None, path: str | os.PathLike[str] | None = None,
) -> Figure:  # fmt: skip
    """Plot an indicator of chaos: a map over two numbers that vary among members, or its way to its limit over time.

    One run is drawn over time: MEGNO with the line at 2 to which it tends where motion is regular, FLI over the
    logarithm of time, SALI and GALI on a logarithmic scale, exponents on two. Members are drawn as a map where two
    numbers vary among them, over one number where one does, else as curves over time. Failed members are crosses.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.chaos.megno``, ``fli``, ``sali``, ``gali`` or ``lyapunov``, of which maps show the largest
        exponent.
    x, y : str or array, optional
        What a map is drawn over: names of coordinates, with the number of a component behind a dot
        (``"angular_momentum.2"``), or arrays with a number for each member, of any shape. ``x="time"`` draws curves.
    limits : (float, float), optional
        Of the scale of colours; numbers beyond have the colour of its ends.
    axes : matplotlib axes, optional
        Draw there, instead of in a figure of its own.
    path : path, optional
        Also write a PNG, PDF or SVG to this file, atomically; its folder is created if missing.

    Returns
    -------
    matplotlib.figure.Figure
        Its first axes are those of the plot, to be labelled where arrays were given.

    Raises
    ------
    InvalidInput
        No Dataset of an indicator, no such coordinate, arrays of another size than members, or ``path`` does not end in
        ``.png``, ``.pdf`` or ``.svg``.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = [(0.1, 2.0, 0.1), (0.1, 0.1, 2.0)]
    >>> found = ph.chaos.megno(ph.free_body((1, 2, 2.5)), members={"angular_velocity": spins}, step=0.05, steps=40)
    >>> len(ph.plots.indicator(found, x="time").axes)
    1
    """
    kind = kind_of(ds)
    if kind is None:
        raise InvalidInput("this Dataset holds no indicator of chaos; take that of polhode.chaos.megno, for instance")
    if limits is not None:
        low, high = vector(limits, "limits", 2).tolist()
        if not low < high:
            raise InvalidInput(f"limits must be two increasing numbers, such as (1.0, 30.0), not {shown(limits)}")
        limits = low, high
    over = _over(ds, x, y)
    from matplotlib.axes import Axes

    if axes is not None and not isinstance(axes, Axes):
        raise InvalidInput(f"axes must be axes of Matplotlib, such as plt.gca(), not {shown(axes)}")
    into = None if axes is None else cast("Figure", axes.figure)
    with style.drawing(path, (7.2, 5.2), into=into, layout="constrained") as figure:
        if axes is None:
            axes = figure.add_subplot()
            axes.set_title(str(ds.attrs.get("title", kind.words)))
        if len(over) == 2:
            _map(figure, axes, ds, kind, over, limits)
        elif over:
            _against(axes, ds, kind, *over[0])
        else:
            _curves(figure, axes, ds, kind, limits)
    return figure


def kind_of(ds: xr.Dataset) -> _Kind | None:
    """Which indicator of chaos a Dataset holds; None if it holds none."""
    trajectory(ds)
    return next((kind for kind in KINDS.values() if kind.along in ds and kind.final in ds), None)


# ------------------------------------------------------------------ what it is drawn over
def _over(ds: xr.Dataset, x: str | ArrayLike | None, y: str | ArrayLike | None) -> list[tuple[str, Array]]:
    """Labels and numbers of members that a plot is drawn over: none, one or two."""
    over_time = isinstance(x, str) and x == TIME
    if MEMBER not in ds.dims:
        if y is not None or (x is not None and not over_time):
            raise InvalidInput("this is one run, drawn over time; leave x and y out, or give members")
        return []
    if not ds.sizes[MEMBER]:
        raise InvalidInput("this Dataset has no members: there is nothing to draw")
    if over_time:
        if y is not None:
            raise InvalidInput("over time the indicator itself is y; leave y out")
        return []
    if x is None:
        if y is not None:
            raise InvalidInput("y is given and x is not; give both")
        found = [(label, values) for label, values in _numbers(ds) if len(np.unique(values)) > 1]
        return found if len(found) <= 2 else []
    return [_chosen(ds, one, word) for one, word in ((x, "x"), (y, "y")) if one is not None]


def _numbers(ds: xr.Dataset) -> list[tuple[str, Array]]:
    """Every number that members have: names of coordinates, and their components."""
    found: list[tuple[str, Array]] = []
    for key, values in ds.coords.items():
        if MEMBER not in values.dims or values.dtype.kind not in "biuf" or key == MEMBER:
            continue
        name, flat = str(key), values.transpose(MEMBER, ...).values.reshape(ds.sizes[MEMBER], -1)
        inside = values.transpose(MEMBER, ...).shape[1:]
        found += [(".".join([name, *map(str, np.unravel_index(k, inside))]) if inside else name, flat[:, k])
                  for k in range(flat.shape[1])]  # fmt: skip
    return found


def _chosen(ds: xr.Dataset, given: str | ArrayLike, word: str) -> tuple[str, Array]:
    """Label and numbers of one axis."""
    if isinstance(given, str):
        known = dict(_numbers(ds))
        for name in (given, f"initial_{given}"):
            if name in known:
                return name, known[name]
        raise unknown_name(f"{word}", given, list(known))
    values = array(given, word).ravel()
    if values.size and np.abs(values).max() > LARGEST:
        raise InvalidInput(f"{word} has numbers beyond {LARGEST:g}, which cannot be drawn; take other units")
    if len(values) != ds.sizes[MEMBER]:
        raise InvalidInput(f"{word} has {len(values)} numbers; give one for each of the {ds.sizes[MEMBER]} members, or "
                           "the name of a coordinate")  # fmt: skip
    return str(getattr(given, "name", None) or ""), values


# ------------------------------------------------------------------ drawing
def _final(ds: xr.Dataset, kind: _Kind) -> Array:
    """The indicator of members at the end; of exponents the largest."""
    values = ds[kind.final]
    return np.asarray((values.isel(vector=0) if "vector" in values.dims else values).values, dtype=float)


def _scale(kind: _Kind, values: Array, limits: tuple[float, float] | None) -> tuple[Normalize, list[float] | None]:
    """How numbers become colours, and the ticks of the bar."""
    good = values[np.isfinite(values)]
    if limits is None:
        if kind.along == "megno":
            limits = 1.0, max(5.0, float(np.quantile(good, 0.98))) if good.size else 5.0
        elif kind.along in ALIGNMENTS:
            limits = LEAST, 1.5
        else:
            low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 1.0)
            limits = (low, high) if low < high else (low - 0.5, low + 0.5)
    if not kind.logarithmic or limits[0] <= 0.0:
        return matplotlib.colors.Normalize(*limits), None
    norm = matplotlib.colors.LogNorm(*limits)
    if limits[1] / limits[0] > 1e3:
        return norm, None
    first = int(np.floor(np.log10(limits[0])))
    ticks = [m * 10.0**k for k in range(first, first + 5) for m in SCREEN]
    return norm, [tick for tick in ticks if limits[0] <= tick <= limits[1] * (1.0 + 1e-12)]


def _bar(figure: Figure, axes: Axes, drawn: ScalarMappable, kind: _Kind, ticks: list[float] | None) -> None:
    words: dict[str, Any] = {"ticks": ticks, "format": "%g"} if ticks else {}
    bar = figure.colorbar(drawn, ax=axes, label=f"{kind.words} at the end", **words)
    if ticks:
        bar.ax.minorticks_off()


def _map(
    figure: Figure, axes: Axes, ds: xr.Dataset, kind: _Kind, over: list[tuple[str, Array]],
    limits: tuple[float, float] | None,
) -> None:  # fmt: skip
    """Colours over two numbers: pixels where members fill a grid, else dots."""
    (across, x), (up, y) = over
    values = _final(ds, kind)
    norm, ticks = _scale(kind, values, limits)
    held = np.clip(values, norm.vmin, norm.vmax)
    columns, i = np.unique(x, return_inverse=True)
    rows, j = np.unique(y, return_inverse=True)
    slot = j.ravel() * len(columns) + i.ravel()
    if len(columns) > 1 and len(rows) > 1 and len(np.unique(slot)) == len(slot) == len(columns) * len(rows):
        pixels = np.empty(len(slot))
        pixels[slot] = held
        image = pixels.reshape(len(rows), len(columns))
        drawn: ScalarMappable = axes.pcolormesh(
            columns, rows, image, norm=norm, cmap=kind.colours, shading="nearest", rasterized=True
        )
    else:
        size = float(np.clip(2.0e4 / len(x), 2.0, 60.0))
        drawn = axes.scatter(x, y, c=held, s=size, norm=norm, cmap=kind.colours, linewidths=0)
    lost = ~np.isfinite(values)
    if lost.any():
        axes.plot(x[lost], y[lost], "x", color=VERMILION, markersize=4, label="failed")
        axes.legend()
    axes.set(xlabel=_spoken(ds, across), ylabel=_spoken(ds, up))
    axes.grid(visible=False)
    _bar(figure, axes, drawn, kind, ticks)


def _against(axes: Axes, ds: xr.Dataset, kind: _Kind, name: str, x: Array) -> None:
    """The indicator at the end over the one number that varies."""
    values, order = _final(ds, kind), np.argsort(x, kind="stable")
    if kind.along in ALIGNMENTS:
        values = np.maximum(values, LEAST)
    axes.plot(x[order], values[order], ".-", color=COLOURS[0])
    for lost in x[~np.isfinite(values)]:
        axes.axvline(lost, color=VERMILION, linewidth=0.8)
    axes.set(xlabel=_spoken(ds, name), ylabel=f"{kind.words} at the end")
    _shape(axes, kind)


def _curves(figure: Figure, axes: Axes, ds: xr.Dataset, kind: _Kind, limits: tuple[float, float] | None) -> None:
    """The indicator over time: of one run, of each exponent, or of members in the colours of their ends."""
    several = MEMBER in ds.dims
    if not ds.sizes.get(TIME):
        raise InvalidInput("this Dataset has no rows along time: there is nothing to draw")
    elapsed = np.abs(ds[TIME].values - ds[TIME].values[0])
    part = ds[kind.along]
    if several:
        part = part.isel(vector=0) if "vector" in part.dims else part
        curves = np.asarray(part.transpose(MEMBER, TIME).values, dtype=float)
    else:
        curves = np.atleast_2d(np.asarray(part.transpose(..., TIME).values, dtype=float))
    sizes = np.maximum(curves, LEAST) if kind.along in ALIGNMENTS else curves
    if kind.along == "lyapunov":
        sizes = np.abs(curves)
    if several and len(sizes) > NAMED:
        norm, ticks = _scale(kind, _final(ds, kind), limits)
        drawn: Any = matplotlib.cm.ScalarMappable(norm, kind.colours)
        for k in even(len(sizes), MOST_CURVES):
            end = float(_final(ds, kind)[k])
            axes.plot(elapsed[1:], sizes[k, 1:], color=drawn.to_rgba(end) if np.isfinite(end) else GREY, linewidth=0.7)
        _bar(figure, axes, drawn, kind, ticks)
    else:
        word, begun = "member" if several else "exponent", len(axes.get_legend_handles_labels()[1])
        for k, curve in enumerate(sizes):
            label, colour = f"{word} {k if several else k + 1}", COLOURS[(begun + k) % len(COLOURS)]
            axes.plot(elapsed[1:], curve[1:], color=colour, label=label)
        if len(sizes) > 1:
            axes.legend()
    size = "size of the exponent" if kind.along == "lyapunov" else kind.words
    axes.set(xlabel=style.with_units("time", str(ds[TIME].attrs.get("units", ""))), ylabel=size)
    if kind.over_time:
        axes.set_xscale("log")
    if kind.along == "lyapunov":
        axes.set_yscale("log")
    _shape(axes, kind)


def _shape(axes: Axes, kind: _Kind) -> None:
    """The scale of an indicator, and the line to which it tends where motion is regular."""
    if kind.along == "megno":
        axes.axhline(2.0, color=GREY, linewidth=1.0, linestyle="--", zorder=1.5)
        axes.set_ylim(bottom=0.0)
    elif kind.along in ALIGNMENTS:
        axes.set_yscale("log")


def _spoken(ds: xr.Dataset, name: str) -> str:
    """The name of a coordinate, or of a component of one, as a label."""
    base, _, number = name.partition(".")
    three = base in ds.coords and ds[base].ndim == 2 and min(ds[base].shape[1:]) == 3
    return " ".join([base.replace("_", " "), "xyz"[int(number)] if three and number else number]).strip()
