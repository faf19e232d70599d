"""Distributions of members: their moments, that every draw is physical, and that chunks change no bit."""

import json
from math import sqrt

import numpy as np
import pytest
import scipy
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.ensembles.designs import DESIGNS, Design, uniform_stream
from polhode.ensembles.sampling import KINDS, members
from polhode.errors import FileProblem, InvalidInput

S = ph.ensembles.sampling
COVARIANCE = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, -0.3], [0.5, -0.3, 1.0]])
TILT = np.array([0.6, 0.0, 0.8, 0.0])
DISTRIBUTIONS = {
    "normal": S.normal((1.0, 2.0, 3.0), covariance=COVARIANCE), "sigma": S.normal([[1.0, 2.0]], sigma=[0.5, 0.0]),
    "number": S.normal(5.0, 0.1), "lognormal": S.lognormal((2.0, -3.0), (0.1, 0.5)), "uniform": S.uniform((0, 1), 2.0),
    "choice": S.choice([(1.0, 2.0), (3.0, 4.0)], [1, 3]), "uniform_attitude": S.uniform_attitude(),
    "attitude": S.attitude(TILT, covariance=1e-2 * COVARIANCE), "inertia": S.inertia((3.0, 2.5, 1.0), 0.2),
    "moments": S.inertia((3.0, 2.5, 1.0), 0.2, axes=False),
    "tensor": S.inertia(np.diag([3.0, 2.5, 1.0]), 0.1, axes=False),
}  # fmt: skip


def half_width(values, n):
    """Five standard errors of a mean."""
    return 5.0 * values.std(axis=0) / sqrt(n)


# ------------------------------------------------------------------ designs
def test_a_member_is_drawn_alike_whatever_chunk_it_is_in():
    for design in DESIGNS:
        drawn = members(DISTRIBUTIONS, 37, design=design, seed=5)
        whole = drawn.rows(0, 37)
        for first, stop in ((0, 1), (3, 4), (5, 22), (36, 37), (9, 9)):
            part = drawn.rows(first, stop)
            for name in DISTRIBUTIONS:
                assert part[name].shape == (stop - first, *DISTRIBUTIONS[name].shape)
                np.testing.assert_array_equal(part[name], whole[name][first:stop], f"{design} {name}")
        np.testing.assert_array_equal(drawn["attitude"], whole["attitude"])


def test_random_members_do_not_depend_on_what_varies_beside_or_how_many():
    few = members({"mass": S.uniform(0, 1)}, 5, seed=3)
    many = members({"velocity": S.normal((0, 0, 0), 1.0), "mass": S.uniform(0, 1)}, 4000, seed=3)
    np.testing.assert_array_equal(many["mass"][:5], few["mass"])
    assert not np.isin(members({"mass": S.uniform(0, 1)}, 5, seed=4)["mass"], few["mass"]).any()
    assert abs(np.corrcoef(many["mass"], many["velocity"].T)[0, 1:]).max() < 5 / sqrt(4000)


def test_the_stream_is_philox_from_any_number_on():
    whole = uniform_stream(9, "mass", 0, 50)
    key = np.random.SeedSequence([9, *b"mass"]).generate_state(2, np.uint64)
    np.testing.assert_array_equal(whole, np.random.Generator(np.random.Philox(key=key)).random(50))
    for first, stop in ((1, 2), (3, 9), (4, 4), (49, 50), (17, 50)):
        np.testing.assert_array_equal(uniform_stream(9, "mass", first, stop), whole[first:stop])


def test_latin_hypercubes_have_one_member_in_each_slice():
    points = Design("latin_hypercube", 50, {"a": 2, "b": 1}, 1).rows(0, 50)
    for column in (*points["a"].T, *points["b"].T):
        np.testing.assert_array_equal(np.sort(np.floor(column * 50)), np.arange(50))


def test_sobol_members_are_more_even_than_random_ones():
    found = {}
    for design in DESIGNS:
        drawn = members({"rate": S.normal((0.0, 0.0), 1.0), "mass": S.lognormal(1.0, 0.5)}, 1024, design=design, seed=2)
        error = drawn["rate"].mean(axis=0), drawn["mass"].mean() - np.exp(0.125)
        found[design] = max(abs(error[0]).max(), abs(error[1]))
    assert found["sobol"] < 0.1 * found["random"] and found["latin_hypercube"] < 0.2 * found["random"]


