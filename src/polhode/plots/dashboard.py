"""The dashboard of a run: errors of the conserved quantities, the attitude, and the polhode on its sphere."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.plots import style
from polhode.plots.molecules import draw_bodies, draw_distances, draw_temperatures
from polhode.plots.style import BLUE, FAINT, GREEN, GREY, INK, PURPLE, VERMILION
from polhode.trajectory.schema import trajectory

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

BINS = 1000
"""Bins of a long time series; a panel is about 550 pixels wide."""
POINTS = 6000
"""Most points of a curve on a sphere or in space."""
EXTREMA = 60
"""Oscillating curves are drawn up to this many extrema: more would be a solid block."""
CHARTS = ("euler_angles", "rotation_vector", "modified_rodrigues", "gibbs_rodrigues")
"""Three-number attitudes, drawn instead of the quaternion where present."""
ENERGIES = ("kinetic", "potential")
ROUND_OFF = float(np.finfo(float).eps)
FLOOR = ROUND_OFF / 8
FEW = 40
"""Up to this many rows, each has a marker."""


def dashboard(ds: xr.Dataset, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot a run: energy error, errors of the conserved momenta, attitude, and the polhode on its sphere.

    For molecules, temperatures, bodies with their dipoles and the distribution of distances replace attitude, polhode
    and body axis. For other bodies that translate, the orbit replaces the body axis; for a point mass, position, orbit
    and phase plane replace all three. Of several bodies the first is shown; energy and momenta are of all. A million
    rows are drawn in well under a second, without losing extremes of the errors.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.integrate`` or a file, or the ``trajectory`` of a failed run.
    path : path, optional
        Also write a PNG of 1200 x 900 pixels to this file, atomically.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot; a notebook displays it, ``savefig`` writes it.

    Raises
    ------
    InvalidInput
        The Dataset is not a trajectory or has no rows, or ``path`` does not end in ``.png``.
    FileProblem
        The file cannot be written.
    """
    trajectory(ds)
    if "energy_error" not in ds or "time" not in ds.dims:
        raise InvalidInput("this Dataset is no trajectory: it has no variable 'energy_error' along 'time'")
    if not ds.sizes["time"]:
        raise InvalidInput("this trajectory has no rows: there is nothing to draw")
    if path is not None:
        style.png_path(path)
    import matplotlib

    from polhode.plots.picture import Picture

    with matplotlib.rc_context(style.RC):
        figure = Picture(figsize=(12, 9), dpi=style.DPI)
        _heading(figure, ds)
        left = figure.add_gridspec(3, 1, left=0.075, right=0.545, top=0.86, bottom=0.065, hspace=0.42)
        _energy(figure.add_subplot(left[0]), ds)
        _momenta(figure.add_subplot(left[1]), ds)
        _motion(figure.add_subplot(left[2]), ds)
        boxes = [(0.635, 0.465, 0.35, 0.4), (0.635, 0.02, 0.35, 0.4)]
        molecules = "temperature" in ds
        if molecules:
            draw_bodies(figure.add_axes((0.6, 0.42, 0.38, 0.42), projection="3d"), ds)
            draw_distances(figure.add_axes((0.66, 0.065, 0.315, 0.27)), ds)
        elif "attitude" in ds:
            _polhode(figure.add_axes(boxes[0]), ds)
        if "position" in ds and not molecules:
            box = boxes[1] if "attitude" in ds else boxes[0]
            _orbit(figure, box, ds)
        if "attitude" not in ds:
            _phase(figure.add_axes((0.68, 0.065, 0.29, 0.32)), ds)
        elif "position" not in ds and not molecules:
            _axis_in_space(figure.add_axes(boxes[1]), ds)
        if path is not None:
            style.write(figure, path)
    return figure


