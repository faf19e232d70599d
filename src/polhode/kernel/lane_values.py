"""Numbers over lanes: types, conversions, operators and functions, as ``values`` has them for one number.

A value is shared by all lanes, a plain number, or wide, a vector with one number a lane; see ``lane_mode``. Where both
meet, the shared one is repeated. Operations are those of plain numbers, in the same order.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from polhode.kernel import simd
from polhode.kernel.simd import Lanes, each
from polhode.kernel.source import Unsupported
from polhode.kernel.translate import Writer
from polhode.kernel.values import (
    BIT,
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    RANKS,
    SYMBOLS,
    TO_INTEGER,
    WIDE,
    F,
    I,
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


def is_wide(kind: Any) -> bool:
    """Whether a type is one of lanes."""
    return type(kind) in PLAIN


def has_lanes(value: Any) -> bool:
    """Whether a value, or a number in a small array, is one of lanes."""
    if isinstance(value, Row):
        return any(has_lanes(part) for part in value.parts)
    return isinstance(value, Scalar) and is_wide(value.kind)


class LaneValues(Writer):
    """The part of a writer over lanes that computes with numbers."""

    unit: Any
    width: int
    bits: Any

    def within(self, mask: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` returns, written for the lanes of a mask among those at hand."""
        raise NotImplementedError

    # -------------------------------------------------------------- types
    def wide_kind(self, kind: Any) -> Any:
        """The type of lanes of numbers of a type; a type of lanes itself."""
        if type(kind) in PLAIN:
            return kind
        return {FLOAT: Lanes, INT: Wholes, BOOL: Truths}[kind](self.width)

    def spread(self, v: Any) -> Any:
        """A number in all lanes."""
        kind = ir.VectorType(v.type, self.width)
        if isinstance(v, ir.Constant) and not isinstance(v.constant, str) and v.constant is not ir.Undefined:
            return ir.Constant(kind, [v.constant] * self.width)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), v, ir.Constant(ir.IntType(32), 0))
        order = ir.Constant(ir.VectorType(ir.IntType(32), self.width), [0] * self.width)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), order)

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
                return Scalar(kind, ir.Constant(other, ir.Undefined))
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
        found = []
        for i in range(self.width):
            at = ir.Constant(ir.IntType(32), i)
            lane = [
                Scalar(PLAIN[type(v.kind)], self.builder.extract_element(v.v, at)) if is_wide(v.kind) else v
                for v in values
            ]
            found.append(settled(make(*lane)))
        like = self.varied(found[0])
        vectors = []
        for leaves in zip(*(leaves_of(one) for one in found), strict=True):
            whole = ir.Constant(ir.VectorType(leaves[0].type, self.width), ir.Undefined)
            for i, leaf in enumerate(leaves):
                whole = self.builder.insert_element(whole, leaf, ir.Constant(ir.IntType(32), i))
            vectors.append(whole)
        return rebuilt(like, iter(vectors))

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
        times, square, n, result = self.builder.fmul, self.cast(a, self.wide_kind(FLOAT)), abs(exponent), None
        while n:
            if n & 1:
                result = square if result is None else times(result, square)
            n >>= 1
            if n:
                square = times(square, square)
        if exponent < 0:
            result = self.builder.fdiv(self.spread(ir.Constant(F, 1.0)), result)
        return Scalar(self.wide_kind(FLOAT), result)

    def negative(self, x: Value) -> Value:
        if isinstance(x, Scalar) and isinstance(x.kind, Wholes | Truths):
            return Scalar(self.wide_kind(INT), self.builder.neg(self.cast(x, self.wide_kind(INT))))
        return super().negative(x)

    def _UnaryOp(self, e: ast.UnaryOp) -> Value:
        if isinstance(e.op, ast.Not):
            truth = self.truth(self.value(e.operand))
            if isinstance(truth, bool):
                return Known(not truth)
            return self.as_truth(self.builder.not_(truth))
        return super()._UnaryOp(e)

    def as_truth(self, bits: Any) -> Scalar:
        """A condition, shared or of lanes."""
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
            return self.builder.icmp_signed("!=", x.v, ir.Constant(x.v.type, [0] * self.width))
        return self.builder.fcmp_unordered("!=", x.v, ir.Constant(x.v.type, [0.0] * self.width))

    def together(self, name: str, a: Any, b: Any) -> Any:
        """Two conditions joined by "and_" or "or_", each a bit or one for each lane."""
        if isinstance(a.type, ir.VectorType) != isinstance(b.type, ir.VectorType):
            a, b = (v if isinstance(v.type, ir.VectorType) else self.spread(v) for v in (a, b))
        return getattr(self.builder, name)(a, b)

    def both(self, a: Value, b: Value) -> Value:
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(a.it and b.it)
        return self.as_truth(self.together("and_", *(self.truth(settled(v)) for v in (a, b))))

    def among(self, x: Value, several: Value, wanted: bool) -> Value:
        if not has_lanes(x):
            return super().among(x, several, wanted)
        if not isinstance(several, Tup):
            raise Unsupported("membership in something else than a tuple")
        found = ir.Constant(self.bits, [0] * self.width)
        for part in several.parts:
            found = self.builder.or_(found, self.truth(self.compared("Eq", x, part)))
        return self.as_truth(found if wanted else self.builder.not_(found))

    def test(self, e: ast.expr) -> Any:
        """A condition: True or False where it is known, else a bit, or one for each lane."""
        return self.truth(self.value(e))

    def connected(self, values: list[ast.expr], either: bool) -> Value:
        first = self.value(values[0])
        if len(values) == 1:
            return first
        test = self.truth(first)
        if isinstance(test, bool) or not isinstance(test.type, ir.VectorType):
            if isinstance(test, bool):
                return first if test == either else self.connected(values[1:], either)
            makes = ((lambda: first), (lambda: self.connected(values[1:], either)))
            return self.joined(test, *(makes if either else makes[::-1]))
        second = self.within(self.builder.not_(test) if either else test, lambda: self.connected(values[1:], either))
        return self.chosen(test, first, second) if either else self.chosen(test, second, first)

    def _IfExp(self, e: ast.IfExp) -> Value:
        test = self.test(e.test)
        if isinstance(test, bool):
            return self.value(e.body if test else e.orelse)
        if not isinstance(test.type, ir.VectorType):
            return self.joined(test, lambda: self.value(e.body), lambda: self.value(e.orelse))
        first = self.within(test, lambda: self.value(e.body))
        return self.chosen(test, first, self.within(self.builder.not_(test), lambda: self.value(e.orelse)))

    # -------------------------------------------------------------- functions of numbers
    def least(self, values: Any, symbol: str) -> Value:
        if not any(has_lanes(value) for value in values):
            return super().least(values, symbol)
        best = self.number(values[0])
        name = "Lt" if symbol == "<" else "Gt"
        for value in values[1:]:
            test = self.truth(self.compared(name, value, best))
            if isinstance(test, bool):
                best = self.number(value) if test else best
            elif isinstance(test.type, ir.VectorType):
                best = self.chosen(test, value, best)
            else:
                best = super().chosen(test, value, best)
        return best

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

    def function_of_rows(self, it: Any, x: list[Value]) -> Value:
        if it is np.linalg.norm and len(x) == 1:
            return self.function_of_numbers(math.sqrt, [self.row_by_row("MatMult", x[0], x[0])])
        return super().function_of_rows(it, x)

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        test = self.truth(condition)
        if isinstance(test, bool):
            return a if test else b
        return self.chosen(test, self.number(a), self.number(b))

    def call(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
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
            if not isinstance(x[0], Row):
                raise Unsupported("a sum of four lanes")
            halves = [functools.reduce(functools.partial(self.binary, "Add"), x[0].parts[k : k + 2]) for k in (0, 2)
                      if x[0].parts[k:]]  # fmt: skip
            return functools.reduce(functools.partial(self.binary, "Add"), halves)
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
