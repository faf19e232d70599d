"""The rotation group: exponential, Cayley map and their inverses, tangent operators against their definitions."""

from math import pi

import mpmath as mp
import numpy as np
from hypothesis import given, strategies as st

from altered import altered
from each import each
from mp_rotations import cay, dexp, distance, exp, largest, matrix_of, precise, tangent, vector
from polhode.algebra import rotation, series, so3
from samples import ANGLES, BEYOND, NEAR_PI, attitudes, directions, law, rotation_vectors, unit_quaternions, vectors

MODERATE = (1e-9, 1e-4, 0.3, 1.7, 3.0, pi - 1e-7, *BEYOND)
few = directions()[2:6]


def test_hat_is_the_cross_product_and_vee_undoes_it():
    v, w = np.random.default_rng(0).normal(size=(2, 7, 3))
    np.testing.assert_allclose((rotation.hat(v) @ w[..., None])[..., 0], np.cross(v, w), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(rotation.vee(rotation.hat(v)), v)


@law
@given(attitudes, vectors)
def test_adjoint_action_is_conjugation(q, w):
    R = rotation.matrix_from_quaternion(q)
    np.testing.assert_allclose(rotation.hat(rotation.Ad(R, w)), R @ rotation.hat(w) @ R.T, rtol=0, atol=3e-15)
    np.testing.assert_allclose(rotation.Ad(R, w), rotation.rotate(q, w), rtol=0, atol=3e-15)


# Exponential.


@precise
def test_exp_against_its_power_series():
    for v in [a * d for a in (*MODERATE, pi) for d in few[::2]]:
        exact = exp(vector(v))
        assert distance(rotation.exp_matrix(v), exact) < 1.5e-15
        assert distance(matrix_to_float(matrix_of(vector(rotation.exp_quaternion(v)))), exact) < 1.5e-15


def matrix_to_float(M):
    return [[float(M[i, j]) for j in range(3)] for i in range(3)]


@precise
def test_exp_components_in_ulps():
    for v in rotation_vectors((*ANGLES, *BEYOND)):
        V = vector(v)
        theta = mp.sqrt(mp.fsum(x * x for x in V))
        ratio = mp.sin(theta / 2) / theta if theta else mp.mpf(0.5)
        w, *xyz = rotation.exp_quaternion(v)
        assert abs(w - mp.cos(theta / 2)) < 3e-16 * max(1, float(theta) / 3)
        for computed, x in zip(xyz, V, strict=True):
            assert abs(computed - ratio * x) <= 4e-16 * abs(x) * max(ratio, 0.3) + 1e-320


def test_exp_has_unit_norm():
    q = rotation.exp_quaternion(rotation_vectors((*ANGLES, *BEYOND, 20.0, 1e3)))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=6e-16)


@law
@given(vectors, st.floats(-2, 2), st.floats(-2, 2))
def test_turns_about_one_axis_add(v, s, t):
    both = rotation.multiply(rotation.exp_quaternion(s * v), rotation.exp_quaternion(t * v))
    np.testing.assert_allclose(both, rotation.exp_quaternion((s + t) * v), rtol=0, atol=3e-15)


def test_log_undoes_exp():
    v = rotation_vectors([a for a in ANGLES if a < pi])
    scale = np.linalg.norm(v, axis=1, keepdims=True)
    for q in (rotation.exp_quaternion(v), -rotation.exp_quaternion(v)):
        near_pi = scale[:, 0] > pi - 1e-14  # there v and -v agree to round-off
        error = np.abs(rotation.log_quaternion(q) - v)
        error[near_pi] = np.minimum(error, np.abs(rotation.log_quaternion(q) + v))[near_pi]
        assert np.all(error <= 1.5e-15 * np.minimum(scale, 1.0) + 1e-320)
    again = rotation.log_matrix(rotation.exp_matrix(v))
    error = np.minimum(np.abs(again - v), np.where(scale > pi - 1e-14, np.abs(again + v), np.inf))
    assert error.max() < 2e-15


def test_log_keeps_tiny_rotations_from_either_sign():
    q = np.array([1.0, 3e-200, -4e-200, 1e-310])
    np.testing.assert_allclose(rotation.log_quaternion([q, -q]), [2 * q[1:]] * 2, rtol=1e-15, atol=0)


