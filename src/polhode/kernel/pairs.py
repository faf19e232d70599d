"""Loads and potential of pair interactions: one pass over all pairs, or over those of a neighbour list.

The pass takes eight pairs at a time. Three functions of the system are bound into it:

    pack(i, at, N, y, bodies, c) write the data of body i, WIDTH numbers, to c[at:]
    pair(a, b, d, left, c)       interaction of the body with data at c[a:] and eight others, at c[b[k]:] and ``apart``
                                 by d: 11 vectors, zero from ``left`` on, which are force on a and energy; torque on a
                                 and virial; minus the torques on the others (in place of a torque, whatever ``turned``
                                 takes, such as a field there)
    turned(i, at, sums, y, c)    torque on body i in its principal frame, from its data at c[at:] and the sums of the
                                 torques of its pairs at c[sums:]

c are the parameters with the memory behind them, laid out as below. The forces on both bodies of a pair are exactly
opposite. The order of sums follows from the numbers of the bodies within the cut-off, in slices whose number depends on
the number of bodies only: results do not depend on when lists were built, nor on the number of threads that share the
slices (``kernel.work_sharing``).

Neighbour lists: pairs within cut-off plus skin, by cells; rebuilt when some body has moved through half the skin.

Row i of a list has the neighbours j > i of body i in rising order, in free space or in a periodic box (nearest images).
Bodies beyond the cut-off are left out before anything is computed of them (``within``), so that sums along a row do not
depend on them: results are bit-identical whenever the list is rebuilt. Where its memory is too small, no list is kept
and the caller takes all pairs, with the same bits.

The settings of a list are at the beginning of the system's parameters; what changes is in the memory behind them,
partly as integers. Rows are cut into slices with equal numbers of possible pairs and separate memory, so that several
threads can build them.
"""

from __future__ import annotations

from functools import cache, partial
from math import floor, inf, sqrt
from types import FunctionType
from typing import Any

import numpy as np

from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, hole, inlined, integers, lowest_bit
from polhode.kernel.simd import below, greater, lesser, load4, load8, pick, rounded, spread8, store8, transposed, up_to
from polhode.kernel.work_sharing import address_of, lead as lead_job, numbers_behind, read_slot, serve, write_slot

