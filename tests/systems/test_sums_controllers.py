"""Controllers and noise in sums: against those of systems of one body, SciPy between the samples, what is refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen, crossed
from each import each
from polhode.errors import PolhodeError, UserFunctionError
from vectors import cross

MU = 3.986004415e14
MOMENTS = np.array([5.0, 4.0, 3.0])
LOW = {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "attitude": (0.8, 0.6, 0.0, 0.0),
       "angular_velocity": (0.02, 0.03, -0.01)}  # fmt: skip
START = {"angular_velocity": (0.1, 0.2, -0.3), "attitude": (0.8, 0.6, 0.0, 0.0)}


def pointing(bus, gain, rate):
    return {"command": -gain * bus.attitude[1:] - rate * bus.angular_velocity}


def actuator(bus, command):
    return {"torque": command}


def pointing_of_one(t, position, velocity, q, omega, parameters, states):
    return -parameters[0] * q[1:] - parameters[1] * omega


def load_of_one(t, position, velocity, q, omega, parameters, states):
    return (0.0, 0.0, 0.0), states.command


def craft(every=0.5, **words):
    law = ph.controller(pointing, every, parameters={"gain": 0.05, "rate": 0.4}, **words).on("bus")
    return ph.system(ph.body("bus", 120.0, MOMENTS), ph.loads.central(MU), ph.loads.gravity_gradient(MU),
                     ph.loads.of(actuator), law.states(command=np.zeros(3)))  # fmt: skip


def spacecraft(every=0.5, **words):
    return ph.spacecraft(MOMENTS, MU, 120.0, load=load_of_one, parameters=(0.05, 0.4), states={"command": 3},
                         controllers=[ph.controller(pointing_of_one, every, "command", **words)])  # fmt: skip


WORDS = {
    "plain": {}, "phase": {"phase": 0.1}, "delay": {"delay": 1.5}, "a delay between samples": {"delay": 0.7},
    "limit": {"limit": (0.02, 0.03, 0.01)}, "resolution": {"resolution": 0.004, "limit": 0.02},
}  # fmt: skip


@each(("words", "method"), [
    *crossed(WORDS, ["s6_10", "mkrk:cv8"]),
    *(pytest.param(one, method, marks=pytest.mark.full) for one in WORDS
      for method in ("v2/kepler", "v2", "rkn6_14a/kepler", "mkrk:gauss4", "mkrk:dp8", "taylor")),
])  # fmt: skip
def test_a_craft_is_that_of_polhode(words, method):
    pair = [build(**WORDS[words]) for build in (spacecraft, craft)]
    steered = {"pointing.gain": 0.0, "pointing.rate": 0.0}
    still = ph.integrate(pair[1], "v2/kepler", step=0.25, steps=240, every=240, parameters=steered, **LOW)
    steps = {"steps": ph.Tolerance(1e-10), "t_end": 60.0} if method in ("mkrk:dp8", "taylor") else {
        "step": 0.25, "steps": 240}  # fmt: skip
    one, ours = (ph.integrate(system, method, **steps, **LOW) for system in pair)
    assert_allclose(ours.position.values[-1], one.position.values[-1], rtol=1e-12)
    assert_allclose(ours.attitude.values[-1], one.attitude.values[-1], rtol=0, atol=1e-12)
    assert_allclose(ours.command.values[-1], one.command.values[-1], rtol=0, atol=1e-12)
    assert float(abs(ours.energy_error).max()) < 1e-12
    assert abs(ours.attitude.values[-1] - still.attitude.values[-1]).max() > 1e-2


def test_steps_that_samples_cut():
    for method, steps in (("s6_10", {"step": 0.25}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-11)})):
        one, ours = (ph.integrate(build(0.137, phase=1 / 3), method, t_end=20.0, **steps, **LOW)
                     for build in (spacecraft, craft))  # fmt: skip
        assert_allclose(ours.attitude.values[-1], one.attitude.values[-1], rtol=0, atol=1e-12)


def test_its_own_memory_is_kept_at_once():
    def filtered(bus, command, smooth):
        new = 0.8 * smooth + 0.2 * bus.angular_velocity
        return {"smooth": new, "command": -0.5 * new}

    def filtered_of_one(t, position, velocity, q, omega, parameters, states):
        new = 0.8 * states.smooth + 0.2 * omega
        return -0.5 * new, new

    words = {"every": 0.1, "keeps": "smooth", "delay": 0.2, "limit": 0.03}
    law = ph.controller(filtered, **words).states(command=np.zeros(3), smooth=np.zeros(3)).on("bus")
    ours = ph.system(ph.body("bus", inertia=MOMENTS, pinned=True), ph.loads.of(actuator), law)
    one = ph.rigid_body(MOMENTS, torque=lambda t, q, omega, parameters, states: states.command,
                        states={"command": 3, "smooth": 3},
                        controllers=[ph.controller(filtered_of_one, sets="command", **words)])  # fmt: skip
    a, b = (ph.integrate(system, "s6_10", step=0.05, steps=200, **START) for system in (one, ours))
    for name in ("attitude", "command", "smooth"):
        assert_allclose(b[name].values, a[name].values, rtol=0, atol=1e-14)
    taken = b.angular_velocity.values[::2]
    smooth = np.zeros(3)
    for k in range(100):
        smooth = 0.8 * smooth + 0.2 * taken[k]
        assert_allclose(b.smooth.values[2 * k + 1], smooth, rtol=0, atol=1e-15)


# ------------------------------------------------------------------ several bodies
K, D, APART = 0.8, 1.1, np.array([0.0, -2.0, 0.5])


def follow(a, b, gain, damping, apart):
    return {"thrust": b.in_body(-gain * (b.position - a.position - apart) - damping * (b.velocity - a.velocity))}


def engine(body, thrust):
    return {"force": body.in_space(thrust), "torque": 0.02 * thrust - 0.05 * body.angular_velocity}


def spring(body, stiffness):
    return 0.5 * stiffness * body.position @ body.position


def pair_of(inertia=(1.0, 2.0, 2.5), **words):
    law = ph.controller(follow, **{"every": 0.25, **words}, parameters={"gain": K, "damping": D, "apart": APART})
    return ph.system(ph.body("a", 5.0, inertia), ph.body("b", 2.0, (0.5, 0.4, 0.6)),
                     ph.loads.of(spring, stiffness=0.3), ph.loads.of(engine).on("b").states(thrust=np.zeros(3)),
                     law.on("a", "b"))  # fmt: skip


BOTH = {
    "a": {"position": (1.0, 0.0, 0.2), "velocity": (0.0, 0.3, 0.0), "angular_velocity": (0.1, 0.0, 0.2)},
    "b": {"position": (0.5, -1.0, 0.0), "velocity": (0.2, 0.1, 0.0), "angular_velocity": (0.3, 0.1, -0.2)},
}


@cache
def by_scipy(every, samples, late=0):
    """States of both bodies after so many samples, integrated by hand from sample to sample."""
    I = np.array([0.5, 0.4, 0.6])

    def rates(t, y, u):
        ra, va, rb, vb, q, w = np.split(y, [3, 6, 9, 12, 16])
        R = ph.rotation.matrix_from_quaternion(q / np.linalg.norm(q))
        turn = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + cross(q[1:], w))])
        return np.concatenate([va, -0.3 * ra / 5.0, vb, (-0.3 * rb + R @ u) / 2.0, turn,
                               (cross(I * w, w) + 0.02 * u - 0.05 * w) / I])  # fmt: skip

    y = np.concatenate([BOTH["a"]["position"], BOTH["a"]["velocity"], BOTH["b"]["position"], BOTH["b"]["velocity"],
                        (1.0, 0.0, 0.0, 0.0), BOTH["b"]["angular_velocity"]])  # fmt: skip
    queue = [np.zeros(3)] * late
    for k in range(samples):
        R = ph.rotation.matrix_from_quaternion(y[12:16])
        queue.append(R.T @ (-K * (y[6:9] - y[:3] - APART) - D * (y[9:12] - y[3:6])))
        u = queue.pop(0)
        t = k * every
        y = solve_ivp(rates, (t, t + every), y, method="DOP853", rtol=1e-13, atol=1e-13, args=(u,)).y[:, -1]
    return y


@each("method", chosen(["s6_10", "mkrk:cv8", "mkrk:gauss6"], ["s6_10", "mkrk:cv8"]))
@each(("every", "late"), [(0.25, 0), (0.25, 2), (0.5, 0)])
def test_a_follower_reads_two_bodies(every, late, method):
    two = pair_of(every=every, delay=late * every)
    y = by_scipy(every, 20, late)
    ds = ph.integrate(two, method, step=0.0125, t_end=20 * every, start=BOTH)
    assert_allclose(ds.position.values[-1], [y[:3], y[6:9]], rtol=0, atol=1e-9)
    assert_allclose(ds.velocity.values[-1], [y[3:6], y[9:12]], rtol=0, atol=1e-9)
    assert_allclose(ds.attitude.values[-1, 1], y[12:16], rtol=0, atol=1e-9)
    assert_allclose(ds.angular_velocity.values[-1, 1], y[16:], rtol=0, atol=1e-9)
    assert float(abs(ds.energy_error).max()) < 1e-9
    free = ph.integrate(two, step=0.0125, t_end=20 * every, start=BOTH, parameters={"follow.gain": 0.0,
                                                                                   "follow.damping": 0.0})  # fmt: skip
    assert abs(free.position.values[-1, 1] - y[6:9]).max() > 0.1
    assert_allclose(free.position.values[-1, 0], y[:3], rtol=0, atol=1e-9)  # which nobody steers


def test_loads_that_are_loops_have_controllers_beside_them():
    """Seven bodies, on each of which the spring is a row of a loop; the fifth follows the third."""
    names = [f"b{k}" for k in range(7)]
    bodies = [ph.body(name, 5.0, (1.0, 2.0, 2.5)) for name in names]
    bodies[4] = ph.body("b4", 2.0, (0.5, 0.4, 0.6))
    law = ph.controller(follow, 0.25, parameters={"gain": K, "damping": D, "apart": APART}, delay=0.5)
    many = ph.system(bodies, ph.loads.of(spring, stiffness=0.3),
                     ph.loads.of(engine).on("b4").states(thrust=np.zeros(3)), law.on("b2", "b4"))  # fmt: skip
    start = {name: {"position": (float(k), 0.0, 0.0)} for k, name in enumerate(names)}
    ds = ph.integrate(many, "s6_10", step=0.0125, t_end=5.0, start=start | {"b2": BOTH["a"], "b4": BOTH["b"]})
    y = by_scipy(0.25, 20, 2)
    assert_allclose(ds.position.values[-1, [2, 4]], [y[:3], y[6:9]], rtol=0, atol=1e-9)
    assert_allclose(ds.attitude.values[-1, 4], y[12:16], rtol=0, atol=1e-9)
    assert float(abs(ds.energy_error).max()) < 1e-9


def test_one_thrust_holds_for_all_bodies_that_read_it():
    """A state is one of the system: two engines that read it are steered by one controller."""

    def gather(left, right):
        return {"thrust": -0.1 * (left.position + right.position)}

    two = ph.system(ph.body("left", 1.0), ph.body("right", 2.0), ph.loads.of(lambda body, thrust: {"force": thrust}),
                    ph.controller(gather, 0.1).states(thrust=np.zeros(3)).on("left", "right"))  # fmt: skip
    ds = ph.integrate(two, "v2", step=0.05, steps=4, start={"left": {"position": (1.0, 0.0, 0.0)}})
    first = np.array([-0.1, 0.0, 0.0])
    assert_allclose(ds.thrust.values[1], first, rtol=0, atol=1e-16)
    assert_allclose(ds.velocity.values[2], [0.1 * first, 0.05 * first], rtol=0, atol=1e-16)


def test_controllers_of_no_body_and_of_the_only_one():
    def clock(t, count):
        return {"count": count + 1.0}

    def where(body):
        return {"seen": body.position}

    one = ph.system(ph.body("a", 1.0), ph.controller(clock, 0.5).states(count=0.0),
                    ph.controller(where, 0.5).states(seen=np.zeros(3)))  # fmt: skip
    ds = ph.integrate(one, "v2", step=0.25, steps=8, velocity=(1.0, 0.0, 0.0))
    assert_array_equal(ds["count"], [1, 1, 2, 2, 3, 3, 4, 4, 5])
    assert_allclose(ds.seen[:, 0], [0, 0, 0.5, 0.5, 1, 1, 1.5, 1.5, 2])


def test_controllers_are_called_in_the_order_of_the_sum():
    def first(body):
        return {"one": body.position[0] + 1.0}

    def second(one):
        return {"two": 2.0 * one}

    parts = [ph.controller(first, 0.5).states(one=0.0), ph.controller(second, 0.5).states(two=0.0)]
    for order, expected in ((parts, 2.0), (parts[::-1], 0.0)):
        ds = ph.integrate(ph.system(ph.body("a", 1.0), *order), "v2", step=0.25, steps=1)
        assert float(ds.two[1]) == expected


# ------------------------------------------------------------------ wheels and surroundings
WHEELS = ph.reaction_wheels(np.eye(3), 0.05, max_torque=1.0)


def on_wheels(bus, gain, rate):
    return {"wheel_command": gain * bus.attitude[1:] + rate * bus.angular_velocity}


def on_wheels_of_one(t, position, velocity, q, omega, parameters, states):
    return parameters[0] * q[1:] + parameters[1] * omega


def wheeled(law, **words):
    bodies = [ph.body(name, 1.0, (10.0, 12.0, 14.0), wheels=WHEELS) for name in ("a", "b")]
    return ph.system(bodies, ph.controller(law, 0.2, **words).on("a", "b"))


@each(("words", "method"), [*crossed([{}, {"delay": 0.3, "limit": 0.2}], ["s6_10", "mkrk:cv8"]),
                            pytest.param({"delay": 0.3}, "v2/kepler", marks=pytest.mark.full)])  # fmt: skip
def test_wheels_are_commanded_as_those_of_a_spacecraft(words, method):
    one = ph.spacecraft((10.0, 12.0, 14.0), MU, 120.0, wheels=WHEELS, parameters=(0.5, 5.0),
                        controllers=[ph.controller(on_wheels_of_one, 0.2, "wheel_command", **words)])  # fmt: skip
    law = ph.controller(on_wheels, 0.2, parameters={"gain": 0.5, "rate": 5.0}, **words)
    ours = ph.system(ph.body("bus", 120.0, (10.0, 12.0, 14.0), wheels=WHEELS), ph.loads.central(MU),
                     ph.loads.gravity_gradient(MU), law.on("bus"))  # fmt: skip
    a, b = (ph.integrate(system, method, step=0.1, t_end=60.0, **LOW) for system in (one, ours))
    assert_allclose(b.position.values[-1], a.position.values[-1], rtol=1e-12)
    for name in ("attitude", "wheel_momentum", "wheel_command"):
        assert_allclose(b[name].values, a[name].values, rtol=0, atol=1e-12)
    assert float(abs(b.energy_error).max()) < 1e-12
    assert float(abs(b.wheel_momentum[-1]).max()) > 0.1


def test_a_number_commands_one_wheel():
    """The number itself, as an array of one does."""
    laws = (lambda bus: {"wheel_command": 5.0 * bus.angular_velocity[2]},
            lambda bus: {"wheel_command": 5.0 * bus.angular_velocity[2:]})  # fmt: skip
    body = ph.body("bus", inertia=(10.0, 12.0, 14.0), pinned=True, wheels=ph.reaction_wheels([(0, 0, 1)], 0.05))
    a, b = (ph.integrate(ph.system(body, ph.controller(law, 0.2)), "s6_10", step=0.1, steps=20,
                         angular_velocity=(0, 0, 0.1)) for law in laws)  # fmt: skip
    assert a.wheel_momentum.identical(b.wheel_momentum) and float(a.wheel_momentum[-1, 0]) > 0.5


def test_one_controller_commands_the_wheels_of_two_bodies():
    """Each to the attitude of the other one's start: two runs of one body, in which the target is a parameter."""

    def mirrored(a, b):
        return {
            "a": {"wheel_command": 0.5 * a.attitude[1:] + 5.0 * a.angular_velocity},
            "b": {"wheel_command": 0.3 * (b.attitude[1:] - a.attitude[1:]) + 4.0 * b.angular_velocity},
        }

    start = {"a": {"attitude": (0.8, 0.6, 0.0, 0.0)}, "b": {"attitude": (0.6, 0.0, 0.8, 0.0)}}
    ds = ph.integrate(wheeled(mirrored, delay=0.3, limit=0.25), "s6_10", step=0.1, t_end=20.0, start=start)
    assert list(ds.wheel.values) == ["a.0", "a.1", "a.2", "b.0", "b.1", "b.2"]
    one = ph.rigid_body((10.0, 12.0, 14.0), wheels=WHEELS, parameters=(0.5, 5.0), controllers=[
        ph.controller(on_wheels_of_one, 0.2, "wheel_command", delay=0.3, limit=0.25)])  # fmt: skip
    a = ph.integrate(one, "s6_10", step=0.1, t_end=20.0, **start["a"])
    assert_allclose(ds.attitude.values[:, 0], a.attitude.values, rtol=0, atol=1e-13)
    assert_allclose(ds.wheel_command.values[:, :3], a.wheel_command.values, rtol=0, atol=1e-13)
    q, w = ds.attitude.values, ds.angular_velocity.values
    wanted = np.clip(0.3 * (q[:, 1, 1:] - q[:, 0, 1:]) + 4.0 * w[:, 1], -0.25, 0.25)
    assert_allclose(
        ds.wheel_command.values[4::2, 3:], wanted[0:-4:2], rtol=0, atol=1e-13
    )  # 0.3 s late: a row shows the last
    assert abs(wanted).max() > 0.2
    assert float(abs(ds.energy_error).max()) < 1e-12


