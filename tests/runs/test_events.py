"""Events: apsides, nodes, heights, shadows and functions of the user, found in steps of every kind."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from cover import crossed
from each import each
from polhode import events, forces
from polhode.cli import run
from polhode.errors import InvalidInput, UserFunctionError
from polhode.runs.event_detection import zero
from polhode.runs.scenario import json_schema, read_scenario
from polhode.systems.events import EVENTS

E, A = 0.3, 1.2  # eccentricity and semi-major axis, gravity parameter 1
PERIOD = 2 * np.pi * A**1.5
INCLINATION, ARGUMENT, AT = 0.7, 0.9, 2.0  # argument of periapsis, true anomaly at the start


def kepler_state(f):
    """Position and velocity at a true anomaly, node along x."""
    p = A * (1 - E * E)
    r = p / (1 + E * np.cos(f))
    plane = np.array((np.cos(ARGUMENT + f), np.sin(ARGUMENT + f)))
    speed = np.array((-np.sin(ARGUMENT + f) - E * np.sin(ARGUMENT), np.cos(ARGUMENT + f) + E * np.cos(ARGUMENT)))
    c, s = np.cos(INCLINATION), np.sin(INCLINATION)
    tilt = np.array(((1, 0), (0, c), (0, s)))
    return r * tilt @ plane, tilt @ speed / np.sqrt(p)


def time_since_periapsis(f):
    eccentric = 2 * np.arctan2(np.sqrt(1 - E) * np.sin(f / 2), np.sqrt(1 + E) * np.cos(f / 2))
    return (eccentric - E * np.sin(eccentric)) * A**1.5


def times_of(f, until):
    """Times at which the true anomaly is f."""
    first = (time_since_periapsis(f) - time_since_periapsis(AT)) % PERIOD
    return np.arange(first, until, PERIOD)


START = dict(zip(("position", "velocity"), kepler_state(AT), strict=True))
EXACT = {
    "periapsis": times_of(0.0, 40.0), "apoapsis": times_of(np.pi, 40.0),
    "ascending_node": times_of(-ARGUMENT, 40.0), "descending_node": times_of(np.pi - ARGUMENT, 40.0),
    "altitude_rising": times_of(np.arccos((A * (1 - E * E) / 1.25 - 1) / E), 40.0),
    "altitude_falling": times_of(-np.arccos((A * (1 - E * E) / 1.25 - 1) / E), 40.0),
}  # fmt: skip
ALL = ["apsis", "node", events.altitude(0.25, 1.0)]
METHODS = [
    ("v2/kepler", {"step": 0.8}), ("rkn6_14a/kepler", {"step": 0.8}), ("pmlf6/kepler", {"step": 0.8}),
    ("mkrk:gauss8", {"step": 0.02}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-14)}),
]  # fmt: skip


@each(("method", "pace"), METHODS)
def test_times_of_events_on_a_conic(method, pace):
    ds = ph.integrate(ph.orbit(1.0), method, t_end=40.0, events=ALL, **pace, **START)
    assert (np.diff(ds.event_time) > 0).all()
    for kind, times in EXACT.items():
        found = ds.event_time.values[ds.event_kind.values == kind]
        np.testing.assert_allclose(found, times, rtol=1e-12, atol=1e-12, err_msg=kind)
        assert len(times) > 3
    assert ds.sizes["event"] == sum(map(len, EXACT.values()))
    r, v = ds.event_position.values, ds.event_velocity.values
    apsides = np.isin(ds.event_kind, ("periapsis", "apoapsis"))
    assert np.abs(np.sum(r * v, axis=1)[apsides]).max() < 1e-14
    nodes = np.isin(ds.event_kind, ("ascending_node", "descending_node"))
    assert np.abs(r[nodes, 2]).max() < 1e-14
    assert np.abs(np.linalg.norm(r, axis=1)[~apsides & ~nodes] - 1.25).max() < 1e-14


def test_events_are_as_exact_as_the_method():
    """Leapfrog without the conic: times of order 2, and each on its own surface to round-off all the same."""
    errors = []
    for step in (0.02, 0.01):
        ds = ph.integrate(ph.orbit(1.0), "v2", step=step, t_end=8.0, events=["periapsis"], **START)
        assert abs(float((ds.event_position[0] * ds.event_velocity[0]).sum())) < 1e-14
        errors.append(abs(ds.event_time[0].item() - EXACT["periapsis"][0]))
    assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1


@each(("method", "pace"), [METHODS[1], METHODS[2], METHODS[4]])
def test_backwards_events_keep_their_names(method, pace):
    ds = ph.integrate(ph.orbit(1.0), method, start={"time": 40.0}, t_end=0.0, events=ALL, **pace, **shifted(40.0))
    for kind, times in EXACT.items():
        found = ds.event_time.values[ds.event_kind.values == kind]
        np.testing.assert_allclose(found[::-1], times, rtol=1e-12, atol=3e-12, err_msg=kind)


def shifted(t):
    r, v = ph.kepler.propagate(START["position"], START["velocity"], t, 1.0)
    return {"position": r, "velocity": v}


def test_only_what_was_asked_for():
    asked = ["periapsis", "descending_node", {"kind": "altitude", "height": 0.25, "radius": 1.0, "which": "rising"}]
    ds = ph.integrate(ph.orbit(1.0), "v2/kepler", step=0.8, t_end=40.0, events=asked, **START)
    assert set(ds.event_kind.values) == {"periapsis", "descending_node", "altitude_rising"}
    assert ds.sizes["event"] == sum(len(EXACT[kind]) for kind in set(ds.event_kind.values))
    plane = events.node("ascending", normal=(0, 0, -2.0))
    ds = ph.integrate(ph.orbit(1.0), "v2/kepler", step=0.8, t_end=40.0, events=[plane], **START)
    np.testing.assert_allclose(ds.event_time, EXACT["descending_node"], rtol=1e-12)


# ------------------------------------------------------------------ zeros at the ends of steps
def straight(**more):
    """A free particle along x from -1 with speed 1: exact in binary for steps of a power of two."""
    return {"position": (-1.0, 0.0, 0.0), "velocity": (1.0, 0.0, 0.0), **more}


@each(
    ("method", "pace"),
    [
        ("v2", {"step": 0.25}),
        ("pmlf4", {"step": 0.25}),
        ("mkrk:dp8", {"steps": ph.Tolerance(1e-8, first_step=0.25, max_step=0.25)}),
    ],
)
@each("end", [1.0, 2.0])
def test_a_zero_at_the_end_of_a_step_is_one_event(method, pace, end):
    system = ph.particle(mass=1.0, gravity=(0, 0, 0))
    cross = events.node(normal=(1, 0, 0))
    ds = ph.integrate(system, method, t_end=end, events=[cross], **pace, **straight())
    assert ds.event_time.values == pytest.approx([1.0], abs=1e-15)
    assert list(ds.event_kind.values) == ["ascending_node"]
    rest = ph.integrate(system, method, start={"time": 1.0}, t_end=2.0, events=[cross], **pace,
                        position=(0, 0, 0), velocity=(1, 0, 0))  # fmt: skip
    assert list(rest.event_time.values) == [1.0] and list(rest.event_kind.values) == ["ascending_node"]
    stopped = ph.integrate(system, method, t_end=end, events=[events.node(normal=(1, 0, 0), terminal=True)], **pace,
                           **straight())  # fmt: skip
    assert stopped.time[-1] == ds.event_time[0] and abs(stopped.position[-1, 0]) < 1e-15 and "stopped" in stopped.attrs
    assert (np.diff(stopped.time) > 0).all()


def test_touching_zero_is_no_event():
    system = ph.particle(mass=1.0, gravity=(0, 0, 0))
    touch = events.user(lambda t, position, velocity, q, omega, parameters: position[0] ** 2, name="touch")
    ds = ph.integrate(system, "v2", step=0.25, t_end=2.0, events=[touch], **straight())
    assert ds.sizes["event"] == 0 and ds.event_time.dtype == float


def test_several_events_in_a_step_are_told_in_order():
    system = ph.particle(mass=1.0, gravity=(0, 0, 0))
    places = [0.7, 0.1, 0.4, 0.4, 0.9]

    def at(x):
        return events.user(lambda t, position, velocity, q, omega, parameters: position[0] - x, name=f"at {x}")

    for pace in ({"step": 5.0}, {"steps": ph.Tolerance(1e-6, first_step=5.0)}):
        ds = ph.integrate(system, "mkrk:dp8", t_end=5.0, events=[at(x) for x in places], **pace, **straight())
        assert list(ds.event_kind.values) == [f"at {x}" for x in sorted(places)]
        np.testing.assert_allclose(ds.event_time, 1 + np.sort(places), rtol=1e-15)


def test_the_finder_of_zeros():
    """Steep, flat and kinked functions, to the last digit; never outside, never endless."""
    for f, a, b, x in (
        (lambda x: x**9, -1.0, 2.0, 0.0), (lambda x: np.tanh(1e6 * (x - 1.2345)), 0.0, 7.0, 1.2345),
        (lambda x: x * x - 2.0, 0.0, 2.0, np.sqrt(2)), (lambda x: 1.0 if x > 3.3 else -1e-9, 0.0, 10.0, 3.3),
        (lambda x: np.cos(x), 1e9, 1e9 + 3.0, (np.floor(1e9 / np.pi + 0.5) + 0.5) * np.pi),
    ):  # fmt: skip
        calls = []

        def counted(x, f=f, calls=calls):
            calls.append(x)
            return f(x)

        for low, high in ((a, b), (b, a)):
            found = zero(counted, low, f(low), high, f(high))
            assert abs(found - x) <= 4e-16 * max(abs(a), abs(b)) + (1e-7 if f(0.5) == 0.5**9 else 0)
        assert len(calls) < 220 and a <= min(calls) and max(calls) <= b


# ------------------------------------------------------------------ the end of a run
@each(
    ("method", "pace"),
    [("pmlf6/kepler", {"step": 0.4}), ("mkrk:cv8", {"step": 0.02}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-12)})],
)
def test_a_terminal_event_ends_the_run(method, pace):
    stop = events.altitude(0.25, 1.0, "falling", terminal=True)
    arguments = {"t_end": 40.0, "events": ["apsis", stop], **pace, **START}
    ds = ph.integrate(ph.orbit(1.0), method, **arguments)
    t = EXACT["altitude_falling"][0]
    assert ds.time[-1].item() == ds.event_time[-1].item() == pytest.approx(t, rel=1e-11)
    assert ds.event_kind.values.tolist() == ["apoapsis", "altitude_falling"]
    np.testing.assert_array_equal(ds.position[-1], ds.event_position[-1])
    assert (np.diff(ds.time) > 0).all() and "incomplete" not in ds.attrs
    assert ds.attrs["stopped"] == f"stopped by the event 'altitude_falling' at t = {t:.9g}"
    wanted = np.array([0.1, t - 1e-3, t + 1e-3, 39.0])
    samples = ph.integrate(ph.orbit(1.0), method, t_eval=wanted, **arguments)
    np.testing.assert_array_equal(samples.time, [*wanted[:2], ds.time[-1]])
    np.testing.assert_array_equal(samples.position[-1], ds.position[-1])


def test_an_impact_ends_the_run():
    system = ph.orbit(1.0, surface=1.0)
    ds = ph.integrate(system, "mkrk:cv8", step=0.05, t_end=40.0, **START)
    assert ds.event_kind.values.tolist() == ["impact"] and "'impact'" in ds.attrs["stopped"]
    assert np.linalg.norm(ds.position[-1]) == pytest.approx(1.0, abs=1e-15)
    f = -np.arccos((A * (1 - E * E) - 1) / E)
    assert ds.time[-1].item() == pytest.approx(times_of(f, 40.0)[0], rel=1e-9)
    with pytest.raises(ph.errors.InvalidInput, match="below the surface of radius 1"):
        ph.integrate(ph.orbit(1.0, surface=1.3), "v2", step=0.05, t_end=1.0, position=(1, 0, 0), velocity=(0, 1, 0))
    leaves = ph.integrate(system, "v2", step=0.05, t_end=1.0, position=(1, 0, 0), velocity=(1.5, 1, 0))
    assert leaves.time[-1] == 1.0 and leaves.sizes["event"] == 0


# ------------------------------------------------------------------ functions of the user
def test_events_of_a_body_that_turns():
    """A body that turns about z with a rate of 2: its x axis crosses the plane x = 0 at odd multiples of pi/4."""
    frames = (ph.free_body((1.0, 2.0, 3.0)), ph.free_body(np.diag((3.0, 2.0, 1.0))))

    def ahead(t, position, velocity, q, omega, parameters):
        return q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3]

    def slow(t, position, velocity, q, omega, parameters):
        try:  # of which nothing is compiled
            return 1.0 - 2.0 * (q[2] ** 2 + q[3] ** 2) + 0.0 * omega[2]
        except KeyError:
            return 1.0

    exact = np.pi / 4 * np.arange(1, 12, 2)
    for system in frames:
        start = {"angular_velocity": (0, 0, 2.0)}
        ds = ph.integrate(system, "mkrk:gauss8", step=0.1, t_end=9.0, events=[events.user(ahead)], **start)
        np.testing.assert_allclose(ds.event_time, exact, rtol=1e-13)
        np.testing.assert_allclose(ds.event_angular_velocity, [(0, 0, 2.0)] * 6, rtol=0, atol=1e-14)
        np.testing.assert_allclose(ds.event_attitude[0], (0.5**0.5, 0, 0, 0.5**0.5), rtol=0, atol=1e-14)
        assert "event_position" not in ds
        with pytest.warns(ph.errors.SlowFunctionWarning, match="event 'slow'"):
            again = ph.integrate(system, "mkrk:gauss8", step=0.1, t_end=9.0, events=[events.user(slow, 1)], **start)
        np.testing.assert_allclose(again.event_time, exact[1::2], rtol=1e-13)
        rerun = ph.rerun(ds, ahead=ahead)
        np.testing.assert_array_equal(rerun.event_time, ds.event_time)
        with pytest.raises(ph.errors.InvalidInput, match="used a function for the event 'ahead'"):
            ph.rerun(ds)


def test_a_users_event_sees_the_parameters_and_many_may_be_watched():
    def force(t, position, velocity, p):
        return (-p[0] * position[0], 0.0, 0.0)

    def at_rest(t, position, velocity, q, omega, parameters):
        return velocity[0]

    def quarter(t, position, velocity, q, omega, parameters):
        return position[0] - parameters[1]

    system = ph.particle(mass=1.0, force=force, parameters=(4.0, 0.5))
    asked = [events.user(at_rest), events.user(quarter, -1)]
    ds = ph.integrate(system, "mkrk:gauss8", step=0.05, t_end=3.0, events=asked, position=(1.0, 0, 0))
    expected = [(0.0, "at_rest"), (np.pi / 6, "quarter"), (np.pi / 2, "at_rest")]
    assert ds.event_kind.values.tolist() == [name for _, name in expected]
    np.testing.assert_allclose(ds.event_time, [t for t, _ in expected], rtol=1e-10, atol=0)


@each(("compiled", "pace"), crossed([True, False], [{"step": 0.01}, {"steps": ph.Tolerance(1e-8)}]))
@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_a_failing_event_function_is_told(compiled, pace):
    def broken(t, position, velocity, q, omega, parameters):
        if t > 0.5:
            raise ValueError("no such place")
        return 1.0

    def in_python(t, position, velocity, q, omega, parameters):
        try:  # of which nothing is compiled
            return broken(t, position, velocity, q, omega, parameters)
        except KeyError:
            return 1.0

    with pytest.raises(ph.errors.UserFunctionError, match="no such place") as caught:
        asked = events.user(broken if compiled else in_python)
        ph.integrate(ph.orbit(1.0), "mkrk:dp8", t_end=2.0, events=asked, **pace, **START)
    assert 0.3 < caught.value.trajectory.time[-1] < 0.52


# ------------------------------------------------------------------ shadows
RADIUS, CIRCLE = 1.0, 1.3
ROUND = {"position": (CIRCLE, 0.0, 0.0), "velocity": (0.0, CIRCLE**-0.5, 0.0)}


def test_times_of_a_shadow():
    """Of a circular orbit with the Sun along -x: the cylinder where sin is 1/1.3, ahead of the far side."""
    rate, half = CIRCLE**-1.5, np.arcsin(RADIUS / CIRCLE)
    seen = events.eclipse(RADIUS, direction=(-3.0, 0, 0))
    ds = ph.integrate(
        ph.orbit(1.0), "v2/kepler", step=np.pi / rate / 40, t_end=2 * np.pi / rate, events=[seen], **ROUND
    )
    np.testing.assert_allclose(ds.event_time, np.array((half, 2 * np.pi - half)) / rate, rtol=1e-13)
    assert ds.event_kind.values.tolist() == ["shadow_exit", "shadow_entry"]
    far, sun = 40.0, 2.0
    cone = events.eclipse(RADIUS, position=(-far, 0, 0), shadow="cone", sun_radius=sun)
    ds = ph.integrate(
        ph.orbit(1.0), "v2/kepler", step=np.pi / rate / 40, t_end=2 * np.pi / rate, events=[cone], **ROUND
    )
    # Tangents to both circles: their angles with the line of centres, and where they meet the orbit.
    times = {}
    for kind, slope in (("umbra", np.arcsin((sun - RADIUS) / far)), ("penumbra", -np.arcsin((sun + RADIUS) / far))):
        times[kind] = (half - slope) / rate
    assert ds.event_kind.values.tolist() == ["umbra_exit", "penumbra_exit", "penumbra_entry", "umbra_entry"]
    np.testing.assert_allclose(ds.event_time[:2], (times["umbra"], times["penumbra"]), rtol=1e-13)


def test_the_shadow_follows_a_sun_that_moves():
    times = np.linspace(-1.0, 31.0, 60)
    places = 200.0 * np.column_stack([np.cos(0.05 * times), np.sin(0.05 * times), 0.0 * times])
    circle = {"radius": 200.0, "period": 2.0 * np.pi / 0.05}
    for sun in ({"circle": circle}, {"times": times, "positions": places}):
        ds = ph.integrate(ph.orbit(1.0), "kepler", step=0.05, t_end=30.0, position=(1.0, 0, 0), velocity=(0, 0.9, 0.3),
                          events=[events.node(), events.eclipse(0.4, **sun)])  # fmt: skip
        shadow = ds.event_kind.isin(["shadow_entry", "shadow_exit"]).values
        t, r = ds.event_time.values[shadow], ds.event_position.values[shadow]
        assert len(t) > 8
        s = np.column_stack([np.cos(0.05 * t), np.sin(0.05 * t), 0.0 * t])
        np.testing.assert_allclose(
            np.linalg.norm(np.cross(r, s), axis=1), 0.4, rtol=0, atol=1e-12 if "circle" in sun else 1e-6
        )
        assert ((r * s).sum(axis=1) < 0.0).all()


def lit_or_not(n, method="mkrk:gauss12"):
    """End of a run in light that is switched at the edges of the cylinder, by arcs of its own: found from outside.

    The edges are found by bisection of runs under one steady load each, Gauss's method of order 24.
    """
    light, dark = (ph.orbit(1.0, forces=list(f)) for f in ((forces.uniform((0.02, 0.0, 0.0)),), ()))
    state, t, system = dict(ROUND), 0.0, dark

    def at(state, span, system):
        ds = ph.integrate(system, method, step=span / n, steps=n, every=n, **state)
        return {name: ds[name][-1].values for name in ROUND}

    def outside(state):
        r = state["position"]
        return max(-r[0], np.hypot(r[1], r[2]) - RADIUS)

    while True:
        sign, reach = (-1.0, 3.2) if system is dark else (1.0, 7.8)
        low, high = 0.0, min(reach, END - t)
        if sign * outside(at(state, high, system)) > 0.0 and high == END - t:
            return at(state, high, system)["position"]
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if sign * outside(at(state, middle, system)) > 0.0 else (low, middle)
        state, t, system = at(state, low, system), t + low, light if system is dark else dark


END = 10.5


@pytest.fixture(scope="module")
def through_the_shadow():
    return lit_or_not(60)


@each(
    ("method", "n", "order"),
    [("mkrk:gauss8", 20, 8), ("rkn6_14a", 40, 6), ("pmlf6/kepler", 40, 6), ("mkrk:rk4", 80, 4)],
)
def test_methods_keep_their_order_across_a_shadow(through_the_shadow, method, n, order):
    light = forces.radiation_pressure(0.02, direction=(-1.0, 0, 0), shadow="cylinder", radius=RADIUS)
    system = ph.orbit(1.0, forces=[light])
    found = []
    for k in (n, 2 * n):
        ds = ph.integrate(system, method, step=END / k, t_end=END, **ROUND)
        found.append(np.linalg.norm(ds.position[-1] - through_the_shadow))
    assert np.log2(found[0] / found[1]) > order - 0.7 or found[1] < 2e-13
    assert found[0] < 2e-3


def test_chosen_steps_end_at_a_shadow(through_the_shadow):
    light = forces.radiation_pressure(0.02, direction=(-1.0, 0, 0), shadow="cylinder", radius=RADIUS)
    ds = ph.integrate(ph.orbit(1.0, forces=[light]), "mkrk:dp8", steps=ph.Tolerance(1e-13), t_end=END, **ROUND)
    np.testing.assert_allclose(ds.position[-1], through_the_shadow, rtol=0, atol=1e-11)
    assert ds.attrs["steps_rejected"] < 5
    for rtol in (1e-6, 1e-9):
        loose = ph.integrate(ph.orbit(1.0, forces=[light]), "mkrk:dp8", steps=ph.Tolerance(rtol), t_end=END, **ROUND)
        assert np.linalg.norm(loose.position[-1] - through_the_shadow) < 300 * rtol


def test_the_edges_of_a_penumbra_are_cut():
    """Chosen steps have a step end at each of the four contacts; with steps of one size the order stays."""
    cone = {"position": (-40.0, 0, 0), "shadow": "cone", "sun_radius": 2.0}
    light = forces.radiation_pressure(0.02, radius=RADIUS, **cone)
    system = ph.orbit(1.0, forces=[light])
    seen = events.eclipse(RADIUS, **cone)
    ds = ph.integrate(system, "mkrk:dp8", steps=ph.Tolerance(1e-12), t_end=8.0, events=[seen], **ROUND)
    assert ds.sizes["event"] == 4
    for t in ds.event_time.values:
        assert np.abs(ds.time.values - t).min() < 1e-14
    # The light leaves each contact with the power 3/2 of the time: cut or not, no method has its full order there.
    uncut = dataclasses.replace(system, watches=())
    errors = {True: [], False: []}
    for n in (100, 140, 180, 220, 260):
        for cut in errors:
            end = ph.integrate(system if cut else uncut, "mkrk:gauss8", step=8.0 / n, t_end=8.0, **ROUND).position[-1]
            errors[cut].append(np.linalg.norm(end - ds.position[-1]))
    assert np.mean(errors[True]) < 0.5 * np.mean(errors[False])


# ------------------------------------------------------------------ mistakes
WRONG = {
    "word": ("perigee", "unknown event 'perigee'"),
    "close word": ("periapsys", "did you mean 'periapsis'"),
    "thing": (3, "an event must be made by polhode.events"),
    "kind": ({"kind": "apsi"}, "did you mean 'apsis'"),
    "argument": ({"kind": "altitude", "height": 1.0, "radios": 1.0}, "mean 'radius'"),
    "missing": ({"kind": "altitude", "height": 1.0}, "radius is missing; altitude needs it"),
    "which": ({"kind": "apsis", "which": "perigee"}, "unknown which of apsis 'perigee'"),
    "normal": ({"kind": "node", "normal": (0, 0, 0)}, "normal is zero; give a direction"),
    "height": ({"kind": "altitude", "height": -2.0, "radius": 1.0}, "below the centre"),
    "terminal": ({"kind": "apsis", "terminal": "yes"}, "terminal must be True or False"),
    "no sun": ({"kind": "eclipse", "radius": 1.0}, "nothing says where the body is; give a place of the Sun"),
    "cone": ({"kind": "eclipse", "radius": 1.0, "position": (1, 0, 0), "shadow": "cone"}, "sun_radius is missing"),
    "far cone": ({"kind": "eclipse", "radius": 1.0, "direction": (1, 0, 0), "shadow": "cone", "sun_radius": 1.0},
                 "the cone needs a place of the Sun"),
    "no cone": ({"kind": "eclipse", "radius": 1.0, "direction": (1, 0, 0), "sun_radius": 1.0}, "leave it out"),
    "function": ({"kind": "user", "function": 3}, "event must be a function of"),
    "arguments": ({"kind": "user", "function": lambda t: t}, "must take the arguments"),
    "direction": ({"kind": "user", "function": lambda t, r, v, q, w, p: t, "direction": 2}, "direction is 2; it must"),
}  # fmt: skip


@each("name", WRONG)
def test_mistakes_are_told(name):
    event, told = WRONG[name]
    with pytest.raises(ph.errors.InvalidInput, match=rf"events\[1\]: .*{told}"):
        ph.integrate(ph.orbit(1.0), "v2", step=0.1, t_end=1.0, events=["apsis", event], **START)


def test_events_must_suit_the_system():
    with pytest.raises(ph.errors.InvalidInput, match="does not move through space; it has no apsis"):
        ph.integrate(ph.free_body((1, 2, 3)), "v2", step=0.1, t_end=1.0, events="apsis")
    with pytest.raises(ph.errors.InvalidInput, match="events must be a list"):
        ph.integrate(ph.orbit(1.0), "v2", step=0.1, t_end=1.0, events=7, **START)


def test_a_dataset_with_events_goes_to_disk(tmp_path):
    none = [events.altitude(50.0, 1.0)]
    for suffix, asked in ((".nc", ALL), (".nc", none), (".zarr", ALL)):
        ds = ph.integrate(ph.orbit(1.0), "v2/kepler", step=0.8, t_end=20.0, events=asked, **START)
        path = ph.save(ds, tmp_path / f"orbit{len(asked)}{suffix}")
        read = ph.load(path)
        assert [str(kind) for kind in read.event_kind.values] == list(ds.event_kind.values)
        np.testing.assert_array_equal(read.event_position, ds.event_position)
        np.testing.assert_array_equal(ph.rerun(read).event_time, ds.event_time)


# ------------------------------------------------------------------ scenarios
SCENARIO = """\
method = "rkn6_14a/kepler"
events = ["periapsis", { kind = "altitude", height = 0.25, radius = 1.0, which = "rising" }]

