"""Where a sweep is kept: a folder on a disk, or a URL of object storage, with files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from polhode import reading
from polhode.durable import PARTIAL, write_beside_others
from polhode.errors import FileProblem, InvalidInput, MissingExtra, shown
from polhode.trajectory.files import zarr_store


class Folder:
    """A folder by its path, or by its URL where there is a ``://`` in it."""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        text = os.fspath(name)
        if not text.rstrip("/").endswith(".zarr"):
            raise InvalidInput(f"the store {shown(text)} of a sweep must end in .zarr; it will be a Zarr folder")
        text = text.removeprefix("file://")
        self.remote = "://" in text
        self.name = text.rstrip("/") if self.remote else str(Path(text).absolute())
        self.files: Any = None
        if self.remote:
            try:
                from fsspec.core import url_to_fs
            except ImportError:
                raise MissingExtra(
                    f"the store {text} is a URL, for which fsspec is needed: pip install 'polhode[cluster]'"
                ) from None
            try:
                self.files, self.root = url_to_fs(self.name)
            except (ImportError, ValueError) as unknown:
                raise InvalidInput(f"cannot reach the store {text}: {unknown}") from None

    def __str__(self) -> str:
        return self.name

    def read(self, key: str) -> bytes | None:
        """What a file holds, or None where there is none."""
        try:
            if self.remote:
                return bytes(self.files.cat_file(f"{self.root}/{key}"))
            file = Path(self.name) / key
            return reading.data(file, "record") if file.exists() else None
        except FileNotFoundError:
            return None
        except FileProblem:
            raise
        except OSError as refused:
            raise FileProblem(f"cannot read {self.name}/{key}: {refused.strerror or refused}") from refused

    def write(self, key: str, data: bytes, *, new: bool = False) -> bool:
        """Put a file into its place as a whole; False where there is one already and it should be new."""
        if self.remote:
            if new and self.files.exists(f"{self.root}/{key}"):
                return False
            self.files.makedirs(f"{self.root}/{key}".rpartition("/")[0], exist_ok=True)
            self.files.pipe_file(f"{self.root}/{key}", data)
            return True
        try:
            write_beside_others(Path(self.name) / key, data, new=new)
        except FileExistsError:
            return False
        return True

    def keys(self, folder: str) -> list[str]:
        """Names of the files in a folder within, none where there is no such folder."""
        try:
            if self.remote:
                self.files.invalidate_cache()
                found = [str(name).rpartition("/")[2] for name in self.files.ls(f"{self.root}/{folder}", detail=False)]
            else:
                found = os.listdir(Path(self.name) / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in found if not name.endswith(PARTIAL)]

    def anything(self) -> bool:
        """Whether something is there already."""
        if self.remote:
            return bool(self.files.exists(self.root) and self.keys(""))
        path = Path(self.name)
        return path.is_file() or (path.is_dir() and any(not n.endswith(PARTIAL) for n in os.listdir(path)))

    def zarr(self, *, writable: bool) -> Any:
        """The Zarr store of it."""
        if not self.remote:
            return zarr_store(write_beside_others)(self.name, read_only=not writable)
        from zarr.storage import FsspecStore

        return FsspecStore.from_url(self.name, read_only=not writable)

    def tidy(self) -> None:
        """Remove what writers that were killed have left."""
        if self.remote:
            return
        for folder, _, names in os.walk(self.name):
            for name in names:
                if name.endswith(PARTIAL):
                    with contextlib.suppress(OSError):
                        os.unlink(Path(folder) / name)
