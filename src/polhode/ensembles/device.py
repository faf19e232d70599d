"""The engine of graphics processors: a thread for each member, by PTX that polhode writes itself (``kernel.device``).

Members lie in the memory of the device one after the other and are read once a launch; a launch takes thousands of
steps. Rows are written to one of two pieces of memory and fetched from there, by a second stream, while the next launch
fills the other. A member whose step fails is left alone from then on.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from polhode.algebra.library import LIBRARY
from polhode.arguments import Array
from polhode.ensembles import cuda
from polhode.ensembles.engines import Block
from polhode.kernel import device, jit, layout as L
from polhode.kernel.interrupts import held
from polhode.kernel.source import Unsupported
from polhode.methods import MethodSpec
from polhode.runs.integrator import Integrator
from polhode.runs.stepping import Run
from polhode.runs.variable_steps import AdaptiveRun
from polhode.systems import System

MOST_MEMORY = 8192
"""Most numbers of scratch memory of a member."""
FIRST_STEPS, MOST_STEPS, LAUNCH_SECONDS = 32, 100_000, 0.25
"""Steps of the first launch, most steps of one, and how long one is to take: Ctrl-C is heard between them."""
ATTEMPTS = 250
"""Most steps of chosen size that a launch tries."""
BUFFER = 1 << 28
"""Bytes of a buffer of rows, of which there are two here and two on the device."""
SHARE, SPARE = 0.8, 1 << 12
"""Part of the device's free memory that is taken, less so many bytes for what is shared by all members."""
MOST_KEPT = 32
"""Most texts of PTX that are kept."""


def reason_against(system: System, chosen: MethodSpec) -> str:
    """Why members of a system cannot be taken by this method on any device, one sentence; empty where they can."""
    if jit.disabled():
        return "nothing is compiled in this process (NUMBA_DISABLE_JIT is set)"
    prepared, what = chosen.prepare().suited(system.provides), f"of {system.name!r} by {chosen.label!r}"
    if prepared.step_density:
        return f"members {what} choose their steps by a time transformation, which devices do not take"
    if system.serve is not None or system.memory > MOST_MEMORY:
        return f"the loads {what} are shared among threads of this machine"
    if system.sampled:
        return f"controllers set states between steps of members {what}, which devices do not take"
    if system.watched or system.switches or system.impulses:
        return f"members {what} have breaks or events (burns, shadows, impulses), for which each run stops by itself"
    return ""


def loop_of(integrator: Integrator, adaptive: bool = False) -> device.Loop:
    """What the loop of members is made of, from the arrays of one run."""
    prepared, system, told = integrator.prepared, integrator.system, integrator.step_info.copy()
    told[[L.LOADED, L.RELATIVE, L.ABSOLUTE]] = 0.0  # of a run that has not begun; tolerances are given to every launch
    return device.Loop(
        prepared.step, prepared.converter, integrator.loads, system.N, integrator.blocks, len(system.auxiliary),
        integrator.y.size, integrator.load.size, integrator.work.size, integrator.coefficients,
        integrator.int_coefficients, told, system.parameters.size, system.memory,
        prepared.processed, prepared.dense, (prepared.controller or "") if adaptive else None,
    )  # fmt: skip


def too_large(loop: device.Loop, system: System, chosen: MethodSpec) -> str:
    """Why a member has no room on a device, one sentence; empty where it has."""
    size = loop.load + loop.work + 5 * loop.width + loop.copied()
    if size <= MOST_MEMORY:
        return ""
    return (f"a member of {system.name!r} by {chosen.label!r} needs {size} numbers of memory of its own, and a device "
            f"has {MOST_MEMORY} for each")  # fmt: skip


class Launch(NamedTuple):
    """One launch: steps ``first`` to ``last - 1``, and where the rows in it go: ``due`` of them from ``row`` on."""

    first: int
    last: int
    every: int
    row: int
    due: int


