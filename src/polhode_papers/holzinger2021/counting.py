"""Counts the operations of a formula by evaluating it with numbers that record every operation.

Additions, subtractions, multiplications, divisions, trigonometric functions (sin, cos, tan, acos, asin, atan2) and
square roots count as one each, as in the tables of the paper; so does a multiplication by 2 or 1/2. Sign changes
(absorbed by an addition or subtraction), comparisons and choices between results are not counted.

A formula takes its elementary functions as an argument ``m``: ``PLAIN`` for floats and arrays, ``COUNTING`` for counted
numbers. So the formula that is counted is the one that is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

TRIGONOMETRIC = ("sin", "cos", "tan", "acos", "asin", "atan2")


@dataclass
class Counts:
    """Number of operations of each kind."""

    additions: int = 0
    subtractions: int = 0
    multiplications: int = 0
    divisions: int = 0
    trigonometric: int = 0
    roots: int = 0

    @property
    def total(self) -> int:
        """Sum of all kinds."""
        return sum(astuple(self))


class Counted:
    """A float that adds every operation done with it to ``counts``."""

    __slots__ = ("counts", "value")

    def __init__(self, value: float, counts: Counts) -> None:
        self.value, self.counts = value, counts

    def __float__(self) -> float:
        return self.value

    def _made(self, value: float, kind: str) -> Counted:
        setattr(self.counts, kind, getattr(self.counts, kind) + 1)
        return Counted(value, self.counts)

    def __add__(self, other: Any) -> Counted:
        return self._made(self.value + float(other), "additions")

    def __radd__(self, other: Any) -> Counted:
        return self._made(float(other) + self.value, "additions")

    def __sub__(self, other: Any) -> Counted:
        return self._made(self.value - float(other), "subtractions")

    def __rsub__(self, other: Any) -> Counted:
        return self._made(float(other) - self.value, "subtractions")

    def __mul__(self, other: Any) -> Counted:
        return self._made(self.value * float(other), "multiplications")

    def __rmul__(self, other: Any) -> Counted:
        return self._made(float(other) * self.value, "multiplications")

    def __truediv__(self, other: Any) -> Counted:
        return self._made(self.value / float(other), "divisions")

    def __rtruediv__(self, other: Any) -> Counted:
        return self._made(float(other) / self.value, "divisions")

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.counts)


def _function(name: str, kind: str) -> Callable[..., Counted]:
    evaluate = getattr(math, name)

    def function(*arguments: Counted) -> Counted:
        return arguments[0]._made(evaluate(*map(float, arguments)), kind)

    return function


def _counted_ratio(a: Counted, b: Counted, limit: float) -> Counted:
    return a / b if float(b) != 0.0 else b._made(limit, "divisions")


def _ratio(a: Any, b: Any, limit: float) -> Any:
    return np.where(b == 0.0, limit, a / np.where(b == 0.0, 1.0, b))


COUNTING = SimpleNamespace(
    **{name: _function(name, "trigonometric") for name in TRIGONOMETRIC},
    sqrt=_function("sqrt", "roots"),
    ratio=_counted_ratio,
)
"""Elementary functions of counted numbers."""

PLAIN = SimpleNamespace(
    sin=np.sin, cos=np.cos, tan=np.tan, acos=np.arccos, asin=np.arcsin, atan2=np.arctan2, sqrt=np.sqrt, ratio=_ratio
)
"""The same for floats and arrays. ``ratio(a, b, limit)`` is a/b, or the limit where b is 0."""


def counted(function: Callable[..., Any], *inputs: Sequence[float]) -> tuple[tuple[float, ...], Counts]:
    """The values of ``function(m, *inputs)``, m the elementary functions, and the number of operations."""
    counts = Counts()
    values = function(COUNTING, *(tuple(Counted(float(x), counts) for x in numbers) for numbers in inputs))
    return tuple(float(x) for x in values), counts
