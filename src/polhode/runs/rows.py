"""The rows that a run records."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.arguments import memory
from polhode.errors import InvalidInput
from polhode.runs.integrator import RowArrays
from polhode.runs.request import Request

FIRST_ROWS = 1024
LARGEST_ROWS = 2**31
"""Most numbers of the states recorded, and most steps of a slice."""


class Record:
    """Rows recorded so far."""

    def __init__(self, rows: int, width: int) -> None:
        self.count = 0
        self.times, self.sizes = np.empty(0), np.empty(0)
        self.states, self.iterations = np.empty((0, width)), np.empty(0, dtype=np.int64)
        self._make(rows)

    def _make(self, rows: int) -> None:
        """Memory for so many rows; those there are stay."""
        width = self.states.shape[1]
        size = f"{rows} rows would need {rows * width * 8 / 1e9:,.0f} GB of memory; record less with a larger every"
        if rows * width > min(LARGEST_ROWS, memory() // 16):
            raise InvalidInput(size)
        try:
            for name in ("times", "sizes", "states", "iterations"):
                old = getattr(self, name)
                new = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
                new[: self.count] = old[: self.count]
                setattr(self, name, new)
        except MemoryError:
            raise InvalidInput(size) from None

    @classmethod
    def of(cls, request: Request) -> Record:
        """Room for the rows of a run."""
        samples, total = request.recording.t_eval, request.total
        rows = FIRST_ROWS if total is None else total // request.recording.every
        return cls((rows if samples is None else len(samples)) + 2, len(request.state.values))

    def add(self, times: Any, states: Any, iterations: Any, sizes: Any = 0.0) -> None:
        """Add one row or several."""
        here = slice(self.count, self.count + np.size(times))
        self.times[here], self.states[here], self.iterations[here] = times, states, iterations
        self.sizes[here] = sizes
        self.count = here.stop

    def room(self, rows: int) -> RowArrays:
        """Where the next rows go: times, sizes of steps, states, iterations. One more than asked for always fits."""
        if self.count + rows >= len(self.times):
            self._make(max(2 * len(self.times), self.count + rows + 1))
        here = slice(self.count, None)
        return RowArrays(self.times[here], self.sizes[here], self.states[here], self.iterations[here])

    def cut(self, t: float, direction: float) -> None:
        """Drop the rows after a time."""
        while self.count and (self.times[self.count - 1] - t) * direction > 0.0:
            self.count -= 1

    def replace(self, t: float, y: Any) -> None:
        """Another state in the rows at this time, which are the last ones if there are any."""
        row = self.count - 1
        while row >= 0 and self.times[row] == t:
            self.states[row] = y
            row -= 1
