"""Loads and potential of pair interactions: one pass over all pairs, or over those of a neighbour list.

The pass takes four pairs at a time. Three functions of the system are bound into it:

    pack(i, at, N, y, bodies, c) write the data of body i, WIDTH numbers, to c[at:]
    pair(a, b0, b1, b2, b3, c)   interaction of the body with data at c[a:] and four others: 12 vectors of four, which
                                 are force on a and energy; torque on a and virial; torques on the others, one unused
                                 (in place of a torque, whatever ``turned`` takes, such as the field at the body)
    turned(i, at, sums, y, c)    torque on body i in its principal frame, from its data at c[at:] and the sums of the
                                 torques of its pairs at c[sums:]

c are the parameters with the memory behind them, laid out as in ``kernel.neighbours``. The forces on both bodies of a
pair are exactly opposite. Contributions are added in the order of the bodies, in slices whose number depends on the
number of bodies only: results do not depend on when lists were built, nor on the number of threads that share the
slices (``kernel.work_sharing``).
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

from polhode.kernel import layout as L, work_sharing
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, hole, inlined, integers
from polhode.kernel.neighbours import (
    BOX,
    BUILDS,
    CUTOFF,
    DATA_AT,
    FULL_AT,
    INVERSE_BOX,
    LISTED,
    LISTED_NOW,
    NARROW,
    NO_ROOM,
    NOW_AT,
    ON,
    POTENTIAL_SUM,
    ROW,
    ROWS_AT,
    SLICES,
    SUMS_AT,
    TEAM,
    TOTALS_AT,
    VIRIAL_SUM,
    WIDTH,
    first_of,
    list_rows,
    listed,
    sort_into_cells,
)
from polhode.kernel.simd import greater, lesser, load4, rounded, spread, store4, transposed

WITHOUT_THREADS: dict[Any, Any] = {}
"""Loads of a system of pairs, and the same in one thread, whose source can be translated with derivatives."""
LISTING, TAKING, GIVING = 0, 1, 2
"""Jobs: build the rows of the list; sum over the pairs; write the loads of the bodies."""


pack = hole("pack(i, at, N, y, bodies, c)", "The system's function that writes the data of a body.")
pair = hole("pair(a, b0, b1, b2, b3, c) -> 12 vectors", "The system's interaction of a body with four others.")
turned = hole("turned(i, at, sums, y, c) -> 3-tuple", "The system's torque on a body.")

pairs_of = hole("pairs_of(i, first, count, s, N, c) -> 2 vectors", "``row`` of a system.")
take = hole("take(s, N, c)", "``take_slice`` of a system.")
give = hole("give(s, N, y, c, out)", "``give_slice`` of a system.")
part = hole("part(job, s, n, N, y, c, out)", "``part_of`` of a system.")
lead = hole("lead(count, address)", "``work_sharing.lead`` of a system.")
all_of = hole("all_of(job, n, N, y, c, out)", "``whole`` of a system.")
passed = hole("passed(N, y, bodies, c, out) -> bool", "``pass_of`` of a system.")


@inlined
def apart(a, b0, b1, b2, b3, c):
    """Position at c[a:] minus the nearest images of the positions at c[b0:] ... c[b3:]: x, y, z, four lanes each."""
    x, y, z, _ = transposed(load4(c, b0), load4(c, b1), load4(c, b2), load4(c, b3))
    x, y, z = c[a] - x, c[a + 1] - y, c[a + 2] - z
    x = x - c[BOX] * rounded(x * c[INVERSE_BOX])
    y = y - c[BOX + 1] * rounded(y * c[INVERSE_BOX + 1])
    z = z - c[BOX + 2] * rounded(z * c[INVERSE_BOX + 2])
    return x, y, z


@inlined
def switched(r, inverse, c):
    """Switching factor S(r) of a potential, from 1 at ON to 0 at the cut-off with four continuous derivatives, and
    -S'(r)/r; both exactly 0 beyond. Without a cut-off 1 and 0. ``inverse`` is 1/r."""
    t = lesser(greater((r - c[ON]) * c[NARROW], spread(0.0)), spread(1.0))
    u = 1.0 - t
    square = t * t
    fourth, both = square * square, t * u
    series = 126.0 + t * (t * (540.0 + t * (70.0 * t - 315.0)) - 420.0)
    return 1.0 - t * fourth * series, 630.0 * c[NARROW] * (both * both) * (both * both) * inverse