[system]
type = "orbit"
mu = 1.0
surface = 0.1
forces = [
  { kind = "impulse", time = 9.0, delta_v = 0.01, frame = "velocity" },
  { kind = "impulse", time = 11.0, delta_v = [0, 0, 0.01] },
]

[initial]
position = [1.1, 0.0, 0.1]
velocity = [0.0, 1.0, 0.2]

[run]
step = 0.25
t_end = 20.0
"""


@pytest.fixture
def read(tmp_path):
    def reading(text=SCENARIO, **more):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path, **more)

    return reading


def test_a_scenario_with_events(read, tmp_path):
    scenario = read()
    ds = scenario.integrate()
    assert set(ds.event_kind.values) == {"periapsis", "altitude_rising", "impulse"} and ds.sizes["event"] == 6
    # Stopped on its way and gone on with: at an impulse's own row, and elsewhere.
    for row in (36, 40, 70):
        part = ds.isel(time=slice(0, row + 1))
        rest = scenario.continued(part).integrate()
        np.testing.assert_allclose(rest.position[-1], ds.position[-1], rtol=0, atol=1e-12)
        late = ds.event_time.values[ds.event_time.values > part.time[-1].item()]
        np.testing.assert_allclose(rest.event_time, late, rtol=0, atol=1e-11)
    (tmp_path / "own.py").write_text(
        "def far(t, position, velocity, q, omega, parameters):\n    return position[0] - 1.0\n"
    )
    own = SCENARIO.replace('"periapsis", {', '{ kind = "user", function = "own.py:far", direction = -1 }, {')
    assert "far" in read(own, allow_code=True).integrate().event_kind.values
    tables = SCENARIO.replace(SCENARIO.splitlines()[1], "") + '\n[[events]]\nkind = "node"\nterminal = true\n'
    assert "node" in read(tables).integrate().attrs["stopped"]


@each(
    ("old", "new", "told"),
    [
        ('"periapsis"', '"perigee"', r"toml:2: events\[0\]: unknown event 'perigee'"),
        ('"periapsis"', "3", r"toml:2: events\[0\]"),
        ('which = "rising"', 'which = "up"', r"toml:2: events\[1\].which: expected 'rising' or 'falling'"),
        ("height = 0.25, ", "", r"toml:2: events\[1\].height: expected this key"),
        ("height = 0.25", "hight = 0.25", r"events\[1\].hight: unknown key; did you mean 'height'"),
        ('kind = "altitude"', 'kind = "altitud"', "did you mean 'altitude'"),
        ('kind = "altitude", ', "", r"events\[1\]: expected a key kind, one of altitude, apsis"),
        ("height = 0.25, radius = 1.0", "height = 0.25, radius = -1.0", r"events\[1\].radius: radius is -1"),
        (
            "time = 9.0",
            "time = 29.0",
            r"toml:8: system.forces: forces\[0\], impulse along the velocity: it is at t = 29",
        ),
        ("surface = 0.1", "surface = -0.1", "toml:7: system.surface: surface is -0.1; it must be 0 or positive"),
        (
            'frame = "velocity"',
            'frame = "along"',
            r"system.forces\[0\].frame: expected 'inertial', 'rtn' or 'velocity'",
        ),
    ],
)
def test_mistakes_in_scenarios_are_told(read, old, new, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        read(SCENARIO.replace(old, new, 1))


def test_the_summary_counts_events(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orbit.toml").write_text(SCENARIO + "\n")
    result = CliRunner().invoke(run.command, ["orbit.toml", "--no-picture"])
    assert result.exit_code == 0, result.output
    assert "periapsis, t = " in result.output and "2 impulse, t = 9 to 11" in result.output
    falling = SCENARIO.replace("surface = 0.1", "surface = 0.9").replace("1.0, 0.2", "0.7, 0.1")
    (tmp_path / "fall.toml").write_text(falling)
    result = CliRunner().invoke(run.command, ["fall.toml", "--no-picture"])
    assert result.exit_code == 0 and "stopped by the event 'impact'" in result.output
    facts = json.loads(CliRunner().invoke(run.command, ["fall.toml", "--no-picture", "--json", "-q"]).stdout)
    assert facts["events"]["impact"]["count"] == 1 and facts["stopped"].startswith("stopped by")


# ------------------------------------------------------------------ kinds of one's own
def height_above(t, position, velocity, q, omega, parameters):
    return position[2] - 0.1


@pytest.fixture
def rising():
    """A kind of event of the user's: where a body rises through a plane."""

    def plane(terminal: bool = False) -> ph.events.Event:
        """Where the path rises through a plane.

        Parameters
        ----------
        terminal : bool
            whether the run ends there
        """
        return ph.events.user(height_above, direction=1, terminal=terminal, name="plane")

    yield ph.events.add_event(plane)
    del EVENTS["plane"]


