"""Files that a run may begin with, as keys of ``[initial]`` in a scenario: ``oem``, ``aem``, ``tle``, ``omm``.

What they say is looked up at the instant at which the run starts; without an ``epoch`` under ``[run]`` that is the
first they have.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from polhode import reading
from polhode.arguments.words import File
from polhode.epochs import Epoch, epoch_of, instants
from polhode.errors import InvalidInput
from polhode.systems.ephemeris_messages import attitude_message, orbit_message
from polhode.systems.mean_elements import MeanElements, omm as mean_elements_message, tle
from polhode.systems.recipes import add_recipe
from polhode.systems.record import System

NAME = "epoch of the start of the run"
NEAR = 30 * 86400.0
"""How far from their epoch two-line elements may begin a run, s; they drift by kilometres a day."""


def two_lines(path: reading.Named) -> MeanElements:
    """Two-line elements from a file."""
    return tle(reading.text(path, "tle"))


READERS: dict[str, Any] = {"oem": orbit_message, "aem": attitude_message, "tle": two_lines,
                           "omm": mean_elements_message}  # fmt: skip
"""Reads the file of a key; the answer has an ``epoch``."""
IN_SI = ("oem", "tle", "omm")
"""Keys whose file has lengths, so that a run is in SI."""


def begins(key: str, path: reading.Named, t0: float) -> Epoch:
    """The instant of time 0 of a run that starts at t0 with the first instant of a file."""
    first = epoch_of(READERS[key](path).epoch)
    return Epoch(first.scale, first.since - Decimal(repr(t0)))


def _one_that(ability: str, key: str, what: str, system: System) -> None:
    if not getattr(system, ability) or system.N != 1:
        raise InvalidInput(f"{key} is the {what}, but the system is {system.name!r}; leave it out")


def on_ephemeris(system: System, epoch: Epoch | None, oem: File) -> dict[str, Any]:
    """Position and velocity from an orbit ephemeris message, in SI and the axes of the file.

    Parameters
    ----------
    oem : path
        an orbit ephemeris message of the CCSDS; epoch under [run] says at which instant, by default the first it has
    """
    _one_that("translates", "oem", "orbit of one body that moves through space", system)
    return orbit_message(oem, epoch, NAME).start()


def facing_as_ephemeris(system: System, epoch: Epoch | None, aem: File) -> dict[str, Any]:
    """Attitude, and angular velocity if the file has rates and no other is given, from an attitude ephemeris message.

    Parameters
    ----------
    aem : path
        an attitude ephemeris message of the CCSDS with quaternions; its rates, where it has them, are the angular
        velocity unless that or a momentum is given; at the instant as oem
    """
    _one_that("rotates", "aem", "attitude of one body that turns", system)
    return attitude_message(aem, epoch, NAME).start()


def by_two_lines(system: System, epoch: Epoch | None, tle: File) -> dict[str, Any]:
    """Position and velocity from two-line elements by SGP4, in SI and the axes of J2000.

    Parameters
    ----------
    tle : path
        a file with two-line elements; epoch under [run] says at which instant, by default that of the elements
    """
    return _by_theory("tle", two_lines(tle), system, epoch)


def by_mean_elements(system: System, epoch: Epoch | None, omm: File) -> dict[str, Any]:
    """Position and velocity from an orbit mean-elements message by SGP4, in SI and the axes of J2000.

    Parameters
    ----------
    omm : path
        an orbit mean-elements message of the CCSDS of one satellite, in XML, in lines KEY = value, in JSON or CSV; at
        the instant as tle
    """
    return _by_theory("omm", mean_elements_message(omm), system, epoch)


def _by_theory(key: str, elements: MeanElements, system: System, epoch: Epoch | None) -> dict[str, Any]:
    _one_that("translates", key, "orbit of one body that moves through space", system)
    t = 0.0 if epoch is None else float(instants(epoch, [0.0], "UTC")[0] - epoch_of(elements.epoch).since)
    if abs(t) > NEAR:
        raise InvalidInput(f"{NAME} is {epoch}, {abs(t) / 86400.0:.0f} days from the elements of {elements.epoch}; "
                           "these drift by kilometres a day, so give others")  # fmt: skip
    return elements.start(t)


add_recipe(on_ephemeris, sets=("position", "momentum"))
add_recipe(facing_as_ephemeris, sets=("attitude",))
add_recipe(by_two_lines, sets=("position", "momentum"))
add_recipe(by_mean_elements, sets=("position", "momentum"))
__all__ = ["IN_SI", "READERS", "begins", "two_lines"]
