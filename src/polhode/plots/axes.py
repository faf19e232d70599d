"""What all panels do with axes: titles with notes, time, units and powers of ten in labels, curves, gaps, shadows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import floor, log10
from typing import Any

import numpy as np

from polhode.arguments import Array, Mask
from polhode.plots import style
from polhode.plots.rows import FEW, STILL, beside, envelope, extremes
from polhode.plots.shown import Shown, in_units
from polhode.plots.style import GREY, Axes, Axis, Figure, Formatter, RendererBase

NOTE = "note"  # the mark (gid) of a note that belongs to a title
SHADE = "#dfe2e8"
RANGE = "range"  # the mark of what is shaded between the extremes of a curve


def title(axes: Axes, words: str, note: str = "") -> None:
    """Set the title of a panel, and a note beside it; ``fit_titles`` puts them where they do not meet."""
    axes.set_title(words, loc="left")
    add_note(axes, note)


def add_note(axes: Axes, note: str) -> None:
    """Say more beside the title."""
    before = next((text for text in axes.texts if text.get_gid() == NOTE), None)
    if before is not None and note:
        before.set_text(f"{before.get_text()}; {note}")
    elif note:
        from matplotlib.transforms import ScaledTranslation

        up = ScaledTranslation(0.0, style.points("axes.titlepad") / 72, axes.figure.dpi_scale_trans)
        axes.text(
            1.0, 1.0, note, transform=axes.transAxes + up, ha="right", va="bottom", color="#5a5a5a", gid=NOTE,
            fontsize=style.points("font.size") - 0.5,
        )  # fmt: skip


def note_of(axes: Axes) -> str:
    """What is said beside the title."""
    return next((text.get_text() for text in axes.texts if text.get_gid() == NOTE), "")


def bare(axes: Axes, half: tuple[float, float], middle: Sequence[float] = (0.0, 0.0)) -> None:
    """No frame and equal scales, so far to each side of the middle."""
    x, y = zip(middle, half, strict=True)
    axes.set(xlim=(x[0] - x[1], x[0] + x[1]), ylim=(y[0] - y[1], y[0] + y[1]), aspect="equal")
    axes.axis("off")


def name_plane(axes: Axes, names: Sequence[str], unit: str, reach: float, margin: float, ticks: int) -> None:
    """Equal scales about what is drawn, ticks, and labels of both axes with units."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(margin)
    axes.locator_params(nbins=ticks)
    x, y = (style.with_units(name, unit, plain_ticks(axis, reach))
            for name, axis in zip(names, (axes.xaxis, axes.yaxis), strict=True))  # fmt: skip
    axes.set_xlabel(x, labelpad=2)
    axes.set_ylabel(y)


def fit_titles(figure: Figure, cells: Sequence[tuple[Axes, tuple[float, float]]]) -> None:
    """Place titles and notes: side by side where there is room, else the note below the title; shrunk if too wide."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    width = figure.bbox.width
    for axes, (_, right) in cells:
        head = vars(axes)["_left_title"]
        note = next((text for text in axes.texts if text.get_gid() == NOTE), None)
        box = head.get_window_extent(renderer)
        room = 0.97 * (right * width - box.x0)  # letters are a little wider in pictures of few pixels
        while box.width > room and head.get_fontsize() > 5.0:
            head.set_fontsize(head.get_fontsize() - 0.25)
            box = head.get_window_extent(renderer)
        if note is None:
            continue
        wide = note.get_window_extent(renderer).width
        if box.width + wide + 0.08 * figure.dpi <= axes.bbox.x1 - box.x0:
            continue
        if wide > room:
            note.set_fontsize(max(5.0, note.get_fontsize() * room / wide))
        note.set(ha="left", x=(box.x0 - axes.bbox.x0) / axes.bbox.width)
        tall = note.get_window_extent(renderer).height * 72.0 / figure.dpi
        axes.set_title(
            head.get_text(), loc="left", pad=style.points("axes.titlepad") + tall + 3.0, fontsize=head.get_fontsize()
        )


def fit_sides(figure: Figure, columns: Sequence[Sequence[tuple[Axes, tuple[float, float]]]]) -> None:
    """Give panels the width that their labels leave; those of a column begin and end together."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    width, pad = figure.bbox.width, 0.06 * figure.dpi
    for column in columns:
        fixed = any(axes.get_aspect() != "auto" for axes, _ in column)
        for _ in range(2 if fixed else 1):  # their ticks follow from the width
            _fit_column(column, renderer, width, pad)


