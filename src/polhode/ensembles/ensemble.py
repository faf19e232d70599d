"""One call for many runs of a system that differ in where they start and in numbers of the system."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import numpy as np

from polhode.arguments import Array, ArrayLike, choice, whole
from polhode.display import Progress
from polhode.ensembles.engines import NOT_RUN, Block, Engine, ThreadsEngine
from polhode.ensembles.members import Kind, Varied
from polhode.ensembles.outcome import Instead, Members, Outcome, Work, attributes_of, note_of, take_instead, warn_of
from polhode.ensembles.plan import SWITCHED, Plan, planned
from polhode.ensembles.repeated import WORTH_THREADS, Ready, leave, left_of
from polhode.ensembles.sampling import Members as Drawn
from polhode.ensembles.store_of_members import StoreOfMembers
from polhode.errors import CoarseStepWarning, Interrupted, InvalidInput, answering, unknown_name, warn
from polhode.kernel import jit, layout as L
from polhode.lazy import xr
from polhode.methods import Method, MethodSpec
from polhode.operating_system import memory, processors
from polhode.runs.integrate import RUNS, Watch, reporting
from polhode.runs.request import ARGUMENTS, Events, Parameters, Request
from polhode.runs.resolution import coarse_loads, coarse_orbit
from polhode.runs.settings import Settings
from polhode.runs.state import Start
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.reductions import BATCH, Reductions, Running

ENGINES = ("auto", "threads", "lanes", "device")
COMMON = {*ARGUMENTS} - {"start", "tangent", "store", "progress"}
"""Arguments that all members have in common."""
OF_MEMBER = re.compile(r"member (\d+)")
WORTH_LANES = 8
"""Members from which on lanes are taken where they can be had."""
MOST_OF_BLOCK = 2**26
"""Bytes of a block whose members are reduced at once, with what is made of it."""
OF_DEVICE = 2**30
"""The same for a device, which is the faster the more members it has."""
FAILURES_TOLD = 10
"""Members that failed whose reasons the result of reductions has."""
PART = 1 << 17
"""Members that are drawn at once, where only reductions are kept."""
BATCHES = 8
"""Most batches of members that are reduced at once."""
BLOCK_SECONDS = 0.1
"""How long a block of members is to take: Ctrl-C and progress wait for it."""
FEWEST = 64
"""Members that are always worth a block of their own, if they take no longer."""


@answering
def ensemble(
    system: System,
    method: str | Method | MethodSpec | None = None,
    *,
    members: Any,
    step: float | None = None,
    steps: int | Tolerance | None = None,
    t_end: float | None = None,
    every: int = 1,
    t_eval: ArrayLike | None = None,
    start: Start = None,
    attitude: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    angular_momentum: ArrayLike | None = None,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    parameters: Parameters = None,
    events: Events = (),
    breaks: ArrayLike = (),
    reduce: Reductions | None = None,
    engine: str = "auto",
    threads: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Integrate many members of one kind, which differ in their starts and in numbers of the system.

    Each member's numbers depend on nothing but its own: not on threads, other members, or how many there are; with
    ``engine="threads"`` they are those of ``integrate`` for it alone, bit for bit. A member that fails ends where it
    fails and stops nobody.

    Parameters
    ----------
    system : System
        What all members have in common; what varies replaces its arguments.
    method : str or Method, optional
        As of ``integrate``.
    members : mapping, table or int
        What varies: arrays with one value for each member along the first axis, by name. Names are words of
        ``polhode.State`` (``angular_velocity`` (M, 3), ``attitude`` (M, 4), ``position``...), arguments of the function
        that builds the system (``inertia`` (M, 3) or (M, 3, 3), ``mass`` (M,), ``mu``...), ``parameters`` (M, k) of the
        user's functions or one of them (``parameters.0`` (M,)), a number within an argument (``forces.0.area`` (M,)),
        ``rtol`` and ``atol``, options of the method (``seed``). Or what ``polhode.ensembles.sampling.members`` draws; a
        table (CSV file, DataFrame, Dataset) of such arrays; or an integer: so many members that do not differ.
        With a thermostat each has noise of its own, by its number, unless the method has the option ``noise="common"``.
    step, steps, t_end, every, start, attitude, angular_velocity, angular_momentum, position, velocity, momentum
        As of ``integrate``, for all members.
    t_eval : array_like, optional
        Times of the rows, the same for all members. With a tolerance each member takes steps of its own, and without
        ``t_eval`` the start and the end are recorded.
    parameters, events, breaks
        As of ``integrate``, for all members. With breaks each member is a run by itself; with events, too, but in
        lanes.
    reduce : Reduction, list or mapping, optional
        Of ``polhode.ensembles.reductions``, ``[reductions.mean("attitude")]``, or ``{"attitude": ["mean",
        "covariance"]}``. What is kept then in the place of trajectories, so that memory does not grow with the members.
    engine : {"auto", "threads", "lanes", "device"}
        What computes. ``threads``: the loop of a single run over one member after the other, on every processor.
        ``lanes``: several members in each instruction, where method and system allow it; numbers differ from those of
        ``integrate`` by rounding. ``device``: a graphics processor. ``auto``: lanes from 8 members on, where they can
        be had, else threads. The attribute ``engine`` of the Dataset says what did it, and why.
    threads : int, optional
        How many processors may be used; all of this machine unless given. No bit of a result depends on it.
    store : path, optional
        A new folder (``members.zarr``) that receives members as they are done, so that memory does not grow with them.
        The Dataset is opened from there: a variable is read when it is used, the part of it that is used.
    progress : function or True, optional
        As of ``integrate``; it is told of members in the place of steps.
    settings : Settings or mapping, optional
        As of ``integrate``.
    **options : str or float
        Options of the method, for one version; they belong to ``polhode.methods.NAME(...)``.

    Returns
    -------
    xarray.Dataset
        That of ``integrate`` with the dimension ``member`` before ``time``; what varied as coordinates (initial
        quantities as ``initial_...``); ``status`` (member), 0 for members that ran to their end, and ``failure``, the
        sentence that ``integrate`` raises for the others. Rows after a failure are NaN.

    Raises
    ------
    InvalidInput
        An argument is wrong, or a value of a member, which is named by its number from 0.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the members that were done.
    FileProblem
        The store exists already or cannot be written.

    See Also
    --------
    sweep : one scenario file for many values of its keys, kept in a store.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = [[0.0, 0.1, 1.0], [0.0, 0.1, 2.0]]
    >>> ds = ensemble(ph.free_body((1, 2, 3)), members={"angular_velocity": spins}, step=1.0, steps=10)
    >>> ds.energy.shape, ds.status.values.tolist()
    ((2, 11), [0, 0])
    """
    given = {name: value for name, value in locals().items() if name in COMMON}
    choice(engine, "engine", ENGINES)
    workers = processors() if threads is None else whole(threads, "threads", 1, 4096)
    system, (size, record) = present_system(system), (0, None)
    if reduce is not None and store is None and isinstance(members, Drawn) and members.count > PART:
        parts = -(-members.count // PART)
        size, record = -(-members.count // (parts * BATCH)) * BATCH, members.record()

    words = {"engine": engine, "start": start, **given}
    key, ready = (None, None) if size or options else left_of(system, method, members, words)
    usual = reduce is None and store is None and progress is None
    if usual and ready is not None and (ds := ready.dataset(members)) is not None:
        system.__dict__["_ensembles"][key] = ready
        return ds

    def plan_of(first: int, stop: int) -> Plan:
        varied = Varied(stop - first, members.rows(first, stop), record, first, members.count) if size else members
        if ready is not None:
            return replace(ready.plan, varied=(varied := Varied.of(members)), whole=varied)
        return planned(system, method, varied, given, start, options)

    with reporting(progress, "members") as report_progress:
        return Ensemble(plan_of, size, engine, workers, report_progress, reduce, store, key, ready).carry_out()


class Ensemble:
    """One call of ``ensemble``, checked, and how it is carried out: part by part, each drawn when its turn comes, where
    members are drawn and only reductions are kept."""

    def __init__(
        self, plan_of: Callable[[int, int], Plan], size: int, engine: str, workers: int,
        progress: Callable[[Progress], None], reduce: Reductions | None, store: str | os.PathLike[str] | None,
        key: tuple[object, ...] | None = None, ready: Ready | None = None,
    ) -> None:  # fmt: skip
        self.key, self.ready = key, ready
        self.plan, self.plan_of, self.asked, self.workers = plan_of(0, size), plan_of, engine, workers
        if reduce is not None and store is not None:
            raise InvalidInput("store receives trajectories, of which reduce keeps none; leave one of them out")
        self.report_progress = progress
        self.count, self.total = self.plan.varied.count, self.plan.varied.total
        self.offset, self.before, self.seconds = 0, 0.0, 0.0
        self.running = None if reduce is None else Running(reduce, self.total)
        self.store = None if store is None else StoreOfMembers(store, self.total)
        self.failures: dict[int, str] = {}
        self.off: list[tuple[int, int, float]] = []
        self.instead: list[Instead] = []
        self.coarse, self.done = "", 0
        self.about: dict[str, str] = {}
        self.run: Run | None = None

    def carry_out(self) -> xr.Dataset:
        """Run all members, part by part; what became of them."""
        stopped, ds = self._part()
        while not stopped and self.offset + self.count < self.total:
            self.offset, self.before = self.offset + self.count, self.before + self.seconds
            self.plan = self.plan_of(self.offset, min(self.offset + self.count, self.total))
            self.count = self.plan.varied.count
            try:
                stopped, ds = self._part()
            except InvalidInput as problem:
                told = OF_MEMBER.sub(lambda of: f"member {self.offset + int(of[1])}", str(problem), count=1)
                raise InvalidInput(told) from None
        if self.run is not None:
            warn_of(self.run, self.off, self.instead, self.total)
            if self.coarse and not self.off:
                warn(f"member 0: {self.coarse}", CoarseStepWarning)
        where, about = "", self.about | self._note_of_instead
        if self.running is not None or self.store is not None:
            self.done = (self.running or self.store).added  # type: ignore[union-attr]
            if not self.done:
                raise Interrupted("interrupted before any member was done")
        if self.running is not None:
            ds = self.running.result()
            reasons = [f"member {k}: {self.failures[k]}" for k in sorted(self.failures)[:FAILURES_TOLD]]
            ds.attrs |= about | {"failures": reasons}
        elif self.store is not None and self.run is not None:
            ds = self.store.close(attributes_of(self.plan, self.run, about))
            where = f", which are in {self.store.path}"
        ds.encoding["seconds"] = self.before + self.seconds
        if stopped:
            raise Interrupted(f"interrupted after {self.done} of {self.total} members{where}", trajectory=ds)
        return ds

    def _report(self, at: Progress) -> None:
        """Tell where all parts together are."""
        if self.count < self.total:
            done, seconds = self.offset + at.done, self.before + at.seconds
            at = Progress(done, self.total, seconds, at.stage, done / self.total)
        self.report_progress(at)

    def _part(self) -> tuple[bool, xr.Dataset]:
        """Run the members of a part: whether Ctrl-C stopped it, and the last members' Dataset."""
        plan = self.plan
        self._report(Progress(0, self.count, 0.0, "preparing"))
        try:
            request, kind = self.ready.request_of(plan) if self.ready else (None, None)
            if request is None:
                self.ready, request = None, plan.request(0)
        except InvalidInput as problem:
            raise plan.whose(0, problem) from None
        if isinstance(request.steps, Tolerance) and request.recording.every != 1:
            raise InvalidInput(
                "with a tolerance each member takes steps of its own, so that every says nothing; give t_eval"
            )
        system, sought = request.system, request.events
        if self.running is not None and sought and not (system.kicked or system.switches):
            watches = (*system.watches, *(watch for event in sought for watch in event.watches))
            known = [word for watch in watches for word in (watch.rising, watch.falling) if word]
            for one in self.running.reductions:  # which would find none of a kind that is not spelt right
                if one.kind == "events" and one.name not in known:
                    raise unknown_name("kind of event to reduce", one.name, known)
        why = "" if self.ready else plan.alone(request, self.asked)
        if not why:
            kind, states = plan.together(request, kind)
            why = kind.alone
        return self._each(why) if why else self._together(request, kind, states)  # type: ignore[arg-type]

    def _take(self, first: int, ds: xr.Dataset) -> None:
        """Reduce or store members that are done, and remember why some of them failed."""
        if self.running is None:
            cast(StoreOfMembers, self.store).add_members(first, ds)
            return
        self.running.add(self.offset + first, ds)
        told = ds["failure"].values
        self.failures |= {self.offset + first + int(k): str(told[k]) for k in np.flatnonzero(told != "")}

    def _refuse_store(self, why: str) -> None:
        """Refuse a store of members that have rows or events of their own."""
        if self.store is not None:
            raise InvalidInput(
                f"these members are runs by themselves, with rows of their own ({why}), which no store takes; "
                "leave store out, or keep reductions alone (reduce=)"
            )

    def _each(self, why: str) -> tuple[bool, xr.Dataset]:
        """Members that are runs by themselves."""
        self._refuse_store(why)
        if self.asked not in ("auto", "threads"):
            raise InvalidInput(f"engine {self.asked!r} cannot run these members, for {why}; leave engine out")
        self.about = {"engine": f"threads: one run each, for {why}"}
        members = Members(self.plan, self.about, self.workers, self._report)
        size = self.count if self.running is None else BATCH
        with Watch() as watch:
            members.stopped = lambda: watch.pressed
            for first in range(0, self.count, size):
                ds = members.together(first, min(first + size, self.count))
                without_gap = int((ds.status.values != NOT_RUN).cumprod().sum())
                if self.running is not None and without_gap:
                    self._take(first, ds.isel(member=slice(without_gap)))
                if watch.pressed:
                    break
            stopped = watch.pressed
        members.warn()
        self.seconds, self.done = members.seconds, members.done
        return stopped, ds

    def _together(self, request: Request, kind: Kind, states: Array) -> tuple[bool, xr.Dataset]:
        """Members that one compiled loop serves."""
        if kind.system is not request.system:
            request = replace(request, system=kind.system)
        with jit.watched(lambda: self._report(Progress(0, self.count, 0.0, "compiling"))):
            kept = self.ready and self.ready.run_from(kind, states[0])
            run = kept or RUNS[type(request.steps)](request, compiled=False)
            engine, why = self._engine(run, kind)
        between = self.plan.between_steps(request)
        if engine.name == "threads" and (run.breaks or between not in ("", SWITCHED)):
            return self._each(f"{between}{why}")
        if any(watch.rising or watch.falling for watch in run.event_detection.watches):
            self._refuse_store(between)
        self.least = FEWEST if between else getattr(engine, "width", 1)  # legs cost the same however few go along
        coarse = coarse_orbit(run) if run.guard else ""
        if coarse:
            warn(f"member 0: {coarse}", CoarseStepWarning)
        refuses = run.integrator.prepared.refuses  # moments of inertia that the method cannot turn
        for k, of_member in enumerate(kind.constants.moments if refuses and len(kind.constants.moments) > 1 else ()):
            for moments in of_member[np.isfinite(of_member).any(axis=1)]:
                if told := refuses(moments):  # type: ignore[misc]
                    raise InvalidInput(f"member {k}: method {run.chosen.label!r} {told}")
        self.run, work = run, Work(self.plan, request, run, kind, states)
        self.about = {"engine": f"{engine.name}: {engine.about}{why}"}
        if self.running is not None or self.store is not None:
            stopped, ds = self._by_blocks(work, engine), xr.Dataset()
        else:
            self._check_room(work, self.count)
            work.block = work.with_room(work.block)
            stopped = self._carry(work.block, engine.run, whole=engine.name == "device")
            self.done = int((work.block.status != NOT_RUN).sum())
            outcome = self._outcome(work, work.block, 0)
            ds = outcome.dataset(self.about | self._note_of_instead, self.plan.varied)
        leave(self.key, kind, work, engine, self.about, why, self.each)
        return stopped, ds

    def _by_blocks(self, work: Work, engine: Engine) -> bool:
        """Reduce or store blocks of members as they are done; returns whether Ctrl-C stopped it."""
        each = 32 * work.numbers
        most = int(min(BATCHES * BATCH, max(1, MOST_OF_BLOCK // each)))
        if engine.name == "device":
            most = BATCH * max(1, OF_DEVICE // (BATCH * each))
        self._check_room(work, most * self.workers)

        def run(part: Block) -> None:
            first = part.first
            part = work.with_room(part)
            engine.run(part)
            if (part.status != NOT_RUN).all():
                varied = self.plan.varied.part(first, first + len(part.states))
                self._take(first, self._outcome(work, part, first).dataset(self.about, varied))

        return self._carry(work.block, run, most, engine.name == "device")

    def _outcome(self, work: Work, block: Block, first: int) -> Outcome:
        """What a block has come to; of what is to be warned is noted."""
        if work.run.request.by_tolerance:
            found = take_instead(self.plan, block, first)
            self.instead += [one._replace(member=one.member + self.offset) for one in found]
        outcome = Outcome(work, block, first)
        if outcome.off is not None:
            many, at, worst = outcome.off
            self.off.append((many, at + self.offset, worst))
        at_start = first == self.offset == 0 and work.run.guard and outcome.status[0] == L.OK
        if at_start and outcome.rows.shape[1] > 1:
            self.coarse = coarse_loads(work.run, outcome.times_of(0), outcome.rows[0])
        return outcome

    @property
    def _note_of_instead(self) -> dict[str, str]:
        return note_of([one.member for one in self.instead])

    def _engine(self, run: Run, kind: Kind) -> tuple[Engine, str]:
        """The engine, and what is to be said of why it is not another."""
        if self.ready and not self.ready.engine.refuses(kind.constants.parameters):
            return self.ready.engine, ""
        if self.asked == "threads" or (self.asked == "auto" and self.count < WORTH_LANES):
            return ThreadsEngine(run), ""
        if self.asked == "device":
            from polhode.ensembles import device

            made: Engine | str = device.engine_for(run)
        else:
            from polhode.ensembles import lanes

            made = lanes.engine_of(run, kind.constants.parameters, bool(self.plan.names.tolerances))
        if not isinstance(made, str):
            return made, ""
        if self.asked == "auto":
            return ThreadsEngine(run), f" ({made})"
        raise InvalidInput(f"engine {self.asked!r} cannot run these members: {made}; leave engine out")

    def _check_room(self, work: Work, members: int) -> None:
        """Refuse rows of so many members at a time that do not fit into the memory of this machine."""
        size = 8.0 * members * work.numbers
        if size > memory() / 8:
            raise InvalidInput(
                f"{members} members with {work.R} rows each would need {size * 1e-9:,.1f} GB of memory; record less "
                "with a larger every or with t_eval, keep reductions alone (reduce=), or give a store"
            )

    def _carry(self, block: Block, run: Callable[[Block], None], most: int = 2**62, whole: bool = False) -> bool:
        """Run all members of a block, at most (or always) so many at a time; returns whether Ctrl-C stopped it."""
        begun = time.perf_counter()
        at = _Counter(len(block.states), 1 if whole else self.workers, most, whole, self.least, self.ready)
        with Watch() as watch:
            block.stopped = lambda: watch.pressed

            def report() -> None:
                self.seconds = time.perf_counter() - begun
                self._report(Progress(at.done, self.count, self.seconds, "running", at.done / self.count))

            def work(leads: bool, until: float = np.inf) -> None:
                told = time.perf_counter()
                while not watch.pressed and not at.failed:
                    first, last = at.next()
                    if first == last:
                        return
                    before = time.perf_counter()
                    try:
                        run(block.part(first, last))
                    except BaseException as problem:
                        at.failed.append(problem)
                        return
                    now = time.perf_counter()
                    at.took(last - first, (now - before) / (last - first))
                    if leads and now - told > BLOCK_SECONDS:
                        told = now
                        report()
                    if now > until:
                        return

            if at.workers > 1:
                work(True, until=begun + WORTH_THREADS)
                left = self.count - at.given
                helpers = min(at.workers, -(-left // at.size)) - 1
                if helpers > 0 and at.each * left > WORTH_THREADS:
                    with ThreadPoolExecutor(helpers, "polhode") as pool:
                        for _ in range(helpers):
                            pool.submit(work, False)
                        work(True)
            work(True)
            if at.failed:
                raise at.failed[0]
            report()
            self.each = at.each
            return bool(watch.pressed)


class _Counter:
    """Hands out ranges of members, larger ones where members take little time."""

    def __init__(self, count: int, workers: int, most: int, whole: bool, least: int, ready: Ready | None) -> None:
        self.least = least
        self.count, self.workers, self.most, self.given, self.done = count, workers, most, 0, 0
        self.failed: list[BaseException] = []
        self.whole, self.size, self.each = whole, min(count, most) if whole else least, 0.0
        self.lock = threading.Lock()
        if ready is not None:
            self.took(0, ready.each)

    def next(self) -> tuple[int, int]:
        """The next range, empty at the end."""
        with self.lock:
            first = self.given
            last = min(self.count, first + self.size)
            if last < self.count and last // BATCH > first // BATCH:
                last -= last % BATCH  # reductions take whole batches as they are
            self.given = last
            return first, last

    def took(self, members: int, each: float) -> None:
        """So many members took so long each."""
        with self.lock:
            self.done, self.each = self.done + members, each
            if self.whole:
                return
            wanted = int(BLOCK_SECONDS / max(self.each, 1e-9))
            left = self.count - self.given
            share = -(-left // (4 * self.workers)) if self.workers > 1 else left
            size = max(self.least, min(wanted, 64 * self.size, max(share, FEWEST), self.most))
            self.size = size - size % FEWEST if size > FEWEST else size  # whole lanes
