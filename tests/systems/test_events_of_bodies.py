"""Ready events of bodies by their names, against two-body motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import polhode as ph
from each import each
from polhode.errors import InvalidInput, PolhodeError

E = 0.4
"""Eccentricity of the relative orbit; its semi-major axis and gravity parameter are 1."""
TILT = np.array([[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]])
SHARE = 0.25
PAIR = ph.system(ph.body("star", 1.0 - SHARE), ph.body("planet", SHARE), ph.loads.gravitation(1.0))


def relative(t):
    """Place of the planet from the star: Kepler's equation, periapsis at t = 0."""
    x = brentq(lambda x: x - E * np.sin(x) - t, t - 1.0, t + 1.0, xtol=1e-15)
    return TILT @ (np.cos(x) - E, np.sqrt(1 - E * E) * np.sin(x), 0.0)


def start(t):
    h = 1e-4
    d = relative(t)
    v = (relative(t - 2 * h) - 8 * relative(t - h) + 8 * relative(t + h) - relative(t + 2 * h)) / (12 * h)
    return {"position": [-SHARE * d, (1 - SHARE) * d], "velocity": [-SHARE * v, (1 - SHARE) * v]}


def events(*wanted, t_end=6.2, system=PAIR, **words):
    ds = ph.integrate(system, "rkn6_14a", step=0.01, t_end=t_end, every=1000, events=list(wanted), start=start(-0.5),
                      **words)  # fmt: skip
    return list(zip(ds.event_kind.values.tolist(), (ds.event_time.values - 0.5).tolist(), strict=True))


def test_distances_and_apsides():
    found = events(ph.events.closest_approach("star", "planet"), ph.events.apsis(body="planet", about="star"),
                   ph.events.distance("planet", "star", 1.0))  # fmt: skip
    names = [name for name, _ in found]
    assert sorted(names) == ["apoapsis", "closest_approach", "distance_falling", "distance_rising", "periapsis"]
    times = dict(found)
    assert times["closest_approach"] == pytest.approx(0.0, abs=1e-6) == times["periapsis"]
    assert times["apoapsis"] == pytest.approx(np.pi, abs=1e-6)
    rising = np.pi / 2 - E  # of the eccentric anomaly pi/2, where the distance is 1
    assert times["distance_rising"] == pytest.approx(rising, abs=1e-6)
    assert times["distance_falling"] == pytest.approx(2 * np.pi - rising, abs=1e-6)


def test_nodes_and_transits():
    """The planet crosses z = 0 through the star at both apsides; it passes before the star for an observer along -y."""
    found = events(ph.events.node(body="planet", about="star"), ph.events.transit("planet", "star", 0.2, (1, 0, 0)),
                   t_end=6.0)  # fmt: skip
    nodes = {name: t for name, t in found if "node" in name}
    assert nodes["ascending_node"] == pytest.approx(0.0, abs=1e-6)
    assert nodes["descending_node"] == pytest.approx(np.pi, abs=1e-6)
    seen = {name: t for name, t in found if "transit" in name}
    half = brentq(lambda t: np.linalg.norm(relative(t)[1:]) - 0.2, 0.0, 1.0, xtol=1e-14)
    assert seen["transit_begin"] == pytest.approx(-half, abs=1e-6)
    assert seen["transit_end"] == pytest.approx(half, abs=1e-6)


def test_of_one_kind_only_terminal_and_about_the_origin():
    falling = ph.events.distance("star", "planet", 1.0, "falling", terminal=True)
    kinds = [name for name, _ in events(ph.events.apsis("apoapsis", body="planet", about="star"), falling)]
    assert kinds == ["apoapsis", "distance_falling"]
    alone = events(ph.events.apsis(body="planet"), ph.events.node(body="planet", normal=(0, 1, 0)))
    assert {name for name, _ in alone} == {"periapsis", "apoapsis", "ascending_node", "descending_node"}
    three = ph.gravitating_bodies(mass=(1.0, 1e-3, 1e-3), names=("a", "b", "c"))
    ds = ph.integrate(three, "s6_10/kepler", step=0.05, t_end=30.0, events=[ph.events.distance("b", "c", 1.2)],
                      start={"b": {"position": (1, 0, 0), "velocity": (0, 1, 0)},
                             "c": {"position": (1.6, 0, 0), "velocity": (0, 0.79, 0)}})  # fmt: skip
    for r in ds.event_position.values:
        assert np.linalg.norm(r[2] - r[1]) == pytest.approx(1.2, abs=1e-10)
    assert len(ds.event_position) > 2
    again = ph.rerun(ds)
    assert np.array_equal(again.event_time.values, ds.event_time.values)


SCENARIO = """
method = "rkn6_14a"
[system]
type = "gravitating_bodies"
mass = [0.75, 0.25]
names = ["star", "planet"]
[initial]
position = [[0, 0, 0], [1.0, 0, 0]]
velocity = [[0, 0, 0], [0, 0.8, 0]]
[run]
step = 0.01
t_end = 4.0
every = 100
[[events]]
kind = "closest_approach"
a = "star"
b = "planet"
"""


def test_in_a_scenario(tmp_path):
    path = tmp_path / "pair.toml"
    path.write_text(SCENARIO)
    ds = ph.runs.read_scenario(path).integrate()
    assert ds.event_kind.values.tolist() == ["closest_approach"]


