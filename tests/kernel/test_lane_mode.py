"""Kernels over lanes: each construct gives every lane what it gives a plain number, whatever the other lanes do."""

from __future__ import annotations

import re
from math import acos, asin, atan2, ceil, cos, exp, floor, frexp, isnan, log, nan, sin, sqrt
from typing import NamedTuple

import numpy as np
import pytest

from cover import crossed
from polhode.algebra import elementary
from polhode.kernel import direct, jit
from polhode.kernel.jit import helper, hole, inlined, numbers_at
from polhode.kernel.lane_mode import as_lanes, lane_numbers, replaced, shared_info, shifted, some_lane
from polhode.kernel.signatures import A1, I1, i8, void
from polhode.kernel.simd import exponent_and_fraction, four, fused, product_error, roots, sum4
from polhode.kernel.source import Unsupported

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")


class Pair(NamedTuple):
    first: float
    second: float


f = hole("f(x, y) -> number")
FUNCTIONS = hole("FUNCTIONS")
WIDTH = hole("WIDTH")
RNG = np.random.default_rng(11)
X = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, 7.25, -3.0, 100.0], RNG.normal(size=56) * 3])
Y = np.concatenate([[1.0, 0.0, 0.0, 2.0, -1.0, 3.0, 0.25, -7.0], RNG.normal(size=56) * 3])
TABLE = (2.0, -1.0, 0.5, 4.0)
GUARDED = ((8, 1.0),)


def one_by_one(x, y, out):
    for i in range(x.size):
        out[i] = f(x[i], y[i])