def test_a_controller_reads_the_surroundings():
    def high(body):
        return body.position[2]

    def seeing(body, height, t):
        return {"seen": height + 10.0 * t}

    one = ph.system(ph.body("a", 1.0), ph.controller(seeing, 0.5).states(seen=0.0),
                    surroundings={"height": ph.surroundings.of(high)})  # fmt: skip
    ds = ph.integrate(one, "v2", step=0.25, steps=4, position=(0.0, 0.0, 1.0), velocity=(0.0, 0.0, 1.0))
    assert_allclose(ds.seen, [1.0, 1.0, 6.5, 6.5, 12.0])
    assert "reads height" in str(one)


# ------------------------------------------------------------------ noise
@each("more", [{}, {"time_constant": 2.0}, {"walk": True, "phase": 0.1}])
def test_noise_is_that_of_polhode(more):
    gust = {"noise": 0.3, "every": 0.25, "seed": 3, **more}  # one number

    def blown(t, q, omega, parameters, states):
        return (states.gust, states.rest, 0.0)

    def wind(body, gust, rest):
        return {"torque": [gust, rest, 0.0]}

    states = {"gust": gust, "rest": {"noise": 0.1, "every": 0.5}}
    one = ph.rigid_body(MOMENTS, torque=blown, states=states)
    ours = ph.system(ph.body("body", inertia=MOMENTS, pinned=True), ph.loads.of(wind).states(**states))
    a, b = (ph.integrate(system, "s6_10", step=0.25, steps=40, **START) for system in (one, ours))
    assert_array_equal(a.gust, b.gust)
    assert_array_equal(a.rest, b.rest)
    assert float(b.gust.std()) > 0.1
    assert_allclose(b.attitude.values, a.attitude.values, rtol=0, atol=1e-13)
    assert float(abs(b.energy_error).max()) < 1e-12


