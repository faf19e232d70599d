"""Drift: uniform motion of the positions, exact; every momentum stays."""

from __future__ import annotations

from polhode.flows import sums
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, hole, inlined

add3 = hole("add3(at, h, x, p)", "The sum into the state.", default=sums.add3)


@inlined
def drift(i, h, p):
    """Move body i for a time h with its present momentum."""
    a = L.BODY * i
    speed = h * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
    add3(a + L.POSITION, speed, get3(p.y, a + L.MOMENTUM), p)


drift_compensated = inlined(bind(drift, add3=sums.add3_compensated))
"""``drift`` with compensated sums."""
