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
from types import FunctionType
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types

from polhode.kernel import simd
from polhode.kernel.calls import Again, Options, Unfinished, Written
from polhode.kernel.lane_memory import LaneMemory
from polhode.kernel.later import as_lanes as as_lanes, lane_numbers as lane_numbers, some_lane as some_lane
from polhode.kernel.numba_lanes import Lanes, Wholes, Wide
from polhode.kernel.simd import each
from polhode.kernel.source import Unsupported
from polhode.kernel.text import BIT, Constant, F, I
from polhode.kernel.translate import LEFT, Notes, Unit, leaves_loop
from polhode.kernel.values import (
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    Known,
    Row,
    Scalar,
    Tup,
    Value,
    leaves_of,
    plain_kind,
    settled,
    width_of,
)

OF_FOUR = (simd.four, simd.sum4)
FEW = 12
"""Statements without calls and loops beyond this number are jumped over where no lane takes them."""


# ------------------------------------------------------------------ what kernels over lanes are written with
def replaced(functions):
    """Pairs (function, helper): in this kernel the helper computes the function of lanes. A helper that computes itself
    is an object of its own, compiled once for all kernels."""


def shifted(numbers, k):
    """A pointer to what lies ``k`` numbers behind."""
    return numbers[k:]


def local_numbers(count):
    """A pointer to so many numbers of the kernel's own, 0 at its start, which all lanes share."""


def with_known(together, known):
    """A named tuple some of whose fields, pairs (name, value), are known when the kernel is compiled."""
    return together


def shared_info(numbers, own, known):
    """The flags and counters of ``step_info`` at a pointer; ``known`` ones, pairs (slot, value), are constants. Each
    lane has its own iterations, and tolerances or the end of the step where known as None, at the pointer to lanes
    ``own``; evaluations are 0."""
    return numbers


@functools.cache
def info_class(known: tuple[tuple[int, float | None], ...]) -> type[Any]:
    """The class of a ``step_info`` with these known slots; one for each."""

    class Info(NamedTuple):
        numbers: Value
        own: Value

    Info.known = dict(known)  # type: ignore[attr-defined]
    return Info


MOST_UNROLLED, MOST_COPIED = 4, 32
"""Loops of a known number of rounds, at most this many, are written round by round; those that only copy numbers."""


# ------------------------------------------------------------------ translation
@functools.cache
def known_class(kind: type[Any], known: tuple[tuple[str, Any], ...]) -> type[Any]:
    """The class of a named tuple some of whose fields are known; one for each."""
    return type(kind.__name__, (kind,), {"__slots__": (), "known_fields": dict(known)})


class Mask(Wide):
    """The type of the lanes for which a function is called."""


class LaneUnit(Unit):
    """A module whose functions are over so many lanes."""

    stops = roles = False

    def __init__(self, context: Any, typing: Any, module: ir.Module, width: int) -> None:
        super().__init__(context, typing, module, LaneWriter)
        self.width = width
        self.replaced: dict[Any, Any] = {}
        self.being_written: list[Any] = []


class Loop:
    """A loop that is being written: where ``break`` and ``continue`` go, and the lanes that they took out."""

    def __init__(self, node: ast.For | ast.While, head: ir.Block, end: ir.Block) -> None:
        self.node, self.head, self.end = node, head, end
        self.broken: ir.Value = None
        self.continued: ir.Value = None


