"""Programs as text: straight lines of plain Python, in the part of it that kernels are written in.

The same program gives the same text, whatever else was written into its graph: variables are numbered as they are
written. Powers that are multiples of 1/2 are made of products, one root and one reciprocal of their base.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from polhode.errors import InvalidInput
from polhode.programs.factor import keys_of, shared_pairs
from polhode.programs.graph import Graph, literal
from polhode.programs.primitives import PRIMITIVES

Given = Mapping[str, str]
Forms = Mapping[str, str]
BOTH = {
    "plus": "{0} + {1}", "minus": "{0} - {1}", "times": "{0} * {1}", "over": "{0} / {1}", "sign": "copysign(1.0, {0})",
    "pow": "{0} ** {1}",
}  # fmt: skip
PYTHON: Forms = BOTH | {
    "choose": "{1} if {0} != 0.0 else {2}", "min": "{0} if {0} < {1} else {1}", "max": "{1} if {0} < {1} else {0}",
    "less": "one_if({0} < {1})", "nan_if": "nan_if({0}, {2})", "outweighs": "one_if(abs({0}) > abs({1}))",
    "floordiv": "{0} // {1}", "at_most": "one_if({0} <= {1})",
}  # fmt: skip
"""Functions of ``graph.FUNCTIONS`` in plain Python, for kernels of one body or system; ``numba.cuda`` takes it too."""
LANES: Forms = BOTH | {
    "choose": "where({0} != 0.0, {1}, {2})", "min": "where({0} < {1}, {0}, {1})", "max": "where({0} < {1}, {1}, {0})",
    "less": "where({0} < {1}, 1.0, 0.0)", "outweighs": "where(abs({0}) > abs({1}), 1.0, 0.0)",
    "floordiv": "floor({0} / {1})", "at_most": "where({0} <= {1}, 1.0, 0.0)",
}  # fmt: skip
"""In Python whose variables are lanes of ``kernel.simd``, or arrays of numpy: nothing branches, or looks up a table."""
PAIRS: Forms = dict(LANES)
"""The same, with reciprocals of roots."""
ARRAY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
"""Numpy's names of functions, where they differ."""
LARGEST_POWER = 16.0
"""Larger powers are left to ``**``."""
LONGEST_CHAIN = 4
"""Longer sums are added in two chains."""
MATH = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")
CALLED = "\n".join(
    f"from {one.helper.__module__} import {one.helper.__name__}" for one in PRIMITIVES.values() if one.helper
)
HEAD = f"""from math import {", ".join(sorted((*MATH, "copysign", "nan", "sqrt")))}

from numpy import floor

from polhode.kernel.access import nan_if, one_if
from polhode.kernel.simd import four, fused, load4, spread, store4
{CALLED}
"""
"""Imports of every text."""
_of_arrays = sorted({ARRAY_NAMES.get(name, name) + f" as {name}" * (name in ARRAY_NAMES) for name in MATH})
HEAD_OF_LANES = f"""from math import nan

from numpy import {", ".join([*_of_arrays, "copysign", "floor", "sqrt", "where"])}

from polhode.kernel.simd import load4
"""
"""Imports of a text over lanes."""


def call(name: str, *arguments: str, forms: Forms = PYTHON) -> str:
    """The expression of a function: its form, or a call by its name."""
    name = "nan_if" if name == "choose" and arguments[1] == "nan" and "nan_if" in forms else name
    return forms[name].format(*arguments) if name in forms else f"{name}({', '.join(arguments)})"


def chain(parts: Sequence[tuple[str, str]]) -> str:
    """A sum of (sign, expression)."""
    first = parts[0][1] if parts[0][0] == "+" else f"-{parts[0][1]}"
    return " ".join([first, *(f"{sign} {x}" for sign, x in parts[1:])])


def linear(constant: float, terms: Sequence[tuple[str, float]]) -> str:
    """The expression of constant + sum of factor * name, positive terms first, in two chains where it is long."""
    size = abs(terms[0][1]) if len(terms) > 1 and constant == 0.0 else 1.0
    if size != 1.0 and all(abs(f) == size for _, f in terms):
        return f"{literal(size)} * ({linear(0.0, [(x, f / size) for x, f in terms])})"
    parts = [("-" if f < 0 else "+", x if abs(f) == 1.0 else f"{literal(abs(f))} * {x}") for x, f in terms]
    if constant != 0.0 or not parts:
        parts.append(("-" if constant < 0 else "+", literal(abs(constant))))
    parts.sort(key=lambda part: part[0] == "-")
    if len(parts) <= LONGEST_CHAIN:
        return chain(parts)
    half = (len(parts) + 1) // 2
    sign = parts[half][0]
    second = [("+" if s == sign else "-", x) for s, x in parts[half:]]
    return f"({chain(parts[:half])}) {sign} ({chain(second)})"


