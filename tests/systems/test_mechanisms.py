"""Joints as summands: the table of their mechanism, records, what stays conserved, and sentences."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.flows.mechanism import BALL, DIRECTION, HEAD, NODE, NUMBERS, PIECE, ROD, ROWS_OF, SLIDE
from polhode.runs.initial_state import rows_by_name
from polhode.systems.joined import Configuration
from polhode.systems.registry import built

BAR = (0.1, 0.1, 0.01)
ball, hinge, slider, weld, rod = (getattr(ph.joints, name) for name in ("ball", "hinge", "slider", "weld", "rod"))


def bodies(*names):
    return [ph.body(name, 1.0, BAR) for name in names]


def tables(system):
    """Head, pieces, nodes, and bodies of closing rows of the mechanism of a system."""
    table = system.mechanism.integers.tolist()
    head, rest = table[:HEAD], table[HEAD:]
    N, rows, tree, pieces, _ = head
    nodes, closing = rest[PIECE * pieces :][: NODE * N], rest[PIECE * pieces + NODE * N :]
    assert len(closing) == 2 * (rows - tree)
    split = ((rest[: PIECE * pieces], PIECE), (nodes, NODE), (closing, 2))
    return head, *(np.reshape(one, (-1, width)) for one, width in split)


# ------------------------------------------------------------------ the table
def test_chain_is_eliminated_from_its_end():
    joints = [hinge((0, 0, 1), (0, 1, 0), name="a").on("one", ph.ground), ball(name="b").on("two", "one"),
              rod(2.0, name="c").on("three", "two")]  # fmt: skip
    system = ph.system(bodies("one", "two", "three"), joints)
    head, pieces, nodes, closing = tables(system)
    assert head == [3, 9, 9, 5, 0] and not len(closing)
    assert nodes.tolist() == [[2, 1, 0, 1, 0], [1, 0, 1, 3, 0], [0, 3, 4, 5, 0]]
    assert pieces[:, 0].tolist() == [BALL, BALL, DIRECTION, DIRECTION, ROD]
    assert pieces[:, 1:4].tolist() == [[0, 3, 4], [1, 0, 1], [0, 3, 7], [0, 3, 8], [2, 1, 0]]
    assert sorted(pieces[:, 4]) == [NUMBERS * k for k in range(5)]
    assert [one[3:5] for one in system.mechanism.joints] == [(4, 5), (1, 3), (0, 1)]


def test_body_that_is_second_of_its_joint_is_marked():
    system = ph.system(bodies("one", "two"), ball(name="a").on("one", ph.ground), ball(name="b").on("one", "two"))
    assert tables(system)[2].tolist() == [[1, 0, 0, 3, 1], [0, 2, 3, 3, 0]]


def test_star_that_floats_has_its_first_body_as_root():
    arms = [hinge((0.5, 0, 0), (0, 0, 1), name=f"h{k}").on(f"arm{k}", "hub") for k in range(3)]
    system = ph.system(bodies("hub", "arm0", "arm1", "arm2"), arms)
    head, _, nodes, _ = tables(system)
    assert head[:3] == [4, 15, 15] and nodes[-1].tolist() == [0, 4, 15, 0, 0]
    assert {tuple(row[[1, 3]]) for row in nodes[:-1]} == {(0, 5)}


def test_joint_of_fewest_rows_closes_a_loop():
    joints = [rod(1.0, name="r").on("one", "two"), hinge((0, 0, 0), (0, 0, 1), name="g").on("one", ph.ground),
              ball(name="b").on("two", ph.ground), ball(name="w").on("three", "two")]  # fmt: skip
    head, _, nodes, closing = tables(ph.system(bodies("one", "two", "three"), joints))
    assert head[:3] == [3, 12, 11] and closing.tolist() == [[0, 1]]
    assert {int(row[0]): int(row[1]) for row in nodes} == {0: 3, 1: 3, 2: 1}


def test_joint_of_most_rows_is_taken_first():
    system = ph.system(bodies("one"), rod(1.0).on("one", ph.ground), hinge((0, 1, 0), (0, 0, 1)).on("one", ph.ground))
    head, _, nodes, closing = tables(system)
    assert head[:3] == [1, 6, 5] and nodes.tolist() == [[0, 1, 0, 5, 0]] and closing.tolist() == [[0, 1]]


def test_bodies_without_joints_are_nodes_of_their_own():
    nodes = tables(ph.system(bodies("free", "held"), ball().on("held", ph.ground)))[2]
    assert nodes.tolist() == [[0, 2, 0, 0, 0], [1, 2, 0, 3, 0]]


@each("joint, kinds", [
    (ball(), [BALL]), (hinge((0, 0, 1), (0, 2, 1)), [BALL, DIRECTION, DIRECTION]), (rod(3.0), [ROD]),
    (slider((1, 2, 3), axis_of_other=(-1, -2, -3)), [SLIDE, SLIDE, DIRECTION, DIRECTION, DIRECTION]),
    (slider((1, 0, 0), attitude=(0.6, 0, 0.8, 0)), [SLIDE, SLIDE, DIRECTION, DIRECTION, DIRECTION]),
    (weld(attitude=(0.5, 0.5, -0.5, 0.5)), [BALL, DIRECTION, DIRECTION, DIRECTION]),
])  # fmt: skip
def test_rows_of_a_joint_are_independent_where_it_is_closed(joint, kinds):
    assert [one.kind for one in joint.pieces] == kinds
    turned = ph.body("a", 1.0, [[0.2, 0.03, 0.0], [0.03, 0.3, 0.05], [0.0, 0.05, 0.25]])
    system = ph.system(turned, ph.body("b", 2.0, (0.4, 0.3, 0.2)), joint.named("j").on("a", "b"))
    start = ph.assemble(system, start={"b": {"rotation_vector": (0.4, -0.8, 0.3), "position": (1, 2, 3)}})
    state = ph.runs.start_state(system, **rows_by_name(system.names, start))
    here = Configuration(system, state.reshape(1, 2, 13))
    assert np.abs(here.residuals).max() < 1e-15 * 10
    rows = here.rows[0]
    assert len(rows) == sum(ROWS_OF[kind] for kind in kinds) == system.mechanism.rows
    assert np.linalg.svd(rows, compute_uv=False)[-1] > 0.5


def test_numbers_stand_in_the_parameters_along_principal_axes():
    tensor = [[2.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 1.5]]
    system = ph.system(ph.body("a", 1.0, tensor), ball(at=(1, 2, 3), of_other=(4, 5, 6)).on("a", ph.ground),
                       ph.loads.weight(gravity=7.0))  # fmt: skip
    at = int(system.mechanism.integers[4])
    u, w, n = system.parameters[at : at + NUMBERS].reshape(3, 3)
    assert np.allclose(ph.rotation.rotate(system.frames[0], u), (1, 2, 3), rtol=0, atol=1e-15)
    assert abs(u - (1, 2, 3)).max() > 0.1 and w.tolist() == [4.0, 5.0, 6.0] and not n.any()
    assert 7.0 in system.parameters and 7.0 not in system.parameters[at : at + NUMBERS]


def test_wheels_and_loads_have_their_numbers_beside_those_of_joints():
    wheels = ph.reaction_wheels([(0, 0, 1)], 1e-3)
    system = ph.system(ph.body("bus", 4.0, (0.05, 0.04, 0.03), wheels=wheels), bodies("arm"),
                       hinge((0.5, 0, 0), (0, 0, 1)).on("arm", "bus"), ph.loads.weight())  # fmt: skip
    at, without = int(system.mechanism.integers[4]), ph.system(
        ph.body("bus", 4.0, (0.05, 0.04, 0.03), wheels=wheels), bodies("arm"), ph.loads.weight())  # fmt: skip
    assert len(system.parameters) == len(without.parameters) + 3 * NUMBERS
    assert np.array_equal(np.delete(system.parameters, np.s_[at : at + 3 * NUMBERS]), without.parameters)


# ------------------------------------------------------------------ records
ALL = [ball(at=(0, 0, 1)).on("a", "b"), hinge((0, 0, 1), (0, 1, 0), axis_of_other=(0, 1, 1)).on("b", ph.ground),
       slider((1, 0, 0), at=(0, 1, 0), name="rail").on("c", "b"), rod(2.5, of_other=(1, 0, 0)).on("d", "a"),
       weld(of_other=(0, 0, 2), attitude=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]).on("e", "d")]  # fmt: skip


def test_records_make_the_same_system_again():
    system = ph.system(bodies(*"abcde"), ALL)
    for other in (built("system", json.loads(json.dumps(system.arguments)), {}), pickle.loads(pickle.dumps(system))):
        assert other.arguments == system.arguments and np.array_equal(other.parameters, system.parameters)
        assert np.array_equal(other.mechanism.integers, system.mechanism.integers)
        assert other.mechanism.joints == system.mechanism.joints
    assert system.arguments["rail"] == {"kind": "slider", "axis": [1, 0, 0], "at": [0, 1, 0], "on": ["c", "b"]}


def test_printed():
    system = ph.system(bodies(*"abcde"), ALL)
    assert "rail: slider on c, b: axis (1, 0, 0), at (0, 1, 0)" in repr(system)
    assert repr(ALL[3]) == "joint rod(length=2.5, of_other=[1.0, 0.0, 0.0]).on('d', 'a')"
    assert "joint rail(slider: " in repr(ALL[2])


def test_runs_are_repeated_from_their_records():
    system = ph.system(bodies("arm"), ph.loads.weight(), hinge((0, 0, 1), (0, 1, 0), name="h").on("arm", ph.ground))
    ds = ph.integrate(system, "v2", step=0.01, steps=20, start=ph.assemble(system, {"h": 0.4}))
    assert ph.rerun(ds).equals(ds)


# ------------------------------------------------------------------ what is conserved and provided
WEIGHT = ph.loads.weight()


@each("summands, conserves", [
    ([ball().on("a", "b")], "total_momentum total_angular_momentum"),
    ([weld().on("a", "b"), WEIGHT], "vertical_angular_momentum"),
    ([ball().on("a", "b"), ball(at=(0, 0, 1), name="g").on("a", ph.ground)], "total_angular_momentum"),
    ([ball().on("a", "b"), ball(of_other=(0, 0, 1), name="g").on("a", ph.ground), WEIGHT], "vertical_angular_momentum"),
    ([ball().on("a", "b"), ball(of_other=(0, 1, 1), name="g").on("a", ph.ground), WEIGHT], ""),
    ([rod(1.0).on("a", "b"), hinge((0, 0, 0), (0, 0, 1), name="g").on("a", ph.ground)], "vertical_angular_momentum"),
    ([rod(1.0).on("a", "b"), hinge((0, 0, 0), (0, 1, 1), name="g").on("a", ph.ground)], ""),
    ([slider((0, 0, 1)).on("a", "b"), slider((0, 0, 1), name="g").on("a", ph.ground)], ""),
])  # fmt: skip
def test_what_joints_leave(summands, conserves):
    system = ph.system(bodies("a", "b"), summands)
    assert system.conserves == ("energy", *conserves.split())


@each("extra", [[], [ball(of_other=(0, 0, 1), name="g").on("a", ph.ground), WEIGHT]])
def test_momenta_that_are_conserved_stay(extra):
    rng = np.random.default_rng(4)
    system = ph.system(bodies("a", "b"), hinge((0.3, 0, 0), (0, 1, 0)).on("a", "b"), extra)
    start = {name: one | {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
             for name, one in ph.assemble(system).items()}  # fmt: skip
    ds = ph.integrate(system, "s6_10", step=0.01, steps=100, start=start, project=True)
    for name in system.conserves[1:]:
        assert float(abs(ds[name] - ds[name][0]).max()) < 1e-12


def test_capabilities():
    free, held = ph.system(bodies("a")), ph.system(bodies("a"), ball().on("a", ph.ground))
    assert "unconstrained" in free.provides and "unconstrained" not in held.provides
    assert free.mechanism is None and held.recommended.endswith("/joints")
    with pytest.raises(InvalidInput, match=r"'trapm' moves bodies that no joints hold, .*; take 'kl6b/joints'"):
        ph.integrate(held, "trapm", step=0.01, steps=1)


# ------------------------------------------------------------------ sentences
@each("make, sentence", [
    (lambda: ball(name="j").on("x", ph.ground), "unknown body that joint 'j' is on 'x'"),
    (lambda: ball(name="j").on(ph.ground, "a"), "joint 'j' is on the ground first; name the body first"),
    (lambda: ball(name="j").on("a", "a"), "joint 'j' is on body 'a' twice"),
    (lambda: ball(name="j"), "joint 'j' is on no bodies; say .on"),
    (lambda: [ball().on("a", "b"), ball().on("a", ph.ground)], "two summands called 'ball'; name one of them"),
    (lambda: ball(name="a").on("a", "b"), "two summands called 'a'"),
    (lambda: [ball().on("pin", "a"), ph.body("pin", inertia=BAR, pinned=True)], r"'pin' is pinned, .* polhode.ground"),
    (lambda: ball().on("a", "pin"), "unknown body"),
    (lambda: hinge((0, 0, 0), (0, 1, 0)).on("bead", "a"), "'bead' is a point, which has no axes that the hinge"),
    (lambda: weld().on("a", "bead"), "'bead' is a point, which has no axes"),
    (lambda: ball(at=(0, 0, 1)).on("bead", "a"), "'bead' is a point, but .* leave at out"),
    (lambda: rod(1.0, of_other=(0, 0, 1)).on("a", "bead"), "'bead' is a point, but .* leave of_other out"),
    (lambda: hinge((0, 0, 0), (0, 0, 0)), "axis is zero; give a direction"),
    (lambda: slider((1, 0, 0), axis_of_other=(0, 0, 0)), "axis_of_other is zero"),
    (lambda: slider((1, 0, 0), axis_of_other=(1, 0, 0), attitude=(1, 0, 0, 0)), "both given; keep one"),
    (lambda: weld(attitude=(1, 1, 0, 0)), "attitude of a joint has length 1.41"),
    (lambda: ball(at=(0, np.nan, 0)), "at"), (lambda: ball(of_other=(0, 0)), "of_other must be 3 numbers"),
    (lambda: rod(0.0), "length of a rod"), (lambda: rod(-1.0), "length of a rod"), (lambda: rod(np.nan), "length"),
    (lambda: ball(name="no name"), "name of a joint"), (lambda: ball().named(3), "name of a joint"),
    (lambda: ball().on("a", 3), "name of a body that joint 'ball' is on"),
    (lambda: [ball().on("a", "b"), ph.loads.gravitation(G=1.0)], "kernel of many bodies"),
    (lambda: [ball().on("a", "b"), ph.body("ground", 1.0)], "a body is called 'ground'"),
])  # fmt: skip
def test_one_sentence(make, sentence):
    with pytest.raises(InvalidInput, match=sentence) as told:
        ph.system(bodies("a", "b"), ph.body("bead", 1.0), make())
    assert str(told.value).count("\n") == 0


def test_box_beside_joints_is_refused():
    def repel(a, b):
        d = b.position - a.position
        return 1.0 / (d @ d)

    with pytest.raises(InvalidInput, match="kernel of many bodies"):
        ph.system(bodies("a", "b"), ball().on("a", "b"), ph.loads.of(repel).on("pairs"), box=4.0, cutoff=1.0)
    few = ph.system(bodies("a", "b"), ball(at=(1, 0, 0)).on("a", "b"), ph.loads.of(repel).on("pairs"))
    assert few.mechanism.rows == 3


def test_unknown_kind_names_joints():
    with pytest.raises(InvalidInput, match="hinge"):
        ph.system(bodies("a"), h={"kind": "hindge", "on": ["a", "ground"]})
    with pytest.raises(InvalidInput, match="unknown argument of hinge 'axes'"):
        ph.system(bodies("a"), h={"kind": "hinge", "axes": [1, 0, 0], "on": ["a", "ground"]})


def test_systems_are_checked_without_their_joints():
    parts = ph.body("a", 1.0, (1, 1, 1)), ph.loads.weight()
    held = ph.system(*parts, ph.joints.ball().on("a", ph.ground), name="held")
    with pytest.raises(InvalidInput, match="joints hold those of held; check the bodies and their loads without them"):
        ph.checks.check_system(held)
    assert ph.checks.check_system(ph.system(*parts)).passed
