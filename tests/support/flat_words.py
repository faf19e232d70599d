"""Arguments of ``polhode.integrate`` from flat words, for tests of many words one after the other."""

from __future__ import annotations

from dataclasses import fields

import polhode as ph
from polhode.runs.request import grouped


def in_parts(words):
    """Words of a start, of settings and of a tolerance in ``start``, ``settings`` and ``steps``; others as they are."""
    found = dict(words)
    flat = {field.name for field in fields(ph.State)} - {"attitude", "angular_velocity", "angular_momentum"}
    start = {name: found.pop(name) for name in flat - {"position", "velocity", "momentum"} if name in found}
    settings = {field.name: found.pop(field.name) for field in fields(ph.Settings) if field.name in found}
    found = grouped(found)
    for name, given in (("start", start), ("settings", settings)):
        if given:
            found[name] = found.get(name, {}) | given
    return found
