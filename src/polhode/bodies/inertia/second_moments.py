"""Second moments of mass, and the parallel-axis theorem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.arguments import array, number, vector
from polhode.errors import InvalidInput

Array = NDArray[np.float64]

RELATIVE_TOLERANCE = 1e-9
"""Largest relative violation of symmetry, triangle inequality or unit norm that is accepted in inputs."""

KG_M2 = "kg * m**2"

LARGEST = 1e100  # largest mass or length, so that products do not overflow

EPSILON = float(np.finfo(float).eps)


def bounded(given: Array | float, name: str, largest: float = LARGEST) -> None:
    if np.size(given) and np.max(np.abs(given)) > largest:
        raise InvalidInput(f"{name} is beyond {largest:g}; check its units")


def mass_from(value: ArrayLike, name: str) -> float:
    mass = number(value, name, "kg", positive=True)
    bounded(mass, name)
    return mass


def length_from(value: ArrayLike, name: str, *, zero: bool = False) -> float:
    length = number(value, name, "m", positive=True, zero=zero)
    bounded(length, name)
    return length


def position_from(value: ArrayLike, name: str) -> Array:
    given = vector(value, name, unit="m")
    bounded(given, name)
    return given


def tensor_from(value: ArrayLike, name: str) -> Array:
    """An exactly symmetric (3, 3) tensor from three moments or a 3x3 tensor."""
    given = array(value, name, KG_M2)
    if given.shape == (3,):
        return np.diag(given)
    if given.shape == (3, 3):
        return symmetric(given, name)
    raise InvalidInput(
        f"{name} must be 3 principal moments or a 3x3 tensor, but its shape is {given.shape}; "
        "for a body with three equal moments write (I, I, I)"
    )


def symmetric(given: Array, name: str) -> Array:
    if given.shape != (3, 3):
        raise InvalidInput(f"{name} must be a 3x3 tensor, but its shape is {given.shape}")
    if np.array_equal(given, given.T):
        return given.copy()
    gap = np.abs(given - given.T)
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
    if gap[i, j] > RELATIVE_TOLERANCE * np.max(np.abs(given)):
        raise InvalidInput(
            f"{name} is not symmetric: {name}[{i},{j}] = {float(given[i, j])!r} but {name}[{j},{i}] = "
            f"{float(given[j, i])!r}; give both entries the same value"
        )
    return 0.5 * given + 0.5 * given.T


def check_triangle(moments: Sequence[float], labels: Sequence[str], remedy: str) -> None:
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if moments[k] > (moments[i] + moments[j]) * (1.0 + RELATIVE_TOLERANCE):
            raise InvalidInput(
                f"{labels[k]} = {moments[k]!r} exceeds {labels[i]} + {labels[j]} = {moments[i] + moments[j]!r}, "
                f"which no body can have; {remedy}"
            )


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

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.second_moments_from_inertia((20.0, 30.0, 25.0)).diagonal()
    array([17.5,  7.5, 12.5])
    """
    tensor = tensor_from(inertia, "inertia")
    bounded(tensor, "inertia", LARGEST**3)
    half_trace = 0.5 * float(np.trace(tensor))
    return np.diag([half_trace] * 3) - tensor


def inertia_from_second_moments(second_moments: ArrayLike) -> Array:
    """Inertia tensor I = tr(J) - J from the second moments of mass J = integral of x x^T dm, shape (3, 3).

    The inverse of ``second_moments_from_inertia``; same units, axes and errors.

    Parameters
    ----------
    second_moments : array_like, shape (3, 3)
        The second moments J.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.inertia_from_second_moments([(17.5, 0.5, 0.0), (0.5, 7.5, 0.0), (0.0, 0.0, 12.5)])
    array([[20. , -0.5,  0. ],
           [-0.5, 30. ,  0. ],
           [ 0. ,  0. , 25. ]])
    """
    tensor = symmetric(array(second_moments, "second_moments", KG_M2), "second_moments")
    bounded(tensor, "second_moments", LARGEST**3)
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

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.d_from_inertia((20.0, 30.0, 25.0))
    array([17.5,  7.5, 12.5])
    """
    given = vector(moments, "moments", unit=KG_M2)
    labels = [f"moments[{k}]" for k in range(3)]
    check_triangle([float(m) for m in given], labels, "its d_k would be negative, so check the entries")
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

    Examples
    --------
    >>> import polhode as ph
    >>> ph.free_body(ph.inertia.inertia_from_d((17.5, 7.5, 12.5))).moments
    array([[20., 30., 25.]])
    """
    given = vector(d, "d", unit=KG_M2)
    if np.abs(given).max() > LARGEST:
        raise InvalidInput(f"d has entries beyond {LARGEST:g}, whose sums overflow; check their units")
    k = int(np.argmin(given))
    if given[k] < -RELATIVE_TOLERANCE * np.sum(given):
        raise InvalidInput(
            f"d[{k}] = {float(given[k])!r} is negative, but d_k is the integral of x_k^2 dm; "
            "if these are moments of inertia, use d_from_inertia"
        )
    return np.array([given[1] + given[2], given[2] + given[0], given[0] + given[1]])


def point_inertia(mass: float, offset: Array) -> Array:
    """Inertia m (|x|^2 - x x^T) of a point mass about a point at distance vector ``offset``."""
    return mass * inertia_from_second_moments(np.outer(offset, offset))


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

    See Also
    --------
    parallel_axis_inverse : back to the centre of mass.

    Examples
    --------
    >>> import polhode as ph
    >>> rod = ph.inertia.thin_rod(3.0, 2.0)
    >>> ph.inertia.parallel_axis(rod.inertia, rod.mass, (0.0, 0.0, 1.0)).diagonal()
    array([4., 4., 0.])
    """
    return tensor_from(inertia, "inertia") + point_inertia(mass_from(mass, "mass"), position_from(offset, "offset"))


def parallel_axis_inverse(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """Inertia about the centre of mass from that about a point: I - m (|c|^2 - c c^T) [goldstein2002, ch. 5].

    Parameters, errors and result as in ``parallel_axis`` with the two tensors exchanged; the result has the round-off
    of the larger one. A physically impossible result (beyond 1e-9 of ``inertia``) is refused, since then ``inertia``
    was not about that point.

    Parameters
    ----------
    inertia : array_like, shape (3,) or (3, 3)
        Inertia about the point.
    mass : float
        Mass, positive.
    offset : array_like, shape (3,)
        Vector c between the centre of mass and the point.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.inertia.parallel_axis_inverse((4.0, 4.0, 0.02), 3.0, (0.0, 0.0, 1.0)).diagonal()
    array([1.  , 1.  , 0.02])
    """
    given = tensor_from(inertia, "inertia")
    central = given - point_inertia(mass_from(mass, "mass"), position_from(offset, "offset"))
    lowest = float(np.linalg.eigvalsh(second_moments_from_inertia(central))[0])
    if lowest < -RELATIVE_TOLERANCE * np.trace(given):
        raise InvalidInput(
            "inertia is too small to be about a point at that offset: taking the parallel-axis term away leaves the "
            f"second moment {lowest:.6g}; check offset and mass, or whether inertia is about the centre of mass already"
        )
    return central
