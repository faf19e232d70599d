"""Gravity fields: spherical harmonic coefficients, files of them in the format of the ICGEM [barthelmes2011], and their
gravity to any degree and order, beyond that of a point, as kernels read it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import cos, factorial, pi, sin, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import reading
from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.arguments import Array, number, path, text, whole
from polhode.arguments.recorded import plain
from polhode.errors import InvalidInput, answering, naming, shown
from polhode.kernel.access import get3, in_kernels
from polhode.kernel.jit import helper, inlined
from polhode.surroundings import planets
from polhode.surroundings.planets import equator, oriented
from polhode.surroundings.surrounding import AsMade

FOLDER = Path(__file__).with_name("fields")
SHIPPED = ("egm2008",)
"""Fields that come with polhode, by name: EGM2008 of the Earth to degree and order 20 [pavlis2012]."""
HIGHEST = 360  # highest degree that is read; beyond a few hundred the recursion would overflow
CHANGED = "changed "  # before the digest of a field that no file has
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


def _field(lines: Iterator[tuple[int, str]], file: Path, source: str, digest: str, epoch: float | None) -> GravityField:
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
        self.since: dict[tuple[int, int], float] = {}  # reference times of coefficients that change, in years
        self.elsewhen: dict[tuple[int, int], int] = {}  # lines of coefficients that were given for other times
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


# ------------------------------------------------------------------ a field as kernels read it
# Numbers: two unit vectors of the equator and the pole, the first from where angles are measured; rotation rate and
# angle at time 0; gravity parameter and radius of the field; degree; order; then, column by column of the order m, from
# n = m on: C, S (normalised; zero below degree 2) and the factors of the recursion.
POLE, RATE, ANGLE, MU, RADIUS, DEGREE, ORDER, FIRST = 6, 9, 10, 11, 12, 13, 14, 15
TERM = 4  # numbers of a coefficient


@inlined
def of_the_body(p, at, t, r):
    """Components of r along the axes of the rotating body."""
    angle = p[at + RATE] * t + p[at + ANGLE]
    c, s = np.cos(angle), np.sin(angle)
    x, y = dot(get3(p, at), r), dot(get3(p, at + 3), r)
    return (c * x + s * y, c * y - s * x, dot(get3(p, at + POLE), r))


@inlined
def of_space(p, at, t, a):
    """A vector of the rotating body in the axes of space."""
    angle = p[at + RATE] * t + p[at + ANGLE]
    c, s = np.cos(angle), np.sin(angle)
    x = axpy(c * a[0] - s * a[1], get3(p, at), scale(s * a[0] + c * a[1], get3(p, at + 3)))
    return add(x, scale(a[2], get3(p, at + POLE)))


@helper
def columns(p, at, e, ratio):
    """Sums over all degrees and orders at the unit vector e, ratio being radius over distance.

    The potential is -mu/r times the first number; the others are the sums a1 to a4 of Pines, so that the acceleration
    is mu/r^2 ((a1, a2, a3) + a4 e). Derivatives of the normalised Legendre functions by the sine of the latitude, each
    over the power of its cosine, are found degree by degree; the powers of the cosine are in (e_x + i e_y)^m, which has
    no singular place [pines1973], [fantino2009].
    """
    degree, order = in_kernels(int(p[at + DEGREE])), int(p[at + ORDER])
    u = e[2]
    level = a1 = a2 = a3 = a4 = 0.0
    diagonal, k = 1.0, at + FIRST
    real, imaginary = 1.0, 0.0  # (e_x + i e_y)^m ratio^m, and the same of m - 1 times ratio
    before_real, before_imaginary = 0.0, 0.0
    for m in range(order + 1):
        now, past, slope, past_slope = diagonal, 0.0, 0.0, 0.0
        C = S = C1 = S1 = Cn = Sn = 0.0
        power = 1.0
        for n in range(m, degree + 1):
            if n > m:
                f, g = p[k + 2], p[k + 3]
                after = f * u * now - g * past
                after_slope = f * (now + u * slope) - g * past_slope
                past, now, past_slope, slope = now, after, slope, after_slope
                power *= ratio
            c, s = p[k] * power, p[k + 1] * power
            C += c * now
            S += s * now
            C1 += c * slope
            S1 += s * slope
            Cn += (n + m + 1) * c * now
            Sn += (n + m + 1) * s * now
            k += TERM
        level += C * real + S * imaginary
        a1 += m * (C * before_real + S * before_imaginary)
        a2 += m * (S * before_real - C * before_imaginary)
        along = C1 * real + S1 * imaginary
        a3 += along
        a4 -= Cn * real + Sn * imaginary + u * along
        diagonal *= np.sqrt(3.0) if m == 0 else np.sqrt((2.0 * m + 3.0) / (2.0 * m + 2.0))
        before_real, before_imaginary = ratio * real, ratio * imaginary
        real, imaginary = (
            ratio * (real * e[0] - imaginary * e[1]), ratio * (real * e[1] + imaginary * e[0]),
        )  # fmt: skip
    return level, a1, a2, a3, a4


@helper
def pulled(p, at, t, r):
    """mu / r^2 ((a1, a2, a3) + a4 r / |r|), in the axes of space."""
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, of_the_body(p, at, t, r))
    _, a1, a2, a3, a4 = columns(p, at, e, p[at + RADIUS] / size)
    return of_space(p, at, t, scale(p[at + MU] / (size * size), axpy(a4, e, (a1, a2, a3))))


@helper
def gravity_of_harmonics(p, at, t, r):
    """-mu / r sum (R/r)^n P_nm (C cos m lambda + S sin m lambda) from degree 2 on, per unit mass."""
    size = np.sqrt(dot(r, r))
    e = scale(1.0 / size, of_the_body(p, at, t, r))
    level, _, _, _, _ = columns(p, at, e, p[at + RADIUS] / size)
    return -p[at + MU] / size * level


@helper
def slopes_of_harmonics(p, at, t, r):
    """Derivatives of the potential by the time and by the coordinates."""
    a = pulled(p, at, t, r)
    return (p[at + RATE] * dot(a, cross(get3(p, at + POLE), r)), -a[0], -a[1], -a[2])


def factors(n: int, m: int) -> tuple[float, float]:
    """Those of the recursion by degrees: A_n = f u A_(n-1) - g A_(n-2), of normalised functions."""
    if n <= m:
        return 0.0, 0.0
    f = sqrt((2 * n + 1) * (2 * n - 1) / ((n - m) * (n + m)))
    if n == m + 1:
        return f, 0.0
    return f, sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((2 * n - 3) * (n - m) * (n + m)))


class Harmonics(NamedTuple):
    """A field as kernels read it."""

    name: str  # of the field
    arguments: dict[str, Any]  # what it is made from, in JSON types
    numbers: tuple[float, ...]  # what the kernels read
    mu: float  # gravity parameter
    still: bool  # whether it stays as it is


def harmonics_of(
    field: Any, degree: object, order: object, rotation: object, angle: Any, axis: Any, orientation: object,
    digest: object,
) -> Harmonics:  # fmt: skip
    """A field from the arguments of ``forces.gravity_field``."""
    with naming(source="field"):
        given = gravity_field_of(field, text(digest, "digest"))
    top = given.degree if degree is None else whole(degree, "degree", 2)
    if top > given.degree:
        raise InvalidInput(
            f"degree is {top}, but {given.name} has {given.degree}; ask for less, or give a larger field"
        )
    most = top if order is None else whole(order, "order", 0)
    if most > top:
        raise InvalidInput(f"order is {most}, more than the degree {top}; it is at most the degree")
    rate = given.rotation if rotation is None else number(rotation, "rotation", "rad / s")
    zonal = most == 0 or not (given.C[: top + 1, 1 : most + 1].any() or given.S[: top + 1, 1 : most + 1].any())
    if rate is None:
        if not zonal:
            raise InvalidInput("rotation is missing; give the rate of the body, rad / time (0 if it does not turn)")
        rate = 0.0
    k, start = oriented(orientation, axis, angle)
    numbers = [*np.concatenate(equator(k)), 0.0 if zonal else rate, start, given.mu, given.radius]
    numbers += [float(top), float(most)]
    for m in range(most + 1):
        for n in range(m, top + 1):
            numbers += [given.C[n, m], given.S[n, m], *factors(n, m)]
    arguments = {"field": given.source, "degree": top, "order": most, "rotation": rate, "angle": start,
                 "axis": plain(axis) if orientation is None else plain(k)}  # fmt: skip
    named = arguments | ({"digest": given.recorded} if given.recorded else {})
    return Harmonics(given.name, named, tuple(map(float, numbers)), given.mu, zonal or rate == 0.0)
