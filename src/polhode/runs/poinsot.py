"""Poinsot's picture of a free motion: its periods, the polhode in the body and the herpolhode in space.

All are functions of the inertia and the momentum, and take arrays whose leading axes broadcast; ``polhode.free_motion``
gives the motion itself.

Legend, of formulas: ``I`` moments in ascending order and ``j`` their inverses; ``G`` length of the angular momentum;
``x`` its component along the axis it circles (the first or the third), ``y`` along the middle axis, ``z`` along the
remaining one; ``r``, ``w``, ``p`` differences of inverse moments between the x and y, y and z, x and z axes; ``rate``
and ``kp2`` the factor of time and the complementary parameter k'^2 of Jacobi's functions.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra import elliptic, rotation
from polhode.algebra.vectorised import leading_axes
from polhode.arguments import Array, Indices, Mask, room_for, truth, whole
from polhode.errors import InvalidInput, naming
from polhode.lazy import public_names
from polhode.runs.free_motion import (
    attitudes_of,
    bodies_of,
    free_motion,
    momenta_of,
    power_of_two,
    solid,
    to_principal,
    to_user,
)

__all__ = ["free_motion_periods", "herpolhode_curve", "polhode_curve"]
__dir__ = public_names(__all__)


class FreeMotionPeriods(NamedTuple):
    """Periods of a free motion, see ``free_motion_periods``."""

    polhode: Array
    precession: Array
    precession_angle: Array


class Polhode(NamedTuple):
    """Points (..., n, 3) of the polhode and of the momentum's orbit, body frame."""

    angular_velocity: Array
    angular_momentum: Array


class Herpolhode(NamedTuple):
    """Angular velocities (..., 3) in space, and (..., 2) in the invariable plane."""

    angular_velocity: Array
    in_plane: Array


class _Orbit(NamedTuple):
    """Where momenta circle, with moments and momenta scaled by powers of two near one (see the module's legend)."""

    order: Indices  # of the principal axes
    hand: Array  # -1 where the ascending order of axes is left-handed
    third: Mask  # whether the third axis is circled, else the first
    force: Array  # momenta were multiplied by this,
    weight: Array  # and moments by this
    I: Array
    x: Array
    y: Array
    z: Array
    G: Array
    r: Array
    p: Array
    M: Array
    N: Array
    rate: Array
    kp2: Array


def _orbit(moments: Array, m: Array) -> _Orbit:
    moments, m = np.broadcast_arrays(moments, m)
    order = np.argsort(moments, axis=-1, kind="stable")
    hand = np.where((order[..., 1] - order[..., 0]) % 3 == 1, 1.0, -1.0)
    force, weight = power_of_two(m), power_of_two(moments.min(axis=-1, keepdims=True))
    I, m = (np.take_along_axis(a, order, axis=-1) for a in (moments * weight, m * force))
    j = 1.0 / I
    low, high, p = ((I[..., b] - I[..., a]) * j[..., a] * j[..., b] for a, b in ((0, 1), (1, 2), (0, 2)))
    L = low * m[..., 0] ** 2 - high * m[..., 2] ** 2
    third = ~(L > 0.0)
    r, w = np.where(third, high, low), np.where(third, low, high)
    x, z = np.where(third, m[..., 2], m[..., 0]), np.where(third, -m[..., 0], m[..., 2])
    y = hand * m[..., 1]
    N, M = r * y * y + p * z * z, p * x * x + w * y * y
    alpha = M * r
    with np.errstate(invalid="ignore", divide="ignore"):
        kp2 = np.where(alpha > 0.0, np.minimum(1.0, p * np.abs(L) / alpha), 1.0)
    G = np.sqrt(np.sum(m * m, axis=-1))
    return _Orbit(order, hand, third, force, weight, I, x, y, z, G, r, p, M, N, np.sqrt(alpha), kp2)


_cel = np.vectorize(elliptic.cel, otypes=[float])


