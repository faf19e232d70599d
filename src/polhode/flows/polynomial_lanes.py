"""Steps along Taylor polynomials for members of an ensemble in lanes, each with a time and steps of its own.

The steps are those of ``polynomial.taylor_step`` with a tolerance: the same scales, sizes, sums. A member that has
reached the end gives its lane to the next one, so that no lane waits for others. Rows at given times are read off the
polynomials. Members for which the loads choose between formulas are not served, and one whose coefficients stay
infinite, or whose steps time cannot resolve, ends with the status of that.
"""

from __future__ import annotations

from math import inf

from polhode.algebra.elementary import nearest
from polhode.flows.polynomial import LARGEST_RATIO, MOST_SCALES, ORDER, SCALE, SMALLER, SMALLEST_ORDER, added, last_two
from polhode.kernel import jit, lane_drive as D, layout as L
from polhode.kernel.jit import integers_at, numbers_at
from polhode.kernel.lane_drive import copied, recorded
from polhode.kernel.lane_mode import as_lanes, lane_numbers, replaced, shared_info, shifted, some_lane, with_known
from polhode.kernel.many import TOO_MANY_STEPS
from polhode.kernel.signatures import I1, Workspace, f8, i8
from polhode.kernel.simd import exponent_and_fraction, two_to
from polhode.kernel.tangent_mode import by_numbers

series = jit.hole("series(part, t, N, y, bodies, parameters, work)", "The coefficients of the series.")
increments = jit.hole("increments(f, K, work)", "Writes the sum of X_k f^k over k = 1 ... K.")
with_slopes = jit.hole(
    "with_slopes(part, t, N, y, bodies, parameters, work)", "The sums of all coefficients, and their derivatives."
)
IN_LANES = jit.hole("IN_LANES", "Pairs (function, helper): what computes a function over lanes.")
SHAPE = jit.hole("SHAPE", "Pairs (field, value): what is known of the workspace.")
KNOWN = jit.hole("KNOWN", "Pairs (slot, value): the flags of a run in ``step_info``.")

SAMPLES, STEP_SIZES, TOLERANCES = 15, 16, 17
"""Slots of ``addresses`` behind those of ``lane_drive``: times of rows, sizes of steps, LOAD tolerances of members."""
ADDRESSES = 18
GOING = -1  # status of a member that is on its way
MARCH_TAYLOR = i8(i8, i8, i8, f8, f8, f8, f8, I1, I1)
"""march_taylor(begin, behind, attempts, t0, end, longest, first, sizes, addresses)"""


@jit.inlined
def rough_log2(x):
    """log2 of a positive number to 0.01; of 0 -1023 or less."""
    e, m = exponent_and_fraction(x)
    return e - 1.6798 + m * (2.0246 - 0.3448 * m)


@jit.inlined
def rough_exp2(x):
    """2^x to 0.002, for -1000 < x < 1000."""
    n = nearest(x)
    f = x - n
    return two_to(n) * (1.0 + f * (0.6931 + f * (0.2402 + 0.0555 * f)))


@jit.inlined
def power_below(x):
    """The largest power of two that is at most x > 0."""
    return two_to(exponent_and_fraction(x)[0])


def taylor_step(t, h, p):
    """A step of size h, by the loop of ``lane_drive`` with the series in the place of the loads; NOT_FINITE where the
    state after it is not finite."""
    p.step_info[L.LOADED] = 0.0
    p.work[SCALE] = h
    p.loads(p.int_coefficients[ORDER], t, p.N, p.y, p.bodies, p.parameters, p.work)
    increments(1.0, p.int_coefficients[ORDER], p.work)
    return L.OK if 0.0 * added(p.y, p.y, p) == 0.0 else L.NOT_FINITE


def step_by_slopes(t, h, p):
    """The same with derivatives, those of the sums by the state and what stays being plain numbers."""
    p.step_info[L.LOADED] = 0.0
    p.work[SCALE] = h
    K = p.int_coefficients[ORDER]
    by_numbers(with_slopes, K, t, p.N, p.y, p.bodies, p.parameters, p.work)
    p.loads(K, t, p.N, p.y, p.bodies, p.parameters, p.work)
    return L.OK if 0.0 * added(p.y, p.y, p) == 0.0 else L.NOT_FINITE


def memory_of(sizes):
    """How many numbers a lane needs: tolerances, three states, bodies, frames, parameters, scratch memory."""
    return 3 + 3 * sizes[D.WIDTH] + (L.OF_BODY + 4) * sizes[D.N] + sizes[D.PARAMETERS] + sizes[D.WORK]


