"""Points of a design found by their number alone: those of draw 10^9 cost as much as those of the first.

Random points are those of ``polhode.ensembles.designs``, and so are Sobol's. In a Latin hypercube here each coordinate
has a permutation of the slices, made by a Feistel network of hashes with cycle-walking [black2002], so that no worker
keeps all of them in memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.ensembles.designs import Design, uniform_stream
from polhode.ensembles.sampling import KINDS, Distribution, from_record
from polhode.errors import InvalidInput, shown

WAYS = ("random", "latin_hypercube", "sobol")
"""Tables of a [sweep] from which is drawn."""
ROUNDS = 6
"""Of the Feistel network."""
BELOW_ONE = float(np.nextafter(1.0, 0.0))


def points(way: str, seed: int, widths: Mapping[str, int], first: int, stop: int, count: int) -> dict[str, Any]:
    """Points of draws ``first`` to ``stop`` of ``count``: of each name an array (stop - first, width) in [0, 1)."""
    if way == "sobol":
        return dict(Design(way, count, widths, seed).rows(first, stop))
    found = {
        name: uniform_stream(seed, name, first * width, stop * width).reshape(stop - first, width)
        for name, width in widths.items()
    }
    if way == "latin_hypercube":
        for name, u in found.items():
            slices = [strata(seed, f"{name}/{k}", first, stop, count) for k in range(widths[name])]
            if slices:
                found[name] = np.minimum((np.stack(slices, axis=1) + u) / count, BELOW_ONE)
    return found


def strata(seed: int, name: str, first: int, stop: int, count: int) -> Any:
    """Where a permutation of ``count`` slices, of a seed and a name, takes the numbers ``first`` to ``stop``."""
    half = max(1, -(-max(1, (count - 1).bit_length()) // 2))
    keys = np.random.SeedSequence([seed, *name.encode(), 1]).generate_state(ROUNDS, np.uint64)
    found = np.arange(first, stop, dtype=np.uint64)
    walking = np.ones(len(found), dtype=bool)
    while walking.any():
        found[walking] = _feistel(found[walking], half, keys)
        walking = found >= np.uint64(count)
    return found.astype(np.int64)


def _feistel(numbers: Any, half: int, keys: Any) -> Any:
    """A permutation of the numbers below 4^half."""
    bits, mask = np.uint64(half), np.uint64(2**half - 1)
    left, right = numbers >> bits, numbers & mask
    for key in keys:
        left, right = right, left ^ (_hash(right ^ key) & mask)
    return (left << bits) | right


def _hash(x: Any) -> Any:
    """Mixes 64 bits [steele2014]."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def is_record(value: Any) -> bool:
    """Whether a table says what is drawn, and is no table of further keys, some of which have the names of kinds."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, arguments),) = value.items()
    if kind not in KINDS or not isinstance(arguments, Mapping):
        return False
    return kind not in ("attitude", "inertia") or set(arguments) <= set(inspect.signature(KINDS[kind]).parameters)


def drawn(given: Any, where: str) -> Distribution:
    """The distribution of a key.

    Raises
    ------
    InvalidInput
        It is none, or its arguments are wrong.
    """
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InvalidInput(f"{where}: expected a distribution, such as {{ uniform = {{ low = 1.0, high = 2.0 }} }}; "
                           f"known here: {', '.join(KINDS)} (got {shown(given)})")  # fmt: skip
    try:
        return from_record(given)
    except (InvalidInput, TypeError) as wrong:
        raise InvalidInput(f"{where}: {wrong}") from None
