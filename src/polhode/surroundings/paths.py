"""Where another body is: at rest, on a circle, along a table or by an ephemeris; for forces, shadows and events.

A path in the compiled functions is a row of numbers that begins with its form; ``place_at`` and ``velocity_at`` read
it. A table is interpolated by a cubic spline with "not-a-knot" end conditions, from its values and slopes at both ends
of an interval (Hermite); outside of the table the place is NaN.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isinf, pi
from typing import Annotated, Any

import numpy as np

from polhode.algebra.so3 import add, axpy, dot, scale
from polhode.arguments import Array, array, choice, number, numbers, unit_vector, vector
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Angle, Length, Position, Positions, TableOf, Time, Times, Vector
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel.access import get3, segment
from polhode.kernel.jit import helper, inlined
from polhode.surroundings.ephemerides import Ephemerides, ephemeris_of
from polhode.surroundings.surrounding import Surrounding, Table, made

AT_REST, ON_CIRCLE, TABLE = range(3)
"""Forms of a path, its first number. Behind it: three coordinates; rate, phase and the radius times two unit vectors;
number of rows, then the rows of time, position and slope."""
ROW = 7
"""Numbers of a row of a table."""
BEYOND = 1e-9
"""How far beyond its ends a table is read, in units of the interval there: times of stages are rounded."""


# ------------------------------------------------------------------ compiled
@inlined
def inside(x, beyond):
    """The part x of an interval that has passed; NaN where that is outside by more than a part ``beyond``."""
    return np.nan if x < -beyond or x > 1.0 + beyond else x


@helper
def between(p, at, t):
    """Interval of a table at time t: index of its first row, its length, and the part passed; NaN outside the table."""
    i = at + 2 + ROW * segment(p, at + 2, ROW, p[at + 1] - 1.0, t)
    h = p[i + ROW] - p[i]
    x = (t - p[i]) / h
    return i, h, inside(x, BEYOND)


@helper
def place_at(p, at, t):
    """Position at time t of the body whose path begins at ``p[at]``; NaN outside its table."""
    if p[at] == AT_REST:
        return get3(p, at + 1)
    if p[at] == ON_CIRCLE:
        angle = p[at + 1] * t + p[at + 2]
        return axpy(np.cos(angle), get3(p, at + 3), scale(np.sin(angle), get3(p, at + 6)))
    i, h, x = between(p, at, t)
    y = 1.0 - x
    ends = axpy(y * y * (1.0 + 2.0 * x), get3(p, i + 1), scale(x * x * (1.0 + 2.0 * y), get3(p, i + 8)))
    slopes = axpy(h * x * y * y, get3(p, i + 4), scale(-h * x * x * y, get3(p, i + 11)))
    return add(ends, slopes)


@helper
def velocity_at(p, at, t):
    """Velocity at time t of the body whose path begins at ``p[at]``; NaN outside its table."""
    if p[at] == AT_REST:
        return (0.0, 0.0, 0.0)
    if p[at] == ON_CIRCLE:
        angle, rate = p[at + 1] * t + p[at + 2], p[at + 1]
        return axpy(-rate * np.sin(angle), get3(p, at + 3), scale(rate * np.cos(angle), get3(p, at + 6)))
    i, h, x = between(p, at, t)
    y = 1.0 - x
    ends = scale(6.0 * x * y / h, axpy(-1.0, get3(p, i + 1), get3(p, i + 8)))
    return add(ends, axpy(y * (y - 2.0 * x), get3(p, i + 4), scale(x * (x - 2.0 * y), get3(p, i + 11))))


@helper
def square_at(p, at, t):
    """Squared distance from the origin at time t; of a circle it stays, which programs gain from."""
    if p[at] == ON_CIRCLE:
        return dot(get3(p, at + 3), get3(p, at + 3))
    s = place_at(p, at, t)
    return dot(s, s)


@helper
def receding_at(p, at, t):
    """Half the rate of the squared distance at time t; zero at rest and on a circle."""
    if p[at] != TABLE:
        return 0.0
    return dot(place_at(p, at, t), velocity_at(p, at, t))


# ------------------------------------------------------------------ the record
@dataclass(frozen=True)
class Path:
    """Where another body is."""

    arguments: Mapping[str, Any]  # what it is made from, in JSON types
    numbers: tuple[float, ...]  # its form and numbers, as ``place_at`` reads them
    words: str  # how it moves, for descriptions

    @property
    def still(self) -> bool:
        """Whether the body is at rest."""
        return self.numbers[0] == AT_REST


def circle(radius: Length, period: Time, phase: Angle = 0.0, normal: Vector = (0.0, 0.0, 1.0)) -> Path:
    """A circle about the centre.

    Parameters
    ----------
    radius : float
        Its radius.
    period : float
        Time of one turn; negative: clockwise.
    phase : float
        rad, at time 0, from the ascending node on z = 0, or from x.
    normal : array_like (3,)
        Normal of its plane, any length.

    Returns
    -------
    Path

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    size = number(radius, "radius of circle", "m", positive=True)
    turn = number(period, "period of circle", "s")
    rate = 2.0 * pi / turn if turn else inf
    if isinf(rate):
        raise InvalidInput(f"period of circle is {turn:g}; give the time of one turn, or a position")
    angle = number(0.0 if phase is None else phase, "phase of circle", "rad")
    normal = (0.0, 0.0, 1.0) if normal is None else normal
    n = np.array(unit_vector(normal, "normal of circle"))
    node = np.array((-n[1], n[0], 0.0)) if n[0] or n[1] else np.array((1.0, 0.0, 0.0))
    node /= np.linalg.norm(node)
    ahead = np.cross(n, node)
    arguments = {"radius": size, "period": turn, "phase": angle, "normal": plain(normal)}
    return Path(
        {"circle": arguments},
        (float(ON_CIRCLE), rate, angle, *(size * node).tolist(), *(size * ahead).tolist()),
        "on a circle",
    )


