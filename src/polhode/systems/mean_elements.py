"""Mean elements of a satellite, from two lines or a message, and its position and velocity by SGP4 [vallado2006].

The package sgp4 evaluates the theory, in the axes of the true equator and mean equinox of date (TEME). From these
positions come to the equator and equinox of J2000 by the precession of IAU 1976 and the four largest terms of nutation
[vallado2013, sec. 3.7], within 10 m of astropy in a low orbit; the elements themselves are worth a kilometre at their
epoch.

Orbit mean-elements messages of the CCSDS (OMM) [ccsds2009, sec. 4] hold what two-line elements do, with more digits,
and numbers of satellites beyond 339999; catalogues give them as XML, lines ``KEY = value``, JSON or CSV.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, pi
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from polhode import reading
from polhode.arguments import Array, ArrayLike, array, choice, path as checked_path, text, whole
from polhode.epochs import Epoch, epoch_of, instants
from polhode.errors import InvalidInput, answering, shown
from polhode.lazy import extra
from polhode.surroundings.planets import days_of_ut, to_j2000

FRAMES = ("J2000", "TEME")
DAY = 86400.0
J2000_UTC = 2451544.5  # Julian date of 2000-01-01T00:00:00


def satrec() -> type[Any]:
    """The class of the package sgp4 that evaluates elements."""
    return extra("sgp4.api", "mean elements need sgp4: pip install 'polhode[tle]'").Satrec  # type: ignore[no-any-return]


@dataclass(frozen=True)
class MeanElements:
    """Mean elements of a satellite; ``polhode.initial.tle`` and ``polhode.initial.omm`` make them."""

    name: str  # of the satellite, or empty
    number: int  # of its catalogue, NORAD's
    epoch: str  # the instant of the elements, UTC
    bstar: float  # their drag term, 1 / Earth radius
    theory: Any

    def at(self, t: ArrayLike = 0.0, frame: str = "J2000") -> tuple[Array, Array]:
        """Position (m) and velocity (m / s) by SGP4."""
        choice(frame, "frame", FRAMES)
        times = array(t, "t", "s")
        flat = times.ravel()
        days, parts = np.full(flat.shape, self.theory.jdsatepoch), self.theory.jdsatepochF + flat / DAY
        wrong, r, v = self.theory.sgp4_array(days, parts)
        if wrong.any():
            from sgp4.api import SGP4_ERRORS

            k = int(np.argmax(wrong != 0))
            raise InvalidInput(f"SGP4 has no position at t = {flat[k]:g}: {SGP4_ERRORS[int(wrong[k])]}; take a time "
                               "nearer to the epoch, or newer elements")  # fmt: skip
        r, v = 1e3 * np.asarray(r), 1e3 * np.asarray(v)
        if frame == "J2000":
            R = to_j2000((days - J2000_UTC - 0.5 + parts) / 36525.0)
            r, v = np.einsum("nij,nj->ni", R, r), np.einsum("nij,nj->ni", R, v)
        return r.reshape(*times.shape, 3), v.reshape(*times.shape, 3)

    def start(self, t: float = 0.0, frame: str = "J2000") -> dict[str, Any]:
        """Position and velocity as arguments of ``integrate``: ``integrate(orbit, ..., **elements.start())``.

        Time 0 of the run is then t seconds after the epoch of the elements."""
        r, v = self.at(t, frame)
        return {"position": r, "velocity": v}

    def __repr__(self) -> str:
        return f"MeanElements({self.name or f'{self.number:05d}'!r}, {self.epoch})"


__all__ = ["DAY", "MeanElements", "satrec"]


# ------------------------------------------------------------------ two lines
LONG = 69  # characters of a line
PLAIN, POWER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)", re.ASCII), re.compile(r"[+-]?\.?\d+[+-]?\d", re.ASCII)
FIELDS = (
    ((19, 20, "year", PLAIN), (21, 32, "day of the year", PLAIN), (34, 43, "change of the mean motion", PLAIN),
     (45, 52, "second change of the mean motion", POWER), (54, 61, "drag term", POWER)),
    ((9, 16, "inclination", PLAIN), (18, 25, "ascending node", PLAIN), (27, 33, "eccentricity", PLAIN),
     (35, 42, "argument of perigee", PLAIN), (44, 51, "mean anomaly", PLAIN), (53, 63, "mean motion", PLAIN)),
)  # fmt: skip
"""First and last column of the numbers of each line; sgp4 takes what it can read of others."""


@answering
def tle(lines: str | Sequence[str], second: str | None = None) -> MeanElements:
    """Two-line elements, read by the package sgp4 (``polhode[tle]``).

    Parameters
    ----------
    lines : str or sequence of str
        Both lines, perhaps with a name before them; or the first, with ``second`` as the second.
    second : str, optional
        The second line.

    Raises
    ------
    InvalidInput
        No such lines; a wrong checksum, which tells of a character that is not as it was written.
    MissingExtra
        Without sgp4.

    Examples
    --------
    >>> elements = tle('''ISS (ZARYA)
    ... 1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
    ... 2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537''')
    >>> elements.epoch
    '2008-09-20T12:25:40.104192 UTC'
    """
    given = lines.splitlines() if isinstance(lines, str) else list(lines) if isinstance(lines, list | tuple) else None
    if given is None or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"lines must be the two lines as text, not {shown(lines)}")
    given = [one.rstrip() for one in [*given, *([] if second is None else text(second, "second").splitlines())]]
    rows = [one for one in given if one.strip()]
    name = rows.pop(0).removeprefix("0 ").strip() if len(rows) == 3 else ""
    if len(rows) != 2:
        raise InvalidInput(f"lines are {len(rows)}; give two, that begin with 1 and 2, perhaps a name before them")
    for k, row in enumerate(rows, 1):
        if not row.startswith(f"{k} ") or len(row) < LONG:
            raise InvalidInput(f"line {k} is {shown(row)}; it must begin with {k} and have {LONG} characters")
        total = sum(int(c) if c.isdigit() and c.isascii() else c == "-" for c in row[: LONG - 1]) % 10
        if row[LONG - 1] != str(total):
            raise InvalidInput(f"line {k} has the checksum {row[LONG - 1]}, but its characters have {total}; it has "
                               "been changed, so fetch it again")  # fmt: skip
        for first, last, what, form in FIELDS[k - 1]:
            field = row[first - 1 : last]
            if form.fullmatch(field.strip()) is None:
                raise InvalidInput(f"line {k} has {shown(field)} in columns {first} to {last}, where the {what} "
                                   "stands; fetch it again")  # fmt: skip
    if rows[0][2:7] != rows[1][2:7]:
        raise InvalidInput(f"the lines are of two satellites, {rows[0][2:7].strip()} and {rows[1][2:7].strip()}; give "
                           "those of one")  # fmt: skip
    model = satrec()
    try:
        theory = model.twoline2rv(rows[0][:LONG], rows[1][:LONG])
        year, days = int(rows[0][18:20]), rows[0][20:32].strip()
        of_year, _, part = days.partition(".")
        year += 1900 if year >= 57 else 2000
        begin = epoch_of(f"{year}-{int(of_year):03d} UTC")
    except ValueError as problem:
        raise InvalidInput(f"the lines cannot be read as elements: {problem}; fetch them again") from None
    instant = Epoch("UTC", begin.since + Decimal(round(float(f"0.{part or 0}") * DAY * 1e6)).scaleb(-6))
    return MeanElements(name, theory.satnum, str(instant), float(theory.bstar), theory)


# ------------------------------------------------------------------ messages
NUMBERS = {
    "MEAN_MOTION": (0.0, 20.0), "ECCENTRICITY": (0.0, 1.0), "INCLINATION": (0.0, 180.0),
    "RA_OF_ASC_NODE": (-360.0, 360.0), "ARG_OF_PERICENTER": (-360.0, 360.0), "MEAN_ANOMALY": (-360.0, 360.0),
    "BSTAR": (-1e3, 1e3),
}  # fmt: skip
"""Keys that SGP4 needs, and between what their numbers lie: turns a day, degrees, 1 / Earth radius."""
MEANT = {
    "CENTER_NAME": ("EARTH",), "REF_FRAME": ("TEME", "TEMEOFDATE"), "TIME_SYSTEM": ("UTC",),
    "MEAN_ELEMENT_THEORY": ("SGP4", "SGP/SGP4"), "EPHEMERIS_TYPE": ("0", "2"),
}  # fmt: skip
"""What these keys must say where they are given; elements of other theories give another orbit in SGP4."""
MOST_OF_A_CATALOGUE = 339_999  # largest number that the package sgp4 takes
WGS72 = 1  # the package's number of the constants that catalogues are made with
NOON_OF_2000 = 18263.5  # 2000-01-01T12:00:00 in days from 1949-12-31T00:00:00, from which SGP4 counts


@answering
def omm(given: reading.Named | Mapping[str, Any], satellite: str | int | None = None) -> MeanElements:
    """Mean elements from an orbit mean-elements message of the CCSDS, evaluated by sgp4 (``polhode[tle]``).

    Parameters
    ----------
    given : path or mapping
        A file in XML, in lines KEY = value, in JSON or CSV; or its keys, such as one entry of a JSON answer.
    satellite : str or int, optional
        OBJECT_NAME or NORAD_CAT_ID of the one that is meant, needed where a file has several.

    Raises
    ------
    InvalidInput
        A file that cannot be read or is torn; a key that is missing or wrong; elements of another theory than SGP4, in
        other axes than TEME, or about another body; several satellites, or none of this name.
    MissingExtra
        Without sgp4.

    Examples
    --------
    >>> elements = omm({"OBJECT_NAME": "ISS (ZARYA)", "NORAD_CAT_ID": 25544, "EPOCH": "2008-09-20T12:25:40.104192",
    ...                 "MEAN_MOTION": 15.72125391, "ECCENTRICITY": 0.0006703, "INCLINATION": 51.6416,
    ...                 "RA_OF_ASC_NODE": 247.4627, "ARG_OF_PERICENTER": 130.536, "MEAN_ANOMALY": 325.0288,
    ...                 "BSTAR": -1.1606e-05})
    >>> elements.at(0.0, "TEME")[0].round(-3)
    array([4084000., -994000., 5244000.])
    """
    if isinstance(given, Mapping):
        where, found = "the mapping", [{str(key): value for key, value in given.items()}]
    else:
        where, found = _read(Path(checked_path(given, "given")))
    keys = _chosen(where, found, satellite)
    return _elements(where, {key: "" if value is None else str(value).strip() for key, value in keys.items()})


def _read(file: Path) -> tuple[str, list[dict[str, Any]]]:
    """The keys of all satellites in a file."""
    text = reading.text(file, "omm").strip()
    begin = text[:1]
    try:
        if begin == "<":
            found = _of_xml(text)
        elif begin and begin in "[{":
            entries = json.loads(text)
            found = entries if isinstance(entries, list) else [entries]
        elif text.startswith("CCSDS_OMM_VERS"):
            found = [_of_lines(file.name, text)]
        else:
            found = [dict(row) for row in csv.DictReader(text.splitlines())] if "," in text.split("\n")[0] else []
    except (ElementTree.ParseError, ValueError, RecursionError, csv.Error) as problem:
        raise InvalidInput(f"{file.name} is torn or no OMM file: {problem}; fetch it again") from None
    if not found or not all(isinstance(one, dict) and "EPOCH" in one for one in found):
        raise InvalidInput(f"{file.name} has no elements with an EPOCH; give an OMM file in XML, in lines KEY = value, "
                           "in JSON or CSV")  # fmt: skip
    return file.name, found


def _of_xml(text: str) -> list[dict[str, Any]]:
    """The keys of each message, whatever namespace its tags are in."""
    found = []
    for element in ElementTree.fromstring(text).iter():
        if element.tag.rpartition("}")[2] == "segment":
            leaves = (
                (leaf.tag.rpartition("}")[2], (leaf.text or "").strip()) for leaf in element.iter() if not len(leaf)
            )
            found.append({key: value for key, value in leaves if key != "COMMENT"})
    return found


def _of_lines(name: str, text: str) -> dict[str, Any]:
    """The keys of lines ``KEY = value [unit]``."""
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.split()[0] == "COMMENT":
            continue
        key, equals, value = words.partition("=")
        if not equals:
            raise InvalidInput(f"{name}, line {number}, is {shown(words)}; write KEY = value")
        if key.strip() in found:
            raise InvalidInput(f"{name}, line {number}, has {key.strip()} for a second time; leave one satellite, or "
                               "give XML, JSON or CSV")  # fmt: skip
        found[key.strip()] = re.sub(r"\s*\[[^]]*\]$", "", value.strip())
    return found


def _chosen(where: str, found: list[dict[str, Any]], satellite: str | int | None) -> dict[str, Any]:
    """The keys of the one that is meant."""
    if satellite is not None:
        wanted = satellite.strip().casefold() if isinstance(satellite, str) else str(whole(satellite, "satellite"))
        named = [one for one in found if wanted in (str(one.get("OBJECT_NAME")).strip().casefold(),
                                                    str(one.get("NORAD_CAT_ID", "")).strip().lstrip("0"))]  # fmt: skip
        if not named:
            raise InvalidInput(f"{where} has no satellite {shown(satellite)}; it has {_names(found)}")
        found = named
    if len(found) > 1:
        raise InvalidInput(f"{where} has {len(found)} satellites, {_names(found)}; name one by satellite")
    return found[0]


def _names(found: list[dict[str, Any]]) -> str:
    some = [f"{one.get('OBJECT_NAME', '')} ({one.get('NORAD_CAT_ID', 'no number')})".strip() for one in found[:5]]
    return " ".join(", ".join(some).split()) + " and others" * (len(found) > 5)


def _number(where: str, keys: Mapping[str, str], key: str, default: float | None = None) -> float:
    given = keys.get(key, "")
    if not given:
        if default is not None:
            return default
        raise InvalidInput(f"{where} has no {key}; SGP4 needs it")
    try:
        value = float(given.replace("_", "?"))
    except ValueError:
        value = float("nan")
    low, high = NUMBERS.get(key, (-1e9, 1e9))
    if not isfinite(value) or not low <= value <= high or (key == "ECCENTRICITY" and value == high):
        raise InvalidInput(f"{where} has {key} {shown(given)}; give a number from {low:g} to {high:g}")
    return value


def _elements(where: str, keys: Mapping[str, str]) -> MeanElements:
    """The elements of one satellite."""
    for key, meant in MEANT.items():
        given = keys.get(key, "")
        if given and given.upper() not in meant:
            raise InvalidInput(
                f"{where} has {key} {shown(given)}, but SGP4 is for {key} {meant[0]}; give such elements"
            )
    n, e, i, node, pericentre, anomaly, bstar = (_number(where, keys, key) for key in NUMBERS)
    if n == 0.0:
        raise InvalidInput(f"{where} has MEAN_MOTION 0; give the revolutions a day")
    number = _number(where, keys, "NORAD_CAT_ID", 0.0)
    if number != int(number) or number < 0:
        raise InvalidInput(f"{where} has NORAD_CAT_ID {shown(keys['NORAD_CAT_ID'])}; give a whole number")
    if not keys.get("EPOCH"):
        raise InvalidInput(f"{where} has no EPOCH; SGP4 needs it")
    try:
        instant = epoch_of(keys["EPOCH"], "UTC", "EPOCH")
    except InvalidInput as problem:
        raise InvalidInput(f"{where}: {problem}") from None
    instant = Epoch("UTC", instants(instant, [0.0], "UTC")[0])
    theory, turn = satrec()(), pi / 180.0
    theory.sgp4init(
        WGS72, "i", int(number) if number <= MOST_OF_A_CATALOGUE else 0, days_of_ut(instant) + NOON_OF_2000, bstar,
        _number(where, keys, "MEAN_MOTION_DOT", 0.0) * 2.0 * pi / 1440.0**2,
        _number(where, keys, "MEAN_MOTION_DDOT", 0.0) * 2.0 * pi / 1440.0**3,
        e, pericentre * turn, i * turn, anomaly * turn, n * 2.0 * pi / 1440.0, node * turn,
    )  # fmt: skip
    return MeanElements(keys.get("OBJECT_NAME", ""), int(number), str(instant), bstar, theory)
