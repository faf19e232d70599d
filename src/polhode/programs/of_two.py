"""The program of a potential of two bodies, cut into what belongs to one body and what belongs to both.

What depends on one body alone (a dipole in space, a site, a mass) is computed once a body, not once a pair: it is the
*data* of a body, and the program of both reads the distance r0, r1, r2 between their centres, data ``a{k}`` of the
first and ``b{k}`` of the second, and parameters. Torques follow from the slopes by data and from how data change as a
body turns about the axes of space, which is other data: those of a vector v fixed in the body change by e x v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polhode.programs import derive
from polhode.programs.attitude import ROWS
from polhode.programs.graph import Graph

OF_BODY = ("mass", "q_u", "q_v", "q_w", "q", "f", "I", "j")
"""Beginnings of the names of inputs that belong to a body, with as many numbers of each body as ``SIZES`` says."""
SIZES = {"mass": 1, "q": 4, "f": 4}


def _kind(name: str) -> tuple[str, int]:
    beginning = name.rstrip("0123456789")
    return beginning, int(name[len(beginning) :] or 0)


@dataclass(frozen=True)
class Each:
    """Parameters of which each body has its own."""

    first: int  # index of those of the first of two bodies; those of the second follow
    size: int  # how many there are of a body


class OfTwo:
    """A potential of two bodies that is cut: ``potential``, a row of ``graph``, the program of both."""

    def __init__(self, g: Graph, potential: int, own: Sequence[Each]) -> None:
        """The potential is a row of ``g``, inputs as in ``memory``, the second body being at the origin."""
        self.g, self.own, self.graph = g, own, Graph()
        self.data: list[int] = []  # rows of g in inputs of the first body: the data of a body
        self._of: dict[int, frozenset[int]] = {}
        self._made: dict[int, int] = {}
        for a in g.needed([potential]):  # each after those it is made of
            if len(self._bodies(a)) > 1 or 2 in self._bodies(a):
                self._any(a)
        self.potential = self._any(potential)

    # ------------------------------------------------------------------ whose a row is
    def body_of(self, name: str) -> int | None:
        """The body, 0 or 1, that an input belongs to; None of one that belongs to none."""
        beginning, k = _kind(name)
        if beginning == "p":
            return next(((k - one.first) // one.size for one in self.own if 0 <= k - one.first < 2 * one.size), None)
        return k // SIZES.get(beginning, 3) if beginning in OF_BODY else None

    def _bodies(self, a: int) -> frozenset[int]:
        """What a row depends on: bodies 0 and 1, 2 for their distance."""
        if a not in self._of:
            for b in self.g.needed([a]):
                row = self.g.rows[b]
                if row[0] == "in":
                    body = self.body_of(row[1])
                    self._of[b] = frozenset({2} if row[1][0] == "r" else () if body is None else {body})
                else:
                    self._of[b] = frozenset().union(*(self._of[c] for c in self.g.arguments(b)))
        return self._of[a]

    def _turns(self, a: int) -> bool:
        return any(name[0] == "q" for name in self.g.names([a]))

    # ------------------------------------------------------------------ cutting
    def _as_first(self, a: int) -> int:
        """A row of the second body in inputs of the first."""
        g, inputs = self.g, dict[int, int]()
        for name in g.names([a]):
            if self.body_of(name) == 1:
                beginning, k = _kind(name)
                size = SIZES.get(beginning, 3)
                if beginning == "p":
                    size = next(one.size for one in self.own if 0 <= k - one.first < 2 * one.size)
                inputs[g.input(name)] = g.input(f"{beginning}{k - size}")
        return g.rebuilt([a], inputs=inputs)[0]

    def _datum(self, a: int) -> tuple[int, float]:
        """The number of the datum that a row of the first body is a multiple of, and the factor."""
        constant, terms = self.g.as_sum(a)
        a, factor = terms[0] if constant == 0.0 and len(terms) == 1 else (a, 1.0)
        if a not in self.data:
            self.data.append(a)
        return self.data.index(a), factor

    def _read(self, a: int, body: int) -> int:
        """The row of both that is a datum of a body."""
        k, factor = self._datum(self._as_first(a) if body else a)
        return self.graph.sum((self.graph.input(f"{'ab'[body]}{k}"), factor))

    def _any(self, a: int) -> int:
        """A row in the program of both."""
        if a not in self._made:
            self._made[a] = self._row(a)
        return self._made[a]

    def _row(self, a: int) -> int:
        g, h, row = self.g, self.graph, self.g.rows[a]
        if row[0] == "const":
            return h.row("const", row[1])
        bodies = self._bodies(a)
        if row[0] == "in" and not bodies & {0, 1}:
            return h.input(row[1])
        if 2 not in bodies and len(bodies) < 2:
            return self._read(a, max(bodies, default=0))
        if row[0] == "fun":
            return h.fun(row[1], *map(self._any, row[2]))
        rest, groups = [], {0: [], 1: []}  # type: ignore[var-annotated]
        for b, x in row[-1]:
            of = self._bodies(b)
            own = of in ({0}, {1}) if row[0] == "sum" else of in (set(), {0}, {1}) and not self._turns(b)
            (groups[min(of, default=0)] if own else rest).append((b, x))
        if row[0] == "sum":
            terms = [(self._any(g.sum(*some)), 1.0) for some in groups.values() if some]
            return h.sum((h.const(row[1]), 1.0), *terms, *((self._any(b), f) for b, f in rest))
        factors = [self._any(g.mul(*(g.power(b, e) for b, e in some))) for some in groups.values() if some]
        return h.mul(*factors, *(h.power(self._any(b), e) for b, e in rest))

    # ------------------------------------------------------------------ turning
    @property
    def turning(self) -> list[int]:
        """The data that turn with a body, of those that the program of both reads."""
        read = {int(name[1:]) for name in self.graph.names([self.potential]) if name[0] in "ab"}
        return [k for k in sorted(read) if self._turns(self.data[k])]

    def turned(self, k: int) -> list[list[tuple[int, float]]]:
        """How datum k changes as its body turns about each axis of space: none or one other, with its factor."""
        rates = [derive.forward(self.g, [self.data[k]], _turned(self.g, j))[0] for j in range(3)]
        return [[] if self.g.value(rate) == 0.0 else [self._datum(rate)] for rate in rates]


def _turned(g: Graph, j: int) -> dict[int, int]:
    """Rates of an attitude and of the rows of its matrix where the first body turns about axis j of space."""
    l, k = (j + 1) % 3, (j + 2) % 3
    rows = [[g.input(f"q_{name}{n}") for n in range(3)] for name in ROWS]
    rates = {a: g.negative(b) for a, b in zip(rows[l], rows[k], strict=True)}
    rates |= dict(zip(rows[k], rows[l], strict=True))
    rates |= {a: g.const(0.0) for a in rows[j]}
    w, parts = g.input("q0"), [g.input(f"q{1 + n}") for n in range(3)]
    half = {w: (parts[j], -0.5), parts[j]: (w, 0.5), parts[l]: (parts[k], -0.5), parts[k]: (parts[l], 0.5)}
    return rates | {a: g.sum(one) for a, one in half.items()}