def test_a_controller_measures_with_noise():
    def measured(body, error):
        return {"seen": body.position + error}

    one = ph.system(ph.body("a", 1.0), ph.controller(measured, 0.5).states(
        seen=np.zeros(3), error={"size": 3, "noise": 0.1, "every": 0.5, "seed": 1}))  # fmt: skip
    ds = ph.integrate(one, "v2", step=0.5, steps=6, velocity=(1.0, 0.0, 0.0))
    assert_allclose(ds.seen.values, ds.position.values + ds.error.values, rtol=0, atol=1e-15)
    assert float(abs(ds.error).min()) > 0.0


# ------------------------------------------------------------------ kinds of runs
def test_derivatives_are_those_of_differences(columns_by_fours):
    """Of a point that is followed."""
    two = pair_of(inertia=None)
    start = {"a": {name: BOTH["a"][name] for name in ("position", "velocity")}, "b": BOTH["b"]}
    run = {"method": "mkrk:cv8", "step": 0.05, "steps": 40, "start": start}
    ds = ph.integrate(two, tangent=["follow.gain", "follow.damping"], **run)
    ends = [ph.integrate(two, parameters={"follow.gain": K + d}, **run).position.values[-1] for d in (1e-5, -1e-5)]
    column = ds.state_transition.sel(column="follow.gain").values[-1]
    slope = (ends[0] - ends[1]) / 2e-5
    assert abs(slope[1]).max() > 1e-2
    rows = [k for k, name in enumerate(map(str, ds.row.values)) if "position" in name]
    assert_allclose(column[rows], slope.ravel(), rtol=0, atol=1e-8)