def test_a_kind_of_event_of_ones_own(rising, tmp_path):
    assert ph.events.add_event(rising) is rising
    start = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 0.8, 0.6)}
    ds = ph.integrate(ph.orbit(1.0), "kepler", step=0.05, steps=400, events=[{"kind": "plane"}], **start)
    same = ph.integrate(ph.orbit(1.0), "kepler", step=0.05, steps=400, events=[rising()], **start)
    assert ds.event_time.size >= 3 and ds.equals(same)
    path = tmp_path / "plane.toml"
    path.write_text(
        'events = [{ kind = "plane", terminal = true }]\nmethod = "kepler"\n[system]\ntype = "orbit"\nmu = 1.0\n'
        "[initial]\nposition = [1.0, 0.0, 0.0]\nvelocity = [0.0, 0.8, 0.6]\n[run]\nstep = 0.05\nsteps = 400\n"
    )
    assert float(ph.runs.read_scenario(path).integrate().time[-1]) == pytest.approx(float(ds.event_time[0]), rel=1e-12)
    assert "PlaneEvent" in json_schema()["$defs"]


def test_a_kind_of_event_that_cannot_be_added_says_why(rising):
    def plane(terminal: bool = False) -> ph.events.Event:
        return ph.events.node()

    def odd(terminal=False):
        return ph.events.node()

    for build, told in ((plane, "already an event 'plane'"), (odd, "annotated as nothing"), (3, "must be a function")):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.events.add_event(build)
    assert "odd" not in EVENTS


