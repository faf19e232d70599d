"""Principal moments of inertia and principal frames, by Jacobi rotations."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.quaternion import multiply
from polhode.algebra.short_rows import all_of, folded, largest
from polhode.algebra.vectorised import Operand, Rows
from polhode.arguments import LISTS, LONGEST_WORD, array, room_for, text, truth, whole
from polhode.bodies.inertia.second_moments import EPSILON, KG_M2, RELATIVE_TOLERANCE, Array, check_triangle, tensor_from
from polhode.errors import InvalidInput, shown
from polhode.kernel.jit import helper, inlined
from polhode.kernel.simd import exponent_and_fraction, two_to

SURELY = 1e-12
"""Determinant of a tensor scaled to unit diagonal beyond which it is positive definite whatever its round-off."""


MomentsAndFrame = tuple[tuple[float, ...], tuple[float, ...]]
UNTURNED = (1.0, 0.0, 0.0, 0.0)


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
        Whether to refuse moments of which one exceeds the sum of the other two by more than 1e-9 relative. Euler's
        equations are defined for any positive moments.
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

    Examples
    --------
    >>> import polhode as ph
    >>> found = ph.inertia.principal([[20.0, -1.0, 0.5], [-1.0, 30.0, 2.0], [0.5, 2.0, 25.0]])
    >>> found.moments.round(3), ph.rotation.matrix_from_quaternion(found.frame).shape
    (array([19.801, 30.758, 24.44 ]), (3, 3))
    """
    found = moments_and_frame(inertia, truth(triangle, "triangle"), text(name, "name", LONGEST_WORD))
    return Principal(*map(np.array, found))


def moments_and_frame(inertia: ArrayLike, triangle: bool = True, name: str = "inertia") -> MomentsAndFrame:
    """``principal`` as plain numbers."""
    given = array(inertia, name, KG_M2)
    if given.shape == (3,):
        a, b, c = given.tolist()
        if min(a, b, c) > 0.0 and (not triangle or (a <= b + c and b <= c + a and c <= a + b)):
            return (a, b, c), UNTURNED
    tensor = tensor_from(given, name)
    diagonal, ordinary = tensor.diagonal().tolist(), _is_ordinary(tensor.tolist())
    labels = [f"{name}[{k},{k}]" if given.ndim == 2 else f"{name}[{k}]" for k in range(3)]
    thin = None if ordinary else _without_thickness(tensor)
    if thin is not None:
        return tuple(thin.moments.tolist()), tuple(thin.frame.tolist())
    for k in range(3):
        if diagonal[k] <= 0.0:
            raise InvalidInput(
                f"{labels[k]} = {diagonal[k]!r} is not positive; a moment of inertia may be small, and zero only about "
                "the axis of a body without thickness, whose two other moments are equal"
            )
    moments, frame = diagonal, UNTURNED
    if np.any(tensor != np.diag(diagonal)):
        if not ordinary:
            _check_definite(tensor, name)
        found = _PRINCIPAL.over(tensor.reshape(9))
        moments, frame = found[:3].tolist(), tuple(found[3:7].tolist())
        labels = [f"principal {name}[{k}]" for k in range(3)]
    if triangle:
        check_triangle(moments, labels, "check the entries and their signs; where only Euler's equations matter, "
                       "physical=False takes them")  # fmt: skip
    return tuple(moments), frame


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

    Examples
    --------
    >>> import polhode as ph
    >>> moments, frames = ph.inertia.principals([(1.0, 2.0, 2.5), (3.0, 3.0, 1.0)], 2)
    >>> moments
    array([[1. , 2. , 2.5],
           [3. , 3. , 1. ]])
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
    order = np.argsort(first)  # errors name the first body
    moments, frames = np.empty((len(kinds), 3)), np.empty((len(kinds), 4))
    several = kinds[order].reshape(-1, *given.shape[1:])
    moments[order], frames[order] = of_many(several, triangle, lambda k: f"{name} of body {first[order[k]]}")
    return Principal(moments[which.reshape(-1)], frames[which.reshape(-1)])


