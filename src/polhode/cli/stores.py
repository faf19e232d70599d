"""``polhode resume``, ``polhode info`` and ``polhode tail``: live stores of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import polhode as ph
from polhode.cli.options import (
    ALLOW_CODE,
    JSON,
    NO_PICTURE,
    OUTPUT,
    OVERWRITE,
    QUIET,
    THREADS,
    argument,
    as_command,
    option,
)
from polhode.cli.run import Display, Result, check_place, deliver, resuming
from polhode.cli.text import laid_out
from polhode.display import duration
from polhode.errors import InvalidInput

WIDTH = 16  # of a column of rows: nine digits, a sign and an exponent


@as_command
def resume(
    store: Path = argument(),
    output: Path | None = OUTPUT,
    threads: int = THREADS,
    no_picture: bool = NO_PICTURE,
    as_json: bool = JSON,
    overwrite: bool = OVERWRITE,
    quiet: bool = QUIET,
    allow_code: bool = ALLOW_CODE,
) -> None:
    """Resume the run in STORE at its last checkpoint, complete it, and write the whole trajectory and its picture.

    \b
    Examples:
        polhode resume long.zarr
        polhode resume long.zarr -o long.nc --no-picture
        polhode run examples/gravity-gradient.toml --store long.zarr        how it was started

    On the same machine and version the result is bit for bit that of an uninterrupted run; elsewhere a note is printed.
    Ctrl-C stops it again, any number of times. STORE has all the run needs; only Python functions that a scenario names
    are loaded from its file again, with --allow-code. A run that is complete is only written.

    The trajectory goes to <store name>.nc in the current folder unless -o says otherwise; one of more than 256 MB stays
    in the store alone, unless -o names a file. During a run,
    polhode.load("long.zarr") in Python reads the rows written so far. In Python: polhode.resume("long.zarr").
    """

    def computed(display: Display) -> Result:
        from polhode.runs.store import LiveStore, Store
        from polhode.trajectory.outputs import check_defaults

        origin = LiveStore.opened(Store(store)).origin
        out = output or Path(f"{store.stem}.nc")
        check_place(out, store)
        check_defaults(output, overwrite, out, *([] if no_picture else [out.with_suffix(".png")]))
        functions: dict[str, Any] = {}
        if allow_code:
            if origin is None:
                raise InvalidInput(
                    f"the run in {store} is of no scenario; hand its functions to polhode.resume in Python"
                )
            functions = ph.runs.read_scenario(origin, True).functions
        kept = store if output is None else None
        result = Result(out, None, str(origin or store), resuming(store, out, allow_code), kept)
        try:
            return result.of(lambda: ph.resume(store, progress=display, threads=threads, **functions), display)
        except InvalidInput as refused:
            if "hand it in again" in str(refused) and origin is not None and not allow_code:
                raise InvalidInput(
                    f"the run in {store} used Python functions that {origin} names; read them, then add --allow-code"
                ) from None
            raise

    deliver(computed, quiet, no_picture, as_json)


@as_command
def info(store: Path = argument(), as_json: bool = option("--json", "Print it for machines.")) -> None:
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
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
        return

    def at(t: float | None) -> str:
        return "?" if t is None else f"{t:.9g}"

    of = "" if found.of is None else f" of {found.of}"
    share = "" if found.share is None else f"{100.0 * found.share:.3g} %, "
    each = "" if found.bytes_per_row is None else f", {found.bytes_per_row:.3g} bytes a row"
    rate = found.steps_per_second
    click.echo(laid_out(found.title, [
        ("state", found.state + (f": {found.told}" if found.told and found.state != "running" else "")),
        ("span", f"{share}t = {at(found.start)} to {at(found.now)}, asked for up to {at(found.end)}"),
        ("rows", f"{found.rows}, of which {found.rows_safe} are safe"),
        ("steps", f"{found.steps}{of} at the last checkpoint, {duration(round(found.checkpoint_age, 1))} ago"),
        ("rate", rate is not None and f"{rate:,.0f} steps/s, {duration(found.seconds)} computed"),
        ("to go", found.left is not None and duration(round(found.left))),
        ("disk", f"{found.bytes / 1e6:,.3g} MB{each}"),
        ("go on with", found.state == "stopped" and f"polhode resume {found.store}"),
    ]))  # fmt: skip


@as_command
def tail(
    store: Path = argument(),
    many: int = option("-n", "Rows to print.", type=click.IntRange(min=1), default=5, show_default=True),
    follow: bool = option("-f --follow", "Go on with new rows until the run has ended, or Ctrl-C."),
    variables: str | None = option(
        "--variables", "What to print: names separated by commas, such as attitude,energy_error."
    ),
    as_json: bool = option("--json", "Print a line of JSON for each row."),
) -> None:
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
