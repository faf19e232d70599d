"""Spacecraft: gravity gradient against point masses and closed forms, devices against formulas, long runs."""

from __future__ import annotations

import json

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode import forces
from polhode.algebra import rotation
from polhode.checks import load_caller
from polhode.kernel import layout as L
from polhode.kernel.signatures import POTENTIAL
from polhode.runs.initial_state import start_state
from polhode.systems.user.function import one_call

MU, MASS = 2.0, 3.0
TENSOR = np.array([[1.0, 0.1, 0.05], [0.1, 1.5, 0.2], [0.05, 0.2, 1.2]])
Q = np.array((0.8, 0.4, -0.2, 0.4))
R, V, W = np.array((1.5, 0.3, 0.2)), np.array((0.1, 1.0, 0.3)), np.array((0.3, 0.2, -0.5))
START = {"position": R, "velocity": V, "attitude": Q, "angular_velocity": W}
TURN = Rotation.from_quat(np.roll(Q, -1)).as_matrix()  # body to space


def started(system, start):
    """The bodies at the start, with the auxiliary variables that loads of wheels read."""
    y = start_state(system, **(START | start))
    return np.concatenate([y, system.auxiliary_at_start(y)])


def load(system, t=0.3, part=L.ALL, lit=1.0, **start):
    """Force in space and torque in the user's body axes, of the first body."""
    y = started(system, start)
    out, parameters = np.full(6 * system.N + len(system.auxiliary), np.nan), system.with_memory
    system.set_switches(parameters, t)
    for watch in system.watches:
        parameters[watch.flag] = lit
    load_caller(part)(system.compiled_loads(t, y), t, system.N, y, system.bodies, parameters, out)
    return out[:3], rotation.rotate(system.frames[0], out[3:6])


def potential(system, **start):
    y, out = started(system, start), np.zeros(1)
    one_call[POTENTIAL](system.compiled_potential(0.0, y), 0.0, y, system.bodies, system.with_memory, out)
    return out[0]


def alone(**devices):
    """Force and torque of what is added to a spacecraft without gravity gradient."""
    return load(ph.spacecraft(TENSOR, MU, MASS, gravity_gradient=False, **devices), part=L.WITHOUT_SOLVED)


# ------------------------------------------------------------------ gravity gradient
def newton(places, masses, r, q):
    """Force, torque and potential of point masses under Newton's law less those of their sum, in 60 digits."""
    with mp.workdps(60):
        w, x, y, z = (mp.mpf(float(c)) for c in q)
        n = w * w + x * x + y * y + z * z
        turn = mp.matrix([
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]) / n  # fmt: skip
        centre = mp.matrix([mp.mpf(float(c)) for c in r])
        total, size = mp.fsum(masses), mp.sqrt(mp.fsum(c * c for c in centre))
        force, torque, energy = MU * total / size**3 * centre, mp.zeros(3, 1), MU * total / size
        for m, place in zip(masses, places, strict=True):
            b = mp.matrix([mp.mpf(float(c)) for c in place])
            at = centre + turn * b
            distance = mp.sqrt(mp.fsum(c * c for c in at))
            f = -MU * m / distance**3 * at
            g = turn.T * f
            force, energy = force + f, energy - MU * m / distance
            torque += mp.matrix([b[1] * g[2] - b[2] * g[1], b[2] * g[0] - b[0] * g[2], b[0] * g[1] - b[1] * g[0]])
        return np.array([float(c) for c in force]), np.array([float(c) for c in torque]), float(energy)


def test_gradient_is_that_of_point_masses():
    """Masses opposite each other, so that what is left out of the expansion is its term after next."""
    rng = np.random.default_rng(3)
    half, weights = 1e-6 * rng.normal(size=(4, 3)), rng.uniform(0.5, 2.0, 4)
    places, masses = np.concatenate([half, -half]), [mp.mpf(float(m)) for m in (*weights, *weights)]
    tensor = sum(2 * m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(weights, half, strict=True))
    system = ph.spacecraft(tensor, MU, float(2 * weights.sum()))
    for q in rng.normal(size=(5, 4)):
        r, q = rng.normal(size=3), q / np.linalg.norm(q)
        force, torque = load(system, part=L.WITHOUT_SOLVED, position=r, attitude=q)
        expected = newton(places, masses, r, q)
        np.testing.assert_allclose(force, expected[0], rtol=0, atol=1e-9 * np.abs(expected[0]).max())
        np.testing.assert_allclose(torque, expected[1], rtol=0, atol=1e-9 * np.abs(expected[1]).max())
        ds = ph.integrate(system, "v2", step=1.0, steps=0, position=r, velocity=0, attitude=q)
        assert ds.attitude_energy.item() == pytest.approx(expected[2], rel=1e-9)


