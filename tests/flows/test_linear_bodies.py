"""Bodies without thickness: rods and molecules of two atoms, which turn across their axis and never about it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen
from each import each
from polhode.algebra import rotation
from polhode.bodies.inertia import principal
from polhode.errors import InvalidInput

ROD = ph.inertia.thin_rod(1.0, 2.0).inertia
OMEGA = np.array([0.8, -1.1, 0.0])
TURNED = rotation.exp_quaternion((0.6, -0.3, 0.2))
EXACT = ("exact", "semiexact6", "semiexact10_matrix", "kosenko", "exact_matrix", "symmetric", "imidm", "mkrk:gauss4")
NEAR = {"dmv2": 3e-3, "dmv6": 1e-9, "dmv10": 1e-12, "implicit_midpoint": 2e-3, "akw": 2e-3}


# ------------------------------------------------------------------ what they are
def test_principal_moments_of_a_rod_in_any_direction():
    for _, R in zip(range(50), rotation.matrix_from_quaternion(rotations(50)), strict=True):
        moments, frame = principal(R @ ROD @ R.T)
        assert sorted(moments > 0.0) == [False, True, True] and len(set(moments)) == 2
        F = rotation.matrix_from_quaternion(frame)
        assert np.abs(F @ np.diag(moments) @ F.T - R @ ROD @ R.T).max() < 1e-15 and abs(frame @ frame - 1) < 1e-15
    assert principal((0.0, 2.0, 2.0)).moments.tolist() == [0.0, 2.0, 2.0]


def rotations(n):
    q = np.random.default_rng(4).normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def test_a_molecule_of_two_atoms_is_one():
    atoms = ph.inertia.point_masses([12.0, 16.0], [[0.1, 0.2, 0.3], [0.9, -0.4, 0.7]])
    moments = principal(atoms.inertia).moments
    assert np.allclose(np.sort(moments), [0, *[12 * 16 / 28 * (0.64 + 0.36 + 0.16)] * 2], rtol=1e-13)
    system = ph.free_body(atoms.inertia)
    assert system.degrees_of_freedom == (0, 2) and np.isfinite(system.bodies[1:]).all()
    assert sorted(system.bodies[5:8])[0] == 0.0  # the inverse moment about the axis


# ------------------------------------------------------------------ free motion
def uniform(t):
    """The attitude of a rod that turns uniformly."""
    return rotation.exp_quaternion(OMEGA * t)


@each("name", chosen(EXACT, {*EXACT} - {"semiexact10_matrix", "exact_matrix"}))
def test_a_free_rod_turns_uniformly(name):
    ds = ph.integrate(ph.free_body(ROD), name, step=0.3, t_end=6.0, angular_velocity=OMEGA)
    assert float(rotation.angle_between(ds.attitude.values[-1], uniform(6.0))) < 1e-14
    assert np.abs(ds.angular_velocity.values - OMEGA).max() < 1e-14 and abs(ds.energy_error).max() < 1e-14


@each("name", chosen(NEAR, {*NEAR} - {"dmv2", "dmv10"}))
def test_a_free_rod_by_methods_that_err(name):
    ds = ph.integrate(ph.free_body(ROD), name, step=0.05, t_end=2.0, angular_velocity=OMEGA)
    assert float(rotation.angle_between(ds.attitude.values[-1], uniform(2.0))) < NEAR[name]
    assert abs(ds.energy_error).max() < 1e-14


def test_free_motion_of_rods_in_one_call():
    R = rotation.matrix_from_quaternion(rotations(5))
    tensors, m = R @ ROD @ np.swapaxes(R, -1, -2), (R @ (ROD @ OMEGA))
    q, momentum = ph.free_motion(tensors, m, 1e3)
    assert np.abs(momentum - m).max() < 1e-14
    expected = rotation.exp_quaternion((R @ OMEGA) * 1e3)
    assert np.max(rotation.angle_between(q, expected)) < 1e-12
    periods = ph.runs.poinsot.free_motion_periods(ROD, ROD @ OMEGA)
    assert np.isinf(periods.polhode) and np.isclose(periods.precession, 2 * np.pi / np.linalg.norm(OMEGA), rtol=1e-14)
    assert np.ptp(ph.runs.poinsot.polhode_curve(ROD, ROD @ OMEGA, 5).angular_velocity, axis=0).max() == 0.0


# ------------------------------------------------------------------ with loads: the spherical pendulum
INERTIA = ph.inertia.parallel_axis(ROD, 1.0, (0, 0, 1.0))
WEIGHT, END = 3.0, 2.0


def pendulum():
    """Direction of the rod at the end, from the equation of the spherical pendulum."""

    def rates(t, s):
        n, v = s[:3], s[3:]
        pull = np.array((0.0, 0.0, -WEIGHT)) / INERTIA[0, 0]
        return np.concatenate([v, pull - n * (pull @ n) - n * (v @ v)])

    start = rotation.rotate(TURNED, np.stack([(0.0, 0.0, 1.0), np.cross(OMEGA, (0.0, 0.0, 1.0))])).ravel()
    return solve_ivp(rates, (0.0, END), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:3, -1]


@each("name, allowed", [
    ("rkn6_14a", 1e-8), ("mkrk:gauss6", 1e-7), ("taylor20", 1e-11), ("s6_10/dmv6", 1e-6), ("imidm", 1e-3),
    ("akw", 1e-2), ("v2/symmetric", 1e-3), ("mkrk:dp8", 1e-8),
])  # fmt: skip
def test_a_rod_on_a_joint_is_a_spherical_pendulum(name, allowed):
    top = ph.heavy_top(INERTIA, (0, 0, 1), WEIGHT)
    ds = ph.integrate(top, name, step=0.05, t_end=END, attitude=TURNED, angular_velocity=OMEGA)
    found = rotation.rotate(ds.attitude.values[-1], np.array((0.0, 0.0, 1.0)))
    assert np.linalg.norm(found - pendulum()) < allowed
    assert abs(ds.angular_velocity.values[:, 2]).max() == 0.0


def test_a_rod_is_the_limit_of_thin_cylinders():
    apart = []
    for radius in (0.02, 0.01):
        inertia = ph.inertia.parallel_axis(ph.inertia.cylinder(1.0, radius, 2.0).inertia, 1.0, (0, 0, 1.0))
        ds = ph.integrate(
            ph.heavy_top(inertia, (0, 0, 1), WEIGHT), step=0.01, t_end=END, attitude=TURNED, angular_velocity=OMEGA
        )
        apart.append(np.linalg.norm(rotation.rotate(ds.attitude.values[-1], np.array((0.0, 0.0, 1.0))) - pendulum()))
    assert apart[0] / apart[1] == pytest.approx(4.0, rel=0.02) and apart[0] < 1e-3


def leaning(t, q, parameters):
    return parameters[0] * (q[1] * q[3] - q[0] * q[2] + 0.2 * q[1] * q[2])


def test_a_body_built_after_a_rod_feels_torques_about_all_axes():
    """Under the same function, whose loads are derived for both."""
    rod, body = (ph.rigid_body(I, potential=leaning, parameters=[2.0]) for I in ((1.0, 1.0, 0.0), (1.0, 1.5, 2.0)))
    assert not rod.moments[0, 2] < np.inf
    ph.checks.check_system(body, states=1).raise_for_failure()


def test_torques_about_the_axis_are_not_felt():
    def torque(t, q, omega, parameters):
        return (0.3, 0.0, 5.0)

    def plain(t, q, omega, parameters):
        return (0.3, 0.0, 0.0)

    runs = [
        ph.integrate(ph.rigid_body(ROD, torque=f), step=0.1, t_end=2.0, angular_velocity=OMEGA) for f in (torque, plain)
    ]
    assert np.array_equal(runs[0].attitude, runs[1].attitude) and not runs[0].angular_momentum.values[:, 2].any()


def test_rods_that_attract_each_other_keep_their_energy_and_temperature():
    system = ph.dipoles(8, inertia=(1.0, 1.0, 0.0))
    start = ph.initial.thermal(system, 1.5, seed=3)
    lattice = 1.5 * np.stack(np.meshgrid(*[np.arange(2)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    ds = ph.integrate(system, "v2", step=1e-3, t_end=0.2, position=lattice, **start)
    assert abs(ds.energy_error).max() < 1e-3 and not ds.angular_momentum.values[..., 2].any()
    turning = (ds.angular_momentum.values[0] ** 2).sum()
    moving = (ds.momentum.values[0] ** 2).sum() - (ds.momentum.values[0].sum(axis=0) ** 2).sum() / 8
    assert float(ds.temperature[0]) == pytest.approx((turning + moving) / (3 * 8 - 3 + 2 * 8), rel=1e-12)


# ------------------------------------------------------------------ what is refused
@each("name", ["mr", "mr6", "three_rotation", "rkn6_14a/mr6", "no_squish"])
def test_rotations_about_the_axes_one_by_one_are_refused_by_name(name):
    with pytest.raises(InvalidInput, match=r"without thickness.*'exact' or 'symmetric'"):
        ph.integrate(ph.free_body(ROD), name, step=0.1, t_end=1.0, angular_velocity=OMEGA)


@each("given", [{"angular_velocity": (0.1, 0, 1)}, {"angular_momentum": (0.1, 0, 1e-6)}])
def test_a_spin_about_the_axis_is_refused(given):
    with pytest.raises(InvalidInput, match="does not turn about its own axis"):
        ph.integrate(ph.free_body(ROD), step=0.1, t_end=1.0, **given)


def test_other_spins_that_cannot_be_are_refused():
    with pytest.raises(InvalidInput, match="does not turn about its own axis"):
        ph.free_motion(ROD, (0.1, 0, 1), 1.0)
    with pytest.raises(InvalidInput, match="beside the axis"):
        ph.heavy_top(ROD, (0.1, 0, 1), WEIGHT)