# ------------------------------------------------------------------ distributions
def test_normal_and_lognormal_numbers_have_their_moments():
    n = 20_000
    drawn = DISTRIBUTIONS["normal"].draw(n, 1)
    assert (abs(drawn.mean(axis=0) - (1, 2, 3)) < half_width(drawn, n)).all()
    np.testing.assert_allclose(np.cov(drawn.T), COVARIANCE, rtol=0, atol=5 * 4.0 * sqrt(2 / n))
    u = np.random.default_rng(0).random((50, 1))
    np.testing.assert_allclose(DISTRIBUTIONS["number"].of(u), scipy.stats.norm(5.0, 0.1).ppf(u[:, 0]), rtol=1e-14)
    np.testing.assert_allclose(
        S.lognormal(2.0, 0.3).of(u), scipy.stats.lognorm(0.3, scale=2.0).ppf(u[:, 0]), rtol=1e-13
    )
    drawn = DISTRIBUTIONS["lognormal"].draw(n, 2)
    assert (drawn[:, 0] > 0).all() and (drawn[:, 1] < 0).all()
    assert np.ptp(DISTRIBUTIONS["sigma"].draw(9)[:, 0, 1]) == 0.0


def test_no_uniform_number_gives_infinity():
    for distribution in DISTRIBUTIONS.values():
        for u in (0.0, 1.0, 5e-324):
            assert np.isfinite(distribution.of(np.full((1, distribution.dimension), u))).all()


def test_choices_are_made_as_often_as_they_weigh():
    drawn = S.choice([1.0, 2.0, 3.0], [1, 0, 3]).draw(8000, 4)
    assert set(drawn) == {1.0, 3.0} and abs((drawn == 3.0).mean() - 0.75) < 5 * sqrt(0.75 * 0.25 / 8000)
    assert S.choice([1.0, 2.0, 3.0], [1, 3, 0]).of([[1.0]]).tolist() == [2.0]


