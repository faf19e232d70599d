"""Time loops: templates into which the step of a method is bound, compiled once for each step function.

``march`` takes steps of one size, ``march_adaptive`` chooses the size by an error estimate,
``march_time_transformed`` runs methods with a time transformation, ``sweep`` repeats a flow.
"""

from __future__ import annotations

import functools
from math import inf, sqrt

from polhode.kernel import jit, layout as L
from polhode.kernel.jit import integers_at, numbers_at, pointer
from polhode.kernel.sampling import held, next_sample, next_sample_or_closing, sample, sample_valves, show_set
from polhode.kernel.signatures import (
    DENSE,
    EVENT,
    EVENT_VALUES,
    LOADS,
    MARCH,
    MARCH_ADAPTIVE,
    MARCH_TIME_TRANSFORMED,
    SWEEP,
    Workspace,
)
from polhode.kernel.step_size import CONTROLLERS, SAFETY

HUGE = 1e200
"""Squared speeds and momenta beyond this count as infinite, since further computation would overflow."""
FAILED = 0.25
"""New step over old step after a step that could not be completed."""
RESOLVED = 16.0 * 2.0**-52
"""Smallest step relative to the time."""

step = jit.hole("step(t, h, p) -> status", "The step of the method.")
SAMPLES = jit.hole("SAMPLES", "Whether the system has controllers.", default=False)
rotate_free = jit.hole("rotate_free(i, h, p) -> status", "The flow that is repeated.")
choose = jit.hole("choose(q, t, direction, longest, spare, p) -> float", "The size of the first step.")
shorter = jit.hole("shorter(error, q, again) -> float", "The next step over the rejected one.")
longer = jit.hole("longer(error, q, before, again) -> float", "The next step over the accepted one.")
lands = jit.hole("lands(size, left) -> (bool, bool)", "Whether a step is changed to end at the end.")


@jit.replaceable
@jit.inlined
def processed(p):
    """Whether the method is processed, that is, steps a state converted by ``convert``; by default no."""
    return False


@jit.replaceable
@jit.inlined
def convert(task, t, h, p):
    """Convert the state to the one a processed method works on (PREPARING), or back (PRESENTING)."""
    return L.OK


@jit.replaceable
@jit.inlined
def dense(begin, theta, t, h, out, p):
    """Dense output: write the state at ``t + theta h`` of the last step to ``out``; by default nothing."""
    return L.OK


@jit.replaceable
@jit.inlined
def held_step(t, h, row, recorded, over, p):
    """The step of a system with controllers, see ``sampling``; by default there is none."""
    return L.OK


@jit.replaceable
@jit.inlined
def set_states(t, p):
    """Set states whose sampling time it is; by default nothing."""
    return L.OK


@jit.replaceable
@jit.inlined
def next_cut(t, end, p):
    """The time at which a step from t must end at the latest: the end of the run, or before."""
    return end


loads_at = jit.function_at(LOADS)
event_at = jit.function_at(EVENT)


@jit.inlined
def squared_speed(N, S, y, bodies):
    """Largest squared angular velocity of all bodies; infinite where a momentum or an attitude is huge or nan, or one
    of the S auxiliary variables not finite."""
    largest = 0.0
    for k in range(L.BODY * N, L.BODY * N + S):
        if not abs(y[k]) < inf:
            return inf
    for i in range(N):
        a, b = L.BODY * i, L.CONSTANTS * i
        x = y[a + L.ANGULAR] * bodies[b + L.INVERSE_INERTIA]
        z = y[a + L.ANGULAR + 1] * bodies[b + L.INVERSE_INERTIA + 1]
        w = y[a + L.ANGULAR + 2] * bodies[b + L.INVERSE_INERTIA + 2]
        s = x * x + z * z + w * w
        q = y[a + L.MOMENTUM] + y[a + L.MOMENTUM + 1] + y[a + L.MOMENTUM + 2]
        e = y[a + L.ATTITUDE] + y[a + L.ATTITUDE + 1] + y[a + L.ATTITUDE + 2] + y[a + L.ATTITUDE + 3]
        if not (s + q * q + e * e < HUGE):
            return inf
        largest = max(largest, s)
    return largest


