"""Axes of the Earth: against astropy, in gravity and magnetic fields, and in scenarios."""

import sys
import warnings
from functools import cache

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput, MissingExtra
from polhode.runs.scenario import read_scenario
from polhode.surroundings.planets import equator

EPOCH = "2026-03-20T12:00:00 UTC"
EARTH = ph.planets.EARTH


def axes_of(axis, angle):
    """Columns: where longitude and latitude are zero, 90 degrees east of it, the pole."""
    k = np.array(axis)
    node = np.cross((0.0, 0.0, 1.0), k)
    node = node / np.linalg.norm(node) if node.any() else np.array((1.0, 0.0, 0.0))
    across = np.cross(k, node)
    x = np.cos(angle) * node + np.sin(angle) * across
    return np.column_stack([x, np.cross(k, x), k])


@cache
def axes_of_astropy(day):
    """Columns likewise, UT1 - UTC in s, and the polar motion in rad."""
    pytest.importorskip("astropy")
    from astropy import units
    from astropy.coordinates import GCRS, ITRS, CartesianRepresentation, SkyCoord
    from astropy.time import Time
    from astropy.utils import iers

    with iers.conf.set_temp("auto_download", False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at, table = Time(day, scale="utc"), iers.IERS_B.open()
        points = SkyCoord(ITRS(CartesianRepresentation(np.eye(3) * units.km), obstime=at))
        found = points.transform_to(GCRS(obstime=at)).cartesian.xyz.to_value(units.km)
        lead = float(at.get_delta_ut1_utc(table).to_value(units.s))
        return found, lead, [float(angle.to_value(units.rad)) for angle in table.pm_xy(at)]


DAYS = each("day", some(["1992-08-03T04:05:06", "2000-01-01T12:00:00", "2009-11-23T17:18:19", "2018-06-01"], 1))


@DAYS
def test_axes_are_those_of_astropy(day):
    """With the UT1 of the IERS; polar motion, 0.3 seconds of arc, is not in ours."""
    expected, lead, _ = axes_of_astropy(day)
    found = axes_of(**ph.planets.earth_orientation(f"{day} UTC", ut1_utc=lead))
    assert 6.4e6 * np.abs(found - expected).max() < 20.0
    without = axes_of((0, 0, 1), ph.planets.earth_rotation_angle(f"{day} UTC"))
    assert 6.4e6 * np.abs(without - expected).max() > (300.0 if day[:4] != "2000" else 50.0)


@DAYS
def test_axes_by_astropy_lack_polar_motion_alone(day):
    """To millimetres with the same UT1; two tables of the IERS differ by some decimetres of it."""
    expected, lead, (x, y) = axes_of_astropy(day)
    tilt = np.array([[1, 0, -x], [0, 1, y], [x, -y, 1]])
    for given, within in (({}, 0.3), ({"ut1_utc": lead}, 1e-3)):
        found = axes_of(**ph.planets.earth_orientation(f"{day} UTC", source="astropy", **given))
        assert 6.4e6 * np.abs(found @ tilt - expected).max() < within
        assert 6.4e6 * np.abs(found - expected).max() > 1.0


def test_source_astropy_without_astropy(monkeypatch):
    monkeypatch.setitem(sys.modules, "erfa", None)
    with pytest.raises(MissingExtra, match=r"pip install 'polhode\[astropy\]'"):
        ph.planets.earth_orientation(EPOCH, source="astropy")


def test_beyond_the_tables():
    pytest.importorskip("astropy")
    with pytest.raises(InvalidInput, match="epoch is beyond the tables of the IERS"):
        ph.planets.earth_orientation("2090-01-01 UTC", source="astropy")
    assert ph.planets.earth_orientation("2090-01-01 UTC", source="astropy", ut1_utc=0.0)["axis"][0] > 0.008


def test_fields_take_an_instant():
    made = ph.planets.earth_orientation(EPOCH)
    by_hand = ph.forces.gravity_field("egm2008", degree=4, **made)
    for given in (EPOCH, {"epoch": EPOCH}, made):
        one = ph.forces.gravity_field("egm2008", degree=4, orientation=given)
        assert one.numbers == pytest.approx(by_hand.numbers, rel=1e-15)
        field = ph.surroundings.magnetic_field(orientation=given)
        assert field.at(10.0, (7e6, 1e6, 2e6)) == pytest.approx(
            ph.surroundings.magnetic_field(**made).at(10.0, (7e6, 1e6, 2e6)), rel=1e-12
        )
    again = ph.forces.gravity_field(**{name: value for name, value in one.arguments.items() if name != "kind"})
    assert again.numbers == one.numbers
    later = ph.planets.earth_orientation("2026-03-20T12:00:10 UTC")["angle"] - made["angle"]
    assert later == pytest.approx(10.0 * EARTH.rotation, rel=1e-4)


SCENARIO = """[system]
type = "orbit"
mu = 3.986004415e14
forces = [{ kind = "gravity_field", field = "egm2008", degree = 4, orientation = {} }]
[initial]
position = [7e6, 0, 0]
velocity = [0, 5e3, 5e3]
[run]
step = 10
t_end = 60
epoch = "2026-03-20T12:00:00 UTC"
"""


def test_scenarios_have_it_from_their_epoch(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(SCENARIO)
    ds = read_scenario(path).integrate()
    force = ph.forces.gravity_field("egm2008", degree=4, orientation=EPOCH)
    other = ph.integrate(
        ph.orbit(3.986004415e14, forces=[force]), step=10, t_end=60, position=(7e6, 0, 0), velocity=(0, 5e3, 5e3)
    )
    np.testing.assert_array_equal(ds.position, other.position)
    path.write_text(SCENARIO.replace("epoch =", "# epoch ="))
    with pytest.raises(InvalidInput, match="epoch is missing; give the instant of time 0, in a scenario under"):
        read_scenario(path)


@each("given, says", [
    ({"orientation": EPOCH, "angle": 1.0}, "beside axis or angle"),
    ({"orientation": EPOCH, "axis": (0, 1, 1)}, "beside axis or angle"),
    ({"orientation": "tomorrow"}, "orientation 'tomorrow': "),
    ({"orientation": {"date": EPOCH}}, "unknown argument of earth_orientation"),
    ({"orientation": {"epoch": EPOCH, "source": "spice"}}, "source"),
    ({"orientation": {"epoch": EPOCH, "ut1_utc": np.nan}}, "ut1_utc"),
    ({"orientation": {"epoch": EPOCH, "ut1_utc": -37.0}}, "ut1_utc is -37 s"),
])  # fmt: skip
def test_what_is_refused(given, says):
    with pytest.raises(InvalidInput, match=says):
        ph.forces.gravity_field("egm2008", **given)
    with pytest.raises(InvalidInput, match=says):
        ph.surroundings.magnetic_field(**given)


def test_the_equator_of_a_pole_that_is_hardly_tilted():
    for tilt in (5e-324, 1e-200, 1e-160, -1e-100):
        node, across, pole = equator(np.array((0.0, tilt, 1.0)))
        assert np.array_equal(node, (-np.sign(tilt), 0.0, 0.0)) and np.array_equal(across, np.cross(pole, node))
