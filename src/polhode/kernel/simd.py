"""Vectors of four or eight numbers (SIMD lanes) in kernels, for loops that LLVM does not vectorise by itself.

    s = fused(load4(a, k), load4(b, k), s)          s_i + a[k + i] b[k + i] for i = 0 ... 3
    r = fused(x, y, -x * y)                         of plain numbers: rounding error of the product x y
    x = four(1.0, 2.0, 3.0, 4.0)
    y = (x * x + 1.0) / roots(x)                    operators, with plain numbers too
    a, b, c, d = transposed(a, b, c, d)             the first of each, the second of each, and so on

A value is one 256-bit register for four numbers (two of 128 bits on processors without them), one of 512 bits or two of
256 for eight; it exists in kernels only. Without compilation it is an array. ``load8``, ``store8`` and ``spread8`` are
of eight numbers, ``four``, ``sum4``, ``cycled`` and ``transposed`` of four only, ``eight``, ``low`` and ``high`` of
both at once, all others of either; ``fused``, ``product_error``, ``two_to`` and ``exponent_and_fraction`` are of plain
numbers too. Kernels may further use comparisons, ``where`` and the functions of numpy on lanes; those for which
processors have no instruction are called for each number (``exp``, ``sin``).
"""

from __future__ import annotations

import operator
import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

