"""Orbits and attitudes from messages of the CCSDS: polhode's own, of other writers, scenarios, what is refused."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput
from polhode.runs.scenario import read_scenario

EARTH = ph.planets.EARTH
EPOCH = "2026-03-01T00:00:00 TDB"
OEM = """CCSDS_OEM_VERS = 2.0
COMMENT a comment
CREATION_DATE = 2026-01-01T00:00:00
ORIGINATOR = NOBODY
META_START
OBJECT_NAME = A
OBJECT_ID = 2026-001A
CENTER_NAME = EARTH
REF_FRAME = EME2000
TIME_SYSTEM = UTC
START_TIME = 2026-060T00:00:00
STOP_TIME = 2026-060T00:03:00
META_STOP
2026-060T00:00:00 7000.0 0.0 0.0 0.0 7.5 1.0
2026-060T00:01:00 6985.0 449.0 59.9 -0.49 7.48 0.99
2026-060T00:02:00 6940.0 896.0 119.0 -0.97 7.43 0.98
2026-060T00:03:00 6865.0 1338.0 178.0 -1.45 7.35 0.97
COVARIANCE_START
EPOCH = 2026-060T00:00:00
1.0
COVARIANCE_STOP
"""
AEM = """CCSDS_AEM_VERS = 1.0
CREATION_DATE = 2026-01-01T00:00:00
ORIGINATOR = NOBODY
META_START
OBJECT_NAME = A
OBJECT_ID = 2026-001A
REF_FRAME_A = SC_BODY_1
REF_FRAME_B = EME2000
ATTITUDE_DIR = A2B
TIME_SYSTEM = GPS
START_TIME = 2026-03-01T00:00:00
STOP_TIME = 2026-03-01T00:00:10
ATTITUDE_TYPE = QUATERNION/RATE
QUATERNION_TYPE = LAST
META_STOP
DATA_START
2026-03-01T00:00:00 0.0 0.0 0.0 1.0 0.0 0.0 -0.05 0.0
2026-03-01T00:00:10 0.0 0.0 -0.47942553860420301 0.87758256189037271 0.0 0.0 -0.043879128 -0.023971277
DATA_STOP
"""


def satellite(**start):
    r, v = ph.kepler.state(EARTH.mu, semi_major_axis=7078.1e3, eccentricity=0.01, inclination=1.0)
    start = {
        "position": r,
        "velocity": v,
        "attitude": (0.5, 0.5, -0.5, 0.5),
        "angular_velocity": (0.01, 0.07, -0.04),
    } | start
    craft = ph.spacecraft((2.0, 3.0, 4.5), EARTH.mu)
    return ph.integrate(
        craft, "rkn6_14a/kepler", step=5.0, t_end=900.0, settings={"units": "SI", "epoch": EPOCH}, **start
    )


@pytest.fixture(scope="module")
def flight():
    return satellite()


@pytest.fixture
def files(flight, tmp_path):
    names = {"object_name": "A"}
    return (ph.trajectory.export.oem(flight, tmp_path / "a.oem", center_name="EARTH", ref_frame="GCRF", **names),
            ph.trajectory.export.aem(flight, tmp_path / "a.aem", **names))  # fmt: skip


# ------------------------------------------------------------------ what polhode writes
def test_positions_come_back(flight, files):
    orbit = ph.initial.oem(files[0])
    assert (orbit.object_name, orbit.centre, orbit.frame, orbit.epoch) == ("A", "EARTH", "GCRF", EPOCH)
    np.testing.assert_allclose(orbit.positions, flight.position, rtol=4e-16)
    r, v = orbit.at(flight.time.values)
    np.testing.assert_array_equal(r, orbit.positions)
    np.testing.assert_array_equal(v, orbit.velocities)


def test_between_rows_is_the_orbit(flight, files):
    """Hermite's polynomial of degree 7 through rows 20 s apart, against the orbit itself."""
    thin = ph.trajectory.export.oem(flight.isel(time=slice(None, None, 4)), files[0].parent / "b.oem", object_name="A",
                                    center_name="EARTH", ref_frame="GCRF")  # fmt: skip
    orbit = ph.initial.oem(thin)
    r, v = orbit.at(flight.time.values)
    assert 0.0 < abs(r - flight.position.values).max() < 2e-7
    assert abs(v - flight.velocity.values).max() < 2e-8


