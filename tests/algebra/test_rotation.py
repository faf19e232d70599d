"""The public border: shapes, broadcasting, other libraries' conventions, and what it refuses."""

import inspect
import os
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from each import each
from polhode.algebra import rotation
from polhode.errors import InvalidInput
from samples import rotation_vectors, unit_quaternions

V = np.array([0.3, -0.2, 0.9])
Q = np.array([0.5, -0.5, 0.1, 0.7])
Q /= np.linalg.norm(Q)
R = rotation.matrix_from_quaternion(Q)

CASES = {
    "hat": (V,),
    "vee": (rotation.hat(V),),
    "Ad": (R, V),
    "exp_quaternion": (V,),
    "exp_matrix": (V,),
    "log_quaternion": (Q,),
    "log_matrix": (R,),
    "cay_quaternion": (V,),
    "cay_matrix": (V,),
    "cayinv_quaternion": (Q,),
    "cayinv_matrix": (R,),
    "dexp": (V, 2 * V[::-1]),
    "dexpinv": (V, 2 * V[::-1]),
    "dcay": (V, 2 * V[::-1]),
    "dcayinv": (V, 2 * V[::-1]),
    "multiply": (Q, Q[::-1]),
    "conjugate": (Q,),
    "normalize": (3 * Q,),
    "rotate": (Q, V),
    "rotate_inverse": (Q, V),
    "angle_between": (Q, Q[::-1]),
    "matrix_from_quaternion": (Q,),
    "quaternion_from_matrix": (R,),
    "quaternion_from_axis_angle": (V, np.array(0.7)),
    "axis_angle_from_quaternion": (Q,),
    "quaternion_from_euler": (V,),
    "euler_from_quaternion": (Q,),
    "euler_rates": (V, V[::-1]),
    "angular_velocity_from_euler_rates": (V, V[::-1]),
    "compose": (V, 2 * V[::-1]),
    "euler_increment": (V, 2 * V[::-1]),
    "from_xyzw": (Q,),
    "to_xyzw": (Q,),
}
OTHER_KINDS = {"as_quaternion", "from_scipy", "to_scipy"}


def test_every_public_function_is_tried():
    assert set(rotation.__all__) == set(CASES) | OTHER_KINDS
    assert list(rotation.__all__) == sorted(rotation.__all__)


@each("name", rotation.__all__)
def test_docstring_says_shapes_and_errors(name):
    text = inspect.getdoc(getattr(rotation, name))
    assert all(word in text for word in ("Parameters", "Returns", "Raises", "InvalidInput"))


def stacked(name, a, shape, rng):
    """Copies of a sample argument along leading axes, each a little different where it may be."""
    copies = np.broadcast_to(a, shape + a.shape)
    free = a.shape not in ((3, 3),)
    return copies * (1 + 0.1 * rng.random(shape + (1,) * a.ndim)) if free else np.array(copies)


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@each("name", CASES)
def test_arrays_are_loops(name):
    function, arguments, rng = getattr(rotation, name), CASES[name], np.random.default_rng(0)
    many = [stacked(name, a, (2, 3), rng) for a in arguments]
    together = parts(function(*many))
    for i, j in np.ndindex(2, 3):
        alone = parts(function(*(a[i, j] for a in many)))
        for one, all_of_them in zip(alone, together, strict=True):
            assert all_of_them.dtype == np.float64
            assert all_of_them.shape == (2, 3) + np.shape(one)
            np.testing.assert_array_equal(all_of_them[i, j], one)


@each("name", CASES)
def test_empty_and_read_only_and_strided_arrays(name):
    function, arguments = getattr(rotation, name), CASES[name]
    for result in parts(function(*(np.empty((0, *a.shape)) for a in arguments))):
        assert result.shape[0] == 0
    frozen = [a.copy() for a in arguments]
    for a in frozen:
        a.flags.writeable = False
    strided = [np.repeat(np.array(a)[None], 4, axis=0)[::2] for a in arguments]
    for one, two in zip(parts(function(*frozen)), parts(function(*strided)), strict=True):
        np.testing.assert_array_equal(two, np.broadcast_to(one, two.shape))


@each("name", [n for n, a in CASES.items() if len(a) == 2])
def test_leading_axes_broadcast(name):
    function, (a, b) = getattr(rotation, name), CASES[name]
    wide = function(np.broadcast_to(a, (4, 1, *a.shape)), np.broadcast_to(b, (5, *b.shape)))
    one = function(a, b)
    assert wide.shape == (4, 5) + np.shape(one)
    np.testing.assert_array_equal(wide, np.broadcast_to(one, wide.shape))
    with pytest.raises(InvalidInput, match="broadcast"):
        function(np.broadcast_to(a, (2, *a.shape)), np.broadcast_to(b, (3, *b.shape)))


