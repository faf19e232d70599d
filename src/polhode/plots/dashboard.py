"""Pictures of a run: the dashboard of its system, and figures of chosen panels in the sizes of a journal."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.arguments import MOST_SQUARED, choice
from polhode.errors import InvalidInput, answering
from polhode.lazy import xr
from polhode.plots import style
from polhode.plots.axes import add_note, fit_sides, fit_titles, note_of, ranges
from polhode.plots.panels import ALONG, WIDE, Panel, chosen, usual
from polhode.plots.shown import Shown
from polhode.plots.style import VERMILION, Figure
from polhode.trajectory.schema import trajectory

Box = tuple[float, float, float, float]  # left, bottom, width, height (inches)


def checked(ds: xr.Dataset) -> Shown:
    """The trajectory to draw."""
    trajectory(ds)
    if "energy_error" not in ds or "time" not in ds.dims:
        raise InvalidInput("this Dataset is no trajectory: it has no variable 'energy_error' along 'time'")
    if "member" in ds.dims:
        raise InvalidInput("this Dataset is of an ensemble: take one member, ds.isel(member=0), or polhode.plots.bands")
    if not ds.sizes["time"]:
        raise InvalidInput("this trajectory has no rows: there is nothing to draw")
    times = ds["time"].values.astype(float)
    between = np.diff(times)
    if np.abs(times).max() > MOST_SQUARED or not ((between > 0.0).all() or (between < 0.0).all()):
        raise InvalidInput("time is not in order from row to row, or beyond that of any run; take the rows of one run, "
                           "each once")  # fmt: skip
    return Shown(ds)


@answering
def dashboard(ds: xr.Dataset, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot a run in the panels that suit its system.

    Spacecraft show body rates, angles relative to LVLH, attitude energy and spin apart from the orbit's, altitude,
    elements, the orbit with its centre to scale, ground track and polhode; orbits and bodies that attract each other
    all orbits, distances, elements; tops nutation, precession, the path of the axis; rigid bodies rates, attitude and
    polhode; point masses path and phase plane; molecules temperatures, energies, bodies and the distribution of
    distances; each with the errors of energy and conserved momenta. Of several rigid bodies the first is shown; energy
    and momenta are of all. Where the run has shadows, panels are grey in them. Times and lengths of runs in SI units
    are shown in hours, days, kilometres where they are large. The whole run is drawn, a million rows in
    about a second, without losing extremes: where curves swing faster than pixels show, their range is shaded, with a
    line of the mean. ``polhode.plots.figure`` draws panels of choice.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.integrate`` or a file, or the ``trajectory`` of a failed run.
    path : path, optional
        Also write a PNG (100 pixels per inch), PDF or SVG to this file, atomically; its folder is created if missing.

    Returns
    -------
    matplotlib.figure.Figure
        12 x 9 inches, or 15 x 9.5 where there are more than six panels. Independent of pyplot; a notebook displays it,
        ``savefig`` writes it.

    Raises
    ------
    InvalidInput
        The Dataset is not a trajectory or has no rows, or ``path`` does not end in ``.png``, ``.pdf`` or ``.svg``.
    FileProblem
        The file cannot be written.

    See Also
    --------
    figure : panels of choice, for a paper.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     figure = ph.plots.dashboard(ds, f"{folder}/run.png")
    ...     pathlib.Path(folder, "run.png").exists()
    True
    """
    shown = checked(ds)
    panels = usual(shown)
    size, boxes = _arranged(panels, "incomplete" in ds.attrs)
    with style.drawing(path, size, style.RC | {"axes.titley": 1.0}) as figure:  # no label of theirs reaches a title
        _draw(figure, shown, panels, boxes)
        _heading(figure, ds, shown)
    return figure