@inlined
def pushed(c, at, f, h):
    """Subtract a force from the sums of a body, and add to the others."""
    store4(c, at, load4(c, at) - f)
    store4(c, at + 4, load4(c, at + 4) + h)


def row(i, first, count, s, N, c):
    """Sum over ``count`` pairs of body i, with the bodies listed at c[first:] or, where first is 0, with those after i.

    Adds to the sums of the other bodies in slice s; returns those of body i, which the caller adds.
    """
    width, data, w = int(c[WIDTH]), int(c[DATA_AT]), integers(c)
    sums = int(c[SUMS_AT]) + ROW * (N + 1) * s
    a = data + width * i
    F, G = spread(0.0), spread(0.0)
    for k in range(0, count, 4):
        left = count - k
        if first > 0:
            j0 = w[first + k]
            j1 = w[first + k + 1] if left > 1 else j0
            j2 = w[first + k + 2] if left > 2 else j0
            j3 = w[first + k + 3] if left > 3 else j0
        else:
            j0 = i + 1 + k
            j1, j2, j3 = min(j0 + 1, N - 1), min(j0 + 2, N - 1), min(j0 + 3, N - 1)
        f0, f1, f2, f3, g0, g1, g2, g3, h0, h1, h2, h3 = pair(
            a, data + width * j0, data + width * j1, data + width * j2, data + width * j3, c
        )
        f0, f1, f2, f3 = transposed(f0, f1, f2, f3)
        g0, g1, g2, g3 = transposed(g0, g1, g2, g3)
        h0, h1, h2, h3 = transposed(h0, h1, h2, h3)
        F, G = F + f0, G + g0
        pushed(c, sums + ROW * j0, f0, h0)
        if left > 1:
            F, G = F + f1, G + g1
            pushed(c, sums + ROW * j1, f1, h1)
        if left > 2:
            F, G = F + f2, G + g2
            pushed(c, sums + ROW * j2, f2, h2)
        if left > 3:
            F, G = F + f3, G + g3
            pushed(c, sums + ROW * j3, f3, h3)
    return F, G


def take_slice(s, N, c):
    """Sum over the pairs of the bodies of slice s."""
    slices = int(c[SLICES])
    begin, end = first_of(s, slices, N), first_of(s + 1, slices, N)
    sums, rows, w = int(c[SUMS_AT]) + ROW * (N + 1) * s, int(c[ROWS_AT]), integers(c)
    holds = c[int(c[NOW_AT]) + LISTED] == LISTED_NOW
    potential, virial = 0.0, 0.0
    for k in range(ROW * begin, ROW * N):
        c[sums + k] = 0.0
    for i in range(begin, end):
        if holds:
            F, G = pairs_of(i, w[rows + 2 * i], w[rows + 2 * i + 1], s, N, c)
        else:
            F, G = pairs_of(i, 0, N - 1 - i, s, N, c)
        at = sums + ROW * N  # scratch memory of this slice
        store4(c, at, F)
        store4(c, at + 4, G)
        potential += c[at + 3]
        virial += c[at + 7]
        at = sums + ROW * i
        store4(c, at, load4(c, at) + F)
        store4(c, at + 4, load4(c, at + 4) + G)
    totals = int(c[TOTALS_AT]) + 2 * s
    c[totals] = potential
    c[totals + 1] = virial


