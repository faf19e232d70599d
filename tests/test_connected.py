"""Implicit steps end at the solution that is connected to a vanishing step, or say that they cannot reach it."""

from pathlib import Path

import numpy as np
import polhode as ph
import pytest
from continuation import connected, krysl_step, stages, stages_end
from polhode.errors import ConvergenceError, StepFailed
from polhode.runs.check import stepper
from polhode.runs.single import start_state

INERTIA = np.array([2.0, 3.0, 4.5])
WALL = ph.soft_wall(INERTIA, sign="printed")
BENDS = np.genfromtxt(Path(__file__).parent / "data" / "soft_wall_bends.csv", delimiter=",", skip_header=3)[:, 1:]
UP = np.array([0.0, 0.0, 1.0])


def wall_torque(q, m):
    """The printed torque of section 5.4 in the body frame."""
    u = 2 * (q[..., :1] * 0 + q[..., 1:] * q[..., 3:]) + np.stack(
        [-2 * q[..., 0] * q[..., 2], 2 * q[..., 0] * q[..., 1], 2 * q[..., 0] ** 2 - 1], -1
    )
    d = 1.1 + u[..., 2:]
    return (0.01 * d**-11 - d**-2) * np.cross(u, UP)


def momenta_after(method, system, states, h):
    """Momenta after a step from each state, NaN where it was refused; of one body that turns, or several that move."""
    starts = [start_state(system, **state) for state in states]
    advance = stepper(method, system, starts[0])
    part = slice(10, 13) if np.isfinite(system.moments[0]).all() else slice(3, 6)
    found = np.full((len(starts), 3 * system.N), np.nan)
    for row, y in zip(found, starts, strict=True):
        try:
            row[:] = advance(y, 0.0, h).reshape(system.N, 13)[:, part].ravel()
        except StepFailed:
            continue
    return found


def turning(q, m):
    return [{"attitude": a, "angular_momentum": b} for a, b in zip(q, m, strict=True)]


def judge(found, expected, most_refused=0):
    """Every state that was not refused is the connected one; few are refused."""
    refused = np.isnan(found).any(1)
    assert np.abs(found - expected)[~refused].max() < 1e-9
    assert refused.sum() <= most_refused


def test_a_step_whose_load_bends():
    """Newton's method from the start of this step ends at (0.895, 2.700, 0.599), with a residual of 1e-13."""
    q = np.array([[0.5931025602509624, 0.7663371071332715, 0.24296692170465137, 0.043861899317292015]])
    m = np.array([[0.8912133573262258, 2.6689594005769766, 0.9778022691034167]])
    expected = connected(krysl_step("bbtrap", wall_torque, 1 / INERTIA, q, m), m, 0.5)
    assert expected[0] == pytest.approx((0.157, 2.674, 0.848), abs=5e-4)
    assert momenta_after("bbtrap", WALL, turning(q, m), 0.5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["bbtrap", "akw", "swc1", "backward_euler", "backward_euler_m"])
def test_states_where_the_soft_wall_bends_the_step(method):
    q, m = BENDS[:, :4], BENDS[:, 4:]
    expected = connected(krysl_step(method, wall_torque, 1 / INERTIA, q, m), m, 0.75)
    judge(momenta_after(method, WALL, turning(q, m), 0.75), expected)


@pytest.mark.parametrize(("method", "turned"), [("mkrk", True), ("rotation_vector", False)])
def test_stages_where_the_soft_wall_bends_the_step(method, turned):
    q, m = BENDS[:, :4], BENDS[:, 4:]
    residual, start = stages([[1.0]], wall_torque, 1 / INERTIA, q, m, turned)
    expected = stages_end(connected(residual, start, 0.75), [1.0], 0.75, m, turned)
    judge(momenta_after(f"{method}:backward_euler", WALL, turning(q, m), 0.75), expected, most_refused=2)


@pytest.mark.full
@pytest.mark.parametrize("h", [0.5, 0.75])
@pytest.mark.parametrize("method", ["bbtrap", "akw", "swc1", "backward_euler", "backward_euler_m"])
def test_a_thousand_states_on_the_orbit(method, h):
    ds = ph.integrate(WALL, "mkrk:cv8", step=0.02, t_end=5000.0, every=250, angular_momentum=(2, 2, 2))
    q, m = ds.attitude.values[1:], ds.angular_momentum.values[1:]
    assert len(q) == 1000
    expected = connected(krysl_step(method, wall_torque, 1 / INERTIA, q, m), m, h, 400)
    judge(momenta_after(method, WALL, turning(q, m), h), expected)


# ------------------------------------------------------------------ other loads
def ripples(t, q, omega, parameters):
    """A torque that changes its sign several times in a turn."""
    x = 2.0 * (q[1] * q[3] - q[0] * q[2])
    y = 2.0 * (q[2] * q[3] + q[0] * q[1])
    return (parameters[0] * np.sin(9.0 * y), parameters[0] * np.cos(7.0 * x), 0.3 * parameters[0] * np.sin(8.0 * x * y))


def rippled(q, m):
    found = ripples(0.0, np.moveaxis(q, -1, 0), None, (1.5,))
    return np.stack(found, -1)


@pytest.mark.parametrize("method", ["bbtrap", "akw", "backward_euler", "backward_euler_m"])
def test_a_torque_that_ripples(method):
    """Branches end here in many steps: what is not refused is connected, and no step is refused whose branch goes on
    without a bend."""
    random = np.random.default_rng(4)
    q = random.normal(size=(150, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    m = random.normal(size=(150, 3))
    body, h = ph.rigid_body(INERTIA, torque=ripples, parameters=[1.5]), 0.9
    expected = connected(krysl_step(method, rippled, 1 / INERTIA, q, m), m, h, 400)
    found = momenta_after(method, body, turning(q, m), h)
    taken, known = ~np.isnan(found[:, 0]), ~np.isnan(expected[:, 0])
    print(method, taken.sum(), known.sum(), (taken & known).sum(), np.sort(np.abs(found - expected)[taken & known].max(1))[-5:])