def test_exp_undoes_log():
    q = np.concatenate([unit_quaternions(200, seed=1), rotation.exp_quaternion(rotation_vectors((*ANGLES, *BEYOND)))])
    for p in (q, -q):
        v = rotation.log_quaternion(p)
        assert np.all(np.linalg.norm(v, axis=1) <= pi * (1 + 4e-16))
        assert np.all(rotation.angle_between(rotation.exp_quaternion(v), p) < 2e-15)
        R = rotation.matrix_from_quaternion(p)
        np.testing.assert_allclose(rotation.exp_matrix(rotation.log_matrix(R)), R, rtol=0, atol=2.5e-15)


def test_log_of_a_half_turn_does_not_depend_on_the_sign():
    for d in directions():
        q = np.array([0.0, *d])
        v = rotation.log_quaternion(q)
        np.testing.assert_array_equal(v, rotation.log_quaternion(-q))
        np.testing.assert_allclose(np.abs(v), pi * np.abs(d), rtol=4e-16, atol=0)
        assert v[np.flatnonzero(v)[0]] > 0


@precise
def test_log_near_pi_against_sixty_digits():
    for angle in NEAR_PI:
        for d in few:
            R = rotation.exp_matrix(angle * d)
            back = exp(vector(rotation.log_matrix(R)))
            assert distance(R, back) < 2e-15


# Cayley.


@precise
def test_cayley_against_its_definition():
    for v in rotation_vectors((0.0, 1e-9, 0.1, 1.0, 4.0, 1e3, 1e8)):
        exact = cay(vector(v))
        assert distance(rotation.cay_matrix(v), exact) < 1.5e-15
        assert distance(matrix_to_float(matrix_of(vector(rotation.cay_quaternion(v)))), exact) < 1.5e-15


def test_cayley_there_and_back():
    v = rotation_vectors((0.0, 1e-200, 1e-9, 0.1, 1.0, 4.0, 1e3, 1e8))
    scale = np.linalg.norm(v, axis=1, keepdims=True)
    q = rotation.cay_quaternion(v)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=4e-16)
    for p in (q, -q, 5.0 * q):
        np.testing.assert_allclose(rotation.cayinv_quaternion(p), v, rtol=1e-15, atol=0)
    error = np.abs(rotation.cayinv_matrix(rotation.cay_matrix(v)) - v)
    assert np.all(error <= 2e-15 * (1 + scale**2 / 4))


def test_cayley_turns_by_twice_the_half_angle_tangent():
    for d in directions():
        v = rotation.log_quaternion(rotation.cay_quaternion(0.8 * d))
        np.testing.assert_allclose(v, 2 * np.arctan(0.4) * d, rtol=0, atol=1e-15)


# Tangent operators.

EXACT_TANGENT = {
    "dexp": dexp,
    "dexpinv": lambda v: dexp(v) ** -1,
    "dcay": lambda v: tangent(cay, v),
    "dcayinv": lambda v: tangent(cay, v) ** -1,
}
VECTOR_KERNEL = {name: getattr(so3, name) for name in EXACT_TANGENT}


@precise
def test_series_of_dexp_is_the_tangent_operator_of_exp():
    for v in [a * d for a, d in zip((1e-3, 1.0, 4.0), few, strict=False)]:
        assert largest(dexp(vector(v)) - tangent(exp, vector(v))) < 1e-30


@precise
def worst_tangent_error(kernel, name, vs):
    """Largest error of an entry over the largest entry, applied to the unit vectors."""
    worst = 0.0
    for v in vs:
        exact = EXACT_TANGENT[name](vector(v))
        columns = [kernel(tuple(float(x) for x in v), tuple(e)) for e in np.eye(3)]
        worst = max(worst, distance(np.array(columns).T, exact) / largest(exact))
    return worst


@each("name", EXACT_TANGENT)
def test_tangent_operator_against_its_definition(name):
    vs = [a * few[k % 2] for k, a in enumerate((0.0, *MODERATE))]
    assert worst_tangent_error(VECTOR_KERNEL[name], name, vs) < 1e-15


