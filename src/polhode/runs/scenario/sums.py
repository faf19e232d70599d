"""Sums in scenarios: ``type = "system"``, with ``[[system.bodies]]``, ``[[system.loads]]`` and the like.

A table of a summand is its record (``System.arguments``) with its name in it; what it may contain follows from the
signature of the function that makes it. What a function of the user's makes has ``kind = "file.py:function"``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from polhode.bodies.body import body
from polhode.loads import LOADS
from polhode.runs.scenario.signatures import table_of
from polhode.runs.scenario.toml_lines import Key
from polhode.runs.scenario.values import FUNCTION, States, Table, Words, tags_of

TYPE = "system"
"""The type of a [system] that is a sum, and the name of such systems."""


class LoadTable(Table):
    """A load: what acts on bodies."""

    kind: Any
    name: Annotated[str, Field(description="its name in the system; by default that of its function")] | None = None
    on: Annotated[Words, Field(description="names of the bodies it is on; by default each")] | None = None
    states: Annotated[States, Field(description="states that it brings: their values at the start")] | None = None


class OwnLoad(LoadTable):
    """A load that is a function of yours; its parameters stand beside these keys, by their names."""

    model_config = ConfigDict(strict=True, extra="allow")
    kind: Annotated[str, Field(pattern=FUNCTION, description="'file.py:function', or 'package.module:function'")]
    acceleration: Annotated[bool, Field(description="whether it returns an acceleration, not a force")] = False


def kind(value: Any) -> str:
    """Which table a load is."""
    given = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return "<function>" if isinstance(given, str) and ":" in given else given  # type: ignore[return-value]


def sum_table() -> type[Table]:
    """The table ``[system]`` of a sum, with the loads that are registered now."""
    return _sum_table(tuple(LOADS.values()))


@lru_cache(maxsize=2)
def _sum_table(loads: tuple[Callable[..., Any], ...]) -> type[Table]:
    tables = {build.__name__: table_of(build, "kind", "Load", base=LoadTable) for build in loads}
    tagged = [Annotated[one, Tag(name)] for name, one in tables.items()]  # type: ignore[valid-type]
    load: Any = Annotated[reduce(or_, tagged) | Annotated[OwnLoad, Tag("<function>")], Discriminator(kind)]  # type: ignore[arg-type]
    of_body: Any = table_of(body, "", "OfSystem")
    fields: dict[str, Any] = {
        "type": (Literal["system"], ...),
        "bodies": (Annotated[list[of_body], Field(description="what moves")], ...),
        "loads": (Annotated[list[load], Field(description="what acts on bodies")] | None, None),
    }
    made: type[Table] = create_model(
        "Sum", __base__=Table, __doc__="A system as the sum of bodies and of what acts on them.", __module__=__name__,
        **fields,
    )  # fmt: skip
    return made


def chosen_of(models: list[type[BaseModel]], table: Mapping[str, Any]) -> list[type[BaseModel]]:
    """Which of several tables one is, by its ``type`` or ``kind``; all of them where that says nothing."""
    tag = table.get("type", table.get("kind"))
    if OwnLoad in models and isinstance(tag, str) and ":" in tag:
        return [OwnLoad]
    return [model for model in models if tag in tags_of(model)] or models


def entries(table: Any) -> Iterator[tuple[Key, Callable[..., Any] | None, dict[str, Any]]]:
    """Of each summand its place, the function that makes it (None for one of the user's), and its record with its name
    in it."""
    for group, build in (("bodies", body), ("loads", None)):
        for k, one in enumerate(getattr(table, group) or ()):
            given = {name: getattr(one, name) for name in one.model_fields_set}
            if isinstance(one, OwnLoad):
                given |= {"function": given.pop("kind")}
            elif build is not None:
                given |= {"kind": build.__name__}
            yield ("system", group, k), build or LOADS.get(given.get("kind", "")), given
