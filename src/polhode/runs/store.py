"""The live store of a run: a Zarr folder that receives the rows while the run goes, and one checkpoint beside them.

=================== =================================================================================================
``time``            times of the rows, NaN where there are none yet
``state``           states as the kernels keep them: 13 numbers of each body, then those of system and method
``step``            sizes of the steps that led to the rows, where they are chosen or set by a clock
``iterations``      most solver iterations of a step since the row before
``trajectory``      the Dataset of the run as far as it is: attitudes, energies and so on, computed from the rows
``checkpoint.json`` how many rows count, the request of the run, and all that its next step depends on
=================== =================================================================================================

Rows are written at every checkpoint, and as soon as there are some megabytes of them, and then leave the memory. The
trajectory can be computed again from the rows, and is where a run goes on.

The arrays of the rows have their full size from the beginning. A chunk is written beside its old version, synced and
then put into its place; after all chunks the checkpoint is replaced in the same way. So whenever the process is killed
or the power fails, the checkpoint names rows that are there, and a digest of them tells if they no longer are. Rows
behind those it names do not count. Numbers of the state are written as ``float.hex``, which is exact.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from polhode import lazy, reading
from polhode.arguments import Array, number, path as checked_path
from polhode.durable import Unsynced, write_durably
from polhode.errors import FileProblem, InvalidInput, NotFinite, OtherMachineWarning, PolhodeError, shown
from polhode.kernel import jit
from polhode.kernel.interrupts import held
from polhode.lazy import xr
from polhode.operating_system import AT_ONCE, lock
from polhode.runs import streamed
from polhode.runs.event_detection import Found
from polhode.runs.request import Request
from polhode.runs.result import finish
from polhode.runs.rows import Record
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.trajectory import foreign
from polhode.trajectory.files import CHECKPOINT, is_store
from polhode.trajectory.growing import NODE, encoded, file_of, metadata_of, node_of, opened, packer, padded

SECONDS = 30.0
"""Between two checkpoints, unless told otherwise."""
FORMAT = "polhode live store 1"
NO_COUNT = -1
"""Of iterations, where there is no row."""
TRAJECTORY = "trajectory"
"""The group with the Dataset of the run."""
FIELDS = {
    "rows": int, "over": bool, "run": str, "labels": dict, "scenario_file": str | None, "made_by": list,
    "rows_sha256": dict, "state": dict | None,
}  # fmt: skip
"""What a checkpoint holds, and of which kind."""
PARTS: dict[str, Callable[[Any], bool]] = {
    "labels": lambda labels: all(isinstance(value, str) for value in labels.values()),
    "made_by": lambda makers: bool(makers) and all(isinstance(maker, dict) for maker in makers),
    "rows_sha256": lambda digests: set(digests) == {"time", "step", "state", "iterations"},
}
CHUNK = 2**21
"""Bytes of the states in a chunk, before compression; at least one row."""
SHORT_CHUNK = 2**16
"""Rows in a chunk of the other arrays, at least."""
GUESSED_ROWS = 2**20
"""Rows made room for where a run does not say how many steps it may take; doubled when they are used up."""
ABOUT = (
    "rows of a run that may still be going on; polhode.load reads them, polhode.resume goes on; attitudes, energies "
    "and so on: xarray.open_zarr('run.zarr/trajectory', decode_times=False). state: of each body position and momentum "
    "(space frame), attitude quaternion (w, x, y, z) from the principal frame to space, angular momentum (principal "
    "frame); then numbers of the system and of the method"
)


# ------------------------------------------------------------------ the disk
def _feed(digest: Any, rows: np.ndarray[Any, Any]) -> None:
    digest.update(np.ascontiguousarray(rows).ravel().data)


def _sealed(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


LOOKS, LOOK_SECONDS = 5, 0.02
"""How often, and in which distance, it is tried to own a folder."""


def here() -> dict[str, Any]:
    """What the last bits of a number may depend on: versions, and the processor that code is compiled for."""
    from llvmlite.binding import get_host_cpu_name

    found: dict[str, Any] = {name: version(name) for name in ("polhode", "numba", "numpy")}
    return found | {"processor": get_host_cpu_name(), "compiled": not jit.disabled()}


def in_use(folder: Path) -> bool:
    """Whether a process writes to a store at present; False where a file system has no locks."""
    try:
        os.close(lock(folder, os.O_RDONLY | AT_ONCE, shared=True))  # a pipe would wait for its writer
    except OSError as problem:
        return isinstance(problem, BlockingIOError)
    return False


def hexed(array: Array) -> list[str]:
    return [x.hex() for x in array.tolist()]


def numbers(texts: list[str]) -> Array:
    return np.array([float.fromhex(text) for text in texts])


def packed(snapshot: Mapping[str, Any], found: list[Found]) -> dict[str, Any]:
    """A snapshot of a run in JSON's types."""
    events = [
        {
            "time": event.time.hex(),
            "kind": event.kind,
            "state": hexed(event.state),
            "before": None if event.before is None else hexed(event.before),
            "work": event.work.hex(),
        }
        for event in found[: snapshot["found"]]
    ]
    return {**snapshot, "found": events, "memory": {name: hexed(one) for name, one in snapshot["memory"].items()}}


