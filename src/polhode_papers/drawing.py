"""Plots shared by the studies, in the style ``polhode.plots.style``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.style
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

Pictures = dict[str, Picture]
"""Pictures by the stem of their file."""
STYLE = ("polhode.plots.style", {"legend.frameon": True, "figure.constrained_layout.use": False})
"""What every figure is drawn in; each says its own layout."""
with matplotlib.style.context(STYLE[0]):
    COLOURS = tuple(matplotlib.rcParams["axes.prop_cycle"].by_key()["color"])
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, INK = COLOURS
GREY, FAINT, MARKERS = "#8a8a8a", "#d9d9d9", "osD^vPX"


def canvas(rows: int, columns: int, width: float = 9.0, height: float = 4.2, **shared: Any) -> tuple[Picture, Any]:
    """An empty figure and its axes, shape (rows, columns); ``height`` is per row, in inches."""
    picture = Picture(figsize=(width, height * rows), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False, **shared)


def style(index: int, filled: bool = True) -> dict[str, Any]:
    """Colour and marker of the method with this index; ``filled`` distinguishes two groups."""
    colour = (*COLOURS, GREY)[index % (len(COLOURS) + 1)]
    return {
        "color": colour, "marker": (*MARKERS, "*")[index % (len(MARKERS) + 1)], "markersize": 5.5,
        "markerfacecolor": colour if filled else "white", "linestyle": "-" if filled else "--",
    }  # fmt: skip


def triangle(ax: Axes, order: int) -> None:
    """A slope triangle of this order below the data, lower right of a log-log panel."""
    (left, right), (low, high) = np.log10(ax.get_xlim()), np.log10(ax.get_ylim())
    run = 0.18 * (right - left)
    x, y = right - 1.5 * run, low + 0.07 * (high - low)
    corners = np.array([[x, y], [x + run, y], [x + run, y + order * run], [x, y]])
    ax.plot(*(10**corners.T), color=INK, linewidth=0.9)
    ax.annotate(
        str(order), 10 ** (corners[1] + [0.0, order * run / 2]), (3, 0), textcoords="offset points", va="center"
    )


def coincident(lines: Any, factor: float = 1.1) -> list[tuple[int, int]]:
    """For each line (n, points): its index in the group of lines equal to it within a factor, and the group's size."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(lines, dtype=float))
    groups: list[list[int]] = []
    for i, line in enumerate(logs):
        for group in groups:
            gap = np.abs(line - logs[group[0]])
            if (gap[np.isfinite(gap)] <= np.log(factor)).all() and np.isfinite(gap).any():
                group.append(i)
                break
        else:
            groups.append([i])
    where = {i: (rank, len(group)) for group in groups for rank, i in enumerate(group)}
    return [where[i] for i in range(len(logs))]


def turns(rank: int, count: int, dash: float = 5.0) -> dict[str, Any]:
    """Style of one of several coinciding lines: alternating markers and dashes, so that all are visible."""
    if count == 1:
        return {}
    return {"markevery": (rank, count), "linestyle": (rank * dash, (dash, (count - 1) * dash)), "dash_capstyle": "butt"}


def convergence_panel(
    ax: Axes, data: xr.Dataset, variable: str, labels: tuple[str, str], solid: Sequence[str], order: int = 2
) -> None:
    """Errors over (method, step), one line per method, with a slope triangle of the expected order.

    Methods in ``solid`` have solid lines and filled markers; the others are dashed with open markers.
    """
    lines = data[variable].transpose("method", "step")
    for i, (label, (rank, count)) in enumerate(zip(data.method.values, coincident(lines.values), strict=True)):
        full = str(label) in solid
        ax.loglog(data.step, lines[i], label=str(label), **style(i, full) | turns(rank, count))
    low, high = float(data[variable].min()), float(data[variable].max())
    ax.set_ylim(low / 20, high * 2)
    triangle(ax, order)
    ax.set(xlabel=labels[0], ylabel=labels[1])


SAME = 0.012
"""Median distance of points, as a fraction of the panel, below which two curves are taken to coincide."""


def separate_coinciding(ax: Axes) -> None:
    """Restyle coinciding curves: later ones get larger open markers and dashed lines, behind the first.

    Call it after all curves are drawn and the limits are set.
    """
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    positions = [ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack(line.get_data())))
              for line in lines]  # fmt: skip
    for j, line in enumerate(lines):
        covered = sum(_coincide(positions[i], positions[j]) for i in range(j))
        if not covered:
            continue
        line.set_markerfacecolor("none")
        line.set_markersize(line.get_markersize() + 4.0 * covered)
        line.set_markeredgewidth(1.3)
        line.set_linestyle((3.0 * covered, (5.0, 4.0)))
        line.set_zorder(line.get_zorder() - 0.1 * covered)
        if len(positions[j]) > 12:  # crowded: every third marker, with a different offset for each curve
            line.set_markevery((covered, 3))


def _coincide(a: Any, b: Any) -> bool:
    """Whether two curves, points (n, 2) in fractions of the panel, coincide."""
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b).max(axis=1)
    distance = distance[np.isfinite(distance)]
    return bool(distance.size and np.median(distance) < SAME)


def empty(ax: Axes, words: str) -> None:
    """Write the reason why a panel is empty."""
    ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=GREY)


def legend_below(picture: Picture, ax: Axes, columns: int) -> None:
    """One legend for all panels, below them."""
    picture.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)


def series_panel(
    ax: Axes, x: Any, lines: Mapping[str, Any], window: tuple[float, float], labels: tuple[str, str], title: str = ""
) -> None:
    """Long time series as dots, with fixed limits of the vertical axis."""
    for i, (label, y) in enumerate(lines.items()):
        ax.plot(x, y, ",", color=COLOURS[i], label=label, rasterized=True)
    ax.set_ylim(*window)
    ax.set(xlabel=labels[0], ylabel=labels[1], title=title)
