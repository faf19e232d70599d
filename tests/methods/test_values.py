"""Methods with options as values: by name, printed, compared, pickled, recorded, and refused in one sentence."""

import json
import pickle
import sys
from dataclasses import replace

import pytest

import polhode as ph
from polhode.methods import METHODS, each_default, method, options_by_name

TOP = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
BODY = ph.free_body((1.0, 1.5, 2.0))
SHORT = {"step": 0.05, "steps": 4, "angular_velocity": (0.3, -0.2, 1.1)}
WRITTEN = [
    "trapm", "mkrk:gauss4:cayley", "taylor14", "galerkin10", "v2/mr", "v2/kepler:corrected", "s6_10/kepler+mr6",
    "reversible:v2", "logarithmic:kl8", "baoab:temperature=300:friction=5:seed=3", "baoab/mr:temperature=0.1",
    "nose_hoover:temperature=1:tau=inf:separate", "euler:dp5:cayley:ZXZ:continuous", "variational:0.25", "rk45",
]  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_printed_makes_it_again(name):
    chosen = method(name)
    again = eval(repr(chosen), {"polhode": ph})
    assert again == chosen and hash(again) == hash(chosen) and {again: 1}[chosen] == 1
    assert method(str(chosen).replace(":friction=...", "")) == chosen and str(again) == chosen.usage
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_every_name_of_the_table_is_an_attribute_that_makes_values():
    assert set(METHODS) < set(dir(ph.methods)) and set(ph.methods.__all__) < set(dir(ph.methods))
    for chosen in each_default():
        row = getattr(ph.methods, chosen.method.name)
        assert row is chosen.method and row() == chosen == method(row), chosen
    assert ph.methods.taylor14().label == "taylor14" and ph.methods.leapfrog() == ph.methods.v2()
    assert repr(ph.methods.v2) == f"<method v2: {METHODS['v2'].description}>"
    added = ph.methods.add_method(ph.methods.splitting("v2", "mr", "by_another_name"))
    try:
        assert ph.methods.by_another_name is added and "by_another_name" in dir(ph.methods)
    finally:
        del METHODS["by_another_name"]
    for wrong, told in (
        ("trapz", "did you mean trap[?]"),
        ("rk45", r"polhode\.methods\.mkrk\(tableau='dp5'\)"),
        ("_v2", "did you mean v2"),
    ):
        with pytest.raises(AttributeError, match=f"polhode.methods has no '{wrong}'.*{told}"):
            getattr(ph.methods, wrong)
    assert not hasattr(ph.methods, "__wrapped__")


@pytest.mark.parametrize("name", ["ours", "ours/mr"])
def test_a_name_that_another_row_gets_is_another_method_in_the_next_call(name):
    ends = []
    try:
        for row in ("v2", "yoshida4", "v2"):
            METHODS["ours"] = replace(METHODS[row], name="ours")
            for _ in range(2):
                ends.append(ph.integrate(TOP, name, **SHORT).attitude.values[-1])
    finally:
        del METHODS["ours"]
    assert (ends[0] == ends[1]).all() and (ends[2] == ends[3]).all() and (ends[0] == ends[4]).all()
    assert (ends[0] != ends[2]).any()


def test_values_differ_where_anything_differs():
    bath = ph.methods.baoab(temperature=300, friction=5)
    assert bath == ph.methods.baoab(friction=5.0, temperature="3e2")
    others = [
        ph.methods.baoab(temperature=300), ph.methods.baoab(temperature=300, friction=5, seed=1), "baoab",
        ph.methods.baoab(temperature=300, friction=5, flow="mr"), ph.methods.aboba(temperature=300, friction=5),
    ]  # fmt: skip
    assert all(bath != other for other in others) and len({bath, *others}) == 6


