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

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi, sqrt

from polhode.arguments import number
from polhode.errors import InvalidInput
from polhode.lazy import public_names
from polhode.surroundings.earth_axes import earth_orientation, earth_rotation_angle

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
    """The surface of the central body, at which a run ends; ``assumed`` where nobody gave it. A motion may then start
    below it, and is not watched."""

    radius: float
    assumed: bool = False


KNOWN = {"Earth": EARTH, "Moon": MOON, "Mars": MARS, "Europa": EUROPA, "Sun": SUN}
ALIKE = 1e-4
"""How far a ``mu`` may be from that of a body, relative to it, to be meant as that: as rounded as 3.986e14."""


def name_of(mu: float, alike: float = ALIKE) -> str:
    """Which of the bodies of this module has this ``mu`` (m^3 / s^2); empty for none."""
    return next((name for name, body in KNOWN.items() if abs(mu / body.mu - 1.0) <= alike), "")


def ground_of(surface: float | None, mu: float, bodies: int) -> Ground | None:
    """Where runs about a centre end: at the surface given, 0 for none; else at the mean radius of the body of this
    module whose ``mu`` it is, in metres or kilometres. Several points have no ground that nobody gave."""
    if surface is not None:
        radius = number(surface, "surface", "m", positive=True, zero=True)
        if radius and bodies > 1:
            raise InvalidInput(
                f"a surface is met by one body at a time, but there are {bodies}; build a system for each of them"
            )
        return Ground(radius) if radius else None
    for metres in (1.0, 1e3) if bodies == 1 else ():
        if name := name_of(mu * metres**3):
            return Ground(KNOWN[name].mean_radius / metres, assumed=True)
    return None
