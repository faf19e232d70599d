"""What users write is understood: names of other programs, rows in the place of names, and near misses are answered."""

import dataclasses
import pickle
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import group
from polhode.methods import METHODS, OTHER_NAMES, each_default, method, tableau_names
from polhode.methods.free_flows import FLOW_NAMES

BODY = {"inertia": (1.0, 2.0, 2.5)}
START = {"angular_velocity": (0.3, 1.0, 0.5)}
SHORT = {"step": 0.1, "steps": 3}


# ------------------------------------------------------------------ names of methods
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("leapfrog", "v2"), ("verlet", "v2"), ("stormer_verlet", "v2"), ("RK45", "mkrk:dp5"), ("DOP853", "mkrk:dp8"),
        ("midpoint", "mkrk:midpoint"), ("rattle", "dmv2"), ("RATTLE", "dmv2"), ("Leapfrog/mr6", "v2/mr6"),
        ("reversible:verlet", "reversible:v2"), ("reversible:distance:leapfrog", "reversible:distance:v2"),
        ("logarithmic:leapfrog/mr6", "logarithmic:v2/mr6"), ("midpoint:cayley", "mkrk:midpoint:cayley"),
        ("mkrk:midpoint", "mkrk:midpoint"), ("position_verlet", "v2_dkd"),
    ],
)  # fmt: skip
def test_names_of_others_are_understood(written, meant):
    assert method(written).label == meant


def test_the_name_recorded_is_the_one_here():
    ds = ph.integrate(ph.free_body(**BODY), "leapfrog", **SHORT, **START)
    assert ds.attrs["method"] == "v2" and ds.equals(ph.integrate(ph.free_body(**BODY), "v2", **SHORT, **START))


def test_every_other_name_is_that_of_a_method_and_of_no_other():
    names = [name for names in OTHER_NAMES.values() for name in names]
    assert len(set(names)) == len(names) and all(name == name.lower() for name in names)
    assert not set(names) & {*METHODS, *FLOW_NAMES}
    assert all(method(meant).label == meant for meant in OTHER_NAMES)
    assert set(names) & set(tableau_names()) == {"midpoint"}  # which is what is meant
    with pytest.raises(ph.InvalidInput, match="'leapfrog' is another name of 'v2'"):
        ph.add_method(dataclasses.replace(METHODS["v2"], name="leapfrog"))
    with pytest.raises(ph.InvalidInput, match="did you mean 'leapfrog'"):
        method("leap_frog")


def test_the_shell_shows_other_names():
    def said(*words):
        ended = CliRunner().invoke(group, ["methods", *words])
        assert ended.exit_code == 0
        return ended.output

    assert said("rattle").startswith("dmv2: discrete Moser-Veselov algorithm")
    assert "also called" in said("dmv2") and "rattle" in said("dmv2")
    listed = said()
    assert all(name in listed for names in OTHER_NAMES.values() for name in names)
    assert "rk45" in ph.method_table()


def test_a_row_in_the_place_of_a_name():
    body = ph.free_body(**BODY)
    named = ph.integrate(body, "v2/mr6", **SHORT, **START)
    assert method("implicit_midpoint").label == "implicit_midpoint"  # the free rotation between two kicks
    for row in (method("v2/mr6").method, method("v2/mr6"), METHODS["v2"].with_flow("mr6")):
        assert ph.integrate(body, row, **SHORT, **START).identical(named)
    with_option = ph.integrate(body, METHODS["mkrk"], tableau="gauss2", **SHORT, **START)
    assert with_option.attrs["method"] == method(method("mkrk"), tableau="gauss2").label == "mkrk:gauss2"
    table = ph.compare(body, [METHODS["v2"], "trapm"], [0.1, 0.05], t_end=0.3, **START)
    assert table.integrator.values.tolist() == ["v2", "trapm"]


# ------------------------------------------------------------------ other processes
def test_every_row_and_choice_can_be_pickled():
    names = ("v2/mr6", "reversible:v2", "logarithmic:kl8", "taylor14", "galerkin10", "mkrk:gauss4:cayley",
             "baoab:temperature=3:friction=1:seed=7", "v2/kepler+mr6")  # fmt: skip
    for chosen in [*each_default(), *map(method, names)]:
        again = pickle.loads(pickle.dumps(chosen))
        assert again == dataclasses.replace(chosen, method=again.method) and again.label == chosen.label
        np.testing.assert_array_equal(again.tried.prepare().table, chosen.tried.prepare().table)


def test_a_row_that_its_name_does_not_find_is_refused():
    halves = [("B", "1/4"), ("A", 1), ("B", "3/4")]
    of_mine = ph.splitting(ph.Scheme("of_mine", "mine", "", 1, halves))
    same_name = ph.splitting(dataclasses.replace(ph.Scheme("v2", METHODS["v2"].description, "strang1968", 2, halves)))
    for row in (of_mine, same_name, dataclasses.replace(METHODS["trapm"], range=1.0)):
        with pytest.raises(ph.InvalidInput, match=f"method '{row.name}' cannot be pickled"):
            pickle.dumps(row)
    scheme = ph.Scheme("of_mine", "mine", "", 1, halves)
    assert pickle.loads(pickle.dumps(scheme)) == scheme


def test_types_are_told_to_checkers():
    assert files("polhode").joinpath("py.typed").is_file()
