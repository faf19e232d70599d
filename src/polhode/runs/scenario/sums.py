"""Sums in scenarios: ``type = "system"``, with ``[[system.bodies]]``, ``[[system.loads]]`` and the like.

A table of a summand is its record (``System.arguments``) with its name in it; what it may contain follows from the
signature of the function that makes it. What a function of the user's makes has ``kind = "file.py:function"``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, create_model

from polhode.arguments.words import Argument, arguments_of
from polhode.loads import LOADS
from polhode.runs.scenario.signatures import (
    Kind,
    LoadTable,
    Placed,
    UserLoad,
    field_of,
    one_of_kinds,
    table_of,
    with_further,
)
from polhode.runs.scenario.toml_lines import Key
from polhode.runs.scenario.values import Table, tags_of
from polhode.surroundings.surrounding import OWN
from polhode.systems.listing import SUMMANDS
from polhode.systems.sum import system

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
