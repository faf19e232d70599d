"""Translates kernels so that each number is that of several members at once: the same source, variables are vectors.

A value is *shared* (the same in all lanes: counts, indices, times, coefficients of a method) or *wide* (a vector with
one number a lane); its type says which, and types follow from those of the arguments, as in ``translate``: what a
pointer to lanes holds is wide, what is computed from it too. Nothing in the source says so.

A condition that differs from lane to lane is a mask. Both sides of an ``if`` are carried out, each for its own lanes:
variables and memory keep what they hold in the others. A loop goes on until no lane is in it; ``return``, ``break`` and
``continue`` take lanes out. Rare branches (those that call functions or loop) are jumped over where no lane takes them.
So every lane computes what it would compute alone, with the same operations: its numbers do not depend on those of the
others. Plain numbers and lanes may differ where a function is replaced (``replaced``: the library's sine by one that is
made of additions and products), or where LLVM fuses another product into a sum.

Memory that all lanes share is written by kernels in one way only, the flags and counters of ``shared_info``.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

from polhode.kernel import layout as L
from polhode.kernel import simd
from polhode.kernel.calls import Again, Options, Written
from polhode.kernel.simd import Lanes, each
from polhode.kernel.source import Unsupported
from polhode.kernel.translate import Unit, Writer, _leaves_loop
from polhode.kernel.values import (
    BIT,
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NOTHING,
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
    View,
    leaves_of,
    opened,
    rebuilt,
    settled,
    shape_of,
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
LEFT = "masked"
"""What a statement returns after which no lane goes on here, though the code does."""
FEW = 12
"""Statements without calls and loops beyond this number are jumped over where no lane takes them."""


# ------------------------------------------------------------------ what kernels over lanes are written with
def replaced(functions):  # type: ignore[no-untyped-def]
    """Pairs (function, helper): in this kernel the helper computes the function of lanes."""


def as_lanes(numbers):  # type: ignore[no-untyped-def]
    """A pointer to numbers as a pointer to lanes; it must be aligned to a whole vector."""
    return numbers


def shifted(numbers, k):  # type: ignore[no-untyped-def]
    """A pointer to what lies ``k`` numbers behind."""
    return numbers[k:]


def lane_numbers():  # type: ignore[no-untyped-def]
    """The number of each lane: 0, 1, 2, ..."""
    return 0


def some_lane(condition):  # type: ignore[no-untyped-def]
    """Whether a condition holds in some lane."""
    return bool(condition)


def with_known(together, known):  # type: ignore[no-untyped-def]
    """A named tuple some of whose fields, pairs (name, value), are known when the kernel is compiled."""
    return together


def shared_info(numbers, own, known):  # type: ignore[no-untyped-def]
    """The flags and counters of ``step_info`` at a pointer; ``known`` ones, pairs (slot, value), are constants.

    Each lane has its own number of iterations, at the pointer to lanes ``own``. What else is counted for users only
    (evaluations) is 0.
    """
    return numbers


COUNTED = frozenset({
    L.RESIDUAL, L.TOTAL_ITERATIONS, L.ROW_ITERATIONS, L.EVALUATIONS, L.REPEATED, L.ERROR,
})  # fmt: skip
"""Slots of ``step_info`` that nothing is decided by."""


@functools.cache
def info_class(known: tuple[tuple[int, float], ...]) -> Any:
    """The class of a ``step_info`` with these known slots; one for each."""

    class Info(NamedTuple):
        numbers: Any
        own: Any

    Info.known = dict(known)  # type: ignore[attr-defined]
    return Info


MOST_UNROLLED = 4
"""Loops of a known number of rounds, at most this many, are written round by round."""


# ------------------------------------------------------------------ translation
@functools.cache
def known_class(kind: Any, known: tuple[tuple[str, Any], ...]) -> Any:
    """The class of a named tuple some of whose fields are known; one for each."""
    made = type(kind.__name__, (kind,), {"__slots__": (), "known_fields": dict(known)})
    return made


class LaneUnit(Unit):
    """A module whose functions are over so many lanes."""

    def __init__(self, context: Any, typing: Any, module: Any, width: int) -> None:
        super().__init__(context, typing, module, LaneWriter)
        self.width = width
        self.replaced: dict[Any, Any] = {}


class Loop:
    """A loop that is being written: where ``break`` and ``continue`` go, and the lanes that they took out."""

    def __init__(self, node: Any, head: Any, end: Any) -> None:
        self.node, self.head, self.end = node, head, end
        self.broken: Any = None
        self.continued: Any = None


class LaneWriter(Writer):
    """Writes one function over lanes.

    ``live`` is the slot of the mask of the lanes for which the code at hand is carried out. ``partial`` says whether
    these may be fewer than those for which the function was called, ``masked`` whether those may be fewer than all.
    """

    unit: LaneUnit

    def __init__(self, unit: Any, function: Any, options: Any, arguments: Any, notes: Any) -> None:
        super().__init__(unit, function, options, arguments, notes)
        self.width = unit.width
        self.partial = self.masked = False
        self.escapes = self.returns = 0
        self.live: Any = None
        self.done: Any = None
        self.result_slots: Any = None
        self.loops: list[Any] = []
        for name, value in (("masks_results", False), ("masked_loops", set()), ("needs_mask", False)):
            if not hasattr(notes, name):
                setattr(notes, name, value)
        self.nodes: list[Any] = []

    # -------------------------------------------------------------- the function
    def write(self, key: Any) -> Written:
        found = super().write(key)
        found.masked = self.notes.needs_mask
        return found

    def take(self, arguments: list[Value], given: Iterator[Any]) -> None:
        """Set the parameters of the function; the last argument may be the mask."""
        self.masked = bool(arguments) and isinstance(getattr(arguments[-1], "kind", None), Mask)
        plain = arguments[: len(arguments) - self.masked]
        given = iter(list(given))
        mask = None
        leaves = list(given)
        if self.masked:
            mask = leaves.pop()
        with self.builder.goto_block(self.entry):
            self.live = self.builder.alloca(self.bits)
        self.builder.store(self.all_lanes if mask is None else mask, self.live)
        super().take(plain, iter(leaves))

    def finish(self) -> None:
        """Give back what was collected from lanes that returned at different places."""
        if not self.notes.masks_results:
            return
        if not self.builder.block.is_terminated:
            self.builder.branch(self.end_of_function())
        self.builder.position_at_end(self.end_of_function())
        like = self.notes.result or NOTHING
        self.leave([self.builder.load(slot) for slot in self.slots_of(like)])

    def end_of_function(self) -> Any:
        if self.done is None:
            self.done = self.builder.function.append_basic_block("end")
        return self.done

    def slots_of(self, like: Value) -> list[Any]:
        """Where the result is collected."""
        if self.result_slots is None:
            with self.builder.goto_block(self.entry):
                self.result_slots = [self.builder.alloca(leaf.type) for leaf in leaves_of(like)]
        return self.result_slots  # type: ignore[no-any-return]

    def give_back(self, value: Value) -> Any:
        """Return a value, for the lanes at hand."""
        value = settled(value)
        if self.partial:
            value = self.varied(value)
            if not self.notes.masks_results:
                self.notes.masks_results = True
                raise Again(self.notes)
        if not self.notes.masks_results:
            super().give_back(value)
            return True
        if self.notes.result is None:
            self.notes.result = value
        like = self.common(self.notes.result, value)
        if shape_of(like) != shape_of(self.notes.result):
            self.notes.result = like
            raise Again(self.notes)
        leaves = leaves_of(self.converted(value, like))
        for leaf, slot in zip(leaves, self.slots_of(like), strict=True):
            self.put(leaf, slot)
        if not self.partial:
            self.builder.branch(self.end_of_function())
            return True
        self.returns += 1
        return self.leave_here(self.nodes)

    def leave_here(self, nodes: list[Any]) -> str:
        """Take all lanes at hand out of the code that follows, in these loops."""
        unknown = [node for node in nodes if node not in self.notes.masked_loops]
        if unknown:
            self.notes.masked_loops.update(unknown)
            raise Again(self.notes)
        self.escapes += 1
        self.builder.store(ir.Constant(self.bits, [0] * self.width), self.live)
        return LEFT

    def _Return(self, s: ast.Return) -> Any:
        return self.give_back(NOTHING if s.value is None else self.value(s.value))

    # -------------------------------------------------------------- masks
    @property
    def bits(self) -> Any:
        """The LLVM type of masks."""
        return ir.VectorType(BIT, self.width)

    @property
    def all_lanes(self) -> Any:
        return ir.Constant(self.bits, [1] * self.width)

    def mask(self) -> Any:
        """The lanes at hand."""
        return self.builder.load(self.live)

    def any(self, mask: Any) -> Any:
        """Whether a mask has a lane."""
        whole = ir.IntType(self.width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(mask, whole), ir.Constant(whole, 0))

    def put(self, leaf: Any, slot: Any) -> None:
        """Store a variable, for the lanes at hand."""
        if self.partial and isinstance(leaf.type, ir.VectorType):
            leaf = self.builder.select(self.mask(), leaf, self.builder.load(slot))
        self.builder.store(leaf, slot)

    def within(self, mask: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` returns, written for the lanes of a mask among those at hand."""
        before, partial = self.mask(), self.partial
        self.builder.store(self.builder.and_(before, mask), self.live)
        self.partial = True
        with self.block():
            found = make()
        self.partial = partial
        self.builder.store(before, self.live)
        return found

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
        special = SPECIAL.get(it) if isinstance(it, type(replaced)) else None
        if special is not None:
            return special(self, *arguments)  # type: ignore[operator,no-any-return]
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

    # -------------------------------------------------------------- memory
    def lane_slots(self, owner: Value, where: Value) -> Any:
        """The address of each lane's number in memory, at an index of its own; and the type of these numbers."""
        if isinstance(owner, View) and len(owner.lengths) == 1:
            pointer, kind = owner.data, owner.dtype
        elif isinstance(owner, Scalar) and isinstance(owner.kind, types.CPointer):
            pointer, kind = owner.v, owner.kind.dtype
        else:
            raise Unsupported("an index that differs from lane to lane")
        k = self.cast(self.number(where), self.wide_kind(INT))
        self.notes.needs_mask = True
        if isinstance(kind, Lanes):  # number k of each lane: of a memory of plain numbers, k times the width further on
            lane = ir.Constant(k.type, list(range(self.width)))
            k = self.builder.add(self.builder.mul(k, ir.Constant(k.type, [self.width] * self.width)), lane)
            pointer, kind = self.builder.bitcast(pointer, F.as_pointer()), FLOAT
        found = []
        for i in range(self.width):
            at = ir.Constant(ir.IntType(32), i)
            found.append(self.builder.gep(pointer, [self.builder.extract_element(k, at)]))
        if self.partial or self.masked:  # lanes that are not at hand may have any index: they take a slot of their own
            with self.builder.goto_block(self.entry):
                aside = self.builder.alloca(F if kind == FLOAT else I)
            mask = self.mask()
            found = [
                self.builder.select(self.builder.extract_element(mask, ir.Constant(ir.IntType(32), i)), one, aside)
                for i, one in enumerate(found)
            ]
        return found, kind

    def read(self, owner: Value, where: Value) -> Value | None:
        """A number in memory, or what is known of it."""
        owner = opened(owner)
        known = getattr(owner.cls, "known", None) if isinstance(owner, Tup) else None
        if known is not None and isinstance(where, Known):
            if where.it in known:
                return Known(known[where.it])
            if where.it in COUNTED:
                return Known(0.0)
        if known is not None:
            owner, where = self.of_info(owner, where)
        if not has_lanes(where) or isinstance(where, Tup):
            found = self.element(owner, where)
            return None if found is None else Scalar(found[1], self.builder.load(found[0]))
        if isinstance(owner, Tup):
            return self.part(owner, where)
        slots, kind = self.lane_slots(owner, where)
        whole = ir.Constant(ir.VectorType(F if kind == FLOAT else I, self.width), ir.Undefined)
        for i, one in enumerate(slots):
            whole = self.builder.insert_element(whole, self.builder.load(one), ir.Constant(ir.IntType(32), i))
        return Scalar(self.wide_kind(kind), whole)

    def of_info(self, owner: Any, where: Value) -> tuple[Value, Value]:
        """Where a slot of ``step_info`` lies: in memory that all lanes share, but for the iterations."""
        if isinstance(where, Known) and where.it == L.ITERATIONS:
            return owner.parts[1], Known(0)
        return owner.parts[0], where

    def _Subscript(self, e: ast.Subscript) -> Value:
        if isinstance(e.slice, ast.Slice):
            return super()._Subscript(e)
        owner, where = opened(self.value(e.value)), self.value(e.slice)
        if isinstance(owner, Row):
            if not isinstance(where, Known):
                raise Unsupported("a variable index of a small array")
            return self.part(Tup(owner.parts), where)
        if isinstance(owner, Tup) and not hasattr(owner.cls, "known"):
            return self.part(owner, where)
        found = self.read(owner, where)
        if found is not None:
            return found
        if isinstance(owner, View):
            indices = where.parts if isinstance(where, Tup) else [where]
            if len(indices) < len(owner.lengths):
                data = self.builder.gep(owner.data, [self.offset(owner, indices)])
                return View(owner.dtype, data, owner.lengths[len(indices) :])
        raise Unsupported("an index of something else")

    def part(self, owner: Tup, where: Value) -> Value:
        if not has_lanes(where):
            return super().part(owner, where)
        parts = [settled(part) for part in owner.parts]
        n = len(parts)
        k = self.chosen(self.truth(self.compared("Lt", where, Known(0))), self.binary("Add", where, Known(n)), where)
        found = self.varied(parts[0])
        for i in range(1, n):
            found = self.chosen(self.truth(self.compared("Eq", k, Known(i))), parts[i], found)
        return found

    def write_to(self, owner: Value, where: Value, make: Callable[[Any], Value]) -> None:
        """Store what ``make`` returns, given a function that reads the slot."""
        owner = opened(owner)
        if isinstance(owner, Tup) and hasattr(owner.cls, "known"):
            if has_lanes(where) or (isinstance(where, Known) and where.it in COUNTED):
                return  # one of two counters
            if isinstance(where, Known) and where.it in owner.cls.known:
                raise Unsupported("a flag of the run is set")
            owner, where = self.of_info(owner, where)
            slot, kind = self.element(owner, where) or (None, None)
            v = self.cast(make(lambda: Scalar(kind, self.builder.load(slot))), kind)
            if isinstance(kind, Lanes):
                self.notes.needs_mask = True
                if self.partial or self.masked:
                    v = self.builder.select(self.mask(), v, self.builder.load(slot))
            self.builder.store(v, slot)
            return
        if has_lanes(where) and not isinstance(where, Tup):
            value = self.number(make(lambda: self.read(owner, where)))
            slots, kind = self.lane_slots(owner, where)
            v = self.cast(value, self.wide_kind(kind))
            for i, one in enumerate(slots):
                self.builder.store(self.builder.extract_element(v, ir.Constant(ir.IntType(32), i)), one)
            return
        found = self.element(owner, where)
        if found is None:
            raise Unsupported("memory that is neither a pointer nor an array")
        slot, kind = found
        v = self.cast(make(lambda: Scalar(kind, self.builder.load(slot))), kind)
        partial = self.partial or self.masked
        if not isinstance(kind, Lanes):
            if partial:
                raise Unsupported("memory that all lanes share is set by some of them")
            self.notes.needs_mask = True
        else:
            self.notes.needs_mask = True
            if partial:
                v = self.builder.select(self.mask(), v, self.builder.load(slot))
        self.builder.store(v, slot)

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript):
            owner = self.value(target.value)
            self.write_to(owner, self.value(target.slice), lambda read: value)
        else:
            super().store(target, value)

    def _AugAssign(self, s: ast.AugAssign) -> None:
        if not isinstance(s.target, ast.Subscript):
            super()._AugAssign(s)
            return
        owner = self.value(s.target.value)
        where, name = self.value(s.target.slice), type(s.op).__name__
        self.write_to(owner, where, lambda read: self.binary(name, read(), self.value(s.value)))

    def assign(self, name: str, value: Value) -> None:
        if name not in self.notes.slotted or not self.partial:
            super().assign(name, value)
            return
        if name in self.known:
            raise Unsupported("a variable of an enclosing function is set")
        value = self.varied(value)
        if name not in self.slots:
            like = self.notes.kinds.get(name, value)
            like = self.notes.kinds[name] = self.common(like, value)
            with self.builder.goto_block(self.entry):
                slots = [self.builder.alloca(leaf.type) for leaf in leaves_of(like)]
            self.slots[name] = (like, slots)
        like, slots = self.slots[name]
        wider = self.common(like, value)
        if shape_of(wider) != shape_of(like):
            self.notes.kinds[name] = wider
            raise Again(self.notes)
        for leaf, slot in zip(leaves_of(self.converted(value, like)), slots, strict=True):
            self.put(leaf, slot)

    def _Attribute(self, e: ast.Attribute) -> Value:
        owner = self.value(e.value)
        known = getattr(owner.cls, "known_fields", {}) if isinstance(owner, Tup) else {}
        return Known(known[e.attr]) if e.attr in known else super()._Attribute(e)

    # -------------------------------------------------------------- calls
    def helper(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        if not named and not it.py_func.__defaults__ and not it.targetoptions.get("forceinline"):
            known = [isinstance(a, Known) and type(a.it) in (int, bool) for a in arguments]
            if any(known) and getattr(it, "in_kernels", None) is None:
                given = [a if one else settled(a) for a, one in zip(arguments, known, strict=True)]
                return self.call_function(it.py_func, Options(it.targetoptions), given)
        return super().helper(it, arguments, named)

    def call_function(self, function: Any, options: Options, given: list[Value]) -> Value:
        if any(isinstance(a, Row) for a in given):  # four numbers at once: one after the other needs fewer registers
            found = [
                self.call_function(function, options, list(x)) for x in zip(*self.parts_of_rows(given), strict=True)
            ]
            if not all(isinstance(one, Scalar) for one in found):
                raise Unsupported("a function of arrays that returns no number")
            return Row(found)
        options.apart = False  # what is rare for plain numbers may be common among lanes
        written = self.unit.written(function, options, given)
        if written.masked:
            if self.partial or self.masked:
                given = [*given, Scalar(Mask(self.width), self.mask())]
                written = self.unit.written(function, options, given)
            self.notes.needs_mask = True
        return self.call_written(written, given)

    def role(self, callee: Scalar, arguments: list[Value]) -> Value:
        raise Unsupported("a function that is called by its address")

    # -------------------------------------------------------------- statements
    def body(self, statements: list[ast.stmt]) -> Any:
        """Write statements; True if the last of them ends the block, LEFT if it leaves no lane in it."""
        for k, s in enumerate(statements):
            escapes = self.escapes
            left = self.statement(s)
            if left:
                return left
            if self.escapes != escapes and _is_costly(statements[k + 1 :]):
                return self.rest(statements[k + 1 :])
        return False

    def rest(self, statements: list[ast.stmt]) -> Any:
        """Statements behind one that lanes may have left by, jumped over where none is left."""
        builder = self.builder
        begin, end = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(self.any(self.mask()), begin, end)
        builder.position_at_end(begin)
        with self.block():
            left = self.body(statements)
        if left is not True:
            builder.branch(end)
        builder.position_at_end(end)
        return LEFT if left else False

    def statement(self, s: ast.stmt) -> Any:
        kind = type(s).__name__
        method = getattr(self, f"_{kind}", None)
        self.notes.line = s.lineno
        if method is None:
            raise Unsupported(f"the statement {kind}")
        return method(s) or False

    def _If(self, s: ast.If) -> Any:
        test = self.test(s.test)
        if isinstance(test, bool):
            return self.body(s.body if test else s.orelse)
        if isinstance(test.type, ir.VectorType):
            return self.masked_if(test, s)
        builder = self.builder
        then, otherwise = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(test, then, otherwise)
        end = builder.append_basic_block() if s.orelse else otherwise
        left: list[Any] = []
        partial = self.partial
        after = []
        for block, statements in ((then, s.body), (otherwise, s.orelse)):
            if not statements:
                left.append(False)
                continue
            builder.position_at_end(block)
            self.partial = partial
            with self.block():
                left.append(self.body(statements))
            after.append(self.partial)
            if left[-1] is not True:
                builder.branch(end)
        self.partial = partial or any(after)
        builder.position_at_end(end)
        if all(one is True for one in left):
            builder.unreachable()
            return True
        return LEFT if all(left) else False

    def masked_if(self, test: Any, s: ast.If) -> Any:
        """Both sides of an ``if``, each for the lanes that take it."""
        builder = self.builder
        before, partial, escapes = self.mask(), self.partial, self.escapes
        left, after = [], []
        for bits, statements in ((test, s.body), (builder.not_(test), s.orelse)):
            mask = builder.and_(before, bits)
            if not statements:
                left.append(False)
                after.append(mask)
                continue
            builder.store(mask, self.live)
            self.partial = True
            end = None
            if _is_costly(statements):
                begin, end = builder.append_basic_block(), builder.append_basic_block()
                builder.cbranch(self.any(mask), begin, end)
                builder.position_at_end(begin)
            with self.block():
                left.append(self.body(statements))
            if end is not None:
                builder.branch(end)
                builder.position_at_end(end)
            after.append(self.mask())
        gone = self.escapes != escapes
        builder.store(builder.or_(*after) if gone else before, self.live)
        self.partial = partial or gone
        return LEFT if all(left) else False

    def _Break(self, s: ast.Break) -> Any:
        return self.out_of_loop("broken", self.loops[-1].end)

    def _Continue(self, s: ast.Continue) -> Any:
        return self.out_of_loop("continued", self.loops[-1].head)

    def out_of_loop(self, where: str, block: Any) -> Any:
        if not self.partial:
            self.builder.branch(block)
            return True
        loop = self.loops[-1]
        if loop.node in self.notes.masked_loops:
            slot = getattr(loop, where)
            self.builder.store(self.builder.or_(self.builder.load(slot), self.mask()), slot)
        return self.leave_here([loop.node])

    def _While(self, s: ast.While) -> Any:
        if s.orelse:
            raise Unsupported("else after a loop")
        return self.loop(s, None, lambda: self.test(s.test), lambda: None)

    def _For(self, s: ast.For) -> Any:
        if s.orelse or not isinstance(s.target, ast.Name):
            raise Unsupported("a loop with else, or over several variables")
        rounds = self.known_rounds(s)
        if rounds is not None:
            return self.round_by_round(s, rounds)
        first, last, step, several = self.steps(s.iter)
        builder, name = self.builder, s.target.id
        wide = isinstance(last.type, ir.VectorType) or isinstance(first.type, ir.VectorType)
        if wide:
            first, last = (v if isinstance(v.type, ir.VectorType) else self.spread(v) for v in (first, last))
        kind = self.wide_kind(INT) if wide else INT
        one = ir.Constant(first.type, [step] * self.width if wide else step)
        with builder.goto_block(self.entry):
            slot = builder.alloca(first.type)
        builder.store(first, slot)

        def going() -> Any:
            return builder.icmp_signed("<" if step > 0 else ">", builder.load(slot), last)

        def begin() -> None:
            k = Scalar(kind, builder.load(slot))
            self.assign(name, k if several is None else self.part(several, k))

        def after() -> None:
            builder.store(builder.add(builder.load(slot), one), slot)

        return self.loop(s, begin, going, after)

    def known_rounds(self, s: ast.For) -> range | None:
        """The rounds of a loop that are to be written one after the other; None of another."""
        e = s.iter
        if not (isinstance(e, ast.Call) and self.is_known(e.func, range) and not e.keywords):
            return None
        if any(_leaves_loop(part) or _goes_on(part) for part in s.body) or s.target.id in self.notes.slotted:  # type: ignore[attr-defined]
            return None
        if not all(isinstance(part, ast.Name | ast.Attribute | ast.Constant) for part in e.args):
            return None
        numbers = [self.value(a) for a in e.args]
        if not all(isinstance(x, Known) and type(x.it) is int for x in numbers):
            return None
        rounds = range(*(x.it for x in numbers))  # type: ignore[union-attr]
        return rounds if len(rounds) <= MOST_UNROLLED else None

    def round_by_round(self, s: ast.For, rounds: range) -> Any:
        for k in rounds:
            with self.block():
                self.assign(s.target.id, Known(k))  # type: ignore[attr-defined]
                left = self.body(s.body)
            if left:
                return left
        return False

    def steps(self, e: ast.expr) -> tuple[Any, Any, int, Tup | None]:
        if isinstance(e, ast.Call) and self.is_known(e.func, range) and not e.keywords:
            numbers = [self.value(a) for a in e.args]
            if any(has_lanes(x) for x in numbers):
                step: Any = numbers[2] if len(numbers) == 3 else Known(1)
                limits = (numbers if len(numbers) > 1 else [Known(0), *numbers])[:2]
                kind = self.wide_kind(INT)
                if not isinstance(step, Known) or any(self.plain(self.number(x)) == FLOAT for x in limits):
                    raise Unsupported("a range of variable step, or of numbers that are no integers")
                return self.cast(limits[0], kind), self.cast(limits[1], kind), step.it, None
        return super().steps(e)

    def loop(self, s: Any, begin: Any, test: Callable[[], Any], after: Callable[[], None]) -> Any:
        """A loop: while ``test`` holds, ``begin``, the statements, ``after``."""
        builder = self.builder
        masked = s in self.notes.masked_loops
        before, partial, returns, escapes = self.mask(), self.partial, self.returns, self.escapes
        head, body, behind, end = (builder.append_basic_block() for _ in range(4))
        loop = Loop(s, behind, end)
        out = None
        if masked:
            self.notes.needs_mask = True
            none = ir.Constant(self.bits, [0] * self.width)
            with builder.goto_block(self.entry):
                loop.broken, loop.continued, out = (builder.alloca(self.bits) for _ in range(3))
            for slot in (loop.broken, loop.continued, out):
                builder.store(none, slot)
            self.partial = True
        builder.branch(head)
        builder.position_at_end(head)
        with self.block():
            found = test()
            endless = found is True
            wide = not isinstance(found, bool) and isinstance(found.type, ir.VectorType)
            if wide and not masked:
                self.notes.masked_loops.add(s)
                raise Again(self.notes)
            if wide:
                live = self.mask()
                builder.store(builder.or_(builder.load(out), builder.and_(live, builder.not_(found))), out)
                builder.store(builder.and_(live, found), self.live)
                found = self.any(self.mask())
            elif masked:
                going = self.any(self.mask())
                found = going if found is True else None if found is False else builder.and_(found, going)
            if isinstance(found, bool) or found is None:
                builder.branch(body if found else end)
            else:
                builder.cbranch(found, body, end)
            builder.position_at_end(body)
            self.loops.append(loop)
            self.nodes.append(s)
            with self.block():
                if begin is not None:
                    begin()
                if self.body(s.body) is not True:
                    builder.branch(behind)
            self.loops.pop()
            self.nodes.pop()
            builder.position_at_end(behind)
            if masked:
                builder.store(builder.or_(self.mask(), builder.load(loop.continued)), self.live)
                builder.store(ir.Constant(self.bits, [0] * self.width), loop.continued)
            after()
            builder.branch(head)
        builder.position_at_end(end)
        gone = self.returns != returns
        if masked:
            if gone:
                left = builder.or_(self.mask(), builder.load(loop.broken))
                builder.store(builder.or_(left, builder.load(out)), self.live)
            else:
                builder.store(before, self.live)
                self.escapes = escapes
        self.partial = partial or gone
        if endless and not any(_leaves_loop(part) for part in s.body):
            if masked:
                return LEFT
            builder.unreachable()
            return True
        return False


def is_wide(kind: Any) -> bool:
    """Whether a type is one of lanes."""
    return type(kind) in PLAIN


def has_lanes(value: Any) -> bool:
    """Whether a value, or a number in a small array, is one of lanes."""
    if isinstance(value, Row):
        return any(has_lanes(part) for part in value.parts)
    return isinstance(value, Scalar) and is_wide(value.kind)


def _goes_on(s: ast.AST) -> bool:
    """Whether a statement contains a ``continue`` of the loop around it."""
    if isinstance(s, ast.Continue):
        return True
    if isinstance(s, ast.For | ast.While):
        return False
    return any(_goes_on(inner) for inner in ast.iter_child_nodes(s))


def _is_costly(statements: list[ast.stmt]) -> bool:
    """Whether statements are worth a jump over them."""
    parts = [part for s in statements for part in ast.walk(s)]
    return any(isinstance(part, ast.Call | ast.For | ast.While) for part in parts) or len(statements) > FEW


# ------------------------------------------------------------------ what kernels over lanes are written with
def _replaced(writer: LaneWriter, functions: Value) -> Value:
    writer.unit.replaced = dict(functions.it)  # type: ignore[union-attr]
    return NOTHING


def _as_lanes(writer: LaneWriter, pointer: Any) -> Value:
    kind = ir.VectorType(F, writer.width).as_pointer()
    return Scalar(types.CPointer(Lanes(writer.width)), writer.builder.bitcast(pointer.v, kind))


def _shifted(writer: LaneWriter, pointer: Any, k: Value) -> Value:
    return Scalar(pointer.kind, writer.builder.gep(pointer.v, [writer.index(k)]))


def _lane_numbers(writer: LaneWriter) -> Value:
    kind = ir.VectorType(I, writer.width)
    return Scalar(Wholes(writer.width), ir.Constant(kind, list(range(writer.width))))


def _some_lane(writer: LaneWriter, condition: Value) -> Value:
    bits = writer.truth(condition)
    if isinstance(bits, bool):
        return Known(bits)
    return Scalar(BOOL, writer.any(bits) if isinstance(bits.type, ir.VectorType) else bits)


def _with_known(writer: LaneWriter, together: Any, known: Value) -> Value:
    return Tup(together.parts, known_class(together.cls, known.it))  # type: ignore[union-attr]


def _shared_info(writer: LaneWriter, pointer: Value, own: Value, known: Value) -> Value:
    return Tup([pointer, own], info_class(tuple(map(tuple, known.it))))  # type: ignore[union-attr]


SPECIAL = {
    replaced: _replaced, as_lanes: _as_lanes, shifted: _shifted, lane_numbers: _lane_numbers, some_lane: _some_lane,
    shared_info: _shared_info, with_known: _with_known,
}  # fmt: skip
OF_FOUR = (simd.four, simd.sum4)
