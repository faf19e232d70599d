"""Points and distributions of the draws of a sweep, found by their number alone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from polhode.ensembles.designs import Design
from polhode.ensembles.designs import strata as strata
from polhode.ensembles.sampling import KINDS, Distribution, from_record
from polhode.errors import InvalidInput, shown

WAYS = ("random", "latin_hypercube", "sobol")
"""Tables of a [sweep] from which is drawn."""


def points(way: str, seed: int, widths: Mapping[str, int], first: int, stop: int, count: int) -> dict[str, Any]:
    """Points of draws ``first`` to ``stop`` of ``count``: of each name an array (stop - first, width) in [0, 1)."""
    return Design(way, count, widths, seed).rows(first, stop)


def is_record(value: Any) -> bool:
    """Whether a table says what is drawn, and is no table of further keys, some of which have the names of kinds."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, arguments),) = value.items()
    if kind not in KINDS or not isinstance(arguments, Mapping):
        return False
    return kind not in ("attitude", "inertia") or set(arguments) <= set(inspect.signature(KINDS[kind]).parameters)


def drawn(given: Any, where: str) -> Distribution:
    """The distribution of a key."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InvalidInput(f"{where}: expected a distribution, such as {{ uniform = {{ low = 1.0, high = 2.0 }} }}; "
                           f"known here: {', '.join(KINDS)} (got {shown(given)})")  # fmt: skip
    try:
        return from_record(given)
    except (InvalidInput, TypeError) as wrong:
        raise InvalidInput(f"{where}: {wrong}") from None
