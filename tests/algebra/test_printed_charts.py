"""Updates of three rotation parameters as printed: right away from singular points, and how they fail beside them.

The oracle is SciPy's ``Rotation``. The failures are measured here so that nobody takes these kernels for the ones of
``charts``: each has a lower bound.
"""

from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

from each import each
from polhode.algebra import euler, printed_charts, rotation, vectorised
from samples import directions

SEQUENCES = euler.SEQUENCES


def applied(kernel, a, e, sequence=None):
    """A kernel, compiled, over rows of three numbers and rows of quaternions."""
    order = None if sequence is None else np.array(euler.plan(sequence))
    read = (vectorised.Operand(length, vectorised.array) for length in (3, 4))
    rows = vectorised.Rows(kernel, (3,), order is not None, **dict(zip("ae", read, strict=True)))
    return rows.over(np.asarray(a, dtype=float), np.asarray(e, dtype=float), plan=order)


def turns(count, seed):
    """Random turns by up to half a turn and more, as SciPy rotations and as quaternions."""
    random = Rotation.from_rotvec(np.random.default_rng(seed).normal(size=(count, 3)))
    return random, rotation.from_scipy(random)


def off(a, b):
    """Angles between SciPy rotations."""
    return (a.inv() * b).magnitude()


def vector_error(kernel, v, turn, e):
    return off(Rotation.from_rotvec(applied(kernel, v, e)), Rotation.from_rotvec(v) * turn)


def euler_error(sequence, angles, turn, e):
    new = angles + applied(printed_charts.euler_as_printed, angles, e, sequence)
    return off(Rotation.from_euler(sequence, new), Rotation.from_euler(sequence, angles) * turn)


# Away from singular points.


def test_rotation_vector_is_right_away_from_a_tracked():
    v = np.random.default_rng(3).uniform(-3, 3, (5000, 3))
    turn, e = turns(len(v), 4)
    new = applied(printed_charts.compose_as_printed, v, e)
    size = np.linalg.norm(new, axis=1)
    away = size < 2 * pi - 0.5
    assert away.mean() > 0.9 and size.max() <= 2 * pi
    assert vector_error(printed_charts.compose_as_printed, v, turn, e)[away].max() < 1e-13
    full = rotation.compose(v, turn.as_rotvec(), branch="tracked")  # the same branch where the turn is below pi
    small = away & (e[:, 0] > 0)
    assert np.abs(new - full)[small].max() < 1e-13


@each("sequence", SEQUENCES)
def test_angles_are_right_away_from_gimbal_lock(sequence):
    angles = np.random.default_rng(5).uniform(-4, 4, (1000, 3))
    turn, e = turns(len(angles), 6)
    change = applied(printed_charts.euler_as_printed, angles, e, sequence)
    middle = (angles + change)[:, 1]
    away = np.abs(np.sin(middle) if sequence[0] == sequence[2] else np.cos(middle)) > 0.1
    assert away.mean() > 0.8
    assert euler_error(sequence, angles, turn, e)[away].max() < 1e-13
    principal = rotation.euler_increment(angles, turn.as_rotvec(), sequence, branch="principal")
    assert np.abs(np.angle(np.exp(1j * (change - principal))))[away].max() < 1e-13
    assert np.abs(change).max() <= pi


def test_closed_bch_form_is_right_up_to_a_quarter_turn_and_wrong_beyond():
    rng = np.random.default_rng(7)
    v, w = rng.uniform(-1.5, 1.5, (2, 5000, 3))
    w[: len(w) // 2] *= 0.3
    turn = Rotation.from_rotvec(w)
    total = (Rotation.from_rotvec(v) * turn).magnitude()
    found = vector_error(printed_charts.compose_bch, v, turn, rotation.from_scipy(turn))
    assert (total < pi / 2 - 0.1).sum() > 500 and (total > pi / 2 + 0.1).sum() > 500
    assert found[total < pi / 2 - 0.1].max() < 1e-14
    np.testing.assert_allclose(found, np.maximum(0.0, 2 * total - pi), rtol=0, atol=1e-6)  # it takes pi - angle


def test_closed_bch_form_has_no_case_of_its_own_at_zero():
    for v, w in (((0, 0, 0), (0.1, 0.2, -0.3)), ((0.1, 0.2, -0.3), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))):
        e = rotation.exp_quaternion([w])
        np.testing.assert_allclose(applied(printed_charts.compose_bch, [v], e)[0], np.add(v, w), rtol=0, atol=1e-16)


# At singular points that floating point meets exactly.


def test_rotation_vector_is_zero_where_the_turn_is_undone():
    still = rotation.exp_quaternion(np.zeros((1, 3)))
    np.testing.assert_array_equal(applied(printed_charts.compose_as_printed, np.zeros((1, 3)), still), 0.0)
    rng = np.random.default_rng(8)
    v = rng.normal(size=(2000, 3))
    undone = applied(printed_charts.compose_as_printed, v, rotation.exp_quaternion(-v))
    assert np.isfinite(undone).all()  # the argument of the arc cosine is limited
    assert np.abs(undone).max() < 1e-7


