"""Shared by the figures of this paper: random bodies, free rotations of many bodies, maps over the inertia triangle.

The paper draws bodies and momenta at random without giving seeds; here seeds are fixed, and every flow gets the same
bodies. Momenta have length 1 and uniform directions in the first octant. Moments are divided by the largest; as the
paper does not say how they are drawn, two ways are used: three uniform numbers, or uniformly from the triangle of
physical bodies, 1 - y <= x < y < 1 with x = I1/I3 and y = I2/I3. The reference is the theta function form, in one
step to the end and in extended precision; it is none of the flows compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers.celledoni2008 import theta
from polhode_papers.drawing import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION
from polhode_papers.study import Reporter

T_END = 10.0
SEED = 2008
ROUND_OFF = 2.0**-53
"""Smaller errors are set to this."""
TIMED_TOGETHER = 2500
"""Steps per timed part: a millisecond or two, so that other work on the machine rarely interrupts it."""


# ------------------------------------------------------------------ flows
@dataclass(frozen=True)
class Flow:
    """A free rotation, its options, whether it refuses steps out of its range; colour, marker and line of its curve."""

    name: str
    options: Mapping[str, str]
    guarded: bool
    line_style: tuple[str, str, str]

    @cached_property
    def turn(self) -> Any:
        """The map of many bodies."""
        return ph.runs.free_rotation(self.name, guard=self.guarded, **self.options)

    @property
    def style(self) -> dict[str, Any]:
        """Matplotlib style of its curve."""
        colour, marker, line = self.line_style
        fill = colour if line == "-" else "white"
        return {"color": colour, "marker": marker, "linestyle": line, "markerfacecolor": fill, "markersize": 5.0}


AS_PRINTED = {"solver": "fixed_point"}
ONE_RULE = {"half_turns": "as_printed"}
ORDERS = (6, 8, 10)
OURS, MATRIX, QUATERNION = "exact (polhode)", "exact, matrix", "exact, quaternion"
SEMIEXACT = tuple(f"semiexact{order}" for order in ORDERS)
DMV = tuple(f"dmv{order}" for order in ORDERS)
SAFE = tuple(f"dmv{order}, Newton" for order in ORDERS)
MATRIX_FORM = tuple(f"semiexact{order}_matrix" for order in ORDERS)
REDUCED = tuple(f"{name}, half turns exact" for name in MATRIX_FORM)
MARKS = dict(zip(ORDERS, "osD", strict=True))

FLOWS = {
    OURS: Flow("exact", {}, False, (INK, "*", "-")),
    MATRIX: Flow("exact_matrix", {}, False, (PURPLE, "P", "-")),
    QUATERNION: Flow("kosenko", {}, False, (GREEN, "X", "-")),
    **{f"semiexact{n}": Flow(f"semiexact{n}", ONE_RULE, False, (BLUE, MARKS[n], "-")) for n in ORDERS},
    **{f"semiexact{n}_matrix": Flow(f"semiexact{n}_matrix", ONE_RULE, False, (SKY, MARKS[n], "--")) for n in ORDERS},
    **{f"dmv{n}": Flow(f"dmv{n}", AS_PRINTED, False, (VERMILION, MARKS[n], "-")) for n in ORDERS},
    **{f"dmv{n}, Newton": Flow(f"dmv{n}", {}, True, (ORANGE, MARKS[n], "--")) for n in ORDERS},
}
"""Semiexact methods as printed use one rule (3.1) for the whole step. DMV as printed uses fixed-point iteration and
refuses no step; polhode's uses Newton's method and refuses large angles."""
HALF_TURNS = {
    label: Flow(name, {}, False, FLOWS[name].line_style) for label, name in zip(REDUCED, MATRIX_FORM, strict=True)
}
"""The library's semiexact methods: whole half turns in a step are integrated exactly, the rest by the rule."""


# ------------------------------------------------------------------ bodies
def any_moments(random: np.random.Generator, count: int) -> Any:
    """Three uniform numbers, sorted and divided by the largest (count, 3); they may not belong to a physical body."""
    moments = np.sort(random.random((count, 3)), axis=1)
    return moments / moments[:, 2:]


def physical_moments(random: np.random.Generator, count: int) -> Any:
    """Moments of inertia (count, 3) of physical bodies, ascending, largest 1, uniform in the triangle."""
    results: list[tuple[float, float, float]] = []
    while len(results) < count:
        x, y = random.random(), 0.5 + 0.5 * random.random()
        if 1.0 - y <= x < y:
            results.append((x, y, 1.0))
    return np.array(results)


