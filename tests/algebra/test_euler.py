"""Euler angles: all 24 sequences both ways, against products of elementary rotations in 60 digits and against SciPy."""

import warnings
from itertools import product
from math import pi

import numpy as np
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from altered import altered
from each import each
from mp_rotations import distance, euler, matrix_of, precise, vector
from polhode.algebra import euler as kernels, rotation
from polhode.kernel import jit
from samples import attitudes, law, unit_quaternions

SEQUENCES = kernels.SEQUENCES
DISTANCES = (0.0, *(10.0**-k for k in range(16, 0, -1)), 0.3, 1.0)


def returns(sequence):
    """True when a sequence comes back to its first axis."""
    return sequence[0] == sequence[2]


def singular(sequence):
    """The two middle angles of gimbal lock."""
    return (0.0, pi) if returns(sequence) else (-pi / 2, pi / 2)


def random_angles(sequence, count, seed):
    """Angles inside the ranges in which they are unique."""
    a = np.random.default_rng(seed).uniform(-1, 1, size=(count, 3)) * [pi, pi / 2, pi]
    a[:, 1] += pi / 2 * returns(sequence)
    return a


def test_there_are_twelve_of_each_kind_and_no_two_alike():
    expected = {a + b + c for a, b, c in product("xyz", repeat=3) if a != b != c}
    assert {s for s in SEQUENCES if s.islower()} == expected
    assert {s for s in SEQUENCES if s.isupper()} == {s.upper() for s in expected}
    assert len({kernels.plan(s) for s in SEQUENCES}) == 24


@each("sequence", SEQUENCES)
@precise
def test_angles_to_attitude_against_elementary_rotations(sequence):
    for angles in [*random_angles(sequence, 8, seed=1), (7.0, -4.0, 11.0), (0.0, 0.0, 0.0)]:
        q = rotation.quaternion_from_euler(angles, sequence)
        assert distance(rotation.matrix_from_quaternion(q), euler(vector(angles), sequence)) < 3e-15


@each("sequence", SEQUENCES)
def test_angles_there_and_back(sequence):
    angles = random_angles(sequence, 200, seed=2)
    q = rotation.quaternion_from_euler(angles, sequence)
    for p in (q, -q, 3.0 * q):
        back = rotation.euler_from_quaternion(p, sequence)
        distance_to_lock = np.abs(angles[:, 1, None] - singular(sequence)).min(axis=1)
        assert np.all(np.abs(back - angles).max(axis=1) < 4e-15 / distance_to_lock + 1e-15)


@each("sequence", SEQUENCES)
def test_both_ways_against_scipy(sequence):
    q = unit_quaternions(200, seed=3)
    angles = rotation.euler_from_quaternion(q, sequence)
    theirs = rotation.to_scipy(q).as_euler(sequence)
    distance_to_lock = np.abs(angles[:, 1, None] - singular(sequence)).min(axis=1)
    assert np.all(np.abs(angles - theirs).max(axis=1) < 1e-14 / distance_to_lock)
    p = rotation.from_scipy(Rotation.from_euler(sequence, angles))
    assert rotation.angle_between(rotation.quaternion_from_euler(angles, sequence), p).max() < 3e-15


@law
@given(attitudes, st.sampled_from(SEQUENCES))
def test_attitude_there_and_back_and_ranges(q, sequence):
    first, middle, third = rotation.euler_from_quaternion(q, sequence)
    assert rotation.angle_between(rotation.quaternion_from_euler((first, middle, third), sequence), q) < 2e-15
    assert -pi < first <= pi and -pi < third <= pi
    lowest = 0.0 if returns(sequence) else -pi / 2
    assert lowest <= middle <= lowest + pi


def beside_lock(sequence):
    """Angles at every distance from gimbal lock, on both sides of it, with all signs of the others."""
    others = [(0.0, 0.0), (0.4, -2.2), (-3.0, 3.1), (2.0, 0.7), (pi, -pi / 2), (-1e-3, 1.0)]
    return np.array(
        [(a, s + sign * d, b) for s in singular(sequence) for d in DISTANCES for sign in (-1, 1) for a, b in others]
    )


def worst_round_trip(extract, sequence):
    """Largest attitude error of quaternion -> angles -> quaternion beside gimbal lock."""
    q = rotation.quaternion_from_euler(beside_lock(sequence), sequence)
    return rotation.angle_between(rotation.quaternion_from_euler(extract(q), sequence), q).max()


@each("sequence", SEQUENCES)
def test_attitude_survives_gimbal_lock_at_every_distance(sequence):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worst_round_trip(lambda q: rotation.euler_from_quaternion(q, sequence), sequence) < 2e-15


@each("sequence", SEQUENCES)
@precise
def test_extraction_beside_lock_in_sixty_digits(sequence):
    for q in rotation.quaternion_from_euler(beside_lock(sequence)[::17], sequence):
        angles = rotation.euler_from_quaternion(q, sequence)
        exact, again = matrix_of(vector(q)), euler(vector(angles), sequence)
        assert float(max(abs(x) for x in exact - again)) < 2e-15


@each("sequence", SEQUENCES)
def test_third_angle_is_zero_in_lock(sequence):
    for middle in singular(sequence):
        q = rotation.quaternion_from_euler([(0.4, middle, -2.2), (-3.0, middle, 0.1), (0.9, middle, 0.0)], sequence)
        angles = rotation.euler_from_quaternion(q, sequence)
        np.testing.assert_array_equal(angles[:, 2], 0.0)
        np.testing.assert_allclose(angles[:, 1], middle, rtol=0, atol=4e-16)
        np.testing.assert_allclose(angles[2, 0], 0.9, rtol=0, atol=2e-15)


def test_the_check_notices_a_lock_declared_too_early():
    early = jit.inlined(altered(kernels.from_quaternion, LOCKED=1e-7))
    for sequence in ("XYZ", "zxz"):
        plan = kernels.plan(sequence)
        assert worst_round_trip(lambda q, plan=plan: [early(tuple(row), plan) for row in q.tolist()], sequence) > 1e-9


def test_the_check_notices_a_wrong_sign():
    def mirrored(i, j):
        return 6 - i - j, 1.0

    spoiled = jit.inlined(altered(kernels.from_quaternion, third_axis=mirrored))
    for sequence in SEQUENCES:
        plan = kernels.plan(sequence)
        good = kernels.third_axis(plan[0], plan[1])[1] == 1.0
        error = worst_round_trip(lambda q, plan=plan: [spoiled(tuple(row), plan) for row in q.tolist()], sequence)
        assert (error < 2e-15) == good


@each("sequence", SEQUENCES)
def test_rates_against_finite_differences(sequence):
    angles = random_angles(sequence, 20, seed=4)
    rates = np.random.default_rng(5).normal(size=angles.shape)
    h = 1e-6
    before, after = (rotation.quaternion_from_euler(angles + s * rates, sequence) for s in (-h, h))
    omega = rotation.log_quaternion(rotation.multiply(rotation.conjugate(before), after)) / (2 * h)
    ours = rotation.angular_velocity_from_euler_rates(angles, rates, sequence)
    np.testing.assert_allclose(ours, omega, rtol=0, atol=5e-9)
    back = rotation.euler_rates(angles, ours, sequence)
    distance_to_lock = np.abs(angles[:, 1, None] - singular(sequence)).min(axis=1)[:, None]
    assert np.all(np.abs(back - rates) < 1e-14 / distance_to_lock)
