"""What a function that is traced decides by.

A condition on parameters alone (a count, a kind, a form) is answered from their values: the program is that for these
values of theirs, though they stay its inputs. A condition on anything else (``if r > R``) is answered with yes and with
no, a run for each, and the results are joined by ``choose``; so a function may decide a few times, but not in a loop
whose end depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polhode.programs.graph import Graph

MOST_DECISIONS = 12
"""Most conditions that a function meets on one way through it."""
MOST_RUNS = 64
"""Most ways through a function."""


class TooManyWays(Exception):
    """A function decides more often than it can be followed."""


class Decisions:
    """Answers to the conditions that a function meets while it is traced."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values, self.asked = values, set[str]()  # of inputs that may be asked for, and those that were
        self._plan: list[bool] = []
        self._answers: dict[int, bool] = {}
        self._runs = 0

    def number(self, g: Graph, row: int) -> float | None:
        """The value of a row of inputs whose values are known, else None."""
        names = set(g.names([row]))
        if any(name not in self.values for name in names):
            return None
        self.asked |= names
        return float(g.evaluate([row], self.values)[0])

    def holds(self, g: Graph, row: int) -> bool:
        """The answer to a condition, a row that is not zero where it holds."""
        known = self.number(g, row)
        if known is not None:
            return known != 0.0
        if row not in self._answers:
            k = len(self._answers)
            if k >= MOST_DECISIONS:
                raise TooManyWays
            self._answers[row] = self._plan[k] if k < len(self._plan) else True
        return self._answers[row]

    def followed(self, g: Graph, run: Callable[[], list[int]]) -> list[int]:
        """The rows that a function returns, whichever way it goes."""
        self._runs = 0
        return self._below(g, run, [])

    def _below(self, g: Graph, run: Callable[[], list[int]], plan: list[bool]) -> list[int]:
        """The rows of all ways that begin with the answers of a plan."""
        self._runs += 1
        if self._runs > MOST_RUNS:
            raise TooManyWays
        self._plan, self._answers = plan, {}
        rows = run()
        met = list(self._answers.items())
        for k in reversed(range(len(plan), len(met))):
            others = self._below(g, run, [answer for _, answer in met[:k]] + [False])
            if len(others) != len(rows):
                raise TooManyWays
            condition = met[k][0]
            rows = [g.fun("choose", condition, a, b) for a, b in zip(rows, others, strict=True)]
        return rows
