"""Shapes of the user's own: files of triangles, or arrays of corners and faces."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import Array, ArrayLike, Indices, array, path as checked_path
from polhode.errors import FileProblem, InvalidInput, MissingExtra, PolhodeError, shown

SUFFIXES = (".stl", ".obj", ".ply", ".off", ".glb")
MOST = 200_000
"""Most triangles: a page with more is large and slow."""


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
    if triangles > MOST:
        raise InvalidInput(f"mesh has {triangles:,} triangles; simplify it to {MOST:,} or fewer")


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
    try:
        import trimesh
    except ImportError:
        raise MissingExtra(
            "to read a mesh the package trimesh is needed; pip install 'polhode[mesh]', or give (vertices, faces)"
        ) from None
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
