"""Controllers and noise in lanes: what they set is what single runs have, to round-off."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.kernel import jit

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

M = 19
MOMENTS = (5.0, 4.0, 3.0)
SPINS = np.linspace((0.1, 0.2, -0.3), (0.3, -0.2, 0.5), M)
START = {"attitude": (0.8, 0.6, 0.0, 0.0)}


def pointing(bus, gain, rate):
    return {"command": -gain * bus.attitude[1:] - rate * bus.angular_velocity}


def actuator(bus, command):
    return {"torque": command}


def gust(bus, wind):
    return {"torque": [wind, 0.0, 0.1 * wind]}


def craft(every=0.5, noise=(), **words):
    law = ph.controller(pointing, every, parameters={"gain": 0.05, "rate": 0.4}, **words).on("bus")
    return ph.system(ph.body("bus", inertia=MOMENTS, pinned=True), ph.loads.of(actuator),
                     law.states(command=np.zeros(3)), *noise)  # fmt: skip


def shared(t, q, omega, parameters, states):
    return states.command


def law_of_one(t, position, velocity, q, omega, parameters, states):
    return -parameters[0] * q[1:] - 0.4 * omega


def opaque(t, position, velocity, q, omega, parameters, states):
    return tuple(float(str(round(float(x), 3))) for x in omega)


def one_body(function):
    return ph.rigid_body(MOMENTS, torque=shared, parameters=(0.05,), states={"command": 3},
                         controllers=[ph.controller(function, 0.5, "command")])  # fmt: skip


GAINS = {"pointing.gain": np.linspace(0.03, 0.07, M)}
WIND = ph.loads.of(gust).states(wind={"noise": 0.3, "every": 0.25, "seed": 3})
GUSTS = {"gust.states.wind.seed": np.arange(M)}
CASES = {
    "plain": (craft, GAINS), "of one body": (lambda: one_body(law_of_one), {"parameters": np.linspace(0.03, 0.07, M)}),
    "a delay": (lambda: craft(delay=1.5), GAINS), "a phase": (lambda: craft(phase=0.25), GAINS),
    "a delay between samples": (lambda: craft(delay=0.75), GAINS),
    "in steps": (lambda: craft(resolution=0.004, limit=(0.02, 0.03, 0.01)),
                 {"pointing.limit": np.linspace((0.02, 0.03, 0.01), (0.2, 0.1, 0.05), M)}),
    "noise": (lambda: craft(noise=(WIND,)), GUSTS),
    "noise, a delay between samples": (lambda: craft(noise=(WIND,), delay=0.75), GUSTS),
}  # fmt: skip


@pytest.mark.full  # every day one method in ``test_switches_in_lanes.py``
@each(("name", "method"), [("plain", "v2/mr"), *product(CASES, ["v2", "mkrk:cv8", "mkrk:gauss4", "rkn6_14a"])])
def test_what_is_set_is_that_of_single_runs(name, method):
    build, members = CASES[name]
    run = {"members": {**members, "angular_velocity": SPINS}, "step": 0.25, "steps": 83, "every": 6, **START}
    alone, lanes = (ph.ensemble(build(), method, engine=engine, **run) for engine in ("threads", "lanes"))
    assert lanes.engine.startswith("lanes")
    for word in ("attitude", "angular_velocity", "command"):
        assert_allclose(lanes[word], alone[word], rtol=0, atol=1e-13)
    assert abs(np.diff(lanes.command.values, axis=1)).max() > 1e-3
    assert abs(np.diff(lanes.attitude.values, axis=0)).max(axis=(1, 2)).min() > 1e-4


def shares(t, position, velocity, q, omega, parameters, states):
    return (0.3 + parameters[0] * omega[0], 0.4 - 0.5 * omega[1])


def swaying(t, q, omega, parameters):
    return (0.0, 0.0, 0.02 * np.sin(3.0 * t))


@each("step", [0.25, 1.25])
def test_valves_close_at_times_of_each_member(step):
    """Within steps, and where steps are longer than the time between samples; of some steps in no lane."""
    valves = ph.systems.pulsed_thrusters(0.1, [[1, 0, 0], [0, 1, 0]], 0.5, positions=[[0, 0.5, 0], [0, 0, 0.5]])
    law = ph.controller(shares, every=0.5, sets="thruster_command")
    bus = ph.spacecraft(MOMENTS, 1.0, mass=60.0, torque=swaying, parameters=(1.0,), pulsed_thrusters=valves,
                        controllers=[law])  # fmt: skip
    run = {"members": {"angular_velocity": SPINS, "parameters": np.linspace((0.5,), (2.0,), M)}, "step": step,
           "steps": 12, "position": (3.0, 0.0, 0.0), "velocity": (0.0, 0.5, 0.2), **START}  # fmt: skip
    alone, lanes = (ph.ensemble(bus, "v2/mr", engine=engine, **run) for engine in ("threads", "lanes"))
    assert lanes.engine.startswith("lanes")
    for word in ("attitude", "position", "thruster_open", "thruster_closes", "thruster_fired"):
        assert_allclose(lanes[word], alone[word], rtol=0, atol=1e-13)
    assert abs(np.diff(lanes.thruster_fired.values, axis=0)).max(axis=(1, 2)).min() > 1e-3


def test_what_is_no_program_is_refused():
    refused = pytest.raises(InvalidInput, match=r"'opaque' .*not done over lanes")
    with pytest.warns(ph.errors.SlowFunctionWarning), refused:
        ph.ensemble(one_body(opaque), members=3, step=0.25, steps=2, engine="lanes")
    with pytest.raises(InvalidInput, match=r"controllers of .* which their series in lanes do not see"):
        ph.ensemble(craft(), "taylor", members=3, step=0.25, steps=2, engine="lanes")


@each("engine", ["auto", "threads"])
def test_members_may_sample_at_times_of_their_own(engine):
    periods = [0.5, 0.7, 0.25]
    run = {"step": 0.25, "steps": 20, "angular_velocity": SPINS[0], **START}
    many = ph.ensemble(craft(), members={"pointing.every": periods}, engine=engine, **run)
    for k, every in enumerate(periods):
        assert_allclose(many.command[k], ph.integrate(craft(every), **run).command, rtol=0, atol=0)
