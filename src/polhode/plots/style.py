"""Style of all plots and the writer of pictures: colours, sizes, direct labels, atomic files."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from polhode.arguments import Array, ArrayLike, choice, path as checked_path
from polhode.errors import InvalidInput
from polhode.lazy import matplotlib, opened
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.outputs import MAKER

if TYPE_CHECKING:
    from matplotlib.artist import Artist as Artist
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis as Axis
    from matplotlib.backend_bases import RendererBase as RendererBase
    from matplotlib.cm import ScalarMappable as ScalarMappable
    from matplotlib.colors import Normalize as Normalize
    from matplotlib.figure import Figure as Figure
    from matplotlib.gridspec import GridSpec as GridSpec
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.ticker import Formatter as Formatter
    from matplotlib.transforms import Transform as Transform
    from mpl_toolkits.mplot3d import Axes3D as Axes3D
else:  # types alone: matplotlib is imported by the first picture
    Artist = Axes = Axes3D = Axis = Figure = Formatter = GridSpec = Line2D = Normalize = object
    RendererBase = ScalarMappable = Transform = object

INK = "#262626"
GREY = "#8a8a8a"
FAINT = "#d9d9d9"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#aa4a8a", "#e69f00", "#56b4e9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, INK)
"""Okabe and Ito's palette, distinguishable by colour-blind readers (purple darkened, yellow left out)."""
MARKERS = "osD^vPX"
DPI = 100

RC: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 6),
    "axes.formatter.use_mathtext": True,
    "grid.color": "#ececec",
    "grid.linewidth": 0.8,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}
"""Matplotlib settings used while a plot is drawn."""

