"""Kernels that take a run again: one call sets the arrays back, writes the start into them, and takes the steps.

What Python did there cost as much as a short loop, most of it in memory that no cache holds between two calls.
"""

from functools import partial
from math import inf, sqrt

from polhode.algebra.quaternion import multiply, rotate
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.drive import below
from polhode.kernel.jit import integers_at, numbers_at, pointer, python_of, view
from polhode.kernel.many import adaptive_at, march_at, march_one
from polhode.kernel.signatures import A1, A2, A3, I1, i8

LARGEST = 1e60
"""Moments of inertia and angular momenta beyond this or below its inverse over- or underflow when they are squared."""
OVERFLOWING = 1e100
"""Numbers of a start beyond this would overflow when squared; distances from a centre below its inverse."""
ROUNDED = 4.5e-16
"""Attitudes whose length is this near 1 are taken as they are: rows of runs, and what rounding has left of 1."""
UNUSUAL = -1
"""The status of a run from a start of which the ordinary run has to tell."""
WATCH, OWN = 12, 15
"""Behind the addresses of a loop those of its events, and of what is set back before each run."""
turned, product = (jit.helper(python_of(one), fastmath=False) for one in (rotate, multiply))


@partial(jit.helper, fastmath=False)
def one_body(given, about, y):
    """Write what ``start_state`` makes of plain numbers (``said_of``) for one body (``System.alone``), bit for bit;
    whether it can, for there is nothing unusual about them."""
    said, frame, moments, mass, r = int(given[0]), get4(about, 0), get3(about, 4), about[7], get3(given, 8)
    turns, moves, attracted = moments[0] < inf, mass < inf, about[8] != 0.0
    if (said & 6) == 6 or (said & 48) == 48 or (not turns and (said & 7) != 0) or (not moves and (said & 56) != 0):
        return False
    for k in range(1, 14):
        if not abs(given[k]) <= OVERFLOWING:
            return False
    if turns and not (min(moments) >= 1.0 / LARGEST and max(moments) <= LARGEST):
        return False
    if attracted and moves and max(abs(r[0]), abs(r[1]), abs(r[2])) < 1.0 / OVERFLOWING:
        return False
    a, b, c, d = get4(given, 1)
    length = sqrt(a * a + b * b + c * c + d * d)
    if not abs(length - 1.0) <= 1e-6:
        return False
    length = length if abs(length - 1.0) > ROUNDED else 1.0
    put4(y, L.ATTITUDE, product((a / length, b / length, c / length, d / length), frame))
    m, p = get3(given, 5), get3(given, 11)
    if said & 6:
        m = turned((frame[0], -frame[1], -frame[2], -frame[3]), m)
    if said & 2:
        m = (moments[0] * m[0], moments[1] * m[1], moments[2] * m[2])
    if said & 16:
        p = (mass * p[0], mass * p[1], mass * p[2])
    size = max(abs(m[0]), abs(m[1]), abs(m[2]))
    put3(y, L.POSITION, r)
    put3(y, L.MOMENTUM, p)
    put3(y, L.ANGULAR, m)
    return (size == 0.0 or (size >= 1.0 / LARGEST and size <= LARGEST)) and max(abs(p[0]), abs(p[1]), abs(p[2])) < inf


@jit.inlined
def said(values, k, at, given):
    """Put what is said of a member, if anything, in its place."""
    if values.shape[0] > 0:
        for j in range(values.shape[1]):
            given[at + j] = values[k, j]


@jit.loop(i8(A1, A1, *[A2] * 5, A3, A3, A2))
def begin_members(given, about, attitude, turning, position, moving, mass, moments, frames, states):
    """Write the starts of members of one body; ``given``: what is said of all as of ``said_of``, and ``about`` as
    ``System.alone``, both to be overwritten by what each has of its own. The number of those before an unusual one."""
    for k in range(states.shape[0]):
        row = k if mass.shape[0] > 1 else 0
        said(attitude, k, 1, given)
        said(turning, k, 5, given)
        said(position, k, 8, given)
        said(moving, k, 11, given)
        about[7] = mass[row, 0]
        put4(about, 0, get4(pointer(frames[k if frames.shape[0] > 1 else 0, 0]), 0))
        put3(about, 4, get3(pointer(moments[k if moments.shape[0] > 1 else 0, 0]), 0))
        if not one_body(given, about, states[k]):
            return k
    return states.shape[0]


