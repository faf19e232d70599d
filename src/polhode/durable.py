"""Files that are the old ones or the new ones at any time, also after a failure of the power."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from polhode.operating_system import sync_folder

MANY = 256  # files that may wait to be synced
PARTIAL = ".partial"  # how the names of files end that are being written


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file as a whole: at any time, also after a failure of the power, it is the old one or the new one."""
    write(path, data, durably=True)
    sync_folder(path.parent)


def write_beside_others(path: Path, data: bytes, *, new: bool = False) -> None:
    """The same where several write one file: their drafts do not meet, and the last one stands; of a ``new`` file the
    first one, and FileExistsError is raised by others."""
    import socket

    write(path, data, durably=True, apart=f".{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}", new=new)
    sync_folder(path.parent)


def write(path: Path, data: bytes, durably: bool = False, apart: str = "", new: bool = False) -> None:
    """Replace a file as a whole: whoever reads it sees the old one or the new one. It is safe once it is synced. Drafts
    are called otherwise, and hidden, with ``apart``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{'.' * bool(apart)}{path.name}{apart}{PARTIAL}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            if durably:
                file.flush()
                os.fsync(file.fileno())
        if new:
            os.link(draft, path)
            draft.unlink()
        else:
            os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


class Unsynced:
    """Files that are written as a whole, and are safe after ``sync``: the disk has written most of them until then."""

    def __init__(self) -> None:
        self.files: set[Path] = set()

    def write(self, path: Path, data: bytes) -> None:
        """As the function of this name."""
        write(path, data)
        self.files.add(path)
        if len(self.files) >= MANY:
            self.sync()

    def sync(self) -> None:
        """Make all files durable."""
        for file in self.files:
            with file.open("rb+") as opened:
                os.fsync(opened.fileno())
        for folder in {file.parent for file in self.files}:
            sync_folder(folder)
        self.files.clear()