def give_slice(s, N, y, c, out):
    """Write the loads of the bodies of a part s: sums over the slices that contribute to them."""
    slices = int(c[SLICES])
    sums, data, width = int(c[SUMS_AT]), int(c[DATA_AT]), int(c[WIDTH])
    for i in range(N * s // slices, N * (s + 1) // slices):
        at = sums + ROW * i
        for other in range(1, slices):
            if first_of(other, slices, N) > i:
                break
            there = sums + ROW * (N + 1) * other + ROW * i
            store4(c, at, load4(c, at) + load4(c, there))
            store4(c, at + 4, load4(c, at + 4) + load4(c, there + 4))
        put3(out, L.LOAD * i, get3(c, at))
        put3(out, L.LOAD * i + 3, turned(i, data + width * i, at + 4, y, c))


def part_of(job, s, n, N, y, c, out):
    """Do slice s of a job."""
    if job == LISTING:
        list_rows(s, n, N, c)
    elif job == TAKING:
        take(s, N, c)
    else:
        give(s, N, y, c, out)


def part_by_address(s, address):
    """Do slice s of the job whose arguments stand in the control block at this address."""
    n = (work_sharing.read_slot(address, 1), work_sharing.read_slot(address, 2), work_sharing.read_slot(address, 3))
    y, c = (
        work_sharing.numbers_behind(work_sharing.read_slot(address, 5)),
        work_sharing.numbers_behind(work_sharing.read_slot(address, 6)),
    )
    s = int(c[SLICES]) - 1 - s  # the last slices have the most bodies: taken first, so that threads end together
    part(
        work_sharing.read_slot(address, 0), s, n, work_sharing.read_slot(address, 4), y, c,
        work_sharing.numbers_behind(work_sharing.read_slot(address, 7)),
    )  # fmt: skip


def whole(job, n, N, y, c, out):
    """Do all slices of a job, in one thread or several."""
    slices = int(c[SLICES])
    address = int(c[int(c[NOW_AT]) + TEAM])
    if address == 0 or slices == 1:
        for s in range(slices):
            part(job, s, n, N, y, c, out)
        return
    work_sharing.write_slot(address, 0, job)
    work_sharing.write_slot(address, 1, n[0])
    work_sharing.write_slot(address, 2, n[1])
    work_sharing.write_slot(address, 3, n[2])
    work_sharing.write_slot(address, 4, N)
    work_sharing.write_slot(address, 5, work_sharing.address_of(y))
    work_sharing.write_slot(address, 6, work_sharing.address_of(c))
    work_sharing.write_slot(address, 7, work_sharing.address_of(out))
    lead(slices, address)


def in_turn(job, n, N, y, c, out):
    """Do all slices of a job, one after the other in this thread."""
    for s in range(int(c[SLICES])):
        part(job, s, n, N, y, c, out)


def pass_of(N, y, bodies, c, out):
    """Rebuild the list if necessary and sum over all pairs; False where positions are not finite."""
    nothing, now = (0, 0, 0), int(c[NOW_AT])
    if c[CUTOFF] > 0.0:
        due = listed(N, y, c)
        if due < 0:
            return False
        if due > 0:
            n = sort_into_cells(N, y, c)
            all_of(LISTING, n, N, y, c, out)
            c[now + LISTED] = LISTED_NOW
            for s in range(int(c[SLICES])):
                if c[int(c[FULL_AT]) + s] != 0.0:
                    c[now + LISTED] = NO_ROOM
            c[now + BUILDS] += 1.0
    data, width = int(c[DATA_AT]), int(c[WIDTH])
    for i in range(N):
        pack(i, data + width * i, N, y, bodies, c)
    all_of(TAKING, nothing, N, y, c, out)
    potential, virial = 0.0, 0.0
    for s in range(int(c[SLICES])):
        potential += c[int(c[TOTALS_AT]) + 2 * s]
        virial += c[int(c[TOTALS_AT]) + 2 * s + 1]
    c[now + POTENTIAL_SUM] = potential
    c[now + VIRIAL_SUM] = virial
    return True


def pair_loads(part, t, N, y, bodies, parameters, out):
    """Loads of all bodies, signature LOADS; nan where positions are not finite."""
    if passed(N, y, bodies, parameters, out):
        all_of(GIVING, (0, 0, 0), N, y, parameters, out)
    else:
        for k in range(L.LOAD * N):
            out[k] = float("nan")


def pair_potential(t, N, y, bodies, parameters):
    """Potential energy, signature POTENTIAL; nan where positions are not finite."""
    good = passed(N, y, bodies, parameters, parameters)
    return parameters[int(parameters[NOW_AT]) + POTENTIAL_SUM] if good else float("nan")


@cache
def bound(pack: FunctionType, pair: FunctionType, turned: FunctionType) -> tuple[Any, Any, Any]:
    """Loads and potential of a system of pairs, and the function ``serve`` that its helper threads run."""
    take = helper(bind(take_slice, pairs_of=inlined(bind(row, pair=pair))))
    part = helper(bind(part_of, take=take, give=helper(bind(give_slice, turned=turned))))
    by_address = helper(bind(part_by_address, part=part))
    all_of = helper(bind(whole, part=part, lead=helper(bind(work_sharing.lead, carry_out=by_address))))
    passed = helper(bind(pass_of, pack=pack, all_of=all_of))
    alone = helper(bind(in_turn, part=part))
    loads = bind(pair_loads, passed=passed, all_of=all_of)
    WITHOUT_THREADS[loads] = bind(pair_loads, passed=helper(bind(pass_of, pack=pack, all_of=alone)), all_of=alone)
    return (loads, bind(pair_potential, passed=passed), bind(work_sharing.serve, carry_out=by_address))
