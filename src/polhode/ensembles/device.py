"""The engine of graphics processors: a thread for each member, by PTX that polhode writes itself (``kernel.device``).

Members lie in the memory of the device one after the other and are read once a launch; a launch takes thousands of
steps. Rows are written to one of two pieces of memory and fetched from there, by a second stream, while the next launch
fills the other. A member whose step fails is left alone from then on.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.library import LIBRARY
from polhode.ensembles import cuda
from polhode.ensembles.engines import Block
from polhode.errors import PolhodeError
from polhode.kernel import device
from polhode.kernel import layout as L
from polhode.kernel.source import Unsupported
from polhode.methods import MethodSpec, method
from polhode.runs.integrator import Integrator
from polhode.systems import System

MOST_MEMORY = 4096
"""Most numbers of scratch memory of a member."""
MOST_STEPS = 2000
"""Most steps of a launch: long ones make a device deaf, and Ctrl-C is heard between them."""
BUFFER = 1 << 28
"""Bytes of a buffer of rows, of which there are two here and two on the device."""
SHARE, SPARE = 0.8, 1 << 12
"""Part of the device's free memory that is taken, less so many bytes for what is shared by all members."""
MOST_KEPT = 32
"""Most texts of PTX that are kept."""


def reason_against(system: System, chosen: MethodSpec) -> str:
    """Why members of a system cannot be taken by this method on any device, one sentence; empty where they can."""
    prepared, what = chosen.prepare().suited(system.provides), f"of {system.name!r} by {chosen.label!r}"
    if prepared.step_density:
        return f"members {what} choose their steps by a time transformation, which devices do not take"
    if system.serve is not None or system.memory > MOST_MEMORY:
        return f"the loads {what} are shared among threads of this machine"
    if system.watches or system.switches or system.impulses:
        return f"members {what} have breaks or events (burns, shadows, impulses), for which each run stops by itself"
    return ""


def loop_of(integrator: Integrator) -> device.Loop:
    """What the loop of members is made of, from the arrays of one run."""
    prepared, system = integrator.prepared, integrator.system
    return device.Loop(
        prepared.step, prepared.converter, integrator.loads, system.N, integrator.blocks, len(system.auxiliary),
        integrator.y.size, integrator.load.size, integrator.work.size, integrator.coefficients,
        integrator.int_coefficients, integrator.step_info.copy(), system.parameters.size, system.memory,
    )  # fmt: skip


def loop_for(system: System, chosen: MethodSpec | str, y: Any = None, guard: bool = True) -> device.Loop | str:
    """The loop of members of a system by a method, or why there is none, one sentence.

    Parameters
    ----------
    y : array (13 N), optional
        A state of the system, at which a user's function is tried out; bodies at rest in a row without it.
    guard : bool
        Whether steps beyond the range of the method are refused.
    """
    chosen = method(chosen) if isinstance(chosen, str) else chosen
    why = reason_against(system, chosen)
    if why:
        return why
    try:
        integrator = Integrator(system, chosen, resting(system) if y is None else y,
                                limit=chosen.method.range if guard else None)  # fmt: skip
    except PolhodeError as problem:
        return str(problem)
    loop = loop_of(integrator)
    size = loop.load + loop.work + 4 * loop.width + loop.copied()
    if size > MOST_MEMORY:
        return (f"a member of {system.name!r} by {chosen.label!r} needs {size} numbers of memory of its own, and a "
                f"device has {MOST_MEMORY} for each")  # fmt: skip
    return loop


def resting(system: System) -> Any:
    """A state of bodies at rest in a row; those that do not move are at the origin."""
    y = np.zeros((system.N, L.BODY))
    y[:, L.ATTITUDE] = 1.0
    y[:, L.POSITION] = np.where(np.isfinite(system.mass), 1.0 + np.arange(system.N), 0.0)
    return y.ravel()


class Launch(NamedTuple):
    """One launch: steps ``first`` to ``last - 1``, and where the rows in it go: ``due`` of them from ``row`` on."""

    first: int
    last: int
    every: int
    row: int
    due: int


