"""Panels of the dashboard for translation: the orbit in space, and a phase plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plots import style
from polhode.plots.rows import body_of, in_order, joined, scattered
from polhode.plots.style import BLUE, VERMILION

if TYPE_CHECKING:
    import xarray as xr


def draw_orbit(figure: Any, box: tuple[float, float, float, float], ds: xr.Dataset) -> None:
    """Plot the path in space, with equal scales where the ranges allow."""
    axes = figure.add_axes(box, projection="3d")
    r = in_order(ds, "position")
    r = r[np.isfinite(r).all(axis=1)]
    low, high = r.min(axis=0), r.max(axis=0)
    reach = float((high - low).max()) or float(np.abs(r[0]).max()) or 1.0
    chosen = scattered(len(r))
    points = r[chosen]
    if not joined(points, len(r), reach):
        axes.plot(*points.T, linestyle="", marker="o", markersize=4.0 if len(r) <= 400 else 1.4, color=BLUE, mew=0)
    else:
        axes.plot(*points.T, color=BLUE, linewidth=1.0)
    middle = (low + high) / 2
    for k, name in enumerate("xyz"):
        half = 0.55 * (reach if high[k] - low[k] > 0.02 * reach else 0.5 * reach)
        getattr(axes, f"set_{name}lim")(middle[k] - half, middle[k] + half)
        getattr(axes, f"set_{name}label")(name, labelpad=-4)
        side = getattr(axes, f"{name}axis")
        side.set_pane_color((1.0, 1.0, 1.0, 0.0))
        side.set_tick_params(pad=-2, labelsize=8)
        side.get_major_locator().set_params(nbins=5)
    axes.set_box_aspect((1, 1, 1), zoom=0.95)
    style.mark_ends(axes, r[0], r[-1])
    axes.text(*r[0], "  start", fontsize=8.5)
    if float(np.linalg.norm(r[0] - r[-1])) > 0.03 * reach:
        axes.text(*r[-1], "  end", fontsize=8.5)
    units = ds["position"].attrs.get("units", "")
    figure.text(
        box[0], box[1] + box[3] + 0.008, style.with_units(f"Orbit in space{body_of(ds)}", units),
        fontsize=10.5, fontweight="bold", va="bottom",
    )  # fmt: skip


def draw_phase(axes: Any, ds: xr.Dataset) -> None:
    """Plot momentum against position, for the component with the largest range."""
    r, p = in_order(ds, "position"), in_order(ds, "momentum")
    k = int(np.argmax(np.ptp(np.nan_to_num(r), axis=0)))
    name = "xyz"[k]
    chosen = scattered(len(r))
    x, y = r[:, k], p[:, k]
    spread_x, spread_y = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    if not joined(np.column_stack([x[chosen] / spread_x, y[chosen] / spread_y]), len(r), 1.0):
        axes.plot(x[chosen], y[chosen], linestyle="", marker="o", color=VERMILION, mew=0,
                  markersize=4.0 if len(r) <= 400 else 1.6)  # fmt: skip
    else:
        axes.plot(x[chosen], y[chosen], color=VERMILION, linewidth=1.0)
    style.mark_ends(axes, (x[0], y[0]), (x[-1], y[-1]))
    axes.locator_params(nbins=6)
    axes.set_title(f"Phase plane of {name}{body_of(ds)}")
    axes.set_xlabel(style.with_units(f"position {name}", ds["position"].attrs.get("units", "")))
    axes.set_ylabel(style.with_units(f"momentum {name}", ds["momentum"].attrs.get("units", "")))
