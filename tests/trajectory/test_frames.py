"""Orbits and attitudes seen from the orbit, against closed formulas and the events of runs."""

from math import asin, pi, sqrt

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.trajectory import frames, surroundings

MU, RADIUS = ph.planets.EARTH.mu, 7.0e6
RATE = sqrt(MU / RADIUS**3)
SI = {"units": "SI"}


def polar(**more):
    """A circle over the poles: y of LVLH against the normal, which is -y of space."""
    craft = ph.spacecraft((10.0, 11.0, 12.0), MU, 100.0, gravity_gradient=False, **more)
    start = {"position": (RADIUS, 0, 0), "velocity": (0, 0, RADIUS * RATE)}
    return craft, start


def unit_circle():
    return ph.integrate(ph.orbit(1.0), "kepler", step=0.1, steps=1, position=(1, 0, 0), velocity=(0, 1, 0))


@pytest.fixture(scope="module")
def pointing():
    """At rest in LVLH but for 20, -10, 5 degrees of yaw, pitch and roll."""
    craft, start = polar()
    frame = np.column_stack([(0, 0, 1), (0, 1, 0), (-1, 0, 0)]).astype(float)
    turn = Rotation.from_euler("ZYX", (20, -10, 5), degrees=True).as_matrix()
    q = ph.rotation.quaternion_from_matrix(frame @ turn)
    omega = ph.rotation.rotate_inverse(q, (0.0, -RATE, 0.0))
    return ph.integrate(
        craft, "mkrk:cv8", step=20.0, steps=30, attitude=q, angular_velocity=omega, settings=SI, **start
    )


def test_axes_of_lvlh_are_nadir_against_the_normal_and_along_the_track(pointing):
    q = frames.lvlh(pointing).lvlh_attitude.values
    r, v = pointing.position.values, pointing.velocity.values
    x, y, z = (ph.rotation.rotate(q, axis) for axis in np.eye(3))
    np.testing.assert_allclose(z, -r / RADIUS, rtol=0, atol=1e-9)
    np.testing.assert_allclose(y, np.broadcast_to((0, 1, 0), y.shape), rtol=0, atol=1e-12)
    np.testing.assert_allclose(x, v / (RADIUS * RATE), rtol=0, atol=1e-9)


def test_angles_and_rate_in_lvlh(pointing):
    seen = frames.lvlh(pointing)
    first = np.degrees(seen.roll_pitch_yaw[0][::-1])
    np.testing.assert_allclose(first, (20, -10, 5), rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen.angular_velocity_in_lvlh[0], 0.0, rtol=0, atol=1e-18)
    along = Rotation.from_quat(np.roll(seen.attitude_in_lvlh.values, -1, axis=1)).as_euler("ZYX")
    np.testing.assert_allclose(seen.roll_pitch_yaw[:, ::-1], along, rtol=0, atol=1e-14)
    assert seen.roll_pitch_yaw.attrs["units"] == "rad" and seen.time.identical(pointing.time)


def test_angles_at_the_pole_of_pitch_give_the_attitude_back():
    for pitch in (90.0, -90.0):
        rotation = Rotation.from_euler("ZYX", (30, pitch, 12), degrees=True)
        found = frames.yaw_pitch_roll(np.roll(rotation.as_quat(), 1))
        assert abs(found[1] - pitch * pi / 180) < 1e-15 and found[2] == 0.0
        np.testing.assert_allclose(
            Rotation.from_euler("ZYX", found).as_matrix(), rotation.as_matrix(), rtol=0, atol=1e-7
        )


def test_pointing_error(pointing):
    down = float(frames.pointing_error(pointing)[0])
    assert abs(down - np.arccos(np.cos(np.radians(10)) * np.cos(np.radians(5)))) < 1e-12
    assert float(frames.pointing_error(pointing, (0, 1, 0), (0, 1, 0))[0]) > 0.1
    with pytest.raises(InvalidInput, match="no sunlight"):
        frames.pointing_error(pointing, toward="sun")
    with pytest.raises(InvalidInput, match="choose one of nadir"):
        frames.pointing_error(pointing, toward="down")
    with pytest.raises(InvalidInput, match="axis is zero"):
        frames.pointing_error(pointing, (0, 0, 0))


