"""Read and write 3, 4 or 9 numbers of flat memory (a pointer or an array) as a tuple; find a row of a table there."""

from __future__ import annotations

import numpy as np

from polhode.kernel.jit import helper, inlined


@inlined
def get3(y, k):
    """The 3-tuple at ``y[k:k + 3]``."""
    return (y[k], y[k + 1], y[k + 2])


@inlined
def get4(y, k):
    """The 4-tuple at ``y[k:k + 4]``."""
    return (y[k], y[k + 1], y[k + 2], y[k + 3])


@inlined
def put3(y, k, a):
    """Write a 3-tuple to ``y[k:k + 3]``."""
    y[k] = a[0]
    y[k + 1] = a[1]
    y[k + 2] = a[2]


@inlined
def put4(y, k, a):
    """Write a 4-tuple to ``y[k:k + 4]``."""
    y[k] = a[0]
    y[k + 1] = a[1]
    y[k + 2] = a[2]
    y[k + 3] = a[3]


@inlined
def get9(y, k):
    """The 9-tuple at ``y[k:k + 9]``."""
    return (y[k], y[k + 1], y[k + 2], y[k + 3], y[k + 4], y[k + 5], y[k + 6], y[k + 7], y[k + 8])


@inlined
def put9(y, k, a):
    """Write a 9-tuple to ``y[k:k + 9]``."""
    put3(y, k, (a[0], a[1], a[2]))
    put3(y, k + 3, (a[3], a[4], a[5]))
    put3(y, k + 6, (a[6], a[7], a[8]))


@inlined
def in_kernels(n):
    """n, a number of terms; a function that asks for many is not traced, for its program would be too long."""
    return n


@helper
def segment(p, at, stride, count, x):
    """Index of the last of ``count`` rows of a table whose first number is <= x; 0 if there is none."""
    low, high = 0, int(count)
    while high - low > 1:
        middle = (low + high) // 2
        if p[at + stride * middle] <= x:
            low = middle
        else:
            high = middle
    return low


@inlined
def whole(x):
    """A whole number, for an index."""
    return int(x)


@inlined
def one_if(condition):
    """1 where a condition holds, else 0."""
    return 1.0 if condition else 0.0


@inlined
def nan_if(condition, x):
    """NaN where a condition is not 0, else x."""
    return np.nan if condition != 0.0 else x


@inlined
def get_slopes(y, k, row):
    """The 3 x 3 matrix that begins at ``y[k]``, by rows, in a larger one with rows of this length."""
    return (
        y[k], y[k + 1], y[k + 2],
        y[k + row], y[k + row + 1], y[k + row + 2],
        y[k + 2 * row], y[k + 2 * row + 1], y[k + 2 * row + 2],
    )  # fmt: skip