EMBEDDED: Any = {"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "polhode"}
"""Settings with which files are written: fonts in them, and names within them that do not change."""

PAPER: Any = RC | {
    "font.size": 8.0, "axes.titlesize": 8.5, "axes.titlepad": 4.0, "axes.labelsize": 8.0, "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5, "lines.linewidth": 1.0,
}  # fmt: skip
"""Settings of figures for papers, of the widths of a column or a page."""
SIZES = {"page": 7.0, "column": 3.4}  # widths of figures (inches): of a page, and of one of two columns
DPI_OF_PAPER = 300

_POWER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def pretty_units(units: str) -> str:
    """Units with superscripts: ``kg m2 s-1`` becomes ``kg m² s⁻¹``."""
    return re.sub(r"(?<=[A-Za-z])-?\d+", lambda match: match.group().translate(_POWER), units)


def with_units(words: str, units: str, exponent: int = 0) -> str:
    """An axis label: the words, followed by a power of ten and the units in parentheses if there are any."""
    unit = "" if units in ("", "1", words) else pretty_units(units)
    inside = " ".join(part for part in (power(exponent), unit) if part)
    return f"{words} ({inside})" if inside else words


def power(exponent: int) -> str:
    """A power of ten: ``10⁶``; nothing for 0."""
    return "10" + str(exponent).translate(_POWER) if exponent else ""


def decade(value: float) -> str:
    """A number in short form, of a power of ten without a factor: ``10⁻⁴``."""
    return scientific(value) if f"{value:e}"[:8] != "1.000000" else "10" + str(round(log10(value))).translate(_POWER)


def scientific(value: float, digits: int = 2) -> str:
    """A number in short form: ``3.2e-04`` becomes ``3.2×10⁻⁴``."""
    if value == 0.0 or 1e-2 <= abs(value) < 1e4 or not isfinite(value):
        return f"{value:.3g}".replace("-", "−")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if "." in mantissa and digits > 2:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa.replace("-", "−") + "×10" + str(int(exponent)).translate(_POWER)


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Label each curve at its right end, in its colour; labels are moved apart where they would overlap."""
    low, high = axes.get_ylim()
    box = axes.transData.transform
    bottom, top = box((0, low))[1], box((0, high))[1]
    requested = sorted(((box((0, y))[1] - bottom) / (top - bottom), text, colour) for y, text, colour in ends)
    tall = 72.0 * inches(axes)[1]
    size = min(points() - 0.5, tall / (1.3 * max(1, len(ends) - 1)))
    apart = spread([entry[0] for entry in requested], 1.3 * size / tall)
    for height, (_, text, colour) in zip(apart, requested, strict=True):
        axes.text(1.012, height, text, color=colour, transform=axes.transAxes, va="center", ha="left", fontsize=size)


def sized(size: str | None, screen: float) -> tuple[float, Any, float]:
    """Width (inches), settings and pixels per inch of a figure of a size; for screens so wide where there is none."""
    return (screen, RC, DPI) if size is None else (SIZES[choice(size, "size", SIZES)], PAPER, DPI_OF_PAPER)


def inches(axes: Axes) -> tuple[float, float]:
    """Width and height of a panel."""
    box, figure = axes.get_position(), cast("Figure", axes.figure)
    return box.width * figure.get_figwidth(), box.height * figure.get_figheight()


def points(name: str = "font.size") -> float:
    """A size (points) of the settings that hold while a figure is drawn."""
    return float(cast(Any, matplotlib.rcParams)[name])


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Increasing heights moved as little as possible so that they are in [0, 1] and at least ``gap`` apart."""
    groups: list[list[float]] = []
    for k, height in enumerate(heights):
        groups.append([min(max(height, 0.0), 1.0) - k * gap, 1.0])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            value, count = groups.pop()
            before = groups[-1]
            before[0] = (before[0] * before[1] + value * count) / (before[1] + count)
            before[1] += count
    placed = [value for value, count in groups for _ in range(round(count))]
    last = len(placed) - 1
    inside = [min(value + k * gap, 1.0 - (last - k) * gap) for k, value in enumerate(placed)]
    return [max(value, k * gap) for k, value in enumerate(inside)]


def mark_ends(
    axes: Axes, start: ArrayLike, end: ArrayLike, sizes: tuple[float, float] = (7.0, 5.0), edge: float = 1.4,
    zorder: float | None = None,
) -> None:  # fmt: skip
    """Mark the two ends of a path, points (2,) or (3,): the start by an open circle, the end, above it, by a dot."""
    above = None if zorder is None else zorder + 1
    axes.plot(
        *np.reshape(start, (-1, 1)), marker="o", color="white", markeredgecolor=INK, markeredgewidth=edge,
        markersize=sizes[0], zorder=zorder,
    )  # fmt: skip
    axes.plot(*np.reshape(end, (-1, 1)), marker="o", color=INK, markersize=sizes[1], zorder=above)


def dots(axes: Axes, points: Array, size: float, colour: str, **how: Any) -> None:
    """Points (n, 2) or (n, 3) that no line joins."""
    axes.plot(*np.transpose(points), linestyle="", marker="o", markersize=size, mew=0, color=colour, **how)


FORMATS = (".png", ".pdf", ".svg")  # endings of pictures


def picture_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture, checked."""
    target = Path(checked_path(path))
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput(f"{str(path)!r} must end in .png, .pdf or .svg: the formats of pictures")
    return target


@contextmanager
def drawing(
    path: str | os.PathLike[str] | None, size: tuple[float, float], how: Any = RC,
    written: float = DPI, into: Figure | None = None, **options: Any,
) -> Iterator[Figure]:  # fmt: skip
    """A new picture of a size (inches), or one that is there, drawn in a style; then written where there is a path."""
    if path is not None:
        picture_path(path)
    with matplotlib.rc_context(how):
        figure = into or opened("polhode.plots.picture").Picture(figsize=size, **{"dpi": DPI, **options})
        yield figure
        if path is not None:
            write(figure, path, written)


def write(figure: Figure, path: str | os.PathLike[str], dpi: float = DPI) -> Path:
    """Write a figure to a file atomically; PDF and SVG hold their fonts and no date: the same figure gives the same
    bytes."""
    target = picture_path(path)
    kind = target.suffix.lower()[1:]
    about: dict[str, Any] = {  # without a date
        "png": {"Software": MAKER}, "pdf": {"Creator": MAKER, "CreationDate": None},
        "svg": {"Creator": MAKER, "Date": None},
    }  # fmt: skip
    drawn = io.BytesIO()  # first, since writers of PDF raise errors of their own where a disk is full
    with matplotlib.rc_context(EMBEDDED):
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=about[kind])
    with appearing_whole(target) as draft:
        draft.write_bytes(drawn.getbuffer())
    return target
