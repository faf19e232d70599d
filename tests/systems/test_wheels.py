"""Reaction wheels: motion against SciPy, orders, the momentum of the whole, saturation, what is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen
from each import each
from polhode.checks.loads import loads_at
from polhode.errors import InvalidInput

INERTIA = np.array([[10.0, 0.3, -0.2], [0.3, 14.0, 0.1], [-0.2, 0.1, 18.0]])
AXES = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0], [1.0, 1.0, 1.0]])
UNITS = AXES / np.linalg.norm(AXES, axis=1)[:, None]
MOMENTS = np.array([0.05, 0.06, 0.07, 0.05])
SPEEDS = np.array([100.0, -50.0, 80.0, 30.0])
COMMANDS = np.array([0.02, -0.01, 0.03, 0.0])
VISCOUS, COULOMB = 1e-4, 2e-3
Q, OMEGA = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), np.array([0.05, -0.1, 0.2])
START = {"attitude": Q, "angular_velocity": OMEGA}
MU = 3.986004418e14
ORBIT = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5300.0, 5300.0), **START}


def wheels(**words):
    given = {"speed": SPEEDS, "command": COMMANDS, "viscous": VISCOUS, "coulomb": COULOMB, "coulomb_speed": 20.0}
    return ph.reaction_wheels(AXES, MOMENTS, **given | words)


def by_scipy(t, damping=0.0, gain=None):
    """Attitude, angular velocity and momenta of the wheels after t, from the equations in another form."""
    J = INERTIA - np.einsum("k,ki,kj->ij", MOMENTS, UNITS, UNITS)

    def rates(_, z):
        q, w, h = z[:4], z[4:7], z[7:]
        speed = h / MOMENTS - UNITS @ w
        u = COMMANDS if gain is None else np.clip(gain * (10.0 * COMMANDS - speed), -0.5, 0.5)
        u = u - VISCOUS * speed - COULOMB * np.tanh(speed / 20.0)
        dw = np.linalg.solve(J, np.cross(J @ w + h @ UNITS, w) - u @ UNITS - damping * w)
        return np.concatenate([0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]), dw, u])

    begin = np.concatenate([Q, OMEGA, MOMENTS * (SPEEDS + UNITS @ OMEGA)])
    return solve_ivp(rates, (0.0, t), begin, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


def final(ds):
    return np.concatenate([x.values[-1] for x in (ds.attitude, ds.angular_velocity, ds.wheel_momentum)])


ORDERS = {"v2": 2, "s4_6": 4, "v2/mr": 2, "s6_10/mr6": 6, "mkrk:rk4": 4, "mkrk:cv8": 8, "kl8/mr8": 8}


@each("method", chosen(ORDERS, [one for one in ORDERS if one not in ("s6_10/mr6", "kl8/mr8")]))
def test_methods_keep_their_order(method):
    body, reference = ph.rigid_body(INERTIA, wheels=wheels()), by_scipy(20.0)
    errors = []
    for n in (100, 200):
        errors.append(np.abs(final(ph.integrate(body, method, step=20.0 / n, steps=n, **START)) - reference).max())
    assert errors[1] < 2e-12 or np.log2(errors[0] / errors[1]) > ORDERS[method] - 0.3
    assert errors[1] < 1e-3


@each("method", ["v2", "s6_10", "rkn6_14a", "v2/kepler"])
def test_splittings_keep_the_momentum_of_the_whole(method):
    """Beside an energy that changes by the work of the motors alone; whatever the motors do."""
    body = ph.rigid_body(INERTIA, wheels=wheels())
    words = START
    if method == "v2/kepler":
        body, words = ph.spacecraft(INERTIA, MU, 100.0, gravity_gradient=False, wheels=wheels()), ORBIT
    ds = ph.integrate(body, method, step=0.1, steps=2000, settings={"compensated": True}, **words)
    spin = ds.spin.values
    assert np.abs(spin - spin[0]).max() < 2e-15 * np.linalg.norm(spin[0])
    whole = ds.angular_momentum.values + ds.wheel_momentum.values @ UNITS
    assert_allclose(np.linalg.norm(whole, axis=1), np.linalg.norm(spin[0]), rtol=1e-14)
    if method != "v2/kepler":
        assert "spin" in ds.attrs["conserves"]
        assert np.abs(ds.energy_error.values).max() < 1e-13


def test_a_torque_of_the_users_reads_the_wheels():
    """Damping of the body, and a torque that depends on the wheels' momenta, with and without states of one's own."""
    damped = ph.rigid_body(INERTIA, torque=lambda t, q, w, p: (-0.5 * w[0], -0.5 * w[1], -0.5 * w[2]), wheels=wheels())
    ds = ph.integrate(damped, "s6_10", step=0.1, steps=100, **START)
    assert_allclose(final(ds), by_scipy(10.0, damping=0.5), rtol=0, atol=1e-11)
    assert list(ds.force.values) == ["wheels", "torque"] and np.abs(ds.energy_error.values).max() < 1e-12

    def unloading(t, q, w, p, states):
        h = states.wheel_momentum
        return (-0.1 * h[0], -0.1 * h[1], -0.1 * h[2])

    def with_heat(t, q, w, p, states):
        return unloading(t, q, w, p, states), states.wheel_momentum[3] ** 2

    runs = [
        ph.integrate(ph.rigid_body(INERTIA, torque=torque, wheels=wheels(), **more), "s6_10", step=0.1, steps=50,
                     **START)
        for torque, more in ((unloading, {}), (with_heat, {"states": {"heat": 1}}))
    ]  # fmt: skip
    assert_allclose(final(runs[0]), final(runs[1]), rtol=0, atol=1e-13)
    assert runs[1].heat.values[-1] == pytest.approx(
        np.trapezoid(runs[0].wheel_momentum.values[:, 3] ** 2, dx=0.1), 1e-4
    )


def test_motors_that_keep_a_speed():
    words = {"mode": "speed", "gain": 0.02, "command": 10.0 * COMMANDS, "max_torque": 0.5}
    ds = ph.integrate(ph.rigid_body(INERTIA, wheels=wheels(**words)), "s6_10", step=0.02, steps=500, **START)
    assert_allclose(final(ds), by_scipy(10.0, gain=0.02), rtol=0, atol=2e-5)  # torques have kinks where they are cut
    late = ph.integrate(
        ph.rigid_body(INERTIA, wheels=wheels(**words)), "v2", step=0.1, t_end=600.0, every=6000, **START
    )
    speed = late.wheel_momentum.values[-1] / MOMENTS - UNITS @ late.angular_velocity.values[-1]
    assert_allclose(speed, 10.0 * COMMANDS, rtol=0, atol=0.2)


def test_a_slew_from_rest_to_rest_is_not_judged_by_the_energy_that_is_left(recwarn):
    """Motors give and take it back: neither start nor rows have any."""

    def point(t, position, velocity, q, omega, p, states):
        return 0.005 * np.sign(q[0]) * np.array([q[1], q[2], q[3]]) + 0.02 * np.array(omega)

    body = ph.rigid_body((0.06, 0.05, 0.03), wheels=ph.reaction_wheels(np.eye(3), 2e-5, max_torque=2e-3), controllers=[
        ph.controller(point, every=0.25, sets="wheel_command")])  # fmt: skip
    ds = ph.integrate(body, "v2", step=0.25, steps=4000, every=2000, attitude=(0.8, 0.36, -0.48, 0.0))
    assert np.linalg.norm(ds.attitude.values[-1, 1:]) < 1e-12 and not np.abs(ds.spin.values).any()
    assert not [one for one in recwarn if "energy" in str(one.message)]


# ------------------------------------------------------------------ saturation
def one_wheel(**words):
    return ph.rigid_body([3.0, 3.0, 4.0], wheels=ph.reaction_wheels([[0, 0, 1]], 0.5, **words))


@each(("method", "steps"), [("v2", 10), ("mkrk:cv8", 10), ("mkrk:dp8", ph.Tolerance(1e-9))])
def test_a_saturated_wheel_takes_no_more(method, steps):
    """About a fixed axis: h = h0 + u t, until it is largest; the body turns with what is left."""
    body = one_wheel(speed=1.0, command=0.3, max_momentum=2.0)
    words = {"step": 1.0} if steps == 10 else {"steps": steps}
    ds = ph.integrate(body, method, t_end=10.0, t_eval=np.linspace(0, 10, 11), angular_velocity=[0, 0, 0.2],
                      attitude=(1, 0, 0, 0), **words)  # fmt: skip
    h0 = 0.5 * 1.2
    expected = np.minimum(h0 + 0.3 * np.arange(11.0), 2.0)
    assert_allclose(ds.wheel_momentum.values[:, 0], expected, rtol=0, atol=1e-12)
    assert_allclose(ds.angular_velocity.values[:, 2], (3.5 * 0.2 + h0 - expected) / 3.5, rtol=0, atol=1e-12)
    assert list(ds.event_kind.values) == ["wheel_saturated"]
    assert ds.event_time.values[0] == pytest.approx(1.4 / 0.3, abs=1e-11)


def test_a_saturated_wheel_brakes():
    """A motor that keeps a speed pulls the wheel into the limit, and out of it when the body turns the other way."""
    torque = lambda t, q, w, p: (0.0, 0.0, 0.8 * np.sin(0.3 * t))  # noqa: E731
    body = ph.rigid_body([3.0, 3.0, 4.0], torque=torque, wheels=ph.reaction_wheels(
        [[0, 0, 1]], 0.5, mode="speed", gain=2.0, command=4.0, max_momentum=2.2))  # fmt: skip
    ds = ph.integrate(body, "s4_6", step=0.05, t_end=40.0, angular_velocity=[0, 0, 0.0], attitude=(1, 0, 0, 0))
    kinds = list(ds.event_kind.values)
    assert kinds[:2] == ["wheel_saturated", "wheel_released"] and len(kinds) > 3
    assert all(a != b for a, b in pairwise(kinds))
    assert np.abs(ds.wheel_momentum.values).max() <= 2.2 * (1.0 + 1e-12)
    assert np.abs(ds.energy_error.values).max() < 1e-5


def test_derivatives_over_saturation():
    def final_of(rate):
        spins = {"speed": [1.0 - rate], "command": 0.3, "max_momentum": 2.0}  # the same momentum of the wheel
        return ph.integrate(one_wheel(**spins), "mkrk:rk4", step=0.1, steps=80, angular_velocity=[0.1, 0.3, 0.2 + rate],
                            attitude=Q)  # fmt: skip

    ds = ph.integrate(one_wheel(speed=1.0, command=0.3, max_momentum=2.0), "mkrk:rk4", step=0.1, steps=80,
                      angular_velocity=[0.1, 0.3, 0.2], attitude=Q, tangent=True)  # fmt: skip
    found = 3.5 * ds.state_transition.sel(column="angular_momentum_z").values[-1, 3:7]
    weights, size = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)), 1e-3
    read = [
        np.concatenate([run.angular_momentum.values[-1], run.wheel_momentum.values[-1]])
        for k, _ in weights for run in (final_of(k * size), final_of(-k * size))
    ]  # fmt: skip
    expected = sum(w / size * (read[2 * n] - read[2 * n + 1]) for n, (_, w) in enumerate(weights))
    assert list(ds.row.values[-2:]) == ["wheel_momentum.0", "wheel_command.0"]
    assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


# ------------------------------------------------------------------ gravity gradient, files
def test_the_gravity_gradient_is_that_of_the_whole():
    """Wheels that do not turn in space: force and torque of the locked body, whatever part is theirs."""
    y = np.array([7e6, 2e6, -1e6, 0.0, 1e3, 2e3, *Q, *np.zeros(3)])
    with_wheels = ph.spacecraft(INERTIA, MU, 50.0, wheels=ph.reaction_wheels(AXES, 10.0 * MOMENTS))
    without = ph.spacecraft(INERTIA, MU, 50.0)
    seen = []
    for system in (with_wheels, without):
        state = y.copy()  # the same attitude of the user's axes
        frame = system.frames[0]
        state[6:10] = ph.rotation.multiply(Q, frame)
        values = loads_at(system, np.concatenate([state, np.zeros(len(system.auxiliary))]), 0.0)
        torque = ph.rotation.rotate(frame, values[3:6])
        centre = -MU * 50.0 * y[:3] / np.linalg.norm(y[:3]) ** 3
        seen.append((values[:3] - centre, torque, system.potential))
    assert_allclose(seen[0][1], seen[1][1], rtol=0, atol=1e-15 * np.abs(seen[1][1]).max() * 20)
    assert_allclose(seen[0][0], seen[1][0], rtol=0, atol=3e-13)


def test_spacecraft_with_wheels_are_repeated_from_files(tmp_path):
    system = ph.spacecraft(INERTIA, MU, 50.0, wheels=wheels(max_momentum=6.0), forces=[
        ph.forces.zonal(J2=1.08e-3, radius=6378137.0)])  # fmt: skip
    ds = ph.integrate(system, "rkn6_14a/kepler", step=1.0, steps=40, every=10, **ORBIT)
    assert "wheel_saturated" in ds.event_kind.values
    ph.save(ds, tmp_path / "run.nc")
    again = ph.rerun(ph.load(tmp_path / "run.nc"))
    assert_array_equal(again.wheel_momentum.values, ds.wheel_momentum.values)
    assert np.abs(ds.energy_error.values).max() < 1e-13
    assert ds.wheel_momentum.dims == ("time", "wheel") and ds.wheel_momentum.attrs["long_name"]


def test_members_start_with_the_speeds_of_their_wheels():
    body = ph.rigid_body(INERTIA, wheels=wheels())
    rates = np.array([[0.05, -0.1, 0.2], [0.3, 0.1, -0.2]])
    found = ph.ensemble(body, "s4_6", members={"angular_velocity": rates}, attitude=Q, step=0.1, steps=20)
    for k, rate in enumerate(rates):
        one = ph.integrate(body, "s4_6", step=0.1, steps=20, attitude=Q, angular_velocity=rate)
        assert_array_equal(found.wheel_momentum.values[k], one.wheel_momentum.values)
        assert_allclose(found.spin.values[k], one.spin.values, rtol=1e-14)


# ------------------------------------------------------------------ what is refused
REFUSED = {
    "wheel 0 is saturated from the start": lambda: wheels(max_momentum=4.0),
    "axes must be one or more rows of 3 numbers": lambda: ph.reaction_wheels([1.0, 2.0], 0.1),
    r"axes\[0\] is zero": lambda: ph.reaction_wheels([[0, 0, 0]], 0.1),
    "inertia is -0.1; give a positive number": lambda: ph.reaction_wheels([[0, 0, 1]], -0.1),
    "speed must be one number or one for each of 4 wheels": lambda: wheels(speed=[1.0, 2.0]),
    "max_torque is 0; give a positive number": lambda: wheels(max_torque=0.0),
    "viscous is -1; give 0 or more": lambda: wheels(viscous=-1.0),
    "gain is missing": lambda: wheels(mode="speed"),
    "gain is that of motors that keep a speed": lambda: wheels(gain=1.0),
    "'power'": lambda: wheels(mode="power"),
    "has the moment -": lambda: ph.rigid_body([1.0, 1.0, 1.0], wheels=ph.reaction_wheels([[0, 0, 1]], 2.0)),
    "wheels must be made by polhode.reaction_wheels": lambda: ph.rigid_body(INERTIA, wheels=3),
    "wheels are those of one spacecraft": lambda: ph.spacecraft([INERTIA, INERTIA], MU, [1.0, 1.0], wheels=wheels()),
}


@each("said", REFUSED)
def test_wrong_wheels_are_refused(said):
    with pytest.raises(InvalidInput, match=said):
        REFUSED[said]()


@each("method", ["trap", "imid"])
def test_methods_that_do_not_carry_them_say_so(method):
    with pytest.raises(InvalidInput, match="wheel_momentum and wheel_command"):
        ph.integrate(ph.rigid_body(INERTIA, wheels=wheels()), method, step=0.1, steps=2, **START)


def test_wheels_are_found_beside_thrusters():
    wheels = {"axes": [(0.0, 0.0, 1.0)], "inertia": 1e-4, "speed": 10.0}
    craft = ph.spacecraft((0.06, 0.05, 0.03), 3.986004415e14, 4.0, wheels=wheels,
                          thrusters=[ph.systems.thruster(1e-3, direction=(1, 0, 0), start=1.0, stop=2.0)])  # fmt: skip
    assert craft.parameters[craft.wheels_at] == 1.0


def test_imbalanced_wheels_shake_the_body():
    """Against SciPy, and against the closed form of a wheel whose speed stays: the velocity of a free body swings."""
    b, x = 3e-5, np.array([0.1, -0.2, 0.3])
    axis, speed = np.array([0.0, 0.0, 1.0]), 60.0
    one = ph.reaction_wheels([axis], 0.01, speed=speed, imbalance=b, positions=[x])
    body = ph.rigid_body(INERTIA, mass=20.0, wheels=one)
    ds = ph.integrate(body, "s6_10", step=0.002, t_end=0.5)
    t = ds.time.values
    angle = ds.wheel_angle.values[:, 0]
    assert_allclose(angle, speed * t, rtol=0, atol=1e-3)
    swing = b * speed / 20.0 * np.column_stack([np.sin(speed * t), 1.0 - np.cos(speed * t), 0.0 * t])
    assert_allclose(ds.velocity.values, swing, rtol=0, atol=2e-4 * b * speed)
    assert np.abs(ds.energy_error.values).max() < 1e-15 and np.abs(ds.angular_velocity.values[:, 0]).max() > 1e-6

    J = INERTIA - 0.01 * np.outer(axis, axis)

    def rates(_, z):
        q, w, h, turned = z[:4], z[4:7], z[7], z[8]
        s = h / 0.01 - axis @ w
        f = b * s * s * np.array([np.cos(turned), np.sin(turned), 0.0])
        dw = np.linalg.solve(J, np.cross(J @ w + h * axis, w) + np.cross(x, f))
        return np.concatenate([0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]), dw, [0.0, s]])

    begin = [1.0, 0, 0, 0, 0, 0, 0, 0.01 * speed, 0.0]
    end = solve_ivp(rates, (0.0, 0.5), begin, method="DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
    assert_allclose(ds.angular_velocity.values[-1], end[4:7], rtol=0, atol=1e-12)
    assert_allclose(angle[-1], end[8], rtol=1e-12)


def test_positions_need_an_imbalance():
    with pytest.raises(InvalidInput, match="positions are where imbalanced wheels shake the body"):
        ph.reaction_wheels(AXES, MOMENTS, positions=np.zeros((4, 3)))
    with pytest.raises(InvalidInput, match="positions must be one row of 3 numbers for each of 4 wheels"):
        ph.reaction_wheels(AXES, MOMENTS, imbalance=1e-6, positions=[(0, 0, 0)])
    with pytest.raises(InvalidInput, match="imbalance is -1; give 0 or more"):
        ph.reaction_wheels(AXES, MOMENTS, imbalance=-1.0)


@each("method", ["v2", pytest.param("s6_10", marks=pytest.mark.full), "mkrk:cv8"])
def test_sums_are_compensated_unless_refused(method):
    """Motors that add the same little momentum in every step, which plain sums round the same way each time."""
    wheels = ph.reaction_wheels(
        [[1, 0, 0], [0, 1, 0], [0.6, 0, 0.8]], 0.01, speed=(50, -30, 20), command=(1e-5, -2e-5, 1e-5)
    )
    body, run = ph.rigid_body((1.0, 2.0, 3.0), wheels=wheels), {"step": 0.02, "every": 500}
    begin, kept, ends = {"angular_velocity": (0.1, 0.2, -0.3)}, {}, {}
    for compensated in (True, False)[: 1 if method == "v2" else 2]:  # plain sums of splittings: 50 times worse
        ds = ph.integrate(body, method, steps=20000, settings=None if compensated else {"compensated": False}, **run,
                          **begin)  # fmt: skip
        spin = ds.spin.values
        kept[compensated] = np.abs(spin - spin[0]).max() / np.linalg.norm(spin[0])
        assert ("attitude_compensation" in ds) == compensated
        ends[compensated] = ds.attitude[-1]
    if method != "mkrk:cv8":  # which keeps the momentum to its order
        assert kept[True] < 3e-15 and (method == "v2" or kept[True] < 0.1 * kept[False])
    half = ph.integrate(body, method, steps=10000, **run, **begin)
    again = ph.integrate(body, method, steps=10000, start=half, **run)
    np.testing.assert_allclose(again.attitude[-1], ends[True], rtol=0, atol=1.2e-14)


def test_the_free_gyrostat_has_no_drift_of_the_energy():
    """A length that is rounded the same way in each step made 2e-20 a step, which adds up."""
    wheels = ph.reaction_wheels([[1.0, 0, 0.3], [0, 1.0, 0.2]], 0.05, speed=(100.0, -50.0))
    body = ph.rigid_body([[10.0, 0.3, -0.2], [0.3, 14.0, 0.1], [-0.2, 0.1, 18.0]], wheels=wheels)
    ds = ph.integrate(body, "exact", step=0.05, steps=300_000, every=3000, angular_velocity=(0.05, -0.1, 0.2))
    spin = ds.spin.values
    assert float(abs(ds.energy_error).max()) < 3e-15
    assert np.abs(spin - spin[0]).max() < 2e-15 * np.linalg.norm(spin[0])


def test_methods_without_compensated_sums_go_on_as_before():
    body = ph.rigid_body((1.0, 2.0, 3.0), wheels=ph.reaction_wheels([[1, 0, 0]], 0.01, speed=5.0))
    ds = ph.integrate(body, "v2/mr", step=0.1, steps=10, angular_velocity=(0.1, 0.2, -0.3))
    assert "attitude_compensation" not in ds


def test_the_energies_of_a_spacecraft_are_parts_of_its_energy():
    """A body a third as large as its orbit, so that the gradient on the wheels' own moments counts."""
    wheels = ph.reaction_wheels([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], [0.1, 0.2], speed=(3.0, -2.0))
    craft = ph.spacecraft([[1.0, 0.1, 0.05], [0.1, 1.5, 0.2], [0.05, 0.2, 1.2]], 2.0, 3.0, wheels=wheels)
    ds = ph.integrate(craft, "s4_6/kepler", step=0.01, t_end=1.0, every=20, position=(2.5, 0.3, 0.2),
                      velocity=(0.1, 0.8, 0.3), angular_velocity=(0.3, 0.2, -0.5))  # fmt: skip
    np.testing.assert_allclose(ds.energy, ds.attitude_energy + ds.orbital_energy, rtol=1e-13)
