"""The free rotations: the rotor splitting, and implicit maps that follow the right solution through large rotations."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.flows import rotors
from polhode.kernel import drive
from polhode.kernel.signatures import REPORT

BODY = np.array([0.9144, 1.098, 1.66])
OMEGA = np.array([0.45549, 0.82623, 0.03476])
GENERIC = np.array([0.7, -0.4, 0.9])


def rotor_step(t, h, p):
    """One body turning by the rotor splitting."""
    rotors.turn(0, h, p)
    return 0


def turned(inertia, omega, h, n):
    """Body angular momentum and attitude after ``n`` steps from the identity."""
    system = ph.free_body(inertia)
    y = np.zeros(13)
    y[6], y[10:13] = 1.0, np.asarray(inertia) * omega
    nothing, none = np.empty((0, 13)), np.zeros(0, dtype=np.int64)
    status = drive.loop_for(rotor_step)(
        0, n, n + 1, 0.0, h, np.inf, 1, y, system.bodies, system.parameters, system.compiled_loads(0.0, y), np.zeros(1),
        np.zeros(1, np.int64), system.blocks, np.zeros(13), np.zeros(6), np.zeros(1), np.zeros(REPORT), nothing, none,
    )  # fmt: skip
    assert status == 0
    return y[10:13].copy(), y[6:10].copy()


def exact(inertia, omega, t):
    """The same by a Munthe-Kaas method of order 8 with steps far smaller than needed."""
    ds = ph.integrate(ph.free_body(inertia), "mkrk:gauss8", step=t / 400, steps=400, every=400, angular_velocity=omega)
    return ds.angular_momentum.values[-1], ds.attitude.values[-1]


def test_rotors_are_of_order_2_and_keep_the_spatial_momentum():
    m, q = exact(BODY, OMEGA, 10.0)
    errors = []
    for n in (100, 200, 400):
        found, attitude = turned(BODY, OMEGA, 10.0 / n, n)
        errors.append([np.linalg.norm(found - m), ph.so3.angle_between(attitude, q)])
        assert np.allclose(ph.so3.rotate(attitude, found), BODY * OMEGA, rtol=0, atol=2e-14)
    assert np.abs(np.log2(np.array(errors[1]) / errors[2]) - 2.0).max() < 0.05


@pytest.mark.parametrize("inertia", [(2.0, 2.0, 1.3), (1.3, 2.0, 2.0), (2.0, 2.0, 2.0)])
def test_rotors_are_exact_where_the_middle_moment_is_double(inertia):
    """The case I1 = I3 is not exact: the two parts do not commute there."""
    m, q = exact(inertia, GENERIC, 2.0)
    found, attitude = turned(inertia, GENERIC, 2.0, 1)
    assert np.linalg.norm(found - m) < 1e-13 and ph.so3.angle_between(attitude, q) < 1e-13
    aside = turned((2.0, 1.3, 2.0), GENERIC, 2.0, 1)[1]
    assert ph.so3.angle_between(aside, exact((2.0, 1.3, 2.0), GENERIC, 2.0)[1]) > 1e-3


def test_rotors_are_time_symmetric():
    there = turned(BODY, OMEGA, 0.8, 1)[0]
    assert np.linalg.norm(turned(BODY, there / BODY, -0.8, 1)[0] - BODY * OMEGA) < 1e-15


# ------------------------------------------------------------------ large rotations
def matrix(v):
    """Rotation matrix of a rotation vector, by Rodrigues' formula."""
    angle = np.linalg.norm(v)
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]) / angle
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


FREE = {
    "backward_euler": lambda x, m, j, h: x - m - h * np.cross(x, j * x),
    "backward_euler_m": lambda x, m, j, h: x - matrix(-h * j * x) @ m,
    "swc1": lambda x, m, j, h: x - matrix(-0.5 * h * j * (x + m)) @ m,
}


def connected(equation, m, j, h, pieces=60):
    """The solution followed from a vanishing step, by Newton's method with differences."""
    x = m.copy()
    for part in np.linspace(0, h, pieces + 1)[1:]:
        for _ in range(8):
            f = equation(x, m, j, part)
            columns = [(equation(x + 1e-7 * e, m, j, part) - f) / 1e-7 for e in np.eye(3)]
            x = x - np.linalg.solve(np.column_stack(columns), f)
    return x


@pytest.mark.parametrize("method", FREE)
def test_large_rotations_follow_the_solution_connected_to_a_vanishing_step(method):
    """At nearly 2 rad plain Newton from the start of the step fails for one body in twelve or so, many of them rods."""
    random = np.random.default_rng(1)
    for _ in range(60):
        d = random.random(3) ** 2 + 1e-3
        inertia = np.array([d[1] + d[2], d[0] + d[2], d[0] + d[1]])
        m = random.normal(size=3)
        m /= np.linalg.norm(m)
        h = 1.9 / np.linalg.norm(m / inertia)
        ds = ph.integrate(ph.free_body(inertia), method, step=h, steps=1, angular_momentum=m, guard=False)
        assert np.allclose(
            ds.angular_momentum.values[-1], connected(FREE[method], m, 1 / inertia, h), rtol=0, atol=1e-9
        )


def test_munthe_kaas_and_midpoint_agree_at_large_rotations():
    """Two solvers, one map: IMIDM is MKRK with the midpoint tableau."""
    start = {"angular_momentum": GENERIC, "step": 2.9 / np.linalg.norm(GENERIC / BODY), "steps": 1}
    runs = [ph.integrate(ph.free_body(BODY), name, **start) for name in ("imidm", "mkrk:midpoint", "bbtrapwd")]
    assert np.allclose(runs[0].attitude[-1], runs[1].attitude[-1], rtol=0, atol=1e-14)
    assert not np.allclose(runs[0].attitude[-1], runs[2].attitude[-1], rtol=0, atol=1e-3)