def march_taylor(begin, behind, attempts, t0, end, longest, first, sizes, addresses):
    """Take members from t0 to the end; one that is there gives its lane to the next."""
    replaced(IN_LANES)
    bodies_of_system, width, rows = sizes[D.N], sizes[D.WIDTH], sizes[D.ROWS]
    own_info = as_lanes(numbers_at(addresses, D.MEMORY))
    y = shifted(own_info, 3)
    stage_state, between = shifted(y, width), shifted(y, 2 * width)
    bodies = shifted(between, width)
    frames = shifted(bodies, L.OF_BODY * bodies_of_system)
    parameters = shifted(frames, 4 * bodies_of_system)
    r = shifted(parameters, sizes[D.PARAMETERS])
    states, record = numbers_at(addresses, D.STATES), numbers_at(addresses, D.RECORD)
    constants, of_bodies = numbers_at(addresses, D.CONSTANTS), numbers_at(addresses, D.BODIES)
    samples, taken = numbers_at(addresses, SAMPLES), numbers_at(addresses, STEP_SIZES)
    step_info = shared_info(numbers_at(addresses, D.STEP_INFO), own_info, KNOWN)
    statuses, done = integers_at(addresses, D.STATUS), integers_at(addresses, D.DONE)
    numbers = integers_at(addresses, D.INT_COEFFICIENTS)
    p = with_known(Workspace(
        bodies_of_system, sizes[D.B], sizes[D.S], y, bodies, parameters, None, None, numbers,
        integers_at(addresses, D.BLOCKS), stage_state, None, r, step_info, frames,
    ), SHAPE)  # fmt: skip
    K, lanes = numbers[ORDER], sizes[D.LANES]
    k = max(K - 1, SMALLEST_ORDER)
    per_before, per_last = 0.5 / (k - 1), 0.5 / k
    direction, at_start = 1.0 if end >= t0 else -1.0, 0
    while at_start < rows and (samples[at_start] - t0) * direction <= 0.0:
        at_start += 1
    size_at_start = first if first > 0.0 else longest
    scale_at_start = power_below(min(size_at_start, abs(end - t0)))
    due_at_start = samples[at_start] if at_start < rows else direction * inf
    lane, to_come = lane_numbers(), begin
    own, row, tried, shrunk = lane - lane + begin, lane - lane, lane - lane, lane - lane
    status, time, size, scale, due_at = row + L.OK, 0.0 * row, 0.0 * row, 0.0 * row, 0.0 * row
    while True:
        if some_lane(status != GOING):
            fresh = lane < 0
            for number in range(lanes):
                mine = (lane == number) & (status != GOING)
                if to_come < behind and some_lane(mine):
                    own = to_come if mine else own
                    fresh = fresh | mine
                    to_come += 1
            if fresh:
                copied(states, width, own, width, y)
                copied(numbers_at(addresses, TOLERANCES), 2, own, sizes[D.LOAD], shifted(own_info, 1))
                copied(of_bodies, sizes[D.BODIES_STRIDE], own, L.OF_BODY * bodies_of_system, bodies)
                copied(numbers_at(addresses, D.FRAMES), sizes[D.FRAMES_STRIDE], own, 4 * bodies_of_system, frames)
                copied(constants, sizes[D.PARAMETERS_STRIDE], own, sizes[D.PARAMETERS], parameters)
                for number in range(at_start):
                    recorded(record, width * (rows * own + number), y, width)
                    taken[rows * own + number] = 0.0
                row, tried, shrunk = at_start, 0, 0
                time, size, scale, due_at = t0, size_at_start, scale_at_start, due_at_start
                status = GOING if t0 != end else L.OK
                statuses[own] = status
                done[own] = row
            if not some_lane(status == GOING):
                if to_come < behind:
                    continue
                break
        base = rows * own
        along = direction * scale
        r[SCALE] = along
        series(K, time, bodies_of_system, y, bodies, parameters, r)
        before, last = last_two(k, p)
        finite = before + last < inf
        goal = end if size >= abs(end - time) else time + direction * size
        parts = 1.0 / along
        whole = (goal - time) * parts
        exponent = max(rough_log2(before) * per_before, rough_log2(last) * per_last)
        f = min(rough_exp2(-exponent), LARGEST_RATIO) if exponent > -40.0 else LARGEST_RATIO
        f = min(f, whole)
        next_scale = power_below(f * scale)
        inside = f < whole
        after = time + f * along if inside else goal
        f = (after - time) * parts if inside else f
        increments(f, K, r)
        change = added(y, stage_state, p)
        going = status == GOING
        good = going & finite & (f > 0.0) & (0.0 * change == 0.0)
        h = after - time
        due = good & ((due_at - after) * direction <= 0.0)
        while some_lane(due):
            inner = due_at != after
            if some_lane(due & inner):
                theta = min(max((due_at - time) / h, 0.0), 1.0)
                increments(theta * h * parts, K, r)
                added(y, between, p)
            if due:
                for j in range(width):
                    record[width * (base + row) + j] = between[j] if inner else stage_state[j]
                taken[base + row] = abs(h)
                row += 1
                due_at = samples[min(row, rows - 1)] if row < rows else direction * inf
            due = due & ((due_at - after) * direction <= 0.0)
        for j in range(width):
            y[j] = stage_state[j] if good else y[j]
        time = after if good else time
        size = longest if good else size
        tried = tried + 1 if finite else tried
        shrunk = 0 if finite else shrunk + 1
        scale = next_scale if good else (scale if finite else scale * SMALLER)
        found = GOING if tried < attempts else TOO_MANY_STEPS
        if good:
            if time == end:
                found = L.OK
        elif finite:
            found = L.TOO_SMALL if f == 0.0 else L.NOT_FINITE
        elif shrunk == MOST_SCALES:
            found = L.NOT_FINITE
        status = found if going else status
        if going & (status != GOING):
            statuses[own] = status
            done[own] = row
    return 0
