"""Lines that compute Taylor coefficients of any order, in loops over the order.

Both factors of each product are remembered; the sums over them are the only loops within the loop over the order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polhode.programs.factor import factored
from polhode.programs.graph import literal
from polhode.programs.primitives import PRIMITIVES
from polhode.programs.series import Rule, Series
from polhode.programs.text import LARGEST_POWER, Lines, call, chain


class SeriesWriter:
    """Lines of one coefficient of every series; a variable is the name of the series and 0 or k."""

    def __init__(self, series: Series) -> None:
        self.S = series

    def constant(self, row: int) -> str:
        found = self.S.constant(row)
        return literal(found) if isinstance(found, float) else f"z{found}"

    def begin(self, names: Sequence[str], given: Mapping[str, str]) -> list[str]:
        """What stays, and coefficient 0 of the states."""
        needed, stays = [self.S.g.input(name) for name in names], factored(self.S.g, list(self.S.fixed))
        body = Lines(self.S.g, [*needed, *stays], given)
        lines = [*body.lines, *(f"z{k} = {body.names[a]}" for k, a in enumerate(stays))]
        return [*lines, *(f"y{i}0 = {body.names[a]}" for i, a in enumerate(needed)), "t0 = t"]

    def rules(self, zero: bool) -> list[str]:
        """Coefficient 0, or k, of all series."""
        lines: list[str] = []
        for rule in self.S.rules:
            made = _ZERO[rule.kind] if zero else self.form(rule)
            lines += (
                made(self, rule)
                if callable(made)
                else made.format(*rule.operands, s=rule.name, n=rule.slot).split("; ")
            )
        return lines

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

    def form(self, rule: Rule) -> Written:
        """How order k of a rule is written."""
        return _NEXT[rule.kind]

    def linear(self, rule: Rule, at: str) -> list[str]:
        still, terms = rule.operands
        parts = []
        for factor, name in terms:
            value, size = self.S.g.value(factor), self.constant(factor)
            if value is not None:
                size = self.constant(self.S.g.const(abs(value)))
            sign = "-" if value is not None and value < 0.0 else "+"
            parts.append((sign, f"{name}{at}" if size == "1.0" else f"{size} * {name}{at}"))
        if at == "0" and still is not None and self.S.g.value(still) != 0.0:
            parts.append(("+", self.constant(still)))
        parts.sort(key=lambda part: part[0] == "-")
        return [f"{rule.name}{at} = {chain(parts) if parts else '0.0'}"]

    def joined(self, rule: Rule, at: str) -> list[str]:
        """A sum of products, a long one in two chains."""
        terms = [(sign, f"{a}0 * {b}{at}") for sign, a, b in rule.operands]
        if at == "0":
            return [f"{rule.name}0 = {chain(terms)}"]
        newest = [(sign, f"{a}k * {b}0") for sign, a, b in rule.operands]
        first = [("+", f"q{rule.slot}"), *terms]
        if len(terms) < 3:
            return [f"{rule.name}k = {chain(first + newest)}"]
        sign = newest[0][0]
        second = chain([("+" if one == sign else "-", x) for one, x in newest])
        return [f"{rule.name}k = ({chain(first)}) {sign} ({second})"]

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

    def step_at_zero(self, rule: Rule) -> list[str]:
        kind, *x = rule.operands
        arguments = [f"{one}0" for one in x]
        made = PRIMITIVES[kind].written({}, *arguments) if kind in PRIMITIVES else call(kind, *arguments)
        return [f"{rule.name}0 = {made}"]

    def function_at_zero(self, rule: Rule) -> list[str]:
        kind, *x = rule.operands
        return [f"{rule.name}0 = {call(kind, *(f'{one}0' for one in (x[1:] if rule.kind == 'integral' else x[:1])))}"]

    # -------------------------------------------------------------- order k
    def slope(self, rule: Rule) -> list[str]:
        _, _, du, sign, slope = rule.operands
        return [f"{rule.name}k = {'ik' if sign > 0.0 else '-ik'} * (q{rule.slot} + {slope}0 * {du}k)"]

    def steady(self, rule: Rule) -> list[str]:
        """Of a pair, the first keeps its coefficient k - 1 for the second."""
        s, (kind, _, rate, sign, other) = rule.name, rule.operands
        first, second = kind in ("sin", "sinh"), kind in ("cos", "cosh")
        size = f"({self.constant(rate)} * h) * ik"
        before = [f"{s}p = {s}k"] if first else []
        return [*before, f"{s}k = {'' if sign > 0.0 else '-'}({size}) * {other}{'p' if second else 'k'}"]

    def chosen(self, rule: Rule) -> list[str]:
        s, (kind, *x) = rule.name, rule.operands
        if kind == "choose":
            condition, a, b = f"{x[0]}0 != 0.0", x[1], x[2]
        elif kind == "abs":
            return [f"{s}k = {x[0]}k if {x[0]}0 > 0.0 else -{x[0]}k"]
        else:
            condition, a, b = f"{x[0]}0 < {x[1]}0", *(x if kind == "min" else x[::-1])
        return [f"{s}k = {a}k if {condition} else {b}k"]


Written = Callable[[SeriesWriter, Rule], list[str]] | str
"""Lines of a rule, or their text: {s} is the name of the series, {n} its slot, {0}, {1}, ... are the operands."""
_ZERO: dict[str, Written] = {
    "sum": lambda w, rule: w.linear(rule, "0"), "products": lambda w, rule: w.joined(rule, "0"),
    "product": "{s}0 = {0}0 * {1}0", "square": "{s}0 = {0}0 * {0}0",
    "quotient": "{s}i = 1.0 / {1}0; {s}0 = {0}0 * {s}i", "reciprocal": "{s}0 = 1.0 / {0}0",
    "power": SeriesWriter.power_at_zero, "slope": SeriesWriter.function_at_zero,
    "steady": lambda w, rule: [*w.function_at_zero(rule), f"{rule.name}k = {rule.name}0"],
    "integral": SeriesWriter.function_at_zero, "scaled": "{s}0 = 0.0",
    "chosen": lambda w, rule: w.step_at_zero(rule), "step": lambda w, rule: w.step_at_zero(rule),
}  # fmt: skip
_NEXT: dict[str, Written] = {
    "sum": lambda w, rule: w.linear(rule, "k"), "product": "{s}k = (q{n} + {1}0 * {0}k) + {0}0 * {1}k",
    "products": lambda w, rule: w.joined(rule, "k"), "square": "{s}k = q{n} + 2.0 * {0}0 * {0}k",
    "quotient": "{s}k = ({0}k - (q{n} + {s}0 * {1}k)) * {s}i", "reciprocal": "{s}k = -{s}0 * (q{n} + {s}0 * {0}k)",
    "power": "{s}k = ({s}e * ik) * (q{n} + {s}0 * {2}k)", "slope": SeriesWriter.slope, "steady": SeriesWriter.steady,
    "integral": "{s}k = ik * {1}k", "scaled": "{s}k = fk * {0}k", "chosen": SeriesWriter.chosen, "step": "{s}k = 0.0",
}  # fmt: skip
