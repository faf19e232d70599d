"""What a live store is made of: numbers as exact text, a Zarr store whose files are durable, rows that are read on
demand, and what says by whom it is, or was, written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from polhode.kernel import jit
from polhode.runs.event_detection import Found


def here() -> dict[str, Any]:
    """What the last bits of a number may depend on: versions, and the processor that code is compiled for."""
    from llvmlite.binding import get_host_cpu_name

    found: dict[str, Any] = {name: version(name) for name in ("polhode", "numba", "numpy")}
    return found | {"processor": get_host_cpu_name(), "compiled": not jit.disabled()}


def in_use(folder: Path) -> bool:
    """Whether a process writes to a store at present; False where a file system has no locks."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # a pipe would wait for its writer
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def hexed(array: Any) -> list[str]:
    return [x.hex() for x in array.tolist()]


def numbers(texts: list[str]) -> Any:
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
    memory = {name: hexed(array) for name, array in snapshot["memory"].items()}
    return {**snapshot, "found": events, "memory": memory}


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