def random_momenta(random: np.random.Generator, count: int) -> Any:
    """Random unit vectors (count, 3) in the first octant."""
    vectors = np.abs(random.normal(size=(count, 3)))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def triangle(columns: int, rows: int) -> Any:
    """Points (n, 2) inside the triangle, from a grid over the rectangle from (0, 1/2) to (1, 1)."""
    points = []
    for j in range(rows):
        for i in range(columns):
            # integer coordinates, so that points on the edges are recognised exactly
            x, y = (2 * i + 1) * 2 * rows, (2 * rows + 2 * j + 1) * columns
            if 4 * rows * columns < x + y and x < y:
                points.append(((i + 0.5) / columns, 0.5 + (j + 0.5) / (2 * rows)))
    return np.array(points)


class Bodies(NamedTuple):
    """Free bodies: principal moments and momenta (K, 3); their attitude is the identity."""

    moments: Any
    momenta: Any

    def chosen(self, which: Any) -> Bodies:
        """The bodies selected by an index, mask or slice."""
        return Bodies(self.moments[which], self.momenta[which])


class Ends(NamedTuple):
    """Attitudes (K, 4), momenta (K, 3), and whether all steps were taken (K,)."""

    attitude: Any
    momenta: Any
    good: Any

    def gaps(self, truth: Any) -> Any:
        """Infinity norms of the errors of the rotation matrices."""
        return np.abs(ph.rotation.matrix_from_quaternion(self.attitude) - truth).sum(axis=-1).max(axis=-1)


UNTURNED = (1.0, 0.0, 0.0, 0.0)
UNGUARDED = {"guard": False}
"""Settings of runs that take every step."""


def turned(
    flow: Flow, n: int, h: float, bodies: Bodies, report_progress: Reporter = lambda line: None,
    threads: int | None = None, size: int = 2048,
) -> Ends:  # fmt: skip
    """Rotate every body by ``n`` steps ``h`` of the flow, in slices of ``size`` bodies on several threads.

    Bodies are independent, so the result depends neither on the slices nor on the threads.
    """
    turn = flow.turn  # compiled once, before the threads start
    parts = [bodies.chosen(slice(k, k + size)) for k in range(0, len(bodies.momenta), size)]
    results: list[Ends] = []
    pool = ThreadPoolExecutor(threads or cpu_count() or 1)
    try:
        for part in pool.map(lambda some: Ends(*turn(UNTURNED, some.momenta, some.moments, h, n)), parts):
            results.append(part)
            report_progress(f"{100 * len(results) // len(parts)} %")
    finally:
        pool.shutdown(cancel_futures=True)
    return Ends(*(np.concatenate(column) for column in zip(*results, strict=True)))


