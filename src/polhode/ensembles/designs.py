"""Designs of experiments: points in the unit cube from which distributions draw members, addressed by member number.

``Design.rows(first, stop)`` are the points of a range of members. They depend on the design, the seed, the names and
dimensions of what varies and the numbers of the members, not on the ranges asked for; so chunks and threads change no
bit.

* ``random``: independent points. Member k of 10 is member k of 10^7, and what is called ``mass`` gets the same numbers
  whatever varies beside it: each name has its own stream, Philox4x64 [salmon2011] with a key made from seed and name.
* ``latin_hypercube``: as many slices of equal probability as members along each axis, one point in each [mckay1979].
  Each coordinate has a permutation of the slices, made by a Feistel network of hashes with cycle-walking [black2002],
  so that nobody keeps all of them in memory, and a member depends on the number of members but not on what else varies.
* ``sobol``: a scrambled Sobol sequence [owen1998] by ``scipy.stats.qmc``, whose points may be others in another version
  of SciPy; numbers of members that are powers of two are balanced.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from polhode.arguments import Array, Indices, choice, room_for, whole
from polhode.errors import InvalidInput

DESIGNS = ("random", "latin_hypercube", "sobol")

MOST_SOBOL = 2**30
"""Length of the Sobol sequence of ``scipy.stats.qmc``."""

LARGEST_SEED = 2**63 - 1

BLOCK = 4
"""Numbers in a block of Philox."""
ROUNDS = 6
"""Of the Feistel network."""
BELOW_ONE = float(np.nextafter(1.0, 0.0))


def uniform_stream(seed: int, name: str, first: int, stop: int) -> Array:
    """Numbers ``first`` to ``stop`` of the stream of uniform numbers in [0, 1) that belongs to a seed and a name."""
    words = np.random.SeedSequence([seed, *name.encode()]).generate_state(2, np.uint64)
    stream = np.random.Philox(key=words, counter=first // BLOCK)
    raw = stream.random_raw(stop - first // BLOCK * BLOCK)[first % BLOCK :]
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53)


def strata(seed: int, name: str, first: int, stop: int, count: int) -> Indices:
    """Where a permutation of ``count`` slices, of a seed and a name, takes the numbers ``first`` to ``stop``."""
    half = max(1, -(-max(1, (count - 1).bit_length()) // 2))
    keys = np.random.SeedSequence([seed, *name.encode(), 1]).generate_state(ROUNDS, np.uint64)
    found = np.arange(first, stop, dtype=np.uint64)
    walking = np.ones(len(found), dtype=bool)
    while walking.any():
        found[walking] = _feistel(found[walking], half, keys)
        walking = found >= np.uint64(count)
    return found.astype(np.int64)


def _feistel(numbers: NDArray[np.uint64], half: int, keys: Indices) -> NDArray[np.uint64]:
    """A permutation of the numbers below 4^half."""
    bits, mask = np.uint64(half), np.uint64(2**half - 1)
    left, right = numbers >> bits, numbers & mask
    for key in keys:
        left, right = right, left ^ (_hash(right ^ key) & mask)
    return (left << bits) | right


def _hash(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mixes 64 bits [steele2014]."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Design:
    """Points in the unit cube for the members of an ensemble."""

    def __init__(self, kind: str, count: int, dimensions: Mapping[str, int], seed: int) -> None:
        self.kind, self.count = choice(kind, "design", DESIGNS), whole(count, "count", 1)
        self.seed = whole(seed, "seed", 0, LARGEST_SEED)
        self.dimensions = dict(dimensions)
        if self.kind == "sobol" and self.count > MOST_SOBOL:
            raise InvalidInput(f"count is {self.count}, but a Sobol sequence has 2^30 points; take another design")

    def rows(self, first: int, stop: int, names: Iterable[str] | None = None) -> dict[str, Array]:
        """Points of members ``first`` to ``stop``: of each name an array (stop - first, dimension) in [0, 1)."""
        wanted = self.dimensions if names is None else {name: self.dimensions[name] for name in names}
        if self.kind == "sobol":
            points = self._sobol(sum(self.dimensions.values()), first, stop)
            ends = dict(zip(self.dimensions, np.cumsum([*self.dimensions.values()]).tolist(), strict=True))
            return {name: points[:, ends[name] - width : ends[name]] for name, width in wanted.items()}
        found = {
            name: uniform_stream(self.seed, name, first * width, stop * width).reshape(stop - first, width)
            for name, width in wanted.items()
        }
        if self.kind == "latin_hypercube":
            for name, u in found.items():
                slices = [strata(self.seed, f"{name}/{k}", first, stop, self.count) for k in range(wanted[name])]
                if slices:
                    found[name] = np.minimum((np.stack(slices, axis=1) + u) / self.count, BELOW_ONE)
        return found

    def _sobol(self, total: int, first: int, stop: int) -> Array:
        if not total:
            return np.empty((stop - first, 0))
        room_for(2.0 * (stop - first) * total, "count")
        from scipy.stats import qmc  # takes half a second

        if total > qmc.Sobol.MAXDIM:
            raise InvalidInput(f"{total} numbers vary, but Sobol sequences have at most {qmc.Sobol.MAXDIM} dimensions; "
                               "take another design")  # fmt: skip
        engine = qmc.Sobol(total, seed=np.random.default_rng(self.seed))
        if first:
            engine.fast_forward(first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers that are no powers of two
            return np.asarray(engine.random(stop - first), dtype=float)
