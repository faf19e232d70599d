"""Forces of joints at the rows of a run, from the loads there: of the accuracy of the rows, see ``flows.reactions``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from polhode.arguments import Array
from polhode.flows import mechanism as J
from polhode.flows.reactions import react
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import A1, A2, I1, Workspace, i8, void
from polhode.kernel.simd import aligned
from polhode.methods.joints import plan_of
from polhode.systems.record import System


def reactions_of_rows(N, states, load, bodies, parameters, integers, work, step_info, found):  # type: ignore[no-untyped-def]
    """Multipliers of all rows of joints at every state; the loads there become those with the forces of joints."""
    ints, scratch, info = jit.pointer(integers), jit.pointer(work), jit.pointer(step_info)
    for k in range(len(states)):
        y, f = jit.pointer(states[k]), jit.pointer(load[k])
        p = Workspace(
            N, 0, 0, y, jit.pointer(bodies), jit.pointer(parameters), 0, y, ints, ints, y, f, scratch, info, y
        )  # fmt: skip
        l = J.at(0, J.MULTIPLIER, p)
        react(0, l, y, f, p)
        for r in range(J.at(0, J.ROWS, p)):
            found[k, r] = p.work[l + r]
        J.push_rows(0, J.at(0, J.ROWS_AT, p), J.at(0, J.ROTATIONS, p), l, f, L.LOAD, 0, 3, p)


@cache
def _loop() -> Callable[..., None]:
    compiled: Callable[..., None] = jit.compile_kernel(  # type: ignore[no-untyped-call]
        reactions_of_rows, void(i8, A2, A2, A1, A1, I1, A1, A1, A2)
    )
    return compiled


def held(system: System, states: Array, load: Array) -> Array:
    """Multipliers (n, rows) of the joints of a system at states with these loads (n, N, 6), to which their forces are
    added."""
    integers, size, _ = plan_of(system.mechanism.integers, system.N, 0, 0)  # type: ignore[union-attr]
    found, flat = np.zeros((len(states), int(integers[J.ROWS]))), np.ascontiguousarray(load.reshape(len(states), -1))
    states = np.ascontiguousarray(states)
    memory = aligned(size), np.zeros(L.STEP_INFO)
    _loop()(system.N, states, flat, system.bodies, system.with_memory, integers, *memory, found)
    load[:] = flat.reshape(load.shape)
    return found
