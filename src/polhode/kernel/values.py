"""Values of kernels as ``translate`` writes them: numbers, pointers, tuples, arrays, and things known beforehand.

Tuples exist only here: LLVM sees their numbers. Arithmetic follows numba's to the letter, so that both compilers write
the same operations: integers of 64 bits wrap around, division does not raise. Numbers over lanes are vectors with one
number a lane: where they meet a plain one it is repeated, and operations are those of plain numbers, in the same order.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import base, cgutils

from polhode.kernel.numba_lanes import Lanes, Truths, Wholes
from polhode.kernel.simd import each, joined, parts_of
from polhode.kernel.source import Refused, Unsupported
from polhode.kernel.text import BIT, TO_INTEGER, WIDE, Builder, Constant, F, I

FLOAT, INT, BOOL = types.float64, types.int64, types.boolean
RANKS = {BOOL: 0, INT: 1, FLOAT: 2}
LONGEST_FOLD = 1 << 62


class Known:
    """Something known when the kernel is compiled: a constant, a function, a module, a type."""

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it


class Scalar:
    """A value of a numba type."""

    __slots__ = ("kind", "v")

    def __init__(self, kind: types.Type, v: ir.Value) -> None:
        self.kind, self.v = kind, v


class Tup:
    """A tuple of values; ``cls`` is the class of a named tuple."""

    __slots__ = ("cls", "parts")

    def __init__(self, parts: Iterable[Value], cls: type[Any] | None = None) -> None:
        self.parts, self.cls = tuple(parts), cls


class View:
    """An array without gaps, by the address of its first number and its lengths."""

    __slots__ = ("data", "dtype", "lengths")

    def __init__(self, dtype: types.Type, data: ir.Value, lengths: Iterable[ir.Value]) -> None:
        self.dtype, self.data, self.lengths = dtype, data, tuple(lengths)


class Row:
    """A small array of numbers of one type, made in a kernel: its numbers, which never change."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Value]) -> None:
        self.parts: tuple[Any, ...] = tuple(parts)


PLAIN = {Lanes: FLOAT, Wholes: INT, Truths: BOOL}
"""The types of the numbers in lanes."""
IN_LANES = {FLOAT: Lanes, INT: Wholes, BOOL: Truths}
"""Types of lanes of numbers."""
FORMS = {FLOAT: F, INT: I, BOOL: BIT}
"""LLVM's types of numbers."""
CONVERSIONS = {(INT, FLOAT): "sitofp", (BOOL, FLOAT): "uitofp", (BOOL, INT): "zext", (FLOAT, INT): "fptosi"}


Shape = int | tuple[Any, ...]
"""What is known before of values that may be stored in the same place; types, which exist once, are their addresses."""
Value = Known | Scalar | Tup | View | Row
NOTHING = Known(None)
TESTS = (math.isnan, np.isnan, math.isfinite, np.isfinite)


def is_number(value: object) -> bool:
    """Whether this is a constant number."""
    return isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating)


def width_of(*values: object) -> int:
    """How many lanes numbers have, 0 where none is one of lanes; of small arrays each number counts."""
    found = 0
    for value in values:
        if isinstance(value, Row):
            found = max(found, width_of(*value.parts))
        elif isinstance(value, Scalar) and type(value.kind) in PLAIN:
            if found not in (0, value.kind.width):
                raise Unsupported("lanes of different widths")
            found = value.kind.width
    return found


def plain_kind(kind: types.Type) -> types.Type | None:
    """The type of the number in a lane, or of a plain number; None of anything else."""
    return kind if kind is FLOAT or kind is INT or kind is BOOL else PLAIN.get(type(kind))


def wide_kind(kind: types.Type, width: int) -> types.Type:
    """The type of so many lanes of numbers of a type, or of lanes; without lanes the type itself."""
    return IN_LANES[plain_kind(kind)](width) if width else kind


