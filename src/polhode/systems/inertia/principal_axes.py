"""Principal moments of inertia and principal frames, by Jacobi rotations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.arguments import LONGEST_WORD, array, room_for, text, truth, whole
from polhode.errors import InvalidInput
from polhode.systems.inertia.checks import EPSILON, KG_M2, RELATIVE_TOLERANCE, Array, check_triangle, tensor_from


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
    tensor = tensor_from(given, name)
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
        check_triangle(moments, labels, "check the entries and their signs")
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
            if abs(a[i][j]) <= 0.25 * EPSILON * math.sqrt(a[i][i]) * math.sqrt(a[j][j]):
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
