"""Reaction wheels of a rigid body: loads, tables, saturation.

The angular momentum of the body in the state is m = J w, where J leaves out what the wheels add about their own axes
a_k; wheel k has h_k = i_k (s_k + a_k . w), with its inertia i_k and its speed s_k relative to the body. Then

    m' = (m + sum h_k a_k) x w + T - sum u_k a_k,        h_k' = u_k,                     [hughes1986, ch. 6]

with the torque u_k on the wheel about its axis: that of the motor, limited, less friction. The sum of both equations is
the motion of the whole, m + sum h_k a_k, on which T alone acts. Momenta and commands of the wheels are auxiliary
variables that loads read; commands stay until something sets them.

A wheel whose centre of mass lies off its axis, with the static imbalance b = mass times distance, pushes the body at
its position x_k by the force b s_k^2 along the direction of that centre, which turns with the wheel; its angle is an
auxiliary variable. This force is prescribed: what it takes from the wheel is neglected.

Their table in the parameters of a system is that of ``bodies.wheels``; behind all momenta come the commands, then the
angles of imbalanced wheels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from polhode.algebra.quaternion import rotate
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.bodies.wheels import (
    ACROSS,
    COULOMB,
    FREE,
    GAIN,
    IMBALANCE,
    INERTIA,
    MOST_TORQUE,
    OF_IMBALANCE,
    POSITION,
    SMOOTH,
    VISCOUS,
)
from polhode.flows.gyrostat import AXES, AXIS, COUNT, FIRST, OF_WHEEL
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import bind, helper, hole, inlined

inner = hole("inner(part, t, N, y, bodies, parameters, out)", "The loads without wheels.")
wheels_at = hole("wheels_at(parameters) -> int", "Where the table of wheels begins.")


@inlined
def motor(p, row, command, speed, h):
    """Torque on a wheel about its axis, of its motor and of friction."""
    u = command
    if p[row + GAIN] > 0.0:
        u = p[row + GAIN] * (command - speed)
    most = p[row + MOST_TORQUE]
    u = min(max(u, -most), most)
    if p[row + VISCOUS] != 0.0:
        u -= p[row + VISCOUS] * speed
    if p[row + COULOMB] != 0.0:
        u -= p[row + COULOMB] * np.tanh(speed / p[row + SMOOTH])
    if p[row + FREE] == 0.0 and u * h > 0.0:
        u = 0.0
    return u


def loads_with_wheels(part, t, N, y, bodies, parameters, out):
    """The loads of a system of one body, and those of its wheels; the rates of their momenta. The part WITHOUT_COUPLING
    leaves out H x w, which a flow solves."""
    inner(part, t, N, y, bodies, parameters, out)
    at = wheels_at(parameters)
    count, first = int(parameters[at + COUNT]), int(parameters[at + FIRST])
    table = at + AXES + AXIS * count
    if part & L.MOVING != 0:
        w = times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR))
        T, H = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(count):
            row, a = table + 1 + OF_WHEEL * k, get3(parameters, at + AXES + AXIS * k)
            h, command = y[L.BODY * N + first + k], y[L.BODY * N + first + count + k]
            u = motor(parameters, row, command, h / parameters[row + INERTIA] - dot(a, w), h)
            out[L.LOAD * N + first + k] = u
            T, H = axpy(-u, a, T), axpy(h, a, H)
        out[L.LOAD * N + int(parameters[table])] = dot(T, w)
        if part & L.WITHOUT_COUPLING == 0:
            T = add(T, cross(H, w))
        put3(out, 3, add(get3(out, 3), T))


@helper
def with_wheels(parameters, at, I):
    """Moments of inertia and products (yz, zx, xy) of a body, whose own moments these are, and its wheels'."""
    count, K = int(parameters[at + COUNT]), (0.0, 0.0, 0.0)
    table = at + AXES + AXIS * count
    for k in range(count):
        i, a = parameters[table + 1 + OF_WHEEL * k], get3(parameters, at + AXES + AXIS * k)
        I = axpy(i, (a[0] * a[0], a[1] * a[1], a[2] * a[2]), I)
        K = axpy(i, (a[1] * a[2], a[2] * a[0], a[0] * a[1]), K)
    return I, K


def loads_with_imbalance(part, t, N, y, bodies, parameters, out):
    """The loads of a system of one body with wheels, and those of their imbalance; the rates of their angles."""
    inner(part, t, N, y, bodies, parameters, out)
    if part & L.MOVING != 0:
        at = wheels_at(parameters)
        count, first = int(parameters[at + COUNT]), int(parameters[at + FIRST])
        table = at + AXES + AXIS * count
        w = times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR))
        F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(count):
            row, a = table + 1 + OF_WHEEL * k, get3(parameters, at + AXES + AXIS * k)
            off = table + 1 + OF_WHEEL * count + OF_IMBALANCE * k
            speed = y[L.BODY * N + first + k] / parameters[row + INERTIA] - dot(a, w)
            out[L.LOAD * N + first + 2 * count + k] = speed
            angle, e = y[L.BODY * N + first + 2 * count + k], get3(parameters, off + ACROSS)
            push = parameters[off + IMBALANCE] * speed * speed
            f = axpy(push * np.cos(angle), e, scale(push * np.sin(angle), cross(a, e)))
            F, T = add(F, f), add(T, cross(get3(parameters, off + POSITION), f))
        F = rotate(get4(y, L.ATTITUDE), F)
        v = scale(bodies[L.INVERSE_MASS], get3(y, L.MOMENTUM))
        out[L.LOAD * N + int(parameters[table])] += dot(F, v) + dot(T, w)
        put3(out, 0, add(get3(out, 0), F))
        put3(out, 3, add(get3(out, 3), T))


@lru_cache(jit.KEPT_KERNELS)
def wheels_of_body(loads: Any, where: Any) -> Any:
    """``loads_with_wheels`` with these loads and the place of the table."""
    return bind(loads_with_wheels, inner=loads, wheels_at=where)


@lru_cache(jit.KEPT_KERNELS)
def imbalance_of_body(loads: Any, where: Any) -> Any:
    """``loads_with_imbalance`` with these loads and the place of the table."""
    return bind(loads_with_imbalance, inner=loads, wheels_at=where)
