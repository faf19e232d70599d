"""RATTLE and the constrained form of a body: the discrete Moser-Veselov map between two kicks is RATTLE."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.errors import InvalidInput
from polhode.flows.dmv import dmv
from polhode.kernel import drive, layout as L
from polhode.systems.constrained import from_constrained, from_cotangent, to_constrained, to_cotangent

INERTIA = np.array([1.0, 1.5, 2.2])
FLAT = np.array([0.7, 1.5, 2.2])
LINEAR = np.array([1e-7, 2.2, 2.2])
WEIGHT, CENTER = 3.0, np.array([0.1, 0.2, 0.9])
Y = np.array([0.6, -1.0, 0.5])
ATTITUDE = np.array([0.8, 0.1, -0.4, 0.436])
ATTITUDE = ATTITUDE / np.linalg.norm(ATTITUDE)
SYMMETRIC = [
    np.eye(3)[:, [i]] @ np.eye(3)[[j]] + np.eye(3)[:, [j]] @ np.eye(3)[[i]] for i in range(3) for j in range(i, 3)
]


def matrix(q):
    """Rotation matrix of a unit quaternion."""
    w, v = q[0], q[1:]
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * k + 2 * k @ k


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def gradient(Q):
    """Of the potential weight (Q c) . e3, as a matrix of derivatives."""
    return WEIGHT * np.outer((0, 0, 1), CENTER)


def symmetric(x):
    return sum(c * s for c, s in zip(x, SYMMETRIC, strict=True))


def entries(S):
    """The six numbers of a symmetric matrix."""
    return S[np.triu_indices(3)]


def rattle(P, Q, d, h):
    """One step of RATTLE with its multipliers, solved in matrices [vilmart2013, eq. 11]."""
    D, inverse = np.diag(d), np.diag(1 / d)

    def moved(x):
        half = P - h / 2 * gradient(Q) - h / 2 * Q @ symmetric(x)
        return half, Q + h * half @ inverse

    # The first multiplier: Newton's method from the derivative of the motion, for which it is Q^T P' at h = 0.
    w = np.linalg.inv(Q) @ P @ inverse
    x = entries(0.5 * (w @ w @ D + (w @ w @ D).T)) * -1
    for _ in range(50):
        _, new = moved(x)
        columns = []
        for s in SYMMETRIC:
            change = -(h**2) / 2 * Q @ s @ inverse
            columns.append(entries(change.T @ new + new.T @ change))
        step = np.linalg.solve(np.array(columns).T, entries(new.T @ new - np.eye(3)))
        x = x - step
        if np.abs(step).max() < 1e-13 * np.abs(x).max():
            break
    half, new = moved(x)
    # The second one enters linearly.
    start = half - h / 2 * gradient(new)

    def hidden(A):
        return entries(new.T @ A @ inverse + inverse @ A.T @ new)

    x = np.linalg.solve(np.array([hidden(-h / 2 * new @ s) for s in SYMMETRIC]).T, -hidden(start))
    return start - h / 2 * new @ symmetric(x), new


def kicked(y, Q, h):
    """y' = -rot(Q^T grad U), component form [vilmart2013, eq. 8]."""
    G = Q.T @ gradient(Q)
    return y - h * np.array([G[2, 1] - G[1, 2], G[0, 2] - G[2, 0], G[1, 0] - G[0, 1]])


def turned(y, q, inertia, h):
    """One step of the map."""
    state, bodies, report = np.zeros((1, 13)), np.zeros((1, 8)), np.zeros(L.STEP_INFO)
    state[0, 6:10], state[0, 10:], report[L.GUARDED] = q, y, 1.0
    bodies[0, 1:4], bodies[0, 5:] = inertia, 1 / inertia
    status, iterations = np.zeros(1, np.int64), np.zeros(1, np.int64)
    drive.sweep_of(dmv(2))(1, np.array([h]), state, bodies, report, status, iterations)
    assert status[0] == L.OK
    return state[0, 10:], state[0, 6:10]


def d_of(inertia):
    return 0.5 * inertia.sum() - inertia


@each("inertia", [INERTIA, np.array([2.2, 1.0, 1.5]), np.array([1.0, 1.0, 1.0])])
def test_rattle_with_a_potential_is_the_map_between_two_kicks(inertia):
    h, y, q = 0.1, Y, ATTITUDE
    P, Q = to_constrained(inertia, q, y)
    for _ in range(20):
        P, Q = rattle(P, Q, d_of(inertia), h)
        y = kicked(y, matrix(q), h / 2)
        y, q = turned(y, q, inertia, h)
        y = kicked(y, matrix(q), h / 2)
        expected = to_constrained(inertia, q, y)
        assert np.abs(Q - expected[1]).max() < 4e-14 and np.abs(P - expected[0]).max() < 4e-14


