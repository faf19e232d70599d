"""Magnetic torquers: their torque against the same as a load, orders, limits, derivatives, and what is refused."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput

FIELD = ph.surroundings.magnetic_field("dipole", epoch=2026.0)
GIVEN = {"inertia": (0.04, 0.05, 0.02), "mu": ph.planets.EARTH.mu, "mass": 4.0, "parameters": [4e4]}
START = {"position": (6.9e6, 0.0, 0.0), "velocity": (0.0, -1e3, 7.53e3), "angular_velocity": (0.1, -0.12, 0.07)}
AXES = np.array(((1.0, 0.0, 0.2), (0.0, 1.0, 0.0), (0.1, 0.0, 1.0)))
UNIT = AXES / np.linalg.norm(AXES, axis=1, keepdims=True)


def bdot(t, position, velocity, q, omega, parameters, states):
    return parameters[0] * np.cross(omega, ph.rotation.rotate_inverse(q, FIELD.at(t, position)))


def by_torquers(every=2.0, **more):
    return ph.spacecraft(**GIVEN, magnetic_field=FIELD, torquers=ph.systems.magnetic_torquers(AXES, 0.1),
                         controllers=[ph.controller(bdot, every, "dipole_command")], **more)  # fmt: skip


def pull(t, position, velocity, q, omega, parameters, states):
    held = np.minimum(np.maximum(states.m, -0.1), 0.1)
    moment = held[0] * UNIT[0] + held[1] * UNIT[1] + held[2] * UNIT[2]
    return np.zeros(3), np.cross(moment, ph.rotation.rotate_inverse(q, FIELD.at(t, position)))


@each("method", ["s6_10", "rkn6_14a/kepler", "mkrk:cv8"])
def test_the_torque_is_that_of_a_load_of_ones_own(method):
    other = ph.spacecraft(**GIVEN, load=pull, states={"m": 3}, controllers=[ph.controller(bdot, 2.0, "m")])
    run = START | {"step": 1.0, "t_end": 60.0}
    a, b = ph.integrate(by_torquers(), method, **run), ph.integrate(other, method, **run)
    np.testing.assert_allclose(a.angular_velocity, b.angular_velocity, rtol=0, atol=2e-14)
    np.testing.assert_allclose(a.dipole_command, b.m, rtol=1e-9)
    assert abs(a.dipole_command).max() > 0.1 and float(abs(a.energy_error).max()) < 1e-13


def test_the_field_in_a_function_is_that_of_the_record():
    ds = ph.integrate(by_torquers(every=5.0), "s4_6", **START, step=1.0, t_end=20.0)
    at, held = ds.isel(time=10), ds.dipole_command[11].values
    B = ph.rotation.rotate_inverse(at.attitude.values, FIELD.at(10.0, at.position.values))
    np.testing.assert_allclose(held, 4e4 * np.cross(at.angular_velocity, B), rtol=1e-12)


@pytest.fixture(scope="module")
def slowed():
    """Angular velocity after 80 s, sampled every 20 s."""
    return ph.integrate(by_torquers(20.0), "mkrk:cv8", **START, step=0.25, t_end=80.0).angular_velocity[-1].values


@each(("method", "order"), [("v2", 2), ("s4_6", 4), ("rkn6_14a", 6)])
def test_methods_keep_their_order(method, order, slowed):
    def end(step):
        ds = ph.integrate(by_torquers(every=20.0), method, **START, step=step, t_end=80.0)
        return ds.angular_velocity[-1].values

    coarse = {2: 2.5, 4: 5.0, 6: 10.0}[order]
    errors = [np.abs(end(step) - slowed).max() for step in (coarse, coarse / 2)]
    assert errors[1] > 1e-14 and np.log2(errors[0] / errors[1]) > order - 0.4


def unload(t, position, velocity, q, omega, parameters, states):
    B = ph.rotation.rotate_inverse(q, FIELD.at(t, position))
    return 5e-3 * np.cross(states.wheel_momentum, B) / (B @ B)


def keep(t, position, velocity, q, omega, parameters, states):
    return 3e-3 * np.array((q[1], q[2], q[3])) * np.sign(q[0]) + 8e-3 * omega


def test_wheels_are_unloaded_while_they_keep_the_attitude():
    craft = ph.spacecraft(
        **GIVEN, wheels=ph.reaction_wheels(np.eye(3), 2e-5, speed=(200.0, -150.0, 250.0), max_torque=2e-3),
        magnetic_field=FIELD, torquers=ph.systems.magnetic_torquers(np.eye(3), 0.2), gravity_gradient=False,
        controllers=[ph.controller(keep, 1.0, "wheel_command"), ph.controller(unload, 10.0, "dipole_command")],
    )  # fmt: skip
    start = START | {"angular_velocity": (0.0, 0.0, 0.0)}
    ds = ph.integrate(craft, **start, step=1.0, t_end=12000.0, every=100)
    momentum = np.linalg.norm(ds.wheel_momentum, axis=1)
    assert momentum[-1] < 0.1 * momentum[0]
    assert 2 * np.linalg.norm(ds.attitude[:, 1:], axis=1).max() < 2e-2
    assert ds.work.force.values.tolist() == ["wheels", "torquers"] and float(abs(ds.energy_error).max()) < 1e-12


@pytest.mark.full
def test_derivatives_of_the_closed_loop():
    craft, method = by_torquers(every=5.0), "mkrk:cv8"

    def end(rate):
        return ph.integrate(craft, method, **START | {"angular_velocity": rate}, step=1.0, t_end=30.0)

    ds = ph.integrate(craft, method, **START, step=1.0, t_end=30.0, tangent=True)
    moments, w = np.array(GIVEN["inertia"]), np.array(START["angular_velocity"])
    for k in range(3):
        e = 1e-6 * np.eye(3)[k]
        slope = (end(w + e).angular_momentum[-1] - end(w - e).angular_momentum[-1]).values / 2e-6
        np.testing.assert_allclose(ds.state_transition[-1].values[9:12, 9 + k] * moments[k], slope, rtol=0, atol=2e-9)


def test_a_scenario_has_them(tmp_path):
    (tmp_path / "coils.toml").write_text("""
