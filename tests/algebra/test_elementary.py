"""Elementary functions against 60 digits, in ulps: compiled, in lanes and in plain Python."""

import math

import mpmath as mp
import numpy as np

from each import each
from polhode.algebra import elementary
from polhode.kernel import jit
from polhode.kernel.signatures import A1, void
from polhode.kernel.simd import exponent_and_fraction, load8, store8, two_to

RNG = np.random.default_rng(5)
ENDS = np.array([0.0, 1e5, -1e5, 1e-300, 5e-324])
NEAR = np.array([float(mp.mpf(int(k)) * mp.pi / 2) for k in RNG.integers(1, 63600, 300)])
ANGLES = np.concatenate(
    [RNG.uniform(-r, r, 400) for r in (1.0, 10.0, 1e5)] + [NEAR, ENDS, 10.0 ** RNG.uniform(-300, 5, 100)]
)
EXPONENTS = np.concatenate([RNG.uniform(-r, r, 400) for r in (1e-8, 1.0, 20.0, 708.0)] + [[-708.3, 709.78, 0.0]])
POSITIVE = np.concatenate(
    [RNG.uniform(0, 2, 400), 1 + 10.0 ** RNG.uniform(-16, 0, 400), 10.0 ** RNG.uniform(-320, 308, 400)]
)
SINES = np.concatenate([RNG.uniform(-1, 1, 800), [1.0, -1.0, 0.0, 1e-200]])
SLOPES = np.concatenate([RNG.uniform(-1, 1, 800), 10.0 ** RNG.uniform(-200, 200, 400)])
CASES = {
    "sine": (mp.sin, 0.8, ANGLES), "cosine": (mp.cos, 0.8, ANGLES), "exponential": (mp.exp, 0.7, EXPONENTS),
    "logarithm": (mp.log, 0.8, POSITIVE), "arctangent": (mp.atan, 0.8, SLOPES), "arcsine": (mp.asin, 2.0, SINES),
    "arccosine": (mp.acos, 2.0, SINES),
}  # fmt: skip
Y, X = (
    RNG.normal(size=(2, 1200))
    * 10.0 ** RNG.integers(-130, 130, (2, 1200))
    * RNG.choice([0.0, 1.0], (2, 1200), p=(0.02, 0.98))
)
"""Points of all sizes, some on the axes."""


def ulps(found, exact):
    """Error in units of the last place of the exact value."""
    with mp.workprec(300):
        return float(abs(mp.mpf(float(found)) - exact) / mp.mpf(math.ulp(float(exact))))


def of_arrays(function, lanes=False):
    """The function compiled for arrays of a multiple of 8 numbers."""

    def one_by_one(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def eight_at_a_time(x, out):
        for i in range(0, x.size, 8):
            store8(jit.pointer(out), i, function(load8(jit.pointer(x), i)))

    return jit.compile_kernel(eight_at_a_time if lanes else one_by_one, void(A1, A1))


@each("name", CASES)
def test_error_compiled_and_in_python(name):
    exact, bound, xs = CASES[name]
    function = getattr(elementary, name)
    found = np.empty_like(xs)
    of_arrays(function)(xs, found)
    with mp.workprec(300), np.errstate(all="ignore"):
        right = [exact(mp.mpf(float(x))) for x in xs]
        assert max(map(ulps, found, right)) <= bound
        assert max(map(ulps, [function(float(x)) for x in xs[::5]], right[::5])) <= bound


def test_angle_of_points():
    def compiled(y, x, out):
        for i in range(x.size):
            out[i] = elementary.arctangent2(y[i], x[i])

    found = np.empty_like(X)
    jit.compile_kernel(compiled, void(A1, A1, A1))(Y, X, found)
    with mp.workprec(300):
        for y, x, a in zip(Y, X, found, strict=True):
            if y != 0.0 or x > 0.0:
                assert abs(a) < 1e-290 or ulps(a, mp.atan2(mp.mpf(float(y)), mp.mpf(float(x)))) <= 0.8
            else:
                assert a == math.atan2(y, x)


@each("y", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
@each("x", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
def test_angle_of_special_points(y, x):
    with np.errstate(all="ignore"):
        found, right = elementary.arctangent2(y, x), math.atan2(y, x)
    assert repr(float(found)) == repr(right)


def test_special_values():
    xs = np.array([math.inf, -math.inf, math.nan, 0.0, -1.0, 710.0, -746.0, 5e-324])
    found = np.empty((3, 8))
    for row, name in zip(found, ("exponential", "logarithm", "sine"), strict=True):
        of_arrays(getattr(elementary, name))(xs, row)
    np.testing.assert_array_equal(found[0], [math.inf, 0, math.nan, 1, math.exp(-1), math.inf, 0, 1])
    np.testing.assert_array_equal(found[1][:5], [math.inf, math.nan, math.nan, -math.inf, math.nan])
    assert found[1][7] == math.log(5e-324)
    assert np.isnan(found[2][:3]).all()


def test_beyond_the_largest_angle_it_is_the_library():
    xs = np.concatenate([10.0 ** RNG.uniform(5.01, 300, 16)])
    found = np.empty_like(xs)
    of_arrays(elementary.sine)(xs, found)
    np.testing.assert_array_max_ulp(found, np.array([math.sin(x) for x in xs]), 1)


def test_powers_of_two_and_exponents_in_lanes():
    n = np.array([-1022.0, -1.0, 0.0, 1.0, 52.0, 1023.0, -300.0, 7.0])
    found = np.empty(8)
    of_arrays(jit.inlined(lambda x: two_to(x)), lanes=True)(n, found)
    np.testing.assert_array_equal(found, 2.0**n)
    np.testing.assert_array_equal(two_to(n), 2.0**n)
    x = np.concatenate([1.5 * 2.0 ** n[:-1], [-3.0]])
    exponents, fractions = np.empty(8), np.empty(8)
    of_arrays(jit.inlined(lambda x: exponent_and_fraction(x)[0]), lanes=True)(x, exponents)
    of_arrays(jit.inlined(lambda x: exponent_and_fraction(x)[1]), lanes=True)(x, fractions)
    np.testing.assert_array_equal(exponents, [*n[:-1], 1.0])
    np.testing.assert_array_equal(fractions, 1.5)
