"""Tables of a scenario made from the annotated signatures of what they call: systems, forces and events."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from polhode.runs.scenario.values import (
    Function,
    Inertia,
    Number,
    NumberOrList,
    NumberOrVector,
    Numbers,
    Table,
    Vector,
    VectorOrList,
)
from polhode.systems import SYSTEMS
from polhode.systems.events import EVENTS
from polhode.systems.forces import FORCES
from polhode.systems.words import Argument, Form, ListOf, TableOf, Unit, arguments_of, summary

TYPES: dict[Any, Any] = {
    float: Number, Form.NUMBER: Number, Form.NUMBER_OR_INFINITY: float, Form.NUMBERS: Numbers,
    Form.NUMBER_OR_NUMBERS: NumberOrList, Form.ROWS: list[Numbers], Form.VECTOR: Vector,
    Form.NUMBER_OR_VECTOR: NumberOrVector, Form.VECTORS: list[Vector], Form.VECTOR_OR_VECTORS: VectorOrList,
    Form.INERTIA: Inertia, Form.FUNCTION: Function,
}  # fmt: skip
"""What checks a value, for each word of ``polhode.systems.words`` that is no plain type."""
SPELLED = {
    Form.INERTIA: "or a shape such as { box = { mass, sides } }",
    Form.FUNCTION: "written 'file.py:function', a Python file beside the scenario",
}
"""What follows the description of an argument, which speaks of Python."""


def system_tables() -> tuple[type[Table], ...]:
    """The tables ``[system]`` may be, one for each system that is registered now."""
    return tuple(map(system_table, SYSTEMS))


def system_table(name: str) -> type[Table]:
    """The table ``[system]`` with ``type = name``."""
    return _table_of(SYSTEMS[name], "type", "", tuple(FORCES.values()))


def event_tables() -> tuple[type[Table], ...]:
    """The tables of events, one for each kind."""
    return tuple(_table_of(build, "kind", "Event", ()) for build in EVENTS.values())


def one_of(tables: tuple[type[Table], ...], word: str) -> Any:
    """The type of one of several tables, told apart by a key."""
    return Annotated[reduce(or_, tables), Field(discriminator=word)]  # type: ignore[arg-type]


@cache
def _table_of(build: Callable[..., Any], word: str, suffix: str, forces: tuple[Any, ...]) -> type[Table]:
    """The table of the arguments of a function; the key ``word``, if any, has its name."""
    name = build.__name__
    fields: dict[str, Any] = {word: (Literal[name], ...)} if word else {}
    fields |= {argument.name: field_of(argument, forces) for argument in arguments_of(build).values()}
    title = "".join(part.capitalize() for part in name.split("_")) + suffix
    made: type[Table] = create_model(title, __base__=Table, __doc__=summary(build), __module__=__name__, **fields)
    return made


def field_of(argument: Argument, forces: tuple[Any, ...]) -> tuple[Any, Any]:
    """Type and default of the key of an argument; only keys that a file has are given to the function."""
    kind = argument.type
    checked: Any
    if isinstance(kind, ListOf):
        checked = list[_table_of(kind.build, "", "", ())]  # type: ignore[misc]
    elif isinstance(kind, TableOf):
        checked = _table_of(kind.build, "", "", ())
    elif kind is Form.FORCES:
        checked = list[one_of(tuple(_table_of(build, "kind", "Force", ()) for build in forces), "kind")]  # type: ignore[misc]
    else:
        checked = TYPES.get(kind, kind)
    words = [part for part in (argument.description, SPELLED.get(kind, "")) if part]
    marks: list[Any] = [Field(description="; ".join(words))] if words else []
    marks += [Unit(argument.unit)] if argument.unit else []
    if marks:
        checked = Annotated[checked, *marks]
    if argument.required:
        return checked, ...
    if not isinstance(argument.default, float | int | str):
        return checked | None, None
    return checked, float(argument.default) if TYPES.get(kind) is Number else argument.default