@each("name", EXACT_TANGENT)
def test_tangent_matrix_is_the_operator_on_the_unit_vectors(name):
    v, w = rotation_vectors((*ANGLES, *BEYOND)), np.array([0.3, -1.1, 0.7])
    operator = getattr(rotation, name)
    matrix = operator(v)
    assert matrix.shape == (len(v), 3, 3)
    np.testing.assert_allclose(matrix, np.moveaxis([operator(v, e) for e in np.eye(3)], 0, -1), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(matrix @ w, operator(v, w), rtol=1e-14, atol=1e-14)


@each(("map_name", "name"), [("exp_matrix", "dexp"), ("cay_matrix", "dcay")])
def test_tangent_operator_against_finite_differences(map_name, name):
    E, h = getattr(rotation, map_name), 1e-5
    v = rotation_vectors((0.0, 1e-6, 1e-3, 0.4, 2.0, pi, 3.3, 5.0))
    w = np.random.default_rng(2).normal(size=v.shape)
    rate = (E(v + h * w) - E(v - h * w)) / (2 * h) @ np.swapaxes(E(v), -1, -2)
    np.testing.assert_allclose(rotation.hat(getattr(rotation, name)(v, w)), rate, rtol=0, atol=2e-9)
    body = np.swapaxes(E(v), -1, -2) @ (E(v + h * w) - E(v - h * w)) / (2 * h)
    np.testing.assert_allclose(rotation.hat(getattr(rotation, name)(-v, w)), body, rtol=0, atol=2e-9)


@each(("name", "inverse"), [("dexp", "dexpinv"), ("dcay", "dcayinv")])
def test_tangent_operators_undo_each_other(name, inverse):
    v = rotation_vectors((*ANGLES, *BEYOND))
    size = 1 + np.linalg.norm(v, axis=1)[:, None, None] ** 2
    direct, back = getattr(rotation, name)(v), getattr(rotation, inverse)(v)
    assert np.all(np.abs(direct @ back - np.eye(3)) < 3e-15 * size)
    assert np.all(np.abs(back @ direct - np.eye(3)) < 3e-15 * size)


@law
@given(vectors, vectors)
def test_exp_carries_the_body_operator_to_the_space_operator(v, w):
    carried = rotation.Ad(rotation.exp_matrix(v), rotation.dexp(-v, w))
    np.testing.assert_allclose(carried, rotation.dexp(v, w), rtol=0, atol=4e-15)
    carried = rotation.Ad(rotation.cay_matrix(v), rotation.dcay(-v, w))
    np.testing.assert_allclose(carried, rotation.dcay(v, w), rtol=0, atol=4e-15)


def spoiled_cubic(x):
    return series.cubic(x) * (1.0 + 1e-12)


def halved_versine(x):
    return 0.5 * series.versine(x)


@each(
    "spoiled",
    [
        altered(so3.dexp, cubic=spoiled_cubic),
        altered(so3.dexp, versine=halved_versine),
    ],
)
def test_the_check_notices_a_spoiled_tangent_operator(spoiled):
    vs = [a * d for a in (1.7, 3.0) for d in few[:2]]
    assert worst_tangent_error(spoiled, "dexp", vs) > 2e-14
    assert worst_tangent_error(lambda v, w: so3.dexp(tuple(-x for x in v), w), "dexp", vs) > 0.1


@each(("operator", "slope"), [(so3.dexpinv, so3.dexpinv_slope), (so3.dcayinv, so3.dcayinv_slope)])
@each("angle", [0.0, 1e-3, 0.99, 1.01, 3.0, 5.5])
def test_slopes_of_inverse_tangent_operators(operator, slope, angle):
    v, w = angle * few[1], np.array([0.3, -0.8, 1.1])
    found = np.reshape(slope(tuple(v), tuple(w)), (3, 3))
    for k, e in enumerate(1e-5 * np.eye(3)):
        expected = np.subtract(operator(tuple(v + e), tuple(w)), operator(tuple(v - e), tuple(w))) / 2e-5
        np.testing.assert_allclose(found[:, k], expected, rtol=0, atol=2e-9 * (1 + np.abs(found).max()))