WIDTHS = (4, 8)
CONTRACT = ("contract",)
EIGHT_BYTES = 8
MANTISSA, BIAS = 52, 1023
"""Bits of the fraction of a number, and what is added to its exponent."""
WHOLE = 1.5 * 2.0**52
"""A number added to this is rounded to a whole one, which stands in the lowest bits."""
MODULE_CODE = sys._getframe().f_code
"""The code of this file, for the digest of every kernel that uses it (``reach``): its ``overload``s have no names."""


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of so many numbers."""

    def __init__(self, width):
        self.width = width
        super().__init__(name=f"Lanes({width})")


LANES, EIGHT = (Lanes(width) for width in WIDTHS)


def vector(width):
    """The LLVM type of so many numbers."""
    return ir.VectorType(ir.DoubleType(), width)


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, front_end):
        super().__init__(manager, front_end, vector(front_end.width))


def _place(builder, pointer, k, kind):
    return builder.bitcast(builder.gep(pointer, [k]), vector(kind.width).as_pointer())


def parts_of(builder, lanes):
    """The numbers of a vector."""
    return [builder.extract_element(lanes, ir.Constant(ir.IntType(32), i)) for i in range(lanes.type.count)]


def joined(builder, numbers):
    """A vector of these numbers."""
    lanes = ir.Constant(ir.VectorType(numbers[0].type, len(numbers)), ir.Undefined)
    for i, x in enumerate(numbers):
        lanes = builder.insert_element(lanes, x, ir.Constant(ir.IntType(32), i))
    return lanes


def repeated(builder, x, kind):
    """A number in all lanes of a type."""
    return joined(builder, [x] * kind.width)


def each(builder, name, *lanes):
    """A function of LLVM by its name, such as "sqrt", on vectors."""
    kind = lanes[0].type
    function = ir.FunctionType(kind, [kind] * len(lanes))
    whole = f"llvm.{name}.v{kind.count}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, function, whole), lanes)


def _of_memory(kind):
    """The intrinsics that load and store numbers, and that repeat one."""

    @intrinsic
    def load(typing, pointer, k):
        def build(context, builder, signature, arguments):
            return builder.load(_place(builder, *arguments, kind), align=EIGHT_BYTES)

        return kind(pointer, types.intp), build

    @intrinsic
    def store(typing, pointer, k, a):
        def build(context, builder, signature, arguments):
            builder.store(arguments[2], _place(builder, *arguments[:2], kind), align=EIGHT_BYTES)
            return context.get_dummy_value()

        return types.void(pointer, types.intp, a), build

    @intrinsic
    def spread(typing, x):
        def build(context, builder, signature, arguments):
            return repeated(builder, arguments[0], kind)

        return kind(types.float64), build

    return load, store, spread


_load4, _store4, _spread = _of_memory(LANES)
_load8, _store8, _spread8 = _of_memory(EIGHT)


@intrinsic
def _four(typing, a, b, c, d):
    def build(context, builder, signature, arguments):
        return joined(builder, arguments)

    return LANES(*[types.float64] * 4), build


@intrinsic
def _sum4(typing, a):
    def build(context, builder, signature, arguments):
        x = parts_of(builder, arguments[0])
        return builder.fadd(builder.fadd(x[0], x[1]), builder.fadd(x[2], x[3]))

    return types.float64(LANES), build


@intrinsic
def _roots(typing, a):
    def build(context, builder, signature, arguments):
        return each(builder, "sqrt", *arguments)

    return a(a), build


def _pick(symbol):
    """The intrinsic for ``lesser`` ("<") or ``greater`` (">")."""

    @intrinsic
    def pick(typing, a, b):
        def build(context, builder, signature, arguments):
            a, b = arguments
            return builder.select(builder.fcmp_ordered(symbol, a, b), a, b)

        return a(a, b), build

    return pick


_lesser, _greater = _pick("<"), _pick(">")


@intrinsic
def _below(typing, a, limit):
    def build(context, builder, signature, arguments):
        bits = builder.fcmp_ordered("<", arguments[0], repeated(builder, arguments[1], a))
        return builder.zext(builder.bitcast(bits, ir.IntType(a.width)), ir.IntType(64))

    return types.int64(a, types.float64), build


@intrinsic
def _rounded(typing, a):
    def build(context, builder, signature, arguments):
        return each(builder, "rint", *arguments)

    return a(a), build


def _shuffled(builder, a, b, order):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), 4), order)
    return builder.shuffle_vector(a, b, mask)


@intrinsic
def _transposed(typing, a, b, c, d):
    def build(context, builder, signature, arguments):
        a, b, c, d = arguments
        ab, AB = _shuffled(builder, a, b, [0, 4, 2, 6]), _shuffled(builder, a, b, [1, 5, 3, 7])
        cd, CD = _shuffled(builder, c, d, [0, 4, 2, 6]), _shuffled(builder, c, d, [1, 5, 3, 7])
        rows = [
            _shuffled(builder, first, second, order)
            for order in ([0, 1, 4, 5], [2, 3, 6, 7])
            for first, second in ((ab, cd), (AB, CD))
        ]
        return context.make_tuple(builder, signature.return_type, rows)

    return types.UniTuple(LANES, 4)(a, b, c, d), build


@intrinsic
def _cycled(typing, a):
    def build(context, builder, signature, arguments):
        return _shuffled(builder, arguments[0], arguments[0], [1, 2, 0, 3])

    return LANES(a), build


@intrinsic
def _eight(typing, a, b):
    def build(context, builder, signature, arguments):
        return builder.shuffle_vector(*arguments, ir.Constant(ir.VectorType(ir.IntType(32), 8), list(range(8))))

    return EIGHT(a, b), build


def _half(first):
    """The intrinsic for ``low`` (0) or ``high`` (4)."""

    @intrinsic
    def half(typing, a):
        def build(context, builder, signature, arguments):
            return _shuffled(builder, arguments[0], arguments[0], list(range(first, first + 4)))

        return LANES(a), build

    return half


_low, _high = _half(0), _half(4)


def _give_operator(symbol, instruction):
    """Register an operator on two values, of which one may be a plain number."""

    @intrinsic
    def operate(typing, a, b):
        wide = a if isinstance(a, Lanes) else b

        def build(context, builder, signature, arguments):
            sides = [
                x if kind is wide else repeated(builder, context.cast(builder, x, kind, types.float64), wide)
                for x, kind in zip(arguments, signature.args, strict=True)
            ]
            return getattr(builder, instruction)(*sides, flags=CONTRACT)

        return wide(a, b), build

    @overload(symbol, inline="always")
    def choose(a, b):
        wide = {x for x in (a, b) if isinstance(x, Lanes)}
        if len(wide) == 1 and all(x in wide or isinstance(x, types.Number) for x in (a, b)):
            return lambda a, b: operate(a, b)
        return None


for symbol, instruction in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    _give_operator(getattr(operator, symbol), instruction)


@intrinsic
def _fused(typing, a, b, c):
    def build(context, builder, signature, arguments):
        a, b, c = arguments
        return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)

    return a(a, b, c), build


@intrinsic
def _fused_once(typing, a, b, c):
    def build(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), build


@intrinsic
def _product_error(typing, a, b, product):
    def build(context, builder, signature, arguments):
        a, b, product = arguments
        if a.type == ir.DoubleType():
            return builder.fma(a, b, builder.fneg(product))
        return each(builder, "fma", a, b, builder.fneg(product))

    return a(a, b, product), build


def _whole(x, number):
    """The type of 64-bit integers for the bits of a number or a vector, and a constant of this type."""
    kind = ir.IntType(64)
    if not isinstance(x.type, ir.VectorType):
        return kind, ir.Constant(kind, number)
    wide = ir.VectorType(kind, x.type.count)
    return wide, ir.Constant(wide, [number] * x.type.count)


def _numbers(x, number):
    """A constant of the type of a number or a vector."""
    return ir.Constant(x.type, [number] * x.type.count if isinstance(x.type, ir.VectorType) else number)


@intrinsic
def _two_to(typing, n):
    def build(context, builder, signature, arguments):
        (n,) = arguments
        kind, places = _whole(n, MANTISSA)
        moved = builder.fadd(n, _numbers(n, WHOLE + BIAS))
        return builder.bitcast(builder.shl(builder.bitcast(moved, kind), places), n.type)

    return n(n), build


@intrinsic
def _exponent_and_fraction(typing, x):
    def build(context, builder, signature, arguments):
        (x,) = arguments
        kind, places = _whole(x, MANTISSA)
        bits = builder.bitcast(x, kind)
        exponent = builder.and_(builder.lshr(bits, places), _whole(x, 2 * BIAS + 1)[1])
        two_to_52 = _whole(x, (BIAS + MANTISSA) << MANTISSA)[1]
        whole = builder.fsub(builder.bitcast(builder.or_(exponent, two_to_52), x.type), _numbers(x, 2.0**52 + BIAS))
        fraction = builder.and_(bits, _whole(x, (1 << MANTISSA) - 1)[1])
        fraction = builder.bitcast(builder.or_(fraction, _whole(x, BIAS << MANTISSA)[1]), x.type)
        return context.make_tuple(builder, signature.return_type, [whole, fraction])

    return types.UniTuple(x, 2)(x), build


# The functions in plain Python, then their implementations in kernels.


def load4(a, k):
    """Load the numbers a[k] ... a[k + 3]."""
    return np.array(a[k : k + 4])


def store4(a, k, x):
    """Store four numbers to a[k] ... a[k + 3]."""
    a[k : k + 4] = x


def load8(a, k):
    """Load the numbers a[k] ... a[k + 7]."""
    return np.array(a[k : k + 8])


def store8(a, k, x):
    """Store eight numbers to a[k] ... a[k + 7]."""
    a[k : k + 8] = x


def spread(x):
    """One number in all four lanes."""
    return np.full(4, x)


def spread8(x):
    """One number in all eight lanes."""
    return np.full(8, x)


def four(a, b, c, d):
    """A vector of these four numbers."""
    return np.array((a, b, c, d))


def fused(a, b, c):
    """a b + c; for plain numbers in kernels rounded once, in Python twice."""
    return a * b + c


def product_error(a, b, product):
    """a b - product, exact where ``product`` is a b rounded."""
    x, y = 134217729.0 * a, 134217729.0 * b
    x, y = x - (x - a), y - (y - b)
    u, v = a - x, b - y
    return u * v - (((product - x * y) - u * y) - x * v)


def two_to(n):
    """2^n of a whole number -1022 <= n <= 1023, which is a float; of any other number anything."""
    return np.ldexp(1.0, np.nan_to_num(n).astype(np.int64))


def exponent_and_fraction(x):
    """The whole number e and m with |x| = m 2^e, 1 <= m < 2, as floats; of 0 and what is not finite anything."""
    m, e = np.frexp(np.abs(x))
    return e - 1.0, 2.0 * m


def sum4(a):
    """Sum of the four numbers."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


