"""Containers that refuse to be changed, for what a system is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

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
    if kind is list:
        return FrozenList([one if type(one) in SIMPLE else frozen(one) for one in value])
    if kind is np.ndarray:
        return read_only(value)
    if kind is tuple:
        return tuple(frozen(inner) for inner in value)
    if kind is dict or isinstance(value, Mapping):
        return FrozenDict({key: one if type(one) in SIMPLE else frozen(one) for key, one in value.items()})
    if isinstance(value, list):
        return FrozenList([frozen(inner) for inner in value])
    return read_only(value) if isinstance(value, np.ndarray) else value


@dataclass(frozen=True)
class AsMade:
    """What records repeat from the arguments, or the file, that it was made of: it knows whether it is still that."""

    _seal: str = field(default="", init=False, repr=False, compare=False)

    def contents(self) -> str:
        """SHA-256 of all that it holds."""
        held = hashlib.sha256()
        for one in fields(self):
            value = getattr(self, one.name)
            if one.init:
                held.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return held.hexdigest()

    def sealed(self) -> Self:
        """Itself, as made now: what ``dataclasses.replace`` makes of it is not."""
        object.__setattr__(self, "_seal", self.contents())
        return self

    @property
    def as_made(self) -> bool:
        """Whether its maker would make it again."""
        return self._seal == self.contents()

    def unchanged(self, maker: str, remedy: str) -> Self:
        """Itself, if it is as it was made."""
        if not self.as_made:
            raise InvalidInput(f"what polhode.{maker} made was changed since, so that a run with it could not be "
                               f"repeated; {remedy}")  # fmt: skip
        return self
