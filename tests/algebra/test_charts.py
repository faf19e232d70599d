"""Rotation vectors and Euler angles after a turn, at every distance from their singular points.

The oracle multiplies quaternions in 60 digits. Attitudes are compared, not numbers: beside a singular point the numbers
are uncertain by round-off divided by the distance, whoever computes them.
"""

from math import pi

import mpmath as mp
import numpy as np
import pytest

from cover import some
from each import each
from mp_rotations import length, precise, vector
from polhode.algebra import euler, rotation
from polhode.errors import InvalidInput
from samples import directions

SEQUENCES = euler.SEQUENCES
MAPS = ("exp", "cayley")
DISTANCES = (0.0, 1e-16, 1e-15, *(10.0**-k for k in range(14, 0, -2)), 0.1, 1.0)
TURNS = np.array([(0.0, 0.0, 0.0), (3e-3, -1e-3, 2e-3), (0.02, 0.0, 0.0), (-0.7, 0.4, 0.1), (0.3, 1.4, -2.1)])


# Quaternions in 60 digits, from their definitions.


def product(a, b):
    w, x, y, z = a
    p, q, r, s = b
    return [w * p - x * q - y * r - z * s, w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q, w * s + x * r - y * q + z * p]  # fmt: skip


def exp(v):
    t = length(v)
    return (
        [mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0)] if t == 0 else [mp.cos(t / 2), *(mp.sin(t / 2) * x / t for x in v)]
    )


def cayley(v):
    n = mp.sqrt(4 + length(v) ** 2)
    return [2 / n, *(x / n for x in v)]


def about(axis, angle):
    return [mp.cos(angle / 2), *(mp.sin(angle / 2) * (axis == name) for name in "xyz")]


def of_angles(angles, sequence):
    a, b, c = (about(axis, angle) for axis, angle in zip(sequence.lower(), angles, strict=True))
    return product(a, product(b, c)) if sequence.isupper() else product(c, product(b, a))


def of_turn(increment, map):
    return {"exp": exp, "cayley": cayley}[map](vector(increment))


def angle(a, b):
    """Angle between two attitudes, as a float."""
    r = product([a[0], -a[1], -a[2], -a[3]], b)
    return float(2 * mp.atan2(length(r[1:]), abs(r[0])))


# Rotation vectors.


def vectors_beside(k):
    """Vectors at every distance from the length k pi."""
    lengths = {abs(k * pi + sign * d) for d in DISTANCES for sign in (-1, 1)}
    return np.array([size * axis for size in sorted(lengths) for axis in directions()[1::3]])


@each("map", MAPS)
@each("k", [0, 1, 2, 4, 6])
@precise
def test_attitude_survives_at_every_distance_from_whole_and_half_turns(k, map):
    after = vectors_beside(k)
    for number, turn in enumerate(TURNS):
        before = rotation.compose(after, -turn, map, "continuous")
        results = {b: rotation.compose(before, turn, map, b) for b in ("continuous", "principal", "tracked")}
        q = of_turn(turn, map)
        for i in range(number, len(before), 7):  # 60 digits are slow
            v = before[i]
            exact = product(exp(vector(v)), q)
            for branch, result in results.items():
                bound = max(2e-15, 4e-16 * max(np.linalg.norm(v), np.linalg.norm(result[i])))
                assert angle(exp(vector(result[i])), exact) < bound, (branch, v, turn)


def test_vectors_agree_with_quaternions_and_stay_in_range():
    rng = np.random.default_rng(1)
    v, turn = rng.uniform(-4, 4, (2000, 3)), rng.normal(size=(2000, 3))
    for map, exact in (("exp", rotation.exp_quaternion(turn)), ("cayley", rotation.cay_quaternion(turn))):
        q = rotation.multiply(rotation.exp_quaternion(v), exact)
        for branch, longest in (("continuous", 12.0), ("principal", pi), ("tracked", 2 * pi)):
            new = rotation.compose(v, turn, map, branch)
            assert rotation.angle_between(rotation.exp_quaternion(new), q).max() < 4e-15
            assert np.linalg.norm(new, axis=1).max() < longest + 2e-15
            assert np.linalg.norm(new, axis=1).max() > longest - 1.0 or branch == "continuous"
        assert np.abs(rotation.compose(v, turn, map, "principal") - rotation.log_quaternion(q)).max() < 1e-15


def test_tracked_follows_the_quaternion_and_keeps_the_axis_of_a_whole_turn():
    e = np.array((0.0, 1.0, 0.0))
    np.testing.assert_allclose(rotation.compose(3 * e, 2 * e, branch="tracked"), 5 * e, rtol=0, atol=2e-15)
    np.testing.assert_allclose(rotation.compose(6 * e, 1 * e, branch="tracked"), (7 - 4 * pi) * e, rtol=0, atol=4e-15)
    aside = (2e-16, 0.0, 0.0)  # round-off across the axis, as large as what is left along it
    np.testing.assert_array_equal(rotation.compose(2 * pi * e, aside, branch="tracked"), 2 * pi * e)
    np.testing.assert_allclose(rotation.compose(2 * pi * e, aside, branch="continuous"), 2 * pi * e, rtol=0, atol=1e-15)


