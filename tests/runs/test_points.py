"""Points fixed in a body: against differences of fine runs, closed forms, and digits of an independent computation."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.systems.record import System

TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
POINTS = np.array([(0.1, 0.2, 0.9), (-0.5, 0.0, 0.3), (0.0, 0.0, 0.0)])
FIRST = np.array((-1, 9, -45, 0, 45, -9, 1)) / 60
SECOND = np.array((2, -27, 270, -490, 270, -27, 2)) / 180


def differences(values, h):
    """First and second derivatives by central differences of order 6, without the three rows at each end."""
    n = len(values) - 6
    window = np.stack([values[k : k + n] for k in range(7)], axis=-1)
    return window @ FIRST / h, window @ SECOND / h**2


def agree_with_differences(ds, found, x, h):
    """p = r + R x from matrices, and its derivatives."""
    R = rotation.matrix_from_quaternion(ds.attitude.values)
    p = R @ x + (ds.position.values if "position" in ds else 0.0)
    v, a = differences(p, h)
    np.testing.assert_allclose(found.position, p, rtol=0, atol=1e-15 * (1 + np.abs(p).max()))
    np.testing.assert_allclose(found.velocity[3:-3], v, rtol=0, atol=1e-11 * np.abs(v).max())
    np.testing.assert_allclose(found.acceleration[3:-3], a, rtol=0, atol=2e-9 * np.abs(a).max())


# ------------------------------------------------------------------ differences of fine runs
def test_a_top_in_axes_that_are_not_principal():
    top = ph.heavy_top(TENSOR, (0.1, 0.2, 0.9), 20.0)
    ds = ph.integrate(top, "mkrk:gauss8", step=1e-3, steps=100, attitude=(0.8, 0.6, 0, 0),
                      angular_velocity=(1.0, -2.0, 6.0))  # fmt: skip
    assert abs(top.frames[0, 0]) < 0.999
    for x in POINTS[:2]:
        agree_with_differences(ds, ph.runs.point_motion(ds, x), x, 1e-3)


def push(t, position, velocity, q, omega, parameters):
    """A force and a torque that depend on everything."""
    return (
        (np.cos(3.0 * t) - velocity[1], -2.0 * position[0], q[1]),
        (omega[1] * omega[2] + np.sin(5.0 * t), parameters[0] * q[2], -0.3 * omega[2] + position[1]),
    )


def flight(steps=60):
    body = ph.rigid_body(TENSOR, mass=0.7, load=push, parameters=(4.0,))
    return ph.integrate(
        body, "mkrk:gauss8", step=1e-3, steps=steps, start={"time": 0.3}, attitude=(0.8, 0, 0.6, 0),
        angular_velocity=(1.0, -2.0, 6.0), position=(0.4, -0.3, 0.2), velocity=(3.0, 2.0, -1.0),
    )  # fmt: skip


def test_a_body_in_flight_under_the_users_load(tmp_path):
    ds = flight()
    for x in POINTS:
        agree_with_differences(ds, ph.runs.point_motion(ds, x, load=push), x, 1e-3)
    at_once = ph.runs.point_motion(ds, POINTS, load=push)
    for name in ("position", "velocity", "acceleration"):
        assert at_once[name].dims == ("time", "point", "axis")
        for k, x in enumerate(POINTS):
            np.testing.assert_array_equal(at_once[name][:, k], ph.runs.point_motion(ds, x, load=push)[name])
    np.testing.assert_array_equal(at_once.velocity[:, 2], ds.velocity)  # the centre of mass
    np.testing.assert_array_equal(at_once.body_point, POINTS)
    for suffix in ("nc", "zarr"):
        ph.save(ds, tmp_path / f"run.{suffix}")
        ph.save(at_once, tmp_path / f"points.{suffix}")
        again = ph.runs.point_motion(ph.load(tmp_path / f"run.{suffix}"), POINTS, load=push)
        assert again.equals(at_once) and ph.load(tmp_path / f"points.{suffix}").equals(at_once)


@pytest.mark.full
def test_a_flight_in_plain_python(python):
    """The same numbers where nothing is compiled."""
    body = ph.rigid_body(TENSOR, mass=0.7)
    ds = ph.integrate(body, "mkrk:rk4", step=0.1, steps=3, angular_velocity=(1, -2, 6), velocity=(1, 0, 0))
    plain = python(
        f"""
        import json, polhode as ph
        body = ph.rigid_body({TENSOR.tolist()}, mass=0.7)
        ds = ph.integrate(body, "mkrk:rk4", step=0.1, steps=3, angular_velocity=(1, -2, 6), velocity=(1, 0, 0))
        print(json.dumps(ph.runs.point_motion(ds, (0.1, 0.2, 0.9)).acceleration.values.tolist()))
        """,
        NUMBA_DISABLE_JIT="1",
    )
    np.testing.assert_allclose(ph.runs.point_motion(ds, (0.1, 0.2, 0.9)).acceleration, plain, rtol=0, atol=1e-12)


# ------------------------------------------------------------------ closed forms
def axis_turn(k, angle):
    return rotation.exp_matrix(angle * np.eye(3)[k])


@each("precession", [2.0, -1.5])
def test_steady_precession(precession):
    """R = Rz(W t) Rx(tilt) Rz(s t), with C w3 W - A W^2 cos(tilt) = weight [goldstein2002, ch. 5]."""
    A, C, weight, tilt = 5.0, 1.0, 20.0, 0.3
    W = precession
    spin = (weight + A * W**2 * np.cos(tilt)) / (C * W) - W * np.cos(tilt)
    turning = np.array((0.0, W * np.sin(tilt), W * np.cos(tilt) + spin))
    ds = ph.integrate(ph.heavy_top((A, A, C), (0, 0, 1), weight), "mkrk:gauss8", step=2e-3, t_end=2.0, every=100,
                      attitude=ph.rotation.exp_quaternion((tilt, 0, 0)), angular_velocity=turning)  # fmt: skip
    found = ph.runs.point_motion(ds, POINTS)
    E = rotation.hat((0.0, 0.0, 1.0))
    for k, t in enumerate(ds.time.values):
        R = axis_turn(2, W * t) @ axis_turn(0, tilt) @ axis_turn(2, spin * t)
        first = W * E @ R + spin * R @ E
        second = W**2 * E @ E @ R + 2 * W * spin * E @ R @ E + spin**2 * R @ E @ E
        for name, M, size in (("position", R, 1.0), ("velocity", first, 20.0), ("acceleration", second, 400.0)):
            np.testing.assert_allclose(found[name][k], POINTS @ M.T, rtol=0, atol=(1e-14 if k == 0 else 1e-9) * size)


def test_a_steady_turn_of_a_body_that_flies_on():
    body = ph.rigid_body((1.0, 2.0, 2.5), mass=3.0)
    ds = ph.integrate(body, "exact", step=0.25, steps=8, angular_velocity=(0, -2.0, 0), velocity=(1, 2, 3))
    found, t = ph.runs.point_motion(ds, (0.5, 7.0, 0.0)), ds.time.values
    c, s, o = np.cos(2 * t) / 2, np.sin(2 * t) / 2, np.zeros_like(t)
    np.testing.assert_allclose(found.position, np.stack([c + t, 7 + 2 * t, s + 3 * t], axis=1), rtol=0, atol=3e-14)
    np.testing.assert_allclose(found.velocity, np.stack([1 - 2 * s, 2 + o, 3 + 2 * c], axis=1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.acceleration, np.stack([-4 * c, o, -4 * s], axis=1), rtol=0, atol=1e-14)


def test_the_centre_of_mass_of_the_papers_top():
    """[holzinger2021, 7.2] at t = 0.1: digits of a computation with 30, in which two methods agreed to 5e-28."""
    ready = ph.systems.problem("holzinger_top")
    ds = ph.integrate(ready.build(), "mkrk:gauss8", step=5e-4, t_end=0.1, every=200, start=ready.initial)
    last = ph.runs.point_motion(ds, (0, 1, 0)).isel(time=-1)
    exact = (0.42129665892540204365, 0.89457197434559299089, -0.14916470056189961162)
    np.testing.assert_allclose(last.position, exact, rtol=0, atol=3e-12)
    np.testing.assert_allclose(
        ds.angular_velocity[-1], (4.8089413317280923, 150.0, 1.0283007567183298), rtol=0, atol=3e-11
    )


# ------------------------------------------------------------------ the Dataset
def test_a_particle_has_one_point():
    ds = ph.integrate(ph.particle(mass=2.0, stiffness=3.0, gravity=(0, 0, -9.81)), step=0.1, steps=5,
                      settings={"units": "SI"}, position=(1, 0, 0), velocity=(0, 1, 0))  # fmt: skip
    found = ph.runs.point_motion(ds, (0, 0, 0))
    np.testing.assert_array_equal(found.position, ds.position)
    np.testing.assert_array_equal(found.velocity, ds.velocity)
    pull = -1.5 * ds.position.values + np.array((0, 0, -9.81))
    np.testing.assert_allclose(found.acceleration, pull, rtol=0, atol=1e-14)
    assert [found[n].attrs["units"] for n in ("position", "velocity", "acceleration")] == ["m", "m s-1", "m s-2"]


def test_rows_may_be_chosen_and_one_alone_will_do():
    ds = ph.integrate(ph.heavy_top(TENSOR, (0.1, 0.2, 0.9), 20.0), "mkrk:rk4", step=0.01, steps=20,
                      angular_velocity=(1, 2, 3))  # fmt: skip
    whole = ph.runs.point_motion(ds, POINTS)
    assert ph.runs.point_motion(ds.isel(time=[7, 3, 15]), POINTS).equals(whole.isel(time=[7, 3, 15]))
    one = ph.runs.point_motion(ds.isel(time=-1), POINTS[0])
    assert one.position.dims == ("axis",) and float(one.time) == 0.2
    np.testing.assert_array_equal(one.acceleration, whole.acceleration[-1, 0])
    assert ph.runs.point_motion(ds.isel(time=[]), POINTS).sizes["time"] == 0
    assert ph.runs.point_motion(ds.transpose(), POINTS).equals(whole)
    assert whole.attrs["system"] == "heavy_top" and whole.velocity.attrs["units"] == "length / time"


def spring(part, t, N, y, bodies, parameters, out):
    """Two bodies pull each other, and turn each other about z."""
    for k in range(12):
        out[k] = 0.0
    for k in range(3):
        out[k] = parameters[0] * (y[13 + k] - y[k])
        out[6 + k] = -out[k]
    out[5], out[11] = t, -2.0 * t


def test_one_of_two_bodies():
    pair = System("pair", {}, np.array((1.0, 4.0)), np.array([(1.0, 2.0, 2.5), (5.0, 5.0, 1.0)]),
                  np.tile((1.0, 0.0, 0.0, 0.0), (2, 1)), loads=spring, parameters=np.array((3.0,)))  # fmt: skip
    ds = ph.integrate(pair, "mkrk:gauss8", step=1e-3, steps=40, position=[(0, 0, 0), (1, 1, 0)],
                      angular_velocity=[(0.3, 2.0, -1.0), (2.0, 1.0, 4.0)])  # fmt: skip
    for body in (0, 1):
        alone = ds.isel(body=body)
        agree_with_differences(alone, ph.runs.point_motion(ds, POINTS[1], pair, body=body), POINTS[1], 1e-3)
    with pytest.raises(
        ph.errors.InvalidInput, match=r"no function of polhode builds the system 'pair'; .*system=\.\.\."
    ):
        ph.runs.point_motion(ds, POINTS)
    with pytest.raises(ph.errors.InvalidInput, match="body is 2, but bodies are numbered 0 to 1"):
        ph.runs.point_motion(ds, POINTS, pair, body=2)
    with pytest.raises(ph.errors.InvalidInput, match="the trajectory has 1 bodies, the system 2"):
        ph.runs.point_motion(ds.isel(body=0), POINTS, pair)


# ------------------------------------------------------------------ what a run switches
PUSH = np.array((0.3, -0.2, 0.5))
ROUND = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 0.8, 0.3)}


def gravity(ds, mu=2.0):
    r = ds.position.values
    return -mu * r / np.linalg.norm(r, axis=-1, keepdims=True) ** 3


@each("backwards", [False, True])
def test_thrust_acts_at_the_rows_where_it_is_on(backwards):
    """At the rows of its switches the acceleration is that just after them, in the direction of the run."""
    craft = ph.orbit(2.0, forces=[ph.forces.thrust(0.25, vector=PUSH, start=0.5, stop=1.0)])
    span = {"start": {"time": 1.5}, "t_end": 0.0} if backwards else {"t_end": 1.5}
    ds = ph.integrate(craft, "mkrk:cv8", step=0.125, **span, **ROUND)
    t = ds.time.values
    on = (t > 0.5) & (t <= 1.0) if backwards else (t >= 0.5) & (t < 1.0)
    assert on.sum() == 4
    expected = gravity(ds) + 0.25 * on[:, None] * PUSH / np.linalg.norm(PUSH)
    found = ph.runs.point_motion(ds, (0, 0, 0)).acceleration
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    for k in (0, 4, 5, 8):  # each row alone, and all of them in the other order
        np.testing.assert_array_equal(ph.runs.point_motion(ds.isel(time=k), (0, 0, 0)).acceleration, found[k])
    turned = ds.isel(time=slice(None, None, -1))
    np.testing.assert_array_equal(ph.runs.point_motion(turned, (0, 0, 0)).acceleration, found[::-1])


def test_a_thruster_turns_a_craft_while_it_is_on():
    """Force F and lever x: F/m, and the point at the distance y gains (I^-1 (x cross F)) cross y."""
    force, lever, y = 0.3, np.array((0.0, 0.2, 0.0)), np.array((0.1, -0.4, 0.2))
    jet = ph.systems.thruster(force=force, direction=(1, 0, 0), position=lever, start=0.5, stop=1.0)
    craft = ph.spacecraft((2.0, 3.0, 4.0), 2.0, mass=1.5, gravity_gradient=False, thrusters=[jet])
    ds = ph.integrate(craft, "mkrk:cv8", step=0.25, t_end=1.5, **ROUND)
    found = ph.runs.point_motion(ds, (np.zeros(3), y)).acceleration.values
    R, w = rotation.matrix_from_quaternion(ds.attitude.values), ds.angular_velocity.values
    for k, on in enumerate((0, 0, 1, 1, 0, 0, 0)):
        F = on * np.array((force, 0, 0))
        turning = (np.cross(lever, F) - np.cross(w[k], (2.0, 3.0, 4.0) * w[k])) / (2.0, 3.0, 4.0)
        centre = gravity(ds)[k] + R[k] @ F / 1.5
        np.testing.assert_allclose(found[k, 0], centre, rtol=0, atol=1e-15)
        about = np.cross(turning, y) + np.cross(w[k], np.cross(w[k], y))
        np.testing.assert_allclose(found[k, 1], centre + R[k] @ about, rtol=0, atol=2e-15)


def test_there_is_no_sunlight_in_the_shadow():
    """Rays along -x behind a ball."""
    light = ph.forces.radiation_pressure(1e-3, direction=(1, 0, 0), shadow="cylinder", radius=0.5)
    ds = ph.integrate(ph.orbit(2.0, forces=[light]), "mkrk:cv8", step=0.02, t_end=16.0, every=10, **ROUND)
    r = ds.position.values
    dark = (r[:, 0] < 0.0) & (np.hypot(r[:, 1], r[:, 2]) < 0.5)
    assert 5 < dark.sum() < len(dark) - 5
    expected = gravity(ds) - 1e-3 * ~dark[:, None] * np.array((1.0, 0.0, 0.0))
    np.testing.assert_allclose(ph.runs.point_motion(ds, (0, 0, 0)).acceleration, expected, rtol=2e-15, atol=1e-15)


def test_the_parameters_of_the_run_count():
    """Also where the system is handed in as it was built."""
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    ds = ph.integrate(top, "mkrk:rk4", step=0.01, steps=2, parameters={"weight": 5.0}, attitude=(0.8, 0.6, 0, 0))
    np.testing.assert_array_equal(
        ph.runs.point_motion(ds, POINTS, top).acceleration, ph.runs.point_motion(ds, POINTS).acceleration
    )
    light = ph.integrate(
        ph.heavy_top((5, 5, 1), (0, 0, 1), 5.0), "mkrk:rk4", step=0.01, steps=2, attitude=(0.8, 0.6, 0, 0)
    )
    np.testing.assert_array_equal(
        ph.runs.point_motion(ds, POINTS).acceleration, ph.runs.point_motion(light, POINTS).acceleration
    )


# ------------------------------------------------------------------ refusals
def late(t, q, omega, parameters):
    if t > 0.95:
        raise RuntimeError("too late")
    return (0.0, 0.0, np.inf if t > parameters[0] else 1.0)


@each("large, words", [(2.0, "too late"), (0.45, r"torque .*every number must be finite")])
def test_a_function_that_fails_at_a_row(large, words):
    body = ph.rigid_body((1, 2, 2.5), torque=late, parameters=(large,))
    ds = ph.integrate(ph.free_body((1, 2, 2.5)), "exact", step=0.1, steps=10)
    with pytest.raises(ph.errors.UserFunctionError, match=words) as caught:
        ph.runs.point_motion(ds, POINTS, body)
    assert caught.value.time == pytest.approx(1.0 if large == 2.0 else 0.5)
    if large == 2.0:
        assert isinstance(caught.value.__cause__, RuntimeError) and "at t = 1)" in str(caught.value)


def test_wrong_calls():
    ds, top = flight(steps=2), ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    run = ph.integrate(top, "mkrk:rk4", step=0.01, steps=2)
    wrong = {
        r"hand it in again: point_motion\(ds, point, load=push\)": lambda: ph.runs.point_motion(ds, POINTS),
        r"unknown function of this run 'torque'": lambda: ph.runs.point_motion(run, POINTS, torque=late),
        r"leave load out": lambda: ph.runs.point_motion(run, POINTS, top, load=push),
        r"point must be 3 numbers, or rows of 3 numbers, but has shape \(2,\)": lambda: ph.runs.point_motion(
            run, (1, 2)
        ),
        r"point must be real numbers in a regular array, not 'tip'": lambda: ph.runs.point_motion(run, "tip"),
        r"point must be .* shape \(0, 3\)": lambda: ph.runs.point_motion(run, np.zeros((0, 3))),
        r"point is not finite": lambda: ph.runs.point_motion(run, (0, 0, np.nan)),
        r"body is 1, but the system has one body, number 0": lambda: ph.runs.point_motion(run, POINTS, body=1),
        r"body must be a whole number": lambda: ph.runs.point_motion(run, POINTS, body=True),
        r"record of this run is not one that polhode wrote": lambda: ph.runs.point_motion(
            run.assign_attrs(run="{"), POINTS
        ),
        r"records no run": lambda: ph.runs.point_motion(run.drop_attrs(), POINTS),
        r"ds must be a Dataset such as": lambda: ph.runs.point_motion(top, POINTS),
        r"system must be a system such as": lambda: ph.runs.point_motion(run, POINTS, "top"),
        r"no variable 'angular_momentum'; take the whole": lambda: ph.runs.point_motion(run[["attitude"]], POINTS),
    }
    for words, call in wrong.items():
        with pytest.raises(ph.errors.InvalidInput, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    np.testing.assert_array_equal(ph.runs.point_motion(run.drop_attrs(), POINTS, top).position,
                                  ph.runs.point_motion(run, POINTS).position)  # fmt: skip


# ------------------------------------------------------------------ a top given by its mass
def test_the_parallel_axis_theorem():
    """J_FP = J - m r~ r~ [holzinger2021, eq. 75], and eq. 76 for the torque."""
    r, m = np.array((0.3, -0.2, 0.9)), 2.5
    cross = rotation.hat(r)
    top = ph.heavy_top(TENSOR, r, mass=m, gravity=1.62, inertia_about="center_of_mass")
    same = ph.heavy_top(TENSOR - m * cross @ cross, r, m * 1.62)
    np.testing.assert_allclose(top.moments, same.moments, rtol=1e-14)
    state = {"step": 0.01, "steps": 50, "attitude": (0.8, 0.6, 0, 0), "angular_velocity": (1, 2, 3)}
    one, other = (ph.integrate(system, "mkrk:rk4", **state) for system in (top, same))
    np.testing.assert_allclose(one.angular_momentum, other.angular_momentum, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.potential_energy, other.potential_energy, rtol=0, atol=1e-13)
    paper = ph.systems.problem("holzinger_top").build()
    np.testing.assert_allclose(paper.moments, [(15.234375, 0.46875, 15.234375)], rtol=1e-15)
    assert paper.parameters[0] == 15 * 9.81 and "axial_angular_momentum" in paper.conserves


def test_arguments_build_a_top_again():
    for top in (
        ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0),
        ph.heavy_top((5, 5, 1), (0, 0, 1), weight=20.0, gravity=9.81),
        ph.heavy_top((5, 5, 1), (0, 0, 1), mass=2.0),
        ph.heavy_top(TENSOR, (0.1, 0, 1), mass=2.0, gravity=-1.62, inertia_about="center_of_mass"),
        ph.systems.problem("holzinger_top").build(),
    ):
        again = ph.heavy_top(**json.loads(json.dumps(top.arguments)))
        assert again.arguments == top.arguments and repr(again) == repr(top)
        np.testing.assert_array_equal(again.moments, top.moments)
        np.testing.assert_array_equal(again.parameters, top.parameters)
    assert set(ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0).arguments) == {"inertia", "center_of_mass", "weight"}
    ready = ph.systems.problem("holzinger_top")
    ds = ph.integrate(ready.build(), "mkrk:rk4", step=1e-3, steps=3, start=ready.initial)
    assert ph.rerun(ds).equals(ds)
