"""Panels of the dashboard along time: energy, conserved momenta, attitude or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.plots import style
from polhode.plots.molecules import draw_temperatures
from polhode.plots.rows import (
    BINS,
    FEW,
    backwards,
    band,
    body_of,
    extremes,
    opening,
    rows_of,
    rows_of_total,
    times_of,
)
from polhode.plots.style import BLUE, GREEN, GREY, INK, PURPLE, VERMILION
from polhode.trajectory.convergence import momentum_errors

if TYPE_CHECKING:
    import xarray as xr

CHARTS = ("euler_angles", "rotation_vector", "modified_rodrigues", "gibbs_rodrigues")
"""Three-number attitudes, drawn instead of the quaternion where present."""
ENERGIES = ("kinetic", "potential")
ROUND_OFF = float(np.finfo(float).eps)
FLOOR = ROUND_OFF / 8


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


def draw_energy(axes: Any, ds: xr.Dataset) -> None:
    values, times = rows_of(ds, "energy_error"), times_of(ds)
    start = float(ds["energy"].values[0]) if "energy" in ds else 1.0
    bath = "conserved_energy" in ds
    if bath:
        values = rows_of(ds, "conserved_energy") - float(ds["conserved_energy"].values[0])
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


SHORT = {
    "angular_momentum_space": "spatial", "vertical_angular_momentum": "vertical", "axial_angular_momentum": "axial",
    "momentum": "linear", "total_momentum": "total linear", "total_angular_momentum": "total spatial",
}  # fmt: skip
"""Short names of the conserved momenta."""


_MOMENTUM_COLOURS = {
    "spatial": BLUE, "vertical": GREEN, "axial": VERMILION, "linear": PURPLE, "total linear": PURPLE,
    "total spatial": BLUE,
}  # fmt: skip


def draw_momenta(axes: Any, ds: xr.Dataset) -> None:
    found, times = momentum_errors(ds), times_of(ds)
    errors = {short: found[name] for name, short in SHORT.items() if name in found}
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
        error = error[::-1] if backwards(ds) else error
        colour = _MOMENTUM_COLOURS[name]
        shown = np.maximum(error, floor)
        if len(shown) > BINS:
            centre, low, high = band(times, shown, BINS // 2)
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


def _changing_momentum(axes: Any, ds: xr.Dataset, times: Any) -> None:
    """If no momentum is conserved, plot the spatial angular momentum itself, or in a periodic box the energies."""
    if "box" in ds and "potential_energy" in ds:
        values = np.column_stack([rows_of(ds, f"{name}_energy") for name in ENERGIES]) / ds.sizes.get("body", 1)
        _components(axes, ds, times, values, ENERGIES, (VERMILION, BLUE), whole=True)
        _title(axes, "Energies per body", "momentum not conserved")
        axes.set_ylabel(pretty_of(ds, "energy"))
        return
    values = rows_of_total(ds, "angular_momentum_space")
    _components(axes, ds, times, values, "xyz", (BLUE, VERMILION, GREEN), whole=True)
    _title(axes, "Angular momentum in space", "not conserved by this system")
    axes.set_ylabel(pretty_of(ds, "angular_momentum_space"))


def pretty_of(ds: xr.Dataset, name: str) -> str:
    """Units of a variable for an axis label, or its name if it has none."""
    units = ds[name].attrs.get("units", "")
    return style.pretty_units(units) if units not in ("", "1") else name.replace("_", " ")


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


def draw_motion(axes: Any, ds: xr.Dataset) -> None:
    """Plot the attitude (quaternion or chart); temperatures of molecules; position or distance of a point mass."""
    times = times_of(ds)
    chart = next((name for name in CHARTS if name in ds), None)
    if "temperature" in ds:
        note = draw_temperatures(axes, ds, times)
        axes.set_ylabel(pretty_of(ds, "temperature"))
        _title(axes, "Temperatures", note)
        _time_axis(axes, ds, times)
        return
    if chart is not None:
        values, about = rows_of(ds, chart), ds[chart].attrs
        names = tuple(map(str, ds[ds[chart].dims[-1]].values))
        rows_shown = _components(axes, ds, times, values, names, (BLUE, VERMILION, GREEN))
        words = ", ".join(str(about[key]) for key in ("sequence", "branch") if key in about)
        title = chart.replace("_", " ").capitalize() + (f" ({words})" if words else "") + body_of(ds)
        axes.set_ylabel(pretty_of(ds, chart))
    elif "attitude" in ds:
        values = rows_of(ds, "attitude")
        rows_shown = _components(axes, ds, times, values, "wxyz", (INK, BLUE, VERMILION, GREEN), limit=1.08)
        title = f"Attitude quaternion, body to space{body_of(ds)}"
        axes.set_ylabel("component")
    elif ds.attrs.get("system") == "orbit":
        values = np.linalg.norm(rows_of(ds, "position"), axis=-1, keepdims=True)
        rows_shown = _components(axes, ds, times, values, "r", (BLUE,))
        title = f"Distance from the centre{body_of(ds)}"
        axes.set_ylabel(pretty_of(ds, "position"))
    else:
        values = rows_of(ds, "position")
        rows_shown = _components(axes, ds, times, values, "xyz", (BLUE, VERMILION, GREEN))
        title = f"Position in space{body_of(ds)}"
        axes.set_ylabel(pretty_of(ds, "position"))
    note = "" if rows_shown == len(values) else f"the beginning, to t = {times[rows_shown - 1]:.3g} of {times[-1]:.6g}"
    _title(axes, title, note)
