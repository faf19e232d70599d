"""Orbits about a planet that is known end at its surface, though nobody has asked for it, and cost what they did."""

import functools
import json

import numpy as np
import pytest

import polhode as ph
from cover import crossed
from each import each
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.runs import stepping
from polhode.runs.event_detection import EventDetection

EARTH, MOON = ph.planets.EARTH, ph.planets.MOON
STEPS = [
    ("v2/kepler", {"step": 10.0}),
    ("s6_10", {"step": 10.0}),
    ("mkrk:gauss4", {"step": 10.0}),
    ("rkn6_14a/kepler", {"step": 60.0}),
    ("sbab5/kepler", {"step": 30.0}),
    (None, {"steps": ph.Tolerance(1e-11)}),
    ("mkrk:dp5", {"steps": ph.Tolerance(1e-9)}),
]


def start(speed):
    return {"position": (7e6, 0.0, 0.0), "velocity": (0.0, speed, 0.0)}


def time_of_fall(mu, radius, speed):
    """From the apoapsis at 7e6 to a radius, by Kepler's equation."""
    r = 7e6
    a = 1.0 / (2.0 / r - speed**2 / mu)
    e = r / a - 1.0
    E = np.arccos((1.0 - radius / a) / e)
    return float(np.sqrt(a**3 / mu) * (np.pi - (E - e * np.sin(E))))


@each("method, steps", STEPS)
def test_a_fall_ends_where_kepler_says(method, steps):
    ds = ph.integrate(ph.orbit(EARTH.mu), method, t_end=20_040.0, start=start(6000.0), **steps)
    assert ds.attrs["stopped"].startswith("stopped by the event 'impact'") and "surface=0" in ds.attrs["stopped"]
    assert abs(np.linalg.norm(ds.position[-1]) - EARTH.mean_radius) < 1e-6
    assert list(ds.event_kind.values) == ["impact"] and ds.event_time[-1] == ds.time[-1]
    assert abs(float(ds.time[-1]) - time_of_fall(EARTH.mu, EARTH.mean_radius, 6000.0)) < (
        1e-2 if method == "mkrk:gauss4" else 1e-4
    )


@each("method, steps", STEPS)
def test_it_is_the_run_of_a_surface_that_is_given(method, steps):
    given = ph.orbit(EARTH.mu, surface=EARTH.mean_radius)
    for speed in (6000.0, 7600.0):
        one, other = (
            ph.integrate(system, method, t_end=20_040.0, start=start(speed), every=3, **steps)
            for system in (ph.orbit(EARTH.mu), given)
        )
        for name in ("time", "position", "velocity", "energy_error"):
            np.testing.assert_array_equal(one[name], other[name])
        again = ph.rerun(one)
        np.testing.assert_array_equal(one.position, again.position)
        assert ("event_time" in one) == (speed == 6000.0) and "event_time" in other


def test_which_planets_are_known():
    found = {mu: ph.orbit(mu).ground for mu in (EARTH.mu, 3.986e14, 398600.4418, MOON.mu, 1.0, EARTH.mu * 1.001)}
    radii = [None if one is None else one.radius for one in found.values()]
    assert radii == [EARTH.mean_radius, EARTH.mean_radius, EARTH.mean_radius / 1e3, MOON.mean_radius, None, None]
    assert ph.spacecraft((1, 2, 3), EARTH.mu).ground.radius == EARTH.mean_radius
    assert ph.orbit(EARTH.mu, mass=[1.0, 2.0]).ground is None and ph.orbit(EARTH.mu, surface=0).ground is None
    with pytest.raises(InvalidInput, match="one body at a time"):
        ph.orbit(EARTH.mu, mass=[1.0, 2.0], surface=6.4e6)


def test_who_says_so_falls_on():
    for surface in (0, 0.0):
        ds = ph.integrate(
            ph.orbit(EARTH.mu, surface=surface), "mkrk:gauss4", step=1.0, t_end=900.0, start=start(6000.0)
        )
        assert "stopped" not in ds.attrs and np.linalg.norm(ds.position[-1]) < EARTH.mean_radius


def test_a_start_below_and_a_run_backwards_are_not_watched():
    below = {"position": (6.36e6, 0.0, 0.0), "velocity": (0.0, 7800.0, 0.0)}
    assert "stopped" not in ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", step=10.0, t_end=3000.0, start=below).attrs
    ds = ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", step=10.0, t_end=-1000.0, start=start(6000.0))
    assert "stopped" not in ds.attrs and np.linalg.norm(ds.position[-1]) < EARTH.mean_radius
    with pytest.raises(InvalidInput, match="below the surface"):
        ph.integrate(ph.orbit(EARTH.mu, surface=EARTH.mean_radius), "v2/kepler", step=10.0, t_end=30.0, start=below)


