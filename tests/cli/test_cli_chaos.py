"""``polhode chaos``: what is computed, written, said and refused; ``polhode plot`` of what it wrote."""

import json
import sys

import numpy as np
import pytest

import polhode as ph
from polhode import cli

TOP = """\
method = "v2"
[system]
type = "heavy_top"
inertia = [1.0, 1.7, 2.3]
center_of_mass = [0.1, 0.2, 1.0]
weight = 2.0
[initial]
attitude = [1.0, 0.0, 0.0, 0.0]
angular_momentum = [0.3, 0.4, 2.0]
[run]
step = 0.1
t_end = 5.0
every = 7
"""
MEMBERS = """\
[members.vary]
weight = [1.0, 1.0, 2.0, 2.0]
angular_momentum = [[0.3, 0.4, 1.0], [0.3, 0.4, 2.0], [0.3, 0.4, 1.0], [0.3, 0.4, 2.0]]
"""


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """The command in a folder of its own, with a scenario; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(text, *words):
        (tmp_path / "top.toml").write_text(text)
        monkeypatch.setattr(sys, "argv", ["polhode", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def test_one_run_is_that_of_python(polhode, tmp_path):
    code, out, err = polhode(TOP, "chaos", "top.toml", "--t-end", "20", "--json")
    assert code == 0, err
    facts, ds = json.loads(out), ph.load("top-megno.nc")
    top = ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)
    own = ph.chaos.megno(top, "v2", step=0.1, t_end=20.0, attitude=[1.0, 0, 0, 0], angular_momentum=[0.3, 0.4, 2.0])
    assert facts["final"] == [float(own.final)] == [float(ds.final)] and facts["t"] == [0.0, 20.0]
    assert ds.attrs["scenario"] == TOP and ds.sizes["time"] == own.sizes["time"]
    assert facts["written"] == ["top-megno.nc", "top-megno.png"] and "2: regular" in err
    assert (tmp_path / "top-megno.png").stat().st_size > 10_000


def test_a_spectrum_with_its_errors(polhode):
    code, out, err = polhode(TOP, "chaos", "top.toml", "--indicator", "lyapunov", "--vectors", "6", "--no-picture",
                             "--json", "-o", "all.nc")  # fmt: skip
    assert code == 0 and len(json.loads(out)["final"]) == 6 == err.count("+-"), err


def test_members_become_a_map_that_is_drawn_again(polhode, tmp_path):
    code, out, err = polhode(TOP + MEMBERS, "chaos", "top.toml", "--indicator", "sali", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["members"] == 4 and facts["failed"] == 0, err
    ds = ph.load("top-sali.nc")
    assert np.array_equal(ds.weight, [1.0, 1.0, 2.0, 2.0]) and facts["spread"][2] == float(ds.final.max())
    code, _, err = polhode(TOP, "plot", "top-sali.nc", "-o", "again.pdf")
    assert code == 0 and (tmp_path / "again.pdf").exists(), err
    assert polhode(TOP, "plot", "top-sali.nc", "--list")[0] == 3


def test_what_is_wrong_is_said(polhode):
    code, _, err = polhode(TOP.replace("step = 0.1", "rtol = 1e-8").replace("v2", "mkrk:dp8"), "chaos", "top.toml")
    assert code == 3 and "top.toml: indicators of chaos are for steps of one size" in err, err
    code, _, err = polhode(TOP, "chaos", "top.toml", "--indicator", "sali", "--vectors", "3")
    assert code == 3 and "vectors" in err, err
    assert polhode(TOP, "chaos", "none.toml")[0] == 5
    assert polhode(TOP, "chaos", "top.toml", "--indicator", "megan")[0] == 2


def test_a_run_that_fails_ends_with_4_and_says_why(polhode, tmp_path):
    text = TOP.replace("v2", "mkrk:rk4").replace("0.4, 2.0]", "0.4, 2000.0]")
    code, _, err = polhode(text, "chaos", "top.toml", "-q")
    assert code == 4 and "no member came to its end; the first: a step turned a body further" in err, err
    assert int(ph.load("top-megno.nc").status) != 0 and not (tmp_path / "top-megno.png").exists()
