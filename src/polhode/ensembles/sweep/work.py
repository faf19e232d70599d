"""A task of a sweep: the members of one chunk, computed and written by whoever comes to it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.ensembles.sweep.folder import Folder
from polhode.ensembles.sweep.members import KILLED, OK, Block, fill_one
from polhode.ensembles.sweep.plan import Plan, maker
from polhode.ensembles.sweep.store import SweepStore
from polhode.ensembles.sweep.together import fill_together
from polhode.errors import FileProblem

_OPEN: dict[tuple[str, str], SweepStore] = {}
"""The store this process has worked on last, by its name and the digest of its study."""
_ONE = threading.RLock()
"""One task at a time in a process, however many threads a cluster gives it: Python notes warnings for all threads."""


def task(
    name: str, digest: str, by: Mapping[str, Any], chunk: int, allow_code: bool,
    begin: Callable[[int], str | None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Do one chunk of a sweep, unless it is done."""
    with _ONE:
        return _task(name, digest, by, chunk, allow_code, begin)


def _task(
    name: str, digest: str, by: Mapping[str, Any], chunk: int, allow_code: bool,
    begin: Callable[[int], str | None] | None,
) -> dict[str, Any]:  # fmt: skip
    check_version(by)
    store = _OPEN.get((name, digest)) or opened_here(name, digest)
    found = store.mark(chunk)
    if found is not None:
        return found
    first, last = store.plan.range(chunk)
    began = time.perf_counter()
    block = Block.empty(store.plan.variables, first, last)
    fill(store.plan, block, last, allow_code, begin)
    store.write(chunk, block, time.perf_counter() - began)
    made = store.mark(chunk)
    if made is None:
        raise FileProblem(f"the mark of chunk {chunk} of {name} was written and is not there; is the disk sound?")
    return made


def fill(
    plan: Plan, block: Block, last: int, allow_code: bool, begin: Callable[[int], str | None] | None = None
) -> None:
    """Compute the members of a block, up to ``last``: together those that can be, alone the others."""
    what = plan.study, plan.variables, times_of(plan), allow_code
    if begin is None:
        fill_together(block, last, *what)
    for member in range(block.first, last):
        why = None if begin is None else begin(member)
        if why is not None:
            block.fail(member, KILLED, why)
        elif block.values["status"][member - block.first] != OK:
            fill_one(block, member, *what)


def opened_here(name: str, digest: str) -> SweepStore:
    """A store, checked to be that of a study, and kept for the next task."""
    try:
        store = SweepStore(Folder(name))
    except FileProblem as missing:
        raise FileProblem(f"the worker on {socket.gethostname()} does not see the store {name}; put it where all "
                          f"reach it, on a shared disk or in object storage ({missing})") from missing  # fmt: skip
    if store.plan.study.digest != digest:
        raise FileProblem(f"the worker on {socket.gethostname()} finds another sweep in {name}; name a store that all "
                          "workers share")  # fmt: skip
    _OPEN.clear()
    _OPEN[name, digest] = store
    return store


def check_version(by: Mapping[str, Any]) -> None:
    """Refuse to work for another version of polhode."""
    mine = maker()
    if (mine["polhode"], mine["source"]) != (by["polhode"], by["source"]):
        raise FileProblem(
            f"the worker on {socket.gethostname()} has polhode {mine['polhode']} (sources {mine['source']}), but the "
            f"sweep is run by {by['polhode']} ({by['source']}); install the same version there"
        )


def times_of(plan: Plan) -> Any:
    """The times of the rows, where all rows are kept."""
    if plan.study.table.get("rows", "last") != "all":
        return None
    return np.asarray(plan.labels["time"])
