"""The dashboard of a run: errors of the conserved quantities, the attitude, and the polhode on its sphere."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

from polhode.errors import InvalidInput
from polhode.plots import style
from polhode.plots.molecules import draw_bodies, draw_distances
from polhode.plots.orbit_panels import draw_orbit, draw_phase
from polhode.plots.sphere_panels import draw_axis_in_space, draw_polhode
from polhode.plots.style import VERMILION
from polhode.plots.time_panels import draw_energy, draw_momenta, draw_motion
from polhode.trajectory.schema import trajectory

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


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
        draw_energy(figure.add_subplot(left[0]), ds)
        draw_momenta(figure.add_subplot(left[1]), ds)
        draw_motion(figure.add_subplot(left[2]), ds)
        boxes = [(0.635, 0.465, 0.35, 0.4), (0.635, 0.02, 0.35, 0.4)]
        molecules = "temperature" in ds
        if molecules:
            draw_bodies(figure.add_axes((0.6, 0.42, 0.38, 0.42), projection="3d"), ds)
            draw_distances(figure.add_axes((0.66, 0.065, 0.315, 0.27)), ds)
        elif "attitude" in ds:
            draw_polhode(figure.add_axes(boxes[0]), ds)
        if "position" in ds and not molecules:
            box = boxes[1] if "attitude" in ds else boxes[0]
            draw_orbit(figure, box, ds)
        if "attitude" not in ds:
            draw_phase(figure.add_axes((0.68, 0.065, 0.29, 0.32)), ds)
        elif "position" not in ds and not molecules:
            draw_axis_in_space(figure.add_axes(boxes[1]), ds)
        if path is not None:
            style.write(figure, path)
    return figure


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
