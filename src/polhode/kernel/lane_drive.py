"""The time loop over members of an ensemble in lanes: a template into which the step of a method and loads are bound.

Groups of as many members as there are lanes are taken through all their steps one after the other, so that a group
stays in the fastest memory. Arrays lie by members; a group's numbers are copied to memory over lanes and back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any

from polhode.kernel import drive, jit, layout as L
from polhode.kernel.drive import squared_speed
from polhode.kernel.jit import integers_at, numbers_at
from polhode.kernel.lane_mode import (
    as_lanes,
    lane_numbers,
    local_numbers,
    replaced,
    shared_info,
    shifted,
    some_lane,
    with_known,
)
from polhode.kernel.machine import features
from polhode.kernel.sampling import pulsed_step, sample, sample_valves
from polhode.kernel.signatures import I1, Workspace, f8, i8

step = jit.hole("step(t, h, p) -> status", "The step of the method.")
convert = jit.hole("convert(task, t, h, p) -> status", "The converter of a processed method.", default=drive.convert)
PROCESSED = jit.hole("PROCESSED", "Whether the method is processed.", default=False)
set_states = jit.hole("set_states(t, p) -> status", "Sets states whose sampling time it is.", default=drive.set_states)
SAMPLES = jit.hole("SAMPLES", "Whether controllers set states.", default=False)
COMMON = jit.hole("COMMON", "How many coefficients a method has before the parameters that all lanes share.")
loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
IN_LANES = jit.hole("IN_LANES", "Pairs (function, helper): what computes a function over lanes.")
SHAPE = jit.hole("SHAPE", "Pairs (field, value): what is known of the workspace, such as the number of bodies.")
LENGTHS = jit.hole("LENGTHS", "Lengths of state, parameters, loads, scratch memory, and memory behind the parameters.")
KNOWN = jit.hole("KNOWN", "Pairs (slot, value): the flags of a run in ``step_info``.")

# sizes
N, B, S, WIDTH, PARAMETERS, LOAD, WORK, ROWS = range(8)
BODIES_STRIDE, FRAMES_STRIDE, PARAMETERS_STRIDE, LANES = range(8, 12)
SIZES = 12
"""Slots of ``sizes``: bodies, blocks, auxiliary variables; lengths of state, parameters, loads, scratch memory; rows of
a member; how far the constants of two members lie apart (0: all members have the same); number of lanes."""
# addresses
STATES, BODIES, FRAMES, CONSTANTS, COEFFICIENTS, INT_COEFFICIENTS, BLOCKS, STEP_INFO, MEMORY, RECORD = range(2, 12)
STATUS, DONE, ITERATIONS = 12, 13, 14
MARCH_LANES = i8(*[i8] * 6, f8, f8, f8, I1, I1)
"""march_lanes(first_group, last_group, members, first, n, every, t0, h, limit, sizes, addresses)"""


@functools.cache
def lane_width(series: bool = False) -> int:
    """How many elements take a step together: two vectors, for operations of one wait for each other (71 million steps
    of a top a second where one vector takes 39, four 80); of series, which sum several products at a time, one."""
    return (16 if features().get("avx512f") else 8) // (1 + series)


@jit.inlined
def each_lane():
    """The number of each lane."""
    return lane_numbers()


@jit.inlined
def copied(numbers, stride, member, length, out):
    """Copy numbers of each lane's member to memory over lanes."""
    for j in range(length):
        out[j] = numbers[stride * member + j]


@jit.inlined
def recorded(numbers, at, y, length):
    """Copy the state to the row of each lane that begins at a place of its own."""
    for j in range(length):
        numbers[at + j] = y[j]


@jit.inlined
def commanded(numbers, at, p):
    """Copy what has been set to the row of each lane that was recorded at its time."""
    for j in range(L.BODY * p.N, L.BODY * p.N + p.S):
        numbers[at + j] = p.y[j]


@jit.inlined
def rows_in_common(p):
    """The table of samples of the first member, behind the coefficients of the method."""
    return shifted(p.coefficients, COMMON)


def set_in_lanes(coefficients: int, own_step: Callable[..., Any], valves: bool) -> dict[str, Any]:
    """What controllers, perhaps with ``valves``, bring to the loop, with a method of so many coefficients."""
    rows = {"rows_of": jit.bind(rows_in_common, COMMON=coefficients)}
    set_own = jit.bind(sample, **rows)
    if valves:
        set_own, own_step = (
            jit.bind(sample_valves, sample=set_own, **rows),
            jit.bind(pulsed_step, step=own_step, **rows),
        )
    return {"set_states": set_own, "step": own_step, "SAMPLES": True}


def memory_of(bodies: int, lengths: tuple[int, ...]) -> int:
    """How many numbers a lane needs: iterations, the end of the step, three states, bodies, frames, parameters with the
    memory of loads, loads, scratch memory."""
    return 2 + 2 * lengths[0] + sum(lengths) + (L.OF_BODY + 4) * bodies


