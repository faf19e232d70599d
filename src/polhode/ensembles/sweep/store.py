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
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import Array, path as checked_path
from polhode.durable import PARTIAL, write_beside_others
from polhode.ensembles.sweep.plan import Block, Plan, maker, opened, sealed
from polhode.errors import FileProblem, InvalidInput, MissingExtra, PolhodeError, answering, shown
from polhode.lazy import xr
from polhode.trajectory import foreign
from polhode.trajectory.growing import NODE as ROOT, encoded, file_of, metadata_of, node_of, packer, padded


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

    def zarr(self) -> Any:
        """What Zarr reads."""
        if not self.remote:
            return self.name
        from zarr.storage import FsspecStore

        return FsspecStore.from_url(self.name, read_only=True)

    def tidy(self) -> None:
        """Remove what writers that were killed have left."""
        if self.remote:
            return
        for folder, _, names in os.walk(self.name):
            for name in names:
                if name.endswith(PARTIAL):
                    with contextlib.suppress(OSError):
                        os.unlink(Path(folder) / name)


PLAN = "sweep.json"
NOTHING = -1
"""Where there is no number yet, in arrays of integers; in others NaN."""
MARKS = "done"
WRITERS = 8
"""Arrays that are written at once."""
MOST_SENTENCES = 1000
"""Sentences of failures in a mark."""


