"""Panels along time that are seen from the orbit: LVLH angles, pointing, spin, attitude energy, altitude, elements."""

from __future__ import annotations

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.plots.axes import curves, time_axis, title
from polhode.plots.shown import Shown, in_units
from polhode.plots.style import BLUE, COLOURS, GREEN, INK, PURPLE, VERMILION, Axes
from polhode.plots.time_panels import XYZ, gaps_between
from polhode.trajectory import frames
from polhode.trajectory.frames import relative_motion, where_known
from polhode.trajectory.schema import labels_of

ANGLES = (("roll", BLUE), ("pitch", VERMILION), ("yaw", GREEN))
NAMED = {
    "semi_major_axis": "Semi-major axis", "eccentricity": "Eccentricity", "inclination": "Inclination",
    "node": "Longitude of the node", "argument_of_periapsis": "Argument of periapsis",
}  # fmt: skip
NEARLY = 2e-5
"""Elements that vary by less than this part are drawn as changes from the start."""


def draw_lvlh(axes: Axes, shown: Shown) -> None:
    """Plot roll, pitch and yaw relative to LVLH."""
    angles = shown.derived(shown.lvlh["roll_pitch_yaw"])
    relative = shown.derived(shown.lvlh["attitude_in_lvlh"])
    if angles.ndim == 3:
        angles, relative = angles[:, 0], relative[:, 0]
    note = curves(axes, shown, angles, ANGLES, "rad", times=shown.thin.times, gaps=gaps_between(relative), turns=True)
    title(axes, f"LVLH angles: attitude relative to the orbit{shown.of_body}", note)


def draw_angles(toward: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot the angles of the body's axes to a direction."""
    found = [shown.derived(frames.pointing_error(shown.thin.ds, axis, toward)) for axis in np.eye(3)]
    angles = np.column_stack([values if values.ndim == 1 else values[:, 0] for values in found])
    gaps = gaps_between(shown.thin.values("attitude"))
    note = curves(axes, shown, angles, XYZ, "rad", times=shown.thin.times, gaps=gaps, whole=toward == "sun")
    title(axes, f"Angle of each body axis to {words}{shown.of_body}", note)


def draw_each(name: str, words: str, axes: Axes, shown: Shown) -> None:
    """Plot what a variable has of each wheel, torquer, gimbal or thruster."""
    labels = [(told, COLOURS[k % len(COLOURS)]) for k, told in enumerate(labels_of(shown.ds[name]))]
    note = curves(axes, shown, shown.values(name), labels, shown.units(name), whole=True)
    title(axes, words, note)


def draw_spin(axes: Axes, shown: Shown) -> None:
    """Plot the angular momentum of the rotation alone, about the centre of mass, in space."""
    if "spin" in shown:
        values = shown.values("spin")
    else:
        values = where_known(rotation.rotate, shown.values("attitude"), shown.values("angular_momentum"))
    size = np.linalg.norm(values, axis=1)
    labels = (*XYZ, ("size", INK))
    note = curves(axes, shown, np.column_stack([values, size]), labels, shown.units("angular_momentum"), whole=True)
    title(axes, f"Spin: angular momentum about the centre of mass{shown.of_body}", note)


def draw_attitude_energy(axes: Axes, shown: Shown) -> None:
    """Plot the energy of rotation and gravity gradient, apart from that of the orbit."""
    if "attitude_energy" in shown:
        values, words = shown.values("attitude_energy"), "Attitude energy: rotation and gravity gradient"
        units = shown.units("attitude_energy")
    else:
        values = 0.5 * np.einsum("ij,ij->i", shown.values("angular_momentum"), shown.values("angular_velocity"))
        words, units = "Energy of rotation", shown.units("kinetic_energy")
    note = curves(axes, shown, values[:, None], (("", PURPLE),), units, whole=True)
    title(axes, words + shown.of_body, note)


def draw_altitude(axes: Axes, shown: Shown) -> None:
    """Plot the height above the central body."""
    r = shown.values("position")
    known = shown.centre
    assert known is not None and known.radius is not None
    height = np.sqrt(np.einsum("ij,ij->i", r, r)) - known.radius
    factor, unit = in_units(shown.units("position"), known.radius)
    height, words, notes = _changes(height, "Altitude", shown.units("position"))
    note = curves(axes, shown, height[:, None], (("", BLUE),), shown.units("position"), whole=True)
    notes += [note] if note else []
    notes += [f"above {known.radius * factor:,.6g} {unit}".strip()]
    title(axes, words + shown.of_body, "; ".join(notes))


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
    note = curves(axes, shown, d, labels, shown.units("position"), times=shown.thin.times, whole=len(chosen) > 1)
    title(axes, f"Distance from {about}", note)


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
    note = curves(axes, shown, values, labels, shown.units("position"), times=shown.thin.times, whole=True)
    title(axes, words, note)


def draw_relative_attitude(axes: Axes, shown: Shown) -> None:
    """Plot the angle between the attitudes of each two bodies that act on each other."""
    pairs = shown.turning_pairs[:MOST]
    angles = np.column_stack([shown.derived(shown.between(pair)["angle"]) for pair in pairs])
    labels = _pairs(shown, pairs) if len(pairs) > 1 else [("", BLUE)]
    words = (
        f"attitudes of {_pair(shown, pairs[0])}" if len(pairs) == 1 else "attitudes of bodies that act on each other"
    )
    note = curves(axes, shown, angles, labels, "rad", times=shown.thin.times, whole=True)
    title(axes, f"Angle between the {words}", note)


def _pair(shown: Shown, pair: tuple[int, int], words: str = " and ", turned: bool = False) -> str:
    first, second = (shown.names[k] for k in pair)
    return f"{second}{words}{first}" if turned else f"{first}{words}{second}"


def _pairs(shown: Shown, pairs: list[tuple[int, int]]) -> list[tuple[str, str]]:
    return [(_pair(shown, pair, "\N{EN DASH}"), COLOURS[k % len(COLOURS)]) for k, pair in enumerate(pairs)]


ROUND = 1e-12
"""Eccentricities below are those of circles."""


def draw_element(name: str, axes: Axes, shown: Shown) -> None:
    """Plot one element of the osculating orbits of all bodies."""
    found = shown.elements[name]
    values = shown.derived(found)
    values = values if values.ndim == 2 else values[:, None]
    central = heaviest(shown)
    chosen = [k for k in range(min(values.shape[1], MOST)) if k != central]
    values, units = values[:, chosen], str(found.attrs["units"])
    if units == "rad":
        values = _unwrapped(values)
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
    note = curves(axes, shown, values, names_of(shown, central), units, times=shown.thin.times, whole=True)
    title(axes, words, "; ".join(part for part in (*notes, note) if part))


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


def _unwrapped(angles: Array) -> Array:
    """Angles along the rows without jumps by a turn."""
    out = angles.copy()
    for k in range(angles.shape[1]):
        known = np.isfinite(angles[:, k])
        out[known, k] = np.unwrap(angles[known, k])
    return out
