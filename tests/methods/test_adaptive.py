"""Steps chosen by a tolerance: the loop by itself over small systems, and ``integrate`` with ``rtol``."""

import os
import signal

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.kernel import layout as L
from polhode.methods import method, tableau
from polhode.runs import rows, stepping
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

PAIRS = ("mkrk:bs3", "mkrk:dp5", "mkrk:dp8")
CHARTS = ("euler:dp8",)  # whose states are longer
START = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_velocity": (1.0, 2.0, 4.0)}


def torque(t, q, omega, parameters):
    return (0.4 * np.sin(3.0 * t), 0.2 * q[0] * q[1] - 0.1 * omega[1], 0.3 * np.cos(2.0 * t) * q[0] * q[3])


@pytest.fixture(scope="module")
def body():
    return ph.rigid_body((1.0, 1.5, 2.2), torque=torque)


@pytest.fixture(scope="module")
def truth(body):
    """The same equations written down once more: quaternion and angular momentum to SciPy's best tolerance."""

    def slope(t, y):
        q, m = y[:4], y[4:]
        w = m / (1.0, 1.5, 2.2)
        dq = 0.5 * np.array([
            -q[1:] @ w, q[0] * w[0] + q[2] * w[2] - q[3] * w[1], q[0] * w[1] + q[3] * w[0] - q[1] * w[2],
            q[0] * w[2] + q[1] * w[1] - q[2] * w[0],
        ])  # fmt: skip
        return np.concatenate([dq, np.cross(m, w) + torque(t, q, w, None)])

    y0 = np.concatenate([START["attitude"], np.multiply(START["angular_velocity"], (1.0, 1.5, 2.2))])
    return solve_ivp(slope, (0.0, 4.0), y0, method="DOP853", rtol=3e-14, atol=1e-15, dense_output=True).sol


def state(ds, row=slice(None)):
    return np.concatenate([ds.attitude.values[row], ds.angular_momentum.values[row]], axis=-1)


def error(ds, truth):
    """Largest difference from the truth in all rows."""
    there = truth(ds.time.values).T
    there[:, :4] /= np.linalg.norm(there[:, :4], axis=1, keepdims=True)
    sign = np.sign(np.sum(there[:, :4] * ds.attitude.values, axis=1, keepdims=True))
    there[:, :4] *= sign
    return np.abs(state(ds) - there).max()


class Walk:
    """The loop over a Integrator, with room for rows."""

    def __init__(self, system, name="mkrk:dp5", rtol=1e-6, start=None, first=0.0, limit=np.pi, t0=0.0, room=5000):
        y = start_state(system, **(START if start is None else start))
        self.integrator = Integrator(system, method(name), y, t0, limit, adaptive=True)
        self.integrator.adapt(t0, rtol, 1e-3 * rtol, first)
        self.controller_state = self.integrator.controller_state
        self.times, self.sizes = np.zeros(room), np.zeros(room)
        self.rows, self.counts = np.zeros((room, self.integrator.y.size)), np.zeros(room, dtype=np.int64)
        self.count = 0

    def go(self, stops, attempts=100_000, every=1, samples=(), **bounds):
        status, direction = L.OK, np.sign(stops[-1] - self.controller_state[L.TIME])
        last = self.controller_state[L.ACCEPTED] + self.controller_state[L.REJECTED] + attempts
        for stop in stops:
            left = int(last - self.controller_state[L.ACCEPTED] - self.controller_state[L.REJECTED])
            if (stop - self.controller_state[L.TIME]) * direction <= 0.0 and stop != stops[-1]:
                continue
            here = slice(self.count, None)
            status = self.integrator.march_adaptive(
                left, every, float(stop), np.array(samples, dtype=float), self.times[here], self.sizes[here],
                self.rows[here], self.counts[here], **bounds,
            )  # fmt: skip
            self.count += int(self.controller_state[L.ROWS])
            if status != L.OK or self.controller_state[L.TIME] != stop:
                break
        return status

    @property
    def recorded(self):
        return self.times[: self.count], self.sizes[: self.count], self.rows[: self.count]


