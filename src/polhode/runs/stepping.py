"""How a run takes its steps: in slices between which it can be watched and stopped, cut at breaks and events.

``Run`` takes steps of one size; ``variable_steps`` has the runs whose steps a tolerance chooses, or a time
transformation. ``rows`` holds what they record.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import copysign, floor, inf, isfinite, log10, sqrt
from typing import Any, cast

import numpy as np

from polhode.arguments import Array, Indices
from polhode.errors import ConvergenceError, NotFinite, PolhodeError, StepFailed, StepTooLarge, UserFunctionError
from polhode.kernel import drive, jit, layout as L
from polhode.runs.event_detection import EPSILON, Ended, EventDetection, Found
from polhode.runs.integrator import Integrator, RowArrays
from polhode.runs.request import WITHOUT_SERIES, Request
from polhode.runs.rows import LARGEST_ROWS, Record
from polhode.runs.steps import FixedStep
from polhode.systems.sampling import check_commands
from polhode.trajectory.charts import singular_note
from polhode.trajectory.quantities import Constants

SLICE_SECONDS = 0.2
FIRST_SLICE = 16
PLACES = [L.WHEELS_AT, L.SAMPLES_AT]
"""What a report says of where tables are among the parameters."""
TOLD = [
    L.GUARDED, L.VELOCITY_DEPENDENT, L.HAS_COMMUTATOR, L.HAS_SLOPES, L.RELATIVE, L.ABSOLUTE, L.AUXILIARY, L.SPLIT_LOADS,
    L.TIME_AT, L.COMPENSATION_AT,
]  # fmt: skip
"""What ``step_info`` tells a step, the same all the run."""


ON_THE_GROUND = ", on the surface of the planet; surface=0 leaves it out"
"""What is said of a run that ends at a surface that nobody gave."""


NO_ROWS = RowArrays(np.empty(0), np.empty(0), np.empty((0, 0)), np.empty(0, dtype=np.int64))
RAISED = -1
"""The status of steps in which a function of the user's has raised something."""


def tried(steps: Callable[..., int], *arguments: object, **words: object) -> tuple[int, Exception | None]:
    """The status of steps, and what a function of the user's raised in them."""
    try:
        return steps(*arguments, **words), None
    except Exception as caught:
        return RAISED, caught


class FormulasChange(StepFailed):
    """The loads change from one formula to another without end, so that there is no series."""