def settled(value: Value) -> Value:
    """The value with its constant numbers as values of the kernel."""
    if type(value) is Scalar:  # most values
        return value
    if isinstance(value, Known):
        it = value.it
        if is_number(it):
            if isinstance(it, bool | np.bool_):
                return Scalar(BOOL, Constant(BIT, int(it)))
            if isinstance(it, int | np.integer):
                if not -(1 << 63) <= it < 1 << 63 or isinstance(it, np.unsignedinteger):
                    raise Unsupported("an integer of more than 64 bits")
                return Scalar(INT, Constant(I, int(it)))
            if isinstance(it, np.floating) and not isinstance(it, np.float64):
                raise Unsupported("a number of another precision")
            return Scalar(FLOAT, Constant(F, float(it)))
        if isinstance(it, tuple):
            return settled(opened(value))
        return value
    if isinstance(value, Tup):
        return Tup([settled(part) for part in value.parts], value.cls)
    return value


def opened(value: Value) -> Value:
    """A constant tuple as a tuple of constants; any other value itself."""
    if isinstance(value, Known) and isinstance(value.it, tuple):
        return Tup([Known(part) for part in value.it], type(value.it) if hasattr(value.it, "_fields") else None)
    return value


def shape_of(value: Value) -> Shape:
    """The shape of a settled value."""
    if isinstance(value, Scalar):
        return id(value.kind)
    if isinstance(value, Tup):
        return (value.cls, tuple([shape_of(part) for part in value.parts]))
    if isinstance(value, View):
        return ("array", id(value.dtype), len(value.lengths))
    if isinstance(value, Row):
        return ("row", *[id(part.kind) for part in value.parts])
    return ("known", id(value.it))


def leaves_of(value: Value) -> list[ir.Value]:
    """The LLVM values of a settled value."""
    if isinstance(value, Scalar):
        return [value.v]
    if isinstance(value, Tup | Row):
        return [leaf for part in value.parts for leaf in leaves_of(part)]
    if isinstance(value, View):
        return [value.data, *value.lengths]
    return []


def rebuilt(like: Value, leaves: Iterator[ir.Value]) -> Value:
    """A value of the shape of ``like`` from an iterator over LLVM values."""
    if isinstance(like, Scalar):
        return Scalar(like.kind, next(leaves))
    if isinstance(like, Tup):
        return Tup([rebuilt(part, leaves) for part in like.parts], like.cls)
    if isinstance(like, Row):
        return Row([rebuilt(part, leaves) for part in like.parts])
    if isinstance(like, View):
        data = next(leaves)
        return View(like.dtype, data, [next(leaves) for _ in like.lengths])
    return like


