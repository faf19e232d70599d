"""Air by NRLMSIS: against pymsis itself, continuity, orders, what is refused."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.surroundings.air import log_density

pymsis = pytest.importorskip("pymsis")
EPOCH = "2026-06-21T05:30:00 UTC"
MU = ph.planets.EARTH.mu


@functools.cache
def air():
    return ph.surroundings.nrlmsis(EPOCH, 86400.0, f107=180.0, f107a=160.0, ap=12.0)


def directly(t, places):
    """The densities by pymsis at places in the axes of space."""
    x, y, z = places.T
    longitude = np.arctan2(y, x) - ph.planets.earth_rotation_angle(EPOCH) - 7.2921150e-5 * t
    a, f = 6378137.0, 1.0 / 298.257223563
    flat, e2, b = np.hypot(x, y), f * (2.0 - f), a * (1.0 - f)
    theta = np.arctan2(z * a, flat * b)
    latitude = np.arctan2(z + e2 / (1.0 - e2) * b * np.sin(theta) ** 3, flat - e2 * a * np.cos(theta) ** 3)
    height = flat * np.cos(latitude) + z * np.sin(latitude) - a * np.sqrt(1.0 - e2 * np.sin(latitude) ** 2)
    n = len(t)
    dates = np.datetime64(EPOCH.removesuffix(" UTC"), "ms") + np.rint(1e3 * t).astype("timedelta64[ms]")
    return pymsis.calculate(dates, np.degrees(longitude) % 360.0, np.degrees(latitude), height / 1e3, [180.0] * n,
                            [160.0] * n, [[12.0] * 7] * n)[:, 0]  # fmt: skip


def test_density_is_that_of_the_model():
    """At random places and times, within the error that is told."""
    rng = np.random.default_rng(5)
    t, u = 86400.0 * rng.random(120), rng.normal(size=(120, 3))
    places = (6378137.0 + rng.uniform(110e3, 900e3, size=(120, 1))) * u / np.linalg.norm(u, axis=1)[:, None]
    off = [air().density(*at) / there - 1.0 for *at, there in zip(t, places, directly(t, places), strict=True)]
    assert 0.5 * air().error < np.sqrt(np.mean(np.square(off))) < 1.5 * air().error < 0.06
    assert np.abs(off).max() < 1.5 * air().largest < 0.5 and abs(np.mean(off)) < 0.01


def test_the_sum_is_that_of_its_coefficients():
    """By associated Legendre functions of SciPy, at random places; the rows are those of ``Air.numbers``."""
    from scipy.special import lpmv

    sun, rate, *_, count = air().numbers[:7]
    rows = np.reshape(air().numbers[7:], (int(count), -1))
    rng = np.random.default_rng(2)
    for _ in range(40):
        u, t, radius = rng.normal(size=3), 86400.0 * rng.random(), 6378137.0 + rng.uniform(110e3, 900e3)
        x, y, z = u / np.linalg.norm(u)
        psi = np.arctan2(y, x) - sun - rate * t
        row = rows[np.searchsorted(rows[:, 0], radius, "right") - 1]
        powers = (radius - row[0]) ** np.arange(4)
        cubics, expected, k = row[1:].reshape(-1, 2, 4) @ powers, 0.0, 0
        for m in range(7):
            for n in range(m, 7):
                P = (-1) ** m * lpmv(m, n, z) / np.prod(np.arange(1, 2 * m, 2))  # 1 for n = m on the equator
                expected += P * (cubics[k, 0] * np.cos(m * psi) + cubics[k, 1] * np.sin(m * psi))
                k += 1
        found = np.log(air().density(t, radius * np.array((x, y, z))))
        assert found == pytest.approx(expected, abs=1e-10)


def test_the_bulge_follows_the_sun():
    """The densest air of the equator at 500 km stands 20 to 50 degrees behind the Sun, in June north of the equator."""
    r = 6878137.0
    angles = np.radians(np.arange(0.0, 360.0, 5.0))
    around = [air().density(0.0, (r * np.cos(x), r * np.sin(x), 0.0)) for x in angles]
    sun = ph.surroundings.ephemeris("sun", EPOCH, 10.0).at(0.0)
    behind = np.degrees(angles[int(np.argmax(around))] - np.arctan2(sun[1], sun[0])) % 360.0
    assert 20.0 < behind < 50.0 and max(around) > 2.0 * min(around)
    north, south = (np.mean([air().density(t, (0.0, 0.0, s * 6778e3)) for t in (0.0, 43200.0)]) for s in (1.0, -1.0))
    assert north > 1.3 * south


def test_it_is_smooth():
    """Value and two derivatives along the radius have no jumps between rows; beyond the ends it falls on."""
    p = (0.0, 0.0, 0.0, *air().numbers)
    u = np.array((0.6, -0.64, 0.48))
    for altitude in (110e3, 250e3, 500e3, 950e3):
        r = 6378137.0 + altitude
        s = np.array([log_density(p, 0, 0.0, (r + d) * u) for d in (-200.0, -100.0, -1e-6, 1e-6, 100.0, 200.0)])
        first = (s[2] - s[1]) / 100.0, (s[4] - s[3]) / 100.0
        second = (s[2] - 2.0 * s[1] + s[0]) / 1e4, (s[5] - 2.0 * s[4] + s[3]) / 1e4
        assert s[2] == pytest.approx(s[3], abs=1e-9) and second[0] == pytest.approx(second[1], abs=1e-9)
        assert first[0] == pytest.approx(first[1], rel=0.02)
    low, high = (air().density(0.0, (6378137.0 + x) * u) for x in (60e3, 1500e3))
    assert low > air().density(0.0, (6378137.0 + 100e3) * u) and 0.0 < high < air().density(0.0, (6378137.0 + 1e6) * u)


def test_drag_in_it():
    """Against the same by a function of the user's; orbits and plates take it, and the epoch of the run is its."""
    start = {"position": (6678e3, 0.0, 0.0), "velocity": (0.0, 5000.0, 5870.0)}
    drag = ph.forces.drag(coefficient=0.02, air=air())
    ds = ph.integrate(ph.orbit(MU, forces=[drag]), "mkrk:cv8", step=90.0, t_end=5400.0, **start)
    assert ds.attrs["epoch"].startswith("2026-06-21T05:30:00")

    def own(t, position, velocity, parameters):
        u = velocity - np.cross((0.0, 0.0, 7.2921150e-5), position)
        try:
            return -0.01 * air().density(t, position) * np.sqrt(u @ u) * u
        except ZeroDivisionError:
            return 0.0 * u

    with pytest.warns(match="could not be compiled"):
        other = ph.integrate(ph.orbit(MU, force=own), "mkrk:cv8", step=90.0, t_end=5400.0, **start)
    assert_allclose(ds.position[-1], other.position[-1], rtol=0, atol=1e-6)
    assert float(ds.work[-1].sum()) < -500.0
    craft = ph.spacecraft((1, 2, 3), MU, 50.0, gravity_gradient=False, atmosphere={"air": air()},
                          plates=[ph.systems.plate(1.0, (0, 1, 0), drag_coefficient=1.0)])  # fmt: skip
    assert "air" in craft.arguments["atmosphere"]