@jit.replaceable
@jit.inlined
def workspace_at(N, B, y, addresses):
    """The workspace from N, B, the state and the addresses of the rest; S is read from ``step_info``."""
    step_info = numbers_at(addresses, 10)
    return Workspace(
        N, B, int(step_info[L.AUXILIARY]), pointer(y), numbers_at(addresses, 2), numbers_at(addresses, 3),
        loads_at(addresses),
        numbers_at(addresses, 4), integers_at(addresses, 5), integers_at(addresses, 6), numbers_at(addresses, 7),
        numbers_at(addresses, 8), numbers_at(addresses, 9), step_info, numbers_at(addresses, 11),
    )  # fmt: skip


def crossings(first, last, t, event, event_numbers, sides, p):
    """How many event functions ``first`` to ``last - 1`` changed sign in the step that led to the state at time ``t``.

    ``sides`` holds the sides of all events before that step (see ``layout``), then their values, which are written
    here. Only EVENT_UNARMED sides are updated here; after a crossing the caller updates the rest."""
    count = sides.size // 2
    changes = 0
    for k in range(first, last):
        value = event(k, t, p.N, p.y, p.bodies, p.parameters, event_numbers)
        sides[count + k] = value
        side = sides[k]
        if side == L.EVENT_UNARMED:
            if value != 0.0:
                sides[k] = 1.0 if value > 0.0 else -1.0
        elif side == 0.0:
            if value != 0.0:
                changes += 1
        elif side != L.EVENT_DISABLED and value * side < 0.0:
            changes += 1
    return changes


crossed = jit.helper(crossings)


@jit.inlined
def ground_of(sides):
    """Square of the distance from the origin at which the ground lies; 0 for none. It stands behind all sides."""
    return sides[sides.size - 1] if sides.size % 2 == 1 else 0.0


@jit.inlined
def below(ground, y):
    """Whether the first body is below the ground."""
    r1, r2, r3 = y[L.POSITION], y[L.POSITION + 1], y[L.POSITION + 2]
    return r1 * r1 + r2 * r2 + r3 * r3 < ground