def test_uniform_attitudes_are_uniform():
    q = S.uniform_attitude().draw(20_000, 3)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-15)
    angle = 2 * np.arccos(np.minimum(abs(q[:, 0]), 1.0))
    assert scipy.stats.kstest(angle, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3
    for axis in np.eye(3):
        for component in ph.rotation.rotate(q, axis).T:
            assert scipy.stats.kstest(component, scipy.stats.uniform(-1, 2).cdf).pvalue > 1e-3


def test_attitudes_have_the_covariance_asked_for_about_the_mean_in_the_body_frame():
    n = 20_000
    drawn = Rotation.from_quat(DISTRIBUTIONS["attitude"].draw(n, 4)[:, [1, 2, 3, 0]])
    w = (Rotation.from_quat(TILT[[1, 2, 3, 0]]).inv() * drawn).as_rotvec()
    assert (abs(w.mean(axis=0)) < half_width(w, n)).all()
    np.testing.assert_allclose(np.cov(w.T), 1e-2 * COVARIANCE, rtol=0, atol=5e-2 * 4.0 * sqrt(2 / n))


@each("mean", [(3.0, 2.5, 1.0), (2.0, 1.0, 1.0), (1.0, 1.0, 0.0), np.array(
    [[3.0, 0.2, 0.1], [0.2, 2.0, -0.3], [0.1, -0.3, 2.5]])])  # fmt: skip
@each("axes", [True, False])
def test_every_inertia_is_possible_and_their_mean_is_the_given_one(mean, axes):
    n = 4000
    drawn = S.inertia(mean, 0.5, axes=axes).draw(n, 7)
    for one in drawn[:300]:
        ph.inertia.principal(one)  # refuses what no body can have
    tensors = drawn if drawn.ndim == 3 else np.array([np.diag(one) for one in drawn])
    given = np.diag(mean) if np.ndim(mean) == 1 else mean
    lowest = np.linalg.eigvalsh(0.5 * np.trace(tensors, axis1=1, axis2=2)[:, None, None] * np.eye(3) - tensors)[:, 0]
    assert lowest.min() > -1e-14
    assert (abs(tensors.mean(axis=0) - given) <= half_width(tensors, n) + 1e-15).all()
    np.testing.assert_array_equal(tensors, np.swapaxes(tensors, 1, 2))


def test_inertias_spread_as_said():
    moments = np.array([3.0, 2.5, 1.0])
    d = ph.inertia.d_from_inertia(moments)
    drawn = S.inertia(moments, 0.01).draw(40_000, 1)
    second = 0.5 * np.trace(drawn, axis1=1, axis2=2)[:, None, None] * np.eye(3) - drawn
    for i in range(3):
        assert second[:, i, i].std() / d[i] == pytest.approx(0.01, rel=0.03)
        k = (i + 1) % 3
        assert drawn[:, i, k].std() == pytest.approx(0.01 * sqrt(d[i] * d[k] / 2), rel=0.03)
    assert (drawn.std(axis=0).diagonal() / moments < 0.0102).all()
    only = S.inertia(moments, 0.01, axes=False).draw(40_000, 1)
    np.testing.assert_allclose(only.std(axis=0), drawn.std(axis=0).diagonal(), rtol=0.03)


# ------------------------------------------------------------------ records
def test_records_make_the_same_distributions_again():
    assert set(KINDS) == {distribution.kind for distribution in DISTRIBUTIONS.values()}
    for distribution in DISTRIBUTIONS.values():
        again = S.from_record(json.loads(json.dumps(distribution.record())))
        np.testing.assert_array_equal(again.draw(9, 1), distribution.draw(9, 1))
    drawn = members({"mass": S.normal(1.0, 0.1), "position": np.ones((3, 3))}, design="sobol", seed=8)
    record = json.loads(json.dumps(drawn.record()))
    assert (record["count"], record["design"], record["seed"]) == (3, "sobol", 8)
    assert record["members"]["mass"] == {"normal": {"mean": 1.0, "sigma": 0.1}}
    assert record["members"]["position"]["array"]["shape"] == [3, 3]
    again = members({"mass": record["members"]["mass"]}, 3, design="sobol", seed=8)
    np.testing.assert_array_equal(again["mass"], drawn["mass"])


# ------------------------------------------------------------------ tables
def test_tables_of_all_kinds_are_read_alike(tmp_path):
    import pandas
    import xarray as xr

    rng = np.random.default_rng(5)
    columns = {
        "mass": rng.random(4), **{f"velocity_{axis}": rng.random(4) for axis in "xyz"},
        **{f"attitude.{axis}": rng.random(4) for axis in "xyzw"}, "k_x": rng.random(4),
        **{f"inertia[{i},{k}]": rng.random(4) for i in range(3) for k in range(3)},
        **{f"parameters[{k}]": rng.random(4) for k in range(2)},
        **{f"J_{ab}": rng.random(4) for ab in ("xx", "yy", "zz", "xy", "xz", "yz")},
    }  # fmt: skip
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "members.csv", index=False)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    (tmp_path / "quoted.csv").write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in lines))
    expected = {
        "mass": columns["mass"], "velocity": np.column_stack([columns[f"velocity_{axis}"] for axis in "xyz"]),
        "attitude": np.column_stack([columns[f"attitude.{axis}"] for axis in "wxyz"]), "k_x": columns["k_x"],
        "parameters": np.column_stack([columns["parameters[0]"], columns["parameters[1]"]]),
    }  # fmt: skip
    for table in (frame, tmp_path / "members.csv", str(tmp_path / "quoted.csv")):
        found = S.read_table(table)
        assert list(found) == ["mass", "velocity", "attitude", "k_x", "inertia", "parameters", "J"]
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)
        assert found["inertia"][2, 1, 0] == columns["inertia[1,0]"][2] and found["inertia"].shape == (4, 3, 3)
        np.testing.assert_array_equal(found["J"], np.swapaxes(found["J"], 1, 2))
        assert found["J"][1, 2, 0] == columns["J_xz"][1]
    ds = xr.Dataset({"velocity": (("axis", "member"), expected["velocity"].T), "other": ("time", np.ones(2))},
                    {"mass": ("member", columns["mass"]), "member": np.arange(4)})  # fmt: skip
    found = members(ds)
    assert list(found) == ["velocity", "mass"] and found.count == 4
    np.testing.assert_array_equal(found["velocity"], expected["velocity"])


