"""Several threads on one loop inside a kernel, with results that do not depend on how many there are.

A kernel cuts its work into slices whose number depends on nothing but the problem; each slice writes to its own place.
Whoever is free takes the next slice: the thread of the run, which hands them out, and helpers, which are Python threads
that wait in a compiled function meanwhile, without the interpreter's lock. They meet in a control block, eight numbers
whose address stands in the memory of the run (0: alone).

======= ==========================================================================
TICKET  number of the job * JOB + the next slice to take
GIVEN   number of the job * JOB + how many slices it has
DONE    slices finished
STOP    1 when helpers are to go
FIRST   what the job is about: as many numbers as it needs, addresses among them
======= ==========================================================================

A ticket is drawn by adding one. It counts where GIVEN is of the same job; what the job is about is read afterwards,
for it stays until the slice is done.
"""

from __future__ import annotations

import platform
import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from polhode.kernel.jit import inlined

TICKET, GIVEN, DONE, STOP, FIRST = 0, 8, 16, 24, 32
"""Places in the control block: each in a cache line of its own, for threads that wait read them all the time."""
CONTROL = 48
JOB = 1 << 24
PATIENCE = 2000
"""Looks at a number before the processor is offered to another thread."""

NUMBER = ir.IntType(64)
ALIGNED = 8


def _place(builder, address, k):
    return builder.gep(builder.inttoptr(address, NUMBER.as_pointer()), [k])


@intrinsic
def _seen(typing, address, k):
    def build(context, builder, signature, arguments):
        return builder.load_atomic(_place(builder, *arguments), "acquire", ALIGNED)

    return types.int64(types.int64, types.int64), build


@intrinsic
def _shown(typing, address, k, value):
    def build(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _place(builder, *arguments[:2]), "release", ALIGNED)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), build


@intrinsic
def _drawn(typing, address, k):
    def build(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _place(builder, *arguments), NUMBER(1), "acq_rel")

    return types.int64(types.int64, types.int64), build


@intrinsic
def _rest(typing):
    """Tell the processor that this thread waits."""

    def build(context, builder, signature, arguments):
        if platform.machine() in ("x86_64", "AMD64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), build


@intrinsic
def _yield(typing):
    """Offer the processor to another thread."""

    def build(context, builder, signature, arguments):
        if sys.platform != "win32":
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), build


@intrinsic
def _address(typing, pointer):
    def build(context, builder, signature, arguments):
        return builder.ptrtoint(arguments[0], NUMBER)

    return types.int64(pointer), build


@intrinsic
def _numbers(typing, address):
    kind = types.CPointer(types.float64)

    def build(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64), build


def carry_out(job, s, address):  # replaced by bind
    """Stand-in for the slice of a job; what the job is about stands at FIRST."""
    raise RuntimeError("a team works only with a job bound into it")


@inlined
def write_slot(address, k, value):
    """Say what the next job is about."""
    _shown(address, FIRST + k, value)


@inlined
def read_slot(address, k):
    """What the job is about."""
    return _seen(address, FIRST + k)


@inlined
def take(address, number):
    """Take the next slice of the job with this number: which one, or -1 where none is left."""
    ticket = _drawn(address, TICKET)
    given = _seen(address, GIVEN)
    s = ticket % JOB
    return s if ticket // JOB == given // JOB and s < given % JOB else -1


@inlined
def wait(spins):
    """Wait a moment; returns the number of moments so far."""
    _rest()
    if spins % PATIENCE == PATIENCE - 1:
        _yield()
    return spins + 1


def lead(count, address):
    """Have a job of so many slices done, whose contents have been told; returns when it is."""
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
    """Take slices until STOP is shown."""
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
        # A ticket of a later job may have come in between: then that one is over for us too, or told again.
        before = number


def nowhere(pointer):
    """Address of nothing, where there is no compiler."""
    return 0


address_of = nowhere if config.DISABLE_JIT else _address
numbers_behind = _numbers
