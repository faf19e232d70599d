"""The Lie algebra, the exponential and the Cayley map, their inverses and tangent operators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra import quaternion, so3
from polhode.algebra.rotation.operands import (
    ATTITUDE,
    CAYLEY_VECTOR,
    MATRIX_TOLERANCE,
    ROTATION,
    ROTATION_VECTOR,
    VECTOR,
    flat,
    no_half_turns,
    read_attitudes,
    read_matrices,
    read_rotations,
)
from polhode.algebra.vectorised import Operand, Rows, over_rows
from polhode.arguments import UNKNOWN, Array
from polhode.errors import InvalidInput

__all__ = [
    "Ad", "cay_matrix", "cay_quaternion", "cayinv_matrix", "cayinv_quaternion", "dcay", "dcayinv", "dexp",
    "dexpinv", "exp_matrix", "exp_quaternion", "hat", "log_matrix", "log_quaternion", "vee",
]  # fmt: skip

HALF = "a half turn (``|w|`` at most 1e-15 of the norm)"


def _skew(value: ArrayLike, name: str) -> Array:
    a = read_matrices(value, name, UNKNOWN)
    if a.size:
        defect = np.abs(0.5 * a + 0.5 * np.swapaxes(a, -1, -2)).max(axis=(-1, -2))
        if (defect > 0.5 * MATRIX_TOLERANCE * np.abs(a).max(axis=(-1, -2))).any():
            raise InvalidInput(f"{name} is not skew; pass its skew part (A - A^T)/2 if that is what you mean")
    return flat(a)


def _no_half_turn(value: ArrayLike, name: str) -> Array:
    return no_half_turns(read_attitudes(value, name), name)


def _no_half_turn_matrix(value: ArrayLike, name: str) -> Array:
    a = read_rotations(value, name)
    no_half_turns(_QUATERNION_FROM_MATRIX.over(a), name)
    return a


_QUATERNION_FROM_MATRIX = Rows(quaternion.from_matrix, (4,), matrix=ROTATION)
_TANGENT = {
    name: (Rows(on_vector, (3,), v=at, w=VECTOR), Rows(as_matrix, (3, 3), v=at))
    for name, on_vector, as_matrix, at in (
        ("dexp", so3.dexp, so3.dexp_matrix, ROTATION_VECTOR),
        ("dexpinv", so3.dexpinv, so3.dexpinv_matrix, ROTATION_VECTOR),
        ("dcay", so3.dcay, so3.dcay_matrix, CAYLEY_VECTOR),
        ("dcayinv", so3.dcayinv, so3.dcayinv_matrix, CAYLEY_VECTOR),
    )
}
"""Of each operator: applied to a vector, and its matrix."""


def _tangent(name: str, v: ArrayLike, w: ArrayLike | None) -> Array:
    on_vector, as_matrix = _TANGENT[name]
    return as_matrix(v) if w is None else on_vector(v, w)


# The Lie algebra.


@over_rows(so3.hat, (3, 3), v=VECTOR)
def hat(v: ArrayLike) -> Array:
    """Skew matrix of a vector: ``hat(v) @ w`` is the cross product v x w.

    Parameters
    ----------
    v : array_like (..., 3)
        Vectors.

    Returns
    -------
    array (..., 3, 3)
        Skew matrices, exact.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> w, r = (0.1, 0.2, 0.3), (1.0, 0.5, 2.0)
    >>> np.allclose(ph.rotation.hat(w) @ r, np.cross(w, r))
    True
    """


@over_rows(so3.vee, (3,), matrix=Operand(9, _skew, None, ("not skew within 1e-6 of its largest entry",)))
def vee(matrix: ArrayLike) -> Array:
    """Vector of a skew matrix, the inverse of ``hat``.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Skew matrices.

    Returns
    -------
    array (..., 3)
        Vectors of the skew part; exact where the matrix is exactly skew.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.vee(ph.rotation.hat((0.1, 0.2, 0.3)))
    array([0.1, 0.2, 0.3])
    """


@over_rows(so3.Ad, (3,), matrix=ROTATION, w=VECTOR)
def Ad(matrix: ArrayLike, w: ArrayLike) -> Array:
    """Adjoint action of a rotation on the Lie algebra, Ad_R w = R w: the vector of ``R hat(w) R^T``.

    For an attitude given as a quaternion use ``rotate``.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Rotation matrices.
    w : array_like (..., 3)
        Vectors.

    Examples
    --------
    >>> import polhode as ph
    >>> turn = ph.rotation.exp_matrix((0.0, 0.0, 0.5))
    >>> ph.rotation.Ad(turn, (1.0, 2.0, 3.0)).round(4)
    array([-0.0813,  2.2346,  3.    ])
    """


# Exponential and Cayley map, and back.


@over_rows(so3.exp_quaternion, (4,), v=ROTATION_VECTOR)
def exp_quaternion(v: ArrayLike) -> Array:
    """Unit quaternion of a rotation vector.

    Parameters
    ----------
    v : array_like (..., 3)
        Rotation vectors, angle in radians times axis.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z), each component accurate to 3e-16 up to the angle pi; beyond, to 1e-16 times the
        angle, the rounding of the angle itself. No loss of accuracy near the angle 0.

    See Also
    --------
    cay_quaternion : of a Cayley vector, which agrees with a rotation vector to second order.

    Examples
    --------
    >>> exp_quaternion((0.0, 0.0, 0.0))
    array([1., 0., 0., 0.])
    """


@over_rows(so3.exp_matrix, (3, 3), v=ROTATION_VECTOR)
def exp_matrix(v: ArrayLike) -> Array:
    """Rotation matrix of a rotation vector, exp(hat v).

    Parameters
    ----------
    v : array_like (..., 3)
        Rotation vectors, angle in radians times axis.

    Returns
    -------
    array (..., 3, 3)
        Rotation matrices, each entry to 1e-15 up to the angle pi.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> R = ph.rotation.exp_matrix((0.0, 0.0, np.pi / 6))
    >>> (R @ (2.0, 0.0, 1.0)).round(4)
    array([1.7321, 1.    , 1.    ])
    """


@over_rows(so3.log_quaternion, (3,), q=ATTITUDE)
def log_quaternion(q: ArrayLike) -> Array:
    """Rotation vector of an attitude quaternion, the inverse of ``exp_quaternion``.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z) of any sign and norm but zero.

    Returns
    -------
    array (..., 3)
        Rotation vectors of length at most pi, to 1e-15. Near the angle 0 they keep the relative accuracy of x, y, z.
        At exactly the angle pi, where v and -v are the same attitude, the first nonzero component is positive.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.log_quaternion((0.9, 0.1, 0.3, 0.2)).round(4)
    array([0.2106, 0.6318, 0.4212])
    """


@over_rows(so3.log_matrix, (3,), matrix=ROTATION)
def log_matrix(matrix: ArrayLike) -> Array:
    """Rotation vector of a rotation matrix, the inverse of ``exp_matrix``.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Rotation matrices.

    Returns
    -------
    array (..., 3)
        Rotation vectors of length at most pi, to 2e-15 at every angle, including near 0 and pi. At the angle pi, within
        round-off, v and -v are the same attitude and either may be returned.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.log_matrix([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]).round(4)
    array([0.    , 0.    , 0.6435])
    """


@over_rows(so3.cay_quaternion, (4,), v=CAYLEY_VECTOR)
def cay_quaternion(v: ArrayLike) -> Array:
    """Unit quaternion of a Cayley vector: cay(hat v) = (1 - hat v/2)^-1 (1 + hat v/2), of angle ``2 atan(|v|/2)``.

    Parameters
    ----------
    v : array_like (..., 3)
        Cayley vectors, which agree with rotation vectors to second order.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z), each component to 3 ulp.

    See Also
    --------
    exp_quaternion : of a rotation vector, angle in radians times axis.

    Examples
    --------
    >>> import polhode as ph
    >>> q = ph.rotation.cay_quaternion((0.1, 0.2, 0.3))
    >>> ph.rotation.log_quaternion(q).round(4)
    array([0.0989, 0.1977, 0.2966])
    """


@over_rows(so3.cay_matrix, (3, 3), v=CAYLEY_VECTOR)
def cay_matrix(v: ArrayLike) -> Array:
    """Rotation matrix of a Cayley vector: (1 - hat v/2)^-1 (1 + hat v/2).

    Parameters
    ----------
    v : array_like (..., 3)
        Cayley vectors, which agree with rotation vectors to second order.

    Returns
    -------
    array (..., 3, 3)
        Rotation matrices, each entry to 1e-15.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.cay_matrix((0.0, 0.0, 0.5))[:2, :2].round(4)
    array([[ 0.8824, -0.4706],
           [ 0.4706,  0.8824]])
    """


@over_rows(so3.cayinv_quaternion, (3,), q=Operand(4, _no_half_turn, None, ("a zero quaternion", HALF)))
def cayinv_quaternion(q: ArrayLike) -> Array:
    """Cayley vector of an attitude quaternion, the inverse of ``cay_quaternion``: 2 (x, y, z)/w.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z) of any sign and norm but zero, and not half turns.

    Returns
    -------
    array (..., 3)
        Cayley vectors, to 2 ulp of the quotient; near the angle pi they grow without bound, and a relative error of
        the angle is magnified by ``|v|``.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.cayinv_quaternion((0.8, 0.1, 0.5, 0.3)).round(4)
    array([0.25, 1.25, 0.75])
    """


@over_rows(
    so3.cayinv_matrix,
    (3,),
    matrix=Operand(9, _no_half_turn_matrix, None, ("not a rotation within 1e-6", "a half turn")),
)
def cayinv_matrix(matrix: ArrayLike) -> Array:
    """Cayley vector of a rotation matrix, the inverse of ``cay_matrix``.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Rotation matrices, not half turns.

    Returns
    -------
    array (..., 3)
        Cayley vectors, to ``2e-15 (1 + |v|^2/4)``; near the angle pi they grow without bound.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.cayinv_matrix(ph.rotation.exp_matrix((0.1, 0.2, 0.3))).round(4)
    array([0.1012, 0.2024, 0.3035])
    """


# Tangent operators.


def dexp(v: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Tangent operator of the exponential map: d/dt exp(hat v) = hat(dexp_v v') exp(hat v) [krysl2006, eq. 9].

    ``dexp_v w = w + (1 - cos t)/t^2 v x w + (t - sin t)/t^3 v x (v x w)`` with ``t = |v|``. If exp(hat v) is an
    attitude, ``dexp(v, dv/dt)`` is its angular velocity in the space frame, ``dexp(-v, dv/dt)`` in the body frame.

    Parameters
    ----------
    v : array_like (..., 3)
        Rotation vectors, radians.
    w : array_like (..., 3), optional
        Vectors to act on.

    Returns
    -------
    array (..., 3) or (..., 3, 3)
        The operator applied to ``w``, or its matrix when ``w`` is not given; entries to 1e-15 of the largest,
        including near v = 0. The operator is singular where ``|v|`` is a nonzero multiple of 2 pi.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.

    Examples
    --------
    >>> import polhode as ph
    >>> v, rate = (0.1, 0.2, 0.3), (1.0, 0.5, 2.0)
    >>> ph.rotation.dexp([-x for x in v], rate).round(4)
    array([0.8665, 0.4655, 2.0675])
    """
    return _tangent("dexp", v, w)


