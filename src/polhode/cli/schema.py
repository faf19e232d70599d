"""``polhode schema``: the JSON schema of scenario files, for editors and other programs."""

from __future__ import annotations

import json

import click


@click.command("schema", short_help="Print the JSON schema of scenario files.")
def command() -> None:
    """Print the JSON schema of scenario files.

    \b
    Example:
        polhode schema > scenario.schema.json

    Editors that know TOML schemas complete and check keys with it; put this on the first line of a scenario:

    \b
        #:schema scenario.schema.json
    """
    from polhode.runs.scenario import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
