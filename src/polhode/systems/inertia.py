r"""Mass and inertia: mass properties of bodies, principal moments and principal frames.

``principal`` converts three moments or a full tensor to principal moments and a unit quaternion; the constructors
(``point_masses``, ``box``, ``ellipsoid``, ``sphere``, ``cylinder``, ``thin_rod``, ``disk``, ``mesh``) return a
``MassProperties``, which can be rotated, translated and added to others. With positions x relative to the centre of
mass,

.. math::  J = \int x x^T dm, \qquad I = \mathrm{tr}(J)\,1 - J, \qquad J = \tfrac12 \mathrm{tr}(I)\,1 - I.

In principal axes J is the diagonal matrix of Vilmart's d_k and I_1 = d_2 + d_3 (cyclic) [vilmart2013, eq. 2]. A tensor
is physically possible exactly if J has no negative eigenvalue; for the moments this is the triangle inequality
I_i <= I_j + I_k. Any consistent set of units; quaternions are scalar first (w, x, y, z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.algebra.quaternion import to_matrix
from polhode.arguments import LONGEST_WORD, array, in_unit, number, room_for, text, truth, vector, whole
from polhode.errors import InvalidInput, answering

Array = NDArray[np.float64]

RELATIVE_TOLERANCE = 1e-9
"""Largest relative violation of symmetry, triangle inequality or unit norm that is accepted in inputs."""

KG_M2 = "kg * m**2"

LARGEST = 1e100
"""Largest mass or length, so that products do not overflow."""

_EPSILON = float(np.finfo(float).eps)


# ---------------------------------------------------------------------------------------------------------------------
# Checks of arguments


def _bounded(given: Array | float, name: str, largest: float = LARGEST) -> None:
    if np.size(given) and np.max(np.abs(given)) > largest:
        raise InvalidInput(f"{name} is beyond {largest:g}; check its units")


def _mass(value: ArrayLike, name: str) -> float:
    mass = number(value, name, "kg", positive=True)
    _bounded(mass, name)
    return mass


def _length(value: ArrayLike, name: str, *, zero: bool = False) -> float:
    length = number(value, name, "m", positive=True, zero=zero)
    _bounded(length, name)
    return length


def _place(value: ArrayLike, name: str) -> Array:
    given = vector(value, name, unit="m")
    _bounded(given, name)
    return given


def _inertia(value: ArrayLike, name: str) -> Array:
    """An exactly symmetric (3, 3) tensor from three moments or a 3x3 tensor."""
    given = array(value, name, KG_M2)
    if given.shape == (3,):
        return np.diag(given)
    if given.shape == (3, 3):
        return _symmetric(given, name)
    raise InvalidInput(
        f"{name} must be 3 principal moments or a 3x3 tensor, but its shape is {given.shape}; "
        "for a body with three equal moments write (I, I, I)"
    )


def _symmetric(given: Array, name: str) -> Array:
    if given.shape != (3, 3):
        raise InvalidInput(f"{name} must be a 3x3 tensor, but its shape is {given.shape}")
    gap = np.abs(given - given.T)
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
    if gap[i, j] > RELATIVE_TOLERANCE * np.max(np.abs(given)):
        raise InvalidInput(
            f"{name} is not symmetric: {name}[{i},{j}] = {float(given[i, j])!r} but {name}[{j},{i}] = "
            f"{float(given[j, i])!r}; give both entries the same value"
        )
    return 0.5 * given + 0.5 * given.T


def _check_triangle(moments: Sequence[float], labels: Sequence[str], remedy: str) -> None:
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if moments[k] > (moments[i] + moments[j]) * (1.0 + RELATIVE_TOLERANCE):
            raise InvalidInput(
                f"{labels[k]} = {moments[k]!r} exceeds {labels[i]} + {labels[j]} = {moments[i] + moments[j]!r}, "
                f"which no body can have; {remedy}"
            )


# ---------------------------------------------------------------------------------------------------------------------
# Principal moments and frame


class Principal(NamedTuple):
    """Principal moments of inertia and their frame.

    Attributes
    ----------
    moments : ndarray, shape (3,)
        Principal moments, positive; zero only about the axis of a linear body.
    frame : ndarray, shape (4,)
        Unit quaternion (w, x, y, z), w >= 0, from principal-frame to user's body-frame components:
        ``v_user = R(frame) v_principal`` and ``inertia = R(frame) diag(moments) R(frame)^T``.
    """

    moments: Array
    frame: Array


def principal(inertia: ArrayLike, *, triangle: bool = True, name: str = "inertia") -> Principal:
    """Principal moments and principal frame of an inertia.

    Parameters
    ----------
    inertia : array_like, shape (3,) or (3, 3)
        Three principal moments in any order, or the full tensor in the user's body frame. Moments and an exactly
        diagonal tensor keep their order and have the identity frame.
    triangle : bool
        Whether to refuse moments of which one exceeds the sum of the other two by more than 1e-9 relative. Switched off
        by the exact free motion, which is defined for any positive moments.
    name : str
        Name of the inertia in error messages (a scenario key, or the body).

    Returns
    -------
    Principal
        ``moments`` (3,) and ``frame`` (4,). The moments of a full tensor are not sorted: the axes are in the order of
        the diagonalisation, so that a nearly diagonal tensor has a frame near the identity unless some of its moments
        are nearly equal.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, not symmetric within 1e-9 of the largest entry, not positive, or (see ``triangle``)
        physically impossible. Any positive moment is accepted, however small, unless it is below the round-off of a
        full tensor. A moment of zero is that of a linear body (``thin_rod``, a diatomic molecule) about its axis: the
        two others must be equal within 1e-9, and are replaced by their mean.

    Notes
    -----
    Cyclic Jacobi rotations with the relative stopping rule of [demmel1992]. Each rotation is applied to a quaternion,
    so the frame is a proper rotation even if moments are equal. Measured on 20,000 tensors: |q| - 1 within 3e-16,
    R diag R^T - I within 1.3e-15 of the largest moment; the moments of a graded tensor (1, 1e-6, 1e-12) keep the
    relative accuracy of its entries.
    """
    given = array(inertia, text(name, "name", LONGEST_WORD), KG_M2)
    triangle = truth(triangle, "triangle")
    tensor = _inertia(given, name)
    given_as_tensor = given.ndim == 2
    diagonal = [float(tensor[k, k]) for k in range(3)]
    labels = [f"{name}[{k},{k}]" if given_as_tensor else f"{name}[{k}]" for k in range(3)]
    thin = _without_thickness(tensor)
    if thin is not None:
        return thin
    for k in range(3):
        if diagonal[k] <= 0.0:
            raise InvalidInput(
                f"{labels[k]} = {diagonal[k]!r} is not positive; a moment of inertia may be small, and zero only about "
                "the axis of a body without thickness, whose two other moments are equal"
            )
    moments, frame = diagonal, np.array([1.0, 0.0, 0.0, 0.0])
    if np.any(tensor != np.diag(diagonal)):
        _check_definite(tensor, name)
        moments, frame = _jacobi(tensor)
        labels = [f"principal {name}[{k}]" for k in range(3)]
    if triangle:
        _check_triangle(moments, labels, "check the entries and their signs")
    return Principal(np.array(moments), frame)


def principals(inertia: ArrayLike, n: int, *, triangle: bool = True, name: str = "inertia") -> Principal:
    """Principal moments and frames of n bodies.

    Parameters
    ----------
    inertia : array_like, shape (3,), (3, 3), (n, 3) or (n, 3, 3)
        Moments or a tensor, the same for all bodies or one for each. With n = 3, an array (3, 3) is one tensor. Planar
        bodies, one moment of which is the sum of the others, are allowed.
    n : int
        Number of bodies, 1 or more.
    triangle, name
        As for ``principal``.

    Returns
    -------
    Principal
        ``moments`` (n, 3) and ``frame`` (n, 4), each row as from ``principal``.

    Raises
    ------
    InvalidInput
        As for ``principal``, naming the body, counted from 0.
    """
    given = array(inertia, text(name, "name", LONGEST_WORD), KG_M2)
    n = whole(n, "n", 1)
    room_for(7 * n, "n")
    if given.shape in ((3,), (3, 3)):
        try:
            moments, frame = principal(given, triangle=triangle, name=name)
        except InvalidInput as refused:
            if given.ndim == 1 or n != 3:
                raise
            raise InvalidInput(
                f"{refused} (a 3x3 array is one tensor; give moments of 3 bodies as 3 tensors)"
            ) from None
        return Principal(np.tile(moments, (n, 1)), np.tile(frame, (n, 1)))
    if given.shape not in ((n, 3), (n, 3, 3)):
        raise InvalidInput(
            f"{name} must be 3 principal moments or a 3x3 tensor, or those of each of {n} bodies, but its shape is "
            f"{given.shape}"
        )
    # Bodies with equal inertia are treated once.
    kinds, first, which = np.unique(given.reshape(n, -1), axis=0, return_index=True, return_inverse=True)
    moments, frames = np.empty((len(kinds), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(kinds), 1))
    plain = np.zeros(len(kinds), dtype=bool)
    if given.ndim == 2:
        largest, total = kinds.max(axis=1), kinds.sum(axis=1)
        plain = (kinds > 0.0).all(axis=1) & np.logical_or(not triangle, 2.0 * largest <= total)
        moments[plain] = kinds[plain]
    for k in sorted(np.flatnonzero(~plain), key=lambda k: first[k]):  # errors name the first body
        i = int(first[k])
        moments[k], frames[k] = principal(given[i], triangle=triangle, name=f"{name} of body {i}")
    return Principal(moments[which.reshape(-1)], frames[which.reshape(-1)])


def _without_thickness(tensor: Array) -> Principal | None:
    """Principal moments and frame of a linear body, one of whose moments is zero; None for any other body."""
    largest = float(np.max(np.abs(tensor)))
    if not largest > 0.0:
        return None
    diagonal = np.diag(tensor)
    if np.all(tensor == np.diag(diagonal)):
        moments, axes = np.sort(diagonal), np.eye(3)[:, np.argsort(diagonal, kind="stable")]
        if moments[0] != 0.0:
            return None
    else:
        moments, axes = np.linalg.eigh(tensor / largest)
        moments = moments * largest
        if abs(moments[0]) > 64.0 * _EPSILON * largest:
            return None
    if not moments[2] - moments[1] <= RELATIVE_TOLERANCE * moments[2]:
        return None
    k = int(np.argmax(np.abs(axes[:, 0])))
    axis = axes[:, 0] * np.copysign(1.0, axes[k, 0])
    frame = np.concatenate([[1.0 + axis[k]], np.cross(np.eye(3)[k], axis)])
    equal = np.full(3, 0.5 * (moments[1] + moments[2]))
    equal[k] = 0.0
    return Principal(equal, frame / np.linalg.norm(frame) + 0.0)


def turning(moments: Array) -> Array:
    """Principal moments (..., 3) with zeros replaced by infinity: a body does not rotate about these axes."""
    return np.where(moments == 0.0, np.inf, moments)


def _jacobi(tensor: Array) -> tuple[list[float], Array]:
    """Eigenvalues of a positive definite tensor, and the quaternion of its eigenvectors."""
    exponent = math.frexp(float(np.max(np.abs(tensor))))[1]
    a = np.ldexp(tensor, -exponent).tolist()  # exact scaling against over- and underflow
    q = (1.0, 0.0, 0.0, 0.0)
    rotated = True
    while rotated:  # converges quadratically: at most 6 sweeps observed
        rotated = False
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            if abs(a[i][j]) <= 0.25 * _EPSILON * math.sqrt(a[i][i]) * math.sqrt(a[j][j]):
                continue
            rotated = True
            slope = (a[i][i] - a[j][j]) / (2.0 * a[i][j])
            t = math.copysign(1.0, slope) / (abs(slope) + math.hypot(slope, 1.0))  # tangent of the smaller solution
            c = 1.0 / math.hypot(t, 1.0)
            s = t * c
            a[i][i], a[j][j] = a[i][i] + t * a[i][j], a[j][j] - t * a[i][j]
            a[i][j] = a[j][i] = 0.0
            to_i, to_j = a[axis][i], a[axis][j]
            a[axis][i] = a[i][axis] = c * to_i + s * to_j
            a[axis][j] = a[j][axis] = c * to_j - s * to_i
            half_cosine = math.sqrt(0.5 * (1.0 + c))
            q = _turned_about(q, axis, half_cosine, 0.5 * s / half_cosine)
    sign = math.copysign(1.0 / math.hypot(*q), q[0])
    return [math.ldexp(a[k][k], exponent) for k in range(3)], np.array([sign * part + 0.0 for part in q])


def _turned_about(
    q: tuple[float, float, float, float], axis: int, cosine: float, sine: float
) -> tuple[float, float, float, float]:
    """The Hamilton product of q and (cosine, sine * unit vector of ``axis``)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    w, v = q[0], q[1:]
    out = [0.0, 0.0, 0.0]
    out[axis] = v[axis] * cosine + w * sine
    out[i] = v[i] * cosine + v[j] * sine
    out[j] = v[j] * cosine - v[i] * sine
    return (w * cosine - v[axis] * sine, out[0], out[1], out[2])