def over_lanes(x, y, out):
    replaced(FUNCTIONS)
    for group in range(x.size // WIDTH):
        i = lane_numbers() + WIDTH * group
        out[i] = f(x[i], y[i])


def both(function, width=8, functions=()):
    """What a function of two numbers gives one by one, and over lanes."""
    plain, wide = np.empty_like(X), np.full(X.size, nan)
    jit.compile_kernel(jit.bind(one_by_one, f=function), SIGNATURE)(X, Y, plain)
    kernel = jit.bind(over_lanes, f=function, FUNCTIONS=functions, WIDTH=width)
    jit.compile_kernel(kernel, SIGNATURE, lanes=width)(X, Y, wide)
    return plain, wide


SIGNATURE = void(A1, A1, A1)


# ------------------------------------------------------------------ functions of two numbers
def arithmetic(x, y):
    return -x * y + x / (y * y + 1.0) - x**3 + (x * x + 1.0) ** -2 + 2.5 * abs(y)


def chosen(x, y):
    return x if x > y else (y + 1.0 if y > 0.0 else -y)


def conditions(x, y):
    if x > 0.0 and not y > x:
        return 1.0
    if x < -1.0 or (y < -1.0 and x != y):
        return 2.0
    return 3.0 if 0.0 <= x <= 1.0 or x in (-1.0, 7.25) else 4.0


def joined(x, y):
    a, b = 0.0, x
    if y > 0.0:
        a = x * y
        if x > 1.0:
            b = a + 1.0
        else:
            a = -a
    else:
        b = y
    a += 2.0 * b
    return a - b


def early(x, y):
    if x > 2.0:
        return x
    z = x + y
    if z > 0.0:
        z = z * z
        if z > 4.0:
            return -z
    else:
        return z - 1.0
    return z + 10.0


def counted(x, y):
    s = 0.0
    for k in range(int(abs(x)) + 1):
        if k == 3 and y > 0.0:
            continue
        s += y * k
        if s > 5.0:
            break
    return s


def until(x, y):
    n, z = 0, abs(x)
    while z > 0.1:
        z = 0.5 * z
        n += 1
        if n > 5 and y > 0.0:
            break
    return z + n


def endless(x, y):
    z = x
    while True:
        z = 0.5 * z + 1.0
        if abs(z - 2.0) < 0.5:
            return z


def searched(x, y):
    for k in range(4):
        if TABLE[k] > x:
            return TABLE[k] + k
        if y > 3.0:
            return -1.0
    return 0.0


def whole(x, y):
    n, m = int(x), floor(y)
    return (
        (n // 3) * 100
        + n % 3
        + (n & 3)
        - (m << 1)
        + ceil(y)
        + min(n, m)
        + max(n, 2)
        + TABLE[n & 3]
        + TABLE[-1 - (m & 1)]
    )


def special(x, y):
    z = nan if x > 1.0 else x
    return (
        (1.0 if isnan(z) else 0.0) + np.where(y > 0.0, x, y) + float(x > y) + frexp(x)[1] + min(x, y, 0.5) + np.floor(y)
    )


def of_arrays(x, y):
    v = np.array([x, y, 1.0])
    return (
        np.dot(v, np.cross(v, np.array((0.0, 1.0, x))))
        + np.linalg.norm(v)
        + float(sum4(roots(four(1.0, 2.0, x * x, 4.0))))
    )


def of_simd(x, y):
    p = x * y
    return fused(x, y, -p) + product_error(x, y, p) + (exponent_and_fraction(y)[0] if y != 0.0 else 0.0)


@helper
def rooted(x, limit):
    n = 0
    while x > limit:
        x = sqrt(x)
        n += 1
    return x, n


@inlined
def kept(x):
    if x > 1.0:
        return x, (1, x)
    return -x, (0, x)


def helped(x, y):
    if x > 0.0:
        a, n = rooted(x + 1.0, 1.5)
        b, (m, c) = kept(y)
        return a + n + b + m + c
    return rooted(3.0, 1.5)[0] + (rooted(y, 2.0)[0] if y > 2.0 else 0.0)


@helper
def halved(x, y):
    if x < 1.0:
        z, n = x + y, 0
    else:
        z, n = halved(0.5 * x, y)
    return 0.5 * z, n + 1


def recursive(x, y):
    z, n = halved(x, y)
    return z + n + (halved(y, x)[1] if y < 0.5 else 0)


@helper
def recursive_choice(x, y):
    return x if x < 1.0 else recursive_choice(0.5 * x, y)


EXACT = [
    arithmetic, chosen, conditions, joined, early, counted, until, endless, searched, whole, special, of_arrays,
    of_simd, helped, recursive,
]  # fmt: skip


@pytest.mark.parametrize(("function", "width"), crossed(EXACT, [4, 16]))
def test_lanes_are_plain_numbers(function, width):
    plain, wide = both(function, width)
    np.testing.assert_array_equal(wide, plain)


def of_library(x, y):
    z = 1.0 / (1.0 + x * x)
    return sin(x) + cos(y) + exp(z) + log(z) + atan2(x, y) + asin(z) - acos(z)


@helper
def halvings(x):
    count = 0.0
    while x > 1.0:
        x, count = 0.5 * x, count + 1.0
    return count


def halvings_of_some(x, y):
    if y > 0.0:
        return halvings(x)
    return 0.0


def test_no_function_is_written_that_is_not_called(monkeypatch):
    """What only some of the lanes call is not written for all of them before."""
    texts, optimised = list[str](), direct.optimised_module
    monkeypatch.setattr(direct, "optimised_module", lambda *it: optimised(it[0], texts.append(str(it[1])) or it[1]))
    kernel = jit.bind(over_lanes, f=halvings_of_some, FUNCTIONS=(), WIDTH=8)
    direct.compiled(kernel, jit.typed(SIGNATURE), jit.OPTIONS_OF_KERNELS, lanes=8)
    names = re.findall(r"define internal [^@]*@(\S+?)\(", texts[0])
    assert any("halvings" in name for name in names)
    assert [name for name in names if not re.search(rf"call [^@]*@{name}\(", texts[0])] == []
    np.testing.assert_array_equal(*both(halvings_of_some))


def test_functions_are_called_for_each_lane_or_replaced():
    plain, wide = both(of_library)
    np.testing.assert_array_equal(wide, plain)
    pairs = ((sin, elementary.near_sine), (cos, elementary.near_cosine), (atan2, elementary.arctangent2))
    plain, wide = both(of_library, functions=pairs)
    np.testing.assert_allclose(wide, plain, rtol=1e-15, atol=2e-15)


# ------------------------------------------------------------------ memory
@helper
def entered(y, k, x):
    """Set a number of some members only, through a function."""
    if x > 0.0:
        y[k] = x
        y[k + 1] += 10.0


def memory_over_lanes(addresses):
    y = as_lanes(numbers_at(addresses, 0))
    member = lane_numbers()
    x = numbers_at(addresses, 1)[member]
    for j in range(4):
        y[j] = 0.5
    if x < 2.0:
        entered(y, 0, x)
        shifted(y, 2)[0] = x
    y[3] += y[member % 3]
    info = shared_info(numbers_at(addresses, 2), shifted(y, 4), GUARDED)
    info[0] = 0.0  # iterations, of each lane
    if x < 2.0:
        info[0] += 1.0
    info[5] += 1.0  # evaluations, which nothing reads
    info[6] = 3.0 if info[8] == 1.0 and info[5] == 0.0 else 0.0
    if some_lane(x > 1e9):
        info[6] = 0.0
    return 0


def aligned(size):
    whole = np.zeros(size + 8)
    first = -(whole.ctypes.data // 8) % 8
    return whole[first : first + size]


def test_memory_over_lanes():
    y, info = aligned(5 * 8), np.zeros(22)
    x = np.array([1.0, -1.0, 3.0, 0.5, 0.0, 1.5, -2.0, 5.0])
    addresses = np.array([a.ctypes.data for a in (y, x, info)])
    jit.compile_kernel(memory_over_lanes, i8(I1), lanes=8)(addresses)
    inside, small = (x > 0.0) & (x < 2.0), x < 2.0
    right = np.full((5, 8), 0.5)
    right[0, inside] = x[inside]
    right[1, inside] += 10.0
    right[2, small] = x[small]
    right[3] += right[np.arange(8) % 3, np.arange(8)]
    right[4] = small
    np.testing.assert_array_equal(y.reshape(5, 8), right)
    assert info.tolist() == [3.0 if k == 6 else 0.0 for k in range(22)]


@helper
def shared_by_some(numbers, x):
    if x > 0.0:
        numbers[0] = 1.0


def to_shared_memory(addresses):
    shared_by_some(numbers_at(addresses, 0), numbers_at(addresses, 0)[lane_numbers()])
    return 0


def wide_to_shared_memory(addresses):
    numbers_at(addresses, 0)[0] = numbers_at(addresses, 0)[lane_numbers()]
    return 0


@pytest.mark.parametrize(
    ("function", "told"),
    [(to_shared_memory, "memory that all lanes share is set by some of them"),
     (wide_to_shared_memory, "differs from lane to lane, where all lanes share one")],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_its_place(function, told):
    with pytest.raises(Unsupported, match=rf"{told}.*\(\w+, line \d+\)"):
        jit.compile_kernel(function, i8(I1), lanes=8)


def test_recursion_where_both_are_computed_is_refused():
    with pytest.raises(Unsupported, match="calls itself without an if statement"):
        both(recursive_choice)


# ------------------------------------------------------------------ objects of their own
@helper
def shared_by_kernels(x, pair):
    if x > 0.0:
        return x * pair[0], pair[1] - sin(x)
    return pair[1], 2.0 * x


def one_call(x, y, out):
    replaced(FUNCTIONS)
    for group in range(x.size // 8):
        i = lane_numbers() + 8 * group
        out[i] = 0.5
        if y[i] > 0.0:
            out[i] = shared_by_kernels(x[i], (y[i], 3.0))[0]


def two_calls(x, y, out):
    replaced(FUNCTIONS)
    for group in range(x.size // 8):
        i = lane_numbers() + 8 * group
        pair = Pair(x[i], 3.0)
        out[i] = shared_by_kernels(x[i], (y[i], 3.0))[1] + shared_by_kernels(y[i], pair)[0]


def test_kernels_over_lanes_share_what_is_an_object_of_its_own(monkeypatch, tmp_path):
    """It is compiled once, with what is replaced in it, and called for the lanes at hand."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    made, old = [], direct.object_made
    monkeypatch.setattr(direct, "object_made", lambda name, make: old(name, lambda: made.append(name) or make()))

    def ask(entry, function):
        out, kernel = np.empty_like(X), jit.bind(entry, FUNCTIONS=((sin, function), (shared_by_kernels,) * 2))
        jit.compile_kernel(kernel, SIGNATURE, lanes=8)(X, Y, out)
        return out

    first = ask(one_call, elementary.near_sine)
    assert np.array_equal(first, np.where(Y > 0.0, np.where(X > 0.0, X * Y, 3.0), 0.5))
    second = ask(two_calls, elementary.near_sine)
    assert second == pytest.approx(
        np.where(X > 0.0, 3.0 - np.sin(X), 2.0 * X) + np.where(Y > 0.0, X * Y, 3.0), abs=1e-14
    )
    assert len(made) == 1
    third = ask(two_calls, elementary.near_cosine)
    assert len(made) == 2 and third[2] == pytest.approx(3.0 - cos(1.0) + 3.0)
