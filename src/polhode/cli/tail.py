"""``polhode tail``: the last rows of a live store."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("tail", short_help="The last rows of a live store, also while it grows.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("-n", "many", type=click.IntRange(min=1), default=5, show_default=True, help="Rows to print.")
@click.option("-f", "--follow", is_flag=True, help="Go on with new rows until the run has ended, or Ctrl-C.")
@click.option("--variables", help="What to print: names separated by commas, such as attitude,energy_error.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each row.")
def command(store: Path, many: int, follow: bool, variables: str | None, as_json: bool) -> None:
    """Print the last rows of the run in STORE, which may be going on in another process.

    \b
    Examples:
        polhode tail long.zarr
        polhode tail long.zarr -n 1 --variables energy_error
        polhode tail long.zarr --follow

    A run shows its rows every two seconds. With --follow at most -n of the new ones are printed at each look, the
    newest; how many were left out is said on stderr. It ends when the run does. In Python:
    polhode.load("long.zarr", lazy=True).isel(time=slice(-5, None)).
    """
    from polhode.runs.status import columns_of, last_rows, numbers_of, shown_of, status

    names = None
    for ds, left_out in last_rows(store, many, follow):
        if names is None:
            names = shown_of(ds, [] if variables is None else [name.strip() for name in variables.split(",")])
            columns = columns_of(ds, names)
            if not as_json:
                click.echo("  ".join(name.rjust(WIDTH) for name in columns))
        if left_out:
            click.echo(f"({left_out} rows left out)", err=True)
        for row in numbers_of(ds, names):
            if as_json:
                numbers = (x if x == x and abs(x) != float("inf") else None for x in row.tolist())
                click.echo(json.dumps(dict(zip(columns, numbers, strict=True))))
            else:
                cells = (f"{x:.9g}".rjust(max(WIDTH, len(name))) for name, x in zip(columns, row, strict=True))
                click.echo("  ".join(cells))
    if follow:
        found = status(store)
        click.echo(f"the run is {found.state}" + (f": {found.told}" if found.told else ""), err=True)


WIDTH = 16
"""Of a column: nine digits, a sign and an exponent."""
