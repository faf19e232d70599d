"""Plain and compensated sums into the state; compensation adds what rounding left out of a sum to the next one.

A position of 1664 km has a resolution of 2e-13 km, and each of a million steps loses up to half of that; worse, the
same increment to nearly the same number is rounded the same way each time, so that the losses add up. A compensated sum
keeps the loss of each number and adds it to the next increment [kahan1965]. The loss is exact [knuth1998].

The compensation is at the end of the state: six numbers of each body (position, momentum), then those of the auxiliary
variables. Attitudes and body angular momenta change by products, which have none.
"""

from __future__ import annotations

from polhode.algebra.kepler import two_sum
from polhode.algebra.so3 import axpy
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined

COMPENSATION = 6
"""Compensation numbers of a body."""


@inlined
def add3(at, h, x, p):
    """Add h x to the three numbers ``y[at:]`` of the state."""
    put3(p.y, at, axpy(h, x, get3(p.y, at)))


@inlined
def add3_compensated(at, h, x, p):
    """``add3``, compensated for positions and momenta."""
    i, slot = at // L.BODY, at % L.BODY
    if slot >= L.ATTITUDE:
        put3(p.y, at, axpy(h, x, get3(p.y, at)))
        return
    c = int(p.step_info[L.COMPENSATION_AT]) + COMPENSATION * i + slot
    p.y[at], p.y[c] = two_sum(p.y[at], p.y[c] + h * x[0])
    p.y[at + 1], p.y[c + 1] = two_sum(p.y[at + 1], p.y[c + 1] + h * x[1])
    p.y[at + 2], p.y[c + 2] = two_sum(p.y[at + 2], p.y[c + 2] + h * x[2])


@inlined
def enter1(k, x, begin, out, p):
    """Write auxiliary variable k of the state ``begin`` plus x to the state ``out``."""
    out[L.BODY * p.N + k] = begin[L.BODY * p.N + k] + x


@inlined
def enter1_compensated(k, x, begin, out, p):
    """``enter1``, compensated."""
    at = L.BODY * p.N + k
    c = int(p.step_info[L.COMPENSATION_AT]) + COMPENSATION * p.N + k
    out[at], out[c] = two_sum(begin[at], begin[c] + x)
