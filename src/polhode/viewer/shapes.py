"""Shapes of bodies: solids of uniform density with the moments of the run, molecules, points; and what to call them.

A cuboid of mass m with sides a, b, c has the moments m (b^2 + c^2)/12, ...; so sides follow from moments,
a^2 = 6 (I_y + I_z - I_x)/m; half axes of an ellipsoid are sqrt(5/12) of them. A disc of radius r and thickness d, on a
stem of length l without mass, has the moments m (l^2 + r^2/4 + d^2/12) about the end of the stem, and m r^2/2: so it
follows from the ratio of the moments of a symmetric top and from its centre of mass.
"""

from __future__ import annotations

import io
import json
import os
from math import pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import reading
from polhode.algebra import rotation
from polhode.arguments import Array, ArrayLike, Indices, array, path as checked_path
from polhode.errors import FileProblem, InvalidInput, PolhodeError, shown
from polhode.lazy import extra
from polhode.plots.shown import Shown
from polhode.plots.solids import sides
from polhode.viewer.arrays import Arrays

THINNEST = 0.04  # least side of a cuboid, as a part of its largest: a plate or a rod stays visible
THICK = 0.15  # thickness of the disc of a top over the height of its middle
WIDEST = 4.0  # largest radius of that disc, likewise
HEAVY = 1e8  # mass above which a body is rock, and an ellipsoid
CRAFT = ("spacecraft", "gravity_gradient")
"""Systems of a spacecraft."""
POINT = 0.02  # radius of a point mass, as a part of the extent of its path
ATOMS = {
    "H": (0.031, "#e6e6e6"), "C": (0.077, "#555555"), "N": (0.070, "#3f64c9"), "O": (0.066, "#d0342c"),
    "X": (0.0, ""), "M": (0.0, ""),
}  # fmt: skip
"""Radius (nm) and colour of atoms; what has none is a charge without mass."""
BOND = 1.35  # atoms are drawn so many times as large, so that those that are bound touch
SPARSE, SEEN = 8.0, 0.4
"""Distance of neighbours in sizes of a molecule above which molecules are drawn larger: this part of the distance."""
PLUS, MINUS = "#d55e00", "#0072b2"
"""Ends of a dipole."""
GRAVITY = 9.81
"""Acceleration by which a weight is read as a mass, where the record states none; of the shape alone."""


class Shape(NamedTuple):
    """A list of shapes, one for all bodies or one for each; where the fixed point is; what the shape is."""

    shapes: list[dict[str, Any]]
    pivot: list[float] | None
    words: str


def of_run(run: Shown, arrays: Arrays, mesh: tuple[Any, Any] | None) -> Shape:
    """Shapes of the bodies of a run."""
    if mesh is not None:
        pivot = None if run.top is None else [0.0, 0.0, 0.0]
        return Shape([_mesh(arrays, *mesh)], pivot, "your mesh, in the axes of the body")
    if run.molecules:
        return _molecule(run)
    if run.inertia:
        return _solids(run) if run.top is None else _top(run, run.top)
    extent, r = 1.0 / POINT, run.of("position")
    if r is not None:
        size = float(np.ptp(r.reshape(-1, 3), axis=0).max()) or float(np.abs(r).max())
        extent = size if size > 0.0 else 1.0
    if run.bodies > 1 and run.mass is not None:
        sizes = np.cbrt(run.mass / run.mass.max())
        return Shape([{"kind": "sphere", "radius": float(POINT * extent * max(one, 0.35))} for one in sizes], None,
                     "points; sizes by the cube root of the mass, not to scale")  # fmt: skip
    kind = "body" if "attitude" in run.whole else "point"
    return Shape([{"kind": "sphere", "radius": POINT * extent}], None, f"a {kind}, not to scale")


# ------------------------------------------------------------------ solids
def _solids(run: Shown) -> Shape:
    masses = run.mass if run.mass is not None and "position" in run.whole else None
    if masses is None and run.arguments.get("mass") is not None:
        masses = run.mass
    many = len(run.inertia) > 1 or (masses is not None and len(set(masses.tolist())) > 1)
    shapes = []
    for k in range(run.bodies if many else 1):
        moments, frame = run.inertia[k if len(run.inertia) > 1 else 0]
        if moments.any():
            size = sides(moments, None if masses is None else float(masses[k]), THINNEST)
            shapes.append(_solid(run, size, frame, 0.0 if masses is None else float(masses[k])))
        else:
            shapes.append({"kind": "sphere", "radius": _ball(run, k)})
    moments = next(one for one, _ in run.inertia if one.any())
    impossible = moments.max() > (1.0 + 1e-9) * (moments.sum() - moments.max())
    kinds = {one["kind"] for one in shapes} - {"sphere"}
    words = ("ellipsoid" if kinds == {"ellipsoid"} else "cuboid") + " of uniform density with these moments"
    words += "; its size is free" * (masses is None) + "; dish and panels have no mass" * ("craft" in kinds)
    if impossible:
        words = "thin cuboid: no body has these moments, one of which exceeds the sum of the others"
    return Shape(shapes, None, words)


