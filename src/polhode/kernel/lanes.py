"""Four numbers at a time, for loops that the compiler does not find its own vectors in.

    s = fused(load4(a, k), load4(b, k), s)          s_i + a[k + i] b[k + i] for i = 0 ... 3
    x = four(1.0, 2.0, 3.0, 4.0)
    y = (x * x + 1.0) / roots(x)                    operators, with plain numbers too

A value is one register of four numbers (two of two where the processor has no more) and lives in a kernel only. Without
compilation it is an array of four.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

VECTOR = ir.VectorType(ir.DoubleType(), 4)
CONTRACT = ("contract",)
EIGHT_BYTES = 8


class Lanes(types.Type):  # type: ignore[misc]
    """Four numbers, as numba knows them."""

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


def _give_operator(symbol, instruction):
    """Teach kernels an operator of two values of which one may be a plain number."""

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


# As Python runs them, and what kernels run instead.


def load4(a, k):
    """The numbers k to k + 3 behind a pointer."""
    return np.array(a[k : k + 4])


def store4(a, k, x):
    """Write four numbers to k, ..., k + 3."""
    a[k : k + 4] = x


def spread(x):
    """A number four times."""
    return np.full(4, x)


def four(a, b, c, d):
    """Four numbers."""
    return np.array((a, b, c, d))


def fused(a, b, c):
    """a b + c."""
    return a * b + c


def sum4(a):
    """Sum of the four."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


def roots(a):
    """Square roots."""
    return np.sqrt(a)


overload(load4)(lambda a, k: lambda a, k: _load4(a, k))
overload(store4)(lambda a, k, x: lambda a, k, x: _store4(a, k, x))
overload(spread)(lambda x: lambda x: _spread(x))
overload(four)(lambda a, b, c, d: lambda a, b, c, d: _four(a, b, c, d))
overload(fused)(lambda a, b, c: lambda a, b, c: _fused(a, b, c))
overload(sum4)(lambda a: lambda a: _sum4(a))
overload(roots)(lambda a: lambda a: _roots(a))
