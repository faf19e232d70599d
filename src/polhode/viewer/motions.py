"""Attitudes, positions, arrows and Poinsot's picture of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.errors import naming
from polhode.viewer import equipment, shapes
from polhode.viewer.arrays import DRAWN, Arrays
from polhode.viewer.recorded import Recorded

MOMENTUM, VELOCITY, CENTRE = "#0072b2", "#d55e00", "#009e73"
"""Colours of arrows: angular momentum, angular velocity, direction to the centre."""
FREE = 1e-6
"""Relative change of the spatial angular momentum below which a motion is drawn as free."""
POINTS = 400
"""Points of the curve of the polhode."""


def attitude(run: Recorded) -> Array | None:
    """Unit quaternions (F, B, 4), each on the side of the one before; None for points."""
    q = run.of("attitude")
    if q is None:
        return None
    return steady(q / np.linalg.norm(q, axis=-1, keepdims=True))


def steady(q: Array) -> Array:
    """Quaternions (F, ..., 4), each on the side of the one before."""
    steps = np.einsum("...i,...i->...", q[1:], q[:-1])
    flips = np.cumprod(np.where(steps < 0.0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * flips[..., None]])


def bodies(run: Recorded, arrays: Arrays, shape: shapes.Shape) -> dict[str, Any]:
    """The entry ``bodies`` of a run."""
    q, r = attitude(run), positions(run)
    found: dict[str, Any] = {
        "count": run.bodies,
        "attitude": None if q is None else arrays.short(q, 1.0),
        "position": None if r is None else position(run, arrays, r),
        "shapes": shape.shapes,
        "axes": q is not None and not run.molecules,
    }
    if run.mass is not None:
        found["mass"] = arrays.single(run.mass)
    names = names_of(run)
    return found | ({"names": names} if names else {})


def position(run: Recorded, arrays: Arrays, r: Array) -> dict[str, Any]:
    """Reference to positions: in a cell to a part in 32767 of its edge, else by their own size."""
    box = cell(run)
    return arrays.single(r) if box is None else arrays.short(r, max(box))


def names_of(run: Recorded) -> list[str]:
    """Names of the bodies, where they have some."""
    if "body" in run.whole.coords and run.whole["body"].dtype.kind in "UO":
        return [str(one) for one in run.whole["body"].values]
    return []


def cell(run: Recorded) -> list[float] | None:
    """Edges of the periodic box."""
    return [float(a) for a in run.whole["box"].values] if "box" in run.whole else None


def positions(run: Recorded) -> Any:
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


def pins(run: Recorded) -> Array | None:
    """Where bodies are pinned, (F, B, 3), if not all at the origin."""
    places = [run.arguments.get(name, {}).get("at") for name in names_of(run)]
    if not any(places):
        return None
    return np.tile([one or (0.0, 0.0, 0.0) for one in places], (run.ds.sizes["time"], 1, 1))


def barycentric(run: Recorded) -> bool:
    """Whether positions are shown about the barycentre."""
    return run.system == "gravitating_bodies" and run.mass is not None


def barycentre(run: Recorded, r: Array) -> Array:
    """That of the bodies, (F, 1, 3)."""
    weights = run.mass / run.mass.max()
    return (np.einsum("b,fbi->fi", weights, r) / weights.sum())[:, None]


def spin(run: Recorded) -> tuple[Any, Any] | None:
    """Angular momentum of the first body, about its centre of mass or fixed point, and angular velocity; in space."""
    q, m, w = (run.first(name) for name in ("attitude", "angular_momentum", "angular_velocity"))
    if q is None or m is None or w is None:
        return None
    with naming(q="attitude", v="angular_momentum"):
        turned = rotation.rotate(q, m)
    with naming(v="angular_velocity"):
        return turned, rotation.rotate(q, w)


def vectors(run: Recorded, arrays: Arrays) -> list[dict[str, Any]]:
    """Arrows of the first body, in space."""
    found = spin(run)
    if found is None or run.molecules:
        return []
    arrows = [
        {"name": "angular momentum", "colour": MOMENTUM, "space": arrays.short(found[0], steps=DRAWN)},
        {"name": "angular velocity", "colour": VELOCITY, "space": arrays.short(found[1], steps=DRAWN)},
    ]
    r = run.first("position")
    if run.system == "spacecraft" and r is not None:
        arrows.append({"name": "to the centre", "colour": CENTRE, "space": arrays.short(-_unit(r), steps=DRAWN)})
    arrows += equipment.arrows(run, arrays)
    if run.system == "gravity_gradient":
        up = np.broadcast_to([0.0, 0.0, 1.0], (len(run.times), 3))
        arrows.append({"name": "to the centre", "colour": CENTRE, "space": arrays.short(up, steps=DRAWN)})
    return arrows


def _unit(r: Array) -> Array:
    length = np.linalg.norm(r, axis=-1, keepdims=True)
    return r / np.where(length > 0.0, length, 1.0)


# ------------------------------------------------------------------ Poinsot
def is_free(run: Recorded) -> bool:
    """Whether the angular momentum of the first body stands in space, by what the run conserves or by its rows."""
    found = spin(run)
    if found is None:
        return False
    if "position" not in run.whole and "angular_momentum_space" in run.conserved:
        return True
    L = found[0]
    size = float(np.linalg.norm(L[0]))
    return size > 0.0 and float(np.linalg.norm(L - L[0], axis=1).max()) <= FREE * size


def poinsot(run: Recorded, arrays: Arrays) -> dict[str, Any] | None:
    """Polhode and herpolhode of the first body, scaled by its initial momentum and energy of rotation.

    The angular momentum in the body is given over its initial length; ``energy`` is T / |m|^2 at the start. Of a free
    motion there are also the whole curve of the polhode, and the tip of the angular velocity, w / sqrt(2 T): it lies on
    the ellipsoid of inertia, sum I_i x_i^2 = 1, which rolls on the plane at the distance sqrt(2 T)/|m|.
    """
    found = spin(run)
    if found is None or run.molecules or run.bodies > 1 or not run.inertia:
        return None
    moments, frame = run.inertia[0]
    m, w = run.first("angular_momentum"), run.first("angular_velocity")
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
        points = polhode_curve(tensor, m[0], POINTS, physical=False).angular_momentum
        curve = arrays.short(points / size, steps=DRAWN)
        plane = {"normal": [float(x) for x in found[0][0] / size], "distance": float(np.sqrt(twice[0]) / size)}
    return {
        "moments": [float(one) for one in moments], "frame": [float(one) for one in axes.ravel()],
        "polhode": arrays.short(m / size, steps=DRAWN), "energy": float(0.5 * twice[0] / size / size), "curve": curve,
        "herpolhode": tip, "plane": plane,
    }  # fmt: skip
