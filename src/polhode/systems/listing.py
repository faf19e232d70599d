"""Systems, forces and problems formatted for reading: for ``polhode systems``, ``polhode.systems()`` and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.arguments.words import arguments_of, summary
from polhode.bodies.body import body
from polhode.capabilities import CAPABILITIES, in_order
from polhode.html import Table, Tables
from polhode.joints import JOINTS
from polhode.loads import LOADS
from polhode.surroundings import SURROUNDINGS
from polhode.systems.controllers import controller
from polhode.systems.forces import FORCES
from polhode.systems.problems import PROBLEMS
from polhode.systems.registry import SYSTEMS, provided_by

SUMMANDS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "bodies": {"body": body}, "loads": LOADS, "joints": JOINTS, "controllers": {"controller": controller},
    "surroundings": SURROUNDINGS,
}  # fmt: skip
"""By the name of their list, or table, in a scenario, the functions that make summands, by kind."""


def system_facts() -> dict[str, Any]:
    """Systems, what sums are made of, forces, problems and capabilities in JSON's types."""
    provided = {name: in_order(provided_by(build) or ()) for name, build in SYSTEMS.items()}
    systems = [listed(name, build) | {"provides": provided[name]} for name, build in SYSTEMS.items()]
    forces = [listed(name, build) for name, build in FORCES.items()]
    of_sums = {group: [listed(name, build) for name, build in found.items()] for group, found in SUMMANDS.items()}
    problems = [
        {"name": name, "description": ready.description, "system": ready.build().name,
         "initial": {key: list(value) for key, value in ready.initial.items()},
         "step": ready.step, "t_end": ready.t_end, "cite": ready.cite}
        for name, ready in PROBLEMS.items()
    ]  # fmt: skip
    capabilities = {
        name: {"meaning": one.meaning, "systems": [system for system, names in provided.items() if name in names]}
        for name, one in CAPABILITIES.items()
    }
    return {"systems": systems, **of_sums, "forces": forces, "problems": problems, "capabilities": capabilities}


def listed(name: str, build: Callable[..., Any]) -> dict[str, Any]:
    """Name, description and arguments of a function that builds a system or a force."""
    told = ("required", "default", "unit", "description")
    arguments = {one.name: {key: getattr(one, key) for key in told} for one in arguments_of(build).values()}
    return {"name": name, "description": summary(build), "arguments": arguments}


def system_tables() -> Tables:
    """The tables of systems, of what sums are made of, of forces and problems, as ``polhode systems`` prints them."""
    found = system_facts()
    tables = []
    for title, about, rows in (
        ("Systems", "polhode.systems.NAME(...) builds one; arguments in brackets may be left out.", found["systems"]),
        ("Bodies", "polhode.body(...), of which polhode.system(...) is made.", found["bodies"]),
        ("Loads", "polhode.loads.NAME(...), on the bodies of polhode.system(...).", found["loads"]),
        ("Joints", "polhode.joints.NAME(...), between two bodies of polhode.system(...).", found["joints"]),
        ("Controllers", "polhode.controller(...), which sets states at its samples.", found["controllers"]),
        ("Surroundings", "polhode.surroundings.NAME(...), which loads read by name.", found["surroundings"]),
        ("Forces", "polhode.forces.NAME(...), for orbits and spacecraft.", found["forces"]),
    ):
        lines = []
        for row in rows:
            arguments = [name if one["required"] else f"({name})" for name, one in row["arguments"].items()]
            lines.append((row["name"], row["description"].replace("``", ""), ", ".join(arguments)))
        tables.append(Table(title, about, ("name", "what", "arguments"), tuple(lines)))
    short = [(row["name"], row["description"], f"{row['step']:g}", f"{row['t_end']:g}", row["cite"])
             for row in found["problems"]]  # fmt: skip
    about = "polhode.systems.problem(NAME) builds one: system, initial state, step and end of a paper."
    tables.append(Table("Problems", about, ("name", "what", "step", "t_end", "cite"), tuple(short)))
    return Tables(tuple(tables))