def march(task, first, n, every, t0, h, limit, N, B, y, addresses, rows, iterations, watch, sides, kept):
    """Take ``n`` steps of size ``h``; step k starts at ``t0 + k h``, however the run is cut into calls.

    ``task`` is MARCHING; PREPARING or PRESENTING, which only convert the state at ``t0`` for steps of size ``h``; or
    SHOWING, which only sets states in ``y`` at ``t0``, with ``n`` = 0. Steps are numbered from ``first``; ``rows``
    receives the state (of a processed method converted back) after each multiple of ``every``, ``iterations`` the most
    of a step since the row before. ``limit`` is the largest rotation (rad) of a body in a step, infinite without a
    guard. N, B, y are as in ``Workspace``, ``addresses`` as of ``jit.addresses_of``; ``watch`` has those of the EVENT
    function and its parameters. ``sides`` (2 E or 2 E + 1) holds sides, then values of the E event functions, see
    ``crossings``, and last the number of ``ground_of``; ``kept`` (2 (13 N + extra)) then receives the state before the
    last step, and scratch.

    The caller sets ``step_info[LOADED]`` to 0 if it changed the state or the loads since the last call. Returns the
    status of the last step; CROSSED after a step in which an event function changed sign, ``sides`` being those before
    it. ``step_info[STEPS_DONE]`` is the number of completed steps. After a failure, and with BELOW after a step that
    led below the ground, ``y`` is a state within or behind the last step: the caller repeats the completed ones from
    its own copy."""
    p = workspace_at(N, B, y, addresses)
    step_info = p.step_info
    if task == L.PREPARING or task == L.PRESENTING:
        return convert(task, t0, h, p)
    allowed = limit / abs(h)
    allowed = allowed * allowed
    step_info[L.STEPS_DONE] = 0.0
    row, recorded, changes = 0, task == L.SHOWING, 0
    events = sides.size // 2
    event, event_numbers = event_at(watch), numbers_at(watch, 2)
    ground = ground_of(sides)
    if task == L.MARCHING and squared_speed(N, p.S, p.y, p.bodies) > allowed:
        return L.TOO_LARGE
    for k in range(first, first + n + int(SAMPLES)):
        over = SAMPLES and (changes > 0 or k == first + n)
        if not over:
            step_info[L.ITERATIONS] = 0.0
            step_info[L.RESIDUAL] = 0.0
            step_info[L.NEXT_TIME] = t0 + (k + 1) * h
            if events > 0:
                for j in range(y.size):
                    kept[j] = y[j]
        if SAMPLES:
            status = held_step(t0 + k * h, h, pointer(rows[row - 1]) if row > 0 else p.y, recorded, over, p)
        else:
            status = step(t0 + k * h, h, p)
        if status != L.OK:
            return status
        if over:
            break
        recorded = (k + 1) % every == 0
        speed = squared_speed(N, p.S, p.y, p.bodies)
        if not speed < inf:
            return L.NOT_FINITE
        if speed > allowed:
            return L.TOO_LARGE
        if ground > 0.0 and below(ground, p.y):
            return L.BELOW
        step_info[L.STEPS_DONE] += 1.0
        step_info[L.TOTAL_ITERATIONS] += step_info[L.ITERATIONS]
        step_info[L.ROW_ITERATIONS] = max(step_info[L.ROW_ITERATIONS], step_info[L.ITERATIONS])
        if recorded:
            for j in range(y.size):
                rows[row, j] = y[j]
            if processed(p):
                status = convert(L.PRESENTING, step_info[L.NEXT_TIME], h, p)
                if status != L.OK:
                    return status
                for j in range(y.size):
                    y[j], rows[row, j] = rows[row, j], y[j]
                step_info[L.LOADED] = 0.0
            iterations[row] = int(step_info[L.ROW_ITERATIONS])
            step_info[L.ROW_ITERATIONS] = 0.0
            row += 1
        if events > 0:
            t = step_info[L.NEXT_TIME]
            if processed(p):
                for j in range(y.size):
                    kept[y.size + j] = y[j]
                status = convert(L.PRESENTING, t, h, p)
                changes = crossed(0, events, t, event, event_numbers, sides, p)
                for j in range(y.size):
                    y[j] = kept[y.size + j]
                step_info[L.LOADED] = 0.0
                if status != L.OK:
                    return status
            else:
                changes = crossed(0, events, t, event, event_numbers, sides, p)
        if changes > 0 and not SAMPLES:
            break
    return L.CROSSED if changes > 0 else L.OK


@jit.inlined
def write_row(t, controller_state, y, step_info, times, sizes, rows, iterations):
    """Record the state as the next row."""
    row = int(controller_state[L.ROWS])
    times[row], sizes[row], iterations[row] = t, controller_state[L.TAKEN], int(step_info[L.ROW_ITERATIONS])
    for j in range(y.size):
        rows[row, j] = y[j]
    step_info[L.ROW_ITERATIONS] = 0.0
    controller_state[L.ROWS] += 1.0


