"""Panels along time: energy, momenta, attitude, rates, tilt of an axis, position, temperatures, steps, work; and those
seen from the orbit: LVLH angles, pointing, spin, attitude energy, altitude, elements, other bodies."""

from __future__ import annotations

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Mask
from polhode.plots import style
from polhode.plots.axes import (
    add_note,
    curves,
    label,
    line,
    log_axis,
    plain_ticks,
    time_axis,
    title,
    y_ticks,
    zero_line,
)
from polhode.plots.rows import steady_angles
from polhode.plots.shown import BATH, Shown, in_units
from polhode.plots.style import BLUE, COLOURS, GREEN, GREY, INK, PURPLE, VERMILION, Axes
from polhode.trajectory import frames
from polhode.trajectory.convergence import momentum_errors
from polhode.trajectory.energies import MASSLESS
from polhode.trajectory.frames import relative_motion, where_known
from polhode.trajectory.relative import gap
from polhode.trajectory.schema import labels_of

CHARTS = ("euler_angles", "rotation_vector", "modified_rodrigues", "gibbs_rodrigues")
"""Three-number attitudes, drawn instead of the quaternion where present."""
XYZ = (("x", BLUE), ("y", VERMILION), ("z", GREEN))
"""Components and their colours."""
ENERGIES = (("kinetic", VERMILION), ("potential", BLUE))
ROUND_OFF = float(np.finfo(float).eps)
FLOOR = ROUND_OFF / 8
FAR = 1.0  # radians between the attitudes of two rows from which on they are not joined by a line


def draw_energy(axes: Axes, shown: Shown) -> None:
    """Plot the energy error over the energies so far; of a heat bath, the change of the energy with the bath's."""
    ds, times = shown.ds, shown.times
    bath = shown.bath_error is not None
    values = shown.values("energy_error") if shown.bath_error is None else shown.increasing(shown.bath_error)
    told = ds["energy_error"].attrs
    # Files of before the attribute ``scale`` have the error over |H0|, or as it is where H0 is 0.
    start = float(ds["energy"].values[0]) if "energy" in ds and "scale" not in told else 1.0
    over = "energies so far" if "scale" in told else "|H₀|"
    energy_conserved = "energy" in shown.conserved
    units = ds["energy_change"].attrs.get("units", "") if "energy_change" in ds else ""
    if bath:
        words = BATH
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
    line(axes, times, values, BLUE, linewidth=1.1 if len(values) < 3000 else 0.8)
    zero_line(axes)
    typical = float(np.median(np.abs(finite[finite != 0.0]))) if size > 0.0 else 0.0
    if size == 0.0:
        axes.set(ylim=(-ROUND_OFF, ROUND_OFF), yticks=[0.0])
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
        line(axes, times, drawn, colour)
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
    notes = ["momentum not conserved"] if "box" in shown and not momentum_errors(shown.ds) else []
    words = "Energies per body" if shown.bodies > 1 else "Kinetic and potential energy"
    curves(axes, shown, words, values, ENERGIES, shown.units("energy"), notes=notes)


def draw_angular_momentum(axes: Axes, shown: Shown) -> None:
    """Plot the angular momentum in space, of all bodies, about the origin."""
    name = "angular_momentum_space"
    kept = any(word in shown.conserved for word in (name, "total_angular_momentum"))
    notes, units = [] if kept else ["not conserved by this system"], shown.units(name)
    curves(axes, shown, "Angular momentum in space", shown.total(name), XYZ, units, notes=notes)


def gaps_between(attitudes: Array) -> Mask:
    """Between which of the attitudes (n, 4) the body turns too far for a line."""
    if len(attitudes) < 2:
        return np.zeros(0, dtype=bool)
    return ~(np.abs(np.einsum("ij,ij->i", attitudes[1:], attitudes[:-1])) > np.cos(0.5 * FAR))


def draw_attitude(axes: Axes, shown: Shown) -> None:
    """Plot the attitude: the chart that the run integrates in, else the quaternion."""
    ds = shown.ds
    chart = next((name for name in CHARTS if name in ds), None)
    if chart is None:
        values, words = shown.values("attitude"), f"Attitude quaternion, body to space{shown.of_body}"
        labels, gaps = (("w", INK), *XYZ), gaps_between(values)
        curves(axes, shown, words, values, labels, "component", gaps=gaps)
        return
    about = ds[chart].attrs
    names = tuple((str(word), colour) for word, (_, colour) in zip(ds[ds[chart].dims[-1]].values, XYZ, strict=True))
    told = ", ".join(str(about[key]) for key in ("sequence", "branch") if key in about)
    words = chart.replace("_", " ").capitalize() + (f" ({told})" if told else "") + shown.of_body
    wraps = about.get("branch") == "principal"
    curves(axes, shown, words, shown.values(chart), names, shown.units(chart), turns=wraps)


