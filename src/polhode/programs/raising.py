"""Where plain Python raises and a program would go on: the floats of Python, as ``t`` or a result of ``math``.

``1.0 / d`` of such a d = 0 is a ZeroDivisionError, ``math.exp(1e3)`` an OverflowError; numpy's floats and a program
give infinity, or nan. Mostly it reaches the result, and the run ends, with the error of the plain function. Where it
may be swallowed (``math.exp(-1.0 / t)``, ``min``), the program says so in a row of its own, zero while all is well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polhode.programs.graph import Graph

FINITE_ALONE = frozenset({"sin", "cos", "tan", "asin", "acos", "sinh", "cosh", "abs", "log", "floor"})
"""Functions that have no finite value where their argument has none."""
OF_NUMBERS_ALONE = FINITE_ALONE | {"exp", "atan", "tanh", "atan2"}
"""Functions that are nan where an argument is."""


def swallowed(g: Graph, results: Sequence[int], outputs: Sequence[int]) -> int:
    """The row that is not zero where one of the results has no finite value, but all outputs may have one."""
    needed = g.needed(outputs)
    lost = [a for a in dict.fromkeys(results) if g.value(a) is None and not _reaches(g, a, needed, outputs)]
    fine = (g.fun("outweighs", g.const(float("inf")), a) for a in lost)
    return g.sum((g.const(float(len(lost))), 1.0), *((a, -1.0) for a in fine))


def _reaches(g: Graph, a: int, needed: Sequence[int], outputs: Sequence[int]) -> bool:
    """Whether an output has no finite value wherever a row has none."""
    _, powers = g.as_product(a)
    if g.rows[a][0] == "fun" or powers == ((a, 1.0),):
        return not set(outputs).isdisjoint(_beyond(g, needed, lambda b: b == a, False))
    for base, e in powers:  # products are kept whole, so that the row itself may not be among those of the outputs
        if e < 0.0 and _is_lost(g, needed, outputs, base, lambda f: f < 0.0, False):
            return False
        if e != int(e) and _is_lost(g, needed, outputs, base, lambda f: f != int(f), True):
            return False
    return True


def _is_lost(
    g: Graph, needed: Sequence[int], outputs: Sequence[int], base: int, same: Callable[[float], bool], nan: bool
) -> bool:
    """Whether no output needs to show that a power of a base has no value."""

    def begins(b: int) -> bool:
        return g.rows[b][0] == "mul" and any(c == base and same(f) for c, f in g.rows[b][1])

    return set(outputs).isdisjoint(_beyond(g, needed, begins, nan))


def _beyond(g: Graph, needed: Sequence[int], begins: Callable[[int], bool], nan: bool) -> set[int]:
    """The rows that have no finite value where those that begin have none, or are ``nan``."""
    found: set[int] = set()
    functions = OF_NUMBERS_ALONE if nan else FINITE_ALONE
    for a in needed:
        kind, *rest = g.rows[a]
        terms = rest[-1] if kind in ("sum", "mul") else ()
        handed = any(b in found and (kind == "sum" or nan or e > 0.0) for b, e in terms)
        if begins(a) or handed or (kind == "fun" and rest[0] in functions and found & set(rest[1])):
            found.add(a)
    return found
