"""Runs cut at known times: thrust that is switched, impulses, and the edges of shadows."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import forces, kepler
from polhode.runs import stepping

START = {"position": (1.0, 0.0, 0.1), "velocity": (0.05, 1.0, 0.3)}
ON_GRID, OFF_GRID = (1.0, 2.0), (0.9137, 2.0411)


def end(system, method, n, t_end=3.0, **more):
    return ph.integrate(system, method, step=t_end / n, t_end=t_end, every=n, **START, **more).position[-1].values


def burning(times, direction="radial"):
    return ph.orbit(1.0, forces=[forces.thrust(0.05, direction, start=times[0], stop=times[1])])


@pytest.fixture(scope="module")
def exact():
    """Ends of the burns by three runs of Gauss's method of order 24, each under one steady load, by their own times."""
    found = {}
    for direction in ("radial", "velocity"):
        for times in (ON_GRID, OFF_GRID):
            state, begun = dict(START), 0.0
            for until, on in ((times[0], False), (times[1], True), (3.0, False)):
                system = ph.orbit(1.0, forces=[forces.thrust(0.05, direction)] if on else [])
                ds = ph.integrate(system, "mkrk:gauss12", step=(until - begun) / 40, steps=40, every=40, **state)
                state, begun = {name: ds[name][-1].values for name in START}, until
            found[direction, times] = state["position"]
    return found


# ------------------------------------------------------------------ order across a break
@each("times", [ON_GRID, OFF_GRID], ids=["on grid", "off grid"])
@each(
    ("method", "direction", "n", "order"),
    [
        ("mkrk:rk4", "velocity", 48, 4), ("mkrk:cv8", "velocity", 12, 8), ("rkn6_14a", "radial", 24, 6),
        ("mkrk:gauss8", "velocity", 6, 8), ("v2", "radial", 96, 2), ("pmlf6/kepler", "radial", 5, 6),
    ],
)  # fmt: skip
def test_every_method_keeps_its_order_across_a_burn(exact, times, method, direction, n, order):
    system = burning(times, direction)
    coarse, fine = (np.linalg.norm(end(system, method, k) - exact[direction, times]) for k in (n, 2 * n))
    assert np.log2(coarse / fine) > order - 0.5 or fine < 2e-13
    assert coarse < 1e-3


@each("times", [ON_GRID, OFF_GRID], ids=["on grid", "off grid"])
def test_chosen_steps_end_at_a_break_without_rejections(exact, times):
    ds = ph.integrate(burning(times, "velocity"), "mkrk:dp8", steps=ph.Tolerance(1e-12), t_end=3.0, **START)
    assert set(times) <= set(ds.time.values)
    np.testing.assert_allclose(ds.position[-1], exact["velocity", times], rtol=0, atol=3e-12)
    calm = ph.integrate(ph.orbit(1.0), "mkrk:dp8", steps=ph.Tolerance(1e-12), t_end=3.0, **START)
    assert ds.attrs["steps_rejected"] <= calm.attrs["steps_rejected"] + 1


def test_backwards_the_burn_is_undone():
    for method, pace in (
        ("mkrk:gauss8", {"step": 0.05}), ("pmlf6/kepler", {"step": 0.01}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-13)}),
    ):  # fmt: skip
        shots = [forces.impulse(0.5, (0.01, 0.02, -0.03), "rtn"), forces.impulse(1.5, -0.1, "velocity"),
                 forces.impulse(3.0, (0.1, 0.0, 0.0))]  # fmt: skip
        system = ph.orbit(1.0, forces=[forces.thrust(0.05, "radial", start=0.9137, stop=2.0), *shots])
        there = ph.integrate(system, method, t_end=3.0, **pace, **START)
        last = {name: there[name][-1].values for name in START}
        back = ph.integrate(system, method, start={"time": 3.0}, t_end=0.0, **pace, **last)
        for name, value in START.items():
            np.testing.assert_allclose(back[name][-1], value, rtol=0, atol=1e-11)


# ------------------------------------------------------------------ the grid stays
@each("method", ["mkrk:cv8", "rkn6_14a", "pmlf6/kepler"])
def test_rows_and_samples_are_those_of_the_grid(method):
    burn, shot = forces.thrust(0.05, "radial", start=0.9137, stop=0.93), forces.impulse(1.2, 0.1, "velocity")
    system = ph.orbit(1.0, forces=[burn, shot])
    whole = ph.integrate(system, method, step=0.1, t_end=3.0, **START)
    np.testing.assert_array_equal(whole.time, 0.1 * np.arange(31))
    some = ph.integrate(system, method, step=0.1, t_end=3.0, every=3, **START)
    np.testing.assert_array_equal(some.position, whole.position[::3])
    wanted = [0.0, 0.45, 0.9137, 0.92, 0.95, 1.0, 1.2, 1.25, 3.0]
    samples = ph.integrate(system, method, step=0.1, t_end=3.0, t_eval=wanted, **START)
    np.testing.assert_array_equal(samples.position[[0, 5, 8]], whole.position[[0, 10, 30]])
    # Twelve steps end 2.2e-16 after the impulse, at a speed of 1.
    np.testing.assert_allclose(samples.position[6], whole.position[12], rtol=0, atol=2.5e-16)
    # Off the grid: a run whose grid holds them, its breaks and all.
    fine = ph.integrate(system, "mkrk:gauss8", step=0.01, t_end=3.0, **START)
    for k, t in ((1, 45), (3, 92), (4, 95), (7, 125)):
        np.testing.assert_allclose(samples.velocity[k], fine.velocity[t], rtol=0, atol=2e-6)


