"""Memory of kernels over lanes: numbers of each lane, numbers that all share, and ``step_info``, which is both.

A pointer to lanes has a vector at each index. An index that differs from lane to lane is one address for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from polhode.kernel import layout as L
from polhode.kernel.numba_lanes import Lanes, Wholes
from polhode.kernel.simd import joined, parts_of
from polhode.kernel.source import Unsupported
from polhode.kernel.text import Constant, F, I
from polhode.kernel.translate import Writer
from polhode.kernel.values import FLOAT, Known, Scalar, Tup, Value, View, opened, settled, wide_kind, width_of

COUNTED = frozenset({L.RESIDUAL, L.TOTAL_ITERATIONS, L.ROW_ITERATIONS, L.EVALUATIONS, L.REPEATED, L.ERROR})
"""Slots of ``step_info`` that nothing is decided by."""


class LaneMemory(Writer):
    """The part of a writer over lanes that reads and writes memory."""

    masked: bool
    width: int

    def mask(self) -> ir.Value:
        """The lanes at hand."""
        raise NotImplementedError

    def lane_slots(self, owner: Value, where: Value) -> tuple[list[ir.Value], types.Type]:
        """The address of each lane's number in memory, at an index of its own; and the type of these numbers."""
        if self.options.checked:
            raise Unsupported("an index that may be outside its array")
        if isinstance(owner, View) and len(owner.lengths) == 1:
            pointer, kind = owner.data, owner.dtype
        elif isinstance(owner, Scalar) and isinstance(owner.kind, types.CPointer):
            pointer, kind = owner.v, owner.kind.dtype
        else:
            raise Unsupported("an index that differs from lane to lane")
        k = self.cast(self.number(where), Wholes(self.width))
        self.notes.needs_mask = True
        if isinstance(kind, Lanes):  # number k of each lane: of a memory of plain numbers, k times the width further on
            lane = Constant(k.type, list(range(self.width)))
            k = self.builder.add(self.builder.mul(k, Constant(k.type, [self.width] * self.width)), lane)
            pointer, kind = self.builder.bitcast(pointer, F.as_pointer()), FLOAT
        found = [self.builder.gep(pointer, [one]) for one in parts_of(self.builder, k)]
        if self.partial or self.masked:  # lanes that are not at hand may have any index: they take a slot of their own
            with self.builder.goto_block(self.entry):
                aside = self.builder.alloca(F if kind == FLOAT else I)
            bits = parts_of(self.builder, self.mask())
            found = [self.builder.select(bit, one, aside) for bit, one in zip(bits, found, strict=True)]
        return found, kind

    def read(self, owner: Value, where: Value) -> Value | None:
        owner = opened(owner)
        known = getattr(owner.cls, "known", None) if isinstance(owner, Tup) else None
        if known is not None and isinstance(where, Known):
            if known.get(where.it) is not None:
                return Known(known[where.it])
            if where.it in COUNTED:
                return Known(0.0)
        if known is not None:
            owner, where = self.of_info(owner, where)
        if not width_of(where) or isinstance(where, Tup):
            found = self.element(owner, where)
            return None if found is None else Scalar(found[1], self.builder.load(found[0]))
        if isinstance(owner, Tup):
            return self.part(owner, where)
        slots, kind = self.lane_slots(owner, where)
        return Scalar(wide_kind(kind, self.width), joined(self.builder, [self.builder.load(one) for one in slots]))

    def of_info(self, owner: Any, where: Value) -> tuple[Value, Value]:
        """Where a slot of ``step_info`` lies: in memory that all share, but for iterations and own numbers."""
        if isinstance(where, Known) and (where.it == L.ITERATIONS or owner.cls.known.get(where.it, 0.0) is None):
            return owner.parts[1], Known({L.ITERATIONS: 0, L.RELATIVE: 1, L.ABSOLUTE: 2, L.NEXT_TIME: 1}[where.it])
        return owner.parts[0], where

    def part(self, owner: Tup, where: Value) -> Value:
        if not width_of(where):
            return super().part(owner, where)
        if self.options.checked:
            raise Unsupported("an index that may be outside its tuple")
        parts = [settled(part) for part in owner.parts]
        n = len(parts)
        k = self.chosen(self.truth(self.compared("Lt", where, Known(0))), self.binary("Add", where, Known(n)), where)
        found = self.varied(parts[0], self.width)
        for i in range(1, n):
            found = self.chosen(self.truth(self.compared("Eq", k, Known(i))), parts[i], found)
        return found

    def write_to(self, owner: Value, where: Value, make: Callable[[Any], Value]) -> None:
        owner = opened(owner)
        if isinstance(owner, Tup) and hasattr(owner.cls, "known"):
            if width_of(where) or (isinstance(where, Known) and where.it in COUNTED):
                return  # one of two counters
            if isinstance(where, Known) and getattr(owner.cls, "known", {}).get(where.it) is not None:
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
        if width_of(where) and not isinstance(where, Tup):
            value = self.number(make(lambda: self.read(owner, where)))
            slots, kind = self.lane_slots(owner, where)
            v = self.cast(value, wide_kind(kind, self.width))
            for one, part in zip(slots, parts_of(self.builder, v), strict=True):
                self.builder.store(part, one)
            return
        slot, kind = self.slot(owner, where)
        v = self.cast(make(lambda: Scalar(kind, self.builder.load(slot))), kind)
        partial = self.partial or self.masked
        self.notes.needs_mask = True
        if partial:
            if not isinstance(kind, Lanes):
                raise Unsupported("memory that all lanes share is set by some of them")
            v = self.builder.select(self.mask(), v, self.builder.load(slot))
        self.builder.store(v, slot)
