"""Going on with a run from its live store, and reading what is in one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from polhode.arguments import path as checked_path, truth
from polhode.display import Progress
from polhode.errors import Interrupted, InvalidInput, answering
from polhode.runs.integrate import RUNS, carry_out
from polhode.runs.request import Request
from polhode.runs.result import finish, labelled
from polhode.runs.settings import only_functions
from polhode.runs.store import LiveStore, Store
from polhode.systems import System
from polhode.systems.registry import named_now, recorded_functions, without_functions
from polhode.trajectory import files


@answering
def resume(
    store: str | os.PathLike[str] | Store,
    *,
    system: System | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    threads: int = 1,
    **functions: Callable[..., Any],
) -> xr.Dataset:
    """Go on with a run that was stopped in any way, from the last checkpoint in its live store to its end.

    On the same machine and version every bit is that of the uninterrupted run: rows, events, counts. A run that is at
    its end already is read.

    Parameters
    ----------
    store : path or Store
        The ``store`` of ``integrate``, which goes on receiving the rows.
    system : System, optional
        The system again, where no function of polhode builds it.
    progress : function or True, optional
        As for ``integrate``.
    threads : int
        As in ``polhode.Settings``.
    **functions : function
        The user's functions by keyword (``torque=f``), as for ``rerun``: a store keeps their source for reading and
        never runs it.

    Returns
    -------
    xarray.Dataset
        The whole trajectory, from the beginning, opened from the store as by ``integrate``.

    Raises
    ------
    FileProblem
        No store; its checkpoint is missing, torn or edited; its rows are; another process is writing it.
    InvalidInput
        A function or the system is missing or not wanted, or reads other numbers in closures or as globals.
    PolhodeError
        As ``integrate``: what was computed is in ``.trajectory`` and in the store.

    Warns
    -----
    OtherMachineWarning
        The run was made by another version, on another processor, or with functions of another source.

    See Also
    --------
    rerun : a finished run again from its start.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     body, start = ph.free_body((1, 2, 2.5)), {"angular_velocity": (0.2, 1.0, 0.1)}
    ...     ds = ph.integrate(body, step=0.1, steps=100, start=start, store=f"{folder}/run.zarr")
    ...     ph.resume(f"{folder}/run.zarr").sizes["time"]
    101
    """
    only_functions(functions, "resume", ("system", "progress", "threads"))
    live = LiveStore.opened(Store.of(store))
    request = _read(live, system, functions, "resume").on(threads)
    if live.complete():
        live.verify()
        return live.trajectory().assign_attrs(run=request.to_text())
    return labelled(live.labels, lambda: carry_out(request, progress, live))


@answering
def load(
    path: str | os.PathLike[str], *, lazy: bool = False, system: System | None = None, **functions: Callable[..., Any]
) -> xr.Dataset:
    """Read a trajectory into memory: a file (.nc, .zarr), or the live store of a run, which may be going on.

    Parameters
    ----------
    path : path
        The file, or the store.
    lazy : bool
        Leave the rows of a store on disk, for one larger than the memory: a variable is read when it is used, the part
        of it that is used, as by ``xarray.open_zarr("run.zarr/trajectory", decode_times=False)``. No function is needed
        then; digests are not compared, and the rows are those the run showed last, every few seconds.
    system, **functions
        Of a store, as for ``resume``.

    Returns
    -------
    xarray.Dataset
        Of a store the rows up to its last checkpoint; where that is not the end, the attribute ``incomplete`` says how
        far the run was.

    Raises
    ------
    FileProblem
        It is missing, torn (the sentence says which variables, where the file has digests), or not a trajectory; or it
        holds what polhode does not read, such as a stranger's codec or a shape that would fill the memory.
    InvalidInput
        Another suffix; for a store, a function that is missing, or reads other numbers.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ph.load(ph.save(ds, f"{folder}/run.nc")).equals(ds)
    True
    """
    only_functions(functions, "load", ("lazy", "system"))
    given = [*["system"] * (system is not None), *functions]
    handed = given and f"a system or functions are given ({', '.join(given)})"
    if truth(lazy, "lazy") and handed:
        raise InvalidInput(f"{handed}, but a store read lazily needs none; leave them out")
    if not files.is_store(Path(checked_path(path))):
        if handed:
            raise InvalidInput(f"{handed}, but only a live store needs them; leave them out")
        if lazy:
            raise InvalidInput(f"{str(path)!r} is no live store of a run, and is read into memory; leave lazy out")
        return files.load(path)
    live = LiveStore.opened(Store(path), writable=False)
    if lazy:
        return live.trajectory()
    request = _read(live, system, functions, "load")
    if live.over:  # what is left to do takes no time
        return labelled(live.labels, lambda: carry_out(request, None, live))
    return labelled(live.labels, lambda: _so_far(live, request))


def _read(live: LiveStore, system: System | None, functions: Mapping[str, Callable[..., Any]], name: str) -> Request:
    """The request of a store."""
    request = Request.from_json(live.run_text, functions, system, f"{name}({str(live.path)!r}, ")
    kept = json.loads(live.run_text)
    if system is not None and _without_functions(system.arguments) != _without_functions(kept["system"]["arguments"]):
        raise InvalidInput(f"the system handed in has other arguments than that of the run in {live.path}")
    live.told(_changed(kept, request))
    return request


def _without_functions(arguments: Mapping[str, Any]) -> str:
    """Arguments of a system as text, but for functions of the user's."""
    return json.dumps(without_functions(arguments))


def _changed(kept: Mapping[str, Any], request: Request) -> list[str]:
    """Names of functions whose source is not the one the run began with; refuses those that read other numbers."""
    now = request.numbers
    for name, old in kept.get("numbers", {}).items():
        if told := ", ".join(f"{key} = {x!r}" for key, x in old.items() if now.get(name, {}).get(key) != x):
            raise InvalidInput(f"{name!r} reads other numbers than in the run ({told} there); hand it in with those")
    before = recorded_functions(named_now(kept["system"]["name"], kept["system"]["arguments"], {})[0])
    after = recorded_functions(request.system.arguments)
    pairs = [(name, value, after.get(name)) for name, value in before.items()] + [
        (given.get("name", given["kind"]), given.get("function"), event.arguments.get("function"))
        for given, event in zip(kept.get("events", ()), request.events, strict=True)
    ]
    return [name for name, old, new in pairs if isinstance(old, dict) and isinstance(new, dict)
            and "sha256" in old and new.get("sha256") != old["sha256"]]  # fmt: skip


def _so_far(live: LiveStore, request: Request) -> xr.Dataset:
    """The rows that are committed, without taking a step."""
    record, run = request.record(), RUNS[type(request.steps)](request)
    live.join(run, record)
    if not record.count and request.recording.t_eval is None:
        record.add(run.t0, run.start, 0)
        run.show(record)
    of = "" if run.total is None else f" of {run.total}"
    told = Interrupted(f"the run was at step {run.done}{of} (t = {run.now:g}) when its store was read")
    try:
        return finish(run, record.between(0, record.count), told, "")
    except Interrupted as stopped:
        ds = stopped.trajectory
        assert isinstance(ds, xr.Dataset)
        return ds
