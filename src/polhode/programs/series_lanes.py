"""The Taylor series of all that moves, for members of an ensemble in lanes: each number in the text is one of a member.

``series(K, t, N, y, bodies, parameters, work)`` is what ``series_role`` writes, without lanes of its own: translated by
``kernel.lane_mode`` it computes the coefficients of as many members as there are lanes, each with a time, a scale, a
state and constants of its own. Rows of coefficients hold the states first, then all other series that are factors of
products; each series is kept once, and sums of several products are made together, so that none waits for another, of
two orders at a time.

``increments(f, K, work)`` writes the sum of X_k f^k over k = 1 ... K of all states behind the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polhode.kernel.recurrences import HEAD, LARGEST_ORDER
from polhode.programs.graph import Graph
from polhode.programs.series import Rule, Series
from polhode.programs.series_role import Writer, check_length, series_of_motion
from polhode.programs.text import HEAD as IMPORTS

HEAD_OF_MEMBERS = f"{IMPORTS}from polhode.kernel.lane_mode import lane_numbers\n"
NOTHING = "nothing"
"""The variable that is zero in each lane: variables that all lanes share at first would be translated again."""
AT_ONCE = 12
"""Sums that are made in one loop: of more, they do not stay in registers."""


@dataclass(frozen=True)
class SeriesOfLanes:
    """The functions and the sizes of what they write."""

    series: Callable[..., Any]  # series, increments: plain Python, for lanes
    increments: Callable[..., Any]
    states: int  # as of ``SeriesRole``
    width: int  # length of a row of coefficients
    sums: int  # where the sums begin
    size: int  # length of the memory


class _Writer(Writer):
    """Lines of both functions."""

    nothing = NOTHING

    def __init__(self, series: Series, states: int, at_once: int) -> None:
        super().__init__(series)
        self.slots: list[Any]
        self.states, self.at_once = states, at_once
        own = [f"y{k}" for k in range(states)]
        factors = {name for terms in self.slots for _, *pair in terms for name in pair} - {*own}
        self.slot_of = {name: k for k, name in enumerate([*own, *sorted(factors, key=lambda one: (len(one), one))])}
        self.factors, self.width = [*self.slot_of][states:], len(self.slot_of)
        self.sums = HEAD + self.width * (LARGEST_ORDER + 1)
        self.spare = self.sums + states
        self.scaled = {rule.name: rule.operands[0] for rule in series.rules if rule.kind == "scaled"}
        self.size = self.spare + len(self.slots)

    def head(self) -> list[str]:
        return [f"{NOTHING} = float(0 * lane_numbers())"]

    def inverse(self, k: str) -> str:
        """That of k + 1, which was divided an order before, so that none waits for it."""
        return "i1"

    def form(self, rule: Rule) -> Any:
        """With one operation after the newest coefficient; what is scaled has none of order 0."""
        if rule.kind == "power":
            return "{s}k = ({s}e * ik) * q{n} + (({s}e * ik) * {s}0) * {2}k"
        if rule.kind == "quotient" and (scaled := self.scaled.get(rule.operands[0])):
            return f"{{s}}k = ({{s}}i * fk) * {scaled}k - {{s}}i * q{{n}}"
        return super().form(rule)

    def records(self, row: str) -> list[str]:
        """Coefficients of order ``row`` of all factors but the states."""
        return [f"work[{HEAD + self.slot_of[s]} + {self.width} * {row}] = {s}k" for s in self.factors]

    def remembered(self) -> list[str]:
        return [*self.records("1"), "i1 = 0.5", "i2 = 1.0 / 3.0"]

    def states_kept(self, at: str, row: str) -> list[str]:
        """Coefficients of order ``row`` of the states."""
        return [f"work[{HEAD + k} + {self.width} * {row}] = y{k}{at}" for k in range(self.states)]

    def _groups(self) -> Iterator[list[int]]:
        """Sums that are made together: those of a series with itself, then the others, such after each other that have
        factors in common, for each is loaded once."""
        for alike in (True, False):
            left = [n for n, terms in enumerate(self.slots) if (terms[0][1] == terms[0][2]) == alike]
            while left:
                group, known = list[int](), set[tuple[int, str]]()
                while left and len(group) < self.at_once:
                    factors = {
                        n: {(k, name) for term in self.slots[n] for k, name in enumerate(term[1:])} for n in left
                    }
                    n = min(left, key=lambda n: (sum(1 + k for k, _ in factors[n] - known), n))
                    known |= factors[n]
                    group.append(n)
                    left.remove(n)
                yield group

    def wide(self) -> list[str]:
        """Order k of all series, after the terms 1 <= j <= k - 1 of the sums of all products. Those of two orders are
        made together, for both have the same factors; of the second those with order k are added when it is there."""
        even, odd = list[str](), list[str]()

        def factor(name: str, j: str) -> str:
            return f"work[{HEAD + self.slot_of[name]} + {self.width} * {j}]"

        for group in self._groups():
            squares = self.slots[group[0]][0][1] == self.slots[group[0]][0][2]
            even += [f"{one}{n} = {NOTHING}" for n in group for one in "qp"]
            even.append(f"for j in range({'k // 2 - 1, 0, -1' if squares else '2, k'}):")
            i, of_next = ("(j + 1)", "(k - j)") if squares else ("j", "(k + 1 - j)")
            for n in group:
                for sign, x, y in self.slots[n]:
                    even.append(f"    q{n} = q{n} {sign} {factor(x, 'j')} * {factor(y, '(k - j)')}")
                    even.append(f"    p{n} = p{n} {sign} {factor(x, i)} * {factor(y, of_next)}")
            for n in group:
                kept, first, last = f"work[{self.spare + n}]", "", ""
                for sign, x, y in self.slots[n]:
                    first += f" {sign} {factor(x, '1')} * {factor(y, '(k - 1)')}"
                    last += f" {sign} {factor(x, '(k - 1)')} * {factor(y, '1')}"
                half = factor(x, "(k // 2)")
                even.append(f"q{n} = 2.0 * q{n} + {half} * {half}" if squares else f"q{n} = q{n}{first}")
                even.append(f"{kept} = p{n}")
                odd.append(f"q{n} = 2.0 * ({kept}{first})" if squares else f"q{n} = {kept}{first}{last}")
        lines = ["if k % 2 == 0:", *(f"    {x}" for x in even), "else:", *(f"    {x}" for x in odd)] if even else []
        lines += [f"y{n}k = work[{HEAD + self.slot_of[f'y{n}']} + {self.width} * k]" for n in range(self.states)]
        lines += ["fk = fk + 1.0", "ik = i1", "i1 = i2", "i2 = 1.0 / (fk + 2.0)"]
        return [*lines, *self.rules(zero=False), *self.records("k")]

    def text(self, read: Sequence[str], names: Sequence[str], given: dict[str, str]) -> str:
        """Both functions."""
        return f"{super().text(read, names, given)}\n\n{self.increments()}\n"

    def increments(self) -> str:
        """The function of this name."""
        lines: list[str] = []

        def coefficient(i: int, k: str) -> str:
            return f"work[{HEAD + i} + {self.width} * {k}]"

        for begin in range(0, self.states, self.at_once):
            group = range(begin, min(begin + self.at_once, self.states))
            lines += [f"a{i} = {coefficient(i, 'K')}" for i in group]
            lines.append("for k in range(K - 1, 0, -1):")
            lines += [f"    a{i} = a{i} * f + {coefficient(i, 'k')}" for i in group]
            lines += [f"work[{self.sums + i}] = a{i} * f" for i in group]
        return "\n    ".join(["def increments(f, K, work):", *lines])


@lru_cache(maxsize=64)
def series_of_lanes(
    g: Graph, N: int, force: tuple[int, ...], torque: tuple[int, ...], rates: tuple[int, ...],
    moves: tuple[bool, ...], turns: tuple[bool, ...], vectors: int = 1,
) -> SeriesOfLanes | None:  # fmt: skip
    """The functions of a system, for numbers that are so many vectors each; nothing where its loads choose between
    formulas, so that steps are cut."""
    names, series = series_of_motion(g, N, force, torque, rates, moves, turns)
    check_length(series)
    if any(rule.kind in ("step", "chosen") for rule in series.rules):
        return None
    states = sum(not name.startswith("q_") for name in names)
    writer = _Writer(series.with_joined_products(), states, max(2, AT_ONCE // vectors))
    made = writer.module(names, N, HEAD_OF_MEMBERS)
    return SeriesOfLanes(made.series, made.increments, states, writer.width, writer.sums, writer.size)
