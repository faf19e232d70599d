"""What an engine of an ensemble does: it takes a block of members through their steps.

An engine is asked for by ``engine_for`` of its module, which returns it or one sentence that says why it cannot serve
these members. A member's numbers depend on nothing but its own. Any engine may be given any block; the arrays of a
block lie by members, and what an engine needs otherwise (members in lanes, or fastest in memory) it makes itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from polhode.arguments import Array, Indices
from polhode.kernel import jit, layout as L, many, simd
from polhode.runs.stepping import FIRST_SLICE, SLICE_SECONDS, Run
from polhode.runs.variable_steps import AdaptiveRun

T = TypeVar("T")
NOT_RUN = -1
"""Status of a member whose turn has not come; others are those of ``kernel.layout`` and ``kernel.many``."""
RAISED = 101
"""Status of a member for which a function of the user raised an exception."""
ENDED = 102
"""Status of a member that ended by an event, the last that was found."""


@dataclass
class Block:
    """M members of an ensemble, and where their rows go. All arrays are contiguous, of float64 or int64."""

    # (M, width): where the members start: N bodies of 13 numbers, auxiliary variables, numbers of the method; not
    # written to
    states: Array
    # (M or 1, 12 N): masses, principal moments and their inverses, 8 numbers a body; then the quaternions of the
    # frames, 4 a body, as kernels read them (``System.bodies``). One row where all members have the same, here and
    # below
    bodies: Array
    frames: Array  # (M or 1, 4 N): the latter alone
    parameters: Array  # (M or 1, P): parameters of the system, without the scratch memory behind them
    # t0, h: time of the start, and the signed step, of which number k begins at ``t0 + k h``; with a tolerance the span
    t0: float
    h: float
    n: int  # number of steps; with a tolerance 1
    every: int  # steps from one row to the next
    # (M, R, width): receives the states: at the start, after each multiple of ``every`` steps, and at the end where
    # that is none (``R`` = 1 + ceil(n / every)). Of a member that fails, what is behind its last good row does not
    # matter
    rows: Array
    iterations: Indices  # (M, R): receives the most solver iterations of a step since the row before
    status: Indices  # (M,): receives 0, or the status of the step that failed (``kernel.layout``), or ENDED
    done: Indices  # (M,): receives the number of steps completed; with a tolerance the number of rows written
    samples: Any = None  # (R,): with a tolerance: the times of the rows, in the order of the run
    # (M, R): with a tolerance: receives the size of the step that contains or ends at each row, 0 at the start
    sizes: Any = None
    tolerances: Any = None  # (M, 2): where members have their own: the relative and the absolute one
    first: int = 0  # number of the first member in the ensemble
    begin: int = 0  # number of the first step
    # (M,): where each member is looked after as to events and impulses: receives lists of what was found
    found: Any = None
    # whether a member that takes long is to be left unfinished, with the status NOT_RUN
    stopped: Callable[[], bool] | None = None

    def part(self, first: int, last: int, some: Indices | None = None) -> Block:
        """Members ``first`` to ``last - 1`` alone, on the same memory, or copies of some."""
        given = {name: getattr(self, name) for name in OF_MEMBERS}
        own = {
            name: a if a is None or len(a) == 1 else a[first:last] if some is None else a[some]
            for name, a in given.items()
        }
        return self.having(first=self.first + first, **own)

    def having(self, **words: object) -> Block:
        """The same with other arrays."""
        made = object.__new__(Block)
        made.__dict__ |= self.__dict__ | words
        return made


OF_MEMBERS = (
    "states", "bodies", "frames", "parameters", "rows", "iterations", "status", "done", "sizes", "tolerances", "found",
)  # fmt: skip
"""Arrays of a block with a row for each member, or one where all have the same."""


class Engine(Protocol):
    """What takes blocks of members through their steps; ``about`` is a clause for the attribute of the Dataset."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def run(self, block: Block) -> None:
        """Fill rows, iterations, status and done of a block; may be called by several threads at once."""


class ThreadArrays:
    """The arrays of a run for one thread: copies of those of the run that was set up, and their addresses."""

    def __init__(self, run: Run) -> None:
        own = run.integrator
        self.y, self.stage_state, self.load = own.y.copy(), own.stage_state.copy(), own.load.copy()
        self.bodies, self.frames, self.parameters = own.bodies.copy(), own.frames.copy(), own.parameters.copy()
        self.step_info, self.work = own.step_info.copy(), simd.aligned(own.work.size)
        self.kept, self.controller_state = own.y.copy(), np.zeros(L.CONTROLLER_STATE)
        self.coefficients, self.int_coefficients = own.coefficients.copy(), own.int_coefficients.copy()
        self.addresses = jit.addresses_of(
            own.loads, self.bodies, self.parameters, self.coefficients, self.int_coefficients, own.blocks,
            self.stage_state, self.load, self.work, self.step_info, self.frames,
        )  # fmt: skip
        self.blocks, self.loads = own.blocks, own.loads  # which must outlive the addresses
        self.event_addresses = (None, None, None) if jit.disabled() else np.zeros(3, dtype=np.int64)

    @property
    def own(self) -> tuple[Any, ...]:
        """The arrays that are set for each member, in the order of the kernels."""
        return self.y, self.bodies, self.frames, self.parameters, self.stage_state, self.load, self.step_info