def test_members_threads_and_what_is_recorded():
    two = pair_of(delay=0.1)
    run = {"method": "s6_10", "step": 0.05, "steps": 40, "start": BOTH}
    gains = [0.2, 0.8]
    many = ph.ensemble(two, members={"follow.gain": gains, "follow.every": [0.25, 0.5]}, engine="threads", **run)
    alone = ph.integrate(two, parameters={"follow.gain": 0.2, "follow.every": 0.25}, **run)
    assert_array_equal(many.position.values[0, -1], alone.position.values[-1])
    assert abs(many.position.values[0, -1] - many.position.values[1, -1]).max() > 1e-2
    ds = ph.integrate(two, **run)
    own = {"engine": engine, "follow": follow, "spring": spring}
    for again in (ph.rerun(ds, **own), ph.integrate(ph.system(**two.arguments | {
            name: two.arguments[name] | {"function": one} for name, one in own.items()}), **run)):  # fmt: skip
        assert_array_equal(again.position, ds.position)


@each(("words", "steps"), crossed([{}, {"every": 0.07, "delay": 0.1}], [
    {"step": 0.05, "steps": 3000}, {"steps": ph.Tolerance(1e-6), "t_end": 60.0}]))  # fmt: skip
def test_a_store_resumes_with_the_same_bits(words, steps, tmp_path):
    two, method = pair_of(**words), "s6_10" if "step" in steps else "mkrk:dp8"
    whole = ph.integrate(two, method, **steps, start=BOTH)

    class Stop(Exception):
        pass

    def once(done):
        if done.share > 0.3:
            raise Stop

    with pytest.raises((Stop, PolhodeError)):
        ph.integrate(two, method, **steps, start=BOTH, store=tmp_path / "run.zarr", progress=once)
    again = ph.resume(tmp_path / "run.zarr", engine=engine, follow=follow, spring=spring)
    for name in ("position", "attitude", "thrust", "work"):
        assert_array_equal(again[name], whole[name])


