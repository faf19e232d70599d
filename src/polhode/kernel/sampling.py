"""Controllers that sample and hold, within a step: at sampling times, which are steps' starts, states are set.

A sampling time is phase + k every for a whole k. States that are set have no rates, so that they are held until the
next one. The table in the parameters of a system, from ``step_info[SAMPLES_AT]`` on: how many rows there are; of each
row ``EVERY`` to ``OF_ROW``, then of each number that it sets ``INDEX`` to ``OF_NUMBER``.

A recorded state has the commands that act from its time on: what is set at the begin of a step is copied into the state
recorded there.

The value a row sets is what its function returns, in steps of a resolution and within limits; with a delay it goes into
the last of some registers, auxiliary variables too, and what was in the first one is set. A row without a function
copies variables, or draws noise: each number becomes KEPT times itself plus FRESH times a normal number, which follows
from a seed, the count of samples and a STREAM alone; or it opens valves for a share of the time until the next sample.
Where these close, a step is taken in parts.

Random numbers are based on counters: each follows from a key and a counter alone, by Philox4x32-10 [salmon2011]. There
is no generator state, so numbers do not depend on the order in which they are drawn, nor on slices, threads or
restarts. 32-bit words are held in signed 64-bit integers, whose products wrap around in compiled code but not in
Python; the masks make both the same.
"""

from __future__ import annotations

from functools import cache
from math import cos, floor, inf, log, pi, sin, sqrt
from typing import Any

import numpy as np

from polhode.kernel import jit, layout as L
from polhode.kernel.jit import inlined

EVERY, PHASE, ROLE, NUMBERS = range(4)
OF_ROW = 4
"""Of a row: time between samples and a sampling time; number of its function, or COPY, NOISE or PULSE; how many numbers
there are."""
COPY, NOISE, PULSE = -1, -2, -3
INDEX, TARGET, LIMIT, RESOLUTION, DELAY, REGISTER = range(6)
OF_NUMBER = 6
"""Of a number: the auxiliary variable whose new value the function returns, or which is read; that which is set;
its largest magnitude; resolution, 0 without; how many samples later it is set; the first of its registers."""
KEPT, FRESH, SEED, STREAM = 2, 3, 4, 5
"""Of a number of noise, in the places of LIMIT and what follows."""
SHORTEST, TICK, CLOSES = LIMIT, RESOLUTION, REGISTER
"""Of a valve: its shortest pulse, the resolution of pulses, and the variable that is the time when it closes; INDEX is
the share for which it opens, and TARGET is 1 while it is open."""
SLACK = 64.0 * 2.0**-52
"""Distance of two times, relative to their size, that counts as none: round-off of times of steps, and of samples."""

WORD = 0xFFFFFFFF
FIRST_FACTOR, SECOND_FACTOR = 0xD2511F53, 0xCD9E8D57
FIRST_STEP, SECOND_STEP = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10

step = jit.hole("step(t, h, p) -> status", "The step of the method.")
set_states = jit.hole("set_states(t, p) -> status", "Sets states whose sampling time it is.")


# ------------------------------------------------------------------ random numbers
@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """Four random words from four words of a counter and two of a key [salmon2011, sec. 3.3]."""
    for _ in range(ROUNDS):
        a, b = FIRST_FACTOR * c0, SECOND_FACTOR * c2
        c0, c1, c2, c3 = ((b >> 32) & WORD) ^ c1 ^ k0, b & WORD, ((a >> 32) & WORD) ^ c3 ^ k1, a & WORD
        k0, k1 = (k0 + FIRST_STEP) & WORD, (k1 + SECOND_STEP) & WORD
    return c0, c1, c2, c3


@inlined
def normal_pair(c0, c1, c2, c3, k0, k1):
    """Two independent normal numbers of mean 0 and variance 1, by the Box-Muller map of 53-bit uniforms [box1958]."""
    x0, x1, x2, x3 = philox(c0, c1, c2, c3, k0, k1)
    u = ((x0 >> 5) * 67108864.0 + (x1 >> 6) + 1.0) / 9007199254740992.0  # in (0, 1]
    v = ((x2 >> 5) * 67108864.0 + (x3 >> 6)) / 9007199254740992.0
    r = sqrt(-2.0 * log(u))
    return r * cos(2.0 * pi * v), r * sin(2.0 * pi * v)


# ------------------------------------------------------------------ samples
@jit.replaceable
@jit.inlined
def rows_of(p):
    """Where times, functions and places of the table are read, which of many members are the same."""
    return p.parameters


@jit.helper
def draw(q, row, count, sample, p):
    """Draw the numbers of a row of noise for this sample."""
    own, common = L.BODY * p.N, rows_of(p)
    for k in range(count):
        number = row + OF_ROW + OF_NUMBER * k
        at, seed, stream = own + int(common[number + TARGET]), int(q[number + SEED]), int(common[number + STREAM])
        n, _ = normal_pair(sample & WORD, (sample >> 32) & WORD, stream, 3, seed & WORD, seed >> 32)
        p.y[at] = q[number + KEPT] * p.y[at] + q[number + FRESH] * n


