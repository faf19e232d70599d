"""The loops that repeat a step: one source for every method, compiled together with the step bound into it.

``march`` takes steps of one size, ``march_adaptive`` chooses them by an error estimate, ``march_clocked`` lets a method
with a clock of its own set them, ``sweep`` repeats a flow.
"""

from __future__ import annotations

import functools
from math import inf, sqrt

from polhode.kernel import jit
from polhode.kernel.access import get3, get4, put4
from polhode.kernel.jit import integers_at, numbers_at, pointer
from polhode.kernel.signatures import (
    ABSOLUTE,
    ACCEPTED,
    ALL,
    ANGULAR,
    ATTITUDE,
    BEGUN,
    BODY,
    CLOCK,
    CONSTANTS,
    CROSSED,
    CUT,
    ENERGIES,
    ERROR,
    ERROR_BEFORE,
    EVALUATIONS,
    EVENT,
    EVENT_VALUES,
    INVERSE_INERTIA,
    INVERSE_MASS,
    ITERATIONS,
    LARGEST,
    LOAD,
    LOAD_VALUES,
    LOADED,
    LOADS,
    MARCH,
    MARCH_ADAPTIVE,
    MARCH_CLOCKED,
    MARCHING,
    MOMENTUM,
    MUTED,
    NEXT,
    NEXT_TIME,
    NOT_FINITE,
    OF_BODY,
    OK,
    OWN,
    PASSED,
    POSITION,
    PRESENTING,
    REFUSED,
    REJECTED,
    RELATIVE,
    RESIDUAL,
    ROTATION,
    ROW_ITERATIONS,
    ROWS,
    SAMPLE,
    SILENT,
    SMALLEST,
    STEPS_DONE,
    SWEEP,
    TAKEN,
    TIME,
    TOO_LARGE,
    TOO_SMALL,
    TOTAL_ITERATIONS,
    TRYING,
    Workspace,
)
from polhode.kernel.solve import norm3

HUGE = 1e200
"""A squared speed or momentum beyond this counts as infinite: what is computed from it would overflow."""


SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
"""Of a new step: the part taken of what the error would allow, and the limits of its ratio to the old one."""
FAILED = 0.25
"""Ratio of a new step to one that could not be completed."""
PRESENT, PAST = 0.85, 0.2
"""Exponents of the errors of a step and of the one before, in units of 1/(q + 1) [hairer1996, IV.2]."""
STRETCH = 1.0 + 1e-9
"""A step may be longer by this factor to end at the end."""
RESOLVED = 16.0 * 2.0**-52
"""Smallest step relative to the time."""


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


@jit.inlined
def dense(begin, theta, t, h, out, p):  # replaced by bind
    """State at ``t + theta h`` of the step just taken into ``out``; this stand-in is for methods without."""
    return OK


loads_at = jit.function_at(LOADS)
event_at = jit.function_at(EVENT)


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


@jit.inlined
def workspace_at(N, B, y, addresses):
    """The workspace from its numbers, the state and the addresses of the rest; ``report`` tells S."""
    report = numbers_at(addresses, 10)
    return Workspace(
        N, B, int(report[OWN]), pointer(y), numbers_at(addresses, 2), numbers_at(addresses, 3), loads_at(addresses),
        numbers_at(addresses, 4), integers_at(addresses, 5), integers_at(addresses, 6), numbers_at(addresses, 7),
        numbers_at(addresses, 8), numbers_at(addresses, 9), report, numbers_at(addresses, 11),
    )  # fmt: skip


def crossings(first, last, t, event, table, sides, p):
    """How many of the events in this range changed sides in the step that led to the state at time ``t``.

    ``sides`` holds the sides of all events before that step (see SILENT), then receives their values after it. Only
    SILENT ones take a side here: what the sides are after a crossing is the caller's to say.
    """
    count = sides.size // 2
    found = 0
    for k in range(first, last):
        value = event(k, t, p.N, p.y, p.bodies, p.parameters, table)
        sides[count + k] = value
        side = sides[k]
        if side == SILENT:
            if value != 0.0:
                sides[k] = 1.0 if value > 0.0 else -1.0
        elif side == 0.0:
            if value != 0.0:
                found += 1
        elif side != MUTED and value * side < 0.0:
            found += 1
    return found