@each("arguments", [
    pytest.param({"inertia": TENSOR}, marks=pytest.mark.full),
    pytest.param({"inertia": (1.2, 1.2, 0.7)}, marks=pytest.mark.full),
    pytest.param({"inertia": TENSOR, "gravity_gradient": False}, marks=pytest.mark.full),
    {"inertia": TENSOR, "forces": [forces.zonal(J2=0.02, J3=-0.01, radius=1.0), forces.uniform((0.0, 0.0, 0.02))]},
    {"inertia": [TENSOR, np.diag((2.0, 1.1, 1.2))], "mass": (3.0, 1.7)},
], ids=("tensor", "symmetric", "point", "forces", "two"))  # fmt: skip
def test_systems_keep_what_they_say(arguments):
    system = ph.spacecraft(**{"mu": MU, "mass": MASS} | arguments)
    report = ph.checks.check_system(system, states=2, **START)
    report.raise_for_failure()
    assert {"loads and potential", "conserves energy"} <= {line.what for line in report.lines}
    assert "loads of the commutator" in {line.what for line in report.lines}


def test_the_gradient_turns_nothing_as_a_whole():
    force, torque = load(ph.spacecraft(TENSOR, MU, MASS), part=L.WITHOUT_SOLVED)
    np.testing.assert_allclose(np.cross(R, force) + TURN @ torque, 0, rtol=0, atol=4e-16)
    assert np.linalg.norm(torque) > 0.05


def test_a_nearly_spherical_body_loses_no_digits():
    """Moments that differ by 2^-40: the loads are those of the difference, to round-off."""
    tiny = 2.0**-40
    near = load(ph.spacecraft((1.0, 1.0 + tiny, 1.0 + 3 * tiny), MU, MASS), part=L.WITHOUT_SOLVED)
    shape = load(ph.spacecraft((5.0, 6.0, 8.0), MU, MASS), part=L.WITHOUT_SOLVED)
    for a, b in zip(near, shape, strict=True):
        np.testing.assert_allclose(a, tiny * b, rtol=1e-13)


def test_without_the_gradient_orbit_and_attitude_go_their_own_ways():
    whole = ph.integrate(ph.spacecraft(TENSOR, MU, MASS, False), "v2/kepler", step=0.1, steps=50, **START)
    orbit = ph.integrate(ph.orbit(MU, MASS), "v2/kepler", step=0.1, steps=50, position=R, velocity=V)
    body = ph.integrate(ph.free_body(TENSOR), "v2", step=0.1, steps=50, attitude=Q, angular_velocity=W)
    np.testing.assert_array_equal(whole.position, orbit.position)
    np.testing.assert_array_equal(whole.attitude, body.attitude)


def test_forces_act_on_the_centre_of_mass():
    drag, thrust = forces.drag(kd=0.2, radius=1.5, scale=0.6), forces.thrust(0.1, "radial")
    several = [forces.zonal(J2=0.1, radius=1.0), drag, thrust]
    system, point = ph.spacecraft(TENSOR, MU, MASS, False, several), ph.orbit(MU, MASS, several)
    for part in (L.ALL, L.WITHOUT_SOLVED, L.DISSIPATIVE):
        force, torque = load(system, part=part)
        y, out = start_state(point, position=R, velocity=V), np.zeros(6 + len(point.auxiliary))
        load_caller(part)(point.compiled_loads(0.3, y), 0.3, 1, y, point.bodies, point.with_memory, out)
        np.testing.assert_allclose(force, out[:3], rtol=4e-16, atol=0.0)  # an orbit adds them up in another order
        np.testing.assert_array_equal(torque, 0.0)


