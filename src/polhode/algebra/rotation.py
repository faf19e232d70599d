"""Rotations of arrays: the public interface of the algebra, as ``polhode.rotation``.

Every function takes array_like with any leading axes, which broadcast against each other, and returns float64 arrays
with the same leading axes; a vector is the last axis of length 3, a quaternion the last axis of length 4 (w, x, y, z),
a matrix the last two axes of length 3. Angles are radians. Attitudes are body to space, ``x_space = R(q) x_body``.

An attitude quaternion need not be normalised, and q and -q are the same attitude. Input that has the wrong shape, is
not finite, or does not describe a rotation raises ``polhode.errors.InvalidInput``.

The formulas are the tuple kernels of ``quaternion``, ``so3``, ``euler`` and ``charts``; this file loops them over
arrays. A loop is compiled on its first call and cached on disk. Rotation vectors are converted to quaternions and back
by ``exp_quaternion`` and ``log_quaternion``, to matrices and back by ``exp_matrix`` and ``log_matrix``.
"""

from __future__ import annotations

import functools
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.algebra import charts, euler, quaternion, so3
from polhode.arguments import LONGEST_WORD, UNKNOWN, array, choice, has, room_for, text
from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel.access import get3, get4, put3

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

__all__ = [
    "Ad",
    "angle_between",
    "angular_velocity_from_euler_rates",
    "as_quaternion",
    "axis_angle_from_quaternion",
    "cay_matrix",
    "cay_quaternion",
    "cayinv_matrix",
    "cayinv_quaternion",
    "compose",
    "conjugate",
    "dcay",
    "dcayinv",
    "dexp",
    "dexpinv",
    "euler_from_quaternion",
    "euler_increment",
    "euler_rates",
    "exp_matrix",
    "exp_quaternion",
    "from_scipy",
    "from_xyzw",
    "hat",
    "log_matrix",
    "log_quaternion",
    "matrix_from_quaternion",
    "multiply",
    "normalize",
    "quaternion_from_axis_angle",
    "quaternion_from_euler",
    "quaternion_from_matrix",
    "rotate",
    "rotate_inverse",
    "to_scipy",
    "to_xyzw",
    "vee",
]

LARGEST = 1e100
"""Largest entry accepted; much larger ones would overflow when squared."""

UNIT_TOLERANCE = 1e-6
"""Largest deviation from 1 of the norm of a quaternion that should be a unit quaternion."""

MATRIX_TOLERANCE = 1e-6
"""Largest deviation from orthogonal (any entry of R R^T - 1), or from skew (relative to the largest entry)."""

HALF_TURN = 1e-15
"""|w| of a unit quaternion below which it counts as a half turn (rotation by pi), which has no Cayley vector."""


# Loops: each template is compiled once for every kernel bound into it.


def read3(a, i):
    """Row i as 3 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2])


def read4(a, i):
    """Row i as 4 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


def read9(a, i):
    """Row i as 9 numbers."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


def write1(out, i, r):
    """Write one number to row i."""
    out[i, 0] = r


def write_all(out, i, r):
    """Write the tuple ``r`` to row i."""
    for k in range(len(r)):
        out[i, k] = r[k]


formula = jit.hole("formula(...) -> numbers", "A kernel.")
read = jit.hole("read(a, i) -> numbers", "Reads row i.")
read_second = jit.hole("read_second(a, i) -> numbers", "Reads row i of the second operand.")
write = jit.hole("write(out, i, r)", "Writes a result to row i.")
attitude_of = jit.hole("attitude_of(...) -> quaternion", "The attitude that a triple represents.")


def each(a, out):
    """out = formula(a), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(read(a, i)))


def each_pair(a, b, out):
    """out = formula(a, b), row by row."""
    for i in range(out.shape[0]):
        write(out, i, formula(read(a, i), read_second(b, i)))


def each_planned(a, order, out):
    """out = formula(a, plan), row by row, for an Euler sequence."""
    plan = (order[0], order[1], order[2], order[3])
    for i in range(out.shape[0]):
        write(out, i, formula(read(a, i), plan))