@each(
    ("method", "pace"),
    [("mkrk:cv8", {"step": 0.01}), ("pmlf6/kepler", {"step": 0.01}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-11)})],
)
def test_slices_change_nothing(monkeypatch, method, pace):
    system = ph.orbit(1.0, forces=[
        forces.thrust(0.05, "radial", start=0.9137, stop=2.0), forces.impulse(1.2, (0, 0.1, 0.1), "rtn"),
        forces.radiation_pressure(0.01, direction=(-1, 0, 0), shadow="cylinder", radius=0.5),
    ])  # fmt: skip
    arguments = {"t_end": 9.0, "events": ["apsis", "node"], **pace, **START}
    whole = ph.integrate(system, method, **arguments)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 1)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
    cut = ph.integrate(system, method, **arguments)
    for name in ("time", "position", "momentum", "event_time", "event_position"):
        np.testing.assert_array_equal(cut[name], whole[name])
    assert list(cut.event_kind.values) == list(whole.event_kind.values) and len(whole.event_kind) > 2
    again = ph.rerun(whole)
    np.testing.assert_array_equal(again.position, whole.position)
    np.testing.assert_array_equal(again.event_time, whole.event_time)


def test_events_leave_the_trajectory_alone():
    for method, pace in (
        ("mkrk:cv8", {"step": 0.01}), ("pmlf6/kepler", {"step": 0.01}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-11)}),
    ):  # fmt: skip
        plain = ph.integrate(ph.orbit(1.0), method, t_end=9.0, **pace, **START)
        watched = ph.integrate(ph.orbit(1.0), method, t_end=9.0, events=["apsis", "node"], **pace, **START)
        np.testing.assert_array_equal(plain.position, watched.position)
        assert len(watched.event_time) > 3


# ------------------------------------------------------------------ impulses
def test_an_impulse_between_two_arcs():
    """Carson's circular orbit with 0.02 km/s more along the velocity at half time, against two exact conics."""
    mu, r, v = 3200.9998, np.array((0.0, 1664.029, 0.0)), np.array((1.386955, 0.0, 0.0))
    system = ph.orbit(mu, forces=[forces.impulse(43200.0, 0.02, "velocity")])
    r1, v1 = kepler.propagate(r, v, 43200.0, mu)
    after = v1 * (1.0 + 0.02 / np.linalg.norm(v1))
    r2, v2 = kepler.propagate(r1, after, 43200.0, mu)
    for method, pace, near in (
        ("v2/kepler", {"step": 700.0, "t_end": 86100.0}, None), ("v2/kepler", {"step": 720.0}, 2e-8),
        ("mkrk:gauss8", {"step": 100.0}, 1e-7), ("mkrk:dp8", {"steps": ph.Tolerance(1e-13)}, 1e-7),
    ):  # fmt: skip
        ds = ph.integrate(system, method, position=r, velocity=v, **{"t_end": 86400.0, **pace})
        assert list(ds.event_kind.values) == ["impulse"] and ds.event_time.item() == 43200.0
        np.testing.assert_allclose(ds.event_before_velocity[0], v1, rtol=0, atol=1e-10)
        np.testing.assert_allclose(ds.event_velocity[0], after, rtol=0, atol=1e-10)
        work = ds.event_work.item()
        assert work == pytest.approx(0.02 * (np.linalg.norm(v1) + 0.01), rel=1e-12)
        assert abs(ds.energy_change.item(-1) - work) < 1e-12 and ds.work.item(-1) == work
        if near:
            np.testing.assert_allclose(ds.position[-1], r2, rtol=0, atol=near)
            np.testing.assert_allclose(ds.velocity[-1], v2, rtol=0, atol=near)
        if "step" in pace and near:
            row = ds.sel(time=43200.0)
            np.testing.assert_array_equal(row.velocity, ds.event_velocity[0])  # the row is after it


