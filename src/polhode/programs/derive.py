"""What follows from a program by rules: derivatives, commutator loads, rates in time.

All of them write into the graph of the program that they derive from, so that they share its parts. Inputs are named as
in ``roles``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from polhode.programs.attitude import ROWS
from polhode.programs.graph import Graph
from polhode.programs.primitives import PRIMITIVES

Rows = Sequence[int]
CHOOSING = ("choose", "min", "max")
"""Functions that hand on one of their arguments; so do their derivatives, whatever the others are (even infinite)."""


# ------------------------------------------------------------------ derivatives of rows
def _with_square(g: Graph, x: int, factor: float = 1.0) -> int:
    """1 + factor x^2."""
    return g.sum((g.const(1.0), 1.0), (g.mul(x, x), factor))


def _slopes_of_angle(g: Graph, _: int, y: int, x: int) -> list[int]:
    inverse = g.power(g.sum((g.mul(y, y), 1.0), (g.mul(x, x), 1.0)), -1.0)
    return [g.mul(x, inverse), g.negative(g.mul(y, inverse))]


SLOPES: dict[str, Callable[..., list[int]]] = {
    "exp": lambda g, a, x: [a], "log": lambda g, a, x: [g.power(x, -1.0)],
    "sin": lambda g, a, x: [g.fun("cos", x)], "cos": lambda g, a, x: [g.negative(g.fun("sin", x))],
    "tan": lambda g, a, x: [_with_square(g, a)], "tanh": lambda g, a, x: [_with_square(g, a, -1.0)],
    "asin": lambda g, a, x: [g.power(_with_square(g, x, -1.0), -0.5)],
    "acos": lambda g, a, x: [g.negative(g.power(_with_square(g, x, -1.0), -0.5))],
    "atan": lambda g, a, x: [g.power(_with_square(g, x), -1.0)], "atan2": _slopes_of_angle,
    "sinh": lambda g, a, x: [g.fun("cosh", x)], "cosh": lambda g, a, x: [g.fun("sinh", x)],
    "abs": lambda g, a, x: [g.fun("sign", x)],
    "pow": lambda g, a, x, e: [g.mul(e, g.quotient(a, x)), g.mul(a, g.fun("log", x))],
}  # fmt: skip
"""Partial derivatives of functions but those of CHOOSING, by ``(graph, row, *arguments)``; all others are steps."""


def partials(g: Graph, a: int) -> list[tuple[int, int]]:
    """Pairs (argument, partial derivative) of a row that hands on none of its arguments."""
    row = g.rows[a]
    if row[0] == "sum":
        return [(b, g.const(f)) for b, f in row[2]]
    if row[0] == "mul":
        slopes = []
        for b, e in row[1]:
            others = (g.power(c, f) for c, f in row[1] if c != b)
            slopes.append((b, g.sum((g.mul(*others, g.power(b, e - 1.0)), e))))
        return slopes
    if row[0] != "fun":
        return []
    if row[1] in PRIMITIVES:
        made = PRIMITIVES[row[1]].slopes
        return [] if made is None else made(g, a, row[2])
    return [*zip(row[2], SLOPES[row[1]](g, a, *row[2]), strict=True)] if row[1] in SLOPES else []


def _choice(g: Graph, a: int) -> tuple[int, int, int] | None:
    """What a row of CHOOSING goes by, and its two arguments."""
    row = g.rows[a]
    if row[0] != "fun" or row[1] not in CHOOSING:
        return None
    if row[1] == "choose":
        return row[2]
    less = g.fun("less", *row[2])
    return (less, *row[2]) if row[1] == "min" else (less, *row[2][::-1])


def chooses(g: Graph, a: int) -> bool:
    """Whether a row is made of choices; its derivatives are taken forward, as what is not chosen may be infinite."""
    return any(_choice(g, b) is not None for b in g.needed([a]))


def forward(g: Graph, outputs: Rows, seeds: Mapping[int, int]) -> list[int]:
    """Derivatives of outputs where rows change at the rates of ``seeds``, a mapping of rows to rows."""
    zero, rates = g.const(0.0), dict(seeds)
    for a in g.needed(outputs):
        if a in rates:
            continue
        choice = _choice(g, a)
        if choice is not None:
            c, x, y = choice
            rates[a] = g.fun("choose", c, rates.get(x, zero), rates.get(y, zero))
            continue
        if all(rates.get(b, zero) == zero for b in g.arguments(a)):
            rates[a] = zero
            continue
        terms = [(g.mul(d, rates[b]), 1.0) for b, d in partials(g, a) if rates.get(b, zero) != zero]
        rates[a] = g.sum(*terms) if terms else zero
    return [rates[a] for a in outputs]


def backward(g: Graph, output: int, leaves: Rows) -> list[int]:
    """Derivatives of an output by rows; ``leaves`` are not looked into."""
    zero, ends = g.const(0.0), set(leaves)
    gathered = {output: [(g.const(1.0), 1.0)]}
    adjoint: dict[int, int] = {}
    for a in reversed(g.needed([output])):
        if a not in gathered:
            continue
        adjoint[a] = w = g.sum(*gathered[a])
        if a in ends:
            continue
        choice = _choice(g, a)
        if choice is not None:
            c, x, y = choice
            gathered.setdefault(x, []).append((g.fun("choose", c, w, zero), 1.0))
            gathered.setdefault(y, []).append((g.fun("choose", c, zero, w), 1.0))
            continue
        for b, d in partials(g, a):
            factor = g.value(d)
            gathered.setdefault(b, []).append((g.mul(w, d), 1.0) if factor is None else (w, factor))
    return [adjoint.get(a, zero) for a in leaves]


@lru_cache(maxsize=64)
def alike(g: Graph, outputs: tuple[int, ...], names: tuple[str, ...]) -> dict[str, int]:
    """Numbers of inputs by which outputs change, the same where all slopes are, so that only their sum matters."""
    found: dict[tuple[int, ...], int] = {}
    every = zip(*(backward(g, a, [g.input(name) for name in names]) for a in outputs), strict=True)
    moving = {name: slopes for name, slopes in zip(names, every, strict=True) if any(g.value(a) != 0.0 for a in slopes)}
    return {name: found.setdefault(slopes, len(found)) for name, slopes in moving.items()}


# ------------------------------------------------------------------ turns of a body
def cross(g: Graph, a: Rows, b: Rows) -> list[int]:
    """a x b."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return [g.sum((g.mul(a[i], b[j]), 1.0), (g.mul(a[j], b[i]), -1.0)) for i, j in pairs]


