"""Values put into a scenario: in the place of those of its file, by their keys; and dates that follow from its run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from polhode.errors import InvalidInput, shown


def with_changes(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario with other values at some keys; the tables handed in stay as they are."""
    made: Any = dict(tables)
    for key, value in changes.items():
        made = _changed(made, path_of(made, key).split("."), value, key)
    return made  # type: ignore[no-any-return]


def path_of(tables: Mapping[str, Any], key: str) -> str:
    """A key with dots alone, and from the top of the file where it begins with the name of a summand."""
    dotted = re.sub(r"\[(\d{1,9})\]", r".\1", key)
    head = dotted.partition(".")[0]
    system = tables.get("system")
    groups = system.items() if head not in tables and isinstance(system, Mapping) else ()
    for group, entries in groups:
        if isinstance(entries, list) and any(name_of(one) == head for one in entries):
            return f"system.{group}.{dotted}"
    return dotted


def named_path(tables: Mapping[str, Any], key: str) -> str:
    """A key of a summand as its system has it: ``tether.stiffness`` for ``system.loads[0].stiffness``."""
    _, group, entry, *rest = path_of(tables, key).split(".")
    listed = tables["system"][group]
    return ".".join([name_of(listed[int(entry)]) if entry.isdigit() else entry, *rest])


def name_of(entry: Any) -> str:
    """The name of a table of a list: its own, or that of what it is a kind of."""
    told = entry.get("name", entry.get("kind")) if isinstance(entry, Mapping) else None
    return told.rpartition(":")[2] if isinstance(told, str) else ""


def _changed(inside: Any, parts: list[str], value: Any, key: str) -> Any:
    if not parts:
        return value
    name, *rest = parts
    before = ".".join(key.split(".")[: -len(parts)])
    if isinstance(inside, list):
        name = next((str(k) for k, one in enumerate(inside) if name and name_of(one) == name), name)
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


def dated(part: Any, run: Mapping[str, Any]) -> Any:
    """Tables in which ephemerides and air have the epoch and the span of the run, where they leave them out."""
    if isinstance(part, list):
        return [dated(one, run) for one in part]
    if not isinstance(part, dict):
        return part
    made = {name: dated(one, run) for name, one in part.items()}
    if isinstance(made.get("orientation"), dict) and run.get("epoch") is not None:
        made["orientation"] = {"epoch": run["epoch"]} | made["orientation"]
    if isinstance(made.get("ephemeris"), dict) or isinstance(made.get("air"), dict):
        start = run.get("t0", 0.0)
        stop = run.get("t_end")
        if stop is None and isinstance(run.get("step"), int | float) and isinstance(run.get("steps"), int):
            stop = start + run["step"] * run["steps"]
        usual = {"epoch": run.get("epoch"), "start": start, "stop": stop}
        usual = {name: one for name, one in usual.items() if one is not None}
        if isinstance(made.get("ephemeris"), dict):
            made["ephemeris"] = usual | made["ephemeris"]
        if isinstance(made.get("air"), dict):
            made["air"] = {name: one for name, one in usual.items() if name != "start"} | made["air"]
    return made