@jit.helper
def open_valves(q, common, row, time, p):
    """Open the valves of a row for their shares of its period, which begins at this time."""
    own = L.BODY * p.N
    every = common[row + EVERY]
    for k in range(int(common[row + NUMBERS])):
        number = row + OF_ROW + OF_NUMBER * k
        pulse = every * min(max(p.y[own + int(common[number + INDEX])], 0.0), 1.0)
        tick = q[number + TICK]
        if tick > 0.0:
            pulse = min(tick * floor(pulse / tick + 0.5), every)
        if pulse < q[number + SHORTEST]:
            pulse = 0.0
        p.y[own + int(common[number + TARGET])] = 1.0 if pulse > 0.0 else 0.0
        p.y[own + int(common[number + CLOSES])] = time + pulse


@jit.helper
def close_valves(t, q, p):
    """Close the valves whose time it is; ``q``: where the table is read."""
    at, own = int(p.step_info[L.SAMPLES_AT]), L.BODY * p.N
    row = at + 1
    for _ in range(int(q[at])):
        if q[row + ROLE] == PULSE:
            slack = SLACK * max(max(abs(t), q[row + EVERY]), p.step_info[L.SAMPLED_FROM])
            for k in range(int(q[row + NUMBERS])):
                number = row + OF_ROW + OF_NUMBER * k
                valve = own + int(q[number + TARGET])
                if p.y[valve] != 0.0 and p.y[own + int(q[number + CLOSES])] <= t + slack:
                    p.y[valve] = 0.0
                    p.step_info[L.LOADED] = 0.0
        row += OF_ROW + OF_NUMBER * int(q[row + NUMBERS])


@jit.helper
def next_closing(end, q, p):
    """The time at which the next valve closes, or ``end`` if that is before; ``q``: where the table is read."""
    at, own = int(p.step_info[L.SAMPLES_AT]), L.BODY * p.N
    row, first = at + 1, end
    for _ in range(int(q[at])):
        if q[row + ROLE] == PULSE:
            slack = SLACK * max(max(abs(end), q[row + EVERY]), p.step_info[L.SAMPLED_FROM])
            for k in range(int(q[row + NUMBERS])):
                number = row + OF_ROW + OF_NUMBER * k
                closes = p.y[own + int(q[number + CLOSES])]
                if p.y[own + int(q[number + TARGET])] != 0.0 and closes < first and closes < end - slack:
                    first = closes
        row += OF_ROW + OF_NUMBER * int(q[row + NUMBERS])
    return first


@jit.helper
def next_sample(t, end, p):
    """The next sampling time after t, or ``end`` if that is before, or as good as it."""
    q = p.parameters
    at = int(p.step_info[L.SAMPLES_AT])
    row, first = at + 1, end
    for _ in range(int(q[at])):
        every, phase = q[row + EVERY], q[row + PHASE]
        slack = SLACK * max(max(abs(end), abs(phase)), max(every, p.step_info[L.SAMPLED_FROM]))
        k = floor((t - phase) / every + 0.5)
        time = phase + every * k
        if time <= t + slack:
            time = phase + every * (k + 1.0)
        if time < first - slack:
            first = time
        row += OF_ROW + OF_NUMBER * int(q[row + NUMBERS])
    return first


@jit.helper
def next_sample_or_closing(t, end, p):
    """Likewise, or the time at which the next valve closes."""
    return next_closing(next_sample(t, end, p), p.parameters, p)