def _ball(run: Shown, k: int) -> float:
    """Radius of a point among bodies: that of a ball as dense as the first body with an inertia."""
    solid = next(j for j, (moments, _) in enumerate(run.inertia) if moments.any())
    if run.mass is None or not run.mass[solid]:
        return 0.3
    volume = float(np.prod(sides(run.inertia[solid][0], float(run.mass[solid]), THINNEST)))
    return float(np.cbrt(0.75 / pi * volume * run.mass[k] / run.mass[solid]))


def _solid(run: Shown, size: Array, frame: Array, mass: float) -> dict[str, Any]:
    """A body along its principal axes: rock where it is heavy, a spacecraft where it is one, else a cuboid."""
    found: dict[str, Any] = {"kind": "box", "size": [float(a) for a in size]}
    if mass > HEAVY:
        found = {"kind": "ellipsoid", "axes": [sqrt(5.0 / 12.0) * float(a) for a in size]}
    elif run.system in CRAFT or run.centre is not None or "wheel_momentum" in run.whole:
        found |= {"kind": "craft", "panels": run.centre is not None or run.system in CRAFT}
    if abs(abs(frame[0]) - 1.0) >= 1e-12:
        found["frame"] = [float(a) for a in frame]
    return found


def _mesh(arrays: Arrays, vertices: Array, faces: ArrayLike) -> dict[str, Any]:
    return {"kind": "mesh", "vertices": arrays.single(vertices), "faces": arrays.whole(faces)}


def _top(run: Shown, centre: Array) -> Shape:
    """A top: a cone on its tip where it is symmetric about the axis of its centre of mass, else a cuboid."""
    moments, frame = run.inertia[0]
    distance = float(np.linalg.norm(centre))
    if not np.isfinite(distance) or distance == 0.0:
        solid = _solids(run)
        return Shape(solid.shapes, [0.0, 0.0, 0.0], solid.words + ", held at its centre of mass")
    axis = centre / distance
    turn = rotation.matrix_from_quaternion(frame)
    tensor = turn @ np.diag(moments) @ turn.T
    along = float(axis @ tensor @ axis)
    across = 0.5 * (float(np.trace(tensor)) - along)
    even = along * np.outer(axis, axis) + across * (np.eye(3) - np.outer(axis, axis))
    if np.abs(tensor - even).max() <= 1e-9 * np.abs(tensor).max() and along < 1.96 * across:
        ratio, thick = along / across, THICK * distance
        asked = sqrt((distance**2 + thick**2 / 12.0) * ratio / (0.5 - 0.25 * ratio))
        radius = min(asked, WIDEST * distance)
        same = "same ratio of the moments, same" if radius == asked else "less wide than its moments ask for, same"
        words = f"disc on a stem that has no mass: {same} centre of mass"
        disc = {"kind": "top", "axis": [float(a) for a in axis], "height": distance, "radius": radius, "thick": thick}
        return Shape([disc], [float(-c) for c in centre], words)
    stated = run.argument("mass")
    weight = run.argument("weight")
    mass = stated or (abs(weight) / GRAVITY if weight else float(np.trace(tensor)) / (2.0 * distance**2))
    own = tensor
    for _ in range(60):  # until it is the inertia of some body
        own = tensor - mass * (distance**2 * np.eye(3) - np.outer(centre, centre))
        values = np.linalg.eigvalsh(own)
        if values[0] > 0.0 and values[2] <= values[0] + values[1]:
            break
        mass *= 0.8
    values, axes = np.linalg.eigh(own)
    axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
    frame = rotation.quaternion_from_matrix(axes)
    shape = _solid(run, sides(np.maximum(values, 1e-12 * abs(values).max()), mass, THINNEST), frame, 0.0)
    words = "cuboid of uniform density with these moments"
    words += "" if mass == stated else f", for a mass of {mass:.3g}, since the record states none that fits"
    return Shape([shape], [float(-c) for c in centre], words)


# ------------------------------------------------------------------ molecules
def _molecule(run: Shown) -> Shape:
    shapes, size, words = _close_to(run)
    apart = _spacing(run)
    if apart > SPARSE * size:  # a gas, of which nothing would be seen
        factor = SEEN * apart / size
        for shape in shapes:
            for atom in shape.get("atoms", ()):
                atom |= {"at": [factor * x for x in atom["at"]], "radius": factor * atom["radius"]}
            if "radius" in shape:
                shape["radius"] *= factor
        words += f"; drawn {factor:.3g} times as large"
    return Shape(shapes, None, words)


