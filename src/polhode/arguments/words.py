"""Annotations for the arguments of systems, forces, events and recipes of initial states: what a scenario may give for
each, and its unit.

    def toy(mass: Mass = 1.0, field: Vector | None = None, torque: Function | None = None) -> System:

A builder's annotated signature, with the section Parameters of its docstring, is all that is said about its arguments:
the tables of scenarios that check them, the JSON schema, keys with a unit such as ``mass_kg`` and ``polhode systems``
follow from it. Beside the words below, ``float``, ``int``, ``bool``, ``str`` and ``Literal`` of strings are understood,
each also with ``| None``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cache
from math import pi
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from polhode.arguments import ArrayLike
from polhode.errors import InvalidInput


class Form(Enum):
    """What a scenario may give for an argument that no plain type describes."""

    NUMBER = "a number"
    NUMBER_OR_INFINITY = "a number, or inf"
    TIME_OR_EVENT = "a time, or the table of an event with a kind"
    NUMBERS = "a list of numbers"
    NUMBER_OR_NUMBERS = "a number, or a list of numbers"
    ROWS = "a list of lists of numbers"
    VECTOR = "3 numbers"
    NUMBER_OR_VECTOR = "a number, or 3 numbers"
    VECTORS = "a list of vectors"
    VECTOR_OR_VECTORS = "3 numbers, or a list of vectors"
    INERTIA = "3 principal moments in any order, a 3x3 tensor, or a shape such as { box = { mass, sides } }"
    FUNCTION = "'file.py:function', a Python file beside the scenario"
    FUNCTION_OR_NUMBERS = "'file.py:function', a Python file beside the scenario, or a table of names to numbers"
    FORCES = "a list of tables with a kind"
    LOADS = "a list of tables with a kind, and a name"
    QUATERNIONS = "4 numbers (w, x, y, z), or a list of them"
    VELOCITIES = "3 numbers, a list of vectors, or 0"
    NUMBERS_OR_ROWS = "a list of numbers, or a list of such lists"
    CELLS = "a whole number, or 3 whole numbers"
    INDICES = "a list of whole numbers"
    SEED = "a whole number, 0 or more"
    WORDS = "a word, or a list of words"
    FILE = "the name of a file, relative to the scenario"
    NAMED_NUMBERS = "a table of names to a number or a list of numbers"
    STATES = "a table of names to a whole number, to a list of numbers, or to a table with size or start, and unit"


Built = TypeVar("Built", bound=Callable[..., Any])
FUNCTIONS = (Form.FUNCTION, Form.FUNCTION_OR_NUMBERS)  # what may be a function of the user's


@dataclass(frozen=True)
class Unit:
    """The SI unit of an argument, as keys of a scenario spell it: ``m3_s2``, ``per_m``."""

    name: str


@dataclass(frozen=True)
class Beside:
    """An argument means something beside one of these others only."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class ListOf:
    """A list of what a function makes, or of its arguments."""

    build: Callable[..., Any]


@dataclass(frozen=True)
class TableOf:
    """The arguments of a function, as one mapping."""

    build: Callable[..., Any]


