r"""The rigid body as a constrained Hamiltonian system of matrices: maps to and from attitude and angular momentum.

RATTLE and related methods integrate the attitude Q and the conjugate matrix P = Q' J, where J is the integral of
x x^T dm, diag(d_1, d_2, d_3) in principal axes [vilmart2013, eq. 7]. With y the angular momentum and w the angular
velocity, both in the body frame,

.. math::  P = Q \hat w J, \qquad \hat y = Q^T P - P^T Q, \qquad Q^T P J^{-1} + J^{-1} P^T Q = 0.

The last equation, the hidden constraint, says that P belongs to a motion of the body; the code here does not use
J^-1, so that flat and linear bodies, whose J is singular, are covered. The cotangent bundle of SO(3) has a different
matrix for the same state, with the constraint Q^T P + P^T Q = 0,

.. math::  \bar P = P - Q (Q^T P + P^T Q) / 2 = Q \hat y / 2,

and (P, Q) -> (P-bar, Q) is symplectic. Everything is in the body frame in which the inertia is given; quaternions are
scalar first, leading axes broadcast, units are any consistent set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.algebra import rotation
from polhode.algebra.vectorised import LARGEST
from polhode.arguments import array
from polhode.bodies.inertia import principal, turning
from polhode.errors import InvalidInput, naming
from polhode.lazy import public_names

Array = NDArray[np.float64]

__all__ = ["from_constrained", "from_cotangent", "to_constrained", "to_cotangent"]
__dir__ = public_names(__all__)


def to_constrained(inertia: ArrayLike, attitude: ArrayLike, angular_momentum: ArrayLike) -> tuple[Array, Array]:
    """The matrices (P, Q) of a body's attitude and angular momentum.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Moments in any order or full tensor, body frame, in mass length^2.
    attitude : array_like (..., 4)
        Quaternions, body to space; normalised on input.
    angular_momentum : array_like (..., 3)
        Body frame, in mass length^2 per time.

    Returns
    -------
    P : array (..., 3, 3)
        Q hat(w) J, in mass length^2 per time; accurate to round-off of the largest entry.
    Q : array (..., 3, 3)
        Rotation matrices.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, a zero quaternion, or an inertia that is physically impossible.

    Examples
    --------
    >>> import polhode as ph
    >>> P, Q = ph.systems.constrained.to_constrained((2.0, 3.0, 4.5), (1.0, 0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    >>> P.round(4)
    array([[ 0.    , -1.1667,  0.1667],
           [ 1.8333,  0.    , -0.125 ],
           [-1.8333,  0.875 ,  0.    ]])
    """
    with naming(q="attitude"):
        Q = rotation.matrix_from_quaternion(attitude)
    return _conjugate(inertia, _read(angular_momentum, "angular_momentum", (3,)), Q), Q


def from_constrained(P: ArrayLike, Q: ArrayLike) -> tuple[Array, Array]:
    """Attitude and body angular momentum from the matrices (P, Q), for any inertia.

    Parameters
    ----------
    P : array_like (..., 3, 3)
        Conjugate to Q, of the constrained system or of the cotangent bundle: y is the same for both.
    Q : array_like (..., 3, 3)
        Rotation matrices, body to space.

    Returns
    -------
    attitude : array (..., 4)
        Unit quaternions, with the first nonzero component positive.
    angular_momentum : array (..., 3)
        y with hat(y) = Q^T P - P^T Q, body frame.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, or Q is not a rotation within 1e-6.

    Examples
    --------
    >>> import polhode as ph
    >>> P, Q = ph.systems.constrained.to_constrained((2.0, 3.0, 4.5), (0.8, 0.0, 0.6, 0.0), (1.0, 2.0, 3.0))
    >>> attitude, momentum = ph.systems.constrained.from_constrained(P, Q)
    >>> momentum.round(6)
    array([1., 2., 3.])
    """
    P, Q = _read(P, "P", (3, 3)), _read(Q, "Q", (3, 3))
    return _attitude(Q), _momentum(P, Q)


def to_cotangent(P: ArrayLike, Q: ArrayLike) -> Array:
    """The matrix P-bar of T*SO(3) from P of the constrained system; the map is symplectic.

    Parameters
    ----------
    P, Q : array_like (..., 3, 3)
        Conjugate matrix and rotation.

    Returns
    -------
    array (..., 3, 3)
        P - Q (Q^T P + P^T Q)/2, which satisfies Q^T P-bar + P-bar^T Q = 0.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, or Q is not a rotation within 1e-6.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> P, Q = ph.systems.constrained.to_constrained((2.0, 3.0, 4.5), (0.8, 0.0, 0.6, 0.0), (1.0, 2.0, 3.0))
    >>> P_bar = ph.systems.constrained.to_cotangent(P, Q)
    >>> np.allclose(Q.T @ P_bar, -P_bar.T @ Q)
    True
    """
    P, Q = _read(P, "P", (3, 3)), _read(Q, "Q", (3, 3))
    _attitude(Q)
    return 0.5 * Q @ rotation.hat(_momentum(P, Q))


def from_cotangent(inertia: ArrayLike, P_bar: ArrayLike, Q: ArrayLike) -> Array:
    """The matrix P of the constrained system from P-bar of T*SO(3), the inverse of ``to_cotangent``.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Moments or tensor, body frame.
    P_bar, Q : array_like (..., 3, 3)
        Conjugate matrix of the cotangent bundle and rotation.

    Returns
    -------
    array (..., 3, 3)
        Q hat(w) J.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, Q is not a rotation within 1e-6, or an inertia that is physically impossible.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> constrained, inertia = ph.systems.constrained, (2.0, 3.0, 4.5)
    >>> P, Q = constrained.to_constrained(inertia, (0.8, 0.0, 0.6, 0.0), (1.0, 2.0, 3.0))
    >>> np.allclose(constrained.from_cotangent(inertia, constrained.to_cotangent(P, Q), Q), P)
    True
    """
    P_bar, Q = _read(P_bar, "P_bar", (3, 3)), _read(Q, "Q", (3, 3))
    _attitude(Q)
    return _conjugate(inertia, _momentum(P_bar, Q), Q)


def _read(value: ArrayLike, name: str, last: tuple[int, ...]) -> Array:
    found = array(value, name, "kg * m**2 / s" if name != "Q" else "")
    if found.shape[-len(last) :] != last:
        raise InvalidInput(f"{name} has shape {found.shape}; its last axes must be {last}")
    if found.size and np.abs(found).max() > LARGEST:
        raise InvalidInput(f"{name} has entries beyond {LARGEST:g}; check its units")
    return found


def _conjugate(inertia: ArrayLike, y: Array, Q: Array) -> Array:
    """Q hat(w) J, computed in principal axes."""
    moments, frame = principal(inertia)
    # [vilmart2013, eq. 2], the largest moments subtracted first: the small d_k of a thin body keep their digits.
    others = np.array([moments[[1, 2]], moments[[2, 0]], moments[[0, 1]]])
    d = 0.5 * ((others.max(axis=1) - moments) + others.min(axis=1))
    F = rotation.matrix_from_quaternion(frame)
    with np.errstate(over="ignore"):
        rates = y @ F / turning(moments)
    if not (np.abs(rates) <= LARGEST).all():
        raise InvalidInput(f"the angular velocity is beyond {LARGEST:g}; check the units of inertia and momentum")
    return Q @ F @ rotation.hat(rates) * d @ F.T


def _momentum(P: Array, Q: Array) -> Array:
    A = np.swapaxes(Q, -1, -2) @ P
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], axis=-1)


def _attitude(Q: Array) -> Array:
    try:
        return rotation.quaternion_from_matrix(Q)
    except InvalidInput as problem:
        raise InvalidInput(str(problem).replace("matrix is", "Q is", 1)) from None
