"""Members of an ensemble on disk: a Zarr folder that receives blocks of members as they are done, in any order.

A chunk has all rows of some members. Blocks that end within one wait in memory until the chunk is full; so an ensemble
needs no more memory for a million members than for a thousand. What is not written is NaN, and ``status`` is -1 there.
Last of all comes the metadata of the whole group, which is the mark that all is written.
"""

from __future__ import annotations

import math
import os
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments import path as checked_path
from polhode.durable import Unsynced, write_durably
from polhode.ensembles.engines import NOT_RUN
from polhode.errors import FileProblem, InvalidInput, shown
from polhode.trajectory.growing import NODE, encoded, group_of, node_of, opened, text_of

if TYPE_CHECKING:
    import xarray as xr

BUFFER = 2**23
"""Bytes of all variables of the members in a chunk; at least one member."""
MEMBER = "member"


class StoreOfMembers:
    """Where the members of an ensemble go; blocks may come from several threads at once.


    Attributes
    ----------
    added : int
        Members handed in.
    """

    def __init__(self, path: str | os.PathLike[str], members: int) -> None:
        self.path, self.members = Path(checked_path(path, "store")), members
        if self.path.suffix != ".zarr":
            raise InvalidInput(f"the store {shown(str(self.path))} must end in .zarr; it will be a Zarr folder")
        if self.path.exists() and not (self.path.is_dir() and not any(self.path.iterdir())):
            raise FileProblem(f"{self.path} exists already; name another store for these members, or remove it")
        self.added, self.chunk = 0, 0
        self.nodes: dict[str, dict[str, Any]] = {}
        self.fills: dict[str, tuple[tuple[int, ...], Any, Any]] = {}
        self.waiting: dict[int, tuple[dict[str, Any], int]] = {}
        self.disk = Unsynced()
        self.coordinates: list[str] = []
        self.lock = threading.Lock()

    def add(self, first: int, block: xr.Dataset) -> None:
        """Take members from ``first`` on: a Dataset with the dimension ``member``, the same rows in all blocks."""
        size = block.sizes[MEMBER]
        with self.lock, self._writing():
            if not self.nodes:
                self._begin(block)
            values = {name: block.variables[name].values for name in self.fills if name != MEMBER}
            values[MEMBER] = np.arange(first, first + size)
            begin = 0
            while begin < size:
                number = (first + begin) // self.chunk
                end = min(size, (number + 1) * self.chunk - first)
                self._fill(number, first + begin, {name: own[begin:end] for name, own in values.items()})
                begin = end
            self.added += size

    def _begin(self, block: xr.Dataset) -> None:
        along = {str(name): v for name, v in block.variables.items() if MEMBER in v.dims}
        each = sum(v.dtype.itemsize * math.prod(v.shape[1:]) for v in along.values())
        self.chunk = max(1, min(self.members, BUFFER // max(1, each)))
        for name, variable in along.items():
            within = variable.shape[1:]
            node = node_of(variable, (self.members, *within), (self.chunk, *(max(1, size) for size in within)))
            text = variable.dtype.kind not in "biuf"
            if name == "status":
                node["fill_value"] = NOT_RUN
            fill = "" if text else np.nan if variable.dtype.kind == "f" else node["fill_value"]
            self.fills[name] = within, object if text else variable.dtype, fill
            self.nodes[name] = node
        self.coordinates = [str(name) for name in block.coords if name not in block.dims]
        self._fixed({str(name): v for name, v in block.variables.items() if name not in along})
        for name, node in self.nodes.items():
            self.disk.write(self.path / name / NODE, text_of(node))

    def _fixed(self, variables: Mapping[str, Any]) -> None:
        """What all members have in common."""
        for name, variable in variables.items():
            values = variable.values
            self.nodes[name] = node_of(variable, values.shape, tuple(max(1, size) for size in values.shape))
            if values.size:
                self.disk.write(self.path.joinpath(name, "c", *["0"] * values.ndim), encoded(values))

    def _fill(self, number: int, first: int, values: Mapping[str, Any]) -> None:
        """Put members into their chunk, which is written when it is full."""
        begin = number * self.chunk
        whole = min(self.chunk, self.members - begin)
        if number not in self.waiting:
            empty = {name: np.full((self.chunk, *s), fill, kind) for name, (s, kind, fill) in self.fills.items()}
            self.waiting[number] = empty, 0
        buffers, filled = self.waiting[number]
        here = slice(first - begin, first - begin + len(values[MEMBER]))
        for name, own in values.items():
            buffers[name][here] = own
        filled += len(values[MEMBER])
        self.waiting[number] = buffers, filled
        if filled == whole:
            self._put(number)

    def _put(self, number: int) -> None:
        buffers, _ = self.waiting.pop(number)
        begin = number * self.chunk
        buffers[MEMBER][:] = np.arange(begin, begin + self.chunk)
        for name, own in buffers.items():
            self.disk.write(self.path.joinpath(name, "c", str(number), *["0"] * (own.ndim - 1)), encoded(own))

    def close(self, attributes: Mapping[str, Any] | None = None) -> xr.Dataset:
        """Write what waits, and then the mark that all is written; the Dataset, its variables left on disk.

        Members that were not handed in are NaN, with the status -1."""
        with self.lock, self._writing():
            for number in range(-(-self.members // self.chunk)):
                if number in self.waiting:
                    self._put(number)
                elif not (self.path / MEMBER / "c" / str(number)).exists():
                    numbers = np.arange(number * self.chunk, (number + 1) * self.chunk)
                    self.disk.write(self.path / MEMBER / "c" / str(number), encoded(numbers))
            self.disk.sync()
            beside = {"coordinates": " ".join(self.coordinates)} if self.coordinates else {}  # as xarray writes it
            write_durably(self.path / NODE, group_of(self.nodes, {**(attributes or {}), **beside}))
        return opened(self.path, MEMBER)

    def remove(self) -> None:
        """Remove the folder, of an ensemble that could not begin."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _writing(self) -> _Refusals:
        return _Refusals(self.path)


class _Refusals:
    """What the disk refuses becomes one sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if isinstance(problem, OSError) and not isinstance(problem, FileProblem):
            raise FileProblem(
                f"cannot write {self.path}: {problem.strerror or problem}; make room, remove it, and run again"
            ) from problem
