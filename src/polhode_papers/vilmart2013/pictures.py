"""Plots of this study: curves on a sphere, errors against the step, a table of measured ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from polhode_papers.drawing import BLUE, FAINT, GREEN, GREY, INK, VERMILION, separate_coinciding, style

AXIS_COLOURS = (BLUE, GREEN, VERMILION)
LEAST = 1e-16
"""Lower limit of errors plotted over time."""


class Row(NamedTuple):
    """A row of the table: ticks are 1, 0, or NaN where the largest defect is inconclusive."""

    name: str
    order: str
    ticks: Any
    sizes: Any


def on_a_sphere(picture: Picture, position: int, axes: Any, momentum: Any) -> None:
    """Paths of three unit vectors, (time, space, vector); their final directions and a fixed one as thick lines.

    Thin dashed lines are the space axes.
    """
    ball: Any = picture.add_subplot(position, projection="3d", proj_type="ortho")
    u, v = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi : 13j]
    globe = (np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v))
    ball.plot_wireframe(*(0.99 * x for x in globe), color=FAINT, linewidth=0.4)
    for k, colour in enumerate(AXIS_COLOURS):
        ball.plot(*axes[:, :, k].T, color=colour, linewidth=1.1)
        ball.plot(*([0.0, x] for x in axes[-1, :, k]), color=colour, linewidth=2.4, label=f"$Q e_{k + 1}$")
    ball.plot(*([0.0, x] for x in momentum / np.linalg.norm(momentum)), color=INK, linewidth=2.4, label="$Q y$")
    for name, end in zip("xyz", 1.3 * np.eye(3), strict=True):
        ball.plot(*([0.0, x] for x in end), color=GREY, linewidth=1.0, linestyle=(0, (4, 2)))
        ball.text(*(1.08 * end), name, color=INK, ha="center", va="center")
    ball.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ball.set_box_aspect((1, 1, 1), zoom=1.15)
    ball.set_axis_off()
    ball.legend(loc="lower left", frameon=False, bbox_to_anchor=(-0.1, -0.02))


def over_time(ax: Axes, time: Any, lines: Mapping[str, Any], title: str) -> None:
    """Positive series on a logarithmic axis; zeros are left out, values below ``LEAST`` are drawn at it."""
    for (label, y), colour in zip(lines.items(), (*AXIS_COLOURS, INK), strict=False):
        shown = np.where(np.asarray(y) > 0.0, np.maximum(y, LEAST), np.nan)
        ax.semilogy(time, shown, color=colour, label=label, linewidth=0.8)
    ax.set_ylim(bottom=0.8 * LEAST)
    ax.set(xlabel="time", title=title)
    ax.legend(frameon=False)


def against_step(ax: Axes, errors: xr.DataArray, title: str, printed: Sequence[str] = ()) -> None:
    """Error against step, one line per method; those as printed are dashed."""
    for i, label in enumerate(map(str, errors.method.values)):
        ax.loglog(errors.step, errors.sel({"method": label}), label=label, **style(i, label not in printed))
    steps = np.sort(errors.step.values)
    ticks = steps[:: -(-steps.size // 4)]
    ax.set_xticks(ticks, [f"{h:.3g}" for h in ticks])
    ax.minorticks_off()
    ax.set(xlabel="step $h$", ylabel=r"error in $y$ and $Q$", title=title)
    separate_coinciding(ax)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def against_count(ax: Axes, n: Any, lines: Mapping[str, Any], label: str, eps: float) -> None:
    """Growth of round-off with the number of steps n, with reference lines for sqrt(n) and n."""
    n = np.asarray(n, dtype=float)
    for i, (name, y) in enumerate(lines.items()):
        if np.isfinite(y).any():
            ax.loglog(n, np.maximum(y, 1e-17), label=name, **{**style(i), "markersize": 3})
    for power, words in ((0.5, r"$2^{-52} \sqrt{n}$"), (1.0, "$2^{-52} n$")):
        ax.loglog(n, eps * n**power, color=GREY, linestyle=":" if power == 1.0 else "--", linewidth=1.0, label=words)
    ax.set(xlabel="number of steps $n$", title=label)
    ax.legend(frameon=False, fontsize=8)


MARKS = {1.0: ("\N{CHECK MARK}", GREEN), 0.0: ("\N{BALLOT X}", VERMILION)}
COLUMN, FIRST = 1.75, 5.6


def table_of_ticks(groups: Mapping[str, Sequence[Row]], columns: Sequence[str], note: str) -> Picture:
    """Rows by heading: the order, then a tick or cross with the largest defect by column; ``note``: a last line."""
    lines = sum(len(rows) + 1.3 for rows in groups.values())
    picture = Picture(figsize=(8.4, 0.235 * lines + 0.8))
    ax = picture.add_axes((0.02, 0.0, 0.96, 1.0))
    positions = [FIRST + COLUMN * k for k in range(len(columns))]
    ax.set(xlim=(0, FIRST + COLUMN * len(columns)), ylim=(lines + 1.6, -1.6))
    ax.axis("off")
    for x, head in zip((0.0, FIRST - 1.2, *positions), ("method", "order", *columns), strict=True):
        ax.text(x, -0.7, head, weight="bold", va="center")
    y = 0.0
    for heading, rows in groups.items():
        ax.axhline(y - 0.1, color=INK, linewidth=0.8)
        ax.text(0.0, y + 0.45, heading, va="center", style="italic")
        y += 1.3
        for row in rows:
            ax.axhline(y - 0.4, color=FAINT, linewidth=0.6)
            ax.text(0.0, y + 0.1, row.name, va="center")
            ax.text(FIRST - 1.2, y + 0.1, row.order, va="center")
            for x, tick, size in zip(positions, row.ticks, row.sizes, strict=True):
                mark, colour = MARKS.get(tick, ("?", INK))
                ax.text(x, y + 0.1, mark, color=colour, va="center", weight="bold")
                ax.text(x + 0.35, y + 0.1, f"{size:.0e}" if np.isfinite(size) else "lost", va="center", fontsize=8.5)
            y += 1.0
    ax.text(0.0, y + 0.5, note, va="center", fontsize=8.5, color=GREY)
    return picture