def march_adaptive(
    attempts, every, q, limit, longest, shortest, end, samples, N, B, y, addresses, controller_state, kept, times,
    sizes, rows, iterations, cuts, watch, sides,
):  # fmt: skip
    """Take steps of chosen size whose estimated error is within the tolerance, to ``end`` or up to ``attempts`` trials.

    ``controller_state`` (see ``layout``), ``y`` and the workspace hold all that the next call needs: results do not
    depend on how a run is cut into calls. With -1 ``attempts`` states are set in ``y`` alone. The state is recorded
    after accepted steps whose number is a multiple of ``every``; with 0, at ``samples``, times in the direction of the
    run. The error of a step is proportional to h^q; steps are at most ``longest``, and one rejected below ``shortest``
    ends the run. ``kept`` receives the state before a step; ``times``, ``sizes``, ``rows``, ``iterations`` the recorded
    states, with the size of the step that contains or ends at each. A step in which one of the first ``cuts`` event
    functions changes sign is undone. All others are as for ``march``.

    Returns OK; the status of a failed step that may not be made smaller, or TOO_SMALL where only the tolerance rejected
    it, with the state before it; the status of dense output that failed; CROSSED after a step in which an event
    function changed sign, ``kept`` being the state before it; CUT where that step was undone, ``step_info[NEXT_TIME]``
    being its end; BELOW where a step led below the ground."""
    p = workspace_at(N, B, y, addresses)
    step_info = p.step_info
    before = pointer(kept)
    events = sides.size // 2
    event, event_numbers = event_at(watch), numbers_at(watch, 2)
    ground = ground_of(sides)
    direction = 1.0 if end >= controller_state[L.TIME] else -1.0
    controller_state[L.ROWS] = 0.0
    if every == 0:
        while (
            controller_state[L.SAMPLE] < samples.size
            and (samples[int(controller_state[L.SAMPLE])] - controller_state[L.TIME]) * direction <= 0.0
        ):
            write_row(controller_state[L.TIME], controller_state, y, step_info, times, sizes, rows, iterations)
            controller_state[L.SAMPLE] += 1.0
    if controller_state[L.NEXT] == 0.0 and controller_state[L.TIME] != end:
        span = min(longest, abs(end - controller_state[L.TIME]))
        controller_state[L.NEXT] = direction * choose(q, controller_state[L.TIME], direction, span, before, p)
        if controller_state[L.NEXT] == 0.0:
            return L.NOT_FINITE
    speed, changes = sqrt(squared_speed(N, p.S, p.y, p.bodies)), 0
    for attempt in range(max(attempts, 0) + 1):
        t = controller_state[L.TIME]
        over = changes > 0 or t == end or attempt >= attempts
        row = int(controller_state[L.ROWS]) - 1
        recorded = row >= 0 and times[row] == t
        if controller_state[L.SAMPLED] != t and (recorded or not over or attempts < 0):
            status = set_states(t, p)
            if status != L.OK:
                return status
            if recorded:
                show_set(N, p.S, p.y, pointer(rows[row]), over)
            if not over:
                controller_state[L.SAMPLED] = t
        if over:
            break
        proposed = abs(controller_state[L.NEXT])
        size = min(proposed, longest)
        if not speed < inf:
            return L.NOT_FINITE
        if speed * size > limit:
            size = SAFETY * limit / speed
        until = next_cut(t, end, p)
        left = abs(until - t)
        landing, cut = lands(size, left)
        after = until if landing else t + direction * (0.5 * left if cut else size)
        h = after - t
        if not h * direction > 0.0:
            return L.TOO_SMALL
        for j in range(y.size):
            kept[j] = y[j]
        controller_state[L.TRYING] = 1.0
        step_info[L.ITERATIONS] = 0.0
        step_info[L.RESIDUAL] = 0.0
        step_info[L.NEXT_TIME] = after
        status = step(t, h, p)
        step_info[L.TOTAL_ITERATIONS] += step_info[L.ITERATIONS]
        error, new_speed = step_info[L.ERROR], speed
        if status == L.OK:
            after = step_info[L.NEXT_TIME]  # where the step says so, before what was asked for
            h = after - t
            new_speed = sqrt(squared_speed(N, p.S, p.y, p.bodies))
            if not new_speed + error < inf:
                status = L.NOT_FINITE
            elif new_speed * abs(h) > limit:
                status = L.TOO_LARGE
        if status != L.OK or error > 1.0:
            for j in range(y.size):
                y[j] = kept[j]
            controller_state[L.TRYING] = 0.0
            step_info[L.LOADED] = 0.0
            controller_state[L.REJECTED] += 1.0
            if status == L.TOO_SMALL:
                return status
            again = controller_state[L.REFUSED] != 0.0
            controller_state[L.REFUSED] = 1.0
            controller_state[L.NEXT] = h * (FAILED if status != L.OK else shorter(error, q, again))
            if abs(controller_state[L.NEXT]) < max(shortest, RESOLVED * max(abs(t), abs(after))):
                return L.TOO_SMALL if status == L.OK else status
            continue
        if ground > 0.0 and below(ground, p.y):
            return L.BELOW
        speed, changes = new_speed, 0
        if events > 0:
            if crossed(0, cuts, after, event, event_numbers, sides, p) > 0:
                for j in range(y.size):
                    y[j] = kept[j]
                controller_state[L.TRYING] = 0.0
                step_info[L.LOADED] = 0.0
                return L.CUT
            changes = crossed(cuts, events, after, event, event_numbers, sides, p)
        ratio = longer(error, q, controller_state[L.ERROR_BEFORE], controller_state[L.REFUSED] != 0.0)
        if cut:  # the end set the size: the error of this step says little about the next size
            controller_state[L.NEXT] = direction * max(abs(h) * ratio, proposed)
        else:
            controller_state[L.NEXT] = h * ratio
            controller_state[L.ERROR_BEFORE] = max(error, 1e-4)
        controller_state[L.BEGUN] = t
        controller_state[L.TIME] = after
        controller_state[L.TAKEN] = abs(after - t)
        controller_state[L.REFUSED] = 0.0
        controller_state[L.SMALLEST] = min(controller_state[L.SMALLEST], controller_state[L.TAKEN])
        controller_state[L.LARGEST] = max(controller_state[L.LARGEST], controller_state[L.TAKEN])
        controller_state[L.ACCEPTED] += 1.0
        controller_state[L.TRYING] = 0.0
        step_info[L.ROW_ITERATIONS] = max(step_info[L.ROW_ITERATIONS], step_info[L.ITERATIONS])
        if every > 0 and int(controller_state[L.ACCEPTED]) % every == 0:
            write_row(after, controller_state, y, step_info, times, sizes, rows, iterations)
        while (
            every == 0
            and controller_state[L.SAMPLE] < samples.size
            and (samples[int(controller_state[L.SAMPLE])] - after) * direction <= 0.0
        ):
            at = samples[int(controller_state[L.SAMPLE])]
            row = int(controller_state[L.ROWS])
            write_row(at, controller_state, y, step_info, times, sizes, rows, iterations)
            if at != after:
                status = dense(before, min(max((at - t) / h, 0.0), 1.0), t, h, pointer(rows[row]), p)
                step_info[L.LOADED] = 0.0
                if status != L.OK:
                    controller_state[L.ROWS] -= 1.0
                    return status
            controller_state[L.SAMPLE] += 1.0
    return L.CROSSED if changes > 0 else L.OK