def test_members_have_delays_of_several_lengths():
    """What is on its way has other counts in each; it is left out of the Dataset of all."""
    run = {"method": "s6_10", "step": 0.05, "steps": 40, "start": BOTH}
    many = ph.ensemble(pair_of(delay=0.1), members={"follow.delay": [0.1, 0.3, 0.5]}, **run)
    for k, delay in enumerate((0.1, 0.3, 0.5)):
        assert_array_equal(many.thrust.values[k], ph.integrate(pair_of(delay=delay), **run).thrust.values)
    assert "thrust_delayed" not in many
    with pytest.raises(PolhodeError, match="follow"):
        ph.integrate(pair_of(), parameters={"follow.sets": "late"}, **run)


def test_noise_varies_with_the_seeds_of_members():
    def wind(body, gust):
        return {"force": [gust, 0.0, 0.0]}

    one = ph.system(ph.body("a", 1.0), ph.loads.of(wind).states(gust={"noise": 1.0, "every": 0.1, "seed": 1}))
    run = {"method": "s6_10", "step": 0.05, "steps": 20}
    many = ph.ensemble(one, members={"wind.states.gust.seed": [1, 2]}, **run)
    assert_array_equal(many.gust.values[0], ph.integrate(one, **run).gust.values)
    assert abs(many.gust.values[0, 1:] - many.gust.values[1, 1:]).min() > 0.0


