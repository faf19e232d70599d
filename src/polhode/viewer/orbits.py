"""The orbit of a run: its path, the central body, ground track, local vertical, and shadow."""

from __future__ import annotations

from datetime import date
from math import pi
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.errors import InvalidInput
from polhode.systems import planets
from polhode.trajectory import epochs
from polhode.viewer import motions
from polhode.viewer.arrays import FINE, Arrays
from polhode.viewer.recorded import Recorded

AROUND = ("orbit", "spacecraft")
"""Systems with a centre at the origin."""
POINTS = 12_000
"""Most points of a path, of all bodies."""
SAME = 1e-3
"""Two values of mu within this part are of one body."""
KNOWN = {name.capitalize(): getattr(planets, name) for name in ("EARTH", "MOON", "MARS", "EUROPA", "SUN")}


def of_run(run: Recorded, arrays: Arrays, facts: list[tuple[str, str]]) -> dict[str, Any] | None:
    """The entry ``orbit`` of a run; what has to be said of it is added to the facts. None for bodies that stay."""
    if run.of("position") is None or run.molecules:
        return None
    around = run.system in AROUND
    centre = central(run, facts) if around else None
    if motions.barycentric(run):
        facts.append(("positions", "about the barycentre of all bodies"))
    return {
        "central": centre,
        "path": path(run, arrays),
        "ground_track": ground_track(run, arrays, centre, facts) if around else None,
        "lvlh": arrays.short(_continuous(lvlh(run)), 1.0) if around and _circles(run) else None,
        "shadow": shadow(run, facts) if around else [],
        "names": motions.names_of(run),
    }


def path(run: Recorded, arrays: Arrays) -> dict[str, Any] | None:
    """Positions of more rows than are frames, where there are more, within the times shown."""
    whole = run.whole
    times = np.asarray(whole["time"].values, dtype=float)
    most = max(2, POINTS // run.bodies)
    rows = np.flatnonzero((times >= run.times[0]) & (times <= run.times[-1]))
    if len(rows) <= len(run.times) or most <= len(run.times):
        return None
    rows = rows[np.argsort(times[rows], kind="stable")]
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(int))]
    r = np.asarray(whole["position"].isel(time=rows).values, dtype=float).reshape(len(rows), run.bodies, 3)
    r = r[np.isfinite(r).reshape(len(rows), -1).all(axis=1)]
    if motions.barycentric(run):
        r = r - motions.barycentre(run, r)
    return arrays.single(r, FINE - 4)


# ------------------------------------------------------------------ the central body
def planet_of(run: Recorded) -> tuple[str, planets.Planet] | None:
    """The body with this mu among those known, of a run in SI."""
    mu = run.argument("mu")
    if mu is None or run.units != "SI":
        near = run.units == "consistent" and mu is not None and mu > 1e11  # metres and seconds without the label
        if not near or mu is None:
            return None
    return next(((name, one) for name, one in KNOWN.items() if abs(mu / one.mu - 1.0) < SAME), None)


def _of_forces(run: Recorded, *names: str) -> float | None:
    """The first number of one of these names among the arguments of the system and of its forces."""
    places = [run.arguments, *(run.arguments.get("forces") or []), run.arguments.get("atmosphere") or {}]
    for name in names:
        for place in places:
            value = place.get(name) if isinstance(place, dict) else None
            if isinstance(value, int | float) and np.isfinite(value) and value > 0.0:
                return float(value)
    return None


def central(run: Recorded, facts: list[tuple[str, str]]) -> dict[str, Any]:
    """Name, radius and rotation of the body at the origin, as far as the record tells."""
    known = planet_of(run)
    zonal = [f for f in run.arguments.get("forces") or [] if isinstance(f, dict) and f.get("kind") == "zonal"]
    stated = [float(f["radius"]) for f in zonal if f.get("radius")]
    radius = known[1].mean_radius if known else next(iter(stated), None) or _of_forces(run, "radius", "surface")
    rate = _of_forces(run, "rotation") or (known[1].rotation if known else None)
    found: dict[str, Any] = {"name": known[0] if known else "centre"}
    if radius is None:
        closest = float(np.linalg.norm(run.of("position"), axis=-1).min())
        radius = 0.1 * closest
        facts.append(("centre", "its radius is not in the record: drawn as a tenth of the least distance"))
    elif known:
        facts.append(("centre", f"{known[0]}, known by its mu; mean radius {radius:.6g} m"))
    found["radius"] = radius
    return found | ({"rotation_rate": rate} if rate else {})


