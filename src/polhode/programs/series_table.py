"""The Taylor series of long programs as a table, which one kernel follows (``kernel.recurrences``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from polhode.kernel.recurrences import (
    COPIED,
    END,
    FUNCTIONS,
    HEAD,
    INTEGRAL,
    KEPT,
    LARGEST_ORDER,
    OF_BODIES,
    OF_PARAMETERS,
    OF_STATE,
    OVER,
    PLUS,
    POWER,
    PRODUCT,
    QUOTIENT,
    RECORD,
    SCALED,
    SLOPE,
    SQUARE,
    STEADY,
    SUM,
    TIMES,
)  # fmt: skip
from polhode.programs.graph import Closed
from polhode.programs.roles import of_flat_memory
from polhode.programs.series import Rule, Series
from polhode.programs.text import HEAD as IMPORTS, LARGEST_POWER, Lines
from polhode.programs.written import module_of

SOURCES = {"y": OF_STATE, "bodies": OF_BODIES, "parameters": OF_PARAMETERS}
READ = re.compile(r"(?:bodies\[(\d+)\] \* )?(y|bodies|parameters)\[(\d+)\]")
"""Expressions that the kernel reads by itself."""


class Parts(NamedTuple):
    """A rule as a lane of a block."""

    kind: int
    own: tuple[int, ...]  # numbers of the block
    operands: Sequence[str]  # series of the order at hand
    # series that are remembered: of functions the second one of the orders before, by the block that makes it
    factors: Sequence[str]
    constants: Sequence[Any]  # numbers, or rows that stay

    @property
    def needs(self) -> list[str]:
        """Series of the order at hand."""
        return [*self.operands, *self.factors[: 1 if self.kind in (SLOPE, STEADY) else 2]]


class Table:
    """The table of a series, and the role that follows it."""

    def __init__(self, series: Series, names: Sequence[str], N: int) -> None:
        self.S, self.names, self.N, self.zero, n = series, names, N, series.g.const(0.0), len(names)
        self.width, self.written = -(-n // 8) * 8, dict[int, int]()
        self.slots = self.next = HEAD + self.width * (LARGEST_ORDER + 1)
        self.slot_of = dict[str, int]()
        self._enter([*(f"y{i}" for i in range(n)), "t", ""])
        blocks = [*self._alike()]
        for block in blocks:
            self._enter(list(block))
        self.rates = self.next
        for begin in range(0, n, 8):
            some = enumerate(series.rates[begin : begin + 8], begin)
            blocks.append({f"rate{i}": Parts(SUM, (), (name,), (), (self.zero, row)) if name else
                           Parts(SUM, (), (), (), (row,)) for i, (row, name) in some})  # fmt: skip
            self._enter(list(blocks[-1]))
        self._place(*self._rows(blocks))

    def _enter(self, names: Sequence[str]) -> None:
        """Give slots to series."""
        self.slot_of |= {name: self.next + i for i, name in enumerate(names)}
        self.next += -(-len(names) // 8) * 8

    def _parts(self, rule: Rule) -> Parts:
        kind, x = rule.kind, rule.operands
        if kind == "sum":
            return Parts(SUM, (), [name for _, name in x[1]], (), [self.zero if x[0] is None else x[0],
                                                                   *(row for row, _ in x[1])])  # fmt: skip
        if kind in ("product", "square"):
            return Parts(SQUARE if kind == "square" else PRODUCT, (), (), x, ())
        if kind in ("quotient", "reciprocal"):
            return Parts(QUOTIENT, (), x[:-1] or ("",), x[-1:], ())
        if kind == "scaled":
            return Parts(SCALED, (), x, (), ())
        if kind == "power":
            e = x[1]
            half = isinstance(e, float) and not isinstance(e, Closed) and 2.0 * e == int(2.0 * e)
            return Parts(POWER, (int(2.0 * e) if half and abs(e) <= LARGEST_POWER else 0,), x[:1], x[2:], (e,))
        own = (FUNCTIONS.index(x[0]),)
        if kind == "integral":
            return Parts(INTEGRAL, own, x[2:], x[1:2], ())
        if kind == "slope":
            return Parts(SLOPE, own, x[1:2], (x[2], x[4]), (x[3],))
        return Parts(STEADY, own, x[1:2], ("", x[4]), (self.S.g.mul(x[2], self.S.g.const(x[3])),))

    def _alike(self) -> Iterator[dict[str, Parts]]:
        """Rules of one kind that do not wait for each other, eight at most; those first that are made alike of states,
        so that operands stand one after the other."""
        forms = {f"y{i}": f"{name[0]}{int(name[1:]) % (4 if name[0] == 'q' else 3)}" if name[1:].isdigit() else name
                 for i, name in enumerate(self.names)}  # fmt: skip
        ranks, known = dict[str, int](), dict[Any, str]()
        groups: dict[tuple[Any, ...], dict[str, list[tuple[str, Parts]]]] = {}
        for rule in self.S.rules:
            parts = self._parts(rule)
            ranks[rule.name] = rank = 1 + max((ranks.get(name, 0) for name in parts.needs), default=0)
            key = (rank, parts.kind, parts.own)
            form = (key, *(forms.get(name, name) for name in parts.needs))
            forms[rule.name] = known.setdefault(form, f"{len(known)}")
            groups.setdefault(key, {}).setdefault(forms[rule.name], []).append((rule.name, parts))
        for key in sorted(groups):
            many = [some for some in groups[key].values() if len(some) >= 8]
            few = [one for some in groups[key].values() if len(some) < 8 for one in some]
            for some in (*many, few):
                yield from (dict(some[begin : begin + 8]) for begin in range(0, len(some), 8))

    def _slots_of(self, names: Sequence[str]) -> list[int]:
        found = [self.slot_of[name] for name in names]
        if found == [*range(found[0], found[0] + len(found))]:
            return [-found[0]] * 8
        return [*found, *[found[-1]] * (8 - len(found))]

    def _rows(self, blocks: Sequence[dict[str, Parts]]) -> tuple[dict[Any, int], list[tuple[Any, ...]]]:
        """What is remembered, by its slots or the first one of a block that does; and rows, each as it is needed: kind,
        first slot, key of what is remembered, keys of factors, slots of operands, lanes."""
        begins = {self.slot_of[next(iter(block))]: block for block in blocks}
        made_by = {name: n for n, block in enumerate(blocks) for name in block}
        needs = [dict.fromkeys(made_by[name] for one in block.values() for name in one.needs if name in made_by)
                 for block in blocks]  # fmt: skip
        records, rows = dict[Any, int](), list[tuple[Any, ...]]()

        def remembered(names: Sequence[str]) -> Any:
            slots = self._slots_of(names)
            key: Any = -slots[0] if len(begins.get(-slots[0], ())) >= len(names) else tuple(slots)
            if key not in records:
                records[key] = len(records)
                rows.extend([(KEPT, 0, key, (), slots, ())] * isinstance(key, tuple))
            return key

        waiting, done = [*range(len(blocks))], set[int]()
        while waiting:
            n = waiting[-1]
            before = [m for m in needs[n] if m not in done and n not in done]
            waiting += before[::-1]
            if before or waiting.pop() in done:
                continue
            done.add(n)
            to, lanes = self.slot_of[next(iter(blocks[n]))], [*blocks[n].values()]
            kind = lanes[0].kind
            keys = [remembered(names) for names in zip(*(one.factors for one in lanes), strict=True)]
            if kind in (QUOTIENT, POWER):
                records.setdefault(to, len(records))
            operands = zip_longest(*(one.operands for one in lanes), fillvalue="")
            rows.append((kind, to, to, keys, [a for names in operands for a in self._slots_of(names)], lanes))
        return records, rows

    def _place(self, records: Mapping[Any, int], rows: Sequence[tuple[Any, ...]]) -> None:
        """Where all stands in memory, and the table."""
        at = {key: self.next + RECORD * n for key, n in records.items()}
        spare, table, g = self.next + RECORD * len(records), list[int](), self.S.g
        columns = [[*zip_longest(*(one.constants for one in row[-1]), fillvalue=self.zero)] for row in rows]
        self.constants = [x if isinstance(x, int) else g.const(x) for every in columns for column in every
                          for x in (*column, *[self.zero] * (8 - len(column)))]  # fmt: skip
        states = [g.input(name) for name in self.names]
        self.code_at = spare + 2 * len(g.needed([*states, *self.constants]))
        numbers_at = self.code_at + 1
        wanted = {self.slots + i: a for i, a in enumerate(states)}
        wanted |= {numbers_at + n: a for n, a in enumerate(self.constants) if not self._literal(a)}
        numbers = [g.value(a) if self._literal(a) else 0.0 for a in self.constants]
        begins = self._begins(wanted, spare, numbers_at, numbers)
        for (kind, to, key, keys, slots, lanes), column in zip(rows, columns, strict=True):
            own = [at[one] for one in keys] if kind != SUM else [len(slots) // 8, numbers_at]
            table += [kind, to, at.get(key, 0), *own, *[0] * (2 - len(own))]
            table += [numbers_at, *lanes[0].own] if lanes and lanes[0].own else []
            table += slots
            numbers_at += 8 * len(column)
        self.begins_at = self.code_at + 1 + len(numbers)
        self.rows_at = self.begins_at + len(begins) + 1
        values = np.array(numbers).view(np.int64).tolist()
        self.code = np.array([1, *values, *begins, END, *table, END], dtype=np.int64)
        self.size = self.code_at + len(self.code)

    def _literal(self, a: int) -> bool:
        value = self.S.g.value(a)
        return value is not None and not isinstance(value, Closed)

    def _begins(self, wanted: Mapping[int, int], spare: int, first: int, numbers: list[float | None]) -> list[int]:
        """What is computed at the begin of a call: rows by where they are wanted. What is no sum or product of numbers
        of memory is left to the text."""
        g, at_of, made, literals = self.S.g, dict[int, int](), list[int](), dict[float, int]()

        def literal(x: float) -> int:
            if x not in literals:
                literals[x] = first + len(numbers)
                numbers.append(x)
            return literals[x]

        needed = g.needed(wanted.values())
        self.read, self.given = of_flat_memory(g.names(needed), self.N)
        for n, a in enumerate(needed):
            row, to, scratch = g.rows[a], spare + 2 * n, spare + 2 * n + 1
            read = row[0] == "in" and READ.fullmatch(self.given[row[1]])
            at_of[a] = to
            if self._literal(a):
                at_of[a] = literal(row[1])
            elif read:
                made += [SOURCES[read[2]], to, int(read[3]), 0]
                made += [OF_BODIES, scratch, int(read[1]), 0, TIMES, to, scratch, to] if read[1] else []
            elif row[0] == "mul" and all(e == int(e) for _, e in row[1]):
                made += [COPIED, to, literal(1.0), 0]
                made += [x for b, e in row[1] for x in (TIMES if e > 0.0 else OVER, to, to, at_of[b]) * int(abs(e))]
            elif row[0] == "sum" and not any(isinstance(x, Closed) for x in (row[1], *(f for _, f in row[2]))):
                made += [COPIED, to, literal(row[1]), 0]
                made += [x for b, f in row[2] for x in (TIMES, scratch, literal(f), at_of[b], PLUS, to, to, scratch)]
            else:
                self.written[a] = to
        return made + [x for to, a in wanted.items() for x in (COPIED, to, at_of[a], 0)]

    def module(self) -> Any:
        """The module with the role."""
        body = Lines(self.S.g, list(self.written), self.given)
        lines = ["def series(part, t, N, y, bodies, parameters, work):", *self.read, *body.lines]
        lines += [f"work[{at}] = {body.names[a]}" for a, at in self.written.items()]
        lines.append(f"follow(part, t, y, bodies, parameters, {self.slots}, {self.rates}, {len(self.names)}, "
                     f"{self.width}, {self.begins_at}, {self.rows_at}, work)")  # fmt: skip
        return module_of("\n    ".join(lines) + "\n", f"{IMPORTS}from polhode.kernel.recurrences import follow\n")
