"""Vectors of four or eight numbers (SIMD lanes) in kernels, for loops that LLVM does not vectorise by itself.

    s = fused(load4(a, k), load4(b, k), s)          s_i + a[k + i] b[k + i] for i = 0 ... 3
    r = fused(x, y, -x * y)                         of plain numbers: rounding error of the product x y
    x = four(1.0, 2.0, 3.0, 4.0)
    y = (x * x + 1.0) / roots(x)                    operators, with plain numbers too
    a, b, c, d = transposed(*eight_of_four)         the first of each, the second of each, and so on

A value is one 256-bit register for four numbers (two of 128 bits on processors without them), one of 512 bits or two of
256 for eight; it exists in kernels only. Without compilation it is an array. ``load8``, ``store8`` and ``spread8`` are
of eight numbers, ``four``, ``sum4`` and ``cycled`` of four only, ``eight``, ``low`` and ``high`` of both at once, all
others of either; ``fused``, ``product_error``, ``two_to`` and ``exponent_and_fraction`` are of plain numbers too.
Kernels may further use comparisons, ``where`` and the functions of numpy on lanes; those for which processors have no
instruction are called for each number (``exp``, ``sin``).

Each function stands here in plain Python, under what it is in kernels (``in_kernels``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.kernel.machine import has_avx512
from polhode.lazy import cgutils, ir, types

WIDTHS = (4, 8)
CONTRACT = ("contract",)
EIGHT_BYTES = 8
MANTISSA, BIAS = 52, 1023
"""Bits of the fraction of a number, and what is added to its exponent."""
WHOLE = 1.5 * 2.0**52
"""A number added to this is rounded to a whole one, which stands in the lowest bits."""
MODULE_CODE = sys._getframe().f_code
"""The code of this file, for the digest of every kernel that uses it (``reach``): its ``overload``s have no names."""


def vector(width):
    """The LLVM type of so many numbers."""
    return ir.VectorType(ir.DoubleType(), width)


# ------------------------------------------------------------------ vectors as LLVM writes them
def _place(builder, pointer, k, width):
    return builder.bitcast(builder.gep(pointer, [k]), vector(width).as_pointer())


def _loaded(width):
    return lambda builder, a, k: builder.load(_place(builder, a, k, width), align=EIGHT_BYTES)


def _stored(width):
    return lambda builder, a, k, x: builder.store(x, _place(builder, a, k, width), align=EIGHT_BYTES)


def parts_of(builder, lanes):
    """The numbers of a vector."""
    return [builder.extract_element(lanes, ir.Constant(ir.IntType(32), i)) for i in range(lanes.type.count)]


def joined(builder, numbers):
    """A vector of these numbers."""
    lanes = ir.Constant(ir.VectorType(numbers[0].type, len(numbers)), ir.Undefined)
    for i, x in enumerate(numbers):
        lanes = builder.insert_element(lanes, x, ir.Constant(ir.IntType(32), i))
    return lanes


def repeated(builder, x, width):
    """A number in so many lanes."""
    return joined(builder, [x] * width)


def each(builder, name, *lanes):
    """A function of LLVM by its name, such as "sqrt", on vectors."""
    kind = lanes[0].type
    function = ir.FunctionType(kind, [kind] * len(lanes))
    whole = f"llvm.{name}.v{kind.count}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, function, whole), lanes)


def _shuffled(builder, a, b, order):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), list(order)))


def _sum(builder, a):
    x = parts_of(builder, a)
    return builder.fadd(builder.fadd(x[0], x[1]), builder.fadd(x[2], x[3]))


def _picked(symbol):
    return lambda builder, a, b: builder.select(builder.fcmp_ordered(symbol, a, b), a, b)


def _up_to(builder, a, n):
    places, zeros = ir.Constant(_whole(a, 0)[0], list(range(a.type.count))), _numbers(a, 0.0)
    return builder.select(builder.icmp_signed("<", places, joined(builder, [n] * a.type.count)), a, zeros)


def _reciprocal_roots(builder, a):
    """From 14 bits by one step of fourth order where the processor has them, else by a root and a quotient."""
    if not _is_vector(a):
        return parts_of(builder, _reciprocal_roots(builder, repeated(builder, a, 4)))[0]
    if not has_avx512():
        return builder.fdiv(_numbers(a, 1.0), each(builder, "sqrt", a))
    name, mask = f"llvm.x86.avx512.rsqrt14.pd.{64 * a.type.count}", ir.IntType(8)
    function = ir.FunctionType(a.type, [a.type, a.type, mask])
    y = builder.call(cgutils.get_or_insert_function(builder.module, function, name), [a, a, mask(255)])
    error = each(builder, "fma", builder.fneg(builder.fmul(a, y)), y, _numbers(a, 1.0))
    series = each(builder, "fma", _numbers(a, 0.3125), error, _numbers(a, 0.375))
    series = each(builder, "fma", series, error, _numbers(a, 0.5))
    return each(builder, "fma", series, builder.fmul(y, error), y)


def _bits_below(builder, a, limit):
    bits = builder.fcmp_ordered("<", a, repeated(builder, limit, a.type.count))
    return builder.zext(builder.bitcast(bits, ir.IntType(a.type.count)), ir.IntType(64))


def _pick(builder, w, n, k, bits):
    """In one register where the processor can, else one number after the other."""
    i64, mask = ir.IntType(64), ir.VectorType(ir.IntType(1), 8)
    if has_avx512():
        x = _loaded(8)(builder, w, k)
        function = ir.FunctionType(x.type, [x.type, x.type, mask])
        whole = cgutils.get_or_insert_function(builder.module, function, "llvm.x86.avx512.mask.compress.v8f64")
        some = builder.bitcast(builder.trunc(bits, ir.IntType(8)), mask)
        _stored(8)(builder, w, n, builder.call(whole, [x, _numbers(x, 0.0), some]))
        return builder.ctpop(bits)
    at = n
    for j in range(8):
        builder.store(builder.load(builder.gep(w, [builder.add(k, i64(j))])), builder.gep(w, [at]))
        at = builder.add(at, builder.and_(builder.lshr(bits, i64(j)), i64(1)))
    return builder.sub(at, n)


def _transposed(builder, *a):
    sizes, a = (1, 2, 4)[: a[0].type.count // 4 + 1], list(a)
    if len(sizes) == 2:
        a = [_shuffled(builder, one, other, range(8)) for one, other in zip(a[:4], a[4:], strict=True)]
    for size in sizes:  # blocks beside the diagonal change places
        low = [k - size + 8 if k & size else k for k in range(8)]
        high = [k + 8 if k & size else k + size for k in range(8)]
        for k in range(len(a)):
            if not k & size:
                a[k], a[k + size] = (_shuffled(builder, a[k], a[k + size], order) for order in (low, high))
    return a


def _is_vector(x):
    return isinstance(x.type, ir.VectorType)


def _fma(builder, a, b, c):
    if _is_vector(a):
        return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)
    return builder.fma(a, b, c)


def _error(builder, a, b, product):
    less = builder.fneg(product)
    return each(builder, "fma", a, b, less) if _is_vector(a) else builder.fma(a, b, less)


def _whole(x, number):
    """The type of 64-bit integers for the bits of a number or a vector, and a constant of this type."""
    kind = ir.IntType(64)
    if not _is_vector(x):
        return kind, ir.Constant(kind, number)
    wide = ir.VectorType(kind, x.type.count)
    return wide, ir.Constant(wide, [number] * x.type.count)


def _numbers(x, number):
    """A constant of the type of a number or a vector."""
    return ir.Constant(x.type, [number] * x.type.count if _is_vector(x) else number)


def _power_of_two(builder, n):
    kind, places = _whole(n, MANTISSA)
    moved = builder.fadd(n, _numbers(n, WHOLE + BIAS))
    return builder.bitcast(builder.shl(builder.bitcast(moved, kind), places), n.type)


def _parted(builder, x):
    kind, places = _whole(x, MANTISSA)
    bits = builder.bitcast(x, kind)
    exponent = builder.and_(builder.lshr(bits, places), _whole(x, 2 * BIAS + 1)[1])
    two_to_52 = _whole(x, (BIAS + MANTISSA) << MANTISSA)[1]
    whole = builder.fsub(builder.bitcast(builder.or_(exponent, two_to_52), x.type), _numbers(x, 2.0**52 + BIAS))
    fraction = builder.and_(bits, _whole(x, (1 << MANTISSA) - 1)[1])
    return [whole, builder.bitcast(builder.or_(fraction, _whole(x, BIAS << MANTISSA)[1]), x.type)]


# ------------------------------------------------------------------ the functions
IN_KERNELS: dict[Callable[..., Any], tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""For each function, its signature and its code in kernels, which ``numba_lanes`` makes known to numba."""