class LaneWriter(LaneMemory):
    """Writes one function over lanes.

    ``live`` is the slot of the mask of the lanes for which the code at hand is carried out. ``partial`` says whether
    these may be fewer than those for which the function was called, ``masked`` whether those may be fewer than all.
    """

    unit: LaneUnit

    def __init__(
        self, unit: LaneUnit, function: FunctionType, options: Options, arguments: list[Value], notes: Notes
    ) -> None:
        super().__init__(unit, function, options, arguments, notes)
        self.width = unit.width
        self.partial = self.masked = False
        self.escapes = self.returns = self.chosen_within = 0
        self.live: ir.Value = None
        self.done: ir.Block = None
        self.result_slots: list[ir.Value] | None = None
        self.loops: list[Any] = []
        for name, value in (("masks_results", False), ("masked_loops", set()), ("needs_mask", False)):
            if not hasattr(notes, name):
                setattr(notes, name, value)
        self.nodes: list[ast.For | ast.While] = []

    # -------------------------------------------------------------- the function
    def write(self, key: object) -> Written:
        self.unit.being_written.append(self.source)
        try:
            found = super().write(key)
        finally:
            self.unit.being_written.pop()
        found.masked = self.notes.needs_mask
        found.function.attributes.alignstack = 8 * min(self.width, 8)  # else spilled vectors may lie in two cache lines
        return found

    def take(self, arguments: list[Value], given: Iterator[Any]) -> None:
        """Set the parameters of the function; the last argument may be the mask."""
        self.masked = bool(arguments) and isinstance(getattr(arguments[-1], "kind", None), Mask)
        plain = arguments[: len(arguments) - self.masked]
        leaves = list(given)
        mask = leaves.pop() if self.masked else self.all_lanes
        with self.builder.goto_block(self.entry):
            self.live = self.builder.alloca(self.bits)
        self.builder.store(mask, self.live)
        super().take(plain, iter(leaves))

    def finish(self) -> None:
        """Give back what was collected from lanes that returned at different places."""
        if not self.notes.masks_results:
            return
        if not self.builder.block.is_terminated:
            self.builder.branch(self.end_of_function())
        self.builder.position_at_end(self.end_of_function())
        leaves = leaves_of(self.notes.result or NOTHING)
        self.leave([self.builder.load(slot) for slot in self.slots_of(leaves)])

    def end_of_function(self) -> ir.Block:
        if self.done is None:
            self.done = self.builder.append_basic_block()
        return self.done

    def slots_of(self, leaves: list[Any]) -> list[Any]:
        """Where the result is collected."""
        if self.result_slots is None:
            with self.builder.goto_block(self.entry):
                self.result_slots = [self.builder.alloca(leaf.type) for leaf in leaves]
        return self.result_slots

    def give_back(self, value: Value) -> bool | str:
        """Return a value, for the lanes at hand."""
        value = settled(value)
        if self.partial:
            value = self.varied(value, self.width)
            if not self.notes.masks_results:
                self.notes.masks_results = True
                raise Again(self.notes)
        if not self.notes.masks_results:
            return super().give_back(value)
        leaves = self.result_leaves(value)
        for leaf, slot in zip(leaves, self.slots_of(leaves), strict=True):
            self.keep(leaf, slot)
        if not self.partial:
            self.builder.branch(self.end_of_function())
            return True
        self.returns += 1
        return self.leave_here(self.nodes)

    def leave_here(self, nodes: list[ast.For | ast.While]) -> str:
        """Take all lanes at hand out of the code that follows, in these loops."""
        unknown = [node for node in nodes if node not in self.notes.masked_loops]
        if unknown:
            self.notes.masked_loops.update(unknown)
            raise Again(self.notes)
        self.escapes += 1
        self.builder.store(Constant(self.bits, [0] * self.width), self.live)
        return LEFT

    # -------------------------------------------------------------- masks
    @property
    def bits(self) -> ir.VectorType:
        """The LLVM type of masks."""
        return ir.VectorType(BIT, self.width)

    @property
    def all_lanes(self) -> Constant:
        return Constant(self.bits, [1] * self.width)

    def mask(self) -> ir.Value:
        """The lanes at hand."""
        return self.builder.load(self.live)

    def any(self, mask: ir.Value) -> ir.Value:
        """Whether a mask has a lane."""
        whole = ir.IntType(self.width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(mask, whole), Constant(whole, 0))

    def keep(self, leaf: ir.Value, slot: ir.Value) -> None:
        """Store a variable, for the lanes at hand."""
        if self.partial and isinstance(leaf.type, ir.VectorType):
            leaf = self.builder.select(self.mask(), leaf, self.builder.load(slot))
        self.builder.store(leaf, slot)

    def within(self, mask: ir.Value, make: Callable[[], Value]) -> Value:
        """What ``make`` returns, written for the lanes of a mask among those at hand."""
        before, partial = self.mask(), self.partial
        self.builder.store(self.builder.and_(before, mask), self.live)
        self.partial = True
        self.chosen_within += 1
        with self.block():
            found = make()
        self.chosen_within -= 1
        self.partial = partial
        self.builder.store(before, self.live)
        return found

    # -------------------------------------------------------------- variables
    def stored(self, value: Value) -> Value:
        return self.varied(value, self.width) if self.partial else super().stored(value)

    def _Attribute(self, e: ast.Attribute) -> Value:
        owner = self.value(e.value)
        known = getattr(owner.cls, "known_fields", {}) if isinstance(owner, Tup) else {}
        return Known(known[e.attr]) if e.attr in known else super()._Attribute(e)

    # -------------------------------------------------------------- conditions
    def test(self, e: ast.expr) -> Any:
        """A condition: True or False where it is known, else a bit, or one for each lane."""
        return self.truth(self.value(e))

    def joined(self, test: ir.Value, first: Callable[[], Value], second: Callable[[], Value]) -> Value:
        if not isinstance(test.type, ir.VectorType):
            return super().joined(test, first, second)
        return self.chosen(test, self.within(test, first), self.within(self.builder.not_(test), second))

    # -------------------------------------------------------------- calls
    def call(self, it: Callable[..., Any], arguments: list[Value], named: dict[str, Value]) -> Value:
        special = SPECIAL.get(it) if isinstance(it, type(replaced)) else None
        if special is not None:
            return special(self, *arguments)
        if it in OF_FOUR or (it in simd.IN_KERNELS and any(width_of(a) or isinstance(a, Row) for a in arguments)):
            return self.simd_function(it, arguments)
        return super().call(it, arguments, named)

    def of_lanes(self, it: Callable[..., Any], x: list[Value]) -> Value:
        other = self.unit.replaced.get(it)
        if other is not None and self.code.co_filename != other.py_func.__code__.co_filename:
            return self.call(other, x, {})
        return super().of_lanes(it, x)

    def simd_function(self, it: Callable[..., Any], x: list[Value]) -> Value:
        """Functions of ``kernel.simd``: four numbers at once are a small array of four, each over lanes."""
        if it is simd.four:
            while len(x) > 2 and isinstance(x[-1], Known) and x[-1].it == 0.0:  # unused nodes of a rule
                x = x[:-1]
            return Row([self.number(a) for a in x])
        if it is simd.sum4:
            return self.sum_of_four(x[0])
        if it is simd.fused and any(isinstance(a, Row) for a in x):
            return Row([self.binary("Add", self.binary("Mult", a, b), c) for a, b, c in self.parts_of_rows(x)])
        if it is simd.roots:
            found = [self.function_of_numbers(math.sqrt, [a]) for a in (x[0].parts if isinstance(x[0], Row) else x)]
            return Row(found) if isinstance(x[0], Row) else found[0]
        wide = Lanes(self.width)
        if it in (simd.fused, simd.product_error):
            a, b, c = (self.cast(self.number(v), wide) for v in x)
            return Scalar(wide, each(self.builder, "fma", a, b, self.builder.fneg(c) if it is not simd.fused else c))
        if it in (simd.two_to, simd.exponent_and_fraction):
            return super().call(it, [Scalar(wide, self.cast(self.number(x[0]), wide))], {})
        raise Unsupported(f"{it.__name__} of lanes")

    def helper(self, it: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        if self.unit.replaced.get(it) is it:
            given = [*map(settled, arguments), Scalar(Mask(self.width), self.mask())]
            return self.call_written(self.unit.object_of(self.unit, it, given), given)
        if not named and not it.py_func.__defaults__ and not it.targetoptions.get("forceinline"):
            known = [isinstance(a, Known) and type(a.it) in (int, bool) for a in arguments]
            if any(known) and getattr(it, "in_kernels", None) is None:
                given = [a if one else settled(a) for a, one in zip(arguments, known, strict=True)]
                return self.call_function(it.py_func, Options(it.targetoptions), given)
        return super().helper(it, arguments, named)

    def call_function(self, function: FunctionType, options: Options, given: list[Value]) -> Value:
        if any(isinstance(a, Row) for a in given):  # four numbers at once: one after the other needs fewer registers
            found = [self.call_function(function, options, list(x)) for x in self.parts_of_rows(given)]
            if not all(isinstance(one, Scalar) for one in found):
                raise Unsupported("a function of arrays that returns no number")
            return Row(found)
        options.apart = False  # what is rare for plain numbers may be common among lanes
        if function in self.unit.being_written:  # calls end where no lane is left
            self.notes.needs_mask = True
            if self.chosen_within:  # both of what is chosen from are computed
                raise Unsupported(f"{function.__qualname__}, which calls itself without an if statement")
        plain = self.unit.found(function, options, given)
        if (self.partial or self.masked) and (plain is None or plain.masked):  # most need it: none is tried without
            given = [*given, Scalar(Mask(self.width), self.mask())]
        written = self.unit.written(function, options, given)
        self.notes.needs_mask |= written.masked
        return self.call_written(written, given)

    # -------------------------------------------------------------- statements
    def body(self, statements: list[ast.stmt]) -> bool | str:
        """Write statements; True if the last of them ends the block, LEFT if it leaves no lane in it."""
        for k, s in enumerate(statements):
            escapes = self.escapes
            left = self.statement(s)
            if left:
                return left
            if self.escapes != escapes and _is_costly(statements[k + 1 :]):
                return self.rest(statements[k + 1 :])
        return False

    def rest(self, statements: list[ast.stmt]) -> bool | str:
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

    def masked_if(self, test: ir.Value, s: ast.If) -> bool | str:
        builder = self.builder
        before, partial, escapes = self.mask(), self.partial, self.escapes
        left, after = list[Any](), list[Any]()
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
            depth = len(self.open), len(self.loops)
            try:
                with self.block():
                    left.append(self.body(statements))
            except Unfinished:  # a call of itself, before its result is known
                if end is None:
                    raise
                del self.open[depth[0] :], self.loops[depth[1] :]
                left.append(LEFT)
            if end is not None:
                builder.branch(end)
                builder.position_at_end(end)
            after.append(self.mask())
        gone = self.escapes != escapes
        builder.store(builder.or_(*after) if gone else before, self.live)
        self.partial = partial or gone
        return LEFT if all(left) else False

    def _Break(self, s: ast.Break) -> bool | str:
        return self.out_of_loop("broken", self.loops[-1].end)

    def _Continue(self, s: ast.Continue) -> bool | str:
        return self.out_of_loop("continued", self.loops[-1].head)

    def out_of_loop(self, where: str, block: ir.Block) -> bool | str:
        if not self.partial:
            self.builder.branch(block)
            return True
        loop = self.loops[-1]
        if loop.node in self.notes.masked_loops:
            slot = getattr(loop, where)
            self.builder.store(self.builder.or_(self.builder.load(slot), self.mask()), slot)
        return self.leave_here([loop.node])

    def _While(self, s: ast.While) -> bool | str:
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
            first, last = (
                v if isinstance(v.type, ir.VectorType) else self.spread(v, self.width) for v in (first, last)
            )
        kind = Wholes(self.width) if wide else INT
        one = Constant(first.type, [step] * self.width if wide else step)
        with builder.goto_block(self.entry):
            slot = builder.alloca(first.type)
        builder.store(first, slot)

        def going() -> ir.Value:
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
        if any(leaves_loop(part, ast.Break | ast.Continue) for part in s.body) or s.target.id in self.notes.slotted:  # type: ignore[attr-defined]
            return None
        plain = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
        if not all(isinstance(part, plain) for argument in e.args for part in ast.walk(argument)):
            return None
        numbers = [self.value(a) for a in e.args]
        if not all(isinstance(x, Known) and type(x.it) is int for x in numbers):
            return None
        rounds = range(*(x.it for x in numbers))  # type: ignore[union-attr]
        copies = len(s.body) == 1 and isinstance(s.body[0], ast.Assign | ast.AugAssign) and not _is_costly(s.body)
        return rounds if len(rounds) <= (MOST_COPIED if copies else MOST_UNROLLED) else None

    def round_by_round(self, s: ast.For, rounds: range) -> bool | str:
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
            if any(width_of(x) for x in numbers):
                step: Value = numbers[2] if len(numbers) == 3 else Known(1)
                limits = (numbers if len(numbers) > 1 else [Known(0), *numbers])[:2]
                kind = Wholes(self.width)
                if not isinstance(step, Known) or any(plain_kind(self.number(x).kind) == FLOAT for x in limits):
                    raise Unsupported("a range of variable step, or of numbers that are no integers")
                return self.cast(limits[0], kind), self.cast(limits[1], kind), step.it, None
        return super().steps(e)

    def loop(
        self, s: ast.For | ast.While, begin: Any, test: Callable[[], Any], after: Callable[[], None]
    ) -> bool | str:
        """A loop: while ``test`` holds, ``begin``, the statements, ``after``."""
        builder = self.builder
        masked = s in self.notes.masked_loops
        before, partial, returns, escapes = self.mask(), self.partial, self.returns, self.escapes
        head, body, behind, end = (builder.append_basic_block() for _ in range(4))
        loop = Loop(s, behind, end)
        out = None
        if masked:
            self.notes.needs_mask = True
            none = Constant(self.bits, [0] * self.width)
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
                builder.store(Constant(self.bits, [0] * self.width), loop.continued)
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
        if endless and not any(leaves_loop(part) for part in s.body):
            if masked:
                return LEFT
            builder.unreachable()
            return True
        return False


def _is_costly(statements: list[ast.stmt]) -> bool:
    """Whether statements are worth a jump over them."""
    parts = (part for s in statements for part in ast.walk(s))
    return len(statements) > FEW or any(isinstance(part, ast.Call | ast.For | ast.While) for part in parts)


# ------------------------------------------------------------------ what kernels over lanes are written with
def _replaced(writer: LaneWriter, functions: Known) -> Value:
    writer.unit.replaced = dict(functions.it)
    return NOTHING


def _local_numbers(writer: LaneWriter, count: Known) -> Value:
    kind = ir.ArrayType(F, count.it)
    with writer.builder.goto_block(writer.entry):
        slot = writer.builder.alloca(kind)
    zero = Constant(I, 0)
    writer.builder.store(Constant(kind, None), slot)
    return Scalar(types.CPointer(FLOAT), writer.builder.gep(slot, [zero, zero]))


def _some_lane(writer: LaneWriter, condition: Value) -> Value:
    bits = writer.truth(condition)
    if isinstance(bits, bool):
        return Known(bits)
    return Scalar(BOOL, writer.any(bits) if isinstance(bits.type, ir.VectorType) else bits)


SPECIAL: dict[object, Callable[..., Value]] = {
    replaced: _replaced, local_numbers: _local_numbers, some_lane: _some_lane,
    as_lanes: lambda writer, pointer: Scalar(
        types.CPointer(Lanes(writer.width)),
        writer.builder.bitcast(pointer.v, ir.VectorType(F, writer.width).as_pointer()),
    ),
    shifted: lambda writer, pointer, k: Scalar(pointer.kind, writer.builder.gep(pointer.v, [writer.index(k)])),
    lane_numbers: lambda writer: Scalar(
        Wholes(writer.width), Constant(ir.VectorType(I, writer.width), list(range(writer.width)))
    ),
    with_known: lambda writer, together, known: Tup(together.parts, known_class(together.cls, known.it)),
    shared_info: lambda writer, pointer, own, known: Tup([pointer, own], info_class(tuple(map(tuple, known.it)))),
}  # fmt: skip
