"""``polhode run`` of scenarios with [members]: what is written, said and refused."""

import json
import sys

import numpy as np
import pytest

import polhode as ph
from polhode import cli
from polhode.errors import Interrupted, InvalidInput

TOP = """\
[system]
type = "heavy_top"
inertia = [5.0, 4.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
[initial]
euler_angles_deg = [0.0, 17.0, 0.0]
sequence = "ZXZ"
angular_velocity = [0.0, 0.0, 30.0]
[run]
step = 0.02
t_end = 0.4
every = 4
"""
DRAWN = """\
[members]
count = 12
seed = 3
[members.vary]
weight = { normal = { mean = 20.0, sigma = 0.2 } }
angular_velocity = { normal = { mean = [0.0, 0.0, 30.0], sigma = 0.3 } }
"""


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """``polhode run`` of a text in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(text, *words):
        (tmp_path / "tops.toml").write_text(text)
        monkeypatch.setattr(sys, "argv", ["polhode", "run", "tops.toml", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def test_ctrl_c_while_the_picture_is_drawn_tells_where_members_are(run, monkeypatch):
    def pressed(ds, path):
        raise KeyboardInterrupt

    monkeypatch.setattr("polhode.cli.run.picture_of_members", pressed)
    code, _, err = run(TOP + DRAWN)
    told = "polhode: interrupted when the run was over; written: tops.nc"
    assert code == 130 and err.splitlines()[-1] == told
    assert ph.load("tops.nc").sizes["member"] == 12


def test_members_that_ctrl_c_stopped_are_told_of(run, monkeypatch):
    computed = ph.ensembles.ensemble_of

    def pressed(*arguments, **words):
        ds = computed(*arguments, **words)
        ds.status[5:] = 1
        raise Interrupted("interrupted after 5 of 12 members", trajectory=ds)

    monkeypatch.setattr(ph.ensembles, "ensemble_of", pressed)
    code, _, err = run(TOP + DRAWN)
    assert code == 130 and err.splitlines()[-1] == (
        "polhode: interrupted after 5 of 12 members; what they computed is in tops.nc; run it again with: polhode run "
        "tops.toml"
    )


def test_members_are_drawn_run_and_written(run, tmp_path):
    code, out, err = run(TOP + DRAWN, "--json")
    assert code == 0, err
    facts, ds = json.loads(out), ph.load("tops.nc")
    assert facts["members"] == 12 and facts["failed"] == 0 and facts["written"] == ["tops.nc", "tops.png"]
    assert ds.sizes["member"] == 12 and (tmp_path / "tops.png").stat().st_size > 10_000
    assert "12" in err and "energy error" in err and ds.attrs["scenario"] == TOP + DRAWN
    drawn = {
        "weight": ph.ensembles.sampling.normal(20.0, 0.2),
        "angular_velocity": ph.ensembles.sampling.normal((0, 0, 30.0), 0.3),
    }
    again = ph.ensembles.sampling.members(drawn, 12, seed=3)
    assert np.array_equal(ds.weight, again["weight"])
    assert json.loads(ds.attrs["ensemble"])["drawn"]["seed"] == 3


def test_a_table_and_statistics_alone(run, tmp_path):
    (tmp_path / "tops.csv").write_text("weight\n19.0\n20.0\n21.0\n")
    text = TOP + '[members]\ntable = "tops.csv"\nreduce = { angular_velocity = ["mean", "std"] }\n'
    code, _, err = run(text)
    assert code == 0, err
    ds = ph.load("tops.nc")
    assert "member" not in ds.dims and ds.attrs["members"] == 3
    one = ph.runs.read_scenario("tops.toml")
    start = {"euler_angles_deg": (0, 17, 0), "sequence": "ZXZ", "angular_velocity": (0, 0, 30)}
    varied = {"weight": [19.0, 20.0, 21.0]}
    kept = ph.ensemble(one.system, one.method, members=varied, step=0.02, t_end=0.4, every=4, start=start)
    assert np.allclose(ds.angular_velocity_mean, kept.angular_velocity.mean("member"), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[members]\ncount = 3\n", "tops.toml:14: members: give either vary, what varies by name, or table"),
        ("[members]\ncount = 0\n", "tops.toml:15: members.count"),
        ("[members]\nmany = 3\n", "tops.toml:15: members.many: unknown key"),
        ("[members]\n[members.vary]\nwait = [1.0, 2.0]\n", "unknown name in members 'wait'; did you mean 'weight'"),
        ("[members]\n[members.vary]\nweight = { normal = { mean = 20.0, sigma = 0.2 } }\n", "draw: count = 1000"),
    ],
)
def test_what_is_wrong_with_members_is_said(run, table, said):
    code, _, err = run(TOP + table)
    assert code == 3 and said in err, err


def test_a_scenario_with_members_is_no_single_run(run, tmp_path):
    (tmp_path / "tops.toml").write_text(TOP + DRAWN)
    with pytest.raises(InvalidInput, match="is many members; run them with"):
        ph.runs.read_scenario("tops.toml").integrate()
    code, _, err = run(TOP + DRAWN, "--store", "long.zarr")
    assert code == 3 and "go without a store" in err
    (tmp_path / "one.toml").write_text(TOP)
    with pytest.raises(InvalidInput, match=r"has no \[members\]"):
        ph.ensembles.ensemble_of(ph.runs.read_scenario("one.toml"))
