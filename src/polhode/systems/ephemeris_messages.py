"""Orbits and attitudes from files of the CCSDS: orbit ephemeris messages (OEM) [ccsds2009] and attitude ephemeris
messages (AEM) [ccsds2008], in the KVN form (lines ``KEY = value``).

    start = ph.initial.oem("chief.oem", at="2026-03-01T12:00:00 UTC")
    ds = ph.integrate(ph.orbit(mu), step=10.0, t_end=5400.0, **start.start(), settings={"epoch": start.epoch})

Positions come from km and km/s in m and m/s, in the axes that the file names; nothing is rotated. Attitudes are turned
into the quaternion of polhode, scalar first, which takes the body to space, x_space = R(q) x_body.
``polhode.trajectory.export`` writes such files and says which quaternion of the standard that is.

**Between rows.** An orbit follows the polynomial that the file states: ``LAGRANGE`` of degree d through d + 1 rows,
positions and velocities apart; ``HERMITE`` through (d + 1) / 2 rows and their slopes; ``LINEAR``. Where it states none
it is HERMITE of degree 7. Rows are those around the instant, of one segment, all of them where it has fewer. An
attitude follows the shortest arc between two rows (slerp), its angular velocity a straight line. At a row there are the
numbers of the row; where two segments meet, those of the later one.

Kept packages read such files, too, ``oem`` orbits only, ``ccsds-ndm`` both; but the latter takes a torn file, the 41st
of March, and a message without time system as they come.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from polhode import reading
from polhode.algebra.quaternion import multiply
from polhode.arguments import Array, ArrayLike, array, number, path as checked_path
from polhode.arguments.recorded import frozen
from polhode.epochs import SCALES, Epoch, epoch_of, instants
from polhode.errors import InvalidInput, answering, shown, unknown_name

KM = 1e3
ATTITUDE_TYPES = {"QUATERNION": 4, "QUATERNION/RATE": 8, "QUATERNION/DERIVATIVE": 8}
"""Types of attitude that are read, and how many numbers their rows have."""
TURNING = ("ITRF", "GRC", "TDR", "EFG", "WGS", "IAU_", "LVLH", "VVLH", "RTN", "RSW", "QSW", "TNW", "NTW", "SEZ")
"""Beginnings of the names of axes that turn, with the Earth or along the orbit, in which no run may be."""
BODY = "SC_BODY"
UNIT_NORM = 1e-3  # largest difference of the norm of a quaternion from 1; fewer digits than that are a mistake
ROUNDED = 1e-12  # quaternions whose norm is nearer to 1 stay as they are written
GPS_TO_TAI = Decimal(19)
TIME_SYSTEMS = (*SCALES, "GPS")
SCALE_OF = {"GPS": "TAI"}  # in which scale times are read: GPS, which is TAI - 19 s, as TAI
USUAL = ("HERMITE", 7)  # interpolation of an orbit whose file states none
MOST_DEGREE = 49
INTERPOLATIONS = ("HERMITE", "LAGRANGE", "LINEAR")
VERSIONS = {"OEM": ("1.0", "2.0", "3.0"), "AEM": ("1.0", "2.0")}
NEEDED = {"OEM": ("OBJECT_NAME", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM"),
          "AEM": ("OBJECT_NAME", "REF_FRAME_A", "REF_FRAME_B", "TIME_SYSTEM", "ATTITUDE_TYPE")}  # fmt: skip
"""Keys of META without which the numbers mean nothing; all segments share them, but for the type of attitudes."""
KEY = re.compile(r"([A-Z][A-Z0-9_]*)\s*=\s*(.*)")
LARGEST = 1e100  # no number of a message is as large; in metres, and squared, it would overflow


# ------------------------------------------------------------------ the records
@dataclass(frozen=True)
class Segment:
    """Rows of a message across which one may interpolate."""

    first: int  # first, last: its rows, ``times[first:last]``
    last: int
    start: float  # start, stop: span in which they may be used, s from the epoch
    stop: float
    interpolation: str  # HERMITE, LAGRANGE or LINEAR; SLERP of attitudes
    degree: int  # of the polynomial


@dataclass(frozen=True, eq=False)
class _Ephemeris:
    """What both kinds of messages have."""

    object_name: str  # object_name to time_system: as the file has them; the centre is empty where an AEM names none
    object_id: str
    centre: str
    frame: str
    time_system: str
    epoch: str  # time 0, as ``settings={"epoch": ...}`` of a run takes it
    times: Array  # (n,): of all rows, s from the epoch
    segments: tuple[Segment, ...] = field(repr=False)  # between them nothing is known
    source: str  # name of the file
    _within: ClassVar[Any]  # what the rows of a segment come to at times within

    def _at(self, t: ArrayLike, size: int) -> list[Array]:
        """Numbers at times: the first so many, and those behind; where two segments meet, those of the later one."""
        when = array(t, "t", "s")
        flat = when.ravel()
        where, found = np.full(flat.shape, -1), np.empty((flat.size, size + 3))
        for k, segment in enumerate(self.segments):
            near = 1e-9 * max(1.0, abs(segment.start), abs(segment.stop))  # sums of steps are rounded
            where[(flat >= segment.start - near) & (flat <= segment.stop + near)] = k
        if (where < 0).any():
            spans = ", ".join(f"{one.start:.9g} to {one.stop:.9g}" for one in self.segments[:3])
            more = " and so on" * (len(self.segments) > 3)
            raise InvalidInput(
                f"t is {flat[where < 0][0]:.9g} s after {self.epoch}, but {self.source} may be used from "
                f"{spans}{more}; give a time within"
            )
        for k in np.unique(where).tolist():
            one = self.segments[k]
            times = np.clip(flat[where == k], one.start, one.stop)
            found[where == k] = self._within(slice(one.first, one.last), one, times)
        return [part.reshape(*when.shape, part.shape[1]) for part in np.split(found, [size], axis=1)]

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}({self.object_name!r}, {len(self.times)} rows in {self.frame}, epoch {self.epoch})"


@dataclass(frozen=True, eq=False, repr=False)
class OrbitEphemeris(_Ephemeris):
    """The orbit of an orbit ephemeris message; ``polhode.initial.oem`` makes it."""

    positions: Array  # positions, velocities: (n, 3): of all rows, m and m / s
    velocities: Array
    accelerations: Array | None  # (n, 3) or None: m / s^2, where the file has them
    position: Array | None = None  # position, velocity: (3,): at the epoch, m and m / s, in the axes of ``frame``
    velocity: Array | None = None

    def at(self, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Position (m) and velocity (m / s)."""
        r, v = self._at(t, 3)
        return r, v

    def _within(self, rows: slice, segment: Segment, t: Array) -> Array:
        """Positions and velocities at times in a segment, (n, 6)."""
        times, r, v = self.times[rows], self.positions[rows], self.velocities[rows]
        a = None if self.accelerations is None else self.accelerations[rows]
        hermite = segment.interpolation == "HERMITE"
        count = min(len(times), (segment.degree + 2) // 2 if hermite else segment.degree + 1)
        middles = np.convolve(times - times[0], np.full(count, 1.0 / count), "valid") + times[0]
        firsts = np.searchsorted(0.5 * (middles[1:] + middles[:-1]), t)
        found = np.empty((t.size, 6))
        for first in np.unique(firsts).tolist():
            here, part = firsts == first, slice(first, first + count)
            if hermite:
                found[here, :3], found[here, 3:] = _polynomial(times[part], r[part], v[part], t[here])
                if a is not None:
                    found[here, 3:] = _polynomial(times[part], v[part], a[part], t[here])[0]
            else:
                found[here] = _polynomial(times[part], np.hstack([r[part], v[part]]), None, t[here])[0]
        row = np.minimum(np.searchsorted(times, t), len(times) - 1)
        exact = times[row] == t
        found[exact] = np.hstack([r[row[exact]], v[row[exact]]])
        return found

    def start(self, t: float = 0.0) -> dict[str, Any]:
        """Position and velocity as arguments of ``integrate``: ``integrate(orbit, ..., **ephemeris.start())``.

        Time 0 of the run is then t seconds after the epoch."""
        _fixed(self.frame, "REF_FRAME", self.source)
        r, v = self.at(number(t, "t", "s"))
        return {"position": r, "velocity": v}

    def table(self) -> dict[str, Any]:
        """The rows that may be used, as arguments of forces: ``forces.third_body(mu=..., **ephemeris.table())``."""
        _fixed(self.frame, "REF_FRAME", self.source)
        rows: list[int] = []
        for segment in self.segments:
            for k in range(segment.first, segment.last):
                usable = segment.start <= self.times[k] <= segment.stop
                if usable and not (rows and self.times[k] <= self.times[rows[-1]]):
                    rows.append(k)
        return {"times": self.times[rows], "positions": self.positions[rows]}


@dataclass(frozen=True, eq=False, repr=False)
class AttitudeEphemeris(_Ephemeris):
    """The attitude of an attitude ephemeris message; ``polhode.initial.aem`` makes it."""

    body_frame: str  # frame, body_frame: names of the axes of space and of the body
    attitudes: Array  # (n, 4): of all rows, as ``attitude``
    angular_velocities: Array | None  # (n, 3) or None: of all rows, as ``angular_velocity``
    attitude: Array | None = None  # (4,): at the epoch: unit quaternion, scalar first, body to space
    # (3,) or None: there: angular velocity in the body frame, rad / s, where the file has rates
    angular_velocity: Array | None = None

    def at(self, t: ArrayLike = 0.0) -> tuple[Array, Array | None]:
        """Quaternion (scalar first, body to space) and angular velocity (body frame, rad / s)."""
        q, omega = self._at(t, 4)
        return q, None if self.angular_velocities is None else omega

    def _within(self, rows: slice, segment: Segment, t: Array) -> Array:
        """Quaternions and angular velocities at times in a segment, (n, 7)."""
        known, q = self.times[rows], self.attitudes[rows]
        omega = np.zeros((len(q), 3)) if self.angular_velocities is None else self.angular_velocities[rows]
        k = np.clip(np.searchsorted(known, t, "right") - 1, 0, max(0, len(known) - 2))
        after = np.minimum(k + 1, len(known) - 1)
        x = ((t - known[k]) / np.where(after > k, known[after] - known[k], 1.0))[:, None]
        inner = np.where(x == 1.0, omega[after], omega[k] + x * (omega[after] - omega[k]))
        return np.hstack([_slerp(q[k], q[after], x), inner])

    def start(self, t: float = 0.0) -> dict[str, Any]:
        """Attitude, and angular velocity where the file has rates, as arguments of ``integrate``.

        Time 0 of the run is then t seconds after the epoch."""
        q, omega = self.at(number(t, "t", "s"))
        return {"attitude": q} | ({} if omega is None else {"angular_velocity": omega})


# ------------------------------------------------------------------ the readers
@answering
def oem(path: str | os.PathLike[str], at: object = None) -> OrbitEphemeris:
    """Read an orbit ephemeris message (OEM, KVN form) [ccsds2009].

    Parameters
    ----------
    path : path
        The file. Comments and covariances are skipped.
    at : str, datetime or astropy Time, optional
        The instant that is time 0 of what is returned; without a time scale it is in that of the file. The beginning of
        the span in which the file may be used by default.

    Returns
    -------
    OrbitEphemeris
        Position and velocity there, and all rows.

    Raises
    ------
    InvalidInput
        No such file, or one that is not as the standard has it, by its line; an instant outside of its span;
        segments of several objects, frames, centres or time systems.
    MissingExtra
        ``at`` in another time system than a file in TDB, or in TDB, without astropy.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> mu, start = ph.planets.EARTH.mu, {"position": (6878e3, 0, 0), "velocity": (0, 7.613e3, 0)}
    >>> ds = ph.integrate(ph.orbit(mu), step=60.0, steps=90, start=start, settings={"units": "SI"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ph.trajectory.export.oem(ds, f"{folder}/a.oem", object_name="CRAFT", center_name="EARTH",
    ...                                     epoch="2026-03-20T12:00:00 UTC")
    ...     read = ph.initial.oem(file, at="2026-03-20T12:10:00")
    >>> bool(abs(read.position - ds.position[10]).max() < 0.01)
    True
    """
    return orbit_message(path, at)


@answering
def aem(path: str | os.PathLike[str], at: object = None) -> AttitudeEphemeris:
    """Read an attitude ephemeris message (AEM, KVN form) with quaternions, or quaternions and their rates [ccsds2008].

    One of REF_FRAME_A and REF_FRAME_B must be the body, ``SC_BODY`` or ``SC_BODY_1``, the other axes that do not turn.

    Parameters
    ----------
    path : path
        The file. Comments are skipped.
    at : str, datetime or astropy Time, optional
        As of ``oem``.

    Returns
    -------
    AttitudeEphemeris
        Attitude there, with its angular velocity where the file has rates, and all rows.

    Raises
    ------
    InvalidInput, MissingExtra
        As ``oem``; attitudes of another type, or between other frames.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=1.0, steps=60, angular_velocity=(0.02, 0.1, 0.01))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ph.trajectory.export.aem(ds, f"{folder}/a.aem", object_name="CRAFT", epoch="2026-03-20T12:00:00 UTC")
    ...     read = ph.initial.aem(file, at="2026-03-20T12:00:10")
    >>> bool(ph.rotation.angle_between(read.attitude, ds.attitude[10]) < 1e-6)
    True
    """
    return attitude_message(path, at)


def orbit_message(path: object, at: object = None, name: str = "at") -> OrbitEphemeris:
    """As ``oem``; errors call the instant by ``name``."""
    message = read(path, "OEM")
    parts = message.segments
    width = len(parts[0].rows[0][2])
    degrees = [interpolation(message, part) for part in parts]
    for part in parts:
        for line, _, values in part.rows:
            if len(values) not in (6, 9):
                raise message.wrong(line, f"has {len(values)} numbers behind the time; give position and velocity, 6 "
                                          "numbers, or with the acceleration 9")  # fmt: skip
            if len(values) != width:
                raise message.wrong(line, f"has {len(values)} numbers behind the time, but rows before it {width}; "
                                          "give as many in all rows")  # fmt: skip
    table: Array = KM * np.array([row[2] for part in parts for row in part.rows])
    made = OrbitEphemeris(
        **_common(message, at, name, degrees), centre=parts[0].meta["CENTER_NAME"], frame=parts[0].meta["REF_FRAME"],
        positions=frozen(table[:, :3]), velocities=frozen(table[:, 3:6]),
        accelerations=frozen(table[:, 6:]) if width == 9 else None,
    )  # fmt: skip
    r, v = made.at(0.0)
    return replace(made, position=frozen(r), velocity=frozen(v))


def attitude_message(path: object, at: object = None, name: str = "at") -> AttitudeEphemeris:
    """As ``aem``; errors call the instant by ``name``."""
    message = read(path, "AEM")
    kinds = [part.meta["ATTITUDE_TYPE"].upper() for part in message.segments]
    for part, kind in zip(message.segments, kinds, strict=True):
        if kind not in ATTITUDE_TYPES:
            raise message.wrong(part.line, f"begins a segment of ATTITUDE_TYPE {shown(kind)}; give one of quaternions, "
                                           "QUATERNION or QUATERNION/RATE")  # fmt: skip
        if ATTITUDE_TYPES[kind] != ATTITUDE_TYPES[kinds[0]]:
            raise message.wrong(part.line, f"begins a segment of ATTITUDE_TYPE {kind}, but the first is {kinds[0]}; "
                                           "split the file")  # fmt: skip
    turned = [_quaternions(message, part, ATTITUDE_TYPES[kinds[0]]) for part in message.segments]
    space, body, _ = _frames(message, message.segments[0])
    common = _common(message, at, name, [("SLERP", 1)] * len(turned))
    rates = None if turned[0][1] is None else frozen(np.vstack([w for _, w in turned]))
    made = AttitudeEphemeris(
        **common, centre=message.segments[0].meta.get("CENTER_NAME", ""), frame=space, body_frame=body,
        attitudes=frozen(np.vstack([q for q, _ in turned])), angular_velocities=rates,
    )  # fmt: skip
    q, omega = made.at(0.0)
    return replace(made, attitude=frozen(q), angular_velocity=None if omega is None else frozen(omega))


def _common(message: Message, at: object, name: str, degrees: list[tuple[str, int]]) -> dict[str, Any]:
    """What both kinds of messages have: names, the epoch, times from it, and segments."""
    meta = message.segments[0].meta
    system = meta["TIME_SYSTEM"].upper()
    spans = [usable(message, part) for part in message.segments]
    for (before, after), part in zip(pairwise(spans), message.segments[1:], strict=True):
        if after[0] < before[1]:
            raise message.wrong(part.line, "begins a segment that may be used before the one before it ends; give both "
                                           "USEABLE_START_TIME and USEABLE_STOP_TIME")  # fmt: skip
    scale = SCALE_OF.get(system, system)
    zero = spans[0][0]
    if at is not None:
        zero = asked(at, system, name)
        if not any(first <= zero <= last for first, last in spans):
            said, begin, end = (Epoch(scale, since) for since in (zero, spans[0][0], spans[-1][1]))
            if begin.since < zero < end.since:
                raise InvalidInput(f"{name} is {said}, between two segments of {message.name}; give an instant within "
                                   "one of them")  # fmt: skip
            raise InvalidInput(f"{name} is {said}, but {message.name} may be used from {begin} to {end}; give an "
                               "instant within")  # fmt: skip
    ends = [0, *accumulate(len(part.rows) for part in message.segments)]
    uses = [(float(first - zero), float(last - zero)) for first, last in spans]
    segments = [Segment(*rows, *use, *how) for rows, use, how in zip(pairwise(ends), uses, degrees, strict=True)]
    times = np.array([float(since - zero) for part in message.segments for _, since, _ in part.rows])
    return {"object_name": meta["OBJECT_NAME"], "object_id": meta.get("OBJECT_ID", ""), "time_system": system,
            "epoch": str(Epoch(scale, zero)), "times": frozen(times), "segments": tuple(segments),
            "source": message.name}  # fmt: skip


# ------------------------------------------------------------------ frames and quaternions
def _fixed(frame: str, key: str, source: str) -> None:
    """Refuse axes that turn."""
    if frame.upper().startswith(TURNING):
        raise InvalidInput(f"{key} of {source} is {shown(frame)}, axes that turn; give a file in axes that do not, "
                           "such as EME2000 or ICRF")  # fmt: skip


def _frames(message: Message, part: Part) -> tuple[str, str, bool]:
    """Frame of space, frame of the body, and whether the rotation that is written takes the first to the second."""
    a, b = part.meta["REF_FRAME_A"], part.meta["REF_FRAME_B"]
    bodies = [name.upper().startswith(BODY) for name in (a, b)]
    if sum(bodies) != 1:
        raise message.wrong(part.line, f"begins META with REF_FRAME_A {shown(a)} and REF_FRAME_B {shown(b)}; give one "
                                       f"that is the body, {BODY}_1, and one of space, such as ICRF")  # fmt: skip
    space, body = (b, a) if bodies[0] else (a, b)
    _fixed(space, f"REF_FRAME_{'B' if bodies[0] else 'A'}", message.name)
    direction = part.meta.get("ATTITUDE_DIR", "A2B" if message.version != "1.0" else "").upper()
    if direction not in ("A2B", "B2A"):
        raise message.wrong(part.line, f"begins META with ATTITUDE_DIR {shown(direction)}; give A2B or B2A")
    return space, body, bodies[1] == (direction == "A2B")


def _quaternions(message: Message, part: Part, width: int) -> tuple[Any, Any]:
    """Quaternions (n, 4), scalar first, body to space, and angular velocities (n, 3) in the body frame or None."""
    forth = _frames(message, part)[2]
    order = part.meta.get("QUATERNION_TYPE", "LAST" if message.version != "1.0" else "").upper()
    if order not in ("FIRST", "LAST"):
        raise message.wrong(part.line, f"begins META with QUATERNION_TYPE {shown(order)}; give FIRST or LAST, where "
                                       "the scalar stands")  # fmt: skip
    for line, _, values in part.rows:
        if len(values) != width:
            raise message.wrong(line, f"has {len(values)} numbers behind the time; give {width}, as ATTITUDE_TYPE "
                                      f"{part.meta['ATTITUDE_TYPE']} has")  # fmt: skip
    rows: Array = np.array([row[2] for row in part.rows]).reshape(len(part.rows), -1, 4)
    if order == "LAST":
        rows = np.roll(rows, 1, axis=2)
    if not forth:
        rows = rows * np.array((1.0, -1.0, -1.0, -1.0))
    norms = np.linalg.norm(rows[:, 0], axis=1)
    wrong = np.flatnonzero(~(np.abs(norms - 1.0) < UNIT_NORM))
    if wrong.size:
        k = int(wrong[0])
        raise message.wrong(part.rows[k][0], f"has a quaternion of norm {norms[k]:.6g}; give unit quaternions")
    q = np.where(np.abs(norms - 1.0)[:, None] > ROUNDED, rows[:, 0] / norms[:, None], rows[:, 0])
    if width == 4:
        return q, None
    w, x, y, z = q.T
    return q, 2.0 * np.column_stack(multiply((w, -x, -y, -z), tuple(rows[:, 1].T))[1:])


# ------------------------------------------------------------------ between rows
def _polynomial(nodes: Array, values: Array, slopes: Array | None, t: Array) -> tuple[Array, Array]:
    """Values and slopes at times t (n,) of the polynomial through rows, with their slopes if these are given."""
    from scipy.interpolate import KroghInterpolator  # late: half a second

    h = nodes[-1] - nodes[0] or 1.0
    x = (nodes - nodes[0]) / h
    if slopes is not None:  # a node that is there twice has its slope second
        x, values = np.repeat(x, 2), np.stack([values, h * slopes], axis=1).reshape(-1, values.shape[1])
    curve = KroghInterpolator(x, values)
    s = (t - nodes[0]) / h
    return curve(s), curve.derivative(s) / h


def _slerp(p: Array, q: Array, x: Array) -> Array:
    """Quaternions (n, 4) a part x (n, 1) of the shortest way from p to q; at the ends these themselves."""
    near = np.where(np.sum(p * q, axis=1, keepdims=True) < 0.0, -q, q)
    angle = 2.0 * np.arctan2(np.linalg.norm(near - p, axis=1), np.linalg.norm(near + p, axis=1))[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = np.sin((1.0 - x) * angle) / np.sin(angle), np.sin(x * angle) / np.sin(angle)
    small = angle < 1e-8
    mixed = np.where(small, 1.0 - x, a) * p + np.where(small, x, b) * near
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.where(x == 0.0, p, np.where(x == 1.0, q, mixed))


# ------------------------------------------------------------------ the text
@dataclass
class Part:
    """A segment as text: the line of its META_START, its keys, and its rows (line, s since 2000, numbers)."""

    line: int
    meta: dict[str, str]
    rows: list[tuple[int, Decimal, list[float]]]


@dataclass
class Message:
    """A message as text."""

    name: str
    kind: str
    version: str
    segments: list[Part]

    def wrong(self, line: int, problem: str) -> InvalidInput:
        return InvalidInput(f"{self.name}, line {line}, {problem}")


def read(given: object, kind: str) -> Message:
    """The segments of a file, with all times read."""
    file = Path(checked_path(given))
    lines = [(k, line.strip()) for k, line in enumerate(reading.text(file, kind).splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line and line.split()[0] != "COMMENT"]
    head = KEY.fullmatch(lines[0][1]) if lines else None
    if head is None or head[1] != f"CCSDS_{kind}_VERS":
        xml = " of the KVN form, not XML" * bool(lines and lines[0][1].startswith("<"))
        raise InvalidInput(f"{file.name} does not begin with CCSDS_{kind}_VERS = ...; give an {kind} file{xml}")
    message = Message(file.name, kind, head[2].strip(), [])
    if message.version not in VERSIONS[kind]:
        raise message.wrong(lines[0][0], f"has version {shown(message.version)}; {kind} files of version "
                                         f"{', '.join(VERSIONS[kind])} are read")  # fmt: skip
    inside, parts = "the header", message.segments
    for line, words in lines[1:]:
        match = KEY.fullmatch(words)
        if inside == "covariances":  # which are skipped
            inside = "data" if words == "COVARIANCE_STOP" else inside
        elif words == "META_START":
            if inside == "META":
                raise message.wrong(line, "begins META within META; write META_STOP before it")
            parts.append(Part(line, {}, []))
            inside = "META"
        elif inside == "META":
            if words == "META_STOP":
                inside = "data"
            elif match is None:
                raise message.wrong(
                    line, f"is {shown(words)} within META; write KEY = value there, and META_STOP before data"
                )
            else:
                parts[-1].meta[match[1]] = match[2].strip()
        elif inside == "data":
            if words == "COVARIANCE_START":
                inside = "covariances"
            elif words not in ("DATA_START", "DATA_STOP"):
                parts[-1].rows.append(_row(message, parts[-1], line, words))
        elif match is None:
            raise message.wrong(line, f"is {shown(words)} before any META; write META_START ... META_STOP before data")
    if not parts:
        raise InvalidInput(f"{file.name} has no META_START; give an {kind} file with a segment of data")
    if inside == "META":
        raise message.wrong(
            parts[-1].line, "begins META, which no META_STOP ends; the file may be torn: fetch it again"
        )
    for part in parts:
        _check(message, part, parts[0].meta)
    return message


def _row(message: Message, part: Part, line: int, words: str) -> tuple[int, Decimal, list[float]]:
    """A line of data: its number, its time, its numbers."""
    stamp, *rest = words.split()
    values = []
    for word in rest:
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < LARGEST or "_" in word:
            raise message.wrong(line, f"has {shown(word)}, which is no finite number, or too large; correct it")
        values.append(value)
    return line, _since(message, part, line, stamp), values


def _since(message: Message, part: Part, line: int, stamp: str) -> Decimal:
    """Seconds since 2000-01-01T00:00:00 of a time, in the scale that the segment's times are read in."""
    named = part.meta.get("TIME_SYSTEM", "").upper()
    if not named:
        raise message.wrong(part.line, "begins META without TIME_SYSTEM; add it")
    if named not in TIME_SYSTEMS:
        problem = unknown_name("TIME_SYSTEM", part.meta["TIME_SYSTEM"], TIME_SYSTEMS)
        raise message.wrong(part.line, f"begins META with an {problem}")
    scale = SCALE_OF.get(named, named)
    try:
        instant = epoch_of(stamp.removesuffix("Z"), scale, "the time")
    except InvalidInput as problem:
        raise message.wrong(line, f"cannot be read: {problem}") from None
    if instant.scale != scale:
        raise message.wrong(line, f"has the time {shown(stamp)}, but TIME_SYSTEM is {named}; leave the scale out")
    return instant.since + (GPS_TO_TAI if named == "GPS" else 0)


def _check(message: Message, part: Part, first: dict[str, str]) -> None:
    """Refuse a segment without what its numbers mean, or with times that do not increase."""
    for key in NEEDED[message.kind]:
        if not part.meta.get(key):
            raise message.wrong(part.line, f"begins META without {key}; add it")
    for key in NEEDED[message.kind]:
        if part.meta[key].upper() != first[key].upper() and key != "ATTITUDE_TYPE":
            raise message.wrong(part.line, f"begins a segment with {key} {shown(part.meta[key])}, but the first has "
                                           f"{shown(first[key])}; split the file")  # fmt: skip
    if not part.rows:
        raise message.wrong(part.line, "begins a segment without data; add rows or leave the segment out")
    for (_, before, _), (line, since, _) in pairwise(part.rows):
        if since <= before:
            raise message.wrong(line, "has a time that is not after that of the row before it; sort the rows, and "
                                      "begin a segment where a time occurs twice")  # fmt: skip


def interpolation(message: Message, part: Part) -> tuple[str, int]:
    """Method and degree that a segment states."""
    stated, degree = part.meta.get("INTERPOLATION"), part.meta.get("INTERPOLATION_DEGREE")
    if not stated:
        return USUAL
    method = stated.upper()
    if method not in INTERPOLATIONS:
        problem = unknown_name("INTERPOLATION", stated, INTERPOLATIONS)
        raise message.wrong(part.line, f"begins META with an {problem}")
    if method == "LINEAR":
        return "LINEAR", 1
    if degree is None:
        raise message.wrong(part.line, f"begins META with INTERPOLATION {method} without INTERPOLATION_DEGREE; add it")
    if not degree.isdecimal() or not 1 <= int(degree[:9]) <= MOST_DEGREE:
        raise message.wrong(part.line, f"begins META with INTERPOLATION_DEGREE {shown(degree)}; give a whole number "
                                       f"of 1 to {MOST_DEGREE}")  # fmt: skip
    return method, int(degree)


def asked(at: object, system: str, name: str) -> Decimal:
    """Seconds since 2000-01-01T00:00:00 of an instant, in the scale that times of this system are read in."""
    scale = SCALE_OF.get(system, system)
    instant = epoch_of(at, scale, name)
    if system == "GPS" and epoch_of(at, "TT", name).scale != instant.scale:  # it names no scale
        instant = Epoch(scale, instant.since + GPS_TO_TAI)
    return instants(instant, [0.0], scale)[0]


def usable(message: Message, part: Part) -> tuple[Decimal, Decimal]:
    """From when to when a segment may be used."""
    start, stop = part.rows[0][1], part.rows[-1][1]
    if "USEABLE_START_TIME" in part.meta:
        start = max(start, _since(message, part, part.line, part.meta["USEABLE_START_TIME"]))
    if "USEABLE_STOP_TIME" in part.meta:
        stop = min(stop, _since(message, part, part.line, part.meta["USEABLE_STOP_TIME"]))
    if start > stop:
        raise message.wrong(part.line, "begins a segment whose rows are all outside of USEABLE_START_TIME and "
                                       "USEABLE_STOP_TIME; correct them")  # fmt: skip
    return start, stop


__all__ = ["AttitudeEphemeris", "OrbitEphemeris", "Segment", "aem", "oem"]
