"""Who is near whom: lists of pairs within a cut-off and a skin, kept until some body has moved through half the skin.

A row of a list has the neighbours j > i of body i in rising order, in free space or in a periodic box (nearest images).
Forces beyond the cut-off being exactly zero, sums along a row do not depend on what else is in it: a list that is made
again, earlier or later, changes no bit of a result. Where the memory for a list is too small, no list is kept and the
caller takes all pairs, with the same bits.

What a list needs to know is at the beginning of the system's parameters; all that changes is in the memory behind them,
partly as integers. Rows are cut into slices of equal numbers of pairs, each with a place of its own, so that several
threads can make them.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any

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
OWN_NUMBERS = 32
"""Parameters of a system of pairs. Cut-off (0: none), and with the skin; edges of the box and their inverses (0: none);
where switching begins, and the inverse of its width (0: none). Slices; neighbours a slice has room for; width of a
body's data; most cells along an edge. Where the arrays are: what goes on now; places at the last listing; data of the
bodies, sums of each slice, their potentials and virials, whether slices were full; places by cell, all x, all y, all z;
and of integers rows (first and count), neighbours, cell of each body, first body of each cell, bodies by cell, and of
each slice where the later bodies of each cell begin, and a bit for each body. The system's own numbers follow from
OWN_NUMBERS on."""
TEAM, LISTED, BUILDS, POTENTIAL_SUM, VIRIAL_SUM = 0, 1, 2, 3, 4
NOW = 8
"""What goes on now: address of the control block of several threads (0: one thread); 1 while a list holds, -1 where
there was no room for one; lists made so far; sums of the last evaluation."""
ROW = 8
"""Numbers that pairs give to a body; arrays begin at multiples of it."""
LISTED_NOW, NO_ROOM = 1.0, -1.0
SMALLEST_SLICE, MOST_SLICES = 64, 8
"""Bodies of a slice; slices. They fix the order of sums, so they must not depend on the number of threads."""
MOST_CELLS = 32
DENSEST = 2.0
"""Bodies in a cube of their diameter for which memory is set aside; hard spheres have 1.42 at most."""
THINNEST = 1e-6
PART_OF_SKIN = 0.49
"""Smallest skin, in units of the cut-off; the part of it through which a body may move before a list is made again,
less than half for the sake of rounding."""
BITS = 5
"""A mark has 2^5 bits: an integer holds them without its sign."""


def parameters_of(
    N: int, width: int, own: Any, cutoff: float, skin: float, box: Any, on: float, size: float
) -> tuple[Any, int]:
    """Parameters of a system of pairs with its own numbers behind them, and the length of the memory.

    ``size`` is the diameter of the bodies, from which follows how many neighbours one may have.
    """
    slices = min(MOST_SLICES, max(1, N // SMALLEST_SLICE))
    reach = cutoff + max(skin, THINNEST * cutoff)
    cells = min(MOST_CELLS, int(np.ceil((2 * N) ** (1.0 / 3.0)))) if cutoff else 1
    capacity = 0
    if cutoff:
        around = DENSEST * 4.2 * (reach / size) ** 3 + ROW
        capacity = int(min(around, N) * -(-N // slices)) + 1
    head = np.zeros(OWN_NUMBERS)
    head[[CUTOFF, REACH, SLICES, CAPACITY, WIDTH, CELLS]] = cutoff, reach, slices, capacity, width, cells
    if box is not None:
        head[BOX : BOX + 3], head[INVERSE_BOX : INVERSE_BOX + 3] = box, 1.0 / np.asarray(box)
    if cutoff:
        head[[ON, NARROW]] = on, 1.0 / (cutoff - on)
    at = OWN_NUMBERS + len(own)
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
    """The first body of a slice; slices have equal numbers of pairs j > i."""
    return int(N * (1.0 - (1.0 - s / slices) ** 0.5))


@helper
def listed(N, y, c):
    """What there is to do before pairs are taken: 0 nothing; 1 a list is to be made; -1 positions are not finite."""
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
    """Cells along an edge, none narrower than the reach; one where three would not be different ones."""
    n = int(min(max(1.0, floor(extent / reach)), most))
    return 1 if periodic and n < 3 else n


@inlined
def cell_along(u, n):
    """Cell of a place, u being its part of the edge."""
    return min(max(int(u * n), 0), n - 1)


@helper
def sort_into_cells(N, y, c):
    """Put the bodies into cells; returns the numbers of cells along the edges."""
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
    # Backwards, so that heads end as the first of each cell, and bodies of a cell are in rising order.
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
    """The cell k of n along an edge, wrapped; -1 where there is none."""
    if 0 <= k < n:
        return k
    if not periodic:
        return -1
    return k + n if k < 0 else k - n


@inlined
def nearest(d, edge, inverse):
    """Differences of coordinates, to the nearest image."""
    return d - edge * rounded(d * inverse)


@inlined
def mark_near(r, begin, end, marks, N, c, w):
    """Set the bits of those bodies that are near a place, among some of a cell."""
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
    """Make the rows of a slice of the list."""
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
        w[starts + cell] += 1  # from here on the bodies of a cell are later ones
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
        # Read from the marks, the neighbours are in rising order.
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