crossed = jit.helper(crossings)


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
    watch,
    sides,
    kept,
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
    watch : array
        Addresses of the EVENT role and its table.
    sides : array (2 E)
        Of the E events: sides and values, see ``crossings``. Empty where none is watched.
    kept : array (2 (13 N + extra))
        With events: receives the state before the step; and memory.

    ``report[LOADED]`` is the caller's to clear where the state or the loads are not those the last call left.

    Returns
    -------
    int
        Status of the last step taken, CROSSED after a step in which some event changed sides, with the sides as before
        it; ``report[STEPS_DONE]`` says how many were completed. After a failure ``y`` is inside
        the failing step: the caller repeats the good steps from its own copy.
    """
    p = workspace_at(N, B, y, addresses)
    report = p.report
    if task != MARCHING:
        return convert(task, t0, h, p)
    allowed = limit / abs(h)
    allowed = allowed * allowed
    report[STEPS_DONE] = 0.0
    row = 0
    events = sides.size // 2
    event, table = event_at(watch), numbers_at(watch, 2)
    if squared_speed(N, p.y, p.bodies) > allowed:
        return TOO_LARGE
    for k in range(first, first + n):
        report[ITERATIONS] = 0.0
        report[RESIDUAL] = 0.0
        report[NEXT_TIME] = t0 + (k + 1) * h
        if events > 0:
            for j in range(y.size):
                kept[j] = y[j]
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
        if events > 0:
            t = report[NEXT_TIME]
            if processed(p):
                for j in range(y.size):
                    kept[y.size + j] = y[j]
                status = convert(PRESENTING, t, h, p)
                found = crossed(0, events, t, event, table, sides, p)
                for j in range(y.size):
                    y[j] = kept[y.size + j]
                report[LOADED] = 0.0
                if status != OK:
                    return status
            else:
                found = crossed(0, events, t, event, table, sides, p)
            if found > 0:
                return CROSSED
    return OK


@jit.inlined
def rates(k, y, load, p):
    """Of block k: velocity and acceleration, or angular velocity and acceleration in the body frame."""
    i = p.blocks[2 * k]
    if p.blocks[2 * k + 1] == ROTATION:
        J, m, T = CONSTANTS * i + INVERSE_INERTIA, get3(y, BODY * i + ANGULAR), get3(load, LOAD * i + 3)
        w = (p.bodies[J] * m[0], p.bodies[J + 1] * m[1], p.bodies[J + 2] * m[2])
        return w, (
            p.bodies[J] * (T[0] + m[1] * w[2] - m[2] * w[1]),
            p.bodies[J + 1] * (T[1] + m[2] * w[0] - m[0] * w[2]),
            p.bodies[J + 2] * (T[2] + m[0] * w[1] - m[1] * w[0]),
        )
    light, P, F = p.bodies[CONSTANTS * i + INVERSE_MASS], get3(y, BODY * i + MOMENTUM), get3(load, LOAD * i)
    return (light * P[0], light * P[1], light * P[2]), (light * F[0], light * F[1], light * F[2])


@jit.inlined
def pushed(y, at, h, x, g):
    """The three numbers ``y[at:]`` plus h x / g, where g is not 0."""
    for c in range(3):
        if g[c] != 0.0:
            y[at + c] += h * x[c] / g[c]


def euler_step(h, p):
    """Put into ``trial`` the state one step of Euler's method on; ``load`` holds the loads."""
    for k in range(BODY * p.N):
        p.trial[k] = p.y[k]
    for k in range(p.B):
        i = p.blocks[2 * k]
        at, constants = BODY * i, CONSTANTS * i
        v, a = rates(k, p.y, p.load, p)
        if p.blocks[2 * k + 1] == ROTATION:
            pushed(p.trial, at + ANGULAR, h, a, get3(p.bodies, constants + INVERSE_INERTIA))
            w, x, y, z = get4(p.y, at + ATTITUDE)
            b = 0.5 * h
            w, x, y, z = (
                w - b * (x * v[0] + y * v[1] + z * v[2]),
                x + b * (w * v[0] + y * v[2] - z * v[1]),
                y + b * (w * v[1] + z * v[0] - x * v[2]),
                z + b * (w * v[2] + x * v[1] - y * v[0]),
            )
            s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            put4(p.trial, at + ATTITUDE, (s * w, s * x, s * y, s * z))
        else:
            pushed(p.trial, at + POSITION, h, v, (1.0, 1.0, 1.0))
            pushed(p.trial, at + MOMENTUM, h, get3(p.load, LOAD * i), (1.0, 1.0, 1.0))


