"""The free motion of a rigid body without stepping: attitudes and momenta at any times, periods, Poinsot's curves.

Everything here is a function of the inertia and the momentum at time 0, and takes arrays: leading axes of the arguments
broadcast against each other, so that one body at many times, many bodies at one time, and every mixture is one call.

Legend, of formulas: ``I`` moments in ascending order and ``j`` their inverses; ``G`` length of the angular momentum;
``x`` its component along the axis it circles (the first or the third), ``y`` along the middle axis, ``z`` along the
remaining one; ``r``, ``w``, ``p`` differences of inverse moments between the x and y, y and z, x and z axes; ``rate``
and ``kp2`` the factor of time and the complementary parameter k'^2 of Jacobi's functions.
"""

from __future__ import annotations

import functools
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.algebra import elliptic, rotation
from polhode.algebra.vectorised import leading_axes, plain
from polhode.arguments import array, room_for, whole
from polhode.errors import InvalidInput
from polhode.flows import free_rotation
from polhode.kernel import drive
from polhode.kernel import layout as slots
from polhode.kernel.jit import disabled
from polhode.systems.inertia import RELATIVE_TOLERANCE, principal

Array = NDArray[np.float64]

IDENTITY = (1.0, 0.0, 0.0, 0.0)
AT_ORIGIN = (0.0,) * slots.ATTITUDE
"""Position and momentum of a body that only turns."""


class FreeMotion(NamedTuple):
    """Attitudes (..., 4), body to space, and angular momenta (..., 3) in the body frame."""

    attitude: Array
    angular_momentum: Array


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


# ------------------------------------------------------------------ input
def _momenta(value: ArrayLike) -> Array:
    m = array(value, "momentum", "kg * m**2 / s")
    if m.shape[-1:] != (3,):
        raise InvalidInput(f"momentum has shape {m.shape}; its last axis must have length 3")
    return m


def _bodies(inertia: ArrayLike) -> tuple[Array, Array]:
    """Principal moments (..., 3) and frames (..., 4) of every body."""
    given = array(inertia, "inertia", "kg * m**2")
    if given.shape[-1:] != (3,):
        raise InvalidInput(f"inertia has shape {given.shape}; its last axis must have length 3")
    width = 2 if given.shape[-2:] == (3, 3) else 1
    leading = given.shape[:-width]
    moments, frames = np.empty((*leading, 3)), np.empty((*leading, 4))
    for index in np.ndindex(leading):
        name = f"inertia[{','.join(map(str, index))}]" if index else "inertia"
        moments[index], frames[index] = principal(given[index], triangle=False, name=name)
    return moments, frames


def _solid(moments: Array, m: Array) -> tuple[Array, Array]:
    """Moments (..., 3) and momenta (..., 3, principal frame); a body without thickness turns as a sphere does.

    Raises
    ------
    InvalidInput
        A momentum along the axis about which the moment of inertia is zero.
    """
    thin = moments == 0.0
    if not thin.any():
        return moments, m
    along = np.where(thin, m, 0.0)
    if (np.linalg.norm(along, axis=-1) > RELATIVE_TOLERANCE * np.linalg.norm(m, axis=-1)).any():
        raise InvalidInput(
            "momentum has a part along the axis about which the moment of inertia is zero, but a body without "
            "thickness does not turn about its own axis; leave that part out, or give the body a thickness"
        )
    return np.where(thin, moments.max(axis=-1, keepdims=True), moments), m - along


def _attitudes(attitude: ArrayLike | None) -> Array:
    if attitude is None:
        return np.array(IDENTITY)
    return rotation.as_quaternion(attitude)


def _turns(frames: Array) -> bool:
    return bool((frames != IDENTITY).any())


def _to_principal(frames: Array, m: Array) -> Array:
    return rotation.rotate_inverse(frames, m) if _turns(frames) else m


def _to_user(frames: Array, m: Array) -> Array:
    return rotation.rotate(frames, m) if _turns(frames) else m


