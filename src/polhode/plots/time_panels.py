"""Panels along time of any run: energy, momenta, attitude, rates, tilt of an axis, position, steps, work."""

from __future__ import annotations

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Mask
from polhode.plots import style
from polhode.plots.axes import curves, label, line, log_axis, plain_ticks, time_axis, title, y_ticks, zero_line
from polhode.plots.molecules import draw_temperatures
from polhode.plots.rows import BINS, band, extremes
from polhode.plots.shown import Shown
from polhode.plots.style import BLUE, COLOURS, GREEN, GREY, INK, PURPLE, VERMILION, Axes
from polhode.trajectory.convergence import momentum_errors
from polhode.trajectory.energies import MASSLESS
from polhode.trajectory.frames import where_known

CHARTS = ("euler_angles", "rotation_vector", "modified_rodrigues", "gibbs_rodrigues")
"""Three-number attitudes, drawn instead of the quaternion where present."""
XYZ = (("x", BLUE), ("y", VERMILION), ("z", GREEN))
"""Components and their colours."""
ENERGIES = (("kinetic", VERMILION), ("potential", BLUE))
ROUND_OFF = float(np.finfo(float).eps)
FLOOR = ROUND_OFF / 8
FAR = 1.0
"""Radians between the attitudes of two rows from which on they are not joined by a line."""


def draw_energy(axes: Axes, shown: Shown) -> None:
    """Plot the energy error over the energies so far; of a thermostat, the change of the energy with the bath's."""
    ds, times = shown.ds, shown.times
    values = shown.values("energy_error")
    told = ds["energy_error"].attrs
    # Files of before the attribute ``scale`` have the error over |H0|, or as it is where H0 is 0.
    start = float(ds["energy"].values[0]) if "energy" in ds and "scale" not in told else 1.0
    over = "energies so far" if "scale" in told else "|H₀|"
    bath = "conserved_energy" in ds
    if bath:
        values = shown.values("conserved_energy") - float(ds["conserved_energy"].values[0])
        values = values / (float(ds["kinetic_energy"].mean()) or 1.0)
    energy_conserved = "energy" in shown.conserved
    units = ds["energy_change"].attrs.get("units", "") if "energy_change" in ds else ""
    if bath:
        words = "Energy with the bath's: change / kinetic energy"
    elif "work" in ds:
        less = "Energy change less work"
        words = style.with_units(less, units) if start == 0.0 else f"{less} / {over}"
    elif start == 0.0:
        words = style.with_units("Energy change, H − H₀", units)
    else:
        words = f"Energy {'error' if energy_conserved else 'change'}, (H − H₀) / {over}"
    finite = values[np.isfinite(values)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    notes = [] if energy_conserved or "work" in ds else ["not conserved"]
    note = str(told.get("note", ""))
    if MASSLESS in note:
        notes = [] if bath else ["says nothing of bodies without mass"]
    elif note:
        notes = [] if bath else ["kinetic energy only" if note.startswith("kinetic") else "some work is not recorded"]
    notes.append("exactly zero" if size == 0.0 else f"largest {style.scientific(size)}")
    chosen = extremes(values)
    line(axes, times[chosen], values[chosen], BLUE, len(values), linewidth=1.1 if len(values) < 3000 else 0.8)
    zero_line(axes)
    typical = float(np.median(np.abs(finite[finite != 0.0]))) if size > 0.0 else 0.0
    if size == 0.0:
        axes.set_ylim(-ROUND_OFF, ROUND_OFF)
        axes.set_yticks([0.0])
    elif size > 1e4 * typical:
        axes.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(typical)))
    elif not 1e-2 <= size < 1e4:
        axes.yaxis.set_major_formatter(lambda value, _: style.scientific(value, 3))
    y_ticks(axes)
    title(axes, words, "; ".join(notes))
    time_axis(axes, shown, times)


SHORT = {
    "angular_momentum_space": "spatial", "vertical_angular_momentum": "vertical", "axial_angular_momentum": "axial",
    "momentum": "linear", "total_momentum": "total linear", "total_angular_momentum": "total spatial",
}  # fmt: skip
"""Short names of the conserved momenta."""


_MOMENTUM_COLOURS = {
    "spatial": BLUE, "vertical": GREEN, "axial": VERMILION, "linear": PURPLE, "total linear": PURPLE,
    "total spatial": BLUE,
}  # fmt: skip


