"""Which member of a sweep has which values: grids, lists and draws, each member known by its number alone.

Members are counted through all combinations: of the grid, whose last key varies fastest, of the list, and of the draws,
which are the same ones for every combination of the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from polhode.ensembles import designs
from polhode.ensembles.sampling import KINDS, Distribution, from_record
from polhode.errors import InvalidInput, shown

WAYS = ("random", "latin_hypercube", "sobol")
"""Tables of a [sweep] from which is drawn."""
SPAN = {"from", "to", "count"}
MOST = 2**53
"""Members, at most."""


@dataclass(frozen=True)
class Axis:
    """Keys whose values change together, and these values, one tuple for each place."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Design:
    """The members of a sweep."""

    axes: tuple[Axis, ...]  # of the grid, then the list
    drawn: dict[str, Distribution]  # what is drawn, by key
    count: int  # how many draws; 1 where nothing is drawn
    seed: int  # of the draws
    way: str  # how they are drawn, one of ``WAYS``

    @classmethod
    def of(cls, table: Mapping[str, Any], where: str) -> Design:
        """The design of a table [sweep] whose keys are known to be right."""
        axes = [Axis((name,), [(value,) for value in _values(given, f"{where}: sweep.grid: {name}")])
                for name, given in _entries(table.get("grid") or {})]  # fmt: skip
        listed = {
            name: _values(given, f"{where}: sweep.list: {name}") for name, given in _entries(table.get("list") or {})
        }
        lengths = {name: len(values) for name, values in listed.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InvalidInput(
                f"{where}: sweep.list: values that belong together are as many for each key (got {told})"
            )
        if listed:
            axes.append(Axis(tuple(listed), list(zip(*listed.values(), strict=True))))
        ways = [way for way in WAYS if table.get(way)]
        if len(ways) > 1:
            raise InvalidInput(f"{where}: sweep: {' and '.join(ways)} are given; keep one of them")
        found = {name: drawn(given, f"{where}: sweep.{way}: {name}")
                 for way in ways for name, given in _entries(table[way])}  # fmt: skip
        if found and table.get("count") is None:
            raise InvalidInput(f"{where}: sweep: {ways[0]} needs to know how many; write count = 1000 or the like")
        if not found and table.get("count") is not None:
            raise InvalidInput(f"{where}: sweep: count is given, but nothing is drawn; leave it out")
        design = cls(tuple(axes), found, table.get("count") or 1, table.get("seed", 0), ways[0] if ways else "random")
        names = design.names
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InvalidInput(f"{where}: sweep: {twice[0]} is given twice; keep one of them")
        inside = [(a, b) for a in names for b in names if b.startswith(f"{a}.")]
        if inside:
            raise InvalidInput(f"{where}: sweep: {inside[0][1]} is a part of {inside[0][0]}; keep one of them")
        if not names:
            raise InvalidInput(f"{where}: nothing varies; write a table [sweep.grid], [sweep.list] or [sweep.random] "
                               "with keys such as \"run.step\" = [0.1, 0.05]")  # fmt: skip
        if design.members > MOST:
            raise InvalidInput(f"{where}: sweep: {design.members:.3g} members are more than numbers count, {MOST:.3g}")
        return design

    @property
    def names(self) -> list[str]:
        """All keys that vary."""
        return [*(name for axis in self.axes for name in axis.names), *self.drawn]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many places the axes have, and how many draws there are."""
        return (*(len(axis.rows) for axis in self.axes), *([self.count] if self.drawn else []))

    @property
    def members(self) -> int:
        """How many there are."""
        return prod(self.shape)

    def columns(self, first: int, last: int) -> dict[str, list[Any]]:
        """The values of members from ``first`` to before ``last`` by key, as a scenario has them."""
        found: dict[str, list[Any]] = {}
        left = np.arange(first, last, dtype=np.int64)
        draws = left % self.count
        left = left // self.count
        for axis in reversed(self.axes):
            at, left = left % len(axis.rows), left // len(axis.rows)
            found |= {name: [axis.rows[k][i] for k in at.tolist()] for i, name in enumerate(axis.names)}
        if self.drawn:
            found |= self._draws(draws)
        return {name: found[name] for name in self.names}

    def member(self, number: int) -> dict[str, Any]:
        """The values of one member by key."""
        return {name: values[0] for name, values in self.columns(number, number + 1).items()}

    def _draws(self, numbers: Any) -> dict[str, list[Any]]:
        """What is drawn for draws that follow each other, the first one after the last one."""
        found: dict[str, list[Any]] = {name: [] for name in self.drawn}
        widths = {name: one.dimension for name, one in self.drawn.items()}
        parts = [(int(numbers[0]), int(numbers[-1]) + 1)]
        if len(numbers) >= self.count:
            parts = [(0, self.count)]
        elif parts[0][0] >= parts[0][1]:
            parts = [(parts[0][0], self.count), (0, parts[0][1])]
        for first, last in parts:
            rows = points(self.way, self.seed, widths, first, last, self.count)
            for name, one in self.drawn.items():
                found[name] += one.of(rows[name]).tolist()
        if len(numbers) >= self.count:
            return {name: [values[k] for k in numbers.tolist()] for name, values in found.items()}
        return found


def _entries(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and what is said of them; ``run.step`` may be written as one word in quotes, or as tables in tables."""
    for name, value in table.items():
        if isinstance(value, Mapping) and not is_record(value) and not set(value) >= SPAN:
            yield from _entries(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _values(given: Any, where: str) -> list[Any]:
    """The values of a list, or of { from, to, count }."""
    if isinstance(given, list) and given:
        return given
    if not isinstance(given, Mapping) or not SPAN <= set(given) <= SPAN | {"spacing"}:
        raise InvalidInput(f"{where}: expected a list of values, or {{ from = 1.0, to = 2.0, count = 11 }}, with "
                           f"spacing = \"log\" or without (got {shown(given)})")  # fmt: skip
    start, stop, count = given["from"], given["to"], given["count"]
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (start, stop))
    if not numbers or not np.isfinite([start, stop]).all() or isinstance(count, bool) or not isinstance(count, int):
        raise InvalidInput(f"{where}: from and to are numbers, count a whole one (got {shown(dict(given))})")
    if count < 2:
        raise InvalidInput(f"{where}: count is 2 or more (got {count}); write a list of one value instead")
    if given.get("spacing", "log") != "log":
        raise InvalidInput(f'{where}: spacing may be "log"; leave it out for even spacing')
    if "spacing" in given:
        if not (start > 0 and stop > 0):
            raise InvalidInput(f'{where}: from and to must be positive where the spacing is "log"')
        inner = [start * (stop / start) ** (k / (count - 1)) for k in range(1, count - 1)]
    elif isinstance(start, int) and isinstance(stop, int) and (stop - start) % (count - 1) == 0:
        inner = [start + (stop - start) // (count - 1) * k for k in range(1, count - 1)]
    else:
        inner = [start + (stop - start) * (k / (count - 1)) for k in range(1, count - 1)]
    return [start, *inner, stop]


# ------------------------------------------------------------------ draws
def points(way: str, seed: int, widths: Mapping[str, int], first: int, stop: int, count: int) -> dict[str, Any]:
    """Points of draws ``first`` to ``stop`` of ``count``: of each name an array (stop - first, width) in [0, 1)."""
    return designs.Design(way, count, widths, seed).rows(first, stop)


def is_record(value: Any) -> bool:
    """Whether a table says what is drawn, and is no table of further keys, some of which have the names of kinds."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, arguments),) = value.items()
    if kind not in KINDS or not isinstance(arguments, Mapping):
        return False
    return kind not in ("attitude", "inertia") or set(arguments) <= set(inspect.signature(KINDS[kind]).parameters)


def drawn(given: Any, where: str) -> Distribution:
    """The distribution of a key."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InvalidInput(f"{where}: expected a distribution, such as {{ uniform = {{ low = 1.0, high = 2.0 }} }}; "
                           f"known here: {', '.join(KINDS)} (got {shown(given)})")  # fmt: skip
    try:
        return from_record(given)
    except (InvalidInput, TypeError) as wrong:
        raise InvalidInput(f"{where}: {wrong}") from None