def in_kernels(typed, write):
    """Decorator: ``typed(lanes, *kinds)`` is the function's signature in kernels, where ``lanes(width)`` is the type of
    so many numbers; ``write(builder, *arguments)`` writes it."""

    def kept(function):
        IN_KERNELS[function] = typed, write
        return function

    return kept


def _alike(lanes, *kinds):
    """The signature of a function whose result has the type of its first argument."""
    return kinds[0](*kinds)


def aligned(size: int, make: Callable[[int], Any] = np.zeros) -> Any:
    """Zeros from a multiple of 64 bytes on, where lanes of numbers are loaded at once."""
    whole = make(size + 7)
    first = -(whole.ctypes.data // 8) % 8
    return whole[first : first + size]


@in_kernels(lambda lanes, a, k: lanes(4)(a, types.intp), _loaded(4))
def load4(a, k):
    """Load the numbers a[k] ... a[k + 3]."""
    return np.array(a[k : k + 4])


@in_kernels(lambda lanes, a, k, x: types.void(a, types.intp, x), _stored(4))
def store4(a, k, x):
    """Store four numbers to a[k] ... a[k + 3]."""
    a[k : k + 4] = x


@in_kernels(lambda lanes, a, k: lanes(8)(a, types.intp), _loaded(8))
def load8(a, k):
    """Load the numbers a[k] ... a[k + 7]."""
    return np.array(a[k : k + 8])


@in_kernels(lambda lanes, a, k, x: types.void(a, types.intp, x), _stored(8))
def store8(a, k, x):
    """Store eight numbers to a[k] ... a[k + 7]."""
    a[k : k + 8] = x


@in_kernels(lambda lanes, x: lanes(4)(types.f8), lambda builder, x: repeated(builder, x, 4))
def spread(x):
    """One number in all four lanes."""
    return np.full(4, x)


@in_kernels(lambda lanes, x: lanes(8)(types.f8), lambda builder, x: repeated(builder, x, 8))
def spread8(x):
    """One number in all eight lanes."""
    return np.full(8, x)


@in_kernels(lambda lanes, *kinds: lanes(4)(*[types.f8] * 4), lambda builder, *numbers: joined(builder, numbers))
def four(a, b, c, d):
    """A vector of these four numbers."""
    return np.array((a, b, c, d))


@in_kernels(lambda lanes, a, b, c: a(a, b, c) if hasattr(a, "width") else types.f8(*[types.f8] * 3), _fma)
def fused(a, b, c):
    """a b + c; for plain numbers in kernels rounded once, in Python twice."""
    return a * b + c


@in_kernels(_alike, _error)
def product_error(a, b, product):
    """a b - product, exact where ``product`` is a b rounded."""
    x, y = 134217729.0 * a, 134217729.0 * b
    x, y = x - (x - a), y - (y - b)
    u, v = a - x, b - y
    return u * v - (((product - x * y) - u * y) - x * v)


@in_kernels(_alike, _power_of_two)
def two_to(n):
    """2^n of a whole number -1022 <= n <= 1023, which is a float; of any other number anything."""
    return np.ldexp(1.0, np.nan_to_num(n).astype(np.int64))


@in_kernels(lambda lanes, x: types.UniTuple(x, 2)(x), _parted)
def exponent_and_fraction(x):
    """The whole number e and m with |x| = m 2^e, 1 <= m < 2, as floats; of 0 and what is not finite anything."""
    m, e = np.frexp(np.abs(x))
    return e - 1.0, 2.0 * m


@in_kernels(lambda lanes, a: types.f8(lanes(4)), _sum)
def sum4(a):
    """Sum of the four numbers."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


@in_kernels(_alike, lambda builder, a: each(builder, "sqrt", a))
def roots(a):
    """Square roots."""
    return np.sqrt(a)


@in_kernels(_alike, _picked("<"))
def lesser(a, b):
    """Minimum, lane by lane."""
    return np.where(a < b, a, b)


@in_kernels(_alike, _picked(">"))
def greater(a, b):
    """Maximum, lane by lane."""
    return np.where(a > b, a, b)


@in_kernels(lambda lanes, a, limit: types.int64(a, types.f8), _bits_below)
def below(a, limit):
    """An integer whose bit i is set where lane i is below the limit."""
    return sum(int(x < limit) << i for i, x in enumerate(a))


@in_kernels(lambda lanes, w, n, k, bits: types.int64(w, types.intp, types.intp, types.int64), _pick)
def pick(w, n, k, bits):
    """Copy those of the integers w[k] ... w[k + 7] whose bits are set to w[n:], where eight have room; how many."""
    some = [w[k + i] for i in range(8) if bits >> i & 1]
    w[n : n + len(some)] = some
    return len(some)


@in_kernels(_alike, lambda builder, a: each(builder, "rint", a))
def rounded(a):
    """Nearest integers, halves to even."""
    return np.rint(a)


@in_kernels(lambda lanes, a, n: a(a, types.intp), _up_to)
def up_to(a, n):
    """The first n numbers, the others zero."""
    return np.where(np.arange(len(a)) < n, a, 0.0)


@in_kernels(lambda lanes, *kinds: types.UniTuple(lanes(8), kinds[0].width)(*kinds), _transposed)
def transposed(*a):
    """The columns of eight rows of four or eight."""
    return tuple(np.array(a).T)


@in_kernels(_alike, _reciprocal_roots)
def reciprocal_roots(a):
    """Reciprocals of square roots, right to about two units in the last place; nan of 0 and infinity."""
    return 1.0 / np.sqrt(a)


@in_kernels(_alike, lambda builder, a: _shuffled(builder, a, a, [1, 2, 0, 3]))
def cycled(a):
    """The four numbers a[1], a[2], a[0], a[3]: the cyclic permutation of a vector."""
    return np.array((a[1], a[2], a[0], a[3]))


@in_kernels(lambda lanes, a, b: lanes(8)(a, b), lambda builder, a, b: _shuffled(builder, a, b, range(8)))
def eight(a, b):
    """Eight numbers: four and four."""
    return np.concatenate((a, b))


@in_kernels(lambda lanes, a: lanes(4)(a), lambda builder, a: _shuffled(builder, a, a, range(4)))
def low(a):
    """The first four of eight numbers."""
    return a[:4]


@in_kernels(lambda lanes, a: lanes(4)(a), lambda builder, a: _shuffled(builder, a, a, range(4, 8)))
def high(a):
    """The last four of eight numbers."""
    return a[4:]
