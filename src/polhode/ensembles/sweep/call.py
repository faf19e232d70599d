"""``polhode.sweep``: many runs of one scenario, here, in worker processes or on a cluster, into one store."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from polhode import errors
from polhode.arguments import mapping, path as checked_path, truth, whole
from polhode.display import SECONDS_BETWEEN_LINES, Display, Progress, duration, teller
from polhode.ensembles.sweep.plan import Block, Plan, Study, kept_of, maker
from polhode.ensembles.sweep.store import PLAN, Folder, SweepStore, open_store
from polhode.ensembles.sweep.work import fill, task
from polhode.ensembles.sweep.workers import Cluster, Processes
from polhode.errors import FileProblem, Interrupted, InvalidInput, PolhodeError, answering, shown, warn
from polhode.html import facts
from polhode.lazy import xr
from polhode.runs.scenario import Scenario
from polhode.trajectory.outputs import check_within

TASK_SECONDS = 10.0
"""What a task takes, about, unless the scenario says how many members it has."""
TASK_BYTES = 2**26
"""What a task leaves at most, unless that is less than one member."""
TASKS_EACH = 4
"""Tasks for each of several workers, at least, so that none waits long for the last one."""
TRIES = 16
"""Members that are tried until one shows what there is to keep."""


@dataclass(frozen=True)
class SweepProgress:
    """Where a sweep is: handed to the ``progress`` function after each task."""

    done: int  # done, total: members, with those of earlier calls; of all members, or of the part that is asked for
    total: int
    failed: int  # of those done
    seconds: float  # since the call began
    to_go: float  # seconds left at the pace of this call; NaN before the first task is done

    @property
    def share(self) -> float:
        """Part of the members that is done."""
        return self.done / self.total if self.total else 1.0


@answering
def sweep(
    scenario: str | os.PathLike[str], table: Mapping[str, Any] | None = None, *,
    store: str | os.PathLike[str] | None = None, workers: int = 1, scheduler: Any = None,
    part: tuple[int, int] | None = None, allow_code: bool = False,
    progress: Callable[[SweepProgress], None] | bool | None = None,
) -> xr.Dataset:  # fmt: skip
    """Run a scenario for many values of its keys, and go on where an earlier call was stopped.

    Parameters
    ----------
    scenario : path
        A TOML file with a table [sweep], see ``polhode.ensembles.sweep``.
    table : mapping, optional
        Words of [sweep] in the place of the file's, such as ``{"grid": {"run.step": [0.1, 0.05]}}``.
    store : path or URL, optional
        Zarr folder of the results, ``*.zarr``: on a disk, or of object storage (``s3://...``, by fsspec). By default
        what [sweep] says, else ``<scenario>-sweep.zarr`` in the current folder.
    workers : int
        Processes on this machine. One is this process itself.
    scheduler : str or distributed.Client, optional
        In their place a Dask cluster: its address, such as ``"tcp://10.0.0.1:8786"``.
    part : (int, int), optional
        ``(k, n)``: only the k-th of n parts of the tasks, counted from 1, for machines that share nothing but the
        store.
    allow_code : bool
        Whether Python functions named in the scenario may be loaded.
    progress : function or True, optional
        Called with a ``SweepProgress`` after each task; True shows it on stderr.

    Returns
    -------
    xarray.Dataset
        As ``polhode.ensembles.open_sweep``: dimension ``member``, coordinates of what varies, ``status`` and
        ``failure``.

    Raises
    ------
    InvalidInput
        The scenario or its [sweep] is wrong, or all members that were tried are refused.
    FileProblem
        The store belongs to another sweep or version, or cannot be written; a worker has another version; the scheduler
        is gone. What is done stays done.
    Interrupted
        Ctrl-C; likewise.

    Warns
    -----
    OtherMachineWarning
        The store was begun elsewhere, so that the last digits of members may differ between its parts.

    See Also
    --------
    ensemble : many members of one system at once, in memory.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/top.toml"
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     ds = ph.sweep(file, {"grid": {"system.weight": [10.0, 20.0]}}, store=f"{folder}/top.zarr")
    >>> ds["system.weight"].values, ds.status.values
    (array([10., 20.]), array([0, 0], dtype=int8))
    """
    study = Study.read(scenario, None if table is None else mapping(table, "table"))
    workers, allow_code = whole(workers, "workers", 1), truth(allow_code, "allow_code")
    parts = _part(part)
    name = store if store is not None else study.table.get("store") or f"{os.path.splitext(study.name)[0]}-sweep.zarr"
    if store is None and "store" not in (table or {}):  # so that it is the word of the file
        check_within(name, "sweep.store", "name the store yourself: --store, in Python store=")
    folder = Folder(checked_path(name, "store"))
    if scheduler is not None and workers != 1:
        raise InvalidInput("workers and scheduler are both given; a cluster has its own workers, so leave workers out")
    with ExitStack() as ended:
        if progress is True:
            report = _shown(ended.enter_context(Display()))
        else:
            report = teller(None if progress is False else progress, "progress", "True or a function")
        cluster = None if scheduler is None else ended.enter_context(closing(Cluster(scheduler)))
        found = _found(study, folder, allow_code, workers if cluster is None else cluster.threads)
        _carry_out(found, parts, allow_code, cluster or workers, report)
    return open_store(found)


@answering
def sweep_member(
    scenario: str | os.PathLike[str], member: int, table: Mapping[str, Any] | None = None, *, allow_code: bool = False
) -> Scenario:
    """The scenario of one member of a sweep, to be run alone: ``sweep_member("study.toml", 17).integrate()``.

    Parameters
    ----------
    scenario, table, allow_code
        As of ``polhode.sweep``.
    member : int
        Its number, counted from 0.

    Raises
    ------
    InvalidInput
        As ``polhode.sweep``; there is no such member.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/top.toml"
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     one = ph.ensembles.sweep_member(file, 1, {"grid": {"system.weight": [10.0, 30.0]}})
    >>> one.integrate().sizes["time"]
    101
    """
    study = Study.read(scenario, None if table is None else mapping(table, "table"))
    return study.scenario(whole(member, "member"), truth(allow_code, "allow_code"))


def _part(part: Any) -> tuple[int, int]:
    if part is None:
        return 1, 1
    try:
        k, n = part
    except Exception:  # an object may fail in any way when it is asked for its two numbers
        raise InvalidInput(f"part must be (k, n), the k-th of n parts, not {shown(part)}") from None
    n = whole(n, "part[1]", 1)
    return whole(k, "part[0]", 1, n), n


# ------------------------------------------------------------------ the store
def _found(study: Study, folder: Folder, allow_code: bool, parallel: int) -> SweepStore:
    """The store of a study, which is begun if there is none."""
    if folder.read(PLAN) is None:
        return SweepStore.create(folder, _planned(study, allow_code, parallel))
    store = SweepStore(folder)
    if store.plan.study.digest != study.digest:
        what = ", ".join(study.differs(store.plan.study)[:5])
        raise FileProblem(
            f"{folder} belongs to another sweep, which differs in {what}; name another store, or remove it"
        )
    begun, now = store.plan.made_by, maker()
    if begun["polhode"] != now["polhode"]:
        raise FileProblem(f"{folder} was begun by polhode {begun['polhode']}, and this is {now['polhode']}; go on with "
                          "that version, or name another store")  # fmt: skip
    others = [f"{name} {begun.get(name)} is now {value}" for name, value in now.items() if begun.get(name) != value]
    if others:
        warn(f"the sweep in {folder} was begun elsewhere ({', '.join(others)}); it goes on, but the last digits of "
             "members may differ between its parts", errors.OtherMachineWarning)  # fmt: skip
    store.lay_out()
    return store


def _planned(study: Study, allow_code: bool, parallel: int) -> Plan:
    """The plan of a new sweep: one member shows what there is to keep, and what a task may hold."""
    members = study.design.members
    whole_rows = study.table.get("rows", "last") == "all"
    first: PolhodeError | None = None
    for tried in range(min(TRIES, members)):
        number = tried * members // min(TRIES, members)
        try:
            ds, seconds = _tried(study, number, allow_code, whole_rows)
            break
        except InvalidInput as refused:
            refused.args = (f"member {number}: {refused}".replace(str(study.file), study.name),)
            first = first or refused
        except PolhodeError as failed:
            if failed.trajectory is None:
                raise
            first = first or failed
            if not whole_rows and len(failed.trajectory["time"]):
                ds, seconds = failed.trajectory, 0.0
                break
    else:
        assert first is not None
        if min(TRIES, members) > 1:
            first.args = (f"all {min(TRIES, members)} members that were tried fail; {first}",)
        raise first
    variables, labels, attributes = kept_of(ds, study)
    plan = Plan(study, members, variables, labels, attributes, maker())
    size = sum(8 * prod(one.shape) for one in variables.values())
    chunk = study.table.get("chunk")
    if chunk is None:
        if seconds < TASK_SECONDS:
            seconds = _timed(plan, number, allow_code)
        chunk = min(TASK_SECONDS / max(seconds, 1e-6), TASK_BYTES / size)
        if parallel > 1:
            chunk = min(chunk, members / (TASKS_EACH * parallel))
    return Plan(study, min(members, max(1, int(chunk))), variables, labels, attributes, plan.made_by)


def _tried(study: Study, number: int, allow_code: bool, to_the_end: bool) -> tuple[xr.Dataset, float]:
    """The trajectory of a member and about what it takes, s; broken off early where only its variables matter."""
    scenario = study.scenario(number, allow_code)
    estimate = [0.0]

    def stop(progress: Progress) -> None:
        if progress.stage == "running" and progress.done and 0.0 < progress.share < 1.0:
            estimate[0] = progress.seconds / progress.share
            if not to_the_end:
                raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.PolhodeWarning)
        try:
            return scenario.integrate(stop), estimate[0]
        except Interrupted as stopped:
            if not estimate[0] or stopped.trajectory is None:  # by a hand
                raise
            return stopped.trajectory, estimate[0]


def _timed(plan: Plan, number: int, allow_code: bool) -> float:
    """What a member takes, s: those of a task are more and more, until that takes a while."""
    count = 1
    while True:
        first = max(0, min(number, plan.members - count))
        last = min(plan.members, first + count)
        block = Block(plan, first, last, allow_code)
        at = time.perf_counter()
        fill(block)
        seconds = time.perf_counter() - at
        if seconds > 0.1 * TASK_SECONDS or last - first < count:
            return seconds / (last - first)
        count *= 8


# ------------------------------------------------------------------ tasks
def _carry_out(
    store: SweepStore, part: tuple[int, int], allow_code: bool, engine: int | Cluster,
    report: Callable[[SweepProgress], None],
) -> None:  # fmt: skip
    """Do what is not done."""
    k, n = part
    plan, began = store.plan, time.perf_counter()
    mine = range(k - 1, plan.chunks, n)
    finished: set[int] = set()
    count = failed = before = 0
    for mark in store.marks():
        if mark["chunk"] in mine:
            finished.add(mark["chunk"])
            count, failed = count + mark["members"][1] - mark["members"][0], failed + mark["failed"]
    before, total = count, sum(last - first for first, last in map(plan.range, mine))
    report(SweepProgress(count, total, failed, 0.0, float("nan")))

    def done(mark: Mapping[str, Any]) -> None:
        nonlocal count, failed
        if mark["chunk"] in finished:
            return
        finished.add(mark["chunk"])
        count, failed = count + mark["members"][1] - mark["members"][0], failed + mark["failed"]
        seconds = time.perf_counter() - began
        report(SweepProgress(count, total, failed, seconds, seconds / (count - before) * (total - count)))

    left = [chunk for chunk in mine if chunk not in finished]
    name, digest, by = store.folder.name, plan.study.digest, maker()
    try:
        if not isinstance(engine, int):
            engine.carry_out(partial(task, name, digest, by, allow_code=allow_code), left, done)
        elif engine > 1 and left:
            with Processes(name, digest, by, allow_code, min(engine, len(left))) as processes:
                processes.carry_out(left, done)
        else:
            for chunk in left:
                done(task(name, digest, by, chunk, allow_code))
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted; {count} of {total} members are in {store.folder}; give the same command again "
                          "to go on") from None  # fmt: skip
    if len(store.done()) == plan.chunks:
        store.folder.tidy()


def _shown(display: Display) -> Callable[[SweepProgress], None]:
    """Shows the progress of a sweep on stderr: a bar in a terminal, a line now and then elsewhere."""
    told = -SECONDS_BETWEEN_LINES

    def show(now: SweepProgress) -> None:
        nonlocal told
        failed = f", {now.failed} failed" if now.failed else ""
        if display.show("sweep", now.share, f"{now.done} members{failed}"):
            return
        if now.done >= now.total or now.seconds - told > SECONDS_BETWEEN_LINES:
            told = now.seconds
            left = f", {duration(round(now.to_go))} to go" if now.done < now.total and now.to_go == now.to_go else ""
            display.say(f"{100.0 * now.share:5.1f} %  {now.done} of {now.total} members{failed}{left}")

    return show


@answering
def sweep_status(store: str | os.PathLike[str]) -> SweepStatus:
    """How far a sweep is, which may be going on.

    Parameters
    ----------
    store : path or URL
        Of ``polhode.sweep``.

    Raises
    ------
    FileProblem
        It is not the store of a sweep.

    See Also
    --------
    open_sweep : the results so far.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, store = f"{folder}/top.toml", f"{folder}/top.zarr"
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     _ = ph.sweep(file, {"grid": {"run.step": [0.01, 0.005]}}, store=store)
    ...     status = ph.ensembles.sweep_status(store)
    >>> status.members, status.done, status.failed
    (2, 2, 0)
    """
    return SweepStatus.of(SweepStore(Folder(checked_path(store, "store"))))


@dataclass(frozen=True)
class SweepStatus:
    """How far a sweep is.

    Attributes
    ----------
    members, done, failed : int
        All, those computed, and of these those that failed.
    tasks, tasks_done : int
        Tasks of many members each.
    seconds : float
        Computed so far, all workers together.
    since : float
        Seconds since the last task was done; NaN where none is.
    rate : float
        Members per second between the first and the last task; NaN where that is not known.
    failures : list of tuple
        Number, status and sentence of members that failed, up to 1000 of each task.
    warned : dict
        Of each kind of warning how many members gave it, the first of them, and its words.
    """

    members: int
    done: int
    failed: int
    tasks: int
    tasks_done: int
    seconds: float
    since: float
    rate: float
    failures: list[tuple[int, int, str]]
    warned: dict[str, list[Any]]

    def _repr_html_(self) -> str:
        pairs = [
            ("members", f"{self.done:,} of {self.members:,}"), ("failed", f"{self.failed:,}"),
            ("tasks", f"{self.tasks_done:,} of {self.tasks:,}"), ("computed", duration(self.seconds)),
        ]  # fmt: skip
        if self.rate == self.rate:
            pairs.append(("rate", f"{self.rate:,.3g} members a second"))
        if self.done < self.members and self.to_go == self.to_go:
            pairs.append(("to go", duration(self.to_go)))
        pairs += [(kind, f"{number} members; first {first}: {words}") for kind, (number, first, words) in
                  self.warned.items()]  # fmt: skip
        pairs += [(f"member {number}", why) for number, _, why in self.failures[:5]]
        return facts("Sweep", "", pairs)

    @property
    def to_go(self) -> float:
        """Seconds left at that rate."""
        return (self.members - self.done) / self.rate

    @classmethod
    def of(cls, store: SweepStore) -> SweepStatus:
        """That of a store, from its marks."""
        marks, warned = list(store.marks()), dict[str, list[Any]]()
        times = sorted((mark["at"], mark["members"][1] - mark["members"][0]) for mark in marks)
        done, failed = sum(size for _, size in times), sum(mark["failed"] for mark in marks)
        seconds = sum((mark["seconds"] for mark in marks), 0.0)
        failures = [(int(k), int(status), str(why)) for mark in marks for k, status, why in mark["failures"]]
        for mark in marks:
            for kind, (number, first, words) in mark["warned"].items():
                warned.setdefault(kind, [0, first, words])[0] += number
        nan = float("nan")
        span = times[-1][0] - times[0][0] if times else 0.0
        rate = sum(size for _, size in times[1:]) / span if span > 0.0 else nan
        since = time.time() - times[-1][0] if times else nan
        return cls(
            store.plan.members, done, failed, store.plan.chunks, len(marks), seconds, since, rate, failures, warned
        )
