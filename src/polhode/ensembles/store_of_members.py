"""Members of an ensemble on disk: a Zarr folder that receives blocks of members as they are done, in any order.

A chunk has all rows of some members. Blocks that end within one wait in memory until the chunk is full; so an ensemble
needs no more memory for a million members than for a thousand. What is not written is NaN, and ``status`` is -1 there.
Last of all comes the metadata of the whole group, which is the mark that all is written.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polhode.arguments import path as checked_path
from polhode.durable import write_durably
from polhode.ensembles.engines import NOT_RUN
from polhode.errors import FileProblem, InvalidInput, shown
from polhode.lazy import xr
from polhode.trajectory.growing import NODE, Growing, group_of, opened

BUFFER = 2**23
"""Bytes of all variables of the members in a chunk; at least one member."""
MEMBER = "member"


class StoreOfMembers(Growing):
    """Where the members of an ensemble go; blocks may come from several threads at once."""

    def __init__(self, path: str | os.PathLike[str], members: int) -> None:
        self.path, self.members = Path(checked_path(path, "store")), members
        if self.path.suffix != ".zarr":
            raise InvalidInput(f"the store {shown(str(self.path))} must end in .zarr; it will be a Zarr folder")
        if self.path.exists() and not (self.path.is_dir() and not any(self.path.iterdir())):
            raise FileProblem(f"{self.path} exists already; name another store for these members, or remove it")
        super().__init__(self.path, MEMBER, members, BUFFER)
        self.added, self.rows, self.fills = 0, members, {"status": NOT_RUN}
        self.waiting: dict[int, tuple[dict[str, Any], int]] = {}
        self.lock = threading.Lock()

    def add_members(self, first: int, block: xr.Dataset) -> None:
        """Take members from ``first`` on: a Dataset with the dimension ``member``, the same rows in all blocks."""
        size = block.sizes[MEMBER]
        with self.lock, self._writing():
            if not self.pending:
                self._begin(block)
            values = {name: block.variables[name].values for name in self.pending if name != MEMBER}
            values[MEMBER] = np.arange(first, first + size)
            begin = 0
            while begin < size:
                number = (first + begin) // self.chunk
                end = min(size, (number + 1) * self.chunk - first)
                self._fill(number, first + begin, {name: own[begin:end] for name, own in values.items()})
                begin = end
            self.added += size

    def _fill(self, number: int, first: int, values: Mapping[str, Any]) -> None:
        """Put members into their chunk, which is written when it is full."""
        begin = number * self.chunk
        whole = min(self.chunk, self.members - begin)
        buffers, filled = self.waiting.get(number) or ({name: one.copy() for name, one in self.pending.items()}, 0)
        here = slice(first - begin, first - begin + len(values[MEMBER]))
        for name, own in values.items():
            buffers[name][here] = own
        filled += len(values[MEMBER])
        self.waiting[number] = buffers, filled
        if filled == whole:
            self._write_members(number)

    def _write_members(self, number: int) -> None:
        """Write a chunk that waits, or where none does the numbers of its members alone."""
        buffers, _ = self.waiting.pop(number, ({MEMBER: np.empty(self.chunk, dtype=np.int64)}, 0))
        buffers[MEMBER][:] = number * self.chunk + np.arange(self.chunk)
        self._write_chunk(number, buffers)

    def close(self, attributes: Mapping[str, Any] | None = None) -> xr.Dataset:
        """Write what waits, and then the mark that all is written; the Dataset, its variables left on disk."""
        with self.lock, self._writing():
            for number in range(-(-self.members // self.chunk)):
                if number in self.waiting or not (self.path / MEMBER / "c" / str(number)).exists():
                    self._write_members(number)
            self.disk.sync()
            write_durably(self.path / NODE, group_of(self.nodes, {**(attributes or {}), **self.coordinates}))
        return opened(self.path, MEMBER)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """What the disk refuses becomes one sentence."""
        try:
            yield
        except FileProblem:
            raise
        except OSError as problem:
            raise FileProblem(
                f"cannot write {self.path}: {problem.strerror or problem}; make room, remove it, and run again"
            ) from problem
