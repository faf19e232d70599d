"""Densities of the air around a body: in layers, and by NRLMSIS 2.1 [emmert2022], sampled by the package pymsis.

The logarithm of its density is a sum of spherical harmonics to degree ``DEGREE``, in axes whose x points at the mean
Sun, with coefficients that are cubic splines of the radius:

    log rho(r, t) = sum c_nm(|r|) V_nm + s_nm(|r|) W_nm,      V_nm + i W_nm = P_nm(sin latitude) exp(i m psi),

psi the angle of the mean Sun, that is the local solar time less twelve hours. The sums are fitted at the radii of the
rows to means over a day, so that what depends on the longitude alone is averaged. Latitude and radius are geocentric;
the ellipsoid is that of WGS84. Beyond the first and the last row the logarithm goes on in straight lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import pi, tau
from typing import Annotated, Any

import numpy as np

from polhode.algebra.so3 import dot
from polhode.arguments import UNKNOWN, Array, ArrayLike, array, number
from polhode.arguments.words import Length, Rows, TableOf, Time, Unit, described_by
from polhode.epochs import epoch_of, instants, texts, without_tdb
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel.access import segment
from polhode.kernel.jit import helper
from polhode.lazy import extra
from polhode.programs.opaque import Opaque
from polhode.surroundings.paths import table_of_rows
from polhode.surroundings.planets import earth_rotation_angle
from polhode.surroundings.surrounding import AsMade, Surrounding, Table, made

SPIN, ANGLE, RATE, SCALE, BELOW, ABOVE, TOP, COUNT, ROWS = 0, 3, 4, 5, 6, 7, 8, 9, 10
"""Numbers of drag in this air: rotation; direction of the mean Sun at time 0 and its rate; half the coefficient; rates
of log rho by radius below the first row and above the last; the last radius; number of rows."""
DEGREE = 6
TERM = 8
"""Of a term in a row, behind the radius: four coefficients of the cubic in the distance from it, of c and of s."""
ROW = 1 + TERM * (DEGREE + 1) * (DEGREE + 2) // 2
SURFACE, FLATTENING = 6378137.0, 1.0 / 298.257223563  # of the ellipsoid WGS84
ROTATION = 7.2921150e-5  # mean rotation rate of the Earth, rad / s
SUN_RATE = ROTATION - tau / 86400.0  # rate of the mean Sun against the axes of space, rad / s
ALTITUDES = 1e3 * np.r_[100:200:10, 200:500:25, 500:1001:50]  # altitudes of the rows over the equator, m
LATITUDES, HOURS, DAYTIMES = 16, 24, 8
"""Samples for a row: latitudes, local solar times, and times of the day over which it is averaged."""
MOST_ACTIVE, LONGEST = 1e4, 1e12
"""Indices beyond any, and times (s) beyond any date."""
CHECKS = 2000  # random places and times at which the error is taken


# ------------------------------------------------------------------ in the loads
def log_density(p, at, t, r):
    """Logarithm of the density at a position, in the axes of space."""
    size = np.sqrt(dot(r, r))
    angle = p[at + ANGLE] + p[at + RATE] * t
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = (c * r[0] + s * r[1]) / size, (c * r[1] - s * r[0]) / size, r[2] / size
    i = at + ROWS + ROW * segment(p, at + ROWS, ROW, int(p[at + COUNT]), size)
    first, last = p[at + ROWS], p[at + TOP]
    inside = min(max(size, first), last)
    d = inside - p[i]
    total = p[at + BELOW] * min(size - first, 0.0) + p[at + ABOVE] * max(size - last, 0.0)
    k = i + 1
    V, W = 1.0 + 0.0 * x, 0.0 * x
    for m in range(DEGREE + 1):
        if m > 0:
            V, W = x * V - y * W, x * W + y * V
        v1, w1, v2, w2 = V, W, 0.0 * V, 0.0 * V
        for n in range(m, DEGREE + 1):
            if n > m:
                f1, f2 = (2 * n - 1) / (n - m), (n + m - 1) / (n - m)
                v1, v2 = f1 * z * v1 - f2 * v2, v1
                w1, w2 = f1 * z * w1 - f2 * w2, w1
            total += v1 * (p[k] + d * (p[k + 1] + d * (p[k + 2] + d * p[k + 3])))
            total += w1 * (p[k + 4] + d * (p[k + 5] + d * (p[k + 6] + d * p[k + 7])))
            k += TERM
    return total


# ------------------------------------------------------------------ the samples
@dataclass(frozen=True, eq=False, repr=False)
class Air(AsMade):
    """Air by NRLMSIS; ``polhode.surroundings.nrlmsis`` makes it."""

    maker = "nrlmsis"
    arguments: Mapping[str, Any]  # the arguments of ``nrlmsis``, in JSON types
    numbers: tuple[float, ...]  # what drag reads, from ANGLE on, but for the coefficient
    # root mean square of the relative difference from NRLMSIS itself, over places from the first to the last altitude
    # and times of the run
    error: float
    largest: float  # the largest of these differences

    def density(self, t: float, position: ArrayLike) -> float:
        """The density (kg / m^3) at a time of the run (s) and a position (m), in the axes of space."""
        r = array(position, "position", "m")
        if r.shape != (3,) or not r.any():
            raise InvalidInput(f"position must be 3 numbers, not all zero, but is {shown(position)}")
        return float(np.exp(log_density((0.0, 0.0, 0.0, *self.numbers), 0, number(t, "t", "s"), tuple(r))))


@answering
def nrlmsis(
    epoch: str | None = None, stop: Time = 86400.0, *, f107: float = 150.0, f107a: float | None = None, ap: float = 4.0
) -> Air:
    """Air of the Earth by the empirical model NRLMSIS 2.1 (``polhode[msis]``), for ``forces.drag`` and plates.

    The model is sampled when this is called, in about a second: density by height, latitude and local solar time, from
    100 to 1000 km; beyond, its logarithm is continued in straight lines. What depends on the longitude alone is
    averaged. The difference from the model is measured at random places and times, see ``error``; the model itself is
    within some 15 % of the real air where the activity of the Sun is known. SI units, axes of the Earth's equator.

    Parameters
    ----------
    epoch : str
        Instant of time 0 of the run, such as "2026-03-20T12:00:00 UTC". A scenario may leave it out and have it under
        [run].
    stop : float
        Time at which the run ends, s: the season is that of the middle.
    f107 : float
        Flux of the Sun at 10.7 cm on the day before, 1e-22 W / (m^2 Hz): 70 of a quiet Sun, 150 mean, 250 active.
    f107a : float, optional
        Its mean over 81 days; by default ``f107``.
    ap : float
        Daily geomagnetic index Ap: 4 quiet, 15 mean, 100 in a storm.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong.
    MissingExtra
        Without pymsis.

    See Also
    --------
    nrlmsis_air : the same for loads.

    Examples
    --------
    >>> import polhode as ph
    >>> air = ph.surroundings.nrlmsis("2026-03-20T12:00:00 UTC", f107=200.0)
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[ph.forces.drag(coefficient=0.02, air=air)])
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 4.8e3, 6.0e3))
    >>> bool(ds.energy[-1] < ds.energy[0])
    True
    """
    if epoch is None:
        raise InvalidInput("epoch is missing; give the instant of time 0, such as '2026-03-20T12:00:00 UTC'")
    instant, end = str(epoch_of(epoch)), number(stop, "stop", "s", positive=True)
    flux = number(f107, "f107", positive=True)
    mean = flux if f107a is None else number(f107a, "f107a", positive=True)
    index = number(ap, "ap")
    if index < 0.0:
        raise InvalidInput(f"ap is {index:g}; the index is 0 or more")
    if not (max(flux, mean, index) < MOST_ACTIVE and min(flux, mean) > 1.0 and end < LONGEST):
        raise InvalidInput(
            f"NRLMSIS has no density for f107 = {flux:g}, f107a = {mean:g}, ap = {index:g} until {end:g} s; give "
            "values that have been observed, such as 150, 150, 4, and times in seconds"
        )
    numbers, error, largest = _sampled(instant, end, flux, mean, index)
    arguments = {"epoch": instant, "stop": end, "f107": flux, "f107a": mean, "ap": index}
    return Air(arguments, numbers, error, largest).sealed()


AirByModel = Annotated[Air | Mapping[str, Any], TableOf(nrlmsis)]


def air_of(given: object) -> Air:
    """Air from its arguments, or as it is."""
    return Air.unchanged(nrlmsis, given, "air", "make it anew with other arguments")


@lru_cache(8)
def _sampled(epoch: str, stop: float, f107: float, f107a: float, ap: float) -> tuple[tuple[float, ...], float, float]:
    """Numbers of the air from the direction of the Sun on, with half the coefficient 1; and the errors."""
    from scipy.interpolate import CubicSpline

    text = texts("UTC", instants(without_tdb(epoch_of(epoch)), [0.0], "UTC"), 3)[0]
    begin = np.datetime64(text.replace(":60.", ":59.").removesuffix("Z"), "ms")
    since_midnight = float((begin - begin.astype("datetime64[D]")) / np.timedelta64(1, "ms")) / 1000.0
    sun = earth_rotation_angle(epoch) - tau * since_midnight / 86400.0 + pi

    def logarithm(t: Array, psi: Array, latitude: Array, radius: Array) -> Array:
        height, angle = _geodetic(radius, latitude)
        hours = (since_midnight + t) / 3600.0
        return np.log(_model(begin, t, np.degrees(psi) + 180.0 - 15.0 * hours, angle, height, (f107, f107a, ap)))

    latitudes = np.arcsin(np.polynomial.legendre.leggauss(LATITUDES)[0])
    grid = [latitudes, tau * np.arange(HOURS) / HOURS, 0.5 * stop + 86400.0 * (np.arange(DAYTIMES) / DAYTIMES - 0.5)]
    L, P, T = (one.ravel() for one in np.meshgrid(*grid, indexing="ij"))
    basis = _basis(L[::DAYTIMES], P[::DAYTIMES])
    radii = SURFACE + ALTITUDES
    means = [logarithm(T, P, L, np.full(L.shape, r)).reshape(-1, DAYTIMES).mean(axis=1) for r in radii]
    if not np.isfinite(means).all():
        raise InvalidInput(f"NRLMSIS has no density for f107 = {f107:g}, f107a = {f107a:g}, ap = {ap:g}; give values "
                           "that have been observed, such as 150, 150, 4")  # fmt: skip
    spline = CubicSpline(radii, np.linalg.lstsq(basis, np.array(means).T, rcond=None)[0].T)
    terms = spline.c[::-1].transpose(1, 2, 0).reshape(len(radii) - 1, -1)  # rows: c and s of each term, rising powers
    at_ends = (spline(radii[[0, -1]], 1)[:, :1]).ravel()
    rows = np.concatenate([radii[:-1, None], terms], axis=1)
    numbers = (sun % tau, SUN_RATE, 1.0, *at_ends, radii[-1], len(rows), *rows.ravel())
    rng = np.random.default_rng(1)
    t, r = stop * rng.random(CHECKS), rng.uniform(radii[0], radii[-1], CHECKS)
    latitude, psi = np.arcsin(rng.uniform(-1.0, 1.0, CHECKS)), tau * rng.random(CHECKS)
    ours = np.einsum("kj,kj->k", _basis(latitude, psi), spline(r))
    off = np.expm1(ours - logarithm(t, psi, latitude, r))
    return tuple(map(float, numbers)), float(np.sqrt(np.mean(off**2))), float(np.abs(off).max())


def _basis(latitude: Array, psi: Array) -> Array:
    """Values of V and W of each term (n, 2 terms), in the order of a row."""
    x, y, z = np.cos(latitude) * np.cos(psi), np.cos(latitude) * np.sin(psi), np.sin(latitude)
    columns = []
    V, W = np.ones_like(x), np.zeros_like(x)
    for m in range(DEGREE + 1):
        if m > 0:
            V, W = x * V - y * W, x * W + y * V
        before, now = np.zeros((2, len(x))), np.stack([V, W])
        for n in range(m, DEGREE + 1):
            if n > m:
                before, now = now, ((2 * n - 1) * z * now - (n + m - 1) * before) / (n - m)
            columns += [now[0], now[1]]
    return np.stack(columns, axis=-1)


def _geodetic(radius: Array, latitude: Array) -> tuple[Array, Array]:
    """Height (m) over the ellipsoid and geodetic latitude (rad) from geocentric ones."""
    e2 = FLATTENING * (2.0 - FLATTENING)
    z, flat = radius * np.sin(latitude), radius * np.cos(latitude)
    angle = latitude
    for _ in range(6):
        N = SURFACE / np.sqrt(1.0 - e2 * np.sin(angle) ** 2)
        angle = np.arctan2(z + e2 * N * np.sin(angle), flat)
    N = SURFACE / np.sqrt(1.0 - e2 * np.sin(angle) ** 2)
    return flat * np.cos(angle) + z * np.sin(angle) - N * (1.0 - e2 * np.sin(angle) ** 2), angle


def _model(
    begin: np.datetime64, t: Array, longitude: Array, latitude: Array, height: Array,
    activity: tuple[float, float, float],
) -> Array:  # fmt: skip
    """Densities (kg / m^3) by pymsis: times after ``begin`` (s), degrees east, rad north, m."""
    pymsis = extra("pymsis", "air by NRLMSIS needs pymsis: pip install 'polhode[msis]'")
    dates = begin + (1e3 * np.asarray(t)).astype("timedelta64[ms]")
    f107, f107a, ap = (np.full(len(dates), x) for x in activity)
    found = pymsis.calculate(dates, longitude % 360.0, np.degrees(latitude), height / 1e3, f107, f107a,
                             np.repeat(ap[:, None], 7, axis=1), version=2.1)  # fmt: skip
    return np.asarray(found[:, 0], dtype=float)


def falling(body, density, radius, scale):
    """rho exp(-(r - R) / H)."""
    return density * np.exp(-((body.position @ body.position) ** 0.5 - radius) / scale)


def between_rows(body, numbers):
    """Its logarithm is linear in r between rows of radius, density and rate of the logarithm."""
    p, at = numbers.p, numbers.at
    size = (body.position @ body.position) ** 0.5
    i = at + 1 + LAYER * segment(p, at + 1, LAYER, int(p[at]), size)
    return p[i + 1] * np.exp(-(size - p[i]) * p[i + 2])


inner = helper(log_density)


@helper
def density_of_model(p, at, t, r):
    """Density by NRLMSIS, as ``programs.opaque`` calls it."""
    return np.exp(inner(p, at - ANGLE, t, r))


MODEL = Opaque(density_of_model, 1, "the density of air by NRLMSIS")


def of_model(body, t, numbers):
    """Density by NRLMSIS."""
    return MODEL(numbers, t, body.position)


LAYER = 3  # numbers of a row of layered air
STANDARD = (
    (0, 1.225, 7.249), (25, 3.899e-2, 6.349), (30, 1.774e-2, 6.682), (40, 3.972e-3, 7.554), (50, 1.057e-3, 8.382),
    (60, 3.206e-4, 7.714), (70, 8.770e-5, 6.549), (80, 1.905e-5, 5.799), (90, 3.396e-6, 5.382), (100, 5.297e-7, 5.877),
    (110, 9.661e-8, 7.263), (120, 2.438e-8, 9.473), (130, 8.484e-9, 12.636), (140, 3.845e-9, 16.149),
    (150, 2.070e-9, 22.523), (180, 5.464e-10, 29.740), (200, 2.789e-10, 37.105), (250, 7.248e-11, 45.546),
    (300, 2.418e-11, 53.628), (350, 9.518e-12, 53.298), (400, 3.725e-12, 58.515), (450, 1.585e-12, 60.828),
    (500, 6.967e-13, 63.822), (600, 1.454e-13, 71.835), (700, 3.614e-14, 88.667), (800, 1.170e-14, 124.64),
    (900, 5.245e-15, 181.05), (1000, 3.019e-15, 268.00),
)  # fmt: skip
"""Altitude (km), density (kg / m^3) and scale height (km) [vallado2013, table 8-4]: US Standard Atmosphere 1976 below
25 km, CIRA-72 above, for mean activity of the Sun."""


@answering
def exponential_air(density: Annotated[float, Unit("kg_m3")], radius: Length, scale: Length) -> Surrounding:
    """Air whose density falls exponentially with the distance from the origin: ``density exp(-(r - radius) / scale)``.

    Parameters
    ----------
    density : float
        Density (kg/m3) at ``radius``.
    radius : float
        Distance from the origin (m), not altitude, at which the density is given.
    scale : float
        Scale height (m).

    Returns
    -------
    Surrounding
        A density (kg/m3), such as the ``air_density`` that ``polhode.loads.drag`` reads.

    See Also
    --------
    layered_air : between rows of a table.
    nrlmsis_air : by height, latitude, local time and activity of the Sun.

    Examples
    --------
    >>> import polhode as ph
    >>> air = ph.surroundings.exponential_air(1e-12, 6.878e6, 60e3)
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.drag(2.2, 1.0),
    ...                   surroundings={"air_density": air})
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6.878e6, 0, 0), velocity=(0, 7.6e3, 0))
    >>> round(float(ds.energy_change[-1]))
    -4062
    """
    return made(
        falling, "exponential_air", density=number(density, "density", "kg / m**3", positive=True),
        radius=number(radius, "radius", "m", positive=True), scale=number(scale, "scale", "m", positive=True),
    )  # fmt: skip


def layers_of(table: object, what: str, scale: float = 1.0) -> tuple[list[list[float]], Table]:
    """The rows of a table of distances and densities, and their numbers, the densities times a scale."""
    layers = table_of_rows(table, "table", 2, 2, UNKNOWN)
    if not ((np.diff(layers[:, 0]) > 0).all() and (layers > 0).all()):
        raise InvalidInput(f"table must have rising {what} and positive densities; sort its rows")
    rates = -np.diff(np.log(layers[:, 1])) / np.diff(layers[:, 0])
    rows = np.column_stack([layers[:-1, 0], scale * layers[:-1, 1], rates])
    return layers.tolist(), Table((float(len(rows)), *rows.ravel().tolist()))


@answering
def layered_air(table: Rows) -> Surrounding:
    """Air whose density is given at some distances from the origin, its logarithm linear between them.

    Beyond the first and the last row it goes on in straight lines. Its kinks at the rows limit methods to order 2.

    Parameters
    ----------
    table : array_like (n, 2)
        Rows of distance from the origin (m) and density (kg/m3), n >= 2, distances rising.

    Returns
    -------
    Surrounding
        A density (kg/m3), such as the ``air_density`` that ``polhode.loads.drag`` reads.

    Raises
    ------
    InvalidInput
        Distances that do not rise, or densities that are not positive.

    Examples
    --------
    >>> import polhode as ph
    >>> air = ph.surroundings.layered_air([(6.6e6, 1e-10), (6.8e6, 1e-11), (7.0e6, 2e-12)])
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(3.986004415e14), ph.loads.drag(2.2, 1.0),
    ...                   surroundings={"air_density": air})
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6.878e6, 0, 0), velocity=(0, 7.6e3, 0))
    >>> round(float(ds.energy_change[-1]))
    -17193
    """
    layers, numbers = layers_of(table, "distances")
    return made(between_rows, "layered_air", {"table": layers}, numbers=numbers)


@answering
@described_by(nrlmsis)
def nrlmsis_air(
    epoch: str | None = None, stop: Time = 86400.0, *, f107: float = 150.0, f107a: float | None = None, ap: float = 4.0
) -> Surrounding:
    """Air of the Earth by the empirical model NRLMSIS 2.1 (``polhode[msis]``), as ``surroundings.nrlmsis`` samples it.

    Parameters
    ----------
    epoch : str
        Instant of time 0 of the run, such as "2026-03-20T12:00:00 UTC".

    Returns
    -------
    Surrounding
        A density (kg/m3), such as the ``air_density`` that ``polhode.loads.drag`` reads.

    Raises
    ------
    InvalidInput
        Names the argument that is wrong.
    MissingExtra
        Without pymsis.

    See Also
    --------
    nrlmsis : the same for ``polhode.forces.drag`` and plates.

    Examples
    --------
    >>> import polhode as ph
    >>> craft = ph.system(ph.body("craft", 100.0), ph.loads.central(ph.planets.EARTH.mu), ph.loads.drag(2.2, 1.0),
    ...                   surroundings={"air_density": ph.surroundings.nrlmsis_air("2026-03-20T12:00:00 UTC")})
    >>> ds = ph.integrate(craft, step=60.0, steps=60, position=(6778e3, 0, 0), velocity=(0, 4.8e3, 6.0e3))
    >>> bool(ds.energy_change[-1] < 0.0)
    True
    """
    air: Air = nrlmsis(epoch, stop, f107=f107, f107a=f107a, ap=ap)
    return made(of_model, "nrlmsis_air", air.arguments, numbers=Table(air.numbers))


@answering
def standard_air(surface: float = 6378137.0) -> list[list[float]]:
    """Radius (m) and density (kg / m^3) of the standard exponential atmosphere, as a ``table`` for drag.

    It holds for mean activity of the Sun, everywhere alike. By NRLMSIS 2.1, between a quiet and an active Sun (F10.7
    from 70 to 250), night and day, the air has 0.2 to 3.5 times this density at 300 km, and 0.05 to 10 times at 500 km.
    The last row, at 1268 km, continues the last scale height.

    Parameters
    ----------
    surface : float
        Radius of the surface, m.

    Returns
    -------
    list of [float, float]

    Raises
    ------
    InvalidInput
        The radius is not positive.

    Examples
    --------
    >>> import polhode as ph
    >>> air = ph.forces.drag(coefficient=0.02, table=ph.forces.standard_air())
    >>> craft = ph.orbit(3.986004415e14, forces=[air])
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6.778e6, 0, 0), velocity=(0, 7.67e3, 0))
    >>> round(float(ds.energy_change[-1]))
    -87
    """
    base = number(surface, "surface", "m", positive=True)
    last, density, height = STANDARD[-1]
    rows = [[base + 1e3 * altitude, rho] for altitude, rho, _ in STANDARD]
    return [*rows, [base + 1e3 * (last + height), density * float(np.exp(-1.0))]]