@jit.replaceable
@jit.helper
def sample(t, p):
    """Set the states whose sampling time it is; the status is not OK where a value is not finite."""
    if t == p.step_info[L.COMMANDED]:
        return L.OK
    q, common = p.parameters, rows_of(p)
    at = int(p.step_info[L.SAMPLES_AT])
    own, load = L.BODY * p.N, L.LOAD * p.N
    row = at + 1
    for _ in range(int(common[at])):
        every, phase, count = common[row + EVERY], common[row + PHASE], int(common[row + NUMBERS])
        time = phase + every * floor((t - phase) / every + 0.5)
        size = max(max(abs(t), abs(phase)), max(every, p.step_info[L.SAMPLED_FROM]))
        if abs(t - time) <= SLACK * size:
            role = int(common[row + ROLE])
            if role >= 0:
                p.loads(L.SAMPLE + role, time, p.N, p.y, p.bodies, p.parameters, p.load)
                for k in range(count):
                    if not abs(p.load[load + int(common[row + OF_ROW + OF_NUMBER * k + INDEX])]) < inf:
                        return L.NOT_FINITE
            if role == NOISE:
                draw(q, row, count, int(np.floor((t - phase) / every + 0.5)), p)
                count = 0
            if role == PULSE:
                open_valves(q, common, row, time, p)
                count = 0
            for k in range(count):
                number = row + OF_ROW + OF_NUMBER * k
                index, delay = int(common[number + INDEX]), int(common[number + DELAY])
                x = p.y[own + index]
                if role >= 0:
                    x = p.load[load + index]
                    resolution = q[number + RESOLUTION]
                    if resolution > 0.0:
                        x = 0.0 * x + resolution * floor(x / resolution + 0.5)
                    limit = q[number + LIMIT]
                    x = min(max(x, -limit), limit)
                    if delay > 0:
                        register = own + int(common[number + REGISTER])
                        fresh = x
                        x = p.y[register]
                        for j in range(delay - 1):
                            p.y[register + j] = p.y[register + j + 1]
                        p.y[register + delay - 1] = fresh
                p.y[own + int(common[number + TARGET])] = x
            p.step_info[L.LOADED] = 0.0
        row += OF_ROW + OF_NUMBER * int(common[row + NUMBERS])
    return L.OK


@jit.helper
def sample_valves(t, p):
    """Close valves and set states whose time it is."""
    close_valves(t, rows_of(p), p)
    return sample(t, p)


@jit.inlined
def show_set(N, S, y, row, exchange):
    """Copy what has been set from a state to the one recorded at its time, or exchange it: of the S numbers there only
    what is set can differ."""
    for j in range(L.BODY * N, L.BODY * N + S):
        kept = row[j]
        row[j] = y[j]
        if exchange:
            y[j] = kept


def held_step(t, h, row, recorded, over, p):
    """The step of the method, before which states are set, in the state recorded there, too; there alone if the steps
    are ``over``."""
    if over and not recorded:
        return L.OK
    status = set_states(t, p)
    if status != L.OK:
        return status
    if recorded:
        show_set(p.N, p.S, p.y, row, over)
    return L.OK if over else step(t, h, p)


def pulsed_step(t, h, p):
    """The step of the method, in parts between the times at which valves close."""
    end, q = p.step_info[L.NEXT_TIME], rows_of(p)
    at = next_closing(end, q, p)
    size = h if at == end else at - t
    while True:  # the step is written in one place
        p.step_info[L.NEXT_TIME] = at
        status = step(t, size, p)
        if status != L.OK or at == end:
            return status
        close_valves(at, q, p)
        t, at = at, next_closing(end, q, p)
        size = at - t


@jit.inlined
def first_to_close(end, p):
    """The valve that closes first, before the end of its period and of a step, and the variable that says when; -1 for
    none."""
    q = p.parameters
    at, own = int(p.step_info[L.SAMPLES_AT]), L.BODY * p.N
    row, valve, closes = at + 1, -1, -1
    for _ in range(int(q[at])):
        if q[row + ROLE] == PULSE:
            every, phase = q[row + EVERY], q[row + PHASE]
            slack = SLACK * max(max(max(abs(end), abs(phase)), every), p.step_info[L.SAMPLED_FROM])
            for k in range(int(q[row + NUMBERS])):
                number = row + OF_ROW + OF_NUMBER * k
                i, j = own + int(q[number + TARGET]), own + int(q[number + CLOSES])
                period = phase + every * floor((p.y[j] - phase) / every + 0.5)
                moves = p.y[i] != 0.0 and p.y[j] <= end + slack and abs(p.y[j] - period) > slack
                if moves and (closes < 0 or p.y[j] < p.y[closes]):
                    valve, closes = i, j
        row += OF_ROW + OF_NUMBER * int(q[row + NUMBERS])
    return valve, closes


def step_between_moving_closings(t, h, p):
    """The step of the method for kernels with derivatives, where the times at which valves close have some: in parts,
    those of no length too, as between two valves that close at once, or behind one that closes at the end."""
    end = p.step_info[L.NEXT_TIME]
    begin = t + 0.0 * p.y[0]
    valve, closes = first_to_close(end, p)
    while valve >= 0:
        at = p.y[closes]
        p.step_info[L.NEXT_TIME] = at
        status = step(begin, at - begin, p)
        p.step_info[L.NEXT_TIME] = end
        if status != L.OK:
            return status
        p.y[valve] = 0.0
        p.step_info[L.LOADED] = 0.0
        begin = at
        valve, closes = first_to_close(end, p)
    return step(begin, end - begin, p)


@cache
def held(step_function: Any, valves: bool) -> Any:
    """``held_step`` of the step of a method, perhaps with ``valves`` that open and close."""
    if valves:
        return jit.bind(held_step, step=jit.bind(pulsed_step, step=step_function), set_states=sample_valves)
    return jit.bind(held_step, step=step_function, set_states=sample)
