r"""Orbits and attitudes seen from the orbit: local frame, roll, pitch and yaw, elements, ground track, shadow.

Pure functions of a Dataset. They find the gravity parameter, radius and rotation of the centre in the record of the run
(``surroundings``); each can be given instead.

The frame **LVLH** (local vertical, local horizontal) travels with the body: z points to the centre (nadir), y against
the normal r x v of the orbit, x = y x z completes them, along the velocity on a circle. Roll, pitch and yaw are the
angles phi, theta, psi of the attitude relative to it, turns about x, then y, then z of LVLH (Tait-Bryan, intrinsic
"ZYX"): x_LVLH = R_z(psi) R_y(theta) R_x(phi) x_body [wertz1978, ch. 12].

LVLH turns about the orbit normal at the rate h / r^2, h = |r x v|; further turning, of the orbit's plane, needs
accelerations, which no trajectory holds, and is neglected: under J2 some 1e-3 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from polhode.algebra import orbits, rotation
from polhode.arguments import Array, ArrayLike, number, vector, whole
from polhode.errors import InvalidInput
from polhode.lazy import pd, xr
from polhode.trajectory.schema import trajectory
from polhode.trajectory.surroundings import centre, place_of_sun, recorded, shadow_of, sun_is_far, turned

RECTILINEAR = 1e-12  # periapsis over distance below which an orbit has no plane: elements are NaN
ANGLE_NAMES = ("roll", "pitch", "yaw")
ELEMENTS = {
    "semi_major_axis": "semi-major axis, negative of hyperbolas", "eccentricity": "eccentricity",
    "inclination": "inclination to the xy-plane", "node": "longitude of the ascending node, from x",
    "argument_of_periapsis": "argument of periapsis, from the node", "true_anomaly": "true anomaly, from periapsis",
    "argument_of_latitude": "argument of latitude, from the node", "mean_anomaly": "mean anomaly, of ellipses",
    "period": "orbital period, of ellipses", "periapsis": "distance of the periapsis",
    "apoapsis": "distance of the apoapsis", "distance": "distance from the centre",
}  # fmt: skip
"""Osculating elements and what they mean."""
TARGETS = ("nadir", "velocity", "normal", "sun")
"""Directions that a body axis can be compared with: to the centre, along the velocity, along r x v, to the Sun."""


def gravity_parameter(ds: xr.Dataset, mu: float | None = None) -> float:
    """The gravity parameter of the centre: ``mu`` if it is given, or that of the record."""
    if mu is not None:
        return number(mu, "mu", "m**3 / s**2", positive=True)
    known = centre(ds)
    if known is None:
        raise InvalidInput("mu is missing: this trajectory does not tell the gravity parameter of a centre; give it")
    return known.mu


def _moving(ds: xr.Dataset, *needed: str) -> tuple[Array, Array, tuple[Hashable, ...]]:
    """Positions, velocities and their leading dimensions."""
    trajectory(ds, "position", "velocity", *needed)
    leading = tuple(ds["position"].dims[:-1])
    r, v = (np.asarray(ds[name].transpose(*leading, "axis").values, dtype=float) for name in ("position", "velocity"))
    return r, v, leading


def _dataset(
    ds: xr.Dataset, variables: Mapping[str, tuple[Sequence[Hashable], Array, dict[str, str]]], title: str
) -> xr.Dataset:
    """A Dataset of further variables with the coordinates of a trajectory."""
    made = xr.Dataset({name: xr.Variable(*one, fastpath=True) for name, one in variables.items()})
    kept = {name: ds[name] for name in ("time", "body", "member") if name in ds.coords and name in made.dims}
    if "time" in ds.coords:
        kept["time"] = ds["time"]
    kept_attrs = {word: ds.attrs[word] for word in ("system", "units", "epoch") if word in ds.attrs}
    return made.assign_coords(kept).assign_attrs({"title": title, **kept_attrs})


def _array(
    ds: xr.Dataset, values: Array, dims: Sequence[Hashable], name: str, words: str, units: str = "rad"
) -> xr.DataArray:
    """A further variable with the times of a trajectory."""
    plain = xr.Variable(dims, values, {"long_name": words, "units": units}, fastpath=True)  # without a look into dask
    return xr.DataArray(plain, name=name).assign_coords(time=ds["time"])


def _unit(vectors: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vectors / np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]


def where_known(change: Callable[[Array, Array], Array], q: Array, x: Array) -> Array:
    """A change of values by quaternions that are known; NaN by others."""
    known = np.isfinite(q).all(axis=-1) & (np.abs(q).sum(axis=-1) > 0.0) & np.isfinite(x).all(axis=-1)
    found = np.full(x.shape, np.nan)
    found[known] = change(q[known], x[known])
    return found


# ------------------------------------------------------------------ LVLH
def lvlh_attitude(position: Array, velocity: Array) -> Array:
    """Attitude of LVLH: quaternions (..., 4) that take its components to space."""
    z = -_unit(position)
    y = -_unit(np.cross(position, velocity))
    matrix = np.stack([np.cross(y, z), y, z], axis=-1)
    usable = np.isfinite(matrix).all(axis=(-2, -1))
    found = np.full((*usable.shape, 4), np.nan)
    if usable.any():
        found[usable] = rotation.quaternion_from_matrix(matrix[usable])
    return found


def lvlh(ds: xr.Dataset) -> xr.Dataset:
    """Attitude relative to LVLH: z to nadir, y against the orbit normal r x v, x = y x z, along the track."""
    r, v, leading = _moving(ds, "attitude", "angular_velocity")
    q = np.asarray(ds["attitude"].transpose(*leading, "quaternion").values, dtype=float)
    w = np.asarray(ds["angular_velocity"].transpose(*leading, "axis").values, dtype=float)
    frame = lvlh_attitude(r, v)
    relative, rate = np.full_like(q, np.nan), np.full_like(w, np.nan)
    angles = np.full_like(w, np.nan)
    usable = np.isfinite(frame).all(axis=-1) & np.isfinite(q).all(axis=-1) & (np.abs(q).sum(axis=-1) > 0.0)
    if usable.any():
        some = rotation.multiply(rotation.conjugate(frame[usable]), q[usable])
        relative[usable] = some
        angles[usable] = yaw_pitch_roll(some)
        turning = np.cross(r[usable], v[usable]) / np.einsum("ij,ij->i", r[usable], r[usable])[:, None]
        rate[usable] = w[usable] - rotation.rotate_inverse(q[usable], turning)
    rad, per_time = "rad", str(ds["angular_velocity"].attrs.get("units", ""))
    variables: dict[str, Any] = {
        "lvlh_attitude": (
            (*leading, "quaternion"), frame, {"long_name": "attitude of LVLH, LVLH to space", "units": "1"},
        ),
        "attitude_in_lvlh": (
            (*leading, "quaternion"), relative, {"long_name": "attitude relative to LVLH, body to LVLH", "units": "1"},
        ),
        "angular_velocity_in_lvlh": (
            (*leading, "axis"), rate, {"long_name": "angular velocity relative to LVLH, body frame", "units": per_time},
        ),
    }  # fmt: skip
    about = {"long_name": "roll, pitch and yaw relative to LVLH", "units": rad, "sequence": "ZYX"}
    variables["roll_pitch_yaw"] = ((*leading, "angle"), angles[..., ::-1].copy(), about)
    labels: dict[str, Any] = {word: ds[word] for word in ("axis", "quaternion") if word in ds.coords}
    labels["angle"] = xr.Variable("angle", pd.Index(ANGLE_NAMES), fastpath=True)
    return _dataset(ds, variables, "attitude relative to LVLH").assign_coords(labels)


def yaw_pitch_roll(q: Array) -> Array:
    """Yaw, pitch and roll (..., 3) of attitudes, for all attitudes: where pitch is +-pi/2 the roll is 0."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    sine = np.clip(2.0 * (w * y - x * z), -1.0, 1.0)
    roll = np.arctan2(2.0 * (w * x + y * z), w * w - x * x - y * y + z * z)
    yaw = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    locked = np.abs(sine) > 1.0 - 1e-14
    yaw = np.where(locked, np.arctan2(-2.0 * (x * y - w * z), w * w - x * x + y * y - z * z), yaw)
    cosine = np.hypot(2.0 * (w * x + y * z), w * w - x * x - y * y + z * z)
    return np.stack([yaw, np.arctan2(sine, np.where(locked, 0.0, cosine)), np.where(locked, 0.0, roll)], axis=-1)


