"""The orbit of a run: its path, central body, ground track, local vertical, shadow; bodies as seen from each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.errors import InvalidInput
from polhode.plots.rows import even
from polhode.plots.shown import Shown, coastline
from polhode.trajectory import frames as seen
from polhode.trajectory.relative import apart, fastenings, joined
from polhode.trajectory.surroundings import turned
from polhode.viewer import motions
from polhode.viewer.arrays import FINE, Arrays

AROUND = ("orbit", "spacecraft")  # systems with a centre at the origin
POINTS = 12_000  # most points of a path, of all bodies
SMOOTH = 0.06  # largest angle between two places of a path, rad, where there is room for them
AROUND_A_QUARTER = 1.12
"""How much longer the way is than the straight one for a quarter of a circle, about (pi/4)/sin(pi/4)."""

APART = 300.0  # stands between coasts, in place of a longitude
Told = list[tuple[str, str]]


def of_run(run: Shown, arrays: Arrays, facts: Told) -> dict[str, Any] | None:
    """The entry ``orbit`` of a run; what has to be said of it is added to the facts. None for bodies that stay."""
    if run.of("position") is None or run.molecules:
        return None
    if motions.barycentric(run):
        facts.append(("positions", "about the barycentre of all bodies"))
    rows = between_frames(run)
    found: dict[str, Any] = {
        "central": None, "path": path(run, arrays, rows, facts), "ground_track": None, "lvlh": None, "shadow": [],
        "names": motions.names_of(run),
    }  # fmt: skip
    if about_a_centre(run):
        found |= {"central": central(run, facts), "ground_track": ground_track(run, arrays, facts),
                  "shadow": shadow(run, rows, facts), "coast": coast(run, arrays)}  # fmt: skip
        frame = lvlh(run)
        if frame is not None:
            found["lvlh"] = arrays.short(motions.steady(frame), 1.0)
            angles = "; yaw, pitch and roll about z, then y, then x, or as a chart says" if "attitude" in run.ds else ""
            facts.append(("local vertical", f"LVLH: z to the centre, y against r x v, x along the track{angles}"))
    return found


def about_a_centre(run: Shown) -> bool:
    """Whether bodies are about a centre at the origin."""
    return run.system in AROUND or run.centre is not None


def between_frames(run: Shown) -> Indices:
    """Numbers of rows within the times shown, more than there are frames where there are more, by increasing time."""
    times = np.asarray(run.whole["time"].values, dtype=float)
    most = max(2, POINTS // run.bodies)
    rows = np.flatnonzero((times >= run.seconds[0]) & (times <= run.seconds[-1]))
    if len(rows) <= len(run.seconds) or most <= len(run.seconds):
        return run.rows
    rows = rows[np.argsort(times[rows], kind="stable")]
    return rows[even(len(rows), most)]


def path(run: Shown, arrays: Arrays, rows: Indices, facts: Told) -> dict[str, Any] | None:
    """Places along the ways between these rows, by the cubics through positions and velocities; None where the rows are
    close and those of the frames. A body that turns by more than a quarter between rows has no way, and this is
    told."""
    ds = run.whole[[name for name in ("position", "velocity") if name in run.whole]].isel(time=rows)
    shape = (len(rows), run.bodies, 3)
    t = np.asarray(ds["time"].values, dtype=float)
    r = np.asarray(ds["position"].values, dtype=float).reshape(shape)
    if "velocity" not in ds or len(rows) < 2:
        return None if rows is run.rows else arrays.single(r, FINE - 5)
    v = np.asarray(ds["velocity"].values, dtype=float).reshape(shape)
    good = np.isfinite(r).all(axis=(1, 2)) & np.isfinite(v).all(axis=(1, 2))
    t, r, v = t[good], r[good], v[good]
    if motions.barycentric(run):
        r, v = r - motions.barycentre(run, r), v - motions.barycentre(run, v)
    bends, longer = _bends(t, r, v)
    lost = longer > AROUND_A_QUARTER
    if lost.any():
        which = "the path is" if run.bodies == 1 else f"{int(lost.sum())} of {run.bodies} paths are"
        facts.append(("path", f"{which} not drawn: the rows are too far apart for it"))
    largest = float(bends[:, ~lost].max(initial=0.0))
    many = int(min(np.ceil(largest / SMOOTH), POINTS // (run.bodies * max(1, len(t) - 1)), 64))
    if many > 1:
        r = seen.between_rows(t, r, v, many)[1]
    elif rows is run.rows and not lost.any():
        return None
    r[:, lost] = r[:1, lost]
    return arrays.single(r, FINE - 5)


def _bends(t: Array, r: Array, v: Array) -> tuple[Array, Array]:
    """Angles (F - 1, B) between velocities of rows, and by body how much longer the way is than the straight one."""
    with np.errstate(all="ignore"):  # units may be of any size
        speed = np.linalg.norm(v, axis=-1)
        cosine = np.einsum("fbi,fbi->fb", v[1:], v[:-1]) / (speed[1:] * speed[:-1])
        bends = np.nan_to_num(np.arccos(np.clip(cosine, -1.0, 1.0)))
        way = 0.5 * (speed[1:] + speed[:-1]) * np.abs(np.diff(t))[:, None]
        ratio = np.nan_to_num(way / np.linalg.norm(np.diff(r, axis=0), axis=-1), nan=1.0, posinf=1e9)
    return bends, np.quantile(ratio, 0.9, axis=0)


# ------------------------------------------------------------------ the central body
def central(run: Shown, facts: Told) -> dict[str, Any]:
    """Name, radius and rotation of the body at the origin, as far as the record tells."""
    known = run.centre
    found: dict[str, Any] = {"name": (known.name if known else "") or "centre"}
    if known is None or known.radius is None:
        found["radius"] = 0.1 * float(np.linalg.norm(run.all_bodies("position"), axis=-1).min())
        facts.append(("centre", "its radius is not in the record: drawn as a tenth of the least distance"))
    else:
        found["radius"] = known.radius
        whose = f"{known.name}, known by its mu" if known.name else "drawn to scale"
        facts.append(("centre", f"{whose}; radius {known.radius:.7g} {run.unit('position')}".strip()))
    if known is not None and known.rotation:
        found["rotation_rate"] = known.rotation
        found["rotation_at_zero"] = float(turned(run.whole, np.zeros(1), known.rotation)[0])
    return found


def ground_track(run: Shown, arrays: Arrays, facts: Told) -> dict[str, Any] | None:
    """Longitude and latitude (deg) below the first body, on a centre that turns about z at a known rate."""
    known = run.centre
    if known is None or not known.rotation:
        facts.append(("ground track", "none: the rotation of the centre is not in the record"))
        return None
    track = seen.ground_track(run.ds if "body" not in run.ds.dims else run.ds.isel(body=0))
    earth = known.name == "Earth" and "epoch" in run.whole.attrs
    facts.append(("ground track", "geocentric latitude; longitude " + (
        "by the Earth rotation angle at the epoch, without precession" if earth else "from x of space at time 0"
    )))  # fmt: skip
    return arrays.short(np.degrees(np.column_stack([track.longitude.values, track.latitude.values])), 180.0)


def coast(run: Shown, arrays: Arrays) -> dict[str, Any] | None:
    """Longitudes and latitudes (deg) of the coasts below a track on the Earth; beyond a turn between pieces."""
    if run.centre is None or run.centre.name != "Earth":
        return None
    return arrays.short(np.nan_to_num(coastline(), nan=APART), APART, int(10 * APART))  # to a tenth of a degree


def lvlh(run: Shown) -> Array | None:
    """Quaternions (F, 4) from LVLH to space; None where the motion is straight at some frame."""
    r, v = run.first("position"), run.first("velocity")
    if r is None or v is None:
        return None
    frame = seen.lvlh_attitude(r, v)
    return frame if np.isfinite(frame).all() else None


def shadow(run: Shown, rows: Indices, facts: Told) -> list[list[float]]:
    """Intervals in the shadow of the centre, where the run reckons with one."""
    try:
        found = seen.shadow(run.whole[["position", "velocity"]].isel(time=rows).load())
    except InvalidInput as problem:  # rows far apart, or a record that does not say enough of the Sun
        if "revolution" in str(problem):
            facts.append(("shadow", "not shown: the rows are too far apart for it"))
        return []
    if len(found):
        share = float((found[:, 1] - found[:, 0]).sum()) / max(run.seconds[-1] - run.seconds[0], 1e-300)
        many = f"{len(found)} passage{'s' * (len(found) > 1)}"
        facts.append(("shadow", f"{many}, {100.0 * share:.3g} % of the time shown"))
    return [[float(a), float(b)] for a, b in found]


MOST_TOGETHER = 25  # most bodies that are drawn so


def together(run: Shown, arrays: Arrays, facts: list[tuple[str, str]]) -> dict[str, Any] | None:
    """The entry ``together`` of a run; None where no load is on two bodies that move, and no joint.

    ``position`` (F, B, 3) and ``attitude`` (F, B, 4) are in LVLH of the first body, with it at the origin, about a
    centre, else in space with the centre of mass at the origin. Each link has its two ``bodies``, of a tether also
    where it is fastened, in their axes, and its length. Joints have their two ``bodies``, the ground as -1, points and
    axes in those, and sliders the least and largest length on their line. With joints to the ground the origin is that
    of space, else without orbit the centre of mass.
    """
    r, pairs = run.of("position"), joined(run.whole)
    held, names = fastenings(run.whole) if r is not None else [], motions.names_of(run)
    if r is None or not (pairs or held) or run.bodies > MOST_TOGETHER:
        return None
    q, frame = motions.attitude(run), lvlh(run) if about_a_centre(run) else None
    grounded = any(one.bodies[1] < 0 for one in held)
    if frame is None and not grounded:
        weights = np.ones(run.bodies) if run.mass is None else run.mass / run.mass.sum()
        r = r - np.einsum("b,fbi->fi", weights / weights.sum(), r)[:, None]
    elif frame is not None:
        held = [one for one in held if one.bodies[1] >= 0]
        turns = np.repeat(frame, run.bodies, axis=0)
        r = rotation.rotate_inverse(turns, (r - r[:, :1]).reshape(-1, 3)).reshape(r.shape)
        if q is not None:
            q = rotation.multiply(rotation.conjugate(turns), q.reshape(-1, 4)).reshape(q.shape)
    if not np.isfinite(r).all() or not np.any(r):
        return None
    where = f"{[*names, 'the body'][0]}, in its LVLH: z is down"
    if frame is None:
        where = "the origin of space" if grounded else "the centre of mass, in space"
    sizes = "; true to scale" if held else "; bodies are magnified where they are small"
    facts.append(("together", f"seen from {where}{sizes}"))
    links: list[dict[str, Any]] = [{"bodies": list(pair)} for pair in pairs if not held]
    joints = []
    for one in held:
        span = [0.0, 0.0]
        if one.kind == "slider":
            along = np.einsum("ti,ti->t", *apart(run.ds, one))
            span = [float(along.min()), float(along.max())]
        joints.append({"name": one.name, "kind": one.kind, "bodies": one.bodies, "span": span,
                       "at": [x.tolist() for x in one.points], "axes": [x.tolist() for x in one.axes]})  # fmt: skip
    for load in run.arguments.values():
        on = load.get("on", ()) if isinstance(load, Mapping) and load.get("kind") == "tether" else ()
        if len(on) == 2 and all(name in names for name in on):
            ends = [[float(x) for x in load.get(word, (0.0, 0.0, 0.0))] for word in ("of_a", "of_b")]
            links.append({"bodies": [names.index(name) for name in on], "at": ends, "length": float(load["length"])})
    return {
        "position": arrays.single(r), "attitude": None if q is None else arrays.short(motions.steady(q), 1.0),
        "links": links, "joints": joints, "local": frame is not None,
    }  # fmt: skip
