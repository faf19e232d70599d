"""Tables of a scenario made from the annotated signatures of what they call: systems, forces, events, initial states;
and the keys of a method's options, from the table of methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from polhode.arguments.words import Argument, Form, ListOf, TableOf, Unit, arguments_of, summary
from polhode.loads import LOADS
from polhode.methods import options_by_name
from polhode.methods.record import Option
from polhode.runs.scenario.initial_state import AS_GIVEN, given_state, keys
from polhode.runs.scenario.toml_lines import Key
from polhode.runs.scenario.values import (
    FUNCTION,
    Cells,
    Function,
    FunctionOrNumbers,
    Inertia,
    NamedNumbers,
    Number,
    NumberOrList,
    NumberOrVector,
    Numbers,
    NumbersOrRows,
    Quaternions,
    States,
    Table,
    TimeOrEvent,
    Vector,
    VectorOrList,
    Velocities,
    WholeFromZero,
    Words,
    tags_of,
)
from polhode.surroundings.surrounding import OWN
from polhode.systems import SYSTEMS
from polhode.systems.events import EVENTS
from polhode.systems.forces import FORCES
from polhode.systems.listing import SUMMANDS
from polhode.systems.sum import system

TYPES: dict[Any, Any] = {
    float: Number, Form.NUMBER: Number, Form.NUMBER_OR_INFINITY: float, Form.NUMBERS: Numbers,
    Form.TIME_OR_EVENT: TimeOrEvent, Form.FUNCTION_OR_NUMBERS: FunctionOrNumbers,
    Form.NUMBER_OR_NUMBERS: NumberOrList, Form.ROWS: list[Numbers], Form.VECTOR: Vector,
    Form.NUMBER_OR_VECTOR: NumberOrVector, Form.VECTORS: list[Vector], Form.VECTOR_OR_VECTORS: VectorOrList,
    Form.INERTIA: Inertia, Form.FUNCTION: Function, Form.QUATERNIONS: Quaternions, Form.VELOCITIES: Velocities,
    Form.NUMBERS_OR_ROWS: NumbersOrRows, Form.CELLS: Cells, Form.INDICES: list[int], Form.SEED: WholeFromZero,
    Form.WORDS: Words, Form.FILE: str,
    Form.NAMED_NUMBERS: NamedNumbers,
    Form.STATES: States,
}  # fmt: skip
"""What checks a value, for each word of ``polhode.arguments.words`` that is no plain type."""
OF_ONE = {Form.VECTOR_OR_VECTORS: Form.VECTOR, Form.VELOCITIES: Form.VECTOR}
"""Words for what is said of one body alone."""
SPELLED = {
    Form.INERTIA: "or a shape such as { box = { mass, sides } }",
    Form.FUNCTION: "written 'file.py:function', a Python file beside the scenario",
    Form.FILE: "its name is relative to the scenario",
}
"""What follows the description of an argument, which speaks of Python."""


def system_tables() -> tuple[type[Table], ...]:
    """The tables ``[system]`` may be, one for each system that is registered now."""
    return tuple(map(system_table, SYSTEMS))


def system_table(name: str) -> type[Table]:
    """The table ``[system]`` with ``type = name``."""
    return table_of(SYSTEMS[name], "type", "", (tuple(FORCES.values()), tuple(LOADS.values())))


def event_tables() -> tuple[type[Table], ...]:
    """The tables of events, one for each kind."""
    return tuple(table_of(build, "kind", "Event") for build in EVENTS.values())


def initial_table() -> type[Table]:
    """The table ``[initial]``, with the keys of all recipes that there are now."""
    return _initial_of(tuple(keys().items()))


def with_further(kind: Any, *tables: type[Table]) -> Any:
    """A table with keys of any name, whose values are of a type that these tables make up."""
    named = {"__annotations__": {"__pydantic_extra__": dict[str, kind]}, "__module__": __name__, "further": tables}
    return type("Further", (Table,), named | {"model_config": ConfigDict(strict=True, extra="allow")})


def of_one_body() -> list[Argument]:
    """The keys of ``[initial.NAME]``, of one body of a sum."""
    known = [one for name, one in arguments_of(given_state).items() if name not in AS_GIVEN]
    return [
        replace(one, type=OF_ONE.get(one.type, one.type), description=one.description.partition("; of several")[0])
        for one in known
    ]


@lru_cache(maxsize=2)
def _initial_of(arguments: tuple[tuple[str, Argument], ...]) -> type[Table]:
    fields: dict[str, Any] = {name: field_of(argument) for name, argument in arguments}
    of_body: dict[str, Any] = {one.name: field_of(one) for one in of_one_body()}
    said = "Initial state of one body of a system, by its name."
    body: Any = create_model("InitialOfBody", __base__=Table, __doc__=said, __module__=__name__, **of_body)
    about = (inspect.getdoc(given_state) or "").split("\n\nParameters\n")[0]
    made: type[Table] = create_model(
        "Initial", __base__=with_further(body, body), __doc__=about, __module__=__name__, **fields
    )
    return made


def option_fields() -> tuple[tuple[str, Any], ...]:
    """Keys and types of the options of all methods that there are now."""
    return tuple((name, _field_of_option(*options)) for name, options in options_by_name().items())


@cache
def _field_of_option(*options: Option) -> Any:
    """The type of the key of an option, of the same name in several methods; the method checks its value."""
    first = options[0]
    words = list(dict.fromkeys(word for option in options for word in option.choices() if first.kind is str))
    about = [first.description, *[", ".join(map(repr, words))] * (0 < len(words) <= MOST_WORDS)]
    least = min(option.least or 0 for option in options)
    limit: Any = {} if first.least is None else {"minimum": least}
    checked: Any = Annotated[first.kind, Field(description="; ".join(filter(None, about)), json_schema_extra=limit)]
    return checked | None


MOST_WORDS = 8
"""Values of an option that its description lists."""


def one_of(tables: tuple[type[Table], ...], word: str) -> Any:
    """The type of one of several tables, told apart by a key."""
    return Annotated[reduce(or_, tables), Field(discriminator=word)]  # type: ignore[arg-type]


Registered = tuple[tuple[Callable[..., Any], ...], tuple[Callable[..., Any], ...]]
"""The forces and the loads that there are now."""
NONE: Registered = ((), ())


@cache
def table_of(
    build: Callable[..., Any], word: str = "", suffix: str = "", registered: Registered = NONE,
    base: type[Table] = Table,
) -> type[Table]:  # fmt: skip
    """The table of the arguments of a function beside the keys of another; the key ``word``, if any, has its name."""
    name = build.__name__
    fields: dict[str, Any] = {word: (Literal[name], ...)} if word else {}
    fields |= {argument.name: field_of(argument, registered) for argument in arguments_of(build).values()}
    title = "".join(part.capitalize() for part in name.split("_")) + suffix
    made: type[Table] = create_model(title, __base__=base, __doc__=summary(build), __module__=__name__, **fields)
    return made


def field_of(argument: Argument, registered: Registered = NONE) -> tuple[Any, Any]:
    """Type and default of the key of an argument; only keys that a file has are given to the function."""
    kind = argument.type
    checked: Any
    if isinstance(kind, ListOf):
        checked = list[table_of(kind.build)]  # type: ignore[misc]
    elif isinstance(kind, TableOf):
        checked = table_of(kind.build)
    elif kind is Form.FORCES:
        forces = tuple(table_of(build, "kind", "Force") for build in registered[0])
        checked = list[one_of(forces, "kind")]  # type: ignore[misc]
    elif kind is Form.LOADS:
        loads = [table_of(build, "kind", "Load", base=LoadTable) for build in registered[1]]
        checked = list[one_of_kinds(loads, UserLoad)]  # type: ignore[misc]
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


# ------------------------------------------------------------------ loads
EachBody = dict[str, list[NumberOrList]]
Kind = Annotated[str, Field(pattern=FUNCTION, description="'file.py:function', or 'package.module:function'")]


class Placed(Table):
    """What has a name of its own and is on bodies."""

    name: Annotated[str, Field(description="its name in the system; by default that of its function")] | None = None
    on: Annotated[Words, Field(description="names of the bodies it is on; by default each")] | None = None
    states: Annotated[States, Field(description="states that it brings: their values at the start")] | None = None
    renamed: (
        Annotated[
            dict[str, str], Field(description="states and surroundings that have other names than in its function")
        ]
        | None
    ) = None


class LoadTable(Placed):
    """A load: what acts on bodies."""

    kind: Any
    each: Annotated[EachBody, Field(description="numbers of which each body has its own")] | None = None
    after: Annotated[TimeOrEvent, Field(description=f"when it begins: {Form.TIME_OR_EVENT.value}")] | None = None
    until: Annotated[TimeOrEvent, Field(description=f"when it ends: {Form.TIME_OR_EVENT.value}")] | None = None


class UserLoad(LoadTable):
    """A load that is a function of yours; its parameters stand beside these keys, by their names."""

    model_config = ConfigDict(strict=True, extra="allow")
    record: ClassVar[dict[str, Any]] = {}
    kind: Kind
    returns: Annotated[
        Literal["acceleration", "states"] | None,
        Field(description="'acceleration' of one that returns that, not a force; 'states' of one that is on no body"),
    ] = None


class EventOfBodies(Table):
    """Where a function of yours of bodies changes sign; its parameters stand beside these keys, by their names."""

    model_config = ConfigDict(strict=True, extra="allow")
    record: ClassVar[dict[str, Any]] = {"kind": "of"}
    kind: Kind
    on: Annotated[Words, Field(description="names of the bodies; by default the only one")] | None = None
    direction: Annotated[Literal[-1, 0, 1], Field(description="only rising (1) or falling (-1) changes")] = 0
    terminal: Annotated[bool, Field(description="whether the run ends there")] = False
    name: Annotated[str, Field(description="name of the event; by default that of its function")] | None = None


def kind(value: Any) -> str:
    """Which table a summand is."""
    given = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return "<function>" if isinstance(given, str) and ":" in given else given  # type: ignore[return-value]


def one_of_kinds(tables: list[type[Table]], own: type[Table]) -> Any:
    """The type of one of these tables of summands, told apart by kind, or of one that is a function of the user's."""
    tagged = [Annotated[one, Tag(next(iter(tags_of(one))))] for one in tables]  # type: ignore[valid-type]
    every = reduce(or_, [*tagged, Annotated[own, Tag("<function>")]])  # type: ignore[arg-type]
    return Annotated[every, Discriminator(kind)]


