"""The joints of polhode: say ``.on("a", "b")`` or ``.on("a", polhode.ground)`` of what these return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.algebra.rotation import as_quaternion, matrix_from_quaternion
from polhode.arguments import Array, ArrayLike, array, has, identifier, number, unit_vector, vector
from polhode.arguments.words import Length, Position, Quaternions, Vector
from polhode.errors import InvalidInput, answering
from polhode.flows.mechanism import BALL, DIRECTION, ROD, SLIDE
from polhode.joints.joint import Joint, Numbers, Piece

CENTRE = (0.0, 0.0, 0.0)


@answering
def ball(at: Position = CENTRE, of_other: Position = CENTRE, *, name: str = "ball") -> Joint:
    """A ball in its socket: a point of the first body stays at a point of the second, around which it turns freely.

    Parameters
    ----------
    at, of_other : array_like (3,)
        The point in the first body's own axes (m), by default its centre of mass, and in those of the second, or in
        space.
    name : str
        Its name in the system.

    Raises
    ------
    InvalidInput
        Not 3 numbers.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.system(ph.body("top", 2.0, (5, 5, 1)), ph.joints.ball(at=(0, 0, -1)).on("top", ph.ground))
    >>> top.mechanism.joints[0].rows
    3
    """
    u, w, told = _points(at, of_other)
    return Joint("ball", _name(name), told, (Piece(BALL, u, w),))


@answering
def hinge(
    at: Position, axis: Vector, of_other: Position = CENTRE, axis_of_other: Vector | None = None, *,
    name: str = "hinge",
) -> Joint:  # fmt: skip
    """A hinge: a point of the first body stays at a point of the second, and it turns about one axis.

    Its coordinate is the angle (rad) by which the first is turned about the axis against the second: zero where their
    own axes coincide, or after the shortest turn that takes ``axis`` into ``axis_of_other``.

    Parameters
    ----------
    at : array_like (3,)
        The point in the first body's own axes (m).
    axis : array_like (3,)
        The axis in the first body's own axes, of any length.
    of_other : array_like (3,)
        The point in the axes of the second, or in space.
    axis_of_other : array_like (3,), optional
        The axis in those, by default the same numbers as ``axis``.
    name : str
        Its name in the system.

    Raises
    ------
    InvalidInput
        Not 3 numbers, or an axis of length zero.

    Examples
    --------
    >>> import polhode as ph
    >>> arm = ph.system(ph.body("arm", 2.0, (1, 1, 0.1)), ph.loads.weight(),
    ...                 ph.joints.hinge(at=(0, 0, 1), axis=(0, 1, 0), name="shoulder").on("arm", ph.ground))
    >>> arm.mechanism.joints[0]
    Joined(name='shoulder', kind='hinge', bodies=(0, 1), row=0, rows=5, piece=0, pieces=3)
    """
    u, w, told = _points(at, of_other)
    own, other, more = _axes(axis, axis_of_other)
    rows = [Piece(DIRECTION, _numbers(across), other) for across in frame_about(np.array(own))[:2]]
    return Joint("hinge", _name(name), {"at": [*u]} | told | more, (Piece(BALL, u, w), *rows))


@answering
def slider(
    axis: Vector, at: Position = CENTRE, of_other: Position = CENTRE, axis_of_other: Vector | None = None,
    attitude: Quaternions | None = None, *, name: str = "slider",
) -> Joint:  # fmt: skip
    """A slider: a point of the first body moves on a line that is fixed in the second, and it does not turn against it.

    Its coordinate is the length (m) from the point of the second to that of the first, along the axis.

    Parameters
    ----------
    axis : array_like (3,)
        The direction of the line in the first body's own axes, of any length.
    at : array_like (3,)
        The point in the first body's own axes (m).
    of_other : array_like (3,)
        A point of the line, in the axes of the second, or in space.
    axis_of_other : array_like (3,), optional
        The direction of the line in those, by default the same numbers as ``axis``: the first is then turned by the
        shortest turn that takes ``axis`` into it.
    attitude : array_like (4,) or (3, 3), optional
        In place of ``axis_of_other`` how the first is turned against the second: from the axes of the first to those
        of the second.
    name : str
        Its name in the system.

    Raises
    ------
    InvalidInput
        Not 3 numbers, an axis of length zero, or both ``axis_of_other`` and ``attitude``.

    Examples
    --------
    >>> import polhode as ph
    >>> piston = ph.system(ph.body("piston", 2.0, (1, 1, 1)), ph.joints.slider((1, 0, 0)).on("piston", ph.ground))
    >>> piston.mechanism.joints[0].rows
    5
    """
    u, w, told = _points(at, of_other)
    if attitude is not None and axis_of_other is not None:
        raise InvalidInput("axis_of_other and attitude are both given; keep one of them")
    own, other, more = _axes(axis, axis_of_other)
    turn = shortest(np.array(own), np.array(other))
    if attitude is not None:
        turn, turned = _attitude(attitude)
        more |= {"attitude": turned}
        other = _numbers(turn @ own)
    slides = [Piece(SLIDE, u, w, _numbers(across)) for across in frame_about(np.array(other))[:2]]
    return Joint("slider", _name(name), more | told, (*slides, *_unturned(turn)))


@answering
def weld(
    at: Position = CENTRE, of_other: Position = CENTRE, attitude: Quaternions = (1.0, 0.0, 0.0, 0.0), *,
    name: str = "weld",
) -> Joint:  # fmt: skip
    """A weld: a point of the first body stays at a point of the second, and it does not turn against it.

    Parameters
    ----------
    at, of_other : array_like (3,)
        The point in the first body's own axes (m), and in those of the second, or in space.
    attitude : array_like (4,) or (3, 3)
        How the first is turned against the second: from the axes of the first to those of the second.
    name : str
        Its name in the system.

    Raises
    ------
    InvalidInput
        Not 3 numbers, or no rotation.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.joints.weld(of_other=(0, 0, 1)).on("mast", "bus")
    joint weld(of_other=[0.0, 0.0, 1.0]).on('mast', 'bus')
    """
    u, w, told = _points(at, of_other)
    turn, turned = _attitude(attitude)
    told |= {} if turned == [1.0, 0.0, 0.0, 0.0] else {"attitude": turned}
    return Joint("weld", _name(name), told, (Piece(BALL, u, w), *_unturned(turn)))


@answering
def rod(length: Length, at: Position = CENTRE, of_other: Position = CENTRE, *, name: str = "rod") -> Joint:
    """A rod without mass: a point of the first body stays at a distance from a point of the second.

    Parameters
    ----------
    length : float
        The distance (m), positive.
    at, of_other : array_like (3,)
        The point in the first body's own axes (m), by default its centre of mass, and in those of the second, or in
        space.
    name : str
        Its name in the system.

    Raises
    ------
    InvalidInput
        A length that is not positive, or not 3 numbers.

    Examples
    --------
    >>> import polhode as ph
    >>> pendulum = ph.system(ph.body("bob", 1.0), ph.loads.weight(), ph.joints.rod(2.0).on("bob", ph.ground))
    >>> pendulum.mechanism.joints[0].rows
    1
    """
    u, w, told = _points(at, of_other)
    size = number(length, "length of a rod", "m", positive=True)
    return Joint("rod", _name(name), {"length": size, **told}, (Piece(ROD, u, w, (size, 0.0, 0.0)),))


# ------------------------------------------------------------------ helpers
def frame_about(axis: Array) -> Array:
    """Unit vectors across a unit vector, and itself, as rows: a right-handed frame."""
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.sqrt(first @ first)
    return np.stack([first, np.cross(axis, first), axis])


def shortest(a: Array, b: Array) -> Array:
    """The matrix of the shortest turn that takes one unit vector into another; of opposite ones half a turn."""
    if a @ b < -1.0 + 1e-12:
        across = frame_about(a)[0]
        return 2.0 * np.outer(across, across) - np.eye(3)
    v, c = np.cross(a, b), a @ b
    cross = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + c)


def _unturned(turn: Array) -> list[Piece]:
    """Three directions of the first body that stay across others of the second: independent where it is so turned."""
    axes, others = np.eye(3), turn.T
    return [Piece(DIRECTION, _numbers(axes[k]), _numbers(others[(k + 1) % 3])) for k in range(3)]


def _attitude(value: ArrayLike) -> tuple[Array, list[float]]:
    """The matrix of an attitude, and its quaternion as records keep it."""
    other = has(value, "as_quat") or array(value, "attitude").shape == (3, 3)
    q = as_quaternion(value) if other else vector(value, "attitude", 4)
    size = float(np.sqrt(q @ q))
    if abs(size - 1.0) > 1e-6:
        raise InvalidInput(f"attitude of a joint has length {size:g}; give a unit quaternion (w, x, y, z)")
    return matrix_from_quaternion(q / size), [float(x) for x in q]


def _points(at: ArrayLike, of_other: ArrayLike) -> tuple[Numbers, Numbers, dict[str, Any]]:
    """The points of both bodies, and what is recorded of them."""
    u, w = (_numbers(vector(one, name, unit="m")) for one, name in ((at, "at"), (of_other, "of_other")))
    given = {"at": u, "of_other": w}
    return u, w, {name: [*one] for name, one in given.items() if one != CENTRE}


def _axes(axis: ArrayLike, axis_of_other: ArrayLike | None) -> tuple[Numbers, Numbers, dict[str, Any]]:
    """Unit vectors along the axis in both bodies, and what is recorded of them."""
    given = {"axis": axis} | ({} if axis_of_other is None else {"axis_of_other": axis_of_other})
    own, *other = [_numbers(unit_vector(one, name)) for name, one in given.items()]
    recorded = {name: vector(one, name, unit="").tolist() for name, one in given.items()}
    return own, other[0] if other else own, recorded


def _numbers(v: Sequence[float] | Array) -> Numbers:
    x, y, z = v
    return float(x), float(y), float(z)


def _name(name: str) -> str:
    return identifier(name, "name of a joint")
