"""Mass properties of the solid inside a closed triangle mesh."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.arguments import array, in_unit, number
from polhode.bodies.inertia.checks import EPSILON, Array, bounded
from polhode.bodies.inertia.mass_properties import MassProperties
from polhode.bodies.inertia.second_moments import inertia_from_second_moments
from polhode.errors import InvalidInput, answering


@answering
def mesh(
    vertices: ArrayLike, faces: ArrayLike, *, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """Homogeneous solid inside a closed triangle mesh.

    Parameters
    ----------
    vertices : array_like, shape (n, 3)
        Positions. Vertices at exactly the same position are merged, so a list of separate triangles is allowed.
    faces : array_like of int, shape (m, 3)
        Indices of the corners of each triangle, counted from 0, all oriented outward or all inward. A cavity is a
        closed surface of opposite orientation. Triangles with coinciding corners are skipped.
    density, mass : float
        One of the two, positive: mass per volume, or the total mass.

    Returns
    -------
    MassProperties
        In the axes of ``vertices``.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, an index out of range, neither or both of ``density`` and ``mass``, a repeated face,
        a surface that is open, inconsistently oriented or without volume.

    Notes
    -----
    Exact for the polyhedron: each triangle (a, b, c) forms with an apex at the origin a tetrahedron of signed
    volume V = det(a, b, c) / 6, first moment V (a + b + c) / 4 and second moments
    V ((a + b + c)(a + b + c)^T + a a^T + b b^T + c c^T) / 20 [zhang2001]. The apex is put in the middle of the
    vertices, and the sums are shifted to the centre of mass at the end. Self-intersections are not detected.

    Examples
    --------
    >>> import polhode as ph
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> wedge = ph.inertia.mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], density=2700.0)
    >>> wedge.mass, wedge.center_of_mass
    (450.0, array([0.25, 0.25, 0.25]))
    """
    if density is not None and mass is None:
        given, name = density, "density"
    elif mass is not None and density is None:
        given, name = mass, "mass"
    else:
        raise InvalidInput("mesh needs one of density and mass; give one of them and leave the other out")
    amount = number(given, name, "kg / m**3" if name == "density" else "kg", positive=True)
    bounded(amount, name)
    points = array(vertices, "vertices", "m")
    bounded(points, "vertices")
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidInput(f"vertices must have shape (n, 3), but their shape is {points.shape}")
    corners = points[_closed_faces(points, faces)]
    middle = 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))
    a, b, c = (corners[:, k] - middle for k in range(3))
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = math.fsum(six_volumes) / 6.0
    if abs(volume) <= 64.0 * EPSILON * math.fsum(np.abs(six_volumes)):
        raise InvalidInput("faces enclose no volume; check that the surface is not flat and not folded onto itself")
    weights = six_volumes / (6.0 * volume)  # their sum is 1 for either orientation
    total = amount * abs(volume) if name == "density" else amount
    summed = a + b + c
    center = weights @ summed / 4.0
    second_moments = sum(vector.T @ (weights[:, None] * vector) for vector in (summed, a, b, c)) / 20.0
    central = second_moments - np.outer(center, center)
    return MassProperties(total, middle + center, total * inertia_from_second_moments(0.5 * (central + central.T)))


def _closed_faces(points: Array, faces: ArrayLike) -> NDArray[np.intp]:
    """The faces of positive size of a closed, consistently oriented mesh, as indices into ``points``."""
    try:
        given = np.asarray(in_unit(faces, "", "faces"))
    except InvalidInput:
        raise
    except Exception:  # an object may raise anything on conversion to an array
        given = np.empty(0)
    if given.ndim != 2 or given.shape[1] != 3 or len(given) == 0 or given.dtype.kind not in "iu":
        raise InvalidInput(
            f"faces must be integers of shape (m, 3), but have shape {given.shape} and type {given.dtype}; "
            "split polygons into triangles"
        )
    wrong = (given < 0) | (given >= len(points))
    if np.any(wrong):
        f, k = (int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInput(f"faces[{f},{k}] = {int(given[f, k])} is no vertex; indices run from 0 to {len(points) - 1}")
    _, first, same = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    welded = first[same.reshape(-1)][given.astype(np.intp)]
    kept = np.flatnonzero(
        (welded[:, 0] != welded[:, 1]) & (welded[:, 1] != welded[:, 2]) & (welded[:, 2] != welded[:, 0])
    )
    if len(kept) == 0:
        raise InvalidInput("faces enclose no volume; every triangle has coinciding corners")
    welded = welded[kept]
    least_first = np.take_along_axis(welded, (np.argmin(welded, axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    unique, earliest, which = np.unique(least_first, axis=0, return_index=True, return_inverse=True)
    if len(unique) < len(welded):
        repeat = int(np.flatnonzero(earliest[which.reshape(-1)] != np.arange(len(welded)))[0])
        original = int(earliest[which.reshape(-1)[repeat]])
        raise InvalidInput(f"face {kept[repeat]} repeats face {kept[original]}; remove one of them")
    _check_edges(welded, kept)
    return welded


def _check_edges(welded: NDArray[np.intp], numbers: NDArray[np.intp]) -> None:
    """Check that every edge is traversed equally often in both directions: the surface is closed and oriented."""
    start, end = welded.reshape(-1), np.roll(welded, -1, axis=1).reshape(-1)
    forward = np.where(start < end, 1, -1)
    edges, which = np.unique(np.sort(np.stack([start, end], axis=1), axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    uses = np.bincount(which, minlength=len(edges))
    balance = np.bincount(which, weights=forward, minlength=len(edges))
    odd = np.flatnonzero(uses % 2)
    if len(odd):
        face = int(numbers[int(np.flatnonzero(which == odd[0])[0]) // 3])
        raise InvalidInput(
            f"the mesh is open: {len(odd)} edges have no partner, the first being edge "
            f"({edges[odd[0], 0]}, {edges[odd[0], 1]}) of face {face}; close the holes, and merge vertices that nearly "
            "coincide"
        )
    uneven = np.flatnonzero(balance)
    if len(uneven):
        same_way = (which == uneven[0]) & (forward == np.sign(balance[uneven[0]]))
        at = numbers[np.flatnonzero(same_way)[:2] // 3]
        raise InvalidInput(
            f"the mesh is inconsistently oriented: faces {at[0]} and {at[1]} walk their common edge "
            f"({edges[uneven[0], 0]}, {edges[uneven[0], 1]}) the same way; reverse the order of the corners of one"
        )
