"""Mistakes in words: where they are, as the file spells it, and what was expected there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from polhode.errors import closest, said_of
from polhode.runs.scenario.initial_state import keys
from polhode.runs.scenario.schema import Output, Run, scenario_file
from polhode.runs.scenario.signatures import TYPE, initial_table
from polhode.runs.scenario.toml_lines import Key
from polhode.runs.scenario.values import models_in, tags_of, unit_keys
from polhode.systems import SYSTEMS
from polhode.systems.events import EVENTS
from polhode.systems.forces import FORCES
from polhode.systems.listing import SUMMANDS


def plain_key(loc: tuple[str | int, ...]) -> Key:
    """Where pydantic found a mistake, without the tags of its unions."""
    key = [part for part in loc if not str(part).startswith("<")]
    if key[:1] == ["system"] and len(key) > 1 and (key[1] in SYSTEMS or key[1] == TYPE):
        del key[1]
    if key[:1] == ["system"] and len(key) > 3 and key[3] in SUMMANDS.get(str(key[1]), ()):
        del key[3]
    if key[:2] == ["system", "forces"] and len(key) > 3 and key[3] in FORCES:
        del key[3]
    if key[:1] == ["events"] and len(key) > 2 and key[2] in EVENTS:
        del key[2]
    return tuple(key)


def dotted(key: Key) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")


SHAPES = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "finite_number": "a finite number",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
}
NO_TABLE = ("model_type", "model_attributes_type")


def expected(error: Any) -> str:
    """What a mistake is, in the words of the file."""
    kind, context, found = error["type"], error.get("ctx", {}), as_toml(error["input"])
    at = error["loc"]
    no_body = kind in NO_TABLE and at[:1] == ("initial",) and len(at) == 2 and at[1] not in keys()
    if kind == "extra_forbidden" or no_body:
        models, wrong = tables_at(error["loc"][:-1]), str(error["loc"][-1])
        known = sorted({name for model in models for name in model.model_fields})
        endings = {key: base for model in models for key, (base, _, _) in unit_keys(model).items()}
        close = [key for key, base in endings.items() if wrong.startswith(f"{base}_")]
        close = close or closest(wrong, known, 2, 0.6)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known here: {', '.join(known)}"
        return f"unknown key; {_elsewhere(wrong) or said_of(wrong, known) or hint}"
    if kind == "missing":
        return "expected this key (got nothing); add it"
    if kind in ("too_short", "too_long"):
        wanted = context.get("min_length", context.get("max_length"))
        return f"expected {wanted} entries (got {context['actual_length']}: {found})"
    if kind == "literal_error":
        return f"expected {context['expected']} (got {found}){_near(error['input'], context['expected'])}"
    if kind == "union_tag_invalid":
        tags, tag = context["expected_tags"], context["tag"]
        tags = tags.replace("'<function>'", "'file.py:function'")
        return f"expected {_word(context)} = {tags} (got {as_toml(tag)}){_near(tag, tags)}"
    if kind == "union_tag_not_found":
        word = _word(context)
        names: Iterable[str] = SYSTEMS if word == "type" else FORCES
        if at[0] == "system" and len(at) > 2 and at[2] in SUMMANDS:
            names = SUMMANDS[str(at[2])]
        elif at[0] == "events":
            names = EVENTS
        further = {"type": [TYPE]}.get(word, [] if names is FORCES else ["'file.py:function'"])
        return f"expected a key {word}, one of {', '.join([*sorted(names), *further])} (got {found})"
    if kind == "string_pattern_mismatch":
        return f"expected 'file.py:function' (got {found}), or 'package.module:function'"
    if kind == "greater_than_equal":
        return f"expected a whole number, {context['ge']} or more (got {found})"
    return f"expected {SHAPES.get(kind, error['msg'])} (got {found})"


def _elsewhere(wrong: str) -> str:
    """Where a key belongs that is known in another part of the file."""
    if wrong in scenario_file().model_fields:
        return "it belongs at the top of the file, before the first [table]"
    tables: dict[str, type[BaseModel]] = {"run": Run, "initial": initial_table(), "output": Output}
    return next((f"it belongs under [{name}]" for name, table in tables.items() if wrong in table.model_fields), "")


def _word(context: Mapping[str, Any]) -> str:
    """The key that tells tables apart."""
    return str(context["discriminator"]).strip("'()")


def _near(found: object, expected: str) -> str:
    close = closest(found, re.findall(r"'([^']+)'", expected), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def as_toml(value: Any) -> str:
    """A value as TOML would write it, shortened."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def tables_at(loc: Iterable[str | int]) -> list[type[BaseModel]]:
    """The models a table may have, found by walking them along a pydantic location."""
    models: list[type[BaseModel]] = [scenario_file()]
    for part in loc:
        if isinstance(part, int):
            continue
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        inside = [model for field in fields for model in models_in(field.annotation)]
        chosen = [model for model in models if part in tags_of(model)]
        further = [one for model in models for one in getattr(model, "further", ())]
        models = inside or chosen or further or models
    return models
