"""Constants of a few bodies, in metres and seconds, each with its source.

    earth = planets.EARTH
    ph.orbit(earth.mu, forces=[forces.zonal(**earth.zonal), forces.drag(..., rotation=earth.rotation)])

The zonal coefficients are unnormalised and belong to the reference radius given with them; they are constants of the
body about its own axis of rotation, which the force takes along z unless told otherwise. What is not listed is not zero
but not known to us well enough.

====== ====================================================================================================
body   source
====== ====================================================================================================
EARTH  mu, radius, J2 to J6: EGM96; rotation: IERS conventions
MOON   mu, radius, J2 to J6: JPL ephemeris DE430 (without the tidal part of J2); rotation: IAU working group
MARS   mu: JPL ephemeris DE430 (with its moons); radius, J2: gravity field of the Mars Reconnaissance Orbiter,
       JPL; rotation: IAU working group 2009
EUROPA mu and J2: Anderson and others 1998, from Galileo, J2 with an uncertainty of 8e-6; radius: IAU working
       group 2009; rotation: once an orbit, IAU working group
SUN    mu and J2: JPL ephemeris DE430; radius: IAU 2015, resolution B3; rotation: IAU working group
====== ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi, sqrt

__all__ = ["ASTRONOMICAL_UNIT", "EARTH", "EUROPA", "MARS", "MOON", "SUN", "Planet"]

ASTRONOMICAL_UNIT = 149597870700.0
"""Metres, by definition (IAU 2012, resolution B2)."""


@dataclass(frozen=True)
class Planet:
    """Constants of a body.

    Attributes
    ----------
    mu : float
        Gravity constant times mass, m^3 / s^2.
    radius : float
        Reference radius, m.
    rotation : float
        Rate of rotation, rad / s.
    J : mapping
        Zonal coefficients that are known, ``J2`` and so on.
    """

    mu: float
    radius: float
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
    rotation=7.292115e-5,
    J=_unnormalised(-0.484165371736e-3, 0.957254173792e-6, 0.539873863789e-6, 0.685323475630e-7, -0.149957994714e-6),
)
"""The Earth."""

MOON = Planet(
    mu=4.902800066e12,
    radius=1738000.0,
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

MARS = Planet(mu=4.2828375214e13, radius=3396000.0, rotation=350.89198226 * DEGREES_A_DAY, J={"J2": 1.9566e-3})
"""Mars."""

EUROPA = Planet(mu=3.20272e12, radius=1560800.0, rotation=101.3747235 * DEGREES_A_DAY, J={"J2": 4.355e-4})
"""Jupiter's moon Europa."""

SUN = Planet(mu=1.32712440041939e20, radius=6.957e8, rotation=14.1844 * DEGREES_A_DAY, J={"J2": 2.110608853272684e-7})
"""The Sun."""
