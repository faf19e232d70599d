"""The compiler of kernels: each construct against plain Python and against numba, and what it leaves to numba."""

from __future__ import annotations

import gc
import hashlib
import math
import os
import subprocess
import sys
from math import atan2, copysign, cos, exp, floor, frexp, hypot, inf, ldexp, nan, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import f8, i8, jit as jit_by_numba, types
from numba.core.codegen import CPUCodegen

import polhode
from machine_code import module
from polhode.flows import kick
from polhode.kernel import cache, calls, direct, jit, reach, source
from polhode.kernel.jit import apart, helper, inlined, integers, pointer, view
from polhode.kernel.machine import OPTIONS_OF_KERNELS as OPTIONS, Kernel
from polhode.kernel.signatures import EVENT
from polhode.methods import METHODS

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

X = (0.0, 1.0, -1.0, 0.3, -2.5, 7.25, 1e9)
K = (0, 1, -1, 2, 3, -7, 12)
TABLE = (2.0, -1.0, 0.5, 4.0)
A1, A2, I1 = f8[::1], f8[:, ::1], i8[::1]


class Pair(NamedTuple):
    first: object
    second: object


def by(compiler, function, signature):
    """The function compiled by "direct" or "numba"."""
    signature = jit.typed(signature)
    if compiler == "direct":
        return cache.kernel_of(direct.compiled(function, signature, OPTIONS), function)
    dispatcher = jit_by_numba(**OPTIONS)(function)
    dispatcher.compile(signature)
    return dispatcher


# ------------------------------------------------------------------ of two numbers and an integer
@helper
def half(x, up=False):
    if up:
        return 0.5 * x + 1.0
    return 0.5 * x


@inlined
def pair_of(x, y):
    return Pair(x + y, (x, y, 1))


@helper
def applied(function, x):
    return function(x) + function(2.0 * x)