@each("name", CASES)
def test_arguments_are_left_alone(name):
    arguments = [a.copy() for a in CASES[name]]
    results = parts(getattr(rotation, name)(*arguments))
    for a, b in zip(arguments, CASES[name], strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.shares_memory(r, a) for r in results for a in arguments)


def test_lists_and_integers_are_fine():
    np.testing.assert_array_equal(rotation.rotate([1, 0, 0, 0], [[1, 2, 3], [4, 5, 6]]), [[1, 2, 3], [4, 5, 6]])
    assert isinstance(rotation.angle_between(Q, Q), float)


# Other libraries.


def test_scalar_last():
    np.testing.assert_array_equal(rotation.to_xyzw([1, 2, 3, 4]), [2, 3, 4, 1])
    np.testing.assert_array_equal(rotation.from_xyzw([2, 3, 4, 1]), [1, 2, 3, 4])


def test_scipy_out_and_in():
    q = unit_quaternions(20, seed=1)
    np.testing.assert_allclose(rotation.from_scipy(rotation.to_scipy(q)), q, rtol=0, atol=3e-16)
    assert rotation.from_scipy(rotation.to_scipy(q[0])).shape == (4,)
    v = np.random.default_rng(2).normal(size=(20, 3))
    np.testing.assert_allclose(rotation.to_scipy(q).apply(v), rotation.rotate(q, v), rtol=0, atol=3e-15)


def test_scipy_agrees():
    v = rotation_vectors()
    theirs = Rotation.from_rotvec(v)
    assert rotation.angle_between(rotation.exp_quaternion(v), rotation.from_scipy(theirs)).max() < 1e-15
    np.testing.assert_allclose(rotation.exp_matrix(v), theirs.as_matrix(), rtol=0, atol=2e-15)
    p, q = unit_quaternions(20, seed=3), unit_quaternions(20, seed=4)
    product = rotation.to_scipy(p) * rotation.to_scipy(q)
    assert rotation.angle_between(rotation.multiply(p, q), rotation.from_scipy(product)).max() < 2e-15
    between = (rotation.to_scipy(p).inv() * rotation.to_scipy(q)).magnitude()
    np.testing.assert_allclose(rotation.angle_between(p, q), between, rtol=0, atol=3e-15)
    np.testing.assert_allclose(rotation.log_quaternion(q), rotation.to_scipy(q).as_rotvec(), rtol=0, atol=3e-15)


# Refusals.


@each("name", CASES)
def test_wrong_shape_and_not_finite_are_refused_by_name(name):
    function = getattr(rotation, name)
    names = list(inspect.signature(function).parameters)
    for k, (argument, value) in enumerate(zip(names, CASES[name], strict=False)):

        def call(bad, k=k):
            return function(*(bad if j == k else a for j, a in enumerate(CASES[name])))

        bad = value.copy()
        bad.flat[-1] = np.nan
        with pytest.raises(InvalidInput, match=rf"^{argument} .*(not finite|finite number)"):
            call(bad)
        with pytest.raises(InvalidInput, match=rf"^{argument} .*real numbers"):
            call("north")
        with pytest.raises(InvalidInput, match=rf"^{argument} .*real numbers"):
            call(value * 1j)
        with pytest.raises(InvalidInput, match=rf"^{argument} .*real numbers"):
            call([[1.0, 2.0], [3.0]])
        if value.ndim:
            with pytest.raises(InvalidInput, match=rf"^{argument} has shape \(5,\).*(3|4)"):
                call(np.ones(5))
            with pytest.raises(InvalidInput, match=rf"^{argument} has shape \(\)"):
                call(1.0)


@each(
    "name",
    [n for n in CASES if any(p in ("q", "q1") for p in inspect.signature(getattr(rotation, n)).parameters)],
)
def test_zero_quaternion_is_no_attitude(name):
    function, (q, *rest) = getattr(rotation, name), CASES[name]
    if name in ("conjugate", "from_xyzw", "to_xyzw"):
        np.testing.assert_array_equal(function(np.zeros(4)), np.zeros(4))
        return
    with pytest.raises(InvalidInput, match=r"^q1? contains a zero quaternion.*\(1, 0, 0, 0\)"):
        function([q, np.zeros(4)], *rest)


