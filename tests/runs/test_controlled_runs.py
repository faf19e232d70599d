"""Runs with controllers: gains without compiling, repeated, stored, resumed, of members, with derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from cover import chosen, crossed
from each import each
from polhode.errors import InvalidInput, PolhodeError
from polhode.kernel import jit

START = {"angular_velocity": (0.1, 0.2, -0.3), "attitude": (0.8, 0.6, 0.0, 0.0)}
RUN = {"method": "s6_10", "step": 0.05, **START}


def actuator(t, q, omega, parameters, states):
    return states.command


def pd(t, position, velocity, q, omega, parameters, states):
    integral = states.integral + 0.1 * np.array([q[1], q[2], q[3]])
    return -parameters[0] * np.array([q[1], q[2], q[3]]) - parameters[1] * omega - 0.01 * integral, integral


def body(every=0.1, **words):
    one = ph.controller(pd, every, "command", keeps="integral", **words)
    return ph.rigid_body((1.0, 2.0, 3.0), torque=actuator, parameters=[0.5, 1.0],
                         states={"command": 3, "integral": 3}, controllers=[one])  # fmt: skip


ON_GRID, BETWEEN = body(), body(0.07, delay=0.1)
BOTH = each("system", [ON_GRID, BETWEEN], ids=["on the grid", "between"])


def same(a, b, rows=slice(None)):
    for name in ("attitude", "angular_velocity", "command", "integral"):
        assert_array_equal(a[name].values[rows], b[name].values[rows], err_msg=name)


def test_a_gain_compiles_nothing():
    system = body()
    ph.integrate(system, steps=20, **RUN)
    compiled = []
    with jit.watched(lambda: compiled.append(1)):
        ds = ph.integrate(system, steps=20, parameters=[0.7, 1.1], **RUN)
        limited = {"controllers": [body(limit=0.1).arguments["controllers"][0]]}
        again = ph.integrate(system, steps=20, parameters=limited, **RUN)
    assert not compiled
    q, w = np.array(START["attitude"]), np.array(START["angular_velocity"])
    assert_allclose(ds.command[1], -0.7 * q[1:] - 1.1 * w - 0.001 * q[1:])
    assert float(abs(again.command).max()) == 0.1


def test_prepared_runs_take_gains():
    system = body()
    ready = ph.prepare(system, "s6_10", step=0.05, steps=20)
    for gains in ([0.5, 1.0], [0.7, 1.1], [0.5, 1.0]):
        rows = ready.run(START, parameters=gains)
        assert_array_equal(rows.attitude, ph.integrate(system, steps=20, parameters=gains, **RUN).attitude)


@BOTH
def test_a_run_is_repeated_from_its_record(system):
    ds = ph.integrate(system, steps=20, **RUN)
    same(ph.rerun(ds, torque=actuator, command=pd), ds)
    with pytest.raises(
        InvalidInput, match=r"a function for 'command', 'pd'; hand it in again: rerun\(ds, command=pd\)"
    ):
        ph.rerun(ds, torque=actuator)


@each(("system", "steps"), crossed(
    [body(), body(0.07, delay=0.1)], [{"step": 0.05, "steps": 3000}, {"steps": ph.Tolerance(1e-6), "t_end": 60.0}],
))  # fmt: skip
def test_a_store_resumes_with_the_same_bits(system, steps, tmp_path):
    method = "s6_10" if "step" in steps else "mkrk:dp8"
    whole = ph.integrate(system, method, **steps, **START)
    path = tmp_path / "run.zarr"

    class Stop(Exception):
        pass

    def once(done):
        if done.share > 0.3:
            raise Stop

    with pytest.raises((Stop, PolhodeError)):
        ph.integrate(system, method, **steps, **START, store=path, progress=once)
    same(ph.resume(path, torque=actuator, command=pd), whole)


@BOTH
def test_times_between_steps_do_not_change_the_run(system):
    fine = ph.integrate(system, "s6_10", step=0.01, steps=200, **START)
    ds = ph.integrate(system, t_eval=[0.0, 0.1, 0.12, 0.57, 1.0, 1.99], t_end=2.0, **RUN)
    at = [0, 10, 12, 57, 100, 199]
    assert_allclose(ds.attitude, fine.attitude[at], rtol=0, atol=1e-13)
    assert_allclose(ds.command, fine.command[at], rtol=0, atol=1e-13)


@BOTH
def test_events_are_found_by_side_steps(system):
    def level(t, position, velocity, q, omega, parameters):
        return omega[2] + 0.2

    event = ph.events.user(level, name="slow")
    plain, ds = (ph.integrate(system, steps=40, events=events, **RUN) for events in ([], [event]))
    same(ds, plain)
    assert len(ds.event_time) == 1


@BOTH
def test_members_have_the_bits_of_single_runs(system):
    gains = np.array([[0.5, 1.0], [0.7, 1.1], [0.2, 2.0]])
    ds = ph.ensemble(system, "s6_10", members={"parameters": gains}, step=0.05, steps=40, **START)
    for k, own in enumerate(gains):
        same(ds.isel(member=k), ph.integrate(system, steps=40, parameters=own, **RUN))


@each(("system", "method"), chosen(
    itertools.product([ON_GRID, BETWEEN], ["mkrk:rk4", "v2", "s6_10"]), [(BETWEEN, "mkrk:rk4")],
))  # fmt: skip
@pytest.mark.usefixtures("columns_by_twos")
def test_derivatives_are_those_of_the_sampled_run(system, method):
    run = {"method": method, "step": 0.05, "steps": 30}
    ds = ph.integrate(system, **run, **START, tangent=["parameters"])
    found = ds.state_transition.sel(column="parameters.1", time=ds.time[-1])
    rows = [f"command.{k}" for k in range(3)]
    h = 1e-4
    ends = [ph.integrate(system, parameters=[0.5, 1.0 + s * h], **run, **START).command.values[-1] for s in (-1, 1)]
    assert_allclose(found.sel(row=rows), (ends[1] - ends[0]) / (2.0 * h), rtol=1e-7, atol=1e-10)


def test_many_cycles_are_taken_by_the_compiled_loop():
    """One call of a loop, not one of Python for each sample: 2 10^5 samples take some 0.2 s."""
    ds = ph.integrate(body(), "v2", step=0.1, steps=200_000, every=200_000, **START)
    assert float(abs(ds.angular_velocity[-1]).max()) < 1e-3


def test_the_largest_exponents_of_a_pointed_body_are_those_of_the_linear_map_at_rest():
    """Of angle, rate and integral about each axis, from sample to sample; the slowest of each counts in the end."""
    ds = ph.chaos.lyapunov(body(), "s6_10", vectors=6, step=0.1, steps=8000, **START)
    slowest, T = [], 0.1
    for moment in (1.0, 2.0, 3.0):
        push = np.array([-0.25 - 0.01 * 0.05, -1.0, -0.01])  # by angle, rate and the integral before
        arm = np.array([0.5 * T * T / moment, T / moment, 0.0])
        matrix = np.array([[1.0, T, 0.0], [0.0, 1.0, 0.0], [0.05, 0.0, 1.0]]) + np.outer(arm, push)
        slowest.append(np.log(np.abs(np.linalg.eigvals(matrix)).max()) / T)
    grown = (ds.lyapunov * ds.time).isel(time=[100, 200]).diff("time").values[0] / 400.0
    assert_allclose(np.sort(grown[:3]), np.sort(slowest), rtol=2e-3)
    assert grown[3:].max() < 5.0 * min(slowest)


def test_a_scenario_names_its_controllers(tmp_path):
    (tmp_path / "loop.py").write_text(
        "import numpy as np\n\n\ndef actuator(t, q, omega, parameters, states):\n    return states.command\n\n\n"
        "def damper(t, position, velocity, q, omega, parameters, states):\n    return -parameters[0] * omega\n"
    )
    (tmp_path / "loop.toml").write_text(
        'method = "s6_10"\n[system]\ntype = "rigid_body"\ninertia = [1.0, 2.0, 3.0]\ntorque = "loop.py:actuator"\n'
        'parameters = [0.5]\nstates = { command = 3 }\n[[system.controllers]]\ncommand = "loop.py:damper"\n'
        'every = 0.1\nsets = "command"\nlimit = 0.1\n[initial]\nangular_velocity = [0.1, 0.2, -0.3]\n'
        "[run]\nstep = 0.1\nt_end = 2.0\n"
    )
    scenario = ph.runs.read_scenario(tmp_path / "loop.toml", allow_code=True)
    ds = scenario.integrate()
    assert_allclose(ds.command[0], [-0.05, -0.1, 0.1])
    assert sorted(scenario.functions) == ["command", "torque"]
    path = tmp_path / "wrong.toml"
    path.write_text((tmp_path / "loop.toml").read_text().replace("loop.py:damper", "loop.py:dampr"))
    with pytest.raises(PolhodeError, match=r"loop.py has no function 'dampr'; did you mean 'damper'"):
        ph.runs.read_scenario(path, allow_code=True)


def test_functions_with_states_are_told_apart():
    """By their code, though what calls them is the same."""

    def once(t, q, omega, parameters, states):
        return (0.0, 0.0, 0.0), 1.0

    def twice(t, q, omega, parameters, states):
        return (0.0, 0.0, 0.0), 2.0

    for torque, end in ((once, 1.0), (twice, 2.0)):
        system = ph.rigid_body((1.0, 2.0, 3.0), torque=torque, states={"a": 1})
        assert float(ph.integrate(system, "v2", step=0.1, steps=10, **START).a[-1]) == pytest.approx(end)
