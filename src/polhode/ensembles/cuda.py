"""NVIDIA's driver by ctypes: memory, streams and launches of PTX. No toolkit and no package is needed.

This is the only file that knows what takes PTX to a device. ``library`` replaces the driver in tests.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import PolhodeError
from polhode.operating_system import cuda_drivers

UNSUPPORTED_PTX, OUT_OF_MEMORY, NO_DEVICE = 222, 2, 100
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76
NOT_BLOCKING, NO_TIMING = 1, 2
MOST_REGISTERS, LOG, LOG_SIZE = 0, 5, 6
ARCHITECTURES = (70, 75, 80, 86, 89, 90)
"""Those PTX is written for; a later device translates the code of the last one."""


class DeviceProblem(PolhodeError):
    """The driver reports an error (exit code 1)."""


@functools.cache
def driver() -> Any:
    """The driver's library, or None."""
    for name in cuda_drivers():
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    return None


def why_none(library: Any = None) -> str:
    """Why there is no device, one sentence; empty where there is one."""
    library = driver() if library is None else library
    if library is None:
        return f"there is no NVIDIA driver on this machine ({cuda_drivers()[0]} is not found)"
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "-1":
        return "CUDA_VISIBLE_DEVICES hides all devices"
    count = c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(byref(count)):
        return "the NVIDIA driver of this machine does not start"
    return "" if count.value else "the NVIDIA driver finds no device on this machine"


class Memory:
    """Memory of a device."""

    def __init__(self, device: Device, size: int) -> None:
        self.device, self.size = device, max(8, size)
        address = c_size_t()
        device.ask("cuMemAlloc_v2", byref(address), c_size_t(self.size))
        self.address = address.value

    def free(self) -> None:
        """Give it back."""
        self.device.ask("cuMemFree_v2", c_size_t(self.address))


class Pinned:
    """An array in memory of this machine that a device copies to while both go on working."""

    def __init__(self, device: Device, shape: tuple[int, ...], kind: Any) -> None:
        self.device = device
        size = max(8, int(np.prod(shape)) * np.dtype(kind).itemsize)
        address = c_void_p()
        device.ask("cuMemAllocHost_v2", byref(address), c_size_t(size))
        self.address = address.value or 0
        memory = (ctypes.c_char * size).from_address(self.address)
        self.array = np.frombuffer(memory, dtype=kind, count=int(np.prod(shape))).reshape(shape)

    def free(self) -> None:
        """Give it back; the array is of no use any more."""
        self.device.ask("cuMemFreeHost", c_void_p(self.address))


class Event:
    """An event that streams and threads wait for."""

    def __init__(self, device: Device) -> None:
        self.device, self.handle = device, c_void_p()
        device.ask("cuEventCreate", byref(self.handle), c_uint(NO_TIMING))

    def free(self) -> None:
        """Give it back."""
        self.device.ask("cuEventDestroy_v2", self.handle)