class Arithmetic:
    """Writes operations on values with a builder."""

    def __init__(self, context: base.BaseContext, contract: bool = False) -> None:
        self.context = context
        self.builder = Builder(contract=contract)

    # -------------------------------------------------------------- conversions
    def spread(self, v: ir.Value, width: int) -> ir.Value:
        """A number in so many lanes."""
        return self.builder.repeated(v, ir.VectorType(v.type, width))

    def cast(self, value: Value, kind: types.Type) -> ir.Value:
        """The LLVM value of a number, as one of this type."""
        value = settled(value)
        if not isinstance(value, Scalar):
            raise Unsupported(f"no {kind}")
        if value.kind is kind:
            return value.v
        width, known, to = width_of(Scalar(kind, None)), plain_kind(value.kind), plain_kind(kind)
        if width_of(value) != width:
            if not width:
                raise Unsupported("a number that differs from lane to lane, where all lanes share one")
            if known is not None:
                return self.spread(self.cast(value, to), width)
        if (known, to) not in CONVERSIONS:
            raise Unsupported(f"{value.kind} is no {kind}")
        form = ir.VectorType(FORMS[to], width) if width else FORMS[to]
        return getattr(self.builder, CONVERSIONS[known, to])(value.v, form)

    def number(self, value: Value) -> Scalar:
        """A settled number, integer or boolean; lanes too."""
        value = settled(value)
        if isinstance(value, Scalar) and plain_kind(value.kind) is not None:
            return value
        raise Unsupported("arithmetic on something else than numbers")

    def varied(self, value: Value, width: int) -> Value:
        """The settled value with a number of its own in each lane."""
        value = settled(value)
        if isinstance(value, Scalar) and plain_kind(value.kind) is value.kind:
            kind = wide_kind(value.kind, width)
            return Scalar(kind, self.cast(value, kind))
        if isinstance(value, Tup):
            return Tup([self.varied(part, width) for part in value.parts], value.cls)
        if isinstance(value, Row):
            return Row([self.varied(part, width) for part in value.parts])
        return value

    def common(self, a: Value, b: Value) -> Value:
        """A settled value whose shape both can be converted to (only its shape counts)."""
        a, b = settled(a), settled(b)
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            if a.kind is b.kind:
                return a
            width, kinds = width_of(a, b), [plain_kind(x.kind) for x in (a, b)]
            if None not in kinds:
                if not width:
                    return a if RANKS[a.kind] > RANKS[b.kind] else b
                kind = max(kinds, key=RANKS.__getitem__)
                return Scalar(wide_kind(kind, width), Constant(ir.VectorType(FORMS[kind], width), ir.Undefined))
        elif isinstance(a, Tup) and isinstance(b, Tup) and a.cls is b.cls and len(a.parts) == len(b.parts):
            return Tup([self.common(x, y) for x, y in zip(a.parts, b.parts, strict=True)], a.cls)
        elif isinstance(a, Row) and isinstance(b, Row) and len(a.parts) == len(b.parts):
            return Row([self.common(x, y) for x, y in zip(a.parts, b.parts, strict=True)])
        elif shape_of(a) == shape_of(b):
            return a
        raise Unsupported("a variable of two types")

    def converted(self, value: Value, like: Value) -> Value:
        """The value converted to the shape of ``like``."""
        value = settled(value)
        if isinstance(like, Scalar):
            return Scalar(like.kind, self.cast(value, like.kind))
        if isinstance(like, Tup) and isinstance(value, Tup) and len(like.parts) == len(value.parts):
            return Tup([self.converted(x, y) for x, y in zip(value.parts, like.parts, strict=True)], like.cls)
        if isinstance(like, Row) and isinstance(value, Row) and len(like.parts) == len(value.parts):
            return Row([self.converted(x, y) for x, y in zip(value.parts, like.parts, strict=True)])
        if shape_of(value) == shape_of(like):
            return value
        raise Unsupported("a variable of two types")

    def chosen(self, condition: ir.Value, a: Value, b: Value) -> Value:
        """The first value where the condition holds, else the second; both are computed."""
        like = self.common(a, b)
        if isinstance(condition.type, ir.VectorType):
            like = self.varied(like, condition.type.count)
        x, y = leaves_of(self.converted(a, like)), leaves_of(self.converted(b, like))
        return rebuilt(like, iter([self.builder.select(condition, p, q) for p, q in zip(x, y, strict=True)]))

    # -------------------------------------------------------------- operators
    def binary(self, name: str, x: Value, y: Value) -> Value:
        """An operator of two operands, by the name of its syntax node."""
        if isinstance(x, Known) and isinstance(y, Known) and is_number(x.it) and is_number(y.it):
            folded = _folded(name, x.it, y.it)
            if folded is not None:
                return Known(folded)
        a, b = settled(x), settled(y)
        if name in FLOATS and type(a) is type(b) is Scalar and a.kind is b.kind and plain_kind(a.kind) is FLOAT:
            return Scalar(a.kind, getattr(self.builder, FLOATS[name])(a.v, b.v))  # most operations
        if name == "Add" and isinstance(opened(x), Tup) and isinstance(opened(y), Tup):
            return Tup(opened(x).parts + opened(y).parts)  # type: ignore[union-attr]
        if isinstance(x, Row) or isinstance(y, Row):
            return self.row_by_row(name, x, y)
        for a, b in ((opened(x), settled(y)), (opened(y), settled(x))):
            if isinstance(a, Tup) and isinstance(b, Scalar) and b.kind is FLOAT:
                raise Refused("arithmetic on a number and a tuple")
        exponent = y.it if name == "Pow" and isinstance(y, Known) else None
        a, b = self.number(x), self.number(y)
        plain, builder, width = [plain_kind(v.kind) for v in (a, b)], self.builder, width_of(a, b)
        if name == "Pow":
            return self.power(a, b, exponent)
        if FLOAT not in plain and name in INTS:
            bits = plain == [BOOL, BOOL] and name in ("BitAnd", "BitOr", "BitXor")
            kind = wide_kind(BOOL if bits else INT, width)
            return Scalar(kind, getattr(builder, INTS[name])(self.cast(a, kind), self.cast(b, kind)))
        if name in FLOATS:
            kind = wide_kind(FLOAT, width)
            return Scalar(kind, getattr(builder, FLOATS[name])(self.cast(a, kind), self.cast(b, kind)))
        if width:
            return self.each_lane(lambda p, q: self.binary(name, p, q), a, b)
        if name in ("FloorDiv", "Mod"):
            if FLOAT not in plain:
                return Scalar(INT, self.whole_division(self.cast(a, INT), self.cast(b, INT), name == "Mod"))
            return Scalar(FLOAT, self.real_division(self.cast(a, FLOAT), self.cast(b, FLOAT), name == "Mod"))
        raise Unsupported(f"the operator {name}")

    def row(self, value: Value) -> Row:
        """An array from a tuple of numbers."""
        if isinstance(value, Row):
            return value
        whole = opened(value)
        if not isinstance(whole, Tup) or not whole.parts:
            raise Unsupported("an array of something else than a tuple of numbers")
        parts: list[Value] = [self.number(part) for part in whole.parts]
        like = functools.reduce(self.common, parts)
        if plain_kind(like.kind) not in (FLOAT, INT):  # type: ignore[union-attr]
            raise Unsupported("an array of something else than numbers")
        return Row([self.converted(part, like) for part in parts])

    def row_by_row(self, name: str, x: Value, y: Value) -> Value:
        """An operator on arrays, number by number; ``@``: the sum of the products."""
        n = len(x.parts) if isinstance(x, Row) else len(y.parts)  # type: ignore[union-attr]
        a, b = ((v.parts if isinstance(v, Row) else [self.number(v)] * n) for v in (x, y))
        if len(a) != len(b) or isinstance(x, View) or isinstance(y, View):
            raise Unsupported("an operator on arrays of different lengths")
        if name == "MatMult" and isinstance(x, Row) and isinstance(y, Row):
            products = [self.binary("Mult", p, q) for p, q in zip(a, b, strict=True)]
            return functools.reduce(functools.partial(self.binary, "Add"), products)
        if name not in ("Add", "Sub", "Mult", "Div"):
            raise Unsupported("an operator on arrays")
        return Row([self.binary(name, p, q) for p, q in zip(a, b, strict=True)])

    def parts_of_rows(self, x: Sequence[Value]) -> Iterator[tuple[Value, ...]]:
        """The numbers of small arrays, with any other value once for each."""
        length = max(len(a.parts) for a in x if isinstance(a, Row))
        return zip(*(a.parts if isinstance(a, Row) else [a] * length for a in x), strict=True)

    def power(self, a: Scalar, b: Scalar, exponent: object) -> Value:
        """a to the power b; with a constant whole exponent by multiplications."""
        if isinstance(exponent, int) and not isinstance(exponent, bool) and abs(exponent) < 0x10000:
            if plain_kind(a.kind) is FLOAT:
                one = self.cast(Known(1.0), a.kind)
                return Scalar(a.kind, self.multiplied(a.v, exponent, one, self.builder.fmul))
            if exponent < 0:
                raise Unsupported("a negative power of an integer")
            if not width_of(a):
                return Scalar(INT, self.multiplied(self.cast(a, INT), exponent, Constant(I, 1), self.builder.mul))
        if width_of(a, b):
            return self.each_lane(lambda p, q: self.power(p, q, exponent), a, b)
        if b.kind is not FLOAT:
            raise Unsupported("a power whose exponent is a variable integer")
        return Scalar(FLOAT, self.intrinsic("llvm.pow.f64", self.cast(a, FLOAT), b.v))

    def each_lane(self, make: Callable[..., Value], *values: Any) -> Value:
        """A function of numbers, lane by lane; its result may be a tuple."""
        width = width_of(*values)
        lanes = [
            [Scalar(plain_kind(v.kind), x) for x in parts_of(self.builder, v.v)] if width_of(v) else [v] * width
            for v in values
        ]
        found = [settled(make(*lane)) for lane in zip(*lanes, strict=True)]
        vectors = [joined(self.builder, leaves) for leaves in zip(*map(leaves_of, found), strict=True)]
        return rebuilt(self.varied(found[0], width), iter(vectors))

    def multiplied(self, square: ir.Value, exponent: int, one: ir.Value, times: Callable[..., ir.Value]) -> ir.Value:
        """A whole power by multiplications."""
        result, n = one, abs(exponent)
        while n:
            if n & 1:
                result = square if result is one else times(result, square)
            n >>= 1
            if n:
                square = times(square, square)
        return self.builder.fdiv(one, result) if exponent < 0 else result

    def whole_division(self, a: ir.Value, b: ir.Value, remainder: bool) -> ir.Value:
        """Floor of the quotient of integers, or the remainder with the sign of the divisor; 0 for a divisor of 0."""
        builder = self.builder
        zero, one = Constant(I, 0), Constant(I, 1)
        if not (isinstance(b, Constant) and b.constant > 0):
            unsafe = builder.icmp_signed("==", b, zero)
            overflow = builder.and_(
                builder.icmp_signed("==", a, Constant(I, -(1 << 63))), builder.icmp_signed("==", b, Constant(I, -1))
            )
            unsafe = builder.or_(unsafe, overflow)
            found = self.whole_division_by(a, builder.select(unsafe, one, b), remainder)
            return builder.select(unsafe, zero, found)
        return self.whole_division_by(a, b, remainder)

    def whole_division_by(self, a: ir.Value, b: ir.Value, remainder: bool) -> ir.Value:
        builder = self.builder
        zero, one = Constant(I, 0), Constant(I, 1)
        r = builder.srem(a, b)
        differ = builder.and_(builder.icmp_signed("!=", r, zero), builder.icmp_signed("<", builder.xor(b, r), zero))
        if remainder:
            return builder.select(differ, builder.add(r, b), r)
        q = builder.sdiv(a, b)
        return builder.select(differ, builder.sub(q, one), q)

    def real_division(self, a: ir.Value, b: ir.Value, remainder: bool) -> ir.Value:
        """Floor of the quotient of numbers, or the remainder with the sign of the divisor, as Python computes them."""
        builder = self.builder
        zero, one = Constant(F, 0.0), Constant(F, 1.0)
        r = builder.frem(a, b)
        q = builder.fdiv(builder.fsub(a, r), b)
        inexact = builder.fcmp_unordered("!=", r, zero)
        differ = builder.xor(builder.fcmp_ordered("<", b, zero), builder.fcmp_ordered("<", r, zero))
        differ = builder.and_(inexact, differ)
        by_zero = builder.fcmp_ordered("==", b, zero)
        if remainder:
            whole = builder.select(differ, builder.fadd(r, b), r)
            signed = builder.select(inexact, whole, self.intrinsic("llvm.copysign.f64", zero, b))
            return builder.select(by_zero, r, signed)
        q = builder.select(differ, builder.fsub(q, one), q)
        floor = self.intrinsic("llvm.floor.f64", q)
        nearer = builder.select(
            builder.fcmp_ordered(">", builder.fsub(q, floor), Constant(F, 0.5)), builder.fadd(floor, one), floor
        )
        small = self.intrinsic("llvm.copysign.f64", zero, builder.fdiv(a, b))
        found = builder.select(builder.fcmp_unordered("!=", q, zero), nearer, small)
        return builder.select(by_zero, builder.fdiv(a, b), found)

    def negative(self, x: Value) -> Value:
        """Minus x."""
        if isinstance(x, Known) and is_number(x.it):
            return Known(-x.it)
        if isinstance(x, Row):
            return Row([self.negative(part) for part in x.parts])
        if isinstance(opened(x), Tup):
            raise Refused("a sign before a tuple")
        x = self.number(x)
        if plain_kind(x.kind) is FLOAT:
            return Scalar(x.kind, self.builder.fsub(self.cast(Known(-0.0), x.kind), x.v))
        kind = wide_kind(INT, width_of(x))
        return Scalar(kind, self.builder.neg(self.cast(x, kind)))

    def compared(self, name: str, x: Value, y: Value) -> Value:
        """A comparison, by the name of its syntax node."""
        if name in ("Is", "IsNot"):
            x, y = settled(x), settled(y)
            if not (isinstance(x, Known) or isinstance(y, Known)):
                raise Unsupported("identity of variables")
            same = isinstance(x, Known) and isinstance(y, Known) and x.it is y.it
            return Known(same == (name == "Is"))
        if name not in SYMBOLS:
            raise Unsupported(f"the comparison {name}")
        if isinstance(x, Known) and isinstance(y, Known) and not isinstance(x.it, tuple):
            return Known(bool(getattr(operator, SYMBOLS[name][1])(x.it, y.it)))
        a, b = self.number(x), self.number(y)
        width, symbol, builder = width_of(a, b), SYMBOLS[name][0], self.builder
        if FLOAT in (plain_kind(a.kind), plain_kind(b.kind)):
            kind, test = FLOAT, builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        else:
            kind, test = INT, builder.icmp_signed
        kind = wide_kind(kind, width)
        return Scalar(wide_kind(BOOL, width), test(symbol, self.cast(a, kind), self.cast(b, kind)))

    def as_truth(self, bits: ir.Value) -> Scalar:
        """A condition as a value."""
        return Scalar(Truths(bits.type.count) if isinstance(bits.type, ir.VectorType) else BOOL, bits)

    def truth(self, x: Value) -> Any:
        """Whether a value counts as true: True or False where that is known, else a bit, or one for each lane."""
        x = opened(x)
        if isinstance(x, Tup):
            return bool(x.parts)
        if isinstance(x, Known):
            if x.it is None or is_number(x.it):
                return bool(x.it)
            raise Unsupported("the truth of an object")
        kind = self.number(x).kind
        if plain_kind(kind) is BOOL:
            return x.v  # type: ignore[union-attr]
        test = self.builder.icmp_signed if plain_kind(kind) is INT else self.builder.fcmp_unordered
        return test("!=", x.v, self.cast(Known(0 if plain_kind(kind) is INT else 0.0), kind))  # type: ignore[union-attr]

    # -------------------------------------------------------------- functions of numbers
    def extern(self, name: str, *arguments: ir.Value, pure: bool = True) -> ir.Value:
        """Call a function of the C library on numbers."""
        insert = cgutils.insert_pure_function if pure else cgutils.get_or_insert_function
        function = insert(self.builder.module, ir.FunctionType(F, [F] * len(arguments)), name)
        return self.builder.call(function, arguments)

    def intrinsic(self, name: str, *arguments: ir.Value) -> ir.Value:
        """Call a function of LLVM on numbers."""
        kind = ir.FunctionType(F, [F] * len(arguments))
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)

    def least_by_tests(self, values: Sequence[Value], symbol: str) -> Value:
        """As ``least``, of values that have more than a number."""
        best = self.number(values[0])
        for value in values[1:]:
            test = self.truth(self.compared("Lt" if symbol == "<" else "Gt", value, best))
            best = self.number(self.chosen(test, value, best))
        return best

    def least(self, values: Sequence[Value], symbol: str) -> Value:
        """The smallest ("<") or largest (">") of several numbers; of equal ones the first, as Python chooses."""
        if width_of(*values):
            return self.least_by_tests(values, symbol)
        best = self.number(values[0])
        for value in values[1:]:
            value = self.number(value)
            like = self.common(best, value)
            a, b = self.cast(best, like.kind), self.cast(value, like.kind)  # type: ignore[union-attr]
            compare = self.builder.fcmp_ordered if like.kind is FLOAT else self.builder.icmp_signed  # type: ignore[union-attr]
            best = Scalar(like.kind, self.builder.select(compare(symbol, b, a), b, a))  # type: ignore[union-attr]
        return best

    def of_lanes(self, it: Callable[..., Any], x: list[Value]) -> Value:
        """A function of numbers, lane by lane; by one instruction where processors have it."""
        width = width_of(*x)
        wide, wholes, builder = Lanes(width), Wholes(width), self.builder
        if it is bool:
            return self.as_truth(self.truth(x[0]))
        if it in (int, float):
            kind = wholes if it is int else wide
            return Scalar(kind, self.cast(x[0], kind))
        if it in (abs, np.abs) and plain_kind(x[0].kind) != FLOAT:  # type: ignore[union-attr]
            whole = Scalar(wholes, self.cast(x[0], wholes))
            return self.chosen(self.truth(self.compared("Lt", whole, Known(0))), self.negative(whole), whole)
        numbers = [self.cast(a, wide) for a in x]
        if it in TO_INTEGER:
            return Scalar(wholes, self.cast(Scalar(wide, each(builder, TO_INTEGER[it], *numbers)), wholes))
        if it in TESTS:
            return self.tested(it, numbers[0])
        if it in WIDE and len(x) == WIDE[it][1]:
            return Scalar(wide, each(builder, WIDE[it][0], *numbers))
        return self.each_lane(lambda *lane: self.function_of_numbers(it, list(lane)), *x)

    def tested(self, it: Callable[..., Any], x: ir.Value) -> Value:
        """Whether a number, or each of some lanes, is one of TESTS."""
        if it in (math.isnan, np.isnan):
            return self.as_truth(self.builder.fcmp_unordered("uno", x, x))
        zero = self.builder.fsub(x, x)
        return self.as_truth(self.builder.fcmp_ordered("ord", zero, zero))

    def function_of_numbers(self, it: Callable[..., Any], x: list[Value]) -> Value:
        """A function of plain numbers."""
        raise NotImplementedError

    def size(self, x: Value) -> Value:
        """The size of x."""
        x = self.number(x)
        if x.kind is FLOAT:
            return Scalar(FLOAT, self.intrinsic("llvm.fabs.f64", x.v))
        v = self.cast(x, INT)
        below = self.builder.icmp_signed("<", v, Constant(I, 0))
        return Scalar(INT, self.builder.select(below, self.builder.neg(v), v))


