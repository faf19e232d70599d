"""Uniform motion of the positions: exact, keeps every momentum."""

from __future__ import annotations

from polhode.algebra.so3 import axpy
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import inlined
from polhode.kernel.signatures import BODY, CONSTANTS, INVERSE_MASS, MOMENTUM, POSITION


@inlined
def drift(i, h, p):
    """Move body i for a time h with its present momentum."""
    a = BODY * i
    speed = h * p.bodies[CONSTANTS * i + INVERSE_MASS]
    put3(p.y, a + POSITION, axpy(speed, get3(p.y, a + MOMENTUM), get3(p.y, a + POSITION)))