def test_checks_of_a_system_have_states_for_its_loads():
    for system, start in ((craft(), LOW), (spacecraft(), LOW), (pair_of(delay=0.1), {})):
        report = ph.checks.check_system(system, **start)
        assert report.passed, report


def test_a_summand_may_be_called_controllers():
    one = body_with(ph.loads.of(actuator).named("controllers").states(command=(0.1, 0.0, 0.0)))
    ds = ph.integrate(one, "v2", step=0.1, steps=4, **START)
    assert_array_equal(ph.rerun(ds, controllers=actuator).attitude, ds.attitude)


GAIN = 0.5


def test_what_a_controller_reads_is_read_anew():
    global GAIN

    def law(bus):
        return {"command": -GAIN * bus.angular_velocity}

    one = ph.system(ph.body("bus", inertia=MOMENTS, pinned=True), ph.loads.of(actuator),
                    ph.controller(law, 0.1).states(command=np.zeros(3)))  # fmt: skip
    ends = []
    for GAIN in (0.5, 2.0, 0.5):
        ds = ph.integrate(one, "s6_10", step=0.05, steps=40, **START)
        assert_allclose(ds.command.values[-1], -GAIN * ds.angular_velocity.values[-1], rtol=0, atol=1e-15)
        ends.append(ds.attitude.values[-1])
    assert_array_equal(ends[0], ends[2])
    assert abs(ends[0] - ends[1]).max() > 1e-2