TYPE = "system"
"""The type of a [system] that is a sum, and the name of such systems."""


class UserSurrounding(Table):
    """A quantity of the surroundings that is a function of yours; its parameters stand beside its kind."""

    model_config = ConfigDict(strict=True, extra="allow")
    record: ClassVar[dict[str, Any]] = {"kind": OWN}
    kind: Kind


FORMS: dict[str, tuple[str, type[Table], type[Table] | None]] = {
    "bodies": ("OfSystem", Table, None), "loads": ("Load", LoadTable, UserLoad),
    "controllers": ("OfSystem", Placed, None), "surroundings": ("Around", Table, UserSurrounding),
}  # fmt: skip
"""Of each group of summands the end of the names of its tables, the keys they all have, and the table of one that is a
function of the user's."""


def of_whole() -> dict[str, Argument]:
    """The keys of [system] that are of the whole sum."""
    return arguments_of(system, ("summands", "surroundings", "recorded"))


def sum_table() -> type[Table]:
    """The table ``[system]`` of a sum, with the kinds of summands that are registered now."""
    return _sum_table(tuple((group, tuple(makers.values())) for group, makers in SUMMANDS.items()))


@lru_cache(maxsize=2)
def _sum_table(summands: tuple[tuple[str, tuple[Callable[..., Any], ...]], ...]) -> type[Table]:
    fields: dict[str, Any] = {"type": (Literal["system"], ...)}
    fields |= {one.name: field_of(one) for one in of_whole().values()}
    for group, makers in summands:
        suffix, base, own = FORMS[group]
        tables = [table_of(build, "kind" if own else "", suffix, base=base) for build in makers]
        one: Any = tables[0]
        if own is not None:
            one = one_of_kinds(tables, own)
            tables.append(own)
        if group == "surroundings":
            said = "What surrounds bodies: quantities that loads and controllers read by these names."
            several = create_model(
                "Surroundings", __base__=with_further(one, *tables), __doc__=said, __module__=__name__
            )
            fields[group] = (several | None, None)
        else:
            fields[group] = (list[one] | None, None)
    said = "A system as the sum of bodies and of what acts on them."
    made: type[Table] = create_model("Sum", __base__=Table, __doc__=said, __module__=__name__, **fields)
    return made