@pytest.mark.parametrize(("make", "told"), [
    (lambda m: m.baoab(temprature=3), "unknown option of method 'baoab' 'temprature'; did you mean 'temperature'"
                                      ".*known: friction, friction_rotation, noise, seed, temperature"),
    (lambda m: m.v2(order=4), "unknown option of method 'v2' 'order'"),
    (lambda m: m.baoab(temperature="warm"), "temperature of method 'baoab' is warm; it must be a number, 0 or more"),
    (lambda m: m.baoab(temperature=None), "temperature of method 'baoab' must be text or a number, not None"),
    (lambda m: m.baoab(temperature=[1.0]), "must be text or a number"), (lambda m: m.baoab(seed=1.5), "a whole number"),
    (lambda m: m.baoab(temperature=float("nan")), "is nan; it must be"), (lambda m: m.baoab(seed=True), "text or a n"),
    (lambda m: m.mkrk(tableau="gaus4"), "unknown tableau of method 'mkrk' 'gaus4'"),
    (lambda m: m.trapm(flow="mr"), "method 'trapm' composes no flows"), (lambda m: m.v2(flow=3), "flow must be text"),
    (lambda m: m.v2(flow="mrr"), "'mrr'"),
])  # fmt: skip
def test_wrong_options_are_refused_in_a_sentence(make, told):
    with pytest.raises(ph.errors.InvalidInput, match=told) as refused:
        make(ph.methods)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_runs_take_and_record_them():
    bath = ph.methods.baoab(temperature=2.0, friction=0.5, flow="mr")
    ds = ph.integrate(BODY, bath, **SHORT)
    assert ds.attrs["method"] == str(bath) == "baoab/mr:temperature=2:friction=0.5:seed=0"
    assert json.loads(ds.attrs["run"])["method"] == ds.attrs["method"]
    assert ds.identical(ph.integrate(BODY, str(bath), **SHORT)) and ph.rerun(ds).identical(ds)
    assert ds.identical(ph.integrate(BODY, ph.methods.baoab(temperature=2, friction=0.5, flow="mr"), **SHORT))  # again
    with pytest.raises(ph.errors.InvalidInput, match="method 'baoab' needs friction"):
        ph.integrate(BODY, ph.methods.baoab(temperature=1), **SHORT)
    table = ph.compare(
        BODY, [ph.methods.mkrk(tableau="gauss4"), "v2"], [0.1, 0.05], t_end=0.4, start={"angular_velocity": (0, 0.1, 1)}
    )
    assert table.integrator.values.tolist() == ["mkrk:gauss4", "v2"]
    spin = {"start": {"angular_velocity": (0.3, -0.2, 1.1)}}
    assert ph.prepare(BODY, bath, step=0.05, steps=4).dataset(**spin).identical(ds)


def test_members_vary_the_options_of_a_value():
    bath, how = ph.methods.baoab(temperature=2.0, friction=0.5), SHORT
    ds = ph.ensemble(BODY, bath, members={"seed": [4, 5]}, **how)
    alone = ph.integrate(BODY, ph.methods.baoab(temperature=2.0, friction=0.5, seed=5), **how)
    assert (ds.attitude[1].values == alone.attitude.values).all()
    with pytest.raises(ph.errors.InvalidInput, match="seed varies among the members, and is given for all too"):
        ph.ensemble(BODY, ph.methods.method(bath, seed=3), members={"seed": [4, 5]}, **how)


def test_a_scenario_has_them_as_a_string_or_as_keys(tmp_path):
    bath = ph.methods.baoab(temperature=2.0, friction=0.5, seed=7)
    path = tmp_path / "bath.toml"
    ph.runs.write_scenario(path, BODY, bath, **SHORT)
    read = ph.runs.read_scenario(path)
    assert read.method == str(bath) and f'method = "{bath}"' in path.read_text()
    keys = path.read_text().replace(f'"{bath}"', '"baoab"\ntemperature = 2.0\nfriction = 0.5\nseed = 7')
    (tmp_path / "keys.toml").write_text(keys)
    assert ph.runs.read_scenario(tmp_path / "keys.toml").method == str(bath)


def test_options_have_names_that_arguments_of_runs_do_not_have():
    """So that an old call with options among its arguments is understood."""
    from polhode.runs.request import ARGUMENTS

    assert not set(options_by_name()) & {*ARGUMENTS, "flow", "members", "engine", "reduce"}
    assert sys.modules["polhode.methods"] is ph.methods
