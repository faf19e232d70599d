"""States of the user's own: their orders, records, continuation, derivatives, and what is refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import InvalidInput, UserFunctionError
from polhode.systems.states import TAKEN
from polhode.trajectory.schema import MEANING
from vectors import cross

MOMENTS = np.array((0.06, 0.05, 0.03))
TUMBLE = (0.3, -0.2, 0.5)


def slug(t, q, omega, parameters, states):
    """A viscous ring of fluid about each axis, which lags behind the body and drags it, and warms up."""
    lag = states.fluid - omega
    return parameters[0] * lag, -parameters[0] / parameters[1] * lag, parameters[0] * np.dot(lag, lag)


def tank(**given):
    return ph.rigid_body(
        MOMENTS, torque=slug, parameters=[2e-3, 1e-2],
        states={"fluid": {"size": 3, "unit": "rad/s"}, "heat": {"start": 1.5, "unit": "J"}}, **given,
    )  # fmt: skip


@pytest.fixture(scope="module")
def reference():
    """The body's rates, the fluid's, and the heat at t = 4, by Euler's equations in plain NumPy."""

    def rates(t, y):
        w, u = y[:3], y[3:6]
        lag = u - w
        return [*((2e-3 * lag - cross(w, MOMENTS * w)) / MOMENTS), *(-0.2 * lag), 2e-3 * lag @ lag]

    return solve_ivp(rates, (0, 4.0), [*TUMBLE, 0, 0, 0, 1.5], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]


def gone(method, steps):
    ds = ph.integrate(tank(), method, step=4.0 / steps, t_end=4.0, angular_velocity=TUMBLE)
    return np.concatenate([ds.angular_velocity[-1].values, ds["fluid"][-1].values, [float(ds.heat[-1])]])


@each(("method", "order", "steps"), [
    ("v2", 2, 20), ("s4_6", 4, 10), ("mkrk:rk4", 4, 20), ("mr6", 2, 10), ("s6_10", 6, 4), ("mkrk:cv8", 8, 4),
])  # fmt: skip
def test_methods_keep_their_order(reference, method, order, steps):
    errors = [np.abs(gone(method, n) - reference).max() for n in (steps, 2 * steps)]
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_a_tolerance_is_kept(reference):
    ds = ph.integrate(tank(), steps=ph.Tolerance(1e-10), t_end=4.0, angular_velocity=TUMBLE)
    assert np.abs(ds.angular_velocity[-1].values - reference[:3]).max() < 1e-8
    assert abs(float(ds.heat[-1]) - reference[6]) < 1e-8


def test_they_are_recorded_with_units_and_meaning():
    ds = ph.integrate(tank(), "s4_6", step=0.1, t_end=1.0, angular_velocity=TUMBLE)
    assert ds["fluid"].dims == ("time", "fluid_component") and ds.heat.dims == ("time",)
    assert ds["fluid"].attrs["units"] == "rad/s" and ds.heat.attrs["units"] == "J"
    assert "user" in ds.heat.attrs["long_name"] and float(ds.heat[0]) == 1.5


def test_energy_becomes_heat():
    """Energy of body and fluid, and the heat, in sum."""
    ds = ph.integrate(tank(), "s6_10", step=0.05, t_end=20.0, angular_velocity=TUMBLE)
    fluid = 0.5 * 1e-2 * (ds["fluid"] ** 2).sum("fluid_component")
    body = 0.5 * (MOMENTS * ds.angular_velocity**2).sum("axis")
    total = (fluid + body + ds.heat).values
    assert np.ptp(total) / total[0] < 1e-8


def test_a_run_goes_on_from_another_with_its_states(tmp_path):
    whole = ph.integrate(tank(), "s4_6", step=0.1, t_end=4.0, angular_velocity=TUMBLE)
    half = ph.integrate(tank(), "s4_6", step=0.1, t_end=2.0, angular_velocity=TUMBLE)
    rest = ph.integrate(tank(), "s4_6", step=0.1, steps=20, start=half)
    for name in ("attitude", "angular_momentum", "fluid", "heat"):
        assert (rest[name][-1].values == whole[name][-1].values).all(), name
    ph.save(whole, tmp_path / "whole.nc")
    again = ph.rerun(ph.load(tmp_path / "whole.nc"), torque=slug)
    assert (again["fluid"].values == whole["fluid"].values).all()