def as_record(told: dict[str, Any]) -> dict[str, Any]:
    """The words of a summand as its record has them: a controller's function and parameters as those of loads."""
    if told.get("kind") == "controller" and "command" in told:
        told["function"] = told.pop("command")
        told |= told.pop("parameters", {})
    return told


def chosen_of(models: list[type[BaseModel]], table: Mapping[str, Any]) -> list[type[BaseModel]]:
    """Which of several tables one is, by its ``type`` or ``kind``; all of them where that says nothing."""
    tag = table.get("type", table.get("kind"))
    own = [model for model in models if hasattr(model, "record")]
    if own and isinstance(tag, str) and ":" in tag:
        return own
    return [model for model in models if tag in tags_of(model)] or models


def entries(table: Any) -> Iterator[tuple[Key, Callable[..., Any] | None, dict[str, Any]]]:
    """Of each summand its slot, the function that makes it (None for one of the user's), and its record with its name
    in it."""
    for group, makers in SUMMANDS.items():
        found = getattr(table, group) or ()
        places = found.model_extra if isinstance(found, BaseModel) else dict(enumerate(found))
        for slot, one in (places or {}).items():
            build, given = entry(one, makers)
            yield (TYPE, group, slot), build, given | ({"name": slot} if isinstance(slot, str) else {})


def entry(
    table: Any, makers: Mapping[str, Callable[..., Any]] = LOADS
) -> tuple[Callable[..., Any] | None, dict[str, Any]]:
    """The function that makes a summand, one of these (None for one of the user's), and its record with its name in
    it."""
    given = {name: getattr(table, name) for name in table.model_fields_set}
    if hasattr(table, "record"):
        given |= {"function": given.pop("kind"), "kind": given.pop("returns", None) or "", **table.record}
        return None, given
    given.setdefault("kind", next(iter(makers)))
    return makers[given["kind"]], given
