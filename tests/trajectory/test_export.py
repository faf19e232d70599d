"""CCSDS messages: parsed back by maintained readers, digit for digit, and what is refused."""

import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode import cli
from polhode.errors import InvalidInput

ROOT = Path(__file__).parents[2]
EPOCH = "2026-03-01T12:00:00"
NAMES = {"object_name": "ORBITER", "object_id": "2026-001A"}


@pytest.fixture(scope="module")
def oem_reader():
    """The package ``oem``."""
    return pytest.importorskip("oem", reason="the package oem is not installed (extra 'test')")


@pytest.fixture(scope="module")
def ndm():
    """Reads any message of the CCSDS by the package ``ccsds-ndm``."""
    module = pytest.importorskip("ccsds_ndm.ndm_io", reason="the package ccsds-ndm is not installed (extra 'test')")
    return module.NdmIo().from_path


@pytest.fixture(scope="module")
def orbit():
    """Carson's ellipse, in km and s."""
    return ph.integrate(ph.systems.problem("carson_elliptic").build(), "v2/kepler", step=100.0, steps=60, every=2,
                        position=(0, 1664.029, 0), velocity=(1.550663, 0, 0.1))  # fmt: skip


@pytest.fixture(scope="module")
def craft():
    """A tumbling body."""
    return ph.integrate(ph.free_body((2.0, 3.0, 4.5)), step=0.25, steps=40,
                        settings={"units": "SI", "epoch": EPOCH + " TAI"}, attitude=(0.5, 0.5, -0.5, 0.5),
                        angular_velocity=(0.1, 0.7, -0.4))  # fmt: skip


def written(maker, ds, tmp_path, **options):
    """The text of a message without its date of creation."""
    path = maker(ds, tmp_path / "message", **{**NAMES, **options})
    return re.sub(r"CREATION_DATE = .*\n", "", path.read_text())


# ------------------------------------------------------------------ orbits
@each("units", ["km", "m"])
def test_positions_survive_to_the_last_digit(orbit, oem_reader, ndm, tmp_path, units):
    path = ph.trajectory.export.oem(orbit, tmp_path / "a.oem", epoch=EPOCH, center_name="EUROPA", units=units, **NAMES)
    scale = {"km": 1.0, "m": 1e-3}[units]
    expected = np.column_stack([orbit.position, orbit.velocity]) * scale
    rtol = 0 if units == "km" else 3e-16
    message = oem_reader.OrbitEphemerisMessage.open(path)
    found = np.array([state.vector for state in message.states])
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)
    times = np.array([(state.epoch - message.states[0].epoch).sec for state in message.states])
    np.testing.assert_allclose(times, orbit.time, rtol=0, atol=1e-6)
    head = message.segments[0].metadata
    assert (head["OBJECT_NAME"], head["OBJECT_ID"], head["CENTER_NAME"]) == ("ORBITER", "2026-001A", "EUROPA")
    assert (head["REF_FRAME"], head["TIME_SYSTEM"]) == ("ICRF", "UTC")
    assert message.states[0].epoch.isot == EPOCH + ".000000"
    (segment,) = ndm(path).body.segment
    rows = segment.data.state_vector
    found = [[getattr(row, name).value for name in ("x", "y", "z", "x_dot", "y_dot", "z_dot")] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)
    assert rows[1].epoch == "2026-03-01T12:03:20.000" and segment.metadata.stop_time == "2026-03-01T13:40:00.000"


def test_si_trajectories_are_in_metres(tmp_path, ndm):
    ds = ph.integrate(ph.orbit(3.986004415e14), "v2/kepler", step=60.0, steps=5,
                      settings={"units": "SI", "epoch": EPOCH}, position=(7e6, 1.0, 0),
                      velocity=(0, 7500.0, 10.0))  # fmt: skip
    path = ph.trajectory.export.oem(ds, tmp_path / "a.oem", object_name="A", center_name="EARTH", ref_frame="EME2000")
    row = ndm(path).body.segment[0].data.state_vector[0]
    assert (row.x.value, row.y.value, row.y_dot.value, row.z_dot.value) == (7000.0, 0.001, 7.5, 0.01)
    with pytest.raises(InvalidInput, match="labelled SI, whose lengths are metres"):
        ph.trajectory.export.oem(ds, path, object_name="A", center_name="EARTH", units="km")


