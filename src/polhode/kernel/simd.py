"""Vectors of four numbers (SIMD lanes) in kernels, for loops that LLVM does not vectorise by itself.

    s = fused(load4(a, k), load4(b, k), s)          s_i + a[k + i] b[k + i] for i = 0 ... 3
    r = fused(x, y, -x * y)                         of plain numbers: rounding error of the product x y
    x = four(1.0, 2.0, 3.0, 4.0)
    y = (x * x + 1.0) / roots(x)                    operators, with plain numbers too
    a, b, c, d = transposed(a, b, c, d)             the first of each, the second of each, and so on

A value is one 256-bit register (two of 128 bits on processors without them) and exists in kernels only. Without
compilation it is an array of four numbers.
"""

from __future__ import annotations

import operator
import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

VECTOR = ir.VectorType(ir.DoubleType(), 4)
CONTRACT = ("contract",)
EIGHT_BYTES = 8
MODULE_CODE = sys._getframe().f_code
"""The code of this file, for the digest of every kernel that uses it (``reach``): its ``overload``s have no names."""


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of four numbers."""

    def __init__(self):
        super().__init__(name="Lanes")


LANES = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, front_end):
        super().__init__(manager, front_end, VECTOR)


def _place(builder, pointer, k):
    return builder.bitcast(builder.gep(pointer, [k]), VECTOR.as_pointer())


@intrinsic
def _load4(typing, pointer, k):
    def build(context, builder, signature, arguments):
        return builder.load(_place(builder, *arguments), align=EIGHT_BYTES)

    return LANES(pointer, types.intp), build


@intrinsic
def _store4(typing, pointer, k, a):
    def build(context, builder, signature, arguments):
        builder.store(arguments[2], _place(builder, *arguments[:2]), align=EIGHT_BYTES)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, a), build


def _repeated(builder, x):
    lanes = ir.Constant(VECTOR, ir.Undefined)
    for i in range(4):
        lanes = builder.insert_element(lanes, x, ir.Constant(ir.IntType(32), i))
    return lanes


@intrinsic
def _spread(typing, x):
    def build(context, builder, signature, arguments):
        return _repeated(builder, arguments[0])

    return LANES(types.float64), build


@intrinsic
def _four(typing, a, b, c, d):
    def build(context, builder, signature, arguments):
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for i, x in enumerate(arguments):
            lanes = builder.insert_element(lanes, x, ir.Constant(ir.IntType(32), i))
        return lanes

    return LANES(*[types.float64] * 4), build


@intrinsic
def _sum4(typing, a):
    def build(context, builder, signature, arguments):
        x = [builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), i)) for i in range(4)]
        return builder.fadd(builder.fadd(x[0], x[1]), builder.fadd(x[2], x[3]))

    return types.float64(LANES), build


@intrinsic
def _roots(typing, a):
    def build(context, builder, signature, arguments):
        kind = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.v4f64"), arguments)

    return LANES(a), build


def _pick(symbol):
    """The intrinsic for ``lesser`` ("<") or ``greater`` (">")."""

    @intrinsic
    def pick(typing, a, b):
        def build(context, builder, signature, arguments):
            a, b = arguments
            return builder.select(builder.fcmp_ordered(symbol, a, b), a, b)

        return LANES(a, b), build

    return pick


_lesser, _greater = _pick("<"), _pick(">")


@intrinsic
def _below(typing, a, limit):
    def build(context, builder, signature, arguments):
        bits = builder.fcmp_ordered("<", arguments[0], _repeated(builder, arguments[1]))
        return builder.zext(builder.bitcast(bits, ir.IntType(4)), ir.IntType(64))

    return types.int64(LANES, types.float64), build


@intrinsic
def _rounded(typing, a):
    def build(context, builder, signature, arguments):
        kind = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.rint.v4f64"), arguments)

    return LANES(a), build


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


def _give_operator(symbol, instruction):
    """Register an operator on two values, of which one may be a plain number."""

    @intrinsic
    def operate(typing, a, b):
        def build(context, builder, signature, arguments):
            sides = [
                x if kind is LANES else _repeated(builder, context.cast(builder, x, kind, types.float64))
                for x, kind in zip(arguments, signature.args, strict=True)
            ]
            return getattr(builder, instruction)(*sides, flags=CONTRACT)

        return LANES(a, b), build

    @overload(symbol, inline="always")
    def choose(a, b):
        if LANES in (a, b) and all(x is LANES or isinstance(x, types.Number) for x in (a, b)):
            return lambda a, b: operate(a, b)
        return None


for symbol, instruction in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    _give_operator(getattr(operator, symbol), instruction)


@intrinsic
def _fused(typing, a, b, c):
    def build(context, builder, signature, arguments):
        a, b, c = arguments
        return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)

    return LANES(a, b, c), build


@intrinsic
def _fused_once(typing, a, b, c):
    def build(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), build


# The functions in plain Python, then their implementations in kernels.


def load4(a, k):
    """Load the numbers a[k] ... a[k + 3]."""
    return np.array(a[k : k + 4])


def store4(a, k, x):
    """Store four numbers to a[k] ... a[k + 3]."""
    a[k : k + 4] = x


def spread(x):
    """One number in all four lanes."""
    return np.full(4, x)


def four(a, b, c, d):
    """A vector of these four numbers."""
    return np.array((a, b, c, d))


def fused(a, b, c):
    """a b + c; for plain numbers in kernels rounded once, in Python twice."""
    return a * b + c


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
    return int(a[0] < limit) + 2 * int(a[1] < limit) + 4 * int(a[2] < limit) + 8 * int(a[3] < limit)


def rounded(a):
    """Nearest integers, halves to even."""
    return np.rint(a)


def transposed(a, b, c, d):
    """Transpose of the 4x4 matrix with these rows."""
    rows = np.array((a, b, c, d)).T
    return rows[0], rows[1], rows[2], rows[3]


IN_KERNELS = {
    load4: lambda a, k: _load4,
    store4: lambda a, k, x: _store4,
    spread: lambda x: _spread,
    four: lambda a, b, c, d: _four,
    fused: lambda a, b, c: _fused if a is LANES else _fused_once,
    sum4: lambda a: _sum4,
    roots: lambda a: _roots,
    lesser: lambda a, b: _lesser,
    greater: lambda a, b: _greater,
    below: lambda a, limit: _below,
    rounded: lambda a: _rounded,
    transposed: lambda a, b, c, d: _transposed,
}
"""For each function, which intrinsic it is in kernels, from the types of the arguments."""

overload(load4)(lambda a, k: lambda a, k: _load4(a, k))
overload(store4)(lambda a, k, x: lambda a, k, x: _store4(a, k, x))
overload(spread)(lambda x: lambda x: _spread(x))
overload(four)(lambda a, b, c, d: lambda a, b, c, d: _four(a, b, c, d))
overload(fused)(
    lambda a, b, c: (lambda a, b, c: _fused(a, b, c)) if a is LANES else lambda a, b, c: _fused_once(a, b, c)
)
overload(sum4)(lambda a: lambda a: _sum4(a))
overload(roots)(lambda a: lambda a: _roots(a))
overload(lesser)(lambda a, b: lambda a, b: _lesser(a, b))
overload(greater)(lambda a, b: lambda a, b: _greater(a, b))
overload(below)(lambda a, limit: lambda a, limit: _below(a, limit))
overload(rounded)(lambda a: lambda a: _rounded(a))
overload(transposed)(lambda a, b, c, d: lambda a, b, c, d: _transposed(a, b, c, d))
