"""Mass properties of point masses, of homogeneous bodies of simple shapes, and of what is inside a closed mesh."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.arguments import array, in_unit, number
from polhode.bodies.inertia.mass_properties import MassProperties
from polhode.bodies.inertia.second_moments import (
    EPSILON,
    Array,
    bounded,
    inertia_from_d,
    inertia_from_second_moments,
    length_from,
    mass_from,
    position_from,
)
from polhode.errors import InvalidInput, answering


def _symmetric_body(mass: float, d: ArrayLike) -> MassProperties:
    """A body symmetric about the coordinate planes, with second moments ``mass * d``."""
    return MassProperties(mass, np.zeros(3), mass_from(mass, "mass") * inertia_from_d(d))


@answering
def point_masses(masses: ArrayLike, positions: ArrayLike) -> MassProperties:
    """Rigidly connected point masses, such as the atoms of a molecule.

    Parameters
    ----------
    masses : array_like, shape (n,)
        Masses, zero (a massless site) or positive, not all zero.
    positions : array_like, shape (n, 3)
        Positions in any axes.

    Returns
    -------
    MassProperties
        In the same axes: I = sum of m (|x|^2 - x x^T) about the centre of mass [goldstein2002, ch. 5].

    Raises
    ------
    InvalidInput
        Shapes that do not match, an entry that is not finite, or masses negative or all zero.

    Examples
    --------
    >>> import polhode as ph
    >>> frame = ph.inertia.point_masses([2.0, 1.0, 1.0], [(0, 0, 0), (0, 0.6, 0.1), (0, -0.6, 0.1)])
    >>> frame.mass, frame.center_of_mass, frame.inertia.diagonal().round(4)
    (4.0, array([0.  , 0.  , 0.05]), array([0.73, 0.01, 0.72]))
    """
    m, x = array(masses, "masses", "kg"), array(positions, "positions", "m")
    bounded(m, "masses")
    bounded(x, "positions")
    if m.ndim != 1 or x.shape != (len(m), 3):
        raise InvalidInput(
            f"masses must have shape (n,) and positions (n, 3), but their shapes are {m.shape} and {x.shape}"
        )
    if np.any(m < 0.0):
        k = int(np.argmax(m < 0.0))
        raise InvalidInput(f"masses[{k}] = {float(m[k])!r} is negative; a mass must be zero or positive")
    if not np.any(m > 0.0):
        raise InvalidInput("masses are all zero or there are none; at least one must be positive")
    total = float(np.sum(m))
    center = m @ x / total
    center = center + m @ (x - center) / total  # a second pass removes the round-off of a far origin
    from_center = x - center
    return MassProperties(total, center, inertia_from_second_moments(from_center.T @ (m[:, None] * from_center)))


@answering
def box(mass: float, sides: ArrayLike) -> MassProperties:
    """Solid homogeneous box centred at the origin, edges along the axes: d_k = m a_k^2 / 12.

    Parameters
    ----------
    mass : float
        Mass, positive.
    sides : array_like, shape (3,)
        Full edge lengths a_k along x, y, z; one of them may be zero (a thin plate).

    Returns
    -------
    MassProperties
        I_x = m (a_y^2 + a_z^2) / 12, cyclic.

    Raises
    ------
    InvalidInput
        A mass that is not positive, or sides that are not 3 finite numbers, negative, or zero more than once.

    Examples
    --------
    >>> import polhode as ph
    >>> book = ph.free_body(ph.inertia.box(0.8, (0.15, 0.22, 0.03)))
    >>> ds = ph.integrate(book, step=0.01, steps=200, angular_velocity=(10.0, 0.01, 0.0))
    >>> book.moments.round(5), ds.sizes["time"]
    (array([[0.00329, 0.00156, 0.00473]]), 201)
    """
    lengths = position_from(sides, "sides")
    for k, length in enumerate(lengths):
        number(length, f"sides[{k}]", positive=True, zero=True)
    if np.count_nonzero(lengths) < 2:
        raise InvalidInput(f"sides = {lengths.tolist()} has more than one zero; use thin_rod or point_masses for that")
    return _symmetric_body(mass, lengths**2 / 12.0)


@answering
def ellipsoid(mass: float, semi_axes: ArrayLike) -> MassProperties:
    """Solid homogeneous ellipsoid centred at the origin, aligned with the axes: d_k = m a_k^2 / 5.

    Parameters
    ----------
    mass : float
        Mass, positive.
    semi_axes : array_like, shape (3,)
        Semi-axes a_k along x, y, z, positive.

    Returns
    -------
    MassProperties
        I_x = m (a_y^2 + a_z^2) / 5, cyclic.

    Raises
    ------
    InvalidInput
        A mass or a semi-axis that is not finite and positive.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.ellipsoid(1.33e9, (100.0, 60.0, 50.0)).inertia.diagonal() / 1e12
    array([1.6226, 3.325 , 3.6176])
    """
    lengths = position_from(semi_axes, "semi_axes")
    for k, length in enumerate(lengths):
        number(length, f"semi_axes[{k}]", positive=True)
    return _symmetric_body(mass, lengths**2 / 5.0)


def _radii(radius: float, inner_radius: float) -> tuple[float, float]:
    outer, inner = length_from(radius, "radius"), length_from(inner_radius, "inner_radius", zero=True)
    if inner > outer:
        raise InvalidInput(f"inner_radius = {inner!r} exceeds radius = {outer!r}; exchange them")
    return outer, inner


@answering
def sphere(mass: float, radius: float, *, inner_radius: float = 0.0) -> MassProperties:
    """Homogeneous sphere centred at the origin, solid or with a concentric hollow.

    Parameters
    ----------
    mass : float
        Mass, positive.
    radius, inner_radius : float
        Outer radius R, positive, and inner radius r <= R; equal radii make a thin shell.

    Returns
    -------
    MassProperties
        All moments 2/5 m (R^5 - r^5) / (R^3 - r^3), computed without cancellation for r near R.

    Raises
    ------
    InvalidInput
        A mass or radius that is not finite and positive, or an inner radius above the radius.

    Examples
    --------
    >>> import polhode as ph
    >>> shell = ph.inertia.sphere(0.6, 0.12, inner_radius=0.119)
    >>> round(float(shell.inertia[0, 0]), 6)
    0.005712
    """
    outer, inner = _radii(radius, inner_radius)
    t = inner / outer
    ratio = (1.0 + t + t**2 + t**3 + t**4) / (1.0 + t + t**2)
    return _symmetric_body(mass, [ratio * outer**2 / 5.0] * 3)


@answering
def cylinder(mass: float, radius: float, height: float, *, inner_radius: float = 0.0) -> MassProperties:
    """Homogeneous circular cylinder centred at the origin, axis along z, solid or a tube.

    Parameters
    ----------
    mass : float
        Mass, positive.
    radius, height : float
        Outer radius R and full height h, positive.
    inner_radius : float
        Radius r <= R of the bore; equal radii make a thin tube.

    Returns
    -------
    MassProperties
        I_z = m (R^2 + r^2) / 2, I_x = I_y = m (3 (R^2 + r^2) + h^2) / 12.

    Raises
    ------
    InvalidInput
        A mass, radius or height that is not finite and positive, or an inner radius above the radius.

    Examples
    --------
    >>> import polhode as ph
    >>> can = ph.inertia.cylinder(500.0, 1.0, 3.0)
    >>> can.inertia.diagonal()
    array([500., 500., 250.])
    """
    outer, inner = _radii(radius, inner_radius)
    across = (outer**2 + inner**2) / 4.0
    return _symmetric_body(mass, [across, across, length_from(height, "height") ** 2 / 12.0])


@answering
def disk(mass: float, radius: float, *, inner_radius: float = 0.0) -> MassProperties:
    """Homogeneous flat circular disk or ring without thickness, centred at the origin, axis along z.

    Parameters
    ----------
    mass : float
        Mass, positive.
    radius, inner_radius : float
        Outer radius R, positive, and inner radius r <= R; equal radii make a hoop.

    Returns
    -------
    MassProperties
        I_z = m (R^2 + r^2) / 2, I_x = I_y = I_z / 2.

    Raises
    ------
    InvalidInput
        A mass or radius that is not finite and positive, or an inner radius above the radius.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(ph.inertia.disk(0.1, 0.04), (0.0, 0.0, 0.05), inertia_about="center_of_mass")
    >>> top.moments.round(6)
    array([[2.9e-04, 2.9e-04, 8.0e-05]])
    """
    outer, inner = _radii(radius, inner_radius)
    across = (outer**2 + inner**2) / 4.0
    return _symmetric_body(mass, [across, across, 0.0])


@answering
def thin_rod(mass: float, length: float) -> MassProperties:
    """Homogeneous straight rod without thickness, centred at the origin, along z.

    Parameters
    ----------
    mass, length : float
        Mass and full length L, positive.

    Returns
    -------
    MassProperties
        I_x = I_y = m L^2 / 12 and I_z = 0: on its own the rod does not rotate about its axis and feels no torque about
        it.

    Raises
    ------
    InvalidInput
        A mass or length that is not finite and positive.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.thin_rod(3.0, 2.0).inertia.diagonal()
    array([1., 1., 0.])
    """
    return _symmetric_body(mass, [0.0, 0.0, length_from(length, "length") ** 2 / 12.0])


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
