"""``polhode systems``: list the systems, what sums are made of, the forces of orbits, and the ready-made problems."""

from __future__ import annotations

import json

import click

EXAMPLE = """\
Use a problem, or a system of your own, in a scenario:

    problem = "krysl_fast_top"            [system]
                                          type = "heavy_top"
    [run]                                 inertia = [5.0, 5.0, 1.0]
    step = 0.001                          center_of_mass = [0.0, 0.0, 1.0]
                                          weight = 20.0

In Python: polhode.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0).

Of bodies and loads a system of your own is put together, in Python by polhode.system(...); `polhode new bodies` writes
such a scenario."""


@click.command("systems", short_help="List the systems, bodies, loads, forces and ready-made problems.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables for machines.")
def command(as_json: bool) -> None:
    """List the systems, the bodies and loads of sums, and the forces of orbits with their arguments, the ready-made
    problems of the papers, and what systems can provide that methods may need.

    \b
    Examples:
        polhode systems
        polhode systems --json
    """
    from polhode.systems.listing import system_facts

    found = system_facts()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    from rich.markup import escape
    from rich.table import Table

    from polhode.cli.text import show

    kinds = {"system": "systems", "body": "bodies", "load": "loads", "controller": "controllers",
             "surroundings": "surroundings", "force": "forces"}  # fmt: skip
    for what, rows in kinds.items():
        table = Table(what, "what", "arguments (optional)", box=None)
        for row in found[rows]:
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
