"""Controllers that sample and hold: against SciPy between the samples, orders, delays, limits, what is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import InvalidInput, SlowFunctionWarning, UserFunctionError
from polhode.kernel import direct
from vectors import cross

MOMENTS = np.array([1.0, 2.0, 3.0])
START = {"angular_velocity": (0.1, 0.2, -0.3), "attitude": (0.8, 0.6, 0.0, 0.0)}
GAINS = np.array([0.5, 1.0])
SPAN = 2.0


def actuator(t, q, omega, parameters, states):
    return states.command


def pd(t, position, velocity, q, omega, parameters, states):
    return -parameters[0] * np.array([q[1], q[2], q[3]]) * np.sign(q[0]) - parameters[1] * omega


def body(command=pd, every=0.1, sets="command", states=None, parameters=GAINS, **words):
    one = ph.controller(command, every, sets, **words)
    return ph.rigid_body(MOMENTS, torque=actuator, parameters=parameters, states=states or {"command": 3},
                         controllers=[one])  # fmt: skip


def final(ds):
    return np.concatenate([ds.attitude.values[-1], ds.angular_velocity.values[-1]])


def by_scipy(every, phase=0.0, late=0, beyond=0.0, shape=lambda u: u):
    """Attitude and angular velocity after SPAN, integrated from sample to sample."""

    def rates(t, x, u):
        q, w = x[:4], x[4:]
        dw = (cross(MOMENTS * w, w) + u) / MOMENTS
        return np.concatenate([0.5 * np.array([-q[1:] @ w, *(q[0] * w + cross(q[1:], w))]), dw])

    samples = [phase + k * every for k in range(-1, int(SPAN / every) + 2)]
    ticks = {(t, "take") for t in samples} | {(t + beyond, "set") for t in samples}
    events = sorted((t, what != "take", what) for t, what in ticks if -1e-12 < t < SPAN - 1e-12)
    x, t, u, pending = np.array([*START["attitude"], *START["angular_velocity"]]), 0.0, np.zeros(3), np.zeros(3)
    queue = [np.zeros(3)] * late
    for at, _, what in [*events, (SPAN, True, "end")]:
        if at - t > 1e-12:
            x = solve_ivp(rates, (t, at), x, method="DOP853", rtol=1e-13, atol=1e-14, args=(u,)).y[:, -1]
            t = at
        if what == "take":
            queue.append(shape(pd(at, None, None, x[:4], x[4:], GAINS, None)))
            pending = queue.pop(0)
        elif what == "set":
            u = pending
    return x


ORDERS = {"v2": 2, "s4_6": 4, "mkrk:rk4": 4, "s6_10": 6, "mkrk:cv8": 8, "rkn6_14a": 6}


@each("method", ORDERS)
def test_methods_keep_their_order(method):
    """The loads jump at the samples, and steps end there."""
    system, reference, errors = body(), by_scipy(0.1), []
    for n in (20, 40, 80):
        errors.append(abs(final(ph.integrate(system, method, step=SPAN / n, steps=n, **START)) - reference).max())
    for coarse, fine in pairwise(errors):
        assert coarse / fine > 0.9 * 2.0 ** ORDERS[method] or fine < 1e-14


@each("words", [{"phase": 0.02}, {"every": 0.137}, {"every": 0.1, "phase": 1.0 / 3.0}])
def test_samples_between_the_steps_cut_them(words):
    every, phase = words.get("every", 0.13), words.get("phase", 0.0)
    system = body(every=every, phase=phase)
    reference = by_scipy(every, phase - every * np.floor(phase / every))
    for arguments in ({"method": "s6_10", "step": 0.05}, {"method": "mkrk:dp8", "steps": ph.Tolerance(1e-10)}):
        ds = ph.integrate(system, t_end=SPAN, **arguments, **START)
        assert_allclose(final(ds), reference, rtol=0, atol=2e-14)


@each(("late", "beyond"), [(1, 0.0), (3, 0.0), (0, 0.04), (2, 0.04)])
def test_a_delay_may_have_any_length(late, beyond):
    system = body(delay=late * 0.1 + beyond)
    ds = ph.integrate(system, "s6_10", step=0.02, t_end=SPAN, **START)
    assert_allclose(final(ds), by_scipy(0.1, 0.0, late, beyond), rtol=0, atol=2e-14)


def test_limit_and_resolution():
    system = body(limit=(0.1, 0.2, 0.15), resolution=0.03)
    ds = ph.integrate(system, "s6_10", step=0.05, t_end=SPAN, **START)
    most = np.array([0.1, 0.2, 0.15])
    reference = by_scipy(0.1, shape=lambda u: np.clip(0.03 * np.floor(u / 0.03 + 0.5), -most, most))
    assert_allclose(final(ds), reference, rtol=0, atol=8e-14)
    assert (abs(ds.command) <= most).all()


def of_row(ds, k):
    return pd(0, 0, 0, ds.attitude.values[k], ds.angular_velocity.values[k], GAINS, 0)


@each("run", [
    {"step": 0.05}, {"step": 0.1}, {"step": 0.05, "every": 2}, {"step": 0.05, "t_eval": [0.0, 0.1, 0.15, 0.4, 0.6]},
    {"step": 0.04}, {"step": 0.05, "breaks": (0.2, 0.33)}, {"steps": ph.Tolerance(1e-9)},
    {"steps": ph.Tolerance(1e-9), "t_eval": [0.0, 0.1, 0.15, 0.4, 0.6]},
    {"steps": ph.Tolerance(1e-9), "breaks": (0.2, 0.33)}, {"step": 0.05, "every": 5},
    pytest.param({"step": 0.05, "tangent": True}, marks=pytest.mark.full),
])  # fmt: skip
def test_rows_have_the_command_that_acts_from_there_on(run):
    """At sampling times that of the row itself, from the first to the last; between them that of the last sample."""
    method = "mkrk:dp8" if "steps" in run else "mkrk:cv8" if "tangent" in run else "s6_10"
    ds = ph.integrate(body(), method, t_end=0.6, **run, **START)
    assert ds.attrs["commands"] == "act from their row on"
    ticks = np.round(ds.time.values / 0.1, 9)
    at = np.flatnonzero(ticks == np.round(ticks))
    assert at[0] == 0 and at[-1] == len(ticks) - 1
    for k in at:
        assert_allclose(ds.command[k], of_row(ds, k), rtol=0, atol=1e-12)
    for k in np.setdiff1d(np.arange(len(ticks)), at):
        if np.floor(ticks[k]) in ticks:
            assert_array_equal(ds.command[k], ds.command[list(ticks).index(np.floor(ticks[k]))])


@each("run", [{"step": 0.05}, {"steps": ph.Tolerance(1e-10)}])
def test_members_and_prepared_runs_have_the_same_rows(run):
    method, run = ("mkrk:dp8" if "steps" in run else "s6_10"), {"t_end": 0.6, **run}
    ds = ph.integrate(body(), method, every=3, **run, **START)
    rows = ph.prepare(body(), method, every=3, **run)
    for _ in range(3):  # the first is an ordinary run, further ones are taken by the loop alone
        found = rows.run(START)
        assert_array_equal(found.states[:, -3:], ds.command.values)
    several = ph.ensemble(
        body(),
        method,
        members={"parameters": np.array([GAINS, 2 * GAINS])},
        **run,
        **START,
        **({"t_eval": np.array([0.0, 0.1, 0.35, 0.6])} if "steps" in run else {"every": 5}),
    )
    for k, t in enumerate(several.time.values):
        if abs(t - 0.35) > 1e-9 and abs(t - 0.25) > 1e-9:
            assert_allclose(several.command[0, k], of_row(several.isel(member=0), k), rtol=0, atol=1e-12)


def test_an_impulse_at_a_sampling_time_is_seen():
    law = ph.controller(lambda body: {"seen": body.velocity}, 0.5, sets="seen").states(seen=np.zeros(3))
    push = ph.loads.impulse((1.0, 0.0, 0.0), frame="inertial", at=1.0)
    for how in ({"step": 0.25}, {"steps": ph.Tolerance(1e-9), "t_eval": [0.0, 0.5, 1.0, 1.5]}):
        ds = ph.integrate(ph.system(ph.body("a", 1.0), law, push), "mkrk:dp8", t_end=1.5, **how)
        assert_array_equal(
            ds.seen.values, ds.velocity.values if "steps" in how else ds.velocity.values[[0, 0, 2, 2, 4, 4, 6]]
        )


def test_a_run_goes_on_from_a_row_with_the_command_there():
    """Every bit is that of the run that goes through, with memory, delays and noise; other gains act at once."""

    def law(body, integral, white, gain):
        integral = integral + body.angular_velocity
        return {"command": -gain * (body.angular_velocity + white) - 0.01 * integral, "integral": integral}

    def push(body, command):
        return {"torque": command}

    def made(gain):
        own = {"white": {"size": 3, "noise": 1e-2, "every": 0.1, "seed": 2}, "integral": np.zeros(3)}
        return ph.system(
            ph.body("a", inertia=MOMENTS, pinned=True),
            ph.loads.of(push).states(command=np.zeros(3)),
            ph.controller(law, 0.1, keeps="integral", delay=0.25, parameters={"gain": gain}).states(**own),
        )

    whole = ph.integrate(made(0.5), "s6_10", step=0.05, steps=40, **START)
    half = ph.integrate(made(0.5), "s6_10", step=0.05, steps=20, **START)
    for start in (half, ph.State.of(whole, 20)):
        rest = ph.integrate(made(0.5), "s6_10", step=0.05, steps=20, start=start)
        for name in ("command", "integral", "white", "attitude", "angular_velocity"):
            assert_array_equal(rest[name], whole[name][20:])
        again = ph.rerun(rest, law=law, push=push)
        assert_array_equal(again.command, rest.command)
    between = ph.integrate(made(0.5), "s6_10", step=0.05, steps=3, start=ph.State.of(whole, 17))
    assert_array_equal(between.command, whole.command[17:21])
    quick = ph.integrate(made(0.5), "mkrk:dp8", steps=ph.Tolerance(1e-9), t_end=2.0, t_eval=[1.0, 2.0], start=half)
    assert_array_equal(quick.integral[0], half.integral[-1])
    assert_allclose(quick.integral[1], whole.integral[-1], rtol=0, atol=1e-6)
    other = ph.integrate(made(2.0), "s6_10", step=0.05, steps=1, start=half)
    assert abs(other.integral[0] - half.integral[-1]).max() > 0.1


def test_a_jump_of_a_command_between_steps_is_no_coarse_step():
    """No step has a jump inside, however far a command jumps from one to the next; warnings are errors here."""

    def law(craft):
        return {"command": -0.8 * craft.attitude[1:] - 4.0 * craft.angular_velocity}

    def push(craft, command):
        return {"torque": command}

    for delay in (0.0, 2.0):
        craft = ph.system(ph.body("craft", inertia=(8.0, 9.0, 10.0), pinned=True), ph.controller(law, 5.5, delay=delay),
                          ph.loads.of(push).states(command=np.zeros(3)))  # fmt: skip
        run = {"step": 5.5 / 8, "t_end": 275.0, "attitude": (np.cos(5e-3), 0.0, 0.0, np.sin(5e-3))}
        for every in (1, 3):
            ph.integrate(craft, "s4_6", every=every, **run)


def test_the_last_command_may_be_the_one_that_fails():
    def law(body, t):
        return {"seen": 1.0 / ph.where(t > 0.95, 0.0, 1.0)}

    one = ph.system(ph.body("a", 1.0), ph.controller(law, 0.5).states(seen=0.0))
    for how in ({"step": 0.25}, {"steps": ph.Tolerance(1e-9)}):
        with pytest.raises((ph.errors.NotFinite, UserFunctionError)) as told:
            ph.integrate(one, "mkrk:dp8", t_end=1.0, **how)
        assert float(told.value.trajectory.time[-1]) == 1.0  # nothing computed is lost


def pid(t, position, velocity, q, omega, parameters, states):
    integral = states.integral + 0.1 * np.array([q[1], q[2], q[3]])
    return pd(t, position, velocity, q, omega, parameters, states) - 0.2 * integral, integral


def test_a_controller_remembers_in_states_of_its_own():
    system = body(pid, keeps="integral", states={"command": 3, "integral": 3})
    ds = ph.integrate(system, "s6_10", step=0.1, steps=30, **START)
    taken = 0.1 * np.cumsum(ds.attitude.values[:, 1:], axis=0)
    assert_allclose(ds.integral, taken, rtol=0, atol=1e-14)


def test_two_controllers_of_two_rates():
    def slow(t, position, velocity, q, omega, parameters, states):
        return 0.5 * states.command

    def actuators(t, q, omega, parameters, states):
        return states.command + states.second

    both = [ph.controller(pd, 0.1, "command"), ph.controller(slow, 0.3, "second")]
    system = ph.rigid_body(MOMENTS, torque=actuators, parameters=GAINS, states={"command": 3, "second": 3},
                           controllers=both)  # fmt: skip
    ds = ph.integrate(system, "s6_10", step=0.1, steps=8, **START)
    assert_allclose(ds.second[[0, 1, 2]], 0.5 * ds.command[[0, 0, 0]])  # the second one sees what the first has set
    assert_allclose(ds.second[[3, 4, 5]], 0.5 * ds.command[[3, 3, 3]])


def test_a_rated_state_beside_a_held_one():
    def torque(t, q, omega, parameters, states):
        return states.command, omega[2]

    states = {"angle": 1, "command": 3}
    system = ph.rigid_body(MOMENTS, torque=torque, parameters=GAINS, states=states,
                           controllers=[ph.controller(pd, 0.1, "command")])  # fmt: skip
    plain = ph.integrate(body(), "s6_10", step=0.05, t_end=SPAN, **START)
    ds = ph.integrate(system, "s6_10", step=0.05, t_end=SPAN, **START)
    assert_allclose(final(ds), final(plain), rtol=0, atol=1e-14)
    assert float(ds.angle[-1]) == pytest.approx(float(ds.angular_velocity[:, 2].integrate("time")), abs=1e-3)


def test_a_particle_and_an_orbit():
    def force(t, position, velocity, parameters, states):
        return states.push

    def damper(t, position, velocity, q, omega, parameters, states):
        return -0.4 * velocity

    words = {"force": force, "states": {"push": 3}, "controllers": [ph.controller(damper, 0.25, "push")]}
    ds = ph.integrate(ph.particle(2.0, **words), "v2", step=0.25, steps=8, position=(0, 0, 0), velocity=(1.0, 0, 0))
    assert_allclose(ds.velocity[:, 0], (1.0 - 0.4 * 0.25 / 2.0) ** np.arange(9))
    ds = ph.integrate(ph.orbit(1.0, 1.0, **words), step=0.05, steps=20, position=(1.0, 0, 0), velocity=(0, 1.0, 0))
    assert_allclose(ds.push[6], -0.4 * ds.velocity[5])


WHEEL = ph.reaction_wheels(np.eye(3), 0.05)


def on_wheels(t, position, velocity, q, omega, parameters, states):
    return parameters[0] * np.array([q[1], q[2], q[3]]) + parameters[1] * omega


@each("build", [ph.rigid_body, lambda inertia, **words: ph.spacecraft(inertia, 3.986e14, **words)])
def test_wheels_are_commanded(build):
    system = build((10.0, 12.0, 14.0), wheels=WHEEL, parameters=[0.5, 5.0],
                   controllers=[ph.controller(on_wheels, 0.2, "wheel_command", limit=0.3)])  # fmt: skip
    where = {"position": (7e6, 0, 0), "velocity": (0, 7546.0, 0)} if system.name == "spacecraft" else {}
    ds = ph.integrate(system, "s6_10", step=0.2, t_end=100.0, attitude=(0.8, 0.6, 0.0, 0.0), **where)
    assert abs(ds.attitude[-1, 1:]).max() < 1e-2
    assert float(abs(ds.wheel_command).max()) <= 0.3
    if system.name == "rigid_body":
        assert_allclose(ds.spin, 0.0, rtol=0, atol=1e-13)


def test_plain_python_runs_once_a_sample(monkeypatch):
    calls = []

    def opaque(t, position, velocity, q, omega, parameters, states):
        calls.append(t)
        return [-float(x) for x in np.asarray(omega).tolist()]

    def clear(t, position, velocity, q, omega, parameters, states):
        return -omega

    system = body(opaque)
    with pytest.warns(SlowFunctionWarning, match="command 'opaque'") as told:
        ds = ph.integrate(system, "s6_10", step=0.05, steps=20, **START)
        assert_allclose(calls, 0.1 * np.arange(11), rtol=0, atol=1e-12)  # and nowhere else, up to the last row
        with monkeypatch.context() as until:
            until.setattr(direct, "compiled", None)  # what a log has grown to makes it no other function
            ph.integrate(system, "s6_10", step=0.05, steps=220, **START)
    assert len(told) == 1
    assert len(calls) == 11 + 111
    assert_allclose(
        final(ds), final(ph.integrate(body(clear), "s6_10", step=0.05, steps=20, **START)), rtol=0, atol=1e-14
    )


def test_what_is_not_finite_is_told_with_its_time():
    def bad(t, position, velocity, q, omega, parameters, states):
        return omega * np.sqrt(0.55 - t)

    for arguments in ({"step": 0.1}, {"steps": ph.Tolerance(1e-8)}):
        with np.errstate(invalid="ignore"), pytest.raises(UserFunctionError, match=r"'bad'.*as command at t = 0\.6"):
            ph.integrate(body(bad), "mkrk:dp8", t_end=1.0, **arguments, **START)


def two(t, position, velocity, q, omega, parameters, states):
    return 1.0, 2.0


WRONG = {
    "every is 0; a controller needs a positive time": lambda: ph.controller(pd, 0.0, "command"),
    "delay is -1; a command cannot take effect before": lambda: ph.controller(pd, 0.1, "command", delay=-1.0),
    "delay is 200, more than 1000 samples": lambda: ph.controller(pd, 0.1, "command", delay=200.0),
    "sets names no state": lambda: ph.controller(pd, 0.1, ()),
    "sets and keeps name the state 'a' twice": lambda: ph.controller(pd, 0.1, "a", keeps=("b", "a")),
    "command must be a function": lambda: ph.controller(3, 0.1, "a"),
    "limit is -1; give a positive number": lambda: ph.controller(pd, 0.1, "a", limit=-1),
    r"controllers\[0\]: limit has 2 numbers, but the controller sets 3": lambda: body(limit=(1.0, 2.0)),
    r"unknown state that controllers\[0\] sets 'commands'; did you mean 'command'": lambda: body(sets="commands"),
    r"controllers\[0\] and controllers\[1\] both set the state 'command'": lambda: ph.rigid_body(
        MOMENTS, torque=actuator, states={"command": 3}, controllers=[ph.controller(pd, 0.1, "command")] * 2),
    "states are read and changed by a torque or load": lambda: ph.rigid_body(
        MOMENTS, states={"command": 3}, controllers=[ph.controller(pd, 0.1, "command")]),
    r"controllers\[0\] must be made by polhode.controller": lambda: ph.rigid_body(MOMENTS, torque=actuator,
                                                                              controllers=[3]),
    r"controllers\[0\]: every is missing": lambda: ph.rigid_body(MOMENTS, torque=actuator,
                                                             controllers=[{"command": pd, "sets": "command"}]),
    r"must take the arguments \(t, position, velocity, q, omega, parameters, states\)": lambda: body(actuator),
    "back to -1, but what controllers have set cannot be undone": lambda: ph.integrate(
        body(), "v2", step=0.1, t_end=-1.0, **START),
    "controllers of 'rigid_body' set states between steps, which method 'reversible:v2'": lambda: ph.integrate(
        body(), "reversible:loads:v2", step=0.1, t_end=1.0, **START),
}  # fmt: skip


@each("told", WRONG)
def test_what_is_wrong_is_told_in_a_sentence(told):
    with pytest.raises(InvalidInput, match=told):
        WRONG[told]()


def test_what_a_function_must_return():
    with pytest.raises(UserFunctionError, match="as command at t = 0; it must be 3 numbers"):
        ph.integrate(body(two), "v2", step=0.1, steps=1, **START)


@each(("every", "grows"), [(4.8, False), (5.2, True)])
def test_a_loop_is_stable_up_to_the_sampling_time_of_theory(every, grows):
    """About one axis with the moment J a held PD law is stable for T < 2 J / kd."""
    system = ph.rigid_body((8.0, 9.0, 10.0), torque=actuator, parameters=(0.2, 4.0), states={"command": 3},
                           controllers=[ph.controller(pd, every, "command")])  # fmt: skip
    ds = ph.integrate(system, "s4_6", step=every / 4, steps=160, attitude=(np.cos(5e-3), 0.0, 0.0, np.sin(5e-3)))
    rate = abs(ds.angular_velocity.values[::4, 2])
    assert (rate[40] > rate[20]) == grows


def test_functions_that_see_one_body_are_refused_for_several():
    """Their roles write behind the loads of one body, where nothing would read what they set."""
    with pytest.raises(InvalidInput, match="load is a function of one body, but there are 2"):
        ph.spacecraft([(1, 2, 2.5)] * 2, 1.0, [1.0, 2.0], load=lambda t, r, v, q, w, p, s: ((0, 0, 0), s.command),
                      states={"command": 3}, controllers=[ph.controller(pd, 0.1, "command")])  # fmt: skip


def test_a_controller_sees_what_that_of_a_sum_sees():
    tensor, wheels = ((10.0, 0.5, 0.2), (0.5, 12.0, -0.3), (0.2, -0.3, 14.0)), ph.reaction_wheels(np.eye(3), 1e-2)

    def steering(t, position, velocity, q, omega, parameters, states):
        return 0.5 * np.array([q[1], q[2], q[3]]) + parameters[0] * omega + 0.1 * states.wheel_momentum

    def steered(bus, rate):
        q = bus.attitude
        return {"wheel_command": 0.5 * q[1:] + rate * bus.angular_velocity + 0.1 * bus.wheel_momentum}

    mu, there = 3.986e14, {"position": (7e6, 0, 0), "velocity": (0, 7546.0, 0), **START}
    old = ph.spacecraft(tensor, mu, 1.0, wheels=wheels, parameters=[5.0],
                        controllers=[ph.controller(steering, 0.2, "wheel_command", delay=0.3)])  # fmt: skip
    new = ph.system(ph.body("bus", 1.0, tensor, wheels=wheels), ph.loads.central(mu), ph.loads.gravity_gradient(),
                    ph.controller(steered, every=0.2, parameters={"rate": 5.0}, delay=0.3))  # fmt: skip
    a, b = (ph.integrate(one, "s6_10", step=0.1, steps=100, **there).squeeze() for one in (old, new))
    assert float(abs(a.wheel_command).max()) > 0.1
    assert_allclose(a.wheel_command, b.wheel_command, rtol=0, atol=1e-12)
    assert_allclose(final(a), final(b), rtol=0, atol=1e-12)
