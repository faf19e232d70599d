"""Vectors of four and eight numbers: parts and permutations of them, compiled and as plain Python."""

import numpy as np
import pytest
from numba import types

from polhode.kernel import jit
from polhode.kernel.simd import cycled, eight, four, high, load8, low, store4, store8

SIGNATURE = types.void(*[types.float64[::1]] * 2)


@jit.helper
def rearrange(a, out):
    """Halves of eight numbers, exchanged, and both in cyclic order."""
    x = load8(a, 0)
    store8(out, 0, eight(high(x), low(x)))
    store4(out, 8, cycled(low(x)))
    store4(out, 12, cycled(four(a[5], a[6], a[7], a[4])))


def rearranged(a, out):
    rearrange(jit.pointer(a), jit.pointer(out))


@pytest.mark.parametrize("compiled", [True, False])
def test_halves_and_cyclic_order(compiled):
    a, out = np.arange(8.0), np.zeros(16)
    if compiled:
        jit.compile_kernel(rearranged, SIGNATURE)(a, out)
    else:
        jit.python_of(rearrange)(a, out)
    assert out.tolist() == [4, 5, 6, 7, 0, 1, 2, 3, 1, 2, 0, 3, 6, 7, 5, 4]
