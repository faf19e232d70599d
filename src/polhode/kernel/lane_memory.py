"""Memory of kernels over lanes: numbers of each lane, numbers that all share, and ``step_info``, which is both.

A pointer to lanes has a vector at each index. An index that differs from lane to lane is one address for each.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from polhode.kernel import layout as L
from polhode.kernel.lane_values import LaneValues, has_lanes
from polhode.kernel.simd import Lanes
from polhode.kernel.source import Unsupported
from polhode.kernel.values import FLOAT, INT, F, I, Known, Row, Scalar, Tup, Value, View, opened, settled

COUNTED = frozenset({
    L.RESIDUAL, L.TOTAL_ITERATIONS, L.ROW_ITERATIONS, L.EVALUATIONS, L.REPEATED, L.ERROR,
})  # fmt: skip
"""Slots of ``step_info`` that nothing is decided by."""


class LaneMemory(LaneValues):
    """The part of a writer over lanes that reads and writes memory."""

    partial: bool
    masked: bool

    def mask(self) -> Any:
        """The lanes at hand."""
        raise NotImplementedError

    def lane_slots(self, owner: Value, where: Value) -> Any:
        """The address of each lane's number in memory, at an index of its own; and the type of these numbers."""
        if self.options.checked:
            raise Unsupported("an index that may be outside its array")
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
        if self.options.checked:
            raise Unsupported("an index that may be outside its tuple")
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
