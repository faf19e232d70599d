"""Systems, forces and problems formatted for reading: for ``polhode systems``, ``polhode.systems()`` and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.capabilities import CAPABILITIES, in_order
from polhode.html import Table, Tables, facts
from polhode.systems.words import arguments_of, summary

if TYPE_CHECKING:
    from polhode.systems.record import System

FEW = 4
"""Most bodies whose moments are written out."""
LONGEST = 90
"""Most characters of the value of an argument."""


def system_facts() -> dict[str, Any]:
    """Systems, forces, problems and capabilities in JSON's types."""
    from polhode.systems import PROBLEMS, SYSTEMS, provided_by
    from polhode.systems.forces import FORCES

    provided = {name: in_order(provided_by(build) or ()) for name, build in SYSTEMS.items()}
    systems = [listed(name, build) | {"provides": provided[name]} for name, build in SYSTEMS.items()]
    forces = [listed(name, build) for name, build in FORCES.items()]
    problems = [
        {
            "name": name,
            "description": ready.description,
            "system": ready.build().name,
            "initial": {key: list(value) for key, value in ready.initial.items()},
            "step": ready.step,
            "t_end": ready.t_end,
            "cite": ready.cite,
        }
        for name, ready in PROBLEMS.items()
    ]
    capabilities = {
        name: {
            "meaning": capability.meaning,
            "systems": [system for system, names in provided.items() if name in names],
        }
        for name, capability in CAPABILITIES.items()
    }
    return {"systems": systems, "forces": forces, "problems": problems, "capabilities": capabilities}


def listed(name: str, build: Callable[..., Any]) -> dict[str, Any]:
    """Name, description and arguments of a function that builds a system or a force."""
    return {
        "name": name,
        "description": summary(build),
        "arguments": {
            argument.name: {
                "required": argument.required,
                "default": argument.default,
                "unit": argument.unit,
                "description": argument.description,
            }
            for argument in arguments_of(build).values()
        },
    }


def system_tables() -> Tables:
    """The tables of systems, forces and problems, as ``polhode systems`` prints them."""
    found = system_facts()
    tables = []
    for title, about, rows in (
        ("Systems", "polhode.NAME(...) builds one; arguments in brackets may be left out.", found["systems"]),
        ("Forces", "polhode.forces.NAME(...), for orbits and spacecraft.", found["forces"]),
    ):
        lines = []
        for row in rows:
            arguments = [name if one["required"] else f"({name})" for name, one in row["arguments"].items()]
            lines.append((row["name"], row["description"].replace("``", ""), ", ".join(arguments)))
        tables.append(Table(title, about, ("name", "what", "arguments"), tuple(lines)))
    short = [(row["name"], row["description"], f"{row['step']:g}", f"{row['t_end']:g}", row["cite"])
             for row in found["problems"]]  # fmt: skip
    about = "polhode.problem(NAME) builds one: system, initial state, step and end of a paper."
    tables.append(Table("Problems", about, ("name", "what", "step", "t_end", "cite"), tuple(short)))
    return Tables(tuple(tables))


def system_html(system: System) -> str:
    """A system for a notebook: arguments, inertia, loads, and what it conserves."""
    from polhode.systems import SYSTEMS

    build = SYSTEMS.get(system.name)
    pairs: list[tuple[str, Any]] = [(name, _shown(value)) for name, value in system.arguments.items()]
    pairs += [(name, "your function") for name in system.functions if name not in system.arguments]
    count = len(system.mass)
    moments = np.asarray(system.moments, dtype=float)
    turning = np.isfinite(moments).any(axis=-1)
    if turning.any():
        same = bool((moments == moments[0]).all())
        each = [moments[0]] if same else list(moments[:FEW])
        words = "; ".join(", ".join(f"{value:g}" for value in one) for one in each)
        pairs.append(("principal moments", words + (" each" if same and count > 1 else "") +
                      (" ..." if not same and count > FEW else "")))  # fmt: skip
    pairs.append(("bodies", f"{count}{'' if turning.any() else ', points'}"))
    pairs.append(("conserves", ", ".join(system.conserves).replace("_", " ") or "nothing that is known"))
    pairs.append(("method unless you name one", system.recommended))
    about = summary(build).replace("``", "") if build is not None else ""
    return facts(system.name, about, pairs)


def _shown(value: Any) -> str:
    """The value of an argument in a few words."""
    if value is None:
        return "not given"
    if isinstance(value, Mapping) and "function" in value:
        return f"your function {value['function']}"
    if isinstance(value, Mapping):
        kind = value.get("kind", "")
        others = ", ".join(f"{name} {_shown(one)}" for name, one in value.items() if name != "kind")
        return f"{kind}: {others}" if kind else others
    if isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
        return "; ".join(str(one.get("kind", _shown(one))) if isinstance(one, Mapping) else str(one) for one in value)
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple) and value and all(isinstance(one, float) for one in value):
        return ", ".join(_shown(one) for one in value)
    text = "none" if isinstance(value, list | tuple) and not value else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
