"""Sun, Moon and planets: the series against astropy, tables, runs with them, epochs, and what is refused."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.epochs import Epoch, epoch_of, instants
from polhode.errors import InvalidInput
from polhode.surroundings import air
from polhode.surroundings.paths import OBLIQUITY, SERIES, _centuries, _positions

EARTH = ph.planets.EARTH
EPOCH = "2026-03-20T12:00:00 UTC"
DAY = 86400.0
START = {"position": (4.2e7, 0.0, 1e6), "velocity": (0.0, 3.0e3, 1e2)}


def test_the_sun_at_the_equinox_of_march():
    """2026-03-20T14:46 UTC: on the equator of date, at right ascension 0; that of J2000 is 26 years of precession off,
    20.04'' a year in declination."""
    sun = ph.surroundings.ephemeris("sun", "2026-03-20T14:46:00 UTC", DAY).at(0.0)
    away = np.linalg.norm(sun)
    assert abs(np.degrees(np.arcsin(sun[2] / away)) + 26.2 * 20.04 / 3600) < 0.012
    assert abs(away / ph.planets.ASTRONOMICAL_UNIT - 0.996) < 5e-4


@each(("body", "angle", "length"), [("sun", 0.7, 1.3e7), ("moon", 5.4, 5.5e5)])
def test_the_series_against_astropy(body, angle, length):
    """Arc minutes and metres, over four years."""
    pytest.importorskip("astropy")
    epoch, times = epoch_of("2024-01-01T00:00:00 TT"), np.linspace(0, 1400 * DAY, 1001)
    a, b = (_positions(body, "earth", source, epoch, times) for source in ("builtin", "astropy"))
    far = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    off = np.degrees(np.linalg.norm(np.cross(a, b), axis=1) / (far[0] * far[1])) * 60
    assert off.max() < angle and np.abs(far[0] - far[1]).max() < length


def test_every_term_of_the_moon_is_as_large_as_it_should_be():
    """What astropy's Moon has beyond the series, along each of its terms: arc seconds and kilometres."""
    pytest.importorskip("astropy")
    epoch = epoch_of("1990-01-01T00:00:00 TT")
    times = np.linspace(0.0, 55 * 365.25 * DAY, 4001)
    T = _centuries(epoch, times)
    l, m, F, D = (np.radians(a + b * T) for a, b in (
        (134.96292, 477198.86753), (357.52543, 35999.04944), (93.27283, 483202.01873), (297.85027, 445267.11135)
    ))  # fmt: skip

    def spherical(source):
        x, y, z = _positions("moon", "earth", source, epoch, times).T
        c, s = np.cos(OBLIQUITY), np.sin(OBLIQUITY)
        y, z = c * y + s * z, c * z - s * y
        r = np.sqrt(x * x + y * y + z * z)
        return np.exp(1j * np.arctan2(y, x)), np.arcsin(z / r), r

    ours, theirs = spherical("builtin"), spherical("astropy")
    second = np.degrees(1) * 3600
    for off, angles, form in (
        (np.angle(theirs[0] / ours[0]) * second,
         (l, 2 * l, l - 2 * D, 2 * D, m, 2 * F, 2 * l - 2 * D, l + m - 2 * D, l + 2 * D, m - 2 * D, l - m, D, l + m,
          2 * F - 2 * D), np.sin),
        ((theirs[1] - ours[1]) * second,
         (F, F - 2 * D, l + F - 2 * D, -l + F - 2 * D, -2 * l + F, m + F - 2 * D, -l + F, -m + F - 2 * D), np.sin),
        ((theirs[2] - ours[2]) / 1e3,
         (l, 2 * D - l, 2 * D, 2 * l, 2 * l - 2 * D, m - 2 * D, l + 2 * D, l + m - 2 * D), np.cos),
    ):  # fmt: skip
        terms = np.stack([np.ones_like(T), *(form(angle) for angle in angles)], axis=1)
        assert np.abs(np.linalg.lstsq(terms, off, rcond=None)[0][1:]).max() < 4.0


@each("scale", ["UTC", "TAI", "TT", "TDB"])
def test_scales_of_time(scale):
    pytest.importorskip("astropy")
    from astropy.coordinates import get_body_barycentric
    from astropy.time import Time

    seen = ph.surroundings.ephemeris("moon", f"2020-06-01T00:00:00 {scale}", DAY, source="astropy", tolerance=0.01).at(
        3600.0
    )
    when = Time("2020-06-01T01:00:00", scale=scale.lower())
    there = (get_body_barycentric("moon", when) - get_body_barycentric("earth", when)).xyz.to_value("m")
    assert np.abs(seen - there).max() < 0.02
    ours = ph.surroundings.ephemeris("moon", f"2020-06-01T00:00:00 {scale}", DAY).at(3600.0)
    assert np.linalg.norm(ours - there) < 1.2e6