def test_a_wrong_body_of_an_event_is_told_with_its_line(tmp_path):
    path = tmp_path / "pair.toml"
    path.write_text(SCENARIO.replace('b = "planet"', 'b = "plant"'))
    with pytest.raises(
        InvalidInput, match=r"pair\.toml:14: events\[0\]: unknown body .*'plant'; did you mean 'planet'"
    ):
        ph.runs.read_scenario(path)


def misspelt(body):
    return body.positon[0]


def three_numbers(body):
    return [1.0, 2.0, 3.0]


@each(("function", "said"), [
    (misspelt, "event 'misspelt' (test_events_of_bodies.py:{line}) cannot be watched: it reads 'positon' of a body"),
    (three_numbers, "'three_numbers' (test_events_of_bodies.py:{line}) returns numbers of shape (3,) as its value"),
])  # fmt: skip
def test_functions_of_events_are_called_events(function, said):
    with pytest.raises(PolhodeError) as refused:
        events(ph.events.of(function).on("star"))
    assert said.format(line=function.__code__.co_firstlineno) in str(refused.value)


def test_what_is_none_is_said():
    with pytest.raises(InvalidInput, match="name two bodies"):
        ph.events.closest_approach("a", "a")
    with pytest.raises(InvalidInput, match="sun"):
        events(ph.events.closest_approach("sun", "planet"))
    with pytest.raises(InvalidInput, match="which"):
        ph.events.distance("a", "b", 1.0, "nearer")
    with pytest.raises(InvalidInput, match="distance"):
        ph.events.distance("a", "b", -1.0)


# ------------------------------------------------------------------ the ground
LOW = {"position": (7e6, 0, 0), "velocity": (0, 6e3, 1e3)}
HIGH = {"position": (8e6, 0, 0), "velocity": (0, 7e3, 0)}
MU = ph.planets.EARTH.mu


def falling(*bodies, start, **surface):
    system = ph.system(*(ph.body(name, 2.0) for name in bodies), ph.loads.central(MU, **surface))
    return ph.integrate(system, step=10.0, t_end=2000.0, **start)


def test_a_run_of_a_sum_ends_at_the_surface_of_its_centre():
    usual = falling("a", start=LOW)
    of_builder = ph.integrate(ph.orbit(MU, 2.0), step=10.0, t_end=2000.0, **LOW)
    assert usual.time[-1] == of_builder.time[-1] and usual.attrs["stopped"] == of_builder.attrs["stopped"]
    assert np.linalg.norm(usual.position[-1]) == pytest.approx(ph.planets.EARTH.mean_radius, rel=1e-14)
    assert "stopped" not in falling("a", start=LOW, surface=0.0).attrs
    deep = falling("a", start=LOW, surface=6.5e6)
    assert np.linalg.norm(deep.position[-1]) == pytest.approx(6.5e6, rel=1e-14)


def test_each_of_several_bodies_may_meet_the_surface():
    start = {"start": {"high": HIGH, "low": LOW}}
    assert "stopped" not in falling("high", "low", start=start).attrs
    for names in (("high", "low"), ("low", "high")):
        ds = falling(*names, start=start, surface=6.5e6)
        assert np.linalg.norm(ds.position.sel(body="low")[-1]) == pytest.approx(6.5e6, rel=1e-14)
        assert ds.event_kind.values.tolist() == ["impact"] and "impact" in ds.attrs["stopped"]
        assert ds.time[-1] == pytest.approx(float(falling("a", start=LOW, surface=6.5e6).time[-1]), rel=1e-13)
        np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


@each("build", [
    lambda load: ph.particle(2.0, loads=[load]), lambda load: ph.rigid_body((1.0, 2.0, 2.5), mass=2.0, loads=[load]),
    lambda load: ph.system(ph.body("a", 2.0), load.on("a")), lambda load: ph.system(ph.body("a", 2.0), load.until(1e4)),
])  # fmt: skip
def test_a_surface_is_met_wherever_its_load_stands(build):
    ds = ph.integrate(build(ph.loads.central(MU, surface=6.5e6)), "mkrk:cv8", step=10.0, t_end=2000.0, **LOW)
    assert np.linalg.norm(ds.position[-1]) == pytest.approx(6.5e6, rel=1e-13) and "impact" in ds.attrs["stopped"]


def test_planes_and_apsides_go_through_the_other_body():
    """Two free bodies, one at rest at z = 1 beside the path of the other: met at t = 1, nearest at t = 1."""
    two = ph.system(ph.body("mark", 1.0), ph.body("probe", 1.0))
    start = {"mark": {"position": (1.0, 0, 1.0)}, "probe": {"velocity": (1.0, 0, 1.0), "position": (0, 2.0, 0)}}
    kinds = [ph.events.node(body="probe", about="mark"), ph.events.apsis(body="probe", about="mark")]
    ds = ph.integrate(two, step=0.3, t_end=2.4, events=kinds, start=start)
    assert sorted(ds.event_kind.values.tolist()) == ["ascending_node", "periapsis"]
    np.testing.assert_allclose(ds.event_time, 1.0, rtol=1e-14)


def test_an_event_of_a_state_in_a_run_that_records_work():
    def slowed(t, x, v, parameters, states):
        return (-v[0], 0.0, 0.0), 1.0

    def reaches(u):
        return u - 0.35

    system = ph.particle(force=slowed, states={"u": 0.0})
    assert [one.quantity for one in system.auxiliary] == ["work", "u"]
    ds = ph.integrate(system, "mkrk:cv8", step=0.1, steps=5, velocity=(2.0, 0.0, 0.0), events=[ph.events.of(reaches)])
    assert abs(ds.event_time.values - 0.35).max(initial=0.0) < 1e-12 and ds.event_time.size == 1