@answering
def figure(
    ds: xr.Dataset, panels: str | Sequence[str], size: str = "page", path: str | os.PathLike[str] | None = None
) -> Figure:
    """Plot panels of choice for a paper: no heading, small letters, the width of a page or a column.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory.
    panels : str or sequence of str
        Names of panels, such as ``["energy", "lvlh"]`` or ``"energy,lvlh"``; ``polhode plot --list FILE`` prints those
        that a file offers. ``"elements"`` are five panels.
    size : {"page", "column"}
        7 inches wide, panels in two columns; or 3.4 inches wide, panels below each other.
    path : path, optional
        Also write a PDF or SVG, with its fonts and without dates, or a PNG of 300 pixels per inch, atomically; its
        folder is created if missing.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        As for ``dashboard``; an unknown panel, or one that needs what this trajectory lacks.
    FileProblem
        The file cannot be written.

    See Also
    --------
    dashboard : all panels that suit the system.

    Examples
    --------
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> len(ph.plots.figure(ds, ["rates", "energy"], size="column").axes)
    2
    """
    shown = checked(ds)
    wide, letters, dpi = style.sized(choice(size, "size", style.SIZES), 0.0)
    found = chosen(panels, shown)
    height, boxes = _stacked(found, wide)
    with style.drawing(path, (wide, height), letters, dpi, dpi=150) as picture:
        _draw(picture, shown, found, boxes, explained=True)
    return picture


