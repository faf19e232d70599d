"""Templates of the role ``loads`` that all systems share: no loads, parts of the loads, loads within an interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.signatures import LOADS, POTENTIAL


def no_loads(part, t, N, y, bodies, parameters, out):
    """Zero loads, of a free system.

    The first body is written element by element: a loop alone compiles to ``memset``, and reading its result back at
    once stalls (25 ns per evaluation).
    """
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, (0.0, 0.0, 0.0))
    for k in range(6, 6 * N):
        out[k] = 0.0


def no_series(part, t, k, u, bodies, parameters, out):
    """Taylor series of the torque of a free body: zero."""
    out[0] = out[1] = out[2] = 0.0


plain_loads = jit.hole("plain_loads(part, t, N, y, bodies, parameters, out)", "The loads.")
commutator_loads = jit.hole("commutator_loads(part, t, N, y, bodies, parameters, out)", "The commutator load.")
series_loads = jit.hole("series_loads(part, t, k, u, bodies, parameters, out)", "A coefficient of the torque's series.")


@jit.inlined
def effective_torque(T, bodies, i):
    """A torque on body i (principal frame), zero about every axis that the body does not rotate about."""
    j = get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    return (T[0] if j[0] > 0.0 else 0.0, T[1] if j[1] > 0.0 else 0.0, T[2] if j[2] > 0.0 else 0.0)


def felt_loads(part, t, N, y, bodies, parameters, out):
    """The loads, with zero torque about every axis that a body does not rotate about."""
    plain_loads(part, t, N, y, bodies, parameters, out)
    if part == L.SERIES:
        put3(out, 0, effective_torque(get3(out, 0), bodies, 0))
    else:
        for i in range(N):
            put3(out, L.LOAD * i + 3, effective_torque(get3(out, L.LOAD * i + 3), bodies, i))


def either_loads(part, t, N, y, bodies, parameters, out):
    """The loads; under the part COMMUTATOR the commutator, under SERIES a Taylor coefficient of the torque."""
    if part == L.SERIES:
        series_loads(part, t, N, y, bodies, parameters, out)
    elif part & L.COMMUTATOR != 0:
        commutator_loads(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)


slopes = jit.hole("slopes(part, t, N, y, bodies, parameters, out)", "The loads and their slopes.")


def sloping_loads(part, t, N, y, bodies, parameters, out):
    """The loads; under the part SLOPES with their slopes."""
    if part == L.SLOPES:
        slopes(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)


loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
at = jit.hole("at", "Index of the interval in the parameters.")


def loads_between(part, t, N, y, bodies, parameters, out):
    """The loads with the time clipped to the interval ``[parameters[at], parameters[at + 1]]``."""
    loads(part, min(max(t, parameters[at]), parameters[at + 1]), N, y, bodies, parameters, out)


@lru_cache(jit.KEPT_KERNELS)
def kernel_of(role: Any, commutator: Any, series: Any, thin: bool, loads: bool) -> Callable[..., Any]:
    """The compiled role of all systems of one kind: of loads, with commutator and series where these are not None, and
    without torques about axes that a body does not turn about where one is ``thin``; or of a potential."""
    if series or commutator not in (None, role):
        role = jit.bind(
            either_loads, plain_loads=role, commutator_loads=commutator or role, series_loads=series or no_series
        )
    if thin:
        role = jit.bind(felt_loads, plain_loads=role)
    return jit.compile_kernel(role, LOADS if loads else POTENTIAL)


@lru_cache(maxsize=8)
def compiled_between(role: Any, number: int) -> Callable[..., Any]:
    """A compiled LOADS role that clips the time (see ``loads_between``)."""
    return jit.compile_uncached(jit.bind(loads_between, loads=role, at=number), LOADS)[0]