def test_methods_keep_their_order():
    system = ph.orbit(MU, forces=[ph.forces.drag(coefficient=1.0, air=air())])
    start = {"position": (6678e3, 0.0, 0.0), "velocity": (0.0, 5000.0, 5870.0)}

    def end(step, method="s4_6/kepler"):
        return ph.integrate(system, method, step=step, t_end=2400.0, **start).position.values[-1]

    exact = end(5.0, "mkrk:cv8")
    errors = [np.linalg.norm(end(step) - exact) for step in (120.0, 60.0)]
    assert np.log2(errors[0] / errors[1]) > 3.6


def test_a_scenario_has_it(tmp_path):
    (tmp_path / "decay.toml").write_text("""
method = "s6_10/kepler"
[system]
type = "orbit"
mu = 3.986004418e14
[[system.forces]]
kind = "drag"
coefficient = 0.02
air = { f107 = 180.0, f107a = 160.0, ap = 12.0 }
[initial]
position = [6678e3, 0, 0]
velocity = [0, 5000, 5870]
[run]
epoch = "2026-06-21T05:30:00 UTC"
step = 60.0
t_end = 86400.0
""")
    ds = ph.runs.read_scenario(tmp_path / "decay.toml").integrate()
    ph.save(ds, tmp_path / "decay.nc")
    again = ph.rerun(ph.load(tmp_path / "decay.nc"))
    assert (again.position.values == ds.position.values).all()
    same = ph.integrate(ph.orbit(3.986004418e14, forces=[ph.forces.drag(coefficient=0.02, air=air())]), "s6_10/kepler",
                        step=60.0, t_end=86400.0, position=(6678e3, 0, 0), velocity=(0, 5000, 5870))  # fmt: skip
    assert_allclose(ds.position[-1], same.position[-1], rtol=1e-12)


@each(("given", "told"), [
    ({"epoch": None}, "epoch is missing"),
    ({"f107": -1.0}, "f107 is -1; it must be positive"),
    ({"ap": -1.0}, "ap is -1; the index is 0 or more"),
    ({"stop": 0.0}, "stop is 0"),
    ({"f107a": 1e12}, "NRLMSIS has no density for"),
])  # fmt: skip
def test_what_is_wrong_is_said(given, told):
    with pytest.raises(InvalidInput, match=told):
        ph.forces.drag(coefficient=0.02, air={"epoch": EPOCH} | given)


def test_drag_takes_one_kind_of_air():
    with pytest.raises(InvalidInput, match="table is given beside air"):
        ph.forces.drag(coefficient=0.02, air=air(), table=[[1, 2], [3, 1]])
    with pytest.raises(InvalidInput, match="coefficient is missing"):
        ph.forces.drag(air=air())
    with pytest.raises(InvalidInput, match="turns about z"):
        ph.forces.drag(coefficient=0.02, air=air(), axis=(0, 1, 0))
    with pytest.raises(InvalidInput, match=r"air must be made by polhode.surroundings.nrlmsis"):
        ph.forces.drag(coefficient=0.02, air=3.0)
    with pytest.raises(InvalidInput, match="position must be 3 numbers"):
        air().density(0.0, (0, 0, 0))
