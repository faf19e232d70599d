"""Types of single values in a scenario: numbers, vectors, what is one for all bodies or one for each, inertias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import pi
from types import UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from polhode.arguments.words import Unit

Number = Annotated[float, Field(allow_inf_nan=False)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
FUNCTION = r"^([^:]+\.py|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):[A-Za-z_]\w*$"
Function = Annotated[str, Field(pattern=FUNCTION)]
Numbers = list[Number]
States = dict[str, int | float | list[float] | dict[str, Any]]
Length = Annotated[Number, Unit("m")]
Place = Annotated[Vector, Unit("m")]
Time = Annotated[Number, Unit("s")]
Angle = Annotated[Number, Unit("rad")]
Rate = Annotated[Number, Unit("rad_s")]


class Table(BaseModel):
    """A table of a scenario: values keep their types, and every key is known."""

    model_config = ConfigDict(strict=True, extra="forbid")
    further: ClassVar[tuple[type[BaseModel], ...]] = ()
    """The tables that keys of any name may hold."""


NumberOrList = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[list[Number], Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<number>"),
]
NumberOrVector = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[Vector, Tag("<vector>")],
    Discriminator(lambda value: "<vector>" if isinstance(value, list) else "<number>"),
]


TimeOrEvent = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[dict[str, Any], Tag("<event>")],
    Discriminator(lambda value: "<event>" if isinstance(value, dict) else "<number>"),
]


NamedNumbers = dict[str, float | list[float]]
FunctionOrNumbers = Annotated[
    Annotated[Function, Tag("<function>")] | Annotated[NamedNumbers, Tag("<numbers>")],
    Discriminator(lambda value: "<numbers>" if isinstance(value, dict) else "<function>"),
]


def _one_or_each(value: Any) -> str:
    several = isinstance(value, list) and value[:1] and isinstance(value[0], list)
    return "<each>" if several else "<one>"


VectorOrList = Annotated[
    Annotated[Vector, Tag("<one>")] | Annotated[list[Vector], Tag("<each>")], Discriminator(_one_or_each)
]


def _kind_of_vectors(value: Any) -> str:
    if isinstance(value, int | float):
        return "<zero>"
    return "<vectors>" if isinstance(value, list) and value[:1] and isinstance(value[0], list) else "<vector>"


Velocities = Annotated[
    Annotated[Vector, Tag("<vector>")]
    | Annotated[list[Vector], Tag("<vectors>")]
    | Annotated[Number, Tag("<zero>"), Field(ge=0, le=0, description="0: at rest")],
    Discriminator(_kind_of_vectors),
]


Quaternions = Annotated[
    Annotated[Quaternion, Tag("<one>")] | Annotated[list[Quaternion], Tag("<each>")], Discriminator(_one_or_each)
]
NumbersOrRows = Annotated[
    Annotated[list[Number], Tag("<one>")] | Annotated[list[list[Number]], Tag("<each>")], Discriminator(_one_or_each)
]
Cells = Annotated[
    Annotated[int, Tag("<number>")] | Annotated[list[int], Tag("<list>"), Field(min_length=3, max_length=3)],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<number>"),
]
Words = Annotated[
    Annotated[str, Tag("<word>")] | Annotated[list[str], Tag("<words>")],
    Discriminator(lambda value: "<words>" if isinstance(value, list) else "<word>"),
]
WholeFromZero = Annotated[int, Field(ge=0)]


class Box(Table):
    """Homogeneous box."""

    mass: Number
    sides: Vector


class Ellipsoid(Table):
    """Homogeneous ellipsoid."""

    mass: Number
    semi_axes: Vector


class Sphere(Table):
    """Homogeneous sphere or shell."""

    mass: Number
    radius: Number
    inner_radius: Number = 0.0


class Cylinder(Table):
    """Homogeneous cylinder or tube, axis along z."""

    mass: Number
    radius: Number
    height: Number
    inner_radius: Number = 0.0


class Disk(Table):
    """Flat disk or ring, axis along z."""

    mass: Number
    radius: Number
    inner_radius: Number = 0.0


class ThinRod(Table):
    """Rod along z without thickness."""

    mass: Number
    length: Number


class PointMasses(Table):
    """Rigidly connected point masses."""

    masses: list[Number]
    positions: list[Vector]


class Body(Table):
    """Inertia from a shape: exactly one of the shapes, and the point it is about (default: the centre of mass)."""

    box: Box | None = None
    ellipsoid: Ellipsoid | None = None
    sphere: Sphere | None = None
    cylinder: Cylinder | None = None
    disk: Disk | None = None
    thin_rod: ThinRod | None = None
    point_masses: PointMasses | None = None
    about: Vector | None = None


def _kind_of_inertia(value: Any) -> str:
    if isinstance(value, Mapping | BaseModel):
        return "<body>"
    return "<tensor>" if isinstance(value, list) and value and isinstance(value[0], list) else "<moments>"


Inertia = Annotated[
    Annotated[Vector, Tag("<moments>")] | Annotated[Matrix, Tag("<tensor>")] | Annotated[Body, Tag("<body>")],
    Discriminator(_kind_of_inertia),
]


def tables_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A table and those in it, each once."""
    left, seen = [model], []
    while left:
        table = left.pop()
        if table not in seen:
            seen.append(table)
            yield table
            left += [inner for field in table.model_fields.values() for inner in models_in(field.annotation)]
            left += getattr(table, "further", ())


def tags_of(model: type[BaseModel]) -> tuple[str, ...]:
    """What the key ``type`` or ``kind`` of a table may be."""
    field = model.model_fields.get("type") or model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The tables that a key may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, Annotated, list):
        for inner in get_args(annotation):
            yield from models_in(inner)


WHOLE: Decimal | float = Decimal(1)
PLAIN = "kg kg_m_s kg_m kg_m2 kg_m2_s N_m2 N_per_m m2 A_m2 kg_m3 m2_kg"
"""Units of SI that no key has multiples of."""
IN_SI: dict[str, dict[str, Decimal | float]] = {
    **{unit: {unit: WHOLE} for unit in PLAIN.split()},
    "m": {"m": Decimal(1), "km": Decimal(1000)},
    "s": {"s": Decimal(1), "min": Decimal(60), "h": Decimal(3600), "d": Decimal(86400)},
    "m_s": {"m_s": Decimal(1), "km_s": Decimal(1000)},
    "m_s2": {"m_s2": Decimal(1), "km_s2": Decimal(1000)},
    "m3_s2": {"m3_s2": Decimal(1), "km3_s2": Decimal(10) ** 9},
    "N": {"N": Decimal(1), "mN": Decimal("0.001")},
    "N_m": {"N_m": Decimal(1), "mN_m": Decimal("0.001")},
    "N_m_s": {"N_m_s": Decimal(1), "mN_m_s": Decimal("0.001")},
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
