"""Tables, warnings as notes, and what a shell completes: names of methods, systems and studies, scenario files."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.errors import PolhodeWarning

if TYPE_CHECKING:
    from click import Context, Parameter
    from rich.table import Table


def show(head: Iterable[str], rows: Iterable[Iterable[str]], **how: Any) -> None:
    """Print a table of rich, with its words for how it looks."""
    from rich.table import Table

    table = Table(*head, **how)
    for row in rows:
        table.add_row(*row)
    print_table(table)


def print_table(table: Table) -> None:
    """Print a table of rich, as wide as the terminal, else up to 200 columns."""
    from rich.console import Console

    Console(width=shutil.get_terminal_size().columns if sys.stdout.isatty() else 200).print(table)


def laid_out(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A title, and below it rows of a name and what is said of it; those of which nothing is said are left out."""
    told = [(name, value) for name, value in rows if isinstance(value, str)]
    width = max(len(name) for name, _ in told)
    return "\n".join([title, *(f"  {name.ljust(width)}  {value}" for name, value in told)])


def show_summary(facts: dict[str, Any], table: Callable[[dict[str, Any]], str], as_json: bool, quiet: bool) -> None:
    """A summary: for machines on stdout, for people as a table on stderr."""
    if as_json:
        click.echo(json.dumps(facts, indent=2, allow_nan=False))
    if not quiet:
        click.echo(table(facts), err=True)


@contextmanager
def noted() -> Iterator[None]:
    """Warnings become notes on stderr, each once, when all has gone well."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", PolhodeWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in given):
        click.echo(f"polhode: note: {message}", err=True)


def complete_method(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Completions of the last of several method strings separated by commas: names, flows after a slash, options."""
    from polhode.errors import InvalidInput
    from polhode.methods import FLOW_NAMES, METHODS, OTHER_NAMES, method

    before, comma, word = incomplete.rpartition(",")
    head, colon, _ = word.rpartition(":")
    name, slash, _ = word.partition("/")
    if colon:
        try:
            rows = method(head).method.options.values()
        except InvalidInput:
            return []
        known = [f"{head}:{choice}" for row in rows for choice in row.choices()]
    elif slash:
        takes = name in METHODS and METHODS[name].with_flow is not None
        known = [f"{name}/{flow}" for flow in FLOW_NAMES if takes]
    else:
        known = [*METHODS, *(name for names in OTHER_NAMES.values() for name in names)]
    return [before + comma + text for text in known if text.startswith(word)]


def _complete_files(suffixes: tuple[str, ...], of_folders: tuple[str, ...]) -> Callable[..., list[str]]:
    """Files with these suffixes, and folders; one that is the only match with what is in it, as shells add a space."""

    def complete(context: Context | None, parameter: Parameter | None, incomplete: str) -> list[str]:
        before, slash, word = incomplete.rpartition("/")
        try:
            entries = sorted(Path(before + slash or ".").expanduser().iterdir())
        except OSError:
            return []
        shown = [one for one in entries
                 if one.name.startswith(word) and word.startswith(".") >= one.name.startswith(".")]  # fmt: skip
        folders = [f"{before}{slash}{one.name}/" for one in shown if one.is_dir() and one.suffix not in of_folders]
        files = [f"{before}{slash}{one.name}" for one in shown
                 if one.suffix in (of_folders if one.is_dir() else suffixes)]  # fmt: skip
        inside = complete(context, parameter, folders[0]) if len(folders) == 1 and word and not files else []
        return [*folders, *files, *inside]

    return complete


complete_scenario = _complete_files((".toml",), ())
complete_trajectory = _complete_files((".nc", ".toml"), (".zarr",))


def complete_system(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Completions of the name of a system."""
    from polhode.systems import SYSTEMS

    return [name for name in (*SYSTEMS, "bodies") if name.startswith(incomplete)]


def complete_study(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Completions of the name of a study; after a slash, of one of its figures."""
    from polhode_papers import STUDIES, study

    name, slash, word = incomplete.partition("/")
    if slash:
        figures = study(name).figures if name in STUDIES else ()
        return [f"{name}/{figure.name}" for figure in figures if figure.name.startswith(word)]
    return [known for known in STUDIES if known.startswith(name)]