def principal_of_many(tensors: ArrayLike, *, triangle: bool = True, name: str = "inertia") -> Principal:
    """Principal moments and frames of many inertias at once, by one call of a kernel.

    Parameters
    ----------
    tensors : array_like, shape (M, 3) or (M, 3, 3)
        Moments in any order, or full tensors in the users' body frames. An array with two axes is always moments, so
        that (3, 3) are those of three members.
    triangle, name
        As for ``principal``.

    Returns
    -------
    Principal
        ``moments`` (M, 3) and ``frame`` (M, 4), each row bit for bit that of ``principal``.

    Raises
    ------
    InvalidInput
        As for ``principal``, naming the first member, counted from 0.

    Examples
    --------
    >>> import polhode as ph
    >>> found = ph.inertia.principal_of_many([[[20.0, -1.0, 0.0], [-1.0, 30.0, 2.0], [0.0, 2.0, 25.0]]] * 4)
    >>> found.moments.shape, found.frame.shape
    ((4, 3), (4, 4))
    """
    given = array(tensors, text(name, "name", LONGEST_WORD), KG_M2)
    if given.ndim not in (2, 3) or given.shape[1:] not in ((3,), (3, 3)):
        raise InvalidInput(
            f"{name} must be 3 principal moments or a 3x3 tensor for each member, but its shape is {given.shape}"
        )
    room_for(7 * len(given), name)
    return Principal(*of_many(given, truth(triangle, "triangle"), lambda k: f"{name} of member {k}"))


def of_many(given: Array, triangle: bool, whose: Callable[[int], str]) -> tuple[Array, Array]:
    """Moments and frames of finite inertias (M, 3) or (M, 3, 3): the ordinary ones together, others singly."""
    if given.ndim == 2:
        moments, frames, plain = given.copy(), np.tile([1.0, 0.0, 0.0, 0.0], (len(given), 1)), all_of(given > 0.0)
    else:
        found = _PRINCIPAL.over(given.reshape(-1, 9))
        moments, frames, plain = found[:, :3].copy(), found[:, 3:7].copy(), found[:, 7] > SURELY
    if triangle:
        with np.errstate(invalid="ignore"):
            plain &= largest(moments) <= folded(np.add, 0.5 * moments)
    for k in np.flatnonzero(~plain):
        moments[k], frames[k] = principal(given[k], triangle=triangle, name=whose(int(k)))
    return moments, frames


def _is_ordinary(rows: list[list[float]]) -> bool:
    """Whether a tensor is far from all limits: definite whatever its round-off, and of no thin body."""
    (a, d, e), (_, b, f), (*_, c) = rows
    # Scaled to unit diagonal, the smallest moment is at least the determinant over (3/2)^2.
    return min(a, b, c) > 1e-4 * max(a, b, c) and d / a * (d / b) < 1.0 and (
        1.0 + 2.0 * d / a * (f / b) * (e / c) - d / a * (d / b) - e / a * (e / c) - f / b * (f / c)) > 1e-4  # fmt: skip


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
        if abs(moments[0]) > 64.0 * EPSILON * largest:
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
    """Principal moments (..., 3) with zeros replaced by infinity: a body does not rotate about these axes.

    Parameters
    ----------
    moments : array (..., 3)
        Principal moments.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.turning(ph.inertia.principal((2.0, 2.0, 0.0)).moments)
    array([ 2.,  2., inf])
    """
    return moments if np.count_nonzero(moments) == moments.size else np.where(moments == 0.0, np.inf, moments)


SWEEPS = 64  # most sweeps of rotations; the convergence is quadratic, and at most 6 have been observed


@inlined
def rotation_of(ii, jj, ij, to_i, to_j):
    """The rotation that turns entry ij to zero: what becomes of the others, and the cosine and sine of half its angle,
    which is 0 where ij is within round-off."""
    if abs(ij) <= 0.25 * EPSILON * sqrt(ii) * sqrt(jj):
        return ii, jj, ij, to_i, to_j, 1.0, 0.0
    slope = (ii - jj) / (2.0 * ij)
    size = abs(slope)
    root = size if size > 1e8 else sqrt(size * size + 1.0)  # squares do not overflow
    t = copysign(1.0, slope) / (size + root)  # tangent of the smaller solution
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    half = sqrt(0.5 * (1.0 + c))
    return ii + t * ij, jj - t * ij, 0.0, c * to_i + s * to_j, c * to_j - s * to_i, half, 0.5 * s / half


@inlined
def half_of(x, y):
    """The mean of two entries; the same bits where they are equal."""
    return x if x == y else 0.5 * x + 0.5 * y