@each("frame", ["inertial", "rtn", "velocity"])
def test_axes_of_an_impulse(frame):
    r, v = np.array(START["position"]), np.array(START["velocity"])
    d = 0.3 if frame == "velocity" else (0.1, -0.2, 0.3)
    ds = ph.integrate(ph.orbit(1.0, forces=[forces.impulse(0.0, d, frame)]), "v2", step=0.1, t_end=0.1, **START)
    change = ds.event_velocity[0].values - v
    along = v / np.linalg.norm(v)
    n = np.cross(r, v) / np.linalg.norm(np.cross(r, v))
    expected = {"inertial": np.array((0.1, -0.2, 0.3)), "velocity": 0.3 * along,
                "rtn": (0.1 * r - 0.2 * np.cross(n, r)) / np.linalg.norm(r) + 0.3 * n}[frame]  # fmt: skip
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ds.velocity[0], ds.event_velocity[0])


def test_impulses_at_both_ends_and_two_at_once():
    shots = [forces.impulse(t, (0, 0, 0.1)) for t in (0.0, 1.0, 1.0, 2.0)]
    for pace in ({"step": 0.1}, {"steps": ph.Tolerance(1e-10)}):
        method = "mkrk:dp8"
        ds = ph.integrate(ph.orbit(1.0, forces=shots), method, t_end=2.0, **pace, **START)
        assert list(ds.event_time.values) == [0.0, 1.0, 1.0, 2.0]
        steps = ds.event_velocity.values - ds.event_before_velocity.values
        np.testing.assert_allclose(steps, [(0, 0, 0.1)] * 4, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(ds.velocity[-1], ds.event_velocity[-1])
        np.testing.assert_array_equal(ds.velocity[0], ds.event_velocity[0])
    assert abs(ds.energy_error[-1] * ds.energy[0]) < 1e-9
    assert float(ds.work[-1].sum()) == pytest.approx(float(ds.event_work.sum()))


def test_the_rest_of_a_run_does_not_fire_again():
    shot, burn = forces.impulse(1.0, 0.1, "velocity"), forces.thrust(0.1, "radial", start=0.2, stop=0.4)
    system = ph.orbit(1.0, forces=[shot, burn])
    whole = ph.integrate(system, "rkn6_14a", step=0.05, t_end=2.0, **START)
    half = whole.sel(time=1.0, method="nearest")
    rest = ph.integrate(system, "rkn6_14a", step=0.05, t_end=2.0, start={"time": 1.0, "since": 0.0},
                        position=half.position, velocity=half.velocity)  # fmt: skip
    np.testing.assert_allclose(rest.position[-1], whole.position[-1], rtol=0, atol=1e-14)
    assert rest.sizes["event"] == 0
    np.testing.assert_array_equal(ph.rerun(rest).position, rest.position)


# ------------------------------------------------------------------ mistakes
@each(
    ("force", "told"),
    [
        (forces.thrust(0.1, "radial", start=5.0, stop=6.0),
         r"forces\[1\], radial thrust: it is on from t = 5 to 6, outside of the run from t = 0 to 3"),
        (forces.thrust(0.1, "radial", stop=-1.0), r"forces\[1\], radial thrust: it is on to -1, outside of the run"),
        (forces.impulse(3.5, 0.1, "velocity"), r"forces\[1\], impulse along the velocity: it is at t = 3.5, outside"),
    ],
)  # fmt: skip
def test_what_is_outside_of_the_run_is_refused(force, told):
    system = ph.orbit(1.0, forces=[forces.uniform((0, 0, 1e-3)), force])
    for pace in ({"step": 0.1}, {"steps": ph.Tolerance(1e-6)}):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.integrate(system, "mkrk:dp8", t_end=3.0, **pace, **START)
    half = ph.orbit(1.0, forces=[forces.thrust(0.1, "radial", start=2.0, stop=6.0)])
    assert ph.integrate(half, "v2", step=0.1, t_end=3.0, **START).attrs["steps"] == 30


@each(
    ("arguments", "told"),
    [
        ((1.0, (0, 0)), "delta_v must be 3 numbers"),
        ((1.0, (0, 0, 0)), "delta_v is zero; leave this impulse out"),
        ((1.0, (1, 0, 0), "velocity"), "delta_v must be one number, for frame is 'velocity'"),
        ((1.0, (1, 0, 0), "lvlh"), "unknown frame 'lvlh'"),
        ((np.nan, (1, 0, 0)), "time is nan"),
    ],
)
def test_wrong_impulses_are_told(arguments, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        forces.impulse(*arguments)


def test_an_impulse_along_no_velocity_is_told():
    system = ph.orbit(1.0, forces=[forces.impulse(0.0, 0.1, "velocity")])
    with pytest.raises(ph.errors.StepFailed, match="its frame has no axes there"):
        ph.integrate(system, "v2", step=0.1, t_end=1.0, position=(1, 0, 0), velocity=0)
