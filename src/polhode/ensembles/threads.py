"""The scalar engine: the compiled time loop of a method over one member after the other, by as many threads
as there are processors.

It serves every method whose steps are of one size or chosen by a tolerance, and its numbers are those of ``integrate``
for each member alone, bit for bit: it is the same compiled loop.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any, cast

import numpy as np

from polhode.ensembles.engines import NOT_RUN, RAISED, Block
from polhode.kernel import jit, layout as L, many
from polhode.kernel.signatures import LOADS, MARCH, MARCH_ADAPTIVE
from polhode.runs.adaptive_run import AdaptiveRun
from polhode.runs.integrator import aligned
from polhode.runs.stepping import FIRST_SLICE, SLICE_SECONDS, Run


class ThreadArrays:
    """The arrays of a run for one thread: copies of those of the run that was set up, and their addresses."""

    def __init__(self, run: Run) -> None:
        own = run.integrator
        self.y, self.stage_state, self.load = own.y.copy(), own.stage_state.copy(), own.load.copy()
        self.bodies, self.frames, self.parameters = own.bodies.copy(), own.frames.copy(), own.parameters.copy()
        self.step_info, self.work = own.step_info.copy(), aligned(own.work.size)
        self.kept, self.controller_state = own.y.copy(), np.zeros(L.CONTROLLER_STATE)
        self.coefficients, self.int_coefficients = own.coefficients.copy(), own.int_coefficients.copy()
        self.addresses = jit.addresses_of(
            own.loads, LOADS, self.bodies, self.parameters, self.coefficients, self.int_coefficients, own.blocks,
            self.stage_state, self.load, self.work, self.step_info, self.frames,
        )  # fmt: skip
        self.blocks, self.loads = own.blocks, own.loads  # which must outlive the addresses
        self.event_addresses = (None, None, None) if jit.disabled() else np.zeros(3, dtype=np.int64)

    @property
    def own(self) -> tuple[Any, ...]:
        """The arrays that are set for each member, in the order of the kernels."""
        return self.y, self.bodies, self.frames, self.parameters, self.stage_state, self.load, self.step_info


class ThreadsEngine:
    """The engine of one system and one method, made from a run of the first member that has not begun.


    Attributes
    ----------
    name, about : str
        See ``Engine``.
    """

    name = "threads"
    about = "the compiled loop of a single run, one member after the other"

    def __init__(self, run: Run) -> None:
        self.run_of_first, own = run, run.integrator
        self.told = own.step_info.copy()
        self.told[L.LOADED] = 0.0
        self.nothing = np.zeros(0)
        self.adaptive = run.adaptive
        if self.adaptive:
            self.loop = jit.address_of(own.adaptive_loop, MARCH_ADAPTIVE)
            self.members_loop = many.adaptive_members_loop()
            self.begin = own.controller_state.copy()
        else:
            self.loop, self.members_loop = jit.address_of(own.loop, MARCH), many.members_loop()
        self.spare: list[ThreadArrays] = []
        self.free = threading.Lock()

    def borrowed(self) -> ThreadArrays:
        """Arrays that no other thread uses; to be given back."""
        with self.free:
            if self.spare:
                return self.spare.pop()
        return ThreadArrays(self.run_of_first)

    def run(self, block: Block) -> None:
        """Take all members of a block through all their steps."""
        memory, M = self.borrowed(), len(block.states)
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
        constants = block.states, block.bodies, block.frames, block.parameters, self.told
        out = block.rows, block.iterations, block.status, block.done
        if not self.adaptive:
            self.members_loop(
                self.loop, first, last, begin, n, block.n, block.every, block.t0, block.h, *common,
                int(own.prepared.processed), *constants, *memory.own, memory.addresses, memory.event_addresses,
                self.nothing, *out,
            )  # fmt: skip
            return
        run = cast(AdaptiveRun, self.run_of_first)
        assert block.samples is not None
        self.members_loop(
            self.loop, first, last, run.asked.max_steps, own.prepared.estimate + 1, *run.limits, block.t0 + block.h,
            block.samples, *common, *constants, self.begin, *memory.own, memory.addresses, memory.controller_state,
            memory.kept, memory.event_addresses, self.nothing, block.sizes, *out,
        )  # fmt: skip