class Lines:
    """The lines that compute rows: ``lines`` of assignments, and ``names``, the variable or literal of each row."""

    def __init__(
        self, g: Graph, outputs: Sequence[int], given: Given, forms: Forms = PYTHON, at_once: bool = True
    ) -> None:
        """``given`` holds the expressions of inputs by name; elements of something are read once. Unless ``at_once``,
        ``write`` writes the lines."""
        self.g, self.given, self.forms = g, given, forms
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self._known: dict[str, str] = {}
        self._powers: dict[str, tuple[int, float]] = {}
        needed = g.needed(outputs)
        self._rank = {a: n for n, a in enumerate(needed)}
        some, rooted = [a for a in needed if g.rows[a][0] == "mul"], forms is PAIRS
        products = {a: keys_of(g.rows[a][1], self._rank, self._powers, rooted) for a in some}
        lists, made = shared_pairs(list(products.values()))
        self._rooted = {b for b, e in self._powers.values() if rooted and e < 0.0 and e % 1.0 == 0.5}
        self._pairs, self._products = dict(made), dict(zip(products, lists, strict=True))
        if at_once:
            self.write(needed)

    def write(self, rows: Sequence[int]) -> None:
        """Write rows, in order, each after those it is made of."""
        for a in rows:
            if a not in self.names:
                self.names[a] = self._written(a)

    def write_in_turn(self, rows: Sequence[int], given: Collection[int]) -> None:
        """Write rows, those ``given`` where they are needed, and behind each other one all that it completes; sums are
        made of shorter ones, and terms are added to them as they come, so that few numbers wait at a time."""
        g, users, sums = self.g, defaultdict[int, list[int]](list), defaultdict[int, list[tuple[str, float]]](list)
        terms = {a: dict(g.rows[a][2]) for a in rows if g.rows[a][0] == "sum"}
        for a in (longest := sorted(terms, key=lambda a: -len(terms[a]))):
            for b in longest:
                if len(terms[a]) > len(terms[b]) > 1 and not g.rows[b][1] and terms[b].items() <= terms[a].items():
                    terms[a] = {c: f for c, f in terms[a].items() if c not in terms[b]} | {b: 1.0}
        sizes = {a: abs(next(iter(some.values()))) for a, some in terms.items()}
        sizes = {a: x for a, x in sizes.items() if not g.rows[a][1] and all(abs(f) == x for f in terms[a].values())}
        known = {*given, *self.names}
        left = {a: {*terms.get(a, g.arguments(a))} - known for a in rows if a not in known}
        for a, missing in left.items():
            for b in missing:
                users[b].append(a)

        def add(a: int, some: Sequence[int]) -> None:
            self.write(g.needed(some))
            for b in some:
                sums[a].append((self.names[b], terms[a][b] / sizes.get(a, 1.0)))
                if len(sums[a]) > 1:
                    sums[a] = [(self._let(both := linear(0.0, sums[a]), both), 1.0)]

        def complete(a: int) -> None:
            if a in terms:
                add(a, [b for b in terms[a] if b in known])
                whole = linear(g.rows[a][1], [(name, sizes.get(a, 1.0) * f) for name, f in sums[a]])
                self.names[a] = whole if whole.isidentifier() else self._let(whole, whole)
            self.write(g.needed([a]))
            for user in users[a]:
                if user in terms:
                    add(user, [a])
                left[user].discard(a)
                if not left[user]:
                    complete(user)

        for a in left:
            if a not in self.names and not left[a]:
                complete(a)
        self.write(rows)

    def branch(self) -> Lines:
        """Lines that go on from these and leave them as they are."""
        other = copy.copy(self)
        other.lines, other.names, other._known = [], dict(self.names), dict(self._known)
        return other

    def _let(self, key: str, expression: str) -> str:
        """The variable of an expression, which is assigned once for each key."""
        if key not in self._known:
            self._known[key] = f"x{len(self._known)}"
            self.lines.append(f"{self._known[key]} = {expression}")
        return self._known[key]

    def _factor(self, key: str) -> str:
        if key in self._known:
            return self._known[key]
        if key in self._pairs:
            return self._let(key, " * ".join(map(self._factor, self._pairs[key])))
        b, e = self._powers[key]
        if e == 1.0:
            return self.names[b]
        base, rank = self.names[b], f"{self._rank[b]:06d}"
        if 2.0 * e != int(2.0 * e) or abs(e) > LARGEST_POWER:
            return self._let(key, call("pow", base, literal(e), forms=self.forms))
        one, mark = self._inverse(b) if e < 0.0 else (base, rank)
        whole = int(abs(e))
        parts = [self._whole(one, mark, whole)] if whole else []
        if abs(e) != whole:
            parts.append(self._root(one, mark))
        return parts[0] if len(parts) == 1 else self._let(key, " * ".join(parts))

    def _inverse(self, b: int) -> tuple[str, str]:
        mark, name = f"{self._rank[b]:06d}^-1.0", self.names[b]
        if b not in self._rooted:
            return self._let(mark, f"1.0 / {name}"), mark
        root = self._let(f"root {mark}", f"reciprocal_roots({name})")
        return self._let(mark, f"{root} * {root}"), mark

    def _root(self, one: str, mark: str) -> str:
        return self._let(f"root {mark}", f"sqrt({one})")

    def prepare(self, bases: Mapping[int, set[float]]) -> None:
        """Write the reciprocals, and the roots of these, of rows that have such powers."""
        for b, exponents in sorted(bases.items()):
            small = [e for e in exponents if 2.0 * e == int(2.0 * e) and -LARGEST_POWER <= e < 0.0]
            if small:
                one, mark = self._inverse(b)
                if any(e != int(e) for e in small):
                    self._root(one, mark)

    def _whole(self, one: str, mark: str, n: int) -> str:
        if n == 1:
            return one
        parts = self._whole(one, mark, n - n // 2), self._whole(one, mark, n // 2)
        return self._let(f"{mark} to {n}", " * ".join(parts))

    def _written(self, a: int) -> str:
        row = self.g.rows[a]
        if row[0] == "const":
            return literal(row[1])
        if row[0] == "in":
            expression = self.given[row[1]]
            return expression if expression.isidentifier() else self._let(f"in {row[1]}", expression)
        key = f"row {a}"
        if row[0] == "fun" and row[1] in PRIMITIVES:
            if self.forms is not PYTHON:
                raise InvalidInput("the program looks up a table (a path by time), which has no form over lanes; take "
                                   "one member at a time")  # fmt: skip
            return self._let(key, PRIMITIVES[row[1]].written(self.given, *(self.names[b] for b in row[2])))
        if row[0] == "fun":
            return self._let(key, call(row[1], *(self.names[b] for b in row[2]), forms=self.forms))
        if row[0] == "mul":
            factors = [self._factor(name) for name in self._products[a]]
            return factors[0] if len(factors) == 1 else self._let(key, " * ".join(factors))
        return self._let(key, linear(row[1], [(self.names[b], f) for b, f in row[2]]))


def matrix_rows(q: str, parts: Sequence[str]) -> dict[str, str]:
    """Expressions of the rows q_u, q_v, q_w of the matrix of a unit quaternion q, by names of inputs."""
    w, x, y, z = parts
    rows = {
        "u": (f"1.0 - 2.0 * ({y} * {y} + {z} * {z})", f"2.0 * ({x} * {y} - {w} * {z})",
              f"2.0 * ({x} * {z} + {w} * {y})"),
        "v": (f"2.0 * ({x} * {y} + {w} * {z})", f"1.0 - 2.0 * ({x} * {x} + {z} * {z})",
              f"2.0 * ({y} * {z} - {w} * {x})"),
        "w": (f"2.0 * ({x} * {z} - {w} * {y})", f"2.0 * ({y} * {z} + {w} * {x})",
              f"1.0 - 2.0 * ({x} * {x} + {y} * {y})"),
    }  # fmt: skip
    return {f"{q}_{row}{k}": rows[row][k] for row in rows for k in range(3)}
