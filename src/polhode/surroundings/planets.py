"""Constants of planets, moons and the Sun in metres and seconds, with sources.

    earth = planets.EARTH
    ph.orbit(earth.mu, forces=[forces.zonal(**earth.zonal), forces.drag(..., rotation=earth.rotation)])

The zonal coefficients are unnormalised, J_n = -sqrt(2n + 1) C_n0 with the normalised C_n0 of a gravity field. They
belong to the ``mu`` and ``radius`` given with them, as printed in the source; ``mean_radius`` is the mean radius of the
surface. They refer to the body's axis of rotation, by default z in ``polhode.forces.zonal``. Coefficients that are not
listed are not zero, but not known well enough.

====== ====================================================================================================
body   source of mu, radius and coefficients
====== ====================================================================================================
EARTH  EGM96 [lemoine1998]; tide-free
MOON   JPL ephemeris DE430 [folkner2014], from GRAIL; without the tidal part of J2
MARS   MRO110B2, Mars without its moons [konopliv2011]; without the tidal part of J2
EUROPA Galileo [anderson1998]: mu +- 2e10, J2 +- 8.2e-6; not axially symmetric (C22 = 1.3e-4)
SUN    JPL ephemeris DE430 [folkner2014]
====== ====================================================================================================

Rotation rates and mean radii are those of the IAU working group [archinal2011], except the Earth's rate [petit2010]
and the Sun's radius [prsa2016].
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Annotated, Any, Literal

import numpy as np

from polhode.arguments import Array, choice, number, unit_vector
from polhode.arguments.recorded import called
from polhode.arguments.words import Angle, TableOf, Time, Vector
from polhode.epochs import DAY, STARTS, Epoch, epoch_of, instants, without_tdb
from polhode.errors import InvalidInput, answering, shown
from polhode.lazy import extra, public_names

JD_2000 = 2451545.0
ARC = pi / 648000.0
LEAPS_BEFORE_2000 = sum(start <= 0 for start in STARTS)
ERA = (0.7790572732640, 1.00273781191135448)
"""Earth rotation angle at 2000-01-01T12:00:00 UT1, in turns, and turns in a day [petit2010, eq. 5.15]."""
GMST = (67310.54841, 876600.0 * 3600.0 + 8640184.812866, 0.093104, -6.2e-6)
"""Mean sidereal time of Greenwich, s, by powers of centuries of UT1 from 2000-01-01T12 [vallado2013, eq. 3-47]."""


def days_of_ut(epoch: object, ut1_utc: float = 0.0) -> float:
    """Days of UT1 from 2000-01-01T12:00:00 to an instant."""
    counted = instants(without_tdb(epoch_of(epoch)), [0.0], "UTC")[0]
    return (float(counted - (bisect_right(STARTS, counted) - LEAPS_BEFORE_2000)) + ut1_utc) / DAY - 0.5


@answering
def earth_rotation_angle(epoch: object) -> float:
    """Angle from x of space to the meridian of Greenwich, for the ``angle`` of gravity and magnetic fields.

    Precession, nutation and polar motion are neglected, 15 km at the surface in 2023: ``earth_orientation`` has them.
    UTC is taken for UT1 (0.9 s at most, or 7e-5 rad).

    Parameters
    ----------
    epoch : str, datetime or astropy Time
        An instant, such as "2026-03-20T12:00:00 UTC".

    Returns
    -------
    float
        rad, from 0 to 2 pi.

    Raises
    ------
    InvalidInput
        No instant.

    Examples
    --------
    >>> round(earth_rotation_angle("2000-01-01T12:00:00 UTC"), 6)
    4.894961
    """
    return 2.0 * pi * ((ERA[0] + ERA[1] * days_of_ut(epoch)) % 1.0)


@answering
def earth_orientation(
    epoch: str | None = None, *, ut1_utc: Time | None = None, source: Literal["builtin", "astropy"] = "builtin"
) -> dict[str, Any]:
    """The Earth's axis and the angle of Greenwich, as arguments of gravity and magnetic fields.

    Polar motion is left out, up to 18 m at the surface: the axis is that about which the Earth turns.

    Parameters
    ----------
    epoch : str
        The instant of time 0, such as "2026-03-20T12:00:00 UTC". In a scenario by default that under [run].
    ut1_utc : float
        UT1 - UTC, s, at most 0.9, which the IERS publishes: 465 m at the equator for each second. By default 0, with
        astropy that of its tables.
    source : str
        "builtin": the precession of IAU 1976 and the four largest terms of nutation, in the axes of the equator and
        equinox of J2000 (25 milliseconds of arc from those of the ICRS), at the surface within 20 m of astropy.
        "astropy": IAU 2006/2000A, in the axes of the ICRS, with UT1 from the tables of the IERS that come with
        ``polhode[astropy]``; they end about a year after they were published.

    Returns
    -------
    dict
        ``axis`` (3,) towards the north pole and ``angle``, rad, from where the equator rises through the plane z = 0 to
        the meridian of Greenwich: ``forces.gravity_field("egm2008", **planets.earth_orientation(epoch))``.

    Raises
    ------
    InvalidInput
        No instant, or one that is missing; an instant beyond the tables.
    MissingExtra
        The source "astropy" without astropy.

    Examples
    --------
    >>> round(earth_orientation("2026-03-20T12:00:00 UTC")["axis"][0], 6)
    0.002559
    """
    if epoch is None:
        raise InvalidInput("epoch is missing; give the instant of time 0, in a scenario under [run]")
    lead = None if ut1_utc is None else number(ut1_utc, "ut1_utc", "s")
    if lead is not None and abs(lead) > 1.0:
        raise InvalidInput(f"ut1_utc is {lead:g} s, but leap seconds keep it below 1 s; give what the IERS publishes")
    axes = {"builtin": _builtin_axes, "astropy": _astropy_axes}
    pole, greenwich = axes[choice(source, "source", axes)](epoch_of(epoch), lead)
    node, across, _ = equator(pole)
    return {"axis": tuple(pole.tolist()), "angle": float(np.arctan2(across @ greenwich, node @ greenwich) % (2.0 * pi))}


def _builtin_axes(epoch: Epoch, lead: float | None) -> tuple[Array, Array]:
    """Directions of the pole and of the meridian of Greenwich on the equator, in the axes of J2000."""
    T = days_of_ut(epoch, lead or 0.0) / 36525.0
    R = to_j2000(np.array([T]))[0]
    turned = pi / 43200.0 * (sum(c * T**k for k, c in enumerate(GMST)) % 86400.0)
    return R[:, 2], R @ (np.cos(turned), np.sin(turned), 0.0)


def _astropy_axes(epoch: Epoch, lead: float | None) -> tuple[Any, Any]:
    """The same of IAU 2006/2000A, in the axes of the ICRS, with UT1 of the IERS where it is not given."""
    erfa = extra("erfa", "source='astropy' needs astropy: pip install 'polhode[astropy]'")
    if lead is None:
        from astropy.utils import iers

        table = iers.IERS_A.open(iers.IERS_A_FILE)  # read once; the one of astropy by default would ask the network
        told, status = table.ut1_utc(JD_2000, days_of_ut(epoch), return_status=True)
        if status not in (iers.FROM_IERS_B, iers.FROM_IERS_A, iers.FROM_IERS_A_PREDICTION):
            raise InvalidInput(
                "epoch is beyond the tables of the IERS that come with astropy; give ut1_utc, or install "
                "a newer astropy-iers-data"
            )
        lead = float(told.value)
    terrestrial = float(instants(without_tdb(epoch), [0.0], "TT")[0]) / DAY - 0.5
    x, y, s = erfa.xys06a(JD_2000, terrestrial)
    R = erfa.c2tcio(erfa.c2ixys(x, y, s), erfa.era00(JD_2000, days_of_ut(epoch, lead)), np.eye(3))
    return R[2], R[0]


def equator(k: Array) -> tuple[Array, Array, Array]:
    """Axes of a body with the pole k: where its equator rises through z = 0, or x; a quarter turn ahead; and k."""
    node = np.array((-k[1], k[0], 0.0)) if k[0] or k[1] else np.array((1.0, 0.0, 0.0))
    node /= np.abs(node).max()  # so that squares of the smallest numbers are some
    node /= np.linalg.norm(node)
    return node, np.cross(k, node), k


def _about(axis: int, angle: Array) -> Array:
    """Matrices (n, 3, 3) that express vectors in axes turned by an angle about one of them."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((*np.shape(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., i, i], R[..., i, j], R[..., j, i], R[..., j, j] = c, s, -s, c
    return R