# ------------------------------------------------------------------ rows to draw
def extremes(values: Any, bins: int = BINS) -> Any:
    """Thin out a long series for drawing: the rows of the smallest and the largest value of each bin.

    Parameters
    ----------
    values : array (n,)
        The series; values that are not finite are chosen only if a bin has no others.
    bins : int
        Number of bins; at most ``2 bins + 2`` rows are returned.

    Returns
    -------
    array of int
        Increasing row numbers, including the first and the last; all rows of a series of up to ``4 bins`` rows.
    """
    n = len(values)
    if n <= 4 * bins:
        return np.arange(n)
    size = -(-n // bins)
    whole = n // size
    parts = [np.array([0, n - 1])]
    for worst, pick in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        safe = np.where(np.isfinite(values), values, worst)
        parts.append(np.arange(whole) * size + pick(safe[: whole * size].reshape(whole, size), axis=1))
        if whole * size < n:
            parts.append(np.array([whole * size + int(pick(safe[whole * size :]))]))
    return np.unique(np.concatenate(parts))


def scattered(n: int, most: int = POINTS) -> Any:
    """At most ``most`` of ``n`` rows, evenly spread but without a fixed stride, which prevents aliasing."""
    if n <= most:
        return np.arange(n)
    k = np.arange(most)
    shift = (k * 0.6180339887498949) % 1.0
    chosen = ((k + shift) * (n / most)).astype(np.int64)
    chosen[0], chosen[-1] = 0, n - 1
    return np.unique(chosen)


def opening(curves: Any, most: int = EXTREMA) -> int:
    """Rows in which the fastest of the curves (n, k) has ``most`` extrema; ``n`` unless one has over twice as many.

    Curves whose range is negligible compared with the others do not count, so round-off is not taken for motion.
    """
    n = len(curves)
    if n < 4:
        return n
    reach = np.ptp(np.nan_to_num(curves), axis=0)
    least = n
    for k in np.flatnonzero(reach > 1e-6 * reach.max()) if reach.max() > 0.0 else []:
        slope = np.diff(curves[:, k])
        turns = np.flatnonzero(slope[1:] * slope[:-1] < 0.0)
        if len(turns) > 2 * most:
            least = min(least, int(turns[most]) + 2)
    return max(least, min(n, 12))


def _rows(ds: xr.Dataset, name: str) -> Any:
    """Values of a variable in order of increasing time, of the first body if there are several."""
    variable = ds[name]
    if "body" in variable.dims:
        variable = variable.isel(body=0)
    values = np.asarray(variable.values, dtype=float)
    return values[::-1] if _backwards(ds) else values


def _backwards(ds: xr.Dataset) -> bool:
    return bool(ds["time"].values[-1] < ds["time"].values[0])


def _times(ds: xr.Dataset) -> Any:
    times = np.asarray(ds["time"].values, dtype=float)
    return times[::-1] if _backwards(ds) else times


def _whose(ds: xr.Dataset) -> str:
    return f", body 1 of {ds.sizes['body']}" if "body" in ds.dims else ""


# ------------------------------------------------------------------ heading and axes
def _heading(figure: Any, ds: xr.Dataset) -> None:
    attrs = ds.attrs
    method = str(attrs.get("method", ""))
    described = str(attrs.get("method_description", ""))
    steps_taken = f"rtol {_number(attrs['rtol'])}" if "rtol" in attrs else f"step {_number(attrs.get('step'))}"
    what = f"{attrs.get('system', 'trajectory')}  ·  {method}  ·  {steps_taken}"
    titled = "scenario" in attrs and attrs.get("title")  # a title given by the user goes first
    head = textwrap.shorten(str(attrs["title"]), 90, placeholder=" ...") if titled else what
    figure.text(0.022, 0.968, head, fontsize=15, fontweight="bold", va="center")
    times = ds["time"].values
    unit = "" if attrs.get("units", "consistent") == "consistent" else f" {ds['time'].attrs.get('units', '')}"
    parts = [what] if titled else [described] if described else []
    if "steps" in attrs:
        parts.append(f"{int(attrs['steps']):,} steps")
    rows = (
        f"{len(times):,} rows from t = {times[0]:g} to {times[-1]:g}" if len(times) > 1 else f"1 row, t = {times[0]:g}"
    )
    parts.append(rows + unit)
    figure.text(0.022, 0.938, "  ·  ".join(parts), fontsize=10, color="#5a5a5a", va="center")
    if "incomplete" in attrs:
        note = textwrap.shorten(f"Incomplete run: {attrs['incomplete']}", 175, placeholder=" ...")
        figure.text(0.022, 0.912, note, fontsize=9.5, color=VERMILION, va="center")


def _number(value: Any) -> str:
    return "?" if value is None else f"{float(value):g}"


def _time_axis(axes: Any, ds: xr.Dataset, times: Any) -> None:
    first, last = float(times[0]), float(times[-1])
    if first == last:
        first, last = first - 0.5, last + 0.5
    axes.set_xlim(first, last)
    unit = ds["time"].attrs.get("units", "")
    axes.set_xlabel(style.with_units("time", unit), labelpad=2)


def _line(axes: Any, times: Any, values: Any, colour: str, rows: int, **how: Any) -> None:
    marker = {"marker": "o", "markersize": 4} if rows <= FEW else {}
    axes.plot(times, values, color=colour, **{**marker, **how})


# ------------------------------------------------------------------ time series
def _energy(axes: Any, ds: xr.Dataset) -> None:
    values, times = _rows(ds, "energy_error"), _times(ds)
    start = float(ds["energy"].values[0]) if "energy" in ds else 1.0
    bath = "conserved_energy" in ds
    if bath:
        values = _rows(ds, "conserved_energy") - float(ds["conserved_energy"].values[0])
        values = values / (float(ds["kinetic_energy"].mean()) or 1.0)
    energy_conserved = "energy" in str(ds.attrs.get("conserves", "")).split(", ")
    units = ds["energy_change"].attrs.get("units", "") if "energy_change" in ds else ""
    if bath:
        title = "Energy with the bath's: change / kinetic energy"
    elif "work" in ds:
        less = "Energy change less work"
        title = style.with_units(less, units) if start == 0.0 else f"{less}, relative"
    elif start == 0.0:
        title = style.with_units("Energy change, H − H₀", units)
    else:
        title = f"Relative energy {'error' if energy_conserved else 'change'}, (H − H₀) / |H₀|"
    finite = values[np.isfinite(values)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    notes = [] if energy_conserved or "work" in ds else ["not conserved"]
    if "note" in ds["energy_error"].attrs:
        only = str(ds["energy_error"].attrs["note"]).startswith("kinetic")
        notes = [] if bath else ["kinetic energy only" if only else "some work is not recorded"]
    notes.append("exactly zero" if size == 0.0 else f"largest {style.scientific(size)}")
    chosen = extremes(values)
    _line(axes, times[chosen], values[chosen], BLUE, len(values), linewidth=1.1 if len(values) < 3000 else 0.8)
    axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
    typical = float(np.median(np.abs(finite[finite != 0.0]))) if size > 0.0 else 0.0
    if size == 0.0:
        axes.set_ylim(-ROUND_OFF, ROUND_OFF)
        axes.set_yticks([0.0])
    elif size > 1e4 * typical:
        axes.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(typical)))
    elif not 1e-2 <= size < 1e4:
        axes.yaxis.set_major_formatter(lambda value, _: style.scientific(value, 3))
    _title(axes, title, "; ".join(notes))
    _time_axis(axes, ds, times)