def test_a_start_with_other_sizes_is_refused():
    other = ph.rigid_body(MOMENTS, torque=lambda t, q, omega, parameters, states: (-states.fluid * omega, 0.0),
                          states={"fluid": 1})  # fmt: skip
    half = ph.integrate(other, "v2", step=0.1, t_end=1.0, angular_velocity=TUMBLE)
    with pytest.raises(InvalidInput, match=r"start has 1 numbers of 'fluid', but the system 3; give a trajectory of"):
        ph.integrate(tank(), "v2", step=0.1, t_end=1.0, start=half)


def test_members_have_states_of_their_own():
    drags = [1e-3, 2e-3, 4e-3]
    ds = ph.ensemble(tank(), "s4_6", members={"parameters.0": drags}, step=0.1, t_end=2.0, angular_velocity=TUMBLE)
    for k, drag in enumerate(drags):
        alone = ph.integrate(tank(), "s4_6", step=0.1, t_end=2.0, angular_velocity=TUMBLE, parameters=[drag, 1e-2])
        assert (ds.heat.isel(member=k).values == alone.heat.values).all()


def held_by_an_integral(t, q, omega, parameters, states):
    angle = 2 * np.array([q[1], q[2], q[3]])
    pull = np.array([1e-3, -2e-3, 5e-4])
    return pull - parameters[0] * angle - parameters[1] * omega - parameters[2] * states.integral, angle


@each("method", ["v2", "s6_10", "mr6"])
def test_they_hold_an_equilibrium_where_loads_cancel(method):
    """Where a state balances a torque, what is left of both is round-off, and kicks converge nonetheless."""
    body = ph.rigid_body(MOMENTS, torque=held_by_an_integral, parameters=[0.02, 0.06, 0.002], states={"integral": 3})
    ds = ph.integrate(body, method, step=0.25, t_end=500.0, angular_velocity=(0.1, -0.2, 0.1))
    assert np.abs(ds.angular_velocity[-1]).max() < 1e-15
    np.testing.assert_allclose(0.002 * ds.integral[-1], (1e-3, -2e-3, 5e-4), rtol=1e-10)


def test_orbits_and_particles_have_them():
    def sail(t, position, velocity, parameters, states):
        return -parameters[0] * states.charge * velocity, -parameters[1] * states.charge

    craft = ph.orbit(1.0, force=sail, parameters=[1e-2, 0.3], states={"charge": {"start": 2.0}})
    ds = ph.integrate(craft, "s6_10", step=0.05, t_end=3.0, position=(1, 0, 0), velocity=(0, 1, 0))
    np.testing.assert_allclose(ds.charge, 2.0 * np.exp(-0.3 * ds.time), rtol=1e-10)
    mass = ph.particle(force=sail, parameters=[1e-2, 0.3], states={"charge": {"start": 2.0}})
    ds = ph.integrate(mass, "s6_10", step=0.05, t_end=3.0, position=(0, 0, 0), velocity=(0, 1, 0))
    slowed = np.exp(-1e-2 * 2.0 * (1 - np.exp(-0.3 * ds.time)) / 0.3)
    np.testing.assert_allclose(ds.velocity[:, 1], slowed, rtol=1e-10)


def test_no_name_of_a_trajectory_is_free_for_states():
    assert set(MEANING) <= TAKEN


@each(("states", "told"), [
    ({"1st": 1}, "states has the name '1st'; take a word of letters"),
    ({"x": 0}, "states.x is 0; give how many numbers it has, 1 to 256"),
    ({"x": 300}, "states.x is 300; give how many"),
    ({"x": {"size": 2, "start": [0.0, 1.0]}}, "states.x needs size or start, and not both"),
    ({"x": {"length": 2}}, "states.x has the key 'length'; it may have size, start, unit; of noise"),
    ({"x": [1.0, np.nan]}, r"states.x is not finite: states.x\[1\] is nan"),
    ({"x": {"start": 1.0, "unit": 7}}, "states.x.unit must be text"),
    ([3], "states must be a mapping"),
    ({"energy": 1}, "states has the name 'energy', which something else in a trajectory has; take another one"),
])  # fmt: skip
def test_what_is_wrong_is_said(states, told):
    with pytest.raises(InvalidInput, match=told):
        ph.rigid_body(MOMENTS, torque=slug, states=states)


