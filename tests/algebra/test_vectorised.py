"""One element given as plain numbers takes a shorter way: the same bits as in an array, and the same refusals."""

import inspect
from operator import attrgetter

import numpy as np
import pytest

import polhode as ph
from each import each
from kepler_draws import draw, fall
from polhode.algebra import elliptic, orbits, rotation, vectorised
from polhode.errors import InvalidInput

RANDOM = np.random.default_rng(20)
V, Q = (0.3, -1.1, 0.7), (0.8, -0.2, 0.5, 0.1)
R, W = (1.0, 0.2, -0.4), (0.1, 0.9, 0.3)

CALLS = {
    **{f"rotation.{name}": (3,) for name in ("hat", "exp_quaternion", "exp_matrix", "cay_quaternion", "cay_matrix")},
    **{f"rotation.{name}": (3, 3) for name in ("dexp", "dexpinv", "dcay", "dcayinv", "compose", "euler_increment")},
    **{f"rotation.{name}": (4,) for name in ("log_quaternion", "conjugate", "normalize", "matrix_from_quaternion")},
    **{f"rotation.{name}": (4, 4) for name in ("multiply", "angle_between")},
    **{f"rotation.{name}": (4, 3) for name in ("rotate", "rotate_inverse")},
    "rotation.quaternion_from_euler": (3,), "rotation.euler_from_quaternion": (4,), "rotation.euler_rates": (3, 3),
    "kepler.propagate": (3, 3, 0, 1), "kepler.angular_momentum": (3, 3), "kepler.specific_energy": (3, 3, 1),
    "kepler.classical_elements": (3, 3, 1), "kepler.eccentric_from_mean": (0, 1), "algebra.elliptic.sn": (0, 1),
    "algebra.elliptic.jacobi": (0, 1), "algebra.elliptic.K": (1,),
}  # fmt: skip
"""By function the lengths of its arguments; 0: any number, 1: a number between 0 and 1."""


def function_of(name):
    return attrgetter(name)(ph)


def drawn(length):
    return (
        float(RANDOM.random()) if length == 1 else float(RANDOM.normal()) if not length else RANDOM.normal(size=length)
    )


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@each("name", CALLS)
def test_one_element_has_the_bits_and_the_shape_of_one_in_an_array(name):
    function = function_of(name)
    for _ in range(40):
        arguments = [drawn(length) for length in CALLS[name]]
        in_arrays = parts(function(*(np.asarray(a)[None] for a in arguments)))
        for form in (tuple, list, np.array):
            alone = parts(function(*(form(a) if np.ndim(a) else a for a in arguments)))
            for one, row in zip(alone, in_arrays, strict=True):
                assert np.shape(one) == row.shape[1:] and one.dtype == float
                np.testing.assert_array_equal(one, row[0])


def test_states_over_lanes_have_the_bits_of_each_alone():
    rng = np.random.default_rng(21)
    cases = [(draw, fall)[k % 2](rng) for k in range(3 * vectorised.MANY + 1)]
    mu, r, v, t = (np.array(column) for column in zip(*cases, strict=True))
    alone = [orbits.propagate(*given) for given in zip(r, v, t.tolist(), mu.tolist(), strict=True)]
    for together, one in zip(orbits.propagate(r, v, t, mu), zip(*alone, strict=True), strict=True):
        np.testing.assert_array_equal(together, one)
    times = np.linspace(-3.0, 3.0, 2 * vectorised.MANY)[:, None]
    for number in (0, 4, 5):
        grid = orbits.propagate(r[number], v[number], times * t[number], mu[number])
        for k in (0, 17, len(times) - 1):
            alone = orbits.propagate(r[number], v[number], float(times[k, 0] * t[number]), float(mu[number]))
            assert all((some[k, 0] == one).all() for some, one in zip(grid, alone, strict=True))


def test_what_rows_share_is_shared_along_any_axis():
    """And rows beyond a multiple of the lanes, results of several axes."""
    rng = np.random.default_rng(22)
    mu, r, v, t = (np.array(column) for column in zip(*(draw(rng) for _ in range(7)), strict=True))
    times = t[:, None] * np.linspace(-1.0, 1.0, 19)
    together = orbits.propagate(r[:, None], v[:, None], times, mu[:, None])
    of_rows = [orbits.propagate(*one) for one in zip(r, v, times, mu, strict=True)]
    for found, rows in zip(together, zip(*of_rows, strict=True), strict=True):
        assert found.shape == (7, 19, 3)
        np.testing.assert_array_equal(found, rows)


@each("value", [np.array(1.0), np.ones(4), np.ones((3, 1)), np.ones(6)[::2], np.ones((1, 3))])
def test_arrays_of_other_shapes_are_read_as_ever(value):
    def told(position):
        try:
            return orbits.propagate(position, np.array([0.0, 0.1, 0.0]), 1.0, 1.0)[0].tolist()
        except InvalidInput as refused:
            return str(refused)

    assert told(value) == told(value.tolist())


def test_one_attitude_is_normalised_to_the_bits_of_one_in_an_array():
    for _ in range(400):
        q = drawn(4)
        q *= (1.0 + 1e-7 * RANDOM.normal()) / np.linalg.norm(q)
        row = rotation.as_quaternion(q[None])
        for form in (tuple, list, np.array):
            np.testing.assert_array_equal(rotation.as_quaternion(form(q)), row[0])