def test_the_message_is_in_the_time_system_asked_for(orbit, oem_reader, tmp_path):
    path = tmp_path / "a.oem"
    for epoch, system, first in (
        (EPOCH, None, "UTC 2026-03-01T12:00:00.000"),
        (EPOCH, "TDB", "TDB 2026-03-01T12:00:00.000"),  # a text without scale is in the message's
        (EPOCH + "Z", "TAI", "TAI 2026-03-01T12:00:37.000"),
        (EPOCH + " TDB", None, "TDB 2026-03-01T12:00:00.000"),
        (EPOCH + " UTC", "tt", "TT 2026-03-01T12:01:09.184"),
    ):
        ph.trajectory.export.oem(
            orbit, path, epoch=epoch, time_system=system, center_name="EUROPA", units="km", **NAMES
        )
        message = oem_reader.OrbitEphemerisMessage.open(path)
        name, at = first.split()
        assert message.segments[0].metadata["TIME_SYSTEM"] == name
        assert message.states[0].epoch.isot == at + "000" and message.states[0].epoch.scale == name.lower()


def test_a_run_across_a_leap_second(oem_reader, tmp_path):
    ds = ph.integrate(ph.orbit(1.0), "v2/kepler", step=0.5, steps=8, position=(1, 0, 0), velocity=(0, 1, 0),
                      settings={"epoch": "2016-12-31T23:59:58Z"})  # fmt: skip
    path = ph.trajectory.export.oem(ds, tmp_path / "a.oem", center_name="X", units="km", **NAMES)
    assert "2016-12-31T23:59:60.500 " in path.read_text()
    states = oem_reader.OrbitEphemerisMessage.open(path).states
    np.testing.assert_allclose([(s.epoch - states[0].epoch).sec for s in states], ds.time, rtol=0, atol=1e-6)


def test_backwards_runs_are_written_forwards(orbit, tmp_path):
    options = {"epoch": EPOCH, "center_name": "EUROPA", "units": "km"}
    assert written(ph.trajectory.export.oem, orbit.isel(time=slice(None, None, -1)), tmp_path, **options) == written(
        ph.trajectory.export.oem, orbit, tmp_path, **options
    )


def test_a_repeated_time_begins_a_segment(orbit, oem_reader, ndm, tmp_path):
    twice = orbit.isel(time=[0, 1, 2, 2, 3])
    twice.velocity[3] += 0.02
    for ds in (twice, twice.isel(time=slice(None, None, -1))):
        path = ph.trajectory.export.oem(ds, tmp_path / "a.oem", epoch=EPOCH, center_name="EUROPA", units="km", **NAMES)
        segments = oem_reader.OrbitEphemerisMessage.open(path).segments
        before, after = (list(segment.states) for segment in segments)
        assert (len(before), len(after)) == (3, 2)
        kicked = after[0].velocity - before[2].velocity
        np.testing.assert_allclose(kicked, 0.02, rtol=1e-12)
        first, second = (segment.metadata for segment in ndm(path).body.segment)
        assert first.stop_time == second.start_time


def test_one_of_several_bodies(orbit, tmp_path, ndm):
    two = xr.concat([orbit[["position", "velocity"]], 2 * orbit[["position", "velocity"]]], dim="body")
    two = two.assign_attrs(orbit.attrs)
    options = {"epoch": EPOCH, "center_name": "EUROPA", "units": "km", **NAMES}
    path = ph.trajectory.export.oem(two, tmp_path / "a.oem", body=1, **options)
    assert ndm(path).body.segment[0].data.state_vector[0].y.value == 2 * 1664.029
    for body in (None, 2, -1):
        with pytest.raises(InvalidInput, match=r"body is .*the trajectory has 2, give one of 0 to 1"):
            ph.trajectory.export.oem(two, path, body=body, **options)
    for body in (True, "a"):
        with pytest.raises(InvalidInput, match=r"body must be a whole number"):
            ph.trajectory.export.oem(two, path, body=body, **options)
    assert ph.trajectory.export.oem(orbit, path, body=0, **options) == path


