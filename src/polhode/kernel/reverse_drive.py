"""The time loop backwards, with the transposed derivative of each step: a template for step and loads of a method.

A segment of steps is taken forwards without derivatives, and its states are kept. Then each step, the last one first,
is taken once more from its own state with derivatives along all directions, which are contracted with the cotangent at
its end at once: no matrix is kept.
"""

from __future__ import annotations

from math import inf

from numba import f8, i8

from polhode.kernel import drive, jit
from polhode.kernel import layout as L
from polhode.kernel.drive import squared_speed
from polhode.kernel.jit import integers_at, numbers_at
from polhode.kernel.signatures import I1, Workspace
from polhode.kernel.tangent_mode import active, counters, derivative_rules, shifted

step = jit.hole("step(t, h, p) -> status", "The step of the method.")
convert = jit.hole("convert(task, t, h, p) -> status", "The converter of a processed method.", default=drive.convert)
PROCESSED = jit.hole("PROCESSED", "Whether the method is processed.", default=False)
loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
RULES = jit.hole("RULES", "Pairs (helper, rule), as in ``kernel.tangent_drive``.", default=())

N, B, S, WIDTH, PARAMETERS, LOAD, STRIDE, PER_PASS, PASSES, STATE_DIRECTIONS, ALL_DIRECTIONS, TASK = range(12)
SIZES = 12
"""Slots of ``sizes``: bodies, blocks, auxiliary variables; lengths of state, parameters, loads; derivatives of a number
in memory; directions in one pass, passes, directions of the state, all; what to do. Constants are there once for
each pass."""
BODIES, BODIES_SEEDS, FRAMES, FRAMES_SEEDS, CONSTANTS, CONSTANTS_SEEDS, COEFFICIENTS, INT_COEFFICIENTS = range(2, 10)
BLOCKS, STEP_INFO, PLAIN_MEMORY, MEMORY, MEMORY_SEEDS, BEGINS, STEP_SIZES, ENDS = range(10, 18)
KEPT, ROW_AT, SHOWN, COTANGENTS, COTANGENT, BY_CONSTANTS, DIRECTIONS, PRODUCTS, STATUS = range(18, 27)
ADDRESSES = 27
"""Slots of ``addresses``: as in ``kernel.tangent_drive``, and: states of the segment; for each of its states the number
of its row, or -1; presented states, and cotangents, of rows; the cotangent at the end, then at the begin; sums of the
products by constants; indices of the directions of the state; scratch numbers; status and number of the step."""
FORWARDS, BACKWARDS, PREPARE, UNPREPARE = range(4)
"""Take a segment forwards and show its rows; the same backwards; convert the start of a run; the transpose of that."""
PULL_BACK = i8(i8, i8, i8, f8, I1, I1)
"""pull_back(begin, behind, n, limit, sizes, addresses)"""
STEPPING = -1


@jit.inlined
def contracted(step, convert, task, k, p, derivatives, numbers, sizes, addresses, cotangent):
    """The cotangent before a step, or a conversion, from the one behind it: its products with all directions.

    Parameters
    ----------
    step, convert : function
        What is bound into the loop.
    task : int
        STEPPING, or the task of the converter.
    k : int
        Number of the step in the segment.
    """
    width, stride, per_pass = sizes[WIDTH], sizes[STRIDE], sizes[PER_PASS]
    products, directions = numbers_at(addresses, PRODUCTS), integers_at(addresses, DIRECTIONS)
    begins, steps, ends = numbers_at(addresses, BEGINS), numbers_at(addresses, STEP_SIZES), numbers_at(addresses, ENDS)
    status = L.OK
    for c in range(sizes[PASSES]):
        q = Workspace(
            p.N, p.B, p.S, p.y, shifted(p.bodies, 12 * p.N * c), shifted(p.parameters, sizes[PARAMETERS] * c), p.loads,
            p.coefficients, p.int_coefficients, p.blocks, p.stage_state, p.load, p.work, p.step_info,
            shifted(p.frames, 4 * p.N * c),
        )  # fmt: skip
        for j in range(width):
            q.y[j] = numbers[j]
        for d in range(per_pass):
            j = directions[per_pass * c + d]
            if j >= 0:
                derivatives[stride * j + d] = 1.0
        q.step_info[L.LOADED] = 0.0
        q.step_info[L.ITERATIONS] = q.step_info[L.RESIDUAL] = 0.0
        q.step_info[L.NEXT_TIME] = ends[k]
        if task == STEPPING:
            status = step(begins[k], steps[k], q)
        elif task == L.PREPARING:
            status = convert(L.PREPARING, begins[k], steps[k], q)
        else:
            status = convert(L.PRESENTING, ends[k], steps[k], q)
        if status != L.OK:
            break
        for d in range(per_pass):
            products[per_pass * c + d] = 0.0
        for i in range(width):
            f = cotangent[i]
            if f != 0.0:
                for d in range(per_pass):
                    products[per_pass * c + d] += f * derivatives[stride * i + d]
    return status


@jit.inlined
def added(sizes, addresses, into):
    """Add the products of a contraction to a cotangent and to the sums by constants."""
    products, directions = numbers_at(addresses, PRODUCTS), integers_at(addresses, DIRECTIONS)
    by_constants = numbers_at(addresses, BY_CONSTANTS)
    state = sizes[STATE_DIRECTIONS]
    for d in range(state):
        into[directions[d]] += products[d]
    for d in range(sizes[ALL_DIRECTIONS] - state):
        by_constants[d] += products[state + d]