# ------------------------------------------------------------------ motion
def free_motion(inertia: ArrayLike, momentum: ArrayLike, t: ArrayLike, attitude: ArrayLike | None = None) -> FreeMotion:
    """Attitude and angular momentum of a free rigid body at any times, each straight from the state at time 0.

    No stepping: every time costs less than a microsecond and has the error of the data alone, which grows with time
    only as the phase of the motion does (about 1e-16 times the angle turned).

    Parameters
    ----------
    inertia : array_like (..., 3) or (..., 3, 3)
        Three principal moments in any order, or the full tensor, in the body frame. Any positive moments will do; the
        triangle inequality is not asked for. An array that ends in (3, 3) is read as tensors: for three bodies given by
        their moments, write shape (3, 1, 3) or stack diagonal tensors.
    momentum : array_like (..., 3)
        Angular momentum at time 0, body frame. Zero is allowed.
    t : array_like (...)
        Times, of any sign, size and order.
    attitude : array_like (..., 4), optional
        Attitude at time 0, a unit quaternion (w, x, y, z), body to space; the identity when left out.

    Returns
    -------
    FreeMotion
        ``attitude`` (..., 4) and ``angular_momentum`` (..., 3) at the times, the latter in the body frame. Leading axes
        of all arguments broadcast: ``t`` of shape (n,) and one momentum of shape (3,) give (n, 4) and (n, 3).

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, moments not positive, attitudes not of unit length, or times at which the angle turned
        overflows.

    Notes
    -----
    Jacobi's elliptic functions and an integral over the motion [celledoni2008, prop. 2.1], see
    ``polhode.flows.free_rotation``. In 10,000 stress draws (rods, near-symmetric bodies, momenta near axes and
    separatrix, angles to 1e4) the error was never more than a few times what one unit in the last place of the data
    changes; energy and spatial momentum hold to 2e-15 at any time.

    Examples
    --------
    >>> import numpy as np
    >>> q, m = free_motion((1.0, 1.5, 2.0), (0.1, 1.0, 0.2), np.linspace(0, 1e6, 5))
    >>> q.shape, m.shape
    ((5, 4), (5, 3))
    >>> energy = np.sum(m * m / (1.0, 1.5, 2.0), axis=-1) / 2
    >>> bool(np.ptp(energy) < 1e-15)
    True
    """
    if (found := _at_one_time(inertia, momentum, t, attitude)) is not None:
        return found
    moments, frames = _bodies(inertia)
    m, times, q = _momenta(momentum), array(t, "t", "s"), _attitudes(attitude)
    leading = leading_axes(
        inertia=moments.shape[:-1], momentum=m.shape[:-1], t=times.shape, attitude=q.shape[:-1]
    )  # fmt: skip
    room_for(prod(leading) * (slots.BODY + slots.CONSTANTS), "the arguments together")
    moments, m = _solid(moments, _to_principal(frames, m))
    unit = _power_of_two(moments)  # of inertia and momentum together: subnormal moments have no inverses
    y = np.zeros((*leading, slots.BODY))
    y[..., slots.ATTITUDE : slots.ATTITUDE + 4] = rotation.multiply(q, frames) if _turns(frames) else q
    with np.errstate(over="ignore"):
        y[..., slots.ANGULAR : slots.ANGULAR + 3] = m * unit
    bodies = np.ones((*leading, slots.CONSTANTS))
    bodies[..., 1:4], bodies[..., 5:8] = moments * unit, 1.0 / (moments * unit)
    y, bodies = y.reshape(-1, slots.BODY), bodies.reshape(-1, slots.CONSTANTS)
    status, iterations = np.zeros((2, len(y)), dtype=np.int64)
    spans = np.array(np.broadcast_to(times, leading)).reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):  # as plain Python the flow works on numpy's numbers
        drive.sweep_of(free_rotation.rotate_free)(1, spans, y, bodies, np.zeros(slots.STEP_INFO), status, iterations)
    if (status != slots.OK).any():
        when = spans[np.flatnonzero(status != slots.OK)[0]]
        raise InvalidInput(f"the angle turned by t = {when:g} overflows; check the units of inertia, momentum and t")
    q = y[:, slots.ATTITUDE : slots.ATTITUDE + 4].reshape(*leading, 4)
    m = y[:, slots.ANGULAR : slots.ANGULAR + 3].reshape(*leading, 3) / unit
    if _turns(frames):
        q = rotation.multiply(q, rotation.conjugate(frames))
    return FreeMotion(np.ascontiguousarray(q), np.ascontiguousarray(_to_user(frames, m)))


