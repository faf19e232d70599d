"""The rotor splittings, and implicit maps that follow the right solution through large rotations."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.flows import rotors
from polhode.kernel import drive, layout as L

BODY = np.array([0.9144, 1.098, 1.66])
OMEGA = np.array([0.45549, 0.82623, 0.03476])
GENERIC = np.array([0.7, -0.4, 0.9])
SPLITTINGS = {
    "three rotations": rotors.turn_three,
    "McLachlan-Reich": rotors.turn_mclachlan_reich,
    "symmetric": rotors.turn_symmetric,
}


def turned(flow, inertia, omega, h, n):
    """Body angular momentum and attitude after ``n`` applications from the identity."""
    inertia = np.asarray(inertia, dtype=float)
    y, bodies = np.zeros((1, 13)), np.array([[1.0, *inertia, 1.0, *1.0 / inertia]])
    y[0, 6], y[0, 10:] = 1.0, inertia * omega
    status, iterations = np.full(1, -1), np.zeros(1, dtype=np.int64)
    drive.sweep_of(flow)(n, np.array([h]), y, bodies, np.zeros(L.STEP_INFO), status, iterations)
    assert status[0] == 0
    return y[0, 10:], y[0, 6:10]


def exact(inertia, omega, t):
    """The same by a Munthe-Kaas method of order 8 with steps far smaller than needed."""
    ds = ph.integrate(ph.free_body(inertia), "mkrk:gauss8", step=t / 400, steps=400, every=400, angular_velocity=omega)
    return ds.angular_momentum.values[-1], ds.attitude.values[-1]


@each("name", SPLITTINGS)
def test_rotors_are_of_order_2_time_symmetric_and_keep_the_spatial_momentum(name):
    flow = SPLITTINGS[name]
    m, q = exact(BODY, OMEGA, 10.0)
    errors = []
    for n in (100, 200, 400):
        found, attitude = turned(flow, BODY, OMEGA, 10.0 / n, n)
        errors.append([np.linalg.norm(found - m), ph.rotation.angle_between(attitude, q)])
        assert np.allclose(ph.rotation.rotate(attitude, found), BODY * OMEGA, rtol=0, atol=2e-14)
    assert np.abs(np.log2(np.array(errors[1]) / errors[2]) - 2.0).max() < 0.05
    there = turned(flow, BODY, OMEGA, 0.8, 1)[0]
    assert np.linalg.norm(turned(flow, BODY, there / BODY, -0.8, 1)[0] - BODY * OMEGA) < 1e-15


@each("inertia", [(2.0, 2.0, 1.3), (1.3, 2.0, 2.0), (2.0, 1.3, 2.0), (2.0, 2.0, 2.0)])
def test_the_symmetric_splitting_is_exact_for_symmetric_bodies(inertia):
    m, q = exact(inertia, GENERIC, 2.0)
    found, attitude = turned(rotors.turn_symmetric, inertia, GENERIC, 2.0, 1)
    assert np.linalg.norm(found - m) < 1e-13 and ph.rotation.angle_between(attitude, q) < 1e-13


@each("place", [0, 1, 2])
def test_the_symmetric_splitting_pairs_the_closest_axes(place):
    """Its error goes with their difference, whichever axis is the odd one."""
    errors = []
    for difference in (1e-3, 1e-4):
        inertia = np.roll([2.0, 2.0 * (1.0 + difference), 1.3], place)
        errors.append(ph.rotation.angle_between(turned(rotors.turn_symmetric, inertia, GENERIC, 1.0, 1)[1],
                                           exact(inertia, GENERIC, 1.0)[1]))  # fmt: skip
    assert errors[0] < 1e-3 and errors[0] / errors[1] == pytest.approx(10.0, rel=0.05)


@each("order", [4, 6, 8])
def test_triple_jumps_raise_the_order(order):
    flow = rotors.boosted(rotors.turn_mclachlan_reich, order)
    fractions = np.array(rotors.triple_jumps(order))
    assert len(fractions) == 3 ** (order // 2 - 1) and abs(fractions.sum() - 1.0) < 1e-14
    m, _ = exact(BODY, OMEGA, 10.0)
    coarse, fine = (np.linalg.norm(turned(flow, BODY, OMEGA, 10.0 / n, n)[0] - m) for n in (40, 80))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.3)


# ------------------------------------------------------------------ large rotations
def turned_by(v, m):
    """Vectors m turned by rotation vectors v, by Rodrigues' formula."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    k = v / angle
    once = np.cross(k, m)
    return m + np.sin(angle) * once + (1 - np.cos(angle)) * np.cross(k, once)


FREE = {
    "backward_euler": lambda x, m, j, h: x - m - h * np.cross(x, j * x),
    "backward_euler_m": lambda x, m, j, h: x - turned_by(-h * j * x, m),
    "swc1": lambda x, m, j, h: x - turned_by(-0.5 * h * j * (x + m), m),
}


def connected(equation, m, j, h, pieces=60):
    """The solutions for many bodies, followed from a vanishing step, by Newton's method with differences."""
    x = m.copy()
    for part in np.linspace(0, 1, pieces + 1)[1:, None, None] * h:
        for _ in range(8):
            f = equation(x, m, j, part)
            columns = [(equation(x + 1e-7 * e, m, j, part) - f) / 1e-7 for e in np.eye(3)]
            x = x - np.linalg.solve(np.stack(columns, axis=-1), f[..., None])[..., 0]
    return x


@each("method", some(FREE, 2))
def test_large_rotations_follow_the_solution_connected_to_a_vanishing_step(method):
    """At nearly 2 rad plain Newton from the start of the step fails for one body in twelve or so, many of them rods."""
    random = np.random.default_rng(1)
    bodies = []
    for _ in range(60):
        d = random.random(3) ** 2 + 1e-3
        inertia = np.array([d[1] + d[2], d[0] + d[2], d[0] + d[1]])
        m = random.normal(size=3)
        m /= np.linalg.norm(m)
        bodies.append((inertia, m, 1.9 / np.linalg.norm(m / inertia)))
    inertia, m, h = (np.array(one) for one in zip(*bodies, strict=True))
    expected = connected(FREE[method], m, 1 / inertia, h[:, None])
    for (inertia, m, h), wanted in zip(bodies, expected, strict=True):
        ds = ph.integrate(ph.free_body(inertia), method, step=h, steps=1, angular_momentum=m, settings={"guard": False})
        assert np.allclose(ds.angular_momentum.values[-1], wanted, rtol=0, atol=1e-9)


def test_munthe_kaas_and_midpoint_agree_at_large_rotations():
    """Two solvers, one map: IMIDM is MKRK with the midpoint tableau."""
    start = {"angular_momentum": GENERIC, "step": 2.9 / np.linalg.norm(GENERIC / BODY), "steps": 1}
    runs = [ph.integrate(ph.free_body(BODY), name, **start) for name in ("imidm", "mkrk:midpoint", "bbtrapwd")]
    assert np.allclose(runs[0].attitude[-1], runs[1].attitude[-1], rtol=0, atol=1e-14)
    assert not np.allclose(runs[0].attitude[-1], runs[2].attitude[-1], rtol=0, atol=1e-3)