def test_a_function_with_the_wrong_rates_is_told():
    def short(t, q, omega, parameters, states):
        return -omega, -states.fluid[:2]

    body = ph.rigid_body(MOMENTS, torque=short, states={"fluid": 3})
    with pytest.raises(UserFunctionError, match="as the rate of fluid at t = 0; it must be 3 numbers"):
        ph.integrate(body, "v2", step=0.1, t_end=1.0, angular_velocity=TUMBLE)


def test_states_that_nothing_reads_are_refused():
    with pytest.raises(InvalidInput, match="states are read and changed by a torque or load, but none is given"):
        ph.rigid_body(MOMENTS, states={"x": 1})


# ------------------------------------------------------------------ noise
GYRO = {
    "white": {"size": 3, "noise": 1e-3, "every": 0.1, "seed": 5, "unit": "rad/s"},
    "drift": {"size": 3, "noise": 1e-4, "every": 0.1, "walk": True, "seed": 5},
    "slow": {"size": 2, "noise": 0.5, "every": 0.1, "time_constant": 3.0, "seed": 5},
}


def act(t, q, omega, parameters, states):
    return states.u


def rate_loop(t, position, velocity, q, omega, parameters, states):
    measured = omega + states.drift + states.white
    return -parameters[0] * measured, measured


def noisy(**more):
    return ph.rigid_body(
        MOMENTS, torque=act, parameters=[0.01], states={"u": 3, "measured": 3} | GYRO | more,
        controllers=[ph.controller(rate_loop, 0.1, "u", keeps="measured")],
    )  # fmt: skip


def test_noise_has_its_statistics_and_is_repeated():
    ds = ph.integrate(noisy(), "s4_6", step=0.1, t_end=2000.0, angular_velocity=TUMBLE)
    white, drift, slow = (ds[name].values[1:] for name in ("white", "drift", "slow"))
    n = len(white)
    assert np.abs(white.std(axis=0) / 1e-3 - 1).max() < 5 / np.sqrt(2 * n)
    together = np.corrcoef(np.concatenate([white[1:].T, white[:-1].T]))
    assert np.abs(together - np.eye(6)).max() < 5 / np.sqrt(n)  # neither with each other nor with those before
    assert np.abs(np.diff(drift, axis=0).std(axis=0) / (1e-4 * np.sqrt(0.1)) - 1).max() < 5 / np.sqrt(2 * n)
    assert abs(np.corrcoef(slow[1:, 0], slow[:-1, 0])[0, 1] - np.exp(-0.1 / 3)) < 0.01
    assert np.abs(slow[1000:].std(axis=0) / 0.5 - 1).max() < 0.1
    np.testing.assert_allclose(
        ds.measured.values[1:], ds.angular_velocity.values[1:] + drift + white, rtol=0, atol=1e-15
    )
    again = ph.rerun(ds, torque=act, command=rate_loop)
    assert (again.white.values == ds.white.values).all() and ds.white.attrs["units"] == "rad/s"


def test_noise_depends_on_seed_and_sample_alone():
    run = {"angular_velocity": TUMBLE, "t_end": 20.0}
    ds = ph.integrate(noisy(), "s4_6", step=0.1, **run)
    times = np.arange(0.05, 20.0, 0.1)
    other = ph.integrate(noisy(), "mkrk:dp8", steps=ph.Tolerance(1e-9), t_eval=times, **run)
    assert (other.white.values == ds.white.values[: len(times)]).all()
    half = ph.integrate(noisy(), "s4_6", step=0.1, **run | {"t_end": 10.0})
    rest = ph.integrate(noisy(), "s4_6", step=0.1, steps=100, start=half)
    assert (rest.measured[-1].values == ds.measured[-1].values).all()
    members = ph.ensemble(noisy(), "s4_6", members={"states.white.seed": [5, 6]}, step=0.1, **run)
    assert (members.white[0].values == ds.white.values).all() and (members.white[1, 1:] != ds.white[1:]).all()


