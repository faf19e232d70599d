"""``ds.polhode``: its methods against SciPy, astropy and formulas of their own; where it is registered; its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.errors import InvalidInput, MissingExtra
from polhode.trajectory.accessor import METHODS, TrajectoryAccessor

RNG = np.random.default_rng(3)
EARTH = ph.planets.EARTH
START = {"position": (7e6, 0, 0), "velocity": (0, 5336.0, 5500.0), "angular_velocity": (2e-3, 1e-3, -3e-3)}


@pytest.fixture(scope="module")
def craft():
    system = ph.spacecraft(inertia=(90, 70, 60), mu=EARTH.mu, mass=120, forces=[ph.forces.zonal(**EARTH.zonal)])
    return ph.integrate(
        system, step=60, t_end=7200, attitude=(0.5, -0.5, 0.1, 0.7), **START,
        settings={"epoch": "2016-12-31T23:00:00 UTC", "units": "SI"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def pair():
    return ph.integrate(ph.spacecraft(inertia=[(90, 70, 60), (1, 2, 2.5)], mass=(120, 4), mu=1.0), step=0.1, steps=6,
                        position=[(1, 0, 0), (0, 1.5, 0)], velocity=[(0, 1, 0.1), (-0.9, 0, 0)],
                        angular_velocity=[(0.3, 0.1, 0), (0, 0.2, 1)])  # fmt: skip


@pytest.fixture(scope="module")
def members():
    body = ph.free_body((1, 2, 3))
    drawn = {"angular_velocity": RNG.normal(size=(4, 3))}
    return ph.ensemble(body, "exact", step=0.1, steps=5, members=drawn)


@pytest.fixture(scope="module")
def sprung():
    """Two bodies with names, joined by a spring, about a centre."""

    def spring(a, b, stiffness):
        d = b.point((0.0, 0.1, 0.0)) - a.point((0.2, 0.0, 0.0))
        return 0.5 * stiffness * (np.sqrt(d @ d) - 1.0) ** 2

    system = ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.body("b", 1.0, (0.5, 0.4, 0.3)),
                       ph.loads.central(80.0), ph.loads.of(spring, stiffness=3e-4).on("a", "b"))  # fmt: skip
    return ph.integrate(system, step=1e-3, t_end=1.5, start={
        "a": {"position": (5, 0, 0), "velocity": (0, 3.5, 1.0), "angular_velocity": (0.3, 1, 0.2)},
        "b": {"position": (6, 1, 0), "velocity": (0, 3.9, 1.5), "angular_velocity": (1, 0, 0.5)},
    })  # fmt: skip


def attitudes(q):
    """A Dataset of attitudes alone."""
    return xr.Dataset({"attitude": (("time", "quaternion"), q)}, {"time": np.arange(float(len(q)))})


# ------------------------------------------------------------------ Euler angles and rotations
@each("sequence", ["ZYX", "zxz", "XYX", "yzx"])
@each("degrees", [False, True])
def test_euler_is_that_of_scipy(sequence, degrees):
    q = RNG.normal(size=(50, 4))
    found = attitudes(q).polhode.euler(sequence, degrees=degrees)
    expected = Rotation.from_quat(q, scalar_first=True).as_euler(sequence, degrees=degrees)
    assert found.dims == ("time", "angle") and found.attrs["sequence"] == sequence
    assert found.attrs["units"] == ("deg" if degrees else "rad") and list(found["angle"].values) == [1, 2, 3]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * (57.3 if degrees else 1))


def test_unwrapped_angles_have_no_jumps_and_are_the_same_attitudes():
    ds = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=0.2, steps=100, angular_velocity=(0.1, 0.2, 2))
    found, bound = ds.polhode.euler("ZYX", unwrap=True), ds.polhode.euler("ZYX")
    assert found[-1, 0] > 6 * np.pi and abs(np.diff(found, axis=0)).max() < 1
    assert abs(np.diff(bound, axis=0)).max() > 5
    turns = (found - bound) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), rtol=0, atol=1e-12)


def test_rotation_turns_body_vectors_into_space(craft):
    spin = craft.polhode.rotation().apply(craft.angular_momentum.values)
    np.testing.assert_allclose(spin, craft.spin.values, rtol=1e-12, atol=1e-14)
    row = craft.isel(time=3).polhode
    assert row.rotation().single and row.euler().dims == ("angle",)
    np.testing.assert_allclose(row.rotation().as_euler("ZYX"), craft.polhode.euler("ZYX")[3])


def test_several_bodies_and_members(pair, members):
    assert pair.polhode.euler().dims == ("time", "body", "angle")
    np.testing.assert_array_equal(pair.polhode.euler()[:, 1], pair.polhode.euler(body=1))
    np.testing.assert_allclose(
        pair.polhode.rotation(body=1).as_euler("ZYX"), pair.polhode.euler("ZYX", body=1), rtol=0, atol=1e-14
    )
    assert members.polhode.euler().dims == ("member", "time", "angle")
    for unwrap in (False, True):
        angles = members.polhode.euler("XYZ", unwrap=unwrap)
        np.testing.assert_array_equal(angles[2], members.isel(member=2).polhode.euler("XYZ", unwrap=unwrap))
    assert len(members.polhode.rotation(member=3)) == 6
    for several, dim in ((pair, "body"), (members, "member")):
        with pytest.raises(InvalidInput, match=f"rotation: {dim} is missing; there are"):
            several.polhode.rotation()
        with pytest.raises(InvalidInput, match=f"{dim} is 9; there are"):
            several.polhode.euler(**{dim: 9})


def test_rows_without_attitude_stay_so(members):
    failed = members.copy(deep=True)
    failed.attitude[1, 3:] = np.nan
    failed.attitude[2] = np.nan
    for unwrap in (False, True):
        angles = failed.polhode.euler(unwrap=unwrap)
        lost = np.isnan(angles).any("angle")
        assert lost.sum() == 3 + 6 and lost[1, 3:].all() and lost[2].all()
        np.testing.assert_array_equal(angles[0], members.polhode.euler(unwrap=unwrap)[0])
    assert np.isnan(failed.isel(member=1, time=4).polhode.euler()).all()
    with pytest.raises(InvalidInput, match=r"row 3 has no such attitude \(NaN\)"):
        failed.polhode.rotation(member=1)


def test_gimbal_lock_is_noted_and_wide_rows_are_refused():
    locked = ph.rotation.quaternion_from_euler([[0.3, np.pi / 2, 0.1], [0.3, 0.2, 0.1]], "ZYX")
    assert "in 1 of 2 rows" in attitudes(locked).polhode.euler("ZYX").attrs["note"]
    ds = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=2.0, steps=3, angular_velocity=(0, 0, 3))
    with pytest.raises(InvalidInput, match="record at least 2 times as many rows"):
        ds.polhode.euler(unwrap=True)


# ------------------------------------------------------------------ two bodies
@each("frame", ["space", "body", "lvlh"])
def test_a_body_as_seen_from_another(sprung, frame):
    seen, a, b = sprung.polhode.relative("a", "b", frame=frame), sprung.sel(body="a"), sprung.sel(body="b")
    of_a, of_b = (Rotation.from_quat(one.attitude.values, scalar_first=True) for one in (a, b))
    if frame == "lvlh":
        normal = np.cross(a.position, a.velocity)
        z, y = -a.position.values, -normal
        matrix = np.stack([one / np.linalg.norm(one, axis=1)[:, None] for one in (np.cross(y, z), y, z)], axis=-1)
        axes = Rotation.from_matrix(matrix)
    else:
        axes = of_a if frame == "body" else Rotation.identity(len(a.time))
    apart = b.position.values - a.position.values
    np.testing.assert_allclose(seen.position, axes.inv().apply(apart), rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen.distance, np.linalg.norm(apart, axis=1), rtol=1e-14)
    for name, rate in (("position", "velocity"), ("distance", "range_rate")):
        slopes = np.gradient(seen[name].values, sprung.time.values, axis=0, edge_order=2)
        tolerance = 2e-4 if frame == "lvlh" else 2e-5  # of LVLH that the orbit's plane turns is neglected
        np.testing.assert_allclose(seen[rate][2:-2], slopes[2:-2], rtol=0, atol=tolerance)
    turn = of_a.inv() * of_b
    np.testing.assert_allclose(abs(np.einsum("ij,ij->i", seen.attitude, turn.as_quat(scalar_first=True))), 1.0)
    np.testing.assert_allclose(seen.angle, turn.magnitude(), rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        seen.angular_velocity,
        b.angular_velocity.values - turn.inv().apply(a.angular_velocity.values),
        rtol=0,
        atol=1e-12,
    )
    assert seen.position.attrs["units"] == sprung.position.attrs["units"] and "body" not in seen.dims


def test_bodies_by_name_and_of_members(sprung, members):
    xr.testing.assert_identical(sprung.polhode.euler(body="b"), sprung.polhode.euler(body=1))
    seen = sprung.polhode.relative(1, 0, degrees=True)
    assert seen.angle.attrs["units"] == "deg"
    np.testing.assert_allclose(seen.angle, np.degrees(sprung.polhode.relative("b", "a").angle))
    both = xr.concat([sprung, sprung.isel(time=slice(None))], "member", data_vars="all")
    xr.testing.assert_allclose(both.polhode.relative("a", "b").isel(member=1).distance,
                               sprung.polhode.relative("a", "b").distance)  # fmt: skip
    for asked, words in (
        (("a", "a"), "are the same body"), (("a", "c"), "unknown body 'c'; known: a, b"), ((0, 2), "there are 2"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            sprung.polhode.relative(*asked)
    with pytest.raises(InvalidInput, match="unknown frame 'rsw'"):
        sprung.polhode.relative("a", "b", frame="rsw")
    with pytest.raises(InvalidInput, match="has no position"):
        members.polhode.relative(0, 1)
    with pytest.raises(InvalidInput, match="has one body; leave it out"):
        sprung.sel(body="a").polhode.euler(body="a")


def test_points_of_a_sum_that_attract_each_other_have_elements():
    masses, start = (1.0, 1e-3), {"position": [(0, 0, 0), (1, 0, 0)], "velocity": [(0, 0, 0), (0, 1.1, 0)]}
    ours = ph.system([ph.body(f"b{k}", m) for k, m in enumerate(masses)], ph.loads.gravitation(2.0))
    old = ph.gravitating_bodies(mass=masses, G=2.0)
    found, expected = (ph.integrate(one, "v2", step=0.01, steps=5, **start).polhode.elements() for one in (ours, old))
    np.testing.assert_array_equal(found.period, expected.period)
    assert np.isfinite(found.period.sel(body="b1")).all() and np.isnan(found.period.sel(body="b0")).all()
    pinned = ph.system(ph.body("a", 1.0), ph.body("b", 1.0), ph.loads.gravitation(1.0).on("a", "b"))
    with pytest.raises(InvalidInput, match="mu is missing"):
        ph.integrate(pinned, "v2", step=0.01, steps=5, **start).polhode.elements()


def test_the_centre_of_a_sum_is_known(sprung):
    """Elements need no gravity parameter where a central load tells it."""
    found = sprung.polhode.elements(body="a")
    np.testing.assert_allclose(found.distance, np.linalg.norm(sprung.position.sel(body="a"), axis=1))
    np.testing.assert_allclose(found.semi_major_axis[0], 1 / (2 / 5 - (3.5**2 + 1) / 80))


# ------------------------------------------------------------------ orbits
def test_lvlh_of_a_body_that_keeps_to_it():
    r, v = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]]), np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    turn = Rotation.from_euler("ZYX", [[0.4, -0.3, 0.2], [-1.0, 0.5, 3.0]])
    z = -r / 2.0
    y = -np.cross(r, v) / 2.0
    frame = Rotation.from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))
    ds = attitudes((frame * turn).as_quat(scalar_first=True))
    ds = ds.assign(
        position=(("time", "axis"), r), velocity=(("time", "axis"), v), angular_velocity=(("time", "axis"), 0 * r)
    )
    angles = ds.polhode.lvlh()
    assert list(angles["angle"].values) == ["roll", "pitch", "yaw"] and angles.attrs["units"] == "rad"
    np.testing.assert_allclose(angles, [[0.2, -0.3, 0.4], [3.0, 0.5, -1.0]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(ds.polhode.lvlh(degrees=True), np.rad2deg(angles))
    np.testing.assert_allclose((ds.polhode.lvlh(rotation=True) * turn.inv()).magnitude(), 0, rtol=0, atol=1e-7)


def test_elements_are_those_of_kepler(craft, pair):
    found = craft.polhode.elements(degrees=True)
    expected = ph.kepler.classical_elements(craft.position.values, craft.velocity.values, EARTH.mu)
    np.testing.assert_allclose(found.inclination, np.rad2deg(expected.inclination), rtol=1e-12)
    np.testing.assert_allclose(found.eccentricity, expected.eccentricity, rtol=1e-9)
    assert found.inclination.attrs["units"] == "deg" and found.semi_major_axis.attrs["units"] == "m"
    assert pair.polhode.elements().eccentricity.dims == ("time", "body")
    assert pair.polhode.elements(body=0).eccentricity.dims == ("time",)


def test_ground_track_against_formulas(craft):
    track = craft.polhode.ground_track(degrees=True)
    r = craft.position.values
    np.testing.assert_allclose(
        np.sin(np.deg2rad(track.latitude)), r[:, 2] / np.linalg.norm(r, axis=1), rtol=0, atol=1e-14
    )
    assert track.longitude.attrs["units"] == "deg" and abs(track.longitude).max() <= 180
    east = np.rad2deg(np.unwrap(np.arctan2(r[:, 1], r[:, 0]))) - np.rad2deg(EARTH.rotation) * craft.time.values
    moved = np.rad2deg(np.unwrap(np.deg2rad(track.longitude.values)))
    np.testing.assert_allclose(moved - moved[0], east - east[0], rtol=0, atol=1e-6)


def test_altitude_and_pointing(craft, pair):
    r = craft.position.values
    height = craft.polhode.altitude()
    np.testing.assert_allclose(height, np.linalg.norm(r, axis=1) - EARTH.radius, rtol=1e-9)
    assert height.attrs["units"] == "m" and pair.polhode.altitude(radius=0.5, body=1).dims == ("time",)
    angle = craft.polhode.pointing_error((0, 2, 0), "velocity", degrees=True)
    v = craft.velocity.values / np.linalg.norm(craft.velocity.values, axis=1)[:, None]
    cosine = (craft.polhode.rotation().apply((0, 1, 0)) * v).sum(axis=1)
    np.testing.assert_allclose(np.cos(np.deg2rad(angle)), cosine, rtol=0, atol=1e-12)
    with pytest.raises(InvalidInput, match="radius is missing"):
        pair.polhode.altitude()


def test_members_of_an_ensemble_know_their_centre():
    mus = EARTH.mu * np.array([1.0, 1.0001, 0.9999])
    craft = ph.spacecraft(inertia=(90, 70, 60), mu=EARTH.mu, mass=120)
    given = {"step": 60, "steps": 5, "settings": {"units": "SI"}}
    given |= {name: START[name] for name in ("position", "velocity")}
    omega = {"angular_velocity": 1e-3 * RNG.normal(size=(3, 3))}
    same = ph.ensemble(craft, members=omega, **given)
    found = same.polhode.elements()
    alone = ph.integrate(craft, angular_velocity=omega["angular_velocity"][2], **given).polhode
    assert found.eccentricity.dims == ("member", "time")
    np.testing.assert_allclose(found.eccentricity[2], alone.elements().eccentricity, rtol=1e-9)
    np.testing.assert_allclose(
        same.polhode.ground_track(member=2).longitude, alone.ground_track().longitude, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(same.polhode.lvlh(member=2), alone.lvlh(), rtol=0, atol=1e-12)
    varied = ph.ensemble(craft, members={"mu": mus}, **given)
    own = varied.polhode.elements(member=1)
    r, v = varied.position[1].values, varied.velocity[1].values
    np.testing.assert_allclose(own.eccentricity, ph.kepler.classical_elements(r, v, mus[1]).eccentricity, rtol=1e-9)
    with pytest.raises(InvalidInput, match="mu is missing"):
        varied.polhode.elements()


def test_the_order_of_dimensions_does_not_matter(craft, pair):
    for ds in (craft, pair):
        turned = ds.transpose(*reversed(list(ds.dims)))
        for method in ("euler", "lvlh", "pointing_error"):
            np.testing.assert_array_equal(getattr(turned.polhode, method)(), getattr(ds.polhode, method)())
        np.testing.assert_array_equal(turned.polhode.elements().node, ds.polhode.elements().node)
        assert turned.polhode.to_pandas().equals(ds.polhode.to_pandas()[turned.polhode.to_pandas().columns])


def test_single_rows_and_members_against_whole_runs():
    light = {"pressure": ph.planets.SOLAR_PRESSURE, "position": (1e8, 2e8, -5e7), "distance": 1e8}
    plate = ph.systems.plate(area=0.01, normal=(1, 0, 0), specular=0.5, diffuse=0.0, absorbed=0.5)
    craft = ph.spacecraft(inertia=(9, 7, 6), mu=EARTH.mu, mass=120, plates=[plate], sunlight=light)
    given = {"step": 60, "steps": 3, "settings": {"units": "SI"}, **{k: START[k] for k in ("position", "velocity")}}
    many = ph.ensemble(craft, members={"angular_velocity": 1e-2 * RNG.normal(size=(4, 3))}, **given).polhode
    for call in (lambda one: one.pointing_error((1, 2, 0), "sun"), lambda one: one.ground_track().longitude,
                 lambda one: one.elements().node, lambda one: one.lvlh()):  # fmt: skip
        found = call(many)
        for k in range(4):
            np.testing.assert_allclose(found[k], call(many._ds.isel(member=k).polhode), rtol=0, atol=1e-14)
            for row in range(4):
                single = call(many._ds.isel(member=k, time=row).polhode)
                np.testing.assert_allclose(found[k, row], single, rtol=0, atol=1e-14)


def test_no_rows(craft):
    for method in METHODS:
        with pytest.raises(InvalidInput, match=f"{method}: this trajectory has no rows"):
            getattr(craft.isel(time=slice(0, 0)).polhode, method)()


# ------------------------------------------------------------------ tables and times
def test_to_pandas_is_flat(craft, pair, members):
    table = craft.polhode.to_pandas()
    assert {"attitude_w", "position_x", "energy_error", "spin_z"} <= set(table.columns)
    assert table.index.name == "time" and len(table) == craft.sizes["time"]
    np.testing.assert_array_equal(table["attitude_y"], craft.attitude[:, 2])
    assert table.attrs["units"]["velocity_x"] == "m s-1"
    two = pair.polhode.to_pandas()
    np.testing.assert_array_equal(two["position_1_y"], pair.position[:, 1, 1])
    assert "position_y" in pair.polhode.to_pandas(body=1)
    many = members.polhode.to_pandas()
    assert many.index.names == ["member", "time"] and len(many) == 24
    np.testing.assert_array_equal(many.loc[2, "attitude_x"], members.attitude[2, :, 1])


def test_forces_of_one_name_have_columns_of_their_own():
    drag = ph.forces.drag(coefficient=1e-3, density=1.0, radius=1.0, scale=0.1)
    ds = ph.integrate(ph.orbit(1.0, forces=[drag, drag]), step=0.1, steps=3, position=(1.1, 0, 0), velocity=(0, 1, 0))
    table = ds.polhode.to_pandas()
    work = [name for name in table if name.startswith("work_")]
    assert len(work) == 2
    np.testing.assert_array_equal(table[work], ds.work)


def test_astropy_time_counts_leap_seconds(craft):
    time = pytest.importorskip("astropy.time", reason="astropy is not installed (extra 'astropy')")
    instants = craft.polhode.astropy_time()
    expected = time.Time("2016-12-31T23:00:00", scale="utc") + time.TimeDelta(craft.time.values, format="sec")
    assert instants.scale == "utc" and abs((instants - expected).sec).max() < 1e-9
    assert instants[60].isot == "2016-12-31T23:59:60.000"
    at = datetime(2030, 1, 1, 12)
    there = craft.polhode.astropy_time("2030-01-01T12:00:00 TDB")
    assert there.scale == "tdb" and there[5].to_datetime() == at + timedelta(minutes=5)


def test_astropy_time_says_what_is_missing(craft, pair, monkeypatch):
    with pytest.raises(InvalidInput, match="astropy_time: epoch is missing"):
        pair.polhode.astropy_time()
    with pytest.raises(InvalidInput, match="picoseconds"):
        craft.assign_attrs(units="molecular").polhode.astropy_time()
    monkeypatch.setitem(sys.modules, "astropy.time", None)
    with pytest.raises(MissingExtra, match=r"pip install 'polhode\[astropy\]'"):
        craft.polhode.astropy_time()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        craft.polhode.to_pandas()


# ------------------------------------------------------------------ pictures
def test_pictures_come_from_the_public_functions(craft, pair, members, monkeypatch):
    calls = []
    for room, name in ((ph, "view"), (ph.plots, "animate"), (ph.plots, "dashboard")):
        monkeypatch.setattr(room, name, lambda *given, **more: calls.append((given, more)), raising=False)
    craft.polhode.plot("a.png")
    assert calls.pop()[0][1:] == ("a.png",)
    pair.polhode.animate("b.gif", body=1)
    assert "body" not in calls.pop()[0][0].dims
    craft.polhode.view(pair, title="both")
    (one, other), more = calls.pop()
    assert one.identical(craft) and other.identical(pair) and more == {"title": "both"}
    members.polhode.view(member=[0, 2])
    (run,), more = calls.pop()
    assert run.identical(members) and more == {"members": [0, 2]}
    members.polhode.view(member=3)
    assert calls.pop()[1] == {"members": [3]}
    with pytest.raises(InvalidInput, match="member is 4; there are 4"):
        members.polhode.view(member=4)
    for draw in ("plot", "animate"):
        with pytest.raises(InvalidInput, match=f"{draw}: member is missing; there are 4"):
            getattr(members.polhode, draw)()


@pytest.mark.full
def test_pictures_are_drawn(craft, members, tmp_path):
    assert craft.polhode.plot().get_axes()
    assert 'id="polhode-scene"' in craft.polhode.view(frames=20).html()
    assert len(members.polhode.view(member=[1, 3], frames=5).scene["runs"]) == 2
    craft.isel(time=slice(0, 6)).polhode.animate(
        tmp_path / "a.gif", seconds=0.2, fps=10, size=(300, 200), panels="body"
    )
    assert (tmp_path / "a.gif").stat().st_size > 1000


# ------------------------------------------------------------------ what is refused
def test_errors_say_what_is_missing():
    stranger = xr.Dataset({"x": ("t", [1.0])})
    for method in METHODS:
        with pytest.raises(InvalidInput, match=f"{method}: this Dataset is not a trajectory"):
            getattr(stranger.polhode, method)()
    assert "not made" in repr(stranger.polhode)
    particle = ph.integrate(ph.particle(mass=2.0), step=0.1, steps=2, position=(1, 0, 0), velocity=(0, 1, 0))
    with pytest.raises(InvalidInput, match=r"euler needs attitude, but this trajectory of 'particle' has no attitude"):
        particle.polhode.euler()
    with pytest.raises(InvalidInput, match="mu is missing"):
        particle.polhode.elements()
    with pytest.raises(InvalidInput, match="unknown Euler sequence 'ZYZX'"):
        attitudes(np.eye(4)).polhode.euler("ZYZX")
    with pytest.raises(InvalidInput, match="no dimension time"):
        particle.isel(time=0).polhode.to_pandas()
    assert "particle" in repr(particle.polhode) and "time: 3" in repr(particle.polhode)


def test_every_method_is_listed():
    assert set(METHODS) == {name for name in vars(TrajectoryAccessor) if not name.startswith("_")}


# ------------------------------------------------------------------ where it is
def in_another_process(code):
    """What a fresh Python prints, as JSON."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def saved(craft, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return ph.save(craft, folder / "run.nc"), folder


