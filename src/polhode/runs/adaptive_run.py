"""Runs whose steps a tolerance chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import copysign, inf
from typing import Any, cast

import numpy as np

from polhode.arguments import Array
from polhode.errors import PolhodeError, StepFailed, StepTooSmall
from polhode.kernel import layout as L
from polhode.runs.rows import Record
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance

SHORTEST = 1e-14
"""Part of the span below which steps are too small."""


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