def _title(axes: Any, title: str, note: str) -> None:
    axes.set_title(title)
    axes.text(
        1.0, 1.0, note, transform=_above(axes), ha="right", va="bottom", fontsize=9, color="#5a5a5a"
    )  # fmt: skip


def _above(axes: Any) -> Any:
    from matplotlib.transforms import ScaledTranslation

    return axes.transAxes + ScaledTranslation(0.0, style.RC["axes.titlepad"] / 72, axes.figure.dpi_scale_trans)


def conserved_errors(ds: xr.Dataset) -> dict[str, tuple[Any, bool]]:
    """Errors of the conserved momenta.

    Returns
    -------
    dict of str to (array (n,), bool)
        By a short name: the norm of the change since the first row, and whether it is relative. It is relative to the
        initial size; for a component that starts at zero, to the size of its vector; for a total that starts at zero,
        to the sum of the sizes of all bodies; absolute if that is zero too. Bodies are summed.
    """
    conserved = str(ds.attrs.get("conserves", "")).split(", ")
    spatial = _total(ds, "angular_momentum_space") if "angular_momentum_space" in ds else None
    length = float(np.linalg.norm(spatial[0])) if spatial is not None else 0.0
    errors = {}
    for name, short in (
        ("angular_momentum_space", "spatial"),
        ("vertical_angular_momentum", "vertical"),
        ("axial_angular_momentum", "axial"),
        ("momentum", "linear"),
        ("total_momentum", "total linear"),
        ("total_angular_momentum", "total spatial"),
    ):
        if name not in ds or name not in conserved:
            continue
        values = _total(ds, name)
        initial = float(np.linalg.norm(values[0]))
        if name.startswith("total_"):
            parts = ds["momentum" if name == "total_momentum" else "angular_momentum_space"].values[0]
            length = float(np.linalg.norm(parts, axis=-1).sum())
        size = initial if initial > 1e-12 * length or name == "momentum" else length
        change = values - values[0]
        error = np.abs(change) if change.ndim == 1 else np.sqrt(np.einsum("ij,ij->i", change, change))
        errors[short] = (error / (size or 1.0), size > 0.0)
    return errors