def ground_track(
    run: Recorded, arrays: Arrays, centre: dict[str, Any] | None, facts: list[tuple[str, str]]
) -> dict[str, Any] | None:
    """Longitude and latitude (deg) below the first body, for a centre that turns about z at a known rate."""
    rate = (centre or {}).get("rotation_rate")
    r = run.first("position")
    if rate is None or centre is None:
        facts.append(("ground track", "none: the rotation of the centre is not in the record"))
        return None
    start = meridian(run) if centre["name"] == "Earth" else None
    if start is None:
        facts.append(("ground track", "geocentric; longitudes count from x of space at time 0, for want of an epoch"
                      if centre["name"] == "Earth" else "longitudes count from x of space at time 0"))  # fmt: skip
    else:
        facts.append(("ground track", "geocentric latitude; longitude by the Earth rotation angle (UT1 taken as UTC, "
                      "without precession)"))  # fmt: skip
    angle = np.arctan2(r[:, 1], r[:, 0]) - (start or 0.0) - rate * run.times
    longitude = np.degrees(np.mod(angle + pi, 2.0 * pi) - pi)
    latitude = np.degrees(np.arctan2(r[:, 2], np.hypot(r[:, 0], r[:, 1])))
    return arrays.short(np.column_stack([longitude, latitude]), 180.0)


def meridian(run: Recorded) -> float | None:
    """Earth rotation angle at time 0, rad [petit2010]; None without an epoch."""
    given = run.whole.attrs.get("epoch")
    if not given:
        return None
    try:
        epoch = epochs.epoch_of(str(given))
        if epoch.scale == "TDB":  # within 2 ms
            epoch = epochs.Epoch("TT", epoch.since)
        day, _, clock = epochs.texts("UTC", epochs.instants(epoch, [0.0], "UTC"), 6)[0].partition("T")
    except InvalidInput:  # an epoch that this version cannot read
        return None
    hours, minutes, seconds = (float(part) for part in clock.split(":"))
    days = (date.fromisoformat(day) - epochs.ORIGIN).days - 0.5
    days += (3600.0 * hours + 60.0 * minutes + seconds) / epochs.DAY
    return float(2.0 * pi * ((0.7790572732640 + 0.00273781191135448 * days + days % 1.0) % 1.0))


# ------------------------------------------------------------------ local vertical
def _circles(run: Recorded) -> bool:
    r, v = run.first("position"), run.first("velocity")
    if r is None or v is None:
        return False
    h = np.linalg.norm(np.cross(r, v), axis=1)
    return bool((h > 1e-9 * np.linalg.norm(r, axis=1) * np.linalg.norm(v, axis=1)).all())


def lvlh(run: Recorded) -> Any:
    """Quaternions (F, 4) from the local frame to space: z to the centre, y against the orbit's angular momentum."""
    r, v = run.first("position"), run.first("velocity")
    z = -r / np.linalg.norm(r, axis=1, keepdims=True)
    y = -np.cross(r, v)
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    return rotation.quaternion_from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))


def _continuous(q: Any) -> Any:
    flips = np.cumprod(np.where(np.einsum("fi,fi->f", q[1:], q[:-1]) < 0.0, -1.0, 1.0))
    q = q.copy()
    q[1:] *= flips[:, None]
    return q


# ------------------------------------------------------------------ shadow
def shadow(run: Recorded, facts: list[tuple[str, str]]) -> list[list[float]]:
    """Intervals in the shadow of the centre: by the events of the run, or from the rows and the Sun of its forces."""
    found = _by_events(run)
    if found is None:
        found = _by_rows(run)
    if found:
        share = sum(b - a for a, b in found) / max(run.times[-1] - run.times[0], 1e-300)
        facts.append(("shadow", f"{len(found)} passages, {100.0 * share:.3g} % of the time shown"))
    return found or []