class Law:
    gain = 0.5


LAW, TABLE = Law(), [0.5]


@each("kept", ["object", "list"])
def test_what_is_changed_in_place_is_read_anew(kept):
    """An attribute of an object of one's own, which no digest sees, and an entry of a list."""

    def by_object(bus):
        return {"command": -LAW.gain * bus.angular_velocity}

    def by_list(bus):
        return {"command": -TABLE[0] * bus.angular_velocity}

    one = body_with(held(by_object if kept == "object" else by_list), ph.loads.of(actuator))
    for gain in (0.5, 1.5, 0.5):
        LAW.gain = TABLE[0] = gain
        ds = ph.integrate(one, "v2", step=0.05, steps=2, **START)
        assert_allclose(ds.command.values[1], -gain * np.array(START["angular_velocity"]), rtol=1e-15)


def test_a_controller_may_decide_by_a_parameter_what_it_sets():
    def law(bus, most):
        return {"command": -bus.angular_velocity} if most > 1.0 else {"seen": bus.position}

    states = {"command": np.zeros(3), "seen": np.zeros(3)}
    one = body_with(ph.controller(law, 0.1, parameters={"most": 2.0}).states(**states))
    for most in (2.0, 0.5, 3.0):
        run = {"step": 0.05, "steps": 2, "position": (1.0, 2.0, 3.0), "parameters": {"law.most": most}}
        ds = ph.integrate(one, "v2", **run, **START)
        assert ds.command.values[1].any() == (most > 1.0) and ds.seen.values[1].any() == (most < 1.0)


def test_another_number_is_no_other_kernel():
    first, second = craft(), craft(limit=0.1, every=0.7)
    assert first.loads is second.loads
    assert first.sampled[0].command.role is second.sampled[0].command.role


# ------------------------------------------------------------------ what is refused
def body_with(*parts):
    return ph.system(ph.body("bus", 1.0, MOMENTS), *parts)


def nothing(bus):
    return {}


def number(bus):
    return 3.0


def other(bus):
    return {"commands": 1.0}


def wide(bus):
    return {"command": np.zeros(2)}


def fine(bus):
    return {"command": bus.angular_velocity}


def rating(bus, command):
    return {"command": command}


def looping(bus):
    x = bus.position[0]
    while x > 1.0:
        x = 0.5 * x
    return {"command": [x, x, x]}


CALLS = 0


def keeping(bus):
    global CALLS
    CALLS += 1
    return {"command": CALLS * bus.angular_velocity}


def held(act, every=0.1, **words):
    return ph.controller(act, every, **words).states(command=np.zeros(3))


