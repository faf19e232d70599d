"""The free gyrostat: to round-off for every step, and over a million of them."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import gyrostat as oracle
import polhode as ph
from cover import crossed
from each import each

AXES = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0]])
Q = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
OMEGA = np.array([0.5, -1.0, 2.0])
BODIES = {
    "three moments": (np.array([2.0, 3.0, 4.0]), [30.0, -12.0, 20.0]),
    "a fast wheel": (np.array([2.0, 3.0, 4.0]), [3000.0, 0.0, 0.0]),
    "a slow wheel": (np.array([2.0, 3.0, 4.0]), [0.0, 1e-6, 0.0]),
    "nearly round": (np.array([3.0, 3.0 + 1e-9, 4.0]), [10.0, 5.0, -30.0]),
}


def gyrostat(moments, speeds):
    """A body whose inertia without that of the wheels about their axes has these moments."""
    units = AXES / np.linalg.norm(AXES, axis=1)[:, None]
    inertia = np.diag(moments) + 0.05 * units.T @ units
    return ph.rigid_body(inertia, wheels=ph.reaction_wheels(AXES, 0.05, speed=speeds)), units


@each(("name", "step"), crossed(BODIES, [1e-3, 0.1, 1.0, 5.0]))
def test_one_step_is_the_motion_to_round_off(name, step):
    moments, speeds = BODIES[name]
    body, units = gyrostat(moments, speeds)
    ds = ph.integrate(body, "exact", step=step, steps=1, attitude=Q, angular_velocity=OMEGA, settings={"guard": False})
    H = ds.wheel_momentum.values[0] @ units
    with mp.workdps(40):
        pieces = min(400, max(8, int(10 * step * (4.0 + np.abs(H).max()))))
        terms = 16 if pieces < 400 else 30  # of pieces this small 1e-20 is left
        M, q = oracle.motion(moments * OMEGA + H, Q, H, moments, step, terms, pieces)
        m = [float(x - y) for x, y in zip(M, map(mp.mpf, H), strict=True)]
        q = [float(x) for x in q]
    size = np.abs(moments * OMEGA + H).max()
    angle = step * (np.abs(H).max() + 8.0) / 2.0  # round-off grows with the turns of body and momentum
    assert_allclose(ds.angular_momentum.values[-1], m, rtol=0, atol=3e-15 * (1.0 + angle) * size)
    assert_allclose(
        ds.attitude.values[-1], np.array(q) * np.sign(q @ ds.attitude.values[-1]), rtol=0, atol=3e-15 * (1.0 + angle)
    )


def test_a_step_back_undoes_one():
    moments, speeds = BODIES["three moments"]
    body, units = gyrostat(moments, speeds)
    there = ph.integrate(body, "exact", step=0.7, steps=1, attitude=Q, angular_velocity=OMEGA)
    omega = there.angular_velocity.values[-1]
    body, _ = gyrostat(moments, np.array(speeds) + units @ (OMEGA - omega))  # the same momenta of the wheels
    again = ph.integrate(
        body, "exact", step=0.7, t_end=-0.7, attitude=there.attitude.values[-1], angular_velocity=omega
    )
    assert_allclose(again.attitude.values[-1], Q, rtol=0, atol=1e-14)
    assert_allclose(again.angular_velocity.values[-1], OMEGA, rtol=0, atol=1e-13)


def test_wheels_at_rest_in_space_leave_the_free_rotation():
    """Bit for bit the exact free rotation, where no wheel has momentum."""
    moments = np.array([2.0, 3.0, 4.0])
    units = AXES / np.linalg.norm(AXES, axis=1)[:, None]
    body, _ = gyrostat(moments, -units @ OMEGA)
    ds = ph.integrate(body, "exact", step=0.3, steps=5, attitude=Q, angular_velocity=OMEGA)
    assert not ds.wheel_momentum.values.any()
    free = ph.integrate(ph.free_body(moments), "exact", step=0.3, steps=5, attitude=Q, angular_velocity=OMEGA)
    assert_allclose(ds.attitude.values, free.attitude.values, rtol=0, atol=1e-15)


@pytest.mark.parametrize("steps", [20_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_the_momentum_of_the_whole_is_kept(steps):
    body, _ = gyrostat(*BODIES["three moments"])
    ds = ph.integrate(
        body, "exact", step=0.02, steps=steps, every=steps // 100, attitude=Q, angular_velocity=OMEGA,
        settings={"compensated": True},
    )  # fmt: skip
    spin = ds.spin.values
    assert np.abs(spin - spin[0]).max() < 1e-14 * np.linalg.norm(spin[0])
    assert np.abs(ds.energy_error.values).max() < 1e-15 * np.sqrt(steps) + 1e-14


def test_motors_that_do_nothing_cost_one_look_a_kick_and_keep_their_derivatives():
    """A kick without loads ends there, but not where it is differentiated: friction of zero has a slope."""

    def body(viscous):
        wheels = ph.reaction_wheels(AXES[:2], 0.01, speed=(50.0, -30.0), viscous=viscous)
        return ph.rigid_body((1.0, 1.5, 2.0), wheels=wheels)

    run = {"step": 0.05, "steps": 20, "every": 20, "angular_velocity": OMEGA / 10}
    ds = ph.integrate(body(0.0), "v2", tangent=["wheels.viscous"], **run)
    assert ds.attrs["load_evaluations_by_velocity"] == 40 and not ds.iterations.any()
    none, some, more = (ph.integrate(body(v), "v2", **run).wheel_momentum.values[-1] for v in (0.0, 1e-6, 2e-6))
    slopes = ds.state_transition.isel(time=-1).sel(
        column="wheels.viscous", row=["wheel_momentum.0", "wheel_momentum.1"]
    )
    assert_allclose(slopes, (4.0 * some - 3.0 * none - more) / 2e-6, rtol=1e-7)
