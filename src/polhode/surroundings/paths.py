"""Where another body is: at rest, on a circle, along a table or by an ephemeris; for forces, shadows and events.

A path in the compiled functions is a row of numbers that begins with its form; ``place_at`` and ``velocity_at`` read
it. A table is interpolated by a cubic spline with "not-a-knot" end conditions, from its values and slopes at both ends
of an interval (Hermite); outside of the table the place is NaN.

The built-in series are those of low precision of [montenbruck2000, sec. 3.3.2], for the Sun and the Moon as seen from
the Earth, in the axes of the mean equator and equinox of J2000. Between 1990 and 2050 they are off by up to 1 arc
minute (Sun) and 6 arc minutes and 600 km (Moon), measured against the ephemeris of astropy. That, or a file of the JPL
(``.bsp``) read by astropy, serves for more, and for the planets, in the axes of the ICRS.

A table is as dense as its interpolation needs: the cubic spline through it is checked between all of its rows.
"""

from __future__ import annotations

import contextlib
import pathlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isinf, pi
from typing import Annotated, Any, Literal

import numpy as np

from polhode import reading
from polhode.algebra.so3 import add, axpy, dot, scale
from polhode.algebra.splines import slopes_through, values_at
from polhode.arguments import Array, array, choice, number, numbers, path as checked_path, text, unit_vector, vector
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Angle, Length, Position, Positions, TableOf, Time, Times, Vector
from polhode.epochs import CENTURY, J2000, Epoch, epoch_of, tdb_less_tt
from polhode.errors import FileProblem, InvalidInput, MissingExtra, answering, shown
from polhode.kernel.access import get3, segment
from polhode.kernel.jit import helper, inlined
from polhode.lazy import extra
from polhode.programs.tracer import Tracer, array_of, holds_tracers
from polhode.surroundings import planets
from polhode.surroundings.surrounding import AsMade, Surrounding, Table, made

BODIES: Mapping[str, float] = {
    "sun": planets.SUN.mu, "moon": planets.MOON.mu, "mercury": 2.2031868551e13, "venus": 3.24858592e14,
    "earth": planets.EARTH.mu, "mars": planets.MARS.mu, "jupiter": 1.2671276410e17, "saturn": 3.7940584842e16,
    "uranus": 5.7945564e15, "neptune": 6.8365271006e15,
}  # fmt: skip
"""Bodies, and their gravity parameters, m^3 / s^2: of Jupiter and beyond with their moons [park2021]."""
WITHIN = ("sun", "moon")  # bodies of the built-in series
ARC = np.pi / 648000.0  # a second of arc, rad
OBLIQUITY = 84381.448 * ARC
COARSEST, FINEST = 86400.0, 60.0  # steps of tables, s
MOST_ROWS = 200_000
MARGIN = 3  # rows of a table beyond its ends, where a spline is at its worst


# ------------------------------------------------------------------ the series
def sun_series(T):
    """The Sun from the Earth (m), T Julian centuries of TT after J2000.

    With the motion of the perihelion against the fixed equinox, 0.3225 degrees a century, which the source leaves out;
    without it the error grows to 10 arc minutes by 2050.
    """
    M = np.radians(357.5256 + 35999.049 * T)
    along = np.radians(282.9400 + 0.3225 * T) + M + ARC * (6892.0 * np.sin(M) + 72.0 * np.sin(2.0 * M))
    r = 1e9 * (149.619 - 2.499 * np.cos(M) - 0.021 * np.cos(2.0 * M))
    return _equatorial(along, 0.0, r)


def moon_series(T):
    """The Moon from the Earth (m), likewise."""
    L = 218.31617 + 481267.88088 * T - 1.3972 * T
    l, m, F, D = (np.radians(a + b * T) for a, b in (
        (134.96292, 477198.86753), (357.52543, 35999.04944), (93.27283, 483202.01873), (297.85027, 445267.11135)
    ))  # fmt: skip
    sin, cos = np.sin, np.cos
    off = (
        22640.0 * sin(l) + 769.0 * sin(2 * l) - 4586.0 * sin(l - 2 * D) + 2370.0 * sin(2 * D) - 668.0 * sin(m)
        - 412.0 * sin(2 * F) - 212.0 * sin(2 * l - 2 * D) - 206.0 * sin(l + m - 2 * D) + 192.0 * sin(l + 2 * D)
        - 165.0 * sin(m - 2 * D) + 148.0 * sin(l - m) - 125.0 * sin(D) - 110.0 * sin(l + m) - 55.0 * sin(2 * F - 2 * D)
    )  # fmt: skip
    above = ARC * (
        18520.0 * sin(F + ARC * (off + 412.0 * sin(2 * F) + 541.0 * sin(m))) - 526.0 * sin(F - 2 * D)
        + 44.0 * sin(l + F - 2 * D) - 31.0 * sin(-l + F - 2 * D) - 25.0 * sin(-2 * l + F) - 23.0 * sin(m + F - 2 * D)
        + 21.0 * sin(-l + F) + 11.0 * sin(-m + F - 2 * D)
    )  # fmt: skip
    r = 1e3 * (
        385000.0 - 20905.0 * cos(l) - 3699.0 * cos(2 * D - l) - 2956.0 * cos(2 * D) - 570.0 * cos(2 * l)
        + 246.0 * cos(2 * l - 2 * D) - 205.0 * cos(m - 2 * D) - 171.0 * cos(l + 2 * D) - 152.0 * cos(l + m - 2 * D)
    )  # fmt: skip
    return _equatorial(np.radians(L) + ARC * off, above, r)


