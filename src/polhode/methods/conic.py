"""The exact orbit: motion about a centre of attraction as a step of any size.

    "kepler"             for a system with a centre and nothing else, such as orbit(mu)

What ``flows.kepler`` is between the kicks of a splitting ("v2/kepler"), this is alone: the conic by universal
variables, whatever its kind, with no loads evaluated and nothing that accumulates but round-off.
"""

from __future__ import annotations

from math import inf

from polhode.flows.kepler import kepler_drift
from polhode.kernel import layout as L
from polhode.methods.record import UNGUARDED, CompiledMethod, Method, Promises


def kepler_step(t, h, p):
    """Move every body along its conic; the gravity parameter is the system's first number."""
    for k in range(p.B):
        status = kepler_drift(p.blocks[2 * k], h, p.parameters[0], p)
        if status != L.OK:
            return status
    p.step_info[L.LOADED] = 0.0
    return L.OK


def _prepare() -> CompiledMethod:
    return CompiledMethod(kepler_step, lambda bodies, blocks: 1, attracted=True, alone=True, points=True)


ROWS = (
    Method("kepler", "conic", "Conic by universal variables", "battin1999", _prepare,
           lambda: Promises(order=inf, time_symmetric=True, symplectic=True, evaluations=0), range=UNGUARDED),
)  # fmt: skip
"""The family."""