def to_j2000(T: Array) -> Array:
    """Matrices (n, 3, 3) from TEME to the equator and equinox of J2000, T Julian centuries after it (UTC for TT)."""
    turn = 2.0 * np.pi
    node = np.radians(125.04452 - 1934.136261 * T)
    sun, moon = (np.radians(a + b * T) % turn for a, b in ((280.4665, 36000.7698), (218.3165, 481267.8813)))
    psi = ARC * (-17.20 * np.sin(node) - 1.32 * np.sin(2 * sun) - 0.23 * np.sin(2 * moon) + 0.21 * np.sin(2 * node))
    eps = ARC * (9.20 * np.cos(node) + 0.57 * np.cos(2 * sun) + 0.10 * np.cos(2 * moon) - 0.09 * np.cos(2 * node))
    mean = ARC * (84381.448 - 46.8150 * T)
    zeta = ARC * (2306.2181 * T + 0.30188 * T**2 + 0.017998 * T**3)
    z = ARC * (2306.2181 * T + 1.09468 * T**2 + 0.018203 * T**3)
    theta = ARC * (2004.3109 * T - 0.42665 * T**2 - 0.041833 * T**3)
    of_date = _about(2, -z) @ _about(1, theta) @ _about(2, -zeta)  # from J2000
    nutation = _about(0, -mean - eps) @ _about(2, -psi) @ _about(0, mean)
    return np.swapaxes(nutation @ of_date, -1, -2) @ _about(2, -psi * np.cos(mean))


