"""The filter on the group: consistent errors, the same answer as least squares, gates, biases, smoothing."""

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput

INERTIA = np.array([1.0, 2.0, 2.5])
BODY = ph.free_body(INERTIA)
SPIN = np.array([0.2, 1.0, 0.1])
PRIOR = {"attitude": 0.1, "angular_velocity": 0.05}


def seen(q, direction, sigma, rng):
    u = ph.rotation.rotate_inverse(q, np.array(direction) / np.linalg.norm(direction))
    u = u + sigma * rng.standard_normal(u.shape)
    return u / np.linalg.norm(u, axis=-1, keepdims=True)


def noisy_motion(rng, wander, dt=0.2, rows=15):
    """Attitudes and angular velocities of a free body under a random torque, and the first guess of a filter."""
    q = ph.rotation.exp_quaternion(0.1 * rng.standard_normal(3))
    w = SPIN + 0.05 * rng.standard_normal(3)
    attitudes, rates = [q], [w]
    for _ in range(rows):
        ds = ph.integrate(BODY, "exact", step=dt, steps=1, attitude=q, angular_velocity=w + wander * dt**0.5
                          * rng.standard_normal(3) / 2**0.5)  # fmt: skip
        q = ds.attitude.values[-1]
        w = ds.angular_velocity.values[-1] + wander * dt**0.5 * rng.standard_normal(3) / 2**0.5
        attitudes.append(q)
        rates.append(w)
    return dt * np.arange(rows + 1), np.array(attitudes), np.array(rates)


def sensors(t, q, w, rng):
    return [
        ph.estimation.gyro(t, w + 5e-3 * rng.standard_normal(w.shape), 5e-3),
        ph.estimation.direction(t, seen(q, (1, 0, 0), 0.01, rng), (1, 0, 0), 0.01, name="sun"),
        ph.estimation.direction(t[::2], seen(q, (0, 1, 1), 0.02, rng)[::2], (0, 1, 1), 0.02, name="magnetometer"),
    ]


def normalised_errors(ds, q, w):
    """Squares of the errors of attitude and angular momentum over their covariance, in every row."""
    turn = ph.rotation.multiply(ph.rotation.conjugate(ds.attitude.values), q)
    turn[turn[:, 0] < 0] *= -1
    error = np.concatenate([ph.rotation.log_quaternion(turn), w * INERTIA - ds.angular_momentum.values], axis=1)
    return np.array([e @ np.linalg.solve(P, e) for e, P in zip(error, ds.covariance.values, strict=True)])


def consistency(runs, smooth=False):
    rng = np.random.default_rng(11)
    squares, innovations = [], []
    for _ in range(runs):
        t, q, w = noisy_motion(rng, 0.02)
        ds = ph.estimation.kalman(BODY, sensors(t, q, w, rng), "exact", prior=PRIOR, step=0.2, smooth=smooth,
                                  process_noise={"angular_velocity": 0.02}, angular_velocity=SPIN,
                                  attitude=(1, 0, 0, 0))  # fmt: skip
        squares.append(normalised_errors(ds, q, w))
        innovations.append(float(ds.innovation_squared.sum() / ds.innovation_count.sum()))
    return np.array(squares), np.array(innovations)


def test_errors_are_consistent():
    """Normalised errors squared are chi squared of 6 degrees of freedom, on average 6, and nearer than of 20 runs."""
    squares, innovations = consistency(12)
    assert abs(squares[:, -1].mean() - 6.0) < 3 * (12 / 20) ** 0.5
    assert abs(squares.mean() - 6.0) < 1.0
    assert abs(innovations.mean() - 1.0) < 0.08


@pytest.mark.full
def test_errors_are_consistent_in_many_runs():
    squares, _ = consistency(200)
    assert abs(squares[:, -1].mean() - 6.0) < 3 * (12 / 200) ** 0.5
    squares, _ = consistency(200, smooth=True)
    assert abs(squares.mean() - 6.0) < 0.6


def test_smoothing_uses_later_data():
    rng = np.random.default_rng(3)
    t, q, w = noisy_motion(rng, 0.02)
    data = sensors(t, q, w, rng)
    words = {"prior": PRIOR, "step": 0.2, "process_noise": {"angular_velocity": 0.02}, "angular_velocity": SPIN,
             "attitude": (1, 0, 0, 0)}  # fmt: skip
    plain = ph.estimation.kalman(BODY, data, "exact", **words)
    smooth = ph.estimation.kalman(BODY, data, "exact", smooth=True, **words)
    assert (smooth["std"].values[:-1] < plain["std"].values[:-1]).all()
    np.testing.assert_array_equal(smooth["std"].values[-1], plain["std"].values[-1])
    assert normalised_errors(smooth, q, w).mean() < 15


