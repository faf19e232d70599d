"""The impulse of the loads at a frozen configuration. Exact for loads that depend on time and configuration only."""

from __future__ import annotations

from polhode.algebra.so3 import axpy
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import ALL, ANGULAR, BODY, LOAD, MOMENTUM


@inlined
def kick(t, h, p):
    """Add h times the loads at time t to the momenta of all bodies; positions and attitudes stay."""
    p.loads(ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    for i in range(p.N):
        a, c = BODY * i, LOAD * i
        put3(p.y, a + MOMENTUM, axpy(h, get3(p.load, c), get3(p.y, a + MOMENTUM)))
        put3(p.y, a + ANGULAR, axpy(h, get3(p.load, c + 3), get3(p.y, a + ANGULAR)))
