"""Events, shadows and impulses of members in lanes: each member is its single run, to round-off."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from each import each
from polhode.ensembles import legs, reductions
from polhode.errors import InvalidInput
from polhode.kernel import jit

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

M, RADIUS = 11, 6.378e6
PLACES = np.array((6.878e6, 0.0, 0.0)) + 1000.0 * np.random.default_rng(1).normal(size=(M, 3))
SUN = {"direction": (1.0, 0.0, 0.0), "radius": RADIUS}
SHADOW = ph.events.eclipse(RADIUS, direction=SUN["direction"])
SINKING = ph.events.altitude(499.6e3, RADIUS, "falling", terminal=True)


def satellite(*forces):
    return ph.orbit(ph.planets.EARTH.mu, forces=[{"kind": "zonal", "J2": 1.0826e-3, "radius": RADIUS}, *forces])


FREE = satellite()
KICKED = satellite(ph.forces.impulse(300.0, (0.0, 0.5, 0.0), "rtn"))
LIT = satellite(ph.forces.radiation_pressure(acceleration=1e-3, shadow="cylinder", **SUN))
MANY = satellite(
    ph.forces.radiation_pressure(acceleration=1e-4, shadow="cylinder", **SUN),
    ph.forces.impulse(0.0, (0.3, 0.0, 0.0), "rtn"), ph.forces.impulse(300.0, (0.0, 0.5, 0.0), "rtn"),
    ph.forces.impulse(1234.5, (0.0, 1.0, 0.0), "rtn"), ph.forces.thrust(1e-3, "velocity", start=2005.0, stop=3333.0),
)  # fmt: skip


def runs(system, engines=("threads", "lanes"), members=PLACES, **words):
    run = {"method": "rkn6_14a", "step": 60.0, "velocity": (0.0, 4732.0, 5963.0), **words}
    varied = {"position": members}
    if np.ndim(run["velocity"]) > 1:
        varied["velocity"] = run.pop("velocity")
    run |= {"steps": 200} if "t_end" not in run else {}
    run |= {"every": 7} if not {"t_eval", "every"} & set(run) else {}
    return [ph.ensemble(system, engine=one, members=varied, **run) for one in engines]


def same(alone, lanes, tolerance=1e-11):
    """Each variable and coordinate of both."""
    assert lanes.engine.startswith("lanes") and alone.engine.startswith("threads: one run each")
    assert set(alone.variables) == set(lanes.variables)
    for name in set(alone.variables) - {"energy_error", "energy_change"}:
        if name.endswith("_compensation"):  # rounding, too
            continue
        a, b = alone[name], lanes[name]
        assert a.dims == b.dims and a.attrs == b.attrs, name
        if a.dtype.kind == "f":
            assert_allclose(b, a, rtol=0, atol=tolerance * np.nanmax(np.abs(a.values), initial=0.0), err_msg=name)
        else:
            assert_array_equal(a, b, name)


@each(("system", "words"), [
    (FREE, {"events": ["node", SHADOW]}), (FREE, {"events": ["ascending_node"], "t_end": -12000.0}),
    (FREE, {"events": [SINKING, "node"]}), (FREE, {"events": [SINKING], "t_eval": [0.0, 600.0, 4200.0]}),
    (FREE, {"events": ["node"], "method": "taylor14"}), (LIT, {"events": ["node"], "every": 1}),
    (MANY, {"events": ["node"]}), (KICKED, {"method": "taylor14"}), (LIT, {"method": "taylor14"}),
])  # fmt: skip
def test_members_are_single_runs_to_round_off(system, words):
    alone, lanes = runs(system, **words)
    same(alone, lanes)
    assert system is LIT or lanes.sizes["event"]


def test_what_cuts_steps_of_members_of_their_own_is_refused():
    with pytest.raises(InvalidInput, match="choose between formulas"):
        runs(MANY, ("lanes",), method="taylor14")
    words = {"velocity": (0.0, 4732.0, 5963.0), "t_end": 60.0, "steps": ph.Tolerance(1e-9), "events": ["node"]}
    with pytest.raises(InvalidInput, match="events are looked for, each member with steps of its own"):
        ph.ensemble(FREE, engine="lanes", members={"position": PLACES}, **words)


def test_members_end_at_times_of_their_own():
    (lanes,) = runs(FREE, ("lanes",), events=[SINKING])
    assert lanes.time.dims == ("member", "time") and len(set(lanes.time.max("time").values)) > M // 3
    assert not lanes.status.any() and (lanes.event_kind == "altitude_falling").any("event").sum() > M // 3
    ends = lanes.position.isel(time=lanes.time.argmax("time"))
    height = np.sqrt((ends**2).sum("axis")) - RADIUS
    assert_allclose(height[(lanes.event_kind != "").any("event")], 499.6e3, rtol=0, atol=1e-5)


def test_states_are_those_without_events_and_of_other_neighbours(monkeypatch):
    whole, without = (runs(FREE, ("lanes",), events=events)[0] for events in (["node"], []))
    assert_array_equal(whole.position, without.position)
    lit, few = (runs(LIT, ("lanes",), members=some)[0] for some in (PLACES, PLACES[2:10]))
    assert_array_equal(lit.position[2:10], few.position)
    monkeypatch.setattr(legs, "FOUND_AT_ONCE", 3)
    monkeypatch.setattr(legs, "AT_ONCE", 1)
    again = runs(FREE, ("lanes",), events=["node"])[0]
    assert_array_equal(again.event_time, whole.event_time)
    assert_array_equal(again.position, whole.position)


def test_members_that_land_or_fail_are_runs_by_themselves():
    start = PLACES.copy()
    start[4] = (6.45e6, 0.0, 0.0)  # its periapsis is in the ground
    start[6] = (0.0, 0.0, 6.9e6)  # its impulse has no direction
    speeds = np.tile((0.0, 4732.0, 5963.0), (M, 1))
    speeds[6] = (0.0, 0.0, 7500.0)
    alone, lanes = runs(KICKED, members=start, velocity=speeds, events=["node"])
    assert lanes.status.values.nonzero()[0].tolist() == [4, 6] and "no axes" in str(lanes.failure[6].values)
    same(alone, lanes)


def test_impulses_of_members_of_their_own_are_runs_by_themselves():
    speeds = {"forces.2.delta_v": np.linspace((0.3, 0.0, 0.0), (0.5, 0.0, 0.0), M)}
    words = {"members": speeds, "position": PLACES[0], "velocity": (0.0, 4732.0, 5963.0)}
    ds = ph.ensemble(MANY, "rkn6_14a", step=60.0, steps=70, **words)
    assert "what is watched or fired differs" in ds.engine


def test_reductions_and_stores_take_them(tmp_path):
    of = [reductions.events("ascending_node"), reductions.mean("position")]
    alone, lanes = runs(MANY, events=["node"], reduce=of)
    for name in alone.data_vars:
        assert_allclose(lanes[name], alone[name], rtol=1e-11, atol=1e-3 * (name == "position_mean"))
    stored = runs(MANY, ("lanes",), store=tmp_path / "members.zarr")[0]
    kept = runs(MANY, ("lanes",))[0]
    assert_array_equal(stored.position, kept.position)
    assert_array_equal(stored.event_time, kept.event_time)
    with pytest.raises(InvalidInput, match="which no store takes"):
        runs(MANY, ("lanes",), events=["node"], store=tmp_path / "others.zarr")


def torque(t, q, omega, parameters):
    return (0.3 * np.sin(5e3 * t), -0.1 * omega[1], 0.05)


def upside_down(t, position, velocity, q, omega, parameters):
    return ph.rotation.rotate(q, (0.0, 0.0, 1.0))[2]


def test_bodies_of_other_inertia_have_events_and_loads_see_the_same_times(monkeypatch):
    monkeypatch.setattr(legs, "WATCHED", 37)  # legs begin at multiples of it
    body = ph.rigid_body(inertia=((3.0, 0.1, 0.0), (0.1, 2.0, 0.2), (0.0, 0.2, 1.5)), torque=torque)
    inertia = body.arguments["inertia"] * np.linspace(0.9, 1.1, M)[:, None, None]
    words = {"members": {"inertia": inertia}, "angular_velocity": (0.5, 2.0, 0.1), "step": 0.01, "steps": 300}
    event = ph.events.user(upside_down)
    alone, lanes, without = (
        ph.ensemble(body, "v2/mr", engine=engine, events=events, every=30, **words)
        for engine, events in (("threads", [event]), ("lanes", [event]), ("lanes", []))
    )
    same(alone, lanes)
    assert lanes.sizes["event"] > 1
    assert_array_equal(lanes.attitude, without.attitude)