def test_several_are_each_alone():
    tensors, masses = [TENSOR, np.diag((2.0, 1.1, 1.2))], (3.0, 1.7)
    places, speeds = np.array([R, (0.2, 1.8, -0.3)]), np.array([V, (-1.0, 0.1, 0.2)])
    rates = np.array([W, (0.1, -0.4, 0.2)])
    both = ph.integrate(ph.spacecraft(tensors, MU, masses), step=0.05, steps=60, position=places, velocity=speeds,
                        attitude=Q, angular_velocity=rates)  # fmt: skip
    assert both.position.dims == ("time", "body", "axis") and both.attitude_energy.dims == ("time", "body")
    for i in range(2):
        one = ph.integrate(ph.spacecraft(tensors[i], MU, masses[i]), step=0.05, steps=60, position=places[i],
                           velocity=speeds[i], attitude=Q, angular_velocity=rates[i])  # fmt: skip
        for name in ("position", "attitude", "spin", "attitude_energy", "orbital_energy", "angular_momentum_space"):
            np.testing.assert_allclose(both[name][:, i], one[name], rtol=0, atol=1e-14)


def test_members_of_a_rod_have_energies_of_their_own():
    def rod(mass):
        return ph.spacecraft((1.0, 1.0, 0.0), MU, mass, gravity_gradient=True)

    run = {"step": 0.05, "steps": 4, "position": R, "velocity": V, "angular_velocity": (0.1, 0.2, 0.0)}
    both = ph.ensemble(rod(2.0), "v2/kepler", members={"mass": [2.0, 3.0]}, **run)
    for k, mass in enumerate((2.0, 3.0)):
        one = ph.integrate(rod(mass), "v2/kepler", **run)
        for name in ("spin", "attitude_energy", "orbital_energy"):
            np.testing.assert_allclose(both[name][k], one[name], rtol=0, atol=1e-14)


# ------------------------------------------------------------------ thrusters
def test_thrusters():
    F, x = np.array((0.3, -0.2, 0.5)), np.array((0.1, 0.7, -0.4))
    force, torque = alone(thrusters=[ph.systems.thruster(F, position=x)])
    np.testing.assert_allclose(force, TURN @ F, rtol=1e-14)
    np.testing.assert_allclose(torque, np.cross(x, F), rtol=1e-13)
    two = alone(thrusters=[ph.systems.thruster(0.5, direction=2 * F, position=x), ph.systems.thruster(-F)])
    np.testing.assert_allclose(two[0], TURN @ F * (0.5 / np.linalg.norm(F) - 1.0), rtol=1e-13)
    np.testing.assert_allclose(two[1], 0.5 * np.cross(x, F) / np.linalg.norm(F), rtol=1e-13)
    system = ph.spacecraft(TENSOR, MU, MASS, False, thrusters=[ph.systems.thruster(F, start=1.0, stop=2.0)])
    on = [load(system, t=t, part=L.DISSIPATIVE)[0].any() for t in (0.5, 1.0, 1.999, 2.0)]
    assert on == [False, True, True, False]


def test_a_couple_spins_a_body_up():
    """Opposite thrusters about an axis of inertia: the rate grows evenly, the orbit is that of a point."""
    pair = [ph.systems.thruster((0.0, s * 0.2, 0.0), position=(s * 0.5, 0.0, 0.0)) for s in (1, -1)]
    system = ph.spacecraft((1.0, 1.5, 2.0), MU, MASS, False, thrusters=pair)
    ds = ph.integrate(system, step=0.05, t_end=3.0, position=R, velocity=V)
    np.testing.assert_allclose(ds.angular_velocity[-1], (0, 0, 3.0 * 0.2 / 2.0), rtol=0, atol=1e-14)
    angle = np.arctan2(ds.attitude[-1, 3], ds.attitude[-1, 0])
    assert 2 * angle == pytest.approx(0.1 * 3.0**2 / 2, abs=1e-13)
    orbit = ph.integrate(ph.orbit(MU, MASS), "v2/kepler", step=3.0, steps=1, position=R, velocity=V)
    np.testing.assert_allclose(ds.position[-1], orbit.position[-1], rtol=0, atol=1e-13)


# ------------------------------------------------------------------ plates
AIR = {"density": 0.4, "radius": 1.4, "scale": 0.3, "rotation": 0.2}
SUN = np.array((0.3, -0.9, 0.5)) / np.linalg.norm((0.3, -0.9, 0.5))
LIGHT = {"pressure": 0.25, "direction": SUN}


def faces(length, **surface):
    """The six faces of a cube."""
    return [ph.systems.plate(length**2, e, position=0.5 * length * e, **surface) for e in (*np.eye(3), *-np.eye(3))]