def test_an_event_may_read_states():
    """Those of wheels and of the user's own, compiled; where there are none it says so."""
    wheels = ph.reaction_wheels([(0, 0, 1), (1, 0, 0)], 0.5, command=(0.3, 0.1))
    body = ph.rigid_body((3, 3.5, 4), wheels=wheels)

    def heavy(t, position, velocity, q, omega, parameters, states):
        return states.wheel_momentum[0] - 1.0

    def turning(t, position, velocity, q, omega, parameters):
        return omega[2] + 0.1

    ds = ph.integrate(
        body, "mkrk:cv8", step=0.5, t_end=10, events=[events.user(heavy, terminal=True), events.user(turning)]
    )
    assert ds.event_kind.values.tolist() == ["turning", "heavy"]
    np.testing.assert_allclose(ds.event_time, [0.1 * 3.5 / 0.3, 1.0 / 0.3], rtol=1e-12)

    def torque(t, q, omega, parameters, states):
        return (0.0, 0.0, 0.0), 1.0

    def half(t, position, velocity, q, omega, parameters, states):
        return states.x - 2.5

    own = ph.rigid_body((1, 2, 3), torque=torque, states={"x": {"start": 0.0}})
    ds = ph.integrate(own, "mkrk:cv8", step=0.2, t_end=5.0, angular_velocity=(1, 0, 0.1), events=[events.user(half)])
    np.testing.assert_allclose(ds.event_time, [2.5], rtol=1e-12)
    with pytest.raises(InvalidInput, match=r"event 'half' .* takes states, but 'free_body' has none"):
        ph.integrate(ph.free_body((1, 2, 3)), step=0.1, t_end=1, angular_velocity=(1, 0, 0), events=[events.user(half)])

    def both(t, position, velocity, q, omega, parameters, states):
        return states.wheel_momentum

    with pytest.raises(UserFunctionError, match="as the value at t = 0; it must be one number"):
        ph.integrate(body, "s6_10", step=0.5, t_end=1.0, events=[events.user(both)])


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_functions_that_are_no_programs_are_watched_each_by_itself():
    class Above:
        def __init__(self, height):
            self.height = height

        def __call__(self, t, position, velocity, q, omega, parameters):
            return float(position[2]) - self.height

    def counted_above(t, position, velocity, q, omega, parameters):  # no program: it counts to where the body is
        count = 0
        while count < position[2]:
            count += 1
        return position[2] - parameters[0] + 0.0 * count

    ball = ph.particle(1.0, force=lambda t, position, velocity, p: (0.0, 0.0, 0.0 * p[0]), parameters=[1.5])
    watched = [events.user(Above(2.5), name="above 2.5"), events.user(counted_above)]
    ds = ph.integrate(ball, "v2", step=0.2, t_end=4.0, velocity=(0, 0, 1.0), events=watched)
    assert ds.event_kind.values.tolist() == ["counted_above", "above 2.5"]
    np.testing.assert_allclose(ds.event_time, [1.5, 2.5], rtol=1e-12)