def test_tdb_is_not_tt():
    # The same instants in both scales: 2 ms are 60 m of the Sun, and 0.8 m of the Earth's surface.
    said = ("2026-04-02T00:01:04.184", "2026-10-02T00:01:04.184")
    pytest.importorskip("erfa")
    moved = []
    for text in said:
        (since,) = instants(epoch_of(f"{text} TT"), [0.0], "TDB")
        both = f"{text} TT", str(Epoch("TDB", since))
        series = [ph.surroundings.ephemeris("sun", one, DAY, tolerance=0.01) for one in both]
        wrong = ph.surroundings.ephemeris("sun", f"{text} TDB", DAY, tolerance=0.01).at(0.0)
        assert np.linalg.norm(series[1].at(0.0) - series[0].at(0.0)) < 0.5  # 10 us of the formula, and the tables
        moved.append(np.linalg.norm(wrong - series[0].at(0.0)))
        turned = [ph.planets.earth_rotation_angle(one) for one in both]
        assert abs(turned[1] - turned[0]) < 1e-9
        axes = [ph.planets.earth_orientation(one, source="astropy", ut1_utc=0.0)["angle"] for one in both]
        assert abs(axes[1] - axes[0]) < 1e-9
    assert max(moved) > 40.0


def test_tdb_goes_on_through_a_run():
    # Half a year after an epoch in TDB the scales differ otherwise than there.
    there = ph.surroundings.ephemeris("sun", "2026-04-02T00:00:00 TDB", 200 * DAY, tolerance=0.1)
    here = ph.surroundings.ephemeris("sun", "2026-09-30T00:00:00 TDB", DAY, tolerance=0.01)
    assert np.linalg.norm(there.at(181 * DAY) - here.at(0.0)) < 0.3
    heavy = ph.rigid_body((1e22, 2e22, 2.5e22), torque=lambda t, q, omega, parameters: 1e-3 * there.at(t))
    ds = ph.integrate(
        heavy, "mkrk:rk4", step=2.0, steps=1, start={"time": 181 * DAY - 1, "angular_velocity": (0, 0, 0)}
    )
    assert (
        np.abs(ds.angular_momentum.values[-1] / 2e-3 - here.at(0.0)).max() < 0.3
    )  # the mean of the second before, after


@each("body", ["sun", "moon"])
@each("tolerance", [0.01, 1.0, 100.0])
def test_the_table_keeps_its_tolerance(body, tolerance):
    eph = ph.surroundings.ephemeris(body, EPOCH, 40 * DAY, start=-2 * DAY, tolerance=tolerance)
    times = np.random.default_rng(1).uniform(-2 * DAY, 40 * DAY, 4000)
    exact = np.stack(SERIES[body](_centuries(epoch_of(EPOCH), times)), axis=-1)
    assert np.linalg.norm(eph.at(times) - exact, axis=1).max() < 1.5 * tolerance + 0.02 and eph.error <= tolerance


def test_planets_about_another_centre():
    pytest.importorskip("astropy")
    seen = ph.surroundings.ephemeris("jupiter", EPOCH, DAY, centre="mars", source="astropy")
    assert 3.3e11 < np.linalg.norm(seen.at(0.0)) < 1.1e12 and seen.mu == 1.2671276410e17


def test_third_bodies_by_ephemeris_are_those_by_their_tables():
    moon = ph.surroundings.ephemeris("moon", EPOCH, 3 * DAY)
    one = ph.orbit(EARTH.mu, forces=[ph.forces.third_body(ephemeris=moon)])
    other = ph.orbit(EARTH.mu, forces=[ph.forces.third_body(moon.mu, times=moon.times, positions=moon.positions)])
    a, b = (ph.integrate(one_, "rkn6_14a/kepler", **START, step=300.0, t_end=2 * DAY) for one_ in (one, other))
    np.testing.assert_array_equal(a.position, b.position)
    alone = ph.integrate(ph.orbit(EARTH.mu), "rkn6_14a/kepler", **START, step=300.0, t_end=2 * DAY)
    assert 1e2 < np.linalg.norm(a.position[-1] - alone.position[-1]) < 1e5
    assert float(abs(a.energy_error).max()) < 1e-12


