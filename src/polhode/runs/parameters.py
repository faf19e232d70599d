"""The same system with other parameters, for ``integrate(..., parameters=...)``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from polhode.arguments import numbers
from polhode.errors import InvalidInput, unknown_name
from polhode.systems import SYSTEMS, System

FUNCTIONS = ("torque", "force", "load", "potential")
"""Arguments that are functions of the user."""


def with_parameters(system: System, parameters: Any) -> System:
    """The system with other parameters; nothing is compiled for it.

    Parameters
    ----------
    system : System
        The system.
    parameters : mapping or sequence of float
        Arguments of the function that builds the system, by name, in the place of those it was built with; or the
        numbers handed to the user's functions, as many as there were; of a system built by hand its ``parameters``.

    Raises
    ------
    InvalidInput
        A name that is no such argument, a value the function refuses, another count of numbers.
    """
    functions = {name: one.function for name, one in system.functions.items()}
    if isinstance(parameters, Mapping):
        if system.name not in SYSTEMS:
            raise InvalidInput(
                f"parameters is a mapping, but no function of polhode builds the system {system.name!r}; give its "
                f"{len(system.parameters)} parameters as a sequence"
            )
        build = SYSTEMS[system.name]
        known = [name for name in inspect.signature(build).parameters if name not in FUNCTIONS]
        for name in parameters:
            if name not in known:
                raise unknown_name(f"parameter of {system.name}", name, known)
        changes = dict(parameters)
        if "parameters" in changes:
            changes["parameters"] = _as_many(changes["parameters"], system.arguments.get("parameters") or ()).tolist()
        return build(**{**system.arguments, **functions, **changes})
    if functions:
        return with_parameters(system, {"parameters": parameters})
    if system.name in SYSTEMS:
        named = [name for name in system.arguments if system.arguments[name] is not None]
        raise InvalidInput(
            f"{system.name} has no function that takes numbers; give parameters as a mapping by name, of "
            f"{', '.join(named)}"
        )
    return replace(system, parameters=_as_many(parameters, system.parameters))


def _as_many(values: Any, before: Any) -> Any:
    """Numbers, of which there must be as many as before: functions are compiled for that."""
    found = numbers(values, "parameters")
    if len(found) != len(before):
        raise InvalidInput(
            f"parameters has {len(found)} numbers, but the system was built with {len(before)}; give as many"
        )
    return found
