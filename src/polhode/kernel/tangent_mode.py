"""Translates kernels so that each number carries derivatives: the same source, forward-mode differentiation.

A value is *plain*, with no derivatives (counts, times, coefficients of a method), or *active*: a number and its
derivatives along several directions, a vector that processors work on at once. Its type says which, and types follow
from those of the arguments, as in ``translate``: what a pointer to active numbers holds is active, and what is computed
from it. Nothing in the source says so.

The numbers themselves are computed by the same operations in the same order as without derivatives; conditions look at
the numbers alone, so the same branches are taken. A derivative is that of the branch. Rules where one is not defined: a
square root of 0, ``abs`` and ``copysign`` at 0 count as constant; rounding (``floor``, ``int``) as constant.

Plain memory takes plain numbers only, but for the flags and counters of ``step_info`` (``counters``), where a number
leaves its derivatives behind.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from polhode.kernel import simd
from polhode.kernel.lane_mode import lane_numbers
from polhode.kernel.source import Unsupported
from polhode.kernel.text import EXTERNS, I32, INTRINSICS, TO_INTEGER, Constant, F, I, Whole
from polhode.kernel.translate import Unit, Writer
from polhode.kernel.values import BOOL, FLOAT, INT, NOTHING, Known, Row, Scalar, Tup, Value, opened, plain_kind, settled

WIDEST = 8
"""Most derivatives in one vector; more directions take several."""
CONTRACT = ("contract",)
EIGHT_BYTES = 8


# ------------------------------------------------------------------ what kernels with derivatives are written with
def active(numbers, derivatives):
    """A pointer to active numbers: to numbers, and to their derivatives (``padded`` of each)."""
    return numbers


def counters(numbers):
    """A pointer to flags and counters: a number that is written there leaves its derivatives behind."""
    return numbers


def shifted(numbers, k):
    """A pointer to what lies ``k`` numbers behind."""
    return numbers[k:]


def derivative_rules(pairs, apart):
    """Pairs (helper, rule): in this kernel a call of the helper with active numbers is one of the rule.

    Helpers that are ``apart`` are objects of their own, compiled once for all kernels."""


def plain(x):
    """A number, or a tuple of them, without derivatives."""
    return x


def with_derivatives(x, *terms):
    """The plain number x whose derivatives are the sum of those of terms, pairs (plain factor, number)."""
    return x


def by_numbers(function, *arguments):
    """A helper as plain kernels compile it, of numbers and pointers without their derivatives."""
    return function(*arguments)


def chunks(directions: int) -> tuple[int, ...]:
    """The lengths of the vectors that hold so many derivatives."""
    found = [WIDEST] * (directions // WIDEST)
    left = directions % WIDEST
    return (*found, *([next(n for n in (2, 4, 8) if n >= left)] if left else []))


def padded(directions: int) -> int:
    """How many numbers the derivatives of one number take in memory."""
    return sum(chunks(directions))


SMALL_ARRAYS = (
    simd.four, simd.sum4, simd.spread, simd.spread8, simd.load4, simd.load8, simd.store4, simd.store8,
    simd.transposed, simd.up_to, simd.cycled, simd.eight, simd.low, simd.high, simd.below,
)  # fmt: skip
"""Functions of ``kernel.simd`` that make vectors or take them apart."""


class Active(types.Type):  # type: ignore[misc]
    """The type of a number with its derivatives."""

    def __init__(self, directions: int) -> None:
        self.chunks = chunks(directions)
        super().__init__(name=f"Active{self.chunks}")


COUNTER = types.Opaque("Counter")
"""The type of flags and counters in memory."""


def is_active(value: object) -> bool:
    """Whether a value, or a number in a small array or tuple, has derivatives."""
    if isinstance(value, Row | Tup):
        return any(is_active(part) for part in value.parts)
    return type(value) is Scalar and type(value.kind) is Active


def numbers_of(value: Value) -> list[Value]:
    """The numbers and pointers of a settled value."""
    return [one for part in value.parts for one in numbers_of(part)] if isinstance(value, Row | Tup) else [value]


class Slot:
    """Where an active number lies: addresses of the number and of its derivatives."""

    __slots__ = ("derivatives", "number")

    def __init__(self, number: ir.Value, derivatives: ir.Value) -> None:
        self.number, self.derivatives = number, derivatives


class TangentUnit(Unit):
    """A module whose functions carry so many derivatives."""

    roles = False

    def __init__(self, context: Any, typing: Any, module: Any, directions: int) -> None:
        super().__init__(context, typing, module, TangentWriter)
        self.directions = directions
        self.apart: frozenset[Any] = frozenset()
        self.kind = Active(directions)
        self.vectors = [ir.VectorType(F, n) for n in self.kind.chunks]
        self.zeros, self.minus_zeros = ([Constant(v, [x] * v.count) for v in self.vectors] for x in (0.0, -0.0))
        self.struct = ir.LiteralStructType([F, *self.vectors])
        self.rules: dict[Any, Any] = {}
        self.others: dict[int, TangentUnit] = {}

    def of(self, directions: int) -> TangentUnit:
        """The same for other directions, for calls of objects from this module."""
        if directions not in self.others:
            made = TangentUnit(self.context, self.typing, self.module, directions)
            made.rules, self.others[directions] = self.rules, made
        return self.others[directions]


class TangentWriter(Writer):
    """Writes one function with derivatives."""

    unit: TangentUnit

    # -------------------------------------------------------------- numbers and derivatives
    def parts(self, value: Value) -> tuple[ir.Value, list[ir.Value] | None]:
        """A number as an LLVM value, and its derivatives, None of a plain one."""
        value = settled(value)
        if not is_active(value):
            return self.cast(value, FLOAT), None
        number, *derivatives = self.builder.parts(value.v)  # type: ignore[union-attr]
        return number, derivatives

    def joined_parts(self, number: ir.Value, derivatives: list[ir.Value] | None) -> Scalar:
        """The value of a number with derivatives; a plain one of a number without."""
        if derivatives is None:
            return Scalar(FLOAT, number)
        return Scalar(self.unit.kind, Whole(self.builder, self.unit.struct, (number, *derivatives)))

    def scaled(self, factor: ir.Value, derivatives: ir.Value) -> ir.Value:
        """A vector of derivatives times a number."""
        return self.builder.fmul(self.builder.repeated(factor, derivatives.type), derivatives, flags=CONTRACT)

    def combined(self, *terms: tuple[Any, list[Any] | None]) -> list[Any] | None:
        """The sum of derivatives times factors: pairs (factor, derivatives), the factor an LLVM number, 1 or -1."""
        found: list[Any] | None = None
        for factor, derivatives in terms:
            if derivatives is None:
                continue
            own = list(derivatives) if isinstance(factor, int) else [self.scaled(factor, d) for d in derivatives]
            if found is not None:
                add = self.builder.fsub if factor == -1 else self.builder.fadd
                found = [add(a, d, flags=CONTRACT) for a, d in zip(found, own, strict=True)]
            elif factor == -1:
                found = [self.builder.fsub(z, d) for z, d in zip(self.unit.minus_zeros, own, strict=True)]
            else:
                found = own
        return found

    def primal(self, value: Value) -> Value:
        """A value, or a pointer to numbers, without derivatives."""
        value = opened(value)
        if self.points(value):
            return Scalar(types.CPointer(FLOAT), self.builder.parts(value.v)[0])  # type: ignore[union-attr]
        if isinstance(value, Tup):
            return Tup([self.primal(part) for part in value.parts], value.cls)
        if isinstance(value, Row):
            return Row([self.primal(part) for part in value.parts])
        return Scalar(FLOAT, self.parts(value)[0]) if is_active(value) else value

    # -------------------------------------------------------------- conversions
    def cast(self, value: Value, kind: types.Type) -> ir.Value:
        value = settled(value)
        if isinstance(value, Scalar) and value.kind is not kind:
            if isinstance(kind, Active):
                return self.joined_parts(super().cast(value, FLOAT), self.unit.zeros).v
            if isinstance(value.kind, Active):
                if kind is FLOAT:
                    raise Unsupported("a number with derivatives where one without is needed")
                return super().cast(self.primal(value), kind)
        return super().cast(value, kind)

    def number(self, value: Value) -> Scalar:
        value = settled(value)
        return value if is_active(value) and isinstance(value, Scalar) else super().number(value)

    def common(self, a: Value, b: Value) -> Value:
        a, b = settled(a), settled(b)
        if isinstance(a, Scalar) and isinstance(b, Scalar) and a.kind is not b.kind:
            for x, y in ((a, b), (b, a)):
                if isinstance(x.kind, Active) and plain_kind(y.kind) is y.kind:
                    return x
        return super().common(a, b)

    # -------------------------------------------------------------- operators
    def binary(self, name: str, x: Value, y: Value) -> Value:
        if not (is_active(x) or is_active(y)) or isinstance(opened(x), Tup | Row) or isinstance(opened(y), Tup | Row):
            return super().binary(name, x, y)
        if name == "Pow":
            return self.power_of_active(x, y)
        (a, da), (b, db) = self.parts(self.number(x)), self.parts(self.number(y))
        builder = self.builder
        if name == "Add":
            return self.joined_parts(builder.fadd(a, b), self.combined((1, da), (1, db)))
        if name == "Sub":
            return self.joined_parts(builder.fsub(a, b), self.combined((1, da), (-1, db)))
        if name == "Mult":
            return self.joined_parts(builder.fmul(a, b), self.combined((b, da), (a, db)))
        if name == "Div":
            q = builder.fdiv(a, b)
            inverse = q if getattr(a, "constant", None) == 1.0 else builder.fdiv(Constant(F, 1.0), b)
            by_b = None if db is None else builder.fneg(builder.fmul(q, inverse))
            return self.joined_parts(q, self.combined((inverse, da), (by_b, db)))
        if name == "FloorDiv":
            return Scalar(FLOAT, self.real_division(a, b, False))
        if name == "Mod":
            times = None if db is None else builder.fneg(self.real_division(a, b, False))
            return self.joined_parts(self.real_division(a, b, True), self.combined((1, da), (times, db)))
        raise Unsupported(f"the operator {name}")

    def power_of_active(self, x: Value, y: Value) -> Value:
        """x to the power y."""
        exponent = y.it if isinstance(y, Known) else None
        base, power = self.primal(self.number(x)), self.primal(y)
        found = Writer.binary(self, "Pow", base, power)
        _, dx = self.parts(x) if is_active(x) else (None, None)
        terms: list[tuple[Any, Any]] = []
        if dx is not None and exponent != 0:
            less = Known(exponent - 1) if exponent is not None else self.binary("Sub", power, Known(1))
            slope = self.binary("Mult", power, Writer.binary(self, "Pow", base, less))
            terms.append((self.cast(slope, FLOAT), dx))
        if is_active(y):
            logarithm = self.function_of_numbers(math.log, [base])
            terms.append((self.cast(self.binary("Mult", found, logarithm), FLOAT), self.parts(y)[1]))
        return self.joined_parts(self.cast(found, FLOAT), self.combined(*terms))

    def negative(self, x: Value) -> Value:
        if not isinstance(x, Scalar) or not is_active(x):
            return super().negative(x)
        v, d = self.parts(x)
        return self.joined_parts(self.builder.fsub(Constant(F, -0.0), v), self.combined((-1, d)))

    def compared(self, name: str, x: Value, y: Value) -> Value:
        return super().compared(name, *(self.primal(v) if is_active(v) else v for v in (x, y)))

    def truth(self, x: Value) -> Any:
        return super().truth(self.primal(x) if isinstance(x, Scalar) and is_active(x) else x)

    def least(self, values: Sequence[Value], symbol: str) -> Value:
        if not any(is_active(value) for value in values):
            return super().least(values, symbol)
        return self.least_by_tests(values, symbol)

    # -------------------------------------------------------------- functions of numbers
    def function_of_numbers(self, it: Callable[..., Any], x: list[Value]) -> Value:
        if any(isinstance(opened(a), Tup | Row) for a in x) or not any(is_active(a) for a in x):
            return super().function_of_numbers(it, x)
        if it in (min, max, np.where):
            return super().function_of_numbers(it, x)
        if it is float:
            return self.number(x[0])
        if it in TO_INTEGER or it in (int, bool, np.floor, np.ceil, np.rint, math.isnan, np.isnan, math.isfinite,
                                      np.isfinite):  # fmt: skip
            return super().function_of_numbers(it, [self.primal(a) for a in x])
        plain_numbers: list[Value] = [Scalar(FLOAT, self.parts(a)[0]) for a in x]
        if it is math.frexp:
            both: Any = super().function_of_numbers(it, plain_numbers)
            down = self.function_of_numbers(math.ldexp, [Known(1.0), self.negative(both.parts[1])])
            slope = self.combined((self.cast(down, FLOAT), self.parts(x[0])[1]))
            return Tup([self.joined_parts(both.parts[0].v, slope), both.parts[1]])
        if it is math.ldexp:
            found = super().function_of_numbers(it, [plain_numbers[0], x[1]])
            up = super().function_of_numbers(it, [Known(1.0), x[1]])
            return self.joined_parts(found.v, self.combined((self.cast(up, FLOAT), self.parts(x[0])[1])))  # type: ignore[union-attr]
        found = super().function_of_numbers(it, plain_numbers)
        rule = SLOPES.get(it) or SLOPES.get(EXTERNS.get(it) or INTRINSICS.get(it))
        if rule is None:
            raise Unsupported(f"the derivative of {getattr(it, '__name__', it)}")
        made = rule(_Calculator(self), found, *plain_numbers)
        factors = zip(made if isinstance(made, tuple) else (made,), x, strict=True)
        terms = [(self.cast(f, FLOAT), self.parts(a)[1]) for f, a in factors if is_active(a)]
        return self.joined_parts(self.cast(found, FLOAT), self.combined(*terms))

    def size(self, x: Value) -> Value:
        return self.function_of_numbers(abs, [x]) if is_active(x) else super().size(x)

    def row(self, value: Value) -> Row:
        whole = opened(value)
        if not isinstance(whole, Tup) or not is_active(whole):
            return super().row(value)
        return Row([Scalar(self.unit.kind, self.cast(self.number(part), self.unit.kind)) for part in whole.parts])

    def row_by_row(self, name: str, x: Value, y: Value) -> Value:
        found = super().row_by_row(name, x, y)
        if isinstance(found, Row) and is_active(found):
            return Row([Scalar(self.unit.kind, self.cast(part, self.unit.kind)) for part in found.parts])
        return found

    # -------------------------------------------------------------- calls
    def call(self, it: Callable[..., Any], arguments: list[Value], named: dict[str, Value]) -> Value:
        special = SPECIAL.get(it) if isinstance(it, type(active)) else None
        if special is not None:
            return special(self, *arguments)
        some = [opened(a) for a in arguments]
        if it in SMALL_ARRAYS or (it in simd.IN_KERNELS and any(isinstance(a, Row) or is_active(a) for a in some)):
            return self.simd_function(it, arguments)
        return super().call(it, arguments, named)

    def helper(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        rule = self.unit.rules.get(it)
        own = rule is not None and self.source is rule.py_func
        some = any(is_active(opened(a)) for a in arguments)
        if rule is not None and not own and (some or any(map(self.points, arguments))):
            return super().helper(rule, arguments, named)
        if some and it in self.unit.apart and self.unit.object_of is not None:
            given = [settled(a) for a in arguments]
            leaves = [leaf for value in given for leaf in numbers_of(value)]
            seeded = [leaf for leaf in leaves if is_active(leaf)]
            if len(chunks(len(seeded))) < len(self.unit.kind.chunks) and not any(map(self.points, leaves)):
                return self.chained(it, given, seeded)
            return self.call_written(self.unit.object_of(self.unit, it, given, self.unit.directions), given)
        return super().helper(it, arguments, named)

    def chained(self, it: Any, given: list[Value], seeded: list[Value]) -> Value:
        """A helper by its derivatives along its own arguments, which are fewer than the directions."""
        unit, builder = self.unit.of(len(seeded)), self.builder
        count = len(seeded)
        numbers = [self.parts(one) for one in seeded]
        made = iter(range(count))

        def along_one(value: Value) -> Value:
            if isinstance(value, Tup):
                return Tup([along_one(part) for part in value.parts], value.cls)
            if not is_active(value):
                return value
            k, at, vectors = next(made), 0, []
            for vector in unit.vectors:
                vectors.append(Constant(vector, [float(at + i == k) for i in range(vector.count)]))
                at += vector.count
            number = self.parts(value)[0]
            return Scalar(unit.kind, Whole(builder, unit.struct, (number, *vectors)))

        alone = [along_one(value) for value in given]
        found = self.call_written(self.unit.object_of(unit, it, alone, count), alone)

        def along_all(value: Value) -> Value:
            if isinstance(value, Tup):
                return Tup([along_all(part) for part in value.parts], value.cls)
            if not is_active(value):
                return value
            number, *vectors = builder.parts(value.v)  # type: ignore[union-attr]
            slopes = [builder.extract_element(v, Constant(I32, k)) for v in vectors for k in range(v.type.count)]
            terms = [(slope, own) for slope, (_, own) in zip(slopes, numbers, strict=False)]
            return self.joined_parts(number, self.combined(*terms))

        return along_all(found)

    def alike(self, numbers: list[Value]) -> Row:
        """A small array of numbers of one type."""
        like = functools.reduce(self.common, numbers)
        return Row([self.converted(one, like) for one in numbers])

    def simd_function(self, it: Callable[..., Any], x: list[Value]) -> Value:
        """Functions of ``kernel.simd``: several numbers at once are a small array."""
        if it is simd.four:
            if all(isinstance(a, Known) for a in x):
                while len(x) > 2 and x[-1].it == 0.0:  # type: ignore[union-attr]  # unused nodes of a rule
                    x = x[:-1]
            return self.alike([self.number(a) for a in x])
        if it in (simd.spread, simd.spread8):
            return self.alike([self.number(x[0])] * (4 if it is simd.spread else 8))
        if it in (simd.load4, simd.load8):
            count = 4 if it is simd.load4 else 8
            places = [self.binary("Add", x[1], Known(k)) for k in range(count)]
            return self.alike([self.loaded(*self.element(opened(x[0]), k)) for k in places])  # type: ignore[misc]
        if it in (simd.store4, simd.store8):
            for k, one in enumerate(x[2].parts):  # type: ignore[union-attr]
                slot, kind = self.element(opened(x[0]), self.binary("Add", x[1], Known(k)))  # type: ignore[misc]
                self.put(one, slot, kind)
            return NOTHING
        if it is simd.sum4:
            return self.sum_of_four(x[0])
        if it is simd.transposed:
            return Tup([self.alike(list(one)) for one in zip(*(a.parts for a in x), strict=True)])  # type: ignore[union-attr]
        if it is simd.up_to:
            some, none = x[0].parts, self.number(Known(0.0))  # type: ignore[union-attr]
            tests = [self.truth(self.compared("Gt", x[1], Known(k))) for k in range(len(some))]
            return self.alike([self.chosen(test, one, none) for test, one in zip(tests, some, strict=True)])
        if it is simd.cycled:
            return Row([x[0].parts[k] for k in (1, 2, 0, 3)])  # type: ignore[union-attr]
        if it is simd.eight:
            return self.alike([*x[0].parts, *x[1].parts])  # type: ignore[union-attr]
        if it in (simd.low, simd.high):
            return Row(x[0].parts[:4] if it is simd.low else x[0].parts[4:])  # type: ignore[union-attr]
        if it is simd.below:
            bits: Value = Known(0)
            for k, one in enumerate(x[0].parts):  # type: ignore[union-attr]
                test = self.cast(self.compared("Lt", one, x[1]), INT)
                bits = self.binary("Add", bits, self.binary("Mult", Scalar(INT, test), Known(1 << k)))
            return bits
        if any(isinstance(a, Row) for a in x):
            return self.alike([self.simd_function(it, list(one)) for one in self.parts_of_rows(x)])
        if it is simd.roots:
            return self.function_of_numbers(math.sqrt, x)
        if it is simd.reciprocal_roots:
            (a, da), make = self.parts(self.number(x[0])), self.builder.fmul
            y = self.cast(super().call(it, [Scalar(FLOAT, a)], {}), FLOAT)
            slope = make(make(Constant(F, -0.5), y), make(y, y))
            return self.joined_parts(y, self.combined((slope, da)))
        if it is simd.rounded:
            return Scalar(FLOAT, self.intrinsic("llvm.rint.f64", self.parts(self.number(x[0]))[0]))
        if it in (simd.lesser, simd.greater):
            test = self.truth(self.compared("Lt" if it is simd.lesser else "Gt", *x))
            return self.chosen(test, self.number(x[0]), self.number(x[1]))
        if it in (simd.fused, simd.product_error):
            numbers = [self.number(a) for a in x]
            found = super().call(it, [self.primal(a) for a in numbers], {})
            (a, da), (b, db), (_, dc) = (self.parts(v) for v in numbers)
            last = (1 if it is simd.fused else -1, dc)
            return self.joined_parts(self.cast(found, FLOAT), self.combined((b, da), (a, db), last))
        if it in (simd.two_to, simd.exponent_and_fraction):  # sizes of steps and scales
            return super().call(it, [self.primal(a) for a in x], {})
        raise Unsupported(f"{it.__name__} of numbers with derivatives")

    def written_by_hand(self, it: Any, arguments: list[Value]) -> Value:
        return super().written_by_hand(it, [self.primal(a) if self.points(a) else a for a in arguments])

    def points(self, value: Value) -> bool:
        """Whether a value is a pointer to active numbers."""
        kind = value.kind if isinstance(value, Scalar) else None
        return isinstance(kind, types.CPointer) and kind.dtype == self.unit.kind

    # -------------------------------------------------------------- memory
    def element(self, owner: Value, where: Value) -> tuple[Any, Any] | None:
        if self.points(owner):
            return self.active_slot(owner, self.index(where)), self.unit.kind  # type: ignore[arg-type]
        return super().element(owner, where)

    def active_slot(self, pointer: Scalar, k: ir.Value) -> Slot:
        """Where active number k behind a pointer lies."""
        builder, kind = self.builder, self.unit.kind
        numbers, derivatives = builder.parts(pointer.v)
        behind = builder.mul(k, Constant(I, sum(kind.chunks)))
        return Slot(builder.gep(numbers, [k]), builder.gep(derivatives, [behind]))

    def loaded(self, slot: ir.Value | Slot, kind: types.Type) -> Scalar:
        builder = self.builder
        if not isinstance(slot, Slot):
            return Scalar(FLOAT if kind == COUNTER else kind, builder.load(slot))
        found, at = [], 0
        for vector in self.unit.vectors:
            where = builder.gep(slot.derivatives, [Constant(I, at)])
            found.append(builder.load(builder.bitcast(where, vector.as_pointer()), align=EIGHT_BYTES))
            at += vector.count
        return self.joined_parts(builder.load(slot.number), found)

    def put(self, value: Value, slot: ir.Value | Slot, kind: types.Type) -> None:
        """Plain memory takes the number alone."""
        builder = self.builder
        if not isinstance(slot, Slot):
            if kind == COUNTER:
                value, kind = self.primal(value), FLOAT
            builder.store(self.cast(value, kind), slot)
            return
        value = self.number(value)
        number, derivatives = self.parts(Scalar(kind, self.cast(value, kind)))
        builder.store(number, slot.number)
        at = 0
        for d in derivatives or ():
            where = builder.gep(slot.derivatives, [Constant(I, at)])
            builder.store(d, builder.bitcast(where, d.type.as_pointer()), align=EIGHT_BYTES)
            at += d.type.count


# ------------------------------------------------------------------ derivatives of functions
class _Calculator:
    """Arithmetic on plain numbers of a writer."""

    def __init__(self, writer: TangentWriter) -> None:
        self.w = writer

    def __call__(self, name: str, x: Value | float, y: Value | float) -> Value:
        x, y = (Known(v) if isinstance(v, int | float) else v for v in (x, y))
        return self.w.binary({"+": "Add", "-": "Sub", "*": "Mult", "/": "Div"}[name], x, y)

    def f(self, it: Callable[..., Any], *x: Value) -> Value:
        return Writer.function_of_numbers(self.w, it, list(x))

    def unless_zero(self, x: Value, value: Value) -> Value:
        """A value, or 0 where x is 0."""
        zero = Scalar(FLOAT, Constant(F, 0.0))
        return self.w.chosen(self.w.cast(self.w.compared("NotEq", x, Known(0.0)), BOOL), value, zero)


SLOPES: dict[Any, Any] = {
    "sqrt": lambda c, v, x: c.unless_zero(v, c("/", 0.5, v)),
    "sin": lambda c, v, x: c.f(math.cos, x),
    "cos": lambda c, v, x: c.w.negative(c.f(math.sin, x)),
    "tan": lambda c, v, x: c("+", 1.0, c("*", v, v)),
    "asin": lambda c, v, x: c("/", 1.0, c.f(math.sqrt, c("*", c("-", 1.0, x), c("+", 1.0, x)))),
    "acos": lambda c, v, x: c("/", -1.0, c.f(math.sqrt, c("*", c("-", 1.0, x), c("+", 1.0, x)))),
    "atan": lambda c, v, x: c("/", 1.0, c("+", 1.0, c("*", x, x))),
    "sinh": lambda c, v, x: c.f(math.cosh, x),
    "cosh": lambda c, v, x: c.f(math.sinh, x),
    "tanh": lambda c, v, x: c("-", 1.0, c("*", v, v)),
    "asinh": lambda c, v, x: c("/", 1.0, c.f(math.sqrt, c("+", 1.0, c("*", x, x)))),
    "acosh": lambda c, v, x: c("/", 1.0, c.f(math.sqrt, c("*", c("-", x, 1.0), c("+", x, 1.0)))),
    "atanh": lambda c, v, x: c("/", 1.0, c("*", c("-", 1.0, x), c("+", 1.0, x))),
    "exp": lambda c, v, x: v,
    "expm1": lambda c, v, x: c("+", v, 1.0),
    "log": lambda c, v, x: c("/", 1.0, x),
    "log1p": lambda c, v, x: c("/", 1.0, c("+", 1.0, x)),
    "log2": lambda c, v, x: c("/", 1.0 / math.log(2.0), x),
    "log10": lambda c, v, x: c("/", 1.0 / math.log(10.0), x),
    "erf": lambda c, v, x: c("*", 2.0 / math.sqrt(math.pi), c.f(math.exp, c.w.negative(c("*", x, x)))),
    "erfc": lambda c, v, x: c("*", -2.0 / math.sqrt(math.pi), c.f(math.exp, c.w.negative(c("*", x, x)))),
    "fabs": lambda c, v, x: c.unless_zero(x, c.f(math.copysign, Known(1.0), x)),
    "floor": lambda c, v, x: Known(0.0),
    "ceil": lambda c, v, x: Known(0.0),
    "atan2": lambda c, v, y, x: (
        (lambda s: (c("/", x, s), c.w.negative(c("/", y, s))))(c("+", c("*", x, x), c("*", y, y)))
    ),
    math.hypot: lambda c, v, x, y: (c.unless_zero(v, c("/", x, v)), c.unless_zero(v, c("/", y, v))),
    math.copysign: lambda c, v, x, y: (
        c.unless_zero(x, c("*", c.f(math.copysign, Known(1.0), x), c.f(math.copysign, Known(1.0), y))), Known(0.0)
    ),
    math.pow: lambda c, v, x, y: (
        c("*", y, c.f(math.pow, x, c("-", y, 1.0))), c.unless_zero(x, c("*", v, c.f(math.log, x)))
    ),
}  # fmt: skip
"""Derivatives of functions by their names in the C library, or by themselves: factors of those of the arguments, by a
calculator from the value and the arguments."""
SLOPES |= {np.hypot: SLOPES[math.hypot], np.copysign: SLOPES[math.copysign]}
SLOPES |= {function: SLOPES["fabs"] for function in (abs, np.abs, math.fabs, np.fabs)}


# ------------------------------------------------------------------ what kernels with derivatives are written with
def _active(writer: TangentWriter, numbers: Scalar, derivatives: Scalar) -> Value:
    kind = ir.LiteralStructType([numbers.v.type, derivatives.v.type])
    return Scalar(types.CPointer(writer.unit.kind), Whole(writer.builder, kind, (numbers.v, derivatives.v)))


def _shifted(writer: TangentWriter, pointer: Scalar, k: Value) -> Value:
    if pointer.kind.dtype != writer.unit.kind:
        return Scalar(pointer.kind, writer.builder.gep(pointer.v, [writer.index(k)]))
    slot = writer.active_slot(pointer, writer.index(k))
    return _active(writer, Scalar(None, slot.number), Scalar(None, slot.derivatives))


def _derivative_rules(writer: TangentWriter, pairs: Known, apart: Known) -> Value:
    writer.unit.rules, writer.unit.apart = dict(pairs.it), frozenset(apart.it)
    return NOTHING


def _with_derivatives(writer: TangentWriter, x: Value, *terms: Value) -> Value:
    found = []
    for term in terms:
        factor, number = opened(term).parts  # type: ignore[union-attr]
        if is_active(number):
            found.append((writer.cast(factor, FLOAT), writer.parts(number)[1]))
    return writer.joined_parts(writer.cast(x, FLOAT), writer.combined(*found))


def _by_numbers(writer: TangentWriter, function: Known, *arguments: Value) -> Value:
    given = [settled(writer.primal(a)) for a in arguments]
    return writer.call_written(writer.unit.object_of(writer.unit, function.it, given), given)


SPECIAL: dict[object, Callable[..., Value]] = {
    active: _active, by_numbers: _by_numbers, shifted: _shifted, derivative_rules: _derivative_rules,
    with_derivatives: _with_derivatives,
    counters: lambda writer, numbers: Scalar(types.CPointer(COUNTER), numbers.v),
    plain: lambda writer, x: writer.primal(x), lane_numbers: lambda writer: Known(0),
}  # fmt: skip