def _close_to(run: Shown) -> tuple[list[dict[str, Any]], float, str]:
    """Shapes of molecules in their true size, this size, and words."""
    if "site_position" in run.whole and "site" in run.whole.variables:
        names = [str(name).rstrip("0123456789") for name in run.whole["site"].values]
        atoms: list[dict[str, Any]] = []
        for name, at in zip(names, run.whole["site_position"].values, strict=True):
            radius, colour = ATOMS.get(name, ATOMS["C"])
            if radius:
                atoms.append({"at": [float(x) for x in at], "radius": BOND * radius, "colour": colour})
        size = 2.0 * max(float(np.linalg.norm(atom["at"])) + atom["radius"] for atom in atoms)
        return [{"kind": "atoms", "atoms": atoms}], size, "atoms of the molecule; radii are covalent"
    sigma = run.argument("sigma") or SEEN * _spacing(run)
    if "dipole" not in run.whole:
        return [{"kind": "sphere", "radius": 0.5 * sigma}], sigma, "spheres"
    shapes = []
    given = np.asarray(run.whole["dipole"].values, dtype=float).reshape(-1, 3)
    for d in given[:1] if len(np.unique(given, axis=0)) == 1 else given:
        length = float(np.linalg.norm(d))
        along = d / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        ends = [{"at": [float(x) for x in s * 0.18 * sigma * along], "radius": 0.26 * sigma, "colour": colour}
                for s, colour in ((1.0, PLUS), (-1.0, MINUS))]  # fmt: skip
        shapes.append({"kind": "atoms", "atoms": ends})
    return shapes, sigma, "dipoles: orange the positive end, blue the negative one"


def _spacing(run: Shown) -> float:
    """Mean distance of neighbours, by the volume of the box or that of the cloud."""
    r = run.of("position")
    if "box" in run.whole:
        volume = float(np.prod(run.whole["box"].values))
    elif r is None:
        return 1.0
    else:
        sides = np.ptp(r[0], axis=0)
        volume = float(np.prod(np.maximum(sides, 1e-3 * sides.max())))
    return float(np.cbrt(volume / max(1, run.bodies))) or 1.0


SUFFIXES = (".stl", ".obj", ".ply", ".off", ".glb")
MOST_TRIANGLES = 200_000  # most triangles: a page with more is large and slow


def mesh_of(given: Path | int | tuple[list[list[int]], list[list[float]]] | None) -> tuple[Any, Any] | None:
    """Corners (V, 3) and triangles (F, 3) of a file, or of arrays ``(vertices, faces)``; None of None."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        return _checked(*_read(checked_path(given, "mesh")))
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise InvalidInput(f"mesh must be the name of a file or (vertices, faces), not {shown(given)}")
    return _checked(*given)


def _checked(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, Indices]:
    corners = array(vertices, "vertices of mesh", "m")
    numbers = array(faces, "faces of mesh")
    if corners.ndim != 2 or corners.shape[1] != 3 or not len(corners):
        raise InvalidInput(f"vertices of mesh must have the shape (V, 3), not {corners.shape}")
    if numbers.ndim != 2 or numbers.shape[1] != 3 or not len(numbers):
        raise InvalidInput(f"faces of mesh must be triangles, of the shape (F, 3), not {numbers.shape}")
    whole = numbers.astype(np.int64)
    if (whole != numbers).any() or whole.min() < 0 or whole.max() >= len(corners):
        raise InvalidInput(f"faces of mesh must be numbers of vertices, from 0 to {len(corners) - 1}")
    _few(len(whole))
    return corners, whole


def _few(triangles: int) -> None:
    if triangles > MOST_TRIANGLES:
        raise InvalidInput(f"mesh has {triangles:,} triangles; simplify it to {MOST_TRIANGLES:,} or fewer")


def _corners_in_glb(content: bytes) -> int:
    """How many corners of triangles the header says, which may be more than there are bytes."""
    head = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    counts = [int(one["count"]) for one in head.get("accessors", [])]
    parts = [[part.get("indices", part["attributes"]["POSITION"]) for part in one["primitives"]]
             for one in head.get("meshes", [])]  # fmt: skip
    shown = [counts[k] for node in head.get("nodes", []) if "mesh" in node for k in parts[node["mesh"]]]
    return max(sum(shown), *counts, 0)


def _read(name: str) -> tuple[Array, Indices]:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(f"mesh {name!r} must end in one of {', '.join(SUFFIXES)}")
    reading.check(name, "mesh")
    needed = "to read a mesh the package trimesh is needed; pip install 'polhode[mesh]', or give (vertices, faces)"
    trimesh = extra("trimesh", needed)
    try:
        content = reading.data(name, "mesh")
        if suffix == ".glb":
            _few(_corners_in_glb(content) // 3)
        found: Any = trimesh.load(  # of bytes, so that no other file is looked for beside it
            io.BytesIO(content), file_type=suffix[1:], force="mesh", process=False, skip_materials=True
        )
        vertices, faces = np.asarray(found.vertices, dtype=float), np.asarray(found.faces)
    except PolhodeError:
        raise
    except Exception as problem:  # whatever a file that is no mesh makes of a reader
        raise FileProblem(
            f"cannot read the mesh {name!r}: it is torn or not one ({type(problem).__name__})"
        ) from problem
    if not len(faces) or not np.isfinite(vertices).all():
        raise FileProblem(f"the mesh {name!r} has no triangles, or corners that are no numbers; check the file")
    return vertices, faces
