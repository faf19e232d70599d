"""A driver for ``ensembles.cuda`` without a device: its memory is this machine's, its kernels are functions.

Streams do what they were asked as late as they may: when somebody waits for them. So a copy that does not wait for the
launch before it copies what was there before.
"""

from __future__ import annotations

import ctypes
from collections import deque

import numpy as np

ERRORS = {1: b"invalid value", 2: b"out of memory", 222: b"unsupported PTX", 700: b"an illegal memory access"}


class FakeCuda:
    """The functions of ``libcuda`` that are used.

    Parameters
    ----------
    run : function
        The kernel, called with the arguments of a launch as ``kinds`` say (ctypes).
    free : int
        Bytes of memory of the device.
    refuse : dict
        Error codes that functions return, by name.
    """

    def __init__(self, run=None, kinds=(), free=1 << 30, refuse=None, capability=(9, 0)):
        self.run, self.kinds, self.free, self.refuse, self.capability = run, kinds, free, refuse or {}, capability
        self.memory, self.pinned, self.streams, self.events, self.launched = {}, {}, [], [], []
        self.ptx, self.most, self.loaded, self.options = "", 0, 0, {}

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name.startswith("cu") and name != "cuGetErrorString":
            refuse = super().__getattribute__("refuse")
            if name in refuse:
                return lambda *_: refuse[name]
        return found

    # ------------------------------------------------------------------ the device
    def cuInit(self, flags):
        return 0

    def cuDeviceGetCount(self, count):
        count._obj.value = 1
        return 0

    def cuDeviceGet(self, handle, number):
        handle._obj.value = number
        return 0

    def cuDevicePrimaryCtxRetain(self, context, handle):
        context._obj.value = 1
        return 0

    def cuCtxSetCurrent(self, context):
        return 0

    def cuDeviceGetName(self, name, size, handle):
        name.value = b"a fake device"
        return 0

    def cuDeviceGetAttribute(self, value, which, handle):
        value._obj.value = {75: self.capability[0], 76: self.capability[1], 16: 2}[which]
        return 0

    def cuGetErrorString(self, code, told):
        told._obj.value = ERRORS.get(code.value)
        return 0

    # ------------------------------------------------------------------ memory
    def cuMemGetInfo_v2(self, free, total):
        free._obj.value = self.free - sum(a.nbytes for a in self.memory.values())
        return 0

    def _allocate(self, address, size, into):
        held = np.full(size.value, 0xFF, np.uint8)  # not zero
        into[held.ctypes.data] = held
        address._obj.value = held.ctypes.data

    def cuMemAlloc_v2(self, address, size):
        if sum(a.nbytes for a in self.memory.values()) + size.value > self.free:
            return 2
        self._allocate(address, size, self.memory)
        self.most = max(self.most, sum(a.nbytes for a in self.memory.values()))
        return 0

    def cuMemAllocHost_v2(self, address, size):
        self._allocate(address, size, self.pinned)
        return 0

    def cuMemFree_v2(self, address):
        del self.memory[address.value]
        return 0

    def cuMemFreeHost(self, address):
        del self.pinned[address.value]
        return 0

    # ------------------------------------------------------------------ streams
    def cuStreamCreate(self, stream, flags):
        self.streams.append(deque())
        stream._obj.value = len(self.streams)
        return 0

    def cuEventCreate(self, event, flags):
        self.events.append([None, False])  # stream that it waits for, whether it is marked
        event._obj.value = len(self.events)
        return 0

    def cuEventDestroy_v2(self, event):
        return 0

    def _later(self, stream, action):
        self.streams[stream.value - 1].append(action)
        return 0

    def _do(self, stream, until=None):
        """Do what a stream has to do, up to the marking of an event where one is given."""
        queue = self.streams[stream - 1]
        while queue and not (until is not None and self.events[until - 1][1]):
            queue.popleft()()

    def cuEventRecord(self, event, stream):
        self.events[event.value - 1][:] = [stream.value, False]
        number = event.value

        def mark():
            self.events[number - 1][1] = True

        return self._later(stream, mark)

    def cuStreamWaitEvent(self, stream, event, flags):
        number = event.value
        return self._later(stream, lambda: self._happened(number))

    def _happened(self, number):
        stream, marked = self.events[number - 1]
        if not marked:
            self._do(stream, number)

    def cuEventSynchronize(self, event):
        self._happened(event.value)
        return 0

    def cuStreamSynchronize(self, stream):
        self._do(stream.value)
        return 0

    def cuMemcpyHtoDAsync_v2(self, to, array, size, stream):
        return self._later(stream, lambda a=array.value, b=to.value, n=size.value: ctypes.memmove(b, a, n))

    def cuMemcpyDtoHAsync_v2(self, array, source, size, stream):
        return self._later(stream, lambda a=array.value, b=source.value, n=size.value: ctypes.memmove(a, b, n))

    def cuMemsetD8Async(self, to, byte, size, stream):
        return self._later(stream, lambda a=to.value, b=byte.value, n=size.value: ctypes.memset(a, b, n))

    # ------------------------------------------------------------------ kernels
    def cuModuleLoadDataEx(self, module, ptx, count, options, values):
        self.ptx, self.loaded = ptx.value.decode(), self.loaded + 1
        self.options = {options[k]: values[k] for k in range(count.value)}
        module._obj.value = 1
        return 0

    def cuModuleGetFunction(self, function, module, name):
        assert f".entry {name.value.decode()}(" in self.ptx
        function._obj.value = 1
        return 0

    def cuFuncGetAttribute(self, value, which, function):
        value._obj.value = {4: 156, 3: 0}[which]
        return 0

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, blocks, function, threads, shared):
        blocks._obj.value = 3
        return 0

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra):
        values = [ctypes.cast(arguments[k], ctypes.POINTER(kind))[0] for k, kind in enumerate(self.kinds)]
        assert gx.value * bx.value >= values[0] > (gx.value - 1) * bx.value
        self.launched.append(values)
        return self._later(stream, lambda: self.run(*values))