def each_pair_planned(a, b, order, out):
    """out = formula(a, b, plan), row by row, for an Euler sequence."""
    plan = (order[0], order[1], order[2], order[3])
    for i in range(out.shape[0]):
        write(out, i, formula(read(a, i), read_second(b, i), plan))


def follow(q, out):
    """Fill the rows of out after the first, each with the triple of attitude q[i] that continues the row before."""
    for i in range(1, out.shape[0]):
        old = get3(out[i - 1], 0)
        put3(out[i], 0, formula(old, charts.between(attitude_of(old), get4(q[i], 0))))


def follow_planned(q, order, out):
    """As ``follow`` for Euler angles, whose formula returns the change."""
    plan = (order[0], order[1], order[2], order[3])
    for i in range(1, out.shape[0]):
        old = get3(out[i - 1], 0)
        put3(out[i], 0, so3.add(old, formula(old, charts.between(attitude_of(old, plan), get4(q[i], 0)), plan)))


TEMPLATES = {(1, False): each, (2, False): each_pair, (1, True): each_planned, (2, True): each_pair_planned}
READERS = {3: read3, 4: read4, 9: read9}


@functools.cache
def loop_for(kernel, takes, gives, planned):
    """Compile the loop of a kernel whose arguments have lengths ``takes`` and whose result has length ``gives``."""
    values = {"formula": kernel, "write": write1 if gives == 1 else write_all}
    values.update(zip(("read", "read_second"), (READERS[length] for length in takes), strict=False))
    rows = ["f8[:, ::1]"] * len(takes)
    plan = ["i8[::1]"] * planned
    signature = f"void({', '.join([*rows, *plan, 'f8[:, ::1]'])})"
    return jit.compile_kernel(jit.bind(TEMPLATES[len(takes), planned], **values), signature)


@functools.cache
def loop_along(attitude_of, kernel, planned):
    """Compile the loop that follows a chart from row to row; ``attitude_of`` converts its triples to quaternions."""
    template, order = (follow_planned, "i8[::1], ") if planned else (follow, "")
    return jit.compile_kernel(
        jit.bind(template, formula=kernel, attitude_of=attitude_of), f"void(f8[:, ::1], {order}f8[:, ::1])"
    )


def _rows(a: Array, leading: tuple[int, ...], count: int) -> Array:
    """The operand broadcast to the leading axes, as contiguous rows."""
    if a.shape[:-1] != leading:
        a = np.broadcast_to(a, leading + a.shape[-1:])
    return np.require(a.reshape(count, a.shape[-1]), requirements=("C", "A", "W"))


def _apply(kernel, gives: tuple[int, ...], *operands: Array, plan: tuple[int, ...] | None = None) -> Array:
    """Apply a kernel to operands (…, k); the result has their broadcast leading axes, then the shape ``gives``."""
    try:
        leading = np.broadcast_shapes(*(a.shape[:-1] for a in operands))
    except ValueError:
        shapes = " and ".join(str(a.shape[:-1]) for a in operands)
        raise InvalidInput(
            f"leading axes {shapes} do not broadcast; give arguments the same leading axes, or one of them none"
        ) from None
    takes = tuple(a.shape[-1] for a in operands)
    count, length = prod(leading), prod(gives)
    room_for(count * (length + sum(a.shape[-1] for a in operands)), "the arguments together")
    rows = [_rows(a, leading, count) for a in operands]
    out = np.empty((count, length))
    order = () if plan is None else (np.array(plan, dtype=np.int64),)
    loop_for(kernel, takes, length, plan is not None)(*rows, *order, out)
    result: Array = out.reshape(leading + gives)[()]
    return result


# Checks of arguments.


def _vectors(value: ArrayLike, name: str, unit: str = "") -> Array:
    a = array(value, name, unit)
    if a.shape[-1:] != (3,):
        raise InvalidInput(f"{name} has shape {a.shape}; its last axis must have length 3")
    if a.size and np.abs(a).max() > LARGEST:
        raise InvalidInput(f"{name} has entries beyond {LARGEST:g}; check its units")
    return a


