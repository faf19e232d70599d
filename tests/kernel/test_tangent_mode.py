"""Kernels with derivatives: every function's rule against differences in 40 digits, memory, branches, refusals."""

from __future__ import annotations

import math
import os

import mpmath
import numpy as np
import pytest

from polhode.flows import free_rotation, tangent_rules
from polhode.kernel import jit
from polhode.kernel.jit import numbers_at
from polhode.kernel.signatures import I1, i8
from polhode.kernel.simd import reciprocal_roots
from polhode.kernel.source import Unsupported
from polhode.kernel.tangent_mode import active, chunks, padded, plain, with_derivatives

differentiated = jit.hole("differentiated(x, y) -> float", "What is differentiated.")
ENTRY = i8(I1)


def at_two_numbers(addresses):
    """Writes the function of two active numbers, with derivatives, behind them."""
    x = active(numbers_at(addresses, 2), numbers_at(addresses, 3))
    x[2] = differentiated(x[0], x[1])
    return 0


def derivatives(function, a, b, directions=3):
    """Value, and derivatives along directions with seeds (1, 0), (0, 1) and (1, -2)."""
    numbers, slopes = np.array([a, b, 0.0]), np.zeros((3, padded(directions)))
    slopes[0, :3], slopes[1, :3] = (1.0, 0.0, 1.0), (0.0, 1.0, -2.0)
    kernel = jit.compile_kernel(jit.bind(at_two_numbers, differentiated=function), ENTRY, directions=directions)
    kernel(np.array([0, 0, numbers.ctypes.data, slopes.ctypes.data], dtype=np.int64))
    return numbers[2], slopes[2, :3]


def products_of(x, y):
    return x * y - 3.0 * x / y + y


def powers_of(x, y):
    return x**3 + y**-2 + x**2.5 + y**x


def no_powers_of(x, y):
    return x**0 + y**1


def roots_of(x, y):
    return math.sqrt(x * y)


def reciprocal_roots_of(x, y):
    return reciprocal_roots(x * y)


def circular_of(x, y):
    return math.sin(x) * math.cos(y) + math.tan(x)


def arcs_of(x, y):
    return math.asin(x / 3.0) + math.acos(y / 3.0) + math.atan(x)


def atan2_of(x, y):
    return math.atan2(x, -y)


def hyperbolic_of(x, y):
    return math.sinh(x) * math.cosh(y) - math.tanh(x)


def areas_of(x, y):
    return math.asinh(x) + math.acosh(1.0 + y) + math.atanh(0.25 * x)


def exponentials_of(x, y):
    return math.exp(x) * math.log(y) + math.expm1(y) + math.log1p(x)


def logarithms_of(x, y):
    return math.log2(x) + math.log10(y)


def errors_of(x, y):
    return math.erf(x) + math.erfc(y)


def sizes_of(x, y):
    return abs(-x) + math.hypot(x, y) + math.copysign(x, -y)


def pow_of(x, y):
    return math.pow(x, y)


def least_of(x, y):
    return min(x, y) + 2.0 * max(x, y, 0.5)


def where_of(x, y):
    return np.where(x < y, x * x, y)


def whole_of(x, y):
    return math.floor(x) * y + int(y) * x + x % 0.25