# ------------------------------------------------------------------ where panels are
def _arranged(panels: Sequence[Panel], heading: bool) -> tuple[tuple[float, float], list[Box]]:
    """Size of a dashboard and the cell of each panel: those along time left, the others in a column at the right."""
    times = [panel for panel in panels if panel.shape == ALONG]
    others = [panel for panel in panels if panel.shape != ALONG]
    many = len(panels) > 6
    wide, high = (15.0, 9.5) if many else (12.0, 9.0)
    top, bottom = high - (0.95 if heading else 0.7), 0.1
    columns = 2 if many and len(times) > 4 else 1
    right = 4.6 if others else 0.0
    rows = -(-len(times) // columns)
    across, down = (wide - right - 0.1) / columns, (top - bottom) / max(1, rows)
    cells: dict[str, Box] = {}
    for k, panel in enumerate(times):
        column, row = divmod(k, rows)
        cells[panel.name] = (0.1 + column * across, top - (row + 1) * down, across, down)
    shares = [0.62 if panel.shape == WIDE else 1.0 for panel in others]
    if len(others) == 1:
        shares = [1.0]
    y, each = top, (top - bottom) / (sum(shares) or 1.0)
    for share, panel in zip(shares, others, strict=True):
        tall = min(each * share, 5.2)
        y -= tall
        cells[panel.name] = (wide - right, y, right, tall)
    return (wide, high), [cells[panel.name] for panel in panels]


def _stacked(panels: Sequence[Panel], wide: float) -> tuple[float, list[Box]]:
    """Height of a figure for a paper and the cell of each panel."""
    columns = 1 if wide < 5.0 or len(panels) == 1 else 2
    across = wide / columns
    heights = {ALONG: min(0.62 * across, 2.6) + 0.15, WIDE: 0.5 * across + 0.75}
    rows = [panels[k : k + columns] for k in range(0, len(panels), columns)]
    downs = [max(heights.get(panel.shape, min(across, 4.5)) for panel in row) for row in rows]
    total = sum(downs) + 0.04
    boxes, y = [], total - 0.02
    for row, down in zip(rows, downs, strict=True):
        y -= down
        boxes += [(k * across, y, across, down) for k in range(len(row))]
    return total, boxes


MARGINS = {ALONG: (0.82, 0.86, 0.5, 0.46), WIDE: (0.72, 0.22, 0.5, 0.46)}
"""Left, right, above and below the axes of a panel (inches) in letters of 9.5 points; of pictures without axes less."""
BARE = {"orbit": (0.25, 0.15, 0.5, 0.1), "polhode": (0.3, 0.2, 0.5, 0.1), "axis": (0.3, 0.2, 0.5, 0.1),
        "bodies": (0.1, 0.2, 0.45, 0.2)}  # fmt: skip
IN_SPACE = (0.25, 0.4, 0.5, 0.3)


SHADOW, SHADED = "grey: in the shadow", "shaded: range of fast swings"


def _draw(
    figure: Figure, shown: Shown, panels: Sequence[Panel], boxes: Sequence[Box], explained: bool = False
) -> None:  # fmt: skip
    """Draw each panel into its cell; those with the shortest notes explain what is grey and shaded, if that is to be
    explained."""
    wide, high = figure.get_figwidth(), figure.get_figheight()
    letters = style.points() / style.RC["font.size"]
    cells = []
    columns: dict[tuple[float, str], list[Any]] = {}
    for panel, (x, y, w, h) in zip(panels, boxes, strict=True):
        usual_sides = IN_SPACE if panel.space(shown) else MARGINS.get(panel.shape, (0.82, 0.3, 0.5, 0.5))
        left, right, above, below = (letters * side for side in BARE.get(panel.name, usual_sides))
        rectangle = ((x + left) / wide, (y + below) / high, (w - left - right) / wide, (h - above - below) / high)
        axes = figure.add_axes(rectangle, projection="3d" if panel.space(shown) else None)
        panel.draw(axes, shown)
        cells.append((axes, (x / wide, (x + w - 0.05) / wide)))
        if panel.name not in BARE and not panel.space(shown):
            columns.setdefault((x, panel.shape), []).append(cells[-1])
    along = [axes for panel, (axes, _) in zip(panels, cells, strict=True) if panel.shape == ALONG]
    for words, where in ((SHADED, list(filter(ranges, along))), (SHADOW, along * (len(shown.shadows) > 0))):
        if explained and where:
            add_note(min(where, key=lambda axes: len(note_of(axes))), words)
    fit_sides(figure, list(columns.values()))
    fit_titles(figure, cells)


# ------------------------------------------------------------------ heading
def _heading(figure: Figure, ds: xr.Dataset, shown: Shown) -> None:
    attrs, high = ds.attrs, figure.get_figheight()
    method = str(attrs.get("method", ""))
    described = str(attrs.get("method_description", ""))
    clock = shown.unit("time")
    steps_taken = f"rtol {_number(attrs['rtol'])}" if "rtol" in attrs else f"step {_number(attrs.get('step'))} {clock}"
    what = f"{shown.called or 'trajectory'}  ·  {method}  ·  {steps_taken}".strip()
    titled = "scenario" in attrs and attrs.get("title")  # a title given by the user goes first
    head = textwrap.shorten(str(attrs["title"]), 90, placeholder=" ...") if titled else what
    figure.text(0.022, 1.0 - 0.29 / high, head, fontsize=15, fontweight="bold", va="center")
    times = np.asarray(ds["time"].values, dtype=float) / shown.time_unit[0]
    unit = "" if attrs.get("units", "consistent") == "consistent" else f" {shown.time_unit[1]}"
    parts = [what] if titled else [described] if described else []
    if "steps" in attrs:
        parts.append(
            f"{attrs['steps']:,} steps" if isinstance(attrs["steps"], int | np.integer) else f"{attrs['steps']} steps"
        )
    rows = (
        f"{len(times):,} rows from t = {times[0]:.6g} to {times[-1]:.6g}"
        if len(times) > 1 else f"1 row, t = {times[0]:.6g}"
    )  # fmt: skip
    parts.append(rows + unit)
    parts += [SHADOW] * (len(shown.shadows) > 0) + [SHADED] * any(map(ranges, figure.axes))
    line = textwrap.shorten("  ·  ".join(parts), 170, placeholder=" ...")
    figure.text(0.022, 1.0 - 0.56 / high, line, fontsize=10, color="#5a5a5a", va="center")
    if "incomplete" in attrs:
        note = textwrap.shorten(f"Incomplete run: {attrs['incomplete']}", 165, placeholder=" ...")
        figure.text(0.022, 1.0 - 0.79 / high, note, fontsize=9.5, color=VERMILION, va="center")


def _number(value: Any) -> str:
    try:
        return "?" if value is None else f"{float(value):g}"
    except (TypeError, ValueError):  # somebody has written it
        return str(value)
