"""The rows that a run records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polhode.arguments import Array, Indices
from polhode.errors import InvalidInput
from polhode.operating_system import memory
from polhode.runs.integrator import RowArrays

FIRST_ROWS = 1024
LARGEST_ROWS = 2**31
"""Most numbers of the states recorded, and most steps of a slice."""
SLICE = 2**21
"""Bytes of the states that a slice may record where rows go to a store; at least ``FEWEST`` rows."""
KEPT = 2**22
"""Bytes of the states that stay in memory although a store has them: a short run is whole in memory, too."""
FEWEST = 16


class Record:
    """Rows recorded so far; of a run whose rows go to a store, those of late."""

    def __init__(self, rows: int, width: int, most: int = LARGEST_ROWS) -> None:
        self.count, self.first, self.most, self.width = 0, 0, most, width
        self._make(rows)

    def _make(self, rows: int) -> None:
        """Memory for so many rows; those there are stay."""
        if rows * self.width > min(LARGEST_ROWS, memory() // 16):
            raise self._too_many(rows)
        try:
            made = np.zeros(rows), np.zeros(rows), np.zeros((rows, self.width)), np.zeros(rows, dtype=np.int64)
        except MemoryError:
            raise self._too_many(rows) from None
        if self.held:
            before = self.between(self.first, self.count)
            for new, old in zip((made[0], *made[2:], made[1]), before, strict=True):
                new[: self.held] = old
        self.times, self.sizes, self.states, self.iterations = made

    def _too_many(self, rows: int) -> InvalidInput:
        return InvalidInput(
            f"{rows} rows would need {rows * self.width * 8 / 1e9:,.0f} GB of memory; record less with a "
            "larger every, or let them go to a store (store='run.zarr')"
        )

    @property
    def held(self) -> int:
        """How many rows are in memory."""
        return self.count - self.first

    @property
    def last(self) -> float:
        """Time of the last row."""
        return self.times[self.held - 1]

    def between(self, first: int, end: int) -> tuple[Array, Array, Indices, Array]:
        """Rows by their numbers: times, states, iterations, sizes of steps."""
        if first < self.first:
            raise ValueError(f"row {first} has left the memory, which begins with row {self.first}")
        here = slice(first - self.first, end - self.first)
        return self.times[here], self.states[here], self.iterations[here], self.sizes[here]

    def steps(self, done: int, every: int) -> int:
        """How many steps after those done a slice may take, that no more rows come than it may record."""
        return min(LARGEST_ROWS, self.most * every - done % every)

    def add(
        self, times: Array | Sequence[float] | float, states: Array, iterations: Indices | int,
        sizes: Array | float = 0.0,
    ) -> None:  # fmt: skip
        """Add one row or several."""
        new = 1 if isinstance(times, float) else len(times)
        if self.held + new > len(self.times):
            self.room(new)
        here = self.held if isinstance(times, float) else slice(self.held, self.held + new)
        self.times[here], self.states[here], self.iterations[here] = times, states, iterations
        self.sizes[here] = sizes
        self.count += new

    def room(self, rows: int) -> RowArrays:
        """Where the next rows go: times, sizes of steps, states, iterations. One more than asked for always fits."""
        if self.held + rows >= len(self.times):
            self._make(max(2 * len(self.times), self.held + rows + 1))
        here = slice(self.held, None)
        return RowArrays(self.times[here], self.sizes[here], self.states[here], self.iterations[here])

    def forget(self, stored: int) -> None:
        """Let go of the first rows, of which so many are in a store, where they have become many; not of the last."""
        stored = min(stored, self.count - 1) - self.first
        if self.most == LARGEST_ROWS or stored * self.width * 8 <= KEPT:
            return
        left = self.held - stored
        for array in (self.times, self.sizes, self.states, self.iterations):
            array[:left] = array[stored : stored + left]
        self.first += stored

    def cut(self, t: float, direction: float) -> None:
        """Drop the rows after a time."""
        while self.held and (self.last - t) * direction > 0.0:
            self.count -= 1

    def replace(self, t: float, y: Array) -> bool:
        """Another state in the rows at this time, which are the last ones if there are any; whether there are."""
        row = self.held - 1
        while row >= 0 and self.times[row] == t:
            self.states[row] = y
            row -= 1
        return row < self.held - 1
