"""Files that are the old ones or the new ones at any time, also after a failure of the power."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path

MANY = 256
"""Files from which on all that waits to be written is synced at once, in the place of each file."""


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file as a whole: at any time, also after a failure of the power, it is the old one or the new one."""
    write(path, data, durably=True)
    sync_folder(path.parent)


def write(path: Path, data: bytes, durably: bool = False) -> None:
    """Replace a file as a whole: whoever reads it sees the old one or the new one. It is safe after ``sync``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.partial")
    try:
        with draft.open("wb") as file:
            file.write(data)
            if durably:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def sync(files: Collection[Path]) -> None:
    """Make files durable that ``write`` has written."""
    if len(files) > MANY and hasattr(os, "sync"):
        os.sync()
        return
    for file in files:
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())
    for folder in {file.parent for file in files}:
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where folders can be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
