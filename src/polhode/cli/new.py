"""``polhode new``: a scenario to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from polhode.cli.text import complete_system
from polhode.errors import FileProblem, InvalidInput


@click.command("new", short_help="Write a scenario to begin with, with every key of a system explained.")
@click.argument("system", shell_complete=complete_system)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write. [<system>.toml]")
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(system: str, output: Path | None, force: bool, quiet: bool) -> None:
    """Write a scenario of SYSTEM, one of `polhode systems`, or `bodies` for bodies and loads of your own: a TOML file
    that runs as it is, in which every key stands with its unit, meaning and default.

    \b
    Examples:
        polhode new heavy_top
        polhode run heavy_top.toml
        polhode new bodies -o pair.toml
        polhode new orbit -o first-orbit.toml
        polhode new orbit -o first-orbit.toml --force

    Keys that may be left out stand behind a #.
    """
    from polhode.runs.scenario.starters import starter

    path = output if output is not None else Path(f"{system}.toml")
    text = starter(system, path.stem)
    if path.suffix != ".toml":
        raise InvalidInput(f"-o {str(output)!r} must end in .toml, as a scenario does")
    try:
        with open(path, "w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileProblem(f"there is already a file {path}; choose another with -o, or add --force") from None
    except OSError as refused:
        raise FileProblem(f"cannot write {path}: {refused.strerror}; choose another place with -o") from refused
    if not quiet:
        click.echo(f"written: {path}; next: polhode run {path}", err=True)
