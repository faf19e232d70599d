"""Attitudes, positions, arrows and Poinsot's picture of a run; what a spacecraft carries and meets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, unit_vectors
from polhode.arguments.recorded import called
from polhode.bodies.wheels import control_moment_gyros
from polhode.errors import PolhodeError, naming
from polhode.plots.shown import Shown
from polhode.surroundings.magnetic import field_of
from polhode.trajectory.frames import pointing_error
from polhode.trajectory.schema import labels_of
from polhode.trajectory.surroundings import place_of_sun, sun_is_far
from polhode.viewer import shapes
from polhode.viewer.arrays import COARSE, DRAWN, Arrays

MOMENTUM, VELOCITY, CENTRE = "#0072b2", "#d55e00", "#009e73"
"""Colours of arrows: angular momentum, angular velocity, direction to the centre."""
SUN, FIELD, DIPOLE = "#c9a800", "#cc79a7", "#56b4e9"
"""Colours of arrows: to the Sun, along the magnetic field, along the dipole of the torquers."""
WHEEL, GYRO = "#9467bd", "#8c564b"
FREE = 1e-6  # relative change of the spatial angular momentum below which a motion is drawn as free
POINTS = 400  # points of the curve of the polhode


def attitude(run: Shown) -> Array | None:
    """Unit quaternions (F, B, 4), each on the side of the one before; None for points."""
    q = run.of("attitude")
    return None if q is None else steady(q / np.linalg.norm(q, axis=-1, keepdims=True))


def steady(q: Array) -> Array:
    """Quaternions (F, ..., 4), each on the side of the one before."""
    flips = np.cumprod(np.where(np.einsum("...i,...i->...", q[1:], q[:-1]) < 0.0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * flips[..., None]])


def bodies(run: Shown, arrays: Arrays, shape: shapes.Shape) -> dict[str, Any]:
    """The entry ``bodies`` of a run."""
    q, r, box = attitude(run), positions(run), cell(run)
    turned, placed = None if q is None else arrays.short(q, 1.0), None
    if r is not None:  # in a cell to a part in 32767 of its edge, else by their own size
        placed = arrays.single(r) if box is None else arrays.short(r, max(box))
    found: dict[str, Any] = {
        "count": run.bodies, "attitude": turned, "position": placed, "shapes": shape.shapes,
        "axes": q is not None and not run.molecules, "barycentric": barycentric(run),
    }  # fmt: skip
    if run.mass is not None:
        found["mass"] = arrays.single(run.mass)
    names = names_of(run)
    return found | ({"names": names} if names else {})


def names_of(run: Shown) -> list[str]:
    """Names of the bodies, where they have some."""
    if "body" in run.whole.coords and run.whole["body"].dtype.kind in "UO":
        return [str(one) for one in np.atleast_1d(run.whole["body"].values)]
    return []


def cell(run: Shown) -> list[float] | None:
    """Edges of the periodic box."""
    return [float(a) for a in run.whole["box"].values] if "box" in run.whole else None


def positions(run: Shown) -> Any:
    """Positions (F, B, 3) as they are shown: wrapped into the box; of gravitating bodies about their barycentre."""
    r = run.of("position")
    if r is None:
        return pins(run)
    box = cell(run)
    if box is not None:
        return np.mod(r, box)
    if barycentric(run):
        r = r - barycentre(run, r)
    return r


def pins(run: Shown) -> Array | None:
    """Where bodies are pinned, (F, B, 3), if not all at the origin."""
    places = [run.arguments.get(name, {}).get("at") for name in names_of(run)]
    if not any(places):
        return None
    return np.tile([one or (0.0, 0.0, 0.0) for one in places], (run.ds.sizes["time"], 1, 1))


def barycentric(run: Shown) -> bool:
    """Whether positions are shown about the barycentre."""
    return run.system == "gravitating_bodies" and run.mass is not None


def barycentre(run: Shown, r: Array) -> Array:
    """That of the bodies, (F, 1, 3)."""
    assert run.mass is not None
    weights = run.mass / run.mass.max()
    return (np.einsum("b,fbi->fi", weights, r) / weights.sum())[:, None]


def spin(run: Shown) -> tuple[Any, Any] | None:
    """Angular momentum of the first body, about its centre of mass or fixed point, and angular velocity; in space."""
    q, m, w = (run.first(name) for name in ("attitude", "angular_momentum", "angular_velocity"))
    if q is None or m is None or w is None:
        return None
    with naming(q="attitude", v="angular_momentum"):
        turned = rotation.rotate(q, m)
    with naming(v="angular_velocity"):
        return turned, rotation.rotate(q, w)


def vectors(run: Shown, arrays: Arrays) -> list[dict[str, Any]]:
    """Arrows of the first body, in space."""
    found = spin(run)
    if found is None or run.molecules:
        return []
    arrows = [("angular momentum", MOMENTUM, found[0]), ("angular velocity", VELOCITY, found[1])]
    r = run.first("position")
    if run.system == "spacecraft" and r is not None:
        length = np.linalg.norm(r, axis=-1, keepdims=True)
        arrows.append(("to the centre", CENTRE, -(r / np.where(length > 0.0, length, 1.0))))
    for name, colour, values in (("to the Sun", SUN, toward_sun(run)), ("magnetic field", FIELD, magnetic_field(run)),
                                 ("dipole of the torquers", DIPOLE, dipole(run))):  # fmt: skip
        if values is not None and np.isfinite(values).any() and np.any(values):
            arrows.append((name, colour, np.nan_to_num(values)))
    if run.system == "gravity_gradient":
        arrows.append(("to the centre", CENTRE, np.broadcast_to([0.0, 0.0, 1.0], (len(run.seconds), 3))))
    return [{"name": name, "colour": colour, "space": arrays.short(values, steps=DRAWN)}
            for name, colour, values in arrows]  # fmt: skip


# ------------------------------------------------------------------ Poinsot
def is_free(run: Shown) -> bool:
    """Whether the angular momentum of the first body stands in space, by what the run conserves or by its rows."""
    found = spin(run)
    if found is None:
        return False
    if "position" not in run.whole and "angular_momentum_space" in run.conserved:
        return True
    L = found[0]
    size = float(np.linalg.norm(L[0]))
    return size > 0.0 and float(np.linalg.norm(L - L[0], axis=1).max()) <= FREE * size


def poinsot(run: Shown, arrays: Arrays) -> dict[str, Any] | None:
    """Polhode and herpolhode of the first body, scaled by its initial momentum and energy of rotation.

    The angular momentum in the body is given over its initial length; ``energy`` is T / |m|^2 at the start. Of a free
    motion there are also the whole curve of the polhode, and the tip of the angular velocity, w / sqrt(2 T): it lies on
    the ellipsoid of inertia, sum I_i x_i^2 = 1, which rolls on the plane at the distance sqrt(2 T)/|m|.
    """
    found = spin(run)
    if found is None or run.molecules or run.bodies > 1 or not run.inertia:
        return None
    moments, frame = run.inertia[0]
    m, w = (run.all_bodies(name)[:, 0] for name in ("angular_momentum", "angular_velocity"))
    size = float(np.linalg.norm(m[0]))
    twice = np.einsum("fi,fi->f", m, w)
    usable = np.isfinite(moments).all() and (moments > 0.0).all() and np.isfinite(m).all() and np.isfinite(w).all()
    if not usable or not 1e-150 < size < 1e150 or not (twice > 0.0).all():
        return None
    free = is_free(run)
    axes = rotation.matrix_from_quaternion(frame).T
    curve, tip, plane = None, None, None
    if free:
        from polhode.runs.poinsot import polhode_curve

        tip = arrays.short(found[1] / np.sqrt(twice[0]), steps=DRAWN)

        tensor = axes.T @ np.diag(moments) @ axes if abs(abs(frame[0]) - 1.0) > 1e-12 else moments
        tensor = 0.5 * (tensor + np.transpose(tensor))
        curve = arrays.short(polhode_curve(tensor, m[0], POINTS, physical=False).angular_momentum / size, steps=DRAWN)
        plane = {"normal": [float(x) for x in found[0][0] / size], "distance": float(np.sqrt(twice[0]) / size)}
    return {
        "moments": [float(one) for one in moments], "frame": [float(one) for one in axes.ravel()],
        "polhode": arrays.short(m / size, steps=DRAWN), "energy": float(0.5 * twice[0] / size / size), "curve": curve,
        "herpolhode": tip, "plane": plane,
    }  # fmt: skip


def toward_sun(run: Shown) -> Array | None:
    """Unit vectors (F, 3) to the Sun of the run, in space; None where it has none."""
    r = run.first("position")
    try:
        sun = None if r is None else place_of_sun(run.whole, run.seconds)
    except PolhodeError:  # an ephemeris whose file or package is not here
        return None
    if sun is None or r is None:
        return None
    away = sun if sun_is_far(run.whole) else sun - r
    return away / np.linalg.norm(away, axis=1, keepdims=True)


def magnetic_field(run: Shown) -> Array | None:
    """The field (F, 3) that the spacecraft meets, in space; None where it meets none."""
    r, given = run.first("position"), run.arguments.get("magnetic_field")
    if r is None or not isinstance(given, dict):
        return None
    try:
        return field_of(given).at(run.seconds, r)
    except PolhodeError:  # coefficients whose file or package is not here
        return None


def dipole(run: Shown) -> Array | None:
    """The dipole (F, 3) that the torquers are told to have together, in space."""
    q, given = run.first("attitude"), run.arguments.get("torquers")
    if q is None or "dipole_command" not in run.ds or not isinstance(given, dict):
        return None
    commands = np.asarray(run.ds["dipole_command"].values, dtype=float)
    most = given.get("max_dipole")
    held = commands if most is None else np.clip(commands, -np.asarray(most), np.asarray(most))
    return rotation.rotate(q, held @ unit_vectors(given["axes"], "axes"))


def carried(run: Shown, word: str, along: str) -> list[tuple[int, Any]]:
    """Of each body with wheels or gyros its place and their arguments, in the order of the columns of a variable."""
    if along not in run.ds:
        return []
    bodies = run.of_bodies or [run.arguments]
    return [(b, one[word]) for b, one in enumerate(bodies) if isinstance(one.get(word), dict)]


def rotors(run: Shown, arrays: Arrays, told: list[tuple[str, str]]) -> list[dict[str, Any]]:
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
                share = np.full(len(run.seconds), one.momentum[k] / largest)
                found.append({"name": "gyros", "colour": GYRO, "body": b, "axis": arrays.short(spin[:, k], 1.0, DRAWN),
                              "share": arrays.single(share, COARSE)})  # fmt: skip
        count = sum(one.count for _, one in gyros)
        told.append(("gyros", f"{count}, at their spin axes; momentum {largest:.3g} {unit}".strip()))
    return found


CURVES = (
    ("wheel_momentum", "Momentum of each wheel"), ("gimbal_angle", "Angle of each gimbal"),
    ("dipole_command", "Commanded dipole of each torquer"), ("thruster_fired", "Time of thrust of each thruster"),
)  # fmt: skip


def curves(run: Shown, add: Callable[..., None]) -> None:
    """Curves of what is carried, and of the angles of the body's axes to the Sun."""
    if run.first("attitude") is not None and run.bodies == 1 and toward_sun(run) is not None:
        ds = run.ds.assign_attrs(run.whole.attrs)
        angles = [np.degrees(np.ravel(pointing_error(ds, axis, "sun").values)) for axis in np.eye(3)]
        add("Body axes to the Sun", "deg", list(zip("xyz", angles, strict=True)))
    for name, words in CURVES:
        if name in run.ds:
            values, unit = np.asarray(run.ds[name].values, dtype=float), run.unit(name)
            factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
            add(words, unit, [(told, factor * values[:, k]) for k, told in enumerate(labels_of(run.ds[name]))])
