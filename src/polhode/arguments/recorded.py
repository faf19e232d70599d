"""Arguments as records keep them: in JSON's types, and handed to a function again; and containers that refuse to be
changed, for what a system is made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from polhode.arguments import FLOATS, LISTS, UNKNOWN, ArrayLike, array, mapping
from polhode.errors import InvalidInput, shown, unknown_name

SIMPLE = frozenset({float, int, str, bool, type(None)})


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


def made_by(make: Callable[..., Any], kind: type, given: object, name: str, maker: str) -> Any:
    """What a function makes, from the mapping of its arguments, or as it is; ``maker``: what users call it by."""
    if not isinstance(given, kind | Mapping):
        raise InvalidInput(f"{name} must be made by polhode.{maker}, or be a mapping of its arguments, not "
                           f"{shown(given)}")  # fmt: skip
    try:
        return called(make, given) if isinstance(given, Mapping) else given
    except InvalidInput as refused:
        raise InvalidInput(f"{name}: {refused}") from None


def each_made(given: object, make: Callable[[Any], Any], name: str, what: str) -> list[Any]:
    """What a function makes of each entry of a list; a refusal names the entry by its number."""
    if not isinstance(given, LISTS) and (not isinstance(given, Sequence) or isinstance(given, str)):
        raise InvalidInput(f"{name} must be a list of {what}, not {shown(given)}")
    made = []
    for k, one in enumerate(given):
        try:
            made.append(make(one))
        except InvalidInput as refused:
            raise InvalidInput(f"{name}[{k}]: {refused}") from None
    return made


def plain(value: object, name: str = "an argument") -> Any:
    """``value`` in JSON types."""
    if isinstance(value, LISTS):
        if FLOATS.issuperset(map(type, value)) and all(map(isfinite, value)):
            return [*map(float, value)]
    elif type(value) in SIMPLE or isinstance(value, str | bool | int | float):
        return value
    elif isinstance(value, Mapping):
        return {str(key): plain(inner, name) for key, inner in value.items()}
    return array(value, name, UNKNOWN).tolist()


# ------------------------------------------------------------------ what cannot be changed
def read_only(array: ArrayLike) -> Any:
    """A read-only copy."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise InvalidInput("what a system is made of cannot be changed; build another, or give parameters= to integrate")


class FrozenDict(dict[str, Any]):
    """An immutable dict."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """An immutable list."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


STAYS = SIMPLE | {FrozenDict, FrozenList}


def frozen(value: Any) -> Any:
    """An immutable copy of nested mappings, sequences and arrays; anything else is returned as it is."""
    kind = type(value)
    if kind in STAYS:
        return value
    if kind is list or isinstance(value, list):
        return FrozenList(value if SIMPLE.issuperset(map(type, value)) else map(frozen, value))
    if kind is np.ndarray or isinstance(value, np.ndarray):
        return read_only(value)
    if kind is tuple:
        return tuple(frozen(inner) for inner in value)
    if kind is dict or isinstance(value, Mapping):
        return FrozenDict({key: one if type(one) in SIMPLE else frozen(one) for key, one in value.items()})
    return value