def _total(ds: xr.Dataset, name: str) -> Any:
    variable = ds[name]
    return np.asarray((variable.sum("body") if "body" in variable.dims else variable).values, dtype=float)


_MOMENTUM_COLOURS = {
    "spatial": BLUE, "vertical": GREEN, "axial": VERMILION, "linear": PURPLE, "total linear": PURPLE,
    "total spatial": BLUE,
}  # fmt: skip


def _momenta(axes: Any, ds: xr.Dataset) -> None:
    errors, times = conserved_errors(ds), _times(ds)
    if not errors:
        _changing_momentum(axes, ds, times)
        return
    relative = all(flag for _, flag in errors.values())
    finite_errors = np.concatenate([error[np.isfinite(error)] for error, _ in errors.values()])
    largest = float(finite_errors.max()) if finite_errors.size else 0.0
    usual = float(np.quantile(finite_errors[finite_errors > 0.0], 0.02)) if largest > 0.0 else 0.0
    floor = usual / 10 if usual > 1e4 * ROUND_OFF else FLOOR
    ends = [] if floor > ROUND_OFF else [(ROUND_OFF, "round-off", GREY)]
    for name, (error, _) in errors.items():
        error = error[::-1] if _backwards(ds) else error
        colour = _MOMENTUM_COLOURS[name]
        shown = np.maximum(error, floor)
        if len(shown) > BINS:
            centre, low, high = _band(times, shown, BINS // 2)
            axes.fill_between(centre, low, high, color=colour, alpha=0.22, linewidth=0)
            axes.plot(centre, high, color=colour, linewidth=1.1)
        else:
            _line(axes, times, shown, colour, len(times))
        tail = shown[-max(1, len(shown) // 20) :]
        ends.append((float(np.nanmax(tail)) if np.isfinite(tail).any() else floor, name, colour))
    axes.set_yscale("log")
    axes.set_ylim(floor / 2, max(20 * ROUND_OFF, 5 * largest))
    axes.axhline(ROUND_OFF, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    axes.minorticks_off()
    linear = "linear" in next(iter(errors))
    only = next(iter(errors)) + (" momentum" if linear else " angular momentum")
    title = "Error of the conserved momenta" if len(errors) > 1 else f"Error of the {only}"
    _title(axes, title, "exactly zero" if largest == 0.0 else f"largest {style.scientific(largest)}")
    axes.set_ylabel("relative to initial size" if relative else "change (initial size is 0)")
    _time_axis(axes, ds, times)
    style.label_ends(axes, ends)


def _band(times: Any, values: Any, bins: int) -> tuple[Any, Any, Any]:
    """Time, smallest and largest value of each bin."""
    edges = np.linspace(0, len(values), min(bins, len(values)) + 1).astype(np.int64)[:-1]
    low = np.fmin.reduceat(values, edges)
    high = np.fmax.reduceat(values, edges)
    last = np.append(edges[1:], len(values)) - 1
    centre = 0.5 * (times[edges] + times[last])
    centre[0], centre[-1] = times[0], times[-1]
    return centre, low, high


def _changing_momentum(axes: Any, ds: xr.Dataset, times: Any) -> None:
    """If no momentum is conserved, plot the spatial angular momentum itself, or in a periodic box the energies."""
    if "box" in ds and "potential_energy" in ds:
        values = np.column_stack([_rows(ds, f"{name}_energy") for name in ENERGIES]) / ds.sizes.get("body", 1)
        _components(axes, ds, times, values, ENERGIES, (VERMILION, BLUE), whole=True)
        _title(axes, "Energies per body", "momentum not conserved")
        axes.set_ylabel(pretty_of(ds, "energy"))
        return
    values = _rows_of_total(ds, "angular_momentum_space")
    _components(axes, ds, times, values, "xyz", (BLUE, VERMILION, GREEN), whole=True)
    _title(axes, "Angular momentum in space", "not conserved by this system")
    axes.set_ylabel(pretty_of(ds, "angular_momentum_space"))


def pretty_of(ds: xr.Dataset, name: str) -> str:
    """Units of a variable for an axis label, or its name if it has none."""
    units = ds[name].attrs.get("units", "")
    return style.pretty_units(units) if units not in ("", "1") else name.replace("_", " ")


def _rows_of_total(ds: xr.Dataset, name: str) -> Any:
    values = _total(ds, name)
    return values[::-1] if _backwards(ds) else values


def _components(
    axes: Any,
    ds: xr.Dataset,
    times: Any,
    values: Any,
    names: Sequence[str],
    colours: tuple[str, ...],
    whole: bool = False,
    limit: float | None = None,
) -> int:
    """Plot the components, labelled at the right end; returns the number of rows shown."""
    rows_shown = len(values) if whole else opening(values)
    for k in range(values.shape[1]):
        chosen = extremes(values[:rows_shown, k])
        _line(axes, times[chosen], values[chosen, k], colours[k], rows_shown)
    _time_axis(axes, ds, times[:rows_shown])
    low, high = float(np.nanmin(values[:rows_shown])), float(np.nanmax(values[:rows_shown]))
    room = 0.06 * (high - low) or max(1e-3, 0.05 * abs(high))
    axes.set_ylim(*((low - room, high + room) if limit is None else (-limit, limit)))
    style.label_ends(axes, [(float(values[rows_shown - 1, k]), names[k], colours[k]) for k in range(values.shape[1])])
    return rows_shown


def _motion(axes: Any, ds: xr.Dataset) -> None:
    """Plot the attitude (quaternion or chart); temperatures of molecules; position or distance of a point mass."""
    times = _times(ds)
    chart = next((name for name in CHARTS if name in ds), None)
    if "temperature" in ds:
        note = draw_temperatures(axes, ds, times)
        axes.set_ylabel(pretty_of(ds, "temperature"))
        _title(axes, "Temperatures", note)
        _time_axis(axes, ds, times)
        return
    if chart is not None:
        values, about = _rows(ds, chart), ds[chart].attrs
        names = tuple(map(str, ds[ds[chart].dims[-1]].values))
        rows_shown = _components(axes, ds, times, values, names, (BLUE, VERMILION, GREEN))
        words = ", ".join(str(about[key]) for key in ("sequence", "branch") if key in about)
        title = chart.replace("_", " ").capitalize() + (f" ({words})" if words else "") + _whose(ds)
        axes.set_ylabel(pretty_of(ds, chart))
    elif "attitude" in ds:
        values = _rows(ds, "attitude")
        rows_shown = _components(axes, ds, times, values, "wxyz", (INK, BLUE, VERMILION, GREEN), limit=1.08)
        title = f"Attitude quaternion, body to space{_whose(ds)}"
        axes.set_ylabel("component")
    elif ds.attrs.get("system") == "orbit":
        values = np.linalg.norm(_rows(ds, "position"), axis=-1, keepdims=True)
        rows_shown = _components(axes, ds, times, values, "r", (BLUE,))
        title = f"Distance from the centre{_whose(ds)}"
        axes.set_ylabel(pretty_of(ds, "position"))
    else:
        values = _rows(ds, "position")
        rows_shown = _components(axes, ds, times, values, "xyz", (BLUE, VERMILION, GREEN))
        title = f"Position in space{_whose(ds)}"
        axes.set_ylabel(pretty_of(ds, "position"))
    note = "" if rows_shown == len(values) else f"the beginning, to t = {times[rows_shown - 1]:.3g} of {times[-1]:.6g}"
    _title(axes, title, note)


# ------------------------------------------------------------------ spheres
def _camera(directions: Any) -> Any:
    """Camera matrix with rows right, up and towards the viewer: seen from near the mean direction, z pointing up."""
    middle = directions.mean(axis=0)
    length = float(np.linalg.norm(middle))
    flat = float(np.hypot(middle[0], middle[1]))
    azimuth = np.arctan2(middle[1], middle[0]) + 0.45 if flat > 0.2 else 0.6
    height = np.arcsin(np.clip(middle[2] / length, -1.0, 1.0)) if length > 0.2 else 0.4
    elevation = float(np.clip(height, -0.95, 0.95))
    if abs(elevation) < 0.3:
        elevation = 0.3 if elevation >= 0.0 else -0.3
    toward = np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )  # fmt: skip
    up = np.array([0.0, 0.0, 1.0]) - toward[2] * toward
    up /= np.linalg.norm(up)
    return np.array([np.cross(up, toward), up, toward])


def _draw(axes: Any, camera: Any, points: Any, colour: str, width: float, far: float, zorder: float = 2.0) -> None:
    """Draw a curve on the unit sphere: its near side opaque, its far side with opacity ``far``."""
    projected = points @ camera.T
    near = projected[:, 2] >= 0.0
    for side, strength in ((near, 1.0), (~near, far)):
        if side.any() and strength > 0.0:
            grown = side.copy()
            grown[1:] |= side[:-1]
            x, y = np.where(grown, projected[:, 0], np.nan), np.where(grown, projected[:, 1], np.nan)
            axes.plot(x, y, color=colour, linewidth=width, alpha=strength, zorder=zorder if strength == 1.0 else 1.5)


def _sphere(axes: Any, camera: Any, names: str) -> None:
    """Draw the sphere, its circles of latitude and longitude, and its axes."""
    from matplotlib.patches import Circle

    box = axes.get_position()
    wide, high = box.width * axes.figure.get_figwidth(), box.height * axes.figure.get_figheight()
    axes.set_aspect("equal")
    axes.set_xlim(-1.26 * wide / high, 1.26 * wide / high)
    axes.set_ylim(-1.26, 1.26)
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1.0, facecolor="#f7f8fa", edgecolor="#b9bdc4", linewidth=1.0, zorder=0))
    u = np.linspace(0.0, 2 * np.pi, 121)
    for latitude in np.radians((-60, -30, 0, 30, 60)):
        ring = np.column_stack(
            [np.cos(latitude) * np.cos(u), np.cos(latitude) * np.sin(u), np.full_like(u, np.sin(latitude))]
        )
        _draw(axes, camera, ring, "#dfe2e7", 0.7, 0.35, 1.0)
    for longitude in np.radians(np.arange(0, 180, 30)):
        ring = np.column_stack([np.cos(u) * np.cos(longitude), np.cos(u) * np.sin(longitude), np.sin(u)])
        _draw(axes, camera, ring, "#dfe2e7", 0.7, 0.35, 1.0)
    for k in range(3):
        x, y, depth = camera[:, k]
        if np.hypot(x, y) < 0.1:
            axes.plot([x], [y], marker="+", color=GREY, markersize=7, zorder=2)
        else:
            axes.annotate(
                "", (1.16 * x, 1.16 * y), (x, y) if depth >= 0.0 else (x / np.hypot(x, y), y / np.hypot(x, y)),
                arrowprops={"arrowstyle": "-|>", "color": GREY, "linewidth": 0.9, "mutation_scale": 9}, zorder=2,
            )  # fmt: skip
        out = max(np.hypot(x, y), 0.09)
        scale = (1.16 * out + 0.07) / out if np.hypot(x, y) > 0.1 else 1.0
        dx = 0.06 if np.hypot(x, y) <= 0.1 else 0.0
        axes.text(
            scale * x + dx, scale * y, names[k], ha="center", va="center", fontsize=9.5, color="#5a5a5a", zorder=9
        )


def _joined(points: Any, rows: int, size: float) -> bool:
    """Whether to join the points by lines: consecutive ones are close, be they all rows or selected ones."""
    if rows <= FEW:
        return True
    jumps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return bool(np.quantile(jumps, 0.9) <= (0.3 if rows <= 4 * POINTS else 0.03) * size)


def _enlarged_inset(axes: Any, camera: Any, directions: Any, colour: str) -> None:
    """Draw an enlarged inset of a path that is too small to see on the sphere."""
    middle = directions.mean(axis=0)
    if len(directions) < 3 or float(np.linalg.norm(middle)) < 0.9 or float(middle @ camera[2]) <= 0.0:
        return
    across = np.cross(camera[1], middle)
    across /= np.linalg.norm(across)
    upward = np.cross(middle, across) / np.linalg.norm(middle)
    chosen = directions[scattered(len(directions))]
    flat = (chosen - middle) @ np.column_stack([across, upward])
    size = float(np.abs(flat).max())
    if not 1e-9 < size < 0.1:
        return
    corner = axes.inset_axes((0.0, 0.0, 0.24, 0.28))
    corner.set_xticks([])
    corner.set_yticks([])
    corner.grid(False)
    for side in corner.spines.values():
        side.set(visible=True, color=FAINT)
    corner.set_facecolor("#f7f8fa")
    corner.set_aspect("equal", anchor="SW")
    corner.set_xlim(-1.2 * size, 1.2 * size)
    corner.set_ylim(-1.2 * size, 1.2 * size)
    if _joined(chosen, len(directions), 2 * size):
        corner.plot(*flat.T, color=colour, linewidth=1.0 if len(flat) < 1000 else 0.35)
    else:
        corner.plot(*flat.T, linestyle="", marker="o", markersize=1.2, mew=0, color=colour)
    corner.plot(*flat[0], marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.2, markersize=5.5, zorder=6)
    corner.plot(*flat[-1], marker="o", color=INK, markersize=4, zorder=7)
    enlarged = f"{0.26 / size:.2g}"
    corner.set_title(f"enlarged {float(enlarged):,.0f} times", fontsize=8.5, fontweight="normal", loc="center", pad=3)


def _curve(axes: Any, camera: Any, directions: Any, colour: str) -> None:
    """Draw the path on the sphere: a line if rows are close, else points; start and end are marked."""
    n = len(directions)
    chosen = scattered(n)
    points = directions[chosen]
    if not _joined(points, n, 1.0):
        projected = points @ camera.T
        near = projected[:, 2] >= 0.0
        size = 4.0 if n <= 400 else 1.6
        axes.plot(*projected[near, :2].T, linestyle="", marker="o", markersize=size, color=colour, mew=0, zorder=3)
        axes.plot(*projected[~near, :2].T, linestyle="", marker="o", markersize=size, color=colour, mew=0, alpha=0.25)
    else:
        _draw(axes, camera, points, colour, 1.5 if n < 3000 else 1.0, 0.3, 3.0)
    _ends(axes, (directions[[0, -1]] @ camera.T)[:, :2])
    _enlarged_inset(axes, camera, directions, colour)


def _ends(axes: Any, ends: Any) -> None:
    """Mark start and end, with labels that overlap neither the points nor each other."""
    same = float(np.linalg.norm(ends[0] - ends[1])) < 0.02
    axes.plot(*ends[0], marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.4, markersize=7, zorder=6)
    axes.plot(*ends[1], marker="o", color=INK, markersize=4.0 if same else 6.0, zorder=7)
    words = ["start, end"] if same else ["start", "end"]
    first_above = ends[0][1] >= ends[1][1]
    for k, word in enumerate(words):
        above = first_above if k == 0 else not first_above
        axes.annotate(
            word, ends[k], (7, 7 if above else -7), textcoords="offset points", fontsize=8.5, color=INK,
            va="bottom" if above else "top", zorder=8,
            bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
        )  # fmt: skip


def inverse_inertia(momentum: Any, velocity: Any) -> Any:
    """Symmetric matrix J with ``velocity = J momentum``, fitted to rows of both; None if they do not determine it."""
    moving = np.isfinite(momentum).all(axis=1)
    m, w = momentum[moving], velocity[moving]
    if len(m) > 2000:
        chosen = scattered(len(m), 2000)
        m, w = m[chosen], w[chosen]
    if len(m) < 3:
        return None
    singular = np.linalg.svd(m, compute_uv=False)
    if singular[0] == 0.0 or singular[2] < 1e-5 * singular[0]:
        return None
    J = np.linalg.lstsq(m, w, rcond=None)[0]
    return 0.5 * (J + J.T)


def level_curves(J: Any, levels: int = 3) -> list[Any]:
    """Curves of constant kinetic energy on the unit sphere of momentum directions: ``n . J n`` constant.

    Parameters
    ----------
    J : array (3, 3)
        Inverse inertia, body frame.
    levels : int
        Number of energy levels between each extreme and the separatrix.

    Returns
    -------
    list of array (k, 3)
        Closed curves; the separatrix comes first where the three moments differ.
    """
    values, axes = np.linalg.eigh(J)
    low, mid, high = values
    if high - low <= 1e-6 * abs(high):
        return []
    u = np.linspace(0.0, 2 * np.pi, 181)
    curves = []
    fractions = [(k / (levels + 1)) ** 2 for k in range(1, levels + 1)]
    split = mid - low > 1e-6 * high and high - mid > 1e-6 * high
    for pole in (0, 2):
        gap = mid - values[pole]
        if abs(gap) <= 1e-6 * abs(high):
            continue
        first, second = [k for k in range(3) if k != pole]
        for fraction in [*([1.0] if split and pole == 0 else []), *fractions]:
            reach = fraction * gap
            point = np.zeros((len(u), 3))
            point[:, first] = np.sqrt(reach / (values[first] - values[pole])) * np.cos(u)
            point[:, second] = np.sqrt(reach / (values[second] - values[pole])) * np.sin(u)
            rest = np.sqrt(np.maximum(0.0, 1.0 - point[:, first] ** 2 - point[:, second] ** 2))
            for sign in (1.0, -1.0):
                point[:, pole] = sign * rest
                curves.append(point @ axes.T)
    return curves


def _directions(vectors: Any) -> Any:
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    usable = np.isfinite(length) & (length > 0.0)
    return vectors[usable] / length[usable, None]


def _polhode(axes: Any, ds: xr.Dataset) -> None:
    """Plot the direction of the angular momentum in the body frame."""
    m = _in_order(ds, "angular_momentum")
    directions = _directions(m)
    title = f"Polhode: angular momentum, body frame{_whose(ds)}"
    if not len(directions):
        _sphere(axes, _camera(np.array([[1.0, 0.5, 0.5]])), "xyz")
        axes.text(0.0, 0.0, "no angular momentum", ha="center", va="center", fontsize=9.5, color=GREY)
    else:
        camera = _camera(directions[scattered(len(directions))])
        _sphere(axes, camera, "xyz")
        J = inverse_inertia(m, _in_order(ds, "angular_velocity"))
        for curve in [] if J is None else level_curves(J):
            _draw(axes, camera, curve, "#b5bccb", 0.8, 0.3, 1.8)
        _curve(axes, camera, directions, BLUE)
        if J is not None:
            axes.text(0.0, -1.2, "grey: equal kinetic energy", ha="center", va="center", fontsize=8.5, color="#6a6a6a")
    axes.set_title(title)


def _in_order(ds: xr.Dataset, name: str) -> Any:
    """Rows of the first body, in the order of the run."""
    values = _rows(ds, name)
    return values[::-1] if _backwards(ds) else values


def _axis_in_space(axes: Any, ds: xr.Dataset) -> None:
    """Plot the path of the body's z axis in space."""
    w, x, y, z = _in_order(ds, "attitude").T
    tips = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z])
    directions = _directions(tips)
    camera = _camera(directions[scattered(len(directions))])
    _sphere(axes, camera, "XYZ")
    _curve(axes, camera, directions, VERMILION)
    axes.set_title(f"Path of the body's z axis in space{_whose(ds)}")


