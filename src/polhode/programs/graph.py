"""Programs without branches: numbered rows, each made of earlier ones and never written twice.

    ("const", value)                      a number
    ("in", name)                          what the program is given: t, r0, r1, r2, q0, ...
    ("sum", c, ((row, factor), ...))      c + sum of factor * row
    ("mul", ((row, exponent), ...))       product of powers, any real exponent
    ("fun", name, (row, ...))             a function of FUNCTIONS, or a row of PRIMITIVES

As no row is written twice, common parts are shared as they arise. Sums and products are kept whole: like terms and
powers of one base meet, the derivative of a product of powers is such products again, and a Taylor series sees all
powers of a base together. Rows that no result needs cost nothing.

Digits are kept where a rewritten formula could lose them: no factor is multiplied into a sum (``(r - R)/H`` stays a
difference before it is divided), a sum is joined to another only where all its terms have one sign, and powers of one
base only up to LARGEST_EXPONENT.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.programs.primitives import PRIMITIVES, Numbers

LARGEST_EXPONENT = 8.0
"""Powers of one base are not joined beyond: (R/r)^20 may overflow as R^20 r^-20."""
LONGEST_SUM = 12
"""A sum is not joined to another where more terms than this would arise."""

Row = tuple[Any, ...]
Terms = Iterable[tuple[int, float]]


def sign(a: float) -> float:
    """1 or -1, of a zero that of its sign."""
    return math.copysign(1.0, a)


def power(a: float, e: float) -> float:
    """a ** e, infinite for a negative power of zero, nan for a fractional power of a negative number."""
    try:
        return a ** int(e) if e == int(e) else math.pow(a, e)
    except ZeroDivisionError:
        return math.inf
    except ValueError:
        return math.inf if a == 0.0 else math.nan
    except OverflowError:
        return math.inf


def floor_of_quotient(a: float, b: float) -> float:
    """a // b, exactly; the quotient itself where b is zero."""
    return a // b if b != 0.0 else a * math.copysign(math.inf, b)


FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "abs": abs, "sign": sign, "floor": lambda a: float(math.floor(a)), "pow": power,
    "floordiv": floor_of_quotient, "choose": lambda c, a, b: a if c != 0.0 else b,
    "less": lambda a, b: float(a < b), "at_most": lambda a, b: float(a <= b),
    "min": lambda a, b: a if a < b else b, "max": lambda a, b: b if a < b else a,
    "outweighs": lambda a, b: float(abs(a) > abs(b)),
    "plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b,
    "over": lambda a, b: a / b if b != 0.0 else a * math.copysign(math.inf, b),
}  # fmt: skip
"""Functions of rows; ``less`` and ``at_most`` are 1 or 0, ``choose`` its second argument where the first is not 0,
else the third; ``outweighs`` is 1 where the first is the larger in size, and decides only between ways that lead to
the same. ``plus``, ``minus``, ``times`` and ``over`` are rounded as they are written: nothing is derived from them."""