def test_whole_numbers_and_numpys_are_plain_too():
    as_floats = orbits.propagate((2.0, 0.0, 0.0), (0.0, 1.0, 0.0), 3.0, 1.0)
    mixed = orbits.propagate((2, 0, np.int64(0)), [0, np.float64(1.0), 0], 3, 1)
    np.testing.assert_array_equal(mixed, as_floats)
    assert vectorised.plain((1, 2.0, np.float64(3.0)), 3) == (1, 2.0, 3.0)


@each(
    "value",
    [
        (1.0, 2.0), (1.0, 2.0, np.nan), (1.0, 2.0, np.inf), (1.0, 2.0, 1e101), (1.0, 2.0, 10**400), (1.0, 2.0, True),
        (1.0, 2.0, "3"), (1.0, 2.0, None), (1.0, 2.0, 3j), np.ones((1, 3)), np.ones(3, dtype=int),
        np.ones(3, np.float32), np.ones(3, ">f8"), range(3), "abc", None,
        np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 0, 1]),
    ],
)  # fmt: skip
def test_whatever_is_not_plain_is_read_as_an_array(value):
    assert vectorised.plain(value, 3) is None
    try:
        slow = vectorised.read_vectors(value, "v", "rad")
    except InvalidInput as refused:
        with pytest.raises(InvalidInput) as fast:
            rotation.exp_quaternion(value)
        assert str(fast.value) == str(refused)
    else:
        np.testing.assert_array_equal(
            rotation.exp_quaternion(value), rotation.exp_quaternion(np.array(slow, dtype=float))
        )


WRONG = {
    "a position at the centre": lambda of: orbits.propagate(of((0.0, 0.0, 0.0)), of(W), of(1.0), of(1.0)),
    "mu of zero": lambda of: orbits.propagate(of(R), of(W), of(1.0), of(0.0)),
    "1e15 periods": lambda of: orbits.propagate(of(R), of(W), of(1e60), of(1.0)),
    "out of range": lambda of: orbits.propagate(of((1e99, 0.0, 0.0)), of((1e99, 0.0, 0.0)), of(1e99), of(1.0)),
    "a zero quaternion": lambda of: rotation.rotate(of((0.0, 0.0, 0.0, 0.0)), of(V)),
    "eccentricity of 1": lambda of: orbits.eccentric_from_mean(of(0.3), of(1.0)),
    "a large mean anomaly": lambda of: orbits.eccentric_from_mean(of(1e13), of(0.1)),
    "mc below 0": lambda of: elliptic.sn(of(0.3), of(-0.1)),
    "u beyond 1e12": lambda of: elliptic.sn(of(1e13), of(0.1)),
}


@each("case", WRONG)
def test_plain_numbers_are_refused_in_the_words_used_for_arrays(case):
    with pytest.raises(InvalidInput) as alone:
        WRONG[case](lambda value: value)
    with pytest.raises(InvalidInput) as in_array:
        WRONG[case](np.asarray)
    assert str(alone.value) == str(in_array.value)


def test_an_array_with_gaps_is_one_element_too():
    gaps = np.zeros((3, 2)) + np.array(R)[:, None]
    np.testing.assert_array_equal(orbits.propagate(gaps[:, 0], W, 2.0, 1.0), orbits.propagate(R, W, 2.0, 1.0))


def test_one_number_that_is_none_or_beyond_all_is_refused_by_its_name():
    for value, words in ((10**400, "t has numbers beyond"), (np.nan, "^t"), (True, "^t")):
        with pytest.raises(InvalidInput, match=words):
            orbits.propagate(R, W, value, 1.0)


def test_a_quaternion_of_extreme_size_keeps_its_direction():
    for size in (1e-160, 1e-90, 1e90, 1e160):
        np.testing.assert_allclose(rotation.rotate([size * x for x in Q], V), rotation.rotate(Q, V), rtol=1e-14)


def test_results_own_their_memory():
    first = rotation.exp_quaternion(V)
    kept = first.copy()
    rotation.exp_quaternion((0.1, 0.2, 0.3))
    np.testing.assert_array_equal(first, kept)
    first[:] = 0.0
    np.testing.assert_array_equal(rotation.exp_quaternion(V), kept)


def test_messages_name_the_arguments_that_do_not_broadcast():
    with pytest.raises(InvalidInput, match=r"do not broadcast: q \(2,\), v \(3,\); give them the same leading axes"):
        rotation.rotate(np.ones((2, 4)), np.ones((3, 3)))
    with pytest.raises(InvalidInput, match=r"do not broadcast: .*t \(2,\), mu \(\)"):
        orbits.propagate(np.ones((3, 3)), (0, 1, 0), np.ones(2), 1)


def test_a_single_state_takes_no_array_through_the_checks(monkeypatch):
    """The reading of arrays is what made one state cost a hundred times its kernel."""
    orbits.propagate(R, W, 1.0, 1.0)
    ph.free_motion((1.0, 2.0, 3.0), V, 1.0)
    reads = []
    for module in (orbits.operands, vectorised, rotation.operands, inspect.getmodule(ph.free_motion)):
        monkeypatch.setattr(module, "array", lambda *a, **k: reads.append(a))
    monkeypatch.setattr(vectorised.Rows, "over", lambda *a, **k: reads.append(a))
    orbits.propagate(R, W, 2.0, 1.0)
    rotation.rotate(Q, V)
    ph.free_motion((1.0, 2.0, 3.0), V, 2.0)
    assert reads == []
