"""``polhode systems``: list the systems, the forces of orbits, and the ready-made problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

EXAMPLE = """\
Use a problem, or a system of your own, in a scenario:

    problem = "krysl_fast_top"            [system]
                                          type = "heavy_top"
    [run]                                 inertia = [5.0, 5.0, 1.0]
    step = 0.001                          center_of_mass = [0.0, 0.0, 1.0]
                                          weight = 20.0

In Python: polhode.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)."""


@click.command("systems", short_help="List the systems, forces and ready-made problems.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables for machines.")
def command(as_json: bool) -> None:
    """List the systems and the forces of orbits with their arguments, the ready-made problems of the papers, and what
    systems can provide that methods may need.

    \b
    Examples:
        polhode systems
        polhode systems --json
    """
    found = facts()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    from rich.markup import escape
    from rich.table import Table

    from polhode.cli.text import show

    for what, rows in (("system", found["systems"]), ("force", found["forces"])):
        table = Table(what, "what", "arguments (optional)", box=None)
        for row in rows:
            arguments = [name if about["required"] else f"({name})" for name, about in row["arguments"].items()]
            table.add_row(row["name"], escape(row["description"].replace("``", "")), ", ".join(arguments))
        show(table)
        click.echo()
    table = Table("problem", "what", "step", "t_end", "cite", box=None)
    for row in found["problems"]:
        table.add_row(row["name"], escape(row["description"]), f"{row['step']:g}", f"{row['t_end']:g}", row["cite"])
    show(table)
    click.echo()
    table = Table("capability", "what a system with it has", "systems, without their optional arguments", box=None)
    for name, about in found["capabilities"].items():
        table.add_row(name, escape(about["meaning"]), ", ".join(about["systems"]))
    show(table)
    click.echo(f"\n{EXAMPLE}")


def facts() -> dict[str, Any]:
    """Systems, forces, problems and capabilities in JSON's types."""
    from polhode.capabilities import CAPABILITIES, in_order
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
    from polhode.systems.words import arguments_of, summary

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
