"""Control moment gyros of a rigid body: rotors of constant angular momentum in gimbals whose rates are commanded.

With the momenta h_k along the spin axes s_k, which the gimbals turn about the axes g at the rates r,

    m' = (m + sum h_k s_k) x w + T - sum h_k r g x s_k,        angle' = r.                                    [wie2008]

The momentum of body and rotors, m + sum h_k s_k, is changed in space by T alone. The momenta of the gimbals themselves,
and how the inertia changes with their angles, are neglected: against the momentum of a rotor they are as small as the
rates of gimbal and body are against the speed of the rotor.

Angles and commanded rates are auxiliary variables that loads read; commands stay until something sets them.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from polhode.algebra.so3 import add, cross, dot, scale, times
from polhode.bodies.gyros import Gyros
from polhode.flows.gimbals import (
    COUNT,
    FIRST,
    FREE,
    GIMBALS,
    OF_GIMBAL,
    OF_GIMBALS,
    ROW,
    ROWS,
    WORK,
    gimbals_of,
    momentum_of_gyros,
    rate_of_gyros,
)
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, hole
from polhode.systems.event_record import WHEEL, Watch

inner = hole("inner(part, t, N, y, bodies, parameters, out)", "The loads without gyros.")
gyros_at = hole("gyros_at(parameters) -> int", "Where the table of gyros begins.")


def loads_with_gyros(part, t, N, y, bodies, parameters, out):
    """The loads of a system of one body and those of its gyros; the rates of their angles. The part WITHOUT_COUPLING
    leaves out H x w, which a flow solves."""
    inner(part, t, N, y, bodies, parameters, out)
    if part & L.MOVING != 0:
        at = gyros_at(parameters)
        each, first = int(parameters[at + GIMBALS]), int(parameters[at + FIRST])
        angles = L.BODY * N + first
        for k in range(int(parameters[at + COUNT])):
            _, _, a, b = gimbals_of(parameters, at, y, angles, k)
            out[L.LOAD * N + first + each * k] = a
            if each == 2:
                out[L.LOAD * N + first + each * k + 1] = b
        w = times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR))
        T = scale(-1.0, rate_of_gyros(parameters, at, y, angles, 0.0))
        out[L.LOAD * N + int(parameters[at + WORK])] = dot(T, w)
        if part & L.WITHOUT_COUPLING == 0:
            T = add(T, cross(momentum_of_gyros(parameters, at, y, angles), w))
        put3(out, 3, add(get3(out, 3), T))


@lru_cache(jit.KEPT_KERNELS)
def gyros_of_body(loads: Any, where: Any) -> Any:
    """``loads_with_gyros`` with these loads and the place of the table."""
    return bind(loads_with_gyros, inner=loads, gyros_at=where)


def watches_of(gyros: Gyros, at: int, first: int) -> tuple[Watch, ...]:
    """The events at the stops; ``at``: where the table begins in the parameters, ``first``: auxiliary variable."""
    found = []
    for k in range(gyros.count):
        for j in range(gyros.gimbals):
            flag = at + ROWS + ROW * k + OF_GIMBALS + OF_GIMBAL * j + FREE
            index, most = L.BODY + first + gyros.gimbals * k + j, float(gyros.most_angle[k, j])
            if most < inf:
                found.append(Watch(WHEEL, (float(index), most, float(flag)), rising="gimbal_released",
                                   falling="gimbal_stopped", cuts=True, flag=flag))  # fmt: skip
    return tuple(found)