# ------------------------------------------------------------------ translation
def _orbit(figure: Any, box: tuple[float, float, float, float], ds: xr.Dataset) -> None:
    """Plot the path in space, with equal scales where the ranges allow."""
    axes = figure.add_axes(box, projection="3d")
    r = _in_order(ds, "position")
    r = r[np.isfinite(r).all(axis=1)]
    low, high = r.min(axis=0), r.max(axis=0)
    reach = float((high - low).max()) or float(np.abs(r[0]).max()) or 1.0
    chosen = scattered(len(r))
    points = r[chosen]
    if not _joined(points, len(r), reach):
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
    axes.plot(*r[:1].T, marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.4, markersize=7)
    axes.plot(*r[-1:].T, marker="o", color=INK, markersize=5)
    axes.text(*r[0], "  start", fontsize=8.5)
    if float(np.linalg.norm(r[0] - r[-1])) > 0.03 * reach:
        axes.text(*r[-1], "  end", fontsize=8.5)
    units = ds["position"].attrs.get("units", "")
    figure.text(
        box[0], box[1] + box[3] + 0.008, style.with_units(f"Orbit in space{_whose(ds)}", units),
        fontsize=10.5, fontweight="bold", va="bottom",
    )  # fmt: skip


def _phase(axes: Any, ds: xr.Dataset) -> None:
    """Plot momentum against position, for the component with the largest range."""
    r, p = _in_order(ds, "position"), _in_order(ds, "momentum")
    k = int(np.argmax(np.ptp(np.nan_to_num(r), axis=0)))
    name = "xyz"[k]
    chosen = scattered(len(r))
    x, y = r[:, k], p[:, k]
    spread_x, spread_y = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    if not _joined(np.column_stack([x[chosen] / spread_x, y[chosen] / spread_y]), len(r), 1.0):
        axes.plot(x[chosen], y[chosen], linestyle="", marker="o", color=VERMILION, mew=0,
                  markersize=4.0 if len(r) <= 400 else 1.6)  # fmt: skip
    else:
        axes.plot(x[chosen], y[chosen], color=VERMILION, linewidth=1.0)
    axes.plot(x[:1], y[:1], marker="o", color="white", markeredgecolor=INK, markeredgewidth=1.4, markersize=7)
    axes.plot(x[-1:], y[-1:], marker="o", color=INK, markersize=5)
    axes.locator_params(nbins=6)
    axes.set_title(f"Phase plane of {name}{_whose(ds)}")
    axes.set_xlabel(style.with_units(f"position {name}", ds["position"].attrs.get("units", "")))
    axes.set_ylabel(style.with_units(f"momentum {name}", ds["momentum"].attrs.get("units", "")))