def of_numbers(name: str, given: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of rows in plain Python, of the numbers of a system."""
    return partial(PRIMITIVES[name].value, Numbers(given)) if name in PRIMITIVES else FUNCTIONS[name]


def literal(x: float) -> str:
    """A number as Python reads it back, in brackets where it is negative; a closed one as its text."""
    if isinstance(x, Closed):
        return x.text
    text = repr(float(x)).replace("inf", "1e999")
    return f"({text})" if x < 0.0 else text


CLOSED = re.compile(r"\bP\d+\b")
"""Names of parameters in the texts of closed numbers."""


class Closed(float):
    """A number that functions close over, or that is made of such, as the text says: "(2.0 * P3)", P3 being number 3 of
    the parameters. It is never equal to a plain number."""

    text: str

    def __new__(cls, value: float, text: str) -> Closed:
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closed) and other.text == self.text

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __neg__(self) -> Closed:
        return Closed(-float(self), self.text[2:-1] if self.text.startswith("(-") else f"(-{self.text})")

    def __abs__(self) -> Closed:
        return -self if float(self) < 0.0 else self

    def __add__(self, other: float) -> float:
        if other in (0.0, -self):
            return self if other == 0.0 else 0.0
        return Closed(float(self) + float(other), f"({self.text} + {literal(other)})")

    def __sub__(self, other: float) -> float:
        return self + -other

    def __rsub__(self, other: float) -> float:
        return -self + other

    def __mul__(self, other: float) -> float:
        if other in (0.0, 1.0, -1.0):
            return 0.0 if other == 0.0 else self if other == 1.0 else -self
        return Closed(float(self) * float(other), f"({self.text} * {literal(other)})")

    def __truediv__(self, other: float) -> float:  # of numbers of one size
        return 1.0 if self == other else -1.0

    __radd__, __rmul__ = __add__, __mul__


_code = lru_cache(1024)(lambda text: compile(text, "closed numbers", "eval"))


class Slots:
    """The sizes of closed numbers, behind the parameters of a program: of those that functions read, then of those that
    are made of them until the text is written."""

    def __init__(self, at: int, numbers: Sequence[float], places: Mapping[Any, int]) -> None:
        sizes = [Closed(abs(x), f"P{at + k}") for k, x in enumerate(numbers)]
        self.at, self.open, self.made = at, True, {f"given {k}": size for k, size in enumerate(sizes)}
        read = [(-size if x < 0.0 else size, type(x) is float) for size, x in zip(sizes, numbers, strict=True)]
        self.read = {key: read[k] for key, k in places.items()}  # what is read where, and whether it is no numpy number
        self.left = {*places}  # where nothing has read it yet
        self.exact = set[str]()  # those for whose values alone there is the program

    def kept(self, x: Closed) -> float:
        """A number as one of them, or the negative of one; 0 and 1 as such."""
        if not self.open or CLOSED.fullmatch(x.text.strip("(-)")):
            return x
        size = abs(x)
        found = self.made.setdefault(size.text, Closed(float(size), f"P{self.at + len(self.made)}"))
        if float(size) in (0.0, 1.0):
            self.exact.add(found.text)
            return float(x)
        return found if size == x else -found

    def values(self, numbers: Sequence[float]) -> list[float] | None:
        """All of them where functions read these numbers; None where that is another program."""
        known: dict[str, Any] = {"np": np, **FUNCTIONS}
        with np.errstate(all="ignore"), suppress(ArithmeticError):
            for k, (text, before) in enumerate(self.made.items()):
                x = known[before.text] = float(abs(numbers[k]) if k < len(numbers) else eval(_code(text), known))
                if not (x == float(before) if before.text in self.exact else 0.0 < x < math.inf):
                    return None
            return [known[one.text] for one in self.made.values()]
        return None


class Graph:
    """The rows of a program; see the module."""

    def __init__(self) -> None:
        self.rows: list[Row] = []  # each after those it is made of
        self.known: dict[Row, int] = {}  # number of each row
        self.closed: Slots | None = None  # the closed numbers, where it has some
        self.decisions: Any = None  # what answers conditions while a function is traced
        # results that are finite wherever plain Python does not raise, on the way through a function that is traced
        self.raising: list[int] = []

    @contextmanager
    def asking(self, decisions: object) -> Iterator[None]:
        """Answer conditions by ``decisions`` within a block."""
        self.decisions = decisions
        try:
            yield
        finally:
            self.decisions = None

    def row(self, *row: object) -> int:
        """The number of a row, which is written unless it is there."""
        number = self.known.get(row)
        if number is None:
            number = self.known[row] = len(self.rows)
            self.rows.append(row)
        return number

    # -------------------------------------------------------------- making rows
    def const(self, value: float) -> int:
        """The row of a number."""
        if math.isnan(value):
            raise InvalidInput("a constant is nan; give a number")
        value = self.kept(value)
        return self.row("const", value if isinstance(value, Closed) else float(value) + 0.0)

    def kept(self, x: float) -> float:
        """A number, a closed one as a program has it behind its parameters."""
        return self.closed.kept(x) if isinstance(x, Closed) and self.closed is not None else x

    def applied(self, name: str, values: Sequence[Any]) -> float:
        """A function of numbers; nan where it has no value, and of closed ones once the text is written."""
        closed = any(isinstance(x, Closed) for x in values)
        if closed and not (self.closed and self.closed.open):
            return math.nan
        try:
            function = FUNCTIONS[name] if name in FUNCTIONS else getattr(np, name[3:])
            made = float(function(*map(float, values)))
        except (ValueError, OverflowError):
            return math.nan
        closed = closed and math.isfinite(made)
        return self.kept(Closed(made, f"{name}({', '.join(map(literal, values))})")) if closed else made

    def nan(self) -> int:
        """The row of what has no value; only to be chosen."""
        return self.row("const", math.nan)

    def input(self, name: str) -> int:
        """The row of an input."""
        return self.row("in", name)

    def inputs(self, name: str, size: int) -> list[int]:
        """The rows of a vector's components, name0, name1, ..."""
        return [self.input(f"{name}{k}") for k in range(size)]

    def value(self, a: int) -> float | None:
        """The number a row is, or None."""
        row = self.rows[a]
        return row[1] if row[0] == "const" else None

    def exactly(self, a: int) -> float | None:
        """The number a row is where those of inputs are known while functions are traced, or None; the program is that
        for these numbers alone."""
        found = self.value(a)
        if isinstance(found, Closed) and self.closed is not None:
            self.closed.exact |= {*CLOSED.findall(found.text)}
        return self.decisions.number(self, a) if found is None and self.decisions is not None else found

    def as_sum(self, a: int) -> tuple[float, tuple[tuple[int, float], ...]]:
        """A row as a constant and terms (row, factor)."""
        row = self.rows[a]
        if row[0] == "const":
            return row[1], ()
        return (row[1], row[2]) if row[0] == "sum" else (0.0, ((a, 1.0),))

    def as_product(self, a: int) -> tuple[float, tuple[tuple[int, float], ...]]:
        """A row as a factor and powers (row, exponent)."""
        row = self.rows[a]
        if row[0] == "const":
            return row[1], ()
        if row[0] == "sum" and row[1] == 0.0 and len(row[2]) == 1:
            ((inner, factor),) = row[2]
            return factor, self.as_product(inner)[1]
        return 1.0, row[1] if row[0] == "mul" else ((a, 1.0),)

    def _parts(self, a: int, factor: float, length: int, joined: bool) -> tuple[float, tuple[tuple[int, float], ...]]:
        """Constant and terms that a row adds to a sum of a length: its own, or the row itself where it stays whole."""
        constant, parts = self.as_sum(a)
        if len(parts) + (constant != 0.0) < 2:
            return constant, parts
        positive = [f > 0.0 for _, f in parts] + ([constant > 0.0] if constant != 0.0 else [])
        safe = joined or (abs(factor) == 1.0 and all(p == positive[0] for p in positive))
        if safe and len(parts) + length <= LONGEST_SUM:
            return constant, parts
        return 0.0, ((a, 1.0),)

    def sum(self, *terms: tuple[int, float], joined: bool = False) -> int:
        """The row of the sum of factor * row over pairs (row, factor).

        ``joined``: sums among the rows are joined to it whatever the signs of their terms and factors.
        """
        if len(terms) == 1 and not joined:  # a multiple of a sum stays one, so that the sum is found again
            ((a, f),) = terms
            if f == 1.0 or len(self.as_sum(a)[1]) > 1:
                return a if f == 1.0 else self.const(0.0) if f == 0.0 else self.row("sum", 0.0, ((a, self.kept(f)),))
        constant, factors = 0.0, {}  # type: ignore[var-annotated]
        for a, f in terms:
            if f == 0.0:
                continue
            c, parts = self._parts(a, f, len(factors), joined)
            constant += f * c
            for b, g in parts:
                factors[b] = factors.get(b, 0.0) + f * g
        left = tuple(sorted((b, self.kept(f)) for b, f in factors.items() if f != 0.0))
        constant = self.kept(constant)
        if not left:
            return self.const(constant)
        if constant == 0.0 and len(left) == 1 and left[0][1] == 1.0:
            return left[0][0]
        opposite = self.known.get(("sum", -constant, tuple((b, -f) for b, f in left)))
        if opposite is not None and len(left) > 1:
            return self.row("sum", 0.0, ((opposite, -1.0),))
        return self.row("sum", constant, left)

    def difference(self, a: int, b: int) -> int:
        """a - b."""
        return self.sum((a, 1.0), (b, -1.0))

    def negative(self, a: int) -> int:
        """-a."""
        return self.sum((a, -1.0))

    def mul(self, *factors: int) -> int:
        """The row of the product of rows."""
        coefficient, powers = 1.0, {}  # type: ignore[var-annotated]
        for a in factors:
            c, parts = self.as_product(a)
            if any(abs(powers.get(b, 0.0) + e) > LARGEST_EXPONENT for b, e in parts):
                parts = ((self._product(parts), 1.0),)
            coefficient *= c
            for b, e in parts:
                powers[b] = powers.get(b, 0.0) + e
        left = tuple(sorted((b, e) for b, e in powers.items() if e != 0.0))
        if coefficient == 0.0 or not left:
            return self.const(coefficient)
        return self.sum((self._product(left), coefficient))

    def _product(self, powers: tuple[tuple[int, float], ...]) -> int:
        if len(powers) == 1 and powers[0][1] == 1.0:
            return powers[0][0]
        return self.row("mul", powers)

    def quotient(self, a: int, b: int) -> int:
        """a / b."""
        return self.mul(a, self.power(b, -1.0))

    def power(self, a: int, exponent: float) -> int:
        """The row of a row to a power that is a number.

        A fractional power is not taken into a product, nor joined to an even power, whose base may be negative.
        """
        exponent = float(exponent)
        if exponent == 0.0:
            return self.const(1.0)
        if exponent == 1.0:
            return a
        known = self.value(a)
        if known is not None:
            made = self.applied("pow", (known, exponent))
            return self.const(made) if math.isfinite(made) else self.row("mul", ((a, exponent),))
        factor, parts = self.as_product(a)
        whole = exponent == int(exponent)
        made = self.applied("pow", (factor, exponent))
        if (factor < 0.0 and not whole) or not math.isfinite(made) or made == 0.0:
            parts, factor, made = ((a, 1.0),), 1.0, 1.0
        safe = whole or (len(parts) == 1 and parts[0][1] % 2.0 != 0.0)
        if not safe or any(abs(e * exponent) > LARGEST_EXPONENT for _, e in parts):
            parts = ((self._product(parts), 1.0),)
        return self.sum((self._product(tuple((b, e * exponent) for b, e in parts)), made))

    def fun(self, name: str, *arguments: int) -> int:
        """The row of a function; numbers are computed at once."""
        if name in PRIMITIVES:
            return self.row("fun", name, arguments)
        values = [self.value(a) for a in arguments]
        if all(v is not None for v in values):
            made = self.applied(name, values)
            if math.isfinite(made):
                return self.const(made)
        if name == "choose":
            if values[0] is not None:
                return arguments[1] if values[0] != 0.0 else arguments[2]
            if arguments[1] == arguments[2]:
                return arguments[1]
        if name in ("min", "max") and arguments[0] == arguments[1]:
            return arguments[0]
        if name == "pow" and values[1] is not None and not isinstance(values[1], Closed):
            return self.power(arguments[0], values[1])
        if name == "abs" and self.rows[arguments[0]][:2] == ("fun", "abs"):
            return arguments[0]
        return self.row("fun", name, arguments)

    # -------------------------------------------------------------- reading rows
    def arguments(self, a: int) -> tuple[int, ...]:
        """The rows a row is made of."""
        row = self.rows[a]
        if row[0] in ("sum", "mul"):
            return tuple(b for b, _ in row[-1])
        return tuple(row[2]) if row[0] == "fun" else ()

    def needed(self, outputs: Iterable[int]) -> list[int]:
        """The rows that outputs are made of, in order; all others are dead."""
        seen: set[int] = set()
        stack = list(outputs)
        while stack:
            a = stack.pop()
            if a not in seen:
                seen.add(a)
                stack.extend(self.arguments(a))
        return sorted(seen)

    def names(self, outputs: Iterable[int]) -> list[str]:
        """Names of the inputs that outputs are made of."""
        rows = [self.rows[a] for a in self.needed(outputs)]
        closed = dict.fromkeys(CLOSED.findall(str(rows))) if self.closed is not None else ()
        return [*(row[1] for row in rows if row[0] == "in"), *closed]

    def joined(self, other: Graph, outputs: Iterable[int]) -> list[int]:
        """The rows of outputs of another graph, written into this one."""
        self.closed = self.closed or other.closed
        outputs, new = list(outputs), {}  # type: ignore[var-annotated]
        for a in other.needed(outputs):
            row = other.rows[a]
            if row[0] in ("sum", "mul"):
                row = (*row[:-1], tuple(sorted((new[b], x) for b, x in row[-1])))
            elif row[0] == "fun":
                row = (*row[:2], tuple(new[b] for b in row[2]))
            new[a] = self.row(*row)
        return [new[a] for a in outputs]

    def rebuilt(
        self, outputs: Iterable[int], sums: Callable[..., int] | None = None,
        products: Callable[..., int] | None = None, functions: Callable[..., int] | None = None,
        inputs: Mapping[int, int] | None = None,
    ) -> list[int]:  # fmt: skip
        """The outputs written anew from the inputs on."""
        outputs, new = list(outputs), {}  # type: ignore[var-annotated]
        inputs = {} if inputs is None else inputs
        for a in self.needed(outputs):
            row = self.rows[a]
            if row[0] == "sum":
                terms = [(new[b], f) for b, f in row[2]]
                new[a] = sums(row[1], terms) if sums else self.sum((self.const(row[1]), 1.0), *terms)
            elif row[0] == "mul":
                powers = [(new[b], e) for b, e in row[1]]
                new[a] = products(powers) if products else self.mul(*(self.power(b, e) for b, e in powers))
            elif row[0] == "fun":
                x = [new[b] for b in row[2]]
                new[a] = functions(row[1], x) if functions else self.fun(row[1], *x)
            else:
                new[a] = inputs.get(a, a)
        return [new[a] for a in outputs]

    def evaluate(
        self, outputs: Iterable[int], given: Mapping[str, Any], raised: Callable[..., Any] = FUNCTIONS["pow"],
        function: Callable[[str, Mapping[str, Any]], Callable[..., Any]] = of_numbers,
    ) -> list[Any]:  # fmt: skip
        """Values of rows in plain Python, or by another power and other functions of numbers."""
        outputs, values = list(outputs), {}
        for a in self.needed(outputs):
            row = self.rows[a]
            if row[0] == "const":
                values[a] = float(row[1])
            elif row[0] == "in":
                values[a] = given[row[1]]
            elif row[0] == "sum":
                values[a] = float(row[1]) + sum(float(f) * values[b] for b, f in row[2])
            elif row[0] == "mul":
                values[a] = math.prod(raised(values[b], e) for b, e in row[1])
            else:
                values[a] = function(row[1], given)(*(values[b] for b in row[2]))
        return [values[a] for a in outputs]


ARITHMETIC: dict[str, Callable[..., int]] = {
    "plus": lambda g, x, y: g.sum((x, 1.0), (y, 1.0)), "minus": Graph.difference, "times": Graph.mul,
    "over": Graph.quotient,
}  # fmt: skip
"""Sums and products as rows that are rewritten, by the functions that are not."""