method = "s6_10"
[system]
type = "spacecraft"
inertia = [0.04, 0.05, 0.02]
mu = 3.986004418e14
mass = 4.0
magnetic_field = { kind = "dipole" }
torquers = { axes = [[1, 0, 0], [0, 1, 0]], max_dipole_A_m2 = 0.2, command = [0.1, -0.05] }
[initial]
position = [6.9e6, 0, 0]
velocity = [0, -1e3, 7.53e3]
[run]
step = 1.0
t_end = 50.0
""")
    ds = ph.runs.read_scenario(tmp_path / "coils.toml").integrate()
    assert (ds.dipole_command[-1].values == (0.1, -0.05)).all() and ds.dipole_command.attrs["units"] == "A m2"
    assert float(abs(ds.angular_velocity[-1]).max()) > 0.0
    ph.save(ds, tmp_path / "coils.nc")
    assert (ph.rerun(ph.load(tmp_path / "coils.nc")).attitude.values == ds.attitude.values).all()


@each(("given", "told"), [
    ({"torquers": {"axes": [(1, 0, 0)], "max_dipole": -1.0}}, "max_dipole is -1; give a positive number"),
    ({"torquers": {"axes": [(0, 0, 0)]}}, r"axes\[0\]"),
    ({"torquers": {"axes": [(1, 0, 0)], "max_dipole": 0.1, "command": 0.2}}, "torquer 0 is saturated from the start"),
    ({"torquers": {"axes": [(1, 0, 0)], "command": [0.1, 0.2]}}, "command must be one number or one for each of 1"),
    ({"torquers": [1.0]}, "torquers must be made by polhode.systems.magnetic_torquers"),
    ({"torquers": {"axes": [(1, 0, 0)]}, "magnetic_field": None}, "torquers are given, but there is no magnetic_field"),
    ({"torquers": {"axes": [(1, 0, 0)]}, "mass": [1.0, 2.0], "inertia": [GIVEN["inertia"]] * 2}, "of one spacecraft"),
])  # fmt: skip
def test_what_is_wrong_is_said(given, told):
    words = {name: GIVEN[name] for name in ("inertia", "mu", "mass")} | {"magnetic_field": FIELD} | given
    with pytest.raises(InvalidInput, match=told):
        ph.spacecraft(**words)
