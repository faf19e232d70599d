"""A system formatted for notebooks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments.recorded import called
from polhode.arguments.words import summary
from polhode.bodies.wheels import control_moment_gyros, reaction_wheels
from polhode.errors import InvalidInput
from polhode.html import facts
from polhode.joints import JOINTS
from polhode.joints.joint import GROUND
from polhode.loads import LOADS
from polhode.surroundings import SURROUNDINGS
from polhode.surroundings.surrounding import OWN
from polhode.systems.registry import builder, handed_in, with_functions

if TYPE_CHECKING:
    from polhode.systems.record import System

FEW = 4  # most bodies whose moments are written out
MOST_ALIKE = 6  # most summands of one kind in a row that are all shown
LONGEST = 90
"""Most characters of the value of an argument in a table."""
MOST = 400
"""Longest ``repr`` of an argument that is shown in full, in characters."""


def system_html(system: System) -> str:
    """A system for a notebook: arguments, inertia, loads, and what it conserves."""
    build = builder(system.name)
    alone = {name: value for name, value in system.arguments.items() if name != "loads" and system.name != "system"}
    pairs: list[tuple[str, Any]] = [*((name, _shown(value)) for name, value in alone.items()), *summands(system)]
    told = {name for name, _ in pairs}
    pairs += [(name, "your function") for name in system.functions if name not in told]
    count = len(system.mass)
    moments = np.asarray(system.moments, dtype=float)
    turning = np.isfinite(moments).any(axis=-1)
    if turning.any():
        same = bool((moments == moments[0]).all())
        each = [moments[0]] if same else list(moments[:FEW])
        words = "; ".join(", ".join(f"{value:g}" for value in one) for one in each)
        pairs.append(("principal moments", words + (" each" if same and count > 1 else "") +
                      (" ..." if not same and count > FEW else "")))  # fmt: skip
    if system.rotates or system.translates:
        pairs.append(("bodies", f"{count}{'' if turning.any() else ', points'}"))
    pairs.append(("conserves", ", ".join(system.conserves).replace("_", " ") or "nothing that is known"))
    broken = breaking(system) if system.name == "system" and system.names else {}
    pairs += [(f"does not conserve {law.replace('_', ' ')}", ", ".join(names)) for law, names in broken.items()]
    pairs.append(("method unless you name one", system.recommended))
    return facts(system.title, summary(build).replace("``", "") if build is not None else "", pairs)


def _shown(value: object) -> str:
    """The value of an argument in a few words."""
    if value is None:
        return "not given"
    if isinstance(value, Mapping) and "function" in value:
        return f"your function {value['function']}" if isinstance(value["function"], str) else _shown(value["function"])
    if isinstance(value, Mapping):
        kind = value.get("kind", "")
        others = ", ".join(f"{name} {_shown(one)}" for name, one in value.items() if name != "kind")
        return f"{kind}: {others}" if kind else others
    if isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
        return "; ".join(str(one.get("kind", _shown(one))) if isinstance(one, Mapping) else str(one) for one in value)
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple) and value and all(isinstance(one, float | str) for one in value):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, list | tuple) and value and all(isinstance(one, list | tuple) for one in value):
        return ", ".join(f"({_shown(one)})" for one in value)
    text = "none" if isinstance(value, list | tuple) and not value else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."


TOLD_APART = ("kind", "on", "function", "states", "each", "renamed")
"""Keys of the record of a summand that are not among its numbers."""
ROTORS: dict[str, Callable[..., Any]] = {"wheels": reaction_wheels, "gyros": control_moment_gyros}
"""What rotors in a body are made by."""


def _other_than_default(make: Callable[..., Any], given: object) -> object:
    """Arguments of a function without those that are its defaults."""
    if not isinstance(given, Mapping):
        return given
    defaults = inspect.signature(make).parameters
    return {name: value for name, value in given.items() if value != defaults[name].default}


def summands(system: System) -> list[tuple[str, str]]:
    """Name of each body, load and quantity around them in a sum, or load beside a system's own, and what it is."""
    found = []
    records = system.arguments if system.name == "system" else system.arguments.get("loads") or {}
    around = [name for name, one in records.items()
              if isinstance(one, Mapping) and one.get("kind") in (OWN, *SURROUNDINGS)]  # fmt: skip
    for name, record in records.items():
        if name == "name":
            continue
        if not isinstance(record, Mapping):
            found.append((name, _shown(record)))
            continue
        told = {key: value for key, value in record.items() if key not in TOLD_APART}
        told |= {word: _other_than_default(make, told[word]) for word, make in ROTORS.items() if word in told}
        several = {key: isinstance(value, list | tuple | Mapping) for key, value in told.items()}
        inside = ", ".join(
            f"{key} ({_shown(one)})" if several[key] else f"{key} {_shown(one)}" for key, one in told.items()
        )
        if record.get("kind") == "body":
            found.append((name, f"body{', ' * bool(inside)}{inside}"))
            continue
        kind = record.get("kind", "")
        own = f"your function {record['function']['function']}" if "function" in record else ""
        if kind in (OWN, *SURROUNDINGS):
            found.append((name, f"surroundings {f'by {own}' if own else kind}{': ' * bool(inside)}{inside}"))
            continue
        if kind in JOINTS:
            found.append((name, f"{kind} on {', '.join(record['on'])}{': ' * bool(inside)}{inside}"))
            continue
        unsaid = {"states": "no body", "gravitation": "all bodies", "controller": ""}
        on = ", ".join(record.get("on", ())) or unsaid.get(kind, "every body")
        on = "all pairs" if on == "pairs" else on
        brings = "; state " + ", ".join(record["states"]) if record.get("states") else ""
        brings += "; for each body " + ", ".join(record["each"]) if record.get("each") else ""
        load = None if own or kind == "controller" else called(LOADS[kind], {
            key: one for key, one in told.items() if key not in ("after", "until")
        })  # fmt: skip
        asks = system.functions[name].function if own else load and load.function
        renamed = record.get("renamed", {})
        asked = [renamed.get(one, one) for one in (inspect.signature(asks).parameters if asks else ())]
        asked = [one for one in asked if one in around]
        reads = "; reads " * bool(asked) + ", ".join(asked)
        what = (own or kind) + ", an acceleration" * (kind == "acceleration")
        what = f"controller{f' by {own}' * bool(own)}" if kind == "controller" else what
        found.append((name, f"{what}{' on ' * bool(on)}{on}{': ' * bool(inside)}{inside}{brings}{reads}"))
    short = list[tuple[str, str]]()  # only the first and the last of many in a row that are of one kind
    for _, alike in groupby(found, lambda one: re.split(" on |,|:", one[1])[0]):
        some = list(alike)
        short += some if len(some) <= MOST_ALIKE else [some[0], ("...", f"{len(some) - 2} more"), some[-1]]
    return short


