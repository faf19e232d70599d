"""Quaternions, their action on vectors, and their conversion to and from matrices, axes and other libraries."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra import quaternion, so3
from polhode.algebra.rotation.maps import exp_quaternion, log_quaternion
from polhode.algebra.rotation.operands import (
    ATTITUDE,
    QUATERNION,
    ROTATION,
    VECTOR,
    read_attitudes,
    read_quaternions,
    read_rotations,
)
from polhode.algebra.vectorised import Operand, Rows, leading_axes, over_rows, plain, read_vectors
from polhode.arguments import LONGEST_WORD, UNKNOWN, Array, array, has, text
from polhode.errors import InvalidInput, naming

__all__ = [
    "angle_between", "as_quaternion", "axis_angle_from_quaternion", "conjugate", "from_scipy", "from_xyzw",
    "matrix_from_quaternion", "multiply", "normalize", "quaternion_from_axis_angle", "quaternion_from_matrix",
    "rotate", "rotate_inverse", "to_scipy", "to_xyzw",
]  # fmt: skip

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

UNIT_TOLERANCE = 1e-6  # largest deviation from 1 of the norm of a quaternion that should be a unit quaternion


def _rotate(q, v):
    return quaternion.rotate(quaternion.normalize(q), v)


def _rotate_inverse(q, v):
    return quaternion.rotate_inverse(quaternion.normalize(q), v)


def _to_matrix(q):
    return quaternion.to_matrix(quaternion.normalize(q))


def _axis(value: ArrayLike, name: str) -> Array:
    a = read_vectors(value, name, UNKNOWN)
    if not a.any(axis=-1).all():
        raise InvalidInput(f"{name} contains a zero vector, which has no direction; give a vector that is not zero")
    return a


_QUATERNION_FROM_MATRIX = Rows(quaternion.from_matrix, (4,), matrix=ROTATION)
_AXIS_ANGLE = Rows(so3.axis_angle, (4,), axis=Operand(3, _axis, (5e-324, 1e100)))


@over_rows(quaternion.multiply, (4,), a=QUATERNION, b=QUATERNION)
def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product of quaternions: rotation ``b`` followed by rotation ``a``, R(a b) = R(a) R(b).

    Parameters
    ----------
    a, b : array_like (..., 4)
        Quaternions (w, x, y, z) of any norm; they are not normalised.

    Examples
    --------
    >>> import polhode as ph
    >>> first, then = ph.rotation.exp_quaternion([(0.0, 0.0, 0.5), (0.3, 0.0, 0.0)])
    >>> ph.rotation.multiply(then, first).round(4)
    array([ 0.958 ,  0.1448, -0.037 ,  0.2446])
    """


@over_rows(quaternion.conjugate, (4,), q=QUATERNION)
def conjugate(q: ArrayLike) -> Array:
    """Conjugate quaternion (w, -x, -y, -z); for a unit quaternion the inverse rotation.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z) of any norm.

    Examples
    --------
    >>> import polhode as ph
    >>> wanted, reached = (0.8, 0.0, 0.6, 0.0), (0.6, 0.0, 0.8, 0.0)
    >>> error = ph.rotation.multiply(ph.rotation.conjugate(wanted), reached)
    >>> error.round(4)[[0, 2]]
    array([0.96, 0.28])
    """


@over_rows(quaternion.normalize, (4,), q=ATTITUDE)
def normalize(q: ArrayLike) -> Array:
    """Quaternion divided by its norm.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z) of any norm but zero.

    Returns
    -------
    array (..., 4)
        Unit quaternions of the same sign, each component to 2 ulp.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.normalize((1.0, 1.0, 1.0, 1.0))
    array([0.5, 0.5, 0.5, 0.5])
    """