@jit.inlined
def forwards(step, convert, PROCESSED, n, limit, sizes, addresses, p, showing):
    """The steps of a segment without derivatives; all states are kept."""
    width = sizes[WIDTH]
    begins, steps, ends = numbers_at(addresses, BEGINS), numbers_at(addresses, STEP_SIZES), numbers_at(addresses, ENDS)
    kept, row_at = numbers_at(addresses, KEPT), integers_at(addresses, ROW_AT)
    info = p.step_info
    status, done = L.OK, 0
    for j in range(width):
        p.y[j] = kept[j]
    info[L.LOADED] = 0.0
    for k in range(n):
        info[L.ITERATIONS] = info[L.RESIDUAL] = 0.0
        info[L.NEXT_TIME] = ends[k]
        status = step(begins[k], steps[k], p)
        if status != L.OK:
            break
        speed = squared_speed(p.N, p.S, p.y, p.bodies)
        if not speed < inf:
            status = L.NOT_FINITE
            break
        if speed * steps[k] * steps[k] > limit * limit:
            status = L.TOO_LARGE
            break
        done = k + 1
        for j in range(width):
            kept[width * done + j] = p.y[j]
        if showing and row_at[done] >= 0:
            shown = shifted(numbers_at(addresses, SHOWN), width * row_at[done])
            if PROCESSED:
                status = convert(L.PRESENTING, ends[k], steps[k], p)
                info[L.LOADED] = 0.0
                if status != L.OK:
                    break
            for j in range(width):
                shown[j] = p.y[j]
            if PROCESSED:
                for j in range(width):
                    p.y[j] = kept[width * done + j]
    integers_at(addresses, STATUS)[1] = done
    return status


def pull_back(begin, behind, n, limit, sizes, addresses):
    """Take a segment of steps forwards or backwards.

    Parameters
    ----------
    begin, behind : int
        Unused.
    n : int
        Number of steps.
    limit : float
        Largest rotation (rad) of a body allowed in a step.
    sizes, addresses : int arrays
        See above; the first two addresses are unused.

    Returns
    -------
    int
        0. STATUS receives the status, and the number of steps taken.
    """
    derivative_rules(RULES)
    bodies_of_system, width = sizes[N], sizes[WIDTH]
    info = counters(numbers_at(addresses, STEP_INFO))
    bodies, frames = numbers_at(addresses, BODIES), numbers_at(addresses, FRAMES)
    constants, blocks = numbers_at(addresses, CONSTANTS), integers_at(addresses, BLOCKS)
    coefficients, int_coefficients = numbers_at(addresses, COEFFICIENTS), integers_at(addresses, INT_COEFFICIENTS)
    plain_y = numbers_at(addresses, PLAIN_MEMORY)
    plain_stage = shifted(plain_y, width)
    plain_load = shifted(plain_stage, 2 * width)
    plain = Workspace(
        bodies_of_system, sizes[B], sizes[S], plain_y, bodies, constants, loads, coefficients, int_coefficients, blocks,
        plain_stage, plain_load, shifted(plain_load, sizes[LOAD]), info, frames,
    )  # fmt: skip
    derivatives = numbers_at(addresses, MEMORY_SEEDS)
    y = active(numbers_at(addresses, MEMORY), derivatives)
    stage = shifted(y, width)
    load = shifted(stage, 2 * width)
    work = shifted(load, sizes[LOAD])
    varied = (
        active(bodies, numbers_at(addresses, BODIES_SEEDS)), active(frames, numbers_at(addresses, FRAMES_SEEDS)),
        active(constants, numbers_at(addresses, CONSTANTS_SEEDS)),
    )  # fmt: skip
    p = Workspace(
        bodies_of_system, sizes[B], sizes[S], y, varied[0], varied[2], loads, coefficients, int_coefficients, blocks,
        stage, load, work, info, varied[1],
    )  # fmt: skip
    kept, row_at = numbers_at(addresses, KEPT), integers_at(addresses, ROW_AT)
    cotangent, cotangents = numbers_at(addresses, COTANGENT), numbers_at(addresses, COTANGENTS)
    status, task = L.OK, sizes[TASK]
    if task == FORWARDS:
        status = forwards(step, convert, PROCESSED, n, limit, sizes, addresses, plain, True)
    elif task == BACKWARDS:
        status = forwards(step, convert, PROCESSED, n, limit, sizes, addresses, plain, False)
        if status == L.OK:
            for m in range(n):
                k = n - 1 - m
                if row_at[k + 1] >= 0:
                    of_row = shifted(cotangents, width * row_at[k + 1])
                    if PROCESSED:
                        numbers = shifted(kept, width * (k + 1))
                        status = contracted(
                            step, convert, L.PRESENTING, k, p, derivatives, numbers, sizes, addresses, of_row
                        )
                        if status != L.OK:
                            break
                        added(sizes, addresses, cotangent)
                    else:
                        for j in range(width):
                            cotangent[j] += of_row[j]
                numbers = shifted(kept, width * k)
                status = contracted(step, convert, STEPPING, k, p, derivatives, numbers, sizes, addresses, cotangent)
                if status != L.OK:
                    break
                for j in range(width):
                    cotangent[j] = 0.0
                added(sizes, addresses, cotangent)
    elif PROCESSED:
        if task == PREPARE:
            for j in range(width):
                plain_y[j] = kept[j]
            info[L.LOADED] = 0.0
            status = convert(L.PREPARING, numbers_at(addresses, BEGINS)[0], numbers_at(addresses, STEP_SIZES)[0], plain)
            for j in range(width):
                kept[j] = plain_y[j]
        else:
            status = contracted(step, convert, L.PREPARING, 0, p, derivatives, kept, sizes, addresses, cotangent)
            for j in range(width):
                cotangent[j] = 0.0
            added(sizes, addresses, cotangent)
    integers_at(addresses, STATUS)[0] = status
    return 0