class Run:
    """A run with steps of one size: its arrays, how far it is, and the slices it takes."""

    adaptive = False
    time_transformed_run = False
    repeats = False
    """Whether it is taken again and again, from other starts."""
    told: dict[str, Any] | None = None
    """Attributes that all of these have."""
    remembered: tuple[str, ...] = ()
    """Attributes beside arrays on which the rest of the run depends."""

    def __init__(self, request: Request, compiled: bool = True) -> None:
        self.request, self.system, self.chosen = request, request.system, request.method
        self.t0, self.guard, self.final = request.t0, request.settings.guard, request.final
        self.start = request.state.copy()
        self.direction = copysign(1.0, self.final - self.t0)
        self.event_detection = EventDetection(request)
        self.event_detection.fire(self.t0, self.start, first=True)
        limit = self.chosen.method.range if self.guard else None
        self.cuts = request.breaks
        self.integrator = Integrator(
            self.system, self.chosen, self.start.copy(), self.t0, limit, self.adaptive, request.settings.threads,
            breaks=bool(self.cuts), commanded=request.commanded,
        )  # fmt: skip
        self.step_info = self.integrator.step_info
        self.done: int = 0
        self.seconds = 0.0
        self.slice = FIRST_SLICE
        self.ended: Found | None = None
        self.grid: tuple[tuple[int, ...], Array] = (), np.empty(0)  # numbers of the rows of a slice, and their times
        self.resumed = False
        self.at_rows: dict[int, Any] = {}  # by their number: how ``resolution`` looks at the loads
        self.breaks = self.event_detection.breaks_after(self.t0)
        self.system.set_switches(self.integrator.parameters, self.t0, self.direction)
        self.show_times()
        self.event_detection.watch(self.integrator, self.t0, self.start)
        self.set_out()
        kept = len(self.system.parameters) if self.system.serve else None  # behind them: lists, loads of states
        self.at_start = self.step_info.copy(), self.integrator.parameters[:kept].copy()
        if compiled:  # now, so that no measured time contains it
            kind = "time_transformed_" if self.integrator.prepared.step_density else "adaptive_" * self.adaptive
            getattr(self.integrator, f"{kind}loop")

    @cached_property
    def potential(self) -> Callable[..., Any] | None:
        """The compiled potential of the system."""
        return self.system.compiled_potential(self.t0, self.start)

    def set_out(self) -> None:
        """Get ready for the first step."""
        assert isinstance(self.request.steps, FixedStep)
        self.total = self.request.total
        self.h = self.request.steps.h

    @cached_property
    def for_potential(self) -> tuple[Array, Array, Indices] | None:
        """Bodies, parameters and the address of the compiled potential, if there is one, as kernels take them."""
        own, potential = self.integrator, self.potential
        return None if potential is None else (own.bodies[None], own.parameters[None], jit.addresses_of(potential))

    @cached_property
    def constants(self) -> Constants:
        """What rows of the system are made with."""
        return Constants(*self.system.for_kernels)

    @cached_property
    def judged(self) -> bool:
        """Whether a large error of the energy shows that the run has failed; always of molecules."""
        looks = self.guard or self.system.check is not None
        if not looks or self.integrator.prepared.bath is not None:
            return False
        system = self.system
        if "nothing_read" not in system.provides and system.potential is None:
            return False  # motors take back what they have given, and no row need show what there was in between
        # Kept, or all that changes it is a work. One work alone does not make it so, as that of drag beside a force of
        # the user's with a potential of its own.
        return "energy" in self.system.conserves or (bool(self.system.work_columns) and self.system.balanced)

    def set_at(self, t: float) -> float:
        """Set switches, and the times loads see, as they are from a time on; the step from there, up to a break."""
        kept = self.breaks
        self.breaks = self.event_detection.breaks_after(t)
        self.system.set_switches(self.integrator.parameters, t, self.direction)
        self.show_times()
        left = abs(self.breaks[0] - t) if self.breaks else inf
        self.breaks = kept
        return copysign(min(abs(self.h), left), self.h)

    @property
    def now(self) -> float:
        """Time of the present state."""
        return float(self.time(self.done))

    @property
    def share(self) -> float:
        """Part of the span that is done."""
        if self.total is not None:
            return self.done / self.total if self.total else 1.0
        return (self.now - self.t0) / (self.final - self.t0) if self.final != self.t0 else 1.0

    @property
    def last(self) -> float:
        """Size of the last step."""
        return float(abs(self.h))

    @property
    def step_settings(self) -> dict[str, Any]:
        """Attributes that tell of the steps."""
        return {"step": abs(self.h), "steps": self.done}

    def number(self, t: float) -> int:
        """Number of the step that begins at a time; -1 where that does not follow."""
        return -1 if self.adaptive or self.time_transformed_run else round(float((t - self.t0) / self.h))

    def advice(self, h: float) -> str:
        """What may help where a step of h failed."""
        return f"take a smaller step than {abs(h):g}"

    @property
    def finer(self) -> str:
        """What may help where the run was not accurate enough."""
        return f"take a smaller step than {abs(self.h):g}"

    def to_the_end(self, record: Record, samples: Array | None, between_slices: Callable[[], None]) -> str:
        """The whole run, or up to an event that ends it, which is said; ``between_slices`` is called now and then."""
        try:
            self.carry_out(record, self.request.recording.every, samples, between_slices)
            self.close()
        except Ended as ended:
            self.ended = ended.event
            record.cut(self.ended.time, self.direction)
            if not record.count or record.last != self.ended.time:
                most, size = int(self.step_info[L.ROW_ITERATIONS]), self.last
                record.room(1)
                record.add(self.ended.time, self.ended.state, most, size)
                self.show(record)
            ground = self.system.ground
            assumed = ground is not None and ground.assumed and self.ended.kind == "impact"
            return f"{ended}{ON_THE_GROUND if assumed else ''}"
        return ""

    def carry_out(self, record: Record, every: int, samples: Array | None, between_slices: Callable[[], None]) -> None:
        """The whole run; ``between_slices`` is called now and then."""
        if not self.resumed:
            if samples is None:
                record.add(self.t0, self.start, 0)
                self.show(record)
            self.prepare()
        if samples is None:
            self.take_steps(cast(int, self.total) - self.done, every, record, between_slices)
        else:
            self.sample(samples[record.count :], record, between_slices)

    @property
    def memory(self) -> dict[str, Any]:
        """The arrays on which the rest of the run depends."""
        integrator = self.integrator
        settled = integrator.parameters[: self.system.parameters.size]  # what lies behind them can be made again
        return {
            "y": integrator.y,
            "report": integrator.step_info,
            "load": integrator.load,
            "parameters": settled,
            "sides": integrator.sides,
            **({"remembered": integrator.work[:count]} if (count := integrator.prepared.remembers) else {}),
        }

    def snapshot(self) -> dict[str, Any]:
        """Copies of all the rest of the run depends on, for ``restore``; only between slices.

        A processed method works on a state of its own, which is kept as it is. Loads are kept with the mark that they
        are those of the state, so that not even an evaluation is repeated.
        """
        return {
            "done": self.done,
            "seconds": self.seconds,
            "follows": self.integrator.left_at is not None,
            "breaks": list(self.breaks),
            "found": len(self.event_detection.found),
            "memory": {name: array.copy() for name, array in self.memory.items()},
            **{name: getattr(self, name) for name in self.remembered},
        }

    def restore(self, kept: Mapping[str, Any], found: Sequence[Found]) -> None:
        """Go on where ``snapshot`` was taken, in this process or another; ``found`` are the events met before."""
        if kept["memory"]["sides"].size == self.integrator.sides.size + 1 and self.event_detection.ground is not None:
            self.event_detection.land(self.t0, self.start)  # which it had done
        told = kept["memory"]["report"]
        kept["memory"]["report"] = np.append(told, self.step_info[len(told) :])  # earlier versions had fewer numbers
        self.check(kept)
        self.done, self.seconds, self.breaks = kept["done"], float(kept["seconds"]), list(map(float, kept["breaks"]))
        if "parameters" not in kept["memory"]:
            kept["memory"]["report"][PLACES] = self.integrator.step_info[PLACES]
        for name, array in self.memory.items():
            if name in kept["memory"]:
                array[:] = kept["memory"][name]
        if "parameters" not in kept["memory"]:
            self.system.set_switches(self.integrator.parameters, self.time(self.done), self.h)
            self.event_detection.flag()
        self.event_detection.found[:] = found
        self.show_times()
        for name in self.remembered:
            setattr(self, name, tuple(kept[name]) if isinstance(kept[name], list) else kept[name])
        self.integrator.left_at = self.march_mark if kept["follows"] else None
        self.resumed = True

    def check(self, kept: Mapping[str, Any]) -> None:
        """Refuse a snapshot that is not of this run; see ``restore``."""
        if type(kept["done"]) is not int or not 0 <= kept["done"] <= (inf if self.total is None else self.total):
            raise ValueError(f"{kept['done']} steps done")
        memory = {name: (array, kept["memory"][name]) for name, array in self.memory.items() if name in kept["memory"]}
        for name, (now, then) in memory.items():
            if now.shape != then.shape:
                raise ValueError(f"{name} has {then.size} numbers, not {now.size}")
        now, then = memory["report"]
        if (now[TOLD] != then[TOLD]).any():
            raise ValueError("its system or method has other sizes")
        now, then = memory.get("parameters", (np.zeros(0), np.zeros(0)))
        flags = (np.abs(now) <= 1.0) & (np.abs(then) <= 1.0)
        if not (self.system.functions or ((now == then) | flags).all()):
            raise ValueError("its parameters are others")

    @property
    def march_mark(self) -> tuple[int, float, float] | str:
        """Where the bench was left, if nothing has happened since."""
        return self.done, self.t0, self.h

    def sample(self, samples: Array, record: Record, between_slices: Callable[[], None]) -> None:
        """Rows at given times: the grid is walked as ever, and each time off it is reached by a side step."""
        n = cast(int, self.total)
        for t in samples:
            along = (t - self.t0) / self.h
            k = round(along)
            on_grid = abs(along - k) <= 1e-12 * max(1.0, abs(along)) and k <= n
            self.take_steps((k if on_grid else min(n - 1, floor(along))) - self.done, 1, None, between_slices)
            if on_grid:
                record.add(t, self.state(), int(self.step_info[L.ROW_ITERATIONS]))
            else:
                try:
                    record.add(t, *self.aside(t))
                except Ended:  # before that time; the step itself will tell
                    break
            self.show(record)
            self.step_info[L.ROW_ITERATIONS] = 0.0
        self.take_steps(n - self.done, 1, None, between_slices)

    @property
    def y(self) -> Array:
        """The state the method works on; see ``state``."""
        return self.integrator.y

    def prepare(self) -> None:
        """Make the state the method works on from that of the system, at the present time."""
        self.integrator.forget()
        status, problem = tried(self.integrator.prepare, self.now, self.h)
        if status != L.OK:
            raise self.failure(status, self.done, self.start, self.now, self.h, self.y.copy(), problem)

    def state(self) -> Array:
        """The state of the system after the steps done; a processed method's own where it cannot be turned back."""
        if self.done == 0:
            return self.start.copy()
        try:
            status, shown = self.integrator.present(self.time(self.done), self.h)
        except Exception:  # a function of the user's, whose failure the caller tells
            return self.y.copy()
        return shown if status == L.OK else self.y.copy()

    def time(self, k: Any) -> Any:
        """Time of the grid state after ``k`` steps."""
        return self.t0 + k * self.h

    def take_steps(self, n: int, every: int, record: Record | None, between_slices: Callable[[], None]) -> None:
        """Take ``n`` steps in slices; states after a multiple of ``every`` steps go to ``record``."""
        last = self.done + n
        while self.done < last:
            whole = self.whole_steps()
            if whole == 0:
                y, _ = self.through(self.now, self.state(), self.time(self.done + 1))  # in pieces
                self.done += 1
                if record and self.done % every == 0:
                    record.add(self.now, y, int(self.step_info[L.ROW_ITERATIONS]))
                    self.step_info[L.ROW_ITERATIONS] = 0.0
                self.arrive(y, record)
                between_slices()
                continue
            count = min(self.slice, last - self.done, whole)
            if record:
                count = min(count, record.steps(self.done, every))
            before = self.done
            made = (before + count) // every - before // every if record else 0
            times, _, rows, iterations = record.room(made) if record else NO_ROWS
            status, problem, elapsed, kept = self.take_slice(
                self.integrator.march, before, count, every if record else last + 1, self.t0, self.h, rows, iterations
            )
            if status == L.BELOW:
                self.undo(kept)
                self.event_detection.land(self.now, self.state())
                self.integrator.forget()
                continue
            self.done += int(self.step_info[L.STEPS_DONE])
            if record:
                usable = self.done // every - before // every
                begin = before // every + 1
                if self.grid[0] != (begin, usable, every):
                    self.grid = (begin, usable, every), self.time(every * np.arange(begin, begin + usable))
                times[:usable] = self.grid[1]
                record.count += usable
            if status == L.CROSSED:
                self.met(record)
            elif status != L.OK:
                after = self.y.copy()
                self._back(before, kept[0])
                raise self.failure(status, self.done, self.y, self.time(self.done), self.h, after, problem)
            elif self.near(self.now):
                self.arrive(self.state(), record)
            between_slices()
            self.adjust(elapsed)

    @property
    def marched(self) -> tuple[Array, ...]:
        """The arrays that a slice changes."""
        return self.y, self.step_info

    def undo(self, kept: Sequence[Array]) -> None:
        """Put back what ``marched`` was before a slice."""
        for array, before in zip(self.marched, kept, strict=True):
            array[:] = before

    def take_slice(
        self, march: Callable[..., int], *arguments: object, **words: object
    ) -> tuple[int, Exception | None, float, list[Array]]:
        """Take the steps of a slice: their status, what a function raised, how long they took, ``marched`` before."""
        kept, begun = [array.copy() for array in self.marched], time.perf_counter()
        try:
            status, problem = tried(march, *arguments, **words)
        except KeyboardInterrupt:  # a second Ctrl-C: the slice is lost
            self.undo(kept)
            raise
        elapsed = time.perf_counter() - begun
        self.seconds += elapsed
        return status, problem, elapsed, kept

    def near(self, t: float) -> bool:
        """Whether the next break counts as being at time t."""
        return bool(self.breaks) and self.same_time(self.breaks[0], t)

    def same_time(self, at: float, t: float) -> bool:
        """Whether a break counts as being at time t, the end of a step."""
        return bool(abs(t - at) <= 4.0 * EPSILON * max(abs(self.t0), abs(t), abs(self.h)))

    def whole_steps(self) -> int:
        """How many steps can be taken before the next break lies within one."""
        if not self.breaks:
            return LARGEST_ROWS
        along = (self.breaks[0] - self.t0) / self.h
        k = round(along)
        return max(0, int(k if self.near(self.time(k)) else floor(along)) - self.done)

    def show_times(self) -> None:
        """Let loads see only times between the break of the user's that was passed last and the next one.

        So a step sees one side of a jump, whichever end the jump lies at and wherever the stages of the method lie.
        """
        if self.cuts:
            ahead = {t for t in self.cuts if t in self.breaks or (t - self.final) * self.direction >= 0.0}
            past, end = {t for t in self.cuts if t not in ahead}, self.direction * inf
            sides = (
                max(past, key=lambda t: t * self.direction, default=-end),
                min(ahead, key=lambda t: t * self.direction, default=end),
            )
            self.integrator.between(*sorted(sides))

    def pass_break(self, t: float, y: Array) -> Array:
        """Set the switches for what follows the next break, which is at time t or counts as there; fire; the state."""
        at = self.breaks.pop(0)
        if self.event_detection.sampled:
            self.breaks = self.event_detection.breaks_after(at)
        self.system.set_switches(self.integrator.parameters, at, self.direction)
        self.show_times()
        after = y.copy()
        fired = self.event_detection.fire(at, after)
        if fired:
            self.event_detection.close(t, y)
            self.event_detection.found += fired
            self.event_detection.restart(t, after)
        return after

    def arrive(self, y: Array, record: Record | None) -> None:
        """Go on from a state of the system at the present time, past the breaks there; it also belongs into its row."""
        while self.near(self.now):
            y = self.pass_break(self.now, y)
        self.y[:] = y
        if record and record.replace(self.now, y):
            self.show(record)
        self.prepare()

    def met(self, record: Record | None) -> None:
        """Tell the events in the step just taken; where one of them cuts it, take it again in pieces."""
        after, own, before = self.state(), self.y.copy(), self.step_info.copy()
        self.done -= 1
        self.y[:] = self.integrator.before[: own.size]
        y, cut = self.through(self.now, self.state(), self.time(self.done + 1), after)
        self.done += 1
        self.y[:] = own
        self.step_info[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]] = before[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]]
        if cut or self.near(self.now):
            self.arrive(y, record)

    def through(self, t: float, y: Array, goal: float, after: Array | None = None) -> tuple[Array, bool]:
        """State at ``goal``, within the next step or at its end, and whether something has cut the way there."""
        cut = False
        while True:
            middle = bool(self.breaks) and (goal - self.breaks[0]) * self.direction > 0.0 and not self.near(goal)
            target = self.breaks[0] if middle else goal
            if after is None:
                after = self.part(t, y, target)
            if self.event_detection:
                crossing = self.event_detection.passed(t, y, target, after, self.part)
                if crossing is not None:
                    (t, y), after, cut = crossing, None, True
                    continue
            if not middle:
                return after, cut
            t, y, after, cut = target, self.pass_break(target, after), None, True

    def part(self, t: float, y: Array, goal: float) -> Array:
        """State of the system at ``goal``, by one step of the method from the state y at time t."""
        h, begun, y = goal - t, y, y.copy()
        if h == 0.0:
            return y
        status, problem = tried(self._whole, t, h, y, goal)
        if status != L.OK:
            raise self.failure(status, self.done, begun, t, h, y, problem)
        return y

    def _whole(self, t: float, h: float, y: Array, goal: float) -> int:
        """Take y, a state of the system, through one step; returns the status."""
        status = self.integrator.prepare(t, h, y)
        if status == L.OK:
            status = self.integrator.march(0, 1, 2, t, h, y=y)
        if status == L.OK:
            status, y[:] = self.integrator.present(goal, h, y)
        return status

    def show(self, record: Record) -> None:
        """Set states in the last row, which is new, as controllers do at its time, so that it has the commands that act
        from there on."""
        if not self.integrator.samples:
            return
        t, shown = record.last, record.states[record.held - 1].copy()
        status, problem = tried(self.integrator.show, t, shown)
        if status != L.OK:
            raise self.failure(status, self.done, self.state(), t, self.h, shown, problem)
        record.states[record.held - 1] = shown

    def record_end(self, record: Record) -> None:
        """Add the present state as the last row, if it is none."""
        if not record.count or (self.now - record.last) * self.h > 0.0:
            record.add(self.now, self.state(), int(self.step_info[L.ROW_ITERATIONS]), self.last)
            self.show(record)

    def close(self) -> None:
        """The run has come to its end."""
        if self.event_detection:
            self.event_detection.close(self.now, self.state())

    def adjust(self, elapsed: float) -> None:
        """Make the next slice last about SLICE_SECONDS."""
        if elapsed < SLICE_SECONDS / 2:
            self.slice *= 16 if elapsed < SLICE_SECONDS / 32 else 2
        elif elapsed > 2 * SLICE_SECONDS:
            self.slice = max(1, self.slice // 2)

    def _back(self, before: int, kept: Array) -> None:
        """Find the last good state of a failed slice: take its good steps again."""
        step_info = self.step_info.copy()
        self.y[:] = kept
        try:
            self.integrator.march(before, self.done - before, self.done + 1, self.t0, self.h)
        except Exception:  # a function of the user that does something else the second time
            self.y[:] = kept
            self.done = before
        self.step_info[:] = step_info

    def aside(self, t: float) -> tuple[Array, int]:
        """State at time ``t`` within the next step, reached by a step of its own from the present grid state."""
        before, breaks, detection = self.step_info.copy(), list(self.breaks), self.event_detection
        kept = detection.sides.copy(), self.integrator.parameters.copy(), len(detection.found), len(detection.crossings)
        try:
            y, _ = self.through(self.time(self.done), self.state(), t)
            if self.breaks and self.breaks[0] == t:
                y = self.pass_break(t, y)
        finally:
            self.breaks, detection.sides[:], self.integrator.parameters[:] = breaks, *kept[:2]
            del detection.found[kept[2] :], detection.crossings[kept[3] :]
        most = int(self.step_info[L.ROW_ITERATIONS])
        self.step_info[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]] = before[[L.ROW_ITERATIONS, L.TOTAL_ITERATIONS]]
        return y, most

    def failure(
        self, status: int, step: int, y: Array, t: float, h: float, after: Array | None = None,
        problem: Exception | None = None,
    ) -> PolhodeError:  # fmt: skip
        """The error for a step that returned ``status`` or raised ``problem``."""
        if problem is None and (own := self.particular_failure(status, step, t, h)) is not None:
            return own
        where: dict[str, Any] = {"step": step, "time": t}
        iterations, residual = int(self.step_info[L.ITERATIONS]), float(self.step_info[L.RESIDUAL])
        told = self._user_failure(problem, y, h, where)
        if told is not None:
            return told
        where_text, label, edge = f"in step {step} (t = {t:.9g})", self.chosen.label, float(self.step_info[L.ERROR])
        unsolved = {
            L.NOT_CONVERGED: f"{label!r} did not converge {where_text}: {iterations} iterations, last relative "
            f"correction {residual:.1e}; {self.advice(h)}",
            L.LOST: f"the solution of {label!r} that belongs to the step could be followed no further than to a step "
            f"of {edge:.3g} {where_text}: the loads change too much within it; {self.advice(h)}",
            L.SINGULAR: f"the Cayley factor I - A of {label!r} becomes singular {where_text} at a step of {edge:.4g}, "
            f"where I - (h/2)^2 M^-1 dF/dq has the reciprocal condition number {residual:.1e}; a step of "
            f"{edge / 2:.3g} is safe there",
        }
        if self.system.mechanism is not None:
            unsolved |= {
                L.NOT_CONVERGED: f"{label!r} found no motion that closes all joints {where_text}: the last left them "
                f"open by {residual:.1e} of their size; {self.advice(h)}",
                L.SINGULAR: f"loops of joints come near a singular position {where_text}, where their forces grow "
                "without bounds; take a splitting such as 'kl6b/joints', which passes it",
            }
        if status in unsolved:
            return ConvergenceError(unsolved[status], residual=residual, iterations=iterations, **where)
        if status == L.TOO_LARGE:
            return self._too_large(where_text, h, (y, self.y if after is None else after), where)
        return NotFinite(
            f"the state or a load is infinite or not a number {where_text}; {self._singular(y, t)}"
            f"{self._wrong(y, after)}check the loads and initial values, or {self.advice(h)}", **where,
        )  # fmt: skip

    def particular_failure(self, status: int, step: int, t: float, h: float) -> PolhodeError | None:
        """The error for a status that only one kind of run has, or only one method."""
        if not self.integrator.prepared.polynomial or status not in (L.NOT_CONVERGED, L.TOO_SMALL):
            return None
        rather = WITHOUT_SERIES if self.adaptive else "mkrk:cv8"
        return FormulasChange(
            f"in step {step} (t = {t:.9g}) the loads change from one formula to another again and again "
            f"(where, min, max, abs): both lead back to where they meet; take {rather!r}, or write loads "
            "that are smooth there",
            step=step, time=t,
        )  # fmt: skip

    def _wrong(self, y: Array, after: Array | None) -> str:
        """What the system finds wrong with the state before a step or within it, followed by a semicolon."""
        check, end = self.system.check, L.BODY * self.system.N
        told = (check(state[:end]) for state in (y, after) if check is not None and state is not None)
        return next((f"{one}; " for one in told if one), "")

    def _singular(self, y: Array, t: float) -> str:
        """What to say of a state at which the numbers of a method are singular, followed by a semicolon."""
        own = self.integrator.prepared.coordinates
        if own is None or not own.rates:
            return ""
        values = y[L.BODY * self.system.N :].reshape(1, self.system.N, own.size)
        if own.name == "rotation_vector" and not values.any(axis=2).all():
            return "the rotation vector is zero, where the printed rates divide by zero: take form='regularised', or "
        note = singular_note(own.name, values, own.attributes.get("sequence"), np.array([t]), rates=True)
        return note and f"{note}; a method without '_direct' passes such points; "

    def _too_large(self, where_text: str, h: float, states: Sequence[Array], where: dict[str, Any]) -> StepTooLarge:
        speeds = [sqrt(drive.squared_speed(self.system.N, 0, y, self.integrator.bodies)) for y in states]
        fastest = max(filter(isfinite, speeds), default=0.0)
        largest = self.chosen.method.range / fastest if fastest > 0.0 else inf
        if (of_flow := self.integrator.prepared.largest) is not None:  # every body, from either state
            moments = list(enumerate(self.system.moments))
            turning = [(y[L.BODY * i + L.ANGULAR : L.BODY * (i + 1)], own) for y in states for i, own in moments]
            largest = min([largest, *(of_flow(m, 1.0 / own) for m, own in turning if np.isfinite(m).all())])
        angle = f"by {fastest * abs(h):.3g} rad"
        if not largest < abs(h):  # it was a stage inside the step that turned too far
            largest, angle = abs(h) / 2, "too far in one of its stages"
        digits = 10.0 ** (floor(log10(largest)) - 2)
        largest = float(f"{floor(largest / digits) * digits:.3g}")  # rounded down, so that what is printed is safe
        anyway = " (settings={'guard': False} takes it anyway)" if self.guard else ""
        return StepTooLarge(
            f"a step of {abs(h):g} turns the body {angle} {where_text}, more than {self.chosen.label!r} can represent; "
            f"the largest safe step there is about {largest:g}{anyway}",
            largest_step=largest, **where,
        )  # fmt: skip

    def _user_failure(
        self, problem: Exception | None, y: Array, h: float, where: dict[str, Any]
    ) -> UserFunctionError | None:
        """The failure of a user's function, with the user's traceback: the step is taken again with plain Python."""
        if self.system.sampled and problem is None:
            try:
                check_commands(self.system, where["time"], y, self.integrator.bodies)
            except UserFunctionError as told:
                problem = told
        plain = isinstance(problem, UserFunctionError) or self.integrator.prepared.role is not None
        bridge = None if plain else self.system.bridged_loads()
        if bridge is not None:
            try:
                self.integrator.march(0, 1, 2, where["time"], h, y=y.copy(), loads=bridge)
            except Exception as again:
                problem = again
        if problem is None:
            return None
        own = isinstance(problem, UserFunctionError)
        words = f"{problem}" if own else f"a load raised {type(problem).__name__}: {problem}"
        error = UserFunctionError(f"{words} in step {where['step']}", **where)
        error.__cause__ = problem.__cause__ if own else problem
        return error