def pointing_error(ds: xr.Dataset, axis: ArrayLike = (0.0, 0.0, 1.0), toward: ArrayLike = "nadir") -> xr.DataArray:
    """Angle between an axis of the body and a direction in space."""
    trajectory(ds, "attitude")
    leading = tuple(ds["attitude"].dims[:-1])
    q = np.asarray(ds["attitude"].values, dtype=float)
    along = vector(axis, "axis")
    if not along.any():
        raise InvalidInput("axis is zero; give a direction in the body frame")
    if isinstance(toward, str):
        if toward not in TARGETS:
            raise InvalidInput(f"toward is {toward!r}; choose one of {', '.join(TARGETS)}, or give a direction")
        r, v, _ = _moving(ds)
        if toward == "sun":
            sun = place_of_sun(ds)
            if sun is None:
                raise InvalidInput("toward is 'sun', but this run has no sunlight; give a direction instead")
            shaped = sun.reshape([*(len(sun) if dim == "time" else 1 for dim in leading), 3])
            target = shaped if sun_is_far(ds) else shaped - r
        else:
            target = {"nadir": -r, "velocity": v, "normal": np.cross(r, v)}[toward]
    else:
        target = vector(toward, "toward")
    turned_axis = where_known(rotation.rotate, q, np.broadcast_to(along, (*q.shape[:-1], 3)))
    a, b = np.broadcast_arrays(turned_axis, target)
    crossed = np.cross(a, b)
    angle = np.arctan2(np.sqrt(np.einsum("...i,...i->...", crossed, crossed)), np.einsum("...i,...i->...", a, b))
    words = toward if isinstance(toward, str) else "a direction"
    return _array(ds, angle, leading, "pointing_error", f"angle between a body axis and {words}")


