"""The text of a function that computes Taylor coefficients of any order, in loops over the order.

``coefficients(y, t, h, K, c, X, r)`` writes the coefficients 0 to K, K >= 1, of the states y to X, K + 1 rows; ``c``
holds the numbers that ``constants(...)`` computes once for a run, ``r`` is memory of ``memory(series, K)`` numbers.
Both factors of each product are kept in two records; the sums over them are the only loops within the loop over the
order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polhode.programs.factor import factored
from polhode.programs.primitives import PRIMITIVES
from polhode.programs.series import Rule, Series
from polhode.programs.text import LARGEST_POWER, Lines, call, chain, literal

ARGUMENTS = "y, t, h, K, c, X, r"


LANES = 4
MANY = 32
"""Products from which on the wide form loads the factors of the last order, too."""
AT_ONCE = 4
"""Lanes whose sums are made in one loop: of more, the two chains do not stay in registers."""


def memory(series: Series, order: int, wide: bool = False) -> int:
    """How many numbers of memory the coefficients up to an order need."""
    width = _width(series, wide)
    return max(1, width * (2 * order + 2 + wide))


def in_lanes(numbers: Sequence[str]) -> str:
    """The expression of at most four numbers in lanes."""
    return f"four({', '.join([*numbers, *['0.0'] * (LANES - len(numbers))])})"


def _width(series: Series, wide: bool) -> int:
    """Numbers of a record of one order: the products, in lanes of four where it is wide."""
    return -(-len(series.slots) // LANES) * LANES if wide else len(series.slots)


def constants_text(series: Series, given: Mapping[str, str], arguments: str, name: str = "constants") -> str:
    """The text of a function that writes the numbers that stay to its last argument ``c``."""
    rows = factored(series.g, series.fixed)
    body = Lines(series.g, rows, given)
    lines = [*body.lines, *(f"c[{k}] = {body.names[a]}" for k, a in enumerate(rows))] or ["pass"]
    return "\n".join([f"def {name}({arguments}, c):", *(f"    {line}" for line in lines)]) + "\n"


def coefficients_text(series: Series, name: str = "coefficients", wide: bool = False) -> str:
    """The text of the function."""
    writer = SeriesWriter(series)
    n, width = len(series.states), _width(series, wide)
    head = [*(f"y{i}0 = y[{i}]" for i in range(n)), "t0 = t", *writer.rules(zero=True)]
    head += [f"b = {width} * (K + 1)", *(f"X[{i}] = y{i}0" for i in range(n))]
    head += writer.next_states("0", "h")
    head += [f"X[{n} + {i}] = y{i}k" for i in range(n)]
    loop = [*(writer.wide if wide else writer.narrow)(width), "g = h / (fk + 1.0)", *writer.next_states("k", "g")]
    loop += [f"X[{n} * (k + 1) + {i}] = y{i}k" for i in range(n)]
    head += writer.first(n, width) if wide else writer.stores("0")
    lines = [*head, f"for k in range({2 if wide else 1}, K):", *(f"    {line}" for line in loop)]
    return "\n".join([f"def {name}({ARGUMENTS}):", *(f"    {line}" for line in lines)]) + "\n"


class SeriesWriter:
    """Lines of one coefficient of every series; a variable is the name of the series and 0 or k."""

    of_memory, first_at, second_at, spare_at = "r", "", "b + ", "2 * b"
    """Memory of the products: its name, where the records of their first and second factors begin, and their sums."""

    def __init__(self, series: Series) -> None:
        self.S = series

    def constant(self, row: int) -> str:
        found = self.S.constant(row)
        return literal(found) if isinstance(found, float) else f"c[{found}]"

    def inverse(self, k: str) -> str:
        """1/k."""
        return f"1.0 / float({k})"

    def rules(self, zero: bool) -> list[str]:
        """Coefficient 0, or k, of all series."""
        lines: list[str] = []
        for rule in self.S.rules:
            lines += (_ZERO if zero else _NEXT)[rule.kind](self, rule)
        return lines

    def stores(self, at: str) -> list[str]:
        """Both factors of all products into the records."""
        width = len(self.S.slots)
        lines = []
        for n, (a, b) in enumerate(self.S.slots):
            slot = f"{n}" if at == "0" else f"{width} * k + {n}"
            lines += [f"r[{slot}] = {a}{at}", f"r[b + {slot}] = {b}{at}"]
        return lines

    def narrow(self, width: int) -> list[str]:
        """Order k of all series, with sums of plain numbers."""
        lines = ["fk = float(k)", "ik = 1.0 / fk", "tk = h if k == 1 else 0.0", *(f"q{n} = 0.0" for n in range(width))]
        if width:
            lines.append("for j in range(1, k):")
            lines += [f"    q{n} = q{n} + r[{width} * j + {n}] * r[b + {width} * (k - j) + {n}]" for n in range(width)]
        return [*lines, *self.rules(zero=False), *self.stores("k")]

    @property
    def many(self) -> bool:
        """Whether there are so many products that the factors of the last order are best loaded, too."""
        return len(self.S.slots) >= MANY

    def first(self, n: int, width: int) -> list[str]:
        """Order 1 of all series and the states of order 2."""
        lines = ["k = 1", "fk = 1.0", "ik = 1.0", "tk = h", *(f"q{s} = 0.0" for s in range(len(self.S.slots)))]
        lines += [*self.rules(zero=False), *self.remembered(width), *self.next_states("k", "0.5 * h")]
        return [*lines, *(f"X[{2 * n} + {i}] = y{i}k" for i in range(n)), "tk = 0.0"]

    def remembered(self, width: int) -> list[str]:
        """What the wide form remembers of order 1: records, or both that order and the last but one, which in order 2
        is order 1 itself and would count twice."""
        lines = self.records(width, "1")
        if self.many:
            return lines
        for n in range(0, width, LANES):
            lines += [f"{side}{n}1 = {side}{n}o" for side in "AB"]
            lines += [f"{side}{n}o = spread(0.5) * {side}{n}o" for side in "AB"]
        return lines

    def records(self, width: int, row: str) -> list[str]:
        """Both factors of all products of order k into the records, four at a time; they stay as those of the last but
        one order, too."""
        lines = []
        for side, base in (("A", self.first_at), ("B", self.second_at)):
            for n in range(0, width, LANES):
                four = in_lanes([pair["AB".index(side)] + "k" for pair in self.S.slots[n : n + LANES]])
                if not self.many:
                    lines.append(f"{side}{n}o = {four}")
                    four = f"{side}{n}o"
                lines.append(f"store4({self.of_memory}, {base}{width} * {row} + {n}, {four})")
        return lines

    def wide(self, width: int) -> list[str]:
        """Order k of all series: the terms 2 <= j <= k - 2 of the sums in lanes, in two chains.

        Those with the coefficients k - 1 are added from the lanes that were just made, as a load of what was just
        stored would wait; but of many products they are loaded as the others are: enough is made meanwhile.
        """
        if not width:
            return ["fk = float(k)", "ik = 1.0 / fk", *self.rules(zero=False)]
        at, r, one, two = self.spare_at, self.of_memory, self.first_at, self.second_at
        lines: list[str] = []
        for begin in range(0, width, LANES * AT_ONCE):
            groups = range(begin, min(begin + LANES * AT_ONCE, width), LANES)
            lines += [f"{c}{n} = spread(0.0)" for n in groups for c in "ac"]
            lines.append(f"for j in range({1 if self.many else 2}, (k + 1) // 2):")
            for n in groups:
                for c, i, j in (("a", "j", "(k - j)"), ("c", "(k - j)", "j")):
                    lines.append(
                        f"    {c}{n} = fused(load4({r}, {one}{width} * {i} + {n}), "
                        f"load4({r}, {two}{width} * {j} + {n}), {c}{n})"
                    )
            lines += ["if k % 2 == 0:" if self.many else "if k % 2 == 0 and k > 2:", "    j = k // 2"]
            for n in groups:
                lines.append(
                    f"    a{n} = fused(load4({r}, {one}{width} * j + {n}), load4({r}, {two}{width} * j + {n}), a{n})"
                )
            for n in groups:
                within = f"a{n} + c{n}"
                if not self.many:
                    within = f"fused(A{n}o, B{n}1, fused(A{n}1, B{n}o, {within}))"
                lines.append(f"store4({r}, {at} + {n}, {within})")
        lines += [
            "fk = float(k)",
            f"ik = {self.inverse('k')}",
            *(f"q{n} = {r}[{at} + {n}]" for n in range(len(self.S.slots))),
        ]
        return [*lines, *self.rules(zero=False), *self.records(width, "k")]

    def next_states(self, at: str, step: str) -> list[str]:
        """The next coefficient of the states."""
        lines = []
        for i, (row, name) in enumerate(self.S.rates):
            if name is None:
                rate = self.constant(row) if at == "0" else "0.0"
            else:
                factor = self.constant(row)
                rate = f"{name}{at}" if factor == "1.0" else f"{factor} * {name}{at}"
            lines.append(f"n{i} = {step} * ({rate})" if " " in rate else f"n{i} = {step} * {rate}")
        return [*lines, *(f"y{i}k = n{i}" for i in range(len(self.S.rates)))]

    def linear(self, rule: Rule, at: str) -> list[str]:
        still, terms = rule.operands
        parts = []
        for factor, name in terms:
            value, size = self.S.g.value(factor), self.constant(factor)
            if value is not None:
                size = literal(abs(value))
            sign = "-" if value is not None and value < 0.0 else "+"
            parts.append((sign, f"{name}{at}" if size == "1.0" else f"{size} * {name}{at}"))
        if at == "0" and still is not None and self.S.g.value(still) != 0.0:
            parts.append(("+", self.constant(still)))
        parts.sort(key=lambda part: part[0] == "-")
        return [f"{rule.name}{at} = {chain(parts) if parts else '0.0'}"]

    # -------------------------------------------------------------- order 0
    def power_at_zero(self, rule: Rule) -> list[str]:
        s, (b, e, _) = rule.name, rule.operands
        if not isinstance(e, float):  # a row that stays
            exponent = self.constant(e)
            return [f"{s}0 = {b}0 ** {exponent}", f"{s}e = {exponent}"]
        if 2.0 * e != int(2.0 * e) or abs(e) > LARGEST_POWER:
            return [f"{s}0 = {b}0 ** {literal(e)}", f"{s}e = {literal(e)}"]
        lines, one, whole = [], f"{b}0", int(abs(e))
        if e < 0.0:
            lines, one = [f"{s}i = 1.0 / {b}0"], f"{s}i"
        parts = [f"sqrt({one})"] * (abs(e) != whole) + [one] * whole
        return [*lines, f"{s}0 = {' * '.join(parts)}", f"{s}e = {literal(e)}"]

    def quotient_at_zero(self, rule: Rule) -> list[str]:
        s, (a, b) = rule.name, rule.operands
        return [f"{s}i = 1.0 / {b}0", f"{s}0 = {a}0 * {s}i"]

    def step_at_zero(self, rule: Rule) -> list[str]:
        kind, *x = rule.operands
        arguments = [f"{one}0" for one in x]
        made = PRIMITIVES[kind].written({}, *arguments) if kind in PRIMITIVES else call(kind, *arguments)
        return [f"{rule.name}0 = {made}"]

    def function_at_zero(self, rule: Rule) -> list[str]:
        kind, *x = rule.operands
        if rule.kind == "integral":
            x = x[1:]
        else:
            x = x[:1]
        return [f"{rule.name}0 = {call(kind, *(f'{one}0' for one in x))}"]

    # -------------------------------------------------------------- order k
    def product(self, rule: Rule) -> list[str]:
        s, (a, b), n = rule.name, rule.operands, rule.slot
        if a == b:
            return [f"{s}k = q{n} + 2.0 * {a}0 * {a}k"]
        return [f"{s}k = (q{n} + {b}0 * {a}k) + {a}0 * {b}k"]

    def quotient(self, rule: Rule) -> list[str]:
        s, (a, b) = rule.name, rule.operands
        return [f"{s}k = ({a}k - (q{rule.slot} + {s}0 * {b}k)) * {s}i"]

    def reciprocal(self, rule: Rule) -> list[str]:
        s, (b,) = rule.name, rule.operands
        return [f"{s}k = -{s}0 * (q{rule.slot} + {s}0 * {b}k)"]

    def power(self, rule: Rule) -> list[str]:
        s, (_, _, rate) = rule.name, rule.operands
        return [f"{s}k = ({s}e * ik) * (q{rule.slot} + {s}0 * {rate}k)"]

    def slope(self, rule: Rule) -> list[str]:
        s, (_, _, du, sign, *f) = rule.name, rule.operands
        slope = f[0] if f else s
        return [f"{s}k = {'ik' if sign > 0.0 else '-ik'} * (q{rule.slot} + {slope}0 * {du}k)"]

    def steady(self, rule: Rule) -> list[str]:
        """Of a pair, the first keeps its coefficient k - 1 for the second."""
        s, (kind, _, rate, sign, other) = rule.name, rule.operands
        first, second = kind in ("sin", "sinh"), kind in ("cos", "cosh")
        size = f"({self.constant(rate)} * h) * ik"
        before = [f"{s}p = {s}k"] if first else []
        return [*before, f"{s}k = {'' if sign > 0.0 else '-'}({size}) * {other}{'p' if second else 'k'}"]

    def integral(self, rule: Rule) -> list[str]:
        return [f"{rule.name}k = ik * {rule.operands[1]}k"]

    def scaled(self, rule: Rule) -> list[str]:
        return [f"{rule.name}k = fk * {rule.operands[0]}k"]

    def chosen(self, rule: Rule) -> list[str]:
        s, (kind, *x) = rule.name, rule.operands
        if kind == "choose":
            condition, a, b = f"{x[0]}0 != 0.0", x[1], x[2]
        elif kind == "abs":
            return [f"{s}k = {x[0]}k if {x[0]}0 > 0.0 else -{x[0]}k"]
        else:
            condition, a, b = f"{x[0]}0 < {x[1]}0", *(x if kind == "min" else x[::-1])
        return [f"{s}k = {a}k if {condition} else {b}k"]


_ZERO: dict[str, Any] = {
    "sum": lambda w, rule: w.linear(rule, "0"),
    "product": lambda w, rule: [f"{rule.name}0 = {rule.operands[0]}0 * {rule.operands[1]}0"],
    "quotient": SeriesWriter.quotient_at_zero,
    "reciprocal": lambda w, rule: [f"{rule.name}0 = 1.0 / {rule.operands[0]}0"],
    "power": SeriesWriter.power_at_zero, "slope": SeriesWriter.function_at_zero,
    "steady": lambda w, rule: [*w.function_at_zero(rule), f"{rule.name}k = {rule.name}0"],
    "integral": SeriesWriter.function_at_zero,
    "scaled": lambda w, rule: [f"{rule.name}0 = 0.0"],
    "chosen": SeriesWriter.step_at_zero, "step": SeriesWriter.step_at_zero,
}  # fmt: skip
_NEXT: dict[str, Any] = {
    "sum": lambda w, rule: w.linear(rule, "k"), "product": SeriesWriter.product, "quotient": SeriesWriter.quotient,
    "reciprocal": SeriesWriter.reciprocal, "power": SeriesWriter.power, "slope": SeriesWriter.slope,
    "steady": SeriesWriter.steady, "integral": SeriesWriter.integral, "scaled": SeriesWriter.scaled,
    "chosen": SeriesWriter.chosen, "step": lambda w, rule: [f"{rule.name}k = 0.0"],
}  # fmt: skip