def slug_and_act(t, q, omega, parameters, states):
    torque, *rates = slug(t, q, omega, parameters, states)
    return torque + states.u, *rates


def test_they_have_rows_and_columns_in_the_transition_and_noise_is_taken_as_given(columns_by_twos):
    """A tank that a controller steers by what it measures with noise."""
    fluid = {"fluid": {"size": 3, "unit": "rad/s"}, "heat": {"start": 1.5, "unit": "J"}}
    system = ph.rigid_body(
        MOMENTS, torque=slug_and_act, parameters=[1e-2, 1e-2], states=fluid | {"u": 3, "measured": 3} | GYRO,
        controllers=[ph.controller(rate_loop, 0.1, "u", keeps="measured")],
    )  # fmt: skip
    run = {"step": 0.1, "t_end": 2.0}

    def final(rates):
        ds = ph.integrate(system, "mkrk:cv8", **run, angular_velocity=rates)
        return np.concatenate([ds.angular_momentum[-1].values, ds["fluid"][-1].values, [float(ds.heat[-1])]])

    ds = ph.integrate(system, "mkrk:cv8", **run, angular_velocity=TUMBLE, tangent=["parameters.0"])
    assert float(abs(ds.measured[-1] - ds.angular_velocity[-1]).max()) > 1e-4
    moved = ds.state_transition[-1]
    rows = [*range(3, 6), *(k for k, name in enumerate(moved["row"].values) if "fluid" in name or "heat" in name)]
    assert len(rows) == 7
    for k in range(3):
        e = 1e-5 * np.eye(3)[k]
        slope = (final(np.array(TUMBLE) + e) - final(np.array(TUMBLE) - e)) / 2e-5
        np.testing.assert_allclose(moved.values[rows, 3 + k] * MOMENTS[k], slope, rtol=0, atol=1e-8)
        np.testing.assert_allclose(moved.values[rows[:3], 3 + k] * MOMENTS[k], slope[:3], rtol=0, atol=1e-9)


@each(("noise", "told"), [
    ({"every": 0.1, "seed": 1}, "states.white is noise, but has no noise; give its standard deviation"),
    ({"noise": 1.0}, "states.white is noise, but has no every; give the time between its samples"),
    ({"noise": -1.0, "every": 0.1}, "states.white.noise is -1"),
    ({"noise": 1.0, "every": 0.0}, "states.white.every is 0"),
    ({"noise": 1.0, "every": 0.1, "seed": 1.5}, "states.white.seed must be a whole number"),
    ({"noise": 1.0, "every": 0.1, "walk": True, "time_constant": 2.0}, "states.white has walk and time_constant"),
])  # fmt: skip
def test_what_is_wrong_with_noise_is_said(noise, told):
    with pytest.raises(InvalidInput, match=told):
        noisy(white={"size": 3} | noise)


def test_no_controller_sets_noise():
    with pytest.raises(InvalidInput, match="a controller sets the state 'white', which is noise"):
        ph.rigid_body(MOMENTS, torque=act, states={"u": 3} | GYRO,
                      controllers=[ph.controller(rate_loop, 0.1, "u", keeps="white")])  # fmt: skip


def test_a_state_may_be_called_omega():
    """In functions of builders and in sums."""

    def spun(t, q, omega, parameters, states):
        return -0.1 * states.omega * omega, -states.omega

    def slowed(body, omega):
        return {"torque": -0.1 * omega * body.angular_velocity, "omega": -omega}

    one = ph.rigid_body(MOMENTS, torque=spun, states={"omega": 2.0})
    two = ph.system(ph.body("a", inertia=MOMENTS, pinned=True), ph.loads.of(slowed).states(omega=2.0))
    runs = [ph.integrate(system, "mkrk:cv8", step=0.05, t_end=1.0, angular_velocity=TUMBLE) for system in (one, two)]
    for ds in runs:
        np.testing.assert_allclose(ds["omega"], 2.0 * np.exp(-ds.time), rtol=1e-9)
        np.testing.assert_allclose(ds.angular_velocity, runs[0].angular_velocity, rtol=1e-12)
    assert np.array_equal(ph.rerun(runs[1], slowed=slowed)["omega"], runs[1]["omega"])
