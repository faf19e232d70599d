"""The loads of a system and their commutator as roles, from its program part by part.

A role is asked for parts (``kernel.layout``): for the attraction, for all but this, for what depends on velocities. Its
text computes what several parts need, then each part that is asked for. It is that of one body or, where bodies do not
act on each other, of each of them in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from polhode.kernel import layout as L
from polhode.programs import derive
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored
from polhode.programs.graph import Graph
from polhode.programs.roles import of_each, of_flat_memory, plain
from polhode.programs.text import Lines

Turns = Sequence[Sequence[bool]]
"""About which of its axes each body turns."""
PARTS = (L.ATTRACTION, L.POTENTIAL_PART, L.RESTING, L.MOVING)
FEW_LINES = 40
"""Fewest lines that are worth a memory."""


class Loads(NamedTuple):
    """Rows of a load: force, torque, and the rates of auxiliary variables."""

    force: tuple[int, ...]
    torque: tuple[int, ...]
    rates: tuple[int, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them."""
        return (*self.force, *self.torque, *self.rates)


def together(parts: Mapping[int, Dynamics]) -> tuple[Graph, dict[int, Loads]]:
    """The loads of several parts of a system of one body in one graph; parts without loads are left out."""
    g, found = Graph(), {}
    for part, one in parts.items():
        rows = [g.joined(one.graph, rows) for rows in (one.force, one.torque, one.rates)]
        loads = Loads(*map(tuple, rows))
        if any(g.value(a) != 0.0 for a in loads.rows):
            found[part] = loads
    return g, found


def added(g: Graph, loads: Sequence[Loads]) -> Loads:
    """The sum of loads."""
    return Loads(*(tuple(row_by_row(g, *(one[k] for one in loads))) for k in range(3)))


def row_by_row(g: Graph, *several: Sequence[int]) -> list[int]:
    """The sums of the first rows, of the second ones, and so on."""
    return [g.sum(*((a, 1.0) for a in rows)) for rows in zip(*several, strict=True)]


def commutator_of(g: Graph, loads: Loads, turns: Turns | None) -> Loads:
    """The commutator load of loads, and how the rates of auxiliary variables change along it."""
    # Common factors first: the derivative of a factored load has fewer terms, and differences of moments stay such.
    rows, n = factored(g, loads.rows), len(loads.force)
    return Loads(*map(tuple, derive.commutator(g, rows[:n], rows[n : 2 * n], rows[2 * n :], turns)))


# ------------------------------------------------------------------ text
def _powers(g: Graph, branches: Sequence[set[int]], shared: set[int]) -> dict[int, set[float]]:
    """Exponents of the shared rows of which several branches have negative powers."""
    found: dict[int, list[set[float]]] = {}
    for rows in branches:
        here: dict[int, set[float]] = {}
        for a in rows - shared:
            for b, e in g.rows[a][1] if g.rows[a][0] == "mul" else ():
                if b in shared and e < 0.0:
                    here.setdefault(b, set()).add(e)
        for b, exponents in here.items():
            found.setdefault(b, []).append(exponents)
    return {b: set().union(*sets) for b, sets in found.items() if len(sets) > 1}


def added_up(
    g: Graph, branches: Mapping[str, Loads], bodies: int, count: int,
    given: Callable[[Sequence[str]], tuple[list[str], dict[str, str]]], memory_at: int = -1,
) -> tuple[list[str], list[str], list[str]]:  # fmt: skip
    """Lines that add up loads, and the variables of forces and torques, 3 a body each, and of the rates."""
    flat = factored(g, [a for loads in branches.values() for a in loads.rows])
    width = L.LOAD * bodies + count
    rows = [flat[k : k + width] for k in range(0, len(flat), width)]
    needed = [set(g.needed(one)) for one in rows]
    shared = sorted(a for a in set().union(*needed) if sum(a in one for one in needed) > 1)
    read, expressions = given(g.names(flat))
    body = Lines(g, flat, expressions, at_once=False)
    body.write(shared)
    body.prepare(_powers(g, needed, set(shared)))
    acting = [f"{one}{k}" for one in "FT" for k in range(3 * bodies)]
    rates = [f"W{k}" for k in range(count)]
    values = [*acting, *rates]
    lines = [f"{one} = 0.0" for one in values]
    for condition, outputs in zip(branches, rows, strict=True):
        own = body.branch()
        own.write(g.needed(outputs))
        adding = [
            f"{one} = {one} + {own.names[a]}" for one, a in zip(values, outputs, strict=True) if g.value(a) != 0.0
        ]
        lines += adding and [f"if {condition}:", *(f"    {line}" for line in [*own.lines, *adding])]
    before = body.lines
    if memory_at >= 0 and len(before) >= FEW_LINES:
        before = _remembered(before, "\n".join(lines), memory_at)
    return [*read, *before, *lines], acting, rates


