"""Liquids of one kind of molecule, which are a load on pairs and what acts besides."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any

from polhode.arguments import number
from polhode.errors import InvalidInput
from polhode.loads import Load
from polhode.systems.molecules import constants_of, overlapping, thermodynamics
from polhode.systems.record import System
from polhode.systems.structure import interacting
from polhode.systems.sum import with_loads
from polhode.systems.summands import Within


def reaction(permittivity: float | None, cutoff: float) -> float:
    """The factor 2 (e - 1) / ((2 e + 1) cutoff^3) of a reaction field; 0 without one."""
    if permittivity is None:
        return 0.0
    if not cutoff:
        raise InvalidInput("reaction_field is given without cutoff, beyond which it would begin; give both")
    if isinstance(permittivity, float) and permittivity == inf:
        return 1.0 / cutoff**3
    e = number(permittivity, "reaction_field")
    if not 1.0 <= e <= 1e100:
        raise InvalidInput(f"reaction_field is {e:g}; a relative permittivity is 1 or more, inf that of a conductor")
    return 2.0 * (e - 1.0) / ((2.0 * e + 1.0) * cutoff**3)


def liquid(
    name: str, arguments: Mapping[str, Any], load: Load, within: Within, sigma: float, molecules: tuple[Any, ...],
    loads: object, units_of: tuple[float, float] = (1.0, 1.0), constants: Mapping[str, Any] = MappingProxyType({}),
    **attributes: Any,
) -> System:  # fmt: skip
    """Molecules of this diameter under a load on pairs and others, with Boltzmann's and Coulomb's constants."""
    mass, moments, frames, dipole = molecules  # (N,), (N, 3), (N, 4), and in the user's body frames (N, 3)
    alone = System(
        name=name, arguments=arguments, mass=mass, moments=moments, frames=frames, boltzmann=units_of[0],
        check=overlapping(sigma, within.edges), quantities=thermodynamics(lambda: alone, dipole),
        constants={**constants_of(mass, moments, frames, dipole, *units_of), **constants}, **attributes,
        **interacting(load, len(mass), within),
    )  # fmt: skip
    return with_loads(alone, loads)