def test_the_epoch_of_a_run_is_that_of_its_ephemerides():
    sun = {"body": "sun", "epoch": EPOCH, "stop": DAY}
    lit = ph.orbit(EARTH.mu, forces=[ph.forces.third_body(ephemeris=sun)])
    ds = ph.integrate(lit, step=600.0, t_end=6000.0, **START)
    assert ds.attrs["epoch"] == EPOCH
    assert (ph.rerun(ds).position.values == ds.position.values).all()
    with pytest.raises(InvalidInput, match="time 0 is one instant"):
        ph.integrate(lit, step=600.0, t_end=6000.0, **START, settings={"epoch": "2026-03-21T12:00:00 UTC"})
    with pytest.raises(InvalidInput, match="time 0 is one instant"):
        two = [ph.forces.third_body(ephemeris=one) for one in (sun, sun | {"epoch": "2026-03-20"})]
        ph.integrate(ph.orbit(EARTH.mu, forces=two), step=600.0, t_end=6000.0, **START)


def test_the_epoch_and_the_light_of_a_sum_are_those_of_its_surroundings(monkeypatch):
    sun = ph.surroundings.ephemeris("sun", EPOCH, DAY)
    shadow = {"distance": ph.planets.ASTRONOMICAL_UNIT, "shadow": "cylinder", "radius": EARTH.radius}
    light = ph.surroundings.sunlight(4.5e-6, **shadow)

    def lit(**around):
        whole = {"sun": ph.surroundings.path(ephemeris=sun), "sunlight": light} | around
        loads = [ph.loads.central(EARTH.mu), ph.loads.radiation(1.0, 2.0)]
        return ph.system(ph.body("a", 100.0), *loads, *[ph.loads.drag(2.0, 1.0)] * bool(around), surroundings=whole)

    begin = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 7546.0, 0.0)}
    ds = ph.integrate(lit(), step=60.0, t_end=12000.0, **begin)
    built = ph.orbit(EARTH.mu, forces=[ph.forces.radiation_pressure(9e-8, ephemeris=sun, **shadow)])
    other = ph.integrate(built, step=60.0, t_end=12000.0, **begin)
    assert ds.attrs["epoch"] == other.attrs["epoch"] == EPOCH
    np.testing.assert_allclose(ds.position, other.position, rtol=1e-9)
    edges, same = (one.polhode.eclipses() for one in (ds, other))
    assert len(edges) == 2 and np.allclose(edges, same, atol=1e-4)
    toward = [one.polhode.beta_angle().values for one in (ds, other)]
    np.testing.assert_allclose(*toward, rtol=1e-9)
    with pytest.raises(InvalidInput, match="the ephemeris of 'sun'"):
        ph.integrate(lit(), step=60.0, t_end=2 * DAY, **begin)
    pytest.importorskip("pymsis")
    monkeypatch.setattr(air, "ALTITUDES", air.ALTITUDES[::8])
    later = ph.surroundings.nrlmsis_air("2026-03-21T12:00:00 UTC", stop=DAY, f107=151.0)
    with pytest.raises(InvalidInput, match="time 0 is one instant"):
        ph.integrate(lit(air_density=later), step=60.0, t_end=600.0, **begin)


def test_shadows_follow_the_sun():
    sun = ph.surroundings.ephemeris("sun", EPOCH, DAY)
    shadow = {"shadow": "cylinder", "radius": EARTH.radius}
    lit = ph.orbit(EARTH.mu, forces=[ph.forces.radiation_pressure(1e-7, ephemeris=sun, **shadow)])
    begin = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 7546.0, 0.0)}
    ds = ph.integrate(lit, step=60.0, t_end=12000.0, **begin, events=[ph.events.eclipse(EARTH.radius, ephemeris=sun)])
    fixed = ph.orbit(EARTH.mu, forces=[ph.forces.radiation_pressure(1e-7, direction=sun.at(3000.0), **shadow)])
    eclipse = ph.events.eclipse(EARTH.radius, direction=sun.at(3000.0))
    other = ph.integrate(fixed, step=60.0, t_end=12000.0, **begin, events=[eclipse])
    edges, near = ds.event_time.values, other.event_time.values
    assert len(edges) == len(near) >= 4 and np.abs(edges - near).max() < 3.0


