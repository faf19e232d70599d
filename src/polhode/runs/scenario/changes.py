"""Values put into a scenario in the place of those of its file, each under the key it has there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from polhode.errors import InvalidInput, shown


def with_changes(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario with other values at some keys; the tables handed in stay as they are.

    Parameters
    ----------
    tables : mapping
        What the file says.
    changes : mapping
        Values by key: ``"run.step"``, ``"system.parameters.0"``, ``"events.1.radius"``. Tables that are missing are
        made; whether there is such a key is seen when the scenario is read.

    Raises
    ------
    InvalidInput
        A key that leads through a number or a text, or to an entry that a list does not have.
    """
    made: Any = dict(tables)
    for key, value in changes.items():
        made = _changed(made, key.split("."), value, key)
    return made  # type: ignore[no-any-return]


def _changed(inside: Any, parts: list[str], value: Any, key: str) -> Any:
    if not parts:
        return value
    name, *rest = parts
    before = ".".join(key.split(".")[: -len(parts)])
    if isinstance(inside, list):
        if not re.fullmatch(r"\d{1,9}", name) or int(name) >= len(inside):
            raise InvalidInput(
                f"the key {key!r} asks for entry {name!r} of {before}, which has {len(inside)} entries, counted from "
                "0; name one of them"
            )
        return [_changed(part, rest, value, key) if k == int(name) else part for k, part in enumerate(inside)]
    if not isinstance(inside, Mapping):
        raise InvalidInput(
            f"the key {key!r} leads into {before}, which is {shown(inside)} and no table; change {before} itself, or "
            "write it as a table"
        )
    return {**inside, name: _changed(inside.get(name, {} if rest else None), rest, value, key)}