@each(
    ("change", "says"),
    [
        ({"epoch": None}, "epoch is missing; say which instant is time 0"),
        ({"epoch": "noon"}, "epoch is 'noon'; expected such as"),
        ({"units": None}, "units is missing; the trajectory may be in any consistent set"),
        ({"units": "miles"}, "unknown units 'miles'"),
        ({"time_system": "GPS"}, "unknown time system 'GPS'"),
        ({"time_system": 3}, "time_system must be text"),
        ({"object_name": ""}, "object_name must be a name"),
        ({"center_name": "É"}, "ASCII characters"),
        ({"ref_frame": "A\nB"}, "one line"),
        ({"body": 1}, "body is 1, but the trajectory has one body; leave it out"),
    ],
)
def test_what_is_wrong_is_named(orbit, tmp_path, change, says):
    options = {"epoch": EPOCH, "center_name": "EUROPA", "units": "km", **NAMES} | change
    with pytest.raises(InvalidInput, match=says):
        ph.trajectory.export.oem(orbit, tmp_path / "a.oem", **options)
    assert not list(tmp_path.iterdir())


def test_trajectories_that_are_no_ephemerides(orbit, craft, tmp_path):
    options = {"epoch": EPOCH, "center_name": "EUROPA", "units": "km", **NAMES}
    bad = orbit.copy(deep=True)
    bad.position[3, 1] = np.nan
    for ds, says in (
        (craft, "this trajectory has no position"),
        (orbit.isel(time=[0, 2, 1, 3]), "time goes back from 400 to 200"),
        (orbit.isel(time=slice(0, 0)), "the trajectory has no rows"),
        (bad, "position is not finite in row 3"),
        (orbit.assign_coords(time=orbit.time * 1e-16), "are closer than 1e-12 s; thin out the rows"),
    ):
        with pytest.raises(InvalidInput, match=says):
            ph.trajectory.export.oem(ds, tmp_path / "a.oem", **options)
    with pytest.raises(InvalidInput, match="this trajectory has no attitude: what it describes does not turn"):
        ph.trajectory.export.aem(orbit, tmp_path / "a.aem", epoch=EPOCH, **NAMES)
    with pytest.raises(ph.errors.FileProblem, match="cannot write"):
        (tmp_path / "file").write_text("")
        ph.trajectory.export.oem(orbit, tmp_path / "file" / "a.oem", **options)


# ------------------------------------------------------------------ attitudes
@each("scalar", ["first", "last"])
def test_attitudes_survive_and_turn_vectors_as_the_standard_says(craft, ndm, tmp_path, scalar):
    path = ph.trajectory.export.aem(craft, tmp_path / "a.aem", scalar=scalar, center_name="EARTH", **NAMES)
    (segment,) = ndm(path).body.segment
    head, rows = segment.metadata, segment.data.attitude_state
    assert (head.ref_frame_a, head.ref_frame_b, head.attitude_dir.value) == ("ICRF", "SC_BODY_1", "A2B")
    assert (head.attitude_type.value, head.quaternion_type.value) == ("QUATERNION", scalar.upper())
    assert head.time_system.value == "TAI" and head.start_time == EPOCH + ".000" and len(rows) == 41
    q = [row.quaternion_state.quaternion for row in rows]
    np.testing.assert_array_equal([(a.qc, a.q1, a.q2, a.q3) for a in q], craft.attitude)
    # The standard: axis and angle that turn the axes of A to those of B; coordinates in B by the transposed matrix.
    fixed = np.array([1.0, -2.0, 0.5])
    for k in (0, 17, 40):
        angle = 2 * np.arctan2(np.linalg.norm([q[k].q1, q[k].q2, q[k].q3]), q[k].qc)
        axis = np.array([q[k].q1, q[k].q2, q[k].q3]) / np.sin(angle / 2)
        axes_of_b = Rotation.from_rotvec(angle * axis).apply(np.eye(3))
        in_body = ph.rotation.rotate_inverse(craft.attitude.values[k], fixed)
        np.testing.assert_allclose(axes_of_b @ fixed, in_body, rtol=0, atol=1e-14)


def test_the_momentum_of_a_free_body_is_fixed_in_frame_a(craft, ndm, tmp_path):
    """From the message alone: b2a = transposed of a2b, applied to the momentum in the body."""
    path = ph.trajectory.export.aem(craft, tmp_path / "a.aem", **NAMES)
    rows = [row.quaternion_state.quaternion for row in ndm(path).body.segment[0].data.attitude_state]
    turns = Rotation.from_quat([(a.q1, a.q2, a.q3, a.qc) for a in rows])
    space = turns.apply(craft.angular_momentum)
    np.testing.assert_allclose(space, np.tile(space[0], (41, 1)), rtol=0, atol=1e-13)
    assert np.ptp(turns.inv().apply(craft.angular_momentum), axis=0).max() > 1.0