Mass = Annotated[float, Unit("kg")]
Length = Annotated[float, Unit("m")]
Time = Annotated[float, Unit("s")]
Speed = Annotated[float, Unit("m_s")]
Acceleration = Annotated[float, Unit("m_s2")]
Newtons = Annotated[float, Unit("N")]
Stiffness = Annotated[float, Unit("N_per_m")]
Angle = Annotated[float, Unit("rad")]
Rate = Annotated[float, Unit("rad_s")]
GravitationalParameter = Annotated[float, Unit("m3_s2")]
Permittivity = Annotated[float, Form.NUMBER_OR_INFINITY]
Numbers = Annotated[ArrayLike, Form.NUMBERS]
Rows = Annotated[ArrayLike, Form.ROWS]
NumberOrNumbers = Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS]
Masses = Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("kg")]
Vector = Annotated[ArrayLike, Form.VECTOR]
NumberOrVector = Annotated[ArrayLike, Form.NUMBER_OR_VECTOR]
Position = Annotated[ArrayLike, Form.VECTOR, Unit("m")]
Positions = Annotated[ArrayLike, Form.VECTORS, Unit("m")]
Times = Annotated[ArrayLike, Form.NUMBERS, Unit("s")]
Vectors = Annotated[ArrayLike, Form.VECTORS]
VectorOrVectors = Annotated[ArrayLike, Form.VECTOR_OR_VECTORS]
Inertia = Annotated[Any, Form.INERTIA, Unit("kg_m2")]
Places = Annotated[ArrayLike, Form.VECTOR_OR_VECTORS, Unit("m")]
Velocities = Annotated[ArrayLike, Form.VELOCITIES, Unit("m_s")]
Momenta = Annotated[ArrayLike, Form.VECTOR_OR_VECTORS, Unit("kg_m_s")]
AngularVelocities = Annotated[ArrayLike, Form.VECTOR_OR_VECTORS, Unit("rad_s")]
AngularMomenta = Annotated[ArrayLike, Form.VECTOR_OR_VECTORS, Unit("kg_m2_s")]
Quaternions = Annotated[ArrayLike, Form.QUATERNIONS]
NumbersOrRows = Annotated[ArrayLike, Form.NUMBERS_OR_ROWS]
Cells = Annotated[Any, Form.CELLS]
Indices = Annotated[Sequence[int], Form.INDICES]
Seed = Annotated[int, Form.SEED]
States = Annotated[Mapping[str, Any], Form.STATES]
File = Annotated[str, Form.FILE]
Function = Annotated[Callable[..., Any], Form.FUNCTION]
Forces = Annotated[Sequence[Any], Form.FORCES]
Loads = Annotated[Any, Form.LOADS]


@dataclass(frozen=True)
class Argument:
    """One argument of a builder."""

    name: str
    # what a scenario may give: a form, a list of what a function makes, a table of its arguments, ``float``, ``int``,
    # ``bool``, ``str``, or one of some strings
    type: Any
    unit: str | None  # SI unit, as in the ending of its keys
    description: str  # one sentence or more, without the final stop
    required: bool  # whether it has no default
    default: object  # its default; None where it has none, or is left out by default
    beside: tuple[str, ...] = ()  # other arguments, of which it needs one; empty where it stands alone


@cache
def arguments_of(build: Callable[..., Any], supplied: tuple[str, ...] = ()) -> dict[str, Argument]:
    """The arguments of a builder by name, from its annotated signature and its docstring."""
    signature = inspect.signature(build)
    hints, described = get_type_hints(build, include_extras=True), descriptions(build)
    found = {}
    for name, parameter in signature.parameters.items():
        if name in supplied:
            continue
        kind, marks = _unwrapped(hints.get(name, Any))
        forms = [mark for mark in marks if isinstance(mark, Form | ListOf | TableOf)]
        unit = next((mark.name for mark in marks if isinstance(mark, Unit)), None)
        if forms:
            kind = forms[0]
        elif kind not in (float, int, bool, str) and get_origin(kind) is not Literal:
            stated = hints.get(name, "nothing")
            raise InvalidInput(
                f"argument {name!r} of {getattr(build, '__name__', build)} is annotated as "
                f"{getattr(stated, '__name__', stated)}, "
                "which says nothing to a scenario; annotate it with a word of polhode.arguments.words, such as Mass or "
                "Vector, or with float, int, bool, str or a Literal"
            )
        needed = parameter.default is parameter.empty
        beside = next((mark.names for mark in marks if isinstance(mark, Beside)), ())
        found[name] = Argument(
            name, kind, unit, described.get(name, ""), needed, None if needed else parameter.default, beside
        )
    return found


PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n---|\Z)", re.M | re.S)