def test_air_on_a_plate():
    e, x = np.array((0.2, -0.5, 0.9)), np.array((0.3, 0.1, 0.8))
    u = V - np.cross((0, 0, 0.2), R)
    rho = 0.4 * np.exp(-(np.linalg.norm(R) - 1.4) / 0.3)
    c = (TURN @ e) @ u / np.linalg.norm(u) / np.linalg.norm(e)
    expected = -0.5 * rho * np.linalg.norm(u) * u * 2.2 * 0.7 * abs(c)
    for side in (e, -e):
        force, torque = alone(plates=[ph.systems.plate(0.7, side, position=x, drag_coefficient=2.2)], atmosphere=AIR)
        if side @ TURN.T @ u > 0:
            np.testing.assert_allclose(force, expected, rtol=1e-13)
            np.testing.assert_allclose(torque, np.cross(x, TURN.T @ expected), rtol=1e-12)
        else:
            assert not force.any() and not torque.any()


def test_light_on_a_plate():
    """Photons counted: what comes in, what is mirrored, what is scattered by the cosine of the angle."""
    e, x, area = np.array((0.4, -0.2, 0.1)), np.array((0.3, 0.1, 0.8)), 0.7
    e *= np.sign((TURN @ e) @ SUN) / np.linalg.norm(e)
    n = TURN @ e
    c = n @ SUN
    incoming, mirrored = -SUN, -SUN + 2 * c * n
    for specular, diffuse in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.3, 0.5)):
        surface = {"specular": specular, "diffuse": diffuse}
        force, torque = alone(plates=[ph.systems.plate(area, e, position=x, **surface)], sunlight=LIGHT)
        expected = 0.25 * area * c * (incoming - specular * mirrored - diffuse * (2 / 3 * n))
        np.testing.assert_allclose(force, expected, rtol=1e-13)
        np.testing.assert_allclose(torque, np.cross(x, TURN.T @ expected), rtol=1e-12)
    assert not alone(plates=[ph.systems.plate(area, -e, specular=0.2, absorbed=0.8)], sunlight=LIGHT)[0].any()


def test_a_cube_feels_its_shadow_on_the_wall():
    """A black cube is pushed with the light by its projected area; symmetric about its centre, it does not turn."""
    force, torque = alone(plates=faces(0.8, absorbed=1.0, diffuse=0.0), sunlight=LIGHT)
    np.testing.assert_allclose(force, -0.25 * SUN * 0.64 * np.abs(TURN.T @ SUN).sum(), rtol=1e-13)
    np.testing.assert_allclose(torque, 0.0, rtol=0, atol=1e-16)
    drag = alone(plates=faces(0.8, drag_coefficient=2.2), atmosphere=AIR)
    u = V - np.cross((0, 0, 0.2), R)
    assert np.linalg.norm(np.cross(drag[0], u)) < 1e-15 and drag[0] @ u < 0


def test_plates_in_the_shadow():
    behind = -2.0 * SUN
    light = LIGHT | {"shadow": "cylinder", "radius": 1.0}
    system = ph.spacecraft(TENSOR, MU, MASS, False, plates=faces(1.0, specular=0.3, diffuse=0.2), sunlight=light)
    assert not load(system, part=L.WITHOUT_SOLVED, position=behind, lit=0.0)[0].any()
    assert load(system, part=L.WITHOUT_SOLVED, position=-behind)[0].any()
    start = {"position": (-1.6, 0.0, 0.1), "velocity": (0.0, 1.1, 0.0), "attitude": Q, "angular_velocity": W}
    edges = [ph.events.eclipse(radius=1.0, direction=SUN, shadow="cylinder")]
    for method in ("mkrk:gauss8", "s6_10"):
        ds = ph.integrate(system, method, step=0.02, t_end=8.0, events=edges, **start)
        assert len(ds.event_time) > 1 and abs(ds.energy_error[-1]) < 1e-8


def test_air_and_light_add_up():
    both = faces(0.8, drag_coefficient=2.2, specular=0.3, diffuse=0.2)
    whole = alone(plates=both, atmosphere=AIR, sunlight=LIGHT, forces=[forces.uniform((0.1, 0.2, 0.3))])
    air, light = alone(plates=faces(0.8, drag_coefficient=2.2), atmosphere=AIR), alone(
        plates=faces(0.8, specular=0.3, diffuse=0.2), sunlight=LIGHT
    )  # fmt: skip
    np.testing.assert_allclose(whole[0], air[0] + light[0] + MASS * np.array((0.1, 0.2, 0.3)), rtol=1e-13)


# ------------------------------------------------------------------ functions of the user
def damping(t, q, omega, parameters):
    return (-parameters[0] * omega[0], -parameters[0] * omega[1], -parameters[0] * omega[2])