def unpacked(state: Mapping[str, Any]) -> tuple[dict[str, Any], list[Found]]:
    """A snapshot and the events met before it."""
    found = [
        Found(
            float.fromhex(event["time"]),
            event["kind"],
            numbers(event["state"]),
            None if event["before"] is None else numbers(event["before"]),
            float.fromhex(event["work"]),
        )
        for event in state["found"]
    ]
    memory = {name: numbers(texts) for name, texts in state["memory"].items()}
    return {**state, "found": len(found), "memory": memory}, found


class RowsOnDisk:
    """Rows of an array on disk, read when they are asked for."""

    def __init__(self, array: Any, count: int) -> None:
        self.array, self.count = array, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, which: Any) -> Any:
        if np.ndim(which):
            return np.array([self.array[int(k)] for k in which])
        return self.array[int(which)]


# ------------------------------------------------------------------ the store
@dataclass(frozen=True)
class Store:
    """Where a run writes its rows while it goes: ``polhode.integrate(..., store=polhode.Store("run.zarr", 5.0))``.

    Attributes
    ----------
    path : path
        A folder, which ends in ``.zarr``.
    checkpoint_seconds : float
        Least time between two checkpoints. One more is written at the end, after Ctrl-C or a failure.

    Raises
    ------
    InvalidInput
        Another suffix, or a time below zero.
    """

    path: str | os.PathLike[str]
    checkpoint_seconds: float = SECONDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(checked_path(self.path, "store")))
        if Path(self.path).suffix != ".zarr":
            raise InvalidInput(f"a store must end in .zarr, not {shown(str(self.path))}; polhode.load reads others")
        seconds = number(self.checkpoint_seconds, "checkpoint_seconds", "s", positive=True, zero=True)
        object.__setattr__(self, "checkpoint_seconds", seconds)

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Store) -> Store:
        """The store that a path, or a ``Store``, is.

        Raises
        ------
        InvalidInput
            Something else, or as ``Store``.
        """
        return given if isinstance(given, Store) else cls(given)


