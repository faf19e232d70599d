"""Runs of methods with a time transformation: nominal steps, and a time that is a number of the state.

A time off the steps (the end, those of ``t_eval``) is reached by a step of its own from the state before it, whose
nominal size is found by a search; such side steps leave the others as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import InvalidInput, PolhodeError, StepFailed, StepTooLarge
from polhode.kernel import layout as L
from polhode.runs.rows import Record
from polhode.runs.stepping import Run, tried

MOST_TRIALS = 60
"""Of the search for the nominal size of a side step."""


class TimeTransformedRun(Run):
    """A run whose steps follow from a time transformation, whose time is part of the state.

    While ``ahead``, the state is the one after a step that reached or passed a time asked for; that step is not counted
    yet, and the state before it is in ``integrator.kept``.
    """

    time_transformed_run = True
    remembered = ("ahead", "taken")

    def set_out(self) -> None:
        super().set_out()
        if self.breaks or self.cuts or self.event_detection or self.system.watched:
            raise InvalidInput(
                f"{self.chosen.label!r} has a time transformation, and its steps cannot be cut at breaks, impulses, "
                "burns, shadows or events: their sizes follow from the motion on both sides, so that a step back would "
                "not undo one that is cut; take steps of one size or a tolerance, or leave these out"
            )
        self.start = self.y.copy()
        self.time_at = int(self.step_info[L.TIME_AT])
        self.ahead = False
        self.taken = 0.0

    @property
    def memory(self) -> dict[str, Any]:
        return super().memory | {"kept": self.integrator.kept, "extremes": self.integrator.extremes}

    @property
    def march_mark(self) -> str:
        return "time-transformed"

    @property
    def now(self) -> float:
        return float((self.integrator.kept if self.ahead else self.y)[self.time_at])

    @property
    def last(self) -> float:
        return self.taken

    @property
    def step_settings(self) -> dict[str, Any]:
        told = {"step": abs(self.h), "steps": self.done}
        if self.done:
            smallest, largest = (float(size) for size in self.integrator.extremes)
            told |= {"step_smallest": min(smallest, self.taken), "step_largest": max(largest, self.taken)}
        return told

    def advice(self, h: float) -> str:
        return self.finer

    def state(self) -> Array:
        return (self.integrator.kept if self.ahead else self.y).copy()

    def carry_out(self, record: Record, every: int, samples: Array | None, between_slices: Callable[[], None]) -> None:
        if samples is None:
            if not self.resumed:
                record.add(self.t0, self.start, 0)
        else:
            for t in samples[record.count :]:
                if (self.final - t) * self.h <= 0.0:
                    break
                self.reach(t, 1, None, between_slices)
                record.add(t, *self.aside(t), self.taken)
                self.step_info[L.ROW_ITERATIONS] = 0.0
        self.reach(self.final, every, record if samples is None else None, between_slices)
        if self.total is None and self.ahead:
            self.y[:], _ = self.aside(self.final)
            self.ahead, self.done = False, self.done + 1
            between_slices()
        if samples is not None:
            for t in samples[record.count :]:
                record.add(t, self.y, int(self.step_info[L.ROW_ITERATIONS]), self.taken)

    def reach(self, target: float, every: int, record: Record | None, between_slices: Callable[[], None]) -> None:
        """Take steps until one reaches the target, or all steps are taken; then ``ahead`` tells which."""
        integrator, y, slot = self.integrator, self.y, self.time_at
        if (y[slot] - target) * self.h >= 0.0:  # on the way to an earlier time, or there from the start
            if not self.ahead:
                integrator.kept[:] = y
            return
        if self.ahead:
            self.ahead, self.done = False, self.done + 1
        while self.total is None or self.done < self.total:
            count = self.slice if self.total is None else min(self.slice, self.total - self.done)
            if record:
                count = min(count, record.steps(self.done, every))
            made = (self.done + count) // every - self.done // every if record else 0
            into = record.room(made) if record else None
            before, rows = self.done, every if record else self.done + count + 1
            status, problem, elapsed, _ = self.take_slice(
                integrator.march_time_transformed, before, count, rows, self.h, target, into
            )
            self.done += int(self.step_info[L.STEPS_DONE])
            if record:
                record.count += self.done // every - before // every
            taken = abs(float(y[slot] - integrator.kept[slot]))
            if status == L.PASSED:
                self.ahead = True
                between_slices()
                return
            if status != L.OK:
                after = y.copy()
                y[:] = integrator.kept
                h = taken if taken > 0.0 else self.size(y)
                raise self.failure(status, self.done, y, self.now, h, after, problem)
            self.taken = taken
            between_slices()
            self.adjust(elapsed)

    def aside(self, target: float) -> tuple[Array, int]:
        """State at a time that the step taken last reached or passed, and the iterations of the step that ends there.

        The size of that step is left in ``taken``."""
        slot, before = self.time_at, self.step_info.copy()
        grid, shown = self.integrator.kept.copy(), self.y.copy()

        def off() -> float:
            return float((shown[slot] - target) + shown[slot + 1])

        if grid[slot] == target:
            return grid, int(self.step_info[L.ROW_ITERATIONS])
        fine = float(np.spacing(max(abs(target), abs(grid[slot]))))
        other, at_other = 0.0, float((grid[slot] - target) + grid[slot + 1])  # parts of the nominal step, times there
        last, at_last = 1.0, off()
        for _ in range(MOST_TRIALS):  # regula falsi of Illinois
            if abs(at_last) <= 0.5 * fine or last == other:
                break
            part = last - at_last * (last - other) / (at_last - at_other)
            shown = grid.copy()
            march, h = self.integrator.march_time_transformed, part * self.h
            status, problem = tried(march, 0, 1, 2, h, inf * self.h, y=shown, kept=grid.copy())
            if status != L.OK:
                raise self.failure(status, self.done, grid, grid[slot], self.size(grid), shown, problem)
            found = off()
            if found * at_last < 0.0:
                other, at_other = last, at_last
            else:
                at_other *= 0.5
            last, at_last = part, found
        most = int(self.step_info[L.ROW_ITERATIONS])
        self.step_info[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]] = before[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]]
        shown[slot], shown[slot + 1] = target, 0.0
        self.taken = abs(float(target - grid[slot]))
        return shown, most

    def size(self, y: Array) -> float:
        """Size of the next step from a state, signed, by the step density there."""
        return float(self.h / (y[self.time_at + 2] or 1.0))

    def particular_failure(self, status: int, step: int, t: float, h: float) -> PolhodeError | None:
        if status != L.STOPPED:
            return None
        return StepFailed(
            f"the time of {self.chosen.label!r} would stand still in step {step} (t = {t:.9g}): the motion changes "
            f"too fast for steps that begin with {abs(self.h):g}; take a smaller step", step=step, time=t,
        )  # fmt: skip

    def _too_large(self, where_text: str, h: float, states: Sequence[Any], where: dict[str, Any]) -> StepTooLarge:
        told = super()._too_large(where_text, h, states, where)
        nominal = abs(self.h / h) * told.largest_step
        return StepTooLarge(
            f"{told}; steps that begin with {nominal:.3g} in the place of {abs(self.h):g} would be as large there",
            largest_step=nominal, **where,
        )  # fmt: skip