def test_small_vectors_keep_their_digits():
    v = np.array([(1e-20, -2e-20, 3e-25), (1e-170, 0.0, 2e-170), (0.0, 0.0, 0.0)])
    turn = np.array((3e-20, 1e-20, -1e-25)) * [[1.0], [1e-150], [1.0]]
    for branch in ("continuous", "principal", "tracked"):
        new, sizes = rotation.compose(v, turn, branch=branch), np.abs(v + turn).max(axis=1)
        assert np.all(np.abs(new - (v + turn)).max(axis=1) <= 1e-15 * sizes)


def test_a_steady_turn_passes_whole_turns():
    axes = np.array([(0, 1, 0), (0.6, -0.3, 0.7), (1e-9, 1, -1e-5)])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    start = np.array([-1.5 * pi * axes, 0 * axes])
    v, turn = start, 0.01 * pi * axes
    for n in range(1, 10_001):
        v = rotation.compose(v, turn, branch="continuous")
        exact = np.abs((start * axes).sum(axis=-1) + n * 0.01 * pi)
        assert np.abs(np.linalg.norm(v, axis=-1) - exact).max() < 1e-9
    # Those that began at zero end at a whole turn: their axis is free.
    assert np.abs(v[0] - start[0] - 100 * pi * axes).max() < 1e-9


@each("miss", [1e-15, 1e-12, 1e-9, 1e-5, 1e-2])
def test_the_length_changes_by_no_more_than_the_body_turns(miss):
    """Beside whole turns the axis swings either way: on to longer vectors, or round to the other side."""
    v = np.array((miss, 0.0, 0.0))
    for _ in range(2000):
        before, v = np.linalg.norm(v), rotation.compose(v, (0.0, 0.01 * pi, 0.0), branch="continuous")
        assert abs(np.linalg.norm(v) - before) < 0.01 * pi + 2 * miss + 1e-13
    assert rotation.angle_between(rotation.exp_quaternion(v), rotation.exp_quaternion((miss, 0.0, 0.0))) < 1e-12


def test_a_vector_goes_through_zero():
    e = np.array((0.6, 0.0, 0.8))
    v = rotation.compose(0.4 * e, [-0.1 * e, -0.4 * e, -1.0 * e], branch="continuous")
    np.testing.assert_allclose(v, [0.3 * e, 0 * e, -0.6 * e], rtol=0, atol=2e-16)


# Euler angles.


def returns(sequence):
    """True when a sequence comes back to its first axis."""
    return sequence[0] == sequence[2]


def singular(sequence):
    """The two middle angles of gimbal lock."""
    return (0.0, pi) if returns(sequence) else (-pi / 2, pi / 2)


def angles_beside_lock(sequence):
    """Angles at every distance from gimbal lock, on both sides of it."""
    others = [(0.0, 0.0), (0.4, -2.2), (-3.0, 3.1)]
    middles = {s + sign * d for s in singular(sequence) for d in DISTANCES for sign in (-1, 1)}
    return np.array([(a, m, b) for m in sorted(middles) for a, b in others])


@each("sequence", SEQUENCES)
@precise
def test_attitude_survives_gimbal_lock_at_every_distance(sequence):
    after = angles_beside_lock(sequence)
    for number, turn in enumerate(TURNS):
        map = MAPS[number % 2]
        before = after + rotation.euler_increment(after, -turn, sequence, map, "continuous")
        chosen = slice((number + 5 * SEQUENCES.index(sequence)) % 23, None, 23)  # its share of them: 60 digits are slow
        q = of_turn(turn, map)
        for a in before[chosen]:
            exact = product(of_angles(vector(a), sequence), q)
            for branch in ("continuous", "principal"):
                new = a + rotation.euler_increment(a, turn, sequence, map, branch)
                assert angle(of_angles(vector(new), sequence), exact) < 2e-15, (branch, a, turn)


@each("sequence", SEQUENCES)
def test_angles_agree_with_quaternions_and_principal_ones_stay_in_range(sequence):
    rng = np.random.default_rng(2)
    angles, turn = rng.uniform(-4, 4, (500, 3)), rng.normal(size=(500, 3))
    lowest, highest = singular(sequence)
    for map, exact in (("exp", rotation.exp_quaternion(turn)), ("cayley", rotation.cay_quaternion(turn))):
        q = rotation.multiply(rotation.quaternion_from_euler(angles, sequence), exact)
        for branch in ("continuous", "principal"):
            change = rotation.euler_increment(angles, turn, sequence, map, branch)
            assert rotation.angle_between(rotation.quaternion_from_euler(angles + change, sequence), q).max() < 4e-15
            assert np.abs(change[:, (0, 2)]).max() <= pi
        middle = (angles + change)[:, 1]
        assert lowest - 1e-15 < middle.min() and middle.max() < highest + 1e-15
        assert np.abs(middle - rotation.euler_from_quaternion(q, sequence)[:, 1]).max() < 1e-14


