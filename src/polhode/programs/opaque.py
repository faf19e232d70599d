"""Kernels that a program calls as they are: those that loop over degrees, or whose program would be too long.

    ("fun", "field_of_terms", (at, t, x, y, z))   the call of such a kernel: as many numbers as it returns
    ("fun", "component1", (call,))                one of them

A kernel is ``kernel(p, at, ...)``: its numbers are ``p[at]``, ``p[at + 1]``, ..., what it takes behind them are numbers
and vectors, mostly the time and a position. Derivatives of a call are those that are stated with the kernel; others are
refused. A hole is a kernel that is bound where a run starts; beforehand its numbers are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from polhode.kernel.holes import Hole
from polhode.programs.graph import Graph
from polhode.programs.memory import Rows
from polhode.programs.primitives import KERNELS, Primitive, add_primitive, component
from polhode.programs.tracer import NotTraceable, Tracer, array_of, row_of


class Opaque:
    """A kernel that is called as it is and returns ``count`` numbers; ``words`` say what it is, for messages.

    ``takes`` says what it takes behind its numbers: 0 for a number, else the length of a vector. Where it returns one
    number, ``slopes`` are its derivatives by the first numbers that it takes, of vectors each entry."""

    def __init__(
        self, kernel: Callable[..., Any], count: int, words: str, slopes: Opaque | None = None, name: str = "",
        takes: tuple[int, ...] = (0, 3),
    ) -> None:  # fmt: skip
        self.name, self.count, self.words, self.slopes = name or kernel.__name__, count, words, slopes

        self.takes = takes
        begins = [1 + sum(max(1, one) for one in takes[:k]) for k in range(len(takes))]

        def value(numbers: object, at: float, *given: float) -> Any:
            if isinstance(kernel, Hole):
                return nan if count == 1 else (nan,) * count
            taken = (given[k - 1 : k - 1 + n] if n else given[k - 1] for k, n in zip(begins, takes, strict=True))
            return kernel(numbers, int(at), *taken)

        vectors = (f"({''.join(f'{{{k + j}}}, ' for j in range(n))})" if n else f"{{{k}}}"
                   for k, n in zip(begins, takes, strict=True))  # fmt: skip
        call = f"{self.name}({{p}}, {{first}}whole({{0}}), {', '.join(vectors)})"
        add_primitive(self.name, Primitive(value, call, self._slopes, several=count > 1))
        KERNELS[self.name] = kernel if name else kernel.__module__
        CALLED[self.name] = self

    def __call__(self, rows: Rows, *given: Any) -> Any:
        """Its call on tracers, with its numbers from ``rows`` on."""
        g = rows.p.g
        flat = (x for one, n in zip(given, self.takes, strict=True) for x in (one if n else (one,)))
        call = g.fun(self.name, *(row_of(g, one) for one in (rows.at, *flat)))
        if self.count == 1:
            return Tracer(g, call)
        return array_of([Tracer(g, g.fun(component(k), call)) for k in range(self.count)])

    def _slopes(self, g: Graph, row: int, arguments: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs (argument, partial derivative) of a call."""
        if self.slopes is None:
            raise NotTraceable(f"it needs a derivative of {self.words}, of which there is none")
        call = g.fun(self.slopes.name, *arguments)
        return [(one, g.fun(component(k), call)) for k, one in enumerate(arguments[1 : 1 + self.slopes.count])]


CALLED: dict[str, Opaque] = {}
"""By the names of their rows."""


def called_in(g: Graph, rows: Sequence[int]) -> list[Opaque]:
    """The kernels that rows call."""
    kinds = (g.rows[a] for a in g.needed(rows))
    return [CALLED[row[1]] for row in kinds if row[0] == "fun" and row[1] in CALLED]
