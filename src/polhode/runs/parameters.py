"""The same system with other parameters, for ``integrate(..., parameters=...)``; arguments by their paths."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sized
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from polhode.arguments import Array, has, numbers
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.systems import System
from polhode.systems.registry import builder, handed_in, with_functions

FUNCTIONS = ("torque", "force", "load", "potential", "reported_energy")
"""Arguments that are functions of the user."""


def arguments_of(system: System) -> list[str]:
    """Names of the arguments, but functions, of the function that builds a system."""
    if (build := builder(system.name)) is None:
        return ["parameters"]
    names = _arguments_of(build)
    return list(system.arguments if names is None else names)


@cache
def _arguments_of(build: Callable[..., System]) -> tuple[str, ...] | None:
    """None for a sum, which has arguments by the names of what is summed."""
    known = inspect.signature(build).parameters
    free = any(one.kind is one.VAR_KEYWORD for one in known.values())
    return None if free else tuple(name for name in known if name not in FUNCTIONS)


def system_with(system: System, values: Mapping[str, Any], given: str = "tangent") -> System:
    """The system with other values of arguments, by their paths (``forces.0.area``)."""
    if not values:
        return system
    if builder(system.name) is None:
        numbers = np.array(system.parameters)
        for path, value in values.items():
            _put({"parameters": numbers}, path, value, given) if "." in path else numbers.__setitem__(
                slice(None), value
            )
        return with_parameters(system, numbers)
    changes: dict[str, Any] = {}
    for path, value in values.items():
        head, _, rest = path.partition(".")
        if not rest:
            changes[head] = value
            continue
        if head not in changes:
            changes[head] = _thawed(system.arguments.get(head))
        _put(changes, path, value, given)
    return with_parameters(system, changes)


def value_at(system: System, path: str, given: str = "tangent") -> float | list[float | list[float]]:
    """The value of an argument by its path."""
    known = {"parameters": system.parameters} if builder(system.name) is None else system.arguments
    head, *rest = path.split(".")
    try:
        inner: Any = known[head]
        for word in rest:
            inner = inner[int(word) if isinstance(inner, list | tuple | np.ndarray) else word]
    except (LookupError, TypeError, ValueError):
        head = path.partition(".")[0]
        if head == path and head in arguments_of(system):
            raise InvalidInput(
                f"{given} has {path}, which {system.name} was built without; give it a value there, or leave it out"
            ) from None
        raise InvalidInput(f"{given} has {path}, but the system has no such argument") from None
    return _thawed(inner)


def _is_number(system: System, path: str) -> bool:
    """Whether the argument that has this path is one number."""
    try:
        return isinstance(value_at(system, path), float)
    except InvalidInput:
        return False


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _thawed(inner) for name, inner in value.items()}
    return [_thawed(inner) for inner in value] if isinstance(value, list | tuple) else value


def _put(into: Any, path: str, value: Any, given: str) -> None:
    """Set the number at a path, such as ``forces.0.area``."""
    *way, last = path.split(".")
    inner = into
    try:
        for word in way:
            inner = inner[int(word) if isinstance(inner, list | np.ndarray) else word]
        key: Any = int(last) if isinstance(inner, list | np.ndarray) else last
        if isinstance(inner, list | np.ndarray):
            inner[key]  # which must be there
        elif not isinstance(inner, dict):
            raise KeyError(last)
    except (LookupError, TypeError, ValueError):
        raise InvalidInput(f"{given} has values of {path}, but the system has no such argument") from None
    inner[key] = float(value) if isinstance(value, int | float | np.number) and not isinstance(value, bool) else value


def with_parameters(system: System, parameters: object) -> System:
    """The system with other parameters; nothing is compiled for it."""
    functions = handed_in(system)
    if isinstance(parameters, Mapping):
        build, known = builder(system.name), arguments_of(system)
        if build is None:
            raise InvalidInput(
                f"parameters is a mapping, but no function of polhode builds the system {system.name!r}; give its "
                f"{len(system.parameters)} parameters as a sequence"
            )
        paths = any(isinstance(name, str) and "." in name for name in parameters)
        for name, new in parameters.items():
            if name not in known and not paths:
                raise unknown_name(f"parameter of {system.name}", name, known)
            if (new.ndim if has(new, "ndim") else isinstance(new, list | tuple)) and _is_number(system, name):
                raise InvalidInput(f"{name} is one number in a run, not {shown(new)}; ensemble runs one for each "
                                   f"value of members={{{name!r}: ...}}")  # fmt: skip
        if paths:
            return system_with(system, parameters, "parameters")
        changes = dict(parameters)
        if "parameters" in changes:
            changes["parameters"] = _as_many(changes["parameters"], system.arguments.get("parameters") or ()).tolist()
        return build(**with_functions(system.name, {**system.arguments, **changes}, functions))
    if functions:
        return with_parameters(system, {"parameters": parameters})
    if builder(system.name) is not None:
        named = [name for name in system.arguments if system.arguments[name] is not None]
        raise InvalidInput(
            f"{system.name} has no function that takes numbers; give parameters as a mapping by name, of "
            f"{', '.join(named)}"
        )
    return replace(system, parameters=_as_many(parameters, system.parameters))


def _as_many(values: object, before: Sized) -> Array:
    """Numbers, of which there must be as many as before: functions are compiled for that."""
    found = numbers(values, "parameters")
    if len(found) != len(before):
        raise InvalidInput(
            f"parameters has {len(found)} numbers, but the system was built with {len(before)}; give as many"
        )
    return found