class _Body(NamedTuple):
    """One body, prepared: power of two that scales it, constants (1, 8), frame or None where it is the identity."""

    unit: float
    constants: Array
    frame: Array | None


@functools.lru_cache(256)
def _prepared(inertia: tuple[float, ...]) -> _Body | None:
    """A body of 3 moments or of the 9 entries of a tensor; None of one without thickness, and without a compiler."""
    moments, frame = principal(inertia if len(inertia) == 3 else np.reshape(inertia, (3, 3)), triangle=False)
    if not moments.all() or disabled():
        return None
    unit = _power_of_two(moments)
    constants = np.array([[1.0, *(moments * unit), 1.0, *(1.0 / (moments * unit))]])
    return _Body(float(unit[0]), constants, frame if _turns(frame) else None)


def _at_one_time(inertia: Any, momentum: Any, t: Any, attitude: Any) -> FreeMotion | None:
    """The motion of one body at one time, given as plain numbers; None where they are not, or where it overflows."""
    m, span = plain(momentum, 3), plain(t, 0)
    given = plain(inertia, 3)
    if given is None and type(inertia) is np.ndarray and inertia.shape == (3, 3) and inertia.dtype == float:
        given = inertia.ravel().tolist()
    if m is None or span is None or given is None or (body := _prepared(tuple(given))) is None:
        return None
    unit, constants, frame = body
    q: Any = IDENTITY if attitude is None else rotation.as_quaternion(attitude)
    if attitude is not None and q.shape != (4,):
        return None
    if frame is not None:
        q, m = rotation.multiply(q, frame), rotation.rotate_inverse(frame, m).tolist()
    y = np.array([(*AT_ORIGIN, *q, m[0] * unit, m[1] * unit, m[2] * unit)])
    status, iterations = np.empty(1, np.int64), np.empty(1, np.int64)
    sweep = drive.sweep_of(free_rotation.rotate_free)
    sweep(1, np.array([span], float), y, constants, np.zeros(slots.STEP_INFO), status, iterations)
    if status[0] != slots.OK:
        return None
    turned, momenta = y[0, slots.ATTITUDE : slots.ANGULAR], y[0, slots.ANGULAR :] / unit
    if frame is not None:
        turned, momenta = rotation.multiply(turned, rotation.conjugate(frame)), rotation.rotate(frame, momenta)
    return FreeMotion(turned, momenta)


# ------------------------------------------------------------------ orbits
class _Orbit(NamedTuple):
    """Where momenta circle, with moments and momenta scaled by powers of two near one (see the module's legend)."""

    order: Any  # of the principal axes
    hand: Any  # -1 where the ascending order of axes is left-handed
    third: Any  # whether the third axis is circled, else the first
    force: Any  # momenta were multiplied by this,
    weight: Any  # and moments by this
    I: Any
    x: Any
    y: Any
    z: Any
    G: Any
    r: Any
    p: Any
    M: Any
    N: Any
    rate: Any
    kp2: Any


def _power_of_two(a: Array) -> Array:
    one: Array = np.ldexp(1.0, -np.clip(np.frexp(np.abs(a).max(axis=-1, keepdims=True))[1], -1000, 1000))
    return one


def _orbit(moments: Array, m: Array) -> _Orbit:
    moments, m = np.broadcast_arrays(moments, m)
    order = np.argsort(moments, axis=-1, kind="stable")
    hand = np.where((order[..., 1] - order[..., 0]) % 3 == 1, 1.0, -1.0)
    force, weight = _power_of_two(m), _power_of_two(moments)
    I, m = (np.take_along_axis(a, order, axis=-1) for a in (moments * weight, m * force))
    j = 1.0 / I
    low, high, p = (
        (I[..., b] - I[..., a]) * j[..., a] * j[..., b] for a, b in ((0, 1), (1, 2), (0, 2))
    )  # fmt: skip
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