class LiveStore:
    """The store of one run, while that run is in this process."""

    def __init__(self, target: Store, labels: Mapping[str, str] | None = None, origin: str | None = None) -> None:
        self._set_up(target)
        self.labels, self.origin = dict(labels or {}), origin
        self._check_new()

    def _check_new(self) -> None:
        if is_store(self.path):
            raise FileProblem(
                f"there is a run in {self.path} already; go on with it, polhode.resume({str(self.path)!r}) or "
                f"`polhode resume {self.path}`, or name another store"
            )
        if self.path.is_file() or (self.path.is_dir() and any(self.path.iterdir())):
            raise FileProblem(f"{self.path} exists already and holds something else; name another store")

    def _set_up(self, target: Store) -> None:
        self.path, self.seconds = Path(target.path), target.checkpoint_seconds
        self.writable, self.new, self.over = True, True, False
        self.run_text, self.rows, self.state = "", 0, None  # type: str, int, dict[str, Any] | None
        self.makers: list[dict[str, Any]] = []
        self.written_by: dict[str, Any] = {}
        self.digests = {name: hashlib.sha256() for name in ("time", "step", "state", "iterations")}
        self.row_digests: dict[str, str] = {}
        self.run: Run | None = None
        self.kept: tuple[dict[str, Any], int] | None = None
        self.room = 0
        self.unfinished: dict[str, tuple[int, Array, bool]] = {}
        self.flushed, self.disk = 0, Unsynced()
        self.streams, self.stream = True, None  # type: bool, streamed.Streamed | None
        self.lock: int | None = None
        self.begun = time.perf_counter(), 0.0, 0
        self.steps, self.of, self.progress = 0, None, {}  # type: int, int | None, dict[str, Any]
        self.made = False
        self.last = time.perf_counter()

    @classmethod
    def opened(cls, target: Store, *, writable: bool = True) -> LiveStore:
        """A store that is there, from its checkpoint."""
        store = cls.__new__(cls)
        store._set_up(target)
        store.new, store.writable, store.streams = False, writable, writable
        if not store.path.is_dir():
            raise FileProblem(f"there is no store {str(store.path)!r}; check the name")
        if not is_store(store.path):
            raise FileProblem(f"{store.path} is not the live store of a run; polhode.load reads other trajectories")
        foreign.check_folder(store.path, whole=False)
        file = store.path / CHECKPOINT
        try:
            body = json.loads(file.read_text(encoding="utf-8"))
            seal = body.pop("sha256")
        except FileNotFoundError:
            raise FileProblem(
                f"{file} is missing, so that nobody knows how far the run was; if it was stopped in its very "
                f"beginning, remove {store.path} and run it again"
            ) from None
        except OSError as refused:
            raise FileProblem(f"cannot read {file}: {refused.strerror or refused}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FileProblem(f"{file} is torn: it is no checkpoint that polhode wrote; run again") from None
        if _sealed(body) != seal:
            raise FileProblem(f"{file} was changed: its digest is not that of its content; run again")
        if body.get("format") != FORMAT:
            raise FileProblem(f"{file} has the format {body.get('format')!r}, but this version reads {FORMAT!r}")
        for name, kinds in FIELDS.items():
            if not isinstance(body.get(name, ...), kinds) or (name in PARTS and not PARTS[name](body[name])):
                raise FileProblem(f"{file} is no checkpoint that polhode wrote: {name!r} is missing or of another kind")
        store.rows, store.over, store.run_text = body["rows"], body["over"], body["run"]
        store.flushed = store.rows
        store.writable = writable and not store.over
        store.labels, store.origin, store.makers = body["labels"], body["scenario_file"], body["made_by"]
        store.written_by = body["made_by"][-1]
        store.state, store.row_digests = body["state"], body["rows_sha256"]
        store.steps, store.of = body.get("steps", 0), body.get("of")
        told = body.get("progress")  # an earlier version did not tell
        store.progress = told if isinstance(told, dict) else {}
        return store

    def __enter__(self) -> LiveStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let go of the folder, which is removed where nothing was computed: the same run may be tried again."""
        if kind is not None and self.stream is not None and self.kept is not None and not self.stream.closed:
            with contextlib.suppress(Exception), held():  # another exception is on its way, which tells what is wrong
                self.stream.show_so_far()
        self.run = self.stream = None
        if self.made and kind is not None and self.kept is None:
            with held():
                shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def _own(self) -> None:
        """Be the only process that writes here; the lock ends with the process, however that ends."""
        for trial in range(LOOKS):
            try:
                self.lock = lock(self.path, os.O_RDONLY)
                return
            except BlockingIOError:
                if trial < LOOKS - 1:  # it may be somebody who asks whether anybody writes
                    time.sleep(LOOK_SECONDS)
            except OSError:  # there are no locks
                return
        raise FileProblem(
            f"another process is writing {self.path}: its run is going on; stop that one first "
            f"(polhode.load({str(self.path)!r}) reads what is there meanwhile)"
        )

    def told(self, changed: list[str]) -> None:
        """Warn where bits may be others from here: another machine or version, or other sources of these functions."""
        last = self.makers[-1]
        now = here() if self.writable else last  # where nothing is left to compute, nothing will differ
        others = [f"{name} {last.get(name)} is now {value}" for name, value in now.items() if last.get(name) != value]
        if others := others + [f"the source of {name!r} is another" for name in changed]:
            warnings.warn(
                f"the run in {self.path} was made elsewhere ({', '.join(others)}); it goes on, but its numbers may "
                "differ in their last digits from those of an uninterrupted run",
                OtherMachineWarning,
                stacklevel=4,
            )
        if now != last:
            self.makers.append(now)

    # -------------------------------------------------------------- a run begins or goes on
    def begin(self, request: Request) -> None:
        """Make the folder of a new run and its first checkpoint, before anything is computed."""
        if not self.streams:
            return
        if not self.new:
            self._own()
            if self.state is None:  # nothing was computed yet
                # a checkpoint without rows, and then arrays without rows: whoever finds the one does the other
                with self._writing():
                    self._checkpoint({"steps": 0, "of": request.total, "rows": 0, "over": False}, None, self.digests)
                    for name in (*self.digests, TRAJECTORY):
                        shutil.rmtree(self.path / name, ignore_errors=True)
                    (self.path / "zarr.json").unlink(missing_ok=True)
                    self._create(request)
            return
        self.run_text, self.makers = request.to_text(), [here()]
        with self._writing(OSError):
            self.path.mkdir(parents=True, exist_ok=True)
            self._own()
            self._check_new()
            self.made = True
            self._create(request)
        self._checkpoint({"steps": 0, "of": request.total, "rows": 0, "over": False}, None, self.digests)
        self.new = False

    def restart(self, request: Request) -> None:
        """Begin anew with another request, the next time that a run begins; the rows so far do not count."""
        self.run = self.stream = self.kept = self.state = None
        self.rows, self.flushed, self.room, self.unfinished = 0, 0, 0, {}
        self.digests, self.disk = {name: hashlib.sha256() for name in self.digests}, Unsynced()
        self.run_text, self.made, self.new = request.to_text(), False, not self.path.is_dir()

    def _create(self, request: Request) -> None:
        packer()
        samples, width = request.recording.t_eval, len(request.state)
        most = request.steps.max_steps if isinstance(request.steps, Tolerance) else request.total
        rows = GUESSED_ROWS if most is None else most // request.recording.every + 2
        if samples is not None:
            rows = len(samples) + 2
        chunk = max(1, min(rows, CHUNK // (8 * width)))
        short = min(rows, max(chunk, SHORT_CHUNK))
        nodes = {
            name: node_of(xr.Variable("time", np.empty(0, kind)), (rows,), (short,), NO_COUNT)
            for name, kind in (("time", float), ("step", float), ("iterations", np.int64))
        }
        nodes["state"] = node_of(xr.Variable(("time", "number"), np.empty((0, 0))), (rows, width), (chunk, width))
        self._lay_out(nodes)

    def _lay_out(self, nodes: Mapping[str, Any]) -> None:
        """Write what the arrays say of themselves."""
        for name, data in metadata_of(nodes, {"polhode_store": FORMAT, "about": ABOUT}).items():
            write_durably(self.path / name, data)

    def _group(self) -> Any:
        return lazy.opened("zarr").open_group(self.path, mode="r", use_consolidated=False)

    def join(self, run: Run, record: Record) -> None:
        """Follow a run from now on; one that goes on gets its rows and its state back."""
        self.run, self.record, self.last = run, record, time.perf_counter()
        if self.streams:
            request = run.request
            most = None if run.total is None else run.total // request.recording.every + 2
            most = most if request.samples is None else len(request.samples) + 2
            self.stream = streamed.Streamed(self.path / TRAJECTORY, run, self.labels, most)
        self.begun = time.perf_counter(), 0.0, 0
        if self.state is None:
            return
        try:
            snapshot, found = unpacked(self.state)
            as_now = len(snapshot["memory"].get("parameters", ())) == len(run.memory["parameters"])
            if not as_now or self.written_by.get("polhode") != here()["polhode"]:
                snapshot["memory"].pop("parameters", None)  # which another version may have laid out otherwise
            end = self.state["rows"]
            run.restore(snapshot, found)
            for begin, rows in self._pieces():
                before = {name: values[: max(0, end - begin)] for name, values in rows.items()}
                record.add(*(before[name] for name in ("time", "state", "iterations", "step")))
                if self.stream is not None:
                    with self._writing():
                        self._follow(record.count)
        except PolhodeError:
            raise
        except Exception as problem:  # the digests agree, so that this is no damage
            raise FileProblem(f"{self.path / CHECKPOINT} is not of this run ({problem}); run again") from problem
        self.kept = snapshot, end
        self.begun = time.perf_counter(), float(run.share), run.done

    def verify(self) -> None:
        """Read all rows once, to see whether they are those of the checkpoint."""
        for _ in self._pieces():
            pass

    def _pieces(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows, some at a time: the number of the first of them, and their arrays."""
        try:
            foreign.check_zarr(self.path, whole=False, only=self.digests)
            group = self._group()
            needed = sum(self.rows * math.prod(group[name].shape[1:]) * 8 for name in self.digests)
            if needed < 0 or (not self.streams and needed > reading.limit()):
                raise ValueError(f"they would need {needed / 1e9:.3g} GB of memory")
            many = max(1, group["state"].chunks[0])
        except FileProblem:
            raise
        except Exception as problem:
            raise self._unread(problem) from problem
        for begin in range(0, self.rows, many):
            here = slice(begin, min(self.rows, begin + many))
            try:
                rows = {name: np.ascontiguousarray(group[name][here]) for name in self.digests}
            except Exception as problem:
                raise self._unread(problem) from problem
            for name, values in rows.items():
                _feed(self.digests[name], values)
            yield begin, rows
        for name in self.digests:
            if self.digests[name].hexdigest() != self.row_digests[name]:
                raise FileProblem(
                    f"the rows of {self.path} are not those its checkpoint names: {name!r} was changed, or a chunk of "
                    "it is missing; run again"
                )

    def _unread(self, problem: Exception) -> FileProblem:
        why = "a chunk is torn" if isinstance(problem, RuntimeError | ValueError) else str(problem)
        return FileProblem(f"cannot read the rows of {self.path}: {why}; run again")

    # -------------------------------------------------------------- its trajectory
    def complete(self) -> bool:
        """Whether the trajectory of a run that is over is in the store, too."""
        try:
            node = json.loads((self.path / TRAJECTORY / "zarr.json").read_text(encoding="utf-8"))
            rows = node["consolidated_metadata"]["metadata"]["time"]["shape"]
            return self.over and "incomplete" not in node["attributes"] and bool(rows == [self.rows])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def trajectory(self) -> xr.Dataset:
        """The Dataset as far as it is written, its variables left on disk."""
        folder = self.path / TRAJECTORY
        if not (folder / "zarr.json").is_file():
            raise FileProblem(
                f"the trajectory of the run in {self.path} is not written yet; polhode.load without lazy computes it "
                "from the rows"
            )
        try:
            foreign.check_zarr(folder, whole=False)
            ds = opened(folder)
        except FileProblem:
            raise
        except Exception as problem:
            raise FileProblem(
                f"cannot read {folder} ({problem}); polhode.resume({str(self.path)!r}) writes it again"
            ) from problem
        if self.state is not None:
            ds.encoding["seconds"] = float(self.state["seconds"])
        return ds

    def finish(self, error: PolhodeError | None, stopped: str) -> xr.Dataset:
        """The Dataset of the run, opened from the store; an error is raised with the Dataset on it."""
        run, record, stream = self.run, self.record, self.stream
        assert run is not None
        whole = record.first == 0
        if stream is None or (isinstance(error, FileProblem) and whole):
            return finish(run, record.between(0, record.count), error, stopped)
        if isinstance(error, FileProblem):
            error.trajectory = self.trajectory().assign_attrs(incomplete=str(error))
            raise error
        with self._writing(OSError):
            judge = error is None or isinstance(error, NotFinite)
            stream.add(record.between(stream.taken, record.count), judge)
            if whole and (error or stream.failed) is not None:
                if self.kept is not None:
                    stream.show(error or stream.failed, stopped, last=True)
                return finish(run, record.between(0, record.count), error, stopped)
            times, states, *_ = record.between(0, record.count) if whole else self._stored(record.count)
            return stream.close(error, stopped, times, states)

    def _stored(self, count: int) -> tuple[Any, Any]:
        """Times and states on disk, which give the rows asked for."""
        group = self._group()
        return RowsOnDisk(group["time"], count), RowsOnDisk(group["state"], count)

    # -------------------------------------------------------------- while it goes
    def commit_if_due(self) -> None:
        """The run is between two slices: remember where, write rows when there are many, and commit when it is time."""
        if not self.writable or self.run is None:
            return
        self.kept = self.run.snapshot(), self.record.count
        if time.perf_counter() - self.last >= self.seconds:
            self.commit()
        elif self.record.count - self.flushed >= self.record.most:
            with self._writing():
                self._flush(self.record.count)
                self._follow(self.record.count)
        else:
            return
        if self.stream is not None and self.stream.failed is not None:
            raise self.stream.failed

    def commit(self, over: bool = False) -> None:
        """Write the rows up to the last look, then the checkpoint."""
        if not self.writable or self.run is None or (self.kept is None and not over):
            return
        done, state, count = self.run.done, None, self.record.count
        if self.kept is not None:
            snapshot, at = self.kept
            state = packed(snapshot, self.run.event_detection.found) | {"rows": at}
            if not over:
                count, done = at, snapshot["done"]
        with self._writing():
            self._flush(count, durably=True)
            self._checkpoint({"steps": done, "of": self.run.total, "rows": count, "over": over}, state, self.digests)
            self.rows, self.over, self.last = count, over, time.perf_counter()
            self._follow(count)

    @contextlib.contextmanager
    def _writing(self, kind: type[Exception] = Exception) -> Iterator[None]:
        """What is refused while the store is written becomes the one sentence about it."""
        try:
            yield
        except FileProblem:
            raise
        except kind as problem:
            raise self._refused(problem) from problem

    def _flush(self, count: int, durably: bool = False) -> None:
        """Write the rows up to a number. They do not count before the next checkpoint."""
        if count > self.flushed:
            if count > self.room:
                self._make_room(count)
            rows = self.record.between(self.flushed, count)
            for name, values in zip(("time", "state", "iterations", "step"), rows, strict=True):
                self._write(name, values)
                _feed(self.digests[name], values)
            self.flushed = count
        if durably:
            for name, (chunk, held, new) in self.unfinished.items():
                if len(held) and new:
                    file = self.path / file_of(name, self.flushed // chunk, held.ndim)
                    write_durably(file, encoded(padded(held, chunk, NO_COUNT)))
                self.unfinished[name] = chunk, held, False
            self.disk.sync()

    def _follow(self, count: int) -> None:
        """Write the trajectory of the rows up to a number, and let go of them."""
        if self.stream is not None:
            self.stream.add(self.record.between(self.stream.taken, count))
            self.record.forget(min(self.flushed, self.stream.taken))
            if not self.over and time.perf_counter() - self.stream.shown >= streamed.SECONDS:
                self.stream.show_so_far()

    def _make_room(self, count: int) -> None:
        """See to it that the arrays have room for so many rows, and know their chunks."""
        nodes = {name: json.loads((self.path / name / NODE).read_text(encoding="utf-8")) for name in self.digests}
        self.room = nodes["time"]["shape"][0]
        if count > self.room:
            self.room = 2 * count
            for node in nodes.values():
                node["shape"][0] = self.room
            self._lay_out(nodes)
        group = self._group()
        for name in self.digests.keys() - self.unfinished.keys():
            chunk = group[name].chunks[0]
            self.unfinished[name] = chunk, group[name][self.rows // chunk * chunk : self.rows], False

    def _write(self, name: str, rows: np.ndarray[Any, Any]) -> None:
        """Write rows behind those of an array; those of its last, unfinished chunk are kept in memory."""
        chunk, before, _ = self.unfinished[name]
        first = self.flushed // chunk
        rows = np.concatenate([before, rows])
        whole = len(rows) // chunk
        for k in range(whole):
            file = self.path / file_of(name, first + k, rows.ndim)
            data = encoded(rows[k * chunk : (k + 1) * chunk])
            if (first + k) * chunk < self.rows:  # rows that count are in it
                write_durably(file, data)
            else:
                self.disk.write(file, data)
        self.unfinished[name] = chunk, rows[whole * chunk :].copy(), True

    def _checkpoint(self, done: Mapping[str, Any], state: dict[str, Any] | None, digests: Mapping[str, Any]) -> None:
        run, (begun, share, before) = self.run, self.begun
        body = {
            "format": FORMAT,
            **done,
            "progress": {}
            if run is None
            else {
                "start": run.t0,
                "time": float(run.now),
                "end": float(run.final),
                "share": float(run.share),
                "elapsed": time.perf_counter() - begun,
                "share_before": share,
                "steps_before": before,
            },
            "made_by": self.makers,
            "labels": self.labels,
            "scenario_file": self.origin,
            "run": self.run_text,
            "rows_sha256": {name: digest.hexdigest() for name, digest in digests.items()},
            "state": state,
        }
        text = json.dumps(body | {"sha256": _sealed(body)})
        with self._writing(OSError):
            write_durably(self.path / CHECKPOINT, text.encode())

    def _refused(self, problem: Exception) -> FileProblem:
        why = getattr(problem, "strerror", None) or str(problem)
        if self.new:
            return FileProblem(f"cannot make the store {self.path}: {why}; name another place")
        return FileProblem(
            f"cannot write {self.path}: {why}; its last checkpoint is whole: make room, and go on with "
            f"polhode.resume({str(self.path)!r}) or `polhode resume {self.path}`"
        )