def test_a_call_that_takes_the_run_before_looks_for_the_ground_from_its_own_start():
    orbit = ph.orbit(EARTH.mu)
    starts = {"high": (7e6, 7546.0), "below": (6.36e6, 7916.0), "falls": (7e6, 6000.0)}
    for name in ("high", "below", "falls", "high", "falls", "high", "below", "high"):
        r, v = starts[name]
        ds = ph.integrate(orbit, "v2/kepler", step=10.0, steps=300, position=(r, 0.0, 0.0), velocity=(0.0, v, 0.0))
        assert ("stopped" in ds.attrs) is (name == "falls") and (ds.sizes["time"] == 301) is (name != "falls"), name


@each("part, adaptive", [(-1e-3, False), (-1e-3, True), (1e-3, False), (1e-3, True)])
def test_where_the_periapsis_is_just_above_nothing_is_looked_for(part, adaptive, monkeypatch):
    """And where it is just below, the run ends there."""
    land, landed = EventDetection.land, []
    monkeypatch.setattr(EventDetection, "land", lambda events, t, y: landed.append(t) or land(events, t, y))
    nearest = (1.0 + 0.5 * part) * EARTH.mean_radius
    speed = np.sqrt(2.0 * EARTH.mu * nearest / (7e6 * (7e6 + nearest)))
    steps = {"steps": ph.Tolerance(1e-9, max_step=5.0)} if adaptive else {"step": 5.0}
    ds = ph.integrate(ph.orbit(EARTH.mu), "mkrk:dp5", t_end=3000.0, start=start(speed), **steps)
    assert abs(np.linalg.norm(ds.position, axis=1).min() - max(nearest, EARTH.mean_radius)) < 100.0
    assert ("stopped" in ds.attrs) == (part < 0.0) == ("event_time" in ds) and len(landed) == (part < 0.0)


@each("build", [ph.orbit, functools.partial(ph.spacecraft, (1.0, 2.0, 2.5))])
def test_records_of_before_keep_their_motion(build):
    """Their record has no surface, which meant none."""
    ds = ph.integrate(build(mu=EARTH.mu, surface=0), "v2", step=10.0, t_end=2000.0, start=start(6000.0))
    record = json.loads(ds.attrs["run"])
    del record["system"]["arguments"]["surface"]
    again = ph.rerun(ds.assign_attrs(run=json.dumps(record)))
    np.testing.assert_array_equal(ds.position, again.position)


def test_events_beside_it_are_found():
    ds = ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", step=10.0, t_end=2e4, start=start(6000.0),
                      events=[ph.events.altitude(5e5, radius=EARTH.mean_radius)])  # fmt: skip
    assert list(ds.event_kind.values) == ["altitude_falling", "impact"]


def test_times_between_steps():
    times = np.linspace(0.0, 2000.0, 41)
    ds = ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", step=10.0, t_end=2000.0, t_eval=times + 0.0, start=start(6000.0))
    np.testing.assert_array_equal(ds.time[:-1], times[times < float(ds.time[-1])])


@pytest.mark.usefixtures("columns_by_twos")
def test_runs_with_derivatives_go_on():
    words = {"step": 10.0, "t_end": 2000.0, "start": start(6000.0), "tangent": True}
    ds = ph.integrate(ph.orbit(EARTH.mu), "mkrk:cv8", **words)
    assert "stopped" not in ds.attrs and len(ds.time) == 201
    asked = ph.integrate(ph.orbit(EARTH.mu, surface=EARTH.mean_radius), "mkrk:cv8", **words)
    assert "impact" in asked.attrs["stopped"]
    n = len(asked.time) - 1
    np.testing.assert_allclose(ds.state_transition[:n], asked.state_transition[:n], rtol=1e-12, atol=1e-12)


def test_prepared_runs_end_too_and_go_on():
    for system in (ph.orbit(EARTH.mu), ph.orbit(EARTH.mu, surface=EARTH.mean_radius)):
        prepared = ph.prepare(system, "v2/kepler", step=10.0, steps=2000)
        ends = [prepared.run(start(speed)).time[-1] for speed in (7600.0, 6000.0, 7600.0, 7500.0, 6000.0, 7600.0)]
        assert ends[0] == ends[2] == ends[3] == ends[5] == 20_000.0 and ends[1] == ends[4] < 700.0