# ------------------------------------------------------------------ tolerance and error
@each("name", PAIRS)
def test_the_error_is_proportional_to_the_tolerance(body, truth, name):
    tolerances = [1e-4, 1e-6, 1e-8] if name == "mkrk:bs3" else [1e-5, 1e-7, 1e-9, 1e-11]
    errors = [
        error(ph.integrate(body, name, steps=ph.Tolerance(rtol), t_end=4.0, **START), truth) for rtol in tolerances
    ]
    ratios = np.array(errors) / tolerances
    assert (ratios > 0.1).all() and (ratios < 500.0).all()
    slope = np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0]
    assert 0.85 < slope < 1.15


@each("name", PAIRS)
def test_steps_grow_with_the_root_of_the_tolerance(body, name):
    """An estimate of order q asks for steps proportional to rtol^(1/(q + 1))."""
    exponent = 1.0 / (tableau(name.split(":")[1]).estimate + 1)
    coarse, fine = (
        ph.integrate(body, name, steps=ph.Tolerance(rtol), t_end=4.0, **START).attrs["steps_accepted"]
        for rtol in (1e-6, 1e-9)
    )
    assert fine / coarse == pytest.approx(1e3**exponent, rel=0.25)


def test_first_step_is_neither_timid_nor_bold(body):
    for name in PAIRS:
        for rtol in (1e-4, 1e-8):
            ds = ph.integrate(body, name, steps=ph.Tolerance(rtol), t_end=4.0, **START)
            assert 0.01 < ds.step[1] / np.median(ds.step[1:]) < 1.0
            assert ds.attrs["steps_rejected"] <= 0.1 * ds.attrs["steps_accepted"]
    # A body at rest and one that nothing happens to.
    push = ph.integrate(ph.particle(stiffness=4.0), steps=ph.Tolerance(1e-6), t_end=1.0, position=(1, 0, 0))
    np.testing.assert_allclose(push.position[-1], (np.cos(2.0), 0, 0), rtol=0, atol=1e-5)
    still = ph.integrate(ph.free_body((1, 2, 3)), steps=ph.Tolerance(1e-6), t_end=1e6)
    assert still.attrs["steps"] == 1 and still.time[-1] == 1e6


def test_first_step_knows_no_unit_of_time():
    """The same motion a thousand times slower begins with the same fraction of a turn."""
    sizes = []
    for unit in (1.0, 1e3):
        ds = ph.integrate(
            ph.particle(stiffness=1.0 / unit**2), "mkrk:dp5", steps=ph.Tolerance(1e-6, 1e-300), t_end=unit,
            position=(2, 0, 0), velocity=(0, 1.0 / unit, 0),
        )  # fmt: skip
        sizes.append(ds.step[1].item() / unit)
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-9)


def test_atol_is_the_tolerance_of_what_is_near_zero(body):
    at_rest = {"attitude": START["attitude"], "angular_velocity": (0, 0, 0)}
    steps = [
        ph.integrate(body, "mkrk:dp5", steps=ph.Tolerance(1e-6, atol), t_end=0.1, **at_rest).attrs["steps"]
        for atol in (1e-6, 1e-14)
    ]
    assert steps[0] < steps[1]


# ------------------------------------------------------------------ the loop
def stiff_at_one(t, q, omega, parameters):
    """A torque with a narrow bump, which a step chosen before it cannot see coming."""
    x = 60.0 * (t - 1.0)
    return (30.0 * np.exp(-x * x), 0.0, 0.0)


@pytest.fixture(scope="module")
def bump():
    return ph.rigid_body((1.0, 1.5, 2.2), torque=stiff_at_one)


@each("name", [*PAIRS, *CHARTS])
def test_a_rejected_step_leaves_nothing_behind(bump, name):
    walk = Walk(bump, name, rtol=1e-8)
    seen = 0
    while walk.controller_state[L.TIME] < 2.0:
        y, rejected, accepted = (
            walk.integrator.y.copy(),
            walk.controller_state[L.REJECTED],
            walk.controller_state[L.ACCEPTED],
        )
        assert walk.go([2.0], attempts=1) == L.OK
        if walk.controller_state[L.REJECTED] > rejected:
            np.testing.assert_array_equal(walk.integrator.y, y)
            assert walk.controller_state[L.ACCEPTED] == accepted and walk.controller_state[L.TRYING] == 0.0
            seen += 1
            before = abs(walk.controller_state[L.NEXT])
            assert walk.go([2.0], attempts=1) == L.OK
            assert walk.controller_state[L.REJECTED] > rejected + 1 or abs(walk.controller_state[L.NEXT]) <= before * (
                1 + 1e-12
            )
    assert seen >= 3