def _check_definite(tensor: Array, name: str) -> None:
    """Refuse a tensor with a moment that is negative, zero, or below the round-off of the entries.

    A relative error epsilon in the entries changes each eigenvalue relatively by at most epsilon divided by the
    smallest eigenvalue of the tensor scaled to unit diagonal [demmel1992].
    """
    size = np.sqrt(np.diag(tensor))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(tensor[i, j]) > size[i] * size[j] * (1.0 + _EPSILON):
            raise InvalidInput(
                f"{name}[{i},{j}] = {float(tensor[i, j])!r} exceeds the geometric mean {float(size[i] * size[j])!r} of "
                f"{name}[{i},{i}] and {name}[{j},{j}], so one moment is negative; check the units of the entries"
            )
    if float(np.linalg.eigvalsh(tensor / size / size[:, None])[0]) > 8.0 * _EPSILON:
        return
    moments, axes = np.linalg.eigh(tensor)
    axis = ", ".join(f"{part:.3g}" for part in axes[:, 0] + 0.0)
    raise InvalidInput(
        f"the smallest principal moment of {name}, about the axis ({axis}), is {moments[0]:.3g}, which is not positive "
        "beyond round-off; give a thin body its small thickness, or check the signs of the products of inertia"
    )


# ---------------------------------------------------------------------------------------------------------------------
# Second moments and the parallel-axis theorem