@over_rows(_rotate, (3,), q=ATTITUDE, v=VECTOR)
def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Transform vectors from the body frame to the space frame, R(q) v.

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.
    v : array_like (..., 3)
        Vectors in the body frame.

    Returns
    -------
    array (..., 3)
        The same vectors in the space frame, to 1e-15 of their length.

    See Also
    --------
    rotate_inverse : from the space frame to the body frame.

    Examples
    --------
    >>> import polhode as ph
    >>> attitude, nozzle = (0.9, 0.1, 0.3, 0.2), (1.0, 0.0, 0.0)
    >>> ph.rotation.rotate(attitude, nozzle).round(4)
    array([ 0.7263,  0.4421, -0.5263])
    """


@over_rows(_rotate_inverse, (3,), q=ATTITUDE, v=VECTOR)
def rotate_inverse(q: ArrayLike, v: ArrayLike) -> Array:
    """Transform vectors from the space frame to the body frame, R(q)^T v.

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.
    v : array_like (..., 3)
        Vectors in the space frame.

    Returns
    -------
    array (..., 3)
        The same vectors in the body frame, to 1e-15 of their length.

    See Also
    --------
    rotate : from the body frame to the space frame.

    Examples
    --------
    >>> import polhode as ph
    >>> attitude, sun = (0.9, 0.1, 0.3, 0.2), (1.0, 0.0, 0.0)
    >>> ph.rotation.rotate_inverse(attitude, sun).round(4)
    array([ 0.7263, -0.3158,  0.6105])
    """


@over_rows(quaternion.angle_between, (), q1=ATTITUDE, q2=ATTITUDE)
def angle_between(q1: ArrayLike, q2: ArrayLike) -> Array:
    """Angle of the rotation between two attitudes, from 0 to pi.

    Parameters
    ----------
    q1, q2 : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.

    Returns
    -------
    array (...)
        Angles in radians, to 1e-15. Nearly equal attitudes are compared without cancellation: angles of 1e-15 and below
        keep several digits, and equal quaternions give 0.

    Examples
    --------
    >>> import polhode as ph
    >>> wanted = ph.rotation.exp_quaternion((0.0, 0.0, 0.30))
    >>> reached = ph.rotation.exp_quaternion((0.0, 0.0, 0.28))
    >>> round(float(ph.rotation.angle_between(wanted, reached)), 6)
    0.02
    """


# Matrices, axis and angle.


@over_rows(_to_matrix, (3, 3), q=ATTITUDE)
def matrix_from_quaternion(q: ArrayLike) -> Array:
    """Rotation matrix of an attitude quaternion, x_space = R x_body.

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.

    Returns
    -------
    array (..., 3, 3)
        Rotation matrices, each entry to 1e-15.

    Examples
    --------
    >>> import polhode as ph
    >>> R = ph.rotation.matrix_from_quaternion((0.9, 0.1, 0.3, 0.2))
    >>> R.round(4)
    array([[ 0.7263, -0.3158,  0.6105],
           [ 0.4421,  0.8947, -0.0632],
           [-0.5263,  0.3158,  0.7895]])
    """


def quaternion_from_matrix(matrix: ArrayLike) -> Array:
    """Attitude quaternion of a rotation matrix.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Rotation matrices, x_space = R x_body.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z) to 1e-15 at every attitude; the first nonzero component is positive. If the matrix
        is not exactly orthogonal, the rotation differs from it by an amount of the order of the defect.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or not a rotation within 1e-6.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.quaternion_from_matrix([[0.28, 0.0, 0.96], [0.0, 1.0, 0.0], [-0.96, 0.0, 0.28]]).round(4)[[0, 2]]
    array([0.8, 0.6])
    """
    return _QUATERNION_FROM_MATRIX(matrix)


def quaternion_from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Attitude quaternion of a rotation about an axis.

    Parameters
    ----------
    axis : array_like (..., 3)
        Directions of any length but zero.
    angle : array_like (...)
        Angles in radians; counter-clockwise seen from the tip of the axis.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z), accurate as those of ``exp_quaternion``.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero axis.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> attitude = ph.rotation.quaternion_from_axis_angle((1.0, 1.0, 1.0), np.deg2rad(40.0))
    >>> attitude.round(4)
    array([0.9397, 0.1975, 0.1975, 0.1975])
    """
    split = _AXIS_ANGLE(axis)
    angles = array(angle, "angle", "rad")
    leading_axes(axis=split.shape[:-1], angle=angles.shape)
    with naming(v="angle"):
        return exp_quaternion(split[..., :3] * angles[..., np.newaxis])


def axis_angle_from_quaternion(q: ArrayLike) -> tuple[Array, Array]:
    """Axis and angle of an attitude quaternion.

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.

    Returns
    -------
    axis : array (..., 3)
        Unit vectors; (1, 0, 0) where the angle is 0.
    angle : array (...)
        Angles in radians between 0 and pi.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.

    Examples
    --------
    >>> import polhode as ph
    >>> axis, angle = ph.rotation.axis_angle_from_quaternion((0.8, 0.0, 0.6, 0.0))
    >>> axis, round(float(angle), 4)
    (array([0., 1., 0.]), 1.287)
    """
    axis_and_angle = _AXIS_ANGLE.over(log_quaternion(q))
    return axis_and_angle[..., :3], axis_and_angle[..., 3][()]


# Conversion from and to other libraries.