def march_time_transformed(
    first, n, every, h, end, limit, N, B, y, addresses, kept, extremes, times, sizes, rows, iterations,
):  # fmt: skip
    """Take ``n`` steps of nominal size ``h`` (step times step density, negative backwards) with a time transformation.

    Returns PASSED after a step that reaches or passes ``end``, which is neither counted nor recorded, or the status of
    the last step; ``step_info[STEPS_DONE]`` is the number of steps completed before it. ``kept`` receives the state
    before the last step, ``extremes`` (2,) the smallest and largest step so far, ``sizes`` those of the steps that end
    at the recorded ``times``. All others are as for ``march``."""
    p = workspace_at(N, B, y, addresses)
    step_info = p.step_info
    time_at = int(step_info[L.TIME_AT])
    step_info[L.STEPS_DONE] = 0.0
    row = 0
    before = squared_speed(N, p.S, p.y, p.bodies)
    for k in range(first, first + n):
        t = y[time_at]
        for j in range(y.size):
            kept[j] = y[j]
        step_info[L.ITERATIONS] = 0.0
        step_info[L.RESIDUAL] = 0.0
        status = step(t, h, p)
        if status != L.OK:
            return status
        speed = squared_speed(N, p.S, p.y, p.bodies)
        taken = abs(y[time_at] - t)
        if not (speed < inf and taken < inf):
            return L.NOT_FINITE
        step_info[L.TOTAL_ITERATIONS] += step_info[L.ITERATIONS]
        if (y[time_at] - end) * h >= 0.0:
            return L.PASSED
        if max(before, speed) * taken * taken > limit * limit:
            return L.TOO_LARGE
        before = speed
        extremes[0], extremes[1] = min(extremes[0], taken), max(extremes[1], taken)
        step_info[L.STEPS_DONE] += 1.0
        step_info[L.ROW_ITERATIONS] = max(step_info[L.ROW_ITERATIONS], step_info[L.ITERATIONS])
        if (k + 1) % every == 0:
            times[row], sizes[row], iterations[row] = y[time_at], taken, int(step_info[L.ROW_ITERATIONS])
            for j in range(y.size):
                rows[row, j] = y[j]
            step_info[L.ROW_ITERATIONS] = 0.0
            row += 1
    return L.OK


