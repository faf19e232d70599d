"""The loop that repeats a step: one source for every method, compiled together with the step bound into it."""

from __future__ import annotations

import functools
from math import inf

from polhode.kernel import jit
from polhode.kernel.jit import integers_at, numbers_at, pointer
from polhode.kernel.signatures import (
    ANGULAR,
    ATTITUDE,
    BODY,
    CONSTANTS,
    ENERGIES,
    INVERSE_INERTIA,
    ITERATIONS,
    LOADED,
    LOADS,
    MARCH,
    MARCHING,
    MOMENTUM,
    NEXT_TIME,
    NOT_FINITE,
    OK,
    PRESENTING,
    RESIDUAL,
    ROW_ITERATIONS,
    STEPS_DONE,
    SWEEP,
    TOO_LARGE,
    TOTAL_ITERATIONS,
    Workspace,
)

HUGE = 1e200
"""A squared speed or momentum beyond this counts as infinite: what is computed from it would overflow."""


def step(t, h, p):  # replaced by bind
    """Stand-in for the bound step; calling it unbound is a mistake."""
    raise RuntimeError("march runs only with a step bound into it")


@jit.inlined
def processed(p):  # replaced by bind
    """Whether the method works on states that ``convert`` makes; this stand-in serves those that do not."""
    return False


@jit.inlined
def convert(task, t, h, p):  # replaced by bind
    """Turn the state into the one a processed method works on (PREPARING), or back (PRESENTING)."""
    return OK


loads_at = jit.function_at(LOADS)


def turn(i, h, p):  # replaced by bind
    """Stand-in for the bound flow; calling it unbound is a mistake."""
    raise RuntimeError("sweep runs only with a flow bound into it")


@jit.inlined
def squared_speed(N, y, bodies):
    """Largest squared angular velocity of all bodies; infinite when a momentum is beyond reason or an attitude none."""
    largest = 0.0
    for i in range(N):
        a, b = BODY * i, CONSTANTS * i
        x = y[a + ANGULAR] * bodies[b + INVERSE_INERTIA]
        z = y[a + ANGULAR + 1] * bodies[b + INVERSE_INERTIA + 1]
        w = y[a + ANGULAR + 2] * bodies[b + INVERSE_INERTIA + 2]
        s = x * x + z * z + w * w
        q = y[a + MOMENTUM] + y[a + MOMENTUM + 1] + y[a + MOMENTUM + 2]
        turned = y[a + ATTITUDE] + y[a + ATTITUDE + 1] + y[a + ATTITUDE + 2] + y[a + ATTITUDE + 3]
        if not (s + q * q + turned * turned < HUGE):
            return inf
        largest = max(largest, s)
    return largest