class LaunchLength:
    """How many steps a launch takes: few at first, then as many as take a quarter of a second."""

    def __init__(self, steps: int = FIRST_STEPS) -> None:
        self.steps, self.known = steps, False

    def took(self, steps: int, seconds: float) -> None:
        """A launch of so many steps took so long."""
        if seconds >= LAUNCH_SECONDS / 16:
            self.steps, self.known = max(1, min(MOST_STEPS, int(steps * LAUNCH_SECONDS / seconds))), True
        elif 2 * steps > self.steps:
            self.steps = min(MOST_STEPS, 8 * self.steps)
            self.known = self.steps == MOST_STEPS
        else:
            self.known = True  # rows, not time, say how long launches are


def launches(n: int, every: int, most_rows: int, length: LaunchLength) -> Iterator[Launch]:
    """The launches of a run of ``n`` steps, a row after each multiple of ``every`` and at the end, row 0 the start."""
    whole, first = n - n % every, 0
    while first < n:
        steps, end = length.steps, whole if first < whole else n
        if first < whole and every <= steps:
            steps = max(1, min(most_rows, steps // every)) * every
        last = min(first + steps, end)
        if first < whole:
            yield Launch(first, last, every, first // every + 1, last // every - first // every)
        else:
            yield Launch(first, last, n, whole // every + 1, int(last == n))
        first = last


class Buffer:
    """Memory for the rows of a launch on the device, and here where they are copied to."""

    def __init__(self, device: cuda.Device, members: int, rows: int, width: int, keep: Callable[[Any], Any]) -> None:
        self.device, self.width, numbers = device, width, members * rows
        self.rows = keep(cuda.Memory(device, 8 * numbers * width))
        self.counts = keep(cuda.Memory(device, 8 * numbers))
        self.rows_here = keep(cuda.Pinned(device, (numbers * width,), np.float64))
        self.counts_here = keep(cuda.Pinned(device, (numbers,), np.int64))
        self.written, self.copied = keep(cuda.Event(device)), keep(cuda.Event(device))
        self.waiting: tuple[slice, Launch] | None = None

    def fetch(self, members: slice, launch: Launch) -> None:
        """Have the rows of the last launch copied, behind it and beside the next one."""
        device, numbers = self.device, (members.stop - members.start) * launch.due
        device.mark(self.written.handle, device.launches)
        device.after(device.copies, self.written.handle)
        device.fetch(self.rows_here.array[: numbers * self.width], self.rows, device.copies)
        device.fetch(self.counts_here.array[:numbers], self.counts, device.copies)
        device.mark(self.copied.handle, device.copies)
        self.waiting = members, launch

    def deliver(self, block: Block) -> None:
        """Wait for the copy, if there is one, and put its rows where they belong."""
        if self.waiting is None:
            return
        (members, launch), self.waiting = self.waiting, None
        self.device.until(self.copied.handle)
        M, count, into = members.stop - members.start, launch.due, slice(launch.row, launch.row + launch.due)
        block.rows[members, into] = self.rows_here.array[: M * count * self.width].reshape(M, count, self.width)
        block.iterations[members, into] = self.counts_here.array[: M * count].reshape(M, count)


class Adaptive(NamedTuple):
    """How steps of chosen size are taken."""

    rtol: float  # rtol, atol, longest, shortest, q, most: as of ``kernel.device.adapt_member``
    atol: float
    longest: float
    shortest: float
    q: int
    most: int
    begun: Array  # what the adaptive loop remembers before the first step


class DeviceEngine:
    """An engine of ``ensembles.engines`` on a device."""

    name = "device"

    def __init__(
        self, loop: device.Loop, limit: float, on: cuda.Device, ptx: str, chosen: Adaptive | None = None
    ) -> None:
        self.loop, self.limit, self.device, self.chosen = loop, limit, on, chosen
        self.function = on.kernel(ptx, device.ENTRY)
        self.about = f"a thread for each member on {on.name}"
        self.lock = threading.Lock()

    def run(self, block: Block) -> None:
        """Fill a block; one at a time, as the device is one."""
        with self.lock:
            self.device.enter()
            M = len(block.states)
            at_once, rows = self._at_once(block)
            for first in range(0, M, at_once):
                if block.stopped is not None and block.stopped():
                    return
                members = slice(first, min(first + at_once, M))
                self._adapt(block, members) if self.chosen else self._march(block, members, rows)

    def _at_once(self, block: Block) -> tuple[int, int]:
        """How many members fit into the memory of the device, and how many rows of them into each of two buffers."""
        own, R = [a.shape[1] for a in (block.bodies, block.parameters) if len(a) > 1], block.rows.shape[1]
        numbers = 8 * (block.states.shape[1] + sum(own) + len(device.CARRIED) + 2)
        row, room = 8 * (block.states.shape[1] + 1), int(SHARE * self.device.free_memory) - SPARE
        if self.chosen:
            numbers += 8 * (L.CONTROLLER_STATE + 1) + R * (row + 8)
            return max(1, min(len(block.states), (room - 8 * R) // numbers)), R
        members = max(1, min(len(block.states), room // (numbers + 2 * row), BUFFER // row))
        rows = min(BUFFER, (room - members * numbers) // 2) // (row * members)
        return members, max(1, min(R, rows))

    def _fetched(self, into: Array, memory: cuda.Memory) -> Array:
        """What is in memory of the device when all launches are done, in an array."""
        self.device.fetch(into, memory)
        self.device.wait(self.device.launches)
        return into

    def _sent(self, block: Block, members: slice, keep: Callable[[Any], Any]) -> tuple[list[Any], list[int]]:
        """Memory on the device with what all launches read and write, and how far apart members' constants lie."""
        on, M = self.device, members.stop - members.start
        given = (block.states, block.bodies, block.parameters)
        whole = [np.ascontiguousarray(a[members] if len(a) > 1 else a) for a in given]
        sizes = [a.nbytes for a in whole] + [8 * M * len(device.CARRIED), 8 * M, 8 * M]
        memories = [keep(cuda.Memory(on, size)) for size in sizes]
        for array, memory in zip(whole, memories, strict=False):
            on.send(array, memory)
        for memory in memories[3:]:
            on.clear(memory)
        return memories, [a.shape[1] if len(a) > 1 else 0 for a in given[1:]]

    def _told(self, block: Block, members: slice, statuses: cuda.Memory, done: cuda.Memory) -> None:
        """Fetch statuses and numbers of steps."""
        for array, memory in ((block.status, statuses), (block.done, done)):
            array[members] = self._fetched(np.empty(members.stop - members.start, dtype=np.int64), memory)

    def _march(self, block: Block, members: slice, rows: int) -> None:
        """Take a range of members through steps of one size; ``rows`` is how many of each a buffer holds."""
        on, M = self.device, members.stop - members.start
        with on.lent() as keep:
            (states, bodies, parameters, carried, statuses, done), own = self._sent(block, members, keep)
            due, length = block.rows.shape[1] - 1, LaunchLength()
            rows = min(rows, max(1, -(-due // 2)))
            buffers = [Buffer(on, M, rows, block.states.shape[1], keep) for _ in range(min(2, max(1, due)))]
            block.rows[members, 0], block.iterations[members, 0] = block.states[members], 0

            def start(task: int, launch: Launch, into: Buffer) -> None:
                on.launch(self.function, M, device.THREADS, [
                    M, task, launch.first, launch.last - launch.first, launch.every, launch.due, float(block.t0),
                    float(block.h), float(self.limit), states, bodies, own[0], parameters, own[1], carried, into.rows,
                    into.counts, statuses, done,
                ])  # fmt: skip

            if self.loop.processed:
                start(L.PREPARING, Launch(0, 0, 1, 1, 0), buffers[0])
            turn = 0
            for launch in launches(block.n, block.every, rows, length):
                if block.stopped is not None and block.stopped():
                    return
                buffers[turn].deliver(block)
                begun = perf_counter()
                start(L.MARCHING, launch, buffers[turn])
                if launch.due:
                    buffers[turn].fetch(members, launch)
                    turn = (turn + 1) % len(buffers)
                if not (launch.due and length.known):
                    on.wait(on.launches)
                if not length.known:
                    length.took(launch.last - launch.first, perf_counter() - begun)
            for buffer in (buffers[turn], buffers[turn - 1]):
                buffer.deliver(block)
            self._told(block, members, statuses, done)

    def _adapt(self, block: Block, members: slice) -> None:
        """Take a range of members to the end by steps of chosen size, by launches until the last has arrived."""
        on, M, R, asked = self.device, members.stop - members.start, block.rows.shape[1], self.chosen
        assert asked is not None
        with on.lent() as keep:

            def memory_of(array: Array) -> cuda.Memory:
                memory: cuda.Memory = keep(cuda.Memory(on, array.nbytes))
                on.send(array, memory)
                return memory

            (states, bodies, parameters, carried, statuses, done), own = self._sent(block, members, keep)
            samples = memory_of(np.ascontiguousarray(block.samples, dtype=float))
            controls, left = memory_of(np.repeat(asked.begun[None], M, 0)), memory_of(np.ones(M, dtype=np.int64))
            given = [block.rows[members], block.iterations[members], block.sizes[members]]
            there, going = [keep(cuda.Memory(on, array.nbytes)) for array in given], np.ones(M, dtype=np.int64)
            while going.any():
                if block.stopped is not None and block.stopped():
                    return
                on.launch(self.function, M, device.THREADS, [
                    M, ATTEMPTS, asked.most, asked.q, R, asked.rtol, asked.atol, asked.longest, asked.shortest,
                    float(block.t0 + block.h), float(self.limit), samples, states, bodies, own[0], parameters, own[1],
                    carried, controls, *there, statuses, done, left,
                ])  # fmt: skip
                self._fetched(going, left)
            for array, memory in zip(given, there, strict=True):
                array[...] = self._fetched(np.empty_like(array), memory)
            self._told(block, members, statuses, done)


_devices: dict[int, cuda.Device] = {}
_finding = threading.Lock()
_kernels: dict[Any, str] = {}


def the_device() -> cuda.Device:
    """The device of this process, found once; a process that another one forked finds its own."""
    with _finding:
        if os.getpid() not in _devices:
            _devices[os.getpid()] = cuda.Device()
        return _devices[os.getpid()]


def engine_for(run: Run, on: cuda.Device | None = None) -> DeviceEngine | str:
    """The engine for members that differ from a run, which has not begun, in numbers alone; or why there is none."""
    system, chosen = run.system, run.chosen
    why = (cuda.why_none() if on is None else "") or reason_against(system, chosen)
    if why:
        return why
    own, steps = run.integrator, None
    if run.adaptive:
        told, adaptive = own.step_info, cast(AdaptiveRun, run)
        steps = Adaptive(
            float(told[L.RELATIVE]), float(told[L.ABSOLUTE]), float(adaptive.limits[0]), adaptive.limits[1],
            own.prepared.estimate + 1, adaptive.asked.max_steps, own.controller_state.copy(),
        )  # fmt: skip
    loop = loop_of(own, run.adaptive)
    why = too_large(loop, system, chosen)
    if why:
        return why
    try:
        on = the_device() if on is None else on
        return DeviceEngine(loop, own.limit, on, ptx_for(loop, on.architecture), steps)
    except Unsupported as problem:
        return f"{system.name!r} by {chosen.label!r} is nothing for a device: {problem}"
    except cuda.DeviceProblem as problem:
        return str(problem)


def ptx_for(loop: device.Loop, architecture: str = device.ARCHITECTURE) -> str:
    """The PTX of a loop, kept for loops of the same code."""
    with held(always=True):
        text = device.module_of(loop, device.ptx(architecture), LIBRARY)
    key = architecture, hashlib.sha256(text.encode()).digest()
    if key not in _kernels:
        while len(_kernels) >= MOST_KEPT:
            _kernels.pop(next(iter(_kernels)))
        with held(always=True):
            _kernels[key] = device.written(text, device.ptx(architecture))
    return _kernels[key]