def second_moments_from_inertia(inertia: ArrayLike) -> Array:
    """Second moments of mass J = tr(I)/2 - I from an inertia I about the same point.

    Parameters
    ----------
    inertia : array_like, shape (3,) or (3, 3)
        Moments or tensor, in mass length^2, in any axes.

    Returns
    -------
    ndarray, shape (3, 3)
        J = integral of x x^T dm in the same axes and units [vilmart2013, eq. 2, in any axes].

    Raises
    ------
    InvalidInput
        Wrong shape, not finite or not symmetric.
    """
    tensor = _inertia(inertia, "inertia")
    _bounded(tensor, "inertia", LARGEST**3)
    half_trace = 0.5 * float(np.trace(tensor))
    return np.diag([half_trace] * 3) - tensor


def inertia_from_second_moments(second_moments: ArrayLike) -> Array:
    """Inertia tensor I = tr(J) - J from the second moments of mass J = integral of x x^T dm, shape (3, 3).

    The inverse of ``second_moments_from_inertia``; same units, axes and errors.
    """
    tensor = _symmetric(array(second_moments, "second_moments", KG_M2), "second_moments")
    _bounded(tensor, "second_moments", LARGEST**3)
    xx, yy, zz = np.diag(tensor)
    return np.diag([yy + zz, zz + xx, xx + yy]) - (tensor - np.diag([xx, yy, zz]))


