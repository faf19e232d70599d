"""The work-precision plot of a comparison: errors against step and wall time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.arguments import MOST_SQUARED, Array
from polhode.errors import InvalidInput, answering
from polhode.lazy import xr
from polhode.plots import style
from polhode.plots.axes import fit_titles
from polhode.plots.style import COLOURS, GREY, MARKERS, Axes, Figure
from polhode.trajectory.schema import trajectory

PANELS = (
    ("attitude_error", "Attitude error, |R − R_ref|"),
    ("angular_momentum_error", "Error of the angular momentum, body frame"),
    ("position_error", "Position error"),
    ("momentum_error", "Momentum error"),
)
"""Errors that can be plotted; the first two that are present are."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
MOST_ORDER = 100  # highest order that has a guide


@answering
def work_precision(table: xr.Dataset, path: str | os.PathLike[str] | None = None, *, size: str | None = None) -> Figure:
    """Plot a comparison of methods: errors at the end of the run against step and against wall time.

    Hollow points are upper bounds, limited by the accuracy of the reference, below which the area is grey. Failed runs
    are crosses at the upper edge, at their step.

    Parameters
    ----------
    table : xarray.Dataset
        From ``polhode.compare``.
    path : path, optional
        Also write a PNG (1200 x 900 pixels), PDF or SVG to this file, atomically; its folder is created if missing.
    size : {"page", "column"}, optional
        For a paper: 7 or 3.4 inches wide, with small letters and no heading. Unless given, for a screen.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        The Dataset is not a comparison, or ``path`` does not end in ``.png``, ``.pdf`` or ``.svg``.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> start = {"angular_velocity": (0.2, 1.0, 0.1)}
    >>> table = ph.compare(ph.free_body((1, 2, 2.5)), ["trapm", "mkrk:rk4"], [0.1, 0.05], t_end=1.0, start=start)
    >>> len(ph.plots.work_precision(table).axes)
    4
    """
    trajectory(table)
    panels = [(name, words) for name, words in PANELS if name in table][:2]
    if not panels or "status" not in table:
        raise InvalidInput("this Dataset is no comparison: it has no errors of methods by step; see polhode.compare")
    _check(table, [name for name, _ in panels])
    wide, letters, dpi = style.sized(size, 12.0)
    across = 1 if wide < 5.0 else 2
    down = len(panels) * 2 // across
    tall = 2.0 * down if size else 9.0
    sides = (0.5, 0.3 + 0.062 * max(12, 5 + max(map(len, table["integrator"].values.astype(str)))), 0.42, 0.4)
    left_of, right_of, above, below = sides if size else (0.9, 1.68, 1.17, 0.675)
    with style.drawing(path, (wide, tall), letters, dpi) as figure:
        if not size:
            figure.text(
                0.022, 0.968, str(table.attrs.get("title", "comparison")), fontsize=15, fontweight="bold", va="center"
            )
            note = f"reference {table.attrs.get('reference', '')}"
            figure.text(0.022, 0.938, note, fontsize=10, color="#5a5a5a", va="center")
        grid = figure.add_gridspec(
            down, across, left=left_of / wide, right=1.0 - right_of / wide, top=1.0 - above / tall, bottom=below / tall,
            hspace=0.5 if size else 0.34, wspace=0.3 if size else 0.2,
        )  # fmt: skip
        for row, (name, words) in enumerate(panels):
            cells = [grid[k // across, k % across] for k in (2 * row, 2 * row + 1)]
            left, right = map(figure.add_subplot, cells)
            right.sharey(left)
            _panel(left, table, name, "step")
            _panel(right, table, name, "seconds")
            left.set(title=style.with_units(words, table[name].attrs.get("units", "")), xlabel="step")
            right.set_xlabel("wall time (s)")
            _finish(left, right, table, name)
            if size:
                fit_titles(figure, [(left, (0.0, 1.0))])
    return figure


def _check(table: xr.Dataset, errors: Sequence[str]) -> None:
    """Refuse what ``compare`` gives no table of."""
    both = ("integrator", "step")
    numbers = {"step": both[1:], "seconds": both} | dict.fromkeys(errors, both)
    for name, dims in {"integrator": both[:1], **numbers, "status": both}.items():
        if name not in table.variables or table[name].dims != dims or not table[name].size:
            each = " and ".join(dims)
            raise InvalidInput(f"{name} of this Dataset is not one for each {each}; take the table of polhode.compare")
    for name in numbers:
        values = table[name].values
        if values.dtype.kind not in "fiu":
            raise InvalidInput(f"{name} holds {values.dtype}, no numbers; take the table of polhode.compare")
        sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
        if name == "step" and not (sizes.size == values.size and (values > 0.0).all()):
            raise InvalidInput("step has entries that are not positive and finite; take the table of polhode.compare")
        if ((sizes > MOST_SQUARED) | (sizes < 1.0 / MOST_SQUARED)).any():
            raise InvalidInput(f"{name} has entries beyond {1.0 / MOST_SQUARED:g} to {MOST_SQUARED:g}, which no axis "
                               "shows; choose other units")  # fmt: skip


def _panel(axes: Axes, table: xr.Dataset, name: str, against: str) -> None:
    axes.set(xscale="log", yscale="log")
    for i in range(table.sizes["integrator"]):
        x = table["step"].values if against == "step" else table["seconds"].values[i]
        y = table[name].values[i]
        bound = table[f"{name}_is_bound"].values[i] if f"{name}_is_bound" in table else np.zeros(len(y), dtype=bool)
        with np.errstate(invalid="ignore"):
            drawn = np.isfinite(y) & (y > 0.0) & np.isfinite(x) & (x > 0.0)
        order = np.argsort(table["step"].values[drawn])
        colour, marker = _colour_and_marker(i)
        dash = DASHES[(i // len(COLOURS)) % 3]
        axes.plot(x[drawn][order], y[drawn][order], color=colour, linewidth=1.2, linestyle=dash)
        for hollow in (False, True):
            at = drawn & (bound == hollow)
            axes.plot(
                x[at], y[at], linestyle="", marker=marker, markersize=0.6 * style.points(), markeredgecolor=colour,
                markerfacecolor="white" if hollow else colour, zorder=3,
            )  # fmt: skip


def _colour_and_marker(i: int) -> tuple[str, str]:
    return COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]


def _finish(left: Axes, right: Axes, table: xr.Dataset, name: str) -> None:
    """Set limits; add the reference accuracy, failures, guides of the orders and the names of the methods."""
    values = table[name].values
    good = values[np.isfinite(values) & (values > 0.0)]
    steps = np.sort(table["step"].values)
    accuracy = float(table[name].attrs.get("reference_accuracy", 0.0))
    low, high = (float(good.min()), float(good.max())) if good.size else (1e-16, 1.0)
    left.set(ylim=(low / 3, high * 4), xlim=(steps[0] / 1.25, steps[-1] * 1.25))
    times = table["seconds"].values
    times = times[np.isfinite(times) & (times > 0.0)]
    if times.size:
        right.set_xlim(times.min() / 1.4, times.max() * 1.4)
        if style.inches(right)[0] < 3.0:  # few ticks
            low_end, high_end = right.get_xlim()
            ticks = [k * 10.0**j for j in range(-18, 9) for k in (1, 2, 5) if low_end < k * 10.0**j < high_end]
            ticks = ticks[:: 3 * -(-len(ticks) // 9)] if len(ticks) > 5 else ticks[:: -(-len(ticks) // 3) or 1]
            right.set_xticks(ticks, [style.decade(tick) for tick in ticks])
            right.minorticks_off()
    if accuracy > low / 3:
        for axes in (left, right):
            axes.axhspan(low / 3, accuracy, color="#eeeeee", zorder=0)
    for i, method in enumerate(table["status"].values):
        failed = table["step"].values[(method != "ok") & (method != "not run")]
        if len(failed):
            nudge = 1.0 + 0.025 * (i - table.sizes["integrator"] / 2)
            left.plot(
                failed * nudge, np.full(len(failed), high * 2.8), linestyle="", marker="x", markersize=6,
                markeredgewidth=1.6, color=_colour_and_marker(i)[0],
            )  # fmt: skip
    if (~np.isin(table["status"].values, ("ok", "not run"))).any():
        left.text(
            0.01, 0.985, "×  failed", color=GREY, fontsize=style.points() - 1.0, transform=left.transAxes, va="top"
        )
    if len(steps) <= 6:
        left.set_xticks(steps, [f"{step:.4g}" for step in steps])
        left.minorticks_off()
    _slopes(left, table, name, steps)
    ends: list[tuple[float, str, int]] = []
    for i, label in enumerate(table["integrator"].values):
        y, x = values[i], table["seconds"].values[i]
        drawn = np.flatnonzero(np.isfinite(y) & (y > 0.0) & np.isfinite(x))
        order = f"{name}_order"
        observed = float(table[order].values[i]) if order in table else float("nan")
        text = f"{label}  {observed:.1f}" if np.isfinite(observed) else str(label)
        if drawn.size:
            ends.append((float(np.log10(y[drawn[np.argmax(x[drawn])]])), text, i))
        else:
            ends.append((float(np.log10(high)), f"{label}  failed", i))
    _names(right, ends)


def _names(axes: Axes, ends: list[tuple[float, str, int]]) -> None:
    """Label each method with its observed order at the height of its most expensive run."""
    low, high = np.log10(axes.get_ylim())
    ends = sorted(ends)
    size, (wide, tall) = style.points() - 0.5, style.inches(axes)
    placed = style.spread([(height - low) / (high - low) for height, _, _ in ends], 1.5 * size / 72.0 / tall)
    for height, (_, text, i) in zip(placed, ends, strict=True):
        colour, marker = _colour_and_marker(i)
        axes.plot([1.0 + 0.107 / wide], [height], marker=marker, color=colour, markersize=0.6 * size,
                  transform=axes.transAxes, clip_on=False)  # fmt: skip
        axes.text(1.0 + 0.19 / wide, height, text, color=colour, transform=axes.transAxes, va="center", fontsize=size)
    words = "method,\nobserved order" if wide < 3.0 else "method, observed order"
    axes.text(
        1.0 + 0.085 / wide, 1.0 + 0.14 / tall, words, color="#5a5a5a", transform=axes.transAxes, fontsize=size - 0.5
    )


def _slopes(axes: Axes, table: xr.Dataset, name: str, steps: Array) -> None:
    """Draw a short guide line for each nominal order."""
    if len(steps) < 2 or "order" not in table or table["order"].dtype.kind not in "fiu":
        return
    values = table[name].values
    for order in sorted({order for order in table["order"].values.tolist() if 0.0 < order <= MOST_ORDER}):
        rows = values[table["order"].values == order]
        rows = rows[np.isfinite(rows).any(axis=1)]
        if not len(rows):
            continue
        two = rows[:, np.argsort(table["step"].values)[-2:]]
        if not (np.isfinite(two).any(axis=0) & (two > 0.0).any(axis=0)).all():
            continue
        lowest = float(np.nanmin(two[:, 1]))
        x = np.array([steps[-2], steps[-1]])
        y = lowest * 0.3 * (x / x[-1]) ** order
        axes.plot(x, y, color=GREY, linewidth=0.9)
        axes.annotate(
            f"order {order:g}", (np.sqrt(x[0] * x[1]), np.sqrt(y[0] * y[1])), (4, -3), textcoords="offset points",
            fontsize=style.points() - 1.5, color=GREY, va="top",
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
