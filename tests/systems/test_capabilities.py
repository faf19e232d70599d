"""What systems provide and methods need: one table of names, and one place where they are compared."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter

import numpy as np
import pytest

import polhode as ph
from each import each
from each_system import EVERY
from loads_by_hand import top_commutator, top_loads
from polhode.arguments.words import Function
from polhode.capabilities import CAPABILITIES, Capability, in_order, known, listed, stated
from polhode.errors import InvalidInput
from polhode.methods import METHODS, Method, MethodSpec, method
from polhode.methods.record import CompiledMethod, Promises
from polhode.systems import PROBLEMS, SYSTEMS, System
from polhode.systems.record import DERIVED
from polhode.systems.registry import provided_by

BODY = (1.0, 2.0, 2.5)
SPIN = {"angular_velocity": (0.3, 0.4, 0.5)}


def bare(**more):
    """A system made by hand: one body that turns, and whatever else is said."""
    return System("bare", {}, np.array([np.inf]), np.array([BODY]), np.array([(1.0, 0.0, 0.0, 0.0)]), **more)


# ------------------------------------------------------------------ the table
def test_every_capability_has_a_meaning_and_a_sentence_with_a_remedy():
    for name, one in CAPABILITIES.items():
        assert name.isidentifier() and one.meaning and not one.meaning.endswith(".")
        fields = {field for _, field, _, _ in Formatter().parse(one.missing) if field}
        assert {"method", "system"} <= fields <= {"method", "system", "havers", "variables"}, name
        assert "; take " in one.missing or "; {havers} do; take " in one.missing, name


def test_names_that_are_not_in_the_table_are_refused():
    for wrong in ({"commutater"}, ["series", "commutater"]):
        with pytest.raises(InvalidInput, match=r"unknown capability 'commutater'; did you mean 'commutator'"):
            known(wrong)
    with pytest.raises(InvalidInput, match="capabilities are a set of names"):
        known("series")
    with pytest.raises(InvalidInput, match="unknown capability 'velocity_free'"):
        bare(provides={"velocity_free"})
    with pytest.raises(InvalidInput, match="unknown capability 'magic'"):
        CompiledMethod(lambda t, h, p: 0, lambda bodies, blocks: 1, needs={"magic"})


def test_names_are_listed_in_the_order_of_the_table():
    assert in_order({"points", "series"}) == ["series", "points"]
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c" and "none" in listed([])
    assert stated(split_loads=True, velocity_independent=False) == {"split_loads"}


# ------------------------------------------------------------------ what systems provide
def test_what_follows_from_bodies_and_functions_is_provided():
    top, point, craft = EVERY["heavy_top"](), ph.particle(2.0), EVERY["spacecraft"]()
    assert {"series", "commutator", "potential", "rotation", "exact_kicks", "no_auxiliary"} <= top.provides
    assert {"points", "translation"} <= point.provides and not {"rotation", "series"} & point.provides
    assert {"central_gravity", "split_loads"} <= craft.provides
    assert not {"no_auxiliary", "exact_kicks", "velocity_independent", "only_central_gravity"} & craft.provides
    assert "fixed_centre" not in EVERY["gravitating_bodies"]().provides
    assert "only_central_gravity" in ph.orbit(1.0).provides and "central_gravity" in EVERY["orbit"]().provides


def test_the_sets_follow_a_changed_copy():
    top = EVERY["heavy_top"]()
    assert not {"series", "commutator"} & replace(top, series=None, commutator=None).provides
    assert not replace(top, provides=set()).velocity_dependent  # the loads of a potential
    top = replace(top, loads=top_loads, commutator=top_commutator)
    without = replace(top, series=None, provides=top.provides - {"velocity_independent"})
    assert without.velocity_dependent and "exact_kicks" not in without.provides and "commutator" in without.provides
    assert bare(provides={"series"}).provides & DERIVED == bare().provides & DERIVED


@each("name", SYSTEMS)
def test_what_a_system_is_listed_with_is_what_one_provides(name):
    listed_with = provided_by(SYSTEMS[name])
    assert listed_with is not None
    for ready in PROBLEMS.values():
        system = ready.build()
        if system.name == name:
            assert "velocity_independent" in system.provides and listed_with - system.provides <= {"split_loads"}


def test_a_system_of_ones_own_may_state_what_it_provides():
    def rolling(slope: Function) -> System:
        return bare()

    assert provided_by(rolling) is None
    rolling.provides = {"rotation", "velocity_independent"}
    assert provided_by(rolling) == {"rotation", "velocity_independent"}


# ------------------------------------------------------------------ what methods need
def test_what_the_methods_need():
    needs = {name: MethodSpec(row, row.resolve_options()).with_trials.prepare().needs for name, row in METHODS.items()}
    assert needs["kepler"] == {"central_gravity", "only_central_gravity", "points", "no_auxiliary"}
    assert all("series" not in needs[name] for name in needs) and needs["taylor8"] == needs["taylor"] == frozenset()
    top = EVERY["heavy_top"]()
    assert METHODS["taylor8"].prepare().made_for(top, False).needs == {"series", "no_auxiliary"}
    assert METHODS["taylor8"].prepare().made_for(top, True).needs == frozenset()
    assert needs["variational"] == {"points"} and needs["mkrk"] == needs["rkn6_14a"] == frozenset()
    assert method("v2/kepler").prepare().needs == {"central_gravity"}
    assert method("reversible:v2").prepare().needs == {"fixed_centre"}
    assert method("logarithmic:kl8").prepare().needs == {"fixed_centre", "translation"}


@each("name", CAPABILITIES)
def test_a_method_that_needs_what_is_missing_is_refused(name, monkeypatch):
    """Whatever it is: with the label of the method, the name of the system, and systems that have it."""
    row = METHODS["v2"]
    prepared = replace(row.prepare(), needs={name}, reading=None, on_joints=None)
    needing = Method("picky", "mine", "needs one thing", "ruth1983", lambda: prepared, lambda: Promises(2))
    reading = ph.particle(1.0, force=lambda t, r, v, p, states: (r, states.x), states={"x": 1})
    held = ph.particle(1.0, force=lambda t, r, v, p, states: r, states={"x": 1}, controllers=[
        ph.controller(lambda t, r, v, q, w, p, states: t, 1.0, "x")])  # fmt: skip
    jointed = ph.system(ph.body("one", 1.0, (1, 1, 1)), ph.joints.rod(1.0).on("one", ph.ground))
    every = [*(build() for build in EVERY.values()), reading, held, jointed]
    without = [system for system in every if name not in system.provides]
    assert without, f"every system provides {name}"
    system = without[0]
    with pytest.raises(InvalidInput) as refused:
        ph.integrate(system, needing, step=1e-3, steps=1, **(SPIN if system.rotates and system.N == 1 else {}),
                     **({"position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.0, 0.0)} if system.N == 1 and
                        system.translates else {}))  # fmt: skip
    said = str(refused.value)
    assert "'picky'" in said and repr(system.name) in said and "{" not in said
    if "{havers}" in CAPABILITIES[name].missing:
        havers = [one for one, build in SYSTEMS.items() if name in provided_by(build)]
        assert listed(havers) in said


def test_a_package_may_add_a_capability(monkeypatch):
    monkeypatch.setitem(
        CAPABILITIES, "rolls", Capability("the body rolls", "{method} rolls, {system} not; take a ball")
    )
    row = METHODS["v2"]
    rolling = Method("roll", "mine", "rolls", "ruth1983", lambda: replace(row.prepare(), needs={"rolls"}),
                     lambda: Promises(2))  # fmt: skip
    with pytest.raises(InvalidInput, match=r"^'roll' rolls, 'bare' not; take a ball$"):
        ph.integrate(bare(), rolling, step=0.01, steps=1, **SPIN)
    assert ph.integrate(bare(provides={"rolls"}), rolling, step=0.01, steps=1, **SPIN).sizes["time"] == 2


# ------------------------------------------------------------------ where they are shown
def test_listings_tell_what_is_provided_and_needed():
    from polhode.cli.listings import facts_of, in_words
    from polhode.systems.listing import system_facts as facts

    told = facts()
    assert told["capabilities"].keys() == CAPABILITIES.keys()
    assert told["capabilities"]["only_central_gravity"]["systems"] == ["orbit"]
    assert "series" in next(row["provides"] for row in told["systems"] if row["name"] == "heavy_top")
    assert facts_of(method("kepler"))["needs"] == ["central_gravity", "only_central_gravity", "no_auxiliary", "points"]
    assert CAPABILITIES["points"].meaning in " ".join(in_words(method("variational")).split())
    assert "loads that can be traced" in " ".join(in_words(method("taylor8")).split())
