"""The store of a sweep: a Zarr folder with one chunk of every array for each task, and a mark for each that is done.

=================== =================================================================================================
``sweep.json``      the scenario with its functions, the members, what is kept, and how many members a task has
arrays              one for each variable and for each key that varies, with the members first; -1 or NaN where there
                    is nothing yet
``done/``           a mark for each task that is done, with the members that failed and why
=================== =================================================================================================

A task writes whole chunks, which nobody else writes, and then its mark; a chunk without a mark does not count and is
computed again. So a task may be done twice, or by two at once: the bytes are the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode.ensembles.sweep.folder import Folder
from polhode.ensembles.sweep.members import Block
from polhode.ensembles.sweep.plan import Plan, maker, opened, sealed
from polhode.errors import FileProblem, PolhodeError
from polhode.trajectory import foreign

PLAN = "sweep.json"
ROOT = "zarr.json"
"""File of Zarr that says which arrays there are; written after them."""
MARKS = "done"
WRITERS = 8
"""Arrays that are written at once."""
MOST_SENTENCES = 1000
"""Sentences of failures in a mark."""


class SweepStore:
    """The store of a sweep that is there."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        data = folder.read(PLAN)
        if data is None:
            raise FileProblem(f"there is no sweep in {folder}; check the name, or begin one with polhode.sweep")
        self.plan = Plan.from_json(data, str(folder))

    @classmethod
    def create(cls, folder: Folder, plan: Plan) -> SweepStore:
        """The store of a new sweep; where another process was faster, the one it made."""
        if folder.anything() and folder.read(PLAN) is None:
            raise FileProblem(f"{folder} exists already and holds something else; name another store")
        try:
            folder.write(PLAN, plan.to_json(), new=True)
            store = cls(folder)
            store.lay_out()
        except PolhodeError:
            raise
        except Exception as refused:
            why = getattr(refused, "strerror", None) or str(refused)
            raise FileProblem(f"cannot make the store {folder}: {why}; name another place") from refused
        return store

    # -------------------------------------------------------------- arrays
    @cached_property
    def columns(self) -> dict[str, dict[str, Any]]:
        """How the values of the keys that vary are kept: their shape, and where they are no numbers, their words."""
        design, found = self.plan.study.design, {}
        for axis in design.axes:
            for name, values in zip(axis.names, zip(*axis.rows, strict=True), strict=True):
                found[name] = _column(list(values))
        for name, one in design.drawn.items():
            found[name] = {"shape": list(one.shape)}
        return found

    def lay_out(self) -> None:
        """Make the arrays, where they are not there: in memory, then file by file, so that several may do it."""
        import zarr
        from zarr.codecs import ZstdCodec
        from zarr.storage import MemoryStore

        plan, variables = self.plan, self.plan.variables
        if self.folder.read(ROOT) is not None:
            return
        about = {
            **plan.attributes, "title": f"{plan.study.name}: {plan.members} members", "scenario": plan.study.text,
            "sweep": json.dumps(plan.study.table), "coordinates": " ".join([*self.columns, *plan.labels]),
            "polhode_sweep": "one run for each member; see status",
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Zarr's specification does not know all of this yet
            files: dict[str, Any] = {}
            group = zarr.create_group(MemoryStore(files), zarr_format=3, attributes=about)
            arrays: dict[str, tuple[Any, ...]] = {
                name: (one.shape, one.dims, one.kind, one.fill, one.attributes) for name, one in variables.items()
            }
            for name, column in self.columns.items():
                dims = [f"{name}.{k}" for k in range(len(column["shape"]))]
                words = {"long_name": name, **({"words": column["words"]} if "words" in column else {})}
                kind = ("i8", -1) if "words" in column else ("f8", float("nan"))
                arrays[name] = (column["shape"], dims, *kind, words)
            for name, (shape, dims, kind, fill, words) in arrays.items():
                group.create_array(
                    name, shape=(plan.members, *shape), chunks=(plan.chunk, *[max(1, n) for n in shape]), dtype=kind,
                    fill_value=fill, compressors=ZstdCodec(checksum=True), dimension_names=("member", *dims),
                    attributes=words,
                )  # fmt: skip
            for name, values in plan.labels.items():
                if np.asarray(values).dtype.kind in "fi":
                    array = group.create_array(name, data=np.asarray(values), dimension_names=(name,))
                    array.attrs.update({"long_name": name})
            zarr.consolidate_metadata(group.store)
        for key in sorted(files, key=lambda key: key == ROOT):
            self.folder.write(key, files[key].to_bytes())

    @cached_property
    def group(self) -> Any:
        """The arrays, to be written."""
        import zarr

        return zarr.open_group(self.folder.zarr(writable=True), mode="r+", use_consolidated=False)

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """The same by name."""
        return {name: self.group[name] for name in (*self.plan.variables, *self.columns)}

    def write(self, chunk: int, block: Block, seconds: float) -> None:
        """Write what the members of a chunk left, then the mark that it is done."""
        first, last = self.plan.range(chunk)
        values = dict(block.values)
        for name, given in self.plan.study.design.columns(first, last).items():
            words = self.columns[name].get("words")
            numbers = [words.index(_text(value)) for value in given] if words is not None else given
            values[name] = np.array(numbers, dtype="f8" if words is None else "i8")
        try:
            with ThreadPoolExecutor(WRITERS) as writers:  # a disk syncs several files about as fast as one
                list(writers.map(lambda name: self.arrays[name].__setitem__(slice(first, last), values[name]), values))
            self.folder.write(self._mark(chunk), sealed({
                "chunk": chunk, "members": [first, last], "failed": len(block.failures),
                "failures": block.failures[:MOST_SENTENCES], "warned": block.warned, "seconds": seconds,
                "at": time.time(), "made_by": maker(), "values_sha256": _digest(values),
            }))  # fmt: skip
        except PolhodeError:
            raise
        except Exception as refused:
            why = getattr(refused, "strerror", None) or str(refused)
            raise FileProblem(
                f"cannot write {self.folder}: {why}; what is done stays done: make room, and give the same command "
                "again"
            ) from refused

    def check_contents(self, damaged: set[int] | None = None) -> None:
        """Refuse a folder with what no sweep writes: it may come from anybody."""
        if not self.folder.remote:
            path = Path(self.folder.name)
            foreign.check_folder(path, whole=False)
            known = {*self.plan.variables, *self.columns, *self.plan.labels}
            foreign.check_zarr(path, whole=False, only=known, damaged=damaged)

    def check(self) -> list[int]:
        """Chunks whose numbers are not those their marks speak of."""
        wrong, damaged = [], set[int]()
        self.check_contents(damaged)
        for mark in self.marks():
            first, last = mark["members"]
            values = {}
            with contextlib.suppress(RuntimeError, ValueError, OSError):
                if mark["chunk"] not in damaged:
                    values = {name: np.asarray(array[first:last]) for name, array in self.arrays.items()}
            if _digest(values) != mark["values_sha256"]:
                wrong.append(mark["chunk"])
        return wrong

    # -------------------------------------------------------------- marks
    def _mark(self, chunk: int) -> str:
        return f"{MARKS}/{chunk:09d}.json"

    def mark(self, chunk: int) -> dict[str, Any] | None:
        """The mark of a chunk that is done, else None."""
        found = opened(self.folder.read(self._mark(chunk)))
        return found if found is not None and found.get("chunk") == chunk else None

    def done(self) -> set[int]:
        """Chunks that have a mark."""
        names = [name.removesuffix(".json") for name in self.folder.keys(MARKS)]
        return {int(name) for name in names if name.isdigit() and int(name) < self.plan.chunks}

    def marks(self) -> Iterator[dict[str, Any]]:
        """All marks that are whole, by chunk."""
        for chunk in sorted(self.done()):
            found = self.mark(chunk)
            if found is not None:
                yield found


def _column(values: list[Any]) -> dict[str, Any]:
    """How values are kept: as numbers if all are, and of one shape; else as the places of their words in a list."""
    try:
        array = np.array(values)
    except ValueError:
        array = np.array(values, dtype=object)
    if array.dtype.kind in "fi":
        return {"shape": list(array.shape[1:])}
    return {"shape": [], "words": list(dict.fromkeys(_text(value) for value in values))}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _digest(values: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(values):
        digest.update(name.encode() + b"\0" + np.ascontiguousarray(values[name]).tobytes())
    return digest.hexdigest()
