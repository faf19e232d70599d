"""Initial values of members that are said of single bodies of a sum, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.arguments import array
from polhode.ensembles.members import Varied
from polhode.ensembles.sampling import Members
from polhode.errors import InvalidInput, unknown_name
from polhode.runs.initial_state import OF_BODY
from polhode.runs.state import STATE_WORDS, as_kept

KEPT = {"attitude": (1.0, 0.0, 0.0, 0.0)}
"""What a body has of which nothing is said, where that is not zero."""


def by_path(names: tuple[str, ...], members: Any) -> Any:
    """Members with what a body has by paths: ``{"a": {"position": ...}}`` is ``{"a.position": ...}``."""
    if not isinstance(members, Mapping) or isinstance(members, Members):
        return members
    found: dict[str, Any] = {}
    for name, value in members.items():
        inside = isinstance(value, Mapping) and (name in names or bool(names and set(value) & set(OF_BODY)))
        if inside and name not in names:
            raise unknown_name("body of the system, given in members", name, names)
        found |= {f"{name}.{word}": one for word, one in value.items()} if inside else {name: value}
    return found


def of_all_bodies(
    names: tuple[str, ...], varied: Varied, start: Any, common: Mapping[str, Any]
) -> tuple[Varied, dict[str, Any]]:
    """What varies, with values of single bodies as those of all, and the start of all members without them."""
    rest, told = dict(varied.values), dict[str, dict[str, Any]]()
    for path in varied.values:
        body, _, word = path.partition(".")
        if body in names and word in OF_BODY:
            told.setdefault(body, {})[word] = rest.pop(path)
            given = start.get(body) if isinstance(start, Mapping) else None
            if isinstance(given, Mapping) and word in given:
                raise InvalidInput(f"{path} varies among the members, and is given for all too; keep one of them")
    if not told:
        return varied, dict(common)
    base = as_kept(common) | {word: common[word] for word in STATE_WORDS[3:] if common.get(word) is not None}
    whole: dict[str, Any] = {}
    for body, given in told.items():
        moving = {word: given[word] for word in STATE_WORDS[3:] if word in given}
        for word, values in (as_kept(given) | moving).items():
            width = 4 if word == "attitude" else 3
            if np.shape(values) != (varied.count, width):
                raise InvalidInput(f"members has values of shape {np.shape(values)[1:]} of {body}.{word}; give {width} "
                                   "numbers for each member")  # fmt: skip
            if word in rest:
                raise InvalidInput(f"members has {word} of all bodies and of {body!r}; keep one of them")
            if word not in whole:
                row = array(base.get(word, KEPT.get(word, 0.0)), word)
                row = np.broadcast_to(row, (len(names), width))
                whole[word] = np.tile(row, (varied.count, 1, 1))
            whole[word][:, names.index(body)] = values
    left = {name: value for name, value in common.items() if name not in OF_BODY}
    return replace(varied, values=rest | whole), left | {word: base[word] for word in base if word not in whole}