@pytest.mark.parametrize(
    "method, degree, order", [("HERMITE", 3, 4), ("HERMITE", 5, 6), ("LAGRANGE", 5, 6), ("LINEAR", 1, 2)]
)
def test_interpolation_has_its_order(flight, files, method, degree, order):
    """Twice as many rows: 2^order smaller errors in the middle of two rows."""
    errors = []
    for every in (16, 8):
        path = ph.trajectory.export.oem(flight.isel(time=slice(None, 161, every)), files[0].parent / "c.oem",
                                        object_name="A", center_name="EARTH", ref_frame="GCRF")  # fmt: skip
        stated = f"INTERPOLATION = {method}\nINTERPOLATION_DEGREE = {degree}\nMETA_STOP"
        path.write_text(path.read_text().replace("META_STOP", stated))
        r = ph.initial.oem(path).at(flight.time.values[80 + every // 2])[0]
        errors.append(np.linalg.norm(r - flight.position.values[80 + every // 2]))
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.3


def test_attitudes_come_back(flight, files):
    attitude = ph.initial.aem(files[1])
    assert (attitude.frame, attitude.body_frame, attitude.angular_velocity) == ("ICRF", "SC_BODY_1", None)
    q, omega = attitude.at(flight.time.values)
    np.testing.assert_allclose(q, flight.attitude, rtol=0, atol=1e-15)
    assert omega is None


def test_a_run_goes_on_from_files(flight, files):
    half = 90
    at = "2026-03-01T00:07:30 TDB"
    start = ph.initial.oem(files[0], at=at).start() | ph.initial.aem(files[1], at=at).start()
    ds = satellite(**start, angular_velocity=flight.angular_velocity.values[half])
    np.testing.assert_allclose(ds.position[90], flight.position[180], rtol=1e-12)
    np.testing.assert_allclose(ds.attitude[90], flight.attitude[180], rtol=0, atol=1e-11)


def test_rows_are_the_path_of_a_third_body(files):
    """A body that follows the file attracts as one at its positions."""
    force = ph.forces.third_body(mu=1e10, **ph.initial.oem(files[0]).table())
    ds = ph.integrate(
        ph.orbit(EARTH.mu, forces=[force]), step=5.0, t_end=20.0, position=(8e6, 0, 0), velocity=(0, 7e3, 0)
    )
    assert np.isfinite(ds.position).all()


# ------------------------------------------------------------------ others' files
@pytest.fixture
def others(tmp_path):
    def write(text, name="x.oem"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_the_package_oem_reads_the_same(others):
    package = pytest.importorskip("oem", reason="the package oem is not installed (extra 'test')")
    from astropy.time import Time

    path = others(OEM.replace("COVARIANCE_START\nEPOCH = 2026-060T00:00:00\n1.0\nCOVARIANCE_STOP\n", "")
                  .replace("STOP_TIME = 2026-060T00:03:00", "STOP_TIME = 2026-060T00:03:00\nINTERPOLATION = LAGRANGE\n"
                           "INTERPOLATION_DEGREE = 3"))  # fmt: skip
    state = package.OrbitEphemerisMessage.open(path)(Time("2026-03-01T00:01:17", scale="utc"))
    r, v = ph.initial.oem(path).at(77.0)
    np.testing.assert_allclose(r, 1e3 * np.asarray(state.position), rtol=1e-12)
    np.testing.assert_allclose(v, 1e3 * np.asarray(state.velocity), rtol=1e-12)


def test_days_of_the_year_and_covariances(others):
    orbit = ph.initial.oem(others(OEM))
    assert orbit.epoch == "2026-03-01T00:00:00 UTC" and len(orbit.times) == 4
    np.testing.assert_array_equal(orbit.position, (7e6, 0, 0))


def test_a_body_that_turns_about_z(others):
    """Body to space is written as frame A to B, scalar last: the angle grows at 0.1 rad / s; GPS is TAI - 19 s."""
    attitude = ph.initial.aem(others(AEM, "x.aem"))
    q, omega = attitude.at([0.0, 5.0, 10.0])
    np.testing.assert_allclose(q[:, 0], np.cos([0.0, 0.25, 0.5]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(q[:, 3], np.sin([0.0, 0.25, 0.5]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(omega, [(0, 0, 0.1)] * 3, rtol=0, atol=1e-8)
    assert attitude.epoch == "2026-03-01T00:00:19 TAI"


def test_the_shorter_way_is_taken_between_rows(others):
    """Of a quaternion and its negative, which are the same attitude."""
    flipped = AEM.replace("-0.47942553860420301 0.87758256189037271", "0.47942553860420301 -0.87758256189037271")
    q, _ = ph.initial.aem(others(flipped, "x.aem")).at(5.0)
    np.testing.assert_allclose(abs(q), (np.cos(0.25), 0, 0, np.sin(0.25)), rtol=0, atol=1e-9)


def test_segments_do_not_mix(others):
    """Between two segments nothing is known; where they meet the later one counts."""
    second = OEM[OEM.index("META_START") : OEM.index("COVARIANCE_START")]
    second = second.replace("T00:03", "T00:06").replace("T00:02", "T00:05").replace("T00:01", "T00:04")
    second = second.replace("T00:00:00", "T00:03:00").replace("7000.0 0.0 0.0 0.0 7.5", "6865.0 1338.0 178.0 0.0 9.5")
    orbit = ph.initial.oem(others(OEM + second))
    assert len(orbit.segments) == 2
    assert orbit.at(180.0)[1][1] == 9500.0
    assert len(orbit.table()["times"]) == 7
    gap = ph.initial.oem(others(OEM + second.replace("T00:03:00 6865.0", "T00:03:30 6865.0")))
    with pytest.raises(InvalidInput, match="may be used from 0 to 180, 210 to 360; give a time within"):
        gap.at(200.0)


# ------------------------------------------------------------------ scenarios
SCENARIO = """[system]
type = "spacecraft"
inertia = [2.0, 3.0, 4.5]
mu = 3.986004418e14
[initial]
oem = "a.oem"
aem = "a.aem"
angular_velocity = [0.0, 0.0, 0.01]
[run]
step = 10
t_end = 60
"""


def test_a_scenario_begins_with_files(files, flight):
    path = files[0].parent / "a.toml"
    path.write_text(SCENARIO)
    ds = read_scenario(path).integrate()
    assert (ds.attrs["epoch"], ds.attrs["units"]) == (EPOCH, "SI")
    np.testing.assert_allclose(ds.position[0], flight.position[0], rtol=1e-15)
    path.write_text(SCENARIO.replace("t_end = 60", 't0 = -5.0\nt_end = 55\nepoch = "2026-03-01T00:00:55 TDB"'))
    ds = read_scenario(path).integrate()
    np.testing.assert_allclose(ds.position[0], flight.position[10], rtol=1e-14)
    path.write_text(SCENARIO.replace("t_end = 60", "t0 = 30.0\nt_end = 60"))
    later = read_scenario(path).integrate()  # which begins with the file, at t0
    assert later.attrs["epoch"] == "2026-02-28T23:59:30 TDB"
    np.testing.assert_allclose(later.position[0], flight.position[0], rtol=1e-15)
    path.write_text(SCENARIO)
    np.testing.assert_allclose(ds.attitude[0], flight.attitude[10], rtol=0, atol=1e-14)


def test_rates_of_a_file_are_the_angular_velocity_unless_it_is_given(files, others):
    others(AEM.replace("GPS", "TDB"), "a.aem")
    path = others(SCENARIO, "a.toml")
    assert read_scenario(path).integrate().angular_velocity.values[0, 2] == pytest.approx(0.01)
    path.write_text(SCENARIO.replace("angular_velocity = [0.0, 0.0, 0.01]\n", ""))
    assert read_scenario(path).integrate().angular_velocity.values[0, 2] == pytest.approx(0.1)


def test_a_scenario_begins_with_two_line_elements(others):
    pytest.importorskip("sgp4")
    from test_tle import ISS

    others(ISS, "iss.tle")
    text = SCENARIO.replace('oem = "a.oem"\naem = "a.aem"', 'tle = "iss.tle"')
    path = others(text, "a.toml")
    elements = ph.initial.tle(ISS)
    ds = read_scenario(path).integrate()
    assert ds.attrs["epoch"] == elements.epoch
    np.testing.assert_array_equal(ds.position[0], elements.at()[0])
    path.write_text(text.replace("t_end = 60", 't_end = 60\nepoch = "2008-09-20T12:35:40.104192 UTC"'))
    np.testing.assert_allclose(read_scenario(path).integrate().position[0], elements.at(600.0)[0], rtol=1e-12)
    path.write_text(text.replace("t_end = 60", 't_end = 60\nepoch = "2026-09-20"'))
    with pytest.raises(InvalidInput, match="6573 days from the elements"):
        read_scenario(path)


@pytest.mark.parametrize("change, says", [
    (("a.oem", "b.oem"), "b.oem.*cannot be read"),
    (("[initial]\n", "[initial]\nposition = [7e6, 0, 0]\n"), "position and oem are given; keep one"),
    (("t_end = 60", 't_end = 60\nunits = "consistent"'), "makes the run one in SI"),
    (("t_end = 60", 't_end = 60\nepoch = "2026-03-01T01:00:00 TDB"'), "may be used from .* give an instant within"),
    (('[system]\ntype = "spacecraft"\ninertia = [2.0, 3.0, 4.5]\nmu = 3.986004418e14', 'problem = "satellite"'),
     "a ready-made problem has units of its own"),
    (('type = "spacecraft"', 'type = "rigid_body"\nmass = 1.0'), "mu|oem is the orbit"),
])  # fmt: skip
def test_scenarios_that_are_refused(files, change, says):
    path = files[0].parent / "a.toml"
    assert change[0] in SCENARIO
    path.write_text(SCENARIO.replace(*change))
    with pytest.raises(InvalidInput, match=says):
        read_scenario(path)


# ------------------------------------------------------------------ what is refused
@pytest.mark.parametrize("change, says", [
    (("CCSDS_OEM_VERS = 2.0", "CCSDS_OPM_VERS = 2.0"), "does not begin with CCSDS_OEM_VERS"),
    (("VERS = 2.0", "VERS = 9.0"), "line 1, has version '9.0'; OEM files of version"),
    (("META_START", "META_STAR"), "line 5, is 'META_STAR' before any META"),
    (("META_STOP\n", ""), "line 13, is .* within META; write KEY = value"),
    (("CENTER_NAME = EARTH\n", ""), "begins META without CENTER_NAME; add it"),
    (("TIME_SYSTEM = UTC\n", ""), "without TIME_SYSTEM; add it"),
    (("TIME_SYSTEM = UTC", "TIME_SYSTEM = UT1"), "unknown TIME_SYSTEM 'UT1'"),
    (("6985.0", "nan"), "line 15, has 'nan', which is no finite number"),
    (("6985.0 449.0", "6985.0"), "line 15, has 5 numbers behind the time"),
    (("T00:01:00", "T00:03:00"), "line 16, has a time that is not after"),
    (("T00:01:00", "T00:61:00"), "line 15, cannot be read"),
    (("META_STOP", "INTERPOLATION = SPLINE\nMETA_STOP"), "unknown INTERPOLATION 'SPLINE'"),
    (("META_STOP", "INTERPOLATION = LAGRANGE\nMETA_STOP"), "without INTERPOLATION_DEGREE; add it"),
    (("META_STOP", "INTERPOLATION = LAGRANGE\nINTERPOLATION_DEGREE = -1\nMETA_STOP"), "INTERPOLATION_DEGREE '-1'"),
    (("META_STOP", "USEABLE_START_TIME = 2027-01-01T00:00:00\nMETA_STOP"), "are all outside of USEABLE_START_TIME"),
])  # fmt: skip
def test_orbits_that_are_refused(others, change, says):
    assert change[0] in OEM
    with pytest.raises(InvalidInput, match=says):
        ph.initial.oem(others(OEM.replace(*change, 1)))


@pytest.mark.parametrize("change, says", [
    (("= QUATERNION/RATE", "= EULER_ANGLE"), "of ATTITUDE_TYPE 'EULER_ANGLE'; give one of quaternions"),
    (("REF_FRAME_A = SC_BODY_1", "REF_FRAME_A = ICRF"), "give one that is the body"),
    (("= EME2000", "= LVLH"), "REF_FRAME_B of x.aem is 'LVLH', axes that turn"),
    (("ATTITUDE_DIR = A2B\n", ""), "ATTITUDE_DIR ''; give A2B or B2A"),
    (("QUATERNION_TYPE = LAST\n", ""), "QUATERNION_TYPE ''; give FIRST or LAST"),
    (("0.0 0.0 0.0 1.0 0.0", "0.0 0.0 0.0 2.0 0.0"), "line 17, has a quaternion of norm 2; give unit quaternions"),
    (("-0.05 0.0", "-0.05"), "line 17, has 7 numbers behind the time; give 8"),
])  # fmt: skip
def test_attitudes_that_are_refused(others, change, says):
    assert change[0] in AEM
    with pytest.raises(InvalidInput, match=says):
        ph.initial.aem(others(AEM.replace(*change, 1), "x.aem"))


def test_axes_that_turn_and_instants_outside_are_refused(others):
    with pytest.raises(InvalidInput, match=r"REF_FRAME of x.oem is 'ITRF2000', axes that turn"):
        ph.initial.oem(others(OEM.replace("EME2000", "ITRF2000"))).start()
    with pytest.raises(InvalidInput, match=r"at is 2027-01-01T00:00:00 UTC, but x.oem may be used from"):
        ph.initial.oem(others(OEM), at="2027-01-01")
    with pytest.raises(InvalidInput, match="the KVN form, not XML"):
        ph.initial.oem(others("<oem>"))
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        ph.initial.oem("nowhere.oem")