def test_a_store_and_its_rest(tmp_path):
    ds = ph.integrate(
        ph.orbit(EARTH.mu), "v2/kepler", step=1.0, t_end=2000.0, start=start(6000.0), store=tmp_path / "s.zarr"
    )
    assert "impact" in ds.attrs["stopped"] and list(ds.event_kind.values) == ["impact"]


class Stop(Exception):
    """The end of a process."""


def test_a_store_that_is_stopped_when_the_ground_is_near_goes_on(tmp_path, monkeypatch):
    """The last slice of steps, which led below, is taken again: here in slices of two, after one of which it stops."""
    words = {"step": 1.0, "t_end": 2000.0, "start": start(6000.0)}
    whole, landed = ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", **words), []
    land, steps = EventDetection.land, stepping.Run.whole_steps
    monkeypatch.setattr(stepping, "FIRST_SLICE", 64)
    monkeypatch.setattr(EventDetection, "land", lambda events, t, y: landed.append(t) or land(events, t, y))
    monkeypatch.setattr(stepping.Run, "whole_steps", lambda run: min(2, steps(run)) if landed else steps(run))

    def tell(progress):
        if landed:
            raise Stop

    with pytest.raises(Stop):
        store = ph.Store(tmp_path / "s.zarr", checkpoint_seconds=0)
        ph.integrate(ph.orbit(EARTH.mu), "v2/kepler", **words, store=store, progress=tell)
    monkeypatch.undo()
    assert ph.resume(tmp_path / "s.zarr").load().identical(whole)
    assert landed[0] < float(whole.time[-1]) - 2.0


@each(("engine", "method"), crossed(["threads", "lanes"], ["v2/kepler", "taylor"]))
def test_members_end_there(engine, method):
    steps = {"step": 10.0} if method == "v2/kepler" else {"steps": ph.Tolerance(1e-10)}
    velocities = [(0.0, speed, 0.0) for speed in (7600.0, 6000.0, 7500.0, 5000.0, 1000.0)]
    words = {"t_end": 20_000.0, "position": (7e6, 0, 0), "t_eval": np.linspace(0, 20_000, 201), **steps}
    ds = ph.ensemble(ph.orbit(EARTH.mu), method, members={"velocity": velocities}, engine=engine, **words)
    assert list(ds.status) == [0, 12, 0, 12, 12] and engine in ds.attrs["engine"]
    words.pop("position")
    for k, speed in enumerate((7600.0, 6000.0, 7500.0, 5000.0, 1000.0)):
        alone = ph.integrate(ph.orbit(EARTH.mu), method, start=start(speed), **words)
        count = int(np.isfinite(ds.position[k, :, 0]).sum())
        assert count == len(alone.time) - ("stopped" in alone.attrs)
        np.testing.assert_allclose(ds.position[k, :count], alone.position[:count], rtol=1e-9, atol=1.0)
        assert ("impact" in str(ds.failure[k].values)) == ("stopped" in alone.attrs)


def test_a_member_by_itself_says_it_as_well():
    burn = ph.forces.thrust(1e-3, "radial", start=100.0, stop=200.0)
    ds = ph.ensemble(
        ph.orbit(EARTH.mu, forces=[burn]), "v2/kepler", step=10.0, t_end=2000.0, position=(7e6, 0, 0),
        members={"velocity": [(0.0, 7600.0, 0.0), (0.0, 6000.0, 0.0)]},
    )  # fmt: skip
    assert list(ds.status) == [L.OK, 12] and "surface" in str(ds.failure[1].values)


def test_members_that_end_early_are_trajectories():
    """Their times are nan behind the end, up to the longest member."""
    burn = ph.forces.thrust(1e-3, "radial", start=100.0, stop=200.0)
    for surface in (None, EARTH.mean_radius):
        ds = ph.ensemble(
            ph.orbit(EARTH.mu, forces=[burn], surface=surface), "v2/kepler", step=10.0, t_end=2000.0,
            position=(7e6, 0, 0), members={"velocity": [(0.0, 7600.0, 0.0), (0.0, 6000.0, 0.0)]},
        )  # fmt: skip
        assert ds.polhode.altitude(radius=EARTH.mean_radius).sizes["member"] == 2
        one = ds.isel(member=1).polhode.altitude(radius=EARTH.mean_radius)
        assert 0 < one.sizes["time"] < ds.sizes["time"] and np.isfinite(one.values).all()
        assert abs(float(one.values.ravel()[-1])) < 3e4
        ds.isel(member=1).polhode.plot()
    times = ds.time.values[0].copy()
    times[3] = np.nan
    hole = ds.isel(member=0).assign_coords(time=times)
    with pytest.raises(InvalidInput, match="time has entries"):
        hole.polhode.plot()
