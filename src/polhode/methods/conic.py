"""The exact orbit: Kepler motion about a centre of attraction in steps of any size.

    "kepler"             for a system with a central attraction and no other load, such as orbit(mu)

A step follows the conic of any kind by universal variables (``flows.drift``, which "v2/kepler" uses between kicks). It
evaluates no loads, and its only error is round-off.
"""

from __future__ import annotations

from math import inf

from polhode.flows.drift import kepler_drift
from polhode.kernel import layout as L
from polhode.methods.record import UNGUARDED, CompiledMethod, Method, Promises


def kepler_step(t, h, p):
    """Move every body along its conic; the system's first parameter is the gravity parameter mu."""
    for k in range(p.B):
        status = kepler_drift(p.blocks[2 * k], h, p.parameters[0], p)
        if status != L.OK:
            return status
    p.step_info[L.LOADED] = 0.0
    return L.OK


def _prepare() -> CompiledMethod:
    return CompiledMethod(
        kepler_step, lambda bodies, blocks: 1, needs={"central_gravity", "only_central_gravity", "points"}
    )


ROWS = (
    Method("kepler", "conic", "Conic by universal variables", "battin1999", _prepare,
           lambda: Promises(order=inf, time_symmetric=True, symplectic=True, evaluations=0), range=UNGUARDED),
)  # fmt: skip
"""The family."""
