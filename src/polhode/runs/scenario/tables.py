"""What values of a scenario may be: parts of a JSON schema, which ``check`` compares with a file, and tables of keys.

A part is a schema of JSON as it is published, or a ``Table`` in its place. Beside the words of JSON schemas it may have
``finite``, false of numbers that may be infinite, ``by``, the key that tells tables apart, ``else``, the number of that
part of several which is meant by what is none of them, and ``least``, a smallest number that is checked elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import inf
from typing import Any

from polhode.arguments.words import Argument, endings_of, spelled_like
from polhode.errors import closest, said_of
from polhode.runs.scenario.toml_lines import Key

Part = Any
"""A dict of JSON's words, or a ``Table``."""
Refuse = Callable[[Key, Any], None]
"""Called with mistakes: a key, and the sentence, or the table that does not know the key."""
FUNCTION = r"^([^:]+\.py|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*):[A-Za-z_]\w*$"
SHAPES: dict[str, tuple[str, Any]] = {
    "number": ("a number", int | float), "integer": ("a whole number", int), "string": ("text in quotes", str),
    "boolean": ("true or false", bool), "array": ("a list", list), "object": ("a table", dict),
}  # fmt: skip
"""Types of JSON in words, and the types of Python."""
PUBLISHED = {"finite": None, "by": None, "else": None, "least": "minimum"}


@dataclass(frozen=True, eq=False)
class Table:
    """A table: its keys, and what others may hold, if there may be others."""

    name: str
    about: str
    keys: Mapping[str, Argument]
    part_of: Callable[[Any], Part]  # what the type of an argument stands for
    tag: str = ""  # its ``type`` or ``kind``, where it is one of several
    further: Part | None = None

    def check(self, value: Any, key: Key, refuse: Refuse) -> dict[str, Any]:
        """The values of a table by key; what is wrong is told."""
        made: dict[str, Any] = {}
        if not fits("object", value, key, refuse):
            return made
        for name, one in self.keys.items():
            if name in value:
                absent = value[name] is None and one.default is None and not one.required
                made[name] = None if absent else check(self.part_of(one.type), value[name], (*key, name), refuse)
            elif one.required:
                refuse((*key, name), "expected this key (got nothing); add it")
        for name in [name for name in value if name not in self.keys]:
            if self.further is None or (isinstance(self.further, Table) and not isinstance(value[name], dict)):
                refuse((*key, name), self)
            else:
                made[name] = check(self.further, value[name], (*key, name), refuse)
        return made

    def filled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All values of a table, of keys that are not given their defaults."""
        return {name: given.get(name, one.default) for name, one in self.keys.items()}

    @cached_property
    def endings(self) -> dict[str, tuple[str, str, Decimal | float]]:
        """Keys with a unit in their names: the plain key, the unit, and how much of SI's it has."""
        return endings_of(self.keys)

    def published(self, tables: dict[str, Any]) -> dict[str, Any]:
        """The JSON schema of the table; those within it go to ``tables`` by their names."""
        properties: dict[str, Any] = {}
        for name, one in self.keys.items():
            found = published(self.part_of(one.type), tables)
            title = {} if "$ref" in found else {"title": name.replace("_", " ").title()}
            said = {"description": one.description} if one.description else {}
            default = {} if one.required or one.default is None else {"default": one.default}
            properties[name] = found | title | said | default
        for key, (name, unit, _) in self.endings.items():
            words = properties[name]
            about = f"{words['description']}; " if "description" in words else ""
            properties[key] = words | {"title": key, "description": f"{about}in {unit}"}
        made: dict[str, Any] = {"title": self.name, "type": "object", "properties": properties}
        made |= {"additionalProperties": False if self.further is None else published(self.further, tables) or True}
        made |= {"description": self.about} if self.about else {}
        needed = [name for name, one in self.keys.items() if one.required]
        if needed:
            made["required"] = [name for name in needed if not self.keys[name].unit]
        if several := [name for name in needed if self.keys[name].unit]:
            ways = [[name, *(key for key, (base, _, _) in self.endings.items() if base == name)] for name in several]
            made["allOf"] = [{"anyOf": [{"required": [key]} for key in keys]} for keys in ways]
        return made


def check(part: Part, value: Any, key: Key, refuse: Refuse) -> Any:
    """A value as the part of a schema has it, numbers that need not be whole as ``float``; what is wrong is told."""
    if isinstance(part, Table):
        return part.check(value, key, refuse)
    if several := part.get("oneOf") or part.get("anyOf"):
        chosen = of_tables(part, value, key, refuse) if "by" in part else of_shapes(several, value)
        if chosen is None and "anyOf" in part:
            refuse(key, f"expected {one_of([SHAPES[one['type']][0] for one in several])} (got {as_toml(value)})")
        elif chosen is not None or "by" not in part:
            return check(chosen or several[part.get("else", 0)], value, key, refuse)
        return None
    if "enum" in part:
        if not any(type(one) is type(value) and one == value for one in part["enum"]):
            words = one_of([*map(repr, part["enum"])])
            refuse(key, f"expected {words} (got {as_toml(value)}){near(value, words)}")
        return value
    kind = part.get("type", "")
    if not kind or not fits(kind, value, key, refuse):
        return value
    if kind == "array":
        return of_list(part, value, key, refuse)
    if kind == "object" and isinstance(part["additionalProperties"], dict):
        return {name: check(part["additionalProperties"], one, (*key, name), refuse) for name, one in value.items()}
    if kind == "string" and "pattern" in part and not re.fullmatch(part["pattern"], value):
        refuse(key, f"expected 'file.py:function' (got {as_toml(value)}), or 'package.module:function'")
    if kind == "number" and part.get("finite", True) and not -inf < value < inf:
        refuse(key, f"expected a finite number (got {as_toml(value)})")
    elif "minimum" in part and not part["minimum"] <= value <= part.get("maximum", inf):
        what = part["maximum"] if "maximum" in part else f"a whole number, {part['minimum']} or more"
        refuse(key, f"expected {what} (got {as_toml(value)})")
    return float(value) if kind == "number" else value