def test_elements_are_those_of_the_start(pointing):
    r, v = ph.kepler.state(
        mu=MU, semi_major_axis=9e6, eccentricity=0.2, inclination=0.7, node=0.3, argument_of_periapsis=0.4,
        mean_anomaly=0.5,
    )  # fmt: skip
    ds = ph.integrate(ph.orbit(MU), "kepler", step=100.0, steps=20, position=r, velocity=v, settings=SI)
    found = frames.elements(ds)
    period = 2 * pi * sqrt(9e6**3 / MU)
    for name, value in (
        ("semi_major_axis", 9e6), ("eccentricity", 0.2), ("inclination", 0.7), ("node", 0.3),
        ("argument_of_periapsis", 0.4), ("period", period), ("periapsis", 7.2e6), ("apoapsis", 10.8e6),
    ):  # fmt: skip
        np.testing.assert_allclose(found[name], value, rtol=1e-11)
    np.testing.assert_allclose(
        found.mean_anomaly, np.mod(0.5 + ds.time * 2 * pi / period + pi, 2 * pi) - pi, rtol=0, atol=1e-11
    )
    np.testing.assert_allclose(found.argument_of_latitude, np.mod(0.4 + found.true_anomaly, 2 * pi), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.distance, np.linalg.norm(ds.position, axis=1))


def test_rows_without_an_orbit_are_nan(pointing):
    spoilt = pointing.copy(deep=True)
    spoilt.velocity[3] = 2.0 * spoilt.position[3]
    spoilt.position[5] = np.nan
    found, seen = frames.elements(spoilt), frames.lvlh(spoilt)
    for values in (found.eccentricity, seen.roll_pitch_yaw[:, 2]):
        assert np.flatnonzero(np.isnan(values)).tolist() == [3, 5]
    spoilt.velocity[7] *= 2.0
    fast = frames.elements(spoilt).isel(time=7)
    assert fast.semi_major_axis < 0 and fast.eccentricity > 1 and np.isnan(fast.period) and np.isinf(fast.apoapsis)


def test_elements_of_planets_are_about_the_heaviest():
    system = ph.gravitating_bodies(mu=(1e-3, 1.0, 1e-4))
    r = np.array([(1.0, 0, 0), (0, 0, 0), (0, 3.0, 0)])
    v = np.array([(0, sqrt(1.001), 0), (0, 0, 0), (-sqrt(1.0001 / 3.0), 0, 0)])
    ds = ph.integrate(system, "verlet", step=0.01, steps=2, position=r, velocity=v)
    found = frames.elements(ds)
    assert found.eccentricity.dims == ("time", "body") and np.isnan(found.eccentricity[:, 1]).all()
    np.testing.assert_allclose(found.semi_major_axis[0, [0, 2]], (1.0, 3.0))
    about = frames.elements(ds, about=0)
    np.testing.assert_allclose(about.distance[0], (0.0, 1.0, sqrt(10.0)))
    with pytest.raises(InvalidInput, match="bodies 0 to 2"):
        frames.elements(ds, about=3)
    with pytest.raises(InvalidInput, match="about is for bodies"):
        frames.elements(unit_circle(), about=1)


def test_ground_track_and_altitude(pointing):
    track = frames.ground_track(pointing)
    turned = ph.planets.EARTH.rotation * pointing.time
    np.testing.assert_allclose(track.longitude, np.mod(-turned + pi, 2 * pi) - pi, rtol=0, atol=1e-12)
    np.testing.assert_allclose(track.latitude, RATE * pointing.time, rtol=0, atol=1e-9)
    np.testing.assert_allclose(track.altitude, RADIUS - ph.planets.EARTH.radius, rtol=0, atol=1e-2)
    np.testing.assert_allclose(frames.altitude(pointing, radius=6.9e6), 1e5, rtol=0, atol=1e-2)
    still = frames.ground_track(pointing, rotation_rate=0.0)
    np.testing.assert_allclose(still.longitude, 0.0, rtol=0, atol=1e-9)


def test_prime_meridian_by_the_epoch():
    """At 2000-01-01T12:00 UT1 the Earth rotation angle is 0.7790572732640 turns; a sidereal day is 86164.0989 s."""
    system, start = ph.orbit(MU), {"position": (RADIUS, 0, 0), "velocity": (0, RADIUS * RATE, 0)}
    noon, later = (
        float(frames.ground_track(ph.integrate(
            system, "kepler", step=1.0, steps=1, settings=SI | {"epoch": epoch}, **start)).longitude[0])
        for epoch in ("2000-01-01T12:00:00 UTC", "2026-01-01T12:00:00 UTC")
    )  # fmt: skip
    assert abs(noon - 2 * pi * (1.0 - 0.7790572732640)) < 1e-12
    turns = 0.7790572732640 + 1.00273781191135448 * 9497  # days of 26 years with 7 leap years
    assert abs(np.angle(np.exp(1j * (later + 2 * pi * (turns % 1.0))))) < 1e-9