def free_motion_periods(inertia: ArrayLike, momentum: ArrayLike, *, physical: bool = True) -> FreeMotionPeriods:
    """Periods of a free motion: of the momentum in the body, and of the body's mean precession about the momentum.

    A free rigid body has two periods. After the first, that of the polhode, angular momentum and velocity are back
    where they were in the body, while the body as a whole has advanced about the fixed spatial momentum by an angle.
    The momentum circles the body axis of the smallest or of the largest moment; seen from space that axis precesses
    about the momentum, unevenly, with the second period in the mean.

    Parameters
    ----------
    inertia : array_like (..., 3) or (..., 3, 3)
        As in ``free_motion``.
    momentum : array_like (..., 3)
        Angular momentum at any time, body frame, not zero.
    physical : bool
        As in ``free_motion``.

    Returns
    -------
    FreeMotionPeriods
        ``polhode``: period of the momentum in the body, 4 K(k)/lambda. ``precession_angle``: angle by which the circled
        axis, and with it the body, advances about the spatial momentum in that time, radians, positive.
        ``precession``: the mean period 2 pi polhode/precession_angle. Shapes are the leading axes, broadcast.

        In equilibrium about the axis of the smallest or largest moment: the limits, which are those of small
        oscillations about it. On the separatrix, in equilibrium about the middle axis and wherever the momentum does
        not move in the body (a sphere, a symmetric body spun across its axis), ``polhode`` and ``precession_angle``
        are infinite and ``precession`` is 2 pi I2/|m|.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, moments not positive or of no body, or a momentum of zero: a body at rest has no
        periods.

    Notes
    -----
    Complete elliptic integrals by Bulirsch's algorithm [bulirsch1969], all of whose terms are positive here: relative
    errors are those of the data, to which the distance from the separatrix enters by its logarithm.

    Examples
    --------
    A symmetric top: the momentum circles the axis at (1/I1 - 1/I3) m3, the axis precesses at |m|/I1.

    >>> import numpy as np
    >>> periods = free_motion_periods((2.0, 2.0, 1.0), (0.6, 0.0, 0.8))
    >>> bool(np.isclose(periods.polhode, 2 * np.pi / (0.5 * 0.8), rtol=1e-14))
    True
    >>> bool(np.isclose(periods.precession, 2 * np.pi * 2.0 / 1.0, rtol=1e-14))
    True
    """
    moments, frames = bodies_of(inertia, truth(physical, "physical"))
    m = momenta_of(momentum)
    leading_axes(inertia=moments.shape[:-1], momentum=m.shape[:-1])
    if not m.any(axis=-1).all():
        raise InvalidInput("momentum is zero: a body at rest has no periods")
    o = _orbit(*solid(moments, to_principal(frames, m)))
    moves = (o.rate > 0.0) & (o.kp2 > 0.0)
    rate, kp = np.where(moves, o.rate, 1.0), np.where(moves, np.sqrt(o.kp2), 1.0)
    j = 1.0 / o.I
    last = np.where(o.third, j[..., 0], j[..., 2])
    ratio = np.where(moves, o.p / np.where(moves, o.r, 1.0), 1.0)
    one = np.ones_like(rate)
    period = 4.0 * _cel(kp, one, one, one) / rate
    # The axis advances at G (y^2/I_y + z^2/I_z)/(y^2 + z^2), y = Y sn, z = Z cn and (Y/Z)^2 = p/r. [goldstein2002]
    angle = 4.0 * o.G * _cel(kp, ratio, last, j[..., 1] * ratio) / rate
    with np.errstate(over="ignore"):
        unit = o.force[..., 0] / o.weight[..., 0]
        whole, mean = period * unit, 2.0 * np.pi * unit * np.where(moves, period / angle, o.I[..., 1] / o.G)
    if not (np.isfinite(whole) & np.isfinite(mean)).all():
        raise InvalidInput("the periods are beyond 1e308; check the units of inertia and momentum")
    return FreeMotionPeriods(np.where(moves, whole, np.inf)[()], mean[()], np.where(moves, angle, np.inf)[()])


def _points(o: _Orbit, moments: Array, n: int) -> Array:
    """Momenta (..., n, 3) of the orbit, principal frame."""
    moves = (o.rate > 0.0) & ((o.x != 0.0) | (o.z != 0.0))
    r, p = np.where(moves, o.r, 1.0), np.where(moves, o.p, 1.0)
    X, Y, Z = np.sqrt(o.M / p), np.sqrt(o.N / r), np.sqrt(o.N / p)
    with np.errstate(invalid="ignore", divide="ignore"):
        start = np.arctan2(np.where(Y > 0.0, o.y / Y, 0.0), np.where(Z > 0.0, o.z / Z, 1.0))
    way = np.where(o.third, -1.0, 1.0) * np.where(o.x < 0.0, -1.0, 1.0)
    phase = start[..., None] + way[..., None] * np.linspace(0.0, 2.0 * np.pi, n)
    sine, cosine = np.sin(phase), np.cos(phase)
    x = np.copysign(X, o.x)[..., None] * np.sqrt(cosine * cosine + o.kp2[..., None] * sine * sine)
    m = np.stack([x, Y[..., None] * sine, Z[..., None] * cosine], axis=-1)
    here = np.stack([o.x, o.y, o.z], axis=-1)[..., None, :]
    m = np.where(moves[..., None, None], m, here)
    m[..., [0, -1], :] = here  # exactly
    a, b, c = m[..., 0], o.hand[..., None] * m[..., 1], m[..., 2]
    third = o.third[..., None]
    ascending = np.stack([np.where(third, -c, a), b, np.where(third, a, c)], axis=-1) / o.force[..., None, :]
    found: Array = np.empty_like(ascending)
    np.put_along_axis(found, np.broadcast_to(o.order[..., None, :], found.shape), ascending, axis=-1)
    return found