def _equatorial(longitude, latitude, r):
    """A place by ecliptic longitude and latitude, in the axes of the equator."""
    flat = r * np.cos(latitude)
    x, y, z = flat * np.cos(longitude), flat * np.sin(longitude), r * np.sin(latitude)
    c, s = np.cos(OBLIQUITY), np.sin(OBLIQUITY)
    return x, c * y - s * z, s * y + c * z


SERIES = {"sun": sun_series, "moon": moon_series}


# ------------------------------------------------------------------ the record
@dataclass(frozen=True, eq=False, repr=False)
class Ephemeris(AsMade):
    """Where a body is, as seen from a centre; ``polhode.surroundings.ephemeris`` makes it."""

    maker = "ephemeris"
    arguments: Mapping[str, Any]  # the arguments of ``ephemeris``, in JSON types
    body: str  # which one
    mu: float  # its gravity parameter, m^3 / s^2
    times: Array  # (n,): of the rows of the table, s from the epoch
    positions: Array  # (n, 3): there, m
    error: float  # largest error of the interpolation between the rows, m

    def at(self, t: float | Array) -> Array:
        """The position (m) at a time or times of the run.

        The user's functions may ask for it, and are compiled with the built-in series."""
        if holds_tracers((t,)) and self.arguments["source"] == "builtin":
            return array_of(list(SERIES[self.body](_centuries(epoch_of(self.arguments["epoch"]), t))))
        when = array(t, "t", "s")
        if when.size and not (self.times[0] <= when.min() and when.max() <= self.times[-1]):
            raise InvalidInput(
                f"t goes from {when.min():g} to {when.max():g}, but this ephemeris of {self.body!r} from "
                f"{self.times[0]:g} to {self.times[-1]:g}; give it another start or stop"
            )
        return values_at(self.times, self.positions, slopes_through(self.times, self.positions), when)


def _centuries(epoch: Epoch, t: Any) -> Array | Tracer:
    """Julian centuries of TT from J2000 to times (s) after an epoch."""
    shift = {"UTC": 64.184, "TAI": 32.184}.get(epoch.scale, 0.0)  # on a count of UTC that contains its leap seconds
    since = float(epoch.since) + shift
    T = (since - J2000) / CENTURY + t / CENTURY
    return T - tdb_less_tt(since + t) / CENTURY if epoch.scale == "TDB" else T


