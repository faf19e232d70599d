"""Impulses on the bodies of a sum."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput

MU = 3.986004415e14
PLACES = [(6.9e6, 0.0, 0.0), (6.9e6, 1000.0, 200.0)]
SPEEDS = [(0.0, 5383.0, 5383.0), (10.0, 5380.0, 5390.0)]
CHANGES = {"inertial": (3.0, -1.0, 2.0), "rtn": (0.5, 4.0, -1.0), "velocity": -3.0}


@each("method", ("rkn6_14a/kepler", "mkrk:cv8", "taylor"))
@each("frame", CHANGES)
def test_an_impulse_is_that_of_an_orbit_on_the_body_it_is_on(frame, method):
    """Of two bodies one is pushed at a time between steps; each moves as its own orbit does."""
    sudden = ph.loads.impulse(CHANGES[frame], at=123.4, frame=frame)
    both = ph.system(ph.body("a", 500.0), ph.body("b", 20.0), ph.loads.central(MU), sudden.on("b"))
    words = {"step": 10.0, "t_end": 600.0, "every": 60}
    ds = ph.integrate(both, method, position=PLACES, velocity=SPEEDS, **words)
    pushed = ph.orbit(MU, 20.0, [ph.forces.impulse(123.4, CHANGES[frame], frame)])
    for name, system, k in (("a", ph.orbit(MU, 500.0), 0), ("b", pushed, 1)):
        alone = ph.integrate(system, method, position=PLACES[k], velocity=SPEEDS[k], **words)
        assert abs(ds.position.sel(body=name).values - alone.position.values).max() < 1e-6
        if k:
            assert float(ds.work[-1, 0]) == pytest.approx(float(alone.work[-1, 0]), rel=1e-12)
    assert float(abs(ds.energy_error).max()) < 1e-13
    assert [float(t) for t in ds.event_time] == [123.4]
    assert np.array_equal(ph.rerun(ds).position.values, ds.position.values)


def test_a_point_about_a_centre_alone_is_pushed_by_its_usual_method():
    """Work is a variable, which the method for a centre alone would not advance."""
    ours = ph.system(ph.body("a", 2.0), ph.loads.central(MU), ph.loads.impulse(3.0, at=15.0, frame="velocity"))
    assert ours.recommended == "abah10_6_4/kepler"
    ds = ph.integrate(ours, step=10.0, t_end=60.0, position=PLACES[0], velocity=SPEEDS[0])
    speed = np.linalg.norm(SPEEDS[0])
    assert float(ds.work[-1, 0]) == pytest.approx((speed + 3.0) ** 2 - speed**2, rel=1e-6)


def test_without_on_every_body_is_pushed_and_back_again():
    sudden = ph.loads.impulse((1.0, 0.0, 0.0), at=0.5)
    free = ph.system(ph.body("a", 2.0), ph.body("b", 3.0, (1, 1, 1)), sudden)
    there = ph.integrate(free, "v2", step=0.1, steps=10)
    assert np.allclose(there.velocity.values[-1], [(1, 0, 0)] * 2) and float(there.work[-1, 0]) == pytest.approx(2.5)
    back = ph.integrate(free, "v2", step=0.1, t_end=0.0, start=there)
    assert abs(back.position.values[-1]).max() < 1e-15 and abs(back.velocity.values[-1]).max() < 1e-15


def test_what_is_no_impulse_is_said():
    with pytest.raises(InvalidInput, match="delta_v is zero"):
        ph.loads.impulse((0, 0, 0), at=1.0)
    with pytest.raises(InvalidInput, match="one number"):
        ph.loads.impulse((0, 1, 0), at=1.0, frame="velocity")
    with pytest.raises(InvalidInput, match="frame"):
        ph.loads.impulse((0, 1, 0), at=1.0, frame="body")
    for when in ("noon", None, {"no": "kind"}):
        with pytest.raises(InvalidInput, match="at"):
            ph.loads.impulse((0, 1, 0), at=when)
    with pytest.raises(InvalidInput, match="'top', which is pinned"):
        ph.system(ph.body("top", inertia=(1, 1, 1), pinned=True), ph.loads.impulse((0, 1, 0), at=1.0))


# ------------------------------------------------------------------ at events
def circularised(**more):
    """From an ellipse of 7000 by 9000 km to a circle, at the first apoapsis."""
    near, far = 7.0e6, 9.0e6
    slow, fast = np.sqrt(MU * (2.0 / far - 2.0 / (near + far))), np.sqrt(MU / far)
    apoapsis = ph.events.apsis("apoapsis", body="sat")
    return (
        ph.system(ph.body("sat", 10.0), ph.loads.central(MU),
                  ph.loads.impulse(fast - slow, at=apoapsis, frame="velocity", once=True).on("sat")),
        {"position": (near, 0.0, 0.0), "velocity": (0.0, slow * far / near, 0.0), "events": [apoapsis]} | more,
    )  # fmt: skip


ADAPTIVE = {"steps": ph.Tolerance(1e-13), "t_end": 2e4, "t_eval": np.linspace(0.0, 2e4, 41)}
EQUAL = {"step": 50.0, "t_end": 2e4, "every": 10}
RUNS = [("v2/kepler", EQUAL), ("rkn6_14a/kepler", EQUAL), ("mkrk:cv8", EQUAL | {"step": 20.0, "every": 25}),
        ("mkrk:dp5", ADAPTIVE), ("taylor", ADAPTIVE)]  # fmt: skip


@each(("method", "words"), RUNS)
def test_an_impulse_at_an_event_is_where_it_is_met(method, words):
    system, start = circularised()
    ds = ph.integrate(system, method, **words, **start)
    half = np.pi * np.sqrt(8.0e6**3 / MU)
    r = np.linalg.norm(ds.position, axis=1)
    assert abs(r[ds.time > half] - 9.0e6).max() < 1e-3 and r[0] == 7.0e6
    kinds = ds.event_kind.values.tolist()
    assert kinds[:2] == ["apoapsis", "impulse"] and kinds.count("impulse") == 1  # the event is told once
    np.testing.assert_allclose(ds.event_time[:2], half, rtol=1e-11)
    change = np.linalg.norm(ds.event_velocity[1] - ds.event_before_velocity[1])
    assert change == pytest.approx(float(system.arguments["impulse"]["delta_v"]), rel=1e-9)
    assert system.conserves == () and "angular_momentum_space_error" not in ds
    assert float(abs(ds.energy_error).max()) < 1e-10 and float(ds.work[-1, 0]) > 1e6


def floor(ball):
    return ball.position[2]


def bouncing(**more):
    up = 2.0 * np.sqrt(2.0 * 9.81)
    touch = ph.events.of(floor, direction=-1).on("ball")
    return ph.system(ph.body("ball", 2.0), ph.body("other", 1.0), ph.loads.weight(),
                     ph.loads.impulse((0.0, 0.0, up), at=touch, **more).on("ball"))  # fmt: skip


@each("method", ["v2", "mkrk:cv8", "rkn6_14a", "mkrk:dp5", "taylor"])
def test_a_ball_bounces_at_each_event_of_a_function(method):
    """Also where a step of the method would pass over a whole bounce."""
    by_steps = method in ("v2", "mkrk:cv8", "rkn6_14a")
    words = {"step": 0.01} if by_steps else {"steps": ph.Tolerance(1e-12)}
    ds = ph.integrate(bouncing(), method, t_end=5.0, position=[(0, 0, 1.0), (3, 0, 1.0)], **words)
    fall = np.sqrt(2.0 / 9.81)
    np.testing.assert_allclose(ds.event_time, fall * (1 + 2 * np.arange(6)), rtol=1e-9)
    since = (5.0 - fall) % (2.0 * fall) - fall  # from the top
    np.testing.assert_allclose(ds.position[-1, :, 2], [1.0 - 4.905 * since**2, 1.0 - 4.905 * 25.0], rtol=1e-8)
    once = ph.integrate(bouncing(once=True), method, t_end=2.5, position=[(0, 0, 1.0), (3, 0, 1.0)], **words)
    assert len(once.event_time) == 1 and float(once.position[-1, 0, 2]) < -1.0


def test_its_runs_are_run_again_and_go_on(tmp_path):
    start = {"position": [(0, 0, 1.0), (3, 0, 1.0)], "step": 0.01}
    ds = ph.integrate(bouncing(), "v2", steps=300, **start)
    with pytest.raises(InvalidInput, match="function"):
        ph.rerun(ds)
    assert np.array_equal(ph.rerun(ds, impulse_at=floor).position, ds.position)
    further = ph.integrate(bouncing(), "v2", start=ds, step=0.01, steps=200)
    whole = ph.integrate(bouncing(), "v2", steps=500, **start)
    np.testing.assert_allclose(further.position[-1], whole.position[-1], rtol=0, atol=1e-12)
    system, start = circularised()
    ds = ph.integrate(system, "v2/kepler", **EQUAL, **start)
    assert np.array_equal(ph.rerun(ds).position, ds.position)
    written = ph.runs.write_scenario(tmp_path / "circle.toml", system, "v2/kepler", **EQUAL, **start)
    again = ph.runs.read_scenario(written[0]).integrate()
    assert np.array_equal(again.position, ds.position)


def test_members_of_an_ensemble_are_pushed_each_at_its_own_time():
    system, start = circularised()
    heights = np.array([[7.0e6, 0.0, 0.0], [7.1e6, 0.0, 0.0]])
    words = {"step": 50.0, "t_end": 1e4, "every": 20}
    both = ph.ensemble(system, "v2/kepler", members={"position": heights}, **words, velocity=start["velocity"])
    for k, place in enumerate(heights):
        alone = ph.integrate(system, "v2/kepler", **words, position=place, velocity=start["velocity"])
        np.testing.assert_allclose(both.position[k], alone.position, rtol=0, atol=1e-6)


def test_what_cannot_be_done_at_an_event_is_said():
    system, start = circularised()
    with pytest.raises(InvalidInput, match="forwards in time only"):
        ph.integrate(system, "v2/kepler", step=50.0, t_end=-1e4, **start)
    kick = {"delta_v": (1.0, 0.0, 0.0)}
    with pytest.raises(InvalidInput, match="body of the event"):
        ph.system(ph.body("a", 1.0), ph.loads.impulse(at=ph.events.apsis(body="b"), **kick))
    with pytest.raises(InvalidInput, match="but there are 2"):
        ph.system(ph.body("a", 1.0), ph.body("b", 1.0), ph.loads.impulse(at=ph.events.apsis(), **kick))
    with pytest.raises(InvalidInput, match="unknown kind of event"):
        ph.system(ph.body("a", 1.0), ph.loads.impulse(at={"kind": "nowhere"}, **kick))
    with pytest.raises(InvalidInput, match="once"):
        ph.loads.impulse(at=3.0, once=True, **kick)

    def stuck(a):
        return a.position[0] - 0.5 + 0.0 * a.velocity[0]

    again = ph.system(ph.body("a", 1.0), ph.loads.impulse((-2.0, 0.0, 0.0), at=ph.events.of(stuck, direction=1)))
    ds = ph.integrate(again, "v2", step=0.1, steps=20, velocity=(1.0, 0.0, 0.0))
    assert len(ds.event_time) == 1 and float(ds.position[-1, 0]) == pytest.approx(-1.0)


def test_impulses_and_switches_of_further_loads_of_a_builder_act():
    pushed = ph.orbit(MU, loads=[ph.loads.impulse((10.0, 0.0, 0.0), at=100.0)])
    words = {"step": 10.0, "steps": 20, "position": (7e6, 0.0, 0.0), "velocity": (0.0, 7500.0, 0.0)}
    ds = ph.integrate(pushed, "mkrk:cv8", **words)
    own = ph.integrate(ph.orbit(MU, forces=[ph.forces.impulse(100.0, (10.0, 0.0, 0.0))]), "mkrk:cv8", **words)
    np.testing.assert_allclose(ds.position, own.position, rtol=0, atol=1e-6)
    burning = ph.orbit(MU, 2.0, loads=[ph.loads.thrust((10.0, 0.0, 0.0), start=50.0, stop=100.0)])
    assert [(one.start, one.stop) for one in burning.switches] == [(50.0, 100.0)]
    free = ph.integrate(ph.orbit(MU, 2.0), "mkrk:cv8", **words)
    there = ph.integrate(burning, "mkrk:cv8", **words)
    assert np.array_equal(there.velocity[5], free.velocity[5])
    assert abs(float(there.velocity[10, 0] - free.velocity[10, 0]) - 250.0) < 1.0


def test_what_an_impulse_changes_is_not_conserved():
    """Momenta, of one body or of many; beside a builder, too. The spin of a body with wheels stays."""
    kick = ph.loads.impulse((1.0, 0.0, 0.0), at=1.0)
    wheels = ph.reaction_wheels([(0.0, 0.0, 1.0)], 0.01)
    made = [ph.system(ph.body("a", 1.0), kick), ph.system(*ph.bodies(5, 1.0), kick), ph.orbit(1.0, loads=[kick]),
            ph.system(ph.body("a", 1.0, (1.0, 2.0, 2.5), wheels=wheels), kick)]  # fmt: skip
    assert [one.conserves for one in made] == [(), (), (), ("spin",)]
    assert "momentum (impulse)" in repr(made[0])