def rates_of(m: Array, moments: Array) -> Array:
    """Angular velocities."""
    with np.errstate(over="ignore"):
        rates: Array = m / moments
    if not np.isfinite(rates).all():
        raise InvalidInput("the angular velocity is beyond 1e308; check the units of inertia and momentum")
    return rates


def polhode_curve(inertia: ArrayLike, momentum: ArrayLike, n: int = 201, *, physical: bool = True) -> Polhode:
    """The polhode: the closed curve of the angular velocity in the body, with that of the angular momentum.

    Parameters
    ----------
    inertia : array_like (..., 3) or (..., 3, 3)
        As in ``free_motion``.
    momentum : array_like (..., 3)
        Angular momentum the curve starts from, body frame.
    n : int
        Number of points, at least 2, once around in the sense of the motion; the last is the first again.
    physical : bool
        As in ``free_motion``.

    Returns
    -------
    Polhode
        ``angular_velocity`` and ``angular_momentum``, each (..., n, 3) in the body frame. The points are equally spaced
        in Jacobi's amplitude: close to equally in time for small orbits, and still well spread near the separatrix,
        where in time nearly all would lie at the middle axis (for points equally spaced in time, give their times to
        ``free_motion``). On the separatrix the curve is the limit of its neighbours on the side of the momentum: two
        half circles that meet at the middle axis, of which the motion follows one. An equilibrium is n times one point.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, moments not positive or of no body, or ``n`` less than 2.

    Examples
    --------
    >>> curve = polhode_curve((1.0, 1.5, 2.0), (0.1, 0.3, 1.0), n=50)
    >>> curve.angular_velocity.shape
    (50, 3)
    >>> bool((curve.angular_velocity[0] == curve.angular_velocity[-1]).all())
    True
    """
    n = whole(n, "n", 2)
    moments, frames = bodies_of(inertia, truth(physical, "physical"))
    m = momenta_of(momentum)
    leading_axes(inertia=moments.shape[:-1], momentum=m.shape[:-1])
    room_for(20.0 * n * max(prod(moments.shape[:-1]), prod(m.shape[:-1])), "n")
    moments, m = solid(moments, to_principal(frames, m))
    points = _points(_orbit(moments, m), moments, n)
    turned = frames[..., None, :]
    return Polhode(to_user(turned, rates_of(points, moments[..., None, :])), to_user(turned, points))


def herpolhode_curve(
    inertia: ArrayLike, momentum: ArrayLike, t: ArrayLike, attitude: ArrayLike | None = None, *, physical: bool = True
) -> Herpolhode:
    """The herpolhode: the curve of the angular velocity in space, in the plane normal to the fixed angular momentum.

    Parameters
    ----------
    inertia, momentum, t, attitude : array_like
        As in ``free_motion``; the momentum is not zero. Leading axes broadcast.
    physical : bool
        As in ``free_motion``.

    Returns
    -------
    Herpolhode
        ``angular_velocity`` (..., 3) at the times, space frame. Its component along the spatial momentum is constant,
        twice the energy over |m|. ``in_plane`` (..., 2): the other two, in the invariable plane, along the direction
        the curve starts in (seen from the foot of the momentum, at t = 0) and along the momentum times that direction.
        In an equilibrium, where the curve is that foot, the first direction is any.

    Raises
    ------
    InvalidInput
        As in ``free_motion``, or a momentum of zero.

    Examples
    --------
    >>> import numpy as np
    >>> curve = herpolhode_curve((1.0, 1.5, 2.0), (0.1, 0.3, 1.0), np.linspace(0, 20, 5))
    >>> curve.in_plane.shape, bool(abs(curve.in_plane[0, 1]) < 1e-16)
    ((5, 2), True)
    """
    moments, frames = bodies_of(inertia, truth(physical, "physical"))
    m0, q0 = momenta_of(momentum), attitudes_of(attitude)
    if not m0.any(axis=-1).all():
        raise InvalidInput("momentum is zero: a body at rest has no invariable plane")
    q, m = free_motion(inertia, momentum, t, attitude, physical=physical)
    moments = solid(moments, np.zeros(3))[0]

    def velocity(q: Array, m: Array) -> Array:
        return rotation.rotate(q, to_user(frames, rates_of(to_principal(frames, m), moments)))

    with naming(v="momentum"):
        omega, start = velocity(q, m), velocity(q0, m0)
    axis = rotation.rotate(q0, m0 / np.abs(m0).max(axis=-1, keepdims=True))
    axis = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    first = np.cross(np.cross(axis, start), axis)
    length = np.linalg.norm(first, axis=-1, keepdims=True)
    still = length <= 1e-14 * np.linalg.norm(start, axis=-1, keepdims=True)
    least = np.eye(3)[np.argmin(np.abs(axis), axis=-1)]
    first = np.where(still, np.cross(axis, least), first)
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    plane = np.stack([np.sum(omega * first, axis=-1), np.sum(omega * np.cross(axis, first), axis=-1)], axis=-1)
    return Herpolhode(omega, plane)