def draw_rates(axes: Axes, shown: Shown) -> None:
    """Plot the angular velocity in the body frame."""
    words, name = f"Body rates: angular velocity, body frame{shown.of_body}", "angular_velocity"
    curves(axes, shown, words, shown.values(name), XYZ, shown.units(name))


def axis_of(shown: Shown) -> Array:
    """Directions (n, 3) in space of the axis of a top, in order of increasing time: z of the body where not told."""
    q = shown.values("attitude")
    return where_known(rotation.rotate, q, np.broadcast_to(shown.axis, (len(q), 3)))


def draw_tilt(axes: Axes, shown: Shown) -> None:
    """Plot the angle between a top's axis and the vertical."""
    axis = axis_of(shown)
    tilt = np.arctan2(np.hypot(axis[:, 0], axis[:, 1]), axis[:, 2])
    words = f"Nutation: tilt of the axis from the vertical{shown.of_body}"
    curves(axes, shown, words, tilt[:, None], (("", BLUE),), "rad", gaps=_gaps_of_directions(axis))


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
        words = f"Precession: azimuth of the axis{shown.of_body}"
        curves(axes, shown, words, angle[:, None], (("", VERMILION),), "rad", gaps=gaps, turns=True)
        return
    words, turns = f"Precession: turns of the axis about the vertical{shown.of_body}", angle / (2.0 * np.pi)
    curves(axes, shown, words, turns[:, None], (("", VERMILION),), "turns")


def _gaps_of_directions(directions: Array) -> Mask:
    return ~(np.einsum("ij,ij->i", directions[1:], directions[:-1]) > np.cos(FAR))


def coordinates(shown: Shown) -> list[int]:
    """The coordinates along which a point moves or may move; all three where it rests."""
    r = shown.values("position")
    extent = np.ptp(np.where(np.isfinite(r), r, 0.0), axis=0) + np.abs(np.nan_to_num(r[0]))
    return [k for k in range(3) if extent[k] > 1e-12 * extent.max()] or [0, 1, 2]


