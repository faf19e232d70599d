"""Threads that share the slices of a loop inside a kernel; results do not depend on the number of threads.

A kernel cuts its work into slices whose number depends on the problem only; each slice writes to memory of its own.
Any free thread takes the next slice: the leader, which is the thread of the run, and helpers, which are Python threads
that wait in a compiled function (``serve``) without the GIL. They communicate through a control block of CONTROL
integers whose address is in the memory of the run (0: no helpers).

======= ==========================================================================
TICKET  number of the job * JOB + the next slice to take
GIVEN   number of the job * JOB + number of its slices
DONE    slices finished
STOP    1 when helpers are to return
FIRST   arguments of the job, as many integers as it needs, addresses among them
======= ==========================================================================

A ticket is drawn by an atomic increment. It is valid if GIVEN is of the same job; the arguments are read after that,
and cannot change before the slice is done.
"""

from __future__ import annotations

from polhode.kernel.holes import hole
from polhode.kernel.later import by_hand, inlined
from polhode.kernel.machine import triple
from polhode.lazy import cgutils, ir, types

TICKET, GIVEN, DONE, STOP, FIRST = 0, 8, 16, 24, 32
"""Offsets in the control block, each in a separate cache line since waiting threads read them all the time."""
CONTROL = 48
JOB = 1 << 24
PATIENCE = 2000
"""Spins of a waiting thread before it yields the processor."""

ALIGNED = 8


def _place(builder, address, k):
    return builder.gep(builder.inttoptr(address, ir.IntType(64).as_pointer()), [k])


def _call(builder, there, kind, name):
    if there:
        builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, []), name), [])


_seen = by_hand(
    "_seen", lambda address, k: types.i8(types.i8, types.i8),
    lambda builder, address, k: builder.load_atomic(_place(builder, address, k), "acquire", ALIGNED),
)  # fmt: skip
_shown = by_hand(
    "_shown", lambda address, k, value: types.void(types.i8, types.i8, types.i8),
    lambda builder, address, k, value: builder.store_atomic(value, _place(builder, address, k), "release", ALIGNED),
)  # fmt: skip
_drawn = by_hand(
    "_drawn", lambda address, k: types.i8(types.i8, types.i8),
    lambda builder, address, k: builder.atomic_rmw("add", _place(builder, address, k), ir.IntType(64)(1), "acq_rel"),
)  # fmt: skip
_rest = by_hand(  # the pause instruction for a spinning thread
    "_rest", lambda: types.void(),
    lambda builder: _call(builder, triple().startswith("x86_64"), ir.VoidType(), "llvm.x86.sse2.pause"),
)  # fmt: skip
_yield = by_hand(  # gives the processor to another thread
    "_yield", lambda: types.void(),
    lambda builder: _call(builder, "windows" not in triple(), ir.IntType(32), "sched_yield"),
)  # fmt: skip
address_of = by_hand(
    "address_of", lambda pointer: types.i8(pointer),
    lambda builder, pointer: builder.ptrtoint(pointer, ir.IntType(64)), plain=lambda pointer: 0,
)  # fmt: skip
numbers_behind = by_hand(
    "numbers_behind", lambda address: types.CPointer(types.f8)(types.i8),
    lambda builder, address: builder.inttoptr(address, ir.DoubleType().as_pointer()),
)  # fmt: skip

carry_out = hole("carry_out(s, address)", "Does slice s of a job, whose arguments are at FIRST.")


@inlined
def write_slot(address, k, value):
    """Write argument k of the next job."""
    _shown(address, FIRST + k, value)


@inlined
def read_slot(address, k):
    """Read argument k of the job."""
    return _seen(address, FIRST + k)


@inlined
def take(address, number):
    """Take the next slice of the job with this number; returns the slice, -1 where none is left."""
    ticket = _drawn(address, TICKET)
    given = _seen(address, GIVEN)
    s = ticket % JOB
    return s if ticket // JOB == given // JOB and s < given % JOB else -1


@inlined
def wait(spins):
    """Spin once; returns the number of spins so far."""
    _rest()
    if spins % PATIENCE == PATIENCE - 1:
        _yield()
    return spins + 1


def lead(count, address):
    """Run a job of ``count`` slices, whose arguments have been written; returns when all slices are done."""
    number = _seen(address, GIVEN) // JOB + 1
    _shown(address, DONE, 0)
    _shown(address, GIVEN, number * JOB + count)
    _shown(address, TICKET, number * JOB)
    while True:
        s = take(address, number)
        if s < 0:
            break
        carry_out(s, address)
        _drawn(address, DONE)
    spins = 0
    while _seen(address, DONE) < count:
        spins = wait(spins)


def serve(address):
    """Run by each helper: take slices until STOP is set."""
    before, spins = -1, 0
    while _seen(address, STOP) == 0:
        number = _seen(address, TICKET) // JOB
        if number == before:
            spins = wait(spins)
            continue
        spins = 0
        while True:
            s = take(address, number)
            if s < 0:
                break
            carry_out(s, address)
            _drawn(address, DONE)
        # The last ticket may have been of a later job: its number differs from ``before``, so we check once more.
        before = number