@answering
def ephemeris(
    body: Literal["sun", "moon", "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune"],
    epoch: str | None = None,
    stop: Time | None = None,
    *,
    start: Time = 0.0,
    centre: str = "earth",
    source: str = "builtin",
    tolerance: Length = 1.0,
    digest: str = "",
) -> Ephemeris:
    """Where the Sun, the Moon or a planet is during a run, for ``third_body``, ``radiation_pressure`` and shadows.

    Positions are SI, in the axes of the Earth's equator of J2000 (of the ICRS with other sources), geometric: light
    time and aberration are neglected.

    Parameters
    ----------
    body : str
        "sun", "moon", "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus" or "neptune".
    epoch : str
        Instant of time 0 of the run, such as "2026-03-20T12:00:00 UTC". A scenario may leave it out, and ``stop``, and
        have them under [run].
    stop, start : float
        Times of the run from which and to which it is needed, s; beyond, a run ends with a message.
    centre : str
        The body at the origin of the run.
    source : str
        "builtin": series for the Sun and the Moon about the Earth, good to 1 and 6 arc minutes. "astropy": the
        ephemeris that comes with astropy (``polhode[astropy]``). Or the path of a JPL file (``.bsp``), which astropy
        reads if jplephem is installed.
    tolerance : float
        Largest error of the interpolation in the table, m.
    digest : str
        SHA-256 that a .bsp file must have; runs record it, so that they are repeated with the same file.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; a body that the source does not have.
    MissingExtra
        A source without astropy or jplephem.
    FileProblem
        A file that cannot be read.

    Examples
    --------
    >>> moon = ephemeris("moon", "2026-03-20T12:00:00 UTC", 86400.0)
    >>> float(np.linalg.norm(moon.at(0.0)).round(-6))
    369000000.0
    """
    choice(body, "body", BODIES)
    choice(centre, "centre", BODIES)
    if epoch is None or stop is None:
        what = "epoch is missing; give the instant of time 0, such as '2026-03-20T12:00:00 UTC'"
        raise InvalidInput(what if epoch is None else "stop is missing; give the time at which the run ends")
    instant = epoch_of(epoch)
    first, last = number(start, "start", "s"), number(stop, "stop", "s")
    if not last > first:
        raise InvalidInput(f"stop is {last:g}, not after start, {first:g}; give the time at which the run ends")
    if body == centre:
        raise InvalidInput(f"body is {body!r}, which is the centre itself; take another one")
    within, known = number(tolerance, "tolerance", "m", positive=True), text(digest, "digest")
    if not isinstance(source, str | pathlib.Path):
        raise InvalidInput(f"source must be 'builtin', 'astropy' or the path of a .bsp file, not {shown(source)}")
    if source == "builtin":
        if body not in WITHIN or centre != "earth":
            raise InvalidInput(f"the built-in series are those of the Sun and the Moon from the Earth, not of {body!r} "
                               f"from {centre!r}; give source='astropy'")  # fmt: skip
    elif source != "astropy":
        source = checked_path(source, "source")
        if not pathlib.Path(source).is_file():
            raise InvalidInput(f"source is {shown(source)}, which is no file; give 'builtin', 'astropy' or the path of "
                               "a .bsp file")  # fmt: skip
        known = reading.same(source, "ephemeris", known)
    times, positions, error = _table_of_body(body, centre, str(source), instant, first, last, within, known)
    arguments = {"body": body, "epoch": str(instant), "stop": last, "start": first, "centre": centre,
                 "source": str(source), "tolerance": within, **({"digest": known} if known else {})}  # fmt: skip
    return Ephemeris(arguments, body, BODIES[body], times, positions, error).sealed()


Ephemerides = Annotated[Ephemeris | Mapping[str, Any], TableOf(ephemeris)]


def ephemeris_of(given: object) -> Ephemeris:
    """An ephemeris from its arguments, or as it is."""
    if isinstance(given, Mapping) and given.get("body") is None:
        raise InvalidInput(f"ephemeris has no body; give one of {', '.join(BODIES)}")
    return Ephemeris.unchanged(ephemeris, given, "ephemeris", "give its numbers as times and positions")


@lru_cache(32)
def _table_of_body(
    body: str, centre: str, source: str, epoch: Epoch, first: float, last: float, within: float, digest: str
) -> tuple[Any, Any, float]:
    """Times, positions, and the error of the spline through them between the rows."""
    step = min(COARSEST, last - first)
    while True:
        count = int(np.ceil((last - first) / step)) + 1
        if count > MOST_ROWS or step < min(FINEST, last - first):
            raise InvalidInput(f"tolerance is {within:g} m, which a table of {MOST_ROWS} rows from {first:g} to "
                               f"{last:g} does not keep; raise it, or take a shorter span")  # fmt: skip
        times = first + step * np.arange(-MARGIN, count + MARGIN, dtype=float)
        fine = first + 0.5 * step * np.arange(-2 * MARGIN, 2 * (count + MARGIN) - 1, dtype=float)
        dense = _positions(body, centre, source, epoch, fine)
        there = slice(2 * MARGIN + 1, -2 * MARGIN, 2)
        off = values_at(times, dense[::2], slopes_through(times, dense[::2]), fine[there]) - dense[there]
        error = float(np.linalg.norm(off, axis=1).max())
        if error <= within:
            return times, dense[::2].copy(), error
        step *= 0.5


