"""The time loop with derivatives: a template into which the step of a method and loads are bound.

States, and where they vary constants, carry derivatives along several directions. Steps are those of a schedule: the
begins, sizes and ends of steps, as a run took them. One loop serves a single run and members of an ensemble, and the
growth of tangent vectors, which are scaled, or made orthogonal, as they go.
"""

from __future__ import annotations

from math import inf, log, sqrt

from polhode.kernel import drive, jit, layout as L
from polhode.kernel.drive import squared_speed
from polhode.kernel.jit import integers_at, numbers_at
from polhode.kernel.signatures import I1, Workspace, f8, i8
from polhode.kernel.tangent_mode import active, counters, derivative_rules, plain, shifted

step = jit.hole("step(t, h, p) -> status", "The step of the method.")
convert = jit.hole("convert(task, t, h, p) -> status", "The converter of a processed method.", default=drive.convert)
set_states = jit.hole("set_states(t, p) -> status", "Sets states whose sampling time it is.", default=drive.set_states)
SAMPLES = jit.hole("SAMPLES", "Whether controllers set states.", default=False)
PROCESSED = jit.hole("PROCESSED", "Whether the method is processed.", default=False)
loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
RULES = jit.hole(
    "RULES", "Pairs (helper, rule): derivatives of helpers that are not those of their source.", default=()
)
APART = jit.hole("APART", "Helpers that are objects of their own, compiled once for all kernels.", default=())
VARIED = jit.hole("VARIED", "Whether constants of systems vary, too.", default=False)
OF_BODIES = jit.hole("OF_BODIES", "Whether those of bodies do.", default=False)
TIMED = jit.hole("TIMED", "Whether begins and sizes of steps vary, too.", default=False)

N, B, S, WIDTH, PARAMETERS, LOAD, WORK, STRIDE, ROWS, EVERY, TREATMENT, VECTORS, BETWEEN = range(13)
BODIES_STRIDE, FRAMES_STRIDE, PARAMETERS_STRIDE, SEEDS_STRIDE = range(13, 17)
"""Slots of ``sizes``: bodies, blocks, auxiliary variables; lengths of state, parameters, loads, scratch memory;
derivatives of a number in memory; rows of a member; steps from row to row; what is done with tangent vectors, how many
there are, and after how many steps; how far constants and seeds of two members lie apart (0: all have the same)."""
STATES, SEEDS, BODIES, BODIES_SEEDS, FRAMES, FRAMES_SEEDS, CONSTANTS, CONSTANTS_SEEDS = range(2, 10)
COEFFICIENTS, INT_COEFFICIENTS, BLOCKS, STEP_INFO, MEMORY, MEMORY_SEEDS = range(10, 16)
BEGINS, STEP_SIZES, ENDS, RECORD, RECORD_SEEDS, WEIGHTS, STATUS, DONE, GROWTH = range(16, 25)
BEGINS_SEEDS, STEP_SIZES_SEEDS = range(25, 27)
MARCH_TANGENTS = i8(i8, i8, i8, f8, I1, I1)
"""march_tangents(begin, behind, n, limit, sizes, addresses)"""

# what is done with tangent vectors
RECORDED, COMMANDED, ORTHOGONAL, SCALED = range(4)
"""Nothing, they are recorded with the states; the same with what controllers set at the times of rows; made orthogonal
and of length 1; each made of length 1."""


# numbers of a member by which its vectors have grown: OF_VECTOR for each, one after the other, then OF_ALL
LOGARITHM, INTEGRAL, MEGNO, LARGEST = range(4)
"""Of a vector: the logarithm L of its length over that at the start; the integral of L over the time; that of the
MEGNO Y = 2 (L - integral / time) [cincotta2000]; the largest L so far."""
OF_VECTOR = 4
ELAPSED, ALIGNED = 0, 1
"""Of all: the time so far; the smaller of the lengths of v1 + v2 and v1 - v2 (SALI) [skokos2001], 0 of one vector."""
OF_ALL = 2
VANISHED = 1e-14
"""Length over that before a vector was made orthogonal below which nothing but round-off is left of it."""


@jit.inlined
def inner(vectors, stride, width, weights, i, j):
    """The weighted product of tangent vectors i and j."""
    found = 0.0
    for k in range(width):
        if weights[k] != 0.0:
            found += weights[k] * vectors[stride * k + i] * vectors[stride * k + j]
    return found