def fits(kind: str, value: object, key: Key, refuse: Refuse) -> bool:
    """Whether a value is of a type of JSON; that it is not is told."""
    words, own = SHAPES[kind]
    if isinstance(value, own) and (kind == "boolean" or not isinstance(value, bool)):
        return True
    refuse(key, f"expected {words} (got {as_toml(value)})")
    return False


def of_list(part: Part, value: list[Any], key: Key, refuse: Refuse) -> list[Any]:
    """The entries of a list."""
    told: list[tuple[Key, Any]] = []
    made = [check(part["items"], one, (*key, k), lambda *wrong: told.append(wrong)) for k, one in enumerate(value)]
    least, most = part.get("minItems", 0), part.get("maxItems", inf)
    if len(value) > most or (len(value) < least and not told):
        told = [(key, f"expected {least} entries (got {len(value)}: {as_toml(value)})")]
    for wrong in told:
        refuse(*wrong)
    return made


def of_shapes(several: Sequence[Part], value: object) -> Part | None:
    """Which of several parts has the shape of a value, of a list of lists one of such; None if none has it."""
    of_lists = isinstance(value, list) and bool(value[:1]) and isinstance(value[0], list)
    found = None
    for one in several:
        kind = "object" if isinstance(one, Table) or "by" in one else one["type"]
        if isinstance(value, SHAPES[kind][1]) and (kind in ("boolean", "number") or not isinstance(value, bool)):
            if (kind == "array" and one["items"].get("type") == "array") == of_lists:
                return one
            found = found or one
    return found


def of_tables(part: Part, value: object, key: Key, refuse: Refuse) -> Table | None:
    """The table that a value is, told apart by its key ``by``; None of one that is none of them, which is told."""
    word, tables = part["by"], part["oneOf"]
    if part.get("discriminator") and not fits("object", value, key, refuse):
        return None
    tag = value.get(word) if isinstance(value, dict) else None
    own = next((one for one in tables if not one.tag), None)
    if own is not None and isinstance(tag, str) and ":" in tag:
        return own
    known, function = [one.tag for one in tables if one.tag], [] if own is None else ["'file.py:function'"]
    if tag is None:
        refuse(key, f"expected a key {word}, one of {', '.join([*sorted(known), *function])} (got {as_toml(value)})")
    elif tag not in known:
        words = ", ".join([*map(repr, known), *function])
        refuse(key, f"expected {word} = {words} (got {as_toml(tag)}){near(tag, words)}")
    return next((one for one in tables if one.tag and one.tag == tag), None)


def inside(part: Part) -> Iterator[Table]:
    """The tables that a key may hold."""
    if isinstance(part, Table):
        yield part
    else:
        for one in (*part.get("oneOf", ()), *([part["items"]] if "items" in part else ())):
            yield from inside(one)


def published(part: Part, tables: dict[str, Any]) -> dict[str, Any]:
    """A part as JSON schemas have it; tables go to ``tables`` by their names."""
    if isinstance(part, Table):
        if part.name not in tables:
            tables[part.name] = {}
            tables[part.name] = part.published(tables)
        return {"$ref": f"#/$defs/{part.name}"}
    made = {PUBLISHED.get(word, word): one for word, one in part.items() if PUBLISHED.get(word, word)}
    for word in ("oneOf", "anyOf"):
        if word in made:
            made[word] = [published(one, tables) for one in made[word]]
    for word in ("items", "additionalProperties"):
        if isinstance(made.get(word), dict | Table):
            made[word] = published(made[word], tables)
    if len(made.get("enum", ())) == 1:
        made["const"] = made.pop("enum")[0]
    if part.get("discriminator"):
        names = {one.tag: f"#/$defs/{one.name}" for one in part["oneOf"]}
        made["discriminator"] = {"mapping": names, "propertyName": part["by"]}
    return made


# ------------------------------------------------------------------ words
def unknown_key(wrong: str, table: Table) -> str:
    """What is wrong with a key that a table does not know."""
    known = sorted(table.keys)
    close = spelled_like(wrong, table.endings) or closest(wrong, known, 2, 0.6)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known here: {', '.join(known)}"
    return f"unknown key; {said_of(wrong, known) or hint}"


def one_of(words: list[str]) -> str:
    """Words of which one is expected."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def near(found: object, expected: str) -> str:
    """A question for the word that is meant."""
    close = closest(found, re.findall(r"'([^']+)'", expected), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def dotted(key: Key) -> str:
    """A key as people write it."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")


def as_toml(value: object) -> str:
    """A value as TOML would write it, shortened."""
    text = str(value) if isinstance(value, float) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