INTS = {"Add": "add", "Sub": "sub", "Mult": "mul", "BitAnd": "and_", "BitOr": "or_", "BitXor": "xor",
        "LShift": "shl", "RShift": "ashr"}  # fmt: skip
FLOATS = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
SYMBOLS = {"Eq": ("==", "eq"), "NotEq": ("!=", "ne"), "Lt": ("<", "lt"), "LtE": ("<=", "le"), "Gt": (">", "gt"),
           "GtE": (">=", "ge")}  # fmt: skip
FOLDS = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "BitAnd": operator.and_,
         "BitOr": operator.or_, "BitXor": operator.xor}  # fmt: skip


def _folded(name: str, x: Any, y: Any) -> Any:
    """The result of an operator on constants where Python's is that of a kernel; else None."""
    whole = isinstance(x, int) and isinstance(y, int)
    if not whole and not all(type(value) in (int, bool, float) for value in (x, y)):
        return None
    if name == "Div" and y != 0:
        return x / y
    if name in ("FloorDiv", "Mod") and whole and y != 0:
        return x // y if name == "FloorDiv" else x % y
    if (name in ("BitAnd", "BitOr", "BitXor") and not whole) or name not in FOLDS:
        return None
    result = FOLDS[name](x, y)
    return result if not isinstance(result, int) or abs(result) < LONGEST_FOLD else None
