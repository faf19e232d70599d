"""Arguments as records keep them: in JSON's types, and handed to a function again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from polhode.arguments import UNKNOWN, array, mapping
from polhode.errors import InvalidInput, unknown_name


def called(make: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with a mapping of its arguments."""
    known = inspect.signature(make).parameters
    more = [name for name, parameter in known.items() if parameter.kind is parameter.VAR_KEYWORD]
    for name in mapping(arguments, "arguments"):
        if name not in known and not more:
            raise unknown_name(f"argument of {make.__name__}", name, known)
    for name, parameter in known.items():
        if name not in more and parameter.default is parameter.empty and name not in arguments:
            raise InvalidInput(f"{name} is missing; {make.__name__} needs it")
    return make(**arguments)


def plain(value: Any, name: str = "an argument") -> Any:
    """``value`` in JSON types."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if not isinstance(value, tuple | list) and isinstance(value, Mapping):
        return {str(key): plain(inner, name) for key, inner in value.items()}
    return array(value, name, UNKNOWN).tolist()
