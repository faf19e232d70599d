"""Tables on stdout."""

from __future__ import annotations

import shutil
import sys
from typing import Any


def show(table: Any) -> None:
    """Print a rich table; as wide as it needs where no terminal limits it."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    Console(width=width).print(table)
