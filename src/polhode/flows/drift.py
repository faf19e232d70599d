"""Drift: uniform motion of the positions, exact; every momentum stays."""

from __future__ import annotations

from polhode.flows.sums import add3, add3_carrying
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import bind, inlined, python_of


@inlined
def drift(i, h, p):
    """Move body i for a time h with its present momentum."""
    a = L.BODY * i
    speed = h * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
    add3(a + L.POSITION, speed, get3(p.y, a + L.MOMENTUM), p)


drift_carrying = inlined(bind(python_of(drift), add3=add3_carrying))
"""``drift`` with compensated sums."""