def test_words_of_an_attitude_message(craft, tmp_path):
    text = written(ph.trajectory.export.aem, craft, tmp_path)
    assert text.startswith("CCSDS_AEM_VERS = 1.0\nCOMMENT title: free_body") and "CENTER_NAME" not in text
    assert text.index("META_STOP") < text.index("DATA_START") < text.index("DATA_STOP") == len(text) - 10
    with pytest.raises(InvalidInput, match="unknown scalar 'middle'"):
        ph.trajectory.export.aem(craft, tmp_path / "a", scalar="middle", **NAMES)


# ------------------------------------------------------------------ the command
@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def test_the_command_writes_what_python_writes(polhode, orbit, craft, tmp_path):
    def text(name):
        return re.sub(r"CREATION_DATE = .*\n", "", (tmp_path / name).read_text())

    ph.save(orbit, tmp_path / "orbit.nc")
    ph.save(craft, tmp_path / "craft.nc")
    code, out, err = polhode(
        "export", "orbit.nc", "orbit.oem", "--name", "ORBITER", "--id", "2026-001A", "--center", "EUROPA",
        "--units", "km", "--epoch", EPOCH + " TDB", "--frame", "EME2000",
    )  # fmt: skip
    assert (code, out, err) == (0, "", "written: orbit.oem, 31 rows\n")
    options = {"epoch": EPOCH + " TDB", "center_name": "EUROPA", "units": "km", "ref_frame": "EME2000"}
    assert text("orbit.oem") == written(ph.trajectory.export.oem, orbit, tmp_path, **options)
    code, out, err = polhode("export", "craft.nc", "craft.aem", "--name", "ORBITER", "--id", "2026-001A", "--scalar",
                             "last", "--time-system", "UTC", "-q")  # fmt: skip
    assert (code, out, err) == (0, "", "")
    assert text("craft.aem") == written(ph.trajectory.export.aem, craft, tmp_path, scalar="last", time_system="UTC")
    for words, code, says in (
        (("orbit.nc", "a.txt", "--name", "A"), 3, "must end in .oem (orbit) or .aem (attitude)"),
        (("orbit.nc", "a.oem", "--name", "A"), 3, "--center is missing"),
        (("orbit.nc", "a.oem", "--name", "A", "--center", "B", "--units", "km"), 3, "epoch is missing"),
        (("none.nc", "a.aem", "--name", "A"), 5, "there is no file 'none.nc'"),
        (("orbit.nc", "a.oem"), 2, "Missing option '--name'"),
    ):
        got, _, err = polhode("export", *words)
        assert got == code and says in err


# ------------------------------------------------------------------ examples
def test_the_example_ends_as_an_ephemeris(polhode, oem_reader, tmp_path):
    assert polhode("run", ROOT / "examples" / "sun-synchronous.toml", "--no-picture", "-q")[0] == 0
    code, _, err = polhode("export", "sun-synchronous.nc", "a.oem", "--name", "OBSERVER", "--center", "EARTH")
    assert code == 0, err
    states = list(oem_reader.OrbitEphemerisMessage.open(tmp_path / "a.oem").states)
    assert states[0].epoch.isot == "2026-03-01T00:00:00.000000" and states[0].epoch.scale == "tdb"
    nodes = [
        float(ph.kepler.classical_elements(s.position, s.velocity, 398600.4415).node) for s in (states[0], states[-1])
    ]
    assert np.degrees(nodes[0]) == pytest.approx(45, abs=1e-9)
    assert np.degrees(nodes[1] - nodes[0]) == pytest.approx(2 * 0.9856, rel=0.01)  # as far as the Sun goes in two days


def test_export_script(monkeypatch, capsys, tmp_path, ndm):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(os.fspath(ROOT / "examples" / "export_script.py"))
    said = capsys.readouterr().out
    assert "observer.oem: " in said and "2026-03-01T02:00:00.000 " in said and "2026-03-01T00:10:00.000 " in said
    assert len(ndm(tmp_path / "observer.oem").body.segment[0].data.state_vector) == 121
    assert len(ndm(tmp_path / "observer.aem").body.segment[0].data.attitude_state) == 61
