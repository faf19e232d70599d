"""The loads that all bodies of a system have by a compiled role of their own, and those of a sum beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.systems.loads_roles import is_derived, no_loads, roles_of_both
from polhode.systems.record import AuxiliaryVariable, System
from polhode.systems.summands import Structure


@dataclass(frozen=True)
class Core:
    """Loads of all bodies that a compiled role gives; their parameters are the first ones."""

    loads: Callable[..., Any]  # loads, potential: the roles
    potential: Callable[..., Any] | None
    parameters: Any  # their parameters, scratch memory among them
    provides: frozenset[str]  # their capabilities
    conserves: tuple[str, ...]  # what is conserved without loads beside them
    auxiliary: tuple[AuxiliaryVariable, ...] = ()  # their works
    alone: bool = False  # alone, all_potential: as ``each_alone`` and ``all_potential`` of a system of one body
    all_potential: bool = False

    @classmethod
    def of(cls, system: System) -> Core:
        """The core that a system is to loads beside it."""
        has = next(iter(system.functions), "") or next((one.quantity for one in system.auxiliary if one.read), "")
        if has:
            raise InvalidInput(f"{system.name} has {has} and loads; put it together by polhode.system(...), or make a "
                               "load of each function")  # fmt: skip
        numbers = np.concatenate([system.parameters, np.zeros(system.memory)])
        alone = system.N == 1 and (system.each_alone or not system.auxiliary)
        free = system.loads is no_loads or is_derived(system.loads)
        loads: Any = system.loads
        potential: Any = system.potential
        return cls(loads, potential, numbers, frozenset(system.provides), system.conserves, system.auxiliary, alone,
                   free or system.all_potential)  # fmt: skip

    def attributes(self, structure: Structure, more: tuple[AuxiliaryVariable, ...], still: bool) -> dict[str, Any]:
        """The attributes of a system with these loads and those of a structure beside them, which bring further
        auxiliary variables; ``still`` where none of these is read."""
        loads, potential = roles_of_both(
            "split_loads" in self.provides, self.loads, self.potential, structure.loads, structure.potential
        )
        also = ("energy",) * structure.conservative + structure.conserves
        also += ("vertical_angular_momentum",) * (
            not {"angular_momentum_space", "total_angular_momentum"}.isdisjoint(also)
        )
        kept = {"mutual_gravity", "central_gravity"} & self.provides
        unmoved = {"velocity_independent"} if still and not structure.moving else set()
        return {
            "loads": loads, "potential": potential, "auxiliary": (*self.auxiliary, *more),
            "conserves": tuple(name for name in self.conserves if name in also), "each_alone": self.alone and still,
            "all_potential": self.all_potential and structure.all_potential,
            "provides": kept | {"split_loads"} | (unmoved & self.provides),
        }  # fmt: skip
