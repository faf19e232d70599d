"""Designs of experiments: points in the unit cube from which distributions draw members, addressed by member number.

``Design.rows(first, stop)`` are the points of a range of members. They depend on the design, the seed, the names and
dimensions of what varies and the numbers of the members, not on the ranges asked for; so chunks and threads change no
bit.

* ``random``: independent points. Member k of 10 is member k of 10^7, and what is called ``mass`` gets the same numbers
  whatever varies beside it: each name has its own stream, Philox4x64 [salmon2011] with a key made from seed and name.
* ``latin_hypercube``: as many slices of equal probability as members along each axis, one point in each [mckay1979].
* ``sobol``: a scrambled Sobol sequence [owen1998]; numbers of members that are powers of two are balanced.

The last two are ``scipy.stats.qmc``'s and their points may be others in other versions of SciPy.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from polhode.arguments import Array, choice, room_for, whole
from polhode.errors import InvalidInput

DESIGNS = ("random", "latin_hypercube", "sobol")

MOST_SOBOL = 2**30
"""Length of the Sobol sequence of ``scipy.stats.qmc``."""

LARGEST_SEED = 2**63 - 1

BLOCK = 4
"""Numbers in a block of Philox."""


def uniform_stream(seed: int, name: str, first: int, stop: int) -> Array:
    """Numbers ``first`` to ``stop`` of the stream of uniform numbers in [0, 1) that belongs to a seed and a name."""
    words = np.random.SeedSequence([seed, *name.encode()]).generate_state(2, np.uint64)
    stream = np.random.Philox(key=words, counter=first // BLOCK)
    raw = stream.random_raw(stop - first // BLOCK * BLOCK)[first % BLOCK :]
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53)


class Design:
    """Points in the unit cube for the members of an ensemble.

    Parameters
    ----------
    kind : {"random", "latin_hypercube", "sobol"}
        See the module.
    count : int
        Number of members.
    dimensions : mapping
        Of each name, in order, how many coordinates it takes.
    seed : int
        From 0 to 2^63 - 1.

    Raises
    ------
    InvalidInput
        Another word, a count below 1, a seed out of range, or more than 2^30 members for ``sobol``.
    """

    def __init__(self, kind: str, count: int, dimensions: Mapping[str, int], seed: int) -> None:
        self.kind, self.count = choice(kind, "design", DESIGNS), whole(count, "count", 1)
        self.seed = whole(seed, "seed", 0, LARGEST_SEED)
        self.dimensions = dict(dimensions)
        self._whole: Array | None = None
        if self.kind == "sobol" and self.count > MOST_SOBOL:
            raise InvalidInput(f"count is {self.count}, but a Sobol sequence has 2^30 points; take another design")

    def rows(self, first: int, stop: int, names: Iterable[str] | None = None) -> dict[str, Array]:
        """Points of members ``first`` to ``stop``: of each name an array (stop - first, dimension) in [0, 1)."""
        wanted = self.dimensions if names is None else {name: self.dimensions[name] for name in names}
        if self.kind == "random":
            return {
                name: uniform_stream(self.seed, name, first * width, stop * width).reshape(stop - first, width)
                for name, width in wanted.items()
            }
        total = sum(self.dimensions.values())
        points = self._sobol(total, first, stop) if self.kind == "sobol" else self._latin(total)[first:stop]
        ends = dict(zip(self.dimensions, np.cumsum([*self.dimensions.values()]).tolist(), strict=True))
        return {name: points[:, ends[name] - width : ends[name]] for name, width in wanted.items()}

    def _latin(self, total: int) -> Array:
        if self._whole is None:
            room_for(3.0 * self.count * total, "count")
            self._whole = _engine("LatinHypercube", total, self.seed).random(self.count) if total else np.empty(
                (self.count, 0))  # fmt: skip
        return self._whole

    def _sobol(self, total: int, first: int, stop: int) -> Array:
        if not total:
            return np.empty((stop - first, 0))
        room_for(2.0 * (stop - first) * total, "count")
        engine = _engine("Sobol", total, self.seed)
        if first:
            engine.fast_forward(first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers that are no powers of two
            return np.asarray(engine.random(stop - first), dtype=float)


def _engine(kind: str, dimension: int, seed: int) -> Any:
    from scipy.stats import qmc  # takes half a second

    if kind == "Sobol" and dimension > qmc.Sobol.MAXDIM:
        raise InvalidInput(f"{dimension} numbers vary, but Sobol sequences have at most {qmc.Sobol.MAXDIM} dimensions; "
                           "take another design")  # fmt: skip
    return getattr(qmc, kind)(dimension, seed=np.random.default_rng(seed))