APART = ("body", "controller", OWN, *SURROUNDINGS, *JOINTS)
"""Kinds of summands that are no loads."""
LAWS = (("energy", "momentum", "angular_momentum_space"), ("energy", "total_momentum", "total_angular_momentum"))
"""What the loads of a sum of one body, and of several, are asked for one by one."""
MOST_ASKED = 12  # most loads that are


def breaking(system: System) -> dict[str, list[str]]:
    """Of each of LAWS that a sum does not keep, the loads that break it, each looked at alone, without rotors."""
    build = builder(system.name)
    records = {name: one for name, one in system.arguments.items() if isinstance(one, Mapping)}
    loads = [name for name, one in records.items() if one.get("kind") not in APART]
    if build is None or len(loads) > MOST_ASKED or not np.isfinite(system.mass).all():
        return {}
    given = {name: {key: value for key, value in one.items() if key not in ROTORS} for name, one in records.items()}
    given = with_functions(system.name, given, handed_in(system))
    always = [name for name, one in records.items() if one.get("kind") in ("body", OWN, *SURROUNDINGS)]
    centre = [name for name in loads if records[name].get("kind") == "central" and not records[name].get("on")]
    laws = [law for law in LAWS[system.N > 1] if law not in system.conserves]
    held = [name for name, one in records.items() if one.get("kind") in JOINTS and one["on"][1] == GROUND]
    found: dict[str, list[str]] = {law: held if law != "energy" else [] for law in laws}
    of_centre: tuple[str, ...] = ()
    for name in [*centre, *(one for one in loads if one not in centre)]:
        try:
            alone = build(**{one: given[one] for one in [*always, *centre, *([name] if name not in centre else [])]})
        except InvalidInput:  # it reads what others give
            continue
        of_centre = alone.conserves if name in centre else of_centre
        for law in laws:
            if law not in alone.conserves and (name in centre or not centre or law in of_centre):
                found[law] = [*found[law], name]
    return {law: names for law, names in found.items() if names}


def _written(value: Any) -> str:
    """The value of an argument in the call that builds a system: a function by its name, a record by its kind."""
    if isinstance(value, Mapping) and "function" in value:
        return _written(value["function"]) if isinstance(value["function"], Mapping) else value["function"]
    if isinstance(value, Mapping) and "kind" in value:
        return f"{value['kind']}({', '.join(f'{k}={_written(v)}' for k, v in value.items() if k != 'kind')})"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return f"[{', '.join(map(_written, value))}]"
    text = repr(value)
    return text if len(text) <= MOST else f"{text[: MOST // 2]}...]"


def system_text(system: System) -> str:
    """A system as the call that builds it, with a line for each load beside its own; a sum with a line for each body
    and load, and what is conserved."""
    lines = [f"  {name}: {what}" for name, what in summands(system)]
    if system.name != "system":
        given = ((key, value) for key, value in system.arguments.items() if value is not None and key != "loads")
        call = f"{system.name}({', '.join(f'{key}={_written(value)}' for key, value in given)})"
        return "\n".join([call, *lines])
    kept = ", ".join(system.conserves).replace("_", " ") or "nothing that is known"
    if not system.names:
        return "\n".join([system.title, *lines])
    doing = [own.label for own in system.auxiliary if own.quantity == "work"]
    work = ", ".join(doing if len(doing) <= MOST_ALIKE else [doing[0], "...", doing[-1]])
    lost = ", ".join(f"{law.replace('_', ' ')} ({', '.join(names)})" for law, names in breaking(system).items())
    lines += [f"  conserves {kept}{f'; the work of {work} is recorded' if work else ''}"]
    return "\n".join([system.title, *lines, *([f"  does not conserve {lost}"] if lost else [])])