def test_without_process_noise_it_is_least_squares():
    """All data once, one after the other or together: the same estimate at the end, up to what is not linear."""
    rng = np.random.default_rng(5)
    truth = ph.integrate(BODY, "exact", step=0.25, t_end=5, angular_velocity=SPIN)
    t, q = truth.time.values, truth.attitude.values
    turned = ph.rotation.multiply(q, ph.rotation.exp_quaternion(1e-4 * rng.standard_normal((21, 3))))
    data = [
        ph.estimation.gyro(t, truth.angular_velocity.values + 1e-4 * rng.standard_normal((21, 3)), 1e-4),
        ph.estimation.attitude(t, turned, 1e-4),
    ]
    prior = {"attitude": 1e-3, "angular_velocity": 1e-3}
    words = {"attitude": (1, 0, 0, 0), "angular_velocity": SPIN}
    ds = ph.estimation.kalman(BODY, data, "exact", prior=prior, step=0.25, **words)
    fit = ph.fit(BODY, data, ["attitude", "angular_velocity"], "exact", prior=prior, **words)
    ahead = fit.predict([5.0])
    np.testing.assert_allclose(ds["std"].values[-1], np.sqrt(np.diag(ahead.state_covariance[0])), rtol=1e-3)
    assert float(ph.rotation.angle_between(ds.attitude[-1], ahead.attitude[0])) < 1e-6


def test_biases_and_parameters_are_estimated():
    rng = np.random.default_rng(6)
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    tilt = ph.rotation.exp_quaternion((0.3, 0, 0))
    ds = ph.integrate(top, "rkn6_14a", step=0.01, t_end=3, every=10, attitude=tilt, angular_velocity=(0, 0, 10))
    t = ds.time.values
    data = {
        "gyro": (t, ds.angular_velocity.values + [0.02, -0.01, 0.03] + 1e-3 * rng.standard_normal((31, 3)), 1e-3),
        "attitude": (t, ph.rotation.multiply(ds.attitude, ph.rotation.exp_quaternion(
            1e-3 * rng.standard_normal((31, 3)))), 1e-3),
    }  # fmt: skip
    found = ph.estimation.kalman(
        top, data, "rkn6_14a", free=["weight", "gyro.bias"], step=0.01, attitude=tilt, angular_velocity=(0, 0, 10),
        prior={"attitude": 0.01, "angular_velocity": 0.05, "weight": 1.0, "gyro.bias": 0.05},
    )  # fmt: skip
    last = found.isel(time=-1)
    assert abs(last["weight"] - 20) < 3 * last["std"].sel(row="weight") < 0.3
    bias = last["std"].sel(row=["gyro.bias_x", "gyro.bias_y", "gyro.bias_z"]).values
    assert (abs(last["gyro.bias"].values - [0.02, -0.01, 0.03]) < 3.5 * bias).all()


def test_a_gate_leaves_out_what_cannot_be():
    truth = ph.integrate(BODY, "exact", step=0.25, t_end=5, angular_velocity=SPIN)
    w = truth.angular_velocity.values.copy()
    w[7] += 1.0
    words = {"prior": PRIOR, "step": 0.25, "noise": 1e-3, "angular_velocity": SPIN}
    found = ph.estimation.kalman(BODY, {"gyro": (truth.time, w)}, "exact", gate=5.0, **words)
    assert found.rejected.values.tolist() == [int(k == 7) for k in range(21)]
    np.testing.assert_allclose(found.angular_velocity[-1], truth.angular_velocity[-1], rtol=0, atol=1e-9)


