"""Loads of one kind as loops: traced once, on the first bodies they are on, and run over a table of bodies.

A row of a table, which stands behind the parameters, holds the numbers of its bodies; for each load whose numbers are
others in each row, where these begin; for each that begins or ends the number of its state; and for each work its
number. What is not in a loop is a loop of one row.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode.arguments import Indices
from polhode.kernel import layout as L
from polhode.programs.factor import factored
from polhode.programs.parts import added_up
from polhode.programs.roles import of_flat_memory
from polhode.programs.text import Lines
from polhode.programs.written import module_of
from polhode.surroundings.surrounding import Table
from polhode.systems.conserved import Acting, conserved
from polhode.systems.pairs import OfPass, acting_on_pairs
from polhode.systems.summands import MOST_WRITTEN_OUT, Structure, Sum, Summand, functions_of
from polhode.systems.tracing import Tracing


@dataclass(frozen=True)
class Loop:
    """Loads of one or several kinds on the same sets of bodies."""

    on: tuple[tuple[int, ...], ...]  # the bodies, a set a row
    rows: tuple[tuple[Summand, ...], ...]  # the loads on each set, of the same kinds in the same order

    def among(self, kept: Iterable[int]) -> Loop:
        """Some of the rows, by their numbers."""
        return Loop(tuple(self.on[r] for r in kept), tuple(self.rows[r] for r in kept))

    @cached_property
    def columns(self) -> list[tuple[Any, int]]:
        """Where numbers begin that are others in each row, by rows, and how many they are."""
        on, found = np.array(self.on), list[tuple[Any, int]]()
        for m, one in enumerate(self.rows[0]):
            if one.parameters:
                first = np.array([min(at for at, _ in row[m].parameters.values()) for row in self.rows])
                found.append((first, sum(int(np.prod(shape)) for _, shape in one.parameters.values())))
            for at, shape in one.each.values():
                size = int(np.prod(shape))
                found += [(at + size * on[:, n], size) for n in range(on.shape[1])]
        return [(first, size) for first, size in found if (first != first[0]).any()]

    @cached_property
    def gates(self) -> Indices:
        """Numbers of the states that say which loads act, by rows."""
        return np.array([[one.gate for one in row if one.gate >= 0] for row in self.rows], dtype=int)

    def slot(self, k: int) -> tuple[int, int] | None:
        """The column that number k of the first row is in, and which number of it."""
        return next(((c, int(k - first[0])) for c, (first, size) in enumerate(self.columns)
                     if 0 <= k - first[0] < size), None)  # fmt: skip

    def places(self, k: int) -> Indices:
        """The parameters that are in each row what number k is in the first."""
        found = self.slot(k)
        return np.full(len(self.on), k) if found is None else self.columns[found[0]][0] + found[1]


def loops_of(sum: Sum) -> list[Loop]:
    """The loops of a sum, the last of them what is written out; none if all is, as where rotors are in bodies."""
    if sum.carried:
        return []
    kinds, states = list(zip(sum.moves, sum.turns, sum.turned, strict=True)), {name for name, _ in sum.states}
    groups, rest = defaultdict[Any, list[tuple[tuple[int, ...], Summand]]](list), list[Summand]()
    for one, act in zip(sum.summands, functions_of(sum.summands), strict=True):
        if one.of_pairs and sum.passes:
            continue
        tabled = one.load.bodies and any(isinstance(x, Table) for x in one.load.parameters.values())
        asked = {one.load.reads.get(name, name) for name in inspect.signature(one.load.function).parameters}
        if tabled or states & (asked | {*one.load.starts} - {one.load.gate}):
            rest.append(one)
            continue
        shapes = tuple((name, shape) for part in (one.parameters, one.each) for name, (_, shape) in part.items())
        who = (act, one.load.returns, bool(one.load.gate), shapes) if one.load.bodies else one.load.name
        gate, _ = sum.places.get(one.load.gate, (-1, 0))
        for on in one.on:
            groups[who, tuple(kinds[i] for i in on)].append((on, replace(one, on=(on,), gate=gate)))
    together = defaultdict[Any, list[list[Summand]]](list)
    for calls in groups.values():
        if len(calls) > MOST_WRITTEN_OUT:
            together[tuple(on for on, _ in calls)].append([one for _, one in calls])
        else:
            rest += [one for _, one in calls]
    loops = [Loop(on, tuple(zip(*columns, strict=True))) for on, columns in together.items()]
    if rest and (loops or sum.passes):
        loops.append(Loop((tuple(sorted({i for one in rest for on in one.on for i in on})),), (tuple(rest),)))
    return loops


class Written:
    """A loop with the program of its first row, as far as it is that of the others."""

    def __init__(self, sum: Sum, loop: Loop) -> None:
        at = {body: n for n, body in enumerate(loop.on[0])}
        here = [replace(one, on=tuple(tuple(at[i] for i in on) for on in one.on)) for one in loop.rows[0]]
        self.tracing = tracing = Tracing(sum.of(loop.on[0], here))
        asked = tracing.traced()
        same = np.ones(len(loop.on), dtype=bool)
        for name, value in asked.items():
            same &= np.asarray(sum.parameters)[loop.places(int(name[1:]))] == value
        if tracing.named:
            same[1:] = False
        self.loop = loop.among(np.flatnonzero(same))  # the rows that it is the program of
        left = loop.among(np.flatnonzero(~same))  # where functions decide otherwise, or read the names of bodies
        self.others = [left.among([r]) for r in range(len(left.on))] if tracing.named else [left] if left.on else []
        self.fixed = {f"p{k}": value for name, value in asked.items() for k in self.loop.places(int(name[1:])).tolist()}

    @property
    def work(self) -> list[list[str]]:
        """Names of what does work, by rows."""
        at = {one.load.name: m for m, one in enumerate(self.loop.rows[0])}
        return [[row[at[name]].load.name if name in at else name for name in self.tracing.work]
                for row in self.loop.rows]  # fmt: skip

    @property
    def timed(self) -> set[str]:
        """Those of potentials that read the time."""
        there = [name in self.tracing.timed for name in self.tracing.work]
        return {name for row in self.work for name, timed in zip(row, there, strict=True) if timed}

    @property
    def acting(self) -> Acting:
        """Its loads, to find what is conserved."""
        total = self.tracing.total
        names = total.graph.names([*total.force, *total.torque])
        places = {name: self.loop.places(int(name[1:])) for name in names if name[0] == "p"}
        return total._replace(on=np.array(self.loop.on), places=places)

    def table(self, work: Sequence[str]) -> list[list[float]]:
        """The rows of its table, by the names of all that do work."""
        columns = [first.tolist() for first, _ in self.loop.columns]
        first = zip(*columns, strict=True) if columns else [()] * len(self.loop.on)
        return [
            [*map(float, (*on, *own, *gates, *map(work.index, named)))]
            for on, own, gates, named in zip(self.loop.on, first, self.loop.gates, self.work, strict=True)
        ]

    def lines(self, start: int, before: int) -> tuple[list[str], list[str]]:
        """Lines that add its loads to ``out``, and its potential to ``total``."""
        loop, tracing, n = self.loop, self.tracing, len(self.loop.on[0])
        gates, before_work = loop.gates[0].tolist(), n + len(loop.columns) + loop.gates.shape[1]
        width = before_work + len(tracing.work)

        def at(array: str, k: int) -> str:
            if array == "y":
                i, slot = divmod(k, L.BODY)
                k -= L.BODY * n
                state = f"g{gates.index(k)}" if k in gates else str(k)
                return f"y[a{i} + {slot}]" if i < n else f"y[{L.BODY} * N + {before} + {state}]"
            if array == "bodies":
                i, slot = divmod(k, L.CONSTANTS)
                k -= L.CONSTANTS * n
                return f"bodies[b{i} + {slot}]" if i < n else f"bodies[f{k // 4} + {k % 4}]"
            own = loop.slot(k)
            return f"parameters[{k}]" if own is None else f"parameters[p{own[0]} + {own[1]}]"

        def given(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
            return of_flat_memory(names, n, at)

        head = [line for i in range(n) for line in (
            f"i{i} = whole(parameters[at + {i}])", f"a{i} = {L.BODY} * i{i}", f"b{i} = {L.CONSTANTS} * i{i}",
            f"f{i} = {L.CONSTANTS} * N + 4 * i{i}", f"c{i} = {L.LOAD} * i{i}",
        )]  # fmt: skip
        head += [f"p{k} = whole(parameters[at + {n + k}])" for k in range(len(loop.columns))]
        head += [f"g{k} = whole(parameters[at + {n + len(loop.columns) + k}])" for k in range(len(gates))]
        slots = [f"s{k} = {L.LOAD} * N + whole(parameters[at + {before_work + k}])" for k in range(len(tracing.work))]
        around = f"for at in range({start}, {start + width * len(loop.on)}, {width}):"

        acting = tracing.acting
        conditions = {f"part & {part} != 0": one for part, one in acting.items()}
        count = len(tracing.loads[L.MOVING].rates)
        lines, loads, rates = added_up(tracing.g, conditions, n, count, given)
        there = [f"c{k // 3} + {3 * turns + k % 3}" for turns in range(2) for k in range(3 * n)]
        there += [f"s{k}" for k in range(len(tracing.work))]
        there += [f"{L.LOAD} * N + {before + k}" for k in range(count - len(tracing.work))]
        acts = [any(tracing.g.value(one.rows[k]) != 0.0 for one in acting.values()) for k in range(len(there))]
        stores = [f"out[{k}] = out[{k}] + {one}" for k, one, some in zip(there, [*loads, *rates], acts, strict=True)
                  if some]  # fmt: skip
        (level,) = factored(tracing.g, [tracing.level])
        read, found = given(tracing.g.names([level]))
        body = Lines(tracing.g, [level], found)
        adding = [f"if part & {sum(acting)} != 0:", f"    {around}",
                  *(f"        {line}" for line in [*head, *slots, *lines, *stores])]  # fmt: skip
        lines = [*head, *read, *body.lines, f"total = total + {body.names[level]}"]
        deep = [around, *(f"    {line}" for line in lines)]
        return adding if stores else [], deep if tracing.g.value(level) != 0.0 else []


def looped(sum: Sum, loops: Sequence[Loop]) -> Structure:
    """The structure of a sum whose loads are loops, besides those on pairs."""
    written, left = list[Written](), list(loops)
    while left:
        written.append(Written(sum, left.pop(0)))
        left += written[-1].others
    fixed = {name: value for one in written for name, value in one.fixed.items()}
    acting = [one.acting for one in written]
    pairs = None
    if sum.passes:
        pairs, on_ring, asked = acting_on_pairs(sum)
        acting.append(on_ring)
        fixed |= asked
    work = list(dict.fromkeys(name for one in written for row in one.work for name in row))
    states = sum.registers + int(np.sum([np.prod(shape) for _, shape in sum.states], dtype=int))
    table, start = list[float](), len(sum.parameters)
    first = f"{L.LOAD} * N" if pairs else "0"  # loads are added to those of pairs
    loads = [f"for k in range({first}, {L.LOAD} * N + {len(work) + states}):", "    out[k] = 0.0"]
    level = ["total = 0.0"]
    for one in written:
        adding, deep = one.lines(start + len(table), len(work))
        loads, level = loads + adding, level + deep
        table += [x for row in one.table(work) for x in row]
    text = "\n    ".join(["def loads(part, t, N, y, bodies, parameters, out):", *loads]) + "\n"
    depth = "\n    ".join(["def potential(t, N, y, bodies, parameters):", *level, "return total"]) + "\n"
    parts = {part for one in written for part in one.tracing.acting}
    moving = any(one.tracing.moving for one in written)
    role, energy = module_of(text).loads, module_of(depth).potential if parts else None
    if pairs:
        role, energy = pairs.beside(role, energy) if written else (pairs.loads, pairs.potential)
    all_potential = all(one.tracing.all_potential for one in written)

    def conserves() -> tuple[str, ...]:
        found = () if sum.kicked else conserved(sum.moves, acting, sum.parameters, {*fixed, *sum.tables})
        if sum.within.edges is None:
            return found
        return tuple(name for name in found if not name.endswith("angular_momentum"))  # a box has directions

    return Structure(
        role, energy, tuple(work), moving, False, not work, all_potential, False, False, sum.centred,
        parts == {L.ATTRACTION} and not pairs, fixed, conserves,
        frozenset[str]().union(*(one.timed for one in written)), tuple(table),
        pairs=(pairs.serve, pairs.width) if pairs else None, program=OfPass(len(sum.names), sum) if pairs else None,
    )  # fmt: skip
