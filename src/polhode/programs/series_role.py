"""The Taylor series of all that moves, as a role of a system: its coefficients of any order, from the flat state.

``series(K, t, N, y, bodies, parameters, work)`` has the signature of loads. It reads the scale h from ``work[SCALE]``
and writes, behind ``HEAD`` numbers, coefficients 0 to K of the states in powers of (time - t)/h, a row of ``width``
numbers each; then those of the conditions, by which the loads choose between formulas; the rest is its memory. What
stays (parameters, masses, what follows from them) is read in every call, so that other values need no other text.

A series is that of the formulas that hold at time t. A condition is a difference whose sign says which: below zero or
not. ``less``, ``min`` and ``max`` of a, b have a - b, ``abs`` and ``sign`` of x have -x, a number that ``choose`` goes
by itself and its negative, ``floor`` and the rows of tables the ways to both of their ends, ``outweighs`` none. Behind
their coefficients, as those of order LARGEST_ORDER, are the sizes of what is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.arguments import Indices
from polhode.errors import InvalidInput
from polhode.kernel.recurrences import HEAD, LARGEST_ORDER, SCALE
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.motion import equations, with_quaternions
from polhode.programs.primitives import PRIMITIVES
from polhode.programs.roles import of_flat_memory
from polhode.programs.series import Rule, Series, best_series
from polhode.programs.series_table import Table
from polhode.programs.series_text import SeriesWriter
from polhode.programs.text import HEAD as IMPORTS
from polhode.programs.written import module_of

LANES = 4
MANY = 32
"""Products from which on the factors of the last order are loaded, too."""
MOST_PRODUCTS = 1000
"""Most products of series that are written out: beyond, the text would take minutes to compile."""
AT_ONCE = 4
"""Lanes whose sums are made in one loop: of more, the two chains do not stay in registers."""


@dataclass(frozen=True)
class SeriesRole:
    """The role and the sizes of what it writes."""

    function: Callable[..., Any]  # plain Python, for ``jit.compile_kernel`` with the signature LOADS
    # how many states are in the flat state: of each body that moves position and velocity, of each that turns angular
    # momentum and quaternion, then the auxiliary variables. Further ones are rows of matrices
    states: int
    width: int  # length of a row of coefficients of the states
    conditions: int  # how many conditions there are
    conditions_at: int  # where their rows begin
    size: int  # length of the memory
    code: Indices = field(default_factory=lambda: np.zeros(0, np.int64))  # what the memory holds from code_at on
    code_at: int = 0


def _up(n: int) -> int:
    """The multiple of the lanes that holds n numbers."""
    return -(-n // LANES) * LANES


def in_lanes(numbers: Sequence[str]) -> str:
    """The expression of at most four numbers in lanes."""
    return f"four({', '.join([*numbers, *['0.0'] * (LANES - len(numbers))])})"


class Writer(SeriesWriter):
    """Lines of the role: all memory is ``work``."""

    nothing = "0.0"  # what is zero

    def __init__(self, series: Series) -> None:
        super().__init__(series)
        self.width, self.products = _up(len(series.states)), _up(len(series.slots))
        self.slots = list(series.slots)
        self.conditions = self._conditions()
        self.conditions_at = HEAD + self.width * (LARGEST_ORDER + 1)
        records = self.conditions_at + _up(len(self.conditions) * (LARGEST_ORDER + 1))
        second = records + self.products * (LARGEST_ORDER + 1)
        spare = second + self.products * (LARGEST_ORDER + 1)
        self.first_at, self.second_at, self.spare_at = f"{records} + ", f"{second} + ", f"{spare}"
        self.inverses_at = spare + self.products
        self.size = self.inverses_at + _up(LARGEST_ORDER + 2)

    def inverse(self, k: str) -> str:
        """From a table, which the first call writes: an order would wait for two divisions."""
        return f"work[{self.inverses_at} + {k}]"

    def _conditions(self) -> list[tuple[str, str, str]]:
        """Expressions of the conditions: minuend and subtrahend (a series or nothing), and what is added at order 0."""
        found: list[tuple[str, str, str]] = []
        answers = {
            rule.name for rule in self.S.rules if rule.kind == "step" and rule.operands[0] in ("less", "outweighs")
        }
        for rule in self.S.rules:
            if rule.kind not in ("step", "chosen") or rule.operands[0] == "outweighs":
                continue
            kind, x = rule.operands[0], rule.operands[1]
            if kind == "choose":
                found += [] if x in answers else [(x, "", ""), ("", x, "")]
            elif kind in PRIMITIVES:
                bounds = PRIMITIVES[kind].bounds({}, f"{rule.name}0", *[f"{one}0" for one in rule.operands[1:]])
                found += [(rule.operands[-1], "", f" - ({bound})") for bound in bounds]
            elif kind in ("abs", "sign"):
                found.append(("", x, ""))
            elif kind == "floor":
                found += [(x, "", f" - {rule.name}0"), (x, "", f" - ({rule.name}0 + 1.0)")]
            else:
                found.append((x, rule.operands[2], ""))
        return list(dict.fromkeys(found))

    def condition_lines(self, at: str, row: str) -> list[str]:
        lines = []
        for n, (a, b, more) in enumerate(self.conditions):
            difference = " - ".join([f"{a}{at}" if a else "0.0", *([f"{b}{at}"] if b else [])])
            slot = f"{self.conditions_at + n} + {len(self.conditions)} * {row}"
            lines.append(f"work[{slot}] = {difference}{more if at == '0' else ''}")
            if at == "0":
                sizes = [
                    f"abs({one})" for one in (a and f"{a}0", b and f"{b}0", more and more.removeprefix(" - ")) if one
                ]
                lines.append(f"work[{slot} + {len(self.conditions) * LARGEST_ORDER}] = {' + '.join(sizes)}")
        return lines

    def step_at_zero(self, rule: Rule) -> list[str]:
        """The sign of nothing is that of a negative number, for which the condition holds."""
        if rule.operands[0] == "sign":
            return [f"{rule.name}0 = 1.0 if {rule.operands[1]}0 > 0.0 else -1.0"]
        return super().step_at_zero(rule)

    @property
    def many(self) -> bool:
        """Whether there are so many products that the factors of the last order are best loaded, too."""
        return len(self.S.slots) >= MANY

    def head(self) -> list[str]:
        """Lines before all others: the table of inverses."""
        table = [f"if {self.inverse('1')} != 1.0:", f"    for k in range(1, {LARGEST_ORDER + 2}):"]
        return [*table, f"        {self.inverse('k')} = 1.0 / float(k)"]

    def remembered(self) -> list[str]:
        """What the wide form remembers of order 1: records, or both that order and the last but one, which in order 2
        is order 1 itself and would count twice."""
        lines = self.records("1")
        for n in range(0, 0 if self.many else self.products, LANES):
            lines += [f"{side}{n}1 = {side}{n}o" for side in "AB"]
            lines += [f"{side}{n}o = spread(0.5) * {side}{n}o" for side in "AB"]
        return lines

    def records(self, row: str) -> list[str]:
        """Both factors of all products of order k into the records, four at a time; they stay as those of the last but
        one order, too."""
        lines, width = [], self.products
        for side, base in (("A", self.first_at), ("B", self.second_at)):
            for n in range(0, width, LANES):
                four = in_lanes([pair["AB".index(side)] + "k" for pair in self.slots[n : n + LANES]])
                if not self.many:
                    lines.append(f"{side}{n}o = {four}")
                    four = f"{side}{n}o"
                lines.append(f"store4(work, {base}{width} * {row} + {n}, {four})")
        return lines

    def wide(self) -> list[str]:
        """Order k of all series: the terms 2 <= j <= k - 2 of the sums in lanes, in two chains. Unless there are many,
        those with the coefficients k - 1 are added from the lanes just made, as loads of what was stored would wait."""
        width = self.products
        if not width:
            return ["fk = float(k)", "ik = 1.0 / fk", *self.rules(zero=False)]
        at, one, two = self.spare_at, self.first_at, self.second_at
        lines: list[str] = []
        for begin in range(0, width, LANES * AT_ONCE):
            groups = range(begin, min(begin + LANES * AT_ONCE, width), LANES)
            lines += [f"{c}{n} = spread(0.0)" for n in groups for c in "ac"]
            lines.append(f"for j in range({1 if self.many else 2}, (k + 1) // 2):")
            for n in groups:
                for c, i, j in (("a", "j", "(k - j)"), ("c", "(k - j)", "j")):
                    a, b = (f"load4(work, {base}{width} * {m} + {n})" for base, m in ((one, i), (two, j)))
                    lines.append(f"    {c}{n} = fused({a}, {b}, {c}{n})")
            lines += ["if k % 2 == 0:" if self.many else "if k % 2 == 0 and k > 2:", "    j = k // 2"]
            for n in groups:
                a, b = (f"load4(work, {base}{width} * j + {n})" for base in (one, two))
                lines.append(f"    a{n} = fused({a}, {b}, a{n})")
            for n in groups:
                within = f"a{n} + c{n}"
                if not self.many:
                    within = f"fused(A{n}o, B{n}1, fused(A{n}1, B{n}o, {within}))"
                lines.append(f"store4(work, {at} + {n}, {within})")
        lines += ["fk = float(k)", f"ik = {self.inverse('k')}"]
        lines += [f"q{n} = work[{at} + {n}]" for n in range(len(self.S.slots))]
        return [*lines, *self.rules(zero=False), *self.records("k")]

    def states_kept(self, at: str, row: str) -> list[str]:
        """Coefficients of order ``row`` of the states into the memory."""
        names = [f"y{i}{at}" for i in range(len(self.S.states))]
        to = f"{HEAD + self.width * int(row)}" if row.isdigit() else f"{HEAD} + {self.width} * {row}"
        return [f"store4(work, {to} + {n}, {in_lanes(names[n : n + LANES])})" for n in range(0, self.width, LANES)]

    def text(self, read: Sequence[str], names: Sequence[str], given: dict[str, str]) -> str:
        """The whole function."""
        zeros = [f"q{s} = {self.nothing}" for s in range(len(self.S.slots))]
        loop = [*self.wide(), *self.condition_lines("k", "k"), f"g = h * {self.inverse('k + 1')}"]
        loop += [*self.next_states("k", "g"), *self.states_kept("k", "(k + 1)")]
        lines = ["K = part", *self.head(), f"h = work[{SCALE}]", *read, *self.begin(names, given)]
        lines += [*self.rules(zero=True), *self.condition_lines("0", "0"), *self.states_kept("0", "0")]
        lines += [*self.next_states("0", "h"), *self.states_kept("k", "1"), "k = 1", "fk = 1.0", "ik = 1.0", "tk = h"]
        lines += [*zeros, *self.rules(zero=False), *self.condition_lines("k", "1"), *self.remembered()]
        lines += [*self.next_states("k", "0.5 * h"), f"tk = {self.nothing}", *self.states_kept("k", "2")]
        lines += ["for k in range(2, K):", *(f"    {line}" for line in loop)]
        return "\n    ".join(["def series(part, t, N, y, bodies, parameters, work):", *lines]) + "\n"

    def module(self, names: Sequence[str], N: int, head: str = IMPORTS) -> Any:
        """The module with the functions of N bodies whose states have these names."""
        _ = self.rules(zero=True), self.rules(zero=False), self.next_states("0", "h")  # what stays becomes known
        read, given = of_flat_memory({*names, *self.S.g.names(self.S.fixed)}, N)
        return module_of(self.text(read, names, given), head)


def states_of_motion(
    dynamics: Dynamics, moves: tuple[bool, ...], turns: tuple[bool, ...]
) -> tuple[list[str], list[int]]:  # fmt: skip
    """Names of the states, and rows of their rates; what is not in the state comes last."""
    dynamics = with_quaternions(dynamics)
    names, changes = equations(dynamics, moves, turns)
    every = [*zip(names, changes, strict=True), *((f"aux{k}", row) for k, row in enumerate(dynamics.rates))]
    every.sort(key=lambda one: one[0].startswith("q_"))
    return [name for name, _ in every], [row for _, row in every]


def series_of_motion(
    g: Graph, N: int, force: tuple[int, ...], torque: tuple[int, ...], rates: tuple[int, ...],
    moves: tuple[bool, ...], turns: tuple[bool, ...],
) -> tuple[list[str], Series]:  # fmt: skip
    """Names of the states, and their series; arguments and errors as of ``series_role``."""
    names, rows = states_of_motion(Dynamics(g, N, force, torque, rates), moves, turns)
    return names, best_series(g, [g.input(name) for name in names], rows)


def check_length(series: Series) -> None:
    """Refuse a series that is too long for a text."""
    if len(series.slots) > MOST_PRODUCTS:
        raise InvalidInput(
            f"the Taylor series of these loads has {len(series.slots)} products; at most {MOST_PRODUCTS} can be "
            "compiled, so take a method that evaluates the loads, such as 'mkrk:cv8'"
        )


@lru_cache(maxsize=64)
def series_role(
    g: Graph, N: int, force: tuple[int, ...], torque: tuple[int, ...], rates: tuple[int, ...],
    moves: tuple[bool, ...], turns: tuple[bool, ...],
) -> SeriesRole:  # fmt: skip
    """The role of a system."""
    names, series = series_of_motion(g, N, force, torque, rates, moves, turns)
    states = sum(not name.startswith("q_") for name in names)
    if series.tabled:
        made = Table(series, names, N)
        function = made.module().series
        return SeriesRole(function, states, made.width, 0, 0, made.size, made.code, made.code_at)
    check_length(series)
    writer = Writer(series)
    function = writer.module(names, N).series
    return SeriesRole(function, states, writer.width, len(writer.conditions), writer.conditions_at, writer.size)