@jit.inlined
def begin(addresses, own, y, given):
    """Set the arrays of a run back, and write its start into the state; whether that is a usual one."""
    begun, told, before, about = numbers_at(own, 3), numbers_at(own, 4), numbers_at(own, 5), numbers_at(own, 6)
    step_info, parameters = numbers_at(addresses, 10), numbers_at(addresses, 3)
    for k in range(L.STEP_INFO):
        step_info[k] = told[k]
    for k in range(integers_at(own, 7)[3]):
        parameters[k] = before[k]
    for k in range(int(given[14])):
        parameters[int(given[15 + 2 * k])] = given[16 + 2 * k]
    if given[0] < 0.0:
        return True
    for k in range(y.size):
        y[k] = begun[k]
    moved = about[8] == 0.0 or int(given[0]) & 48 != 0
    return moved and one_body(given, about, y) and not (about[9] > 0.0 and below(about[9], y))


@jit.loop(i8(I1, A1, A2))
def march_again(addresses, given, rows):
    """Take another run with steps of one size. ``addresses``: those of ``march``, of its events, and ``Repeated.own``;
    ``given``: the start as of ``said_of``, then places and values of parameters. Returns the status of the first call
    of the loop that fails, or UNUSUAL."""
    own = addresses[OWN:]
    whole, numbers = integers_at(own, 7), numbers_at(own, 8)
    y, counts = view(numbers_at(own, 2), whole[2]), view(integers_at(own, 9), rows.shape[0])
    sides, kept = view(numbers_at(own, 10), whole[8]), view(numbers_at(own, 11), whole[9])
    if not begin(addresses, own, y, given):
        return UNUSUAL
    return march_one(
        march_at(own), 10, 0, whole[4], whole[4], whole[5], numbers[0], numbers[1], numbers[2], whole[0], whole[1],
        whole[6], y, numbers_at(addresses, 10), addresses, addresses[WATCH:], sides, kept, rows, counts, whole,
    )  # fmt: skip


@jit.inlined
def shown(adaptive, own, t, addresses, state, kept, times, rows, counts, sides, row):
    """The status of setting states in a row as controllers do, where there are any."""
    whole, limit = integers_at(own, 7), numbers_at(own, 8)[2]
    return L.OK if whole[7] == 0 else adaptive(
        -1, 1, 1, limit, inf, 0.0, t, times[:0], whole[0], whole[1], rows[row], addresses, state, kept, times, times,
        rows, counts, 0, addresses[WATCH:], sides,
    )  # fmt: skip


@jit.loop(i8(I1, A1, A2))
def adapt_again(addresses, given, rows):
    """The same of a run with steps that a tolerance chooses; ``controller_state`` then has the number of rows."""
    own, room, row = addresses[OWN:], rows.shape[0], 0
    adaptive, whole, numbers = adaptive_at(own), integers_at(own, 7), numbers_at(own, 8)
    y, kept, sides = view(numbers_at(own, 2), whole[2]), view(numbers_at(own, 11), whole[2]), numbers_at(own, 10)
    sides, state, first = view(sides, whole[8]), view(numbers_at(own, 12), L.CONTROLLER_STATE), numbers_at(own, 13)
    times, sizes, counts = view(numbers_at(own, 14), room), view(numbers_at(own, 15), room), integers_at(own, 9)
    counts = view(counts, room)
    if not begin(addresses, own, y, given):
        return UNUSUAL
    times[0], end = numbers[0], numbers[1]
    for k in range(y.size):
        rows[0, k] = y[k]
    for k in range(state.size):
        state[k] = first[k]
    status = shown(adaptive, own, times[0], addresses, state, kept, times, rows, counts, sides, 0)
    numbers_at(addresses, 10)[L.LOADED] = 0.0
    for k in range(state.size):
        state[k] = first[k]
    if status == L.OK:
        status = adaptive(
            whole[4], whole[5], whole[6], numbers[2], numbers[3], numbers[4], end, times[:0], whole[0], whole[1], y,
            addresses, state, kept, times[1:], sizes, rows[1:], counts, whole[9], addresses[WATCH:], sides,
        )  # fmt: skip
        row = int(state[L.ROWS])
    if status == L.OK and state[L.TIME] != end:
        return UNUSUAL
    if status == L.OK and (row == 0 or times[row] != end):
        row += 1
        times[row] = end
        for k in range(y.size):
            rows[row, k] = y[k]
        status = shown(adaptive, own, end, addresses, state, kept, times, rows, counts, sides, row)
    state[L.ROWS] = row + 1.0
    return status
