"""Starting from a trajectory of a body with states of its own: one run goes on with them, what would not says so."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.runs.scenario import read_scenario
from polhode.trajectory.schema import ROLE

MOMENTS = (90.0, 70.0, 60.0)


def with_motors(moments=MOMENTS):
    wheels = {"axes": np.eye(3).tolist(), "inertia": 0.05, "speed": 100.0, "command": [0.02, 0.0, -0.01]}
    return ph.rigid_body(moments, wheels=wheels)


@pytest.fixture(scope="module")
def before():
    return ph.integrate(with_motors(), "v2", step=1.0, steps=50, angular_velocity=(1e-2, -2e-2, 1e-2))


def test_a_run_and_a_prepared_one_go_on(before):
    whole = ph.integrate(with_motors(), "v2", step=1.0, steps=80, angular_velocity=(1e-2, -2e-2, 1e-2))
    on = ph.integrate(with_motors(), "v2", step=1.0, steps=30, start=before)
    np.testing.assert_allclose(on.wheel_momentum.values[-1], whole.wheel_momentum.values[-1], rtol=1e-13)
    prepared = ph.prepare(with_motors(), "v2", step=1.0, steps=30)
    alone = prepared.run({"angular_velocity": (1e-2, 0.0, 0.0)}).attitude[-1]
    np.testing.assert_array_equal(prepared.run(before).attitude, on.attitude)
    np.testing.assert_array_equal(prepared.run({"angular_velocity": (1e-2, 0.0, 0.0)}).attitude[-1], alone)


def steered(t, attitude, omega, parameters, states):
    (pull,) = states
    return (-pull, 0.0, 0.0), omega[0]


@each("row", [0, 20, -1])
def test_the_state_of_a_row_has_them_all(before, row):
    for body, ds in (
        (with_motors(), before),
        (spinning := ph.rigid_body((1, 2, 2.5), torque=steered, states={"pull": 0.3}),
         ph.integrate(spinning, "v2", step=0.1, steps=50, angular_velocity=(0.1, 0.2, 1.0))),
    ):  # fmt: skip
        names = [str(name) for name in ds.data_vars if ds[name].attrs.get("role") == ROLE]
        state, step = ph.State.of(ds, row), float(ds.attrs["step"])
        assert names and sorted(state.states) == sorted(names)
        on = ph.integrate(body, "v2", step=step, steps=3, start=state)
        same = ph.integrate(body, "v2", step=step, steps=3, start=ds.isel(time=slice(None, row + 1 or None)))
        for name in (*names, "angular_velocity"):
            np.testing.assert_array_equal(on[name].values[0], ds[name].values[row])
            np.testing.assert_array_equal(on[name].values, same[name].values)
        assert ph.rerun(on, **{"torque": steered} if body is spinning else {}).identical(on)
        np.testing.assert_array_equal(
            ph.prepare(body, "v2", step=step, steps=3).run(state).attitude, on.attitude.values
        )


def test_states_by_name(before):
    start = {"angular_velocity": (0.01, 0, 0), "states": {"wheel_momentum": (5.0, 6.0, 7.0)}}
    ds = ph.integrate(with_motors(), "v2", step=1.0, steps=3, start=start)
    assert ds.wheel_momentum.values[0].tolist() == [5.0, 6.0, 7.0]
    for states, told in (
        ({"wheel_momenta": (1, 2, 3)}, "wheel_momentum"), ({"wheel_momentum": (1, 2)}, "2 numbers of 'wheel_momentum'"),
        ({"wheel_momentum": "fast"}, "wheel_momentum must be"), (3, "states must be"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=told):
            ph.integrate(with_motors(), "v2", step=1.0, steps=3, start={"states": states})
    state = replace(ph.State.of(before), compensation=None)
    with pytest.raises(InvalidInput, match="wheel_momentum"):
        ph.integrate(ph.rigid_body(MOMENTS), "v2", step=1.0, steps=3, start=state)
    with pytest.raises(InvalidInput, match="has states of its own, but members would begin with the wheel_momentum"):
        members = {"angular_velocity": [(1, 0, 0)]}
        ph.ensemble(with_motors(), "v2", step=1.0, steps=3, members=members, start=state)


def test_a_row_without_its_axis(before):
    with pytest.raises(InvalidInput, match=r"start is one row without an axis of time; .* isel\(time=\[k\]\)"):
        ph.integrate(with_motors(), "v2", step=1.0, steps=3, start=before.isel(time=3))
    on = ph.integrate(with_motors(), "v2", step=1.0, steps=3, start=before.isel(time=[3]))
    np.testing.assert_array_equal(on.wheel_momentum.values[0], before.wheel_momentum.values[3])


def test_members_comparisons_and_fits_refuse(before):
    data = {"gyro": (before.time.values, before.angular_velocity.values)}
    prior = {"attitude": 0.1, "angular_velocity": 0.1}
    words = {"step": 1.0, "start": before}
    calls = [
        ("members", lambda body: ph.ensemble(body, "v2", steps=3, members={"angular_velocity": [(1, 0, 0)]}, **words)),
        ("these runs", lambda body: ph.compare(body, ["v2"], steps=[1.0], t_end=60.0, start=before)),
        ("these runs", lambda body: ph.fit(body, data, ["angular_velocity"], "v2", noise=1e-3, **words)),
        ("these runs", lambda body: ph.estimation.kalman(body, data, "v2", noise=1e-3, prior=prior, **words)),
    ]
    for who, call in calls:
        with pytest.raises(InvalidInput, match=f"start is a trajectory, but {who} would begin with the wheel_momentum"):
            call(with_motors())


SCENARIO = """method = "v2"
[system]
type = "rigid_body"
inertia = [90.0, 70.0, 60.0]
wheels = { axes = [[1,0,0],[0,1,0],[0,0,1]], inertia = 0.05, speed = 100.0, command = [0.02, 0.0, -0.01] }
[initial]
angular_velocity = [0.01, -0.02, 0.01]
[run]
step = 1
t_end = 80
"""


def test_the_rest_of_a_scenario_goes_on(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(SCENARIO)
    scenario = read_scenario(path)
    whole = scenario.integrate()
    rest = scenario.continued(whole.isel(time=slice(None, 51))).integrate()
    assert rest.time.values[0] == 50.0
    np.testing.assert_allclose(rest.wheel_momentum.values, whole.wheel_momentum.values[50:], rtol=1e-13)
    np.testing.assert_allclose(rest.attitude.values, whole.attitude.values[50:], rtol=0, atol=1e-14)
