"""Containers that refuse to be changed, for what a system is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.errors import InvalidInput


def read_only(array: Any) -> Any:
    """A read-only copy."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def _refuse(self: Any, *_: Any, **__: Any) -> Any:
    raise InvalidInput("what a system is made of cannot be changed; build another, or give parameters= to integrate")


class FrozenDict(dict[str, Any]):
    """An immutable dict."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """An immutable list."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> Any:
        return FrozenList, (list(self),)


SIMPLE = frozenset({float, int, str, bool, type(None)})


def frozen(value: Any) -> Any:
    """An immutable copy of nested mappings, sequences and arrays; anything else is returned as it is."""
    kind = type(value)
    if kind in SIMPLE or kind is FrozenDict or kind is FrozenList:
        return value
    if kind is list or isinstance(value, list):
        return FrozenList([one if type(one) in SIMPLE else frozen(one) for one in value])
    if kind is np.ndarray or isinstance(value, np.ndarray):
        return read_only(value)
    if kind is tuple:
        return tuple(frozen(inner) for inner in value)
    if kind is dict or isinstance(value, Mapping):
        return FrozenDict({key: one if type(one) in SIMPLE else frozen(one) for key, one in value.items()})
    return value