def beta_angle(ds: xr.Dataset, sun: ArrayLike | None = None) -> xr.DataArray:
    """Angle of the Sun above the plane of the orbit, towards r x v."""
    r, v, leading = _moving(ds)
    there = place_of_sun(ds) if sun is None else vector(sun, "sun")
    if there is None:
        raise InvalidInput("sun is missing: this run has no sunlight; give the direction to the Sun")
    if sun is None:
        there = there.reshape([*(len(there) if dim == "time" else 1 for dim in leading), 3])
    n = np.cross(r, v)
    up, across = np.einsum("...i,...i->...", n, there), np.linalg.norm(np.cross(n, there), axis=-1)
    return _array(ds, np.arctan2(up, across), leading, "beta_angle", "angle of the Sun above the plane of the orbit")


# ------------------------------------------------------------------ elements
def relative_motion(
    ds: xr.Dataset, about: int | str | None = None
) -> tuple[Array, Array, float | Array | None, tuple[Hashable, ...]]:
    """Positions and velocities relative to what is orbited, and gravity parameters."""
    r, v, leading = _moving(ds)
    mus = gravity_parameters(ds)
    if mus is None:
        if about not in (None, "heaviest"):
            raise InvalidInput("about is for bodies that attract each other; leave it out: the centre is at the origin")
        known = centre(ds)
        return r, v, None if known is None else known.mu, leading
    if "body" not in leading:
        return r, v, None, leading
    at = leading.index("body")
    r, v = (np.moveaxis(a, at, -2) for a in (r, v))
    if about == "barycentre":
        share = mus / mus.sum()
        of_r, of_v = (np.einsum("...ij,i->...j", a, share)[..., None, :] for a in (r, v))
        pulling = mus.sum() * (1.0 - share) ** 3  # two bodies: mu of the other, seen from the centre of mass
    else:
        k = int(np.argmax(mus)) if about in (None, "heaviest") else whole(about, "about")
        if not 0 <= k < len(mus):
            raise InvalidInput(f"about is {k}, but there are bodies 0 to {len(mus) - 1}")
        of_r, of_v, pulling = r[..., k : k + 1, :], v[..., k : k + 1, :], mus[k] + mus
        pulling[k] = np.nan
    r, v = (np.moveaxis(a - of, -2, at) for a, of in ((r, of_r), (v, of_v)))
    shape = [1] * (r.ndim - 1)
    shape[at] = len(mus)
    return r, v, pulling.reshape(shape), leading


def gravity_parameters(ds: xr.Dataset) -> Array | None:
    """Gravity parameters (N,) of bodies that attract each other, from the record; None for other systems."""
    given = recorded(ds)
    if ds.attrs.get("system") != "gravitating_bodies":
        loads = [one for one in given.values() if isinstance(one, dict) and "on" not in one]
        pull = next((one for one in loads if one.get("kind") == "gravitation"), None)
        if pull is None or "body" not in ds.dims or "body" not in ds.coords:
            return None
        bodies = [given.get(str(name)) for name in ds["body"].values]
        if not all(isinstance(one, dict) and "mass" in one for one in bodies):
            return None
        given = {"mass": [one["mass"] for one in bodies], "G": pull["G"]}  # type: ignore[index]
    if "mu" in given:
        return np.array(given["mu"], dtype=float)
    return float(given.get("G", 1.0)) * np.array(given["mass"], dtype=float) if "mass" in given else None


