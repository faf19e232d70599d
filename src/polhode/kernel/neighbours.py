"""Who is near whom: lists of pairs within a cut-off and a skin, kept until some body has moved through half the skin.

A row of a list has the neighbours j > i of body i in rising order, in free space or in a periodic box (nearest images).
Forces beyond the cut-off being exactly zero, sums along a row do not depend on what else is in it: a list that is made
again, earlier or later, changes no bit of a result. Where the memory for a list is too small, no list is kept and the
caller takes all pairs, with the same bits.

All of it is in the system's parameters: what a list needs to know at their beginning, its memory behind them. Rows are
cut into slices of equal numbers of pairs, each with a place of its own, so that several threads can make them.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any

import numpy as np

from polhode.kernel.access import get3, put3
from polhode.kernel.jit import helper, inlined
from polhode.kernel.signatures import BODY, POSITION

CUTOFF, REACH, BOX, INVERSE_BOX, ON, NARROW = 0, 1, 2, 5, 8, 9
SLICES, CAPACITY, WIDTH, CELLS = 10, 11, 12, 13
TEAM, LISTED, BUILDS, POTENTIAL_SUM, VIRIAL_SUM = 14, 15, 16, 17, 18
ARRAYS = 19
BEFORE_AT, DATA_AT, SUMS_AT, TOTALS_AT, ROWS_AT, LIST_AT, CELL_AT, HEADS_AT, ORDER_AT, FULL_AT = range(
    ARRAYS, ARRAYS + 10
)
OWN_NUMBERS = 32
"""Parameters of a system of pairs. Cut-off (0: none), and with the skin; edges of the box and their inverses (0: none);
where switching begins, and the inverse of its width (0: none). Slices; neighbours a slice has room for; width of a
body's data; most cells along an edge. Address of the control block of several threads (0: one thread); 1 while a list
holds, -1 where there was no room for one; lists made so far; sums of the last evaluation. Where the arrays are: places
at the last listing, data of the bodies, sums of each slice, their potentials and virials, rows (first and count),
neighbours, cell of each body, first body of each cell, bodies by cell, whether slices were full. The system's own
numbers follow from OWN_NUMBERS on."""
ROW = 8
"""Numbers that pairs give to a body; arrays begin at multiples of it."""
LISTED_NOW, NO_ROOM = 1.0, -1.0
SMALLEST_SLICE, MOST_SLICES = 64, 8
"""Bodies of a slice; slices. They fix the order of sums, so they must not depend on the number of threads."""
MOST_CELLS = 32
DENSEST = 2.0
"""Bodies in a cube of their diameter for which memory is set aside; hard spheres have 1.42 at most."""


def parameters_of(
    N: int, width: int, own: Any, cutoff: float, skin: float, box: Any, on: float, size: float
) -> tuple[Any, int]:
    """Parameters of a system of pairs with its own numbers behind them, and the length of the memory.

    ``size`` is the diameter of the bodies, from which follows how many neighbours one may have.
    """
    slices = min(MOST_SLICES, max(1, N // SMALLEST_SLICE))
    reach = cutoff + skin
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
        3 * N, width * (N + 1), ROW * (N + 1) * slices, 2 * slices, 2 * N, capacity * slices, N, cells**3 + 1, N, slices
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


@inlined
def nearest(x, edge, inverse):
    """A difference of coordinates, to the nearest image."""
    return x - edge * np.rint(x * inverse)


@helper
def listed(N, y, c):
    """What there is to do before pairs are taken: 0 nothing; 1 a list is to be made; -1 positions are not finite."""
    largest = 0.0
    if c[LISTED] == 0.0:
        largest = inf
    for i in range(N):
        r, b = get3(y, BODY * i + POSITION), int(c[BEFORE_AT]) + 3 * i
        moved = (r[0] - c[b]) ** 2 + (r[1] - c[b + 1]) ** 2 + (r[2] - c[b + 2]) ** 2
        if not moved < inf:
            return -1
        largest = max(largest, moved)
    allowed = 0.5 * (c[REACH] - c[CUTOFF])
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
        r = get3(y, BODY * i + POSITION)
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
    heads, order, cell_of = int(c[HEADS_AT]), int(c[ORDER_AT]), int(c[CELL_AT])
    for k in range(n[0] * n[1] * n[2] + 1):
        c[heads + k] = 0.0
    for i in range(N):
        r = get3(y, BODY * i + POSITION)
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
        c[cell_of + i] = cell
        c[heads + cell + 1] += 1.0
    for k in range(n[0] * n[1] * n[2]):
        c[heads + k + 1] += c[heads + k]
    # Backwards, so that heads end as the first of each cell, and bodies of a cell are in rising order.
    for k in range(N):
        i = N - 1 - k
        at = heads + int(c[cell_of + i]) + 1
        c[at] -= 1.0
        c[order + int(c[at])] = i
    cells = n[0] * n[1] * n[2]
    for k in range(cells):
        c[heads + k] = c[heads + k + 1]
    c[heads + cells] = N
    return n


@inlined
def around(k, n, periodic):
    """The cell k of n along an edge, wrapped; -1 where there is none."""
    if 0 <= k < n:
        return k
    if not periodic:
        return -1
    return k + n if k < 0 else k - n


@helper
def list_rows(s, n, N, y, c):
    """Make the rows of a slice of the list."""
    slices, capacity = int(c[SLICES]), int(c[CAPACITY])
    heads, order, cell_of, rows = int(c[HEADS_AT]), int(c[ORDER_AT]), int(c[CELL_AT]), int(c[ROWS_AT])
    full = int(c[FULL_AT]) + s
    c[full] = 0.0
    begin = int(c[LIST_AT]) + s * capacity
    at, end = begin, begin + capacity
    periodic = c[BOX] > 0.0
    reach = c[REACH] * c[REACH]
    box, inverse = get3(c, BOX), get3(c, INVERSE_BOX)
    spans = (1 if n[0] > 1 else 0, 1 if n[1] > 1 else 0, 1 if n[2] > 1 else 0)
    for i in range(first_of(s, slices, N), first_of(s + 1, slices, N)):
        first = at
        r = get3(y, BODY * i + POSITION)
        cell = int(c[cell_of + i])
        kz = cell % n[2]
        ky = cell // n[2] % n[1]
        kx = cell // (n[2] * n[1])
        for dx in range(-spans[0], spans[0] + 1):
            ax = around(kx + dx, n[0], periodic)
            for dy in range(-spans[1], spans[1] + 1):
                ay = around(ky + dy, n[1], periodic)
                for dz in range(-spans[2], spans[2] + 1):
                    az = around(kz + dz, n[2], periodic)
                    if ax < 0 or ay < 0 or az < 0:
                        continue
                    other = heads + (ax * n[1] + ay) * n[2] + az
                    for k in range(int(c[other]), int(c[other + 1])):
                        j = int(c[order + k])
                        if j <= i:
                            continue
                        q = get3(y, BODY * j + POSITION)
                        x = nearest(r[0] - q[0], box[0], inverse[0])
                        z = nearest(r[1] - q[1], box[1], inverse[1])
                        w = nearest(r[2] - q[2], box[2], inverse[2])
                        if x * x + z * z + w * w < reach:
                            if at == end:
                                c[full] = 1.0
                                return
                            # Runs of rising numbers, a cell's each, are merged as they come.
                            place = at
                            while place > first and c[place - 1] > j:
                                c[place] = c[place - 1]
                                place -= 1
                            c[place] = j
                            at += 1
        c[rows + 2 * i] = first
        c[rows + 2 * i + 1] = at - first