@pytest.mark.full
@each("order", [
    "import polhode; import xarray", "import xarray; import polhode",
    "import polhode; from xarray.core import common; import xarray",
])  # fmt: skip
def test_any_order_of_imports(saved, order):
    code = f"""
import sys, json, importlib.util
{order}
found = importlib.util.find_spec("xarray") is not None
ds = xarray.open_dataset({str(saved[0])!r})
left = [1 for finder in sys.meta_path if type(finder).__name__ == "WithXarray"]
print(json.dumps([found, float(ds.polhode.euler("ZYX")[0, 0]), left]))
"""
    found, yaw, left = in_another_process(code)
    assert found and not left
    assert yaw == pytest.approx(Rotation.from_quat((0.5, -0.5, 0.1, 0.7), scalar_first=True).as_euler("ZYX")[0])


def installed(folder):
    """A folder that looks like an installation of polhode with its entry points, made from pyproject.toml."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"polhode-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: polhode\nVersion: {project['version']}\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items())
             for group, rows in project["entry-points"].items()]  # fmt: skip
    (info / "entry_points.txt").write_text("".join(lines))
    return folder


def test_xarray_alone_opens_files_and_live_stores(saved, tmp_path, forked):
    """xarray finds the engine by the entry point; nobody imports polhode."""
    file, folder = saved
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    store = folder / "live.zarr"
    whole = ph.integrate(top, "v2", step=0.01, steps=20, angular_velocity=(0, 0, 5), store=store)
    code = f"""
