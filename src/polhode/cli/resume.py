"""``polhode resume``: go on with a run from its live store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from polhode.cli.run import Display, Result, caught, check_place, deliver, resuming
from polhode.errors import InvalidInput


@click.command("resume", short_help="Go on with a run from its live store, after Ctrl-C, kill or a power cut.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Trajectory to write: .nc (netCDF) or .zarr.")
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, help="Processors that share the loads of many bodies."
)
@click.option("--no-picture", is_flag=True, help="Write no PNG.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary for machines on stdout.")
@click.option("--overwrite", is_flag=True, help="Replace files that polhode did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
@click.option("--allow-code", is_flag=True, help="Load the Python functions the scenario names. Read them first.")
def command(
    store: Path, output: Path | None, threads: int, no_picture: bool, as_json: bool, overwrite: bool, quiet: bool,
    allow_code: bool,
) -> None:  # fmt: skip
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
    picture = not no_picture
    deliver(lambda display: _computed(store, output, threads, picture, overwrite, allow_code, display), quiet=quiet,
            no_picture=no_picture, as_json=as_json)  # fmt: skip


def _computed(
    store: Path, output: Path | None, threads: int, picture: bool, overwrite: bool, allow_code: bool, display: Display
) -> Result:
    from polhode.runs.resume import resume
    from polhode.runs.store import LiveStore, Store
    from polhode.trajectory.outputs import check_defaults

    origin = LiveStore.opened(Store(store)).origin
    out = output or Path(f"{store.stem}.nc")
    check_place(out, store)
    check_defaults(output, overwrite, out, *([out.with_suffix(".png")] if picture else []))
    functions: dict[str, Any] = {}
    if allow_code:
        from polhode.runs.scenario import read_scenario

        if origin is None:
            raise InvalidInput(f"the run in {store} is of no scenario; hand its functions to polhode.resume in Python")
        functions = read_scenario(origin, True).functions
    on = resuming(store, out, allow_code)
    try:
        return caught(
            lambda: resume(store, progress=display, threads=threads, **functions),
            display,
            out,
            None,
            str(origin or store),
            on,
            store if output is None else None,
        )
    except InvalidInput as refused:
        if "hand it in again" in str(refused) and origin is not None and not allow_code:
            raise InvalidInput(
                f"the run in {store} used Python functions that {origin} names; read them, then add --allow-code"
            ) from None
        raise
