"""Ensembles of one kind once more: what the first call has left changes no bit of the others."""

import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import ensemble, members as many, plan, repeated
from polhode.trajectory import build, quantities

rng = np.random.default_rng(5)
SPINS = np.array([1.0, 2.0, 3.0]) + 0.1 * rng.normal(size=(9, 3))


def top():
    return ph.heavy_top((1.0, 1.8, 2.5), (0.3, -0.2, 0.9), weight=4.0)


def by_tolerance(system, spins, reduce=None, **members):
    given = {"angular_velocity": spins, **members}
    return ph.ensemble(system, members=given, t_end=1.0, steps=ph.Tolerance(1e-8), reduce=reduce)


def by_step(system, spins, engine="threads", **members):
    given = {"angular_velocity": spins, **members}
    return ph.ensemble(system, "v2", members=given, step=0.05, steps=20, every=10, engine=engine, attitude=(0, 1, 0, 0))


@pytest.mark.parametrize("run", [by_tolerance, by_step])
def test_calls_that_differ_in_starts_alone_take_what_the_first_one_has_set_up(run, monkeypatch):
    system, inertia = top(), np.array([1.0, 1.8, 2.5]) * rng.uniform(0.95, 1.05, (9, 3))
    run(system, SPINS, inertia=inertia)
    monkeypatch.setattr(repeated, "WORTH_THREADS", np.inf)  # however slow the machine is
    monkeypatch.setattr(plan, "requested", lambda *_: pytest.fail("everything is checked again"))
    monkeypatch.setattr(ensemble, "Ensemble", lambda *_: pytest.fail("everything is set up again"))
    again = run(system, SPINS + 1.0, inertia=inertia.copy())
    monkeypatch.undo()
    assert again.identical(run(top(), SPINS + 1.0, inertia=inertia))
    if run is by_tolerance:
        monkeypatch.setattr(plan, "requested", lambda *_: pytest.fail("everything is checked again"))
        kept = run(system, SPINS, {"energy": ["mean"]}, inertia=inertia)
        monkeypatch.undo()
        assert kept.identical(run(top(), SPINS, {"energy": ["mean"]}, inertia=inertia))
    assert again.attrs["engine"] == run(system, SPINS, inertia=inertia).attrs["engine"]


@pytest.mark.parametrize("run", [by_tolerance, by_step])
def test_other_constants_of_members_are_taken(run):
    system, weights = top(), rng.uniform(3.0, 5.0, 9)
    run(system, SPINS, weight=weights)
    weights *= 1.5  # in place, and beyond those that the first call has seen
    given = run(system, SPINS, weight=weights)
    assert given.identical(run(top(), SPINS, weight=weights))
    weights[3] *= 0.9
    assert run(system, SPINS, weight=weights).identical(run(top(), SPINS, weight=weights))
    assert [len(run(system, SPINS[:k], weight=weights[:k]).member) for k in (9, 8, 3)] == [9, 8, 3]


def test_what_a_call_leaves_is_for_its_kind_alone():
    system = top()
    by_tolerance(system, SPINS)
    ds = [ph.ensemble(system, members={"angular_velocity": SPINS}, t_end=1.0, steps=ph.Tolerance(rtol), engine=engine)
          for rtol in (1e-8, 1e-3) for engine in ("lanes", "threads")]  # fmt: skip
    assert [one.attrs["rtol"] for one in ds] == [1e-8, 1e-8, 1e-3, 1e-3]
    assert [one.attrs["engine"][:5] for one in ds] == ["lanes", "threa"] * 2
    with pytest.raises(ph.errors.InvalidInput, match="angular_velocity for member 4"):
        by_tolerance(system, np.where(np.arange(9)[:, None] == 4, np.nan, SPINS))


def test_a_member_that_begins_under_the_ground_is_told_of_as_at_first():
    system = ph.orbit(mu=3.986e14, surface=6.378e6)
    place = np.array([7e6, 0.0, 0.0]) + 1e4 * rng.normal(size=(9, 3))
    given = {"step": 10.0, "steps": 5, "velocity": (0.0, 7500.0, 0.0)}
    for factor in (1.0, 0.9):
        members = {"position": place * factor}
        told = [_told(one, members, given) for one in (system, ph.orbit(mu=3.986e14, surface=6.378e6))]
        assert told[0] == told[1]