def as_quaternion(attitude: ArrayLike | Rotation, name: str = "attitude") -> Array:
    """Attitude quaternions from quaternions, rotation matrices or a SciPy ``Rotation``.

    Parameters
    ----------
    attitude : array_like (..., 4) or (..., 3, 3), or scipy.spatial.transform.Rotation
        Unit quaternions (w, x, y, z) of either sign, rotation matrices, or a SciPy ``Rotation``; all body to space.
    name : str
        Name of the argument in error messages.

    Returns
    -------
    array (..., 4)
        Quaternions divided by their length, accurate to one rounding; of a matrix as ``quaternion_from_matrix``, of a
        ``Rotation`` with SciPy's sign.

    Raises
    ------
    InvalidInput
        Another shape, not finite, a quaternion whose length is not 1 within 1e-6, or a matrix that is not a rotation
        within 1e-6; the message names the first wrong one.

    Examples
    --------
    >>> as_quaternion([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).round(3).tolist()
    [0.707, 0.0, 0.0, 0.707]
    """
    name = text(name, "name", LONGEST_WORD)
    if (one := plain(attitude, 4)) is not None:
        q = np.array(one, dtype=float)
        norm = sqrt(q @ q)
        if abs(norm - 1.0) <= UNIT_TOLERANCE:
            return q / norm
    if has(attitude, "as_quat") and not isinstance(attitude, type):
        attitude = from_scipy(attitude)
    a = array(attitude, name)
    if a.ndim >= 2 and a.shape[-2:] == (3, 3):
        return _QUATERNION_FROM_MATRIX.over(read_rotations(a, name))
    if a.shape[-1:] != (4,):
        raise InvalidInput(
            f"{name} has shape {a.shape}; give a unit quaternion (w, x, y, z), a rotation matrix (3, 3), or a scipy "
            "Rotation"
        )
    with np.errstate(over="ignore"):
        # Rounds like the norm of a single quaternion, whatever the number of attitudes.
        length = np.sqrt(np.matmul(a[..., None, :], a[..., :, None])[..., 0, 0])
    wrong = np.argwhere(np.abs(length - 1.0) > UNIT_TOLERANCE)
    if len(wrong):
        index_text = ",".join(str(int(k)) for k in wrong[0])
        raise InvalidInput(
            f"{name}{f'[{index_text}]' if index_text else ''} has length {length[tuple(wrong[0])]:g}; give a unit "
            "quaternion (w, x, y, z)"
        )
    return np.asarray(a / length[..., None])


def from_xyzw(q: ArrayLike) -> Array:
    """Convert scalar-last quaternions (SciPy, ROS, Eigen's storage) to polhode's order.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (x, y, z, w).

    Returns
    -------
    array (..., 4)
        Quaternions (w, x, y, z), not normalised.

    Raises
    ------
    InvalidInput
        Wrong shape or not finite.

    See Also
    --------
    to_xyzw : back to scalar-last quaternions.
    from_scipy : from a ``Rotation``.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.from_xyzw((0.0, 0.6, 0.0, 0.8))
    array([0.8, 0. , 0.6, 0. ])
    """
    return np.roll(read_quaternions(q, "q"), 1, axis=-1)


def to_xyzw(q: ArrayLike) -> Array:
    """Convert quaternions to scalar-last order (SciPy, ROS, Eigen's storage).

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z).

    Returns
    -------
    array (..., 4)
        Quaternions (x, y, z, w), not normalised.

    Raises
    ------
    InvalidInput
        Wrong shape or not finite.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.to_xyzw((0.8, 0.0, 0.6, 0.0))
    array([0. , 0.6, 0. , 0.8])
    """
    return np.roll(read_quaternions(q, "q"), -1, axis=-1)


def from_scipy(rotation: Rotation) -> Array:
    """Attitude quaternions of a SciPy ``Rotation``, taken as body to space.

    Parameters
    ----------
    rotation : scipy.spatial.transform.Rotation
        One rotation or an array of them.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z), with SciPy's sign.

    Raises
    ------
    InvalidInput
        Not a ``Rotation``.

    Examples
    --------
    >>> import polhode as ph
    >>> from scipy.spatial.transform import Rotation
    >>> attitude = ph.rotation.from_scipy(Rotation.from_euler("ZYX", (30.0, 10.0, 5.0), degrees=True))
    >>> attitude.round(4)
    array([0.9623, 0.0194, 0.0954, 0.2539])
    """
    from scipy.spatial.transform import Rotation

    if not isinstance(rotation, Rotation):
        raise InvalidInput(
            f"rotation is a {type(rotation).__name__}, not a scipy Rotation; for plain numbers use from_xyzw"
        )
    return from_xyzw(rotation.as_quat())


def to_scipy(q: ArrayLike) -> Rotation:
    """SciPy ``Rotation`` of attitude quaternions.

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero. SciPy before 1.17 takes at most one leading axis.

    Returns
    -------
    scipy.spatial.transform.Rotation
        Rotations from body to space.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.to_scipy((0.9, 0.1, 0.3, 0.2)).as_euler("ZYX", degrees=True).round(2)
    array([31.33, 31.76, 21.8 ])
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(to_xyzw(read_attitudes(q, "q")))
