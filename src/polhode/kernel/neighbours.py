"""Neighbour lists: pairs within cut-off plus skin, by cells; rebuilt when some body has moved through half the skin.

Row i of a list has the neighbours j > i of body i in rising order, in free space or in a periodic box (nearest images).
Since forces beyond the cut-off are exactly zero, sums along a row do not depend on the further pairs in it: results are
bit-identical whenever the list is rebuilt. Where its memory is too small, no list is kept and the caller takes all
pairs, with the same bits.

The settings of a list are at the beginning of the system's parameters; what changes is in the memory behind them,
partly as integers. Rows are cut into slices with equal numbers of possible pairs and separate memory, so that several
threads can build them.
"""

from __future__ import annotations

from math import floor, inf

import numpy as np

from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import helper, inlined, integers, lowest_bit
from polhode.kernel.simd import below, load4, rounded

CUTOFF, REACH, BOX, INVERSE_BOX, ON, NARROW = 0, 1, 2, 5, 8, 9
SLICES, CAPACITY, WIDTH, CELLS = 10, 11, 12, 13
ARRAYS = 14
(
    NOW_AT, BEFORE_AT, DATA_AT, SUMS_AT, TOTALS_AT, FULL_AT, PLACES_AT,
    ROWS_AT, LIST_AT, CELL_AT, HEADS_AT, ORDER_AT, STARTS_AT, MARKS_AT,
) = range(ARRAYS, ARRAYS + 14)  # fmt: skip
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
=================== ==============================================================================================
"""
TEAM, LISTED, BUILDS, POTENTIAL_SUM, VIRIAL_SUM = 0, 1, 2, 3, 4
NOW = 8
"""Slots at NOW_AT: address of the control block of several threads (0: one thread); LISTED_NOW while a list is valid,
NO_ROOM where it ran out of memory, 0 before the first; lists built so far; potential and virial of the last evaluation.
NOW is their number."""
ROW = 8
"""Numbers that pairs add to a body's sums; arrays begin at multiples of it."""
LISTED_NOW, NO_ROOM = 1.0, -1.0
SMALLEST_SLICE, MOST_SLICES = 64, 8
"""Fewest bodies of a slice; most slices. They fix the order of sums: they must not depend on the number of threads."""
MOST_CELLS = 32
DENSEST = 2.0
"""Bodies in a cube of their diameter for which memory is reserved; hard spheres have 1.42 at most."""
THINNEST = 1e-6
PART_OF_SKIN = 0.49
"""Smallest skin over the cut-off; the part of the skin through which a body may move before the list is rebuilt, a
little less than half because of rounding."""
BITS = 5
"""A mark has 2^5 bits, which a non-negative integer holds."""


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
        NOW, 3 * N, width * N, ROW * (N + 1) * slices, 2 * slices, slices, 3 * (N + 4),
        2 * N, capacity * slices, N, cells**3 + 1, N, cells**3 * slices, ((N >> BITS) + 1) * slices,
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
    largest = 0.0
    if c[int(c[NOW_AT]) + LISTED] == 0.0:
        largest = inf
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
        c[places + k], c[places + N + 4 + k], c[places + 2 * N + 8 + k] = r
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
def mark_near(r, begin, end, marks, N, c, w):
    """Set the bits of the bodies within reach of position r, among those numbered begin ... end - 1 by cells."""
    x, y, z = int(c[PLACES_AT]), int(c[PLACES_AT]) + N + 4, int(c[PLACES_AT]) + 2 * N + 8
    order, reach = int(c[ORDER_AT]), c[REACH] * c[REACH]
    for k in range(begin, end, 4):
        dx = nearest(r[0] - load4(c, x + k), c[BOX], c[INVERSE_BOX])
        dy = nearest(r[1] - load4(c, y + k), c[BOX + 1], c[INVERSE_BOX + 1])
        dz = nearest(r[2] - load4(c, z + k), c[BOX + 2], c[INVERSE_BOX + 2])
        near = below(dx * dx + dy * dy + dz * dz, reach)
        if end - k < 4:
            near &= (1 << (end - k)) - 1
        while near != 0:
            j = w[order + k + lowest_bit(near)]
            near &= near - 1
            w[marks + (j >> BITS)] |= 1 << (j & ((1 << BITS) - 1))


@helper
def list_rows(s, n, N, c):
    """Build the rows of slice s of the list; n: numbers of cells along the edges."""
    slices, capacity, w = int(c[SLICES]), int(c[CAPACITY]), integers(c)
    heads, cell_of, rows, before = int(c[HEADS_AT]), int(c[CELL_AT]), int(c[ROWS_AT]), int(c[BEFORE_AT])
    words, cells = (N >> BITS) + 1, n[0] * n[1] * n[2]
    starts = int(c[STARTS_AT]) + s * int(c[CELLS]) ** 3
    marks = int(c[MARKS_AT]) + s * words
    full = int(c[FULL_AT]) + s
    c[full] = 0.0
    at = int(c[LIST_AT]) + s * capacity
    end = at + capacity
    first_body, last_body = first_of(s, slices, N), first_of(s + 1, slices, N)
    periodic = c[BOX] > 0.0
    spans = (1 if n[0] > 1 else 0, 1 if n[1] > 1 else 0, 1 if n[2] > 1 else 0)
    for k in range(words):
        w[marks + k] = 0
    for k in range(cells):
        w[starts + k] = w[heads + k]
    for i in range(first_body):
        w[starts + w[cell_of + i]] += 1
    for i in range(first_body, last_body):
        first, cell = at, w[cell_of + i]
        w[starts + cell] += 1  # now the bodies of this cell from here on are later than i
        r = get3(c, before + 3 * i)
        kz = cell % n[2]
        ky = cell // n[2] % n[1]
        kx = cell // (n[2] * n[1])
        for dx in range(-spans[0], spans[0] + 1):
            ax = around(kx + dx, n[0], periodic)
            for dy in range(-spans[1], spans[1] + 1):
                ay = around(ky + dy, n[1], periodic)
                for dz in range(-spans[2], spans[2] + 1):
                    az = around(kz + dz, n[2], periodic)
                    if ax >= 0 and ay >= 0 and az >= 0:
                        other = (ax * n[1] + ay) * n[2] + az
                        mark_near(r, w[starts + other], w[heads + other + 1], marks, N, c, w)
        # The marks give the neighbours in rising order.
        for k in range(i >> BITS, words):
            near = w[marks + k]
            w[marks + k] = 0
            while near != 0:
                if at == end:
                    c[full] = 1.0
                    return
                w[at] = (k << BITS) + lowest_bit(near)
                near &= near - 1
                at += 1
        w[rows + 2 * i] = first
        w[rows + 2 * i + 1] = at - first