def test_a_function_of_ones_own_asks_where_the_sun_is():
    sun = ph.surroundings.ephemeris("sun", EPOCH, DAY)

    def light(t, position, velocity, parameters):
        toward = sun.at(t)
        return -1e-6 * toward / np.sqrt(toward @ toward)

    ds = ph.integrate(ph.orbit(EARTH.mu, force=light), "s6_10", step=100.0, t_end=6000.0, **START)
    lit = ph.orbit(EARTH.mu, forces=[ph.forces.radiation_pressure(1e-6, ephemeris=sun)])
    other = ph.integrate(lit, "s6_10", step=100.0, t_end=6000.0, **START)  # whose light comes past the spacecraft
    assert np.linalg.norm(ds.position[-1] - other.position[-1]) < 1e-2


def test_a_scenario_has_the_epoch_under_run(tmp_path):
    (tmp_path / "geo.toml").write_text("""
[system]
type = "orbit"
mu = 3.986004415e14
forces = [{ kind = "third_body", ephemeris = { body = "sun" } }, { kind = "third_body", ephemeris = { body = "moon" } }]
[initial]
position = [4.2e7, 0, 1e6]
velocity = [0, 3.0e3, 1e2]
[run]
step_min = 10
t_end_d = 1
epoch = "2026-03-20T12:00:00 UTC"
""")
    ds = ph.runs.read_scenario(tmp_path / "geo.toml").integrate()
    forces = [ph.forces.third_body(ephemeris=ph.surroundings.ephemeris(body, EPOCH, DAY)) for body in ("sun", "moon")]
    same = ph.integrate(ph.orbit(3.986004415e14, forces=forces), step=600.0, t_end=DAY, **START)
    np.testing.assert_array_equal(ds.position, same.position)
    (tmp_path / "geo.toml").write_text((tmp_path / "geo.toml").read_text().replace("epoch", "# epoch"))
    with pytest.raises(InvalidInput, match="epoch is missing; give the instant of time 0"):
        ph.runs.read_scenario(tmp_path / "geo.toml")


@each(("given", "told"), [
    ({"body": "pluto"}, "body"),
    ({"epoch": None}, "epoch is missing; give the instant of time 0"),
    ({"epoch": "yesterday"}, "epoch is 'yesterday'"),
    ({"stop": None}, "stop is missing"),
    ({"stop": -1.0}, "stop is -1, not after start, 0"),
    ({"centre": "sun"}, "body is 'sun', which is the centre itself"),
    ({"centre": "mars"}, "the built-in series are those of the Sun and the Moon from the Earth"),
    ({"source": "nowhere.bsp"}, "source is 'nowhere.bsp', which is no file"),
    ({"tolerance": 0.0}, "tolerance"),
    ({"tolerance": 1e-12}, "tolerance is 1e-12 m, which a table of"),
])  # fmt: skip
def test_what_is_wrong_is_said(given, told):
    with pytest.raises(InvalidInput, match=told):
        ph.surroundings.ephemeris(**{"body": "sun", "epoch": EPOCH, "stop": DAY} | given)


def test_a_file_that_is_none(tmp_path):
    pytest.importorskip("astropy")
    (tmp_path / "x.bsp").write_bytes(b"no ephemeris")
    with pytest.raises(ph.errors.PolhodeError, match=r"x\.bsp|jplephem"):
        ph.surroundings.ephemeris("sun", EPOCH, DAY, source=str(tmp_path / "x.bsp"))


def test_times_beyond_the_table():
    sun = ph.surroundings.ephemeris("sun", EPOCH, DAY)
    lit = ph.orbit(EARTH.mu, forces=[ph.forces.third_body(ephemeris=sun)])
    with pytest.raises(
        InvalidInput, match="the run goes from t = 0 to 172800, but the ephemeris of 'sun' from 0 to 86400"
    ):
        ph.integrate(lit, step=600.0, t_end=2 * DAY, **START)
    with pytest.raises(InvalidInput, match="but this ephemeris of 'sun' from"):
        sun.at(100 * DAY)
    with pytest.raises(InvalidInput, match="mu is missing; give the gravity parameter"):
        ph.forces.third_body(circle={"radius": 1e9, "period": 1e5})


def test_a_short_span_is_no_reason_to_refuse():
    assert np.linalg.norm(ph.surroundings.ephemeris("sun", "2026-03-20", 10.0).at(5.0)) == pytest.approx(
        1.49e11, rel=0.02
    )
