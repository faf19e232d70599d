"""The picture of a sweep: what it found over what varies, and where it failed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.errors import InvalidInput, shown
from polhode.lazy import xr
from polhode.plots import style
from polhode.plots.rows import even

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 200_000
"""Members that are drawn."""
MOST_PANELS = 6
LOGARITHMIC = 15.0
"""Largest over smallest of positive numbers, from which on an axis is logarithmic."""


def picture(ds: xr.Dataset, path: str | os.PathLike[str] | None = None, show: str | None = None) -> Figure:
    """Draw a sweep: over two keys a map, else one panel for each key; members that failed are crosses."""
    rows = "time" in ds.dims
    name = show or next((str(one) for one in _drawable(ds, rows)), None)
    dims = ("member", "time") if rows else ("member",)
    if name is None or name not in ds.variables or ds[name].dims != dims or ds[name].dtype.kind not in "biuf":
        possible = _drawable(ds, rows)
        what = f"one number for each {' and '.join(dims)}"
        named = f"name one of {', '.join(possible)}" if possible else "there is none in this sweep"
        raise InvalidInput(f"there is no variable {shown(name)} of {what} to draw; {named}")
    keys = [str(key) for key in ds.coords if "member" in ds[key].dims and ds[key].ndim == 1]
    numbers = [key for key in keys if ds[key].dtype.kind in "fi" and len(np.unique(ds[key].values[:MOST])) > 1]
    panels = 1 if rows or len(numbers) in (0, 1, 2) else min(MOST_PANELS, len(numbers))
    across = min(3, panels)
    size = (9.0, 6.2) if panels == 1 else (5.0 * across, 4.3 * -(-panels // across))
    with style.drawing(path, size, layout="constrained") as figure:
        figure.suptitle(f"{ds.attrs.get('title', 'sweep')}, {int((ds.status > 0).sum())} failed", x=0.01, ha="left",
                        fontsize=13, fontweight="bold")  # fmt: skip
        axes = [figure.add_subplot(-(-panels // across), across, k + 1) for k in range(panels)]
        if rows:
            _bands(axes[0], ds, name)
        elif len(numbers) == 2:
            _map(figure, axes[0], ds, name, numbers)
        elif not numbers:
            _against(axes[0], ds, name, None)
        else:
            for one, key in zip(axes, numbers, strict=False):
                _against(one, ds, name, key)
    return figure


def _drawable(ds: xr.Dataset, rows: bool) -> list[str]:
    """Variables of one number for each member (and time), the best one first."""
    dims = ("member", "time") if rows else ("member",)
    found = [str(name) for name, part in ds.data_vars.items() if part.dims == dims and part.dtype.kind == "f"]
    first = [name for name in ("largest_energy_error", "energy_error", "energy") if name in found]
    return [*first, *(name for name in found if name not in (*first, "end_time")), *(["end_time"] * (not rows))]


def _label(ds: xr.Dataset, name: str) -> str:
    words = ds[name].attrs
    return style.with_units(str(words.get("long_name", name)), str(words.get("units", "")))


def _scaled(axis: Callable[[str], None], values: Array) -> None:
    """A logarithmic axis where numbers are spread that far."""
    good = values[np.isfinite(values)]
    if good.size and good.min() > 0.0 and good.max() > LOGARITHMIC * good.min():
        axis("log")


def _some(ds: xr.Dataset) -> tuple[Indices, Mask]:
    """The members that are drawn, spread evenly over all, and which of them failed."""
    at = even(ds.sizes["member"], MOST)
    return at, ds["status"].values[at] > 0


def _map(figure: Figure, axes: Axes, ds: xr.Dataset, name: str, keys: list[str]) -> None:
    import matplotlib

    at, failed = _some(ds)
    x, y, values = (np.asarray(ds[one].values[at], dtype=float) for one in (*keys, name))
    good = np.isfinite(values) & ~failed
    positive = good.any() and values[good].min() > 0.0 and values[good].max() > LOGARITHMIC * values[good].min()
    norm = matplotlib.colors.LogNorm() if positive else None
    _scaled(axes.set_xscale, x)
    _scaled(axes.set_yscale, y)
    size = float(np.clip(2.0e5 / len(at), 2.0, 160.0))
    whole = len(np.unique(x)) * len(np.unique(y)) == len(at)
    drawn = axes.scatter(x[good], y[good], c=values[good], s=size, marker="s" if whole else "o", linewidth=0, norm=norm,
                         cmap="viridis")  # fmt: skip
    if good.any():
        figure.colorbar(drawn, ax=axes, label=_label(ds, name), pad=0.01)
    if failed.any():
        axes.plot(x[failed], y[failed], linestyle="", marker="x", color=style.VERMILION, markersize=min(7.0, size**0.5))
    axes.set_xlabel(keys[0])
    axes.set_ylabel(keys[1])
    axes.set_title("× failed" if failed.any() else "")


def _against(axes: Axes, ds: xr.Dataset, name: str, key: str | None) -> None:
    at, failed = _some(ds)
    x = at.astype(float) if key is None else np.asarray(ds[key].values[at], dtype=float)
    values = np.asarray(ds[name].values[at], dtype=float)
    good = np.isfinite(values) & ~failed
    size = float(np.clip(3.0e4 / len(at), 1.0, 25.0)) ** 0.5
    axes.plot(x[good], values[good], linestyle="", marker="o", color=style.BLUE, markersize=size, markeredgewidth=0,
              alpha=1.0 if len(at) < 500 else 0.4)  # fmt: skip
    if key is not None:
        _scaled(axes.set_xscale, x)
    _scaled(axes.set_yscale, values[good])
    for one in x[failed][:2000]:
        axes.axvline(one, ymax=0.03, color=style.VERMILION, linewidth=1.0)
    axes.set_xlabel(key or "member")
    axes.set_ylabel(_label(ds, name))
    axes.set_title("red at the foot: failed" if failed.any() else "")


def _bands(axes: Axes, ds: xr.Dataset, name: str) -> None:
    at, failed = _some(ds)
    values = np.asarray(ds[name].values[at[~failed]], dtype=float)
    time = np.asarray(ds["time"].values, dtype=float)
    if not values.size:
        return
    rows = [np.full(len(time), np.nan) if not len(values) else quantile
            for quantile in np.nanquantile(values, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0)]  # fmt: skip
    axes.fill_between(time, rows[0], rows[4], color=style.SKY, alpha=0.25, linewidth=0, label="all members")
    axes.fill_between(time, rows[1], rows[3], color=style.BLUE, alpha=0.35, linewidth=0, label="half of them")
    axes.plot(time, rows[2], color=style.BLUE, label="median")
    axes.set_xlabel("time")
    axes.set_ylabel(_label(ds, name))
    axes.legend(frameon=False, loc="best")
