"""Densities of the air around a body."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from polhode.arguments import UNKNOWN, number
from polhode.arguments.words import Length, Rows, Time, Unit
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import segment
from polhode.kernel.jit import helper
from polhode.programs.opaque import Opaque
from polhode.surroundings.nrlmsis import ANGLE, log_density, nrlmsis
from polhode.surroundings.paths import table_of_rows
from polhode.surroundings.surrounding import Surrounding, Table, made


def falling(body, density, radius, scale):
    """rho exp(-(r - R) / H)."""
    return density * np.exp(-((body.position @ body.position) ** 0.5 - radius) / scale)


def between_rows(body, numbers):
    """Its logarithm is linear in r between rows of radius, density and rate of the logarithm."""
    p, at = numbers.p, numbers.at
    size = (body.position @ body.position) ** 0.5
    i = at + 1 + ROW * segment(p, at + 1, ROW, int(p[at]), size)
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


ROW = 3
"""Numbers of a row of layered air."""
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

    Raises
    ------
    InvalidInput
        No positive number.

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


def layers_of(table: Any, what: str, scale: float = 1.0) -> tuple[list[list[float]], Table]:
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
def nrlmsis_air(
    epoch: str | None = None, stop: Time = 86400.0, *, f107: float = 150.0, f107a: float | None = None, ap: float = 4.0
) -> Surrounding:
    """Air of the Earth by the empirical model NRLMSIS 2.1 (``polhode[msis]``), as ``surroundings.nrlmsis`` samples it.

    Parameters
    ----------
    epoch : str
        Instant of time 0 of the run, such as "2026-03-20T12:00:00 UTC".
    stop : float
        Time (s) at which the run ends: the season is that of the middle.
    f107 : float
        Flux of the Sun at 10.7 cm on the day before, 1e-22 W / (m^2 Hz).
    f107a : float, optional
        Its mean over 81 days; by default ``f107``.
    ap : float
        Daily geomagnetic index Ap.

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
    air: Any = nrlmsis(epoch, stop, f107=f107, f107a=f107a, ap=ap)
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
