"""The program of a sum as runs ask for it: no role is traced again, so that a sum may decide as often as it likes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from polhode.kernel import layout as L
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.parts import Loads, Turns, added, commutator_text
from polhode.programs.written import module_of


@dataclass(frozen=True, eq=False)
class Program:
    """The loads of a sum that is written out, by parts."""

    graph: Graph  # all rows; their inputs aux0, aux1, ... are the states that loads read
    loads: Mapping[int, Loads]  # loads by the part of them
    coupling: Loads  # what is left out WITHOUT_COUPLING
    potential: int | None  # row of the potential energy
    before: int  # how many auxiliary variables stand before the states
    fixed: Mapping[str, float]  # parameters by which functions decide
    turns: Turns  # about which axes each body turns
    _kept: dict[int, Dynamics] = field(default_factory=dict)

    @cached_property
    def of_loads(self) -> Program:
        """The same of loads that have no potential."""
        return replace(self, potential=None, _kept={})

    @cached_property
    def commutator(self) -> Any:
        """The commutator of loads that all have a potential, by parts; a template."""
        written = commutator_text(self.graph, self.loads, len(self.coupling.rates), False, self.turns)
        return module_of(written).commutator

    def __call__(self, part: int) -> Dynamics:
        """The loads of a part."""
        if part not in self._kept:
            g, asked = self.graph, [one for bit, one in self.loads.items() if part & bit]
            if part & L.MOVING and not part & L.WITHOUT_COUPLING:
                asked.append(self.coupling)
            nothing = Loads(*((g.const(0.0),) * len(rows) for rows in self.coupling))
            total = added(g, [nothing, *asked])
            rows = [*total.rows, *([] if self.potential is None else [self.potential])]
            states = {g.input(name): g.input(f"aux{self.before + int(name[3:])}")
                      for name in g.names(rows) if name.startswith("aux")}  # fmt: skip
            rows = g.rebuilt(rows, inputs=states) if self.before else rows
            n, end = len(total.force), len(total.rows)
            self._kept[part] = Dynamics(g, n // 3, tuple(rows[:n]), tuple(rows[n : 2 * n]), tuple(rows[2 * n : end]),
                                       rows[end] if rows[end:] else None, self.fixed)  # fmt: skip
        return self._kept[part]
