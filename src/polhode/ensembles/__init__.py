"""Many runs of one kind: ensembles whose members differ in state and constants, and sweeps over scenarios.

``ensemble`` is the call; ``members`` and ``sampling`` say what varies, ``reductions`` what is kept, ``threads``,
``lanes`` and ``device`` are the engines; ``sweep`` spreads scenarios over processes and machines. For users, beside
``polhode.ensemble`` and ``polhode.sweep``: ``sampling`` and ``reductions``, ``ensemble_of`` a scenario, ``open_sweep``,
``sweep_status`` and ``sweep_member`` of a sweep.
"""

from __future__ import annotations

from typing import Any

from polhode.lazy import loaded, public_names

_HOMES = {
    "sampling": "sampling",
    "reductions": "reductions",
    "ensemble_of": "of_scenario:",
    "open_sweep": "sweep:",
    "sweep_member": "sweep:",
    "sweep_status": "sweep:",
}
__all__ = [*_HOMES]
__dir__ = public_names(__all__)


def __getattr__(name: str) -> Any:
    return loaded(__name__, _HOMES, name)