Circle = Annotated[Mapping[str, Any], TableOf(circle)]


def path_of(
    position: Any, times: Any, positions: Any, circle: Any, ephemeris: Any = None, what: str = "the other body: "
) -> Path:
    """The path of a body from the one of its descriptions that is given: position, table, circle, or ephemeris."""
    ways = {"position": position, "times and positions": times if positions is None else positions, "circle": circle,
            "ephemeris": ephemeris}  # fmt: skip
    given = [name for name, value in ways.items() if value is not None]
    if not given:
        raise InvalidInput(f"nothing says where the body is; give a place of {what}position, times and positions, "
                           "circle, or ephemeris")  # fmt: skip
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} are given; keep one of them")
    if position is not None:
        at = vector(position, "position", unit="m").tolist()
        return Path({"position": at}, (float(AT_REST), *at), "at rest")
    if circle is not None:
        return _circle_of(circle)
    if ephemeris is not None:
        seen = ephemeris_of(ephemeris)
        return Path({"ephemeris": dict(seen.arguments)}, _table(seen.times, seen.positions).numbers,
                    f"by an ephemeris of the {seen.body}")  # fmt: skip
    if times is None or positions is None:
        missing = "times" if times is None else "positions"
        raise InvalidInput(f"{missing} is missing; a table needs times and positions")
    return _table(times, positions)


def path_to_sun(
    direction: Any, position: Any, times: Array | None, positions: Array | None, circle: Any, ephemeris: Any = None
) -> Path:
    """As ``path_of``, for the Sun, which may be infinitely far away in a direction, a unit vector at rest."""
    if direction is None:
        return path_of(position, times, positions, circle, ephemeris, "the Sun: direction, ")
    if any(value is not None for value in (position, times, positions, circle, ephemeris)):
        raise InvalidInput("direction is given beside a place of the Sun; leave one of them out")
    return Path(
        {"direction": plain(direction, "direction")}, (float(AT_REST), *unit_vector(direction, "direction")), "at rest"
    )


def _circle_of(given: Any) -> Path:
    """A circle from the mapping of its arguments."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"circle must be a mapping with radius and period, not {shown(given)}")
    for name in given:
        choice(name, "key of circle", ("radius", "period", "phase", "normal"))
    for name in ("radius", "period"):
        if given.get(name) is None:
            raise InvalidInput(f"circle has no {name}; give radius and period")
    made: Path = called(circle, given)
    return made


def _table(times: Any, positions: Any) -> Path:
    """A table of positions, with the slopes of the spline through them."""
    from scipy.interpolate import CubicSpline  # half a second, and few paths are tables

    points, slopes = table_of_rows(positions, "positions", 3, 4, "m"), None
    epochs = numbers(times, "times", "s")
    if len(epochs) != len(points):
        raise InvalidInput(f"times has {len(epochs)} entries, but positions {len(points)}; give one place for each")
    if not (np.diff(epochs) > 0).all():
        raise InvalidInput("times must rise from row to row; sort the table")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"), contextlib.suppress(ValueError):
        slopes = CubicSpline(epochs, points, bc_type="not-a-knot")(epochs, 1)
    if slopes is None or not np.isfinite(slopes).all():
        raise InvalidInput("positions change faster than numbers tell; check the units of times and positions")
    rows = np.column_stack([epochs, points, slopes])
    return Path(
        {"times": epochs.tolist(), "positions": points.tolist()},
        (float(TABLE), float(len(rows)), *rows.ravel().tolist()),
        "along a table",
    )


# ------------------------------------------------------------------ arguments
def table_of_rows(value: Any, name: str, width: int, least: int, unit: str) -> Array:
    """A table of finite numbers with ``width`` columns and at least ``least`` rows."""
    rows = array(value, name, unit).copy()
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) < least:
        raise InvalidInput(f"{name} must be {least} or more rows of {width} numbers, but has shape {rows.shape}")
    return rows


# ------------------------------------------------------------------ around a body
def along_path(body, t, numbers):
    """The place at time t."""
    return place_at(numbers.p, numbers.at, t)


@answering
def path(
    *,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
) -> Surrounding:
    """Where another body is, such as the Sun or the Moon: at rest, along a table, on a circle or by an ephemeris.

    Parameters
    ----------
    position : array_like (3,), optional
        Its position (m), if at rest; or
    times, positions : array_like (n,), (n, 3), optional
        A table (s, m), n >= 4, interpolated by a cubic spline; the run must lie within it; or
    circle : mapping, optional
        A circle about the origin: ``radius``, ``period``, and optionally ``phase`` and ``normal``, as of
        ``polhode.forces.third_body``; or
    ephemeris : Ephemeris, optional
        From ``polhode.surroundings.ephemeris``, or a mapping of its arguments: Sun, Moon and planets, in SI units.

    Returns
    -------
    Surrounding
        A place (m, space), such as the ``sun`` or ``moon`` that ``polhode.loads.third_body`` reads.

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.surroundings.path(circle={"radius": 3.844e8, "period": 2.36e6})
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.third_body("moon"),
    ...                   surroundings={"moon": moon})
    >>> ds = ph.integrate(craft, step=600.0, steps=144, position=(4.2164e7, 0, 0), velocity=(0, 3.0747e3, 0))
    >>> round(float(ds.position[-1, 0]) / 1e3)
    42158
    """
    found = path_of(position, times, positions, circle, ephemeris)
    return made(along_path, "path", found.arguments, numbers=Table(found.numbers))
