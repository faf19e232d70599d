"""Taylor series with derivatives by all states and numbers that stay, whatever the number of directions.

With the series A of the slopes of the rates by the states, and B of those by a number, changes of the coefficients X_k
of the states follow from (k + 1) dX_(k+1) = h (sum over j of A_j dX_(k-j) + B_k). So the sum of X_1 ... X_K has the
derivatives L_0 - 1 by the states, and D by the number, which follow from the last order down, for all states at once:

    L_K = 1,   L_k = 1 + sum over m > k of M_m A_(m-k-1),   D = sum over m > 0 of M_m B_(m-1),   M_m = h/m L_m.

Slopes are sums of factors that stay times series; rows M of one series and state are summed once for each m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polhode.kernel.recurrences import HEAD, LARGEST_ORDER
from polhode.programs.derive import backward
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.roles import of_flat_memory
from polhode.programs.series import LONG, Series, best_series
from polhode.programs.series_role import LANES, Writer, in_lanes, states_of_motion
from polhode.programs.text import HEAD as IMPORTS
from polhode.programs.written import module_of

EIGHT = 8
"""Numbers of a vector: states whose derivatives stand side by side."""
AT_ONCE = 14
"""Vectors that are summed in one loop: of more, they do not stay in registers."""
ROWS = LARGEST_ORDER + 3
"""Orders of rows; those behind the last one are zero."""
HEAD_OF_SLOPES = f"{IMPORTS}from polhode.kernel.simd import eight, load8, spread8, store8\n"
HEAD_OF_LOADS = f"{IMPORTS}from polhode.kernel.tangent_mode import plain, with_derivatives\n"
Terms = dict[str, list[tuple[int, str]]]
"""Slopes of the rates by one state or number: for each series (that of 1 has no name) pairs of rate and factor."""


@dataclass(frozen=True)
class SeriesWithSlopes:
    """The functions and the sizes of what they write."""

    series: Callable[..., Any]  # of plain numbers: writes the sums, and their derivatives by states and numbers
    loads: Callable[..., Any]  # gives the sums the derivatives that follow along all directions
    states: int  # as of ``SeriesRole``
    width: int  # length of a row of coefficients
    sums: int  # where the sums begin
    size: int  # length of the memory


class _Writer(Writer):
    """Lines of both functions; the first ``own`` states are in the flat state."""

    def __init__(
        self, series: Series, own: int, slopes: Iterable[Iterable[tuple[int, tuple[int, str | None]]]]
    ) -> None:
        """``slopes``: of each state, and each number that stays, pairs of a rate and the slope (factor, series)."""
        super().__init__(series)
        self.count, self.own = len(series.states), own
        self.columns = [self._terms(column) for column in slopes]
        names = dict.fromkeys(name for column in self.columns for name in column if name and name[0] != "y")
        self.kept = {name: k for k, name in enumerate(names)}
        found: dict[tuple[tuple[int, str], ...], int] = {}  # rows of sums, of which products of two states share one
        self.pairs = [(found.setdefault(tuple(sorted(terms)), len(found)), j, name) for j, column in
                      enumerate(self.columns[: self.count]) for name, terms in column.items() if name]  # fmt: skip
        self.shared = list(found)
        self.parts = range(0, own, EIGHT)
        self.row, self.kept_width = len(self.parts) * EIGHT, -(-len(names) // LANES) * LANES
        self.rows_at = -(-self.size // EIGHT) * EIGHT
        self.pairs_at = self.rows_at + self.row * self.count * ROWS
        self.numbers_at = self.pairs_at + self.row * len(self.shared) * ROWS
        self.kept_at = self.numbers_at + self.row * (len(self.columns) - self.count)
        self.sums = self.kept_at + self.kept_width * ROWS
        self.size = self.sums + self.width
        self.lines = [*self.of_states(), *self.of_numbers(), *self.of_sums()]

    def _terms(self, column: Iterable[tuple[int, tuple[int, str | None]]]) -> Terms:
        """The terms of a column by series; a sum of series that others have anyway is split up."""
        g, found = self.S.g, dict[str, list[tuple[int, int]]]()
        sums = {rule.name: rule.operands for rule in self.S.rules if rule.kind == "sum"}
        for i, (factor, name) in sorted(column, key=lambda one: one[1][1] in sums):
            still, terms = sums.get(name or "", (None, ()))
            if terms and all(one in found for _, one in terms):
                for more, one in terms:
                    found[one].append((i, g.mul(factor, more)))
                factor, name = g.const(0.0) if still is None else g.mul(factor, still), ""
            if g.value(factor) != 0.0:
                found.setdefault(name or "", []).append((i, factor))
        return {name: [(i, self.constant(factor)) for i, factor in found[name]] for name in sorted(found, reverse=True)}

    # -------------------------------------------------------------- where things are
    def of_row(self, order: str, j: int, part: int) -> str:
        """M of an order, by state j; where the order is 0, L - 1."""
        return f"{self.rows_at + self.row * j + part} + {self.row * self.count} * {order}"

    def of_pair(self, order: str, n: int, part: int) -> str:
        """The sum of the factors that a pair has, times M of an order."""
        return f"{self.pairs_at + self.row * n + part} + {self.row * len(self.shared)} * {order}"

    def of_column(self, j: int, part: int) -> str:
        """Derivatives of the sums."""
        return (
            self.of_row("0", j, part) if j < self.count else f"{self.numbers_at + self.row * (j - self.count) + part}"
        )

    def coefficient(self, name: str, order: str) -> str:
        """That of a series, in eight lanes."""
        if not name:
            return "spread8(1.0)"
        at, width = (HEAD + int(name[1:]), self.width) if name[0] == "y" else (
            self.kept_at + self.kept[name], self.kept_width)  # fmt: skip
        return f"spread8(work[{at} + {width} * ({order})])"

    def states_kept(self, at: str, row: str) -> list[str]:
        """And those of the series that slopes are multiples of, once they are known."""
        order, kept = {"1": ("0", "0"), "2": ("1", "k")}.get(row, ("k", "k"))
        names = [f"{name}{kept}" for name in self.kept] if row != "0" else []
        return super().states_kept(at, row) + [
            f"store4(work, {self.kept_at + n} + {self.kept_width} * {order}, {in_lanes(names[n : n + LANES])})"
            for n in range(0, len(names), LANES)
        ]

    # -------------------------------------------------------------- lines behind the series
    def _groups(self, begin: int, end: int, sums: int = 1) -> Iterable[range]:
        at_once = max(1, AT_ONCE // (len(self.parts) * sums))
        return (range(k, min(k + at_once, end)) for k in range(begin, end, at_once))

    def _unit(self, j: int, part: int, one: str) -> str:
        """A part of the row of state j of a unit matrix."""
        some = [one if k == j < self.own else "0.0" for k in range(part, part + EIGHT)]
        return f"eight({in_lanes(some[:LANES])}, {in_lanes(some[LANES:])})"

    @staticmethod
    def _multiple(terms: Iterable[tuple[int, str]], part: int) -> str:
        """A sum of multiples of rows."""
        return " + ".join(f"b{i}_{part}" if f == "1.0" else f"spread8({f}) * b{i}_{part}" for i, f in terms)

    def of_states(self) -> list[str]:
        """M and L_0 - 1, two orders at a time, k and the even one below it, as both are sums of the same rows."""
        lines = [f"one, share = 1.0 if k <= K else 0.0, h * {self.inverse('k')}"]
        lines.append(f"other, less = (1.0, h * {self.inverse('(k - 1)')}) if k > 1 else (0.0, 1.0)")
        still = [column.get("", ()) for column in self.columns[: self.count]]
        lines += [f"b{i}_{c} = load8(work, {self.of_row('(k + 1)', i, c)})"
                  for i in sorted({i for terms in still for i, _ in terms}) for c in self.parts]  # fmt: skip
        for group in self._groups(0, self.count, 2):
            for j in group:
                for c in self.parts:
                    more = self._multiple(still[j], c)
                    lines.append(f"c{j}_{c} = {self._unit(j, c, 'one')}{' + ' * bool(more)}{more}")
                    lines.append(f"d{j}_{c} = {self._unit(j, c, 'other')}")
            some = [pair for pair in self.pairs if pair[1] in group]
            lines += ["for m in range(K, k, -1):"] * bool(some)
            for name in dict.fromkeys(name for _, _, name in some):
                lines += [
                    f"    x = {self.coefficient(name, 'm - k - 1')}",
                    f"    z = {self.coefficient(name, 'm - k')}",
                ]
                for n, j, _ in (pair for pair in some if pair[2] == name):
                    for c in self.parts:
                        lines.append(f"    a = load8(work, {self.of_pair('m', n, c)})")
                        lines += [f"    {s}{j}_{c} = fused(a, {by}, {s}{j}_{c})" for s, by in ("cx", "dz")]
        for s, order, share in (("c", "k", "share"), ("d", "(k - 1)", "less")):
            for j in range(self.count) if s == "d" else ():
                for c in self.parts:
                    lines += [f"d{j}_{c} = d{j}_{c} + {self._multiple(still[j], c)}"] * bool(still[j])
                    lines += [f"d{j}_{c} = fused(p{n}_{c}, {self.coefficient(name, '0')}, d{j}_{c})"
                              for n, i, name in self.pairs if i == j]  # fmt: skip
            for j in range(self.count):
                for c in self.parts:
                    lines.append(f"b{j}_{c} = spread8({share}) * {s}{j}_{c}")
                    lines.append(f"store8(work, {self.of_row(order, j, c)}, b{j}_{c})")
            for n, terms in enumerate(self.shared):
                for c in self.parts:
                    lines.append(f"p{n}_{c} = {self._multiple(terms, c)}")
                    lines.append(f"store8(work, {self.of_pair(order, n, c)}, p{n}_{c})")
        return ["for k in range(K + 1 - K % 2, 0, -2):", *(f"    {line}" for line in lines)]

    def of_numbers(self) -> list[str]:
        """D; a factor that all terms have is taken out."""
        lines: list[str] = []
        for group in self._groups(self.count, len(self.columns)):
            moving, still = list[str](), list[str]()
            for j in group:
                factors = {f for terms in self.columns[j].values() for _, f in terms}
                whole = factors.pop() if len(factors) == 1 else "1.0"
                for name, terms in self.columns[j].items():
                    inner = [(i, "1.0" if f == whole else f) for i, f in terms]
                    (moving if name else still).extend(
                        f"c{j}_{c} = fused({self._multiple(inner, c)}, {self.coefficient(name, 'm - 1')}, c{j}_{c})"
                        for c in self.parts
                    )
                still += [f"store8(work, {self.of_column(j, c)}, spread8({whole}) * c{j}_{c})" for c in self.parts]
            rows = [f"b{i}_{c} = load8(work, {self.of_row('m', i, c)})" for i in range(self.count) for c in self.parts]
            lines += [*(f"c{j}_{c} = spread8(0.0)" for j in group for c in self.parts), "for m in range(K, 0, -1):"]
            lines += [*(f"    {line}" for line in (*rows, *moving)), *still]
        return lines

    def of_sums(self) -> list[str]:
        """The sums."""
        lines: list[str] = []
        for n in range(0, self.own, LANES):
            lines += [f"s = load4(work, {HEAD + n} + {self.width} * K)", "for k in range(K - 1, 0, -1):"]
            lines += [f"    s = s + load4(work, {HEAD + n} + {self.width} * k)", f"store4(work, {self.sums + n}, s)"]
        return lines

    def text(self, read: Sequence[str], names: Sequence[str], given: dict[str, str]) -> str:
        """The text of ``series``."""
        return "\n    ".join([super().text(read, names, given).rstrip("\n"), *self.lines]) + "\n"

    def loads(self, names: Sequence[str], numbers: Iterable[Sequence[str]], N: int) -> str:
        """The text of ``loads``."""
        every = [*([name] for name in names), *numbers]
        lines, given = of_flat_memory({one for some in every for one in some}, N)
        lines += [f"a{j} = {' + '.join(given[one] for one in some)}" for j, some in enumerate(every)]
        for i in range(self.own):
            terms = "".join(f", (plain(work[{self.of_column(j, i)}]), a{j})" for j in range(len(every)))
            lines.append(f"work[{self.sums + i}] = with_derivatives(plain(work[{self.sums + i}]){terms})")
        return "\n    ".join(["def loads(part, t, N, y, bodies, parameters, work):", *lines]) + "\n"


@lru_cache(maxsize=64)
def series_with_slopes(
    g: Graph, N: int, force: tuple[int, ...], torque: tuple[int, ...], rates: tuple[int, ...],
    moves: tuple[bool, ...], turns: tuple[bool, ...], vectors: int, varied: bool, of_bodies: bool,
) -> SeriesWithSlopes | None:  # fmt: skip
    """The functions of a system for derivatives in so many vectors, where parameters or constants of bodies have some;
    nothing where its loads choose between formulas, or forward mode is no dearer."""
    names, rows = states_of_motion(Dynamics(g, N, force, torque, rates), moves, turns)
    states = [g.input(name) for name in names]
    numbers = [name for name in g.names(rows) if name not in {*names, "t"}]
    numbers = sorted(name for name in numbers if (varied if name[0] in "pP" else of_bodies))
    leaves = [*states, *map(g.input, numbers)]
    slopes = list(zip(*(backward(g, a, leaves) for a in rows), strict=True))
    alike: dict[tuple[int, ...], list[str]] = {}  # numbers that only their sum matters of
    for name, column in zip(numbers, slopes[len(states) :], strict=True):
        alike.setdefault(column, []).append(name)
    every = [*slopes[: len(states)], *alike]
    different = [a for a in dict.fromkeys(a for column in every for a in column) if g.value(a) != 0.0]
    series = best_series(g, states, [*rows, *different])
    if any(rule.kind in ("step", "chosen") for rule in series.rules) or len(series.slots) > LONG * (1 + (vectors > 1)):
        return None
    known = dict(zip(different, series.rates[len(rows) :], strict=True))
    series.rates = series.rates[: len(rows)]
    own = sum(not name.startswith("q_") for name in names)
    writer = _Writer(series, own, ([(i, known[a]) for i, a in enumerate(column) if a in known] for column in every))
    if len(writer.pairs) * len(writer.parts) > 2 * vectors * len(best_series(g, states, rows).slots):
        return None
    made = writer.module(names, N, HEAD_OF_SLOPES)
    loads = module_of(writer.loads(names, alike.values(), N), HEAD_OF_LOADS)
    return SeriesWithSlopes(made.series, loads.loads, own, writer.width, writer.sums, writer.size)
