"""Turns the user's plain Python functions into roles that a compiled loop can call.

A function is compiled with tuples as arguments; if that fails, with arrays; if that fails, it runs as Python through a
bridge, more slowly and with one warning. It is always called in plain Python with arrays first, so that a mistake shows
the user's own traceback. A compiled form is used only if it returns the same numbers, at the initial state and at two
generic states (at rest, ``omega + omega`` of tuples and of arrays may agree by accident).
"""

from __future__ import annotations

from polhode.systems.user.added import ACTS, AddedFunctions, Behind, added_functions, records_of
from polhode.systems.user.dynamics import dynamics_of_roles
from polhode.systems.user.function import UserFunction, repeated
from polhode.systems.user.roles import (
    FORMS,
    effective_torque,
    event_function,
    force_added,
    load_added,
    load_with_states_added,
    place_gradient_added,
    place_potential_added,
    position_gradient_added,
    position_potential_added,
    torque_added,
)

__all__ = [
    "ACTS", "added_functions", "AddedFunctions", "Behind",
    "dynamics_of_roles", "effective_torque", "event_function", "force_added", "FORMS",
    "load_added", "load_with_states_added", "place_gradient_added",
    "place_potential_added", "position_gradient_added",
    "position_potential_added", "records_of", "repeated", "torque_added", "UserFunction",
]  # fmt: skip