def d_from_inertia(moments: ArrayLike) -> Array:
    """Vilmart's d_k = integral of x_k^2 dm from principal moments: d_1 = (I_2 + I_3 - I_1) / 2, cyclic.

    Parameters
    ----------
    moments : array_like, shape (3,)
        Principal moments, in mass length^2.

    Returns
    -------
    ndarray, shape (3,)
        d, with I_1 = d_2 + d_3 and so on [vilmart2013, eq. 2]; absolute error one unit of round-off of the largest
        moment. A d_k of zero (flat body) may come out negative within the tolerance of 1e-9.

    Raises
    ------
    InvalidInput
        Not 3 finite numbers, or one moment exceeds the sum of the others by more than 1e-9 relative.
    """
    given = vector(moments, "moments", unit=KG_M2)
    labels = [f"moments[{k}]" for k in range(3)]
    _check_triangle([float(m) for m in given], labels, "its d_k would be negative, so check the entries")
    first, second, third = given
    return 0.5 * np.array([(second - first) + third, (third - second) + first, (first - third) + second])


def inertia_from_d(d: ArrayLike) -> Array:
    """Principal moments from Vilmart's d_k: I_1 = d_2 + d_3, cyclic [vilmart2013, eq. 2].

    Parameters
    ----------
    d : array_like, shape (3,)
        Second moments d_k = integral of x_k^2 dm in principal axes, in mass length^2.

    Returns
    -------
    ndarray, shape (3,)
        Principal moments, each with one rounding error.

    Raises
    ------
    InvalidInput
        Not 3 finite numbers, or one is negative by more than 1e-9 of their sum.
    """
    given = vector(d, "d", unit=KG_M2)
    k = int(np.argmin(given))
    if given[k] < -RELATIVE_TOLERANCE * np.sum(given):
        raise InvalidInput(
            f"d[{k}] = {float(given[k])!r} is negative, but d_k is the integral of x_k^2 dm; "
            "if these are moments of inertia, use d_from_inertia"
        )
    return np.array([given[1] + given[2], given[2] + given[0], given[0] + given[1]])