def dexpinv(v: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Inverse of the tangent operator of the exponential map [iserles2000].

    ``dexp_v^-1 w = w - v x w / 2 + (1 - (t/2) cot(t/2))/t^2 v x (v x w)`` with ``t = |v|``: the time derivative of the
    rotation vector for the space-frame angular velocity w; ``dexpinv(-v, w)`` for the body-frame one.

    Parameters
    ----------
    v : array_like (..., 3)
        Rotation vectors, radians.
    w : array_like (..., 3), optional
        Vectors to act on.

    Returns
    -------
    array (..., 3) or (..., 3, 3)
        The operator applied to ``w``, or its matrix when ``w`` is not given; entries to 1e-15 of the largest up to
        ``|v|`` = pi, including near v = 0. It has a pole at ``|v|`` = 2 pi; errors grow as ``1/|2 pi - t|`` near it.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.dexpinv((0.1, 0.2, 0.3), (1.0, 0.5, 2.0)).round(4)
    array([0.87  , 0.4575, 2.0717])
    """
    return _tangent("dexpinv", v, w)


def dcay(v: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Tangent operator of the Cayley map: d/dt cay(hat v) = hat(dcay_v v') cay(hat v) [iserles2000].

    ``dcay_v w = (w + v x w / 2)/(1 + |v|^2/4)``.

    Parameters
    ----------
    v : array_like (..., 3)
        Cayley vectors.
    w : array_like (..., 3), optional
        Vectors to act on.

    Returns
    -------
    array (..., 3) or (..., 3, 3)
        The operator applied to ``w``, or its matrix when ``w`` is not given; entries to 1e-15 of the largest.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.dcay((0.1, 0.2, 0.3), (1.0, 0.5, 2.0)).round(4)
    array([1.087 , 0.5314, 1.8599])
    """
    return _tangent("dcay", v, w)


def dcayinv(v: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Inverse of the tangent operator of the Cayley map [iserles2000].

    ``dcay_v^-1 w = w - v x w / 2 + v (v . w)/4``; regular at every v.

    Parameters
    ----------
    v : array_like (..., 3)
        Cayley vectors.
    w : array_like (..., 3), optional
        Vectors to act on.

    Returns
    -------
    array (..., 3) or (..., 3, 3)
        The operator applied to ``w``, or its matrix when ``w`` is not given; entries to 1e-15 of the largest.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.

    Examples
    --------
    >>> import polhode as ph
    >>> v, rate = (0.1, 0.2, 0.3), (1.0, 0.5, 2.0)
    >>> ph.rotation.dcayinv(v, ph.rotation.dcay(v, rate)).round(12)
    array([1. , 0.5, 2. ])
    """
    return _tangent("dcayinv", v, w)
