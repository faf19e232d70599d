"""One body as seen from another, and which bodies loads act between or joints hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, choice, whole
from polhode.errors import InvalidInput, unknown_name
from polhode.lazy import xr
from polhode.trajectory.frames import lvlh_attitude, where_known
from polhode.trajectory.schema import trajectory
from polhode.trajectory.surroundings import recorded

JOINTS = ("ball", "hinge", "slider", "weld", "rod")
FRAMES = ("space", "body", "lvlh")
"""Axes of relative positions: of space, of the body that is seen from, of its LVLH."""


def index_of(ds: xr.Dataset, dim: str, one: int | str) -> int:
    """The place of a body or member, given by it or, of bodies with names, by its name."""
    names = [str(label) for label in ds[dim].values] if dim in ds.coords and isinstance(one, str) else []
    if isinstance(one, str):
        if one not in names:
            raise unknown_name(dim, one, names)
        return names.index(one)
    many = ds.sizes[dim]
    if not 0 <= whole(one, dim, -(2**53)) < many:
        raise InvalidInput(f"{dim} is {one}; there are {many}, give one of 0 to {many - 1}")
    return int(one)


def relative(ds: xr.Dataset, origin: int | str, other: int | str, frame: str = "space") -> xr.Dataset:
    """One body as seen from another; arguments and result as those of ``ds.polhode.relative``."""
    trajectory(ds, "position", "velocity")
    if "body" not in ds.dims:
        raise InvalidInput("relative needs two bodies, but this trajectory is of one")
    k, j = (index_of(ds, "body", one) for one in (origin, other))
    if k == j:
        raise InvalidInput(f"relative: {origin!r} and {other!r} are the same body; give two")
    needed = {"space": (), "body": ("attitude", "angular_velocity"), "lvlh": ()}[choice(frame, "frame", FRAMES)]
    trajectory(ds, *needed)
    rows = tuple(dim for dim in ds["position"].dims if dim not in ("body", "axis"))

    def of(name: str, last: str) -> tuple[Array, Array]:
        values = np.asarray(ds[name].transpose("body", *rows, last).values, dtype=float)
        return values[k], values[j]

    (r0, r1), (v0, v1) = of("position", "axis"), of("velocity", "axis")
    r, v = r1 - r0, v1 - v0
    if frame != "space":
        if frame == "body":
            axes, turning = of("attitude", "quaternion")[0], of("angular_velocity", "axis")[0]
        else:
            axes = lvlh_attitude(r0, v0)
            rate = np.linalg.norm(np.cross(r0, v0), axis=-1) / np.einsum("...i,...i->...", r0, r0)
            turning = -rate[..., None] * np.eye(3)[1]
        r, v = _in_axes(axes, r), _in_axes(axes, v)
        v = v - np.cross(turning, r)
    distance = np.linalg.norm(r, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        closing = np.einsum("...i,...i->...", r, v) / distance
    length, speed = (str(ds[name].attrs.get("units", "")) for name in ("position", "velocity"))
    where = {"space": "in space", "body": "in the axes of the first", "lvlh": "in the LVLH of the first"}[frame]
    variables: dict[str, Any] = {
        "position": ((*rows, "axis"), r, {"long_name": f"position of the second body, {where}", "units": length}),
        "velocity": ((*rows, "axis"), v, {"long_name": "rate of change of this position", "units": speed}),
        "distance": (rows, distance, {"long_name": "distance of the two bodies", "units": length}),
        "range_rate": (rows, closing, {"long_name": "rate of change of the distance", "units": speed}),
    }
    if "attitude" in ds and "angular_velocity" in ds:
        (q0, q1), (w0, w1) = of("attitude", "quaternion"), of("angular_velocity", "axis")
        q = where_known(rotation.multiply, rotation.conjugate(q0), q1)
        angle = 2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0]))
        told = "attitude of the second body, its axes to those of the first"
        variables |= {
            "attitude": ((*rows, "quaternion"), q, {"long_name": told, "units": "1"}),
            "angle": (rows, angle, {"long_name": "angle between the two attitudes", "units": "rad"}),
            "angular_velocity": ((*rows, "axis"), w1 - _in_axes(q, w0), {
                "long_name": "angular velocity of the second body relative to the first, axes of the second",
                "units": str(ds["angular_velocity"].attrs.get("units", "")),
            }),
        }  # fmt: skip
    kept = {name: ds[name] for name in (*rows, "axis", "quaternion") if name in ds.coords}
    return xr.Dataset(variables, attrs={"title": f"{other} as seen from {origin}"}).assign_coords(kept)


def _in_axes(q: Array, x: Array) -> Array:
    """Vectors in axes that quaternions take to space."""
    return where_known(rotation.rotate_inverse, q, x)


def joined(ds: xr.Dataset, turning: bool = False) -> list[tuple[int, int]]:
    """Places of bodies between which loads or controllers act; of ``turning`` only where both have an inertia."""
    if "body" not in ds.dims or "body" not in ds.coords:
        return []
    names, given = [str(one) for one in ds["body"].values], recorded(ds)
    found: list[tuple[int, int]] = []
    for one in given.values():
        on = one.get("on") if isinstance(one, Mapping) else None
        if not isinstance(on, list) or len(on) != 2 or not all(name in names for name in on):
            continue
        pair = (names.index(on[0]), names.index(on[1]))
        solid = all(isinstance(given.get(name), Mapping) and "inertia" in given[name] for name in on)
        if pair not in found and pair[::-1] not in found and (solid or not turning):
            found.append(pair)
    return found


class Fastening(NamedTuple):
    """A joint of a run; a body of -1 is the ground."""

    name: str
    kind: str
    bodies: list[int]
    points: list[Array]
    axes: list[Array]
    length: float


def fastenings(ds: xr.Dataset) -> list[Fastening]:
    """The joints of a run, with points, and unit vectors along axes or zeros, in the axes of both bodies."""
    given, found = recorded(ds), []
    names = [name for name, one in given.items() if isinstance(one, Mapping) and one.get("kind") == "body"]
    if "body" in ds.dims:
        names = [str(one) for one in ds["body"].values] if "body" in ds.coords else []
    for name, one in given.items():
        on = one["on"] if isinstance(one, Mapping) and one.get("kind") in JOINTS else []
        if len(on) != 2 or on[0] not in names or on[1] not in (*names, "ground"):
            continue
        *points, axis = (np.asarray(one.get(word, (0.0, 0.0, 0.0)), dtype=float) for word in ("at", "of_other", "axis"))
        other = np.asarray(one.get("axis_of_other") or axis, dtype=float)
        if one["kind"] == "slider" and "attitude" in one:
            other = rotation.rotate(np.asarray(one["attitude"], dtype=float), axis)
        axes = [x / (np.linalg.norm(x) or 1.0) for x in (axis, other)]
        bodies = [names.index(body) if body in names else -1 for body in on]
        found.append(Fastening(name, one["kind"], bodies, points, axes, float(one.get("length", 0.0))))
    return found


def apart(ds: xr.Dataset, one: Fastening) -> tuple[Array, Array]:
    """From the point of the second body of a joint to that of the first (time, 3), and the second's axis, in space."""
    n, ends = ds.sizes["time"], list[Array]()
    for b, at, axis in zip(one.bodies, one.points, one.axes, strict=True):
        end, along = at + np.zeros((n, 3)), axis + np.zeros((n, 3))
        if b >= 0 and "attitude" in ds:
            q: Array = ds["attitude"].values.reshape(n, -1, 4)[:, b]
            end, along = rotation.rotate(q, end), rotation.rotate(q, along)
        ends.append(end + ds["position"].values.reshape(n, -1, 3)[:, b] if b >= 0 else end)
    return ends[0] - ends[1], along


