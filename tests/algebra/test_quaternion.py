"""Quaternions: group axioms, the two ways to turn a vector, matrices there and back, angles between attitudes."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given

from altered import altered
from mp_rotations import angle_of, distance, matrix_of, precise, vector
from polhode.algebra import quaternion, rotation
from samples import attitudes, law, quadruples, rotation_vectors, unit_quaternions, vectors

ONE = np.array([1.0, 0.0, 0.0, 0.0])
close = {"rtol": 0.0, "atol": 4e-15}


@law
@given(quadruples, quadruples, quadruples)
def test_product_is_associative_with_a_unit_and_inverses(a, b, c):
    a, b, c = map(np.array, (a, b, c))
    np.testing.assert_allclose(
        rotation.multiply(rotation.multiply(a, b), c), rotation.multiply(a, rotation.multiply(b, c)), **close
    )
    np.testing.assert_array_equal(rotation.multiply(a, ONE), a)
    np.testing.assert_array_equal(rotation.multiply(ONE, a), a)
    np.testing.assert_allclose(rotation.multiply(a, rotation.conjugate(a)), (a @ a) * ONE, **close)
    np.testing.assert_allclose(
        rotation.conjugate(rotation.multiply(a, b)),
        rotation.multiply(rotation.conjugate(b), rotation.conjugate(a)),
        **close,
    )


def test_units_multiply_as_hamilton_carved_them():
    i, j, k = np.eye(4)[1:]
    np.testing.assert_array_equal(rotation.multiply([i, j, k], [j, k, i]), [k, i, j])
    np.testing.assert_array_equal(rotation.multiply([j, k, i], [i, j, k]), [-k, -i, -j])
    np.testing.assert_array_equal(rotation.multiply([i, j, k], [i, j, k]), [-ONE] * 3)


@law
@given(attitudes, attitudes, vectors)
def test_product_of_quaternions_is_product_of_rotations(a, b, v):
    R, S = rotation.matrix_from_quaternion([a, b])
    np.testing.assert_allclose(rotation.matrix_from_quaternion(rotation.multiply(a, b)), R @ S, **close)
    np.testing.assert_allclose(rotation.rotate(a, v), R @ v, **close)
    np.testing.assert_allclose(rotation.rotate_inverse(a, v), R.T @ v, **close)
    np.testing.assert_allclose(rotation.rotate_inverse(a, rotation.rotate(a, v)), v, **close)
    np.testing.assert_allclose(rotation.rotate(rotation.multiply(a, b), v), R @ (S @ v), **close)
    np.testing.assert_allclose(R @ R.T, np.eye(3), **close)
    assert abs(np.linalg.det(R) - 1.0) < 4e-15


def test_body_to_space():
    quarter_turn_about_z = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)
    np.testing.assert_allclose(rotation.rotate(quarter_turn_about_z, (1, 0, 0)), (0, 1, 0), **close)


@precise
def test_matrix_against_sixty_digits():
    for q in unit_quaternions(40, seed=1):
        assert distance(rotation.matrix_from_quaternion(q), matrix_of(vector(q))) < 1e-15
        assert distance(rotation.matrix_from_quaternion(-3e7 * q), matrix_of(vector(q))) < 2e-15


def test_an_attitude_has_any_norm_and_either_sign():
    q, v = unit_quaternions(5, seed=2), (0.3, -0.2, 0.9)
    for factor in (-1.0, 2.0, 1e-300, 1e300, -3e-170, 4e200):
        np.testing.assert_allclose(rotation.rotate(factor * q, v), rotation.rotate(q, v), **close)
        np.testing.assert_allclose(rotation.log_quaternion(factor * q), rotation.log_quaternion(q), **close)
        np.testing.assert_allclose(rotation.normalize(factor * q), np.sign(factor) * q, **close)
        np.testing.assert_allclose(
            rotation.quaternion_from_euler(rotation.euler_from_quaternion(factor * q)) ** 2, q**2, **close
        )
        assert np.all(rotation.angle_between(factor * q, q) < 1e-15)


def awkward_attitudes():
    """Where one component or several vanish or tie, and the branches of the matrix conversion meet."""
    grid = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 4)).reshape(4, -1).T
    grid = grid[np.any(grid != 0, axis=1)]
    nudged = grid + 1e-9 * np.random.default_rng(3).normal(size=grid.shape)
    half_turns = rotation.exp_quaternion(rotation_vectors())
    q = np.concatenate([grid, nudged, half_turns, unit_quaternions(200, seed=4)])
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def same_attitude(p, q):
    """Largest difference of two unit quaternions, up to sign."""
    return np.minimum(np.abs(p - q).max(axis=-1), np.abs(p + q).max(axis=-1))


def test_matrix_there_and_back_at_every_branch():
    q = awkward_attitudes()
    back = rotation.quaternion_from_matrix(rotation.matrix_from_quaternion(q))
    assert same_attitude(back, q).max() < 1e-15
    first = np.argmax(back != 0, axis=1)
    assert np.all(np.take_along_axis(back, first[:, None], axis=1) > 0)
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1.0, rtol=0, atol=4e-16)


def test_the_check_notices_a_sign_in_one_branch():
    q = awkward_attitudes()
    spoiled = altered(quaternion.from_matrix, canonical=lambda q: (q[0], q[1], q[2], abs(q[3])))
    rows = rotation.matrix_from_quaternion(q).reshape(-1, 9)
    assert same_attitude(np.array([spoiled(tuple(row)) for row in rows]), q).max() > 0.1


def test_a_matrix_that_is_nearly_a_rotation_gives_a_rotation_as_near():
    q = unit_quaternions(50, seed=5)
    noise = 1e-7 * np.random.default_rng(6).uniform(-1, 1, size=(50, 3, 3))
    back = rotation.quaternion_from_matrix(rotation.matrix_from_quaternion(q) + noise)
    assert same_attitude(back, q).max() < 3e-7
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1.0, rtol=0, atol=4e-16)


@precise
def test_angle_between_tiny_and_large():
    for q, axis in zip(unit_quaternions(12, seed=8), np.random.default_rng(9).normal(size=(12, 3)), strict=True):
        axis = axis / np.linalg.norm(axis)
        for angle in (1e-14, 1e-9, 1e-4, 0.5, 2.0, 3.1, np.pi):
            p = rotation.multiply(q, rotation.exp_quaternion(angle * axis))
            exact = angle_of(matrix_of(vector(q)).T * matrix_of(vector(p)))
            for sign in (1.0, -1.0):
                computed = float(rotation.angle_between(q, sign * p))
                assert abs(mp.mpf(computed) - exact) < min(1e-15, 2e-15 * exact + 1e-17 * angle)
        assert rotation.angle_between(q, q) == 0.0
        assert rotation.angle_between(q, -q) == 0.0


def test_angle_between_is_seen_below_round_off_of_one():
    q = np.array([1.0, 0.0, 0.0, 0.0])
    assert rotation.angle_between(q, (1.0, 1e-30, 0.0, 0.0)) == pytest.approx(2e-30, rel=1e-15)


def test_axis_and_angle():
    v = rotation_vectors()
    q = rotation.exp_quaternion(v)
    axis, angle = rotation.axis_angle_from_quaternion(q)
    np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1.0, rtol=0, atol=4e-16)
    np.testing.assert_allclose(angle, np.linalg.norm(rotation.log_quaternion(q), axis=1), rtol=1e-15, atol=1e-150)
    assert same_attitude(rotation.quaternion_from_axis_angle(axis, angle), q).max() < 1e-15
    np.testing.assert_array_equal(rotation.axis_angle_from_quaternion(ONE)[0], (1, 0, 0))
    assert rotation.axis_angle_from_quaternion(-ONE)[1] == 0.0
    np.testing.assert_allclose(
        rotation.quaternion_from_axis_angle((0, 0, 1e-200), np.pi / 2) ** 2, (0.5, 0, 0, 0.5), **close
    )
    assert rotation.quaternion_from_axis_angle((0, 0, 1), np.zeros((2, 5))).shape == (2, 5, 4)
