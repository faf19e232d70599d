"""Starting from a trajectory of a body with states of its own: one run goes on with them, what would not says so."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput
from polhode.runs.scenario import read_scenario

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
    np.testing.assert_allclose(rest.attitude.values, whole.attitude.values[50:], atol=1e-14)
