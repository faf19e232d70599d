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


@jit.inlined
def unasked(part, t, N, y, bodies, parameters, out):
    """A part that nobody asks for."""


ARGUMENTS = "(part, t, N, y, bodies, parameters, out)"
plain_loads = jit.hole(f"plain_loads{ARGUMENTS}", "The loads.", default=unasked)
commutator_loads = jit.hole(f"commutator_loads{ARGUMENTS}", "The commutator load.", default=unasked)
slopes = jit.hole(f"slopes{ARGUMENTS}", "The loads and their slopes.", default=unasked)
series = jit.hole(
    "series(part, t, k, u, bodies, parameters, out)", "A coefficient of the torque's series.", default=unasked
)
thin = jit.hole("thin", "Whether some body does not rotate about an axis.", default=False)


@jit.inlined
def effective_torque(T, bodies, i):
    """A torque on body i (principal frame), zero about every axis that the body does not rotate about."""
    j = get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
    return (T[0] if j[0] > 0.0 else 0.0, T[1] if j[1] > 0.0 else 0.0, T[2] if j[2] > 0.0 else 0.0)


def parted_loads(part, t, N, y, bodies, parameters, out):
    """The loads; under the part COMMUTATOR the commutator, under SERIES a Taylor coefficient of the torque, under
    SLOPES loads with their slopes. Torques are zero about every axis that a body does not rotate about."""
    if part == L.SERIES:
        series(part, t, N, y, bodies, parameters, out)
    elif part == L.SLOPES:
        slopes(part, t, N, y, bodies, parameters, out)
    elif part & L.COMMUTATOR != 0:
        commutator_loads(part, t, N, y, bodies, parameters, out)
    else:
        plain_loads(part, t, N, y, bodies, parameters, out)
    if thin:
        alone = part == L.SERIES
        for i in range(1 if alone else N):
            at = 0 if alone else L.LOAD * i + 3
            put3(out, at, effective_torque(get3(out, at), bodies, i))


first = jit.hole(f"first{ARGUMENTS}", "Loads that have a potential.")
others = jit.hole(f"others{ARGUMENTS}", "Adds the loads beside them.")
first_level = jit.hole("first_level(t, N, y, bodies, parameters)", "The potential of the first.")
others_level = jit.hole("others_level(t, N, y, bodies, parameters)", "That of the others.")


def both(part, t, N, y, bodies, parameters, out):
    """Parts of loads and of others."""
    first(part, t, N, y, bodies, parameters, out)
    others(part, t, N, y, bodies, parameters, out)


def beside_potential(part, t, N, y, bodies, parameters, out):
    """The same where the first know no parts: they come with the part that has a potential."""
    if part & L.POTENTIAL_PART != 0:
        first((part & L.ALL) | L.RESTING | L.MOVING, t, N, y, bodies, parameters, out)
    else:
        for k in range(L.LOAD * N):
            out[k] = 0.0
    others(part, t, N, y, bodies, parameters, out)


def both_levels(t, N, y, bodies, parameters):
    """The sum of the potentials."""
    return first_level(t, N, y, bodies, parameters) + others_level(t, N, y, bodies, parameters)


@lru_cache(jit.KEPT_KERNELS)
def roles_of_both(split: bool, loads: Any, potential: Any, others: Any, others_level: Any) -> tuple[Any, Any]:
    """The roles LOADS and POTENTIAL of loads, perhaps in parts, and of what is beside them."""
    role = jit.bind(both if split else beside_potential, first=loads, others=others)
    if potential is None or others_level is None:
        return role, potential or others_level
    return role, jit.bind(both_levels, first_level=potential, others_level=others_level)


loads = jit.hole("loads(part, t, N, y, bodies, parameters, out)", "The loads.")
at = jit.hole("at", "Index of the interval in the parameters.")


def loads_between(part, t, N, y, bodies, parameters, out):
    """The loads with the time clipped to the interval ``[parameters[at], parameters[at + 1]]``."""
    loads(part, min(max(t, parameters[at]), parameters[at + 1]), N, y, bodies, parameters, out)


@lru_cache(jit.KEPT_KERNELS)
def kernel_of(role: Any, commutator: Any, series: Any, thin: bool, loads: bool) -> Callable[..., Any]:
    """The compiled role of all systems of one kind: of loads, with commutator and series where these are not None, and
    without torques about axes that a body does not turn about where one is ``thin``; or of a potential."""
    if series or thin or commutator not in (None, role):
        role = jit.bind(parted_loads, plain_loads=role, commutator_loads=commutator or role, series=series or no_series,
                        thin=thin)  # fmt: skip
    return jit.compile_kernel(role, LOADS if loads else POTENTIAL)


@lru_cache(maxsize=8)
def compiled_between(role: Any, number: int) -> Callable[..., Any]:
    """A compiled LOADS role that clips the time (see ``loads_between``)."""
    return jit.compile_uncached(jit.bind(loads_between, loads=role, at=number), LOADS)[0]