@each("name", ["Ad", "log_matrix", "cayinv_matrix", "quaternion_from_matrix"])
def test_a_matrix_that_is_no_rotation(name):
    function, rest = getattr(rotation, name), CASES[name][1:]
    function(R + 1e-7, *rest)
    with pytest.raises(InvalidInput, match=r"^matrix .*R R\^T"):
        function(R + 1e-5, *rest)
    with pytest.raises(InvalidInput, match=r"^matrix .*R R\^T"):
        function(np.zeros((3, 3)), *rest)
    with pytest.raises(InvalidInput, match=r"^matrix is a reflection"):
        function(-R, *rest)
    with pytest.raises(InvalidInput, match=r"^matrix .*beyond 1"):
        function(1e200 * R, *rest)


def test_other_refusals():
    with pytest.raises(InvalidInput, match=r"^matrix is not skew"):
        rotation.vee(R)
    with pytest.raises(InvalidInput, match=r"half turn.*log_quaternion"):
        rotation.cayinv_quaternion((0, 1, 0, 0))
    with pytest.raises(InvalidInput, match=r"half turn.*log_matrix"):
        rotation.cayinv_matrix(np.diag([1.0, -1.0, -1.0]))
    with pytest.raises(InvalidInput, match=r"^axis contains a zero vector"):
        rotation.quaternion_from_axis_angle((0, 0, 0), 1.0)
    with pytest.raises(InvalidInput, match="units"):
        rotation.exp_quaternion((1e200, 0, 0))
    with pytest.raises(InvalidInput, match="from_xyzw"):
        rotation.from_scipy(Q)
    with pytest.raises(InvalidInput, match="zero quaternion"):
        rotation.to_scipy(np.zeros(4))
    with pytest.raises(InvalidInput, match=r"angles\[1\] = 0, of sequence 'ZXZ' is singular.*use euler_increment"):
        rotation.euler_rates((0.3, 0.0, 0.2), V, "ZXZ")
    with pytest.raises(InvalidInput, match=r"angles\[1\] = 1.5707963, of sequence 'xyz' is singular"):
        rotation.euler_rates((0.3, np.pi / 2, 0.2), V, "xyz")
    with pytest.raises(InvalidInput, match=r"angles\[1,0,1\] = -1.5707963, of sequence 'XYZ'"):
        rotation.euler_rates([[(0.3, 0.2, 0.2)], [(0.3, -np.pi / 2, 0.2)]], V)


@each("sequence", ["XYY", "xyZ", "zx", "", "abc", 3, None, ["XYZ"]])
def test_unknown_sequences_are_answered_with_known_ones(sequence):
    for call in (
        lambda: rotation.quaternion_from_euler(V, sequence),
        lambda: rotation.euler_from_quaternion(Q, sequence),
        lambda: rotation.euler_rates(V, V, sequence),
        lambda: rotation.angular_velocity_from_euler_rates(V, V, sequence),
    ):
        with pytest.raises(InvalidInput, match=r"unknown Euler sequence .*(did you mean|known)"):
            call()


# Without a compiler.

IN_PLAIN_PYTHON = """
import json
import numpy as np
from test_rotation import CASES
from polhode.algebra import rotation
results = {}
for name, arguments in CASES.items():
    result = getattr(rotation, name)(*arguments)
    parts = result if isinstance(result, tuple) else (result,)
    results[name] = np.concatenate([np.ravel(part) for part in parts]).tolist()
print(json.dumps(results))
"""


def test_plain_python_gives_the_same_numbers(forked):
    paths = [os.path.dirname(__file__), *filter(None, sys.path)]
    plain = forked(IN_PLAIN_PYTHON, NUMBA_DISABLE_JIT="1", PYTHONPATH=os.pathsep.join(paths))
    for name, arguments in CASES.items():
        compiled = np.concatenate([np.ravel(p) for p in parts(getattr(rotation, name)(*arguments))])
        np.testing.assert_allclose(plain[name], compiled, rtol=0, atol=2e-15)  # fused multiply-add rounds less often


def test_importing_compiles_nothing_and_leaves_scipy_alone(forked):
    loaded = forked("""
        import json, sys
        from polhode.algebra import rotation, vectorised
        print(json.dumps([vectorised.loop_for.cache_info().currsize, "scipy.spatial" in sys.modules]))
    """)
    assert loaded == [0, False]
