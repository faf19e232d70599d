"""The text of orbit and attitude ephemeris messages of the CCSDS, in the KVN form (lines ``KEY = value``) [ccsds2009]
[ccsds2008]: their segments with the keys of each and its rows, checked.

Kept packages read such files, too, ``oem`` orbits only, ``ccsds-ndm`` both; but the latter takes a torn file, the 41st
of March, and a message without time system as they come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import path as checked_path
from polhode.epochs import SCALES, Epoch, epoch_of, instants
from polhode.errors import InvalidInput, shown, unknown_name

GPS_TO_TAI = Decimal(19)
TIME_SYSTEMS = (*SCALES, "GPS")
"""GPS, which is TAI - 19 s, is read as TAI."""
USUAL = ("HERMITE", 7)
"""Interpolation of an orbit whose file states none."""
MOST_DEGREE = 49
INTERPOLATIONS = ("HERMITE", "LAGRANGE", "LINEAR")
VERSIONS = {"OEM": ("1.0", "2.0", "3.0"), "AEM": ("1.0", "2.0")}
NEEDED = {"OEM": ("OBJECT_NAME", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM"),
          "AEM": ("OBJECT_NAME", "REF_FRAME_A", "REF_FRAME_B", "TIME_SYSTEM", "ATTITUDE_TYPE")}  # fmt: skip
"""Keys of META without which the numbers mean nothing."""
SAME = {"OEM": ("OBJECT_NAME", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM"),
        "AEM": ("OBJECT_NAME", "REF_FRAME_A", "REF_FRAME_B", "TIME_SYSTEM")}  # fmt: skip
"""Keys that all segments of a file must share."""
KEY = re.compile(r"([A-Z][A-Z0-9_]*)\s*=\s*(.*)")


LARGEST = 1e100
"""No number of a message is as large; in metres, and squared, it would overflow."""


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


def read(given: Any, kind: str) -> Message:
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
    inside = "the header"
    for line, words in lines[1:]:
        inside = _next(message, inside, line, words)
    if not message.segments:
        raise InvalidInput(f"{file.name} has no META_START; give an {kind} file with a segment of data")
    if inside == "META":
        raise message.wrong(message.segments[-1].line, "begins META, which no META_STOP ends; the file may be torn: "
                                                       "fetch it again")  # fmt: skip
    first = message.segments[0]
    for part in message.segments:
        _check(message, part, first)
    return message


def _next(message: Message, inside: str, line: int, words: str) -> str:
    """Read one line; ``inside`` and what is returned: the header, META, data, or covariances, which are skipped."""
    if inside == "covariances":
        return "data" if words == "COVARIANCE_STOP" else inside
    if words == "META_START":
        if inside == "META":
            raise message.wrong(line, "begins META within META; write META_STOP before it")
        message.segments.append(Part(line, {}, []))
        return "META"
    if inside == "META":
        if words == "META_STOP":
            return "data"
        match = KEY.fullmatch(words)
        if match is None:
            raise message.wrong(
                line, f"is {shown(words)} within META; write KEY = value there, and META_STOP before data"
            )
        message.segments[-1].meta[match[1]] = match[2].strip()
        return inside
    if inside == "data":
        if words == "COVARIANCE_START":
            return "covariances"
        if words not in ("DATA_START", "DATA_STOP"):
            message.segments[-1].rows.append(_row(message, message.segments[-1], line, words))
    elif KEY.fullmatch(words) is None:
        raise message.wrong(line, f"is {shown(words)} before any META; write META_START ... META_STOP before data")
    return inside


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
    scale = scale_of(named)
    try:
        instant = epoch_of(stamp.removesuffix("Z"), scale, "the time")
    except InvalidInput as problem:
        raise message.wrong(line, f"cannot be read: {problem}") from None
    if instant.scale != scale:
        raise message.wrong(line, f"has the time {shown(stamp)}, but TIME_SYSTEM is {named}; leave the scale out")
    return instant.since + (GPS_TO_TAI if named == "GPS" else 0)


def scale_of(named: str) -> str:
    return "TAI" if named == "GPS" else named


def _check(message: Message, part: Part, first: Part) -> None:
    """Refuse a segment without what its numbers mean, or with times that do not increase."""
    for key in NEEDED[message.kind]:
        if not part.meta.get(key):
            raise message.wrong(part.line, f"begins META without {key}; add it")
    for key in SAME[message.kind]:
        if part.meta[key].upper() != first.meta[key].upper():
            raise message.wrong(part.line, f"begins a segment with {key} {shown(part.meta[key])}, but the first has "
                                           f"{shown(first.meta[key])}; split the file")  # fmt: skip
    if not part.rows:
        raise message.wrong(part.line, "begins a segment without data; add rows or leave the segment out")
    for (_, before, _), (line, since, _) in zip(part.rows, part.rows[1:], strict=False):
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


def asked(at: Any, system: str, name: str) -> Decimal:
    """Seconds since 2000-01-01T00:00:00 of an instant, in the scale that times of this system are read in."""
    scale = scale_of(system)
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
