"""Attitudes as three numbers, Euler angles or rotation vectors: conversion, rates, and updates by a rotation."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra import charts, euler, printed_charts, so3
from polhode.algebra.rotation.operands import ATTITUDE, CAYLEY_VECTOR, HALF_TURN, ROTATION_VECTOR, lookup
from polhode.algebra.vectorised import Operand, Rows, read_vectors, vectors
from polhode.arguments import Array
from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel.access import get3, get4, put3

__all__ = [
    "angular_velocity_from_euler_rates", "compose", "euler_from_quaternion", "euler_increment", "euler_rates",
    "quaternion_from_euler",
]  # fmt: skip

TURN = Operand(4, lambda value, name: value)  # a quaternion made here

PLANS = {sequence: np.array(euler.plan(sequence), dtype=np.int64) for sequence in euler.SEQUENCES}

_TO_QUATERNION = Rows(euler.to_quaternion, (4,), planned=True, angles=ROTATION_VECTOR)
_FROM_QUATERNION = Rows(euler.from_quaternion, (3,), planned=True, q=ATTITUDE)
_RATES = Rows(euler.rates, (3,), planned=True, angles=ROTATION_VECTOR, angular_velocity=vectors("rad / s"))
_ANGULAR_VELOCITY = Rows(euler.angular_velocity, (3,), planned=True, angles=ROTATION_VECTOR, rates=vectors("rad / s"))
MAPS = {
    "exp": Rows(so3.exp_quaternion, (4,), increment=ROTATION_VECTOR),
    "cayley": Rows(so3.cay_quaternion, (4,), increment=CAYLEY_VECTOR),
}
VECTOR_BRANCHES = {
    "tracked": Rows(charts.compose_tracked, (3,), v=ROTATION_VECTOR, increment=TURN),
    "principal": Rows(charts.compose_principal, (3,), v=ROTATION_VECTOR, increment=TURN),
    "continuous": Rows(charts.compose_continuous, (3,), v=ROTATION_VECTOR, increment=TURN),
    "as_printed": Rows(printed_charts.compose_as_printed, (3,), v=ROTATION_VECTOR, increment=TURN),
    "bch": Rows(printed_charts.compose_bch, (3,), v=ROTATION_VECTOR, increment=TURN),
}
ANGLE_BRANCHES = {
    "principal": Rows(charts.euler_principal, (3,), planned=True, angles=ROTATION_VECTOR, increment=TURN),
    "continuous": Rows(charts.euler_continuous, (3,), planned=True, angles=ROTATION_VECTOR, increment=TURN),
    "as_printed": Rows(printed_charts.euler_as_printed, (3,), planned=True, angles=ROTATION_VECTOR, increment=TURN),
}


def _plan(sequence: str) -> Any:
    return lookup("Euler sequence", sequence, PLANS)


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

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> yaw_pitch_roll = np.deg2rad((30.0, 10.0, 5.0))
    >>> ph.rotation.quaternion_from_euler(yaw_pitch_roll, "ZYX").round(4)
    array([0.9623, 0.0194, 0.0954, 0.2539])
    """
    return _TO_QUATERNION(angles, plan=_plan(sequence))


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

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> np.rad2deg(ph.rotation.euler_from_quaternion((0.9, 0.1, 0.3, 0.2), "ZYX")).round(2)
    array([31.33, 31.76, 21.8 ])
    """
    return _FROM_QUATERNION(q, plan=_plan(sequence))


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

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.euler_rates((0.3, 0.5, 0.1), (0.2, 0.0, 40.0), "ZXZ").round(4)
    array([ 0.0416,  0.199 , 39.9635])
    """
    plan = _plan(sequence)
    a = read_vectors(angles, "angles", "rad")
    _refuse_lock(a, sequence)
    return _RATES(a, angular_velocity, plan=plan)


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

    Examples
    --------
    >>> import polhode as ph
    >>> ph.rotation.angular_velocity_from_euler_rates((0.3, 0.5, 0.1), (2.0, 0.0, 40.0), "ZXZ").round(3)
    array([ 0.096,  0.954, 41.755])
    """
    return _ANGULAR_VELOCITY(angles, rates, plan=_plan(sequence))


# Updates by a rotation.


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
        by at most pi, so increments should be smaller. For comparison, ``"as_printed"`` is the published update itself,
        which loses the attitude near 2 pi, and ``"bch"`` the closed formula of [engo2001], right for sums up to pi/2.

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
    turn = lookup("map", map, MAPS)
    update = lookup("branch", branch, VECTOR_BRANCHES)
    return update(v, turn(increment))


def euler_increment(
    angles: ArrayLike, increment: ArrayLike, sequence: str = "XYZ", map: str = "exp", branch: str = "principal"
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
        ``"continuous"`` the nearest, whose middle angle may leave that range. ``"as_printed"`` is the published update,
        which loses digits near gimbal lock.

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
    turn = lookup("map", map, MAPS)
    update = lookup("branch", branch, ANGLE_BRANCHES)
    return update(angles, turn(increment), plan=plan)


# Sequences of attitudes.


formula = jit.hole("formula(...) -> triple", "An update of a chart.")
attitude_of = jit.hole("attitude_of(...) -> quaternion", "The attitude that a triple represents.")


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


@functools.cache
def loop_along(attitude_of, kernel, planned):
    """Compile the loop that follows a chart from row to row; ``attitude_of`` converts its triples to quaternions."""
    template, order = (follow_planned, "i8[::1], ") if planned else (follow, "")
    return jit.compile_kernel(
        jit.bind(template, formula=kernel, attitude_of=attitude_of), f"void(f8[:, ::1], {order}f8[:, ::1])"
    )


def vectors_along(q: Array, first: Array, branch: str) -> Array:
    """Rotation vectors of a sequence of attitudes, each on the branch that continues the previous one.

    Each row is computed from its own attitude, so errors do not accumulate."""
    out, rows = np.empty((len(q), 3)), np.require(q, requirements=("C", "A", "W"))
    out[:1] = first
    loop_along(so3.exp_quaternion, VECTOR_BRANCHES[branch].kernel, False)(rows, out)
    return out


def angles_along(q: Array, first: Array, sequence: str) -> Array:
    """Euler angles (n, 3) of a sequence of attitudes, each nearest to the previous ones, as ``vectors_along``."""
    out, order = np.empty((len(q), 3)), _plan(sequence)
    out[:1] = first
    rows = np.require(q, requirements=("C", "A", "W"))
    loop_along(euler.to_quaternion, charts.euler_continuous, True)(rows, order, out)
    return out
