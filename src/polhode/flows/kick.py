"""The impulse of the loads at a frozen configuration. Exact for loads that depend on time and configuration only."""

from __future__ import annotations

from polhode.algebra.so3 import axpy
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import ALL, ANGULAR, BODY, LOAD, MOMENTUM, ROTATION


@inlined
def kick(t, h, p):
    """Add h times the loads at time t to the momenta of what moves; positions and attitudes stay."""
    p.loads(ALL, t, p.N, p.y, p.bodies, p.parameters, p.load)
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        at = BODY * i + (ANGULAR if kind == ROTATION else MOMENTUM)
        put3(p.y, at, axpy(h, get3(p.load, LOAD * i + 3 * kind), get3(p.y, at)))
