"""Data in all their forms become the same measurements; what is wrong with them is said in one sentence."""

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from each import each
from polhode.errors import EstimationWarning, FileProblem, InvalidInput

BODY = ph.free_body((1.0, 2.0, 2.5))
TIMES = np.linspace(0.0, 4.0, 9)


def run():
    return ph.integrate(BODY, "exact", step=0.5, steps=8, angular_velocity=(0.2, 1, 0.1))


def gyro(**changes):
    return {"gyro": {"time": TIMES, "values": run().angular_velocity.values, "sigma": 1e-3} | changes}


def fit(data, free=("angular_velocity",), **words):
    return ph.fit(BODY, data, list(free), "exact", **words)


def write(path, columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_all_forms_of_data_are_one(tmp_path):
    ds = run()
    w, q = ds.angular_velocity.values, ds.attitude.values
    u = ph.rotation.rotate_inverse(q, (0.0, 0.6, 0.8))
    forms = [
        [ph.estimation.gyro(TIMES, w, 1e-3), ph.estimation.direction(TIMES, u, (0, 3, 4), 1e-2, name="sun")],
        {"gyro": (TIMES, w, 1e-3), "sun": {"time": TIMES, "values": u, "reference": (0, 3, 4), "sigma": 1e-2}},
        {"time": TIMES, "gyro": w, "sun": u, "sun_reference": (0, 3, 4), "gyro_sigma": 1e-3, "sun_sigma": 1e-2},
        xr.Dataset({"gyro": (("time", "axis"), w, {"sigma": 1e-3}),
                    "sun": (("time", "axis"), u, {"sigma": 1e-2, "reference": [0, 3, 4]})}, {"time": TIMES}),
    ]  # fmt: skip
    columns = {"time": TIMES, **{f"gyro_{a}": w[:, k] for k, a in enumerate("xyz")},
               **{f"sun_{a}": u[:, k] for k, a in enumerate("xyz")},
               **{f"sun_reference_{a}": np.full(9, (0, 3, 4)[k]) for k, a in enumerate("xyz")},
               "gyro_sigma": np.full(9, 1e-3), "sun_sigma": np.full(9, 1e-2)}  # fmt: skip
    forms.append(write(tmp_path / "flight.csv", columns))
    for form in forms:
        rates, sun = sorted(ph.estimation.read(form), key=lambda one: one.name)
        assert (rates.kind, sun.kind, sun.name) == ("gyro", "direction", "sun")
        np.testing.assert_allclose(rates.values, w, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.broadcast_to(sun.reference, (9, 3))[4], (0, 0.6, 0.8), rtol=0, atol=1e-15)
        np.testing.assert_allclose(rates.whitening[0], 1e3 * np.eye(3), rtol=1e-12)


def test_a_trajectory_is_data():
    found = ph.estimation.read(run())
    assert sorted(one.name for one in found) == ["attitude", "gyro"]


def test_empty_cells_are_no_measurements(tmp_path):
    w = run().angular_velocity.values.astype(object)
    w[3] = ""
    path = write(tmp_path / "a.csv", {"t": TIMES, **{f"gyro_{a}": w[:, k] for k, a in enumerate("xyz")}})
    (one,) = ph.estimation.read(path, noise={"gyro": 0.1})
    assert len(one.times) == 8 and 1.5 not in one.times
    w[5, 1] = ""
    path = write(tmp_path / "b.csv", {"t": TIMES, **{f"gyro_{a}": w[:, k] for k, a in enumerate("xyz")}})
    with pytest.raises(InvalidInput, match="gyro is not complete in row 7; give all its numbers there, or none"):
        ph.estimation.read(path)


def with_hole(row=4):
    w = run().angular_velocity.values.copy()
    w[row, 1] = np.nan
    return w


WRONG = {
    "nan": (lambda: gyro(values=with_hole()), "gyro is not finite in row 4: .*leave that row out"),
    "shape": (lambda: gyro(values=np.zeros((9, 2))), r"gyro has shape \(9, 2\), but there are 9 times; give \(9, 3\)"),
    "times": (lambda: gyro(time=TIMES - 1), "gyro in row 0 is of t = -1, before the start at 0; leave it out, or give"),
    "late": (lambda: gyro(), "gyro in row 7 is of t = 3.5, beyond the end at 3; .*check the units of the times"),
    "column": (lambda: {"time": TIMES, "gyr": np.zeros((9, 3))}, "'gyr'; did you mean 'gyro'.*gyr_reference"),
    "no times": (lambda: {"gyro": np.zeros((9, 3))}, "data has no times for gyro; give .time, values."),
    "unit": (lambda: {"attitude": (TIMES, np.full((9, 4), 1.0))}, "attitude has length 2 in row 0; give unit quat"),
    "sun": (lambda: {"sun": {"time": [0.0], "values": [[30, 0, 0]], "reference": (1, 0, 0)}},
            "sun has length 30 in row 0; give unit vectors: divide each by its length"),
    "no reference": (lambda: {"sun": {"time": [0.0], "values": [[1, 0, 0]]}}, "sun has no reference; give the dir"),
    "sigma": (lambda: gyro(sigma=-1), "noise of gyro is -1; standard deviations must be positive"),
    "no noise": (lambda: gyro(sigma=None) | {"attitude": (TIMES, run().attitude.values, 1)}, "noise of gyro is miss"),
    "orbit": (lambda: {"position": (TIMES, np.ones((9, 3)), 1)}, "the body of this system does not move through space"),
    "empty": (dict, "data is empty"),
    "nothing": (lambda: 3.0, "data must be measurements such as .*not 3.0"),
}  # fmt: skip


@each("case", WRONG)
def test_wrong_data_are_named(case):
    make, message = WRONG[case]
    with pytest.raises(InvalidInput, match=message):
        fit(make(), t_end=3.0 if case == "late" else None)


WRONG_FREE = {
    "spin": "unknown name in free 'spin'; known: ",
    "position": "free has position, but the body of 'free_body' does not move through space",
    "sun.bias": "unknown bias in free 'sun.bias'",
    "mass": "unknown name in free 'mass'",
}


@each("name", WRONG_FREE)
def test_wrong_names_are_named(name):
    with pytest.raises(InvalidInput, match=WRONG_FREE[name]):
        fit(gyro(), ["angular_velocity", name])


def test_wrong_files_are_named(tmp_path):
    with pytest.raises(FileProblem, match="cannot read"):
        fit(tmp_path / "none.csv")
    path = write(tmp_path / "a.csv", {"time": [0, 1], "gyro_x": [1, "one"], "gyro_y": [0, 0], "gyro_z": [0, 0]})
    with pytest.raises(InvalidInput, match=r"a.csv has 'one' in line 3, column gyro_x; give a number"):
        fit(path)
    path = write(tmp_path / "b.csv", {"time": [0, 1], "gyro_x": [1, 1], "gyro_y": [0, 0]})
    with pytest.raises(InvalidInput, match="no column gyro_z, but gyro_x"):
        fit(path)
    path = write(tmp_path / "c.csv", {"time": [0, 1], "gyro_x": [1, "nan"], "gyro_y": [0, 0], "gyro_z": [0, 0]})
    with pytest.raises(InvalidInput, match=r"c.csv has nan in line 3, column gyro_x"):
        fit(path)


def test_lines_of_files_are_counted_with_comments(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("# mine\n\ntime,gyro_x,gyro_y,gyro_z\n0,1,2,3\n# more\n1,2,x,4\n")
    with pytest.raises(InvalidInput, match=r"d.csv has 'x' in line 6, column gyro_y"):
        fit(path)
    path.write_text("time,gyro_x,gyro_y,gyro_z\n0,1,2,3\n1,2,3\n")
    with pytest.raises(InvalidInput, match=r"d.csv has 3 cells in line 3, but 4 names"):
        fit(path)
    path.write_text("time,gyro_x,gyro_x,gyro_z\n0,1,2,3\n")
    with pytest.raises(InvalidInput, match=r"d.csv has two columns 'gyro_x'; name each once"):
        fit(path)
    path.write_text("time,gyro_x\n0,\0\n")
    with pytest.raises((InvalidInput, FileProblem), match=r"d.csv"):
        fit(path)


def test_degrees_are_suspected():
    w = np.degrees(run().angular_velocity.values)
    for words in ({"angular_velocity": (0.2, 1, 0.1)}, {"attitude": (TIMES, run().attitude.values, 1e-3)}):
        more = {name: words.pop(name) for name in ("attitude",) if name in words}
        with pytest.warns(EstimationWarning) as told:
            fit(gyro(values=w) | more, ["angular_velocity", "attitude"] if more else ["angular_velocity"], **words)
        assert [str(one.message)[:58] for one in told] == ["gyro may be in degrees: it is 57.3 times what the guess or"]
        assert told[0].filename == __file__


def test_degrees_are_suspected_where_nothing_else_tells():
    ds = ph.integrate(BODY, "exact", step=0.4, steps=25, angular_velocity=(0.2, 1, 0.1))
    data = {"gyro": (ds.time, np.degrees(ds.angular_velocity.values), 0.06)}
    with pytest.warns(EstimationWarning, match="gyro may be in degrees: as such it is a motion of this body, and in"):
        fit(data)


def test_gaps_are_noted():
    ds = ph.integrate(BODY, "exact", step=0.1, steps=300, angular_velocity=(0.2, 1, 0.1))
    there = (ds.time.values < 8) | (ds.time.values > 20)
    found = fit({"gyro": (ds.time.values[there], ds.angular_velocity.values[there], 1e-3)})
    assert found.notes == ("gyro has no data between t = 7.9 and 20.1",) or "gyro has no data between" in found.notes[0]


def test_residuals_beyond_the_noise_are_named():
    w = run().angular_velocity.values.copy()
    w[5] = 7.0
    with pytest.warns(EstimationWarning, match="times the noise, the largest that of gyro in row 5; check units"):
        fit(gyro(values=w))


SPIN = (0.2, 1.0, 0.1)
HOSTILE = {
    "data of 1e308": ({"data": {"gyro": ([0.0, 0.5], [[1e308, 0, 0], SPIN])}}, "gyro is .* in row 0; what is measured"),
    "noise of 5e-324": ({"noise": 5e-324}, "noise of gyro is .*from 1e-60 to 1e.60, so check its units"),
    "noise of 1e300": ({"noise": 1e300}, "noise of gyro is 1e.300; standard deviations must be positive, from"),
    "prior of 5e-324": ({"prior": {"attitude": 5e-324, "angular_velocity": 1}}, "prior of attitude is .*check its"),
    "prior of 1e154": ({"prior": {"attitude": 1e154, "angular_velocity": 1}}, "prior of attitude is 1e.154"),
    "prior of two": ({"prior": {"attitude": np.triu(np.ones((3, 3))), "angular_velocity": 1}}, "no covariance"),
    "guess of 1e300": ({"angular_velocity": (1e300, 0, 0)}, "too large|overflow|would turn|units"),
}
SPIN_OF_DATA = {"gyro": ([0.0, 0.5, 1.0], [SPIN, SPIN, SPIN])}


@each("case", HOSTILE)
@each("estimate", ["fit", "filter"])
def test_numbers_beyond_arithmetic_end_in_a_sentence(estimate, case):
    changes, sentence = HOSTILE[case]
    given = {"data": SPIN_OF_DATA, "noise": 0.1, "prior": {"attitude": 0.1, "angular_velocity": 0.1}} | changes
    free = {"free": ["attitude", "angular_velocity"]} if estimate == "fit" else {"smooth": True, "gate": 1e300}
    function = ph.fit if estimate == "fit" else ph.estimation.kalman
    with pytest.raises(ph.errors.PolhodeError, match=sentence) as told:
        function(BODY, method="v2/mr", step=0.25, **{"angular_velocity": SPIN} | given, **free)
    assert "\n" not in str(told.value)


def test_a_reference_of_any_length_is_a_direction():
    for length in (5e-324, 1e-200, 1e50):
        found = ph.estimation.direction([0.0], [[1.0, 0, 0]], (0, 0, length))
        assert np.array_equal(found.reference, [0, 0, 1])
    with pytest.raises(InvalidInput, match="sun has length 0 in row 0; give unit vectors"):
        ph.estimation.direction([0.0], [[0.0, 0, 0]], (0, 0, 1), 10.0, name="sun")
