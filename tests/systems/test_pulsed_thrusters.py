"""Pulsed thrusters: against thrusters with known times, orders, what valves can do, tolerances, what is refused."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import polhode as ph
from cover import crossed
from each import each
from polhode.errors import InvalidInput

MU = 3.986004418e14
GIVEN = {"inertia": (4.0, 5.0, 6.0), "mu": MU, "mass": 50.0}
START = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5300.0, 5300.0), "angular_velocity": (0.02, -0.01, 0.03)}
AXES, ARMS = [(1, 0, 0), (0, 1, 0), (0, 0, -1)], [(0.0, 0.5, 0.0), (0.0, 0.0, 0.3), (0.4, 0.0, 0.0)]


def jets(**words):
    given = {"every": 2.0, "positions": ARMS, "command": (0.35, 0.6, 1.0)}
    return ph.systems.pulsed_thrusters((0.5, 0.4, 0.3), AXES, **given | words)


def pulsed(**words):
    return ph.spacecraft(**GIVEN, pulsed_thrusters=jets(**words))


def final(ds):
    return np.concatenate([ds[name].values[-1] for name in ("velocity", "angular_velocity", "attitude")])


@functools.cache
def by_schedule():
    """The end by the same pulses as thrusters that fire between known times."""
    fired = []
    for k, share in enumerate((0.35, 0.6, 1.0)):
        for period in range(5):
            start, force = 2.0 * period, (0.5, 0.4, 0.3)[k]
            fired.append(ph.systems.thruster(force, direction=AXES[k], position=ARMS[k], start=start,
                                             stop=start + 2.0 * share))  # fmt: skip
    return final(ph.integrate(ph.spacecraft(**GIVEN, thrusters=fired), "mkrk:cv8", step=0.1, t_end=10.0, **START))


@each("method, step", [*crossed(["s6_10", "mkrk:cv8"], [0.5, 2.0, 0.4]),
                       pytest.param("rkn6_14a/kepler", 0.4, marks=pytest.mark.full)])  # fmt: skip
def test_pulses_are_those_of_thrusters_with_known_times(method, step):
    """Whether steps end where valves move, or not."""
    ds = ph.integrate(pulsed(), method, step=step, t_end=10.0, **START)
    assert_allclose(final(ds), by_schedule(), rtol=1e-10, atol=1e-9 if step == 2.0 else 1e-11)
    assert_allclose(ds.thruster_fired.values[-1], (3.5, 6.0, 10.0), rtol=1e-14)
    assert float(abs(ds.energy_error).max()) < 1e-12 and list(ds.force.values) == ["pulsed_thrusters"]


def test_a_tolerance_ends_steps_where_valves_close():
    ds = ph.integrate(pulsed(), "mkrk:dp8", steps=ph.Tolerance(rtol=1e-10), t_end=10.0, **START)
    assert_allclose(final(ds), by_schedule(), rtol=1e-9, atol=1e-9)
    assert_allclose(ds.thruster_fired.values[-1], (3.5, 6.0, 10.0), rtol=1e-13)
    for closes in (0.7, 1.2, 2.7):
        assert np.abs(ds.time.values - closes).min() < 1e-12


@each(("method", "order"), [("v2", 2), ("s4_6", 4)])
def test_methods_keep_their_order(method, order):
    def end(method, step):
        one = pulsed(command=0.3, every=8.0)
        return final(ph.integrate(one, method, step=step, t_end=16.0, **START))[3:6]

    exact = end("mkrk:cv8", 0.1)
    errors = [np.abs(end(method, step) - exact).max() for step in (1.0, 0.25)]
    assert errors[1] > 1e-14 and np.log2(errors[0] / errors[1]) > 2 * (order - 0.3)


def test_what_valves_can_do():
    """Pulses are whole multiples of the resolution, and none is shorter than the shortest."""
    ds = ph.integrate(pulsed(min_on_time=0.15, resolution=0.1, command=(0.07, 0.08, 0.63)), "v2", step=1.0, t_end=2.0,
                      **START)  # fmt: skip
    assert_allclose(ds.thruster_fired.values[-1], (0.0, 0.2, 1.3), rtol=1e-12)
    assert ds.thruster_open.values[1].tolist() == [0.0, 0.0, 1.0]
    late = ph.integrate(pulsed(phase=0.5), "v2", step=0.25, t_end=2.0, **START)
    assert_allclose(late.thruster_fired.values[-1], (0.7, 1.2, 1.5), rtol=1e-12)


def hold(t, position, velocity, q, omega, parameters, states):
    """Shares of the pairs about each axis by a PD law with a dead band."""
    shares = np.zeros(6)
    for k in range(3):
        wanted = -0.08 * np.sign(q[0]) * q[k + 1] - 0.5 * omega[k]
        if np.abs(q[k + 1]) > 0.01 or np.abs(omega[k]) > 2e-3:
            shares[2 * k] = max(wanted, 0.0) / 0.1
            shares[2 * k + 1] = max(-wanted, 0.0) / 0.1
    return shares


def test_a_controller_commands_pulses():
    forces = [(0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0)]
    places = [(0, 0, -0.5), (0, 0, -0.5), (-0.5, 0, 0), (-0.5, 0, 0), (0, -0.5, 0), (0, -0.5, 0)]
    pairs = ph.systems.pulsed_thrusters(0.2, forces, 1.0, positions=places, min_on_time=0.02, resolution=0.01)
    craft = ph.spacecraft(**GIVEN, pulsed_thrusters=pairs, controllers=[ph.controller(hold, 1.0, "thruster_command")])
    start = START | {"angular_velocity": (0.02, -0.03, 0.01)}
    ds = ph.integrate(craft, "s4_6", step=0.5, t_end=400.0, **start)
    assert np.abs(ds.attitude.values[-1, 1:]).max() < 0.03 and np.abs(ds.angular_velocity.values[-1]).max() < 5e-3
    fired = ds.thruster_fired.values
    assert (np.diff(fired, axis=0) >= 0.0).all() and 1.0 < fired[-1].sum() < 200.0
    assert float(abs(ds.energy_error).max()) < 1e-12
    again = ph.integrate(craft, "s4_6", step=0.5, t_end=200.0, **start)
    on = ph.integrate(craft, "s4_6", start=again, step=0.5, t_end=400.0)
    assert_allclose(final(on), final(ds), rtol=0, atol=1e-12)


def test_a_scenario_has_them(tmp_path):
    (tmp_path / "jets.toml").write_text("""