def march_lanes(first_group, last_group, members, first, n, every, t0, h, limit, sizes, addresses):
    """Take the members of groups, first to last (exclusive), through n steps of size h, of which the first is number
    ``first``; those of a group are its lanes.

    Lanes of the last group beyond ``members`` repeat the last member. Rows: the start, after each ``every`` steps, the
    end; step k starts at ``t0 + k h``; ``limit`` as of ``drive.march``. See ``SIZES`` and the names of ``addresses``
    above; the first two and STEP_INFO are unused, MEMORY is that of ``memory_of``, over lanes. Returns 0; STATUS and
    DONE receive the status of each member and the number of its completed steps, ITERATIONS the most of a step since
    the row before. A row more than there are receives the end without what controllers set there."""
    replaced(IN_LANES)
    bodies_of_system, width, rows = sizes[N], LENGTHS[0], sizes[ROWS]
    own_info = as_lanes(numbers_at(addresses, MEMORY))
    y = shifted(own_info, 2)
    stage_state = shifted(y, width)
    kept = shifted(stage_state, width)
    load = shifted(kept, width)
    work = shifted(load, LENGTHS[2])
    parameters = shifted(work, LENGTHS[3])
    bodies = shifted(parameters, LENGTHS[1] + LENGTHS[4])
    frames = shifted(bodies, L.OF_BODY * bodies_of_system)
    iterations = integers_at(addresses, ITERATIONS)
    states, record = numbers_at(addresses, STATES), numbers_at(addresses, RECORD)
    info = local_numbers(L.STEP_INFO)
    info[L.SAMPLED_FROM] = abs(t0)
    step_info = shared_info(info, own_info, KNOWN)
    p = with_known(Workspace(
        bodies_of_system, sizes[B], sizes[S], y, bodies, parameters, loads, numbers_at(addresses, COEFFICIENTS),
        integers_at(addresses, INT_COEFFICIENTS), integers_at(addresses, BLOCKS), stage_state, load, work, step_info,
        frames,
    ), SHAPE)  # fmt: skip
    allowed = limit / abs(h)
    allowed = allowed * allowed
    lanes = sizes[LANES]
    for group in range(first_group, last_group):
        member = lane_numbers() + lanes * group
        own = min(member, members - 1)
        copied(states, width, own, width, y)
        copied(numbers_at(addresses, BODIES), sizes[BODIES_STRIDE], own, L.OF_BODY * bodies_of_system, bodies)
        copied(numbers_at(addresses, FRAMES), sizes[FRAMES_STRIDE], own, 4 * bodies_of_system, frames)
        copied(numbers_at(addresses, CONSTANTS), sizes[PARAMETERS_STRIDE], own, LENGTHS[1], parameters)
        recorded(record, width * rows * own, y, width)
        info[L.LOADED] = 0.0
        status, done, most = 0, 0, 0.0
        iterations[rows * own] = 0
        if PROCESSED:
            status = convert(L.PREPARING, t0, h, p)
            info[L.LOADED] = 0.0
        if squared_speed(bodies_of_system, sizes[S], y, bodies) > allowed and status == L.OK:
            status = L.TOO_LARGE
        row = 1
        for k in range(first, first + n):
            if not some_lane(status == L.OK):
                break
            info[L.NEXT_TIME] = t0 + (k + 1) * h
            step_info[L.NEXT_TIME] = info[L.NEXT_TIME]
            if SAMPLES:
                found = set_states(t0 + k * h, p)
                if status == L.OK:
                    status = found
                if (k - first) % every == 0:
                    commanded(record, width * (rows * own + row - 1), p)
            step_info[L.ITERATIONS] = 0.0
            found = step(t0 + k * h, h, p)
            speed = squared_speed(bodies_of_system, sizes[S], y, bodies)
            if status == L.OK:
                status = found
                if status == L.OK:
                    if not speed < inf:
                        status = L.NOT_FINITE
                    elif speed > allowed:
                        status = L.TOO_LARGE
                    else:
                        done = k + 1 - first
                        most = max(most, step_info[L.ITERATIONS])
            if (k + 1 - first) % every == 0 or k + 1 == first + n:
                if PROCESSED:
                    for j in range(width):
                        kept[j] = y[j]
                    found = convert(L.PRESENTING, info[L.NEXT_TIME], h, p)
                    if status == L.OK:
                        status = found
                    info[L.LOADED] = 0.0
                recorded(record, width * (rows * own + row), y, width)
                if PROCESSED:
                    for j in range(width):
                        y[j] = kept[j]
                iterations[rows * own + row] = int(most)
                most = 0.0 * most
                row += 1
        if SAMPLES:
            if row < rows:
                recorded(record, width * (rows * own + row), y, width)
            found = set_states(t0 + (first + n) * h, p)
            if status == L.OK:
                status = found
            commanded(record, width * (rows * own + row - 1), p)
        integers_at(addresses, STATUS)[own] = status
        integers_at(addresses, DONE)[own] = done
    return 0
