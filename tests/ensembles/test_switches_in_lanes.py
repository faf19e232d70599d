"""Loads switched at known times, and samples between steps, in lanes: each member is its single run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from each import each
from polhode.ensembles import ensemble
from polhode.errors import InvalidInput
from polhode.kernel import jit

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

M = 21
SPINS = np.linspace((0.1, 0.2, -0.3), (0.3, -0.2, 0.5), M)


def twist(body, torque):
    return {"torque": torque}


def craft(after=0.37, until=1.02, late=1.5):
    return ph.system(
        ph.body("bus", inertia=(5.0, 4.0, 3.0), pinned=True), ph.loads.weight(2.0, at=(0, 0, 1)),
        ph.loads.of(twist, torque=(0.5, 0.2, 0.4)).after(after).until(until),
        ph.loads.of(twist, torque=(0.0, -0.3, 0.0)).named("late").after(late),
    )  # fmt: skip


def runs(system, engines=("threads", "lanes"), **words):
    torques = np.linspace((5.0, 2.0, 4.0), (1.0, 9.0, -4.0), M)
    run = {"members": {"twist.torque": torques, "angular_velocity": SPINS}, "step": 0.05, "steps": 47, **words}
    return [ph.ensemble(system, engine=engine, **run) for engine in engines]


@each(("method", "words", "times"), [
    ("v2/mr", {}, (0.37, 1.02)), ("v2/mr", {"every": 5}, (0.36, 0.365)), ("v2/mr", {"every": 47}, (0.35, 1.0)),
    ("trap", {"every": 3}, (-1.0, 1.1234)), ("v2/mr", {"every": 7}, (0.02, 0.35)),
    ("v2/mr", {"t_eval": [0.0, 0.5, 1.75]}, (0.5, 1.74)), ("taylor12", {"every": 5}, (0.36, 1.02)),
])  # fmt: skip
def test_members_are_single_runs_to_round_off(method, words, times):
    alone, lanes = runs(craft(*times), method=method, **words)
    assert lanes.engine.startswith("lanes") and alone.engine.startswith("threads: one run each")
    assert_allclose(lanes.time, alone.time, rtol=1e-15)
    for name in ("attitude", "angular_velocity", "work", "energy"):
        assert_allclose(lanes[name], alone[name], rtol=0, atol=1e-13)
    assert_array_equal(lanes.iterations, alone.iterations)
    assert method != "trap" or set(alone.iterations[:, 1:].values.ravel()) == {4, 5}
    assert abs(alone.work.values[:, -1]).min() > 1e-6


@pytest.mark.filterwarnings("ignore::polhode.errors.CoarseStepWarning")
def test_a_member_that_fails_stops_no_other():
    torques = np.tile((0.5, 0.2, 0.4), (M, 1))
    torques[3] = 1e160
    alone, lanes = runs(craft(), members={"twist.torque": torques}, method="v2/mr", angular_velocity=SPINS[0])
    assert lanes.status.values.nonzero()[0].tolist() == alone.status.values.nonzero()[0].tolist() == [3]
    assert str(lanes.failure.values[3]) == str(alone.failure.values[3])
    assert_allclose(lanes.attitude, alone.attitude, rtol=0, atol=1e-13)


def test_auto_takes_lanes_where_there_are_many_members(monkeypatch):
    for worth, engine in ((M, "lanes: "), (M + 1, "threads: one run each, for steps are cut")):
        monkeypatch.setattr(ensemble, "WORTH_LANES", worth)
        assert runs(craft(), ("auto",), method="v2/mr")[0].engine.startswith(engine)


def test_members_switched_at_times_of_their_own_run_alone():
    for engine in ("auto", "lanes"):
        words = {"members": {"late.after": np.linspace(1.0, 1.6, M)}, "steps": 10_000, "step": 2.35e-4, "every": 10_000}
        words["method"] = "v2/mr"
        if engine == "lanes":
            with pytest.raises(InvalidInput, match="at different times"):
                runs(craft(), ("lanes",), **words)
            continue
        found = runs(craft(), ("auto",), **{**words, "members": {"late.after": [1.0, 1.6]}})[0]
        assert "at different times" in found.engine
        assert abs(found.attitude.values[0, -1] - found.attitude.values[1, -1]).max() > 1e-3


def push(body):
    return {"force": (0.0, 0.0, 0.01)}


def law(bus, rate):
    return {"command": -rate * bus.angular_velocity}


def damped(body, command, wind):
    return {"torque": command + 0.1 * wind}


def steered(noise, **words):
    return ph.system(
        ph.body("bus", inertia=(5.0, 4.0, 3.0), pinned=True), ph.loads.of(twist, torque=(0.5, 0.2, 0.4)).after(0.33),
        ph.loads.of(damped).states(command=np.zeros(3), wind={"size": 3, "noise": 0.3, "every": noise, "seed": 3}),
        ph.controller(law, parameters={"rate": 0.4}, **words),
    )  # fmt: skip


ROUNDED = {"resolution": 0.0001}


@each(("noise", "words", "every"), [
    (0.1, {"every": 0.1, "delay": 0.15, **ROUNDED}, 1), (0.07, {"every": 0.2, "delay": 0.31, **ROUNDED}, 7),
    (0.1, {"every": 0.137, "phase": 1 / 3, "delay": 0.2, **ROUNDED}, 5),
])  # fmt: skip
def test_controllers_act_once_at_each_sample(noise, words, every):
    """In legs between switches and samples, which end and begin at the same time."""
    alone, lanes = runs(steered(noise, **words), method="mkrk:cv8", every=every)
    assert lanes.engine.startswith("lanes"), lanes.engine
    for name in ("attitude", "angular_velocity", "command", "wind"):
        assert_allclose(lanes[name], alone[name], rtol=0, atol=1e-13)
    assert abs(lanes.command.values[:, -1]).min() > 0.0


def test_a_command_that_is_not_finite_ends_its_member_only():
    rates = np.where(np.arange(M) == 4, 1e308, 0.4)
    members = {"law.rate": rates, "angular_velocity": SPINS}
    system = steered(0.1, every=0.1, delay=0.15, **ROUNDED)
    alone, lanes = runs(system, members=members, method="mkrk:cv8", steps=8)
    assert lanes.status.values.nonzero()[0].tolist() == alone.status.values.nonzero()[0].tolist() == [4]
    assert str(lanes.failure.values[4]) == str(alone.failure.values[4])
    assert_allclose(lanes.attitude.values, alone.attitude.values, rtol=0, atol=1e-13)


def test_what_would_begin_anew_at_a_switch_is_refused():
    start = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.0, 0.1)}
    orbit = ph.system(ph.body("a", 1.0), ph.loads.central(1.0), ph.loads.of(push).until(0.13))
    with pytest.raises(InvalidInput, match="which is processed"):
        ph.ensemble(orbit, "v2/kepler:corrected", members=3, step=0.05, steps=20, engine="lanes", **start)