@jit.helper
def scaled(vectors, stride, width, weights, count, orthogonal, h, growth):
    """Make tangent vectors of length 1, orthogonal if asked, and add to what is known of their growth after a time."""
    elapsed = growth[OF_VECTOR * count + ELAPSED] + h
    growth[OF_VECTOR * count + ELAPSED] = elapsed
    for i in range(count):
        length = inner(vectors, stride, width, weights, i, i)
        if orthogonal:
            for _ in range(2):  # once more for the digits that nearly parallel vectors lose
                for j in range(i):
                    f = inner(vectors, stride, width, weights, i, j)
                    for k in range(width):
                        vectors[stride * k + i] -= f * vectors[stride * k + j]
        size = sqrt(inner(vectors, stride, width, weights, i, i) if orthogonal else length)
        at = OF_VECTOR * i
        before = growth[at + LOGARITHM]
        f, now = 0.0, before - inf  # what controllers set follows from the rest
        if size > VANISHED * sqrt(length):
            f, now = 1.0 / size, before + log(size)
        for k in range(width):
            vectors[stride * k + i] *= f
        indicator = 0.0
        if elapsed != h:
            indicator = 2.0 * (before - growth[at + INTEGRAL] / (elapsed - h))
        growth[at + LOGARITHM] = now
        growth[at + INTEGRAL] += 0.5 * h * (before + now)
        growth[at + MEGNO] += 0.5 * h * (indicator + 2.0 * (now - growth[at + INTEGRAL] / elapsed))
        growth[at + LARGEST] = max(growth[at + LARGEST], now)
    if count > 1:
        sums = differences = 0.0
        for k in range(width):
            a, b = vectors[stride * k], vectors[stride * k + 1]
            sums += weights[k] * (a + b) * (a + b)
            differences += weights[k] * (a - b) * (a - b)
        growth[OF_VECTOR * count + ALIGNED] = sqrt(min(sums, differences))


@jit.inlined
def write_row(y, numbers, count, record, shown, width, at):
    """Record a state and so many numbers beside it: its derivatives; or the growth of vectors alone."""
    recorded, beside = shifted(record, width * at), shifted(shown, count * at)
    for j in range(width):
        recorded[j] = plain(y[j])
    for j in range(count):
        beside[j] = numbers[j]