def roots(a):
    """Square roots."""
    return np.sqrt(a)


def lesser(a, b):
    """Minimum, lane by lane."""
    return np.where(a < b, a, b)


def greater(a, b):
    """Maximum, lane by lane."""
    return np.where(a > b, a, b)


def below(a, limit):
    """An integer whose bit i is set where lane i is below the limit."""
    return sum(int(x < limit) << i for i, x in enumerate(a))


def rounded(a):
    """Nearest integers, halves to even."""
    return np.rint(a)


def transposed(a, b, c, d):
    """Transpose of the 4x4 matrix with these rows."""
    rows = np.array((a, b, c, d)).T
    return rows[0], rows[1], rows[2], rows[3]


def cycled(a):
    """The four numbers a[1], a[2], a[0], a[3]: the cyclic permutation of a vector."""
    return np.array((a[1], a[2], a[0], a[3]))


def eight(a, b):
    """Eight numbers: four and four."""
    return np.concatenate((a, b))


def low(a):
    """The first four of eight numbers."""
    return a[:4]


def high(a):
    """The last four of eight numbers."""
    return a[4:]


IN_KERNELS = {
    load4: lambda a, k: _load4,
    store4: lambda a, k, x: _store4,
    load8: lambda a, k: _load8,
    store8: lambda a, k, x: _store8,
    spread: lambda x: _spread,
    spread8: lambda x: _spread8,
    four: lambda a, b, c, d: _four,
    fused: lambda a, b, c: _fused if isinstance(a, Lanes) else _fused_once,
    product_error: lambda a, b, product: _product_error,
    two_to: lambda n: _two_to,
    exponent_and_fraction: lambda x: _exponent_and_fraction,
    sum4: lambda a: _sum4,
    roots: lambda a: _roots,
    lesser: lambda a, b: _lesser,
    greater: lambda a, b: _greater,
    below: lambda a, limit: _below,
    rounded: lambda a: _rounded,
    transposed: lambda a, b, c, d: _transposed,
    cycled: lambda a: _cycled,
    eight: lambda a, b: _eight,
    low: lambda a: _low,
    high: lambda a: _high,
}
"""For each function, which intrinsic it is in kernels, from the types of the arguments."""