def elements(ds: xr.Dataset, mu: float | None = None, about: int | str | None = None) -> xr.Dataset:
    """Osculating orbital elements: those of the conic that each row would go on along without further forces."""
    if about == "barycentre":
        raise InvalidInput("elements are about a body, not about the barycentre; choose a body, or 'heaviest'")
    r, v, known, leading = relative_motion(ds, about)
    if mu is not None or known is None:
        known = gravity_parameter(ds, mu)
    mus = np.broadcast_to(np.asarray(known, dtype=float), r.shape[:-1])
    d = np.sqrt(np.einsum("...i,...i->...", r, r))
    h = np.cross(r, v)
    with np.errstate(all="ignore"):
        p = np.einsum("...i,...i->...", h, h) / mus
        energy = 0.5 * np.einsum("...i,...i->...", v, v) - mus / d
        e = np.sqrt(np.maximum(0.0, 1.0 + 2.0 * energy * p / mus))
        usable = np.isfinite(p) & np.isfinite(energy) & (p > RECTILINEAR * d * (1.0 + e)) & (d > 0.0)
    found = {name: np.full(d.shape, np.nan) for name in ELEMENTS}
    found["distance"] = d
    if usable.any():
        some = orbits.classical_elements(r[usable], v[usable], mus[usable])
        size, ecc = some.semi_latus_rectum, np.asarray(some.eccentricity)
        with np.errstate(all="ignore"):
            a = -0.5 * mus[usable] / energy[usable]
            closed = (ecc < 1.0) & (a > 0.0)
            mean = np.full(ecc.shape, np.nan)
            if closed.any():
                mean[closed] = orbits.mean_from_true(np.asarray(some.true_anomaly)[closed], ecc[closed])
            period = np.where(closed, 2.0 * pi * a * np.sqrt(np.abs(a) / mus[usable]), np.nan)
            far = np.where(closed, size / (1.0 - ecc), np.inf)
        latitude = np.mod(some.argument_of_periapsis + some.true_anomaly, 2.0 * pi)
        values = (
            a, ecc, some.inclination, some.node, some.argument_of_periapsis, some.true_anomaly, latitude, mean, period,
            size / (1.0 + ecc), far,
        )  # fmt: skip
        for name, value in zip(ELEMENTS, values, strict=False):
            found[name][usable] = value
    length, time = str(ds["position"].attrs.get("units", "")), str(ds["time"].attrs.get("units", ""))
    lengths = ("semi_major_axis", "periapsis", "apoapsis", "distance")
    units = {name: length for name in lengths} | {"period": time, "eccentricity": "1"}
    return _dataset(ds, {
        name: (leading, values, {"long_name": ELEMENTS[name], "units": units.get(name, "rad")})
        for name, values in found.items()
    }, "osculating elements")  # fmt: skip


# ------------------------------------------------------------------ ground track, altitude, shadow
def _radius(ds: xr.Dataset, radius: float | None) -> float:
    if radius is not None:
        return number(radius, "radius", "m", positive=True)
    known = centre(ds)
    if known is None or known.radius is None:
        raise InvalidInput("radius is missing: this trajectory does not tell that of the central body; give it")
    return known.radius


def altitude(ds: xr.Dataset, radius: float | None = None) -> xr.DataArray:
    """Height above a sphere about the centre: distance less ``radius``, by default its equatorial radius."""
    trajectory(ds, "position")
    r = np.asarray(ds["position"].values, dtype=float)
    height = np.sqrt(np.einsum("...i,...i->...", r, r)) - _radius(ds, radius)
    units = str(ds["position"].attrs.get("units", ""))
    return _array(ds, height, ds["position"].dims[:-1], "altitude", "altitude above a sphere", units)


