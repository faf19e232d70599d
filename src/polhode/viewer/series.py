"""Curves over time beside the picture, and the numbers shown as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.plots.rows import steady_angles
from polhode.plots.shown import BATH, Shown
from polhode.trajectory.convergence import momentum_errors
from polhode.viewer import motions, orbits
from polhode.viewer.arrays import COARSE, Arrays

MOST_LINES = 8  # most lines of one plot
INVARIANTS = (
    "energy", "energy_error", "conserved_energy", "vertical_angular_momentum", "axial_angular_momentum",
    "attitude_energy", "orbital_energy", "temperature", "pressure",
)  # fmt: skip
"""Scalars over time whose values are shown."""
LENGTHS = {
    "angular_momentum_space": "angular momentum", "total_momentum": "total momentum",
    "total_angular_momentum": "total angular momentum",
}  # fmt: skip
"""Vectors over time whose lengths are, where they are conserved."""

Curve = tuple[str, Any]
Group = dict[str, Any]


def of_run(run: Shown, arrays: Arrays) -> list[Group]:
    """The entry ``series`` of a run."""
    groups: list[Group] = []

    def add(name: str, unit: str, curves: list[Curve], log: bool = False, fine: bool = False) -> None:
        kept = [(label, values) for label, values in curves if np.isfinite(values).any()][:MOST_LINES]
        if kept:
            lines = [{"label": label, "values": arrays.single(values, COARSE + 8 * fine)} for label, values in kept]
            groups.append({"group": name, "unit": unit, "log": log, "lines": lines})

    relative = "energy_error" in run.whole
    name = "energy_error" if relative else "energy_change"
    if run.bath_error is not None:
        add(BATH, "", [("energy", _largest(run, np.abs(run.bath_error)))], log=True)
    elif name in run.whole and run.whole[name].dims == ("time",):
        errors = _largest(run, np.abs(np.asarray(run.whole[name].values, dtype=float)))
        add("Energy error", "" if relative else run.unit("energy"), [("energy", errors)], log=True)
    add("Momentum errors", "", _momentum_errors(run), log=True)
    w = run.first("angular_velocity")
    if w is not None and not run.molecules:
        unit = run.unit("angular_velocity") or "rad / time"
        add("Angular velocity, body axes", unit, [(name, w[:, k]) for k, name in enumerate("xyz")])
    if run.system in ("soft_wall", "gravity_gradient") or run.top is not None:
        add("Tilt from the vertical", "deg", [tilt(run)])
    if orbits.about_a_centre(run):
        _of_orbit(run, add)
    elif "position" in run.whole and not run.molecules:
        _of_positions(run, add)
    motions.curves(run, add)
    if "temperature" in run.whole:
        names = {"temperature": "all", "temperature_translational": "translation", "temperature_rotational": "rotation"}
        add("Temperature", run.unit("temperature"),
            [(word, _row(run, name)) for name, word in names.items() if name in run.ds])  # fmt: skip
        if "pressure" in run.ds:
            add("Pressure", run.unit("pressure"), [("pressure", _row(run, "pressure"))])
    parts = {"kinetic_energy": "kinetic", "potential_energy": "potential", "energy": "total"}
    curves = [(word, _row(run, name)) for name, word in parts.items() if name in run.ds]
    if len(curves) == 3:
        add("Energy", run.unit("energy"), curves)
    return groups


def invariants(run: Shown, arrays: Arrays) -> list[dict[str, Any]]:
    """The entry ``invariants`` of a run: exact values."""
    found = []
    for name in INVARIANTS:
        bath = name == "energy_error" and run.bath_error is not None  # the energy of the bodies alone changes
        if name in run.ds and run.ds[name].dims == ("time",) and not bath:
            words = name.replace("_", " ")
            found.append({"name": words, "values": arrays.exact(_row(run, name)), "unit": run.unit(name)})
    for name, words in LENGTHS.items():
        if name in run.conserved and name in run.ds and run.ds[name].dims == ("time", "axis"):
            values = np.linalg.norm(_row(run, name), axis=1)
            about = " about the centre" if name == "angular_momentum_space" and orbits.about_a_centre(run) else ""
            found.append({"name": f"length of {words}{about}", "values": arrays.exact(values), "unit": run.unit(name)})
    return found


def _row(run: Shown, name: str) -> Array:
    return np.asarray(run.ds[name].values, dtype=float)


def _largest(run: Shown, sizes: Array) -> Array:
    """Largest value of the rows from each frame to the next; the last frame has its own."""
    rows = run.rows
    if len(rows) < 2 or len(rows) == len(sizes):
        return sizes[rows]
    if rows[0] > rows[-1]:
        sizes, rows = sizes[::-1], len(sizes) - 1 - rows
    return np.fmax.reduceat(sizes[: rows[-1] + 1], rows)


def _momentum_errors(run: Shown) -> list[Curve]:
    """Errors of the momenta that are conserved."""
    names = [name for name in run.conserved if name in run.whole]
    vectors = [*names, *(name for name in ("angular_momentum_space", "momentum") if name in run.whole)]
    if not names or run.whole.sizes["time"] < 2:
        return []
    rows = run.whole[list(dict.fromkeys(vectors))]
    large = rows.nbytes > 2**28
    rows = rows.isel(time=np.concatenate([[0], run.rows])) if large else rows
    found = momentum_errors(rows.load().assign_attrs(run.whole.attrs))
    return [(_words(name), one[1:] if large else _largest(run, one)) for name, (one, _) in found.items()]


def _words(name: str) -> str:
    return name.removesuffix("_space").replace("_", " ") + (", space" if name.endswith("_space") else "")


# ------------------------------------------------------------------ angles, heights
def tilt(run: Shown) -> Curve:
    """Angle between the vertical and the axis of a pinned body: through its centre of mass, else z."""
    up = rotation.rotate(run.all_bodies("attitude")[:, 0], run.axis)
    return "axis", np.degrees(np.arctan2(np.hypot(up[:, 0], up[:, 1]), up[:, 2]))


def _of_orbit(run: Shown, add: Any) -> None:
    r, q = run.all_bodies("position")[:, 0], run.first("attitude")
    distance = np.linalg.norm(r, axis=1)
    known = run.centre
    frame = orbits.lvlh(run)
    if q is not None and frame is not None:
        names, angles, note = steady_angles(rotation.multiply(rotation.conjugate(frame), q))
        angles = np.degrees(angles)
        angles = np.where(np.abs(np.diff(angles, axis=0, prepend=angles[:1])) > 180.0, np.nan, angles)  # no line across
        add(f"Attitude to the local vertical (LVLH{f': {note}' if note else ''})", "deg",
            [(word, angles[:, k]) for k, word in enumerate(names)])  # fmt: skip
        down = rotation.rotate_inverse(q, -r / distance[:, None])
        add("Body z to the centre", "deg",
            [("angle", np.degrees(np.arctan2(np.hypot(down[:, 0], down[:, 1]), down[:, 2])))])  # fmt: skip
    if known is not None and known.radius is not None:
        unit, factor = ("km", 1e-3) if run.label == "SI" else (run.unit("position"), 1.0)
        above = f"above the radius of {known.name}" if known.name else "above the surface"
        add("Altitude", unit, [(above, (distance - known.radius) * factor)], fine=True)
    else:
        add("Distance from the centre", run.unit("position"), [("distance", distance)], fine=True)


def _of_positions(run: Shown, add: Any) -> None:
    r = motions.positions(run)
    unit = run.unit("position")
    if run.bodies == 1:
        add("Position", unit, [(name, r[:, 0, k]) for k, name in enumerate("xyz")], fine=True)
        return
    where = "Distance from the barycentre" if motions.barycentric(run) else "Distance from the origin"
    add(where, unit, [(run.names[k], np.linalg.norm(r[:, k], axis=1)) for k in range(run.bodies)], fine=True)