def lit(shadow, rows, **more):
    force = ph.forces.radiation_pressure(1e-7, shadow=shadow, radius=6.378e6, **more)
    system = ph.orbit(MU, forces=[force])
    return ph.integrate(
        system, "mkrk:cv8", step=60.0, steps=200, every=rows, position=(RADIUS, 0, 0), velocity=(0, RADIUS * RATE, 0),
        settings=SI,
    )  # fmt: skip


@each("rows", [1, 5])
def test_shadows_are_those_of_the_run(rows):
    ds = lit("cylinder", rows, direction=(1, 0, 0))
    found = frames.shadow(ds)
    half = asin(6.378e6 / RADIUS)
    expected = np.array([[pi - half, pi + half], [3 * pi - half, 3 * pi + half]]) / RATE
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.5)


def test_shadows_are_refused_where_the_way_between_rows_is_not_known():
    """Thirty revolutions: the share of the dark is right with four rows in a revolution, and refused with fewer."""
    force = ph.forces.radiation_pressure(1e-7, shadow="cylinder", radius=6.378e6, direction=(1, 0, 0))
    period = 2 * pi / RATE
    run = {"step": period / 96, "steps": 2880, "position": (RADIUS, 0, 0), "velocity": (0, RADIUS * RATE, 0)}
    system = ph.orbit(MU, forces=[force])
    share = np.arcsin(6.378e6 / RADIUS) / pi
    for every in (8, 24):
        found = frames.shadow(ph.integrate(system, "rkn6_14a", every=every, settings=SI, **run))
        assert len(found) == 30
        assert (found[:, 1] - found[:, 0]).sum() == pytest.approx(30 * period * share, rel=0.03)
    for every in (32, 96, 144):
        ds = ph.integrate(system, "rkn6_14a", every=every, settings=SI, **run)
        with pytest.raises(InvalidInput, match="of a revolution apart"):
            frames.shadow(ds)
        assert ph.view(ds).scene["runs"][0]["orbit"]["shadow"] == []
        facts = dict(ph.view(ds).scene["runs"][0]["facts"])
        assert facts["shadow"] == "not shown: the rows are too far apart for it"
        texts = [one.get_text() for one in ph.plots.dashboard(ds).texts]
        assert not any("in the shadow" in text for text in texts)


def test_penumbra_counts_as_shadow():
    far = {"position": (1.5e11, 0, 0), "sun_radius": 6.957e8}
    cone, cylinder = frames.shadow(lit("cone", 1, **far)), frames.shadow(lit("cylinder", 1, position=(1.5e11, 0, 0)))
    wider = (cone[:, 1] - cone[:, 0]) - (cylinder[:, 1] - cylinder[:, 0])
    assert (wider > 2.0).all() and (wider < 20.0).all()


def test_shadow_that_is_asked_for(pointing):
    assert frames.shadow(pointing).shape == (0, 2)
    ((begin, end),) = frames.shadow(pointing, sun=(0, 0, -1))
    assert end == pointing.time[-1] and 0 < begin < end
    with pytest.raises(InvalidInput, match="radius is missing"):
        frames.shadow(unit_circle(), sun=(1, 0, 0))


def test_centre():
    ds = ph.integrate(
        ph.orbit(398600.4415, forces=[ph.forces.zonal(radius=6378.1363, J2=1e-3)]), "mkrk:rk4", step=1.0, steps=1,
        position=(7000, 0, 0), velocity=(0, 7.5, 0),
    )  # fmt: skip
    known = surroundings.centre(ds)
    assert (known.name, known.radius, known.rotation) == ("", 6378.1363, None)
    with pytest.raises(InvalidInput, match="rotation_rate is missing"):
        frames.ground_track(ds)
    bodies = ph.integrate(ph.particle(1.0), "trapm", step=0.1, steps=1, position=(1, 0, 0), velocity=(0, 1, 0))
    assert surroundings.centre(bodies) is None
    with pytest.raises(InvalidInput, match="mu is missing"):
        frames.elements(bodies)
    with pytest.raises(InvalidInput, match="no attitude"):
        frames.lvlh(ds)
