"""Taylor methods of systems whose loads are traced: accuracy, chosen steps, events, loads that choose, refusals."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from math import cos, pi, sin

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode import forces
from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.methods import method
from polhode.methods.taylor_series import order_for
from polhode.runs import stepping
from polhode.runs.integrator import Integrator

EARTH = ph.planets.EARTH
TURNED = {"attitude": ph.rotation.exp_quaternion((0.4, -0.7, 0.3)), "angular_velocity": (0.8, -0.5, 1.1)}
LOW = {"position": (7000.0, 0.0, 100.0), "velocity": (0.0, 5.4, 5.4)}
DAY = 86400.0


def driven(t, q, omega, parameters):
    bend = np.array([np.tanh(q[0]), q[1] * q[2], np.cos(3.0 * t)])
    return -parameters[0] * (1.0 + omega @ omega) * omega + parameters[1] * bend


def swing(t, position, velocity, parameters):
    return -parameters[0] * position - parameters[1] * np.sqrt(velocity @ velocity) * velocity


def low_orbit():
    return ph.orbit(398600.4418, forces=[forces.zonal(J2=1.0826e-3, radius=6378.1363)])


def satellite():
    air = forces.drag(kd=1e-9, radius=6900.0, scale=60.0, rotation=7.292e-5)
    return ph.spacecraft((90e-6, 70e-6, 60e-6), 398600.4418, mass=120.0, forces=[*low_orbit().arguments["forces"], air])


CASES = {
    "orbit": (low_orbit, LOW, 20_000.0),
    "satellite": (satellite, LOW | TURNED | {"angular_velocity": (1e-3, 2e-3, -1e-3)}, 8_000.0),
    "torque of a user's": (lambda: ph.rigid_body((2, 3, 4), torque=driven, parameters=[0.05, 0.3]), TURNED, 10.0),
    "force of a user's": (
        lambda: ph.particle(2.0, force=swing, parameters=[1.5, 0.1]),
        {"position": (1, 0, 0.2), "velocity": (0, 1, 0)}, 10.0,
    ),
    "three bodies": (
        lambda: ph.gravitating_bodies((1.0, 1e-3, 2e-3)),
        {"position": [(0, 0, 0), (1, 0, 0), (0, 2, 0.1)], "velocity": [(0, 0, 0), (0, 1, 0), (-0.7, 0, 0)]}, 10.0,
    ),
    "top": (lambda: ph.heavy_top((5, 4, 1.5), (0.1, 0.2, 1.0), 20.0), TURNED, 5.0),
    "body in space": (
        lambda: ph.rigid_body((1.0, 1.6, 2.3), mass=2.0), TURNED | {"position": (1, 2, 3), "velocity": (0.5, -1, 1)},
        5.0,
    ),
    "rod": (
        lambda: ph.systems.gravity_gradient((1.0, 1.0, 0.0), 2.0, 1.7), TURNED | {"angular_velocity": (1, 0.5, 0)}, 4.0,
    ),
}  # fmt: skip


@functools.cache
def exact(name):
    """By an implicit method of order 12 in small steps."""
    build, start, span = CASES[name]
    return ph.integrate(build(), "mkrk:gauss12", step=span / 800, steps=800, every=400, **start)


def distance(a, b):
    """Largest difference of places and velocities, relative, and of attitudes and rates, at the end."""
    found = []
    for name in ("position", "velocity", "attitude", "angular_velocity", "work"):
        if name in a:
            x, y = (np.asarray(ds[name].isel(time=-1)) for ds in (a, b))
            scale = np.abs(y).max() if name != "work" else max(1.0, np.abs(y).max())
            found.append(np.abs(x - y).max() / scale)
    return max(found)


@each("name", chosen(CASES, ("orbit", "satellite", "torque of a user's", "three bodies")))
def test_any_system(name):
    build, start, span = CASES[name]
    system, known = build(), exact(name)
    chosen = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-13), t_end=span, **start)
    assert distance(chosen, known) < 2e-11
    assert chosen.attrs["steps_rejected"] == 0 and 5 < chosen.attrs["steps"] < 100
    equal = ph.integrate(system, "taylor18", step=span / 160, steps=160, **start)
    assert distance(equal, known) < 2e-11
    back = {name: equal[name].isel(time=-1) for name in start if name in equal}
    there = {"time": span, **{name: np.asarray(value) for name, value in back.items()}}
    again = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-13), start=there, t_end=0.0)
    if "work" not in again:
        assert distance(again, equal.isel(time=[0])) < 2e-11


def test_kepler_orbits():
    """Of eccentricity 0.9, ten revolutions; its solution is known."""
    system, start = ph.orbit(1.0), {"position": (0.1, 0, 0), "velocity": (0, 19.0**0.5, 0)}
    known = ph.integrate(system, "kepler", step=20 * pi, steps=1, **start)
    for rtol in (1e-6, 1e-9, 1e-12):
        found = ph.integrate(system, "taylor", steps=ph.Tolerance(rtol), t_end=20 * pi, **start)
        assert distance(found, known) < 1e5 * rtol


def test_a_smaller_tolerance_is_a_smaller_error():
    system, start, span = CASES["satellite"][0](), *CASES["satellite"][1:]
    errors = [
        distance(ph.integrate(system, "taylor", steps=ph.Tolerance(rtol), t_end=span, **start), exact("satellite"))
        for rtol in (1e-4, 1e-6, 1e-8, 1e-10)
    ]
    assert errors == sorted(errors, reverse=True)
    assert all(error < 1e3 * rtol for error, rtol in zip(errors, (1e-4, 1e-6, 1e-8, 1e-10), strict=True))


def test_the_order_follows_from_the_tolerance():
    orders = [order_for(rtol) for rtol in (1e-2, 1e-6, 1e-9, 1e-12, 1e-14)]
    assert orders == [8, 12, 16, 18, 20] and order_for(1e-16) == 22
    integrator = Integrator(low_orbit(), method("taylor"), np.zeros(13), adaptive=True)
    integrator.adapt(0.0, 1e-9, 1e-12)
    assert integrator.int_coefficients[0] == order_for(1e-9)
    integrator = Integrator(low_orbit(), method("taylor14"), np.zeros(13), adaptive=True)
    integrator.adapt(0.0, 1e-9, 1e-12)
    assert integrator.int_coefficients[0] == 14


def test_steps_are_limited_as_asked():
    ds = ph.integrate(
        low_orbit(), "taylor", steps=ph.Tolerance(1e-10, max_step=50.0, first_step=2.0), t_end=1000.0, **LOW
    )
    sizes = ds.step.values[1:]
    assert sizes[0] == 2.0 and sizes.max() == 50.0


def test_a_free_motion_is_one_step():
    ds = ph.integrate(ph.particle(2.0), "taylor", steps=ph.Tolerance(1e-10), t_end=1e6, position=(1, 2, 3),
                      velocity=(1, 0, -1))  # fmt: skip
    assert ds.attrs["steps"] == 1
    np.testing.assert_array_equal(ds.position[-1], (1 + 1e6, 2, 3 - 1e6))


@each("scale", (1e-12, 1e12))
def test_any_unit_of_time(scale):
    """Coefficients neither overflow nor vanish, whatever the first scale."""
    system = ph.orbit(1.0 / scale**2)
    start = {"position": (1, 0, 0), "velocity": (0, 1.1 / scale, 0)}
    ds = ph.integrate(system, "taylor24", steps=ph.Tolerance(1e-12), t_end=1e3 * scale, **start)
    known = ph.integrate(system, "kepler", step=1e3 * scale, steps=1, **start)
    assert 300 < ds.attrs["steps"] < 3000 and distance(ds, known) < 1e-7


# ------------------------------------------------------------------ what must not change a run
CHOSEN = {"steps": ph.Tolerance(1e-11), "t_end": 20_000.0, **LOW}


@each("first", (1, 5))
def test_slices_rows_samples_and_events_change_no_bit(monkeypatch, first):
    whole = ph.integrate(low_orbit(), "taylor", **CHOSEN)
    monkeypatch.setattr(stepping, "FIRST_SLICE", first)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
    sliced = ph.integrate(low_orbit(), "taylor", **CHOSEN)
    assert sliced.identical(whole)
    for more in ({"every": 7}, {"t_eval": np.linspace(0, 20_000, 33)}, {"events": ["node", "periapsis"]}):
        other = ph.integrate(low_orbit(), "taylor", **CHOSEN, **more)
        np.testing.assert_array_equal(other.position[-1], whole.position[-1])
        assert other.attrs["load_evaluations"] == whole.attrs["load_evaluations"] == whole.attrs["steps"]


def test_samples_lie_on_the_polynomial():
    times = np.linspace(0, 20_000, 41)
    dense = ph.integrate(low_orbit(), "taylor", **CHOSEN, t_eval=times)
    steps = ph.integrate(low_orbit(), "taylor20", step=25.0, steps=800, t_eval=times, **LOW)
    np.testing.assert_allclose(dense.position, steps.position, rtol=0, atol=7000 * 1e-8)


@each("direction", (1.0, -1.0))
def test_events_are_found_on_the_polynomial(direction):
    asked = {"events": ["node", "periapsis", "apoapsis"], **LOW}
    chosen = ph.integrate(low_orbit(), "taylor", steps=ph.Tolerance(1e-13), t_end=20_000.0 * direction, **asked)
    known = ph.integrate(low_orbit(), "taylor24", step=50.0, t_end=20_000.0 * direction, **asked)
    assert chosen.event_kind.values.tolist() == known.event_kind.values.tolist() and chosen.sizes["event"] > 6
    np.testing.assert_allclose(chosen.event_time, known.event_time, rtol=0, atol=1e-7)


def moon(t):
    return np.transpose([384400.0 * np.cos(2.7e-6 * t), 384400.0 * np.sin(2.7e-6 * t), 0.0 * t])


TABLES = {
    "a third body": lambda: forces.third_body(
        4902.8, times=np.linspace(-1e4, 2e4, 25), positions=moon(np.linspace(-1e4, 2e4, 25))
    ),
    "the density of the air": lambda: forces.drag(
        coefficient=1e-8, table=[(6900.0, 1e-3), (6990.0, 5e-4), (7050.0, 3e-4), (7200.0, 1e-4)]
    ),
}


@each("name", TABLES)
def test_steps_end_at_the_rows_of_tables(name):
    """The references too are cut at the rows of a table by the time; those by the radius they meet somewhere."""
    system = ph.orbit(398600.4418, forces=[TABLES[name]()])
    chosen = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-13), t_end=12_000.0, **LOW)
    known = ph.integrate(system, "mkrk:gauss12", step=10.0, steps=1200, **LOW)
    np.testing.assert_allclose(chosen.position[-1], known.position[-1], rtol=0, atol=7000 * 2e-12)
    assert chosen.attrs["steps"] < 30


def test_the_penumbra():
    """The light begins and ends as a power 3/2 of the time, which has a series beside these moments only."""
    sun = forces.radiation_pressure(1e-7, position=(1.5e8, 0, 0), shadow="cone", radius=6378.0, sun_radius=7e5)
    system = ph.orbit(398600.4418, forces=[sun])
    chosen = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-13), t_end=12_000.0, **LOW)
    known = ph.integrate(system, "mkrk:dp8", steps=ph.Tolerance(1e-13), t_end=12_000.0, **LOW)
    np.testing.assert_allclose(chosen.position[-1], known.position[-1], rtol=0, atol=7000 * 2e-10)
    rng = np.random.default_rng(5)
    for r, faster, tilt in rng.random((8, 3)) * (8000.0, 0.2, 0.8) + (7000.0, 0.95, 0.0):
        speed = faster * np.sqrt(398600.4418 / r)
        asked = {"position": (r, 0.0, 100.0), "velocity": (0.0, speed * np.cos(tilt), speed * np.sin(tilt))}
        chosen, known = (
            ph.integrate(system, name, steps=ph.Tolerance(1e-12), t_end=30_000.0, **asked)
            for name in ("taylor", "mkrk:dp8")
        )
        np.testing.assert_allclose(chosen.position[-1], known.position[-1], rtol=0, atol=1e-8 * r)


def test_steps_end_at_switches_shadows_and_impulses():
    sun = forces.radiation_pressure(1e-7, direction=(1, 0, 0), shadow="cylinder", radius=6378.0)
    burn = forces.thrust(1e-5, direction="velocity", start=1000.0, stop=1700.0)
    kick = forces.impulse(5000.0, 0.01, "velocity")
    system = ph.orbit(398600.4418, forces=[sun, burn, kick])
    chosen = ph.integrate(system, "taylor", steps=ph.Tolerance(1e-13), t_end=12_000.0, **LOW)
    known = ph.integrate(system, "mkrk:gauss12", step=20.0, steps=600, **LOW)
    np.testing.assert_allclose(chosen.position[-1], known.position[-1], rtol=0, atol=7000 * 1e-10)


def test_other_values_of_parameters_compile_nothing():
    system = ph.rigid_body((2, 3, 4), torque=driven, parameters=[0.05, 0.3])
    asked = {"steps": ph.Tolerance(1e-10), "t_end": 5.0, **TURNED}
    first = ph.integrate(system, "taylor", **asked)
    compiled = []
    with jit.watched(lambda: compiled.append(True)):
        other = ph.integrate(system, "taylor", parameters=[0.2, -0.4], **asked)
    assert not compiled
    fresh = ph.rigid_body((2, 3, 4), torque=driven, parameters=[0.2, -0.4])
    assert ph.integrate(fresh, "taylor", **asked).angular_velocity.identical(other.angular_velocity)
    assert not np.allclose(first.angular_velocity[-1], other.angular_velocity[-1])


# ------------------------------------------------------------------ loads that choose
def two_springs(t, position, velocity, parameters):
    return np.where(position[0] > 0.0, -1.0, -4.0) * position


def at_time(t):
    """Of a release at 1: half swings of length pi and pi/2, the second of half the width."""
    t = (t + pi / 2) % (1.5 * pi)
    return (sin(t), cos(t)) if t < pi else (-0.5 * sin(2 * (t - pi)), -cos(2 * (t - pi)))


STEPS = ({"steps": ph.Tolerance(1e-12), "t_end": 20.0}, {"step": 0.5, "steps": 40}, {"step": 0.1, "t_end": -20.0})


@each("steps", STEPS, ids=["chosen", "equal", "back"])
def test_a_spring_that_changes_its_stiffness(steps):
    ds = ph.integrate(ph.particle(force=two_springs), "taylor20", position=(1, 0, 0), velocity=0, **steps)
    np.testing.assert_allclose(
        [ds.position[-1, 0], ds.velocity[-1, 0] * np.sign(steps.get("t_end", 1.0))], at_time(20.0), rtol=0, atol=1e-11
    )


def rough(t, position, velocity, parameters):
    return np.array([-parameters[0] * np.sign(velocity[0]), 0.0, np.floor(t)])


def pulse(t, position, velocity, parameters):
    return np.where((t > 1.0) & (t < 1.001), 1000.0, 0.0) * np.array([1.0, 0.0, 0.0])


@each("steps", ({"steps": ph.Tolerance(1e-10), "t_end": 3.5}, {"step": 0.7, "steps": 5}), ids=["chosen", "equal"])
def test_sliding_stairs_and_short_pulses(steps):
    """Sliding against friction, from the left and from the right, under a load that grows by 1 every second."""
    for speed in (3.0, -3.0):
        ds = ph.integrate(ph.particle(force=rough, parameters=[0.5]), "taylor12", position=(0, 0, 0),
                          velocity=(speed, 0, 0), **steps)  # fmt: skip
        np.testing.assert_allclose(ds.position[-1], np.sign(speed) * np.array([3 * 3.5 - 0.25 * 3.5**2, 0, 0])
                                   + (0, 0, 0.5 * (2.5**2 + 1.5**2 + 0.5**2)), rtol=0, atol=1e-12)  # fmt: skip
    ds = ph.integrate(ph.particle(force=pulse), "taylor12", position=(0, 0, 0), velocity=0, **steps)
    np.testing.assert_allclose(ds.velocity[-1], (1, 0, 0), rtol=0, atol=1e-11)
    np.testing.assert_allclose(ds.position[-1], (2.4995, 0, 0), rtol=0, atol=1e-11)


def pushed(t, position, velocity, parameters):
    return -0.5 * np.sign(velocity) + np.array([0.0, parameters[0], 0.0])


def size_of_place(t, position, parameters):
    return abs(position[0])


@each("v", [-1.0, 1.0])
def test_a_kink_in_which_a_run_begins(v):
    """The formula is that of the side to which it goes."""
    particle = ph.particle(1.0, potential=size_of_place)
    ds = ph.integrate(particle, "taylor14", step=0.25, steps=2, position=(0.0, 0.0, 0.0), velocity=(v, 0.0, 0.0))
    assert ds.position[:, 0].values == pytest.approx([0.0, v * 0.21875, v * 0.375], abs=1e-15)


@each("push", (0.7, -0.7, 0.0))
def test_what_is_at_rest_begins_to_slide(push):
    """The sign of zero is zero, until it is left to either side; the third coordinate never leaves it."""
    start = {"position": (0, 0, 0), "velocity": (2.0, 0, 0)}
    for steps in ({"steps": ph.Tolerance(1e-10), "t_end": 2.0}, {"step": 0.5, "steps": 4}):
        ds = ph.integrate(ph.particle(force=pushed, parameters=[push]), "taylor12", **steps, **start)
        assert ds.velocity[-1, 0] == pytest.approx(1.0, abs=1e-13) and ds.velocity[-1, 2] == 0.0
        assert ds.velocity[-1, 1] == pytest.approx(2.0 * (push - 0.5 * np.sign(push)), abs=1e-12)


def held(t, position, velocity, parameters):
    return -np.sign(position[0] + velocity[0]) * np.array([1.0, 0.0, 0.0]) - 2.0 * velocity


def test_a_choice_that_changes_without_end_is_told():
    """The motion reaches a surface from which both formulas lead back to it."""
    start = {"position": (0.1, 0, 0), "velocity": 0}
    for steps in ({"step": 10.0, "steps": 1}, {"steps": ph.Tolerance(1e-9), "t_end": 10.0}):
        with pytest.raises(ph.errors.StepFailed, match="from one formula to another again and again"):
            ph.integrate(ph.particle(force=held), "taylor12", **steps, **start)


def test_the_choice_of_a_tolerance_gives_way_to_a_method_without_series():
    """On the surface x + v = 0, where the motion stays, x' = -x."""
    how = {"steps": ph.Tolerance(1e-3), "t_end": 1.0, "position": (0.1, 0, 0), "velocity": 0}
    with pytest.warns(ph.errors.PolhodeWarning, match="taken with 'mkrk:dp8' in the place of 'taylor'"):
        ds = ph.integrate(ph.particle(force=held), settings={"guard": False}, **how)
    assert ds.attrs["method"] == "mkrk:dp8" and ds.time.values[-1] == 1.0
    x = ds.position.values[:, 0]
    k = int(np.searchsorted(ds.time.values, 0.2))
    np.testing.assert_allclose(x[-1], x[k] * np.exp(ds.time.values[k] - 1.0), rtol=2e-3)
    assert ph.rerun(ds, force=held).identical(ds)
    with pytest.raises(ph.errors.StepFailed, match="take 'mkrk:dp8', or write loads that are smooth there"):
        ph.integrate(ph.particle(force=held), "taylor", **how)
    with pytest.raises(ph.errors.StepFailed, match="take 'mkrk:cv8'"):
        ph.integrate(ph.particle(force=held), "taylor12", step=10.0, steps=1, position=(0.1, 0, 0), velocity=0)