def _positions(body: str, centre: str, source: str, epoch: Epoch, times: np.ndarray) -> Array:
    """Positions (n, 3), m, by a source."""
    if source == "builtin":
        return np.stack(SERIES[body](_centuries(epoch, times)), axis=-1)
    needed = f"source={source!r} needs astropy: pip install 'polhode[astropy]'"
    coordinates, clock = (extra(f"astropy.{name}", needed) for name in ("coordinates", "time"))
    begin = clock.Time(2451544.5, format="jd", scale="tai" if epoch.scale == "UTC" else epoch.scale.lower())
    whole, part = divmod(epoch.since + (32 if epoch.scale == "UTC" else 0), 86400)
    begin = begin + clock.TimeDelta(float(whole), float(part) / 86400.0, format="jd")
    when = begin + clock.TimeDelta(times, format="sec")
    kernel = "builtin" if source == "astropy" else source
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*dubious year")  # of UTC, far from now: leap seconds to come
            there, here = (coordinates.get_body_barycentric(one, when, ephemeris=kernel) for one in (body, centre))
    except ImportError:
        raise MissingExtra("a .bsp file needs jplephem: pip install jplephem") from None
    except KeyError:
        raise InvalidInput(f"{source} has no {body!r} or no {centre!r}; give a file that has both") from None
    except (OSError, ValueError) as problem:
        raise FileProblem(f"{source} cannot be read for {body!r} from {centre!r} at this epoch: {problem}") from None
    return np.array((there - here).xyz.to_value("m")).T


AT_REST, ON_CIRCLE, TABLE = range(3)
"""Forms of a path, its first number. Behind it: three coordinates; rate, phase and the radius times two unit vectors;
number of rows, then the rows of time, position and slope."""
ROW = 7  # numbers of a row of a table
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
    placed = (float(ON_CIRCLE), rate, angle, *(size * node).tolist(), *(size * ahead).tolist())
    return Path({"circle": arguments}, placed, "on a circle")


Circle = Annotated[Mapping[str, Any], TableOf(circle)]
of_circle = circle  # the same where an argument is called so


def path_of(
    position: object, times: object, positions: object, circle: object, ephemeris: object = None,
    what: str = "the other body: ",
) -> Path:  # fmt: skip
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
        if not isinstance(circle, Mapping):
            raise InvalidInput(f"circle must be a mapping with radius and period, not {shown(circle)}")
        for name in circle:
            choice(name, "key of circle", ("radius", "period", "phase", "normal"))
        for name in ("radius", "period"):
            if circle.get(name) is None:
                raise InvalidInput(f"circle has no {name}; give radius and period")
        return called(of_circle, circle)
    if ephemeris is not None:
        seen = ephemeris_of(ephemeris)
        return Path({"ephemeris": dict(seen.arguments)}, _table(seen.times, seen.positions).numbers,
                    f"by an ephemeris of the {seen.body}")  # fmt: skip
    if times is None or positions is None:
        missing = "times" if times is None else "positions"
        raise InvalidInput(f"{missing} is missing; a table needs times and positions")
    return _table(times, positions)


def path_to_sun(
    direction: object, position: object, times: object, positions: object, circle: object,
    ephemeris: object = None,
) -> Path:  # fmt: skip
    """As ``path_of``, for the Sun, which may be infinitely far away in a direction, a unit vector at rest."""
    if direction is None:
        return path_of(position, times, positions, circle, ephemeris, "the Sun: direction, ")
    if any(value is not None for value in (position, times, positions, circle, ephemeris)):
        raise InvalidInput("direction is given beside a place of the Sun; leave one of them out")
    told, placed = plain(direction, "direction"), (float(AT_REST), *unit_vector(direction, "direction"))
    return Path({"direction": told}, placed, "at rest")


def _table(times: object, positions: object) -> Path:
    """A table of positions, with the slopes of the spline through them."""
    points, slopes = table_of_rows(positions, "positions", 3, 4, "m"), None
    epochs = numbers(times, "times", "s")
    if len(epochs) != len(points):
        raise InvalidInput(f"times has {len(epochs)} entries, but positions {len(points)}; give one place for each")
    if not (np.diff(epochs) > 0).all():
        raise InvalidInput("times must rise from row to row; sort the table")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"), contextlib.suppress(ZeroDivisionError):
        slopes = slopes_through(epochs, points)
    if slopes is None or not np.isfinite(slopes).all():
        raise InvalidInput("positions change faster than numbers tell; check the units of times and positions")
    rows = np.column_stack([epochs, points, slopes])
    placed = (float(TABLE), float(len(rows)), *rows.ravel().tolist())
    return Path({"times": epochs.tolist(), "positions": points.tolist()}, placed, "along a table")


# ------------------------------------------------------------------ arguments
def table_of_rows(value: object, name: str, width: int, least: int, unit: str) -> Array:
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
        A circle about the origin: ``radius``, ``period`` (negative: clockwise), and optionally ``phase`` (rad, at time
        0, from the ascending node on the plane z = 0, or from x if the circle lies in that plane) and ``normal``; or
    ephemeris : Ephemeris, optional
        From ``polhode.surroundings.ephemeris``, or a mapping of its arguments: Sun, Moon and planets. The run is then
        in SI units.

    Returns
    -------
    Surrounding
        A place (m, space), such as the ``sun`` or ``moon`` that ``polhode.loads.third_body`` reads.

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
