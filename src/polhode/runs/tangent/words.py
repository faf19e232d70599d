"""What ``tangent=`` of a run says: which columns its state transition matrix has."""

from __future__ import annotations

from typing import Any

from polhode.errors import InvalidInput, shown

STATE = "state"


def wanted(tangent: Any) -> tuple[str, ...] | None:
    """Names of parameters beside the state; None where no derivatives are asked for."""
    if tangent is None or tangent is False:
        return None
    if tangent is True or (isinstance(tangent, str) and tangent == STATE):
        return ()
    names = [tangent] if isinstance(tangent, str) else tangent
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(
            f"tangent must be True, 'state', or names of parameters such as ['inertia'], not {shown(tangent)}"
        )
    return tuple(name for name in names if name != STATE)