# ------------------------------------------------------------------ what is refused
def table(t, position, velocity, parameters):
    return np.interp(position, [0.0, 1.0], [0.0, 1.0])


def test_what_cannot_be_traced_is_refused_with_the_reason():
    system = ph.particle(force=table)
    for asked in ({"step": 0.1, "steps": 1}, {"steps": ph.Tolerance(1e-9), "t_end": 1.0}):
        with pytest.raises(InvalidInput, match=r"'taylor16' needs .* cannot be traced: .*interp.*; take 'mkrk:cv8'"):
            ph.integrate(system, "taylor16", position=(1, 0, 0), velocity=0, **asked)


def test_sums_are_always_compensated():
    """Energy of a low orbit over three days of short steps; plain sums: 9e-15."""
    day = ph.integrate(low_orbit(), "taylor20", step=20.0, steps=12960, every=1296, **LOW)
    assert np.abs(day.energy_error).max() < 4e-15 and day.position_compensation.values[1:].any()
    asked = ph.integrate(
        low_orbit(), "taylor20", step=20.0, steps=12960, every=1296, settings={"compensated": True}, **LOW
    )
    assert (asked.position.values == day.position.values).all()


@pytest.mark.full
def test_the_steps_are_compiled_directly(tmp_path):
    """Numba would take ten times as long."""
    program = (
        "import polhode as ph\n"
        "from polhode.kernel import jit\n"
        "jit.LEAVES = False\n"
        "for steps in ({'steps': ph.Tolerance(1e-9)}, {'step': 0.05}):\n"
        "    ph.integrate(ph.orbit(1.0), 'taylor', t_end=0.5, position=(1, 0, 0), velocity=(0, 1, 0), **steps)\n"
    )
    environment = os.environ | {"POLHODE_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_a_fall_into_the_centre_ends_with_the_size_of_its_last_steps():
    with pytest.raises(ph.errors.StepTooSmall, match=r"asks for steps below \d\S*e-1\d in step") as told:
        ph.integrate(
            ph.orbit(1.0), "taylor", steps=ph.Tolerance(1e-10), position=(1.0, 0.0, 0.0), velocity=0, t_end=5.0
        )
    assert told.value.trajectory.time[-1] == pytest.approx(np.pi / 8**0.5)


def test_a_run_says_what_drift_it_may_have():
    """The error of the energy grows in proportion to the time, and stays below what is said."""
    top, start = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), {"angular_velocity": (0.0, 1.0, 20.0)}
    ds = ph.integrate(top, "taylor", steps=ph.Tolerance(1e-6), t_end=400.0, **start)
    allowed = float(
        re.search(
            r"may drift, linearly in time; the tolerance allows 1e-06 of it in a step, (\S+) in", ds.attrs["drift_note"]
        )[1]
    )
    assert allowed == pytest.approx(1e-6 * ds.attrs["steps"], rel=0.05)
    half, whole = (abs(float(ds.energy_error.interp(time=t))) for t in (200.0, 400.0))
    assert 1.8 < whole / half < 2.2 and whole < allowed
    ds = ph.integrate(top, "taylor8", step=0.01, steps=5, **start)
    assert ds.attrs["drift_note"].endswith("half the step divides the drift by 2^8")
    assert "drift_note" not in ph.integrate(top, "v2", step=0.01, steps=5, **start).attrs
    ds = ph.ensemble(top, "taylor", members=2, steps=ph.Tolerance(1e-6), t_end=1.0, **start)  # with counts of their own
    assert ds.attrs["drift_note"].endswith("the tolerance allows 1e-06 of it in a step")
