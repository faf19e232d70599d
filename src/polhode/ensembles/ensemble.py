"""One call for many runs of a system that differ in where they start and in numbers of the system."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from polhode.arguments import choice, memory, whole
from polhode.ensembles.each import each_alone
from polhode.ensembles.engines import NOT_RUN, Block, Engine
from polhode.ensembles.members import Kind
from polhode.ensembles.outcome import Outcome
from polhode.ensembles.plan import Plan, planned, rows_of
from polhode.ensembles.threads import ThreadsEngine
from polhode.errors import CoarseStepWarning, Interrupted, InvalidInput, warn
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.interrupts import Noticed
from polhode.methods import Method
from polhode.runs.display import Display, Progress, teller
from polhode.runs.integrate import RUNS
from polhode.runs.request import Request
from polhode.runs.resolution import coarse_orbit
from polhode.runs.settings import Settings
from polhode.runs.state import State
from polhode.runs.stepping import Run
from polhode.runs.steps import FixedStep, Tolerance
from polhode.systems import System

if TYPE_CHECKING:
    import xarray as xr

ENGINES = ("auto", "threads", "lanes", "device")
BLOCK_SECONDS = 0.1
"""How long a block of members is to take: Ctrl-C and progress wait for it."""
FEWEST = 64
"""Members that are always worth a block of their own, if they take no longer."""
WORTH_THREADS = 5e-3
"""Seconds of work that are left from which on further threads are started."""


def ensemble(
    system: System,
    method: str | Method | None = None,
    *,
    members: Any,
    step: float | None = None,
    steps: int | Tolerance | None = None,
    t_end: float | None = None,
    every: int = 1,
    t_eval: Any = None,
    start: State | Mapping[str, Any] | xr.Dataset | None = None,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
    parameters: Any = None,
    events: Any = (),
    breaks: Any = (),
    engine: str = "auto",
    threads: int | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Integrate many members of one kind, which differ in their starts and in numbers of the system.

    Each member's numbers are those of ``integrate`` for it alone, bit for bit (with the engine ``threads``), whatever
    the number of threads and of other members. A member that fails ends where it fails and stops nobody.

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
        ``rtol`` and ``atol``, options of the method (``seed``). Or what ``polhode.sampling.members`` draws; or an
        integer: so many members that do not differ.
    step, steps, t_end, every, start, attitude, angular_velocity, angular_momentum, position, velocity, momentum
        As of ``integrate``, for all members.
    t_eval : array_like, optional
        Times of the rows, the same for all members. With a tolerance each member takes steps of its own, and without
        ``t_eval`` the start and the end are recorded.
    parameters, events, breaks
        As of ``integrate``, for all members. With events or breaks each member is a run by itself.
    engine : {"auto", "threads", "lanes", "device"}
        What computes: ``threads`` is the loop of a single run over one member after the other, on every processor. The
        attribute ``engine`` of the Dataset says what did, and why.
    threads : int, optional
        How many processors may be used; all of this machine unless given. No bit of a result depends on it.
    progress : function or True, optional
        As of ``integrate``; it is told of members in the place of steps.
    settings : Settings or mapping, optional
        As of ``integrate``.
    **options : str or float
        Options of the method.

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

    Examples
    --------
    >>> import polhode as ph
    >>> spins = [[0.0, 0.1, 1.0], [0.0, 0.1, 2.0]]
    >>> ds = ensemble(ph.free_body((1, 2, 3)), members={"angular_velocity": spins}, step=1.0, steps=10)
    >>> ds.energy.shape, ds.status.values.tolist()
    ((2, 11), [0, 0])
    """
    given = {
        "step": step, "steps": steps, "t_end": t_end, "every": every, "t_eval": t_eval, "attitude": attitude,
        "angular_velocity": angular_velocity, "angular_momentum": angular_momentum, "position": position,
        "velocity": velocity, "momentum": momentum, "parameters": parameters, "events": events, "breaks": breaks,
        "settings": settings,
    }  # fmt: skip
    choice(engine, "engine", ENGINES)
    workers = processors() if threads is None else whole(threads, "threads", 1, 4096)
    plan = planned(system, method, members, given, start, options)
    if progress is True:
        with Display() as display:
            return Ensemble(plan, engine, workers, display).carry_out()
    return Ensemble(plan, engine, workers, None if progress is False else progress).carry_out()


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Watch(Noticed):
    """Ctrl-C is looked at between blocks; a second one acts at once."""

    def press(self, number: int, frame: Any) -> None:
        if self.pressed:
            self.previous(number, frame)
        self.pressed = True