PLACE = (*(f"y[{L.POSITION + k}]" for k in range(3)), *(f"y[{L.ATTITUDE + k}]" for k in range(4)))
"""What loads at rest depend on beside the time."""
REMEMBERED = 15
"""Size of the memory, of loads at rest with their time and place."""


def _remembered(lines: Sequence[str], behind: str, at: int) -> list[str]:
    """Lines that take what is read behind them from the memory, where time and place are those of the last time."""
    used = set(re.findall(r"\bx\d+\b", behind))
    kept = [name for name in (line.partition(" = ")[0] for line in lines) if name in used]
    keys = ["1.0", "t", *PLACE]
    if len(keys) + len(kept) > REMEMBERED:
        return list(lines)
    same = " and ".join(f"parameters[{at + k}] == {key}" for k, key in enumerate(keys))
    places = [(f"parameters[{at + len(keys) + k}]", name) for k, name in enumerate(kept)]
    written = [*(f"parameters[{at + k}] = {key}" for k, key in enumerate(keys)),
               *(f"{slot} = {name}" for slot, name in places)]  # fmt: skip
    read = [f"{name} = {slot}" for slot, name in places]
    return [f"if {same}:", *(f"    {line}" for line in read), "else:", *(f"    {line}" for line in [*lines, *written])]


def text(
    g: Graph, branches: Mapping[str, Loads], count: int, several: bool, name: str = "loads", bodies: int = 1,
    before: int = 0, beside: bool = False, memory_at: int = -1,
) -> str:  # fmt: skip
    """The text of a role that adds up loads."""

    def given(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        read, found = of_flat_memory(names, bodies, of_each if several else plain, before)
        if several:
            found |= {one: f"y[{L.BODY} * N + {one[3:]}]" for one in names if one.startswith("aux")}
        return read, found

    lines, acting, rates = added_up(g, branches, bodies, count, given, memory_at)
    at = f"{L.LOAD} * i + " if several else ""
    places = [L.LOAD * (k // 3) + 3 * turns + k % 3 for turns in range(2) for k in range(3 * bodies)]
    columns = list(zip(*(loads.rows for loads in branches.values()), strict=True))
    for k, (slot, one) in enumerate(zip(places, acting, strict=True)):
        if not beside:
            lines.append(f"out[{at}{slot}] = {one}")
        elif columns and any(g.value(a) != 0.0 for a in columns[k]):
            lines.append(f"out[{at}{slot}] = out[{at}{slot}] + {one}")
    if several:
        lines += [f"out[6 * N + {k}] = out[6 * N + {k}] + {one}" for k, one in enumerate(rates)]
        lines = ["for i in range(N):", *(f"    {line}" for line in lines)]
        lines = [*(f"out[6 * N + {k}] = 0.0" for k in range(count)), *lines]
    else:
        lines += [f"out[{L.LOAD * bodies + k}] = {one}" for k, one in enumerate(rates)]
    head = f"def {name}(part, t, N, y, bodies, parameters, out):"
    return "\n".join([head, *(f"    {line}" for line in lines)]) + "\n"


def commutator_text(g: Graph, parts: Mapping[int, Loads], count: int, several: bool, turns: Turns | None = None) -> str:
    """The text of the commutator of all loads, and of those without the attraction."""
    rest = [loads for part, loads in parts.items() if part != L.ATTRACTION]
    branches = {}
    if parts:
        branches[f"part == {L.COMMUTATOR}"] = commutator_of(g, added(g, list(parts.values())), turns)
    if rest:
        branches[f"part == {L.COMMUTATOR_OF_REST}"] = commutator_of(g, added(g, rest), turns)
    return text(g, branches, count, several, "commutator", len(turns or "1"))