def _by_events(run: Recorded) -> list[list[float]] | None:
    if "event_kind" not in run.whole or "event_time" not in run.whole:
        return None
    kinds = [str(kind) for kind in run.whole["event_kind"].values]
    entry, leave = ("shadow_entry", "shadow_exit")
    if entry not in kinds and leave not in kinds:
        return None
    marks = sorted(
        (float(t), kind) for t, kind in zip(run.whole["event_time"].values, kinds, strict=True)
        if kind in (entry, leave)
    )  # fmt: skip
    if run.whole["time"].values[-1] < run.whole["time"].values[0]:
        marks = [(t, leave if kind == entry else entry) for t, kind in marks]
    first, last = float(run.times[0]), float(run.times[-1])
    intervals, since = [], first if marks[0][1] == leave else None
    for t, kind in marks:
        if kind == entry:
            since = t
        elif since is not None:
            intervals.append([since, t])
            since = None
    if since is not None:
        intervals.append([since, last])
    return [[max(a, first), min(b, last)] for a, b in intervals if b > first and a < last]


def _by_rows(run: Recorded) -> list[list[float]]:
    lights = [*(run.arguments.get("forces") or []), *(run.record.get("events") or []),
              run.arguments.get("sunlight") or {}]  # fmt: skip
    for light in lights:
        if not isinstance(light, dict) or light.get("shadow", "none") not in ("cylinder", "cone"):
            continue
        radius = light.get("radius")
        s = sun_at(light, run.times)
        if s is None or not isinstance(radius, int | float):
            continue
        r = run.first("position")
        beyond = outside(r, s, float(radius), light.get("sun_radius"))
        return _negative(run.times, beyond)
    return []


def sun_at(light: dict[str, Any], times: Any) -> Any:
    """Positions of the Sun of a force or an event, (F, 3); None where they cannot be told."""
    from polhode.systems.paths import ON_CIRCLE, path_to_sun

    try:
        words = [light.get(name) for name in ("direction", "position", "times", "positions", "circle")]
        numbers = path_to_sun(*words).numbers
        if light.get("times") is not None:
            from scipy.interpolate import CubicSpline

            return CubicSpline(light["times"], light["positions"], bc_type="not-a-knot")(times)
        if numbers[0] == ON_CIRCLE:
            angle = (numbers[1] * times + numbers[2])[:, None]
            return np.cos(angle) * numbers[3:6] + np.sin(angle) * numbers[6:9]
        return np.broadcast_to(numbers[1:4], (len(times), 3))
    except Exception:  # a record of another version
        return None


def outside(r: Any, s: Any, radius: float, sun: Any) -> Any:
    """Positive in sunlight: for a cylinder the distance from its side, for a cone the angle to first contact."""
    if not isinstance(sun, int | float):
        s = s / np.linalg.norm(s, axis=1, keepdims=True)
        along = np.einsum("fi,fi->f", r, s)
        return np.maximum(along, np.linalg.norm(np.cross(r, s), axis=1) - radius)
    d = s - r
    a = np.arcsin(np.minimum(1.0, sun / np.linalg.norm(d, axis=1)))
    b = np.arcsin(np.minimum(1.0, radius / np.linalg.norm(r, axis=1)))
    across = np.linalg.norm(np.cross(d, r), axis=1)
    return np.arctan2(across, -np.einsum("fi,fi->f", d, r)) - (a + b)


def _negative(times: Any, values: Any) -> list[list[float]]:
    """Intervals in which a sampled function is negative, with ends by linear interpolation."""
    below = values < 0.0
    edges = np.flatnonzero(below[1:] != below[:-1])
    at = times[edges] + (times[edges + 1] - times[edges]) * values[edges] / (values[edges] - values[edges + 1])
    marks = [float(times[0])] * bool(below[0]) + [float(t) for t in at] + [float(times[-1])] * bool(below[-1])
    return [list(pair) for pair in zip(marks[::2], marks[1::2], strict=True)]