CSV = {
    "a,b\n1,2\n3,x\n": r"t.csv, line 3: b must be a number, not 'x'",
    "a,b\n1,2\n3,\n": r"t.csv, line 3: b of member 1 is missing",
    "a,b\n1,2\n3,4,5\n": r"t.csv, line 3: 3 entries, but 2 columns",
    "a,b\n1,2\n3,nan\n": r"b of member 1 is nan; give a finite number",
    "a,a\n1,2\n": r"first line of t.csv must be the names of its columns, each once",
    "": r"first line of t.csv must be the names", "a,b\n": r"but no members below them",
    "v[0],v[2]\n1,2\n": r"columns of v have a gap: v\[1\] is missing",
    "v,v_x,v_y,v_z\n1,2,3,4\n": r"the table has v as well as v_x",
}  # fmt: skip


@each("text", CSV)
def test_tables_with_errors_are_refused_with_the_place(text, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidInput, match=CSV[text]):
        members(tmp_path / "t.csv")


def test_a_table_that_is_not_there_is_a_problem_of_files(tmp_path):
    with pytest.raises(FileProblem, match=r"none\.csv cannot be read"):
        members(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InvalidInput, match=r"b\.csv is no CSV file"):
        members(tmp_path / "b.csv")


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "t.txt").write_text("a,b\n1,2\n")
    for wrong, sentence in ((tmp_path / "t.txt", r"table must be the name of a CSV file \(\.csv\)"),
                            ("many", r"varied must be a mapping of names to values, not 'many'")):  # fmt: skip
        with pytest.raises(InvalidInput, match=sentence):
            members(wrong)


# ------------------------------------------------------------------ members of ensembles
def test_ensembles_take_distributions_and_tables_and_record_them(tmp_path):
    body, run = ph.free_body((3.0, 2.0, 1.5)), {"step": 0.5, "steps": 3}
    varied = {"inertia": S.inertia((3.0, 2.0, 1.5), 0.1), "angular_velocity": S.normal((0, 0, 1.0), 0.1)}
    drawn = members(varied, 5, design="sobol", seed=3)
    ds = ph.ensemble(body, "exact", members=drawn, **run)
    np.testing.assert_array_equal(ds.inertia, drawn["inertia"])
    np.testing.assert_array_equal(ds.initial_angular_velocity, drawn["angular_velocity"])
    record = json.loads(ds.attrs["ensemble"])["drawn"]
    assert record == json.loads(json.dumps(drawn.record())) and record["seed"] == 3
    again = ph.ensemble(
        body, "exact", members=members(record["members"], record["count"], design="sobol", seed=3), **run
    )
    np.testing.assert_array_equal(again.energy, ds.energy)
    beside = {"inertia": varied["inertia"], "angular_velocity": {"uniform": {"low": [0, 0, 1], "high": [0, 1, 2]}},
              "attitude": np.eye(4)}  # fmt: skip
    assert ph.ensemble(body, "exact", members=beside, **run).sizes["member"] == 4
    np.savetxt(tmp_path / "m.csv", ds.initial_angular_velocity, delimiter=",", fmt="%.17g", comments="",
               header="angular_velocity_x,angular_velocity_y,angular_velocity_z")  # fmt: skip
    table = ph.ensemble(body, "exact", members=tmp_path / "m.csv", **run)
    alone = ph.ensemble(body, "exact", members={"angular_velocity": drawn["angular_velocity"]}, **run)
    np.testing.assert_array_equal(table.attitude, alone.attitude)
    with pytest.raises(
        InvalidInput, match=r"count is missing; say how many members to draw: polhode\.ensembles\.sampling"
    ):
        ph.ensemble(body, "exact", members=varied, **run)


