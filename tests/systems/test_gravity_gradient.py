"""Gravity gradient: against point masses under Newton's law, closed forms, and the numbers of the paper."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.runs.initial_state import start_state
from polhode.systems.user.function import one_call

MASSES = (1.0, 2.0, 0.5, 1.5, 0.7)
PLACES = np.array([(0.3, 0.1, -0.2), (-0.4, 0.2, 0.5), (0.1, -0.9, 0.3), (0.2, 0.4, -0.6), (-0.5, -0.3, 0.1)])
PLACES -= np.average(PLACES, axis=0, weights=MASSES)
TENSOR = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(MASSES, PLACES, strict=True))
MU, RADIUS = 3.0, 1.7


def body(y):
    """The body of the point masses, its loads in the axes they are given in, and its potential energy."""
    system = ph.systems.gravity_gradient(TENSOR, MU, RADIUS)
    start, out, energy = start_state(system, attitude=y), np.zeros(6), np.zeros(1)
    one_call[LOADS](system.compiled_loads(0.0, start), 0.0, start, system.bodies, system.with_memory, out)
    role = system.compiled_potential(0.0, start)
    one_call[POTENTIAL](role, 0.0, start, system.bodies, system.with_memory, energy)
    return out[:3], rotation.rotate(system.frames[0], out[3:]), energy[0]


def point_masses(q):
    """Torque about the centre of mass and potential energy under Newton's law, from a centre so far away that the
    rest of the expansion is gone, scaled back to RADIUS; without what does not depend on the attitude."""
    with mp.workdps(80):
        far = mp.mpf(10) ** 22
        w, x, y, z = (mp.mpf(float(c)) for c in q)
        square = w * w + x * x + y * y + z * z
        u = mp.matrix([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]) / square  # R^T e3
        # From afar the torque of the least displacement of the centre of mass would be larger than the gradient's.
        masses = [mp.mpf(m) for m in MASSES]
        total = mp.fsum(masses)
        places = [mp.matrix([mp.mpf(float(c)) for c in place]) for place in PLACES]
        centre = sum((m * p for m, p in zip(masses, places, strict=True)), mp.zeros(3, 1)) / total
        torque, energy, trace = mp.zeros(3, 1), mp.mpf(0), mp.mpf(0)
        for m, p in zip(masses, places, strict=True):
            r = p - centre
            to = far * u - r
            distance = mp.sqrt(mp.fsum(c * c for c in to))
            F = MU * m / distance**3 * to
            torque += mp.matrix([r[1] * F[2] - r[2] * F[1], r[2] * F[0] - r[0] * F[2], r[0] * F[1] - r[1] * F[0]])
            energy += MU * m * (1 / far - 1 / distance)
            trace += 2 * m * mp.fsum(c * c for c in r)
        back = (far / mp.mpf(RADIUS)) ** 3
        return (
            np.array([float(c * back) for c in torque]),
            float(energy * back + MU * trace / (2 * mp.mpf(RADIUS) ** 3)),
        )


def test_point_masses_under_newtons_law():
    attitudes = np.random.default_rng(5).normal(size=(8, 4))
    for q in attitudes / np.linalg.norm(attitudes, axis=1, keepdims=True):
        force, torque, energy = body(q)
        expected, level = point_masses(q)
        np.testing.assert_array_equal(force, 0.0)
        np.testing.assert_allclose(torque, expected, rtol=0, atol=2e-15 * np.abs(expected).max() + 2e-15)
        assert energy == pytest.approx(level, rel=1e-14)


def test_numbers_of_the_paper():
    ready = ph.systems.problem("celledoni_satellite")
    ds = ph.integrate(ready.build(), "mkrk:rk4", step=ready.step, steps=0, start=ready.initial)
    assert ds.energy.item() == pytest.approx(1.21595664e7, rel=1e-15)
    np.testing.assert_array_equal(ds.angular_momentum[0], [17000 * 15, -37000 * 15, 54000 * 15])
    np.testing.assert_array_equal(ds.attitude[0], [1, 0, 0, 0])
    assert (ready.step, ready.t_end) == (0.1, 400.0)


@each("axis", [1, 2])
def test_small_librations(axis):
    """Near its rest with the smallest moment along the vertical a body swings like a pendulum about either axis."""
    moments, amplitude = np.array((1.2, 1.9, 2.6)), 1e-5
    system = ph.systems.gravity_gradient(np.diag(moments[[2, 1, 0]]), MU, RADIUS)  # the smallest along z
    about = np.eye(3)[axis - 1]  # of x and y
    I_about, I_other = (moments[2], moments[1]) if axis == 1 else (moments[1], moments[2])
    rate = np.sqrt(3 * MU / RADIUS**3 * (I_other - moments[0]) / I_about)
    end = 1.3 / rate
    ds = ph.integrate(
        system, "mkrk:gauss8", step=end / 40, steps=40, attitude=rotation.exp_quaternion(amplitude * about)
    )
    swing = rotation.log_quaternion(ds.attitude.values) @ about
    np.testing.assert_allclose(swing, amplitude * np.cos(rate * ds.time.values), rtol=0, atol=1e-9 * amplitude)


def test_a_full_tensor_and_its_moments_move_alike():
    q = np.array((0.6, -0.3, 0.5, 0.2))
    q /= np.linalg.norm(q)
    R = Rotation.from_quat(np.roll(q, -1)).as_matrix()
    moments, omega = (1.0, 1.5, 2.2), np.array((0.4, 1.2, -0.7))
    first = ph.integrate(ph.systems.gravity_gradient(moments, MU, RADIUS), "mkrk:gauss8", step=0.05, steps=60,
                         angular_velocity=omega)  # fmt: skip
    tensor = R @ np.diag(moments) @ R.T
    second = ph.integrate(ph.systems.gravity_gradient((tensor + tensor.T) / 2, MU, RADIUS), "mkrk:gauss8", step=0.05,
                          steps=60, angular_velocity=R @ omega, attitude=rotation.conjugate(q))  # fmt: skip
    np.testing.assert_allclose(second.angular_velocity, first.angular_velocity.values @ R.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(second.energy, first.energy, rtol=1e-13)


def test_what_it_keeps():
    plain = ("energy", "vertical_angular_momentum")
    assert ph.systems.gravity_gradient((1.0, 1.5, 2.2), 1.0, 1.0).conserves == plain
    assert ph.systems.gravity_gradient((1.0, 1.0 + 1e-9, 1.5), 1.0, 1.0).conserves == plain
    for k in range(3):
        moments = np.full(3, 2.0)
        moments[k] = 1.0
        for R in np.concatenate([[np.eye(3)], Rotation.random(10, rng=k).as_matrix()]):
            tensor = R @ np.diag(moments) @ R.T
            system = ph.systems.gravity_gradient((tensor + tensor.T) / 2, 1.0, 1.0)
            assert system.conserves == (*plain, "axial_angular_momentum")
            np.testing.assert_allclose(np.abs(system.axis @ R[:, k]), 1.0, rtol=1e-15)


def test_a_spherical_body_feels_nothing():
    system = ph.systems.gravity_gradient((1.3, 1.3, 1.3), MU, RADIUS)
    ds = ph.integrate(system, "trapm", step=0.01, steps=20, angular_velocity=(0.3, 0.4, 0.5),
                      attitude=rotation.exp_quaternion((0.4, -0.7, 0.3)))  # fmt: skip
    np.testing.assert_allclose(
        ds.angular_momentum_space, ds.angular_momentum_space[:1].values.repeat(21, 0), rtol=1e-14
    )


@each(
    "arguments, told",
    [
        ({"mu": -1.0}, "mu is -1; it must be positive"),
        ({"radius": 0.0}, "radius is 0; it must be positive"),
        ({"radius": "far"}, "radius must be a number"),
        ({"mu": float("nan")}, "mu is nan"),
        ({"mu": 1e300, "radius": 1e-10}, r"3 mu / radius\^3 is inf"),
        ({"inertia": (1.0, 1.0, 3.0)}, r"inertia\[2\] = 3.0 exceeds"),
    ],
)
def test_wrong_arguments(arguments, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.systems.gravity_gradient(**{"inertia": (1.0, 1.5, 2.2), "mu": 1.0, "radius": 1.0, **arguments})


# ------------------------------------------------------------------ the other problems
def test_the_perturbed_body():
    """u0 = e3, I1 = 1, kinetic energy 1, torque eps (u2, -u1, 0): Celledoni and others (2008), section 3.3.1."""
    ready = ph.systems.problem("celledoni_perturbed_body")
    system = ready.build()
    ds = ph.integrate(system, "mkrk:rk4", step=ready.step, steps=0, start=ready.initial)
    assert ds.kinetic_energy.item() == pytest.approx(1.0, rel=1e-15)
    assert ds.potential_energy.item() == pytest.approx(1e-3, rel=1e-15)
    assert system.moments[0, 0] == 1.0
    q = np.array((0.8, 0.4, -0.2, 0.4))
    y, out = start_state(system, attitude=q), np.zeros(6)
    one_call[LOADS](system.compiled_loads(0.0, y), 0.0, y, system.bodies, system.with_memory, out)
    u = Rotation.from_quat(np.roll(q, -1)).as_matrix().T @ (0, 0, 1)
    np.testing.assert_allclose(out[3:], (1e-3 * u[1], -1e-3 * u[0], 0.0), rtol=0, atol=1e-18)


def test_the_book_of_vilmart():
    ready = ph.systems.problem("vilmart_free_body")
    system = ready.build()
    np.testing.assert_array_equal(system.moments, [[0.376, 0.627, 1.0]])
    ds = ph.integrate(system, "mkrk:rk4", step=ready.step, steps=0, start=ready.initial)
    np.testing.assert_array_equal(ds.angular_momentum[0], [0.0, 0.6, -0.8])
    assert (ready.step, ready.t_end) == (0.01, 40.0)
