"""Free motion without stepping: attitudes and momenta at any times, periods, polhodes and herpolhodes."""

from __future__ import annotations

from math import pi

import mpmath as mp
import numpy as np
import pytest

from each import each
from mp_free_body import closed_form
from polhode.algebra import rotation
from polhode.errors import InvalidInput
from polhode.runs.free_motion import free_motion
from polhode.runs.poinsot import free_motion_periods, herpolhode_curve, polhode_curve

BODY = np.array([0.9144, 1.098, 1.66])
MOMENTUM = BODY * [0.45549, 0.82623, 0.03476]
FIRST, LAST = np.array([0.9, 0.2, -0.3]), np.array([0.1, -0.2, 0.9])
"""Momenta that circle the first and the last axis of BODY."""

TENSOR = np.array([[1.3, 0.1, -0.2], [0.1, 0.9, 0.15], [-0.2, 0.15, 1.6]])
Q = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])


def angle(a, b):
    """Largest angle between attitudes."""
    return float(np.max(rotation.angle_between(a, b)))


# ------------------------------------------------------------------ motion
def test_the_free_body_of_krysl_at_t_100():
    """The body of [krysl2006, 5.1]; digits of the 60-digit closed form for its decimal data."""
    q, m = free_motion(BODY, MOMENTUM, 100.0)
    exact = [0.66156860385276528085, 0.63413070903878400696, 0.40002477087941280957]
    assert np.abs(m - exact).max() < 2e-14
    assert (
        angle(q, [0.93577514808309028114, -0.30547678777252397765, -0.13960465463153249979, 0.10732821049221556991])
        < 3e-14
    )


