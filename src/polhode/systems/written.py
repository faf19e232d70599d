"""Roles written from the program of a system: its loads by parts, and the commutator of loads that have a potential.

The text of a program is about twice as fast as the role that was traced, and compiled sooner: counts, kinds and places
of numbers are literals in it. Other values of parameters are the same text. What cannot be traced keeps its role.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from polhode.kernel import jit
from polhode.programs.dynamics import Dynamics, of_roles
from polhode.programs.graph import Graph
from polhode.programs.parts import PARTS, commutator_text, loads_text, together
from polhode.programs.text import MATH
from polhode.programs.written import module_of

MOST_FUNCTIONS = 1
"""Most functions (exp, atan2, ...) in the ways of a role that are not taken: its text would compute them all."""

_kept: dict[Any, Any] = {}


def _parts_of(loads: Any, turns: Any, auxiliary: int, parameters: Any, changing: frozenset[int]) -> list[Dynamics]:
    """The programs of all parts of loads, of the first body; none where one of them cannot be traced."""
    made = [of_roles(loads, None, turns[:1], auxiliary, parameters, changing, part) for part in PARTS]
    return made if all(one.traced for one in made) else []


def by_parts(loads: Any, turns: Sequence[Any], auxiliary: int, parameters: Any, changing: frozenset[int]) -> bool:
    """Whether all parts of such loads can be traced; nothing is written."""
    return bool(_parts_of(loads, turns, auxiliary, parameters, changing))


def _function(kind: str, loads: Any, several: bool, auxiliary: int, write: Callable[..., str], *rest: Any) -> Any:
    """The function ``kind`` of the text that ``write`` makes of the parts of loads, kept by what they are."""
    made = _parts_of(loads, rest[0], auxiliary, *rest[1:])
    key = (kind, several, auxiliary, *(id(one.graph) for one in made))
    kept = _kept.get(key)
    if kept is None:
        found = None
        if made:
            g, parts = together(dict(zip(PARTS, made, strict=True)))
            if kind != "loads" or not _wasteful(g, [a for one in parts.values() for a in one.rows]):
                found = getattr(module_of(write(g, parts, auxiliary, several)), kind)
        kept = _kept[key] = (found, made)  # which keeps the graphs, so that no other gets the id of one
        while len(_kept) > jit.KEPT_KERNELS:
            _kept.pop(next(iter(_kept)), None)
    return kept[0]


def loads_role(
    loads: Any, turns: Sequence[Any], auxiliary: int, parameters: Any, changing: frozenset[int]
) -> Callable[..., Any] | None:
    """The role of loads that honour parts, of one body or of several that do not act on each other, from its program.

    None where it cannot be traced, or where a program would compute much that the role leaves out."""
    return _function("loads", loads, len(turns) > 1, auxiliary, loads_text, turns, parameters, changing)  # type: ignore[no-any-return]


def commutator_role(
    loads: Any, turns: Sequence[Any], auxiliary: int, parameters: Any, changing: frozenset[int]
) -> Callable[..., Any] | None:
    """The commutator of such loads, which all have a potential: of all under COMMUTATOR, of those without the
    attraction under COMMUTATOR_OF_REST. None where the loads cannot be traced."""
    return _function("commutator", loads, len(turns) > 1, auxiliary, commutator_text, turns, parameters, changing)  # type: ignore[no-any-return]


def _wasteful(g: Graph, outputs: Sequence[int]) -> bool:
    """Whether many functions are computed for ways that may not be taken."""
    always: set[int] = set()
    stack = list(outputs)
    while stack:
        a = stack.pop()
        if a not in always:
            always.add(a)
            row = g.rows[a]
            stack.extend(row[2][:1] if row[:2] == ("fun", "choose") else g.arguments(a))
    rest = set(g.needed(outputs)) - always
    return sum(g.rows[a][0] == "fun" and g.rows[a][1] in MATH for a in rest) > MOST_FUNCTIONS
