"""Loads for steps with derivatives along many directions: by the chain rule, from slopes by what they read.

Forward mode carries all directions through each operation. Where loads read few numbers, or each of them reads few of
many parameters, slopes by these, which reverse mode finds whatever their number, are fewer than the operations.
"""

from __future__ import annotations

from functools import lru_cache

from polhode.programs.derive import backward
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.roles import by_bodies, of_flat_memory
from polhode.programs.text import HEAD, Lines

SMOOTH = {"sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "atan"}
"""Functions whose slopes reverse mode has wherever forward mode has them."""
GAIN = 0.75
"""Largest cost over that of forward mode."""
HEAD_OF_CHAINED = HEAD + "from polhode.kernel.tangent_mode import plain, with_derivatives\n"
"""Imports of these texts."""


def _cost(g: Graph, rows: list[int]) -> int:
    """Sums and products of derivatives in forward mode."""
    return sum(len(g.rows[a][2]) if g.rows[a][0] == "sum" else 2 * len(g.rows[a][1]) for a in g.needed(rows)
               if g.rows[a][0] in ("sum", "mul"))  # fmt: skip


def _smooth(g: Graph, a: int) -> bool:
    """Whether no derivative of a row is a matter of convention, as that of a root of 0."""
    row = g.rows[a]
    return all(not 0.0 < e < 1.0 for _, e in row[1]) if row[0] == "mul" else row[0] != "fun" or row[1] in SMOOTH


@lru_cache(32)
def chained_text(dynamics: Dynamics, vectors: int) -> str | None:
    """The text of a role ``loads`` for derivatives in so many vectors; None where forward mode is no dearer."""
    g, N = dynamics.graph, dynamics.N
    rows = factored(g, [*by_bodies(dynamics.force, dynamics.torque), *dynamics.rates])
    if not all(_smooth(g, a) for a in g.needed(rows)):
        return None
    before, names = _cost(g, rows), sorted(g.names(rows))
    found = []
    for a in rows:
        leaves = [g.input(name) for name in names if name in g.names([a])]
        pairs = zip(leaves, backward(g, a, leaves), strict=True)
        found.append([(b, slope) for b, slope in pairs if g.value(slope) != 0.0])
    outputs = [*rows, *(slope for terms in found for _, slope in terms)]
    if sum(map(len, found)) + len(g.needed(outputs)) / vectors > GAIN * before:
        return None
    read, given = of_flat_memory(names, N)
    number = {g.input(name): k for k, name in enumerate(names)}
    read += [f"a{k} = {given[name]}" for k, name in enumerate(names)]
    read += [f"n{k} = plain(a{k})" for k in range(len(names))]
    body = Lines(g, outputs, {name: f"n{k}" for k, name in enumerate(names)})
    stores = []
    for k, (a, terms) in enumerate(zip(rows, found, strict=True)):
        told = "".join(f", ({body.names[slope]}, a{number[b]})" for b, slope in terms)
        stores.append(f"out[{k}] = with_derivatives({body.names[a]}{told})" if told else f"out[{k}] = {body.names[a]}")
    return "\n    ".join(["def loads(part, t, N, y, bodies, parameters, out):", *read, *body.lines, *stores]) + "\n"