def test_the_kick_is_that_of_the_heavy_top():
    """So the test above is about the system a user runs."""
    ds = ph.integrate(
        ph.heavy_top(INERTIA, CENTER, WEIGHT), "forward_euler", step=1e-3, steps=1, attitude=ATTITUDE,
        angular_momentum=Y,
    )  # fmt: skip
    rate = (ds.angular_momentum.values[-1] - Y) / 1e-3 - np.cross(Y, Y / INERTIA)
    assert np.allclose(rate, kicked(np.zeros(3), matrix(ATTITUDE), 1.0), rtol=0, atol=1e-12)


def test_rattle_of_a_moment_that_is_off_is_not_the_map():
    """The comparison would notice."""
    P, Q = to_constrained(INERTIA, ATTITUDE, Y)
    new = rattle(P, Q, d_of(INERTIA), 0.1)[1]
    _, q = turned(kicked(Y, Q, 0.05), ATTITUDE, INERTIA * (1, 1, 1 + 1e-9), 0.1)
    assert np.abs(new - matrix(q)).max() > 1e-13


# ------------------------------------------------------------------ the two forms of a state
TENSOR = matrix(ATTITUDE) @ np.diag(INERTIA) @ matrix(ATTITUDE).T


@each("inertia", [INERTIA, FLAT, LINEAR, TENSOR], ids=["solid", "flat", "linear", "tensor"])
def test_there_and_back(inertia):
    random = np.random.default_rng(3)
    q = random.normal(size=(5, 4))
    q *= np.where(q[:, :1] < 0, -1, 1) / np.linalg.norm(q, axis=1, keepdims=True)
    y = random.normal(size=(5, 3))
    P, Q = to_constrained(inertia, q, y)
    attitude, momentum = from_constrained(P, Q)
    tolerance = 4e-15
    assert np.allclose(attitude, q, rtol=0, atol=2e-15) and np.allclose(momentum, y, rtol=0, atol=tolerance)
    bar = to_cotangent(P, Q)
    assert np.allclose(from_constrained(bar, Q)[1], y, rtol=0, atol=tolerance)
    assert np.allclose(from_cotangent(inertia, bar, Q), P, rtol=0, atol=tolerance)


@each("inertia", [INERTIA, FLAT], ids=["solid", "flat"])
def test_P_is_the_derivative_of_the_attitude_times_d(inertia):
    """From Q of the exact motion, by differences; and 1/2 tr(P D^-1 P^T) is the kinetic energy."""
    h = 1e-4
    P, Q = to_constrained(inertia, ATTITUDE, Y)
    w = Y / inertia
    ahead, behind = (rotation.matrix_from_quaternion(
        rotation.multiply(ATTITUDE, rotation.exp_quaternion(s * h * w))) for s in (1, -1))  # fmt: skip
    d = d_of(inertia)
    assert np.allclose((ahead - behind) / (2 * h) * d, P, rtol=0, atol=1e-8)
    kept = d > 0
    energy = 0.5 * ((P**2).sum(axis=0)[kept] / d[kept]).sum()
    assert np.allclose(P[:, ~kept], 0.0, rtol=0, atol=1e-15)
    if kept.all():
        assert abs(energy - 0.5 * (Y * w).sum()) < 1e-15
        constraint = Q.T @ P / d + (Q.T @ P / d).T
        assert np.abs(constraint).max() < 1e-15


def test_the_change_to_the_cotangent_bundle_keeps_the_canonical_form():
    """tr(P^T dQ) = tr(P-bar^T dQ) = y . v for every variation dQ = Q hat(v): both are the momenta of the same body."""
    P, Q = to_constrained(INERTIA, ATTITUDE, Y)
    bar = to_cotangent(P, Q)
    assert np.abs(Q.T @ bar + bar.T @ Q).max() < 1e-15 < np.abs(Q.T @ P + P.T @ Q).max()
    assert np.allclose(bar, P - Q @ (Q.T @ P + P.T @ Q) / 2, rtol=0, atol=1e-15)
    for v in np.eye(3):
        change = Q @ skew(v)
        assert abs((P * change).sum() - Y @ v) < 1e-15 and abs((bar * change).sum() - Y @ v) < 1e-15


def test_what_is_no_state_is_refused():
    P, Q = to_constrained(INERTIA, ATTITUDE, Y)
    for call, words in (
        (lambda: to_constrained((1, 1, 5), ATTITUDE, Y), "exceeds"),
        (lambda: to_constrained(INERTIA, ATTITUDE, Y[:2]), "angular_momentum has shape"),
        (lambda: to_constrained(INERTIA, ATTITUDE, [0, 0, np.nan]), "not finite"),
        (lambda: to_constrained(INERTIA, ATTITUDE, "abc"), "real numbers"),
        (lambda: to_constrained(INERTIA, np.zeros(4), Y), "zero quaternion"),
        (lambda: from_constrained(P, 1.1 * Q), "Q is not a rotation matrix"),
        (lambda: from_constrained(P[0], Q), "P has shape"),
        (lambda: to_cotangent(P, -Q), "reflection"),
        (lambda: from_cotangent(INERTIA, P, 2 * Q), "Q is not a rotation matrix"),
    ):
        with pytest.raises(InvalidInput, match=words):
            call()