def first_step(q, t, direction, longest, spare, p):
    """Size of the first step, 0 where loads are not finite; ``spare`` is memory for loads.

    As in [hairer1993, II.4], with time in units of that in which the motion changes: an Euler step of a hundredth of it
    tells a second derivative, and the size is that at which a hundredth of the tolerance would be reached. The error of
    a step is proportional to h^q.
    """
    relative, absolute = p.report[RELATIVE], p.report[ABSOLUTE]
    p.loads(ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    p.report[EVALUATIONS] += 1.0
    p.report[LOADED] = 0.0
    pace = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        speed, change = norm3(v), norm3(a)
        if not speed + change < inf:
            return 0.0
        size = 1.0
        if p.blocks[2 * k + 1] != ROTATION:
            size = norm3(get3(p.y, BODY * p.blocks[2 * k] + POSITION))
            if change > 0.0:
                size += speed * speed / change
        if size > 0.0:
            pace = max(pace, speed / size + sqrt(change / size))
    if pace * longest < 0.01:
        return longest
    h = 0.01 / pace
    advance(direction * h, p)
    p.loads(ALL, t + direction * h, p.N, p.trial, p.bodies, p.parameters, spare)
    p.report[EVALUATIONS] += 1.0
    worst = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        w, b = rates(k, p.trial, spare, p)
        allowed = relative
        if p.blocks[2 * k + 1] != ROTATION:
            allowed = absolute + relative * norm3(get3(p.y, BODY * p.blocks[2 * k] + POSITION))
        bend = norm3((w[0] - v[0], w[1] - v[1], w[2] - v[2])) / (h * pace)
        jerk = norm3((b[0] - a[0], b[1] - a[1], b[2] - a[2])) / (h * pace)
        worst = max(worst, max(norm3(v), bend) / (pace * allowed))
        worst = max(worst, max(norm3(a), jerk) / (pace * (absolute + relative * norm3(v))))
    if not worst < inf:
        return 0.0
    return min(100.0 * h, (0.01 / worst) ** (1.0 / q) / pace, longest)


advance = jit.helper(euler_step)
choose = jit.helper(first_step)


@jit.inlined
def shorter(error, q, again):
    """Ratio of the next step to one rejected with this error over the tolerance; ``again``: not for the first time."""
    return max(SHRINK, SAFETY * error ** (-1.0 / q))


@jit.inlined
def longer(error, q, before, again):
    """Ratio of the next step to one accepted with this error, ``before`` being that of the step before it."""
    ratio = SAFETY * max(error, 1e-10) ** (-PRESENT / q) * before ** (PAST / q)
    return min(max(ratio, SHRINK), 1.0 if again else GROW)


@jit.inlined
def lands(size, left):
    """Whether a step of this size is made to end at the stop, and whether one is cut short for it, otherwise."""
    landing = size * STRETCH >= left
    return landing, landing or 2.0 * size > left  # two equal steps rather than one and a remainder


# ------------------------------------------------------------------ the rules of ode45 [shampine1997]
ODE45_SAFETY, ODE45_SHRINK, ODE45_GROW, ODE45_STRETCH = 0.8, 0.1, 5.0, 1.1


def ode45_first_step(q, t, direction, longest, spare, p):
    """The longest step, or the one that a rate of change allows: 0.8 rtol^(1/q) times size over rate."""
    relative = p.report[RELATIVE]
    least = p.report[ABSOLUTE] / relative
    p.loads(ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    p.report[EVALUATIONS] += 1.0
    p.report[LOADED] = 0.0
    fastest = 0.0
    for k in range(p.B):
        v, a = rates(k, p.y, p.load, p)
        turns = p.blocks[2 * k + 1] == ROTATION
        place = get3(p.y, BODY * p.blocks[2 * k] + POSITION)
        for c in range(3):
            fastest = max(fastest, abs(v[c]) / max(1.0 if turns else abs(place[c]), least))
            fastest = max(fastest, abs(a[c]) / max(abs(v[c]), least))
            if not abs(v[c]) + abs(a[c]) < inf:
                return 0.0
    allowed = ODE45_SAFETY * relative ** (1.0 / q)
    return allowed / fastest if fastest * longest > allowed else longest


@jit.inlined
def ode45_shorter(error, q, again):
    """Half of a step rejected for the second time, else what its error allows."""
    return 0.5 if again else max(ODE45_SHRINK, ODE45_SAFETY * error ** (-1.0 / q))


@jit.inlined
def ode45_longer(error, q, before, again):
    """What the error allows; a step that was rejected before is repeated as it is."""
    return 1.0 if again else min(ODE45_GROW, ODE45_SAFETY * max(error, 1e-100) ** (-1.0 / q))


@jit.inlined
def ode45_lands(size, left):
    """A step that would leave less than a tenth of itself ends at the stop."""
    landing = ODE45_STRETCH * size >= left
    return landing, landing


CONTROLLERS = {
    "": {},
    "ode45": {"choose": jit.helper(ode45_first_step), "shorter": ode45_shorter, "longer": ode45_longer,
              "lands": ode45_lands},
}  # fmt: skip
"""What is bound into ``march_adaptive`` for each way to choose steps."""


@jit.inlined
def write_row(t, course, y, report, times, sizes, rows, iterations):
    """Record the state as the next row."""
    row = int(course[ROWS])
    times[row], sizes[row], iterations[row] = t, course[TAKEN], int(report[ROW_ITERATIONS])
    for j in range(y.size):
        rows[row, j] = y[j]
    report[ROW_ITERATIONS] = 0.0
    course[ROWS] += 1.0


def march_adaptive(
    attempts,
    every,
    q,
    limit,
    longest,
    shortest,
    end,
    samples,
    N,
    B,
    y,
    addresses,
    course,
    kept,
    times,
    sizes,
    rows,
    iterations,
    cuts,
    watch,
    sides,
):
    """Try steps and keep those whose estimated error is within the tolerance, until the end or ``attempts`` are used.

    Where to go on is all in ``course``, ``y`` and the workspace: a run cut into calls has the numbers of one in one
    piece.

    Parameters
    ----------
    attempts : int
        Most steps to try.
    every : int
        The state is recorded after accepted steps whose number is a multiple of ``every``; with 0, at the samples.
    q : int
        The error of a step is proportional to h^q.
    limit : float
        Largest rotation angle allowed in a step (infinite: no guard).
    longest, shortest : float
        Largest step, and that at which rejections end the run.
    end : float
        Time at which a step must end exactly, and the call returns.
    samples : array
        Times of rows, in the order of the run.
    course : array (COURSE,)
        See ``polhode.kernel.signatures``.
    kept : array
        Memory for the state before a step, which is put back when the step is rejected.
    times, sizes, rows, iterations : array
        Receive the recorded states with their times, the size of the step each lies in or ends, and the largest
        iteration count since the row before.
    cuts : int
        A step in which one of the first so many events changes sides is not taken.
    N, B, y, addresses, watch, sides
        As for ``march``.

    Returns
    -------
    int
        Status of the last step tried where no smaller one is left, TOO_SMALL where only the tolerance rejected it;
        the state is the one before it. The status of dense output where that failed. CROSSED after a step in which an
        event changed sides, ``kept`` being the state before it; CUT where it was not taken, ``report[NEXT_TIME]`` being
        its end. Else OK.
    """
    p = workspace_at(N, B, y, addresses)
    report = p.report
    before = pointer(kept)
    events = sides.size // 2
    event, table = event_at(watch), numbers_at(watch, 2)
    direction = 1.0 if end >= course[TIME] else -1.0
    course[ROWS] = 0.0
    if every == 0:
        while course[SAMPLE] < samples.size and (samples[int(course[SAMPLE])] - course[TIME]) * direction <= 0.0:
            write_row(course[TIME], course, y, report, times, sizes, rows, iterations)
            course[SAMPLE] += 1.0
    if course[NEXT] == 0.0 and course[TIME] != end:
        span = min(longest, abs(end - course[TIME]))
        course[NEXT] = direction * choose(q, course[TIME], direction, span, before, p)
        if course[NEXT] == 0.0:
            return NOT_FINITE
    for _attempt in range(attempts):
        t = course[TIME]
        if t == end:
            return OK
        proposed = abs(course[NEXT])
        size = min(proposed, longest)
        speed = sqrt(squared_speed(N, p.y, p.bodies))
        if not speed < inf:
            return NOT_FINITE
        if speed * size > limit:
            size = SAFETY * limit / speed
        left = abs(end - t)
        landing, cut = lands(size, left)
        after = end if landing else t + direction * (0.5 * left if cut else size)
        h = after - t
        if not h * direction > 0.0:
            return TOO_SMALL
        for j in range(y.size):
            kept[j] = y[j]
        course[TRYING] = 1.0
        report[ITERATIONS] = 0.0
        report[RESIDUAL] = 0.0
        report[NEXT_TIME] = after
        status = step(t, h, p)
        report[TOTAL_ITERATIONS] += report[ITERATIONS]
        error = report[ERROR]
        if status == OK:
            speed = sqrt(squared_speed(N, p.y, p.bodies))
            if not speed + error < inf:
                status = NOT_FINITE
            elif speed * abs(h) > limit:
                status = TOO_LARGE
        if status != OK or error > 1.0:
            for j in range(y.size):
                y[j] = kept[j]
            course[TRYING] = 0.0
            report[LOADED] = 0.0
            course[REJECTED] += 1.0
            again = course[REFUSED] != 0.0
            course[REFUSED] = 1.0
            course[NEXT] = h * (FAILED if status != OK else shorter(error, q, again))
            if abs(course[NEXT]) < max(shortest, RESOLVED * max(abs(t), abs(after))):
                return TOO_SMALL if status == OK else status
            continue
        found = 0
        if events > 0:
            if crossed(0, cuts, after, event, table, sides, p) > 0:
                for j in range(y.size):
                    y[j] = kept[j]
                course[TRYING] = 0.0
                report[LOADED] = 0.0
                return CUT
            found = crossed(cuts, events, after, event, table, sides, p)
        ratio = longer(error, q, course[ERROR_BEFORE], course[REFUSED] != 0.0)
        if cut:  # for the end, not for the error, which says little
            course[NEXT] = direction * max(abs(h) * ratio, proposed)
        else:
            course[NEXT] = h * ratio
            course[ERROR_BEFORE] = max(error, 1e-4)
        course[BEGUN] = t
        course[TIME] = after
        course[TAKEN] = abs(after - t)
        course[REFUSED] = 0.0
        course[SMALLEST] = min(course[SMALLEST], course[TAKEN])
        course[LARGEST] = max(course[LARGEST], course[TAKEN])
        course[ACCEPTED] += 1.0
        course[TRYING] = 0.0
        report[ROW_ITERATIONS] = max(report[ROW_ITERATIONS], report[ITERATIONS])
        if every > 0 and int(course[ACCEPTED]) % every == 0:
            write_row(after, course, y, report, times, sizes, rows, iterations)
        while (
            every == 0 and course[SAMPLE] < samples.size and (samples[int(course[SAMPLE])] - after) * direction <= 0.0
        ):
            at = samples[int(course[SAMPLE])]
            row = int(course[ROWS])
            write_row(at, course, y, report, times, sizes, rows, iterations)
            if at != after:
                status = dense(before, min(max((at - t) / h, 0.0), 1.0), t, h, pointer(rows[row]), p)
                report[LOADED] = 0.0
                if status != OK:
                    course[ROWS] -= 1.0
                    return status
            course[SAMPLE] += 1.0
        if found > 0:
            return CROSSED
    return OK


def march_clocked(
    first,
    n,
    every,
    h,
    end,
    limit,
    N,
    B,
    y,
    addresses,
    kept,
    extremes,
    times,
    sizes,
    rows,
    iterations,
):
    """Take ``n`` steps of nominal size ``h`` of a method whose state holds the time, or fewer where one passes ``end``.

    Parameters
    ----------
    first, n, every
        As for ``march``.
    h : float
        Nominal step, negative backwards.
    end : float
        The loop returns PASSED after a step that reaches or passes this time; that step is neither counted nor
        recorded.
    limit : float
        Largest rotation angle allowed in a step (infinite: no guard).
    N, B, y, addresses
        As for ``march``.
    kept : array
        Receives the state before the step taken last, which after a failure is the last good one.
    extremes : array (2,)
        Sizes of the smallest and the largest step so far.
    times, sizes, rows, iterations : array
        Receive the recorded states with their times, the sizes of the steps that end there, and the largest iteration
        count since the row before.

    Returns
    -------
    int
        Status of the last step taken, or PASSED; ``report[STEPS_DONE]`` says how many were completed before.
    """
    p = workspace_at(N, B, y, addresses)
    report = p.report
    clock = int(report[CLOCK])
    report[STEPS_DONE] = 0.0
    row = 0
    before = squared_speed(N, p.y, p.bodies)
    for k in range(first, first + n):
        t = y[clock]
        for j in range(y.size):
            kept[j] = y[j]
        report[ITERATIONS] = 0.0
        report[RESIDUAL] = 0.0
        status = step(t, h, p)
        if status != OK:
            return status
        speed = squared_speed(N, p.y, p.bodies)
        taken = abs(y[clock] - t)
        if not (speed < inf and taken < inf):
            return NOT_FINITE
        report[TOTAL_ITERATIONS] += report[ITERATIONS]
        if (y[clock] - end) * h >= 0.0:
            return PASSED
        if max(before, speed) * taken * taken > limit * limit:
            return TOO_LARGE
        before = speed
        extremes[0], extremes[1] = min(extremes[0], taken), max(extremes[1], taken)
        report[STEPS_DONE] += 1.0
        report[ROW_ITERATIONS] = max(report[ROW_ITERATIONS], report[ITERATIONS])
        if (k + 1) % every == 0:
            times[row], sizes[row], iterations[row] = y[clock], taken, int(report[ROW_ITERATIONS])
            for j in range(y.size):
                rows[row, j] = y[j]
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
            0,
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
    N = bodies.size // OF_BODY
    for k in range(times.size):
        out[k] = potential(times[k], N, pointer(rows[k]), pointer(bodies), pointer(parameters))


def load_values(N, times, rows, addresses, out):
    """All loads at several states of N bodies; ``addresses`` as for ``march``."""
    loads, bodies, parameters = loads_at(addresses), numbers_at(addresses, 2), numbers_at(addresses, 3)
    for k in range(times.size):
        loads(ALL, times[k], N, pointer(rows[k]), bodies, parameters, pointer(out[k]))


def event_values(event, t, y, bodies, parameters, table, out):
    """Values of all events at a state."""
    N = bodies.size // OF_BODY
    for k in range(out.size):
        out[k] = event(k, t, N, pointer(y), pointer(bodies), pointer(parameters), pointer(table))


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
def adaptive_loop_for(step_function, dense_function=None, controller=""):
    """The compiled loop of chosen steps around ``step_function(t, h, p) -> status``, which estimates its error.

    ``dense_function(begin, theta, t, h, out, p) -> status`` is its dense output, where it has one; ``controller`` the
    name of the rules by which steps are chosen.
    """
    bound = {"step": step_function, **CONTROLLERS[controller]}
    if dense_function is not None:
        bound["dense"] = dense_function
    return jit.compile_kernel(jit.bind(march_adaptive, **bound), MARCH_ADAPTIVE)


@functools.cache
def clocked_loop_for(step_function):
    """The compiled loop around the step of a method with a clock of its own."""
    return jit.compile_kernel(jit.bind(march_clocked, step=step_function), MARCH_CLOCKED)


@functools.cache
def sweep_of(flow):
    """The compiled ``sweep`` of a flow ``flow(i, h, workspace) -> status``."""
    return jit.compile_kernel(jit.bind(sweep, turn=flow), SWEEP)


@functools.cache
def energy_loop():
    """The compiled loop over recorded states."""
    return jit.compile_kernel(potential_energies, ENERGIES)


@functools.cache
def load_loop():
    """The compiled loop over states whose loads are asked for."""
    return jit.compile_kernel(load_values, LOAD_VALUES)


@functools.cache
def event_loop():
    """The compiled loop over the events at one state."""
    return jit.compile_kernel(event_values, EVENT_VALUES)