def _point_inertia(mass: float, offset: Array) -> Array:
    """Inertia m (|x|^2 - x x^T) of a point mass about a point at distance vector ``offset``."""
    x, y, z = offset
    squares = np.diag([y * y + z * z, z * z + x * x, x * x + y * y])
    products = np.outer(offset, offset)
    return mass * (squares - products + np.diag(np.diag(products)))


def parallel_axis(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """Inertia about a point away from the centre of mass: I + m (|c|^2 - c c^T) [goldstein2002, ch. 5].

    Parameters
    ----------
    inertia : array_like, shape (3,) or (3, 3)
        Inertia about the centre of mass, in mass length^2 (three moments mean a diagonal tensor).
    mass : float
        Mass, positive.
    offset : array_like, shape (3,)
        Vector c between the centre of mass and the point, in the axes of ``inertia``; its sign does not matter.

    Returns
    -------
    ndarray, shape (3, 3)
        Inertia about the point, same axes.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, not symmetric, or a mass that is not positive.
    """
    return _inertia(inertia, "inertia") + _point_inertia(_mass(mass, "mass"), _place(offset, "offset"))


def parallel_axis_inverse(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """Inertia about the centre of mass from that about a point: I - m (|c|^2 - c c^T) [goldstein2002, ch. 5].

    Parameters, errors and result as in ``parallel_axis`` with the two tensors exchanged; the result has the round-off
    of the larger one. A physically impossible result (beyond 1e-9 of ``inertia``) is refused, since then ``inertia``
    was not about that point.
    """
    given = _inertia(inertia, "inertia")
    central = given - _point_inertia(_mass(mass, "mass"), _place(offset, "offset"))
    lowest = float(np.linalg.eigvalsh(second_moments_from_inertia(central))[0])
    if lowest < -RELATIVE_TOLERANCE * np.trace(given):
        raise InvalidInput(
            "inertia is too small to be about a point at that offset: taking the parallel-axis term away leaves the "
            f"second moment {lowest:.6g}; check offset and mass, or whether inertia is about the centre of mass already"
        )
    return central


# ---------------------------------------------------------------------------------------------------------------------
# Bodies


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia of a body, in some axes.

    ``+`` joins two bodies into one (also ``sum(parts)``): masses add, the centre of mass is the weighted mean, and the
    tensors add with the parallel-axis term of the reduced mass, m_1 m_2 / (m_1 + m_2).

    Attributes
    ----------
    mass : float
        Mass, positive.
    center_of_mass : ndarray, shape (3,)
        Centre of mass, from the origin of the axes.
    inertia : ndarray, shape (3, 3)
        Inertia tensor **about the centre of mass**, along the axes, in mass length^2; may be given as three moments.
        Zero moments (a point, a rod) are allowed for parts of a body; ``principal`` accepts a rod, but not a point.

    Raises
    ------
    InvalidInput
        On construction: wrong shape, not finite, not symmetric, a mass that is not positive, or a tensor that is
        physically impossible (a moment negative, or above the sum of the other two, by more than 1e-9 relative).
    """

    mass: float
    center_of_mass: Array
    inertia: Array

    def __post_init__(self) -> None:
        tensor = _inertia(self.inertia, "inertia")
        _bounded(tensor, "inertia", LARGEST**3)
        for k in range(3):
            if tensor[k, k] < 0.0:
                raise InvalidInput(f"inertia[{k},{k}] = {float(tensor[k, k])!r} is negative, which no body can have")
        half_trace = 0.5 * float(np.trace(tensor))
        lowest = float(np.linalg.eigvalsh(second_moments_from_inertia(tensor))[0])
        if lowest < -RELATIVE_TOLERANCE * half_trace:
            raise InvalidInput(
                f"the largest principal moment of inertia, {half_trace - lowest:.10g}, exceeds the sum of the other "
                f"two, {half_trace + lowest:.10g}, which no body can have; check the entries, and whether inertia is "
                "about the centre of mass"
            )
        object.__setattr__(self, "mass", _mass(self.mass, "mass"))
        object.__setattr__(self, "center_of_mass", _place(self.center_of_mass, "center_of_mass"))
        object.__setattr__(self, "inertia", tensor)
        self.center_of_mass.setflags(write=False)
        self.inertia.setflags(write=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The inertia tensor about the centre of mass, so that a body can be passed as an inertia."""
        return np.array(self.inertia, dtype=dtype)

    def about(self, point: ArrayLike) -> Array:
        """Inertia tensor (3, 3) about ``point`` (3,), along the same axes, by the parallel-axis theorem."""
        return parallel_axis(self.inertia, self.mass, _place(point, "point") - self.center_of_mass)

    def rotated(self, q: ArrayLike) -> MassProperties:
        """The body rotated by R(q) about the origin of the axes: centre R c, inertia R I R^T.

        To express a fixed body in other axes, use the inverse: if ``q`` maps new components to old ones, pass its
        conjugate. ``q`` is (w, x, y, z); a norm off by more than 1e-9 raises InvalidInput.
        """
        quaternion = array(q, "q")
        if quaternion.shape != (4,):
            raise InvalidInput(f"q must be 4 numbers (w, x, y, z), but its shape is {quaternion.shape}")
        norm = float(np.linalg.norm(quaternion))
        if abs(norm - 1.0) > RELATIVE_TOLERANCE:
            raise InvalidInput(f"q has norm {norm:.10g}, but a rotation needs a unit quaternion (w, x, y, z)")
        rotation = np.array(to_matrix(tuple(quaternion / norm))).reshape(3, 3)
        return MassProperties(self.mass, rotation @ self.center_of_mass, rotation @ self.inertia @ rotation.T)

    def translated(self, v: ArrayLike) -> MassProperties:
        """The body translated by ``v`` (3,): the centre of mass moves, the inertia about it stays."""
        return MassProperties(self.mass, self.center_of_mass + _place(v, "v"), self.inertia)

    def __add__(self, other: object) -> MassProperties:
        if not isinstance(other, MassProperties):
            return NotImplemented
        total = self.mass + other.mass
        between = other.center_of_mass - self.center_of_mass
        reduced = self.mass * (other.mass / total)
        return MassProperties(
            total,
            self.center_of_mass + (other.mass / total) * between,
            self.inertia + other.inertia + _point_inertia(reduced, between),
        )

    def __radd__(self, other: object) -> MassProperties:
        """``0 + body``, the first addition of ``sum``."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


def mass_of(inertia: Any, mass: Any, usual: Any = None) -> Any:
    """The mass that belongs to an inertia: the given one, else that of ``MassProperties``, else the default.

    Parameters
    ----------
    inertia : MassProperties, sequence of them, or any inertia
        The user's inertia; only ``MassProperties`` have a mass.
    mass : float, array_like or None
        The user's mass.
    usual : anything
        Default, if neither gives a mass.

    Raises
    ------
    InvalidInput
        A mass that differs from that of the body.
    """
    bodies = list(inertia) if isinstance(inertia, list | tuple) else [inertia]
    if not bodies or not all(isinstance(body, MassProperties) for body in bodies):
        return usual if mass is None else mass
    masses = [body.mass for body in bodies]
    if mass is not None and np.any(array(mass, "mass", "kg") != np.array(masses)):
        of = masses[0] if len(masses) == 1 else masses
        raise InvalidInput(f"mass is {mass!r}, but inertia is that of a body of mass {of!r}; leave mass out")
    if mass is not None:
        return mass
    return masses[0] if isinstance(inertia, MassProperties) else masses


def _symmetric_body(mass: float, d: ArrayLike) -> MassProperties:
    """A body symmetric about the coordinate planes, with second moments ``mass * d``."""
    return MassProperties(mass, np.zeros(3), _mass(mass, "mass") * inertia_from_d(d))


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
    """
    m, x = array(masses, "masses", "kg"), array(positions, "positions", "m")
    _bounded(m, "masses")
    _bounded(x, "positions")
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
    """
    lengths = _place(sides, "sides")
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
    """
    lengths = _place(semi_axes, "semi_axes")
    for k, length in enumerate(lengths):
        number(length, f"semi_axes[{k}]", positive=True)
    return _symmetric_body(mass, lengths**2 / 5.0)


def _radii(radius: float, inner_radius: float) -> tuple[float, float]:
    outer, inner = _length(radius, "radius"), _length(inner_radius, "inner_radius", zero=True)
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
    """
    outer, inner = _radii(radius, inner_radius)
    across = (outer**2 + inner**2) / 4.0
    return _symmetric_body(mass, [across, across, _length(height, "height") ** 2 / 12.0])


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
    """
    return _symmetric_body(mass, [0.0, 0.0, _length(length, "length") ** 2 / 12.0])


# ---------------------------------------------------------------------------------------------------------------------
# Closed triangle meshes


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
    """
    if density is not None and mass is None:
        given, name = density, "density"
    elif mass is not None and density is None:
        given, name = mass, "mass"
    else:
        raise InvalidInput("mesh needs one of density and mass; give one of them and leave the other out")
    amount = number(given, name, "kg / m**3" if name == "density" else "kg", positive=True)
    _bounded(amount, name)
    points = array(vertices, "vertices", "m")
    _bounded(points, "vertices")
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidInput(f"vertices must have shape (n, 3), but their shape is {points.shape}")
    corners = points[_closed_faces(points, faces)]
    middle = 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))
    a, b, c = (corners[:, k] - middle for k in range(3))
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = math.fsum(six_volumes) / 6.0
    if abs(volume) <= 64.0 * _EPSILON * math.fsum(np.abs(six_volumes)):
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