class ThreadsEngine:
    """The compiled loop of a single run over one member after the other, so that numbers are those of ``integrate`` bit
    for bit; made from a run of the first member that has not begun."""

    name = "threads"
    about = "the compiled loop of a single run, one member after the other"

    def __init__(self, run: Run) -> None:
        self.run_of_first, own = run, run.integrator
        self.told = own.step_info.copy()
        self.told[L.LOADED] = 0.0
        self.nothing = np.zeros(0)
        self.adaptive = run.adaptive
        if self.adaptive:
            self.loop = jit.addresses_of(own.adaptive_loop)
            self.members_loop = many.adapt_members.kernel()
            self.begin = own.controller_state.copy()
        else:
            self.loop, self.members_loop = jit.addresses_of(own.loop), many.march_members.kernel()
        self.spare: list[ThreadArrays] = []
        self.free = threading.Lock()

    def refuses(self, parameters: Array) -> str:
        return ""

    def run(self, block: Block) -> None:
        """Take all members of a block through all their steps."""
        M = len(block.states)
        with self.free:  # arrays that no other thread uses, to be given back
            memory = self.spare.pop() if self.spare else None
        memory = memory or ThreadArrays(self.run_of_first)
        memory.work[: self.run_of_first.integrator.prepared.remembers] = 0.0  # which is of another member
        try:
            if M == 1 and not self.adaptive:
                self._long(memory, block)
            else:
                self._on(memory, block, 0, M, 0, block.n)
        except Exception:
            if not self.run_of_first.system.functions:
                raise
            for k in range(M):  # a function of the user's raised in one of them
                try:
                    self._on(memory, block, k, k + 1, 0, block.n)
                except Exception:
                    block.status[k] = RAISED
        finally:
            with self.free:
                self.spare.append(memory)

    def _long(self, memory: ThreadArrays, block: Block) -> None:
        """Take one member through its steps, in slices between which it can be stopped."""
        begin, size = 0, FIRST_SLICE
        while True:
            n = min(size, block.n - begin)
            before = perf_counter()
            self._on(memory, block, 0, 1, begin, n)
            elapsed, begin = perf_counter() - before, begin + n
            if block.status[0] != L.OK or begin == block.n:
                return
            if block.stopped is not None and block.stopped():
                block.status[0] = NOT_RUN
                return
            if elapsed < SLICE_SECONDS / 2:
                size *= 16 if elapsed < SLICE_SECONDS / 32 else 2

    def _on(self, memory: ThreadArrays, block: Block, first: int, last: int, begin: int, n: int) -> None:
        own = self.run_of_first.integrator
        common = own.limit, own.system.N, own.blocks.size // 2
        constants, told = (block.states, block.bodies, block.frames, block.parameters), self.told.copy()
        out = block.rows, block.iterations, block.status, block.done
        if not self.adaptive:
            self.members_loop(
                self.loop, first, last, begin, n, block.n, block.every, block.t0 + block.begin * block.h, block.h,
                *common,
                int(own.prepared.processed), *constants, told, *memory.own, memory.addresses, memory.event_addresses,
                self.nothing, *out,
            )  # fmt: skip
            return
        run = cast(AdaptiveRun, self.run_of_first)
        assert block.samples is not None
        given = block.tolerances
        alike = given is None or (given == given[0]).all()
        for k in (first,) if alike else range(first, last):
            if given is not None:
                told[[L.RELATIVE, L.ABSOLUTE]] = given[k]
            if given is not None and own.prepared.by_tolerance is not None:
                memory.int_coefficients[0] = own.prepared.by_tolerance(given[k, 0])
            self.members_loop(
                self.loop, k, last if alike else k + 1, run.asked.max_steps, own.prepared.estimate + 1, *run.limits,
                block.t0 + block.h, block.samples, np.empty(block.samples.size), *common, *constants, told, self.begin,
                *memory.own, memory.addresses, memory.controller_state, memory.kept, memory.event_addresses,
                self.nothing, block.sizes, *out,
            )  # fmt: skip


def over_threads(take: Callable[[T], None], parts: Sequence[T], workers: int) -> None:
    """Take all parts of some work, on several threads where there are several."""
    if workers > 1 and len(parts) > 1:
        with ThreadPoolExecutor(min(workers, len(parts)), "polhode") as pool:
            for future in [pool.submit(take, part) for part in parts]:
                future.result()
    else:
        for part in parts:
            take(part)
