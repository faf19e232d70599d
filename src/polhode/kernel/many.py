"""The time loops of ``drive`` for many members: one after the other, without any Python between them.

Each loop is compiled once for all methods, as it calls the loop of the method by its address. The arrays of the run
that was set up (workspace, scratch memory) serve for all members of a thread: a member's own numbers are copied there,
so that all addresses stay, and what a step might remember is set back. Beside them energies of many states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.kernel import jit, layout as L
from polhode.kernel.pairs import NOW_AT, VIRIAL_SUM
from polhode.kernel.signatures import A1, A2, A3, ENERGIES, I1, I2, MARCH, MARCH_ADAPTIVE, POTENTIAL, f8, i8, void

NONE = np.empty(0)

march_at = jit.function_at(MARCH)
adaptive_at = jit.function_at(MARCH_ADAPTIVE)
potential_at = jit.function_at(POTENTIAL)


@jit.inlined
def copied(source, k, count, out):
    """Copy the first numbers of a row, of the only one where there is one, and fill the rest with zeros."""
    row = k if source.shape[0] > 1 else 0
    for j in range(count):
        out[j] = source[row, j]
    for j in range(count, out.size):
        out[j] = 0.0


@jit.inlined
def set_up(
    k, states, bodies, frames, parameters, count, told, y, of_bodies, of_frames, own, stage_state, load, step_info
):
    """The workspace as that of a member that has not begun."""
    copied(states, k, y.size, y)
    copied(states, k, y.size, stage_state)
    copied(bodies, k, of_bodies.size, of_bodies)
    copied(frames, k, of_frames.size, of_frames)
    copied(parameters, k, count, own)
    for j in range(load.size):
        load[j] = 0.0
    for j in range(step_info.size):
        step_info[j] = told[j]


@jit.inlined
def march_one(
    march, k, begin, n, steps, every, t0, h, limit, N, B, processed, y, step_info, addresses, watch, sides, kept, rows,
    iterations, done,
):  # fmt: skip
    """Take the run whose workspace is set up through steps number ``begin`` to ``begin + n``, of ``steps`` in all, for
    which ``done[k]`` counts; returns the status. The rest is as of ``march`` and ``march_members``."""
    status = L.OK
    if begin == 0:
        for j in range(y.size):
            rows[0, j] = y[j]
        iterations[0] = 0
        done[k] = 0
        status = march(
            L.SHOWING, 0, 0, 1, t0, h, limit, N, B, rows[0], addresses, rows, iterations, watch, sides, kept
        )  # fmt: skip
        step_info[L.LOADED] = 0.0
        if processed != 0 and status == L.OK:
            status = march(
                L.PREPARING, 0, 0, 1, t0, h, limit, N, B, y, addresses, rows, iterations, watch, sides, kept
            )  # fmt: skip
            step_info[L.LOADED] = 0.0
    if status == L.OK:
        behind = 1 + begin // every
        status = march(
            L.MARCHING, begin, n, every, t0, h, limit, N, B, y, addresses, rows[behind:], iterations[behind:], watch,
            sides, kept,
        )  # fmt: skip
        done[k] += int(step_info[L.STEPS_DONE])
    if status == L.OK and begin + n == steps and steps % every != 0:
        end = rows.shape[0] - 1
        iterations[end] = int(step_info[L.ROW_ITERATIONS])
        for j in range(y.size):
            rows[end, j] = y[j]
        if processed != 0:
            step_info[L.LOADED] = 0.0
            status = march(
                L.PRESENTING, 0, 0, 1, t0 + steps * h, h, limit, N, B, rows[end], addresses, rows, iterations, watch,
                sides, kept,
            )  # fmt: skip
        if status == L.OK:
            status = march(
                L.SHOWING, 0, 0, 1, t0 + steps * h, h, limit, N, B, rows[end], addresses, rows, iterations, watch,
                sides, kept,
            )  # fmt: skip
    return status


MARCH_MEMBERS = void(I1, *[i8] * 6, *[f8] * 3, *[i8] * 3, *[A2] * 4, *[A1] * 8, I1, I1, A1, A3, I2, I1, I1)


@jit.loop(MARCH_MEMBERS)
def march_members(
    loop, first, last, begin, n, steps, every, t0, h, limit, N, B, processed, states, bodies, frames, parameters, told,
    y, of_bodies, of_frames, own, stage_state, load, step_info, addresses, no_events, nothing, rows, iterations, status,
    done,
):  # fmt: skip
    """Take members ``first`` to ``last - 1`` through steps number ``begin`` to ``begin + n``, of ``steps`` in all.

    Where ``begin`` is not 0 it is one member, the same as in the last call. ``loop`` is the address of the compiled
    ``drive.march``; ``processed`` is 1 where the method works on states of its own. ``told`` is ``step_info`` before
    the first step; ``y`` to ``step_info`` are the arrays of the run, to which ``addresses`` points (``own``: the
    parameters with their memory); ``no_events`` holds addresses of no event function. Others as of ``march`` and
    ``engines.Block``."""
    march = march_at(loop)
    for k in range(first, last):
        if begin == 0:
            set_up(
                k, states, bodies, frames, parameters, parameters.shape[1], told, y, of_bodies, of_frames, own,
                stage_state, load, step_info,
            )  # fmt: skip
        status[k] = march_one(
            march, k, begin, n, steps, every, t0, h, limit, N, B, processed, y, step_info, addresses, no_events,
            nothing, nothing, rows[k], iterations[k], done,
        )  # fmt: skip


MEMBERS_ADAPTIVE = void(
    I1, i8, i8, i8, i8, f8, f8, f8, A1, A1, f8, i8, i8, A2, A2, A2, A2,
    A1, A1, A1, A1, A1, A1, A1, A1, A1, I1, A1, A1,
    I1, A1, A2, A3, I2, I1, I1,
)  # fmt: skip


@jit.loop(MEMBERS_ADAPTIVE)
def adapt_members(
    loop, first, last, attempts, q, longest, shortest, end, samples, times, limit, N, B, states, bodies, frames,
    parameters, told, begun, y, of_bodies, of_frames, own, stage_state, load, step_info, addresses, controller_state,
    kept, no_events, nothing, sizes, rows, iterations, status, done,
):  # fmt: skip
    """Take members ``first`` to ``last - 1`` to ``end`` by steps of chosen size.

    ``begun`` is ``controller_state`` before the first step; others as of ``march_adaptive`` and ``march_members``."""
    adaptive = adaptive_at(loop)
    count = parameters.shape[1]
    for k in range(first, last):
        set_up(
            k, states, bodies, frames, parameters, count, told, y, of_bodies, of_frames, own, stage_state, load,
            step_info,
        )  # fmt: skip
        for j in range(controller_state.size):
            controller_state[j] = begun[j]
        for j in range(y.size):
            kept[j] = y[j]
        status[k] = L.OK
        done[k] = 0
        status[k] = adaptive(
            attempts, 0, q, limit, longest, shortest, end, samples, N, B, y, addresses, controller_state, kept, times,
            sizes[k], rows[k], iterations[k], 0, no_events, nothing,
        )  # fmt: skip
        done[k] = int(controller_state[L.ROWS])
        if status[k] == L.OK and controller_state[L.TIME] != end:
            status[k] = TOO_MANY_STEPS


TOO_MANY_STEPS = 100
"""Status of a member that has tried as many steps as it may."""


@jit.loop(ENERGIES)
def potential_energies(times, rows, per, of, own, addresses, out, virials):
    """Write the potential energies of rows, ``per`` of each member, whose bodies and parameters are in ``of, own``, and
    the virials of pairs where there is room for them; ``times`` are those of all rows, or of each member's."""
    potential, N = potential_at(addresses), of.shape[1] // L.OF_BODY
    for k in range(rows.shape[0]):
        p = own[k // per]
        out[k] = potential(times[k % times.size], N, jit.pointer(rows[k]), jit.pointer(of[k // per]), jit.pointer(p))
        if virials.size > 0:
            virials[k] = p[int(p[NOW_AT]) + VIRIAL_SUM]


def write_energies(
    times: Any, rows: Any, bodies: Any, parameters: Any, potential: Any, out: Any, virials: Any = NONE
) -> None:
    """Write the potential energies of states (n, 13 N or more) at times (n,) to ``out``; ``potential`` is the compiled
    role, which reads ``bodies`` and ``parameters``, flat, or (M, ...) of so many members with as many states each."""
    of, own = (one if one.ndim > 1 else one[None] for one in (bodies, parameters))
    per, addresses = max(1, len(rows) // len(of)), jit.addresses_of(potential)
    potential_energies(times, rows, per, of, own, addresses, out, virials)
