"""The text of a function that computes Taylor coefficients of any order, in loops over the order.

``coefficients(y, t, h, K, c, X, r)`` writes the coefficients 0 to K, K >= 1, of the states y to X, K + 1 rows; ``c``
holds the numbers that ``constants(...)`` computes once for a run, ``r`` is memory of ``memory(series, K)`` numbers.
Both factors of each product are kept in two records; the sums over them are the only loops within the loop over the
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polhode.programs.factor import factored
from polhode.programs.series import Rule, Series
from polhode.programs.text import LARGEST_POWER, Lines, call, chain, literal

ARGUMENTS = "y, t, h, K, c, X, r"


def memory(series: Series, order: int) -> int:
    """How many numbers of memory the coefficients up to an order need."""
    return max(1, 2 * len(series.slots) * (order + 1))


def constants_text(series: Series, given: Mapping[str, str], arguments: str, name: str = "constants") -> str:
    """The text of a function that writes the numbers that stay to its last argument ``c``.

    Parameters
    ----------
    series : Series
        After ``coefficients_text``, which finds out what is needed.
    given : mapping
        Expressions of inputs.
    arguments : str
        Arguments of the function before ``c``.
    """
    rows = factored(series.g, series.fixed)
    body = Lines(series.g, rows, given)
    lines = [*body.lines, *(f"c[{k}] = {body.names[a]}" for k, a in enumerate(rows))] or ["pass"]
    return "\n".join([f"def {name}({arguments}, c):", *(f"    {line}" for line in lines)]) + "\n"


def coefficients_text(series: Series, name: str = "coefficients") -> str:
    """The text of the function."""
    writer = _Writer(series)
    n, width = len(series.states), len(series.slots)
    head = [*(f"y{i}0 = y[{i}]" for i in range(n)), "t0 = t", *writer.rules(zero=True)]
    head += [f"X[{i}] = y{i}0" for i in range(n)]
    head += writer.next_states("0", "h")
    head += writer.stores("0")
    body = ["fk = float(k)", "ik = 1.0 / fk", "tk = h if k == 1 else 0.0"]
    body += [f"q{s} = 0.0" for s in range(width)]
    if width:
        body.append("for j in range(1, k):")
        body += [f"    q{s} = q{s} + r[{width} * j + {s}] * r[b + {width} * (k - j) + {s}]" for s in range(width)]
    body += writer.rules(zero=False)
    body += writer.stores("k")
    body += ["g = h / (fk + 1.0)", *writer.next_states("k", "g")]
    lines = [f"b = {width} * (K + 1)", *head]
    lines += [f"X[{n} + {i}] = y{i}k" for i in range(n)]
    loop = ["for k in range(1, K):", *(f"    {line}" for line in body)]
    loop += [f"    X[{n} * (k + 1) + {i}] = y{i}k" for i in range(n)]
    return "\n".join([f"def {name}({ARGUMENTS}):", *(f"    {line}" for line in [*lines, *loop])]) + "\n"


class _Writer:
    """Lines of one coefficient of every series; a variable is the name of the series and 0 or k."""

    def __init__(self, series: Series) -> None:
        self.S = series

    def constant(self, row: int) -> str:
        found = self.S.constant(row)
        return literal(found) if isinstance(found, float) else f"c[{found}]"

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
        return [f"{rule.name}0 = {call(kind, *(f'{one}0' for one in x))}"]

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
    "quotient": _Writer.quotient_at_zero,
    "reciprocal": lambda w, rule: [f"{rule.name}0 = 1.0 / {rule.operands[0]}0"],
    "power": _Writer.power_at_zero, "slope": _Writer.function_at_zero, "integral": _Writer.function_at_zero,
    "scaled": lambda w, rule: [f"{rule.name}0 = 0.0"],
    "chosen": _Writer.step_at_zero, "step": _Writer.step_at_zero,
}  # fmt: skip
_NEXT: dict[str, Any] = {
    "sum": lambda w, rule: w.linear(rule, "k"), "product": _Writer.product, "quotient": _Writer.quotient,
    "reciprocal": _Writer.reciprocal, "power": _Writer.power, "slope": _Writer.slope,
    "integral": _Writer.integral, "scaled": _Writer.scaled, "chosen": _Writer.chosen,
    "step": lambda w, rule: [f"{rule.name}k = 0.0"],
}  # fmt: skip