def draw_momenta(axes: Axes, shown: Shown) -> None:
    """Plot the errors of the conserved momenta; of a system that conserves none, the angular momentum itself."""
    ds, times = shown.ds, shown.times
    found = momentum_errors(ds)
    errors = {short: found[name] for name, short in SHORT.items() if name in found}
    if not errors:
        (draw_energies if "box" in ds and "potential_energy" in ds else draw_angular_momentum)(axes, shown)
        return
    relative = all(flag for _, flag in errors.values())
    finite_errors = np.concatenate([error[np.isfinite(error)] for error, _ in errors.values()])
    largest = float(finite_errors.max()) if finite_errors.size else 0.0
    usual = float(np.quantile(finite_errors[finite_errors > 0.0], 0.02)) if largest > 0.0 else 0.0
    floor = usual / 10 if usual > 1e4 * ROUND_OFF else FLOOR
    ends = [] if floor > ROUND_OFF else [(ROUND_OFF, "round-off", GREY)]
    for name, (error, _) in errors.items():
        colour = _MOMENTUM_COLOURS[name]
        drawn = np.maximum(shown.increasing(error), floor)
        if len(drawn) > BINS:
            centre, low, high = band(times, drawn, BINS // 2)
            axes.fill_between(centre, low, high, color=colour, alpha=0.22, linewidth=0)
            axes.plot(centre, high, color=colour, linewidth=1.1)
        else:
            line(axes, times, drawn, colour, len(times))
        tail = drawn[-max(1, len(drawn) // 20) :]
        ends.append((float(np.nanmax(tail)) if np.isfinite(tail).any() else floor, name, colour))
    log_axis(axes)
    axes.set_ylim(floor / 2, max(20 * ROUND_OFF, 5 * largest))
    axes.axhline(ROUND_OFF, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    linear = "linear" in next(iter(errors))
    only = next(iter(errors)) + (" momentum" if linear else " angular momentum")
    words = "Error of the conserved momenta" if len(errors) > 1 else f"Error of the {only}"
    title(axes, words, "exactly zero" if largest == 0.0 else f"largest {style.scientific(largest)}")
    axes.set_ylabel("relative to start" if relative else "change (initial size is 0)")
    time_axis(axes, shown, times)
    style.label_ends(axes, ends)


def draw_energies(axes: Axes, shown: Shown) -> None:
    """Plot kinetic and potential energy, per body where there are several."""
    values = np.column_stack([shown.values(f"{name}_energy") for name, _ in ENERGIES]) / shown.bodies
    note = curves(axes, shown, values, ENERGIES, shown.units("energy"), whole=True)
    unconserved = "box" in shown and not momentum_errors(shown.ds)
    title(axes, "Energies per body" if shown.bodies > 1 else "Kinetic and potential energy",
          "; ".join(part for part in ("momentum not conserved" if unconserved else "", note) if part))  # fmt: skip


def draw_angular_momentum(axes: Axes, shown: Shown) -> None:
    """Plot the angular momentum in space, of all bodies, about the origin."""
    name = "angular_momentum_space"
    kept = any(word in shown.conserved for word in (name, "total_angular_momentum"))
    note = curves(axes, shown, shown.total(name), XYZ, shown.units(name), whole=True)
    notes = [*([] if kept else ["not conserved by this system"]), *([note] if note else [])]
    title(axes, "Angular momentum in space", "; ".join(notes))


def gaps_between(attitudes: Array) -> Mask:
    """Between which of the attitudes (n, 4) the body turns too far for a line."""
    if len(attitudes) < 2:
        return np.zeros(0, dtype=bool)
    alike = np.abs(np.einsum("ij,ij->i", attitudes[1:], attitudes[:-1]))
    return ~(alike > np.cos(0.5 * FAR))


def draw_attitude(axes: Axes, shown: Shown) -> None:
    """Plot the attitude: the chart that the run integrates in, else the quaternion."""
    ds = shown.ds
    chart = next((name for name in CHARTS if name in ds), None)
    if chart is None:
        values = shown.values("attitude")
        note = curves(
            axes, shown, values, (("w", INK), *XYZ), "component", limit=1.08, gaps=gaps_between(values),
        )  # fmt: skip
        title(axes, f"Attitude quaternion, body to space{shown.of_body}", note)
        return
    about = ds[chart].attrs
    names = tuple((str(word), colour) for word, (_, colour) in zip(ds[ds[chart].dims[-1]].values, XYZ, strict=True))
    note = curves(axes, shown, shown.values(chart), names, shown.units(chart))
    words = ", ".join(str(about[key]) for key in ("sequence", "branch") if key in about)
    title(axes, chart.replace("_", " ").capitalize() + (f" ({words})" if words else "") + shown.of_body, note)


def draw_rates(axes: Axes, shown: Shown) -> None:
    """Plot the angular velocity in the body frame."""
    note = curves(axes, shown, shown.values("angular_velocity"), XYZ, shown.units("angular_velocity"))
    title(axes, f"Body rates: angular velocity, body frame{shown.of_body}", note)


def axis_of(shown: Shown) -> Array:
    """Directions (n, 3) in space of the axis of a top, in order of increasing time: z of the body where not told."""
    q = shown.values("attitude")
    return where_known(rotation.rotate, q, np.broadcast_to(shown.axis, (len(q), 3)))


def draw_tilt(axes: Axes, shown: Shown) -> None:
    """Plot the angle between a top's axis and the vertical."""
    axis = axis_of(shown)
    tilt = np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])
    note = curves(axes, shown, tilt[:, None], (("", BLUE),), "rad", gaps=_gaps_of_directions(axis))
    title(axes, f"Nutation: tilt of the axis from the vertical{shown.of_body}", note)


def draw_precession(axes: Axes, shown: Shown) -> None:
    """Plot the turns of a top's axis about the vertical, counted on."""
    axis = axis_of(shown)
    angle = np.arctan2(axis[:, 1], axis[:, 0])
    known = np.isfinite(angle)
    if known.any():
        angle[known] = np.unwrap(angle[known]) - angle[known][0]
    gaps = _gaps_of_directions(axis)
    steps = np.abs(np.diff(angle))
    if gaps.any() or (steps[np.isfinite(steps)] > 2.0).any():
        angle = np.arctan2(axis[:, 1], axis[:, 0])
        gaps = gaps | (np.abs(np.sin(0.5 * np.diff(angle))) > np.sin(0.5 * FAR))
        note = curves(axes, shown, angle[:, None], (("", VERMILION),), "rad", gaps=gaps, turns=True)
        title(axes, f"Precession: azimuth of the axis{shown.of_body}", note)
        return
    note = curves(axes, shown, (angle / (2.0 * np.pi))[:, None], (("", VERMILION),), "turns", whole=True)
    title(axes, f"Precession: turns of the axis about the vertical{shown.of_body}", note)


def _gaps_of_directions(directions: Array) -> Mask:
    return ~(np.einsum("ij,ij->i", directions[1:], directions[:-1]) > np.cos(FAR))


def coordinates(shown: Shown) -> list[int]:
    """The coordinates along which a point moves or may move; all three where it rests."""
    r = shown.values("position")
    extent = np.ptp(np.where(np.isfinite(r), r, 0.0), axis=0) + np.abs(np.nan_to_num(r[0]))
    found = [k for k in range(3) if extent[k] > 1e-12 * extent.max()]
    return found or [0, 1, 2]


def draw_coordinates(name: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot the components of the position or of the momentum."""
    moving = coordinates(shown)
    note = curves(axes, shown, shown.values(name)[:, moving], [XYZ[k] for k in moving], shown.units(name))
    title(axes, words + shown.of_body, note)


def draw_temperature(axes: Axes, shown: Shown) -> None:
    """Plot the temperatures of molecules."""
    note = draw_temperatures(axes, shown.ds, shown.times)
    title(axes, "Temperatures", note)
    time_axis(axes, shown, shown.times)
    y_ticks(axes)
    exponent = plain_ticks(axes.yaxis, max(map(abs, axes.get_ylim())))
    axes.set_ylabel(label(shown.units("temperature"), exponent) or "temperature")


def draw_steps(axes: Axes, shown: Shown) -> None:
    """Plot the sizes of steps that a tolerance or a time transformation has chosen."""
    taken = slice(-1) if shown.backwards else slice(1, None)
    sizes, times = np.abs(shown.values("step"))[taken], shown.times[taken]
    chosen = extremes(sizes)
    line(axes, times[chosen], sizes[chosen], PURPLE, len(sizes))
    good = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    if good.size and good.max() > 30.0 * good.min():
        log_axis(axes)
        exponent = 0
    else:
        axes.set_ylim(bottom=0.0)
        y_ticks(axes)
        exponent = plain_ticks(axes.yaxis, float(good.max()) if good.size else 0.0)
    axes.set_ylabel(label(shown.units("step"), exponent) or "step")
    note = f"{style.scientific(float(good.min()))} to {style.scientific(float(good.max()))}" if good.size else ""
    title(axes, "Step at each row", note)
    time_axis(axes, shown, shown.times)


def draw_work(axes: Axes, shown: Shown) -> None:
    """Plot the work of each force since the start."""
    names = [str(word) for word in shown.ds["force"].values]
    labels = [(name, COLOURS[k % len(COLOURS)]) for k, name in enumerate(names)]
    if len(labels) == 1:
        labels, words = [("", BLUE)], f"Work of {names[0]}"
    else:
        words = "Work of the forces"
    note = curves(axes, shown, shown.values("work"), labels, shown.units("work"), whole=True)
    zero_line(axes)
    title(axes, words, note)
