"""What a spacecraft carries and meets: rotors in the body, arrows to the Sun and along the field, curves of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, unit_vectors
from polhode.arguments.recorded import called
from polhode.bodies.wheels import control_moment_gyros
from polhode.errors import PolhodeError
from polhode.surroundings.magnetic import field_of
from polhode.trajectory.frames import pointing_error
from polhode.trajectory.schema import labels_of
from polhode.trajectory.surroundings import place_of_sun, sun_is_far
from polhode.viewer.arrays import COARSE, DRAWN, Arrays
from polhode.viewer.recorded import Recorded

SUN, FIELD, DIPOLE = "#c9a800", "#cc79a7", "#56b4e9"
"""Colours of arrows: to the Sun, along the magnetic field, along the dipole of the torquers."""
WHEEL, GYRO = "#9467bd", "#8c564b"


def arrows(run: Recorded, arrays: Arrays) -> list[dict[str, Any]]:
    """Arrows of a spacecraft beside those of its motion, in space: the Sun, the field, the dipole of its torquers."""
    found = []

    def add(name: str, colour: str, values: Array | None) -> None:
        if values is not None and np.isfinite(values).any() and np.any(values):
            found.append({"name": name, "colour": colour, "space": arrays.short(np.nan_to_num(values), steps=DRAWN)})

    add("to the Sun", SUN, toward_sun(run))
    add("magnetic field", FIELD, magnetic_field(run))
    add("dipole of the torquers", DIPOLE, dipole(run))
    return found


def toward_sun(run: Recorded) -> Array | None:
    """Unit vectors (F, 3) to the Sun of the run, in space; None where it has none."""
    r = run.first("position")
    try:
        sun = None if r is None else place_of_sun(run.whole, run.times)
    except PolhodeError:  # an ephemeris whose file or package is not here
        return None
    if sun is None or r is None:
        return None
    away = sun if sun_is_far(run.whole) else sun - r
    return away / np.linalg.norm(away, axis=1, keepdims=True)


def magnetic_field(run: Recorded) -> Array | None:
    """The field (F, 3) that the spacecraft meets, in space; None where it meets none."""
    r, given = run.first("position"), run.arguments.get("magnetic_field")
    if r is None or not isinstance(given, dict):
        return None
    try:
        return field_of(given).at(run.times, r)
    except PolhodeError:  # coefficients whose file or package is not here
        return None


def dipole(run: Recorded) -> Array | None:
    """The dipole (F, 3) that the torquers are told to have together, in space."""
    q, given = run.first("attitude"), run.arguments.get("torquers")
    if q is None or "dipole_command" not in run.ds or not isinstance(given, dict):
        return None
    commands = np.asarray(run.ds["dipole_command"].values, dtype=float)
    most = given.get("max_dipole")
    held = commands if most is None else np.clip(commands, -np.asarray(most), np.asarray(most))
    return rotation.rotate(q, held @ unit_vectors(given["axes"], "axes"))


def carried(run: Recorded, word: str, along: str) -> list[tuple[int, Any]]:
    """Of each body with wheels or gyros its place and their arguments, in the order of the columns of a variable."""
    if along not in run.ds:
        return []
    bodies = run.of_bodies or [run.arguments]
    return [(b, one[word]) for b, one in enumerate(bodies) if isinstance(one.get(word), dict)]


def rotors(run: Recorded, arrays: Arrays, told: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The entry ``rotors`` of a run: bodies, axes in them, fixed or (F, 3), and momenta over the largest one, (F,)."""
    found: list[dict[str, Any]] = []
    unit = run.unit("angular_momentum")
    given = carried(run, "wheels", "wheel_momentum")
    axes = [(b, axis) for b, one in given for axis in unit_vectors(one["axes"], "axes")]
    if axes and run.ds["wheel_momentum"].shape[-1] == len(axes):
        h = np.asarray(run.ds["wheel_momentum"].values, dtype=float)
        largest = float(np.nanmax(np.abs(h), initial=0.0))
        for k, (b, axis) in enumerate(axes):
            share = h[:, k] / largest if largest > 0.0 else 0.0 * h[:, k]
            found.append({"name": "wheels", "colour": WHEEL, "body": b, "axis": [float(a) for a in axis],
                          "share": arrays.single(share, COARSE)})  # fmt: skip
        told.append(("wheels", f"{h.shape[1]}, at their axes; the longest arrow is {largest:.3g} {unit}".strip()))
    gyros = [(b, called(control_moment_gyros, one)) for b, one in carried(run, "gyros", "gimbal_angle")]
    columns = np.cumsum([0, *(one.count * one.gimbals for _, one in gyros)])
    if gyros and run.ds["gimbal_angle"].shape[-1] == columns[-1]:
        angles = np.asarray(run.ds["gimbal_angle"].values, dtype=float)
        largest = max(float(one.momentum.max()) for _, one in gyros)
        for (b, one), first, last in zip(gyros, columns, columns[1:], strict=False):
            spin = one.spin_axes_at(angles[:, first:last])
            for k in range(one.count):
                share = np.full(len(run.times), one.momentum[k] / largest)
                found.append({"name": "gyros", "colour": GYRO, "body": b, "axis": arrays.short(spin[:, k], 1.0, DRAWN),
                              "share": arrays.single(share, COARSE)})  # fmt: skip
        count = sum(one.count for _, one in gyros)
        told.append(("gyros", f"{count}, at their spin axes; momentum {largest:.3g} {unit}".strip()))
    return found


CURVES = (
    ("wheel_momentum", "Momentum of each wheel"), ("gimbal_angle", "Angle of each gimbal"),
    ("dipole_command", "Commanded dipole of each torquer"), ("thruster_fired", "Time of thrust of each thruster"),
)  # fmt: skip


def curves(run: Recorded, add: Callable[..., None]) -> None:
    """Curves of what is carried, and of the angles of the body's axes to the Sun."""
    if run.first("attitude") is not None and run.bodies == 1 and toward_sun(run) is not None:
        angles = [np.degrees(np.asarray(pointing_error(run.ds.assign_attrs(run.whole.attrs), axis, "sun").values))
                  for axis in np.eye(3)]  # fmt: skip
        add(
            "Body axes to the Sun",
            "deg",
            [(name, one.reshape(len(run.times))) for name, one in zip("xyz", angles, strict=True)],
        )
    for name, words in CURVES:
        if name in run.ds:
            values, unit = np.asarray(run.ds[name].values, dtype=float), run.unit(name)
            factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
            add(words, unit, [(told, factor * values[:, k]) for k, told in enumerate(labels_of(run.ds[name]))])
