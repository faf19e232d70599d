"""The magnetic field of the Earth: a tilted dipole, or the International Geomagnetic Reference Field (IGRF).

    B = -grad a sum_n (a/r)^(n+1) sum_m (g_nm cos m phi + h_nm sin m phi) P_n^m(cos theta)

with Schmidt's semi-normalised P_n^m [alken2021, eq. 1]. The sum is taken in Cartesian coordinates, by the recursion of
[montenbruck2000, sec. 3.2.4] over the solid harmonics

    V_nm + i W_nm = (a/r)^(n+1) P_nm(sin latitude) exp(i m phi),

which knows no longitude and is regular at the poles. The coefficients rotate with the body, at a constant rate.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from polhode import reading
from polhode.arguments import Array, ArrayLike, array, choice, number, path, text, whole
from polhode.arguments.recorded import plain
from polhode.arguments.words import Angle, Form, Length, Numbers, Rate, Vector, described_by
from polhode.errors import FileProblem, InvalidInput, answering, shown
from polhode.kernel.jit import helper
from polhode.lazy import extra
from polhode.programs.opaque import Opaque
from polhode.programs.tracer import array_of, holds_tracers
from polhode.surroundings.planets import Orientation, equator, oriented
from polhode.surroundings.surrounding import AsMade, Surrounding, Table, made

FRAME, RATE, ANGLE, RADIUS, DEGREE, TERMS, TERM = 0, 9, 10, 11, 12, 13, 6
"""Slots of the numbers: rows of the frame, rotation rate, angle at time 0, reference radius, highest degree, and six
numbers for every solid harmonic of order m = 0, 1, ... and degree n = m, ..., N + 1: what V and W give Bx, By, Bz."""
EARTH_RATE, EARTH_RADIUS = 7.2921150e-5, 6371200.0
"""Mean rotation rate of the Earth (rad/s); reference radius of IGRF (m)."""
DIPOLE = (
    (1900, -31543.0, -2298.0, 5922.0), (1905, -31464.0, -2298.0, 5909.0), (1910, -31354.0, -2297.0, 5898.0),
    (1915, -31212.0, -2306.0, 5875.0), (1920, -31060.0, -2317.0, 5845.0), (1925, -30926.0, -2318.0, 5817.0),
    (1930, -30805.0, -2316.0, 5808.0), (1935, -30715.0, -2306.0, 5812.0), (1940, -30654.0, -2292.0, 5821.0),
    (1945, -30594.0, -2285.0, 5810.0), (1950, -30554.0, -2250.0, 5815.0), (1955, -30500.0, -2215.0, 5820.0),
    (1960, -30421.0, -2169.0, 5791.0), (1965, -30334.0, -2119.0, 5776.0), (1970, -30220.0, -2068.0, 5737.0),
    (1975, -30100.0, -2013.0, 5675.0), (1980, -29992.0, -1956.0, 5604.0), (1985, -29873.0, -1905.0, 5500.0),
    (1990, -29775.0, -1848.0, 5406.0), (1995, -29692.0, -1784.0, 5306.0), (2000, -29619.4, -1728.2, 5186.1),
    (2005, -29554.63, -1669.05, 5077.99), (2010, -29496.57, -1586.42, 4944.26), (2015, -29441.46, -1501.77, 4795.99),
    (2020, -29403.41, -1451.37, 4653.35), (2025, -29350.0, -1410.3, 4545.5), (2030, -29287.0, -1360.3, 4438.0),
)  # fmt: skip
"""Year, g_10, g_11, h_11 (nT) of IGRF-14 [iaga2024]; the last year follows from its secular variation."""


def field_at(p, at, t, r):
    """The field in the axes of space, at a position r from the centre."""
    angle = p[at + ANGLE] + p[at + RATE] * t
    c, s = np.cos(angle), np.sin(angle)
    e = p[at] * r[0] + p[at + 1] * r[1] + p[at + 2] * r[2]
    f = p[at + 3] * r[0] + p[at + 4] * r[1] + p[at + 5] * r[2]
    z = p[at + 6] * r[0] + p[at + 7] * r[1] + p[at + 8] * r[2]
    x, y = c * e + s * f, c * f - s * e
    a, degree = p[at + RADIUS], int(p[at + DEGREE])
    inverse = a / (x * x + y * y + z * z)
    X, Y, Z, q = x * inverse, y * inverse, z * inverse, a * inverse
    bx = by = bz = 0.0
    V, W = np.sqrt(q), 0.0 * q
    k = at + TERMS
    for m in range(degree + 2):
        if m > 0:
            V, W = (2 * m - 1) * (X * V - Y * W), (2 * m - 1) * (X * W + Y * V)
        v1, w1, v2, w2 = V, W, 0.0 * V, 0.0 * V
        for n in range(m, degree + 2):
            if n > m:
                f1, f2 = (2 * n - 1) / (n - m), (n + m - 1) / (n - m)
                v1, v2 = f1 * Z * v1 - f2 * q * v2, v1
                w1, w2 = f1 * Z * w1 - f2 * q * w2, w1
            bx += p[k] * v1 + p[k + 1] * w1
            by += p[k + 2] * v1 + p[k + 3] * w1
            bz += p[k + 4] * v1 + p[k + 5] * w1
            k += TERM
    e, f = c * bx - s * by, s * bx + c * by
    return (
        p[at] * e + p[at + 3] * f + p[at + 6] * bz,
        p[at + 1] * e + p[at + 4] * f + p[at + 7] * bz,
        p[at + 2] * e + p[at + 5] * f + p[at + 8] * bz,
    )


def _terms(gauss: Mapping[tuple[int, int], tuple[float, float]], degree: int) -> list[float]:
    """The factors of the solid harmonics in the field, from Gauss coefficients (g, h) by (n, m), in nT."""
    made = np.zeros((degree + 2, degree + 2, TERM))
    for (n, m), pair in gauss.items():
        schmidt = math.sqrt((2 if m else 1) * math.factorial(n - m) / math.factorial(n + m)) * 1e-9
        g, h = schmidt * pair[0], schmidt * pair[1]
        made[m, n + 1] += (0, 0, 0, 0, (n - m + 1) * g, (n - m + 1) * h)
        share = 0.5 if m else 1.0
        made[m + 1, n + 1] += (share * g, share * h, -share * h, share * g, 0, 0)
        if m:
            back = 0.5 * (n - m + 2) * (n - m + 1)
            made[m - 1, n + 1] += (-back * g, -back * h, -back * h, back * g, 0, 0)
    return [float(x) for m in range(degree + 2) for n in range(m, degree + 2) for x in made[m, n]]


@dataclass(frozen=True, repr=False)
class MagneticField(AsMade):
    """A magnetic field that rotates with its body; ``polhode.surroundings.magnetic_field`` makes it."""

    maker = "magnetic_field"
    arguments: Mapping[str, Any]  # the arguments of ``magnetic_field``, in JSON types
    gauss: Mapping[tuple[int, int], tuple[float, float]]  # Gauss coefficients (g, h) in nT, by (n, m)
    numbers: tuple[float, ...]  # what the compiled field reads

    def at(self, t: ArrayLike, position: Any) -> Array:
        """The field (T) in the axes of space. The user's functions may ask for it, and are compiled with it."""
        if holds_tracers((t, position)):
            return array_of(list(field_at(self.numbers, 0, t, tuple(position))))
        where, time = array(position, "position", "m"), array(t, "t", "s")
        if not where.ndim or where.shape[-1] != 3:
            raise InvalidInput(f"position must have 3 numbers in its last dimension, but has shape {where.shape}")
        try:
            np.broadcast_shapes(where.shape[:-1], time.shape)
        except ValueError:
            raise InvalidInput(f"t has shape {time.shape}, which does not fit position with {where.shape}") from None
        with np.errstate(divide="ignore", invalid="ignore"):
            found = field_at(self.numbers, 0, time, tuple(where[..., i] for i in range(3)))
        return np.stack(np.broadcast_arrays(*found), axis=-1)