def march_tangents(begin, behind, n, limit, sizes, addresses):
    """Take members, from ``begin`` to ``behind`` (exclusive), through the n steps of a schedule, with derivatives.

    ``sizes`` and ``addresses`` as above; the first two addresses are unused. SEEDS are the derivatives of the state at
    the start, number by number; RECORD and RECORD_SEEDS receive states and derivatives at the rows: the start, each
    multiple of EVERY, the end. Under ORTHOGONAL and SCALED, RECORD_SEEDS alone receives the numbers at GROWTH, which go
    on from those there; STATES and SEEDS receive where all ended, so that the next call can go on. Returns 0; STATUS
    and DONE receive the status of each member and the number of its completed steps."""
    derivative_rules(RULES, APART)
    bodies_of_system, width, stride, rows = sizes[N], sizes[WIDTH], sizes[STRIDE], sizes[ROWS]
    every, treatment, vectors = sizes[EVERY], sizes[TREATMENT], sizes[VECTORS]
    derivatives = numbers_at(addresses, MEMORY_SEEDS)
    y = active(numbers_at(addresses, MEMORY), derivatives)
    stage_state = shifted(y, width)
    kept = shifted(stage_state, width)
    load = shifted(kept, width)
    work = shifted(load, sizes[LOAD])
    info = counters(numbers_at(addresses, STEP_INFO))
    weights, kinds = numbers_at(addresses, WEIGHTS), OF_VECTOR * vectors + OF_ALL
    ends = numbers_at(addresses, ENDS)
    record, record_seeds = numbers_at(addresses, RECORD), numbers_at(addresses, RECORD_SEEDS)
    if TIMED:
        begins = active(numbers_at(addresses, BEGINS), numbers_at(addresses, BEGINS_SEEDS))
        steps = active(numbers_at(addresses, STEP_SIZES), numbers_at(addresses, STEP_SIZES_SEEDS))
    else:
        begins, steps = numbers_at(addresses, BEGINS), numbers_at(addresses, STEP_SIZES)
    for member in range(begin, behind):
        bodies = shifted(numbers_at(addresses, BODIES), sizes[BODIES_STRIDE] * member)
        frames = shifted(numbers_at(addresses, FRAMES), sizes[FRAMES_STRIDE] * member)
        parameters = shifted(numbers_at(addresses, CONSTANTS), sizes[PARAMETERS_STRIDE] * member)
        if OF_BODIES:
            of_bodies = (
                active(bodies, shifted(numbers_at(addresses, BODIES_SEEDS), stride * sizes[BODIES_STRIDE] * member)),
                active(frames, shifted(numbers_at(addresses, FRAMES_SEEDS), stride * sizes[FRAMES_STRIDE] * member)),
            )
        else:
            of_bodies = (bodies, frames)
        if VARIED:
            behind_seeds = stride * sizes[PARAMETERS_STRIDE] * member
            constants = active(parameters, shifted(numbers_at(addresses, CONSTANTS_SEEDS), behind_seeds))
        else:
            constants = parameters
        p = Workspace(
            bodies_of_system, sizes[B], sizes[S], y, of_bodies[0], constants, loads,
            numbers_at(addresses, COEFFICIENTS), integers_at(addresses, INT_COEFFICIENTS),
            integers_at(addresses, BLOCKS), stage_state, load, work, info, of_bodies[1],
        )  # fmt: skip
        start = active(
            shifted(numbers_at(addresses, STATES), width * member),
            shifted(numbers_at(addresses, SEEDS), sizes[SEEDS_STRIDE] * member),
        )
        for j in range(width):
            y[j] = start[j]
        growth = shifted(numbers_at(addresses, GROWTH), kinds * member)
        info[L.LOADED] = 0.0
        status, done, row, since, span = L.OK, 0, 0, 0, 0.0
        allowed = limit * limit
        if PROCESSED and n > 0:
            status = convert(L.PREPARING, begins[0], steps[0], p)
            info[L.LOADED] = 0.0
        for k in range(n + 1):
            if k > 0:
                h = steps[k - 1]
                info[L.ITERATIONS] = info[L.RESIDUAL] = 0.0
                info[L.NEXT_TIME] = ends[k - 1]
                if SAMPLES:
                    status = set_states(begins[k - 1], p)
                    if status != L.OK:
                        break
                    if treatment == COMMANDED and (k - 1) % every == 0:
                        write_row(y, derivatives, width * stride, record, record_seeds, width, rows * member + row - 1)
                status = step(begins[k - 1], h, p)
                if status != L.OK:
                    break
                speed = plain(squared_speed(bodies_of_system, sizes[S], y, bodies))
                if not speed < inf:
                    status = L.NOT_FINITE
                    break
                size = plain(h)
                if speed * size * size > allowed:
                    status = L.TOO_LARGE
                    break
                done, since, span = k, since + 1, span + size
                if treatment > COMMANDED and (since == sizes[BETWEEN] or k == n or k % every == 0):
                    scaled(derivatives, stride, width, weights, vectors, treatment == ORTHOGONAL, span, growth)
                    since, span = 0, 0.0
                    info[L.LOADED] = 0.0  # cached loads have derivatives along the vectors as they were
            if k % every == 0 or k == n:
                if PROCESSED:
                    for j in range(width):
                        kept[j] = y[j]
                    if k == 0:
                        for j in range(width):
                            y[j] = start[j]
                    else:
                        status = convert(L.PRESENTING, ends[k - 1], steps[k - 1], p)
                        info[L.LOADED] = 0.0
                        if status != L.OK:
                            break
                if SAMPLES and k == n and treatment == COMMANDED:
                    status = set_states(ends[n - 1] if n > 0 else begins[0], p)
                    if status != L.OK:
                        break
                if treatment <= COMMANDED:
                    write_row(y, derivatives, width * stride, record, record_seeds, width, rows * member + row)
                else:
                    write_row(y, growth, kinds, record, record_seeds, 0, rows * member + row)
                if PROCESSED:
                    for j in range(width):
                        y[j] = kept[j]
                row += 1
        if treatment > COMMANDED:
            if PROCESSED and status == L.OK and n > 0:
                status = convert(L.PRESENTING, ends[n - 1], steps[n - 1], p)
                info[L.LOADED] = 0.0
            for j in range(width):
                start[j] = y[j]
        integers_at(addresses, STATUS)[member] = status
        integers_at(addresses, DONE)[member] = done
    return 0