def _quaternions(value: ArrayLike, name: str) -> Array:
    a = array(value, name)
    if a.shape[-1:] != (4,):
        raise InvalidInput(f"{name} has shape {a.shape}; its last axis must have length 4, ordered w, x, y, z")
    return a


def _attitudes(value: ArrayLike, name: str) -> Array:
    """Attitude quaternions: not zero, and scaled by a power of two where squares would overflow or underflow."""
    a = _quaternions(value, name)
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("...i,...i->...", a, a)
    if squares.min(initial=1.0) > 1e-200 and squares.max(initial=1.0) < 1e200:
        return a
    largest = np.abs(a).max(axis=-1, keepdims=True)
    if not largest.all():
        raise InvalidInput(f"{name} contains a zero quaternion, which is no attitude; the identity is (1, 0, 0, 0)")
    exponent = np.frexp(largest)[1]
    return np.ldexp(a, np.where(np.abs(exponent) > 300, -exponent, 0))


def _matrices(value: ArrayLike, name: str, unit: str = "") -> Array:
    a = array(value, name, unit)
    if a.shape[-2:] != (3, 3):
        raise InvalidInput(f"{name} has shape {a.shape}; its last two axes must be 3 by 3")
    return a


def _flat(a: Array) -> Array:
    return a.reshape((*a.shape[:-2], 9))


def _rotations(value: ArrayLike, name: str) -> Array:
    """Rotation matrices, checked, as rows of 9."""
    a = _matrices(value, name)
    if a.size:
        if np.abs(a).max() > 2.0:
            raise InvalidInput(f"{name} is not a rotation matrix: it has entries beyond 1; orthogonalise it first")
        defect = np.abs(a @ np.swapaxes(a, -1, -2) - np.eye(3)).max()
        if defect > MATRIX_TOLERANCE:
            raise InvalidInput(
                f"{name} is not a rotation matrix: R R^T differs from 1 by {defect:.1e}; orthogonalise it first"
            )
        if np.linalg.det(a).min() < 0.0:
            raise InvalidInput(f"{name} is a reflection (determinant -1), not a rotation; flip the sign of one column")
    return _flat(a)


def _plan(sequence: str) -> tuple[int, ...]:
    return euler.plan(choice(sequence, "Euler sequence", euler.SEQUENCES))


MAPS = {"exp": so3.exp_quaternion, "cayley": so3.cay_quaternion}
VECTOR_BRANCHES = {
    "tracked": charts.compose_tracked,
    "principal": charts.compose_principal,
    "continuous": charts.compose_continuous,
}
ANGLE_BRANCHES = {"principal": charts.euler_principal, "continuous": charts.euler_continuous}


def _lookup(what: str, name: str, table):
    return table[choice(name, what, table)]


# The Lie algebra.


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

    Raises
    ------
    InvalidInput
        Wrong shape or not finite.
    """
    return _apply(so3.hat, (3, 3), _vectors(v, "v", UNKNOWN))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or not skew within 1e-6 of its largest entry.
    """
    a = _matrices(matrix, "matrix", UNKNOWN)
    if a.size:
        defect = np.abs(a + np.swapaxes(a, -1, -2)).max(axis=(-1, -2))
        if (defect > MATRIX_TOLERANCE * np.abs(a).max(axis=(-1, -2))).any():
            raise InvalidInput("matrix is not skew; pass its skew part (A - A^T)/2 if that is what you mean")
    return _apply(so3.vee, (3,), _flat(a))


def Ad(matrix: ArrayLike, w: ArrayLike) -> Array:
    """Adjoint action of a rotation on the Lie algebra, Ad_R w = R w: the vector of ``R hat(w) R^T``.

    For an attitude given as a quaternion use ``rotate``.

    Parameters
    ----------
    matrix : array_like (..., 3, 3)
        Rotation matrices.
    w : array_like (..., 3)
        Vectors.

    Returns
    -------
    array (..., 3)

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or ``matrix`` is not a rotation within 1e-6.
    """
    return _apply(so3.Ad, (3,), _rotations(matrix, "matrix"), _vectors(w, "w", UNKNOWN))