CUTOFF, REACH, BOX, INVERSE_BOX, ON, NARROW = 0, 1, 2, 5, 8, 9
SLICES, CAPACITY, WIDTH, CELLS = 10, 11, 12, 13
ARRAYS = 14
(
    NOW_AT, BEFORE_AT, DATA_AT, SUMS_AT, TOTALS_AT, FULL_AT, PLACES_AT,
    ROWS_AT, LIST_AT, CELL_AT, HEADS_AT, ORDER_AT, STARTS_AT, MARKS_AT, NEAR_AT, KEPT_AT,
) = range(ARRAYS, ARRAYS + 16)  # fmt: skip
FIRST_PARAMETER = 32
"""Parameters of a system of pairs; its own ones begin at FIRST_PARAMETER. Names with _AT are offsets of arrays.

=================== ==============================================================================================
CUTOFF, REACH       cut-off (0: none), cut-off plus skin
BOX, INVERSE_BOX    edges of the periodic box (3) and their inverses (0: free space)
ON, NARROW          distance at which switching begins, inverse of its width (0: none)
SLICES, CAPACITY    number of slices; neighbours that a slice has memory for
WIDTH, CELLS        numbers of a body's data; most cells along an edge
NOW_AT              the slots TEAM, LISTED, ... below
BEFORE_AT           positions when the list was built
DATA_AT, SUMS_AT    data of the bodies; sums of each slice, ROW for each body and ROW of scratch memory
TOTALS_AT, FULL_AT  potential and virial of each slice; 1 where a slice ran out of memory
PLACES_AT           positions in the order of cells: all x, all y, all z
ROWS_AT, LIST_AT    integers: first neighbour and count of each row; neighbours
CELL_AT             integers: cell of each body
HEADS_AT, ORDER_AT  integers: first body of each cell; bodies in the order of cells
STARTS_AT           integers, of each slice: first body of each cell that comes after the row's body
MARKS_AT            integers, of each slice: a bit for each body
NEAR_AT             integers, of each slice: the bodies within the cut-off of one; all bodies, where no list holds
KEPT_AT             of each of the last states: 2 where its loads are kept, else 1; potential, virial; places; loads
=================== ==============================================================================================
"""
TEAM, LISTED, BUILDS, POTENTIAL_SUM, VIRIAL_SUM, PASSES = 0, 1, 2, 3, 4, 5
NOW = 8
"""Slots at NOW_AT: address of the control block of several threads (0: one thread); LISTED_NOW while a list is valid,
NO_ROOM where it ran out of memory, 0 before the first; lists built so far; potential and virial of the last evaluation;
how many of which are kept, or were. NOW is their number."""
KEPT = 3
"""States whose loads are kept where there are several slices: rows and what looks at steps ask for them once more."""
LANES, ROW = 8, 8
"""Pairs taken at a time; numbers that pairs add to a body's sums; arrays begin at multiples of it."""
LISTED_NOW, NO_ROOM = 1.0, -1.0
SMALLEST_SLICE, MOST_SLICES = 64, 8
"""Fewest bodies of a slice; most slices. They fix the order of sums: they must not depend on the number of threads."""
MOST_CELLS, CLOSE = 32, 27
"""Most cells along an edge; so many or fewer cells are one: nearly all of them are beside each other."""
DENSEST = 2.0
"""Bodies in a cube of their diameter for which memory is reserved; hard spheres have 1.42 at most."""
THINNEST = 1e-6
PART_OF_SKIN = 0.49
"""Smallest skin over the cut-off; the part of the skin through which a body may move before the list is rebuilt, a
little less than half because of rounding."""
BITS = 5
"""A mark has 2^5 bits, which a non-negative integer holds."""
WITHOUT_THREADS: dict[Any, Any] = {}
"""Loads of a system of pairs, and the same in one thread, whose source can be translated with derivatives."""
ONE_BY_ONE: dict[Any, Any] = {}
"""Loads of a system of pairs, and what binds the same pair after pair, whose source can be translated over lanes."""
LISTING, TAKING, GIVING = 0, 1, 2
"""Jobs: build the rows of the list; sum over the pairs; write the loads of the bodies."""


pack = hole("pack(i, at, N, y, bodies, c)", "The system's function that writes the data of a body.")
pair = hole("pair(a, b, d, left, c) -> 11 vectors", "The system's interaction of a body with eight others.")
turned = hole("turned(i, at, sums, y, c) -> 3-tuple", "The system's torque on a body.")

DATA = hole("DATA", "Where the data of bodies begin.")
WIDE = hole("WIDE", "WIDTH of a system.")
pairs_of = hole("pairs_of(a, first, count, sums, data, width, c, w) -> vector", "``row`` of a system.")
take = hole("take(s, N, c)", "``take_slice`` of a system.")
give = hole("give(s, N, y, c, out)", "``give_slice`` of a system.")
part = hole("part(job, s, n, N, y, c, out)", "``part_of`` of a system.")
lead = hole("lead(count, address)", "``work_sharing.lead`` of a system.")
all_of = hole("all_of(job, n, N, y, c, out)", "``whole`` of a system.")
passed = hole("passed(N, y, bodies, c, out) -> bool", "``pass_of`` of a system.")
computed = hole("computed(part, t, N, y, bodies, c, out)", "``pair_loads`` of a system.")


