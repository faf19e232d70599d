"""Units in the names of keys: ``step_min``, ``mu_km3_s2``, ``inclination_deg``."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import pi
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from polhode.arguments.words import Unit

IN_SI: dict[str, dict[str, Decimal | float]] = {
    "m": {"m": Decimal(1), "km": Decimal(1000)},
    "s": {"s": Decimal(1), "min": Decimal(60), "h": Decimal(3600), "d": Decimal(86400)},
    "kg": {"kg": Decimal(1)},
    "m_s": {"m_s": Decimal(1), "km_s": Decimal(1000)},
    "m_s2": {"m_s2": Decimal(1), "km_s2": Decimal(1000)},
    "m3_s2": {"m3_s2": Decimal(1), "km3_s2": Decimal(10) ** 9},
    "kg_m_s": {"kg_m_s": Decimal(1)},
    "kg_m": {"kg_m": Decimal(1)},
    "kg_m2": {"kg_m2": Decimal(1)},
    "kg_m2_s": {"kg_m2_s": Decimal(1)},
    "N": {"N": Decimal(1), "mN": Decimal("0.001")},
    "N_m2": {"N_m2": Decimal(1)},
    "N_per_m": {"N_per_m": Decimal(1)},
    "N_m": {"N_m": Decimal(1), "mN_m": Decimal("0.001")},
    "N_m_s": {"N_m_s": Decimal(1), "mN_m_s": Decimal("0.001")},
    "m2": {"m2": Decimal(1)},
    "A_m2": {"A_m2": Decimal(1)},
    "kg_m3": {"kg_m3": Decimal(1)},
    "m2_kg": {"m2_kg": Decimal(1)},
    "per_m": {"per_m": Decimal(1), "per_km": Decimal("0.001")},
    "rad": {"rad": 1.0, "deg": pi / 180.0},
    "rad_s": {"rad_s": 1.0, "deg_s": pi / 180.0},
}
"""Endings of keys, and how much of the SI unit each has; a decimal where it is exact."""


def unit_keys(model: type[BaseModel]) -> dict[str, tuple[str, str, Decimal | float]]:
    """Keys of a table with a unit in their names: the plain key, the unit, and how much of SI's it has."""
    found = {}
    for name, field in model.model_fields.items():
        units = [mark for mark in (*field.metadata, *marks_of(field.annotation)) if isinstance(mark, Unit)]
        for ending, factor in IN_SI[units[0].name].items() if units else ():
            found[f"{name}_{ending}"] = (name, ending, factor)
    return found


def marks_of(annotation: Any) -> Iterator[Any]:
    """What is written behind the types of a key, but not inside lists and tables."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from (*marks, *marks_of(inner))
    elif get_origin(annotation) in (Union, UnionType):
        for inner in get_args(annotation):
            yield from marks_of(inner)


def in_units_of(value: Any, factor: Decimal | float) -> Any:
    """Numbers, in lists or not, times a factor, rounded once; what is no number stays, to be refused later."""
    if isinstance(value, list):
        return [in_units_of(part, factor) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float) or factor == 1:
        return value
    return float(Decimal(repr(value)) * factor) if isinstance(factor, Decimal) else value * factor