def gap(ds: xr.Dataset, one: Fastening) -> Array:
    """How far a joint is open (time,): the distance of its points, of a slider across its axis, of a rod less its
    length."""
    d, axis = apart(ds, one)
    if one.kind == "slider":
        d = d - np.einsum("ti,ti->t", d, axis)[:, None] * axis
    return np.abs(np.sqrt(np.einsum("ti,ti->t", d, d)) - one.length)


def coordinate(ds: xr.Dataset, one: Fastening) -> tuple[Array, Array]:
    """The coordinate of a joint and its rate (time,): of a hinge its angle with its turns, zero where the axes of both
    bodies coincide, or after the shortest turn of one's axis into the other's; of a slider its length; else NaN."""
    n = ds.sizes["time"]
    if one.kind not in ("hinge", "slider"):
        return np.full(n, np.nan), np.full(n, np.nan)
    still = {"attitude": (1.0, 0.0, 0.0, 0.0), "angular_velocity": (0.0,) * 3, "velocity": (0.0,) * 3}
    (qa, wa, va), (qb, wb, vb) = (
        [ds[name].values.reshape(n, -1, len(rest))[:, b] if b >= 0 else np.tile(rest, (n, 1))
         for name, rest in still.items()] for b in one.bodies
    )  # fmt: skip
    (d, axis), wa, wb = apart(ds, one), rotation.rotate(qa, wa), rotation.rotate(qb, wb)
    if one.kind == "hinge":
        first, second = one.axes
        across, along = np.cross(first, second), 1.0 + first @ second
        if along < 1e-12:  # half a turn about any axis across
            across = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
        zero = np.array([along, *across]) / np.sqrt(along**2 + across @ across)
        back = (1.0, -1.0, -1.0, -1.0)
        q = rotation.multiply(rotation.multiply(qb * back, qa), zero * back)
        angle = 2.0 * np.arctan2(q[:, 1:] @ second, q[:, 0])
        return np.unwrap((angle + np.pi) % (2.0 * np.pi) - np.pi), ((wa - wb) * axis).sum(axis=1)
    u, w = (rotation.rotate(q, at) for q, at in zip((qa, qb), one.points, strict=True))
    rate = va + np.cross(wa, u) - vb - np.cross(wb, w)
    return (d * axis).sum(axis=1), (rate * axis + d * np.cross(wb, axis)).sum(axis=1)


def joint_motion(ds: xr.Dataset) -> xr.Dataset:
    """Coordinates, rates and gaps of all joints of a run."""
    held = fastenings(ds)
    if not held:
        raise InvalidInput(f"joints: {ds.attrs.get('system', 'this run')!r} has no joints")
    moving = [coordinate(ds, one) for one in held]
    columns = {
        "coordinate": ([a for a, _ in moving], "angle of a hinge (rad), length of a slider"),
        "rate": ([b for _, b in moving], "its rate"),
        "gap": ([gap(ds, one) for one in held], "how far the joint is open"),
    }
    return xr.Dataset(
        {name: (("time", "joint"), np.stack(values, axis=1), {"long_name": told})
         for name, (values, told) in columns.items()},
        coords={"time": ds["time"], "joint": [one.name for one in held], "kind": ("joint", [one.kind for one in held])},
    )  # fmt: skip