def damping_load(t, position, velocity, q, omega, parameters):
    return (0.0, 0.0, 0.0), (-0.3 * omega[0], -0.3 * omega[1], -0.3 * omega[2])


def gradient_energy(t, position, q, parameters):
    """mu / 2 |r|^3 (3 n . I n - tr I) with the tensor in the parameters."""
    w, x, y, z = q
    a, b, c = position
    r2 = a * a + b * b + c * c
    u = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c
    v = 2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c
    s = 2 * (x * z + w * y) * a + 2 * (y * z - w * x) * b + (1 - 2 * (x * x + y * y)) * c
    p = parameters
    square = p[0] * u * u + p[1] * v * v + p[2] * s * s + 2 * (p[3] * u * v + p[4] * u * s + p[5] * v * s)
    return (3 * square / r2 - (p[0] + p[1] + p[2])) / r2**1.5


def run(system, **more):
    return ph.integrate(system, "mkrk:gauss8", step=0.02, steps=100, **(START | more))


def test_torques_and_loads_are_added_in_the_users_frame():
    built = ph.spacecraft(TENSOR, MU, MASS)
    added = ph.spacecraft(TENSOR, MU, MASS, torque=damping, parameters=[0.3])
    force, torque = load(added)
    np.testing.assert_allclose(force, load(built)[0], rtol=1e-15)
    np.testing.assert_allclose(torque, load(built)[1] - 0.3 * W, rtol=1e-13)
    one, other = run(added), run(ph.spacecraft(TENSOR, MU, MASS, load=damping_load))
    np.testing.assert_array_equal(one.attitude, other.attitude)
    assert added.velocity_dependent and added.conserves == () and "central_gravity" in added.provides
    np.testing.assert_array_equal(ph.rerun(one, torque=damping).attitude, one.attitude)


def test_a_potential_of_the_user_pulls_and_turns():
    numbers = [TENSOR[0, 0], TENSOR[1, 1], TENSOR[2, 2], TENSOR[0, 1], TENSOR[0, 2], TENSOR[1, 2]]
    mine = ph.spacecraft(TENSOR, MU, MASS, False, potential=gradient_energy, parameters=numbers)
    a, b = run(mine), run(ph.spacecraft(TENSOR, MU, MASS))
    for name in ("position", "attitude", "energy"):
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=1e-10)
    assert mine.conserves == ("energy", "angular_momentum_space") and np.abs(a.energy_error).max() < 1e-10


@pytest.mark.full
def test_a_function_that_fails_tells_where():
    def torque(t, q, omega, parameters):
        if t > 0.5:
            raise ValueError("the wheel is saturated")
        return -omega

    system = ph.spacecraft(TENSOR, MU, MASS, torque=torque)
    with pytest.raises(ph.errors.UserFunctionError, match=r"saturated.*in step") as caught:
        ph.integrate(system, "mkrk:rk4", step=0.1, steps=10, **START)
    assert isinstance(caught.value.__cause__, ValueError) and len(caught.value.trajectory.time) >= 5


# ------------------------------------------------------------------ libration
def circular(inertia, turns, tilt, steps=64):
    """A tiny body on a circular orbit in the plane z = 0: roll about the velocity, pitch about -z, yaw about -r, each
    the small deviation from the body at rest in the orbit's frame; moments in this order."""
    system = ph.spacecraft(1e-18 * np.array(inertia), mu=1.0, mass=1.0)
    frame = np.array([(0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0)])  # rows: body axes in space at the start
    q0 = rotation.quaternion_from_matrix(frame.T)
    tilted = rotation.exp_quaternion(np.array(tilt))
    ds = ph.integrate(system, step=2 * np.pi / steps, steps=turns * steps, position=(1.0, 0.0, 0.0),
                      velocity=(0.0, 1.0, 0.0), attitude=rotation.multiply(q0, tilted),
                      angular_velocity=rotation.rotate_inverse(tilted, (0.0, -1.0, 0.0)))  # fmt: skip
    turned = rotation.exp_quaternion(np.outer(ds.time.values, (0.0, 0.0, 1.0)))
    rest = rotation.multiply(turned, q0)
    return ds, rotation.log_quaternion(rotation.multiply(rotation.conjugate(rest), ds.attitude.values))