def draw_coordinates(name: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot the components of the position or of the momentum."""
    moving = coordinates(shown)
    values, labels = shown.values(name)[:, moving], [XYZ[k] for k in moving]
    curves(axes, shown, words + shown.of_body, values, labels, shown.units(name))


def draw_temperature(axes: Axes, shown: Shown) -> None:
    """Plot the temperatures of molecules."""
    named = ("_translational", "_rotational", "")
    values = np.column_stack([shown.values(f"temperature{which}") for which in named])
    means = values[len(values) // 2 :].mean(axis=0)
    labels, units = (("translation", BLUE), ("rotation", VERMILION), ("both", INK)), shown.units("temperature")
    note = f"second half: translation {means[0]:.4g}, rotation {means[1]:.4g}"
    curves(axes, shown, "Temperatures", values, labels, units, notes=[note])


def draw_steps(axes: Axes, shown: Shown) -> None:
    """Plot the sizes of steps that a tolerance or a time transformation has chosen."""
    taken = slice(-1) if shown.backwards else slice(1, None)
    sizes, times = np.abs(shown.values("step"))[taken], shown.times[taken]
    line(axes, times, sizes, PURPLE)
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
    curves(axes, shown, words, shown.values("work"), labels, shown.units("work"))
    zero_line(axes)


# ------------------------------------------------------------------ seen from the orbit
NAMED = {
    "semi_major_axis": "Semi-major axis", "eccentricity": "Eccentricity", "inclination": "Inclination",
    "node": "Longitude of the node", "argument_of_periapsis": "Argument of periapsis",
}  # fmt: skip
NEARLY = 2e-5  # elements that vary by less than this part are drawn as changes from the start


def draw_lvlh(axes: Axes, shown: Shown) -> None:
    """Plot roll, pitch and yaw relative to LVLH, or what does not jump."""
    relative = shown.derived(shown.lvlh["attitude_in_lvlh"])
    relative = relative[:, 0] if relative.ndim == 3 else relative
    names, angles, note = steady_angles(relative)
    labels = tuple(zip(names, (BLUE, VERMILION, GREEN), strict=True))
    words, gaps = f"LVLH angles: attitude relative to the orbit{shown.of_body}", gaps_between(relative)
    curves(axes, shown, words, angles, labels, "rad", gaps=gaps, turns=names[0] == "roll", notes=[note])


def draw_angles(toward: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot the angles of the body's axes to a direction."""
    found = [shown.derived(frames.pointing_error(shown.thin.ds, axis, toward)) for axis in np.eye(3)]
    angles = np.column_stack([values if values.ndim == 1 else values[:, 0] for values in found])
    gaps, words = gaps_between(shown.thin.values("attitude")), f"Angle of each body axis to {words}{shown.of_body}"
    curves(axes, shown, words, angles, XYZ, "rad", gaps=gaps)


def draw_each(name: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot what a variable has of each wheel, torquer, gimbal or thruster."""
    labels = [(told, COLOURS[k % len(COLOURS)]) for k, told in enumerate(labels_of(shown.ds[name]))]
    curves(axes, shown, words, shown.values(name), labels, shown.units(name))


def draw_spin(axes: Axes, shown: Shown) -> None:
    """Plot the angular momentum of the rotation alone, about the centre of mass, in space."""
    if "spin" in shown:
        values = shown.values("spin")
    else:
        values = where_known(rotation.rotate, shown.values("attitude"), shown.values("angular_momentum"))
    values = np.column_stack([values, np.linalg.norm(values, axis=1)])
    words, labels = f"Spin about the centre of mass{shown.of_body}", (*XYZ, ("size", INK))
    curves(axes, shown, words, values, labels, shown.units("angular_momentum"))


def draw_attitude_energy(axes: Axes, shown: Shown) -> None:
    """Plot the energy of rotation and gravity gradient, apart from that of the orbit."""
    if "attitude_energy" in shown:
        values, words = shown.values("attitude_energy"), "Attitude energy: rotation and gravity gradient"
        units = shown.units("attitude_energy")
    else:
        values = 0.5 * np.einsum("ij,ij->i", shown.values("angular_momentum"), shown.values("angular_velocity"))
        words, units = "Energy of rotation", shown.units("kinetic_energy")
    curves(axes, shown, words + shown.of_body, values[:, None], (("", PURPLE),), units)


def draw_altitude(axes: Axes, shown: Shown) -> None:
    """Plot the height above the central body."""
    r = shown.values("position")
    known = shown.centre
    assert known is not None and known.radius is not None
    height = np.sqrt(np.einsum("ij,ij->i", r, r)) - known.radius
    factor, unit = in_units(shown.units("position"), known.radius)
    height, words, notes = _changes(height, "Altitude", shown.units("position"))
    units, words = shown.units("position"), words + shown.of_body
    curves(axes, shown, words, height[:, None], (("", BLUE),), units, notes=notes)
    add_note(axes, f"above {known.radius * factor:,.6g} {unit}".strip())


def _changes(values: Array, words: str, units: str) -> tuple[Array, str, list[str]]:
    """Values that hardly vary as changes from their start, the title, and a note with the start."""
    finite = values[np.isfinite(values)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    if units in ("", "1") or not 1e-12 * size < (float(np.ptp(finite)) if finite.size else 0.0) < NEARLY * size:
        return values, words, []
    start = float(finite[0])
    factor, unit = in_units(units, abs(start))
    return values - start, f"{words}: change from the start", [f"start {start * factor:.8g} {unit}".strip()]


def names_of(shown: Shown, without: int | None = None) -> list[tuple[str, str]]:
    """Labels and colours of several bodies; of one, no label."""
    if shown.bodies == 1:
        return [("", BLUE)]
    return [(shown.names[k], COLOURS[k % len(COLOURS)]) for k in range(min(shown.bodies, MOST)) if k != without]


MOST = 12
"""Most bodies drawn in one panel."""


def heaviest(shown: Shown) -> int | None:
    """The body that others orbit, if there is one."""
    return int(np.argmax(shown.pulling)) if shown.pulling is not None and shown.dominated else None


def draw_distance(axes: Axes, shown: Shown) -> None:
    """Plot the distance from the centre, from the heaviest body, or from the centre of mass."""
    central = heaviest(shown)
    if shown.pulling is None:
        r, about = shown.thin.all_bodies("position"), "the centre" if shown.centre is not None else "the origin"
    else:
        about = "the centre of mass" if central is None else f"{shown.names[central]}, the heaviest"
        r = shown.increasing(relative_motion(shown.thin.ds, "barycentre" if central is None else None)[0])
    labels = names_of(shown, central)
    chosen = [k for k in range(min(r.shape[1], MOST)) if k != central]
    d = np.sqrt(np.einsum("...i,...i->...", r[:, chosen], r[:, chosen]))
    curves(axes, shown, f"Distance from {about}", d, labels, shown.units("position"))


def draw_relative_position(axes: Axes, shown: Shown) -> None:
    """Plot where the second of two bodies is as seen from the first; of several pairs the distances."""
    pairs = shown.pairs[:MOST]
    found = [shown.between(pair) for pair in pairs]
    values = np.column_stack([shown.derived(one["distance"]) for one in found])
    if len(pairs) == 1:
        values = np.column_stack([shown.derived(found[0]["position"]), values])
        where = "in space" if shown.centre is None else "in its LVLH"
        labels, words = [*XYZ, ("distance", INK)], f"{_pair(shown, pairs[0], ' as seen from ', True)}, {where}"
    else:
        labels, words = _pairs(shown, pairs), "Distances of bodies that act on each other"
    curves(axes, shown, words, values, labels, shown.units("position"))


def draw_relative_attitude(axes: Axes, shown: Shown) -> None:
    """Plot the angle between the attitudes of each two bodies that act on each other."""
    pairs = shown.turning_pairs[:MOST]
    angles = np.column_stack([shown.derived(shown.between(pair)["angle"]) for pair in pairs])
    labels = _pairs(shown, pairs) if len(pairs) > 1 else [("", BLUE)]
    words = (
        f"attitudes of {_pair(shown, pairs[0])}" if len(pairs) == 1 else "attitudes of bodies that act on each other"
    )
    curves(axes, shown, f"Angle between the {words}", angles, labels, "rad")


def draw_joints(axes: Axes, shown: Shown) -> None:
    """Plot how far the joints are open, on a logarithmic scale."""
    joints = shown.fastenings
    values = np.column_stack([shown.increasing(gap(shown.thin.ds, one)) for one in joints])
    known = values[np.isfinite(values)]
    largest, places = float(known.max(initial=0.0)), shown.values("position")
    floor = FLOOR * (float(np.abs(places[np.isfinite(places)]).max(initial=0.0)) or 1.0)
    for k in np.argsort(-np.nan_to_num(values).max(axis=0, initial=0.0))[:MOST][::-1]:
        line(axes, shown.thin.times, np.maximum(values[:, k], floor), COLOURS[k % len(COLOURS)])
    log_axis(axes)
    axes.set_ylim(floor / 2, max(160 * floor, 5 * largest))
    title(axes, "How far joints are open", f"largest {style.scientific(largest)}" if largest else "exactly closed")
    axes.set_ylabel(shown.units("position"))
    time_axis(axes, shown, shown.thin.times)
    style.label_ends(axes, [(max(float(values[-1, k]), floor), one.name, COLOURS[k % len(COLOURS)])
                            for k, one in enumerate(joints[:MOST])])  # fmt: skip


def _pair(shown: Shown, pair: tuple[int, int], words: str = " and ", turned: bool = False) -> str:
    first, second = (shown.names[k] for k in pair)
    return f"{second}{words}{first}" if turned else f"{first}{words}{second}"


def _pairs(shown: Shown, pairs: list[tuple[int, int]]) -> list[tuple[str, str]]:
    return [(_pair(shown, pair, "\N{EN DASH}"), COLOURS[k % len(COLOURS)]) for k, pair in enumerate(pairs)]


ROUND = 1e-12  # eccentricities below are those of circles


def draw_element(name: str, axes: Axes, shown: Shown) -> None:
    """Plot one element of the osculating orbits of all bodies."""
    found = shown.elements[name]
    values = shown.derived(found)
    values = values if values.ndim == 2 else values[:, None]
    central = heaviest(shown)
    chosen = [k for k in range(min(values.shape[1], MOST)) if k != central]
    values, units = values[:, chosen], str(found.attrs["units"])
    if units == "rad":
        values = values.copy()
        for k in range(values.shape[1]):  # without jumps by a turn
            known = np.isfinite(values[:, k])
            values[known, k] = np.unwrap(values[known, k])
    if name == "eccentricity":
        values = np.where(values < ROUND, 0.0, values)
    words, notes = NAMED[name], list[str]()
    undefined = _undefined(shown, name, chosen)
    if undefined:
        axes.text(0.5, 0.5, undefined, transform=axes.transAxes, ha="center", va="center", color="#5a5a5a")
        axes.set_yticks([])
        time_axis(axes, shown, shown.times)
        title(axes, words)
        return
    if len(chosen) == 1:
        values, words, notes = _changes(values, words, units)
    curves(axes, shown, words, values, names_of(shown, central), units, notes=notes)


def _undefined(shown: Shown, name: str, chosen: list[int]) -> str:
    """Why an angle of one orbit means nothing, or ""."""
    if len(chosen) != 1 or name not in ("node", "argument_of_periapsis"):
        return ""
    tilt, e = (
        np.nan_to_num(shown.derived(shown.elements[word]).reshape(-1)) for word in ("inclination", "eccentricity")
    )
    if float(np.sin(tilt).max(initial=0.0)) < 1e-9 and name == "node":
        return "the orbit lies in the plane z = 0 and has no node"
    return "the orbit is a circle" if name == "argument_of_periapsis" and float(e.min(initial=1.0)) < 1e-7 else ""