@contextlib.contextmanager
def refused(what: str, remedy: str) -> Iterator[None]:
    """What a disk or a reader raises becomes one sentence."""
    try:
        yield
    except (PolhodeError, ModuleNotFoundError):
        raise
    except Exception as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise FileProblem(f"{what}: {why}; {remedy}") from problem


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
        with refused(f"cannot make the store {folder}", "name another place"):
            folder.write(PLAN, plan.to_json(), new=True)
            store = cls(folder)
            store.lay_out()
        return store

    # -------------------------------------------------------------- arrays
    @cached_property
    def columns(self) -> dict[str, dict[str, Any]]:
        """How the values of the keys that vary are kept: their shape, and where they are no numbers, their words."""
        design = self.plan.study.design
        pairs = (pair for axis in design.axes for pair in zip(axis.names, zip(*axis.rows, strict=True), strict=True))
        drawn = {name: {"shape": list(one.shape)} for name, one in design.drawn.items()}
        return {name: _column(list(values)) for name, values in pairs} | drawn

    def lay_out(self) -> None:
        """Make the arrays, where they are not there: file by file, so that several may do it."""
        plan = self.plan
        packer()
        if self.folder.read(ROOT) is not None:
            return
        about = {
            **plan.attributes, "title": f"{plan.study.name}: {plan.members} members", "scenario": plan.study.text,
            "sweep": json.dumps(plan.study.table), "coordinates": " ".join([*self.columns, *plan.labels]),
            "polhode_sweep": "one run for each member; see status",
        }  # fmt: skip
        nodes = {}
        for name, (dims, shape, kind, words) in self.kinds.items():
            like = xr.Variable(dims, np.empty((0,) * len(dims), kind), words)
            nodes[name] = node_of(like, (plan.members, *shape), (plan.chunk, *shape), NOTHING)
        for name, given in plan.labels.items():
            values = np.asarray(given)
            if values.dtype.kind in "fi":
                nodes[name] = node_of(xr.Variable(name, values, {"long_name": name}), values.shape, values.shape)
                self.folder.write(file_of(name, 0, 1), encoded(values))
        for key, data in metadata_of(nodes, about).items():
            self.folder.write(key, data)

    @cached_property
    def kinds(self) -> dict[str, tuple[tuple[str, ...], list[int], str, dict[str, Any]]]:
        """Dimensions of each array, its shape for one member, kind of number, attributes."""
        found = {
            name: (("member", *one.dims), one.shape, one.kind, dict(one.attributes))
            for name, one in self.plan.variables.items()
        }
        for name, column in self.columns.items():
            dims = [f"{name}.{k}" for k in range(len(column["shape"]))]
            kind, words = ("i8", {"words": column["words"]}) if "words" in column else ("f8", {})
            found[name] = ("member", *dims), column["shape"], kind, {"long_name": name, **words}
        return found

    def write(self, chunk: int, block: Block, seconds: float) -> None:
        """Write what the members of a chunk left, then the mark that it is done."""
        first, last = self.plan.range(chunk)
        values = dict(block.values)
        for name, given in self.plan.study.design.columns(first, last).items():
            words = self.columns[name].get("words")
            values[name] = np.array([words.index(_text(value)) for value in given] if words is not None else given)
        values = {name: np.asarray(values[name], dtype=kind) for name, (_, _, kind, _) in self.kinds.items()}
        remedy = "what is done stays done: make room, and give the same command again"
        with refused(f"cannot write {self.folder}", remedy):
            with ThreadPoolExecutor(WRITERS) as writers:  # a disk syncs several files about as fast as one
                list(writers.map(lambda name: self._write(name, chunk, values[name]), values))
            self.folder.write(self._mark(chunk), sealed({
                "chunk": chunk, "members": [first, last], "failed": len(block.failures),
                "failures": block.failures[:MOST_SENTENCES], "warned": block.warned, "seconds": seconds,
                "at": time.time(), "made_by": maker(), "values_sha256": _digest(values),
            }))  # fmt: skip

    def _write(self, name: str, chunk: int, values: Array) -> None:
        if values.size:
            self.folder.write(file_of(name, chunk, values.ndim), encoded(padded(values, self.plan.chunk, NOTHING)))

    def check_contents(self, damaged: set[int] | None = None) -> None:
        """Refuse a folder with what no sweep writes: it may come from anybody."""
        if not self.folder.remote:
            path = Path(self.folder.name)
            foreign.check_folder(path, whole=False)
            known = {*self.plan.variables, *self.columns, *self.plan.labels}
            foreign.check_zarr(path, whole=False, only=known, damaged=damaged)

    def check(self) -> list[int]:
        """Chunks whose numbers are not those their marks speak of."""
        import zarr

        wrong, damaged = [], set[int]()
        self.check_contents(damaged)
        group: Any = zarr.open_group(self.folder.zarr(), mode="r", use_consolidated=False)
        for mark in self.marks():
            first, last = mark["members"]
            values = {}
            with contextlib.suppress(RuntimeError, ValueError, OSError):
                if mark["chunk"] not in damaged:
                    values = {name: np.asarray(group[name][first:last]) for name in self.kinds}
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


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _digest(values: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(values):
        digest.update(name.encode() + b"\0" + np.ascontiguousarray(values[name]).tobytes())
    return digest.hexdigest()


IN_MEMORY = 2**28
"""Bytes up to which a sweep is read into memory; a larger one is read where it is looked at."""
MOST_NAMED = 10**6
"""Members up to which sentences and words are variables."""


@answering
def open_sweep(store: str | os.PathLike[str]) -> xr.Dataset:
    """Read what a sweep has found, which may be going on.

    Parameters
    ----------
    store : path or URL
        Of ``polhode.sweep``.

    Returns
    -------
    xarray.Dataset
        Dimension ``member``; coordinates are what varies, by its keys (``ds["run.step"]``); ``status`` is 0 of members
        whose run came to its end, -1 of those not computed yet, else as its ``flag_meanings`` say; ``failure`` (up to a
        million members) is the sentence. Variables are those of a run: of its last row, or of all. Up to 256 MB it is
        in memory; what is more is read when it is used. While members are missing it has an attribute ``incomplete``.

    Raises
    ------
    FileProblem
        It is not the store of a sweep, or cannot be read.

    See Also
    --------
    sweep_status : only how far it is.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, store = f"{folder}/top.toml", f"{folder}/top.zarr"
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     _ = ph.sweep(file, {"grid": {"run.step": [0.01, 0.005]}}, store=store)
    ...     ph.ensembles.open_sweep(store)["run.step"].values
    array([0.01 , 0.005])
    """
    return open_store(SweepStore(Folder(checked_path(store, "store"))))


def open_store(store: SweepStore) -> xr.Dataset:
    """The same of a store that is open."""
    plan = store.plan
    try:
        store.check_contents()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ds: xr.Dataset = xr.open_zarr(store.folder.zarr(), chunks=None, consolidated=True, mask_and_scale=False)
        ds = ds.set_coords([name for name in (*store.columns, *plan.labels) if name in ds.variables])
        if ds.nbytes <= IN_MEMORY:
            ds = ds.load()
    except FileProblem:
        raise
    except Exception as problem:  # whatever a torn folder makes of a reader
        raise FileProblem(f"cannot read {store.folder}: {problem}; see polhode sweep --check") from problem
    labels = {name: (name, np.array(values)) for name, values in plan.labels.items() if name not in ds.variables}
    ds = ds.assign_coords(labels)
    marks = list(store.marks())
    done = sum(mark["members"][1] - mark["members"][0] for mark in marks)
    if plan.members <= MOST_NAMED:
        sentences = np.full(plan.members, "", dtype=object)
        for number, _, why in (failure for mark in marks for failure in mark["failures"]):
            sentences[number] = why
        ds["failure"] = ("member", sentences, {"long_name": "why the run failed"})
        for name, column in store.columns.items():
            if "words" in column:
                words = np.array([*column["words"], ""], dtype=object)
                ds = ds.assign_coords({name: ("member", words[ds[name].values], {"long_name": name})})
    for name in ("sweep", "coordinates"):
        ds.attrs.pop(name, None)
    ds.encoding["store"] = store.folder.name
    if done < plan.members:
        ds.attrs["incomplete"] = f"{done} of {plan.members} members are computed"
    return ds