def _told(system, members, given):
    try:
        return ph.ensemble(system, members=members, **given).status.values.tolist()
    except ph.errors.InvalidInput as problem:
        return str(problem)


def test_wheels_of_members_turn_as_those_of_single_runs():
    spins, inertia = SPINS[:3], np.array([5.0, 4.0, 3.0]) * rng.uniform(0.95, 1.05, (3, 3))
    wheels = ph.reaction_wheels(axes=np.eye(3), inertia=(0.1, 0.2, 0.3))

    def build(moments):
        return ph.rigid_body(moments, wheels=wheels)

    run = {"step": 0.05, "steps": 2}
    many = ph.ensemble(build((5.0, 4.0, 3.0)), members={"inertia": inertia, "angular_velocity": spins}, **run)
    for k in range(3):
        one = ph.integrate(build(inertia[k]), angular_velocity=spins[k], **run)
        np.testing.assert_array_equal(many.wheel_momentum[k], one.wheel_momentum)


TENSOR = np.array([[5.0, 0.3, -0.2], [0.3, 4.0, 0.1], [-0.2, 0.1, 3.0]])
TURNED = {
    "attitude": np.array([[1.0, 0, 0, 0], [0, -0.0, 1, 0], [0.6, 0, 0.8, 1e-8]]),
    "velocity": rng.normal(size=(3, 3)),
}


@pytest.mark.parametrize("varying", [
    {"angular_velocity": SPINS[:3]}, {**TURNED, "angular_momentum": SPINS[:3]},
    {"mass": SPINS[0], "velocity": SPINS[:3], "inertia": TENSOR * np.array([1.0, 1.1, 1.2])[:, None, None]},
])  # fmt: skip
def test_the_kernel_writes_the_starts_that_arrays_give(varying, monkeypatch):
    kernel, found = many._of_single_bodies, []

    def both(*given):
        found.append((kernel(*given), many._of_bodies(*given)))
        return found[-1][0]

    monkeypatch.setattr(many, "_of_single_bodies", both)
    common = {} if "attitude" in varying else {"attitude": (0.6, 0.8, 0, 0), "position": (1.0, 2.0, 3.0)}
    ph.ensemble(ph.rigid_body(TENSOR, mass=2.0), "v2", members=varying, step=0.1, steps=1, **common)
    assert found and found[0][0].tobytes() == found[0][1].tobytes()


def test_what_rounding_has_left_out_of_attitudes_stands_in_the_frame_of_the_user():
    system = ph.rigid_body(TENSOR)
    constants, states = quantities.Constants(*system.for_kernels), rng.normal(size=(2, 3, 26))
    found = build._compensations(system, states, constants, "bodies")
    turned = quantities.of_bodies(states[..., 13:].reshape(6, 13), constants)
    assert len(found) == 4 - 2 * (not system.translates)
    for name in ("attitude", "angular_momentum"):
        assert found[f"{name}_compensation"].tobytes() == getattr(turned, name).tobytes()


def of_weight():
    return ph.heavy_top((1.0, 1.8, 2.5), (0.3, -0.2, 0.9), weight=400.0)


ONE = (np.arange(9) == 4)[:, None]
TOLD = {
    "off": (of_weight, "v2", {"attitude": (0, 1, 0, 0)}, "angular_velocity", SPINS, SPINS * np.where(ONE, 15.0, 1.0)),
    "fails": (of_weight, "forward_euler", {}, "angular_velocity", SPINS, SPINS * np.where(ONE, 300.0, 1.0)),
    "too long a step": (lambda: ph.orbit(mu=1.0), "v2", {"position": (1, 0, 0)},
                        "velocity", [[0, 1.0, 0]], [[0, 0.02, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_what_there_is_to_tell_of_members_is_told_as_at_first(name, monkeypatch):
    monkeypatch.setattr(repeated, "WORTH_THREADS", np.inf)
    build, method, start, varies, usual, unusual = TOLD[name]
    known, told = build(), []

    def run(system, values):
        values = np.array(np.broadcast_to(values, (9, 3)))
        return ph.ensemble(system, method, members={varies: values}, step=0.05, steps=40, engine="lanes", **start)

    run(known, usual)
    for system in (known, build(), known):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            told.append((run(system, unusual), [str(one.message) for one in given]))
    assert all(ds.identical(told[0][0]) and words == told[0][1] for ds, words in told)
    assert told[0][0].failure[4].item() if name == "fails" else told[0][1]