def _fit_column(
    column: Sequence[tuple[Axes, tuple[float, float]]], renderer: RendererBase, width: float, pad: float
) -> None:
    left = right = 0.0
    for axes, _ in column:
        axes.apply_aspect()
        outside = axes.yaxis.get_tightbbox(renderer)
        along = axes.xaxis.get_tightbbox(renderer)
        ends = [text.get_window_extent(renderer).x1 for text in axes.texts if text.get_gid() != NOTE]
        if outside is not None:
            left = max(left, axes.bbox.x0 - outside.x0)
        right = max([right, *(end - axes.bbox.x1 for end in ends)])
        if along is not None:
            left, right = max(left, axes.bbox.x0 - along.x0), max(right, along.x1 - axes.bbox.x1)
    for axes, (begin, end) in column:
        box = axes.get_position(original=True)
        x0, x1 = begin + (left + pad) / width, end - (right + pad) / width
        if x1 > x0 + 0.02:
            axes.set_position((x0, box.y0, x1 - x0, box.height))


# ------------------------------------------------------------------ ticks
@functools.cache
def _formatter() -> Callable[[int], Formatter]:
    """The class of tick labels without anything at the end of the axis; matplotlib is imported by the first figure."""
    from matplotlib.ticker import Formatter

    class Plain(Formatter):
        """Numbers divided by a power of ten that stands in the label of the axis, with the same decimals."""

        def __init__(self, exponent: int) -> None:
            self.size, self.decimals = 10.0**exponent, 0

        def set_locs(self, locs: list[float]) -> None:
            """Take as many decimals as the ticks need."""
            scaled = np.unique(np.asarray(locs, dtype=float)) / self.size
            apart = float(np.diff(scaled).min()) if len(scaled) > 1 else 1.0
            fits = (d for d in range(12) if np.abs(np.round(scaled, d) - scaled).max(initial=0.0) < 0.01 * apart)
            self.decimals = next(fits, 12)

        def __call__(self, x: float, pos: int | None = None) -> str:
            text = f"{x / self.size:.{self.decimals}f}"
            return text.removeprefix("-") if float(text) == 0.0 else text.replace("-", "−")

    return Plain


def plain_ticks(axis: Axis, reach: float) -> int:
    """Let an axis show plain numbers; returns the power of ten that belongs in its label."""
    exponent = 0
    if np.isfinite(reach) and reach > 0.0 and not 1e-2 <= reach < 1e5:
        exponent = 3 * floor(log10(reach) / 3 + 1e-12)
    axis.set_major_formatter(_formatter()(exponent))
    return exponent


def time_axis(axes: Axes, shown: Shown, times: Array) -> None:
    """Limits and label of the axis of time; the shadows of the run behind what is drawn."""
    first, last = float(times[0]), float(times[-1])
    if first == last:
        first, last = first - 0.5, last + 0.5
    if len(shown.shadows):
        x, up = np.repeat(np.clip(shown.shadows, first, last), 2), axes.get_xaxis_transform()
        axes.fill(x, np.resize((0.0, 1.0, 1.0, 0.0), len(x)), color=SHADE, linewidth=0, zorder=0.5, transform=up)
    axes.set_xlim(first, last)
    axes.locator_params(axis="x", nbins=max(3, min(9, int(1.6 * style.inches(axes)[0]))))
    exponent = plain_ticks(axes.xaxis, max(abs(first), abs(last)))
    axes.set_xlabel(style.with_units("time", shown.time_unit[1], exponent), labelpad=2)


def y_ticks(axes: Axes) -> None:
    """As many ticks as the height has room for."""
    if axes.get_yscale() == "linear":
        axes.locator_params(axis="y", nbins=max(3, min(8, int(3.4 * style.inches(axes)[1]))))


