"""Tables on stdout, and completion of method names in a shell."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from click import Context, Parameter


def show(table: Any) -> None:
    """Print a rich table, as wide as the terminal, else up to 200 columns."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    Console(width=width).print(table)


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
