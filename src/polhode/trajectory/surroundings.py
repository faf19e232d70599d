"""What a trajectory says of its surroundings: the body at its centre, the Sun, shadows; from the record of its run.

Every Dataset of ``polhode.integrate`` holds the arguments of its system (attribute ``run``), so a file alone tells the
gravity parameter, the radius and rotation of the central body, where the Sun is and which shadow the run reckoned with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.algebra.splines import values_at
from polhode.arguments import Array, ArrayLike, number, vector
from polhode.errors import InvalidInput
from polhode.lazy import xr
from polhode.surroundings import paths, planets
from polhode.trajectory.schema import trajectory

ALIKE = 2e-3
"""Largest relative difference of two gravity parameters that are taken for those of one planet (mu of EUROPA is known
to 6e-6 and printed differently by papers)."""
WORD = re.compile(r"[.\[]")
"""What ends the first word of the name of something that varies, such as ``forces[0].J2``."""


def recorded(ds: xr.Dataset) -> dict[str, Any]:
    """The arguments of the system from the record of the run, of an ensemble those of all members, with what varies of
    one member; empty where there is no record that can be read."""
    try:
        if "run" in ds.attrs:
            found = json.loads(ds.attrs["run"])["system"]["arguments"]
            return dict(found) if isinstance(found, Mapping) else {}
        told = json.loads(ds.attrs["ensemble"])
        found, varied = dict(told["first"]["system"]["arguments"]), dict(told["varied"])
    except (KeyError, TypeError, ValueError):
        return {}
    for name in varied:
        own, (body, _, word) = ds.coords.get(name), name.partition(".")
        told, key = (found[body], word) if word and isinstance(found.get(body), dict) else (found, name)
        if key in told and own is not None and "member" not in own.dims:
            told[key] = own.values.tolist()
        else:  # or where a body starts, of which a record of arguments has nothing
            told.pop(WORD.split(key, maxsplit=1)[0], None)
    return found


@dataclass(frozen=True)
class Centre:
    """The body at the origin that others orbit."""

    mu: float  # its gravity parameter, in the units of the trajectory
    name: str = ""  # of a known body, such as "Earth", if the trajectory is in SI units; else ""
    radius: float | None = None  # of its surface: equatorial radius; None where neither forces nor name tell it
    rotation: float | None = None  # rate of its rotation about z, rad per unit of time


def centre(ds: xr.Dataset) -> Centre | None:
    """The body at the centre of an orbit, a spacecraft or a sum with a ``central`` load; None if the system has none.
    Radius and rotation are those of the forces, else, in SI units, of the known planet with this gravity parameter."""
    trajectory(ds)
    given = recorded(ds)
    mu = central_mu(given)
    if "position" not in ds or mu <= 0.0:
        return None
    name = planets.name_of(mu, ALIKE) if ds.attrs.get("units") == "SI" else ""
    known = planets.KNOWN.get(name)
    forces = _forces(given)
    radius = next((float(one["radius"]) for one in forces if one.get("kind") == "zonal" and "radius" in one), None)
    if radius is None and known is not None:
        radius = known.radius
    if radius is None:
        radius = next((float(one["radius"]) for one in forces if one.get("radius") and "shadow" in one), None)
    if radius is None and given.get("surface"):
        radius = float(given["surface"])
    turning = [float(one["rotation"]) for one in forces if isinstance(one.get("rotation"), int | float)]
    rotation = turning[0] if turning else known.rotation if known is not None else None
    return Centre(mu, name, radius, rotation)


def central_mu(given: Mapping[str, Any]) -> float:
    """The gravity parameter of the centre, by the arguments of a system; 0 without one."""
    mu = given.get("mu", next((one["mu"] for one in _forces(given) if one.get("kind") == "central"), None))
    return float(mu) if isinstance(mu, int | float) else 0.0


def centre_of_top(ds: xr.Dataset) -> Array | None:
    """Centre of mass (3,) of a top from its fixed point, body axes, by its weight; None of what is no top."""
    given = recorded(ds)
    at = given.get("center_of_mass", (0.0, 0.0, 1.0))
    if ds.attrs.get("system") != "heavy_top":
        loads = [
            one for one in given.values() if isinstance(one, Mapping) and one.get("kind") == "weight" and "at" in one
        ]
        if len(loads) != 1 or "body" in ds.dims:
            return None
        at = loads[0]["at"]
    try:
        return np.asarray(at, dtype=float).reshape(3)
    except (TypeError, ValueError):  # a record that somebody has written
        return np.zeros(3)


def _forces(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Forces, atmosphere and sunlight of a record, and the loads of a sum that are on every body."""
    found = given.get("forces")
    all_of = [*(found if isinstance(found, list) else []), *given.values()]
    return [one for one in all_of if isinstance(one, Mapping) and "on" not in one]