# ------------------------------------------------------------------ curves
def line(
    axes: Axes, times: Array, values: Array, colour: str, gaps: Mask | None = None, turns: bool = False,
    unseen: float = 0.0, **how: Any,
) -> bool:  # fmt: skip
    """A curve, of few rows with a marker for each; where it oscillates faster than pixels show, its range and mean.
    It is cut at gaps, whose ends are dots, and at the wraps of an angle (deg). Returns whether there are gaps."""
    at, low, mean, high, busy = envelope(times, values, max(1, int(style.DPI * style.inches(axes)[0])), unseen)
    slow = np.where(busy, np.nan, values)
    chosen = extremes(slow)
    x, y = times[chosen], slow[chosen]
    far = np.zeros(len(x) - 1, dtype=bool)
    if gaps is not None and gaps.any():
        far = np.logical_or.reduceat(gaps, chosen[:-1]) & ~busy[chosen[:-1]]
        style.dots(axes, np.column_stack([x, y])[beside(far)], 3.0 if len(x) < 200 else 1.8, colour)
    cuts = np.flatnonzero(far | (np.abs(np.diff(y)) > 90.0) if turns else far) + 1
    marker = {"marker": "o", "markersize": 4 if style.inches(axes)[0] > 4 else 3} if len(values) <= FEW else {}
    if not busy.all():
        axes.plot(np.insert(x, cuts, np.nan), np.insert(y, cuts, np.nan), color=colour, **{**marker, **how})
    if busy.any():
        axes.fill_between(at, low, high, color=colour, alpha=0.3, linewidth=0.0, gid=RANGE)
        if not turns:
            axes.plot(at, mean, color=colour, **how)
    return bool(far.any())


def curves(
    axes: Axes, shown: Shown, words: str, values: Array, labels: Sequence[tuple[str, str]], units: str,
    *, gaps: Mask | None = None, turns: bool = False, notes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Draw components along time, labelled at the right end, and a title with notes."""
    times = shown.times if len(values) == shown.count else shown.thin.times
    finite = np.abs(values[np.isfinite(values)])
    factor, unit = in_units(units, float(finite.max()) if finite.size else 0.0)
    part = values * factor
    some = part[np.isfinite(part)]
    low, high = (float(some.min()), float(some.max())) if some.size else (0.0, 0.0)
    broken = [line(axes, times, part[:, k], one, gaps, turns, 3e-3 * (high - low)) for k, (_, one) in enumerate(labels)]
    said = ["dots: rows are too far apart for a line"] if any(broken) else []
    time_axis(axes, shown, times)
    if some.size:
        size = max(abs(low), abs(high))
        if units == "component":  # of a quaternion
            axes.set_ylim(-1.08, 1.08)
        elif turns and size > 100.0:
            bottom, top = 0 if low > -10.0 and high > 190.0 else -180, 360 if high > 190.0 else 180
            every = 180 if top - bottom > 360 and style.inches(axes)[1] < 1.5 else 90
            axes.set(ylim=(bottom - 10.0, top + 10.0), yticks=range(bottom, top + 1, every))
        elif high - low <= max(STILL * size, STILL if unit == "deg" else 0.0):
            middle = 0.5 * (low + high)  # limits about a constant: a thousandth of it, of zero 1
            room = max(1e-3 * abs(middle), 0.01 if unit == "deg" else 0.0) or 1.0
            axes.set_ylim(middle - room, middle + room)
            within = f" within {style.scientific((high - low) / size)}" if high > low and unit != "deg" else ""
            said.append(f"constant{within}")
        else:
            room = 0.06 * (high - low)
            axes.set_ylim(low - room, high + room)
        if not (turns and size > 100.0):
            y_ticks(axes)
        exponent = plain_ticks(axes.yaxis, max(map(abs, axes.get_ylim())))
    else:
        exponent = 0
    axes.set_ylabel(label(unit, exponent))
    known = [values[np.isfinite(values)] for values in part.T]
    ends = [(float(known[k][-1]) if known[k].size else np.nan, text, colour)
            for k, (text, colour) in enumerate(labels) if text]  # fmt: skip
    style.label_ends(axes, [end for end in ends if np.isfinite(end[0])])
    title(axes, words, "; ".join(part for part in (*notes, *said) if part))


def ranges(axes: Axes) -> bool:
    """Whether the range of a curve is shaded."""
    return any(one.get_gid() == RANGE for one in axes.collections)


def label(unit: str, exponent: int = 0) -> str:
    """The label of an axis: a power of ten and units."""
    return " ".join(filter(None, (style.power(exponent), "" if unit in ("", "1") else style.pretty_units(unit))))


def log_axis(axes: Axes) -> None:
    """A logarithmic scale with few ticks."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: style.decade(value))  # of mathtext each takes 10 ms
    axes.minorticks_off()


def zero_line(axes: Axes) -> None:
    """A thin line at zero."""
    axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