def march(
    task,
    first,
    n,
    every,
    t0,
    h,
    limit,
    N,
    B,
    y,
    addresses,
    rows,
    iterations,
):
    """Take ``n`` steps of size ``h``; step number k starts at ``t0 + k h``, whatever slice of the run it is in.

    Parameters
    ----------
    task : int
        MARCHING; or PREPARING or PRESENTING, which convert the state at ``t0`` for steps of ``h`` and take none.
    first : int
        Number of the first step to take.
    n : int
        How many steps.
    every : int
        The state after step k is recorded when k + 1 is a multiple of ``every``.
    t0, h : float
        Time of step 0 and step size (negative: backwards).
    limit : float
        Largest rotation angle allowed in a step (infinite: no guard).
    rows, iterations : array
        Receive the recorded states (of a processed method, turned back), and the largest iteration count since the row
        before.
    N, B, y
        As in ``Workspace``.
    addresses : array
        Of the rest of the workspace, in its order but for the function, which leads (``kernel.jit.addresses_of``).

    ``report[LOADED]`` is the caller's to clear where the state or the loads are not those the last call left.

    Returns
    -------
    int
        Status of the last step taken; ``report[STEPS_DONE]`` says how many were completed. After a failure ``y``
        is inside the failing step: the caller repeats the good steps from its own copy.
    """
    report = numbers_at(addresses, 10)
    p = Workspace(
        N, B, pointer(y), numbers_at(addresses, 2), numbers_at(addresses, 3), loads_at(addresses),
        numbers_at(addresses, 4), integers_at(addresses, 5), integers_at(addresses, 6), numbers_at(addresses, 7),
        numbers_at(addresses, 8), numbers_at(addresses, 9), report, numbers_at(addresses, 11),
    )  # fmt: skip
    if task != MARCHING:
        return convert(task, t0, h, p)
    allowed = limit / abs(h)
    allowed = allowed * allowed
    report[STEPS_DONE] = 0.0
    row = 0
    if squared_speed(N, p.y, p.bodies) > allowed:
        return TOO_LARGE
    for k in range(first, first + n):
        report[ITERATIONS] = 0.0
        report[RESIDUAL] = 0.0
        report[NEXT_TIME] = t0 + (k + 1) * h
        status = step(t0 + k * h, h, p)
        if status != OK:
            return status
        speed = squared_speed(N, p.y, p.bodies)
        if not speed < inf:
            return NOT_FINITE
        if speed > allowed:
            return TOO_LARGE
        report[STEPS_DONE] += 1.0
        report[TOTAL_ITERATIONS] += report[ITERATIONS]
        report[ROW_ITERATIONS] = max(report[ROW_ITERATIONS], report[ITERATIONS])
        if (k + 1) % every == 0:
            for j in range(y.size):
                rows[row, j] = y[j]
            if processed(p):
                status = convert(PRESENTING, report[NEXT_TIME], h, p)
                if status != OK:
                    return status
                for j in range(y.size):
                    y[j], rows[row, j] = rows[row, j], y[j]
                report[LOADED] = 0.0
            iterations[row] = int(report[ROW_ITERATIONS])
            report[ROW_ITERATIONS] = 0.0
            row += 1
    return OK


def sweep(n, h, y, bodies, report, status, iterations):
    """Repeat a flow of one body for many bodies, each with a time of its own and none knowing of another.

    Parameters
    ----------
    n : int
        How often the flow is applied.
    h : array (K,)
        Time of each application.
    y : array (K, 13)
        States, changed in place; where a flow fails, the state of the failure.
    bodies : array (K, 8)
        Masses and principal moments with their inverses.
    report : array
        As in ``Workspace``; its slots of what a step is told are the caller's.
    status, iterations : int array (K,)
        Receive the last status and the number of solver iterations.
    """
    for k in range(h.size):
        p = Workspace(
            1,
            1,
            pointer(y[k]),
            pointer(bodies[k]),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            pointer(report),
            None,
        )
        report[ITERATIONS] = 0.0
        status[k] = OK
        for _ in range(n):
            status[k] = turn(0, h[k], p)
            if status[k] != OK:
                break
        iterations[k] = int(report[ITERATIONS])


def potential_energies(times, rows, bodies, parameters, potential, out):
    """Potential energy of every recorded state."""
    N = bodies.size // CONSTANTS
    for k in range(times.size):
        out[k] = potential(times[k], N, pointer(rows[k]), pointer(bodies), pointer(parameters))


@functools.cache
def loop_for(step_function, converter=None):
    """The compiled time loop around ``step_function(t, h, p) -> status``.

    ``converter`` is None, or the pair (processed, convert) of a family of methods of which some are processed.
    """
    bound = {"step": step_function}
    if converter is not None:
        bound |= {"processed": converter[0], "convert": converter[1]}
    return jit.compile_kernel(jit.bind(march, **bound), MARCH)


@functools.cache
def sweep_of(flow):
    """The compiled ``sweep`` of a flow ``flow(i, h, workspace) -> status``."""
    return jit.compile_kernel(jit.bind(sweep, turn=flow), SWEEP)


@functools.cache
def energy_loop():
    """The compiled loop over recorded states."""
    return jit.compile_kernel(potential_energies, ENERGIES)