KERNELS = {
    "products": products_of,
    "powers": powers_of,
    "no powers": no_powers_of,
    "roots": roots_of,
    "reciprocal roots": reciprocal_roots_of,
    "circular": circular_of,
    "arcs": arcs_of,
    "atan2": atan2_of,
    "hyperbolic": hyperbolic_of,
    "areas": areas_of,
    "exponentials": exponentials_of,
    "logarithms": logarithms_of,
    "errors": errors_of,
    "sizes": sizes_of,
    "pow": pow_of,
    "least": least_of,
    "where": where_of,
    "whole": whole_of,
}
EXACT = {
    "products": lambda x, y: x * y - 3 * x / y + y,
    "powers": lambda x, y: x**3 + y**-2 + x**2.5 + y**x,
    "no powers": lambda x, y: 1 + y,
    "roots": lambda x, y: mpmath.sqrt(x * y),
    "reciprocal roots": lambda x, y: 1 / mpmath.sqrt(x * y),
    "circular": lambda x, y: mpmath.sin(x) * mpmath.cos(y) + mpmath.tan(x),
    "arcs": lambda x, y: mpmath.asin(x / 3) + mpmath.acos(y / 3) + mpmath.atan(x),
    "atan2": lambda x, y: mpmath.atan2(x, -y),
    "hyperbolic": lambda x, y: mpmath.sinh(x) * mpmath.cosh(y) - mpmath.tanh(x),
    "areas": lambda x, y: mpmath.asinh(x) + mpmath.acosh(1 + y) + mpmath.atanh(x / 4),
    "exponentials": lambda x, y: mpmath.exp(x) * mpmath.log(y) + mpmath.expm1(y) + mpmath.log1p(x),
    "logarithms": lambda x, y: mpmath.log(x, 2) + mpmath.log10(y),
    "errors": lambda x, y: mpmath.erf(x) + mpmath.erfc(y),
    "sizes": lambda x, y: x + mpmath.hypot(x, y) - x,
    "pow": lambda x, y: x**y,
    "least": lambda x, y: x + 2 * y,
    "where": lambda x, y: x * x,
    "whole": lambda x, y: x + (x - mpmath.mpf(1) / 2),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_function_has_the_derivative_of_differences_in_forty_digits(name):
    function, exact = KERNELS[name], EXACT[name]
    a, b = 0.65, 1.35
    value, slopes = derivatives(jit.inlined(function), a, b)
    with mpmath.workdps(40):
        x, y, d = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(10) ** -18
        by_x = (exact(x + d, y) - exact(x - d, y)) / (2 * d)
        by_y = (exact(x, y + d) - exact(x, y - d)) / (2 * d)
        expected = [float(v) for v in (by_x, by_y, by_x - 2 * by_y)]
        assert value == pytest.approx(float(exact(x, y)), rel=4e-16)
    assert slopes == pytest.approx(expected, rel=2e-15, abs=1e-15)


def test_a_branch_is_that_of_the_number_and_a_loop_differentiates_each_round():
    @jit.inlined
    def function(x, y):
        total = x
        for _ in range(3):
            total = total * y if total < 5.0 else total - x
        return total

    value, slopes = derivatives(function, 1.5, 2.0)  # 3, 6, 4.5
    assert value == 4.5
    assert slopes[:2] == pytest.approx([4.0 - 1.0, 1.5 * 2 * 2.0])


def test_a_root_of_zero_and_the_size_of_zero_count_as_constant():
    value, slopes = derivatives(jit.inlined(lambda x, y: math.sqrt(x * x) + abs(x) + math.hypot(x, x)), 0.0, 1.0)
    assert value == 0.0 and not slopes.any()


def test_derivatives_may_be_stated():
    @jit.inlined
    def function(x, y):
        return with_derivatives(plain(x) * plain(y), (plain(y), x), (plain(x), y))

    value, slopes = derivatives(function, 3.0, 5.0)
    assert value == 15.0 and slopes == pytest.approx([5.0, 3.0, -1.0])


@pytest.mark.parametrize("directions", [1, 2, 3, 6, 8, 9, 12, 17])
def test_directions_are_kept_in_vectors(directions):
    assert padded(directions) >= directions and sum(chunks(directions)) == padded(directions)
    numbers, slopes = np.array([2.0, 3.0, 0.0]), np.zeros((3, padded(directions)))
    slopes[0], slopes[1] = np.arange(padded(directions)), 1.0
    template = jit.bind(at_two_numbers, differentiated=jit.inlined(lambda x, y: x * y))
    kernel = jit.compile_kernel(template, ENTRY, directions=directions)
    kernel(np.array([0, 0, numbers.ctypes.data, slopes.ctypes.data], dtype=np.int64))
    assert slopes[2] == pytest.approx(3.0 * np.arange(padded(directions)) + 2.0)


def test_what_has_no_derivative_is_refused_by_name():
    with pytest.raises(Unsupported, match="gamma"):
        derivatives(jit.inlined(lambda x, y: math.gamma(x)), 1.0, 2.0)


# ------------------------------------------------------------------ objects of their own
SHARING = """
import json

import numpy as np

from polhode.kernel import jit, tangent_mode
from polhode.kernel.signatures import I1, i8
from polhode.kernel.tangent_mode import active, derivative_rules, padded


@jit.helper
def shared(x, y):
    return x * x * y, x - y


RULES, APART = (), (shared,)


def first(addresses):
    derivative_rules(RULES, APART)
    x = active(jit.numbers_at(addresses, 2), jit.numbers_at(addresses, 3))
    x[2] = shared(x[0], x[1])[0]
    return 0


def second(addresses):
    derivative_rules(RULES, APART)
    x = active(jit.numbers_at(addresses, 2), jit.numbers_at(addresses, 3))
    x[2] = 2.0 * shared(x[0], x[1])[0] + shared(x[0], x[1])[1]
    return 0


def both():
    for entry in (first, second):
        numbers, slopes = np.array([3.0, 5.0, 0.0]), np.zeros((3, padded(2)))
        slopes[0, 0] = slopes[1, 1] = 1.0
        kernel = jit.compile_kernel(entry, i8(I1), directions=2)
        kernel(np.array([0, 0, numbers.ctypes.data, slopes.ctypes.data], dtype=np.int64))
        yield [numbers[2], *slopes[2, :2]]


compiled, old = [], tangent_mode.TangentUnit.__init__


def noted(self, context, typing, module, *rest):
    compiled.append(module.name.startswith("polhode_object_"))
    old(self, context, typing, module, *rest)


tangent_mode.TangentUnit.__init__ = noted
found = [*both()]
print(json.dumps([compiled, found]))
"""


def test_kernels_share_what_is_an_object_of_its_own(forked, tmp_path):
    """It is compiled once; a kernel whose object is no longer there is compiled anew."""
    (tmp_path / "sharing.py").write_text(SHARING)

    def ask():
        return forked("import sharing", PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
                      POLHODE_CACHE_DIR=str(tmp_path / "kernels"))  # fmt: skip

    assert free_rotation.increment in tangent_rules.APART
    compiled, found = ask()
    assert compiled == [False, True, False]  # the first kernel, within it the object, the second kernel
    assert found == [[45.0, 30.0, 9.0], [88.0, 61.0, 17.0]]
    (kept,) = tmp_path.rglob("polhode_object_*.kernel")
    assert ask() == [[], found]
    kept.unlink()
    assert ask() == [compiled[:2], found]
    assert kept.exists()
