"""Numbers over lanes: types, conversions, operators and functions, as ``values`` has them for one number.

A value is shared by all lanes, a plain number, or wide, a vector with one number a lane; see ``lane_mode``. Where both
meet, the shared one is repeated. Operations are those of plain numbers, in the same order.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from polhode.kernel import simd
from polhode.kernel.simd import Lanes, each, joined, parts_of
from polhode.kernel.source import Unsupported
from polhode.kernel.text import BIT, TO_INTEGER, WIDE, Constant, F, I
from polhode.kernel.translate import Writer
from polhode.kernel.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    RANKS,
    SYMBOLS,
    Known,
    Row,
    Scalar,
    Truths,
    Tup,
    Value,
    leaves_of,
    opened,
    rebuilt,
    settled,
)


class Wholes(types.Type):  # type: ignore[misc]
    """The type of an integer in each lane."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Wholes({width})")


class Mask(types.Type):  # type: ignore[misc]
    """The type of the lanes for which a function is called."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Mask({width})")


PLAIN = {Lanes: FLOAT, Wholes: INT, Truths: BOOL}
"""The types of the numbers in lanes."""
OF_FOUR = (simd.four, simd.sum4)


def is_wide(kind: types.Type) -> bool:
    """Whether a type is one of lanes."""
    return type(kind) in PLAIN


def has_lanes(value: object) -> bool:
    """Whether a value, or a number in a small array, is one of lanes."""
    if isinstance(value, Row):
        return any(has_lanes(part) for part in value.parts)
    return isinstance(value, Scalar) and is_wide(value.kind)


class LaneValues(Writer):
    """The part of a writer over lanes that computes with numbers."""

    unit: Any
    width: int
    bits: Any

    def within(self, mask: object, make: Callable[[], Any]) -> Any:
        """What ``make`` returns, written for the lanes of a mask among those at hand."""
        raise NotImplementedError

    # -------------------------------------------------------------- types
    def wide_kind(self, kind: types.Type) -> Any:
        """The type of lanes of numbers of a type; a type of lanes itself."""
        if type(kind) in PLAIN:
            return kind
        return {FLOAT: Lanes, INT: Wholes, BOOL: Truths}[kind](self.width)

    def spread(self, v: Any) -> Any:
        """A number in all lanes."""
        return self.builder.repeated(v, ir.VectorType(v.type, self.width))

    def cast(self, value: Value, kind: Any) -> Any:
        value = settled(value)
        if not isinstance(value, Scalar) or value.kind == kind:
            return super().cast(value, kind)
        if not is_wide(kind):
            if is_wide(value.kind):
                raise Unsupported("a number that differs from lane to lane, where all lanes share one")
            return super().cast(value, kind)
        to = PLAIN[type(kind)]
        if value.kind in RANKS:
            return self.spread(super().cast(value, to))
        if type(value.kind) not in PLAIN:
            raise Unsupported(f"{value.kind} is no {kind}")
        known, builder = PLAIN[type(value.kind)], self.builder
        wide = ir.VectorType({FLOAT: F, INT: I, BOOL: BIT}[to], self.width)
        if to == FLOAT:
            return builder.sitofp(value.v, wide) if known == INT else builder.uitofp(value.v, wide)
        if to == INT:
            return builder.fptosi(value.v, wide) if known == FLOAT else builder.zext(value.v, wide)
        raise Unsupported(f"{value.kind} is no {kind}")

    def varied(self, value: Value) -> Value:
        """The settled value with a number of its own in each lane."""
        value = settled(value)
        if isinstance(value, Scalar) and value.kind in RANKS:
            kind = self.wide_kind(value.kind)
            return Scalar(kind, self.cast(value, kind))
        if isinstance(value, Tup):
            return Tup([self.varied(part) for part in value.parts], value.cls)
        if isinstance(value, Row):
            return Row([self.varied(part) for part in value.parts])
        return value

    def number(self, value: Value) -> Value:
        value = settled(value)
        if isinstance(value, Scalar) and is_wide(value.kind):
            return value
        return super().number(value)

    def common(self, a: Value, b: Value) -> Value:
        a, b = settled(a), settled(b)
        if isinstance(a, Scalar) and isinstance(b, Scalar) and (is_wide(a.kind) or is_wide(b.kind)):
            plain = [self.plain(x) for x in (a, b)]
            if a.kind != b.kind and None not in plain:
                kind = self.wide_kind(max(plain, key=RANKS.__getitem__))
                other = ir.VectorType({FLOAT: F, INT: I, BOOL: BIT}[PLAIN[type(kind)]], self.width)
                return Scalar(kind, Constant(other, ir.Undefined))
        return super().common(a, b)

    def plain(self, value: Any) -> Any:
        """The type of the number in a lane, or of a shared number; None of anything else."""
        if value.kind in RANKS:
            return value.kind
        return PLAIN.get(type(value.kind))

    def chosen(self, condition: Any, a: Value, b: Value) -> Value:
        if not isinstance(condition.type, ir.VectorType):
            return super().chosen(condition, a, b)
        like = self.varied(self.common(a, b))
        x, y = leaves_of(self.converted(a, like)), leaves_of(self.converted(b, like))
        return rebuilt(like, iter([self.builder.select(condition, p, q) for p, q in zip(x, y, strict=True)]))

    # -------------------------------------------------------------- operators
    def each_lane(self, make: Callable[..., Value], *values: Any) -> Value:
        """A function of numbers, lane by lane; its result may be a tuple."""
        kinds = [PLAIN.get(type(v.kind)) for v in values]
        wide = [parts_of(self.builder, v.v) if kind else [] for v, kind in zip(values, kinds, strict=True)]
        lanes = [[Scalar(kind, x) for x in vector] or [v] * self.width
                 for v, vector, kind in zip(values, wide, kinds, strict=True)]  # fmt: skip
        found = [settled(make(*lane)) for lane in zip(*lanes, strict=True)]
        vectors = [joined(self.builder, leaves) for leaves in zip(*map(leaves_of, found), strict=True)]
        return rebuilt(self.varied(found[0]), iter(vectors))

    def binary(self, name: str, x: Value, y: Value) -> Value:
        if not (has_lanes(x) or has_lanes(y)) or any(isinstance(opened(v), Tup | Row) for v in (x, y)):
            return super().binary(name, x, y)
        exponent = y.it if name == "Pow" and isinstance(y, Known) else None
        a, b = self.number(x), self.number(y)
        plain, builder = [self.plain(v) for v in (a, b)], self.builder
        if name == "Pow":
            return self.power_over_lanes(a, b, exponent)
        if FLOAT not in plain and name != "Div":
            if plain == [BOOL, BOOL] and name in ("BitAnd", "BitOr", "BitXor"):
                kind = self.wide_kind(BOOL)
                return Scalar(kind, getattr(builder, INTS[name])(self.cast(a, kind), self.cast(b, kind)))
            if name in INTS:
                kind = self.wide_kind(INT)
                return Scalar(kind, getattr(builder, INTS[name])(self.cast(a, kind), self.cast(b, kind)))
        elif name in FLOATS:
            kind = self.wide_kind(FLOAT)
            return Scalar(kind, getattr(builder, FLOATS[name])(self.cast(a, kind), self.cast(b, kind)))
        return self.each_lane(lambda p, q: Writer.binary(self, name, p, q), a, b)

    def power_over_lanes(self, a: Any, b: Any, exponent: Any) -> Value:
        """a to the power b; with a constant whole exponent by multiplications."""
        whole = isinstance(exponent, int) and not isinstance(exponent, bool) and 0 < abs(exponent) < 0x10000
        if not whole or self.plain(a) != FLOAT:
            other = b if exponent is None else Known(exponent)
            if exponent is None:
                return self.each_lane(lambda p, q: self.power(p, q, None), a, b)
            return self.each_lane(lambda p: Writer.binary(self, "Pow", p, other), a)
        kind, one = self.wide_kind(FLOAT), self.spread(Constant(F, 1.0))
        return Scalar(kind, self.multiplied(self.cast(a, kind), exponent, one, self.builder.fmul))

    def negative(self, x: Value) -> Value:
        if isinstance(x, Scalar) and isinstance(x.kind, Wholes | Truths):
            return Scalar(self.wide_kind(INT), self.builder.neg(self.cast(x, self.wide_kind(INT))))
        return super().negative(x)

    def as_truth(self, bits: Any) -> Scalar:
        return Scalar(self.wide_kind(BOOL) if isinstance(bits.type, ir.VectorType) else BOOL, bits)

    def compared(self, name: str, x: Value, y: Value) -> Value:
        if name not in SYMBOLS or not (has_lanes(x) or has_lanes(y)):
            return super().compared(name, x, y)
        a, b, symbol = self.number(x), self.number(y), SYMBOLS[name][0]
        if FLOAT in (self.plain(a), self.plain(b)):
            kind = self.wide_kind(FLOAT)
            test = self.builder.fcmp_unordered if symbol == "!=" else self.builder.fcmp_ordered
        else:
            kind, test = self.wide_kind(INT), self.builder.icmp_signed
        return Scalar(self.wide_kind(BOOL), test(symbol, self.cast(a, kind), self.cast(b, kind)))

    def truth(self, x: Value) -> Any:
        """Whether a value counts as true: True or False where that is known, else a bit, or one for each lane."""
        if not (isinstance(x, Scalar) and is_wide(x.kind)):
            return super().truth(x)
        if isinstance(x.kind, Truths):
            return x.v
        if isinstance(x.kind, Wholes):
            return self.builder.icmp_signed("!=", x.v, Constant(x.v.type, [0] * self.width))
        return self.builder.fcmp_unordered("!=", x.v, Constant(x.v.type, [0.0] * self.width))

    def both(self, a: Value, b: Value) -> Value:
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(a.it and b.it)
        x, y = (self.truth(settled(v)) for v in (a, b))
        if isinstance(x.type, ir.VectorType) != isinstance(y.type, ir.VectorType):
            x, y = (v if isinstance(v.type, ir.VectorType) else self.spread(v) for v in (x, y))
        return self.as_truth(self.builder.and_(x, y))

    def among(self, x: Value, several: Value, wanted: bool) -> Value:
        if not has_lanes(x):
            return super().among(x, several, wanted)
        if not isinstance(several, Tup):
            raise Unsupported("membership in something else than a tuple")
        found = Constant(self.bits, [0] * self.width)
        for part in several.parts:
            found = self.builder.or_(found, self.truth(self.compared("Eq", x, part)))
        return self.as_truth(found if wanted else self.builder.not_(found))

    def test(self, e: ast.expr) -> Any:
        """A condition: True or False where it is known, else a bit, or one for each lane."""
        return self.truth(self.value(e))

    def joined(self, test: Any, first: Any, second: Any) -> Value:
        if not isinstance(test.type, ir.VectorType):
            return super().joined(test, first, second)
        a = self.within(test, first)
        return self.chosen(test, a, self.within(self.builder.not_(test), second))

    # -------------------------------------------------------------- functions of numbers
    def least(self, values: Any, symbol: str) -> Value:
        if not any(has_lanes(value) for value in values):
            return super().least(values, symbol)
        return self.least_by_tests(values, symbol)

    def function_of_numbers(self, it: Any, x: list[Value]) -> Value:
        rows = any(isinstance(a, Row) for a in x)
        if rows or not any(has_lanes(a) for a in x) or it in (min, max, np.where, len, tuple, np.array, np.asarray):
            return super().function_of_numbers(it, x)
        x = [self.number(a) for a in x]
        if it in self.unit.replaced and self.code.co_filename != self.unit.replaced[it].py_func.__code__.co_filename:
            return self.call(self.unit.replaced[it], x, {})
        if it is bool:
            return self.as_truth(self.truth(x[0]))
        if it in (int, float):
            kind = self.wide_kind(INT if it is int else FLOAT)
            return Scalar(kind, self.cast(x[0], kind))
        wide = self.wide_kind(FLOAT)
        if it in (abs, np.abs) and self.plain(x[0]) != FLOAT:
            whole = Scalar(self.wide_kind(INT), self.cast(x[0], self.wide_kind(INT)))
            return self.chosen(self.truth(self.compared("Lt", whole, Known(0))), self.negative(whole), whole)
        if it in TO_INTEGER:
            found = each(self.builder, TO_INTEGER[it], self.cast(x[0], wide))
            return Scalar(self.wide_kind(INT), self.cast(Scalar(wide, found), self.wide_kind(INT)))
        if it in (math.isnan, np.isnan):
            v = self.cast(x[0], wide)
            return self.as_truth(self.builder.fcmp_unordered("uno", v, v))
        if it in (math.isfinite, np.isfinite):
            v = self.cast(x[0], wide)
            zero = self.builder.fsub(v, v)
            return self.as_truth(self.builder.fcmp_ordered("ord", zero, zero))
        if it in WIDE and len(x) == WIDE[it][1]:
            return Scalar(wide, each(self.builder, WIDE[it][0], *(self.cast(a, wide) for a in x)))
        return self.each_lane(lambda *numbers: Writer.function_of_numbers(self, it, list(numbers)), *x)

    def row(self, value: Value) -> Row:
        whole = opened(value)
        if not isinstance(whole, Tup) or not any(has_lanes(settled(part)) for part in whole.parts):
            return super().row(value)
        return Row([self.varied(self.number(self.binary("Mult", Known(1.0), part))) for part in whole.parts])

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        test = self.truth(condition)
        if isinstance(test, bool):
            return a if test else b
        return self.chosen(test, self.number(a), self.number(b))

    def call(self, it: object, arguments: list[Value], named: dict[str, Value]) -> Value:
        if it in OF_FOUR or (it in simd.IN_KERNELS and any(has_lanes(a) or isinstance(a, Row) for a in arguments)):
            return self.simd_function(it, arguments)
        return super().call(it, arguments, named)

    def parts_of_rows(self, x: list[Value]) -> list[list[Value]]:
        """The numbers of small arrays; any other value once for each."""
        length = max(len(a.parts) for a in x if isinstance(a, Row))
        return [list(a.parts) if isinstance(a, Row) else [a] * length for a in x]

    def simd_function(self, it: Any, x: list[Value]) -> Value:
        """Functions of ``kernel.simd``: four numbers at once are a small array of four, each over lanes."""
        if it is simd.four:
            while len(x) > 2 and isinstance(x[-1], Known) and x[-1].it == 0.0:  # unused nodes of a rule
                x = x[:-1]
            return Row([self.number(a) for a in x])
        if it is simd.sum4:
            return self.sum_of_four(x[0])
        if any(isinstance(a, Row) for a in x):
            parts = zip(*self.parts_of_rows(x), strict=True)
            if it is simd.fused:
                return Row([self.binary("Add", self.binary("Mult", a, b), c) for a, b, c in parts])
            if it is simd.roots:
                return Row([self.function_of_numbers(math.sqrt, [a]) for (a,) in parts])
        if it is simd.roots:
            return self.function_of_numbers(math.sqrt, x)
        wide = self.wide_kind(FLOAT)
        if it in (simd.fused, simd.product_error):
            a, b, c = (self.cast(self.number(v), wide) for v in x)
            return Scalar(wide, each(self.builder, "fma", a, b, self.builder.fneg(c) if it is not simd.fused else c))
        if it in (simd.two_to, simd.exponent_and_fraction):
            return super().call(it, [Scalar(wide, self.cast(self.number(x[0]), wide))], {})
        raise Unsupported(f"{it.__name__} of lanes")