def _light(ds: xr.Dataset) -> Mapping[str, Any] | None:
    """The sunlight of a run: on plates, or as a force; the first that casts a shadow, if any does."""
    given = recorded(ds)
    lights = [one for one in _forces(given) if one.get("kind") == "radiation_pressure" or one is given.get("sunlight")]
    if isinstance(given.get("sun"), Mapping):  # of a sum
        lights = [{**given["sun"], **one} for one in lights]
    lights.sort(key=lambda one: one.get("shadow", "none") == "none")
    return lights[0] if lights else None


def place_of_sun(ds: xr.Dataset, times: ArrayLike | None = None) -> Array | None:
    """Where the Sun of a run is: positions (n, 3), or unit vectors towards it if it is infinitely far away."""
    light = _light(trajectory(ds))
    at = np.atleast_1d(np.asarray(ds["time"].values if times is None else times, dtype=float))
    return None if light is None else _along(_path(light), at)


def sun_is_far(ds: xr.Dataset) -> bool:
    """Whether the Sun of a run is infinitely far away, so that ``place_of_sun`` gives directions."""
    return "direction" in (_light(ds) or {})


def _path(light: Mapping[str, Any]) -> paths.Path:
    given = (light.get(word) for word in ("direction", "position", "times", "positions", "circle", "ephemeris"))
    return paths.path_to_sun(*given)


def _along(path: paths.Path, times: Array) -> Array:
    """Places (n, 3) along a path; NaN beyond the ends of a table."""
    form, numbers = path.numbers[0], np.array(path.numbers)
    if form == paths.AT_REST:
        return np.broadcast_to(numbers[1:4], (len(times), 3))
    if form == paths.ON_CIRCLE:
        angle = numbers[1] * times + numbers[2]
        return np.cos(angle)[:, None] * numbers[3:6] + np.sin(angle)[:, None] * numbers[6:9]
    rows = numbers[2:].reshape(-1, paths.ROW)
    return values_at(rows[:, 0], rows[:, 1:4], rows[:, 4:7], times)


@dataclass(frozen=True)
class Shadow:
    """What casts a shadow on a trajectory: a kind, a radius, and the way of the Sun."""

    kind: str
    radius: float
    sun_radius: float
    path: paths.Path

    def depth(self, times: Array, positions: Array) -> Array:
        """How deep in the shadow positions (n, 3) are: positive in it (penumbra included), a length or an angle."""
        sun = _along(self.path, times)
        r = positions
        toward = sun / np.linalg.norm(sun, axis=1, keepdims=True)
        if self.kind == "cylinder":
            along = np.einsum("ij,ij->i", r, toward)
            return -np.maximum(along, np.linalg.norm(np.cross(r, toward), axis=1) - self.radius)
        d = sun - r
        away, distance = np.linalg.norm(d, axis=1), np.linalg.norm(r, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            of_sun, of_body = np.arcsin(self.sun_radius / away), np.arcsin(np.minimum(self.radius / distance, 1.0))
            between = np.arccos(np.clip(-np.einsum("ij,ij->i", r, d) / (away * distance), -1.0, 1.0))
        return of_sun + of_body - between


def shadow_of(ds: xr.Dataset, sun: ArrayLike | None = None, radius: float | None = None) -> Shadow | None:
    """The shadow that a run reckoned with, or a cylindrical one behind a body, lit from the direction ``sun``."""
    if sun is not None:
        known = centre(ds)
        radius = known.radius if radius is None and known is not None else radius
        if radius is None:
            raise InvalidInput("radius is missing: this trajectory does not tell how large the body that casts "
                               "the shadow is; give it")  # fmt: skip
        path = paths.path_to_sun(vector(sun, "sun"), None, None, None, None)
        return Shadow("cylinder", number(radius, "radius", "m", positive=True), 0.0, path)
    light = _light(ds)
    if light is None or light.get("shadow", "none") == "none":
        return None
    radius, of_sun = (float(light.get(word) or 0.0) for word in ("radius", "sun_radius"))
    return Shadow(str(light["shadow"]), radius, of_sun, _path(light))


def turned(ds: xr.Dataset, times: Array, rotation: float) -> Array:
    """Angle (rad) of the prime meridian of the central body: along x at time 0, of the Earth with an epoch in SI units
    its rotation angle, without precession, nutation and polar motion."""
    zero = 0.0
    known = centre(ds)
    if "epoch" in ds.attrs and known is not None and known.name == "Earth":
        zero = planets.earth_rotation_angle(ds.attrs["epoch"])
    return zero + rotation * np.asarray(times, dtype=float)