@answering
def magnetic_field(
    kind: Literal["dipole", "igrf"] = "dipole",
    *,
    epoch: Annotated[Any, Form.NUMBER] = 2025.0,
    degree: int | None = None,
    file: str | None = None,
    coefficients: Numbers | None = None,
    radius: Length = EARTH_RADIUS,
    rotation: Rate = EARTH_RATE,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> MagneticField:
    """The magnetic field of the Earth, or a dipole of your own, rotating with the body.

    The coefficients are those of ``epoch`` and stay so during a run; those of the dipole change by 0.1 % in a year.

    Parameters
    ----------
    kind : {"dipole", "igrf"}
        The terms of degree 1 (IGRF-14, built in): 23 % off (rms) in low orbits; or IGRF up to ``degree``.
    epoch : float or str
        Year with its fraction, or a date such as "2025-03-01T12:00"; coefficients are linear between those of a model.
    degree : int, optional
        Highest degree of "igrf", 1 to 13; by default all that there are.
    file : str, optional
        Coefficients of "igrf" as an .shc file; by default those of the package ppigrf (``polhode[magnetic]``).
    coefficients : array_like (3,), optional
        A dipole's g_10, g_11 and h_11, nT, in place of the built-in ones.
    radius : float
        Reference radius of the coefficients, in the unit of length of positions.
    rotation : float
        Rotation rate of the body, rad / time, about ``axis``.
    angle : float
        Angle of the prime meridian at time 0, from x of space (for the Earth, Greenwich sidereal time); with another
        axis, from where the equator rises through the xy plane.
    axis : array_like (3,)
        Axis of rotation towards the north pole, space frame.
    orientation : str or mapping, optional
        In place of ``axis`` and ``angle``, as for ``forces.gravity_field``.
    digest : str
        SHA-256 that the file of "igrf" must have; runs record it, so that they are repeated with the same field.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; an epoch that the coefficients do not reach.
    MissingExtra
        IGRF without ppigrf and without a file.
    FileProblem
        A file that cannot be read.

    Examples
    --------
    >>> magnetic_field().at(0.0, (0.0, 0.0, 7e6)).round(7)
    array([ 1.10e-06, -3.40e-06, -4.43e-05])
    """
    choice(kind, "kind", ("dipole", "igrf"))
    year = _year(epoch)
    for name, value in (("degree", degree), ("file", file)):
        if kind == "dipole" and value is not None:
            raise InvalidInput(f"{name} is that of an IGRF field; give kind='igrf', or leave it out")
    own, known = None, text(digest, "digest")
    if coefficients is not None:
        own = array(coefficients, "coefficients")
        if kind != "dipole" or own.shape != (3,) or not own.any():
            raise InvalidInput("coefficients must be g_10, g_11 and h_11 of a dipole, 3 numbers that are not all zero")
    if kind == "dipole":
        table = {int(row[0]): row[1:] for row in DIPOLE}
        g10, g11, h11 = own.tolist() if own is not None else _between(tuple(table), list(table.values()), year, "IGRF")
        gauss, top = {(1, 0): (g10, 0.0), (1, 1): (g11, h11)}, 1
    else:
        needed = "kind='igrf' needs the coefficients of ppigrf: pip install 'polhode[magnetic]', or give file="
        where = str(extra("ppigrf", needed).ppigrf.shc_fn) if file is None else path(file, "file")
        known = reading.same(where, "magnetic field", known)
        years, by_order, called_so = _read(where, known)
        every = dict(zip(by_order, _between(years, list(zip(*by_order.values(), strict=True)), year, called_so),
                         strict=True))  # fmt: skip
        last = max(n for n, _ in every)
        top = last if degree is None else whole(degree, "degree", least=1)
        if top > last:
            raise InvalidInput(f"degree is {top}, but {called_so} ends at {last}; give at most that")
        gauss = {(n, m): (every[n, m], every.get((n, -m), 0.0) if m else 0.0) for n, m in every if m >= 0 and n <= top}
    k, start = oriented(orientation, axis, angle)
    size, turning = number(radius, "radius", "m", positive=True), number(rotation, "rotation", "rad / s")
    frame = equator(k)
    numbers = (*(float(x) for row in frame for x in row), turning, start, size, float(top), *_terms(gauss, top))
    told = None if own is None else own.tolist()
    given = {"degree": degree, "file": file, "digest": known or None, "coefficients": told}
    arguments = {
        "kind": kind, "epoch": year, **{name: value for name, value in given.items() if value is not None},
        "radius": size, "rotation": turning, "angle": start, "axis": plain(axis) if orientation is None else plain(k),
    }  # fmt: skip
    return MagneticField(arguments, gauss, numbers).sealed()


def field_of(given: object) -> MagneticField:
    """A field from its arguments, or as it is."""
    remedy = "make it anew with other arguments, such as coefficients"
    return MagneticField.unchanged(magnetic_field, given, "magnetic_field", remedy)


# ------------------------------------------------------------------ coefficients
def _year(epoch: object) -> float:
    """A year with its fraction."""
    if not isinstance(epoch, str | datetime.date):
        return number(epoch, "epoch")
    try:
        when = datetime.datetime.fromisoformat(epoch if isinstance(epoch, str) else epoch.isoformat())
    except ValueError:
        raise InvalidInput(
            f"epoch is {shown(epoch)}, not a date; write such as '2025-03-01T12:00', or 2025.16"
        ) from None
    begin = datetime.datetime(when.year, 1, 1)
    days = 366 if when.year % 4 == 0 and (when.year % 100 or when.year % 400 == 0) else 365
    return when.year + (when.replace(tzinfo=None) - begin).total_seconds() / (86400 * days)


def _between(years: Sequence[float], rows: list[Any], year: float, called_so: str) -> list[float]:
    """Coefficients of a year, linear between those of a model."""
    if not years[0] <= year <= years[-1]:
        raise InvalidInput(f"epoch is {year:g}, but the coefficients of {called_so} are those of {years[0]:g} to "
                           f"{years[-1]:g}; give an epoch between them")  # fmt: skip
    return [float(np.interp(year, years, column)) for column in zip(*rows, strict=True)]


@lru_cache(8)
def _read(file: str, digest: str) -> tuple[tuple[float, ...], dict[tuple[int, int], tuple[float, ...]], str]:
    """Years, coefficients by degree and order (negative for h), and the name, of an .shc file."""
    text = reading.text(file, "magnetic field")
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    try:
        _, degree, count = map(int, lines[0][:3])
        years = tuple(map(float, lines[1]))
        found = {(int(row[0]), int(row[1])): tuple(map(float, row[2:])) for row in lines[2:]}
        fits = len(years) == count and len(found) == degree * (degree + 2)
        fits = fits and all(1 <= n <= degree and abs(m) <= n for n, m in found)
        fits = fits and all(len(row) == count for row in found.values())
        fits = fits and bool(np.isfinite([years, *found.values()]).all() and (np.diff(years) > 0).all())
    except (ValueError, IndexError):
        fits = False
    if not fits:
        raise FileProblem(f"{file} is no whole .shc file of coefficients (a line with the lowest and the highest "
                          "degree and the number of years, one of years, then rows of n, m and a value for each "
                          "year); give such a file, or fetch it again")  # fmt: skip
    return years, found, Path(file).name


# ------------------------------------------------------------------ around a body
def of_few_terms(body, t, numbers):
    """The field of a dipole, in the axes of space."""
    return field_at(numbers.p, numbers.at, t, tuple(body.position))


inner = helper(field_at)


@helper
def field_of_terms(p, at, t, r):
    """The field of a model of many terms, as ``programs.opaque`` calls it."""
    return inner(p, at, t, r)


MANY_TERMS = Opaque(field_of_terms, 3, "a magnetic field of many terms")


def of_many_terms(body, t, numbers):
    """The field of a model, in the axes of space."""
    return MANY_TERMS(numbers, t, body.position)


def quantity(field: MagneticField) -> Surrounding:
    """A field as a quantity around bodies; its degree says how it is computed."""
    kind = f"{field.arguments['kind']}_field"
    recorded = {name: value for name, value in field.arguments.items() if name != "kind"}
    return made(of_few_terms if kind == "dipole_field" else of_many_terms, kind, recorded, numbers=Table(field.numbers))


@answering
@described_by(magnetic_field)
def dipole_field(
    *,
    epoch: Annotated[Any, Form.NUMBER] = 2025.0,
    coefficients: Numbers | None = None,
    radius: Length = EARTH_RADIUS,
    rotation: Rate = EARTH_RATE,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
) -> Surrounding:
    """The magnetic field of a dipole that turns with its planet, by default that of the Earth.

    Parameters
    ----------
    epoch : float or str
        Year with its fraction, or a date, of the coefficients of the Earth (IGRF-14, degree 1).

    Returns
    -------
    Surrounding
        A field (T, space), such as the ``field`` that ``polhode.loads.torquers`` and ``polhode.loads.magnet`` read.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; an epoch that the coefficients do not reach.

    See Also
    --------
    igrf_field : with higher degrees.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.surroundings.dipole_field(coefficients=(-3e4, 0, 0))
    >>> craft = ph.system(ph.body("craft", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(3.986004415e14),
    ...                   ph.loads.magnet((0, 0, 0.1)), surroundings={"field": field})
    >>> ds = ph.integrate(craft, step=1.0, steps=60, position=(6.878e6, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> round(float(ds.angular_velocity[-1, 1]), 5)
    -0.00036
    """
    field = magnetic_field("dipole", epoch=epoch, coefficients=coefficients, radius=radius, rotation=rotation,
                           angle=angle, axis=axis, orientation=orientation)  # fmt: skip
    return quantity(field)


@answering
@described_by(magnetic_field)
def igrf_field(
    *,
    epoch: Annotated[Any, Form.NUMBER] = 2025.0,
    degree: int | None = None,
    file: str | None = None,
    radius: Length = EARTH_RADIUS,
    rotation: Rate = EARTH_RATE,
    angle: Angle = 0.0,
    axis: Vector = (0.0, 0.0, 1.0),
    orientation: Orientation | None = None,
    digest: str = "",
) -> Surrounding:
    """The magnetic field of the Earth by the International Geomagnetic Reference Field.

    Parameters
    ----------
    degree : int, optional
        Highest degree, 1 to 13; by default all that there are.

    Returns
    -------
    Surrounding
        A field (T, space), such as the ``field`` that ``polhode.loads.torquers`` and ``polhode.loads.magnet`` read.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong; an epoch that the coefficients do not reach.
    MissingExtra
        Without ppigrf and without a file.
    FileProblem
        A file that cannot be read.

    See Also
    --------
    dipole_field : the dipole alone.

    Examples
    --------
    >>> import polhode as ph
    >>> field = ph.surroundings.igrf_field(epoch=2026.2, degree=8)
    >>> bus = ph.system(ph.body("bus", 4.0, (0.02, 0.03, 0.03)), ph.loads.central(ph.planets.EARTH.mu),
    ...                 ph.loads.magnet((0.0, 0.0, 0.2)), surroundings={"field": field})
    >>> ds = ph.integrate(bus, step=1.0, steps=60, position=(6878e3, 0, 0), velocity=(0, 4.8e3, 5.9e3))
    >>> bool(abs(ds.angular_velocity[-1]).max() > 1e-3)
    True
    """
    field = magnetic_field("igrf", epoch=epoch, degree=degree, file=file, radius=radius, rotation=rotation, angle=angle,
                           axis=axis, orientation=orientation, digest=digest)  # fmt: skip
    return quantity(field)