@each("axis", ["roll and yaw", "pitch"])
def test_small_librations(axis):
    """[hughes1986]: pitch at sqrt(3 (I1 - I3)/I2); roll and yaw at the roots of a biquadratic equation."""
    A, B, C = inertia = (1.6, 2.0, 0.7)
    small = 1e-6
    if axis == "pitch":
        ds, angles = circular(inertia, 3, (0.0, small, 0.0))
        rate = np.sqrt(3 * (A - C) / B)
        np.testing.assert_allclose(angles[:, 1], small * np.cos(rate * ds.time.values), rtol=0, atol=1e-6 * small)
        assert np.abs(angles[:, [0, 2]]).max() < 1e-12
        return
    ds, angles = circular(inertia, 12, (small, 0.0, 0.5 * small))
    k1, k3 = (B - C) / A, (B - A) / C
    s = np.roots([1.0, 1.0 + 3.0 * k1 + k1 * k3, 4.0 * k1 * k3])
    assert (s.real < 0).all() and np.isrealobj(s)
    step = ds.time.values[1]
    expected = np.sort(np.cos(np.sqrt(-s) * step * 4))
    for x in (angles[:, 0], angles[:, 2]):  # the recurrence of a sum of two oscillations
        x = x[::4]
        rows = np.column_stack([x[3:-1] + x[1:-3], -x[2:-2]])
        p, q = np.linalg.lstsq(rows, x[4:] + x[:-4], rcond=None)[0]
        found = np.sort(np.roots([4.0, -2.0 * p, q - 2.0]).real)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def growth(inertia):
    """Largest real part of the rates of small deviations on a circular orbit of rate 1."""
    A, B, C = inertia
    k1, k3 = (B - C) / A, (B - A) / C
    roots = np.roots([1.0, 0.0, 1.0 + 3.0 * k1 + k1 * k3, 0.0, 4.0 * k1 * k3])
    return max(np.abs(roots.real).max(), np.sqrt(complex(-3.0 * (A - C) / B)).real)


@each("inertia, stable", [
    ((1.6, 2.0, 0.7), True),    # Lagrange: pitch largest, yaw smallest
    ((1.0, 0.65, 0.7), True),   # DeBra and Delp: roll largest, pitch smallest
    ((0.7, 2.0, 1.6), False),   # pitch unstable: yaw above roll
    ((1.6, 0.9, 0.8), None),    # roll and yaw
    ((1.8, 1.0, 1.5), None),
], ids=str)  # fmt: skip
def test_equilibria_of_lagrange_and_of_debra_and_delp(inertia, stable):
    rate = growth(inertia)
    if stable is not None:
        assert (rate < 1e-7) == stable
    small = 1e-7
    ds, angles = circular(inertia, 4, (small, 0.7 * small, -0.5 * small))
    size = np.linalg.norm(angles, axis=1)
    if rate < 1e-7:
        assert size.max() < 30 * small
    else:
        late = (size > 100 * small) & (size < 0.02)
        assert late.sum() > 20
        slope = np.polyfit(ds.time.values[late], np.log(size[late]), 1)[0]
        assert slope == pytest.approx(rate, rel=0.15)


# ------------------------------------------------------------------ runs
@each("label, order, sizes", [
    ("v2/kepler", 2, (64, 128)), ("v2/kepler+exact", 2, (64, 128)), ("v2", 2, (256, 512)),
    pytest.param("v2/kepler+mr6", 2, (64, 128), marks=pytest.mark.full),
    ("rkn6_14a/kepler", 6, (12, 18)), ("pmlf6/kepler", 6, (16, 24)), ("mkrk:gauss6", 6, (48, 64)),
])  # fmt: skip
def test_order(label, order, sizes):
    system = ph.spacecraft(0.05 * TENSOR, MU, MASS)
    end = ph.integrate(system, "rkn8_17/kepler", step=0.01, t_end=4.0, **START)
    found = []
    for n in sizes:
        ds = ph.integrate(system, label, step=4.0 / n, steps=n, **START)
        apart = [ds[name].values[-1] - end[name].values[-1] for name in ("position", "attitude")]
        found.append(np.linalg.norm(np.concatenate(apart)))
    assert np.log(found[0] / found[1]) / np.log(sizes[1] / sizes[0]) == pytest.approx(order, abs=0.25 * order)