import sys, json
import xarray as xr
plain = xr.open_dataset({str(file)!r})
early = [name for name in ("polhode.trajectory", "polhode.kernel.jit") if name in sys.modules]
checked = xr.open_dataset({str(file)!r}, engine="polhode", drop_variables=["work"])
store = xr.open_dataset({str(store)!r})
read = xr.open_dataset({str(store)!r}, engine="polhode", lazy=False)
try:
    xr.open_dataset({str(file)!r}, engine="polhode", lazy=True)
except Exception as refused:
    refused = type(refused).__name__
else:
    refused = ""
print(json.dumps([early, plain.polhode.rotation().as_quat()[3].tolist(), bool(plain.identical(checked)),
                  store.polhode.euler("ZXZ")[-1].values.tolist(), bool(read.attitude.equals(store.attitude)),
                  "polhode" in xr.backends.list_engines()]))
"""
    paths = os.pathsep.join([str(installed(tmp_path)), *sys.path])
    early, quaternion, same, last, equal, listed = forked(code, PYTHONPATH=paths)
    assert early == [] and same and equal and listed
    np.testing.assert_array_equal(quaternion, np.roll(xr.open_dataset(file).attitude[3].values, -1))
    np.testing.assert_allclose(last, whole.polhode.euler("ZXZ")[-1], rtol=0, atol=1e-15)


def test_the_engine_takes_nothing_of_others(tmp_path):
    from polhode.xarray_engine import TrajectoryBackend

    backend = TrajectoryBackend()
    (tmp_path / "other.zarr").mkdir()
    for path in ("run.nc", "https://example.org/x.zarr", tmp_path / "other.zarr", "\0.zarr", b"CDF", 3):
        assert not backend.guess_can_open(path)


def test_beta_angle_and_eclipses():
    """A circular orbit in the plane z = 0, and the Sun 20 degrees above it."""
    earth, up = ph.planets.EARTH, np.radians(20.0)
    light = {"direction": (np.cos(up), 0.0, np.sin(up)), "shadow": "cylinder", "radius": earth.radius}
    lit = ph.orbit(earth.mu, forces=[ph.forces.radiation_pressure(1e-12, **light)])
    speed = np.sqrt(earth.mu / 7e6)
    ds = ph.integrate(lit, step=10.0, t_end=11660.0, position=(7e6, 0, 0), velocity=(0, speed, 0))
    np.testing.assert_allclose(ds.polhode.beta_angle(degrees=True), 20.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ds.polhode.beta_angle((0, 0, -2.0)), -np.pi / 2, rtol=0, atol=1e-6)
    found = ds.polhode.eclipses()
    half = np.arccos(np.sqrt(1.0 - (earth.radius / 7e6) ** 2) / np.cos(up))  # of the arc in the shadow
    assert len(found) == 2
    np.testing.assert_allclose(np.diff(found, axis=1), 2.0 * half * 7e6 / speed, rtol=0, atol=0.05)
    bare = ph.integrate(ph.orbit(1.0), step=0.01, t_end=1.0, position=(1, 0, 0), velocity=(0, 1, 0))
    with pytest.raises(InvalidInput, match="sun is missing: this run has no sunlight"):
        bare.polhode.beta_angle()
    assert bare.polhode.eclipses().shape == (0, 2)