@each("name", [*PAIRS, *CHARTS])
@each("samples", [(), np.linspace(0.0, 2.0, 301)])
def test_slices_change_nothing(bump, name, samples):
    whole, sliced = Walk(bump, name, rtol=1e-7), Walk(bump, name, rtol=1e-7)
    every = 0 if len(samples) else 3
    assert whole.go([1.3, 2.0], every=every, samples=samples) == L.OK
    for attempts in (1, 2, 1, 7) * 5000:
        assert sliced.go([1.3, 2.0], attempts, every, samples) == L.OK
        if sliced.controller_state[L.TIME] == 2.0:
            break
    assert whole.controller_state[L.REJECTED] > 0
    for one, other in zip(whole.recorded, sliced.recorded, strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.count == (len(samples) or whole.controller_state[L.ACCEPTED] // 3)
    np.testing.assert_array_equal(whole.integrator.y, sliced.integrator.y)
    np.testing.assert_array_equal(np.delete(whole.controller_state, L.ROWS), np.delete(sliced.controller_state, L.ROWS))
    assert whole.integrator.step_info[L.EVALUATIONS] == sliced.integrator.step_info[L.EVALUATIONS]


@each("name", PAIRS)
def test_samples_do_not_change_the_steps(body, name):
    plain, sampled = Walk(body, name), Walk(body, name)
    assert plain.go([4.0]) == L.OK
    assert sampled.go([4.0], every=0, samples=np.linspace(0, 4, 777)) == L.OK
    np.testing.assert_array_equal(plain.integrator.y, sampled.integrator.y)
    np.testing.assert_array_equal(
        np.delete(plain.controller_state, [L.ROWS, 10]), np.delete(sampled.controller_state, [L.ROWS, 10])
    )
    assert len(plain.controller_state) == L.CONTROLLER_STATE


@each("direction", [1.0, -1.0])
def test_stops_are_hit_exactly_and_never_crossed(body, direction):
    stops = direction * np.array([0.1, 1.0 / 3.0, 1.0 / 3.0 + 1e-9, 1.7, 1.7, 2.0])
    walk, free = Walk(body), Walk(body)
    assert walk.go(stops) == L.OK and free.go([stops[-1]]) == L.OK
    times, sizes, _ = walk.recorded
    assert set(stops) <= set(times) and times[-1] == stops[-1]
    before = np.concatenate([[0.0], times[:-1]])
    np.testing.assert_array_equal(sizes, np.abs(times - before))
    for stop in stops:
        assert not ((before * direction < stop * direction) & (times * direction > stop * direction)).any()
    # A short step before a stop costs the steps after it nothing.
    assert walk.count <= free.count + 10
    assert walk.controller_state[L.SMALLEST] == pytest.approx(1e-9, rel=1e-6)
    np.testing.assert_allclose(walk.integrator.y, free.integrator.y, rtol=0, atol=2e-5)


def test_the_largest_step_and_the_guard_hold(body):
    walk = Walk(ph.free_body((1, 1, 1)), rtol=1e-2, start={"angular_velocity": (0, 0, 100.0)}, limit=0.5)
    assert walk.go([1.0]) == L.OK
    assert 0.3 < 100.0 * walk.sizes.max() <= 0.5 and walk.controller_state[L.REJECTED] == 0
    bounded = Walk(body, rtol=1e-3)
    assert bounded.go([4.0], longest=0.01) == L.OK
    assert bounded.sizes.max() <= 0.01 * (1 + 2e-9) and bounded.count == 400
    even = Walk(body, rtol=0.9, first=0.3)  # no short remainder at the end
    assert even.go([1.0], longest=0.3) == L.OK
    np.testing.assert_allclose(even.recorded[1], [0.3, 0.3, 0.2, 0.2], rtol=1e-12)


# ------------------------------------------------------------------ dense output
@each("name", PAIRS)
def test_samples_have_the_order_of_the_dense_output(body, truth, name):
    """Within the first step, where there is no other error: it falls with the order of the polynomial plus 1."""
    order = tableau(name.split(":")[1]).dense_order
    errors = []
    for size in (0.2, 0.1):
        ds = ph.integrate(
            body,
            name,
            steps=ph.Tolerance(0.99, first_step=size),
            t_end=size,
            t_eval=size * np.linspace(0.05, 0.95, 19),
            **START,
        )
        assert ds.attrs["steps_accepted"] == 1
        errors.append(error(ds, truth))
    assert errors[1] > 1e-13
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.35)


@each("name", PAIRS)
def test_samples_are_as_accurate_as_the_steps(body, truth, name):
    rtol = 1e-7
    rows = ph.integrate(body, name, steps=ph.Tolerance(rtol), t_end=4.0, **START)
    samples = ph.integrate(body, name, steps=ph.Tolerance(rtol), t_end=4.0, t_eval=np.linspace(0, 4, 501), **START)
    assert error(samples, truth) < 3.0 * error(rows, truth)
    lengths = np.linalg.norm(samples.attitude, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(state(samples, -1), state(rows, -1))


# ------------------------------------------------------------------ integrate
def test_backwards_returns_to_the_start(body):
    forth = ph.integrate(body, steps=ph.Tolerance(1e-10), t_end=3.0, **START).isel(time=-1)
    back = ph.integrate(
        body, steps=ph.Tolerance(1e-10), start={"time": 3.0}, t_end=0.0, t_eval=[3.0, 2.0, 0.25, 0.0],
        attitude=forth.attitude, angular_momentum=forth.angular_momentum,
    )  # fmt: skip
    assert back.time.values.tolist() == [3.0, 2.0, 0.25, 0.0] and (back.step[1:] > 0).all()
    np.testing.assert_allclose(back.angular_velocity[-1], START["angular_velocity"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(back.attitude[-1], START["attitude"], rtol=0, atol=1e-8)


def test_what_is_written_into_the_dataset(bump):
    ds = ph.integrate(bump, "mkrk:dp5", steps=ph.Tolerance(1e-7, 1e-9), t_end=2.0, **START)
    accepted, rejected = ds.attrs["steps_accepted"], ds.attrs["steps_rejected"]
    assert ds.sizes["time"] == accepted + 1 and rejected > 0 and ds.attrs["steps"] == accepted
    np.testing.assert_array_equal(ds.step[1:], np.diff(ds.time))
    assert ds.step[0] == 0.0 and ds.time[-1] == 2.0
    assert (ds.attrs["step_smallest"], ds.attrs["step_largest"]) == (ds.step[1:].min(), ds.step.max())
    assert (ds.attrs["rtol"], ds.attrs["atol"]) == (1e-7, 1e-9) and "rtol 1e-07" in ds.attrs["title"]
    assert ds.attrs["load_evaluations"] == 7 * (accepted + rejected) + 2
    assert "step" not in ds.attrs
    sparse = ph.integrate(bump, "mkrk:dp5", steps=ph.Tolerance(1e-7, 1e-9), t_end=2.0, every=10, **START)
    numbers = [*range(0, accepted, 10), accepted]
    np.testing.assert_array_equal(sparse.time, ds.time[numbers])
    np.testing.assert_array_equal(state(sparse), state(ds, numbers))
    default = ph.integrate(bump, steps=ph.Tolerance(1e-7), t_end=0.1, **START)
    assert default.attrs["method"] == "taylor" and default.attrs["atol"] == 1e-7 * 1e-3


def test_rerun_is_the_same_bit_for_bit(bump):
    small = ph.Tolerance(1e-7, max_step=0.02, first_step=1e-3)
    for more in (
        {"steps": ph.Tolerance(1e-7)},
        {"every": 4, "steps": small},
        {"steps": ph.Tolerance(1e-7), "t_eval": [0.0, 0.7, 1.1]},
    ):
        ds = ph.integrate(bump, "mkrk:dp5", t_end=2.0, **more, **START)
        assert ph.rerun(ds, torque=stiff_at_one).identical(ds)
    for name in (None, *CHARTS):
        back = ph.integrate(
            ph.free_body((1, 2, 2.5)), name, steps=ph.Tolerance(1e-9), start={"time": 1.0}, t_end=0.0, **START
        )
        assert ph.rerun(back).identical(back)


def test_an_empty_span_has_one_row(body):
    for more in ({}, {"t_eval": [1.0]}):
        ds = ph.integrate(body, steps=ph.Tolerance(1e-6), start={"time": 1.0}, t_end=1.0, **more, **START)
        assert ds.time.values.tolist() == [1.0] and ds.attrs["steps"] == 0


def test_progress_tells_the_share_of_the_span(body, monkeypatch):
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    seen = []
    ds = ph.integrate(body, "mkrk:dp5", steps=ph.Tolerance(1e-8), t_end=4.0, progress=seen.append, **START)
    assert seen[0].stage == "preparing" and seen[-1].done == ds.attrs["steps"] and seen[-1].share == 1.0
    shares = [state.share for state in seen]
    assert len(seen) > 3 and shares == sorted(shares) and all(state.total is None for state in seen)


@each("more", [{}, {"t_eval": np.linspace(0, 4, 101)}])
def test_ctrl_c_keeps_what_was_computed(body, monkeypatch, more):
    whole = ph.integrate(body, "mkrk:dp5", steps=ph.Tolerance(1e-8), t_end=4.0, **more, **START)
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)

    def interrupt(progress):
        if progress.done >= 16:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ph.errors.Interrupted, match=r"interrupted after \d+ steps \(t = ") as caught:
        ph.integrate(body, "mkrk:dp5", steps=ph.Tolerance(1e-8), t_end=4.0, progress=interrupt, **more, **START)
    kept = caught.value.trajectory
    assert 16 <= kept.attrs["steps"] < whole.attrs["steps"]
    same = kept.sizes["time"] - 1
    np.testing.assert_array_equal(state(kept, slice(same)), state(whole, slice(same)))
    assert kept.time[-1] > kept.time[-2] > 0.0


# ------------------------------------------------------------------ failures
def test_a_step_too_small_gives_the_run_so_far():
    def pole(t, q, omega, parameters):
        return (0.0, 0.0, 1.0 / (1.0 - t) ** 2)

    with pytest.raises(ph.errors.StepTooSmall, match=r"rtol = 1e-08 asks for steps below .* loosen rtol") as caught:
        ph.integrate(
            ph.rigid_body((1, 1, 1), torque=pole),
            "mkrk:dp5",
            steps=ph.Tolerance(1e-8),
            t_end=2.0,
            settings={"guard": False},
            **START,
        )
    failed = caught.value
    assert failed.exit_code == 4 and failed.time == pytest.approx(1.0, abs=1e-6)
    ds = failed.trajectory
    assert ds.attrs["steps"] == failed.step == ds.sizes["time"] - 1 > 30 and "incomplete" in ds.attrs
    middle = abs(ds.time.values - 0.9).argmin()
    expected = START["angular_velocity"][2] + 1.0 / (1.0 - ds.time[middle]) - 1.0
    np.testing.assert_allclose(ds.angular_velocity[middle, 2], expected, rtol=1e-6)


def test_steps_that_fail_are_tried_smaller(body, truth):
    """A step that leaves the chart in its stages, and a load that is no number from some time on."""
    ds = ph.integrate(
        body, "mkrk:dp5", steps=ph.Tolerance(1e-8, first_step=4.0), t_end=4.0, settings={"guard": False}, **START
    )
    assert ds.attrs["steps_rejected"] >= 1 and error(ds, truth) < 1e-5

    def ends(t, q, omega, parameters):
        return (0.1, 0.0, 0.0 if t < 1.0 else np.nan)

    with pytest.raises(
        ph.errors.UserFunctionError, match=r"'ends'.* returned .*nan\] at t = 1.*; every number"
    ) as caught:
        ph.integrate(ph.rigid_body((1, 1, 1), torque=ends), steps=ph.Tolerance(1e-6), t_end=2.0, **START)
    assert 0.5 < caught.value.time <= 1.0 and caught.value.trajectory.time[-1] == caught.value.time
    with pytest.raises(ph.errors.NotFinite, match=r"infinite or not a number .* loosen rtol: steps down to") as caught:
        ph.integrate(ph.particle(stiffness=-1e6), steps=ph.Tolerance(1e-2), t_end=1.0, position=(1, 0, 0))
    assert np.isfinite(caught.value.trajectory.position).all() and caught.value.trajectory.attrs["steps"] > 50


def test_the_loop_tells_a_step_too_small(body):
    walk = Walk(body, rtol=1e-6)
    assert walk.go([4.0], shortest=0.5) in (L.OK, L.TOO_SMALL)
    walk = Walk(body, rtol=1e-6, first=1.0)
    y = walk.integrator.y.copy()
    assert walk.go([4.0], shortest=0.5) == L.TOO_SMALL
    np.testing.assert_array_equal(walk.integrator.y, y)
    assert walk.controller_state[L.REJECTED] == 1 and walk.controller_state[L.TIME] == 0.0


def test_too_many_steps(body):
    with pytest.raises(ph.errors.StepFailed, match=r"20 steps were tried .* of 4; raise max_steps") as caught:
        ph.integrate(body, "mkrk:dp8", steps=ph.Tolerance(1e-9, max_steps=20), t_end=4.0, **START)
    attrs = caught.value.trajectory.attrs
    assert attrs["steps_accepted"] + attrs["steps_rejected"] == 20


@each("compiled", [True, False])
@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_a_users_error_carries_the_run_so_far(compiled):
    def stops(t, q, omega, parameters):
        if t > 1.0:
            raise ValueError("no more fuel")
        return (0.1, 0.0, 0.0)

    def in_python(t, q, omega, parameters):
        return (*stops(t, q, omega, parameters), f"{t:.3f}")[:3]

    with pytest.raises(ph.errors.UserFunctionError, match="no more fuel") as caught:
        ph.integrate(
            ph.rigid_body((1, 1, 1), torque=stops if compiled else in_python),
            steps=ph.Tolerance(1e-6),
            t_end=2.0,
            **START,
        )
    ds = caught.value.trajectory
    assert 0.5 < ds.time[-1] <= 1.0 and ds.attrs["steps"] == ds.sizes["time"] - 1
    np.testing.assert_allclose(ds.angular_velocity[:, 0], 1.0 + 0.1 * ds.time.values, rtol=1e-6)
    if not compiled:
        assert isinstance(caught.value.__cause__, ValueError)


def test_where_nothing_is_said_of_steps_a_tolerance_chooses_them():
    """Of steps and method: with either of them, or without an end, they are asked for as before."""
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    words = {"t_end": 2.0, "attitude": (0.96, 0.28, 0.0, 0.0), "angular_velocity": (0.0, 0.1, 8.0)}
    ds, told = ph.integrate(top, **words), ph.integrate(top, steps=ph.Tolerance(1e-10), **words)
    assert ds.equals(told) and (ds.attrs["method"], ds.attrs["rtol"]) == ("taylor", 1e-10)
    assert abs(ds.energy_error).max() < 1e-8 and ph.rerun(ds).equals(ds)
    for less in ({"method": "mkrk:dp5"}, {"t_end": None}):
        with pytest.raises(ph.errors.InvalidInput, match="give either step"):
            ph.integrate(top, **(words | less))


@each(
    ("more", "told"),
    [
        ({"steps": ph.Tolerance(1e-6), "step": 0.1}, "give either step, the size of all steps, or a tolerance"),
        ({"step": None}, "give either step, the size of all steps, or a tolerance"),
        ({"step": 0.1, "atol": 1e-6}, "atol is no longer an argument: write steps=polhode.Tolerance(rtol, atol=1e-06)"),
        ({"rtol": 1e-6}, "rtol is no longer an argument: write steps=polhode.Tolerance(1e-06)"),
        ({"clock": [0.0] * 4}, "clock is no longer an argument: write start={'time_variables': ...}"),
        ({"steps": ph.Tolerance(1e-6), "t_end": None}, "give t_end"),
        ({"steps": ph.Tolerance(1e-6), "every": 2, "t_eval": [0.5]}, "every and t_eval are both given"),
        ({"steps": ph.Tolerance(1e-6), "t_eval": [0.5, 1.5]}, "between the start of the run, t = 0, and its end, 1"),
    ],
)
def test_wrong_arguments_are_refused(body, more, told):
    with pytest.raises(ph.errors.InvalidInput) as caught:
        ph.integrate(body, "mkrk:dp5", **({"t_end": 1.0} | more), **START)
    assert told in str(caught.value) and "\n" not in str(caught.value)


@each(
    ("more", "told"),
    [
        ({"rtol": 0.0}, "rtol is 0; it must be at least 1e-17"),
        ({"rtol": 2.0}, "rtol is 2; it must be at least 1e-17, far below round-off, and below 1"),
        ({"rtol": float("nan")}, "rtol is nan"),
        ({"rtol": "small"}, "rtol must be a number"),
        ({"atol": 0.0}, "atol is 0; it must be positive"),
        ({"first_step": -1.0}, "first_step is -1; it must be positive"),
        ({"max_steps": 0}, "max_steps is 0"),
    ],
)
def test_a_wrong_tolerance_is_refused_where_it_is_made(more, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.Tolerance(**{"rtol": 1e-6} | more)


def test_tolerances_below_round_off_are_for_series():
    """A term of a series can be as small as one likes: after 60 revolutions an orbit is better with rtol 1e-16."""
    orbit, (r, v, t_end) = ph.orbit(1.0), ((1.0, 0.0, 0.0), (0.0, 1.1, 0.3), 600.0)
    expected, off = ph.kepler.propagate(r, v, t_end, 1.0)[0], []
    for rtol in (1e-12, 1e-16):
        ds = ph.integrate(orbit, "taylor", steps=ph.Tolerance(rtol), position=r, velocity=v, t_end=t_end)
        off.append(np.abs(ds.position.values[-1] - expected).max())
    assert off[1] < 0.2 * off[0] and off[1] < 5e-12
    with pytest.raises(ph.errors.InvalidInput, match=r"rtol is 1e-16, but round-off .* 'mkrk:dp5' .* 'taylor'"):
        ph.integrate(orbit, "mkrk:dp5", steps=ph.Tolerance(1e-16), position=r, velocity=v, t_end=1.0)


def test_chosen_steps_go_on_from_a_dataset(body):
    """By the tolerance of the run before, beginning with its last step."""
    part = ph.integrate(
        body, "mkrk:dp5", steps=ph.Tolerance(1e-9, max_step=0.1), t_end=2.0, settings={"units": "SI"}, **START
    )
    rest = ph.integrate(body, start=part, t_end=4.0)
    kept = {"steps": ph.Tolerance(1e-9, max_step=0.1, first_step=float(part.step[-1])), "settings": {"units": "SI"}}
    last = part.isel(time=-1)
    state = {name: last[name].values for name in ("attitude", "angular_momentum")}
    same = ph.integrate(body, "mkrk:dp5", t_end=4.0, **kept, start=state | {"time": 2.0, "since": 0.0})
    assert rest.identical(same) and rest.attrs["method"] == "mkrk:dp5"


@each("name", ["trapm", "mkrk", "mkrk:cv8", "s6_10/mr6"])
def test_a_method_without_an_estimate_is_refused(body, name):
    with pytest.raises(
        ph.errors.InvalidInput, match=r"does not estimate its error.*\(bs3, dp5, dp8\), such as 'mkrk:dp8'"
    ):
        ph.integrate(body, name, steps=ph.Tolerance(1e-6), t_end=1.0, **START)


def test_a_record_beyond_all_memory_keeps_what_there_was(body, monkeypatch):
    """With a tolerance nobody knows beforehand how many rows there will be."""
    monkeypatch.setattr(rows, "LARGEST_ROWS", 13 * 300)
    monkeypatch.setattr(rows, "FIRST_ROWS", 16)
    with pytest.raises(
        ph.errors.InvalidInput, match=r"would need .* GB of memory; record less with a larger every"
    ) as refused:
        ph.integrate(body, "mkrk:dp5", steps=ph.Tolerance(1e-12), t_end=400.0, **START)
    kept = refused.value.trajectory
    assert 100 < len(kept.time) <= 300 and "GB of memory" in kept.attrs["incomplete"]
    assert (np.diff(kept.time) > 0.0).all() and np.isfinite(kept.angular_momentum).all()
