"""Gravity fields: spherical harmonic coefficients, and files of them in the format of the ICGEM [barthelmes2011]."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import cos, factorial, pi, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import Array, number, path, whole
from polhode.arguments.frozen import frozen
from polhode.errors import InvalidInput, answering, shown
from polhode.surroundings import planets
from polhode.surroundings.as_made import AsMade

FOLDER = Path(__file__).with_name("fields")
SHIPPED = ("egm2008",)
"""Fields that come with polhode, by name: EGM2008 of the Earth to degree and order 20 [pavlis2012]."""
HIGHEST = 360
"""Highest degree that is read; beyond a few hundred the recursion would overflow."""
CHANGED = "changed "
"""Before the digest of a field that no file has."""
MOVING = ("trnd", "dot", "acos", "asin")
YEAR = 365.25


@dataclass(frozen=True, eq=False)
class GravityField(AsMade):
    """Fully normalised coefficients of a gravity field."""

    name: str  # of the model
    mu: float  # gravity parameter, m^3 / s^2
    radius: float  # reference radius, m
    C: Array  # C, S: (degree + 1, degree + 1): coefficients by degree and order
    S: Array
    tide: str = "unknown"  # tide system, as the file says; nothing is converted
    source: str = ""  # name or path by which it is found again
    digest: str = ""  # SHA-256 of its file; empty of a field that comes with polhode

    def __post_init__(self) -> None:
        for name in ("C", "S"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def recorded(self) -> str:
        """What runs record of it: the digest of its file, or of what it holds if that is not what the file says."""
        return self.digest if self.as_made else f"{CHANGED}{self.contents()}"

    @property
    def degree(self) -> int:
        """Highest degree."""
        return len(self.C) - 1

    @property
    def rotation(self) -> float | None:
        """Rotation rate of the body with this gravity parameter, rad / s; None of an unknown one."""
        name = planets.name_of(self.mu)
        return planets.KNOWN[name].rotation if name in ("Earth", "Moon", "Mars") else None

    def __repr__(self) -> str:
        return f"GravityField({self.name!r}, degree {self.degree}, {self.tide})"


@answering
def gravity_field(source: str, epoch: float | None = None) -> GravityField:
    """Read a gravity field from an ICGEM file (``.gfc``), or one that comes with polhode.

    Parameters
    ----------
    source : str or path
        ``"egm2008"`` (the Earth, degree and order 20), or the path of a file. Coefficients may be fully normalised or
        not, as its header says; errors are not read.
    epoch : float, optional
        Decimal year, such as 2026.5, at which coefficients that change with time (``gfct`` with ``trnd``, ``acos``,
        ``asin``) are evaluated; needed for a file that has some.

    Returns
    -------
    GravityField

    Raises
    ------
    InvalidInput
        A file that is not there or not in this format, by its line; coefficients that change, without an epoch.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.surroundings.gravity_field("egm2008")
    >>> field
    GravityField('EGM2008', degree 20, tide_free)
    >>> ph.orbit(3.986004415e14, forces=[ph.forces.gravity_field(field, degree=8)]).conserves
    ()
    """
    if isinstance(source, str) and source in SHIPPED:
        return _read(FOLDER / f"{source}.gfc", source, "", None)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput(
            f"source must be {', '.join(map(repr, SHIPPED))} or the path of a .gfc file, not {shown(source)}"
        )
    when = None if epoch is None else number(epoch, "epoch")
    file = Path(path(source, "source"))
    return _read(file, str(source), reading.digest(file, "gravity field"), when)


def gravity_field_of(given: Any, digest: str) -> GravityField:
    """A field, or the one of this name or path, with a recorded digest."""
    if digest.startswith(CHANGED) and getattr(given, "recorded", "") != digest:
        raise InvalidInput("the gravity field of this run was changed in memory or made there, so that it cannot be "
                           "read again; write its coefficients to a .gfc file, and give the run that")  # fmt: skip
    field = given if isinstance(given, GravityField) else gravity_field(given)
    if digest and digest != field.recorded:
        raise InvalidInput(f"{field.source} is not the file that this run was made with: its SHA-256 differs; find "
                           "that file, or leave digest out")  # fmt: skip
    return field


def _read(file: Path, source: str, digest: str, epoch: float | None) -> GravityField:
    with reading.lines(file, "gravity field", errors="replace") as rows:
        return _field(enumerate(rows, 1), file, source, digest, epoch)


def _field(
    lines: Iterator[tuple[int, str]], file: Path, source: str, digest: str, epoch: float | None
) -> GravityField:  # fmt: skip
    head = _head(lines, file.name)
    mu = _number(head.get("earth_gravity_constant") or head.get("gravity_constant"), "gravity_constant", file.name)
    radius = _number(head.get("radius"), "radius", file.name)
    stated = whole(int(_number(head.get("max_degree"), "max_degree", file.name)), "max_degree", 2, 100000)
    degree = min(stated, HIGHEST)  # the rest is not used
    rows = _Rows(file.name, degree, epoch)
    for count, line in lines:
        words = line.split()
        if words and words[0] not in ("gfc", "gfct", *MOVING):
            raise _wrong(file.name, count, f"begins with {words[0][:20]!r}, not with gfc")
        if words:
            rows.enter(words, count)
    rows.check(stated)
    C, S = rows.C, rows.S
    norm = head.get("norm", "fully_normalized")
    if norm == "unnormalized":
        for n in range(degree + 1):
            for m in range(n + 1):
                size = (2 - (m == 0)) * (2 * n + 1) * factorial(n - m) / factorial(n + m)
                C[n, m], S[n, m] = C[n, m] / sqrt(size), S[n, m] / sqrt(size)
    elif norm != "fully_normalized":
        raise InvalidInput(f"{file.name} has the norm {norm!r}; fully_normalized or unnormalized is read")
    if degree >= 1 and max(abs(C[1, 0]), abs(C[1, 1]), abs(S[1, 1])) > 1e-8:
        raise InvalidInput(f"{file.name} has coefficients of degree 1: its origin is not the centre of mass, about "
                           "which polhode's orbits are; take a field of the centre of mass")  # fmt: skip
    C[0, 0], C[1], S[1] = 0.0, 0.0, 0.0  # the point mass is the system's own
    tide = head.get("tide_system", "unknown")
    return GravityField(head.get("modelname", file.stem), mu, radius, C, S, tide, source, digest).sealed()


def _wrong(name: str, line: int, problem: str) -> InvalidInput:
    return InvalidInput(f"{name}, line {line}, {problem}; give a file in the ICGEM format")


def _head(lines: Iterator[tuple[int, str]], name: str) -> Mapping[str, str]:
    """The keys of the header, to its end."""
    found: dict[str, str] = {}
    for _, line in lines:
        words = line.split()
        if words and words[0] == "end_of_head":
            kind = found.get("product_type", "gravity_field")
            if kind != "gravity_field":
                raise InvalidInput(f"{name} has the product_type {kind!r}; a gravity_field is read")
            return found
        if len(words) > 1:
            found[words[0]] = words[1]
    raise InvalidInput(f"{name} has no line end_of_head; give a file in the ICGEM format (.gfc)")


def _number(text: str | None, key: str, name: str) -> float:
    if text is None:
        raise InvalidInput(f"{name} has no {key} in its header; give a file in the ICGEM format")
    try:
        value = float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        raise InvalidInput(f"{name} has {key} {text[:30]!r}, which is no number") from None
    if not value > 0.0 or not np.isfinite(value):
        raise InvalidInput(f"{name} has {key} {value:g}; it must be positive")
    return value


class _Rows:
    """The coefficients that rows of a file give at an epoch, a decimal year."""

    def __init__(self, name: str, degree: int, epoch: float | None) -> None:
        self.name, self.epoch = name, epoch
        self.C, self.S = (np.zeros((degree + 1, degree + 1)) for _ in range(2))
        self.highest = -1
        self.since: dict[tuple[int, int], float] = {}
        """Reference times of coefficients that change, in years."""
        self.elsewhen: dict[tuple[int, int], int] = {}
        """Lines of coefficients that were given for other times."""
        self.last: tuple[str, int] = ("", 0)

    def enter(self, words: list[str], line: int) -> None:
        """Add a row."""
        kind, epoch = words[0], self.epoch
        try:
            n, m = int(words[1]), int(words[2])
            c, s, *rest = (float(word.replace("D", "E").replace("d", "e")) for word in words[3:])
        except (ValueError, IndexError):
            raise _wrong(self.name, line, "has no degree, order and two numbers") from None
        if not 0 <= m <= n or not np.isfinite([c, s, *rest]).all():
            raise _wrong(self.name, line, f"has degree {n} and order {m}, or numbers that are not finite")
        before, self.last = self.last, (kind, len(words))
        self.cut = line if before[0] == kind and len(words) < before[1] else 0
        self.highest = max(self.highest, n)
        if n >= len(self.C):
            return
        if kind == "gfc":
            self.C[n, m], self.S[n, m] = c, s
            return
        if epoch is None:
            raise InvalidInput(f"{self.name}, line {line}: coefficients change with time; give epoch, the decimal year")
        # The reference time, or the interval in which a row holds, stands behind the errors and before a period.
        dates = [self.year(x, line) for x in rest if x > 1e7]
        if len(dates) > 1 and not dates[-2] <= epoch < dates[-1]:
            self.elsewhen.setdefault((n, m), line)
            return
        if kind == "gfct":
            if not dates:
                raise _wrong(self.name, line, "has no reference time")
            self.C[n, m], self.S[n, m] = c, s
            self.since[n, m] = dates[-2] if len(dates) > 1 else dates[0]
            return
        if (n, m) not in self.since:
            raise _wrong(self.name, line, f"is the change of a coefficient of degree {n} and order {m} before its gfct")
        factor = since = epoch - self.since[n, m]
        if kind in ("acos", "asin"):
            if not rest or not 0.0 < rest[-1] < 1e7:
                raise _wrong(self.name, line, "has no period")
            factor = (cos if kind == "acos" else sin)(2.0 * pi * since / rest[-1])
        self.C[n, m] += factor * c
        self.S[n, m] += factor * s

    def year(self, date: float, line: int) -> float:
        """The decimal year of yyyymmdd or yyyymmdd.hhmm."""
        y, m, d = int(date) // 10000, int(date) // 100 % 100, int(date) % 100
        try:
            before = datetime.date(y, m, d) - datetime.date(y, 1, 1)
        except (ValueError, OverflowError):
            raise _wrong(self.name, line, f"has {date:.12g}, which is no date") from None
        return float(y + before.days / YEAR)

    def check(self, stated: int) -> None:
        """Refuse a file that is torn, or has nothing for the epoch."""
        torn = "it may be torn: fetch it again"
        if self.highest < 0:
            raise InvalidInput(f"{self.name} has no coefficients behind end_of_head; {torn}")
        if self.highest < stated:
            raise InvalidInput(
                f"{self.name} has coefficients to degree {self.highest}, but max_degree {stated}; {torn}"
            )
        if self.cut:
            raise InvalidInput(
                f"{self.name}, line {self.cut}, the last one, has fewer numbers than that before it; {torn}"
            )
        for (n, m), line in self.elsewhen.items():
            if (n, m) not in self.since:
                raise InvalidInput(f"{self.name}, line {line}: coefficients of degree {n} and order {m} are not given "
                                   f"for epoch {self.epoch:g}; take one within the intervals of the file")  # fmt: skip
