"""Orbit mean-elements messages of the CCSDS (OMM) [ccsds2009, sec. 4], as catalogues give them: XML, lines
``KEY = value``, JSON or CSV.

They hold what two-line elements do, with more digits, and numbers of satellites beyond 339999.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from math import isfinite, pi
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from polhode import reading
from polhode.arguments import path as checked_path
from polhode.arguments import whole
from polhode.epochs import Epoch, epoch_of, instants
from polhode.errors import InvalidInput, answering, shown
from polhode.surroundings.earth_axes import days_of_ut
from polhode.systems.mean_elements import MeanElements, satrec

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
MOST_OF_A_CATALOGUE = 339_999
"""Largest number that the package sgp4 takes."""
WGS72 = 1
"""The package's number of the constants that catalogues are made with."""
NOON_OF_2000 = 18263.5
"""2000-01-01T12:00:00 in days from 1949-12-31T00:00:00, from which SGP4 counts."""


@answering
def omm(given: Any, satellite: str | int | None = None) -> MeanElements:
    """Mean elements from an orbit mean-elements message of the CCSDS, evaluated by sgp4 (``polhode[tle]``).

    Parameters
    ----------
    given : path or mapping
        A file in XML, in lines KEY = value, in JSON or CSV; or its keys, such as one entry of a JSON answer.
    satellite : str or int, optional
        OBJECT_NAME or NORAD_CAT_ID of the one that is meant, needed where a file has several.

    Returns
    -------
    MeanElements

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


def _chosen(where: str, found: list[dict[str, Any]], satellite: Any) -> dict[str, Any]:
    """The keys of the one that is meant."""
    if satellite is not None:
        wanted = satellite.strip().casefold() if isinstance(satellite, str) else str(whole(satellite, "satellite"))
        named = [one for one in found if wanted in (str(one.get("OBJECT_NAME")).strip().casefold(), _catalogued(one))]
        if not named:
            raise InvalidInput(f"{where} has no satellite {shown(satellite)}; it has {_names(found)}")
        found = named
    if len(found) > 1:
        raise InvalidInput(f"{where} has {len(found)} satellites, {_names(found)}; name one by satellite")
    return found[0]


def _catalogued(keys: Mapping[str, Any]) -> str:
    """The number of a satellite, without zeros before it."""
    return str(keys.get("NORAD_CAT_ID", "")).strip().lstrip("0")


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


__all__ = ["omm"]