def test_attitude_at_the_scale_of_a_satellite():
    """Judged on its own: the energy of libration in the orbit's frame, of which the whole would show nothing."""
    mu, radius = 3.986004415e14, 7.0e6
    rate = np.sqrt(mu / radius**3)
    system = ph.spacecraft((900.0, 1000.0, 120.0), mu, 500.0)
    frame = np.array([(0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0)])
    q = rotation.multiply(rotation.quaternion_from_matrix(frame.T), rotation.exp_quaternion(np.array((0.2, 0.4, -0.3))))
    start = {"position": (radius, 0, 0), "velocity": (0, radius * rate, 0), "attitude": q,
             "angular_velocity": rotation.rotate_inverse(q, (0.0, 0.0, rate))}  # fmt: skip
    step = 2 * np.pi / rate / 60
    ds = ph.integrate(system, step=step, steps=6000, every=10, settings={"units": "SI"}, **start)
    kept = ds.attitude_energy - rate * ds.spin[:, 2]
    swing = float(np.ptp(ds.attitude_energy.values))
    assert swing > 1e-5 and abs(kept - kept[0]).max() < 1e-9 * swing
    assert abs(ds.energy_error).max() < 1e-13 and abs(ds.orbital_energy[0]) > 1e9 * swing
    other = ph.integrate(system, "mkrk:gauss8", step=step, steps=600, every=10, **start)
    np.testing.assert_allclose(ds.spin[:61], other.spin, rtol=0, atol=1e-7 * float(abs(ds.spin).max()))
    np.testing.assert_allclose(ds.attitude_energy[:61], other.attitude_energy, rtol=0, atol=1e-7 * swing)


HEAVY = {
    "position": (0.9, 0.0, 0.0), "velocity": (0.0, np.sqrt(1.1 / 0.9) * np.cos(0.4), np.sqrt(1.1 / 0.9) * np.sin(0.4)),
    "attitude": Q, "angular_velocity": (0.3, -0.7, 1.6),
}  # fmt: skip