@each("sequence", [s for s in SEQUENCES if s[0] == s[2]])
def test_last_angle_is_kept_at_a_middle_angle_of_zero_and_of_half_a_turn(sequence):
    axis, other = "xyz".index(sequence[0].lower()), "xyz".index(sequence[1].lower())
    start = np.array([(0.3, 0.0, 0.7)])
    last = 2 if sequence.isupper() else 0
    about, half_turn = np.zeros((1, 4)), np.zeros((1, 4))
    about[0, 0], about[0, axis + 1], half_turn[0, other + 1] = np.cos(0.2), np.sin(0.2), 1.0
    for e, middle in ((about, 0.0), (half_turn, pi)):
        change = applied(printed_charts.euler_as_printed, start, e, sequence)
        assert change[0, last] == 0.0 and change[0, 1] == middle
        assert euler_error(sequence, start, rotation.to_scipy(e), e)[0] < 1e-15


@each("sequence", [s for s in SEQUENCES if s[0] != s[2]])
def test_last_angle_is_kept_in_gimbal_lock(sequence):
    """A turn that permutes the axes takes the first one to the last without rounding."""
    start = np.array([(0.4, 0.0, 0.0)]) if sequence.isupper() else np.array([(0.0, 0.0, 0.4)])
    last = 2 if sequence.isupper() else 0
    sides = []
    for e in np.array([(0.5, x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]):
        change = applied(printed_charts.euler_as_printed, start, [e], sequence)
        if abs(abs(change[0, 1]) - pi / 2) < 1e-15:
            sides.append(change[0, 1] > 0)
            assert change[0, last] == 0.0
        assert euler_error(sequence, start, rotation.to_scipy(e[None]), e[None])[0] < 1e-15
    assert set(sides) == {True, False}


# Beside singular points: the hazard.


def beside_tracked(d):
    """Vectors before and turns, of which the update ends at the length 2 pi - d."""
    e = np.array([(0.02, 0.01, -0.03), (0.3, -0.2, 0.1), (0.0, 0.5, 0.4)])
    after = [(2 * pi - d) * n for n in directions() for _ in e]
    w = np.tile(e, (len(directions()), 1))
    return rotation.compose(after, -w), Rotation.from_rotvec(w), rotation.exp_quaternion(w)


@each(
    ("d", "least", "most"),
    [(1e-1, 1e-14, 1e-11), (1e-3, 1e-10, 1e-7), (1e-5, 1e-6, 1e-3), (1e-7, 1e-2, pi), (1e-8, 0.3, pi)],
)
def test_rotation_vector_loses_the_attitude_beside_a_tracked(d, least, most):
    v, turn, e = beside_tracked(d)
    assert least < vector_error(printed_charts.compose_as_printed, v, turn, e).max() <= most
    safe = Rotation.from_rotvec(rotation.compose(v, turn.as_rotvec(), branch="tracked"))
    assert off(safe, Rotation.from_rotvec(v) * turn).max() < 4e-15


def beside_lock(sequence, d):
    singular = (0.0, pi) if sequence[0] == sequence[2] else (-pi / 2, pi / 2)
    outer = [(0.4, -2.2), (-3.0, 3.1), (1.0, 0.5)]
    after = np.array([(a, s + (d if s == singular[0] else -d), b) for s in singular for a, b in outer])
    w = np.tile([(0.02, 0.01, -0.03), (0.3, -0.2, 0.1), (0.0, 0.5, 0.4)], (2, 1))
    return after + rotation.euler_increment(after, -w, sequence), Rotation.from_rotvec(w), rotation.exp_quaternion(w)


@each("sequence", SEQUENCES)
@each("d", [1e-4, 1e-8, 1e-12])
def test_angles_lose_the_attitude_beside_gimbal_lock(sequence, d):
    angles, turn, e = beside_lock(sequence, d)
    assert 2e-18 / d < euler_error(sequence, angles, turn, e).max() < 3e-15 / d
    safe = angles + rotation.euler_increment(angles, turn.as_rotvec(), sequence)
    exact = Rotation.from_euler(sequence, angles) * turn
    assert off(Rotation.from_euler(sequence, safe), exact).max() < 4e-15


def test_compiled_and_plain_kernels_are_the_same():
    rng = np.random.default_rng(9)
    a, (_, e) = rng.normal(size=(20, 3)), turns(20, 10)
    for kernel in (printed_charts.compose_as_printed, printed_charts.compose_bch):
        plain = [kernel(tuple(x), tuple(y)) for x, y in zip(a, e, strict=True)]
        np.testing.assert_allclose(applied(kernel, a, e), plain, rtol=0, atol=1e-13)
    for sequence in ("XYZ", "yxz", "ZXZ"):
        plan = euler.plan(sequence)
        plain = [printed_charts.euler_as_printed(tuple(x), tuple(y), plan) for x, y in zip(a, e, strict=True)]
        np.testing.assert_allclose(applied(printed_charts.euler_as_printed, a, e, sequence), plain, rtol=0, atol=1e-13)