Orientation = Annotated[str | Mapping[str, Any], TableOf(earth_orientation)]


def oriented(orientation: object, axis: Vector, angle: Angle) -> tuple[Array, float]:
    """Axis (3,) of unit length and angle of a body, from an orientation in place of them if it is given."""
    if orientation is not None:
        if angle != 0.0 or not np.array_equal(axis, (0.0, 0.0, 1.0)):
            raise InvalidInput("orientation is given beside axis or angle, which follow from it; leave these out")
        given: Mapping[str, Any] = orientation if isinstance(orientation, Mapping) else {"epoch": orientation}
        try:
            made = given if set(given) == {"axis", "angle"} else called(earth_orientation, given)
        except InvalidInput as refused:
            raise InvalidInput(f"orientation {shown(orientation)}: {refused}") from None
        axis, angle = made["axis"], made["angle"]
    return np.array(unit_vector(axis, "axis")), number(angle, "angle", "rad")


__all__ = [
    "ASTRONOMICAL_UNIT", "EARTH", "EUROPA", "MARS", "MOON", "SOLAR_PRESSURE", "SUN", "Planet", "earth_orientation",
    "earth_rotation_angle",
]  # fmt: skip
__dir__ = public_names(__all__)

ASTRONOMICAL_UNIT = 149597870700.0
"""Metres, by definition (IAU 2012, resolution B2)."""

SOLAR_PRESSURE = 1361.0 / 299792458.0
"""Pressure of sunlight on an absorbing surface at one astronomical unit, N / m^2: nominal solar irradiance [prsa2016]
over the speed of light. Times reflectivity and area over mass it is the ``acceleration`` of
``polhode.forces.radiation_pressure`` with ``distance=ASTRONOMICAL_UNIT``."""


@dataclass(frozen=True)
class Planet:
    """Constants of a body.

    Attributes
    ----------
    mu : float
        Gravitational constant times mass, m^3 / s^2.
    radius : float
        Reference radius of the coefficients, m.
    mean_radius : float
        Mean radius of the surface, m.
    rotation : float
        Rate of rotation, rad / s.
    J : mapping
        Known zonal coefficients, ``J2`` and so on.
    """

    mu: float
    radius: float
    mean_radius: float
    rotation: float
    J: Mapping[str, float] = field(default_factory=dict)

    @property
    def zonal(self) -> dict[str, float]:
        """Arguments of ``polhode.forces.zonal``."""
        return {**self.J, "radius": self.radius}