def turned(g: Graph, q: str, w: Rows, body: int = 0) -> dict[int, int]:
    """Rates of an attitude q and of the rows of its matrix where this body turns at the rate w, in its own frame."""
    o = [g.input(f"{q}{4 * body + k}") for k in range(4)]
    parts = (
        ((-1.0, 1, 0), (-1.0, 2, 1), (-1.0, 3, 2)), ((1.0, 0, 0), (1.0, 2, 2), (-1.0, 3, 1)),
        ((1.0, 0, 1), (1.0, 3, 0), (-1.0, 1, 2)), ((1.0, 0, 2), (1.0, 1, 1), (-1.0, 2, 0)),
    )  # fmt: skip
    rates = {}
    for row, terms in zip(o, parts, strict=True):
        rates[row] = g.sum(*((g.mul(o[i], w[k]), 0.5 * f) for f, i, k in terms))
    for name in ROWS:
        row_of = [g.input(f"{q}_{name}{3 * body + k}") for k in range(3)]
        rates |= dict(zip(row_of, cross(g, row_of, w), strict=True))
    return rates


def commutator(
    g: Graph, force: Rows, torque: Rows, rates: Rows, turns: Sequence[Sequence[bool]] | None = None
) -> tuple[list[int], list[int], list[int]]:
    """The load of [V, [T, V]], the gradient of F . F / m + T . J T summed over bodies, with their inverse moments J;
    and what it adds to rates of works, so that these keep the order of schemes with modified kicks.

    For loads F, T (3 N rows each) of a potential it is ``2 D F`` and ``2 (D T + w x T)``, where D is the derivative
    along the displacements F / m and the turns w = J T, and ``2 D`` of the rates. ``turns``: about which axes.
    """
    seeds: dict[int, int] = {}
    twist: list[int] = []
    for i in range(len(force) // 3):
        F, T = force[3 * i : 3 * i + 3], torque[3 * i : 3 * i + 3]
        lightness = g.power(g.input(f"mass{i}"), -1.0)
        w = [g.mul(g.input(f"j{3 * i + k}"), T[k]) for k in range(3)]
        if any(g.value(a) != 0.0 for a in F):
            seeds |= {g.input(f"r{3 * i + k}"): g.mul(lightness, F[k]) for k in range(3)}
        if any(g.value(a) != 0.0 for a in T):
            seeds |= turned(g, "q", w, i)
        about = cross(g, w, T)
        twist += [about[k] if turns is None or turns[i][k] else g.const(0.0) for k in range(3)]
    n, changes = len(force), forward(g, [*force, *torque, *rates], seeds)
    return (
        [g.sum((a, 2.0)) for a in changes[:n]],
        [g.sum((a, 2.0), (b, 2.0)) for a, b in zip(changes[n : 2 * n], twist, strict=True)],
        [g.sum((a, 2.0)) for a in changes[2 * n :]],
    )


def rate_in_time(g: Graph, outputs: Rows) -> list[int]:
    """Partial derivatives in time."""
    return forward(g, outputs, {g.input("t"): g.const(1.0)})