@helper
def principal_of(given):
    """Moments and frame of a tensor (9 numbers), and the determinant of it scaled to unit diagonal; -1 where moments
    may not be positive, or it is not symmetric within round-off."""
    a, b, c = given[0], given[4], given[8]
    d, e, f = half_of(given[1], given[3]), half_of(given[2], given[6]), half_of(given[5], given[7])
    size = max(abs(a), abs(b), abs(c), max(abs(d), abs(e), abs(f)))
    gap = max(abs(given[1] - given[3]), abs(given[2] - given[6]), abs(given[5] - given[7]))
    # Scaled exactly against over- and underflow.
    power = min(max(exponent_and_fraction(size)[0], -1000.0), 1000.0)
    down, up = two_to(-power), two_to(power)
    a, b, c, d, e, f = down * a, down * b, down * c, down * d, down * e, down * f
    u, v, w = sqrt(a), sqrt(b), sqrt(c)
    x, y, z = d / (u * v), e / (u * w), f / (v * w)
    # The smallest moment of the tensor scaled to unit diagonal is at least the determinant over (3/2)^2.
    safe = (1.0 - x * x) + (2.0 * x * y * z - y * y - z * z)
    if not (abs(x) < 1.0 and abs(y) < 1.0 and abs(z) < 1.0 and gap <= RELATIVE_TOLERANCE * size):
        safe = -1.0
    q, sweep, again = (1.0, 0.0, 0.0, 0.0), 0, True
    while again and sweep < SWEEPS:
        sweep += 1
        b, c, f, d, e, first, i = rotation_of(b, c, f, d, e)
        c, a, e, f, d, second, j = rotation_of(c, a, e, f, d)
        a, b, d, e, f, third, k = rotation_of(a, b, d, e, f)
        again = i != 0.0 or j != 0.0 or k != 0.0
        q = multiply(multiply(multiply(q, (first, i, 0.0, 0.0)), (second, 0.0, j, 0.0)), (third, 0.0, 0.0, k))
    n = copysign(1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), q[0])
    return up * a, up * b, up * c, n * q[0] + 0.0, n * q[1] + 0.0, n * q[2] + 0.0, n * q[3] + 0.0, safe


_PRINCIPAL = Rows(principal_of, (8,), lanes=True, tensor=Operand(9, array))


def _check_definite(tensor: Array, name: str) -> None:
    """Refuse a tensor with a moment that is negative, zero, or below the round-off of the entries.

    A relative error epsilon in the entries changes each eigenvalue relatively by at most epsilon divided by the
    smallest eigenvalue of the tensor scaled to unit diagonal [demmel1992].
    """
    size = np.sqrt(np.diag(tensor))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(tensor[i, j]) > size[i] * size[j] * (1.0 + EPSILON):
            raise InvalidInput(
                f"{name}[{i},{j}] = {float(tensor[i, j])!r} exceeds the geometric mean {float(size[i] * size[j])!r} of "
                f"{name}[{i},{i}] and {name}[{j},{j}], so one moment is negative; check the units of the entries"
            )
    if float(np.linalg.eigvalsh(tensor / size / size[:, None])[0]) > 8.0 * EPSILON:
        return
    moments, axes = np.linalg.eigh(tensor)
    axis = ", ".join(f"{part:.3g}" for part in axes[:, 0] + 0.0)
    raise InvalidInput(
        f"the smallest principal moment of {name}, about the axis ({axis}), is {moments[0]:.3g}, which is not positive "
        "beyond round-off; give a thin body its small thickness, or check the signs of the products of inertia"
    )


def inertias_of(inertia: object, N: int) -> list[MomentsAndFrame]:
    """Principal moments and frame of each of N bodies."""
    if isinstance(inertia, np.ndarray) and inertia.ndim:
        inertia = list(array(inertia, "inertia"))
    if not isinstance(inertia, LISTS) or not inertia:
        raise InvalidInput(f"inertia must be 3 moments or a tensor, or those of each body, not {shown(inertia)}")
    if N == 1 and (len(inertia) != 1 or not isinstance(inertia[0], (*LISTS, np.ndarray))):
        inertia = [inertia]
    if len(inertia) != N:
        raise InvalidInput(f"inertia must be one entry for each of {N} masses, but has {len(inertia)}")
    return [moments_and_frame(one, True, "inertia" if N == 1 else f"inertia[{i}]") for i, one in enumerate(inertia)]