def paragraphs(function: Callable[..., Any]) -> dict[tuple[str, ...], str]:
    """The section Parameters of a docstring, by the names of the arguments that each paragraph is about."""
    section = PARAMETERS.search(inspect.getdoc(function) or "")
    return {
        tuple(re.findall(r"\w+", one.partition("\n")[0].partition(" : ")[0])): one
        for one in (re.split(r"\n(?=\S)", section[1]) if section else ())
    }


def described_by(*others: Callable[..., Any]) -> Callable[[Built], Built]:
    """Decorator: arguments that the section Parameters leaves out are described as by these functions."""

    def described(function: Built) -> Built:
        text, order = inspect.getdoc(function) or "", [*inspect.signature(function).parameters]
        every, all_of_them = dict[tuple[str, ...], str](), tuple[Callable[..., Any], ...]((function, *others))
        for one in all_of_them:
            left = {*order}.difference(*every)
            every |= {names: paragraph for names, paragraph in paragraphs(one).items() if left.issuperset(names)}
        whole = "\n".join(every[names] for names in sorted(every, key=lambda names: order.index(names[0])))
        function.__doc__ = PARAMETERS.sub(lambda found: found[0].replace(found[1], whole), text)
        return function

    return described


def descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """What the section Parameters of a docstring says of each argument, in one line, without marks and final stop."""
    found: dict[str, str] = {}
    for names, paragraph in paragraphs(function).items():
        text = " ".join(paragraph.partition("\n")[2].replace("``", "").split()).removesuffix(".")
        # without what a scenario has not, or comes next
        found |= dict.fromkeys(names, re.sub("; (an astropy quantity is [a-z ]+ SI|or)$", "", text))
    return found


def summary(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").split("\n")[0]


def _unwrapped(annotation: object) -> tuple[Any, list[Any]]:
    """The type within ``Annotated`` and ``| None``, text of what else may be an object, and all marks on the way."""
    if get_origin(annotation) is Annotated:
        kind, *marks = get_args(annotation)
        kind, inner = _unwrapped(kind)
        return kind, marks + inner
    if get_origin(annotation) in (Union, UnionType):
        inside = [part for part in get_args(annotation) if part is not NoneType]
        if len(inside) == 1 or str in inside:
            return _unwrapped(str if str in inside else inside[0])
    return annotation, []


# ------------------------------------------------------------------ units behind names
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


SPELLED = {
    "m_s": "m s-1", "m_s2": "m s-2", "m3_s2": "m3 s-2", "rad_s": "rad s-1", "per_m": "m-1", "N_per_m": "N m-1",
    "N_m2": "N m-2", "kg_m3": "kg m-3", "m2_kg": "m2 kg-1", "kg_m_s": "kg m s-1", "kg_m2_s": "kg m2 s-1",
}  # fmt: skip


def spelled(unit: str) -> str:
    """A unit as variables of a trajectory have it: ``m3 s-2`` of ``m3_s2``."""
    return SPELLED.get(unit, unit.replace("_", " "))


def in_units_of(value: object, factor: Decimal | float) -> object:
    """Numbers, in lists or not, times a factor, rounded once; what is no number stays, to be refused later."""
    if isinstance(value, list):
        return [in_units_of(part, factor) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float) or factor == 1:
        return value
    return float(Decimal(str(value)) * factor) if isinstance(factor, Decimal) else value * factor


def endings_of(arguments: Mapping[str, Argument]) -> dict[str, tuple[str, str, Decimal | float]]:
    """Names with a unit behind them: the plain name, the unit, and how much of SI's it has."""
    return {
        f"{name}_{ending}": (name, ending, factor)
        for name, one in arguments.items() if one.unit for ending, factor in IN_SI[one.unit].items()
    }  # fmt: skip


def spelled_like(wrong: str, endings: Mapping[str, tuple[str, str, Decimal | float]]) -> list[str]:
    """The names, plain and with a unit, that may be meant by one with another ending."""
    near = {name: base for name, (base, _, _) in endings.items() if wrong.startswith(f"{base}_")}
    return [*dict.fromkeys(near.values()), *near]