class Device:
    """A device, its context, and two streams: of launches, and of copies of what they have written."""

    def __init__(self, library: Any = None, number: int = 0) -> None:
        self.library = driver() if library is None else library
        self.kernels: dict[Any, tuple[c_void_p, c_void_p]] = {}
        self.ask("cuInit", 0)
        handle, context = c_int(), c_void_p()
        self.ask("cuDeviceGet", byref(handle), number)
        self.ask("cuDevicePrimaryCtxRetain", byref(context), handle)
        self.context = context
        self.enter()
        name = ctypes.create_string_buffer(100)
        self.ask("cuDeviceGetName", name, 100, handle)
        self.name = name.value.decode()
        major, minor, self.multiprocessors = (self._attribute(k, handle) for k in (MAJOR, MINOR, MULTIPROCESSORS))
        capability = 10 * major + minor
        self.architecture = f"sm_{max((one for one in ARCHITECTURES if one <= capability), default=capability)}"
        self.launches, self.copies = self._stream(), self._stream()

    def _attribute(self, which: int, handle: c_int) -> int:
        value = c_int()
        self.ask("cuDeviceGetAttribute", byref(value), which, handle)
        return value.value

    def _stream(self) -> c_void_p:
        stream = c_void_p()
        self.ask("cuStreamCreate", byref(stream), c_uint(NOT_BLOCKING))
        return stream

    def ask(self, name: str, *arguments: object) -> None:
        """Call a function of the driver."""
        code = getattr(self.library, name)(*arguments)
        if code == OUT_OF_MEMORY:
            raise DeviceProblem(f"the memory of the device, or of this machine for its copies, is full ({name}); "
                                "record less with a larger every, or run with engine='threads'")  # fmt: skip
        if code:
            told = c_char_p()
            self.library.cuGetErrorString(c_int(code), byref(told))
            words = told.value.decode() if told.value else "unknown error"
            raise DeviceProblem(f"the device reports error {code}, {words} ({name}); run with engine='threads'")

    def enter(self) -> None:
        """Make this the device of the thread that calls."""
        self.ask("cuCtxSetCurrent", self.context)

    @property
    def free_memory(self) -> int:
        """Bytes that are free."""
        free, total = c_size_t(), c_size_t()
        self.ask("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def kernel(self, ptx: str, name: str, registers: int = 0) -> c_void_p:
        """A function of PTX, which the driver compiles once for each text; ``registers``: most of a thread, 0: all."""
        key = hashlib.sha256(ptx.encode()).digest(), name, registers
        if key in self.kernels:
            return self.kernels[key][1]
        module, function = c_void_p(), c_void_p()
        log = ctypes.create_string_buffer(4096)
        options: list[tuple[int, int]] = [(LOG, ctypes.addressof(log)), (LOG_SIZE, len(log))]
        if registers:
            options.append((MOST_REGISTERS, registers))
        numbers = (c_uint * len(options))(*(number for number, _ in options))
        values = (c_void_p * len(options))(*(value for _, value in options))
        text = c_char_p(ptx.encode())
        code = self.library.cuModuleLoadDataEx(byref(module), text, c_uint(len(options)), numbers, values)
        if code == UNSUPPORTED_PTX:
            raise DeviceProblem("the NVIDIA driver is older than CUDA 12; update it, or run with engine='threads'")
        if code:
            words = " ".join(log.value.decode(errors="replace").split()) or f"error {code}"
            raise DeviceProblem(f"the driver cannot compile the code of the device: {words}; run with engine='threads'")
        self.ask("cuModuleGetFunction", byref(function), module, c_char_p(name.encode()))
        self.kernels[key] = module, function
        return function

    def launch(self, function: c_void_p, threads: int, block: int, arguments: Sequence[Any]) -> None:
        """Run so many threads, in the stream of launches; arguments are numbers and ``Memory``."""
        kept = [_argument(one) for one in arguments]
        pointers = (c_void_p * len(kept))(*(ctypes.addressof(one) for one in kept))
        grid = (threads + block - 1) // block
        self.ask("cuLaunchKernel", function, *map(c_uint, (grid, 1, 1, block, 1, 1, 0)), self.launches, pointers, None)

    def send(self, array: Array, to: Memory) -> None:
        """Copy an array to the device before the next launch."""
        address, size = c_void_p(array.ctypes.data), c_size_t(array.nbytes)
        self.ask("cuMemcpyHtoDAsync_v2", c_size_t(to.address), address, size, self.launches)
        self.wait(self.launches)

    def clear(self, memory: Memory) -> None:
        """Zero memory before the next launch."""
        self.ask("cuMemsetD8Async", c_size_t(memory.address), ctypes.c_ubyte(0), c_size_t(memory.size), self.launches)

    def fetch(self, array: Array, source: Memory, stream: c_void_p | None = None) -> None:
        """Copy from the device, in the stream of launches unless another one is given."""
        address, size = c_void_p(array.ctypes.data), c_size_t(array.nbytes)
        self.ask("cuMemcpyDtoHAsync_v2", address, c_size_t(source.address), size, stream or self.launches)

    def wait(self, stream: c_void_p) -> None:
        """Wait for all that a stream has to do."""
        self.ask("cuStreamSynchronize", stream)

    def mark(self, event: c_void_p, stream: c_void_p) -> None:
        """Let an event happen when a stream has done what it has to do so far."""
        self.ask("cuEventRecord", event, stream)

    def after(self, stream: c_void_p, event: c_void_p) -> None:
        """Let a stream go on after an event."""
        self.ask("cuStreamWaitEvent", stream, event, c_uint(0))

    def until(self, event: c_void_p) -> None:
        """Wait for an event."""
        self.ask("cuEventSynchronize", event)

    @contextlib.contextmanager
    def lent(self) -> Iterator[Callable[[Any], Any]]:
        """What lends memory and events: they are given back after the block, whatever happens in it."""
        parts: list[Any] = []

        def keep(part: Any) -> Any:
            parts.append(part)  # at once, so that it is given back even if the next one does not fit
            return part

        try:
            yield keep
        finally:
            with contextlib.suppress(DeviceProblem):
                self.wait(self.copies)
                self.wait(self.launches)
            for part in parts:
                with contextlib.suppress(DeviceProblem):
                    part.free()


def _argument(one: Memory | float) -> ctypes.c_uint64 | ctypes.c_double | ctypes.c_int64:
    if isinstance(one, Memory):
        return ctypes.c_uint64(one.address)
    return ctypes.c_double(one) if isinstance(one, float) else ctypes.c_int64(one)
