"""Rules for the Taylor coefficients of a motion whose rates are a program.

Every row that changes in time becomes a series in powers of (time - t)/h. Sums are linear; what costs is products, and
all rules are written with one kind of them, the sum S(a, b) over j of a_j b_(k-j) [jorba2005, prop. 2.1]. With D b the
series of the coefficients k b_k, which is that of t db/dt:

=============== ================================ ================================================
product         c = a b                          c_k = S(a, b)
quotient        q = a / b                        b_0 q_k = a_k - S(b, q), without b_0 q_k
reciprocal      p = 1 / b                        b_0 p_k = -S(b, p), without b_0 p_k
power           p = b^e, with l = D b / b        k p_k = e S(l, p): all powers of one base share l
slope           dy/du = f(y): exp sin cos sinh   k y_k = +-S(D u, f)
                cosh tan tanh
steady          the same for u = a + r t         k y_k = +-r h f_(k-1), without a product
integral        D y = l: log atan atan2 asin     k y_k = l_k
                acos
=============== ================================ ================================================

The coefficients of the states follow from those of their rates, x_(k+1) = h/(k + 1) (dx/dt)_k. What a row chooses
between (``choose``, ``min``, ``max``, ``abs``, ``sign``, ``floor``) is chosen at the start, for the whole step; so is
the row of a table (``primitives``).
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from polhode.errors import InvalidInput
from polhode.kernel.recurrences import FUNCTIONS
from polhode.programs.factor import (
    depending,
    expanded,
    factored,
    keys_of,
    shared_pairs,
    with_steady_inside,
    without_content,
)
from polhode.programs.graph import ARITHMETIC, Closed, Graph
from polhode.programs.primitives import PRIMITIVES

STEPS = ("less", "sign", "floor", "outweighs")
CHOSEN = ("choose", "min", "max", "abs")
SLOPES = {"exp": 1.0, "sin": 1.0, "cos": -1.0, "sinh": 1.0, "cosh": 1.0, "tan": 1.0, "tanh": 1.0}
"""Functions y(u) with dy/du = f(y), and the sign of f."""

REWRITTEN = {"pow", "floordiv", "at_most", *ARITHMETIC}
LONG = 200
"""Products beyond which one form is enough, and it is no text but a table (``series_table``)."""


@dataclass(frozen=True)
class Rule:
    """One series."""

    kind: str  # sum product products square quotient reciprocal power slope steady integral scaled chosen step
    name: str  # the series
    operands: tuple[Any, ...]  # names of series, rows that stay, exponents, as the kind needs
    slot: int = -1  # its product, -1 without


class Series:
    """The series of a motion."""

    def __init__(self, g: Graph, states: Sequence[int], rates: Sequence[int]) -> None:
        self.g, self.states = g, list(states)
        self.rules: list[Rule] = []  # in the order in which coefficients become known
        self.slots: dict[tuple[str, str], int] = {}  # by the factors of all products of series
        self.fixed: dict[int, int] = {}  # rows that stay and are no literals: the step reads their values
        self._made: dict[Any, str] = {}
        self._count = 0
        one = g.const(1.0)
        self._series: dict[int, tuple[int, str]] = {
            row: (one, f"y{k}") for k, row in enumerate(states) if g.value(rates[k]) != 0.0
        }  # a state without a rate stays
        time = g.known.get(("in", "t"))
        if time is not None:
            self._series[time] = (one, "t")
        rates = self._prepared(rates)
        needed = g.needed(rates)
        self._rank = {a: n for n, a in enumerate(needed)}
        self._moving = set(self._series)
        for a in needed:
            if any(b in self._moving for b in g.arguments(a)):
                self._moving.add(a)
        self._split(needed)
        for a in needed:
            if a in self._moving and a not in self._series:
                self._series[a] = self._rule(a)
        # of each state the row of a factor that stays and the name of the series, or the row and None where it stays
        self.rates = [self._series.get(a, (a, None)) for a in rates]

    def _prepared(self, rates: Sequence[int]) -> list[int]:
        """Powers with exponents that move by way of the logarithm, floors of quotients by way of these, <= by >, and
        what is rounded as it is written as other sums and products."""
        g = self.g
        if not any(g.rows[a][0] == "fun" and g.rows[a][1] in REWRITTEN for a in g.needed(rates)):
            return list(rates)

        def functions(kind: str, x: list[int]) -> int:
            if kind == "pow" and not set(g.needed([x[1]])).isdisjoint(self._series):
                return g.fun("exp", g.mul(x[1], g.fun("log", x[0])))
            if kind in ARITHMETIC:
                return ARITHMETIC[kind](g, *x)
            if kind == "floordiv":
                return g.fun("floor", g.quotient(*x))
            if kind == "at_most":
                return g.difference(g.const(1.0), g.fun("less", x[1], x[0]))
            return g.fun(kind, *x)

        return g.rebuilt(rates, functions=functions)

    def _split(self, needed: Sequence[int]) -> None:
        """Factors of all products, with pairs that several have made once."""
        g = self.g
        self._powers: dict[str, tuple[int, float]] = {}
        moving = {a: tuple(one for one in g.rows[a][1] if one[0] in self._moving)
                  for a in needed if g.rows[a][0] == "mul" and a in self._moving}  # fmt: skip
        lists, pairs = shared_pairs([keys_of(powers, self._rank, self._powers) for powers in moving.values()])
        self._products, self._pairs = dict(zip(moving, lists, strict=True)), dict(pairs)
        self._exponents: dict[int, set[float]] = {}
        for b, e in self._powers.values():
            self._exponents.setdefault(b, set()).add(e)

    @property
    def tabled(self) -> bool:
        """Whether there are many products, and all rules are such as a table has."""
        functions = (rule.operands[0] for rule in self.rules if rule.kind in ("slope", "steady", "integral"))
        chosen = any(rule.kind in ("chosen", "step") for rule in self.rules)
        return len(self.slots) > LONG and not chosen and set(functions) <= set(FUNCTIONS)

    def with_joined_products(self) -> Series:
        """The same where products that one sum alone has are added up with it, and those by rows that stay, which
        several have with the same factor: that is multiplied once. A slot then has such terms (sign, factor, factor).
        """
        g, made, one, pairs = self.g, copy.copy(self), self.g.const(1.0), [*self.slots]
        products = {rule.name: rule.operands for rule in self.rules if rule.kind == "product"}
        uses = Counter([*(name for pair in pairs for name in pair), *(name for _, name in self.rates)])
        for rule in self.rules:
            uses.update([name for _, name in rule.operands[1]] if rule.kind == "sum" else map(str, rule.operands))
        terms = {
            rule.name: [(*self._signed(row), x) for row, x in rule.operands[1] if x in products and uses[x] == 1]
            for rule in self.rules if rule.kind == "sum"
        }  # fmt: skip
        joined: dict[str, tuple[int, str]] = {}  # products by the row, and the factor that it multiplies
        while True:
            left = [(row, x, name) for some in terms.values() for _, row, name in some for x in products[name]
                    if row != one and name not in joined]  # fmt: skip
            often = Counter((row, x) for row, x, _ in left)
            best = max(often, key=lambda key: often[key], default=(one, ""))
            if often[best] < 2:
                break
            joined |= {name: best for row, x, name in left if (row, x) == best}
        for some in terms.values():
            plain = [name for _, row, name in some if row == one or name in joined]
            joined |= {name: (one, "") for name in plain if len(plain) > 1 and name not in joined}
        made.rules, slots, scaled = list[Rule](), dict[Any, int](), dict[tuple[int, str], str]()
        for rule in self.rules:
            if rule.name in joined:
                continue
            if rule.slot >= 0:
                rule = replace(rule, slot=slots.setdefault((("+", *pairs[rule.slot]),), len(slots)))
            added = list[tuple[str, str, str]]()
            for sign, _, name in terms.get(rule.name, ()):
                if name in joined:
                    row, x = joined[name]
                    a, b = products[name][::-1] if x == products[name][1] else products[name]
                    if x and (row, x) not in scaled:
                        scaled[row, x] = made._name()
                        made.rules.append(Rule("sum", scaled[row, x], (g.const(0.0), ((row, x),))))
                    added.append((sign, scaled[row, x] if x else a, b))
            if added:
                name, own = made._name(), tuple(term for term in rule.operands[1] if term[1] not in joined)
                slot = slots.setdefault(tuple(added), len(slots))
                made.rules.append(Rule("products", name, tuple(added), slot))
                rule = replace(rule, operands=(rule.operands[0], (*own, (one, name))))
            made.rules.append(rule)
        made.slots = slots
        return made

    def _signed(self, row: int) -> tuple[str, int]:
        """A sign and the row without it."""
        value, (still, terms) = self.g.value(row), self.g.as_sum(row)
        negative = value < 0.0 if value is not None else still == 0.0 and len(terms) == 1 and terms[0][1] < 0.0
        return ("-", self.g.negative(row)) if negative else ("+", row)

    # -------------------------------------------------------------- writing rules
    def constant(self, row: int) -> int | float:
        """A number, or the index of a row that stays among ``fixed``."""
        value = self.g.value(row)
        if value is not None and not isinstance(value, Closed):
            return value
        return self.fixed.setdefault(row, len(self.fixed))

    def _slot(self, a: str, b: str) -> int:
        return self.slots.setdefault((a, b), len(self.slots))

    def _name(self) -> str:
        self._count += 1
        return f"s{self._count - 1}"

    def _add(self, key: object, kind: str, operands: tuple[Any, ...], factor: str | None = None) -> str:
        """The series of a rule, written once for each key; its slot multiplies ``factor`` with the series itself."""
        if key not in self._made:
            name = self._made[key] = self._name()
            self.rules.append(Rule(kind, name, operands, -1 if factor is None else self._slot(factor, name)))
        return self._made[key]

    def _rank_of(self, name: str) -> int:
        return int(name[1:]) + 1 if name[0] == "s" else 0

    def _plain(self, row: int) -> str:
        """The series of a row without a factor; of a row that stays, its value and zeros."""
        if row not in self._series:
            return self._add(("still", row), "sum", (row, ()))
        factor, name = self._series[row]
        if self.g.value(factor) == 1.0:
            return name
        return self._add(("plain", row), "sum", (None, ((factor, name),)))

    def _scaled(self, name: str) -> str:
        """D of a series: coefficients times their order."""
        return self._add(("scaled", name), "scaled", (name,))

    def _product(self, a: str, b: str) -> str:
        a, b = sorted((a, b), key=self._rank_of)
        if ("product", a, b) not in self._made:
            self._made["product", a, b] = name = self._name()
            self.rules.append(Rule("square" if a == b else "product", name, (a, b), self._slot(a, b)))
        return self._made["product", a, b]

    def _quotient(self, a: str, b: str) -> str:
        return self._add(("quotient", a, b), "quotient", (a, b), b)

    def _rate(self, b: str) -> str:
        return self._quotient(self._scaled(b), b)

    def _factor(self, key: str) -> tuple[int, str]:
        """Factor that stays and series of what is multiplied."""
        g = self.g
        if key in self._pairs:
            (c, first), (d, second) = (self._factor(one) for one in self._pairs[key])
            return g.mul(c, d), self._product(first, second)
        b, e = self._powers[key]
        if e == 1.0:
            return self._series[b]
        base, one = self._plain(b), g.const(1.0)
        if self._exponents[b] <= {-1.0, 1.0}:
            return one, self._add(("power", base, e), "reciprocal", (base,), base)
        rate = self._rate(base)
        return one, self._add(("power", base, e), "power", (base, e, rate), rate)

    def _rule(self, a: int) -> tuple[int, str]:
        g, one = self.g, self.g.const(1.0)
        row = g.rows[a]
        if row[0] == "sum":
            known = self._series
            terms = [(g.mul(g.const(f), known[b][0]), known[b][1]) for b, f in row[2] if b in self._moving]
            still = g.sum((g.const(row[1]), 1.0), *((b, f) for b, f in row[2] if b not in self._moving))
            names = sorted({name for _, name in terms}, key=lambda name: (self._rank_of(name), name))
            terms = [(g.sum(*((f, 1.0) for f, other in terms if other == name)), name) for name in names]
            if len(terms) == 1 and g.value(still) == 0.0:
                return terms[0]
            sizes: list[Any] = [g.value(f) for f, _ in terms]
            if g.value(still) == 0.0 and all(type(x) is float and x and x / sizes[0] * sizes[0] == x for x in sizes):
                one, sizes = terms[0][0], [g.const(x / sizes[0]) for x in sizes]
                terms = list(zip(sizes, names, strict=True))
            return one, self._add(("sum", still, *terms), "sum", (still, tuple(terms)))
        if row[0] == "mul":
            made = [self._factor(key) for key in self._products[a]]
            others = [g.power(b, e) for b, e in row[1] if b not in self._moving]
            names = sorted((name for _, name in made), key=self._rank_of)
            while len(names) > 1:
                names = sorted([self._product(names[0], names[1]), *names[2:]], key=self._rank_of)
            return g.mul(*others, *(c for c, _ in made)), names[0]
        return one, self._function(a, row[1], row[2])

    def _function(self, a: int, kind: str, x: Sequence[int]) -> str:
        if kind in CHOSEN:
            return self._add(("row", a), "chosen", (kind, *map(self._plain, x)))
        if kind in PRIMITIVES and PRIMITIVES[kind].slopes is not None:
            raise InvalidInput(f"{kind!r} has no Taylor series; take a method that evaluates the loads, as 'mkrk:cv8'")
        if kind in STEPS or kind in PRIMITIVES:
            return self._add(("row", a), "step", (kind, *map(self._plain, x)))
        u = self._plain(x[0])
        if kind == "pow":
            rate = self._rate(u)
            return self._add(("row", a), "power", (u, x[1], rate), rate)
        if kind in SLOPES:
            return self._slope(kind, u)
        if kind == "log":
            return self._add(("log", u), "integral", ("log", self._rate(u), u))
        # atan, asin, acos, atan2: D y = a / b
        if kind == "atan2":
            v = self._plain(x[1])
            top = self._sum((1.0, self._product(v, self._scaled(u))), (-1.0, self._product(u, self._scaled(v))))
            bottom = self._sum((1.0, self._product(u, u)), (1.0, self._product(v, v)))
            return self._add(("row", a), "integral", (kind, self._quotient(top, bottom), u, v))
        square = self._product(u, u)
        if kind == "atan":
            bottom, top = self._sum((1.0, square), constant=1.0), self._scaled(u)
        else:
            inside = self._sum((-1.0, square), constant=1.0)
            rate = self._rate(inside)
            bottom = self._add(("power", inside, 0.5), "power", (inside, 0.5, rate), rate)
            top = self._sum((1.0 if kind == "asin" else -1.0, self._scaled(u)))
        return self._add((kind, u), "integral", (kind, self._quotient(top, bottom), u))

    def _sum(self, *terms: tuple[float, str], constant: float = 0.0) -> str:
        made = tuple((self.g.const(f), name) for f, name in terms)
        return self._add(("sum", constant, made), "sum", (self.g.const(constant), made))

    def _steady(self, u: str) -> int | None:
        """The row of the rate of a series that grows steadily in time, else None."""
        if u == "t":
            return self.g.const(1.0)
        terms: Any = next((rule.operands[1] for rule in self.rules if rule.name == u and rule.kind == "sum"), ())
        return terms[0][0] if len(terms) == 1 and terms[0][1] == "t" else None

    def _slope(self, kind: str, u: str) -> str:
        """exp and pairs that are each other's slopes, without products of what grows steadily; tan and tanh."""
        if (kind, u) in self._made:
            return self._made[kind, u]
        steady = self._steady(u)
        if kind in ("tan", "tanh"):
            du = self._scaled(u)
            name, f = self._name(), self._name()
            self._made[kind, u] = name
            self.rules.append(Rule("slope", name, (kind, u, du, 1.0, f), self._slot(du, f)))
            square = (self.g.const(1.0 if kind == "tan" else -1.0), self._product(name, name))
            self.rules.append(Rule("sum", f, (self.g.const(1.0), (square,))))
            return name
        rate: Any = self._scaled(u) if steady is None else steady
        pair: tuple[str, ...] = next(one for one in (("exp",), ("sin", "cos"), ("sinh", "cosh")) if kind in one)
        names = [self._name() for _ in pair]
        for one, name, other in zip(pair, names, names[::-1], strict=True):
            self._made[one, u] = name
            slot = self._slot(rate, other) if steady is None else -1
            self.rules.append(
                Rule("slope" if steady is None else "steady", name, (one, u, rate, SLOPES[one], other), slot)
            )
        return self._made[kind, u]


def best_series(g: Graph, states: Sequence[int], rates: Sequence[int]) -> Series:
    """The series of the form of the rates that needs the fewest products.

    Forms: as it is; without common factors in sums that are factors, and that with whole powers of what moves taken
    out, before and after products by 1 + small are multiplied out; with all common factors that move taken out."""
    time = g.known.get(("in", "t"))
    moving = depending(g, [*states, *([] if time is None else [time])])
    if sum(g.rows[a][0] == "mul" for a in g.needed(rates)) > LONG:
        long = Series(g, states, rates)
        if long.tabled:
            return long
    forms: list[Sequence[int]] = []
    for form in dict.fromkeys((tuple(rates), tuple(with_steady_inside(g, rates, moving)))):
        plain = without_content(g, form)
        forms += [form, plain, factored(g, form, among=moving)]
        forms.append(factored(g, factored(g, form, whole=True, among=moving), among=moving))
        forms += [factored(g, plain, whole=True, among=moving), expanded(g, plain)]
        forms.append(factored(g, forms[-1], whole=True, among=moving))
    made = [Series(g, states, form) for form in dict.fromkeys(map(tuple, forms))]
    return min(made, key=lambda one: (len(one.slots), len(one.rules)))