def free_motion_periods(inertia: ArrayLike, momentum: ArrayLike) -> FreeMotionPeriods:
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
        Wrong shapes, not finite, moments not positive, or a momentum of zero: a body at rest has no periods.

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
    moments, frames = _bodies(inertia)
    m = _momenta(momentum)
    leading_axes(inertia=moments.shape[:-1], momentum=m.shape[:-1])
    if not m.any(axis=-1).all():
        raise InvalidInput("momentum is zero: a body at rest has no periods")
    o = _orbit(*_solid(moments, _to_principal(frames, m)))
    unit = o.force[..., 0] / o.weight[..., 0]
    moves = (o.rate > 0.0) & (o.kp2 > 0.0)
    rate, kp = np.where(moves, o.rate, 1.0), np.where(moves, np.sqrt(o.kp2), 1.0)
    j = 1.0 / o.I
    last = np.where(o.third, j[..., 0], j[..., 2])
    ratio = np.where(moves, o.p / np.where(moves, o.r, 1.0), 1.0)
    one = np.ones_like(rate)
    period = 4.0 * _cel(kp, one, one, one) / rate
    # The axis advances at G (y^2/I_y + z^2/I_z)/(y^2 + z^2), y = Y sn, z = Z cn and (Y/Z)^2 = p/r. [goldstein2002]
    angle = 4.0 * o.G * _cel(kp, ratio, last, j[..., 1] * ratio) / rate
    return FreeMotionPeriods(
        np.where(moves, period * unit, np.inf)[()],
        (2.0 * np.pi * unit * np.where(moves, period / angle, o.I[..., 1] / o.G))[()],
        np.where(moves, angle, np.inf)[()],
    )


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


def polhode_curve(inertia: ArrayLike, momentum: ArrayLike, n: int = 201) -> Polhode:
    """The polhode: the closed curve of the angular velocity in the body, with that of the angular momentum.

    Parameters
    ----------
    inertia : array_like (..., 3) or (..., 3, 3)
        As in ``free_motion``.
    momentum : array_like (..., 3)
        Angular momentum the curve starts from, body frame.
    n : int
        Number of points, at least 2, once around in the sense of the motion; the last is the first again.

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
        Wrong shapes, not finite, moments not positive, or ``n`` less than 2.

    Examples
    --------
    >>> curve = polhode_curve((1.0, 1.5, 2.0), (0.1, 0.3, 1.0), n=50)
    >>> curve.angular_velocity.shape
    (50, 3)
    >>> bool((curve.angular_velocity[0] == curve.angular_velocity[-1]).all())
    True
    """
    n = whole(n, "n", 2)
    moments, frames = _bodies(inertia)
    m = _momenta(momentum)
    leading_axes(inertia=moments.shape[:-1], momentum=m.shape[:-1])
    room_for(20.0 * n * max(prod(moments.shape[:-1]), prod(m.shape[:-1])), "n")
    moments, m = _solid(moments, _to_principal(frames, m))
    points = _points(_orbit(moments, m), moments, n)
    turned = frames[..., None, :]
    return Polhode(_to_user(turned, points / moments[..., None, :]), _to_user(turned, points))


def herpolhode_curve(
    inertia: ArrayLike, momentum: ArrayLike, t: ArrayLike, attitude: ArrayLike | None = None
) -> Herpolhode:
    """The herpolhode: the curve of the angular velocity in space, in the plane normal to the fixed angular momentum.

    Parameters
    ----------
    inertia, momentum, t, attitude : array_like
        As in ``free_motion``; the momentum is not zero. Leading axes broadcast.

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
    moments, frames = _bodies(inertia)
    m0, q0 = _momenta(momentum), _attitudes(attitude)
    if not m0.any(axis=-1).all():
        raise InvalidInput("momentum is zero: a body at rest has no invariable plane")
    q, m = free_motion(inertia, momentum, t, attitude)
    moments = _solid(moments, np.zeros(3))[0]

    def velocity(q: Array, m: Array) -> Array:
        return rotation.rotate(q, _to_user(frames, _to_principal(frames, m) / moments))

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
