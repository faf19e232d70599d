"""Constants of planets against other sources than their own, and against what follows from them."""

from math import sqrt

import numpy as np
import pytest

from each import each
from polhode import forces, planets

NORMALISED = {
    "EARTH": (-0.484165143790815e-3, 0.957161207093473e-6, 0.539965866638991e-6, 0.686702913736681e-7,
              -0.149953927978527e-6),
    "MOON": (-9.0882923650771e-5, -3.1974039070981e-6, 3.2347924522417e-6, -2.237818692163e-7, 3.8184191011809e-6),
    "MARS": (-8.750211323545289e-4,),
}  # fmt: skip
"""C20, C30, ... of EGM2008 (tide-free), GRAIL's GL0660B (1738 km) and GMM-3 (3396 km)."""


@each("name", NORMALISED)
def test_coefficients_agree_with_other_gravity_fields(name):
    found = getattr(planets, name).J
    for n, c in enumerate(NORMALISED[name], 2):
        assert found[f"J{n}"] == pytest.approx(-sqrt(2 * n + 1) * c, rel=3e-3 if n > 2 else 4e-5), n
    assert len(found) == 5 and list(found) == [f"J{n}" for n in range(2, 7)]


def test_gravity_parameters_agree_with_other_sources():
    later = {  # JPL, DE440 and the ephemerides of moons that go with it
        "EARTH": 3.9860043550702266e14, "MOON": 4.9028001184575496e12, "MARS": 4.282837362069909e13,
        "EUROPA": 3.202712099607295e12, "SUN": 1.3271244004127942e20,
    }  # fmt: skip
    for name, mu in later.items():
        allowed = 5e-6 if name == "EUROPA" else 5e-8
        assert getattr(planets, name).mu == pytest.approx(mu, rel=allowed), name


def test_radii_are_those_of_the_coefficients_and_of_the_surface():
    for name in ("EARTH", "MOON", "MARS", "EUROPA", "SUN"):
        planet = getattr(planets, name)
        assert planet.zonal["radius"] == planet.radius
        assert planet.radius == pytest.approx(planet.mean_radius, rel=3e-3) and planet.radius > planet.mean_radius
    # Dynamic flattening and the difference of gravity between pole and equator of the Earth follow from J2.
    earth = planets.EARTH
    m = (earth.rotation * earth.radius) ** 2 * earth.radius / earth.mu
    flattening = 1.5 * earth.J["J2"] + 0.5 * m
    assert 1 / flattening == pytest.approx(298.257, rel=3e-3)
    mars = planets.MARS
    m = (mars.rotation * mars.radius) ** 2 * mars.radius / mars.mu
    assert 1.5 * mars.J["J2"] + 0.5 * m == pytest.approx((3396.19 - 3376.20) / 3396.19, rel=0.12)


def test_sun_synchronous_orbits_follow_from_the_constants_of_the_earth():
    """At 700 km the node follows the Sun at an inclination of 98.19 degrees."""
    earth, a = planets.EARTH, planets.EARTH.radius + 700e3
    rate = -1.5 * earth.J["J2"] * sqrt(earth.mu / a**3) * (earth.radius / a) ** 2
    assert np.degrees(np.arccos(2 * np.pi / (365.2422 * 86400) / rate)) == pytest.approx(98.19, abs=0.01)


def test_pressure_of_sunlight():
    assert abs(planets.SOLAR_PRESSURE / 4.54e-6 - 1) < 1e-3
    force = forces.radiation_pressure(
        1.3 * 0.02 * planets.SOLAR_PRESSURE, position=(planets.ASTRONOMICAL_UNIT, 0, 0),
        distance=planets.ASTRONOMICAL_UNIT, shadow="cone", radius=planets.EARTH.mean_radius,
        sun_radius=planets.SUN.mean_radius,
    )  # fmt: skip
    assert force.arguments["acceleration"] == pytest.approx(1.18e-7, rel=1e-2)