def _unnormalised(*coefficients: float) -> dict[str, float]:
    """J2, J3, ... from the normalised C20, C30, ... of a gravity field."""
    return {f"J{n}": -sqrt(2 * n + 1) * c for n, c in enumerate(coefficients, 2)}


DEGREES_A_DAY = pi / 180.0 / 86400.0

EARTH = Planet(
    mu=3.986004415e14,
    radius=6378136.3,
    mean_radius=6371008.4,
    rotation=7.292115e-5,
    J=_unnormalised(-0.484165371736e-3, 0.957254173792e-6, 0.539873863789e-6, 0.685323475630e-7, -0.149957994714e-6),
)
"""The Earth."""

MOON = Planet(
    mu=4.9028000661637961e12,
    radius=1738000.0,
    mean_radius=1737400.0,
    rotation=13.17635815 * DEGREES_A_DAY,
    J={
        "J2": 2.032156846495257e-4,
        "J3": 8.459702697459457e-6,
        "J4": -9.70441383657e-6,
        "J5": 7.422160838405289e-7,
        "J6": -1.37675313509699e-5,
    },
)
"""The Moon."""

MARS = Planet(
    mu=4.2828374527e13,
    radius=3396000.0,
    mean_radius=3389500.0,
    rotation=350.89198226 * DEGREES_A_DAY,
    J=_unnormalised(-8.750219729112e-4, -1.189641481101e-5, 5.128947217438e-6, -1.726706781747e-6, 1.346787349235e-6),
)
"""Mars."""

EUROPA = Planet(
    mu=3.20272e12, radius=1565000.0, mean_radius=1560800.0, rotation=101.3747235 * DEGREES_A_DAY, J={"J2": 4.355e-4}
)
"""Jupiter's moon Europa."""

SUN = Planet(
    mu=1.3271244004193938e20,
    radius=6.96e8,
    mean_radius=6.957e8,
    rotation=14.1844 * DEGREES_A_DAY,
    J={"J2": 2.110608853272684e-7},
)
"""The Sun."""


@dataclass(frozen=True)
class Ground:
    """The surface at which a run ends; where it is ``assumed``, a motion that starts below it is not watched."""

    radius: float
    assumed: bool = False


KNOWN = {"Earth": EARTH, "Moon": MOON, "Mars": MARS, "Europa": EUROPA, "Sun": SUN}
ALIKE = 1e-4
"""How far a ``mu`` may be from that of a body, relative to it, to be meant as that: as rounded as 3.986e14."""


_least = sorted(
    (body.mu / unit**3 * (1.0 - 2.0 * ALIKE), unit, name) for name, body in KNOWN.items() for unit in (1.0, 1e3)
)
"""The least ``mu`` that is near that of a body, in metres and in kilometres."""


def name_of(mu: float, alike: float = ALIKE) -> str:
    """Which of the bodies of this module has this ``mu`` (m^3 / s^2); empty for none."""
    return next((name for name, body in KNOWN.items() if abs(mu / body.mu - 1.0) <= alike), "")


def ground_of(surface: float | None, mu: float, bodies: int) -> Ground | None:
    """Where runs about a centre end: at the surface given, or for one body at that of the planet with this ``mu``."""
    if surface is not None:
        radius = number(surface, "surface", "m", positive=True, zero=True)
        if radius and bodies > 1:
            raise InvalidInput(
                f"a surface is met by one body at a time, but there are {bodies}; build a system for each of them"
            )
        return Ground(radius) if radius else None
    _, metres, name = _least[bisect_right(_least, (mu, 0.0, "")) - 1]
    near = bodies == 1 and abs(mu * metres**3 / KNOWN[name].mu - 1.0) <= ALIKE
    return Ground(KNOWN[name].mean_radius / metres, assumed=True) if near else None