def launches(n: int, every: int, most_rows: int, most_steps: int = MOST_STEPS) -> Iterator[Launch]:
    """The launches of a run of ``n`` steps, a row after each multiple of ``every`` and at the end, row 0 the start."""
    whole, first = n - n % every, 0
    longest = max(1, min(most_rows, most_steps // every)) * every if every <= most_steps else most_steps
    while first < whole:
        last = min(first + longest, whole)
        yield Launch(first, last, every, first // every + 1, last // every - first // every)
        first = last
    while first < n:
        last = min(first + most_steps, n)
        yield Launch(first, last, n, whole // every + 1, int(last == n))
        first = last


class Buffer:
    """Memory for the rows of a launch on the device, and here where they are copied to."""

    def __init__(self, device: cuda.Device, members: int, rows: int, width: int, kept: list[Any]) -> None:
        def keep(part: Any) -> Any:
            kept.append(part)  # at once, so that it is given back even if the next one does not fit
            return part

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


class DeviceEngine:
    """An engine of ``ensembles.engines`` on a device.

    Attributes
    ----------
    name, about : str
        As of every engine.
    loop : kernel.device.Loop
        What it runs.
    measured : dict
        Registers and local memory of a thread, and blocks at a time.
    """

    name = "device"

    def __init__(self, loop: device.Loop, limit: float, on: cuda.Device, ptx: str) -> None:
        self.loop, self.limit, self.device = loop, limit, on
        self.function = on.kernel(ptx, device.ENTRY)
        self.measured = on.measured(self.function, device.THREADS)
        self.about = f"a thread for each member on {on.name}"
        self.lock = threading.Lock()

    def run(self, block: Block) -> None:
        """Fill a block; one at a time, as the device is one.

        Raises
        ------
        MemoryError
            The memory of the device is full.
        cuda.DeviceProblem
            The driver reports an error.
        """
        with self.lock:
            self.device.enter()
            M = len(block.states)
            at_once, rows = self._at_once(block)
            for first in range(0, M, at_once):
                self._take(block, slice(first, min(first + at_once, M)), rows)

    def _at_once(self, block: Block) -> tuple[int, int]:
        """How many members fit into the memory of the device, and how many rows of them into each of two buffers."""
        own = [a.shape[1] for a in (block.bodies, block.parameters) if len(a) > 1]
        numbers = 8 * (block.states.shape[1] + sum(own) + len(device.CARRIED) + 2)
        row, room = 8 * (block.states.shape[1] + 1), int(SHARE * self.device.free_memory) - SPARE
        members = max(1, min(len(block.states), room // (numbers + 2 * row), BUFFER // row))
        rows = min(BUFFER, (room - members * numbers) // 2) // (row * members)
        return members, max(1, min(block.rows.shape[1], rows))

    def _take(self, block: Block, members: slice, rows: int) -> None:
        """Take a range of members through all their steps; ``rows`` is how many of each a buffer holds."""
        on, M, width = self.device, members.stop - members.start, block.states.shape[1]
        whole = [np.ascontiguousarray(block.states[members])]
        for part in (block.bodies, block.parameters):
            whole.append(np.ascontiguousarray(part[members] if len(part) > 1 else part))
        own = [part.shape[1] if len(given) > 1 else 0
               for part, given in zip(whole[1:], (block.bodies, block.parameters), strict=True)]  # fmt: skip
        sizes = [part.nbytes for part in whole] + [8 * M * len(device.CARRIED), 8 * M, 8 * M]
        parts: list[Any] = []
        with on.lent(parts):
            for size in sizes:
                parts.append(cuda.Memory(on, size))
            buffers = []
            for _ in range(2):
                buffers.append(Buffer(on, M, rows, width, parts))
            states, bodies, parameters, carried, statuses, done = parts[:6]
            for array, memory in zip(whole, (states, bodies, parameters), strict=True):
                on.send(array, memory)
            for memory in (carried, statuses, done):
                on.clear(memory)
            block.rows[members, 0], block.iterations[members, 0] = whole[0], 0

            def start(task: int, launch: Launch, into: Buffer) -> None:
                on.launch(self.function, M, device.THREADS, [
                    M, task, launch.first, launch.last - launch.first, launch.every, launch.due, float(block.t0),
                    float(block.h), float(self.limit), states, bodies, own[0], parameters, own[1], carried, into.rows,
                    into.counts, statuses, done,
                ])  # fmt: skip

            if self.loop.converter is not None:
                start(L.PREPARING, Launch(0, 0, 1, 1, 0), buffers[0])
            turn = 0
            for launch in launches(block.n, block.every, rows):
                buffers[turn].deliver(block)
                start(L.MARCHING, launch, buffers[turn])
                if launch.due:
                    buffers[turn].fetch(members, launch)
                    turn = 1 - turn
            for buffer in (buffers[turn], buffers[1 - turn]):
                buffer.deliver(block)
            for array, memory in ((block.status, statuses), (block.done, done)):
                found = np.empty(M, dtype=np.int64)
                on.fetch(found, memory)
                on.wait(on.launches)
                array[members] = found


_devices: list[cuda.Device] = []
_kernels: dict[Any, str] = {}


def the_device() -> cuda.Device:
    """The device of this process, found once."""
    if not _devices:
        _devices.append(cuda.Device())
    return _devices[0]


def engine_for(
    system: System, chosen: MethodSpec | str, y: Any = None, guard: bool = True, on: cuda.Device | None = None
) -> DeviceEngine | str:
    """The engine for members of a system by a method, or why there is none, one sentence.

    Parameters
    ----------
    system : System
        Members have its bodies and its parameters, or others of the same number.
    chosen : MethodSpec or str
        The method.
    y, guard
        As of ``loop_for``.
    on : cuda.Device, optional
        The device; the first one of this machine unless given.
    """
    why = "" if on is not None else cuda.why_none()
    if why:
        return why
    chosen = method(chosen) if isinstance(chosen, str) else chosen
    loop = loop_for(system, chosen, y, guard)
    if isinstance(loop, str):
        return loop
    try:
        on = the_device() if on is None else on
        ptx = ptx_for(loop, on.architecture)
        return DeviceEngine(loop, chosen.method.range if guard else np.inf, on, ptx)
    except Unsupported as problem:
        return f"{system.name!r} by {chosen.label!r} is nothing for a device: {problem}"
    except cuda.DeviceProblem as problem:
        return str(problem)


def ptx_for(loop: device.Loop, architecture: str = device.ARCHITECTURE) -> str:
    """The PTX of a loop, kept for loops of the same code.

    Raises
    ------
    Unsupported
        The compiler of kernels does not know all of it.
    """
    text = device.module_of(loop, device.ptx(architecture), LIBRARY)
    key = architecture, hashlib.sha256(text.encode()).digest()
    if key not in _kernels:
        while len(_kernels) >= MOST_KEPT:
            _kernels.pop(next(iter(_kernels)))
        _kernels[key] = device.written(text, device.ptx(architecture))
    return _kernels[key]