overload(load4)(lambda a, k: lambda a, k: _load4(a, k))
overload(store4)(lambda a, k, x: lambda a, k, x: _store4(a, k, x))
overload(load8)(lambda a, k: lambda a, k: _load8(a, k))
overload(store8)(lambda a, k, x: lambda a, k, x: _store8(a, k, x))
overload(spread)(lambda x: lambda x: _spread(x))
overload(spread8)(lambda x: lambda x: _spread8(x))
overload(four)(lambda a, b, c, d: lambda a, b, c, d: _four(a, b, c, d))
overload(fused)(
    lambda a, b, c: (lambda a, b, c: _fused(a, b, c)) if isinstance(a, Lanes) else lambda a, b, c: _fused_once(a, b, c)
)
overload(product_error)(lambda a, b, product: lambda a, b, product: _product_error(a, b, product))
overload(two_to)(lambda n: lambda n: _two_to(n))
overload(exponent_and_fraction)(lambda x: lambda x: _exponent_and_fraction(x))
overload(sum4)(lambda a: lambda a: _sum4(a))
overload(roots)(lambda a: lambda a: _roots(a))
overload(lesser)(lambda a, b: lambda a, b: _lesser(a, b))
overload(greater)(lambda a, b: lambda a, b: _greater(a, b))
overload(below)(lambda a, limit: lambda a, limit: _below(a, limit))
overload(rounded)(lambda a: lambda a: _rounded(a))
overload(cycled)(lambda a: lambda a: _cycled(a))
overload(eight)(lambda a, b: lambda a, b: _eight(a, b))
overload(low)(lambda a: lambda a: _low(a))
overload(high)(lambda a: lambda a: _high(a))
overload(transposed)(lambda a, b, c, d: lambda a, b, c, d: _transposed(a, b, c, d))