@pytest.mark.parametrize("orbits", [1000, pytest.param(100_000, marks=pytest.mark.full)])
def test_long_run(orbits):
    """Orbit and attitude exchange a thousandth of the energy and nothing is lost: no drift above round-off."""
    system = ph.spacecraft((1.0e-4, 1.4e-4, 2.0e-4), mu=1.0)
    n = 60 * orbits
    ds = ph.integrate(system, step=2 * np.pi / 60, steps=n, every=n // 1000, **HEAVY)
    momentum = ds.angular_momentum_space - ds.angular_momentum_space[0]
    size = np.linalg.norm(ds.angular_momentum_space[0])
    assert np.linalg.norm(momentum, axis=1).max() / size < (2e-13 if orbits == 1000 else 1e-12)
    assert np.abs(ds.energy_error).max() < 3e-16 * np.sqrt(14 * n)  # a random walk, some roundings a stage
    assert np.ptp(ds.attitude_energy.values) > 5e-4 and np.ptp(np.linalg.norm(ds.spin, axis=1)) > 3e-4


# ------------------------------------------------------------------ the system
EVERYTHING = {
    "inertia": TENSOR.tolist(), "mu": MU, "mass": MASS, "forces": [forces.zonal(J2=0.1, radius=1.0)],
    "thrusters": [ph.systems.thruster((0.1, 0.0, 0.0), position=(0, 0.1, 0), start=0.3)],
    "plates": faces(0.3, drag_coefficient=2.0, specular=0.3, diffuse=0.2), "atmosphere": AIR,
    "sunlight": LIGHT | {"shadow": "cylinder", "radius": 1.0},
}  # fmt: skip


def test_systems_are_built_again_from_what_they_record():
    system = ph.spacecraft(**EVERYTHING)
    again = ph.spacecraft(**json.loads(json.dumps(system.arguments)))
    np.testing.assert_array_equal(again.parameters, system.parameters)
    assert again.arguments == system.arguments
    ds = ph.integrate(system, step=0.05, steps=20, **START)
    np.testing.assert_array_equal(ph.rerun(ds).attitude, ds.attitude)


def test_what_is_conserved_and_recommended():
    plain = ph.spacecraft(TENSOR, MU, MASS)
    assert plain.conserves == ("energy", "angular_momentum_space") and plain.recommended == "rkn6_14a/kepler"
    assert ph.spacecraft((1.0, 1.0, 1.5), MU).conserves[-1] == "axial_angular_momentum"
    oblate = ph.spacecraft(TENSOR, MU, forces=[forces.zonal(J2=0.1, radius=1.0)])
    assert oblate.conserves == ("energy", "vertical_angular_momentum") and not oblate.velocity_dependent
    whole = ph.spacecraft(**EVERYTHING)
    assert whole.conserves == () and whole.velocity_dependent and whole.recommended == "mkrk:cv8"
    lit = ph.spacecraft(
        (1.0, 1.0, 1.5), MU, plates=[ph.systems.plate(1.0, (1, 0, 0), absorbed=1, diffuse=0)], sunlight=LIGHT
    )
    assert lit.conserves == () and not lit.velocity_dependent


BLACK = {"absorbed": 1.0, "diffuse": 0.0}


@each("arguments, said", [
    ({"inertia": (1, 1, 3)}, "inertia"),
    ({"inertia": [(1, 1, 1)], "mass": (1, 2)}, "one entry for each of 2 masses"),
    ({"mu": -1.0}, "mu is -1"),
    ({"mass": (1.0, -2.0), "inertia": [(1, 1, 1)] * 2}, r"mass\[1\]"),
    ({"gravity_gradient": 1}, "gravity_gradient must be True or False"),
    ({"thrusters": [{"force": 1.0}]}, r"thrusters\[0\]: direction is missing"),
    ({"thrusters": [{"force": (1, 0, 0), "direction": (1, 0, 0)}]}, "direction is given beside"),
    ({"thrusters": [{"forse": 1.0}]}, "did you mean 'force'"),
    ({"thrusters": [{"force": (1, 0, 0), "start": 2.0, "stop": 1.0}]}, "not after start"),
    ({"thrusters": [7]}, r"thrusters\[0\]: it must be made by polhode.systems.thruster"),
    ({"plates": [{"area": 1.0}]}, "normal is missing"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 0)}]}, "normal is zero"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 1), "specular": 0.5}]}, "must have the sum 1"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 1), "specular": 0.5, "diffuse": 0.7}]}, "must have the sum 1"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 1), "specular": 1.5, "diffuse": 0.7}]}, "between 0 and 1"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 1), **BLACK}]}, "there is no sunlight"),
    ({"plates": [{"area": 1.0, "normal": (0, 0, 1), "drag_coefficient": 2.0}]}, "there is no atmosphere"),
    ({"atmosphere": AIR}, "atmosphere is given, but no plate has a drag_coefficient"),
    ({"plates": faces(1.0, drag_coefficient=2.0), "atmosphere": AIR | {"kd": 1.0}}, "argument of atmosphere 'kd'"),
    ({"plates": faces(1.0, drag_coefficient=2.0), "atmosphere": {"density": 1.0}}, "atmosphere: radius is missing"),
    ({"plates": faces(1.0, **BLACK), "sunlight": {"direction": (1, 0, 0)}}, "pressure is missing"),
    ({"plates": faces(1.0, **BLACK), "sunlight": LIGHT | {"pressure": -1.0}}, "pressure is -1"),
    ({"torque": damping, "load": damping_load}, "torque and load are given"),
    ({"parameters": [1.0]}, "none is given"),
    ({"torque": damping, "mass": (1, 2), "inertia": [(1, 1, 1)] * 2}, "a function of one body"),
    ({"torque": lambda t, q: q}, "must take the arguments"),
    ({"forces": [7]}, r"forces\[0\]"),
])  # fmt: skip
def test_wrong_arguments(arguments, said):
    with pytest.raises(ph.errors.InvalidInput, match=said):
        ph.spacecraft(**{"inertia": (1.0, 1.5, 2.0), "mu": MU} | arguments)


# ------------------------------------------------------------------ the balance of energy
@each(
    "devices",
    [
        {"thrusters": [ph.systems.thruster((0.1, -0.2, 0.3), position=(0.4, 0.1, -0.3), start=0.31, stop=1.37)]},
        {"plates": faces(0.7, drag_coefficient=2.2), "atmosphere": AIR},
        {"plates": faces(0.7, specular=0.3, diffuse=0.2), "sunlight": LIGHT},
        {"torque": damping, "parameters": [0.3]},
        {"load": damping_load},
        {"forces": [forces.drag(kd=0.05, radius=1.5, scale=0.6), forces.impulse(0.5, (0.1, 0.0, 0.2))]},
    ],
    ids=lambda devices: next(iter(devices)),
)
def test_works_of_force_and_torque(devices):
    """Energy changes by the works and by nothing else, of the turning as of the path, to round-off."""
    system = ph.spacecraft(TENSOR, MU, MASS, **devices)
    ds = run(system)
    assert (abs(ds.work[-1]) > 1e-6).all() and abs(ds.energy[-1] - ds.energy[0]) > 1e-6
    assert float(abs(ds.energy_error).max()) < 1e-12