@helper
def ackermann_of_small(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann_of_small(m - 1, 1)
    return ackermann_of_small(m - 1, ackermann_of_small(m, n - 1))


def arithmetic(x, y, k):
    return x * y - (x + 2) / 3 + -k * 0.5 + x**2 - 2 * k**3 + (x + 0.5) ** -2


def whole_numbers(x, y, k):
    return (k // 3) * 1000 + (k % 3) * 100 + (-k // 4) + (k << 2) + (k >> 1) + (k & 5) + (k | 8) + (k ^ 3) + ~k


def division_of_numbers(x, y, k):
    return x // (y + 10.5) + x % (y + 10.5) + x % -2.5


def comparisons(x, y, k):
    a = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != k) + 16 * (k >= x) + 32 * (0.0 < x < 1.0)
    return a + 64.0 * (k in (1, 2, 3)) + 128.0 * (k not in (1, 2))


def conditions(x, y, k):
    if x > 0.0 and (y > 0.0 or k > 0) and k != 2:
        return 1.0
    elif x < 0.0 or k:
        z = x if y < x else y
    else:
        z = k
    return z + (3 if x and y else 4)


def widening(x, y, k):
    total = 0
    for n in range(3):
        total += n * x
    count = 1
    if k > 1:
        count = 2.5
    return total + count


def unrelated_uses(x, y, k):
    a = 1
    for a in range(3):
        y += a
    a = (x, y)
    for c in (1.5, 2.5):
        a = (a[1] + c, a[0])
    c = Pair(a, k)
    return c.first[0] - c.second + c[0][1]


def loops(x, y, k):
    total = 0.0
    for i in range(10, -10, -3):
        if i == k:
            continue
        if i < -6:
            break
        for j in range(i):
            total += x * j
    n = 0
    while True:
        n += 1
        if n * n > 20:
            break
    while n > 2 and total < 1e3:
        n, total = n - 1, total + y
    return total + n


def tuples(x, y, k):
    p = pair_of(x, y)
    a, (b, c, one) = p
    q = (*p.second, k)
    total = len(q) + q[-1] + one
    for n in range(len(q)):
        total += q[n] * TABLE[n - 1]
    for weight in TABLE:
        total -= weight * a
    return total + b * c + TABLE[1:3][1] + max((*q[:2], x, 1.0))


def helpers(x, y, k):
    return applied(half, x) + half(y, True) + half(up=True, x=1.0) + ackermann_of_small(2, 3)


def functions(x, y, k):
    m, e = frexp(x + 3.25)
    return (
        sqrt(abs(x)) + cos(y) + atan2(x, y) + copysign(2.0, y) + hypot(x, 2.0) + floor(y) + ldexp(m, e - 2)
        + exp(-abs(x)) + np.sin(x) + math.tanh(y) + max(x, y, 0.5) + min(x, k) + int(y) + float(k) + abs(k)
        + 1.0 * math.isfinite(x / y if y != 0.0 else inf)
    )  # fmt: skip


def table_with_signs(x, y, k):
    weights, total = (+2.0, -1.0, +0.5), 0.0
    for n in range(3):
        total += weights[n] * x
    return total


def not_numbers(x, y, k):
    a = nan if k == 0 else x
    return 1.0 * (not a < 1.0) + 2.0 * (a != a) + max(a, 1.0) + min(2.0, a)


def numbers_tested(x, y, k):
    a = nan if k == 0 else inf if k == 1 else x
    return 1.0 * math.isnan(a) + 2.0 * math.isfinite(a)


def small_arrays(x, y, k):
    a, b = np.array((x, y, 1.0)), np.array([k, 2.0, y])
    c = -x * a + b / 2.0 - np.cross(a, b)
    if k > 1:
        c = c * np.abs(b)
    return c[0] + np.dot(c[1:], b[:2]) + a @ b + c[-1] * len(c) + np.linalg.norm(a) + np.sin(b)[1]


COMPARED = (
    arithmetic, whole_numbers, division_of_numbers, comparisons, conditions, widening, unrelated_uses, loops,
    helpers, functions, table_with_signs, not_numbers, numbers_tested,
)  # fmt: skip
CONSTRUCTS = (*COMPARED, tuples, small_arrays)
"""Numba has no index of a tuple of two types, and adds the products of ``@`` in another order."""


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("function", CONSTRUCTS, ids=lambda f: f.__name__)
def test_each_construct_does_what_python_does(function):
    compiled = by("direct", function, f8(f8, f8, i8))
    for x in X:
        for y in X:
            for k in K:
                wanted = float(function(x, y, k))
                assert compiled(x, y, k) == pytest.approx(wanted, rel=1e-13, abs=1e-300, nan_ok=True), (x, y, k)


@pytest.mark.parametrize(
    "function",
    [pytest.param(f, marks=() if f in (arithmetic, conditions) else pytest.mark.full) for f in COMPARED],
    ids=lambda f: f.__name__,
)
def test_both_compilers_agree_to_the_last_bit(function):
    direct_one, numba_one = (by(compiler, function, f8(f8, f8, i8)) for compiler in ("direct", "numba"))
    for x in X:
        for y in X:
            for k in K:
                assert same(direct_one(x, y, k), numba_one(x, y, k)), (x, y, k)


# ------------------------------------------------------------------ memory
def memory(a, b, n, out):
    p, q = pointer(a), integers(pointer(out))
    rows = b[1:3] if False else b
    for i in range(rows.shape[0]):
        last = rows[i]
        out[i] += last[-1] + rows[i, 0] + pointer(rows[i])[1]
        a[i], a[i + 1] = a[i + 1], p[i]
    n[-1] = rows.size + len(n) + out[1:].size
    v = view(p, 3)[1:]
    out[-1] -= v[0] + v[-1] * v.size
    q[0] = q[0]


def test_memory_is_read_and_written_as_in_numpy():
    compiled = by("direct", memory, types.void(A1, A2, I1, A1))
    arrays = [np.arange(5.0), np.arange(6.0).reshape(2, 3) ** 2, np.arange(3), np.linspace(1.0, 2.0, 4)]
    compiled(*arrays)
    assert arrays[0].tolist() == [1.0, 2.0, 0.0, 3.0, 4.0]
    assert arrays[2].tolist() == [0, 1, 6 + 3 + 3]
    assert arrays[3] == pytest.approx([1.0 + 4 + 0 + 1, 4.0 / 3 + 25 + 9 + 16, 5.0 / 3, 2.0 - 2.0])


def rows_behind(b, k, out):
    tail, none = b[k:], b[9:]
    for i in range(tail.shape[0]):
        out[i] = tail[i, 2] + 10.0 * tail[i][0]
    out[-1] = tail[-1:].size + none.shape[0] + 100.0 * tail.shape[1]


def test_rows_of_an_array_from_one_on_are_an_array():
    compiled, out = by("direct", rows_behind, types.void(A2, i8, A1)), np.zeros(4)
    compiled(np.arange(12.0).reshape(4, 3), 1, out)
    assert out.tolist() == [35.0, 68.0, 101.0, 303.0]
    compiled(np.arange(12.0).reshape(4, 3), -1, out)
    assert out.tolist() == [101.0, 68.0, 101.0, 303.0]


# ------------------------------------------------------------------ checked indices
def entry(numbers, k):
    pair = (numbers[k], numbers[k - 1])
    return pair[k] + TABLE[k]


def constant_entries(numbers, k):
    pair = (numbers[0], numbers[-1])
    return pair[1] + TABLE[-2] + numbers[1:][1] + numbers[2] * k


def of_three(function, **options):
    """A helper, with options, of the first three numbers of an array and an index, compiled here."""
    called = helper(function, **options)

    def kernel(a, k):
        return called(view(pointer(a), 3), k)

    return kernel


def test_checked_indices_outside_raise():
    numbers = np.array([1.0, 2.0, 3.0, 4.0])
    compiled = by("direct", of_three(entry, boundscheck=True), f8(A1, i8))
    for k in (0, 1, -1, -2):
        assert compiled(numbers, k) == entry(numbers[:3], k)
    for k in (2, 3, -3, -4, 1 << 60):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(numbers, k)


def test_checks_of_constant_indices_leave_nothing_behind():
    def instructions(function, **options):
        text = str(module(of_three(function, **options), f8(A1, i8)))
        return [line.count(" icmp ") + line.count(" br ") for line in text.splitlines()].count(1)

    assert instructions(constant_entries, boundscheck=True) == instructions(constant_entries)
    assert instructions(entry, boundscheck=True) > instructions(entry)


def first_of(a, b, k, x):
    return a[k, 0] + b[k] + x


def wrong_arguments():
    """Arguments of ``first_of`` that are not of its kinds."""
    a, b = np.ones((2, 3)), np.ones(2, dtype=np.int64)
    closed = np.ones((2, 3))
    closed.flags.writeable = False
    yield from ((other, b, 0, 1.0) for other in (None, 1.0, b, a[0], a.T, a[:, ::2], a.astype(">f8"), closed))
    yield from (
        (a, other, 0, 1.0)
        for other in (a[:, 0].copy(), np.arange(4)[::2], b.astype(np.int32), [1, 2], type(a), np.int64(1))
    )
    yield from ((a, b, *rest) for rest in ((0,), (0, 1.0, 2.0), (0.5, 1.0), (0, "x"), (None, 1.0), (0, a)))


def test_a_kernel_takes_nothing_but_its_kinds_of_arguments():
    kernel = by("direct", first_of, f8(A2, I1, i8, f8))
    a, b = np.arange(6.0).reshape(2, 3), np.array([10, 20])
    for k, x in ((1, 0.25), (np.int64(1), np.float64(0.25)), (True, 1)):
        assert kernel(a, b, k, x) == 3.0 + 20 + x
    for given in wrong_arguments():
        with pytest.raises(TypeError):
            kernel(*given)
    with pytest.raises(OverflowError):
        kernel(a, b, 1 << 70, 1.0)


# ------------------------------------------------------------------ roles, and failures in them
def times_two(k, t, N, y, bodies, parameters, table):
    return 2.0 * t + table[k]


def fails_above_one(k, t, N, y, bodies, parameters, table):
    if t > 1.0:
        raise ZeroDivisionError("t is above one")
    return t


def call_event(event, t, table):
    total = 0.0
    for k in range(2):
        total += inner_event(event, k, t, pointer(table))
    return total


@helper
def inner_event(event, k, t, table):
    return event(k, t, 1, table, table, table, table)


def test_roles_are_called_and_their_failures_passed_on():
    good, bad = (jit.compile_uncached(role, EVENT)[0] for role in (times_two, fails_above_one))
    assert isinstance(good, Kernel) and not isinstance(bad, Kernel)
    kernel = by("direct", call_event, f8(types.FunctionType(jit.typed(EVENT)), f8, A1))
    table = np.array([1.0, 10.0])
    assert kernel(good, 3.0, table) == 12.0 + 11.0
    assert kernel(bad, 0.5, table) == 1.0
    with pytest.raises(ZeroDivisionError, match="above one"):
        kernel(bad, 1.5, table)


# ------------------------------------------------------------------ what is left to numba
def allocates(x, y, k):
    return np.zeros(3)[k] + x


def raises(x, y, k):
    if x < 0.0:
        raise ValueError("negative")
    return x


def reads_before(x, y, k):
    for n in range(k):
        last = n
    return last + x


def lists(x, y, k):
    return sum([x, y])


def two_types(x, y, k):
    a = (x, y) if k else x
    return y if a else x


@pytest.mark.parametrize("function", [allocates, raises, lists, two_types], ids=lambda f: f.__name__)
def test_what_is_outside_is_refused_with_the_place(function):
    with pytest.raises(source.Unsupported, match=rf"{function.__name__}, line \d+"):
        by("direct", function, f8(f8, f8, i8))


def scaled_tuple(x, y, k):
    return (x * (y, x))[0]


def test_what_numba_refuses_too_is_not_given_to_it():
    kernel, reason = jit.compile_uncached(scaled_tuple, f8(f8, f8, i8))
    assert kernel is None and "a number and a tuple" in reason


def test_refused_functions_are_compiled_by_numba(monkeypatch):
    kernel = jit.compile_uncached(allocates, f8(f8, f8, i8))[0]
    assert not isinstance(kernel, Kernel)
    assert kernel(1.5, 0.0, 2) == 1.5
    monkeypatch.setattr(jit, "LEAVES", False)
    assert jit.compile_uncached(allocates, f8(f8, f8, i8))[0] is None


def test_source_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "laws.py"
    path.write_text("def law(x):\n    return 2.0 * x\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    path.write_text("def law(x):\n    return 3.0 * x\n")
    with pytest.raises(source.Unsupported, match="changed"):
        by("direct", names["law"], f8(f8))
    with pytest.raises(source.Unsupported, match="no source"):
        by("direct", eval("lambda x: x"), f8(f8))


def test_closures_and_lambdas():
    factor = 3.0

    def outer(x):
        return factor * x

    assert by("direct", outer, f8(f8))(2.0) == 6.0
    assert by("direct", lambda x: x + factor, f8(f8))(2.0) == 5.0


# ------------------------------------------------------------------ what LLVM is told
@apart
def rare(x):
    return 1.0 / (x * x + 1.0)


@helper
def plain(x):
    return x * x + 0.5


def calls_both(x, y, k):
    return plain(x) + (rare(y) if k > 100 else y)


def test_what_is_called_rarely_stays_apart():
    """A rare path inside of a kick had cost v2 13 %, and with dmv6 for its free rotation 16 %."""
    names = [one.name for one in module(calls_both, f8(f8, f8, i8)).functions if not one.is_declaration]
    assert any(name.startswith("rare") for name in names) and not any(name.startswith("plain") for name in names)
    assert by("direct", calls_both, f8(f8, f8, i8))(1.0, 2.0, 101) == 1.7
    for path in (kick.commutator_load, kick.collocated):
        assert calls.Options(path.targetoptions).apart and not calls.Options(kick.impulse.targetoptions).apart


@helper
def long_one(x):
    a, b, c = x * x, x + 1.0, x - 2.0
    for _ in range(3):
        a, b, c = a * b - c * x, b * c - a * x, c * a - b * x
        a, b, c = a / (b * b + 1.0), b / (c * c + 1.0), c / (a * a + 1.0)
        a, b, c = a * b - c * x, b * c - a * x, c * a - b * x
        a, b, c = a / (b * b + 1.0), b / (c * c + 1.0), c / (a * a + 1.0)
        a, b, c = a * b - c * x, b * c - a * x, c * a - b * x
    return a + b * c


@helper
def in_one_place(x):
    return long_one(x) + long_one(x + 1.0)


def outer(x):
    return 2.0 * in_one_place(x)


def test_what_is_called_in_one_place_or_short_is_copied_there():
    """And is taken once where what it calls is called elsewhere, too."""
    names = [one.name for one in module(outer, f8(f8)).functions if not one.is_declaration]
    assert any(name.startswith("long_one") for name in names)
    assert not any(name.startswith("in_one_place") for name in names)


def test_few_optimisations_are_made_unless_all_are_wanted(monkeypatch):
    asked, few = [], direct.few_passes
    monkeypatch.setattr(direct, "few_passes", lambda: asked.append(few()) or asked[-1])
    module(outer, f8(f8), thorough=True)
    assert not asked
    module(outer, f8(f8))
    monkeypatch.setattr(direct, "PASSES", ("no_such",))  # as in earlier versions of llvmlite
    module(outer, f8(f8))
    assert asked[0] is not None and asked[1:] == [None]


def test_other_ways_of_inlining_are_left_to_numba():
    with pytest.raises(source.Unsupported, match="other options"):
        calls.Options(dict(OPTIONS, inline="always"))


def test_code_is_optimised_once(monkeypatch):
    """Not function by function before it is as a whole; over lanes by LLVM's first level alone."""
    monkeypatch.setattr(CPUCodegen, "_function_pass_manager", None)
    done = []
    monkeypatch.setattr(CPUCodegen, "_module_pass_manager", None)
    options = direct.passes
    monkeypatch.setattr(direct, "passes", lambda level: done.append(level) or options(level))
    module(calls_both, f8(f8, f8, i8))
    module(calls_both, f8(f8, f8, i8), lanes=8, thorough=True)
    assert done == [3, 1]


def powers(x, y, k):
    total = 0.0
    for n in range(k):
        total = total * x + y / (x + n)
    return total


@pytest.mark.parametrize("on", [True, False])
def test_python_looks_for_unused_objects_behind_a_compilation_as_before(on):
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        by("direct", half.py_func, "f8(f8, b1)")
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


def test_loops_are_not_unrolled():
    """Unrolled by four, this one would have more divisions than the one that is written (and one more elsewhere)."""
    assert str(module(powers, f8(f8, f8, i8))).count("fdiv") <= 2


# ------------------------------------------------------------------ the kernels of this package
ALL = """
import sys, warnings
sys.path[:0] = {paths!r}
import test_quick as quick
from polhode.kernel import jit
jit.LEAVES = False
warnings.simplefilter("ignore")
for name in {systems}:
    quick.test_one_run_of_each_system_keeps_its_energy(name)
for name in {methods}:
    if "points" in quick.method(name).with_trials.prepare().needs:
        quick.end(quick.ORBIT, name, quick.FLIGHT, 8)
    else:
        quick.end(quick.TOP, name, quick.SPIN, 8)
"""


@pytest.mark.full
def test_every_kernel_of_every_system_and_family_is_compiled_directly(tmp_path):
    run(tmp_path, list(polhode.systems.SYSTEMS), [name for name, row in METHODS.items() if row.family != "splitting"])
    run(tmp_path, [], [name for name, row in METHODS.items() if "/" not in name])


def run(tmp_path, systems, methods):
    tests = Path(__file__).resolve().parent.parent
    paths = [str(tests), str(tests / "support"), str(tests / "oracles")]
    environment = os.environ | {"POLHODE_CACHE_DIR": str(tmp_path)}
    program = ALL.format(paths=paths, systems=systems, methods=methods)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_the_compilers_digest_knows_nothing_of_lines_at_which_classes_stand():
    """From Python 3.13 on the body of a class stores its first line, and in any order what its methods set."""

    def digest(line, step, attributes="('a', 'b')"):
        body = f"__firstlineno__ = {line}\n    __static_attributes__ = {attributes}\n    step = {step}\n"
        total = hashlib.sha256()
        reach._absorb(total, compile(f"class Unit:\n    {body}    def f(self): return {step}", "unit", "exec"))
        return total.hexdigest()

    assert digest(7, 1) == digest(300, 1) == digest(7, 1, "('b', 'a')")
    assert digest(7, 1) != digest(7, 2)
