"""Rows that a kernel computes from the numbers of a system: what a table holds, which of its intervals is meant.

    ("fun", name, (row, ...))             with a name of PRIMITIVES

A primitive has its own rules in the place of formulas: its value in plain Python, the text of a call, the slopes by its
arguments. One without slopes is a step: its derivatives are zero, and in a Taylor series it is what it is at the start
of the step, which must end where it would change (``edges``). A table is two of these and formulas: ``segment`` finds
the row of the table, ``entry`` reads what is there, and the polynomial between two rows of it is a program like any
other, with all its derivatives and its series.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polhode.kernel.access import segment, whole

MEMORY, FIRST = "numbers", "first"
"""Names, among the expressions of inputs, of the pointer to the numbers and of the index of the first ("at + "); by
default ``parameters``, whole."""


class Numbers:
    """The numbers of a system by index, from values of inputs p0, p1, ... by name."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def __getitem__(self, k: int) -> Any:
        return self.given[f"p{k}"]


@dataclass(frozen=True)
class Primitive:
    """The rules of one kind of row."""

    # ``value(numbers, *arguments) -> float`` in plain Python, where ``numbers[k]`` is number k of the system
    value: Callable[..., float]
    # the expression, with ``{p}`` for the pointer to the numbers, ``{first}`` before an index, ``{0}``, ``{1}``, ...
    # for the arguments
    text: str
    # ``slopes(graph, row, arguments) -> [(argument, row of the partial derivative), ...]``; None of a step
    slopes: Callable[..., Any] | None = None
    # of a step: expressions of the values of its last argument between which it does not change, with ``{value}`` for
    # its own value
    edges: tuple[str, ...] = ()
    helper: Callable[..., Any] | None = None  # the kernel that the text calls by its name
    several: bool = False  # whether it is several numbers, of which rows of ``component`` are one

    def written(self, given: Mapping[str, str], *arguments: str) -> str:
        """The expression of a row."""
        return self.text.format(*arguments, p=given.get(MEMORY, "parameters"), first=given.get(FIRST, ""))

    def bounds(self, given: Mapping[str, str], value: str, *arguments: str) -> list[str]:
        """Expressions of the edges, of a step whose value is known."""
        p, first = given.get(MEMORY, "parameters"), given.get(FIRST, "")
        return [edge.format(*arguments, p=p, first=first, value=value) for edge in self.edges]


PRIMITIVES: dict[str, Primitive] = {
    "segment": Primitive(
        lambda p, at, stride, count, x: float(segment(p, int(at), int(stride), int(count), x)),
        "float(segment({p}, {first}whole({0}), whole({1}), {2}, {3}))",
        edges=(
            "{p}[{first}whole({0} + {1} * {value})] if {value} > 0.0 else -1e999",
            "{p}[{first}whole({0} + {1} * ({value} + 1.0))] if {value} < {2} - 1.0 else 1e999",
        ),
        helper=segment,
    ),
    "entry": Primitive(lambda p, k: float(p[int(k)]), "{p}[{first}whole({0})]", helper=whole),
}  # fmt: skip
"""By name: ``segment`` of a table that begins at an index, with a stride, a number of rows and the value that is looked
up, as the kernel of this name; ``entry``, the number at an index."""
KERNELS: dict[str, Any] = {}
"""Kernels that are called as they are, see ``programs.opaque``: the modules that they are in, or they themselves."""


def add_primitive(name: str, made: Primitive) -> None:
    """Add a kind of row."""
    assert name not in PRIMITIVES
    PRIMITIVES[name] = made


def component(k: int) -> str:
    """The kind of row that is one of several numbers."""
    name = f"component{k}"
    if name not in PRIMITIVES:
        text = f"{{0}}[{k}]"
        made = Primitive(lambda numbers, several: several[k], text, lambda g, row, several: [(several[0], row)])
        add_primitive(name, made)
    return name