WRONG = {
    "must return a mapping of names of states": lambda: body_with(held(number)),
    r"controller 'nothing' \(.*\) must return a mapping": lambda: body_with(held(nothing)),
    "sets 'commands', which is no state; there are command": lambda: body_with(held(other)),
    "returns numbers of shape .2,. as its new value of 'command'; it must be numbers of shape .3,.":
        lambda: body_with(held(wide)),
    "'twin'.* sets the state 'command', which controller 'fine' .* sets":
        lambda: body_with(held(fine), ph.controller(fine, 0.2).named("twin")),
    "two summands called 'fine'": lambda: body_with(held(fine), ph.controller(fine, 0.2)),
    "sets the state 'command', which is noise": lambda: body_with(ph.controller(fine, 0.1).states(
        command={"size": 3, "noise": 1.0, "every": 0.1})),
    "load 'rating' .* returns the rate of 'command', which controller 'fine' .* sets":
        lambda: body_with(held(fine), ph.loads.of(rating)),
    "is on none of 2 bodies; say which it reads with .on":
        lambda: ph.system(ph.body("a", 1.0), ph.body("b", 1.0), held(fine)),
    "unknown body that controller 'fine' is on": lambda: body_with(held(fine).on("bux")),
    "cannot be a part of a sum": lambda: body_with(held(looping)),
    "give .states.CALLS=0.0. and polhode.controller.*, read 'CALLS' by its name, and return its new": lambda: body_with(
        held(keeping)),
    "has no argument 'gain'": lambda: ph.controller(fine, 0.1, parameters={"gain": 1.0}),
    "parameter 'every', a name that is taken": lambda: ph.controller(
        lambda bus, every: {"command": every}, 0.1, parameters={"every": 1.0}),
    "asks for 'height', which is around a body; let its first argument be that body": lambda: ph.system(
        ph.body("a", 1.0), ph.controller(lambda height: {"seen": height}, 0.1).states(seen=0.0),
        surroundings={"height": ph.surroundings.of(lambda body: body.position[2])}),
    "sets 'wheel_command', which is no state; there are a.wheel_command, b.wheel_command; say of which body": lambda:
        wheeled(lambda a, b: {"wheel_command": a.angular_velocity}),
    "sets 'wheel_speed' of 'a', which has none": lambda: wheeled(
        lambda a, b: {"a": {"wheel_speed": a.angular_velocity}}),
    "parameters must be a mapping": lambda: ph.controller(fine, 0.1, parameters=np.array([1.0, 2.0])),
    "is a plain Python function": lambda: body_with(ph.controller(np.cross, 0.1).on("bus")),
    "limit has 2 numbers, but the controller sets 3": lambda: body_with(held(fine, limit=(1.0, 2.0))),
    "returns no value of 'memory'": lambda: body_with(held(fine, keeps="memory").states(memory=0.0)),
    "returns 'command', which is not in sets or keeps": lambda: body_with(held(
        lambda bus: {"command": bus.position, "other": 1.0}, sets="other").states(other=0.0)),
    "controllers.0. has .states, which is for controllers in polhode.system": lambda: ph.rigid_body(
        MOMENTS, torque=lambda t, q, omega, parameters, states: states.command, states={"command": 3},
        controllers=[held(fine, sets="command")]),
    "controllers.0. names no states that it sets": lambda: ph.rigid_body(
        MOMENTS, controllers=[ph.controller(fine, 0.1)]),
    "hand it in again: fine=": lambda: ph.system(**body_with(held(fine)).arguments),
    "a state 'command_delayed'|states 'command_delayed'": lambda: body_with(held(fine, delay=0.1).states(
        command_delayed=0.0)),
    "cannot be undone": lambda: ph.integrate(body_with(held(fine)), "v2", step=0.1, t_end=-1.0),
}  # fmt: skip


@each("told", WRONG)
def test_what_is_wrong_is_told_in_a_sentence(told):
    with pytest.raises(PolhodeError, match=told):
        WRONG[told]()


def test_what_is_not_finite_is_told_with_its_time():
    def bad(bus, t):
        return {"command": bus.angular_velocity * np.sqrt(0.55 - t)}

    one = body_with(held(bad), ph.loads.of(actuator))
    for steps in ({"step": 0.1}, {"steps": ph.Tolerance(1e-8)}):
        with pytest.raises(UserFunctionError, match=r"controller 'bad'.* sets 'command' to .*nan.* at t = 0\.6"):
            ph.integrate(one, "mkrk:dp8", t_end=1.0, **steps, **START)


def test_sets_says_what_a_tuple_means():
    def law(bus):
        return -bus.angular_velocity, bus.position

    named = ph.controller(law, 0.1, ["command", "seen"]).states(command=np.zeros(3), seen=np.zeros(3))
    ds = ph.integrate(body_with(named), "v2", step=0.1, steps=2, position=(1.0, 2.0, 3.0), **START)
    assert_allclose(ds.command.values[0], [-0.1, -0.2, 0.3])
    assert_array_equal(ds.seen.values[0], [1.0, 2.0, 3.0])
    with pytest.raises(UserFunctionError, match="returns 2 things; it must return the new values of a, b, c"):
        body_with(ph.controller(law, 0.1, ["a", "b", "c"]).states(a=0.0, b=0.0, c=0.0))
