"""Fewer rows of long lists of cases: some of them in the tests of every day, all with ``-m full``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

import pytest


def some(cases: Iterable[Any], n: int) -> list[Any]:
    """n of these cases, evenly spread from the first to the last; the others with ``-m full``."""
    every = list(cases)
    kept = {round(k * (len(every) - 1) / max(1, n - 1)) for k in range(n)}
    return [one if k in kept else _full(one) for k, one in enumerate(every)]


def chosen(cases: Iterable[Any], usual: Iterable[Any]) -> list[Any]:
    """The usual ones of these cases, all of which must be among them; the others with ``-m full``."""
    every, kept = list(cases), list(usual)
    if lost := [one for one in kept if one not in every]:
        raise ValueError(f"not among the cases: {lost}")
    return [one if one in kept else _full(one) for one in every]


def crossed(*axes: Iterable[Any]) -> list[Any]:
    """All combinations of values of axes, most with ``-m full`` alone: of two axes each value is in one of the others,
    of more axes every two values of two of them."""
    values = [list(axis) for axis in axes]
    every = list(product(*(range(len(axis)) for axis in values)))
    together = min(2, len(values) - 1)

    def met(one: tuple[int, ...]) -> set[Any]:
        return {*combinations(enumerate(one), together)}

    kept: set[tuple[int, ...]] = set()
    left = set().union(*map(met, every))
    while left:
        kept.add(best := max(every, key=lambda one: len(met(one) & left)))
        left -= met(best)
    cases = [tuple(axis[k] for axis, k in zip(values, one, strict=True)) for one in every]
    return [case if one in kept else _full(case) for one, case in zip(every, cases, strict=True)]


def _full(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full)
