"""``polhode info``: how far the run of a live store is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polhode.cli.text import laid_out

if TYPE_CHECKING:
    from polhode.runs.status import Status


@click.command("info", short_help="How far the run of a live store is: rows, size, rate, time to go.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it for machines.")
def command(store: Path, as_json: bool) -> None:
    """Tell how far the run in STORE is, which may be going on in another process: rows so far, the span, the size on
    the disk, the rate, and while it runs the time it still takes. Nothing is computed, and nothing is changed.

    \b
    Examples:
        polhode info long.zarr
        polhode info long.zarr --json
        watch -n 5 polhode info long.zarr

    The state is running, stopped (polhode resume goes on with it), complete, or failed. The rate counts the time of
    writing, up to the last checkpoint; rows that are safe are those a resumed run goes on from. In Python:
    polhode.load("long.zarr", lazy=True).
    """
    from polhode.runs.status import status

    found = status(store)
    click.echo(json.dumps(found.to_json(), indent=2, allow_nan=False) if as_json else table(found))


def table(found: Status) -> str:
    """The status for people."""
    from polhode.display import duration

    def at(t: float | None) -> str:
        return "?" if t is None else f"{t:.9g}"

    of = "" if found.of is None else f" of {found.of}"
    share = "" if found.share is None else f"{100.0 * found.share:.3g} %, "
    rows = [
        ("state", found.state + (f": {found.told}" if found.told and found.state != "running" else "")),
        ("span", f"{share}t = {at(found.start)} to {at(found.now)}, asked for up to {at(found.end)}"),
        ("rows", f"{found.rows}, of which {found.rows_safe} are safe"),
        ("steps", f"{found.steps}{of} at the last checkpoint, {duration(round(found.checkpoint_age, 1))} ago"),
    ]
    if found.steps_per_second is not None:
        rows.append(("rate", f"{found.steps_per_second:,.0f} steps/s, {duration(found.seconds)} computed"))
    if found.left is not None:
        rows.append(("to go", duration(round(found.left))))
    each = "" if found.bytes_per_row is None else f", {found.bytes_per_row:.3g} bytes a row"
    rows.append(("disk", f"{found.bytes / 1e6:,.3g} MB{each}"))
    if found.state == "stopped":
        rows.append(("go on with", f"polhode resume {found.store}"))
    return laid_out(found.title, rows)