def ground_track(ds: xr.Dataset, rotation_rate: float | None = None, radius: float | None = None) -> xr.Dataset:
    """Longitude and latitude below each row, on a central body that rotates about z."""
    trajectory(ds, "position")
    known = centre(ds)
    if rotation_rate is None:
        rotation_rate = None if known is None else known.rotation
        if rotation_rate is None:
            raise InvalidInput("rotation_rate is missing: give it, or settings={'units': 'SI'} to a run about a planet")
    rate = number(rotation_rate, "rotation_rate", "rad / s")
    leading = tuple(ds["position"].dims[:-1])
    r = np.asarray(ds["position"].values, dtype=float)
    angle = turned(ds, np.atleast_1d(ds["time"].values), rate)
    angle = angle.reshape([len(angle) if dim == "time" else 1 for dim in leading])
    longitude = np.arctan2(r[..., 1], r[..., 0]) - angle
    longitude = np.mod(longitude + pi, 2.0 * pi) - pi
    latitude = np.arctan2(r[..., 2], np.hypot(r[..., 0], r[..., 1]))
    variables: dict[str, Any] = {
        "longitude": (leading, longitude, {"long_name": "longitude below the body", "units": "rad"}),
        "latitude": (leading, latitude, {"long_name": "geocentric latitude below the body", "units": "rad"}),
    }
    if radius is not None or (known is not None and known.radius is not None):
        height = altitude(ds, radius)
        variables["altitude"] = (leading, height.values, dict(height.attrs))
    return _dataset(ds, variables, "ground track")


def shadow(ds: xr.Dataset, sun: ArrayLike | None = None, radius: float | None = None) -> Array:
    """When the first body is in the shadow (penumbra included) of the centre; edges are sought on the cubics between
    rows, which may be apart by up to a quarter of a revolution."""
    cast = shadow_of(ds, sun, radius)
    r, v, leading = _moving(ds)
    if cast is None or leading not in (("time",), ("time", "body")):
        return np.empty((0, 2))
    if len(leading) == 2:
        r, v = r[:, 0], v[:, 0]
    times = np.asarray(ds["time"].values, dtype=float)
    if len(times) > 1 and times[-1] < times[0]:
        times, r, v = times[::-1], r[::-1], v[::-1]
    usable = np.isfinite(r).all(axis=1) & np.isfinite(v).all(axis=1) & np.append(True, np.diff(times) > 0.0)
    times, r, v = times[usable], r[usable], v[usable]
    if len(times) < 2:
        return np.empty((0, 2))
    square = np.einsum("ij,ij->i", r, r)
    rate = np.linalg.norm(np.cross(r, v), axis=1) / np.where(square > 0.0, square, np.inf)
    turn = float((0.5 * (rate[1:] + rate[:-1]) * np.diff(times)).max())
    if turn > FARTHEST:
        raise InvalidInput(
            f"rows are up to {turn / (2.0 * pi):.2g} of a revolution apart, between which shadows cannot be told; "
            "record more rows, at least four in a revolution (every, t_eval)"
        )
    t, path = between_rows(times, r, v, max(1, min(16, SOUGHT // len(times))))
    depth = cast.depth(t, path)
    inside = depth > 0.0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    step = depth[edges + 1] - depth[edges]
    crossing = t[edges] - depth[edges] * (t[edges + 1] - t[edges]) / np.where(step == 0.0, 1.0, step)
    found = [*([t[0]] if inside[0] else []), *crossing.tolist(), *([t[-1]] if inside[-1] else [])]
    return np.array(found).reshape(-1, 2)


FARTHEST = 1.02 * pi / 2
"""Largest angle (rad) about the centre between two rows, between which a cubic is close to the way."""
SOUGHT = 200_000  # most places between rows at which a shadow is sought


def hermite(a: Array, b: Array, da: Array, db: Array, h: Array, x: Array) -> Array:
    """The cubic from a to b with slopes da and db over an interval h, at its part x."""
    y = 1.0 - x
    return y * y * (1.0 + 2.0 * x) * a + x * x * (1.0 + 2.0 * y) * b + h * x * y * (y * da - x * db)


def between_rows(times: Array, points: Array, slopes: Array, many: int) -> tuple[Array, Array]:
    """Times and points at rows and ``many - 1`` times between each two, on the cubics through rows."""
    h, x = np.diff(times), np.arange(many) / many
    t = (times[:-1, None] + h[:, None] * x).ravel()
    h, x = (values.reshape(shape + (1,) * (points.ndim - 1)) for values, shape in ((h, (-1, 1)), (x, (1, -1))))
    a, b, da, db = (values[:, None] for values in (points[:-1], points[1:], slopes[:-1], slopes[1:]))
    path = hermite(a, b, da, db, h, x)
    return np.append(t, times[-1]), np.concatenate([path.reshape(-1, *points.shape[1:]), points[-1:]])
