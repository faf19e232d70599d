"""Runs whose steps differ in size: a tolerance chooses them, or they follow from a time transformation.

With a time transformation nominal steps are equal, and the time is a number of the state. A time off the steps (the
end, those of ``t_eval``) is reached by a step of its own from the state before it, whose nominal size is found by a
search; such side steps leave the others as they are. At a break (of a burn, an impulse) such a step ends what is
reversible; behind it steps are again, with a step density that has risen or fallen there as that of the state has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import copysign, inf
from typing import Any, cast

import numpy as np

from polhode.arguments import Array
from polhode.errors import InvalidInput, PolhodeError, StepFailed, StepTooLarge, StepTooSmall
from polhode.kernel import layout as L
from polhode.runs.rows import Record
from polhode.runs.stepping import Run, tried
from polhode.runs.steps import Tolerance

SHORTEST = 1e-14
"""Part of the span below which steps are too small."""
MOST_TRIALS = 60
"""Of the search for the nominal size of a side step."""


class AdaptiveRun(Run):
    """A run whose steps are chosen by their estimated error; all they depend on is in the course of the bench."""

    adaptive = True
    remembered = ("edge",)

    def set_out(self) -> None:
        asked = self.request.steps
        assert isinstance(asked, Tolerance)
        self.asked, self.total = asked, None
        self.h = copysign(1.0, self.final - self.t0)
        self.integrator.adapt(self.t0, asked.rtol, cast(float, asked.atol), self.h * (asked.first_step or 0.0))
        self.first_state = self.integrator.controller_state.copy()
        self.edge: tuple[float, int, float] | None = None  # where a step is to end, at an event: time, number, side

    @property
    def memory(self) -> dict[str, Any]:
        return super().memory | {"course": self.integrator.controller_state}

    def check(self, kept: Mapping[str, Any]) -> None:
        super().check(kept)
        controller_state, samples = kept["memory"]["course"], len(self.request.recording.t_eval or ())
        for slot, most in ((L.ACCEPTED, self.asked.max_steps), (L.REJECTED, self.asked.max_steps), (L.SAMPLE, samples)):
            if not 0.0 <= controller_state[slot] <= most or controller_state[slot] % 1.0:
                raise ValueError(f"a count of {controller_state[slot]:g}")

    @property
    def marched(self) -> tuple[Array, ...]:
        return *super().marched, self.integrator.controller_state

    @property
    def now(self) -> float:
        return float(self.integrator.controller_state[L.TIME])

    @property
    def limits(self) -> tuple[float, float]:
        """The longest and the shortest step there may be."""
        span = abs(self.final - self.t0)
        most = span / 10.0 if self.integrator.prepared.controller == "ode45" else inf
        return self.asked.max_step or most, SHORTEST * span

    @property
    def last(self) -> float:
        return float(self.integrator.controller_state[L.TAKEN])

    @property
    def step_settings(self) -> dict[str, Any]:
        controller_state = self.integrator.controller_state
        told = {"rtol": self.asked.rtol, "atol": self.asked.atol, "steps": self.done}
        told |= {"steps_accepted": self.done, "steps_rejected": int(controller_state[L.REJECTED])}
        if self.done:
            told |= {
                "step_smallest": float(controller_state[L.SMALLEST]),
                "step_largest": float(controller_state[L.LARGEST]),
            }
        return told

    def advice(self, h: float) -> str:
        return f"loosen rtol: steps down to {abs(h):.2g} were tried"

    @property
    def finer(self) -> str:
        return f"tighten rtol = {self.asked.rtol:g} and atol = {self.asked.atol:g}"

    def state(self) -> Array:
        return self.y.copy()

    def carry_out(self, record: Record, every: int, samples: Array | None, between_slices: Callable[[], None]) -> None:
        integrator, controller_state, most = self.integrator, self.integrator.controller_state, self.asked.max_steps
        longest, shortest = self.limits
        wanted = np.empty(0)
        if samples is None and not self.resumed:
            record.add(self.t0, self.start, 0)
            self.show(record)
        if samples is not None:  # times may be past the end by round-off
            every, wanted = 0, np.clip(samples, min(self.t0, self.final), max(self.t0, self.final))
        while not (self.resumed and self.now == self.final):
            tried = int(controller_state[L.ACCEPTED] + controller_state[L.REJECTED])
            count = min(self.slice, most - tried, record.steps(0, every) if every else most)
            times, sizes, rows, iterations = record.room(count // every + 1 if every else 0)
            target = self.edge[0] if self.edge else self.breaks[0] if self.breaks else self.final
            status, problem, elapsed, kept = self.take_slice(
                integrator.march_adaptive, count, every, target, wanted, times, sizes, rows, iterations,
                longest=longest, shortest=shortest,
            )  # fmt: skip
            if status == L.BELOW:
                self.undo(kept)
                self.event_detection.land(self.now, kept[0])
                integrator.forget()
                continue
            self.done = int(controller_state[L.ACCEPTED])
            record.count += int(controller_state[L.ROWS])
            if status in (L.CROSSED, L.CUT):
                self.edge = self.met_in_step(status, self.edge)
            elif status != L.OK:
                h = self.step_info[L.NEXT_TIME] - self.now
                if not h * self.h > 0.0:  # it was not in a step but in the choice of the first one
                    h = 1e-3 * (self.final - self.t0)
                raise self.failure(status, self.done, self.y, self.now, h, self.y.copy(), problem)
            if self.now == target and status in (L.OK, L.CROSSED):
                self.land(self.edge, record)
                self.edge = None
            between_slices()
            if self.now == self.final:
                return
            now = int(controller_state[L.ACCEPTED] + controller_state[L.REJECTED])
            if now >= most:
                raise StepFailed(
                    f"{most} steps were tried and the run is only at t = {self.now:g} of {self.final:g}; raise "
                    "max_steps, or loosen rtol", step=self.done, time=self.now,
                )  # fmt: skip
            if now - tried >= count:  # else an event or a break has cut it short
                self.adjust(elapsed)

    def met_in_step(self, status: int, edge: tuple[float, int, float] | None) -> tuple[float, int, float] | None:
        """Tell the events of the step just taken, or find where the step just refused is to be cut."""
        detection, controller_state = self.event_detection, self.integrator.controller_state
        if status == L.CROSSED:
            begun = float(controller_state[L.BEGUN])
            detection.passed(begun, self.integrator.kept.copy(), self.now, self.y.copy(), self.part)
            return edge
        a, b = self.now, float(self.step_info[L.NEXT_TIME])
        ya, values = self.y.copy(), detection.values.copy()
        yb = self.part(a, ya, b)
        edges = [
            (detection.locate(k, a, ya, b, yb, values[k], self.part)[0], k, copysign(1.0, values[k]))
            for k in detection.changed(values) if k < detection.cuts
        ]  # fmt: skip
        t, k, side = min(edges, key=lambda where_text: where_text[0] * self.direction)
        if t == a:
            detection.cross(k, side, t)
            return edge
        if edge is not None:  # this one comes before it
            detection.sides[edge[1]] = -edge[2]
        detection.sides[k] = L.EVENT_DISABLED
        return t, k, side

    def part(self, t: float, y: Array, goal: float) -> Array:
        """State at ``goal`` from the state y at time t; by the polynomial of the step tried last where it has one."""
        if not self.integrator.prepared.polynomial:
            return super().part(t, y, goal)
        return self.integrator.within(y, t, float(self.step_info[L.NEXT_TIME]) - t, goal)

    def land(self, edge: tuple[float, int, float] | None, record: Record) -> None:
        """The state is at an edge, at a break or at the end."""
        if edge is not None:
            self.event_detection.cross(edge[1], edge[2], self.now)
            self.event_detection.note_event(edge[1], self.now, self.y)
            self.event_detection.act(edge[1], self.now, self.y, super().part)
        while self.breaks and self.breaks[0] == self.now:
            self.y[:] = self.pass_break(self.now, self.y)
            if record.replace(self.now, self.y):
                self.show(record)
        self.integrator.forget()

    def particular_failure(self, status: int, step: int, t: float, h: float) -> PolhodeError | None:
        if status != L.TOO_SMALL or self.step_info[L.CUTS] > 1.0:
            return super().particular_failure(status, step, t, h)
        if self.integrator.prepared.polynomial:  # what was to be tried was longer; the last step tells the size
            h = float(self.integrator.controller_state[L.TAKEN])
        return StepTooSmall(
            f"rtol = {self.asked.rtol:g} asks for steps below {abs(h):.2g} in step {step} (t = {t:.9g}), which "
            "time cannot resolve; loosen rtol, or look for a load that jumps or grows without bound there",
            step=step, time=t,
        )  # fmt: skip


class TimeTransformedRun(Run):
    """A run whose steps follow from a time transformation, whose time is part of the state.

    While ``ahead``, the state is the one after a step that reached or passed a time asked for; that step is not counted
    yet, and the state before it is in ``integrator.kept``.
    """

    time_transformed_run = True
    remembered = ("ahead", "taken")

    def set_out(self) -> None:
        super().set_out()
        if self.event_detection:
            raise InvalidInput(
                f"{self.chosen.label!r} has a time transformation, and its steps cannot be cut at shadows or events, "
                "which are met again and again: their sizes follow from the motion on both sides, so that a step back "
                "would not undo one that is cut; take steps of one size or a tolerance, or leave these out"
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
        """Take steps past all breaks until one reaches the target, or all steps are taken; ``ahead`` tells which."""
        while self.breaks and (target - self.breaks[0]) * self.h >= 0.0:
            at, sizes = self.breaks[0], self.integrator.extremes
            self._reach(at, every, record, between_slices)
            if (self.y[self.time_at] - at) * self.h < 0.0:
                return
            self.y[:], most = self.aside(at)
            self.done, self.ahead = self.done + self.ahead, False
            sizes[:] = min(sizes[0], self.taken), max(sizes[1], self.taken)
            before = self._density()
            self.y[:] = self.pass_break(at, self.y)
            self.y[self.time_at + 2] *= (self._density() / before if before else 0.0) or 1.0
            if record and self.done % every == 0:
                record.add(at, self.y, most, self.taken)
        self._reach(target, every, record, between_slices)

    def _density(self) -> float:
        """The step density that belongs to the present state, 0 at rest; its rate there goes into the state."""
        self.integrator.forget()
        self.step_info[L.ERROR], shown = 1.0, self.y.copy()
        status, problem = tried(self.integrator.march_time_transformed, 0, 1, 2, 0.0, inf, y=shown, kept=shown.copy())
        if status not in (L.OK, L.PASSED):
            raise self.failure(status, self.done, self.y, self.now, 0.0, shown, problem)
        self.y[self.time_at + 3] = shown[self.time_at + 3]
        return float(self.step_info[L.ERROR]) ** 0.25

    def _reach(self, target: float, every: int, record: Record | None, between_slices: Callable[[], None]) -> None:
        """The same up to the next break."""
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
