"""Mass properties of point masses and of homogeneous bodies of simple shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode.arguments import array, number
from polhode.bodies.inertia.checks import bounded, length_from, mass_from, position_from
from polhode.bodies.inertia.mass_properties import MassProperties
from polhode.bodies.inertia.second_moments import inertia_from_d, inertia_from_second_moments
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
    second_moments = from_center.T @ (m[:, None] * from_center)
    return MassProperties(total, center, inertia_from_second_moments(second_moments))


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