@each("sequence", SEQUENCES)
def test_small_changes_are_those_of_the_rates(sequence):
    angles, turn = np.array((0.4, 0.7, -2.0)), 1e-8 * np.array((0.3, -0.8, 0.5))
    change = rotation.euler_increment(angles, turn, sequence)
    np.testing.assert_allclose(change, rotation.euler_rates(angles, turn, sequence), rtol=0, atol=3e-16)


def steady(sequence, others, steps):
    """Errors of the angles in a steady turn of the middle angle that starts away from lock and passes through it."""
    start = np.array([(a, pi / 2 if returns(sequence) else 0.0, b) for a, b in others])
    turn = rotation.angular_velocity_from_euler_rates(start, (0.0, 0.01 * pi, 0.0), sequence)
    angles, worst = start, 0.0
    for n in range(1, steps + 1):
        angles = angles + rotation.euler_increment(angles, turn, sequence, branch="continuous")
        worst = max(worst, np.abs(angles[:, 1] - start[:, 1] - n * 0.01 * pi).max())
    assert steps % 100 == 0  # ends as far from lock as it starts
    return max(worst, np.abs(angles[:, (0, 2)] - start[:, (0, 2)]).max())


@each("sequence", SEQUENCES)
def test_a_steady_turn_passes_gimbal_lock(sequence):
    assert steady(sequence, [(0.0, 0.0), (0.3, -0.7), (-3.0, 2.0)], 400) < 1e-11


@each("sequence", some(["XYZ", "zyx", "ZXZ", "yzy"], 1))
def test_a_steady_turn_of_fifty_rounds(sequence):
    assert steady(sequence, [(0.0, 0.0), (0.3, -0.7)], 10_000) < 1e-9


@each("sequence", SEQUENCES)
def test_undetermined_angles_keep_their_values_in_lock(sequence):
    for middle in singular(sequence):
        angles = np.array([(0.4, middle, -2.2), (0.0, middle, 1.0)])
        for branch in ("continuous", "principal"):
            still = rotation.euler_increment(angles, (0.0, 0.0, 0.0), sequence, branch=branch)
            assert np.abs(still).max() < 2e-15


def test_the_published_branches_are_the_ordinary_ones():
    """The length is 0 ... 2 pi, and the middle angle stays in its range [holzinger2021, eqs. 26 and 45]."""
    v, turn = np.array((0.0, 3.0, 0.0)), np.array((0.0, 2.0, 0.0))
    np.testing.assert_array_equal(rotation.compose(v, turn), rotation.compose(v, turn, branch="tracked"))
    assert rotation.compose(v, turn)[1] > pi > rotation.compose(v, turn, branch="principal")[1]
    angles, turn = np.array((0.3, 1.5, 0.0)), np.array((0.0, 0.2, 0.0))
    change = rotation.euler_increment(angles, turn)
    np.testing.assert_array_equal(change, rotation.euler_increment(angles, turn, branch="principal"))
    assert (angles + change)[1] < pi / 2 < (angles + rotation.euler_increment(angles, turn, branch="continuous"))[1]


# Refusals.


@each("call", [rotation.compose, rotation.euler_increment])
def test_unknown_names_are_answered_with_known_ones(call):
    v = (0.1, 0.2, 0.3)
    for bad in ("Exp", "cay", "", None, ["exp"]):
        with pytest.raises(InvalidInput, match=r"unknown map .*known: cayley, exp"):
            call(v, v, map=bad)
    with pytest.raises(InvalidInput, match=r"unknown map 'cay'; did you mean 'cayley'"):
        call(v, v, map="cay")
    with pytest.raises(InvalidInput, match=r"unknown branch 'principle'; did you mean 'principal'"):
        call(v, v, branch="principle")
    with pytest.raises(InvalidInput, match=r"unknown branch 3; known: as_printed, (bch, )?continuous, principal"):
        call(v, v, branch=3)


def test_bad_numbers_and_sequences_are_refused():
    v = (0.1, 0.2, 0.3)
    with pytest.raises(InvalidInput, match="unknown branch 'tracked'"):
        rotation.euler_increment(v, v, branch="tracked")
    for bad in ("XYY", "xyZ", None, ["XYZ"]):
        with pytest.raises(InvalidInput, match=r"unknown Euler sequence .*(did you mean|known)"):
            rotation.euler_increment(v, v, bad)
    for call, name in ((rotation.compose, "v"), (rotation.euler_increment, "angles")):
        with pytest.raises(InvalidInput, match=rf"^{name} .*not finite"):
            call((0.1, np.nan, 0.3), v)
        with pytest.raises(InvalidInput, match=r"^increment .*not finite"):
            call(v, (np.inf, 0.0, 0.0))
        with pytest.raises(InvalidInput, match=rf"^{name} has shape \(4,\)"):
            call(np.zeros(4), v)
        with pytest.raises(InvalidInput, match=r"^increment has shape \(2,\)"):
            call(v, np.zeros(2))
        with pytest.raises(InvalidInput, match="broadcast"):
            call(np.zeros((2, 3)), np.zeros((5, 3)))