def sweep(n, h, y, bodies, step_info, status, iterations):
    """Apply a flow of one body ``n`` times to each of K independent bodies, of states y (K, 13) and bodies (K, 8).

    ``h`` (K,) is the time of one application; ``status`` and ``iterations`` (K,) receive the last status and the number
    of iterations. The caller sets the slots of ``step_info`` that a step reads. Where the flow fails, y is the state
    there."""
    for k in range(h.size):
        p = Workspace(
            1, 1, 0, pointer(y[k]), pointer(bodies[k]), None, None, None, None, None, None, None, None,
            pointer(step_info), None,
        )  # fmt: skip
        step_info[L.ITERATIONS] = 0.0
        status[k] = L.OK
        for _ in range(n):
            status[k] = rotate_free(0, h[k], p)
            if status[k] != L.OK:
                break
        iterations[k] = int(step_info[L.ITERATIONS])


def dense_states(begin, theta, t, h, N, B, y, addresses, out):
    """Write the state at ``t + theta h`` within the step just taken from ``begin`` to ``out``; returns the status."""
    return dense(pointer(begin), theta, t, h, pointer(out), workspace_at(N, B, y, addresses))


@jit.loop(EVENT_VALUES)
def event_values(event, t, y, bodies, parameters, event_numbers, out):
    """Write the values of all event functions at a state to ``out``."""
    N = bodies.size // L.OF_BODY
    for k in range(out.size):
        out[k] = event(k, t, N, pointer(y), pointer(bodies), pointer(parameters), pointer(event_numbers))


@functools.cache
def loop_for(step_function, converter=None, samples=False, valves=False):
    """The compiled ``march`` of ``step_function(t, h, p) -> status``, perhaps with (processed, convert) of a family of
    processed methods; whether controllers set states before steps, and open and close valves."""
    bound = {"step": step_function}
    if samples:
        bound |= {"SAMPLES": True, "held_step": held(step_function, valves)}
    if converter is not None:
        bound |= {"processed": converter[0], "convert": converter[1]}
    return jit.compile_kernel(jit.bind(march, **bound), MARCH)


@functools.cache
def adaptive_loop_for(step_function, dense_function=None, controller="", samples=False, valves=False):
    """The compiled ``march_adaptive`` of a step function that estimates its error, perhaps with its dense output
    ``(begin, theta, t, h, out, p) -> status``, by a controller of CONTROLLERS; others as for ``loop_for``."""
    bound = {"step": step_function, **CONTROLLERS[controller]}
    if samples:
        bound["set_states"] = sample_valves if valves else sample
        bound["next_cut"] = next_sample_or_closing if valves else next_sample
    if dense_function is not None:
        bound["dense"] = dense_function
    return jit.compile_kernel(jit.bind(march_adaptive, **bound), MARCH_ADAPTIVE, thorough=True)


@functools.cache
def dense_for(dense_function):
    """The compiled ``dense_states`` of a method's dense output."""
    return jit.compile_kernel(jit.bind(dense_states, dense=dense_function), DENSE)


@functools.cache
def time_transformed_loop_for(step_function):
    """The compiled ``march_time_transformed`` of a step function."""
    return jit.compile_kernel(jit.bind(march_time_transformed, step=step_function), MARCH_TIME_TRANSFORMED)


@functools.cache
def sweep_of(flow):
    """The compiled ``sweep`` of a flow ``flow(i, h, workspace) -> status``."""
    return jit.compile_kernel(jit.bind(sweep, rotate_free=flow), SWEEP)
