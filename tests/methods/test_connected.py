"""Implicit steps end at the solution that is connected to a vanishing step, or say that they cannot reach it."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from continuation import connected, cross, krysl_step, stages, stages_end
from cover import some
from each import each
from polhode.checks import stepper
from polhode.errors import ConvergenceError, StepFailed
from polhode.runs.initial_state import start_state

INERTIA = np.array([2.0, 3.0, 4.5])
WALL = ph.systems.soft_wall(INERTIA, sign="printed")
BENDS = np.genfromtxt(Path(__file__).parents[1] / "data" / "soft_wall_bends.csv", delimiter=",", skip_header=3)[:, 1:]
UP = np.array([0.0, 0.0, 1.0])


def wall_torque(q, m):
    """The printed torque of section 5.4 in the body frame."""
    u = 2 * (q[..., :1] * 0 + q[..., 1:] * q[..., 3:]) + np.stack(
        [-2 * q[..., 0] * q[..., 2], 2 * q[..., 0] * q[..., 1], 2 * q[..., 0] ** 2 - 1], -1
    )
    d = 1.1 + u[..., 2:]
    return (0.01 * d**-11 - d**-2) * cross(u, UP)


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
    """Every state that was taken is the connected one; few are refused that have one."""
    refused, ended = np.isnan(found).any(1), np.isnan(expected).any(1)
    wrong = ~refused & ~(np.abs(found - expected).max(1) < 1e-9)
    assert not wrong.any(), (np.flatnonzero(wrong), found[wrong], expected[wrong])
    assert (refused & ~ended).sum() <= most_refused


def test_a_step_whose_load_bends():
    """Newton's method from the start of this step ends at (0.895, 2.700, 0.599), with a residual of 1e-13."""
    q = np.array([[0.5931025602509624, 0.7663371071332715, 0.24296692170465137, 0.043861899317292015]])
    m = np.array([[0.8912133573262258, 2.6689594005769766, 0.9778022691034167]])
    expected = connected(krysl_step("bbtrap", wall_torque, 1 / INERTIA, q, m), m, 0.5)
    assert expected[0] == pytest.approx((0.157, 2.674, 0.848), abs=5e-4)
    assert momenta_after("bbtrap", WALL, turning(q, m), 0.5) == pytest.approx(expected, abs=1e-12)


@each("method", some(["bbtrap", "akw", "swc1", "backward_euler_m", "backward_euler"], 3))
def test_states_where_the_soft_wall_bends_the_step(method):
    q, m = BENDS[:, :4], BENDS[:, 4:]
    expected = connected(krysl_step(method, wall_torque, 1 / INERTIA, q, m), m, 0.75, 100)
    judge(momenta_after(method, WALL, turning(q, m), 0.75), expected)


@each(("method", "turned"), [("mkrk", True), ("rotation_vector", False)])
def test_stages_where_the_soft_wall_bends_the_step(method, turned):
    q, m = BENDS[:, :4], BENDS[:, 4:]
    residual, start = stages([[1.0]], wall_torque, 1 / INERTIA, q, m, turned)
    expected = stages_end(connected(residual, start, 0.75, 50), [1.0], 0.75, m, turned)
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


@each("method", some(["bbtrap", "akw", "backward_euler", "backward_euler_m"], 1))
def test_a_torque_that_ripples(method):
    """The torque changes by several times itself within a step."""
    random = np.random.default_rng(4)
    q = random.normal(size=(150, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    m = random.normal(size=(150, 3))
    body, h = ph.rigid_body(INERTIA, torque=ripples, parameters=[1.5]), 0.9
    residual = krysl_step(method, rippled, 1 / INERTIA, q, m)
    judge(momenta_after(method, body, turning(q, m), h), connected(residual, m, h, 700), most_refused=3)


def well(t, position, velocity, parameters):
    """A force along x that pulls, and within 0.3 pushes hard."""
    x = position[0]
    return (0.05 / (x * x * x * x * x) - 1.0 / (x * x), -position[1], 0.0)


def pulled(r):
    x = r[:, 0]
    return np.stack([0.05 * x**-5 - x**-2, -r[:, 1], 0 * x], -1)


@each("method", ["backward_euler", "variational", "variational_midpoint"])
def test_a_particle_at_a_wall(method):
    random = np.random.default_rng(6)
    r = np.stack([random.uniform(0.4, 2.0, 100), random.normal(size=100), np.zeros(100)], -1)
    P = np.stack([random.uniform(-1.5, 1.0, 100), random.normal(size=100), np.zeros(100)], -1)
    h = 0.4
    if method == "backward_euler":
        expected = connected(lambda x, g: x - P - g * pulled(r + g * x), P, h, 250)
    else:
        V = connected(lambda V, g: V - P - g / 2 * pulled(r + g / 2 * V), P, h, 250)
        expected = P + h * pulled(r + h / 2 * V)
    states = [{"position": a, "momentum": b} for a, b in zip(r, P, strict=True)]
    found = momenta_after(method, ph.particle(1.0, force=well), states, h)
    judge(found, expected, most_refused=100)


def test_two_bodies_at_a_close_passage():
    """The unknowns of both belong together; solved in turn, body by body."""
    random = np.random.default_rng(7)
    n, h, mu = 60, 0.3, np.array([1.0, 0.5])
    r = random.normal(size=(n, 2, 3)) * 0.5
    v = random.normal(size=(n, 2, 3)) * 0.5

    def residual(x, g):
        x = x.reshape(n, 2, 3)
        apart = (r + g * x / mu[:, None])[:, 1] - (r + g * x / mu[:, None])[:, 0]
        force = mu.prod() * apart / np.linalg.norm(apart, axis=1, keepdims=True) ** 3
        return (x - mu[:, None] * v - g * np.stack([force, -force], 1)).reshape(n, 6)

    expected = connected(residual, (mu[:, None] * v).reshape(n, 6), h, 200)
    states = [{"position": a, "velocity": b} for a, b in zip(r, v, strict=True)]
    found = momenta_after("backward_euler", ph.gravitating_bodies(mass=mu), states, h)
    judge(found, expected, most_refused=60)


def swirls(t, position, velocity, parameters):
    """A force that changes its sign with the velocity."""
    x, y, z = velocity[0], velocity[1], velocity[2]
    return (1.7 * np.sin(3 * y + x), 1.7 * np.cos(2.5 * x), 1.7 * np.sin(2 * x + 2 * z))


def test_kicks_by_loads_that_depend_on_velocities():
    """Sweeps settle only where the kick is a contraction, which has one solution; they are refused where it is not."""
    random = np.random.default_rng(3)
    P, h = 2 * random.normal(size=(100, 3)), 0.5

    def after_half(p):
        force = lambda v: np.stack(swirls(0.0, None, v.T, None), -1)  # noqa: E731
        return 2 * connected(lambda v, g: v - p - g / 2 * force(v), p, h / 2, 400) - p

    states = [{"position": (0, 0, 0), "momentum": p} for p in P]
    found = momenta_after("v2", ph.particle(1.0, force=swirls), states, h)
    judge(found, after_half(after_half(P)), most_refused=50)
    assert np.isnan(found).any()


def test_a_step_whose_branch_ends_is_refused():
    ready = ph.systems.problem("carson_circular")
    with pytest.raises(ConvergenceError, match="followed no further than to a step of"):
        ph.integrate(ready.build(), "variational", step=1000.0, steps=20, start=ready.initial)