def seconds_of(flow: Flow, n: int, h: float, bodies: Bodies) -> Any:
    """Wall times (s) on one thread of the runs of all bodies, in parts of a few bodies to keep each short."""
    size, spent = max(1, TIMED_TOGETHER // n), []
    for k in range(0, len(bodies.momenta), size):
        part = bodies.chosen(slice(k, k + size))
        begun = time.perf_counter()
        flow.turn(UNTURNED, part.momenta, part.moments, h, n)
        spent.append(time.perf_counter() - begun)
    return np.array(spent)


def log_errors(ends: Ends, truth: Any) -> Any:
    """log10 |Q - Q_ref|, infinity norm, for each body; NaN where the flow failed.  [celledoni2008, eq. 3.2]"""
    result = np.full(len(ends.good), np.nan)
    good = Ends(*(column[ends.good] for column in ends))
    result[ends.good] = np.log10(np.maximum(good.gaps(truth[ends.good]).astype(float), ROUND_OFF))
    return result


REFERENCE = f"theta functions in one step to the end, in numbers of {theta.DIGITS} binary digits"


def reference(bodies: Bodies, t_end: float = T_END) -> Any:
    """Exact final attitudes, rotation matrices (K, 3, 3) in long double."""
    return theta.free_rotation(bodies.moments, bodies.momenta, t_end)[0]


# ------------------------------------------------------------------ maps over the triangle
def quantile(values: xr.DataArray, share: float) -> float:
    """Quantile of what is not NaN; NaN of nothing."""
    known = values.values[~np.isnan(values.values)]
    return float(np.quantile(known, share)) if known.size else np.nan


STEPS = (0.4, 0.04)
GRID, VALUES = (100, 50), 20
QUICK_GRID, QUICK_VALUES = (20, 10), 5
CORNER = (0.15, 0.85)
"""The top left corner, I1 << I2 ~ I3: x < CORNER[0] and y > CORNER[1]."""


def maps(labels: Sequence[str], steps: Sequence[float], quick: bool, report_progress: Reporter) -> xr.Dataset:
    """Mean log error and share of failed runs over the triangle, by flow and step, for the same momenta everywhere."""
    points = triangle(*(QUICK_GRID if quick else GRID))
    momenta = random_momenta(np.random.default_rng(SEED), QUICK_VALUES if quick else VALUES)
    moments = np.column_stack([points, np.ones(len(points))])
    bodies = Bodies(np.repeat(moments, len(momenta), axis=0), np.tile(momenta, (len(points), 1)))
    truth = reference(bodies)
    errors, failed = np.full((2, len(labels), len(steps), len(points)), np.nan)
    for i, label in enumerate(labels):
        for k, h in enumerate(steps):
            report = partial(_progress_with_label, report_progress, f"{label}, step {h:g}")
            ends = turned((FLOWS | HALF_TURNS)[label], round(T_END / h), h, bodies, report)
            values = log_errors(ends, truth).reshape(len(points), -1)
            failed[i, k] = np.isnan(values).mean(axis=1)
            some = failed[i, k] < 1.0
            errors[i, k, some] = np.nanmean(values[some], axis=1)
    dims = ("flow", "step", "point")
    return xr.Dataset(
        {"log_error": (dims, np.round(errors, 4)), "failed": (dims, failed)},
        {"flow": list(labels), "step": list(steps), "x": ("point", points[:, 0]), "y": ("point", points[:, 1])},
        {
            "bodies": f"{len(points)} points of a grid of {' x '.join(map(str, QUICK_GRID if quick else GRID))} inside "
            f"the triangle, each with the same {len(momenta)} random momenta (seed {SEED})",
            "error": f"mean of log10 |Q - Q_ref|, infinity norm, at t = {T_END:g}; failed runs are left out",
            "reference": REFERENCE,
            theta.REMARK: theta.DIGITS,
        },
    )


def _progress_with_label(report_progress: Reporter, words: str, line: str) -> None:
    report_progress(f"{words}, {line}")


def corner(data: xr.Dataset) -> Any:
    """Mask of the points in the corner where the smallest moment is far below the other two."""
    return (data.x < CORNER[0]) & (data.y > CORNER[1])


def map_panel(ax: Axes, data: xr.DataArray, limits: tuple[float, float], colours: str) -> Any:
    """One map: a coloured cell per point, grey where the value is NaN."""
    xs, ys = np.unique(data.x), np.unique(data.y)
    grid = np.full((len(ys), len(xs)), np.nan)
    grid[np.searchsorted(ys, data.y), np.searchsorted(xs, data.x)] = data.values
    inside = np.zeros(grid.shape, dtype=bool)
    inside[np.searchsorted(ys, data.y), np.searchsorted(xs, data.x)] = True
    missing = np.where(inside & np.isnan(grid), 1.0, np.nan)
    line_style: Any = {"extent": (0.0, 1.0, 0.5, 1.0), "origin": "lower", "aspect": "equal", "interpolation": "nearest"}
    ax.imshow(missing, cmap="Greys", vmin=0.0, vmax=2.5, **line_style)
    image = ax.imshow(grid, cmap=colours, vmin=limits[0], vmax=limits[1], **line_style)
    ax.plot((0.0, 0.5, 1.0, 0.0), (1.0, 0.5, 1.0, 1.0), color=GREY, linewidth=0.8)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_xticks([0.0, 0.5, 1.0])
    ax.set_yticks([0.5, 1.0])
    return image


def map_picture(
    data: xr.DataArray, rows: Iterable[Sequence[tuple[str, float]]], limits: tuple[float, float], words: str,
    colours: str = "viridis_r",
    extend: str = "both",
) -> Picture:  # fmt: skip
    """Maps of (flow, step) pairs arranged in rows, with a common colour scale."""
    table = [list(row) for row in rows]
    columns = len(table[0])
    picture = Picture(figsize=(3.2 * columns + 0.8, 1.95 * len(table) + 0.5), layout="constrained")
    axes = picture.subplots(len(table), columns, squeeze=False, sharex=True, sharey=True)
    for k, row in enumerate(table):
        for ax, (label, h) in zip(axes[k], row, strict=True):
            image = map_panel(ax, data.sel(flow=label, step=h), limits, colours)
            ax.set_title(f"{label}, h = {h:g}".replace(", half", ",\nhalf"))
        axes[k, 0].set_ylabel("$I_2/I_3$")
    for ax in axes[-1]:
        ax.set_xlabel("$I_1/I_3$")
    picture.colorbar(image, ax=axes, label=words, shrink=0.75, aspect=30, pad=0.01, extend=extend)
    return picture
