"""Loads and energies of a system at given states, evaluated from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import A1, LOADS, f8, function_type, i8, void
from polhode.systems import System

part = jit.hole("part", "The part of the loads that is asked for.")


def call_loads(loads, t, N, y, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """Call a compiled LOADS role once."""
    loads(part, t, N, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


@cache
def load_caller(asked: int = L.ALL) -> Callable[..., None]:
    """A function ``call(loads, t, N, y, bodies, parameters, out)`` that evaluates one part of a compiled role.

    ``loads`` is ``system.compiled_loads(t, y)``, the others are arrays; ``out`` is written (see ``load_array``).

    Parameters
    ----------
    asked : int
        Which part: a flag of ``polhode.kernel.layout``; all of the loads by default.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> loads, out = system.compiled_loads(0.0, y), np.zeros(6)
    >>> ph.checks.load_caller()(loads, 0.0, system.N, y, system.bodies, system.with_memory, out)
    >>> out[:3], bool(abs(out[3:]).max() > 0.0)
    (array([0., 0., 0.]), True)
    """
    signature = void(function_type(LOADS), f8, i8, A1, A1, A1, A1)
    return jit.compile_kernel(jit.bind(call_loads, part=asked), signature)  # type: ignore[no-untyped-call]


def load_array(system: System) -> Array:
    """Zeros for the six loads of each body, followed by the rates of the auxiliary variables."""
    return np.zeros(L.LOAD * system.N + len(system.auxiliary))


def loads_at(system: System, y: Array, t: float, *, state: Array | None = None, asked: int = L.ALL) -> Array:
    """Loads, and rates of the auxiliary variables, at ``state`` (default ``y``), with the role compiled for ``y``."""
    out, at = load_array(system), np.array(y if state is None else state)
    load_caller(asked)(system.compiled_loads(t, y), t, system.N, at, system.bodies, system.with_memory, out)
    return out


def at_rest(system: System, y: Array) -> Array:
    """The same positions and attitudes, with all momenta and angular momenta zero."""
    rest = np.array(y)
    body = rest[: L.BODY * system.N].reshape(system.N, L.BODY)
    body[:, L.MOMENTUM : L.ATTITUDE] = 0.0
    body[:, L.ANGULAR :] = 0.0
    return rest


def velocities(system: System, y: Array) -> tuple[Any, Any]:
    """Velocities in space and angular velocities in the principal frames, each (N, 3)."""
    body, constants = np.reshape(y[: L.BODY * system.N], (system.N, L.BODY)), system.constants_of_bodies
    v = body[:, L.MOMENTUM : L.ATTITUDE] * constants[:, L.INVERSE_MASS, None]
    w = body[:, L.ANGULAR :] * constants[:, L.INVERSE_INERTIA :]
    return v, w


def energies(system: System, states: Array) -> Array:
    """Kinetic energy plus the system's own potential at time zero, for each state."""
    return system.kinetic_energies(np.asarray(states)) + system.potential_energies(states)