# Exponential and Cayley map, and back.


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.

    Examples
    --------
    >>> exp_quaternion((0.0, 0.0, 0.0))
    array([1., 0., 0., 0.])
    """
    return _apply(so3.exp_quaternion, (4,), _vectors(v, "v", "rad"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.
    """
    return _apply(so3.exp_matrix, (3, 3), _vectors(v, "v", "rad"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(so3.log_quaternion, (3,), _attitudes(q, "q"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or not a rotation within 1e-6.
    """
    return _apply(so3.log_matrix, (3,), _rotations(matrix, "matrix"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.
    """
    return _apply(so3.cay_quaternion, (4,), _vectors(v, "v"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or entries beyond 1e100.
    """
    return _apply(so3.cay_matrix, (3, 3), _vectors(v, "v"))


def _refuse_half_turns(q: Array, name: str) -> None:
    if q.size and (np.abs(q[..., 0]) <= HALF_TURN * np.linalg.norm(q, axis=-1)).any():
        raise InvalidInput(f"{name} contains a half turn, which has no Cayley vector; use log_quaternion or log_matrix")


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, a zero quaternion, or a half turn (``|w|`` at most 1e-15 of the norm).
    """
    a = _attitudes(q, "q")
    _refuse_half_turns(a, "q")
    return _apply(so3.cayinv_quaternion, (3,), a)


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, not a rotation within 1e-6, or a half turn.
    """
    rows = _rotations(matrix, "matrix")
    _refuse_half_turns(_apply(quaternion.from_matrix, (4,), rows), "matrix")
    return _apply(so3.cayinv_matrix, (3,), rows)


# Tangent operators.


def _tangent(on_vector, as_matrix, v: ArrayLike, w: ArrayLike | None, unit: str) -> Array:
    at = _vectors(v, "v", unit)
    if w is None:
        return _apply(as_matrix, (3, 3), at)
    return _apply(on_vector, (3,), at, _vectors(w, "w", UNKNOWN))


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
    """
    return _tangent(so3.dexp, so3.dexp_matrix, v, w, "rad")


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
    """
    return _tangent(so3.dexpinv, so3.dexpinv_matrix, v, w, "rad")


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
    """
    return _tangent(so3.dcay, so3.dcay_matrix, v, w, "")


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
    """
    return _tangent(so3.dcayinv, so3.dcayinv_matrix, v, w, "")


# Quaternions.


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product of quaternions: rotation ``b`` followed by rotation ``a``, R(a b) = R(a) R(b).

    Parameters
    ----------
    a, b : array_like (..., 4)
        Quaternions (w, x, y, z) of any norm; they are not normalised.

    Returns
    -------
    array (..., 4)

    Raises
    ------
    InvalidInput
        Wrong shape or not finite.
    """
    return _apply(quaternion.multiply, (4,), _quaternions(a, "a"), _quaternions(b, "b"))


def conjugate(q: ArrayLike) -> Array:
    """Conjugate quaternion (w, -x, -y, -z); for a unit quaternion the inverse rotation.

    Parameters
    ----------
    q : array_like (..., 4)
        Quaternions (w, x, y, z) of any norm.

    Returns
    -------
    array (..., 4)

    Raises
    ------
    InvalidInput
        Wrong shape or not finite.
    """
    return _apply(quaternion.conjugate, (4,), _quaternions(q, "q"))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(quaternion.normalize, (4,), _attitudes(q, "q"))


def _rotate(q, v):
    return quaternion.rotate(quaternion.normalize(q), v)


def _rotate_inverse(q, v):
    return quaternion.rotate_inverse(quaternion.normalize(q), v)


def _to_matrix(q):
    return quaternion.to_matrix(quaternion.normalize(q))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(_rotate, (3,), _attitudes(q, "q"), _vectors(v, "v", UNKNOWN))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(_rotate_inverse, (3,), _attitudes(q, "q"), _vectors(v, "v", UNKNOWN))


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(quaternion.angle_between, (), _attitudes(q1, "q1"), _attitudes(q2, "q2"))


# Matrices, axis and angle, Euler angles.


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

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or a zero quaternion.
    """
    return _apply(_to_matrix, (3, 3), _attitudes(q, "q"))


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
    """
    return _apply(quaternion.from_matrix, (4,), _rotations(matrix, "matrix"))


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
    """
    a = _vectors(axis, "axis", UNKNOWN)
    if not a.any(axis=-1).all():
        raise InvalidInput("axis contains a zero vector, which has no direction; give a vector that is not zero")
    split = _apply(so3.axis_angle, (4,), a)
    angles = array(angle, "angle", "rad")[..., np.newaxis]
    try:
        v = split[..., :3] * angles
    except ValueError:
        raise InvalidInput(
            f"leading axes {a.shape[:-1]} of axis and {angles.shape[:-1]} of angle do not broadcast; "
            "give them the same leading axes, or one of them none"
        ) from None
    return exp_quaternion(v)


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
    """
    axis_and_angle = _apply(so3.axis_angle, (4,), log_quaternion(q))
    return axis_and_angle[..., :3], axis_and_angle[..., 3][()]


def quaternion_from_euler(angles: ArrayLike, sequence: str = "XYZ") -> Array:
    """Attitude quaternion of Euler angles.

    Parameters
    ----------
    angles : array_like (..., 3)
        Angles in radians, in the order of the letters of ``sequence``.
    sequence : str
        Axes of the three rotations, as in SciPy: upper case about the rotating body axes (intrinsic, ``"ZXZ"``), lower
        case about the space axes (extrinsic, ``"zxz"``); consecutive axes differ.

    Returns
    -------
    array (..., 4)
        Unit quaternions (w, x, y, z) to 1e-15 for angles up to pi.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or an unknown sequence.
    """
    return _apply(euler.to_quaternion, (4,), _vectors(angles, "angles", "rad"), plan=_plan(sequence))


def euler_from_quaternion(q: ArrayLike, sequence: str = "XYZ") -> Array:
    """Euler angles of an attitude quaternion, computed from half angles [bernardes2022].

    Parameters
    ----------
    q : array_like (..., 4)
        Attitudes (w, x, y, z) of any sign and norm but zero.
    sequence : str
        Axes of the three rotations, see ``quaternion_from_euler``.

    Returns
    -------
    array (..., 3)
        Angles in radians: the first and third in (-pi, pi], the second in [0, pi] where the sequence repeats its first
        axis and in [-pi/2, pi/2] where it does not. At the ends of that range (gimbal lock) only the sum or the
        difference of first and third angle is determined: the third is then set to 0, without a warning. Close to
        gimbal lock both are uncertain by 1e-16 divided by the distance, but converting back reproduces the attitude to
        2e-15 at every distance.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, a zero quaternion, or an unknown sequence.
    """
    return _apply(euler.from_quaternion, (3,), _attitudes(q, "q"), plan=_plan(sequence))


def _refuse_lock(angles: Array, sequence: str) -> None:
    """Raise if the rates of Euler angles have a pole at a middle angle."""
    middle = angles[..., 1]
    pole = np.sin(middle) if sequence[0] == sequence[2] else np.cos(middle)
    locked = np.abs(pole) < HALF_TURN
    if locked.any():
        where = tuple(int(k) for k in np.argwhere(locked)[0])
        index_text = ",".join(map(str, (*where, 1)))
        raise InvalidInput(
            f"the middle angle, angles[{index_text}] = {middle[where]:.8g}, of sequence {sequence!r} is singular: the "
            "rates of the outer angles have a pole there (gimbal lock); use euler_increment, which has none, "
            "or a sequence whose middle angle is elsewhere"
        )


def euler_rates(angles: ArrayLike, angular_velocity: ArrayLike, sequence: str = "XYZ") -> Array:
    """Time derivatives of the Euler angles of a rotating body.

    Parameters
    ----------
    angles : array_like (..., 3)
        Euler angles in radians, see ``quaternion_from_euler``.
    angular_velocity : array_like (..., 3)
        Angular velocity in the body frame, radians per unit of time.
    sequence : str
        Axes of the three rotations.

    Returns
    -------
    array (..., 3)
        Rates of the angles, radians per unit of time. The rates and their relative errors grow as the inverse of the
        distance of the middle angle from its singular values.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, an unknown sequence, or a singular middle angle (within 1e-15).
    """
    plan = _plan(sequence)
    a = _vectors(angles, "angles", "rad")
    _refuse_lock(a, sequence)
    return _apply(euler.rates, (3,), a, _vectors(angular_velocity, "angular_velocity", "rad / s"), plan=plan)


def angular_velocity_from_euler_rates(angles: ArrayLike, rates: ArrayLike, sequence: str = "XYZ") -> Array:
    """Angular velocity of a body whose Euler angles change at given rates, the inverse of ``euler_rates``.

    Parameters
    ----------
    angles : array_like (..., 3)
        Euler angles in radians, see ``quaternion_from_euler``.
    rates : array_like (..., 3)
        Their time derivatives, radians per unit of time.
    sequence : str
        Axes of the three rotations.

    Returns
    -------
    array (..., 3)
        Angular velocity in the body frame, radians per unit of time, to 1e-15 of the rates.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, or an unknown sequence.
    """
    plan = _plan(sequence)
    return _apply(
        euler.angular_velocity, (3,), _vectors(angles, "angles", "rad"), _vectors(rates, "rates", "rad / s"), plan=plan
    )


# Updates of three-number attitudes by a rotation.


def _increment_quaternion(increment: ArrayLike, map: str) -> Array:
    """Quaternion of an increment, a rotation vector or a Cayley vector."""
    kernel = _lookup("map", map, MAPS)
    return _apply(kernel, (4,), _vectors(increment, "increment", "rad" if map == "exp" else ""))


def compose(v: ArrayLike, increment: ArrayLike, map: str = "exp", branch: str = "tracked") -> Array:
    """Rotation vector after a further rotation of the body, valid for every vector [holzinger2021, eq. 26].

    The published update divides by the sine of half the angle and fails near the angle 2 pi. This one computes the same
    vector from the quaternion ``exp_quaternion(v) exp_quaternion(increment)``, without a division.

    Parameters
    ----------
    v : array_like (..., 3)
        Rotation vectors, radians.
    increment : array_like (..., 3)
        The rotation, a vector in the body frame: R_new = R(v) R(increment).
    map : str
        Meaning of the increment: ``"exp"`` a rotation vector (radians), ``"cayley"`` a Cayley vector, see
        ``cay_quaternion``.
    branch : str
        Which of the vectors of the new attitude, which differ by full revolutions: ``"tracked"`` the published choice,
        which follows the sign of the quaternion, with length 0 ... 2 pi and a jump to the opposite side at 2 pi;
        ``"principal"`` the one no longer than pi; ``"continuous"`` the one nearest to ``v``, of any length; it changes
        by at most pi, so increments should be smaller.

    Returns
    -------
    array (..., 3)
        Rotation vectors, radians. Their attitude is accurate to 2e-15 up to the length 2 pi and to 4e-16 times the
        length beyond. Where the new attitude is the identity, the axis of a vector of full revolutions is arbitrary:
        the axis of ``v`` is kept. Near it the axis is uncertain by 1e-16 divided by the distance.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, entries beyond 1e100, or an unknown map or branch.

    Examples
    --------
    Five turns by 1.5 about the same axis, well past a full turn:

    >>> v = w = np.zeros(3)
    >>> for _ in range(5):
    ...     v, w = compose(v, (0.0, 1.5, 0.0), branch="continuous"), compose(w, (0.0, 1.5, 0.0))
    >>> float(v[1].round(12)), float((w[1] + 4 * np.pi).round(12))
    (7.5, 7.5)
    """
    old, rotation = _vectors(v, "v", "rad"), _increment_quaternion(increment, map)
    kernel = _lookup("branch", branch, VECTOR_BRANCHES)
    return _apply(kernel, (3,), old, rotation)


def euler_increment(
    angles: ArrayLike,
    increment: ArrayLike,
    sequence: str = "XYZ",
    map: str = "exp",
    branch: str = "principal",
) -> Array:
    """Change of Euler angles under a further rotation of the body, at every middle angle [holzinger2021, eq. 45].

    The changes are computed from the half sum and the half difference of the outer angles, of which only one can be
    undetermined; so the attitude stays accurate through gimbal lock, as it does not if each angle is computed alone.

    Parameters
    ----------
    angles : array_like (..., 3)
        Euler angles before the rotation, radians, see ``quaternion_from_euler``; of any size.
    increment : array_like (..., 3)
        The rotation, a vector in the body frame: R_new = R(angles) R(increment).
    sequence : str
        Axes of the three rotations.
    map : str
        Meaning of the increment: ``"exp"`` a rotation vector (radians), ``"cayley"`` a Cayley vector, see
        ``cay_quaternion``.
    branch : str
        Which of the angles of the new attitude: ``"principal"``, the published choice, those with the middle angle in
        the range of ``euler_from_quaternion``, where the outer angles jump by pi when the middle one reaches its bound;
        ``"continuous"`` the nearest, whose middle angle may leave that range.

    Returns
    -------
    array (..., 3)
        Increments of ``angles``, radians. The attitude of the sum is accurate to 2e-15 at every distance from gimbal
        lock, for angles up to pi; beyond, to round-off of the angles. In gimbal lock, where only the sum or the
        difference of the outer angles is determined, the other one is unchanged. Close to it both outer angles are
        uncertain by 1e-16 divided by the distance.

    Raises
    ------
    InvalidInput
        Wrong shape, not finite, entries beyond 1e100, or an unknown sequence, map or branch.

    Examples
    --------
    A steady rotation through gimbal lock, at a middle angle of pi/2:

    >>> angles = np.array((0.3, 1.5, 0.0))
    >>> (angles + euler_increment(angles, (0.0, 0.2, 0.0), branch="continuous")).round(12).tolist()
    [0.3, 1.7, 0.0]
    >>> principal = angles + euler_increment(angles, (0.0, 0.2, 0.0))
    >>> float(principal[1].round(12) - np.round(np.pi - 1.7, 12))
    0.0
    """
    plan = _plan(sequence)
    old, rotation = _vectors(angles, "angles", "rad"), _increment_quaternion(increment, map)
    kernel = _lookup("branch", branch, ANGLE_BRANCHES)
    return _apply(kernel, (3,), old, rotation, plan=plan)


def vectors_along(q: Array, first: Array, branch: str) -> Array:
    """Rotation vectors of a sequence of attitudes, each on the branch that continues the previous one.

    Each row is computed from its own attitude, so errors do not accumulate.

    Parameters
    ----------
    q : array (n, 4)
        Unit quaternions, consecutive ones less than a rotation by pi apart.
    first : array (3,)
        Rotation vector of the first attitude, where the branch starts.
    branch : str
        As for ``compose``.

    Returns
    -------
    array (n, 3)
    """
    out = np.empty((len(q), 3))
    out[:1] = first
    loop_along(so3.exp_quaternion, VECTOR_BRANCHES[branch], False)(np.require(q, requirements=("C", "A", "W")), out)
    return out


def angles_along(q: Array, first: Array, sequence: str) -> Array:
    """Euler angles (n, 3) of a sequence of attitudes, each nearest to the previous ones, as ``vectors_along``."""
    out, order = np.empty((len(q), 3)), np.array(_plan(sequence), dtype=np.int64)
    out[:1] = first
    rows = np.require(q, requirements=("C", "A", "W"))
    loop_along(euler.to_quaternion, charts.euler_continuous, True)(rows, order, out)
    return out


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
    if has(attitude, "as_quat") and not isinstance(attitude, type):
        attitude = from_scipy(attitude)
    a = array(attitude, name)
    if a.ndim >= 2 and a.shape[-2:] == (3, 3):
        return _apply(quaternion.from_matrix, (4,), _rotations(a, name))
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
    """
    return np.roll(_quaternions(q, "q"), 1, axis=-1)


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
    """
    return np.roll(_quaternions(q, "q"), -1, axis=-1)


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
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(to_xyzw(_attitudes(q, "q")))