method = "s6_10"
[system]
type = "spacecraft"
inertia = [4, 5, 6]
mu = 3.986004418e14
mass = 50
[system.pulsed_thrusters]
force_N = 0.5
directions = [[1, 0, 0], [-1, 0, 0]]
positions_m = [[0, 0.5, 0], [0, 0.5, 0]]
every_s = 1.0
min_on_time_s = 0.02
command = [0.5, 0.01]
[initial]
position = [7e6, 0, 0]
velocity = [0, 5300, 5300]
[run]
step = 1.0
t_end = 10.0
""")
    ds = ph.runs.read_scenario(tmp_path / "jets.toml").integrate()
    assert_allclose(ds.thruster_fired[-1], (5.0, 0.0), rtol=1e-12)
    assert ds.thruster_fired.attrs["units"] == "s" and ds.thruster_command.attrs["units"] == "1"
    ph.save(ds, tmp_path / "jets.nc")
    assert (ph.rerun(ph.load(tmp_path / "jets.nc")).attitude.values == ds.attitude.values).all()


ONE = {"force": 0.5, "directions": [(1, 0, 0)], "every": 1.0}


@each(("given", "told"), [
    ({"force": 0.0}, "force is 0; give a positive number"),
    ({"force": [0.1, 0.2]}, "force must be one number or one for each of 1 thrusters"),
    ({"every": 0.0}, "every is 0"),
    ({"min_on_time": 1.5}, "min_on_time is 1.5; give 0, or a time up to the period, 1"),
    ({"resolution": -0.1}, "resolution is -0.1; give 0, or a time up to the period"),
    ({"command": 1.2}, "the command of thruster 0 is 1.2 at the start; it is a share"),
    ({"positions": [(0, 0, 0), (1, 0, 0)]}, "positions must be one row of 3 numbers for each of 1 thrusters"),
    ({"directions": [(0, 0, 0)]}, r"directions\[0\]"),
])  # fmt: skip
def test_what_is_wrong_is_said(given, told):
    with pytest.raises(InvalidInput, match=told):
        ph.spacecraft(**GIVEN, pulsed_thrusters=ONE | given)


def test_other_things_are_no_thrusters():
    with pytest.raises(InvalidInput, match=r"must be made by polhode.systems.pulsed_thrusters"):
        ph.spacecraft(**GIVEN, pulsed_thrusters=[ONE])
    with pytest.raises(InvalidInput, match="pulsed_thrusters are those of one spacecraft, but there are 2"):
        ph.spacecraft([(4, 5, 6)] * 2, MU, [1.0, 2.0], pulsed_thrusters=ONE)


# ------------------------------------------------------------------ in a sum
JETS = {"force": 0.5, "directions": [(1, 0, 0), (-1, 0, 0)], "every": 1.0, "positions": [(0, 0.5, 0)] * 2,
        "min_on_time": 0.02, "resolution": 0.01}  # fmt: skip
MOMENTS, EARTH = (90.0, 70.0, 60.0), ph.planets.EARTH.mu
LOW = {"position": (7e6, 0, 0), "velocity": (0, 7.5e3, 0), "angular_velocity": (0.01, 0.0, 0.05)}
LATER = {"position": (7.1e6, 0, 0), "velocity": (0, 7.4e3, 0), "angular_velocity": (0.0, 0.02, -0.03)}


def damped(bus, gain):
    w = gain * bus.angular_velocity[2]
    return {"thruster_command": np.array([np.maximum(0.0, w), np.maximum(0.0, -w)])}


def damped_too(bus, gain):
    return {"jets": damped(bus, gain)["thruster_command"]}


def craft():
    steering = ph.controller(damped, every=1.0, parameters={"gain": 20.0})
    return ph.system(ph.body("bus", 100.0, MOMENTS), ph.loads.central(EARTH), ph.loads.gravity_gradient(),
                     ph.loads.pulsed_thrusters(**JETS), steering)  # fmt: skip


def test_a_sum_has_the_thrusters_of_a_spacecraft():
    def command(t, position, velocity, q, omega, parameters, states):
        w = parameters[0] * omega[2]
        return np.array([max(0.0, w), max(0.0, -w)])

    steered = ph.controller(command, every=1.0, sets="thruster_command")
    built = ph.spacecraft(MOMENTS, EARTH, 100.0, pulsed_thrusters=JETS, controllers=[steered], parameters=[20.0])
    run = {"step": 0.1, "t_end": 60.0}
    a, b = (ph.integrate(one, "s6_10", **run, **LOW) for one in (built, craft()))
    fired = b.thruster_fired[-1].values
    assert fired[0] > 10.0 and np.array_equal(fired, a.thruster_fired[-1])
    np.testing.assert_allclose(b.position, a.position, rtol=1e-15)
    np.testing.assert_allclose(b.angular_velocity, a.angular_velocity, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ph.rerun(b, damped=damped).position, b.position)


def test_each_of_two_bodies_fires_its_own():
    of_other = {"thruster_command": "jets", "thruster_open": "valves", "thruster_closes": "closing",
                "thruster_fired": "fired"}  # fmt: skip
    pair = ph.system(
        ph.body("a", 100.0, MOMENTS), ph.body("b", 100.0, MOMENTS),
        ph.loads.central(EARTH), ph.loads.gravity_gradient(),
        ph.loads.pulsed_thrusters(**JETS).on("a"),
        ph.loads.pulsed_thrusters(**JETS).named("others").renamed(**of_other).on("b"),
        ph.controller(damped, every=1.0, parameters={"gain": 20.0}).on("a"),
        ph.controller(damped_too, every=1.0, parameters={"gain": 20.0}).on("b"),
    )  # fmt: skip
    run = {"step": 0.1, "t_end": 60.0}
    ds = ph.integrate(pair, "s6_10", **run, start={"a": LOW, "b": LATER})
    for name, fired, start in (("a", "thruster_fired", LOW), ("b", "fired", LATER)):
        alone = ph.integrate(craft(), "s6_10", **run, **start)
        # Steps are cut where the other's valves close, too, which changes the error of the method.
        np.testing.assert_allclose(ds.position.sel(body=name), alone.position, rtol=0, atol=1e-4)
        np.testing.assert_allclose(ds.angular_velocity.sel(body=name), alone.angular_velocity, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ds[fired][-1], alone.thruster_fired[-1], rtol=0, atol=1e-12)
        assert ds[fired][-1].max() > 5.0
    assert np.abs(ds.energy_error).max() < 1e-13
