"""``polhode methods``: the table of methods."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command("methods", short_help="List the methods and what they keep.")
@click.option("--json", "as_json", is_flag=True, help="Print the table for machines.")
def command(as_json: bool) -> None:
    """List the methods: order, what they keep, cost, whom to cite.

    \b
    Examples:
        polhode methods
        polhode methods --json
        polhode run examples/fast-top.toml --method mkrk:gauss4:cayley

    Options follow the name after colons, in any order; what is left out takes its default.
    """
    rows = facts()
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    from polhode.cli.text import show

    table = Table("method", "order", "kept: free body", "kept: heavy top", "traits", "loads", "cite", box=None)
    for row in rows:
        traits = [
            word
            for word, has in (("symmetric", row["time_symmetric"]), ("symplectic", row["symplectic"]))
            if has
        ]  # fmt: skip
        table.add_row(
            row["name"], str(row["order"]), _words(row["keeps_free"]), _words(row["keeps_top"]),
            ", ".join([*traits, "implicit" if row["implicit"] else "explicit"]),
            f"{row['evaluations']}{'/iteration' if row['implicit'] else ''}", row["cite"],
        )  # fmt: skip
    show(table)
    click.echo()
    for row in rows:
        for option, about in row["options"].items():
            click.echo(
                f"{row['name']}:{option}  {about['description']}, one of {', '.join(about['choices'])}; default "
                f"{about['default']}"
            )
    click.echo('\nUse one: polhode run scenario.toml --method mkrk:gauss4, or method = "mkrk:gauss4" in the scenario.')


def facts() -> list[dict[str, Any]]:
    """Every method with its default options, in JSON's types."""
    from math import isfinite

    from polhode.methods import each_default

    rows = []
    for chosen in each_default():
        row, promises = chosen.method, chosen.promises
        rows.append(
            {
                "name": row.name,
                "family": row.family,
                "description": row.description,
                "order": promises.order,
                "keeps_free": list(promises.keeps_free),
                "keeps_top": list(promises.keeps_top),
                "time_symmetric": promises.time_symmetric,
                "symplectic": promises.symplectic,
                "implicit": promises.implicit,
                "evaluations": promises.evaluations,
                "largest_rotation_rad": row.range if isfinite(row.range) else None,
                "options": {
                    name: {
                        "default": option.default,
                        "choices": list(option.choices()),
                        "description": option.description,
                    }
                    for name, option in row.options.items()
                },
                "cite": row.cite,
            }
        )
    return rows


def _words(kept: list[str]) -> str:
    return ", ".join(kept).replace("_", " ") or "-"