# ------------------------------------------------------------------ lists
def parameters_of(
    N: int, width: int, own: np.ndarray, cutoff: float, skin: float, box: np.ndarray | None, on: float, size: float
) -> tuple[np.ndarray, int]:
    """Parameters of a system of pairs, followed by its own ones, and the length of the memory behind them.

    ``width`` numbers of data a body; ``own`` parameters of the system; ``box`` edges or None; ``on`` where switching
    begins; ``size`` the diameter of the bodies, which limits the number of neighbours.
    """
    slices = min(MOST_SLICES, max(1, N // SMALLEST_SLICE))
    reach = cutoff + max(skin, THINNEST * cutoff)
    cells = min(MOST_CELLS, int(np.ceil((2 * N) ** (1.0 / 3.0)))) if cutoff else 1
    capacity = 0
    if cutoff:
        around = DENSEST * 4.2 * min(reach / size, N) ** 3 + ROW
        capacity = int(min(around, N) * -(-N // slices)) + 1
    head = np.zeros(FIRST_PARAMETER)
    head[[CUTOFF, REACH, SLICES, CAPACITY, WIDTH, CELLS]] = cutoff, reach, slices, capacity, width, cells
    if box is not None:
        head[BOX : BOX + 3], head[INVERSE_BOX : INVERSE_BOX + 3] = box, 1.0 / np.asarray(box)
    if cutoff:
        head[[ON, NARROW]] = on, 1.0 / (cutoff - on)
    at = FIRST_PARAMETER + len(own)
    start = at
    lengths = (
        NOW, 3 * N, width * N, ROW * (N + 1) * slices, 2 * slices, slices, 3 * (N + 8),
        2 * N, capacity * slices + LANES, N, cells**3 + 1, N, cells**3 * slices, ((N >> BITS) + 1) * slices,
        2 * (N + 16) * slices, KEPT * (ROW + L.BODY * N) * (slices > 1),
    )  # fmt: skip
    for k, length in enumerate(lengths):
        at = -(-at // ROW) * ROW
        head[ARRAYS + k] = at
        at += length
    return np.concatenate([head, own]), at - start


@inlined
def first_of(s, slices, N):
    """The first body of slice s; slices have equal numbers of pairs j > i."""
    return int(N * (1.0 - (1.0 - s / slices) ** 0.5))


@helper
def listed(N, y, c):
    """Whether the list must be rebuilt: 0 no, 1 yes, -1 positions are not finite."""
    largest = inf if c[int(c[NOW_AT]) + LISTED] == 0.0 else 0.0
    for i in range(N):
        r, b = get3(y, L.BODY * i + L.POSITION), int(c[BEFORE_AT]) + 3 * i
        moved = (r[0] - c[b]) ** 2 + (r[1] - c[b + 1]) ** 2 + (r[2] - c[b + 2]) ** 2
        if not moved < inf:
            return -1
        largest = max(largest, moved)
    allowed = PART_OF_SKIN * (c[REACH] - c[CUTOFF])
    return 1 if largest > allowed * allowed else 0


@inlined
def cells_along(extent, reach, most, periodic):
    """Number of cells along an edge, none narrower than the reach; 1 instead of 2 where periodic."""
    n = int(min(max(1.0, floor(extent / reach)), most))
    return 1 if periodic and n < 3 else n


@inlined
def cell_along(u, n):
    """Cell along an edge of a coordinate u, as a fraction of the edge."""
    return min(max(int(u * n), 0), n - 1)


@helper
def sort_into_cells(N, y, c):
    """Sort the bodies into cells; returns the numbers of cells along the edges."""
    low, high = (inf, inf, inf), (-inf, -inf, -inf)
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        put3(c, int(c[BEFORE_AT]) + 3 * i, r)
        low = (min(low[0], r[0]), min(low[1], r[1]), min(low[2], r[2]))
        high = (max(high[0], r[0]), max(high[1], r[1]), max(high[2], r[2]))
    periodic = c[BOX] > 0.0
    extent = get3(c, BOX) if periodic else (high[0] - low[0], high[1] - low[1], high[2] - low[2])
    reach, most = c[REACH], c[CELLS]
    n = (
        cells_along(extent[0], reach, most, periodic),
        cells_along(extent[1], reach, most, periodic),
        cells_along(extent[2], reach, most, periodic),
    )
    if n[0] * n[1] * n[2] <= CLOSE:
        n = 1, 1, 1
    w, cells = integers(c), n[0] * n[1] * n[2]
    heads, order, cell_of = int(c[HEADS_AT]), int(c[ORDER_AT]), int(c[CELL_AT])
    for k in range(cells + 1):
        w[heads + k] = 0
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        if periodic:
            u = (r[0] * c[INVERSE_BOX], r[1] * c[INVERSE_BOX + 1], r[2] * c[INVERSE_BOX + 2])
            u = (u[0] - floor(u[0]), u[1] - floor(u[1]), u[2] - floor(u[2]))
        else:
            u = (
                (r[0] - low[0]) / max(extent[0], 1e-300),
                (r[1] - low[1]) / max(extent[1], 1e-300),
                (r[2] - low[2]) / max(extent[2], 1e-300),
            )
        cell = (cell_along(u[0], n[0]) * n[1] + cell_along(u[1], n[1])) * n[2] + cell_along(u[2], n[2])
        w[cell_of + i] = cell
        w[heads + cell] += 1
    for k in range(cells):
        w[heads + k + 1] += w[heads + k]
    # Backwards, so that heads end at the first body of each cell, and bodies of a cell are in rising order.
    for k in range(N):
        i = N - 1 - k
        at = heads + w[cell_of + i]
        w[at] -= 1
        w[order + w[at]] = i
    places = int(c[PLACES_AT])
    for k in range(N):
        r = get3(y, L.BODY * w[order + k] + L.POSITION)
        c[places + k], c[places + N + 8 + k], c[places + 2 * N + 16 + k] = r
    return n


@inlined
def around(k, n, periodic):
    """Cell k of n along an edge, wrapped if periodic; -1 where there is none."""
    if 0 <= k < n:
        return k
    if not periodic:
        return -1
    return k + n if k < 0 else k - n


@inlined
def nearest(d, edge, inverse):
    """Coordinate differences d to the nearest image."""
    return d - edge * rounded(d * inverse)


@inlined
def pick_near(r, begin, end, found, N, c, w):
    """Write the bodies within reach of position r, among those numbered begin ... end - 1 by cells, to c[found:]; where
    the next ones go."""
    x, y, z = int(c[PLACES_AT]), int(c[PLACES_AT]) + N + 8, int(c[PLACES_AT]) + 2 * N + 16
    order, reach = int(c[ORDER_AT]), c[REACH] * c[REACH]
    for k in range(begin, end, LANES):
        dx = nearest(r[0] - load8(c, x + k), c[BOX], c[INVERSE_BOX])
        dy = nearest(r[1] - load8(c, y + k), c[BOX + 1], c[INVERSE_BOX + 1])
        dz = nearest(r[2] - load8(c, z + k), c[BOX + 2], c[INVERSE_BOX + 2])
        near = below(dx * dx + dy * dy + dz * dz, reach) & ((1 << min(end - k, LANES)) - 1)
        found += pick(w, found, order + k, near)
    return found


@helper
def list_rows(s, n, N, c):
    """Build the rows of slice s of the list; n: numbers of cells along the edges."""
    slices, capacity, w = int(c[SLICES]), int(c[CAPACITY]), integers(c)
    heads, cell_of, rows, before = int(c[HEADS_AT]), int(c[CELL_AT]), int(c[ROWS_AT]), int(c[BEFORE_AT])
    words, cells = (N >> BITS) + 1, n[0] * n[1] * n[2]
    starts = int(c[STARTS_AT]) + s * int(c[CELLS]) ** 3
    marks = int(c[MARKS_AT]) + s * words
    full, near = int(c[FULL_AT]) + s, int(c[NEAR_AT]) + 2 * (N + 16) * s
    c[full] = 0.0
    at = int(c[LIST_AT]) + s * capacity
    end = at + capacity
    first_body, last_body = first_of(s, slices, N), first_of(s + 1, slices, N)
    periodic = c[BOX] > 0.0
    spans = (1 if n[0] > 1 else 0, 1 if n[1] > 1 else 0, 1 if n[2] > 1 else 0)
    for k in range(cells):
        w[starts + k] = w[heads + k]
    for i in range(first_body):
        w[starts + w[cell_of + i]] += 1
    for i in range(first_body, last_body):
        first, cell, found = at, w[cell_of + i], near
        w[starts + cell] += 1  # now the bodies of this cell from here on are later than i
        r = get3(c, before + 3 * i)
        kx, ky, kz = cell // (n[2] * n[1]), cell // n[2] % n[1], cell % n[2]
        for dx in range(-spans[0], spans[0] + 1):
            ax = around(kx + dx, n[0], periodic)
            for dy in range(-spans[1], spans[1] + 1):
                ay = around(ky + dy, n[1], periodic)
                for dz in range(-spans[2], spans[2] + 1):
                    az = around(kz + dz, n[2], periodic)
                    if ax >= 0 and ay >= 0 and az >= 0:
                        other = (ax * n[1] + ay) * n[2] + az
                        found = pick_near(r, w[starts + other], w[heads + other + 1], found, N, c, w)
        if cells > 1:  # marks give the neighbours in rising order
            for k in range(near, found):
                w[marks + (w[k] >> BITS)] |= 1 << (w[k] & ((1 << BITS) - 1))
            found = near
            for k in range(i >> BITS, words):
                bits = w[marks + k]
                w[marks + k] = 0
                while bits != 0:
                    w[found] = (k << BITS) + lowest_bit(bits)
                    bits &= bits - 1
                    found += 1
        if at + found - near > end:
            c[full] = 1.0
            return
        for k in range(near, found):
            w[at + k - near] = w[k]
        at += found - near
        w[rows + 2 * i], w[rows + 2 * i + 1] = first, at - first


# ------------------------------------------------------------------ sums
@inlined
def gathered(c, b, n):
    """The numbers at c[j + n:], four each, of eight indices j: four vectors of eight."""
    return transposed(
        load4(c, b[0] + n), load4(c, b[1] + n), load4(c, b[2] + n), load4(c, b[3] + n),
        load4(c, b[4] + n), load4(c, b[5] + n), load4(c, b[6] + n), load4(c, b[7] + n),
    )  # fmt: skip


@inlined
def apart(a, b, c):
    """Position at c[a:] minus the nearest images of the positions at eight indices b: x, y, z, eight lanes each; and
    the numbers behind those positions."""
    x, y, z, behind = gathered(c, b, 0)
    return (
        nearest(c[a] - x, c[BOX], c[INVERSE_BOX]),
        nearest(c[a + 1] - y, c[BOX + 1], c[INVERSE_BOX + 1]),
        nearest(c[a + 2] - z, c[BOX + 2], c[INVERSE_BOX + 2]),
        behind,
    )


@inlined
def switching(t, inverse, c):
    """Factor and slope where t is 0 at ON and 1 at the cut-off."""
    u = 1.0 - t
    square = t * t
    fourth, both = square * square, t * u
    series = 126.0 + t * (t * (540.0 + t * (70.0 * t - 315.0)) - 420.0)
    return 1.0 - t * fourth * series, 630.0 * c[NARROW] * (both * both) * (both * both) * inverse


@inlined
def switched(r, inverse, left, c):
    """Switching factor S(r) of a potential, from 1 at ON to 0 at the cut-off with four continuous derivatives, and
    -S'(r)/r; both exactly 0 beyond, and in lanes from ``left`` on. Without a cut-off 1 and 0. ``inverse`` is 1/r."""
    S, slope = switching(lesser(greater((r - c[ON]) * c[NARROW], spread8(0.0)), spread8(1.0)), inverse, c)
    return up_to(S, left), up_to(slope, left)


@inlined
def places(k, data, width, w):
    """Where the data begin of the eight bodies whose numbers stand at c[k:], of those whose data are at c[data:]."""
    return (
        data + width * w[k], data + width * w[k + 1], data + width * w[k + 2], data + width * w[k + 3],
        data + width * w[k + 4], data + width * w[k + 5], data + width * w[k + 6], data + width * w[k + 7],
    )  # fmt: skip


@inlined
def within(a, first, count, near, data, width, c, w):
    """Copy those of ``count`` numbers at c[first:] whose bodies are within the cut-off of the one with data at c[a:] to
    c[near:], and the last of them seven times more; returns how many they are."""
    reach, n = c[CUTOFF] * c[CUTOFF], near
    for k in range(first, first + count, LANES):
        x, y, z, _ = apart(a, places(k, data, width, w), c)
        n += pick(w, n, k, below(x * x + y * y + z * z, reach) & ((1 << min(first + count - k, LANES)) - 1))
    for k in range(n, n + LANES - 1 if n > near else n):
        w[k] = w[n - 1]
    return n - near


@inlined
def pushed(c, at, f):
    """Subtract from the sums of a body."""
    store8(c, at, load8(c, at) - f)


def row(a, first, count, sums, data, width, c, w):
    """Sum over the pairs of the body with data at c[a:] and the ``count`` bodies numbered at c[first:], behind which
    fifteen more numbers stand, as distances, for which all else waits, are taken eight ahead: added to the sums of the
    others; that of the body is returned, for the caller to add."""
    zero = spread8(0.0)
    F0, F1, F2, F3, G0, G1, G2, G3 = zero, zero, zero, zero, zero, zero, zero, zero
    ahead = apart(a, places(first, data, width, w), c)
    for k in range(first, first + count, LANES):
        d, ahead = ahead, apart(a, places(k + LANES, data, width, w), c)
        f0, f1, f2, f3, g0, g1, g2, g3, h0, h1, h2 = pair(a, places(k, data, width, w), d, first + count - k, c)
        F0, F1, F2, F3, G0, G1, G2, G3 = F0 + f0, F1 + f1, F2 + f2, F3 + f3, G0 + g0, G1 + g1, G2 + g2, G3 + g3
        f0, f1, f2, f3, g0, g1, g2, g3 = transposed(f0, f1, f2, zero, h0, h1, h2, zero)
        pushed(c, sums + ROW * w[k], f0)
        pushed(c, sums + ROW * w[k + 1], f1)
        pushed(c, sums + ROW * w[k + 2], f2)
        pushed(c, sums + ROW * w[k + 3], f3)
        pushed(c, sums + ROW * w[k + 4], g0)
        pushed(c, sums + ROW * w[k + 5], g1)
        pushed(c, sums + ROW * w[k + 6], g2)
        pushed(c, sums + ROW * w[k + 7], g3)
    F0, F1, F2, F3, G0, G1, G2, G3 = transposed(F0, F1, F2, F3, G0, G1, G2, G3)
    return ((F0 + F1) + (F2 + F3)) + ((G0 + G1) + (G2 + G3))


def take_slice(s, N, c):
    """Sum over the pairs of the bodies of slice s."""
    slices = int(c[SLICES])
    begin, end = first_of(s, slices, N), first_of(s + 1, slices, N)
    sums, rows, w = int(c[SUMS_AT]) + ROW * (N + 1) * s, int(c[ROWS_AT]), integers(c)
    near, every = int(c[NEAR_AT]) + 2 * (N + 16) * s, int(c[NEAR_AT]) + (N + 16) * (2 * s + 1)
    data, width = int(c[DATA_AT]), int(c[WIDTH])
    holds = c[int(c[NOW_AT]) + LISTED] == LISTED_NOW
    potential, virial = 0.0, 0.0
    for k in range(ROW * begin, ROW * N, ROW):
        store8(c, sums + k, spread8(0.0))
    if not holds:
        for j in range(N + 2 * LANES - 1):
            w[every + j] = min(j, N - 1)
    for i in range(begin, end):
        first, count = every + i + 1, N - 1 - i
        if holds:
            first, count = w[rows + 2 * i], w[rows + 2 * i + 1]
        if c[CUTOFF] > 0.0:
            first, count = near, within(data + width * i, first, count, near, data, width, c, w)
        F = pairs_of(data + width * i, first, count, sums, data, width, c, w)
        at = sums + ROW * N  # scratch memory of this slice
        store8(c, at, F)
        potential += c[at + 3]
        virial += c[at + 7]
        at = sums + ROW * i
        store8(c, at, load8(c, at) + F)
    totals = int(c[TOTALS_AT]) + 2 * s
    c[totals], c[totals + 1] = potential, virial


def give_slice(s, N, y, c, out):
    """Write the loads of the bodies of a part s: sums over the slices that contribute to them."""
    slices = int(c[SLICES])
    sums, data, width = int(c[SUMS_AT]), int(c[DATA_AT]), int(c[WIDTH])
    begin, end = N * s // slices, N * (s + 1) // slices
    for other in range(1, slices):
        for at in range(sums + ROW * max(begin, first_of(other, slices, N)), sums + ROW * end, ROW):
            store8(c, at, load8(c, at) + load8(c, at + ROW * (N + 1) * other))
    for i in range(begin, end):
        at = sums + ROW * i
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
    n, N = (read_slot(address, 1), read_slot(address, 2), read_slot(address, 3)), read_slot(address, 4)
    y, c, out = (numbers_behind(read_slot(address, 5)), numbers_behind(read_slot(address, 6)),
                 numbers_behind(read_slot(address, 7)))  # fmt: skip
    s = int(c[SLICES]) - 1 - s  # the last slices have the most bodies: taken first, so that threads end together
    part(read_slot(address, 0), s, n, N, y, c, out)


def whole(job, n, N, y, c, out):
    """Do all slices of a job, in one thread or several."""
    slices = int(c[SLICES])
    address = int(c[int(c[NOW_AT]) + TEAM])
    if address == 0 or slices == 1:
        for s in range(slices):
            part(job, s, n, N, y, c, out)
        return
    write_slot(address, 0, job)
    write_slot(address, 1, n[0])
    write_slot(address, 2, n[1])
    write_slot(address, 3, n[2])
    write_slot(address, 4, N)
    write_slot(address, 5, address_of(y))
    write_slot(address, 6, address_of(c))
    write_slot(address, 7, address_of(out))
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
    c[now + POTENTIAL_SUM], c[now + VIRIAL_SUM] = potential, virial
    return True


@helper
def kept_at(N, y, c):
    """Where what the loads of this state came to is kept, also as that of the last evaluation; -1 where it is not."""
    now = int(c[NOW_AT])
    for k in range(int(min(c[now + PASSES], KEPT))):
        at, i = int(c[KEPT_AT]) + k * (ROW + L.BODY * N), 0
        while i < N:
            a, b = L.BODY * i, at + ROW + 7 * i
            same = y[a + L.POSITION] == c[b] and y[a + L.POSITION + 1] == c[b + 1] and y[a + L.POSITION + 2] == c[b + 2]
            for j in range(4):
                same = same and y[a + L.ATTITUDE + j] == c[b + 3 + j]
            if not same:
                break
            i += 1
        if i == N:
            c[now + POTENTIAL_SUM], c[now + VIRIAL_SUM] = c[at + 1], c[at + 2]
            return at
    return -1


@helper
def keep(known, N, y, c, out):
    """Keep what the last evaluation came to, that of this state, with the loads where 2 is known."""
    now, of_state = int(c[NOW_AT]), ROW + L.BODY * N
    if c[SLICES] == 1.0:
        return
    at = int(c[KEPT_AT]) + int(c[now + PASSES]) % KEPT * of_state
    c[now + PASSES] += 1.0
    c[at], c[at + 1], c[at + 2] = known, c[now + POTENTIAL_SUM], c[now + VIRIAL_SUM]
    for i in range(N):
        a, b = L.BODY * i, at + ROW + 7 * i
        put3(c, b, get3(y, a + L.POSITION))
        for j in range(4):
            c[b + 3 + j] = y[a + L.ATTITUDE + j]
    if known == 2.0:
        for k in range(L.LOAD * N):
            c[at + ROW + 7 * N + k] = out[k]


def pair_loads(part, t, N, y, bodies, parameters, out):
    """Loads of all bodies, signature LOADS; nan where positions are not finite."""
    if passed(N, y, bodies, parameters, out):
        all_of(GIVING, (0, 0, 0), N, y, parameters, out)
    else:
        for k in range(L.LOAD * N):
            out[k] = float("nan")


def kept_loads(part, t, N, y, bodies, parameters, out):
    """The same; those of the last states are kept."""
    at = kept_at(N, y, parameters)
    if at >= 0 and parameters[at] == 2.0:
        for k in range(L.LOAD * N):
            out[k] = parameters[at + ROW + 7 * N + k]
        return
    computed(part, t, N, y, bodies, parameters, out)
    keep(2.0, N, y, parameters, out)


def pair_potential(t, N, y, bodies, parameters):
    """Potential energy, signature POTENTIAL; nan where positions are not finite."""
    if kept_at(N, y, parameters) < 0:
        if not passed(N, y, bodies, parameters, parameters):
            return float("nan")
        keep(1.0, N, y, parameters, parameters)
    return parameters[int(parameters[NOW_AT]) + POTENTIAL_SUM]


# ------------------------------------------------------------------ one pair after the other
@inlined
def gathered_of_one(c, b, n):
    """Four numbers at c[b + n:]."""
    return c[b + n], c[b + n + 1], c[b + n + 2], c[b + n + 3]


@inlined
def switched_of_one(r, inverse, left, c):
    """As ``switched``, of one pair."""
    t = min(max((r - c[ON]) * c[NARROW], 0.0), 1.0)
    return switching(t, inverse, c)


@inlined
def root_of_one(a):
    """As ``reciprocal_roots``."""
    return 1.0 / sqrt(a)


@inlined
def where_of_one(condition, a, b):
    """The one or the other."""
    return a if condition else b


def every_pair(part, t, N, y, bodies, c, out):
    """Loads of all bodies, by all pairs within the cut-off; bound is ``pair`` of one other body. The data of all, and
    ROW sums of each, are at c[DATA:]."""
    sums, reach = DATA + WIDE * N, c[CUTOFF] * c[CUTOFF] if c[CUTOFF] > 0.0 else inf
    for i in range(N):
        pack(i, DATA + WIDE * i, N, y, bodies, c)
        for k in range(ROW):
            c[sums + ROW * i + k] = 0.0
    for i in range(N):
        a, own = DATA + WIDE * i, sums + ROW * i
        for j in range(i + 1, N):
            b, at = DATA + WIDE * j, sums + ROW * j
            dx, dy, dz = c[a] - c[b], c[a + 1] - c[b + 1], c[a + 2] - c[b + 2]
            dx, dy = dx - c[BOX] * np.rint(dx * c[INVERSE_BOX]), dy - c[BOX + 1] * np.rint(dy * c[INVERSE_BOX + 1])
            dz = dz - c[BOX + 2] * np.rint(dz * c[INVERSE_BOX + 2])
            if not dx * dx + dy * dy + dz * dz >= reach:  # as of what is not finite
                f0, f1, f2, _V, g0, g1, g2, _virial, h0, h1, h2 = pair(a, b, (dx, dy, dz, c[b + 3]), 1, c)
                put3(c, own, (c[own] + f0, c[own + 1] + f1, c[own + 2] + f2))
                put3(c, own + 4, (c[own + 4] + g0, c[own + 5] + g1, c[own + 6] + g2))
                put3(c, at, (c[at] - f0, c[at + 1] - f1, c[at + 2] - f2))
                put3(c, at + 4, (c[at + 4] - h0, c[at + 5] - h1, c[at + 6] - h2))
        put3(out, L.LOAD * i, get3(c, own))
        put3(out, L.LOAD * i + 3, turned(i, a, own + 4, y, c))


@cache
def bound(pack: FunctionType, pair: FunctionType, turned: FunctionType, of_one: FunctionType) -> tuple[Any, Any, Any]:
    """Loads and potential of a system of pairs, and the function ``serve`` that its helper threads run; ``of_one`` is
    ``pair`` with one other body."""
    take = helper(bind(take_slice, pairs_of=inlined(bind(row, pair=pair))))
    part = helper(bind(part_of, take=take, give=helper(bind(give_slice, turned=turned))))
    by_address = helper(bind(part_by_address, part=part))
    all_of = helper(bind(whole, part=part, lead=helper(bind(lead_job, carry_out=by_address))))
    passed = helper(bind(pass_of, pack=pack, all_of=all_of))
    alone = helper(bind(in_turn, part=part))
    loads = bind(kept_loads, computed=helper(bind(pair_loads, passed=passed, all_of=all_of)))
    ONE_BY_ONE[loads] = partial(bind, every_pair, pack=pack, pair=of_one, turned=turned)
    WITHOUT_THREADS[loads] = bind(pair_loads, passed=helper(bind(pass_of, pack=pack, all_of=alone)), all_of=alone)
    return (loads, bind(pair_potential, passed=passed), bind(serve, carry_out=by_address))