def test_orbit_from_ranges():
    rng = np.random.default_rng(8)
    orbit = ph.orbit(3.986e14, forces=[ph.forces.zonal(J2=1.08e-3, radius=6378136.3)])
    ds = ph.integrate(orbit, step=60, steps=120, every=2, position=(7e6, 0, 0), velocity=(0, 5336, 5336))
    data = {}
    for name, station in (("range.a", (6.4e6, 0, 0)), ("range.b", (0, 6.4e6, 0)), ("range.c", (0, 0, 6.4e6))):
        distance = np.linalg.norm(ds.position.values - np.array(station), axis=1)
        data[name] = {"time": ds.time, "values": distance + 10 * rng.standard_normal(61), "station": station}
    prior = {"position": 1e4, "velocity": 10.0}
    found = ph.estimation.kalman(orbit, data, "mkrk:cv8", prior=prior, noise={"range": 10.0}, step=60,
                                 position=(7.005e6, 3e3, -2e3), velocity=(5, 5330, 5340))  # fmt: skip
    error = np.concatenate([found.position[-1] - ds.position[-1], found.momentum[-1] - ds.momentum[-1]])
    assert (abs(error) < 3.5 * found["std"].values[-1]).all() and found["std"].values[-1, :3].max() < 30


WRONG = {
    "no prior": ({"prior": {"attitude": 0.1}}, "prior has no angular_velocity; give the standard deviation"),
    "unknown": ({"prior": PRIOR | {"spin": 1}}, "unknown name in prior 'spin'"),
    "twice": ({"prior": PRIOR | {"angular_momentum": 1}}, "prior has angular_momentum in two forms"),
    "process": ({"prior": PRIOR, "process_noise": {"weight": 1}}, "unknown name in process_noise 'weight'"),
    "noise": ({"prior": PRIOR, "noise": None}, "noise of gyro is missing"),
    "state": ({"prior": PRIOR, "free": ["attitude"]}, "free has attitude, which a filter estimates anyway"),
    "step": ({"prior": PRIOR, "method": "v2", "step": None}, "step is missing; give the step of v2"),
    "tiny step": ({"prior": PRIOR, "step": 1e-200}, "^step is 1e-200, beyond 1e-100"),
    "step lost": ({"prior": PRIOR, "step": 1e-14}, "^step is 1e-14 at times near 0.1, which numbers tell apart"),
    "far": ({"prior": PRIOR, "start": {"time": -1e300}}, "start of the run is 1e.300, beyond 1e-100"),
}


@each("case", WRONG)
def test_wrong_words_are_named(case):
    words, message = WRONG[case]
    given = {"method": "exact", "noise": 1e-3, "step": 0.1} | words
    with pytest.raises(InvalidInput, match=message):
        ph.estimation.kalman(BODY, {"gyro": ([0.0, 0.1], [SPIN, SPIN])}, **given)


def with_motors():
    wheels = {"axes": np.eye(3).tolist(), "inertia": 0.05, "speed": 100.0, "command": [0.02, 0.0, -0.01]}
    return ph.rigid_body((90.0, 70.0, 60.0), wheels=wheels)


@each("free", some([["inertia"], None], 1))
def test_wheels_go_on_between_data(free):
    """Motors accelerate them all the time; a filter that began with their first speeds would be lost."""
    rng, rate = np.random.default_rng(1), np.array([1e-2, -2e-2, 1e-2])
    ds = ph.integrate(with_motors(), "mkrk:cv8", step=1.0, t_end=200.0, every=10, angular_velocity=rate)
    w = ds.angular_velocity.values + 1e-4 * rng.standard_normal((21, 3))
    prior = {"attitude": 1e-3, "angular_velocity": 1e-3} | ({"inertia": 0.1} if free else {})
    found = ph.estimation.kalman(with_motors(), {"gyro": (ds.time.values, w)}, "mkrk:cv8", step=1.0, noise=1e-4,
                                 angular_velocity=rate, prior=prior, free=free or [])  # fmt: skip
    assert np.abs(found.angular_velocity.values - ds.angular_velocity.values).max() < 3e-4
    assert 2.0 < float(found.innovation_squared.mean()) < 4.0


def test_states_of_the_users_go_on_between_data():
    def torque(t, q, omega, parameters, states):
        return tuple(-x for x in states.integral), omega

    def body():
        return ph.rigid_body((1.0, 2.0, 2.5), torque=torque, states={"integral": 3})

    ds = ph.integrate(body(), "mkrk:cv8", step=0.1, t_end=20.0, every=10, angular_velocity=SPIN)
    found = ph.estimation.kalman(body(), {"gyro": (ds.time.values, ds.angular_velocity.values)}, "mkrk:cv8", step=0.1,
                                 noise=1e-4, angular_velocity=SPIN,
                                 prior={"attitude": 1e-3, "angular_velocity": 1e-3})  # fmt: skip
    assert np.abs(found.angular_velocity.values - ds.angular_velocity.values).max() < 1e-8