@each("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1)])
@each("m", [FIRST, LAST])
def test_any_time_is_the_closed_form(order, m):
    order = list(order)
    times = np.array([-321.5, -1e-6, 0.0, 0.4, 7.0, 55.5, 1e4])
    q, found = free_motion(BODY[order], m[order], times)
    for k, t in enumerate(times):
        exact, attitude = closed_form(BODY[order], m[order], t)
        allowed = 2e-15 + 1e-15 * abs(t)
        assert np.abs(found[k] - np.array(exact, dtype=float)).max() < allowed
        assert angle(q[k], np.array(attitude, dtype=float)) < allowed


def test_full_tensors_and_attitudes_are_in_the_users_frame():
    """Against Euler's equations with the tensor itself, by finite differences, and against the diagonal body."""
    t = np.linspace(0.0, 30.0, 7)
    q, m = free_motion(TENSOR, FIRST, t, attitude=Q)
    assert np.array_equal(m[0], FIRST) or np.abs(m[0] - FIRST).max() < 1e-15
    assert angle(q[0], Q) < 1e-15
    assert np.allclose(rotation.rotate(q, m), rotation.rotate(Q, FIRST), rtol=0, atol=2e-15)
    d = 1e-4
    before, after = free_motion(TENSOR, FIRST, t - d, attitude=Q), free_motion(TENSOR, FIRST, t + d, attitude=Q)
    omega = m @ np.linalg.inv(TENSOR)
    assert np.allclose((after.angular_momentum - before.angular_momentum) / (2 * d), np.cross(m, omega), atol=1e-7)
    turned = rotation.log_quaternion(rotation.multiply(rotation.conjugate(before.attitude), after.attitude))
    assert np.allclose(turned / (2 * d), omega, rtol=0, atol=1e-7)
    frame = rotation.exp_quaternion((0.3, -0.8, 0.4))
    R = rotation.matrix_from_quaternion(frame)
    inside = free_motion(BODY, FIRST, t)
    outside = free_motion(R @ np.diag(BODY) @ R.T, R @ FIRST, t)
    assert np.allclose(outside.angular_momentum, inside.angular_momentum @ R.T, rtol=0, atol=1e-13)
    expected = rotation.multiply(rotation.multiply(frame, inside.attitude), rotation.conjugate(frame))
    assert angle(outside.attitude, expected) < 1e-13


def test_leading_axes_broadcast():
    t = np.linspace(0, 3, 5)
    q, m = free_motion(BODY, FIRST, t)
    assert q.shape == (5, 4) and m.shape == (5, 3)
    one = free_motion(BODY, FIRST, t[2])
    assert one.attitude.shape == (4,) and np.array_equal(one.attitude, q[2])
    assert np.array_equal(one.angular_momentum, m[2])
    bodies, momenta = np.array([BODY, [2.0, 1.0, 3.0]])[:, None, None], np.array([FIRST, LAST, MOMENTUM])[:, None]
    q, m = free_motion(bodies, momenta, t, attitude=Q)
    assert q.shape == (2, 3, 5, 4) and m.shape == (2, 3, 5, 3)
    alone = free_motion((2.0, 1.0, 3.0), MOMENTUM, t[3], attitude=Q)
    assert np.array_equal(alone.attitude, q[1, 2, 3]) and np.array_equal(alone.angular_momentum, m[1, 2, 3])
    tensors = np.array([TENSOR, np.diag(BODY)])
    m = free_motion(tensors, FIRST, 1.5).angular_momentum
    assert np.array_equal(m[0], free_motion(TENSOR, FIRST, 1.5).angular_momentum)
    assert np.array_equal(m[1], free_motion(BODY, FIRST, 1.5).angular_momentum)
    assert free_motion(BODY, np.zeros((0, 3)), 1.0).attitude.shape == (0, 4)


def test_results_are_the_callers_own():
    t, m0 = np.array([0.0, 1.0]), FIRST.copy()
    q, m = free_motion(BODY, m0, t)
    q[:], m[:] = 0.0, 0.0
    assert np.array_equal(m0, FIRST) and np.array_equal(t, [0.0, 1.0])


@each(
    "arguments, words",
    [
        (((1, 2), FIRST, 1.0), "inertia has shape"),
        (((1, -2, 3), FIRST, 1.0), "not positive"),
        ((np.array([[1, 2, 3], [4, 5, -6]]), FIRST, 1.0), r"inertia\[1\]"),
        (((1, np.nan, 3), FIRST, 1.0), "inertia is not finite"),
        ((BODY, (1, 2), 1.0), "momentum has shape"),
        ((BODY, (1, 2, np.inf), 1.0), "momentum is not finite"),
        ((BODY, "abc", 1.0), "momentum must be real numbers"),
        ((BODY, FIRST, [0.0, np.nan]), "t is not finite"),
        ((BODY, FIRST, 1e308), "overflows"),
        ((BODY, FIRST, 1.0, (1, 1, 0, 0)), "unit quaternion"),
        ((BODY, FIRST, 1.0, (1, 0, 0)), "attitude has shape"),
        ((BODY, np.ones((4, 3)), np.ones(5)), r"do not broadcast: .*momentum \(4,\), t \(5,\)"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        free_motion(*arguments)


# ------------------------------------------------------------------ periods
def sampled_precession(I, m, axis, period, n=2000):
    """Advance of an axis in a period: the mean of its rate over equally spaced times, which converges exponentially."""
    _, path = free_motion(I, m, np.arange(n) * (period / n))
    others = [k for k in range(3) if k != axis]
    a, b = (path[:, k] ** 2 for k in others)
    return float(np.mean((a / I[others[0]] + b / I[others[1]]) / (a + b)) * np.linalg.norm(m) * period)


@each("m, axis", [(FIRST, 0), (LAST, 2), (MOMENTUM, 0)])
def test_periods_are_those_of_the_motion(m, axis):
    periods = free_motion_periods(BODY, m)
    q, again = free_motion(BODY, m, periods.polhode)
    assert np.abs(again - m).max() < 2e-14
    assert np.abs(free_motion(BODY, m, periods.polhode / 2).angular_momentum - m).max() > 0.05
    advance = rotation.exp_quaternion(periods.precession_angle * m / np.linalg.norm(m))
    assert angle(q, advance) < 2e-13
    assert abs(periods.precession_angle / sampled_precession(BODY, m, axis, periods.polhode) - 1) < 1e-14
    assert abs(periods.precession * periods.precession_angle / (2 * pi * periods.polhode) - 1) < 1e-15
    shuffled = free_motion_periods(BODY[[2, 0, 1]], m[[2, 0, 1]])
    assert np.allclose(shuffled, periods, rtol=1e-15, atol=0)
    turned = free_motion_periods(TENSOR, m), free_motion_periods(*principal_of(TENSOR, m))
    assert np.allclose(*turned, rtol=1e-13, atol=0)


def principal_of(tensor, m):
    """Moments and components of m in the eigenvectors, by numpy."""
    moments, axes = np.linalg.eigh(tensor)
    return moments, axes.T @ m


def exact_periods(I, m):
    """The same by mpmath: 4 K/lambda, and the precession's integral by quadrature over the amplitude; I ascending."""
    with mp.workdps(40):
        I, m = [mp.mpf(float(a)) for a in I], [mp.mpf(float(a)) for a in m]
        GG, EE = sum(a * a for a in m), sum(a * a / b for a, b in zip(m, I, strict=True))
        A, B, C = I if EE * I[1] > GG else I[::-1]
        kk = (B - C) * (EE * A - GG) / ((A - B) * (GG - EE * C))
        rate = mp.sqrt((GG - EE * C) * (A - B) / (A * B * C))
        r, p = abs(1 / A - 1 / B), abs(1 / A - 1 / C)

        def speed(phi):
            s, c = mp.sin(phi) ** 2, mp.cos(phi) ** 2
            return (s * p / B + c * r / C) / (s * p + c * r) / mp.sqrt(1 - kk * s)

        peak = mp.atan(mp.sqrt(r / p))
        points = sorted([0, peak / 30, peak, min(30 * peak, mp.mpf(1)), mp.mpf("1.2"), mp.pi / 2])
        return float(4 * mp.ellipk(kk) / rate), float(4 * mp.sqrt(GG) / rate * mp.quad(speed, points))


@each(
    "I, m",
    [
        ((0.9144, 1.098, 1.66), (0.3, 1.0, 0.2)),
        ((1e-6, 1.0, 1.001), (1e-7, 0.6, 0.8)),  # a rod: the precession is 1e-6 of a turn and keeps its digits
        ((1e-6, 1.0, 1.001), (0.8, 0.6, 0.1)),
        ((1.0, 1.0 + 1e-9, 1.7), (0.5, 0.6, 0.7)),
        ((1.0, 1.7, 1.7 + 1e-9), (0.5, 0.6, 0.7)),
        ((0.1, 1.0, 7.0), (0.1, 0.2, 0.9)),
    ],
)
def test_periods_keep_their_digits(I, m):
    period, advance = exact_periods(I, m)
    found = free_motion_periods(I, m, physical=False)
    assert abs(found.polhode / period - 1) < 2e-14
    assert abs(found.precession_angle / advance - 1) < 2e-14


def test_periods_of_a_symmetric_top_and_of_equilibria():
    I, m = np.array([2.0, 2.0, 1.3]), np.array([0.3, -0.4, 0.8])
    periods = free_motion_periods(I, m, physical=False)
    assert abs(periods.polhode / (2 * pi / (abs(1 / 2 - 1 / 1.3) * 0.8)) - 1) < 1e-15
    assert abs(periods.precession / (2 * pi * 2.0 / np.linalg.norm(m)) - 1) < 1e-15
    for axis, sign in ((0, 1.0), (2, -2.0)):
        m, near = np.zeros(3), np.full(3, 1e-9)
        m[axis] = near[axis] = sign
        assert np.allclose(free_motion_periods(BODY, m), free_motion_periods(BODY, near), rtol=1e-14, atol=0)
    i, j = 1 / BODY[0] - 1 / BODY[1], 1 / BODY[0] - 1 / BODY[2]
    assert abs(free_motion_periods(BODY, (1.0, 0, 0)).polhode / (2 * pi / np.sqrt(i * j)) - 1) < 2e-15


@each(
    "I, m",
    [
        ((0.5, 0.75, 1.5), (1.0, 1.0, 1.0)),
        (BODY, (0.0, 2.0, 0.0)),
        ((2.0, 2.0, 2.0), (1.0, 2.0, 3.0)),
        ((2.0, 2.0, 1.0), (1.0, 2.0, 0.0)),
        ((2.0, 2.0, 3.0), (1.0, 2.0, 0.0)),
    ],
)
def test_what_never_returns_has_no_polhode_period(I, m):
    periods = free_motion_periods(I, m, physical=False)
    assert np.isinf(periods.polhode) and np.isinf(periods.precession_angle)
    assert abs(periods.precession / (2 * pi * np.sort(I)[1] / np.linalg.norm(m)) - 1) < 1e-15


def test_periods_broadcast_and_refuse_rest():
    periods = free_motion_periods(BODY * np.array([1.0, 2.0])[:, None, None], [FIRST, LAST, MOMENTUM])
    assert all(a.shape == (2, 3) for a in periods)
    assert np.allclose(periods.polhode[1], 2 * periods.polhode[0], rtol=1e-15)
    alone = [free_motion_periods(BODY, m).precession for m in (FIRST, LAST, MOMENTUM)]
    assert np.allclose(periods.precession[0], alone, rtol=1e-15, atol=0)
    huge = free_motion_periods(BODY * 2.0**400, FIRST).polhode / 2.0**400
    assert np.allclose(huge, periods.polhode[0, 0], rtol=1e-15, atol=0)
    with pytest.raises(InvalidInput, match="at rest"):
        free_motion_periods(BODY, (0, 0, 0))


# ------------------------------------------------------------------ curves
@each("inertia", [BODY, BODY[[2, 0, 1]], TENSOR])
@each("m", [FIRST, LAST, -MOMENTUM])
def test_the_polhode_lies_on_both_surfaces_and_follows_the_motion(inertia, m):
    curve = polhode_curve(inertia, m, n=101)
    points, omega = curve.angular_momentum, curve.angular_velocity
    tensor = np.diag(inertia) if inertia.ndim == 1 else inertia
    assert points.shape == omega.shape == (101, 3)
    assert np.allclose(omega @ tensor, points, rtol=0, atol=2e-15)
    assert np.abs(np.sum(points * points, axis=1) - m @ m).max() < 3e-15
    assert np.abs(np.sum(points * omega, axis=1) - m @ np.linalg.solve(tensor, m)).max() < 3e-15
    assert np.abs(points[0] - m).max() < 1e-15 and np.array_equal(points[0], points[-1])
    period = free_motion_periods(inertia, m).polhode
    path = free_motion(inertia, m, np.linspace(0, period, 4001)).angular_momentum
    nearest = [int(np.argmin(np.linalg.norm(path - point, axis=1))) for point in points[:-1]]
    assert (np.diff(nearest) > 0).all() and nearest[-1] > 3800  # once around, in the sense of the motion
    gaps = np.linalg.norm(path[nearest] - points[:-1], axis=1)
    assert gaps.max() < np.linalg.norm(np.diff(path, axis=0), axis=1).max()


def test_polhodes_of_equilibria_and_of_the_separatrix():
    for I, m in ((BODY, (0, 0, 2.0)), (BODY, (0, -1.0, 0)), ((2, 2, 2), FIRST), ((2, 2, 3), (1.0, 0.5, 0.0))):
        points = polhode_curve(I, m, n=9, physical=False).angular_momentum
        assert np.allclose(points, np.broadcast_to(m, (9, 3)), rtol=0, atol=1e-15)
    points = polhode_curve((0.5, 0.75, 1.5), (1.0, 1.0, 1.0), n=400, physical=False).angular_momentum
    side = points[:, 0] if (points[:, 0] > -1e-12).all() else points[:, 2]
    assert (side > -1e-12).all()
    assert np.allclose(np.abs(points[:, 0]), np.abs(points[:, 2]), rtol=0, atol=1e-15)
    assert np.abs(np.linalg.norm(points, axis=1) - np.sqrt(3)).max() < 1e-15
    assert points[:, 1].max() > 1.73 and points[:, 1].min() < -1.73
    assert polhode_curve([BODY, 2 * BODY], FIRST, n=7).angular_velocity.shape == (2, 7, 3)
    with pytest.raises(InvalidInput, match="n is 1; it must be 2 or more"):
        polhode_curve(BODY, FIRST, n=1)


def test_the_herpolhode_is_the_velocity_in_space():
    t = np.linspace(0, 40, 60)
    for inertia in (BODY, TENSOR):
        omega, plane = herpolhode_curve(inertia, LAST, t, attitude=Q)
        q, m = free_motion(inertia, LAST, t, attitude=Q)
        tensor = np.diag(inertia) if inertia.ndim == 1 else inertia
        assert np.allclose(omega, rotation.rotate(q, m @ np.linalg.inv(tensor)), rtol=0, atol=3e-15)
        axis = rotation.rotate(Q, LAST) / np.linalg.norm(LAST)
        height = LAST @ np.linalg.solve(tensor, LAST) / np.linalg.norm(LAST)
        assert np.abs(omega @ axis - height).max() < 3e-15
        assert np.allclose(np.sum(plane**2, axis=1), np.sum(omega**2, axis=1) - height**2, rtol=0, atol=1e-14)
        assert plane[0, 0] > 0 and abs(plane[0, 1]) < 1e-15
        turn = np.cross(omega[:-1] - height * axis, omega[1:] - height * axis) @ axis
        assert np.allclose(turn, plane[:-1, 0] * plane[1:, 1] - plane[:-1, 1] * plane[1:, 0], rtol=0, atol=1e-14)
    still = herpolhode_curve(BODY, (0, 0, 2.0), t).in_plane
    assert np.abs(still).max() < 1e-14
    with pytest.raises(InvalidInput, match="at rest"):
        herpolhode_curve(BODY, (0, 0, 0), t)


def test_one_body_at_one_time_has_the_bits_of_a_row():
    random = np.random.default_rng(4)
    for k in range(120):
        moments, m = np.exp(random.normal(size=3)), random.normal(size=3)
        t = float(random.normal() * 10 ** random.uniform(-2, 4))
        if k % 5 == 0:
            A = random.normal(size=(3, 3))
            moments = A @ A.T + 0.1 * np.eye(3)
        q = rotation.exp_quaternion(random.normal(size=3)) if k % 2 else None
        row = free_motion(moments, m, [t], q, physical=False)
        for of in (np.array, lambda a: a.tolist()):
            alone = free_motion(of(moments), of(m), t, q, physical=False)
            assert alone.attitude.shape == (4,) and alone.angular_momentum.shape == (3,)
            np.testing.assert_array_equal(alone.attitude, row.attitude[0])
            np.testing.assert_array_equal(alone.angular_momentum, row.angular_momentum[0])


@each(
    ("inertia", "momentum", "t"),
    [
        ((1.0, 2.0, -3.0), (0.1, 0.2, 0.3), 1.0),
        ((1.0, 2.0, 0.0), (0.1, 0.2, 0.3), 1.0),
        ((1.0, 2.0, 3.0), (0.1, 0.2, np.nan), 1.0),
        ((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), np.inf),
        ((1e-300, 2e-300, 3e-300), (1e99, 0.2, 0.3), 1e99),
        ((1.0, 2.0, None), (0.1, 0.2, 0.3), 1.0),
    ],
)
def test_one_body_is_refused_in_the_words_used_for_many(inertia, momentum, t):
    with pytest.raises(InvalidInput) as alone:
        free_motion(inertia, momentum, t)
    with pytest.raises(InvalidInput) as again:
        free_motion(inertia, [momentum], t)
    assert str(alone.value).replace("[0,2]", "[2]") == str(again.value).replace("[0,2]", "[2]")


def test_a_body_without_thickness_at_one_time():
    alone, row = (
        free_motion((0.0, 1.0, 1.0), (0.0, 0.6, 0.8), 3.0),
        free_motion((0.0, 1.0, 1.0), (0.0, 0.6, 0.8), [3.0]),
    )
    np.testing.assert_array_equal(alone.attitude, row.attitude[0])