class Ensemble:
    """One call of ``ensemble``, checked, and how it is carried out."""

    def __init__(self, plan: Plan, engine: str, workers: int, progress: Any) -> None:
        self.plan, self.asked, self.workers = plan, engine, workers
        self.report_progress = teller(progress, "progress", "True or a function")
        self.count, self.seconds = plan.varied.count, 0.0
        self.finished = 0

    def carry_out(self) -> xr.Dataset:
        """Run all members."""
        plan = self.plan
        self.report_progress(Progress(0, self.count, 0.0, "preparing"))
        try:
            request = plan.request(0)
        except InvalidInput as problem:
            raise plan.whose(0, problem) from None
        if isinstance(request.steps, Tolerance) and request.recording.every != 1:
            raise InvalidInput(
                "with a tolerance each member takes steps of its own, so that every says nothing; give t_eval"
            )
        why = plan.alone(request)
        if not why:
            kind, states = plan.together(request)
            why = kind.alone
        if why:
            if self.asked not in ("auto", "threads"):
                raise InvalidInput(f"engine {self.asked!r} cannot run these members, for {why}; leave engine out")
            return each_alone(plan, why, self.workers, self.report_progress, _Watch)
        return self._together(request, kind, states)

    def _together(self, request: Request, kind: Kind, states: Any) -> xr.Dataset:
        """Members that one compiled loop serves."""
        plan = self.plan
        with jit.watched(lambda: self.report_progress(Progress(0, self.count, 0.0, "compiling"))):
            run = RUNS[type(request.steps)](request)
            engine, why = self._engine(run)
        coarse = coarse_orbit(run) if run.guard else ""
        if coarse:
            warn(f"member 0: {coarse}", CoarseStepWarning)
        self._check_moments(run, kind)
        block, times, chosen = self._block(request, run, kind, states)
        stopped = self._carry(engine, block)
        rows, iterations, sizes = block.rows, block.iterations, block.sizes
        good = block.done if run.adaptive else np.where(
            block.status == L.OK, rows.shape[1], 1 + block.done // block.every
        )  # fmt: skip
        good = np.where(block.status == NOT_RUN, 0, good)
        if chosen is not None:
            good = np.searchsorted(chosen, good)
            edges = np.concatenate([[0], chosen[:-1] + 1]).clip(max=iterations.shape[1] - 1)
            iterations = np.array([iterations[:, a : b + 1].max(axis=1, initial=0) for a, b in zip(
                edges, chosen, strict=True)]).T.copy()  # fmt: skip
            rows = np.ascontiguousarray(rows[:, chosen])
        outcome = Outcome(plan, run, kind.constants)
        outcome.take(states, times, rows, iterations, sizes, block.status, good)
        ds = outcome.dataset({"engine": f"{engine.name}: {engine.about}{why}"}, plan.varied)
        ds.encoding["seconds"] = self.seconds
        if stopped:
            done = int((block.status != NOT_RUN).sum())
            raise Interrupted(f"interrupted after {done} of {self.count} members", trajectory=ds)
        return ds

    def _engine(self, run: Run) -> tuple[Engine, str]:
        """The engine, and what is to be said of why it is not another."""
        return ThreadsEngine(run), ""

    def _check_moments(self, run: Run, kind: Kind) -> None:
        """Refuse moments of inertia that the method cannot turn.

        Raises
        ------
        InvalidInput
        """
        refuses = run.integrator.prepared.refuses
        if refuses is None or len(kind.constants.moments) == 1:
            return
        for k, of_member in enumerate(kind.constants.moments):
            for moments in of_member[np.isfinite(of_member).any(axis=1)]:
                told = refuses(moments)
                if told:
                    raise InvalidInput(f"member {k}: method {run.chosen.label!r} {told}")

    def _block(self, request: Request, run: Run, kind: Kind, states: Any) -> tuple[Block, Any, Any]:
        """All members as one block, the times of its rows, and which of them are wanted (None for all)."""
        M, width = states.shape
        constants = kind.constants
        if run.adaptive:
            final = request.final
            low, high = min(request.t0, final), max(request.t0, final)
            times = np.array([request.t0, final]) if request.samples is None else np.clip(request.samples, low, high)
            n = every = 1
            h, R, chosen = final - request.t0, len(times), None
        else:
            every, times, chosen = rows_of(request)  # type: ignore[misc]
            fixed = cast(FixedStep, request.steps)
            n, h = cast(int, fixed.steps), fixed.h
            R = 1 + -(-n // every)
        if 8.0 * M * R * width > memory() / 8:
            raise InvalidInput(
                f"{M} members with {R} rows each would need {8e-9 * M * R * width:,.1f} GB of memory; record less with "
                "a larger every or with t_eval, or keep reductions alone"
            )
        bodies = constants.bodies
        own = np.array(constants.parameters[:, : request.system.parameters.size])
        if request.system.parameters.size == 0:
            own = np.zeros((1, 1))
        frames = np.array(constants.frames.reshape(len(constants.frames), -1))
        block = Block(
            np.ascontiguousarray(states), bodies, frames,
            np.ascontiguousarray(own), request.t0, h, n, every, np.empty((M, R, width)),
            np.zeros((M, R), dtype=np.int64), np.full(M, NOT_RUN), np.zeros(M, dtype=np.int64),
            times if run.adaptive else None, np.zeros((M, R)) if run.adaptive else None,
        )  # fmt: skip
        return block, times, chosen

    def _carry(self, engine: Engine, block: Block) -> bool:
        """Run all members of a block, some at a time; returns whether that was stopped by Ctrl-C."""
        begun = time.perf_counter()
        at = _Counter(len(block.states), self.workers)
        with _Watch() as watch:
            block.stopped = lambda: watch.pressed

            def report() -> None:
                self.seconds = time.perf_counter() - begun
                self.report_progress(Progress(at.done, self.count, self.seconds, "running", at.done / self.count))

            def work(leads: bool, until: float = np.inf) -> None:
                told = time.perf_counter()
                while not watch.pressed and not at.failed:
                    first, last = at.next()
                    if first == last:
                        return
                    before = time.perf_counter()
                    try:
                        engine.run(block.part(first, last))
                    except BaseException as problem:
                        at.failed.append(problem)
                        return
                    now = time.perf_counter()
                    at.took(last - first, now - before)
                    if leads and now - told > BLOCK_SECONDS:
                        told = now
                        report()
                    if now > until:
                        return

            if self.workers > 1:
                work(True, until=begun + WORTH_THREADS)
                helpers = min(self.workers, at.blocks_left()) - 1
                if helpers > 0 and at.seconds_left() > WORTH_THREADS:
                    with ThreadPoolExecutor(helpers, "polhode") as pool:
                        for _ in range(helpers):
                            pool.submit(work, False)
                        work(True)
            work(True)
            if at.failed:
                raise at.failed[0]
            report()
            return bool(watch.pressed)


class _Counter:
    """Hands out ranges of members, larger ones where members take little time."""

    def __init__(self, count: int, workers: int) -> None:
        self.count, self.workers, self.given, self.done = count, workers, 0, 0
        self.failed: list[BaseException] = []
        self.size, self.each = 1, 0.0
        self.lock = threading.Lock()

    def next(self) -> tuple[int, int]:
        """The next range, empty at the end."""
        with self.lock:
            first = self.given
            self.given = min(self.count, first + self.size)
            return first, self.given

    def took(self, members: int, seconds: float) -> None:
        """So many members took so long."""
        with self.lock:
            self.done += members
            self.each = seconds / members
            wanted = int(BLOCK_SECONDS / max(self.each, 1e-9))
            left = self.count - self.given
            share = -(-left // (4 * self.workers)) if self.workers > 1 else left
            self.size = max(1, min(wanted, 64 * self.size, max(share, FEWEST)))

    def seconds_left(self) -> float:
        """What the rest takes on one thread."""
        return self.each * (self.count - self.given)

    def blocks_left(self) -> int:
        """How many ranges are left."""
        return -(-(self.count - self.given) // self.size)