# ------------------------------------------------------------------ errors
WRONG = {
    "negative sigma": (lambda: S.normal(1.0, -0.1), r"sigma is -0\.1; it must be 0 or positive"),
    "one negative": (lambda: S.normal((1.0, 2.0), (0.1, -0.2)), r"sigma is -0\.2; it must be 0 or positive"),
    "sigma of another shape": (lambda: S.normal((1.0, 2.0), (1, 2, 3)), r"sigma has shape \(3,\); give one number, or"),
    "no spread": (lambda: S.normal(1.0), r"give sigma or covariance"),
    "two spreads": (lambda: S.normal((1, 2), 1.0, covariance=np.eye(2)), r"give either sigma or covariance, not both"),
    "not definite": (lambda: S.normal((0, 0), covariance=[[1, 2], [2, 1]]), r"not positive definite: its smallest"),
    "not symmetric": (lambda: S.normal((0, 0), covariance=[[1, 0.5], [0, 1]]), r"covariance is not symmetric"),
    "wrong shape": (lambda: S.attitude(TILT, covariance=np.eye(2)), r"covariance must have shape \(3, 3\)"),
    "nan": (lambda: S.normal((0.0, np.nan), 1.0), r"mean\[1\] is nan"),
    "no attitude": (lambda: S.attitude((1, 1, 0, 0), 0.1), r"mean has length 1\.41421"),
    "several attitudes": (lambda: S.attitude(np.eye(4), 0.1), r"mean must be one attitude, but there are 4"),
    "exchanged bounds": (lambda: S.uniform((0, 2), (1, 1)), r"low is 2, above high, which is 1; exchange them"),
    "zero median": (lambda: S.lognormal(0.0, 0.1), r"median is 0, which a log-normal quantity never is"),
    "huge sigma": (lambda: S.lognormal(1.0, 100.0), r"sigma is so large that values overflow"),
    "no body": (lambda: S.inertia((5, 1, 1), 0.1), r"mean\[0\] = 5\.0 exceeds mean\[1\] \+ mean\[2\]"),
    "spread of an inertia": (lambda: S.inertia((1, 1, 1), 5), r"relative is 5; it must be at most 1"),
    "weights": (lambda: S.choice([1, 2], [1, -1]), r"weights must be 2 numbers, 0 or positive and not all 0"),
    "no count": (lambda: members({"mass": S.normal(1.0, 0.1)}), r"count is missing; say how many members"),
    "no members": (lambda: members({}), r"varied is empty"),
    "unequal": (lambda: members({"a": [1.0, 2.0], "b": [1.0] * 3}), r"unequal numbers: b has 3 entries, but a has 2"),
    "another count": (lambda: members({"a": [1.0, 2.0]}, 3), r"a has 2 entries, but count is 3"),
    "nan of a member": (lambda: members({"v": [[1.0, 2.0], [np.inf, 1.0]]}), r"v of member 1 is inf; give a finite"),
    "one number": (lambda: members({"mass": 2.0}, 3), r"mass is one number; give a list with one entry"),
    "design": (lambda: members({"a": S.uniform(0, 1)}, 3, design="sobel"), r"unknown design 'sobel'; did you mean"),
    "seed": (lambda: members({"a": S.uniform(0, 1)}, 3, seed=-1), r"seed is -1; it must be 0 or more"),
    "kind": (lambda: S.from_record({"uniforms": {}}), r"unknown distribution 'uniforms'; did you mean"),
    "argument": (lambda: S.from_record({"uniform": {"lo": 1}}), r"unknown argument of uniform 'lo'; did"),
    "points": (lambda: S.uniform(0, 1).of([[0.1, 0.2]]), r"u must have shape \(n, 1\), but has shape \(1, 2\)"),
    "name": (lambda: members({"mass": [1.0]})["maas"], r"unknown quantity of the members 'maas'; did you mean 'mass'"),
    "range": (lambda: members({"mass": [1.0]}).rows(0, 2), r"members 0 to 2 are asked for, but there are 1"),
}


@each("kind", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(kind):
    call, sentence = WRONG[kind]
    with pytest.raises(InvalidInput, match=sentence) as refused:
        call()
    assert "\n" not in str(refused.value)
